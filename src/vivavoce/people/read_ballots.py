"""Ballots that come back from raters: a file, and whether it fits the packet that was sent.

A ballot repeats the texts of its packet. They are checked against the seal of the key, so that an altered
question or answer, or another rater's or panel's packet, is not taken for a gap.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.tables import is_file
from vivavoce.core.text import label, one_line, printable
from vivavoce.people.blinding_key import BlindingKey, PacketItem, plain
from vivavoce.people.packets import COLUMNS

SCHEMA = "viva.panel.ballot/1"
TAGS = ("good", "okay", "bad")
_YES, _NO = ("x", "1", "yes", "true", "y"), ("", "0", "no", "false", "n")


class Rating(NamedTuple):
    """A rater's judgement of an answer. `rank` is null if none was given, or the answer is clearly wrong."""

    rank: float | None
    wrong: bool
    tag: str | None


class FilledItem(NamedTuple):
    """An item as a rater filled it in, its answers in the order shown."""

    packet_item: PacketItem
    ratings: tuple[Rating, ...]
    remark: str

    @property
    def unranked(self) -> tuple[str, ...]:
        """The labels of answers without a rank."""
        return tuple(
            label(n) for n, rating in enumerate(self.ratings) if rating.rank is None and not rating.wrong
        )

    @property
    def lacking(self) -> str:
        """The missing entries, for a sentence; empty if there are none."""
        untagged = [label(n) for n, rating in enumerate(self.ratings) if rating.tag is None]
        if len(self.unranked) == len(untagged) == len(self.ratings):
            return "everything"
        ranks = f"the rank of {', '.join(self.unranked)}" if self.unranked else ""
        return " and ".join(filter(None, (ranks, f"the tag of {', '.join(untagged)}" if untagged else "")))


class Ballot(NamedTuple):
    """A rater's file: every question of their packet, filled in or not, in the order it was put."""

    file: Path
    key: BlindingKey
    rater: str
    filled: tuple[FilledItem, ...]


class _Row(NamedTuple):
    """An answer's row of a file, and where it stands."""

    where: str
    panel: str
    rater: str
    item: str
    seal: str
    question: str
    label: str
    answer: str
    rank: Any
    wrong: Any
    tag: Any
    remark: str


def open_ballot(file: Path, keys: Mapping[str, BlindingKey], run: Path) -> Ballot:
    """The ballot in a .json or .csv file, checked against the panels of a run.

    Raises `InputError` for another kind of file; one of another panel, rater or run; an item or an answer
    that was changed; a label twice; and a rank or tag that is none. Gaps are no errors here.
    """
    rows = _rows(file)
    if not rows:
        raise InputError(f"{file} is empty: it holds no answers.")
    key = _panel(file, {plain(row.panel) for row in rows}, keys, run)
    rater = _rater(file, {plain(row.rater) for row in rows}, key)
    by_item: dict[str, list[_Row]] = {}
    for row in rows:
        by_item.setdefault(plain(row.item), []).append(row)
    packet = {plain(packet_item.item.name): packet_item for packet_item in key.packets[rater]}
    for name, item_rows in by_item.items():
        if name not in packet:
            raise InputError(
                f"{item_rows[0].where}: {key.metric} asked {rater} nothing called {_quoted(name)}: the item "
                "was changed. Fill in the packet as it was sent."
            )
    checked = [
        _filled(packet_item, by_item.get(name, []), key, rater) for name, packet_item in packet.items()
    ]
    _refuse_altered(file, rater, [filled.packet_item.item.name for filled, genuine in checked if not genuine])
    return Ballot(file, key, rater, tuple(filled for filled, _ in checked))


