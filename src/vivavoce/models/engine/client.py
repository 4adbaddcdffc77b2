"""A client for the program's own questions to models, on a run's account: judges, rephrasers, dictionaries.

Every call is a row of the run's `calls` with its reply. A reply that could be used is never requested twice;
one that could not is requested again by the next command, unless the second request brought one that could.
A lease keeps two commands from asking a model for the same purpose at once.
"""

import json
import sqlite3
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from vivavoce.core.errors import ModelError, SpecError
from vivavoce.core.parts import MARKS, reasoning_marks
from vivavoce.core.prompts import Unreadable
from vivavoce.core.specs import Spec
from vivavoce.core.text import spoken
from vivavoce.models.candidates import CandidateConfig, parse_candidate
from vivavoce.models.endpoints import EndpointConfig, load_endpoints
from vivavoce.models.engine.calls import Call, CallOutcome, CompletedCall, Queue, call_record
from vivavoce.models.engine.leases import Lease
from vivavoce.models.engine.refusals import RefusalCounter
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.ranges import TIMEOUT_TOTAL_S, check_option
from vivavoce.models.requests import HoldsWeights, Model, Reply, Request, Sampling
from vivavoce.store.calls import (
    CallRecord,
    put_calls,
    reply_of_call,
    stored_replies,
    stored_reply,
    unusable_replies,
)
from vivavoce.store.runfile import RunFile

T = TypeVar("T")
Parser = Callable[[str], T]
"""Reads a reply's text; raises `Unreadable` for one that cannot be used."""
SecondRequest = Callable[[int, str, str], Request]
"""Makes of a request's number, the reply and what is wrong with it the second request."""

_COUNTERS = (
    "answered failed shared retries input_tokens output_tokens unpriced cost guessed".split()  # noqa: SIM905
)
"""Fields of `UsageCounter` that add up over calls of `ask`."""


class CallResult(NamedTuple, Generic[T]):
    """What a request brought: a value, or the reason why there is none.

    `citations` are the sources that the endpoint returned beside the text. `finish_reason` is `length` where
    the reply was cut at its greatest length; null without a reply, or where the endpoint does not say.
    """

    value: T | None
    reason: str | None
    citations: tuple[Any, ...] = ()
    finish_reason: str | None = None


class _Result(NamedTuple):
    """A reply, and its parsed value or the reason why there is none.

    `schema_accepted` is false where the endpoint rejected the request, null where no attempt got a reply.
    """

    reply: Reply | None
    value: Any = None
    reason: str | None = None
    schema_accepted: bool | None = True

    @property
    def text(self) -> str | None:
        """The reply's text; null without a reply, or where the text was withheld."""
        return None if self.reply is None else self.reply.text


def call_result(reply: Reply | None, value: Any, reason: str | None) -> CallResult[Any]:
    """The value parsed from a reply or the reason for none, with what the reply says beside its text."""
    if reply is None:
        return CallResult(value, reason)
    return CallResult(value, reason, reply.citations, reply.finish_reason)


class Batch(NamedTuple):
    """Requests of one model, each with its parser; `purpose` and `repeat` are those of the calls.

    `old_replies` gives by key the stored replies that cannot be used and are not requested again.
    """

    candidate: CandidateConfig
    requests: Sequence[tuple[Request, Parser[Any]]]
    purpose: str
    repeat: int
    old_replies: Mapping[str, str] = {}

    @property
    def own_marks(self) -> tuple[str, str] | None:
        """The marks of thinking that the model's spec states; null for none."""
        return reasoning_marks(self.candidate.settings.get(MARKS), MARKS)


