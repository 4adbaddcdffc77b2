"""The primary criterion of a run: what a user named, kept in the run, else what a card or the scores say."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import ItemKey
from vivavoce.core.text import one_line
from vivavoce.run.tables.load import load_scores, nothing_scored, refuse_retired, retired_by_name
from vivavoce.run.tables.named_scores import DECLARED, overall_table, overalls
from vivavoce.store import read
from vivavoce.store.comparisons import headline_findings
from vivavoce.store.view import View
from vivavoce.store.write import put_event
from vivavoce.studies.overall_design import OVERALL, OverallDesign, is_overall, parse_design
from vivavoce.studies.primary import Choice, Primary, measures_named, primary_of
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_table import ITEM_KEY, ScoreTable, is_confidence
from vivavoce.studies.text import HEADLINES

Rows = Sequence[Mapping[str, Any]]
NAMED = "primary criterion"
"""The kind of event of a user who names the primary criterion; the latest counts."""


class PrimaryScores(NamedTuple):
    """The primary criterion of a run, and the scores of its overalls, empty where it has none."""

    primary: Primary | None
    overall: ScoreTable


def primary_scores(view: View, table: ScoreTable, items: set[ItemKey] | None) -> PrimaryScores:
    """The primary criterion of these scores of a run on these items, and the overalls of its benchmarks.

    Where an overall was named and cannot be had, the criterion that takes its place says why.
    """
    choice = _choice(view)
    declared = {b.benchmark: b.card.primary for b in view.fetch(read.benchmarks) if b.card.primary}
    declared = {name: OVERALL if is_overall(text) else text for name, text in declared.items()}
    overall, reasons = overalls(view, table, OVERALL, items)
    primary = primary_of(_by_item(table).joined(_by_item(overall)), choice=choice, declared=declared)
    if primary is None:
        return PrimaryScores(primary, overall)
    reference = choice.reference if choice else declared.get(primary.benchmark)
    if reason := _passed_over(view, primary, reference, reasons):
        primary = primary._replace(why=f"{primary.why}; {reason}")
    return PrimaryScores(primary, overall)


def primary_of_run(view: View, items: set[ItemKey] | None) -> Primary:
    """The primary criterion of the run.

    Raises `SelectionError` with the metrics there are, where nothing says how good a response is.
    """
    table = load_scores(view, None, items)
    if primary := primary_scores(view, table, items).primary:
        return primary
    metrics = list(dict.fromkeys(measure.metric for measure in table.measures.values()))
    if not metrics:
        raise nothing_scored(view)
    raise SelectionError(
        f"compare needs --metric, one of those that scored this run: {', '.join(metrics)}. "
        f'Such as: --metric "{metrics[0]}"'
    )


def _passed_over(
    view: View, primary: Primary, reference: str | None, reasons: Mapping[str, str]
) -> str | None:
    """Why another criterion took the place of the one that was named; null where none did."""
    if reference == OVERALL:
        reason = None if primary.metric == OVERALL else reasons.get(primary.benchmark)
        return reason and reason.rstrip(".")
    if reference and retired_by_name(view, reference):
        return f"{one_line(reference, 60)} is retired"
    return None


def _by_item(table: ScoreTable) -> ScoreTable:
    """The table with a row for each measure, item and role: what a primary criterion is chosen by."""
    return table._replace(scores=distinct(table.scores, "measure_id", *ITEM_KEY, "role", "edit"))


def _choice(view: View) -> Choice | None:
    """What a user named as primary; where groups of an overall were declared and no more, the overall."""
    names, designs = read.events(view.db, NAMED), read.events(view.db, DECLARED)
    if names:
        return Choice(str(names[-1]["reference"]), str(names[-1]["why"]))
    return Choice(OVERALL, str(designs[-1]["why"])) if designs else None


def name_primary(view: View, reference: str, why: str) -> None:
    """Keep in the run what a user names as primary, such as `accuracy`, `judge:harm` or `overall`."""
    if is_overall(reference):
        if reference.strip() != OVERALL:
            declare_overall(view, parse_design(reference), why)
        reference = OVERALL
    _put(view, NAMED, {"reference": reference, "why": why})


def choose_primary(view: View, reference: str | None) -> None:
    """Keep what a user chooses as primary of scores that are there; null changes nothing.

    Raises `SelectionError` for a reference that names no metric of the run's scores, several, one that is
    retired, or a confidence.
    """
    if reference is None:
        return
    if is_overall(reference):
        overall_table(view, reference, None)
    else:
        refuse_retired(view, reference)
        measures = load_scores(view).measures
        named = measures_named(reference, measures)
        metrics = list(dict.fromkeys(m.metric for m in named.values()))
        if len(metrics) != 1:
            problem = "fits several metrics" if metrics else "fits nothing"
            names = ", ".join(metrics or dict.fromkeys(m.metric for m in measures.values()))
            raise SelectionError(f"the primary criterion {reference!r} {problem} scored here: {names}.")
        if any(map(is_confidence, named.values())):
            raise SelectionError(
                f"the primary criterion says who is better, and more confident is not: {reference!r} cannot "
                "be it."
            )
    name_primary(view, reference, "chosen with --primary")


def declare_overall(view: View, design: OverallDesign, why: str) -> None:
    """Keep in the run the groups, metrics and weights of its overall."""
    _put(view, DECLARED, {"design": str(design), "why": why})


def _put(view: View, kind: str, body: Mapping[str, Any]) -> None:
    """Append an event, unless the latest of its kind says the same."""
    if view.exists:
        events = read.events(view.db, kind)
        if events and {key: events[-1][key] for key in body} == dict(body):
            return
    with view.writing() as db:
        put_event(db, kind, body)


def of_primary(table: ScoreTable, primary: Primary) -> ScoreTable:
    """The scores of the primary criterion alone, on its benchmark."""
    measures = {
        key: m
        for key, m in table.measures.items()
        if (m.metric, m.criterion.criterion, m.rater) == (primary.metric, primary.criterion, primary.rater)
    }
    rows = pl.col("measure_id").is_in(list(measures)) & (pl.col("benchmark") == primary.benchmark)
    return table._replace(scores=select_rows(table.scores, rows), measures=measures)


def primary_rows(primary: Primary | None, estimates: Rows) -> Rows:
    """The rows of the candidates' estimates on the primary criterion; of several versions the newest."""
    rows = [row for row in estimates if _on(primary, row) and row["view"] in HEADLINES]
    return [row for row in rows if row["signature"] == rows[-1]["signature"]]


def primary_pairs(
    primary: Primary | None,
    comparisons: Rows,
    estimates: Rows,
    *,
    selection: str | None,
    family: str | None = None,
) -> Rows:
    """The latest row of each pair compared on the primary criterion, on these items; none is made here.

    Those of the `family` on the present data come before all others, however late these were made.

    Of an overall those alone that were of the same groups, metrics and weights as these `estimates`.
    """
    signatures = {row["signature"] for row in estimates}
    pairs: dict[frozenset[str], Mapping[str, Any]] = {}
    for finding in headline_findings(comparisons, family, selection):
        for row in finding["rows"]:
            if _on(primary, row) and (row["metric"] != OVERALL or row["signature"] in signatures):
                pair = frozenset((row["a"], row["b"]))
                pairs.pop(pair, None)
                pairs[pair] = {**row, "made_at": finding["made_at"]}
    return list(pairs.values())


def _on(primary: Primary | None, row: Mapping[str, Any]) -> bool:
    """Whether a row is about the primary criterion."""
    names = ("benchmark", "metric", "criterion", "rater")
    return primary is not None and all((row[name] or "") == getattr(primary, name) for name in names)
