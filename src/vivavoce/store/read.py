"""Reading tables: what is in a run, as Polars frames in the words of the records."""

import json
import math
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vivavoce.core.conversations import Message
from vivavoce.core.parts import Ending, final_text
from vivavoce.core.records import Candidate, Card, Criterion, Item, Measure, ResponseStatus, Role, Unit
from vivavoce.core.specs import signed
from vivavoce.core.tables import ITEMS, LISTS, schema
from vivavoce.store.cases import with_cases
from vivavoce.store.damage import decoding
from vivavoce.store.hashes import changed
from vivavoce.store.query_frames import rows_frame
from vivavoce.store.response_frame import responses as responses
from vivavoce.store.retirement import name_of, retirements
from vivavoce.store.score_frame import scores as scores
from vivavoce.store.stored_values import check_rows, stored_object, stored_rows

if TYPE_CHECKING:
    import polars as pl


def items(db: sqlite3.Connection) -> "pl.DataFrame":
    """The current items, one row each; lists as lists, `meta` as JSON text, `group` the label of the case."""
    import polars as pl

    item_schema = schema(ITEMS)
    lists = [name for name, kind in item_schema.items() if isinstance(kind, pl.List)]
    raw = pl.Schema({name: pl.String if name in lists else kind for name, kind in item_schema.items()})
    frame = rows_frame(db, "SELECT * FROM item_rows ORDER BY benchmark, item, variant", raw)
    with decoding("a list of an item"):
        frame = frame.with_columns(pl.col(name).str.json_decode(pl.List(pl.String)) for name in lists)
    return with_cases(db, frame)


class KeyedMeasure(NamedTuple):
    """A measure of the run under its key."""

    key: int
    measure: Measure


class RetiredMeasure(NamedTuple):
    """A measure of the run that is retired, under its key, and when it was (UTC)."""

    key: int
    measure: Measure
    made_at: str


def measures(db: sqlite3.Connection) -> list[KeyedMeasure]:
    """The measures that count: those of `stored_measures` that are not retired.

    All that estimates, tests, studies or shows scores begins here.
    """
    names = retirements(db)
    return [keyed for keyed in stored_measures(db) if name_of(keyed.measure) not in names]


def retired_measures(db: sqlite3.Connection) -> list[RetiredMeasure]:
    """The measures with scores that are retired, in the order they came."""
    names = retirements(db)
    return [
        RetiredMeasure(*keyed, names[name][0].made_at)
        for keyed in (stored_measures(db) if names else ())
        if (name := name_of(keyed.measure)) in names
    ]


def stored_measures(db: sqlite3.Connection) -> list[KeyedMeasure]:
    """The measures that have scores, or had them when they were written, in the order they came.

    Retired ones are among them.
    """
    sql = (
        "SELECT measure_id, metric, signature, rater, criterion, low, high, direction, if_unanswered, pool, "
        "smallest_difference FROM measures m WHERE EXISTS (SELECT 1 FROM scores s WHERE s.measure_id = "
        "m.measure_id) OR EXISTS (SELECT 1 FROM score_checksums c WHERE c.measure_id = m.measure_id) "
        "ORDER BY measure_id"
    )
    names = [f.name for f in fields(Criterion)]
    keyed = [
        KeyedMeasure(
            key,
            Measure(
                metric=metric,
                signature=signature,
                rater=rater,
                criterion=Criterion(**dict(zip(names, declared, strict=True))),
            ),
        )
        for key, metric, signature, rater, *declared in db.execute(sql)
    ]
    for _, measure in keyed:
        _check_measure(measure)
    return keyed


def _check_measure(measure: Measure) -> None:
    c = measure.criterion
    with decoding(f"the declaration of {measure.metric}"):
        signed(measure.signature)
        if not all(math.isfinite(x) for x in (c.low, c.high, c.smallest_difference) if x is not None):
            raise ValueError("a range ends at a number")
        if c.smallest_difference is not None and c.smallest_difference <= 0:
            raise ValueError("a difference that matters is above 0")


def measure_probe(db: sqlite3.Connection, measure: int) -> str:
    """The probe whose records a measure scores, '' where it scores words or nothing yet."""
    (probe,) = db.execute(
        "SELECT coalesce(max(probe), '') FROM scores JOIN responses USING (response_id) "
        "JOIN edits USING (edit_id) WHERE measure_id = ?",
        (measure,),
    ).fetchone()
    return str(probe)


class HashedItem(NamedTuple):
    """A stored item, null where its row cannot be read: its key, its name, and whether it fits its hash."""

    key: int
    name: str
    item: Item | None
    fits: bool


def hashed_items(db: sqlite3.Connection, condition: str = "true") -> Iterator[HashedItem]:
    """The items that an SQL condition selects, by default all, those of earlier versions included."""
    columns = ", ".join(f'"{name}"' for name in ITEMS)
    sql = (
        f"SELECT item_id, hash, version, {columns} FROM items JOIN benchmarks USING (benchmark_id) "
        f"WHERE {condition} ORDER BY item_id"
    )
    for key, stored, version, *row in db.execute(sql):
        fields = dict(zip(ITEMS, row, strict=True))
        try:
            item, fits = _item(fields), False
            fits = item.hash == stored
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            item, fits = None, False
        variant = f" [{fields['variant']}]" if fields["variant"] else ""
        past = "" if version == 1 else f", version {version}"
        name = f"the item {fields['item']}{variant} of {fields['benchmark']}{past}"
        yield HashedItem(key, name, item, fits)


