"""Polarity: does a measure tell "Yes." from "No.", and a right answer from one with a wrong dose?

A small fixed set of contrast pairs in `contrasts.jsonl`, worded for this purpose, not for clinical use. Each
has a reference, the same meaning in other words (`right`), a contradiction that differs in a word or a number
(`wrong`), and a text about something else (`unrelated`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.records import Measure
from vivavoce.studies.audit.rows import AuditRow, audit_row

FILE = Path(__file__).with_name("contrasts.jsonl")
YES_NO = "yes_no"
SIDES = ("reference", "right", "wrong", "unrelated")
FLAT = "it gives an unrelated text as much as the reference"
NOT_SCORED = "the contrast pairs were not scored here"

ContrastScores = Mapping[tuple[str, str], float]
"""By pair and side what a measure gives that text beside the pair's reference."""


class ContrastPair(NamedTuple):
    """A question with its reference, and three other texts to score beside it."""

    pair: str
    kind: str
    question: str
    reference: str
    right: str
    wrong: str
    unrelated: str

    def texts(self) -> Iterator[tuple[str, str]]:
        """The texts to score, each with its side."""
        return ((side, getattr(self, side)) for side in SIDES)


@cache
def contrast_pairs() -> tuple[ContrastPair, ...]:
    """The pairs that ship, in their order."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(ContrastPair(**json.loads(line)) for line in lines)


def polarity(
    benchmark: str, measure: Measure, scored: ContrastScores | str, alike: float
) -> Iterator[AuditRow]:
    """A row for each pair, and one of all: the share of pairs that the measure tells apart.

    `lost` is what the contradiction loses against the reference, as a share of what the unrelated text loses:
    0 is no loss, 1 as bad as unrelated. Under `alike` the measure calls both texts alike. It
    `prefers_wrong` where the contradiction has no less than the right answer in other words.
    """
    row = audit_row("polarity", benchmark, measure)
    if isinstance(scored, str):
        yield replace(row, figure="told_apart", reason=scored)
        return
    sign = 1.0 if measure.criterion.direction == "higher" else -1.0
    rows = [_pair_row(replace(row, threshold=alike), pair, scored, sign) for pair in contrast_pairs()]
    separated = [not r.alike for r in rows if r.alike is not None]
    row = replace(row, figure="told_apart", n_units=len(separated), threshold=alike)
    if separated:
        yield replace(row, value=sum(separated) / len(separated))
    else:
        yield replace(row, reason=FLAT)
    yield from rows


def _pair_row(row: AuditRow, pair: ContrastPair, scored: ContrastScores, sign: float) -> AuditRow:
    """The row of one pair; `sign` is -1 where lower is better."""
    values = {side: scored[pair.pair, side] for side in SIDES if (pair.pair, side) in scored}
    # All four scores stand in the row: a reader can hold the share against what it was made of.
    columns: dict[str, Any] = {f"score_{side}": value for side, value in values.items()}
    row = replace(row, figure="lost", contrast=pair.pair, against=pair.kind, **columns)
    row = replace(row, prefers_wrong=_prefers_wrong(values, sign))
    lost = _lost({side: sign * value for side, value in values.items()})
    if isinstance(lost, str):
        return replace(row, reason=lost)
    return replace(row, value=lost, alike=lost < (row.threshold or 0.0))


def _lost(upward: Mapping[str, float]) -> float | str:
    """What the contradiction loses as a share of what the unrelated text does, or why that is not known."""
    if not {"reference", "wrong", "unrelated"} <= upward.keys():
        return "it gave one of the texts no value"
    # The unrelated text is the floor: an embedding gives 0 to nothing, and 1 to the text itself alone.
    full_range = upward["reference"] - upward["unrelated"]
    if full_range <= 1e-9:
        return FLAT
    return (upward["reference"] - upward["wrong"]) / full_range


def _prefers_wrong(values: Mapping[str, float], sign: float) -> bool | None:
    if not {"right", "wrong"} <= values.keys():
        return None
    return sign * (values["wrong"] - values["right"]) >= -1e-9


def alike_yes_no(rows: Sequence[AuditRow]) -> AuditRow | None:
    """The pair of "Yes." and "No." that a measure calls alike, the one with least loss; null for none."""
    alike = [row for row in rows if row.against == YES_NO and row.alike]
    return min(alike, key=lambda row: row.value or 0.0) if alike else None
