"""The scores of Tables 2 to 4 and the cells of Table 1 from a JSON file: of each training run, by source."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce import stats
from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.text import one_line

LISTS = {
    "runs": ("task", "evaluator", "mixture", "run", "source", "score"),
    "printed_mean_std": ("task", "evaluator", "mixture", "source", "mean", "std"),
    "table1": ("evaluator", "task", "printed_avg", "printed_best"),
}
"""The lists of the file, with the fields of a row that are read."""

Floats = NDArray[np.float64]


class Printed(NamedTuple):
    """A mean over training runs and its standard deviation as printed; null where the file has none."""

    mean: float | None = None
    sd: float | None = None


class PublishedScores(NamedTuple):
    """What the file holds.

    `runs[task, evaluator]`: by mixture and run, the score of each source; the mixture is null but for `llm`.
    `printed` by task, column (`baseline`, `expert`, `llm`, `llm/mixture1` …) and source; `table1` by
    evaluator and task: the average and the best score.
    """

    paper: Mapping[str, Any]
    runs: Mapping[tuple[str, str], Mapping[tuple[int | None, int], Mapping[str, float]]]
    printed: Mapping[tuple[str, str, str], Printed]
    table1: Mapping[tuple[str, str], tuple[float | None, float | None]]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The three proxy tasks."""
        return tuple(self.paper["controls"])

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The three evaluators."""
        return tuple(self.paper["evaluators"])

    @property
    def primaries(self) -> tuple[str, ...]:
        """The four sources of arguments that people ranked too."""
        return tuple(self.paper["primaries"])

    def sources(self, task: str) -> tuple[str, ...]:
        """All sources of a task: primaries, then controls."""
        return (*self.primaries, *self.paper["controls"][task])

    def columns(self, task: str) -> dict[str, tuple[str, int | None]]:
        """The rows of a task's table by name: the evaluators, and the mixtures of the LLM-trained one."""
        mixtures = {mixture for mixture, _ in self.runs[task, "llm"]}
        return {
            **{evaluator: (evaluator, None) for evaluator in self.evaluators},
            **{f"llm/mixture{m}": ("llm", m) for m in sorted(m for m in mixtures if m is not None)},
        }

    def scores(self, task: str, evaluator: str, source: str, mixture: int | None = None) -> Floats:
        """The scores of the training runs, all or those of one mixture."""
        runs = self.runs[task, evaluator]
        return np.array([runs[key][source] for key in sorted(runs, key=str) if mixture in (None, key[0])])

    def mean(self, task: str, evaluator: str, source: str) -> float:
        """The mean over the training runs, to the two digits that a table prints."""
        return round(float(self.scores(task, evaluator, source).mean()), 2)

    def order(self, task: str, evaluator: str, sources: Sequence[str]) -> list[str | list[str]]:
        """Sources by the rank of their mean, the best first; those of one mean are a list in its place."""
        means = {source: self.mean(task, evaluator, source) for source in sources}
        places = [[s for s in sources if means[s] == mean] for mean in sorted(set(means.values()))[::-1]]
        return [place[0] if len(place) == 1 else place for place in places]

    def best(self, task: str, evaluator: str) -> str:
        """The primary with the highest mean; the first of several."""
        return max(self.primaries, key=lambda source: self.mean(task, evaluator, source))

    def misled(self, task: str, evaluator: str) -> list[tuple[str, str]]:
        """Pairs of a control and a primary where the control has the higher mean."""
        return [
            (control, primary)
            for control in self.paper["controls"][task]
            for primary in self.primaries
            if self.mean(task, evaluator, control) > self.mean(task, evaluator, primary)
        ]

    def matrix(self, task: str, evaluator: str, sources: Sequence[str]) -> Floats:
        """Scores by source and training run."""
        return np.array([self.scores(task, evaluator, source) for source in sources])

    def friedman(self, task: str, evaluator: str, sources: Sequence[str]) -> stats.Friedman:
        """Friedman's test of the sources with training runs as blocks."""
        values = self.matrix(task, evaluator, sources)
        return stats.friedman(values, np.arange(values.shape[1]))


def read_scores(path: Path, paper: Mapping[str, Any]) -> PublishedScores:
    """The scores in a JSON file: an object with the lists `runs`, `printed_mean_std` and `table1`.

    Raises `InputError` for a file of another form, for a task, evaluator or source that the paper does not
    have, for a score that stands there twice, and where a run lacks a source or the file an evaluator.
    """
    content = read_json_file(path)
    runs, printed, cells = (_rows(content, name, path) for name in LISTS)
    scores = PublishedScores(
        paper, _read_runs(runs, paper), _read_printed(printed, paper), _table1(cells, paper)
    )
    _check_complete(path, scores)
    return scores


