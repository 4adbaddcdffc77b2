"""What a judge may favour beside the better answer: the one shown first, and its own family."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vivavoce.models.cards import ModelCard
from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.studies.examined import RESPONSE, Examiner, Part, examiners, model_of, places, row
from vivavoce.studies.figures import Row, by_jackknife, by_mean, ends, less_others
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.labelled import given, unlike
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["family", "position"]

UNKNOWN = "difference, cause unknown"


def position(marks: Marks) -> Part:
    """Of two answers shown together, how often the one shown first wins; and how often order decides.

    From ballots in which both orders of a pair were shown: `first_shown`, the share of wins (a tie is half)
    of the answer shown first, mean over the two orders, which is .5 without such a habit; `inconsistent`, the
    share of pairs that do not come out the same in both orders. The unit is the pair, the interval is by
    group. An examiner without ballots has one row that says so.
    """
    import polars as pl

    made = Part([], [])
    short = labels(marks.measures)
    ballots = marks.scores.filter(
        (pl.col("edit") == "") & (pl.col("ballot") != "") & (pl.col("status") == "ok")
    )
    for examiner in examiners(marks):
        for key in examiner.keys.values():
            measure = marks.measures[key]
            own = ballots.filter((pl.col("measure_id") == key) & pl.col("position").is_not_null())
            if not own.height:
                reason = "no ballots: answers were marked one at a time"
                made.rows.append(row("position", "", measure, figure="first_shown", reason=reason))
                continue
            pairs = _both_orders(own, measure)
            for benchmark in own["benchmark"].unique().sort():
                found = list(
                    _of_pairs(str(benchmark), measure, pairs.filter(pairs["benchmark"] == benchmark))
                )
                made.rows.extend(found)
                made.said.append(f"{short[key_of(measure)]} on {benchmark}: {_said_of(*found)}")
    return made


def _both_orders(own: "pl.DataFrame", measure: Measure) -> "pl.DataFrame":
    """Pairs of answers that were shown in both orders: how often the first shown won, and whether alike."""
    import polars as pl

    who = pl.concat_str("candidate", "repeat", separator="\n")
    shown = own.select(
        "benchmark", "item", "variant", "group", "ballot", "pass_no", "position", "value", who=who
    )
    better = pl.col("value") - pl.col("value_2")
    if measure.criterion.direction == "lower":
        better = -better
    ballot = ["benchmark", "item", "variant", "group", "ballot", "pass_no"]
    return (
        shown.join(shown, on=ballot, suffix="_2")
        .filter(pl.col("position") < pl.col("position_2"))
        .with_columns(
            won=0.5 + 0.5 * pl.when(better.abs() < 1e-9).then(0.0).otherwise(better.sign()),
            straight=pl.col("who") < pl.col("who_2"),
            a=pl.min_horizontal("who", "who_2"),
            b=pl.max_horizontal("who", "who_2"),
        )
        .group_by("benchmark", "item", "variant", "group", "a", "b", "straight")
        .agg(pl.col("won").mean())
        .group_by("benchmark", "item", "variant", "group", "a", "b")
        .agg(
            orders=pl.len(),
            first=pl.col("won").mean(),
            # What the first shown gets in one order the other answer must lose in the other.
            apart=(pl.col("won").sum() - 1).abs(),
        )
        .filter(pl.col("orders") == 2)
        .sort("benchmark", "item", "variant", "a", "b")
    )


def _of_pairs(benchmark: str, measure: Measure, pairs: "pl.DataFrame") -> Iterator[Row]:
    groups = pairs["group"].to_numpy()
    unlike = (pairs["apart"] > 1e-9).cast(float)
    for figure, values in (("first_shown", pairs["first"]), ("inconsistent", unlike)):
        n = {"n_units": pairs.height, "n_groups": pairs["group"].n_unique()}
        shared = row("position", benchmark, measure, figure=figure, contrast="both orders", **n)
        if not pairs.height:
            yield shared | {"reason": "no pair was shown in both orders"}
        else:
            yield shared | by_mean(values.to_numpy(), groups, low=0.0, high=1.0)


def _said_of(first: Row, order: Row) -> str:
    if first["value"] is None:
        return f"{first['reason']}."
    on = f"{count(first['n_units'], 'pair')} in {count(first['n_groups'], 'case')}"
    return (
        f"the answer shown first wins {first['value']:.2f}{ends(first)} of {on} that were shown in both "
        f"orders; {100 * order['value']:.0f} % come out otherwise in the other order."
    )


def family(marks: Marks) -> Part:
    """Does a judge mark its own family's answers higher than it should?

    With labels: judge less people on answers of its own family, less the same on all others, so that answers
    which people too find better do not count (`against people`). Without labels: its mean of its own family
    less that of the others, question by question, a `difference, cause unknown`: the family may just be
    better. Families are those of `marks.cards`, the judge's under its model's name; candidates without one
    are left out and none is guessed.
    """
    made = Part([], [])
    short = labels(marks.measures)
    known = marks.cards or {}
    for examiner in examiners(marks):
        for criterion, benchmark, measure, part in places(marks, examiner):
            place = row("family", benchmark, measure, figure="own_family")
            own, others, reason = _families(known, examiner, part)
            if reason:
                made.rows.append(place | {"reason": reason})
                continue
            found = place | _own_family(marks, criterion, part, own, others, measure)
            made.rows.append(found)
            if found["value"] is None:
                continue
            on = f"{count(found['n_units'], 'unit')} in {count(found['n_groups'], 'case')}"
            made.said.append(
                f"{short[key_of(measure)]} on {benchmark}: answers of its own family ({', '.join(own)}) get "
                f"{found['value']:+.2f}{ends(found, '+.2f')} against the others ({on}; {found['contrast']})."
            )
    return made


def _families(
    known: Mapping[str, ModelCard], examiner: Examiner, part: "pl.DataFrame"
) -> tuple[list[str], list[str], str | None]:
    """Candidates of the judge's family, those of others, and why there is nothing to compare."""
    model = model_of(examiner)
    card = known.get(model)
    if card is None or card.family is None:
        return [], [], f"the family of {model or 'the judge'} is not known: no model card names it"
    names = part.filter(part["role"] == "candidate")["candidate"].unique().sort()
    named = {name: known[name].family for name in names if name in known and known[name].family}
    own = [name for name, of in named.items() if of == card.family]
    others = [name for name in named if name not in own]
    if not own:
        return [], [], f"no candidate is known to be of the judge's family, {card.family}"
    if not others:
        return [], [], "no candidate is known to be of another family"
    return own, others, None


