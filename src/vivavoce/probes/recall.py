"""Recall: does a model know by heart the text of an exam, or the token that its files are marked with?

Both ask for the probability of plain text after plain text, without instruction or chat template: a template
would stand between the model and what it may have read.
"""

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vivavoce.models import Likelihood, Reply, Request
from vivavoce.probes import Said
from vivavoce.records import Item
from vivavoce.specs import Spec

__all__ = ["LEAST_WORDS", "Canaries", "Completion", "decoys", "halves"]

LEAST_WORDS = 20
"""Of fewer words both halves are phrases that anybody might write."""
_BOUNDARY = re.compile(r"\s+")
_TOKEN = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*(?![0-9A-Za-z])")
_LEAST_DIGITS = 16
"""64 bits: a date or a telephone number is shorter, a GUID has twice as much."""
_RANDOM_GUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
)
_VERSION, _VARIANT = 14, 19
"""Where a random GUID (version 4, RFC 9562) holds a 4, and one of 8, 9, a and b."""


def halves(text: str) -> tuple[str, str] | None:
    """A text without the blanks around it, cut at the white space nearest to the middle of its characters.

    The white space begins the second half; of two places as near the first. Null below 20 words, where a word
    is what white space parts.
    """
    bare = text.strip()
    if len(bare.split()) < LEAST_WORDS:
        return None
    at = min((m.start() for m in _BOUNDARY.finditer(bare)), key=lambda k: abs(2 * k - len(bare)))
    return bare[:at], bare[at:]


@dataclass(frozen=True, slots=True)
class Completion:
    """The likelihood of the second half of an item's question after the first, as plain text.

    What is told: `logprob` of the second half in nats (null where it is no finite number), its `tokens`,
    how many of the first of these greedy decoding would say (`verbatim`, null where an endpoint does not
    tell), and its UTF-8 `bytes`, the white space it begins with among them; `tokeniser`, `truncated`. Of a
    question of fewer than 20 words nothing is asked.
    """

    @property
    def name(self) -> str:
        """`second_half`: there is nothing to set."""
        return "second_half"

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """Nothing: the text is known beforehand."""
        return ()

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """One request, of the second half as what follows the first."""
        cut = halves(item.question)
        if cut is None:
            return ()
        return (Request(messages=(), kind="loglikelihood", begun=cut[0], target=cut[1]),)

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """The kept figures; `tokens` and `bytes` are 0 where nothing was asked."""
        reply = followed[0] if followed else Reply(text="")
        found = reply.likelihoods[0] if reply.likelihoods else Likelihood(-math.inf, 0)
        second = (halves(item.question) or ("", ""))[1]
        return {
            "logprob": _finite(found),
            "tokens": found.tokens,
            "verbatim": found.verbatim,
            "bytes": len(second.encode("utf-8", "surrogatepass")),
            "tokeniser": reply.tokeniser,
            "truncated": reply.truncated,
        }


@dataclass(frozen=True, slots=True)
class Canaries:
    """The likelihood of a benchmark's canary string, and of `count` decoys of its shape drawn by `seed`.

    What is told: `canary`, its log-probability in nats, and `decoys`, theirs; null where one is no finite
    number; `tokeniser`, `truncated`. Nothing of the item is asked.
    """

    text: str
    count: int
    seed: int

    @property
    def name(self) -> str:
        """Such as `canary(decoys=999, seed=1, text=…)`."""
        return str(Spec("canary", {"text": self.text, "decoys": self.count, "seed": self.seed}))

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """Nothing: the text is known beforehand."""
        return ()

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """A request for the canary and one for each decoy, the words before the token being said already.

        They are the same for every item.
        """
        at = _head(self.text)
        return tuple(
            Request(messages=(), kind="loglikelihood", begun=text[:at], target=text[at:])
            for text in (self.text, *decoys(self.text, self.count, self.seed))
        )

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """The kept figures, decoys in the order in which they were drawn."""
        canary, *others = (_finite(reply.likelihoods[0]) for reply in followed)
        return {
            "canary": canary,
            "decoys": others,
            "tokeniser": followed[0].tokeniser,
            "truncated": max(reply.truncated for reply in followed),
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
    made: dict[str, None] = {}
    while len(made) < count:
        parts, end = [], 0
        for i, j in places:
            parts += [text[end:i], "".join(_redrawn(text[i:j], rng))]
            end = j
        fresh = "".join([*parts, text[end:]])
        if fresh != text:
            made[fresh] = None
    return tuple(made)


def _places(text: str) -> list[tuple[int, int]]:
    """Where the random tokens of a text stand, at least one."""
    found = [m.span() for m in _TOKEN.finditer(text) if _is_random(m.group())]
    if not found:
        raise ValueError(
            f"text must hold a token that was drawn at random, such as a GUID: {_LEAST_DIGITS} hexadecimal "
            "digits or more"
        )
    return found


def _head(text: str) -> int:
    """Where the words before the first random token end: at the white space before it, or the beginning."""
    first = _places(text)[0][0]
    return max((m.start() for m in _BOUNDARY.finditer(text[:first])), default=0)


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


def _finite(one: Likelihood) -> float | None:
    return one.logprob if math.isfinite(one.logprob) else None  # JSON has no infinity
