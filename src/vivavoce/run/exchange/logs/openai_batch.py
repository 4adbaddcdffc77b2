"""Results of the OpenAI Batch API: files of results and of errors, and of the requests beside them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.errors import InputError
from vivavoce.core.registry import log_reader
from vivavoce.core.text import one_line
from vivavoce.models.replies import stated_usage
from vivavoce.run.exchange.batches import BATCH_ID
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    content_text,
    item_of,
    name_or_empty,
    need,
    part,
    question_of,
    rows_in,
    texts,
)
from vivavoce.run.exchange.logs.files import first_line, json_rows
from vivavoce.run.exchange.logs.messages import messages_of
from vivavoce.run.exchange.recorded_log import RecordedLog, RecordedLogReader, Sample

_ID = re.compile(r"(?P<item>.+)#(?P<repeat>[1-9]\d{0,5})")


@log_reader("openai_batch")
class OpenAIBatch(RecordedLogReader):
    """Replies in any order, by `custom_id`; `ITEM#2` is the second answer to an item."""

    describes: ClassVar[str] = "results and errors of a batch, beside its requests"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first line, which is a result or an error."""
        return first_line(path).keys() >= {"custom_id", "response", "error"}

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
        requests = _requests(f for f in neighbours if first_line(f).keys() >= {"custom_id", "body", "url"})
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


Requests = Mapping[str, tuple[Path, Mapping[str, Any]]]


def _first_id(path: Path) -> str:
    return name_or_empty(first_line(path).get("custom_id"))


def _requests(files: Iterable[Path]) -> dict[str, tuple[Path, Mapping[str, Any]]]:
    """The body of each request by its id, and the file that it stands in."""
    requests: dict[str, tuple[Path, Mapping[str, Any]]] = {}
    for file in files:
        for line in json_rows(file):
            name = name_or_empty(line.row.get("custom_id"))
            if name in requests:
                raise InputError(f"{line.where}: the custom_id {name!r} stands in two requests.")
            requests[name] = (file, need(line.row, "body", line.where))
    return requests


def _notes(files: Iterable[Path], requests: Requests) -> tuple[str, ...]:
    """The sentence on requests without a result, where there are any."""
    replies = {line.row.get("custom_id") for file in files for line in json_rows(file)}
    unanswered = [name for name in requests if name not in replies]
    if not unanswered:
        return ()
    return (f"{len(unanswered):,} requests have no result yet, such as {unanswered[0]!r}.",)


def _samples(files: Iterable[Path], requests: Requests) -> Iterator[Sample]:
    for file in files:
        for line in json_rows(file):
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
        error = part(row, "error") or part(body, "error")
        why = " ".join(texts([error.get("code"), error.get("message")]))
        yield Sample(**fields, **answer_fields(None, why or f"status {response.get('status_code')}"))
        return
    tokens = stated_usage(body).output
    meta = {"model": body["model"]} if isinstance(body.get("model"), str) else {}
    for text, reason in _texts(body, place):
        yield Sample(tokens=tokens, **fields, **answer_fields(text, reason=reason, meta=meta))


def _texts(body: Mapping[str, Any], place: str) -> list[tuple[str, str | None]]:
    """The texts of a chat completion, or of a response, each with why it ended."""
    if choices := rows_in(body, "choices"):
        messages = [(part(choice, "message"), choice.get("finish_reason")) for choice in choices]
        return [(content_text(m.get("content") or m.get("refusal")), reason) for m, reason in messages]
    outputs = [entry for entry in rows_in(body, "output") if entry.get("type") == "message"]
    if not outputs:
        raise InputError(f"{place}: the response has status 200, and neither choices nor output.")
    ended = part(body, "incomplete_details").get("reason") or body.get("status")
    return [(content_text(outputs[-1].get("content")), ended)]
