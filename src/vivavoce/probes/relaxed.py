"""The probe of Relaxed Perplexity: draw answers, keep the likeliest, put statements after their strides.

Arias-Duart et al. 2025, section 4 and appendix D. What a statement is worth after each beginning is a number
of its own, so one asking serves every way of summing (`relaxed_perplexity`'s over, prefixes, norm,
statements).
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from vivavoce.models import Branches, Drawn, Likelihood, Reply, Request, Sampling
from vivavoce.probes import Said
from vivavoce.records import Item
from vivavoce.specs import Spec

__all__ = ["Relaxed", "Target", "targets"]


class Target(NamedTuple):
    """A text whose probability is asked: a statement (`must` or `nice`), or a whole answer (`reference`)."""

    kind: Literal["must", "nice", "reference"]
    text: str


class _Kept(NamedTuple):
    """An answer that is kept: which sample it was first, and how many were the same.

    `alike` is for each cut the first kept answer that begins so; null where this one had ended before.
    """

    drawn: Drawn
    sample: int
    times: int
    alike: list[int | None]


_Table = dict[tuple[int, int], tuple[Likelihood, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxed:
    """`samples` answers of at most `n` tokens, the `keep` likeliest of them, cut after every `stride` tokens.

    What the settings mean stands with `relaxed_perplexity`, whose settings of the same names these are.
    """

    n: int
    stride: int = 8
    samples: int = 10
    keep: int = 5
    top_p: float = 0.9
    temperature: float = 1.0
    draw: Literal["top_p", "beam"] = "top_p"
    seed: int = 0
    keep_by: Literal["total", "per_token"] = "total"

    def __post_init__(self) -> None:
        if self.n < 1 or self.stride < 1:
            raise ValueError(f"n and stride count tokens, from 1 up, not n={self.n} and stride={self.stride}")
        if not 1 <= self.keep <= self.samples:
            raise ValueError(f"keep is from 1 to samples={self.samples}, not {self.keep}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is a share above 0 and up to 1, not {self.top_p}")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature is above 0, or all samples are one, not {self.temperature}")

    @property
    def name(self) -> str:
        """All settings written out, so that a default that changes one day takes no old answer for its own.

        A beam search has no temperature, top_p and seed; its name leaves them out.
        """
        own = {key: getattr(self, key) for key in ("n", "stride", "samples", "keep", "draw", "keep_by")}
        if self.draw == "top_p":
            own |= {"top_p": self.top_p, "temperature": self.temperature, "seed": self.seed}
        return str(Spec("relaxed", own))

    @property
    def cuts(self) -> range:
        """After how many tokens an answer is cut: 0, stride, 2 stride, … up to `n`."""
        return range(0, self.n + 1, self.stride)

    def calls(self, item: Item, branching: bool) -> int:
        """How many requests an item takes at most, before anything was drawn.

        A `branching` model is asked once for each kept answer; any other once for each of its cuts and each
        target, where the cut at 0 is the same for all.
        """
        drawn = self.samples if self.draw == "top_p" else 1
        if branching:
            return drawn + self.keep
        return drawn + (1 + self.keep * (len(self.cuts) - 1)) * len(targets(item))

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """A request for each sample, told apart by its seed; or one beam search that gives as many."""
        messages = said(item)
        if self.draw == "beam":
            beams = Sampling(max_tokens=self.n, beams=self.samples, logprobs=True)
            return [Request(messages=messages, sampling=beams)]
        return [
            Request(
                messages=messages,
                sampling=Sampling(
                    temperature=self.temperature,
                    top_p=self.top_p,
                    max_tokens=self.n,
                    seed=self._seed(item, k),
                    logprobs=True,
                ),
            )
            for k in range(self.samples)
        ]

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """A request for each kept answer, with the cuts that no earlier one shares; none where it shares all.

        Raises `ValueError` where an answer came without its tokens.
        """
        texts = tuple(target.text for target in targets(item))
        if not texts:
            return []
        own = [(one.drawn, self._own(k, one)) for k, one in enumerate(self._kept(opened))]
        return [
            Request(messages=said(item), kind="loglikelihood", branches=Branches(texts, drawn, cuts))
            for drawn, cuts in own
            if cuts
        ]

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """The samples, which are kept, and what every target is worth after each of their cuts.

        `targets`: kind, text and `tokens`, how many a target has after a blank of its own, or right after the
        question where no cut tells that. `samples`: seed, text, logprob (of all tokens, natural), tokens,
        ended, and closing, the log-probability of the token that ended it; null where none did, or where it
        is not told, and then the kept were ranked without any. Their ids are with the calls. `kept`,
        likeliest first: `sample` (from 0), `times` it was drawn, and by cut `prefix` (log-probability of the
        beginning), `alike` (the first kept that begins so, from 0) and `logprobs` of the targets in order,
        those of the first where it is alike; all null after the end of the answer.

        Raises `ValueError` where a log-probability is no finite number, or there are too few of them.
        """
        asked, kept = targets(item), self._kept(opened)
        found = self._found(asked, kept, followed)
        replies = (*opened, *followed)
        return {
            "targets": [
                {**target._asdict(), "tokens": _tokens_in(t, kept, found)} for t, target in enumerate(asked)
            ],
            "samples": [
                {
                    "seed": self._seed(item, k) if self.draw == "top_p" else None,
                    "text": drawn.text,
                    "logprob": math.fsum(drawn.logprobs),
                    "tokens": len(drawn.logprobs),
                    "ended": drawn.ended,
                    "closing": drawn.closing,
                }
                for k, drawn in enumerate(_drawn(opened))
            ],
            "cuts": list(self.cuts),
            "kept": [self._row(one, found) for one in kept],
            "tokeniser": next((r.tokeniser for r in replies if r.tokeniser is not None), None),
            "truncated": max((r.truncated for r in replies), default=0),
        }

    def _found(self, asked: Sequence[Target], kept: Sequence[_Kept], followed: Sequence[Reply]) -> _Table:
        """What was told of all targets, by the kept answer that was asked and its cut."""
        found: _Table = {}
        replies = iter(followed)
        for k, one in enumerate(kept):
            cuts = self._own(k, one)
            if asked and cuts:
                said = _by_cut(cuts, asked, next(replies, None))
                found |= {(k, cut): by_target for cut, by_target in zip(cuts, said, strict=True)}
        return found

    def _row(self, one: _Kept, found: _Table) -> dict[str, Any]:
        """A kept answer as it is stored."""
        prefix: list[float | None] = []
        logprobs: list[list[float] | None] = []
        for cut, first in zip(self.cuts, one.alike, strict=True):
            prefix.append(None if first is None else math.fsum(one.drawn.logprobs[:cut]))
            logprobs.append(None if first is None else [each.logprob for each in found.get((first, cut), ())])
        return {
            "sample": one.sample,
            "times": one.times,
            "alike": one.alike,
            "prefix": prefix,
            "logprobs": logprobs,
        }

    def _seed(self, item: Item, k: int) -> int:
        """A seed from what is asked, never from its position."""
        text = f"{item.benchmark}|{item.item}|{item.variant}|relaxed|{k}|{self.seed}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def _own(self, k: int, one: _Kept) -> tuple[int, ...]:
        """The cuts that are asked of this one."""
        return tuple(cut for cut, first in zip(self.cuts, one.alike, strict=True) if first == k)

    def _kept(self, opened: Sequence[Reply]) -> list[_Kept]:
        """The likeliest different samples, likeliest first; of equals the one drawn first."""
        drawn = _drawn(opened)
        times: dict[tuple[int | str, ...], list[int]] = {}
        for k, one in enumerate(drawn):
            times.setdefault(_tokens(one), []).append(k)
        # Where one end has no probability none is counted, or it would pass for certain beside the others.
        ends = all(one.closing is not None for one in drawn if one.ended)
        ranked = sorted(times.values(), key=lambda same: -self._worth(drawn[same[0]], ends))[: self.keep]
        beginnings: dict[tuple[int | str, ...], int] = {}
        kept = []
        for k, same in enumerate(ranked):
            tokens = _tokens(drawn[same[0]])
            alike = [
                beginnings.setdefault(tokens[:cut], k) if cut <= len(tokens) else None for cut in self.cuts
            ]
            kept.append(_Kept(drawn[same[0]], same[0], len(same), alike))
        return kept

    def _worth(self, drawn: Drawn, ends: bool) -> float:
        """By its tokens, the closing one among them where `ends` count."""
        closing = () if drawn.closing is None or not ends else (drawn.closing,)
        told = (*drawn.logprobs, *closing)
        if self.keep_by == "total":
            return math.fsum(told)
        # Without a token there is no mean: such an answer comes last.
        return math.fsum(told) / len(told) if told else -math.inf


def targets(item: Item) -> tuple[Target, ...]:
    """What an item asks the probability of: what an answer must say, else its references; then what is nice.

    Blank texts are left out.
    """
    must = [Target("must", text) for text in item.must] or [Target("reference", r) for r in item.references]
    return tuple(one for one in (*must, *(Target("nice", text) for text in item.nice)) if one.text.strip())


def _drawn(opened: Sequence[Reply]) -> list[Drawn]:
    found: list[Drawn] = []
    for k, reply in enumerate(opened, 1):
        if not reply.drawn or not all(map(_told, reply.drawn)):
            raise ValueError(
                f"sample {k} came without its tokens and their log-probabilities, so it can be neither "
                "ranked nor cut: take a model that tells them"
            )
        found += reply.drawn
    return found


def _tokens(drawn: Drawn) -> tuple[int | str, ...]:
    """What tells two answers apart: their ids, or spellings where the endpoint tells no ids."""
    return drawn.ids or drawn.pieces


def _told(drawn: Drawn) -> bool:
    """Whether an answer has its tokens, each with its log-probability; an empty one has none to tell."""
    return len(_tokens(drawn)) == len(drawn.logprobs) and (bool(drawn.logprobs) or not drawn.text)


def _by_cut(
    cuts: Sequence[int], asked: Sequence[Target], reply: Reply | None
) -> list[tuple[Likelihood, ...]]:
    """The reply to one kept answer, by cut. Raises `ValueError` where it is not what was asked."""
    said, n = reply.likelihoods if reply else (), len(asked)
    if len(said) != len(cuts) * n:
        raise ValueError(f"{len(said)} likelihoods came for {n} targets after {len(cuts)} cuts")
    for place, one in enumerate(said):
        if not math.isfinite(one.logprob) or one.tokens < 1:
            raise ValueError(
                f"the model gives {asked[place % n].text!r} the log-probability {one.logprob} in "
                f"{one.tokens} tokens, after {cuts[place // n]} of its answer: a finite one is needed"
            )
    return [said[c : c + n] for c in range(0, len(said), n)]


def _tokens_in(t: int, kept: Sequence[_Kept], found: _Table) -> int:
    """How many tokens target `t` has after a blank of its own, whatever was drawn.

    Its first word may be split otherwise where what stands before ends in whitespace, so only cuts after a
    beginning that does not are counted; their commonest number, since an endpoint may join tokens over the
    border; of two as common the smaller. Where there is no such cut, that right after the question.
    """
    counts = [said[t].tokens for (k, cut), said in found.items() if _parted(kept[k].drawn, cut)]
    if not counts:
        return found[0, 0][t].tokens
    return min(set(counts), key=lambda n: (-counts.count(n), n))


def _parted(drawn: Drawn, cut: int) -> bool:
    """Whether a target gets a blank of its own there; false right after the question, which is not seen."""
    begun = "".join(drawn.pieces[:cut])
    return bool(begun) and not begun[-1].isspace()
