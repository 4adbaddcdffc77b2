"""The one door to the table of scores, which keeps a checksum for each measure and candidate.

Each score row is mixed into one 64-bit number: its response and to which item, repeat and edit that is, the
names of its unit and ballot, its pass, position, status and the bits of its value. A checksum is the sum of
these numbers modulo 2^64, so that the order of rows does not matter and a row can be added or taken away. The
texts of `parts` and `note`, and the passages that a score rests on, have a second sum. What the measure
declares and the candidate's name are hashed beside them.
"""

import functools
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.evidence import Evidence
from vivavoce.store.damage import decoding
from vivavoce.store.passages import ScoreKey, evidence_column, put_evidence
from vivavoce.store.schema import STATUSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]

Group = tuple[int, int]
"""The keys of a measure and a candidate; 0 stands for the candidate of a response that is not there."""
COLUMNS = (
    *("measure_id", "response_id", "unit_id", "ballot_id", "pass_no", "position", "value", "status_id"),
    *("parts", "note"),
)
"""The columns of a score row in the table, in which order this module takes it."""
CHUNK = 65_536
MASK = (1 << 64) - 1
_FACTOR = {
    name: int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") | 1
    for name in (*COLUMNS, "item_id", "repeat", "edit_id")
}
"""An odd factor for each field: multiplied by it modulo 2^64, no two values of the field are the same."""
_INSERT = f"INSERT INTO scores ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_REPLACE_FAILED = (
    f"{_INSERT} ON CONFLICT (measure_id, response_id, unit_id, ballot_id, pass_no) DO UPDATE SET "
    f"{', '.join(f'{name} = excluded.{name}' for name in COLUMNS[5:])} WHERE scores.status_id = 3"
)


class Checksum(NamedTuple):
    """The number of score rows of a group, the sum over them, and the sum over their details."""

    rows: int = 0
    scores: int = 0
    details: int = 0

    def plus(self, addend: "Checksum", sign: int = 1) -> "Checksum":
        """Both together; with the sign -1, without the rows of `addend`."""
        return Checksum(
            self.rows + sign * addend.rows,
            (self.scores + sign * addend.scores) & MASK,
            (self.details + sign * addend.details) & MASK,
        )


Checksums = dict[Group, Checksum]


class ScoreArrays(NamedTuple):
    """Score rows as arrays of equal length: int64, `value` float64. A null position or value is 0 there.

    `details` (uint64) are hashes of parts, note and evidence, 0 where a row has none of them.
    """

    measure_id: "Column"
    response_id: "Column"
    unit_id: "Column"
    ballot_id: "Column"
    pass_no: "Column"
    position: "Column"
    has_position: "Column"
    value: "Column"
    status_id: "Column"
    details: "Column"


class ResponseArrays(NamedTuple):
    """Responses as int64 arrays of equal length, by ascending `response_id`."""

    response_id: "Column"
    item_id: "Column"
    candidate_id: "Column"
    repeat: "Column"
    edit_id: "Column"


class NameArrays(NamedTuple):
    """The names of units or ballots: their keys (int64, ascending), and a hash of each (uint64)."""

    key: "Column"
    hash: "Column"

    def hashes_of(self, keys: "Column") -> "Column":
        """The hashes of the names of these keys, 0 where there is none."""
        import numpy as np

        place = np.searchsorted(self.key, keys)
        matches = np.append(self.key, -1)[place] == keys
        return np.where(matches, np.append(self.hash, np.uint64(0))[place], np.uint64(0))


class Dimensions(NamedTuple):
    """What the keys of score rows stand for."""

    responses: ResponseArrays
    units: NameArrays
    ballots: NameArrays


