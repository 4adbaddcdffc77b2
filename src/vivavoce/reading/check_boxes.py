"""Boxes to tick, as forms have them: an answer of boxes says what is ticked, and nothing else."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.core.text import lazy_pattern

_EMPTY = r"[☐□▢⬜◻○◯⚪]\ufe0f?|\[ ?\]|\( ?\)"
_TICKED = r"[☑☒✅✓✔🗹■⬛◼●◉⦿🔘⚫]\ufe0f?|\[[xX✓✔*]\]|\([xX✓✔*•]\)"
_BOX = lazy_pattern(rf"(?P<empty>{_EMPTY})|(?P<ticked>{_TICKED})")
_KINDS = ("☐□▢⬜◻☑☒✅✓✔🗹■⬛◼", "○◯⚪●◉⦿🔘⚫", "[", "(")
"""The boxes of one form: square, round, and in brackets."""
_CROSS = lazy_pattern(r"[✗✘✖❌]\ufe0f?")
_LABEL = lazy_pattern(r"[ \t]*(?:[-*•][ \t]+)?[*_(]*\b[A-Za-z0-9][*_).:]*[ \t]*\Z")
_HEAD = lazy_pattern(r"(?:[^\n]{0,80}[:：])?\W*\Z")
_LABEL_ROOM = 20
_EDGES = " \t\n,;|·-*•–"


class _Entry(NamedTuple):
    """What stands beside a box, and whether it is ticked."""

    text: str
    is_ticked: bool


def without_crossed(text: str) -> str:
    """As `ticked_alone`, of an answer in which a cross turns down what it stands by: "True ✓ False ✗"."""
    return ticked_alone(_CROSS.sub("☐", text))


def ticked_alone(text: str) -> str:
    """An answer of boxes without what stands by the empty ones; any other text as it is.

    Boxes stand before all entries ("☐ A ☑ B"), behind them ("A ☐ B ☑") or between label and text ("A) ☐
    Aspirin"), of one kind each, and one at least is empty. A cross in a box ticks it unless another has a
    tick. Where none is ticked one empty box stands for all: nothing was chosen.
    """
    boxes = [*_BOX.finditer(text)]
    kinds = {next((kind for kind in _KINDS if box[0][0] in kind), "") for box in boxes}
    if len(boxes) < 2 or len(kinds) != 1:
        return text
    head, entries, tail = (
        _leading(text, boxes)
        or _between_label_and_text(text, boxes)
        or _following(text, boxes)
        or ("", [], "")
    )
    ticked = [entry.text for entry in entries if entry.is_ticked]
    if len(ticked) == len(entries) or not all(any(c.isalnum() for c in entry.text) for entry in entries):
        return text
    if len(ticked) > 1 and head:
        head = f"{head.rstrip()}\n"
    return head + "\n".join(ticked or ["☐"]) + (f"\n{tail}" if tail.strip() else "")


_Layout = tuple[str, list[_Entry], str]


def _leading(text: str, boxes: Sequence[re.Match[str]]) -> _Layout | None:
    """Boxes that lead their entries; null where a word stands before the first that is no head."""
    head = text[: boxes[0].start()]
    if not _HEAD.fullmatch(head):
        return None
    ends = [*(box.start() for box in boxes[1:]), len(text)]
    last, _, tail = text[boxes[-1].end() :].partition("\n")
    parts = [text[box.end() : end] for box, end in zip(boxes, ends, strict=True)]
    return head if any(c.isalnum() for c in head) else "", _entries([*parts[:-1], last], boxes), tail


def _following(text: str, boxes: Sequence[re.Match[str]]) -> _Layout | None:
    """Boxes that follow their entries; null where a word stands behind the last on its line."""
    last, _, tail = text[boxes[-1].end() :].partition("\n")
    if any(c.isalnum() for c in last):
        return None
    starts = [0, *(box.end() for box in boxes[:-1])]
    parts = [text[start : box.start()] for start, box in zip(starts, boxes, strict=True)]
    return "", _entries(parts, boxes), tail


def _between_label_and_text(text: str, boxes: Sequence[re.Match[str]]) -> _Layout | None:
    """Boxes between a label and its text; null where one stands otherwise."""
    begins = [0, *(box.end() for box in boxes[:-1])]
    # A label is short; a longer look would cost the square of blanks.
    labels = [
        _LABEL.search(text, max(begin, box.start() - _LABEL_ROOM), box.start())
        for begin, box in zip(begins, boxes, strict=True)
    ]
    if not all(labels):
        return None
    starts = [label.start() for label in labels if label]
    if text[: starts[0]].strip(_EDGES):
        return None
    last, _, tail = text[boxes[-1].end() :].partition("\n")
    texts = [text[box.end() : start] for box, start in zip(boxes, starts[1:], strict=False)]
    parts = [
        f"{text[start : box.start()].strip(_EDGES)} {part.strip(_EDGES)}"
        for start, box, part in zip(starts, boxes, [*texts, last], strict=True)
    ]
    return "", _entries(parts, boxes), tail


def _entries(parts: Sequence[str], boxes: Sequence[re.Match[str]]) -> list[_Entry]:
    """The entries by their boxes; beside a tick a cross is none."""
    has_tick = any(box["ticked"] and box[0][0] in "☑✅✓✔🗹" for box in boxes)
    return [
        _Entry(part.strip(_EDGES), box["ticked"] is not None and not (has_tick and box[0][0] == "☒"))
        for part, box in zip(parts, boxes, strict=True)
    ]
