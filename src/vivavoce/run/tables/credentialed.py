"""Credentialed benchmarks: whoever may read their texts signed for it, so that none leave the run with them.

A run that holds one is exported redacted only, its report is redacted, and what else would write its texts
to another file refuses. Sending them to a model is the matter of `models.engine.egress`.
"""

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.store.read import benchmarks
from vivavoce.store.redacted import redaction
from vivavoce.store.view import View


def credentialed_benchmarks(view: View) -> list[str]:
    """The credentialed benchmarks of which a run holds texts; none where they are redacted."""
    if not view.exists:
        return []
    if redaction(view.db) is not None:
        return []
    return [entry.benchmark for entry in view.fetch(benchmarks) if entry.card.access == "credentialed"]


def refuse_copy(view: View, what: str, instead: str, items: set[ItemKey] | None = None) -> None:
    """Raise `InputError`, which says what would be a copy and what to do, where the run holds such texts.

    With `items`, only those of their benchmarks count.
    """
    names = credentialed_benchmarks(view)
    if items is not None:
        names = [name for name in names if any(benchmark == name for benchmark, *_ in items)]
    if names:
        raise InputError(
            f"{view.path} holds texts of {', '.join(names)}, which is credentialed: {what} would be a copy "
            f"of them outside the run. {instead}"
        )


def refuse_temporary(loaded: Loaded) -> None:
    """Raise `InputError` where a credentialed benchmark would lie in a temporary file."""
    if loaded.card.access == "credentialed":
        raise InputError(
            f"{loaded.spec} is credentialed, and a temporary run would lie in a folder of the system: name "
            'the file of the run, as evaluate(…, to="exam.viva").'
        )
