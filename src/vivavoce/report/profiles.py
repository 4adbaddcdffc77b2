"""Profiles: what candidates scored by category and by format, with no word on gaps that no test has said.

A single category's interval answers nothing about differences between categories: only the interaction
test of the `gaps` study does, and its sentence stands with every profile.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from vivavoce import stats
from vivavoce.records import Criterion, Measure
from vivavoce.report.boards import Board, Rows, board_of
from vivavoce.report.drawing import (
    INK,
    MARK,
    SOFT,
    STRONGEST,
    WASH,
    boxes,
    clean,
    composed,
    figure,
    listed,
    short,
    words,
)
from vivavoce.report.wording import number, p_value
from vivavoce.studies import resolve, weights_of
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.pooling import counts
from vivavoce.studies.views import pooled_of
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["FEW_GROUPS", "LEAST_GROUPS", "UNTESTED", "profiles"]

By = Literal["category", "format"]
LEAST_GROUPS, FEW_GROUPS = 3, 10
"""With fewer cases than the first a cell holds counts only, with fewer than the second it says so."""
MOST_PARTS, MOST_CANDIDATES, MOST_INTERVALS = 12, 20, 120
MOST_ACROSS = 7
"""More categories than a page has room for stand in bands, one below the other."""
UNTESTED = "Differences between categories have not been tested: viva study RUN gaps"
POOLED = (
    "Differences between categories are not tested: the figure is pooled over questions and no value of each."
)
FORMATS = (
    "Differences between formats are not tested: formats hold different questions, and what is hard in one "
    "says nothing of the other."
)


def profiles(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], findings_of_gaps: Rows
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
    made = []
    for by, key, measure, benchmark, part in _parts(scores, measures):
        rows = list(_rows(part, measure.criterion, by))
        parts = list(dict.fromkeys(row["part"] for row in rows))
        if len(parts) < 2:
            continue
        name = short_names[key]
        title = f"{name} by {by} on {benchmark}"
        made.append(
            {
                "by": by,
                "benchmark": benchmark,
                "metric": measure.metric,
                "criterion": measure.criterion.criterion,
                "rater": measure.rater,
                "measure": name,
                "direction": measure.criterion.direction,
                "view": "mean" if measure.criterion.pool == "mean" else "pooled",
                "title": title,
                "said": FORMATS if by == "format" else _said(newest, measure, benchmark),
                "parts": parts,
                "rows": rows,
                "figure": figure(title, _chart(rows, measure.criterion), "profile", title),
            }
        )
    return made


def _parts(
    scores: "pl.DataFrame", measures: Mapping[int, Measure]
) -> Iterator[tuple[By, tuple[str, str, str], Measure, str, "pl.DataFrame"]]:
    import polars as pl

    for key, measure in measures.items():
        own = scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
        for (benchmark,), part in own.group_by("benchmark", maintain_order=True):
            for by in ("category", "format"):
                there = part.filter(pl.col(by).is_not_null() & (pl.col(by) != ""))
                if there[by].n_unique() > 1:
                    yield by, key_of(measure), measure, str(benchmark), there


def _rows(part: "pl.DataFrame", criterion: Criterion, by: By) -> Iterator[dict[str, Any]]:
    """A row per candidate and category or format, categories by name."""
    import polars as pl

    for (value,), own in sorted(part.group_by(by), key=lambda made: str(made[0][0])):
        if criterion.pool != "mean":
            yield from ({**row, "part": str(value)} for row in _pooled(own, criterion))
            continue
        values = resolve(own, criterion).filter(pl.col("observed").is_not_null())
        for (candidate, role), one in sorted(values.group_by("candidate", "role"), key=lambda made: made[0]):
            yield {
                "candidate": candidate,
                "role": role,
                "part": str(value),
                **_estimate(one, criterion),
            }


def _pooled(own: "pl.DataFrame", criterion: Criterion) -> Iterator[dict[str, Any]]:
    """The pooled figure of each candidate that has counts, as in the leaderboard."""
    counted = counts(own, criterion)
    if counted.items is None:
        return
    roles = dict(own.select("candidate", "role").unique().iter_rows())
    for (candidate,), one in sorted(counted.items.group_by("candidate"), key=lambda made: made[0]):
        found = pooled_of(one, counted, criterion, missing=False, nothing="")
        kept = {k: found[k] for k in ("estimate", "low", "high", "n_items", "n_groups", "reason")}
        yield {"candidate": candidate, "role": roles[candidate], **_unless_few(kept)}


def _unless_few(row: dict[str, Any]) -> dict[str, Any]:
    """The row, with counts only where there are too few cases."""
    if row["n_groups"] >= LEAST_GROUPS:
        return row
    few = f"{count(row['n_groups'], 'case')}: too few for a figure, counts only"
    return row | {"estimate": None, "low": None, "high": None, "reason": few}


def _estimate(values: "pl.DataFrame", criterion: Criterion) -> dict[str, Any]:
    """As in the leaderboard; counts only where there are too few cases."""
    e = stats.estimate_mean(
        *(values["observed"].to_numpy(), values["group"].to_numpy()),
        weights=weights_of(values), low=criterion.low, high=criterion.high,
    )  # fmt: skip
    return _unless_few(
        {"estimate": e.value, "low": e.low, "high": e.high, "n_items": e.n, "n_groups": e.n_groups,
         "reason": None}
    )  # fmt: skip


def _said(finding: Mapping[str, Any] | None, measure: Measure, benchmark: str) -> str:
    """What the newest test says of this measure's profiles by category."""
    if measure.criterion.pool != "mean":
        return POOLED
    board = Board(benchmark, measure.metric, measure.criterion.criterion, measure.rater)
    own = [row for row in (finding["rows"] if finding else ()) if board_of(row) == board]
    if finding is None or not own:
        return UNTESTED
    items = finding["settings"].get("items")
    on = f" on the items of {items}" if items else ""
    by_candidate = {row["candidate"]: row for row in own}
    tested = {name: row for name, row in by_candidate.items() if row["differs"] is not None}
    if not tested:
        return f"Whether profiles differ between categories could not be tested{on}: {_untested(own)}."
    who = f"Tested for {count(len(tested), 'candidate')}{on} (Holm over all profiles of the study)"
    shown = [f"{name} (p {p_value(row['p_adjusted'])})" for name, row in tested.items() if row["differs"]]
    if not shown:
        return (
            f"{who}: no profile was shown to differ between categories, so intervals by category are no gaps."
        )
    rest = len(tested) - len(shown)
    others = f" For the other {rest} it was not shown." if rest else ""
    return (
        f"{who}: the profile differs between categories from that of all candidates for "
        f"{', '.join(shown)}.{others}"
    )


