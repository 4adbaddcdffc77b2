"""Merging with a run that still holds what this one has forgotten: the words do not come back."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.run.exchange.export_folder import draft_folder
from vivavoce.run.forget import overwrite
from vivavoce.store import forgetting
from vivavoce.store.forgotten import IS_FORGOTTEN, has_scores
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import ANSWER
from vivavoce.studies.text import count

Key = tuple[str | int, ...]
"""Benchmark, item and variant; of an answer also candidate, repeat and edit."""
_ITEM_KEY = "benchmark, item, variant"
_ITEMS = "SELECT {columns} FROM items i JOIN benchmarks USING (benchmark_id) WHERE i.current = 1"
_ANSWER_KEY = f"{_ITEM_KEY}, candidate, repeat, edit"
_ANSWERS = (
    "SELECT {columns} FROM responses r JOIN items i USING (item_id) JOIN benchmarks USING (benchmark_id) "
    "JOIN candidates USING (candidate_id) JOIN edits USING (edit_id) WHERE i.current = 1"
)
_TEXTS = (
    'hash, question, messages, options, answer, "references", must, nice, steps, false_answer, rubric, '
    "context, source, meta"
)
_OF_ANSWER = ", ".join(f"r.{name}" for name in ANSWER)


class _Rows(NamedTuple):
    """By key the rows that a run has forgotten, in the columns `_TEXTS` and `ANSWER`."""

    items: Mapping[Key, tuple[object, ...]]
    answers: Mapping[Key, tuple[object, ...]]


@contextmanager
def without_forgotten(target: RunFile, source: RunFile) -> Iterator[tuple[RunFile, str]]:
    """The run to merge in place of `source`, and a sentence on what it leaves out, '' for nothing.

    It is a copy of `source` that has forgotten what `target` has, for the time of the block. Raises
    `InputError` where `source` has forgotten what `target` still holds.
    """
    if not (target.exists and source.exists):
        yield source, ""
        return
    with target.reading() as db, source.reading() as theirs:
        ours = _forgotten_rows(db)
        _refuse_held(db, theirs, target, source)
        held = _held(theirs, ours)
    if not held:
        yield source, ""
        return
    with draft_folder(target.path.with_name(f"{target.path.name}.merge")) as draft:
        copy = RunFile(draft / "theirs.viva")
        source.copy(copy.path)
        with copy.writing() as db:
            _forget_again(db, ours)
        yield (
            copy,
            f"What was forgotten here stays so: {source.path} still holds {count(held, 'text')} of it.",
        )


def _forgotten_rows(db: sqlite3.Connection) -> _Rows:
    n_key, n_answer_key = 3, 6
    items = db.execute(
        f"{_ITEMS.format(columns=f'{_ITEM_KEY}, {_TEXTS}')} AND {IS_FORGOTTEN.format('i')}"
    ).fetchall()
    answers = db.execute(
        f"{_ANSWERS.format(columns=f'{_ANSWER_KEY}, {_OF_ANSWER}')} AND {IS_FORGOTTEN.format('r')}"
    ).fetchall()
    return _Rows(
        {row[:n_key]: row[n_key:] for row in items},
        {row[:n_answer_key]: row[n_answer_key:] for row in answers},
    )


def _refuse_held(
    db: sqlite3.Connection, theirs: sqlite3.Connection, target: RunFile, source: RunFile
) -> None:
    """Raise `InputError` for what the source has forgotten and the target has not."""
    of_theirs = _forgotten_rows(theirs)
    for option, sql, keys in (
        (
            "--item {1}",
            f"{_ITEMS.format(columns=_ITEM_KEY)} AND NOT {IS_FORGOTTEN.format('i')}",
            of_theirs.items,
        ),
        (
            "--response {3}:{1}:{4}",
            f"{_ANSWERS.format(columns=_ANSWER_KEY)} AND NOT {IS_FORGOTTEN.format('r')} AND r.status = 'ok'",
            of_theirs.answers,
        ),
    ):
        if keys and (held := [key for key in db.execute(sql) if key in keys]):
            raise InputError(
                f"{source.path} has forgotten {count(len(held), 'text')} that {target.path} still holds: "
                f"`viva forget {target.path} {option.format(*held[0])}` first. Nothing was merged."
            )


def _held(theirs: sqlite3.Connection, ours: _Rows) -> int:
    """How many texts of what is forgotten here the other run holds, or has overwritten in its own way."""
    if not (ours.items or ours.answers):
        return 0
    hashes = {key: row[0] for key, row in ours.items.items()}
    n: int = sum(
        hashes.get(key, digest) != digest
        for *key_parts, digest in theirs.execute(_ITEMS.format(columns=f"{_ITEM_KEY}, hash"))
        if (key := tuple(key_parts))
    )
    for *parts, text in theirs.execute(_ANSWERS.format(columns=f"{_ANSWER_KEY}, r.text")):
        key = tuple(parts)
        stored = ours.answers.get(key)
        n += key[:3] in ours.items if stored is None else stored[ANSWER.index("text")] != text
    return n


def _forget_again(db: sqlite3.Connection, ours: _Rows) -> None:
    """Overwrite in a copy what is forgotten here, and give it the marks that it has here."""
    items = {
        key: number
        for *parts, number in db.execute(_ITEMS.format(columns=f"{_ITEM_KEY}, item_id"))
        if (key := tuple(parts)) in ours.items
    }
    answers = {
        key: number
        for *parts, number in db.execute(_ANSWERS.format(columns=f"{_ANSWER_KEY}, response_id"))
        if (key := tuple(parts)) in ours.answers
    }
    scores_gone = {
        number
        for key, number in answers.items()
        if not has_scores(str(ours.answers[key][ANSWER.index("meta")]))
    }
    forgetting.choose_rows(db, (), scores_gone)
    overwrite(db, keep_hashes=False, drop_scores=True)
    forgetting.choose_rows(db, items.values(), answers.values())
    overwrite(db, keep_hashes=False, drop_scores=False)
    db.executemany(
        f"UPDATE items SET ({_TEXTS}) = ({', '.join('?' * (_TEXTS.count(',') + 1))}) WHERE item_id = ?",
        ((*ours.items[key], number) for key, number in items.items()),
    )
    db.executemany(
        f"UPDATE responses SET ({', '.join(ANSWER)}) = ({', '.join('?' * len(ANSWER))}) "
        "WHERE response_id = ?",
        ((*ours.answers[key], number) for key, number in answers.items()),
    )
    forgetting.settle(db, forgetting.chosen_responses(db))
