"""What a rater fills in, for a tool that draws its forms itself: a control for each column of a task."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Control(NamedTuple):
    """A column of a task as a form asks for it: one of the `choices`, or a text where there are none.

    `hints` says of some choices what they mean. It stands once for `each` answer, else once for the question.
    One that `orders` holds ranks: which answer is before which counts, and not by how many places.
    """

    column: str
    ask: str
    choices: tuple[str, ...] = ()
    hints: Mapping[str, str] = {}
    each: bool = False
    required: bool = False
    orders: bool = False


class Field(NamedTuple):
    """A control as it stands in a form: for the answer of this number, null for the question."""

    control: Control
    answer: int | None


def field_stems(controls: Sequence[Control]) -> dict[str, str]:
    """By column what its fields are called, in letters that every tool takes; no two alike."""
    stems: dict[str, str] = {}
    for n, control in enumerate(controls):
        stem = re.sub(r"[^a-z0-9_]", "_", control.column.lower())
        if re.search(r"_\d+$", stem) or not re.search(r"[a-z0-9]", stem) or stem in stems.values():
            stem = f"{stem}-{n}x"  # else it could be another column's field of an answer
        stems[control.column] = stem
    return stems


def form_fields(controls: Sequence[Control], n_answers: int) -> dict[str, Field]:
    """The fields of a form for up to `n_answers` answers, by name: `rank_0` is the rank of the first."""
    stems = field_stems(controls)
    fields: dict[str, Field] = {}
    for control in controls:
        numbers: Sequence[int | None] = range(n_answers) if control.each else (None,)
        for n in numbers:
            fields[stems[control.column] + ("" if n is None else f"_{n}")] = Field(control, n)
    return fields
