"""The null of `viva study RUN panel`: equal candidates, half of whom may give the same answers."""

import numpy as np
import polars as pl
from scipy.stats import rankdata

from false_alarms import Maker, Null, Rng
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.panels.rank_data import boards
from vivavoce.studies.score_table import ScoreTable


def ranked_by_panel(n_systems: int, n_cases: int, *, same: int) -> Maker:
    """Two raters rank equal systems, the last of them a ceiling.

    `same` systems give one answer. Planted: the first system is better.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        worth = rng.standard_normal((n_systems, n_cases))
        if planted:
            worth[0] += 4 / np.sqrt(n_cases)
        worth[-same:] = worth[-1]
        ranks = [_judged(worth, rng) for _ in range(2)]
        return ScoreTable(pl.concat([_frame(r, x) for r, x in enumerate(ranks)]), _measures(2, n_systems))

    return make


def _judged(worth: np.ndarray, rng: Rng) -> np.ndarray:
    """A rater's ranks, (K, n): equal answers were shown once, and have one error and one rank."""
    ranks = np.empty(worth.shape)
    for case, column in enumerate(worth.T):
        answers, answer_of = np.unique(column, return_inverse=True)
        said = answers + 0.7 * rng.standard_normal(len(answers))
        ranks[:, case] = rankdata(-said[answer_of], method="min")
    return ranks


def _measures(n_raters: int, n_systems: int) -> dict[int, Measure]:
    criterion = Criterion(criterion="rank", low=1.0, high=float(n_systems), direction="lower", pool="rank")
    return {
        rater: Measure(
            metric="panel(form=best)", signature="panel(form=best)@1", criterion=criterion, rater=f"r{rater}"
        )
        for rater in range(n_raters)
    }


def _frame(rater: int, ranks: np.ndarray) -> pl.DataFrame:
    system, case = (x.ravel() for x in np.indices(ranks.shape))
    return pl.DataFrame(
        {
            "measure_id": rater,
            "benchmark": "simulated",
            "item": [f"q{i:04}" for i in case],
            "variant": "",
            "group": [f"g{i:04}" for i in case],
            "category": "",
            "candidate": [f"c{k}" for k in system],
            "role": ["ceiling" if k == len(ranks) - 1 else "candidate" for k in system],
            "repeat": 1,
            "edit": "",
            "pass_no": 1,
            "unit": "",
            "ballot": [f"{rater}-{i}" for i in case],
            "position": ranks.ravel().astype(int),
            "rater": f"r{rater}",
            "value": ranks.ravel(),
            "status": "ok",
            "parts": None,
        },
        schema_overrides={"parts": pl.String},
    )


def differ(finding: Finding) -> bool:
    """Whether Friedman's test says that systems differ."""
    return any(
        row["figure"] == "friedman" and row["p"] is not None and row["p"] <= stats.ALPHA
        for row in finding.rows
    )


def has_places(finding: Finding) -> bool:
    """Whether a place is open to fewer than all systems."""
    places = [row for row in finding.rows if row["figure"] == "place"]
    return any((row["low"], row["high"]) != (1, len(places)) for row in places)


def beats_ceiling(finding: Finding) -> bool:
    """Whether somebody is shown better or worse than the ceiling."""
    return "shown better than it: nobody; shown worse: nobody" not in finding.text


def plain_f(table: ScoreTable) -> bool:
    """Iman and Davenport's F, which takes systems for independent."""
    (board,) = boards(table)
    p = stats.friedman(-board.means, board.groups).p_f
    return p is not None and p <= stats.ALPHA


NULLS = {
    "panel": Null(
        study="panel",
        cells={
            "8 systems, 4 of one answer, 30 cases": ranked_by_panel(8, 30, same=4),
            "4 systems, 2 of one answer, 60 cases": ranked_by_panel(4, 60, same=2),
        },
        plain=plain_f,
        named={"panel.differ": differ, "panel.places": has_places, "panel.better": beats_ceiling},
        planted=frozenset({"panel.differ"}),
        share=0.1,
    )
}
"""The plain method takes systems for independent, which those of one answer are not."""
