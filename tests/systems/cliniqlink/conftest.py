"""The challenge's files, made here and written from the published sample."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = {"isbn": "1-2", "page": 7, "paragraph_id": "p1"}
ROWS: dict[str, list[dict[str, Any]]] = {
    "TF": [{"question": "Is it so?", "answer": "True"}, {"question": "Is it not?", "answer": "False"}],
    "MC": [{"question": "Which?", "options": ["one", "two"], "correct_answer": "B"}],
    "list": [{"question": "Which?", "options": ["x", "y", "z"], "answer": ["x", "z"]}],
    "short": [{"question": "What?", "answer": "This."}],
    "short_inverse": [
        {"question": "What?", "answer": "That.", "false_answer": "That.", "incorrect_explanation": "Key."}
    ],
    "multi_hop": [{"question": "Why?", "answer": "So.", "reasoning": ["Step 1: One.", "Step 2: Two."]}],
    "multi_hop_inverse": [
        {
            "question": "Why?", "answer": "No.", "reasoning": ["Step 1: One.", "Step 2: Two."],
            "incorrect_reasoning_step": ["- Step 2 is the wrong one.", "- Explanation: It is three."],
        }
    ],
}  # fmt: skip
KINDS = {
    "TF": "true_false", "MC": "multiple_choice", "list": "list", "short": "short",
    "short_inverse": "short_inverse", "multi_hop": "multi_hop", "multi_hop_inverse": "multi_hop_inverse",
}  # fmt: skip


def dump(path: Path, body: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(body), encoding="utf-8")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def exam(folder: Path, **rows: Any) -> str:
    """The spec of a folder with these rows, else those above; every item is on one paragraph."""
    for stem, usual in ROWS.items():
        dump(folder / f"{stem}.json", [{"source": SOURCE} | row for row in rows.get(stem, usual)])
    return f"cliniqlink(data='{folder}')"


Results = Callable[..., Path]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Writes the seven files as others do: inputs are rows with gold, responses 'said', no ids."""

    def write(**changed: Any) -> Path:
        folder = tmp_path / "results"
        for stem, rows in ROWS.items():
            said = ["said"] * len(rows)
            body = {"inputs": [row | {"source": SOURCE} for row in rows], "responses": said, "prompts": said}
            dump(folder / f"{KINDS[stem]}.json", body | changed.get(stem, {}))
        return folder

    return write
