"""A tiny run to write to and read from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

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
    exam = tmp_path / "exam.jsonl"
    exam.write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")

    def made(name: str = "exam.viva", *candidates: str, text: str = "Paracetamol") -> Run:
        rows = [
            {"item": item, "candidate": candidate, "text": text}
            for candidate in candidates or ("A", "B")
            for item in ("q1", "n1", "q2")
        ]
        answers = tmp_path / f"{name}.answers.jsonl"
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        run = viva.open(tmp_path / name)
        run.import_answers(answers, benchmark=f"jsonl(path={exam})")
        return run

    return made
