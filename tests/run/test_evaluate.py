"""`viva.evaluate`: a table in, a run out; what is uneven is refused with a sentence."""

import gc
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.lazy import lazy_module

import vivavoce as viva
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.run.evaluate import Evaluated, evaluate

datasets, pd = lazy_module("datasets"), lazy_module("pandas")

QUESTIONS = [
    {"id": "q1", "question": "Which antidote?", "options": ["Naloxone", "Protamine"], "answer": "Naloxone"},
    {"id": "q2", "question": "Aspirin is an NSAID.", "options": None, "answer": "True"},
    {"id": "q3", "question": "First choice?", "options": None, "answer": "metformin"},
]
SAID = {"A": ["A", "True", "metformin"], "B": ["Protamine", "False", "insulin"]}
ROWS = [
    {**question, "model": model, "response": text}
    for model, texts in SAID.items()
    for question, text in zip(QUESTIONS, texts, strict=True)
]


def means(run: Evaluated) -> dict[tuple[str, str], float]:
    assert run.scored is not None
    return {(row["metric"], row["candidate"]): row["estimate"] for row in run.scored.rows}


EXPECTED = {
    ("accuracy", "A"): 1, ("accuracy", "B"): 0, ("exact", "A"): 1, ("exact", "B"): 0,
    ("token_f1", "A"): 1, ("token_f1", "B"): 0,
}  # fmt: skip


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    path = tmp_path / "ward round.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.mark.parametrize(
    "make_data",
    [
        lambda: pd.DataFrame(ROWS),
        lambda: pl.DataFrame(ROWS),
        lambda: ROWS,
        lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
        lambda: datasets.Dataset.from_list(ROWS),
        lambda: pd.read_csv(
            io.StringIO(pd.DataFrame(ROWS).to_csv(index=False))
        ),  # lists as Python writes them
        lambda: pd.DataFrame(ROWS).rename(columns=str.upper),
    ],
    ids=["pandas", "polars", "dicts", "columns", "datasets", "csv", "capitals"],
)
def test_every_kind_of_data_gives_the_same_scores(make_data: Callable[[], Any]):
    run = evaluate(make_data())
    assert means(run) == EXPECTED
    assert run.imported is not None
    assert run.imported.formats == {"mcq": 1, "true_false": 1, "short": 1}


def test_a_path_gives_them_too_and_names_the_exam(jsonl: Path):
    run = evaluate(jsonl)
    assert means(run) == EXPECTED
    assert run.items["benchmark"].unique().to_list() == ["ward round"]
    assert run.imported is not None
    assert run.estimates(items=run.imported.benchmark).rows


def test_what_was_matched_is_said_and_stored():
    run = evaluate([{**row, "latency": 1.5} for row in ROWS], "accuracy")
    assert run.imported is not None
    assert run.imported.matched == {"item": "id", "candidate": "model", "text": "response"}
    assert run.imported.left_out == ("latency",)
    with run.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance WHERE verb = 'import'").fetchone()
    step = json.loads(body)
    assert step["matched"]["text"] == "response"
    assert step["formats"] == {"mcq": 1, "true_false": 1, "short": 1}
    assert (step["file"], len(step["file_hash"])) == ("data in memory", 8)


class TestPlace:
    def test_a_run_in_memory_is_its_owners_alone_and_goes_with_the_object(self):
        run = evaluate(ROWS)
        folder = run.file.path.parent
        assert (run.temporary, folder.stat().st_mode & 0o777) == (True, 0o700)
        del run
        gc.collect()
        assert not folder.exists()

    def test_a_copy_stays(self, tmp_path: Path):
        kept = evaluate(ROWS).copy(tmp_path / "kept.viva")
        assert viva.open(kept).scores.height == 8

    def test_a_run_at_a_path_stays_and_takes_more(self, tmp_path: Path):
        path = tmp_path / "exam.viva"
        evaluate(ROWS[:3], to=path)
        run = evaluate(ROWS[3:], to=path)
        assert (run.temporary, len(run.candidates)) == (False, 2)

    def test_a_report_of_a_temporary_run_needs_a_place(self, tmp_path: Path):
        run = evaluate(ROWS)
        with pytest.raises(InputError, match="this run is temporary"):
            run.report()
        assert run.report(tmp_path / "report.html").exists()

    def test_a_forked_process_leaves_the_folder(self):
        run = evaluate(ROWS, [])
        child = os.fork()
        if child == 0:
            run = None  # type: ignore[assignment]
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert run.file.path.exists()


