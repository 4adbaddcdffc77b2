"""Strengths from comparisons of two at a time: Bradley-Terry, and Davidson's model where there are ties.

For incomplete or human comparisons only. Scores are not to be turned into wins where they exist, and
strengths in order of arrival (Elo) depend on the order. Strengths are finite only where comparisons link
all systems, which is checked first.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats
from vivavoce.stats.bootstrap import Bootstrap, bootstrap_each


class Counts(NamedTuple):
    """Each pair that met, i < j, in vectors of shape (P,); (3, P) wins of i, wins of j, ties."""

    first: Codes
    second: Codes
    outcomes: Floats


def checked_pairs(pairs: ArrayLike, n_systems: int) -> Codes:
    """`pairs` as whole numbers of shape (n, 2), each row two different systems; ValueError if not."""
    if n_systems < 1:
        raise ValueError(f"n_systems must be at least 1, but is {n_systems}")
    array = np.asarray(pairs)
    if not array.size:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"pairs must be whole numbers of the shape (n, 2), not {array.dtype} {array.shape}")
    wrong = (array < 0).any(axis=1) | (array >= n_systems).any(axis=1) | (array[:, 0] == array[:, 1])
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(
            f"pairs holds {array[position, 0]} and {array[position, 1]} at position {position}: "
            f"two different systems from 0 to {n_systems - 1} are needed"
        )
    return array.astype(np.intp)


def counted(pairs: ArrayLike, outcomes: ArrayLike, n_systems: int) -> Counts:
    """Wins and ties of each pair that met; ValueError if an outcome is none of 1, 0, -1."""
    return _tabulated(*_cells(pairs, outcomes, n_systems), n_systems)


def _cells(pairs: ArrayLike, outcomes: ArrayLike, n_systems: int) -> tuple[Codes, Codes]:
    """The pairs that met, each as one number, and of every comparison the cell in a table (3, P) of them."""
    meetings = checked_pairs(pairs, n_systems)
    results = np.asarray(outcomes)
    if results.shape != (len(meetings),):
        raise ValueError(f"outcomes has the shape {results.shape}, ({len(meetings)},) is needed")
    wrong = ~np.isin(results, (-1, 0, 1))
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(
            f"outcomes holds {results[position]} at position {position}: 1, 0 and -1 are the outcomes"
        )
    low, high = meetings.min(axis=1, initial=n_systems), meetings.max(axis=1, initial=0)
    # One row per unordered pair: the outcome is told from the lower number's side.
    won = np.where(meetings[:, 0] == low, results, -results.astype(np.int64))
    kinds = np.where(won == 1, 0, np.where(won == -1, 1, 2))
    places, slots = np.unique(low * n_systems + high, return_inverse=True)
    return places, kinds * len(places) + slots


def _tabulated(places: Codes, cells: Codes, n_systems: int) -> Counts:
    """The comparisons in these cells, counted; of the pairs those alone that met in them."""
    table = np.bincount(cells, minlength=3 * len(places)).reshape(3, len(places)).astype(np.float64)
    met = table.any(axis=0)
    return Counts(places[met] // n_systems, places[met] % n_systems, table[:, met])


def parts(first: Codes, second: Codes, n_systems: int) -> tuple[tuple[int, ...], ...]:
    """Systems linked by the pairs `first`, `second`, the largest part first."""
    linked = np.eye(n_systems, dtype=bool)
    linked[first, second] = linked[second, first] = True
    reached = _reach(linked)
    components = {tuple(int(k) for k in np.flatnonzero(row)) for row in reached}
    return tuple(sorted(components, key=lambda part: (-len(part), part)))


def _reach(linked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who can be reached from whom: the transitive closure, by squaring."""
    while True:
        # Paths of twice the length with every squaring, so log2(n) rounds are enough.
        further = (linked.astype(np.float32) @ linked.astype(np.float32)) > 0
        if (further == linked).all():
            return linked
        linked = further


def refuse_parts(counts: Counts, n_systems: int) -> None:
    """ValueError if some systems never met the others, not even through others."""
    separate = parts(counts.first, counts.second, n_systems)
    if len(separate) > 1:
        raise ValueError(
            f"the comparisons leave {len(separate)} parts that never met, {separate[0]} and {separate[1]} "
            "among them: rank each part by itself, or compare systems across"
        )


