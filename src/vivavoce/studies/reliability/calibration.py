"""Calibration: whether confidence is what it claims, and from where on an answer may stand by itself.

The unit of every figure is the response, weighted so that each question counts alike; errors are by case.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.intervals import in_cases, too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.reliability.calibration_rows import (
    CATEGORY,
    CalibrationRow,
    adjusted_rows,
    arrays_of,
    broken_promise,
    errors_at_threshold,
    mean_row,
)
from vivavoce.studies.reliability.confidence_pairs import confidences, correctness, pairs
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study, measure_columns
from vivavoce.studies.text import cases, count, few_cases, percent, plain

NOTHING = (
    "No answer has a confidence here: `viva collect RUN BENCH --confidence`, then `viva score RUN accuracy "
    '"confidence(of=stated)"`.'
)
PROMISE = (
    "The promise holds with this probability over benchmarks drawn as this one was: for further cases like "
    "these, for one candidate and kind of confidence at a time, and not for other questions or other models."
)
APART = (
    "Answers without a confidence are in no figure of calibration and count as left to people; silence "
    "counts by the rule of the measure that says what is right; scores that failed are in nothing."
)
CHOSEN = "no interval: the threshold was chosen on these answers; the promise is the risk that was stated"
SAYS = {
    "stated": "states {} on average",
    "repeats": "repeats its answer in {} of its other tries",
    "likelihood": "gives its option a probability of {} on average",
}


class _Part(NamedTuple):
    """The responses of one candidate that a set of figures rests on."""

    answers: pl.DataFrame
    """Those that can be right or wrong, none of them failed."""
    row: CalibrationRow

    @property
    def with_confidence(self) -> pl.DataFrame:
        return self.answers.filter(pl.col("confidence").is_not_null())


OVER = NamingSentence(
    code="calibration.over",
    templates=(
        (
            "{candidate} on {benchmark}, {kind}: {stated}% on average and is right in {right} %: "
            "overconfident by {difference}."
        ),
        (
            "{candidate} on {benchmark}, {kind}: {stated} % on average and is right in {right} %: "
            "underconfident by {difference}."
        ),
        "{candidate} on {benchmark}, {kind}: {stated} is right in {right} %: overconfident by {difference}.",
    ),
    names=("candidate",),
    family="all candidates, benchmarks and kinds of confidence of the call",
    correction="Holm",
    null="confidence",
)
THRESHOLD = NamingSentence(
    code="calibration.threshold",
    templates=(
        "Answering only when confidence is at least {threshold} keeps errors of {candidate} below "
        "{share} % (with {level} % confidence) and answers {coverage}.",
    ),
    names=("candidate",),
    family="all thresholds of one candidate and kind of confidence",
    correction="fixed sequence",
    null="threshold",
)


@study("calibration")
class Calibration(Study):
    """Confidence against correctness: calibration, and when an answer may stand by itself."""

    about = (
        "Whether confidence is what it claims (calibration error, Brier score), what answering less gains "
        "(risk against coverage), and the threshold that keeps errors below a stated rate."
    )
    row = CalibrationRow
    sentences = (OVER, THRESHOLD, CATEGORY)
    special = True
    correct: str | None = None
    risk: float = 0.1
    level: float = 0.95

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by kind of confidence, benchmark, candidate, category and figure.

        `correct` names what says that an answer is right (METRIC, METRIC[CRITERION], or either with a limit
        such as `>= 4`); by default the one measure of the same answers that has 0 and 1 alone, of several
        `accuracy`. Figures: `accuracy`, `confidence`, `overconfidence`, `ece`, `ece_debiased`, `brier` with
        `reliability`, `resolution`, `uncertainty` and `skill`, `aurc` and `excess_aurc`, `with_confidence`
        (the share of answers that have one), `threshold` with `answered` and `errors_answered` at it, and
        over all categories `bin` and `curve`; by category `errors_at_threshold`, those among the answers that
        stand by the threshold over all categories, with `p_adjusted` that they are above `risk` (exact, Holm
        over all of the call). `threshold` keeps errors among the answered below `risk` with
        probability `level`; without one `n_needed` effective cases answered would do. `n` are responses with
        a confidence; `n_without_confidence` and `n_failed` are not among them. Fewer than 10 effective cases
        have counts alone.

        Raises `SelectionError` if `correct` fits nothing, or `risk` or `level` is no share.
        """
        for name, value in (("risk", self.risk), ("level", self.level)):
            if not 0 < value < 1:
                raise SelectionError(
                    f"{name} of calibration is a share between 0 and 1, such as 0.1, not {value}."
                )
        rows: list[CalibrationRow] = []
        problems: list[str] = []
        rules: list[str] = []
        for key, kind in confidences(scores).items():
            chosen = correctness(scores, kind, self.correct)
            if isinstance(chosen, str):
                problems.append(f"{scores.measures[key].metric}: {chosen}.")
                continue
            table = pairs(scores, key, chosen)
            if outside := _outside(table["confidence"]):
                problems.append(f"{scores.measures[key].metric}: {outside}.")
                continue
            rules.append(f"Right means {chosen.rule}.")
            rows += self._kind_rows(table, kind, chosen.measure)
        rows = adjusted_rows(rows)
        if not rows:
            return self.finding((), "\n".join(problems) or NOTHING)
        sentences = [*_sentences(rows), *problems]
        notes = [*dict.fromkeys(rules), APART, *([PROMISE] if _promises(rows) else [])]
        notes += _always_sure(rows, scores)
        return self.finding(rows, "\n".join(sentences), notes)

    def _kind_rows(self, table: pl.DataFrame, kind: str, measure: Measure) -> Iterator[CalibrationRow]:
        for (benchmark, candidate), answers in table.sort("benchmark", "candidate").group_by(
            "benchmark", "candidate", maintain_order=True
        ):
            row = CalibrationRow(
                benchmark=str(benchmark),
                **measure_columns(measure),
                candidate=str(candidate),
                of=kind,
                category="",
                figure="",
            )
            of_all = [*self._rows(answers, row, curves=True)]
            yield from of_all
            in_category = answers.filter(pl.col("category").fill_null("") != "")
            if in_category["category"].n_unique() > 1:
                for (category,), part in in_category.sort("category").group_by(
                    "category", maintain_order=True
                ):
                    of_category = replace(row, category=str(category))
                    yield from self._rows(part, of_category, curves=False)
                    for promise in of_all:
                        if promise.figure == "threshold" and promise.value is not None:
                            yield from errors_at_threshold(part, of_category, promise)

    def _rows(self, answers: pl.DataFrame, row: CalibrationRow, *, curves: bool) -> Iterator[CalibrationRow]:
        """The rows of one candidate in one category, or over all."""
        counted = answers.filter(~pl.col("failed"))
        part = _Part(counted, row)
        rows = part.with_confidence
        groups = rows["group"].to_list()
        row = replace(
            row,
            n=rows.height,
            n_items=rows.select("item", "variant").n_unique() if rows.height else 0,
            n_groups=len(set(groups)),
            effective_cases=stats.effective_groups(groups, weights=rows["weight"]) if groups else None,
            n_without_confidence=counted.height - rows.height,
            n_failed=answers.height - counted.height,
        )
        part = part._replace(row=row)
        if not rows.height:
            yield replace(row, figure="overconfidence", reason="no answer has a confidence")
        elif few := _few(row, groups):
            yield replace(row, figure="overconfidence", reason=few)
        else:
            yield from _figures(part)
            yield from self._answered(part)
            if curves:
                yield from _curves(part)

    def _answered(self, part: _Part) -> Iterator[CalibrationRow]:
        """The threshold, and what is answered and wrong at it."""
        rows, row = part.with_confidence, replace(part.row, risk=self.risk, level=self.level)
        promise = stats.answer_threshold(
            *arrays_of(rows), risk=self.risk, weights=rows["weight"], level=self.level
        )
        if promise.threshold is None:
            reason = f"{promise.reason}: {_why_none(promise, self.risk)}"
            yield replace(row, figure="threshold", n_needed=promise.needed, reason=reason)
            return
        yield replace(row, figure="threshold", value=promise.threshold)
        above = part.answers["confidence"].fill_null(-1.0) >= promise.threshold - 1e-9
        yield mean_row(row, "answered", part.answers, above.cast(pl.Float64))
        yield replace(row, figure="errors_answered", value=promise.risk, reason=CHOSEN)


