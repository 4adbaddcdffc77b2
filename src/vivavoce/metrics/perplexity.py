"""Perplexity: how surprising a model finds the reference, per word and per byte.

Equal to `word_perplexity`, `byte_perplexity` and `bits_per_byte` of lm-eval 0.4.13 (EleutherAI), which weigh
every text by its length. Its `loglikelihood_rolling` tasks, such as `careqa_open_perplexity`, score the
reference alone: here `given=nothing`.
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.metrics import Lab
from vivavoce.probes import Probe
from vivavoce.probes.given import Given
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric

_LN2 = math.log(2)
_ABOVE_ZERO = 1e-6
"""By so much per token a logarithm of a probability may be above 0: float32 adds up no better."""


@metric("perplexity")
class Perplexity:
    r"""How surprising the reference is to the model: lower is better, 1 (or 0 bits) is certainty.

    `given=question` takes the reference as the answer to the question, asked as the candidate is asked; with
    `given=nothing` the reference stands alone, as lm-eval 0.4.13 scores it: how usual the text is, whatever
    was asked.

    With ll the natural logarithm of the reference's probability, `word_perplexity` is exp(-sum ll / words),
    `byte_perplexity` exp(-sum ll / bytes), `bits_per_byte` (-sum ll / bytes) / ln 2, the sums being over
    all items: a long reference weighs more. The interval is that of the ratio on the log scale, by group, and
    candidates are compared there. A word is what white space parts, counted as `re.split(r"\s+", text)`
    counts it; bytes are those of UTF-8; the blank that parts a reference from its question counts as neither.

    There is no perplexity per token: tokenisers cut a text into different numbers of tokens, so that two
    models would be divided by two numbers. Bytes and words are the text's own. Tokens stand in `parts`.

    Of several references the likeliest per byte counts, the first of equals.
    """

    given: Literal["question", "nothing"] = "question"

    criteria = tuple(
        Criterion(criterion=name, low=low, high=None, direction="lower", if_unanswered="set_aside", pool=pool)
        for name, low, pool in (
            ("word_perplexity", 1.0, "exp_ratio"),
            ("byte_perplexity", 1.0, "exp_ratio"),
            ("bits_per_byte", 0.0, "ratio"),
        )
    )
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    @property
    def probe(self) -> Probe:
        """The likelihood of the references."""
        return Given(self.given)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """The item's own figures, from 1 or 0 upwards.

        `parts`: `numerator` and `denominator` of the figure that is pooled, then `logprob`, `words`, `bytes`
        and `tokens` of the reference that counts, and which it was (`reference`, from 1) where there are
        several. A perplexity above the largest float stands as that float, with a note; what is pooled is
        not touched by it. A row fails where no reference has a byte or a finite probability.
        """
        return [_values(row) for row in rows]


class _Told(NamedTuple):
    """What the model said of a reference, and how long that is in units that no tokeniser decides."""

    place: int
    logprob: float
    tokens: int
    words: int
    bytes: int


def _values(row: Row) -> dict[str, Value]:
    told: Mapping[str, Any] = row.reading.parsed
    texts, said = row.item.references, told["references"]
    if len(said) != len(texts):
        return _failed(f"{len(said)} likelihoods are stored, and the item has {len(texts)} references")
    if not any(texts):
        return _failed("no reference has a byte, so nothing can be divided by its length")
    found = [
        _Told(place, one["logprob"], one["tokens"], len(re.split(r"\s+", text)), _bytes(text))
        for place, (text, one) in enumerate(zip(texts, said, strict=True), 1)
        if text and one is not None and one["logprob"] is not None
    ]
    if not found:
        return _failed("the model gave no reference a finite probability")
    wrong = [one for one in found if one.logprob > _ABOVE_ZERO * max(one.tokens, 1)]
    if wrong:
        return _failed(f"the logarithm of a probability is {wrong[0].logprob:g}, which is above 0")
    # max keeps the first of equals
    return _figures(max(found, key=lambda one: one.logprob / one.bytes), told, several=len(texts) > 1)


def _figures(best: _Told, told: Mapping[str, Any], *, several: bool) -> dict[str, Value]:
    nats = max(0.0, -best.logprob)
    beside = {"logprob": best.logprob, "words": best.words, "bytes": best.bytes, "tokens": best.tokens}
    if several:
        beside["reference"] = best.place
    cut = told.get("truncated") or 0
    note = f"the question was cut by {cut} tokens to fit the model's context" if cut else None

    def value(own: float | None, numerator: float, denominator: int) -> Value:
        large = None if own is not None else "its own perplexity is above the largest number there is"
        return Value(
            sys.float_info.max if own is None else own,
            {"numerator": numerator, "denominator": denominator, **beside},
            "; ".join(filter(None, (note, large))) or None,
        )

    return {
        "word_perplexity": value(_exp(nats / best.words), nats, best.words),
        "byte_perplexity": value(_exp(nats / best.bytes), nats, best.bytes),
        "bits_per_byte": value(nats / _LN2 / best.bytes, nats / _LN2, best.bytes),
    }


def _failed(why: str) -> dict[str, Value]:
    return {c.criterion: Value(None, note=why, status="failed") for c in Perplexity.criteria}


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _exp(exponent: float) -> float | None:
    try:
        return math.exp(exponent)
    except OverflowError:
        return None
