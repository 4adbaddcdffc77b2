"""Probabilities: what probes ask of a model about each item, every call kept as it comes.

There are two rounds: what a probe opens with, such as answers to be drawn, then the likelihoods. A call that
came is never made again, so a killed collect goes on where it stopped. When all calls about an item are
there, what they told becomes one response.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vivavoce.ask import Answer, Job, Work
from vivavoce.ask.work import Tally, called
from vivavoce.collect.orders import Inquiry, Order
from vivavoce.collect.rounds import Asked, Outcome, Round
from vivavoce.models import Model, Reply, Request
from vivavoce.models.named import Named
from vivavoce.probes import Said, asked_of, joined, lacking, most_calls
from vivavoce.probes.kept import kept, reply_of
from vivavoce.records import Item, Response
from vivavoce.store import RunFile
from vivavoce.store.calls import Ledger, answered
from vivavoce.text import one_line

__all__ = ["at_most", "first_key", "inquiries", "probing", "said_by"]

PURPOSE = "probe"


def said_by(wanted: Order, candidate: Named) -> Said:
    """The conversation that asks an item with the candidate's settings."""
    return lambda item: wanted.asking.messages(item, candidate.settings)


def inquiries(run: RunFile, wanted: Order, candidate: Named) -> Iterator[tuple[Inquiry, Item]]:
    """What a candidate is still to be asked: each probe, and the items it has told nothing about."""
    for inquiry in wanted.probes:
        name = str(candidate.spec)
        done = answered(run, wanted.items[0].benchmark, name, inquiry.probe.name)
        for item in inquiry.items:
            if (item.item, item.variant, 1) not in done:
                yield inquiry, item


def at_most(run: RunFile, wanted: Order, candidate: Named, branching: bool) -> int:
    """How many calls a candidate takes at most: those that were made before are not known here."""
    said = said_by(wanted, candidate)
    return sum(most_calls(i.probe, item, said, branching) for i, item in inquiries(run, wanted, candidate))


def first_key(inquiry: Inquiry, item: Item, said: Said) -> str:
    """The key of the first request about an item: another one has asked in other words."""
    opened = inquiry.probe.opening(item, said)
    requests = opened or inquiry.probe.following(item, said, ())
    return requests[0].key if requests else ""


@dataclass
class _Gathered:
    """The replies about one item, some of which have not come yet."""

    inquiry: Inquiry
    item: Item
    opened: Sequence[Reply]
    followed: list[list[Reply | None]]
    key: str
    missing: int
    failed: list[str] = field(default_factory=list)

    @property
    def cut(self) -> bool:
        """Whether a part of the question was left out to fit the model's context."""
        replies = [*self.opened, *(reply for group in self.followed for reply in group if reply)]
        return any(reply.truncated for reply in replies)

    def told(self) -> str:
        whole = [joined([reply for reply in group if reply is not None]) for group in self.followed]
        return json.dumps(self.inquiry.probe.told(self.item, self.opened, whole), ensure_ascii=False)


class _Place(NamedTuple):
    """Where a reply belongs; `gathered` is null in the first round."""

    gathered: _Gathered | None = None
    group: int = 0
    number: int = 0


_UNASKED = Job(Request(messages=()), 1, _Place())
"""Stands for what is left of an item when nobody will be asked any more."""


