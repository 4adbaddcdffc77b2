"""Juries: the scores of several judges combined into one.

A judge's passes are averaged first, so each judge has one voice. What is missing stays missing: a jury with
fewer scores than its quorum has failed, and bounds say what that could mean.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Measure
from vivavoce.core.tables import restrict_to_items
from vivavoce.studies.score_table import ScoreTable

_SCORED = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "candidate", "role", "repeat"),
    *("edit", "unit", "ballot"),
)
"""What a jury scores, and a voice is about."""


def consensus(
    scores: ScoreTable, *, metric: str, judges: Sequence[str], rule: str, quorum: int | None = None
) -> ScoreTable:
    """The jury's scores, as rows of a measure per criterion that is in no table.

    Their keys are below 0, and other ones for every jury; its signature follows from those of its judges.
    `judges` are signatures of measures in `scores`. A response that nobody could score for the candidate's
    own doing (unanswered, unreadable) is so for the jury. `rule` is mean, median, majority (a score that more
    than half of those who scored gave) or worst. Fewer scores than `quorum`, by default one of each judge, or
    no majority: failed. Items that one of the judges never scores (`scores.only`) are none of the jury's.
    Raises `SelectionError` where the judges do not share a criterion with one range and direction, or no
    item.
    """
    signature = f"{metric}@{_digest(metric, *judges)[:8]}"
    frames: list[pl.DataFrame] = []
    measures: dict[int, Measure] = {}
    only: dict[int, frozenset[tuple[str, str, str]]] = {}
    for criterion, keys in _shared_criteria(scores.measures, judges, metric).items():
        # Below 0, where no key of a stored measure is.
        key = -1 - int(_digest(signature, criterion)[:12], 16)
        measure = Measure(
            metric=metric, signature=signature, rater="jury", criterion=scores.measures[keys[0]].criterion
        )
        rows = scores.scores.filter(pl.col("measure_id").is_in(keys))
        if bounds := [scores.only[k] for k in keys if k in scores.only]:
            only[key] = frozenset.intersection(*bounds)
            if not only[key]:
                raise SelectionError(f"{metric}: there is no item of which all its judges mark {criterion}.")
            rows = restrict_to_items(rows, only[key])
        vote = _Vote(rule, len(keys), len(keys) if quorum is None else quorum)
        jury = _jury_rows(rows, measure, vote).with_columns(measure_id=pl.lit(key, pl.Int64))
        frames.append(jury.select(scores.scores.columns).sort(*_SCORED))
        measures[key] = measure
    return scores._replace(scores=pl.concat(frames), measures=measures, only=only)


class _Vote(NamedTuple):
    """How the voices of so many judges become one score."""

    rule: str
    n_judges: int
    quorum: int

    def value(self, ok: pl.Expr, criterion: Criterion) -> pl.Expr:
        """The jury's score of `ok`, the scores of those who scored."""
        match self.rule:
            case "mean":
                return ok.mean()
            case "median":
                return ok.median()
            case "worst":
                return ok.min() if criterion.direction == "higher" else ok.max()
            case _:
                return ok.mode().first()

    def enough(self, ok: pl.Expr) -> pl.Expr:
        """Whether the quorum has scored, and a majority alike where the rule needs one."""
        quorate = ok.len() >= self.quorum
        if self.rule != "majority":
            return quorate
        # More than half of those who scored: the most frequent of three different scores is none.
        return quorate & ((ok == ok.mode().first()).sum() * 2 > ok.len())


def _jury_rows(rows: pl.DataFrame, measure: Measure, vote: _Vote) -> pl.DataFrame:
    """The jury's score rows, all columns but the key."""
    columns = [name for name in (*_SCORED, "weight") if name in rows.columns]
    # Passes first: a judge that scored twice has one voice all the same.
    voices = rows.group_by(*columns, "measure_id").agg(
        value=pl.col("value").mean(),
        status=pl.when(pl.col("value").is_not_null().any())
        .then(pl.lit("ok"))
        .otherwise(pl.col("status").last()),
        position=pl.col("position").first(),
    )
    ok = pl.col("value").filter(pl.col("status") == "ok")
    silent = pl.col("status").filter(pl.col("status").is_in(["unanswered", "unreadable"]))
    is_enough = vote.enough(ok)
    counted = voices.group_by(columns).agg(
        value=pl.when((silent.len() == 0) & is_enough).then(vote.value(ok, measure.criterion)),
        # Silence is the candidate's doing and the same for every judge, so one report settles it.
        status=pl.when(silent.len() > 0)
        .then(silent.first())
        .when(is_enough)
        .then(pl.lit("ok"))
        .otherwise(pl.lit("failed")),
        position=pl.col("position").first(),
        n=ok.len(),
    )
    lacking = "majority" if vote.rule == "majority" else "quorum"
    note = pl.format(f"{{}} of {vote.n_judges} judges marked, and there is no {lacking}", "n")
    return counted.with_columns(
        metric=pl.lit(measure.metric),
        criterion=pl.lit(measure.criterion.criterion),
        rater=pl.lit("jury"),
        pass_no=pl.lit(1, pl.Int64),
        parts=pl.lit(None, pl.String),
        note=pl.when(pl.col("status") == "failed").then(note),
    )


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _shared_criteria(
    measures: Mapping[int, Measure], judges: Sequence[str], metric: str
) -> dict[str, list[int]]:
    """The keys of the judges' measures by criterion, for the criteria that all have."""
    keys: dict[str, dict[str, int]] = {}
    for key, m in measures.items():
        if m.signature in judges:
            keys.setdefault(m.criterion.criterion, {})[m.signature] = key
    shared = {name: by_judge for name, by_judge in keys.items() if len(by_judge) == len(set(judges))}
    if not shared:
        raise SelectionError(f"{metric}: its judges have no criterion in common.")
    for name, by_judge in shared.items():
        criteria = [measures[key].criterion for key in by_judge.values()]
        if not _declared_alike(criteria):
            raise SelectionError(
                f"{metric}: its judges do not declare {name} alike (range, direction, silence), so their "
                "marks make no one mark."
            )
    return {name: [by_judge[judge] for judge in dict.fromkeys(judges)] for name, by_judge in shared.items()}


def _declared_alike(criteria: Sequence[Criterion]) -> bool:
    return len({(c.low, c.high, c.direction, c.if_unanswered) for c in criteria}) == 1
