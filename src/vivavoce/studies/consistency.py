"""Consistency: how much of the spread of marks is the question, the repeat, and the examiner.

The unit is the item; candidates whose repeats are all the same text show the examiner's noise alone, and
are left out of the repeat variance. What the budget means for the next exam is said in one sentence.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.studies import ITEM, LEAST_GROUPS, Marks, by_answer, repeats, settled, unweighted
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "n_candidates", "n_items", "n_groups"),
    *("repeats", "s2_group", "s2_item", "s2_interaction", "s2_repeat", "s2_pass", "raw_item"),
    "raw_interaction",
    *("worth", "best_repeats", "identical", "reason"),
)


def findings(marks: Marks) -> Finding:
    """A row per candidate, and one with an empty candidate for all together, per benchmark and criterion.

    `s2_…` are variance components (0 where the raw figure, beside it, is negative), from items that were
    marked in two repeats or more; with several passes `s2_repeat` is without their noise. `s2_pass` is the
    noise of one pass over an answer, over all its ballots where answers were set side by side. Of all
    candidates together: `worth` is by what the variance of a difference grows with one repeat in place of
    `repeats`; `best_repeats` is the number that costs least when a new question costs as much as a repeat.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    single, notes = by_answer(marks.measures)
    for key, measure in single.items():
        own = (pl.col("measure_id") == key) & (pl.col("role") == "candidate")
        scores = marks.scores.filter(own)
        table = repeats(scores, measure.criterion)
        passes = _passes(scores, measure)
        for (benchmark,), part in table.group_by("benchmark", maintain_order=True):
            rows.extend(_rows(str(benchmark), measure, part, passes, marks))
        for benchmark in scores["benchmark"].unique(maintain_order=True):
            if not table.filter(benchmark=benchmark).height:
                rows.append(_blank(benchmark, measure, "") | {"identical": False, "reason": "no marks"})
    text = "\n".join(_sentences(rows, marks)) or "No candidate was marked: there is no spread to part."
    return Finding(
        study="consistency",
        rows=tuple(rows),
        text=text,
        notes=(*notes, *unweighted(marks.scores, "components of variance count")),
    )


def _rows(
    benchmark: str,
    measure: Measure,
    part: Any,
    passes: dict[tuple[str, str], stats.PassVariance],
    marks: Marks,
) -> Iterator[dict[str, Any]]:
    for (candidate,), own in part.group_by("candidate", maintain_order=True):
        name = str(candidate)
        yield _one(benchmark, measure, name, own, passes.get((benchmark, name)), name in marks.identical)
    yield _all(benchmark, measure, part, marks)


def _passes(scores: Any, measure: Measure) -> dict[tuple[str, str], stats.PassVariance]:
    """The examiner's noise by benchmark and candidate, where marks were given in several passes.

    Of answers set side by side a pass has the mean over the ballots that every pass of the answer has:
    whom an answer met is no noise of the examiner's.
    """
    import polars as pl

    answer = ["benchmark", "candidate", "item", "variant", "repeat"]
    n_passes = pl.col("pass_no").n_unique()
    own = (
        scores.filter(pl.col("edit") == "")
        .with_columns(y=settled(measure.criterion))
        .drop_nulls("y")
        .filter(n_passes.over(*answer, "ballot") == n_passes.over(answer))
        .sort(*answer, "pass_no", "ballot")  # a mean in another order has another last digit
        .group_by(*answer, "pass_no", maintain_order=True)
        .agg(pl.col("y").mean())
    )
    found = {}
    for (benchmark, candidate), said in own.group_by("benchmark", "candidate", maintain_order=True):
        if said["pass_no"].n_unique() > 1:
            items = said.select("item", "variant").hash_rows().to_numpy()
            responses = said.select("item", "variant", "repeat").hash_rows().to_numpy()
            found[str(benchmark), str(candidate)] = stats.pass_variance(
                said["y"].to_numpy(), responses, items=items
            )
    return found


def _blank(benchmark: str, measure: Measure, candidate: str) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "benchmark": benchmark,
        "metric": measure.metric,
        "criterion": measure.criterion.criterion,
        "rater": measure.rater,
        "candidate": candidate,
    }


