"""A plugin metric that scores facts as the answer tells them: `true false bad` is three facts."""

from collections.abc import Mapping, Sequence

from vivavoce.core.records import Criterion, Row, Unit, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext


@metric("told_facts")
class ToldFacts(Metric):
    """One unit per word of the answer."""

    formats = ("short",)
    needs = ()
    criteria = (
        Criterion(criterion="precision", if_unanswered="set_aside"),
        Criterion(criterion="supported", pool="unit", if_unanswered="set_aside"),
    )

    def values(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        return [
            {"precision": Value(0.5), "supported": dict(map(_fact, enumerate(row.reading.text.split(), 1)))}
            for row in rows
        ]


def _fact(numbered: tuple[int, str]) -> tuple[Unit, Value]:
    number, word = numbered
    value = {"true": 1.0, "false": 0.0}.get(word)
    status = "set_aside" if value is None else "ok"
    return Unit(unit=str(number), text=f"It is {word}.", weight=2.0), Value(
        value, note=f"{word}: told", status=status
    )
