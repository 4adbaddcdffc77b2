"""Whether larger models score higher in DAHL's Table 2: what thirteen printed means can say, and what not.

No answer and no spread is published. But a score lies between 0 and 1, so its variance is at most m (1 - m),
and a difference that is large beside that bound is large beside any spread the answers can have had.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, permutations, product
from typing import Any

import scipy

from vivavoce import stats

_Z = 1.959964
_ROUNDING = 0.0001
"""What the difference of two scores of four digits may lack."""
_SEED = 20241119

UNTOLD = (
    "One answer was generated for each question: another generation, at temperature 0.6, would give other "
    "scores.",
    "How many answers were dropped for a unit without a verdict is not said; longer answers are dropped "
    "more often.",
    "One checker judged all units; its errors differ by how a model writes.",
    "Families differ in data and year as well as in size; three of them have more than one size.",
)
"""What no figure of Table 2 can tell."""


def size_trend(systems: Sequence[Mapping[str, Any]], n: int) -> dict[str, Any]:
    """Size against score: over all open systems, and pair by pair within families.

    `spearman` of size and score over `n_systems` with a size, its permutation `p`, and its range `low` to
    `high` without each family in turn. `within`: how many `pairs` of one family and two sizes go `upward`,
    and the exact one-sided `p` of that if sizes had nothing to do with scores. `pairs`: neighbouring sizes of
    a family. `n` is the number of independent questions that the answers are of, at most.
    """
    sized = [system for system in systems if system["size"] is not None]
    size = [system["size"] for system in sized]
    score = [system["score"] for system in sized]
    families = [system["family"] for system in sized]
    shuffled = stats.permute_systems(
        size, score, coefficient="spearman", rng=stats.seeded_rng(_SEED), resamples=9999
    )
    omissions = stats.leave_one_out(size, score, coefficient="spearman", families=families)
    return {
        "spearman": stats.spearman(size, score),
        "p": None if shuffled is None else shuffled.p,
        "low": omissions.low,
        "high": omissions.high,
        "n_systems": len(sized),
        "n_families": omissions.n,
        "within": _within(sized),
        "pairs": _pairs(sized, n),
        "cannot_be_said": list(UNTOLD),
    }


def by_family(systems: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The systems of each family from the smallest to the largest."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for system in sorted(systems, key=lambda system: system["size"]):
        families.setdefault(system["family"], []).append(system)
    return families


def _within(systems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Pairs of one family that go upward, and how often orders at random give as many."""
    scores = [[s["score"] for s in family] for family in by_family(systems).values() if len(family) > 1]
    upward = sum(map(_upward, scores))
    orders = [
        sum(map(_upward, order)) for order in product(*(list(permutations(members)) for members in scores))
    ]
    return {
        "pairs": sum(math.comb(len(members), 2) for members in scores),
        "upward": upward,
        "families": len(scores),
        "p": sum(count >= upward for count in orders) / len(orders),
        "orders": len(orders),
    }


def _upward(scores: Sequence[float]) -> int:
    return sum(b > a for a, b in combinations(scores, 2))


def _pairs(systems: Sequence[Mapping[str, Any]], n: int) -> list[dict[str, Any]]:
    rows = [
        _pair(small, large, n)
        for members in by_family(systems).values()
        for small, large in pairwise(members)
    ]
    for row, p in zip(rows, stats.holm([row["p_at_most"] for row in rows]), strict=True):
        row["p_holm"] = float(p)
    return rows


def _pair(small: Mapping[str, Any], large: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Two neighbouring sizes of a family.

    `difference`, also `per_doubling` of the size; `z_at_least` and `p_at_most`, had the scores of `n`
    independent questions the greatest variance that their means allow, and answers to one question gone apart
    or together but not against each other; `answers_needed`: with as many scored, p is .05 at most.
    """
    difference = large["score"] - small["score"]
    certain = max(abs(difference) - _ROUNDING, 0.0)
    variance = sum(system["score"] * (1 - system["score"]) for system in (small, large))
    z = certain / math.sqrt(variance / n)
    return {
        "family": small["family"],
        "small": small["size"],
        "large": large["size"],
        "difference": difference,
        "per_doubling": difference / math.log2(large["size"] / small["size"]),
        "z_at_least": z,
        "p_at_most": float(2 * scipy.special.ndtr(-z)),
        "answers_needed": math.ceil(_Z**2 * variance / certain**2) if certain else None,
    }
