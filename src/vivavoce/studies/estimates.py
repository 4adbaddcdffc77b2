"""Estimates: what each candidate scored on each criterion, how sure that is, and what is missing from it.

The default is the mean over items, or the pooled figure of a criterion that is pooled. Asked for, the bad end
stands beside it: the worst of k answers, the worst share of the questions, and the mean under vetoes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.records import Finding, Measure
from vivavoce.studies import Marks, by_answer, by_repeat, over_repeats
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.pooling import counts
from vivavoce.studies.vetoes import BadEnds, RedLine, overlaid, share_no_format
from vivavoce.studies.views import mean_of, pooled_of, tail_of, worst_of
from vivavoce.studies.words import HEADLINES, count, sampled
from vivavoce.tables import within

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "estimates"]

COLUMNS = (
    *("benchmark", "candidate", "role", "metric", "criterion", "rater", "view", "estimate", "low", "high"),
    *("set_low", "set_high", "bound_low", "bound_high", "n_items", "n_groups", "n_responses"),
    *("n_unanswered", "n_unreadable", "n_failed", "n_vetoed", "coverage", "reason", "signature"),
)
ONE_TEXT = (
    "its repeats of every question are one text: a worst one tells of the examiner, not of the candidate"
)


class _Asked(NamedTuple):
    """The bad ends asked for, the red lines with their marks, and whose repeats are all one text."""

    bad: BadEnds
    lines: tuple[RedLine, ...]
    identical: frozenset[str]


def estimates(
    marks: Marks, items: "pl.DataFrame", bad: BadEnds | None = None, lines: Sequence[RedLine] = ()
) -> Finding:
    """One row of `COLUMNS` per benchmark, criterion, view and candidate, the best first.

    `items` are the exam's, which say what was to be expected: coverage is the share of (items of the formats
    marked) x (the candidate's repeats) whose status is ok. Where several candidates were all asked an item
    less often than others, that is the exam's design and no gap. `view` is mean or pooled; and, for what
    `bad` asks, worst@k, tail@share, and veto with the red lines `lines`. `low` and `high` are the 95%
    interval (Wilson with effective size, or t), null with one group; `set_…` what the failed marks could make
    of the estimate, `bound_…` that with sampling error. `n_vetoed` counts the answers that crossed a red
    line, null in other views. `reason` says why a figure is null, or what was left out of it.
    """
    import polars as pl

    asked = _Asked(bad or BadEnds(), tuple(lines), marks.identical)
    rows: list[dict[str, Any]] = []
    for key, measure in marks.measures.items():
        marked = marks.scores.filter(pl.col("measure_id") == key)
        for (benchmark,), part in marked.group_by("benchmark", maintain_order=True):
            formats = part.get_column("format").unique().to_list()
            exam = items.filter((pl.col("benchmark") == benchmark) & pl.col("format").is_in(formats))
            exam = within(exam, marks.only.get(key))
            expected = {
                str(role): _repeats_of(exam, own)
                for (role,), own in part.group_by("role", maintain_order=True)
            }
            better = -1 if measure.criterion.direction == "higher" else 1
            made = [{name: r[name] for name in COLUMNS} for r in _rows(part, measure, expected, asked)]
            views = list(dict.fromkeys(row["view"] for row in made))
            made.sort(
                key=lambda r: (
                    views.index(r["view"]),
                    r["estimate"] is None,
                    better * (r["estimate"] or 0.0),
                    r["candidate"],
                )
            )
            rows.extend(made)
    text = "\n".join(map(_sentence, rows))
    notes = (*_notes(marks, asked), *sampled(items))
    return Finding(study="estimates", rows=tuple(rows), text=text, notes=notes)


def _notes(marks: Marks, asked: _Asked) -> tuple[str, ...]:
    """What has no row in a view that was asked for."""
    measures = marks.measures
    single, left_out = by_answer(measures)
    notes = []
    if asked.bad.worst_at is not None or asked.bad.tail is not None or asked.lines:
        notes += [f"Bad ends are of values by answer. {line}" for line in left_out]
    endless = [f"{m.metric}, {m.criterion.criterion}" for m in single.values() if m.criterion.worst is None]
    if asked.lines and endless:
        notes.append(f"No veto where a scale has no worst end: {'; '.join(dict.fromkeys(endless))}.")
    short = labels(measures)
    for line in asked.lines:
        apart = [
            short[key_of(m)]
            for key, m in single.items()
            if share_no_format(line, marks.scores.filter(measure_id=key))
        ]
        if apart:
            on = f"{line.veto.metric} {line.veto.op} {line.veto.limit:g}"
            notes.append(f"No veto by {on} on {', '.join(apart)}: they mark no format in common.")
    return tuple(notes)


def _sentence(row: Mapping[str, Any]) -> str:
    """One candidate on one criterion: the estimate, how sure it is, and what is missing from it."""
    by = f" by {row['rater']}" if row["rater"] else ""
    view = "" if row["view"] in HEADLINES else f", {row['view']}"
    what = f"{row['metric']}, {row['criterion']}{by} on {row['benchmark']}{view}: {row['candidate']}"
    if row["estimate"] is None:
        return f"{what}: {row['reason']}."
    ends = "" if row["low"] is None else f" ({row['low']:.3f} to {row['high']:.3f})"
    missing = [
        f"{row[f'n_{s}']} {s}" for s in ("unanswered", "unreadable", "failed", "vetoed") if row[f"n_{s}"]
    ]
    missing += [row["reason"]] if view and row["reason"] else []
    return (
        f"{what} {row['estimate']:.3f}{ends}, {count(row['n_items'], 'question')} in "
        f"{count(row['n_groups'], 'case')}{'; ' if missing else ''}{', '.join(missing)}."
    )


def _repeats_of(exam: "pl.DataFrame", part: "pl.DataFrame") -> "pl.Series":
    """For each item of the exam the most repeats that any candidate has of it, null where nobody has one.

    `part` holds those of one role: a ceiling may have been made in more repeats than anybody was asked. All
    null with a single candidate, whose gaps could not be told from the design.
    """
    import polars as pl

    if part.get_column("candidate").n_unique() == 1:
        return pl.repeat(None, exam.height, dtype=pl.Int64, eager=True)
    key = ["item", "variant"]
    own = part.filter(pl.col("edit") == "").group_by(*key, "candidate").agg(pl.col("repeat").n_unique())
    return exam.join(own.group_by(key).agg(pl.col("repeat").max()), on=key, how="left").get_column("repeat")


def _rows(
    part: "pl.DataFrame", measure: Measure, expected: "Mapping[str, pl.Series]", asked: _Asked
) -> Iterator[dict[str, Any]]:
    """The rows of one criterion on one benchmark, in every view."""
    import polars as pl

    pools = measure.criterion.pool != "mean"
    viewed = _pooled(part, measure) if pools else _averaged(part, measure, asked)
    for (benchmark, candidate, role), own in part.group_by(
        "benchmark", "candidate", "role", maintain_order=True
    ):
        answers = own.filter(pl.col("edit") == "").unique(["item", "variant", "repeat", "status"])
        found = {
            s: answers.filter(pl.col("status") == s).height for s in ("unanswered", "unreadable", "failed")
        }
        # An answer that was marked several times, in passes or on ballots, is covered as far as they are ok.
        several = own.filter(pl.col("edit") == "").group_by("item", "variant", "repeat")
        n_ok = float(several.agg(ok=(pl.col("status") == "ok").mean()).get_column("ok").sum())
        repeats = answers.get_column("repeat").n_unique()
        n_expected = int(expected[str(role)].fill_null(repeats).clip(upper_bound=repeats).sum())
        nothing = "every mark failed" if found["failed"] else "nothing was answered, and silence is set aside"
        shared = {
            "benchmark": benchmark,
            "candidate": candidate,
            "role": role,
            "metric": measure.metric,
            "criterion": measure.criterion.criterion,
            "rater": measure.rater,
            "signature": measure.signature,
            "n_responses": answers.unique(["item", "variant", "repeat"]).height,
            **{f"n_{status}": n for status, n in found.items()},
            "n_vetoed": None,
            "coverage": n_ok / n_expected if n_expected else None,
        }
        for figures in viewed(str(candidate), bool(found["failed"]), nothing):
            yield shared | figures


Viewed = Callable[[str, bool, str], Iterator[dict[str, Any]]]
"""From a candidate, whether marks of it failed, and why it may have no value: the figures of each view."""


def _pooled(part: "pl.DataFrame", measure: Measure) -> Viewed:
    import polars as pl

    counted = counts(part, measure.criterion)

    def viewed(candidate: str, missing: bool, nothing: str) -> Iterator[dict[str, Any]]:
        own = None if counted.items is None else counted.items.filter(pl.col("candidate") == candidate)
        found = pooled_of(own, counted, measure.criterion, missing=missing, nothing=nothing)
        yield {"view": "pooled"} | found

    return viewed


def _averaged(part: "pl.DataFrame", measure: Measure, asked: _Asked) -> Viewed:
    import polars as pl

    c = measure.criterion
    answers = by_repeat(part, c)
    values = over_repeats(answers)
    lines = [line for line in asked.lines if line.measure != measure and not share_no_format(line, part)]
    vetoed = overlaid(answers, lines, c) if lines and c.worst is not None else None

    def viewed(candidate: str, missing: bool, nothing: str) -> Iterator[dict[str, Any]]:
        mine = pl.col("candidate") == candidate
        own = values.filter(mine)
        yield {"view": "mean"} | mean_of(own, c, missing=missing, nothing=nothing)
        if asked.bad.worst_at is not None:
            row = worst_of(answers.filter(mine), c, k=asked.bad.worst_at, missing=missing)
            same = [ONE_TEXT] if candidate in asked.identical and row["n_items"] else []
            row["reason"] = "; ".join(filter(None, (row["reason"], *same))) or None
            yield {"view": f"worst@{asked.bad.worst_at}"} | row
        if asked.bad.tail is not None:
            row = tail_of(own, c, share=asked.bad.tail, missing=missing, nothing=nothing)
            yield {"view": f"tail@{asked.bad.tail:g}"} | row
        if vetoed is not None:
            yield {"view": "veto"} | _under_veto(vetoed.filter(mine), measure, missing, nothing)

    return viewed


def _under_veto(answers: "pl.DataFrame", measure: Measure, missing: bool, nothing: str) -> dict[str, Any]:
    """The mean with every answer over a red line at the worst; what is not known to be over it has bounds."""
    import polars as pl

    unknown = answers.filter("open").height
    why = (
        f"{count(unknown, 'answer')} may or may not be over a red line: the marks for it are missing"
        if unknown
        else None
    )
    row = mean_of(over_repeats(answers), measure.criterion, missing=missing or bool(unknown),
                  nothing=why or nothing)  # fmt: skip
    row["reason"] = "; ".join(dict.fromkeys(filter(None, (row["reason"], why)))) or None
    return row | {"n_vetoed": answers.filter(pl.col("crossed")).height}
