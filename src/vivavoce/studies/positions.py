"""Positions: which place among the options a candidate picks, whatever stands there.

Every question was asked in all rotations of its options, so that each option, the key too, stood once in
every place: a candidate that goes by the content picks each of k places in 1/k of the orders.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.studies import LEAST_GROUPS, Marks, unweighted
from vivavoce.studies.figures import Floats, Row, by_mean, ends, too_few
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "CRITERION", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "options", "figure", "position", "value"),
    *("low", "high", "se", "low_family", "high_family", "n_items", "n_groups", "favoured", "reason"),
)
CRITERION = "position_bias"
"""The criterion whose parts count picks: `options`, k, and `pick_1` to `pick_k`."""


def findings(marks: Marks) -> Finding:
    """Rows of `COLUMNS` per benchmark, measure, candidate and number of options k.

    `share`, one for each `position` from 1: how much of the picks it has, with Wilson's interval by group;
    `low_family` and `high_family` are at 1 - 0.05/m, for all m shares of the call together: every place of
    every candidate, benchmark, measure and k with ten cases or more. A place is `favoured` if `low_family`
    lies above 1/k. `position_bias` is the mean of the questions' own values, which chance raises: few
    orders of one question are never quite even. `pooled_bias` is the same figure of the shares, where chance
    evens out and only a place that is favoured again and again is left. Passes and repeats are averaged by
    question first; floor and ceiling stand in no row.
    """
    rows: list[Row] = []
    said = []
    short = labels(marks.measures)
    asked = [
        (measure, *one)
        for key, measure in marks.measures.items()
        if measure.criterion.criterion == CRITERION
        for one in _asked(marks, key)
    ]
    family = sum(picks.shape[1] for *_, picks, groups in asked if not too_few(groups.tolist()))
    for measure, place, picks, groups in asked:
        own = list(_rows(measure, place, picks, groups, family))
        rows.extend(own)
        said.append(f"{short[key_of(measure)].removesuffix(f': {CRITERION}')}, {_said(own)}")
    text = "\n".join(said) or (
        "No candidate was asked in several orders of the options: "
        "collect and score options(rotate=true) for that."
    )
    together = (
        f"{count(family, 'share')} told together, over all candidates and benchmarks: the intervals by which "
        "a place is favoured are by Bonferroni over all of them."
    )
    notes = (*((together,) if family else ()), *unweighted(marks.scores, "shares of places count"))
    return Finding(study="positions", rows=tuple(rows), text=text, notes=notes)


def _asked(marks: Marks, key: int) -> Iterator[tuple[Row, Floats, "np.ndarray[Any, Any]"]]:
    """By benchmark, candidate and k: those, picks as shares of the orders (questions x k), and the groups."""
    import polars as pl

    own = marks.scores.filter(
        (pl.col("measure_id") == key)
        & (pl.col("role") == "candidate")
        & (pl.col("edit") == "")
        & (pl.col("status") == "ok")
    ).with_columns(options=_part("options"))
    place = ["benchmark", "candidate", "options"]
    for (benchmark, candidate, k), part in (
        own.drop_nulls("options").sort(*place).group_by(place, maintain_order=True)
    ):
        names = [f"pick_{j}" for j in range(1, int(str(k)) + 1)]
        items = (
            part.with_columns(_part(name).alias(name) for name in names)
            .sort("item", "variant", "repeat", "pass_no")  # a mean in another order has another last digit
            .group_by("item", "variant", "group", "repeat", maintain_order=True)
            .agg(pl.col(*names).mean())
            .group_by("item", "variant", "group", maintain_order=True)
            .agg(pl.col(*names).mean())
        )
        picks = items.select(names).to_numpy()
        yield (
            {"benchmark": benchmark, "candidate": candidate, "options": k},
            picks / picks.sum(axis=1, keepdims=True),
            items["group"].to_numpy(),
        )


def _part(name: str) -> "pl.Expr":
    import polars as pl

    kind = pl.Int64 if name == "options" else pl.Float64
    return pl.col("parts").str.json_path_match(f"$.{name}").cast(pl.Float64).cast(kind)


def _rows(
    measure: Measure, place: Row, picks: Floats, groups: "np.ndarray[Any, Any]", family: int
) -> Iterator[Row]:
    k = picks.shape[1]
    shared = dict.fromkeys(COLUMNS) | {
        "metric": measure.metric,
        "criterion": measure.criterion.criterion,
        "rater": measure.rater,
        **place,
    }
    for j in range(k):
        found = _renamed(by_mean(picks[:, j], groups, low=0.0, high=1.0))
        if found.get("low") is not None:
            level = stats.bonferroni_level(0.95, family)
            both = stats.estimate_mean(picks[:, j], groups, low=0.0, high=1.0, level=level)
            found |= {"low_family": both.low, "high_family": both.high}
            found["favoured"] = both.low is not None and both.low > 1 / k
        yield shared | {"figure": "share", "position": j + 1, **found}
    single = np.clip(_uneven(picks), 0.0, 1.0)
    yield shared | {"figure": CRITERION, **_renamed(by_mean(single, groups, low=0.0, high=1.0))}
    counts = {"n_items": len(picks), "n_groups": len(set(groups.tolist()))}
    if few := too_few(groups.tolist()):
        yield shared | {"figure": "pooled_bias", **counts, "reason": few}
        return
    pooled = float(_uneven(picks.mean(axis=0)[None, :])[0])
    yield shared | {"figure": "pooled_bias", **counts, "value": pooled}


def _uneven(shares: Floats) -> Floats:
    """By row the total variation distance from 1/k each, over its largest value 1 - 1/k."""
    k = shares.shape[1]
    return np.asarray(np.abs(shares - 1 / k).sum(axis=1) / (2 * (1 - 1 / k)))


def _renamed(found: Row) -> Row:
    return {"n_items" if name == "n_units" else name: value for name, value in found.items()}


def _said(rows: list[Row]) -> str:
    """One candidate's shares in a sentence."""
    shares = [r for r in rows if r["figure"] == "share"]
    single, pooled = (next(r for r in rows if r["figure"] == name) for name in (CRITERION, "pooled_bias"))
    first, k = shares[0], len(shares)
    on = f"{count(first['n_items'], 'question')} of {k} options in {count(first['n_groups'], 'case')}"
    head = f"{first['candidate']} on {first['benchmark']} ({on}): "
    if first["reason"]:
        return f"{head}{first['reason']}; it takes {LEAST_GROUPS} cases."
    picked = [f"place {r['position']} {r['value']:.2f}" for r in shares]
    above = [
        f"place {r['position']} ({r['low_family']:.2f} to {r['high_family']:.2f})"
        for r in shares
        if r["favoured"]
    ]
    what = f"favoured: {', '.join(above)}" if above else "no place was shown to be favoured"
    return (
        f"{head}of its picks {', '.join(picked)}, where {1 / k:.2f} is even; {what}. Position bias "
        f"{single['value']:.2f}{ends(single)} by question, {pooled['value']:.2f} pooled."
    )
