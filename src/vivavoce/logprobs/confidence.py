"""Confidence in an answer, 0 to 1: what the candidate states, how often it repeats it, or its likelihood.

A confidence is no score of the answer: it is held against its correctness (`accuracy`, or `options` for
likelihoods), whose rows have the same item, candidate and repeat. What has no confidence gets no number.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from vivavoce.core.records import Criterion, Reading, Row, Value
from vivavoce.core.registry import metric
from vivavoce.formats import FORMATS, format_of
from vivavoce.logprobs.options import Choices, options_in
from vivavoce.logprobs.requests import LogprobMetric
from vivavoce.metrics import ScoringContext
from vivavoce.reading.confidence import (
    Cut,
    StatedConfidence,
    read_confidence,
    restored,
    stated_confidence,
)


@metric("confidence", version=2)
class Confidence(LogprobMetric):
    """The confidence of an answer, 0 to 1: the probability that it is right, as the candidate has it.

    `of=stated`: what it says on a line that `viva collect --confidence` asks for, percent / 100, or the
    number that was imported (`--map confidence=COLUMN`). What could mean two things is unreadable (0.85
    without a scale, a range, a word).

    `of=repeats`: the share of its other repeats of the item whose answer is read as the same, j / (m - 1) of
    m repeats; silent and unreadable repeats count as other answers, failed ones not at all. The answer itself
    is left out, as counting it adds (1 - p) / m. Closed questions alone, and 2 repeats or more; at
    temperature 0 repeats are equal and say nothing (Xiong et al. 2024, arXiv:2306.13063, consistency; after
    self-consistency, Wang et al. 2023, arXiv:2203.11171).

    `of=likelihood`: the probability of the likeliest option by its letter, exp(l_max) / sum_k exp(l_k) over
    the log-likelihoods of all options, asked for as those of `options` are (`viva collect --logprobs`). It
    belongs to that option, whose correctness `options` scores, and not to an answer in words: the
    log-probabilities of a generated text say how probable its wording was, not its option.
    """

    of: Literal["stated", "repeats", "likelihood"]

    criteria = (Criterion(criterion="confidence", if_unanswered="set_aside"),)
    suggested = False

    @property
    def formats(self) -> tuple[str, ...]:
        """Every format for what is stated, closed ones for repeats, those of one option for likelihoods."""
        if self.of == "likelihood":
            return ("mcq", "true_false")
        return tuple(name for name in FORMATS if self.of == "stated" or not FORMATS[name].open_text)

    @property
    def needs_repeats(self) -> bool:
        """Whether the other repeats are what it counts."""
        return self.of == "repeats"

    @property
    def logprob_requests(self) -> Choices | None:
        """The options by their letters, as `options` asks for them; null for what is in words."""
        return Choices() if self.of == "likelihood" else None

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """By row the confidence, in 0 to 1; null with a reason where there is none.

        stated: set aside where none was asked for, unanswered without a line, unreadable where the line
        cannot be read. repeats: set aside where no other repeat arrived; parts `same` and `others`.
        likelihood: failed where an option has no finite probability; the part `mass` is the probability of
        all options together.
        """
        value = {"stated": _statement_value, "repeats": _repeats_value, "likelihood": _likelihood_value}[
            self.of
        ]
        return [{"confidence": value(row)} for row in rows]


def _statement_value(row: Row) -> Value:
    confidence: Any = row.response.meta.get("confidence")
    if confidence is None:
        note = "no confidence was asked for (`viva collect --confidence`) or imported"
        return Value(None, note=note, status="set_aside")
    statement = statement_of(confidence, row.response.text or "")
    if statement.value is not None:
        return Value(statement.value)
    return Value(None, note=statement.reason, status="unanswered" if statement.silent else "unreadable")


def statement_of(confidence: Any, text: str) -> StatedConfidence:
    """What a response states, of the `confidence` in its `meta` and its text."""
    if isinstance(confidence, int | float):
        return StatedConfidence(float(confidence))
    if isinstance(confidence, str):
        return read_confidence(confidence)
    return stated_confidence(restored(text, [Cut(*cut) for cut in confidence]))


def _repeats_value(row: Row) -> Value:
    readings = row.other_repeats
    if not readings:
        note = "no other repeat of this answer arrived: it takes 2 (`viva collect --repeats`)"
        return Value(None, note=note, status="set_aside")
    answer = _answer(row, row.reading)
    same = sum(reading.status == "ok" and _answer(row, reading) == answer for reading in readings)
    return Value(same / len(readings), {"same": same, "others": len(readings)})


def _answer(row: Row, reading: Reading) -> object:
    """What makes two answers the same: the option, or the set of options; entries that are none count too."""
    if format_of(row.item).several_answers:
        return frozenset(reading.parsed), frozenset(reading.stray)
    return reading.parsed


def _likelihood_value(row: Row) -> Value:
    record: Mapping[str, Any] = row.reading.parsed
    ((_, options), *_) = options_in(record)
    logprobs = [option.logprob for option in options if option.logprob is not None]
    if len(logprobs) < len(options):
        return Value(None, note="an option has no finite probability", status="failed")
    best = max(logprobs)
    total = sum(math.exp(logprob - best) for logprob in logprobs)
    truncated = record.get("truncated") or 0
    note = (
        f"{truncated} tokens of the question were left out to fit the model's context" if truncated else None
    )
    return Value(1 / total, {"mass": total * math.exp(best)}, note)