def probing(
    run: RunFile, wanted: Order, book: Ledger, asked: Sequence[Asked], tally: Tally, outcome: Outcome
) -> Iterator[Round]:
    """The two rounds; each reads what the one before it brought. `outcome` counts items, `tally` calls."""
    lost: dict[tuple[str, str], str] = {}
    """By model and request why no reply came in the first round."""

    def first(candidate: Named) -> Iterator[Job]:
        said = said_by(wanted, candidate)
        for inquiry, item in inquiries(run, wanted, candidate):
            for request in inquiry.probe.opening(item, said):
                yield Job(request, 1, _Place())

    def put(
        model: Model, inquiry: Inquiry, item: Item, gathered: _Gathered | None, error: str | None
    ) -> None:
        why = _put(book, model, inquiry, item, gathered, error)
        if why is None:
            outcome.told += 1
            outcome.cut += bool(gathered and gathered.cut)
        else:
            outcome.failed[why] += 1
            outcome.names.append(item.name)

    def keep_first(model: Model, job: Job, answer: Answer) -> None:
        why = _keep(book, model, job, answer)
        if why is not None:
            lost[model.name, job.request.key] = why

    def second(candidate: Named, model: Model) -> Iterator[Job]:
        said, branching = said_by(wanted, candidate), bool(getattr(model, "branching", False))
        for inquiry, item in inquiries(run, wanted, candidate):
            if tally.interrupted or model.name in tally.stopped:
                yield _UNASKED
                continue
            opening = inquiry.probe.opening(item, said)
            replies = [_recalled(book, model, request) for request in opening]
            if None in replies:
                why = [
                    lost.get((model.name, r.key))
                    for r, reply in zip(opening, replies, strict=True)
                    if not reply
                ]
                if None not in why:  # else it was never asked, and will be
                    put(model, inquiry, item, None, "; ".join(dict.fromkeys(map(str, why))))
                continue
            opened = [reply for reply in replies if reply is not None]
            try:
                wholes = inquiry.probe.following(item, said, opened)
                groups = [asked_of(request, branching) for request in wholes]
            except Exception as error:  # a probe may be a stranger's code
                put(model, inquiry, item, None, _fault(inquiry, error))
                continue
            gathered = _Gathered(
                inquiry, item, opened, [[None] * len(group) for group in groups],
                first_key(inquiry, item, said), sum(map(len, groups)),
            )  # fmt: skip
            if not gathered.missing:
                put(model, inquiry, item, gathered, None)
            for g, group in enumerate(groups):
                for n, request in enumerate(group):
                    yield Job(request, 1, _Place(gathered, g, n))

    def keep_second(model: Model, job: Job, answer: Answer) -> None:
        why = _keep(book, model, job, answer)
        place: _Place = job.tag
        here = place.gathered
        if here is None:
            return
        here.missing -= 1
        if why is not None:
            here.failed.append(why)
        here.followed[place.group][place.number] = answer.reply
        if not here.missing:
            put(model, here.inquiry, here.item, here, None)

    def recall(model: Model, job: Job) -> Answer | None:
        reply = _recalled(book, model, job.request)
        return None if reply is None else Answer(reply, None, 0, 0.0, 0.0)

    yield Round([Work(m, first(c), c.limits, c.price) for c, m in asked], keep_first, recall)
    yield Round([Work(m, second(c, m), c.limits, c.price) for c, m in asked], keep_second, recall)


def _recalled(book: Ledger, model: Model, request: Request) -> Reply | None:
    told = book.told(PURPOSE, request.key, model.name)
    return None if told is None else reply_of(told)


def _keep(book: Ledger, model: Model, job: Job, answer: Answer) -> str | None:
    """Store a call, and return why its reply cannot be used; null if it can."""
    why = answer.error or "no reply" if answer.reply is None else lacking(job.request, answer.reply)
    # What was recalled is there already, and so is what an equal request on the wire with it brought.
    if answer.attempts and (why or book.told(PURPOSE, job.request.key, model.name) is None):
        reply = kept(answer.reply) if answer.reply else None
        status = "ok" if why is None else "failed"
        book.keep(called(model, job, answer, purpose=PURPOSE, status=status, error=why, reply=reply))
    return why


def _put(
    book: Ledger,
    model: Model,
    inquiry: Inquiry,
    item: Item,
    gathered: _Gathered | None,
    error: str | None,
) -> str | None:
    """Store what was told about an item, or why nothing was, which is returned.

    What it cost stands with its calls, some of which may be shared with other items.
    """
    why = error if gathered is None else "; ".join(dict.fromkeys(gathered.failed)) or None
    text: str | None = None
    meta: Mapping[str, Any] = {}
    if gathered is not None and why is None:
        try:
            text, meta = gathered.told(), _meta(gathered)
        except Exception as fault:  # a probe may be a stranger's code
            why = _fault(inquiry, fault)
    response = Response(
        benchmark=item.benchmark, item=item.item, variant=item.variant, candidate=model.name,
        probe=inquiry.probe.name, status="failed" if text is None else "ok", text=text, error=why, meta=meta,
    )  # fmt: skip
    book.put(response, None)
    return why


def _fault(inquiry: Inquiry, error: Exception) -> str:
    """What a probe raised, in words: a `ValueError` is its own sentence."""
    if isinstance(error, ValueError):
        return one_line(str(error), 200)
    return f"{inquiry.probe.name} broke: {type(error).__name__}: {one_line(str(error), 160)}"


def _meta(gathered: _Gathered) -> Mapping[str, Any]:
    replies = [*gathered.opened, *(reply for group in gathered.followed for reply in group if reply)]
    models = {reply.model for reply in replies if reply.model}
    return {"asked": gathered.key} | ({"model": sorted(models)[0]} if models else {})
