"""A packet as a CSV file for those who prefer a spreadsheet: a row for each answer, lines to read above."""

import csv
import io
import re
from collections.abc import Iterator

from vivavoce.formats import label
from vivavoce.interchange.spreadsheets import FORMULA
from vivavoce.people.keys import Key

__all__ = ["COLUMNS", "FILLED", "sheet"]

FILLED = ("rank", "clearly_wrong", "tag", "remark")
"""The columns that a rater fills."""
COLUMNS = ("panel", "rater", "item", "seal", "question", "label", "answer", *FILLED)
_FORMULA = re.compile(FORMULA)


def sheet(key: Key, rater: str) -> bytes:
    """The packet of a rater, in UTF-8 with the mark by which spreadsheets know it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    for line in (*_told(key, rater), "", COLUMNS):
        rows.writerow([line] if isinstance(line, str) else line)
    for one in key.packets[rater]:
        for n, shown in enumerate(one.answers):
            asked = one.question.asked if n == 0 else ""
            texts = (key.panel, rater, one.question.name, one.seal, asked, label(n), shown.text)
            rows.writerow([*map(_defused, texts), *("" for _ in FILLED)])
    return text.getvalue().encode("utf-8-sig", "replace")


def _told(key: Key, rater: str) -> Iterator[str]:
    yield f"Panel {key.panel}: the packet of {rater}. Not for clinical use."
    yield _defused(key.criterion)
    yield (
        "rank: a number for every answer to a question, 1 the best; the same number is a tie. clearly_wrong: "
        "x where an answer is clearly wrong; it ranks last and needs no number. tag: good, okay or bad. "
        "remark: what you like, once for a question."
    )
    yield "Change no other column, and save as CSV (UTF-8)."


def _defused(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet could run it."""
    return f"'{text}" if _FORMULA.match(text) else text
