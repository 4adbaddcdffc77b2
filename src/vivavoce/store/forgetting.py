"""Forgetting in the tables of a run: which rows belong to what is forgotten, and their texts overwritten.

The words of an answer are in more places than its row: facts and notes of its scores, the notes of scores on
the same ballot, replies of judges, what raters wrote, findings, the log of a build.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.store.checksums import delete_scores, renew_checksums
from vivavoce.store.forgotten import FORGOTTEN, GONE, IS_FORGOTTEN
from vivavoce.store.hashes import rehash_responses
from vivavoce.store.left_words import LeftWords
from vivavoce.store.passages import drop_unused_passages, rehash_passages
from vivavoce.store.rewriting import Table, changing_events, rewrite_rows
from vivavoce.store.runfile import RunFile, has_wal, overwrite_deleted
from vivavoce.store.table_hashes import renew_table_hashes

_ITEMS = "SELECT item_id FROM temp.forgotten_items"
_RESPONSES = "SELECT response_id FROM temp.forgotten_responses"
OF_ITEMS, OF_RESPONSES = f"item_id IN ({_ITEMS})", f"response_id IN ({_RESPONSES})"
_NAMES = frozenset((
    *("benchmark", "item", "variant", "alias", "candidate", "rater", "panel", "kind", "id", "criterion"),
    *("metric", "measure", "answer", "repeat", "edit", "pass", "study", "status", "verdict", "format"),
    *("category", "group", "role", "direction", "signature", "spec", "model", "endpoint", "file", "digest"),
    "task",
))  # fmt: skip
"""Fields of JSON that name things, or are one of a few words: no text stands in them."""
_FREE = frozenset(
    ("text", "reason", "facts", "before", "after", "note", "quote", "example", "remark", "fact")
)
"""Fields of JSON that hold somebody's words, however short."""
_LONG = 12
"""Characters from which any other field of JSON about something forgotten may be its words."""


