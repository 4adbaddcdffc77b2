"""Exact match of short answers: 1 if the answer says a reference word for word, else 0."""

from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric
from vivavoce.text import clinical_tokens


@metric("exact")
class Exact:
    """Share of short answers that say a reference word for word.

    Case, accents, punctuation and articles do not count; numbers, comparators and units do. It misleads
    wherever an answer may be phrased in more than one way: a right synonym counts 0.
    """

    criteria = (Criterion(criterion="accuracy"),)
    formats = ("short",)
    needs = ("references",)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row: the best over the references."""

        def same(row: Row) -> bool:
            said = lab.once(clinical_tokens, row.reading.text)
            return any(said == lab.once(clinical_tokens, reference) for reference in row.item.references)

        return [{"accuracy": Value(float(same(row)))} for row in rows]
