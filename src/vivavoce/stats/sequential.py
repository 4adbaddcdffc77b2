"""Tested again while data grow: interim analyses that spend alpha once, however many there are.

Where their number was declared, a group-sequential bound: alpha is spent by a spending function (Lan & DeMets
1983) at the analysis k of K, and the critical values follow from the information of the analyses so far by
recursive numerical integration (Armitage, McPherson & Rowe 1969; Jennison & Turnbull 2000, ch. 7 and 19).
Where it was not, a confidence sequence: the normal mixture of Robbins (1970) in the asymptotic form of
Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), Annals of Statistics 52, 2613-2640, eq. (8).

Both give a critical value z for a standard normal. A t test is held to its significance level, 2 Phi(-z)
(Pocock 1977, Biometrika 64, sec. 4; Jennison & Turnbull 2000, sec. 3.8), so that small samples pay for the
error they estimate. Exact tests stay out of the integration: each spends its analysis' alpha by Bonferroni.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, finite, proportion

TUNED_CASES = 300
"""Effective cases at which the confidence sequence is narrowest, nearly. Tuned to fewer, it would trust the t
test of 20 skewed cases too much."""
_MIXTURE = (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / TUNED_CASES
EXACT_SHARE = 0.1
"""Part of alpha that a plan without a number of analyses keeps for its exact tests."""
MOST_ANALYSES = 20
LARGEST_P = 0.5
"""Sequential p values above this are given as 1: beyond it, spending is not monotone in alpha."""
MOST_SHARED = 0.99
"""An analysis counts as if it brought 1 % of new information at least, which only widens its bound."""
_FARTHEST = 8.0  # beyond it a normal path has no mass that counts


class InterimAnalysis(NamedTuple):
    """An analysis of a plan: its `number`, from 1, and what it knew.

    `information` is 1 / SE^2 of the difference, in any unit that all analyses share; null where an exact test
    gave its p. `cases` are its effective cases.
    """

    number: int
    information: float | None
    cases: float


def obrien_fleming_spending(fraction: float, alpha: float) -> float:
    """Two-sided alpha spent at this fraction of a plan: 4 - 4 Phi(z(1 - alpha / 4) / sqrt(fraction)).

    Parameters
    ----------
    fraction : float
        0 to 1; nothing is spent at 0, all at 1.
    alpha : float
        Between 0 and 1.

    Notes
    -----
    Lan & DeMets (1983), Biometrika 70, 659-663: twice their alpha_1*, each side spending alpha / 2, as
    ldbounds, gsDesign and rpact do. Very little is spent early.
    """
    proportion("alpha", alpha)
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must lie in 0 to 1, but is {fraction}")
    if fraction == 0:
        return 0.0
    return 4 * float(scipy.special.ndtr(scipy.special.ndtri(alpha / 4) / math.sqrt(fraction)))


def critical_values(increments: ArrayLike, information: ArrayLike) -> Floats:
    """Critical values c_k of |Z_k| such that the paths that first reach c_k have these probabilities.

    Parameters
    ----------
    increments : array of shape (k,)
        Alpha to spend at each analysis, above 0, in all below 1.
    information : array of shape (k,)
        Of each analysis, above 0. The correlation of analyses j < k is sqrt(I_j / I_k); where it grows by
        less than 1 % from one to the next, or falls, 1 % is taken.

    Returns
    -------
    array of shape (k,)

    Raises
    ------
    ValueError
        If a number is out of its range, or lengths differ.

    Armitage, McPherson & Rowe (1969), JRSS A 132, 235-244; Gauss-Legendre in place of Simpson.
    """
    alphas, amounts = _same_length(increments, information)
    if (alphas <= 0).any() or alphas.sum() >= 1:
        raise ValueError("increments must be above 0 and below 1 in all")
    path, values = None, []
    for k, alpha in enumerate(alphas):
        path = _Path.begin() if path is None else path.on(_shared(amounts[k - 1], amounts[k]))
        values.append(path.critical(float(alpha)))
        path = path.within(values[-1])
    return np.array(values)


def mixture_critical(cases: float, *, alpha: float = 0.05) -> float:
    """Critical value of |Z| on so many cases, that holds at any number of them at once.

    z^2 = 2 (1 + 1 / n r) log(sqrt(n r + 1) / alpha), r tuned to 300 cases at alpha .05.

    Parameters
    ----------
    cases : float
        Effective cases n, above 0.
    alpha : float
        Between 0 and 1.

    Notes
    -----
    Waudby-Smith and others (2024), eq. (8), with rho^2 = r of their eq. (10).
    """
    proportion("alpha", alpha)
    if not (math.isfinite(cases) and cases > 0):
        raise ValueError(f"cases must be a finite number above 0, but is {cases}")
    size = cases * _MIXTURE
    return math.sqrt(2 * (1 + 1 / size) * math.log(math.sqrt(size + 1) / alpha))


def nominal_alpha(history: Sequence[InterimAnalysis], *, analyses: int | None, alpha: float = 0.05) -> float:
    """The significance level to which the last of these analyses holds its test, and its interval.

    Parameters
    ----------
    history : sequence of InterimAnalysis
        All analyses of the plan so far, the last one being judged; at least one.
    analyses : int or None
        How many the plan declared. Null: any number, by the confidence sequence.
    alpha : float
        For all analyses together: at most so many plans without a true difference ever give a verdict.

    Returns
    -------
    float
        Two-sided: reject where p is at most this; intervals have the level 1 - this, and hold at all
        analyses at once.

    Raises
    ------
    ValueError
        If there is no analysis, the last is one more than declared, or a number is out of its range.
    """
    proportion("alpha", alpha)
    if not history:
        raise ValueError("history holds no analysis")
    last = history[-1]
    if analyses is None:
        if last.information is None:
            return alpha * EXACT_SHARE / (last.number * (last.number + 1))
        return _two_sided(mixture_critical(last.cases, alpha=alpha * (1 - EXACT_SHARE)))
    if not 1 <= last.number <= analyses:
        raise ValueError(f"analysis {last.number} of {analyses}: that cannot be")
    if last.information is None:
        return _increment(last.number, analyses, alpha)
    chain = [(a.number, a.information) for a in history if a.information is not None]
    increments = [_increment(number, analyses, alpha) for number, _ in chain]
    return _two_sided(float(critical_values(increments, [amount for _, amount in chain])[-1]))


def sequential_p(p: float, history: Sequence[InterimAnalysis], *, analyses: int | None) -> float:
    """The p value of the last analysis, corrected for all analyses: the least alpha at which it rejects.

    Parameters
    ----------
    p : float
        Of its own test, in [0, 1].
    history, analyses
        As in `nominal_alpha`.

    Returns
    -------
    float
        At most alpha with probability alpha over all analyses together, without a true difference: the
        repeated p value of Jennison & Turnbull (2000), sec. 9.4. Above .5 it is given as 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie in 0 to 1, but is {p}")
    if p > nominal_alpha(history, analyses=analyses, alpha=LARGEST_P):
        return 1.0
    low, high = -40.0, math.log(LARGEST_P)  # logarithms: small p need as many digits as large ones
    for _ in range(40):
        middle = (low + high) / 2
        if p <= nominal_alpha(history, analyses=analyses, alpha=math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)


