"""Signals: what each test for training data shows of a candidate, and what it is compared with.

Only a comparison gives a test: a candidate with the others, a question with itself in other words beside
what these do to the others, a canary with decoys, the published order of options with the other orders.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import Floats, too_few
from vivavoce.studies.pooling import Counts, counts, pooled_figure
from vivavoce.studies.score_table import ITEM, resolve, weights_of
from vivavoce.studies.text import cases, count

PLACEBO = "placebo"
"""What a candidate is held against where a set that nobody can have read was reworded too."""
REWRITTEN = "rewritten"
"""The variant, or the beginning of its name up to a colon, that says a question in other words."""
LEAST_AT_A_PLACE = 5
"""Cases in which the key must be at a place: by then a mean has an error that holds (type I error of a
place preference without memory 1 to 3 % on memory's side, simulated with 24 to 120 questions)."""
ALONE = (
    "a question may be easier to go on with than its rewording, and only other candidates with both wordings "
    "can tell that from memory"
)
"""Why a candidate without others is not tested against other words."""
NO_AUTHOR = (
    "who put the questions in other words is not known, and a model's own words are easier for its family "
    "(reworded_by=MODEL or reworded_by=people)"
)
"""Why nobody is tested against other words without a word on their author."""
ALL_FAILED = "every score failed"


Pairs = list[pl.DataFrame]
"""The items in both wordings: those of the candidate, then of each other."""


class Signal(NamedTuple):
    """One candidate's figure by one test, and `against` what it is compared ('': nothing).

    `value` is in the units of the measure, a difference where it is compared (`logs`: of natural logarithms);
    `interval` is its 95 % interval. `comparison` is turned so that above 0 is what memory would do (`sign`
    turns it back), and a test where there is a `p`; `weak`: a larger or newer model does so too. Of a canary
    `p` is exact, and `least` the smallest that so many `n_decoys` can give. Without a value or a test there
    is a `reason`.
    """

    benchmark: str
    measure: Measure
    candidate: str
    probe: str
    against: str = ""
    value: float | None = None
    interval: tuple[float, float] | None = None
    comparison: stats.Paired | None = None
    sign: int = 1
    logs: bool = False
    weak: bool = False
    p: float | None = None
    least: float | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_decoys: int | None = None
    n_failed: int = 0
    reason: str | None = None


class OtherWords(NamedTuple):
    """What is known of rewordings.

    `unfit` are the candidates who may have words of their own in them, and why; null: nobody knows who wrote
    them. `placebo` is a benchmark that no candidate can have read, reworded by the same author: what other
    words do there is not memory, whoever wrote them.
    """

    unfit: Mapping[str, str] | None = None
    placebo: str | None = None

    def untested(self, candidate: str, n_candidates: int) -> str | None:
        """Why a candidate of so many with both wordings has no test; null where it has one."""
        reason = NO_AUTHOR if self.unfit is None else self.unfit.get(candidate)
        return reason or (ALONE if n_candidates < 2 else None)


class Board(NamedTuple):
    """The scores of all candidates on one benchmark by one measure, and on the placebo, if there is one."""

    rows: pl.DataFrame
    words: OtherWords
    placebo: pl.DataFrame | None = None


def signals(scores: pl.DataFrame, measures: Mapping[int, Measure], words: OtherWords) -> Iterator[Signal]:
    """The signals in score rows of candidates, by measure, benchmark and candidate."""
    for key, measure in measures.items():
        metric = measure.metric.partition("(")[0]
        signals_of = _SIGNALS.get((metric, measure.criterion.criterion))
        if signals_of is None:
            continue
        rows = scores.filter(pl.col("measure_id") == key).sort("benchmark", "candidate")
        placebo = rows.filter(pl.col("benchmark") == words.placebo) if words.placebo else None
        for (benchmark,), part in rows.group_by("benchmark", maintain_order=True):
            board = Board(part, words, None if benchmark == words.placebo else placebo)
            for candidate in part["candidate"].unique(maintain_order=True):
                of_candidate = part.filter(pl.col("candidate") == candidate)
                failed = of_candidate.filter(pl.col("status") == "failed").height
                signal = Signal(str(benchmark), measure, candidate, metric, n_failed=failed)
                yield from signals_of(signal, of_candidate, board)


def _verbatim(signal: Signal, of_candidate: pl.DataFrame, board: Board) -> Iterator[Signal]:
    """The mean share; and how much of it other words take away, beside what they take from the others.

    Shares of tokens, of which each model has its own, are not compared with other candidates' shares.
    """
    values = _observed(board.rows, signal.measure)
    yield _mean(signal, _wordings(values.filter(pl.col("candidate") == signal.candidate))[0])
    # What is gone on with further loses more by other words: a larger model stands out here without memory.
    tables = [values] if board.placebo is None else [values, _observed(board.placebo, signal.measure)]
    yield from _in_other_words(signal._replace(weak=True), board.words, tables, ["observed"], _share_gap)


def _share_gap(pairs: Pairs) -> stats.Paired:
    """How much more of the published words comes out, less the mean of the others'."""
    gaps = [(items["observed"] - items["observed_twin"]).to_numpy() for items in pairs]
    difference = gaps[0] - np.mean(gaps[1:], axis=0) if len(gaps) > 1 else gaps[0]
    return stats.paired(difference, pairs[0]["group"].to_numpy(), weights=weights_of(pairs[0]))


def _in_other_words(
    signal: Signal,
    words: OtherWords,
    tables: Sequence[pl.DataFrame],
    names: list[str],
    gap: Callable[[Pairs], stats.Paired | None],
) -> Iterator[Signal]:
    """The gap between both wordings, less that on the placebo where its table follows; none of its own."""
    if words.placebo == signal.benchmark:
        return
    signal = signal._replace(against=PLACEBO if len(tables) > 1 else REWRITTEN)
    if len(tables) > 1:
        words = words._replace(unfit={})
    pairs = _pairs_of(tables, names, signal.candidate, words.unfit or {})
    if isinstance(pairs[-1], str):
        yield signal._replace(reason=pairs[-1] + (f" on {words.placebo}" if len(pairs) > 1 else ""))
        return
    untested = words.untested(signal.candidate, min(map(len, pairs)))
    first, *placebo = (gap(items) for items in pairs if not isinstance(items, str))
    compared = _compared(signal, first, untested=untested)
    yield _less_placebo(compared, placebo[0], words, untested) if placebo else compared


def _less_placebo(
    compared: Signal, gap: stats.Paired | None, words: OtherWords, untested: str | None
) -> Signal:
    """A gap, if there is one, less that on the placebo."""
    if compared.comparison is None:
        return compared
    if gap is None or (less := compared.comparison.less(gap)) is None:
        few = f"too few cases that differ, in these questions or on {words.placebo}"
        return compared._replace(value=None, comparison=None, p=None, reason=few)
    return _compared(compared, less, untested=untested)


def _pairs_of(
    tables: Sequence[pl.DataFrame], names: list[str], candidate: str, unfit: Mapping[str, str]
) -> list[Pairs | str]:
    """The items of each table in both wordings, up to the first that has none."""
    # Whoever meets words of their own there is no measure of how hard these are for the others.
    absent = [name for name in unfit if name != candidate]
    pairs = list[Pairs | str]()
    for table in tables:
        present = table.filter(~pl.col("candidate").is_in(absent)) if absent else table
        pairs.append(_in_both_wordings(present, names, candidate))
        if isinstance(pairs[-1], str):
            break
    return pairs


def _bits(signal: Signal, of_candidate: pl.DataFrame, board: Board) -> Iterator[Signal]:
    """The pooled figure; against the other candidates; and the factor that other words make beside theirs.

    Memory needs fewer bits, so the sign is turned.
    """
    counted = counts(board.rows, signal.measure.criterion)
    items = counted.items
    if items is None or items.filter(pl.col("candidate") == signal.candidate).is_empty():
        yield signal._replace(reason=counted.reason or ALL_FAILED)
        return
    yield _bits_figure(signal, items, counted)
    yield _bits_against_others(signal._replace(against="others", sign=-1, weak=True), items, counted)
    tables = [items]
    if board.placebo is not None:
        of_placebo = counts(board.placebo, signal.measure.criterion).items
        tables.append(items.clear() if of_placebo is None else of_placebo)
    signal, columns = signal._replace(sign=-1, logs=True), list(counted.columns)
    yield from _in_other_words(signal, board.words, tables, columns, lambda pairs: _bits_gap(pairs, counted))


def _bits_figure(signal: Signal, items: pl.DataFrame, counted: Counts) -> Signal:
    plain, _ = _wordings(items.filter(pl.col("candidate") == signal.candidate))
    if not plain.height:
        return signal._replace(reason="only rewritten questions")
    pooled = pooled_figure(plain, counted, signal.measure.criterion)
    if isinstance(pooled, str):
        return signal._replace(reason=pooled)
    interval = _interval(pooled.low, pooled.high, pooled.n_groups)
    return signal._replace(value=pooled.value, interval=interval, n_items=pooled.n, n_groups=pooled.n_groups)


def _bits_against_others(signal: Signal, items: pl.DataFrame, counted: Counts) -> Signal:
    rows = _with_others(_wordings(items)[0], signal.candidate)
    if isinstance(rows, str):
        return signal._replace(reason=rows)
    first, *others = (counted.of(candidate) for candidate in rows)
    comparison = _pooled_comparison(first, np.mean(others, axis=0), stats.sum_ratio, rows[0])
    return _compared(signal, comparison)


def _bits_gap(pairs: Pairs, counted: Counts) -> stats.Paired | None:
    """The logarithm of the factor that the published words make, less the mean of the others', turned."""
    candidate, *rewordings = pairs
    # Of the others the two wordings change sides: what is left is one's own gap less the mean of theirs.
    first = np.hstack([counted.of(candidate), *(counted.of(rows, "_twin") for rows in rewordings)])
    second = np.hstack([counted.of(candidate, "_twin"), *(counted.of(rows) for rows in rewordings)])
    return _pooled_comparison(first, second, _log_factor, candidate)


def _pooled_comparison(
    bits: Floats, others: Floats, statistic: stats.PooledStatistic, items: pl.DataFrame
) -> stats.Paired | None:
    """One's own bits less other ones, turned: memory needs fewer."""
    groups = items["group"].to_numpy()
    return stats.pooled_paired(others, bits, groups, statistic, weights=weights_of(items))


def _log_factor(sums: Floats) -> Floats:
    """The logarithm of the first ratio, plus the mean of the others' logarithms; NaN where one has none."""
    upper, lower = sums[:, ::2], sums[:, 1::2]
    logs = np.full(upper.shape, np.nan)
    positive = (upper > 0) & (lower > 0)
    logs[positive] = np.log(upper[positive] / lower[positive])
    return np.asarray(logs[:, 0] + (logs[:, 1:].mean(axis=1) if sums.shape[1] > 2 else 0.0))


def _option_order(signal: Signal, of_candidate: pl.DataFrame, board: Board) -> Iterator[Signal]:
    """Accuracy in the published order less the mean over the other rotations, by the place of the key.

    Over the k rotations a key takes every place. So, where a mean is made for each place that keys have in
    the published order, and each place counts alike, what places do by themselves cancels. Questions of
    another k have means of their own and weigh by their number; a k of which a place has fewer than 5 cases
    is left out. The error is that of the residuals inside places, summed by case (CR1), with n / (n - 1) for
    the square of each at a place of n cases.
    """
    signal = signal._replace(probe="option_order", against="other orders")
    cell = ["options", "place"]
    values = _with_key_places(of_candidate, signal.measure, cell)
    if values.height and values.select(cell).null_count().sum_horizontal().item():
        reason = "the scores do not say where keys stood: score options(rotate=true) again"
        yield signal._replace(reason=reason)
        return
    values = values.with_columns(n=pl.col("group").n_unique().over(cell))
    every_place = pl.col("place").n_unique().over("options") == pl.col("options")
    items = values.filter(every_place & (pl.col("n").min().over("options") >= LEAST_AT_A_PLACE))
    lost = None
    if items.height < values.height:
        lost = (
            f"{count(values.height - items.height, 'question')} left out: not every place of so many options "
            f"holds the key in {LEAST_AT_A_PLACE} cases"
        )
    n_groups = items["group"].n_unique()
    if not items.height:
        yield signal._replace(reason=lost or ALL_FAILED)
        return
    sized = signal._replace(n_items=items.height, n_groups=n_groups)
    if few := too_few(items["group"].to_numpy()):
        yield sized._replace(reason=few)
        return
    paired = stats.paired(items["observed"].to_numpy(), items["group"].to_numpy())
    if paired.n_different and not stats.enough_groups(paired.effective_different):
        # Sign flips would stand in here, and they would count the places as they come.
        different = cases(paired.n_different, paired.effective_different)
        reason = f"{different} that differ: too few to let every place count alike"
        yield sized._replace(reason=reason)
        return
    comparison = _places_alike(items, cell)._replace(n_different=paired.n_different)
    yield _compared(signal, comparison)._replace(reason=lost)


def _with_key_places(rows: pl.DataFrame, measure: Measure, cell: list[str]) -> pl.DataFrame:
    """The value of each item, with its number of options and the place of its key as published."""
    parts = pl.Struct(dict.fromkeys(cell, pl.Float64))
    keys = (
        rows.filter(pl.col("status") == "ok")
        .select(*ITEM, pl.col("parts").str.json_decode(parts))
        .unnest("parts")
        .group_by(ITEM, maintain_order=True)
        .agg(pl.col(cell).first())
    )
    return _observed(rows, measure).join(keys, on=ITEM, how="left", maintain_order="left")


def _places_alike(items: pl.DataFrame, cell: list[str]) -> stats.Paired:
    """The mean of `observed` over cells of equal weight inside each number of options, against 0."""
    w = pl.col("w")
    table = items.with_columns(w=pl.col("weight") if "weight" in items.columns else pl.lit(1.0)).select(
        "observed",
        share=w * w.sum().over("options") / (pl.col("options") * w.sum().over(cell)),
        mean=(w * pl.col("observed")).sum().over(cell) / w.sum().over(cell),
        wider=(pl.col("n") / (pl.col("n") - 1)).sqrt(),
    )
    d, share, mean, wider = (table[name].to_numpy() for name in table.columns)
    # Around the mean only what differs inside a place is left: places differ by themselves.
    return stats.paired(np.average(d, weights=share) + (d - mean) * wider, items["group"], weights=share)


def _canary(signal: Signal, of_candidate: pl.DataFrame, board: Board) -> Iterator[Signal]:
    """The canary's rank among its decoys, of the first item that has one."""
    signal = signal._replace(against="decoys")
    ok = of_candidate.filter(pl.col("status") == "ok").sort("item", "variant", "repeat", "pass_no")
    if not ok.height:
        yield signal._replace(reason=ALL_FAILED)
        return
    parts = pl.Struct({"at_least": pl.Float64, "decoys": pl.Float64})
    at_least, decoys = ok.head(1).select(pl.col("parts").str.json_decode(parts)).unnest("parts").row(0)
    if at_least is None or decoys is None:
        yield signal._replace(reason="the score lacks how many decoys there were")
        return
    k, n = int(at_least), int(decoys)
    # The canary counts among the draws: without the 1 its p could be 0.
    yield signal._replace(value=k / n, p=(k + 1) / (n + 1), least=1 / (n + 1), n_decoys=n)


_SIGNALS: Mapping[tuple[str, str], Callable[[Signal, pl.DataFrame, Board], Iterator[Signal]]] = {
    ("second_half", "verbatim"): _verbatim,
    ("second_half", "bits_per_byte"): _bits,
    ("options", "option_gap"): _option_order,
    ("canary", "rank"): _canary,
}
"""By metric and criterion: a function of a signal to fill, the candidate's rows and everybody's."""


def _observed(part: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    values = resolve(part, measure.criterion)
    return values.filter(values["observed"].is_not_null())


def _wordings(values: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions as they are, and those in other words."""
    rewritten = values["variant"].str.split(":").list.first() == REWRITTEN
    return values.filter(~rewritten), values.filter(rewritten)


def _with_others(rows: pl.DataFrame, candidate: str) -> Pairs | str:
    """The rows of one candidate, then of each other, on the items that all have; or why there are none."""
    names = sorted(rows["candidate"].unique())
    if candidate not in names:
        return ALL_FAILED
    if len(names) < 2:
        return "no other candidate has scores"
    shared = rows.filter(pl.len().over(ITEM) == len(names)).sort(ITEM)
    if not shared.height:
        return "no question has scores of all candidates"
    order = [candidate, *(name for name in names if name != candidate)]
    return [shared.filter(pl.col("candidate") == name) for name in order]


def _in_both_wordings(rows: pl.DataFrame, names: list[str], candidate: str) -> Pairs | str:
    """A row per item in both wordings, or a reason: `names`, and with `_twin` the means of its rewordings.

    First the candidate's rows, then those of every other with both wordings, on the items that all have.
    """
    plain, rewritten = _wordings(rows)
    if not rewritten.filter(pl.col("candidate") == candidate).height:
        return f"no question has a variant {REWRITTEN!r} with a score"
    key = ("benchmark", "item", "group", "candidate")
    means = rewritten.group_by(key, maintain_order=True).agg(exact_mean(pl.col(names)))
    # Other variants are not the published wording, and only that could have been memorised.
    joined = plain.filter(pl.col("variant") == "").join(
        means, on=key, suffix="_twin", validate="1:1", maintain_order="left"
    )
    of_candidate = joined.filter(pl.col("candidate") == candidate)
    if not of_candidate.height:
        return "no question has scores in both wordings"
    return [of_candidate] if joined["candidate"].n_unique() < 2 else _with_others(joined, candidate)


def _mean(signal: Signal, items: pl.DataFrame) -> Signal:
    if not items.height:
        return signal._replace(reason=ALL_FAILED if signal.n_failed else "only rewritten questions")
    c = signal.measure.criterion
    mean = stats.estimate_mean(
        items["observed"].to_numpy(),
        items["group"].to_numpy(),
        weights=weights_of(items),
        low=c.low,
        high=c.high,
    )
    interval = _interval(mean.low, mean.high, mean.effective_groups)
    return signal._replace(value=mean.value, interval=interval, n_items=mean.n, n_groups=mean.n_groups)


def _compared(signal: Signal, comparison: stats.Paired | None, *, untested: str | None = None) -> Signal:
    """The signal with a comparison and its test, or the reason why it is `untested`."""
    if comparison is None:
        return signal._replace(reason="the second halves have no bytes, or none of them takes a bit")
    signal = signal._replace(n_items=comparison.n_items, n_groups=comparison.n_groups)
    if not stats.enough_groups(comparison.effective_groups):
        few = cases(comparison.n_groups, comparison.effective_groups)
        return signal._replace(reason=f"{few}: too few to tell")
    signal = signal._replace(value=signal.sign * comparison.difference, comparison=comparison)
    return signal._replace(reason=untested) if untested else signal._replace(p=comparison.p)


def _interval(low: float | None, high: float | None, effective: float) -> tuple[float, float] | None:
    return None if low is None or high is None or not stats.enough_groups(effective) else (low, high)
