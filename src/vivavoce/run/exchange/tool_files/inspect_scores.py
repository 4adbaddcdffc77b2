"""Scores as Inspect records them: one entry for each scorer, NaN with a reason where there is no number."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import Measure
from vivavoce.core.specs import parse, signed
from vivavoce.run.exchange.tool_files.asked import filled
from vivavoce.store.exam_answers import AnswerScore

OURS = "vivavoce"
"""The name under which metadata holds what has no other place in a log."""
_PREFIX = "inspect."
_REASONS = {"unanswered": "no_response", "unreadable": "invalid_response_format"}
_Scorer = tuple[str, str]
"""Signature and rater."""


class Scorers(NamedTuple):
    """The scorers of a log: a name for each, and the criteria of each by the key of their measures."""

    names: Mapping[_Scorer, str]
    measures: Mapping[int, Measure]

    def name_of(self, measure: Measure) -> str:
        """The scorer under which the scores of a measure stand."""
        return self.names[measure.signature, measure.rater]


def scorers_of(measures: Mapping[int, Measure]) -> Scorers:
    """A scorer for each metric and rater.

    It is named like the metric; one that came from Inspect is named as it was there. The rater is added where
    several gave the same metric, and a number where two names would be one.
    """
    raters = defaultdict(set)
    for measure in measures.values():
        raters[measure.metric].add(measure.rater)
    names: dict[_Scorer, str] = {}
    for measure in measures.values():
        key = (measure.signature, measure.rater)
        if key in names:
            continue
        name = recorded_name(measure)
        if measure.rater and len(raters[measure.metric]) > 1:
            name = f"{name} by {measure.rater}"
        same = sum(n == name or n.startswith(f"{name} #") for n in names.values())
        names[key] = f"{name} #{same + 1}" if same else name
    return Scorers(names, measures)


def recorded_name(measure: Measure) -> str:
    """The metric as a log names it: what Inspect recorded, under the name that it had there."""
    recorded = signed(measure.signature).recorded and measure.metric.startswith(_PREFIX)
    return measure.metric.removeprefix(_PREFIX) if recorded else measure.metric


def declared_scorers(scorers: Scorers) -> list[dict[str, Any]]:
    """The scorers as a log declares them; what our criteria are stands in their metadata."""
    declared: dict[str, dict[str, Any]] = {}
    for measure in scorers.measures.values():
        name, c = scorers.name_of(measure), measure.criterion
        entry = declared.setdefault(
            name,
            {
                "name": name,
                "options": {"model": measure.rater} if measure.rater else {},
                "metrics": [],
                "metadata": {
                    OURS: {
                        "metric": recorded_name(measure), "signature": measure.signature,
                        "rater": measure.rater, "criteria": {},
                    }
                },
            },
        )  # fmt: skip
        entry["metadata"][OURS]["criteria"][c.criterion] = {
            "low": c.low, "high": c.high, "direction": c.direction, "if_unanswered": c.if_unanswered,
            "pool": c.pool,
        }  # fmt: skip
    return list(declared.values())


def scores_of(scores: Iterable[AnswerScore], scorers: Scorers) -> dict[str, dict[str, Any]]:
    """The scores of one answer by scorer."""
    by_scorer: dict[str, list[AnswerScore]] = defaultdict(list)
    for score in scores:
        by_scorer[scorers.name_of(scorers.measures[score.measure])].append(score)
    return {name: _entry(rows, scorers.measures) for name, rows in by_scorer.items()}


def _entry(rows: Sequence[AnswerScore], measures: Mapping[int, Measure]) -> dict[str, Any]:
    """The entry of a scorer: a number, or one for each criterion; of a scorer of units alone one for each."""
    of_answer = [row for row in rows if row.unit is None] or rows
    values = _values(of_answer, measures)
    return {
        **_words(of_answer, measures),
        "value": next(iter(values.values())) if _is_alone(rows, values, measures) else values,
        "metadata": {OURS: {"scores": [_row(row, measures) for row in rows]}},
    }


def _values(rows: Sequence[AnswerScore], measures: Mapping[int, Measure]) -> dict[str, float]:
    """The mean over passes by criterion or unit; NaN for none."""
    places: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        place = row.unit.unit if row.unit else measures[row.measure].criterion.criterion
        places[place] += [] if row.value is None else [row.value]
    return {place: _mean(numbers) for place, numbers in places.items()}


def _is_alone(
    rows: Sequence[AnswerScore], values: Mapping[str, float], measures: Mapping[int, Measure]
) -> bool:
    """Whether the value of a scorer is one number, whose name says no more than the scorer's."""
    return len(values) == 1 and next(iter(values)) in plain_names(measures[rows[0].measure])


