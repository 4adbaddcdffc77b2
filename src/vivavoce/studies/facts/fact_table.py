"""The facts of answers as tables: a row per fact, and a row per answer with what became of its facts."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.studies.answers import N_CHARACTERS, N_WORDS, Answers
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM, RESPONSE, ScoreTable, item_of

SUPPORTED = "supported"
"""The criterion of facts, beside that of statements an answer must make."""
RIGHT, WRONG = ("true", "supported"), ("false", "contradicted")
UNSETTLED = ("bad", "unverifiable", "changed", "surplus", "failed")
"""Claims of an answer without a score: a bound takes them all for false, then for true."""
ASIDE = ("repeated", "foreign", "no_claim", "empty")
"""Units that are no further claim of the answer, and enter nothing."""
WORDS = (*RIGHT, *WRONG, *UNSETTLED, *ASIDE)
"""What becomes of a unit: the word that its note begins with."""
KINDS = ("answered", "without_units", "empty", "blank", "noncommittal", "unanswered", "unreadable", "failed")
"""What becomes of an answer. `failed`: the answer, or a fact of it, got no reply.

`without_units`: the splitter gave nothing. `empty`: nothing is left of it after cleaning. `blank`: it has no
word. `noncommittal`: it says only that it does not know, or will not say. `unanswered`: withheld, or cut
before its first word.
"""
_REFUSAL = "a refusal"
"""The beginning of the note of an answer that was read as "I don't know", or as a refusal."""
OTHER = "other"
ONE_PASS = "Of each answer the first pass is taken in which nothing failed, else the first."


class FactTable(NamedTuple):
    """The facts that one measure scored on one benchmark, in one pass of each answer.

    `facts` has the columns of the answer, `pass_no`, `unit`, `text`, `unit_weight`, `value`, `word` and
    `note`, in the order of the answers.
    `answers` has a row per answer: ITEM, category, weight of a sample, candidate, repeat, `kind`,
    `given` (units), `checked`, `right`, `settled`, `claims` (settled or not), those of `LENGTHS`, and a
    column for each of `WORDS`; `precision`, `low` and `high` are null where nothing is there to divide by, or
    the answer did not come through.
    """

    benchmark: str
    measure: Measure
    facts: pl.DataFrame
    answers: pl.DataFrame
    passes: int

    @property
    def candidates(self) -> list[str]:
        """In the order of their names."""
        return sorted(self.answers["candidate"].unique())

    def of(self, candidate: str) -> "FactTable":
        """The part of one candidate."""
        is_theirs = pl.col("candidate") == candidate
        return self._replace(facts=self.facts.filter(is_theirs), answers=self.answers.filter(is_theirs))


LENGTHS = ("words", "characters", "tokens")
"""The lengths of an answer: of its text without thinking, and the tokens that its candidate wrote in all."""
FIGURES = (
    *("given", "checked", "right", "settled", "claims", *LENGTHS, "precision", "low", "high", "worst"),
    "best",
)


def by_item(answers: pl.DataFrame) -> pl.DataFrame:
    """A row per candidate and item: the means over repeats of what answers hold, so that items count alike.

    `worst` and `best` are the precision with failed answers at what they could be.
    """
    place = [*item_of(answers), "category", "candidate"]
    means = answers.group_by(place, maintain_order=True).agg(exact_mean(pl.col(*FIGURES)))
    return means.sort(*ITEM, "candidate")


def fact_tables(scores: ScoreTable) -> Iterator[FactTable]:
    """The facts of the candidates by measure and benchmark; edits and statements are no part of them."""
    if scores.units is None:
        return
    of_candidates = scores.units.filter((pl.col("edit") == "") & (pl.col("role") == "candidate"))
    lengths = _lengths(scores.answers)
    for key, measure in scores.unit_measures.items():
        if measure.criterion.criterion != SUPPORTED:
            continue
        rows = of_candidates.filter(pl.col("measure_id") == key)
        for benchmark in rows["benchmark"].unique().sort():
            yield _table(benchmark, measure, rows.filter(pl.col("benchmark") == benchmark), lengths)


def _lengths(answers: Answers | None) -> pl.DataFrame | None:
    """The words, characters and tokens of each response; null where they are not known."""
    if answers is None:
        return None
    return answers(*RESPONSE, "tokens", edited=False, words=N_WORDS, characters=N_CHARACTERS)


def _table(benchmark: str, measure: Measure, rows: pl.DataFrame, lengths: pl.DataFrame | None) -> FactTable:
    passes = rows["pass_no"].n_unique()
    # Passes may have split an answer otherwise, so facts of two of them are not rows of one table.
    rows = _one_pass(rows) if passes > 1 else rows
    word = pl.col("note").fill_null("").str.extract(r"^(\w+)", 1)
    listed = pl.when(word.is_in(WORDS)).then(word).otherwise(pl.lit(OTHER))
    facts = rows.filter(pl.col("unit") != "").with_columns(word=listed)
    # A word that no contract knows is kept for silent answers alone: among units it counts as other.
    answers = _answers(rows.with_columns(word=listed, note_word=word))
    if lengths is not None:
        answers = answers.join(lengths, on=RESPONSE, how="left", validate="1:1", maintain_order="left")
    else:
        answers = answers.with_columns(pl.lit(None, pl.UInt32).alias(name) for name in LENGTHS)
    columns = [
        *RESPONSE,
        "group",
        "category",
        "pass_no",
        "unit",
        "text",
        "unit_weight",
        "value",
        "word",
        "note",
    ]
    return FactTable(benchmark, measure, facts.select(columns), answers, passes)


def _one_pass(rows: pl.DataFrame) -> pl.DataFrame:
    failed = (pl.col("status") == "failed").any().over(*RESPONSE, "pass_no")
    first = pl.col("pass_no").min().over(RESPONSE)
    clean = pl.when(~failed).then("pass_no").min().over(RESPONSE)
    return rows.filter(pl.col("pass_no") == pl.coalesce(clean, first))


def _answers(rows: pl.DataFrame) -> pl.DataFrame:
    """A row per answer, from the rows of its facts or the one row that it has without any."""
    place = [*item_of(rows), "category", "candidate", "repeat"]
    is_unit = pl.col("unit") != ""
    silent = (
        pl.when(pl.col("status") == "set_aside").then(pl.lit("without_units"))
        .when(pl.col("status") != "unanswered").then("status")
        .when(pl.col("note_word").is_in(["empty", "blank", "noncommittal"])).then("note_word")
        .when(pl.col("note").str.starts_with(_REFUSAL)).then(pl.lit("noncommittal"))
        .otherwise(pl.lit("unanswered"))
    )  # fmt: skip
    counts = {word: (is_unit & (pl.col("word") == word)).sum() for word in WORDS}
    failed = (pl.col("status") == "failed").any()
    answers = (
        rows.group_by(place, maintain_order=True)
        .agg(
            given=is_unit.sum(),
            kind=pl.when(failed).then(pl.lit("failed"))
            .when(is_unit.any()).then(pl.lit("answered"))
            .otherwise(silent.first()),
            right=(is_unit & (pl.col("value") > 0.5)).sum(),
            settled=(is_unit & pl.col("value").is_not_null()).sum(),
            **counts,
        )
        .sort(*ITEM, "candidate", "repeat")
    )  # fmt: skip
    claims = pl.col("settled") + pl.sum_horizontal(UNSETTLED)
    return (
        answers.with_columns(
            claims=claims, checked=pl.col("settled") + pl.col("bad") + pl.col("unverifiable")
        )
        .with_columns(
            precision=_share(pl.col("right"), pl.col("settled"), pl.col("kind") == "answered"),
            **_bounds(),
        )
        .with_columns(
            worst=pl.when(pl.col("kind") == "failed").then("low").otherwise("precision"),
            best=pl.when(pl.col("kind") == "failed").then("high").otherwise("precision"),
        )
    )


def _bounds() -> dict[str, pl.Expr]:
    """What an answer's precision could be; anything where it failed before a fact of it was known."""
    # Repeated and foreign units are no claims of the answer, so no bound takes them for wrong.
    lost = (pl.col("kind") == "failed") & (pl.col("given") == 0)
    heard = pl.col("kind").is_in(["answered", "failed"])
    ends = {"low": pl.col("right"), "high": pl.col("right") + pl.col("claims") - pl.col("settled")}
    return {
        name: pl.when(lost).then(pl.lit(limit)).otherwise(_share(end, pl.col("claims"), heard))
        for (name, end), limit in zip(ends.items(), (0.0, 1.0), strict=True)
    }


def _share(part: pl.Expr, total: pl.Expr, condition: pl.Expr) -> pl.Expr:
    return pl.when(condition & (total > 0)).then(part / total)
