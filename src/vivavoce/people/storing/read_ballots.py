"""Ballots that come back from raters: whether a file fits the packet that was sent.

A ballot repeats the texts of its packet. They are checked against the seal of the key, so that an altered
question or answer, or another rater's or panel's packet, is not taken for a gap.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.text import label
from vivavoce.people.key import Key
from vivavoce.people.question import Seen, plain
from vivavoce.people.storing.ballot_files import FilledFile, check_columns, read_file
from vivavoce.people.tasks import FilledItem, Row
from vivavoce.people.tasks.task import quoted


class Ballot(NamedTuple):
    """What a rater entered, in the order it was put: of a file every question, filled in or not.

    `file` is null for the judgement of a question that came by itself, and `pass_no` is 2 where that was put
    again.
    """

    file: Path | None
    key: Key
    rater: str
    filled: tuple[FilledItem, ...]
    pass_no: int = 1

    @property
    def source(self) -> str:
        """Where it came from, for a sentence."""
        return str(self.file) if self.file else f"panel {self.key.panel}"


def open_ballot(file: Path, keys: Mapping[str, Key], run: Path) -> Ballot:
    """The ballot in a .json or .csv file, checked against the panels of a run.

    Raises `InputError` for another kind of file; one of another panel, rater, task or run; an item or an
    answer that was changed; a label twice; and an entry that is none. Gaps are no errors here.
    """
    ballot = read_file(file)
    if not ballot.rows:
        raise InputError(f"{file} is empty: it holds no answers.")
    key = _panel(file, {plain(row.texts["panel"]) for row in ballot.rows}, keys, run)
    rater = _rater(file, {plain(row.texts["rater"]) for row in ballot.rows}, key)
    _check_task(file, ballot, key)
    by_item: dict[str, list[Row]] = {}
    for row in ballot.rows:
        by_item.setdefault(plain(row.texts["item"]), []).append(row)
    packet = {plain(seen_question.question.name): seen_question for seen_question in key.packets[rater]}
    for name, item_rows in by_item.items():
        if name not in packet:
            raise InputError(
                f"{item_rows[0].where}: {key.metric} asked {rater} nothing called {quoted(name)}: the item "
                "was changed. Fill in the packet as it was sent."
            )
    checked = [
        _filled(seen_question, by_item.get(name, []), key, rater) for name, seen_question in packet.items()
    ]
    _refuse_altered(
        file, rater, [filled.seen_question.question.name for filled, genuine in checked if not genuine]
    )
    return Ballot(file, key, rater, tuple(filled for filled, _ in checked))


def _check_task(file: Path, ballot: FilledFile, key: Key) -> None:
    if ballot.schema not in (None, key.task.schema):
        raise InputError(
            f"{file} holds a ballot of another task than panel {key.panel}, whose raters {key.task.name}: "
            "fill in the packet as it was sent."
        )
    if ballot.columns is not None:
        check_columns(file, ballot.columns, key.task.columns)


def _refuse_altered(file: Path, rater: str, names: Sequence[str]) -> None:
    if names:
        further = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise InputError(
            f"{file}: what stands here is not what {rater} was sent, at {', '.join(names[:5])}{further}: a "
            "question, an answer or a seal was changed, cut (spreadsheets cut long texts) or comes from "
            "another packet. Its entries cannot be trusted; fill in the packet as it was sent."
        )


def _panel(file: Path, named: set[str], keys: Mapping[str, Key], run: Path) -> Key:
    if len(named) > 1:
        raise InputError(f"{file} mixes {len(named)} panels ({_listed(named)}): one packet, one file.")
    (panel,) = named
    if panel not in keys:
        panels = f"its panels are {', '.join(keys)}" if keys else "no panel was made from it"
        raise InputError(
            f"{file} is a packet of panel {quoted(panel)}, which was not made from {run} ({panels}): read "
            "it into the run it came from."
        )
    return keys[panel]


def _rater(file: Path, named: set[str], key: Key) -> str:
    if len(named) > 1:
        raise InputError(f"{file} mixes the packets of {_listed(named)}: one rater, one file.")
    (rater,) = named
    if rater not in key.packets:
        raise InputError(
            f"{file}: {quoted(rater)} is no rater of panel {key.panel}.{suggest(rater, list(key.packets))}"
        )
    return rater


def _listed(names: set[str]) -> str:
    return ", ".join(quoted(name) for name in sorted(names)[:5])


def _filled(seen_question: Seen, rows: Sequence[Row], key: Key, rater: str) -> tuple[FilledItem, bool]:
    """An item as it was filled in, and whether its rows are those that were sent."""
    if not rows:  # left out altogether: a gap like any other
        return key.task.read_rows(seen_question, ()), True
    name = seen_question.question.name
    in_order = _by_label(rows, name, [label(n) for n in range(len(seen_question.answers))])
    question = [
        next((text for row in rows if (text := row.texts.get(column, "")).strip()), "")
        for column in key.task.shown_columns
    ]
    seal = key.seal(rater, seen_question.question, [*question, *(row.texts["answer"] for row in in_order)])
    genuine = seal == seen_question.seal and {plain(row.texts["seal"]) for row in rows} == {
        seen_question.seal
    }
    return key.task.read_rows(seen_question, in_order), genuine


def _by_label(rows: Sequence[Row], name: str, labels: Sequence[str]) -> list[Row]:
    """The rows of an item in the order of its labels. Raises `InputError` unless each stands there once."""
    by_label: dict[str, Row] = {}
    for row in rows:
        row_label = plain(row.texts["label"]).upper()
        if row_label in by_label:
            raise InputError(f"{row.where}: answer {quoted(row_label)} to {name} stands there twice.")
        by_label[row_label] = row
    if absent := [missing for missing in labels if missing not in by_label]:
        raise InputError(
            f"{rows[0].where}: answer {', '.join(absent)} to {name} is missing: every answer that was sent "
            "comes back, filled in or not."
        )
    if foreign := [extra for extra in by_label if extra not in labels]:
        raise InputError(f"{by_label[foreign[0]].where}: {name} has no answer {quoted(foreign[0])}.")
    return [by_label[answer_label] for answer_label in labels]
