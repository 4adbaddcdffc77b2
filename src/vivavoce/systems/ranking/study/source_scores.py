"""Scores of the sources of arguments by one family of evaluators, as a table of sources, items and runs.

A family is one metric over its raters and passes. An evaluator's rater is the mixture of arguments that it
was trained on, and its pass the training run; of another metric they are raters and passes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.core.specs import parse, signed
from vivavoce.studies.score_table import FILLED, ITEM, ScoreTable, by_answer, resolve, with_results
from vivavoce.studies.text import count

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
_MIXTURE = re.compile(r"mixture-\d+")
LEAK_METRIC = "answer_leak"
"""The metric that says how far an argument names its answer: no score of an argument's worth."""


class Family(NamedTuple):
    """One metric and criterion over its raters, each with the number of its measure.

    `of_mixtures` is true of evaluators that are trained: their raters are mixtures and their passes runs.
    """

    metric: str
    name: str
    criterion: Criterion
    keys: tuple[int, ...]
    rater: str
    of_mixtures: bool

    @property
    def label(self) -> str:
        """The name for a sentence."""
        return family_label(self.metric, self.criterion.criterion)


def family_label(metric: str, criterion: str) -> str:
    """A family's name for a sentence, with the folder of its weights and not the way to it."""
    weights = str(parse(metric).settings.get("weights", ""))
    path = PurePosixPath(weights.replace("\\", "/"))
    folder = path.parent if path.suffix == ".json" else path
    short = metric.replace(weights, folder.name).replace("'", "") if folder.name else metric
    return metric if criterion == metric else f"{short}: {criterion}"


def families(measures: Mapping[int, Measure]) -> list[Family]:
    """The families among measures with a value for each argument; evaluators with weights first.

    Measures of one trained evaluator differ in the number of the mixture in their weights. Ranks and tags
    of panels are no measure here, and neither is how far an argument names the answer.
    """
    grouped: dict[tuple[str, str, str], list[tuple[int, Measure]]] = {}
    for key, measure in by_answer(measures)[0].items():
        spec = signed(measure.signature).spec
        if spec.name in ("panel", LEAK_METRIC):
            continue
        metric = _without_number(measure.metric, str(spec.settings.get("weights", "")))
        # Of another metric a second version is another measure, whatever its raters are.
        version = "" if "weights" in spec.settings else measure.signature
        grouped.setdefault((metric, version, measure.criterion.criterion), []).append((key, measure))
    result = []
    for (metric, _, _), members in grouped.items():
        spec = signed(members[0][1].signature).spec
        raters = {measure.rater for _, measure in members}
        result.append(
            Family(
                metric=metric,
                name=spec.name,
                criterion=members[0][1].criterion,
                keys=tuple(key for key, _ in members),
                rater=raters.pop() if len(raters) == 1 else "",
                of_mixtures="weights" in spec.settings,
            )
        )
    return sorted(result, key=lambda family: (not family.of_mixtures, family.name))


def _without_number(metric: str, weights: str) -> str:
    """The metric with the number of the mixture left out of its weights."""
    path = PurePosixPath(weights.replace("\\", "/"))
    for place in (path, path.parent):  # a lexical evaluator's weights are a file in the folder
        if _MIXTURE.fullmatch(place.name):
            return metric.replace(place.name, "mixture")
    return metric


class SourceScores(NamedTuple):
    """A family's scores on one benchmark: sources x items x runs, NaN where there is none.

    `low` and `high` have failed scores at the criterion's limits, NaN where it has none; `counted` says where
    these two exist. `runs` are (number of the measure, pass). Higher is better in all three: a criterion on
    which lower is better is turned.
    """

    family: Family
    benchmark: str
    sources: tuple[str, ...]
    roles: Mapping[str, str]
    items: tuple[tuple[str, str], ...]
    groups: np.ndarray[Any, Any]
    runs: tuple[tuple[int, int], ...]
    values: Floats
    low: Floats
    high: Floats
    counted: Bools
    failed: np.ndarray[Any, Any]
    silent: Mapping[str, int]

    @property
    def sign(self) -> int:
        """What values are multiplied with to be those of the criterion."""
        return 1 if self.family.criterion.direction == "higher" else -1

    @property
    def n_groups(self) -> int:
        """How many cases the items are in."""
        return len(set(self.groups.tolist()))

    @property
    def n_raters(self) -> int:
        """How many raters, which are mixtures of evaluators."""
        return len({key for key, _ in self.runs})

    @property
    def run_labels(self) -> list[str] | None:
        """What is drawn beside the cases: 5 mixtures or more, else 5 runs or more, else null."""
        of_mixtures = self.n_raters >= stats.LEAST_RUNS
        labels = [f"{key}" if of_mixtures else f"{key}/{n}" for key, n in self.runs]
        return labels if len(set(labels)) >= stats.LEAST_RUNS else None

    @property
    def few_runs(self) -> str | None:
        """Why sources of a trained evaluator are not told apart; null with runs enough, and of others."""
        if self.run_labels or not self.family.of_mixtures:
            return None
        return f"{count(len(self.runs), 'run')}: ranks hold for these trainings only"

    @property
    def means(self) -> Floats:
        """Means over runs, sources x items."""
        return np.asarray(self.values.mean(axis=2))

    def of(self, sources: Sequence[str]) -> "SourceScores":
        """The table of some sources, in that order."""
        columns = [self.sources.index(name) for name in sources]
        return self._replace(
            sources=tuple(sources),
            values=self.values[columns],
            low=self.low[columns],
            high=self.high[columns],
            counted=self.counted[columns],
            failed=self.failed[columns],
        )

    def on(self, members: Any) -> "SourceScores":
        """The table on some of its items, by a boolean for each."""
        chosen = np.asarray(members, dtype=bool)
        return self._replace(
            items=tuple(item for item, keep in zip(self.items, chosen, strict=True) if keep),
            groups=self.groups[chosen],
            values=self.values[:, chosen],
            low=self.low[:, chosen],
            high=self.high[:, chosen],
            counted=self.counted[:, chosen],
            failed=self.failed[:, chosen],
        )

    @property
    def complete(self) -> "SourceScores":
        """On the items that every source has a score for in every run."""
        return self.on(~np.isnan(self.values).any(axis=(0, 2)))

    @property
    def filled(self) -> "SourceScores | None":
        """On the items with a score or a failed one of every source in every run; null if none failed."""
        table = self.on(self.counted.all(axis=(0, 2)))
        return table if table.failed.any() else None


