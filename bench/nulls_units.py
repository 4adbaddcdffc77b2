"""Nulls of studies that could take the wrong unit: measures, judges and graders that know less than it seems.

A measure that knows only who answered, a judge that gives all answers to a question one score, and a grader
as good as any physician.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.stats import binom, norm, pearsonr

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table
from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.score_table import ScoreTable

WORTH = Criterion(criterion="worth", low=0.0, high=5.0)
MET = Criterion(criterion="score", low=0.0, high=1.0)
Named = tuple[Measure, np.ndarray]
"""A measure with its scores, (K, n); NaN where it has none."""


def rule(name: str) -> Measure:
    """A rule of the criterion worth."""
    return Measure(metric=name, signature=f"{name}()@1", criterion=WORTH)


def person(name: str, criterion: Criterion = WORTH) -> Measure:
    """A person whose scores are labels."""
    signature = "rating(rubric=r)@recorded"
    return Measure(metric="rating", signature=signature, criterion=criterion, rater=name)


def judge(criterion: Criterion = WORTH) -> Measure:
    """A judge model."""
    return Measure(metric="judge", signature="judge(model=j1,rubric=r)@1", criterion=criterion, rater="j1")


def scored(named: Sequence[Named], categories: np.ndarray | None = None) -> ScoreTable:
    """A table of these measures, people's scores as labels."""
    frames = [
        candidate_table(values, categories=categories)
        .scores.with_columns(measure_id=pl.lit(key, pl.Int64), value=pl.col("value").fill_nan(None))
        .drop_nulls("value")
        for key, (_, values) in enumerate(named)
    ]
    absent = (pl.lit(None, pl.Int64).alias("position"), pl.lit(None, pl.String).alias("parts"))
    measures = {key: measure for key, (measure, _) in enumerate(named)}
    people = frozenset(key for key, measure in measures.items() if measure.metric == "rating")
    return ScoreTable(pl.concat(frames).with_columns(absent), measures, people=people)


def values_of(table: ScoreTable, key: int) -> np.ndarray:
    """The scores of a measure, candidates by items."""
    rows = table.scores.filter(measure_id=key)
    return rows["value"].to_numpy().reshape(rows["candidate"].n_unique(), -1)


def grades(values: np.ndarray) -> np.ndarray:
    """Whole scores of 0 to 5."""
    return np.clip(np.round(values), 0, 5)


def measured(n_candidates: int, n: int, n_measures: int) -> Maker:
    """Candidates whose answers people grade, and rules that know only who answered.

    Planted: the first rule follows what tells answers apart as well.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        answers = 0.7 * rng.standard_normal(shape)
        able = 0.5 * rng.standard_normal((n_candidates, 1))
        people = grades(
            2.8 + 0.7 * rng.standard_normal(n) + able + answers + 0.4 * rng.standard_normal(shape)
        )
        named: list[Named] = [(person("ann"), people)]
        for k in range(n_measures):
            values = 0.5 * rng.standard_normal((n_candidates, 1)) + 0.7 * rng.standard_normal(shape)
            named.append((rule(f"rule{k}"), values + answers * (planted and k == 0)))
        return scored(named)

    return make


def adding(n_candidates: int, n: int, n_measures: int, partial: float) -> Maker:
    """A good rule, and others that each know as much beyond it: `partial` is their r with people's scores.

    Planted: what the others know is noise.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        known, noise = rng.standard_normal(shape), rng.standard_normal(shape)
        own = rng.standard_normal((n_measures, *shape))
        # What the good rule leaves open of people's scores: each other rule holds its part of it.
        left = partial * own.sum(axis=0) + np.sqrt(1 - n_measures * partial**2) * noise
        named: list[Named] = [(person("ann"), 2.5 + known + 0.7 * left), (rule("good"), known)]
        for k in range(n_measures):
            named.append((rule(f"rule{k}"), rng.standard_normal(shape) if planted else own[k]))
        return scored(named)

    return make


def plain_additions(table: ScoreTable) -> bool:
    """The partial correlation of each other rule by Fisher's interval below .1, each answer for itself."""
    people, good, *rules = (values_of(table, key) for key in table.measures)
    centred = [x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean() for x in (people, good, *rules)]
    given = centred[1].ravel()
    held = [x.ravel() - given * (x.ravel() @ given) / (given @ given) for x in (centred[0], *centred[2:])]
    r = [pearsonr(held[0], x).statistic for x in held[1:]]
    width = norm.isf((1 - stats.bonferroni_level(0.95, len(rules))) / 2) / np.sqrt(people.size - 4)
    return bool(np.tanh(np.arctanh(min(r)) + width) < 0.1)


def ordered(n_candidates: int, n: int, able: float) -> Maker:
    """Two rules that share the luck of each answer with people; what candidates are worth differs by `able`.

    Each rule has levels of its own for the candidates. Planted: the first has people's, with a sd of .5.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        answers = 0.7 * rng.standard_normal(n) + 0.7 * rng.standard_normal(shape)
        levels = (0.5 if planted else able) * rng.standard_normal((3, n_candidates, 1))
        if planted:
            levels[1] = levels[0]
        values = 2.8 + levels + answers + 0.5 * rng.standard_normal((3, *shape))
        return scored(
            [(person("ann"), grades(values[0])), (rule("rule0"), values[1]), (rule("rule1"), values[2])]
        )

    return make


def plain_order(table: ScoreTable) -> bool:
    """Pearson's r of the candidates' means over all cases, Bonferroni."""
    people, *rules = (values_of(table, key).mean(axis=1) for key in table.measures)
    p = [pearsonr(people, values, alternative="greater").pvalue for values in rules]
    return bool(min(p) * len(p) <= stats.ALPHA / 2)


def plain_inside(table: ScoreTable) -> bool:
    """Pearson's r of scores less the mean of their question, each answer for itself, Bonferroni."""
    every = [values_of(table, key) for key in table.measures]
    people, *rules = (values - values.mean(axis=0) for values in every)
    p = [pearsonr(people.ravel(), values.ravel(), alternative="greater").pvalue for values in rules]
    return bool(min(p) * len(p) <= stats.ALPHA / 2)


