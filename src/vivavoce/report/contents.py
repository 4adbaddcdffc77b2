"""What stands in a report, as plain rows: the template only lays them out."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.records import Criterion, Measure
from vivavoce.report.studied import drawn, overtaken, ranks_of, sections
from vivavoce.specs import signed
from vivavoce.store.read import Benchmark
from vivavoce.studies import identical_repeats, settled
from vivavoce.text import is_blank

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_ANSWERS", "Contents", "rows"]

MOST_ANSWERS = 60
LONGEST_TEXT = 4_000
_THOUGHT_MARK = re.compile(r"<unused\d+>")


class Contents(NamedTuple):
    """Everything a report draws on: one run's tables, estimates, comparisons and findings by study."""

    name: str
    items: "pl.DataFrame"
    responses: "pl.DataFrame"
    scores: "pl.DataFrame"
    measures: Mapping[int, Measure]
    estimates: Sequence[Mapping[str, Any]]
    comparisons: Sequence[Mapping[str, Any]]
    benchmarks: Sequence[Benchmark]
    provenance: Sequence[Mapping[str, Any]]
    selection: str | None
    studies: Mapping[str, Sequence[Mapping[str, Any]]]


def rows(contents: Contents) -> dict[str, Any]:
    """The template's variables."""
    c = contents
    boards = _boards(c)
    identical = sorted(identical_repeats(c.responses))
    comparisons = _comparisons(c)
    return {
        "name": c.name,
        "version": __version__,
        "made_at": c.provenance[-1]["made_at"][:10] if c.provenance else None,
        "selection": c.selection,
        "totals": _totals(c),
        "boards": boards,
        "comparisons": drawn(comparisons, c.measures),
        "sections": sections(c.studies, c.measures, c.provenance, selection=c.selection),
        "compliance": _compliance(c),
        "identical": identical,
        "answers": _answers(c),
        "n_answers": c.responses.height,
        "signatures": list(dict.fromkeys(m.signature for m in c.measures.values())),
        "cards": c.benchmarks,
        "provenance": c.provenance,
        "limitations": _limitations(c, boards, identical, len(comparisons)),
    }


def _totals(c: Contents) -> list[tuple[str, int]]:
    r = c.responses
    return [
        ("candidates", r.n_unique("candidate") if r.height else 0),
        ("questions", r.select("benchmark", "item", "variant").n_unique() if r.height else 0),
        ("independent cases", r.select("benchmark", "group").n_unique() if r.height else 0),
        ("answers", r.height),
        ("blank", sum(is_blank(text) for text in r["text"].drop_nulls())),
        ("never arrived", r.filter(r["status"] == "failed").height),
    ]


def _boards(c: Contents) -> list[dict[str, Any]]:
    """A leaderboard per measure and benchmark: the candidates by estimate, bounds of the exam last."""
    declared_by = {(m.signature, m.criterion.criterion, m.rater): m.criterion for m in c.measures.values()}
    versions = Counter(m for m, _ in {(m.metric, m.signature) for m in c.measures.values()})
    ranks = ranks_of(c.studies.get("ranking", ()), c.provenance, selection=c.selection)
    made = []
    key = ("signature", "benchmark", "metric", "criterion", "rater")
    for (signature, benchmark, metric, criterion, rater), part in groupby(
        c.estimates, key=lambda r: tuple(r[name] for name in key)
    ):
        lines = sorted(part, key=lambda r: r["role"] != "candidate")  # stable: the order by estimate stays
        declared = declared_by[signature, criterion, rater]
        several = len({r for m, k, r in declared_by if (m, k) == (signature, criterion)}) > 1
        sizes = {(r["n_items"], r["n_groups"]) for r in lines}
        made.append(
            {
                "benchmark": benchmark,
                "metric": metric if versions[metric] == 1 else signature,
                "criterion": f"{criterion} by {rater}" if several and rater else criterion,
                "direction": declared.direction,
                "if_unanswered": declared.if_unanswered,
                "range": (declared.low, declared.high),
                "scale": _scale(lines, declared),
                "size": sizes.pop() if len(sizes) == 1 else None,
                "rows": lines,
                "ranks": ranks.get((benchmark, metric, criterion, rater)) if versions[metric] == 1 else None,
                "any_failed": any(r["n_failed"] for r in lines),
            }
        )
    return made


