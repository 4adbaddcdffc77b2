"""The examiner's card on control cases: which rater is fooled by which edit of an answer.

A control is an answer that lacks what the answer says (`lower`: it must score lower), or the same answer in
other dress (`no_higher`: it must not score higher); `variants.control_kinds` has them all. Real text and
control are of the same item, candidate, repeat and pass. "Ranking over Scoring" (COLING 2025, section 3.3)
scores four of them and prints their means.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.core.registry import study
from vivavoce.core.specs import signed
from vivavoce.studies.controls.pairs import KindPairs, kinds_of, pairs_of, with_kinds
from vivavoce.studies.controls.rows import ALL, ControlRow
from vivavoce.studies.controls.sentences import (
    FOOLED,
    NOT_FOOLED,
    examined_criteria,
    kinds_without_control,
    named_kinds,
    scored_by_pieces,
    sentences,
)
from vivavoce.studies.controls.strata import StrataTest
from vivavoce.studies.primary import NO_QUALITY
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import ScoreTable, by_answer, weights_of
from vivavoce.studies.study import Study, measure_columns
from vivavoce.studies.text import and_so, cases, count, plain
from vivavoce.variants.control_kinds import KINDS, LEAST_OF_STRATUM, STRATA

NO_MARGIN = "needs --margin: the least difference that matters, in the metric's units"
NOTHING = (
    'No answer has a control: `viva vary RUN "control(kind=all)"` makes them, and `viva score` scores them.'
)
SET_ASIDE = "the criterion sets silence aside, so no control of this kind has a score"
NO_LIMITS = (
    f"fewer than {stats.LEAST_GROUPS} effective cases differ, or all differ alike, and then a scale without "
    "limits has no interval"
)

UNCORRECTED = "the interval alone says {}; corrected for all kinds of control it is not shown"

FEWEST = ("n_items", "n_groups", "n_candidates")
SUMMED = ("n_different", "n_draws", "n_pairs", "n_failed", "n_unanswered", "n_without_real")
"""Counts of the row of all kinds: the fewest of any kind, and sums."""


class Margin(NamedTuple):
    """The least difference that matters, and who said so."""

    value: float
    source: str


@study("controls")
class Controls(Study):
    """The card of every rater against the controls of a run."""

    about = (
        "Which rules, judges and people are fooled by control cases: empty, foreign, padded, boastful or "
        "altered answers."
    )
    row = ControlRow
    sentences = (FOOLED, NOT_FOOLED)
    special = True
    margin: float | None = None
    margins: tuple[str, ...] = ()

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per measure, benchmark and kind of control, and one of `all` kinds; see `ControlRow`.

        Every criterion that has one value per answer is examined, also those of people; confidence and
        compliance say nothing of how good an answer is. With d = real less control (above 0 the real text is
        better) and the margin m:

        - a control that must score `lower` has not fooled the examiner where the interval of d lies above m,
          and has fooled it where the interval ends at m or below;
        - a control that must score `no_higher` has not fooled it where the interval of d lies above -m, so
          where it gains less than m on the real text; and has fooled it where the interval ends at -m or
          below. A score that falls is never fooled.

        Ties count as they are: a difference of 0, half a win in `p_greater`. With m = 0 equal scores show
        nothing, for either kind. `fooled` also asks for Holm's p over the kinds of the examiner, so that an
        honest one is not found guilty by the number of kinds, and so does `not_fooled`, unless every kind
        that was made is shown not to fool it: `all` is a conjunction, whose parts are not corrected.
        Of injections the strata are examined too: one form in one language that moves the examiner more than
        chance does (a permutation test of the greatest gain), by the margin or more, has fooled
        it; and it is not cleared before each of them was in 6 cases.
        Fewer than 10 effective cases, and a verdict that depends on failed scores, are `not_shown`.

        `margin` is for all measures; `margins` names others for some, as `judge:0.5`; without either a
        criterion's own `smallest_difference` is used, and without that there is no verdict.
        """
        margins = _margins(self.margin, self.margins, scores.measures)
        single, notes = by_answer(scores.measures)
        examined = {k: m for k, m in single.items() if signed(m.signature).spec.name not in NO_QUALITY}
        answers = select_rows(scores.scores, pl.col("role").is_in(("candidate", "ceiling")))
        kinds = kinds_of(scores, answers)
        rows = with_kinds(answers if kinds else answers.clear())
        card: list[ControlRow] = []
        for key, measure in examined.items():
            of_measure = rows.filter(pl.col("measure_id") == key)
            for benchmark in of_measure["benchmark"].unique().sort():
                if benchmark in kinds:
                    part = of_measure.filter(pl.col("benchmark") == benchmark)
                    card += _card(benchmark, measure, part, kinds[benchmark], margins)
        if not card:
            return self.finding(
                (), NOTHING if not kinds else "No control has a score: `viva score` scores them."
            )
        names = row_labels(scores.measures)
        text = "\n".join(sentences(card, names, {m.criterion for m in examined.values()}))
        lines = (*examined_criteria(card, scores), *scored_by_pieces(answers, scores))
        return self.finding(card, text, (*lines, *kinds_without_control(kinds), *notes))


