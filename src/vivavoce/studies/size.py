"""Size: what more parameters bring within a family, across all models, and what training for medicine brings.

The first and the last are pairs on the same questions, corrected together over the call. The slope across
models has few points, and families differ in much else than size: it describes these models and shows no
cause.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.models.cards import ModelCard
from vivavoce.records import Finding, Measure
from vivavoce.studies import ITEM, SAMPLED, Marks, by_answer, resolve, weighted_mean, weights_of
from vivavoce.studies.grids import grids, key_of, labels
from vivavoce.studies.pair import Arrays
from vivavoce.studies.words import basis, count, number, sentence

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "contrast", "family", "a", "b", "parameters_a"),
    *("parameters_b", "difference", "slope", "low", "high", "low_family", "high_family", "p", "p_adjusted"),
    *("n_models", "n_items", "n_groups", "n_different", "wins", "ties", "losses", "n_failed", "mde_family"),
    *("margin", "margin_source", "n_pairs", "verdict", "verdict_code", "favours", "basis", "reason"),
)
FEW_MODELS = 5


class _Asked(NamedTuple):
    """Two candidates that are to be compared: as larger and smaller of a family, or as medical and base."""

    contrast: str
    family: str
    a: str
    b: str


class _Pair(NamedTuple):
    """A pair on one criterion of one benchmark; without `seen` it cannot be compared, for a `reason`.

    `items` has the differences by item as `d`, and as `d_low` and `d_high` with failed marks at their worst
    and best for A; all turned so that above 0 favours A.
    """

    asked: _Asked
    benchmark: str
    measure: Measure
    reason: str | None = None
    failed: int = 0
    items: "pl.DataFrame | None" = None
    means: tuple[float, float] = (0.0, 0.0)
    seen: stats.Paired | None = None
    fillings: tuple[stats.Paired, stats.Paired] | None = None

    @property
    def sign(self) -> int:
        return 1 if self.measure.criterion.direction == "higher" else -1

    @property
    def width(self) -> float | None:
        c = self.measure.criterion
        return None if c.low is None or c.high is None else c.high - c.low

    def arrays(self, column: str) -> Arrays:
        assert self.items is not None  # asked only of pairs that were seen
        there = self.items.filter(self.items[column].is_not_null())
        return Arrays(there[column].to_numpy(), there["group"].to_numpy(), weights_of(there))


def findings(marks: Marks) -> Finding:
    """Rows of `COLUMNS` by benchmark, criterion and `contrast`, for the candidates that have `marks.cards`.

    `size`: in a family, each model against those of the next smaller size, `difference` being larger less
    smaller; medical and general, instructed and pretrained models are different families here. `medical`: a
    medical model less its base. Both are paired by case, p by Holm and `low_family` to `high_family` by
    Bonferroni over the `n_pairs` pairs of the call; the verdict rests on those, as in compare. Where several
    candidates could be the partner, those with the same settings, then those like the model in being
    instructed, then those of the same month are taken.

    `slope`: least squares of the models' means on log10 of their parameters, in the metric's units for ten
    times the parameters, on the questions that all of them have marks on. The unit is the model, candidates
    of one card being averaged: the interval is t with n_models - 2, and there is no p. Null with fewer than 3
    models, with one size only, or where the means lie on a line.
    """
    import polars as pl

    scores = marks.scores.filter(pl.col("role") == "candidate")
    names = sorted(scores["candidate"].unique())
    cards = marks.cards or {}
    known = {name: cards[name] for name in names if name in cards}
    measures, pooled = by_answer(marks.measures)
    short = labels(marks.measures)
    asked = [*_sizes(known), *_medical(known)]
    found = [pair for key, m in measures.items() for pair in _pairs(scores, key, m, asked)]
    rows = _rows(found)
    said = [
        f"{short[key_of(pair.measure)]} on {pair.benchmark}, {_who(pair.asked, known)}: "
        + " ".join(filter(None, (row["basis"], row["verdict"])))
        for pair, row in zip(found, rows, strict=True)
    ]
    for row, measure in _slopes(scores, measures, known):
        rows.append(row)
        said.append(f"{short[key_of(measure)]} on {row['benchmark']}: {_of_slope(row, measure)}")
    for row in rows:
        row["parameters_a"], row["parameters_b"] = (_parameters(known.get(row[k])) for k in "ab")
    sampled = [SAMPLED] if "weight" in scores.columns else []
    n_pairs = sum(pair.seen is not None for pair in found)
    return Finding(
        study="size",
        rows=tuple(rows),
        text="\n".join(said) or "No marks of candidates: nothing to say of size.",
        notes=(*_notes(names, known, asked, n_pairs), *pooled, *sampled),
    )


def _parameters(card: ModelCard | None) -> float | None:
    return card.parameters if card else None


def _settings(label: str) -> str:
    return label.partition("(")[2]


def _sizes(known: Mapping[str, ModelCard]) -> Iterator[_Asked]:
    """Every model of a family with its partners of the next smaller size."""
    families: dict[tuple[str, bool | None, bool | None], dict[str, float]] = {}
    for name, card in known.items():
        if card.family and card.parameters:
            line = (card.family, card.medical, card.instructed)
            families.setdefault(line, {})[name] = card.parameters
    for (family, *_), sizes in families.items():
        for name, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0])):
            below = max((s for s in sizes.values() if s < size), default=None)
            partners = [other for other, s in sizes.items() if s == below]
            for other in _nearest(name, partners, known):
                yield _Asked("size", family, name, other)


def _medical(known: Mapping[str, ModelCard]) -> Iterator[_Asked]:
    """Every medical model with its bases among the candidates."""
    for name, card in known.items():
        if card.medical and card.base:
            partners = [other for other, of in known.items() if of.name in card.base]
            for other in _nearest(name, partners, known):
                yield _Asked("medical", card.family or card.name, name, other)


def _nearest(name: str, partners: Sequence[str], known: Mapping[str, ModelCard]) -> list[str]:
    """The partners that differ least in what is not asked about; all, where nothing tells them apart."""
    mine, left = known[name], sorted(partners)
    alike: tuple[Callable[[str], bool], ...] = (
        lambda other: _settings(other) == _settings(name),
        lambda other: known[other].instructed == mine.instructed,
        lambda other: known[other].release == mine.release,
    )
    for same in alike:
        left = [other for other in left if same(other)] or left
    return left


def _pairs(scores: "pl.DataFrame", key: int, measure: Measure, asked: Sequence[_Asked]) -> Iterator[_Pair]:
    import polars as pl

    own = scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
    for (benchmark,), marks in own.group_by("benchmark", maintain_order=True):
        values = resolve(marks, measure.criterion)
        for one in asked:
            yield _pair(_Pair(one, str(benchmark), measure), marks, values)


def _pair(pair: _Pair, marks: "pl.DataFrame", values: "pl.DataFrame") -> _Pair:
    """The pair with its differences by item, as seen and under the two fillings."""
    import polars as pl

    a, b = pair.asked.a, pair.asked.b
    for name in (a, b):
        if name not in values["candidate"]:
            return pair._replace(reason=f"{name} has no marks by {pair.measure.metric} on {pair.benchmark}")
    one, other = (a, b) if pair.sign > 0 else (b, a)  # the second is taken from the first
    first, second = (values.filter(pl.col("candidate") == name) for name in (one, other))
    items = first.join(second, on=ITEM, suffix="_2", validate="1:1", maintain_order="left").with_columns(
        d=pl.col("observed") - pl.col("observed_2"),
        d_low=pl.col("low") - pl.col("high_2"),
        d_high=pl.col("high") - pl.col("low_2"),
    )
    both = marks.filter(pl.col("candidate").is_in([a, b])).join(items, on=list(ITEM), how="semi")
    failed = both.filter(pl.col("status") == "failed").height
    common = items.filter(pl.col("d").is_not_null())
    pair = pair._replace(items=items, failed=failed)
    if not common.height:
        lost = "every mark on the questions they share failed" if failed else "no question has marks of both"
        return pair._replace(reason=lost)
    if common.n_unique("group") < 2:
        return pair._replace(reason="all they share is one case, and one case says nothing about the next")
    weights = weights_of(common)
    one_mean, other_mean = (
        weighted_mean(common[name].to_numpy(), weights) for name in ("observed", "observed_2")
    )
    means = (one_mean, other_mean) if pair.sign > 0 else (other_mean, one_mean)
    pair = pair._replace(means=means, seen=pair.arrays("d").paired())
    if failed and not (items["d_low"].is_nan().any() or items["d_high"].is_nan().any()):
        low, high = (pair.arrays(end).paired() for end in ("d_low", "d_high"))
        pair = pair._replace(fillings=(low, high))
    return pair


def _rows(found: Sequence[_Pair]) -> list[dict[str, Any]]:
    """The rows of all pairs, corrected together: Holm of what was seen, and of the worse filling."""
    p = [pair.seen.p for pair in found if pair.seen]
    worse = [max(f.p for f in (*(pair.fillings or ()), pair.seen)[:2]) for pair in found if pair.seen]
    adjusted = iter(list(zip(stats.holm(p).tolist(), stats.holm(worse).tolist(), strict=True)))
    return [_row(pair, *(next(adjusted) if pair.seen else (1.0, 1.0)), n_pairs=len(p)) for pair in found]


def _row(pair: _Pair, p: float, p_filled: float, *, n_pairs: int) -> dict[str, Any]:
    c, seen = pair.measure.criterion, pair.seen
    row = _shared(pair.benchmark, pair.measure) | {
        "contrast": pair.asked.contrast,
        "family": pair.asked.family,
        "a": pair.asked.a,
        "b": pair.asked.b,
        "n_failed": pair.failed,
        "margin": c.smallest_difference,
        "margin_source": None if c.smallest_difference is None else "declared by the metric",
        "n_pairs": n_pairs,
        "reason": pair.reason,
    }
    if seen is None:
        verdict = stats.Verdict("incomparable")
    else:
        level = stats.bonferroni_level(0.95, n_pairs)
        verdict = _verdict(pair, p, p_filled, level)
        low, high = _ends(pair, seen.interval())
        low_family, high_family = _ends(pair, seen.interval(level=level))
        row |= {
            "difference": seen.difference * pair.sign,
            "low": low,
            "high": high,
            "low_family": low_family,
            "high_family": high_family,
            "p": seen.p,
            "p_adjusted": p,
            "n_items": seen.n_items,
            "n_groups": seen.n_groups,
            "n_different": seen.n_different,
            "wins": seen.n_higher,
            "ties": seen.n_items - seen.n_higher - seen.n_lower,
            "losses": seen.n_lower,
            "mde_family": stats.mde(seen.se, seen.df + 1, k=n_pairs),
        }
        row["basis"] = basis(row, pair.means, c)
    words = sentence({**row, "n_needed": None}, verdict, c, pair.failed)
    return row | {"verdict": words, "verdict_code": verdict.code, "favours": verdict.favours}


def _shared(benchmark: str, measure: Measure) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "benchmark": benchmark,
        "metric": measure.metric,
        "criterion": measure.criterion.criterion,
        "rater": measure.rater,
    }


def _ends(pair: _Pair, ends: stats.Interval | None) -> tuple[float | None, float | None]:
    """An interval of "better for A", no wider than the range, in the metric's own direction."""
    if ends is None:
        return None, None
    limit = math.inf if pair.width is None else pair.width
    low, high = max(ends.low, -limit), min(ends.high, limit)
    return (low, high) if pair.sign > 0 else (-high, -low)


