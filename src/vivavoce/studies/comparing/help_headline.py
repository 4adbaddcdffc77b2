"""What help brings to people in one line: accuracy, speed and confidence."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from vivavoce.core.records import Measure
from vivavoce.core.short_names import Name
from vivavoce.studies.comparing.headline import (
    MORE,
    Row,
    Unit,
    difference_words,
    fitting_headline,
    names_in_order,
    pair_headline,
    row_criterion,
    scope_of_rows,
)
from vivavoce.studies.comparing.outcome_words import comparative, opposite, side_of
from vivavoce.studies.comparing.verdicts import DIFFERENT
from vivavoce.studies.text import and_so


def help_headline(rows: Sequence[Row], measures: Iterable[Measure]) -> str:
    """What help brings to people in one line: how good their answers are, how fast, and how sure they are.

    `rows` are of one pair, people with help and people alone, by several measures. The intervals of all but
    the first give way where the line is too long.
    """
    all_measures = list(measures)
    units = [Unit(row_criterion(row, all_measures)) for row in rows]

    def write(name: Name, *, intervals: bool) -> list[str]:
        first, (a, b) = pair_headline(rows[0], units[0], name), map(name, (rows[0]["a"], rows[0]["b"]))
        if rows[0]["verdict_code"] == "cannot_tell":  # its figures would take the room of the others
            first = f"No significant difference in {rows[0]['criterion']} between {a} and {b}."
        return [first, *_with_help(list(zip(rows, units, strict=True))[1:], intervals=intervals)]

    names, scope = names_in_order(rows, ()), scope_of_rows(rows)
    line = fitting_headline(partial(write, intervals=True), names, scope)
    return line if MORE not in line else fitting_headline(partial(write, intervals=False), names, scope)


def _with_help(measured: Sequence[tuple[Row, Unit]], *, intervals: bool) -> Iterator[str]:
    """What help brings by these measures: a sentence on those that differ, one on those that do not."""
    if clauses := [_clause(*m, intervals=intervals) for m in measured if m[0]["verdict_code"] in DIFFERENT]:
        yield f"With help they are {and_so(clauses)}."
    if alike := [row["criterion"] for row, _ in measured if row["verdict_code"] == "cannot_tell"]:
        yield f"No significant difference in {and_so(alike)}."
    for row, _ in measured:
        if row["verdict_code"] not in (*DIFFERENT, "cannot_tell"):
            yield f"{row['criterion']}: {_verdict(row)}"


def _clause(row: Row, unit: Unit, *, intervals: bool) -> str:
    """What people are with help, and by how much."""
    word, amount = comparative(row["verdict_code"], row.get("signature")), difference_words(row, unit)
    amount = amount if intervals else amount.partition(" (")[0]
    return f"{word if side_of(row) == 'a' else opposite(word)} by {amount}"


def _verdict(row: Row) -> str:
    """A verdict that separates nobody, in words that can follow a colon."""
    words = str(row["verdict"] or "").removesuffix(row.get("scope") or "").rstrip().replace(";", ",")
    return f"{words[:1].lower()}{words[1:]}"