def insert_scores(
    db: sqlite3.Connection,
    measure: int,
    rows: Sequence[tuple[Any, ...]],
    evidence: Mapping[ScoreKey, Sequence[Evidence]],
) -> None:
    """Store score rows of one measure, in the order of `COLUMNS`, and what they rest on.

    Only a failed one is ever replaced, with all that it rested on.
    """
    if not rows:
        return
    keys = json.dumps(list({row[1] for row in rows}))
    stored: Sequence[tuple[Any, ...]] = ()
    db.execute("SAVEPOINT new_scores")
    try:
        db.executemany(_INSERT, rows)
        covered = put_evidence(db, evidence)
        scores = _arrays([(*row, covered.get(row[:5])) for row in rows])
    except sqlite3.IntegrityError:  # a row is there already, or breaks a rule: then it fails again below
        db.execute("ROLLBACK TO new_scores")
        condition, values = (
            "measure_id = ? AND response_id IN (SELECT value FROM json_each(?))",
            (measure, keys),
        )
        stored = list(_stored_rows(db, condition, values))
        db.executemany(_REPLACE_FAILED, rows)
        unchanged = {row[:5] for row in stored if row[7] != STATUSES.index("failed")}
        put_evidence(db, {row[:5]: evidence.get(row[:5], ()) for row in rows if row[:5] not in unchanged})
        scores = _decoded(list(_stored_rows(db, condition, values)))
    db.execute("RELEASE new_scores")
    _change(db, _sums(db, _decoded(stored)), _sums(db, scores))


def delete_scores(db: sqlite3.Connection, condition: str, values: Sequence[Any] = ()) -> None:
    """Delete the score rows that an SQL condition selects."""
    rows = list(_stored_rows(db, condition, values))
    if rows:
        db.execute(f"DELETE FROM scores WHERE {condition}", values)
        _change(db, _sums(db, _decoded(rows)), {})


def delete_scores_of(db: sqlite3.Connection, response: int) -> None:
    """Delete all scores of a response. The key begins with the measure: without it, all rows were read."""
    delete_scores(db, "measure_id IN (SELECT measure_id FROM measures) AND response_id = ?", (response,))


def renew_checksums(db: sqlite3.Connection, candidates: str = "true") -> None:
    """Work out the checksums of the candidates that an SQL condition selects, by default all, anew."""
    db.execute(f"DELETE FROM score_checksums WHERE {candidates}")
    scored = f"response_id IN (SELECT response_id FROM responses WHERE {candidates})"
    _change(db, {}, stored_sums(db, "true" if candidates == "true" else scored))


def stored_sums(db: sqlite3.Connection, condition: str = "true", values: Sequence[Any] = ()) -> Checksums:
    """The checksums of the score rows that an SQL condition selects, by default all."""
    if not db.execute("SELECT EXISTS (SELECT 1 FROM scores)").fetchone()[0]:
        return {}
    sums = RowSums(Dimensions(_responses(db), _names(db, "unit", "text"), _names(db, "ballot", "NULL")))
    rows = _stored_rows(db, condition, values)
    while chunk := list(islice(rows, CHUNK)):
        sums.add(_decoded(chunk))
    return sums.checksums


class RowSums:
    """The checksums of score rows that come in parts; what their keys stand for is worked out once."""

    def __init__(self, dimensions: Dimensions) -> None:
        import numpy as np

        self.checksums: Checksums = {}
        responses, self._units, self._ballots = dimensions
        self._keys = np.append(responses.response_id, -1)
        # What is the same for all scores of a response; the last stands for no response.
        of_response = {k: v for k, v in responses._asdict().items() if k != "candidate_id"}
        self._shared = np.append(_linear(**of_response), np.uint64(0))
        people, person = np.unique(responses.candidate_id, return_inverse=True)
        self._people, self._person = np.append(people, 0), np.append(person, len(people))

    def add(self, scores: ScoreArrays) -> None:
        """Add score rows to the checksums."""
        import numpy as np

        # Without the counts, NumPy would load its masked arrays, which takes longer than all else here.
        measures, _ = np.unique(scores.measure_id, return_counts=True)
        for start in range(0, len(scores.measure_id), CHUNK):
            part = ScoreArrays(*(column[start : start + CHUNK] for column in scores))
            place = np.searchsorted(self._keys[:-1], part.response_id)
            place[self._keys[place] != part.response_id] = len(self._keys) - 1
            keys = self._shared[place] + _linear(
                measure_id=part.measure_id, pass_no=part.pass_no,
                unit_id=self._units.hashes_of(part.unit_id),
                ballot_id=self._ballots.hashes_of(part.ballot_id),
            )  # fmt: skip
            state = part.status_id * 2 + part.has_position
            bits = (part.value + 0.0).view(np.uint64)  # SQLite keeps no sign of a zero
            contents = _linear(position=part.position, status_id=state, value=bits ^ (bits >> np.uint64(32)))
            details = np.where(part.details, _mixed(keys + part.details), np.uint64(0))
            group = np.searchsorted(measures, part.measure_id) * len(self._people) + self._person[place]
            for number, checksum in _by_group(group, _mixed(keys + contents), details):
                measure, candidate = divmod(number, len(self._people))
                _add(self.checksums, {(int(measures[measure]), int(self._people[candidate])): checksum})


