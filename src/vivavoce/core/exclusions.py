"""Rows of a benchmark's files that became no item: counted by reason, and said in words."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Exclusion
from vivavoce.core.text import one_line, printable

MOST_REASONS = 8
"""Reasons that a sentence names; those behind them are counted together."""
MOST_COUNTED = 100
"""Reasons with a number of their own in `--json`."""
Faulty = Literal["refuse", "exclude"]
"""What becomes of a user's own exam with a row that can be no item: it is refused, or the row left out."""
_WIDTH = 80
"""Characters of a reason, a file's name and an id that are kept."""


class ExclusionCounts(NamedTuple):
    """How many rows a benchmark leaves out under a spec, by reason, beside so many that are items."""

    benchmark: str
    spec: str
    items: int
    reasons: Mapping[str, int]

    @property
    def total(self) -> int:
        """The rows left out."""
        return sum(self.reasons.values())

    @property
    def text(self) -> str:
        """As "12 of 4,195 rows of careqa were left out: 9 two options are equal, …"."""
        total = self.total
        were = "was" if total == 1 else "were"
        return (
            f"{total:,} of {total + self.items:,} rows of {self.benchmark} {were} left out: "
            f"{reasons_in_words(self.reasons)}."
        )

    @property
    def facts(self) -> dict[str, Any]:
        """The same for `--json`: the rows left out, of how many, and how many for each reason.

        Of very many reasons the first are named, and the others counted as one.
        """
        named = dict(list(self.reasons.items())[:MOST_COUNTED])
        remainder = self.total - sum(named.values())
        return self.numbers | {"exclusions": named | ({"other reasons": remainder} if remainder else {})}

    @property
    def numbers(self) -> dict[str, Any]:
        """The rows left out, and of how many: what a step of provenance says."""
        return {"excluded": self.total, "excluded_of": self.total + self.items}


def refuse_mostly_faulty(exclusions: Sequence[Exclusion], items: int, exam: str) -> None:
    """Raise `InputError` where more than half of a user's questions would be left out: it is read wrongly."""
    if len(exclusions) > items:
        n, total = len(exclusions), len(exclusions) + items
        raise InputError(
            f"{n:,} of {total:,} rows of {exam} can be no question, more than half: "
            f"{reasons_in_words(reasons(exclusions))}. So many say that it is read wrongly: `viva show` says "
            "which columns are taken for what, and columns=[answer:COLUMN] or --map takes others."
        )


def exclusion_facts(counts: ExclusionCounts | None) -> dict[str, Any]:
    """The facts of a benchmark for `--json`, also of one that leaves nothing out."""
    return counts.facts if counts else {"excluded": 0, "excluded_of": None, "exclusions": {}}


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


def exclusion_at(where: str, reason: str) -> Exclusion:
    """The exclusion of a row by where it stands, such as 'folder/exam.jsonl, line 3' or 'the data, row 3'."""
    file, _, place = where.rpartition(", ")
    number = place.rpartition(" ")[2]
    return Exclusion(PurePath(file).name, int(number) if number.isdecimal() else place, reason)


def _short(text: str) -> str:
    return printable(one_line(text, _WIDTH))


def reasons(exclusions: Iterable[Exclusion]) -> dict[str, int]:
    """How many rows each reason left out, the most frequent first, then by name."""
    counts = Counter(exclusion.reason for exclusion in exclusions)
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def reasons_in_words(counts: Mapping[str, int]) -> str:
    """Rows by reason, as "9 two options are equal, 3 the question is blank"; of many reasons the first."""
    named = [f"{n:,} {reason}" for reason, n in list(counts.items())[:MOST_REASONS]]
    remainder = list(counts.values())[MOST_REASONS:]
    return ", ".join(named) + (
        f", and {sum(remainder):,} for {len(remainder):,} other reasons" if remainder else ""
    )


def digest(exclusions: Sequence[Exclusion]) -> str:
    """First 8 hex digits of SHA-256 over the exclusions in their order."""
    text = json.dumps([list(exclusion) for exclusion in exclusions])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
