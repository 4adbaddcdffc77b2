"""Gaps: whether candidates differ in profile between categories, before any category is talked about.

A candidate's profile is its value minus the mean of all candidates on the item, so that hard categories
are not taken for differences between candidates. Only where the test over all candidates and criteria of
the call shows that a profile differs (Holm) may its categories be read, and only where the failed scores
cannot decide it. Categories of fewer than ten cases are in no profile: one in which a candidate fails beside
its other cases is named by an exact test.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.stats import LEAST_GROUPS
from vivavoce.studies.bounded import NOTHING, reasons
from vivavoce.studies.comparing.estimators import mean_of
from vivavoce.studies.comparing.small_categories import (
    SmallCategory,
    failure_sentences,
    small_categories,
    with_holm,
)
from vivavoce.studies.intervals import too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_matrix import (
    Fillings,
    Floats,
    ScoreMatrix,
    grids_with_fillings,
    key_of,
    labels,
    left_out,
)
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import Study, columns
from vivavoce.studies.text import cases, count, depends_on


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
    set_low: float | None = None
    set_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    n_items: int
    n_groups: int
    f: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    differs: bool | None = None
    depends_on_failed: bool | None = None
    p_elsewhere: float | None = None
    fails: bool | None = None
    reason: str | None = None


COLUMNS = columns(GapsRow)


_Place = tuple[str, Measure, str, str]
"""Benchmark, measure, candidate and category."""


class _Profile(NamedTuple):
    """A candidate of a matrix, by its place, and the test of its profile, or why there is none.

    `p_filled` is the largest p over the fillings of failed scores; the test's own where none failed.
    """

    matrix: ScoreMatrix
    fillings: Fillings | None
    place: int
    test: stats.Wald | None
    reason: str | None
    p_filled: float = 1.0

    @property
    def p(self) -> float | None:
        return None if self.test is None else self.test.p

    @property
    def name(self) -> str:
        return self.matrix.candidates[self.place]


DIFFERS = NamingSentence(
    code="gaps.differs",
    templates=("Of {profiles} tested (Holm; {basis}), these differ between categories: {names}.",),
    names=("candidate", "metric"),
    family="all candidates and criteria of the call",
    correction="Holm",
    null="gaps",
)
FAILS = NamingSentence(
    code="gaps.fails",
    templates=(
        "{candidate} scores {figure} on {category}, against {rest} elsewhere ({test}, "
        "Holm-adjusted p = {p}).",
    ),
    names=("candidate", "category"),
    family="all small categories, candidates and criteria of the call",
    correction="Holm",
    null="small categories",
)


@study("gaps")
class Gaps(Study):
    """A row per candidate and category of every criterion: mean, interval, and the test of the profile.

    `f`, `p` and `p_adjusted` are of the candidate's profile over all categories and repeat in its rows;
    `differs` says whether its categories may be read. Where scores failed the test is made again with them at
    the limits: the candidate's at the one and all others' at the other, in all categories, in each by itself
    and in all but it. If these do not say the same as what was observed, `depends_on_failed` is true and
    `differs` null. `set_…` and `bound_…` are as in estimates. A category of fewer than 10 effective cases
    shows counts, no interval, and is not in the test.

    Of 3 to 9 cases it is tested against the candidate's cases elsewhere (10 or more), one-sided for worse:
    Fisher's exact test of yes/no scores, else the permutation test of `stats.subset_test`, one value a case,
    failed scores of the category at their best and others at their worst. `fails` says whether p is at most
    .05 by Holm over such tests of all categories, candidates and criteria of the call; `p_elsewhere` is that
    p where it is, else null.
    """

    about = (
        "Whether candidates differ in profile between categories; categories are compared only where "
        "such a difference was shown."
    )
    row = GapsRow
    sentences = (DIFFERS, FAILS)

    def findings(self, scores: ScoreTable) -> Finding:
        """The categories of every candidate, corrected together."""
        profiles: list[_Profile] = []
        tests: list[SmallCategory] = []
        for matrix, fillings in grids_with_fillings(scores.scores, scores.measures):
            profiles += _profiles(matrix.complete, fillings.complete if fillings else None)
            tests += small_categories(matrix, fillings)
        judged, tests = list(_judged(profiles)), with_holm(tests)
        by_place = {(t.benchmark, t.measure, t.candidate, t.category): t for t in tests}
        rows = [row for profile in judged for row in _rows(*profile, by_place)]
        short = labels(scores.measures)
        undecided = {
            f"{profile.name} on {short[key_of(profile.matrix.measure)]}": profile
            for profile, _, depends in judged
            if depends
        }
        n_tested = sum(p_adjusted is not None for _, p_adjusted, _ in judged)
        sampled = unweighted(scores.scores, "means by category are weighted; the test of profiles counts")
        failures = failure_sentences(tests, short)
        text = " ".join(
            (*failures, *_dependence(undecided), _sentences(rows, scores, n_tested, _bases(profiles)))
        )
        return self.finding(rows, text, (*left_out(scores), *sampled))


def _judged(profiles: Sequence[_Profile]) -> Iterator[tuple[_Profile, float | None, bool | None]]:
    """Each profile with Holm's p, and whether failed scores decide it; both null for one without a test."""
    tested = [profile for profile in profiles if profile.p is not None]
    adjusted = iter(stats.holm([profile.p or 0.0 for profile in tested]).tolist())
    filled = iter(stats.holm([profile.p_filled for profile in tested]).tolist())
    for profile in profiles:
        if profile.p is None:
            yield profile, None, None
        else:
            p_adjusted = next(adjusted)
            yield profile, p_adjusted, (p_adjusted <= stats.ALPHA) != (next(filled) <= stats.ALPHA)


