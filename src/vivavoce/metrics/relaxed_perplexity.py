"""Relaxed Perplexity: how near a model comes to saying what it should, anywhere in its answer.

Arias-Duart et al. 2025, section 4 and appendix D. A model is let answer; a statement that it should make is
put after every few tokens of its answers, and counts by its probability there. So a right answer that begins
with something else is not lost, as it is to plain perplexity. The paper leaves much open and contradicts
itself in places: every choice is a setting.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Literal

from vivavoce.metrics import Lab
from vivavoce.metrics.relaxed import Found, Over, Prefixes, Stated, Told, cross_entropy, jackknife, read_told
from vivavoce.probes import relaxed
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.registry import metric


@metric("relaxed_perplexity")
class RelaxedPerplexity:
    """Cross-entropy, in nats, of what an answer should say, anywhere in the model's own answers; and from it.

    What is asked of the model:

    - `n`: how many tokens an answer has at most (paper: 128 to 256). No default: two lengths, two measures.
    - `stride`: a statement is put after 0, stride, 2 stride, … tokens, up to n (paper: 8 or 16).
    - `samples` answers are drawn and the `keep` likeliest kept (paper: 10 and 5; others gave alike results).
    - `draw`: `top_p` draws with `top_p` and `temperature` (the paper states neither here; 0.9 and 1 are those
      of its other draws), by `seed` and item; `beam` is a beam search of width `samples`, deterministic.
    - `keep_by`: once, by the log-probability of the whole answer (`total`), or by its mean (`per_token`,
      since a total favours short answers). The token that closes an answer counts in both, so that an empty
      one ranks by it alone; where an endpoint does not tell it for one that ended, it counts for none, an
      empty answer is first by `total` and last by `per_token`, and a note says so. An empty answer that is
      kept takes one of the `keep` and adds nothing but cut 0, which all share. The likeliest at each length,
      as one may also read the paper, would glue answers together. Equal samples are one.
    - Probabilities are those of the whole distribution at temperature 1, however an answer was drawn:
      cut to top-p most statements would have none.

    What is made of it:

    - `prefixes`: how the kept answers join at one place. `mean`: the paper's sum can exceed 1, and falls by
      log 2 nats at every place when twice as many are kept, so that 5 and 10 are not comparable; a mean is.
      `sum`: as printed. `weighted`: by the probability of each beginning, as before the paper drops it; soon
      one beginning has nearly all of it.
    - `over`: how the places join. `log_mean`: the statement is said somewhere, as in the paper's opening
      equation, a sum over places, here a mean so that more places are no gain. `sum_log`: the definition as
      printed, a sum of logarithms, which asks for the statement everywhere, and grows with the places: at
      5 nats each the cross-entropy is 5, 45, 165 for answers of 1, 9, 33 places. So who answers briefly
      looks better; only norm=calibrated and the bits take N out again. `max`: at the best place.
    - `norm`: what nats are divided by before the exponential. `calibrated`: the statement's t tokens, times
      the N places with `sum_log`. `printed`: n + t, whatever the stride, so that a wider stride looks better,
      and with `sum_log` a short answer does: 1.02, 1.19, 1.87 in the case above (n = 256, t = 8).
      t is the number of tokens after a blank of the statement's own, as at most places: after whitespace the
      first word may be split otherwise, and one more such place must not move the figure. Where no kept
      answer has a place without whitespace before it, t is that right after the question.
    - `statements`: `must` marks what an answer must say; an item without such is marked by its references,
      which are alternatives, so that of the likeliest per byte counts, the first of equals.
      `nice` marks what would be good to say, and only items that have it.

    Equal beginnings count once, cut 0 above all; an answer that ended before a place does not count there,
    and places that no answer reaches are left out. Of several statements the mean counts.

    `cross_entropy`: mean nats per item. `relaxed_perplexity`: mean of exp(nats / norm) over items, which a
    few bad items lead (one too large for a float stands as the largest, with a note); `pooled`: exp(sum of
    nats / sum of norm), which they do not. The paper says not which. Intervals and comparisons are for
    `pooled` or `cross_entropy`: a mean of exponentials is skewed, and its 95 % interval too narrow (it held
    the true mean 88 and 91 times in 100 at 15 and 40 cases, with nats / norm normal of deviation 1; that
    of the logarithms 96 and 95 times).
    `bits_per_byte`: nats in bits over UTF-8 bytes (times N with `sum_log`), the only one to compare models
    of different tokenisers by. `parts` of the cross-entropy: `mc_se`, the Monte-Carlo standard error by
    leaving out each kept answer in turn (there is none for one; rough for `max`, which is not smooth; that
    other samples would be kept is not in it), `tokens` (mean t), `positions` (N), `beginnings` (different
    ones at a place), `kept`.

    A guess at the published table (Table 10), which cannot be sums over places by its size: the negative
    `cross_entropy` with over=log_mean and prefixes=sum for its log-probability. It is a guess, not a
    reproduction. `cross_entropy` with over=sum_log, prefixes=sum is what the text defines.
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
    over: Over = "log_mean"
    prefixes: Prefixes = "mean"
    norm: Literal["calibrated", "printed"] = "calibrated"
    statements: Literal["must", "nice"] = "must"

    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ()
    per_token = ("relaxed_perplexity", "pooled")

    def __post_init__(self) -> None:
        _ = self.probe  # checks the settings that are its own

    @property
    def probe(self) -> relaxed.Relaxed:
        """What the model is asked; measures that differ only in the arithmetic share it."""
        own = {field.name: getattr(self, field.name) for field in fields(relaxed.Relaxed)}
        return relaxed.Relaxed(**own)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """A sum over beginnings is no probability, so with `prefixes=sum` nothing bounds it from below."""
        free = self.prefixes == "sum"
        least = {"cross_entropy": 0.0, "relaxed_perplexity": 1.0, "pooled": 1.0, "bits_per_byte": 0.0}
        none = {"cross_entropy": None, "relaxed_perplexity": 0.0, "pooled": 0.0, "bits_per_byte": None}
        pools = {"pooled": "exp_ratio", "bits_per_byte": "ratio"}
        return tuple(
            Criterion(
                criterion=name,
                low=none[name] if free else low,
                high=None,
                direction="lower",
                if_unanswered="set_aside",
                pool=pools.get(name, "mean"),
            )
            for name, low in least.items()
        )

    def marks(self, item: Item) -> bool:
        """Whether the item has such statements; for `must` its references do."""
        return bool(self._own([target.kind for target in relaxed.targets(item)]))

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """Each item's own figures; a row whose record cannot be read fails with a note."""
        return [self._values(row) for row in rows]

    def _values(self, row: Row) -> Mapping[str, Value]:
        try:
            told = read_told(row.reading.parsed)
            own = self._own([target.kind for target in told.targets])
            if not own:
                raise ValueError(f"no statement of it is of the kind {self.statements}")
        except ValueError as error:
            return {c.criterion: Value(None, note=str(error), status="failed") for c in self.criteria}
        found = cross_entropy(told, self.over, self.prefixes)
        if told.targets[own[0]].kind == "reference":
            own = [min(own, key=lambda t: found.nats[t] / told.targets[t].bytes)]  # min keeps the first
        notes = []
        if told.truncated:
            notes.append(f"{told.truncated} tokens of the question were left out")
        if told.unclosed:
            notes.append(
                f"the probability of the end is not told of {told.unclosed} of the answers that ended, so "
                "the likeliest were chosen without it"
            )
        return {
            name: value._replace(note="; ".join(filter(None, (value.note, *notes))) or None)
            for name, value in self._figures(told, found, own)
        }

    def _figures(self, told: Told, found: Found, own: Sequence[int]) -> list[tuple[str, Value]]:
        """The value of each criterion from the cross-entropies of the statements at the places `own`."""
        stated, nats = [told.targets[t] for t in own], [float(found.nats[t]) for t in own]
        norms = [self._norm(found.positions, one) for one in stated]
        copies = found.positions if self.over == "sum_log" else 1
        size = copies * _mean([one.bytes for one in stated])
        mean, norm = _mean(nats), _mean(norms)
        parts = {
            "tokens": _mean([one.tokens for one in stated]),
            "positions": float(found.positions),
            "beginnings": found.beginnings,
            "kept": float(told.kept),
        }
        spread = jackknife([self._without(told, k, own) for k in range(told.kept)] if told.kept > 1 else [])
        if spread is not None:
            parts["mc_se"] = spread
        bits = mean / math.log(2)
        return [
            ("cross_entropy", Value(mean, parts)),
            ("relaxed_perplexity", _exp([each / by for each, by in zip(nats, norms, strict=True)], None)),
            ("pooled", _exp([mean / norm], {"numerator": mean, "denominator": norm})),
            ("bits_per_byte", Value(bits / size, {"numerator": bits, "denominator": size})),
        ]

    def _without(self, told: Told, k: int, own: Sequence[int]) -> float:
        left = cross_entropy(told, self.over, self.prefixes, without=k)
        return _mean([float(left.nats[t]) for t in own])

    def _norm(self, positions: int, target: Stated) -> float:
        if self.norm == "printed":
            return self.n + target.tokens
        return target.tokens * (positions if self.over == "sum_log" else 1)

    def _own(self, kinds: Sequence[str]) -> list[int]:
        """The places of the targets that this measure marks."""
        wanted = ("nice",) if self.statements == "nice" else ("must", "reference")
        return [t for t, kind in enumerate(kinds) if kind in wanted]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _exp(exponents: Sequence[float], parts: Mapping[str, float] | None) -> Value:
    """The mean of the exponentials, at most the largest float."""
    try:
        return Value(_mean([math.exp(e) for e in exponents]), parts)
    except OverflowError:
        return Value(sys.float_info.max, parts, note=f"the exponential of {max(exponents):g}, cut")
