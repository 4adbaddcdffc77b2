"""Bias: what a sentence that should not matter does to the answer, beside what any sentence does.

A biased twin is held against a neutral one of the same length and place: that difference is a bias. Held
against the question without any sentence it is only a drop. All pairs count, never only those "right at
first", and the unit is the case.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.studies import Marks, by_answer, unweighted
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.presentations import Presented, presentations, presented
from vivavoce.studies.swayed import NOTHING, sentences, width
from vivavoce.studies.twins import NO_FLOOR, couples, flips, partners, values_of, why

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "contrast", "type", "value", "partner"),
    *("difference", "low", "high", "p", "p_adjusted", "family", "mde", "mde_family", "n_pairs", "n_groups"),
    *("n_different", "n_failed", "set_low", "set_high", "margin", "flips", "flips_low", "flips_high"),
    *("flips_repeats", "flips_excess", "verdict_code", "verdict", "reason"),
)
CONTRASTS = ("bias", "drop", "sentence")
NO_REPEATS = "no two repeats of a question: how often an answer flips by itself is not known"


class Cell(NamedTuple):
    """One candidate's pairs in a contrast and measure: rows of `twins.couples`, and how its answers flip."""

    benchmark: str
    measure: Measure
    candidate: str
    contrast: str
    pairs: "pl.DataFrame"
    flips: stats.Flips | None
    copied: bool

    @property
    def block(self) -> tuple[str, ...]:
        """What is tested together: all candidates, and all criteria that were marked in one call."""
        return self.benchmark, self.contrast, self.measure.signature, self.measure.rater


def findings(marks: Marks) -> Finding:
    """A row per benchmark, measure, candidate, contrast and type; `type` is 'all' or a type of bias.

    `difference` is how much worse the twin is than its partner, in the criterion's units and whatever its
    direction: `bias` against a neutral sentence, `drop` against the bare question, `sentence` what a neutral
    sentence costs. Of 'all' there are p and `p_adjusted` (Holm over candidates and the criteria marked with
    it) and a verdict; of a type an interval and what would have been found. `set_low` and `set_high` are the
    difference with failed marks at their limits. `flips` is the share of answers that differ from the
    partner's, of measures of 0 and 1, beside that between repeats. A contrast `demographic` has, of a sort
    such as 'sex', the variance between presentations beyond that of repeats as `difference`, and a row with
    `value` and interval for each 'sex=female'.
    """
    import polars as pl

    own = marks.scores.filter((pl.col("role") == "candidate") & (pl.col("edit") == ""))
    single, notes = by_answer(marks.measures)
    twins, shown = partners(own), presented(own)
    cells: list[Cell] = []
    others: list[tuple[Measure, Presented]] = []
    graded: set[tuple[str, str, str]] = set()
    for key, measure in single.items():
        part = own.filter(pl.col("measure_id") == key)
        answers, values = values_of(part, measure.criterion)
        pairs = couples(values, twins, higher=measure.criterion.direction == "higher")
        binary = bool(answers["observed"].drop_nulls().is_in([0.0, 1.0]).all())
        if pairs.height and not binary:
            graded.add(key_of(measure))
        cells += _cells(measure, answers, pairs, binary, marks.identical)
        found = presentations(answers, shown, measure.criterion, identical=marks.identical)
        others += [(measure, one) for one in found]
    rows = [*_tested(cells), *_presented(others)]
    short = labels(marks.measures)
    text = "\n".join(sentences(rows, {key_of(m): m for m in marks.measures.values()}, short))
    if graded:
        named = ", ".join(short[key] for key in short if key in graded)
        notes += (
            f"Flips are told of yes-or-no marks; these are graded, and no threshold is made up: {named}.",
        )
    if any(row["contrast"] == "drop" for row in rows):
        notes += ("A drop has no neutral twin: part of it may be what any added sentence costs.",)
    if not rows:
        text = NOTHING
    weighing = unweighted(marks.scores, "pairs of twins count") if rows else ()
    return Finding(study="bias", rows=tuple(rows), text=text, notes=(*notes, *weighing))


