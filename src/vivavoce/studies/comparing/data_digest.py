"""Whether two comparisons rest on the same data: a digest of the scores behind each pair."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.studies.score_table import ITEM

CONTENT = ("repeat", "pass_no", "unit", "ballot", "value", "status", "parts", "weight")
"""What a comparison reads of a score row, beside the item and the candidate."""


class PairKey(NamedTuple):
    """What is compared, whichever of the two is named first: `a` comes before `b` in the alphabet."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    a: str
    b: str

    @classmethod
    def of(cls, benchmark: str, measure: Measure, a: str, b: str) -> "PairKey":
        """The key of a pair by a measure."""
        first, second = sorted((a, b))
        return cls(benchmark, measure.metric, measure.criterion.criterion, measure.rater, first, second)

    @classmethod
    def named(cls, row: Mapping[str, Any]) -> "PairKey":
        """The key of a row of a comparison."""
        first, second = sorted((row["a"], row["b"]))
        return cls(row["benchmark"], row["metric"], row["criterion"], row["rater"], first, second)


def data_digests(
    scores: pl.DataFrame, measures: Mapping[int, Measure], names: Sequence[tuple[str, str]]
) -> dict[PairKey, str]:
    """For each pair of these names, by each measure, a digest of the scores that its comparison rests on.

    The digest is the same in any order of the score rows and of the pair. It changes with a value, a status,
    an item that both have scores on, a case, a weight or a version of the metric. Items that only one of the
    two has scores on do not matter.
    """
    parts = scores.filter(pl.col("edit") == "").partition_by("measure_id", "benchmark", as_dict=True)
    contents: dict[PairKey, list[bytes]] = {}
    # By signature: what a measure is called inside a run file is another in a copy.
    for key, measure in sorted(measures.items(), key=lambda keyed: keyed[1].signature):
        for benchmark in (place for measure_id, place in parts if measure_id == key):
            rows = parts[key, benchmark]
            for pair in names:
                content = _content(rows.filter(pl.col("candidate").is_in(pair)))
                of_pair = contents.setdefault(PairKey.of(str(benchmark), measure, *pair), [])
                of_pair += [_line(measure.signature), content]
    return {key: _digest(_line(key), *content) for key, content in contents.items()}


def comparison_digest(digests: Mapping[PairKey, str], settings: Mapping[str, Any]) -> str:
    """One digest of a whole comparison: of its pairs in any order, and of these settings."""
    return _digest(_line(sorted(digests.values())), _line(sorted(settings.items())))


def _content(rows: pl.DataFrame) -> bytes:
    """The score rows on items that both candidates have scores on, sorted, as text."""
    items = list(ITEM)
    shared = rows.group_by(items).agg(pl.col("candidate").n_unique()).filter(pl.col("candidate") > 1)
    columns = [*items, "candidate", *(name for name in CONTENT if name in rows.columns)]
    common = rows.join(shared, on=items, how="semi").select(columns)
    return common.sort(columns, nulls_last=True).write_csv().encode()


def _line(content: Any) -> bytes:
    return (json.dumps(content) + "\n").encode()


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]
