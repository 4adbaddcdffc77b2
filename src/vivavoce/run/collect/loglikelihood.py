"""Log-likelihoods: what a metric of probabilities asks of a model about each item, every call stored.

There are two rounds: the opening requests, such as answers to be generated, then the likelihoods. A stored
call is never made again, so a killed collect resumes where it stopped. When all replies about an item are
there, they become one response.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vivavoce.core.records import Item, Response
from vivavoce.core.text import one_line
from vivavoce.logprobs.requests import (
    PromptBuilder,
    merge,
    missing_reason,
    reply_from_json,
    reply_to_json,
    to_model_requests,
)
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.engine.calls import (
    Call,
    CallOutcome,
    CompletedCall,
    Queue,
    call_record,
)
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.requests import Model, Reply, Request
from vivavoce.run.collect.generate import Connected, Round
from vivavoce.run.collect.plan import CollectPlan, LogprobTask
from vivavoce.store.asked import unanswered
from vivavoce.store.calls import Ledger

PURPOSE = "probe"
"""The purpose under which calls are stored; files of earlier versions hold it."""


@dataclass
class LogprobOutcome:
    """What became of the items, each of which may take several calls.

    `failed` counts the others by cause and `names` are theirs; `cut` counts items of which a part was left
    out to fit a context.
    """

    recorded: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    names: list[str] = field(default_factory=list)
    cut: int = 0


def prompt_builder(plan: CollectPlan, candidate: CandidateConfig) -> PromptBuilder:
    """The conversation that asks an item with the candidate's settings."""
    return lambda item: plan.requests.messages(item, candidate.settings)


def pending_tasks(
    db: sqlite3.Connection | None, plan: CollectPlan, candidate: CandidateConfig
) -> Iterator[tuple[LogprobTask, Item]]:
    """What a candidate is still to be asked: each task, and the items without a record."""
    for task in plan.tasks:
        for item in unanswered(db, task.items, str(candidate.spec), task.probe.name):
            yield task, item


def max_calls(
    db: sqlite3.Connection | None, plan: CollectPlan, candidate: CandidateConfig, branching: bool
) -> int:
    """How many calls a candidate takes at most: stored calls are not subtracted."""
    prompt = prompt_builder(plan, candidate)
    pending = pending_tasks(db, plan, candidate)
    return sum(task.probe.most_calls(item, prompt, branching) for task, item in pending)


def first_key(task: LogprobTask, item: Item, prompt: PromptBuilder) -> str:
    """The key of the first request about an item: another key means another wording."""
    requests = task.probe.sample(item, prompt) or task.probe.score(item, prompt, ())
    return requests[0].key if requests else ""


@dataclass
class _Gathered:
    """The replies about one item, some of which have not come yet.

    A batch that cannot be stored comes again, call by call: what is gathered twice counts once. `missing` are
    the places of calls without an outcome, and `failed` causes by place.
    """

    task: LogprobTask
    item: Item
    opened: Sequence[Reply]
    followed: list[list[Reply | None]]
    key: str
    missing: set[tuple[int, int]]
    failed: dict[tuple[int, int], str] = field(default_factory=dict)
    stored: bool = False

    @property
    def replies(self) -> list[Reply]:
        return [*self.opened, *(reply for group in self.followed for reply in group if reply)]

    def record(self) -> str:
        merged = [merge([reply for reply in group if reply is not None]) for group in self.followed]
        return json.dumps(self.task.probe.to_record(self.item, self.opened, merged), ensure_ascii=False)

    def meta(self) -> Mapping[str, Any]:
        models = sorted({reply.model for reply in self.replies if reply.model})
        return {"asked": self.key} | ({"model": models[0]} if models else {})


class _Place(NamedTuple):
    """Where a reply belongs; `gathered` is null in the first round."""

    gathered: _Gathered | None = None
    group: int = 0
    number: int = 0


_UNASKED = Call(Request(messages=()), 1, _Place())
"""Stands for what is left of an item when nobody will be asked any more."""


