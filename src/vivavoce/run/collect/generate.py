"""Generation: every item that has no response yet is asked, and each response is stored with its call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.item_files import item_sequence, items_where
from vivavoce.core.parts import MARKS, with_marks
from vivavoce.core.records import Item, Response
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.engine.calls import Call, CallOutcome, CompletedCall, Queue, call_record
from vivavoce.models.engine.sources import Recall
from vivavoce.models.engine.writing import Store
from vivavoce.models.prompt_cuts import prompt_cut_in
from vivavoce.models.requests import Model, Reply, Usage
from vivavoce.reading.confidence import Cut, restored, without_confidence
from vivavoce.run.collect.plan import CollectPlan, pending_repeats
from vivavoce.store.asked import open_answers
from vivavoce.store.calls import CallRecord, Ledger
from vivavoce.store.earlier_turns import EarlierTurns
from vivavoce.store.runfile import RunFile


class Connected(NamedTuple):
    """A candidate, and the model behind it."""

    candidate: CandidateConfig
    model: Model


class Round(NamedTuple):
    """Calls that may be made side by side; `keep` and `recall` are as in `ask`.

    `withheld` responses were stored before, of items that can never be asked.
    """

    queues: list[Queue]
    keep: Store
    recall: Recall
    withheld: int = 0


def count_unanswered(run: RunFile, plan: CollectPlan) -> int:
    """The number of responses that are still missing."""
    with open_answers(run) as db:
        return sum(1 for candidate in plan.candidates for _ in pending_repeats(db, plan, candidate))


def generation_rounds(plan: CollectPlan, ledger: Ledger, connected: Sequence[Connected]) -> Iterator[Round]:
    """The rounds in which these candidates are asked what they have not answered.

    There is one for each turn of a conversation, as a later turn is asked behind the answers to those before.
    """
    benchmark = plan.items[0].benchmark
    settings = {str(candidate.spec): candidate.settings for candidate, _ in connected}

    def calls(candidate: CandidateConfig, turn: CollectPlan) -> Iterator[Call]:
        name, turns = str(candidate.spec), EarlierTurns(ledger.db)
        for item, repeat in pending_repeats(ledger.db, turn, candidate):
            with_turns = turns.as_asked(item, name, repeat)
            if with_turns is not None:
                yield Call(plan.requests.request(with_turns, candidate, repeat), repeat, item)

    def keep(batch: Sequence[CompletedCall]) -> None:
        answers = []
        with ledger.transaction():
            for completed in batch:
                if completed.outcome.fatal:  # nothing was answered, and what was asked is still to be asked
                    ledger.keep(_record(completed, "failed"))
                    continue
                response = response_of(benchmark, completed.model.name, completed.call, completed.outcome)
                response = as_stored(response, settings[completed.model.name])
                answers.append((completed.call.tag, response, _record(completed, response.status)))
            ledger.put_all(answers)

    def recall(model: Model, calls: Sequence[Call]) -> list[CallOutcome | None]:
        """What equal requests brought before: two items may have the same wording."""
        stored = ledger.stored_responses([(call.request.key, call.repeat) for call in calls], model.name)
        return [_recalled(stored.get((call.request.key, call.repeat))) for call in calls]

    for turn in _turns(plan):
        n_withheld = _put_withheld(turn, ledger, connected)
        queues = [Queue(model, calls(c, turn), c.limits, c.price) for c, model in connected]
        yield Round(queues, keep, recall, n_withheld)


def _record(completed: CompletedCall, status: str) -> CallRecord:
    return call_record(*completed, purpose="collect", status=status, error=completed.outcome.error)


def _recalled(stored: Mapping[str, Any] | None) -> CallOutcome | None:
    """The outcome that a stored response is; null for none."""
    if stored is None:
        return None
    meta = stored["meta"]
    reply = Reply(
        text=text_as_received(stored["text"], meta),
        reasoning=stored["reasoning"],
        finish_reason=stored["finish_reason"],
        model=meta.get("model"),
        usage=Usage(output=stored["tokens"]),
        logprobs=tuple(meta["logprobs"]) if meta.get("logprobs") else None,
        citations=tuple(meta.get("citations") or ()),
        raw_reason=meta.get("finish_reason"),
        reasoning_tokens=meta.get("reasoning_tokens"),
        prompt_cut=prompt_cut_in(meta),
    )
    return CallOutcome(reply, None, 0, 0.0, 0.0)


def _turns(plan: CollectPlan) -> list[CollectPlan]:
    """The plan in parts: the items that follow none, those that follow these, and so on."""
    if all(item.follows is None for item in plan.items):
        return [plan]
    turns: list[CollectPlan] = []
    earlier: set[tuple[str, str]] = set()
    rest = plan.items
    while rest:
        turn, later = _next_turn(rest, earlier)
        if not turn:
            raise InputError(
                f"{rest[0].benchmark}, item {rest[0].name!r} follows {rest[0].follows!r}, which is no "
                "earlier turn of this collect: ask both."
            )
        earlier |= {(item.item, item.variant) for item in turn}
        turns.append(plan._replace(items=item_sequence(turn)))
        rest = later
    return turns


def _next_turn(items: Sequence[Item], earlier: set[tuple[str, str]]) -> tuple[list[Item], list[Item]]:
    """The items that follow none, or one that is asked before, and the others."""
    turn: list[Item] = []
    later: list[Item] = []
    for item in items:
        is_next = item.follows is None or (item.follows, item.variant) in earlier
        (turn if is_next else later).append(item)
    return turn, later


def _put_withheld(turn: CollectPlan, ledger: Ledger, connected: Sequence[Connected]) -> int:
    """Store as withheld what cannot be asked, since the answer to a turn before it was withheld; how much."""
    n_withheld = 0
    later = turn._replace(items=items_where(turn.items, lambda item: item.follows is not None))
    for candidate, _ in connected if later.items else ():
        name = str(candidate.spec)
        turns, pending = EarlierTurns(ledger.db), pending_repeats(ledger.db, later, candidate)
        withheld = [(item, repeat) for item, repeat in pending if turns.is_withheld(item, name, repeat)]
        for item, repeat in withheld:
            response = Response(
                benchmark=item.benchmark, item=item.item, variant=item.variant, candidate=name,
                repeat=repeat, status="filtered", error="not asked: an answer before it was withheld",
            )  # fmt: skip
            ledger.put(item, response, None)
        n_withheld += len(withheld)
    return n_withheld


def response_of(benchmark: str, candidate: str, call: Call, outcome: CallOutcome) -> Response:
    """The response that an outcome is; the call's tag is the item."""
    item, reply = call.tag, outcome.reply
    if reply is None:
        return Response(
            benchmark=benchmark,
            item=item.item,
            variant=item.variant,
            candidate=candidate,
            repeat=call.repeat,
            status="failed",
            seconds=outcome.seconds,
            error=outcome.error,
        )
    meta = {
        "citations": list(reply.citations),
        "logprobs": reply.logprobs,
        "model": reply.model,
        "truncated": reply.truncated,
        "finish_reason": reply.raw_reason,
        "reasoning_tokens": reply.reasoning_tokens,
        "prompt_cut": reply.prompt_cut and reply.prompt_cut._asdict(),
    }
    return Response(
        benchmark=benchmark,
        item=item.item,
        variant=item.variant,
        candidate=candidate,
        repeat=call.repeat,
        status="filtered" if reply.text is None else "ok",
        text=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        tokens=reply.usage.output,
        seconds=outcome.seconds,
        cost=outcome.cost,
        meta={key: value for key, value in meta.items() if value},
    )


def as_stored(response: Response, settings: Mapping[str, Any]) -> Response:
    """The response as the candidate's settings ask: with marks of thinking, without its confidence line."""
    response = replace(response, meta=with_marks(response.meta, settings.get(MARKS)))
    return with_confidence(response) if settings.get("confidence") else response


def with_confidence(response: Response) -> Response:
    """The response with its confidence line moved to `meta`, so that it is part of no answer that is scored.

    `confidence` in `meta` lists what was cut and where, so that nothing is lost; empty if no line was found.
    """
    if response.text is None:
        return response
    text, cuts = without_confidence(response.text)
    return replace(response, text=text, meta={**response.meta, "confidence": cuts})


def text_as_received(text: str | None, meta: Mapping[str, Any]) -> str | None:
    """The stored text of a response with the confidence line where it stood."""
    cuts = meta.get("confidence")
    if text is None or not isinstance(cuts, list):
        return text
    return restored(text, [Cut(*cut) for cut in cuts])
