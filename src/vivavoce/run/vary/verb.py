"""`viva vary`: variants are made with a client that asks models, in a dry run with one that asks nobody."""

from collections.abc import Sequence
from functools import partial

from vivavoce.core import net
from vivavoce.core.records import Finding
from vivavoce.run.client import AskOptions, counting_clients, open_client, open_workers, run_guard
from vivavoce.run.tables.load import select_items
from vivavoce.run.vary.vary import store_benchmark, vary
from vivavoce.run.workers.worker_count import Workers, read_workers
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import view_of, with_view


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
        selected = with_view(run, select_items, items, may_be_none=True) if run.exists else None
        guard = with_view(run, run_guard, selected, options)
        counting = counting_clients(run, guard, options)()
        own_workers = with_view(run, open_workers, workers, options, dry_run=True)
        with own_workers as executor, net.offline(options.offline):
            return make(counting=counting, executor=executor)
    if items is not None:
        store_benchmark(run, items)
    with view_of(run) as view:
        own_workers = open_workers(view, workers, options)
        guard = run_guard(view, select_items(view, items), options)
    with own_workers as executor, open_client(run, guard, options) as client:
        return make(desk=client, executor=executor)
