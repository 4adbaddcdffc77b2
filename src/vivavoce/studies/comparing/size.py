"""Size: what more parameters bring within a family, across all models, and what training for medicine brings.

The first and the last are pairs on the same questions, corrected together over the call. The slope across
models has few points, and families differ in much else than size: it describes these models and shows no
cause.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Finding, Measure, ModelCard
from vivavoce.core.registry import study
from vivavoce.studies.bounded import Bounded, Filled, reasons
from vivavoce.studies.comparing.compare import comparison_row
from vivavoce.studies.comparing.evidence import Levels, correct
from vivavoce.studies.comparing.paired import Compared, Incomparable, Pair, compare_pair
from vivavoce.studies.comparing.pairs import margin_of
from vivavoce.studies.intervals import FLIPPED
from vivavoce.studies.item_means import CandidateScores
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_matrix import Fillings, Floats, ScoreMatrix, grids_with_fillings, key_of, labels
from vivavoce.studies.score_table import NO_LIMIT, SAMPLED, ScoreTable, by_answer
from vivavoce.studies.study import Study, as_mapping, columns, typed_row
from vivavoce.studies.text import count, number


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRow:
    """A pair of models, or a slope over all, on one benchmark and criterion."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    contrast: str
    family: str | None = None
    a: str | None = None
    b: str | None = None
    parameters_a: float | None = None
    parameters_b: float | None = None
    difference: float | None = None
    slope: float | None = None
    low: float | None = None
    high: float | None = None
    low_family: float | None = None
    high_family: float | None = None
    set_low: float | None = None
    set_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n_models: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_different: int | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    n_failed: int | None = None
    mde_family: float | None = None
    margin: float | None = None
    margin_source: str | None = None
    n_pairs: int | None = None
    verdict: str | None = None
    verdict_code: str | None = None
    favours: str | None = None
    basis: str | None = None
    reason: str | None = None


COLUMNS = columns(SizeRow)
FEW_MODELS = 5
ON_A_LINE = "the means lie on a line: without spread no interval"


class _ModelPair(NamedTuple):
    """Two candidates to compare: the larger and the smaller of a family, or a medical model and its base."""

    contrast: str
    family: str
    a: str
    b: str


BETTER = NamingSentence(
    code="size.better",
    templates=(
        "{name} is better ({figure}).",
        "The judge prefers {name} ({figure}).",
    ),
    names=("candidate",),
    family="all pairs and criteria of the call",
    correction="Holm",
    null="sizes",
)
SLOPE = NamingSentence(
    code="size.slope",
    templates=(
        "{measure} on {benchmark}: ten times the parameters go with {slope}, over {models} and {questions}.",
    ),
    names=("metric",),
    family="each criterion alone",
    correction="none",
    null="slopes",
)


@study("size")
class Size(Study):
    """Rows by benchmark, criterion and `contrast`, for the candidates that have a model card.

    `size`: in a family, each model against those of the next smaller size, `difference` being larger less
    smaller; medical and general, instructed and pretrained models are different families here. `medical`: a
    medical model less its base. Both are paired by group, p by Holm and `low_family` to `high_family` by
    Bonferroni over the `n_pairs` pairs of the call; the verdict rests on those, as in compare. Where several
    candidates could be the partner, those with the same settings, then those like the model in being
    instructed, then those of the same month are taken.

    `slope`: least squares of the models' means on log10 of their parameters, in the metric's units for ten
    times the parameters, on the items that all of them have scores on. The unit is the model, candidates of
    one card being averaged: the interval is t with n_models - 2, and there is no p. Null with fewer than 3
    models, with one size only, or where the means lie on a line.
    """

    about = "What more parameters bring within a family, and what medical training adds to the base model."
    row = SizeRow
    sentences = (BETTER, SLOPE)
    needs = ("cards",)
    cards: Path | None = None

    def applies_to(self, scores: ScoreTable) -> bool:
        """Only where a candidate has a card."""
        people = distinct(scores.scores, "candidate", "role").filter(pl.col("role") == "candidate")
        return bool({*people["candidate"]} & {*(scores.cards or ())})

    def findings(self, scores: ScoreTable) -> Finding:
        """The steps of size and training, then the slopes."""
        table = select_rows(scores.scores, pl.col("role") == "candidate")
        names = sorted(distinct(table, "candidate")["candidate"])
        cards = {name: card for name in names if (card := (scores.cards or {}).get(name))}
        measures, pooled = by_answer(scores.measures)
        short = labels(scores.measures)
        model_pairs = [*_sizes(cards), *_medical(cards)]
        results = [r for key, m in measures.items() for r in _compared(table, key, m, model_pairs)]
        n_pairs = sum(isinstance(result, Compared) for _, result in results)
        rows, lines = [], []
        for models, measure, row in _rows(results):
            rows.append(row)
            lines.append(f"{short[key_of(measure)]} on {row.benchmark}, {_pair_sentence(row, models, cards)}")
        for row, measure in _slopes(table, measures, cards):
            rows.append(row)
            lines.append(f"{short[key_of(measure)]} on {row.benchmark}: {_slope_sentence(row, measure)}")
        sampled = [SAMPLED] if "weight" in table.columns else []
        return self.finding(
            [_with_parameters(row, cards) for row in rows],
            "\n".join(lines) or "No scores of candidates: nothing to say of size.",
            (*_notes(names, cards, model_pairs, n_pairs), *pooled, *sampled),
        )


