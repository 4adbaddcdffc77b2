"""What came back from a rater: a file as it lies there, and whether it is what was sent.

A ballot brings the texts it was filled in beside. They are held against the seal of the key, so that an
altered question or answer, another rater's packet or another panel's is told apart from a gap.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import InputError, suggest
from vivavoce.formats import label
from vivavoce.people.keys import Key, Seen, plain
from vivavoce.people.sheets import COLUMNS
from vivavoce.tables import is_file
from vivavoce.text import one_line, printable

__all__ = ["Ballot", "Filled", "Said", "open_ballot"]

SCHEMA = "viva.panel.ballot/1"
TAGS = ("good", "okay", "bad")
_YES, _NO = ("x", "1", "yes", "true", "y"), ("", "0", "no", "false", "n")


class Said(NamedTuple):
    """What a rater said of an answer. `rank` is null if none was given, or the answer is clearly wrong."""

    rank: float | None
    wrong: bool
    tag: str | None


class Filled(NamedTuple):
    """A question as a rater left it, its answers in the order shown."""

    seen: Seen
    said: tuple[Said, ...]
    remark: str

    @property
    def unranked(self) -> tuple[str, ...]:
        """The labels of answers without a rank."""
        return tuple(label(n) for n, one in enumerate(self.said) if one.rank is None and not one.wrong)

    @property
    def lacking(self) -> str:
        """What is not filled in, for a sentence; empty if nothing is."""
        untagged = [label(n) for n, one in enumerate(self.said) if one.tag is None]
        if len(self.unranked) == len(untagged) == len(self.said):
            return "everything"
        ranks = f"the rank of {', '.join(self.unranked)}" if self.unranked else ""
        return " and ".join(filter(None, (ranks, f"the tag of {', '.join(untagged)}" if untagged else "")))


class Ballot(NamedTuple):
    """A rater's file: every question of their packet, filled in or not, in the order it was put."""

    file: Path
    key: Key
    rater: str
    filled: tuple[Filled, ...]


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


def open_ballot(file: Path, keys: Mapping[str, Key], run: Path) -> Ballot:
    """The ballot in a .json or .csv file, checked against the panels of a run.

    Raises `InputError` for another kind of file, one of another panel, rater or run, a question or an answer
    that is not what was sent, a label twice, and a mark that is none. Gaps are no errors here.
    """
    rows = _rows(file)
    if not rows:
        raise InputError(f"{file} is empty: it holds no answers.")
    key = _panel(file, {plain(row.panel) for row in rows}, keys, run)
    rater = _rater(file, {plain(row.rater) for row in rows}, key)
    by_item: dict[str, list[_Row]] = {}
    for row in rows:
        by_item.setdefault(plain(row.item), []).append(row)
    packet = {plain(seen.question.name): seen for seen in key.packets[rater]}
    for name, own in by_item.items():
        if name not in packet:
            raise InputError(
                f"{own[0].where}: {key.metric} asked {rater} nothing called {_shown(name)}: the item was "
                "changed. Fill in the packet as it was sent."
            )
    sent = [_filled(seen, by_item.get(name, []), key, rater) for name, seen in packet.items()]
    altered = [one.seen.question.name for one, genuine in sent if not genuine]
    if altered:
        more = f" and {len(altered) - 5} more" if len(altered) > 5 else ""
        raise InputError(
            f"{file}: what stands here is not what {rater} was sent, at {', '.join(altered[:5])}{more}: a "
            "question, an answer or a seal was changed, cut (spreadsheets cut long texts) or comes from "
            "another packet. Its ranks cannot be trusted; fill in the packet as it was sent."
        )
    return Ballot(file, key, rater, tuple(one for one, _ in sent))


def _panel(file: Path, named: set[str], keys: Mapping[str, Key], run: Path) -> Key:
    if len(named) > 1:
        raise InputError(f"{file} mixes {len(named)} panels ({_listed(named)}): one packet, one file.")
    (panel,) = named
    if panel not in keys:
        here = f"its panels are {', '.join(keys)}" if keys else "no panel was made from it"
        raise InputError(
            f"{file} is a packet of panel {_shown(panel)}, which was not made from {run} ({here}): read it "
            "into the run it came from."
        )
    return keys[panel]


def _rater(file: Path, named: set[str], key: Key) -> str:
    if len(named) > 1:
        raise InputError(f"{file} mixes the packets of {_listed(named)}: one rater, one file.")
    (rater,) = named
    if rater not in key.packets:
        raise InputError(
            f"{file}: {_shown(rater)} is no rater of panel {key.panel}.{suggest(rater, list(key.packets))}"
        )
    return rater


def _listed(names: set[str]) -> str:
    return ", ".join(_shown(name) for name in sorted(names)[:5])


