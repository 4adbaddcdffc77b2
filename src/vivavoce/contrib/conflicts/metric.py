"""Conflict: a screen for edits of a text, which similarity does not see.

Two sentences that differ in "not", in a decimal point or in left and right are nearly the same to any
measure of overlap or of meaning. Rules look for exactly these: changed numbers, units, comparators,
negations, sides and places, directions, routes and frequencies (`vivavoce.contrib.conflicts`).

It does not diagnose wrong answers. An independent audit planted 30 single edits, of which it found 28. On
real recorded answers its precision was 33 % and its recall about 11 %. So nothing runs it unless it is named.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from vivavoce.contrib.conflicts import KINDS, MOST, conflicts, parse
from vivavoce.contrib.conflicts.text import Conflict
from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.text import one_line
from vivavoce.metrics import Metric, ScoringContext

_SHOWN = 60
"""Characters of a place that a note shows."""
_NAMED = 8
"""Conflicts that a note names; the parts count them all."""


@metric("conflict")
class ConflictScreen(Metric):
    """Share of answers flagged for a conflict with the reference; a screen for edits; lower is better.

    It screens texts that should be the same but for an edit: a changed dose, negation or side. It does not
    diagnose wrong answers: of 30 planted single edits it found 28, but on real recorded answers its precision
    was 33 % and its recall about 11 %.

    1 if the answer changes a number, unit, comparator, negation, side, direction, route or frequency of the
    reference, else 0. `parts` count the conflicts of each kind, the note names the places. Of several
    references the one with the fewest conflicts counts. What the answer adds is no conflict, nor is the same
    quantity in another notation. Rules find them, no model is asked: they know no medicine. What is blank or
    refused says nothing and is set aside. Of a reference the first 300 clauses, and places of each kind, are
    compared; the note says where it has more.
    """

    criteria = (Criterion(criterion="conflict", direction="lower", if_unanswered="set_aside"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)
    suggested = False

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row; a text that names nothing comparable gives 0."""
        return [{"conflict": _screened(row, context)} for row in rows]


def _screened(row: Row, context: ScoringContext) -> Value:
    answer = parse(row.reading.text)  # not kept: it is larger than its text and hardly ever comes again
    by_reference = []
    for text in row.item.references:
        reference = context.once(parse, text)
        entry = conflicts(reference, answer)
        by_reference.append((_note(entry, reference.compared is not reference), entry))
    # notes decide between references with as many, so that their order does not
    note, fewest = min(by_reference, key=lambda f: (len(f[1]), f[0]))
    counts = Counter(entry.kind for entry in fewest)
    parts = {kind: float(counts[kind]) for kind in KINDS}
    return Value(float(bool(fewest)), parts, note or None)


def _note(conflicts: Sequence[Conflict], cut: bool) -> str:
    sentences = [
        f'{entry.kind}: "{one_line(entry.answer, _SHOWN)}" against "{one_line(entry.reference, _SHOWN)}"'
        for entry in conflicts[:_NAMED]
    ]
    if len(conflicts) > _NAMED:
        sentences.append(f"and {len(conflicts) - _NAMED} more")
    if cut:
        sentences.append(f"of the reference no more than the first {MOST} places of a kind are compared")
    return "; ".join(sentences)
