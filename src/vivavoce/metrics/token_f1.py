"""Token F1: overlap of the words of answer and reference, as multisets, order aside.

Precision = common / words of the answer, recall = common / words of the reference, F1 their harmonic mean
(Rajpurkar et al. 2016, SQuAD). With several references the best F1 counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.tokens import TOKENS, without_words
from vivavoce.reading.short_answers import boxed_or_read, short_answer


@metric("token_f1", version=4)
class TokenF1(Metric):
    """F1 of the words shared with the reference, 0 to 1.

    `tokens=clinical` takes a number with its unit for one word, the same in any unit of its kind: 10 mg has
    nothing in common with 100 mg, and 1 g is 1000 mg; Chinese and Japanese are compared by characters.
    `pairs` takes pairs of characters in all scripts without spaces, Thai too; `squad` is the published
    recipe. Of a short answer the answer itself is compared, as in `exact`, but for `squad`. Items whose
    references the setting cannot part into words are set aside. It falls with length and
    knows no synonyms: a full answer, longer than the reference, scores low.
    """

    tokens: Literal["clinical", "pairs", "squad"] = "clinical"

    criteria = (Criterion(criterion="f1"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)
    by_default = True

    def not_applicable(self, item: Item) -> str | None:
        """The reason where spaces divide no words in the references, and `tokens` does not either."""
        return without_words(item.references, self.tokens, tuple(TOKENS))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """F1 in 0 to 1; no word in common gives 0; `parts` hold precision and recall."""
        tokens = TOKENS[self.tokens]

        def is_short(row: Row) -> bool:
            return row.item.format == "short" and self.tokens != "squad"

        def words(row: Row, text: str) -> tuple[str, ...]:
            return context.once(tokens, context.once(short_answer, text) if is_short(row) else text)

        def answer(row: Row) -> tuple[str, ...]:
            return words(row, boxed_or_read(row) if is_short(row) else row.reading.text)

        return [
            {
                "f1": max(
                    (f1(words(row, ref), answer(row)) for ref in row.item.references),
                    key=lambda v: v.value or 0.0,
                )
            }
            for row in rows
        ]


def f1(reference: tuple[str, ...], answer: tuple[str, ...]) -> Value:
    """Multiset F1 of two token sequences. Both empty: equal, 1 (as in SQuAD's script); one empty: 0."""
    if not reference or not answer:
        same = float(reference == answer)
        return Value(same, {"precision": same, "recall": same})
    common = sum((Counter(reference) & Counter(answer)).values())
    precision, recall = common / len(answer), common / len(reference)
    value = 2 * precision * recall / (precision + recall) if common else 0.0
    return Value(value, {"precision": precision, "recall": recall})
