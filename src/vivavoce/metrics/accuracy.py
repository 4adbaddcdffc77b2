"""Accuracy of closed questions: 1 if what was read is the key, else 0."""

from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric


@metric("accuracy")
class Accuracy:
    """Share of single-choice and true/false questions answered right; blank and unreadable count 0."""

    criteria = (Criterion(criterion="accuracy"),)
    formats = ("mcq", "true_false")
    needs = ("answer",)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row."""
        return [{"accuracy": Value(float(str(row.reading.parsed) == row.item.answer[0]))} for row in rows]
