"""What a checked answer is worth by each criterion. Nothing that was not checked becomes a number."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from vivavoce.core.records import Criterion, Direction, IfUnanswered, Unit, Value
from vivavoce.facts.fact import Fate
from vivavoce.metrics.atomic_facts.checked_answer import CheckedAnswer, CheckedFact

Values = Mapping[str, Value | Mapping[Unit, Value]]
SUPPORTED = Criterion(criterion="supported", pool="unit", if_unanswered="set_aside")
"""Of units: 1 right, 0 wrong."""
STATED = Criterion(criterion="stated", pool="unit", if_unanswered="set_aside")
"""Of must-statements: 1 the answer makes it, 0 it does not."""
_WORDS = ("true", "supported", "false", "contradicted", "bad", "unverifiable")
_PARTS = (*_WORDS, *(fate for fate in get_args(Fate) if fate != "checked"))
NO_STATEMENT = "the item has no statement that an answer must make"
_UNSETTLED = "no unit has a verdict that is a score"


class Figure(NamedTuple):
    """A criterion of an answer, and how its value follows: a text is the reason why there is none."""

    criterion: Criterion
    value: Callable[[CheckedAnswer], float | str]
    parts: Callable[[CheckedAnswer], Mapping[str, float]] | None = None

    def of(self, answer: CheckedAnswer) -> Value:
        """The value for an answer that was split and checked."""
        value = self.value(answer)
        if isinstance(value, str):
            return Value(None, note=value, status="set_aside")
        return Value(value, self.parts(answer) if self.parts else None)


def figures(*, k: int | None, gamma: float | None, has_evidence: bool, silence_is_zero: bool) -> list[Figure]:
    """The figures of an answer. `k` and `gamma` add those that need them, evidence what rests on it."""
    zero: IfUnanswered = "worst" if silence_is_zero else "set_aside"
    every = [
        Figure(_criterion("precision"), _precision, _counts),
        Figure(_criterion("pooled_precision", pool="ratio"), _precision, _fraction),
        Figure(_criterion("precision_low"), lambda a: _bound(a, unsettled_right=False)),
        Figure(_criterion("precision_high"), lambda a: _bound(a, unsettled_right=True)),
        Figure(_criterion("dahl_score", if_unanswered=zero), lambda a: _dahl(a, silence_is_zero)),
        Figure(_criterion("severity_precision"), _weighted),
    ]
    if gamma is not None:
        every.append(Figure(_criterion("length_penalised"), lambda a: _penalised(a, gamma)))
    if k is not None:
        every.append(Figure(_criterion("recall_at_k", if_unanswered="worst"), lambda a: _recall(a, k)))
        every.append(Figure(_criterion("f1_at_k", if_unanswered="worst"), lambda a: _f1(a, k)))
    if has_evidence:
        every.append(Figure(_criterion("contradiction_rate", lower=True), lambda a: _share(a, a.wrong)))
        unverifiable = _criterion("unverifiable_share", lower=True)
        every.append(Figure(unverifiable, lambda a: _share(a, a.words["unverifiable"])))
    return every


MUST_RECALL = Figure(
    Criterion(criterion="must_recall", if_unanswered="worst"), lambda answer: _must_recall(answer)
)
"""The share of the item's must-statements that the answer makes. An answer that says nothing makes none."""


def values_of(answer: CheckedAnswer, every: list[Figure], *, silence_is_zero: bool) -> dict[str, Value]:
    """The value by each figure. An answer of which a unit got no reply has failed as a whole: asked again, it
    may have another value.
    """
    names = [figure.criterion.criterion for figure in every]
    if answer.failures:
        return dict.fromkeys(names, _no_reply(answer.failures, answer.facts, "units"))
    status = answer.cleaned.status
    if status != "ok" and not silence_is_zero:
        return dict.fromkeys(names, Value(None, note=f"{status}: {_SILENT[status]}", status="unanswered"))
    values = {figure.criterion.criterion: figure.of(answer) for figure in every}
    if unheard := [statement.failure for statement in answer.statements if statement.failure]:
        values[MUST_RECALL.criterion.criterion] = _no_reply(unheard, answer.statements, "statements")
    return values


