"""Answers side by side: ballots in every order, ties, silence, and what may be made of ranks."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import SILENT, made, row

from vivavoce.core.errors import VivaError
from vivavoce.run.run import Run

ProvidersFile = Callable[..., Path]
PAIRWISE = "judge(rubric=pairwise, model=fake/j1)"
LISTWISE = "judge(rubric=listwise, model=fake/j1)"


def means(run: Run, criterion: str) -> dict[str, float | None]:
    return {r["candidate"]: r["estimate"] for r in run.estimates().rows if r["criterion"] == criterion}


def test_a_pair_is_shown_in_both_orders_and_a_ballot_is_one_call(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 3"}, "B": {"q1": "worth 2"}})
    run.score(PAIRWISE, providers=providers_file())
    assert [("worth 2", "worth 3"), ("worth 3", "worth 2")] == sorted(sent.answers for sent in judge.sent)
    told = run.scores.select("candidate", "position", "value").sort("candidate", "position").rows()
    assert [("A", 1, 1.0), ("A", 2, 1.0), ("B", 1, 0.0), ("B", 2, 0.0)] == told
    ballots = run.scores.group_by("ballot").agg("candidate", "position")
    assert [["A", "B"]] * 2 == [sorted(names) for names in ballots["candidate"]]
    assert [[1, 2]] * 2 == [sorted(places) for places in ballots["position"]]


def test_a_judge_that_always_prefers_the_first_finds_nobody_better(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Two orders that contradict each other are a tie; each order is kept as it was judged."""
    judge.worth = lambda sent: [1.0, 0.0]
    items = [f"q{k}" for k in range(4)]
    run = made(tmp_path, {"A": dict.fromkeys(items, "x"), "B": dict.fromkeys(items, "y")})
    run.score(PAIRWISE, providers=providers_file())
    assert {"A": 0.5, "B": 0.5} == means(run, "preference")
    assert {(1, 1.0), (2, 0.0)} == set(run.scores.select("position", "value").rows())
    assert 0.0 == run.compare("A", "B", metric=PAIRWISE).rows[0]["difference"]