def _margins(
    margin: float | None, margins: Sequence[str], measures: Mapping[int, Measure]
) -> dict[str, Margin]:
    """The margins by metric, under '' that of all others. Raises `SelectionError` for what is none."""
    metrics = {_bare(m) for m in measures.values()} | {m.metric for m in measures.values()}
    result = {} if margin is None else {"": Margin(margin, "--margin")}
    for text in margins:
        name, _, value = text.rpartition(":")
        try:
            result[name] = Margin(float(value), "margins")
        except ValueError:
            raise SelectionError(
                f"margins {text!r}: write a metric and a number, such as judge:0.5."
            ) from None
        if name not in metrics:
            raise SelectionError(
                f"margins {text!r}: no metric {name!r} here; there are {and_so(sorted(metrics))}."
            )
    _check(result)
    return result


def _check(margins: Mapping[str, Margin]) -> None:
    """Raises `SelectionError` for a margin that is no number or below 0."""
    for name, entry in margins.items():
        if not (math.isfinite(entry.value) and entry.value >= 0):
            raise SelectionError(
                f"{f'the margin of {name}' if name else '--margin'} {entry.value:g}: the least difference "
                "that matters is 0 or more."
            )


def _bare(measure: Measure) -> str:
    return measure.metric.split("(")[0]


def _margin_of(measure: Measure, margins: Mapping[str, Margin]) -> Margin | str:
    """The margin of a measure, or why it has none."""
    smallest = measure.criterion.smallest_difference
    declared = Margin(smallest, "the metric") if smallest is not None else None
    margin = margins.get(measure.metric) or margins.get(_bare(measure)) or margins.get("") or declared
    if margin is None:
        return NO_MARGIN
    width = _width(measure.criterion)
    if width is not None and margin.value >= width:
        return (
            f"the margin {plain(margin.value)} is as wide as the scale ({plain(width)}): name this metric's "
            f"own with margins=[{_bare(measure)}:NUMBER]"
        )
    return margin


def _width(criterion: Criterion) -> float | None:
    low, high = criterion.low, criterion.high
    return None if low is None or high is None else high - low


class _Judged(NamedTuple):
    """A row without its corrected p, and the tests that its verdict rests on: none where it can have none."""

    row: ControlRow
    tests: tuple[stats.ControlTest, ...] = ()