class Names(NamedTuple):
    """What JSON calls what is forgotten: items by benchmark and id, and answers by item and candidate.

    `answered` are items of which only answers are forgotten.
    """

    items: frozenset[tuple[str, str]]
    answers: frozenset[tuple[str, str]]
    answered: frozenset[str]

    def without_hashes(self, frozen: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a freeze says of its items, by name their hashes, without those that are forgotten."""
        names = {name for _, name in self.items}
        return {key: entry for key, entry in frozen.items() if key.partition(" [")[0] not in names}

    def are_in(self, entry: Mapping[str, Any]) -> bool:
        """Whether an object of JSON is about something forgotten."""
        item, candidate = entry.get("item"), entry.get("candidate")
        if not isinstance(item, str):
            return False
        benchmark = entry.get("benchmark")
        if any(name == item and benchmark in (None, b) for b, name in self.items):
            return True
        # What a rater took back of a ballot names labels, which stand for candidates.
        return (item, candidate) in self.answers or ("before" in entry and item in self.answered)


def choose_rows(db: sqlite3.Connection, items: Iterable[int], responses: Iterable[int]) -> None:
    """Make what follows be about these items with all answers to them, and about these answers."""
    for table, key in (("forgotten_items", "item_id"), ("forgotten_responses", "response_id")):
        db.execute(f"DROP TABLE IF EXISTS temp.{table}")
        db.execute(f"CREATE TEMP TABLE {table} ({key} INTEGER PRIMARY KEY)")
    db.executemany("INSERT OR IGNORE INTO temp.forgotten_items VALUES (?)", ((key,) for key in items))
    db.executemany("INSERT OR IGNORE INTO temp.forgotten_responses VALUES (?)", ((key,) for key in responses))
    db.execute(
        f"INSERT OR IGNORE INTO temp.forgotten_responses SELECT response_id FROM responses WHERE {OF_ITEMS}"
    )


def chosen_names(db: sqlite3.Connection) -> Names:
    """What JSON calls the chosen rows: items by id and by alias."""
    items = db.execute(
        f"SELECT benchmark, item, alias FROM items JOIN benchmarks USING (benchmark_id) WHERE {OF_ITEMS}"
    ).fetchall()
    answers = db.execute(
        "SELECT DISTINCT item, alias, candidate FROM responses JOIN items USING (item_id) "
        f"JOIN candidates USING (candidate_id) WHERE {OF_RESPONSES}"
    ).fetchall()
    return Names(
        frozenset((benchmark, name) for benchmark, *names in items for name in names if name),
        frozenset((name, candidate) for *names, candidate in answers for name in names if name),
        frozenset(name for *names, _ in answers for name in names if name),
    )


def words_of_chosen(db: sqlite3.Connection) -> LeftWords:
    """The words of the chosen texts that stand in journals, and in no other question of the run."""
    words = LeftWords(text for sql in _JOURNALS for row in db.execute(sql) for text in row if text)
    for sql in (
        f'SELECT question, options, answer, "references", must, nice, steps, false_answer, rubric, context, '
        f"source, messages, meta FROM items WHERE {OF_ITEMS}",
        f"SELECT text, final, reasoning, error, meta FROM responses WHERE {OF_RESPONSES}",
    ):
        for row in db.execute(sql):
            for text in row:
                words.forget(text)
    for row in db.execute(
        f"SELECT question, options, answer, context, messages FROM items WHERE NOT {OF_ITEMS}"
    ):
        for text in row:
            words.spare(text)
    return words


_JOURNALS = (
    "SELECT body FROM events", "SELECT settings, rows FROM findings", "SELECT body FROM provenance",
    "SELECT reason FROM exclusions", "SELECT card FROM benchmarks", "SELECT body FROM build_texts",
    "SELECT reason, detail FROM build_parts", "SELECT facts FROM build_steps", "SELECT error FROM calls",
)  # fmt: skip


def overwrite_scores(
    db: sqlite3.Connection, units: Mapping[tuple[str, str], str], *, drop: bool
) -> Counter[str]:
    """Overwrite notes, facts and evidence of the chosen answers, or delete their scores.

    `units` gives the texts of points of a rubric that are overwritten with their item.
    """
    done: Counter[str] = Counter()
    mates = (
        "ballot_id != 0 AND (measure_id, ballot_id) IN "
        f"(SELECT measure_id, ballot_id FROM scores WHERE ballot_id != 0 AND {OF_RESPONSES})"
    )
    done["notes"] += db.execute(
        f"UPDATE scores SET note = ? WHERE note IS NOT NULL AND note != ? AND ({OF_RESPONSES} OR {mates})",
        (GONE, GONE),
    ).rowcount
    if drop:
        (n,) = db.execute(f"SELECT count(*) FROM scores WHERE {OF_RESPONSES}").fetchone()
        delete_scores(db, OF_RESPONSES)
        done["scores deleted"] += n
    else:
        done["facts and points"] += _overwrite_units(db, units)
        done["passages"] += _overwrite_passages(db)
    last = "unit_id NOT IN (SELECT unit_id FROM scores)"
    db.execute(f"DELETE FROM units WHERE unit_id != 0 AND {last}")
    drop_unused_passages(db)
    return done


def _overwrite_units(db: sqlite3.Connection, units: Mapping[tuple[str, str], str]) -> int:
    """Let the chosen scores be of units whose text is gone; points of a rubric that stays keep theirs."""
    rows = db.execute(
        "SELECT DISTINCT measure_id, response_id, unit_id, unit, u.text, u.weight, item_id FROM scores "
        "JOIN units u USING (unit_id) JOIN responses USING (response_id) "
        f"WHERE unit_id != 0 AND {OF_RESPONSES} AND u.text NOT LIKE '[redacted: %' AND u.text != '' "
        "ORDER BY measure_id, response_id, unit_id"
    ).fetchall()
    rubrics = _rubrics(db, {row[-1] for row in rows})
    n_same: Counter[tuple[int, int, str]] = Counter()
    n = 0
    db.execute("PRAGMA defer_foreign_keys = ON")  # evidence follows its score
    for measure, response, unit_id, unit, text, weight, item in rows:
        if text in rubrics.get(item, ()):
            continue
        gone = units.get((unit, text))
        if gone is None:
            n_same[measure, response, unit] += 1
            parts = [GONE[:-1], *([f"weight {weight:g}"] if weight is not None else [])]
            same = n_same[measure, response, unit]
            gone = " ".join(parts + ([str(same)] if same > 1 else [])) + "]"
        db.execute(
            "INSERT INTO units (unit, text, weight) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (unit, gone, weight),
        )
        (new,) = db.execute("SELECT unit_id FROM units WHERE (unit, text) = (?, ?)", (unit, gone)).fetchone()
        for table in ("evidence", "scores"):
            db.execute(
                f"UPDATE {table} SET unit_id = ? WHERE (measure_id, response_id, unit_id) = (?, ?, ?)",
                (new, measure, response, unit_id),
            )
        n += 1
    return n


def _rubrics(db: sqlite3.Connection, items: Iterable[int]) -> dict[int, frozenset[str]]:
    """The texts of points and statements of items that are not forgotten."""
    rows = db.execute(
        f"SELECT item_id, rubric, must, nice, steps FROM items WHERE NOT {OF_ITEMS} "
        "AND item_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(items)),),
    )
    return {
        key: frozenset(point["text"] for point in json.loads(rubric)).union(*map(json.loads, lists))
        for key, rubric, *lists in rows
    }


def _overwrite_passages(db: sqlite3.Connection) -> int:
    """Overwrite the passages on which scores of the chosen answers alone rest."""
    of_these = f"SELECT passage_id FROM evidence WHERE {OF_RESPONSES}"
    of_others = f"SELECT passage_id FROM evidence WHERE NOT {OF_RESPONSES}"
    condition = (
        f"passage_id IN ({of_these}) AND passage_id NOT IN ({of_others}) AND quote NOT LIKE '[redacted: %'"
    )
    n = int(db.execute(f"SELECT count(*) FROM passages WHERE {condition}").fetchone()[0])
    rewrite_rows(db, "passages", ("quote",), lambda key, _: (f"{GONE[:-1]} {key}]",), condition=condition)
    rehash_passages(db)
    return n


def overwrite_calls(db: sqlite3.Connection, words: LeftWords) -> Counter[str]:
    """Overwrite what was sent and came back about the chosen answers.

    No reply of a judge says which answer it is about: all that are stored under no answer go.
    """
    condition = f"(response_id IS NULL AND reply IS NOT NULL OR {OF_RESPONSES})"
    (n,) = db.execute(f"SELECT count(*) FROM calls WHERE {condition} AND reply IS NOT NULL").fetchone()
    db.execute(
        "UPDATE calls SET key = lower(hex(randomblob(16))), reply = NULL, "
        f"error = iif(error IS NULL, NULL, ?) WHERE {condition}",
        (GONE,),
    )
    rewrite_rows(
        db, "calls", ("error",), lambda _, error: (GONE if words.holds(error) else error,),
        condition="error IS NOT NULL",
    )  # fmt: skip
    return Counter({"stored replies of judges and writers": n})


def overwrite_journals(db: sqlite3.Connection, names: Names, words: LeftWords) -> Counter[str]:
    """Overwrite the words in events, findings, provenance, exclusions and the log of a build."""
    done: Counter[str] = Counter()

    def in_json(name: str) -> Callable[..., Sequence[object]]:
        def replacement(_: object, *texts: str) -> Sequence[object]:
            new = [_overwritten(text, names, words) for text in texts]
            done[name] += list(texts) != new
            return new

        return replacement

    def in_words(name: str) -> Callable[..., Sequence[object]]:
        def replacement(_: object, *texts: str) -> Sequence[object]:
            new = [GONE if words.holds(text) else text for text in texts]
            done[name] += list(texts) != new
            return new

        return replacement

    with changing_events(db):
        rewrite_rows(
            db, "events", ("body",), in_json("events"), condition=f"kind NOT IN ('{FORGOTTEN}', 'near pairs')"
        )
    with_hashes = "SELECT text_id, body FROM build_texts"
    bodies = dict(db.execute(with_hashes))
    for table, columns in _JSON:
        rewrite_rows(db, table, columns, in_json(table.replace("_", " ")))
    changed = [(key,) for key, body in db.execute(with_hashes) if body != bodies[key]]
    db.executemany("UPDATE build_texts SET hash = lower(hex(randomblob(16))) WHERE text_id = ?", changed)
    rewrite_rows(db, "exclusions", ("reason",), in_words("exclusions"))
    rows = db.execute("SELECT step_id, place, reason, detail FROM build_parts").fetchall()
    for step, place, *texts in rows:
        db.execute(
            "UPDATE build_parts SET (reason, detail) = (?, ?) WHERE (step_id, place) = (?, ?)",
            (*in_words("parts of a build")(0, *texts), step, place),
        )
    return done


_JSON: Sequence[tuple[Table, tuple[str, ...]]] = (
    ("findings", ("settings", "rows")), ("provenance", ("body",)), ("benchmarks", ("card",)),
    ("build_texts", ("body",)), ("build_steps", ("facts",)),
)  # fmt: skip


def _overwritten(text: str, names: Names, words: LeftWords) -> str:
    value = json.loads(text)
    new = _walked(value, names, words)
    return text if new == value else json.dumps(new, ensure_ascii=False)


def _walked(value: Any, names: Names, words: LeftWords, field: str = "", chosen: bool = False) -> Any:
    """JSON without the words of what is forgotten; `chosen` says that it is about nothing else."""
    if isinstance(value, dict):
        chosen = chosen or names.are_in(value)
        entries = names.without_hashes(value) if field == "items" else value
        return {key: _walked(entry, names, words, key, chosen) for key, entry in entries.items()}
    if isinstance(value, list):
        return [_walked(entry, names, words, field, chosen) for entry in value]
    return GONE if isinstance(value, str) and _is_gone(value, words, field, chosen) else value


def _is_gone(text: str, words: LeftWords, field: str, chosen: bool) -> bool:
    if field in _NAMES or not text.strip():
        return False
    return (chosen and (field in _FREE or len(text) >= _LONG)) or words.holds(text)


def settle(db: sqlite3.Connection, responses: Sequence[int]) -> None:
    """Give what was overwritten its hashes, and drop samples that SQLite may have taken of indexed texts."""
    for table in ("sqlite_stat1", "sqlite_stat4"):
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            db.execute(f"DELETE FROM {table}")
    renew_table_hashes(db)
    rehash_responses(db, responses)
    renew_checksums(db)


def rewrite_pages(file: RunFile) -> None:
    """Write every page anew (`VACUUM`) and empty the `-wal` file: nothing deleted is left in either.

    Raises `StoreError` where another process reads the run meanwhile: the pages that it reads stay.
    """
    with file.connected() as db:
        overwrite_deleted(db)
        db.execute("VACUUM")
        if has_wal(db) and db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise StoreError(
                f"another process has {file.path} open, and what was overwritten may still lie in its -wal "
                f"file: close that process, then `viva forget {file.path} --finish`."
            )


def chosen_responses(db: sqlite3.Connection) -> list[int]:
    """The keys of the chosen answers."""
    return [key for (key,) in db.execute(f"{_RESPONSES} ORDER BY 1")]


def same_texts(db: sqlite3.Connection) -> Iterator[str]:
    """Other answers of the run that are word for word a chosen one, each by its name."""
    rows = db.execute(
        "SELECT DISTINCT c.candidate, i.item, o.repeat FROM responses r JOIN responses o "
        "ON o.text = r.text AND o.item_id = r.item_id JOIN items i ON i.item_id = o.item_id "
        f"JOIN candidates c ON c.candidate_id = o.candidate_id WHERE r.{OF_RESPONSES} "
        f"AND o.response_id NOT IN ({_RESPONSES}) AND length(r.text) >= 16 "
        f"AND NOT {IS_FORGOTTEN.format('o')} ORDER BY 1, 2, 3"
    )
    yield from (f"the answer of {candidate} to {item} (repeat {n})" for candidate, item, n in rows)
