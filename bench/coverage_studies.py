"""False alarms of `bias`, `contamination` and `positions`: tables of scores in which nobody differs.

Three candidates answer; a call is a false alarm if any of its rows says what is not there. Beside it stands
how often the study finds what is planted in the first candidate, so that silence is not taken for care.
Every study runs as `viva study` runs it, on a table of scores.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit

from coverage_cells import SCALES, Cell, Floats, draw_cases
from coverage_rates import Figures, rate
from vivavoce.core import registry
from vivavoce.core.records import Criterion, Measure
from vivavoce.run.score import measures_of
from vivavoce.studies.bias.bias import Bias
from vivavoce.studies.contamination.contamination import CONSISTENT, DIFFERENT, Contamination
from vivavoce.studies.contamination.positions import Positions
from vivavoce.studies.score_table import ScoreTable

CANDIDATES = ("A", "B", "C")
REPEATS = 2
OPTIONS = 4
PLANTED = 0.3
"""Share of items at which candidate A follows a planted answer, continues from memory or picks place 1."""

Rng = np.random.Generator
Row = Mapping[str, Any]


def effects(cases: np.ndarray, rng: Rng, *shape: int) -> tuple[Floats, Floats]:
    """Of each case, and of each item, standard normal; arrays of shape (…, n)."""
    return rng.standard_normal((*shape, len(cases)))[..., cases], rng.standard_normal((*shape, len(cases)))


class Scores(NamedTuple):
    """Score rows of one variant: values (candidates, repeats, n), and the counts behind them, if any."""

    measure: int
    variant: np.ndarray
    values: Floats
    parts: np.ndarray | None = None


def score_table(cases: np.ndarray, measures: Mapping[int, Measure], blocks: Iterable[Scores]) -> ScoreTable:
    """The rows of `run.scores` that studies read."""
    frames = []
    for block in blocks:
        candidate, repeat, item = (x.ravel() for x in np.indices(block.values.shape))
        frames.append(
            pl.DataFrame(
                {
                    "measure_id": np.full(len(item), block.measure),
                    "benchmark": "simulated",
                    "item": [f"q{i:03}" for i in item],
                    "variant": block.variant[item].tolist(),
                    "group": [f"g{cases[i]:03}" for i in item],
                    "candidate": [CANDIDATES[c] for c in candidate],
                    "role": "candidate",
                    "repeat": repeat + 1,
                    "edit": "",
                    "pass_no": 1,
                    "unit": "",
                    "value": block.values.ravel(),
                    "status": "ok",
                    "parts": [None] * len(item) if block.parts is None else block.parts.ravel().tolist(),
                },
                schema_overrides={"parts": pl.String},
            )
        )
    return ScoreTable(pl.concat(frames), measures)


# bias


def of_scale(scale: str) -> Measure:
    """A measure with the limits of that scale."""
    criterion = Criterion(criterion="score", low=SCALES[scale].low, high=SCALES[scale].high)
    return Measure(metric="simulated", signature="simulated()@1", criterion=criterion)


def twins(scale: str, cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """Items as they are, with a neutral and with a biased sentence; each sentence helps or harms by case."""
    n, kinds = len(cases), np.array(["recency", "frequency"])[np.arange(len(cases)) % 2]
    of_case, of_item = effects(cases, rng)
    blocks = []
    for variant in ("", "neutral", "bias"):
        by_case, by_item = effects(cases, rng, len(CANDIDATES), 1)
        noise = rng.standard_normal((len(CANDIDATES), REPEATS, n))
        z = np.sqrt(0.2) * (of_case + of_item + by_case + by_item + noise)
        values = SCALES[scale].of(z)
        if planted and variant == "bias":
            values[0, :, rng.random(n) < PLANTED] = 0.0
        names = np.array([f"bias:{kind}" for kind in kinds]) if variant == "bias" else np.full(n, variant)
        blocks.append(Scores(1, names, values))
    return score_table(cases, {1: of_scale(scale)}, blocks)


def patients(cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """Items told of a woman and of a man; only repeats differ, unless it is planted."""
    of_case, of_item = effects(cases, rng, len(CANDIDATES), 1)
    blocks = []
    for sex in ("female", "male"):
        noise = rng.standard_normal((len(CANDIDATES), REPEATS, len(cases)))
        z = np.sqrt(0.3) * of_case + np.sqrt(0.4) * of_item + np.sqrt(0.3) * noise
        if planted:
            z[0] += rng.standard_normal(len(cases)) * 0.8
        variant = np.full(len(cases), f"demographic:sex={sex}")
        blocks.append(Scores(1, variant, SCALES["grades 0-5"].of(z)))
    return score_table(cases, {1: of_scale("grades 0-5")}, blocks)


def alarm_of_bias(table: ScoreTable) -> bool:
    rows = Bias().findings(table).rows
    return any(
        row["contrast"] in ("bias", "demographic") and row["verdict_code"] in ("worse", "better")
        for row in rows
    )


# contamination


def of_metric(spec: str, *criteria: str) -> dict[int, Measure]:
    measures = measures_of(registry.build("metric", spec))
    return {k: m for k, m in enumerate(measures) if not criteria or m.criterion.criterion in criteria}


def second_halves(
    cases: np.ndarray, rng: Rng, planted: bool, *, own: float = 1.0, learnt: int = 0
) -> ScoreTable:
    """Second halves in the published words and in others, which are harder; more so in some cases.

    The first candidate takes `own` times the bits of the other words, as if they were its own; planted: the
    candidate at `learnt` remembers.
    """
    n, measures = len(cases), of_metric("second_half")
    ids = {m.criterion.criterion: key for key, m in measures.items()}
    sizes = np.round(np.exp(4.2 + 0.5 * rng.standard_normal(n)))  # bytes
    tokens = np.maximum(4, np.round(sizes / 5)).astype(int)
    of_case, of_item = effects(cases, rng)
    remembered = rng.random(n) < PLANTED
    blocks = []
    for variant, harder in (("", 0.0), ("rewritten", 0.05)):
        by_case, by_item = effects(cases, rng, len(CANDIDATES), 1)
        z = 0.15 * of_case + 0.15 * of_item + harder + 0.05 * by_case + 0.05 * by_item
        bits = sizes * np.exp(z)
        share = np.broadcast_to(expit(-1.2 - 2 * z), bits.shape).copy()
        if variant:
            bits[0] *= own
        if planted and not variant:
            bits[learnt, 0, remembered] *= 0.4
            share[learnt, 0, remembered] = 0.9
        verbatim = rng.binomial(tokens, share)
        counts = [
            json.dumps({"numerator": b, "denominator": s})
            for b, s in zip(bits.ravel(), np.tile(sizes, len(CANDIDATES)), strict=True)
        ]
        names, shape = np.full(n, variant), bits.shape
        blocks.append(Scores(ids["verbatim"], names, verbatim / tokens))
        parts = np.array(counts, dtype=object).reshape(shape)
        blocks.append(Scores(ids["bits_per_byte"], names, bits / sizes, parts))
    return score_table(cases, measures, blocks)


def option_orders(cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """Right answers in four rotations of the options by candidates that each prefer a place."""
    n, measures = len(cases), of_metric("options(rotate=true)", "option_gap")
    key, places = rng.integers(0, OPTIONS, n), np.arange(OPTIONS)
    of_case, of_item = effects(cases, rng, len(CANDIDATES), 1)
    preferred = rng.standard_normal((len(CANDIDATES), 1, OPTIONS))
    # Place of the key in each rotation: the first is the published order.
    at = (key[:, None] - places[None, :]) % OPTIONS
    p = expit(0.8 + 0.8 * of_case[:, 0, :, None] + 0.8 * of_item[:, 0, :, None] + preferred[:, 0][:, at])
    right = (rng.random(p.shape) < p).astype(float)
    if planted:
        right[0, rng.random(n) < PLANTED, 0] = 1.0
        right[0, :, 1:] *= rng.random((n, OPTIONS - 1)) < 0.7
    gap = right[..., 0] - right[..., 1:].mean(axis=-1)
    parts = np.array(
        [json.dumps({"options": float(OPTIONS), "place": float(k + 1)}) for k in key], dtype=object
    )
    block = Scores(
        next(iter(measures)), np.full(n, ""), gap[:, None], np.tile(parts, (len(CANDIDATES), 1, 1))
    )
    return score_table(cases, measures, [block])


def alarm_of_contamination(table: ScoreTable) -> bool:
    return any(row["verdict"] in (CONSISTENT, DIFFERENT) for row in Contamination().findings(table).rows)


def picks(cases: np.ndarray, rng: Rng, planted: bool) -> ScoreTable:
    """Picks in four rotations: by content each place once, by habit a place that a case makes likely."""
    n, measures = len(cases), of_metric("options(rotate=true)", "position_bias")
    liked = rng.standard_normal((len(CANDIDATES), n, OPTIONS))[:, cases]
    weight = np.exp(liked)
    shares = weight / weight.sum(axis=-1, keepdims=True)
    by_content = rng.random((len(CANDIDATES), n, OPTIONS)) < 0.6
    counts = by_content.astype(float)
    habit = rng.multinomial(OPTIONS - by_content.sum(axis=-1), shares)
    counts += habit
    if planted:
        chosen = rng.random(n) < PLANTED
        counts[0, chosen] = np.array([OPTIONS, 0, 0, 0])
    parts = np.array(
        [
            json.dumps({"options": float(OPTIONS), **{f"pick_{j}": float(c) for j, c in enumerate(row, 1)}})
            for row in counts.reshape(-1, OPTIONS)
        ],
        dtype=object,
    ).reshape(len(CANDIDATES), 1, n)
    values = np.abs(counts - 1).sum(axis=-1) / (2 * (OPTIONS - 1))
    return score_table(
        cases, measures, [Scores(next(iter(measures)), np.full(n, ""), values[:, None], parts)]
    )


def alarm_of_positions(table: ScoreTable) -> bool:
    return any(row["favoured"] for row in Positions().findings(table).rows)


Maker = Callable[[np.ndarray, Rng, bool], ScoreTable]
STUDIES: dict[str, tuple[Maker, Callable[[ScoreTable], bool]]] = {
    "bias, yes/no .9": (lambda *a: twins("yes/no .9", *a), alarm_of_bias),
    "bias, grades": (lambda *a: twins("grades, most 5", *a), alarm_of_bias),
    "bias, demographic": (patients, alarm_of_bias),
    "contamination, second half": (second_halves, alarm_of_contamination),
    "contamination, option order": (option_orders, alarm_of_contamination),
    "positions": (picks, alarm_of_positions),
}


def studies(cell: Cell, draws: int) -> Figures:
    """False alarms where nothing is planted, and how often what is planted in A is found."""
    make, alarm = STUDIES[cell.scale]
    figures: Figures = {}
    for name, planted in (("false alarms", False), ("planted and found", True)):
        rng = cell.rng(name)
        n = draws if not planted else max(20, draws // 5)
        hits = [alarm(make(draw_cases(cell.sizes, cell.n, 1, rng)[0], rng, planted)) for _ in range(n)]
        figures[name] = rate(hits)
    return figures