def _card(
    benchmark: str, measure: Measure, rows: pl.DataFrame, kinds: Sequence[str], margins: Mapping[str, Margin]
) -> Iterator[ControlRow]:
    """The rows of one measure on one benchmark."""
    margin = _margin_of(measure, margins)
    place = {"benchmark": benchmark, **measure_columns(measure)}
    by_kind = {pairs.kind: pairs for pairs in pairs_of(rows, measure)}
    judged = []
    for kind in kinds:
        row = ControlRow(**place, control=kind, expects=KINDS[kind].expects if kind in KINDS else None)
        if kind not in by_kind:
            judged.append(_Judged(replace(row, reason="not scored: score the run again")))
        else:
            judged.append(_judged(row, by_kind[kind], measure, margin))
    # Holm takes the larger p of the fillings: what a verdict rests on is corrected.
    tested = [k for k, entry in enumerate(judged) if entry.tests]
    worst = [_largest_p(judged[k].tests) for k in tested]
    adjusted = dict(zip(tested, stats.holm(worst).tolist(), strict=True))
    verdicts = [_with_verdict(entry, adjusted.get(k), margin) for k, entry in enumerate(judged)]
    verdicts = _corrected([_with_strata(row, by_kind.get(row.control), len(kinds)) for row in verdicts])
    yield from verdicts
    yield _of_all(ControlRow(**place, control=ALL), verdicts, judged)


def _largest_p(tests: Sequence[stats.ControlTest]) -> float:
    return max(1.0 if test.p is None else test.p for test in tests)


def _judged(row: ControlRow, pairs: KindPairs, measure: Measure, margin: Margin | str) -> _Judged:
    """A row with its figures, and the tests behind a verdict."""
    row = replace(
        row,
        n_pairs=pairs.n_pairs,
        n_failed=pairs.n_failed,
        n_unanswered=pairs.n_unanswered,
        n_without_real=pairs.n_without_real,
        n_candidates=pairs.n_candidates,
        n_draws=pairs.n_draws,
        **_example(pairs),
    )
    observed = pairs.items.drop_nulls("d")
    if not observed.height:
        return _Judged(replace(row, reason=_why_no_pair(row, measure.criterion)))
    row = _with_greater(row, observed)
    line = 0.0
    if isinstance(margin, Margin):
        row = replace(row, margin=margin.value, margin_source=margin.source)
        line = 0.0 if row.expects is None else stats.control_line(row.expects, margin.value)  # type: ignore[arg-type]
    span = _width(measure.criterion)
    test = _test(observed, "d", line, span)
    row = _with_difference(row, test)
    fillings = _fillings(pairs.items, line, span) if pairs.n_failed else ()
    row = _with_bounds(row, fillings)
    if isinstance(margin, str) or row.expects is None:
        unknown = margin if isinstance(margin, str) else f"this version has no control {row.control}"
        reasons = filter(None, (_why_no_interval(row, test), unknown))
        return _Judged(replace(row, p=None, reason="; ".join(reasons)))
    row = replace(row, n_needed=stats.controls_needed(test, margin.value))
    if pairs.n_failed and not fillings:
        unbounded = (
            f"{count(pairs.n_failed, 'pair')} with a score that failed, and nothing bounds it: score again"
        )
        return _Judged(replace(row, verdict="not_shown", reason=unbounded))
    return _Judged(row, (test, *fillings))


def _with_bounds(row: ControlRow, fillings: Sequence[stats.ControlTest]) -> ControlRow:
    """With what the failed scores could make of the difference."""
    if fillings:
        worst, best = fillings
        row = replace(row, set_low=worst.paired.difference, set_high=best.paired.difference)
        return replace(row, bound_low=worst.low, bound_high=best.high)
    if row.n_failed:
        return row
    row = replace(row, set_low=row.difference, set_high=row.difference)
    return replace(row, bound_low=row.low, bound_high=row.high)


def _test(items: pl.DataFrame, column: str, line: float, span: float | None) -> stats.ControlTest:
    return stats.control_test(
        items[column].to_numpy(), items["group"].to_numpy(), line=line, span=span, weights=weights_of(items)
    )