def _refuse_altered(file: Path, rater: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise InputError(
            f"{file}: what stands here is not what {rater} was sent, at {', '.join(names[:5])}{more}: a "
            "question, an answer or a seal was changed, cut (spreadsheets cut long texts) or comes from "
            "another packet. Its ranks cannot be trusted; fill in the packet as it was sent."
        )


def _panel(file: Path, named: set[str], keys: Mapping[str, BlindingKey], run: Path) -> BlindingKey:
    if len(named) > 1:
        raise InputError(f"{file} mixes {len(named)} panels ({_listed(named)}): one packet, one file.")
    (panel,) = named
    if panel not in keys:
        panels = f"its panels are {', '.join(keys)}" if keys else "no panel was made from it"
        raise InputError(
            f"{file} is a packet of panel {_quoted(panel)}, which was not made from {run} ({panels}): read "
            "it into the run it came from."
        )
    return keys[panel]


def _rater(file: Path, named: set[str], key: BlindingKey) -> str:
    if len(named) > 1:
        raise InputError(f"{file} mixes the packets of {_listed(named)}: one rater, one file.")
    (rater,) = named
    if rater not in key.packets:
        raise InputError(
            f"{file}: {_quoted(rater)} is no rater of panel {key.panel}.{suggest(rater, list(key.packets))}"
        )
    return rater


def _listed(names: set[str]) -> str:
    return ", ".join(_quoted(name) for name in sorted(names)[:5])


def _quoted(word: str) -> str:
    return repr(one_line(printable(word), 60))


def _filled(
    packet_item: PacketItem, rows: Sequence[_Row], key: BlindingKey, rater: str
) -> tuple[FilledItem, bool]:
    """An item as it was filled in, and whether its rows are those that were sent."""
    if not rows:  # left out altogether: a gap like any other
        return FilledItem(
            packet_item, tuple(Rating(None, False, None) for _ in packet_item.answers), ""
        ), True
    name = packet_item.item.name
    in_order = _by_label(rows, name, [label(n) for n in range(len(packet_item.answers))])
    prompt = next((row.question for row in rows if row.question.strip()), "")
    seal = key.seal(rater, packet_item.item, prompt, [row.answer for row in in_order])
    genuine = seal == packet_item.seal and {plain(row.seal) for row in rows} == {packet_item.seal}
    remark = " ".join(dict.fromkeys(row.remark.strip() for row in rows if row.remark.strip()))
    return FilledItem(packet_item, tuple(_rating(row, name) for row in in_order), plain(remark)), genuine


def _by_label(rows: Sequence[_Row], name: str, labels: Sequence[str]) -> list[_Row]:
    """The rows of an item in the order of its labels. Raises `InputError` unless each stands there once."""
    by_label: dict[str, _Row] = {}
    for row in rows:
        row_label = plain(row.label).upper()
        if row_label in by_label:
            raise InputError(f"{row.where}: answer {_quoted(row_label)} to {name} stands there twice.")
        by_label[row_label] = row
    if absent := [missing for missing in labels if missing not in by_label]:
        raise InputError(
            f"{rows[0].where}: answer {', '.join(absent)} to {name} is missing: every answer that was sent "
            "comes back, with a rank or without."
        )
    if foreign := [extra for extra in by_label if extra not in labels]:
        raise InputError(f"{by_label[foreign[0]].where}: {name} has no answer {_quoted(foreign[0])}.")
    return [by_label[each] for each in labels]


def _rating(row: _Row, name: str) -> Rating:
    place = f"{row.where}: answer {plain(row.label)} to {name}"
    wrong = _is_wrong(row.wrong, place)
    tag = _tag(row.tag, place)
    if wrong and tag not in (None, "bad"):
        raise InputError(f"{place} is called clearly wrong, and {tag} as well: one of the two is a slip.")
    rank = _rank(row.rank, place)
    return Rating(None, True, "bad") if wrong else Rating(rank, False, tag)


def _is_wrong(entry: Any, place: str) -> bool:
    if isinstance(entry, bool):
        return entry
    word = str(entry or "").strip().casefold()
    if word not in (*_YES, *_NO):
        raise InputError(f"{place}: clearly_wrong is x or empty, not {_quoted(str(entry))}.")
    return word in _YES


def _tag(entry: Any, place: str) -> str | None:
    word = "" if entry is None else str(entry).strip().casefold()
    tag = "okay" if word == "ok" else word or None
    if tag is not None and tag not in TAGS:
        raise InputError(f"{place}: its tag is good, okay or bad, not {_quoted(str(entry))}.")
    return tag


def _rank(entry: Any, about: str) -> float | None:
    text = "" if entry is None else str(entry).strip().lstrip("'").replace(",", ".")
    if not text:
        return None
    try:
        number = math.nan if isinstance(entry, bool) or "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 1):
        raise InputError(f"{about}: a rank is a number from 1, the best, not {_quoted(str(entry))}.")
    return number


def _rows(file: Path) -> list[_Row]:
    if not is_file(file):
        raise InputError(f"no file at {file}." if not file.is_dir() else f"{file} is a folder, not a file.")
    kind = file.suffix.lower()
    if kind in (".html", ".htm"):
        raise InputError(
            f"{file} is the packet and not the ballot: what was filled in is in the .json file that its "
            "button 'Download the ballot' saves."
        )
    if kind not in (".json", ".csv"):
        raise InputError(
            f"{file} is no ballot: a ballot is the .json that a packet's page saves, or the packet's .csv."
        )
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: byte {error.start + 1} is not UTF-8; save it again as CSV UTF-8, and its letters will "
            "come through."
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}.") from error
    return list(_json(file, text) if kind == ".json" else _csv(file, text))


