"""Conflicts between an answer and a reference, found by rules: a screen for edits of a text.

`parse` finds the quantities, frequencies, routes, sides, directions and denials of a text; `conflicts`
compares those of an answer with those of a reference. A conflict is a place to look at and not a verdict. An
answer without one is not cleared: rules know no medicine, and miss words that they do not know.
"""

from typing import NamedTuple

from vivavoce.contrib.conflicts.amounts import Label, find_labels, label_conflicts, quantity_conflicts
from vivavoce.contrib.conflicts.clauses import Clause, Clauses, negation_conflicts
from vivavoce.contrib.conflicts.opposites import Turn, direction_conflicts, find_turns
from vivavoce.contrib.conflicts.quantities import Quantity, find_quantities
from vivavoce.contrib.conflicts.regimens import (
    Often,
    Route,
    find_frequencies,
    find_routes,
    frequency_conflicts,
    route_conflicts,
)
from vivavoce.contrib.conflicts.text import Conflict, Line

KINDS = ("number", "unit", "comparator", "negation", "laterality", "direction", "route", "frequency")
MOST = 300
"""Clauses, and places of each kind, of a reference that are compared."""


class Statements(NamedTuple):
    """The statements of a text that can be in conflict."""

    line: Line
    clauses: list[Clause]
    quantities: list[Quantity]
    frequencies: list[Often]
    routes: list[Route]
    turns: list[Turn]
    labels: list[Label]

    @property
    def compared(self) -> "Statements":
        """What is compared of it as a reference: the first `MOST` of each; itself if it has no more."""
        if all(len(places) <= MOST for places in self[1:]):
            return self
        return Statements(
            self.line,
            self.clauses[:MOST],
            self.quantities[:MOST],
            self.frequencies[:MOST],
            self.routes[:MOST],
            self.turns[:MOST],
            self.labels[:MOST],
        )


def parse(text: str) -> Statements:
    """`text` as what can be compared; a blank text says nothing. Time grows with length, not faster."""
    line = Line(text)
    clauses = Clauses(line)
    how_often = find_frequencies(line, clauses)
    numbered = find_labels(line, clauses)
    taken = [(o.start, o.end) for o in how_often if not o.weak] + [(n.start, n.end) for n in numbered]
    return Statements(
        line,
        clauses.all,
        find_quantities(line, clauses, sorted(taken)),
        how_often,
        find_routes(line, clauses),
        find_turns(line, clauses),
        numbered,
    )


def conflicts(reference: Statements, answer: Statements) -> tuple[Conflict, ...]:
    """The conflicts of an answer with one reference, by kind in the order of `KINDS`, then by place.

    Of a reference the first `MOST` clauses and places of each kind are compared, of an answer all: time grows
    with the length of the answer, however long both are.
    """
    reference = reference.compared
    lines = reference.line, answer.line
    result = [
        *quantity_conflicts(reference.quantities, answer.quantities, *lines),
        *label_conflicts(reference.labels, answer.labels, *lines),
        *frequency_conflicts(reference.frequencies, answer.frequencies, *lines),
        *route_conflicts(reference.routes, answer.routes, *lines),
        *direction_conflicts(reference.turns, answer.turns, *lines),
    ]
    spans = [(c.start, c.end) for c in result if c.kind in {"comparator", "direction", "route"}]
    for denial in negation_conflicts(reference.clauses, answer.clauses, *lines):
        # "stopped" for "started" is one conflict, whether or not the rules take it for a denial as well
        if not any(denial.start < end and start < denial.end for start, end in spans):
            result.append(denial)
            spans.append((denial.start, denial.end))
    return tuple(sorted(result, key=lambda c: (KINDS.index(c.kind), c.start)))