def _verdict(pair: _Pair, p: float, p_filled: float, level: float) -> stats.Verdict:
    """The row of the table that applies to what was seen and to what the failed marks could be."""
    assert pair.seen is not None  # asked only of pairs that were seen
    margin = pair.measure.criterion.smallest_difference

    def evidence(of: stats.Paired, p: float, direction: Any, near: str, far: str) -> stats.Evidence:
        ends = [
            pair.arrays(column).margin_interval(span=pair.width, level=level) if margin is not None else None
            for column in (near, far)
        ]
        known = ends[0] is not None and ends[1] is not None
        return stats.Evidence(
            n_groups=of.n_groups,
            n_different=of.n_different,
            direction=direction,
            p_adjusted=p,
            margin_low=ends[0].low if known and ends[0] else None,
            margin_high=ends[1].high if known and ends[1] else None,
        )

    seen = evidence(pair.seen, p, pair.seen.direction, "d", "d")
    if not pair.failed:
        return stats.verdict(seen, margin=margin)
    if pair.fillings is None:  # a metric without a limit: nothing bounds what failed
        alone = stats.verdict(seen, margin=margin)
        return alone if alone.code == "too_few" else stats.Verdict("depends")
    worst, best = pair.fillings
    both = stats.common_direction(worst.direction, best.direction)
    return stats.verdict(seen, evidence(worst, p_filled, both, "d_low", "d_high"), margin=margin)


