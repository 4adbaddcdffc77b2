"""Benchmarks as a run reads them: from their file or package; those that came from a table, from the run.

With them go the rows that they leave out, each list under the spec that it was read by.
"""

import sqlite3
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from vivavoce.benchmarks import Benchmark, Loaded, load
from vivavoce.benchmarks.table import Table
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.exclusions import ExclusionCounts, exclusion_at
from vivavoce.core.item_files import item_sequence
from vivavoce.core.records import Item
from vivavoce.core.specs import parse
from vivavoce.store import read
from vivavoce.store.exclusions import exclusion_list, exclusion_lists, put_exclusions
from vivavoce.store.forgotten import forgotten_names
from vivavoce.store.item_rows import count_stored
from vivavoce.store.run_counts import questions_by_benchmark
from vivavoce.store.view import View
from vivavoce.store.write import put_benchmark
from vivavoce.studies.text import count

if TYPE_CHECKING:
    import polars as pl


def load_benchmark(view: View, spec: str) -> Loaded:
    """The benchmark that a spec names; `table(name=…)`, which has no file, with the items of the run.

    Questions that the run was told to forget are as it holds them, whatever the benchmark still says.
    """
    if parse(spec).name != "table":
        return without_forgotten(view, load(spec))
    table: Table = registry.build("benchmark", spec)
    if not view.exists:
        return load(spec)
    stored = view.fetch(read.items_by_id).values()
    items = [item for item in stored if item.benchmark == table.name and item.origin is None]
    left_out = exclusion_list(view.db, table.name, str(table))
    return table.loaded(items, left_out.exclusions if left_out else ()) if items else load(spec)


def without_forgotten(view: View, loaded: Loaded) -> Loaded:
    """The benchmark with the marks that the run holds in place of forgotten questions.

    A variant of one that the run does not hold is left out: it has the words of its question.
    """
    if not view.exists or not (names := forgotten_names(view.db, loaded.items[0].benchmark)):
        return loaded
    return marked(loaded, names, view.fetch(read.items_by_id).values())


def marked(loaded: Loaded, names: Container[str], stored: Iterable[Item]) -> Loaded:
    """The benchmark with stored items in place of those of these names."""
    benchmark = loaded.items[0].benchmark
    marks = {(i.item, i.variant): i for i in stored if i.benchmark == benchmark and i.item in names}

    def replaced(items: Iterable[Item]) -> Sequence[Item]:
        by_place = (i if i.item not in names else marks.get((i.item, i.variant)) for i in items)
        return item_sequence(filter(None, by_place))

    return loaded._replace(items=replaced(loaded.items), others=replaced(loaded.others))


def only_benchmark(view: View) -> str | None:
    """The spec of the run's benchmark, if it holds exactly one."""
    if not view.exists:
        return None
    specs = [stored.spec for stored in view.fetch(read.benchmarks)]
    return specs[0] if len(specs) == 1 else None


def with_earlier_exclusions(view: View, loaded: Loaded, source: str) -> Loaded:
    """The benchmark of a table, with the questions and the rows left out of other tables of its name.

    Questions that the run was told to forget are as it holds them.
    """
    if not view.exists:
        return loaded
    loaded = without_forgotten(view, loaded)
    before = exclusion_list(view.db, loaded.items[0].benchmark, loaded.spec)
    others = tuple(_stored_others(view.db, loaded.items[0].benchmark, loaded.items))
    if before is None:
        return loaded
    file = exclusion_at(f"{source}, ", "").file
    earlier = tuple(exclusion for exclusion in before.exclusions if exclusion.file != file)
    return loaded._replace(exclusions=(*earlier, *loaded.exclusions), others=(*loaded.others, *others))


def _stored_others(db: sqlite3.Connection, benchmark: str, items: Iterable[Item]) -> list[Item]:
    """The items of a benchmark that are stored, were not made in the run, and are none of these."""
    keys = {(item.item, item.variant) for item in items}
    stored = (item for item in read.items_by_id(db).values() if item.benchmark == benchmark)
    return [item for item in stored if not item.origin and (item.item, item.variant) not in keys]


