"""The board of many submissions: who counts, who is tied, and what is not on it, by name with the reason."""

import csv
import html
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.systems.cliniqlink.submissions.making import answers, fake_encoder, scored, write_exam

from vivavoce.core.errors import InputError, StoreError
from vivavoce.systems.cliniqlink.submissions.board import Leaderboard, read_board
from vivavoce.systems.cliniqlink.submissions.board_files import write_board

Viva = Callable[..., Any]
SHARES = {"best": 0.97, "good": 0.9, "fair": 0.86, "middle": 0.5, "low": 0.2}
HOSTILE = "<script>alert(1)</script>"


class Made(NamedTuple):
    """Scored runs to one exam, by the share of right answers, and some that are not for the board."""

    spec: str
    runs: dict[str, Path]
    together: dict[str, dict[str, Any]]
    """The study's overall of each, where all are candidates of one run."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("made")
    with fake_encoder():
        spec = write_exam(folder / "data", 12)
        texts = {name: answers(spec, share, k) for k, (name, share) in enumerate(SHARES.items())}
        runs = {name: folder / f"{name}.viva" for name in texts}
        for name, path in runs.items():
            scored(path, spec, {"my-model": texts[name]})
        rows = scored(folder / "together.viva", spec, texts).study("overall")["overall"].rows
        runs["published"] = folder / "published.viva"
        scored(runs["published"], spec, {"my-model": texts["best"]}, ("cliniqlink(rules=published)",))
        runs["unscored"] = folder / "unscored.viva"
        scored(runs["unscored"], spec, {"my-model": texts["best"]}, ("accuracy",))
        runs["two"] = folder / "two.viva"
        scored(runs["two"], spec, {"one": texts["best"], "other": texts["low"]})
        lacking = dict.fromkeys(("TF-0", "list-3"), "")
        runs["blank"] = folder / "blank.viva"
        scored(runs["blank"], spec, {"my-model": texts["good"] | lacking})
        runs["missing"] = folder / "missing.viva"
        present = {item: text for item, text in texts["good"].items() if item != "TF-0"}
        scored(runs["missing"], spec, {"my-model": present | {"list-3": None}})
        runs["failed"] = folder / "failed.viva"
        failed = {"item": "TF-0", "candidate": "my-model", "text": None, "error": "timeout"}
        scored(runs["failed"], spec, {"my-model": present}, (), more=[failed]).score("cliniqlink")
        runs["half"] = folder / "half.viva"
        scored(runs["half"], spec, {"my-model": present}).import_answers(
            [{"item": "TF-0", "candidate": "my-model", "text": "True"}], benchmark=spec
        )
        other = write_exam(folder / "turned", 12, turned=True)
        runs["other"] = folder / "other.viva"
        scored(runs["other"], other, {"my-model": answers(other, 0.99, 9)})
        few = write_exam(folder / "few", 3)
        for k, name in enumerate(("few one", "few other")):
            runs[name] = folder / f"{name}.viva"
            scored(runs[name], few, {"my-model": answers(few, 0.5, k)})
        yield Made(spec, runs, {row["candidate"]: row for row in rows if row["format"] == "overall"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "submissions"


@pytest.fixture
def put(made: Made, folder: Path) -> Callable[..., Path]:
    """Lays a submission into the folder: a run of that name, and a card of these fields."""

    def lay(place: str, run: str, **fields: object) -> Path:
        (folder / place).mkdir(parents=True)
        shutil.copy(made.runs[run], folder / place / "run.viva")
        lines = (f"{name}: {json.dumps(value)}\n" for name, value in ({"team": place} | fields).items())
        (folder / place / "submission.yaml").write_text("".join(lines), encoding="utf-8")
        return folder / place

    return lay


@pytest.fixture
def full(put: Callable[..., Path], folder: Path) -> Path:
    """Five submissions of five teams."""
    for day, name in enumerate(SHARES, 1):
        put(name, name, date=f"2026-03-0{day}")
    return folder


def places(board: Leaderboard) -> list[str]:
    return [row.place for row in board.rows]


def reasons(board: Leaderboard) -> dict[str, str]:
    return {entry.place: entry.reason for entry in board.refused}


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
    assert board.lead.endswith("are statistically tied for first, of 5 submissions.")
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


def test_a_run_without_a_card_is_a_team_by_the_name_of_its_file(put: Any, made: Made, folder: Path) -> None:
    put("a", "best")
    shutil.copy(made.runs["low"], folder / "Some model.viva")
    row = read_board(folder).rows[1]
    assert ("Some model", None, None) == (row.team, row.date, row.size_class)


# Who counts


def test_of_a_team_the_first_three_by_date_count(put: Any, folder: Path) -> None:
    put("z first", "low", team="Team A", date="2026-03-01")
    put("y second", "middle", team="team  A", date="2026-03-01T08:00:00")
    put("x third", "fair", team="ＴＥＡＭ A", date="2026-03-02")
    put("a fourth", "best", team="Team\u200b A", date="2026-03-03")
    put("b undated", "good", team="Team A")
    board = read_board(folder)
    assert {"z first", "y second", "x third"} == set(places(board))
    sentence = "a team has at most 3 submissions, and z first, y second and x third came first."
    assert {"a fourth": sentence, "b undated": sentence} == reasons(board)


def test_another_team_is_not_counted_with_it(full: Path) -> None:
    assert 5 == len(read_board(full).rows)


def test_what_cannot_be_ranked_takes_no_place_of_the_three(put: Any, folder: Path) -> None:
    put("1", "unscored", team="A", date="2026-03-01")
    for day, name in enumerate(("best", "fair", "low"), 2):
        put(str(day), name, team="A", date=f"2026-03-0{day}")
    board = read_board(folder)
    assert {"2", "3", "4"} == set(places(board))
    assert ["1"] == list(reasons(board))


def test_another_exam_is_refused_by_name(full: Path, put: Any) -> None:
    put("stranger", "other")
    board = read_board(full)
    assert set(SHARES) == set(places(board))
    assert reasons(board)["stranger"].startswith("it is of another exam: its questions, keys or cases")


def test_as_many_of_two_exams_are_no_board(put: Any, folder: Path) -> None:
    put("a", "best")
    put("b", "other")
    with pytest.raises(
        InputError, match="the submissions are of two exams, 1 of each: a holds other questions"
    ):
        read_board(folder)


def test_an_altered_run_is_refused_by_its_hash(full: Path, put: Any) -> None:
    good = read_board(full).rows[0]
    put("stated", "middle", sha256="ab" * 32)
    card = full / good.place / "submission.yaml"
    card.write_text(card.read_text() + f"sha256: '{good.sha256.upper()}'\n")
    board = read_board(full)
    assert good.place in places(board)
    reason = reasons(board)["stated"]
    assert reason.startswith("stated/run.viva is not the file that was taken in: its SHA-256 is ")
    assert "ab" * 32 in reason


def test_a_run_whose_scores_were_changed_is_refused(full: Path, put: Any) -> None:
    path = put("changed", "middle") / "run.viva"
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE scores SET value = 1.0 WHERE value < 1.0")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")
    reason = reasons(read_board(full))["changed"]
    assert "is not as vivavoce wrote it" in reason
    assert reason.endswith("It is not ranked.")


def test_a_run_that_is_still_open_is_refused(full: Path, put: Any) -> None:
    path = put("open", "middle") / "run.viva"
    path.with_name("run.viva-wal").write_bytes(b"x")
    assert "open/run.viva is open in a program, or was not closed" in reasons(read_board(full))["open"]


def test_a_copy_of_another_submission_is_refused(full: Path, put: Any) -> None:
    put("copy", "best", date="2026-04-01")
    assert "its run is that of best, byte by byte." == reasons(read_board(full))["copy"]


def test_other_scores_are_refused(full: Path, put: Any) -> None:
    for name in ("published", "unscored", "two"):
        put(f"of {name}", name)
    said = reasons(read_board(full))
    assert said["of published"].startswith("it is scored otherwise than the others, by cliniqlink(")
    assert said["of unscored"].endswith("needs scores by one version of cliniqlink, from `viva score`.")
    assert "of two/run.viva holds 2 candidates (one, other): name one under candidate" in said["of two"]
    assert all(str(full.parent) not in reason for reason in said.values())


def test_a_card_may_name_one_of_several_candidates(full: Path, put: Any) -> None:
    put("of two", "two", candidate="other")
    put("none of two", "two", candidate="othr")
    board = read_board(full)
    assert "of two" in places(board)
    assert "has no candidate 'othr'" in reasons(board)["none of two"]


@pytest.mark.parametrize(
    ("card", "sentence"),
    [
        ("team: [x", "no valid YAML"),
        ("team: ''", "names no team"),
        ("team: '\u200b'", "names no team"),
        ("team: 2026-01-01", "team is a text"),
        ("tean: A", "has no field 'tean'. Did you mean"),
        ("team: A\ndate: soon", "date is a day or a time in UTC"),
        ("team: A\ndate: 7", "date is a day or a time in UTC"),
        ("team: A\ndate: '0001-01-01T00:00+14:00'", "date is a day or a time in UTC"),
        ("team: A\nsize_gb: -1", "size_gb is a number above 0"),
        ("team: A\nsize_gb: big", "size_gb is a number above 0"),
        ("team: A\nparameters: true", "parameters is a number above 0"),
        ("team: A\nsha256: abc", "sha256 is 64 hex digits"),
        ("team: A\nrun: ../best/run.viva", "is no file of this folder"),
        ("team: A\nrun: absent.viva", "holds no run 'absent.viva'"),
        ("a\nlist", "a mapping of names to settings is needed"),
    ],
)
def test_a_faulty_card_is_named_and_loses_no_other(full: Path, put: Any, card: str, sentence: str) -> None:
    (put("faulty", "middle") / "submission.yaml").write_text(card, encoding="utf-8")
    board = read_board(full)
    assert set(SHARES) == set(places(board))
    assert sentence in reasons(board)["faulty"]


def test_what_is_no_run_is_named(full: Path, put: Any) -> None:
    (put("text", "best") / "run.viva").write_text("no database")
    (put("none", "best") / "run.viva").unlink()
    shutil.copy(full / "best" / "run.viva", put("several", "low") / "second.viva")
    said = reasons(read_board(full))
    assert "text/run.viva" in said["text"]
    assert "none holds no run file" in said["none"]
    assert "several holds 2 runs (run.viva, second.viva)" in said["several"]


def test_a_folder_without_a_submission_that_can_be_ranked_is_no_board(put: Any, folder: Path) -> None:
    with pytest.raises(InputError, match="cannot read the folder"):
        read_board(folder)
    folder.mkdir()
    (folder / "notes").mkdir()
    with pytest.raises(InputError, match="holds no submissions: they are run files"):
        read_board(folder)
    put("a", "unscored")
    with pytest.raises(InputError, match=r"can be ranked, and 1 refused\. a: "):
        read_board(folder)


def test_submissions_are_left_as_they_are(full: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in full.rglob("*") if path.is_file()}
    write_board(read_board(full), tmp_path / "board.html")
    assert before == {path: path.read_bytes() for path in full.rglob("*") if path.is_file()}


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


def test_an_answer_that_failed_on_our_side_is_not_the_teams(put: Any, folder: Path, tmp_path: Path) -> None:
    put("failed", "failed")
    put("other", "low")
    board = read_board(folder)
    row = board.rows[0]
    assert ("failed", 0, 1) == (row.place, row.n_missing, row.n_failed)
    assert "1 failed" in page_of(board, tmp_path)


def test_a_run_that_is_not_scored_to_its_end_is_refused(full: Path, put: Any) -> None:
    put("half", "half")
    assert "1 of 84 answers have no score yet: `viva score half/run.viva" in reasons(read_board(full))["half"]


# What is shown


@pytest.mark.parametrize(
    ("size", "expected"), [(10, "up to 10 GB"), (10.01, "over 10 GB"), (0.5, "up to 10 GB"), (None, None)]
)
def test_the_class_of_size_is_that_of_the_paper(
    put: Any, folder: Path, size: float | None, expected: str | None
) -> None:
    put("a", "best", size_gb=size, parameters="7.6e9")
    (row,) = read_board(folder).rows
    assert (expected, size, 7.6e9) == (row.size_class, row.size_gb, row.parameters)


def test_the_page_shows_dates_sizes_hashes_and_what_is_not_on_it(
    full: Path, put: Any, tmp_path: Path
) -> None:
    put("timed", "two", candidate="one", date="2026-03-09T10:30:00+02:00", size_gb=140, parameters="7e10")
    put("refused", "unscored")
    board = read_board(full)
    page = page_of(board, tmp_path)
    for text in ("2026-03-01", "2026-03-09 08:30 UTC", "over 10 GB", "70 B parameters", "not stated"):
        assert text in page
    assert all(row.sha256 in page for row in board.rows)
    assert board.refused[0].reason in html.unescape(page)
    assert str(full.parent) not in page


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
    assert ["'=cmd|' /C calc'!A0", "\x1b[31m"] == [row["system"] for row in rows]
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


def test_an_earlier_board_is_replaced_and_nothing_else(full: Path, tmp_path: Path) -> None:
    board = read_board(full)
    files = write_board(board, tmp_path / "board.html")
    write_board(board, files.page)
    files.table.write_text("our own table")
    with pytest.raises(StoreError, match=r"board.csv is there already and is no board"):
        write_board(board, files.page)
    assert "our own table" == files.table.read_text()
    with pytest.raises(StoreError, match="give a path such as"):
        write_board(board, tmp_path / "board.csv")


# The shell


def test_the_shell_ranks_a_folder(viva: Viva, full: Path, put: Any, tmp_path: Path) -> None:
    put("refused", "unscored")
    told = json.loads(viva("challenge", "board", full, "--to", tmp_path / "b.html", "--json").stdout)
    board = read_board(full)
    assert "viva.challenge/1" == told["schema"]
    assert [row.flat for row in board.rows] == told["rows"]
    assert [entry._asdict() for entry in board.refused] == told["refused"]
    assert board.lead == told["text"]
    assert {str(tmp_path / "b.html"), str(tmp_path / "b.csv")} == {told["page"], told["table"]}
    shown = viva("challenge", "board", full, "--to", tmp_path / "b.html").stdout
    assert shown.startswith(board.lead)
    assert "Not on the board: refused: " in shown


def test_the_page_lies_in_the_folder_where_no_path_is_given(viva: Viva, full: Path) -> None:
    viva("challenge", "board", full, "--quiet")
    viva("challenge", "board", full, "--quiet")  # its own page is no submission
    assert (full / "leaderboard.html").is_file()
    with pytest.raises(InputError, match="--image goes with bundle, not with board"):
        viva("challenge", "board", full, "--image", "lab/x")


def test_the_metric_chooses_among_several_scores(viva: Viva, put: Any, folder: Path) -> None:
    put("a", "published")
    put("b", "best")
    words = ("challenge", "board", folder, "--json", "--metric", "cliniqlink(rules=published)")
    told = json.loads(viva(*words).stdout)
    assert ["a"] == [row["place"] for row in told["rows"]]
    assert ["b"] == [row["place"] for row in told["refused"]]
