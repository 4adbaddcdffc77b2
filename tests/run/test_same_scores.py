"""The same scores twice: recognised under another rater or measure, by whatever way they come in."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.people.test_reviews import table
from tests.studies.making import Answers, made, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import InputError
from vivavoce.run.run import Run, open_run

ANSWERS: Answers = {name: {f"q{n}": "x" for n in range(5)} for name in "AB"}
VALUES = (4, 2, 3, 5, 1)
Rows = Sequence[Mapping[str, Any]]


def rows(values: Sequence[float] = VALUES, candidates: str = "AB", **fields: Any) -> list[dict[str, Any]]:
    """Each candidate's scores of the questions, B's one lower."""
    return [
        {"item": f"q{n}", "candidate": name, "criterion": "worth", "value": value - (name == "B"), **fields}
        for name in candidates
        for n, value in enumerate(values)
    ]


def store(run: Run, entries: Rows, measure: str = "labels", name: str = "labels", **settings: Any) -> Any:
    file = write_lines(run.file.path.parent / f"{name}.jsonl", entries)
    return run.import_scores(file, measure=measure, **{"range": {"*": (-1, 5)}} | settings)


def refused(run: Run, entries: Rows, measure: str = "labels", **settings: Any) -> str:
    stored = contents(run)
    with pytest.raises(InputError) as error:
        store(run, entries, measure, **settings)
    assert stored == contents(run)
    return str(error.value)


def contents(run: Run) -> str:
    with closing(sqlite3.connect(run.file.path)) as db:
        return "\n".join(db.iterdump())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Ten scores came in without a rater."""
    run = made(tmp_path, ANSWERS)
    store(run, rows())
    return run


def test_the_same_scores_under_a_rater_are_refused_in_a_sentence(run: Run) -> None:
    sentence = refused(run, rows(rater="anna"), name="second")
    assert sentence.endswith(
        "second.jsonl: 10 scores by labels: worth by anna are in this run already, by labels: worth without "
        "a rater: `viva retire RUN labels --rater ''` takes those out first, and --again (again=True) stores "
        "them a second time, as when two raters agree in everything. Nothing was imported."
    )


@each_case(
    ("name", "entries", "measure"),
    [
        ("another measure", rows(), "expert"),
        ("another setting", rows(), "labels(version=2)"),
        ("a criterion without a name", [{**row, "criterion": None} for row in rows()], "expert"),
        ("a part", rows(candidates="A"), "expert"),
        ("a judge", rows(), "judge(rubric=r, model=m)"),
        ("in another order", rows()[::-1], "expert"),
    ],
)
def test_they_are_recognised_under_any_name(run: Run, name: str, entries: Rows, measure: str) -> None:
    assert "are in this run already, by labels: worth without a rater" in refused(run, entries, measure)


def test_more_candidates_than_before_do_not_hide_what_was_there(run: Run) -> None:
    made(run.file.path.parent, {"C": {f"q{n}": "y" for n in range(5)}}, run=run)
    sentence = refused(run, rows(candidates="ABC", rater="anna"))
    assert "10 of the 15 scores by labels: worth by anna are in this run already" in sentence


def test_again_stores_them_a_second_time(run: Run) -> None:
    store(run, rows(rater="anna"), again=True)
    assert ["", "anna"] == [m.rater for m in run.measures]


def test_retired_scores_come_in_under_their_right_name(run: Run) -> None:
    run.retire("labels", rater="")
    store(run, rows(rater="anna"))
    assert ["anna"] == [m.rater for m in run.measures]


def test_the_same_import_again_changes_nothing(run: Run) -> None:
    scores = run.scores
    store(run, rows())
    assert scores.equals(run.scores)


@each_case(
    ("name", "entries"),
    [
        ("one score differs", rows((4, 2, 3, 5, 2), rater="ben")),
        (
            "one candidate differs",
            [*rows(candidates="A", rater="ben"), *rows((1, 1, 1, 1, 2), "B", rater="ben")],
        ),
        ("another pass", rows(rater="ben", pass_no=2)),
        ("another criterion", [{**row, "criterion": "harm"} for row in rows(rater="ben")]),
        ("few", rows(VALUES[:2], rater="ben")),
    ],
)
def test_raters_who_agree_in_part_or_in_little_are_two_raters(run: Run, name: str, entries: Rows) -> None:
    store(run, entries, name=f"file-{len(run.measures)}", measure=f"by({name.replace(' ', '_')}=1)")
    assert run.measures[-1].rater == "ben"


def test_raters_who_find_nothing_wrong_are_two_raters_unless_the_file_is_one(tmp_path: Path) -> None:
    run = made(tmp_path, ANSWERS)
    entries = [{**row, "value": 1} for row in rows()]
    store(run, entries)
    store(run, [{**row, "rater": "anna"} for row in entries], name="second")
    sentence = refused(run, entries, "expert")
    assert "10 scores by expert: worth without a rater are in this run already" in sentence


def test_criteria_of_a_rater_belong_together(tmp_path: Path) -> None:
    """No harm was found by either, but they differ in what an answer is worth."""
    run = made(tmp_path, ANSWERS)
    for rater, shift in (("anna", 0), ("ben", 1)):
        entries = [
            {"item": row["item"], "candidate": row["candidate"], "rater": rater,
             "harm": n % 2, "worth": min(5, row["value"] + shift)}
            for n, row in enumerate(rows())
        ]  # fmt: skip
        store(run, entries, criteria=["harm", "worth"], name=rater)
    assert 4 == len(run.measures)