def _outside(values: pl.Series) -> str | None:
    """Why values that are no probabilities have no calibration; imported scores may be percentages."""
    outside = values.filter((values < 0) | (values > 1)).sort()
    if not len(outside):
        return None
    worst = plain(outside[-1] if outside[-1] > 1 else outside[0])
    return f"a confidence of {worst} is no probability from 0 to 1: import percentages divided by 100"


def _few(row: CalibrationRow, groups: Sequence[str]) -> str | None:
    """Why so few cases have no figure; by weight too, where a sample weighs its questions unevenly."""
    return too_few(groups) or (
        None
        if stats.enough_groups(row.effective_cases or 0.0)
        else f"{row.effective_cases:.3g} effective cases: too few to tell"
    )


def _figures(part: _Part) -> Iterator[CalibrationRow]:
    """Calibration, Brier's score in parts and the areas, with the means that they are made of."""
    rows, row = part.with_confidence, part.row
    yield mean_row(row, "accuracy", rows, rows["correct"])
    yield mean_row(row, "confidence", rows, rows["confidence"])
    result = stats.calibration(*arrays_of(rows), weights=rows["weight"])
    curve = stats.risk_coverage(*arrays_of(rows), weights=rows["weight"], most=2)
    names = (
        "overconfidence",
        "ece",
        "ece_debiased",
        "brier",
        "reliability",
        "resolution",
        "uncertainty",
        "skill",
    )
    figures = {name: getattr(result, name) for name in names} | {
        "aurc": curve.aurc,
        "excess_aurc": curve.excess,
    }
    for name, figure in figures.items():
        value, low, high, reason = figure
        p = None
        if name == "overconfidence" and not row.category and low is not None:
            gaps = (rows["confidence"] - rows["correct"]).to_numpy()
            p = stats.paired(gaps, rows["group"].to_numpy(), weights=rows["weight"].to_numpy()).p
        yield replace(
            row, figure=name, value=value, low=low, high=high, p_adjusted=p, reason=in_cases(reason)
        )
    present = part.answers["confidence"].is_not_null().cast(pl.Float64)
    yield mean_row(row, "with_confidence", part.answers, present)