def _shown(word: str) -> str:
    return repr(one_line(printable(word), 60))


def _filled(seen: Seen, rows: Sequence[_Row], key: Key, rater: str) -> tuple[Filled, bool]:
    """What was said of a question, and whether its rows are those that were sent."""
    if not rows:  # left out altogether: a gap like any other
        return Filled(seen, tuple(Said(None, False, None) for _ in seen.answers), ""), True
    name = seen.question.name
    by_label: dict[str, _Row] = {}
    for row in rows:
        mark = plain(row.label).upper()
        if mark in by_label:
            raise InputError(f"{row.where}: answer {_shown(mark)} to {name} stands there twice.")
        by_label[mark] = row
    labels = [label(n) for n in range(len(seen.answers))]
    if absent := [one for one in labels if one not in by_label]:
        raise InputError(
            f"{rows[0].where}: answer {', '.join(absent)} to {name} is missing: every answer that was sent "
            "comes back, with a rank or without."
        )
    if foreign := [one for one in by_label if one not in labels]:
        raise InputError(f"{by_label[foreign[0]].where}: {name} has no answer {_shown(foreign[0])}.")
    ordered = [by_label[one] for one in labels]
    asked = next((row.question for row in rows if row.question.strip()), "")
    found = key.seal(rater, seen.question, asked, [row.answer for row in ordered])
    genuine = found == seen.seal and {plain(row.seal) for row in rows} == {seen.seal}
    remark = " ".join(dict.fromkeys(row.remark.strip() for row in rows if row.remark.strip()))
    return Filled(seen, tuple(_said(row, name) for row in ordered), plain(remark)), genuine


def _said(row: _Row, name: str) -> Said:
    about = f"{row.where}: answer {plain(row.label)} to {name}"
    wrong = row.wrong if isinstance(row.wrong, bool) else str(row.wrong or "").strip().casefold()
    if not isinstance(wrong, bool) and wrong not in (*_YES, *_NO):
        raise InputError(f"{about}: clearly_wrong is x or empty, not {_shown(str(row.wrong))}.")
    is_wrong = wrong if isinstance(wrong, bool) else wrong in _YES
    tag = None if row.tag is None else str(row.tag).strip().casefold() or None
    tag = "okay" if tag == "ok" else tag
    if tag is not None and tag not in TAGS:
        raise InputError(f"{about}: its tag is good, okay or bad, not {_shown(str(row.tag))}.")
    if is_wrong and tag not in (None, "bad"):
        raise InputError(f"{about} is called clearly wrong, and {tag} as well: one of the two is a slip.")
    rank = _rank(row.rank, about)
    return Said(None, True, "bad") if is_wrong else Said(rank, False, tag)


def _rank(given: Any, about: str) -> float | None:
    text = "" if given is None else str(given).strip().lstrip("'").replace(",", ".")
    if not text:
        return None
    try:
        number = math.nan if isinstance(given, bool) or "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 1):
        raise InputError(f"{about}: a rank is a number from 1, the best, not {_shown(str(given))}.")
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
        for one in body["items"]:
            for answer in one["answers"]:
                yield _Row(
                    where=f"{file}, {_text(one['item'])}",
                    panel=_text(body["panel"]),
                    rater=_text(body["rater"]),
                    item=_text(one["item"]),
                    seal=_text(one["seal"]),
                    question=_text(one["question"]),
                    label=_text(answer["label"]),
                    answer=_text(answer["answer"]),
                    rank=answer.get("rank"),
                    wrong=answer.get("clearly_wrong"),
                    tag=answer.get("tag"),
                    remark=_text(one.get("remark") or ""),
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
    signs = {sign: first.count(sign) for sign in ",;\t"}
    csv.field_size_limit(1 << 30)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(signs, key=lambda sign: signs[sign]))
    header: list[str] | None = None
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if header is None:
                header = (
                    [cell.casefold() for cell in cells] if cells and cells[0].casefold() == "panel" else None
                )
                if header and (absent := [name for name in COLUMNS if name not in header]):
                    raise InputError(f"{file}: the column {absent[0]!r} is gone; it was sent with one.")
                continue
            if not any(cells):
                continue
            where = f"{file}, line {rows.line_num}"
            if len(row) < len(header):
                raise InputError(f"{where}: {len(row)} fields where the header has {len(header)}.")
            by = dict(zip(header, row, strict=False))
            yield _Row(where, *(by[name] for name in COLUMNS))
    except csv.Error as error:
        raise InputError(f"{file}, line {rows.line_num}: broken CSV ({error}).") from None
    if header is None:
        raise InputError(f"{file} is no packet's sheet: no line begins with panel, rater, item.")
