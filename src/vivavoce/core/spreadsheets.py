"""Texts for spreadsheets: none that one could run, and all of them to be had back."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


_UNSEEN = "\\s\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›＂＇"
_SIGNS = "=+\\-@＝＋－＠﹢﹣﹦﹫−"
FORMULA = f"^[{_UNSEEN}{_QUOTES}]*[{_SIGNS}]|^'*[\t\r\n]"
"""The start of a text that a spreadsheet could take for a formula, perhaps after cleaning it.

A text that was defused begins so too, so that taking one apostrophe away always gives back what it was.
"""


def defused(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The table with lists as JSON arrays, and an apostrophe before every text that could be a formula."""
    import polars as pl

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(
        pl.col(name).map_elements(
            lambda v: json.dumps(v.to_list(), ensure_ascii=False), return_dtype=pl.String
        )
        for name in lists
    )
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(FORMULA))
        .then(pl.concat_str(pl.lit("'"), pl.col(name)))
        .otherwise(pl.col(name))
        .alias(name)
        for name, kind in frame.schema.items()
        if kind == pl.String
    )
