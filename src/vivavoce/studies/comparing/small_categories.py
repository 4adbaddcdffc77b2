"""Small categories in which a candidate fails: named by an exact test, where no interval says anything.

A category of fewer than ten cases has no figure and is in no profile test, so a candidate that fails all six
of its questions, and no other, would go unnoticed. Each such category is tested against all other cases of
the same candidate, one-sided for worse, by Holm over all categories, candidates and criteria.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.stats import LEAST_GROUPS
from vivavoce.studies.score_matrix import Fillings, Floats, ScoreMatrix, key_of
from vivavoce.studies.text import count, number

LEAST_CASES = 3
"""Cases of a category below which it is not tested: two failures are an anecdote, and enlarge the family."""


class SmallCategory(NamedTuple):
    """A category of a candidate with its test against the candidate's other cases.

    `values` and `reference` hold one value per case, in the criterion's units; `p` is the larger one where
    scores failed, with those in the category at their best and all others at their worst.
    """

    benchmark: str
    measure: Measure
    candidate: str
    category: str
    values: Floats
    reference: Floats
    p: float
    p_adjusted: float = 1.0
    family: int = 1

    @property
    def fails(self) -> bool:
        """Whether the category is worse than the rest, corrected over the family."""
        return self.p_adjusted <= stats.ALPHA

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a row that say what the test found."""
        return {"p_elsewhere": self.p_adjusted if self.fails else None, "fails": self.fails}

    def sentence(self, label: str = "") -> str:
        """That the candidate fails here; `label` names the measure where there are several."""
        score, reference = self._scored(self.values), self._scored(self.reference)
        measure = f" by {label}" if label else ""
        tests = f" over {count(self.family, 'test')}" if self.family > 1 else ""
        kind = "exact test" if self._is_yes_or_no else "permutation test"
        return (
            f"{self.candidate} scores {score} on {self.category}{measure}, against {reference} elsewhere "
            f"({kind}, Holm-adjusted p = {self.p_adjusted:.2g}{tests})."
        )

    @property
    def _is_yes_or_no(self) -> bool:
        low, high = self.measure.criterion.low, self.measure.criterion.high
        if low is None or high is None:
            return False
        return bool(np.isin(np.r_[self.values, self.reference], (low, high)).all())

    def _scored(self, values: Floats) -> str:
        criterion = self.measure.criterion
        if self._is_yes_or_no:
            return f"{int((values == criterion.high).sum()):,} of {len(values):,}"
        return f"{number(stats.exact_mean(values), criterion)} in {count(len(values), 'case')}"


def with_holm(tests: Sequence[SmallCategory]) -> list[SmallCategory]:
    """The tests with their p by Holm over all of them."""
    adjusted = stats.holm([test.p for test in tests]).tolist() if tests else []
    return [test._replace(p_adjusted=p, family=len(tests)) for test, p in zip(tests, adjusted, strict=True)]


def failure_sentences(
    tests: Sequence[SmallCategory], names: Mapping[tuple[str, str, str], str]
) -> Iterator[str]:
    """A sentence for each category in which a candidate fails; `names` are the measures' by `key_of`."""
    many = len({key_of(test.measure) for test in tests}) > 1
    for test in sorted((test for test in tests if test.fails), key=lambda test: test.p_adjusted):
        yield test.sentence(names[key_of(test.measure)] if many else "")


def small_categories(matrix: ScoreMatrix, fillings: Fillings | None) -> Iterator[SmallCategory]:
    """The test of every category of 3 to 9 cases of every candidate, where 10 or more cases lie elsewhere."""
    for place, candidate in enumerate(matrix.candidates):
        answers = matrix.on(matrix.present[place])
        for category, members in _small(answers):
            cases = _by_case(answers, members, answers.values[place])
            if cases is None:
                continue
            p = _p(*cases, matrix.sign)
            if fillings is not None and fillings.failed[place].any():
                p = max(p, _filled_p(fillings, place, category))
            yield SmallCategory(matrix.benchmark, matrix.measure, candidate, category, *cases, p)


def _small(matrix: ScoreMatrix) -> Iterator[tuple[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]]:
    """The categories of 3 to 9 cases, with the items of each."""
    for category in sorted(set(matrix.categories.tolist()) - {""}):
        members = matrix.categories == category
        if LEAST_CASES <= len(np.unique(matrix.groups[members])) < LEAST_GROUPS:
            yield category, members


def _by_case(
    matrix: ScoreMatrix, members: np.ndarray[tuple[int], np.dtype[np.bool_]], values: Floats
) -> tuple[Floats, Floats] | None:
    """One value per case of the category and per case elsewhere; null where fewer than 10 lie elsewhere.

    The mean of a case where all cases hold as many items; else its first item, as means of few and of many
    items would not be alike.
    """
    reference = ~np.isin(matrix.groups, matrix.groups[members])
    parts = [(matrix.groups[part], values[part]) for part in (members, reference)]
    if len(np.unique(parts[1][0])) < LEAST_GROUPS:
        return None
    sizes = [np.unique(groups, return_counts=True)[1] for groups, _ in parts]
    if np.ptp(np.concatenate(sizes)):
        firsts = (y[np.unique(groups, return_index=True)[1]] for groups, y in parts)
        return next(firsts), next(firsts)
    means = (np.bincount(np.unique(g, return_inverse=True)[1], weights=y) / sizes[0][0] for g, y in parts)
    return next(means), next(means)


def _p(values: Floats, reference: Floats, sign: int) -> float:
    members = np.arange(len(values) + len(reference)) < len(values)
    return stats.subset_test(sign * np.concatenate([values, reference]), members)


def _filled_p(fillings: Fillings, place: int, category: str) -> float:
    """With failed scores of the category at their best and all others at their worst; 1 without limits."""
    if fillings.unbounded:
        return 1.0
    matrix = fillings.low.on(fillings.low.present[place])
    worst, best = (filled[place, fillings.low.present[place]] for filled in fillings.upward)
    members, sign = matrix.categories == category, matrix.sign
    cases = _by_case(matrix, members, sign * np.where(members, best, worst))
    return 1.0 if cases is None else _p(*cases, sign)