def hashed_item(db: sqlite3.Connection, key: int) -> HashedItem:
    """The stored item of this key. Raises `LookupError` where there is none."""
    for stored in hashed_items(db, f"item_id = {int(key)}"):
        return stored
    raise LookupError(f"no item of the key {key}")


def _item(fields: dict[str, Any]) -> Item:
    lists = {name: tuple(json.loads(fields[name])) for name in (*LISTS, "outer_groups")}
    points = tuple(Unit(**point) for point in json.loads(fields["rubric"]))
    messages = tuple(Message(**message) for message in json.loads(fields["messages"]))
    records = {"messages": messages, "rubric": points, "meta": json.loads(fields["meta"])}
    return Item(**fields | lists | records)


def items_by_id(db: sqlite3.Connection) -> dict[int, Item]:
    """The current items as records, under their keys. Raises `StoreError` where one does not fit its hash."""
    return dict(current_items(db))


def current_items(db: sqlite3.Connection, condition: str = "true") -> Iterator[tuple[int, Item]]:
    """The keys and records of the current items that an SQL condition selects, by default all.

    Raises `StoreError` where one does not fit its hash.
    """
    check_rows(db, "items")
    for key, name, item, fits in hashed_items(db, f"current = 1 AND {condition}"):
        if item is None or not fits:
            raise changed(db, f"{name} does not fit its hash")
        yield key, item


class StoredResponse(NamedTuple):
    """A stored response's key, its text, its status and its parts."""

    key: int
    text: str | None
    status: ResponseStatus
    final: str | None = None
    ending: Ending | None = None

    @property
    def final_text(self) -> str:
        """The text without thinking and marks of a chat; empty where none arrived."""
        return final_text(self.text, self.final)


def stored_responses(db: sqlite3.Connection) -> dict[tuple[str, str, str, str, int, str], StoredResponse]:
    """The answers in words to current items by benchmark, item, variant, candidate, repeat and edit."""
    sql = (
        "SELECT benchmark, item, variant, candidate, repeat, edit, response_id, text, status, final, ending "
        "FROM responses "
        "JOIN items USING (item_id) JOIN benchmarks USING (benchmark_id) "
        "JOIN candidates USING (candidate_id) JOIN edits USING (edit_id) WHERE current = 1 AND probe = ''"
    )
    return {tuple(row[:6]): StoredResponse(*row[6:]) for row in db.execute(sql)}


def logprob_specs(db: sqlite3.Connection) -> dict[tuple[str, str], set[str]]:
    """By benchmark and probe ('': answers in words) the candidates that were asked about a current item."""
    by_candidate: dict[tuple[str, str], set[str]] = {}
    rows = db.execute("SELECT DISTINCT benchmark, probe, candidate FROM response_rows")
    for benchmark, probe, candidate in rows:
        by_candidate.setdefault((benchmark, probe), set()).add(candidate)
    return by_candidate


def truncated(db: sqlite3.Connection, probe: str) -> dict[str, int]:
    """By candidate how many questions were cut to fit its context when the probe, or '' words, was asked."""
    path = _json_field("$.truncated", "meta" if probe == "" else "logprobs")
    rows = db.execute(
        f"SELECT candidate, sum({path} > 0) AS n FROM response_rows GROUP BY candidate HAVING n > 0", (probe,)
    )
    return dict(rows.fetchall())


def tokenisers(db: sqlite3.Connection, probe: str) -> dict[str, str | None]:
    """By candidate what tells its tokeniser apart, as it told the probe; null where it is not known."""
    rows = db.execute(
        f"SELECT candidate, min({_json_field('$.tokeniser', 'logprobs')}) FROM response_rows "
        "WHERE probe = ? AND status = 'ok' GROUP BY candidate",
        (probe, probe),
    )
    return dict(rows.fetchall())


def _json_field(path: str, column: str) -> str:
    """SQL for a value in the JSON of a probe's rows alone: a condition beside it may be tested too late."""
    return f"CASE WHEN probe = ? AND status = 'ok' THEN json_extract({column}, '{path}') END"


class Benchmark(NamedTuple):
    """A benchmark of the run: the spec it was read by, its signature and its card."""

    benchmark: str
    spec: str
    signature: str
    card: Card


def benchmarks(db: sqlite3.Connection) -> list[Benchmark]:
    """The benchmarks of the run."""
    rows = db.execute("SELECT benchmark, spec, signature, card FROM benchmarks ORDER BY benchmark")
    declared = [Benchmark(name, spec, signature, _card(card)) for name, spec, signature, card in rows]
    with decoding("the signature of a benchmark"):
        for benchmark in declared:
            signed(benchmark.signature)
    return declared


