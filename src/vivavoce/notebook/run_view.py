"""A run at a glance: what is here, what is missing, and the next step; in words and as HTML."""

from collections.abc import Callable
from typing import NamedTuple

from vivavoce.core.errors import VivaError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.text import count, one_line, printable
from vivavoce.notebook.markup import Column, Html, block, code, element, escaped, head, shortened, soft, table
from vivavoce.store.retirement import measure_words
from vivavoce.store.run_counts import MeasureCount, RunCounts, run_counts
from vivavoce.store.runfile import RunFile

MOST_NAMES, MOST_MEASURES = 6, 12
STATUSES = ("ok", "unanswered", "unreadable", "failed", "set_aside")


Gaps = Callable[[], tuple[int, int]]
"""Counts the responses that were never asked for, and those of them that a collect was to ask for."""
Headline = Callable[[], str | None]
"""What the comparison of all candidates says in one line; null where there is none."""


class Overview(NamedTuple):
    """What a run holds in a line each, what is missing from it, what to do next, and why."""

    contents: tuple[str, ...]
    missing: tuple[str, ...]
    step: str
    why: str
    measures: tuple[MeasureCount, ...] = ()
    headline: str | None = None


def overview(file: RunFile, gaps: Gaps, headline: Headline) -> Overview:
    """The run in sentences, by counts of SQLite; `gaps` is called for a run that is there.

    `headline` is called where candidates were compared.

    Raises `StoreError` for a file that cannot be read.
    """
    if not file.exists:
        return Overview(
            ("Nothing is stored here yet: the file appears with the first answers.",), (),
            'run.import_answers("answers.csv", benchmark="csv(path=questions.csv)")',
            "answers that you have; run.collect(…) asks models",
        )  # fmt: skip
    with file.reading() as db:
        counts = run_counts(db)
    never_asked, unfinished = gaps()
    missing, step = _missing(counts, never_asked), _next(counts, unfinished)
    verdict = headline() if counts.findings.get("compare") else None
    return Overview(tuple(_contents(counts)), tuple(missing), *step, counts.measures, verdict)


def _contents(counts: RunCounts) -> list[str]:
    items = ", ".join(f"{count(n, 'item')} of {_name(name)}" for name, n in counts.items.items())
    variants = f", and {count(counts.n_made, 'variant')} made here" if counts.n_made else ""
    responses = sum(counts.responses.values())
    scores = sum(sum(m.by_status.values()) for m in counts.measures)
    findings = ", ".join(f"{n:,} of {study}" for study, n in counts.findings.items())
    return [
        f"{items or 'No items'}{variants}",
        f"{count(responses, 'response')} of {count(len(counts.candidates), 'candidate')}"
        + (f": {_names(counts.candidates)}" if counts.candidates else ""),
        f"{count(scores, 'score')} by {count(len(counts.measures), 'measure')}",
        *([f"retired: {_retired(counts.retired)}"] if counts.retired else []),
        *([f"findings: {findings}"] if findings else []),
    ]


def _retired(measures: tuple[MeasureCount, ...]) -> str:
    """The measures that count nowhere, with how many scores each has."""
    return _names(
        tuple(f"{measure_words(m.measure)} ({count(sum(m.by_status.values()), 'score')})" for m in measures)
    )


def _missing(counts: RunCounts, never_asked: int) -> list[str]:
    failed = _by_status(counts, "failed")
    lines = [
        (never_asked, "response", "never asked for"),
        (counts.responses.get("failed", 0), "response", "did not arrive"),
        (counts.responses.get("filtered", 0), "response", "withheld by a provider's filter"),
        (counts.n_unscored, "response", "without any score"),
        (failed, "score", "failed: scoring again tries them again"),
        (_by_status(counts, "unreadable"), "score", "of answers that could not be read"),
        (_by_status(counts, "unanswered"), "score", "of answers that say nothing"),
    ]
    return [f"{count(n, thing)} {words}" for n, thing, words in lines if n]


def _by_status(counts: RunCounts, status: str) -> int:
    return sum(measure.by_status.get(status, 0) for measure in counts.measures)


def _next(counts: RunCounts, unfinished: int) -> tuple[str, str]:
    """The code of the next step, and what for."""
    failed = next((m for m in counts.measures if m.by_status.get("failed")), None)
    if unfinished:
        return "run.collect(…)", f"the same call again asks for the {unfinished:,} responses that are left"
    if not sum(counts.responses.values()):
        return 'run.import_answers("answers.csv", benchmark=…)', "there are no responses yet"
    if not counts.measures:
        return "run.score()", "the metrics that fit the items; run.score('judge(…)') asks a judge"
    if failed is not None:
        return f"run.score({failed.measure.metric!r}, …)", "what failed is tried again"
    if len(counts.candidates) > 1 and not counts.findings.get("compare"):
        both = len(counts.candidates) == 2
        return ("run.compare()", "who is better") if both else ("run.compare('…', '…')", "who is better")
    return "run.report()", "all of it on one page"


def _name(name: str) -> str:
    return one_line(printable(name), 60)


def _names(names: tuple[str, ...]) -> str:
    listed = ", ".join(map(_name, names[:MOST_NAMES]))
    return f"{listed} and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else listed


def run_text(file: RunFile, gaps: Gaps, headline: Headline) -> str:
    """The run as plain text: for a console, where it is printed or left as the last value."""
    name = f"Run({str(file.path)!r})"
    try:
        summary = overview(file, gaps, headline)
    except (VivaError, OSError) as error:
        return f"{name}: {one_line(printable(str(error)), 300)}"
    missing = [f"missing: {'; '.join(summary.missing)}"] if summary.missing else []
    verdict = [one_line(printable(summary.headline), 300)] if summary.headline else []
    return "\n  ".join(
        [name, *verdict, *summary.contents, *missing, f"next: {summary.step}  # {summary.why}"]
    )


def run_html(file: RunFile, gaps: Gaps, headline: Headline) -> str:
    """The run as HTML: what is here, a table of its measures, what is missing, and the next step."""
    name = head(f"Run {file.path.name}")
    try:
        summary = overview(file, gaps, headline)
    except (VivaError, OSError) as error:
        return block(name, element("p", escaped(error, 1_000), classes="viva-missing"))
    return block(
        name,
        *(element("p", _line(line)) for line in filter(None, (summary.headline, *summary.contents))),
        *_measures(summary.measures),
        *(element("p", f"Missing: {line}", classes="viva-missing") for line in summary.missing),
        element("p", "Next: ", code(shortened(summary.step, 120)), Html("&ensp;"), escaped(summary.why)),
    )


def _line(line: str) -> Html:
    return escaped(line, 1_000)


def _measures(measures: tuple[MeasureCount, ...]) -> list[Html | None]:
    """A row for each measure with its scores by status; statuses that nowhere occur are left out."""
    visible = measures[:MOST_MEASURES]
    if not visible:
        return []
    columns = [
        Column("metric", [metric_name(m.measure.metric) for m in visible]),
        Column("criterion", [m.measure.criterion.criterion for m in visible]),
        Column("rater", [m.measure.rater for m in visible]),
        *(Column(s.replace("_", " "), [m.by_status.get(s, 0) for m in visible]) for s in STATUSES),
    ]
    more = len(measures) - len(visible)
    lines = [soft(f"… and {count(more, 'more measure')}")] if more > 0 else []
    return [table([c for c in columns if any(c.cells)]), *lines]
