"""The error of a mean over groups of any sizes, and the degrees of freedom that error deserves.

One giant group among many small ones is one observation, not as many as it has items: CR2 enlarges what a
large group adds to the variance, and Satterthwaite's degrees of freedom say how many even groups would tell
as much. Bell & McCaffrey (2002), Survey Methodology 28, 169-181; Imbens & Kolesár (2016), Rev. Econ. Stat.
98, 701-712.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats, group_codes, item_weights, label_codes

RHO = 0.5
"""Working correlation of two items of one group; the variance does not use it, the degrees of freedom do."""
LEAST_GROUPS = 10
"""Fewer effective groups than this carry no verdict."""
TAIL_UNSEEN = 1.5
"""Times the skewness that groups show: by simulation (lognormal, exponential, gamma and normal values)."""
WHOLE = 1e-9
"""A share of weight this near 1 is all of it; degrees of freedom this near a whole number are that number."""


def enough_groups(effective: float) -> bool:
    """Whether so many effective groups carry a verdict: 10 or more, up to rounding."""
    return effective >= LEAST_GROUPS - WHOLE


@dataclass(frozen=True)
class GroupDesign:
    """Which items are drawn together, and what each weighs in a figure: all that an error needs but values.

    The figure is sum_c share_c * ybar_c over cells c, ybar_c the weighted mean of the cell's items. A plain
    mean has one cell; a macro mean has one per category, and a group may reach across cells.

    Attributes
    ----------
    groups : array of shape (n,)
        Codes 0 … G - 1, all of which occur.
    n_groups : int
    weights : array of shape (n,)
        0 or more, and above 0 in sum in every cell.
    cells : array of shape (n,)
        Codes 0 … C - 1.
    shares : array of shape (C,)
        What each cell's mean is multiplied by.
    """

    groups: Codes
    n_groups: int
    weights: Floats
    cells: Codes
    shares: Floats

    @classmethod
    def of(
        cls, groups: Codes, n_groups: int, weights: Floats, cells: ArrayLike | None = None
    ) -> "GroupDesign":
        """The design of one weighted mean; with `cells`, of the sum of its cells by their share of weight."""
        if cells is None:
            return cls(groups, n_groups, weights, np.zeros(len(groups), dtype=np.intp), np.ones(1))
        codes, _ = label_codes("cells", cells, length=len(groups))
        shares = np.bincount(codes, weights=weights / weights.sum()).astype(np.float64)
        return cls(groups, n_groups, weights, codes, shares)

    def residuals(self, values: Floats) -> Floats:
        """Each value's weight times what it differs from the mean of its cell."""
        sums = np.bincount(self.cells, weights=self.weights * values, minlength=len(self.shares))
        return np.asarray(self.weights * (values - (sums / self._totals)[self.cells]), dtype=np.float64)

    @property
    def item_shares(self) -> Floats:
        """What part of the figure each item is, shape (n,): its share of its cell times that of the cell."""
        return np.asarray(self.weights * (self.shares / self._totals)[self.cells], dtype=np.float64)

    def only(self, chosen: NDArray[np.bool_]) -> "GroupDesign":
        """The design of these groups alone, as if the figure were made of them; a flag per group."""
        rows = chosen[self.groups]
        cells, codes = np.unique(self.cells[rows], return_inverse=True)
        return GroupDesign(
            (np.cumsum(chosen) - 1)[self.groups[rows]],
            int(chosen.sum()),
            self.weights[rows],
            codes,
            self.shares[cells],
        )

    def se(self, parts: Floats) -> float | None:
        """Standard error of the figure by CR2, from each item's weight times what it differs from its cell.

        Var = sum_g (sum_c share_c * r_gc / W_c / sqrt(1 - w_gc))^2 with r_gc the sum of the parts of
        group g in cell c, W_c the weight of the cell and w_gc the group's share of it. For one cell of
        items that weigh alike: (1 / n^2) sum_g (sum_{i in g} e_i)^2 / (1 - n_g / n).

        Null where a cell lies in one group: nothing tells how the next group would differ. Groups of equal
        size give CR1, G / (G - 1) times the plain sum.
        """
        if (self._leverage > 1 - WHOLE).any():
            return None
        return math.sqrt(float((self._corrected(parts) ** 2).sum()))

    def even_se(self, parts: Floats) -> float:
        """Error of the figure if groups deviate alike, whatever they weigh; `parts` as in `se`.

        s sqrt(sum_g W_g^2) / W with s^2 = sum_g W_g (r_g / W_g)^2 / W, r_g the sum of the parts of group
        g, W_g its weight and W that of all. Where a few heavy groups are all alike, `se` sees next to no
        spread, and this lends them that of the others. Groups of one item, of weights that are equal: `se`
        without its correction.
        """
        total = float(self.weights.sum())
        shares = np.bincount(self.groups, weights=self.weights / total, minlength=self.n_groups)
        sums = np.bincount(self.groups, weights=parts / total, minlength=self.n_groups)
        return math.sqrt(float((sums**2 / shares).sum()) * float(shares @ shares))

    def skewness(self, parts: Floats) -> float:
        """Skewness of the figure, 1.5 times what the groups show; 0 with fewer than 3 effective groups.

        sum_g s_g^3 / SE^3 of the corrected sums s_g, times sqrt(g (g - 1)) / (g - 2) for g effective groups
        as in Fisher's G1. A few groups rarely hold the far end of the tail: with 20 lognormal values the
        mean G1 is half the true skewness.
        """
        # One group has no corrected sum.
        return 0.0 if self.df < 2 else self.sums_skewness(self._corrected(parts))

    def sums_skewness(self, sums: Floats) -> float:
        """As `skewness`, from what each group adds to the figure's deviation; shape (G,)."""
        g = self.df + 1
        if g < 3:
            return 0.0
        # Scaled, because cubes of very small sums vanish.
        largest = float(np.abs(sums).max())
        if largest == 0:
            return 0.0
        sums = sums / largest
        raw = float((sums**3).sum()) / float((sums**2).sum() ** 1.5)
        return float(TAIL_UNSEEN * raw * math.sqrt(g * (g - 1)) / (g - 2))

    @cached_property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom of `se`, from 1 to G - 1; 0 where `se` is null.

        (tr M)^2 / tr(M^2), M_gh = p_g' Omega p_h with p_g what group g's corrected sum takes from each value,
        and Omega 1 on the diagonal, rho inside a group, 0 elsewhere. For one cell, v_g = (1 - rho)
        sum w_i^2 + rho (sum w_i)^2: M_gh = c_g c_h (delta_gh v_g - w_h v_g - w_g v_h + w_g w_h V). Equal
        sizes give G - 1. M is diagonal but for a part of rank 2 C, so this takes time linear in G.

        A group with more than half of a cell has a row of its own, M_gg = c_g^2 ((1 - w_g)^2 v_g + w_g^2 sum
        of the others' v_h): in V its own v_g would hide theirs.
        """
        if (self._leverage > 1 - WHOLE).any():
            return 0.0
        # Shares of their cell, so that weights on any scale have squares that floats hold.
        squares = self._by_group_and_cell(np.square(self.weights / self._totals[self.cells]))
        shares, complements = self._leverage, self._complements
        factors = self.shares / np.sqrt(complements)
        s = factors * shares
        # M = diag(d) - b s' - s b' + s k s': a group's sum with itself, with the cells' means, and of those.
        b = (1 - RHO) * factors * squares + RHO * s.sum(axis=1, keepdims=True) * shares
        trace = squared = 0.0
        is_large = (shares > 0.5).any(axis=1)
        for g in np.flatnonzero(is_large):
            from_items = (1 - RHO) * factors[g] * complements[g] * squares[g] + RHO * (
                s[g] @ complements[g]
            ) * shares[g]
            remaining = np.arange(self.n_groups) != g
            of_others = s[g] @ _of_means(squares[remaining], shares[remaining])
            row = s @ (of_others - from_items) - b @ s[g]
            row[g] = from_items @ (factors[g] * complements[g]) + of_others @ s[g]
            trace += float(row[g])
            squared += float((row**2 * np.where(is_large, 1, 2)).sum())
        k, n_cells = _of_means(squares, shares), len(self.shares)
        b, s, factors = (part[~is_large] for part in (b, s, factors))
        d, outer = (factors * b).sum(axis=1), np.hstack([b, s])
        inner = np.zeros((2 * n_cells, 2 * n_cells))
        inner[:n_cells, n_cells:] = inner[n_cells:, :n_cells] = -np.eye(n_cells)
        inner[n_cells:, n_cells:] = k
        low_rank = ((outer @ inner) * outer).sum(axis=1)
        crossed = inner @ (outer.T @ outer)
        trace += float((d + low_rank).sum())
        squared += float((d**2 + 2 * d * low_rank).sum() + np.trace(crossed @ crossed))
        if not squared > 0:  # one group outweighs all others beyond what floats tell apart
            return 1.0
        df = min(max(trace**2 / squared, 1.0), self.n_groups - 1.0)
        return float(round(df)) if abs(df - round(df)) < WHOLE * df else df

    @cached_property
    def _totals(self) -> Floats:
        totals = np.bincount(self.cells, weights=self.weights, minlength=len(self.shares))
        return totals.astype(np.float64)

    @cached_property
    def _leverage(self) -> Floats:
        """Each group's share of each cell's weight, shape (G, C)."""
        shares: Floats = self._by_group_and_cell(self.weights) / self._totals
        return shares

    @cached_property
    def _complements(self) -> Floats:
        """1 less each group's share of each cell's weight; added up where little is left of 1."""
        complements = 1 - self._leverage
        for group, cell in np.argwhere(self._leverage > 0.5):
            complements[group, cell] = np.delete(self._leverage[:, cell], group).sum()
        return complements

    @cached_property
    def _factors(self) -> Floats:
        """What a group's sum in a cell is multiplied by: share_c / W_c / sqrt(1 - w_gc), shape (G, C)."""
        factors: Floats = self.shares / self._totals / np.sqrt(self._complements)
        return factors

    def _corrected(self, parts: Floats) -> Floats:
        """What each group adds to the figure's deviation, its own leverage undone; shape (G,)."""
        sums: Floats = (self._by_group_and_cell(parts) * self._factors).sum(axis=1)
        return sums

    def _by_group_and_cell(self, values: Floats) -> Floats:
        n_cells = len(self.shares)
        sums: Floats = np.bincount(
            self.groups * n_cells + self.cells, weights=values, minlength=self.n_groups * n_cells
        ).astype(np.float64)
        return sums.reshape(self.n_groups, n_cells)


def _of_means(squares: Floats, shares: Floats) -> Floats:
    """Working covariance of the cells' means, shape (C, C), from the groups' squares and shares of weight."""
    return np.asarray((1 - RHO) * np.diag(squares.sum(axis=0)) + RHO * shares.T @ shares, dtype=np.float64)


def effective_groups(groups: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """How many groups of equal size would tell as much: Satterthwaite's degrees of freedom + 1.

    Parameters
    ----------
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Above 0. Equal by default.

    Returns
    -------
    float
        1 … G; G where all groups weigh alike, and 1 with one group. 60 questions of one case beside 11 of
        one question each: 2.06.

    Raises
    ------
    ValueError
        If there is no group, a label is missing, or a weight is not above 0.
    """
    labels = np.asarray(groups)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"groups must have one label for each row, but has the shape {labels.shape}")
    codes, n_groups = group_codes(labels, length=len(labels))
    return GroupDesign.of(codes, n_groups, item_weights(weights, length=len(labels))).df + 1
