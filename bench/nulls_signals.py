"""Nulls of `bias`, `contamination` and `positions`: the data sets of `bench/coverage_studies.py`."""

from coverage_cells import draw_cases
from coverage_studies import Maker as OfCases
from coverage_studies import option_orders, patients, picks, second_halves, twins
from false_alarms import Maker, Null, Rng
from vivavoce.studies.score_table import ScoreTable


def of_cases(make: OfCases, sizes: str, n: int) -> Maker:
    """Data sets of n items in cases of these sizes."""

    def draw(rng: Rng, planted: bool) -> ScoreTable:
        return make(draw_cases(sizes, n, 1, rng)[0], rng, planted)

    return draw


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
        "contamination",
        {
            "60 second halves": of_cases(second_halves, "single", 60),
            "60 option orders": of_cases(option_orders, "single", 60),
        },
        share=0.3,
    ),
    "positions": Null("positions", {"60 questions": of_cases(picks, "single", 60)}, share=0.3),
}