def _curves(part: _Part) -> Iterator[CalibrationRow]:
    """The bins of the reliability diagram and the points of the risk-coverage curve."""
    rows, row = part.with_confidence, part.row
    for answers in stats.calibration(*arrays_of(rows), weights=rows["weight"]).bins:
        yield replace(
            row,
            figure="bin",
            confidence=answers.confidence,
            value=answers.correct,
            low=answers.low,
            high=answers.high,
            coverage=answers.share,
            n=answers.n,
            n_groups=answers.n_groups,
            n_items=None,
            effective_cases=None,
            n_without_confidence=None,
            n_failed=None,
        )
    # Of all questions, not only of those with a confidence: these alone can be answered.
    share = float(rows["weight"].sum()) / float(part.answers["weight"].sum())
    curve = stats.risk_coverage(*arrays_of(rows), weights=rows["weight"])
    point = replace(
        row,
        n=None,
        n_items=None,
        n_groups=None,
        effective_cases=None,
        n_without_confidence=None,
        n_failed=None,
    )
    for threshold, coverage, risk, low, high in zip(*curve[:5], strict=True):
        yield replace(
            point,
            figure="curve",
            confidence=float(threshold),
            coverage=float(coverage) * share,
            value=float(risk),
            low=low,
            high=high,
        )


def _why_none(promise: stats.AnswerThreshold, risk: float) -> str:
    """What was nearest, and what it would take."""
    answers = f"{count(promise.n, 'answer')} ({cases(promise.n_groups, promise.effective_groups)})"
    if promise.needed is None:
        return (
            f"at the nearest one {answers} would stand, and of these {plain(100 * risk)} % or more are wrong"
        )
    return (
        f"at the nearest one {answers} would stand, and with errors as there it takes about "
        f"{promise.needed:,} cases"
    )


def _promises(rows: Iterable[CalibrationRow]) -> bool:
    return any(row.figure == "threshold" and row.value is not None for row in rows)


def _always_sure(rows: Sequence[CalibrationRow], scores: ScoreTable) -> list[str]:
    """The line on candidates whose repeats are one text, which are sure of everything by construction."""
    names = sorted({row.candidate for row in rows if row.of == "repeats"} & scores.identical)
    if not names:
        return []
    return [
        f"All repeats of {', '.join(names)} are the same text: the share of equal repeats is 1 whatever the "
        "candidate knows. Ask at a temperature above 0."
    ]


