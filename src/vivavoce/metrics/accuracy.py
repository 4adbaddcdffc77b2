"""Right or wrong: accuracy of closed questions, exact match, F1 of lists, and the step that is named.

`list_f1` and `step_accuracy` follow the list and multi-hop inverse tasks of ClinIQLink (2025). With the set
of options picked and the set keyed, F1 = 2 tp / (2 tp + fp + fn), one value per question. An entry that is
not an option counts as a false positive: it costs precision, not the question. ClinIQLink weighs an
explanation by the distance between the step named and the wrong one, and leaves one that names no step
unpenalised; here the step is a measure of its own, and a step that is not named is a miss.
"""

from collections.abc import Mapping, Sequence

from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.tokens import TOKENS
from vivavoce.reading.short_answers import boxed_or_read, short_answer


@metric("accuracy", version=3)
class Accuracy(Metric):
    """Share of single-choice and true/false questions answered right; blank and unreadable count 0."""

    criteria = (Criterion(criterion="accuracy"),)
    formats = ("mcq", "true_false")
    by_default = True
    needs = ("answer",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row."""
        return [{"accuracy": Value(float(str(row.reading.parsed) == row.item.answer[0]))} for row in rows]


@metric("exact", version=4)
class Exact(Metric):
    """Share of short answers that say a reference word for word.

    Case, accents, punctuation and articles do not count; numbers, comparators and units do. A quantity may
    stand in any unit of its kind: 1 g is 1000 mg. It misleads wherever an answer may be phrased in more than
    one way: a right synonym counts 0. Compared is the answer itself: what a box, a field of JSON, a tag or
    "Answer:" holds.
    """

    criteria = (Criterion(criterion="accuracy"),)
    formats = ("short",)
    by_default = True
    needs = ("references",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row: the best over the references."""
        tokens = TOKENS["clinical"]

        def words(text: str) -> tuple[str, ...]:
            return context.once(tokens, context.once(short_answer, text))

        def same(row: Row) -> bool:
            response = words(boxed_or_read(row))
            return any(response == words(reference) for reference in row.item.references)

        return [{"accuracy": Value(float(same(row)))} for row in rows]


@metric("list_f1", version=3)
class ListF1(Metric):
    """Overlap of the options picked with those keyed, 0 to 1.

    `parts` hold tp, fp, fn, precision and recall.
    """

    criteria = (Criterion(criterion="f1"),)
    formats = ("list",)
    by_default = True
    needs = ("answer",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
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


@metric("step_accuracy", version=3)
class StepAccuracy(Metric):
    """Share of chains of reasoning in which the wrong step was found; blank and unreadable count 0.

    1 if the step named is the wrong one, else 0; no step named is 0. `parts` hold the distance in steps where
    one was named.
    """

    criteria = (Criterion(criterion="step_accuracy"),)
    formats = ("multi_hop_inverse",)
    by_default = True
    needs = ("step",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row."""
        return [{"step_accuracy": _named_step(row)} for row in rows]


def _named_step(row: Row) -> Value:
    named, wrong = row.reading.parsed.step, row.item.step
    if named is None or wrong is None:
        return Value(0.0, note="no step is named")
    return Value(float(named == wrong), {"distance": float(abs(named - wrong))})
