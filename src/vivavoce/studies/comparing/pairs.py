"""Which candidates are compared, and by which version of a metric: every pair of a call."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Measure
from vivavoce.studies.comparing.candidate_scores import CandidateScores, candidate_scores
from vivavoce.studies.comparing.paired import (
    Compared,
    Incomparable,
    Pair,
    Population,
    compare_pair,
)
from vivavoce.studies.comparing.people_scale import on_peoples_scale
from vivavoce.studies.score_table import Labels

Row = Mapping[str, Any]
ALL_PAIRS = 3
"""Up to this many named candidates every pair is compared; beyond, each with the first."""
ALL_SHOWN = 5
"""Up to this many candidates all pairs of a family are shown; beyond, those of the first candidate."""


def check_margin(margin: float | None) -> None:
    """Raise `SelectionError` for a margin that is not above 0."""
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")


def margin_of(measure: Measure, margin: float | None = None) -> tuple[float | None, str | None]:
    """The least difference that matters, and who says so: the user, else the metric."""
    if margin is not None:
        return margin, "--margin"
    declared = measure.criterion.smallest_difference
    return declared, None if declared is None else "declared by the metric"


def pairs_of(
    candidates: Sequence[str], against: str | None = None, *, all_pairs: bool = False
) -> list[tuple[str, str]]:
    """Which candidates are compared: `against` with each of the others, if given.

    Else all pairs of two or three, and of four or more the first with each of the others, unless
    `all_pairs` are asked for.
    """
    if against is None and (all_pairs or len(candidates) <= ALL_PAIRS):
        return list(combinations(candidates, 2))
    first = candidates[0] if against is None else against
    return [(first, candidate) for candidate in candidates if candidate != first]


def shown_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of a comparison to show: of all pairs of many candidates those of the first of them."""
    names = {name for row in rows for name in (row["a"], row["b"])}
    if len(names) <= ALL_SHOWN or len({(row["a"], row["b"]) for row in rows}) < len(names):
        return list(rows)
    return [row for row in rows if row["a"] == rows[0]["a"]]


def pairs(
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    names: Sequence[tuple[str, str]],
    *,
    margin: float | None,
    population: Population,
    labels: Mapping[int, Labels | str] = {},
) -> Iterator[Incomparable | Compared]:
    """Every pair of these names on every criterion and benchmark.

    `labels` are people's scores by measure, or why there are none: with them a pair is on people's scale.
    """
    # Versions of one metric share a line, so that a pair is compared by one that scored both.
    versions_by_line: dict[tuple[str, str, str], dict[int, Measure]] = {}
    for key, measure in measures.items():
        line = (measure.metric, measure.criterion.criterion, measure.rater)
        versions_by_line.setdefault(line, {})[key] = measure
    parts = scores.partition_by("measure_id", "benchmark", as_dict=True)
    in_a_pair = pl.col("candidate").is_in({name for pair in names for name in pair}) & (pl.col("edit") == "")
    for versions in versions_by_line.values():
        for benchmark in dict.fromkeys(place for key, place in parts if key in versions):
            of_versions = {key: parts[key, benchmark] for key in versions if (key, benchmark) in parts}
            rows = {key: part.filter(in_a_pair) for key, part in of_versions.items()}
            yield from _pairs_on(str(benchmark), versions, rows, names, margin, population, labels)


def _pairs_on(
    benchmark: str,
    versions: Mapping[int, Measure],
    rows: Mapping[int, pl.DataFrame],
    names: Sequence[tuple[str, str]],
    margin: float | None,
    population: Population,
    labels: Mapping[int, Labels | str],
) -> Iterator[Incomparable | Compared]:
    """Every pair of these names on a benchmark, from the score rows of each version of one metric."""
    scored = {key: set(part["candidate"]) for key, part in rows.items()}
    resolved: dict[int, CandidateScores] = {}
    for a, b in names:
        key, reason = _version(scored, versions, benchmark, a, b)
        pair = Pair(benchmark, a, b, versions[key], population, *margin_of(versions[key], margin))
        if reason:
            yield Incomparable(pair, reason)
            continue
        if key not in resolved:
            resolved[key] = candidate_scores(rows[key], versions[key].criterion)
        compared = compare_pair(pair, resolved[key])
        of_people = labels.get(key)
        if isinstance(compared, Compared) and isinstance(of_people, Labels):
            compared = on_peoples_scale(compared, of_people, resolved[key])
        elif isinstance(compared, Compared) and isinstance(of_people, str):
            compared = compared._replace(uncorrected=of_people)
        yield compared


def _version(
    scored: Mapping[int, set[str]], versions: Mapping[int, Measure], benchmark: str, a: str, b: str
) -> tuple[int, str | None]:
    """The latest version of the measure that scored both; or the latest there is, and why it will not do.

    `scored` are the candidates that each version scored.
    """
    of_a, of_b = ({key for key, candidates in scored.items() if name in candidates} for name in (a, b))
    shared = of_a & of_b
    key = max(shared or of_a | of_b or versions)
    metric = versions[key].metric
    for name, keys in ((a, of_a), (b, of_b)):
        if not keys:
            return key, f"{name} has no scores by {metric} on {benchmark}"
    return key, None if shared else f"they were scored by different versions of {metric}"
