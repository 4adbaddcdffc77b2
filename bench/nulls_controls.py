"""Nulls of `controls`, `calibration` and `forms`: examiners at the line, honest confidence, equal forms."""

from collections.abc import Callable

import numpy as np
import polars as pl
from scipy.stats import beta, ttest_1samp

from false_alarms import Maker, Null, Rng
from nulls_comparing import GRADES, YES_NO, candidate_table, yes_no
from nulls_people import bonferroni
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.score_table import ScoreTable

MARGIN = 0.25
LOWER, NO_HIGHER = ("noise", "empty"), ("padded", "confident", "praise")
KEYED = Measure(
    metric="keyed", signature="keyed()@1", criterion=Criterion(criterion="keyed", low=0.0, high=1.0)
)
CONFIDENCE = Measure(
    metric="confidence",
    signature="confidence()@1",
    criterion=Criterion(criterion="confidence", low=0.0, high=1.0),
)


def controls(n: int, *, honest: bool) -> Maker:
    """An examiner of two candidates and controls of five kinds.

    Every kind is at its line between fooled and not; of an `honest` one controls score as they should.
    Planted: it falls for praise, and is honest otherwise.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        real = np.clip(3 + 0.5 * rng.standard_normal(n) + 0.5 * rng.standard_normal((2, n)), 0, 5)
        tables = [candidate_table(real, measure=GRADES).scores]
        for kind in (*LOWER, *NO_HIGHER):
            drop = MARGIN if kind in LOWER else -MARGIN
            if planted or honest:
                drop = 1.0 if kind in LOWER else -1.0 if planted and kind == "praise" else 0.0
            values = np.clip(real - drop + 0.6 * rng.standard_normal((2, n)), 0, 5)
            edit = pl.lit(f"control:{kind}")
            tables.append(candidate_table(values, measure=GRADES).scores.with_columns(edit=edit))
        return ScoreTable(pl.concat(tables), {1: GRADES})

    return make


def verdicts(verdict: str) -> Callable[[Finding], bool]:
    """Whether an examiner has this verdict on a kind of control."""

    def named(finding: Finding) -> bool:
        return any(row["verdict"] == verdict and row["control"] != "all" for row in finding.rows)

    return named


def plain_controls(table: ScoreTable) -> bool:
    """T of each kind's gain over the real text against the margin, Bonferroni."""
    by_edit = {
        str(edit): part["value"].to_numpy()
        for (edit,), part in table.scores.group_by("edit", maintain_order=True)
    }
    real, n = by_edit.pop(""), table.scores["item"].n_unique()
    p = []
    for edit, values in by_edit.items():
        line = MARGIN if edit.removeprefix("control:") in LOWER else -MARGIN
        gains = (real - values).reshape(2, n).mean(axis=0)
        test = ttest_1samp(gains, line)
        p.append(test.pvalue if test.statistic < 0 else 1.0)
    return bonferroni(p)


def sure(n_candidates: int, n: int) -> Maker:
    """Candidates whose confidence is the chance of being right; planted: the first is surer than that."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        chance = rng.beta(5, 2, (n_candidates, n))
        right = (rng.random(chance.shape) < chance).astype(float)
        stated = chance.copy()
        if planted:
            stated[0] = np.clip(stated[0] + 0.15, 0, 1)
        second = candidate_table(np.round(stated, 2)).scores.with_columns(measure_id=pl.lit(2, pl.Int64))
        scores = candidate_table(right).scores
        return ScoreTable(pl.concat([scores, second]), {1: KEYED, 2: CONFIDENCE})

    return make


def plain_sure(table: ScoreTable) -> bool:
    """T of each candidate's confidence less being right, Bonferroni."""
    right, stated = (
        part["value"].to_numpy() for part in table.scores.partition_by("measure_id", maintain_order=True)
    )
    gaps = (stated - right).reshape(table.scores["candidate"].n_unique(), -1)
    return bonferroni(ttest_1samp(gap, 0.0).pvalue for gap in gaps)


def unsure(n: int) -> Maker:
    """A candidate that is wrong in 10 % whatever its confidence: no threshold keeps errors below that.

    Planted: in 1 %.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        right = (rng.random((1, n)) >= (0.01 if planted else 0.1)).astype(float)
        stated = np.round(rng.uniform(0.3, 1, (1, n)), 1)
        second = candidate_table(stated).scores.with_columns(measure_id=pl.lit(2, pl.Int64))
        return ScoreTable(pl.concat([candidate_table(right).scores, second]), {1: KEYED, 2: CONFIDENCE})

    return make


def plain_unsure(table: ScoreTable) -> bool:
    """Clopper and Pearson's upper limit of the share wrong, one-sided at 95 %."""
    right = table.scores.filter(measure_id=1)["value"].to_numpy()
    n_wrong = int((1 - right).sum())
    return bool(beta.ppf(0.95, n_wrong + 1, len(right) - n_wrong) < 0.1)


def two_forms(n_candidates: int, n: int, chance: float) -> Maker:
    """The same cases as two benchmarks; planted: the first candidate loses a quarter of the second one."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        z = yes_no(chance)(rng, (2 * n_candidates, n))
        if planted:
            z[n_candidates, rng.random(n) < 0.25] = 0.0
        parts = (z[:n_candidates], z[n_candidates:])
        tables = [
            candidate_table(values, measure=YES_NO).scores.with_columns(benchmark=pl.lit(name))
            for name, values in zip(("open", "closed"), parts, strict=True)
        ]
        return ScoreTable(pl.concat(tables), {1: YES_NO})

    return make


def plain_forms(table: ScoreTable) -> bool:
    """Paired t of each candidate's two forms, Bonferroni."""
    first, second = (
        part["value"].to_numpy().reshape(table.scores["candidate"].n_unique(), -1)
        for part in table.scores.partition_by("benchmark", maintain_order=True)
    )
    return bonferroni(ttest_1samp(d, 0.0).pvalue for d in first - second)


NULLS = {
    "controls": Null(
        f"controls(margin={MARGIN})",
        {
            "5 kinds at the line, 60 items": controls(60, honest=False),
            "5 kinds at the line, 20 items": controls(20, honest=False),
        },
        plain=plain_controls,
        named={"controls.fooled": verdicts("fooled"), "controls.not_fooled": verdicts("not_fooled")},
    ),
    "confidence": Null(
        "calibration",
        {
            "4 candidates, 60 items, confidence as right": sure(4, 60),
            "1 candidate, 200 items, confidence as right": sure(1, 200),
        },
        plain=plain_sure,
        share=0.5,
    ),
    "threshold": Null(
        "calibration",
        {
            "200 items, 10 % wrong whatever the confidence": unsure(200),
            "60 items, 10 % wrong whatever the confidence": unsure(60),
        },
        plain=plain_unsure,
        share=0.7,
    ),
    "forms": Null(
        "forms",
        {
            "4 candidates, 60 cases in two forms, yes/no .7": two_forms(4, 60, 0.7),
            "4 candidates, 20 cases in two forms, yes/no .9": two_forms(4, 20, 0.9),
        },
        plain=plain_forms,
    ),
}
