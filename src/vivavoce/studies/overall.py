"""Overall: one figure over the seven formats of ClinIQLink, the formats beside it, and how answers fail.

Colelough et al. (2025) rank by the unweighted mean of seven columns, one for each format. Here every column
is the mean of its questions, and errors are by case: the paragraph that questions are about, across formats.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Criterion, Finding, Measure
from vivavoce.studies import (
    ITEM,
    LEAST_GROUPS,
    Marks,
    item_of,
    resolve,
    unweighted,
    weighted_mean,
    weights_of,
)
from vivavoce.studies.answering import RATES, answering, bare, together
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count, number

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "SEVEN", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "format", "column", "estimate", "low"),
    *("high", "set_low", "set_high", "rank", "rank_low", "rank_high", "tied_with", "n_items", "n_groups"),
    *("n_answers", "n_failed", *RATES, "step_found", "n_candidates", "n_shown", "n_pairs", "n_common"),
    *("reason", "signature"),
)
SEVEN = {
    "mcq": "multiple choice",
    "true_false": "true/false",
    "list": "list",
    "short": "short",
    "short_inverse": "short inverse",
    "multi_hop": "multi-hop",
    "multi_hop_inverse": "multi-hop inverse",
}
"""The formats that an overall is the mean of, in the order of the paper's table, and their names."""
OVERALL = "overall"
HEAD = ("cliniqlink", "score")
CLOSED = {"mcq": ("accuracy", "accuracy"), "true_false": ("accuracy", "accuracy"), "list": ("list_f1", "f1")}
"""Metric and criterion of a closed format, where the head itself does not mark it."""
ENOUGH = 0.9
"""The share of the questions that others have marks on, above which a candidate is ranked beside them."""
NO_HEAD = (
    "No overall: it takes marks of candidates (floor and ceiling are none) by cliniqlink, which marks all "
    "seven formats (`viva score RUN cliniqlink`)."
)
NO_MATCHES = (
    "How answers named their options, by text or letter, stands with marks by cliniqlink(rules=published) "
    "alone."
)
BY_LABELS = (
    "As published, the column of lists is F1 by label over the whole set; here it is the mean over "
    "questions, which has an error by case."
)
NOT_THE_HARNESS = (
    "rules=published is not the harness everywhere: what is unanswered or unreadable here has 0, where the "
    "harness gives some of it a mark, and in multi-hop inverse the reference is the line that begins with "
    "'explanation', in the harness the first that has the word."
)


class Sheet(NamedTuple):
    """The columns of one board: which measure marks which format, and the values by candidate and item.

    `values` has a row per format, item and candidate: `observed`, `low`, `high` as `resolve` gives them.
    """

    benchmark: str
    head: Measure
    columns: Mapping[str, tuple[int, Measure]]
    values: "pl.DataFrame"
    rows: "pl.DataFrame"


def findings(marks: Marks) -> Finding:
    """A row per candidate for its overall (`format` is 'overall') and one for each of its formats.

    `estimate` is the mean over the candidate's own questions; an overall is the unweighted mean of the seven,
    with its interval by case across formats, and null where a format is missing. `rank` is by overall on the
    `n_common` questions that all have marks on, `rank_low` to `rank_high` what the pairs leave open (Holm
    over all of them), `tied_with` counts those it was not told apart from. The rates are those of
    `studies.answering`, of an overall over all answers. `column` is the measure of a format, null for an
    overall.
    """
    rows: list[dict[str, Any]] = []
    names = labels(marks.measures)
    said: list[str] = []
    notes = list(unweighted(marks.scores, "means are weighted; rates count"))
    for sheet in _sheets(marks):
        own = list(_rows(sheet, marks))
        rows.extend(own)
        said += _sentences(sheet, names[key_of(sheet.head)], own)
        notes += _notes(sheet, names, own)
    if rows and all(row["by_text"] is None for row in rows):
        notes.append(NO_MATCHES)
    text = "\n".join(said) or NO_HEAD
    return Finding(study="overall", rows=tuple(rows), text=text, notes=tuple(dict.fromkeys(notes)))


