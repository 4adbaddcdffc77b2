"""What Relaxed Perplexity asks: sample responses, keep the likeliest, score statements after their prefixes.

Arias-Duart et al. 2025, section 4 and appendix D. The log-likelihood of a statement after each prefix is
stored by itself, so one collection serves every way of summing (`relaxed_perplexity`'s over, prefixes, norm,
statements).
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Item
from vivavoce.core.specs import Spec
from vivavoce.logprobs.requests import LogprobRequests, PromptBuilder
from vivavoce.models.requests import Continuations, Generation, Likelihood, Reply, Request, Sampling


class Target(NamedTuple):
    """A text whose probability is asked: a statement (`must` or `nice`), or a whole answer (`reference`)."""

    kind: Literal["must", "nice", "reference"]
    text: str


class _Kept(NamedTuple):
    """A response that is kept: the number of its first sample, and how many samples were the same.

    `alike` is for each cut the first kept response with the same prefix; null where this one had ended
    before.
    """

    generation: Generation
    sample: int
    times: int
    alike: list[int | None]


_Table = dict[tuple[int, int], tuple[Likelihood, ...]]
"""The likelihoods of all targets, by the number of the kept response and the cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxed(LogprobRequests):
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
        """All settings written out, so that stored samples never match a default that has changed since.

        A beam search has no temperature, top_p and seed; its name leaves them out.
        """
        names = ["n", "stride", "samples", "keep", "draw", "keep_by"]
        if self.draw == "top_p":
            names += ["top_p", "temperature", "seed"]
        return str(Spec("relaxed", {name: getattr(self, name) for name in names}))

    @property
    def cuts(self) -> range:
        """After how many tokens an answer is cut: 0, stride, 2 stride, … up to `n`."""
        return range(0, self.n + 1, self.stride)

    def most_calls(self, item: Item, prompt: PromptBuilder, branching: bool) -> int:
        """How many requests an item takes at most, before anything was sampled.

        A `branching` model is asked once for each kept response; any other once for each of its cuts and each
        target, where the cut at 0 is the same for all.
        """
        sampling = self.samples if self.draw == "top_p" else 1
        if branching:
            return sampling + self.keep
        return sampling + (1 + self.keep * (len(self.cuts) - 1)) * len(targets(item))

    def sample(self, item: Item, prompt: PromptBuilder) -> Sequence[Request]:
        """A request for each sample, each with its own seed; or one beam search of as many."""
        messages = prompt(item)
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

    def score(self, item: Item, prompt: PromptBuilder, samples: Sequence[Reply]) -> Sequence[Request]:
        """A request for each kept response, with the cuts that no earlier one shares; none where it shares
        all.

        Raises `ValueError` where a response came without its tokens.
        """
        texts = tuple(target.text for target in targets(item))
        if not texts:
            return []
        requests = []
        for k, sample in enumerate(self._likeliest(samples)):
            if cuts := self._new_cuts(k, sample):
                branches = Continuations(texts, sample.generation, cuts)
                requests.append(Request(messages=prompt(item), kind="loglikelihood", branches=branches))
        return requests

    def to_record(self, item: Item, samples: Sequence[Reply], scores: Sequence[Reply]) -> Mapping[str, Any]:
        """The samples, which are kept, and the log-likelihood of every target after each of their cuts.

        `targets`: kind, text and `tokens`, how many a target has after a blank of its own, or right after the
        question where no cut tells that. `samples`: seed, text, logprob (of all tokens, natural), tokens,
        ended, and closing, the log-probability of the token that ended it; null where none did, or where the
        endpoint does not return it, and then the kept were ranked without any. Their ids are with the calls.
        `kept`, likeliest first: `sample` (from 0), `times` it was sampled, and by cut `prefix`
        (log-probability of the prefix), `alike` (the first kept with that prefix, from 0) and `logprobs` of
        the targets in order, those of the first where it is alike; all null after the end of the response.

        Raises `ValueError` where a log-probability is not finite, or there are too few of them.
        """
        statements, kept_samples = targets(item), self._likeliest(samples)
        table = self._table(statements, kept_samples, scores)
        replies = (*samples, *scores)
        return {
            "targets": [
                {**target._asdict(), "tokens": _token_count(t, kept_samples, table)}
                for t, target in enumerate(statements)
            ],
            "samples": [
                {
                    "seed": self._seed(item, k) if self.draw == "top_p" else None,
                    "text": generation.text,
                    "logprob": math.fsum(generation.logprobs),
                    "tokens": len(generation.logprobs),
                    "ended": generation.ended,
                    "closing": generation.closing,
                }
                for k, generation in enumerate(_generations(samples))
            ],
            "cuts": list(self.cuts),
            "kept": [self._row(sample, table) for sample in kept_samples],
            "tokeniser": next((r.tokeniser for r in replies if r.tokeniser is not None), None),
            "truncated": max((r.truncated for r in replies), default=0),
        }

    def _table(
        self, statements: Sequence[Target], kept_samples: Sequence[_Kept], scores: Sequence[Reply]
    ) -> _Table:
        table: _Table = {}
        replies = iter(scores)
        for k, sample in enumerate(kept_samples):
            cuts = self._new_cuts(k, sample)
            if statements and cuts:
                for cut, likelihoods in zip(
                    cuts, _by_cut(cuts, statements, next(replies, None)), strict=True
                ):
                    table[k, cut] = likelihoods
        return table

    def _row(self, sample: _Kept, table: _Table) -> dict[str, Any]:
        """A kept response as it is stored."""
        prefix: list[float | None] = []
        logprobs: list[list[float] | None] = []
        for cut, first in zip(self.cuts, sample.alike, strict=True):
            if first is None:
                prefix.append(None)
                logprobs.append(None)
            else:
                prefix.append(math.fsum(sample.generation.logprobs[:cut]))
                logprobs.append([likelihood.logprob for likelihood in table.get((first, cut), ())])
        row = {"sample": sample.sample, "times": sample.times, "alike": sample.alike}
        return {**row, "prefix": prefix, "logprobs": logprobs}

    def _seed(self, item: Item, k: int) -> int:
        """A seed from what is asked, never from its position."""
        text = f"{item.benchmark}|{item.item}|{item.variant}|relaxed|{k}|{self.seed}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def _new_cuts(self, k: int, sample: _Kept) -> tuple[int, ...]:
        """The cuts of kept response number `k` that no earlier one shares."""
        return tuple(cut for cut, first in zip(self.cuts, sample.alike, strict=True) if first == k)

    def _likeliest(self, samples: Sequence[Reply]) -> list[_Kept]:
        """The likeliest different samples, likeliest first; of equals the one sampled first."""
        generations = _generations(samples)
        numbers: dict[tuple[int | str, ...], list[int]] = {}
        for k, generation in enumerate(generations):
            numbers.setdefault(_tokens(generation), []).append(k)
        # Where one end has no probability none counts: else it would pass for certain beside the others.
        ends = all(generation.closing is not None for generation in generations if generation.ended)
        ranked = sorted(numbers.values(), key=lambda same: -self._rank_score(generations[same[0]], ends))
        first_with: dict[tuple[int | str, ...], int] = {}
        likeliest = []
        for k, same in enumerate(ranked[: self.keep]):
            generation = generations[same[0]]
            tokens = _tokens(generation)
            alike = [
                first_with.setdefault(tokens[:cut], k) if cut <= len(tokens) else None for cut in self.cuts
            ]
            likeliest.append(_Kept(generation, same[0], len(same), alike))
        return likeliest

    def _rank_score(self, generation: Generation, ends: bool) -> float:
        """The log-probability by which samples are ranked, with that of the closing token where `ends`."""
        closing = () if generation.closing is None or not ends else (generation.closing,)
        logprobs = (*generation.logprobs, *closing)
        if self.keep_by == "total":
            return math.fsum(logprobs)
        # Without a token there is no mean: such a response comes last.
        return math.fsum(logprobs) / len(logprobs) if logprobs else -math.inf


