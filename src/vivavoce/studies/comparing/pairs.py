"""Which candidates are compared, and by which version of a metric: every pair of a call.

A pair that people scored in part is on their scale: another rater's differences on all cases, corrected by
people's on some (PPI++). A judge that is kinder to one candidate biases its own comparison without limit, and
this one not at all. Where too few labelled cases differ for its error to be trusted, the labels speak alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Measure
from vivavoce.studies.comparing.paired import (
    Compared,
    Correction,
    Incomparable,
    Pair,
    PooledFigures,
    Population,
    compare_pair,
)
from vivavoce.studies.item_means import CandidateScores, ItemMeans
from vivavoce.studies.labels import LabelledValues, labels_by_item, with_labels
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_table import ITEM_KEY, SECONDS, Labels

Row = Mapping[str, Any]
ALL_PAIRS = 3
"""Up to this many named candidates every pair is compared; beyond, each with the first."""
ALL_SHOWN = 5
"""Up to this many candidates all pairs of a family are shown; beyond, those of the first candidate."""


def check_margin(margin: float | None) -> None:
    """Raise `SelectionError` for a margin that is not above 0."""
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")


def margin_of(measure: Measure, margin: float | None = None) -> tuple[float | None, str | None]:
    """The least difference that matters, and who says so: the user, else the metric."""
    if margin is not None:
        return margin, "--margin"
    declared = measure.criterion.smallest_difference
    return declared, None if declared is None else "declared by the metric"


def pairs_of(
    candidates: Sequence[str], against: str | None = None, *, all_pairs: bool = False
) -> list[tuple[str, str]]:
    """Which candidates are compared: `against` with each of the others, if given.

    Else all pairs of two or three, and of four or more the first with each of the others, unless
    `all_pairs` are asked for.
    """
    if against is None and (all_pairs or len(candidates) <= ALL_PAIRS):
        return list(combinations(candidates, 2))
    first = candidates[0] if against is None else against
    return [(first, candidate) for candidate in candidates if candidate != first]


def shown_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of a comparison to show: of all pairs of many candidates those of the first of them."""
    names = {name for row in rows for name in (row["a"], row["b"])}
    if len(names) <= ALL_SHOWN or len({(row["a"], row["b"]) for row in rows}) < len(names):
        return list(rows)
    return [row for row in rows if row["a"] == rows[0]["a"]]


def pairs(
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    names: Sequence[tuple[str, str]],
    *,
    margin: float | None,
    population: Population,
    labels: Mapping[int, Labels | str] = {},
) -> Iterator[Incomparable | Compared]:
    """Every pair of these names on every criterion and benchmark.

    `labels` are people's scores by measure, or why there are none: with them a pair is on people's scale.
    """
    # Versions of one metric share a line, so that a pair is compared by one that scored both.
    versions_by_line: dict[tuple[str, str, str], dict[int, Measure]] = {}
    for key, measure in measures.items():
        line = (measure.metric, measure.criterion.criterion, measure.rater)
        versions_by_line.setdefault(line, {})[key] = measure
    places = list(distinct(scores, "measure_id", "benchmark").iter_rows())
    in_a_pair = pl.col("candidate").is_in({name for pair in names for name in pair}) & (pl.col("edit") == "")
    for versions in versions_by_line.values():
        for benchmark in dict.fromkeys(place for key, place in places if key in versions):
            of_place = pl.col("benchmark") == benchmark
            rows = {key: select_rows(scores, in_a_pair & of_place & (pl.col("measure_id") == key))
                    for key, place in places if key in versions and place == benchmark}  # fmt: skip
            terms = population, margin
            yield from _pairs_on(str(benchmark), versions, rows, names, terms, labels)


def _pairs_on(
    benchmark: str,
    versions: Mapping[int, Measure],
    rows: Mapping[int, pl.DataFrame],
    names: Sequence[tuple[str, str]],
    terms: tuple[Population, float | None],
    labels: Mapping[int, Labels | str],
) -> Iterator[Incomparable | Compared]:
    """Every pair of these names on a benchmark, from the score rows of each version of one metric."""
    (population, margin), resolved = terms, dict[int, CandidateScores]()
    scored = {key: set(distinct(part, "candidate")["candidate"]) for key, part in rows.items()}
    for a, b in names:
        key, reason = _version(scored, versions, benchmark, a, b)
        pair = Pair(benchmark, a, b, versions[key], population, *margin_of(versions[key], margin))
        if reason:
            yield Incomparable(pair, reason)
            continue
        if key not in resolved:
            resolved[key] = CandidateScores.of(rows[key], versions[key].criterion)
        compared = compare_pair(pair, resolved[key])
        if isinstance(compared, Compared):
            compared = _on_peoples_scale(compared, labels.get(key), resolved[key])
        yield compared