def test_two_raters_in_one_file_are_not_held_against_each_other(tmp_path: Path) -> None:
    run = made(tmp_path, ANSWERS)
    store(run, [*rows(rater="anna"), *rows(rater="ben")])
    assert ["anna", "ben"] == [m.rater for m in run.measures]


def test_scores_that_were_given_here_are_no_import(tmp_path: Path) -> None:
    run = made(tmp_path, ANSWERS)
    run.score("exact")
    exact = {(row["item"], row["candidate"]): row["value"] for row in run.scores.iter_rows(named=True)}
    store(run, [{"item": i, "candidate": c, "value": v} for (i, c), v in exact.items()], "check")
    assert 2 == len(run.measures)


def test_of_data_in_memory_too(run: Run) -> None:
    with pytest.raises(
        InputError, match="the data: 10 scores by labels: worth by anna are in this run already"
    ):
        run.import_scores(rows(rater="anna"), measure="labels", range={"*": (-1, 5)})


def test_scores_under_a_retired_name_are_refused_and_not_lost_silently(run: Run) -> None:
    run.retire("labels")
    sentence = refused(run, rows((1, 1, 2, 2, 3)))
    assert sentence == (
        "labels: worth without a rater is retired in this run, and more scores by it would count nowhere: "
        "name another measure or rater, or undo it with `viva retire RUN labels --rater '' --undo`. Nothing "
        "was stored."
    )


def test_the_command_refuses_and_again_stores(run: Run) -> None:
    file = write_lines(run.file.path.parent / "second.jsonl", rows(rater="anna"))
    words = ["import", str(run.file.path), str(file), "--scores", "--measure", "labels", "--range=-1:5"]
    done = CliRunner().invoke(cli.app, words)
    assert isinstance(done.exception, InputError)
    done = CliRunner().invoke(cli.app, [*words, "--again", "--json"])
    assert 10 == json.loads(done.stdout)["rows"][0]["scores"]


def test_again_says_nothing_of_answers(run: Run) -> None:
    file = write_lines(run.file.path.parent / "a.jsonl", [{"item": "q0", "candidate": "A", "text": "x"}])
    done = CliRunner().invoke(cli.app, ["import", str(run.file.path), str(file), "--again"])
    assert "--again says something of scores" in str(done.exception)


# Logs of harnesses


@pytest.fixture
def log(shared: Path) -> Path:
    (path,) = (shared / "data/peers/inspect").glob("*med-mcq.json")
    return path


def marks(run: Run) -> list[dict[str, Any]]:
    columns = ("item", "candidate", "repeat", "value")
    return run.scores.filter(metric="inspect.choice").select(columns).to_dicts()


def test_marks_of_a_log_that_come_again_as_a_table_are_recognised(log: Path, tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    run.import_logs(log)
    assert "10 scores by correct by anna are in this run already, by inspect.choice" in refused(
        run, [{**mark, "rater": "anna"} for mark in marks(run)], "correct"
    )


def test_a_table_that_comes_again_as_the_log_it_was_made_of_is_recognised(log: Path, tmp_path: Path) -> None:
    scored = open_run(tmp_path / "scored.viva")
    scored.import_logs(log)
    content = json.loads(log.read_text())
    for sample in content["samples"]:
        sample["scores"] = None
    unscored = tmp_path / log.name
    unscored.write_text(json.dumps(content))
    run = open_run(tmp_path / "run.viva")
    run.import_logs(unscored)
    store(run, marks(scored), "correct")
    with pytest.raises(
        InputError, match=r"10 scores by inspect\.choice without a rater are in this run already"
    ):
        run.import_logs(log)
    assert 1 == len(run.measures)
    run.import_logs(log, again=True)
    assert 2 == len(run.measures)


def test_a_log_with_marks_of_a_retired_measure_says_that_they_do_not_count(log: Path, tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    run.import_logs(log)
    run.retire("inspect.choice")
    (imported,) = run.import_logs(log).logs
    assert "inspect.choice is retired in this run: its scores are stored and count nowhere; " in " ".join(
        imported.notes
    )
    assert [] == run.measures


# Ballots


def test_reviews_under_another_rater_are_recognised(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {f"i{n}": "x" for n in range(6)}})
    lines = [f"i{n},MC,{{}},{'yes' if n else 'no'},{n % 5 + 1}" for n in range(6)]
    run.import_ballots(table(tmp_path, *(line.format("anna") for line in lines)))
    second = table(tmp_path, *(line.format("ann") for line in lines))
    with pytest.raises(InputError, match="12 scores by review: correct by ann are in this run already"):
        run.import_ballots(second)
    run.import_ballots(second, again=True)
    run.retire("review", rater="ann")
    assert {"anna"} == {m.rater for m in run.measures}
    with pytest.raises(InputError, match="review: correct by ann is retired in this run, and more scores"):
        run.import_ballots(second)


def test_a_merge_says_which_scores_were_there_by_another_rater(run: Run, tmp_path: Path) -> None:
    second = made(tmp_path / "second", ANSWERS)
    store(second, rows(rater="anna"))
    (merged,) = run.merge(second.file.path)
    assert (
        f"{second.file.path}: 10 scores by labels: worth by anna were in this run already, by labels: worth "
        "without a rater: if one rater gave them, `viva retire RUN labels --rater ''` takes those out.",
    ) == merged.notes
    assert () == run.merge(second.file.path)[0].notes
