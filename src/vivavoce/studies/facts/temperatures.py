"""A candidate at several temperatures: a curve, and neighbours on it compared on the same questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SpecError
from vivavoce.core.numbers import printed
from vivavoce.core.specs import Spec, parse
from vivavoce.studies.bounded import Bounded
from vivavoce.studies.facts.coverage import precision_row
from vivavoce.studies.facts.fact_table import FactTable, by_item
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.intervals import FLIPPED, too_few
from vivavoce.studies.item_means import Arrays
from vivavoce.studies.text import count

SETTING = "temperature"
NOTHING_SHARED = "no question on which both have a precision"


class Curve(NamedTuple):
    """One model and its candidates by temperature, the coldest first."""

    model: str
    candidates: Mapping[float, str]


class Step(NamedTuple):
    """Two neighbours of a curve: their row, and the differences as observed and under both fillings.

    Without differences where nothing can be tested.
    """

    row: FactsRow
    sides: tuple[Arrays, ...] = ()


def curves(candidates: Sequence[str]) -> list[Curve]:
    """The candidates that differ in their temperature alone, where there are two or more."""
    by_model: dict[str, dict[float, str]] = {}
    for candidate in candidates:
        with suppress(SpecError):  # a label need not be a spec
            spec = parse(candidate)
            # What else differs, such as a prompt, makes another curve.
            settings = dict(spec.settings)
            temperature = settings.pop(SETTING, None)
            if isinstance(temperature, int | float):
                by_model.setdefault(str(Spec(spec.name, settings)), {})[float(temperature)] = candidate
    return [Curve(name, dict(sorted(by.items()))) for name, by in by_model.items() if len(by) > 1]


def temperatures(tables: Sequence[FactTable], margin: float | None) -> list[FactsRow]:
    """The points of every curve, and its neighbours compared; p by Holm over all neighbours of the call."""
    rows: list[FactsRow] = []
    steps: list[Step] = []
    for table in tables:
        for curve in curves(table.candidates):
            for temperature, candidate in curve.candidates.items():
                point = facts_row(table, SETTING, "precision", candidate=candidate, contrast=curve.model)
                rows.append(precision_row(table.of(candidate), replace(point, temperature=temperature)))
            for (_, colder), (warm, warmer) in pairwise(curve.candidates.items()):
                row = facts_row(table, SETTING, "difference", candidate=warmer, against=colder, margin=margin)
                steps.append(_step(table, replace(row, contrast=curve.model, temperature=warm)))
    return rows + list(_judged(steps, margin))


def _step(table: FactTable, row: FactsRow) -> Step:
    """The precision of the warmer less that of the colder, question by question."""
    warmer, colder = (by_item(table.of(name).answers) for name in (row.candidate, row.against))
    items = warmer.join(
        colder.select("item", "variant", "precision", "worst", "best"),
        on=["item", "variant"],
        suffix="_colder",
    ).sort("item", "variant")
    pairs = items.drop_nulls(["precision", "precision_colder"])
    row = replace(row, n_items=pairs.height, n_groups=pairs["group"].n_unique())
    few = too_few(pairs["group"]) if pairs.height else NOTHING_SHARED
    if few:
        return Step(replace(row, reason=few))
    sides = (
        _side(items, "precision", "precision_colder"),
        _side(items, "worst", "best_colder"),
        _side(items, "best", "worst_colder"),
    )
    paired = sides[0].paired()
    ends = paired.interval()
    low, high = (stats.exact_mean(side.values, side.weighing["weights"]) for side in sides[1:])
    row = replace(
        row,
        **Bounded.from_ends(paired.difference, ends).columns(),
        se=paired.se,
        bound_low=low,
        bound_high=high,
        effective_cases=paired.effective_groups,
        p=paired.p,
        reason=None if ends else FLIPPED,
    )
    return Step(row, sides)


def _side(items: pl.DataFrame, first: str, second: str) -> Arrays:
    return Arrays.from_rows(items.with_columns(difference=pl.col(first) - pl.col(second)), "difference")


def _judged(steps: Sequence[Step], margin: float | None) -> Iterator[FactsRow]:
    """The rows with a verdict where both fillings of what failed lead to the same."""
    tested = [[side.paired() for side in step.sides] for step in steps if step.sides]
    observed_p = iter(stats.holm([observed.p for observed, *_ in tested]).tolist())
    filled_p = iter(stats.holm([max(low.p, high.p) for _, low, high in tested]).tolist())
    level = stats.bonferroni_level(0.95, max(len(tested), 1))
    pairs = iter(tested)
    for step in steps:
        if not step.sides:
            yield replace(step.row, family=len(tested))
            continue
        observed, low, high = next(pairs)
        ends = [side.interval(stats.margin_interval, span=1.0, level=level) for side in step.sides]
        p = next(observed_p)
        direction = stats.common_direction(low.direction, high.direction)
        judged = stats.verdict(
            _evidence(observed, observed.direction, p, (ends[0], ends[0])),
            _evidence(low, direction, next(filled_p), (ends[1], ends[2])),
            margin=margin,
        )
        favours = {"a": step.row.candidate, "b": step.row.against}.get(judged.favours or "")
        yield replace(step.row, p_adjusted=p, family=len(tested), verdict_code=judged.code, favours=favours)


def _evidence(
    paired: stats.Paired, direction: Any, p: float, sides: Sequence[stats.Interval | None]
) -> stats.Evidence:
    low, high = sides
    ends = (low.low, high.high) if low and high else (None, None)
    return stats.Evidence(
        n_groups=paired.n_groups,
        n_different=paired.n_different,
        direction=direction,
        p_adjusted=p,
        margin_low=ends[0],
        margin_high=ends[1],
    )


def temperature_sentences(rows: Sequence[FactsRow]) -> Iterator[str]:
    """What neighbours of a curve show: who is better only where a verdict says so."""
    for place in dict.fromkeys(map(_place, rows)):
        of_model = [row for row in rows if _place(row) == place]
        clear = [_better_text(row) for row in of_model if (row.verdict_code or "").startswith("better")]
        no_difference = "no neighbours were told apart, so nothing is said of which temperature to take"
        yield from (f"{_range_text(of_model)}: {text}." for text in clear or [no_difference])


def _place(row: FactsRow) -> tuple[str, ...]:
    return row.contrast, row.benchmark, row.signature


def _range_text(rows: Sequence[FactsRow]) -> str:
    points = sorted({row.temperature for row in rows if row.temperature is not None})
    model = f"{rows[0].contrast} on {rows[0].benchmark}, by {rows[0].rater}"
    return f"{model}, at {count(len(points), 'temperature')} from {points[0]:g} to {points[-1]:g}"


def _better_text(row: FactsRow) -> str:
    worse = row.against if row.favours == row.candidate else row.candidate
    difference = printed(abs(row.value or 0.0), ".3f")
    return f"{row.favours} is better than {worse} ({difference}, Holm p {row.p_adjusted:.3g})"
