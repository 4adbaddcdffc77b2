"""What a reader must know before believing a figure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce import stats
from vivavoce.core.cases import CaseCount
from vivavoce.report.data import ReportData
from vivavoce.report.sections.leaderboard import Leaderboard
from vivavoce.studies.answer_integrity import integrity_lines, not_whole
from vivavoce.studies.comparing.small_categories import (
    failure_sentences,
    small_categories,
    with_holm,
)
from vivavoce.studies.comparing.writers import writer_warning, writers_examined
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_matrix import PLAIN, grids_with_fillings, labels
from vivavoce.studies.text import and_so, count, sampled

MOST_NAMED = 6
_EXPOSED = re.compile(r"contaminat|leak|memori[sz]", re.IGNORECASE)


def contamination(c: ReportData) -> list[dict[str, Any]]:
    """By benchmark the signs of exposure in training, from its card and this run; else null with a reason."""
    default = "its card notes none, and this run did not assess any"
    sought = ["Signs of it were sought in this run, under Studies."] if c.studies.get("contamination") else []
    noted = [(b.benchmark, [*filter(_EXPOSED.search, b.card.faults), *sought]) for b in c.benchmarks]
    return [
        {"benchmark": name, "notes": notes or None, "reason": None if notes else default}
        for name, notes in noted
    ]


def limitations(
    c: ReportData, boards: Sequence[Leaderboard], identical: Sequence[str], n_compared: int
) -> list[str]:
    """The sentences: those that hold for every benchmark first, then what is true of this run."""
    return [*_failures(c), *_of_scores(c), *_few_cases(boards), *_of_items(c),
            *_of_answers(c, boards, identical), *_of_comparisons(c, n_compared)]  # fmt: skip


def _of_scores(c: ReportData) -> Iterator[str]:
    yield (
        "Scores say how well recorded answers match what this benchmark's key and metrics reward. They do "
        "not show clinical benefit, and nothing here is for clinical use."
    )
    if c.n_logprob_items:
        yield (
            "Scores of probabilities say how probable given texts are to a model. They do not show what it "
            "would write, nor that it would be right."
        )
    if not (c.raters_compared or c.stamps):
        yield "No rater in this run has been checked against people's scores."
    yield from c.forgotten
    if c.retired:
        named = and_so(c.retired) if len(c.retired) <= MOST_NAMED else f"{len(c.retired)} measures"
        yield f"Scores by {named} are retired: they are in the run, and no figure here rests on them."


def _of_items(c: ReportData) -> Iterator[str]:
    counts = c.case_counts(c.items)
    candidates = distinct(c.responses, "candidate")["candidate"].sort().to_list()
    for benchmark in c.benchmarks:
        items = c.items.filter(pl.col("benchmark") == benchmark.benchmark)
        yield from _cases(benchmark.benchmark, items, counts.get(benchmark.benchmark))
        yield from (f"{benchmark.benchmark}: {fault}" for fault in benchmark.card.faults)
        written = writers_examined(benchmark.card, candidates)
        yield from (writer_warning(benchmark.benchmark, model) for model in written)
    yield from (f"{e.text} Nobody was asked them." for e in c.exclusions)
    yield from (f"{line} What the others would have shown is not known." for line in sampled(c.items))
    if c.redact:
        yield "Texts of questions, answers and notes are redacted here; the figures rest on them."


def _cases(benchmark: str, items: pl.DataFrame, counted: CaseCount | None) -> Iterator[str]:
    """How many cases the questions are, where these are fewer, and which questions repeat another one."""
    n, groups, repeats = items.height, items.n_unique("group"), counted.text if counted else ""
    if groups < n:
        sentence = (
            f"{benchmark} has {n} questions on {count(groups, 'independent case')}: for intervals and "
            f"comparisons, questions on one case count as one. {repeats}"
        )
        yield sentence.rstrip()
    elif repeats:
        yield f"{benchmark}: {repeats}"


def _of_answers(c: ReportData, boards: Sequence[Leaderboard], identical: Sequence[str]) -> Iterator[str]:
    if identical:
        yield f"All repeats of {', '.join(identical)} are the same text and say nothing of how answers vary."
    yield from integrity_lines(not_whole(c.integrity))
    missing = sum(row["n_failed"] for board in boards for row in board.rows)
    if missing:
        pronoun = "it" if missing == 1 else "they"
        yield f"{count(missing, 'score')} failed; the bounds say what {pronoun} could change."


def _of_comparisons(c: ReportData, n_compared: int) -> Iterator[str]:
    if c.n_tests > 1:
        yield f"{c.n_tests} tests were made on this run; each makes chance findings likelier."
    if any(row.get("judge_alone") for finding in c.comparisons for row in finding["rows"]):
        yield (
            "Some comparisons rest on a judge alone: they say what the judge prefers, and a judge that is "
            "kinder to one candidate prefers it where people see no difference."
        )
    if not n_compared:
        yield "No candidates were compared: intervals that overlap, or do not, are no comparison."


def _is_few(row: Mapping[str, Any]) -> bool:
    if row["estimate"] is None:  # it has no result, which is another limit
        return False
    effective = row.get("effective_cases")
    return not stats.enough_groups(row["n_groups"] if effective is None else effective)


def _few_cases(boards: Sequence[Leaderboard]) -> Iterator[str]:
    """By benchmark the measures that rest on few cases, by name unless all of them do."""
    for benchmark in sorted({b.benchmark for b in boards}):
        is_few: dict[str, bool] = {}
        for b in boards:
            if b.benchmark == benchmark:
                name = b.metric if b.criterion in (b.metric, *PLAIN) else f"{b.metric}: {b.criterion}"
                is_few[name] = is_few.get(name, False) or any(map(_is_few, b.rows))
        few = [name for name in is_few if is_few[name]]
        start = f"Fewer than {stats.LEAST_GROUPS} effective cases"
        limit = "only a difference in nearly all cases can be detected"
        if few and len(few) == len(is_few):
            yield f"{start} on {benchmark}: {limit}."
        elif few:
            named = and_so(few) if len(few) <= MOST_NAMED else f"{len(few)} of {len(is_few)} measures"
            yield f"{start} for {named} on {benchmark}: {limit}."


def _failures(c: ReportData) -> Iterator[str]:
    """The small categories in which a candidate fails, as the study `gaps` names them."""
    sizes = c.items.group_by("benchmark", "category").agg(n=pl.col("group").n_unique())
    if not sizes.filter(pl.col("n") < stats.LEAST_GROUPS).height:
        return
    tests = with_holm(
        [test for grid in grids_with_fillings(c.scores, c.measures) for test in small_categories(*grid)]
    )
    sentences = list(failure_sentences(tests, labels(c.measures)))
    yield from sentences[:MOST_NAMED]
    if len(sentences) > MOST_NAMED:
        yield f"{len(sentences) - MOST_NAMED} more such categories: `viva study RUN gaps` names them."
