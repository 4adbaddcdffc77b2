"""What a run has asked of an exam already, and of whom."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from vivavoce.core.records import Item
from vivavoce.store.forgotten import IS_FORGOTTEN, forgotten_names
from vivavoce.store.item_rows import ItemKey, names_table
from vivavoce.store.runfile import RunFile

_ANSWERED = """
SELECT i.item, i.variant FROM names n CROSS JOIN items i ON (i.benchmark_id, i.item, i.variant, i.current)
    = ((SELECT benchmark_id FROM benchmarks WHERE benchmark = ?), n.item, n.variant, 1)
CROSS JOIN responses r ON (r.item_id, r.candidate_id, r.repeat)
    = (i.item_id, (SELECT candidate_id FROM candidates WHERE candidate = ?), ?)
JOIN edits e USING (edit_id)
WHERE (e.edit_id = 0 OR e.probe != '') AND e.probe = ? AND r.status != 'failed'
"""
_AT_ONCE = 1_000
"""Items of which it is looked up at once whether they are answered."""


@contextmanager
def open_answers(run: RunFile) -> Iterator[sqlite3.Connection | None]:
    """The run, open for reading; null where there is none yet, which holds no answers."""
    if not run.exists:
        yield None
        return
    with run.reading() as db:
        yield db


def unanswered(
    db: sqlite3.Connection | None,
    items: Iterable[Item],
    candidate: str,
    probe: str = "",
    *,
    repeat: int = 1,
) -> Iterator[Item]:
    """The items that a candidate has not answered in a repeat, in words or to a probe; failures are no
    answers. Nobody is asked what the run was told to forget.

    They are looked up some at a time, when they are needed, so that none of them is held.
    """
    iterator = iter(items)
    while batch := list(islice(iterator, _AT_ONCE)):
        table, names = names_table(batch)
        done: set[ItemKey] = set()
        gone: set[str] = set()
        if db is not None:
            gone = forgotten_names(db, batch[0].benchmark)
            parameters = (*names, batch[0].benchmark, candidate, repeat, probe)
            done.update(db.execute(table + _ANSWERED, parameters))
        yield from (item for item in batch if (item.item, item.variant) not in done and item.item not in gone)


class Asked(NamedTuple):
    """Which request brought an answer: the key of what was asked, for which item and repeat."""

    key: str
    item: str
    variant: str
    repeat: int


def asked_last(run: RunFile, benchmark: str, candidate: str) -> Asked | None:
    """The last request of a candidate that was answered; null if it was asked nothing here."""
    if not run.exists:
        return None
    with run.reading() as db:
        row = db.execute(
            "SELECT k.key, i.item, i.variant, k.repeat FROM calls k JOIN responses r USING (response_id) "
            "JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id) "
            "JOIN candidates c USING (candidate_id) WHERE b.benchmark = ? AND c.candidate = ? "
            "AND i.current = 1 AND k.purpose = 'collect' AND k.status != 'failed' "
            f"AND NOT {IS_FORGOTTEN.format('i')} AND NOT {IS_FORGOTTEN.format('r')} "
            "ORDER BY k.call_id DESC LIMIT 1",
            (benchmark, candidate),
        ).fetchone()
    return None if row is None else Asked(*row)


def last_logprob_item(run: RunFile, benchmark: str, candidate: str, probe: str) -> Asked | None:
    """The last item about which a candidate told a probe something; null if there is none."""
    if not run.exists:
        return None
    with run.reading() as db:
        row = db.execute(
            "SELECT json_extract(r.meta, '$.asked'), i.item, i.variant, r.repeat FROM responses r "
            "JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id) "
            "JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id) "
            "WHERE b.benchmark = ? AND c.candidate = ? AND e.probe = ? AND i.current = 1 "
            "AND r.status = 'ok' AND json_extract(r.meta, '$.asked') IS NOT NULL "
            "ORDER BY r.response_id DESC LIMIT 1",
            (benchmark, candidate, probe),
        ).fetchone()
    return None if row is None else Asked(*row)


def is_sampled(run: RunFile, benchmark: str) -> bool:
    """Whether the run's current items of a benchmark are a sample, some of which stand for several."""
    if not run.exists:
        return False
    with run.reading() as db:
        sampled = db.execute(
            "SELECT 1 FROM items JOIN benchmarks USING (benchmark_id) "
            "WHERE benchmark = ? AND current = 1 AND weight != 1.0 LIMIT 1",
            (benchmark,),
        )
        return sampled.fetchone() is not None


def known_items(run: RunFile, benchmark: str) -> dict[tuple[str, str], float]:
    """The run's current items of a benchmark by id and variant, each with its weight."""
    if not run.exists:
        return {}
    with run.reading() as db:
        return {
            (item, variant): weight
            for item, variant, weight in db.execute(
                "SELECT item, variant, weight FROM items JOIN benchmarks USING (benchmark_id) "
                "WHERE benchmark = ? AND current = 1",
                (benchmark,),
            )
        }
