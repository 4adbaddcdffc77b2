"""Nulls of studies about people and judges: reviews of items, and what a judge favours."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import polars as pl
from scipy.special import ndtri
from scipy.stats import pearsonr, ttest_1samp, ttest_ind

from false_alarms import Maker, Null, Rng
from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews, SecondReview
from vivavoce.studies.score_table import ScoreTable


def reviewed(items: list[ReviewedItem], again: list[SecondReview]) -> ScoreTable:
    """A run of reviews alone."""
    return ScoreTable(pl.DataFrame(), {}, reviews=Reviews(tuple(items), tuple(again)))


def raters(n_raters: int, n: int, share: float, each: int | None = None, *, drift: bool = False) -> Maker:
    """Raters who call an item correct by chances of the item's own; planted: the first is kinder or stricter.

    `each`: how many raters, drawn at random, see an item; all by default. Everyone judges a third again.
    `drift`: the first is so the second time alone.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        z = rng.standard_normal(n)
        says = np.sqrt(0.4) * z + np.sqrt(0.6) * rng.standard_normal((2, n_raters, n))
        bar = np.full((2, n_raters, 1), -ndtri(share))
        if planted:
            bar[int(drift) :, 0] += (1.2 if drift else 0.6) * rng.choice([-1, 1])
        yes = (says > bar).astype(float)
        items, again = [], []
        for i in range(n):
            seen = range(n_raters) if each is None else sorted(rng.choice(n_raters, each, replace=False))
            place = ("simulated", f"q{i:03}", "")
            correct = {f"r{k:02}": float(yes[0, k, i]) for k in seen}
            items.append(ReviewedItem(place, f"g{i:03}", "", correct, {}))
            if i % 3 == 0:
                again += [
                    SecondReview(place, f"g{i:03}", f"r{k:02}", float(yes[0, k, i]), float(yes[1, k, i]))
                    for k in seen
                ]
        return reviewed(items, again)

    return make


def plain_kinder(table: ScoreTable) -> bool:
    """T of each rater against the mean of the others on the same items, Bonferroni."""
    items = table.reviews.items if table.reviews else ()
    names = sorted({rater for item in items for rater in item.correct})
    p = []
    for name in names:
        gaps = [
            item.correct[name] - float(np.mean([v for who, v in item.correct.items() if who != name]))
            for item in items
            if name in item.correct and len(item.correct) > 1
        ]
        p.append(ttest_1samp(gaps, 0.0).pvalue)
    return bonferroni(p)


def plain_drift(table: ScoreTable) -> bool:
    """T of each rater's second judgements less the first, Bonferroni."""
    again = table.reviews.again if table.reviews else ()
    names = sorted({entry.rater for entry in again})
    moves = [[entry.second - entry.first for entry in again if entry.rater == name] for name in names]
    return bonferroni(ttest_1samp(of_rater, 0.0).pvalue for of_rater in moves)


def bonferroni(p_values: Iterable[float]) -> bool:
    """Whether the least p is shown among all; one without a value counts as 1."""
    p = np.nan_to_num(list(p_values), nan=1.0)
    return bool(p.min() * len(p) <= stats.ALPHA)


WORTH = Criterion(criterion="worth", low=0.0, high=5.0)
JUDGE = Measure(metric="judge", signature="judge(model=j1,rubric=r)@1", criterion=WORTH)
PERSON = Measure(metric="rating", signature="rating(rubric=r)@recorded", criterion=WORTH, rater="ann")


