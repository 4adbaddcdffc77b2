"""F1 of labels: classification over a fixed set of options, such as yes, no and maybe.

Macro F1 is the unweighted mean of the F1 of the labels: a rare one counts as much as a common one. Micro F1
pools all labels first. A label that is neither keyed nor given has no F1 and is not averaged, as in
scikit-learn where no `labels` are named (`sklearn.metrics.f1_score`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vivavoce import formats
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext


@metric("label_f1", version=2)
class LabelF1(Metric):
    """Macro and micro F1 over a fixed set of labels, 0 to 1.

    For questions whose options are the same throughout a benchmark, in any order; others get no row. `labels`
    names the set, and adds a criterion for each of them: F1 of that label alone. Silence misses the label
    that was keyed: it never raises an F1. `viva study RUN confusion` shows which labels are taken for which.
    """

    labels: tuple[str, ...] = ()

    formats = ("mcq", "true_false")
    needs = ("answer",)

    def __post_init__(self) -> None:
        twice = [label for k, label in enumerate(self.labels) if label in self.labels[:k]]
        if len(self.labels) == 1 or twice or {"macro_f1", "micro_f1"} & set(self.labels):
            raise ValueError("labels are two or more, each once, and none is called macro_f1 or micro_f1")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """`macro_f1`, `micro_f1`, then a criterion for each of `labels`, named like it."""
        pools = {"macro_f1": "macro_f1", "micro_f1": "micro_f1"} | dict.fromkeys(self.labels, "micro_f1")
        return tuple(Criterion(criterion=name, pool=pool) for name, pool in pools.items())

    def bind(self, items: Sequence[Item]) -> "LabelF1":
        """The metric for a run of these items: it scores the benchmarks that have fixed options."""
        sets: dict[tuple[str, str], set[frozenset[str]]] = {}
        for item in items:
            if super().applies_to(item) and item.origin is None:
                sets.setdefault((item.benchmark, item.format), set()).add(labels_of(item))
        bound = replace(self)
        # No setting: a benchmark that is added later makes no other measure of it.
        object.__setattr__(bound, "_sets", {k: next(iter(v)) for k, v in sets.items() if len(v) == 1})
        return bound

    def applies_to(self, item: Item) -> bool:
        """False where the options are not those of `labels`, or are others elsewhere in the benchmark."""
        if not super().applies_to(item):
            return False
        labels = labels_of(item)
        if self.labels:
            return labels == frozenset(self.labels)
        sets: Mapping[tuple[str, str], frozenset[str]] | None = getattr(self, "_sets", None)
        return sets is None or sets.get((item.benchmark, item.format)) == labels

    def silence_parts(self, item: Item) -> Mapping[str, Mapping[str, float]]:
        """A miss of the label that was keyed."""
        return self._parts(item.answer[0], None)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1 or 0 for each row: whether the answer is right, for a label alone whether it is right about it.

        `parts` hold what F1 is pooled from: `tp`, `fp` and `fn`, of macro F1 each with its label, as in
        `fn:maybe`.
        """
        return [self._values(row.item.answer[0], str(row.reading.parsed)) for row in rows]

    def _values(self, keyed: str, answer: str) -> dict[str, Value]:
        right = {label: (label == keyed) == (label == answer) for label in self.labels}
        return {
            name: Value(float(right.get(name, keyed == answer)), parts)
            for name, parts in self._parts(keyed, answer).items()
        }

    def _parts(self, keyed: str, answer: str | None) -> dict[str, dict[str, float]]:
        """By criterion the counts of an answer, or of a silence, `answer` null."""
        hit, spoken = keyed == answer, answer is not None
        by_label = {f"tp:{keyed}": 1.0} if hit else {f"fn:{keyed}": 1.0}
        if spoken and not hit:
            by_label[f"fp:{answer}"] = 1.0
        alone = {
            label: _counts(hit and label == keyed, spoken and label == answer, label == keyed)
            for label in self.labels
        }
        return {"macro_f1": by_label, "micro_f1": _counts(hit, spoken, True), **alone}


def labels_of(item: Item) -> frozenset[str]:
    """The labels that an item lets one choose from."""
    return frozenset(formats.format_of(item).fixed_options or item.options)


def _counts(hit: bool, answer: bool, keyed: bool) -> dict[str, float]:
    return {"tp": float(hit), "fp": float(answer and not hit), "fn": float(keyed and not hit)}
