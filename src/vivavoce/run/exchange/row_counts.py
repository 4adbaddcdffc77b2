"""What became of each row of a file: counts that add up to its rows."""

from collections.abc import Mapping

from vivavoce.benchmarks.table import TableItems
from vivavoce.studies.text import and_so, count

_WORDS = {
    "answers": ("an answer", "answers"),
    "scored": ("scored", "scored"),
    "reviews": ("a review", "reviews"),
    "forgotten": ("forgotten in this run", "forgotten in this run"),
    "same": ("the same as an earlier one", "the same as an earlier one"),
    "questions": ("a question alone", "questions alone"),
    "skipped": ("about an item outside the benchmark", "about items outside the benchmark"),
    "faulty": ("no question", "no questions"),
    "unchosen": ("not chosen", "not chosen"),
    "probes": ("of a probe", "of probes"),
    "left_out": ("without an answer", "without an answer"),
    "retried": ("a reply that a later one takes the place of", "replies that later ones take the place of"),
}
"""What a row is, in the singular and the plural."""


def row_counts(rows: int, **parts: int) -> dict[str, int]:
    """The rows of a file under `rows`, and under each of `_WORDS` how many of them are that."""
    return {"rows": rows, **{name: n for name, n in parts.items() if n}}


def same_text(table: TableItems | None) -> list[str]:
    """The sentence on rows that ask the same and have no id; none without such rows."""
    return [table.same.text] if table and table.same.rows else []


def row_counts_text(counts: Mapping[str, int]) -> str:
    """As "Of 12 rows 8 are answers, 3 are the same as an earlier one and 1 is a question alone."

    '' where all rows are one thing.
    """
    parts = {name: n for name, n in counts.items() if name != "rows"}
    if len(parts) < 2:
        return ""
    words = [f"{n:,} {'is' if n == 1 else 'are'} {_WORDS[name][n != 1]}" for name, n in parts.items()]
    return f"Of {count(counts['rows'], 'row')} {and_so(words)}."
