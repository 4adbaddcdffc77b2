"""What can go wrong, as a tree.

* VivaError: every error of ours; the command line prints it as one sentence and exits with 2
  + SpecError: a spec that cannot be read, or names something unknown
  + InputError: a file, a row or an item that cannot be used
    - RowError: one row or item that cannot be used, where others may be
  + StoreError: a run file that cannot be opened, read or written
    - RunNotFound: there is no run at that path
  + MetricError: a metric was given what it cannot score, or returned what it did not declare
  + ModelError: a model that cannot be named, reached or understood
    - EgressError: a connection that must not be made
  + SelectionError: a selection (metric, candidate, items) that fits nothing, or too much
  + ExtraError: a package of an extra that is not installed
"""


class VivaError(Exception):
    """An error with a sentence for the user: what is wrong, where, and what to do next."""


class SpecError(VivaError):
    """A spec that cannot be read, or that names something unknown."""


class InputError(VivaError):
    """A file, a row or an item that cannot be used as it stands."""


class RowError(InputError):
    """One row or item that cannot be used, where the others of its file may be.

    `reason` says why in a short phrase that can be counted: it holds nothing that stands in the row.
    """

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class StoreError(VivaError):
    """A run file that cannot be opened, read or written."""


class RunNotFound(StoreError):
    """No run file lies at the path."""


class MetricError(VivaError):
    """A metric was given what it cannot score, or returned what it did not declare."""


class ModelError(VivaError):
    """A model or provider that cannot be named, reached or understood."""


class EgressError(ModelError):
    """A connection that must not be made."""


class SelectionError(VivaError):
    """A selection that fits nothing, or fits too much to be meant."""


class ExtraError(VivaError):
    """A package that comes with an extra of vivavoce is needed and not installed."""


def suggest(word: str, names: "list[str] | tuple[str, ...]") -> str:
    """' Did you mean …?' for the nearest known words, else the known words, else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=3, cutoff=0.6)
    if near:
        return f" Did you mean {' or '.join(repr(n) for n in near)}?"
    if names:
        listed = sorted(names)[:12]
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        return f" Known: {', '.join(listed)}{more}."
    return ""
