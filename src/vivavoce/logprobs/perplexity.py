"""Perplexity: how surprising a model finds the reference, per word and per byte.

Equal to `word_perplexity`, `byte_perplexity` and `bits_per_byte` of lm-eval 0.4.13 (EleutherAI), which weigh
every text by its length. Its `loglikelihood_rolling` tasks, such as `careqa_open_perplexity`, score the
reference alone: here `given=nothing`.
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.logprobs.requests import ABOVE_ZERO, LN2, LogprobMetric, LogprobRequests, PromptBuilder, finite
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Continuations, Likelihood, Reply, Request


@dataclass(frozen=True, slots=True)
class ReferenceLikelihood(LogprobRequests):
    """The likelihood of each reference, `after` the conversation that asks the item or after nothing.

    After the question one request for all references of an item, which share it; alone each has its own, so
    that one longer than the model's context is read by windows. Without any reference nothing is asked.

    The record holds `references`, for each in the item's order its `logprob` in nats (null where it is not
    finite), `tokens` and `verbatim`, or null for one without a character; `tokeniser`; `truncated`, the
    tokens of the question that were left out.
    """

    after: Literal["question", "nothing"]

    @property
    def name(self) -> str:
        """`given(after=question)` or `given(after=nothing)`."""
        return f"given(after={self.after})"

    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """The references that hold a character, equal ones once; nothing without such."""
        targets = _targets(item)
        if not targets:
            return ()
        if self.after == "question":
            branches = Continuations(targets)
            return [Request(kind="loglikelihood", messages=prompt(item), branches=branches)]
        return [
            Request(kind="loglikelihood", messages=(), branches=Continuations((target,)))
            for target in targets
        ]

    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """The mapping described above. Raises `ValueError` if likelihoods are missing or too many."""
        likelihoods = [likelihood for reply in scores for likelihood in reply.likelihoods]
        by_text = dict(zip(_targets(item), likelihoods, strict=True))
        return {
            "references": [_reference(by_text[text]) if text else None for text in item.references],
            "tokeniser": scores[0].tokeniser if scores else None,
            "truncated": max((reply.truncated for reply in scores), default=0),
        }


def _targets(item: Item) -> tuple[str, ...]:
    """The references that can have a probability, each once."""
    return tuple(dict.fromkeys(filter(None, item.references)))


def _reference(likelihood: Likelihood) -> dict[str, Any]:
    return likelihood._asdict() | {"logprob": finite(likelihood)}


@metric("perplexity")
class Perplexity(LogprobMetric):
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
    def logprob_requests(self) -> LogprobRequests:
        """The likelihood of the references."""
        return ReferenceLikelihood(self.given)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The item's own figures, from 1 or 0 upwards.

        `parts`: `numerator` and `denominator` of the figure that is pooled, then `logprob`, `words`, `bytes`
        and `tokens` of the reference that counts, and which it was (`reference`, from 1) where there are
        several. A perplexity above the largest float stands as that float, with a note; what is pooled is
        not touched by it. A row fails where no reference has a byte or a finite probability.
        """
        return [_values(row) for row in rows]


class _Reference(NamedTuple):
    """A reference's log-probability, and its length in units that no tokeniser decides; `place` from 1."""

    place: int
    logprob: float
    tokens: int
    words: int
    bytes: int


def _values(row: Row) -> dict[str, Value]:
    record: Mapping[str, Any] = row.reading.parsed
    texts, likelihoods = row.item.references, record["references"]
    if len(likelihoods) != len(texts):
        return _failed(f"{len(likelihoods)} likelihoods are stored, and the item has {len(texts)} references")
    if not any(texts):
        return _failed("no reference has a byte, so nothing can be divided by its length")
    references = []
    for place, (text, stored) in enumerate(zip(texts, likelihoods, strict=True), 1):
        if text and stored is not None and stored["logprob"] is not None:
            words = len(re.split(r"\s+", text))
            references.append(_Reference(place, stored["logprob"], stored["tokens"], words, _bytes(text)))
    if not references:
        return _failed("the model gave no reference a finite probability")
    for reference in references:
        if reference.logprob > ABOVE_ZERO * max(reference.tokens, 1):
            return _failed(f"the logarithm of a probability is {reference.logprob:g}, which is above 0")
    # max keeps the first of equals
    best = max(references, key=lambda reference: reference.logprob / reference.bytes)
    return _by_criterion(best, record, several=len(texts) > 1)


def _by_criterion(best: _Reference, record: Mapping[str, Any], *, several: bool) -> dict[str, Value]:
    nats = max(0.0, -best.logprob)
    about = {"logprob": best.logprob, "words": best.words, "bytes": best.bytes, "tokens": best.tokens}
    if several:
        about["reference"] = best.place
    cut = record.get("truncated") or 0
    note = f"the question was cut by {cut} tokens to fit the model's context" if cut else None

    def value(number: float | None, numerator: float, denominator: int) -> Value:
        large = None if number is not None else "its own perplexity is above the largest number there is"
        return Value(
            sys.float_info.max if number is None else number,
            {"numerator": numerator, "denominator": denominator, **about},
            "; ".join(filter(None, (note, large))) or None,
        )

    return {
        "word_perplexity": value(_exp(nats / best.words), nats, best.words),
        "byte_perplexity": value(_exp(nats / best.bytes), nats, best.bytes),
        "bits_per_byte": value(nats / LN2 / best.bytes, nats / LN2, best.bytes),
    }


def _failed(reason: str) -> dict[str, Value]:
    return {c.criterion: Value(None, note=reason, status="failed") for c in Perplexity.criteria}


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _exp(exponent: float) -> float | None:
    try:
        return math.exp(exponent)
    except OverflowError:
        return None
