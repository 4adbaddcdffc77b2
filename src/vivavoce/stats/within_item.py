"""Correlation inside items, from sums of products by group: which of several responses to one item is better.

Values are centred at their item first, so that the difficulty of items has no part in it. Items lie inside
groups, so leaving a group out leaves its sums out and moves no other value.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Codes, Floats, group_codes, inside
from vivavoce.stats.correlation import PERFECT
from vivavoce.stats.jackknife import WithoutGroups

LEAST_VARIANCE = 1e-9  # of a column's cross_products sum of squares: what is left below it is rounding


class WithinItems(NamedTuple):
    """Columns centred at their items, as sums of products by group.

    Attributes
    ----------
    products : array of shape (G, q, q)
        By group the sum over its rows of every product of two of the q columns, centred.
    sizes : array of shape (G,)
        Rows of each group.
    """

    products: Floats
    sizes: Codes

    def of(self, groups: ArrayLike) -> "WithinItems":
        """The sums of some of the groups: positions, or a boolean for each."""
        chosen = np.asarray(groups)
        return WithinItems(self.products[chosen], self.sizes[chosen])

    def varies(self, column: int) -> bool:
        """Whether the column has two different values inside any item."""
        return bool(self.products[:, column, column].sum() > 0)

    def correlation(self, a: int, b: int, *, controls: Sequence[int] = ()) -> WithoutGroups:
        """Pearson's r of two columns inside items, with others held, of all groups and without each in turn.

        Parameters
        ----------
        a, b : int
            Columns.
        controls : sequence of int
            Columns whose linear part is taken out of both first (partial correlation).

        Returns
        -------
        WithoutGroups
            Null, and NaN without a group, where a column does not vary inside items, or is a combination of
            those held. `jackknife` gives the interval.
        """
        total = self.products.sum(axis=0)
        value = float(_partial(total[None], a, b, controls)[0])
        leave_one_out = (
            _partial(total - self.products, a, b, controls) if len(self.sizes) > 1 else np.empty(0)
        )
        return WithoutGroups(None if np.isnan(value) else value, leave_one_out, self.sizes)

    def weighted(self, columns: Sequence[int], weights: ArrayLike) -> "WithinItems":
        """The same with one more column, the last: a weighted sum of these columns."""
        q = self.products.shape[1]
        basis = np.zeros((q + 1, q))
        basis[:q] = np.eye(q)
        basis[q, list(columns)] = np.asarray(weights, dtype=np.float64)
        return WithinItems(basis @ self.products @ basis.T, self.sizes)

    def regression(self, columns: Sequence[int], target: int) -> Floats:
        """The weights of these columns in the least squares fit of the target inside items."""
        total = self.products.sum(axis=0)
        chosen = list(columns)
        scale = np.sqrt(np.diag(total)[chosen])
        scale[scale == 0] = 1.0
        gram = total[np.ix_(chosen, chosen)] / np.outer(scale, scale)
        return np.asarray(np.linalg.pinv(gram, hermitian=True) @ (total[chosen, target] / scale) / scale)


def within_items(
    columns: ArrayLike, items: ArrayLike, groups: ArrayLike, *, systems: ArrayLike | None = None
) -> WithinItems:
    """Columns of values centred at their items, and at their systems too, as sums of products by group.

    Parameters
    ----------
    columns : array of shape (q, n)
        q measures of the same n rows (an item answered by one system).
    items : array of shape (n,)
        The item of each row; any labels. An item with one row adds nothing.
    groups : array of shape (n,)
        What is drawn together. All rows of an item lie in one group.
    systems : array of shape (n,), optional
        The system of each row. What a system has on all items alike is then taken out too, by least squares
        over all rows: with a few systems such a level agrees by luck, however many items there are.

    Returns
    -------
    WithinItems
        Its groups are in the order of the sorted labels.

    Raises
    ------
    ValueError
        If there is no row, a value is NaN or infinite, an item, group or system is missing, or an item lies
        in two groups.

    The level "item_centred" of `correlation_at`: with every system on every item, `correlation` equals it.
    """
    table = np.array(columns, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"columns must have two dimensions and a value, but has the shape {table.shape}")
    if not np.isfinite(table).all():
        column, position = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"columns holds {table[column, position]} in column {column} at position {position}")
    n = table.shape[1]
    item, n_items = group_codes(items, length=n)
    group, n_groups = group_codes(groups, length=n)
    inside("items", item, n_items, of="groups", outer=group)
    largest = np.abs(table).max(axis=1)
    _centre(table, item, n_items)
    if systems is not None:
        system, n_systems = group_codes(systems, length=n)
        levels = _system_levels(table, item, n_items, system, n_systems)[:, system]
        _centre(levels, item, n_items)
        table -= levels
    # Equal values less their mean are equal up to rounding, and rounding is no variance.
    table[np.abs(table) <= 1e-12 * largest[:, None]] = 0.0
    q = len(table)
    # Sums by group: leaving one out is then a subtraction, for every pair of columns at once.
    products = np.empty((n_groups, q, q))
    for a in range(q):
        for b in range(a, q):
            products[:, a, b] = products[:, b, a] = np.bincount(
                group, weights=table[a] * table[b], minlength=n_groups
            )
    return WithinItems(products, np.bincount(group, minlength=n_groups))


def _centre(table: Floats, item: Codes, n_items: int) -> None:
    """Take the mean of its item from every value, in place."""
    counts = np.bincount(item, minlength=n_items)
    for column in table:
        column -= (np.bincount(item, weights=column, minlength=n_items) / counts)[item]


def _system_levels(table: Floats, item: Codes, n_items: int, system: Codes, n_systems: int) -> Floats:
    """What each system has on all items alike, (q, K), of columns that are centred at their items."""
    rows = np.zeros((n_items, n_systems))
    np.add.at(rows, (item, system), 1.0)
    # Normal equations of the systems once items are out: not every system need have every item.
    gram = np.diag(rows.sum(axis=0)) - rows.T @ (rows / rows.sum(axis=1, keepdims=True))
    sums = np.stack([np.bincount(system, weights=column, minlength=n_systems) for column in table])
    return np.asarray(sums @ np.linalg.pinv(gram, hermitian=True))


def _partial(products: Floats, a: int, b: int, controls: Sequence[int]) -> Floats:
    """Partial correlations of two columns for each table of products; NaN where one does not vary."""
    pair = [a, b]
    cross_products = products[:, pair][:, :, pair]
    spreads = np.stack([cross_products[:, 0, 0], cross_products[:, 1, 1]], axis=1)
    if controls:
        columns = list(controls)
        # Columns of any units, from words to shares: unscaled, the inverse would drop the smaller ones.
        scale = np.sqrt(np.maximum(np.diagonal(products, axis1=1, axis2=2)[:, columns], 0.0))
        scale[scale == 0] = 1.0
        gram = products[:, columns][:, :, columns] / (scale[:, :, None] * scale[:, None, :])
        cross = products[:, pair][:, :, columns] / scale[:, None, :]
        cross_products = cross_products - cross @ np.linalg.pinv(
            gram, rcond=1e-10, hermitian=True
        ) @ cross.transpose(0, 2, 1)
    variances = np.stack([cross_products[:, 0, 0], cross_products[:, 1, 1]], axis=1)
    defined = ((variances > LEAST_VARIANCE * spreads) & (spreads > 0)).all(axis=1)
    square = np.where(defined, variances.prod(axis=1), 1.0)
    values = np.where(defined, cross_products[:, 0, 1] / np.sqrt(square), np.nan)
    is_perfect = 1 - np.abs(values) <= PERFECT
    return np.where(is_perfect, np.sign(values), np.clip(values, -1.0, 1.0))
