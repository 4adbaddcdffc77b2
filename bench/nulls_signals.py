"""Nulls of `bias`, `contamination` and `positions`: the data sets of `bench/coverage_studies.py`."""

import numpy as np
import polars as pl

from coverage_cells import draw_cases
from coverage_studies import Maker as OfCases
from coverage_studies import option_orders, patients, picks, second_halves, twins
from false_alarms import Maker, Null, Rng
from vivavoce.core.records import ModelCard
from vivavoce.studies.score_table import ScoreTable


def of_cases(make: OfCases, sizes: str, n: int) -> Maker:
    """Data sets of n items in cases of these sizes."""

    def draw(rng: Rng, planted: bool) -> ScoreTable:
        return make(draw_cases(sizes, n, 1, rng)[0], rng, planted)

    return draw


CARDS = {
    name: ModelCard(name=name, family=family) for name, family in (("A", "one"), ("B", "two"), ("C", "three"))
}
OWN = 0.85
"""Bits that a candidate takes for its own words, as a share of what the others take."""


def written_by_a(cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """A wrote the other words; planted: B remembers."""
    return second_halves(cases, rng, planted, own=OWN, learnt=1)._replace(cards=CARDS)


def beside_placebo(cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """The same, and later questions that nobody can have read, in other words by A too."""
    table, later = written_by_a(cases, rng, planted), written_by_a(cases, rng, False)
    scores = later.scores.with_columns(benchmark=pl.lit("later"), group=pl.concat_str("group", pl.lit("_")))
    return table._replace(scores=pl.concat([table.scores, scores]))


BY_A = "60 second halves in other words by a candidate"
NULLS = {
    "bias": Null(
        "bias",
        {
            "60 twins, yes/no .9": of_cases(lambda *a: twins("yes/no .9", *a), "single", 60),
            "60 twins of uneven cases, grades": of_cases(
                lambda *a: twins("grades, most 5", *a), "cv .95", 60
            ),
            "60 patients in cases of two": of_cases(patients, "twins", 60),
        },
        share=0.3,
    ),
    "memorisation": Null(
        "contamination(reworded_by=people)",
        {
            "60 second halves": of_cases(second_halves, "single", 60),
            "60 option orders": of_cases(option_orders, "single", 60),
            BY_A: of_cases(written_by_a, "single", 60),
            f"{BY_A}, author not stated": of_cases(written_by_a, "single", 60),
            f"{BY_A}, and 60 of a placebo": of_cases(beside_placebo, "single", 60),
        },
        specs={
            BY_A: "contamination(reworded_by=A)",
            f"{BY_A}, author not stated": "contamination",
            f"{BY_A}, and 60 of a placebo": "contamination(placebo=later)",
        },
    ),
    "positions": Null("positions", {"60 questions": of_cases(picks, "single", 60)}, share=0.3),
}
