"""Documented layouts of tools beside those of `written_logs`: what is an answer, and of whom."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.logs.written_logs import A1, A2, BRAINTRUST, K1, K2, LANGSMITH, MLFLOW, Q1, Q2, lines, table, turns

import vivavoce as viva
from vivavoce.core.errors import InputError

SPAN = {"attributes.input.value": Q1, "attributes.output.value": A1, "context.trace_id": "t", "name": "ask"}
PHOENIX_SPANS = [
    {**SPAN, "span_kind": "LLM", "attributes.llm.model_name": "gpt-4", "eval.correct.score": 1.0},
    *({**SPAN, "span_kind": kind} for kind in ("CHAIN", "TOOL", "RETRIEVER")),
]
RUN = {"id": "r", "name": "ask", "trace_id": "t", "error": None, "extra": {}, "feedback_stats": {}}
LANGCHAIN = [[{"lc": 1, "type": "constructor", "kwargs": {"type": "human", "content": Q2}}]]
LANGSMITH_RUNS = [
    {**RUN, "run_type": "chain", "inputs": {"question": Q1}, "outputs": {"answer": A1}},
    {**RUN, "run_type": "llm", "inputs": {"messages": turns(Q1)}, "parent_run_id": "r",
     "outputs": {"choices": [{"message": {"role": "assistant", "content": A1}}]},
     "extra": {"metadata": {"ls_model_name": "gpt-4"}}, "feedback_stats": {"correct": {"n": 1, "avg": 0.5}}},
    {**RUN, "run_type": "llm", "inputs": {"messages": LANGCHAIN}, "parent_run_id": "r",
     "outputs": {"generations": [[{"text": A2, "type": "ChatGeneration"}]]}},
    {**RUN, "run_type": "tool", "inputs": {"input": Q1}, "outputs": {"output": "a page"}},
]  # fmt: skip
SEEN = {"traceId": "t", "startTime": "2026-01-01", "input": Q1, "output": A1}
LANGFUSE_STEPS = [
    {**SEEN, "id": "o1", "type": "SPAN", "model": None},
    {**SEEN, "id": "o2", "type": "GENERATION", "model": "gpt-4", "input": turns(Q1)},
    {**SEEN, "id": "o3", "type": "RETRIEVER", "model": None},
]
BLOB = [
    {"id": "o", "trace_id": "t", "type": "GENERATION", "input": Q1, "output": A1,
     "provided_model_name": "gpt-4",
     "usage_details": {"output": 4}, "level": "DEFAULT", "status_message": None},
]  # fmt: skip
ANSWERED_ALIKE = {"question": Q1, "answer": A1, "annotator": 1, "lead_time": 4.5}
LAYOUTS = {
    "phoenix spans": ("spans.csv", table(*(dict.fromkeys(PHOENIX_SPANS[0], "") | s for s in PHOENIX_SPANS))),
    "phoenix spans as JSON": ("spans.json", json.dumps(PHOENIX_SPANS)),
    "langsmith runs": ("runs.jsonl", lines(*LANGSMITH_RUNS)),
    "langsmith runs of a query": ("runs.json", json.dumps({"runs": LANGSMITH_RUNS})),
    "langfuse observations": ("observations.json", json.dumps(LANGFUSE_STEPS)),
    "langfuse blob": ("observations.jsonl", lines(*BLOB)),
    "mlflow under another name": ("results.json", json.dumps(MLFLOW)),
    "doccano without comments": (
        "anna.jsonl", lines({"id": 1, "text": A1, "question": Q1, "label": ["good"], "model": "m1"})
    ),
    "label studio without ids": ("min.json", json.dumps([{**ANSWERED_ALIKE, "stars": [{"rating": 4}]}])),
}  # fmt: skip
# By hand: tool, candidates, answers, rows left out, scores.
COUNTS = {
    "phoenix spans": ("phoenix", ["gpt-4"], 1, 3, 1),
    "phoenix spans as JSON": ("phoenix", ["gpt-4"], 1, 3, 1),
    "langsmith runs": ("langsmith", ["gpt-4"], 2, 2, 1),
    "langsmith runs of a query": ("langsmith", ["gpt-4"], 2, 2, 1),
    "langfuse observations": ("langfuse", ["gpt-4"], 1, 2, 0),
    "langfuse blob": ("langfuse", ["gpt-4"], 1, 0, 0),
    "mlflow under another name": ("mlflow", ["unnamed (mlflow)"], 2, 0, 2),
    "doccano without comments": ("doccano", ["m1"], 1, 0, 1),
    "label studio without ids": ("label_studio", ["unnamed (label_studio)"], 1, 0, 1),
}


def imported(folder: Path, name: str, text: str, **options: Any) -> tuple[viva.Run, Any]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    run = viva.open(folder / "logs.viva")
    (log,) = run.import_logs(file, **options).logs
    return run, log


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_call_of_a_model_is_an_answer_and_steps_are_counted(tmp_path: Path, name: str) -> None:
    run, log = imported(tmp_path, *LAYOUTS[name])
    left_out = sum(log.left_out.values())
    assert COUNTS[name] == (log.tool, [*log.candidates], log.responses, left_out, log.scores)
    assert {*log.left_out} <= {"a step of an answer"}
    with run.file.reading() as db:
        rows = db.execute("SELECT question, text FROM responses JOIN items USING (item_id)").fetchall()
    assert {*rows} <= {(Q1, A1), (Q2, A2)}


def test_an_experiment_of_chains_is_answers(tmp_path: Path) -> None:
    """What answers an example of a data set is no step, whatever its kind; its key stands beside it."""
    rows = [
        {**RUN, "run_type": "chain", "reference_example_id": f"e{k}", "inputs": {"question": q},
         "outputs": {"answer": a}, "reference_outputs": {"answer": key}}
        for k, (q, a, key) in enumerate([(Q1, A1, K1), (Q2, A2, K2)])
    ]  # fmt: skip
    run, log = imported(tmp_path, "runs.jsonl", lines(*rows))
    assert (2, {}) == (log.responses, log.left_out)
    with run.file.reading() as db:
        assert [("e0",), ("e1",)] == db.execute("SELECT item FROM items ORDER BY item").fetchall()


ERRED = {**BRAINTRUST[2], "metadata": {}}


def test_an_answer_without_a_model_is_of_the_only_one_that_the_log_names(tmp_path: Path) -> None:
    """And the name that is set names them all."""
    text = json.dumps([BRAINTRUST[0], ERRED])
    run, log = imported(tmp_path, "experiment.json", text)
    assert (("m1",), 2, 1) == (log.candidates, log.responses, log.failed)
    assert "1 answer names no model: it is taken as m1's, the only one in the log." in log.notes
    assert {"m1"} == set(run.responses["candidate"])
    folder = tmp_path / "named"
    folder.mkdir()
    assert ("m",) == imported(folder, "experiment.json", text, candidate="m")[1].candidates


def test_an_answer_without_a_model_in_a_log_of_several_stands_by_itself(tmp_path: Path) -> None:
    answer = {**BRAINTRUST[0], "id": "s4", "metadata": {"model": "m2"}}
    _, log = imported(tmp_path, "experiment.json", json.dumps([BRAINTRUST[0], answer, ERRED]))
    assert ("m1", "m2", "unnamed (braintrust)") == log.candidates
    assert any(note.startswith("1 answer names no model and the log has 2: under") for note in log.notes)


@pytest.mark.parametrize(
    ("erred", "words"), [(1, "1 score of failed answers is"), (2, "2 scores of failed answers are")]
)
def test_scores_of_answers_that_failed_are_counted_in_words(tmp_path: Path, erred: int, words: str) -> None:
    rows = [{**row, "outputs.answer": "", "error": "x", "feedback.correct": "1"} for row in LANGSMITH[:erred]]
    _, log = imported(tmp_path, "experiment.csv", table(*rows))
    assert f"{words} left out: nothing was there to be scored." in log.notes


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("anna.jsonl", lines({"id": 1, "text": A1, "label": ["good"]}), "no question under question, prompt"),
        ("min.json", json.dumps([{"text": Q1, "annotator": 1, "lead_time": 1}]), "no answer under answer, "),
    ],
)
def test_a_refusal_names_the_columns_that_were_looked_for(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        imported(tmp_path, name, text)


def test_a_file_that_a_named_reader_does_not_know_is_told_what_it_looks_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no log of langsmith.* Looked for: .*inputs, outputs and run_type"):
        imported(tmp_path, "runs.jsonl", lines({"a": 1}), reader="langsmith")
