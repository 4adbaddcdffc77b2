"""Results of batches of OpenAI, Anthropic and Gemini: text, thinking beside it, errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import write_lines

from vivavoce.core.errors import InputError
from vivavoce.run.run import open_run

Row = dict[str, Any]
CHAT, ASKED = "/v1/chat/completions", [{"role": "user", "content": "Which?"}]
REQUEST = {"custom_id": "q", "method": "POST", "url": CHAT, "body": {"model": "m", "messages": ASKED}}


def chat(message: Row) -> Row:
    body = {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}]}
    return {"custom_id": "q", "response": {"status_code": 200, "body": body}, "error": None}


def output(*entries: Row) -> Row:
    body = {"model": "m-1", "output": entries, "status": "completed"}
    return {"custom_id": "q", "response": {"status_code": 200, "body": body}, "error": None}


ANTHROPIC = {
    "custom_id": "q",
    "params": {"model": "m", "max_tokens": 9, "system": "Be brief.", "messages": ASKED},
}
GEMINI = {"key": "q", "request": {"contents": [{"role": "user", "parts": [{"text": "Which?"}]}]}}
BLOCKS = [{"type": "thinking", "thinking": "A or B?", "signature": "x"}, {"type": "text", "text": "B"}]
TEXT = {"type": "message", "content": [{"type": "output_text", "text": "B"}]}
MESSAGE = {"role": "assistant", "content": BLOCKS, "stop_reason": "end_turn", "model": "m-1",
           "usage": {"input_tokens": 9, "output_tokens": 5}}  # fmt: skip
PARTS = [{"text": "A or B?", "thought": True}, {"text": "B"}]
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 4, "totalTokenCount": 14}
RESULTS: tuple[tuple[Row, Row], ...] = (
    (REQUEST, chat({"content": "B", "reasoning_content": "A or B?"})),
    (REQUEST, chat({"content": "B", "reasoning": "A or B?"})),
    (REQUEST, chat({"content": BLOCKS})),
    (REQUEST, output({"type": "reasoning", "summary": [{"type": "summary_text", "text": "A or B?"}]}, TEXT)),
    (ANTHROPIC, {"custom_id": "q", "result": {"type": "succeeded", "message": MESSAGE}}),
    (GEMINI, {"key": "q", "response": {
        "candidates": [{"content": {"parts": PARTS}, "finishReason": "STOP"}], "modelVersion": "m-1",
        "usageMetadata": USAGE}}),
)  # fmt: skip


def imported(folder: Path, request: Row, result: Row) -> Any:
    folder.mkdir()
    write_lines(folder / "requests.jsonl", [request])
    run = open_run(folder / "run.viva")
    run.import_logs(write_lines(folder / "results.jsonl", [result]))
    return run


@each_case(("request_row", "result"), RESULTS)
def test_thinking_stands_beside_the_text(tmp_path: Path, request_row: Row, result: Row) -> None:
    run = imported(tmp_path / str(RESULTS.index((request_row, result))), request_row, result)
    columns = ("item", "text", "final", "reasoning", "finish_reason", "ending")
    (row,) = run.responses.select(*columns).iter_rows()
    assert ("q", "B", "B", "A or B?", "stop", "complete") == row
    assert "m-1" == json.loads(run.responses["meta"][0])["model"]
    assert "Which?" in run.items["question"][0]


def test_tokens_are_counted_with_those_of_thinking(tmp_path: Path) -> None:
    run = imported(tmp_path / "run", *RESULTS[-1])
    assert (5, 4) == (run.responses["tokens"][0], json.loads(run.responses["meta"][0])["reasoning_tokens"])


def test_a_limit_reached_while_thinking_is_told(tmp_path: Path) -> None:
    message = {**MESSAGE, "content": BLOCKS[:1], "stop_reason": "max_tokens"}
    run = imported(
        tmp_path / "run", ANTHROPIC, {"custom_id": "q", "result": {"type": "succeeded", "message": message}}
    )
    assert [("", "thinking")] == [*run.responses.select("text", "ending").iter_rows()]


ERRORS: tuple[tuple[Row, Row, str], ...] = (
    (ANTHROPIC, {"custom_id": "q", "result": {"type": "errored", "error": {
        "type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}}}, "too long"),
    (ANTHROPIC, {"custom_id": "q", "result": {"type": "expired"}}, "expired"),
    (GEMINI, {"key": "q", "error": {"code": 429, "message": "Resource exhausted"}}, "429 Resource exhausted"),
)  # fmt: skip


@each_case(("request_row", "result", "words"), ERRORS)
def test_an_error_of_a_request_is_a_failed_answer(
    tmp_path: Path, request_row: Row, result: Row, words: str
) -> None:
    run = imported(tmp_path / words[:3], request_row, result)
    (row,) = run.responses.select("status", "text", "error").iter_rows()
    assert ("failed", None) == row[:2]
    assert words in row[2]


def test_results_without_their_requests_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "results.jsonl", [RESULTS[4][1]])
    with pytest.raises(InputError, match="no file beside it holds the request 'q'"):
        open_run(tmp_path / "run.viva").import_logs(path)


def test_log_probabilities_that_are_all_zero_are_no_answer(tmp_path: Path, shared: Path) -> None:
    """Four options cannot all be certain: whoever logged them computed none."""
    (file,) = (shared / "data" / "peers" / "lm_eval" / "tiny").glob("samples_viva_med_mcq*")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[0]["resps"] = [[["0.0", "False"]] for _ in rows[0]["resps"]]
    (folder := tmp_path / "log").mkdir()
    run = open_run(tmp_path / "run.viva")
    (log,) = run.import_logs(write_lines(folder / file.name, rows)).logs
    assert (1, 4) == (log.failed, log.logprobs)
    with run.file.reading() as db:
        ((status, error, logprobs),) = db.execute(
            "SELECT status, error, logprobs FROM responses WHERE item_id = (SELECT min(item_id) FROM items)"
        )
    assert ("failed", None) == (status, logprobs)
    assert "gives several options the log-probability 0.0" in error
    run.score("options(of=text)")
    scores = run.scores.filter(metric="options(of=text)", criterion="accuracy")
    assert {"ok": 4, "failed": 1} == dict(scores.group_by("status").len().iter_rows())
