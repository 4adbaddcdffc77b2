"""Results of batches that a run of ours wrote: its responses and calls, as `viva collect` stores them."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, VivaError
from vivavoce.core.parts import MARKS
from vivavoce.core.records import Item, Response
from vivavoce.core.text import is_blank, one_line
from vivavoce.models.endpoints import scrubbed
from vivavoce.models.engine.calls import Call, CallOutcome
from vivavoce.models.http_client import ContentFilterError, refusal
from vivavoce.models.prompt_cuts import with_prompt_cut
from vivavoce.models.providers.openai import chat_reply, checked_model
from vivavoce.models.requests import RejectedError, Reply, Request, RetryableError
from vivavoce.run.collect.generate import as_stored, response_of
from vivavoce.run.exchange.batches import BatchRequest, BatchSettings, batch_requests, batches
from vivavoce.run.exchange.imported import forgotten_text
from vivavoce.run.exchange.logs.fields import name_or_empty, part, texts
from vivavoce.run.exchange.logs.files import json_rows
from vivavoce.run.exchange.rebuilt_requests import RebuiltRequests
from vivavoce.run.exchange.row_counts import row_counts
from vivavoce.store import read
from vivavoce.store.by_place import response_at
from vivavoce.store.calls import CallRecord, put_call_of_response
from vivavoce.store.forgotten import forgotten_names, gone_keys
from vivavoce.store.item_rows import item_keys
from vivavoce.store.write import Stored, put_candidates, put_provenance, put_responses

_HALF = 0.5
"""What a request in a batch costs of the listed price."""
_AT_ONCE = 1000
"""Results that are in memory at a time."""


class _Batch(NamedTuple):
    """A batch of the run: its settings, and whether a confidence was asked for and examples were shown."""

    settings: BatchSettings
    confidence: bool
    marks: tuple[str, str] | None
    has_examples: bool


class _Result(NamedTuple):
    """What came for an item: the response, the call that brought it, and whether its row is counted by it."""

    request: BatchRequest
    response: Response
    call: CallRecord
    of_new_row: bool


class BatchImport(NamedTuple):
    """What results brought to a candidate on a benchmark; `repeats` is the largest number for one item.

    `row_counts` says what became of each row about its requests: an answer, or one that a later row replaces.
    """

    settings: BatchSettings
    numbers: Mapping[str, int]
    items: int
    repeats: int
    stored: Stored
    notes: tuple[str, ...]
    row_counts: Mapping[str, int]


def import_batches(db: sqlite3.Connection, files: Sequence[Path]) -> list[BatchImport]:
    """Store the results in these files, in the transaction of the caller; what is there already stays.

    Results of questions that were forgotten since are left out: their requests cannot be told any more.
    Raises `InputError` for a result of no request of this run, and for two results of one.
    """
    if not files:
        return []
    ids, untold = _ids(files), _untold(db)
    requests = _requests_by_id(db, ids, n_untold=sum(untold.values()))
    groups = dict.fromkeys(batch for entries in requests.values() for batch, _ in entries)
    candidates = put_candidates(db, _roles(groups))
    imports = {batch: _Import(db, batch, candidates) for batch in groups or list(untold)[:1]}
    row_numbers = [len(places) for name, places in ids.items() if name not in requests]
    _store(_results(files, requests), imports)
    return [entry.close([] if n else row_numbers) for n, entry in enumerate(imports.values())]


def _store(results: Iterator[tuple[_Batch, _Result]], imports: Mapping[_Batch, "_Import"]) -> None:
    """Store the results of each batch, some at a time."""
    while chunk := list(islice(results, _AT_ONCE)):
        by_batch: dict[_Batch, list[_Result]] = defaultdict(list)
        for batch, result in chunk:
            by_batch[batch].append(result)
        for batch, rows in by_batch.items():
            imports[batch].store(rows)


def _roles(groups: Mapping[_Batch, None]) -> dict[str, Any]:
    return {batch.settings.candidate: batch.settings.role for batch in groups}


def _ids(files: Sequence[Path]) -> dict[str, list[str]]:
    """Where the results of each id stand. Raises `InputError` for two replies to one request."""
    ids: dict[str, list[str]] = defaultdict(list)
    replies: set[str] = set()
    for file in files:
        for line in json_rows(file):
            name = name_or_empty(line.row.get("custom_id"))
            if name in replies and _is_reply(line.row):
                raise InputError(f"{line.where}: a second reply to the custom_id {one_line(name, 60)!r}.")
            ids[name].append(line.where)
            replies.update([name] if _is_reply(line.row) else ())
    return ids


def _is_reply(row: Mapping[str, Any]) -> bool:
    return not row.get("error") and part(row, "response").get("status_code") == 200


def _requests_by_id(
    db: sqlite3.Connection, ids: Mapping[str, Sequence[str]], *, n_untold: int
) -> dict[str, list[tuple[_Batch, BatchRequest]]]:
    """By id what was asked; the ids of `n_untold` requests are not known any more.

    Raises `InputError` where more ids than these are of no request of this run.
    """
    requests: dict[str, list[tuple[_Batch, BatchRequest]]] = defaultdict(list)
    places: set[tuple[str, ...]] = set()
    for batch, request in _batch_requests(db):
        settings, item = batch.settings, request.item
        place = (settings.benchmark, settings.candidate, item.item, item.variant, str(request.repeat))
        if request.custom_id in ids and place not in places:  # a later batch may ask the same again
            places.add(place)
            requests[request.custom_id].append((batch, request))
    strange = [name for name in ids if name not in requests]
    if len(strange) > n_untold:
        raise InputError(
            f"{ids[strange[0]][-1]}: no request of this run has the custom_id {one_line(strange[0], 60)!r}: "
            "import the results into the run that wrote the batch, with the prompt files that it was written "
            "with. Nothing was imported."
        )
    return requests


def _untold(db: sqlite3.Connection) -> dict[_Batch, int]:
    """By batch, the newest first, how many requests cannot be told any more, as their question was forgotten.

    With examples any request may have shown one. A batch that asks again what a later one asks has none.
    """
    untold: dict[_Batch, int] = {}
    repeats: Counter[tuple[str, str]] = Counter()
    for batch, items in _batch_items(db) if gone_keys(db).items else ():
        settings, gone = batch.settings, forgotten_names(db, batch.settings.benchmark)
        n_gone = sum(item.item in gone or (batch.has_examples and bool(gone)) for item in items)
        n_more = settings.repeats - repeats[settings.benchmark, settings.candidate]
        if n_gone and n_more > 0:
            untold[batch] = n_gone * n_more
            repeats[settings.benchmark, settings.candidate] += n_more
    return untold


def _batch_requests(db: sqlite3.Connection) -> Iterator[tuple[_Batch, BatchRequest]]:
    """The requests of every batch of the run, the newest first, as far as they can be built again."""
    entries = {entry.benchmark: entry for entry in read.benchmarks(db)}
    for batch, items in _batch_items(db):
        entry = entries[batch.settings.benchmark]
        with suppress(VivaError):  # its prompt file is gone: its ids will be of no request
            yield from ((batch, request) for request in batch_requests(entry, items, batch.settings))


def _batch_items(db: sqlite3.Connection) -> Iterator[tuple[_Batch, tuple[Item, ...]]]:
    """Every batch of the run, the newest first, with the items of its benchmark."""
    entries = {entry.benchmark: entry for entry in read.benchmarks(db)}
    stored = tuple(read.items_by_id(db).values())
    for settings in batches(db):
        if entry := entries.get(settings.benchmark):
            items = tuple(item for item in stored if item.benchmark == settings.benchmark)
            rebuilt = RebuiltRequests(entry, items).settings(settings.candidate)
            flags = bool(rebuilt.get("confidence")), rebuilt.get(MARKS), bool(rebuilt.get("shots"))
            yield _Batch(settings, *flags), items


def _results(
    files: Sequence[Path], requests: Mapping[str, Sequence[tuple[_Batch, BatchRequest]]]
) -> Iterator[tuple[_Batch, _Result]]:
    """What came, for each item that asked so; a reply that several share costs once."""
    for file in files:
        for line in json_rows(file):
            met: set[_Batch] = set()
            for shared, (batch, request) in enumerate(requests[name_or_empty(line.row.get("custom_id"))]):
                outcome = _outcome(line.row, request.request, batch.settings)
                if shared:
                    outcome = outcome._replace(cost=0.0, attempts=0)
                yield batch, _result(batch, request, outcome, of_new_row=batch not in met)
                met.add(batch)


def _result(batch: _Batch, request: BatchRequest, outcome: CallOutcome, *, of_new_row: bool) -> _Result:
    settings, usage = batch.settings, outcome.reply.usage if outcome.reply else None
    call = Call(request.request, request.repeat, request.item)
    response = replace(response_of(settings.benchmark, settings.candidate, call, outcome), seconds=None)
    response = as_stored(response, {"confidence": batch.confidence, MARKS: batch.marks})
    record = CallRecord(
        key=request.request.key,
        model=settings.candidate,
        endpoint=settings.endpoint,
        repeat=request.repeat,
        kind=request.request.kind,
        purpose="collect",
        status=response.status,
        attempts=outcome.attempts,
        seconds=outcome.seconds,
        input_tokens=usage.input if usage else None,
        output_tokens=usage.output if usage else None,
        cost=outcome.cost,
        error=outcome.error,
        reply=None,
    )
    return _Result(request, response, record, of_new_row)


def _outcome(row: Mapping[str, Any], request: Request, settings: BatchSettings) -> CallOutcome:
    """What came of a request. Nobody waited for it, so it took no seconds of ours."""
    try:
        reply = _reply(row, request, settings)
    except (RetryableError, RejectedError) as error:
        return CallOutcome(None, scrubbed(str(error)), 1, 0.0, None)
    return CallOutcome(reply, None, 1, 0.0, _cost(reply, settings.price))


def _reply(row: Mapping[str, Any], request: Request, settings: BatchSettings) -> Reply:
    """The reply in a result. Raises `RetryableError` or `RejectedError` for an error, as an endpoint does."""
    response = part(row, "response")
    body = part(response, "body")
    if not _is_reply(row):
        error = part(row, "error") or part(body, "error")
        reason = one_line(
            ": ".join(texts([error.get("code"), error.get("message")])) or "no cause was stated", 300
        )
        status = response.get("status_code")
        if not isinstance(status, int):
            raise RetryableError(reason)
        try:
            raise refusal(reason, status)
        except ContentFilterError:
            return Reply(text=None, finish_reason="content_filter")
    model = checked_model(body, settings.model, {settings.model: settings.accept})
    return with_prompt_cut(chat_reply(body, request, model), request)


def _cost(reply: Reply, price: Sequence[float] | None) -> float | None:
    """Half of what the tokens cost elsewhere; null without a price or a count."""
    sent, generated = reply.usage
    if price is None or sent is None or generated is None:
        return None
    return _HALF * (sent * price[0] + generated * price[1]) / 1e6


class _Import:
    """The import of a batch's results into the run, in its transaction."""

    def __init__(self, db: sqlite3.Connection, batch: _Batch, candidates: Mapping[str, int]) -> None:
        self._db, self._batch, self._candidates = db, batch, candidates
        self._items = item_keys(db, batch.settings.benchmark)
        self._numbers: Counter[str] = Counter()
        self._places: set[tuple[int, int]] = set()
        self._gone = gone_keys(db).responses
        self._ids: set[str] = set()
        self._kept: set[str] = set()
        self._stored = Stored(0, 0, 0)

    def store(self, results: Sequence[_Result]) -> None:
        """Store responses; beside each that is new its call."""
        candidate = self._candidates[self._batch.settings.candidate]
        fresh = [result for result in results if self._is_new(result, candidate)]
        more = put_responses(
            self._db, [result.response for result in results], items=self._items, candidates=self._candidates
        )
        self._stored = Stored(*(before + new for before, new in zip(self._stored, more, strict=True)))
        for result in fresh:
            put_call_of_response(self._db, result.call, self._key(result), candidate, result.request.repeat)
        for result in results:
            text = result.response.text
            self._numbers["rows"] += result.of_new_row
            self._ids.add(result.request.custom_id)
            self._numbers["responses"] += 1
            self._numbers["failed"] += result.response.status == "failed"
            self._numbers["blank"] += text is not None and is_blank(text)
            self._places.add((self._key(result), result.request.repeat))
            stored = response_at(self._db, self._key(result), candidate, result.request.repeat)
            if stored and stored.key not in self._gone:
                self._kept.add(result.request.custom_id)

    def _key(self, result: _Result) -> int:
        return self._items[result.request.item.item, result.request.item.variant]

    def _is_new(self, result: _Result, candidate: int) -> bool:
        """Whether nothing is there yet, or a failure that this is none of."""
        stored = response_at(self._db, self._key(result), candidate, result.request.repeat)
        return stored is None or (stored.status == "failed" and result.response.status != "failed")

    def close(self, untold: Sequence[int]) -> BatchImport:
        """Note in the provenance what was done.

        `untold` counts for each request that cannot be told, and so is of no batch, the rows about it.
        """
        settings, n_rows = self._batch.settings, self._numbers.pop("rows", 0) + sum(untold)
        stored = self._stored._replace(forgotten=self._stored.forgotten + len(untold))
        n_ids = len(self._ids) + len(untold)
        body = {"benchmark": settings.benchmark, "candidate": settings.candidate, **self._numbers}
        put_provenance(self._db, "import batch", body, changed=self._stored.new + self._stored.replaced)
        repeats = Counter(item for item, _ in self._places)
        cost = "half the listed price" if settings.price else "not known, for want of a listed price"
        return BatchImport(
            settings,
            self._numbers,
            items=len(repeats),
            repeats=max(repeats.values(), default=0),
            stored=stored,
            notes=(
                f"The cost of a request in a batch is {cost}.",
                *forgotten_text(stored.forgotten),
            ),
            row_counts=row_counts(
                n_rows,
                answers=len(self._kept),
                forgotten=n_ids - len(self._kept),
                retried=n_rows - n_ids,
            ),
        )