def source_scores(scores: ScoreTable, family: Family) -> Iterator[SourceScores]:
    """The table of a family on each benchmark, sources in the order of the alphabet.

    Sources without a result are in none. A floor or ceiling that lacks more than half of the items is left
    out, lest it takes the items from all others.
    """
    unedited = (pl.col("edit") == "") & pl.col("measure_id").is_in(family.keys)
    for (benchmark,), rows in scores.scores.filter(unedited).group_by("benchmark", maintain_order=True):
        part = with_results(rows)
        if part.height:
            yield _table(str(benchmark), family, part)


def _table(benchmark: str, family: Family, part: pl.DataFrame) -> SourceScores:
    runs = sorted(part.select("measure_id", "pass_no").unique().iter_rows())
    items = list(part.select("item", "variant", "group").unique().sort("item", "variant").iter_rows())
    roles = _roles(part, len(items))
    sources = sorted(roles)
    part = part.filter(pl.col("candidate").is_in(sources))
    cells = _Cells(
        {name: n for n, name in enumerate(sources)},
        {(item, variant): n for n, (item, variant, _) in enumerate(items)},
    )
    by_run = [
        cells.values(resolve(part.filter(measure_id=key, pass_no=pass_no), family.criterion))
        for key, pass_no in runs
    ]
    observed, low, high, counted = np.stack(by_run, axis=-1)
    if family.criterion.direction == "lower":
        observed, low, high = -observed, -high, -low
    silence = part.filter(pl.col("status").is_in(["unanswered", "unreadable"]))
    silent = dict(silence.group_by("candidate").agg(pl.struct(*ITEM).n_unique()).iter_rows())
    return SourceScores(
        family=family,
        benchmark=benchmark,
        sources=tuple(sources),
        roles=roles,
        items=tuple((item, variant) for item, variant, _ in items),
        groups=np.array([group for *_, group in items]),
        runs=tuple(runs),
        values=observed,
        low=low,
        high=high,
        counted=counted > 0,
        failed=cells.failed(part),
        silent={name: silent.get(name, 0) for name in sources},
    )


class _Cells(NamedTuple):
    """Where each source and item stands in a table."""

    source_at: Mapping[str, int]
    item_at: Mapping[tuple[str, str], int]

    def values(self, resolved: pl.DataFrame) -> Floats:
        """What a run observed, with failed scores at both limits, and 1 where these exist.

        The result is 4 x sources x items, with NaN for what is not there and 0 in the last for no limits.
        """
        tables = np.full((4, len(self.source_at), len(self.item_at)), np.nan)
        tables[3] = 0
        for row in resolved.iter_rows(named=True):
            cell = self.source_at[row["candidate"]], self.item_at[row["item"], row["variant"]]
            filled = [row[name] for name in FILLED]
            # A limit is NaN where a failed score has no bound, which is not the same as no limit at all.
            tables[:, *cell] = [*(np.nan if x is None else x for x in filled), None not in filled[1:]]
        return tables

    def failed(self, part: pl.DataFrame) -> np.ndarray[Any, Any]:
        """How many scores of each source failed on each item."""
        # A mean over one failed and one sound repeat is observed, and not all of what was asked.
        counts = np.zeros((len(self.source_at), len(self.item_at)), dtype=int)
        failed = part.filter(pl.col("status") == "failed").select("candidate", "item", "variant")
        for source, item, variant in failed.iter_rows():
            counts[self.source_at[source], self.item_at[item, variant]] += 1
        return counts


def _roles(part: pl.DataFrame, n_items: int) -> dict[str, str]:
    """The sources with their roles; without floors and ceilings that lack more than half of the items."""
    reach = part.group_by("candidate", "role").agg(n=pl.struct("item", "variant").n_unique())
    return {name: role for name, role, n in reach.iter_rows() if role == "candidate" or 2 * n >= n_items}
