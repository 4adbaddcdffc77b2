"""The board of many submissions: who is tied, what is missing, and what is shown."""

import csv
import html
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.systems.cliniqlink.submissions.conftest import Made
from tests.systems.cliniqlink.submissions.making import answers, reasons, scored

from vivavoce.core.errors import InputError, StoreError
from vivavoce.systems.cliniqlink.submissions.board import Leaderboard, read_board
from vivavoce.systems.cliniqlink.submissions.board_files import write_board

Viva = Callable[..., Any]
HOSTILE = "<script>alert(1)</script>"


def page_of(board: Leaderboard, tmp_path: Path) -> str:
    return write_board(board, tmp_path / "board.html").page.read_text(encoding="utf-8")


# Ranks


def test_runs_in_a_folder_rank_as_candidates_of_one_run(full: Path, made: Made) -> None:
    for row in read_board(full).rows:
        together = made.together[row.place]
        for name in ("rank", "rank_low", "rank_high", "tied_with", "n_common"):
            assert together[name] == getattr(row, name), (row.place, name)
        for name, value in (("estimate", row.overall), ("low", row.low), ("high", row.high)):
            assert together[name] == pytest.approx(value, abs=1e-12)


def test_the_best_is_first_and_ties_are_named(full: Path) -> None:
    board = read_board(full)
    overalls = [row.overall for row in board.rows]
    assert sorted(overalls, reverse=True) == overalls
    first = [row for row in board.rows if row.rank_low == 1]
    assert 2 <= len(first) < 5
    assert all(row.tied_with for row in first)
    assert board.lead.startswith("Of 5 submissions, ")
    assert board.lead.endswith(" are not separated from the first.")
    assert all(row.title in board.lead for row in first)


def test_one_submission_told_apart_from_all_is_alone_in_first_place(put: Any, folder: Path) -> None:
    put("a", "best")
    put("b", "low")
    assert "Of 2 submissions, paired tests put a alone in first place." == read_board(folder).lead


def test_one_submission_has_an_overall_and_no_rank(put: Any, folder: Path) -> None:
    put("a", "best")
    board = read_board(folder)
    (row,) = board.rows
    assert (None, None) == (row.rank, row.ranks)
    assert row.overall is not None
    assert "1 submission, and no rank: one candidate has no rank." == board.lead


def test_too_few_paragraphs_give_means_and_no_ranks(put: Any, folder: Path, tmp_path: Path) -> None:
    put("a", "few one")
    put("b", "few other")
    board = read_board(folder)
    assert all(row.rank is None and "too few to rank" in (row.reason or "") for row in board.rows)
    assert board.lead.startswith("2 submissions, and no rank: 3 cases")
    assert "too few to rank" in page_of(board, tmp_path)


def test_the_overall_by_which_ranks_go_stands_beside_the_own_one_where_they_differ(
    put: Any, folder: Path, tmp_path: Path
) -> None:
    put("failed", "failed")
    put("best", "best")
    board = read_board(folder)
    shown = page_of(board, tmp_path)
    for row in board.rows:
        assert f"{row.overall_common:.3f} on 83 shared" in shown
    assert "Ranks rest on the questions that all have scores on" in shown


def test_the_page_holds_no_hash_on_which_keys_could_be_tried(pair: Path, tmp_path: Path) -> None:
    board = read_board(pair)
    assert "corpus=" not in page_of(board, tmp_path)
    assert board.metric.startswith("cliniqlink(")


def test_a_run_without_a_card_is_a_team_by_the_name_of_its_file(put: Any, made: Made, folder: Path) -> None:
    put("a", "best")
    shutil.copy(made.runs["low"], folder / "Some model.viva")
    row = read_board(folder).rows[1]
    assert ("Some model", None, None) == (row.team, row.date, row.size_class)


# What is missing


