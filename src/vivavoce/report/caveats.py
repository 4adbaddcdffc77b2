"""What a reader must know before believing a figure."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from vivavoce.report.contents import Contents
from vivavoce.report.standing import Leaderboard
from vivavoce.report.wording import and_so
from vivavoce.studies.grids import PLAIN
from vivavoce.studies.words import count, sampled

__all__ = ["contamination", "limitations"]

LEAST_GROUPS, MOST_NAMED = 10, 6
_THOUGHT_MARK = r"<unused\d+>"
_EXPOSED = re.compile(r"contaminat|leak|memori[sz]", re.IGNORECASE)


def contamination(c: Contents) -> list[dict[str, Any]]:
    """By benchmark what is known of whether candidates have seen it, by its card and this run; else null."""
    none = "its card notes none, and this run did not assess any"
    sought = ["Signs of it were sought in this run, under Studies."] if c.studies.get("contamination") else []
    noted = [(b.benchmark, [*filter(_EXPOSED.search, b.card.faults), *sought]) for b in c.benchmarks]
    return [
        {"benchmark": name, "notes": notes or None, "reason": None if notes else none}
        for name, notes in noted
    ]


def limitations(
    c: Contents, boards: Sequence[Leaderboard], identical: Sequence[str], n_compared: int
) -> list[str]:
    """The sentences, those of every exam first, then what is true of this run."""
    import polars as pl

    said = [
        "Scores say how well recorded answers match what this exam's key and metrics reward. They do not "
        "show clinical benefit, and nothing here is for clinical use.",
    ]
    if c.n_told:
        said.append(
            "Marks of probabilities say how probable given texts are to a model. They do not show what it "
            "would write, nor that it would be right."
        )
    if not (c.raters_compared or c.stamps):
        said.append("No examiner in this run has been checked against people's marks.")
    said.extend(_few_cases(boards))
    for benchmark in c.benchmarks:
        own = c.items.filter(pl.col("benchmark") == benchmark.benchmark)
        n, groups = own.height, own.n_unique("group")
        if groups < n:
            said.append(
                f"{benchmark.benchmark} has {n} questions on {count(groups, 'independent case')}: for "
                "intervals and comparisons, questions on one case count as one."
            )
        said.extend(f"{benchmark.benchmark}: {fault}" for fault in benchmark.card.faults)
    said.extend(f"{line} What the others would have shown is not known." for line in sampled(c.items))
    if c.redact:
        said.append("Texts of questions, answers and notes are redacted here; the figures rest on them.")
    if identical:
        said.append(
            f"All repeats of {', '.join(identical)} are the same text and say nothing of how answers vary."
        )
    for name, n in _thinking_aloud(c):
        hold = "holds" if n == 1 else "hold"
        said.append(
            f"{count(n, 'answer')} of {name} {hold} thinking (marks such as <unused95>), marked as answer."
        )
    missing = sum(row["n_failed"] for board in boards for row in board.rows)
    if missing:
        said.append(
            f"{count(missing, 'mark')} failed; the bounds say what {'it' if missing == 1 else 'they'} could "
            "change."
        )
    if len(c.comparisons) > 1:
        said.append(
            f"This run was looked at {len(c.comparisons)} times; each look makes chance findings likelier."
        )
    if not n_compared:
        said.append("No candidates were compared: intervals that overlap, or do not, are no comparison.")
    return said


def _few_cases(boards: Sequence[Leaderboard]) -> Iterator[str]:
    """By benchmark the measures that rest on few cases, by name unless all of them do."""
    for benchmark in sorted({b.benchmark for b in boards}):
        own: dict[str, bool] = {}
        for b in (b for b in boards if b.benchmark == benchmark):
            name = b.metric if b.criterion in (b.metric, *PLAIN) else f"{b.metric}: {b.criterion}"
            own[name] = own.get(name, False) or any(r["n_groups"] < LEAST_GROUPS for r in b.rows)
        few = [name for name, is_few in own.items() if is_few]
        start = f"Fewer than {LEAST_GROUPS} cases"
        if few and len(few) == len(own):
            yield f"{start} on {benchmark}: too few to tell candidates apart."
        elif few:
            named = and_so(few) if len(few) <= MOST_NAMED else f"{len(few)} of {len(own)} measures"
            these = "this" if len(few) == 1 else "these"
            yield f"{start} for {named} on {benchmark}: too few to tell candidates apart by {these}."


def _thinking_aloud(c: Contents) -> list[tuple[str, int]]:
    """Candidates whose answers hold thinking between marks other than <think>, with how many do."""
    import polars as pl

    marked = c.responses.filter(pl.col("text").str.contains(_THOUGHT_MARK))
    return sorted(marked.group_by("candidate").len().iter_rows())