def separated(counts: Counts, n_systems: int) -> bool:
    """Whether the likelihood has no maximum: strengths, and nu with them, can grow for ever.

    A direction (d, e) of log-strengths and log nu never loses if every win has d_winner - d_loser >= 2e and
    >= 0 and every tie has |d_i - d_j| <= 2e. With e = 0 only d = 0 does, if wins and ties (both ways) lead
    from anyone to anyone. With e > 0, these are difference constraints; they contradict each other, as they
    should, if some circle of systems holds more wins than ties.
    """
    i, j = counts.first, counts.second
    won, lost, tied = counts.outcomes > 0
    linked = np.eye(n_systems, dtype=bool)
    linked[i[won | tied], j[won | tied]] = True
    linked[j[lost | tied], i[lost | tied]] = True
    if not _reach(linked).all():
        return True
    if not tied.any():
        return False
    shortest = np.full((n_systems, n_systems), np.inf)
    shortest[i[tied], j[tied]] = shortest[j[tied], i[tied]] = 1.0
    shortest[i[won], j[won]] = -1.0
    shortest[j[lost], i[lost]] = -1.0
    for k in range(n_systems):
        shortest = np.minimum(shortest, shortest[:, k, None] + shortest[k])
        if (np.diagonal(shortest) < 0).any():
            return False
    return True


PENALTY = 0.01  # on the sum of squared log-strengths, only where the data leave one infinite
STEPS = 200


class Davidson(NamedTuple):
    """Strengths of K systems on the log scale.

    Attributes
    ----------
    strengths : array of shape (K,)
        Sum 0. Systems a and b without ties: a wins with probability 1 / (1 + exp(b - a)).
    nu : float or None
        Weight of ties: two equals tie with probability nu / (2 + nu). 0 without ties; null if nobody ever
        won: it is infinite, or there is no comparison.
    log_likelihood : float
        Without the penalty.
    separated : bool
        Whether the maximum lies at infinity (somebody never lost, say) and the penalty made it finite.
        How far the strengths then lie apart says nothing; their order may.
    n, n_ties : int
        Comparisons, and those that tied.
    """

    strengths: Floats
    nu: float | None
    log_likelihood: float
    separated: bool
    n: int
    n_ties: int


class StrengthBootstrap(NamedTuple):
    """Errors of strengths, from whole groups drawn again.

    Attributes
    ----------
    systems : tuple of Bootstrap
        Of each system's strength. `n_undefined` counts the draws whose comparisons fell apart: they rank
        nobody, and widen the interval.
    n_separated : int
        Draws that needed the penalty.
    """

    systems: tuple[Bootstrap, ...]
    n_separated: int


def davidson(pairs: ArrayLike, outcomes: ArrayLike, *, n_systems: int) -> Davidson:
    """Davidson's model by maximum likelihood; without ties it is Bradley and Terry's.

    For systems i, j of log-strengths a, b: P(i wins) ~ e^a, P(j wins) ~ e^b, P(tie) ~ nu e^((a + b) / 2).
    Where the maximum is infinite, the minimum of -log L + .01 sum a^2.

    Parameters
    ----------
    pairs : integer array of shape (n, 2)
        Two different systems, 0 … K - 1, in each comparison.
    outcomes : array of shape (n,)
        1 if the first of the pair won, -1 if the second, 0 for a tie.
    n_systems : int
        K, at least 1: also those that were never compared.

    Raises
    ------
    ValueError
        If systems or outcomes are out of range, a system meets itself, lengths differ, or the comparisons
        do not connect all systems: strengths in parts that never met cannot be ranked.

    Davidson (1970), JASA 65, 317-328. Errors: `bootstrap_strengths`, not the curvature of the likelihood,
    which takes comparisons of one answer for independent.
    """
    return _fit(counted(pairs, outcomes, n_systems), n_systems)


def bootstrap_strengths(
    pairs: ArrayLike,
    outcomes: ArrayLike,
    *,
    groups: ArrayLike,
    n_systems: int,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
) -> StrengthBootstrap:
    """Errors of `davidson`'s strengths: whole groups drawn again, with all their comparisons.

    Parameters
    ----------
    pairs, outcomes, n_systems
        As in `davidson`.
    groups : array of shape (n,)
        What is drawn together: all comparisons of one item, and of its twins. Any labels.
    rng : numpy.random.Generator
        Required: an interval that cannot be redrawn cannot be checked.
    resamples : int
        2,000 by default; 9,999 for a p value. One or two milliseconds each for 10 systems.
    level : float
        0.95 by default.

    Returns
    -------
    StrengthBootstrap
        Percentile intervals: with fewer than 40 groups too narrow, and said to be. Null with one group.

    Raises
    ------
    ValueError
        As `davidson` and `bootstrap`.

    Two intervals that overlap show no tie. Where items were scored, compare the scores: `rank_intervals`.
    """
    places, cells = _cells(pairs, outcomes, n_systems)
    refuse_parts(_tabulated(places, cells, n_systems), n_systems)
    n_separated = 0
    fits: dict[bytes, Davidson | None] = {}  # draws of raters who agree often have the same counts

    def strengths(rows: Floats) -> list[float | None]:
        nonlocal n_separated
        counts = _tabulated(places, rows.astype(np.intp), n_systems)
        key = b"".join(table.tobytes() for table in (counts.first, counts.second, counts.outcomes))
        if key not in fits:
            is_whole = len(parts(counts.first, counts.second, n_systems)) == 1
            fits[key] = _fit(counts, n_systems) if is_whole else None
        if (fit := fits[key]) is None:
            return [None] * n_systems
        n_separated += fit.separated
        return list(fit.strengths)

    systems = bootstrap_each(cells, groups, statistics=strengths, rng=rng, resamples=resamples, level=level)
    # The first call is of all rows as they are: no draw.
    return StrengthBootstrap(systems, n_separated - davidson(pairs, outcomes, n_systems=n_systems).separated)