def _with_parameters(row: SizeRow, cards: Mapping[str, ModelCard]) -> SizeRow:
    a, b = (_parameters(cards.get(name or "")) for name in (row.a, row.b))
    return replace(row, parameters_a=a, parameters_b=b)


def _parameters(card: ModelCard | None) -> float | None:
    return card.parameters if card else None


def _settings(label: str) -> str:
    return label.partition("(")[2]


def _sizes(cards: Mapping[str, ModelCard]) -> Iterator[_ModelPair]:
    """Every model of a family with its partners of the next smaller size."""
    families: dict[tuple[str, bool | None, bool | None], dict[str, float]] = {}
    for name, card in cards.items():
        if card.family and card.parameters:
            line = (card.family, card.medical, card.instructed)
            families.setdefault(line, {})[name] = card.parameters
    for (family, *_), sizes in families.items():
        for name in sorted(sizes, key=lambda model: (-sizes[model], model)):
            for partner in _nearest(name, _next_smaller(name, sizes), cards):
                yield _ModelPair("size", family, name, partner)


def _next_smaller(name: str, sizes: Mapping[str, float]) -> list[str]:
    """The models of the next smaller size."""
    below = max((size for size in sizes.values() if size < sizes[name]), default=None)
    return [model for model, size in sizes.items() if size == below]


def _medical(cards: Mapping[str, ModelCard]) -> Iterator[_ModelPair]:
    """Every medical model with its bases among the candidates."""
    for name, card in cards.items():
        if card.medical and card.base:
            partners = [partner for partner, base in cards.items() if base.name in card.base]
            for partner in _nearest(name, partners, cards):
                yield _ModelPair("medical", card.family or card.name, name, partner)


def _nearest(name: str, partners: Sequence[str], cards: Mapping[str, ModelCard]) -> list[str]:
    """The partners that differ least in what is not asked about; all, where nothing tells them apart."""
    card, nearest = cards[name], sorted(partners)
    alike: tuple[Callable[[str], bool], ...] = (
        lambda partner: _settings(partner) == _settings(name),
        lambda partner: cards[partner].instructed == card.instructed,
        lambda partner: cards[partner].release == card.release,
    )
    for is_alike in alike:
        # A condition that no partner meets is skipped, so that no model loses its last partner.
        nearest = [partner for partner in nearest if is_alike(partner)] or nearest
    return nearest


_Result = tuple[_ModelPair, Compared | Incomparable]


