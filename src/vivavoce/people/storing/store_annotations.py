"""Annotations that come back from a tool as ballots: the scores that packets give for the same judgements.

A task says by its id which question of which panel it is. Its texts are checked against the seal, so that
one that was edited in the tool is not taken for what was asked.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.text import label
from vivavoce.people.choosing import MOST_ANSWERS
from vivavoce.people.key import EVERYONE, Key
from vivavoce.people.packets import rater_names
from vivavoce.people.question import Seen
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.put_ballot import BallotsStored, put_ballot
from vivavoce.people.storing.read_ballots import Ballot
from vivavoce.people.tasks import FilledItem, Row
from vivavoce.people.tasks.control import Field, form_fields
from vivavoce.people.tasks.task import quoted
from vivavoce.people.tool_tasks import task_id
from vivavoce.store.runfile import RunFile
from vivavoce.store.same_scores import Import, refusing_same_scores


class Annotation(NamedTuple):
    """What one person entered for a task, by the names of its fields.

    `task` is the id, `texts` what the task shows: columns beside the answers, and `answers` in their order.
    `people` are the names by which the tool knows the person, the first of them as it calls everybody.
    """

    where: str
    task: str
    texts: Mapping[str, str]
    answers: tuple[str, ...]
    people: tuple[str, ...]
    fields: Mapping[str, Any]


class AnnotatedFile(NamedTuple):
    """The annotations in a file of a tool, and by reason the places of those that are none (cancelled …)."""

    file: Path
    annotations: tuple[Annotation, ...]
    left_out: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


class AnnotationsStored(NamedTuple):
    """What annotations became: a row for each panel and rater, and what was left out, by reason.

    `row_counts` adds up to the annotations of the files: judgements, and those left out.
    """

    ballots: tuple[BallotsStored, ...]
    left_out: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    row_counts: Mapping[str, int]


class _Place(NamedTuple):
    """The question that a task asks, and whose task it is, `EVERYONE` for anybody's."""

    key: Key
    owner: str
    entry: Seen


class _Judged(NamedTuple):
    """A task as one rater filled it in; `foreign` are fields that were not asked for."""

    place: str
    panel: str
    rater: str
    filled: FilledItem
    blank: bool
    foreign: tuple[str, ...]


def store_annotations(
    run: RunFile,
    files: Sequence[AnnotatedFile],
    *,
    names: Mapping[str, str] | None = None,
    partial: bool = False,
    replace: bool = False,
    same_allowed: bool = False,
) -> AnnotationsStored:
    """Store annotations as the ballots of their raters; all of them or none.

    `names` gives raters names in place of those that the tool has for them; without one a rater is called
    `user ID`. A task of a named rater is that rater's. The same again changes nothing; a judgement that says
    otherwise than the run is refused unless `replace`, one that is half filled unless `partial`. Questions
    that nobody annotated stay as they are. Raises `InputError` for a task of another run, one whose texts
    were changed, two annotations of one task by one rater, an entry that is none, and unless `same_allowed`
    for what the run holds by another rater.
    """
    names = names or {}
    with run.reading() as db:
        keys = read_keys(db)
    ballots = _by_rater(files, keys, names, run.path)
    _refuse_unknown(names, [person for file in files for a in file.annotations for person in a.people])
    if not partial:
        _refuse_half(ballots.values())
    paths = [file.file for file in files]
    data = Import(", ".join(map(str, paths)), tuple(map(file_hash, paths)))
    with run.writing() as db, refusing_same_scores(db, data, allowed=same_allowed):
        stored = tuple(
            _store(db, keys[panel], file, rater, entries, replace=replace)
            for (file, panel, rater), entries in ballots.items()
        )
    entries = [entry for of_rater in ballots.values() for entry in of_rater]
    left_out = _left_out(files, entries)
    return AnnotationsStored(stored, left_out, _notes(files, entries), _row_counts(entries, left_out))


