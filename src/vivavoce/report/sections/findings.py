"""Findings of studies on the page: sentences, charts and tables of stored findings, nothing recomputed."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from vivavoce.core import specs
from vivavoce.core.errors import VivaError
from vivavoce.core.measure_names import measure_name, metric_name
from vivavoce.core.records import Measure
from vivavoce.report import charts as plots
from vivavoce.report.charts.svg import Figure
from vivavoce.report.data import Board, Rows, by_board
from vivavoce.report.format import number
from vivavoce.report.section import Section, about_of, section_of
from vivavoce.report.sections.quotes import quoted
from vivavoce.store.comparisons import is_overtaken
from vivavoce.studies.answers import Answers
from vivavoce.studies.scale import by_scale
from vivavoce.studies.score_matrix import row_labels

MOST_ROWS = 200
MOST_SENTENCES, OPEN = 12, 6
"""Up to 12 sentences are open; with more, the first 6 are, and the rest is folded."""


class Ranks(NamedTuple):
    """The rank interval of each candidate of a board, and whether scores have changed since.

    `mde_first` is what would have been found between those who may be first; null in an older run.
    """

    places: Mapping[str, str]
    stale: bool
    mde_first: float | None = None


def ranks_of(findings: Rows, provenance: Rows, *, selection: str | None) -> dict[Board, Ranks]:
    """Ranks by board, from the newest ranking of exactly these items."""
    on_these_items = [f for f in findings if _same(f["settings"].get("items"), selection)]
    ranks = {}
    for board, every_scale in by_board(on_these_items[-1]["rows"] if on_these_items else ()).items():
        rows = by_scale(every_scale)[0]  # a rank on another scale is a place in another order
        rank_texts = {row["candidate"]: plots.rank_text(row) for row in rows if row["rank"] is not None}
        if rank_texts and len(rows) == len(
            {row["candidate"] for row in rows}
        ):  # else two boards share the name
            ranks[board] = Ranks(
                rank_texts,
                is_overtaken(on_these_items[-1], provenance, metric=board.metric),
                _mde_first(rows),
            )
    return ranks


def _mde_first(rows: Rows) -> float | None:
    """What would have been found between those who may be first, where a ranking says it."""
    return next((row["mde_first"] for row in rows if row.get("mde_first") is not None), None)


def _same(first: str | None, second: str | None) -> bool:
    """True if two selections are the same spec, however they are written."""
    if first is None or second is None:
        return first is second
    try:
        return str(specs.parse(first)) == str(specs.parse(second))
    except VivaError:
        return first == second


def sections(
    studies: Mapping[str, Rows],
    measures: Mapping[int, Measure],
    provenance: Rows,
    *,
    selection: str | None,
    answers: Answers,
) -> list[dict[str, Any]]:
    """A section for each study with findings: the newest on these items, or else the newest of all."""
    section_by_study = {study: section_of(study) for study, findings in studies.items() if findings}
    names = row_labels(measures)
    result = []
    for study in sorted(section_by_study, key=lambda name: (section_by_study[name].order, name)):
        on_these_items = [f for f in studies[study] if _same(f["settings"].get("items"), selection)]
        finding = (on_these_items or studies[study])[-1]
        result.append(
            _section(study, section_by_study[study], finding, _labelled(finding["rows"], names), answers)
            | {"elsewhere": not on_these_items, "stale": is_overtaken(finding, provenance)}
        )
    return result


def _section(
    study: str, section: Section, finding: Mapping[str, Any], rows: Rows, answers: Answers
) -> dict[str, Any]:
    """What the template needs of one finding: sentences, groups of charts, quoted answers, and a table."""
    text = finding["settings"].get("text")
    sentences = text.splitlines() if text else []
    groups = _groups(section.charts(rows))
    if section.sentences_with_charts and len(groups) == len(sentences) > 1:
        for group, line in zip(groups, sentences, strict=True):
            group["sentence"] = line
        sentences = []
    n_open = len(sentences) if len(sentences) <= MOST_SENTENCES else OPEN
    return {
        "study": study,
        "heading": section.heading or study.capitalize(),
        "about": section.about or about_of(study),
        "made_at": finding["made_at"][:10],
        "items": finding["settings"].get("items"),
        "sentences": sentences[:n_open],
        "further": sentences[n_open:],
        "text_kept": text is not None,
        "groups": groups,
        "figures": [figure for group in groups for figure in group["figures"]],
        "side_by_side": quoted(section.side_by_side(rows), answers),
        "table": _table(section.table(rows)),
        "table_open": section.table_open,
        "rows": finding["rows"],
        "quiet": _is_quiet(finding["rows"]),
    }


def _is_quiet(rows: Rows) -> bool:
    """Whether a finding says nothing: each row has a reason and counts alone, no figure."""
    return all(row.get("reason") and not any(isinstance(v, float) for v in row.values()) for row in rows)


def _groups(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures under the title they share."""
    return [
        {"title": title, "sentence": None, "figures": list(part)}
        for title, part in groupby(figures, key=lambda f: f.title)
    ]


def _labelled(rows: Rows, names: Mapping[tuple[str, str, str], str]) -> list[Mapping[str, Any]]:
    """The rows, with the short name of their measure where they are about one."""
    return [
        {**row, "measure": _measure(row, names)} if "metric" in row and "criterion" in row else row
        for row in rows
    ]


def _measure(row: Mapping[str, Any], names: Mapping[tuple[str, str, str], str]) -> str:
    key = (row["metric"], row["criterion"], row.get("rater") or "")
    return names.get(key) or measure_name(*key)


def _table(rows: Rows) -> dict[str, Any]:
    """The rows as texts, without empty columns; of correlations only those over candidates."""
    visible = [_named(row) for row in rows if row.get("level", "system") == "system"][:MOST_ROWS]
    cells = {name: [row.get(name) for row in visible] for name in (visible[0] if visible else ())}
    columns = {
        name: _is_numeric(column)
        for name, column in cells.items()
        if any(value is not None for value in column)
    }
    return {
        "columns": [(name.replace("_", " "), numeric) for name, numeric in columns.items()],
        "rows": [[(_cell(row.get(name)), numeric) for name, numeric in columns.items()] for row in visible],
        "n_left_out": len(rows) - len(visible),
    }


def _named(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with its metric as readers know it."""
    metric = row.get("metric")
    return {**row, "metric": metric_name(metric)} if isinstance(metric, str) else row


def _is_numeric(column: Iterable[Any]) -> bool:
    return all(isinstance(value, int | float | None) for value in column)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, ".3f" if abs(value) >= 0.001 or value == 0 else ".1e")
    return str(value)
