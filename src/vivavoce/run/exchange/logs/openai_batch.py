"""Results of batches: files of results and of errors, and of the requests beside them.

Those of Anthropic's Message Batches and of Gemini's batch mode are read as if OpenAI's API had written them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line
from vivavoce.models.replies import stated_thinking, stated_usage
from vivavoce.run.exchange.batches import BATCH_ID
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    content_text,
    item_of,
    messages_of,
    name_or_empty,
    need,
    part,
    question_of,
    reasoning_of,
    rows_in,
    texts,
    without_reasoning,
)
from vivavoce.run.exchange.logs.files import first_row, json_rows
from vivavoce.run.exchange.recorded_log import RecordedLog, RecordedLogReader, Sample

_ID = re.compile(r"(?P<item>.+)#(?P<repeat>[1-9]\d{0,5})")


@log_reader("openai_batch")
class OpenAIBatch(RecordedLogReader):
    """Replies in any order, by `custom_id` (Gemini's `key`); `ITEM#2` is the second answer to an item."""

    describes: ClassVar[str] = (
        "results and errors of a batch of OpenAI, Anthropic or Gemini, beside its requests"
    )

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first line, which is a result or an error."""
        return _row(first_row(path)).keys() >= {"custom_id", "response", "error"}

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The results of one batch: those of this file, and of others that answer the same requests.

        Requests that a run of ours wrote need not be beside them.
        """
        if BATCH_ID.fullmatch(_first_id(path)):
            yield RecordedLog(
                tool="openai_batch",
                version=None,
                task="openai_batch",
                candidate="",
                files=(path,),
                samples=tuple,
                of_batch=True,
            )
            return
        neighbours = sorted(path.parent.glob("*.jsonl"))
        requests = _requests(
            f for f in neighbours if _row(first_row(f)).keys() >= {"custom_id", "body", "url"}
        )
        results = [file for file in neighbours if self.knows(file) and _first_id(file) in requests]
        if path not in results:
            raise InputError(
                f"{path}: no file beside it holds the request {_first_id(path)!r}: put the file of requests "
                "there, which has the questions."
            )
        yield RecordedLog(
            tool="openai_batch",
            version=None,
            task="openai_batch",
            candidate="",
            files=(*results, *dict.fromkeys(file for file, _ in requests.values())),
            samples=partial(_samples, results, requests),
            notes=_notes(results, requests),
        )


def _rows(file: Path) -> Iterator[Line]:
    """The lines of a file of requests or of results, as the OpenAI Batch API writes them."""
    return (Line(line.where, _row(line.row)) for line in json_rows(file))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A request or a result as the OpenAI Batch API writes it; any other row as it is."""
    if "custom_id" in row and isinstance(row.get("params"), dict):
        return {
            **row,
            "url": "/v1/messages",
            "body": {**row["params"], "messages": _with_system(row["params"])},
        }
    if "custom_id" in row and isinstance(row.get("result"), dict):
        return {**row, **_anthropic_result(row["result"])}
    if "key" in row and isinstance(row.get("request"), dict):
        body = {**row["request"], "messages": _gemini_messages(row["request"])}
        return {"custom_id": row["key"], "url": "generateContent", "body": body}
    if "key" in row and (rows_in(part(row, "response"), "candidates") or "error" in row):
        return {"custom_id": row["key"], "error": row.get("error"), "response": _gemini_response(row)}
    return dict(row)


def _with_system(params: Mapping[str, Any]) -> Any:
    """The messages of a request to Anthropic with its system prompt in front."""
    messages, system = params.get("messages"), params.get("system")
    return (
        [{"role": "system", "content": system}, *messages]
        if system and isinstance(messages, list)
        else messages
    )


def _anthropic_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """The response and the error in a result of Anthropic's; one that ended without either is an error."""
    message = part(result, "message")
    if not message:
        error = part(result, "error", "error") or part(result, "error")
        return {"response": None, "error": {"code": result.get("type"), **error}}
    choice = {"message": message, "finish_reason": message.get("stop_reason")}
    return {"response": {"status_code": 200, "body": {**message, "choices": [choice]}}, "error": None}


def _gemini_messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = part(request, "systemInstruction") or part(request, "system_instruction")
    turns = [*([{"role": "system", **system}] if system else []), *rows_in(request, "contents")]
    roles = {"model": "assistant"}
    return [
        {"role": roles.get(role := str(turn.get("role") or "user"), role),
         "content": "".join(texts([entry.get("text") for entry in rows_in(turn, "parts")]))}
        for turn in turns
    ]  # fmt: skip


def _gemini_response(row: Mapping[str, Any]) -> dict[str, Any] | None:
    response = part(row, "response")
    choices = [
        {"message": {"content": rows_in(part(candidate, "content"), "parts")},
         "finish_reason": candidate.get("finishReason")}
        for candidate in rows_in(response, "candidates")
    ]  # fmt: skip
    body = {**response, "choices": choices, "model": response.get("modelVersion")}
    return {"status_code": 200, "body": body} if choices else None


Requests = Mapping[str, tuple[Path, Mapping[str, Any]]]


def _first_id(path: Path) -> str:
    return name_or_empty(_row(first_row(path)).get("custom_id"))


def _requests(files: Iterable[Path]) -> dict[str, tuple[Path, Mapping[str, Any]]]:
    """The body of each request by its id, and the file that it stands in."""
    requests: dict[str, tuple[Path, Mapping[str, Any]]] = {}
    for file in files:
        for line in _rows(file):
            name = name_or_empty(line.row.get("custom_id"))
            if name in requests:
                raise InputError(f"{line.where}: the custom_id {name!r} stands in two requests.")
            requests[name] = (file, need(line.row, "body", line.where))
    return requests


def _notes(files: Iterable[Path], requests: Requests) -> tuple[str, ...]:
    """The sentence on requests without a result, where there are any."""
    replies = {line.row.get("custom_id") for file in files for line in _rows(file)}
    unanswered = [name for name in requests if name not in replies]
    if not unanswered:
        return ()
    return (f"{len(unanswered):,} requests have no result yet, such as {unanswered[0]!r}.",)


def _samples(files: Iterable[Path], requests: Requests) -> Iterator[Sample]:
    for file in files:
        for line in _rows(file):
            name = name_or_empty(line.row.get("custom_id"))
            if name not in requests:
                raise InputError(f"{line.where}: no request has the custom_id {one_line(name, 60)!r}.")
            yield from _answers(line.row, line.where, name, requests[name][1])


def _answers(row: Mapping[str, Any], place: str, name: str, request: Mapping[str, Any]) -> Iterator[Sample]:
    """The answers in a result; an error, also one with a response, is a failed answer."""
    numbered = _ID.fullmatch(name)
    repeat = int(numbered["repeat"]) if numbered else None
    messages = request.get("messages") or request.get("input")
    question = question_of(messages, place)
    name = numbered["item"] if numbered else name
    item = item_of("openai_batch", name, question, messages=messages_of(messages))
    candidate = name_or_empty(request.get("model"))
    response = part(row, "response")
    body = part(response, "body")
    fields: dict[str, Any] = {"where": place, "item": item, "candidate": candidate, "repeat": repeat}
    if row.get("error") or response.get("status_code") != 200:
        yield Sample(
            **fields, **answer_fields(None, _cause(part(row, "error") or part(body, "error"), response))
        )
        return
    tokens = stated_usage(body).output
    details = {"model": name_or_empty(body.get("model")), "reasoning_tokens": stated_thinking(body)}
    meta = {name: detail for name, detail in details.items() if detail}
    for text, reasoning, reason in _texts(body, place):
        answer = answer_fields(text, reason=reason, meta=meta)
        yield Sample(tokens=tokens, reasoning=reasoning, **fields, **answer)


def _cause(error: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    """What an error says, else the status of the response."""
    words = texts([error.get("code"), error.get("message")])
    return " ".join(words) or f"status {response.get('status_code')}"


def _texts(body: Mapping[str, Any], place: str) -> list[tuple[str, str | None, str | None]]:
    """The texts of a chat completion, or of a response, each with its reasoning and why it ended."""
    if choices := rows_in(body, "choices"):
        messages = [(part(choice, "message"), choice.get("finish_reason")) for choice in choices]
        return [
            (_text(m.get("content") or m.get("refusal")), reasoning_of(m), reason) for m, reason in messages
        ]
    return [_output_text(body, place)]


def _output_text(body: Mapping[str, Any], place: str) -> tuple[str, str | None, str | None]:
    """The last text of a response with its reasoning and why it ended."""
    by_type = {kind: [entry for entry in rows_in(body, "output") if entry.get("type") == kind]
               for kind in ("message", "reasoning")}  # fmt: skip
    if not by_type["message"]:
        raise InputError(f"{place}: the response has status 200, and neither choices nor output.")
    ended = part(body, "incomplete_details").get("reason") or body.get("status")
    thoughts = [thought.get("text") for entry in by_type["reasoning"]
                for thought in (*rows_in(entry, "content"), *rows_in(entry, "summary"))]  # fmt: skip
    return _text(by_type["message"][-1].get("content")), "\n".join(texts(thoughts)) or None, ended


def _text(content: Any) -> str:
    return content_text(without_reasoning(content))
