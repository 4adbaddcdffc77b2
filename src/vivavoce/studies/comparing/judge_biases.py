"""What a judge may favour beside the better answer: the one shown first, the longer one, its own family's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce.core.records import Measure, ModelCard
from vivavoce.studies.answers import N_WORDS
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import (
    Estimate,
    by_coefficient,
    by_difference,
    by_jackknife,
    by_mean,
    counts_text,
    mean_excess,
)
from vivavoce.studies.rater_scores import (
    Entries,
    Rater,
    RaterRow,
    RaterScores,
    by_benchmark,
    card_part,
    label_mismatch,
    labels_of,
    model_of,
    rater_name,
    rater_row,
    raters_of,
)
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.text import percent

UNKNOWN = "difference, cause unknown"
NO_BALLOTS = "no ballots: answers were scored one at a time"


@card_part
def position_bias(scores: ScoreTable) -> Entries:
    """Of two responses shown together, how often the one shown first wins; and how often order decides.

    From ballots in which both orders of a pair were shown: `first_shown`, the share of wins (a tie is half)
    of the response shown first, mean over the two orders, which is .5 without such a habit; `inconsistent`,
    the share of pairs that do not come out the same in both orders. The unit is the pair, the interval is by
    group. A rater without ballots has one row that says so.
    """
    short = labels(scores.measures)
    on_ballot = (pl.col("edit") == "") & (pl.col("ballot") != "") & pl.col("position").is_not_null()
    ballots = scores.scores.filter(on_ballot & (pl.col("status") == "ok"))
    for key in (key for rater in raters_of(scores) for key in rater.keys.values()):
        measure = scores.measures[key]
        ratings = ballots.filter(pl.col("measure_id") == key)
        if not ratings.height:
            yield rater_row("position", "", measure, figure="first_shown", reason=NO_BALLOTS)
            continue
        pairs, name = _both_orders(ratings, measure), short[key_of(measure)]
        for benchmark in ratings["benchmark"].unique().sort():
            of_benchmark = pairs.filter(pairs["benchmark"] == benchmark)
            rows = list(_position_rows(RaterScores(benchmark, measure, of_benchmark, name)))
            yield from rows
            yield f"{name} on {benchmark}: {_position_text(*rows)}"


def _both_orders(ratings: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Pairs of responses that were shown in both orders: `first`, how often the first shown won.

    `inconsistency` is above 0 where the two orders do not come out the same.
    """
    item = ["benchmark", "item", "variant", "group"]
    ballot = [*item, "ballot", "pass_no"]
    response = pl.concat_str("candidate", "repeat", separator="\n")
    ballots = ratings.select(*ballot, "position", "value", response=response)
    better = pl.col("value") - pl.col("value_2")
    if measure.criterion.direction == "lower":
        better = -better
    return (
        ballots.join(ballots, on=ballot, suffix="_2")
        .filter(pl.col("position") < pl.col("position_2"))
        .with_columns(
            won=0.5 + 0.5 * pl.when(better.abs() < 1e-9).then(0.0).otherwise(better.sign()),
            straight=pl.col("response") < pl.col("response_2"),
            # One name for the pair, whichever of the two was shown first.
            a=pl.min_horizontal("response", "response_2"),
            b=pl.max_horizontal("response", "response_2"),
        )
        .group_by(*item, "a", "b", "straight")
        .agg(exact_mean(pl.col("won")))
        .group_by(*item, "a", "b")
        .agg(
            orders=pl.len(),
            first=exact_mean(pl.col("won")),
            # What the first shown gets in one order the other response must lose in the other.
            inconsistency=(pl.col("won").sum() - 1).abs(),
        )
        # In one order alone, being shown first cannot be told from being better.
        .filter(pl.col("orders") == 2)
        .sort("benchmark", "item", "variant", "a", "b")
    )


def _position_rows(scored: RaterScores) -> Iterator[RaterRow]:
    pairs = scored.rows
    inconsistent = (pairs["inconsistency"] > 1e-9).cast(float)
    for figure, values in (("first_shown", pairs["first"]), ("inconsistent", inconsistent)):
        estimate = Estimate(0, 0, reason="no pair was shown in both orders")
        if pairs.height:
            estimate = by_mean(values.to_numpy(), pairs["group"].to_numpy(), low=0.0, high=1.0)
        yield scored.row("position", estimate, figure=figure, contrast="both orders")


def _position_text(first: RaterRow, order: RaterRow) -> str:
    if first.value is None:
        return f"{first.reason}."
    return (
        f"the answer shown first wins {figure_text(first)} of "
        f"{counts_text(first, 'pair')} that were shown in both orders; "
        f"{percent(order.value or 0.0)} come out otherwise in the other order."
    )


@card_part
def length_bias(scores: ScoreTable) -> Entries:
    """Within an item, do longer responses get higher scores? Correlation of ranks inside each item.

    Words are what blanks part, thinking included where it was recorded as response. Scores and lengths are
    ranked inside the item, ties sharing their mean rank, and centred there; candidates' responses alone.
    The figure does not say why: a long response may be a better one.
    """
    raters = raters_of(scores)
    if scores.answers is None or not raters:
        return
    counted = scores.answers(*RESPONSE, edited=False, words=N_WORDS.cast(pl.Float64))
    words = counted.filter(pl.col("words").is_not_null())
    for rater in raters:
        estimates = [
            (scored, _length_correlation(scored.rows, words)) for scored in by_benchmark(scores, rater)
        ]
        rows = [scored.row("length", e, figure="spearman") for scored, e in estimates if e]
        yield from rows
        yield from _length_sentences(rows, rater_name(scores, rater))


