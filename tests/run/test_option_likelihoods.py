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


def spread(figures: Sequence[tuple[Any, ...]], form: str, labels: Any = "ABC") -> dict[str, list[Any]]:
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


UNFIT = [
    (spread([(0.9, 0.9, 0.9)] * 2, "prob_{}"), "add up to 2.7"),
    (spread([(0.1, 0.1, 0.1)] * 2, "prob_{}"), "add up to 0.3"),
    (spread([(-0.5, 0.9, 0.6)] * 2, "prob_{}"), "are no probabilities"),
    (spread([(0.0, 0.0, -3.0)] * 2, "logprob_{}"), "add up to 2.05"),
    (spread([(2.0, -1.0, -3.0)] * 2, "logprob_{}"), "add up to"),
    (spread([("-inf", "-inf", "-inf")] * 2, "logprob_{}"), "add up to 0"),
    (spread([(-1.0, -1.0)] * 2, "logprob_{}", "AB"), "figures for 2 options"),
    (spread([(0.4, 0.5)] * 2, "confidence_{}", "12"), "figures for 2 options"),
    (spread([(0.2, 0.2, 0.2, 0.3)] * 2, "prob_{}", "1234"), "figures for 4 options"),
    (spread([(0.5, "often", 0.5)] * 2, "prob_{}"), "prob_B holds 'often', no number"),
    (spread([(-1, "25%", -1)] * 2, "logprob_{}"), "logprob_B holds '25%', no number"),
    ({"option_logprobs": [[-1.0, -1.0]] * 2}, "figures for 2 options"),
    ({"option_logprobs": [[{"token": "A", "logprob": -1}]] * 2}, "no number"),
]


@pytest.mark.parametrize(("figures", "reason"), UNFIT)
def test_columns_told_by_their_names_are_left_out_where_no_row_fits(
    tmp_path: Path, figures: dict[str, Any], reason: str
) -> None:
    _, result = imported(tmp_path, rows(**figures))
    assert (2, 0) == (result.responses, result.logprobs)
    assert {name.partition(".")[0] for name in figures} <= {*result.left_out}
    (note,) = (note for note in result.notes if "not taken" in note)
    assert reason in note
    assert "line 1" in note
    assert all(name in note for name in figures)
    _, result = imported(tmp_path, rows(**figures), set={"option_logprobs": "none"})
    assert (2, 0) == (result.responses, result.logprobs)
    assert not any("not taken" in note for note in result.notes)


@pytest.mark.parametrize(
    ("field", "cells", "reason"),
    [
        ("probabilities", [0.9, 0.9, 0.9], "add up to 2.7"),
        ("probabilities", [0.5, 0.5], "figures for 2 options"),
        ("logprobs", {"A": -1, "B": "low", "C": -2}, "B holds 'low', no number"),
        ("logprobs", [{"token": "A", "logprob": -1}], "no number"),
        ("logprobs", "often", "'often' holds no figure for each option"),
        ("logprobs", -0.5, "'-0.5' holds no figure for each option"),
    ],
)
def test_a_mapped_column_that_does_not_fit_is_refused_with_its_name_and_row(
    tmp_path: Path, field: str, cells: Any, reason: str
) -> None:
    with pytest.raises(InputError, match=reason) as error:
        imported(tmp_path, rows(of_it=[cells] * 2), map={f"option_{field}": "of_it"})
    assert "line 1, of_it: " in str(error.value)
    assert "--set option_logprobs=none" in str(error.value)


@pytest.mark.parametrize(
    ("form", "cells"),
    [
        ("prob_{}", (0.1, 0.1, 0.1)),
        ("prob_{}", (0.5, None, 0.5)),
        ("prob_{}", (0.5, "n/a", 0.5)),
        ("prob_{}", (0.9, "?", 0.1)),
        ("logprob_{}", (-0.5, "NaN", -1.0)),
        ("logprob_{}", ("inf", -3.0, -1.0)),
    ],
)
def test_a_row_that_does_not_fit_comes_in_without_figures(
    tmp_path: Path, form: str, cells: tuple[Any, ...]
) -> None:
    fit = (LOGS if form.startswith("log") else SHARES)[1]
    run, result = imported(tmp_path, rows(**spread([cells, fit], form)))
    assert (2, 1) == (result.responses, result.logprobs)
    assert 1 == len(stored(run))
    (note,) = (note for note in result.notes if "do not fit" in note)
    assert "in 1 row do not fit" in note
    assert ", line 1: " in note