def _slopes(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], known: Mapping[str, ModelCard]
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """The slope on each criterion and benchmark."""
    for grid in grids(scores, measures):
        sized = [name for name in grid.candidates if _parameters(known.get(name))]
        full = grid.of(sized).complete
        models: dict[str, list[int]] = {}
        for place, name in enumerate(sized):
            models.setdefault(known[name].name, []).append(place)
        row = _shared(grid.benchmark, grid.measure) | {
            "contrast": "slope",
            "n_models": len(models),
            "n_items": len(full.items),
            "n_groups": len(set(full.groups.tolist())),
        }
        x = np.array([math.log10(known[sized[places[0]]].parameters or 1) for places in models.values()])
        if len(models) < 3:
            row["reason"] = f"{count(len(models), 'model')} of known size: two points always lie on a line"
        elif not full.items:
            row["reason"] = "no question has marks of all models of known size"
        elif np.ptp(x) < 1e-9:
            row["reason"] = "all models have the same size"
        else:
            means = full.means()
            row |= _fitted(x, np.array([means[places].mean() for places in models.values()]))
        yield row, grid.measure


def _fitted(x: "np.ndarray[Any, Any]", y: "np.ndarray[Any, Any]") -> dict[str, Any]:
    """Least squares: slope and its t interval; without spread around the line the interval is null."""
    away, df = x - x.mean(), len(x) - 2
    squares = float(away @ away)
    slope = float(away @ (y - y.mean())) / squares
    left = y - y.mean() - slope * away
    if float(np.abs(left).max()) < 1e-9:
        return {"slope": round(slope, 12), "reason": "the means lie on a line: without spread no interval"}
    ends = stats.t_interval(slope, math.sqrt(float(left @ left) / df / squares), df)
    return {"slope": slope, "low": ends.low, "high": ends.high}


