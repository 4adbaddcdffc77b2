"""Nulls of `size`, `overall`, `axes` and of judges that say yes or no: candidates of one ability."""

import json
from itertools import combinations, pairwise

import numpy as np
import polars as pl
from scipy.stats import fisher_exact, ttest_rel

from false_alarms import Maker, Null, Rng
from nulls_comparing import GRADES, YES_NO, Draw, candidate_table, grades, yes_no
from nulls_people import bonferroni
from vivavoce.core.records import Criterion, Finding, Measure, ModelCard
from vivavoce.studies.comparing.overall_columns import SEVEN
from vivavoce.studies.score_table import ScoreTable

SCORE = Measure(
    metric="cliniqlink",
    signature="cliniqlink()@1",
    criterion=Criterion(criterion="score", low=0.0, high=1.0),
)
RIGHT = Criterion(criterion="right", low=0.0, high=1.0)
JUDGE = Measure(metric="judge", signature="judge(model=j1,rubric=r)@1", criterion=RIGHT)
PERSON = Measure(metric="rating", signature="rating(rubric=r)@recorded", criterion=RIGHT, rater="ann")
SIZES = (1.0, 3.0, 8.0, 24.0, 70.0)


def models(n: int, draw: Draw, measure: Measure, *, spread: float = 0.0) -> Maker:
    """Five sizes of one family; their abilities differ by chance where there is a `spread`.

    Planted: the larger the better, of yes or no the smallest loses.
    """
    cards = {f"c{k}": ModelCard(name=f"c{k}", family="one", parameters=size) for k, size in enumerate(SIZES)}

    def make(rng: Rng, planted: bool) -> ScoreTable:
        values = draw(rng, (5, n)) + spread * rng.standard_normal((5, 1))
        if planted and measure is GRADES:
            values = values - 0.5 * np.arange(4, -1, -1)[:, None]
        elif planted:
            values[0, rng.random(n) < 0.3] = 0.0
        limits = measure.criterion
        values = np.clip(values, limits.low or 0.0, limits.high or 1.0)
        return candidate_table(values, measure=measure)._replace(cards=cards)

    return make


def slopes(finding: Finding) -> bool:
    """Whether the interval of a slope leaves out 0."""
    ends = [(row["low"], row["high"]) for row in finding.rows if row["contrast"] == "slope"]
    return any(low is not None and high is not None and low * high > 0 for low, high in ends)


def neighbours(table: ScoreTable) -> bool:
    """Paired t of neighbouring sizes, Bonferroni."""
    values = table.scores["value"].to_numpy().reshape(5, -1)
    return bonferroni(ttest_rel(a, b).pvalue for a, b in pairwise(values))