def judged(n_candidates: int, n: int, zero: float, error: float = 0.7) -> Maker:
    """A judge who errs alike on all candidates, and gives 0 at random to some answers.

    Planted: to the first candidate it gives one point more.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        people = np.clip(
            np.round(3.2 + 0.7 * rng.standard_normal(n) + 0.8 * rng.standard_normal(shape)), 0, 5
        )
        scores = np.clip(np.round(people + error * rng.standard_normal(shape)), 0, 5)
        if planted:
            scores[0] = np.clip(scores[0] + (rng.random(n) < 0.7), 0, 5)
        scores[rng.random(shape) < zero] = 0.0
        blocks = [_frame(1, scores), _frame(2, people)]
        return ScoreTable(pl.concat(blocks), {1: JUDGE, 2: PERSON}, people=frozenset({2}))

    return make


def _frame(key: int, values: np.ndarray) -> pl.DataFrame:
    candidate, item = (x.ravel() for x in np.indices(values.shape))
    return pl.DataFrame(
        {
            "measure_id": np.full(values.size, key),
            "benchmark": "simulated",
            "item": [f"q{i:03}" for i in item],
            "variant": "",
            "group": [f"g{i:03}" for i in item],
            "category": "",
            "candidate": [f"c{c}" for c in candidate],
            "role": "candidate",
            "repeat": 1,
            "edit": "",
            "pass_no": 1,
            "unit": "",
            "ballot": "",
            "position": None,
            "value": values.ravel(),
            "status": "ok",
            "parts": None,
        },
        schema_overrides={"position": pl.Int64, "parts": pl.String},
    )


def plain_favour(table: ScoreTable) -> bool:
    """T of each candidate's differences judge less person against those of the others, Bonferroni."""
    d = (
        table.scores.filter(measure_id=1)["value"].to_numpy()
        - table.scores.filter(measure_id=2)["value"].to_numpy()
    )
    names = table.scores.filter(measure_id=1)["candidate"].to_numpy()
    every = sorted(set(names.tolist()))
    return bonferroni(ttest_ind(d[names == name], d[names != name], equal_var=False).pvalue for name in every)


CRITERIA = ("accuracy", "tone", "safety", "brevity")


def cards(n_candidates: int, n: int, noise: float = 0.8, centre: float = 3.0) -> Maker:
    """A judge's scores by four criteria, each with means of its own for candidates and a share of the item's.

    Planted: the first two share what they say of an answer.
    """
    measures = {
        k + 1: Measure(
            metric="judge", signature=JUDGE.signature, criterion=Criterion(criterion=name, low=0.0, high=5.0)
        )
        for k, name in enumerate(CRITERIA)
    }

    def make(rng: Rng, planted: bool) -> ScoreTable:
        of_answer = rng.standard_normal((4, n_candidates, n))
        if planted:
            of_answer[1] = 0.5 * of_answer[0] + np.sqrt(0.75) * of_answer[1]
        able = 0.4 * rng.standard_normal((4, n_candidates, 1))
        values = np.clip(np.round(centre + 0.7 * rng.standard_normal(n) + able + noise * of_answer), 0, 5)
        return ScoreTable(pl.concat(_frame(k + 1, values[k]) for k in range(4)), measures)

    return make


def plain_halo(table: ScoreTable) -> bool:
    """Pearson's test of every two criteria's scores less the question's mean, Bonferroni."""
    centred = [
        part.with_columns(pl.col("value") - pl.col("value").mean().over("item"))["value"].to_numpy()
        for part in table.scores.partition_by("measure_id", maintain_order=True)
    ]
    return bonferroni(pearsonr(a, b).pvalue for a, b in combinations(centred, 2))


NULLS = {
    "reviewers": Null(
        "review",
        {
            "3 raters, 60 items": raters(3, 60, 0.8),
            "10 raters, 60 items": raters(10, 60, 0.8),
            "20 raters, 60 items": raters(20, 60, 0.8),
            "10 raters, 3 of them on each of 90 items": raters(10, 90, 0.8, each=3),
        },
        plain=plain_kinder,
        planted=frozenset({"review.kinder"}),
    ),
    "second looks": Null(
        "review",
        {
            "3 raters, 30 of 90 items again": raters(3, 90, 0.8, drift=True),
            "10 raters, 40 of 120 items again": raters(10, 120, 0.8, drift=True),
        },
        plain=plain_drift,
    ),
    "halo": Null(
        "examiners",
        {
            "3 candidates, 60 items": cards(3, 60),
            "5 candidates, 20 items": cards(5, 20),
            "3 candidates, 60 items near the ceiling": cards(3, 60, centre=4.6),
        },
        plain=plain_halo,
        share=0.5,
    ),
    "favour": Null(
        "examiners",
        {
            "4 candidates, 40 labelled items": judged(4, 40, 0.0),
            "4 candidates, 40 labelled items, 0 in 3 %": judged(4, 40, 0.03),
            "6 candidates, 20 labelled items, 0 in 3 %": judged(6, 20, 0.03),
            "4 candidates, 30 labelled items of a near perfect judge, 0 in 2 %": judged(4, 30, 0.02, 0.15),
            "4 candidates, 60 labelled items of a perfect judge, 0 in 5 %": judged(4, 60, 0.05, 0.0),
            "10 candidates, 30 labelled items of a perfect judge, 0 in 5 %": judged(10, 30, 0.05, 0.0),
        },
        plain=plain_favour,
        planted=frozenset({"examiners.favour"}),
        share=0.3,
    ),
}
