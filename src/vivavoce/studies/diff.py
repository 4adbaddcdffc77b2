"""Diff: what a new judge, rubric or metric version changes, criterion by criterion.

Two measures are never mixed; this is where they are held beside each other on the same answers: which
marks moved, how far the two agree, what became of level and order (`shifts`), and what a bridge between
them can carry (`bridging`).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vivavoce import stats
from vivavoce.errors import SelectionError
from vivavoce.records import Criterion, Finding, Measure
from vivavoce.studies import ITEM, Marks, by_answer, unweighted
from vivavoce.studies.bridging import bridge
from vivavoce.studies.figures import by_coefficient
from vivavoce.studies.shifts import ANSWER, PARTS, Change, level, order
from vivavoce.studies.words import count, number, plain

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PARTS", "diff"]

MOST = 10
"""How many of the items that moved most are named."""
FEW_VALUES = 10
"""Up to so many different marks are taken as labels too, for the nominal alpha."""
SAME = 1e-9
COEFFICIENTS = ("alpha_nominal", "alpha_ordinal", "alpha_interval", "quadratic_kappa", "percent")


def diff(marks: Marks, one: str, other: str, *, margin: float | None = None) -> Finding:
    """Rows of `PARTS`, told apart by `part`, for each benchmark and criterion that both signatures have.

    overlap and status: which answers each marked. moved, item: marks that are not what they were; `margin`
    is the least move that matters, by default the criterion's `smallest_difference`. agreement: of all
    answers ('') and by candidate, each case left out in turn. level, beyond: the shift, and whose shift is
    another than that of the others; all their p are one family (Holm). order, rank, pair: who stands
    where. bridge, carried: what old means correspond to.

    Marks are those with status ok, passes averaged; only the order counts silence, by each criterion's own
    rule. Raises `SelectionError` if the two are one, share no criterion, or the margin is not above 0.
    """
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")
    if one == other:
        raise SelectionError(f"{one} was named twice: a diff takes two different signatures.")
    single, pooled = by_answer(marks.measures)
    paired, left = _pairs(single, one, other)
    changes = [c for keys in paired for c in _changes(marks, keys)]
    if not changes:
        raise SelectionError(f"no candidate has marks by {one} or {other} on what was selected.")
    by_change = [(change, list(_rows(change, margin))) for change in changes]
    rows = [row for _, own in by_change for row in own]
    tested = [r for r in rows if r.get("p") is not None]
    for row, p in zip(tested, stats.holm([r["p"] for r in tested]).tolist(), strict=True):
        row |= {"p_adjusted": p, "family": len(tested)}
    notes = (
        *pooled, *left, *_declared(changes), *_others(marks, one, other),
        *([f"{count(len(tested), 'test')} of shifts made together: p by Holm."] if tested else []),
        *unweighted(marks.scores, "moves and agreement count"),
        "The two are not the same measure: compare refuses to mix them, and a table should.",
    )  # fmt: skip
    text = "\n\n".join((f"Old: {one}\nNew: {other}", *(_text(change, own) for change, own in by_change)))
    return Finding(study="diff", rows=tuple(rows), text=text, notes=notes)


def _pairs(
    measures: Mapping[int, Measure], one: str, other: str
) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """The measures of both that belong together, and lines on what has no counterpart.

    Criteria are paired by name; a rater with the rater of that name, or where each side has one, with that
    one: another model is another rater.
    """
    sides: list[dict[str, dict[str, int]]] = [{}, {}]
    for key, m in measures.items():
        for side, signature in zip(sides, (one, other), strict=True):
            if m.signature == signature:
                side.setdefault(m.criterion.criterion, {})[m.rater] = key
    shared = [name for name in sides[0] if name in sides[1]]
    if not shared:
        told = " and ".join(", ".join(side) or "none" for side in sides)
        raise SelectionError(f"the two have no criterion in common: {told}. A diff pairs criteria by name.")
    lines = [
        f"Only {signature} has: {', '.join(lost)}."
        for side, signature in zip(sides, (one, other), strict=True)
        if (lost := [name for name in side if name not in shared])
    ]
    paired = []
    for name in shared:
        a, b = sides[0][name], sides[1][name]
        both = [rater for rater in a if rater in b]
        if len(a) == len(b) == 1:
            paired.append((*a.values(), *b.values()))
            continue
        paired += [(a[rater], b[rater]) for rater in both]
        lost = sorted({*a, *b} - {*both})
        lines += [f"Left out of {name}, having marked under one only: {', '.join(lost)}."] if lost else []
    return [(x, y) for x, y in paired], tuple(lines)


def _changes(marks: Marks, keys: tuple[int, int]) -> Iterator[Change]:
    import polars as pl

    own = marks.scores.filter((pl.col("role") == "candidate") & (pl.col("edit") == ""))
    one, other = (marks.measures[key] for key in keys)
    sides = [own.filter(pl.col("measure_id") == key) for key in keys]
    benchmarks = dict.fromkeys((*sides[0]["benchmark"], *sides[1]["benchmark"]))
    for name in benchmarks:
        here = tuple(side.filter(pl.col("benchmark") == name) for side in sides)
        first, second = (_answers(side) for side in here)
        beside = [c for c in first.columns if c not in (*ANSWER, "value", "status")]
        answers = (
            first.rename({"value": "one", "status": "status_one"})
            .join(second.rename({"value": "other", "status": "status_other"}), on=list(ANSWER), how="full",
                  coalesce=True, suffix="_2", validate="1:1")
            .with_columns(pl.coalesce(c, f"{c}_2") for c in beside)
            .drop(f"{c}_2" for c in beside)
            .sort(*ANSWER)
        )  # fmt: skip
        yield Change(name, one, other, answers, (here[0], here[1]))


def _answers(rows: "pl.DataFrame") -> "pl.DataFrame":
    """One row per answer: the mean of its passes that are ok, and the status that says it all."""
    import polars as pl

    statuses = pl.Enum(["ok", "failed", "unreadable", "unanswered"])
    weight = ["weight"] if "weight" in rows.columns else []
    bare = pl.when(pl.col("variant") == "").then("item").otherwise(pl.format("{} [{}]", "item", "variant"))
    return (
        rows.sort(*ANSWER, "pass_no", "unit", "ballot")  # a mean in another order has another last digit
        .with_columns(name=pl.coalesce("alias", bare), status=pl.col("status").cast(statuses))
        .group_by(*ANSWER, maintain_order=True)
        .agg(
            pl.col("group", "name", *weight).first(),
            pl.col("value").filter(pl.col("status") == "ok").mean().round(9),
            pl.col("status").min().cast(pl.String),
        )
    )


def _rows(change: Change, margin: float | None) -> Iterator[dict[str, Any]]:
    yield from _overlap(change)
    yield from _moved(change, margin)
    yield from _agreement(change)
    yield from level(change)
    yield from order(change)
    yield from bridge(change)


def _overlap(change: Change) -> Iterator[dict[str, Any]]:
    import polars as pl

    a, b = (change.answers[name].is_not_null() for name in ("one", "other"))
    yield change.row(
        "overlap",
        n_both=int((a & b).sum()),
        n_only_one=int((a & ~b).sum()),
        n_only_other=int((b & ~a).sum()),
        n_neither=int((~a & ~b).sum()),
        reason=change.empty,
    )
    statuses = change.answers.group_by("status_one", "status_other").agg(n_answers=pl.len())
    for row in statuses.sort("n_answers", "status_one", "status_other", descending=[True, False, False]).rows(
        named=True
    ):
        yield change.row("status", **row)


def _moved(change: Change, margin: float | None) -> Iterator[dict[str, Any]]:
    import polars as pl

    why = change.empty or change.scales
    if why:
        yield change.row("moved", n_answers=change.both.height, reason=why)
        return
    both = change.both.with_columns(d=pl.col("other") - pl.col("one"))
    moved = both.filter(pl.col("d").abs() > SAME)
    least = margin or change.other.criterion.smallest_difference or change.one.criterion.smallest_difference
    yield change.row(
        "moved",
        n_answers=both.height,
        n_moved=moved.height,
        n_up=int((moved["d"] > 0).sum()),
        n_down=int((moved["d"] < 0).sum()),
        n_items=both.n_unique(["item", "variant"]),
        n_items_moved=moved.n_unique(["item", "variant"]),
        n_groups=both.n_unique("group"),
        margin=least,
        n_by_margin=None if least is None else int((both["d"].abs() >= least - SAME).sum()),
    )
    items = change.items.filter(pl.col("d").abs() > SAME)
    for row in items.sort(pl.col("d").abs(), *ITEM[1:3], "candidate",
                          descending=[True, False, False, False]).head(MOST).rows(named=True):  # fmt: skip
        yield change.row("item", item=row["name"], candidate=row["candidate"], one=row["one"],
                         other=row["other"], difference=row["d"], n_answers=row["n"])  # fmt: skip


def _agreement(change: Change) -> Iterator[dict[str, Any]]:
    both = change.both
    why = change.empty or change.scales
    if why:
        yield change.row("agreement", candidate="", n_answers=both.height, reason=why)
        return
    yield from _coefficients(change, both, "")
    for (name,), part in both.sort(ANSWER[3], *ANSWER[:3]).group_by("candidate", maintain_order=True):
        yield from _coefficients(change, part, str(name))


def _coefficients(change: Change, part: "pl.DataFrame", candidate: str) -> Iterator[dict[str, Any]]:
    values, groups = part.select("one", "other").to_numpy(), part["group"].to_numpy()
    for name in COEFFICIENTS:
        if name == "alpha_nominal" and len(np.unique(values)) > FEW_VALUES:
            continue
        found = by_coefficient(name, values, groups)
        figures = {k: found[k] for k in ("value", "low", "high", "n_groups", "reason") if k in found}
        yield change.row("agreement", candidate=candidate, coefficient=name, n_answers=len(values), **figures)


def _declared(changes: list[Change]) -> Iterator[str]:
    """Lines on criteria that the two do not declare alike."""
    for change in changes:
        a, b = change.one.criterion, change.other.criterion
        if a.if_unanswered != b.if_unanswered:
            yield (
                f"{a.criterion} on {change.benchmark}: silence was {a.if_unanswered} and is "
                f"{b.if_unanswered}; the order counts it so."
            )


def _others(marks: Marks, one: str, other: str) -> Iterator[str]:
    import polars as pl

    keys = [key for key, m in marks.measures.items() if m.signature in (one, other)]
    lost = marks.scores.filter(pl.col("measure_id").is_in(keys) & (pl.col("role") != "candidate"))
    names = lost["candidate"].unique().sort().to_list()
    if names:
        yield f"Floor and ceiling are no candidates and were left out: {', '.join(names)}."


def _text(change: Change, rows: list[dict[str, Any]]) -> str:
    """A paragraph for a criterion, of a line for each thing that may have changed."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(row)
    same = change.one.rater == change.other.rater
    by = f" by {change.one.rater}" if change.one.rater and same else ""
    said = [f"{change.one.criterion.criterion}{by} on {change.benchmark}."]
    said.append(_said_overlap(parts["overlap"][0]))
    if not change.empty:
        said += [
            _said_moved(parts["moved"][0], parts["agreement"]),
            *_said_level(change.other.criterion, parts["level"][0], parts.get("beyond", [])),
            _said_order(parts["order"][0]),
            _said_bridge(change, parts["bridge"], parts.get("carried", [])),
        ]
    return "\n".join(said)


