"""Two candidates on one criterion: their paired comparison, and what failed scores could make of it.

A pair is compared by itself here; `compare` corrects for the pairs it is made with. Differences are turned
once so that above 0 favours A. A pooled criterion has no differences by item: its figure is compared as a
whole, a perplexity by its logarithm.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import polars as pl
import scipy

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.bounded import Bounded, Filled
from vivavoce.studies.item_means import NUMBER, CandidateScores, ItemMeans
from vivavoce.studies.labels import LabelledValues
from vivavoce.studies.pooling import (
    POOLS,
    TOO_LARGE,
    Counts,
    counts,
    figures_of,
    is_geometric,
    on_log_scale,
    ratio_of,
    sizes_of,
    sums,
)
from vivavoce.studies.row_parts import by_candidate
from vivavoce.studies.score_matrix import place_of
from vivavoce.studies.score_table import (
    ITEM,
    absent_sections,
    no_overall,
    repeats,
    weights_of,
)

Population = Literal["sample", "fixed"]
_Figure = TypeVar("_Figure", Bounded, Filled)


class Pair(NamedTuple):
    """Which candidates are compared, on which benchmark, by which measure, on what terms."""

    benchmark: str
    a: str
    b: str
    measure: Measure
    population: Population
    margin: float | None
    margin_source: str | None

    @property
    def sign(self) -> int:
        """1 if a higher value is better, -1 if a lower one is."""
        return 1 if self.measure.criterion.direction == "higher" else -1

    @property
    def width(self) -> float | None:
        """Width of the criterion's range; null without limits."""
        c = self.measure.criterion
        return None if c.low is None or c.high is None else c.high - c.low

    @property
    def better_first(self) -> tuple[str, str]:
        """The candidate from whose values the other's are taken, so that above 0 favours A; and the other."""
        return (self.a, self.b) if self.sign > 0 else (self.b, self.a)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a row that say what is compared, and on what terms."""
        return {
            **place_of(self.benchmark, self.measure),
            "a": self.a,
            "b": self.b,
            "signature": self.measure.signature,
            "margin": self.margin,
            "margin_source": self.margin_source,
            "population": self.population,
        }

    def in_units(self, figure: _Figure) -> _Figure:
        """A figure of "better for A", no wider than the range, in the metric's own direction."""
        # A t interval ignores the limits of the scale, but no difference is wider than the range.
        figure = figure.clip(self.width)
        return figure if self.sign > 0 else -figure


class PooledFigures(NamedTuple):
    """Two pooled figures: the counts by item of the first of `better_first`, of the second, and their groups.

    `statistic` makes a figure of counts; on the log scale, its logarithm, and that is what is compared.
    `sizes` are what each item is of the figures, as of a ratio its denominators; null where all are alike.
    """

    first: np.ndarray[Any, Any]
    second: np.ndarray[Any, Any]
    groups: np.ndarray[Any, Any]
    statistic: stats.PooledStatistic
    weights: np.ndarray[Any, Any] | None = None
    sizes: np.ndarray[Any, Any] | None = None

    def paired(self) -> stats.Paired | None:
        """Each group left out of both in turn."""
        return stats.pooled_paired(*self[:4], weights=self.weights, sizes=self.sizes)

    def swaps(self, rng: np.random.Generator) -> stats.SignFlips:
        """The check: the responses of whole groups swapped."""
        return stats.pooled_swaps(*self[:4], weights=self.weights, rng=rng)

    def swapped(self) -> "PooledFigures":
        """The same the other way round."""
        return self._replace(first=self.second, second=self.first)

    def has_sums_of(self, figures: "PooledFigures") -> bool:
        """Whether the numerators of both are the same, item by item, but for their unit.

        The first column of both is a numerator. What it is divided by may differ.
        """
        sums, theirs = (np.concatenate([x.first[:, 0], x.second[:, 0]]) for x in (self, figures))
        if sums.shape != theirs.shape or not (sums.any() and theirs.any()):
            return False
        # Cross products compare two units without dividing; the largest entry loses least to rounding.
        largest = int(np.argmax(np.abs(sums)))
        return bool(np.allclose(sums * theirs[largest], theirs * sums[largest], rtol=1e-9, atol=0))

    def means(self) -> tuple[float, float]:
        """The two figures, as `statistic` gives them."""
        first, second = (self.statistic(sums(x, self.weights)) for x in self[:2])
        return float(first[0]), float(second[0])


