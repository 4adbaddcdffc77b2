"""Juries: the marks of several judges made one, when asked for.

A judge's passes are averaged first, so each judge has one voice. What is missing stays missing: a jury with
fewer marks than its quorum has failed, and bounds say what that could mean.
"""

import hashlib
from collections.abc import Mapping, Sequence

from vivavoce.errors import SelectionError
from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.tables import within

__all__ = ["consensus"]

_THING = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "candidate", "role", "repeat"),
    *("edit", "unit", "ballot"),
)


def consensus(
    marks: Marks, *, metric: str, judges: Sequence[str], rule: str, quorum: int | None = None
) -> Marks:
    """The jury's marks, as rows of a measure per criterion that is in no table.

    Their keys are below 0, and other ones for every jury; its signature follows from those of its judges.
    `judges` are signatures of measures in `marks`. An answer that nobody could mark for the candidate's own
    doing (unanswered, unreadable) is so for the jury. `rule` is mean, median, majority (a mark that more than
    half of those who marked gave) or worst. Fewer marks than `quorum`, by default one of each judge, or no
    majority: failed. Items that one of the judges never marks (`marks.only`) are none of the jury's. Raises
    `SelectionError` where the judges do not share a criterion with one range and direction, or no item.
    """
    import polars as pl

    signature = f"{metric}@{_digest(metric, *judges)[:8]}"
    frames: list[pl.DataFrame] = []
    measures: dict[int, Measure] = {}
    only: dict[int, frozenset[tuple[str, str, str]]] = {}
    for criterion, keys in _shared(marks.measures, judges, metric).items():
        key = -1 - int(_digest(signature, criterion)[:12], 16)
        first = marks.measures[keys[0]]
        own = marks.scores.filter(pl.col("measure_id").is_in(keys))
        if bounds := [marks.only[k] for k in keys if k in marks.only]:
            only[key] = frozenset.intersection(*bounds)
            if not only[key]:
                raise SelectionError(f"{metric}: there is no item of which all its judges mark {criterion}.")
            own = within(own, only[key])
        columns = [name for name in (*_THING, "weight") if name in own.columns]
        voices = own.group_by(*columns, "measure_id").agg(
            value=pl.col("value").mean(),
            status=pl.when(pl.col("value").is_not_null().any())
            .then(pl.lit("ok"))
            .otherwise(pl.col("status").last()),
            position=pl.col("position").first(),
        )
        ok = pl.col("value").filter(pl.col("status") == "ok")
        silent = pl.col("status").filter(pl.col("status").is_in(["unanswered", "unreadable"]))
        worst = ok.min() if first.criterion.direction == "higher" else ok.max()
        most = ok.mode().first()
        said = {"mean": ok.mean(), "median": ok.median(), "worst": worst, "majority": most}[rule]
        enough = ok.len() >= (len(keys) if quorum is None else quorum)
        if rule == "majority":
            enough &= (ok == most).sum() * 2 > ok.len()
        counted = voices.group_by(columns).agg(
            value=pl.when((silent.len() == 0) & enough).then(said),
            status=pl.when(silent.len() > 0).then(silent.first()).when(enough).then(pl.lit("ok"))
            .otherwise(pl.lit("failed")),
            position=pl.col("position").first(),
            n=ok.len(),
        )  # fmt: skip
        short = "majority" if rule == "majority" else "quorum"
        lost = pl.format(f"{{}} of {len(keys)} judges marked, and there is no {short}", "n")
        jury = counted.select(
            *columns, "value", "status", "position",
            metric=pl.lit(metric), criterion=pl.lit(criterion), rater=pl.lit("jury"),
            pass_no=pl.lit(1, pl.Int64), measure_id=pl.lit(key, pl.Int64), parts=pl.lit(None, pl.String),
            note=pl.when(pl.col("status") == "failed").then(lost),
        )  # fmt: skip
        frames.append(jury.select(marks.scores.columns).sort(*_THING))
        measures[key] = Measure(metric=metric, signature=signature, rater="jury", criterion=first.criterion)
    return marks._replace(scores=pl.concat(frames), measures=measures, only=only)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _shared(measures: Mapping[int, Measure], judges: Sequence[str], metric: str) -> dict[str, list[int]]:
    """The keys of the judges' measures by criterion, for the criteria that all have."""
    found: dict[str, dict[str, int]] = {}
    for key, m in measures.items():
        if m.signature in judges:
            found.setdefault(m.criterion.criterion, {})[m.signature] = key
    shared = {name: by for name, by in found.items() if len(by) == len(set(judges))}
    if not shared:
        raise SelectionError(f"{metric}: its judges have no criterion in common.")
    for name, by in shared.items():
        declared = {(m.low, m.high, m.direction, m.if_unanswered) for key in by.values()
                    for m in [measures[key].criterion]}  # fmt: skip
        if len(declared) > 1:
            raise SelectionError(
                f"{metric}: its judges do not declare {name} alike (range, direction, silence), so their "
                "marks make no one mark."
            )
    return {name: [by[judge] for judge in dict.fromkeys(judges)] for name, by in shared.items()}
