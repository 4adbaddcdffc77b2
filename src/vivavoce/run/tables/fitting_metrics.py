"""The metrics that score items when a call names none."""

from collections.abc import Iterable

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.records import Item
from vivavoce.metrics import Metric


def fitting_metrics(items: Iterable[Item]) -> tuple[str, ...]:
    """The specs of the metrics that fit these items, in the order of their names; none where none does.

    A metric fits if it declares itself `by_default`, scores some of the items, and finds in all of those what
    it needs: where one open question has no reference, no metric that compares with references is among them.
    None of them asks a model. For the formats that ship: `accuracy` (mcq, true_false), `exact` (short),
    `list_f1` (list), `step_accuracy` (multi_hop_inverse) and `token_f1` (every open format).
    """
    items = tuple(items)
    return tuple(
        entry.name
        for entry in registry.metrics_by_default()
        if _fits(registry.build("metric", entry.name), items)
    )


def default_metrics(shapes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By format the metrics that score it in an overall unless another is stated, the best known first.

    They are those that declare themselves `by_default`, the one of most formats first, so that open questions
    of several formats are scored by one: `accuracy` (mcq, true_false), `list_f1` (list), `token_f1` (every
    open format) before `exact` and `step_accuracy`.
    """
    entries = registry.metrics_by_default()
    entries.sort(key=lambda entry: (-len(entry.cls.formats), entry.name))
    return {
        shape: tuple(entry.name for entry in entries if formats.accepts(entry.cls.formats, shape))
        for shape in shapes
    }


def _fits(metric: Metric, items: tuple[Item, ...]) -> bool:
    """Whether the metric scores some of the items, and each of those has what it needs."""
    scored = [item for item in items if metric.applies_to(item)]
    return bool(scored) and all(getattr(item, field) for item in scored for field in metric.needs)
