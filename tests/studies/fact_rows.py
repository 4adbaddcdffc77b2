"""Rows of facts made by hand: an answer is a line of words, each what became of a fact."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.facts.facts import Facts
from vivavoce.studies.score_table import ScoreTable

VALUES = {"true": 1.0, "supported": 1.0, "false": 0.0, "contradicted": 0.0}
SILENT = {"noncommittal": "unanswered", "empty": "unanswered", "blank": "unanswered",
          "withheld": "unanswered", "unknown": "unanswered",
          "unreadable": "unreadable", "lost": "failed", "nothing": "set_aside"}  # fmt: skip
NOTES = {"lost": "failed: no reply", "nothing": "the answer has no unit", "unreadable": "cut",
         "blank": "blank: no letter and no digit", "unknown": "a refusal without an answer",
         "withheld": "withheld by the provider's content filter"}  # fmt: skip
SCHEMA = {
    "measure_id": pl.Int64, "benchmark": pl.String, "item": pl.String, "variant": pl.String,
    "group": pl.String, "category": pl.String, "candidate": pl.String, "role": pl.String, "repeat": pl.Int64,
    "edit": pl.String, "pass_no": pl.Int64, "unit": pl.String, "text": pl.String, "unit_weight": pl.Float64,
    "value": pl.Float64, "status": pl.String, "note": pl.String,
}  # fmt: skip
JUDGE = "atomic_facts(checker=judge/m,splitter=judge/s)@1"
PERSON = "atomic_facts(checker=recorded(file=a.jsonl,rater=ann),splitter=recorded(file=a.jsonl))@1"

Answers = Mapping[str, Mapping[str, str | Sequence[str]]]
"""Candidate, then item, then the words of the facts of each repeat: `true=a text` gives a fact its text."""


def measure(signature: str = JUDGE, rater: str = "judge/m") -> Measure:
    criterion = Criterion(criterion="supported", pool="unit", if_unanswered="set_aside")
    return Measure(metric="atomic_facts", signature=signature, rater=rater, criterion=criterion)


def fact_rows(
    answers: Answers,
    *,
    key: int = 1,
    groups: Mapping[str, str] = {},
    categories: Mapping[str, str] = {},
    pass_no: int = 1,
) -> pl.DataFrame:
    rows = []
    for candidate, by_item in answers.items():
        for item, texts in by_item.items():
            for repeat, text in enumerate([texts] if isinstance(texts, str) else texts, 1):
                answer = dict(
                    measure_id=key, benchmark="exam", item=item, variant="", group=groups.get(item, item),
                    category=categories.get(item), candidate=candidate, role="candidate", repeat=repeat,
                    edit="", pass_no=pass_no,
                )  # fmt: skip
                rows += [answer | fact for fact in _facts(text, f"{candidate} {item} {repeat}")]
    return pl.DataFrame(rows, schema=SCHEMA)


def _facts(text: str, name: str) -> list[dict[str, Any]]:
    if text in SILENT:
        note = NOTES.get(text, f"{text}: said")
        return [{"unit": "", "text": "", "value": None, "status": SILENT[text], "note": note}]
    facts = []
    for number, fact in enumerate(text.split("; ") if "; " in text or "=" in text else text.split(), 1):
        word, _, claim = fact.partition("=")
        status = "ok" if word in VALUES else "failed" if word == "failed" else "set_aside"
        facts.append({
            "unit": str(number), "text": claim or f"Fact {number} of {name}.", "unit_weight": 1.0,
            "value": VALUES.get(word), "status": status, "note": f"{word}: why" if word != "true" else word,
        })  # fmt: skip
    return facts


def table(*frames: pl.DataFrame, measures: Mapping[int, Measure] | None = None, **more: Any) -> ScoreTable:
    rows = pl.concat(frames)
    return ScoreTable(rows.head(0), {}, units=rows, unit_measures=measures or {1: measure()}, **more)


def found(*frames: pl.DataFrame, measures: Mapping[int, Measure] | None = None, **options: Any) -> Finding:
    return Facts(**options).findings(table(*frames, measures=measures))


def rows_of(finding: Finding, **wanted: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if all(row[name] == value for name, value in wanted.items())]


def row_of(finding: Finding, **wanted: Any) -> dict[str, Any]:
    (row,) = rows_of(finding, **wanted)
    return row
