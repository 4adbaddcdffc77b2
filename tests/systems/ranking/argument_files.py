"""Small files in the layout of CasiMedicos, with questions of our own. Not for clinical use."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TASKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "A man of 70 has a sudden painful red joint of the great toe. What is likely?",
        "Gout",
        ("Rickets", "Flat foot", "Bunion", ""),
    ),
    (
        "A girl of 6 has a barking cough at night and noisy breathing in. What is likely?",
        "Croup",
        ("Asthma", "Measles", "Scurvy", "Mumps"),
    ),
)
"""Questions, the right option, and the others, of which one may be empty."""


def rows(task: tuple[str, str, Sequence[str]], argument: str = "") -> list[dict[str, Any]]:
    """The five rows of an item: the right option at 1 to 5. `#` in the argument is that place."""
    question, right, others = task
    return [
        {
            "question": question + (f" {argument}" if argument else "").replace("#", str(place)),
            "options": {
                str(k): text for k, text in enumerate([*others[: place - 1], right, *others[place - 1 :]], 1)
            },
            "correct_option": place,
        }
        for place in range(1, 6)
    ]


def write(path: Path, *tasks: Sequence[Mapping[str, Any]], mark: bytes = b"", end: str = "\n") -> Path:
    """A file of the rows of these items."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = end.join(json.dumps(row, ensure_ascii=False) for task in tasks for row in task) + end
    path.write_bytes(mark + text.encode())
    return path


def written(folder: Path, language: str = "en", **arguments: Sequence[str]) -> Path:
    """A folder with the questions, gold explanations, and arguments of each item by source."""
    sources = {"No_Argument": ("", ""), "Expert": ("Crystals hurt the joint.", "The larynx is swollen.")}
    for source, texts in {**sources, **arguments}.items():
        write(
            folder / "tests" / f"{language}.test_casimedicos_{source}.jsonl",
            *(rows(task, text) for task, text in zip(TASKS, texts, strict=True)),
        )
    return folder


def training(folder: Path, *tasks: Sequence[Mapping[str, Any]], split: str = "train", k: int = 0) -> Path:
    """The file of a mixture of a split, with these items."""
    return write(folder / f"en.{split}_casimedicos_Mixture-LLM-Args_{k}_Neutralized.jsonl", *tasks)
