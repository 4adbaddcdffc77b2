"""What recorded answers show only all together: many were cut at one length, or line ends stand escaped.

Whoever wrote them down kept so many characters of each, or wrote a line end as a backslash and an n. Nothing
says so in a file, so it is looked for when it has come in.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from vivavoce.core.parts import ESCAPED, made_parts
from vivavoce.core.records import Response
from vivavoce.core.text import n_escaped
from vivavoce.store.hashes import rehash_responses
from vivavoce.store.item_rows import json_text

LEAST_ANSWERS, LEAST_SHARE = 5, 0.05
"""How many answers, and which share of a candidate's, must have the greatest length."""
LEAST_LENGTH = 60
"""Characters of the greatest length: short answers may well be of one length."""
LEAST_OPEN = 0.8
"""The share of them that must stop in mid-sentence."""
LEAST_ESCAPED = 2
"""Escaped line ends that a candidate's answers must hold together: one may be a typing error."""
_SPARE = 2  # blanks at the end may have been cut off afterwards
_TAIL = 10
_CLOSED = re.compile(r"[.!?…:;。！？।॥)\]}>\"'”’»*_`|]\s*\Z")


@dataclass
class Recorded:
    """Of which candidates answers came in with escaped line ends, and how many of each."""

    escaped: dict[str, int] = field(default_factory=dict)


@contextmanager
def parting_recorded(db: sqlite3.Connection) -> Iterator[Recorded]:
    """Part those answers that came within the block as all of them together show it; gives what was found.

    Where no text of a candidate has a line end inside, and some have escaped ones, these are line ends of the
    final part. `cut` is stored as the ending of those that stop at one length; answers whose ending is known
    stay as they are, and are not counted. Templates are of one length too: the ends of texts must differ as
    those of cut sentences do.
    """
    (last,) = db.execute("SELECT coalesce(max(response_id), 0) FROM responses").fetchone()
    recorded = Recorded()
    yield recorded
    candidates = db.execute(
        "SELECT DISTINCT candidate_id, candidate FROM responses JOIN candidates USING (candidate_id) "
        "WHERE response_id > ?",
        (last,),
    )
    keys: list[int] = []
    for candidate, name in candidates.fetchall():
        if escaped := _escaped_answers(db, candidate, last):
            recorded.escaped[name] = len(escaped)
        cut = _cut_answers(db, candidate, last)
        db.executemany("UPDATE responses SET ending = 'cut' WHERE response_id = ?", ((key,) for key in cut))
        keys += [*escaped, *cut]
    if keys:
        rehash_responses(db, keys)


def _escaped_answers(db: sqlite3.Connection, candidate: int, last: int) -> list[int]:
    """The answers whose line ends stand escaped, which are parted anew."""
    answers = "FROM responses WHERE response_id > ? AND candidate_id = ? AND text IS NOT NULL AND edit_id = 0"
    values = (last, candidate)
    # A line end at an end of a text says nothing of those inside.
    has_line_ends = f"SELECT EXISTS (SELECT 1 {answers} AND instr(trim(text, ' \n\r\t'), char(10)) > 0)"
    if db.execute(has_line_ends, values).fetchone()[0]:
        return []
    rows = db.execute(f"SELECT response_id, text {answers} AND instr(text, '\\n') > 0", values)
    counts = {key: n for key, text in rows if (n := n_escaped(text))}
    if sum(counts.values()) < LEAST_ESCAPED:
        return []
    for key in counts:
        _part_with_line_ends(db, key)
    return [*counts]


def _part_with_line_ends(db: sqlite3.Connection, key: int) -> None:
    text, status, reasoning, finish_reason, meta, ending, form = db.execute(
        "SELECT text, r.status, reasoning, finish_reason, r.meta, ending, format FROM responses r "
        "JOIN items USING (item_id) WHERE response_id = ?",
        (key,),
    ).fetchone()
    details = {**json.loads(meta), ESCAPED: True}
    response = Response(
        benchmark="", item="", candidate="", status=status, text=text, reasoning=reasoning,
        finish_reason=finish_reason, meta=details,
    )  # fmt: skip
    final, made_ending = made_parts(response, form)
    db.execute(
        "UPDATE responses SET final = ?, ending = ?, meta = ? WHERE response_id = ?",
        (final, made_ending or ending, json_text(details), key),
    )


def _cut_answers(db: sqlite3.Connection, candidate: int, last: int) -> list[int]:
    answers = (
        "FROM responses WHERE response_id > :last AND candidate_id = :candidate AND ending IS NULL "
        "AND text IS NOT NULL AND edit_id = 0"
    )
    values = {"last": last, "candidate": candidate}
    n, longest = db.execute(f"SELECT count(*), max(length(text)) {answers}", values).fetchone()
    if n < LEAST_ANSWERS or longest < LEAST_LENGTH:
        return []
    rows = db.execute(
        f"SELECT response_id, substr(text, -{_TAIL}) {answers} AND length(text) >= :least",
        values | {"least": longest - _SPARE},
    ).fetchall()
    open_ends = {key: tail for key, tail in rows if not _CLOSED.search(tail)}
    is_cut = (
        len(rows) >= max(LEAST_ANSWERS, LEAST_SHARE * n)
        and len(open_ends) >= LEAST_OPEN * len(rows)
        and len(set(open_ends.values())) > len(open_ends) / 2
    )
    return list(open_ends) if is_cut else []
