"""Files in the layout of HealthFC, with questions of our own. Not for clinical use."""

import csv
from collections.abc import Sequence
from pathlib import Path

COLUMNS = (
    *("en_claim", "en_explanation", "en_top_sentences", "de_claim", "de_explanation", "de_top_sentences"),
    *("label", "de_verdict", "de_title", "authors", "date", "url"),
)
SUPPORTED, NO_EVIDENCE, REFUTED = "0", "1", "2"
LABELS = (SUPPORTED,) * 200 + (NO_EVIDENCE,) * 419 + (REFUTED,) * 122
N_PAGES = 644

Row = tuple[str, str, str, str]
"""Claim, explanation, label and page."""

ROWS: tuple[Row, ...] = (
    ("Do vaccines against measles prevent measles?", "Few of those who had two, fell ill.", SUPPORTED, "a"),
    ("Does vitamin C cure measles?", "Nobody has tried it, so that none can say.", NO_EVIDENCE, "a"),
    ("Do antibiotics cure\nthe flu, too?", 'Flu is a virus, and "antibiotics" kill bacteria.', REFUTED, "b"),
)


def write(path: Path, rows: Sequence[Row], *, mark: bool = True, end: str = "\r\n") -> Path:
    """The file as it is published, with a byte order mark and CRLF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig" if mark else "utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator=end)
        table.writerow(COLUMNS)
        for claim, explanation, label, page in rows:
            german = ("Hilft es?", "Das ist unklar.", "['Satz eins.', 'Satz zwei.']")
            rest = ("gut belegt", "Titel", "N. N.", "1. März 2020", page and f"https://example.org/{page}")
            table.writerow((claim, explanation, "['One sentence.']", *german, label, *rest))
    return path


def many() -> list[Row]:
    """750 rows: 741 with these labels on 644 pages, as published, and nine without an explanation.

    97 pages hold two questions, which mostly differ in their label.
    """
    order = sorted(range(len(LABELS)), key=lambda k: k * 367 % len(LABELS))
    rows = [
        (f"Does measure {k} help?", f"A trial of {k} people.", LABELS[k], f"page-{place % N_PAGES}")
        for place, k in enumerate(order)
    ]
    return [*rows, *((f"Does nothing help, {k}?", "", NO_EVIDENCE, f"page-{k}") for k in range(9))]
