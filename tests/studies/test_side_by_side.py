"""Answers set side by side: whom an answer met is no noise of the judge's, and each answer counts once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.judging import JUDGE, OTHER, card, judged, some
from tests.studies.making import SILENT, row

from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.view import with_view
from vivavoce.studies.answers import BLANK
from vivavoce.studies.comparing.status import status
from vivavoce.studies.coverage import Requests
from vivavoce.studies.score_table import ITEM_KEY

Line = tuple[Any, ...]
BEATS = {("A", "B"): "A", ("B", "C"): "B", ("A", "C"): "A"}


def ballot(item: str, pass_no: int, shown: Sequence[str], wins: str, rater: str | None = None) -> list[Line]:
    """The scores of one ballot: 1 for who wins, 0 for the others."""
    name = f"{item} {'-'.join(shown)}"
    return [
        (who, item, float(who == wins), rater, "won", pass_no, name, position)
        for position, who in enumerate(shown, 1)
    ]


def tournament(winner: Callable[[int, int, tuple[str, str]], str | None], n: int = 12) -> list[Line]:
    """Every pair of A, B and C on each of the cases in two passes; without a `winner` nobody scored."""
    return [
        line
        for k in range(n)
        for pass_no in (1, 2)
        for pair in BEATS
        if (wins := winner(k, pass_no, pair)) is not None
        for line in ballot(f"q{k:02}", pass_no, pair, wins)
    ]


def held(folder: Path, lines: Sequence[Line]) -> Run:
    return judged(folder, {JUDGE: lines}, range={"*": (0, 1)})


def noise(run: Run, candidate: str) -> float:
    found = run.study("consistency")["consistency"]
    return float(row(found, candidate=candidate)["s2_pass"])


def test_a_judge_who_says_the_same_again_has_no_noise_whoever_was_met(tmp_path: Path) -> None:
    """B beats C and loses to A, in both passes."""
    run = held(tmp_path, tournament(lambda k, pass_no, pair: BEATS[pair]))
    assert [0.0, 0.0, 0.0] == [noise(run, name) for name in "ABC"]


def test_what_a_second_pass_turns_is_noise_of_the_answers_mark(tmp_path: Path) -> None:
    """B loses to C in the second pass of six cases: its mean falls from .5 to 0, a variance of .125."""
    turned = {("B", "C"): "C"}
    run = held(tmp_path, tournament(lambda k, n, pair: (turned if n == 2 and k < 6 else BEATS).get(pair)
                                    or BEATS[pair]))  # fmt: skip
    assert [0.0, pytest.approx(0.0625), pytest.approx(0.0625)] == [noise(run, name) for name in "ABC"]


def test_a_ballot_that_one_pass_lacks_is_no_noise(tmp_path: Path) -> None:
    lost = [("B", "C"), ("A", "C")]
    run = held(tmp_path, tournament(lambda k, n, pair: None if n == 2 and pair in lost else BEATS[pair]))
    assert [0.0, 0.0] == [noise(run, name) for name in "AB"]


def both_orders(turned: int, *, rater: str | None = None, pass_no: int = 1, n: int = 12) -> list[Line]:
    """Pairs of A and B in both orders, of which each wins one: the mean is a tie. In some both are turned."""
    lines = []
    for k in range(n):
        first, second = ("B", "A") if k < turned else ("A", "B")
        lines += ballot(f"q{k:02}", pass_no, ("A", "B"), first, rater)
        lines += ballot(f"q{k:02}", pass_no, ("B", "A"), second, rater)
    return lines


def test_ballots_that_turn_are_disagreement_though_the_means_stay(tmp_path: Path) -> None:
    """Of 24 ballots 16 turn in the second pass, and with them 32 of 48 scores."""
    run = held(tmp_path, [*both_orders(0), *both_orders(8, pass_no=2)])
    found = row(run.study("agreement")["agreement"], contrast="passes", coefficient="percent")
    assert (pytest.approx(1 / 3), 48, 12, 32) == tuple(
        found[k] for k in ("value", "n_units", "n_groups", "n_changed")
    )
    assert pytest.approx(0.0) == noise(run, "A")  # the score of an answer is the mean of its ballots


def test_two_passes_of_a_contest_are_a_retest(tmp_path: Path) -> None:
    found = card(held(tmp_path, [*both_orders(0), *both_orders(8, pass_no=2)]))
    retest = row(found, part="retest", contrast="passes", figure="percent")
    assert (pytest.approx(1 / 3), "passes", 32) == tuple(
        retest[k] for k in ("value", "contrast", "n_changed")
    )


def test_raters_are_held_beside_each_other_ballot_by_ballot(tmp_path: Path) -> None:
    run = judged(
        tmp_path, {JUDGE: both_orders(0, rater="m1"), OTHER: both_orders(3, rater="m2")},
        range={"*": (0, 1)},
    )  # fmt: skip
    found = row(run.study("agreement")["agreement"], contrast="raters", coefficient="percent")
    assert (pytest.approx(0.75), 48, 12) == tuple(found[k] for k in ("value", "n_units", "n_changed"))


def test_the_same_text_beside_other_texts_is_no_retest(tmp_path: Path) -> None:
    lines = [
        line
        for k in range(12)
        for repeat in (1, 2)
        for line in ballot(f"q{k:02}#{repeat}", 1, ("A", "B"), "AB"[(k + repeat) % 2])
    ]
    texts = {"B": {f"q{k:02}": ["one", "another"] for k in range(12)}}
    run = judged(tmp_path, {JUDGE: lines}, texts=texts, range={"*": (0, 1)})
    assert () == run.study("agreement")["agreement"].rows
    assert [None] == [r["figure"] for r in some(card(run), part="retest")]


def told(run: Run, responses: pl.DataFrame | None = None, about: str = "marks") -> dict[str, tuple[Any, ...]]:
    """By candidate what status says of all answers: how many, ok, unanswered, failed, and the causes."""
    marks = with_view(run.file, load_scores)
    rows = run.responses if responses is None else responses
    requests = Requests.of_rows(rows, rows.unique(ITEM_KEY))
    found = status(rows.with_columns(blank=BLANK), marks.scores, marks.measures, requests)
    names = ("responses", "ok", "unanswered", "failed", "causes")
    return {r["candidate"]: tuple(r[k] for k in names) for r in found.rows if r["about"] == about}


def test_ballots_are_no_answers(tmp_path: Path) -> None:
    run = held(tmp_path, tournament(lambda k, pass_no, pair: BEATS[pair]))
    assert {name: (12, 12, 0, 0, {}) for name in "ABC"} == told(run)


def test_edited_answers_stand_on_no_ballot_and_are_not_waited_for(tmp_path: Path) -> None:
    run = held(tmp_path, tournament(lambda k, pass_no, pair: BEATS[pair]))
    edited = run.responses.with_columns(edit=pl.lit("trim(words=5)"))
    assert told(run) == told(run, pl.concat([run.responses, edited]))
    alone = judged(tmp_path / "alone", {JUDGE: [("A", f"q{k:02}", 3) for k in range(12)]})
    edited = alone.responses.with_columns(edit=pl.lit("trim(words=5)"))
    responses = pl.concat([alone.responses, edited])
    assert {"A": (12, 12, 0, 0, {})} == told(alone, responses)
    assert {"A": (12, 0, 0, 0, {"not scored yet": 12})} == told(alone, responses, "variants")


def test_an_answer_without_another_beside_it_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody else answered q11; of q10 the ballot is still to come."""
    lines = [line for k in range(10) for line in ballot(f"q{k:02}", 1, ("A", "B"), "A")]
    run = held(tmp_path, lines)
    first = run.responses.filter(pl.col("item") == "q00")
    due = first.with_columns(item=pl.lit("q10"))
    alone = first.filter(pl.col("candidate") == "A").with_columns(item=pl.lit("q11"))
    found = told(run, pl.concat([run.responses, due, alone]))
    assert {name: (11, 10, 0, 0, {"not scored yet": 1}) for name in "AB"} == found


def test_an_answer_is_what_the_worst_of_its_marks_is(tmp_path: Path) -> None:
    """q00 lost the ballot against C in the second pass; everything else is ok."""
    lines = [
        (*line[:2], None if line[1] == "q00" and line[5] == 2 and "C" in line[6] else line[2], *line[3:])
        for line in tournament(lambda k, pass_no, pair: BEATS[pair])
    ]
    found = told(held(tmp_path, lines))
    assert {(12, 11, 0, 1)} == {one[:4] for one in found.values()}
    assert [1, 1, 1] == [sum(one[4].values()) for one in found.values()]


def test_a_silence_is_counted_once_in_however_many_passes(tmp_path: Path) -> None:
    lines = [("A", f"q{k:02}", None if k == 0 else 3, None, "worth", n) for k in range(8) for n in (1, 2, 3)]
    run = judged(tmp_path, {JUDGE: lines}, texts={"A": {"q00": SILENT}})
    assert (8, 7, 1, 0) == told(run)["A"][:4]
