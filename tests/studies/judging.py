"""Runs whose answers judges and people have scored, row by row."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.finished_runs import finished_run
from tests.studies.making import made, write_lines

from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run

JUDGE, OTHER = "judge(rubric=r, model=m1)", "judge(rubric=r, model=m2)"
FREE = "judge(rubric=r_free, model=m1)"
EXPERT = "expert(scale=5)"
NAMES = ("candidate", "item", "value", "rater", "criterion", "pass_no", "ballot", "position")

Marks = Mapping[str, Sequence[Sequence[Any]]]
"""By measure its scores, each as far as needed of `NAMES`; an item may name the repeat, as in 'q1#2'."""


def judged(
    folder: Path,
    marks: Marks,
    *,
    texts: Mapping[str, Any] | None = None,
    items: Sequence[Any] = (),
    role: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Run:
    """A run with these scores, 0 to 5; answers are 'x' unless `texts` gives a candidate's, by item."""
    finished_run(folder, _make, marks, texts, items, role, settings)
    return open_run(folder / "run.viva")


def _make(
    folder: Path,
    marks: Marks,
    texts: Mapping[str, Any] | None,
    items: Sequence[Any],
    role: Mapping[str, Any] | None,
    settings: Mapping[str, Any],
) -> None:
    rows = {measure: [_row(mark) for mark in own] for measure, own in marks.items()}
    answers: dict[str, dict[str, list[str]]] = {}
    for row in (row for own in rows.values() for row in own):
        said = (texts or {}).get(row["candidate"], {}).get(row["item"], "x")
        repeats = answers.setdefault(row["candidate"], {}).setdefault(row["item"], [])
        while len(repeats) < row["repeat"]:
            repeats.append(said if isinstance(said, str) else said[len(repeats)])
    run = made(folder, answers, items=items, role=role)
    for n, (measure, own) in enumerate(rows.items()):
        file = write_lines(folder / f"marks-{n}.jsonl", own)
        run.import_scores(file, measure=measure, again=True, **{"range": {"*": (0, 5)}, **settings})


def _row(mark: Sequence[Any]) -> dict[str, Any]:
    row = {k: v for k, v in zip(NAMES, mark, strict=False) if v is not None or k == "value"}
    item, _, repeat = str(row["item"]).partition("#")
    return {"criterion": "worth", **row, "item": item, "repeat": int(repeat or 1)}


def each(values: Sequence[Any], *, name: str = "A", rater: str | None = None) -> list[tuple[Any, ...]]:
    """One score of each of the items q00, q01, …"""
    return [(name, f"q{n:02}", value, rater) for n, value in enumerate(values) if value is not None]


def card(run: Run, **settings: Any) -> Finding:
    """The examiner's card."""
    return run.study("examiners", **settings)["examiners"]


def some(finding: Finding, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a finding that have these values."""
    return [dict(r) for r in finding.rows if all(r[k] == v for k, v in wanted.items())]


def draw(seed: str, n: int, among: int) -> list[int]:
    """`n` whole numbers from 0 to below `among` that follow from the seed alone."""
    return [hashlib.sha256(f"{seed} {k}".encode()).digest()[0] % among for k in range(n)]


RETESTS = [
    ("NVLM-70B", "comprehension", (".8308", ".9548", ".9537"), 63, 42, 16),
    ("NVLM-70B", "harm", (".6917", ".8857", ".8841"), 63, 42, 23),
    ("Med42-70B", "comprehension", (".8365", ".9497", ".9413"), 60, 40, 14),
    ("Med42-70B", "harm", (".7142", ".8694", ".8424"), 60, 40, 17),
]
"""Five judgements of one text (statistics.md, section 6): candidate, criterion, alpha nominal, ordinal and
interval, units, cases, units that were not scored alike.
"""