def _version(
    scored: Mapping[int, set[str]], versions: Mapping[int, Measure], benchmark: str, a: str, b: str
) -> tuple[int, str | None]:
    """The latest version of the measure that scored both; or the latest there is, and why it will not do.

    `scored` are the candidates that each version scored.
    """
    of_a, of_b = ({key for key, candidates in scored.items() if name in candidates} for name in (a, b))
    shared = of_a & of_b
    key = max(shared or of_a | of_b or versions)
    metric = versions[key].metric
    for name, keys in ((a, of_a), (b, of_b)):
        if not keys:
            lacking = SECONDS if metric == SECONDS else f"scores by {metric}"
            return key, f"{name} has no {lacking} on {benchmark}"
    return key, None if shared else f"they were scored by different versions of {metric}"


def _on_peoples_scale(compared: Compared, labels: Labels | str | None, scores: CandidateScores) -> Compared:
    """The comparison corrected by the labels, or as it was with the reason in `uncorrected`."""
    pair, data = compared.pair, compared.data
    if not isinstance(labels, Labels):
        return compared._replace(uncorrected=labels)
    values = _labelled(pair, data, labels, scores)
    if isinstance(values, str):
        return compared._replace(uncorrected=values)
    of_people, powered = ItemMeans(values.of_people), values.powered()
    people, judge = of_people.arrays().paired(), compared.observed
    change = Correction(
        lambda_=powered.lambda_,
        n_labelled=values.n_labelled,
        n_different=people.n_different,
        judge=judge,
        difference_people=people.difference,
        by_word=labels.by_word,
        n_unlabelled=values.n_unlabelled,
    )
    compared = compared._replace(on_answered=None, correction=change)
    is_open = bool(compared.failed or values.n_unlabelled) and values.is_bounded
    filled = {side: of_people.arrays(side).paired() for side in ("low", "high") if is_open}
    if powered.few_differ:  # no error is to be trusted, but sign flips of the labels are
        fillings = (filled["low"], filled["high"]) if is_open else None
        return compared._replace(observed=people, data=of_people, failed=0, fillings=fillings)
    fillings = _worst_first(values, judge, filled) if is_open else None
    return compared._replace(observed=_paired(powered, judge, people), data=values, fillings=fillings)


def _worst_first(
    values: LabelledValues, judge: stats.Paired, filled: Mapping[str, stats.Paired]
) -> tuple[stats.Paired, stats.Paired]:
    """The two fillings on people's scale."""
    # Each has its own lambda, so labels may put them in another order.
    low, high = (_paired(values.powered(column=side), judge, people) for side, people in filled.items())
    return (low, high) if low.difference <= high.difference else (high, low)


def _labelled(
    pair: Pair, data: ItemMeans | PooledFigures | LabelledValues, labels: Labels, scores: CandidateScores
) -> LabelledValues | str:
    """The differences with people's beside them; or why people's do not correct them."""
    if pair.population == "fixed":
        return "labels correct a sample of questions, not a fixed benchmark"
    # Counts are summed before they are divided, so no case has a difference of its own to correct.
    if not isinstance(data, ItemMeans):
        return "labels correct a mean, not a figure that pools counts"
    by_item = labels_by_item(labels, scores.of_both(pair.a, pair.b), pair.measure.criterion)
    return with_labels(scores.with_names(data).items, _differences(by_item, pair.better_first), labels)


def _differences(by_item: pl.DataFrame, better_first: tuple[str, str]) -> pl.DataFrame:
    """By item the differences of people and of the other rater, of candidates with labels of both."""
    first, second = (by_item.filter(candidate=name).drop("candidate") for name in better_first)
    return first.join(second, on=ITEM_KEY, suffix="_2", validate="1:1").select(
        *ITEM_KEY,
        "probability",
        drawn=pl.col("drawn") | pl.col("drawn_2"),
        silent=pl.col("silent") & pl.col("silent_2"),
        people=pl.col("people") - pl.col("people_2"),
        people_low=pl.col("people_low") - pl.col("people_high_2"),
        people_high=pl.col("people_high") - pl.col("people_low_2"),
        judge=pl.col("judge") - pl.col("judge_2"),
    )


def _paired(powered: stats.PredictionPowered, judge: stats.Paired, people: stats.Paired) -> stats.Paired:
    """The comparison on people's scale; counts of items and cases are those of the `judge`'s own.

    Where the judge is left aside and few labels differ, p is from sign flips of the labels.
    """
    direction: Any = int(np.sign(powered.value))
    change: dict[str, Any] = {"difference": powered.value, "se": powered.se, "df": powered.df}
    if powered.p is None:
        of_labels: dict[str, Any] = {"p": people.p, "test": people.test, "direction": people.direction}
        return judge._replace(**change, **of_labels, flipped=people.flipped)
    return judge._replace(**change, p=powered.p, test="t", direction=direction)
