"""The dendrogram of measures, from the rows of the correlation study."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from vivavoce import stats
from vivavoce.report.boards import Rows
from vivavoce.report.drawing import unique

__all__ = ["Tree", "measures", "tree"]


class Tree(NamedTuple):
    """Measures by average linkage on 1 - Spearman's rho of candidates' means.

    `leaves` are places in the order of the rows; each merger is (left height, right height, height of the
    merger, place of left, place of right, support) with places counted in the order of `leaves`. Support is
    null unless the rows' tree is the one that was drawn again.
    """

    names: tuple[str, ...]
    leaves: tuple[int, ...]
    mergers: tuple[tuple[float, float, float, float, float, float | None], ...]


def tree(rows: Rows) -> Tree | None:
    """The dendrogram of a correlation finding's rows of one benchmark; null if a correlation is undefined."""
    own = [r for r in rows if r["level"] == "system" and r["coefficient"] == "spearman"]
    names = measures(own)
    n = len(names)
    if n < 3 or any(r["value"] is None for r in own):
        return None
    place = dict(zip(combinations(range(n), 2), own, strict=True))
    distances = [
        [0.0 if i == j else max(0.0, 1 - place[min(i, j), max(i, j)]["value"]) for j in range(n)]
        for i in range(n)
    ]
    linkage = stats.average_linkage(distances)
    members: list[tuple[int, ...]] = [(k,) for k in range(n)]
    for row in linkage:
        members.append(members[int(row[0])] + members[int(row[1])])
    leaves = members[-1]
    supports = _supports(rows, n, [(members[int(r[0])], members[int(r[1])]) for r in linkage])
    heights, middles = [0.0] * n, [float(leaves.index(k)) for k in range(n)]
    mergers = []
    for row, support in zip(linkage, supports, strict=True):
        i, j = int(row[0]), int(row[1])
        mergers.append((heights[i], heights[j], float(row[2]), middles[i], middles[j], support))
        heights.append(float(row[2]))
        middles.append((middles[i] + middles[j]) / 2)
    return Tree(tuple(names), leaves, tuple(mergers))


def _supports(
    rows: Rows, n: int, mergers: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> list[float | None]:
    """The support of each merger, from that of its pairs; none at all if the pairs of one disagree.

    Rows hold each pair's own questions, the study's tree those that all measures share: the trees may differ,
    and then the support belongs to another one.
    """
    kendall = [r for r in rows if r["level"] == "system" and r["coefficient"] == "kendall"]
    pair = dict(zip(combinations(range(n), 2), (r["cluster_support"] for r in kendall), strict=True))
    found = [{pair[min(i, j), max(i, j)] for i in left for j in right} for left, right in mergers]
    if any(len(one) != 1 or None in one for one in found):
        return [None] * len(mergers)
    return [one.pop() for one in found]


def measures(own: Rows) -> list[str]:
    """The measures of rows that hold every pair of them once, in the study's order."""
    first = [r for r in own if r["a"] == own[0]["a"]]
    n = 1
    while n * (n - 1) // 2 < len(own):
        n += 1
    if n * (n - 1) // 2 != len(own) or len(first) < n - 1:
        return []
    return unique([own[0]["a"], *(r["b"] for r in own[: n - 1])])
