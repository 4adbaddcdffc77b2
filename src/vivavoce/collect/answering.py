"""Answers in words: every item that has none yet is asked, and what comes is stored with its call."""

from collections.abc import Callable, Iterator, Sequence

from vivavoce.ask import Answer, Job, Work
from vivavoce.ask.work import called
from vivavoce.collect.orders import Order
from vivavoce.collect.requests import todo
from vivavoce.collect.rounds import Asked, Round
from vivavoce.models import Model, Reply
from vivavoce.models.named import Named
from vivavoce.records import Response
from vivavoce.store import RunFile
from vivavoce.store.calls import Ledger, answered

__all__ = ["answering", "left"]


def left(run: RunFile, wanted: Order) -> int:
    """How many answers are to be asked for."""
    names = [str(c.spec) for c in wanted.candidates]
    there = [answered(run, wanted.items[0].benchmark, name) for name in names]
    return sum(1 for done in there for _ in todo(wanted.items, wanted.repeats, done))


def answering(run: RunFile, wanted: Order, book: Ledger, asked: Sequence[Asked]) -> Iterator[Round]:
    """The one round in which these are asked what they have not answered."""
    benchmark = wanted.items[0].benchmark

    def jobs(candidate: Named) -> Iterator[Job]:
        done = answered(run, benchmark, str(candidate.spec))
        for item, repeat in todo(wanted.items, wanted.repeats, done):
            yield Job(wanted.asking.request(item, candidate, repeat), repeat, item)

    def keep(model: Model, job: Job, answer: Answer) -> None:
        response = _response(benchmark, model, job, answer)
        status = response.status
        book.put(response, called(model, job, answer, purpose="collect", status=status, error=answer.error))

    works = [Work(model, jobs(c), c.limits, c.price) for c, model in asked]
    yield Round(works, keep, _recalled(book))


def _recalled(book: Ledger) -> Callable[[Model, Job], Answer | None]:
    """What an equal request brought before: two items may be worded alike."""

    def recall(model: Model, job: Job) -> Answer | None:
        known = book.known(job.request.key, model.name, job.repeat)
        if known is None:
            return None
        told = known["meta"]
        reply = Reply(
            text=known["text"],
            reasoning=known["reasoning"],
            finish_reason=known["finish_reason"],
            model=told.get("model"),
            logprobs=tuple(told["logprobs"]) if told.get("logprobs") else None,
            citations=tuple(told.get("citations") or ()),
        )
        return Answer(reply, None, 0, 0.0, 0.0)

    return recall


def _response(benchmark: str, model: Model, job: Job, answer: Answer) -> Response:
    item, reply = job.tag, answer.reply
    if reply is None:
        return Response(
            benchmark=benchmark, item=item.item, variant=item.variant, candidate=model.name,
            repeat=job.repeat, status="failed", seconds=answer.seconds, error=answer.error,
        )  # fmt: skip
    told = {
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
        repeat=job.repeat,
        status="filtered" if reply.text is None else "ok",
        text=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        tokens=reply.usage.output,
        seconds=answer.seconds,
        cost=answer.cost,
        meta={key: value for key, value in told.items() if value},
    )
