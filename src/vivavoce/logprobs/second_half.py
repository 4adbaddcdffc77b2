"""Second half: does a model go on with a question as if it had read it?

A model is given the first half of a question as plain text. What it was trained on it may go on with word for
word, as completion probes test it (Golchin and Surdeanu 2024, "Time Travel in LLMs", ICLR, who ask with an
instruction and judge near copies; Sainz et al. 2023, Findings of EMNLP). Here nothing is generated: the
probability of the true second half says how far greedy decoding would reproduce it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.formats import FORMATS
from vivavoce.logprobs.requests import (
    ABOVE_ZERO,
    LN2,
    LogprobMetric,
    LogprobRequests,
    PromptBuilder,
    finite,
)
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Likelihood, Reply, Request

LEAST_WORDS = 20
"""Halves of fewer words are phrases that anybody might write."""
WHITE_SPACE = re.compile(r"\s+")


def halves(text: str) -> tuple[str, str] | None:
    """A text without the blanks around it, cut at the white space nearest to the middle of its characters.

    The white space begins the second half; of two places as near the first. Null below 20 words, where a word
    is what white space parts.
    """
    bare = text.strip()
    if len(bare.split()) < LEAST_WORDS:
        return None
    at = min((m.start() for m in WHITE_SPACE.finditer(bare)), key=lambda k: abs(2 * k - len(bare)))
    return bare[:at], bare[at:]


@dataclass(frozen=True, slots=True)
class Completion(LogprobRequests):
    """The likelihood of the second half of an item's question after the first, as plain text.

    The record holds `logprob` of the second half in nats (null where it is not finite), its `tokens`, how
    many of the first of these greedy decoding would reproduce (`verbatim`, null where the endpoint does not
    return that), its UTF-8 `bytes` with the white space it begins with, `tokeniser` and `truncated`. A
    question of fewer than 20 words is not asked.
    """

    @property
    def name(self) -> str:
        """`second_half`: there is nothing to set."""
        return "second_half"

    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """One request, of the second half as what follows the first."""
        cut = halves(item.question)
        if cut is None:
            return ()
        return (Request(messages=(), kind="loglikelihood", begun=cut[0], target=cut[1]),)

    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """The kept figures; `tokens` and `bytes` are 0 where nothing was asked."""
        reply = scores[0] if scores else Reply(text="")
        likelihood = reply.likelihoods[0] if reply.likelihoods else Likelihood(-math.inf, 0)
        second = (halves(item.question) or ("", ""))[1]
        return {
            "logprob": finite(likelihood),
            "tokens": likelihood.tokens,
            "verbatim": likelihood.verbatim,
            "bytes": len(second.encode("utf-8", "surrogatepass")),
            "tokeniser": reply.tokeniser,
            "truncated": reply.truncated,
        }


@metric("second_half")
class SecondHalf(LogprobMetric):
    """How far a model goes on with a question word for word, given its first half as plain text.

    The question, without context and options, is cut at the white space nearest to its middle; questions of
    fewer than 20 words are not scored. `verbatim`: the share of the second half's tokens, from its first on,
    that greedy decoding reproduces, 0 to 1; 1 is all of it. `bits_per_byte`: (-sum ll / bytes) / ln 2, the
    sums being over all questions. Both are turned against recall: fewer tokens and more bits are better.

    Neither has a value that means "was read": set phrases are gone on with too, and the better a model writes
    the more of them. `viva study RUN contamination` holds them against what they would be otherwise; of other
    candidates only the bits are, since each model has its own tokens.
    """

    tokenizer_dependent = ("verbatim",)
    criteria = (
        Criterion(criterion="verbatim", direction="lower", if_unanswered="set_aside"),
        Criterion(criterion="bits_per_byte", high=None, if_unanswered="set_aside", pool="ratio"),
    )

    @property
    def formats(self) -> tuple[str, ...]:
        """Every format: it scores the benchmark's text, whatever form the items have."""
        return tuple(FORMATS)

    @property
    def logprob_requests(self) -> LogprobRequests:
        """The likelihood of the second half."""
        return Completion()

    def applies_to(self, item: Item) -> bool:
        """Whether the question has 20 words or more; no other gets a row."""
        return super().applies_to(item) and halves(item.question) is not None

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """By row the share, with `verbatim` and `tokens` as parts, and the question's own bits per byte, with
        `numerator` (bits) and `denominator` (bytes).

        A row fails where the second half has no finite probability; `verbatim` alone, where the endpoint
        does not tell which token is the likeliest.
        """
        return [_values(row.reading.parsed) for row in rows]


def _values(record: Mapping[str, Any]) -> dict[str, Value]:
    logprob, tokens, verbatim = (record[name] for name in ("logprob", "tokens", "verbatim"))
    if logprob is None or not tokens or not record["bytes"]:
        return dict.fromkeys(
            ("verbatim", "bits_per_byte"),
            Value(None, note="the model gave the second half no finite probability", status="failed"),
        )
    if logprob > ABOVE_ZERO * tokens:
        above = f"the logarithm of a probability is {logprob:g}, which is above 0"
        return dict.fromkeys(("verbatim", "bits_per_byte"), Value(None, note=above, status="failed"))
    cut = record.get("truncated") or 0
    note = f"the first half was cut by {cut} tokens to fit the model's context" if cut else None
    bits = max(-logprob, 0.0) / LN2
    share = (
        Value(None, note="the endpoint does not tell which token is the likeliest", status="failed")
        if verbatim is None
        else Value(verbatim / tokens, {"verbatim": verbatim, "tokens": tokens}, note)
    )
    parts = {"numerator": bits, "denominator": record["bytes"]}
    return {"verbatim": share, "bits_per_byte": Value(bits / record["bytes"], parts, note)}
