"""Estimates as a headline: the best candidate with its interval, those next to it, what their order means."""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Criterion
from vivavoce.core.short_names import Name
from vivavoce.studies.comparing.headline import Unit, fitting_headline
from vivavoce.studies.scale import opening_of, scale_of_row
from vivavoce.studies.text import and_so, count, listed

MOST_NEXT = 2
NO_VERDICT = "Order does not imply a significant difference."
Row = Mapping[str, Any]


def estimate_headline(rows: Sequence[Row], criterion: Criterion, scopes: Mapping[str, str] = {}) -> str:
    """The estimates of the first measure in one line; `rows` are ordered, the best candidate first.

    `criterion` is that of the first row; `scopes` say of benchmarks for which groups alone they hold. Empty
    without rows.
    """
    if not rows:
        return ""
    candidates = _candidates([row for row in rows if _board(row) == _board(rows[0])])
    # A sentence joins no two scales.
    results = [
        row for row in candidates if row["estimate"] is not None and _scale(row) == _scale(candidates[0])
    ]
    if not results:
        return _no_result(rows[0])
    names = [row["candidate"] for row in results]
    scope = scopes.get(rows[0]["benchmark"], "")
    return fitting_headline(lambda name: _sentences(results, Unit(criterion), name), names, scope)


def _candidates(rows: Sequence[Row]) -> list[Row]:
    """The rows of candidates with a result first; of floors and ceilings where there is nothing else."""
    candidates = [row for row in rows if row["role"] == "candidate"] or rows
    return sorted(candidates, key=lambda row: row["estimate"] is None)


def _no_result(row: Row) -> str:
    """That there is no result, and why."""
    reason = str(row["reason"] or "no score is there").removeprefix("no result: ").replace(";", ",")
    return fitting_headline(lambda name: [f"No result by {_measure(row)}: {reason}."], [])


def _board(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("benchmark", "metric", "criterion", "rater", "view", "signature"))


def _measure(row: Row) -> str:
    return measure_name(row["metric"], row["criterion"], row["rater"] or "")


def _sentences(results: Sequence[Row], unit: Unit, name: Name) -> list[str]:
    """Who has the best estimate, and who comes next; of different questions by those that all share."""
    best, measure = results[0], _measure(results[0])
    if len(results) == 1:
        return [f"{_scale(best)}{name(best['candidate'])} scores {_value(best, unit)} by {measure}."]
    # A mean over easy questions is no better than one over hard ones.
    is_shared = all(row["n_items"] == row["n_common"] for row in results)
    column = "estimate" if is_shared else "estimate_common"
    if any(row[column] is None for row in results):
        return [
            f"No question has scores of all {len(results)} candidates by {measure}, so they have no order."
        ]
    superlative, values = _superlative(best, unit, is_shared), [row[column] for row in results]
    names = [name(row["candidate"]) for row in results]
    if n_first := values.count(best[column]) - 1:
        first = listed(names[: n_first + 1])
        return [f"{_scale(best)}{first} share the {superlative}, {unit.value(best[column])}."]
    value = _value(best, unit) if is_shared else unit.value(best[column])
    nearest = _nearest(names[1:], values[1:], unit)
    # Intervals that overlap decide nothing: `compare` tests the differences.
    return [f"{_scale(best)}{names[0]} has the {superlative}, {value}, before {nearest}.", NO_VERDICT]


def _nearest(names: Sequence[str], values: Sequence[float], unit: Unit) -> str:
    """The next best with their values, and how many more there are."""
    nearest = [
        f"{name} with {unit.value(value)}"
        for name, value in list(zip(names, values, strict=True))[:MOST_NEXT]
    ]
    more = len(names) - MOST_NEXT
    return and_so([*nearest, *([count(more, "other")] if more > 0 else [])])


def _superlative(best: Row, unit: Unit, is_shared: bool) -> str:
    """`highest mean by accuracy`; of different questions, on those that all share."""
    end = "highest" if unit.criterion.direction == "higher" else "lowest"
    place = "" if is_shared else f" on the {count(best['n_common'], 'question')} that all share"
    return f"{end} {'pooled estimate' if best['view'] == 'pooled' else 'mean'} by {_measure(best)}{place}"


def _scale(row: Row) -> str:
    return opening_of(scale_of_row(row))


def _value(row: Row, unit: Unit) -> str:
    """An estimate with its interval."""
    ends = "" if row["low"] is None else f" ({unit.interval(row['low'], row['high'])})"
    return f"{unit.value(row['estimate'])}{ends}"