class Incomparable(NamedTuple):
    """A pair that cannot be compared, why, and what it has in common nevertheless."""

    pair: Pair
    reason: str
    common: stats.Paired | None = None
    failed: int = 0


class Correction(NamedTuple):
    """What people's scores did to a comparison; `judge` is what it was before.

    `n_different` is of the labelled cases: on how many people scored the two differently.
    """

    lambda_: float
    n_labelled: int
    n_different: int
    judge: stats.Paired
    difference_people: float
    by_word: bool
    n_unlabelled: int


class Compared(NamedTuple):
    """A pair that was compared, by its differences by item or by its pooled figures.

    `fillings` are the comparison with what is `missing` at its worst and at its best for A, null where
    nothing is or nothing bounds it. `on_answered` is the comparison on what both answered.
    `correction` is what people's scores did to it; `uncorrected` says why there is none.
    """

    pair: Pair
    observed: stats.Paired
    data: ItemMeans | PooledFigures | LabelledValues
    means: tuple[float, float]
    n_only: tuple[int, int]
    failed: int = 0
    fillings: tuple[stats.Paired, stats.Paired] | None = None
    on_answered: stats.Paired | None = None
    correction: Correction | None = None
    uncorrected: str | None = None

    @property
    def missing(self) -> int:
        """The scores that failed, and the cases that were drawn for labelling and have no label."""
        return self.failed + (self.correction.n_unlabelled if self.correction else 0)

    def form_of(self, compared: "Compared") -> bool:
        """Whether two criteria of one call are one number in two forms, so that both ask one thing.

        They divide the same sums by other sizes, and one of them at least is a perplexity: nats per word and
        per byte, or their exponentials. Precision and recall share what they divide, and ask two things.
        """
        pairs = (self.pair, compared.pair)
        key, theirs = ((p.benchmark, p.a, p.b, p.measure.signature, p.measure.rater) for p in pairs)
        criteria = [p.measure.criterion for p in pairs]
        return (
            key == theirs
            and all(map(ratio_of, criteria))
            and any(map(on_log_scale, criteria))
            and isinstance(self.data, PooledFigures)
            and isinstance(compared.data, PooledFigures)
            and self.data.has_sums_of(compared.data)
        )


def compare_pair(pair: Pair, scores: CandidateScores) -> Incomparable | Compared:
    """The pair, compared on the scores of both by its measure."""
    for name in (pair.a, pair.b):
        statuses = pl.Series() if name in scores.answered else scores.rows_of(name)["status"]
        # Silence alone, or beside scores that all failed, is no result: a dead endpoint is silent too.
        if statuses.is_in(["unanswered", "unreadable"]).any():
            n_failed = scores.failed.filter(pl.col("candidate").is_in([pair.a, pair.b])).height
            return Incomparable(
                pair, f"{no_result(name)}, as no answer of it could be scored", failed=n_failed
            )
    criterion = pair.measure.criterion
    by_item = criterion.pool == "mean" or is_geometric(criterion)
    return (_by_item if by_item else _by_figure)(pair, scores)


def no_result(name: str) -> str:
    """The first words of the reason where a candidate has nothing that was scored."""
    return f"{name} has no result"


def _joined(pair: Pair, values: Mapping[str, pl.DataFrame], keys: Sequence[str] = (NUMBER,)) -> pl.DataFrame:
    """The rows by item of the first of `better_first`, with the second's under names that end in _2.

    Nothing, not even columns, where one of them has no row.
    """
    first, second = (values.get(name) for name in pair.better_first)
    if first is None or second is None:
        return pl.DataFrame()
    if first.select(keys).equals(second.select(keys)):  # then the items of all pairs are the same columns
        return first.hstack(second.drop(keys).select(pl.all().name.suffix("_2")))
    return first.join(second, on=keys, suffix="_2", validate="1:1", maintain_order="left")


def _n_only(pair: Pair, values: Mapping[str, pl.DataFrame], n_common: int) -> tuple[int, int]:
    """How many items only A has scores on, and only B."""
    return values[pair.a].height - n_common, values[pair.b].height - n_common


def _n_failed(pair: Pair, scores: CandidateScores, items: pl.DataFrame) -> int:
    """How many scores on these items failed; others decide nothing."""
    failed = scores.failed.filter(pl.col("candidate").is_in([pair.a, pair.b]))
    return failed.join(items.select(NUMBER), on=NUMBER, how="semi").height if failed.height else 0