def _sheets(marks: Marks) -> Iterator[Sheet]:
    import polars as pl

    own = marks.scores.filter((pl.col("role") == "candidate") & (pl.col("edit") == ""))
    for key, head in marks.measures.items():
        if (bare(head), head.criterion.criterion) != HEAD or head.criterion.pool != "mean":
            continue
        for benchmark in own.filter(pl.col("measure_id") == key)["benchmark"].unique(maintain_order=True):
            here = own.filter((pl.col("benchmark") == benchmark) & pl.col("format").is_in(list(SEVEN)))
            columns = {}
            for form in SEVEN:
                present = here.filter(pl.col("format") == form)["measure_id"].unique().sort().to_list()
                found = key if key in present else _closed(form, present, marks.measures)
                if found is not None:
                    columns[form] = found, marks.measures[found]
            parts = []
            for form, (column, measure) in columns.items():
                part = here.filter((pl.col("measure_id") == column) & (pl.col("format") == form))
                parts.append(resolve(part, measure.criterion).with_columns(format=pl.lit(form)))
            yield Sheet(benchmark, head, columns, pl.concat(parts), here)


def _closed(form: str, present: Sequence[int], measures: Mapping[int, Measure]) -> int | None:
    """The measure of a closed format among those present, of several versions the newest; null if none is."""
    fits = [
        key for key in present
        if (bare(measures[key]), measures[key].criterion.criterion) == CLOSED.get(form)
    ]  # fmt: skip
    return fits[-1] if fits else None


def _rows(sheet: Sheet, marks: Marks) -> list[dict[str, Any]]:
    """The rows of a board: the overalls with the best first, each followed by its formats."""
    import polars as pl

    ranked = _ranked(sheet)
    rows = sheet.rows.partition_by("candidate", "format", as_dict=True)
    texts = _texts(sheet, marks)
    made = []
    for name in sorted(sheet.values["candidate"].unique()):
        shared: dict[str, Any] = dict.fromkeys(COLUMNS) | {
            "benchmark": sheet.benchmark,
            "metric": sheet.head.metric,
            "criterion": sheet.head.criterion.criterion,
            "rater": sheet.head.rater,
            "signature": sheet.head.signature,
            "candidate": name,
        }
        own = sheet.values.filter(pl.col("candidate") == name)
        columns, ways = [], []
        for form, (key, measure) in sheet.columns.items():
            here = rows.get((name, form), sheet.rows.clear())
            said = None if texts is None else texts.get((name, form))
            way = answering(here, said, marks.measures, form=form, by=key)
            mean = _column(own.filter(pl.col("format") == form), measure.criterion)
            columns.append(shared | {"format": form, "column": measure.metric} | mean | way.columns)
            ways.append(way)
        whole = shared | {"format": OVERALL} | _whole(sheet, own, columns) | together(ways).columns
        place = ranked.get(name, {})
        why = "; ".join(filter(None, (whole["reason"], place.get("reason")))) or None
        made.append((whole | place | {"reason": why}, columns))
    made.sort(
        key=lambda m: (m[0]["rank"] is None, m[0]["rank"] or 0, -(m[0]["estimate"] or 0), m[0]["candidate"])
    )
    return [row for whole, columns in made for row in (whole, *columns)]


def _texts(sheet: Sheet, marks: Marks) -> dict[tuple[Any, ...], "pl.DataFrame"] | None:
    """The answers by candidate and format, if they are at hand."""
    import polars as pl

    if marks.answers is None:
        return None
    own = marks.answers.filter((pl.col("benchmark") == sheet.benchmark) & (pl.col("edit") == ""))
    return own.select("candidate", "format", "text").partition_by("candidate", "format", as_dict=True)


def _column(own: "pl.DataFrame", criterion: Criterion) -> dict[str, Any]:
    """A candidate's mean of one format."""
    import polars as pl

    there = own.filter(pl.col("observed").is_not_null())
    if not there.height:
        return {"n_items": 0, "n_groups": 0, "reason": "no mark that counts"}
    found = stats.estimate_mean(
        there["observed"].to_numpy(),
        there["group"].to_numpy(),
        weights=weights_of(there),
        low=criterion.low,
        high=criterion.high,
    )
    ends = {f"set_{side}": _filled(own, side) for side in ("low", "high")}
    return {"estimate": found.value, "low": found.low, "high": found.high, **ends,
            "n_items": found.n, "n_groups": found.n_groups}  # fmt: skip