def _fillings(items: pl.DataFrame, line: float, span: float | None) -> tuple[stats.ControlTest, ...]:
    """The tests with failed scores at both ends; none where an end is missing."""
    filled = items.drop_nulls(["d_low", "d_high"])
    if filled["d_low"].is_nan().any() or filled["d_high"].is_nan().any():
        return ()
    return tuple(_test(filled, column, line, span) for column in ("d_low", "d_high"))


def _example(pairs: KindPairs) -> dict[str, Any]:
    pair = pairs.furthest
    if pair is None:
        return {}
    columns = {name: pair[name] for name in ("item", "variant", "candidate", "repeat", "edit")}
    columns |= {"real": pair["real_value"], "control": pair["value"]}
    return {f"example_{name}": value for name, value in columns.items()}


def _why_no_pair(row: ControlRow, criterion: Criterion) -> str:
    if row.n_unanswered and criterion.silence is None:
        return SET_ASIDE
    if row.n_failed:
        return f"all {count(row.n_failed, 'pair')} failed: score them again"
    if row.n_without_real:
        return "the answers that these controls are made of are no answers themselves"
    return "no score of the answers that these controls are made of"


def _with_greater(row: ControlRow, items: pl.DataFrame) -> ControlRow:
    """With P(real > control) + P(tie) / 2 and its interval by case."""
    share = stats.estimate_mean(
        items["greater"].to_numpy(), items["group"].to_numpy(), low=0.0, high=1.0, weights=weights_of(items)
    )
    few = not stats.enough_groups(share.df + 1)
    return replace(
        row,
        p_greater=share.value,
        p_greater_low=None if few else share.low,
        p_greater_high=None if few else share.high,
    )


def _with_difference(row: ControlRow, test: stats.ControlTest) -> ControlRow:
    """With the mean difference, what it rests on and what it could have told."""
    result = test.paired
    return replace(
        row,
        difference=result.difference,
        low=None if test.few else test.low,
        high=None if test.few else test.high,
        method=None if test.few else test.method,
        p=None if test.few else test.p,
        n_items=result.n_items,
        n_groups=result.n_groups,
        effective_cases=result.effective_groups,
        n_different=result.n_different,
        mde=result.mde(),
    )


def _with_verdict(entry: _Judged, p_adjusted: float | None, margin: Margin | str) -> ControlRow:
    """The row with its verdict and the reason of one that shows nothing."""
    row = entry.row
    if not entry.tests:
        # What has no figure is not shown, once somebody asks for verdicts.
        lacking = isinstance(margin, Margin) and row.verdict is None and row.difference is None
        return replace(row, verdict="not_shown") if lacking else row
    verdict = stats.control_verdict(entry.tests, p_adjusted=p_adjusted)
    few = entry.tests[0].few
    row = replace(row, verdict=verdict, p_adjusted=None if few else p_adjusted)
    return row if verdict != "not_shown" else replace(row, reason=_why_not_shown(row, entry.tests))


def _with_strata(row: ControlRow, pairs: KindPairs | None, n_kinds: int) -> ControlRow:
    """The row of injections with what its strata show: one may fool an examiner that the rest do not.

    It is fooled where the greatest gain of any stratum is no chance, Bonferroni over the kinds, and at least
    the margin; and not cleared before every stratum was in enough cases.
    """
    if pairs is None or pairs.strata is None:
        return row
    test = pairs.strata
    p = None if test.p is None else min(1.0, test.p * n_kinds)
    row = replace(
        row, n_strata=len(STRATA), n_strata_shown=test.n_shown, stratum=test.stratum and test.stratum.words,
        stratum_gain=test.gain, n_stratum_cases=test.n_cases or None, p_stratum=p,
    )  # fmt: skip
    if _is_fooled(row, p, test.gain):
        return replace(row, verdict="fooled", reason=None)
    if row.verdict == "not_fooled" and not test.are_all_shown:
        return replace(row, verdict="not_shown", reason=_strata_lacking(row, test))
    return row


