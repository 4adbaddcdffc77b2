"""Diff: what a new judge, rubric or metric version changes, criterion by criterion.

Two measures are never mixed; here they are held beside each other on the same responses: which scores moved,
how far the two agree, what became of level and order, and what a line between them can carry
(`rater_change`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.measure_names import is_of_file
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.bounded import Bounded, figure_text
from vivavoce.studies.comparing.change import Change, DiffRow
from vivavoce.studies.comparing.pairs import check_margin
from vivavoce.studies.comparing.rater_change import bridge, level, order
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import by_coefficient
from vivavoce.studies.score_table import ITEM, RESPONSE, ScoreTable, by_answer, unweighted
from vivavoce.studies.text import count, number, plain

MOST = 10
"""How many of the items that moved most are named."""
FEW_VALUES = 10
"""Up to this many different scores are taken as labels too, for the nominal alpha."""
SAME = 1e-9
COEFFICIENTS: tuple[stats.AgreementCoefficient, ...] = (
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "quadratic_kappa", "percent"),
)


def diff(
    scores: ScoreTable,
    old: str,
    new: str,
    *,
    criteria: tuple[str | None, str | None] = (None, None),
    margin: float | None = None,
) -> Finding:
    """Rows of `change.PARTS`, by `part`, for each benchmark and criterion that both signatures have.

    overlap and status: which responses each scored. moved, item: scores that are not what they were; `margin`
    is the least move that matters, by default the criterion's `smallest_difference`. agreement: of all
    responses ('') and by candidate, each group left out in turn. level, beyond: the shift, and whose shift
    is another than that of the others; all their p are one family (Holm). order, rank, pair: who stands
    where. bridge, carried: what old means correspond to.

    Scores are those with status ok, passes averaged; only the order counts silence, by each criterion's own
    rule. `criteria` names one of each, null for all: they are paired by name, and single ones of two names
    where one was named or is of a file. Of the scores of a file all items that differ are listed.

    Raises `SelectionError` if the two are one, share no criterion, or the margin is not above 0.
    """
    check_margin(margin)
    if old == new:
        raise SelectionError(f"{old} was named twice: a diff takes two different signatures.")
    single, pooled = by_answer(scores.measures)
    matched = _matched(single, (old, criteria[0]), (new, criteria[1]))
    changes = [change for keys in matched.keys for change in _changes(scores, keys)]
    if not changes:
        raise SelectionError(f"no candidate has scores by {old} or {new} on what was selected.")
    by_change, n_tests = _corrected([list(_rows(change, margin)) for change in changes])
    notes = [*pooled, *matched.lines, *_notes_on_silence(changes), *_notes_on_roles(scores, old, new)]
    if n_tests:
        notes.append(f"{count(n_tests, 'test')} of shifts made together: p by Holm.")
    notes += unweighted(scores.scores, "moves and agreement count")
    notes.append("The two are not the same measure: compare refuses to mix them, and a table should.")
    texts = [_text(change, rows) for change, rows in zip(changes, by_change, strict=True)]
    return Finding(
        study="diff",
        rows=tuple(row.columns() for rows in by_change for row in rows),
        text="\n\n".join((f"Old: {old}\nNew: {new}", *texts)),
        notes=tuple(notes),
    )


def _corrected(by_change: Sequence[Sequence[DiffRow]]) -> tuple[list[list[DiffRow]], int]:
    """The rows with the p of all shifts corrected together, and how many these are."""
    tested = [row.p for rows in by_change for row in rows if row.p is not None]
    adjusted = iter(stats.holm(tested).tolist())

    def with_family(row: DiffRow) -> DiffRow:
        return row if row.p is None else replace(row, p_adjusted=next(adjusted), family=len(tested))

    return [list(map(with_family, rows)) for rows in by_change], len(tested)


class _Matched(NamedTuple):
    """The measures of both sides that belong together, and lines on what has no counterpart."""

    keys: list[tuple[int, int]]
    lines: tuple[str, ...]


_Side = tuple[str, str | None]
"""A signature, and the criterion of it that is meant; null for all."""


def _matched(measures: Mapping[int, Measure], old: _Side, new: _Side) -> _Matched:
    """Criteria are paired by name, and single ones with each other where one was named, or is of a file.

    A rater is paired with the rater of that name, or where each side has one, with it.
    Another model is another rater.
    """
    sides = [_by_criterion(measures, *side) for side in (old, new)]
    shared = [(name, name) for name in sides[0] if name in sides[1]]
    is_meant = old[1] or new[1] or any(map(is_of_file, measures.values()))
    if not shared and is_meant and len(sides[0]) == len(sides[1]) == 1:
        shared = list(zip(*sides, strict=True))
    if not shared:
        criteria = " and ".join(", ".join(side) or "none" for side in sides)
        raise SelectionError(
            f"the two have no criterion in common: {criteria}. A diff pairs criteria by name; "
            "METRIC:CRITERION names one of each."
        )
    lines = []
    for place, (side, (signature, _)) in enumerate(zip(sides, (old, new), strict=True)):
        if unshared := [name for name in side if name not in {pair[place] for pair in shared}]:
            lines.append(f"Only {signature} has: {', '.join(unshared)}.")
    keys = []
    for name, name_in_new in shared:
        pairs, lost = _raters(sides[0][name], sides[1][name_in_new])
        keys += pairs
        if lost:
            lines.append(f"Left out of {name}, having scores under one only: {', '.join(lost)}.")
    return _Matched(keys, tuple(lines))


def _raters(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[list[tuple[int, int]], list[str]]:
    """The keys of the raters of a criterion in pairs, and the raters of one side alone."""
    # With a single rater on each side, a change of rater is the comparison itself: names may differ.
    if len(old) == len(new) == 1:
        return list(zip(old.values(), new.values(), strict=True)), []
    return [(old[rater], new[rater]) for rater in old if rater in new], sorted({*old} ^ {*new})


def _by_criterion(
    measures: Mapping[int, Measure], signature: str, criterion: str | None
) -> dict[str, dict[str, int]]:
    """The keys of a signature's measures by criterion and rater; null for all criteria."""
    keys: dict[str, dict[str, int]] = {}
    for key, measure in measures.items():
        if measure.signature == signature and criterion in (None, measure.criterion.criterion):
            keys.setdefault(measure.criterion.criterion, {})[measure.rater] = key
    return keys


