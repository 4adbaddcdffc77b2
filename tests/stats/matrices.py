"""CR2 and Satterthwaite's degrees of freedom by the matrices themselves: what the closed forms are held to.

A linear model of one mean per cell, weighted; H its hat matrix on the scale of sqrt(w) y; A_g =
(I - H_gg)^(-1/2) by eigenvalues; Omega 1 on the diagonal and rho inside a group. Bell & McCaffrey (2002).
"""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    value: float
    se: float
    df: float


def by_matrices(values, groups, *, weights=None, cells=None, shares=None, rho=0.5):
    """The sum of share times mean over cells, its error and degrees of freedom; one cell by default."""
    y, g = np.asarray(values, float), np.asarray(groups)
    n = len(y)
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    c = np.zeros(n, int) if cells is None else np.asarray(cells)
    x = (c[:, None] == np.unique(c)).astype(float)
    share = np.full(x.shape[1], 1 / x.shape[1]) if shares is None else np.asarray(shares, float)
    root = np.sqrt(w)
    design = root[:, None] * x
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residuals = (np.eye(n) - hat) * root  # from values to weighted residuals
    rows_of = [np.flatnonzero(g == label) for label in np.unique(g)]
    takes = []
    for rows in rows_of:
        length, axes = np.linalg.eigh(np.eye(len(rows)) - hat[np.ix_(rows, rows)])
        adjusted = axes @ np.diag(length**-0.5) @ axes.T
        takes.append(share @ bread @ design[rows].T @ adjusted @ residuals[rows])
    p = np.array(takes)
    omega = np.where(g[:, None] == g, rho, 0.0)
    np.fill_diagonal(omega, 1)
    m = p @ omega @ p.T
    return Fit(
        float(share @ bread @ design.T @ (root * y)),
        float(np.sqrt(((p @ y) ** 2).sum())),
        float(np.trace(m) ** 2 / (m**2).sum()),
    )