def stamped(n_candidates: int, n: int, slip: float) -> Maker:
    """Two people who agree, and a judge that knows the question alone: it gives its answers one score.

    `slip`: the share of its scores that are a grade off at random. Planted: the judge errs as people do.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        level = rng.uniform(0.4, 4.6, n)
        worth = level + 0.8 * rng.standard_normal(shape)

        def rates() -> np.ndarray:
            return grades(worth + 0.4 * rng.standard_normal(shape))

        own = rates()
        if not planted:
            own = np.tile(grades(level), (n_candidates, 1))
            own = grades(own + (rng.random(shape) < slip) * rng.choice([-1, 1], shape))
        return scored([(judge(), own), (person("ann"), rates()), (person("bob"), rates())])

    return make


def plain_differences(table: ScoreTable) -> bool:
    """Pearson's r of the judge's and people's scores less the mean of their question."""
    own, *people = (values_of(table, key) for key in table.measures)
    sides = [values - values.mean(axis=0) for values in (own, np.mean(people, axis=0))]
    if not all(side.any() for side in sides):
        return False
    return bool(pearsonr(*(side.ravel() for side in sides), alternative="greater").pvalue <= stats.ALPHA / 2)


def graded(n_physicians: int, n: int, n_labelled: int, hard: float) -> Maker:
    """A grader that errs as often as each physician, on points of which a share is hard.

    A hard point is labelled by `n_labelled` physicians, another by one alone. Planted: the grader never errs.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        truth, is_hard = rng.random(n) < 0.5, rng.random(n) < hard
        errors = np.where(is_hard, 0.3, 0.05)

        def rates() -> np.ndarray:
            return (truth != (rng.random(n) < errors)).astype(float)

        named: list[Named] = [(judge(MET), (truth.astype(float) if planted else rates())[None])]
        place = rng.permuted(np.tile(np.arange(n_physicians), (n, 1)), axis=1)
        for k in range(n_physicians):
            labels = np.where(place[:, k] < np.where(is_hard, n_labelled, 1), rates(), np.nan)
            named.append((person(f"d{k}", MET), labels[None]))
        table = scored(named)
        places = table.scores.select("benchmark", "item", "variant").unique(maintain_order=True)
        return table._replace(items=places.with_columns(category=pl.lit("any")))

    return make


def plain_places(table: ScoreTable) -> bool:
    """McNemar's mid-p of the grader and each physician: who agrees with another physician, Bonferroni."""
    wide = table.scores.pivot("measure_id", index="item", values="value").drop("item").to_numpy().T
    grader, *physicians = wide
    p = []
    for k, own in enumerate(physicians):
        rest = np.array(physicians[:k] + physicians[k + 1 :])
        i, j = np.nonzero(~np.isnan(rest) & ~np.isnan(own))
        agrees = (grader[j] == rest[i, j]).astype(int) - (own[j] == rest[i, j]).astype(int)
        first, n = int((agrees > 0).sum()), int((agrees != 0).sum())
        p.append(2 * binom.sf(max(first, n - first), n, 0.5) + binom.pmf(first, n, 0.5) if n else 1.0)
    return bool(min(p) * len(p) <= stats.ALPHA)


NULLS = {
    "measures": Null(
        "audit",
        {
            "3 candidates, 60 items, 1 measure of candidates": measured(3, 60, 1),
            "4 candidates, 60 items, 4 measures of candidates": measured(4, 60, 4),
            "8 candidates, 60 items, 4 measures of candidates": measured(8, 60, 4),
        },
        plain=plain_inside,
    ),
    "candidates": Null(
        "audit",
        {
            "8 candidates alike, 60 items, 2 measures": ordered(8, 60, 0.0),
            "12 candidates with other levels by each measure, 60 items": ordered(12, 60, 0.5),
        },
        plain=plain_order,
    ),
    "additions": Null(
        "audit",
        {
            "3 candidates, 60 items, 1 rule that adds .1": adding(3, 60, 1, 0.1),
            "3 candidates, 400 items, 4 rules that add .1": adding(3, 400, 4, 0.1),
            "4 candidates, 1,000 items, 1 rule that adds .1": adding(4, 1_000, 1, 0.1),
        },
        plain=plain_additions,
        share=0.4,
    ),
    "stamp": Null(
        "examiners(margin=0.3)",
        {
            "2 candidates, 60 items, one score for both": stamped(2, 60, 0.0),
            "2 candidates, 60 items, one score but for slips": stamped(2, 60, 0.3),
            "4 candidates, 40 items, one score but for slips": stamped(4, 40, 0.3),
        },
        plain=plain_differences,
    ),
    "graders": Null(
        "meta_evaluation",
        {
            "4 physicians, 240 points, the hard ones labelled by two": graded(4, 240, 2, 0.5),
            "4 physicians, 120 points, all labelled by all": graded(4, 120, 4, 1.0),
        },
        plain=plain_places,
    ),
}
