"""Recorded answers that were cut, and nothing says so: many stop at one length in the middle of a sentence.

Whoever wrote them down kept so many characters of each. That is seen in all of them together, so it is looked
for when a file has come in.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from vivavoce.store.hashes import rehash_responses

LEAST_ANSWERS, LEAST_SHARE = 5, 0.05
"""How many answers, and which share of a candidate's, must have the greatest length."""
LEAST_LENGTH = 60
"""Characters of the greatest length: short answers may well be of one length."""
LEAST_OPEN = 0.8
"""The share of them that must stop in mid-sentence."""
_SPARE = 2  # blanks at the end may have been cut off afterwards
_TAIL = 10
_CLOSED = re.compile(r"[.!?…:;。！？।॥)\]}>\"'”’»*_`|]\s*\Z")


@contextmanager
def marking_cut_answers(db: sqlite3.Connection) -> Iterator[None]:
    """Store `cut` as the ending of those answers that came within the block and stop so.

    Answers whose ending is known stay as they are, and are not counted. Templates are of one length too: the
    ends of texts must differ as those of cut sentences do.
    """
    (last,) = db.execute("SELECT coalesce(max(response_id), 0) FROM responses").fetchone()
    yield
    of_candidates = db.execute("SELECT DISTINCT candidate_id FROM responses WHERE response_id > ?", (last,))
    keys = [key for (candidate,) in of_candidates.fetchall() for key in _cut_answers(db, candidate, last)]
    db.executemany("UPDATE responses SET ending = 'cut' WHERE response_id = ?", ((key,) for key in keys))
    if keys:
        rehash_responses(db, keys)


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
