"""Relaxed cross-entropy from log-probabilities: what one item's kept answers and cuts come to.

With a(i, k) the log-probability of a statement after the first c(i) tokens of kept answer k,

    log P(A_i | B_i) = log of the mean over the different beginnings alive at i of exp a(i, k)       mean
                     = log of the sum over them                                                      sum
                     = log of sum P(z) exp a(i, k) / sum P(z), P(z) that of the beginning            weighted

over the N cuts i where an answer is still alive, and RCE in nats is

    - log of the mean over i of P(A_i | B_i)      log_mean
    - the sum over i of log P(A_i | B_i)          sum_log
    - the greatest log P(A_i | B_i)               max

Two answers that begin alike are one event at that cut and count once (appendix D adds up disjoint events); at
cut 0 all are.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["Found", "Over", "Prefixes", "Stated", "Told", "cross_entropy", "jackknife", "read_told"]

Over = Literal["log_mean", "sum_log", "max"]
Prefixes = Literal["mean", "sum", "weighted"]

_STRANGE = "it is not what the probe of Relaxed Perplexity keeps"
_ABOVE_ZERO = 1e-3
"""By so much per token a logarithm of a probability may be above 0: endpoints round."""


class Stated(NamedTuple):
    """A target as it was asked: `must`, `nice` or `reference`, its text, and its number of tokens."""

    kind: str
    text: str
    tokens: int

    @property
    def bytes(self) -> int:
        """How long the text is in UTF-8."""
        return len(self.text.encode("utf-8", "surrogatepass"))


class Told(NamedTuple):
    """What `probes.Relaxed` was told of one item: K kept answers, C cuts, T targets.

    `logprobs` is (K, C, T), `prefix` (K, C), both minus infinity after the end of an answer; `alike` (K, C)
    is the first kept answer that begins so, -1 after the end. `unclosed` is how many samples ended without
    a told probability of their end, so that the kept were ranked without; 0 where all were kept anyway.
    """

    targets: tuple[Stated, ...]
    logprobs: "Floats"
    prefix: "Floats"
    alike: "NDArray[np.int64]"
    truncated: int
    unclosed: int = 0

    @property
    def kept(self) -> int:
        """How many answers were kept."""
        return len(self.alike)


class Found(NamedTuple):
    """RCE of each target in nats (T,), over `positions` cuts, with so many different beginnings at one."""

    nats: "Floats"
    positions: int
    beginnings: float


def read_told(told: Mapping[str, Any]) -> Told:
    """What the probe kept, as arrays. Raises `ValueError` where it is no such thing."""
    import numpy as np

    try:
        targets = tuple(Stated(str(t["kind"]), str(t["text"]), int(t["tokens"])) for t in told["targets"])
        alike = np.array([[-1 if j is None else j for j in k["alike"]] for k in told["kept"]], dtype=np.int64)
        prefix = _filled([k["prefix"] for k in told["kept"]], -math.inf)
        logprobs = _filled([k["logprobs"] for k in told["kept"]], [-math.inf] * len(targets))
        shape = (len(told["kept"]), len(told["cuts"]), len(targets))
        truncated = int(told["truncated"])
        unclosed = sum(bool(s["ended"]) and s.get("closing") is None for s in told["samples"])
        if unclosed and sum(int(k["times"]) for k in told["kept"]) == len(told["samples"]):
            unclosed = 0
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{_STRANGE}: {error!r}") from error
    alive = alike >= 0
    if (
        0 in shape
        or (alike.shape, prefix.shape, logprobs.shape) != (shape[:2], shape[:2], shape)
        or not alive.any()
        or not (np.isfinite(prefix) == alive).all()
        or not (np.isfinite(logprobs) == alive[:, :, None]).all()
        or min(target.tokens for target in targets) < 1
    ):
        raise ValueError(f"{_STRANGE}: its tables do not fit together")
    if (logprobs > _ABOVE_ZERO * np.array([target.tokens for target in targets])).any():
        raise ValueError(f"the logarithm of a probability is {logprobs.max():g}, which is above 0")
    return Told(targets, logprobs, prefix, alike, truncated, unclosed)


def cross_entropy(told: Told, over: Over, prefixes: Prefixes, *, without: int | None = None) -> Found:
    """RCE of every target, as the module's formulas have it; `without` leaves one kept answer out."""
    import numpy as np

    here = np.arange(told.kept) != (-1 if without is None else without)
    alike, logprobs = told.alike[here], told.logprobs[here]
    counted = _first_of_each(alike)
    alive = counted.any(axis=0)
    counted, logprobs, prefix = counted[:, alive], logprobs[:, alive], told.prefix[here][:, alive]
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
    return Found(nats, positions, float(counted.sum()) / positions)


def jackknife(values: "Sequence[float]") -> float | None:
    """Standard error from the values without each answer in turn; null for fewer than two."""
    import numpy as np

    if len(values) < 2:
        return None
    left = np.asarray(values, dtype=np.float64)
    return float(np.sqrt((len(left) - 1) / len(left) * np.square(left - left.mean()).sum()))


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

    return np.array([[gap if one is None else one for one in row] for row in rows], dtype=np.float64)
