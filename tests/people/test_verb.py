"""`viva panel`: packets made and ballots read from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.people.raters import by_word, examined, filled
from tests.studies.making import write_lines

from vivavoce.core.errors import InputError
from vivavoce.run.run import open_run

Viva = Callable[..., Any]
ORDER = by_word("key", "five", "some", "spoonful")


def test_a_panel_from_packets_to_its_summary(viva: Viva, tmp_path: Path) -> None:
    """Three raters with a known order: the summary of the run says it, as rows and in words."""
    run = examined(tmp_path).file.path
    out = tmp_path / "packets"
    told = viva("panel", run, "make", "--raters", "anna, ben,carla", "--to", out).stdout
    assert "12 questions with 48 answers, reference included." in told
    ballots = [filled(out / f"{who}.csv", ORDER) for who in ("anna", "ben", "carla")]
    told = viva("panel", run, "read", *ballots).stdout
    assert "12 new ballots of carla, 0 unchanged, 0 replaced" in told
    rows = json.loads(viva("study", run, "panel", "--json").stdout)["rows"]
    ranks = {r["candidate"]: r["value"] for r in rows if r["figure"] == "mean_rank"}
    assert {"reference": 1, "Able": 2, "Fair": 3, "Poor": 4} == ranks
    assert "panel" in open_run(run).study()


def test_ratings_from_packets_to_an_examined_judge(viva: Viva, tmp_path: Path) -> None:
    """Two raters and a judge who says what they say: the labels are found by name, and the judge agrees."""
    worth = {"five": 1, "some": 0.5, "spoonful": 0}

    def opinion(item: str, answer: str) -> dict[str, Any]:
        return {"correct": worth[next(word for word in worth if word in answer)]}

    made = examined(tmp_path)
    run, out = made.file.path, tmp_path / "packets"
    rows = [
        {"candidate": who, "item": item, "criterion": "correct", "value": value}
        for who, value in (("Able", 1), ("Fair", 0.5), ("Poor", 0))
        for item in made.items["item"]
    ]
    judge = "judge(rubric=correctness, model=kind)"
    made.import_scores(write_lines(tmp_path / "judge.jsonl", rows), measure=judge)
    words = ("--task", "rate", "--rubric", "correctness", "--raters", "anna,ben", "--to", out, "--n", "10")
    told = viva("panel", run, "make", *words).stdout
    assert "10 questions in 10 of 12 cases with 30 answers to rate." in told
    told = viva(
        "panel", run, "read", *(filled(out / f"{who}.csv", opinion) for who in ("anna", "ben"))
    ).stdout
    assert "10 new ballots of anna, 0 unchanged, 0 replaced; 30 labels of rating(rubric=correctness)" in told
    assert f'`viva study {run} examiners --labels "rating(rubric=correctness)"`' in told
    rows = json.loads(viva("study", run, "examiners", "--labels", "rating", "--json").stdout)["rows"]
    labelled = {r["candidate"]: r["n_units"] for r in rows if r["figure"] == "judge_mean"}
    assert {"Able": 10, "Fair": 10, "Poor": 10} == labelled
    kept = json.loads(viva("status", run, "--json").stdout)["rows"]
    assert {"anna", "ben"} <= {r.get("rater") for r in kept}


def test_json_holds_what_was_made_and_read(viva: Viva, tmp_path: Path) -> None:
    run, out = examined(tmp_path, 2).file.path, tmp_path / "packets"
    made = json.loads(viva("panel", run, "make", "--raters", "anna", "--to", out, "--json").stdout)
    assert ("viva.panel/1", [str(out / "anna.html"), str(out / "anna.csv")]) == (
        made["schema"],
        made["rows"][0]["files"],
    )
    read = json.loads(viva("panel", run, "read", filled(out / "anna.csv", ORDER), "--json").stdout)
    assert (made["rows"][0]["panel"], 2) == (read["rows"][0]["panel"], read["rows"][0]["new"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["make", "--to", "x"], "--raters says who will rate"),
        (["make", "--raters", "a"], "--to names a folder"),
        (["make", "--raters", "a", "--to", "x", "--partial"], "--partial goes with `viva panel .* read`"),
        (["make", "b.json", "--raters", "a", "--to", "x"], "FILE goes with `viva panel .* read`"),
        (["read", "--seed", "2"], "--seed goes with `viva panel .* make`"),
        (["read", "--task", "rate"], "--task goes with `viva panel .* make`"),
        (["make", "--raters", "a", "--to", "x", "--task", "rate"], "--task rate needs a --rubric"),
        (["make", "--raters", "a", "--to", "x", "--rubric", "medgpt"], "--rubric goes with --task rate"),
        (
            ["make", "--raters", "a", "--to", "x", "--task", "rate", "--criterion", "Well?"],
            "--criterion goes with --task rank",
        ),
    ],
)
def test_an_option_of_the_other_is_told(viva: Viva, tmp_path: Path, words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        viva("panel", examined(tmp_path, 1).file.path, *words)


def test_a_run_without_a_panel_is_studied_without_one(tmp_path: Path) -> None:
    run = examined(tmp_path)
    run.score("token_f1")
    assert "panel" not in run.study()
