"""The scores that came with the answers of a run, beside ours: what they are in the run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from vivavoce.core.measure_names import is_of_file
from vivavoce.core.records import Finding, ItemKey, Measure
from vivavoce.core.specs import signed
from vivavoce.run.tables.load import load_scores
from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.comparing.file_scores import Sides, file_scores, file_scores_lines


def compared_file_scores(
    view: View, items: set[ItemKey] | None, signatures: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """The rows of `file_scores` on these items; `signatures` are ours in their order, null for all.

    No rows where the answers came without scores.
    """
    measures = dict(view.fetch(read.measures))
    tools = {str(record.get("tool")) for record in read.verb_records(view.db, "import log", "a log")}
    file = {key: m for key, m in measures.items() if is_of_file(m) or _is_of_tool(m, tools)}
    if not file:
        return []
    rules = _ordered({key: m for key, m in measures.items() if _is_rule(m)}, signatures)
    table = load_scores(view, [m.signature for m in (*file.values(), *rules.values())], items)
    return file_scores(table, Sides(file, rules))


def _ordered(measures: Mapping[int, Measure], signatures: Sequence[str] | None) -> dict[int, Measure]:
    """The measures by these signatures in their order; null for all as they are."""
    if signatures is None:
        return dict(measures)
    chosen = {key: m for key, m in measures.items() if m.signature in signatures}
    return dict(sorted(chosen.items(), key=lambda entry: signatures.index(entry[1].signature)))


def _is_of_tool(measure: Measure, tools: Collection[str]) -> bool:
    """Whether a measure is that of a tool whose log was imported."""
    name, dot, _ = measure.metric.partition(".")
    return bool(dot) and name in tools and signed(measure.signature).recorded


def _is_rule(measure: Measure) -> bool:
    """Whether a measure is ours and asks no model: a mean from 0 to 1 by answer."""
    c = measure.criterion
    is_share = (c.low, c.high, c.pool, c.direction) == (0, 1, "mean", "higher")
    return is_share and not measure.rater and not signed(measure.signature).recorded


def with_file_scores(view: View, finding: Finding, items: set[ItemKey] | None) -> Finding:
    """Estimates with the rows of `file_scores` on these items, and their lines before all other notes."""
    signatures = list(dict.fromkeys(row["signature"] for row in finding.rows))
    rows = compared_file_scores(view, items, signatures)
    notes = (*file_scores_lines(rows, quote(str(view.path))), *finding.notes)
    return replace(finding, notes=notes, file_scores=tuple(rows))