class ModelClient:
    """Asks models for one verb, and stores what comes; `release` ends it.

    `endpoints` are those of the environment unless given. `check` is called with each model before its first
    request, and raises where nothing may be sent to it. `progress` gets the counters, the number of requests
    and their purpose. A request takes `timeout_total` seconds at most. Of the limits that so
    many `shards` have in common, the client keeps its part. Local models have a process on each of `gpus`.
    Raises `InputError` for a model without a price under `max_cost`.
    """

    def __init__(
        self,
        run: RunFile,
        *,
        endpoints: Mapping[str, EndpointConfig] | None = None,
        max_cost: float | None = None,
        progress: Callable[[UsageCounter, int, str], None] | None = None,
        check: Callable[[CandidateConfig, Model], None] | None = None,
        timeout_total: float = TIMEOUT_TOTAL_S,
        shards: int = 1,
        gpus: tuple[int, ...] = (),
    ) -> None:
        check_option("max_cost", max_cost)
        check_option("timeout_total", timeout_total)
        self.run, self._endpoints, self._shards, self._gpus = run, endpoints, shards, gpus
        self.candidates: dict[str, CandidateConfig] = {}
        """By spec, the models that were asked for."""
        self._max_cost, self._progress, self._check = max_cost, progress, check
        self._timeout_total, self._refusals = timeout_total, RefusalCounter()
        self._checked: set[str] = set()
        self._failed: dict[tuple[str, str, int], dict[str, int]] = {}
        """By purpose, model and repeat, the calls of earlier commands whose replies could not be used."""
        self._local: dict[str, Any] = {}
        """By spec, the models of this process: loaded weights stay for the next requests."""
        self._schemas: dict[str, bool] = {}
        """By model, whether its endpoint takes a schema; unknown until one was answered or rejected."""
        self._lease = Lease(run, "command")
        weakref.finalize(self, self._lease.release).atexit = False
        self.usage = UsageCounter()

    def candidate(self, model: str | Spec) -> CandidateConfig:
        """The model that a spec names. Raises `SpecError` or `ModelError` for one not to be asked here."""
        if self._endpoints is None:
            self._endpoints = load_endpoints()  # here, because most runs ask nobody
        candidate = parse_candidate(str(model), self._endpoints)
        if foreign := [name for name in candidate.settings if name != MARKS]:
            raise SpecError(
                f"{model}: {', '.join(foreign)} is for candidates; what a model is asked here "
                "stands in its rubric or prompt."
            )
        candidate = candidate._replace(shards=self._shards).on_gpus(self._gpus)
        return self.candidates.setdefault(str(candidate.spec), candidate)

    def check_price(self, candidate: CandidateConfig) -> None:
        """Raise `InputError` for a model without a price where there is a limit of cost."""
        if self._max_cost is not None:
            candidate.check_price()

    def ask(
        self,
        model: str | Spec,
        requests: Sequence[Request],
        parse: Parser[T] | Sequence[Parser[T]],
        *,
        purpose: str,
        repeat: int = 1,
        again: SecondRequest | None = None,
    ) -> list[CallResult[T]]:
        """Ask every request and parse its reply, in their order.

        `parse`, one for all or one for each, raises `Unreadable` for a reply that cannot be used; `again`
        then makes the second and last request. Settings of the model's spec fill what a request leaves open.
        A schema that the endpoint rejects is left out. Equal requests are sent once, and none that the run
        has a usable reply to; `repeat` tells equal calls apart that are all to be made. Raises `ModelError`
        if the model cannot be asked or was given up: replies that came are stored, and cost nothing then.
        Raises `StoreError` where another command asks the model for the same purpose into this run.
        """
        candidate = self.candidate(model)
        parsers = [parse] * len(requests) if callable(parse) else list(parse)
        batch = Batch(candidate, list(zip(requests, parsers, strict=True)), purpose, repeat)
        batch = batch._replace(old_replies=self.old_replies(batch, again))
        results = self._ask_once(batch)
        if again:
            unusable = [k for k, result in enumerate(results) if result.reason and result.text is not None]
            second = [again(k, results[k].text or "", results[k].reason or "") for k in unusable]
            readers = [parsers[k] for k in unusable]
            better = self._ask_once(
                Batch(candidate, list(zip(second, readers, strict=True)), purpose, repeat)
            )
            for k, result in zip(unusable, better, strict=True):
                reason = result.reason and f"{results[k].reason}; asked again: {result.reason}"
                results[k] = result._replace(reason=reason)
        return [call_result(result.reply, result.value, result.reason) for result in results]

    def release(self) -> None:
        """Free what models of this process hold, and the leases; a later request takes them again."""
        for model in self._local.values():
            model.release()
        self._local.clear()
        self._lease.release()

    def _connected(self, candidate: CandidateConfig) -> Model:
        """The model; of those of this process the same one each time, and only one of them loaded at once."""
        spec = str(candidate.spec)
        model: Model = self._local.get(spec) or candidate.connect()
        if isinstance(model, HoldsWeights):
            for loaded in self._local.values():
                if loaded is not model:
                    loaded.release()
            self._local[spec] = model
        return model

    def old_replies(self, batch: Batch, again: SecondRequest | None) -> dict[str, str]:
        """By key the stored replies that cannot be used, where a usable one to the second request is stored.

        What was mended once is not asked again: a command that was killed goes on where it was.
        """
        place = (batch.purpose, str(batch.candidate.spec), batch.repeat)
        replies: dict[str, str] = {}
        if again is None:
            return replies
        with self.run.reading() as db:
            if place not in self._failed:
                self._failed[place] = unusable_replies(db, *place)
            failed = self._failed[place]
            if not failed:
                return replies
            for k, (request, parser) in enumerate(batch.requests):
                first = _sampled(request, batch)
                second = partial(_second_request, batch, again, k, parser)
                for form in (_as_is, without_schema):  # an endpoint that rejects the schema was asked without
                    key = form(first).key
                    if key in failed and _usable_reply(db, batch, key) is None:
                        stored = reply_of_call(db, failed[key])
                        better = second(stored)
                        if better and _usable_reply(db, batch, form(better).key) is not None:
                            replies[key] = stored
        return replies

    def _ask_once(self, batch: Batch) -> list[_Result]:
        """The result of each request; the first goes alone to learn whether the endpoint takes a schema."""
        if not batch.requests:
            return []
        batch = batch._replace(requests=[(_sampled(r, batch), parser) for r, parser in batch.requests])
        results: dict[str, _Result] = {}
        if batch.requests[0][0].sampling.schema and not self._takes_schema(batch, results):
            batch = batch._replace(requests=[(without_schema(r), parser) for r, parser in batch.requests])
        self.send(batch, results)
        return [results[request.key] for request, _ in batch.requests]

    def _takes_schema(self, batch: Batch, results: dict[str, _Result]) -> bool:
        """Whether the endpoint takes a schema; where that is unknown, the first request finds out."""
        endpoint = batch.candidate.spec.name
        if endpoint in self._schemas:
            return self._schemas[endpoint]
        first, parser = batch.requests[0]
        bare = without_schema(first)
        with self.run.reading() as db:
            if bare.key in batch.old_replies or _usable_reply(db, batch, bare.key) is not None:
                return self._schemas.setdefault(endpoint, False)
        self.send(batch._replace(requests=[(first, parser)]), results)
        accepted = results[first.key].schema_accepted
        if accepted is False:
            self.send(batch._replace(requests=[(bare, parser)]), results)
            # If the request is rejected without its schema too, the schema is not the reason.
            accepted = results[bare.key].schema_accepted is False
        if accepted is not None:
            self._schemas[endpoint] = accepted
        return self._schemas.get(endpoint, True)

    def send(self, batch: Batch, results: dict[str, _Result]) -> None:
        """Ask the requests without a result, and put their results under their keys."""
        pending: dict[str, Call] = {}
        for request, parser in batch.requests:
            if request.key not in results:
                pending.setdefault(request.key, Call(request, batch.repeat, parser))
        if not pending:
            return
        candidate, purpose = batch.candidate, batch.purpose
        model, price = self._connected(candidate), candidate.price
        self.check_price(candidate)
        if self._check and model.name not in self._checked:
            self._check(candidate, model)
            self._checked.add(model.name)
        work = f"ask {purpose} {candidate.spec} {batch.repeat}"
        self._lease.take([work], f"asking {candidate.spec} for the same answers ({purpose})")
        with self.run.connected() as db:

            def recall(model: Model, calls: Sequence[Call]) -> list[CallOutcome | None]:
                keys = [call.request.key for call in calls]
                stored = stored_replies(db, purpose, keys, model.name, batch.repeat)
                stored = {**batch.old_replies, **stored}
                return [_recalled(stored.get(key)) for key in keys]

            def store(calls: Sequence[CompletedCall]) -> None:
                parsed = [_parsed(outcome, call.tag, batch.own_marks) for _, call, outcome in calls]
                records = [
                    _record(*completed, result, purpose)
                    for completed, result in zip(calls, parsed, strict=True)
                    if completed.outcome.attempts  # a recalled reply is stored already
                ]
                with self.run.explained():
                    put_calls(db, records, late=self._lease.lost is not None)
                results.update((call.request.key, p) for (_, call, _), p in zip(calls, parsed, strict=True))
                self._lease.check()

            tally = UsageCounter()
            try:
                ask(
                    [Queue(model, list(pending.values()), candidate.limits, price)],
                    store,
                    recall=recall,
                    max_cost=self._max_cost,
                    spent=self.usage.cost + self.usage.guessed,
                    progress=self._reporter(len(pending), purpose),
                    tally=tally,
                    timeout_total=self._timeout_total,
                    refusals=self._refusals,
                )
            finally:  # what was sent was sent, whether or not it could be stored
                self._count(tally)
        if tally.interrupted:
            raise KeyboardInterrupt
        if model.name in tally.stopped:
            raise ModelError(
                f"{model.name} was not asked everything: {tally.stopped[model.name].rstrip('.')}. What came "
                "is stored; rerun the command to resume."
            )

    def _reporter(self, requests: int, purpose: str) -> Callable[[UsageCounter], None] | None:
        report = self._progress
        return None if report is None else lambda tally: report(tally, requests, purpose)

    def _count(self, tally: UsageCounter) -> None:
        usage = self.usage
        for name in _COUNTERS:
            setattr(usage, name, getattr(usage, name) + getattr(tally, name))
        usage.causes.update(tally.causes)
        usage.add_cuts(tally.cut_prompts)
        traffic = usage.traffic
        for endpoint, requests in tally.traffic.requests.items():
            traffic.requests[endpoint] = traffic.requests.get(endpoint, 0) + requests
            characters = tally.traffic.characters[endpoint]
            traffic.characters[endpoint] = traffic.characters.get(endpoint, 0) + characters


