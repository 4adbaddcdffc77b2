"""Which rows of a run a user means to forget: questions by id, answers of candidates, or single answers."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from vivavoce.core.cases import place_of
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.store.forgotten import is_forgotten
from vivavoce.store.read import hashed_items

MOST_NAMED = 5


class Keys(NamedTuple):
    """What a selection comes to: keys of items with all their versions and variants, and of responses."""

    items: tuple[int, ...] = ()
    responses: tuple[int, ...] = ()


def answer_place(db: sqlite3.Connection, item: int, candidate: int) -> tuple[str, ...]:
    """Benchmark, item, variant and candidate of these keys."""
    row = db.execute(
        "SELECT benchmark, item, variant, candidate FROM items JOIN benchmarks USING (benchmark_id), "
        "candidates WHERE item_id = ? AND candidate_id = ?",
        (item, candidate),
    ).fetchone()
    return tuple(row)


def item_keys(db: sqlite3.Connection, names: Iterable[str]) -> Keys:
    """The keys of items by id or alias, or as BENCHMARK/ID, with their variants and versions."""
    rows = db.execute(
        "SELECT item_id, benchmark, item, alias FROM items JOIN benchmarks USING (benchmark_id)"
    ).fetchall()
    by_name: dict[str, set[tuple[str, str]]] = {}
    for _, benchmark, item, alias in rows:
        for name in filter(None, (item, alias)):
            for spelling in (name, f"{benchmark}/{name}"):
                by_name.setdefault(spelling, set()).add((benchmark, item))
    places = {_place_called(name, by_name) for name in names}
    keys = tuple(key for key, benchmark, item, _ in rows if (benchmark, item) in places)
    _refuse_same_questions(db, keys)
    return Keys(items=keys)


def _place_called(name: str, by_name: dict[str, set[tuple[str, str]]]) -> tuple[str, str]:
    places = sorted(by_name.get(name, ()))
    if not places:
        raise SelectionError(f"the run has no item {name!r}.{suggest(name, list(by_name))}")
    if len(places) > 1:
        spellings = " or ".join(f"{benchmark}/{item}" for benchmark, item in places)
        raise SelectionError(f"several items are called {name!r}: write {spellings}.")
    return places[0]


def _refuse_same_questions(db: sqlite3.Connection, keys: Collection[int]) -> None:
    """Raise `SelectionError` where a question that is not chosen has the words of a chosen one."""
    contents: dict[object, str] = {}
    further: list[tuple[object, str]] = []
    for stored in hashed_items(db):
        if stored.item is None or is_forgotten(stored.item.meta):
            continue
        content = place_of(stored.item).content
        if content is None:
            continue
        if stored.key in keys:
            contents[content.text] = stored.name
        else:
            further.append((content.text, stored.name))
    if same := sorted({name for content, name in further if content in contents}):
        raise SelectionError(
            f"the same question stands in the run as {', '.join(same[:MOST_NAMED])} too: name it with a "
            "further --item, since its words would stay."
        )


def candidate_keys(db: sqlite3.Connection, names: Iterable[str]) -> Keys:
    """The keys of all answers of candidates."""
    candidates = dict(db.execute("SELECT candidate, candidate_id FROM candidates"))
    for name in names:
        if name not in candidates:
            raise SelectionError(f"the run has no candidate {name!r}.{suggest(name, list(candidates))}")
    keys = json.dumps([candidates[name] for name in names])
    rows = db.execute(
        "SELECT response_id FROM responses WHERE candidate_id IN (SELECT value FROM json_each(?))", (keys,)
    )
    return Keys(responses=tuple(key for (key,) in rows))


def answer_keys(db: sqlite3.Connection, texts: Iterable[str]) -> Keys:
    """The keys of answers named as CANDIDATE:ITEM or CANDIDATE:ITEM:REPEAT, with their edits.

    ITEM may be BENCHMARK/ITEM too.
    """
    return Keys(responses=tuple(key for text in texts for key in _answer(db, text)))


_NAMED = (
    "FROM responses JOIN items USING (item_id) JOIN benchmarks USING (benchmark_id) "
    "JOIN candidates USING (candidate_id) WHERE candidate = ? "
    "AND ? IN (item, alias, benchmark || '/' || item, benchmark || '/' || alias) "
    "AND (? IS NULL OR repeat = ?)"
)


def _answer(db: sqlite3.Connection, text: str) -> list[int]:
    """The keys of an answer with its edits, from CANDIDATE:ITEM or CANDIDATE:ITEM:REPEAT."""
    fits = {
        (candidate, item, repeat)
        for candidate, item, repeat in _readings(text)
        if db.execute(f"SELECT 1 {_NAMED}", (candidate, item, repeat, repeat)).fetchone()
    }
    if len(fits) != 1:
        problem = "can be read in several ways" if fits else "names no answer of this run"
        raise SelectionError(
            f"--response {text!r} {problem}: write CANDIDATE:ITEM, or CANDIDATE:ITEM:REPEAT for one repeat."
        )
    ((candidate, item, repeat),) = fits
    rows = db.execute(
        f"SELECT response_id, benchmark, item {_NAMED}", (candidate, item, repeat, repeat)
    ).fetchall()
    places = sorted({(benchmark, name) for _, benchmark, name in rows})
    if len(places) > 1:
        end = "" if repeat is None else f":{repeat}"
        spellings = " or ".join(f"{candidate}:{benchmark}/{name}{end}" for benchmark, name in places)
        raise SelectionError(f"several items are called {item!r}: write --response {spellings}.")
    return [key for key, _, _ in rows]


def _readings(text: str) -> Iterator[tuple[str, str, int | None]]:
    parts = text.split(":")
    for n in range(1, len(parts)):
        candidate = ":".join(parts[:n])
        yield candidate, ":".join(parts[n:]), None
        if n + 1 < len(parts) and parts[-1].isdecimal() and len(parts[-1]) < 10:
            yield candidate, ":".join(parts[n:-1]), int(parts[-1])
