"""Scores in a log of Inspect: letters, numbers, objects of several, and graders that gave none."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line
from vivavoce.run.exchange.logs.fields import need, number_or_null, part, rows_in
from vivavoce.run.exchange.logs.inspect_ours import OURS, Declared, declared_metrics, our_marks
from vivavoce.run.exchange.recorded_log import Mark, safe_name

GRADES: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What Inspect's letters are worth: correct, partial, incorrect, no answer (its `value_to_float`)."""


class Scorers(NamedTuple):
    """The scorers of a log: the model that graded for those which have one, and which are our metrics."""

    raters: Mapping[str, str]
    ours: Declared

    @classmethod
    def of(cls, of_eval: Mapping[str, Any]) -> "Scorers":
        """The scorers as the head of a log declares them."""
        return cls(_raters(of_eval), declared_metrics(of_eval))

    def marks(self, scores: Mapping[str, Any], where: str) -> Iterator[Mark]:
        """The scores of a sample; those of our own metrics as they stood in the run."""
        for scorer in scores:
            score = need(scores, scorer, f"{where}, scores")
            if scorer in self.ours and OURS in part(score, "metadata"):
                yield from our_marks(scorer, score, self.ours[scorer], where)
            else:
                yield from marks_of(scorer, score, self.raters.get(scorer, ""), where)


def _raters(of_eval: Mapping[str, Any]) -> dict[str, str]:
    """The model that graded for each scorer which has one."""
    raters = {}
    for scorer in rows_in(of_eval, "scorers"):
        model = part(scorer, "options").get("model")
        name = model.get("model") if isinstance(model, dict) else model
        if isinstance(name, str):
            raters[str(scorer.get("name"))] = name
    return raters


def marks_of(scorer: str, score: Mapping[str, Any], rater: str, where: str) -> Iterator[Mark]:
    """The scores of a scorer: one, or where its value is an object one for each of its names."""
    value, note = score.get("value"), score.get("explanation")
    values = value if isinstance(value, dict) else {"value": value}
    for criterion, entry in values.items():
        grade = _grade(entry, f"{where}, scorer {one_line(scorer, 60)}")
        by_letter = isinstance(entry, str | bool)
        reason = score.get("reason") if grade is None else None
        yield Mark(
            scorer=safe_name(scorer),
            criterion=safe_name(str(criterion)),
            value=grade,
            low=0.0 if by_letter else None,
            high=1.0 if by_letter else None,
            note="; ".join(str(t) for t in (reason, note) if t) or ("no grade" if grade is None else None),
            rater=rater,
        )


def _grade(value: Any, place: str) -> float | None:
    """A number; null for NaN or null, which are failures. Raises `InputError` for a word that is no grade."""
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, str) and value.strip().upper() in GRADES:
        return GRADES[value.strip().upper()]
    try:
        number = number_or_null(float(value) if isinstance(value, str) else value)
    except ValueError:
        number = None
    if number is None:
        raise InputError(
            f"{place}: {one_line(repr(value), 60)} is neither a number nor a grade ({', '.join(GRADES)})."
        )
    return number
