"""The client through which verbs of a run ask models, and what those may be sent of the run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypedDict, runtime_checkable

from vivavoce.core import net
from vivavoce.core.errors import StoreError
from vivavoce.core.net import is_local
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.tables import restrict_to_items
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.engine.client import ModelClient
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.models.engine.egress import Privacy, guard, worker_guard
from vivavoce.models.engine.usage import Progress, UsageCounter, Waiting
from vivavoce.models.gpus import Gpus, parse_gpus
from vivavoce.models.ranges import TIMEOUT_TOTAL_S, check_option
from vivavoce.models.requests import Model
from vivavoce.run.shards.limits import shard_cost
from vivavoce.run.workers import open_executor
from vivavoce.run.workers.executor import Executor
from vivavoce.run.workers.worker_count import Workers, ray_host
from vivavoce.store import read
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View
from vivavoce.store.write import put_provenance

Guard = Callable[[CandidateConfig, Model], None]
"""Raises where a model must not see what is asked."""


@runtime_checkable
class HearsWaiting(Protocol):
    """A progress that also wants to know which endpoints are waited for while nothing comes."""

    def waiting(self, waiting: Sequence[Waiting]) -> None:
        """The endpoints from which nothing has come for some seconds; empty where there are none."""
        ...


class AskOptions(NamedTuple):
    """The options of every verb that may ask models; so many `shards` have the limits in common.

    Local models have a process on each of `gpus`.
    """

    providers: str | Path | None = None
    max_cost: float | None = None
    offline: bool = False
    allow: Sequence[str] = ()
    allow_phi: bool = False
    progress: Progress | None = None
    timeout_total: float = TIMEOUT_TOTAL_S
    shards: int = 1
    gpus: Gpus = None

    @property
    def privacy(self) -> Privacy:
        """What may leave this machine."""
        return Privacy(self.offline, self.allow_phi, tuple(self.allow))

    @property
    def own_max_cost(self) -> float | None:
        """The part of the limit of cost that each of the shards keeps. Raises `InputError` for no limit."""
        return shard_cost(self.max_cost, self.shards)

    def checked(self) -> Self:
        """These options. Raises `InputError`, before anything is stored, for a number out of its range."""
        check_option("max_cost", self.max_cost)
        check_option("timeout_total", self.timeout_total)
        return self


@contextmanager
def open_client(
    run: RunFile,
    check: Guard,
    options: AskOptions,
    kind: Callable[..., ModelClient] = ModelClient,
) -> Iterator[ModelClient]:
    """A client for a verb of the run; `check`, from `run_guard`, is asked before a model's first request."""

    def report(tally: UsageCounter, total: int, purpose: str) -> None:
        if options.progress:
            options.progress(f"asking ({purpose})", tally.done, total)
        if isinstance(options.progress, HearsWaiting):
            options.progress.waiting(tally.waiting)

    with net.offline(options.offline):
        client = kind(
            run,
            endpoints=None if options.providers is None else load_endpoints(Path(options.providers)),
            max_cost=options.own_max_cost,
            shards=options.shards,
            gpus=parse_gpus(options.gpus),
            timeout_total=options.timeout_total,
            progress=report,
            check=check,
        )
        try:
            yield client
        finally:
            client.release()
            _keep_estimate(run, client.usage.guessed)


def run_guard(view: View, items: set[ItemKey] | None, options: AskOptions) -> Guard:
    """What raises where a model must not see these items of the run, null for all, or their answers."""
    return guard(options.privacy, **_what_is_sent(view, items))


def counting_clients(run: RunFile, check: Guard, options: AskOptions) -> Callable[[], CountingClient]:
    """Makes clients of a dry run, which ask nobody and refuse what `open_client`'s would."""
    endpoints = None if options.providers is None else load_endpoints(Path(options.providers))
    return partial(CountingClient, run, endpoints, options.own_max_cost, check)


def _keep_estimate(run: RunFile, guessed: float) -> None:
    """Store what replies without token counts may have cost: a limit counts it, and their calls do not."""
    if guessed:
        with suppress(StoreError), run.writing() as db:  # a full disk: what went wrong first is raised
            put_provenance(db, "estimated cost", {"guessed": guessed}, changed=0)


def open_workers(view: View, workers: Workers, options: AskOptions, *, dry_run: bool = False) -> Executor:
    """The executor of a verb of the run. Of a dry run nothing is sent elsewhere: this process computes.

    Raises `InputError`, and `EgressError` for workers elsewhere that must not see the run's items: they get
    all of them.
    """
    host = ray_host(workers)
    if host is None or dry_run:
        return open_executor(1 if host else workers)
    check = worker_guard(options.privacy, **_what_is_sent(view, None))
    if not is_local(host):
        check(host)
    return open_executor(workers, check)


class _Sent(TypedDict):
    items: Sequence[Item]
    texts: Callable[[], Sequence[str]]
    credentialed: Sequence[str]


def _what_is_sent(view: View, items: set[ItemKey] | None) -> _Sent:
    """What of these items others would see: themselves, the answers, and the credentialed benchmarks."""
    if not view.exists:
        return {"items": [], "texts": list, "credentialed": []}
    stored = [
        item
        for item in view.fetch(read.items_by_id).values()
        if items is None or (item.benchmark, item.item, item.variant) in items
    ]
    benchmarks = {item.benchmark for item in stored}
    credentialed = [
        b.spec
        for b in view.fetch(read.benchmarks)
        if b.card.access == "credentialed" and b.benchmark in benchmarks
    ]
    run = view.run

    def texts() -> Sequence[str]:
        with run.reading() as db:  # when a model is first asked, which may be in another thread
            responses = read.responses(db, probed=False)
        return restrict_to_items(responses, items)["text"].drop_nulls().unique().to_list()

    return {"items": stored, "texts": texts, "credentialed": credentialed}
