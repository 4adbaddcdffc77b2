"""Which submissions are on the board, and the others by name with the reason."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.lengths import length
from tests.systems.cliniqlink.submissions.conftest import PAIR, Made
from tests.systems.cliniqlink.submissions.making import answers, places, reasons, scored, write_exam

from vivavoce.core.errors import InputError
from vivavoce.systems.cliniqlink.submissions.board import read_board
from vivavoce.systems.cliniqlink.submissions.board_files import write_board
from vivavoce.systems.cliniqlink.submissions.likeness import name_shape

# Who counts


def test_of_a_team_the_first_three_by_date_count(put: Any, folder: Path) -> None:
    put("z first", "low", team="Team A", date="2026-03-01")
    put("y second", "middle", team="team  A", date="2026-03-01T08:00:00")
    put("x third", "fair", team="ＴＥＡＭ A", date="2026-03-02")
    put("a fourth", "best", team="Team\u200b A\ufe0f", date="2026-03-03")
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


def test_another_exam_is_refused_by_name(pair: Path, put: Any) -> None:
    put("stranger", "other")
    board = read_board(pair)
    assert set(PAIR) == set(places(board))
    assert reasons(board)["stranger"].startswith("it is of another exam: its questions, keys or cases")


def test_as_many_of_two_exams_are_no_board(put: Any, folder: Path) -> None:
    put("a", "best")
    put("b", "other")
    with pytest.raises(
        InputError, match="the submissions are of two exams, 1 of each: a holds other questions"
    ):
        read_board(folder)


def test_an_altered_run_is_refused_by_its_hash(pair: Path, put: Any) -> None:
    good = read_board(pair).rows[0]
    put("stated", "middle", sha256="ab" * 32)
    card = pair / good.place / "submission.yaml"
    card.write_text(card.read_text() + f"sha256: '{good.sha256.upper()}'\n")
    board = read_board(pair)
    assert good.place in places(board)
    reason = reasons(board)["stated"]
    assert reason.startswith("stated/run.viva is not the file that was taken in: its SHA-256 is ")
    assert "ab" * 32 in reason


def test_a_run_whose_scores_were_changed_is_refused(pair: Path, put: Any) -> None:
    path = put("changed", "middle") / "run.viva"
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE scores SET value = 1.0 WHERE value < 1.0")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")
    reason = reasons(read_board(pair))["changed"]
    assert "is not as vivavoce wrote it" in reason
    assert reason.endswith("It is not ranked.")


def test_a_run_that_is_still_open_is_refused(pair: Path, put: Any) -> None:
    path = put("open", "middle") / "run.viva"
    path.with_name("run.viva-wal").write_bytes(b"x")
    assert "open/run.viva is open in a program, or was not closed" in reasons(read_board(pair))["open"]


def test_a_copy_of_another_submission_is_refused(pair: Path, put: Any) -> None:
    put("copy", "best", date="2026-04-01")
    assert "its run is that of best, byte by byte." == reasons(read_board(pair))["copy"]


def test_copies_have_no_vote_on_the_exam(put: Any, folder: Path) -> None:
    for name in ("best", "low"):
        put(name, name)
    for day in range(1, 4):
        put(f"stranger {day}", "other", date=f"2026-03-0{day}")
    board = read_board(folder)
    assert {"best", "low"} == set(places(board))
    assert reasons(board)["stranger 1"].startswith("it is of another exam")


def test_a_run_of_two_candidates_may_be_submitted_once_for_each(put: Any, folder: Path) -> None:
    for place, candidate in (("a", "one"), ("b", "other"), ("c", "other")):
        put(place, "two", candidate=candidate)
    board = read_board(folder)
    assert ["a", "b"] == places(board)
    assert {"c": "its run is that of b, byte by byte."} == reasons(board)


def test_names_of_runs_and_candidates_are_taken_as_they_are_written(
    made: Made, put: Any, folder: Path
) -> None:
    texts = answers(made.spec, 0.9, 1)
    place = put("a", "best")
    (place / "submission.yaml").write_text("team: A\nrun: my  run.viva\ncandidate: my  model\n")
    scored(place / "my  run.viva", made.spec, {"my  model": texts, "another": texts})
    assert ["a"] == places(read_board(folder))


def test_scores_by_another_metric_are_no_ranks(put: Any, folder: Path) -> None:
    put("a", "unscored")
    with pytest.raises(
        InputError, match=r"the board ranks by cliniqlink, which scores all formats, not by acc"
    ):
        read_board(folder, metric="accuracy")


def test_other_scores_are_refused(pair: Path, put: Any) -> None:
    for name in ("published", "unscored", "two"):
        put(f"of {name}", name)
    said = reasons(read_board(pair))
    assert said["of published"].startswith("it is scored otherwise than the others, by cliniqlink(")
    assert said["of unscored"].endswith("needs scores by one version of cliniqlink, from `viva score`.")
    assert "of two/run.viva holds 2 candidates (one, other): name one under candidate" in said["of two"]
    assert all(str(pair.parent) not in reason for reason in said.values())


def test_a_card_may_name_one_of_several_candidates(pair: Path, put: Any) -> None:
    put("of two", "two", candidate="other")
    put("none of two", "two", candidate="othr")
    board = read_board(pair)
    assert "of two" in places(board)
    assert "has no candidate 'othr'" in reasons(board)["none of two"]


FAULTY_CARDS = [
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
    (f"team: A\nrun: {'a' * 300}", "holds no run 'aaa"),
    ('team: A\nrun: "a\\0b"', "holds no run 'a\\x00b'"),
    ("team: '\ufe0f\u3164'", "names no team"),
    ("a\nlist", "a mapping of names to settings is needed"),
]


def test_faulty_cards_are_named_and_lose_no_other(pair: Path, put: Any) -> None:
    for number, (card, _) in enumerate(FAULTY_CARDS):
        (put(f"faulty {number}", "middle") / "submission.yaml").write_text(card, encoding="utf-8")
    board = read_board(pair)
    assert set(PAIR) == set(places(board))
    refused = reasons(board)
    assert len(FAULTY_CARDS) == len(refused)
    silent = {
        card: refused[f"faulty {number}"]
        for number, (card, sentence) in enumerate(FAULTY_CARDS)
        if sentence not in refused[f"faulty {number}"]
    }
    assert {} == silent


@pytest.mark.parametrize("name", ["submission.yml", "Submission.YAML", "SUBMISSION.yml"])
def test_a_card_under_another_name_is_read(put: Any, folder: Path, name: str) -> None:
    lying = put("a", "best", team="Team A", date="2026-03-01", size_gb=3)
    (lying / "submission.yaml").rename(lying / name)
    (row,) = read_board(folder).rows
    assert ("Team A", "2026-03-01", 3.0) == (row.team, row.date, row.size_gb)
    (lying / name).write_text("tean: A")
    with pytest.raises(InputError, match=f"{name} has no field 'tean'"):
        read_board(folder)


def test_two_cards_in_a_folder_are_named(pair: Path, put: Any) -> None:
    shutil.copy(put("double", "middle") / "submission.yaml", pair / "double" / "submission.yml")
    board = read_board(pair)
    expected = "double holds several cards (submission.yaml, submission.yml): keep the right one."
    assert {"double": expected} == reasons(board)


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


DATES = {
    "2026-03-01": False,
    "2026-03-02": False,  # it is tomorrow already on some islands
    "2026-03-03": True,
    "9999-12-31": True,
    "2026-03-01T12:00": False,
    "2026-03-01T12:01": True,
    "2026-03-01T14:00+02:00": False,
    "2026-03-01T12:00-01:00": True,
    "0001-01-01": False,
}
"""Whether each is refused as in the future."""


def test_a_date_in_the_future_is_refused(put: Any, folder: Path) -> None:
    runs = ("best", "good", "fair", "middle", "low", "blank", "missing", "failed", "two")
    for number, (date, run) in enumerate(zip(DATES, runs, strict=True)):
        put(f"early {number}", run, date=date, **({"candidate": "one"} if run == "two" else {}))
    late = {f"early {number}": date for number, (date, is_late) in enumerate(DATES.items()) if is_late}
    refused = reasons(read_board(folder, now=NOW))
    assert late.keys() == refused.keys()
    for place, date in late.items():
        sentence = (
            f"{place}/submission.yaml: the date {date} is in the future, seen from 2026-03-01 12:00 UTC: "
        )
        assert refused[place].startswith(sentence)
    assert () == read_board(folder).refused


def test_the_shell_refuses_a_date_in_the_future(viva: Any, put: Any, pair: Path) -> None:
    put("early", "middle", date="9998-01-01")
    assert "Not on the board: early: early/submission.yaml: the date 9998-01-01 is in the future" in (
        viva("challenge", "board", pair).stdout
    )


def test_a_card_that_is_a_link_to_nothing_is_named(pair: Path, put: Any) -> None:
    card = put("faulty", "middle") / "submission.yaml"
    card.unlink()
    card.symlink_to("absent")
    assert "cannot read the card of faulty/submission.yaml" in reasons(read_board(pair))["faulty"]


def test_what_a_desktop_lays_beside_a_run_is_no_run(put: Any, folder: Path) -> None:
    (put("a", "best") / "._run.viva").write_bytes(b"what a Mac adds")
    assert ["a"] == places(read_board(folder))


def test_the_name_of_a_folder_cannot_pass_for_a_line_of_ours(pair: Path) -> None:
    hostile = pair / "x\nNot on the board: best: copied"
    hostile.mkdir()
    (hostile / "submission.yaml").write_text("team: A")
    (entry,) = read_board(pair).refused
    assert "x Not on the board: best: copied" == entry.place
    assert "\n" not in entry.reason


def test_what_is_no_run_is_named(pair: Path, put: Any) -> None:
    (put("text", "best") / "run.viva").write_text("no database")
    (put("none", "best") / "run.viva").unlink()
    shutil.copy(pair / "best" / "run.viva", put("several", "low") / "second.viva")
    said = reasons(read_board(pair))
    assert "text/run.viva" in said["text"]
    assert "none holds no run file" in said["none"]
    assert "several holds 2 runs (run.viva, second.viva)" in said["several"]


def test_a_folder_without_a_submission_that_can_be_ranked_is_no_board(put: Any, folder: Path) -> None:
    with pytest.raises(InputError, match="cannot read the folder"):
        read_board(folder)
    folder.mkdir()
    (folder / "notes.txt").touch()
    with pytest.raises(InputError, match="holds no submissions: they are run files"):
        read_board(folder)
    put("a", "unscored")
    with pytest.raises(InputError, match=r"can be ranked, and 1 refused\. a: "):
        read_board(folder)


def test_submissions_are_left_as_they_are(pair: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in pair.rglob("*") if path.is_file()}
    write_board(read_board(pair), tmp_path / "board.html")
    assert before == {path: path.read_bytes() for path in pair.rglob("*") if path.is_file()}


# What looks alike


def test_names_that_look_alike_are_named_and_count_apart(put: Any, folder: Path, tmp_path: Path) -> None:
    put("a", "best", team="Team A")
    put("b", "good", team="\u0422e\u0430m \u0410.")  # Cyrillic letters
    put("c", "fair", team="Other")
    board = read_board(folder)
    assert (
        "The names Team A and \u0422e\u0430m \u0410. look alike, and count as different teams.",
    ) == board.notes
    assert "look alike" in write_board(board, tmp_path / "board.html").page.read_text(encoding="utf-8")


def test_one_team_is_like_no_other(put: Any, folder: Path) -> None:
    put("a", "best", team="Team A")
    put("b", "good", team="TEAM  a")
    put("c", "fair", team="Team B")
    assert () == read_board(folder).notes


@pytest.mark.parametrize(
    ("first", "second"), [("Team-1", "teaml"), ("\u0391\u0399", "AI"), ("Caf\u00e9", "Cafe"), ("A_B", "ab")]
)
def test_names_of_one_shape(first: str, second: str) -> None:
    assert name_shape(first) == name_shape(second)


def test_names_of_other_shapes() -> None:
    assert "" == name_shape("?!")
    assert name_shape("Team A") != name_shape("Team B")


def test_the_same_answers_under_another_name_are_named(put: Any, made: Made, folder: Path) -> None:
    put("a", "best")
    again = scored(folder / "b.viva", made.spec, {"renamed": answers(made.spec, 0.97, 0)})
    assert ("a and b.viva give the same answers.",) == read_board(folder).notes
    assert again.file.exists


def test_an_absent_answer_and_a_null_are_the_same_and_none_at_all_is_like_no_other(
    made: Made, folder: Path
) -> None:
    folder.mkdir()
    texts = answers(made.spec, 0.9, 5)
    nulls: dict[str, str | None] = {**texts, "TF-0": None}
    scored(folder / "a.viva", made.spec, {"m": nulls})
    scored(
        folder / "b.viva", made.spec, {"m": {item: text for item, text in texts.items() if item != "TF-0"}}
    )
    for place in ("c", "d"):
        scored(folder / f"{place}.viva", made.spec, {"m": dict.fromkeys(texts)})
    assert ("a.viva and b.viva give the same answers.",) == read_board(folder).notes


# One exam, scored one way


def test_the_exam_can_be_named(put: Any, made: Made, folder: Path) -> None:
    turned = write_exam(folder.parent / "turned", 12, turned=True)
    put("a", "other")
    scored(folder / "b.viva", turned, {"m": answers(turned, 0.5, 1)})
    put("c", "best")
    assert ["c"] == places(read_board(folder, benchmark=made.spec))
    assert {"a", "b.viva"} == set(places(read_board(folder)))
    said = reasons(read_board(folder, benchmark=made.spec))
    assert "not those of the benchmark" in said["a"]


def test_as_many_scored_otherwise_are_for_the_organiser_to_choose_from(put: Any, folder: Path) -> None:
    put("a", "published")
    put("b", "best")
    with pytest.raises(InputError, match=r"1 of each\): choose with --metric, or score all alike"):
        read_board(folder)
    assert ["a"] == places(read_board(folder, metric="cliniqlink(rules=published)"))


def test_a_folder_without_a_run_is_named(pair: Path) -> None:
    (pair / "results").mkdir()
    (pair / "results" / "TF.json").write_text("{}")
    assert "results holds no run file (*.viva)." == reasons(read_board(pair))["results"]


# The sentences


NAMES, PLACES = ("b", "b/", "./b", ".", "a b", "b.*(b)+[b]", "b/../b/b"), ("bomb", "b", "a b", "b.*(b)+[b]")
CARDS = {
    "": "/run.viva holds 2 candidates (one, other): name one",
    "run: ab/bomb": "/submission.yaml: run 'ab/bomb' is no file of this folder.",
    "team: [": "/submission.yaml, line 1",
}
"""What is said of the place of a submission of two candidates with such a card, or none."""


@pytest.mark.parametrize("turn", range(length(1, len(CARDS))))
@pytest.mark.parametrize("name", NAMES)
def test_a_reason_names_a_file_by_its_place_in_the_folder(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, turn: int
) -> None:
    """Whatever the folder is called: the same characters in a name or a value are no path."""
    monkeypatch.chdir(tmp_path)
    for shift, folder in enumerate((Path(name), Path(name).absolute()), turn + NAMES.index(name)):
        expected = {}
        for number, place in enumerate(PLACES):
            card = list(CARDS)[(number + shift) % len(CARDS)]
            (folder / place).mkdir(parents=True)
            shutil.copy(made.runs["two"], folder / place / "run.viva")
            if card:
                (folder / place / "submission.yaml").write_text(card)
            expected[place] = f"{place}{CARDS[card]}"
        shutil.copy(made.runs["good"], folder / "b good.viva")
        refused = reasons(read_board(folder))
        assert expected.keys() == refused.keys()
        assert {} == {
            place: refused[place] for place in PLACES if not refused[place].startswith(expected[place])
        }
        for place in PLACES:
            shutil.rmtree(folder / place)
