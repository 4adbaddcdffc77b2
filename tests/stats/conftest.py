"""HIVMedQA's published judge scores as item means: what the golden numbers are computed from."""

import csv
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest


class Items(NamedTuple):
    """Item means, groups (twins share one), variances between repeats, in the order of `names`."""

    names: list[str]
    values: np.ndarray
    groups: np.ndarray
    variances: np.ndarray


@pytest.fixture(scope="session")
def judge_scores(hivmedqa: Path) -> list[dict[str, str]]:
    """The supervised judge's rows on the paper's 63 questions, each with its `group`."""
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = {q["id"]: q for q in map(json.loads, lines)}
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        return [
            {**row, "group": questions[row["question_id"]]["derived_from"] or row["question_id"]}
            for row in csv.DictReader(file)
            if row["supervised"] == "True" and questions[row["question_id"]]["paper_subset"]
        ]


@pytest.fixture(scope="session")
def items(judge_scores: list[dict[str, str]]) -> Callable[..., Items]:
    """Item means of a model and criterion; `unparsed`, `blank`: what such rows count (None: dropped)."""

    def of(
        model: str,
        criterion: str = "comprehension",
        *,
        unparsed: float | None = None,
        blank: float | str | None = "kept",
    ) -> Items:
        marks, group = defaultdict(list), {}
        for row in judge_scores:
            if row["model"] != model:
                continue
            mark = float(row[criterion]) if row["parse_status"] == "ok" else unparsed
            if row["answer_blank"] == "True" and blank != "kept":
                mark = blank
            if mark is not None:
                marks[row["question_id"]].append(mark)
                group[row["question_id"]] = row["group"]
        names = sorted(marks)
        return Items(
            names,
            np.array([np.mean(marks[name]) for name in names]),
            np.array([group[name] for name in names]),
            np.array([np.var(marks[name], ddof=1) if len(marks[name]) > 1 else np.inf for name in names]),
        )

    return of


class Pair(NamedTuple):
    """Differences a - b on the items both have."""

    differences: np.ndarray
    groups: np.ndarray


@pytest.fixture(scope="session")
def common() -> Callable[[Items, Items], Pair]:
    """Item differences of two models on their common items."""

    def of(a: Items, b: Items) -> Pair:
        both = sorted(set(a.names) & set(b.names))
        in_a, in_b = [a.names.index(n) for n in both], [b.names.index(n) for n in both]
        return Pair(a.values[in_a] - b.values[in_b], a.groups[in_a])

    return of