def _said_overlap(row: Mapping[str, Any]) -> str:
    said = (
        f"{count(row['n_both'], 'answer')} marked by both, {row['n_only_one']:,} by the old one only, "
        f"{row['n_only_other']:,} by the new one only, {row['n_neither']:,} by neither"
    )
    return f"{said}: there is nothing to compare." if row["reason"] else f"{said}."


def _said_moved(row: Mapping[str, Any], agreement: list[dict[str, Any]]) -> str:
    if row["reason"]:
        return f"Marks are not subtracted: {row['reason']}."
    if not row["n_moved"]:
        return "No mark moved."
    least = "" if row["margin"] is None else f"; {row['n_by_margin']:,} by {plain(row['margin'])} or more"
    all_of = {r["coefficient"]: r for r in agreement if r["candidate"] == ""}
    alike = all_of["alpha_ordinal"]
    said = (
        f"{row['n_moved']:,} of {count(row['n_answers'], 'mark')} moved, {row['n_up']:,} up and "
        f"{row['n_down']:,} down, on {row['n_items_moved']:,} of {count(row['n_items'], 'question')} "
        f"({count(row['n_groups'], 'case')}){least}."
    )
    if alike["value"] is None:
        return f"{said} Agreement: {alike['reason']}."
    ends = "" if alike["low"] is None else f" ({alike['low']:.2f} to {alike['high']:.2f})"
    kappa = all_of["quadratic_kappa"]["value"]
    return (
        f"{said} Agreement: alpha (ordinal) {alike['value']:.2f}{ends}, "
        + ("" if kappa is None else f"quadratic kappa {kappa:.2f}, ")
        + f"{all_of['percent']['value']:.1%} equal."
    )


