"""A submission in a folder of many: a scored run, and a small submission.yaml that says whose it is.

team: Team A              # the only one that must be there
system: VeReaFine v001
date: 2026-03-01          # a day or a time in UTC, not after today
size_gb: 15.2             # all weights
parameters: 7.6e9
run: run.viva             # where the folder holds several
candidate: Team A v001    # where the run holds several
sha256: 9f86d0…           # of the run file as it was taken in

The card may also be called submission.yml, in letters of either case.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.numbers import finite
from vivavoce.core.text import one_line, printable
from vivavoce.core.yaml_files import read_mapping

CARD = "submission.yaml"
_CARDS = frozenset({CARD, "submission.yml"})
_DAYS_AHEAD = timedelta(hours=14)
"""How far a day may begin before it does in UTC: it is tomorrow there already."""
FIELDS = ("team", "system", "date", "size_gb", "parameters", "run", "candidate", "sha256")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""What shows nothing and is no format character: fillers, variation selectors, a blank of Braille."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Submission(NamedTuple):
    """One submission; what its card does not state is null. `place` is its file or folder in the folder.

    `date` is in UTC, and `day` says that no time of day was stated. A run without a card is a team of its own
    by the name of its file.
    """

    place: str
    run: Path
    team: str
    system: str | None = None
    date: datetime | None = None
    day: bool = False
    size_gb: float | None = None
    parameters: float | None = None
    candidate: str | None = None
    sha256: str | None = None

    @property
    def team_key(self) -> str:
        """The team whatever the case, width and blanks of its name, and without what cannot be seen."""
        return _key(self.team)

    @property
    def date_text(self) -> str | None:
        """The day, with the time where one is stated; null without a date."""
        if self.date is None:
            return None
        return f"{self.date:%Y-%m-%d}" if self.day else f"{self.date:%Y-%m-%d %H:%M} UTC"

    @property
    def order(self) -> tuple[bool, str, str]:
        """What submissions are ordered by: their dates, then their names; those without a date come last."""
        return self.date is None, "" if self.date is None else self.date.isoformat(), self.place


class Refused(NamedTuple):
    """A submission that is not on the board, and why; `team` is null where none could be read."""

    place: str
    team: str | None
    reason: str


def read_submissions(folder: Path, *, now: datetime | None = None) -> tuple[list[Submission], list[Refused]]:
    """The submissions in a folder in the order of their names: run files, and folders that hold one each.

    A card whose date is after `now` is refused; null takes any date. So is a folder without a run. Raises
    `InputError` where the folder cannot be read or holds neither files of runs nor folders.
    """
    submissions: list[Submission] = []
    refused = []
    try:
        places = sorted(_places(folder))
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {error.strerror or error}.") from None
    for path in places:
        try:
            submissions.append(_submission(path, now))
        except InputError as error:
            refused.append(Refused(_name(path), None, for_others(str(error), path)))
    if not places:
        raise InputError(
            f"{folder} holds no submissions: they are run files (*.viva), or folders with a run file and a "
            f"{CARD}."
        )
    return submissions, refused


def for_others(reason: str, path: Path) -> str:
    """A reason to refuse the submission at a path, on one line, and without where its folder lies here."""
    # Behind a letter or a slash the same characters are the end of another path.
    shown_path = re.compile(rf"(?<![\w/.-]){re.escape(str(path))}")
    return " ".join(shown_path.sub(lambda _: _name(path), reason).split())


def _places(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_dir() or (path.suffix == ".viva" and path.is_file()):
            yield path


def _cards(folder: Path) -> list[Path]:
    """The cards in a folder, links that lead nowhere included."""
    return sorted(path for path in folder.glob("*") if path.name.lower() in _CARDS)


def _submission(path: Path, now: datetime | None) -> Submission:
    """The submission at a path. Raises `InputError` for a card that cannot be used, and without one run."""
    if path.is_file():
        return Submission(_name(path), path, _name(path).removesuffix(".viva"))
    card, fields = _card(path)
    moment, day = _past_date(fields.get("date"), card, now)
    sha256 = _text(fields, "sha256", card)
    if sha256 and not _SHA256.fullmatch(sha256.lower()):
        raise InputError(f"{card}: sha256 is 64 hex digits, not {one_line(sha256, 20)!r}.")
    submission = Submission(
        place=_name(path),
        run=_run(path, _text(fields, "run", card)),
        team=_on_one_line(_text(fields, "team", card)) or "",
        system=_on_one_line(_text(fields, "system", card)),
        date=moment,
        day=day,
        size_gb=_amount(fields, "size_gb", card),
        parameters=_amount(fields, "parameters", card),
        candidate=_text(fields, "candidate", card),
        sha256=sha256 and sha256.lower(),
    )
    if not submission.team_key:
        raise InputError(f"{card} names no team: write team: and a name.")
    return submission


def _card(folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """The card of a folder with its fields. Raises `InputError` for several, and for an unknown field."""
    cards = _cards(folder)
    if len(cards) > 1:
        names = ", ".join(card.name for card in cards)
        raise InputError(f"{folder} holds several cards ({names}): keep the right one.")
    if not cards:
        return folder / CARD, {"team": _name(folder)}
    fields = read_mapping(cards[0], "card", InputError)
    for name in fields:
        if name not in FIELDS:
            raise InputError(f"{cards[0]} has no field {one_line(name, 40)!r}.{suggest(name, FIELDS)}")
    return cards[0], fields


def _name(path: Path) -> str:
    """The name of a file as text on one line, with a mark for bytes that are none."""
    return " ".join(os.fsencode(path.name).decode("utf-8", "replace").split())


def _run(folder: Path, name: str | None) -> Path:
    """The run file of a folder. Raises `InputError` for a path that leads out of it, for none and several."""
    if name is not None and Path(name).name != name:
        raise InputError(f"{folder / CARD}: run {one_line(name, 60)!r} is no file of this folder.")
    runs = sorted(path for path in folder.iterdir() if _is_run(path, name))
    if len(runs) == 1:
        return runs[0]
    if runs:
        names = ", ".join(path.name for path in runs[:5])
        raise InputError(f"{folder} holds {len(runs)} runs ({names}): name one under run in {CARD}.")
    raise InputError(f"{folder} holds no run{f' {one_line(name, 60)!r}' if name else ' file (*.viva)'}.")


def _is_run(path: Path, name: str | None) -> bool:
    """Whether a file has this name; without one, whether it is a run that no desktop laid there."""
    if name is None and (path.suffix != ".viva" or path.name.startswith(".")):
        return False
    return name in (None, path.name) and path.is_file()


def _text(fields: Mapping[str, Any], name: str, card: Path) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool | list | dict | date):
        raise InputError(f"{card}: {name} is a text, not {one_line(repr(value), 40)}.")
    return str(value).strip() or None


def _on_one_line(text: str | None) -> str | None:
    return text and " ".join(text.split())


def _amount(fields: Mapping[str, Any], name: str, card: Path) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    try:  # YAML reads 7.6e9 as a word
        number = None if isinstance(value, bool) else finite(float(value))
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number <= 0:
        raise InputError(f"{card}: {name} is a number above 0, not {one_line(repr(value), 40)}.")
    return number


def _past_date(value: Any, card: Path, now: datetime | None) -> tuple[datetime | None, bool]:
    """A moment in UTC, and whether it is a whole day. Raises `InputError` for one after `now`."""
    moment, day = _date(value, card)
    if moment and now and moment > now + (_DAYS_AHEAD if day else timedelta()):
        raise InputError(
            f"{card}: the date {one_line(str(value), 40)} is in the future, seen from {now:%Y-%m-%d %H:%M} "
            "UTC: write when the submission came in."
        )
    return moment, day


def _date(value: Any, card: Path) -> tuple[datetime | None, bool]:
    """A moment in UTC, and whether it is a whole day."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            value = False
    if value is None:
        return None, False
    if isinstance(value, datetime):
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC), False
        except OverflowError:  # before the first year or after the last, seen from UTC
            value = False
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC), True
    raise InputError(f"{card}: date is a day or a time in UTC, such as 2026-03-01 or 2026-03-01T18:00.")


def _key(name: str) -> str:
    visible = "".join(
        sign for sign in unicodedata.normalize("NFKC", printable(name)) if unicodedata.category(sign) != "Cf"
    )
    return " ".join(_UNSEEN.sub("", visible).replace("\ufffd", "").casefold().split())