def _linear(**fields: "Column") -> "Column":
    import numpy as np

    terms = [column.view(np.uint64) * np.uint64(_FACTOR[name]) for name, column in fields.items()]
    total: Column = functools.reduce(np.add, terms)
    return total


def _mixed(numbers: "Column") -> "Column":
    """Each number mixed so that a change of any bit changes half of all: the finaliser of MurmurHash3."""
    import numpy as np

    mixed: Column = numbers ^ (numbers >> np.uint64(33))
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(33)
    return mixed


def _by_group(group: "Column", scores: "Column", details: "Column") -> Iterator[tuple[int, Checksum]]:
    """The sums of at most `CHUNK` numbers by group; halves are added apart, where no sum exceeds 2^53."""
    import numpy as np

    rows = np.bincount(group)
    halves = [
        np.bincount(group, weights=half.astype(np.float64))
        for numbers in (scores, details)
        for half in (numbers & np.uint64(0xFFFFFFFF), numbers >> np.uint64(32))
    ]
    for number in np.flatnonzero(rows):
        low, high, details_low, details_high = (int(half[number]) for half in halves)
        yield (
            int(number),
            Checksum(
                int(rows[number]), (low + (high << 32)) & MASK, (details_low + (details_high << 32)) & MASK
            ),
        )


def text_hash(parts: str | None, note: str | None, evidence: str | None = None) -> int:
    """64 bits of a hash of the texts, never 0 but where there is none."""
    if parts is None and note is None and evidence is None:
        return 0
    text = f"{'-' if parts is None else len(parts)}:{parts}{'' if note is None else f':{note}'}"
    text = text if evidence is None else f"e{len(evidence)}:{evidence}{text}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


def _arrays(rows: Sequence[tuple[Any, ...]]) -> ScoreArrays:
    import numpy as np

    names = (*COLUMNS, "evidence")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    measure, response, unit, ballot, pass_no = (np.array(columns[name], np.int64) for name in COLUMNS[:5])
    texts = zip(columns["parts"], columns["note"], columns["evidence"], strict=True)
    return ScoreArrays(
        *(measure, response, unit, ballot, pass_no),
        position=np.array([0 if place is None else place for place in columns["position"]], np.int64),
        has_position=np.array([place is not None for place in columns["position"]], np.bool_),
        value=np.array([0.0 if value is None else value for value in columns["value"]], np.float64),
        status_id=np.array(columns["status_id"], np.int64),
        details=np.array([text_hash(*row) for row in texts], np.uint64),
    )


def _decoded(rows: Sequence[tuple[Any, ...]]) -> ScoreArrays:
    """The columns of stored rows. Raises `DamagedValue` where they hold what no table of ours takes."""
    with decoding("a score"):
        return _arrays(rows)


