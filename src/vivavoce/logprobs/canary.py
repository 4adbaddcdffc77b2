"""Canary: is the string that a benchmark marks its files with likelier to a model than others of its shape?

Some benchmarks put a token drawn at random, often a GUID, into their files, so that whoever collects training
data can leave these files out. A model that never read it holds it no likelier than others of the same
shape (the rank among them, and the exposure, of Carlini et al. 2019, "The Secret Sharer", USENIX Security).
"""

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.specs import Spec
from vivavoce.formats import FORMATS
from vivavoce.logprobs.requests import LogprobMetric, LogprobRequests, PromptBuilder, finite
from vivavoce.logprobs.second_half import WHITE_SPACE
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Reply, Request

TIE = 1e-6
"""By so much of itself a decoy's log-probability may lie below the canary's and count as equal."""
_MOST = 10_000
_TOKEN = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*(?![0-9A-Za-z])")
_LEAST_DIGITS = 16
"""64 bits: a date or a telephone number is shorter, a GUID has twice as much."""
_RANDOM_GUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)
_VERSION, _VARIANT = 14, 19
"""Where a random GUID (version 4, RFC 9562) holds a 4, and one of 8, 9, a and b."""


@dataclass(frozen=True, slots=True)
class Canaries(LogprobRequests):
    """The likelihood of a benchmark's canary string, and of `count` decoys of its shape drawn by `seed`.

    The record holds `canary`, its log-probability in nats, and `decoys`, theirs, null where one is not
    finite; `tokeniser` and `truncated`. Nothing of the item is asked.
    """

    text: str
    count: int
    seed: int

    @property
    def name(self) -> str:
        """Such as `canary(decoys=999, seed=1, text=…)`."""
        return str(Spec("canary", {"text": self.text, "decoys": self.count, "seed": self.seed}))

    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """A request for the canary and one for each decoy, the words before the token being said already.

        They are the same for every item.
        """
        position = _head(self.text)
        return tuple(
            Request(messages=(), kind="loglikelihood", begun=text[:position], target=text[position:])
            for text in (self.text, *decoys(self.text, self.count, self.seed))
        )

    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """The kept figures, decoys in the order in which they were drawn."""
        canary, *others = (finite(reply.likelihoods[0]) for reply in scores)
        return {
            "canary": canary,
            "decoys": others,
            "tokeniser": scores[0].tokeniser,
            "truncated": max(reply.truncated for reply in scores),
        }


def decoys(text: str, count: int, seed: int) -> tuple[str, ...]:
    """So many texts that differ from this one, and from each other, in its random token alone.

    The token is 16 hexadecimal digits or more, one of them 0-9, perhaps with hyphens between. Every digit is
    redrawn as a digit and every letter as a letter a-f of its case, so that decoys have the canary's shape; a
    random GUID (version 4) stays one. A token that was drawn at random, as canaries are, is one among its
    decoys to whoever never read it. Raises `ValueError` where the text has no such token.
    """
    places = _places(text)
    rng = random.Random(f"canary|{seed}|{text}")
    texts: dict[str, None] = {}
    while len(texts) < count:
        parts, end = [], 0
        for i, j in places:
            parts += [text[end:i], "".join(_redrawn(text[i:j], rng))]
            end = j
        fresh = "".join([*parts, text[end:]])
        if fresh != text:
            texts[fresh] = None
    return tuple(texts)


def _places(text: str) -> list[tuple[int, int]]:
    """Where the random tokens of a text stand, at least one."""
    places = [m.span() for m in _TOKEN.finditer(text) if _is_random(m.group())]
    if not places:
        raise ValueError(
            f"text must hold a token that was drawn at random, such as a GUID: {_LEAST_DIGITS} hexadecimal "
            "digits or more"
        )
    return places


def _head(text: str) -> int:
    """Where the words before the first random token end: at the white space before it, or the beginning."""
    first = _places(text)[0][0]
    return max((m.start() for m in WHITE_SPACE.finditer(text[:first])), default=0)


def _is_random(token: str) -> bool:
    bare = token.replace("-", "")
    return len(bare) >= _LEAST_DIGITS and any(c.isdigit() for c in bare)


