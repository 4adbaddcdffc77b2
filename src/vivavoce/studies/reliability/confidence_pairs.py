"""Confidences beside whether the response was right: which measures they are, and a row per response."""

import operator
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core import specs
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Measure
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.rater_scores import whole_responses
from vivavoce.studies.score_table import RESPONSE, ScoreTable, counted_value, is_confidence
from vivavoce.studies.thresholds import Op, parse_veto

_OPS: Mapping[str, Any] = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_CRITERION = re.compile(r"(?P<metric>.+)\[(?P<criterion>[^\[\]]+)\]", re.DOTALL)


class Correctness(NamedTuple):
    """A measure that says whether a response is right: by its values 0 and 1, or by a limit on them."""

    key: int
    measure: Measure
    op: Op | None = None
    limit: float = 0.0

    @property
    def rule(self) -> str:
        """What makes a response right, in words."""
        if self.op is None:
            return f"{self.measure.metric} of 1"
        criterion = self.measure.criterion.criterion
        return f"{self.measure.metric}[{criterion}] {self.op} {self.limit:g}"

    def right(self) -> pl.Expr:
        """1 or 0 from the column `value`; null stays null."""
        if self.op is None:
            return pl.col("value")
        # Rounded, because a mean over passes may miss the limit by its last digit.
        value = pl.col("value").round(9)
        compared: pl.Expr = _OPS[self.op](value, pl.lit(self.limit))
        return compared.cast(pl.Float64)


def confidences(scores: ScoreTable) -> dict[int, str]:
    """The measures of confidence, each with its kind: stated, repeats, likelihood, or what else `of` says."""
    return {
        key: str(specs.signed(m.signature).spec.settings.get("of", "stated"))
        for key, m in scores.measures.items()
        if is_confidence(m)
    }


def correctness(scores: ScoreTable, kind: str, text: str | None) -> Correctness | str:
    """The measure of correctness for a kind of confidence, or the sentence why there is none.

    The one that `text` names (METRIC, METRIC[CRITERION], either with a limit such as `>= 4`); else the only
    one that scores the same responses with 0 and 1 alone, or of several `accuracy`. A likelihood is that of
    an option, so its correctness is that of the option; all others are held against the answer in words.
    Raises `SelectionError` if `text` fits no measure.
    """
    of_options = kind == "likelihood"
    measures = _averaged(scores)
    fitting = {k: m for k, m in measures.items() if _is_option(scores, k) == of_options}
    if text is None:
        return _usual(scores, fitting, "options" if of_options else "accuracy")
    chosen = [c for c in _selected(text, measures) if c.key in fitting]
    if chosen:
        return _checked(scores, chosen[0]) if len(chosen) == 1 else _several(chosen)
    if of_options:  # what was named is for the answers in words
        return _usual(scores, fitting, "options")
    raise SelectionError(
        f"correct={text!r} scores options by likelihood, which no answer in words is held against: name one "
        f"of {_names(fitting)}."
    )


def _averaged(scores: ScoreTable) -> dict[int, Measure]:
    """The measures that have a value for each response, but confidences."""
    averaged = {k: m for k, m in scores.measures.items() if m.criterion.pool == "mean"}
    return {k: m for k, m in averaged.items() if not is_confidence(m)}


def _usual(scores: ScoreTable, fitting: Mapping[int, Measure], metric: str) -> Correctness | str:
    """The one measure that has 0 and 1 alone, of several `accuracy`; else the sentence why there is none."""
    binary = [
        Correctness(k, m)
        for k, m in fitting.items()
        if m.criterion.direction == "higher" and _is_binary(scores, k)
    ]
    by_accuracy = [c for c in binary if specs.signed(c.measure.signature).spec.name == "accuracy"]
    if len(binary) == 1 or len(by_accuracy) == 1:
        return (by_accuracy or binary)[0]
    if binary:
        return _several(binary)
    return (
        f"nothing says of the same answers whether they are right: score them by {metric}, or name a measure "
        "with a limit, such as \"calibration(correct='judge[correctness] >= 4')\""
    )


def _several(fitting: list[Correctness]) -> str:
    measures = [c.measure for c in fitting]
    names = dict.fromkeys(f"{m.metric}[{m.criterion.criterion}]" for m in measures)
    raters = dict.fromkeys(m.rater for m in measures if m.rater)
    by = f" (raters: {', '.join(raters)})" if len(raters) > 1 else ""
    return (
        f"several measures say what is right{by}: name one, such as "
        f"\"calibration(correct='{next(iter(names))}')\", of {', '.join(names)}"
    )


def _is_option(scores: ScoreTable, key: int) -> bool:
    """Whether a measure scores options by their likelihood, and no answer in words."""
    return key in scores.probes or specs.signed(scores.measures[key].signature).spec.name == "options"