def test_a_figure_of_a_fifth_option_and_an_open_question_cost_their_rows_alone(tmp_path: Path) -> None:
    figures = spread([(0.7, 0.2, 0.1, 0.0), (0.6, 0.3, 0.1, None)], "prob_{}", "ABCD")
    data = rows(**figures)
    zero = dict.fromkeys(figures, 0)
    data.append({"id": "3", "question": "Why?", "gold": "So.", "model": "m", "response": "So.", **zero})
    run, result = imported(tmp_path, data)
    assert (3, 1) == (result.responses, result.logprobs)
    assert any("those of 2 rows do not fit" in note for note in result.notes)
    assert pytest.approx(math.log(0.6)) == stored(run)[0][0]


def test_what_is_impossible_is_null_and_a_percentage_is_a_share(tmp_path: Path) -> None:
    cells: list[tuple[Any, ...]] = [("75%", "25 %", "0%"), ("0,6", "40%", 0)]
    run, _ = imported(tmp_path, rows(**spread(cells, "prob_{}")))
    expected = [[math.log(0.75), math.log(0.25), None], [math.log(0.6), math.log(0.4), None]]
    for logprobs, row in zip(stored(run), expected, strict=True):
        assert row == pytest.approx(logprobs)
    (tmp_path / "logs").mkdir()
    cells = [("-inf", -0.1, -3.0), (-0.1, "-Infinity", -3.0)]
    run, _ = imported(tmp_path / "logs", rows(**spread(cells, "logprob_{}")))
    assert [[None, -0.1, -3.0], [-0.1, None, -3.0]] == stored(run)


@pytest.mark.parametrize("form", ["prob_{}", "{} probability", "option_probs.{}"])
@pytest.mark.parametrize("texts", [("yes", "no", "maybe"), ("entailed", "not entailed", "neither (of both)")])
def test_columns_under_the_texts_of_the_options_are_theirs(
    tmp_path: Path, form: str, texts: Sequence[str]
) -> None:
    data = rows(**spread(SHARES, form, texts))
    data = [{**row, "options": [*texts], "gold": texts[0], "response": texts[0]} for row in data]
    run, result = imported(tmp_path, data)
    assert (2, 2, ()) == (result.responses, result.logprobs, result.left_out)
    assert pytest.approx([math.log(share) for share in SHARES[1]]) == stored(run)[1]
    run.score("options(of=text)")
    assert {1, 0} >= {*run.scores.filter(run.scores["criterion"] == "accuracy")["value"]}


def test_columns_that_fit_the_questions_go_before_others_that_do_not(tmp_path: Path) -> None:
    ratings = spread([(0.5, 0.4)] * 2, "confidence_{}", "12")
    run, result = imported(tmp_path, rows(**ratings, **spread(SHARES, "prob_{}")))
    assert 2 == len(stored(run))
    assert {*ratings} <= {*result.left_out}


def test_a_table_of_figures_alone_that_fit_no_question_is_refused(tmp_path: Path) -> None:
    data = rows(**spread([(0.1, 0.1, 0.1)] * 2, "prob_{}"))
    with pytest.raises(InputError, match="there are no answers in words"):
        imported(tmp_path, [{k: v for k, v in row.items() if k != "response"} for row in data])


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
    [
        {"logprobs": [[-0.1, -0.2], [-0.3]]},
        {"prob": [0.5, 0.7]},
        spread(SHARES, "p_{}", (1, 2, 3)),
        {"choice_prob": [0.9, 0.8]},
        {"option_logprob": [-0.8, -0.9]},
        {"label_confidence": [0.8, 0.7]},
        {"option_logprobs": ["often", "often"]},
    ],
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


def test_forgetting_counts_figures_apart_from_answers(tmp_path: Path) -> None:
    """`viva forget` said 4 answers where `viva status` said 2."""
    run, _ = imported(tmp_path, rows(**spread(LOGS, "logprob_{}")))
    text = run.forget(candidates=["m"]).text
    assert "the texts of 2 answers, and 2 log-probabilities." in text
    assert "the texts of 2 answers." in run.status().text
