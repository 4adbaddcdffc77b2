"""`viva export --format healthbench`: the layout of simple-evals, compared with files that it wrote."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.run.tool_files.exported_runs import responses, scores
from tests.studies.making import borrowed, made

import vivavoce as viva
from vivavoce import Criterion, Item, Row, ScoringContext, Unit, Value
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.metrics import Metric
from vivavoce.run.run import Run


@pytest.fixture
def peers(shared: Path) -> Path:
    return shared / "data" / "peers" / "healthbench"


def imported(peers: Path, tmp_path: Path) -> Run:
    run = viva.open(tmp_path / "run.viva")
    run.import_logs(peers / "healthbench_fake_allresults.json")
    return run


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def without_tags(criteria: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in entry.items() if name != "tags"} for entry in criteria]


def test_the_exam_goes_out_as_it_was_published(peers: Path, tmp_path: Path) -> None:
    imported(peers, tmp_path).export(tmp_path / "out", format="healthbench")
    ours = {row["prompt_id"]: row for row in rows(tmp_path / "out" / "healthbench" / "input.jsonl")}
    for theirs in rows(peers / "input.jsonl"):
        row = ours.pop(theirs["prompt_id"])
        assert theirs.keys() == row.keys()
        assert theirs["prompt"] == row["prompt"]
        assert without_tags(theirs["rubrics"]) == without_tags(row["rubrics"])
    assert {} == ours


def test_results_are_those_that_simple_evals_wrote(peers: Path, tmp_path: Path) -> None:
    imported(peers, tmp_path).export(tmp_path / "out", format="healthbench")
    ours = json.loads((tmp_path / "out" / "healthbench" / "healthbench_fake_allresults.json").read_text())
    theirs = json.loads((peers / "healthbench_fake_allresults.json").read_text())
    assert list(theirs) == list(ours)
    assert (theirs["score"], theirs["metrics"]["overall_score:n_samples"]) == (
        pytest.approx(ours["score"]), ours["metrics"]["overall_score:n_samples"]
    )  # fmt: skip
    assert ours["metrics"]["overall_score:bootstrap_std"] == pytest.approx(
        theirs["metrics"]["overall_score:bootstrap_std"], rel=0.15
    )
    assert sorted(map(str, theirs["convos"])) == sorted(map(str, (in_order(c) for c in ours["convos"])))
    examples = [body["metadata"]["example_level_metadata"] for body in (theirs, ours)]
    assert examples[0][0].keys() == examples[1][0].keys()
    told = [
        sorted((e["prompt_id"], e["score"], str(without_tags(e["rubric_items"]))) for e in entries)
        for entries in examples
    ]
    assert told[0] == told[1]


def in_order(conversation: list[dict[str, str]]) -> list[dict[str, str]]:
    """A conversation with the fields of a message as simple-evals orders them."""
    *asked, answer = conversation
    return [*asked, {"content": answer["content"], "role": "assistant"}]


def test_results_come_back(peers: Path, tmp_path: Path) -> None:
    run = imported(peers, tmp_path)
    run.export(tmp_path / "out", format="healthbench")
    again = viva.open(tmp_path / "again.viva")
    again.import_logs(tmp_path / "out")
    assert sorted(map(str, responses(run))) == sorted(map(str, responses(again)))
    assert scores(run) == scores(again)


def graded(folder: Path, answers: dict[str, str]) -> Run:
    """A run whose answers name the criteria that they meet by their place; "?" could not be scored."""
    rubric = [
        {"text": "names it", "weight": 7},
        {"text": "does harm", "weight": -5},
        {"text": "gives the dose", "weight": 3},
    ]
    items: list[dict[str, Any]] = [
        {"item": "q", "format": "longform", "question": "Why?", "references": ["so"], "rubric": rubric,
         "category": "heart", "axes": {"r1": "accuracy"}, "tags": ["physician_agreed"]},
        {"item": "bare", "format": "longform", "question": "How?", "references": ["thus"]},
    ]  # fmt: skip
    run = made(folder, {name: {"q": text} for name, text in answers.items()}, items=items)
    with borrowed():
        registry.metric("grader")(_metric_of_points())
        run.score("grader")
    return run


def _metric_of_points() -> type[Metric]:
    class Grader(Metric):
        """Scores each point of a rubric."""

        formats = ("longform",)
        criteria = (Criterion(criterion="met", pool="unit"),)

        def applies_to(self, item: Item) -> bool:
            return bool(item.rubric)

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Any]]:
            return [{"met": dict(_points(row))} for row in rows]

    return Grader


def _points(row: Row) -> Iterator[tuple[Unit, Value]]:
    for unit in row.item.rubric:
        if "?" in row.reading.text:
            yield unit, Value(None, note="no verdict", status="failed")
        else:
            yield unit, Value(float(unit.unit[1:] in row.reading.text), note=f"on {unit.unit}")


def example(run: Run, tmp_path: Path, candidate: str = "A") -> dict[str, Any]:
    run.export(tmp_path / "out", format="healthbench")
    body = json.loads((tmp_path / "out" / "exam" / f"healthbench_{candidate}_allresults.json").read_text())
    (row,) = body["metadata"]["example_level_metadata"]
    return {**row, "metrics": body["metrics"]}


def test_a_score_is_the_share_of_the_points_and_only_its_mean_is_clipped(tmp_path: Path) -> None:
    """Met are 1 and 2 of 7, -5 and 3: 2 of 10; then 2 alone: -5 of 10."""
    run = graded(tmp_path / "run", {"A": "points 1 2", "B": "point 2"})
    met = example(run, tmp_path)
    assert (0.2, [True, True, False]) == (met["score"], [c["criteria_met"] for c in met["rubric_items"]])
    assert {"overall_score": 0.2, "theme:heart": 0.2, "physician_agreed": 0.2, "axis:accuracy": 1.0} == {
        name: value for name, value in met["metrics"].items() if not name.endswith(("_std", "n_samples"))
    }
    harm = example(run, tmp_path, "B")
    assert (-0.5, 0.0) == (harm["score"], harm["metrics"]["overall_score"])


def test_an_answer_whose_criteria_could_not_be_scored_is_counted(tmp_path: Path) -> None:
    run = graded(tmp_path / "run", {"A": "points 1 3", "B": "?"})
    first, *_ = run.export(tmp_path / "out", format="healthbench")
    assert {"answers: a criterion has no score": 1, "questions: without a rubric of points": 1} == dict(
        first.left_out
    )
    assert not list((tmp_path / "out").rglob("*_B_*"))


def test_without_scores_the_exam_goes_out_alone(tmp_path: Path) -> None:
    items = [{"item": "q", "format": "longform", "question": "Why?", "context": "A note.",
              "references": ["so"], "rubric": [{"text": "names it", "weight": 7}]}]  # fmt: skip
    (written,) = made(tmp_path / "run", {"A": {"q": "x"}}, items=items).export(
        tmp_path / "out", format="healthbench"
    )
    (row,) = rows(written.path)
    assert [{"role": "user", "content": "A note.\n\nWhy?"}] == row["prompt"]
    assert "so" == row["ideal_completions_data"]["ideal_completion"]


def test_several_graders_have_to_be_told_apart(tmp_path: Path) -> None:
    run = graded(tmp_path / "run", {"A": "points 1 3"})
    with borrowed():
        registry.metric("second")(_metric_of_points())
        run.score("second")
    with pytest.raises(SelectionError, match=r"several score criteria \(grader, second\)"):
        run.export(tmp_path / "out", format="healthbench")
    run.export(tmp_path / "out", format="healthbench", metric="second")
    with pytest.raises(SelectionError, match="nothing of that name"):
        run.export(tmp_path / "out", format="healthbench", metric="third")


def test_texts_that_are_hidden_and_exams_without_a_rubric_are_refused(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"A": {"q": "x"}})
    with pytest.raises(InputError, match="a conversation is texts"):
        run.export(tmp_path / "out", format="healthbench", redact=True)
    with pytest.raises(SelectionError, match="no question with a rubric"):
        run.export(tmp_path / "out", format="healthbench")
    assert not (tmp_path / "out").exists()
