"""Runs to be exported: one with all that a log may hold, and what of two runs must be equal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from tests.finished_runs import finished_run
from tests.studies.making import answer_rows, borrowed, exam, write_lines

from vivavoce import Criterion, Row, ScoringContext, Unit, Value
from vivavoce.core import registry
from vivavoce.core.records import ScoreStatus
from vivavoce.metrics import Metric
from vivavoce.run.run import Run, open_run

SECRET = "Quillfeather"
_SCORES = (
    *(
        "benchmark",
        "item",
        "variant",
        "candidate",
        "repeat",
        "criterion",
        "rater",
        "pass_no",
        "unit",
        "value",
    ),
    *("status", "group"),
)


def manifold(folder: Path, *, name: str = "exam") -> Run:
    """Closed and open items with contexts, variants and groups; answers of every status, and scores."""
    finished_run(folder, make_manifold, name)
    return open_run(folder / "run.viva")


def make_manifold(folder: Path, name: str) -> None:
    """Build the run of that name in a folder."""
    folder.mkdir(exist_ok=True)
    items: list[dict[str, Any]] = [
        {"item": "m1", "format": "mcq", "question": f"Which, {SECRET}?", "category": "heart",
         "options": [f"{SECRET} one, the first option", "B", "A", "none of these"], "answer": ["A"],
         "references": []},
        {"item": "m1", "variant": "short", "format": "mcq", "question": "Which?", "group": "m1",
         "options": ["one", "two"], "answer": ["two"], "references": []},
        {"item": "o1", "format": "longform", "question": f"Why, {SECRET}?", "context": f"A note on {SECRET}.",
         "references": [f"because {SECRET}", "or so"], "group": "note 7", "source": f"{SECRET}, p. 3"},
        {"item": "o2", "format": "short", "question": f"What, {SECRET}?", "references": [f"the {SECRET}"]},
        {"item": "t1", "format": "true_false", "question": f"Is {SECRET} true, or is it false?",
         "answer": ["True"], "references": []},
    ]  # fmt: skip
    spec = exam(folder, items, name=name)
    rows = answer_rows({
        "openai/gpt(temperature=0.5)": {
            "m1": ["A", f"the first: {SECRET}"], "m1|short": "two", "o1": ["", None],
            "o2": f"  the {SECRET}\n\n", "t1": "<think>never closed",
        },
        "local": {"m1": "B", "o1": f"because of {SECRET}", "o2": None, "t1": "True"},
    })  # fmt: skip
    rows[0] |= {"reasoning": f"I think of {SECRET}.", "tokens": 12, "seconds": 1.5, "cost": 0.25,
                "finish_reason": "length"}  # fmt: skip
    rows[4] |= {"error": f"the endpoint said: {SECRET}\nand hung up " + "x" * 400}
    rows[5] |= {"finish_reason": "odd"}
    run = open_run(folder / "run.viva")
    run.import_answers(write_lines(folder / f"a-{name}.jsonl", rows), benchmark=spec)
    run.score("token_f1", "accuracy")
    judged = [
        {"candidate": "local", "item": item, "rater": rater, "pass_no": n, "criterion": c, "value": value}
        for item, rater, n, c, value in (
            ("o1", "anna", 1, "quality", 4), ("o1", "anna", 2, "quality", 3), ("o1", "ben", 1, "quality", 1),
            ("o1", "anna", 1, "harm", 0),
        )
    ]  # fmt: skip
    judged[0]["note"] = f"good, says {SECRET}"
    run.import_scores(
        write_lines(folder / "scores.jsonl", judged), measure="panel(scale=five)", range={"*": (0, 5)},
        direction={"harm": "lower"},
    )  # fmt: skip


def _metric_of_pieces() -> type[Metric]:
    class Pieces(Metric):
        """Scores an answer, and each of its words."""

        formats = ("longform", "short")
        criteria = (Criterion(criterion="share"), Criterion(criterion="piece", pool="unit"))

        def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Any]]:
            return [{"share": Value(0.5), "piece": _pieces(row.reading.text)} for row in rows]

    return Pieces


def _pieces(text: str) -> dict[Unit, Value]:
    pieces = {}
    for k, word in enumerate(text.split(), 1):
        status: ScoreStatus = "ok" if k % 3 else "set_aside"
        value = 1 / k if status == "ok" else None
        pieces[Unit(unit=str(k), text=word, weight=2.0 - k)] = Value(value, note=f"on {word}", status=status)
    return pieces


def with_units(folder: Path) -> Run:
    """A run with scores of units, each with a text and a weight, negative ones too."""
    finished_run(folder, make_units)
    return open_run(folder / "run.viva")


def make_units(folder: Path) -> None:
    """Build that run in a folder."""
    run = manifold(folder)
    with borrowed():
        registry.metric("pieces")(_metric_of_pieces())
        run.score("pieces")


def responses(run: Run) -> list[dict[str, Any]]:
    """The answers in words of a run, as rows that two runs can be compared by."""
    return run.responses.filter(probe="").drop("role", "alias").to_dicts()


def items(run: Run) -> list[dict[str, Any]]:
    """The items of a run."""
    return run.items.to_dicts()


def scores(run: Run, prefix: str = "") -> list[tuple[Any, ...]]:
    """The scores of a run with their notes, the metric's name behind a prefix."""
    with run.file.reading() as db:
        notes = db.execute(
            "SELECT metric, item, variant, candidate, repeat, rater, pass_no, unit, u.text, s.note "
            "FROM scores s JOIN measures USING (measure_id) JOIN responses USING (response_id) "
            "JOIN units u USING (unit_id) JOIN items USING (item_id) JOIN candidates USING (candidate_id)"
        ).fetchall()
    rows = run.scores.with_columns(metric=pl.lit(prefix) + pl.col("metric")).select("metric", *_SCORES).rows()
    return sorted(rows, key=str) + sorted(((prefix + metric, *rest) for metric, *rest in notes), key=str)
