"""Runs in which a judge scored every answer and people some, drawn at random or chosen by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.finished_runs import finished_run
from tests.studies.judging import JUDGE, Marks, judged
from tests.studies.making import write_lines

from vivavoce.run.run import Run, open_run

RATING = "rating(rubric=r)"
A_AND_B = ("A", "B")


class Benchmark(NamedTuple):
    """What people would say of every answer, and what the judge says; candidates x items, 0 to 5."""

    people: np.ndarray
    judge: np.ndarray


def benchmark(
    seed: int, n: int = 200, *, better: float = 0.0, kinder: float = 0.0, noise: float = 0.5
) -> Benchmark:
    """Two candidates, B better by `better`; the judge errs by `noise` and is kinder to B by `kinder`."""
    rng = np.random.default_rng(seed)
    item = rng.normal(2.5, 0.7, n)
    people = np.stack([item + rng.normal(shift, 0.5, n) for shift in (0.0, better)])
    judge = people + rng.normal(0, noise, (2, n)) + np.array([[0.0], [kinder]])
    return Benchmark(*(np.clip(np.round(values, 1), 0, 5) for values in (people, judge)))


def people_run(
    folder: Path,
    values: Benchmark,
    labelled: Sequence[int],
    *,
    probability: float | None = None,
    measure: str = JUDGE,
    raters: Sequence[str] = ("ann",),
) -> Run:
    """The judge's scores of every answer, and people's of these items."""
    names = [(c, k) for c in range(2) for k in range(values.judge.shape[1])]
    marks = [(A_AND_B[c], f"q{k:03}", float(values.judge[c, k])) for c, k in names]
    rows = [
        {"candidate": A_AND_B[c], "item": f"q{k:03}", "criterion": "worth", "rater": rater,
         "value": float(values.people[c, k]), "p": probability}
        for c in range(2) for k in labelled for rater in raters
    ]  # fmt: skip
    columns = {} if probability is None else {"map": {"probability": "p"}}
    finished_run(folder, _make, {measure: marks}, rows, columns)
    return open_run(folder / "run.viva")


def _make(folder: Path, marks: Marks, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> None:
    run = judged(folder, marks)
    if rows:
        file = write_lines(folder / "people.jsonl", rows)
        run.import_scores(file, measure=RATING, range={"*": (0, 5)}, again=True, **columns)


def drawn(seed: int, n: int = 200, size: int = 50) -> list[int]:
    """A simple random sample of items."""
    return sorted(np.random.default_rng(seed).choice(n, size, replace=False).tolist())
