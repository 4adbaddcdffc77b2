"""What a benchmark consists of, as a finding and as charts: the verb behind `viva show SPEC --contents`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from vivavoce.benchmarks import Loaded, load
from vivavoce.benchmarks.contents import NEGATIVE, VOCABULARY, WORDS, GuesserRow, SizeRow
from vivavoce.benchmarks.contents import contents as contents_of
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.studies.text import count


def contents(spec: str, *, plots: str | Path | None = None) -> Finding:
    """What a benchmark consists of: sizes, lengths, vocabulary, categories by year, keys, rows left out.

    `spec` names it, such as "careqa(data=DIR)" or "jsonl(path=exam.jsonl)". `plots` is a folder that gets the
    charts as SVG files. The rows are told apart by `about`; no text of a question stands in them. Raises
    `InputError` for a benchmark that cannot be read.
    """
    loaded = load(spec)
    rows = contents_of(loaded)
    finding = Finding(
        study="contents",
        rows=tuple(asdict(row) for row in rows),
        text=_sentence(loaded, rows),
        notes=(f"Words: {WORDS}.", f"Vocabulary: {VOCABULARY}.", f"Negative: {NEGATIVE}."),
    )
    if plots is not None:
        from vivavoce.report import write_charts
        from vivavoce.report.charts.contents import contents_figures

        write_charts(contents_figures(finding.rows, loaded.items[0].benchmark), Path(plots))
    return finding


def _sentence(loaded: Loaded, rows: list[Any]) -> str:
    """The size, what a guesser would score, and what is left out."""
    size = next(row for row in rows if isinstance(row, SizeRow))
    sentences = [
        f"{loaded.items[0].benchmark}: {count(size.items, 'question')} in {count(size.cases, 'case')}."
    ]
    for row in rows:
        if isinstance(row, GuesserRow):
            sentences.append(
                f"Who always names {row.label} ({row.by}) is right in {printed(row.majority, '.1%')}, who "
                f"guesses in {printed(row.chance, '.1%')}."
            )
    counts = loaded.exclusion_counts
    return " ".join([*sentences, *([counts.text] if counts else [])])
