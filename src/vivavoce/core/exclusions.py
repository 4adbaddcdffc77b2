"""Rows of a benchmark's files that became no item: counted by reason, and said in words."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from vivavoce.core.records import Exclusion
from vivavoce.core.text import one_line, printable

MOST_REASONS = 8
"""Reasons that a sentence names; those behind them are counted together."""
_WIDTH = 80
"""Characters of a reason, a file's name and an id that are kept."""


def plain(exclusion: Exclusion) -> Exclusion:
    """The exclusion as it may be stored and shown: names and reason short, printable and on one line.

    A loader may be anybody's, and so may the ids and names in its files. Raises `TypeError` for a row that is
    neither a number nor an id, and for a file or a reason that is no text.
    """
    file, row, reason = exclusion
    if not isinstance(file, str) or not isinstance(reason, str):
        raise TypeError("an Exclusion needs texts as its file and its reason")
    if not isinstance(row, int | str) or isinstance(row, bool):
        raise TypeError("the row of an Exclusion is its number, or the id that it bears")
    row = row if isinstance(row, int) and abs(row) < 2**63 else _short(str(row))
    return Exclusion(_short(file), row, _short(reason) or "no reason is stated")


def _short(text: str) -> str:
    return printable(one_line(text, _WIDTH))


def reasons(exclusions: Iterable[Exclusion]) -> dict[str, int]:
    """How many rows each reason left out, the most frequent first, then by name."""
    counts = Counter(exclusion.reason for exclusion in exclusions)
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def reasons_in_words(exclusions: Iterable[Exclusion] | Mapping[str, int]) -> str:
    """Rows by reason, as "9 two options are equal, 3 the question is blank"; of many reasons the first."""
    counts = exclusions if isinstance(exclusions, Mapping) else reasons(exclusions)
    named = [f"{n:,} {reason}" for reason, n in list(counts.items())[:MOST_REASONS]]
    rest = list(counts.values())[MOST_REASONS:]
    return ", ".join(named) + (f", and {sum(rest):,} for {len(rest):,} other reasons" if rest else "")


def exclusions_in_words(counts: Mapping[str, int], items: int) -> str:
    """As "12 of 4,195 rows were left out: 9 two options are equal, …", beside so many items."""
    total = sum(counts.values())
    were = "was" if total == 1 else "were"
    return f"{total:,} of {total + items:,} rows {were} left out: {reasons_in_words(counts)}"


def digest(exclusions: Sequence[Exclusion]) -> str:
    """First 8 hex digits of SHA-256 over the exclusions in their order."""
    text = json.dumps([list(exclusion) for exclusion in exclusions])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
