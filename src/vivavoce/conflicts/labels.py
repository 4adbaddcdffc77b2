"""Conflicts of number in names: "L4" against "L2", "type 1" against "type 2", "second" against "third"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.conflicts.clauses import Clauses
from vivavoce.conflicts.found import Conflict, alike
from vivavoce.conflicts.line import Line
from vivavoce.conflicts.units import is_unit
from vivavoce.conflicts.words import stem

__all__ = ["Label", "labelled", "labels"]


class Label(NamedTuple):
    """A numbered name: what is numbered (`name`), the number, and the words of its clause."""

    name: str
    number: str
    turned: bool
    words: frozenset[str]
    start: int
    end: int


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_ROMAN = {
    r: str(n)
    for n, r in enumerate(["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"], 1)
}
_KINDS = (
    "type|stage|grade|class|phase|group|category|factor|trimester|generation|nerve|cn|il|hiv|hsv|hpv"
    "|interleukin|schedule|lead|level"
)
_LABEL = re.compile(
    rf"""
    (?<!\d\ )\b(?P<ordinal>{"|".join(_ORDINALS)})\ (?P<noun>[^\W\d]{{3,}})
    | \b(?P<n>\d+)\ (?:st|nd|rd|th)\ (?P<noun2>[^\W\d]{{3,}})
    | \b(?P<kind>{_KINDS})\ (?P<value>\d+[a-z]?|[ivx]+|[a-d])\b(?!\ (?:-|to|or|and)\ \d)
    | \b(?P<code>[^\W\d_]{{1,4}})(?P<rest>\d{{1,3}}(?:[a-z]\d?)?)\b
    """,
    re.VERBOSE,
)
_NEAR = 0.5


def labelled(line: Line, clauses: Clauses) -> list[Label]:
    """The numbered names of a line in order."""
    found = []
    for m in _LABEL.finditer(line.text):
        if m["ordinal"]:
            name, number = "ordinal " + stem(m["noun"]), str(_ORDINALS.index(m["ordinal"]) + 1)
        elif m["n"]:
            name, number = "ordinal " + stem(m["noun2"]), m["n"]
        elif m["kind"]:
            name, number = m["kind"], _ROMAN.get(m["value"], m["value"])
        elif is_unit(m[0]) or (m["code"] == "q"):
            continue
        else:
            name, number = m["code"], m["rest"]
        clause = clauses.at(m.start())
        words = frozenset(line.words(max(clause.start, m.start() - 80), min(clause.end, m.end() + 80)))
        found.append(Label(name, number, clause.turned, words - {stem(m[0])}, m.start(), m.end()))
    return found


def labels(
    wanted: Sequence[Label], said: Sequence[Label], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each number of a name that the answer has not, against another that it gives to the same name."""
    meant = [n for n in said if not n.turned]
    known = {(n.name, n.number) for n in wanted if not n.turned}
    has = {(n.name, n.number) for n in meant}
    for label in wanted:
        if label.turned or (label.name, label.number) in has:
            continue
        others = [n for n in meant if n.name == label.name and (n.name, n.number) not in known]
        fits = [(alike(n.words, label.words), -k, n) for k, n in enumerate(others)]
        fit, _, best = max(fits, key=lambda f: f[:2], default=(0.0, 0, None))
        if best is None or fit < _NEAR:
            continue
        yield Conflict(
            "number",
            answer.written(best.start, best.end),
            reference.written(label.start, label.end),
            best.start,
            best.end,
        )
        return