def _without_items(pair: Pair, failed: int) -> Incomparable:
    reason = "every score on the questions they share failed" if failed else "no question has scores of both"
    return Incomparable(pair, reason, failed=failed)


ONE_CASE = "all they share is one case, and one case says nothing about the next"


def _by_item(pair: Pair, scores: CandidateScores) -> Incomparable | Compared:
    """The pair with its differences by item, as observed and under the two fillings."""
    joined = _joined(pair, scores.values)
    failed = _n_failed(pair, scores, joined)
    differences = ItemMeans.differences(joined, complete=not failed)
    common = joined.filter(differences.items["observed"].is_not_null())
    if not common.height:
        return _without_items(pair, failed)
    if absent := absent_sections(common):
        return Incomparable(pair, f"they share {no_overall(absent)}", failed=failed)
    observed = differences.arrays().paired()
    if observed.n_groups < 2:
        return Incomparable(pair, ONE_CASE, observed, failed)
    first, second = _means(common, pair.measure.criterion)
    fillings = None
    # Without a limit nothing bounds what failed.
    if failed and differences.has_end("low") and differences.has_end("high"):
        fillings = differences.arrays("low").paired(), differences.arrays("high").paired()
    compared = Compared(
        pair=pair,
        observed=observed,
        data=differences,
        means=(first, second) if pair.sign > 0 else (second, first),
        n_only=_n_only(pair, scores.values, joined.height),
        failed=failed,
        fillings=fillings,
        on_answered=_on_answered(pair, scores),
    )
    if pair.population == "fixed":
        named = scores.with_names(differences)
        return _on_fixed_items(compared, named, scores.of_both(pair.a, pair.b))
    return compared


def _means(common: pl.DataFrame, criterion: Criterion) -> tuple[float, float]:
    """The two means on items that both have, of logarithms the geometric ones."""
    weights = weights_of(common)
    first, second = (
        stats.exact_mean(common[name].to_numpy(), weights) for name in ("observed", "observed_2")
    )
    return (math.exp(first), math.exp(second)) if is_geometric(criterion) else (first, second)


def _on_answered(pair: Pair, scores: CandidateScores) -> stats.Paired | None:
    """The difference on what both answered: scores that are ok, on items where both have one."""
    joined = _joined(pair, scores.answered)
    if not joined.height or absent_sections(joined):
        return None
    return ItemMeans.differences(joined).arrays().paired()


def _by_figure(pair: Pair, scores: CandidateScores) -> Incomparable | Compared:
    """The pair by its pooled figures on the items that both have counts for; what failed has no fillings."""
    # What one of them lacks is said of both, so the counts are read pair by pair.
    rows = scores.of_both(pair.a, pair.b)
    counted = counts(rows, pair.measure.criterion)
    if counted.items is None:
        return Incomparable(pair, counted.reason or "")
    parts = dict(by_candidate(counted.items))
    items = _joined(pair, parts, ITEM)
    # Only what can be counted has counts, so failures are counted on the items of the score rows instead.
    failed = _n_failed(pair, scores, _joined(pair, scores.values))
    if not items.height:
        return _without_items(pair, failed)
    figures = _pooled_figures(pair, counted, items)
    observed = figures.paired()
    reason = _unpaired(pair, observed)
    if observed is None or reason:
        return Incomparable(pair, reason or "", observed, failed)
    means = figures_of(figures.means(), pair.measure.criterion)
    if means is None:
        return Incomparable(pair, f"of one of them, {TOO_LARGE}", observed, failed)
    first, second = means
    return Compared(
        pair=pair,
        observed=observed,
        data=figures,
        means=(first, second) if pair.sign > 0 else (second, first),
        n_only=_n_only(pair, parts, items.height),
        failed=failed,
        on_answered=_figure_on_answered(pair, rows, observed),
    )


def _figure_on_answered(pair: Pair, rows: pl.DataFrame, observed: stats.Paired) -> stats.Paired | None:
    """The difference of the figures on what both answered: as observed where silence is set aside."""
    if pair.measure.criterion.if_unanswered == "set_aside":
        return observed
    counted = counts(rows.filter(pl.col("status") == "ok"), pair.measure.criterion)
    parts = {} if counted.items is None else dict(by_candidate(counted.items))
    items = _joined(pair, parts, ITEM)
    return _pooled_figures(pair, counted, items).paired() if items.height else None


