"""Forms: the same questions put otherwise, closed and open or in two languages, paired by case.

Two benchmarks are forms of one where they share cases, as CareQA's closed, open and Spanish questions do. A
case counts by the mean of its questions in each form. Means are compared only where one criterion scores both
forms; of an accuracy and a text metric the study says how far they go together, and no difference.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.bounded import Bounded, interval_text
from vivavoce.studies.intervals import FLIPPED, by_coefficient, by_holm, too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_matrix import Floats, ScoreMatrix, grids, key_of, left_out, row_labels
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import and_so, count

FEWEST_IN_ORDER = 3
"""Candidates of which an order is compared: two agree by chance half of the time."""
FAILED = "scores failed on shared cases: score them again before deciding"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormsRow(MeasureRow):
    """A candidate in two forms, or with an empty candidate the order of all in both."""

    benchmark_2: str
    metric_2: str
    criterion_2: str
    rater_2: str
    candidate: str
    n_candidates: int | None = None
    n_items: int = 0
    n_items_2: int = 0
    n_groups: int = 0
    n_failed: int = 0
    mean: float | None = None
    mean_2: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    test: str | None = None
    n_different: int | None = None
    association: float | None = None
    association_low: float | None = None
    association_high: float | None = None
    order_tau: float | None = None
    reason: str | None = None


SHOWN = NamingSentence(
    code="forms.shown",
    templates=(
        "{measure} on {benchmarks}: {candidate} {means} on {n} shared cases, a difference of "
        "{difference}, which is shown (p {p} by Holm over {tests}){rho}.",
    ),
    names=("candidate", "metric"),
    family="all candidates, pairs of benchmarks and criteria of the call",
    correction="Holm",
    null="forms",
)
ASSOCIATION = NamingSentence(
    code="forms.association",
    templates=(
        "{measure} on {benchmarks}: {candidate} {means} shared cases{difference}; Spearman's rho over "
        "cases {rho}.",
    ),
    names=("candidate", "metric"),
    counts="a coefficient with its interval",
)


@study("forms")
class Forms(Study):
    """The same questions in two forms."""

    about = "Whether candidates do as well when a question is put otherwise: open, or in another language."
    row = FormsRow
    sentences = (SHOWN, ASSOCIATION)
    special = True

    def applies_to(self, scores: ScoreTable) -> bool:
        """Whether two benchmarks share a case."""
        shared = scores.scores.group_by("group").agg(n=pl.col("benchmark").n_unique())
        return bool((shared["n"] > 1).any())

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per two forms and candidate, and one with an empty candidate for the order of all.

        Means, `difference` (the first form's less the second's) and its t interval are over the cases with
        scores in both forms, each case by the mean of its questions; null differences are between criteria
        that are not one. `p_adjusted` is by Holm over all differences of the call. `association` is
        Spearman's rho over cases, higher being better on both sides, by jackknife over cases. `order_tau` is
        Kendall's tau-b of the candidates' means. Fewer than 10 cases have a reason; so have failed scores,
        with which there is no test.
        """
        matrices = list(grids(scores.scores, scores.measures))
        matrices.sort(key=lambda matrix: (matrix.benchmark, key_of(matrix.measure)))
        failed = _failed(scores)
        rows = list[FormsRow]()
        for pair in _pairs(matrices):
            of_pair = [pair.row(name, failed) for name in pair.candidates]
            rows += [*of_pair, pair.order(of_pair)]
        rows = by_holm(rows)
        notes = (*left_out(scores), *unweighted(scores.scores, "forms count"))
        text = "\n".join(_sentences(rows, scores))
        return self.finding(rows, text or "No two benchmarks of this run share a case.", notes)


