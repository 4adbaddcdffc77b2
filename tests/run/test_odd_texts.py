"""Texts that a file holds otherwise than they were answered: errors of servers, and escaped line ends."""

import json
from pathlib import Path
from typing import Any

from tests.cases import each_case
from tests.studies.making import write_lines

from vivavoce.core.endings import server_error
from vivavoce.run.run import open_run
from vivavoce.store.integrity import verify

PAGE = "<html>\n<head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
LOADING = '{"error": "Model x/y is currently loading", "estimated_time": 20.0}'
ERRORS = (
    *("503 Server Error: Service Unavailable for url: http://x", "404 Client Error: Not Found for url: x"),
    *("[ERROR] 429 Too Many Requests", "Error: 429", "429 RESOURCE_EXHAUSTED. {'error': 1}"),
    *(
        "Rate limit exceeded. Please try again later.",
        "<html><title>Error</title>",
        '{"error":"x","status":503}',
    ),
    *("429 Too Many Requests", "Error: timeout", "Request timed out.", "Connection error.", PAGE, LOADING),
    *(
        "upstream connect error or disconnect/reset before headers. reset reason: overflow",
        "no healthy upstream",
    ),
    *("HTTP/1.1 500 Internal Server Error", "Error code: 429 - {'error': {'message': 'Rate limit'}}"),
    *("openai.RateLimitError: Error code: 429", "Error 503 (Service Unavailable)", '{"detail":"Not Found"}'),
    "HTTPSConnectionPool(host='api.x', port=443): Max retries exceeded with url: /v1",
    '{"error": {"message": "Rate limit reached", "type": "tokens", "param": null, "code": "limit"}}',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}',
    "The engine is currently overloaded, please try again later",
    "You exceeded your current quota, please check your plan and billing details.",
    "CUDA out of memory. Tried to allocate 2.00 GiB",
)
ANSWERS = (
    *(
        "B",
        "500 mg",
        "Answer: 404",
        "Timeout",
        "overloaded",
        "Iron overload",
        "Error: step 3 is wrong",
        "Not found",
    ),
    *("429 cases were found", "500 not detected", '{"error": 3}', '{"error": "Step 2", "reason": "x"}'),
    *(
        '{"answer": "B"}',
        "<html><body>Answer: B</body></html>",
        '{"detail": "pneumonia"}',
        "Connection (fistula)",
    ),
    *("Medication error: 500 mg given", "Error: overloaded right ventricle", "Read: ECG normal"),
    "The server error code 429 means too many requests.",
    "Too many requests for analgesia suggest a use disorder",
    *(
        "Error: 400 (mg) instead of 40 mg. C",
        "Too many requests for imaging. Answer: C",
        "404 were not found",
    ),
    *("400: not acceptable. Use 200 mg.", "Rate limit exceeded, the heart cannot keep up."),
    *('{"message": "Forbidden in pregnancy: isotretinoin"}', '{"error": "medication error", "code": 450}'),
    *("<html><title>Medication error</title>B</html>", "<html><title>Refractive error</title>B</html>"),
)


@each_case("text", ERRORS)
def test_the_error_of_a_server_is_known(text: str) -> None:
    assert " ".join(text.split())[:50] in (server_error(text) or "")


@each_case("text", ANSWERS)
def test_words_that_errors_have_too_are_an_answer(text: str) -> None:
    assert server_error(text) is None


QUESTION = {"format": "mcq", "question": "Which?", "options": ["Metformin", "Insulin"], "answer": "B"}
ESCAPED = r"The patient has diabetes.\n\nAnswer: B\nExplanation: not A."


def exam_of(folder: Path, n: int) -> str:
    rows = [{"id": f"q{i}", **QUESTION} for i in range(n)]
    return f"jsonl(path='{write_lines(folder / 'exam.jsonl', rows)}')"


def answers(texts: dict[str, list[str]]) -> list[dict[str, str]]:
    return [
        {"item": f"q{i}", "candidate": candidate, "text": text}
        for candidate, of_candidate in texts.items()
        for i, text in enumerate(of_candidate)
    ]


def test_an_error_in_place_of_an_answer_has_failed_and_is_named(tmp_path: Path, viva: Any) -> None:
    texts = {"A": ["429 Too Many Requests", "B", PAGE, "429 Too Many Requests"], "B": ["B"] * 4}
    table = write_lines(tmp_path / "answers.jsonl", answers(texts))
    path = tmp_path / "run.viva"
    words = ("import", path, table, "--benchmark", exam_of(tmp_path, 4))
    line = "3 answers are a server's error and count as failed, such as '429 Too Many Requests'."
    assert line in viva(*words).stdout
    (row,) = json.loads(viva(*words, "--json").stdout)["rows"]
    assert (3, 3, 0) == (row["failed"], row["server_errors"], row["escaped_line_ends"])
    run = open_run(path)
    run.score("accuracy")
    assert {"ok": 5, "failed": 3} == dict(run.scores.group_by("status").len().iter_rows())
    assert "A server's error in place of an answer: 3 of 4 answers (75 %) of A." in str(run.status())
    stored = [json.loads(meta).get("server_error") for meta in run.responses["meta"]]
    assert ["429 Too Many Requests", None, PAGE, "429 Too Many Requests"] == stored[:8:2]