def _filled(own: "pl.DataFrame", side: str) -> float | None:
    """The mean with every failed mark at one end of the scale; null where the scale has none."""
    import polars as pl

    there = own.filter(pl.col(side).is_not_null())
    mean = weighted_mean(there[side].to_numpy(), weights_of(there)) if there.height else float("nan")
    return None if np.isnan(mean) else mean


def _whole(sheet: Sheet, own: "pl.DataFrame", by_format: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A candidate's mean of its seven columns, or why there is none."""
    import polars as pl

    there = own.filter(pl.col("observed").is_not_null())
    made: dict[str, Any] = {"n_items": there.height, "n_groups": there["group"].n_unique()}
    known = {row["format"] for row in by_format if row["estimate"] is not None}
    missing = [name for form, name in SEVEN.items() if form not in known]
    if missing:
        return made | {
            "reason": f"no marks on {', '.join(missing)}: an overall is the mean of all seven formats"
        }
    low, high = _limits(sheet)
    found = stats.estimate_macro(
        there["observed"].to_numpy(),
        there["group"].to_numpy(),
        categories=there["format"].to_numpy(),
        weights=weights_of(there),
        low=low,
        high=high,
    )
    ends = {side: [row[side] for row in by_format] for side in ("set_low", "set_high")}
    lone = [SEVEN[row["format"]] for row in by_format if row["n_groups"] < 2]
    if lone:  # its column would pass for known without error
        found = found._replace(low=None, high=None)
        made["reason"] = f"one case of {', '.join(lone)}: no interval"
    return made | {
        "estimate": found.value,
        "low": found.low,
        "high": found.high,
        **{side: None if None in of else float(np.mean(of)) for side, of in ends.items()},
    }


def _limits(sheet: Sheet) -> tuple[float | None, float | None]:
    """The ends of the scale that all columns share; none where they differ."""
    ends = {(m.criterion.low, m.criterion.high) for _, m in sheet.columns.values()}
    return ends.pop() if len(ends) == 1 else (None, None)


def _ranked(sheet: Sheet) -> dict[str, dict[str, Any]]:
    """The ranks of the candidates that have all seven columns, on the questions that these all have.

    Who lacks a tenth of the questions or more that others have has no rank, and costs the others none.
    """
    import polars as pl

    there = sheet.values.filter(pl.col("observed").is_not_null())
    whole = there.group_by("candidate").agg(n=pl.col("format").n_unique()).filter(pl.col("n") == len(SEVEN))
    n_all = there.select(*ITEM).n_unique()
    counts = dict(there.group_by("candidate").len().iter_rows())
    short = {
        name: {"reason": f"marks on {counts[name]} of {count(n_all, 'question')}: no rank beside the others"}
        for name in sorted(whole["candidate"])
        if counts[name] <= ENOUGH * n_all
    }
    names = [name for name in sorted(whole["candidate"]) if name not in short]
    if len(names) < 2:
        return short | {name: {"n_candidates": 1, "reason": "one candidate has no rank"} for name in names}
    key = [*item_of(there), "format"]
    table = (
        there.filter(pl.col("candidate").is_in(names))
        .pivot("candidate", index=key, values="observed", aggregate_function=None)
        .drop_nulls(names)
        .sort("format", "item", "variant")
    )
    shared: dict[str, Any] = {"n_candidates": len(names), "n_common": table.height}
    if table["format"].n_unique() < len(SEVEN):
        left = [name for form, name in SEVEN.items() if form not in set(table["format"])]
        return short | dict.fromkeys(
            names, shared | {"reason": f"no {left[0]} question that all have marks on"}
        )
    n_groups = table["group"].n_unique()
    if n_groups < LEAST_GROUPS:
        few = f"{count(n_groups, 'case')} that all candidates have marks on: too few to rank"
        return short | dict.fromkeys(names, shared | {"reason": few})
    found = stats.rank_intervals(
        table.select(names).to_numpy().T,
        table["group"].to_numpy(),
        weights=weights_of(table),
        categories=table["format"].to_numpy(),
    )
    told = found.better | found.better.T
    return short | {
        name: shared | {
            "rank": float(found.ranks[k]),
            "rank_low": found.intervals[k].best,
            "rank_high": found.intervals[k].worst,
            "tied_with": int(len(names) - 1 - told[k].sum()),
            "n_shown": found.n_shown,
            "n_pairs": found.n_pairs,
        }
        for k, name in enumerate(names)
    }  # fmt: skip


def _sentences(sheet: Sheet, name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The order with its ranks in one line, and a line for each candidate's columns and failings."""
    own = [row for row in rows if row["format"] == OVERALL]
    what = f"Overall by {name} on {sheet.benchmark}"
    there = [row for row in own if row["estimate"] is not None]
    c = sheet.head.criterion
    if not there:
        yield f"{what}: {own[0]['reason']}."
    else:
        first = there[0]
        ranked = first["rank"] is not None
        basis = f"{count(first['n_items'], 'question')} in {count(first['n_groups'], 'case')}"
        shown = f"{first['n_shown']} of {first['n_pairs']} pairs told apart" if ranked else first["reason"]
        means = "ranks left open and means of seven formats" if ranked else "means of seven formats"
        yield f"{what} ({basis}; {shown}), {means}: {'; '.join(_placed(row, c) for row in there)}."
    for whole in own:
        columns = [r for r in rows if r["candidate"] == whole["candidate"] and r["format"] != OVERALL]
        figures = ", ".join(
            f"{SEVEN[r['format']]} {number(r['estimate'], c)}" for r in columns if r["estimate"] is not None
        )
        rates = [f"{what} {whole[key]:.0%}" for key, what in _SAID.items() if whole[key] is not None]
        yield f"{whole['candidate']}: {'; '.join([figures or 'no mark that counts', *rates])}."


_SAID = {
    "empty": "empty",
    "unanswered": "unanswered",
    "readable": "readable",
    "invented": "options invented",
    "step_found": "wrong steps found",
}
"""The rates that stand in a sentence."""


def _placed(row: Mapping[str, Any], criterion: Criterion) -> str:
    """A candidate with the ranks left open to it and its overall."""
    places = dict.fromkeys((row["rank_low"], row["rank_high"])) if row["rank"] else ()
    estimate, *ends = (row[k] for k in ("estimate", "low", "high"))
    sure = "" if None in ends else f" ({' to '.join(number(end, criterion) for end in ends)})"
    who = " ".join(filter(None, (row["candidate"], "-".join(map(str, places)))))
    alone = "" if row["rank"] or not row["reason"] else f", {row['reason']}"
    return f"{who}: {number(estimate, criterion)}{sure}{alone}"


def _notes(
    sheet: Sheet, names: Mapping[tuple[str, str, str], str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    by: dict[str, list[str]] = {}
    for form, (_, measure) in sheet.columns.items():
        by.setdefault(names[key_of(measure)], []).append(SEVEN[form])
    if len(by) > 1:
        told = "; ".join(f"{', '.join(forms)} by {name}" for name, forms in by.items())
        yield f"Columns on {sheet.benchmark}: {told}."
    if "rules=published" in sheet.head.metric:
        yield BY_LABELS
        yield NOT_THE_HARNESS
    own = [row for row in rows if row["format"] == OVERALL]
    lacking = [row for row in own if row["estimate"] is None]
    if lacking and len(lacking) < len(own):
        yield " ".join(f"{row['candidate']} has no overall: {row['reason']}." for row in lacking)
    there = [row for row in own if row["n_common"] is not None and row["estimate"] is not None]
    if there and any(row["n_items"] != row["n_common"] for row in there):
        yield (
            f"Ranks rest on the {count(there[0]['n_common'], 'question')} that all have marks on; means are "
            "of each candidate's own."
        )
