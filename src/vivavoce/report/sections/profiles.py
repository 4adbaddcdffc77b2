"""Profiles: estimates by category and by format; only a test may call a difference a gap.

A single category's interval answers nothing about differences between categories: only the interaction
test of the `gaps` study does, and its sentence stands with every profile.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.grid import HEAD, Cell
from vivavoce.report.charts.sheet import Sheet, clean, widest, wrapped
from vivavoce.report.charts.svg import STRONGEST, Drawing, drawing, figure, listed, short
from vivavoce.report.data import Board, Rows, board_of
from vivavoce.report.format import number, p_value
from vivavoce.studies.comparing.estimators import pooled_of
from vivavoce.studies.pooling import counts
from vivavoce.studies.row_parts import by_benchmark, distinct, select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ITEM_KEY, resolve, weights_of, with_results
from vivavoce.studies.text import and_so, count

By = Literal["category", "format"]
LEAST_GROUPS, FEW_GROUPS = 3, 10
"""With fewer cases than the first a cell holds counts only, with fewer than the second it says so."""
MOST_PARTS, MOST_CANDIDATES, MOST_INTERVALS = 12, 20, 120
WIDEST, LEAST = 120.0, 90.0
"""How wide a cell is, in pixels. Categories beyond the room stand in bands, one below the other."""
UNTESTED = "Differences between categories have not been tested: viva study RUN gaps"
POOLED = (
    "Differences between categories are not tested: the figure is pooled over questions and no value of each."
)
FORMATS = (
    "Differences between formats are not tested: formats hold different questions, and what is hard in one "
    "says nothing of the other."
)


def profiles(
    scores: pl.DataFrame, measures: Mapping[int, Measure], findings_of_gaps: Rows
) -> list[dict[str, Any]]:
    """A profile for each measure and benchmark, by category and by format, where there are two or more.

    A profile holds `by` (category or format), `benchmark`, `metric`, `criterion`, `rater`, `measure` (the
    short name), `direction`, `view` (mean or pooled), `title`, `said` (the sentence of the test), `rows`,
    `figure`, and `parts`, the categories or formats in order. A row: `candidate`, `role`, `part`,
    `estimate`, `low`, `high` (95 %, as in the leaderboard), `n_items`, `n_groups`, `reason`. With
    fewer than three cases figures are null; a candidate without any value in a part has no row there.
    Questions without a category are in no profile by category. `said` is of the newest finding of `gaps`;
    without one it says that nothing was tested.
    """
    short_names = labels(measures)
    newest = findings_of_gaps[-1] if findings_of_gaps else None
    result = []
    for column, key, measure, benchmark, part in _parts(scores, measures):
        rows = list(_rows(part, measure.criterion, column))
        parts = list(dict.fromkeys(row["part"] for row in rows))
        if len(parts) < 2:
            continue
        name = short_names[key]
        title = f"{name} by {column} on {benchmark}"
        result.append(
            {
                "by": column,
                "benchmark": benchmark,
                "metric": measure.metric,
                "criterion": measure.criterion.criterion,
                "rater": measure.rater,
                "measure": name,
                "direction": measure.criterion.direction,
                "view": "mean" if measure.criterion.pool == "mean" else "pooled",
                "title": title,
                "said": FORMATS if column == "format" else _test_sentence(newest, measure, benchmark),
                "parts": parts,
                "rows": rows,
                "figure": figure(title, _chart(rows, measure.criterion), "profile", title),
            }
        )
    return result


def _parts(
    scores: pl.DataFrame, measures: Mapping[int, Measure]
) -> Iterator[tuple[By, tuple[str, str, str], Measure, str, pl.DataFrame]]:
    for key, measure in measures.items():
        of_measure = select_rows(scores, (pl.col("measure_id") == key) & (pl.col("edit") == ""))
        for benchmark, part in by_benchmark(of_measure):
            of_results = with_results(part)
            for column in ("category", "format"):
                if len(set(of_results[column].unique()) - {None, ""}) > 1:
                    with_value = of_results.filter(pl.col(column).is_not_null() & (pl.col(column) != ""))
                    yield column, key_of(measure), measure, benchmark, with_value


def _rows(part: pl.DataFrame, criterion: Criterion, column: By) -> Iterator[dict[str, Any]]:
    """A row per candidate and category or format, categories by name."""
    if criterion.pool != "mean":
        for (value,), of_part in sorted(part.group_by(column), key=lambda group: str(group[0][0])):
            yield from ({**row, "part": str(value)} for row in _pooled(of_part, criterion))
        return
    values = resolve(part, criterion).filter(pl.col("observed").is_not_null())
    places = distinct(part, *ITEM_KEY, column)
    with_part = values.join(places, on=ITEM_KEY, nulls_equal=True, maintain_order="left")
    groups = with_part.with_columns(pl.col(column).cast(pl.String)).group_by(column, "candidate", "role")
    for (name, candidate, role), of_candidate in sorted(groups, key=lambda group: group[0]):
        figures = _estimate(of_candidate, criterion)
        yield {"candidate": candidate, "role": role, "part": name, **figures}


def _pooled(scores: pl.DataFrame, criterion: Criterion) -> Iterator[dict[str, Any]]:
    """The pooled figure of each candidate that has counts, as in the leaderboard."""
    counted = counts(scores, criterion)
    if counted.items is None:
        return
    roles = dict(scores.select("candidate", "role").unique().iter_rows())
    for (candidate,), items in sorted(counted.items.group_by("candidate"), key=lambda group: group[0]):
        figures = pooled_of(items, counted, criterion, failed=False, why_none="")
        columns = ("estimate", "low", "high", "n_items", "n_groups", "effective_cases", "reason")
        row = {name: value for name, value in figures.columns().items() if name in columns}
        yield {"candidate": candidate, "role": roles[candidate], **_unless_few(row)}


def _unless_few(row: dict[str, Any]) -> dict[str, Any]:
    """The row, reduced to counts where there are too few cases."""
    if row["n_groups"] >= LEAST_GROUPS:
        return row
    few = f"{count(row['n_groups'], 'case')}: too few for a figure, counts only"
    return row | {"estimate": None, "low": None, "high": None, "reason": few}


def _is_few(row: Mapping[str, Any]) -> bool:
    return not stats.enough_groups(row["effective_cases"] or 0.0)


def _estimate(values: pl.DataFrame, criterion: Criterion) -> dict[str, Any]:
    """As in the leaderboard; counts only where there are too few cases."""
    e = stats.estimate_mean(
        *(values["observed"].to_numpy(), values["group"].to_numpy()),
        weights=weights_of(values), low=criterion.low, high=criterion.high,
    )  # fmt: skip
    return _unless_few(
        {"estimate": e.value, "low": e.low, "high": e.high, "n_items": e.n, "n_groups": e.n_groups,
         "effective_cases": e.effective_groups, "reason": None}
    )  # fmt: skip


def _test_sentence(finding: Mapping[str, Any] | None, measure: Measure, benchmark: str) -> str:
    """The result of the newest test of this measure's profiles by category."""
    if measure.criterion.pool != "mean":
        return POOLED
    board = Board(benchmark, measure.metric, measure.criterion.criterion, measure.rater)
    rows = [row for row in finding["rows"] if board_of(row) == board] if finding else []
    if finding is None or not rows:
        return UNTESTED
    items = finding["settings"].get("items")
    selection = f" on the items of {items}" if items else ""
    by_candidate = {row["candidate"]: row for row in rows}
    tested = {name: row for name, row in by_candidate.items() if row["differs"] is not None}
    if not tested:
        return (
            f"Whether profiles differ between categories could not be tested{selection}: {_untested(rows)}."
        )
    subject = f"Tested for {count(len(tested), 'candidate')}{selection} (Holm over all profiles of the study)"
    undecided = [name for name, row in by_candidate.items() if row.get("depends_on_failed")]
    depends = f" For {and_so(undecided)} it depends on scores that failed." if undecided else ""
    return f"{subject}: {_differing(tested)}{depends}"