def _json(file: Path, text: str) -> Iterator[_Row]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: broken JSON ({error}): download the ballot again.") from None
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise InputError(f'{file} is no ballot: it lacks the line "schema": "{SCHEMA}".')
    try:
        for item in body["items"]:
            for answer in item["answers"]:
                yield _Row(
                    where=f"{file}, {_text(item['item'])}",
                    panel=_text(body["panel"]),
                    rater=_text(body["rater"]),
                    item=_text(item["item"]),
                    seal=_text(item["seal"]),
                    question=_text(item["question"]),
                    label=_text(answer["label"]),
                    answer=_text(answer["answer"]),
                    rank=answer.get("rank"),
                    wrong=answer.get("clearly_wrong"),
                    tag=answer.get("tag"),
                    remark=_text(item.get("remark") or ""),
                )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} is a ballot that was changed by hand or cut short ({type(error).__name__}: {error}): "
            "download it again."
        ) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{one_line(repr(value), 40)} is no text")
    return value


def _csv(file: Path, text: str) -> Iterator[_Row]:
    # In countries that write 0,5 spreadsheets save semicolons.
    first = next((line for line in text.splitlines() if line.lstrip('"').startswith("panel")), "")
    counts = {sign: first.count(sign) for sign in ",;\t"}
    csv.field_size_limit(1 << 30)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(counts, key=lambda sign: counts[sign]))
    header: list[str] | None = None
    try:
        for row in rows:
            if header is None:
                header = _header(file, row)
            elif any(cell.strip() for cell in row):
                where = f"{file}, line {rows.line_num}"
                if len(row) < len(header):
                    raise InputError(f"{where}: {len(row)} fields where the header has {len(header)}.")
                by = dict(zip(header, row, strict=False))
                yield _Row(where, *(by[name] for name in COLUMNS))
    except csv.Error as error:
        raise InputError(f"{file}, line {rows.line_num}: broken CSV ({error}).") from None
    if header is None:
        raise InputError(f"{file} is no packet's sheet: no line begins with panel, rater, item.")


def _header(file: Path, row: Sequence[str]) -> list[str] | None:
    """The names of the columns, or none where a line above the header stands."""
    cells = [cell.strip().casefold() for cell in row]
    if not cells or cells[0] != "panel":
        return None
    if absent := [name for name in COLUMNS if name not in cells]:
        raise InputError(f"{file}: the column {absent[0]!r} is gone; it was sent with one.")
    return cells