def _ends(row: Mapping[str, Any], criterion: Criterion) -> str:
    if row["low"] is None:
        return ""
    return f" ({number(row['low'], criterion)} to {number(row['high'], criterion)})"


def _p(row: Mapping[str, Any]) -> str:
    if row["p_adjusted"] is None:
        return "no p"
    return "p < 0.0001" if row["p_adjusted"] < 0.0001 else f"p {row['p_adjusted']:.4f}"


def _said_level(c: Criterion, row: Mapping[str, Any], beyond: list[dict[str, Any]]) -> Iterator[str]:
    if row["difference"] is None:
        return
    d = row["difference"]
    way = f"{number(abs(d), c)} {'higher' if d > 0 else 'lower'} than" if abs(d) > SAME else "equal to"
    yield (
        f"Level: on average the new marks are {way} the old ones{_ends(row, c)}, {_p(row)}: "
        f"{number(row['one'], c)}, then {number(row['other'], c)}."
    )
    tested = [r for r in beyond if r["p_adjusted"] is not None]
    apart = [
        f"{r['candidate']} by {number(r['difference'], c)}" for r in tested if r["p_adjusted"] <= stats.ALPHA
    ]
    if apart:
        yield f"Shifted otherwise than the others: {', '.join(apart)}."
    elif tested:
        yield "No candidate's shift could be told apart from that of the others."


