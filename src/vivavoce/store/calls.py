"""Calls to models: what was asked and what it cost, the answers as they come, and who may ask.

An answer and its call are stored in one transaction, with those that came at the same time, on a connection
that stays open: an answer costs a fraction of a millisecond, and a killed process loses nothing that was
stored.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.core.records import Item, Response
from vivavoce.store.checksums import delete_scores_of
from vivavoce.store.name_keys import candidate_keys
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import ANSWER, TOLD, response_fields

if TYPE_CHECKING:
    from vivavoce.store.runfile import RunFile


class CallRecord(NamedTuple):
    """One request to a model and what came of it.

    `reply` is null where the answer stands as a response. A reply that could not be used is a failed call
    whose `error` says why, and it is kept all the same.
    """

    key: str
    model: str
    endpoint: str
    repeat: int
    kind: str
    purpose: str
    status: str
    attempts: int
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    error: str | None
    reply: str | None


_HERE = "SELECT response_id FROM responses WHERE (item_id, candidate_id, repeat, edit_id) = (?, ?, ?, ?)"
_CALL = (
    f"INSERT INTO calls ({', '.join(CallRecord._fields)}, response_id) "
    f"VALUES ({', '.join('?' * len(CallRecord._fields))}, ({_HERE}))"
)
_TOLD = (
    f"INSERT INTO calls ({', '.join(CallRecord._fields)}) VALUES ({', '.join('?' * len(CallRecord._fields))})"
)
_RESPONSE = (
    f"INSERT INTO responses (item_id, candidate_id, repeat, edit_id, {', '.join(ANSWER)}) "
    f"VALUES (?, ?, ?, ?, {', '.join('?' * len(ANSWER))}) "
    "ON CONFLICT (item_id, candidate_id, repeat, edit_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ANSWER)
    + " WHERE responses.status = 'failed'"
)
_FAILURES = (
    "SELECT response_id FROM json_each(?) CROSS JOIN responses "
    "ON (item_id, candidate_id, repeat, edit_id) = (json_extract(value, '$[0]'), "
    "json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]')) "
    "WHERE status = 'failed'"
)
_KNOWN = ("status", "text", "reasoning", "finish_reason", "tokens", "meta")


class Ledger:
    """An open run that takes answers as they come, each with its call in one transaction."""

    def __init__(self, run: "RunFile", db: sqlite3.Connection) -> None:
        self._run, self.db = run, db
        self._candidates = candidate_keys(db)
        self._forms = {"": 0}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block is stored, or none of it; within another transaction it is a part of that."""
        if self.db.in_transaction:
            yield
            return
        with self._run.explained():
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                self._forms = {"": 0}  # a new one's row has gone with the rest
                raise

    def put(self, item: Item, response: Response, call: CallRecord | None) -> None:
        """Store both. A response replaces an earlier failure and its scores, never an answer.

        What a probe told comes of several calls, which are stored by themselves: it has none of its own.
        It answers the version of the item that was asked, though there may be a newer one by now.
        """
        self.put_all([(item, response, call)])

    def put_all(self, answers: Sequence[tuple[Item, Response, CallRecord | None]]) -> None:
        """Store responses with their calls, as `put` does, in one transaction."""
        if not answers:
            return
        with self.transaction():
            keys, rows = [], []
            items = self._items([item for item, _, _ in answers])
            for item, response, _ in answers:
                candidate = self._candidates[response.candidate]
                item_id = items[item.benchmark, item.item, item.variant, item.hash]
                keys.append((item_id, candidate, response.repeat, self._form(response.probe)))
                rows.append((*keys[-1], *response_fields(item.hash, item.format, response)))
            for (failure,) in self.db.execute(_FAILURES, (json.dumps(keys),)).fetchall():
                delete_scores_of(self.db, failure)
            self.db.executemany(_RESPONSE, rows)
            calls = zip(answers, keys, strict=True)
            self.db.executemany(_CALL, [(*call, *key) for (_, _, call), key in calls if call])

    def _items(self, items: Sequence[Item]) -> dict[tuple[str, str, str, str], int]:
        """By benchmark, item, variant and hash the key of each item: of its last version that reads so."""
        marks = ", ".join(["(?, ?, ?, ?)"] * len(items))
        rows = self.db.execute(
            f"WITH wanted (benchmark, item, variant, hash) AS (VALUES {marks}) "
            "SELECT w.benchmark, w.item, w.variant, w.hash, item_id FROM wanted w CROSS JOIN benchmarks b "
            "USING (benchmark) CROSS JOIN items i ON (i.benchmark_id, i.item, i.variant) = "
            "(b.benchmark_id, w.item, w.variant) AND i.hash = w.hash ORDER BY i.version",
            [name for i in items for name in (i.benchmark, i.item, i.variant, i.hash)],
        )
        return {(benchmark, item, variant, digest): key for benchmark, item, variant, digest, key in rows}

    def _form(self, probe: str) -> int:
        """The key of answers in words, or of what a probe told."""
        if probe not in self._forms:
            row = (f"{TOLD}{probe}", probe)
            self.db.execute("INSERT INTO edits (edit, probe) VALUES (?, ?) ON CONFLICT DO NOTHING", row)
            form = self.db.execute("SELECT edit_id FROM edits WHERE probe = ?", (probe,)).fetchone()
            if form is None:
                raise StoreError(
                    f"{self._run.path} holds answers whose edit is called {row[0]!r}, a name that is for "
                    "what a model told of its probabilities: use another run."
                )
            self._forms[probe] = form[0]
        return self._forms[probe]

    def keep(self, call: CallRecord) -> None:
        """Store a call whose reply stands in it."""
        with self.transaction():
            put_call(self.db, call)

    def stored_replies(self, purpose: str, keys: Collection[str], model: str) -> dict[str, str]:
        """By key the replies to equal requests of that purpose, as JSON, that can be used."""
        return stored_replies(self.db, purpose, keys, model, 1)

    def stored_responses(
        self, requests: Sequence[tuple[str, int]], model: str
    ) -> dict[tuple[str, int], dict[str, Any]]:
        """By key and repeat what came of these requests before, of those that were answered: the fields of
        responses.
        """
        rows = self.db.execute(
            f"SELECT c.key, c.repeat, {', '.join(f'r.{name}' for name in _KNOWN)} FROM json_each(?) k "
            "CROSS JOIN calls c ON (c.key, c.model, c.repeat) = (json_extract(k.value, '$[0]'), ?, "
            "json_extract(k.value, '$[1]')) AND c.status != 'failed' "
            "CROSS JOIN responses r USING (response_id)",
            (json.dumps(requests), model),
        )
        stored: dict[tuple[str, int], dict[str, Any]] = {}
        for key, repeat, *values in rows:
            response = dict(zip(_KNOWN, values, strict=True))
            response["meta"] = stored_object(response["meta"], "what stands beside an answer")
            stored.setdefault((key, repeat), response)
        return stored


