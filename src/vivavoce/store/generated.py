"""What was made in a run, and is no question of the exam and nobody's answer: items and responses."""

import sqlite3
from typing import TYPE_CHECKING

from vivavoce.core.records import Item
from vivavoce.store.read import current_items

if TYPE_CHECKING:
    from vivavoce.store.runfile import RunFile


Key = tuple[str, str, str, str, int, str]
"""Benchmark, item, variant, candidate, repeat, edit."""


_BASES = """
SELECT base.item, base.hash
FROM items i JOIN items base USING (benchmark_id, item) JOIN benchmarks USING (benchmark_id)
WHERE benchmark = ? AND i.origin IS NOT NULL AND base.variant = '' AND base.current = 1
"""


def made_items(run: "RunFile", benchmark: str) -> list[Item]:
    """The items that were made in the run of those of a benchmark, in the order in which they were made.

    What was made of a base item whose content has changed since is left out: it is another question's twin.
    """
    if not run.exists:
        return []
    with run.reading() as db:
        generated = [i for _, i in current_items(db, "origin IS NOT NULL") if i.benchmark == benchmark]
        bases = dict(db.execute(_BASES, (benchmark,)))
    return [item for item in generated if item.meta.get("base_hash") == bases.get(item.item)]


def has_made_items(db: sqlite3.Connection) -> bool:
    """Whether any current item was made in the run."""
    sql = "SELECT EXISTS (SELECT 1 FROM items WHERE current = 1 AND origin IS NOT NULL)"
    return bool(db.execute(sql).fetchone()[0])


def made_responses(db: sqlite3.Connection) -> dict[Key, str | None]:
    """The origin, null where none is told, of every response that was edited or made, or is a ceiling's."""
    sql = (
        "SELECT benchmark, item, variant, candidate, repeat, edit, json_extract(meta, '$.origin') "
        "FROM response_rows WHERE probe = '' "
        "AND (edit != '' OR role = 'ceiling' OR json_extract(meta, '$.origin') IS NOT NULL)"
    )
    return {(b, i, v, c, r, e): origin for b, i, v, c, r, e, origin in db.execute(sql)}