def _changes(scores: ScoreTable, keys: tuple[int, int]) -> Iterator[Change]:
    """The two measures on each benchmark."""
    unedited = scores.scores.filter((pl.col("role") == "candidate") & (pl.col("edit") == ""))
    old, new = (scores.measures[key] for key in keys)
    sides = [unedited.filter(pl.col("measure_id") == key) for key in keys]
    for benchmark in dict.fromkeys((*sides[0]["benchmark"], *sides[1]["benchmark"])):
        old_rows, new_rows = (side.filter(pl.col("benchmark") == benchmark) for side in sides)
        first, second = _by_response(old_rows), _by_response(new_rows)
        shared = [c for c in first.columns if c not in (*RESPONSE, "value", "status")]
        # A full join, because the overlap row also counts responses that only one side scored.
        responses = (
            first.rename({"value": "one", "status": "status_one"})
            .join(second.rename({"value": "other", "status": "status_other"}), on=list(RESPONSE),
                  how="full", coalesce=True, suffix="_2", validate="1:1")
            .with_columns(pl.coalesce(c, f"{c}_2") for c in shared)
            .drop(f"{c}_2" for c in shared)
            .sort(*RESPONSE)
        )  # fmt: skip
        yield Change(benchmark, old, new, responses, (old_rows, new_rows))


