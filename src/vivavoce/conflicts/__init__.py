"""Conflicts between an answer and a reference, found by rules: a screen for what similarity does not see.

`read` finds in a text its quantities, frequencies, routes, sides, directions and denials; `conflicts` sets
those of an answer against those of a reference. A conflict says: look here. It is no verdict, and its absence
is no clean bill: rules know no medicine, and words they do not know pass.
"""

from typing import NamedTuple

from vivavoce.conflicts.amounts import amounts
from vivavoce.conflicts.clauses import Clause, Clauses
from vivavoce.conflicts.found import Conflict
from vivavoce.conflicts.frequencies import Often, frequencies, often
from vivavoce.conflicts.labels import Label, labelled, labels
from vivavoce.conflicts.line import Line
from vivavoce.conflicts.negations import negations
from vivavoce.conflicts.opposites import Turn, opposites, turns
from vivavoce.conflicts.quantities import Quantity, quantities
from vivavoce.conflicts.routes import Route, routes, ways

__all__ = ["KINDS", "MOST", "Conflict", "Said", "conflicts", "read"]

KINDS = ("number", "unit", "comparator", "negation", "laterality", "direction", "route", "frequency")
MOST = 300
"""Clauses, and places of each kind, of a reference that are compared."""


class Said(NamedTuple):
    """What a text says that can be in conflict."""

    line: Line
    clauses: list[Clause]
    quantities: list[Quantity]
    frequencies: list[Often]
    routes: list[Route]
    turns: list[Turn]
    labels: list[Label]

    @property
    def compared(self) -> "Said":
        """What is compared of it as a reference: the first `MOST` of each; itself if it has no more."""
        if all(len(found) <= MOST for found in self[1:]):
            return self
        return Said(
            self.line,
            self.clauses[:MOST],
            self.quantities[:MOST],
            self.frequencies[:MOST],
            self.routes[:MOST],
            self.turns[:MOST],
            self.labels[:MOST],
        )


def read(text: str) -> Said:
    """`text` as what can be compared; a blank text says nothing. Time grows with length, not faster."""
    line = Line(text)
    clauses = Clauses(line)
    how_often = often(line, clauses)
    numbered = labelled(line, clauses)
    taken = [(o.start, o.end) for o in how_often if not o.weak] + [(n.start, n.end) for n in numbered]
    return Said(
        line,
        clauses.all,
        quantities(line, clauses, sorted(taken)),
        how_often,
        ways(line, clauses),
        turns(line, clauses),
        numbered,
    )


def conflicts(reference: Said, answer: Said) -> tuple[Conflict, ...]:
    """The conflicts of an answer with one reference, by kind in the order of `KINDS`, then by place.

    Of a reference the first `MOST` clauses and places of each kind are compared, of an answer all: time grows
    with the length of the answer, however long both are.
    """
    reference = reference.compared
    lines = reference.line, answer.line
    found = [
        *amounts(reference.quantities, answer.quantities, *lines),
        *labels(reference.labels, answer.labels, *lines),
        *frequencies(reference.frequencies, answer.frequencies, *lines),
        *routes(reference.routes, answer.routes, *lines),
        *opposites(reference.turns, answer.turns, *lines),
    ]
    spans = [(c.start, c.end) for c in found if c.kind in {"comparator", "direction", "route"}]
    for denial in negations(reference.clauses, answer.clauses, *lines):
        # "stopped" for "started" is one conflict, whether or not the rules take it for a denial as well
        if not any(denial.start < end and start < denial.end for start, end in spans):
            found.append(denial)
            spans.append((denial.start, denial.end))
    return tuple(sorted(found, key=lambda c: (KINDS.index(c.kind), c.start)))
