"""Second half: does a model go on with a question as if it had read it?

A model is given the first half of a question as plain text. What it was trained on it may go on with word for
word, as completion probes test it (Golchin and Surdeanu 2024, "Time Travel in LLMs", ICLR, who ask with an
instruction and judge near copies; Sainz et al. 2023, Findings of EMNLP). Here nothing is generated: the
probability of the true second half says how far greedy decoding would reproduce it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.formats import FORMATS
from vivavoce.metrics import Lab
from vivavoce.probes import Probe
from vivavoce.probes.recall import Completion, halves
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.registry import metric

_LN2 = math.log(2)
_ABOVE_ZERO = 1e-6
"""By so much per token a logarithm of a probability may be above 0: float32 adds up no better."""


@metric("second_half")
class SecondHalf:
    """How far a model goes on with a question word for word, given its first half as plain text.

    The question, without context and options, is cut at the white space nearest to its middle; questions of
    fewer than 20 words are not marked. `verbatim`: the share of the second half's tokens, from its first on,
    that greedy decoding reproduces, 0 to 1; 1 is all of it. `bits_per_byte`: (-sum ll / bytes) / ln 2, the
    sums being over all questions. Both are turned against recall: fewer tokens and more bits are better.

    Neither has a value that means "was read": set phrases are gone on with too, and the better a model writes
    the more of them. `viva study RUN contamination` holds them against what they would be otherwise; of other
    candidates only the bits are, since each model has its own tokens.
    """

    per_token = ("verbatim",)
    criteria = (
        Criterion(criterion="verbatim", direction="lower", if_unanswered="set_aside"),
        Criterion(criterion="bits_per_byte", high=None, if_unanswered="set_aside", pool="ratio"),
    )
    formats = tuple(FORMATS)
    needs = ()

    @property
    def probe(self) -> Probe:
        """The likelihood of the second half."""
        return Completion()

    def marks(self, item: Item) -> bool:
        """Whether the question has 20 words or more; no other gets a row."""
        return halves(item.question) is not None

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """By row the share, with `verbatim` and `tokens` as parts, and the question's own bits per byte, with
        `numerator` (bits) and `denominator` (bytes).

        A row fails where the second half has no finite probability; `verbatim` alone, where the endpoint
        does not tell which token is the likeliest.
        """
        return [_values(row.reading.parsed) for row in rows]


def _values(told: Mapping[str, Any]) -> dict[str, Value]:
    logprob, tokens, verbatim = (told[name] for name in ("logprob", "tokens", "verbatim"))
    if logprob is None or not tokens or not told["bytes"]:
        return dict.fromkeys(
            ("verbatim", "bits_per_byte"),
            Value(None, note="the model gave the second half no finite probability", status="failed"),
        )
    if logprob > _ABOVE_ZERO * tokens:
        above = f"the logarithm of a probability is {logprob:g}, which is above 0"
        return dict.fromkeys(("verbatim", "bits_per_byte"), Value(None, note=above, status="failed"))
    cut = told.get("truncated") or 0
    note = f"the first half was cut by {cut} tokens to fit the model's context" if cut else None
    bits = max(-logprob, 0.0) / _LN2
    share = (
        Value(None, note="the endpoint does not tell which token is the likeliest", status="failed")
        if verbatim is None
        else Value(verbatim / tokens, {"verbatim": verbatim, "tokens": tokens}, note)
    )
    parts = {"numerator": bits, "denominator": told["bytes"]}
    return {"verbatim": share, "bits_per_byte": Value(bits / told["bytes"], parts, note)}