def _stored_rows(
    db: sqlite3.Connection, condition: str, values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    columns = f"{', '.join(COLUMNS)}, {evidence_column(db)}"
    return db.execute(f"SELECT {columns} FROM scores WHERE {condition}", values)


def _sums(db: sqlite3.Connection, scores: ScoreArrays) -> Checksums:
    """The checksums of score rows, for which what their keys stand for is read."""
    if not len(scores.measure_id):
        return {}
    responses, units, ballots = (
        json.dumps(list(set(column.tolist())))
        for column in (scores.response_id, scores.unit_id, scores.ballot_id)
    )
    dimensions = (
        _responses(db, responses),
        _names(db, "unit", "text", units),
        _names(db, "ballot", "NULL", ballots),
    )
    sums = RowSums(Dimensions(*dimensions))
    sums.add(scores)
    return sums.checksums


def _names(db: sqlite3.Connection, name: str, text: str, keys: str | None = None) -> NameArrays:
    """The units or ballots of these keys, a JSON list, or all."""
    condition = "" if keys is None else f" WHERE {name}_id IN (SELECT value FROM json_each(?))"
    rows = db.execute(
        f"SELECT {name}_id, {name}, {text} FROM {name}s{condition} ORDER BY {name}_id",
        () if keys is None else (keys,),
    )
    with decoding(f"the name of a {name}"):
        return names_of(rows.fetchall())


def names_of(rows: Sequence[tuple[int, str, str | None]]) -> NameArrays:
    """The names of units or ballots from rows of key, name and text, by ascending key."""
    import numpy as np

    keys, hashes = [row[0] for row in rows], [text_hash(name, text) for _, name, text in rows]
    return NameArrays(np.array(keys, np.int64), np.array(hashes, np.uint64))


def _responses(db: sqlite3.Connection, keys: str | None = None) -> ResponseArrays:
    """The responses of these keys, a JSON list, or all."""
    import numpy as np

    condition = "" if keys is None else " WHERE response_id IN (SELECT value FROM json_each(?))"
    rows = db.execute(
        f"SELECT {', '.join(ResponseArrays._fields)} FROM responses{condition} ORDER BY response_id",
        () if keys is None else (keys,),
    )
    with decoding("the keys of an answer"):
        table = np.array(rows.fetchall(), np.int64).reshape(-1, len(ResponseArrays._fields))
    return ResponseArrays(*np.ascontiguousarray(table.T))


def _add(sums: Checksums, addends: Checksums, sign: int = 1) -> None:
    for group, checksum in addends.items():
        sums[group] = sums.get(group, Checksum()).plus(checksum, sign)


def _change(db: sqlite3.Connection, old: Checksums, new: Checksums) -> None:
    """Take the rows `old` out of the stored checksums, and put those `new` in."""
    if old == new:
        return
    delta = dict(new)
    _add(delta, old, -1)
    for key, change in delta.items():
        declared = declaration(db, key)
        if declared is None:
            continue
        row = db.execute(
            "SELECT rows, scores, details FROM score_checksums WHERE (measure_id, candidate_id) = (?, ?)", key
        ).fetchone()
        checksum = Checksum(*row or ()).plus(change)
        if checksum.rows == 0:
            db.execute("DELETE FROM score_checksums WHERE (measure_id, candidate_id) = (?, ?)", key)
        else:
            signed = (checksum.rows, _signed(checksum.scores), _signed(checksum.details))
            db.execute(
                "INSERT INTO score_checksums VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "(rows, scores, details) = (excluded.rows, excluded.scores, excluded.details)",
                (*key, *signed, _signed(declared)),
            )


def _signed(number: int) -> int:
    """The number as SQLite's integers hold it."""
    return number - (1 << 64) if number >> 63 else number


def declaration(db: sqlite3.Connection, group: Group) -> int | None:
    """64 bits of a hash of all that is declared of a measure, and of the candidate's name; null if the run
    lacks one of them.
    """
    row = db.execute(
        "SELECT metric, signature, criterion, rater, low, high, direction, if_unanswered, pool, "
        "smallest_difference, candidate FROM measures, candidates WHERE (measure_id, candidate_id) = (?, ?)",
        group,
    ).fetchone()
    if row is None:
        return None
    with decoding("the declaration of a measure"):
        digest = hashlib.blake2b(json.dumps(row).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