def test_metrics_are_those_named_or_none_at_all():
    assert {metric for metric, _ in means(evaluate(ROWS, "accuracy"))} == {"accuracy"}
    assert {metric for metric, _ in means(evaluate(ROWS, metrics=["exact", "accuracy"]))} == {
        "exact",
        "accuracy",
    }
    unscored = evaluate(ROWS, [])
    assert (unscored.scored, unscored.responses.height) == (None, 6)


def test_more_answers_come_later_to_the_questions_of_the_run():
    run = evaluate(ROWS)
    run.import_answers(pd.DataFrame({"id": ["q1", "q2"], "model": "C", "answer": ["B", "False"]}))
    run.score("accuracy")
    assert {c.candidate for c in run.candidates} == {"A", "B", "C"}
    assert run.estimates("accuracy").rows[-1]["estimate"] == 0


def test_scores_come_from_frames_too():
    run = evaluate(ROWS, [])
    marks = pd.DataFrame(
        {"ID": ["q1", "q3"], "Model": ["A", "A"], "Rating": [4, None], "note": ["fine", None]}
    )
    done = run.import_scores(marks, measure="panel(of=two)", range={"*": (1, 5)})
    assert (done.scores, done.ok, done.failed) == (2, 1, 1)
    assert done.matched == {"item": "ID", "candidate": "Model", "value": "Rating"}
    wide = pl.DataFrame({"id": ["q1"], "model": ["A"], "harm": [0.0], "score": [2.0]})
    done = run.import_scores(wide, measure="judge(model=m)", criteria=["harm", "score"])
    assert done.criteria == ("harm", "score")


def test_a_benchmark_elsewhere_takes_a_table_of_answers_alone(tmp_path: Path):
    exam = tmp_path / "exam.jsonl"
    exam.write_text('{"id": "q1", "format": "short", "question": "Which?", "answer": "x"}\n')
    run = evaluate([{"id": "q1", "model": "A", "answer": "x"}], benchmark=f"jsonl(path={exam})")
    assert means(run)["exact", "A"] == 1


class TestOneOfAThing:
    def test_one_row(self):
        run = evaluate(ROWS[:1])
        assert means(run) == {("accuracy", "A"): 1}

    def test_one_model_has_nobody_to_be_compared_with(self):
        run = evaluate(ROWS[:3])
        with pytest.raises(SelectionError):
            run.compare()

    def test_a_model_named_for_all(self):
        rows = [{k: v for k, v in row.items() if k != "model"} for row in ROWS[:3]]
        assert means(evaluate(rows, "accuracy", set={"candidate": "mine"})) == {("accuracy", "mine"): 1}

    def test_duplicate_rows_are_one_answer(self):
        run = evaluate(ROWS + ROWS)
        assert run.responses.height == 6

    def test_two_answers_of_one_model_need_repeats(self):
        again = [{**ROWS[0], "response": "B"}]
        with pytest.raises(InputError, match=r"data, row 7: a second answer of A to q1.*repeat"):
            evaluate(ROWS + again)
        numbered = [{**row, "trial": n} for n, row in enumerate([ROWS[0], *again], 1)]
        assert evaluate(numbered).responses["repeat"].to_list() == [1, 2]


def test_a_null_answer_never_arrived_and_an_empty_one_is_blank():
    rows = [{**ROWS[0], "response": None}, {**ROWS[1], "response": float("nan")}, {**ROWS[2], "response": ""}]
    imported = evaluate(rows, []).imported
    assert imported is not None
    assert (imported.failed, imported.blank) == (2, 1)


def test_a_column_of_booleans_or_numbers_is_read_as_text():
    frame = pd.DataFrame(
        {"question": ["A.", "B."], "answer": [True, False], "model": "M", "output": [True, True]}
    )
    run = evaluate(frame)
    assert (run.responses["text"].to_list(), means(run)) == (["True", "True"], {("accuracy", "M"): 0.5})


def test_a_whole_number_among_texts_is_written_whole():
    run = evaluate([{**ROWS[0]}, {"id": "n", "question": "N?", "answer": 5, "model": "A", "response": 5.0}])
    assert "5" in run.responses["text"]
    assert means(run)["exact", "A"] == 1


