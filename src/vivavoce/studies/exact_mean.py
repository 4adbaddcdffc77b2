"""Means of score rows whose last digit depends on nothing but the values; of arrays, `stats.exact_mean`."""

import polars as pl


def exact_mean(values: pl.Expr) -> pl.Expr:
    """The mean of the values that are there, null where there is none, by a sum that is rounded once.

    A value is split at 2^-26: sums of both parts are exact in any order while the sizes of the values add to
    less than 2^27 (of what is smaller than 2^-26, to 2^-80). NaN stays NaN.
    """
    numbers = values.cast(pl.Float64)
    coarse = (numbers * 2.0**26).round() / 2.0**26
    total = coarse.sum() + (numbers - coarse).sum()
    return pl.when(numbers.count() > 0).then(total / numbers.count())