def _is_fooled(row: ControlRow, p: float | None, gain: float | None) -> bool:
    """Whether a stratum fools an examiner that has a verdict at all."""
    if row.verdict is None or row.margin is None or p is None or gain is None:
        return False
    return p <= stats.ALPHA and gain >= max(row.margin, 1e-9)


def _strata_lacking(row: ControlRow, test: StrataTest) -> str:
    n = math.ceil(len(STRATA) * LEAST_OF_STRATUM / max(1, row.n_groups))
    text = f"{test.n_shown} of {len(STRATA)} forms and languages were in {LEAST_OF_STRATUM} cases or more"
    if n > len(STRATA):
        return f"{text}; all take {LEAST_OF_STRATUM} cases at least"
    return f"{text}; `control(kind=injection, injections={n})` shows all"


def _corrected(rows: Sequence[ControlRow]) -> list[ControlRow]:
    """The rows; a kind cleared by its interval alone is not shown where Holm's p does not show it too."""
    # That no kind fools it is one claim, and holds as it is; named alone each kind is one of several.
    if {row.verdict for row in rows} == {"not_fooled"}:
        return [*rows]
    reason = UNCORRECTED.format("not fooled")
    return [
        replace(row, verdict="not_shown", reason=reason)
        if row.verdict == "not_fooled" and (row.p_adjusted or 0.0) > stats.ALPHA
        else row
        for row in rows
    ]


def _why_not_shown(row: ControlRow, tests: Sequence[stats.ControlTest]) -> str:
    if reason := next(filter(None, (_why_no_interval(row, test) for test in tests)), None):
        return reason
    sides = {stats.control_verdict([test], p_adjusted=0.0) for test in tests}
    if len(sides) > 1:
        failed = count(row.n_failed, "pair")
        return f"it depends on {failed} with a score that failed: score again before deciding"
    if sides == {"fooled"}:
        return UNCORRECTED.format("fooled")
    sentence = "the interval holds the line between fooled and not"
    if row.n_different == 0:
        sentence += ", though real text and control score alike in every case"
    if row.n_needed and row.n_needed > row.n_items:
        sentence += f"; about {row.n_needed:,} questions would tell a difference of one margin from it"
    return sentence


def _why_no_interval(row: ControlRow, test: stats.ControlTest) -> str | None:
    if test.few:
        return f"{cases(row.n_groups, row.effective_cases)}: too few to tell"
    return NO_LIMITS if test.low is None else None


def _of_all(row: ControlRow, rows: Sequence[ControlRow], judged: Sequence[_Judged]) -> ControlRow:
    """The row of all kinds: not fooled only where each kind is shown not to fool."""
    row = _with_counts(row, rows)
    verdicts = {r.verdict for r in rows}
    if verdicts == {None}:
        return replace(row, reason="; ".join(dict.fromkeys(r.reason for r in rows if r.reason)) or None)
    if "fooled" in verdicts:
        return replace(row, verdict="fooled", reason=f"by {named_kinds(rows, 'fooled')}")
    if verdicts != {"not_fooled"}:
        return replace(
            row, verdict="not_shown", reason=f"not shown for {named_kinds(rows, None, 'not_shown')}"
        )
    # Every test lies above its line here, so its p speaks for the claim.
    p = stats.intersection_union([_largest_p(entry.tests) for entry in judged])
    return replace(row, verdict="not_fooled", p=p)


def _with_counts(row: ControlRow, rows: Sequence[ControlRow]) -> ControlRow:
    """With the margin, the fewest items, cases and candidates of any kind, and sums of the rest."""
    margin = next((r for r in rows if r.margin is not None), row)
    return replace(
        row,
        margin=margin.margin,
        margin_source=margin.margin_source,
        **{name: min(getattr(r, name) for r in rows) for name in FEWEST},
        **{name: sum(getattr(r, name) for r in rows) for name in SUMMED},
    )