def test_one_question_for_all_rows_can_be_set():
    run = evaluate([{"answer": "x", "model": "A", "output": "x"}], set={"question": "Which?"})
    assert means(run)["exact", "A"] == 1


def test_a_name_with_signs_is_read_again():
    run = evaluate(ROWS, "accuracy", name="my exam (v2), x=1")
    assert run.imported is not None
    assert run.estimates(items=run.imported.benchmark).rows


def test_rows_without_a_model_and_an_answer_tell_of_questions_alone():
    run = evaluate(
        [*QUESTIONS, *({"id": r["id"], "model": r["model"], "response": r["response"]} for r in ROWS)]
    )
    assert means(run) == EXPECTED


def test_groups_and_categories_come_along():
    rows = [{**row, "case_id": row["id"][:1], "specialty": "any"} for row in ROWS]
    items = evaluate(rows, []).items
    assert items["group"].n_unique() == 1
    assert items["category"].unique().to_list() == ["any"]


@pytest.mark.parametrize(
    ("data", "settings", "words"),
    [
        ([], {}, "the data are empty"),
        ([{"a": 1}], {}, "the data: no column holds what a model answered, nor which model"),
        (QUESTIONS, {}, "the data: no column holds what a model answered, nor which model"),
        ([{"id": 1, "model": "A", "output": "x"}], {}, "no benchmark is named, and no column holds"),
        ([{**ROWS[0], "output": "y"}], {}, "the columns 'response' and 'output' may each be what the model"),
        ([{k: v for k, v in ROWS[0].items() if k != "model"}], {}, "no column 'candidate'"),
        ([{**ROWS[0], "model": None}], {}, "data, row 1: the column 'model' is empty."),
        ([{**ROWS[0], "id": None}], {}, "data, row 1: the id is empty"),
        ([{**ROWS[0], "response": ["x"]}], {}, "data, row 1: the answer is list, not text"),
        (ROWS, {"map": {"text": "reply"}}, "no column 'reply' to take text from."),
        (ROWS, {"map": {"txet": "response"}}, "answers have no field 'txet'. Did you mean 'text'?"),
        (ROWS, {"role": {"Z": "floor"}}, "--role names 'Z', but the data has no such candidate."),
        (ROWS, {"benchmark": "sample"}, "all to items outside sample: q1, q2, q3."),
        (7, {}, "no rows can be read from a int"),
        ("nowhere.csv", {}, "no file at nowhere.csv."),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_and_leaves_nothing(
    tmp_path: Path, data: Any, settings: dict[str, Any], words: str
):
    with pytest.raises(InputError) as error:
        evaluate(data, to=tmp_path / "exam.viva", **settings)
    assert words in str(error.value)
    assert not (tmp_path / "exam.viva").exists()


def test_a_frame_with_columns_and_no_rows_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="the data are empty"):
        evaluate(pd.DataFrame(columns=["question", "model", "response"]), to=tmp_path / "exam.viva")
    assert not (tmp_path / "exam.viva").exists()


def test_ids_that_floats_no_longer_tell_apart_are_refused():
    frame = pd.DataFrame({"id": [10**18 + 1, None], "question": "Which?", "model": "A", "output": "x"})
    with pytest.raises(InputError, match="data, row 1: the id 1e\\+18 is a number so large"):
        evaluate(frame)


def test_hostile_texts_stay_texts(tmp_path: Path):
    text = "<script>alert(1)</script>\u202e=cmd|' /C calc'!A0\x00"
    rows = [{**row, "response": text, "question": f"{row['question']} {text}"} for row in ROWS]
    run = evaluate(rows, "token_f1")
    assert set(run.responses["text"]) == {text}
    assert "<script>alert(1)" not in run.report(tmp_path / "r.html").read_text(encoding="utf-8")


def test_models_are_asked_the_questions_of_a_table_without_answers():
    run = evaluate(QUESTIONS, models=["baseline/reference", "baseline/random"], offline=True)
    assert run.imported is not None
    assert (run.imported.questions, run.imported.responses, run.responses.height) == (3, 0, 6)
    assert means(run)["accuracy", "baseline/reference"] == 1


def test_models_are_asked_beside_answers_that_are_there():
    run = evaluate(ROWS, "accuracy", models=["baseline/reference"], offline=True)
    assert {c.candidate: c.role for c in run.candidates} == {
        "A": "candidate", "B": "candidate", "baseline/reference": "ceiling",
    }  # fmt: skip


OPTIONS = ["Flumazenil", "Naloxone", "Protamine"]


def spread(names: list[str], **more: Any) -> list[dict[str, Any]]:
    """A question with a column for each option, and two models."""
    row = {"id": "q1", "question": "Which antidote?", **dict(zip(names, OPTIONS, strict=True)), **more}
    return [{**row, "model": "A", "response": "B"}, {**row, "model": "B", "response": "Protamine"}]


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (["option_a", "option_b", "option_c"], "B"),
        (["Option A", "Option B", "Option C"], "Naloxone"),
        (["optionA", "optionB", "optionC"], "b"),
        (["A", "B", "C"], "B"),
        (["choice_1", "choice_2", "choice_3"], 2),
        (["opa", "opb", "opc"], "B"),
    ],
)
def test_options_in_columns_of_their_own_are_options(names: list[str], key: Any):
    run = evaluate(pd.DataFrame(spread(names, answer=key)))
    assert means(run) == {("accuracy", "A"): 1, ("accuracy", "B"): 0}
    assert run.imported is not None
    assert run.imported.formats == {"mcq": 1}
    assert run.imported.matched["options"] == ", ".join(names)
    assert run.imported.left_out == ()
    assert run.items["options"].to_list() == [OPTIONS]
    assert run.items["answer"].to_list() == [["Naloxone"]]