_Rows = Sequence[tuple[str, Mapping[str, Any]]]
"""Rows of a list, each with the place that a sentence about it names."""


def _rows(content: Any, name: str, path: Path) -> _Rows:
    rows = content.get(name) if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(
            f"{path}: the published scores are an object with the lists {', '.join(LISTS)}; this file has no "
            f"{name}."
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or any(field not in row for field in LISTS[name]):
            raise InputError(f"{path}, {name}, row {number}: a row has {', '.join(LISTS[name])}.")
    return [(f"{path}, {name}, row {number}", row) for number, row in enumerate(rows, 1)]


def _read_runs(rows: _Rows, paper: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    runs: dict[tuple[str, str], dict[tuple[int | None, int], dict[str, float]]] = {}
    for place, row in rows:
        task, evaluator = _task(row, paper, place)
        source = _source(row, task, paper, place)
        mixture = None if row["mixture"] is None else _integer(row["mixture"], f"{place}, mixture")
        if (mixture is None) is (evaluator == "llm"):
            raise InputError(
                f"{place}: a run of llm has the number of its mixture, and no other run has one."
            )
        key = (mixture, _integer(row["run"], f"{place}, run"))
        of_run = runs.setdefault((task, evaluator), {}).setdefault(key, {})
        if source in of_run:
            raise InputError(f"{place}: this run has a second score of {source}.")
        of_run[source] = _score(row["score"], f"{place}, score")
    return runs


def _read_printed(rows: _Rows, paper: Mapping[str, Any]) -> dict[tuple[str, str, str], Printed]:
    printed: dict[tuple[str, str, str], Printed] = {}
    for place, row in rows:
        task, evaluator = _task(row, paper, place)
        source = _source(row, task, paper, place)
        column = evaluator if row["mixture"] in (None, "all") else f"{evaluator}/mixture{row['mixture']}"
        if (task, column, source) in printed:
            raise InputError(f"{place}: {column} has a second mean of {source} on {task}.")
        printed[task, column, source] = Printed(
            _optional(row["mean"], f"{place}, mean"), _optional(row["std"], f"{place}, std")
        )
    return printed


def _table1(
    rows: _Rows, paper: Mapping[str, Any]
) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    cells: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for place, row in rows:
        task, evaluator = _task(row, paper, place)
        if (evaluator, task) in cells:
            raise InputError(f"{place}: {evaluator} has a second row of {task}.")
        average, best = LISTS["table1"][2:]
        cells[evaluator, task] = (
            _optional(row[average], f"{place}, {average}"),
            _optional(row[best], f"{place}, {best}"),
        )
    return cells


def _check_complete(path: Path, scores: PublishedScores) -> None:
    for task in scores.tasks:
        for evaluator in scores.evaluators:
            if (task, evaluator) not in scores.runs:
                raise InputError(f"{path}: there is no run of {evaluator} on {task}.")
            for (mixture, run), of_run in scores.runs[task, evaluator].items():
                missing = [source for source in scores.sources(task) if source not in of_run]
                if missing:
                    of_mixture = "" if mixture is None else f" of mixture {mixture}"
                    raise InputError(
                        f"{path}: run {run}{of_mixture} of {evaluator} on {task} has no score of "
                        f"{missing[0]}; sources are compared on the same runs."
                    )


def _task(row: Mapping[str, Any], paper: Mapping[str, Any], place: str) -> tuple[str, str]:
    task = _one_of(row["task"], tuple(paper["controls"]), f"{place}, task")
    return task, _one_of(row["evaluator"], paper["evaluators"], f"{place}, evaluator")


def _source(row: Mapping[str, Any], task: str, paper: Mapping[str, Any], place: str) -> str:
    sources = (*paper["primaries"], *paper["controls"][task])
    return _one_of(row["source"], sources, f"{place}, source")


def _one_of(value: Any, names: Sequence[str], place: str) -> str:
    if value not in names:
        raise InputError(f"{place}: {one_line(str(value), 40)!r} is none of {', '.join(names)}.")
    return str(value)


def _integer(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{place}: a whole number is needed, not {one_line(str(value), 40)!r}.")
    return value


def _score(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{place}: a number is needed, not {one_line(str(value), 40)!r}.")
    if not 0 <= value <= 100:
        raise InputError(f"{place}: a score lies between 0 and 100 per cent; this one is {value:g}.")
    return float(value)


def _optional(value: Any, place: str) -> float | None:
    return None if value is None else _score(value, place)
