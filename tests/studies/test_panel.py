"""The summary of a panel: a known order comes back, blocks are cases, and metrics stand beside people."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.people.raters import Opinion, by_word, drawn, examined, rated
from tests.studies.making import row, score

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.studies.panels.panel import Panel, PanelRow
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import columns

ORDER = ("key", "five", "some", "spoonful")


def study(run: Run) -> Finding:
    """The study on all scores, ranks among them."""
    with run.file.reading() as db:
        measures = {keyed.key: keyed.measure for keyed in read.measures(db)}
        return Panel().findings(ScoreTable(read.scores(db, details=True), measures))


def same(*raters: str, order: tuple[str, ...] = ORDER) -> dict[str, Opinion]:
    return dict.fromkeys(raters, by_word(*order))


def values(found: Finding, figure: str, of: str = "candidate") -> dict[str, Any]:
    return {r[of]: r["value"] for r in found.rows if r["figure"] == figure}


def test_three_raters_of_one_mind_give_back_their_order(tmp_path: Path) -> None:
    run = examined(tmp_path)
    rated(run, tmp_path / "out", same("anna", "ben", "carla"))
    found = study(run)
    assert {"reference": 1.0, "Able": 2.0, "Fair": 3.0, "Poor": 4.0} == values(found, "mean_rank")
    assert {"reference": 1.0, "Able": 2.0, "Fair": 3.0, "Poor": 4.0} == values(found, "place")
    strengths = values(found, "strength")
    assert ["reference", "Able", "Fair", "Poor"] == sorted(strengths, key=lambda who: -strengths[who])
    assert 1.0 == row(found, figure="kendall_w")["value"]
    assert set(columns(PanelRow)) == {name for r in found.rows for name in r}


def dissent(base: Opinion, other: Opinion, often: int) -> Opinion:
    """One mind, and on every so-manieth question another."""

    def opinion(item: str, answer: str) -> Mapping[str, Any]:
        return (other if int(item[1:]) % often == 0 else base)(item, answer)

    return opinion


def test_raters_who_differ_now_and_then_still_give_the_order(tmp_path: Path) -> None:
    run = examined(tmp_path, 30)
    turned = by_word("some", "key", "spoonful", "five")
    opinions = {who: dissent(by_word(*ORDER), turned, n) for who, n in (("a", 4), ("b", 5), ("c", 7))}
    rated(run, tmp_path / "out", opinions)
    found = study(run)
    ranks = values(found, "mean_rank")
    assert ["reference", "Able", "Fair", "Poor"] == sorted(ranks, key=lambda who: ranks[who])
    # by hand: a, b and c turn round 8, 6 and 5 of 30 questions, in which Able is 4th and not 2nd
    assert 2 + 2 * (8 + 6 + 5) / 90 == pytest.approx(ranks["Able"])
    for r in found.rows:
        if r["figure"] == "mean_rank":
            assert r["low"] < r["value"] < r["high"]
    w = row(found, figure="kendall_w")
    assert 1 / 3 < w["low"] < w["value"] < w["high"] < 1
    alpha = row(found, figure="alpha_ordinal")
    assert 0 < alpha["value"] < 1
    assert {"a", "b", "c"} == set(values(found, "with_others", "rater"))
    assert 1.5 > row(found, figure="critical_distance")["value"] > 0.5
    assert 0.001 > row(found, figure="friedman")["p"]
    assert "good / okay / bad / clearly wrong" in found.text


def test_more_raters_make_no_more_blocks(tmp_path: Path) -> None:
    """The critical distance is of the questions, whoever many read them."""
    few, many = examined(tmp_path / "few"), examined(tmp_path / "many")
    rated(few, tmp_path / "a", same("anna"))
    rated(many, tmp_path / "b", same("anna", "ben", "carla", "dora"))
    one, other = (row(study(run), figure="critical_distance") for run in (few, many))
    assert one["value"] == other["value"]
    assert 12 == one["n_groups"] == other["n_groups"]


def test_twins_are_one_block(tmp_path: Path) -> None:
    items = [{"item": f"q{k:02}", "group": f"case {k // 2}"} for k in range(24)]
    run = examined(tmp_path, 24, items=items)
    rated(run, tmp_path / "out", same("anna"))
    assert 12 == row(study(run), figure="friedman")["n_groups"]


def test_one_rater_has_nobody_to_agree_with(tmp_path: Path) -> None:
    run = examined(tmp_path)
    rated(run, tmp_path / "out", same("anna"))
    found = row(study(run), figure="kendall_w")
    assert (None, "one rater: nobody to agree with") == (found["value"], found["reason"])


def test_few_cases_give_means_and_no_verdict(tmp_path: Path) -> None:
    run = examined(tmp_path, 9)
    rated(run, tmp_path / "out", same("anna", "ben"))
    found = study(run)
    able = row(found, candidate="Able", figure="mean_rank")
    assert (2.0, None, "9 cases: too few to tell") == (able["value"], able["low"], able["reason"])
    assert not values(found, "place")


def test_silence_stands_last_and_is_counted(tmp_path: Path) -> None:
    run = examined(tmp_path, silent=["Able q00", "Able q01"])
    rated(run, tmp_path / "out", same("anna", "ben"))
    found = study(run)
    able = row(found, candidate="Able", figure="mean_rank")
    assert (10 * 2 + 2 * 4) / 12 == pytest.approx(able["value"])
    assert 2 == able["n_unanswered"]
    tags = {tag: row(found, candidate="Able", figure=tag)["value"] for tag in ("good", "okay", "bad")}
    assert pytest.approx({"good": 0, "okay": 10 / 12, "bad": 2 / 12}) == tags
    assert "not answered, so not shown, and last: Able 2." in str(found)


def test_the_reference_has_its_place(tmp_path: Path) -> None:
    run = examined(tmp_path)
    rated(run, tmp_path / "out", same("a", "b", order=("five", "key", "some", "spoonful")))
    found = study(run)
    assert "ceiling" == row(found, candidate="reference", figure="mean_rank")["role"]
    said = "reference (ceiling) is 2 of 4 by mean rank 2.00; shown better than it: Able; shown worse: Fair,"
    assert f"{said} Poor." in found.text


def keyed(n: int) -> list[dict[str, Any]]:
    """Twelve questions, the first `n` with a key."""
    return [{"item": f"q{k:02}", **({} if k < n else {"format": "longform", "references": []})}
            for k in range(12)]  # fmt: skip


def test_a_question_without_a_key_costs_itself_and_not_the_reference(tmp_path: Path) -> None:
    run = examined(tmp_path, items=keyed(11))
    rated(run, tmp_path / "out", same("anna", "ben"))
    found = study(run)
    first = row(found, candidate="reference", figure="mean_rank")
    assert (1.0, 11) == (first["value"], first["n_items"])
    assert {"reference": 1.0, "Able": 2.0, "Fair": 3.0, "Poor": 4.0} == values(found, "mean_rank")
    told = [note for note in found.notes if "reference" in note]
    assert 1 == len(told)
    assert told[0].endswith("reference stands on 11 of 12 questions: the others are left out of ranks.")
    assert "did not arrive" not in str(found)


@pytest.mark.parametrize(("n", "stands"), [(6, True), (5, False)])
def test_the_reference_stands_on_half_of_the_questions_or_not_at_all(
    tmp_path: Path, n: int, stands: bool
) -> None:
    run = examined(tmp_path, items=keyed(n))
    rated(run, tmp_path / "out", same("anna", "ben"))
    found = study(run)
    assert stands == ("reference" in values(found, "mean_rank"))
    assert (n if stands else 12) == row(found, candidate="Able", figure="mean_rank")["n_items"]
    assert stands != any("it has no place here" in note for note in found.notes)


def test_a_metric_that_orders_like_the_panel_agrees_with_it(tmp_path: Path) -> None:
    """`told` reads an answer as its mark: here 0.9, 0.6, 0.3, 0.1 as the raters rank."""
    worth = {"Able": 0.9, "Fair": 0.6, "Poor": 0.3, "Worst": 0.1}
    answers = {who: {f"q{k:02}": str(mark) for k in range(12)} for who, mark in worth.items()}
    run = examined(tmp_path, answers=answers)
    score(run)
    rated(run, tmp_path / "out", same("anna", "ben", order=("key", "0.9", "0.6", "0.3", "0.1")))
    found = study(run)
    (other,) = {r["other"] for r in found.rows if r["part"] == "metrics"}
    told = {r["figure"]: r for r in found.rows if r["other"] == other}
    assert 1.0 == told["tau"]["value"] == told["same_order"]["value"] == told["told_apart_alike"]["value"]
    assert 6 == told["same_order"]["n"]
    assert pytest.approx(1.0) == told["within"]["value"]
    assert "reference" not in other


def test_a_metric_that_turns_the_order_round_disagrees(tmp_path: Path) -> None:
    worth = {"Able": 0.1, "Fair": 0.3, "Poor": 0.6, "Worst": 0.9}
    answers = {who: {f"q{k:02}": str(mark) for k in range(12)} for who, mark in worth.items()}
    run = examined(tmp_path, answers=answers)
    score(run)
    rated(run, tmp_path / "out", same("anna", order=("key", "0.1", "0.3", "0.6", "0.9")))
    told = {r["figure"]: r["value"] for r in study(run).rows if r["part"] == "metrics"}
    assert (-1.0, 0.0, 0.0) == (told["tau"], told["same_order"], told["told_apart_alike"])


def test_three_candidates_are_too_few_to_order(tmp_path: Path) -> None:
    answers = {
        who: {f"q{k:02}": str(m) for k in range(12)}
        for who, m in (("Able", 0.9), ("Fair", 0.5), ("Poor", 0.1))
    }
    run = examined(tmp_path, answers=answers)
    score(run)
    rated(run, tmp_path / "out", same("anna", order=("key", "0.9", "0.5", "0.1")))
    found = study(run)
    assert "3 candidates: too few to order" == row(found, figure="tau")["reason"]
    assert pytest.approx(1.0) == row(found, figure="within")["value"]


def test_equal_answers_count_once_in_agreement(tmp_path: Path) -> None:
    """Copies of one answer rank alike by construction: W of two opposed raters stays 0 with a copy."""
    opposed = {
        "a": by_word("key", "five", "some", "spoonful"),
        "b": by_word("spoonful", "some", "five", "key"),
    }
    alone, copied = (
        examined(tmp_path / "a"),
        examined(
            tmp_path / "b", answers={"Copy": {f"q{k:02}": f"five milligrams for q{k:02}" for k in range(12)}}
        ),
    )
    rated(alone, tmp_path / "1", opposed)
    rated(copied, tmp_path / "2", opposed)
    assert [0.0, 0.0] == [row(study(run), figure="kendall_w")["value"] for run in (alone, copied)]
    ranks = values(study(copied), "mean_rank")
    assert ranks["Able"] == ranks["Copy"]


def test_nothing_ranked_is_said(tmp_path: Path) -> None:
    run = examined(tmp_path)
    score(run, "token_f1")
    found = study(run)
    assert () == found.rows
    assert "No panel has ranked answers here" in found.text


def test_the_order_in_which_ballots_came_changes_nothing(tmp_path: Path) -> None:
    one, other = drawn(examined(tmp_path / "one")), drawn(examined(tmp_path / "other"))
    rated(one, tmp_path / "a", same("anna", "ben"))
    rated(other, tmp_path / "b", same("ben", "anna"))
    assert study(one).rows == study(other).rows
