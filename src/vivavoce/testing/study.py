"""What every study must keep, ours and a plugin's."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any

import polars as pl

from vivavoce.core import registry
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.core.tables import RESPONSES, SCORES, schema
from vivavoce.studies.answers import answers_in
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study, columns

ITEMS, CANDIDATES = 40, ("first", "second", "third")
DIGITS = 9
"""Significant digits of a number that may not depend on the order of the rows: a sum has another last one."""


def check_study(study: Study) -> None:
    """Raise `AssertionError` with a sentence where a registered study breaks a rule.

    It must say what it asks; give rows of its type, without NaN and fit for JSON, for a table of three
    candidates, for one that is empty, one of a single candidate, one of ties and one with failed scores; and
    give the same rows whatever the order of the table's rows.
    """
    name = registry.canonical(study).name
    _must(isinstance(study.about, str) and bool(study.about.strip()), f"{name} does not say what it is about")
    _must(is_dataclass(study.row), f"the row of {name} is no dataclass: its fields are the columns")
    usual = table(lambda candidate, item: float((item + candidate) % 3 == 0))
    cases = {
        "three candidates": usual,
        "an empty table": usual._replace(scores=usual.scores.head(0), measures={}),
        "one candidate": usual._replace(scores=usual.scores.filter(candidate=CANDIDATES[0])),
        "ties": table(lambda candidate, item: 1.0),
        "failed scores": _with_failures(usual),
    }
    for case, scores in cases.items():
        try:
            finding = study.findings(scores)
        except Exception as error:  # third-party code: any exception is its fault
            raise AssertionError(f"{name}, given {case}, raises {type(error).__name__}: {error}") from error
        _check_finding(finding, study, f"{name}, given {case},")
    for case, scores in cases.items():
        shuffled = scores._replace(scores=scores.scores.sample(fraction=1.0, shuffle=True, seed=1))
        _must(
            _comparable(study.findings(scores).rows) == _comparable(study.findings(shuffled).rows),
            f"{name}, given {case}, finds other rows when the score rows come in another order",
        )


def table(value: Callable[[int, int], float]) -> ScoreTable:
    """A table of scores by two metrics, their `value` by the numbers of candidate and item.

    40 items in 20 cases of two categories, three candidates.
    """
    measures = {
        key: Measure(metric=metric, signature=f"{metric}()@1", criterion=Criterion(criterion=metric))
        for key, metric in ((1, "correctness"), (2, "completeness"))
    }
    scores = [
        {
            **_place(candidate, item),
            "metric": measure.metric,
            "criterion": measure.metric,
            "rater": "",
            "pass_no": 1,
            "value": value(candidate, item + key),
            "status": "ok",
            "measure_id": key,
        }
        for key, measure in measures.items()
        for candidate in range(len(CANDIDATES))
        for item in range(ITEMS)
    ]
    responses = [
        {**_place(candidate, item), "status": "ok", "text": f"response {candidate + item}", "probe": ""}
        for candidate in range(len(CANDIDATES))
        for item in range(ITEMS)
    ]
    types: dict[str, Any] = {**schema(SCORES), "measure_id": pl.Int64}
    types |= dict.fromkeys(("category", "format", "parts", "note"), pl.String)
    return ScoreTable(
        pl.DataFrame(scores, schema=types),
        measures,
        answers=answers_in(pl.DataFrame(responses, schema=schema(RESPONSES))),
    )


def _place(candidate: int, item: int) -> dict[str, Any]:
    """The columns that say which response a row is about."""
    return {
        **dict.fromkeys(("variant", "alias", "edit"), ""),
        "benchmark": "exam",
        "item": f"q{item:02}",
        "group": f"case {item // 2}",
        "category": ("cardiology", "oncology")[item // 2 % 2],
        "format": "short",
        "candidate": CANDIDATES[candidate],
        "role": "candidate",
        "repeat": 1,
    }


def _with_failures(scores: ScoreTable) -> ScoreTable:
    """The table with every score of the last candidate failed, and every fifth item's of all."""
    failed = (pl.col("candidate") == CANDIDATES[-1]) | pl.col("item").str.ends_with("5")
    return scores._replace(
        scores=scores.scores.with_columns(
            value=pl.when(failed).then(None).otherwise(pl.col("value")),
            status=pl.when(failed).then(pl.lit("failed")).otherwise(pl.col("status")),
        )
    )


def _check_finding(finding: Any, study: Study, place: str) -> None:
    _must(isinstance(finding, Finding), f"{place} returns {type(finding).__name__}, no Finding")
    name = registry.canonical(study).name
    _must(finding.study == name, f"{place} calls its finding {finding.study!r}: use self.finding(rows, text)")
    expected = columns(study.row)
    for row in finding.rows:
        _must(
            tuple(row) == expected,
            f"{place} has a row with the columns {', '.join(row)}; {study.row.__name__} has "
            f"{', '.join(expected)}",
        )
        for column, cell in row.items():
            number = cell if isinstance(cell, float) else 0.0
            _must(math.isfinite(number), f"{place} has {cell} as {column}: write None, with the reason")
        try:
            json.dumps(row)
        except TypeError as error:
            raise AssertionError(f"{place} has a row that JSON cannot hold: {error}") from error


def _comparable(rows: Sequence[Any]) -> list[str]:
    """The rows as texts in one order, numbers to the digits that count."""

    def rounded(cell: Any) -> Any:
        return f"{cell:.{DIGITS}g}" if isinstance(cell, float) else cell

    return sorted(json.dumps({name: rounded(cell) for name, cell in row.items()}) for row in rows)


def _must(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(f"{sentence}.")
