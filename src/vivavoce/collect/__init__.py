"""Collecting: every item goes to every candidate as often as asked, and every answer is stored as it comes.

What is answered is not asked again, what failed is. A lease keeps two collects from doing the same work; a
killed one loses nothing that was stored and at most repeats what was on the wire.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from vivavoce.ask import Answer, Job, Tally, Work, ask
from vivavoce.ask.egress import Privacy, destination, refuse_patients, refuse_strangers, refuse_text
from vivavoce.ask.work import called
from vivavoce.collect.leases import leased
from vivavoce.collect.orders import Order, Plan, order, plan
from vivavoce.collect.requests import todo
from vivavoce.errors import InputError, StoreError
from vivavoce.models import Model, Reply
from vivavoce.models.named import Named
from vivavoce.net import is_offline, offline, permit
from vivavoce.records import Response
from vivavoce.store import RunFile
from vivavoce.store.calls import Ledger, answered, asked_last, known_items, ledger
from vivavoce.store.write import put_benchmark, put_candidates, put_finding, put_provenance

__all__ = ["Collected", "Order", "Plan", "Privacy", "collect", "order", "plan"]


class Collected(NamedTuple):
    """What a collect did, and whether it added answers to a run whose results had been seen: a `look`."""

    tally: Tally
    look: bool


def collect(
    run: RunFile,
    wanted: Order,
    *,
    privacy: Privacy = Privacy(),  # noqa: B008 - frozen
    max_cost: float | None = None,
    progress: Callable[[Tally, int], None] | None = None,
) -> Collected:
    """Ask every candidate every item as often as wanted and store what comes, or why nothing came.

    `progress` hears the tally and the number of requests in all. Raises `EgressError` before anything is sent
    or stored if privacy forbids it, `StoreError` if another collect is doing the same work, `InputError` if
    the run holds another sample of these items, or a candidate has no price that `max_cost` could rest on.
    """
    _priced(wanted, max_cost)
    benchmark, exam = wanted.items[0].benchmark, wanted.exam
    names = [str(c.spec) for c in wanted.candidates]
    with offline(privacy.offline):
        models = [c.connect() for c in wanted.candidates]
        _permitted(wanted, models, privacy)
        _same_sample(run, wanted)
        _same_words(run, wanted)
        with leased(run, [f"collect {benchmark} {name}" for name in names]) as held:
            with run.writing() as db:
                put_benchmark(db, exam.card, wanted.items, spec=exam.spec, signature=exam.signature)
                put_candidates(db, {str(c.spec): c.role for c in wanted.candidates})
            there = [answered(run, benchmark, name) for name in names]
            total = sum(1 for done in there for _ in todo(wanted.items, wanted.repeats, done))

            def jobs(candidate: Named, done: set[tuple[str, str, int]]) -> Iterator[Job]:
                for item, repeat in todo(wanted.items, wanted.repeats, done):
                    yield Job(wanted.asking.request(item, candidate, repeat), repeat, item)

            works = [
                Work(model, jobs(candidate, done), candidate.limits, candidate.price)
                for model, candidate, done in zip(models, wanted.candidates, there, strict=True)
            ]
            heard = None if progress is None else (lambda tally: progress(tally, total))
            begun, tally = _begun(run, wanted, privacy, total), Tally()
            try:
                with ledger(run) as book:

                    def keep(model: Model, job: Job, answer: Answer) -> None:
                        held.check()
                        response = _response(benchmark, model, job, answer)
                        status = response.status
                        book.put(
                            response,
                            called(model, job, answer, purpose="collect", status=status, error=answer.error),
                        )

                    ask(works, keep, recall=_recalled(book), max_cost=max_cost, progress=heard, tally=tally)
            except BaseException:
                with suppress(StoreError):  # a full disk: what is said is what went wrong first
                    _kept(run, wanted, privacy, tally, total, begun)
                raise
            return Collected(tally, _kept(run, wanted, privacy, tally, total, begun))


def _priced(wanted: Order, max_cost: float | None) -> None:
    """Raise `InputError` if this is no limit, or could not be kept."""
    if max_cost is None:
        return
    if not max_cost >= 0:  # NaN is no number either
        raise InputError(f"--max-cost {max_cost:g}: an amount of 0 or more is needed.")
    for candidate in wanted.candidates:
        if candidate.price is None:
            raise InputError(
                f"--max-cost {max_cost:g}: the price of {candidate.spec} is not known, so the limit "
                "could not be kept: put its price into a --providers file, or leave --max-cost out."
            )


def _permitted(wanted: Order, models: Sequence[Model], privacy: Privacy) -> None:
    """Raise `EgressError` if items of this kind must not go where they would."""
    for model in models:
        if model.place:
            permit(model.place)
    pairs = list(zip(wanted.candidates, models, strict=True))
    sent = [(c, place) for c, model in pairs if (place := destination(c, model))]
    away = list(dict.fromkeys(place for _, place in sent))
    if wanted.exam.card.access == "credentialed":
        refuse_strangers(wanted.exam.spec, away, privacy.allow)
    # Offline, all hosts were refused above, and what a function opens in Python is.
    if is_offline() or not sent or privacy.allow_phi:
        return
    for candidate, place in sent:
        for what, text in wanted.asking.own(candidate.settings):
            refuse_text(f"the {what} for {candidate.spec.name}", [text], place)
    shown = any(c.settings.get("shots") for c in wanted.candidates)  # examples come from the whole exam
    refuse_patients(wanted.exam.items if shown else wanted.items, away)


def _same_sample(run: RunFile, wanted: Order) -> None:
    """Raise `InputError` if the run holds other questions of this benchmark, or with other weights."""
    there = known_items(run, wanted.items[0].benchmark)
    here = {(i.item, i.variant): i.weight for i in wanted.items}
    if there and (any(w != 1.0 for w in (*there.values(), *here.values()))) and there != here:
        raise InputError(
            f"{run.path} holds another sample of {wanted.items[0].benchmark} ({len(there)} items, not "
            f"{len(here)}): ask for the same --sample, or use another run."
        )


def _same_words(run: RunFile, wanted: Order) -> None:
    """Raise `InputError` if a candidate was asked otherwise before, under the same name."""
    here = {(item.item, item.variant): item for item in wanted.items}
    for candidate in wanted.candidates:
        last = asked_last(run, wanted.items[0].benchmark, str(candidate.spec))
        item = here.get((last.item, last.variant)) if last else None
        if last and item and wanted.asking.request(item, candidate, last.repeat).key != last.key:
            raise InputError(
                f"{candidate.spec} was asked item {item.name!r} in other words before: a prompt file, the "
                "examples to draw from or vivavoce's own prompts have changed. Answers to both are not one "
                "candidate's: name the file otherwise, or use another run."
            )


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
    told = {"citations": list(reply.citations), "logprobs": reply.logprobs, "model": reply.model}
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


class _Begun(NamedTuple):
    """Rows that stand for a collect until it closes: of provenance, and of findings if it is a look."""

    step: int
    look: int | None


def _begun(run: RunFile, wanted: Order, privacy: Privacy, total: int) -> _Begun:
    """Keep, before the first request, what is about to be asked of whom and on whose word.

    A collect that is killed, or finds the disk full, leaves this. It counts all its requests as changes: some
    came, and findings made before must not pass for fresh.
    """
    told = {**_told(wanted, privacy, total), "state": "begun"}
    with run.writing() as db:
        put_provenance(db, "collect", told, changed=total)
        step = _last(db)
        seen = db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is not None
        if not (seen and total):
            return _Begun(step, None)
        put_finding(db, "collect", {**wanted.settings, "requests": total, "state": "begun"}, ())
        return _Begun(step, _last(db))


def _last(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT last_insert_rowid()").fetchone()[0])


def _told(wanted: Order, privacy: Privacy, total: int) -> Mapping[str, Any]:
    return {
        **wanted.settings,
        "offline": is_offline(),
        "allow": list(privacy.allow),
        "allow_phi": privacy.allow_phi,
        "requests": total,
    }


def _kept(run: RunFile, wanted: Order, privacy: Privacy, tally: Tally, total: int, begun: _Begun) -> bool:
    """What was asked of whom, and what left this machine, into the run's provenance.

    It takes the place of what stood there when the collect began, so that one collect is one step. True if
    answers came after findings had been made from this run: that is a look at it, and kept as one.
    """
    sent = [
        {"endpoint": endpoint, "requests": n, "characters": tally.traffic.characters[endpoint]}
        for endpoint, n in tally.traffic.requests.items()
    ]
    told = {
        **_told(wanted, privacy, total),
        "answered": tally.answered,
        "failed": tally.failed,
        "left": total - tally.done,
        "cost": None if tally.unpriced else tally.cost,
        "sent": sent,
    }
    with run.writing() as db:
        db.execute("DELETE FROM provenance WHERE provenance_id = ?", (begun.step,))
        db.execute("DELETE FROM findings WHERE finding_id = ?", (begun.look,))
        put_provenance(db, "collect", told, changed=tally.done)
        seen = db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is not None
        if seen and tally.answered:
            put_finding(db, "collect", {**wanted.settings, "answered": tally.answered}, ())
    return seen and tally.answered > 0
