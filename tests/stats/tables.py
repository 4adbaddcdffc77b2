"""Item means of all ten models in one matrix: what the golden numbers of rankings are computed from."""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

MODELS = [
    "Claude 3.5 Sonnet",
    "Gemini 2.5 Pro",
    "Gemma 3 27B",
    "Llama 3.1-8B-Instruct",
    "Llama 3.2-1B-Instruct",
    "Llama 3.3-70B-Instruct",
    "Med42-70B",
    "MedGemma 27B",
    "Meditron 3-70B",
    "NVLM-70B",
]


class Table(NamedTuple):
    """Item means, one row per model in the order of MODELS, on the items that all models have."""

    values: np.ndarray
    groups: np.ndarray
    names: list[str]


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def marks(items: Callable, criterion: str = "comprehension") -> Table:
    """The judge's marks: Med42's 14 unparsed rows dropped, the blank answer that was scored kept."""
    found = [items(model, criterion) for model in MODELS]
    names = sorted(set.intersection(*(set(one.names) for one in found)))
    values = np.array([[one.values[one.names.index(name)] for name in names] for one in found])
    return Table(values, np.array([found[0].groups[found[0].names.index(name)] for name in names]), names)


def medsyn_f1(folder: Path, names: list[str]) -> np.ndarray:
    """MedSynF1 with GPT's dictionary and lemmas, the mean of 5 repeats, in the order of `names`."""
    repeats = defaultdict(list)
    with (folder / "f1.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["variant"] == "gptdict_lemma":
                repeats[row["model"], row["question_id"]].append(float(row["f1"]))
    return np.array([[np.mean(repeats[model, name]) for name in names] for model in MODELS])
