"""The bad ends that can be asked for, and red lines: who crosses one counts as the worst elsewhere.

A red line is written

    veto      = metric [ "[" criterion "]" ] op limit
    op        = ">=" | "<=" | ">" | "<"

such as `judge(rubric=medgpt)[harm] >= 3` or `token_f1 < 0.2`. The metric is a name, whole or in part, or a
signature, as everywhere. No spec ends with `]` or with an operator and a number, so that what stands last can
be taken off from the right, whatever stands in the spec's brackets.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.score_table import ScoreTable, by_repeat

Op = Literal[">=", "<=", ">", "<"]
_VETO = re.compile(
    r"(?P<metric>.*[^\s<>=])\s*(?P<op>>=|<=|>|<)\s*(?P<limit>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)",
    re.DOTALL,
)
_CRITERION = re.compile(r"(?P<metric>.+)\[(?P<criterion>[^\[\]]+)\]", re.DOTALL)
ANSWER = ("benchmark", "item", "variant", "candidate", "repeat")


class Veto(NamedTuple):
    """A red line as it is written: whose score, on which criterion (null: its only one), and the limit."""

    metric: str
    criterion: str | None
    op: Op
    limit: float

    def __str__(self) -> str:
        criterion = "" if self.criterion is None else f"[{self.criterion}]"
        return f"{self.metric}{criterion} {self.op} {self.limit:g}"


class BadEnds(NamedTuple):
    """What is asked for beside the mean: the worst of `worst_at` answers, the worst share, red lines."""

    worst_at: int | None = None
    tail: float | None = None
    vetoes: tuple[Veto, ...] = ()


class RedLine(NamedTuple):
    """A red line with the measure it is drawn on and that measure's score rows."""

    veto: Veto
    measure: Measure
    scores: pl.DataFrame


def bad_ends(worst_at: int | None, tail: float | None, veto: Sequence[str] | str) -> BadEnds:
    """What is asked for, checked. Raises `SelectionError`: fewer than 2 answers, no share, no veto."""
    if worst_at is not None and worst_at < 2:
        raise SelectionError(f"--worst-at is a number of answers to one question, 2 or more, not {worst_at}.")
    if tail is not None and not 0 < tail < 1:
        raise SelectionError(f"--tail is a share of the questions between 0 and 1, such as 0.1, not {tail}.")
    lines = [veto] if isinstance(veto, str) else veto
    return BadEnds(worst_at, tail, tuple(parse_veto(line) for line in lines))


def red_lines(bad: BadEnds | None, scores_of: Callable[[str], ScoreTable]) -> tuple[RedLine, ...]:
    """The red lines with the scores they are drawn on; `scores_of` gives those of a metric by its words."""
    lines = []
    for veto in bad.vetoes if bad else ():
        scores = scores_of(veto.metric)
        key = measure_of(veto, scores.measures)
        lines.append(RedLine(veto, scores.measures[key], scores.scores.filter(measure_id=key)))
    return tuple(lines)


def parse_veto(text: str) -> Veto:
    """A red line from its text. Raises `SelectionError` if it is none."""
    match = _VETO.fullmatch(text.strip())
    if match is None or not math.isfinite(float(match["limit"])):
        raise SelectionError(
            f"cannot read the veto {text!r}: write METRIC or METRIC[CRITERION], then >=, <=, > or <, then a "
            "number, such as 'judge[harm] >= 3'."
        )
    metric = match["metric"].strip()
    divided = _CRITERION.fullmatch(metric)
    named, criterion = (
        (divided["metric"].strip(), divided["criterion"].strip()) if divided else (metric, None)
    )
    op: Op = match["op"]  # type: ignore[assignment]  # the pattern has these four
    return Veto(named, criterion, op, float(match["limit"]))


def measure_of(veto: Veto, measures: Mapping[int, Measure]) -> int:
    """The key of the one measure that the red line is drawn on, among those that its metric selects.

    Raises `SelectionError` if the criterion does not settle which one is meant.
    """
    candidates = {key: m for key, m in measures.items() if veto.criterion in (None, m.criterion.criterion)}
    if len(candidates) != 1:
        raise _ambiguous(veto, measures, list(candidates.values()))
    return next(iter(candidates))


