"""Comparisons of two at a time: what they must be, how they link systems, when strengths are finite."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats

__all__ = ["Counts", "checked_pairs", "counted", "parts", "refuse_parts", "separated"]


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
        at = int(np.argmax(wrong))
        raise ValueError(
            f"pairs holds {array[at, 0]} and {array[at, 1]} at position {at}: "
            f"two different systems from 0 to {n_systems - 1} are needed"
        )
    return array.astype(np.intp)


def counted(pairs: ArrayLike, outcomes: ArrayLike, n_systems: int) -> Counts:
    """Wins and ties of each pair that met; ValueError if an outcome is none of 1, 0, -1."""
    meetings = checked_pairs(pairs, n_systems)
    results = np.asarray(outcomes)
    if results.shape != (len(meetings),):
        raise ValueError(f"outcomes has the shape {results.shape}, ({len(meetings)},) is needed")
    wrong = ~np.isin(results, (-1, 0, 1))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"outcomes holds {results[at]} at position {at}: 1, 0 and -1 are the outcomes")
    low, high = meetings.min(axis=1, initial=n_systems), meetings.max(axis=1, initial=0)
    won = np.where(meetings[:, 0] == low, results, -results.astype(np.int64))
    kinds = np.where(won == 1, 0, np.where(won == -1, 1, 2))
    places, slots = np.unique(low * n_systems + high, return_inverse=True)
    table = np.zeros((3, len(places)))
    np.add.at(table, (kinds, slots), 1.0)
    return Counts(places // n_systems, places % n_systems, table)


def parts(first: Codes, second: Codes, n_systems: int) -> tuple[tuple[int, ...], ...]:
    """Systems linked by the pairs `first`, `second`, the largest part first."""
    linked = np.eye(n_systems, dtype=bool)
    linked[first, second] = linked[second, first] = True
    reached = _reach(linked)
    found = {tuple(int(k) for k in np.flatnonzero(row)) for row in reached}
    return tuple(sorted(found, key=lambda part: (-len(part), part)))


def _reach(linked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who can be reached from whom: the transitive closure, by squaring."""
    while True:
        further = (linked.astype(np.float32) @ linked.astype(np.float32)) > 0
        if (further == linked).all():
            return linked
        linked = further


def refuse_parts(counts: Counts, n_systems: int) -> None:
    """ValueError if some systems never met the others, not even through others."""
    found = parts(counts.first, counts.second, n_systems)
    if len(found) > 1:
        raise ValueError(
            f"the comparisons leave {len(found)} parts that never met, {found[0]} and {found[1]} among them: "
            "rank each part by itself, or compare systems across"
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
