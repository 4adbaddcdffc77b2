"""A tiny run to write to and read from."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.finished_runs import finished_run

import vivavoce as viva
from vivavoce.run.run import Run

ITEMS = [
    {"id": "q1", "question": "What lowers a fever?", "format": "short", "answer": "Paracetamol"},
    {
        "id": "q1",
        "variant": "neutral",
        "alias": "n1",
        "question": "And so?",
        "format": "short",
        "answer": ["a", "b"],
    },
    {
        "id": "q2",
        "question": "Which?",
        "format": "mcq",
        "options": ["yes, ü", "no"],
        "answer": "no",
        "category": "c",
    },
]
Make = Callable[..., Run]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """`make(name, *candidates)` imports one answer of each candidate to each item, and returns the run."""

    def made(name: str = "exam.viva", *candidates: str, text: str = "Paracetamol") -> Run:
        content = (name, candidates or ("A", "B"), text)
        if name.endswith(".viva") and not (tmp_path / name).exists():
            finished_run(tmp_path, _import_answers, *content)
        else:
            _import_answers(tmp_path, *content)
        return viva.open(tmp_path / name)

    return made


def _import_answers(folder: Path, name: str, candidates: Sequence[str], text: str) -> None:
    exam = folder / "exam.jsonl"
    exam.write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")
    rows = [
        {"item": item, "candidate": candidate, "text": text}
        for candidate in candidates
        for item in ("q1", "n1", "q2")
    ]
    answers = folder / f"{name}.answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    viva.open(folder / name).import_answers(answers, benchmark=f"jsonl(path={exam})")