def _said_order(row: Mapping[str, Any]) -> str:
    if row["n_pairs"] is None:
        return f"Order: {row['reason']}."
    tau = "" if row["kendall"] is None else f"tau-b {row['kendall']:.2f}, "
    pairs = count(row["n_pairs"], "pair")
    said = (
        f"Order of {count(row['n_candidates'], 'candidate')} on {count(row['n_items'], 'question')} "
        f"({count(row['n_groups'], 'case')}): {tau}{row['n_swapped']} of {pairs} swapped"
    )
    if row["n_verdicts_changed"] is None:
        return f"{said}; {row['reason']}."
    return (
        f"{said}, {row['n_swapped_told_apart']} of them told apart by either; the verdict on "
        f"{count(row['n_verdicts_changed'], 'pair')} is another."
    )


def _said_bridge(change: Change, bridges: list[dict[str, Any]], carried: list[dict[str, Any]]) -> str:
    line = next(r for r in bridges if r["method"] == "mean_sigma")
    if line["reason"]:
        return f"No bridge: {line['reason']}."
    points = {r["point"]: r for r in carried if r["method"] == "mean_sigma" and not r["candidate"]}
    old = {name: number(r["one"], change.one.criterion) for name, r in points.items()}
    new = {name: number(r["other"], change.other.criterion) for name, r in points.items()}
    far, off = (number(abs(line[k]), change.other.criterion) for k in ("furthest_by", "residual"))
    return (
        f"Bridge: new = {line['intercept']:.3f} + {line['slope']:.3f} old (mean and spread, "
        f"{count(line['n_items'], 'question')}, {count(line['n_groups'], 'case')}). A mean of old marks of "
        f"{old['mean']} corresponds to {new['mean']}{_ends(points['mean'], change.other.criterion)}. Means "
        f"from {old['least']} ({new['least']}) to {old['greatest']} ({new['greatest']}) may be carried over; "
        f"single marks may not, they lie {off} from the line. Furthest from it is {line['furthest']}, {far} "
        f"{'above' if line['furthest_by'] > 0 else 'below'}."
        + (" What leaves the scale was set to its end." if any(r["clipped"] for r in points.values()) else "")
    )
