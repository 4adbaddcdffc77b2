"""A finding in a notebook: its sentences, its chart, and the main columns of its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core.display import shows
from vivavoce.core.errors import VivaError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Finding
from vivavoce.core.text import count
from vivavoce.notebook.drawings import COMPARISON, ESTIMATES, Plot, figures_of, name_of
from vivavoce.notebook.markup import Column, Html, block, code, element, escaped, head, soft, table

MOST_ROWS, MOST_COLUMNS, MOST_SENTENCES = 10, 9, 8
MOST_DRAWN = 40
"""Rows of a finding that are drawn in a cell without being asked; `plot` draws more."""
_OF_ESTIMATES = {
    "candidate": "candidate", "measure": "measure", "rater": "rater", "benchmark": "benchmark",
    "view": "view", "estimate": "estimate", "low": "95 % low", "high": "95 % high",
    "n_items": "items", "n_failed": "failed", "coverage": "coverage", "reason": "reason",
}  # fmt: skip
_OF_COMPARISONS = {
    "a": "A", "b": "B", "measure": "measure", "rater": "rater", "benchmark": "benchmark",
    "difference": "A − B", "low_family": "95 % low", "high_family": "95 % high",
    "p_adjusted": "p", "n_items": "items", "verdict_code": "verdict", "reason": "reason",
}  # fmt: skip
MAIN = {**{study: _OF_ESTIMATES for study in ESTIMATES}, COMPARISON: _OF_COMPARISONS}
"""The columns that a cell shows of the commonest findings, with their headings."""
SAYS_NOTHING = {"view": "mean", "n_failed": 0, "rater": ""}
"""Values of main columns that say nothing where every row has them."""


@shows("html", Finding)
def finding_html(finding: Finding) -> str:
    """The sentences, a chart where there is one, and the first rows by their main columns."""
    drawing = _drawing(finding)
    return block(
        head(f"{finding.study}: {count(len(finding.rows), 'row')}"),
        *_sentences(_lines(finding)),
        *(soft(note) for note in finding.notes[:MOST_SENTENCES]),
        drawing.inner if drawing else None,
        *_table(finding),
        css=drawing.css if drawing else "",
    )


def _lines(finding: Finding) -> list[str]:
    """The headline, then the lines of the text that are others."""
    lines = finding.text.splitlines()
    return [finding.headline, *(line for line in lines if line != finding.headline)]


def _sentences(lines: Sequence[str]) -> list[Html]:
    sentences = [element("p", escaped(line, 1_000), dir="auto") for line in lines if line.strip()]
    more = len(sentences) - MOST_SENTENCES
    if more <= 0:
        return sentences
    return [
        *sentences[:MOST_SENTENCES],
        soft(f"… and {count(more, 'more sentence')}: print it to read all."),
    ]


def _drawing(finding: Finding) -> Plot | None:
    """The chart of a finding of few rows; None where a chart says nothing."""
    if not 0 < len(finding.rows) <= MOST_DRAWN:
        return None
    try:
        figures = figures_of(finding)
    except (VivaError, LookupError, TypeError):  # rows of a plugin, or of an earlier version
        return None
    figures = [figure for figure in figures if figure.svg is not None]
    return Plot(tuple(figures[:2])) if figures else None


def _table(finding: Finding) -> list[Html | None]:
    rows = finding.rows[:MOST_ROWS]
    columns = _columns(finding.study, rows)
    n_rows = len(finding.rows) - len(rows)
    n_columns = len({name for row in rows for name in row}) - len(columns)
    if not rows:
        return [soft("It has no rows.")]
    words = [count(n, f"more {thing}") for n, thing in ((n_rows, "row"), (n_columns, "column")) if n > 0]
    line = element("p", escaped(f"{' and '.join(words)} in "), code("finding.table"), classes="viva-soft")
    return [table(columns), line if words else None]


def _columns(study: str, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The main columns that say something; of other findings the first that are not empty or nested."""
    names = MAIN.get(study) or {name: str(name).replace("_", " ") for row in rows for name in row}
    cells = {name: [_value(row, name) for row in rows] for name in names}
    columns = [Column(names[name], c) for name, c in cells.items() if _tells(c, SAYS_NOTHING.get(name))]
    return columns if study in MAIN else _few(columns)


def _few(columns: list[Column]) -> list[Column]:
    """As many columns as fit; of many those tell most that are not the same in every row."""
    if len(columns) <= MOST_COLUMNS:
        return columns
    varied = [column for column in columns if len(set(map(repr, column.cells))) > 1]
    return (varied or columns)[:MOST_COLUMNS]


def _value(row: Mapping[str, Any], name: str) -> Any:
    value = name_of(row) if name == "measure" else row.get(name)
    return metric_name(value) if name == "metric" and isinstance(value, str) else value


def _tells(cells: Sequence[Any], nothing: Any) -> bool:
    """Whether a column says something, and no value of it is a table of its own."""
    nested = any(isinstance(cell, Mapping | list | tuple) for cell in cells)
    return not nested and any(cell not in (None, "", nothing) for cell in cells)