def _compared(
    scores: pl.DataFrame, key: int, measure: Measure, model_pairs: Sequence[_ModelPair]
) -> Iterator[_Result]:
    """Each pair of models on each benchmark."""
    scored = scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
    for (benchmark,), rows in scored.group_by("benchmark", maintain_order=True):
        by_candidate = CandidateScores.of(rows, measure.criterion)
        for models in model_pairs:
            pair = Pair(str(benchmark), models.a, models.b, measure, "sample", *margin_of(measure))
            absent = [name for name in (models.a, models.b) if name not in by_candidate.values]
            if absent:
                reason = f"{absent[0]} has no scores by {measure.metric} on {benchmark}"
                yield models, Incomparable(pair, reason)
            else:
                yield models, compare_pair(pair, by_candidate)


def _rows(results: Sequence[_Result]) -> Iterator[tuple[_ModelPair, Measure, SizeRow]]:
    """The rows of all pairs, corrected together: Holm of what was observed, and of the worse filling."""
    compared = [result for _, result in results if isinstance(result, Compared)]
    # Each pair leads itself: only averaged criteria come here, and those have no second form.
    corrected = iter(correct(compared, range(len(compared))))
    levels = Levels.of(max(1, len(compared)))
    for models, result in results:
        row: dict[str, Any] = result.pair.columns
        if isinstance(result, Compared):
            row = as_mapping(comparison_row(result, next(corrected), levels, family=len(compared), looks=1))
            unbounded = row["set_low"] is None or row["set_high"] is None
            no_interval = row["low"] is None or row["low_family"] is None
            row["reason"] = reasons(NO_LIMIT if unbounded else None, FLIPPED if no_interval else None)
        else:
            row |= {"verdict": f"These two cannot be compared: {result.reason}."}
            row |= {"verdict_code": "incomparable", "reason": result.reason}
        place = {"contrast": models.contrast, "family": models.family}
        counts = {"n_failed": result.failed, "n_pairs": len(compared)}
        yield models, result.pair.measure, typed_row(SizeRow, row | place | counts)


def _slopes(
    scores: pl.DataFrame, measures: Mapping[int, Measure], cards: Mapping[str, ModelCard]
) -> Iterator[tuple[SizeRow, Measure]]:
    """The slope on each criterion and benchmark."""
    for matrix, fillings in grids_with_fillings(scores, measures):
        sized = [name for name in matrix.candidates if _parameters(cards.get(name))]
        full = matrix.of(sized).complete
        models: dict[str, list[int]] = {}
        for place, name in enumerate(sized):
            # Several settings of one model are not independent points, so the unit is the card.
            models.setdefault(cards[name].name, []).append(place)
        row = SizeRow(
            **matrix.place,
            contrast="slope",
            n_models=len(models),
            n_items=len(full.items),
            n_groups=len(set(full.groups.tolist())),
        )
        x = np.array([math.log10(cards[sized[places[0]]].parameters or 1) for places in models.values()])
        if reason := _why_no_slope(x, full):
            yield replace(row, reason=reason), matrix.measure
            continue
        lost = fillings.of(sized).complete if fillings else None
        filled = _filled(_fitted(x, _by_model(full.means(), models)), x, models, lost)
        n_failed, why_not = sum(lost.n_failed) if lost else 0, _why_unknown(filled)
        yield replace(row, **filled.columns("slope"), n_failed=n_failed, reason=why_not), matrix.measure


def _why_unknown(slope: Filled) -> str | None:
    """Why a slope has no interval, and no bounds."""
    on_a_line = ON_A_LINE if slope.observed.low is None else None
    return reasons(on_a_line, None if slope.is_bounded else NO_LIMIT)


def _by_model(means: Floats, models: Mapping[str, Sequence[int]]) -> Floats:
    """The means of the models, each over its candidates."""
    return np.array([stats.exact_mean(means[places]) for places in models.values()])


def _filled(
    observed: Bounded, x: Floats, models: Mapping[str, Sequence[int]], fillings: Fillings | None
) -> Filled:
    """The slope with what the failed scores could make of it; the figures themselves where none failed."""
    if fillings is None:
        return Filled.complete(observed)
    if fillings.unbounded:
        return Filled(observed)
    low, high = (_by_model(matrix.means(), models) for matrix in (fillings.low, fillings.high))
    # A slope falls as small models rise and large ones fall: other fillings lie between these two.
    large = x > x.mean()
    flat, steep = _fitted(x, np.where(large, low, high)), _fitted(x, np.where(large, high, low))
    if observed.low is None:  # without an interval as observed there is none with failed scores
        flat, steep = flat._replace(low=None), steep._replace(high=None)
    return Filled.from_bounds(observed, stats.Bounds(flat.value, steep.value, flat.low, steep.high))