def seven(n_candidates: int, each: int) -> Maker:
    """Seven formats with so many questions each; planted: the last candidate loses a quarter of all."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        values = yes_no(0.7)(rng, (n_candidates, 7 * each))
        if planted:
            values[-1, rng.random(7 * each) < 0.25] = 0.0
        formats = np.tile(np.repeat(list(SEVEN), each), n_candidates)
        table = candidate_table(values, measure=SCORE)
        return table._replace(
            scores=table.scores.with_columns(
                format=pl.Series(formats), note=pl.lit(""), parts=pl.lit(None, pl.String)
            )
        )

    return make


def pairs_apart(finding: Finding) -> bool:
    """Whether a pair of candidates is told apart."""
    return any(row["n_shown"] for row in finding.rows)


def plain_pairs(table: ScoreTable) -> bool:
    """Paired t of every two candidates, Bonferroni."""
    values = table.scores["value"].to_numpy().reshape(table.scores["candidate"].n_unique(), -1)
    return bonferroni(ttest_rel(a, b).pvalue for a, b in combinations(values, 2))


def axes(n_candidates: int, n_axes: int, n: int) -> Maker:
    """A point met or not on each axis of a conversation; planted: the first candidate misses more on one."""
    names = [f"axis {k}" for k in range(n_axes)]
    meta = json.dumps({"axes": {f"p{k}": name for k, name in enumerate(names)}})
    rubric = json.dumps([{"unit": f"p{k}", "weight": 1.0} for k in range(n_axes)])
    items = pl.DataFrame(
        {
            "benchmark": "simulated",
            "item": [f"q{i:04}" for i in range(n)],
            "variant": "",
            "group": [f"g{i:04}" for i in range(n)],
            "category": None,
            "rubric": rubric,
            "meta": meta,
        },
        schema_overrides={"category": pl.String},
    )

    def make(rng: Rng, planted: bool) -> ScoreTable:
        z = np.sqrt(0.4) * rng.standard_normal((n_candidates, n, 1))
        met = (z + np.sqrt(0.6) * rng.standard_normal((n_candidates, n, n_axes)) > -0.5).astype(float)
        if planted:
            met[0, rng.random(n) < 0.35, 0] = 0.0
        candidate, item, unit = (x.ravel() for x in np.indices(met.shape))
        units = pl.DataFrame(
            {
                "measure_id": np.ones(met.size, dtype=np.int64),
                "benchmark": "simulated",
                "item": [f"q{i:04}" for i in item],
                "variant": "",
                "candidate": [f"c{c}" for c in candidate],
                "repeat": 1,
                "edit": "",
                "pass_no": 1,
                "unit": [f"p{u}" for u in unit],
                "value": met.ravel(),
                "status": "ok",
            }
        )
        return ScoreTable(units, {}, units=units, unit_measures={1: JUDGE}, items=items)

    return make


def plain_axes(table: ScoreTable) -> bool:
    """Paired t of each axis against the mean of the others, Bonferroni over candidates and axes."""
    assert table.units is not None
    n_candidates, n_axes = table.units["candidate"].n_unique(), table.units["unit"].n_unique()
    met = table.units["value"].to_numpy().reshape(n_candidates, -1, n_axes)
    p = []
    for own in met:
        for k in range(n_axes):
            test = ttest_rel(np.delete(own, k, axis=1).mean(axis=1), own[:, k])
            p.append(test.pvalue if test.statistic > 0 else 1.0)
    return bonferroni(p)


def yes_judge(n_candidates: int, n: int, error: float) -> Maker:
    """A judge who errs alike on all candidates; planted: it lets half of the first one's errors pass."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        people = yes_no(0.7)(rng, (n_candidates, n))
        judge = np.where(rng.random(people.shape) < error, 1 - people, people)
        if planted:
            judge[0] = np.where((people[0] == 0) & (rng.random(n) < 0.5), 1.0, judge[0])
        tables = [
            candidate_table(values).scores.with_columns(
                measure_id=pl.lit(key, pl.Int64),
                position=pl.lit(None, pl.Int64),
                parts=pl.lit(None, pl.String),
            )
            for key, values in ((1, judge), (2, people))
        ]
        return ScoreTable(pl.concat(tables), {1: JUDGE, 2: PERSON}, people=frozenset({2}))

    return make


def plain_yes_no(table: ScoreTable) -> bool:
    """Fisher's exact test of each candidate's sensitivity and specificity, Bonferroni."""
    judge, people = (
        part["value"].to_numpy().reshape(table.scores["candidate"].n_unique(), -1)
        for part in table.scores.partition_by("measure_id", maintain_order=True)
    )
    p = []
    for truth in (0.0, 1.0):
        n_right = ((judge == truth) & (people == truth)).sum(axis=1)
        n_wrong = ((judge != truth) & (people == truth)).sum(axis=1)
        for k in range(len(judge)):
            others = n_right.sum() - n_right[k], n_wrong.sum() - n_wrong[k]
            p.append(fisher_exact([[n_right[k], n_wrong[k]], others]).pvalue)
    return bonferroni(p)


NULLS = {
    "sizes": Null(
        "size",
        {
            "5 sizes, 60 grades": models(60, grades, GRADES),
            "5 sizes, 100 yes/no": models(100, yes_no(0.7), YES_NO),
        },
        plain=neighbours,
    ),
    "slopes": Null(
        "size",
        {"5 sizes, 60 grades, abilities by chance": models(60, grades, GRADES, spread=0.2)},
        named={"size.slope": slopes},
    ),
    "overall": Null(
        "overall",
        {
            "4 candidates, 7 formats of 12": seven(4, 12),
            "3 candidates, 7 formats of 30": seven(3, 30),
        },
        plain=plain_pairs,
        named={"overall.ranks": pairs_apart},
    ),
    "axes": Null(
        "axes",
        {
            "1 candidate, 5 axes, 60 conversations": axes(1, 5, 60),
            "4 candidates, 5 axes, 60 conversations": axes(4, 5, 60),
        },
        plain=plain_axes,
    ),
    "yes or no": Null(
        "examiners",
        {
            "4 candidates, 40 labelled items, a judge wrong in 10 %": yes_judge(4, 40, 0.1),
            "3 candidates, 100 labelled items, a judge wrong in 5 %": yes_judge(3, 100, 0.05),
        },
        plain=plain_yes_no,
        share=0.5,
    ),
}
