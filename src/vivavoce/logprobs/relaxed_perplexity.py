"""Relaxed Perplexity: how near a model comes to saying what it should, anywhere in its answer.

Arias-Duart et al. 2025, section 4 and appendix D. A model is let answer; a statement that it should make is
put after every few tokens of its answers, and counts by its probability there. So a right answer that begins
with something else is not lost, as it is to plain perplexity. The paper leaves much open and contradicts
itself in places: every choice is a setting.

With a(i, k) the log-probability of a statement after the first c(i) tokens of kept response k,

    log P(A_i | B_i) = log of the mean over the different prefixes alive at i of exp a(i, k)         mean
                     = log of the sum over them                                                      sum
                     = log of sum P(z) exp a(i, k) / sum P(z), P(z) that of the prefix               weighted

over the N cuts i where a response is still alive, and RCE in nats is

    - log of the mean over i of P(A_i | B_i)      log_mean
    - the sum over i of log P(A_i | B_i)          sum_log
    - the greatest log P(A_i | B_i)               max

Two responses with the same prefix are one event at that cut and count once (appendix D adds up disjoint
events); at cut 0 all are.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.logprobs import relaxed_requests as relaxed
from vivavoce.logprobs.requests import LogprobMetric
from vivavoce.metrics import ScoringContext

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


Over = Literal["log_mean", "sum_log", "max"]
Prefixes = Literal["mean", "sum", "weighted"]

_NO_RECORD = "it is not what the probe of Relaxed Perplexity keeps"
_ABOVE_ZERO = 1e-3
"""By so much per token a logarithm of a probability may be above 0: endpoints round."""


class Statement(NamedTuple):
    """A target as it was asked: `must`, `nice` or `reference`, its text, and its number of tokens."""

    kind: str
    text: str
    tokens: int

    @property
    def bytes(self) -> int:
        """How long the text is in UTF-8."""
        return len(self.text.encode("utf-8", "surrogatepass"))


class Record(NamedTuple):
    """The record that `relaxed_requests.Relaxed` makes of one item: K kept responses, C cuts, T targets.

    `logprobs` is (K, C, T), `prefix` (K, C), both minus infinity after the end of a response; `alike` (K, C)
    is the first kept response with that prefix, -1 after the end. `unclosed` is how many samples ended
    without a known probability of their end, so that the kept were ranked without; 0 where all were kept
    anyway.
    """

    targets: tuple[Statement, ...]
    logprobs: "Floats"
    prefix: "Floats"
    alike: "NDArray[np.int64]"
    truncated: int
    unclosed: int = 0

    @property
    def n_kept(self) -> int:
        """How many responses were kept."""
        return len(self.alike)


class Entropies(NamedTuple):
    """RCE of each target in nats (T,), over `positions` cuts, and the mean number of prefixes at a cut."""

    nats: "Floats"
    positions: int
    beginnings: float


def read_record(stored: Mapping[str, Any]) -> Record:
    """The stored record as arrays. Raises `ValueError` where it is none."""
    import numpy as np

    try:
        targets = tuple(
            Statement(str(t["kind"]), str(t["text"]), int(t["tokens"])) for t in stored["targets"]
        )
        samples = stored["kept"]
        alike = np.array([[-1 if j is None else j for j in k["alike"]] for k in samples], dtype=np.int64)
        prefix = _filled([k["prefix"] for k in samples], -math.inf)
        logprobs = _filled([k["logprobs"] for k in samples], [-math.inf] * len(targets))
        shape = (len(samples), len(stored["cuts"]), len(targets))
        truncated = int(stored["truncated"])
        unclosed = sum(bool(s["ended"]) and s.get("closing") is None for s in stored["samples"])
        if unclosed and sum(int(k["times"]) for k in samples) == len(stored["samples"]):
            unclosed = 0
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{_NO_RECORD}: {error!r}") from error
    record = Record(targets, logprobs, prefix, alike, truncated, unclosed)
    if not _fits_together(record, shape):
        raise ValueError(f"{_NO_RECORD}: its tables do not fit together")
    if (logprobs > _ABOVE_ZERO * np.array([target.tokens for target in targets])).any():
        raise ValueError(f"the logarithm of a probability is {logprobs.max():g}, which is above 0")
    return record


def _fits_together(record: Record, shape: tuple[int, int, int]) -> bool:
    """Whether the tables have the shape (K, C, T), and numbers just where a response is alive."""
    import numpy as np

    alive = record.alike >= 0
    shapes = (record.alike.shape, record.prefix.shape, record.logprobs.shape)
    if 0 in shape or shapes != (shape[:2], shape[:2], shape) or not alive.any():
        return False
    prefix_fits = (np.isfinite(record.prefix) == alive).all()
    logprobs_fit = (np.isfinite(record.logprobs) == alive[:, :, None]).all()
    return bool(prefix_fits and logprobs_fit) and min(target.tokens for target in record.targets) >= 1


def cross_entropy(record: Record, over: Over, prefixes: Prefixes, *, without: int | None = None) -> Entropies:
    """RCE of every target, as the module's formulas have it; `without` leaves one kept response out."""
    import numpy as np

    included = np.arange(record.n_kept) != (-1 if without is None else without)
    alike, logprobs = record.alike[included], record.logprobs[included]
    counted = _first_of_each(alike)
    alive = counted.any(axis=0)
    counted, logprobs, prefix = counted[:, alive], logprobs[:, alive], record.prefix[included][:, alive]
    weight = np.where(counted, prefix if prefixes == "weighted" else 0.0, -math.inf)
    events = _log_sum(logprobs + weight[:, :, None])
    if prefixes != "sum":
        events -= _log_sum(weight)[:, None]
    positions = len(events)
    if over == "sum_log":
        nats = -events.sum(axis=0)
    elif over == "max":
        nats = -events.max(axis=0)
    else:
        nats = math.log(positions) - _log_sum(events)
    if prefixes != "sum":  # probabilities: above 1 by rounding only
        nats = np.maximum(nats, 0.0)
    return Entropies(nats, positions, float(counted.sum()) / positions)