def _own_family(
    marks: Marks, criterion: str, part: "pl.DataFrame", own: list[str], others: list[str], measure: Measure
) -> Row:
    import polars as pl

    candidates = part.filter(pl.col("candidate").is_in([*own, *others]))
    if unlike(marks, measure) is None:
        people = given(marks, criterion).group_by(*RESPONSE).agg(pl.col("label").mean())
        both = candidates.join(people, on=list(RESPONSE), validate="1:1", maintain_order="left")
        apart = (both["value"] - both["label"]).to_numpy()
        mine = both["candidate"].is_in(own).to_numpy()
        found = by_jackknife(
            lambda at: less_others(apart[at], mine[at]), both["group"].to_numpy(), scale="raw",
            undefined="no labels of one of the two sides",
        )  # fmt: skip
        return {"contrast": "against people", **found}
    sides = (
        candidates.with_columns(mine=pl.col("candidate").is_in(own))
        .group_by("item", "variant", "group", "candidate", "mine")
        .agg(pl.col("value").mean())
        .group_by("item", "variant", "group")
        .agg(
            own=pl.col("value").filter(pl.col("mine")).mean(),
            other=pl.col("value").filter(~pl.col("mine")).mean(),
        )
        .drop_nulls()
        .sort("item", "variant")
    )
    return {
        "contrast": UNKNOWN,
        **by_mean((sides["own"] - sides["other"]).to_numpy(), sides["group"].to_numpy()),
    }