def _row_counts(entries: Sequence["_Judged"], left_out: Mapping[str, Sequence[str]]) -> dict[str, int]:
    n_left_out = sum(map(len, left_out.values()))
    judged = sum(not entry.blank for entry in entries)
    return {"rows": judged + n_left_out, "judgements": judged, "left_out": n_left_out}


_Ballots = Mapping[tuple[Path, str, str], Sequence["_Judged"]]
"""What was judged, by file, panel and rater."""


def _by_rater(
    files: Sequence[AnnotatedFile], keys: Mapping[str, Key], names: Mapping[str, str], run: Path
) -> _Ballots:
    places = _places(keys)
    first: dict[tuple[str, str, str], _Judged] = {}
    ballots: dict[tuple[Path, str, str], list[_Judged]] = {}
    for file in files:
        for annotation in file.annotations:
            entry = _judge(annotation, _place(annotation, places, keys, run), names)
            _refuse_second(entry, first)
            ballots.setdefault((file.file, entry.panel, entry.rater), []).append(entry)
    return ballots


def _left_out(files: Sequence[AnnotatedFile], entries: Sequence["_Judged"]) -> dict[str, tuple[str, ...]]:
    """The places of what is no judgement, by reason."""
    left_out: dict[str, tuple[str, ...]] = {}
    for file in files:
        for reason, places in file.left_out.items():
            left_out[reason] = left_out.get(reason, ()) + places
    blank = tuple(entry.place for entry in entries if entry.blank)
    return left_out | ({"nothing was filled in": blank} if blank else {})


def _notes(files: Sequence[AnnotatedFile], entries: Sequence["_Judged"]) -> tuple[str, ...]:
    notes = dict.fromkeys(note for file in files for note in file.notes)
    foreign = dict.fromkeys(name for entry in entries for name in entry.foreign)
    if foreign:
        notes[f"Fields that no panel asked for are left out: {', '.join(foreign)}."] = None
    return tuple(notes)


def _places(keys: Mapping[str, Key]) -> dict[str, _Place]:
    """What is asked under each id."""
    return {
        task_id(key, entry): _Place(key, owner, entry)
        for key in keys.values()
        for owner, packet in (*key.packets.items(), (EVERYONE, key.shared))
        for entry in packet
        if entry.pass_no == 1
    }


def _place(
    annotation: Annotation, places: Mapping[str, _Place], keys: Mapping[str, Key], run: Path
) -> _Place:
    """The question of a task, whose texts are what was sent. Raises `InputError` for any other."""
    panel = annotation.task.partition("-")[0]
    if panel not in keys:
        panels = f"its panels are {', '.join(keys)}" if keys else "no panel was made from it"
        raise InputError(
            f"{annotation.where} is a task of panel {panel}, which was not made from {run} ({panels}): "
            "read it into the run it came from."
        )
    place = places.get(annotation.task)
    if place is None:
        raise InputError(
            f"{annotation.where}: panel {panel} has no task {annotation.task}: its id was changed."
        )
    columns = place.key.task.shown_columns
    texts = [*(annotation.texts.get(column, "") for column in columns), *annotation.answers]
    if place.key.seal(place.owner, place.entry.question, texts) != place.entry.seal:
        raise InputError(
            f"{annotation.where}: what stands here is not what was sent: a question or an answer of the task "
            f"{annotation.task} was changed or cut. Its entries cannot be trusted; nothing was stored."
        )
    return place


def _judge(annotation: Annotation, place: _Place, names: Mapping[str, str]) -> _Judged:
    """The entries of a task as those of a rater, read by the task of its panel."""
    key, entry = place.key, place.entry
    rater = _rater(annotation, place, names)
    fields = form_fields(key.task.controls(len(entry.answers)), MOST_ANSWERS)
    entries = _by_label(annotation.fields, fields, [label(n) for n in range(len(entry.answers))])
    _count_ranks(key, entries)
    rows = [
        Row(annotation.where, {"label": row_label, "rater": rater}, columns)
        for row_label, columns in entries.items()
    ]
    filled = key.task.read_rows(entry, rows)
    foreign = tuple(name for name in annotation.fields if name not in fields)
    return _Judged(annotation.where, key.panel, rater, filled, not any(entries.values()), foreign)


