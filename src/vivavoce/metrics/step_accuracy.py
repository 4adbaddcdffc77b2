"""Step accuracy: is the step that is named the wrong one of the chain? (ClinIQLink 2025, multi-hop inverse).

ClinIQLink weighs the explanation by the distance between the two numbers and leaves an answer that names no
step unpenalised; here the step is a measure of its own, and a step that is not named is a miss.
"""

from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric


@metric("step_accuracy")
class StepAccuracy:
    """Share of chains of reasoning in which the wrong step was found; blank and unreadable count 0.

    1 if the step named is the wrong one, else 0; no step named is 0. `parts` hold the distance in steps where
    one was named.
    """

    criteria = (Criterion(criterion="step_accuracy"),)
    formats = ("multi_hop_inverse",)
    needs = ("step",)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row."""
        return [{"step_accuracy": _found(row)} for row in rows]


def _found(row: Row) -> Value:
    named, wrong = row.reading.parsed.step, row.item.step
    if named is None or wrong is None:
        return Value(0.0, note="no step is named")
    return Value(float(named == wrong), {"distance": float(abs(named - wrong))})