def _no_reply(failures: Sequence[str], facts: Sequence[CheckedFact], subject: str) -> Value:
    """The value of an answer of which not everything could be checked; without facts, that was not split."""
    reason = (
        f"{len(failures)} of {len(facts)} {subject} got no verdict: {failures[0]}" if facts else failures[0]
    )
    return Value(None, note=f"failed: {reason}", status="failed")


_SILENT = {
    "noncommittal": "the answer says only that it cannot answer",
    "empty": "nothing is left of the answer without what is no part of it",
}


def unit_values(
    answer: CheckedAnswer, units: Iterator[tuple[Unit, Value]], none: str
) -> Value | Mapping[Unit, Value]:
    """The score of each unit; where there is none, why: `none` of an answer that was read."""
    by_unit = dict(units)
    if by_unit:
        return by_unit
    if answer.failure:
        return Value(None, note=f"failed: {answer.failure}", status="failed")
    status = answer.cleaned.status
    if status == "ok":
        return Value(None, note=none, status="set_aside")
    return Value(None, note=f"{status}: {_SILENT[status]}", status="unanswered")


def _criterion(
    name: str, *, pool: str = "mean", lower: bool = False, if_unanswered: IfUnanswered = "set_aside"
) -> Criterion:
    direction: Direction = "lower" if lower else "higher"
    return Criterion(criterion=name, pool=pool, direction=direction, if_unanswered=if_unanswered)


def _counts(answer: CheckedAnswer) -> dict[str, float]:
    return {"units": len(answer.facts), **{word: answer.words[word] for word in _PARTS}}


def _fraction(answer: CheckedAnswer) -> dict[str, float]:
    return {"numerator": answer.right, "denominator": answer.n_scored}


def _precision(answer: CheckedAnswer) -> float | str:
    return answer.right / answer.n_scored if answer.n_scored else _UNSETTLED


def _bound(answer: CheckedAnswer, *, unsettled_right: bool) -> float | str:
    claims = answer.n_scored + answer.aside
    if not claims:
        return "the answer makes no claim that could be checked"
    return (answer.right + (answer.aside if unsettled_right else 0)) / claims


def _dahl(answer: CheckedAnswer, silence_is_zero: bool) -> float | str:
    """DAHL (Seo et al. 2024, 3.3, step 3): the share of true units, of answers whose units all have a
    verdict.
    """
    if not answer.facts and silence_is_zero:
        return 0.0
    if lost := answer.checked - answer.n_scored:
        return f"{lost} of {answer.checked} units have no verdict, which drops the answer as published"
    return _precision(answer)


def _weighted(answer: CheckedAnswer) -> float | str:
    right, total = answer.weights
    return right / total if total else _UNSETTLED


def _penalised(answer: CheckedAnswer, gamma: float) -> float | str:
    """FActScore (Min et al. 2023): precision times exp(1 - gamma / n) for n <= gamma facts."""
    precision, n = _precision(answer), answer.n_scored + answer.aside
    if isinstance(precision, str) or n > gamma:
        return precision
    return precision * math.exp(1 - gamma / n)


def _recall(answer: CheckedAnswer, k: int) -> float | str:
    """SAFE (Wei et al. 2024): min(1, S / K), S being the facts that are right."""
    return min(1.0, answer.right / k) if answer.n_scored else _UNSETTLED


def _f1(answer: CheckedAnswer, k: int) -> float | str:
    """F1@K of SAFE: the harmonic mean of precision and recall at K; 0 without a right fact."""
    precision, recall = _precision(answer), _recall(answer, k)
    if isinstance(precision, str) or isinstance(recall, str):
        return _UNSETTLED
    return 2 * precision * recall / (precision + recall) if answer.right else 0.0


def _share(answer: CheckedAnswer, count: int) -> float | str:
    return count / answer.checked if answer.checked else "no unit was checked"


def _must_recall(answer: CheckedAnswer) -> float | str:
    values = [statement.score.value for statement in answer.statements]
    if not values:
        return NO_STATEMENT
    scores = [value for value in values if value is not None]
    if len(scores) < len(values):
        return f"{len(values) - len(scores)} of {len(values)} statements have no verdict"
    return math.fsum(scores) / len(scores)
