"""Retired measures: out of all that a run says, in every copy of it, until that is undone."""

import json
import shlex
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.cases import each_case
from tests.studies.making import Answers, made, marked, score, write_lines
from tests.studies.people import RATING, benchmark, drawn, people_run
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.store import read
from vivavoce.store.view import View, with_view
from vivavoce.web.view.app import view_app

ANSWERS: Answers = {"A": {"q1": 0.5, "q2": 1, "q3": 0.25}, "B": {"q1": 0.25, "q2": 0.75, "q3": 0}}


def labels(run: Run, rater: str = "anna", measure: str = "labels", shift: float = 0.0) -> None:
    """Scores of every answer by a person, or by nobody who is named."""
    rows = [
        {"candidate": candidate, "item": item, "criterion": "worth", "rater": rater,
         "value": float(str(value)) + shift}
        for candidate, by_item in ANSWERS.items() for item, value in by_item.items()
    ]  # fmt: skip
    file = write_lines(run.file.path.parent / "labels.jsonl", rows)
    run.import_scores(file, measure=measure, range={"*": (0, 5)})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Scored here by `told`, and by anna and ben, who differ."""
    scored = marked(tmp_path, ANSWERS)
    labels(scored)
    labels(scored, "ben", shift=1.0)
    return scored


def measures(run: Run) -> list[tuple[str, str]]:
    return [(m.metric, m.rater) for m in run.measures]


def figures(run: Run) -> list[dict[str, Any]]:
    """The estimates, as they are compared with those of another state."""
    return [dict(row) for row in run.estimates().rows]


def test_a_retired_measure_is_in_no_table_and_nothing_is_deleted(run: Run) -> None:
    stored = rows_in_file(run)
    finding = run.retire("labels")
    assert [("told", "")] == measures(run)
    assert {"told"} == set(run.scores["metric"])
    assert {"told"} == {row["metric"] for row in figures(run)}
    assert {"told"} == {s.metric for s in run.response("q1", "A").scores}
    assert stored == rows_in_file(run)
    assert (
        "labels: worth by anna, labels: worth by ben is retired: its 12 scores no longer count in any "
        "estimate, comparison, study or report. Nothing is deleted, and --undo lets it count again."
    ) == finding.text


def rows_in_file(run: Run) -> list[Any]:
    with closing(sqlite3.connect(run.file.path)) as db:
        return db.execute("SELECT * FROM scores ORDER BY 1, 2, 3, 4, 5").fetchall()


def test_undone_everything_is_as_it_was(run: Run) -> None:
    estimates, compared = figures(run), run.compare("A", "B", metric="labels").rows
    run.retire("labels")
    run.retire("labels", undo=True)
    assert estimates == figures(run)
    assert compared == run.compare("A", "B", metric="labels").rows
    assert [] == retired_rows(run)


def retired_rows(run: Run) -> list[tuple[str, str, int]]:
    """What a status lists as retired."""
    rows = (row for row in run.status().rows if row["about"] == "retired")
    return [(row["metric"], row["rater"], row["scores"]) for row in rows]


def test_a_rater_is_retired_alone(run: Run) -> None:
    row = run.retire("labels", rater="anna").rows[0]
    assert [("told", ""), ("labels", "ben")] == measures(run)
    assert [("labels", "anna", 6)] == retired_rows(run)
    assert ("labels", "worth", "anna", "labels()@recorded", 6, True, True) == tuple(
        row[name] for name in ("metric", "criterion", "rater", "signature", "scores", "retired", "changed")
    )


def test_scores_without_a_rater_are_named_by_an_empty_one(tmp_path: Path) -> None:
    run = marked(tmp_path, ANSWERS)
    labels(run, "")
    labels(run, "anna", shift=1.0)
    assert "labels: worth without a rater is retired" in run.retire("labels", rater="").text
    assert [("told", ""), ("labels", "anna")] == measures(run)


def test_a_criterion_is_retired_alone_and_the_others_are_scored_on(tmp_path: Path) -> None:
    run = marked(tmp_path, ANSWERS)
    rows = [{"candidate": "A", "item": "q1", "harm": 1, "care": 2}]
    file = write_lines(tmp_path / "two.jsonl", rows)
    run.import_scores(file, measure="expert", criteria=["harm", "care"])
    run.retire("expert:harm")
    assert ["care"] == [m.criterion.criterion for m in run.measures if m.metric == "expert"]


@each_case(
    ("name", "call"),
    [
        ("compare", lambda run: run.compare("A", "B", metric="labels")),
        ("compare by criterion", lambda run: run.compare("A", "B", metric="labels:worth")),
        ("gate", lambda run: run.gate("A", "B", metric="labels", require="better")),
        ("veto", lambda run: run.gate("A", "B", metric="told", veto=["labels < 1"], max_critical=0)),
        ("labels", lambda run: run.compare("A", "B", metric="told", labels="labels")),
        ("primary", lambda run: run.compare("A", "B", primary="labels")),
        ("estimates", lambda run: run.estimates("labels")),
        ("signature", lambda run: run.estimates("labels()@recorded")),
        ("overall", lambda run: run.estimates("overall(metric=labels)")),
        ("part of an overall", lambda run: run.estimates("overall(metrics=['short:labels'])")),
        ("diff", lambda run: run.diff("told", "labels")),
        ("study", lambda run: run.study("examiners", labels="labels")),
        ("option of a study", lambda run: run.study("audit(trusted=labels)")),
        ("report", lambda run: run.report(primary="labels")),
        ("preferences", lambda run: run.export("x", format="preferences", metric="labels", margin=0.1)),
    ],
)
def test_a_retired_measure_that_is_named_gets_one_clear_sentence(
    run: Run, name: str, call: Callable[[Run], Any]
) -> None:
    if measures(run) != [("told", "")]:
        run.retire("labels")
    with pytest.raises(SelectionError) as error:
        call(run)
    assert " is retired in this run since " in str(error.value), name
    assert "--undo` counts it again." in str(error.value)


def test_one_rater_of_a_retired_measure_leaves_the_others_to_be_named(run: Run) -> None:
    run.retire("labels", rater="anna")
    assert {"ben"} == {row["rater"] for row in run.compare("A", "B", metric="labels").rows}
    with pytest.raises(SelectionError, match="labels is retired in this run since"):
        run.export(
            run.file.path.parent / "x", format="preferences", metric="labels", rater="anna", margin=0.1
        )


def test_a_run_of_which_all_is_retired_says_so(run: Run) -> None:
    run.retire("labels")
    run.retire("told")
    for call in (lambda: run.compare("A", "B"), lambda: run.study("ranking")):
        with pytest.raises(
            SelectionError, match=r"all that scored this run is retired \(told: worth, labels"
        ):
            call()
    assert () == run.estimates().rows
    assert 0 == run.scores.height
    assert "6 responses without any score" in repr(run)


def test_scoring_by_a_retired_metric_is_refused_before_anything_is_asked(run: Run) -> None:
    run.retire("told")
    with pytest.raises(SelectionError, match="told is retired in this run since"):
        score(run)
    with pytest.raises(SelectionError, match="told is retired in this run since"):
        score(run, dry_run=True)


def test_without_a_metric_those_that_are_retired_are_left_out(tmp_path: Path) -> None:
    run = made(tmp_path, ANSWERS)
    run.score()
    run.retire("exact")
    finding = run.score()
    assert {"token_f1"} == {row["metric"] for row in finding.rows}
    assert any(
        "scored by token_f1" in note and "retired in this run: exact." in note for note in finding.notes
    )
    run.retire("token_f1")
    with pytest.raises(SelectionError, match="all that scored this run is retired"):
        run.score()


def test_the_criterion_that_takes_the_place_of_a_retired_primary_one_says_why(run: Run) -> None:
    run.compare("A", "B", primary="labels")
    run.retire("labels")
    notes = run.compare("A", "B").notes
    assert "No --metric: compared by told: worth (the only criterion; labels is retired)." in notes


def test_a_comparison_that_was_made_is_a_test_and_no_figure_of_the_report(run: Run) -> None:
    run.compare("A", "B", metric="labels")
    run.retire("labels")
    second = run.compare("A", "B", metric="told")
    rows = run.report_rows(run.file.path.with_suffix(".html"))
    by_section = {
        name: [row for row in rows if row["section"] == name] for name in ("comparison", "limitation")
    }
    assert ["told"] == [row["metric"] for row in by_section["comparison"]]
    assert [2] == [row["looks"] for row in second.rows]
    sentences = [row["text"] for row in by_section["limitation"]]
    assert (
        "Scores by labels: worth by anna and labels: worth by ben are retired: they are in the run, and no "
        "figure here rests on them."
    ) in sentences
    assert "2 tests were made on this run; each makes chance findings likelier." in sentences


def test_a_study_that_rests_on_a_retired_measure_leaves_the_report_until_it_is_undone(run: Run) -> None:
    run.study("ranking")
    run.retire("labels")
    assert [] == studies_in_report(run)
    run.retire("labels", undo=True)
    assert ["ranking"] == studies_in_report(run)


def studies_in_report(run: Run) -> list[str]:
    rows = run.report_rows(run.file.path.with_suffix(".html"))
    return list(dict.fromkeys(row["study"] for row in rows if row["section"] == "study"))


def test_retired_labels_correct_no_judge_and_validate_none(tmp_path: Path) -> None:
    run = people_run(
        tmp_path, benchmark(3, n=40, noise=0.1), drawn(1, 40, 30), probability=0.75, raters=("ann", "bob")
    )

    def state(finding: Finding) -> list[tuple[Any, ...]]:
        rows = (row for row in finding.rows if row["rater"] not in ("ann", "bob"))
        return [(row["estimate_kind"], row["judge_alone"]) for row in rows]

    run.study("examiners", labels=RATING, margin=0.5)
    judge = next(m.metric for m in run.measures if m.metric != RATING)
    labelled = run.compare("A", "B", metric=judge)
    assert [("prediction_powered", False)] == state(labelled)
    assert "shown" in str(labelled.rows[0]["stamp"])
    run.retire(RATING)
    alone = run.compare("A", "B", metric=judge)
    assert [("scores", True)] == state(alone)
    assert "unvalidated" == alone.rows[0]["stamp"]
    run.retire(RATING, undo=True)
    assert labelled.rows[0]["stamp"] == run.compare("A", "B", metric=judge).rows[0]["stamp"]


def test_a_merge_brings_a_retirement_and_its_end(run: Run, tmp_path: Path) -> None:
    other_run = open_run(run.copy(tmp_path / "other.viva"))
    other_run.retire("labels", rater="anna")
    run.merge(other_run.file.path)
    assert [("labels", "anna", 6)] == retired_rows(run)
    run.retire("labels", rater="anna", undo=True)
    other_run.merge(run.file.path)
    assert [] == retired_rows(other_run)


def test_an_older_retirement_that_is_merged_again_does_not_come_back(run: Run, tmp_path: Path) -> None:
    run.retire("labels")
    old = run.copy(tmp_path / "old.viva")
    run.retire("labels", undo=True)
    run.merge(old)
    assert [] == retired_rows(run)


def test_two_retirements_in_two_runs_both_have_to_end(run: Run, tmp_path: Path) -> None:
    other_run = open_run(run.copy(tmp_path / "other.viva"))
    for each_run in (run, other_run):
        each_run.retire("labels", rater="ben")
    other_run.retire("labels", rater="ben", undo=True)
    run.merge(other_run.file.path)
    assert [("labels", "ben", 6)] == retired_rows(run)
    run.retire("labels", rater="ben", undo=True)
    assert [] == retired_rows(run)


def test_scores_that_come_by_a_merge_are_retired_too(run: Run, tmp_path: Path) -> None:
    more = made(tmp_path / "more", {"C": {"q1": 1, "q2": 1, "q3": 1}})
    file = write_lines(
        tmp_path / "c.jsonl",
        [{"candidate": "C", "item": "q1", "criterion": "worth", "rater": "anna", "value": 1}],
    )
    more.import_scores(file, measure="labels", range={"*": (0, 5)})
    run.retire("labels")
    run.merge(more.file.path)
    assert [("labels", "anna", 7), ("labels", "ben", 6)] == retired_rows(run)


@each_case("redact", [False, True])
def test_a_smaller_run_keeps_what_is_retired(run: Run, redact: bool) -> None:
    if not retired_rows(run):
        run.retire("labels", rater="anna")
    smaller = run.file.path.with_name(f"smaller-{redact}.viva")
    run.export(smaller, format="run", redact=redact)
    assert [("labels", "anna", 6)] == retired_rows(open_run(smaller))


def test_tables_hold_no_retired_score_and_say_which_measures_are(run: Run, tmp_path: Path) -> None:
    run.retire("labels", rater="anna")
    run.export(tmp_path / "out", format="csv")
    lines = {name: (tmp_path / f"out/{name}.csv").read_text().splitlines() for name in ("measures", "scores")}
    assert ["false", "true", "false"] == [line.rpartition(",")[2] for line in lines["measures"][1:]]
    assert 1 + 12 == len(lines["scores"])
    assert not any("anna" in line for line in lines["scores"])
    assert "retired" in (tmp_path / "out/README.txt").read_text()


def test_files_of_other_tools_hold_no_retired_score(run: Run, tmp_path: Path) -> None:
    run.retire("labels")
    written = run.export(tmp_path / "eee", format="every_eval_ever")
    texts = [path.read_text() for path in (tmp_path / "eee").rglob("*") if path.is_file()]
    assert not any('"labels' in text for text in texts)
    assert any("scores: by retired measures" in file.left_out for file in written)


def test_the_viewer_offers_and_shows_no_retired_score(run: Run) -> None:
    client = TestClient(view_app(run.file.path, "k" * 32), base_url="http://127.0.0.1:8017")
    assert "anna" in client.get(f"/?key={'k' * 32}").text
    assert "anna" in client.get("/answer/1").text
    run.retire("labels", rater="anna")
    assert "anna" not in client.get("/").text
    assert "anna" not in client.get("/answer/1").text
    assert "ben" in client.get("/answer/1").text
    with closing(sqlite3.connect(run.file.path)) as db:
        (key,) = db.execute("SELECT measure_id FROM measures WHERE rater = 'anna'").fetchone()
    page = client.get(f"/?measure={key}")
    assert "this measure is retired in this run" in page.text


def test_a_notebook_shows_what_is_retired(run: Run) -> None:
    run.retire("labels", rater="anna")
    assert "retired: labels: worth by anna (6 scores)" in repr(run)
    assert "12 scores by 2 measures" in repr(run)
    assert "retired: labels: worth by anna (6 scores)" in run._repr_html_()


@each_case(
    ("name", "options", "sentence"),
    [
        ("nothing", {}, "'nothing' fits nothing that scored this run: name one of told, labels."),
        ("", {}, "name the measure to retire"),
        (
            "labels",
            {"rater": "eve"},
            "labels has no scores by the rater 'eve': its raters are 'anna', 'ben'.",
        ),
        ("labels", {"undo": True}, "labels: worth by anna, labels: worth by ben is not retired in this run"),
    ],
)
def test_what_cannot_be_retired_is_refused(
    run: Run, name: str, options: Mapping[str, Any], sentence: str
) -> None:
    with pytest.raises((SelectionError, InputError)) as error:
        run.retire(name, **options)
    assert sentence in str(error.value)
    assert [] == retired_rows(run)


def test_a_name_of_several_metrics_is_refused(run: Run) -> None:
    labels(run, measure="labels(part=2)", shift=2.0)
    labels(run, measure="labels(part=3)", shift=3.0)
    run.retire("labels")
    with pytest.raises(SelectionError, match="fits several metrics"):
        run.retire("part")
    assert ["labels", "labels"] == [metric for metric, *_ in retired_rows(run)]


def test_retired_twice_it_is_one_event(run: Run) -> None:
    run.retire("labels")
    assert "is retired already: nothing changed." in run.retire("labels").text
    with run.file.reading() as db:
        assert 2 == db.execute("SELECT count(*) FROM events WHERE kind = 'measure retired'").fetchone()[0]
    assert 0 == CliRunner().invoke(cli.app, ["status", str(run.file.path), "--verify"]).exit_code


def test_an_empty_run_has_nothing_to_retire(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="nothing has been scored in this run yet"):
        made(tmp_path, ANSWERS).retire("labels")


def test_names_that_would_drive_a_terminal_or_a_shell_are_only_names(tmp_path: Path) -> None:
    run = marked(tmp_path, ANSWERS)
    labels(run, measure="labels(note='it; $(x) <y>')", rater="an\x1b[31mna")
    name = next(m.metric for m in run.measures if m.metric != "told")
    done = CliRunner().invoke(cli.app, ["retire", str(run.file.path), name])
    assert 0 == done.exit_code, done.output
    assert "\x1b" not in done.output
    assert 1 == done.output.count("\n")
    with pytest.raises(SelectionError) as error:
        run.estimates(name)
    assert name in shlex.split(str(error.value).split("`")[1])
    run.retire(name, undo=True)
    assert 2 == len(run.measures)


def test_a_damaged_event_is_damage(run: Run) -> None:
    body = json.dumps({"id": 7, "metric": "m", "signature": "s", "criterion": "c", "rater": ""})
    with run.file.writing() as db:
        db.execute("INSERT INTO events (kind, body) VALUES ('measure retired', ?)", (body,))
    with pytest.raises(StoreError, match="the retirement of a measure"):
        run.estimates()


def test_the_command_says_the_same_as_rows_and_as_a_sentence(run: Run) -> None:
    path = str(run.file.path)
    done = CliRunner().invoke(cli.app, ["retire", path, "labels", "--rater", "anna", "--json"])
    answer = json.loads(done.stdout)
    assert ("viva.retire/1", [True]) == (answer["schema"], [row["retired"] for row in answer["rows"]])
    undone = CliRunner().invoke(cli.app, ["retire", path, "labels", "--rater", "anna", "--undo"])
    assert "labels: worth by anna counts again, with 6 scores.\n" == undone.stdout
    refused = CliRunner().invoke(cli.app, ["retire", path, "labels", "--undo"])
    assert isinstance(refused.exception, SelectionError)


def test_a_status_names_what_is_retired_in_a_line(run: Run) -> None:
    run.retire("labels")
    lines = CliRunner().invoke(cli.app, ["status", str(run.file.path)]).stdout.splitlines()
    assert (
        "Retired: 6 scores of labels: worth by anna, 6 scores of labels: worth by ben; `viva retire RUN "
        "MEASURE --undo` lets one count again."
    ) in lines


def test_what_a_view_sees_stays_one_state(run: Run) -> None:
    """A measure that is retired while a verb reads counts to its end."""

    def read_twice(view: View) -> tuple[int, int]:
        first = len(view.fetch(read.measures))
        open_run(run.file.path).retire("labels")
        return first, len(read.measures(view.db))

    assert (3, 3) == with_view(run.file, read_twice)
