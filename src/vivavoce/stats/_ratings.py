"""What a table of ratings must be before agreement is read from it, and what every coefficient reports."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats
from vivavoce.stats.sums import rounded

Present = NDArray[np.bool_]
Distance = Callable[[Any, Any], Floats]


class Ratings(NamedTuple):
    """Ratings of units by raters, as positions in the list of categories.

    Attributes
    ----------
    codes : array of shape (n_units, n_raters)
        0 where missing: read `present` first.
    present : array of bool, same shape
    categories : array of shape (q,)
        Sorted: those that were declared, or those that occur.
    counts : array of shape (n_units,)
        Ratings in each unit.
    """

    codes: Codes
    present: Present
    categories: NDArray[Any]
    counts: Codes

    def pairable(self) -> "Ratings":
        """Units with at least two ratings; the categories stay as they are."""
        keep = self.counts >= 2
        return Ratings(self.codes[keep], self.present[keep], self.categories, self.counts[keep])

    def totals(self) -> Codes:
        """How often each category occurs."""
        return np.bincount(self.codes[self.present], minlength=len(self.categories))


class Agreement(NamedTuple):
    """A coefficient, 1 - observed / expected, with both disagreements and what they rest on.

    Attributes
    ----------
    value : float or None
        1: no disagreement; 0: as much as chance; below 0: more. Null if the units with two ratings hold
        one label only (agreement beyond chance is then undefined, not 1 and not 0), or if there are none.
    observed, expected : float or None
        Disagreement, in the units of the distance: a share for labels, squared units for numbers. Null
        if not estimable; `expected` is 0 where it is no variance that makes the value null.
    n_units, n_ratings : int
        Units with at least two ratings, and the ratings in them.
    n_raters : int
        Columns of the table.
    n_categories : int
        Categories declared, or that occur.
    n_dropped : int
        Units with fewer than two ratings.
    """

    value: float | None
    observed: float | None
    expected: float | None
    n_units: int
    n_ratings: int
    n_raters: int
    n_categories: int
    n_dropped: int


def read_ratings(
    ratings: ArrayLike,
    missing: ArrayLike | None,
    *,
    scale: Literal["labels", "steps", "numbers"],
    categories: ArrayLike | None = None,
) -> Ratings:
    """`ratings` checked and coded.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        What stands in a missing cell is not read.
    missing : array of bool, same shape, optional
        None: nothing is missing.
    scale : {"labels", "steps", "numbers"}
        Any labels; numbers rounded to 1e-9, so that rounding makes no category; numbers as they are.
    categories : array of shape (q,), optional
        The scale as it was offered, where not every step of it was used.

    Raises
    ------
    ValueError
        If there is no unit or no rater, shapes differ, a cell that is not missing holds None, NaN or an
        infinity, numbers are wanted and something else is there, or a rating is no declared category.
    """
    table = np.asarray(ratings)
    if table.ndim != 2:
        raise ValueError(f"ratings must have two dimensions, units and raters, not {table.ndim}")
    if not table.size:
        raise ValueError(f"ratings is empty, with the shape {table.shape}: there is nothing to compare")
    present = _present(missing, table.shape)
    labels = _labels(table, present, scale)
    if categories is None:
        names, inverse = _unique(labels)
    else:
        names, inverse = _declared(labels, np.asarray(categories), present, scale)
    codes = np.zeros(table.shape, dtype=np.intp)
    codes[present] = inverse
    return Ratings(codes, present, names, present.sum(axis=1))


def coefficient(
    observed: float | None, expected: float | None, *, table: Ratings, used: Ratings, one_label: bool
) -> Agreement:
    """The record of a coefficient over the units `used` of a `table`.

    Parameters
    ----------
    observed, expected : float or None
        Disagreements; null if no unit could be used.
    table, used : Ratings
        All units, and those with two ratings.
    one_label : bool
        Whether the units used hold one label only: the value is then null.
    """
    value = None
    if observed is not None and expected and not one_label:
        value = 1 - observed / expected
    return Agreement(
        value=None if value is None else float(value),
        observed=None if observed is None else float(observed),
        expected=None if expected is None else float(expected),
        n_units=len(used.counts),
        n_ratings=int(used.counts.sum()),
        n_raters=table.codes.shape[1],
        n_categories=len(table.categories),
        n_dropped=len(table.counts) - len(used.counts),
    )


def complete_rows(ratings: ArrayLike, missing: ArrayLike | None) -> Floats:
    """Numbers of the units that every rater rated; raises as `read`."""
    table = read_ratings(ratings, missing, scale="numbers")
    keep = table.present.all(axis=1)
    if not keep.any():
        return np.empty((0, table.codes.shape[1]))
    return np.asarray(table.categories[table.codes[keep]], dtype=np.float64)


def differ(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """1 where two labels differ, else 0."""
    return np.asarray(a != b, dtype=np.float64)


def squared(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Squared difference of two numbers."""
    return np.asarray((a - b) ** 2, dtype=np.float64)


