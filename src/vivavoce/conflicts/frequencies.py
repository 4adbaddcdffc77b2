"""Conflicts of frequency: how often a day something is done."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.conflicts.clauses import Clauses
from vivavoce.conflicts.found import Conflict, alike
from vivavoce.conflicts.line import Line

__all__ = ["Often", "frequencies", "often"]


class Often(NamedTuple):
    """A frequency: from `low` to `high` times a day (0: once and no more); `weak` if it may be a total."""

    low: float
    high: float
    weak: bool
    turned: bool
    words: tuple[str, ...]
    start: int
    end: int


_N = r"\d+(?:\.\d+)?"
_DAYS = {
    "minute min": 1 / 1440, "h hr hour hourly": 1 / 24,
    "day d daily night nightly morning evening bedtime": 1.0,
    "week wk weekly": 7.0, "fortnight": 14.0, "month monthly": 30.4375, "quarter": 91.3125,
    "year yearly annually annum": 365.25,
}  # fmt: skip
_PERIOD = {name: 1 / days for names, days in _DAYS.items() for name in names.split()}
"""Times a day of what is done once in each."""
_LATIN = {
    "bid": 2,
    "bd": 2,
    "tid": 3,
    "tds": 3,
    "qid": 4,
    "qds": 4,
    "od": 1,
    "qd": 1,
    "qam": 1,
    "qpm": 1,
    "qhs": 1,
    "qod": 0.5,
}
_OFTEN = re.compile(
    rf"""
    \b(?:
      (?P<latin>bid|bd|tid|tds|qid|qds|od|qd|qam|qpm|qhs|qod)
    | (?:once|(?P<twice>twice)|(?P<thrice>thrice)|(?P<times>{_N})(?:\ (?:-
        |to)\ (?P<upto>{_N}))?\ (?:times?|x|doses?))\ ?
        (?:(?:a|an|per|each|every|/|in\ (?:a|each))\ )?(?:(?P<of>{_N})\ )?
        (?P<unit>day|week|month|year|hour|night|daily|weekly|monthly|yearly|annually|nightly|morning|evening)s?
    | (?:every|each|q)\ (?P<other>other|second|alternate)\ (?P<ounit>day|week|month|year|night|morning)
    | alternate\ (?P<aunit>day|week)s | (?P<everyother>on\ alternate\ days)
    | (?:every|q)\ ?(?P<each>{_N})\ ?(?:(?:-|to)\ ?(?P<eto>{_N})\ )?(?P<eunit>min|minute|h|hr|hour|hourly
        |day|d|week|wk|month|year)s?
    | q(?P<q>\d+)(?:\ -\ (?P<qto>\d+))?\ ?(?P<qunit>h|hr|hour|hours|d|w)?
    | q(?P<qn>\d+)(?P<qnunit>h|hr|d|wk|w|min)
    | (?<!the\ )(?P<hourly>{_N})\ (?P<hunit>hourly|weekly|monthly|yearly)
    | (?P<divided>{_N})\ (?:(?:equally\ )?divided|equal|separate)\ doses
    | (?:every|each|per)\ (?P<single>day|week|month|year|hour|night|morning|evening)
    | (?P<bare>weekly|monthly|yearly|annually|nightly|hourly|fortnightly)
    | (?P<two>bi|twice)\ ?(?P<bunit>daily|weekly|monthly)
    | (?P<biweekly>biweekly)
    | (?:at|before)\ (?P<bed>bedtime)
    | (?P<once>(?:(?:as\ )?an?\ |as\ )?single\b(?=\ (?:\S+\ ){{0,4}}?dose\b)|1\ dose(?=\ of\b|\ [.,]|$)
        |1\ time\ only|once\ only|one\ off|one\ dose|a\ single\ time|stat)(?!s)
    | (?P<daily>daily)
    )(?![\w])
    """,
    re.VERBOSE,
)
_TOTAL = re.compile(r"(?:per|every|each) (?:day|week|month|year|hour|night)")


def often(line: Line, clauses: Clauses) -> list[Often]:
    """The frequencies of a line in order. "Every day" is one, "per day" behind an amount is not."""
    found = []
    for m in _OFTEN.finditer(line.text):
        if m["single"] and m[0].startswith("per "):
            continue
        span = _times(m)
        if span is None:
            continue
        clause = clauses.at(m.start())
        words = tuple(line.words(max(clause.start, m.start() - 60), min(clause.end, m.end() + 60)))
        found.append(
            Often(min(span), max(span), m["daily"] is not None, clause.sign < 0, words, m.start(), m.end())
        )
    return found


def _times(m: re.Match[str]) -> tuple[float, float] | None:
    if m["latin"]:
        return (_LATIN[m["latin"]],) * 2
    if m["unit"]:
        times = 2.0 if m["twice"] else 3.0 if m["thrice"] else float(m["times"] or 1)
        most = float(m["upto"] or times)
        period = _PERIOD[m["unit"]] / (float(m["of"] or 1) or 1)
        return times * period, most * period
    if m["ounit"] or m["aunit"]:
        return (_PERIOD[m["ounit"] or m["aunit"]] / 2,) * 2
    if m["everyother"]:
        return 0.5, 0.5
    if m["each"]:
        return _every(m["each"], m["eto"], m["eunit"])
    if m["q"]:
        return _every(m["q"], m["qto"], (m["qunit"] or "h").rstrip("s").replace("w", "week"))
    if m["qn"]:
        return _every(m["qn"], None, {"w": "week"}.get(m["qnunit"], m["qnunit"]))
    if m["hourly"]:
        return _every(
            m["hourly"],
            None,
            {"hourly": "h", "weekly": "week", "monthly": "month", "yearly": "year"}[m["hunit"]],
        )
    if m["divided"]:
        return (float(m["divided"]),) * 2
    if m["single"]:
        return (_PERIOD[m["single"]],) * 2
    if m["bare"]:
        return (1 / 14 if m["bare"] == "fortnightly" else _PERIOD[m["bare"]],) * 2
    if m["bunit"]:
        return (2 * _PERIOD[m["bunit"]],) * 2
    if m["biweekly"]:
        return 1 / 14, 2 / 7  # some mean every two weeks, some twice a week
    if m["once"]:
        return 0.0, 0.0
    return 1.0, 1.0


def _every(number: str, upto: str | None, unit: str) -> tuple[float, float] | None:
    first, last = float(number), float(upto or number)
    if not first or not last:
        return None
    return _PERIOD[unit] / first, _PERIOD[unit] / last


def frequencies(
    wanted: Sequence[Often], said: Sequence[Often], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each frequency of the reference that the answer has not, against one it has in its place."""
    meant = [o for o in said if not o.turned]
    known = [o for o in wanted if not o.turned]
    free = [o for o in meant if not any(_equal(w, o) for w in known)]
    for often_ in known:
        if any(_equal(often_, o) for o in meant):
            continue
        fits = [(alike(o.words, often_.words), -n, o) for n, o in enumerate(free)]
        if not fits:
            return
        fit, _, best = max(fits, key=lambda f: f[:2])
        if fit < 0.34 and not (len(known) == len(free) == 1 and fit > 0):
            continue
        free.remove(best)
        yield Conflict(
            "frequency",
            answer.written(best.start, best.end),
            reference.written(often_.start, often_.end),
            best.start,
            best.end,
        )


def _equal(one: Often, two: Often) -> bool:
    if one.weak != two.weak and (one.low > 1 or two.low > 1):
        return False
    return one.low <= two.high * 1.05 and two.low <= one.high * 1.05
