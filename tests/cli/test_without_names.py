"""What a verb takes when its user names nothing: fitting metrics, both candidates, the primary criterion."""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.finished_runs import finished_run
from tests.studies.making import made, marked, twins

from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.core import registry
from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run, open_run
from vivavoce.studies.comparing.pairs import shown_rows

Viva = Callable[..., Any]
FITTING = ["token_f1", "accuracy", "exact", "list_f1", "step_accuracy"]


@pytest.fixture
def demo(tmp_path: Path) -> Run:
    finished_run(tmp_path, _import_sample)
    return open_run(tmp_path / "demo.viva")


def _import_sample(folder: Path) -> None:
    with recorded() as answers:
        open_run(folder / "demo.viva").import_answers(answers, benchmark="sample")


def metrics_of(found: Any) -> list[str]:
    return sorted({row["metric"] for row in json.loads(found.stdout)["rows"]})


def test_a_score_without_a_metric_scores_by_what_fits_the_formats(viva: Viva, demo: Run) -> None:
    assert sorted(FITTING) == metrics_of(
        viva("score", demo.file.path, "--json", code=1)
    )  # some answers failed
    said = viva("score", demo.file.path, "--offline", code=1).output
    assert f"No metric was named: scored by {', '.join(FITTING)}, which fit the formats" in " ".join(
        said.split()
    )


def test_only_rules_score_a_run_that_names_no_metric(demo: Run) -> None:
    """No judge, no model: whoever pays or sends text names it."""
    demo.score()
    assert {""} == {measure.rater for measure in demo.measures}
    for name in FITTING:
        assert not registry.build("metric", name).rater


def test_the_items_that_are_scored_choose_the_metrics(viva: Viva, tmp_path: Path) -> None:
    closed = {"item": "q1", "format": "mcq", "options": ["a", "b"], "answer": "a", "references": []}
    run = made(tmp_path, {"A": {"q1": "a"}}, items=[closed])
    assert ["accuracy"] == metrics_of(viva("score", run.file.path, "--json"))
    assert ["accuracy"] == metrics_of(viva("score", run.file.path, "--items", run_spec(run), "--json"))


def test_metrics_that_fit_leave_items_to_each_other_and_only_what_none_scores_is_said(
    demo: Run, tmp_path: Path
) -> None:
    assert not [note for note in demo.score().notes if "does not score" in note or "None of them" in note]
    assert [note for note in demo.score("accuracy").notes if "does not score 54 of the items" in note]
    open_question = {"item": "q2", "format": "longform", "references": []}
    closed = {"item": "q1", "format": "mcq", "options": ["a", "b"], "answer": "a", "references": []}
    run = made(tmp_path, {"A": {"q1": "a", "q2": "Rest."}}, items=[closed, open_question])
    (note,) = (note for note in run.score().notes if note.startswith("No metric was named"))
    assert note.endswith("None of them scores 1 of the items (1 longform).")


def run_spec(run: Run) -> str:
    return f"jsonl(name=exam, path='{run.file.path.parent / 'exam.jsonl'}')"


def test_a_comparison_without_names_takes_both_and_the_primary_criterion(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0.5] * 6), "B": twins([0.4, 0.1] * 6)})
    said = viva("compare", run.file.path).output
    named = viva("compare", run.file.path, "A", "B", "--metric", "told").output
    assert "No --metric: compared by told: worth (the only criterion)." in said
    assert [line for line in said.splitlines() if "A - B" in line] == [
        line for line in named.splitlines() if "A - B" in line
    ]


def test_without_names_all_pairs_of_three_candidates_are_compared(demo: Run) -> None:
    demo.score("accuracy")
    rows = demo.compare().rows
    assert {frozenset(pair) for pair in combinations(CANDIDATES, 2)} == {
        frozenset((row["a"], row["b"])) for row in rows
    }
    assert {3} == {row["family"] for row in rows}


def test_of_many_candidates_the_best_is_shown_against_the_others_and_all_pairs_are_tested(
    tmp_path: Path,
) -> None:
    answers = {f"m{k}": twins([round(0.1 * k + 0.01 * (i % 3), 2) for i in range(12)]) for k in range(7)}
    run = marked(tmp_path, {**answers, "chance": twins([0.1] * 12)}, role={"chance": "floor"})
    finding = run.compare()
    assert 21 == len(finding.rows) == finding.rows[0]["family"]
    assert {"m6"} == {row["a"] for row in shown_rows(finding.rows)}
    assert 6 == len(shown_rows(finding.rows)) == finding.text.count("m6 is better (")
    notes = " ".join(finding.notes)
    assert "Left out: chance (floor or ceiling). Name them to compare with them." in notes
    assert "m6, which has the best estimate, is shown against the others" in notes


def test_floors_and_ceilings_are_no_candidates_of_a_comparison_of_both(tmp_path: Path) -> None:
    run = marked(
        tmp_path,
        {"A": twins([1] * 6), "B": twins([0.4] * 6), "chance": twins([0.1] * 6)},
        role={"chance": "floor"},
    )
    (row,) = run.compare().rows
    assert ("A", "B") == (row["a"], row["b"])


def test_one_candidate_is_not_compared_with_itself(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6)})
    with pytest.raises(SelectionError, match="takes two or more different candidates"):
        run.compare()


def test_part_of_names_compare(viva: Viva, demo: Run) -> None:
    demo.score()
    (row,) = json.loads(viva("compare", demo.file.path, "a", "model b", "--metric", "acc", "--json").stdout)[
        "rows"
    ]
    assert (CANDIDATES[0], CANDIDATES[1], "accuracy") == (row["a"], row["b"], row["metric"])