def distance_within(values: NDArray[Any], present: Present, *, distance: Distance) -> Floats:
    """Mean distance over the pairs of ratings in each unit.

    Parameters
    ----------
    values : array of shape (n_units, n_raters)
        Codes or numbers; anything where not present.
    present : array of bool, same shape
        At least two in each row.
    distance : callable
        Of two arrays, element by element; symmetric.

    Returns
    -------
    array of shape (n_units,)

    Time grows with the square of the largest number of ratings in one unit, not of raters in all.
    """
    counts = present.sum(axis=1)
    width = int(counts.max(initial=0))
    first = np.argsort(~present, axis=1, kind="stable")[:, :width]
    packed = np.take_along_axis(values, first, axis=1)
    total = np.zeros(len(values))
    for b in range(1, width):
        rows = counts > b
        for a in range(b):
            total[rows] += distance(packed[rows, a], packed[rows, b])
    return np.asarray(total / (counts * (counts - 1) / 2))


def _present(missing: ArrayLike | None, shape: tuple[int, ...]) -> Present:
    if missing is None:
        return np.ones(shape, dtype=bool)
    mask = np.asarray(missing)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise ValueError(
            f"missing must be booleans of the shape {shape}, but is {mask.dtype} of the shape {mask.shape}"
        )
    return ~mask


def _labels(table: NDArray[Any], present: Present, scale: str) -> NDArray[Any]:
    labels = table[present]
    if scale != "labels":
        try:
            labels = labels.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("ratings must be numbers on this scale: code the steps in their order") from None
    wrong = np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "f":
        wrong = ~np.isfinite(labels)
    elif labels.dtype.kind == "O":
        # NaN is the one label that differs from itself
        wrong = np.array([label is None or label != label for label in labels], dtype=bool)
    if wrong.any():
        unit, rater = np.argwhere(present)[int(np.argmax(wrong))]
        raise ValueError(
            f"ratings holds {labels[np.argmax(wrong)]} at unit {unit}, rater {rater}: mark it in `missing`"
        )
    return rounded(labels) if labels.dtype.kind == "f" and scale != "numbers" else labels


def _unique(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    # Objects need not be comparable with each other: 1 and "one" are two labels.
    names = sorted(set(labels), key=lambda label: (type(label).__name__, str(label)))
    position = {label: code for code, label in enumerate(names)}
    column = np.empty(len(names), dtype=object)
    column[:] = names
    return column, np.array([position[label] for label in labels], dtype=np.intp)


def _declared(
    labels: NDArray[Any], declared: NDArray[Any], present: Present, scale: str
) -> tuple[NDArray[Any], Codes]:
    if declared.ndim != 1 or not len(declared):
        raise ValueError(f"categories must be a list of labels, but has the shape {declared.shape}")
    names, _ = _unique(_labels(declared, np.ones(declared.shape, dtype=bool), scale))
    if len(names) != len(declared):
        raise ValueError("categories names a label twice")
    position = {label: code for code, label in enumerate(names.tolist())}
    codes = np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (codes < 0).any():
        first = int(np.argmax(codes < 0))
        unit, rater = np.argwhere(present)[first]
        raise ValueError(f"ratings holds {labels[first]} at unit {unit}, rater {rater}: no such category")
    return names, codes