def _dependence(undecided: Mapping[str, _Profile]) -> Iterator[str]:
    """The sentence on the profiles that failed scores decide, if there are any."""
    # Profiles of one criterion share its failed scores.
    fillings = {id(p.fillings): p.fillings for p in undecided.values() if p.fillings}
    if fillings:
        yield depends_on("profile", list(undecided), sum(sum(f.n_failed) for f in fillings.values()))


def _profiles(matrix: ScoreMatrix, fillings: Fillings | None) -> Iterator[_Profile]:
    """The profiles of all candidates of a criterion."""
    centred = matrix.values - matrix.values.mean(axis=0) if matrix.items else None
    # Few cases estimate badly how much the mean of their category errs.
    large = [c for c in _categories(matrix) if not too_few(matrix.groups[matrix.categories == c])]
    for place in range(len(matrix.candidates)):
        test, reason = _test(matrix, None if centred is None else centred[place], large)
        profile = _Profile(matrix, fillings, place, test, reason)
        if test is not None and test.p is not None:
            profile = profile._replace(p_filled=_filled_p(fillings, place, large) if fillings else test.p)
        yield profile


def _test(
    matrix: ScoreMatrix, profile: Floats | None, large: Sequence[str]
) -> tuple[stats.Wald | None, str | None]:
    """The test whether a profile differs between the large categories, or why there is none."""
    if len(matrix.candidates) < 2:
        return None, "one candidate has no profile against others"
    if profile is None or len(large) < 2:
        return None, f"fewer than two categories of {LEAST_GROUPS} effective cases: too few to tell"
    columns_of_large = np.isin(matrix.categories, large)
    test = stats.profile_test(
        profile[columns_of_large], matrix.categories[columns_of_large], matrix.groups[columns_of_large]
    )
    return test, None if test.p is not None else "no spread in any category"


def _filled_p(fillings: Fillings, place: int, large: Sequence[str]) -> float:
    """The largest p of a profile over the fillings; 1 where they do not lean one way, or nothing bounds them.

    A profile differs one way if failed scores are low in one category, and the other way if they are low in
    another, so categories are filled one by one too.
    """
    if fillings.unbounded:
        return 1.0
    members = np.isin(fillings.low.categories, large)
    low, high = fillings.low.values[:, members], fillings.high.values[:, members]
    kinds, groups = fillings.low.categories[members], fillings.low.groups[members]
    every = frozenset(large)
    parts = {frozenset[str](), every, *(frozenset({c}) for c in large), *(every - {c} for c in large)}
    p_values, leans = [], []
    for part in sorted(parts, key=sorted):
        lowered = np.isin(kinds, list(part))
        filled = np.where(lowered, high, low)
        filled[place] = np.where(lowered, low[place], high[place])
        profile = filled[place] - filled.mean(axis=0)
        test = stats.profile_test(profile, kinds, groups)
        p_values.append(1.0 if test.p is None else test.p)
        leans.append([profile[kinds == category].mean() for category in large])
    leaning = np.array(leans) - np.mean(leans, axis=1, keepdims=True)
    # Two fillings that lean alike have no filling between them without any lean.
    return max(p_values) if bool((leaning @ leaning.T > 0).all()) else 1.0