def store_loaded(
    db: sqlite3.Connection, loaded: Loaded, items: Sequence[Item], *, new_version: bool = False
) -> None:
    """Store items of a benchmark and the rows that it leaves out.

    Raises `InputError` as `put_benchmark`, and where questions of the run are rows that are left out now.
    """
    name = items[0].benchmark
    _refuse_lost(db, loaded, name)
    put_benchmark(
        db, loaded.card, items, spec=loaded.spec, signature=loaded.signature, new_version=new_version
    )
    put_exclusions(
        db, name, loaded.exclusions, spec=loaded.spec, signature=loaded.signature, items=loaded.n_items
    )


def _refuse_lost(db: sqlite3.Connection, loaded: Loaded, benchmark: str) -> None:
    """Raise `InputError` for questions that the same spec gave before, where rows are left out now.

    Their answers would be compared on, while the same rows are counted as left out.
    """
    if not loaded.exclusions or (benchmark, loaded.spec) not in {b[:2] for b in read.benchmarks(db)}:
        return
    every = chain(loaded.items, loaded.others)
    n_stored = questions_by_benchmark(db).get(benchmark, 0)
    if count_stored(db, benchmark, (item for item in every if item.origin is None)) == n_stored:
        return
    lost = [item.name for item in _stored_others(db, benchmark, chain(loaded.items, loaded.others))]
    if lost and loaded.exclusion_counts:
        names = ", ".join(lost[:5]) + (" …" if len(lost) > 5 else "")
        raise InputError(
            f"{len(lost):,} of the {benchmark} questions of this run ({names}) are none now, and "
            f"{loaded.exclusion_counts.text} Its files have changed: use another run, or the earlier files."
        )


def exclusion_sentences(view: View, loaded: Loaded) -> list[str]:
    """What is said before anybody is asked: what was inferred, which rows are left out, if others before."""
    counts = loaded.exclusion_counts
    sentences = [f"{name.capitalize()}: {text.rstrip('.')}." for name, text in loaded.inferred.items()]
    sentences += [counts.text] if counts else []
    if view.exists:
        name = loaded.items[0].benchmark
        sentences += forgotten_sentences(view, name)
        is_stored = (name, loaded.spec) in {b[:2] for b in view.fetch(read.benchmarks)}
        before = exclusion_list(view.db, name, loaded.spec)
        stored = before.exclusions if before else ()
        if is_stored and stored != loaded.exclusions:
            lack = ", and candidates asked before lack the questions that are new"
            rows = "1 row was" if len(stored) == 1 else f"{len(stored):,} rows were"
            sentences.append(
                f"When {name} was read for this run before, {rows} left out: its files or "
                f"their loader have changed since{lack if len(loaded.exclusions) < len(stored) else ''}."
            )
    return sentences


def is_ours(spec: str) -> bool:
    """Whether a benchmark's loader ships with vivavoce: its reasons hold no text of a row."""
    benchmark: type[Benchmark] | None = registry.member("benchmark", parse(spec).name)
    return benchmark is not None and benchmark.__module__.partition(".")[0] == "vivavoce"


def forgotten_sentences(view: View, benchmark: str) -> list[str]:
    """The sentence on questions of a benchmark that are asked no more; none where none are forgotten."""
    n = len(forgotten_names(view.db, benchmark)) if view.exists else 0
    are = "is" if n == 1 else "are"
    return [f"{count(n, 'question')} of {benchmark} {are} forgotten in this run, and asked no more."] * bool(
        n
    )


_REDACTED = "for a reason that is redacted"


def shown_exclusions(db: sqlite3.Connection, *, redact: bool) -> tuple[ExclusionCounts, ...]:
    """The rows left out, for a report; a redacted one shows no reason that may quote a row."""
    counts = [entry.counts for entry in exclusion_lists(db)]
    return tuple(
        c._replace(reasons={_REDACTED: c.total}) if redact and not is_ours(c.spec) else c for c in counts
    )


def without_reasons(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The table of rows left out, without reasons that may quote a row."""
    import polars as pl

    theirs = pl.Series([not is_ours(spec) for spec in rows["spec"]], dtype=pl.Boolean)
    return rows.with_columns(reason=pl.when(theirs).then(pl.lit(_REDACTED)).otherwise("reason"))