def test_a_missing_answer_ranks_as_an_empty_one_and_is_counted(put: Any, folder: Path) -> None:
    put("blank", "blank")
    put("missing", "missing")
    put("other", "middle")
    board = {row.place: row for row in read_board(folder).rows}
    one, other = board["blank"], board["missing"]
    assert (0, 2) == (one.n_missing, other.n_missing)
    for name in ("overall", "low", "high", "rank", "rank_low", "rank_high", "formats", "unanswered"):
        assert getattr(one, name) == getattr(other, name), name
    assert {84} == {row.n_common for row in board.values()}  # it takes no question from the others


def test_a_question_that_nobody_answered_counts_as_an_empty_answer(made: Made, tmp_path: Path) -> None:
    figures = []
    for name in ("blank", "missing"):
        (tmp_path / name).mkdir()
        shutil.copy(made.runs[name], tmp_path / name / "alone.viva")
        (row,) = read_board(tmp_path / name).rows
        figures.append((row.overall, row.low, row.high, row.formats, row.unanswered))
    assert figures[0] == figures[1]


def test_a_null_in_one_repeat_counts_as_an_empty_answer_to_it(made: Made, tmp_path: Path) -> None:
    texts, boards = answers(made.spec, 0.9, 1), []
    for name, text in (("blank", ""), ("null", None)):
        (tmp_path / name).mkdir()
        second = [
            {"item": item, "candidate": "my-model", "repeat": 2, "text": text if item == "TF-0" else given}
            for item, given in texts.items()
        ]
        scored(tmp_path / name / "run.viva", made.spec, {"my-model": texts}, more=second)
        (row,) = read_board(tmp_path / name).rows
        boards.append((row.overall, row.formats, row.n_missing, row.n_failed))
    assert boards[0] == boards[1]
    assert (0, 0) == boards[0][2:]


def test_variants_that_were_made_in_a_run_are_no_questions_of_the_exam(made: Made, folder: Path) -> None:
    folder.mkdir()
    run = scored(folder / "varied.viva", made.spec, {"my-model": answers(made.spec, 0.9, 1)})
    before = read_board(folder).rows[0]
    run.vary("bias(type=recency)")
    variants = run.items.drop_nulls("origin").select("item", "variant").rows()
    lines = [{"item": i, "variant": v, "candidate": "my-model", "text": "one"} for i, v in variants]
    run.import_answers(lines, benchmark=made.spec)
    run.score("cliniqlink")
    (row,) = read_board(folder).rows
    assert (before.overall, before.low, 0) == (row.overall, row.low, row.n_missing)


def test_an_answer_that_failed_on_our_side_is_not_the_teams(put: Any, folder: Path, tmp_path: Path) -> None:
    put("failed", "failed")
    put("other", "low")
    board = read_board(folder)
    row = board.rows[0]
    assert ("failed", 0, 1) == (row.place, row.n_missing, row.n_failed)
    assert "1 failed" in page_of(board, tmp_path)


def test_a_run_that_is_not_scored_to_its_end_is_refused(pair: Path, put: Any) -> None:
    put("half", "half")
    assert "1 of 84 answers have no score yet: `viva score half/run.viva" in reasons(read_board(pair))["half"]


# What is shown


def test_the_class_of_size_is_that_of_the_paper(put: Any, folder: Path) -> None:
    classes = {10: "up to 10 GB", 10.01: "over 10 GB", 0.5: "up to 10 GB", None: None}
    for run, size in zip(("best", "good", "fair", "middle"), classes, strict=True):
        put(run, run, size_gb=size, parameters="7.6e9")
    rows = read_board(folder).rows
    assert classes == {row.size_gb: row.size_class for row in rows}
    assert {7.6e9} == {row.parameters for row in rows}


def test_the_page_shows_dates_sizes_hashes_and_what_is_not_on_it(
    pair: Path, put: Any, tmp_path: Path
) -> None:
    put("timed", "two", candidate="one", date="2026-03-09T10:30:00+02:00", size_gb=140, parameters="7e10")
    put("refused", "unscored")
    board = read_board(pair)
    page = page_of(board, tmp_path)
    for text in ("2026-03-01", "2026-03-09 08:30 UTC", "over 10 GB", "70 B parameters", "not stated"):
        assert text in page
    assert all(row.sha256 in page for row in board.rows)
    assert board.refused[0].reason in html.unescape(page)
    assert str(pair.parent) not in page