def _cells(
    measure: Measure, answers: "pl.DataFrame", pairs: "pl.DataFrame", binary: bool, identical: frozenset[str]
) -> Iterator[Cell]:
    for (benchmark, contrast, candidate), own in sorted(
        pairs.group_by("benchmark", "contrast", "candidate", maintain_order=True),
        key=lambda named: (named[0][0], CONTRASTS.index(str(named[0][1])), named[0][2]),
    ):
        copied = candidate in identical
        flipped = flips(answers.filter(candidate=candidate), own, copied=copied) if binary else None
        yield Cell(str(benchmark), measure, str(candidate), str(contrast), own, flipped, copied)


class _Fillings(NamedTuple):
    """The paired test of what was seen, and of both ways to fill what failed; null without a pair."""

    seen: stats.Drop | None
    low: stats.Drop | None
    high: stats.Drop | None


def _tested(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """The rows of all cells, p corrected in each block."""
    blocks: dict[tuple[str, ...], list[int]] = {}
    for k, cell in enumerate(cells):
        blocks.setdefault(cell.block, []).append(k)
    tests: dict[int, tuple[_Fillings, int]] = {}
    for members in blocks.values():
        block = [cells[k] for k in members]
        seen, low, high = (_drops(block, column) for column in ("d", "d_low", "d_high"))
        size = sum(drop is not None for drop in seen)
        for k, *found in zip(members, seen, low, high, strict=True):
            tests[k] = _Fillings(*found), size
    for k, cell in enumerate(cells):
        yield _whole(cell, *tests[k])
        for kind in sorted(set(cell.pairs["kind"]) - {""}):
            yield _of_type(cell, kind, cell.pairs.filter(kind=kind))


def _drops(cells: Sequence[Cell], column: str) -> list[stats.Drop | None]:
    """`stats.drops` of a column of every cell; null where it has no number, or one that nothing bounds."""
    parts = [cell.pairs.filter(cell.pairs[column].is_not_null()) for cell in cells]
    there = [part.height > 0 and not part[column].is_nan().any() for part in parts]
    found = iter(
        stats.drops(
            [part[column].to_numpy() for part, ok in zip(parts, there, strict=True) if ok],
            [part["group"].to_numpy() for part, ok in zip(parts, there, strict=True) if ok],
        )
    )
    return [next(found) if ok else None for ok in there]


def _blank(benchmark: str, measure: Measure, candidate: str, contrast: str, kind: str) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "benchmark": benchmark,
        "metric": measure.metric,
        "criterion": measure.criterion.criterion,
        "rater": measure.rater,
        "candidate": candidate,
        "contrast": contrast,
        "type": kind,
    }


def _figures(measure: Measure, pairs: "pl.DataFrame", drop: stats.Drop | None) -> dict[str, Any]:
    """The two means, the difference and its interval; no interval where nothing varies."""
    if drop is None:
        return {"n_pairs": 0, "n_groups": 0, "n_different": 0, "n_failed": int(pairs["failed"].sum())}
    seen, there, span = drop.paired, pairs.filter(pairs["d"].is_not_null()), width(measure)
    return {
        "value": there["value"].mean(),
        "partner": there["other"].mean(),
        "difference": seen.difference,
        # no difference is wider than the range
        "low": max(drop.low, -span) if seen.se and drop.low is not None else None,
        "high": min(drop.high, span) if seen.se and drop.high is not None else None,
        "mde": drop.mde,
        "n_pairs": seen.n_items,
        "n_groups": seen.n_groups,
        "n_different": seen.n_different,
        "n_failed": int(pairs["failed"].sum()),
    }


def _of_type(cell: Cell, kind: str, pairs: "pl.DataFrame") -> dict[str, Any]:
    """A type of bias: what was seen and what would have been found, no test."""
    (drop,) = _drops([cell._replace(pairs=pairs)], "d")
    row = _blank(cell.benchmark, cell.measure, cell.candidate, cell.contrast, kind) | _figures(
        cell.measure, pairs, drop
    )
    return row | {"reason": why(drop) or "of a type alone there is an interval and no test"}