class _Path(NamedTuple):
    """Density of Z at this analysis among the paths that have not crossed: `mass` at each of the `places`.

    Z is normal about the places with this `error`. At the first analysis that is one place, 0.
    """

    places: Floats
    mass: Floats
    error: float

    @classmethod
    def begin(cls) -> "_Path":
        """At the first analysis."""
        return cls(np.zeros(1), np.ones(1), 1.0)

    def beyond(self, bound: float) -> float:
        """The probability of |Z| beyond the bound."""
        tails = scipy.special.ndtr((self.places - bound) / self.error)
        tails = tails + scipy.special.ndtr((-self.places - bound) / self.error)
        return float(self.mass @ tails)

    def critical(self, alpha: float) -> float:
        """The bound that |Z| is beyond with this probability; 0 where no more than that is left."""
        low, high, bound = 0.0, 40.0, 3.0
        for _ in range(100):
            mass, slope = self.beyond(bound), self.density(bound)
            low, high = (bound, high) if mass > alpha else (low, bound)
            if high - low < 1e-10 or abs(mass / alpha - 1) < 1e-10:
                break
            # Newton's step on the logarithm, in which tails are nearly parabolas; halving where it leaves.
            step = math.log(mass / alpha) * mass / slope if mass > 0 and slope > 0 else math.inf
            bound = bound + step if low < bound + step < high else (low + high) / 2
        return bound

    def density(self, bound: float) -> float:
        """The density of |Z| at the bound."""
        upper, lower = (np.exp(-0.5 * ((z - bound) / self.error) ** 2) for z in (self.places, -self.places))
        return float(self.mass @ (upper + lower)) / (self.error * math.sqrt(2 * math.pi))

    def within(self, bound: float) -> "_Path":
        """The paths within the bound, each now at its own place."""
        farthest = min(bound, _FARTHEST)
        # The normal curve about each place must be finer than the grid is coarse, at the next step too.
        nodes, weights = _nodes(64 * math.ceil(max(1.0, farthest / self.error / 6)))
        places = farthest * nodes
        kernel = np.exp(-0.5 * ((places[:, None] - self.places) / self.error) ** 2)
        density = kernel @ self.mass / (self.error * math.sqrt(2 * math.pi))
        return _Path(places, farthest * weights * density, 0.0)

    def on(self, shared: float) -> "_Path":
        """On to the next analysis, of whose information this share was there before."""
        return _Path(self.places * math.sqrt(shared), self.mass, math.sqrt(1 - shared))


@cache
def _nodes(n: int) -> tuple[Floats, Floats]:
    nodes, weights = scipy.special.roots_legendre(n)
    return nodes, weights


def _shared(before: float, now: float) -> float:
    return min(before / now, MOST_SHARED)


def _increment(number: int, analyses: int, alpha: float) -> float:
    spent = [obrien_fleming_spending(k / analyses, alpha) for k in (number - 1, number)]
    return max(spent[1] - spent[0], 1e-300)  # early analyses of long plans have next to nothing


def _two_sided(critical: float) -> float:
    return 2 * float(scipy.special.ndtr(-critical))


def _same_length(first: ArrayLike, information: ArrayLike) -> tuple[Floats, Floats]:
    values, amounts = finite("bounds", first), finite("information", information)
    if len(values) != len(amounts):
        raise ValueError(f"{len(values)} analyses, but the information of {len(amounts)}")
    if (amounts <= 0).any():
        raise ValueError("information must be above 0")
    return values, amounts