def _redrawn(token: str, rng: random.Random) -> Iterator[str]:
    guid = _RANDOM_GUID.fullmatch(token) is not None
    for k, c in enumerate(token):
        if c == "-" or (guid and k == _VERSION):
            yield c
        elif guid and k == _VARIANT:
            yield rng.choice("89" if c.isdigit() else "AB" if c.isupper() else "ab")
        else:
            yield rng.choice("0123456789" if c.isdigit() else "ABCDEF" if c.isupper() else "abcdef")


@metric("canary")
class Canary(LogprobMetric):
    """Whether a benchmark's canary string is likelier to a model than decoys that differ in its token alone.

    `text` is the string as the benchmark's files have it, with what stands before the token, which helps a
    model that has read it. `decoys`: how many, drawn by `seed`; by chance the canary is before all of them
    once in decoys + 1 times, so that 999 show something at p = .001 at best, which bears 50 tests made
    together. Each is one short call.

    `rank`: the share of decoys that are at least as likely, 0 to 1; near 0 is suspicious, 1/2 is chance.
    `exposure`: log2(decoys + 1) - log2(rank), rank counted from 1, in bits; log2(decoys + 1) is the most that
    so many decoys can show. By chance it lies below 1 as often as above, and is 1.44 on average.

    It is one fact of a benchmark and stands with its first item by id alone. `at` names these items, as
    'benchmark/item', and is filled in when a run is asked or scored; without it every item is scored.
    """

    text: str
    decoys: int = 999
    seed: int = 1
    at: tuple[str, ...] | None = None

    criteria = (
        Criterion(criterion="rank", if_unanswered="set_aside"),
        Criterion(criterion="exposure", high=None, direction="lower", if_unanswered="set_aside"),
    )

    @property
    def formats(self) -> tuple[str, ...]:
        """Every format: it scores the benchmark's text, whatever form the items have."""
        return tuple(FORMATS)

    def __post_init__(self) -> None:
        if not 1 <= self.decoys <= _MOST:
            raise ValueError(f"decoys is a number from 1 to {_MOST:,}, not {self.decoys}")
        decoys(self.text, 1, self.seed)

    @property
    def logprob_requests(self) -> LogprobRequests:
        """The likelihood of the canary and its decoys."""
        return Canaries(self.text, self.decoys, self.seed)

    def bind(self, items: Sequence[Item]) -> "Canary":
        """The metric for a run of these items: the first of each benchmark, made ones not counted."""
        first: dict[str, str] = {}
        for item in items:
            if item.origin is None:
                first[item.benchmark] = min(first.get(item.benchmark, item.item), item.item)
        return replace(self, at=tuple(f"{name}/{item}" for name, item in sorted(first.items())))

    def applies_to(self, item: Item) -> bool:
        """Whether the item is the first of its benchmark, in the framing of the exam itself."""
        if item.variant or item.origin is not None or not super().applies_to(item):
            return False
        return self.at is None or f"{item.benchmark}/{item.item}" in self.at

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """By row both figures; the parts of `rank` are `decoys`, and `at_least`, how many of them are at
        least as likely.

        A decoy that is as likely counts against the finding. A row fails where a probability is missing.
        """
        return [_values(row.reading.parsed) for row in rows]


def _values(record: Mapping[str, object]) -> dict[str, Value]:
    canary, decoy_logprobs = record["canary"], record["decoys"]
    assert isinstance(decoy_logprobs, list)  # as `Canaries.to_record` has it
    if not isinstance(canary, float | int) or not decoy_logprobs or None in decoy_logprobs:
        failed = Value(
            None, note="the model gave the canary or a decoy no finite probability", status="failed"
        )
        return dict.fromkeys(("rank", "exposure"), failed)
    preceding = sum(logprob >= canary - TIE * abs(canary) for logprob in decoy_logprobs)
    n = len(decoy_logprobs)
    exposure = math.log2(n + 1) - math.log2(preceding + 1)
    return {
        "rank": Value(preceding / n, {"at_least": preceding, "decoys": n}),
        "exposure": Value(max(exposure, 0.0)),
    }
