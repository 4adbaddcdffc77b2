"""Habits of an examiner that no second one is needed to see.

One mark for nearly everything, criteria that move together, a liking for length, and where its marks put the
ceiling and the floor.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.studies.examined import RESPONSE, Examiner, Part, called, examiners, marked, places, row
from vivavoce.studies.figures import Row, by_jackknife, by_mean, ends
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SATURATED", "bounds", "halo", "length", "saturation"]

SATURATED = 0.95
"""A criterion with so large a share of its marks at one value tells candidates apart no more."""


def saturation(marks: Marks) -> Part:
    """Share of candidates' marks at the commonest value (of several, the highest), and at both ends.

    `contrast` says at which value. A criterion is `saturated` if the commonest value has 95 % or more: it
    then leaves any mean over criteria. Intervals are Wilson's by group, as of any share.
    """
    made = Part([], [])
    short = labels(marks.measures)
    for examiner in examiners(marks):
        for _, benchmark, measure, part in places(marks, examiner):
            own = part.filter(part["role"] == "candidate")
            if not own.height:
                continue
            found = list(_shares(benchmark, measure, own))
            made.rows.extend(found)
            modal = found[0]
            if modal["saturated"]:
                made.said.append(
                    f"{short[key_of(measure)]} on {benchmark}: saturated, {100 * modal['value']:.1f} % of "
                    f"{count(modal['n_units'], 'mark')} in {count(modal['n_groups'], 'case')} are "
                    f"{modal['contrast']}; it hardly tells candidates apart and belongs in no mean over "
                    "criteria."
                )
    return made


def _shares(benchmark: str, measure: Measure, own: "pl.DataFrame") -> Iterator[Row]:
    values, groups = np.round(own["value"].to_numpy(), 9), own["group"].to_numpy()
    numbers, times = np.unique(values, return_counts=True)
    modal = float(numbers[times == times.max()].max())
    c = measure.criterion
    for figure, at in (("modal_share", modal), ("share_lowest", c.low), ("share_highest", c.high)):
        if at is None:
            continue
        found = by_mean((np.abs(values - at) < 1e-9).astype(float), groups, low=0.0, high=1.0)
        if figure == "modal_share" and "value" in found:
            found["saturated"] = found["value"] >= SATURATED
        yield row("saturation", benchmark, measure, figure=figure, contrast=f"{at:g}", **found)


def halo(marks: Marks) -> Part:
    """How far the criteria of one examiner move together: Pearson and Spearman, two criteria at a time.

    `contrast` is the level: `rows`, over all candidates' responses, where good candidates are good at
    everything; and `within questions`, each mark less its question's mean. Criteria marked in one call that
    correlate near 1 are one judgement with several names; what of it is the answers' doing cannot be told
    from one examiner.
    """
    made = Part([], [])
    for examiner in (e for e in examiners(marks) if len(e.keys) > 1):
        found: list[Row] = []
        for one, other in combinations(examiner.keys, 2):
            a, b = (marks.measures[examiner.keys[name]] for name in (one, other))
            both = _paired(marks, examiner, one, other)
            for (benchmark,), part in both.group_by("benchmark", maintain_order=True):
                if _rescaled(part):  # one mark on two scales agrees with itself by construction
                    continue
                for contrast, figure, values in _together(part):
                    place = {"contrast": contrast, "other": b.criterion.criterion, "figure": figure}
                    found.append(row("halo", str(benchmark), a, **place, **values))
        made.rows.extend(found)
        made.said.extend(_of_halo(found, called(marks, examiner)))
    return made


def _paired(marks: Marks, examiner: Examiner, one: str, other: str) -> "pl.DataFrame":
    left, right = (marked(marks, examiner.keys[name]) for name in (one, other))
    left = left.filter(left["role"] == "candidate")
    return left.join(right.select(*RESPONSE, other="value"), on=list(RESPONSE), validate="1:1",
                     maintain_order="left")  # fmt: skip


def _rescaled(part: "pl.DataFrame") -> bool:
    """Whether each value of one criterion goes with one of the other, as in a mark on a second scale."""
    kinds = part.select("value", "other").unique()
    return 1 < kinds.height == kinds["value"].n_unique() == kinds["other"].n_unique() and (
        abs(stats.pearson(part["value"].to_numpy(), part["other"].to_numpy()) or 0.0) > 1 - 1e-9
    )


def _together(part: "pl.DataFrame") -> Iterator[tuple[str, str, Row]]:
    import polars as pl

    groups = part["group"].to_numpy()
    question = ["item", "variant"]
    centred = part.select((pl.col(c) - pl.col(c).mean().over(question)).alias(c) for c in ("value", "other"))
    for contrast, table in (("rows", part), ("within questions", centred)):
        two = table.select("value", "other").to_numpy()
        for figure, how in (("pearson", stats.pearson), ("spearman", stats.spearman)):
            yield (
                contrast,
                figure,
                by_jackknife(
                    lambda at, how=how, two=two: how(two[at, 0], two[at, 1]),  # type: ignore[misc]
                    groups,
                    undefined="one side does not vary",
                ),
            )


def _of_halo(found: list[Row], metric: str) -> Iterator[str]:
    for benchmark in dict.fromkeys(r["benchmark"] for r in found):
        own = [r for r in found if (r["benchmark"], r["figure"]) == (benchmark, "pearson")]
        levels = {
            level: [r for r in own if r["contrast"] == level and r["value"] is not None]
            for level in ("rows", "within questions")
        }
        if not levels["rows"]:
            yield f"{metric} on {benchmark}, criteria together: {own[0]['reason']}."
            continue
        told = "; ".join(
            f"{level} r {min(r['value'] for r in rows):.2f} to {max(r['value'] for r in rows):.2f}, mean "
            f"{np.mean([r['value'] for r in rows]):.2f}"
            for level, rows in levels.items()
            if rows
        )
        first = max(levels["rows"], key=lambda r: r["value"])
        on = f"{count(first['n_units'], 'response')} in {count(first['n_groups'], 'case')}"
        yield (
            f"{metric} on {benchmark}, {count(len(levels['rows']), 'pair')} of criteria that vary: {told}. "
            f"Closest are {first['criterion']} and {first['other']}, r {first['value']:.2f}{ends(first)} "
            f"over {on}; where one call marked both they are no separate evidence."
        )


def length(marks: Marks) -> Part:
    """Within a question, do longer answers get higher marks? Correlation of ranks inside each question.

    Words are what blanks part, thinking included where it was recorded as answer. Marks and lengths are
    ranked inside the question, ties sharing their mean rank, and centred there; candidates' answers alone.
    The figure does not say why: a long answer may be a better one.
    """
    made = Part([], [])
    if marks.answers is None:
        return made
    import polars as pl

    answers = marks.answers.filter((pl.col("edit") == "") & pl.col("text").is_not_null())
    words = answers.select(*RESPONSE, words=pl.col("text").str.count_matches(r"\S+").cast(pl.Float64))
    question = ["item", "variant"]
    for examiner in examiners(marks):
        found: list[Row] = []
        for _, benchmark, measure, part in places(marks, examiner):
            own = (
                part.filter(pl.col("role") == "candidate")
                .join(words, on=list(RESPONSE), validate="1:1", maintain_order="left")
                .with_columns(pl.col("value").round(9))
                .with_columns(pl.col("value", "words").rank().over(question))
                .with_columns(pl.col(c) - pl.col(c).mean().over(question) for c in ("value", "words"))
            )
            if own.height:
                two = own.select("value", "words").to_numpy()
                values = by_jackknife(
                    lambda at, two=two: stats.pearson(two[at, 0], two[at, 1]),  # type: ignore[misc]
                    own["group"].to_numpy(),
                    undefined="inside the questions marks or lengths do not vary",
                )
                found.append(row("length", benchmark, measure, figure="spearman", **values))
        made.rows.extend(found)
        made.said.extend(_of_length(found, called(marks, examiner)))
    return made


def _of_length(found: list[Row], name: str) -> Iterator[str]:
    for benchmark in dict.fromkeys(r["benchmark"] for r in found):
        own = [r for r in found if r["benchmark"] == benchmark and r["value"] is not None]
        if own:
            told = ", ".join(f"{r['criterion']} {r['value']:.2f}{ends(r)}" for r in own)
            most = max(own, key=lambda r: r["n_units"])
            yield (
                f"{name} on {benchmark}: inside a question marks and numbers of words correlate, by ranks: "
                f"{told} ({count(most['n_units'], 'response')} in {count(most['n_groups'], 'case')})."
            )


def bounds(marks: Marks) -> Part:
    """Where the ceiling and the floor of the run stand in an examiner's marks, and candidates beside them.

    `mean` of each ceiling and floor; for each candidate `from_ceiling` and `from_floor`, candidate less bound
    on the questions both have marks on, and `share_of_span`, how far up from floor to ceiling it stands
    (where there is one of each). Values by question are means over repeats, the unit is the group.
    """
    import polars as pl

    made = Part([], [])
    short = labels(marks.measures)
    for examiner in examiners(marks):
        for _, benchmark, measure, part in places(marks, examiner):
            items = part.group_by("item", "variant", "group", "candidate", "role").agg(pl.col("value").mean())
            edges = items.filter(items["role"] != "candidate").select("candidate", "role").unique()
            found = list(_by_bound(benchmark, measure, items, edges.sort("role", "candidate").rows()))
            made.rows.extend(found)
            if line := _of_bounds(found):
                made.said.append(f"{short[key_of(measure)]} on {benchmark}: {line}")
    return made


def _by_bound(
    benchmark: str, measure: Measure, items: "pl.DataFrame", edges: list[tuple[str, str]]
) -> Iterator[Row]:
    import polars as pl

    def of(name: str, value: str) -> "pl.DataFrame":
        own = items.filter(pl.col("candidate") == name)
        return own.select("item", "variant", "group", pl.col("value").alias(value)).sort("item", "variant")

    names = items.filter(pl.col("role") == "candidate")["candidate"].unique().sort()
    keys = ["item", "variant", "group"]
    for name, role in edges:
        own = of(name, "y")
        place = {"contrast": role, "other": name}
        limits = {"low": measure.criterion.low, "high": measure.criterion.high}
        values = by_mean(own["y"].to_numpy(), own["group"].to_numpy(), **limits)
        yield row("bounds", benchmark, measure, **place, figure="mean", **values)
        for candidate in names:
            both = of(candidate, "x").join(own, on=keys, maintain_order="left")
            if both.height:
                apart = by_mean((both["x"] - both["y"]).to_numpy(), both["group"].to_numpy())
                figure = f"from_{role}"
                yield row("bounds", benchmark, measure, **place, candidate=candidate, figure=figure, **apart)
    ceilings, floors = ([n for n, role in edges if role == which] for which in ("ceiling", "floor"))
    if len(ceilings) != 1 or len(floors) != 1:
        return
    edge = of(ceilings[0], "top").join(of(floors[0], "bottom"), on=keys, maintain_order="left")
    for candidate in names:
        three = of(candidate, "x").join(edge, on=keys, maintain_order="left")
        if not three.height:
            continue
        table = three.select("x", "top", "bottom").to_numpy()
        share = by_jackknife(
            lambda at, table=table: _share(table[at].mean(axis=0)),  # type: ignore[misc]
            three["group"].to_numpy(),
            scale="raw",
            undefined="ceiling and floor are one",
        )
        place = {"contrast": "floor to ceiling", "figure": "share_of_span"}
        yield row("bounds", benchmark, measure, candidate=candidate, **place, **share)


def _share(means: Any) -> float | None:
    x, top, bottom = (float(mean) for mean in means)
    return None if abs(top - bottom) < 1e-9 else (x - bottom) / (top - bottom)


def _of_bounds(found: list[Row]) -> str | None:
    said = []
    for edge in (r for r in found if r["figure"] == "mean"):
        name = f"the {edge['contrast']} {edge['other']}"
        if edge["value"] is None:
            said.append(f"{name}: {edge['reason']}.")
            continue
        near = [r for r in found if r["figure"] == f"from_{edge['contrast']}" and r["other"] == edge["other"]]
        apart = [r["value"] for r in near if r["value"] is not None]
        on = f"{count(edge['n_units'], 'question')} in {count(edge['n_groups'], 'case')}"
        told = f"; candidates stand {min(apart):+.2f} to {max(apart):+.2f} from it" if apart else ""
        said.append(f"{name} has {edge['value']:.2f}{ends(edge)} on {on}{told}.")
    return " ".join(said) or None
