"""Gaps: whether candidates differ in profile between categories, before any category is talked about.

A candidate's profile is its value minus the mean of all candidates on the item, so that hard categories
are not taken for differences between candidates. Only where the test over all candidates and criteria of
the call shows that a profile differs (Holm) may its categories be read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.intervals import enough, too_few
from vivavoce.studies.score_matrix import Floats, ScoreMatrix, grids, key_of, labels, left_out
from vivavoce.studies.score_table import LEAST_GROUPS, ScoreTable, unweighted
from vivavoce.studies.study import Study, columns
from vivavoce.studies.text import cases, count


@dataclass(frozen=True, slots=True, kw_only=True)
class GapsRow:
    """A candidate on one category of a criterion, with the test of its profile over all categories."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    candidate: str
    category: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n_items: int
    n_groups: int
    f: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    differs: bool | None = None
    reason: str | None = None


COLUMNS = columns(GapsRow)


class _Profile(NamedTuple):
    """A candidate of a matrix, by its place, and the test of its profile, or why there is none."""

    matrix: ScoreMatrix
    place: int
    test: stats.Wald | None
    reason: str | None

    @property
    def p(self) -> float | None:
        return None if self.test is None else self.test.p


@study("gaps")
class Gaps(Study):
    """A row per candidate and category of every criterion: mean, interval, and the test of the profile.

    `f`, `p` and `p_adjusted` are of the candidate's profile over all categories and repeat in its rows;
    `differs` says whether its categories may be read. A category of fewer than 10 groups shows counts, no
    interval, and is not in the test.
    """

    about = (
        "Whether candidates differ in profile between categories; categories are compared only where "
        "such a difference was shown."
    )
    row = GapsRow

    def findings(self, scores: ScoreTable) -> Finding:
        """The categories of every candidate, corrected together."""
        profiles = [p for matrix in grids(scores.scores, scores.measures) for p in _profiles(matrix.complete)]
        tested = [profile.p for profile in profiles if profile.p is not None]
        adjusted = iter(stats.holm(tested).tolist())
        rows: list[GapsRow] = []
        for profile in profiles:
            rows.extend(_rows(profile, None if profile.p is None else next(adjusted)))
        sampled = unweighted(scores.scores, "means by category are weighted; the test of profiles counts")
        text = _sentences(rows, scores, len(tested), _bases(profiles))
        return self.finding(rows, text, (*left_out(scores), *sampled))


def _profiles(matrix: ScoreMatrix) -> Iterator[_Profile]:
    """The profiles of all candidates of a criterion."""
    centred = matrix.values - matrix.values.mean(axis=0) if matrix.items else None
    for place in range(len(matrix.candidates)):
        yield _Profile(matrix, place, *_test(matrix, None if centred is None else centred[place]))


def _test(matrix: ScoreMatrix, profile: Floats | None) -> tuple[stats.Wald | None, str | None]:
    """The test whether a profile differs between categories, or why there is none."""
    if len(matrix.candidates) < 2:
        return None, "one candidate has no profile against others"
    # The test inverts the categories' covariance, which few cases estimate badly.
    large = [c for c in _categories(matrix) if not too_few(matrix.groups[matrix.categories == c])]
    if profile is None or len(large) < 2:
        return None, f"fewer than two categories of {LEAST_GROUPS} effective cases: too few to tell"
    columns_of_large = np.isin(matrix.categories, large)
    test = stats.category_test(
        profile[columns_of_large], matrix.categories[columns_of_large], matrix.groups[columns_of_large]
    )
    return test, None if test.p is not None else "no spread in a category"


def _categories(matrix: ScoreMatrix) -> list[str]:
    return sorted(set(matrix.categories.tolist()) - {""})


def _rows(profile: _Profile, p_adjusted: float | None) -> Iterator[GapsRow]:
    """The categories of a candidate."""
    matrix, criterion = profile.matrix, profile.matrix.measure.criterion
    for category in _categories(matrix):
        members = matrix.categories == category
        estimate = stats.estimate_mean(
            matrix.values[profile.place, members],
            matrix.groups[members],
            weights=None if matrix.weights is None else matrix.weights[members],
            low=criterion.low,
            high=criterion.high,
        )
        few = not enough(estimate.effective_groups)
        size = cases(estimate.n_groups, estimate.effective_groups)
        reason = f"{size}: counts only" if few else profile.reason
        yield GapsRow(
            **matrix.place,
            candidate=matrix.candidates[profile.place],
            category=category,
            mean=None if few else estimate.value,
            low=None if few else estimate.low,
            high=None if few else estimate.high,
            n_items=estimate.n,
            n_groups=estimate.n_groups,
            f=profile.test.f if profile.test else None,
            p=profile.p,
            p_adjusted=p_adjusted,
            differs=None if p_adjusted is None else bool(p_adjusted <= stats.ALPHA),
            reason=reason,
        )


_Bases = Mapping[tuple[str, int, int], Iterable[tuple[str, str, str]]]


def _bases(profiles: Sequence[_Profile]) -> _Bases:
    """By benchmark, number of items and of groups the measures, by `key_of`, whose tests rest on these."""
    bases: dict[tuple[str, int, int], dict[tuple[str, str, str], None]] = {}
    for profile in profiles:
        matrix = profile.matrix
        size = matrix.benchmark, len(matrix.items), len(set(matrix.groups.tolist()))
        bases.setdefault(size, {})[key_of(matrix.measure)] = None
    return bases


def _sentences(rows: Sequence[GapsRow], scores: ScoreTable, n_tests: int, bases: _Bases) -> str:
    short = labels(scores.measures)
    names = {(m.metric, m.criterion.criterion, m.rater): short[key_of(m)] for m in scores.measures.values()}
    on = "; ".join(_basis(size, [short[key] for key in keys], bases) for size, keys in bases.items())
    if not n_tests:
        return "There is too little to tell whether any candidate's profile differs between categories" + (
            f" ({on})." if on else "."
        )
    several = len({benchmark for benchmark, *_ in bases}) > 1
    differing = []
    for row in rows:
        where = f" ({row.benchmark})" if several else ""
        profile = f"{row.candidate} on {names[row.metric, row.criterion, row.rater]}{where}"
        if row.differs and profile not in differing:
            differing.append(profile)
    if not differing:
        return (
            f"Of {count(n_tests, 'profile')} tested (Holm; {on}), none was shown to differ between "
            "categories: intervals by category are no gaps."
        )
    profiles = "; ".join(differing)
    return f"Of {count(n_tests, 'profile')} tested (Holm; {on}), these differ between categories: {profiles}."


def _basis(size: tuple[str, int, int], names: Sequence[str], bases: _Bases) -> str:
    """What tests rest on. Measures of different formats rest on different items: then each is named."""
    benchmark, n_items, n_groups = size
    what = benchmark if len(bases) == 1 else f"{', '.join(names)} on {benchmark}"
    return f"{what}: {count(n_items, 'question')} in {count(n_groups, 'case')}"
