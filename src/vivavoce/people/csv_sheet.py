"""A rater's packet as a CSV sheet, for those who prefer a spreadsheet: a row for each answer."""

import csv
import io
import re
from collections.abc import Iterator

from vivavoce.core.spreadsheets import FORMULA
from vivavoce.core.text import label
from vivavoce.people.key import Key

_FORMULA = re.compile(FORMULA)


def csv_packet(key: Key, rater: str) -> bytes:
    """The packet of a rater as CSV: a row per answer. UTF-8 with a BOM, so that spreadsheets detect it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    for line in (*_instructions(key, rater), "", key.task.columns):
        rows.writerow([line] if isinstance(line, str) else line)
    for entry in key.packets[rater]:
        question = key.task.texts_beside(entry.question)
        for n, answer in enumerate(entry.answers):
            columns = question if n == 0 else ("" for _ in question)
            texts = (key.panel, rater, entry.question.name, entry.seal, *columns, label(n), answer.text)
            rows.writerow([*map(_defused, texts), *("" for _ in key.task.filled)])
    return text.getvalue().encode("utf-8-sig", "replace")


def _instructions(key: Key, rater: str) -> Iterator[str]:
    yield f"Panel {key.panel}: the packet of {rater}. Not for clinical use."
    yield _defused(key.task.criterion)
    yield from map(_defused, key.task.instructions())
    yield "Change no other column, and save as CSV (UTF-8)."


def _defused(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet could run it."""
    return f"'{text}" if _FORMULA.match(text) else text