def loglikelihood_rounds(
    plan: CollectPlan,
    ledger: Ledger,
    connected: Sequence[Connected],
    tally: UsageCounter,
    outcome: LogprobOutcome,
) -> Iterator[Round]:
    """The two rounds; the second reads the replies of the first. `outcome` counts items, `tally` calls."""
    rounds = _Rounds(plan, ledger, tally, outcome)
    first = [Queue(m, rounds.opening_calls(c), c.limits, c.price) for c, m in connected]
    yield Round(first, rounds.keep_opening, rounds.recall)
    second = [Queue(m, rounds.following_calls(c, m), c.limits, c.price) for c, m in connected]
    yield Round(second, rounds.keep_following, rounds.recall)


class _Rounds:
    """The calls of both rounds, and what becomes of their replies."""

    def __init__(
        self, plan: CollectPlan, ledger: Ledger, tally: UsageCounter, outcome: LogprobOutcome
    ) -> None:
        self._plan, self._ledger = plan, ledger
        self._tally, self._outcome = tally, outcome
        self._failures: dict[tuple[str, str], str] = {}
        """By model and request why no reply came in the first round."""

    def opening_calls(self, candidate: CandidateConfig) -> Iterator[Call]:
        prompt = prompt_builder(self._plan, candidate)
        for task, item in pending_tasks(self._ledger.db, self._plan, candidate):
            for request in task.probe.sample(item, prompt):
                yield Call(request, 1, _Place())

    def keep_opening(self, batch: Sequence[CompletedCall]) -> None:
        with self._ledger.transaction():
            causes = [self._store_call(*completed) for completed in batch]
        for (model, call, outcome), cause in zip(batch, causes, strict=True):
            if cause is not None and not outcome.fatal:
                self._failures[model.name, call.request.key] = cause

    def following_calls(self, candidate: CandidateConfig, model: Model) -> Iterator[Call]:
        prompt = prompt_builder(self._plan, candidate)
        branching = bool(getattr(model, "branching", False))
        for task, item in pending_tasks(self._ledger.db, self._plan, candidate):
            if self._tally.interrupted or model.name in self._tally.stopped:
                yield _UNASKED
                continue
            opened = self._opened(model, task, item, prompt)
            if opened is None:
                continue
            try:
                requests = task.probe.score(item, prompt, opened)
                groups = [to_model_requests(request, branching) for request in requests]
            except (Exception, SystemExit) as error:  # a metric may be third-party code
                self._store_record(model, task, item, None, _fault(task, error))
                continue
            gathered = _Gathered(
                task=task,
                item=item,
                opened=opened,
                followed=[[None] * len(group) for group in groups],
                key=first_key(task, item, prompt),
                missing={(g, n) for g, group in enumerate(groups) for n in range(len(group))},
            )
            if not gathered.missing:
                self._store_record(model, task, item, gathered, None)
            for g, group in enumerate(groups):
                for n, request in enumerate(group):
                    yield Call(request, 1, _Place(gathered, g, n))

    def _opened(
        self, model: Model, task: LogprobTask, item: Item, prompt: PromptBuilder
    ) -> list[Reply] | None:
        """The replies of the first round; null where one is missing, which is stored if it failed."""
        requests = task.probe.sample(item, prompt)
        replies = self._recalled(model, requests)
        missing = [request.key for request in requests if request.key not in replies]
        if not missing:
            return [replies[request.key] for request in requests]
        causes = [self._failures.get((model.name, key)) for key in missing]
        if None not in causes:  # else it was never asked, and will be
            self._store_record(model, task, item, None, "; ".join(dict.fromkeys(map(str, causes))))
        return None

    def keep_following(self, batch: Sequence[CompletedCall]) -> None:
        records: list[tuple[_Gathered, str | None]] = []
        with self._ledger.transaction():
            for completed in batch:
                gathered = self._gather(*completed)
                if gathered and not gathered.missing and not gathered.stored:
                    error = self._put_record(completed.model, gathered.task, gathered.item, gathered, None)
                    records.append((gathered, error))
        for gathered, error in records:  # not before they are stored
            gathered.stored = True
            self._count(gathered.item, gathered, error)

    def _gather(self, model: Model, call: Call, outcome: CallOutcome) -> _Gathered | None:
        """Store a call, and put what it brought in its place; null if that is still to be asked."""
        cause = self._store_call(model, call, outcome)
        place: _Place = call.tag
        gathered = place.gathered
        if gathered is None or outcome.fatal:
            return None
        gathered.missing.discard((place.group, place.number))
        gathered.followed[place.group][place.number] = outcome.reply
        if cause is not None:
            gathered.failed[place.group, place.number] = cause
        return gathered

    def recall(self, model: Model, calls: Sequence[Call]) -> list[CallOutcome | None]:
        replies = self._recalled(model, [call.request for call in calls])
        in_order = [replies.get(call.request.key) for call in calls]
        return [None if reply is None else CallOutcome(reply, None, 0, 0.0, 0.0) for reply in in_order]

    def _recalled(self, model: Model, requests: Sequence[Request]) -> dict[str, Reply]:
        """By key the stored replies to these requests.

        A text that would be certain is asked for again: its server may have been mended since.
        """
        keys = {request.key for request in requests}
        stored = self._ledger.stored_replies(PURPOSE, keys, model.name) if keys else {}
        replies = {key: reply_from_json(reply) for key, reply in stored.items()}
        return {key: reply for key, reply in replies.items() if not _is_certain(reply)}

    def _store_call(self, model: Model, call: Call, outcome: CallOutcome) -> str | None:
        """Store a call, and return why its reply cannot be used; null if it can."""
        if outcome.reply is None:
            cause: str | None = outcome.error or "no reply"
        else:
            cause = missing_reason(call.request, outcome.reply)
        # A recalled reply is stored already, and so is that of an equal request on the wire with it.
        if outcome.attempts and not (outcome.shared and cause is None):
            reply = reply_to_json(outcome.reply) if outcome.reply else None
            status = "ok" if cause is None else "failed"
            self._ledger.keep(
                call_record(model, call, outcome, purpose=PURPOSE, status=status, error=cause, reply=reply)
            )
        return cause

    def _store_record(
        self, model: Model, task: LogprobTask, item: Item, gathered: _Gathered | None, error: str | None
    ) -> None:
        """Store the record of an item, or why there is none, and count it."""
        self._count(item, gathered, self._put_record(model, task, item, gathered, error))

    def _put_record(
        self, model: Model, task: LogprobTask, item: Item, gathered: _Gathered | None, error: str | None
    ) -> str | None:
        """Store the record of an item, or why there is none, and return that.

        Its cost stands with its calls, some of which may be shared with other items.
        """
        if gathered is not None:
            error = "; ".join(dict.fromkeys(gathered.failed.values())) or None
        record: str | None = None
        meta: Mapping[str, Any] = {}
        if gathered is not None and error is None:
            try:
                record, meta = gathered.record(), gathered.meta()
            except (Exception, SystemExit) as fault:  # a metric may be third-party code
                error = _fault(task, fault)
        response = Response(
            benchmark=item.benchmark,
            item=item.item,
            variant=item.variant,
            candidate=model.name,
            probe=task.probe.name,
            status="failed" if record is None else "ok",
            logprobs=record,
            error=error,
            meta=meta,
        )
        self._ledger.put(item, response, None)
        return error

    def _count(self, item: Item, gathered: _Gathered | None, error: str | None) -> None:
        if error is not None:
            self._outcome.failed[error] += 1
            self._outcome.names.append(item.name)
            return
        self._outcome.recorded += 1
        if gathered and any(reply.truncated for reply in gathered.replies):
            self._outcome.cut += 1


def _is_certain(reply: Reply) -> bool:
    return any(likelihood.tokens and likelihood.logprob == 0 for likelihood in reply.likelihoods)


def _fault(task: LogprobTask, error: Exception | SystemExit) -> str:
    """What a metric's requests raised, in words: a `ValueError` is its own sentence."""
    if isinstance(error, ValueError):
        return one_line(str(error), 200)
    return f"{task.probe.name} broke: {type(error).__name__}: {one_line(str(error), 160)}"