def _one(
    benchmark: str,
    measure: Measure,
    candidate: str,
    own: Any,
    passes: stats.PassVariance | None,
    identical: bool,
) -> dict[str, Any]:
    """One candidate's items and repeats, nested in their groups."""
    import polars as pl

    n = own["repeat"].n_unique()
    if n > 1:  # an item marked once cannot tell repeats from questions
        own = own.filter(pl.len().over("item", "variant") > 1)
    row = _blank(benchmark, measure, candidate) | {
        "n_items": own.select("item", "variant").n_unique(),
        "n_groups": own["group"].n_unique(),
        "repeats": n,
        "identical": identical,
    }
    few = row["n_groups"] < LEAST_GROUPS
    if passes and not few:
        row |= {"s2_pass": passes.s2_pass}
    if n < 2:
        return row | {"reason": "one repeat only: nothing tells repeats apart from questions"}
    if few:
        return row | {"reason": f"{count(row['n_groups'], 'case')} with two repeats: too few to tell"}
    codes = own.select("item", "variant").hash_rows().to_numpy()
    parts = stats.nested_variance(own["y"].to_numpy(), codes, groups=own["group"].to_numpy())
    row |= _component("group", parts.s2_group) | _component("item", parts.s2_item)
    if identical:
        return row | {"s2_pass": parts.s2_within if passes is None else passes.s2_pass}
    sampling = passes.s2_sampling if passes else None
    return row | {"s2_repeat": sampling.value if sampling else parts.s2_within}


def _all(benchmark: str, measure: Measure, part: Any, marks: Marks) -> dict[str, Any]:
    """The candidates together, on the items and repeats that all of them have."""
    row = _blank(benchmark, measure, "")
    names = [c for c in part["candidate"].unique(maintain_order=True) if c not in marks.identical]
    cube, n_groups = _cube(part, sorted(names))
    row |= {
        "n_candidates": cube.shape[0],
        "n_items": cube.shape[1],
        "repeats": cube.shape[2],
        "n_groups": n_groups,
        "identical": False,
    }
    if cube.shape[0] < 2 or cube.shape[2] < 2:
        return row | {"reason": "it takes two candidates whose answers vary, with two repeats each"}
    if n_groups < LEAST_GROUPS:
        return row | {"reason": f"{count(n_groups, 'case')} that all of them have in full: too few to tell"}
    parts = stats.crossed_variance(cube)
    row |= _component("item", parts.s2_item) | _component("interaction", parts.s2_interaction)
    row |= {"s2_repeat": parts.s2_within}
    if row["s2_interaction"] is None or parts.s2_within is None:
        return row | {"reason": "the table is too small to part its components"}
    if not row["s2_interaction"] and not parts.s2_within:
        return row | {"reason": "nothing varies but the questions: there is no budget to part"}
    budget = {"s2_interaction": row["s2_interaction"], "s2_within": parts.s2_within}
    return row | {
        "worth": stats.repeats_worth(**budget, repeats=cube.shape[2]),
        "best_repeats": stats.best_repeats(**budget, cost_item=1, cost_repeat=1),
    }


def _component(name: str, found: stats.Component | None) -> dict[str, float | None]:
    """A component as two columns: cut at 0, and raw where that column exists."""
    raw = {} if name == "group" else {f"raw_{name}": found.raw if found else None}
    return {f"s2_{name}": found.value if found else None, **raw}


def _cube(part: Any, names: list[str]) -> "tuple[np.ndarray[Any, Any], int]":
    """The complete cube, candidates x items x repeats, and how many groups its items lie in."""
    import polars as pl

    own = part.filter(pl.col("candidate").is_in(names))
    numbers = sorted(own["repeat"].unique())
    full = own.group_by(*ITEM).len().filter(pl.col("len") == len(names) * len(numbers)).select(*ITEM)
    own = own.join(full, on=list(ITEM), how="semi").sort("candidate", *ITEM, "repeat")
    cube = np.asarray(own["y"].to_numpy().reshape(len(names), full.height, len(numbers)))
    return cube, full["group"].n_unique()


def _sentences(rows: list[dict[str, Any]], marks: Marks) -> Iterator[str]:
    short = labels(marks.measures)
    names = {(m.metric, m.criterion.criterion, m.rater): short[key_of(m)] for m in marks.measures.values()}
    for row in rows:
        name = names[row["metric"], row["criterion"], row["rater"]]
        if row["candidate"] == "" and row["worth"]:
            n = row["repeats"]
            advice = (
                f"buy questions; ask each {count(row['best_repeats'], 'time')}"
                if row["best_repeats"] and row["best_repeats"] < n
                else "repeats are worth their calls"
            )
            yield (
                f"{name} on {row['benchmark']} ({row['n_candidates']} candidates, {row['n_items']} "
                "questions in "
                f"{row['n_groups']} cases): {n} repeats are worth {row['worth']:.1f} times the "
                f"questions, at {n} "
                f"times the calls: {advice}."
            )
        elif row["candidate"] == "":
            yield f"{name} on {row['benchmark']}: {row['reason']}."
    if marks.identical:
        who = ", ".join(sorted(marks.identical))
        yield f"All repeats of {who} are the same text; what varies between them is the examiner."
