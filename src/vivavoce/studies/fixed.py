"""A fixed exam: its questions are no sample of others, so that only an answer's repeats are chance."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from vivavoce import stats
from vivavoce.studies import ITEM, repeats, weights_of
from vivavoce.studies.pair import Apart, Compared, Differences, Pair

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_fixed"]


def as_fixed(found: Compared, differences: Differences, marks: "pl.DataFrame") -> Apart | Compared:
    """The pair with the error of repeats alone in place of the error between cases."""
    pair = found.pair
    error = _error_of_repeats(pair, differences, marks, "d")
    seen = _by_repeats(found.seen, error)
    if seen is None:
        lacking = "a fixed exam is judged by repeats, and not every question has two of both"
        still = "their repeats do not vary, so nothing is known of chance"
        return Apart(pair, lacking if error.se is None else still, found.seen, found.failed)
    fillings = None
    if found.fillings:
        c, (one, other) = pair.measure.criterion, pair.turned
        low = _filled(marks, {one: c.low, other: c.high})
        high = _filled(marks, {one: c.high, other: c.low})
        worst = _by_repeats(found.fillings[0], _error_of_repeats(pair, differences, low, "d_low"))
        best = _by_repeats(found.fillings[1], _error_of_repeats(pair, differences, high, "d_high"))
        fillings = (worst, best) if worst and best else None
    return found._replace(seen=seen, fillings=fillings)


def _by_repeats(paired: stats.Paired, error: stats.Fixed) -> stats.Paired | None:
    """What was seen with half this error doubled; null where the repeats have none to be known."""
    if error.se is None or error.df is None:
        return None
    se, df = 2 * error.se, max(1, int(error.df))
    p = 2 * float(stdtr(df, -abs(paired.difference) / se))
    direction: Any = int(np.sign(paired.difference))
    return paired._replace(se=se, df=df, p=p, test="t", direction=direction)


def _error_of_repeats(
    pair: Pair, differences: Differences, marks: "pl.DataFrame", column: str
) -> stats.Fixed:
    """Half the error of the mean difference in that column, where only repeats vary.

    SE^2 = sum over the common items and both candidates of s_i^2 / R_i, divided by n^2: twice the SE of the
    mean over the two candidates' items taken as 2 n fixed ones, the second's with the sign turned.
    """
    import polars as pl

    common = differences.items.filter(pl.col(column).is_not_null()).select(*ITEM)
    own = repeats(marks, pair.measure.criterion).join(common, on=list(ITEM), how="semi")
    names = own.select(pl.struct("item", "variant", "candidate").rank("dense")).to_series()
    signs = np.where(own["candidate"].to_numpy() == pair.a, 1.0, -1.0)
    return stats.fixed_mean(own["y"].to_numpy() * signs, names.to_numpy(), weights=weights_of(own))


def _filled(marks: "pl.DataFrame", ends: Mapping[str, float | None]) -> "pl.DataFrame":
    """The marks with each candidate's failed ones at the given end of the range."""
    import polars as pl

    failed = pl.col("status") == "failed"
    end = pl.col("candidate").replace_strict(ends, return_dtype=pl.Float64)
    return marks.with_columns(
        value=pl.when(failed).then(end).otherwise(pl.col("value")),
        status=pl.when(failed).then(pl.lit("ok")).otherwise(pl.col("status")),
    )
