"""Collecting: every item goes to every candidate as often as asked, and every response is stored as it comes.

Stored responses are not asked for again, failed ones are. A lease keeps two collects from doing the same
work. A collect that is killed loses nothing that was stored, and at most repeats what was on the wire and the
responses that were not stored yet: those of the last 50 ms, 64 at most.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from vivavoce.benchmarks import load_examples
from vivavoce.core.errors import InputError, StoreError
from vivavoce.core.exclusions import ExclusionCounts
from vivavoce.core.item_files import item_sequence
from vivavoce.core.net import is_offline, offline, permit
from vivavoce.core.records import Item
from vivavoce.models.engine.calls import CompletedCall
from vivavoce.models.engine.egress import Privacy, destination, refuse_patients, refuse_strangers, refuse_text
from vivavoce.models.engine.leases import Lease, leased
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.engine.writing import Store
from vivavoce.models.ranges import TIMEOUT_TOTAL_S, check_option
from vivavoce.models.requests import HoldsWeights, Model
from vivavoce.run.collect.generate import Connected, Round, count_unanswered, generation_rounds
from vivavoce.run.collect.loglikelihood import (
    LogprobOutcome,
    first_key,
    loglikelihood_rounds,
    max_calls,
    prompt_builder,
)
from vivavoce.run.collect.plan import CollectPlan
from vivavoce.run.shards.memory import remember_shard
from vivavoce.run.tables.stored_benchmarks import exclusion_sentences, store_loaded
from vivavoce.store.asked import Asked, asked_last, is_sampled, known_items, last_logprob_item, open_answers
from vivavoce.store.calls import ledger
from vivavoce.store.earlier_turns import EarlierTurns
from vivavoce.store.read import has_findings, provenance
from vivavoce.store.requests import put_requests
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import drop_step, put_candidates, put_finding, put_provenance

ModelFacts = Mapping[str, Mapping[str, Any]]
"""By name how local models ran: their weights, device and versions."""


class Collected(NamedTuple):
    """What a collect did, and whether it added responses to a run whose results had been seen: a `look`.

    `outcome` says what became of log-probabilities; `inapplicable` are metrics that score none of `items`,
    which are those of the plan. `exclusions` counts the rows that the benchmark leaves out. `n_left` counts
    requests that were not made; of log-probabilities, those that are known.
    """

    tally: UsageCounter
    look: bool
    n_left: int
    models: ModelFacts = MappingProxyType({})
    outcome: LogprobOutcome | None = None
    inapplicable: tuple[str, ...] = ()
    items: Sequence[Item] = ()
    exclusions: ExclusionCounts | None = None


@runtime_checkable
class HearsRemarks(Protocol):
    """A progress that also takes what is to be said before anybody is asked."""

    def remark(self, sentence: str) -> None:
        """Show a sentence."""
        ...


def collect(
    run: RunFile,
    plan: CollectPlan,
    *,
    privacy: Privacy = Privacy(),  # noqa: B008 - frozen
    max_cost: float | None = None,
    timeout_total: float = TIMEOUT_TOTAL_S,
    progress: Callable[[UsageCounter, int], None] | None = None,
) -> Collected:
    """Ask every candidate every item of the plan, and store what comes, or why nothing came.

    A plan with log-probability tasks generates no text. A request takes `timeout_total` seconds at most.
    `progress` hears the tally and the number of requests in all, an upper bound for log-probabilities.

    Raises `EgressError` before anything is sent or stored if privacy forbids it, `StoreError` if another
    collect is doing the same work, `InputError` if the run holds another sample of these items, or a
    candidate was asked in other words. `check_limits` has checked `max_cost` and `timeout_total`.
    """
    with offline(privacy.offline):
        connected = [Connected(c, c.connect()) for c in plan.candidates]
        _check_egress(plan, [model for _, model in connected], privacy)
        check_stored(run, plan)
        facts = _facts(connected)
        _check_weights(run, facts)
        if isinstance(progress, HearsRemarks):
            for sentence in with_view(run, exclusion_sentences, plan.benchmark):
                progress.remark(sentence)
        with leased(run, _works(plan), "collect") as lease:
            total = _prepare(run, plan, connected)
            account = _Account(run, plan, privacy, total, facts)
            account.begin()
            outcome = LogprobOutcome()
            try:
                with ledger(run) as calls:
                    for group in _groups(connected):
                        try:
                            rounds = (
                                loglikelihood_rounds(plan, calls, group, account.tally, outcome)
                                if plan.tasks
                                else generation_rounds(plan, calls, group)
                            )
                            _ask_rounds(rounds, lease, account, max_cost, timeout_total, progress)
                        finally:
                            account.facts |= _facts(group)
                            _release(group)
            except BaseException:
                with suppress(StoreError):  # a full disk: report what went wrong first
                    account.close()
                raise
            look = account.close()
    logprobs = outcome if plan.tasks else None
    counts = plan.benchmark.exclusion_counts
    return Collected(
        account.tally, look, account.n_left, account.facts, logprobs, plan.inapplicable, plan.items, counts
    )


def _works(plan: CollectPlan) -> list[str]:
    """Names of the work for which a collect takes leases: by candidate, and by kind of log-probability."""
    benchmark, suffixes = plan.items[0].benchmark, [f" {task.probe.name}" for task in plan.tasks] or [""]
    return [f"collect {benchmark} {c.spec}{suffix}" for c in plan.candidates for suffix in suffixes]


def _prepare(run: RunFile, plan: CollectPlan, connected: Sequence[Connected]) -> int:
    """Store the items and candidates; the number of requests there are to make."""
    with run.writing() as db:
        store_loaded(db, plan.benchmark, plan.items)
        put_candidates(db, {str(c.spec): c.role for c in plan.candidates})
        _put_requests(db, plan)
        if plan.shard:
            remember_shard(db, plan.shard)
    if not plan.tasks:
        return count_unanswered(run, plan)
    with open_answers(run) as db:
        return sum(max_calls(db, plan, c, bool(getattr(m, "branching", False))) for c, m in connected)


def _put_requests(db: sqlite3.Connection, plan: CollectPlan) -> None:
    """Store what candidates are asked for, before the first of them is asked."""
    candidates = [str(c.spec) for c in plan.candidates]
    for task in plan.tasks:
        put_requests(db, task.items, candidates, probe=task.probe.name)
    if not plan.tasks:
        put_requests(db, plan.items, candidates, repeats=plan.repeats)


def _groups(connected: Sequence[Connected]) -> Iterator[list[Connected]]:
    """What is asked side by side: all endpoints together, local models one after the other."""
    remote = [pair for pair in connected if not isinstance(pair.model, HoldsWeights)]
    if remote:
        yield remote
    yield from ([pair] for pair in connected if isinstance(pair.model, HoldsWeights))


def _ask_rounds(
    rounds: Iterator[Round],
    lease: Lease,
    account: "_Account",
    max_cost: float | None,
    timeout_total: float,
    progress: Callable[[UsageCounter, int], None] | None,
) -> None:
    """Make the calls of each round, as long as nobody interrupts and the lease is ours."""

    def report(tally: UsageCounter) -> None:
        if progress:
            progress(tally, account.total)

    for round_ in rounds:
        account.withheld += round_.withheld
        if not account.tally.interrupted:
            ask(
                round_.queues,
                _keep_leased(lease, round_),
                recall=round_.recall,
                max_cost=max_cost,
                timeout_total=timeout_total,
                progress=report if progress else None,
                tally=account.tally,
            )


def _keep_leased(lease: Lease, round_: Round) -> Store:
    def keep(batch: Sequence[CompletedCall]) -> None:
        round_.keep(batch)
        lease.check()

    return keep


def _facts(connected: Sequence[Connected]) -> dict[str, Mapping[str, Any]]:
    return {model.name: model.facts for _, model in connected if isinstance(model, HoldsWeights)}


def _release(connected: Sequence[Connected]) -> None:
    for _, model in connected:
        if isinstance(model, HoldsWeights):
            model.release()


@dataclass
class _Account:
    """The account of a collect in the run's provenance: what was asked of whom, and what left this
    machine.
    """

    run: RunFile
    plan: CollectPlan
    privacy: Privacy
    total: int
    facts: dict[str, Mapping[str, Any]]
    tally: UsageCounter = field(default_factory=UsageCounter)
    withheld: int = 0
    _step: int = 0
    _look: int | None = None

    @property
    def n_left(self) -> int:
        """Requests that were not made, those of turns and models whose time did not come included."""
        ended_early = self.tally.interrupted or self.tally.stopped
        return self._unanswered if ended_early and not self.plan.tasks else self.tally.remaining

    @property
    def _unanswered(self) -> int:
        return self.total - self.tally.done - self.withheld

    def begin(self) -> None:
        """Store, before the first request, what is about to be asked of whom and on whose word.

        A collect that is killed, or finds the disk full, leaves this. It counts all its requests as changes:
        some were answered, and findings made before must not pass for fresh.
        """
        with self.run.writing() as db:
            body = self._body(models=self.facts, state="begun")
            self._step = put_provenance(db, "collect", body, changed=self.total)
            if self.total and has_findings(db):
                settings = {**self.plan.settings, "requests": self.total, "state": "begun"}
                self._look = put_finding(db, "collect", settings, ())

    def close(self) -> bool:
        """Store what was asked, what left this machine and how local models ran.

        It replaces what `begin` stored, so that one collect is one step. True if responses came after
        findings had been made from this run: that is a look at it, and stored as one.
        """
        tally = self.tally
        body = self._body(
            answered=tally.answered,
            failed=tally.failed,
            left=tally.remaining if self.plan.tasks else self._unanswered,
            cost=None if tally.unpriced else tally.cost,
            guessed=tally.guessed,
            sent=tally.traffic.rows,
            models=self.facts,
        )
        with self.run.writing() as db:
            drop_step(db, self._step, self._look)
            put_provenance(db, "collect", body, changed=tally.done)
            look = has_findings(db) and tally.answered > 0
            if look:
                put_finding(db, "collect", {**self.plan.settings, "answered": tally.answered}, ())
        return look

    def _body(self, **entries: Any) -> Mapping[str, Any]:
        return {
            **self.plan.settings,
            "offline": is_offline(),
            "allow": list(self.privacy.allow),
            "allow_phi": self.privacy.allow_phi,
            "requests": self.total,
            **(counts.numbers if (counts := self.plan.benchmark.exclusion_counts) else {}),
            **entries,
        }


def check_limits(plan: CollectPlan, max_cost: float | None, timeout_total: float) -> None:
    """Raise `InputError` for what is no limit, or could not be kept. Nobody is asked, and no key needed."""
    check_option("timeout_total", timeout_total)
    check_option("max_cost", max_cost)
    for candidate in () if max_cost is None else plan.candidates:
        candidate.check_price()


def check_hosts(plan: CollectPlan, privacy: Privacy) -> None:
    """Raise `EgressError` as `collect` would, for models whose host is known before they are connected."""
    stating = tuple(candidate for candidate in plan.candidates if candidate.states_host)
    with offline(privacy.offline):
        _check_egress(plan._replace(candidates=stating), [c.unconnected for c in stating], privacy)


def check_stored(run: RunFile, plan: CollectPlan) -> None:
    """Raise `InputError` if the plan does not go with what the run holds of these items and candidates."""
    _check_sample(run, plan)
    _check_wording(run, plan)


def _check_egress(plan: CollectPlan, models: Sequence[Model], privacy: Privacy) -> None:
    """Raise `EgressError` if items of this kind must not go where they would."""
    for model in models:
        if model.place:
            permit(model.place)
    pairs = list(zip(plan.candidates, models, strict=True))
    remote = [(c, place) for c, model in pairs if (place := destination(c, model))]
    places = list(dict.fromkeys(place for _, place in remote))
    if plan.benchmark.card.access == "credentialed":
        refuse_strangers(plan.benchmark.spec, places, privacy.allow)
    # Offline, all hosts were refused above, and what a function opens in Python is.
    if is_offline() or not remote or privacy.allow_phi:
        return
    for candidate, place in remote:
        for source, text in plan.requests.shared_texts(candidate.settings):
            refuse_text(f"the {source} for {candidate.spec.name}", [text], place)
    to_screen: Sequence[Item] = plan.items
    if any(candidate.settings.get("shots") for candidate in plan.candidates):  # examples come from all items
        to_screen = item_sequence(chain(plan.benchmark.items, load_examples(plan.benchmark.spec)))
    refuse_patients(to_screen, places)


def _check_sample(run: RunFile, plan: CollectPlan) -> None:
    """Raise `InputError` if the run holds other items of this benchmark, or with other weights."""
    benchmark = plan.items[0].benchmark
    if not is_sampled(run, benchmark) and all(item.weight == 1.0 for item in plan.items):
        return
    stored = known_items(run, benchmark)
    if not stored:
        return
    planned = {(i.item, i.variant): i.weight for i in plan.items}
    if stored != planned:
        n_others = len(stored.keys() - planned.keys())
        fault = (
            f"not {len(planned)}"
            if len(stored) != len(planned)
            else f"{n_others} of which are not in this one"
        )
        raise InputError(
            f"{run.path} holds another sample of {benchmark} ({len(stored)} items, {fault}): ask for the "
            "same --sample and --draw, or use another run."
        )


def _check_wording(run: RunFile, plan: CollectPlan) -> None:
    """Raise `InputError` if a candidate was asked otherwise before, under the same name."""
    benchmark = plan.items[0].benchmark
    for candidate in plan.candidates:
        name = str(candidate.spec)
        for task in plan.tasks:
            last = last_logprob_item(run, benchmark, name, task.probe.name)
            item = _planned_item(plan, last) if last else None
            if last and item and first_key(task, item, prompt_builder(plan, candidate)) != last.key:
                raise reworded(candidate.spec, item)
        if plan.tasks:
            continue
        last = asked_last(run, benchmark, name)
        item = _planned_item(plan, last) if last else None
        if last and item and item.follows:
            with run.reading() as db:
                item = EarlierTurns(db).as_asked(item, name, last.repeat)
        if last and item and plan.requests.request(item, candidate, last.repeat).key != last.key:
            raise reworded(candidate.spec, item)


def _planned_item(plan: CollectPlan, request: Asked) -> Item | None:
    """The item of the plan that a request was about; null where it is none of these."""
    name = (request.item, request.variant)
    return next((item for item in plan.items if (item.item, item.variant) == name), None)


def reworded(candidate: object, item: Item) -> InputError:
    """The error for a candidate that was asked an item in other words before."""
    return InputError(
        f"{candidate} was asked item {item.name!r} in other words before: a prompt file, the "
        "examples to draw from or vivavoce's own prompts have changed. Answers to both are not one "
        "candidate's: name the file otherwise, or use another run."
    )


def _check_weights(run: RunFile, facts: ModelFacts) -> None:
    """Raise `InputError` if a local model has other weights than when it answered in this run."""
    if not run.exists:
        return
    with run.reading() as db:
        collects = [p.get("models") or {} for p in provenance(db) if p["verb"] == "collect"]
    for name, current in facts.items():
        for earlier in (models[name].get("weights") for models in collects if name in models):
            if earlier and current.get("weights") and earlier != current["weights"]:
                raise InputError(
                    f"{name} is another model now than the one that answered here (the hash of its files was "
                    f"{earlier} and is {current['weights']}): give the folder another name, or use another "
                    f"run."
                )