def _by_label(
    values: Mapping[str, Any], fields: Mapping[str, Field], labels: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """What was entered, by label and column; what stands for the whole question is with the first."""
    entries: dict[str, dict[str, Any]] = {answer_label: {} for answer_label in labels}
    for name, (control, answer) in fields.items():
        # A form has room for the answers of the largest question.
        if name in values and (answer or 0) < len(labels):
            entries[labels[answer or 0]][control.column] = values[name]
    return entries


def _rater(annotation: Annotation, place: _Place, names: Mapping[str, str]) -> str:
    """Who annotated: as `names` says, else whose task it is, else as the tool numbers them."""
    name = next((names[person] for person in annotation.people if person in names), None)
    if place.owner != EVERYONE:
        if name not in (None, place.owner):
            raise InputError(
                f"{annotation.where} is a task of {place.owner}, and {name} annotated it: each rater's tasks "
                "are their own. Nothing was stored."
            )
        return place.owner
    if name is None and not annotation.people:
        raise InputError(f"{annotation.where}: it does not say who annotated it; nothing was stored.")
    try:
        return rater_names([f"user {annotation.people[0]}" if name is None else name])[0]
    except InputError as error:
        if name is not None:
            raise
        raise InputError(
            f"{annotation.where}: {quoted(annotation.people[0])} annotated it: give them a name with --rater "
            "ID=NAME."
        ) from error


def _count_ranks(key: Key, entries: Mapping[str, dict[str, Any]]) -> None:
    """Count ranks among the answers that are there: of three answers one may be called the fifth."""
    for control in key.task.controls(len(entries)):
        if not control.orders:
            continue
        ranks = {name: _rank(columns.get(control.column)) for name, columns in entries.items()}
        for name, rank in ranks.items():
            if rank is not None:
                better = sum(other_rank is not None and other_rank < rank for other_rank in ranks.values())
                entries[name][control.column] = 1 + better


def _rank(entry: Any) -> int | None:
    """A rank as a form gives it; null for none, and for what the task will refuse."""
    text = str(entry)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 and int(text) else None


def _refuse_second(entry: _Judged, first: dict[tuple[str, str, str], _Judged]) -> None:
    identity = (entry.panel, entry.rater, entry.filled.seen_question.question.name)
    first_entry = first.setdefault(identity, entry)
    if first_entry is not entry:
        raise InputError(
            f"{first_entry.place} and {entry.place} are both annotations of {identity[2]} by {entry.rater}: "
            "leave the one that counts. Nothing was stored."
        )


def _refuse_unknown(names: Mapping[str, str], people: Collection[str]) -> None:
    """Raise `InputError` for a name given to somebody who annotated nothing."""
    for person in names:
        if person not in people:
            raise InputError(
                f"--rater {person}={names[person]}: nobody called {person!r} annotated these tasks."
                f"{suggest(person, sorted(set(people)))}"
            )


def _refuse_half(ballots: Iterable[Sequence[_Judged]]) -> None:
    half = [entry for entries in ballots for entry in entries if entry.filled.lacking and not entry.blank]
    if half:
        gaps = [
            f"{entry.filled.seen_question.question.name} by {entry.rater} lacks {entry.filled.lacking}"
            for entry in half
        ]
        further = f"; and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        raise InputError(
            f"half filled: {'; '.join(gaps[:5])}{further}. --partial takes what is there; nothing was stored."
        )


def _store(
    db: sqlite3.Connection, key: Key, file: Path, rater: str, entries: Sequence[_Judged], *, replace: bool
) -> BallotsStored:
    return put_ballot(db, Ballot(file, key, rater, tuple(entry.filled for entry in entries)), replace)
