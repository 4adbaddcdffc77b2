"""Generation: every item that has no response yet is asked, and each response is stored with its call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.records import Response
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.engine.calls import Call, CallOutcome, Queue, call_record
from vivavoce.models.requests import Model, Reply
from vivavoce.pipeline.collect.plan import CollectPlan, unanswered
from vivavoce.reading.confidence import Cut, restored, without_confidence
from vivavoce.store.calls import Ledger, answered
from vivavoce.store.runfile import RunFile


class Connected(NamedTuple):
    """A candidate, and the model behind it."""

    candidate: CandidateConfig
    model: Model


class Round(NamedTuple):
    """Calls that may be made side by side; `keep` and `recall` are as in `ask`."""

    queues: list[Queue]
    keep: Callable[[Model, Call, CallOutcome], None]
    recall: Callable[[Model, Call], CallOutcome | None]


def count_unanswered(run: RunFile, plan: CollectPlan) -> int:
    """The number of responses that are still missing."""
    benchmark = plan.items[0].benchmark
    responses = (answered(run, benchmark, str(candidate.spec)) for candidate in plan.candidates)
    return sum(1 for done in responses for _ in unanswered(plan, done))


def generation_rounds(
    run: RunFile, plan: CollectPlan, ledger: Ledger, connected: Sequence[Connected]
) -> Iterator[Round]:
    """The one round in which these candidates are asked what they have not answered."""
    benchmark = plan.items[0].benchmark
    confident = {str(candidate.spec) for candidate, _ in connected if candidate.settings.get("confidence")}

    def calls(candidate: CandidateConfig) -> Iterator[Call]:
        done = answered(run, benchmark, str(candidate.spec))
        for item, repeat in unanswered(plan, done):
            yield Call(plan.requests.request(item, candidate, repeat), repeat, item)

    def keep(model: Model, call: Call, outcome: CallOutcome) -> None:
        if outcome.fatal:  # nothing was answered, and what was asked is still to be asked
            ledger.keep(
                call_record(model, call, outcome, purpose="collect", status="failed", error=outcome.error)
            )
            return
        response = _response(benchmark, model, call, outcome)
        if model.name in confident:
            response = _with_confidence(response)
        status = response.status
        ledger.put(
            response, call_record(model, call, outcome, purpose="collect", status=status, error=outcome.error)
        )

    def recall(model: Model, call: Call) -> CallOutcome | None:
        """What an equal request brought before: two items may have the same wording."""
        stored = ledger.stored_response(call.request.key, model.name, call.repeat)
        if stored is None:
            return None
        meta = stored["meta"]
        reply = Reply(
            text=text_as_received(stored["text"], meta),
            reasoning=stored["reasoning"],
            finish_reason=stored["finish_reason"],
            model=meta.get("model"),
            logprobs=tuple(meta["logprobs"]) if meta.get("logprobs") else None,
            citations=tuple(meta.get("citations") or ()),
        )
        return CallOutcome(reply, None, 0, 0.0, 0.0)

    queues = [Queue(model, calls(c), c.limits, c.price) for c, model in connected]
    yield Round(queues, keep, recall)


def _response(benchmark: str, model: Model, call: Call, outcome: CallOutcome) -> Response:
    item, reply = call.tag, outcome.reply
    if reply is None:
        return Response(
            benchmark=benchmark,
            item=item.item,
            variant=item.variant,
            candidate=model.name,
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
    }
    return Response(
        benchmark=benchmark,
        item=item.item,
        variant=item.variant,
        candidate=model.name,
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


def _with_confidence(response: Response) -> Response:
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
