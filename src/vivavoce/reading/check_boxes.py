"""Boxes to tick, as forms have them: an answer of boxes says what is ticked, and nothing else."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.tokens import Doc
from vivavoce.reading import lexicon as words

_EMPTY = r"[☐□▢⬜◻○◯⚪]\ufe0f?|\[ ?\]|\( ?\)"
_TICKED = r"[☑☒✅✓✔🗹■⬛◼●◉⦿🔘⚫]\ufe0f?|\[[xX✓✔*]\]|\([xX✓✔*•]\)"
_BOX = lazy_pattern(rf"(?P<empty>{_EMPTY})|(?P<ticked>{_TICKED})")
_KINDS = ("☐□▢⬜◻☑☒✅✓✔🗹■⬛◼", "○◯⚪●◉⦿🔘⚫", "[", "(")
"""The boxes of one form: square, round, and in brackets."""
_CROSS = lazy_pattern(r"[✗✘✖❌]\ufe0f?")
_LABEL = lazy_pattern(r"[ \t]*(?:[-*•][ \t]+)?[*_(]*\b[A-Za-z0-9][*_).:]*[ \t]*\Z")
_HEAD = lazy_pattern(r"(?:[^\n]{0,80}[:：])?\W*\Z")
_LABELLED = lazy_pattern(
    r"[ \t]*(?:[-*•][ \t]+)?(?P<lead>[✓✔☑✅👉→➡]\ufe0f?[ \t]*)?"
    r"(?P<entry>[*_(]*(?P<label>[A-Ja-j])\b(?!['’]).{0,300}?)"
    r"(?P<mark>[ \t]*(?:[✓✔☑✅👈←⟵⬅]\ufe0f?|<[-=]{1,3})[ \t]*(?P<words>[^\n✓✔☑✅👈←⟵⬅<]{0,40}))?[ \t]*"
)
"""A line of one option, with a tick or an arrow that leads it or points to it, and the words of the arrow."""
_POINTERS = lazy_pattern("[✓✔☑✅👉→➡👈←⟵⬅]|<[-=]")
_POINTING = words.ANSWER_NOUNS | words.forms(
    "answer choice correct right best final my the this one pick antwort richtig correcta correcto",
    "respuesta réponse bonne correcte risposta corretta resposta correta",
)
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
    tick or a cross. Where none is ticked one empty box stands for all: nothing was chosen.
    """
    text = _pointed_alone(text) if _POINTERS.search(text) else text
    boxes = [*_BOX.finditer(text)]
    kinds = {next((kind for kind in _KINDS if box[0][0] in kind), "") for box in boxes}
    if len(boxes) < 2 or len(kinds) != 1:
        return text
    for layout in (_leading, _between_label_and_text, _following):
        if form := layout(text, boxes):
            return _ticked(form) or text
    return text


def _ticked(form: "_Layout") -> str:
    """What is ticked, an entry a line, below the head; '' where all is, or where an entry has no word."""
    head, entries, tail = form
    ticked = [entry.text for entry in entries if entry.is_ticked]
    if len(ticked) == len(entries) or not all(map(_has_word, entries)):
        return ""
    divided = f"{head.rstrip()}\n" if len(ticked) > 1 and head else head
    return divided + "\n".join([*(ticked or ["☐"]), *filter(str.strip, [tail])])


def _has_word(entry: "_Entry") -> bool:
    return any(c.isalnum() for c in entry.text)


def _pointed_alone(text: str) -> str:
    """The options of a list that has each on a line without those to which no tick and no arrow points.

    Any other text as it is: lines of two options or of one label twice, words of an arrow that say more than
    that it is the answer, and a list in which all or none are marked.
    """
    lines = list(filter(str.strip, text.split("\n")))
    entries = [entry for entry in takewhile(bool, map(_LABELLED.fullmatch, lines)) if entry]
    marked = list(filter(_is_marked, entries))
    is_list = len({entry["label"].lower() for entry in entries}) == len(entries)
    if not is_list or len(marked) in (0, len(entries)) or not all(map(_points, marked)):
        return text
    return "\n".join([*(entry["entry"].strip() for entry in marked), *lines[len(entries) :]])


def _is_marked(entry: re.Match[str]) -> bool:
    return bool(entry["lead"] or entry["mark"])


def _points(entry: re.Match[str]) -> bool:
    """Whether the words of an arrow say no more than that it points to the answer."""
    return not entry["words"] or _POINTING.issuperset(Doc(entry["words"]).forms)


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
    """The entries by their boxes; a cross ticks where it is the only mark, as several may strike out."""
    has_tick = any(box["ticked"] and box[0][0] in "☑✅✓✔🗹" for box in boxes)
    cross_ticks = not has_tick and sum(box[0][0] == "☒" for box in boxes) == 1
    return [
        _Entry(part.strip(_EDGES), box["ticked"] is not None and (box[0][0] != "☒" or cross_ticks))
        for part, box in zip(parts, boxes, strict=True)
    ]
