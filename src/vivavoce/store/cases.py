"""The cases of a run, worked out when it is read, so that runs of any age have them."""

import json
import sqlite3
from typing import TYPE_CHECKING

from vivavoce.core.cases import Cases, Content, Place, content_of, exhibit_of, join_cases
from vivavoce.core.records import ItemKey
from vivavoce.store.damage import decoding
from vivavoce.store.table_hashes import check_table_hashes

if TYPE_CHECKING:
    import polars as pl

_CONTENTS: dict[tuple[str, str], Content | None] = {}
"""The content of items by their hash and `meta`: worked out once in a process, since it takes longest."""
_KEY = ["benchmark", "item", "variant"]


def run_cases(db: sqlite3.Connection) -> Cases:
    """The cases of the current items, over all benchmarks of the run; items made in the run are left out."""
    return _cases(db, "AND origin IS NULL")


def cases_by_item(db: sqlite3.Connection) -> dict[ItemKey, str]:
    """The label of the case of every current item, those made in the run included."""
    cases = _cases(db, "")
    return {place[:3]: label for place, label in zip(cases.places, cases.labels, strict=True)}


def with_cases(db: sqlite3.Connection, frame: "pl.DataFrame") -> "pl.DataFrame":
    """Rows about items, with the label of the item's case as `group` in place of the declared group."""
    import polars as pl

    joined = _cases(db, "")
    changed = [
        (*place[:3], label)
        for place, label in zip(joined.places, joined.labels, strict=True)
        if label != place.group
    ]
    if not changed:
        return frame
    labels = pl.DataFrame(changed, schema=dict.fromkeys([*_KEY, "case"], pl.String), orient="row")
    rows = frame.join(labels, on=_KEY, how="left", maintain_order="left", validate="m:1")
    return rows.with_columns(group=pl.coalesce("case", "group")).drop("case")


def _cases(db: sqlite3.Connection, condition: str) -> Cases:
    """The cases of the current items that meet a condition in SQL."""
    check_table_hashes(db)  # here, because groups are what cases come from
    items = f"FROM items JOIN benchmarks USING (benchmark_id) WHERE current = 1 {condition}"
    rows = db.execute(
        f"""SELECT benchmark, item, variant, "group", json_extract(card, '$.groups_of'),
        coalesce(json_extract(card, '$.access'), '') = 'own', hash,
        iif(origin IS NULL AND follows IS NULL, meta, NULL) {items} ORDER BY benchmark, item, variant"""
    ).fetchall()
    if any(meta is not None and (digest, meta) not in _CONTENTS for *_, digest, meta in rows):
        _read_contents(db)
    return join_cases(
        Place(benchmark, item, variant, group, _CONTENTS.get((digest, meta)), groups_of, bool(user_table))
        for benchmark, item, variant, group, groups_of, user_table, digest, meta in rows
    )


def _read_contents(db: sqlite3.Connection) -> None:
    """Work out the content of the current items that were not made in the run."""
    sql = (
        "SELECT hash, meta, question, options, context, false_answer, steps, step FROM items "
        "WHERE current = 1 AND origin IS NULL AND follows IS NULL"
    )
    for digest, meta, question, options, context, false_answer, steps, step in db.execute(sql):
        if (digest, meta) not in _CONTENTS:
            with decoding("the content of an item"):
                exhibit = exhibit_of(false_answer, json.loads(steps), step)
                _CONTENTS[digest, meta] = content_of(
                    question, json.loads(options), context, exhibit=exhibit, meta=json.loads(meta)
                )