def _sentences(rows: Sequence[CalibrationRow]) -> Iterator[str]:
    """Two or three per candidate and kind, over all categories."""
    by: dict[tuple[str, str, str], dict[str, CalibrationRow]] = {}
    for row in rows:
        if not row.category and row.figure not in ("bin", "curve"):
            by.setdefault((row.benchmark, row.candidate, row.of), {})[row.figure] = row
    in_categories = [row for row in rows if row.figure == "errors_at_threshold"]
    for place, figures in by.items():
        yield from _candidate_sentences(figures)
        of_candidate = [row for row in in_categories if (row.benchmark, row.candidate, row.of) == place]
        yield from broken_promise(of_candidate, len(in_categories))


def _candidate_sentences(figures: dict[str, CalibrationRow]) -> Iterator[str]:
    gap = figures["overconfidence"]
    name = f"{gap.candidate} on {gap.benchmark}, {gap.of}"
    if "accuracy" not in figures:
        yield f"{name}: no figure, {gap.reason}.{_missing(gap)}"
        return
    confidence, accuracy = figures["confidence"].value or 0.0, figures["accuracy"].value or 0.0
    says = SAYS.get(gap.of, "has a confidence of {} on average").format(percent(confidence))
    yield (
        f"{name}: it {says} and is right in {percent(accuracy)}: {_direction(gap)}; "
        f"{_error(figures['ece_debiased'])}.{_missing(gap)}"
    )
    yield _promise(figures)


def _error(row: CalibrationRow) -> str:
    """The debiased calibration error; where noise alone could make it, in these words."""
    if row.low is None or row.high is None:
        return f"calibration error {_decimals(row.value or 0.0)}, without an interval"
    if row.low == 0:
        return f"a calibration error is not shown (at most {_decimals(row.high)})"
    return f"calibration error {_decimals(row.value or 0.0)} ({_decimals(row.low)} to {_decimals(row.high)})"


def _direction(row: CalibrationRow) -> str:
    """Over- or underconfident where the interval shows it."""
    value = row.value or 0.0
    if row.low is None or row.high is None:
        return f"a difference of {printed(value)} without an interval ({row.reason})"
    if row.low <= 0 <= row.high or (row.p_adjusted or 0.0) > stats.ALPHA:
        span = f"{_decimals(row.low)} to {_decimals(row.high)}{few_cases(row.effective_cases)}"
        if not row.low <= 0 <= row.high:
            span += f"; p {row.p_adjusted:.2g} by Holm over all candidates and kinds of confidence"
        return f"neither over- nor underconfidence is shown ({_decimals(value)}, {span})"
    word, sign = ("overconfident", 1) if value > 0 else ("underconfident", -1)
    low, high = sorted((sign * row.low, sign * row.high))
    few = few_cases(row.effective_cases)
    return f"{word} by {_decimals(abs(value))} ({_decimals(low)} to {_decimals(high)}{few})"


def _decimals(value: float) -> str:
    """Two decimals, and no sign before 0."""
    text = printed(value)
    return text.lstrip("-") if float(text) == 0 else text


def _missing(row: CalibrationRow) -> str:
    missing = []
    if row.n_without_confidence:
        missing.append(f"{count(row.n_without_confidence, 'answer')} without a confidence")
    if row.n_failed:
        missing.append(f"{count(row.n_failed, 'answer')} with a score that failed")
    return f" Beside these: {', '.join(missing)}." if missing else ""


def _promise(figures: dict[str, CalibrationRow]) -> str:
    row = figures["threshold"]
    risk, level = plain(100 * (row.risk or 0.0)), plain(100 * (row.level or 0.0))
    if row.value is None:
        reason = (row.reason or "").partition(": ")[2]
        below = f"errors of {row.candidate} below {risk} %"
        return f"No threshold keeps {below} (with {level} % confidence): {reason}."
    answered = figures["answered"]
    least = printed(100 * (answered.low or 0.0), ".0f")
    span = "" if answered.low is None else f" ({least} to {percent(answered.high or 0.0)})"
    return (
        f"Answering only when confidence is at least {plain(row.value)} keeps errors of {row.candidate} "
        f"below {risk} % (with {level} % confidence) and answers {percent(answered.value or 0.0)} of the "
        f"questions{span}."
    )
