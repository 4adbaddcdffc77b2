"""A fake Batch API: it answers files of requests with a file of results and one of errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[dict[str, Any]], Any]
"""From the body of a request a text, a body of a reply, or an (HTTP status, message)."""


def requests_in(folder: Path) -> list[dict[str, Any]]:
    """The requests in a folder, in the order of its files."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]
    ]


def fake_batch(folder: Path, to: Path, answer: Answer, *, model: str = "gpt-x-2026-01-01") -> list[Path]:
    """Answer the requests in a folder; results come in another order."""
    results, errors = [], []
    for n, request in enumerate(reversed(requests_in(folder))):
        said = answer(request["body"])
        if isinstance(said, tuple):
            body = {"error": {"message": said[1], "code": "invalid_prompt"}}
            errors.append(_row(n, request, said[0], body))
            continue
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 40}
        body = said if isinstance(said, dict) else {"model": model, "choices": [choice], "usage": usage}
        results.append(_row(n, request, 200, body))
    to.mkdir(exist_ok=True)
    paths = []
    for name, rows in (("results.jsonl", results), ("errors.jsonl", errors)):
        if rows:
            (to / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            paths.append(to / name)
    return paths


def _row(n: int, request: dict[str, Any], status: int, body: dict[str, Any]) -> dict[str, Any]:
    response = {"status_code": status, "request_id": f"req_{n}", "body": body}
    return {"id": f"batch_req_{n}", "custom_id": request["custom_id"], "response": response, "error": None}