def plain_names(measure: Measure) -> tuple[str, str]:
    """The names of a criterion that say no more than that of its metric."""
    return "value", parse(measure.metric).name


def _words(rows: Sequence[AnswerScore], measures: Mapping[int, Measure]) -> dict[str, Any]:
    """The notes on an answer, and the reason why it lacks a number, where there are any."""
    without = next((row.status for row in rows if row.status != "ok"), None)
    notes = dict.fromkeys(row.note for row in rows if row.note and row.unit is None)
    reason = _reason(without, measures[rows[0].measure]) if without else None
    return filled({"explanation": "\n".join(notes), "reason": reason})


def _reason(status: str, measure: Measure) -> str:
    """Why there is no number, in Inspect's words where it has them."""
    failed = "grader_failed" if measure.rater else "scoring_failed"
    return _REASONS.get(status, failed if status == "failed" else status)


def _mean(values: Sequence[float]) -> float:
    """The mean over passes; NaN, by which Inspect tells what was not scored, for none."""
    return math.fsum(values) / len(values) if values else math.nan


def _row(score: AnswerScore, measures: Mapping[int, Measure]) -> dict[str, Any]:
    """A score as it stands in the run."""
    unit = score.unit
    return {"criterion": measures[score.measure].criterion.criterion, "value": score.value} | filled(
        {
            "status": None if score.status == "ok" else score.status,
            "pass": None if score.pass_no == 1 else score.pass_no,
            "note": score.note,
            "unit": unit and unit.unit, "text": unit and unit.text, "weight": unit and unit.weight,
        }
    )  # fmt: skip


_NUMBERS = ("n_items", "n_groups", "n_responses", "n_unanswered", "n_unreadable", "n_failed", "n_set_aside")
_FACTS = (
    *("low", "high", "set_low", "set_high", "bound_low", "bound_high", "coverage", "reason", "signature"),
    *_NUMBERS,
)


def results_of(
    benchmark: str,
    candidate: str,
    scorers: Scorers,
    counts: Mapping[str, int],
    estimates: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The results: how many samples there are, and by scorer and criterion the estimates of this run."""
    rows = [row for row in estimates if (row["benchmark"], row["candidate"]) == (benchmark, candidate)]
    return {
        "total_samples": counts["samples"],
        "completed_samples": counts["samples"] - counts["errors"],
        "scores": list(_scores(rows, scorers, counts)),
    }


def _scores(
    rows: Sequence[Mapping[str, Any]], scorers: Scorers, counts: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    measures = {(m.signature, m.rater, m.criterion.criterion): m for m in scorers.measures.values()}
    for row in rows:
        key = (row["signature"], row["rater"], row["criterion"])
        if key not in measures or row["estimate"] is None:  # a metric of Inspect is a number
            continue
        scorer = scorers.name_of(measures[key])
        yield {
            "name": scorer if row["criterion"] in plain_names(measures[key]) else row["criterion"],
            "scorer": scorer, "reducer": "mean",
            "scored_samples": counts.get(f"scored {scorer}", 0),
            "unscored_samples": counts.get(f"unscored {scorer}", 0),
            "params": {}, "metrics": dict(_metrics(row)),
            "metadata": {OURS: filled({name: row[name] for name in _FACTS})},
        }  # fmt: skip


def _metrics(row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mean, and the ends of its 95 % interval where it has them."""
    for name, field in (("mean", "estimate"), ("low 95%", "low"), ("high 95%", "high")):
        if row[field] is not None:
            yield name, {"name": name, "value": row[field], "params": {}}