def _fit(counts: Counts, n_systems: int) -> Davidson:
    refuse_parts(counts, n_systems)
    n, n_ties = int(counts.outcomes.sum()), int(counts.outcomes[2].sum())
    if n == n_ties:
        # Nobody ever won: all are equal and ties certain. Or there is one system, and no comparison.
        return Davidson(np.zeros(n_systems), None, 0.0, False, n, n_ties)
    at_infinity = separated(counts, n_systems)
    penalty = PENALTY if at_infinity else 0.0
    design = np.zeros((len(counts.first), n_systems))
    rows = np.arange(len(design))
    design[rows, counts.first], design[rows, counts.second] = 1.0, -1.0
    theta = np.zeros(n_systems + (n_ties > 0))
    loss, gradient, curvature = _loss(theta, counts, design, penalty)
    for _ in range(STEPS):
        step = np.linalg.solve(curvature, -gradient)
        gain = float(-gradient @ step)
        if gain <= 1e-12 * max(1.0, loss):
            theta = theta + step  # squares what error is left
            loss = _loss(theta, counts, design, penalty)[0]
            break
        size = 1.0
        while size > 1e-10:
            new = _loss(theta + size * step, counts, design, penalty)
            if new[0] <= loss - 1e-4 * size * gain:
                break
            size /= 2
        else:
            break  # rounding hides what is left to gain
        theta = theta + size * step
        loss, gradient, curvature = new
    else:
        raise ArithmeticError(f"the strengths did not settle in {STEPS} steps; the last gain was {gain}")
    strengths = theta[:n_systems] - theta[:n_systems].mean()
    nu = math.exp(float(theta[-1])) if n_ties else 0.0
    likelihood = penalty * float(strengths @ strengths) - loss
    return Davidson(strengths, nu, likelihood, at_infinity, n, n_ties)


def _loss(theta: Floats, counts: Counts, design: Floats, penalty: float) -> tuple[float, Floats, Floats]:
    """-log L with its penalty, gradient and Hessian, in log-strengths and, with ties, log nu."""
    n_systems = design.shape[1]
    strengths, ties = theta[:n_systems], len(theta) > n_systems
    won, lost, tied = counts.outcomes
    n = won + lost + tied
    half = design @ strengths / 2
    eta = theta[-1] if ties else -np.inf
    total = np.logaddexp(np.logaddexp(half, -half), eta)
    p_won, p_lost, p_tied = np.exp(half - total), np.exp(-half - total), np.exp(eta - total)
    lead = (p_won - p_lost) / 2
    loss = float((n * total - (won - lost) * half).sum()) + penalty * float(strengths @ strengths)
    slope = n * lead - (won - lost) / 2
    gradient = np.zeros(len(theta))
    gradient[:n_systems] = design.T @ slope + 2 * penalty * strengths
    curvature = np.zeros((len(theta), len(theta)))
    bend = n * ((p_won + p_lost) / 4 - lead**2)
    curvature[:n_systems, :n_systems] = (design.T * bend) @ design + 2 * penalty * np.eye(n_systems)
    # The sum of strengths is free: this keeps it at 0 and the Hessian regular.
    curvature[:n_systems, :n_systems] += 1 / n_systems
    if ties:
        loss -= float(tied.sum()) * float(eta)
        gradient[-1] = float((n * p_tied - tied).sum())
        mixed = design.T @ (-n * lead * p_tied)
        curvature[-1, :n_systems] = curvature[:n_systems, -1] = mixed
        curvature[-1, -1] = float((n * p_tied * (1 - p_tied)).sum())
    return loss, gradient, curvature
