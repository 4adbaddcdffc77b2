"""Whole losses that are rare, or were not seen at all: what they could do to a difference, and to its p.

Twenty cases without a whole loss leave room for one in ten. A standard error knows nothing of it, because
what was not seen has no spread, and too little where one or two were seen.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, amount, finite, proportion
from vivavoce.stats.sums import rounded

_STEPS = 1_000
"""Shares of whole losses, from none to the most that there may be, of which the worst is taken."""
_FAR = 8.0
"""Standard errors beyond which an average is surely too far off."""
_TINY = 1e-12


class UnseenShares(NamedTuple):
    """Upper limits of the shares of whole losses (`negative`) and whole gains; null where one was seen."""

    negative: float | None
    positive: float | None


def unseen_shares(differences: ArrayLike, n: float, *, span: float, level: float = 0.95) -> UnseenShares:
    """Shares of whole differences that may exist although none was seen: 1 - (1 - level)^(1 / n).

    Parameters
    ----------
    differences : array of shape (m,)
        Of items, rounded to 1e-9. Over half the span is a whole difference that was seen; half is not.
    n : float
        Independent cases that hold them, or effective ones; above 0.
    span : float
        Width of the metric's range.
    level : float
        One-sided, 0.95 by default.

    Returns
    -------
    UnseenShares
        0 to 1, falling with n: nearly 3 / n at 95 %.

    Raises
    ------
    ValueError
        If there is no difference, one is NaN or infinite, or a number is out of its range.

    Clopper & Pearson (1934) at no hits; Hanley & Lippman-Hand (1983), JAMA 249, 1743-1745.
    """
    d = rounded(finite("differences", differences))
    if not (amount("n", n) > 0 and amount("span", span) > 0):
        raise ValueError(f"n and span must be above 0, but are {n} and {span}")
    share = -math.expm1(math.log1p(-proportion("level", level)) / n)
    return UnseenShares(
        share if d.min() >= -span / 2 else None,
        share if d.max() <= span / 2 else None,
    )


class RareLosses(NamedTuple):
    """Losses of whoever is better over half the span, in `hits` of `n` effective cases, and the other cases.

    `size` is their mean, the whole span where none was seen; `mean` is that of the others, above 0 where they
    speak for whoever is better, with its `se`. `df` are those of a t test, null where sign flips give p. More
    of the cases may lose than did, and the others then differ by more to make up for it. One test asks for
    both: no more than `hits` show it, which has a chance, and the others are so far off by what it leaves.
    """

    hits: float
    n: float
    size: float
    mean: float
    se: float
    df: float | None

    def p(self) -> float:
        """Two-sided p that the difference is 0 all the same; 1 where the others speak for nobody.

        Twice the largest chance, over shares of losses, that no more were seen and the others are so far from
        making up for them: Clopper-Pearson times t.
        """
        if self.mean <= 0:
            return 1.0
        if self.df is None:
            return min(1.0, 2 * float(self._as_few(np.array([self.mean / (self.size + self.mean)]))[0]))
        reach = self.mean + _FAR * self.se
        low, high, chance = 0.0, reach / (self.size + reach), 0.0
        for _ in range(2):
            shares = np.linspace(low, high, _STEPS)
            distance = (shares * self.size / (1 - shares) - self.mean) / (self.se or _TINY)
            chances = self._as_few(shares) * scipy.special.stdtr(self.df, distance)
            k, step = int(np.argmax(chances)), (high - low) / _STEPS
            low, high, chance = max(low, shares[k] - 2 * step), min(high, shares[k] + 2 * step), chances[k]
        return min(1.0, 2 * float(chance))

    def reach(self, chance: float) -> float:
        """What an end of the others' mean lies below it, missed with this one-sided chance."""
        df = self.n - 1 if self.df is None else self.df
        return -self.se * float(scipy.special.stdtrit(df, chance))

    def end(self, reach: float, chance: float) -> float:
        """The lower end of the difference, missed with this one-sided chance.

        `reach` is what the end of the others lies below their mean: t(1 - chance) standard errors. The end is
        the least (1 - p) (mean - reach t(1 - q) / t(1 - chance)) - p size over shares p of losses up to their
        upper limit, with q = chance / P(no more than `hits` of n at p). Where sign flips give p, t is 0 or
        more: a count has no error that would bring the average below what was seen.
        """
        most = float(scipy.special.betaincinv(self.hits + 1, max(self.n - self.hits, _TINY), 1 - chance))
        p = np.linspace(0, most, _STEPS)
        with np.errstate(divide="ignore"):
            remaining = np.clip(chance / self._as_few(p), 0, 1)
        # stdtrit gives +inf at 0, so the quantile of 1 - chance is taken from the other side.
        df = self.n - 1 if self.df is None else self.df
        t = scipy.special.stdtrit(df, remaining)
        if self.df is None:
            t = np.minimum(t, 0)
        averages = self.mean - (reach or _TINY) * t / scipy.special.stdtrit(df, chance)
        return float(((1 - p) * averages - p * self.size).min())

    def _as_few(self, shares: Floats) -> Floats:
        """The chance of no more than `hits` of n cases, at each share."""
        remaining = max(self.n - self.hits, _TINY)
        chances: Floats = scipy.special.betainc(remaining, self.hits + 1, 1 - shares)
        return chances