def test_options_in_columns_are_read_for_models_that_are_to_be_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Evaluated, "collect", lambda self, spec, **settings: None)
    rows = [
        {k: v for k, v in row.items() if k not in ("model", "response")} for row in spread(["A", "B", "C"])
    ]
    run = evaluate([{**rows[0], "answer": "C"}], [], models=["fake/m"])
    assert run.items["answer"].to_list() == [["Protamine"]]
    assert run.imported is not None
    assert run.imported.matched["options"] == "A, B, C"


def test_marks_under_bare_letters_are_no_options():
    run = evaluate([{**ROWS[2], "A": 3, "B": 4}])
    assert run.imported is not None
    assert run.imported.formats == {"short": 1}
    assert run.imported.left_out == ("A", "B")


def test_a_wide_table_of_models_may_hold_options_in_columns_too():
    row = {"id": "q1", "question": "Which?", "answer": "B", "A": "x", "B": "y", "m1": "A", "m2": "B"}
    assert means(evaluate([row], models_in_columns=["m1", "m2"])) == {
        ("accuracy", "m1"): 0,
        ("accuracy", "m2"): 1,
    }


def test_a_file_is_read_as_the_caller_says(tmp_path: Path):
    path = tmp_path / "exam.csv"
    path.write_bytes("id|question|answer|m\nq1|Gorączka, duża?|ł|ł\n".encode("cp1250"))
    run = evaluate(path, delimiter="pipe", encoding="cp1250", models_in_columns=["m"])
    assert means(run)["exact", "m"] == 1
    assert run.imported is not None
    assert (run.imported.delimiter, run.imported.encoding) == ("pipe", "cp1250")
    with pytest.raises(InputError, match="sheet are for tables in files"):
        evaluate(ROWS, sheet="exam")


def test_one_id_written_as_number_and_text_is_one_question():
    rows = [{**ROWS[2], "id": id, "model": model} for model, id in (("A", 1), ("B", "1"), ("C", 1.0))]
    for data in (rows, pd.DataFrame(rows)):
        run = evaluate(data)
        assert run.items["item"].to_list() == ["1"]


def test_a_context_in_parts_is_shown_whole():
    row = {"question": "Does it?", "final_decision": "yes", "model": "A", "response": "yes"}
    run = evaluate([{**row, "context": {"contexts": ["Aim.", "Results."], "labels": ["AIM", "RESULTS"]}}])
    assert run.items["context"].to_list() == ["Aim.\n\nResults."]
    assert means(run)["exact", "A"] == 1


@pytest.mark.parametrize(("field", "what"), [("id", "ids 'q3' and 'q3 '"), ("model", "models 'A' and 'A '")])
def test_names_that_differ_in_blanks_alone_are_refused(field: str, what: str):
    rows = [ROWS[2], {**ROWS[2], field: f"{ROWS[2][field]} "}]
    with pytest.raises(InputError, match=f"the data: the {what} differ in blanks alone: write them alike"):
        evaluate(rows)
