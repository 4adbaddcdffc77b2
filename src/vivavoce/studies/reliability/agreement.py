"""Agreement: would the same response get the same score again, from the same rater or from another?

Three contrasts, each with its own rows: `passes` of one rater over the same response; `identical text`,
repeats that are word for word the same and so are passes in all but name, of scores that were recorded (a
judge that is asked here scores equal texts once); `raters`, several raters on one criterion. The unit is
the response (or the repeated text; of responses set side by side, the response on one ballot: what stood
beside it is no noise), the interval comes from leaving out one case at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.core.specs import signed
from vivavoce.studies.bounded import Bounded, figure_text
from vivavoce.studies.intervals import Bools, Floats, by_coefficient, counts_text
from vivavoce.studies.rater_scores import is_rated
from vivavoce.studies.row_parts import by_benchmark, select_rows
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import ScoreTable, by_answer, unweighted, with_group_codes
from vivavoce.studies.study import MeasureRow, Study

_OK = (pl.col("edit") == "") & (pl.col("status") == "ok")
AGREEMENT_COEFFICIENTS: tuple[stats.AgreementCoefficient, ...] = (
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "icc_a1", "percent"),
)
SCORED_AGAIN = ("item", "variant", "candidate", "repeat", "ballot")
"""What is scored again: a response, or where responses stood side by side, its place on one ballot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow(MeasureRow):
    """One coefficient of one contrast."""

    contrast: str
    candidate: str
    coefficient: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_units: int
    n_groups: int
    n_raters: int
    n_ratings: int
    n_dropped: int
    n_changed: int
    reason: str | None = None


class RatingTable(NamedTuple):
    """Units by raters (or passes, or repeats), with what is missing; of one group each unit."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    contrast: str
    candidate: str
    values: Floats
    missing: Bools
    groups: np.ndarray[Any, Any]


@study("agreement")
class Agreement(Study):
    """Agreement of scores given again, by the same rater or another."""

    about = "Whether the same answer gets the same score again, from the same rater or from another."
    row = AgreementRow

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per contrast and coefficient.

        These are Krippendorff's alpha (nominal, ordinal, interval), AC1, ICC(A,1) and percent agreement.
        Scores that are not ok are missing ratings; units with fewer than two are dropped and counted.
        `n_changed` units did not get the same score from all. A coefficient is null where the scores do not
        vary: undefined, not perfect.
        """
        single, notes = by_answer(scores.measures)
        scores = scores._replace(measures=single)
        tables = (*retests(scores), *_rater_tables(scores.scores, scores.measures))
        rows = [row for table in tables for row in agreement_rows(table)]
        text = "\n".join(_sentences(rows, row_labels(scores.measures))) or (
            "There is nothing to compare: no second pass, no second examiner, and no judged text that was "
            "answered twice; scores that are computed do not vary."
        )
        return self.finding(rows, text, (*notes, *unweighted(scores.scores, "agreement counts")))


def retests(scores: ScoreTable) -> Iterator[RatingTable]:
    """By measure and benchmark its ok scores of the same response, and of a candidate's same text."""
    for key, measure in scores.measures.items():
        of_measure = _OK & (pl.col("measure_id") == key)
        # A rule gives the same text the same score, and a judge asked here scores it once for all that
        # share it: there is nothing to learn from either.
        by_text = is_rated(measure) and signed(measure.signature).recorded
        passes = scores.scores.lazy().filter(of_measure).select(pl.col("pass_no").n_unique())
        if passes.collect().item() < 2 and not by_text:
            continue  # before any row is copied: of most measures every response has one score
        for benchmark, part in by_benchmark(select_rows(scores.scores, of_measure)):
            place = (benchmark, measure.metric, measure.criterion.criterion, measure.rater)
            if part["pass_no"].n_unique() > 1:
                yield _rating_table(*place, "passes", "", part, SCORED_AGAIN, "pass_no")
            if by_text:
                for candidate, texts in _identical_texts(part, scores.identical):
                    yield _rating_table(
                        *place, "identical text", candidate, texts, ("item", "variant"), "repeat"
                    )