class _Pair(NamedTuple):
    """Two forms by one measure each, of which some cases have scores in both."""

    first: ScoreMatrix
    second: ScoreMatrix

    @property
    def candidates(self) -> list[str]:
        """Those with scores in both forms."""
        return [name for name in self.first.candidates if name in self.second.candidates]

    @property
    def is_one_measure(self) -> bool:
        """Whether one criterion scores both forms, so that a difference is one of the candidate."""
        return _name(self.first.measure) == _name(self.second.measure)

    def row(self, candidate: str, failed: Mapping[tuple[Any, ...], int]) -> FormsRow:
        """The candidate in both forms."""
        (cases, values, n), (cases_2, values_2, n_2) = (_by_case(m, candidate) for m in self)
        # One value for each case: of unequal numbers of questions none would weigh more in one form.
        shared, at, at_2 = np.intersect1d(cases, cases_2, return_indices=True)
        a, b = values[at], values_2[at_2]
        figures: dict[str, Any] = {
            "n_items": int(n[at].sum()),
            "n_items_2": int(n_2[at_2].sum()),
            "n_groups": len(shared),
            "n_failed": sum(failed.get((m.benchmark, *key_of(m.measure), candidate), 0) for m in self),
        }
        if not len(shared):
            return self._row(candidate, **figures, reason="no case has scores in both forms")
        figures |= {"mean": stats.exact_mean(a), "mean_2": stats.exact_mean(b)}
        if few := too_few(shared):
            return self._row(candidate, **figures, reason=few)
        # Higher is better on both sides, so that an error and an accuracy are not taken for opposites.
        rho = by_coefficient("spearman", np.column_stack([self.first.sign * a, self.second.sign * b]), shared)
        figures |= {"association": rho.value, "association_low": rho.low, "association_high": rho.high}
        figures["reason"] = rho.reason
        if self.is_one_measure:
            figures |= _difference_columns(a - b, shared, is_tested=not figures["n_failed"])
        return self._row(candidate, **figures)

    def order(self, rows: Sequence[FormsRow]) -> FormsRow:
        """Whether both forms order the candidates alike."""
        means = [
            (row.mean * self.first.sign, row.mean_2 * self.second.sign)
            for row in rows
            if row.mean is not None and row.mean_2 is not None
        ]
        n = len(means)
        if n < FEWEST_IN_ORDER:
            reason = f"{count(n, 'candidate')}: too few for an order"
            return self._row("", n_candidates=n, reason=reason)
        # Without an interval: candidates are no sample of candidates.
        tau = stats.kendall(*map(np.array, zip(*means, strict=True)))
        flat = "all means are equal" if tau is None else None
        return self._row("", n_candidates=n, order_tau=tau, reason=flat)

    def _row(self, candidate: str, **columns: Any) -> FormsRow:
        second = {f"{name}_2": value for name, value in measure_columns(self.second.measure).items()}
        return FormsRow(
            benchmark=self.first.benchmark,
            **measure_columns(self.first.measure),
            benchmark_2=self.second.benchmark,
            **second,
            candidate=candidate,
            **columns,
        )


def _difference_columns(differences: Floats, cases: Any, *, is_tested: bool) -> dict[str, Any]:
    """The columns of the paired difference and its test; with failed scores no test."""
    paired = stats.paired(differences, cases)
    figures: dict[str, Any] = {"difference": paired.difference, "n_different": paired.n_different}
    if not is_tested:
        return figures | {"reason": FAILED}
    ends = Bounded.from_ends(None, paired.interval())
    flipped = {"reason": FLIPPED} if ends.low is None and paired.se else {}
    return figures | ends.ends() | {"p": paired.p, "test": paired.test} | flipped


def _pairs(matrices: Sequence[ScoreMatrix]) -> Iterator[_Pair]:
    """The matrices of two benchmarks that share cases: by one measure, or by two that have none in common."""
    measured = {(_name(m.measure), m.benchmark) for m in matrices}
    for first, second in combinations(matrices, 2):
        if first.benchmark == second.benchmark or not np.isin(first.groups, second.groups).any():
            continue
        names = _name(first.measure), _name(second.measure)
        # What is scored alike in both forms is compared with itself, not with every other measure.
        crossed = (names[0], second.benchmark) in measured or (names[1], first.benchmark) in measured
        if names[0] == names[1] or not crossed:
            yield _Pair(first, second)


def _name(measure: Measure) -> tuple[Any, ...]:
    """What makes two measures of two benchmarks one; a signature may hold what is of one benchmark alone."""
    return measure.metric, measure.rater, measure.criterion