def jackknife(values: "Sequence[float]") -> float | None:
    """Standard error from the values without each response in turn; null for fewer than two."""
    import numpy as np

    if len(values) < 2:
        return None
    estimates = np.asarray(values, dtype=np.float64)
    n = len(estimates)
    return float(np.sqrt((n - 1) / n * np.square(estimates - estimates.mean()).sum()))


def _first_of_each(alike: "NDArray[np.int64]") -> "Bools":
    """(K, C): whether no row above begins alike; false after the end of an answer."""
    import numpy as np

    above = np.tril(np.ones((len(alike), len(alike)), dtype=bool), -1)[:, :, None]
    repeated = ((alike[:, None, :] == alike[None, :, :]) & above).any(axis=1)
    first: Bools = (alike >= 0) & ~repeated
    return first


def _log_sum(logs: "Floats") -> "Floats":
    """Logarithm of the sum of exponentials down the first axis, where each column has a finite one."""
    import numpy as np

    top = logs.max(axis=0)
    total: Floats = top + np.log(np.exp(logs - top).sum(axis=0))
    return total


def _filled(rows: Sequence[Sequence[Any]], gap: Any) -> "Floats":
    import numpy as np

    return np.array([[gap if cell is None else cell for cell in row] for row in rows], dtype=np.float64)