def _identical_texts(rows: pl.DataFrame, identical: frozenset[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The first pass over each candidate whose repeats are one text, if it has several."""
    # On a ballot the same text stands beside others each time.
    alone = rows.filter(pl.col("ballot") == "")
    first_pass = alone.filter(pl.col("pass_no") == pl.col("pass_no").min())
    for (candidate,), part in first_pass.group_by("candidate", maintain_order=True):
        if candidate in identical and part["repeat"].n_unique() > 1:
            yield str(candidate), part


def _rater_tables(scores: pl.DataFrame, measures: Mapping[int, Measure]) -> Iterator[RatingTable]:
    """Several raters on the criterion of one kind of measure."""
    families: dict[tuple[str, str], list[int]] = {}
    for key, m in measures.items():
        if m.rater:
            spec = signed(m.signature).spec
            # Judges that differ in the model alone are raters of one criterion.
            kind = ", ".join(f"{k}={v}" for k, v in spec.settings.items() if k != "model")
            families.setdefault((f"{spec.name}({kind})", m.criterion.criterion), []).append(key)
    for (family, criterion), keys in families.items():
        if len({measures[key].rater for key in keys}) < 2:
            continue
        # The first pass only: means over passes have less noise than the single scores of other raters.
        first_pass = _OK & pl.col("measure_id").is_in(keys) & (pl.col("pass_no") == 1)
        for benchmark, part in by_benchmark(select_rows(scores, first_pass)):
            place = (benchmark, family, criterion, "", "raters", "")
            yield _rating_table(*place, part, SCORED_AGAIN, "rater")


def _rating_table(
    benchmark: str,
    metric: str,
    criterion: str,
    rater: str,
    contrast: str,
    candidate: str,
    rows: pl.DataFrame,
    unit: Sequence[str],
    across: str,
) -> RatingTable:
    wide = rows.pivot(on=across, index=[*unit, "group"], values="value", aggregate_function="mean").sort(unit)
    ratings = wide.drop([*unit, "group"])
    return RatingTable(
        *(benchmark, metric, criterion, rater, contrast, candidate),
        values=ratings.fill_null(0.0).to_numpy().astype(np.float64),
        missing=ratings.select(pl.all().is_null()).to_numpy(),
        groups=with_group_codes(wide)["group"].to_numpy(),
    )


def agreement_rows(table: RatingTable) -> Iterator[AgreementRow]:
    """Every coefficient of a table, with its jackknife interval by group."""
    # A unit with one rating can agree with nothing, so it is dropped once, for all coefficients.
    rated = (~table.missing).sum(axis=1) > 1
    values, missing, groups = table.values[rated], table.missing[rated], table.groups[rated]
    high = np.where(missing, -np.inf, values).max(axis=1, initial=-np.inf)
    low = np.where(missing, np.inf, values).min(axis=1, initial=np.inf)
    for name in AGREEMENT_COEFFICIENTS:
        estimate = by_coefficient(name, values, groups, missing)
        yield AgreementRow(
            benchmark=table.benchmark,
            metric=table.metric,
            criterion=table.criterion,
            rater=table.rater,
            contrast=table.contrast,
            candidate=table.candidate,
            coefficient=name,
            **Bounded.from_figure(estimate).columns(),
            n_units=int(rated.sum()),
            n_groups=len(set(groups.tolist())),
            n_raters=table.values.shape[1],
            n_ratings=int((~missing).sum()),
            n_dropped=int((~rated).sum()),
            n_changed=int((high - low > 1e-9).sum()),
            reason=estimate.reason,
        )


def _sentences(rows: Sequence[AgreementRow], names: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    for row in rows:
        if row.coefficient != "alpha_ordinal":
            continue
        candidate = f", {row.candidate}" if row.candidate else ""
        name = names.get((row.metric, row.criterion, row.rater)) or measure_name(row.metric, row.criterion)
        subject = f"{name} ({row.contrast}{candidate}) on {row.benchmark}"
        if row.value is None:
            yield f"{subject}: {row.reason}."
            continue
        note = f" {row.reason[0].upper()}{row.reason[1:]}." if row.reason else ""
        yield (
            f"{subject}: alpha (ordinal) {figure_text(row)}; {row.n_changed} of "
            f"{counts_text(row, 'unit')} were not scored alike.{note}"
        )
