"""The answers of a run as studies get them: read when a study asks, and of each only what it asks for."""

from typing import Protocol

import polars as pl

from vivavoce.core import parts
from vivavoce.core.part_columns import of_some, with_parts
from vivavoce.core.tables import RESPONSES
from vivavoce.core.text import DOUBTS, LONG, is_blank, looks_like_thinking
from vivavoce.studies.row_parts import by_candidate

_KEY = ["benchmark", "item", "variant"]


def _blank() -> pl.Expr:
    # Python looks at few texts: most have a plain letter.
    is_plain = pl.col("final").str.contains("[A-Za-z0-9]")
    return pl.when(is_plain).then(False).otherwise(of_some(~is_plain, "final", is_blank, pl.Boolean()))


BLANK = _blank()
"""Whether the final part of an answer holds no letter and no digit; null where none arrived."""
_MARKED = pl.col("final").str.contains(r"<unused\d|<\||\A\s*Th(?:inking|ought)|assistant(?:analysis|comm)")
_DOUBTED = (pl.col("final").str.len_bytes() > LONG) & (
    pl.col("final").str.count_matches(r"(?:[Ww]ait|[Hh]mm+)\b[,.: ]") >= DOUBTS
)
LIKE_THINKING = of_some(_MARKED | _DOUBTED, "final", looks_like_thinking, pl.Boolean()).fill_null(
    False
) | pl.col("meta").str.contains(f'"{parts.LIKE_THINKING}": true', literal=True)
"""Whether an answer looks like thinking that was not told apart from it (`core.text`)."""
TEXT_HASH = pl.when(pl.col("text").is_not_null()).then(pl.col("text").hash())
"""64 bits by which texts are told apart; null where none arrived."""
_KNOWN = pl.when(~pl.col("final").str.contains(r"^\[redacted: [0-9a-f]{32}\]$"))
N_WORDS = _KNOWN.then(pl.col("final").str.count_matches(r"\S+"))
"""Words of the final part of an answer: what blanks part. Null of a text that is redacted or forgotten."""
N_CHARACTERS = _KNOWN.then(pl.col("final").str.len_chars())
"""Characters of the final part of an answer; null as `N_WORDS`."""


class Answers(Protocol):
    """Reads the answers in words: these columns of `RESPONSES`, without any all of them.

    With `edited` edits alone, with False none. `items` are the benchmarks, items and variants to read about.
    `derived` are columns made of a response row by row: a text that is counted is not held.
    """

    def __call__(
        self,
        *columns: str,
        edited: bool | None = None,
        items: pl.DataFrame | None = None,
        **derived: pl.Expr,
    ) -> pl.DataFrame:
        """The answers, ordered by item, candidate, repeat and edit."""
        ...


def answers_in(rows: pl.DataFrame) -> Answers:
    """The answers in rows that are at hand."""

    def select(
        *columns: str,
        edited: bool | None = None,
        items: pl.DataFrame | None = None,
        **derived: pl.Expr,
    ) -> pl.DataFrame:
        chosen = rows if edited is None else rows.filter((pl.col("edit") != "") == edited)
        if items is not None:
            chosen = chosen.join(
                items, on=["benchmark", "item", "variant"], how="semi", maintain_order="left"
            )
        names = columns or [name for name in RESPONSES if name in rows.columns]
        return with_parts(chosen).select(*names, **derived)

    return select


def identical_repeats(responses: pl.DataFrame) -> frozenset[str]:
    """Candidates with several responses to some item, and to every item always the same text.

    `responses` have `text_hash`, see `TEXT_HASH`. Those that failed have no text: failing alike is
    not answering alike.
    """
    columns = responses.select(*_KEY, "candidate", "edit", "text_hash")
    identical = []
    for name, of_candidate in by_candidate(columns):
        arrived = of_candidate.filter((pl.col("edit") == "") & pl.col("text_hash").is_not_null())
        texts = arrived.group_by(_KEY).agg(n=pl.len(), texts=pl.col("text_hash").n_unique())
        repeated = texts.filter(pl.col("n") > 1)
        if repeated.height and (repeated["texts"] == 1).all():
            identical.append(name)
    return frozenset(identical)


def identical_answers(answers: Answers) -> frozenset[str]:
    """The candidates of `identical_repeats` among the answers of a run."""
    return identical_repeats(answers(*_KEY, "candidate", "edit", edited=False, text_hash=TEXT_HASH))
