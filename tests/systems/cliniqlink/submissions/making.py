"""A challenge made here: an exam of some paragraphs, answers to it, and submissions in a folder."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.systems.cliniqlink.conftest import ROWS, dump
from tests.systems.cliniqlink.semantic.making import FakeEncoder

from vivavoce.benchmarks import load
from vivavoce.core.records import Item
from vivavoce.run.run import Run, open_run
from vivavoce.systems.cliniqlink import metric as cliniqlink
from vivavoce.systems.cliniqlink.submissions.board import Leaderboard

SHARES = {"best": 0.97, "good": 0.9, "fair": 0.86, "middle": 0.5, "low": 0.2}
"""The submissions to rank, with their shares of right answers."""
WRONG = {"mcq": "one", "list": "y"}
SECRETS = ("KEYSHORT", "KEYINVERSE", "KEYHOP", "KEYSTEP", "KEYWHY", "KEYBOOK", "KEYPARAGRAPH")
"""What stands in the key of every paragraph, and nowhere else."""


def exam_rows(n: int, *, turned: bool = False) -> dict[str, list[dict[str, Any]]]:
    """The seven files with a question of each format on each of `n` paragraphs; `turned` has other keys."""
    other = " turned" if turned else ""
    rows: dict[str, list[dict[str, Any]]] = {stem: [] for stem in ROWS}
    for k in range(n):
        row = {
            "TF": {"question": f"Is {k} <b>so</b>?", "answer": "True" if k % 2 == turned else "False"},
            "MC": {
                "question": f"Which of {k}?", "options": ["one", "two", "three", "four"],
                "correct_answer": "three" if turned else "two",
            },
            "list": {
                "question": f"Which are {k}?", "options": ["x", "y", "z"],
                "answer": ["y", "z"] if turned else ["x", "z"],
            },
            "short": {"question": f"What is {k}?", "answer": f"</script>KEYSHORT {k}{other}."},
            "short_inverse": {
                "question": f"What {k}?", "answer": "That.", "false_answer": "That.",
                "incorrect_explanation": f"KEYINVERSE {k}{other}.",
            },
            "multi_hop": {
                "question": f"Why {k}?", "answer": f"KEYHOP {k}{other}.",
                "reasoning": [f"Step 1: KEYSTEP{other}.", "Step 2: Two."],
            },
            "multi_hop_inverse": {
                "question": f"Why not {k}?", "answer": "No.", "reasoning": ["Step 1: One.", "Step 2: Two."],
                "incorrect_reasoning_step": [
                    f"- Step {1 if turned else 2} is wrong.", f"- Explanation: KEYWHY {k}{other}.",
                ],
            },
        }  # fmt: skip
        source = {"isbn": f"KEYBOOK{other}", "page": 1, "paragraph_id": f"KEYPARAGRAPH{k}"}
        for stem, fields in row.items():
            rows[stem].append({**fields, "source": source})
    return rows


def write_exam(folder: Path, n: int, *, turned: bool = False) -> str:
    """The spec of such an exam, written to a folder."""
    for stem, rows in exam_rows(n, turned=turned).items():
        dump(folder / f"{stem}.json", rows)
    return exam_spec(folder)


def exam_spec(folder: Path) -> str:
    return f"cliniqlink(data='{folder}')"


def right(item: Item) -> str:
    """An answer that is the key in the form that is asked for."""
    if item.format == "list":
        return ", ".join(item.answer)
    if item.format == "multi_hop_inverse":
        return f"Incorrect Reasoning Step: {item.step}\nIncorrect Reasoning Explanation: {item.references[0]}"
    return (item.answer or item.references)[0]


def wrong(item: Item) -> str:
    """An answer that can be read and scores low."""
    if item.format == "true_false":
        return "False" if item.answer == ("True",) else "True"
    return WRONG.get(item.format, "Step: 9\nNothing of the kind.")


def answers(spec: str, share: float, seed: int) -> dict[str, str]:
    """Answers by item, so many of them right."""
    draw = random.Random(seed)
    return {i.item: right(i) if draw.random() < share else wrong(i) for i in load(spec).items}


def scored(
    path: Path,
    spec: str,
    candidates: Mapping[str, Mapping[str, str | None]],
    metrics: Sequence[str] = ("cliniqlink",),
    more: Sequence[Mapping[str, Any]] = (),
) -> Run:
    """A run with these answers by candidate, and `more` rows of answers, scored by these metrics."""
    lines = [
        {"item": item, "candidate": candidate, "text": text}
        for candidate, texts in candidates.items()
        for item, text in texts.items()
    ]
    run = open_run(path)
    run.import_answers([*lines, *map(dict, more)], benchmark=spec)
    if metrics:
        run.score(*metrics)
    return run


def places(board: Leaderboard) -> list[str]:
    return [row.place for row in board.rows]


def reasons(board: Leaderboard) -> dict[str, str]:
    return {entry.place: entry.reason for entry in board.refused}


@contextmanager
def fake_encoder() -> Iterator[None]:
    """Within it open answers are compared by a fake encoder."""
    made = FakeEncoder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cliniqlink, "load_encoder", lambda name: made)
        yield


def holds_any(words: Collection[str], text: str | bytes) -> list[str]:
    """Which of these words stand in a text."""
    body = text if isinstance(text, bytes) else text.encode()
    return [word for word in words if word.encode() in body]
