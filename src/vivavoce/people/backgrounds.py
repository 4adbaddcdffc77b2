"""Who the raters are: what each says of profession, experience, pay, and of the items that they wrote."""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line, printable
from vivavoce.store import read
from vivavoce.store.write import put_event

BACKGROUND_EVENT = "rater background"
MOST_PROFESSION = 200
_YES_NO = {"yes": True, "no": False, "": None}


class Background(NamedTuple):
    """What a rater says of themselves; null where they said nothing. `author` is whether they wrote items."""

    profession: str = ""
    years: float | None = None
    paid: bool | None = None
    author: bool | None = None


def read_background(fields: Mapping[str, str]) -> Background:
    """The background in the fields of a form. Raises `InputError` for an entry that is none."""
    profession = one_line(printable(fields.get("profession", "")), MOST_PROFESSION)
    years = fields.get("years", "").strip().replace(",", ".")
    if years and not (years.replace(".", "", 1).isdecimal() and years.isascii() and float(years) <= 80):
        raise InputError(f"years of experience are a number from 0 to 80, not {years[:20]!r}.")
    answers = []
    for name in ("paid", "author"):
        if fields.get(name, "") not in _YES_NO:
            raise InputError(f"{name} is yes, no or empty.")
        answers.append(_YES_NO[fields.get(name, "")])
    return Background(profession, float(years) if years else None, *answers)


def put_background(db: sqlite3.Connection, rater: str, background: Background) -> None:
    """Note what a rater says of themselves, in a transaction of the caller; the last word counts."""
    put_event(db, BACKGROUND_EVENT, {"rater": rater, **background._asdict()})


def read_backgrounds(db: sqlite3.Connection) -> dict[str, Background]:
    """The newest background of each rater who gave one."""
    return {
        event["rater"]: Background(*(event[name] for name in Background._fields))
        for event in read.events(db, BACKGROUND_EVENT)
    }