def targets(item: Item) -> tuple[Target, ...]:
    """What an item asks the probability of: what a response must say, else its references; then what is nice.

    Blank texts are left out.
    """
    must = [Target("must", text) for text in item.must] or [Target("reference", r) for r in item.references]
    nice = [Target("nice", text) for text in item.nice]
    return tuple(target for target in (*must, *nice) if target.text.strip())


def _generations(samples: Sequence[Reply]) -> list[Generation]:
    generations: list[Generation] = []
    for k, reply in enumerate(samples, 1):
        if not reply.generations or not all(map(_is_complete, reply.generations)):
            raise ValueError(
                f"sample {k} came without its tokens and their log-probabilities, so it can be neither "
                "ranked nor cut: take a model that tells them"
            )
        generations += reply.generations
    return generations


def _tokens(generation: Generation) -> tuple[int | str, ...]:
    """What distinguishes two samples: their ids, or spellings where the endpoint returns no ids."""
    return generation.ids or generation.pieces


def _is_complete(generation: Generation) -> bool:
    """Whether each token has its log-probability; an empty sample has none."""
    has_tokens = bool(generation.logprobs) or not generation.text
    return has_tokens and len(_tokens(generation)) == len(generation.logprobs)


def _by_cut(
    cuts: Sequence[int], statements: Sequence[Target], reply: Reply | None
) -> list[tuple[Likelihood, ...]]:
    """The reply about one kept response, by cut. Raises `ValueError` where it is not what was asked."""
    likelihoods, n = reply.likelihoods if reply else (), len(statements)
    if len(likelihoods) != len(cuts) * n:
        raise ValueError(f"{len(likelihoods)} likelihoods came for {n} targets after {len(cuts)} cuts")
    for place, likelihood in enumerate(likelihoods):
        if not math.isfinite(likelihood.logprob) or likelihood.tokens < 1:
            raise ValueError(
                f"the model gives {statements[place % n].text!r} the log-probability {likelihood.logprob} in "
                f"{likelihood.tokens} tokens, after {cuts[place // n]} of its answer: a finite one is needed"
            )
    return [likelihoods[start : start + n] for start in range(0, len(likelihoods), n)]


def _token_count(t: int, kept_samples: Sequence[_Kept], table: _Table) -> int:
    """How many tokens target `t` has after a blank of its own, whatever was sampled.

    Its first word may be split otherwise where the prefix ends in whitespace, so only cuts after a prefix
    that does not are counted. Their commonest number holds, since an endpoint may join tokens over the
    border; of two as common the smaller. Where there is no such cut, it is that right after the question.
    """
    counts = [
        likelihoods[t].tokens
        for (k, cut), likelihoods in table.items()
        if _needs_blank(kept_samples[k].generation, cut)
    ]
    if not counts:
        return table[0, 0][t].tokens
    return min(set(counts), key=lambda n: (-counts.count(n), n))


def _needs_blank(generation: Generation, cut: int) -> bool:
    """Whether a target gets a blank of its own there; false right after the question."""
    prefix = "".join(generation.pieces[:cut])
    return bool(prefix) and not prefix[-1].isspace()