def put_call_of_response(
    db: sqlite3.Connection, call: CallRecord, item: int, candidate: int, repeat: int
) -> None:
    """Store a call beside the answer in words that it brought, which is there by its keys."""
    db.execute(_CALL, (*call, item, candidate, repeat, 0))


def put_call(db: sqlite3.Connection, call: CallRecord) -> None:
    """Store a call whose reply is no candidate's answer."""
    db.execute(_TOLD, call)


def put_calls(db: sqlite3.Connection, calls: Sequence[CallRecord], *, late: bool = False) -> None:
    """Store calls whose replies are no candidate's answers, all of them or none.

    Of equal requests the last usable reply counts. `late` ones come from a process that lost its lease: what
    they took is stored, and their replies only where none is, as scores may rest on the one that is.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        db.executemany(_TOLD, [_reply_kept(db, call) for call in calls] if late else calls)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _reply_kept(db: sqlite3.Connection, call: CallRecord) -> CallRecord:
    """The call, without its reply where an equal request has a usable one."""
    equal = (call.purpose, call.key, call.model, call.repeat)
    is_known = call.status != "failed" and stored_reply(db, *equal) is not None
    return call._replace(reply=None) if is_known else call


def stored_reply(db: sqlite3.Connection, purpose: str, key: str, model: str, repeat: int) -> str | None:
    """The last reply of a model to an equal request of that purpose that could be used; null if none."""
    return stored_replies(db, purpose, [key], model, repeat).get(key)


def stored_replies(
    db: sqlite3.Connection, purpose: str, keys: Collection[str], model: str, repeat: int
) -> dict[str, str]:
    """By key the last replies of a model to equal requests of that purpose that could be used."""
    rows = db.execute(
        "SELECT k.value, (SELECT reply FROM calls WHERE (purpose, key, model, repeat) = (?, k.value, ?, ?) "
        "AND reply IS NOT NULL AND status != 'failed' ORDER BY call_id DESC LIMIT 1) "
        "FROM json_each(?) k",
        (purpose, model, repeat, json.dumps(list(keys))),
    )
    return {key: str(reply) for key, reply in rows if reply is not None}


def unusable_replies(db: sqlite3.Connection, purpose: str, model: str, repeat: int) -> dict[str, int]:
    """By key of the request the last call of that purpose whose reply came and could not be used."""
    return dict(
        db.execute(
            "SELECT key, max(call_id) FROM calls WHERE status = 'failed' AND reply IS NOT NULL "
            "AND (purpose, model, repeat) = (?, ?, ?) GROUP BY key",
            (purpose, model, repeat),
        )
    )


def reply_of_call(db: sqlite3.Connection, call_id: int) -> str:
    """The reply of a call that has one, as JSON."""
    (reply,) = db.execute("SELECT reply FROM calls WHERE call_id = ?", (call_id,)).fetchone()
    return str(reply)


def last_call(
    db: sqlite3.Connection, purpose: str, key: str, model: str, repeat: int
) -> tuple[int | None, int | None, float | None, int | None] | None:
    """Input and output tokens, cost and length of the reply of the last equal call of that purpose; of a
    usable one where there is one. Null if none was made.
    """
    for status in ("!=", "="):  # apart, so that the first finds its index
        row: tuple[int | None, int | None, float | None, int | None] | None = db.execute(
            "SELECT input_tokens, output_tokens, cost, length(json_extract(reply, '$.text')) FROM calls "
            f"WHERE (purpose, key, model, repeat) = (?, ?, ?, ?) AND status {status} 'failed' "
            "ORDER BY call_id DESC LIMIT 1",
            (purpose, key, model, repeat),
        ).fetchone()
        if row:
            return row
    return None


@contextmanager
def ledger(run: "RunFile") -> Iterator[Ledger]:
    """The run, open for answers; its items and candidates are there already."""
    with run.connected() as db:
        yield Ledger(run, db)


def lease(
    run: "RunFile",
    works: Sequence[str],
    holder: str,
    seconds: float,
    *,
    gone: Callable[[str], bool] = lambda lease_holder: False,
) -> str | None:
    """Take or renew the right to do these works; else the name of the one who holds one of them.

    What a holder has that is `gone` is free. So is what ends more than two lease times from now: a clock that
    goes right never set it so, and a holder that lives renews it by the right clock.
    """
    with run.writing() as db:
        moment = time.time()
        for work in works:
            lease_holder = db.execute(
                "SELECT holder FROM leases WHERE work = ? AND holder != ? AND until > ? AND until <= ?",
                (work, holder, moment, moment + 2 * seconds),
            ).fetchone()
            if lease_holder and not gone(str(lease_holder[0])):
                return str(lease_holder[0])
        db.executemany(
            "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (work) DO UPDATE SET holder = excluded.holder, "
            "until = excluded.until",
            [(work, holder, moment + seconds) for work in works],
        )
    return None


def release(run: "RunFile", works: Sequence[str], holder: str) -> None:
    """Give the works back."""
    with run.writing() as db:
        db.executemany("DELETE FROM leases WHERE work = ? AND holder = ?", [(w, holder) for w in works])