def _names(measures: Mapping[int, Measure]) -> str:
    return ", ".join(dict.fromkeys(m.metric for m in measures.values())) or "none"


class _Words(NamedTuple):
    """What a user wrote of a measure: its metric, criterion and limit, as far as they stand there."""

    metric: str
    criterion: str | None = None
    op: Op | None = None
    limit: float = 0.0


def _words(text: str) -> _Words:
    # Settings may hold any sign; a limit stands behind them.
    if re.search(r"[<>]", re.sub(r"\(.*\)", "", text, flags=re.DOTALL)):
        veto = parse_veto(text)
        return _Words(veto.metric, veto.criterion, veto.op, veto.limit)
    if parts := _CRITERION.fullmatch(text.strip()):
        return _Words(parts["metric"].strip(), parts["criterion"].strip())
    return _Words(text.strip())


def _selected(text: str, measures: Mapping[int, Measure]) -> list[Correctness]:
    """The measures that the words of a user select, with their limit."""
    words = _words(text)
    by_metric = {m.metric: specs.signed(m.signature).spec for m in measures.values()}
    signatures = {m.signature for m in measures.values()}
    metrics = () if words.metric in signatures else specs.select(words.metric, list(by_metric), by_metric)
    chosen = [
        Correctness(key, m, words.op, words.limit)
        for key, m in measures.items()
        if words.metric == m.signature or m.metric in metrics
    ]
    chosen = [c for c in chosen if words.criterion in (None, c.measure.criterion.criterion)]
    if not chosen:
        raise SelectionError(
            f"correct={text!r} is no measure of right and wrong in this run, which has {_names(measures)}."
        )
    return chosen


def _checked(scores: ScoreTable, chosen: Correctness) -> Correctness | str:
    """A measure without a limit must give 0 and 1 alone."""
    if chosen.op is not None or _is_binary(scores, chosen.key):
        return chosen
    name = f"{chosen.measure.metric}[{chosen.measure.criterion.criterion}]"
    return (
        f"{name} has values other than 0 and 1, and an answer is right or wrong: state from where on it is "
        f"right, such as \"calibration(correct='{name} >= 0.5')\""
    )


def _is_binary(scores: ScoreTable, key: int) -> bool:
    criterion = scores.measures[key].criterion
    # A limit that nobody stated, as of imported scores, is no other one.
    if criterion.low not in (0.0, None) or criterion.high not in (1.0, None):
        return False
    values = _by_response(scores, key, pl.col("value"))["value"].drop_nulls()
    return bool(len(values)) and bool(values.is_in([0.0, 1.0]).all())


def _by_response(scores: ScoreTable, key: int, value: pl.Expr) -> pl.DataFrame:
    """A row per response of a candidate: the mean of its passes, and whether one failed and none has one."""
    rows = whole_responses(scores.scores).filter(
        (pl.col("measure_id") == key) & (pl.col("role") == "candidate")
    )
    extra = [pl.col("group", "category").first()]
    if "weight" in rows.columns:
        extra.append(pl.col("weight").first())
    # Sorted, because a mean in another order has another last digit.
    return (
        rows.sort(*RESPONSE, "pass_no")
        .with_columns(y=value)
        .group_by(*RESPONSE, maintain_order=True)
        .agg(*extra, value=exact_mean(pl.col("y")), failed=(pl.col("status") == "failed").any())
        .with_columns(failed=pl.col("failed") & pl.col("value").is_null())
    )


def pairs(scores: ScoreTable, key: int, chosen: Correctness) -> pl.DataFrame:
    """A row per response that can be right or wrong, with what is known of its confidence.

    RESPONSE, `group`, `category`, `correct` (0 or 1; silence by the measure's own rule), `confidence` (null
    without one), `failed` (a score of either kind failed: the response is in no figure) and `weight`, so that
    the responses to one question count together as that question does.
    """
    answers = _by_response(scores, chosen.key, counted_value(chosen.measure.criterion))
    of_confidence = _by_response(scores, key, pl.col("value")).select(
        *RESPONSE, confidence="value", confidence_failed="failed"
    )
    joined = answers.join(of_confidence, on=list(RESPONSE), how="left", validate="1:1", maintain_order="left")
    weight: Any = pl.col("weight") if "weight" in joined.columns else pl.lit(1.0)
    return (
        joined.with_columns(
            correct=chosen.right(), failed=pl.col("failed") | pl.col("confidence_failed").fill_null(False)
        )
        .filter(pl.col("correct").is_not_null() | pl.col("failed"))
        .with_columns(
            weight=weight
            / (~pl.col("failed")).sum().clip(1).over("benchmark", "candidate", "item", "variant")
        )
        .select(*RESPONSE, "group", "category", "correct", "confidence", "failed", "weight")
    )