def _card(text: str) -> Card:
    subject = "the card of a benchmark"
    body = stored_object(text, subject)
    with decoding(subject):
        lists = {name: tuple(body.get(name, ())) for name in ("faults", "writers", "group_levels")}
        card = Card(**body | lists)
        texts = (getattr(card, f.name) for f in fields(Card) if f.name not in (*lists, "published"))
        if not all(text is None or isinstance(text, str) for text in (*chain(*lists.values()), *texts)):
            raise TypeError("a card holds text")
        if not isinstance(card.published, dict):
            raise TypeError("settings have names")
    return card


def candidates(db: sqlite3.Connection) -> list[Candidate]:
    """The candidates of the run in the order they came."""
    rows = db.execute("SELECT candidate, role FROM candidates ORDER BY candidate_id")
    return [Candidate(candidate=name, role=role) for name, role in rows]


def candidate_roles(db: sqlite3.Connection) -> dict[str, Role]:
    """The role of each candidate of the run."""
    return {entry.candidate: entry.role for entry in candidates(db)}


def findings(db: sqlite3.Connection, study: str) -> list[dict[str, Any]]:
    """What a study found in this run, oldest first: `made_at`, `settings`, `rows`."""
    rows = db.execute(
        "SELECT made_at, settings, rows FROM findings WHERE study = ? ORDER BY made_at, finding_id", (study,)
    )
    subject = f"a finding of {study}"
    return [
        {"made_at": made_at, "settings": stored_object(settings, subject), "rows": stored_rows(text, subject)}
        for made_at, settings, text in rows
    ]


def events(db: sqlite3.Connection, kind: str) -> list[dict[str, Any]]:
    """What happened to the run of this kind, oldest first: `made_at` and the event's own record."""
    rows = db.execute("SELECT made_at, body FROM events WHERE kind = ? ORDER BY made_at, event_id", (kind,))
    return [{"made_at": made_at, **stored_object(body, f"the event {kind!r}")} for made_at, body in rows]


_JOURNALS = {
    "findings": ("finding_id", ("made_at", "study", "settings", "rows")),
    "provenance": ("provenance_id", ("made_at", "verb", "body")),
}
"""By journal its key and the columns of its table, which hold text."""


def journal_rows(db: sqlite3.Connection, journal: Literal["findings", "provenance"]) -> "pl.DataFrame":
    """The rows of a journal as they are stored, the oldest first."""
    import polars as pl

    key, columns = _JOURNALS[journal]
    rows = db.execute(f"SELECT {', '.join(columns)} FROM {journal} ORDER BY made_at, {key}").fetchall()
    with decoding(f"a row of {journal}"):
        return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def event_texts(db: sqlite3.Connection, kind: str) -> list[str]:
    """The JSON of the events of this kind, in the order in which this run got them: a merge adds its own."""
    rows = db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (kind,))
    return [body for (body,) in rows]


_LAST_MERGE = "SELECT coalesce(max(provenance_id), 0) FROM provenance WHERE verb = 'merge'"


def verb_records(
    db: sqlite3.Connection, verb: str, subject: str, *, since_merge: bool = False
) -> list[dict[str, Any]]:
    """The records of one verb with `made_at`, in the order in which this run got them: a merge adds its own.

    With `since_merge` those that came after the last merge. `subject` names a record where it is damaged.
    """
    first = f"({_LAST_MERGE})" if since_merge else "0"
    rows = db.execute(
        f"SELECT made_at, body FROM provenance WHERE verb = ? AND provenance_id > {first} "
        "ORDER BY provenance_id",
        (verb,),
    )
    return [{**stored_object(body, subject), "made_at": made_at} for made_at, body in rows]


def provenance_times(db: sqlite3.Connection) -> tuple[str, str]:
    """When the run was first and last written to, in UTC."""
    first, last = db.execute("SELECT min(made_at), max(made_at) FROM provenance").fetchone()
    return first, last


def has_findings(db: sqlite3.Connection) -> bool:
    """Whether the run holds a finding of any study."""
    return db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is not None


def provenance(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """What was done to the run, oldest first: `made_at`, `verb`, and the verb's own record."""
    rows = db.execute("SELECT made_at, verb, body FROM provenance ORDER BY made_at, provenance_id")
    return [
        {"made_at": made_at, "verb": verb, **_provenance_record(body, f"the provenance of {verb}")}
        for made_at, verb, body in rows
    ]


def _provenance_record(text: str, subject: str) -> dict[str, Any]:
    record: dict[str, Any] = stored_object(text, subject)
    record.setdefault("changed", 0)
    with decoding(subject):
        counts = [use[name] for use in record.get("sent") or () for name in ("requests", "characters")]
        endpoints = [use["endpoint"] for use in record.get("sent") or ()]
        if not all(isinstance(n, int) for n in (record["changed"], *counts)):
            raise TypeError("a count is a whole number")
        if not all(isinstance(endpoint, str) for endpoint in endpoints):
            raise TypeError("an endpoint has a name")
    return record
