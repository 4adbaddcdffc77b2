"""Contests: answers of several candidates to one item are marked side by side, a ballot for each order.

A ballot is k rows that share its name, each with the position at which its answer was shown. Every order is a
row of its own: where two orders contradict each other, their mean is a tie. Who says nothing loses to
everybody who answered, without an examiner; whose answer we lost is on no ballot but its own failed one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.metrics import Compares, Lab
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.score.checks import check_silence, checked, read
from vivavoce.store.pending import Ballot, Pending, ballots, contestants
from vivavoce.store.write import Mark

if TYPE_CHECKING:
    import sqlite3

__all__ = ["RANK", "Lot", "lots", "settle"]

RANK = "rank"
"""The pool of a criterion that is a mid-rank. All others of a contest are the share of the others on the
ballot that an answer beats, ties half.
"""


class Lot(NamedTuple):
    """Answers to one item that stand on a ballot, in the order shown.

    `replaces` are ballots there were of the same item and repeat: this one, with marks that are missing, and
    those that fewer candidates stood on.
    """

    ballot: str
    answers: tuple[Pending, ...]
    replaces: tuple[str, ...]


def lots(
    db: "sqlite3.Connection",
    metric: Compares,
    items: Mapping[int, Item],
    measures: Sequence[int],
    pass_no: int,
) -> list[Lot]:
    """The ballots to be filled in a pass: every item and repeat that two candidates or more have answered."""
    keys = {(i.benchmark, i.item, i.variant): key for key, i in items.items()}
    there: dict[tuple[int, int], dict[str, Ballot]] = {}
    for ballot in ballots(db, measures, pass_no):
        there.setdefault((ballot.item, ballot.repeat), {})[ballot.ballot] = ballot
    found = []
    answered = sorted(contestants(db, items), key=_place)
    for (benchmark, item, variant, repeat), said in groupby(answered, key=_place):
        here = {p.response.candidate: p for p in said}
        place = f"{benchmark}|{item}|{variant}|{repeat}"
        wanted = {_ballot(place, names): names for names in metric.orders(sorted(here), place)}
        old = there.get((keys[benchmark, item, variant], repeat), {})
        outdated = tuple(name for name in old if name not in wanted)
        for name, names in wanted.items():
            if name in old and old[name].whole and old[name].marks == len(names) * len(measures):
                continue
            found.append(Lot(name, tuple(here[who] for who in names), (name, *outdated)))
    return found


def _place(p: Pending) -> tuple[str, str, str, int]:
    r = p.response
    return r.benchmark, r.item, r.variant, r.repeat


def _ballot(place: str, names: Sequence[str]) -> str:
    """A name that the same answers in the same order always bear."""
    return hashlib.sha256("\n".join((place, *names)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def settle(metric: Compares, todo: Sequence[Lot], pass_no: int, lab: Lab) -> Mapping[str, Sequence[Mark]]:
    """The marks of these ballots by criterion."""
    read_as = [[read(p, lab) for p in lot.answers] for lot in todo]
    shown = [[row for row in found if isinstance(row, Row)] for found in read_as]
    asked = iter(metric.compare([rows for rows in shown if len(rows) > 1], lab))
    marks: dict[str, list[Mark]] = {c.criterion: [] for c in metric.criteria}
    for lot, found, rows in zip(todo, read_as, shown, strict=True):
        given = iter(next(asked) if len(rows) > 1 else [{}])
        silent = sum(isinstance(one, Value) and one.status != "failed" for one in found)
        for position, (p, one) in enumerate(zip(lot.answers, found, strict=True), 1):
            said = next(given) if isinstance(one, Row) else {}
            for c in metric.criteria:
                if isinstance(one, Value):
                    value = one
                    if one.status != "failed" and c.pool != RANK:  # nobody takes a mean over ranks
                        check_silence(metric, p, c)
                elif len(rows) == 1:
                    value = _alone(silent)
                else:
                    value = _among(metric, one, said, c, len(rows), silent)
                marks[c.criterion].append(Mark(p.key, value, pass_no, lot.ballot, position))
    return marks


def _alone(silent: int) -> Value:
    """The value of the only answer that can be read: before all who said nothing."""
    if not silent:
        return Value(None, note="there was no other answer to compare it with", status="failed")
    return Value(1.0, note="nobody else on the ballot answered")


def _among(metric: Compares, row: Row, said: Mapping[str, Value], c: Criterion, n: int, silent: int) -> Value:
    """The value among `n` that were compared, and before the `silent`."""
    value = checked(metric, row, said, c)
    assert isinstance(value, Value)  # ballots have no units
    if value.value is None or not silent or c.pool == RANK:
        return value
    return value._replace(value=(value.value * (n - 1) + silent) / (n - 1 + silent))