def _length_correlation(rows: pl.DataFrame, words: pl.DataFrame) -> Estimate | None:
    """Spearman's correlation of scores and words inside items; null where no candidate was scored."""
    item = ["item", "variant"]
    ranks = (
        rows.filter(pl.col("role") == "candidate")
        .join(words, on=list(RESPONSE), validate="1:1", maintain_order="left")
        # Equal scores must tie, whatever their last digit.
        .with_columns(pl.col("value").round(9))
        .with_columns(pl.col("value", "words").rank().over(item))
        .with_columns(pl.col(c) - pl.col(c).mean().over(item) for c in ("value", "words"))
    )
    if not ranks.height:
        return None
    table = ranks.select("value", "words").to_numpy()
    undefined = "inside the questions scores or lengths do not vary"
    return by_coefficient("pearson", table, ranks["group"].to_numpy(), undefined=undefined)


def _length_sentences(rows: Sequence[RaterRow], name: str) -> Iterator[str]:
    for benchmark in dict.fromkeys(r.benchmark for r in rows):
        defined = [r for r in rows if r.benchmark == benchmark and r.value is not None]
        if defined:
            correlations = ", ".join(f"{r.criterion} {figure_text(r)}" for r in defined)
            most = max(defined, key=lambda r: r.n_units or 0)
            yield (
                f"{name} on {benchmark}: inside a question marks and numbers of words correlate, by ranks: "
                f"{correlations} ({counts_text(most, 'response')})."
            )


@card_part
def self_preference(scores: ScoreTable) -> Entries:
    """Does a judge score its own family's responses higher than it should?

    With labels: judge less people on responses of its own family, less the same on all others, so that
    responses which people too find better do not count (`against people`). Without labels: its mean of its
    own family less that of the others, item by item, a `difference, cause unknown`: the family may just be
    better. Families are those of `scores.cards`, the judge's under its model's name; candidates without one
    are left out and none is guessed.
    """
    for rater in raters_of(scores):
        for scored in by_benchmark(scores, rater):
            row = scored.row("family", figure="own_family")
            sides = _families(scores.cards or {}, rater, scored.rows)
            if isinstance(sides, str):
                yield replace(row, reason=sides)
                continue
            contrast, estimate = _own_family(scores, scored, sides)
            row = replace(row, contrast=contrast, **estimate._asdict())
            yield row
            if row.value is not None:
                yield (
                    f"{scored.name} on {scored.benchmark}: answers of its own family "
                    f"({', '.join(sides.family)}) get {figure_text(row, '+.2f')} against "
                    f"the others ({counts_text(row, 'unit')}; {contrast})."
                )


class _Sides(NamedTuple):
    """Candidates of the judge's family, and those of others."""

    family: list[str]
    others: list[str]


def _families(cards: Mapping[str, ModelCard], rater: Rater, rows: pl.DataFrame) -> _Sides | str:
    """The candidates on both sides, or why there is nothing to compare."""
    model = model_of(rater)
    card = cards.get(model)
    if card is None or card.family is None:
        return f"the family of {model or 'the judge'} is not known: no model card names it"
    sides = _Sides([], [])
    for name in rows.filter(rows["role"] == "candidate")["candidate"].unique().sort():
        family = cards[name].family if name in cards else None
        if family:
            (sides.family if family == card.family else sides.others).append(name)
    if not sides.family:
        return f"no candidate is known to be of the judge's family, {card.family}"
    if not sides.others:
        return "no candidate is known to be of another family"
    return sides


def _own_family(scores: ScoreTable, part: RaterScores, sides: _Sides) -> tuple[str, Estimate]:
    """The contrast that the run allows, and the difference between the two sides in it."""
    candidates = part.rows.filter(pl.col("candidate").is_in([*sides.family, *sides.others]))
    # People are the better control: a family may really write the better responses.
    if label_mismatch(scores, part.measure) is None:
        labelled = labels_of(scores, part.measure.criterion.criterion)
        people = labelled.group_by(*RESPONSE).agg(exact_mean(pl.col("label")))
        joined = candidates.join(people, on=list(RESPONSE), validate="1:1", maintain_order="left")
        differences = (joined["value"] - joined["label"]).to_numpy()
        in_family = joined["candidate"].is_in(sides.family).to_numpy()
        return "against people", by_jackknife(
            lambda at: mean_excess(differences[at], in_family[at]),
            joined["group"].to_numpy(),
            scale="raw",
            undefined="no labels of one of the two sides",
        )
    items = (
        part._replace(rows=candidates)
        .means()
        .with_columns(in_family=pl.col("candidate").is_in(sides.family))
        .group_by("item", "variant", "group")
        .agg(
            family=exact_mean(pl.col("value").filter(pl.col("in_family"))),
            others=exact_mean(pl.col("value").filter(~pl.col("in_family"))),
        )
        .drop_nulls()
        .sort("item", "variant")
    )
    return UNKNOWN, by_difference((items["family"] - items["others"]).to_numpy(), items["group"].to_numpy())