def _why_no_slope(x: Floats, matrix: ScoreMatrix) -> str | None:
    """Why no line is fitted to models of these sizes; null if one is."""
    if len(x) < 3:
        return f"{count(len(x), 'model')} of known size: two points always lie on a line"
    if not matrix.items:
        return "no question has scores of all models of known size"
    return "all models have the same size" if np.ptp(x) < 1e-9 else None


def _fitted(x: Floats, y: Floats) -> Bounded:
    """Least squares: slope and its t interval; without spread around the line the interval is null."""
    centred, df = x - x.mean(), len(x) - 2
    squares = float(centred @ centred)
    slope = float(centred @ (y - y.mean())) / squares
    residuals = y - y.mean() - slope * centred
    if float(np.abs(residuals).max()) < 1e-9:
        return Bounded(round(slope, 12))
    error = math.sqrt(float(residuals @ residuals) / df / squares)
    return Bounded.from_ends(slope, stats.t_interval(slope, error, df))


def _pair_sentence(row: SizeRow, models: _ModelPair, cards: Mapping[str, ModelCard]) -> str:
    """The two models of a pair with their sizes, and what was found of them."""
    a, b = (
        f"{name} ({size:g} billion)" if (size := cards[name].parameters) else name
        for name in (models.a, models.b)
    )
    who = f"{models.family}, {a} against {b}" if models.contrast == "size" else f"{a} against its base {b}"
    return f"{who}: {' '.join(filter(None, (row.basis, row.verdict)))}"


def _slope_sentence(row: SizeRow, measure: Measure) -> str:
    if row.slope is None:
        return f"no slope on size: {row.reason}."
    c = measure.criterion
    ends = row.reason
    if row.low is not None and row.high is not None:
        ends = f"{number(row.low, c)} to {number(row.high, c)}"
    n_models = row.n_models or 0
    few = " So few models can show a slope that is chance." if n_models < FEW_MODELS else ""
    better = "" if c.direction == "higher" else "; lower is better"
    basis = f"{count(n_models, 'model')} and {count(row.n_items or 0, 'question')}"
    return (
        f"ten times the parameters go with {number(row.slope, c)} ({ends}{better}), over "
        f"{basis}.{_filled_words(row, measure)}{few}"
    )


def _filled_words(row: SizeRow, measure: Measure) -> str:
    """What the failed scores could make of a slope, in a sentence; empty where none failed."""
    if not row.n_failed:
        return ""
    lost = count(row.n_failed, "failed score")
    if row.set_low is None or row.set_high is None:
        return f" What the {lost} could make of it has no bound."
    ends = " and ".join(number(end, measure.criterion) for end in (row.set_low, row.set_high))
    return f" With the {lost} it lies between {ends}."


def _notes(
    names: Sequence[str],
    cards: Mapping[str, ModelCard],
    model_pairs: Sequence[_ModelPair],
    n_pairs: int,
) -> Iterator[str]:
    """What the words were corrected for, and which candidates are left out of what."""
    if n_pairs > 1:
        yield f"{n_pairs:,} comparisons made together: p by Holm, intervals in the sentences by Bonferroni."
    medical = {name: card for name, card in cards.items() if card.medical}
    bases = {card.name for card in cards.values()}
    left_out = {
        "Without a card": [name for name in names if name not in cards],
        "Left out of sizes, parameters not known": [n for n, c in cards.items() if not c.parameters],
        "Medical, with no base on the card": [n for n, c in medical.items() if not c.base],
        "Medical, with no base among the candidates": [
            n for n, c in medical.items() if c.base and not bases & {*c.base}
        ],
    }
    yield from (f"{subject}: {', '.join(listed)}." for subject, listed in left_out.items() if listed)
    if any(models.contrast == "size" for models in model_pairs):
        yield "Models of one family may differ in more than size: release, training data, instruction."
