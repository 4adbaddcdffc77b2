"""Charts of what a benchmark consists of: lengths, categories by year, keys, negatives, rows left out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import Sheet, nice_ticks
from vivavoce.report.charts.svg import Drawing, Figure, drawing, figure, listed, mixed, short
from vivavoce.report.format import number
from vivavoce.studies.text import count

Rows = Sequence[Mapping[str, Any]]
MOST_BARS = 40
_OLDEST, _NEWEST = (214, 232, 233), (79, 154, 159)
"""The fills of the first and the last year."""
_NO_YEAR = "#d5d9de"


def contents_figures(rows: Iterable[Mapping[str, Any]], name: str) -> list[Figure]:
    """The figures of the rows of `vivavoce.benchmarks.contents`, of a benchmark of this name."""
    by_part: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_part.setdefault(row["about"], []).append(row)
    figures = [
        _figure(f"Length of the texts of {name}, in words", _lengths(by_part.get("length", ()))),
        _figure(f"Categories of {name} by year", _categories(by_part.get("category", ()))),
        *(
            _figure(f"Keys of {name} by {label}", _bars(_labels(by_part, label), "question"))
            for label in dict.fromkeys(row["by"] for row in by_part.get("label", ()))
        ),
        _figure(f"Negative questions of {name}", _bars(_by_word(by_part.get("negative", ())), "question")),
        _figure(f"Rows of {name} that were left out", _bars(_by_reason(by_part.get("left out", ())), "row")),
    ]
    return [entry for entry in figures if entry.svg is not None]


def _figure(title: str, chart: Drawing | None) -> Figure:
    return figure(title, chart if chart is not None else "nothing to draw", "contents", title)


def _lengths(rows: Rows) -> Drawing | None:
    """Each part's middle half, median and longest text, in words."""
    rows = [row for row in rows if row["unit"] == "words"]
    if not rows:
        return None
    longest = max(row["quartile_3"] for row in rows)

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        texts = [f"median {number(row['median'], 'g')}, longest {row['longest']:,}" for row in rows]
        lanes = Lanes(sheet, [row["part"] for row in rows], texts, tall=28, style="soft small")
        ticks = nice_ticks(0, longest)
        scale = lanes.scale(0, ticks[-1] or 1.0)
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for row, y in zip(rows, lanes.at, strict=True):
            sheet.lines("half", [(scale(row["quartile_1"]), y, scale(row["quartile_3"]), y)])
            sheet.dot("dot", scale(row["median"]), y)
        lanes.axis(scale, ticks)
        sheet.notes(["words of a text: the band is the middle half, the dot the median"], lanes.left)
        return sheet

    says = listed(f"{row['part']}: median {number(row['median'], 'g')}" for row in rows)
    return drawing(f"Words of each part: {says}", draw)


def _categories(rows: Rows) -> Drawing | None:
    """The items of each category, the years as parts of its bar."""
    counts = {(row["category"], row["year"]): row["items"] for row in rows}
    years = sorted({year for _, year in counts if year is not None})
    bars = [_by_year(counts, category, years) for category, year in counts if year is None]
    fills = {str(year): mixed(_OLDEST, _NEWEST, k / max(1, len(years) - 1)) for k, year in enumerate(years)}
    if any(parts[-1] for _, parts in bars) and years:
        fills["no year"] = _NO_YEAR
    return _stacked(bars, [*fills.values(), mixed(_OLDEST, _NEWEST, 1)], "question", fills)


def _by_year(
    counts: Mapping[tuple[str | None, int | None], int], category: str | None, years: Sequence[int]
) -> tuple[str, list[int]]:
    """The bar of a category: the items of each year, and those of none."""
    parts = [counts.get((category, year), 0) for year in years]
    return category or "no category", [*parts, counts[category, None] - sum(parts)]


def _labels(by_part: Mapping[str, Rows], label: str) -> list[tuple[str, int]]:
    return [(row["label"], row["items"]) for row in by_part.get("label", ()) if row["by"] == label]


def _by_word(rows: Rows) -> list[tuple[str, int]]:
    return [(row["word"], row["items"]) for row in rows if row["word"] is not None]


def _by_reason(rows: Rows) -> list[tuple[str, int]]:
    return [(row["why"], row["rows"]) for row in rows if row["why"] is not None]


def _bars(bars: Sequence[tuple[str, int]], thing: str) -> Drawing | None:
    return _stacked([(name, [n]) for name, n in bars], [mixed(_OLDEST, _NEWEST, 1)], thing, {})


def _stacked(
    bars: Sequence[tuple[str, Sequence[int]]], fills: Sequence[str], thing: str, legend: Mapping[str, str]
) -> Drawing | None:
    """Bars from zero with their parts in these fills; those beyond the first are left out, and counted."""
    if not bars:
        return None
    first, n_omitted = bars[:MOST_BARS], len(bars) - MOST_BARS
    longest = max(sum(parts) for _, parts in first)

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        if legend:
            sheet.legend(legend)
            sheet.height += 6
        totals = [f"{sum(parts):,}" for _, parts in first]
        lanes = Lanes(sheet, [short(name) for name, _ in first], totals, tall=26, style="soft small")
        ticks = nice_ticks(0, longest)
        scale = lanes.scale(0, ticks[-1] or 1.0)
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for (_, parts), y in zip(first, lanes.at, strict=True):
            x = 0
            for n, fill in zip(parts, fills, strict=False):  # without years the last is for all
                if n:
                    sheet.box("outlined", scale(x), y - 8, scale(x + n) - scale(x), 16, fill=fill)
                x += n
        lanes.axis(scale, ticks)
        notes = [f"{n_omitted:,} further bars are left out"] if n_omitted > 0 else []
        sheet.notes([f"{thing}s", *notes], lanes.left)
        return sheet

    says = listed(f"{short(name)}: {count(sum(parts), thing)}" for name, parts in first)
    return drawing(says, draw)