def _categories(matrix: ScoreMatrix) -> list[str]:
    return sorted(set(matrix.categories.tolist()) - {""})


def _rows(
    profile: _Profile, p_adjusted: float | None, depends: bool | None, tests: Mapping[_Place, SmallCategory]
) -> Iterator[GapsRow]:
    """The categories of a candidate; `tests` are those of small ones."""
    matrix = profile.matrix
    values = _values(profile)
    differs = None if p_adjusted is None or depends else p_adjusted <= stats.ALPHA
    why_open = _why_open(profile, depends)
    for category in _categories(matrix):
        of_category = values.filter(pl.col("category") == category)
        failed = profile.fillings is not None
        figures = mean_of(of_category, matrix.measure.criterion, failed=failed, why_none="")
        test = tests.get((matrix.benchmark, matrix.measure, profile.name, category))
        is_known = stats.enough_groups(figures.effective_cases or 0.0)
        few = f"{cases(figures.n_groups, figures.effective_cases)}: counts only"
        yield GapsRow(
            **matrix.place,
            candidate=profile.name,
            category=category,
            **(figures.filled if is_known else NOTHING).columns("mean"),
            n_items=figures.n_items,
            n_groups=figures.n_groups,
            f=profile.test.f if profile.test else None,
            p=profile.p,
            p_adjusted=p_adjusted,
            differs=differs,
            depends_on_failed=depends,
            **(test.columns if test else {}),
            reason=reasons(why_open, figures.reason) if is_known else few,
        )


def _why_open(profile: _Profile, depends: bool | None) -> str | None:
    """Why nothing is said of a profile, if nothing is."""
    if not depends or profile.fillings is None:
        return profile.reason
    return f"it depends on the {count(sum(profile.fillings.n_failed), 'score')} that failed"


def _values(profile: _Profile) -> pl.DataFrame:
    """The values of a candidate by item: as observed, and under both fillings."""
    matrix, place = profile.matrix, profile.place
    low, high = (profile.fillings.low, profile.fillings.high) if profile.fillings else (matrix, matrix)
    observed = dict(zip(matrix.items, matrix.values[place].tolist(), strict=True))
    columns = {
        "observed": [observed.get(item) for item in low.items],
        "low": low.values[place].tolist(),
        "high": high.values[place].tolist(),
        "group": low.groups.tolist(),
        "category": low.categories.tolist(),
    }
    if low.weights is not None:
        columns["weight"] = low.weights.tolist()
    schema = {"observed": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(columns, schema_overrides=schema, strict=False)


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
    basis = "; ".join(_basis(size, [short[key] for key in keys], bases) for size, keys in bases.items())
    if not n_tests:
        return "There is too little to tell whether any candidate's profile differs between categories" + (
            f" ({basis})." if basis else "."
        )
    many_benchmarks = len({benchmark for benchmark, *_ in bases}) > 1
    differing = []
    for row in rows:
        place = f" ({row.benchmark})" if many_benchmarks else ""
        profile = f"{row.candidate} on {names[row.metric, row.criterion, row.rater]}{place}"
        if row.differs and profile not in differing:
            differing.append(profile)
    if not differing:
        return (
            f"Of {count(n_tests, 'profile')} tested (Holm; {basis}), none was shown to differ between "
            "categories: intervals by category are no gaps."
        )
    profiles = "; ".join(differing)
    return (
        f"Of {count(n_tests, 'profile')} tested (Holm; {basis}), these differ between categories: {profiles}."
    )


def _basis(size: tuple[str, int, int], names: Sequence[str], bases: _Bases) -> str:
    """What tests rest on. Measures of different formats rest on different items: then each is named."""
    benchmark, n_items, n_groups = size
    subject = benchmark if len(bases) == 1 else f"{', '.join(names)} on {benchmark}"
    return f"{subject}: {count(n_items, 'question')} in {count(n_groups, 'case')}"