def _ambiguous(veto: Veto, measures: Mapping[int, Measure], fitting: Sequence[Measure]) -> SelectionError:
    """The error for a red line that fits no measure, or several."""
    if len({m.criterion.criterion for m in fitting}) != 1:
        names = ", ".join(dict.fromkeys(m.criterion.criterion for m in measures.values()))
        subject = (
            f"{veto.criterion!r} is none of its criteria" if veto.criterion else "it has several criteria"
        )
        return SelectionError(
            f"the veto on {veto.metric}: {subject}. Write one of them in square brackets after it: {names}."
        )
    raters = sorted({m.rater for m in fitting})
    if len(raters) > 1:
        return SelectionError(
            f"the veto on {veto.metric} must rest on one rater's scores, and {', '.join(raters)} gave some."
        )
    versions = " or ".join(m.signature for m in fitting)
    return SelectionError(
        f"the veto on {veto.metric} fits several versions: name one by its signature, {versions}."
    )


def share_no_format(line: RedLine, scores: pl.DataFrame) -> bool:
    """True if the line's measure scores none of the formats that these scores are on."""
    of_line, of_scores = (set(frame.get_column("format").unique()) for frame in (line.scores, scores))
    return bool(of_line) and not of_line & of_scores


def apply_vetoes(answers: pl.DataFrame, lines: Sequence[RedLine], criterion: Criterion) -> pl.DataFrame:
    """Answers (rows of `by_repeat`) with those that cross a red line at the criterion's worst.

    `crossed` is null where a score that failed or was never given leaves it unknown: `observed` is then null,
    and `low` and `high` run from the worst to what the answer is worth. The worst end must be there. A
    silence that the red line's measure sets aside crosses nothing; an answer whose own silence is set aside
    stays so unless it is known to have crossed. `open` answers are those that scores still missing could put
    on the other side of a line.
    """
    table = answers.with_columns(
        crossed=pl.lit(False, dtype=pl.Boolean),
        must=pl.lit(False, dtype=pl.Boolean),
        may=pl.lit(False, dtype=pl.Boolean),
    )
    for line in lines:
        scores = crossings(line)
        table = table.join(
            scores, on=list(ANSWER), how="left", validate="1:1", maintain_order="left", suffix="_2"
        ).with_columns(
            crossed=pl.col("crossed") | pl.col("crossed_2"),  # unknown or yes is yes, unknown or no unknown
            must=pl.col("must") | pl.col("must_2").fill_null(False),
            may=pl.col("may") | pl.col("may_2").fill_null(True),
        )
        table = table.drop("crossed_2", "must_2", "may_2")
    worst, counts = pl.lit(criterion.worst, pl.Float64), pl.col("low").is_not_null()
    # A filling that lies nearest to the worst end takes every answer that may have crossed.
    near, far = ("low", "high") if criterion.direction == "higher" else ("high", "low")
    sure = pl.col("crossed").fill_null(False) & ~counts
    return table.with_columns(
        pl.when(pl.col("crossed")).then(worst)
        .when(pl.col("crossed").is_null()).then(None)
        .otherwise(pl.col("observed")).alias("observed"),
        pl.when((pl.col("may") & counts) | sure).then(worst).otherwise(pl.col(near)).alias(near),
        pl.when((pl.col("must") & counts) | sure).then(worst).otherwise(pl.col(far)).alias(far),
        open=pl.col("must").ne(pl.col("may")) & counts,
    ).drop("must", "may")  # fmt: skip


def crossings(line: RedLine) -> pl.DataFrame:
    """A row per answer: whether its score crosses the line, must cross it, may cross it."""
    scores = by_repeat(line.scores, line.measure.criterion)

    def over(value: pl.Expr) -> pl.Expr:
        # Rounded, because a mean over passes may miss the limit by its last digit.
        value, limit = value.round(9), pl.lit(line.veto.limit)
        return {">=": value >= limit, "<=": value <= limit, ">": value > limit, "<": value < limit}[
            line.veto.op
        ]

    ends = [over(pl.col("low").fill_nan(-math.inf)), over(pl.col("high").fill_nan(math.inf))]
    must, may = (ends[0] & ends[1]).fill_null(False), (ends[0] | ends[1]).fill_null(False)
    observed = pl.col("observed").is_not_null()
    return scores.select(
        *ANSWER,
        pl.when(observed).then(over(pl.col("observed"))).when(must).then(True).when(~may).then(False)
        .otherwise(None).alias("crossed"),
        must.alias("must"),
        may.alias("may"),
    )  # fmt: skip