def _who(asked: _Asked, known: Mapping[str, ModelCard]) -> str:
    a, b = (f"{name} ({size:g} billion)" if (size := known[name].parameters) else name for name in asked[2:])
    return f"{asked.family}, {a} against {b}" if asked.contrast == "size" else f"{a} against its base {b}"


def _of_slope(row: Mapping[str, Any], measure: Measure) -> str:
    if row["slope"] is None:
        return f"no slope on size: {row['reason']}."
    c = measure.criterion
    ends = f"{number(row['low'], c)} to {number(row['high'], c)}" if row["low"] is not None else row["reason"]
    few = " So few models can show a slope that is chance." if row["n_models"] < FEW_MODELS else ""
    better = "" if c.direction == "higher" else "; lower is better"
    return (
        f"ten times the parameters go with {number(row['slope'], c)} ({ends}{better}), over "
        f"{count(row['n_models'], 'model')} and {count(row['n_items'], 'question')}.{few}"
    )


def _notes(
    names: Sequence[str],
    known: Mapping[str, ModelCard],
    asked: Sequence[_Asked],
    n_pairs: int,
) -> Iterator[str]:
    """What the words were corrected for, and who is left out of what."""
    if n_pairs > 1:
        yield f"{n_pairs:,} comparisons made together: p by Holm, intervals in the sentences by Bonferroni."
    listed = [
        ("Without a card", [n for n in names if n not in known]),
        ("Left out of sizes, parameters not known", [n for n, c in known.items() if not c.parameters]),
        ("Medical, with no base on the card", [n for n, c in known.items() if c.medical and not c.base]),
        (
            "Medical, with no base among the candidates",
            [
                n
                for n, c in known.items()
                if c.medical and c.base and not any(o.name in c.base for o in known.values())
            ],
        ),
    ]
    yield from (f"{what}: {', '.join(who)}." for what, who in listed if who)
    if any(one.contrast == "size" for one in asked):
        yield "Models of one family may differ in more than size: release, training data, instruction."
