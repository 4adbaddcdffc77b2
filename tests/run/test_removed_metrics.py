"""A metric that was removed: a run keeps what it scored, and whoever names it is told what to use."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import Answers, borrowed, made, marked, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core import registry
from vivavoce.core.errors import SelectionError, SpecError
from vivavoce.core.index import REMOVED
from vivavoce.run.catalogue import describe, metrics_of
from vivavoce.run.run import Run, open_run

SENTENCE = REMOVED["metric"]["conflict"]
ANSWERS: Answers = {
    "A": {f"q{n}": "safe" for n in range(8)},
    "B": {f"q{n}": ["not safe", "safe", "", "not so"][n % 4] for n in range(8)},
}
PLUGIN = '''
"""As the metric was: criterion, direction, rule for silence, parts and notes."""
from vivavoce import Criterion, Metric, Value, metric


@metric("conflict")
class Screen(Metric):
    """One for an answer that denies."""

    criteria = (Criterion(criterion="conflict", direction="lower", if_unanswered="set_aside"),)
    formats = ("short", "longform")
    needs = ("references",)

    def values(self, rows, context):
        return [
            {"conflict": Value(float("not" in row.reading.text), {"negation": 1.0}, "negation: a place")}
            for row in rows
        ]
'''


def scored(folder: Path, answers: Answers = ANSWERS) -> Run:
    """Two candidates scored by `conflict` while it was registered."""
    run = made(folder, answers)
    (folder / "screen.py").write_text(PLUGIN, encoding="utf-8")
    with borrowed():
        registry.load_plugin(folder / "screen.py")
        run.score("conflict")
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The same, and scores of another measure on the same criterion."""
    run = scored(tmp_path)
    rows = [
        {"candidate": c, "item": i, "criterion": "conflict", "value": 0} for c in "AB" for i in ANSWERS[c]
    ]
    run.import_scores(write_lines(tmp_path / "flags.jsonl", rows), measure="flags", range={"*": (0, 1)})
    return run


def views(run: Run, folder: Path) -> dict[str, Any]:
    """What each way to look at the scores gives; the run is left as it was."""
    folder.mkdir()
    copy = open_run(folder / "copy.viva")
    copy.merge(run.file.path)
    findings = {
        "status": copy.status(),
        "estimates": copy.estimates("conflict"),
        "all estimates": copy.estimates(),
        "compare": copy.compare("A", "B", metric="conflict"),
        "study": copy.study("ranking")["ranking"],
        "diff": copy.diff("conflict", "flags"),
    }
    copy.export(folder / "tables", format="csv")
    tables = {
        f"{name}.csv": (folder / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        for name in ("scores", "measures", "estimates")
    }
    copy.report(folder / "report.html")
    boards = [dict(row) for row in copy.report_rows() if "conflict" in str(row)]
    retired = (copy.retire("conflict").text, {m.metric for m in copy.measures})
    undone = (copy.retire("conflict", undo=True).text, {m.metric for m in copy.measures})
    rows = {name: [dict(row) for row in finding.rows] for name, finding in findings.items()}
    return {**rows, **tables, "report": boards, "retired": retired, "undone": undone}


def test_a_run_shows_what_a_removed_metric_scored_as_if_it_were_there(run: Run, tmp_path: Path) -> None:
    with borrowed():
        registry.load_plugin(tmp_path / "screen.py")
        expected = views(run, tmp_path / "registered")
    actual = views(run, tmp_path / "removed")
    assert expected["report"]
    assert {} == {view: actual[view] for view in expected if expected[view] != actual[view]}
    (flagged,) = (row["estimate"] for row in actual["estimates"] if row["candidate"] == "B")
    assert 2 / 3 == pytest.approx(flagged)
    assert "conflict()@1" in actual["scores.csv"]


SAYING: dict[str, Callable[[], object]] = {
    "built": lambda: registry.build("metric", "conflict"),
    "with a setting": lambda: registry.build("metric", "conflict(strict=true)"),
    "shown": lambda: describe("conflict"),
    "in a jury": lambda: metrics_of(["jury(of=[conflict(), exact()])"]),
}


@each_case("way", SAYING)
def test_whoever_names_a_removed_metric_reads_why_and_what_to_use(way: str) -> None:
    with pytest.raises(SpecError) as error:
        SAYING[way]()
    assert str(error.value).endswith(SENTENCE)
    assert all(words in SENTENCE for words in ("33 %", "11 %", "viva study RUN controls", "planted", "stay"))


def test_scoring_by_it_again_says_so_beside_other_mistakes_and_changes_nothing(run: Run) -> None:
    stored = run.scores.rows()
    with pytest.raises(SpecError) as error:
        run.score("conflict", "rogue")
    assert (SENTENCE, "no metric named 'rogue'") == (
        (lines := str(error.value).split("\n"))[0],
        lines[1].partition(".")[0],
    )
    assert stored == run.scores.rows()


def test_a_status_does_not_advise_to_score_by_it_what_has_no_score(tmp_path: Path) -> None:
    late = {item: "safe" for item in ANSWERS["B"] if item > "q3"}
    run = scored(tmp_path, {**ANSWERS, "B": {i: a for i, a in ANSWERS["B"].items() if i not in late}})
    made(tmp_path, {"B": late}, items=list(ANSWERS["A"]), run=run)
    lines = CliRunner().invoke(cli.app, ["status", str(run.file.path)]).stdout
    assert "4 not made yet" in lines
    assert f"`viva compare {run.file.path}`" in lines.partition("Next: ")[2]


def test_a_plan_that_names_it_says_where(run: Run, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("run: other.viva\nbenchmarks: [sample]\nmodels: [baseline/random]\nmetrics: [conflict]\n")
    done = CliRunner().invoke(cli.app, ["run", str(plan), "--dry-run"])
    assert f"{plan}, metrics: {SENTENCE}" == str(done.exception)
    assert not (tmp_path / "other.viva").exists()


def test_the_words_of_the_sentence_are_names_that_there_are() -> None:
    assert registry.member("study", "controls")
    assert registry.member("metric", "planted")
    kind = registry.build("variation", "control:kind=all").kind
    assert "all" == kind


def test_no_removed_name_is_registered() -> None:
    assert {kind: [] for kind in REMOVED} == {
        kind: [name for name in names if registry.member(kind, name)] for kind, names in REMOVED.items()
    }


def test_a_plugin_may_take_the_name_of_a_removed_metric(run: Run, tmp_path: Path) -> None:
    with borrowed():
        registry.load_plugin(tmp_path / "screen.py")
        assert "conflict" == describe("conflict")["spec"]
        assert ["conflict"] == [str(metric) for metric in metrics_of(["conflict"])]


def test_scores_imported_under_the_name_are_still_those_of_another_tool(tmp_path: Path) -> None:
    run = made(tmp_path, ANSWERS)
    file = write_lines(tmp_path / "flags.jsonl", [{"candidate": "A", "item": "q1", "value": 1}])
    run.import_scores(file, measure="conflict", range={"*": (0, 1)})
    with pytest.raises(SelectionError, match="the scores of conflict were recorded elsewhere and imported"):
        run.score("conflict")
    assert [1.0] == run.scores["value"].to_list()


def test_a_metric_of_a_plugin_that_is_not_loaded_is_asked_for(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 0.5}, "B": {"q1": 0.25}})
    with pytest.raises(SpecError, match="the metric told scored this run and is not loaded: name its file"):
        run.score("told")
