"""The metrics that score items when a call names none."""

from collections.abc import Iterable

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.records import Item
from vivavoce.metrics import Metric


def fitting_metrics(items: Iterable[Item]) -> tuple[str, ...]:
    """The specs of the metrics that fit these items, the one that scores most first; none where none does.

    Of those that score as many the one of most formats comes first: what is stored first leads a report, and
    `token_f1` tells more of short answers than `exact`, which few right ones reach word by word.

    A metric fits if it declares itself `by_default`, scores some of the items, and finds in all of those what
    it needs: where one open question has no reference, no metric that compares with references is among them.
    None of them asks a model. For the formats that ship: `accuracy` (mcq, true_false), `exact` (short),
    `list_f1` (list), `step_accuracy` (multi_hop_inverse) and `token_f1` (every open format).
    """
    items = tuple(items)
    n_scored = {
        entry.name: _n_scored(registry.build("metric", entry.name), items) for entry in _broadest_first()
    }
    return tuple(sorted((name for name, n in n_scored.items() if n), key=lambda name: -n_scored[name]))


def default_metrics(shapes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By format the metrics that score it in an overall unless another is stated, the best known first.

    They are those that declare themselves `by_default`, the one of most formats first, so that open questions
    of several formats are scored by one: `accuracy` (mcq, true_false), `list_f1` (list), `token_f1` (every
    open format) before `exact` and `step_accuracy`.
    """
    return {
        shape: tuple(entry.name for entry in _broadest_first() if formats.accepts(entry.cls.formats, shape))
        for shape in shapes
    }


def _broadest_first() -> list[registry.Entry]:
    """The metrics by default, the one of most formats first, then by name."""
    return sorted(registry.metrics_by_default(), key=lambda entry: (-len(entry.cls.formats), entry.name))


def _n_scored(metric: Metric, items: tuple[Item, ...]) -> int:
    """How many of the items the metric scores; 0 where one of those lacks what it needs."""
    scored = [item for item in items if metric.applies_to(item)]
    return len(scored) if all(getattr(item, field) for item in scored for field in metric.needs) else 0
