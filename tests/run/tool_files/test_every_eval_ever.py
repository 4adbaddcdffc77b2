"""`viva export --format every-eval-ever`: files that its schema takes, and the scores in them."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.hostile import ALL
from tests.lazy import lazy_module
from tests.run.tool_files.exported_runs import SECRET, manifold, with_units
from tests.studies.making import made, marked

import vivavoce as viva
from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run

jsonschema = lazy_module("jsonschema")


class Results(NamedTuple):
    """What was written for a candidate."""

    aggregate: dict[str, Any]
    lines: list[dict[str, Any]]


@pytest.fixture
def export(shared: Path, tmp_path: Path) -> Callable[..., dict[str, Results]]:
    """Export a run, check each file against its schema, and give the results by candidate."""
    schemas = shared / "data" / "peers" / "every_eval_ever"
    of_results, of_lines = (
        jsonschema.Draft7Validator(json.loads((schemas / f"{name}.schema.json").read_text()))
        for name in ("eval", "instance_level_eval")
    )

    def exported(run: Run, to: str = "out", **options: Any) -> dict[str, Results]:
        written = {}
        for file in run.export(tmp_path / to, format="every-eval-ever", **options):
            if file.path.suffix == ".json":
                continue
            aggregate = json.loads(
                file.path.with_name(file.path.name.replace("_samples.jsonl", ".json")).read_text()
            )
            of_results.validate(aggregate)
            lines = [json.loads(line) for line in file.path.read_text(encoding="utf-8").split("\n")[:-1]]
            for line in lines:
                of_lines.validate(line)
            details = aggregate["detailed_evaluation_results"]
            assert (tmp_path / to / details["file_path"], len(lines)) == (file.path, details["total_rows"])
            assert hashlib.sha256(file.path.read_bytes()).hexdigest() == details["checksum"]
            results = {result["evaluation_result_id"] for result in aggregate["evaluation_results"]}
            assert {line["evaluation_result_id"] for line in lines} <= results
            assert {line["evaluation_id"] for line in lines} == {aggregate["evaluation_id"]}
            written[file.candidate] = Results(aggregate, lines)
        return written

    return exported


Export = Callable[..., dict[str, Results]]


def test_every_scored_answer_is_a_line_of_its_measure(export: Export, tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": [0.5, 1], "q2": [0, 0.25]}})
    lines = export(run)["A"].lines
    assert [
        ("q1", "1", 0.5, False),
        ("q1", "2", 1.0, True),
        ("q2", "1", 0.0, False),
        ("q2", "2", 0.25, False),
    ] == [(line["sample_id"], line["metadata"]["repeat"], *line["evaluation"].values()) for line in lines]
    assert {"told:worth"} == {line["evaluation_result_id"] for line in lines}


def test_what_has_no_score_is_left_out_and_counted(export: Export, tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": [0.5, "", None, "<think>x", "fail"]}})
    assert 1 == len(export(run)["A"].lines)
    counts = {"samples: failed": 2, "samples: unanswered": 1, "samples: unreadable": 1}
    assert counts == json.loads((tmp_path / "out" / "left_out.json").read_text())["left_out"]


def test_the_estimate_and_its_interval_stand_in_the_results(export: Export, tmp_path: Path) -> None:
    """An answer that is blank counts as the worst there, and is in no line."""
    run = marked(tmp_path / "run", {"A": {"q1": 1, "q2": "", "q3": 0.5}})
    (row,) = run.estimates().rows
    (result,) = export(run)["A"].aggregate["evaluation_results"]
    assert (row["estimate"], "1", "worst") == (
        result["score_details"]["score"], result["score_details"]["details"]["n_unanswered"],
        result["score_details"]["details"]["if_unanswered"],
    )  # fmt: skip
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert [row["low"], row["high"], 0.95] == list(interval.values())


def test_files_of_a_run_with_everything_fit_the_schema(export: Export, tmp_path: Path) -> None:
    results = export(with_units(tmp_path / "run"))
    assert {"openai/gpt(temperature=0.5)", "local"} == set(results)
    model = results["openai/gpt(temperature=0.5)"].aggregate
    assert ("openai/gpt", "openai") == (model["model_info"]["id"], model["model_info"]["developer"])
    assert {"temperature": 0.5} == model["evaluation_results"][0]["generation_config"]["generation_args"]
    assert "unknown/local" == results["local"].aggregate["model_info"]["id"]
    by_rater = {line["evaluation_result_id"]: line["evaluation"]["score"] for line in results["local"].lines}
    assert (3.5, 1.0) == (
        by_rater["panel(scale=five):quality by anna"],
        by_rater["panel(scale=five):quality by ben"],
    )


def test_developer_and_organization_can_be_named(export: Export, tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"vllm/meta-llama/Llama-3": {"q1": 1}})
    aggregate = export(run, organization="Ours", relationship="first_party")[
        "vllm/meta-llama/Llama-3"
    ].aggregate
    assert "meta-llama/Llama-3" == aggregate["model_info"]["id"]
    assert "Ours" == aggregate["source_metadata"]["source_organization_name"]
    assert "us/Llama-3" == next(iter(export(run, developer="us").values())).aggregate["model_info"]["id"]


def test_a_second_export_is_the_same_to_the_byte(export: Export, tmp_path: Path) -> None:
    run = with_units(tmp_path / "run")
    for to in ("a", "b"):
        export(run, to)
    files = [
        {
            path.relative_to(tmp_path / to): path.read_bytes()
            for path in (tmp_path / to).rglob("*")
            if path.is_file()
        }
        for to in ("a", "b")
    ]
    assert files[0] == files[1]


def test_an_earlier_export_is_replaced_folders_and_all(export: Export, tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": 1}})
    export(run)
    run.score("exact")
    export(run)
    assert 2 == sum(path.is_file() for path in (tmp_path / "out" / "data").rglob("*"))


def test_scores_come_back(export: Export, tmp_path: Path) -> None:
    run = manifold(tmp_path / "run")
    export(run)
    again = viva.open(tmp_path / "again.viva")
    again.import_logs(tmp_path / "out", reader="every-eval-ever")
    key = ("candidate", "item", "repeat", "value")
    ours = run.scores.filter(metric="token_f1", status="ok", edit="", variant="").select(key)
    theirs = again.scores.filter(again.scores["metric"].str.contains("token_f1")).select(key)
    assert sorted(ours.rows()) == sorted(theirs.rows())
    texts = dict(run.responses.filter(candidate="local", status="ok").select("item", "text").iter_rows())
    for item, text in again.responses.filter(candidate="local").select("item", "text").iter_rows():
        assert texts[item] == text


def test_no_text_is_in_a_redacted_export(export: Export, tmp_path: Path) -> None:
    export(with_units(tmp_path / "run"), redact=True)
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or SECRET not in path.read_text(encoding="utf-8")


def test_hostile_texts_are_one_line_each(export: Export, tmp_path: Path) -> None:
    answers = {f"q{k}": f"{text} 0.5" for k, text in enumerate(ALL)}
    run = marked(tmp_path / "run", {"A": answers}, "token_f1")
    assert set(answers.values()) >= {line["output"]["raw"][0] for line in export(run)["A"].lines}


@pytest.mark.parametrize("name", ["..", "../..", "a/../b", "x" * 400, "a b/c:d"])
def test_names_lead_nowhere(export: Export, tmp_path: Path, name: str) -> None:
    run = marked(tmp_path / "run", {name: {"q1": 1}})
    assert {name} == set(export(run))


def test_a_run_without_scores_is_refused(export: Export, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="no answer has a score"):
        export(made(tmp_path / "run", {"A": {"q1": "yes"}}))
    assert not (tmp_path / "out").exists()


def test_a_candidate_without_scores_is_counted(export: Export, tmp_path: Path) -> None:
    run = marked(tmp_path / "run", {"A": {"q1": 1}})
    made(tmp_path / "run", {"B": {"q1": "late"}}, run=run)
    assert {"A"} == set(export(run))
    assert {"samples: not scored": 1} == json.loads((tmp_path / "out" / "left_out.json").read_text())[
        "left_out"
    ]