def test_a_tie_is_half_a_win(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 2", "q2": "worth 3"}, "B": {"q1": "worth 2", "q2": "worth 2"}})
    run.score(PAIRWISE, providers=providers_file())
    assert {"A": 0.75, "B": 0.25} == means(run, "preference")


def test_three_candidates_are_six_ballots_and_a_second_run_asks_nothing(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {name: {"q1": f"worth {k}"} for k, name in enumerate("ABC")})
    run.score(PAIRWISE, providers=providers_file())
    assert 6 == len(judge.sent) == run.scores["ballot"].n_unique()
    assert {"A": 0.0, "B": 0.5, "C": 1.0} == means(run, "preference")
    run.score(PAIRWISE, providers=providers_file())
    assert 6 == len(judge.sent)


def test_a_new_candidate_meets_the_others_and_they_are_not_asked_about_again(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    answers = {name: {"q1": f"worth {k}"} for k, name in enumerate("ABC")}
    run = made(tmp_path, {name: answers[name] for name in "AB"})
    run.score(PAIRWISE, providers=providers_file())
    made(tmp_path, answers, run=run)
    run.score(PAIRWISE, providers=providers_file())
    assert 2 + 4 == len(judge.sent) == len({sent.answers for sent in judge.sent})


def test_two_of_three_are_compared_on_their_own_ballots(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """A loses to C everywhere; between A and B only their own meetings count, which A wins."""
    items = [f"q{k}" for k in range(3)]
    said = {"A": "worth 2", "B": "worth 1", "C": "worth 3"}
    run = made(tmp_path, {name: dict.fromkeys(items, text) for name, text in said.items()})
    run.score(PAIRWISE, providers=providers_file())
    assert {"A": 0.5, "B": 0.0, "C": 1.0} == means(run, "preference")
    (found,) = run.compare("A", "B", metric=PAIRWISE).rows
    assert 1.0 == found["difference"]


def test_silence_loses_without_a_judge_and_a_lost_answer_is_nobodys_defeat(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """q1: B is silent. q2: B's answer never arrived. q3: nobody says anything."""
    run = made(
        tmp_path,
        {"A": {"q1": "x", "q2": "x", "q3": SILENT}, "B": {"q1": SILENT, "q2": None, "q3": SILENT}},
    )
    run.score(PAIRWISE, providers=providers_file())
    assert [] == judge.sent
    fates = {
        (item, candidate): (status, value)
        for item, candidate, status, value in run.scores.select("item", "candidate", "status", "value").rows()
    }
    assert {
        ("q1", "A"): ("ok", 1.0),
        ("q1", "B"): ("unanswered", None),
        ("q2", "A"): ("failed", None),
        ("q2", "B"): ("failed", None),
        ("q3", "A"): ("unanswered", None),
        ("q3", "B"): ("unanswered", None),
    } == fates
    assert {"A": 0.5, "B": None} == means(run, "preference")  # of B nothing but silence: no result
    made(tmp_path, {"B": {"q2": "worth 0"}}, items=["q1", "q2", "q3"], run=run)
    run.score(PAIRWISE, providers=providers_file())
    assert 2 == len(judge.sent)
    assert 0 == run.scores.filter(run.scores["status"] == "failed").height


def test_a_ballot_whose_reply_was_lost_is_asked_again_alone(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 2", "q2": "odd"}, "B": {"q1": "x", "q2": "y"}})
    judge.manners = {"odd": ("empty", "structured", "empty", "structured")}
    run.score(PAIRWISE, providers=providers_file(concurrency=1))
    assert Counter({"ok": 6, "failed": 2}) == Counter(run.scores["status"])
    assert {"empty reply; asked again: empty reply"} == set(notes(run))
    judge.sent.clear()
    run.score(PAIRWISE, providers=providers_file())
    assert 1 == len(judge.sent)
    assert {"ok"} == set(run.scores["status"])


def notes(run: Run) -> list[str]:
    with run.file.reading() as db:
        return [note for (note,) in db.execute("SELECT note FROM scores WHERE note IS NOT NULL")]


def test_ranks_with_ties_are_mid_ranks_and_have_no_mean(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """D before A and B, who tie, before C: ranks 1, 2.5, 2.5, 4; ahead of 3, 1.5, 1.5 and 0 of three."""
    said = {"A": "worth 2", "B": "worth 2", "C": "worth 1", "D": "worth 3"}
    run = made(tmp_path, {name: {"q1": text} for name, text in said.items()})
    run.score(LISTWISE, providers=providers_file())
    first, second = (sent.answers for sent in judge.sent)
    assert first == second[::-1]
    ranks = run.scores.filter(run.scores["criterion"] == "rank")
    assert {("A", 2.5), ("B", 2.5), ("C", 4.0), ("D", 1.0)} == set(ranks.select("candidate", "value").rows())
    assert {"ahead"} == {r["criterion"] for r in run.estimates().rows}
    assert {"A": 0.5, "B": 0.5, "C": 0.0, "D": 1.0} == means(run, "ahead")


def test_who_is_silent_stands_behind_all_who_were_ranked(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Of A, B and C the last is silent: A beats 2 of 2, B 1 of 2, C nobody; C is on no list."""
    run = made(tmp_path, {"A": {"q1": "worth 2"}, "B": {"q1": "worth 1"}, "C": {"q1": SILENT}})
    run.score(LISTWISE, providers=providers_file())
    assert [2, 2] == [len(sent.answers) for sent in judge.sent]
    assert {"A": 1.0, "B": 0.5, "C": None} == means(run, "ahead")  # of C nothing but silence: no result


def test_one_order_may_be_enough(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 2"}, "B": {"q1": "worth 1"}})
    run.score("judge(rubric=pairwise, model=fake/j1, orders_shown=1)", providers=providers_file())
    assert 1 == len(judge.sent)
    assert {"A": 1.0, "B": 0.0} == means(run, "preference")


def test_nobody_is_compared_with_himself(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(VivaError, match="takes two candidates or more, and this run has A"):
        run.score(PAIRWISE, providers=providers_file())
    assert [] == judge.sent


def test_a_baseline_stands_on_no_ballot(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    answers = {"A": {"q1": "x"}, "B": {"q1": "y"}, "key": {"q1": "z"}}
    run = made(tmp_path, answers, role={"key": "ceiling"})
    run.score(PAIRWISE, providers=providers_file())
    assert {"A", "B"} == set(run.scores["candidate"])


def test_repeats_meet_their_like(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": {"q1": ["a1", "a2"]}, "B": {"q1": ["b1", "b2"]}})
    run.score(PAIRWISE, providers=providers_file())
    assert {("a1", "b1"), ("b1", "a1"), ("a2", "b2"), ("b2", "a2")} == {s.answers for s in judge.sent}


def test_passes_of_a_contest_are_calls_of_their_own(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 2"}, "B": {"q1": "worth 1"}})
    viva("score", run.file.path, PAIRWISE, "--passes", 2, "--providers", providers_file())
    assert 4 == len(judge.sent)
    assert [1, 1, 1, 1, 2, 2, 2, 2] == sorted(run.scores["pass_no"])
    assert 1.0 == row(run.estimates(), candidate="A")["estimate"]


def test_a_lost_answer_that_comes_later_takes_its_place_on_the_ballot(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """And the others are placed anew: what they were worth without it is worth nothing now."""
    answers = {"A": {"q1": "worth 3"}, "B": {"q1": "worth 2"}}
    run = made(tmp_path, {**answers, "C": {"q1": None}})
    run.score(LISTWISE, providers=providers_file())
    assert {"A": 1.0, "B": 0.0, "C": None} == means(run, "ahead")
    made(tmp_path, {"C": {"q1": "worth 1"}}, run=run)
    run.score(LISTWISE, providers=providers_file())
    assert {"A": 1.0, "B": 0.5, "C": 0.0} == means(run, "ahead")
    assert {3} == set(run.scores.filter(criterion="ahead").group_by("ballot").len()["len"])


def test_where_everybody_stands_does_not_depend_on_who_came_first(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    answers = {name: {"q1": f"worth {k}"} for k, name in enumerate("ABCD")}
    late = made(tmp_path, {name: answers[name] for name in "BC"})
    late.score(LISTWISE, providers=providers_file())
    made(tmp_path, answers, run=late)
    late.score(LISTWISE, providers=providers_file())
    (tmp_path / "once").mkdir()
    once = made(tmp_path / "once", answers)
    once.score(LISTWISE, providers=providers_file())
    assert means(once, "ahead") == means(late, "ahead")
    assert once.scores["ballot"].n_unique() == late.scores["ballot"].n_unique() == 2


def test_one_order_of_a_pair_is_drawn_without_regard_to_the_others(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    single = "judge(rubric=pairwise, model=fake/j1, orders_shown=1)"
    answers = {name: {"q1": f"worth {k}"} for k, name in enumerate("ABC")}
    run = made(tmp_path, {name: answers[name] for name in "BC"})
    run.score(single, providers=providers_file())
    made(tmp_path, answers, run=run)
    run.score(single, providers=providers_file())
    assert 3 == len(judge.sent) == run.scores["ballot"].n_unique()