def _whole(cell: Cell, drops: _Fillings, family: int) -> dict[str, Any]:
    """A contrast over all its types, with test, verdict and flips."""
    row = _blank(cell.benchmark, cell.measure, cell.candidate, cell.contrast, "all")
    row |= _figures(cell.measure, cell.pairs, drops.seen)
    reasons = [why(drops.seen)]
    if drops.seen is not None:
        ends = drops.low, drops.high
        row |= {
            "p": drops.seen.paired.p,
            "p_adjusted": drops.seen.p_holm,
            "family": family,
            "mde_family": stats.mde(drops.seen.paired.se, drops.seen.paired.n_groups, k=family),
            "set_low": ends[0].paired.difference if ends[0] else None,
            "set_high": ends[1].paired.difference if ends[1] else None,
            "margin": cell.measure.criterion.smallest_difference,
            "verdict_code": _verdict(cell, drops.seen, ends, family),
        }
        if row["verdict_code"] == "too_few" and not reasons[0]:
            reasons = ["fewer than 10 cases, or fewer than 6 that differ: too few to say"]
    if cell.flips is not None:
        f = cell.flips
        row |= {
            "flips": f.twin.value,
            "flips_low": f.twin.low,
            "flips_high": f.twin.high,
            "flips_repeats": f.repeat.value if f.repeat else None,
            "flips_excess": f.excess.value if f.excess else None,
        }
        reasons.append(None if f.repeat else NO_FLOOR if cell.copied else NO_REPEATS)
    return row | {"reason": "; ".join(filter(None, reasons)) or None}


def _verdict(
    cell: Cell, drop: stats.Drop, fillings: tuple[stats.Drop | None, stats.Drop | None], family: int
) -> str:
    """The row of `stats.verdict` for what was seen and what the failed marks could be.

    The partner is `a`, so "better" in its favour says that the twin is worse.
    """
    level, span = stats.bonferroni_level(0.95, family), width(cell.measure)
    margin = cell.measure.criterion.smallest_difference

    def ends(column: str) -> stats.Interval | None:
        there = cell.pairs.filter(cell.pairs[column].is_not_null())
        return stats.margin_interval(
            there[column].to_numpy(),
            there["group"].to_numpy(),
            span=span if isfinite(span) else None,
            level=level,
        )

    def evidence(one: stats.Drop, other: stats.Drop, columns: tuple[str, str]) -> stats.Evidence:
        near, far = (ends(column) for column in columns) if margin is not None else (None, None)
        known = near is not None and far is not None
        return stats.Evidence(
            n_groups=one.paired.n_groups,
            n_different=one.paired.n_different,
            direction=stats.common_direction(one.paired.direction, other.paired.direction),
            p_adjusted=max(one.p_holm, other.p_holm),
            margin_low=near.low if known and near else None,
            margin_high=far.high if known and far else None,
        )

    low, high = fillings
    seen = evidence(drop, drop, ("d", "d"))
    if not cell.pairs["failed"].sum():
        found = stats.verdict(seen, margin=margin)
    elif low is None or high is None:  # nothing bounds what failed, so only "too few" can be said without it
        found = stats.verdict(seen, margin=margin)
        found = found if found.code in ("too_few", "incomparable") else stats.Verdict("depends")
    else:
        found = stats.verdict(seen, evidence(low, high, ("d_low", "d_high")), margin=margin)
    if found.code in ("better", "better_by_margin"):
        return "worse" if found.favours == "a" else "better"
    return {"incomparable": "too_few", "not_worse": "cannot_tell"}.get(found.code, str(found.code))


def _presented(
    found: Sequence[tuple[Measure, Presented]],
) -> Iterator[dict[str, Any]]:
    """The rows of presentations, p by Holm over the candidates and criteria of a benchmark, sort and call."""
    families: dict[tuple[str, ...], list[int]] = {}
    for k, (measure, one) in enumerate(found):
        if one.figures.get("p") is not None:
            block = (one.benchmark, one.kind, measure.signature, measure.rater)
            families.setdefault(block, []).append(k)
    adjusted: dict[int, dict[str, Any]] = {}
    for members in families.values():
        ps = stats.holm([found[k][1].figures["p"] for k in members]).tolist()
        for k, p in zip(members, ps, strict=True):
            code = _judged(found[k][1].figures, p)
            adjusted[k] = {"p_adjusted": p, "family": len(members), "verdict_code": code}
    for k, (measure, one) in enumerate(found):
        row = _blank(one.benchmark, measure, one.candidate, "demographic", one.kind)
        yield row | one.figures | adjusted.get(k, {})


def _judged(figures: Mapping[str, Any], p: float) -> str:
    different, groups = figures["n_different"], figures["n_groups"]
    if stats.verdict(
        stats.Evidence(n_groups=groups, n_different=different, direction=0, p_adjusted=p)
    ).code in ("too_few", "incomparable"):
        return "too_few"
    return "worse" if p <= stats.ALPHA and figures["difference"] > 0 else "cannot_tell"
