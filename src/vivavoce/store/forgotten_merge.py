"""Merging with a run that still holds what this one has forgotten: the words do not come back."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.store import forgetting
from vivavoce.store.forgotten import FORGOTTEN, IS_FORGOTTEN, has_scores
from vivavoce.store.read import events
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import ANSWER

Overwrite = Callable[[sqlite3.Connection, bool], object]
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


class ForgottenRows(NamedTuple):
    """By key the rows that a run has forgotten, in the columns `_TEXTS` and `ANSWER`."""

    items: Mapping[Key, tuple[object, ...]]
    answers: Mapping[Key, tuple[object, ...]]


def forgotten_rows(db: sqlite3.Connection) -> ForgottenRows:
    """What a run has forgotten."""
    n_key, n_answer_key = 3, 6
    items = db.execute(
        f"{_ITEMS.format(columns=f'{_ITEM_KEY}, {_TEXTS}')} AND {IS_FORGOTTEN.format('i')}"
    ).fetchall()
    answers = db.execute(
        f"{_ANSWERS.format(columns=f'{_ANSWER_KEY}, {_OF_ANSWER}')} AND {IS_FORGOTTEN.format('r')}"
    ).fetchall()
    return ForgottenRows(
        {row[:n_key]: row[n_key:] for row in items},
        {row[:n_answer_key]: row[n_answer_key:] for row in answers},
    )


def refuse_held(
    db: sqlite3.Connection, source_db: sqlite3.Connection, target: RunFile, source: RunFile
) -> None:
    """Raise `InputError` for what the source has forgotten and the target has not."""
    of_source = forgotten_rows(source_db)
    items_held = f"{_ITEMS.format(columns=_ITEM_KEY)} AND NOT {IS_FORGOTTEN.format('i')}"
    answers_held = (
        f"{_ANSWERS.format(columns=_ANSWER_KEY)} AND NOT {IS_FORGOTTEN.format('r')} AND r.status = 'ok'"
    )
    items = [key for key in db.execute(items_held) if key in of_source.items]
    places = {key[:2] for key in items}
    answers = [key for key in db.execute(answers_held) if key in of_source.answers and key[:2] not in places]
    if not (items or answers):
        return
    commands = _commands(source_db, target, items, answers)
    n = len(items) + len(answers)
    raise InputError(
        f"{source.path} has forgotten {n:,} text{'s' if n > 1 else ''} that {target.path} still holds: "
        f"{' and '.join(commands)} first. Nothing was merged."
    )


def _commands(
    source_db: sqlite3.Connection, target: RunFile, items: Sequence[Key], answers: Sequence[Key]
) -> list[str]:
    """The commands that forget these in the target; candidates by name where the source forgot them so."""
    candidates = {name for body in events(source_db, FORGOTTEN) for name in body.get("candidates", ())}
    chosen = (
        ("--item", [f"{key[0]}/{key[1]}" for key in items]),
        ("--candidate", [str(key[3]) for key in answers if key[3] in candidates]),
        (
            "--response",
            [f"{key[3]}:{key[0]}/{key[1]}:{key[4]}" for key in answers if key[3] not in candidates],
        ),
    )
    return [
        f"`viva forget {target.path} {' '.join(f'{option} {quote(name)}' for name in dict.fromkeys(names))}`"
        for option, names in chosen if names
    ]  # fmt: skip


def texts_held(source_db: sqlite3.Connection, rows: ForgottenRows) -> int:
    """How many texts of what is forgotten here another run holds, or has overwritten in its own way."""
    if not (rows.items or rows.answers):
        return 0
    hashes = {key: row[0] for key, row in rows.items.items()}
    n = 0
    for *name, digest in source_db.execute(_ITEMS.format(columns=f"{_ITEM_KEY}, hash")):
        n += hashes.get(tuple(name), digest) != digest
    place = ANSWER.index("text")
    for *name, text in source_db.execute(_ANSWERS.format(columns=f"{_ANSWER_KEY}, r.text")):
        stored = rows.answers.get(tuple(name))
        n += tuple(name[:3]) in rows.items if stored is None else stored[place] != text
    return n


def forget_again(db: sqlite3.Connection, rows: ForgottenRows, overwrite: Overwrite) -> None:
    """Overwrite in a copy of another run what is forgotten here, and give it the marks that it has here.

    `overwrite` does so for the rows chosen last, and takes whether their scores go.
    """
    items = {
        key: number
        for *parts, number in db.execute(_ITEMS.format(columns=f"{_ITEM_KEY}, item_id"))
        if (key := tuple(parts)) in rows.items
    }
    answers = {
        key: number
        for *parts, number in db.execute(_ANSWERS.format(columns=f"{_ANSWER_KEY}, response_id"))
        if (key := tuple(parts)) in rows.answers
    }
    scores_gone = {
        number
        for key, number in answers.items()
        if not has_scores(str(rows.answers[key][ANSWER.index("meta")]))
    }
    forgetting.choose_rows(db, (), scores_gone)
    overwrite(db, True)
    forgetting.choose_rows(db, items.values(), answers.values())
    overwrite(db, False)
    db.executemany(
        f"UPDATE items SET ({_TEXTS}) = ({', '.join('?' * (_TEXTS.count(',') + 1))}) WHERE item_id = ?",
        ((*rows.items[key], number) for key, number in items.items()),
    )
    db.executemany(
        f"UPDATE responses SET ({', '.join(ANSWER)}) = ({', '.join('?' * len(ANSWER))}) "
        "WHERE response_id = ?",
        ((*rows.answers[key], number) for key, number in answers.items()),
    )
    forgetting.settle(db, forgetting.chosen_responses(db))