def merged(from_spec: Sampling, default: Sampling) -> Sampling:
    """The sampling that the model's spec states, and for the rest that of the request."""
    values = {f.name: getattr(from_spec, f.name) for f in fields(from_spec)}
    return replace(default, **{name: v for name, v in values.items() if v not in (None, (), False)})


def _sampled(request: Request, batch: Batch) -> Request:
    """The request with the settings of the model's spec."""
    return replace(request, sampling=merged(batch.candidate.sampling, request.sampling))


def _usable_reply(db: sqlite3.Connection, batch: Batch, key: str) -> str | None:
    return stored_reply(db, batch.purpose, key, str(batch.candidate.spec), batch.repeat)


def _second_request(
    batch: Batch, again: SecondRequest, k: int, parser: Parser[Any], stored: str
) -> Request | None:
    """The second request for a stored reply; null for one that can be used now, or has no text."""
    result = _parsed(CallOutcome(reply_from_json(stored), None, 0, 0.0, 0.0), parser, batch.own_marks)
    if result.text is None or result.reason is None:
        return None
    return _sampled(again(k, result.text, result.reason), batch)


def _as_is(request: Request) -> Request:
    return request


def without_schema(request: Request) -> Request:
    """The request without the schema that its reply should follow."""
    return replace(request, sampling=replace(request.sampling, schema=None))


