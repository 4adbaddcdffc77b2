"""Log-probabilities and probabilities of options in a table become what a model of ours would have said."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import vivavoce
from vivavoce.core.errors import InputError

ITEMS = [("1", "What is x?", ["x", "y", "z"], "x"), ("2", "What is y?", ["x", "y", "z"], "y")]
LOGS = [(-0.1, -3.0, -4.0), (-0.5, -1.0, -4.0)]
SHARES = [(0.7, 0.2, 0.1), (0.6, 0.3, 0.1)]


def rows(**figures: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": name, "question": question, "options": options, "gold": key, "model": "m", "response": "A",
            **{column: cells[k] for column, cells in figures.items()},
        }
        for k, (name, question, options, key) in enumerate(ITEMS)
    ]  # fmt: skip


def spread(figures: Sequence[tuple[float, ...]], form: str, labels: Any = "ABC") -> dict[str, list[float]]:
    return {form.format(name): [row[k] for row in figures] for k, name in enumerate(labels)}


def imported(folder: Path, data: list[dict[str, Any]], **options: Any) -> Any:
    path = folder / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, data)))
    run = vivavoce.open(folder / "r.viva")
    return run, run.import_answers(path, **options)


def stored(run: Any) -> list[list[float]]:
    responses = run.responses.filter(run.responses["probe"] != "").sort("item")
    return [json.loads(record)["orders"][0]["logprob"] for record in responses["logprobs"]]


@pytest.mark.parametrize(
    "figures",
    [
        spread(LOGS, "logprob_{}"),
        spread(LOGS, "{} logprob"),
        spread(LOGS, "option_logprobs.{}"),
        spread(LOGS, "Log-Prob ({})"),
        spread(LOGS, "logprob_{}", (0, 1, 2)),
        spread(LOGS, "logprob_{}", (1, 2, 3)),
        {"option_logprobs": [dict(zip("ABC", row, strict=True)) for row in LOGS]},
        {"option_logprobs": [dict(zip("xyz", row, strict=True)) for row in LOGS]},
        {"choice_logprobs": [*map(list, LOGS)]},
        {"choices_logprobs": [json.dumps(row) for row in LOGS]},
        {"option_logprobs": [str(dict(zip("ABC", row, strict=True))) for row in LOGS]},
        {"logprobs": [dict(zip("ABC", row, strict=True)) for row in LOGS]},
    ],
)
def test_logarithms_are_stored_in_the_order_of_the_options(tmp_path: Path, figures: dict[str, Any]) -> None:
    run, result = imported(tmp_path, rows(**figures))
    assert [*map(list, LOGS)] == stored(run)
    assert (2, 2, 2) == (result.responses, result.logprobs, result.new)
    assert {"rows": 2, "answers": 2} == dict(result.row_counts)
    assert () == result.left_out


@pytest.mark.parametrize(
    ("figures", "scale"),
    [
        (spread(SHARES, "prob_{}"), 1.0),
        (spread(SHARES, "p_{}"), 1.0),
        (spread(SHARES, "confidence_{}"), 1.0),
        (spread([tuple(100 * share for share in row) for row in SHARES], "Wahrscheinlichkeit {}"), 1.0),
        ({"option_probs": [*map(list, SHARES)]}, 1.0),
    ],
)
def test_probabilities_are_stored_as_their_logarithms(
    tmp_path: Path, figures: dict[str, Any], scale: float
) -> None:
    run, _ = imported(tmp_path, rows(**figures))
    for expected, logprobs in zip(SHARES, stored(run), strict=True):
        assert pytest.approx([*expected]) == [scale * math.exp(logprob) for logprob in logprobs]


def test_options_and_confidence_are_scored_as_for_a_model_asked_here(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, rows(**spread(SHARES, "prob_{}")))
    run.score("options", "confidence(of=likelihood)", "accuracy")
    by_metric = {
        (row["metric"], row["criterion"], row["item"]): row["value"]
        for row in run.scores.iter_rows(named=True)
    }
    assert [1, 0] == [by_metric["options", "accuracy", item] for item in "12"]
    assert pytest.approx([0.7, 0.6]) == [
        by_metric["confidence(of=likelihood)", "confidence", item] for item in "12"
    ]
    assert [1, 0] == [by_metric["accuracy", "accuracy", item] for item in "12"]


def test_a_table_of_figures_alone_is_no_exam(tmp_path: Path) -> None:
    data = [{k: v for k, v in row.items() if k != "response"} for row in rows(**spread(LOGS, "logprob_{}"))]
    run, result = imported(tmp_path, data)
    assert [*map(list, LOGS)] == stored(run)
    assert (2, 2, {"rows": 2, "answers": 2}) == (result.responses, result.logprobs, dict(result.row_counts))
    assert 2 == run.import_answers(tmp_path / "a.jsonl").unchanged


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        (spread([(0.9, 0.9, 0.9)] * 2, "prob_{}"), "add up to 2.7"),
        (spread([(0.1, 0.1, 0.1)] * 2, "prob_{}"), "add up to 0.3"),
        (spread([(-0.5, 0.9, 0.6)] * 2, "prob_{}"), "are no probabilities"),
        (spread([(0.0, 0.0, -3.0)] * 2, "logprob_{}"), "add up to 2.05"),
        (spread([(2.0, -1.0, -3.0)] * 2, "logprob_{}"), "add up to"),
        (spread([(-1.0, -1.0)] * 2, "logprob_{}", "AB"), "figures for 2 options"),
        ({"option_logprobs": [[-1.0, -1.0]] * 2}, "figures for 2 options"),
        ({"option_logprobs": ["often"] * 2}, "no figure for each option"),
    ],
)
def test_a_contradiction_is_refused_in_a_sentence(
    tmp_path: Path, figures: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason) as error:
        imported(tmp_path, rows(**figures))
    assert "line 1" in str(error.value)
    assert "--set option_logprobs=none" in str(error.value)
    _, result = imported(tmp_path, rows(**figures), set={"option_logprobs": "none"})
    assert (2, 0) == (result.responses, result.logprobs)


def test_a_column_of_any_name_is_mapped(tmp_path: Path) -> None:
    run, _ = imported(
        tmp_path, rows(scores_of_it=[*map(list, SHARES)]), map={"option_probabilities": "scores_of_it"}
    )
    assert pytest.approx([math.log(share) for share in SHARES[0]]) == stored(run)[0]


def test_an_empty_cell_says_nothing_of_options(tmp_path: Path) -> None:
    run, result = imported(tmp_path, rows(option_logprobs=[[*LOGS[0]], None]))
    assert (2, 1) == (result.responses, result.logprobs)
    assert 1 == len(stored(run))


@pytest.mark.parametrize(
    "figures",
    [{"logprobs": [[-0.1, -0.2], [-0.3]]}, {"prob": [0.5, 0.7]}, spread(SHARES, "p_{}", (1, 2, 3))],
)
def test_other_columns_are_not_taken(tmp_path: Path, figures: dict[str, Any]) -> None:
    _, result = imported(tmp_path, rows(**figures))
    assert 0 == result.logprobs
    assert {*figures} <= {*result.left_out}


def test_questions_without_options_have_no_figures_of_options(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,question,reference,model,response,prob_0,prob_1\n1,What is x?,x,m,x,0.3,0.7\n")
    result = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert ("prob_0", "prob_1") == result.left_out
