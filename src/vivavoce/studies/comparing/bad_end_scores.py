"""Scores by question in a view other than the mean, so that `compare` can test bad ends as it tests means.

Each question's value under the view takes the place of its scores, and its criterion is named so: "accuracy,
worst@3". All else is as for any criterion: one engine, family, correction and interval. A question with a
score that failed has failed as a whole, since the worst answer may be the one that is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from re import fullmatch

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.row_parts import by_candidate, select_rows, stacked
from vivavoce.studies.score_table import ITEM, SECTION, ScoreTable, by_answer, by_repeat, over_repeats
from vivavoce.studies.text import count
from vivavoce.studies.thresholds import BadEnds, RedLine, apply_vetoes, bad_ends, share_no_format

_PLACE = (*ITEM, "candidate")
_VALUE = (*_PLACE, "value", "failed")


def view_named(text: str) -> BadEnds:
    """What a view's name asks for: "worst@3", or a red line such as "judge[harm] >= 3".

    Raises `SelectionError` for another text, and for a tail, whose mean is of no question alone.
    """
    if worst := fullmatch(r"worst@(\d+)", text.strip()):
        return bad_ends(int(worst[1]), None, ())
    if text.strip().startswith("tail"):
        raise SelectionError(
            "--view compares the worst answers (worst@3) or red lines (METRIC >= LIMIT). A tail is estimated "
            "(`viva score RUN METRIC --tail 0.1`), and not compared: its questions differ by candidate."
        )
    return bad_ends(None, None, [text])


def in_view(scores: ScoreTable, bad: BadEnds, lines: Sequence[RedLine]) -> ScoreTable:
    """The table with a score by question and candidate in the view, the worst of k answers or a red line's.

    Labels go: they correct means. Notes say what has no such view, and how many questions were left out.
    Raises `SelectionError` where nothing has.
    """
    single, left_out = by_answer(scores.measures)
    if SECTION in scores.scores.columns:
        raise SelectionError("--view is of one criterion: an overall has no bad end of its own.")
    rows, measures, notes = [], dict[int, Measure](), list(left_out)
    for key, measure in single.items():
        part = select_rows(scores.scores, (pl.col("measure_id") == key) & (pl.col("edit") == ""))
        values = _values(part, measure, bad, lines)
        if isinstance(values, str):
            notes.append(f"{measure.metric}, {measure.criterion.criterion}: {values}.")
            continue
        name = f"{measure.criterion.criterion}, {_name(bad)}"
        measures[key] = replace(
            measure, criterion=replace(measure.criterion, criterion=name, if_unanswered="set_aside")
        )
        rows.append(_as_scores(part, values, name))
        if bad.worst_at and (short := _n_short(part, values)):
            notes.append(
                f"{name}: {count(short, 'question')} left out, with fewer than {bad.worst_at} answers."
            )
    if not measures:
        raise SelectionError(f"nothing can be compared in the view {_name(bad)}: {' '.join(notes)}")
    notes = [*scores.notes, *notes]
    return scores._replace(scores=stacked(rows), measures=measures, labels={}, notes=tuple(notes))


def _name(bad: BadEnds) -> str:
    return f"worst@{bad.worst_at}" if bad.worst_at else f"veto {bad.vetoes[0]}"


def _values(
    part: pl.DataFrame, measure: Measure, bad: BadEnds, lines: Sequence[RedLine]
) -> pl.DataFrame | str:
    """The value of each question and candidate, and whether it failed; or why there is none."""
    answers = by_repeat(part, measure.criterion)
    if bad.worst_at:
        worst = list(_worst(answers, measure.criterion, bad.worst_at))
        return stacked(worst) if worst else f"no question has {bad.worst_at} answers that count"
    if measure.criterion.worst is None:
        return "no veto where a scale has no worst end"
    if lines[0].measure == measure or share_no_format(lines[0], part):
        return "the red line is its own, or on another format"
    questions = over_repeats(apply_vetoes(answers, lines, measure.criterion))
    is_known = (pl.col("low") == pl.col("high")).fill_null(False)
    counts = questions.filter(pl.col("observed").is_not_null() | pl.col("low").is_not_null())
    return counts.with_columns(value=pl.col("observed"), failed=~is_known).select(_VALUE)


def _worst(answers: pl.DataFrame, criterion: Criterion, k: int) -> Iterator[pl.DataFrame]:
    """By candidate the expected worst of k answers to each question that has as many."""
    sign = 1 if criterion.direction == "higher" else -1
    counts = answers.filter(pl.col("low").is_not_null() | pl.col("observed").is_not_null())
    for _, rows in by_candidate(counts):
        n = pl.len().over(*ITEM)
        complete = rows.filter(n >= k).sort(*ITEM)
        if not complete.height:
            continue
        codes = complete.select(pl.struct(ITEM).rank("dense")).to_series().to_numpy()
        worst = sign * stats.worst_of_k(sign * complete["observed"].fill_null(0.0).to_numpy(), codes, k=k)
        is_failed = pl.col("observed").is_null().any().alias("failed")
        questions = complete.group_by(_PLACE, maintain_order=True).agg(is_failed)
        yield questions.with_columns(value=pl.Series(worst)).select(_VALUE)


def _as_scores(part: pl.DataFrame, values: pl.DataFrame, name: str) -> pl.DataFrame:
    """Score rows of these values, one to a question and candidate."""
    firsts = part.sort(*_PLACE, "repeat", "pass_no").unique(_PLACE, keep="first", maintain_order=True)
    joined = firsts.drop("value", "status").join(values, on=_PLACE, how="inner", validate="1:1")
    return joined.with_columns(
        criterion=pl.lit(name),
        value=pl.when(~pl.col("failed")).then(pl.col("value")),
        status=pl.when(pl.col("failed")).then(pl.lit("failed")).otherwise(pl.lit("ok")),
    ).select(part.columns)


def _n_short(part: pl.DataFrame, values: pl.DataFrame) -> int:
    """Questions with scores that have no value in the view for some candidate."""
    return part.select(_PLACE).unique().join(values, on=_PLACE, how="anti").select(ITEM).unique().height
