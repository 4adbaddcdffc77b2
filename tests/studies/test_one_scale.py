"""People's scale and a judge's: no order, sentence, rank or chart joins the two."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.judging import JUDGE, judged
from tests.studies.people import RATING, drawn

from vivavoce.core.records import Criterion
from vivavoce.run.run import Run
from vivavoce.studies.comparing.headline import comparison_headline

WORTH = Criterion(criterion="worth", low=0, high=5)

NAMES = ("ada", "bob", "cyd", "dot")
TRUTH = {"ada": 3.2, "bob": 2.4, "cyd": 2.8, "dot": 2.0}
KINDNESS = {"ada": -1.0, "bob": 0.6, "cyd": 1.2, "dot": 1.2}


def partly_labelled(folder: Path, labelled: tuple[str, ...], names: tuple[str, ...] = NAMES) -> Run:
    """A judge of 200 answers of each candidate, kinder to those that people rate lower; some have labels."""
    rng = np.random.default_rng(7)
    item = rng.normal(0, 0.3, 200)
    people = {
        name: np.clip(np.round(TRUTH[name] + item + rng.normal(0, 0.3, 200), 1), 0, 5) for name in names
    }
    judge = {name: np.clip(np.round(v + KINDNESS[name] + rng.normal(0, 0.2, 200), 1), 0, 5)
             for name, v in people.items()}  # fmt: skip
    marks = [(name, f"q{k:03}", float(judge[name][k])) for name in names for k in range(200)]
    labels = [(name, f"q{k:03}", float(people[name][k]), "ann") for name in labelled for k in drawn(1)]
    return judged(folder, {JUDGE: marks, RATING: labels} if labels else {JUDGE: marks})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ada and Bob have labels, Cyd and Dot have not; people would put Cyd between them."""
    run = partly_labelled(tmp_path_factory.mktemp("scale"), ("ada", "bob"))
    run.compare(metric=JUDGE, labels_chosen_at_random=True)
    return run


def scales(rows: Any) -> list[tuple[str, str | None]]:
    return [(row["candidate"], row["scale"]) for row in rows]


def test_the_table_puts_candidates_on_peoples_scale_first_whatever_the_judges_means(run: Run) -> None:
    rows = run.estimates(JUDGE).rows
    expected = [("ada", "people"), ("bob", "people"), ("cyd", "judge"), ("dot", "judge")]
    assert expected == scales(rows)
    assert rows[0]["estimate"] < rows[2]["estimate"]


def test_each_pair_is_on_one_scale_and_says_which(run: Run) -> None:
    rows = {(row["a"], row["b"]): row for row in run.compare(metric=JUDGE).rows}
    assert ("people", False) == (rows["ada", "bob"]["scale"], rows["ada", "bob"]["judge_alone"])
    assert rows["ada", "bob"]["verdict"].startswith("On people's scale, ada is better (0.")
    by_judge = [row for pair, row in rows.items() if pair != ("ada", "bob")]
    assert {("judge", True)} == {(row["scale"], row["judge_alone"]) for row in by_judge}
    assert all(row["verdict"].startswith("The judge prefers ") for row in by_judge)


def test_a_headline_has_a_sentence_for_each_scale(run: Run) -> None:
    headline = comparison_headline(run.compare(metric=JUDGE).rows, WORTH)
    assert headline is not None
    people, judge = headline.split(". By", 1)
    judge = f"By{judge}"
    assert people.startswith("On people's scale, ada is better than bob by 0.")
    assert "By the judge alone, tests put cyd and dot above ada." == judge
    assert "people" not in judge


def test_ranks_hold_on_one_scale_and_agree_with_the_comparison(run: Run) -> None:
    finding = run.study("ranking")["ranking"]
    rows = {row["candidate"]: row for row in finding.rows if row["scale"]}
    assert [("people", 1, 1, 2), ("people", 2, 2, 2), ("judge", 1, 1, 2), ("judge", 2, 2, 2)] == [
        (row["scale"], row["rank_low"], row["rank_high"], row["n_candidates"])
        for row in (rows[name] for name in NAMES)
    ]
    people, judge, *_ = str(finding).splitlines()
    assert "on people's scale by their scores of 50 questions" in people
    assert "ada 1 (3.1" in people
    assert "by the judge alone" in judge
    assert "cyd 1 (3.9" in judge


def test_a_candidate_alone_on_its_scale_has_no_rank(tmp_path: Path) -> None:
    run = partly_labelled(tmp_path, ("ada", "bob"), ("ada", "bob", "cyd"))
    run.compare(metric=JUDGE, labels_chosen_at_random=True)
    rows = {row["candidate"]: row for row in run.study("ranking")["ranking"].rows if row["scale"]}
    assert (None, None, "judge") == (rows["cyd"]["rank"], rows["cyd"]["mean"], rows["cyd"]["scale"])
    assert "cyd is the only candidate by the judge alone, so it has no rank there" == rows["cyd"]["reason"]
    assert 1 == rows["ada"]["rank_high"]


def test_one_candidate_with_labels_is_compared_and_ranked_by_the_judge(tmp_path: Path) -> None:
    run = partly_labelled(tmp_path, ("ada",))
    finding = run.compare(metric=JUDGE, labels_chosen_at_random=True)
    assert {"judge"} == {row["scale"] for row in finding.rows}
    assert "cyd" == finding.rows[0]["a"]
    rows = [row for row in run.study("ranking")["ranking"].rows if row["scale"]]
    assert [("cyd", "judge"), ("dot", "judge")] == scales(rows)[:2]
    assert 4 == rows[0]["n_candidates"]


def test_without_labels_and_with_all_labels_there_is_one_scale(tmp_path: Path) -> None:
    unlabelled = partly_labelled(tmp_path / "none", ())
    assert {"judge"} == {row["scale"] for row in unlabelled.estimates(JUDGE).rows}
    labelled = partly_labelled(tmp_path / "all", NAMES)
    labelled.compare(metric=JUDGE, labels_chosen_at_random=True)
    assert {"people"} == {row["scale"] for row in labelled.estimates(JUDGE).rows}
    ranks = [row for row in labelled.study("ranking")["ranking"].rows if row["scale"]]
    assert {("people", 4)} == {(row["scale"], row["n_candidates"]) for row in ranks}


def test_the_report_draws_the_judges_means_hollow_and_names_them(run: Run) -> None:
    page = run.report().read_text()
    assert 2 == page.count('<span class="tag">judge alone</span>') // 2  # first screen and leaderboard
    assert "Hollow: by the judge alone, in no order with the others." in page
    assert "2 of 4 candidates corrected by people&#39;s scores of 50 questions, the others not" in page
