"""Small files in the layouts of the closed data sets, with questions of our own."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

Rows = Sequence[Mapping[str, Any]]


def write_parquet(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(list(rows), infer_schema_length=None, strict=False).write_parquet(path)
    return path


def write_json_lines(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[Sequence[Any]], *, bom: bool = False, end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as stream:
        csv.writer(stream, lineterminator=end).writerows(rows)
    return path


def medmcqa_row(number: int = 1, *, base: int, **changes: Any) -> dict[str, Any]:
    """The right option is the second, opb."""
    row: dict[str, Any] = {
        "id": f"row-{number}",
        "question": f"Which vitamin prevents scurvy? ({number})",
        "opa": "Vitamin A",
        "opb": "Vitamin C",
        "opc": "Vitamin D",
        "opd": "Vitamin K",
        "cop": base + 1,
        "choice_type": "single",
        "exp": None,
        "subject_name": "Biochemistry",
        "topic_name": None,
    }
    return row | changes


def medqa_hub_row(number: int = 1, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": f"test-{number:05}",
        "sent1": f"Patient {number} takes warfarin and bleeds. Which drug reverses it?",
        "sent2": "",
        "ending0": "Protamine",
        "ending1": "Naloxone",
        "ending2": "Vitamin K",
        "ending3": "Flumazenil",
        "label": 2,
    }
    return row | changes


def medqa_authors_row(number: int = 1, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "question": f"Patient {number} takes warfarin and bleeds. Which drug reverses it?",
        "answer": "Vitamin K",
        "options": {"A": "Protamine", "B": "Naloxone", "C": "Vitamin K", "D": "Flumazenil"},
        "meta_info": "step1",
        "answer_idx": "C",
        "metamap_phrases": ["warfarin"],
    }
    return row | changes


def pubmedqa_entry(**changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "QUESTION": "Does a poster on hand hygiene lower the rate of infections?",
        "CONTEXTS": ["Made up: 40 wards drew lots.", "The rates were 3.1 and 3.0."],
        "LABELS": ["METHODS", "RESULTS"],
        "MESHES": ["Hand Hygiene"],
        "YEAR": "2011",
        "reasoning_required_pred": "no",
        "reasoning_free_pred": "no",
        "final_decision": "no",
        "LONG_ANSWER": "It did not.",
    }
    return entry | changes


def mmlu_row(number: int = 1, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "question": f'Which bone of the arm, "the upper", is the longest? ({number})',
        "subject": "anatomy",
        "choices": ["Radius", "Ulna, the", "Humerus", "Scaphoid"],
        "answer": 2,
    }
    return row | changes


def mmlu_cells(number: int = 1, letter: Any = "C") -> list[Any]:
    row = mmlu_row(number)
    return [row["question"], *row["choices"], letter]


def careqa_row(number: int = 1, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "exam_id": number,
        "question": f"Which antidote is given for paracetamol? ({number})",
        "op1": "Naloxone.",
        "op2": "Atropine.",
        "op3": "Acetylcysteine.",
        "op4": "Flumazenil.",
        "cop": 3,
        "year": 2024,
        "category": "Nursing",
        "unique_id": f"5bd4d2ab-0000-4000-8000-{number:012}",
    }
    return row | changes


def prescription_row(number: int = 1, *, medicines: int = 2, **changes: Any) -> dict[str, Any]:
    form: dict[str, Any] = {
        "procedure": {"chief_complaints_diagnosis": f"Acid reflux ({number})"},
        "medicine_details": [
            {
                "medicine_name": f"Pan {number}{k}",
                "medicine_frequency": "Before BREAKFAST",
                "course_duration": f"{k + 4} days",
            }
            for k in range(medicines)
        ],
    }
    return {"results": repr(form | changes)}
