"""An exam of one's own in every format, answered right, wrong, blank, refused and unreadably, from file to
estimate.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.run.run import Run

EXAM: list[dict[str, Any]] = [
    {
        "id": "dose",
        "format": "mcq",
        "question": "Dose?",
        "options": ["2.5 mg", "25 mg", "250 mg"],
        "answer": "2.5 mg",
    },
    {"id": "cells", "format": "mcq", "question": "Cells?", "options": ["T cells", "B cells"], "answer": "B"},
    {"id": "safe", "format": "true_false", "question": "Safe?", "answer": False},
    {
        "id": "signs",
        "format": "list",
        "question": "Signs?",
        "options": ["Fever", "Rash", "Pale, cool skin"],
        "answer": ["Fever", "Pale, cool skin"],
    },
    {"id": "drug", "format": "short", "question": "Drug?", "references": ["vitamin K", "phytomenadione"]},
    {
        "id": "plan",
        "format": "longform",
        "question": "Plan?",
        "references": ["Stop warfarin and give vitamin K"],
    },
]
ANSWERS = {
    "right": {
        "dose": "The answer is (A).",
        "cells": "B cells",
        "safe": "**False**",
        "signs": "- Fever\n- Pale, cool skin",
        "drug": "Vitamin K.",
        "plan": "Stop warfarin and give vitamin K",
    },
    "wrong": {
        "dose": "Answer: 25 mg",
        "cells": "T cells",
        "safe": "True",
        "signs": "Fever, jaundice",
        "drug": "vitamin C",
        "plan": "Give more warfarin",
    },
    "silent": {
        "dose": "",
        "cells": "I'm sorry, but I cannot answer this.",
        "safe": "...",
        "signs": "I cannot answer.",
        "drug": "<think>vitamin K</think>",
        "plan": "As an AI, I cannot give medical advice.",
    },
    "unclear": {
        "dose": "12.5 mg",
        "cells": "A or B",
        "safe": "Trueish",
        "signs": "All of the above",
        "drug": "<think>vitamin K",
        "plan": "<think>stop",
    },
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    exam, answers = tmp_path / "t.jsonl", tmp_path / "answers.jsonl"
    exam.write_text("".join(json.dumps(item) + "\n" for item in EXAM), encoding="utf-8")
    rows = [{"item": i, "candidate": c, "text": t} for c, said in ANSWERS.items() for i, t in said.items()]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = viva.open(tmp_path / "t.viva")
    made.import_answers(answers, benchmark=f"jsonl(path='{exam}')")
    return made


def values(run: Run, metric: str) -> dict[str, dict[str, float | str]]:
    """By candidate and item the value, or the status where there is none."""
    found: dict[str, dict[str, float | str]] = {}
    for row in run.scores.filter(metric=metric).iter_rows(named=True):
        found.setdefault(row["candidate"], {})[row["item"]] = (
            row["status"] if row["value"] is None else row["value"]
        )
    return found


def test_accuracy_marks_choices_and_nothing_else(run: Run) -> None:
    run.score("accuracy", "list_f1")
    assert {
        "right": {"dose": 1.0, "cells": 1.0, "safe": 1.0},
        "wrong": {"dose": 0.0, "cells": 0.0, "safe": 0.0},
        "silent": dict.fromkeys(("dose", "cells", "safe"), "unanswered"),
        "unclear": dict.fromkeys(("dose", "cells", "safe"), "unreadable"),
    } == values(run, "accuracy")


def test_list_f1_marks_lists_and_nothing_else(run: Run) -> None:
    run.score("accuracy", "list_f1")
    # wrong: one of two right, and a stray: 2 tp / (2 tp + fp + fn) = 2 / 4
    assert {
        "right": {"signs": 1.0},
        "wrong": {"signs": 0.5},
        "silent": {"signs": "unanswered"},
        "unclear": {"signs": "unreadable"},
    } == values(run, "list_f1")


@pytest.mark.parametrize(
    ("metric", "items"),
    [("exact", {"drug"}), ("token_f1", {"drug", "plan"}), ("rouge(n=1)", {"drug", "plan"})],
)
def test_open_formats_are_marked_by_what_they_share(run: Run, metric: str, items: set[str]) -> None:
    run.score(metric)
    found = values(run, metric)
    assert dict.fromkeys(items, 1.0) == found["right"]
    assert dict.fromkeys(items, "unanswered") == found["silent"]
    assert dict.fromkeys(items, "unreadable") == found["unclear"]
    assert items == found["wrong"].keys()
    assert all(isinstance(v, float) and v < 1 for v in found["wrong"].values())


def test_silence_counts_as_worst_and_coverage_says_so(run: Run) -> None:
    rows = {row["candidate"]: row for row in run.score("accuracy").rows}
    # Silence counts as worst, but of nothing else there is no figure.
    assert {"right": 1.0, "wrong": 0.0, "silent": None, "unclear": None} == {
        c: r["estimate"] for c, r in rows.items()
    }
    assert {"right": 1.0, "wrong": 1.0, "silent": 0.0, "unclear": 0.0} == {
        c: r["coverage"] for c, r in rows.items()
    }
    assert (3, 0) == (rows["silent"]["n_unanswered"], rows["silent"]["n_unreadable"])
    assert (0, 3) == (rows["unclear"]["n_unanswered"], rows["unclear"]["n_unreadable"])


def test_reasons_stand_in_the_status(run: Run) -> None:
    run.score("accuracy")
    causes = {row["candidate"]: row["causes"] for row in run.status().rows if row.get("metric") == "accuracy"}
    assert {} == causes["right"]
    assert 2 == causes["silent"]["blank: no letter and no digit"]
    assert 3 == sum(causes["unclear"].values())