def _differing(tested: Mapping[str, Mapping[str, Any]]) -> str:
    """Whose profile was shown to differ between categories."""
    differing = [f"{name} (p {p_value(row['p_adjusted'])})" for name, row in tested.items() if row["differs"]]
    if not differing:
        return "no profile was shown to differ between categories, so intervals by category are no gaps."
    n_similar = len(tested) - len(differing)
    similar_text = f" For the other {n_similar} it was not shown." if n_similar else ""
    return (
        "the profile differs between categories from that of all candidates for "
        f"{', '.join(differing)}.{similar_text}"
    )


def _untested(rows: Rows) -> str:
    """Why no profile was tested: what the study says, or that too few categories are large enough.

    A category's own reason, that it has counts only, is none for the whole.
    """
    large = [row for row in rows if row["n_groups"] >= FEW_GROUPS]
    if len({row["category"] for row in large}) < 2:
        return "no two categories have ten cases"
    return "; ".join(dict.fromkeys(row["reason"] for row in large if row["reason"])) or "too little"


def _chart(rows: Rows, criterion: Criterion) -> Drawing | str:
    """Candidates by categories as a heat map: the estimate, its interval and the cases in each cell."""
    values = [row["estimate"] for row in rows if row["estimate"] is not None]
    if not values:
        return f"No chart: fewer than {LEAST_GROUPS} cases in every cell."
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["part"]] = max(sizes.get(row["part"], 0), row["n_groups"])
    largest = set(sorted(sizes, key=lambda name: -sizes[name])[:MOST_PARTS])
    parts = [name for name in sizes if name in largest]
    candidates = sorted({row["candidate"] for row in rows})
    names = candidates[:MOST_CANDIDATES]
    full = len(parts) * len(names) <= MOST_INTERVALS
    by_cell = {(row["candidate"], row["part"]): row for row in rows}
    low, high = min(values), max(values)
    omissions = _omissions(len(sizes) - len(parts), len(candidates) - len(names))

    def draw(room: float) -> Sheet:
        sheet = Sheet(room)
        gutter = widest(clean(name) for name in names) + 10
        stacked = gutter + 2 * LEAST > room
        x = 0.0 if stacked else gutter
        n_columns = min(len(parts), int((room - x) / LEAST))
        n_columns = -(-len(parts) // -(-len(parts) // n_columns))  # as many in each band
        width, tall = min(WIDEST, (room - x) / n_columns), 48.0 if full else 28.0
        for first in range(0, len(parts), n_columns):
            band = parts[first : first + n_columns]
            _draw_heads(sheet, x, width, band)
            for name in names:
                if stacked:
                    sheet.notes([name], style="", most=2)
                else:
                    sheet.text(x - 8, sheet.height + tall / 2, name, "end")
                for k, part in enumerate(band):
                    spot = Cell(x + k * width, sheet.height, width, tall)
                    _draw_cell(sheet, spot, by_cell.get((name, part)), low, high, full=full)
                sheet.height += tall
            sheet.height += 8
        sheet.notes([*_reading_notes(rows, criterion, full=full), *omissions], x)
        return sheet

    cells = ((name, part) for name in names for part in parts if (name, part) in by_cell)
    description = listed(f"{short(a)}, {short(b)}: {_cell_text(by_cell[a, b])}" for a, b in cells)
    return drawing(f"Estimates: {description}", draw)


def _draw_heads(sheet: Sheet, x: float, width: float, parts: Sequence[str]) -> None:
    """The names of categories over their columns, on up to three lines that end at the cells."""
    heads = [wrapped(clean(part), width - 6, most=3) for part in parts]
    deepest = max(map(len, heads))
    for k, head in enumerate(heads):
        for line, text in enumerate(head):
            y = sheet.height + HEAD / 2 + 14 * (line + deepest - len(head))
            sheet.text(x + (k + 0.5) * width, y, text, "soft middle")
    sheet.height += HEAD + 14 * (deepest - 1)


def _cell_text(row: Mapping[str, Any]) -> str:
    """What a cell says to readers who do not see it."""
    if row["estimate"] is None:
        return f"{count(row['n_groups'], 'case')}, too few"
    return f"{_number(row['estimate'])}{f' ({_ends(row)})' if _ends(row) else ''}"


def _ends(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None else f"{_number(row['low'])} to {_number(row['high'])}"


def _draw_cell(
    sheet: Sheet, cell: Cell, row: Mapping[str, Any] | None, low: float, high: float, *, full: bool
) -> None:
    """The cell of a candidate and a category: the stronger its colour, the higher the estimate."""
    value = None if row is None else row["estimate"]
    corner = (cell.x + 1, cell.y + 1, cell.width - 2, cell.height - 2)
    if row is None or value is None:
        sheet.box("wash", *corner)
        text = "no value" if row is None else f"n {row['n_items']} ({row['n_groups']})"
        sheet.text(cell.middle, cell.centre, text, "small middle", room=cell.width - 4)
        return
    sheet.box("mark", *corner, fill_opacity=0.05 + (STRONGEST - 0.05) * _place(value, low, high))
    few = "*" if _is_few(row) else ""
    sheet.text(cell.middle, cell.centre - (14 if full else 0), f"{_number(value)}{few}", "bold middle")
    if full:
        n = f"n {row['n_items']} ({row['n_groups']})"
        for offset, text in ((1, _ends(row)), (15, n)):
            if text:
                sheet.text(cell.middle, cell.centre + offset, text, "small middle", room=cell.width - 4)


def _reading_notes(rows: Rows, criterion: Criterion, *, full: bool) -> list[str]:
    """How to read the cells."""
    content = (
        "estimate, 95 % interval, n questions (cases)" if full else "estimate; intervals are in the table"
    )
    notes = [f"{content}; stronger colour is higher, {criterion.direction} is better"]
    if any(row["estimate"] is not None and _is_few(row) for row in rows):
        notes.append(f"* fewer than {FEW_GROUPS} effective cases: not to be relied on")
    return notes


def _omissions(n_parts: int, n_candidates: int) -> list[str]:
    """The line on what the chart has no room for, if there is any."""
    omitted = []
    if n_parts:
        omitted.append(count(n_parts, "smaller part"))
    if n_candidates:
        omitted.append(count(n_candidates, "candidate"))
    return [f"left out here: {', '.join(omitted)}"] if omitted else []


def _place(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _number(value: float) -> str:
    return number(value, ".3f" if abs(value) < 10 else ".1f")