def _untested(own: Rows) -> str:
    """Why no profile was tested: what the study says, or that too few categories are large enough.

    A category's own reason, that it has counts only, is none for the whole.
    """
    large = [row for row in own if row["n_groups"] >= FEW_GROUPS]
    if len({row["category"] for row in large}) < 2:
        return "no two categories have ten cases"
    return "; ".join(dict.fromkeys(row["reason"] for row in large if row["reason"])) or "too little"


def _chart(rows: Rows, criterion: Criterion) -> "alt.LayerChart | str":
    """Candidates by categories as a heat map: the estimate, its interval and the cases in each cell."""
    if all(row["estimate"] is None for row in rows):
        return f"No chart: fewer than {LEAST_GROUPS} cases in every cell."
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["part"]] = max(sizes.get(row["part"], 0), row["n_groups"])
    kept = set(sorted(sizes, key=lambda name: -sizes[name])[:MOST_PARTS])
    parts = [name for name in sizes if name in kept]
    everyone = sorted({row["candidate"] for row in rows})
    names = everyone[:MOST_CANDIDATES]
    known = [row["estimate"] for row in rows if row["estimate"] is not None]
    low, high = min(known), max(known)
    cells, figures, small, told = [], [], [], []
    full = len(parts) * len(names) <= MOST_INTERVALS
    size, tall, top = 96.0, 46.0 if full else 28.0, 24.0
    bands = -(-len(parts) // MOST_ACROSS)
    wide = -(-len(parts) // bands)
    deep = top + len(names) * tall + 8
    spots = {part: (k % wide * size, k // wide * deep + top) for k, part in enumerate(parts)}
    there = {(row["candidate"], row["part"]): row for row in rows}
    for down, name in enumerate(names):
        for part in parts:
            one = there.get((name, part))
            x, y = spots[part][0], spots[part][1] + down * tall
            spot = {"x": x + 1, "x2": x + size - 1, "y": y + 1, "y2": y + tall - 1}
            value = None if one is None else one["estimate"]
            share = 0.0 if value is None else 0.05 + (STRONGEST - 0.05) * _place(value, low, high)
            cells.append(
                spot | {"fill": WASH if value is None else MARK, "strength": 1.0 if value is None else share}
            )
            middle, centre = x + size / 2, y + tall / 2
            if one is None:
                small.append({"x": middle, "y": centre, "text": "no value"})
                continue
            n = f"n {one['n_items']} ({one['n_groups']})"
            if value is None:
                small.append({"x": middle, "y": centre, "text": n})
                told.append(f"{short(name)}, {short(part)}: {count(one['n_groups'], 'case')}, too few")
                continue
            ends = _ends(one)
            told.append(f"{short(name)}, {short(part)}: {_number(value)}{ends and f' ({ends})'}")
            few = "*" if one["n_groups"] < FEW_GROUPS else ""
            figures.append({"x": middle, "y": centre - (13 if full else 0), "text": f"{_number(value)}{few}"})
            if full:
                small += [{"x": middle, "y": centre + 2, "text": ends},
                          {"x": middle, "y": centre + 14, "text": n}]  # fmt: skip
    bottom = bands * deep - 8
    notes = [
        "estimate, 95 % interval, n questions (cases)" if full else "estimate; intervals are in the table"
    ]
    notes[0] += f"; stronger colour is higher, {criterion.direction} is better"
    if any(row["estimate"] is not None and row["n_groups"] < FEW_GROUPS for row in rows):
        notes.append(f"* fewer than {FEW_GROUPS} cases: not to be relied on")
    left = [count(len(sizes) - len(parts), "smaller part") if len(sizes) > len(parts) else "",
            count(len(everyone) - len(names), "candidate") if len(everyone) > len(names) else ""]  # fmt: skip
    if any(left):
        notes.append(f"left out here: {', '.join(filter(None, left))}")
    style: dict[str, Any] = {"align": "left", "color": SOFT}
    layers = [
        boxes(cells),
        words(figures, fontWeight="bold", fontSize=12.5),
        *([words(small, fontSize=10.5, limit=size - 4, color=INK)] if small else []),
        words([{"x": x + size / 2, "y": y - 10, "text": clean(part)} for part, (x, y) in spots.items()],
              color=SOFT, limit=size - 6),
        words([{"x": -8.0, "y": band * deep + top + (k + 0.5) * tall, "text": clean(name)}
               for band in range(bands) for k, name in enumerate(names)], align="right", limit=260),
        words([{"x": 0.0, "y": bottom + 14 + 16 * k, "text": note} for k, note in enumerate(notes)], **style),
    ]  # fmt: skip
    height = bottom + 6 + 16 * len(notes)
    return composed(layers, width=wide * size, height=height, says=f"Estimates: {listed(told)}")


def _place(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _ends(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None else f"{_number(row['low'])} to {_number(row['high'])}"


def _number(value: float) -> str:
    return number(value, ".3f" if abs(value) < 10 else ".1f")