def _by_case(matrix: ScoreMatrix, candidate: str) -> tuple[Any, Floats, Any]:
    """The cases that a candidate has scores on, the mean of each, and how many questions that is."""
    k = matrix.candidates.index(candidate)
    present = matrix.present[k]
    cases, at = np.unique(matrix.groups[present], return_inverse=True)
    n = np.bincount(at)
    return cases, np.bincount(at, weights=matrix.values[k, present]) / n, n


def _failed(scores: ScoreTable) -> Counter[tuple[Any, ...]]:
    """How many scores failed on cases of several benchmarks, by benchmark, measure and candidate."""
    # What failed on a case of one benchmark alone has no part in any pair.
    rows = scores.scores.filter(pl.col("benchmark").n_unique().over("group") > 1)
    rows = rows.filter((pl.col("status") == "failed") & (pl.col("edit") == ""))
    return Counter(
        (benchmark, *key_of(scores.measures[key]), candidate)
        for benchmark, key, candidate in rows.select("benchmark", "measure_id", "candidate").iter_rows()
    )


def _sentences(rows: Sequence[FormsRow], scores: ScoreTable) -> Iterator[str]:
    names = row_labels(scores.measures)
    n_tests = sum(row.p is not None for row in rows)
    yield from _lacking_texts([row for row in rows if _has_no_figure(row)], names)
    for row in rows:
        if _has_no_figure(row):
            continue
        first = names[row.metric, row.criterion, row.rater]
        second = names[row.metric_2, row.criterion_2, row.rater_2]
        with_second = "" if first == second else f"{second} on "
        subject = f"{first} on {row.benchmark} and {with_second}{row.benchmark_2}"
        if row.candidate:
            yield f"{subject}: {row.candidate} {_figures_text(row, n_tests)}"
        elif row.order_tau is not None:
            tau = printed(row.order_tau)
            yield f"{subject} order {row.n_candidates} candidates with Kendall's tau {tau}."


def _has_no_figure(row: FormsRow) -> bool:
    return bool(row.candidate) and row.association is None and row.difference is None


def _lacking_texts(rows: Sequence[FormsRow], names: Mapping[Any, str]) -> Iterator[str]:
    """Why candidates have no figure, a line for each two benchmarks and reason."""
    # Every pair of measures may lack the same: it is said once.
    lacking: dict[tuple[str, str, str], list[FormsRow]] = {}
    for row in rows:
        lacking.setdefault((row.benchmark, row.benchmark_2, str(row.reason)), []).append(row)
    for (first, second, reason), alike in lacking.items():
        pairs = {
            (names[r.metric, r.criterion, r.rater], names[r.metric_2, r.criterion_2, r.rater_2])
            for r in alike
        }
        measures_text = (
            and_so(dict.fromkeys(*pairs)) if len(pairs) == 1 else f"{count(len(pairs), 'pair')} of measures"
        )
        candidates = list({r.candidate: None for r in alike})
        candidates_text = candidates[0] if len(candidates) == 1 else count(len(candidates), "candidate")
        yield f"{measures_text} on {first} and {second}: no figure of {candidates_text}: {reason}."


def _figures_text(row: FormsRow, n_tests: int) -> str:
    """The means, their difference and how far the forms go together, over so many shared cases."""
    means = f"{printed(row.mean, '.3f')} and {printed(row.mean_2, '.3f')}"
    text = f"{means} on {count(row.n_groups, 'shared case')}"
    if row.difference is not None:
        text += f", a difference of {printed(row.difference, '+.3f')}{interval_text(row, '+.3f')}"
        if row.p_adjusted is None:
            return f"{text}; {row.reason}."
        verdict = "shown" if row.p_adjusted <= 0.05 else "not shown"
        text += f", which is {verdict} (p {row.p_adjusted:.3g} by Holm over {count(n_tests, 'test')})"
    if row.association is not None:
        ends = interval_text(Bounded(None, row.association_low, row.association_high))
        text += f"; Spearman's rho over cases {printed(row.association)}{ends}"
    return f"{text}."