@metric("relaxed_perplexity")
class RelaxedPerplexity(LogprobMetric):
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
    tokenizer_dependent = ("relaxed_perplexity", "pooled")

    def __post_init__(self) -> None:
        _ = self.logprob_requests  # the requests check their settings

    @property
    def logprob_requests(self) -> relaxed.Relaxed:
        """What the model is asked; measures that differ only in the arithmetic share it."""
        settings = {field.name: getattr(self, field.name) for field in fields(relaxed.Relaxed)}
        return relaxed.Relaxed(**settings)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """A sum over prefixes is not a probability, so with `prefixes=sum` nothing bounds it from below."""
        low: dict[str, float | None]
        if self.prefixes == "sum":
            low = {"cross_entropy": None, "relaxed_perplexity": 0.0, "pooled": 0.0, "bits_per_byte": None}
        else:
            low = {"cross_entropy": 0.0, "relaxed_perplexity": 1.0, "pooled": 1.0, "bits_per_byte": 0.0}
        pools = {"pooled": "exp_ratio", "bits_per_byte": "ratio"}
        return tuple(
            Criterion(
                criterion=name,
                low=least,
                high=None,
                direction="lower",
                if_unanswered="set_aside",
                pool=pools.get(name, "mean"),
            )
            for name, least in low.items()
        )

    def applies_to(self, item: Item) -> bool:
        """Whether the item has such statements; for `must` its references do."""
        kinds = [target.kind for target in relaxed.targets(item)]
        return super().applies_to(item) and bool(self._scored(kinds))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """Each item's values; a row whose record cannot be read fails with a note."""
        return [self._values(row) for row in rows]

    def _values(self, row: Row) -> Mapping[str, Value]:
        try:
            record = read_record(row.reading.parsed)
            scored = self._scored([target.kind for target in record.targets])
            if not scored:
                raise ValueError(f"no statement of it is of the kind {self.statements}")
        except ValueError as error:
            return {c.criterion: Value(None, note=str(error), status="failed") for c in self.criteria}
        entropies = cross_entropy(record, self.over, self.prefixes)
        if record.targets[scored[0]].kind == "reference":
            # References are alternatives: the likeliest per byte counts, and min keeps the first of equals.
            scored = [min(scored, key=lambda t: entropies.nats[t] / record.targets[t].bytes)]
        notes = []
        if record.truncated:
            notes.append(f"{record.truncated} tokens of the question were left out")
        if record.unclosed:
            notes.append(
                f"the probability of the end is not told of {record.unclosed} of the answers that ended, so "
                "the likeliest were chosen without it"
            )
        return {
            name: value._replace(note="; ".join(filter(None, (value.note, *notes))) or None)
            for name, value in self._by_criterion(record, entropies, scored)
        }

    def _by_criterion(
        self, record: Record, entropies: Entropies, scored: Sequence[int]
    ) -> list[tuple[str, Value]]:
        """The value of each criterion from the cross-entropies of the `scored` targets."""
        statements, nats = [record.targets[t] for t in scored], [float(entropies.nats[t]) for t in scored]
        norms = [self._norm(entropies.positions, statement) for statement in statements]
        copies = entropies.positions if self.over == "sum_log" else 1
        size = copies * _mean([statement.bytes for statement in statements])
        mean, norm = _mean(nats), _mean(norms)
        parts = {
            "tokens": _mean([statement.tokens for statement in statements]),
            "positions": float(entropies.positions),
            "beginnings": entropies.beginnings,
            "kept": float(record.n_kept),
        }
        if record.n_kept > 1:
            without_each = [self._without(record, k, scored) for k in range(record.n_kept)]
            spread = jackknife(without_each)
            if spread is not None:
                parts["mc_se"] = spread
        bits = mean / math.log(2)
        return [
            ("cross_entropy", Value(mean, parts)),
            ("relaxed_perplexity", _exp([entry / by for entry, by in zip(nats, norms, strict=True)], None)),
            ("pooled", _exp([mean / norm], {"numerator": mean, "denominator": norm})),
            ("bits_per_byte", Value(bits / size, {"numerator": bits, "denominator": size})),
        ]

    def _without(self, record: Record, k: int, scored: Sequence[int]) -> float:
        nats = cross_entropy(record, self.over, self.prefixes, without=k).nats
        return _mean([float(nats[t]) for t in scored])

    def _norm(self, positions: int, target: Statement) -> float:
        if self.norm == "printed":
            return self.n + target.tokens
        return target.tokens * (positions if self.over == "sum_log" else 1)

    def _scored(self, kinds: Sequence[str]) -> list[int]:
        """The numbers of the targets that this measure scores."""
        chosen = ("nice",) if self.statements == "nice" else ("must", "reference")
        return [t for t, kind in enumerate(kinds) if kind in chosen]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _exp(exponents: Sequence[float], parts: Mapping[str, float] | None) -> Value:
    """The mean of the exponentials, at most the largest float."""
    try:
        return Value(_mean([math.exp(e) for e in exponents]), parts)
    except OverflowError:
        return Value(sys.float_info.max, parts, note=f"the exponential of {max(exponents):g}, cut")
