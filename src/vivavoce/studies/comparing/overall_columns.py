"""The columns of an overall beside its figure: its rank, and the rates at which answers fail.

Ranks are by the mean of seven formats on the questions that all candidates have scores on. How answers fail
before they are right or wrong (empty, silent, unreadable, naming what is no option) is read from the rows of
marks: the status of an answer and the note of what could not be used.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.ranking import rank_columns
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM, MISSING, counted_value, item_of, weights_of
from vivavoce.studies.text import cases, count

SEVEN = {
    "mcq": "multiple choice",
    "true_false": "true/false",
    "list": "list",
    "short": "short",
    "short_inverse": "short inverse",
    "multi_hop": "multi-hop",
    "multi_hop_inverse": "multi-hop inverse",
}
"""The formats that an overall is the mean of, in the order of the paper's table, and their names."""
ENOUGH = 0.9
"""The share of the questions that others have scores on, above which a candidate is ranked beside them."""


def ranked(values: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The ranks of the candidates that have all seven columns, on the questions that these all have.

    Who lacks a tenth of the questions or more that others have has no rank, and costs the others none.
    """
    observed = values.filter(pl.col("observed").is_not_null())
    complete = (
        observed.group_by("candidate").agg(n=pl.col("format").n_unique()).filter(pl.col("n") == len(SEVEN))
    )
    n_all = observed.select(*ITEM).n_unique()
    counts = dict(observed.group_by("candidate").len().iter_rows())
    short = {
        name: {"reason": f"scores on {counts[name]} of {count(n_all, 'question')}: no rank beside the others"}
        for name in sorted(complete["candidate"])
        if counts[name] <= ENOUGH * n_all
    }
    names = [name for name in sorted(complete["candidate"]) if name not in short]
    if len(names) < 2:
        return short | {name: {"n_candidates": 1, "reason": "one candidate has no rank"} for name in names}
    table = _common(observed, names, "observed")
    shared: dict[str, Any] = {"n_candidates": len(names), "n_common": table.height}
    reason = _why_unranked(table)
    if reason:
        return short | {name: shared | _unranked(table, name, reason) for name in names}
    # By format, so that pairs are tested by the mean of formats that ranks them.
    alone = stats.rank_intervals(table.select(names).to_numpy().T, **_design(table))
    ranks = _under_fillings(alone, values, names)
    return short | {name: shared | place for name, place in _places(names, alone, ranks)}


def _why_unranked(table: pl.DataFrame) -> str | None:
    """Why candidates have no rank on these items; null if they have one."""
    if table["format"].n_unique() < len(SEVEN):
        return f"no {_missing_format(table)} question that all have scores on"
    design = stats.macro_mean(np.zeros(table.height), **_design(table))
    if design.n_groups >= LEAST_DIFFERENT:
        return None
    size = cases(design.n_groups, design.effective_groups)
    return f"{size} that all candidates have scores on: too few to rank"


def _unranked(table: pl.DataFrame, name: str, reason: str) -> dict[str, Any]:
    """The columns of a candidate without a rank; the mean on common items where these have all formats."""
    if table["format"].n_unique() < len(SEVEN):
        return {"reason": reason}
    return {
        "estimate_common": stats.macro_mean(table[name].to_numpy(), **_design(table)).value,
        "reason": reason,
    }


def _places(
    names: Sequence[str], alone: stats.RankIntervals, ranks: stats.RankIntervals
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The columns of each candidate's rank; `alone` leaves the failed scores aside."""
    told_apart = ranks.better | ranks.better.T
    for k, name in enumerate(names):
        tied_with = int(len(names) - 1 - told_apart[k].sum())
        mean = {"estimate_common": float(ranks.means[k]), "tied_with": tied_with}
        yield name, mean | rank_columns(ranks, alone, k)


def _common(values: pl.DataFrame, names: Sequence[str], column: str) -> pl.DataFrame:
    """A row per item that all these candidates have a value for in that column, and a column for each."""
    key = [*item_of(values), "format"]
    rows = values.filter(pl.col("candidate").is_in(list(names)) & pl.col(column).is_not_null())
    wide = rows.pivot("candidate", index=key, values=column, aggregate_function=None)
    return wide.drop_nulls(names).sort("format", "item", "variant")


def _design(table: pl.DataFrame) -> dict[str, Any]:
    """What the items of a table are: their groups, weights and formats."""
    return {
        "groups": table["group"].to_numpy(),
        "weights": weights_of(table),
        "categories": table["format"].to_numpy(),
    }


def _under_fillings(
    observed: stats.RankIntervals, values: pl.DataFrame, names: Sequence[str]
) -> stats.RankIntervals:
    """The ranks with what failed scores leave open; those observed where none failed."""
    ends = values.filter(pl.col("candidate").is_in(list(names)))
    # NaN is no limit; a null value is set aside on both sides.
    unlike = (pl.col("low") != pl.col("high")) | pl.col("low").is_nan() | pl.col("high").is_nan()
    if not ends.select(unlike.any()).item():
        return observed
    low, high = (_common(ends, names, side) for side in ("low", "high"))
    return stats.ranks_under_fillings(
        observed, low.select(names).to_numpy().T, high.select(names).to_numpy().T, **_design(low)
    )


def _missing_format(table: pl.DataFrame) -> str:
    """The first of the seven formats that the table lacks."""
    present = set(table["format"])
    return next(name for form, name in SEVEN.items() if form not in present)


RATES = ("empty", "unanswered", "readable", "invented", "by_text", "by_letter", "by_both")
OF_OPTIONS = {"mcq": "multiple_choice", "list": "list"}
"""Formats whose answers are options, and how the parts of scores name them."""
FORMS = {"by_text": "full", "by_letter": "letter", "by_both": "mixed"}
"""How an answer names its options, and how the parts of scores by cliniqlink(rules=published) name that."""
NO_OPTION = "names no option|no option has the letter|^no option: "
"""What the note of a score says where an answer brought something that is not among the options."""
ANSWER = ("item", "variant", "repeat")


class Share(NamedTuple):
    """So many of so many."""

    n: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; null of nothing."""
        return self.n / self.of if self.of else None


class Answering(NamedTuple):
    """A candidate's answers of one format, or of several; a share is null where nothing tells it.

    `empty` and `unanswered` (empty, refused or withheld) are of the answers that arrived, `readable` and
    `invented` (names what is no option, of multiple choice and lists) of those that were given. `by_text`,
    `by_letter` and `by_both` say of those that were read how they named an option that there is.
    `step_found` is the mean by step_accuracy.
    """

    format: str
    n_answers: int
    n_failed: int
    empty: Share | None
    unanswered: Share | None
    readable: Share | None
    invented: Share | None
    by_text: Share | None
    by_letter: Share | None
    by_both: Share | None
    step_found: float | None

    @property
    def columns(self) -> dict[str, Any]:
        """The figures as columns of a finding."""
        shares = {name: getattr(self, name) for name in RATES}
        return {
            "n_answers": self.n_answers,
            "n_failed": self.n_failed,
            **{name: share.value if share else None for name, share in shares.items()},
            "step_found": self.step_found,
        }


def bare(measure: Measure) -> str:
    """The metric's name without its settings."""
    return measure.metric.split("(")[0]


def answering(
    rows: pl.DataFrame, texts: pl.DataFrame | None, measures: Mapping[int, Measure], *, form: str, by: int
) -> Answering:
    """How the answers of one candidate in one format came, from all its rows of that format.

    `by` is the measure whose statuses count. Scores that were recorded elsewhere tell nothing of silence and
    form: whoever gave them read the answers their own way. `texts` are the responses with `blank`, if
    at hand.
    """
    scores = rows.filter(pl.col("measure_id") == by).unique(ANSWER, maintain_order=True)
    n = dict.fromkeys(("ok", *MISSING), 0) | dict(scores.group_by("status").len().iter_rows())
    n_read = n["ok"] + n["set_aside"]
    n_given = n_read + n["unreadable"]
    scored_in_run = not signed(measures[by].signature).recorded
    # A response that failed has no text, which is not an empty one.
    blank = None if texts is None else texts["blank"].drop_nulls()
    return Answering(
        format=form,
        n_answers=scores.height,
        n_failed=n["failed"],
        empty=None if blank is None else Share(int(blank.sum()), len(blank)),
        unanswered=Share(n["unanswered"], scores.height - n["failed"]) if scored_in_run else None,
        readable=Share(n_read, n_given) if scored_in_run else None,
        invented=_invented(rows, measures, form, n_given) if scored_in_run else None,
        **{name: _named(scores, form, part) for name, part in FORMS.items()},
        step_found=_step_found(rows, measures) if form == "multi_hop_inverse" else None,
    )


def _invented(rows: pl.DataFrame, measures: Mapping[int, Measure], form: str, n_given: int) -> Share | None:
    """The share of answers that name what is no option; null where no measure notes that."""
    if form not in OF_OPTIONS or (form != "mcq" and not _strays_noted(rows, measures)):
        return None
    noted = rows.filter(pl.col("note").str.contains(NO_OPTION))
    return Share(noted.select(ANSWER).n_unique() if noted.height else 0, n_given)


def together(parts: Sequence[Answering]) -> Answering:
    """The answers of several formats as one: shares of all answers, null where a format has none."""

    def pooled(name: str) -> Share | None:
        every = name in ("empty", "unanswered", "readable")
        shares = [getattr(p, name) for p in parts if every or p.format in OF_OPTIONS]
        # A sum over some of the formats would pass for the rate of all.
        if not shares or None in shares:
            return None
        return Share(sum(s.n for s in shares), sum(s.of for s in shares))

    return Answering(
        format="",
        n_answers=sum(p.n_answers for p in parts),
        n_failed=sum(p.n_failed for p in parts),
        **{name: pooled(name) for name in RATES},
        step_found=next((p.step_found for p in parts if p.step_found is not None), None),
    )


def _strays_noted(rows: pl.DataFrame, measures: Mapping[int, Measure]) -> bool:
    """Whether some measure of lists says in its notes which entries are no option."""
    own_measures = [measures[key] for key in rows["measure_id"].unique()]
    return any(
        bare(m) == "list_f1" or (bare(m) == "cliniqlink" and "rules=published" not in m.metric)
        for m in own_measures
    )


def _named(scores: pl.DataFrame, form: str, part: str) -> Share | None:
    """How many answers named their options in this form; null where the parts of scores do not tell."""
    if form not in OF_OPTIONS:
        return None
    scores = scores.filter(pl.col("status") == "ok")
    path = f"$.{OF_OPTIONS[form]}_{part}_match"
    values = scores.select(pl.col("parts").str.json_path_match(path).cast(pl.Float64))["parts"].drop_nulls()
    # If some scores lack the part, the share would be one of the rest alone.
    return Share(int(values.sum()), len(values)) if len(values) == scores.height else None


def _by_name(rows: pl.DataFrame, measures: Mapping[int, Measure], name: str) -> int | None:
    """The measure of that metric among the rows, of several versions the newest; null without one."""
    keys = [key for key in rows["measure_id"].unique().sort() if bare(measures[key]) == name]
    return keys[-1] if keys else None


def _step_found(rows: pl.DataFrame, measures: Mapping[int, Measure]) -> float | None:
    """The share of wrong steps that were found, by question."""
    key = _by_name(rows, measures, "step_accuracy")
    if key is None:
        return None
    scores = rows.filter(pl.col("measure_id") == key)
    values = (
        scores.select(*item_of(scores), y=counted_value(measures[key].criterion))
        .group_by(item_of(scores))
        .agg(exact_mean(pl.col("y")))
    )
    observed = values.drop_nulls("y")
    return stats.exact_mean(observed["y"].to_numpy()) if observed.height else None
