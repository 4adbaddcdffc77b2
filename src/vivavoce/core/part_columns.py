"""The parts of answers in a frame: those that are stored, else made of the text by the same marks."""

from collections.abc import Callable, Collection

import polars as pl

from vivavoce.core.endings import ending
from vivavoce.core.text import is_blank, spoken

NEEDED = {"final": ("text",), "ending": ("text", "status", "finish_reason")}
"""What else a frame must hold so that a part can be computed."""
HELPFUL = ("final", "reasoning", "meta")
"""What else tells how an answer ended, where a frame holds it: its parts, and thinking beside its text."""
# Every mark of thinking and of a chat holds one of these: most answers have none, and Python looks at few.
_MAY_BE_MARKED = pl.col("text").str.contains(r"[<\[◁]|&lt;|Thinking|thought process|analysis|assistantfinal")


def of_some(
    mask: pl.Expr, column: str, function: Callable[[str], object], kind: pl.DataType | type[pl.DataType]
) -> pl.Expr:
    """What a function makes of a text column where the mask holds; null elsewhere, where it does not run."""
    return pl.when(mask).then(pl.col(column)).map_elements(function, return_dtype=kind)


def _final() -> pl.Expr:
    is_open = pl.col("final").is_null()
    computed = of_some(is_open & _MAY_BE_MARKED, "text", lambda text: spoken(text).text, pl.String())
    return pl.coalesce("final", computed, "text").alias("final")


def _ending(frame: pl.DataFrame) -> pl.Expr:
    """How answers ended, by the rules of `core.parts.made_parts`."""
    is_open = pl.col("ending").is_null()
    if "final" in frame.columns:
        is_open &= pl.col("final").is_null()
    by_word = _by_word(frame)
    is_thinking = _is_in_thinking(frame, is_open, by_word == "cut") & (by_word.fill_null("") != "filtered")
    computed = (
        pl.when(pl.col("status") == "filtered")
        .then(pl.lit("filtered"))
        .when(pl.col("text").is_not_null())
        .then(pl.when(is_thinking).then(pl.lit("thinking")).otherwise(by_word))
    )
    return pl.coalesce("ending", computed).alias("ending")


def _is_in_thinking(frame: pl.DataFrame, is_open: pl.Expr, is_cut: pl.Expr) -> pl.Expr:
    """Whether thinking never ended, or no word came after it before a limit."""
    is_unclosed = of_some(
        is_open & _MAY_BE_MARKED, "text", lambda text: not spoken(text).closed, pl.Boolean()
    )
    silence = of_some(is_open & is_cut, "text", _silence, pl.String())
    signs = {"reasoning": pl.col("reasoning") != "", "meta": pl.col("meta").str.contains(_COUNT_OF_THINKING)}
    has_sign = pl.any_horizontal(False, *(sign for name, sign in signs.items() if name in frame.columns))
    return is_unclosed | (silence == "thought") | (has_sign & (silence == "blank"))


_COUNT_OF_THINKING = '"reasoning_tokens": ?[1-9]'


def _by_word(frame: pl.DataFrame) -> pl.Expr:
    """How answers ended by the endpoint's words alone, each of which is looked up once."""
    words = frame["finish_reason"].drop_nulls().unique().to_list()
    endings = {word: end for word in words if (end := ending(word))}
    return pl.col("finish_reason").replace_strict(endings, default=None, return_dtype=pl.String)


def _silence(text: str) -> str | None:
    """Whether an answer without a word in its final part had thinking, or was blank; null: it has one."""
    answer = spoken(text)
    if not is_blank(answer.text):
        return None
    return "thought" if answer.thought else "blank"


def with_parts(frame: pl.DataFrame, parts: Collection[str] = tuple(NEEDED)) -> pl.DataFrame:
    """The frame with these of the columns `final` and `ending`, as far as it has what `NEEDED` says."""
    possible = [name for name in NEEDED if name in parts and {*NEEDED[name]} <= {*frame.columns}]
    absent = [pl.lit(None, pl.String).alias(name) for name in possible if name not in frame.columns]
    with_both = frame.with_columns(absent)
    return with_both.with_columns(_final() if name == "final" else _ending(with_both) for name in possible)
