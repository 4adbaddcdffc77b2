"""Collecting: every item goes to every candidate as often as asked, and every answer is stored as it comes.

What is answered is not asked again, what failed is. A lease keeps two collects from doing the same work; a
killed one loses nothing that was stored and at most repeats what was on the wire.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from vivavoce.ask import Answer, Job, Tally, ask
from vivavoce.ask.egress import Privacy, destination, refuse_patients, refuse_strangers, refuse_text
from vivavoce.collect.accounts import begin, close
from vivavoce.collect.answering import answering, left
from vivavoce.collect.leases import Held, leased
from vivavoce.collect.orders import Order, order
from vivavoce.collect.plans import Plan, plan
from vivavoce.collect.probing import at_most, first_key, probing, said_by
from vivavoce.collect.rounds import Asked, Outcome, Round
from vivavoce.errors import InputError, StoreError
from vivavoce.models import Holding, Model
from vivavoce.models.named import Named
from vivavoce.net import is_offline, offline, permit
from vivavoce.records import Item
from vivavoce.store import RunFile
from vivavoce.store.calls import asked_last, known_items, ledger, told_last
from vivavoce.store.read import provenance
from vivavoce.store.write import put_benchmark, put_candidates

__all__ = ["Collected", "Order", "Plan", "Privacy", "collect", "order", "plan"]


class Collected(NamedTuple):
    """What a collect did, and whether it added answers to a run whose results had been seen: a `look`.

    `models` holds what models of this process told of how they ran, `outcome` what came of probes, `markless`
    the metrics that mark none of the `n_items` asked about.
    """

    tally: Tally
    look: bool
    models: Mapping[str, Mapping[str, Any]] = {}
    outcome: Outcome | None = None
    markless: tuple[str, ...] = ()
    n_items: int = 0


def collect(
    run: RunFile,
    wanted: Order,
    *,
    privacy: Privacy = Privacy(),  # noqa: B008 - frozen
    max_cost: float | None = None,
    progress: Callable[[Tally, int], None] | None = None,
) -> Collected:
    """Ask every candidate every item as often as wanted and store what comes, or why nothing came.

    An order of probes asks for probabilities and for no answers in words. `progress` hears the tally and the
    number of requests in all, of probes at most. Raises `EgressError` before anything is sent or stored if
    privacy forbids it, `StoreError` if another collect is doing the same work, `InputError` if the run holds
    another sample of these items, or a candidate has no price that `max_cost` could rest on.
    """
    _priced(wanted, max_cost)
    benchmark, exam = wanted.items[0].benchmark, wanted.exam
    names = [str(c.spec) for c in wanted.candidates]
    with offline(privacy.offline):
        asked = [Asked(c, c.connect()) for c in wanted.candidates]
        _permitted(wanted, [model for _, model in asked], privacy)
        _same_sample(run, wanted)
        _same_words(run, wanted)
        facts = _facts(asked)
        _same_weights(run, facts)
        forms = [f" {inquiry.probe.name}" for inquiry in wanted.probes] or [""]
        with leased(run, [f"collect {benchmark} {name}{form}" for name in names for form in forms]) as held:
            with run.writing() as db:
                put_benchmark(db, exam.card, wanted.items, spec=exam.spec, signature=exam.signature)
                put_candidates(db, {str(c.spec): c.role for c in wanted.candidates})
            total = _total(run, wanted, asked)
            heard = None if progress is None else (lambda tally: progress(tally, total))
            begun, tally = begin(run, wanted, privacy, total, facts), Tally()
            outcome = Outcome()
            try:
                with ledger(run) as book:
                    for group in _groups(asked):
                        try:
                            rounds = (
                                probing(run, wanted, book, group, tally, outcome)
                                if wanted.probes
                                else answering(run, wanted, book, group)
                            )
                            for one in rounds:
                                if not tally.interrupted:
                                    ask(one.works, _held(held, one), recall=one.recall, max_cost=max_cost,
                                        progress=heard, tally=tally)  # fmt: skip
                        finally:
                            facts |= _facts(group)
                            for _, model in group:
                                if isinstance(model, Holding):
                                    model.release()
            except BaseException:
                with suppress(StoreError):  # a full disk: what is said is what went wrong first
                    close(run, wanted, privacy, tally, total, begun, facts)
                raise
            look = close(run, wanted, privacy, tally, total, begun, facts)
            told = outcome if wanted.probes else None
            return Collected(tally, look, facts, told, wanted.markless, len(wanted.items))


def _facts(asked: Sequence[Asked]) -> dict[str, Mapping[str, Any]]:
    """By name what models of this process tell of how they run."""
    return {model.name: model.facts for _, model in asked if isinstance(model, Holding)}


def _total(run: RunFile, wanted: Order, asked: Sequence[Asked]) -> int:
    """How many requests there are to make; of probes at most."""
    if not wanted.probes:
        return left(run, wanted)
    return sum(at_most(run, wanted, c, bool(getattr(model, "branching", False))) for c, model in asked)


def _groups(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Who is asked side by side: endpoints all, models of this process one after the other."""
    away = [one for one in asked if not isinstance(one.model, Holding)]
    if away:
        yield away
    yield from ([one] for one in asked if isinstance(one.model, Holding))


def _held(held: Held, one: Round) -> Callable[[Model, Job, Answer], None]:
    """Keeps what comes as long as the work is ours."""

    def keep(model: Model, job: Job, answer: Answer) -> None:
        held.check()
        one.keep(model, job, answer)

    return keep


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
        if wanted.probes:
            _same_probes(run, wanted, candidate, here)
            continue
        last = asked_last(run, wanted.items[0].benchmark, str(candidate.spec))
        item = here.get((last.item, last.variant)) if last else None
        if last and item and wanted.asking.request(item, candidate, last.repeat).key != last.key:
            raise _reworded(candidate, item)


def _same_weights(run: RunFile, facts: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `InputError` if a model of this process has other weights than when it answered here."""
    if not run.exists:
        return
    with run.reading() as db:
        before = [p.get("models") or {} for p in provenance(db) if p["verb"] == "collect"]
    for name, told in facts.items():
        for other in (models[name].get("weights") for models in before if name in models):
            if other and told.get("weights") and other != told["weights"]:
                raise InputError(
                    f"{name} is another model now than the one that answered here (the hash of its files was "
                    f"{other} and is {told['weights']}): give the folder another name, or use another run."
                )


def _same_probes(run: RunFile, wanted: Order, candidate: Named, here: Mapping[tuple[str, str], Item]) -> None:
    for inquiry in wanted.probes:
        last = told_last(run, wanted.items[0].benchmark, str(candidate.spec), inquiry.probe.name)
        item = here.get((last.item, last.variant)) if last else None
        if last and item and first_key(inquiry, item, said_by(wanted, candidate)) != last.key:
            raise _reworded(candidate, item)


def _reworded(candidate: Named, item: Item) -> InputError:
    return InputError(
        f"{candidate.spec} was asked item {item.name!r} in other words before: a prompt file, the "
        "examples to draw from or vivavoce's own prompts have changed. Answers to both are not one "
        "candidate's: name the file otherwise, or use another run."
    )