def _recalled(stored: str | None) -> CallOutcome | None:
    return None if stored is None else CallOutcome(reply_from_json(stored), None, 0, 0.0, 0.0)


def _parsed(outcome: CallOutcome, parse: Parser[Any], own_marks: tuple[str, str] | None) -> _Result:
    """What a reply says; parsers take out thinking in known marks, and here goes that in the model's own."""
    if outcome.reply is None:
        accepted = False if outcome.refused else None
        return _Result(None, reason=outcome.error or "no reply", schema_accepted=accepted)
    reply = outcome.reply
    if reply.text is None:
        return _Result(reply, reason="the reply was withheld by the provider's content filter")
    try:
        text = reply.text if own_marks is None else spoken(reply.text, own_marks=own_marks).text
        return _Result(reply, parse(text))
    except Unreadable as error:
        cut = reply.finish_reason == "length"
        return _Result(reply, reason=f"{error}{' (the reply was cut at its greatest length)' if cut else ''}")


def _record(model: Model, call: Call, outcome: CallOutcome, result: _Result, purpose: str) -> CallRecord:
    """The call with its reply; one whose reply cannot be used has failed."""
    reply = outcome.reply
    return call_record(
        model,
        call,
        outcome,
        purpose=purpose,
        status="ok" if result.reason is None else "failed",
        error=result.reason,
        reply=None if reply is None else _reply_to_json(reply),
    )


def _reply_to_json(reply: Reply) -> str:
    """What is stored of a reply; citations only where there are some."""
    fields_kept = {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    citations = {"citations": reply.citations} if reply.citations else {}
    return json.dumps(fields_kept | citations, ensure_ascii=False)


def reply_from_json(stored: str) -> Reply:
    """A stored reply; one of an earlier version has no citations."""
    reply: Mapping[str, Any] = json.loads(stored)
    return Reply(
        text=reply["text"],
        finish_reason=reply["finish_reason"],
        model=reply["model"],
        citations=tuple(reply.get("citations") or ()),
    )
