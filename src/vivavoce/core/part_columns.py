"""The parts of answers in a frame: those that are stored, else made of the text by the same marks."""

from collections.abc import Collection

import polars as pl

from vivavoce.core.endings import ending
from vivavoce.core.text import spoken

NEEDED = {"final": ("text",), "ending": ("text", "status", "finish_reason")}
"""What else a frame must hold so that a part can be computed."""
# Every mark of thinking and of a chat holds one of these: most answers have none, and Python looks at few.
_MAY_BE_MARKED = pl.col("text").str.contains(r"[<\[◁]|&lt;|Thinking|thought process|analysis|assistantfinal")


def _of_text(function: str) -> pl.Expr:
    kinds = {"text": pl.String(), "closed": pl.Boolean()}
    return pl.col("text").map_elements(
        lambda text: getattr(spoken(text), function), return_dtype=kinds[function]
    )


def _final() -> pl.Expr:
    computed = (
        pl.when(_MAY_BE_MARKED)
        .then(pl.col("text").map_elements(lambda text: spoken(text).text, return_dtype=pl.String))
        .otherwise("text")
    )
    return pl.when(pl.col("final").is_null()).then(computed).otherwise("final").alias("final")


def _ending() -> pl.Expr:
    is_closed = pl.col("text").map_elements(lambda text: spoken(text).closed, return_dtype=pl.Boolean)
    open_thinking = pl.when(_MAY_BE_MARKED).then(~is_closed).otherwise(pl.lit(False))
    computed = (
        pl.when(pl.col("status") == "filtered")
        .then(pl.lit("filtered"))
        .when(open_thinking)
        .then(pl.lit("thinking"))
        .otherwise(pl.col("finish_reason").map_elements(ending, return_dtype=pl.String))
    )
    return pl.when(pl.col("ending").is_null()).then(computed).otherwise("ending").alias("ending")


def with_parts(frame: pl.DataFrame, parts: Collection[str] = tuple(NEEDED)) -> pl.DataFrame:
    """The frame with these of the columns `final` and `ending`, as far as it has what `NEEDED` says."""
    makers = {"final": _final, "ending": _ending}
    possible = [name for name in NEEDED if name in parts and {*NEEDED[name]} <= {*frame.columns}]
    absent = [pl.lit(None, pl.String).alias(name) for name in possible if name not in frame.columns]
    return frame.with_columns(absent).with_columns(makers[name]() for name in possible)
