"""The scores that came with the answers, of a file or a tool, compared with those given here."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.measure_names import is_of_file
from vivavoce.core.numbers import printed
from vivavoce.core.records import Measure
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, ScoreTable, counted_value
from vivavoce.studies.text import count

UNPARSED = "the file could not parse the answer"
"""The note of a score where the file holds no answer that it parsed."""
_SAME = 1e-9
_COUNTS = ("n_file", "n_both", "n_differ", "n_unparsed")
Row = Mapping[str, Any]
_GENERIC = ("", "value", "score", "mean")
"""Names of a criterion that say nothing of the measure."""


class Sides(NamedTuple):
    """By key the measures of the scores that came with answers, and ours, which ask no model."""

    file: Mapping[int, Measure]
    rules: Mapping[int, Measure]


def file_scores(table: ScoreTable, sides: Sides) -> list[dict[str, Any]]:
    """A row for each measure of the file and benchmark, for all candidates ('') and then for each.

    `file_score` and `score` are means over the questions that both scored, each the mean of its answers, and
    `file_mean` is that over all that the file scored. Of `n_file` answers with a score of the file `n_both`
    have one of ours; `n_differ` of these have another, `n_unparsed` of which the file could not parse. Ours
    are all-or-nothing: the first measure that scores an answer counts, and `metrics` names them. Scores of
    the file that are not 0 or 1 have no counterpart here: then `score` is null.
    """
    scored = _all_or_nothing(table, sides.rules)
    return [row for key, measure in sides.file.items() for row in _rows(table, key, measure, scored)]


def _all_or_nothing(table: ScoreTable, measures: Mapping[int, Measure]) -> pl.DataFrame:
    """The value of each answer by the first of our measures that scores it, if all its values are 0 or 1."""
    parts = []
    # Scores by degrees may all be 0 or 1 by accident: what says right or wrong by its definition comes first.
    ordered = sorted(measures.items(), key=lambda entry: not _is_right_or_wrong(entry[1]))
    for place, (key, measure) in enumerate(ordered):
        values = _values(table, key, measure)
        if _is_binary(values):
            parts.append(values.with_columns(place=pl.lit(place), metric=pl.lit(_reference(measure))))
    if not parts:
        return pl.DataFrame()
    return pl.concat(parts).sort("place").unique(RESPONSE, keep="first", maintain_order=True)


def _is_right_or_wrong(measure: Measure) -> bool:
    """Whether an answer is right or wrong by the measure, and nothing between."""
    return measure.criterion.criterion.endswith("accuracy")


def _reference(measure: Measure) -> str:
    """What names a measure on the command line."""
    name = measure.metric
    return name if _is_right_or_wrong(measure) else f"{name}:{measure.criterion.criterion}"


def _values(table: ScoreTable, key: int, measure: Measure) -> pl.DataFrame:
    """The value of each unedited answer by a measure, passes averaged, with the notes on it."""
    rows = table.scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
    values = rows.with_columns(value=counted_value(measure.criterion))
    note = pl.col("note") if "note" in rows.columns else pl.lit(None, pl.String)
    means = values.group_by(RESPONSE, maintain_order=True).agg(exact_mean(pl.col("value")), note.first())
    return means.filter(pl.col("value").is_not_null())


def _is_binary(values: pl.DataFrame) -> bool:
    return bool(values.height) and bool(values["value"].is_in([0.0, 1.0]).all())


def _rows(table: ScoreTable, key: int, measure: Measure, scored: pl.DataFrame) -> Iterator[dict[str, Any]]:
    values = _values(table, key, measure)
    comparable = scored.width > 0 and _is_binary(values)
    for (benchmark,), part in sorted(values.group_by("benchmark"), key=lambda entry: str(entry[0])):
        place = {
            "source": "file" if is_of_file(measure) else measure.metric.partition(".")[0],
            "metric": measure.metric,
            "criterion": measure.criterion.criterion,
            "benchmark": benchmark,
        }
        pairs = part.join(scored, on=RESPONSE, suffix="_here") if comparable else part.clear()
        place["metrics"] = [*dict.fromkeys(pairs["metric"])] if pairs.height else []
        for candidate in ("", *sorted(part["candidate"].unique())):
            of_it = pl.lit(True) if not candidate else pl.col("candidate") == candidate
            yield {**place, "candidate": candidate, **_figures(part.filter(of_it), pairs.filter(of_it))}


def _figures(values: pl.DataFrame, pairs: pl.DataFrame) -> dict[str, Any]:
    figures: dict[str, Any] = {"file_mean": _mean(values, "value"), "file_score": None, "score": None}
    figures |= {**dict.fromkeys(_COUNTS, 0), "n_file": values.height, "n_both": pairs.height}
    if pairs.height:
        differ = pairs.filter((pl.col("value") - pl.col("value_here")).abs() > _SAME)
        figures |= {
            "file_score": _mean(pairs, "value"),
            "score": _mean(pairs, "value_here"),
            "n_differ": differ.height,
            "n_unparsed": int((differ["note"] == UNPARSED).sum()),
        }
    return figures


def _mean(values: pl.DataFrame, column: str) -> float:
    by_item = values.group_by(*ITEM_KEY, "candidate", maintain_order=True).agg(exact_mean(pl.col(column)))
    return float(by_item.sort(*ITEM_KEY, "candidate").select(exact_mean(pl.col(column)).round(9)).item())


def file_scores_lines(rows: Sequence[Row], run: str) -> list[str]:
    """A line for each column of 0 and 1 that has a counterpart here, and one for all others together."""
    totals = [row for row in rows if row["candidate"] == ""]
    names = _names_apart(totals)
    named = list(zip(totals, names, strict=True))
    lines = [_line(row, name, run) for row, name in named if row["score"] is not None]
    single = [f"{name} {printed(row['file_mean'], '.3f')}" for row, name in named if row["score"] is None]
    return lines + (
        [f"Scores that came with the answers and are compared with none: {', '.join(single)}."]
        if single
        else []
    )


def _names_apart(rows: Sequence[Row]) -> list[str]:
    """What names each score in a sentence: its column or measure, and of several benchmarks which one."""
    names = [_name(row, rows) for row in rows]
    counts = Counter((row["source"], name) for row, name in zip(rows, names, strict=True))
    return [
        f"{name} on {row['benchmark']}" if counts[row["source"], name] > 1 else name
        for row, name in zip(rows, names, strict=True)
    ]


def _name(row: Row, rows: Sequence[Row]) -> str:
    """The criterion; where it names nothing the measure of the tool, and both where measures share it."""
    criterion, measure = row["criterion"], row["metric"].removeprefix(f"{row['source']}.")
    if row["source"] == "file":
        return str(criterion)
    if criterion in _GENERIC:
        return str(measure)
    of_it = {entry["metric"] for entry in rows if entry["criterion"] == criterion}
    return f"{measure}: {criterion}" if len(of_it) > 1 else str(criterion)


def _line(row: Row, name: str, run: str) -> str:
    subject = "The file" if row["source"] == "file" else row["source"]
    metrics = ", ".join(row["metrics"])
    file_text, run_text = printed(row["file_score"], ".3f"), printed(row["score"], ".3f")
    line = f"{subject} says {file_text} ({name}); read here {run_text} "
    line += f"({metrics}); "
    if not row["n_differ"]:
        return f"{line}no answer of {row['n_both']:,} differs."
    unparsed = f" ({row['n_unparsed']:,} that the file could not parse)" if row["n_unparsed"] else ""
    verb = "differs" if row["n_differ"] == 1 else "differ"
    line += f"{row['n_differ']:,} of {count(row['n_both'], 'answer')} {verb}{unparsed}"
    if len(row["metrics"]) > 1:
        return f"{line}."
    reference = quote(f"{row['metric']}:{row['criterion']}")
    return f"{line}: `viva diff {run} {reference} {quote(row['metrics'][0])}` lists them."