def _by_response(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per response: the mean of its passes that are ok, and the status that says it all."""
    # `min` below follows this order: one pass that is ok makes the response ok.
    statuses = pl.Enum(["ok", "failed", "set_aside", "unreadable", "unanswered"])
    weight = ["weight"] if "weight" in rows.columns else []
    bare = pl.when(pl.col("variant") == "").then("item").otherwise(pl.format("{} [{}]", "item", "variant"))
    return (
        rows.sort(*RESPONSE, "pass_no", "unit", "ballot")  # a mean in another order has another last digit
        .with_columns(name=pl.coalesce("alias", bare), status=pl.col("status").cast(statuses))
        .group_by(*RESPONSE, maintain_order=True)
        .agg(
            pl.col("group", "name", *weight).first(),
            exact_mean(pl.col("value").filter(pl.col("status") == "ok")).round(9),
            pl.col("status").min().cast(pl.String),
        )
    )


def _rows(change: Change, margin: float | None) -> Iterator[DiffRow]:
    yield from _overlap(change)
    yield from _moved(change, margin)
    yield from _agreement(change)
    yield from level(change)
    yield from order(change)
    yield from bridge(change)


def _overlap(change: Change) -> Iterator[DiffRow]:
    old, new = (change.responses[name].is_not_null() for name in ("one", "other"))
    yield change.row(
        "overlap",
        n_both=int((old & new).sum()),
        n_only_one=int((old & ~new).sum()),
        n_only_other=int((new & ~old).sum()),
        n_neither=int((~old & ~new).sum()),
        reason=change.why_empty,
    )
    statuses = (
        change.responses.group_by("status_one", "status_other")
        .agg(n_answers=pl.len())
        .sort("n_answers", "status_one", "status_other", descending=[True, False, False])
    )
    yield from (change.row("status", **row) for row in statuses.iter_rows(named=True))


def _moved(change: Change, margin: float | None) -> Iterator[DiffRow]:
    reason = change.why_empty or change.why_not_subtracted
    if reason:
        yield change.row("moved", n_answers=change.both.height, reason=reason)
        return
    moves = change.both.with_columns(d=pl.col("other") - pl.col("one"))
    moved = moves.filter(pl.col("d").abs() > SAME)
    margin_used = (
        margin or change.new.criterion.smallest_difference or change.old.criterion.smallest_difference
    )
    yield change.row(
        "moved",
        n_answers=moves.height,
        n_moved=moved.height,
        n_up=int((moved["d"] > 0).sum()),
        n_down=int((moved["d"] < 0).sum()),
        n_items=moves.n_unique(["item", "variant"]),
        n_items_moved=moved.n_unique(["item", "variant"]),
        n_groups=moves.n_unique("group"),
        margin=margin_used,
        n_by_margin=None if margin_used is None else int((moves["d"].abs() >= margin_used - SAME).sum()),
    )
    items = change.items.filter(pl.col("d").abs() > SAME).sort(
        pl.col("d").abs(), *ITEM[1:3], "candidate", descending=[True, False, False, False]
    )
    of_file = is_of_file(change.old) or is_of_file(change.new)
    for row in (items if of_file else items.head(MOST)).iter_rows(named=True):
        yield change.row(
            "item",
            item=row["name"],
            candidate=row["candidate"],
            one=row["one"],
            other=row["other"],
            difference=row["d"],
            n_answers=row["n"],
        )


def _agreement(change: Change) -> Iterator[DiffRow]:
    pairs = change.both
    reason = change.why_empty or change.why_not_subtracted
    if reason:
        yield change.row("agreement", candidate="", n_answers=pairs.height, reason=reason)
        return
    yield from _coefficients(change, pairs, "")
    for (name,), part in pairs.sort("candidate", *RESPONSE[:3]).group_by("candidate", maintain_order=True):
        yield from _coefficients(change, part, str(name))


def _coefficients(change: Change, part: pl.DataFrame, candidate: str) -> Iterator[DiffRow]:
    values, groups = part.select("one", "other").to_numpy(), part["group"].to_numpy()
    for name in COEFFICIENTS:
        # Nominal alpha takes any two values as equally far apart, which says little on a fine scale.
        if name == "alpha_nominal" and len(np.unique(values)) > FEW_VALUES:
            continue
        estimate = by_coefficient(name, values, groups)
        yield change.row(
            "agreement",
            candidate=candidate,
            coefficient=name,
            **Bounded.from_figure(estimate).columns(),
            n_answers=len(values),
            n_groups=estimate.n_groups,
            reason=estimate.reason,
        )


def _notes_on_silence(changes: Sequence[Change]) -> Iterator[str]:
    """Lines on criteria whose silence the two do not count alike."""
    for change in changes:
        old, new = change.old.criterion, change.new.criterion
        if old.if_unanswered != new.if_unanswered:
            yield (
                f"{old.criterion} on {change.benchmark}: silence was {old.if_unanswered} and is "
                f"{new.if_unanswered}; the order counts it so."
            )


def _notes_on_roles(scores: ScoreTable, old: str, new: str) -> Iterator[str]:
    """The line on floor and ceiling."""
    keys = [key for key, m in scores.measures.items() if m.signature in (old, new)]
    ends = scores.scores.filter(pl.col("measure_id").is_in(keys) & (pl.col("role") != "candidate"))
    names = ends["candidate"].unique().sort().to_list()
    if names:
        yield f"Floor and ceiling are no candidates and were left out: {', '.join(names)}."


def _text(change: Change, rows: Sequence[DiffRow]) -> str:
    """A paragraph for a criterion, of a line for each thing that may have changed."""
    rater_text = ""
    if change.old.rater and change.old.rater == change.new.rater:
        rater_text = f" by {change.old.rater}"
    parts: dict[str, list[DiffRow]] = {}
    for row in rows:
        parts.setdefault(row.part, []).append(row)
    lines = [f"{change.old.criterion.criterion}{rater_text} on {change.benchmark}."]
    lines.append(_overlap_line(parts["overlap"][0]))
    if not change.why_empty:
        lines += [
            _moved_line(parts["moved"][0], parts["agreement"]),
            *_level_lines(change.new.criterion, parts["level"][0], parts.get("beyond", [])),
            _order_line(parts["order"][0]),
            _bridge_line(change, parts["bridge"][0], parts.get("carried", [])),
        ]
    return "\n".join(lines)


def _overlap_line(row: DiffRow) -> str:
    line = (
        f"{count(row.n_both or 0, 'answer')} scored by both, {row.n_only_one:,} by the old one only, "
        f"{row.n_only_other:,} by the new one only, {row.n_neither:,} by neither"
    )
    return f"{line}: there is nothing to compare." if row.reason else f"{line}."


def _moved_line(row: DiffRow, agreement: Sequence[DiffRow]) -> str:
    if row.reason:
        return f"Scores are not subtracted: {row.reason}."
    if not row.n_moved:
        return "No score moved."
    margin_text = "" if row.margin is None else f"; {row.n_by_margin:,} by {plain(row.margin)} or more"
    line = (
        f"{row.n_moved:,} of {count(row.n_answers or 0, 'score')} moved, {row.n_up:,} up and "
        f"{row.n_down:,} down, on {row.n_items_moved:,} of {count(row.n_items or 0, 'question')} "
        f"({count(row.n_groups or 0, 'case')}){margin_text}."
    )
    return f"{line} Agreement: {_agreement_words(agreement)}."


def _agreement_words(rows: Sequence[DiffRow]) -> str:
    overall = {row.coefficient: row for row in rows if row.candidate == ""}
    alpha, kappa = overall["alpha_ordinal"], overall["quadratic_kappa"].value
    if alpha.value is None:
        return alpha.reason or ""
    weighted = "" if kappa is None else f"quadratic kappa {printed(kappa)}, "
    agreed = f"alpha (ordinal) {figure_text(alpha)}"
    return f"{agreed}, {weighted}{printed(overall['percent'].value, '.1%')} equal"


def _ends(row: DiffRow, criterion: Criterion) -> str:
    if row.low is None or row.high is None:
        return ""
    return f" ({number(row.low, criterion)} to {number(row.high, criterion)})"


def _p(row: DiffRow) -> str:
    if row.p_adjusted is None:
        return "no p"
    return "p < 0.0001" if row.p_adjusted < 0.0001 else f"p {row.p_adjusted:.4f}"


def _level_lines(c: Criterion, row: DiffRow, beyond: Sequence[DiffRow]) -> Iterator[str]:
    if row.difference is None or row.one is None or row.other is None:
        return
    way = "equal to"
    if abs(row.difference) > SAME:
        way = f"{number(abs(row.difference), c)} {'higher' if row.difference > 0 else 'lower'} than"
    yield (
        f"Level: on average the new scores are {way} the old ones{_ends(row, c)}, {_p(row)}: "
        f"{number(row.one, c)}, then {number(row.other, c)}."
    )
    yield from _beyond_lines(c, beyond)


def _beyond_lines(c: Criterion, beyond: Sequence[DiffRow]) -> Iterator[str]:
    tested = {row: row.p_adjusted for row in beyond if row.p_adjusted is not None}
    shifted = [row for row, p in tested.items() if p <= stats.ALPHA]
    if shifted:
        names = ", ".join(f"{row.candidate} by {number(row.difference or 0.0, c)}" for row in shifted)
        yield f"Shifted otherwise than the others: {names}."
    elif tested:
        yield "No candidate's shift could be told apart from that of the others."


def _order_line(row: DiffRow) -> str:
    if row.n_pairs is None:
        return f"Order: {row.reason}."
    tau = "" if row.kendall is None else f"tau-b {printed(row.kendall)}, "
    line = (
        f"Order of {count(row.n_candidates or 0, 'candidate')} on {count(row.n_items or 0, 'question')} "
        f"({count(row.n_groups or 0, 'case')}): {tau}{row.n_swapped} of {count(row.n_pairs, 'pair')} swapped"
    )
    if row.n_told_apart_one is None:
        return f"{line}; {row.reason}."
    line = f"{line}, {row.n_swapped_told_apart} of them told apart by either"
    if row.n_verdicts_changed is None:
        return f"{line}. The scales have no common unit: whether a difference changed is not tested."
    if not row.n_changed:
        return f"{line}. No difference between two candidates is shown to have changed."
    return (
        f"{line}. The difference is shown to have changed on {count(row.n_changed, 'pair')}, and with it the "
        f"verdict on {row.n_verdicts_changed}."
    )


def _bridge_line(change: Change, line: DiffRow, carried: Sequence[DiffRow]) -> str:
    if line.reason:
        return f"No bridge: {line.reason}."
    criterion = change.new.criterion
    points = {row.point: row for row in carried if not row.candidate}
    old = {name: number(row.one or 0.0, change.old.criterion) for name, row in points.items()}
    new = {name: number(row.other or 0.0, criterion) for name, row in points.items()}
    way = "their own shifts" if line.method == "shift" else "their means show a slope, Deming's line"
    clipped = (
        " What leaves the scale was set to its end." if any(row.clipped for row in points.values()) else ""
    )
    return (
        f"Bridge: new = {printed(line.intercept, '.3f')} + {printed(line.slope, '.3f')} old "
        f"({count(line.n_candidates or 0, 'candidate')}, {way}). A further candidate with an old mean of "
        f"{old['mean']} is expected at {new['mean']}{_ends(points['mean'], criterion)}. Means from "
        f"{old['least']} ({new['least']}) to {old['greatest']} ({new['greatest']}) may be carried over; "
        f"single scores may not.{clipped}"
    )