def _scale(lines: Sequence[Mapping[str, Any]], declared: Criterion) -> dict[str, float]:
    """The axis of a board: round numbers around its lowest and highest end, inside the declared range."""
    ends = [
        r[k]
        for r in lines
        for k in ("estimate", "low", "high", "bound_low", "bound_high")
        if r[k] is not None
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    step = 10.0 ** math.floor(math.log10(high - low)) if high > low else 1.0
    ends = [round(math.floor(low / step) * step, 9), round(math.ceil(high / step) * step, 9)]
    return {
        "low": ends[0] if declared.low is None else max(ends[0], declared.low),
        "high": ends[1] if declared.high is None else min(ends[1], declared.high),
    }


def _comparisons(c: Contents) -> list[Mapping[str, Any]]:
    """The last word on each pair, metric and criterion that was ever compared, in the order of asking.

    `stale` says that answers came, or were marked by this metric, after it.
    """
    latest: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for call, finding in enumerate(c.comparisons):
        for row in finding["rows"]:
            pair = (
                row["benchmark"],
                frozenset((row["a"], row["b"])),
                row["metric"],
                row["criterion"],
                row.get("rater"),
            )
            latest.pop(pair, None)
            latest[pair] = row | {
                "call": call,
                "made_at": finding["made_at"][:10],
                "items": finding["settings"].get("items"),
                "stale": overtaken(finding, c.provenance, metric=row["metric"]),
            }
    return list(latest.values())


def _compliance(c: Contents) -> list[dict[str, Any]]:
    """By candidate and format: answers that were read, could not be read, or were not given.

    Marks that were recorded elsewhere do not count: whoever gave them read the answers their own way.
    """
    import polars as pl

    here = [key for key, m in c.measures.items() if not signed(m.signature).recorded]
    # The reading of an answer is the same for every metric that is run here: one row per answer is enough.
    answers = c.scores.filter(
        pl.col("measure_id").is_in(here)
        & (pl.col("edit") == "")
        & pl.col("status").is_in(["ok", "unanswered", "unreadable"])
    ).unique(["benchmark", "item", "variant", "candidate", "repeat"], keep="first", maintain_order=True)
    counted = answers.group_by("candidate", "format").agg(
        *((pl.col("status") == s).sum().alias(s) for s in ("ok", "unanswered", "unreadable"))
    )
    return [
        row
        | {"readable": row["ok"] / (row["ok"] + row["unreadable"]) if row["ok"] + row["unreadable"] else None}
        for row in counted.sort("format", "candidate").iter_rows(named=True)
    ]


def _answers(c: Contents) -> list[dict[str, Any]]:
    """The worst answer of each candidate to each item, worst first, beside its references, with every score.

    Worst is the lowest mean over the bounded criteria, each turned and scaled to 0 (worst) to 1; silence
    counts as its criterion says, what failed to be marked is left out.
    """
    import polars as pl

    parts = [_goodness(c.scores, key, m) for key, m in c.measures.items()]
    parts = [part for part in parts if part.height]
    if not parts:
        return []
    key = ["benchmark", "item", "variant", "candidate", "repeat"]
    worst = (
        pl.concat(parts)
        .group_by(key)
        .agg(pl.col("goodness").mean())
        .filter(pl.col("goodness").is_not_null())
        .sort("goodness", *key)
        .unique(["benchmark", "item", "variant", "candidate"], keep="first", maintain_order=True)
        .head(MOST_ANSWERS)
    )
    full = worst.join(c.responses, on=key, how="left", maintain_order="left").join(
        c.items.select("benchmark", "item", "variant", "question", "options", "answer", "references"),
        on=["benchmark", "item", "variant"],
        how="left",
        maintain_order="left",
    )
    marks: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in c.scores.join(worst, on=key, how="semi").iter_rows(named=True):
        marks.setdefault(tuple(row[k] for k in key), []).append(row)
    return [
        row
        | {
            "name": row["alias"] or " ".join(filter(None, (row["item"], row["variant"]))),
            "marks": marks[tuple(row[k] for k in key)],
            "shown": (row["text"] or "")[:LONGEST_TEXT],
            "cut": max(0, len(row["text"] or "") - LONGEST_TEXT),
        }
        for row in full.iter_rows(named=True)
    ]


def _goodness(scores: "pl.DataFrame", key: int, measure: Measure) -> "pl.DataFrame":
    """Answers of candidates (not of floor or ceiling) by one criterion, 0 worst to 1 best."""
    import polars as pl

    c = measure.criterion
    own = scores.filter(
        (pl.col("measure_id") == key) & (pl.col("role") == "candidate") & (pl.col("edit") == "")
    )
    if c.low is None or c.high is None or c.high == c.low:
        return own.clear().with_columns(goodness=pl.lit(None, pl.Float64)).select(*_GOODNESS)
    scaled = (settled(c) - c.low) / (c.high - c.low)
    good = scaled if c.direction == "higher" else 1 - scaled
    return own.with_columns(goodness=good).select(*_GOODNESS)


_GOODNESS = ("benchmark", "item", "variant", "candidate", "repeat", "goodness")


def _limitations(
    c: Contents, boards: Sequence[Mapping[str, Any]], identical: Sequence[str], n_compared: int
) -> list[str]:
    """What a reader must know before believing a figure."""
    import polars as pl

    said = [
        "Scores say how well recorded answers match what this exam's key and metrics reward. They do not "
        "show "
        "clinical benefit, and nothing here is for clinical use.",
    ]
    if not any(row["contrast"] == "raters" for f in c.studies.get("agreement", ()) for row in f["rows"]):
        said.append("No examiner in this run has been checked against people's marks.")
    few = {b["benchmark"] for b in boards if any(r["n_groups"] < 10 for r in b["rows"])}
    if few:
        said.append(f"Fewer than 10 cases on {', '.join(sorted(few))}: too few to tell candidates apart.")
    for benchmark in c.benchmarks:
        own = c.items.filter(pl.col("benchmark") == benchmark.benchmark)
        n, groups = own.height, own.n_unique("group")
        if groups < n:
            said.append(
                f"{benchmark.benchmark} has {n} questions on {groups} independent cases: for intervals "
                "and comparisons, "
                "questions on one case count as one."
            )
        said.extend(f"{benchmark.benchmark}: {fault}" for fault in benchmark.card.faults)
    if identical:
        said.append(
            f"All repeats of {', '.join(identical)} are the same text and say nothing of how answers vary."
        )
    for name, n in _thinking_aloud(c):
        said.append(f"{n} answers of {name} hold thinking (marks such as <unused95>), marked as answer.")
    missing = sum(row["n_failed"] for board in boards for row in board["rows"])
    if missing:
        said.append(f"{missing} marks failed; the bounds say what they could change.")
    if len(c.comparisons) > 1:
        said.append(
            f"This run was looked at {len(c.comparisons)} times; each look makes chance findings likelier."
        )
    if not n_compared:
        said.append("No candidates were compared: intervals that overlap, or do not, are no comparison.")
    return said


def _thinking_aloud(c: Contents) -> list[tuple[str, int]]:
    """Candidates whose answers hold thinking between marks other than <think>, with how many do."""
    import polars as pl

    marked = c.responses.filter(pl.col("text").str.contains(_THOUGHT_MARK.pattern))
    return sorted(marked.group_by("candidate").len().iter_rows())
