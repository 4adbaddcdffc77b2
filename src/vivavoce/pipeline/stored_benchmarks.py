"""Benchmarks as a run reads them: from their file or package; those that came from a table, from the run."""

from vivavoce.benchmarks import Loaded, load
from vivavoce.benchmarks.table import Table
from vivavoce.core import registry
from vivavoce.core.specs import parse
from vivavoce.store import read
from vivavoce.store.runfile import RunFile


def load_benchmark(run: RunFile, spec: str) -> Loaded:
    """The benchmark that a spec names; `table(name=…)`, which has no file, with the items of the run."""
    if parse(spec).name != "table":
        return load(spec)
    table: Table = registry.build("benchmark", spec)
    items = []
    if run.exists:
        with run.reading() as db:
            stored = read.items_by_id(db).values()
            items = [item for item in stored if item.benchmark == table.name and item.origin is None]
    return table.loaded(items) if items else load(spec)


def only_benchmark(run: RunFile) -> str | None:
    """The spec of the run's benchmark, if it holds exactly one."""
    if not run.exists:
        return None
    with run.reading() as db:
        specs = [stored.spec for stored in read.benchmarks(db)]
    return specs[0] if len(specs) == 1 else None
