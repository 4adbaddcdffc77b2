"""`viva vary`: variants are made with a client that asks models, in a dry run with one that asks nobody."""

from collections.abc import Sequence
from functools import partial

from vivavoce.core import net
from vivavoce.core.records import Finding
from vivavoce.run.client import AskOptions, counting_clients, open_client, open_workers
from vivavoce.run.tables.load import select_items
from vivavoce.run.vary.vary import store_benchmark, vary
from vivavoce.run.workers.worker_count import Workers, read_workers
from vivavoce.store.runfile import RunFile


def vary_run(
    run: RunFile,
    variations: Sequence[str],
    options: AskOptions,
    *,
    items: str | None,
    check: str | None,
    mark: bool,
    seed: int | None,
    dry_run: bool,
    workers: Workers,
) -> Finding:
    """Make what variations name, as `Run.vary` says, or count what could be made.

    A dry run refuses what making it would refuse before a request is sent, in the same words.
    """
    workers = read_workers(workers)
    make = partial(vary, run, variations, items=items, check=check, mark=mark, seed=seed)
    if dry_run:
        run.check_folder()
        selected = select_items(run, items, may_be_none=True) if run.exists else None
        counting = counting_clients(run, selected, options)()
        with open_workers(run, workers, options, dry_run=True) as executor, net.offline(options.offline):
            return make(counting=counting, executor=executor)
    if items is not None:
        store_benchmark(run, items)
    with (
        open_workers(run, workers, options) as executor,
        open_client(run, select_items(run, items), options) as client,
    ):
        return make(desk=client, executor=executor)
