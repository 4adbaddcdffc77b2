"""F1 of list questions, one value per question (ClinIQLink 2025, list task).

With the set of options picked and the set keyed: F1 = 2 tp / (2 tp + fp + fn). An entry that is no option
counts as a false positive: it costs precision, not the question.
"""

from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric


@metric("list_f1")
class ListF1:
    """Overlap of the options picked with those keyed, 0 to 1.

    `parts` hold tp, fp, fn, precision and recall.
    """

    criteria = (Criterion(criterion="f1"),)
    formats = ("list",)
    needs = ("answer",)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """For an answer of strays alone precision is 0; without any entry it is not defined and left out."""
        return [{"f1": _f1(row)} for row in rows]


def _f1(row: Row) -> Value:
    picked, keyed = set(row.reading.parsed), set(row.item.answer)
    tp = len(picked & keyed)
    fp = len(picked - keyed) + len(row.reading.stray)
    fn = len(keyed - picked)
    parts = {"tp": tp, "fp": fp, "fn": fn, "recall": tp / len(keyed)}
    if tp + fp:
        parts["precision"] = tp / (tp + fp)
    note = f"no option: {', '.join(row.reading.stray)}" if row.reading.stray else None
    return Value(2 * tp / (2 * tp + fp + fn), parts, note)