def _pooled_figures(pair: Pair, counted: Counts, items: pl.DataFrame) -> PooledFigures:
    """The counts of both on these items, and what makes a figure of them."""
    pool = POOLS[pair.measure.criterion.pool]
    first, second = counted.of(items), counted.of(items, "_2")
    groups, sizes = items["group"].to_numpy(), sizes_of(pool, (first, second))
    return PooledFigures(first, second, groups, pool.figure, weights_of(items), sizes)


def _unpaired(pair: Pair, observed: stats.Paired | None) -> str | None:
    """Why two pooled figures cannot be compared; null if they can."""
    if observed is None:
        return "what its counts are divided by is 0 in all answers of one of them"
    if observed.n_groups < 2:
        return ONE_CASE
    if observed.se is None:
        return "without one of their cases a pooled figure is undefined"
    # The jackknife measures how figures vary between cases, which a fixed benchmark does not sample.
    if pair.population == "fixed":
        return "a pooled criterion is compared on a sample of questions, not on a fixed benchmark"
    return None


def _on_fixed_items(
    compared: Compared, differences: ItemMeans, rows: pl.DataFrame
) -> Incomparable | Compared:
    """The pair with the error of repeats alone in place of the error between cases.

    The items of a fixed benchmark are no sample of others, so only the repeats of a response are chance.
    """
    pair = compared.pair
    error = _error_of_repeats(pair, differences, rows, "observed")
    observed = _by_repeats(compared.observed, error)
    if observed is None:
        reason = "a fixed benchmark is judged by repeats, and not every question has two of both"
        if error.se is not None:
            reason = "their repeats do not vary, so nothing is known of chance"
        return Incomparable(pair, reason, compared.observed, compared.failed)
    fillings = None
    if compared.fillings:
        c, (first, second) = pair.measure.criterion, pair.better_first
        low = _filled(rows, {first: c.low, second: c.high})
        high = _filled(rows, {first: c.high, second: c.low})
        worst = _by_repeats(compared.fillings[0], _error_of_repeats(pair, differences, low, "low"))
        best = _by_repeats(compared.fillings[1], _error_of_repeats(pair, differences, high, "high"))
        fillings = (worst, best) if worst and best else None
    return compared._replace(observed=observed, fillings=fillings)


def _by_repeats(paired: stats.Paired, error: stats.Fixed) -> stats.Paired | None:
    """The comparison with this error, which is half the difference's; null where repeats have no error."""
    if error.se is None or error.df is None:
        return None
    se, df = 2 * error.se, max(1, int(error.df))
    p = 2 * float(scipy.special.stdtr(df, -abs(paired.difference) / se))
    direction: Any = int(np.sign(paired.difference))
    return paired._replace(se=se, df=df, p=p, test="t", direction=direction)


def _error_of_repeats(pair: Pair, differences: ItemMeans, rows: pl.DataFrame, column: str) -> stats.Fixed:
    """Half the error of the mean difference in that column, where only repeats vary.

    SE^2 = sum over the common items and both candidates of s_i^2 / R_i, divided by n^2: twice the SE of the
    mean over the two candidates' items taken as 2 n fixed ones, the second's with the sign turned.
    """
    common = differences.items.filter(pl.col(column).is_not_null())
    weights = weights_of(common)
    common = common.select(*ITEM, item_weight=pl.lit(None) if weights is None else pl.Series(weights))
    values = repeats(rows, pair.measure.criterion)
    values = values.join(common, on=list(ITEM), how="inner", maintain_order="left")
    names = values.select(pl.struct("item", "variant", "candidate").rank("dense")).to_series()
    signs = np.where(values["candidate"].to_numpy() == pair.a, 1.0, -1.0)
    of_items = None if weights is None else values["item_weight"].to_numpy()
    return stats.fixed_mean(values["y"].to_numpy() * signs, names.to_numpy(), weights=of_items)


def _filled(rows: pl.DataFrame, ends: Mapping[str, float | None]) -> pl.DataFrame:
    """The score rows with each candidate's failed ones at the given end of the range."""
    failed = pl.when(pl.col("status") == "failed")
    end = failed.then(pl.col("candidate").replace_strict(ends, return_dtype=pl.Float64))
    ok = failed.then(pl.lit("ok"))
    return rows.with_columns(value=end.otherwise(pl.col("value")), status=ok.otherwise(pl.col("status")))