@each_case("text", [ESCAPED, ESCAPED.replace(r"\n", r"\r\n"), ESCAPED.replace(r"\n", r"\\n")])
def test_escaped_line_ends_are_read_as_line_ends(tmp_path: Path, text: str) -> None:
    plain = text.replace(r"\\n", "\n").replace(r"\r\n", "\n").replace(r"\n", "\n")
    run = open_run(tmp_path / f"{len(text)}.viva")
    imported = run.import_answers(
        answers({"A": [text, "B"], "B": [plain, "B"]}), benchmark=exam_of(tmp_path, 2)
    )
    line = "Line ends stand as a backslash and an n in 1 answer of A: they are read as line ends."
    assert (1, (line,)) == (imported.escaped_line_ends, imported.notes)
    run.score("accuracy", "rouge(n=1)")
    by_candidate = [run.scores.filter(candidate=name)["value"].to_list() for name in "AB"]
    assert by_candidate[0] == by_candidate[1]
    assert [text, plain] == run.responses.filter(item="q0")["text"].to_list()
    assert [plain, plain] == run.responses.filter(item="q0")["final"].to_list()
    counts = {row["candidate"]: row["escaped_line_ends"] for row in run.status().rows
              if row["about"] == "integrity"}  # fmt: skip
    assert {"A": 1} == counts
    with run.file.reading() as db:
        assert 0 == sum(check.wrong for check in verify(db))


@each_case("texts", [
    ["One\nline end of its own.", ESCAPED],
    [r"The shift is $\nu$ and $\neq$.", r"So $\nabla f \not= 0$: B"],
    [r"B\n", "B"],
])  # fmt: skip
def test_other_backslashes_stay(tmp_path: Path, texts: list[str]) -> None:
    run = open_run(tmp_path / f"{len(texts[0])}.viva")
    imported = run.import_answers(answers({"A": texts}), benchmark=exam_of(tmp_path, 2))
    assert (0, texts) == (imported.escaped_line_ends, run.responses["final"].to_list())


def test_thinking_behind_escaped_line_ends_is_parted(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    texts = [r"<think>A?\nA\n</think>\n\nAnswer: B", r"<think>\nno end\n", r"\n\n"]
    run.import_answers(answers({"A": texts}), benchmark=exam_of(tmp_path, 3))
    assert [("Answer: B", None), ("", "thinking"), ("", None)] == [
        *run.responses.select("final", "ending").iter_rows()
    ]
    run.score("accuracy")
    assert ["ok", "unreadable", "unanswered"] == run.scores["status"].to_list()


def test_logs_are_looked_through_too(tmp_path: Path) -> None:
    texts = [ESCAPED, "429 Too Many Requests", "B"]
    url, messages = "/v1/chat/completions", [{"role": "user", "content": "Which?"}]
    request = {"method": "POST", "url": url, "body": {"model": "m", "messages": messages}}
    requests = [{"custom_id": f"q{i}", **request} for i in range(3)]
    bodies = [{"choices": [{"message": {"content": text}, "finish_reason": "stop"}]} for text in texts]
    results = [{"custom_id": f"q{i}", "response": {"status_code": 200, "body": body}, "error": None}
               for i, body in enumerate(bodies)]  # fmt: skip
    write_lines(tmp_path / "requests.jsonl", requests)
    run = open_run(tmp_path / "run.viva")
    (log,) = run.import_logs(write_lines(tmp_path / "results.jsonl", results)).logs
    assert (1, 1, 1) == (log.failed, log.server_errors, log.escaped_line_ends)
    assert ["1 answer is a server's", "Line ends stand as a b"] == [note[:22] for note in log.notes]
    assert [None, "B"] == run.responses.sort("item")["final"].to_list()[1:]


def copied(run: Any, way: str) -> Any:
    """A copy without texts, or a run that this one was merged into."""
    path = run.file.path.with_name(f"{way}.viva")
    if way == "redacted":
        run.export(path, format="run", redact=True)
        return open_run(path)
    copy = open_run(path)
    copy.merge(run.file.path)
    return copy


@each_case("way", ["redacted", "merged"])
def test_copies_keep_the_counts(tmp_path: Path, way: str) -> None:
    run = open_run(tmp_path / f"of {way}.viva")
    run.import_answers(answers({"A": [ESCAPED, "429 Too Many Requests"]}), benchmark=exam_of(tmp_path, 2))
    run.score("accuracy")
    rows = [
        [row for row in of_run.status().rows if row["about"] == "integrity"]
        for of_run in (run, copied(run, way))
    ]
    assert rows[0] == rows[1]
    assert [(1, 1)] == [(row["server_errors"], row["escaped_line_ends"]) for row in rows[0]]