def test_hostile_names_are_text_in_page_and_table(put: Any, folder: Path, tmp_path: Path) -> None:
    put("a", "best", team=f"{HOSTILE}\u202egnp.exe", system="=cmd|' /C calc'!A0")
    put("b", "low", team="+" + "x" * 5_000, system="\x1b[31m")
    board = read_board(folder)
    page = page_of(board, tmp_path)
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page
    assert [] == [sign for sign in "\u202e\x1b" if sign in page]
    assert "x" * 200 not in page
    assert [] == [word for word in ("<script", "http:", "https:", "src=", "@import", "url(") if word in page]
    assert "default-src 'none'" in html.unescape(page)
    with (tmp_path / "board.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert ["'=cmd|' /C calc'!A0", "\ufffd[31m"] == [row["system"] for row in rows]
    assert rows[1]["team"].startswith("'+x")
    assert [row.overall for row in board.rows] == [float(row["overall"]) for row in rows]


def test_a_name_that_is_no_text_is_shown_with_a_mark(made: Made, folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    shutil.copy(made.runs["best"], os.fsencode(folder) + b"/caf\xe9.viva")
    board = read_board(folder)
    assert ("caf\ufffd.viva", "caf\ufffd") == (board.rows[0].place, board.rows[0].team)
    assert "caf\ufffd" in page_of(board, tmp_path)


def test_a_team_with_a_line_end_in_its_name_stays_on_one_line(put: Any, folder: Path) -> None:
    put("a", "best", team="Team\nNot on the board: b")
    assert "Team Not on the board: b" == read_board(folder).rows[0].team


def test_an_earlier_board_is_replaced_and_nothing_else(pair: Path, tmp_path: Path) -> None:
    board = read_board(pair)
    files = write_board(board, tmp_path / "board.html")
    write_board(board, files.page)
    files.table.write_text("our own table")
    with pytest.raises(StoreError, match=r"board.csv is there already and is no board"):
        write_board(board, files.page)
    assert "our own table" == files.table.read_text()
    for other in (tmp_path / "board.csv", Path()):
        with pytest.raises(StoreError, match="give a path such as"):
            write_board(board, other)


# The shell


def test_the_shell_ranks_a_folder(viva: Viva, pair: Path, put: Any, tmp_path: Path) -> None:
    put("refused", "unscored")
    told = json.loads(viva("challenge", "board", pair, "--to", tmp_path / "b.html", "--json").stdout)
    board = read_board(pair)
    assert "viva.challenge/1" == told["schema"]
    assert [row.flat for row in board.rows] == told["rows"]
    assert [entry._asdict() for entry in board.refused] == told["refused"]
    assert board.lead == told["text"]
    assert {str(tmp_path / "b.html"), str(tmp_path / "b.csv")} == {told["page"], told["table"]}
    shown = viva("challenge", "board", pair, "--to", tmp_path / "b.html").stdout
    assert shown.startswith(board.lead)
    assert "Not on the board: refused: " in shown


def test_the_page_lies_in_the_folder_where_no_path_is_given(viva: Viva, pair: Path) -> None:
    viva("challenge", "board", pair, "--quiet")
    viva("challenge", "board", pair, "--quiet")  # its own page is no submission
    assert (pair / "leaderboard.html").is_file()
    with pytest.raises(InputError, match="--image goes with bundle, not with board"):
        viva("challenge", "board", pair, "--image", "lab/x")


def test_the_metric_chooses_among_several_scores(viva: Viva, put: Any, folder: Path) -> None:
    put("a", "published")
    put("b", "best")
    words = ("challenge", "board", folder, "--json", "--metric", "cliniqlink(rules=published)")
    told = json.loads(viva(*words).stdout)
    assert ["a"] == [row["place"] for row in told["rows"]]
    assert ["b"] == [row["place"] for row in told["refused"]]
