"""The scores that a user names: by a metric, a jury of judges, or an overall over groups."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from vivavoce.core import registry, specs
from vivavoce.core.errors import SelectionError, VivaError
from vivavoce.core.records import ItemKey
from vivavoce.metrics import Metric
from vivavoce.run.tables.answer_integrity import has_other_parts
from vivavoce.run.tables.fitting_metrics import default_metrics
from vivavoce.run.tables.load import (
    load_items,
    load_scores,
    nothing_scored,
    refuse_retired,
    select_signatures,
)
from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.comparing.combined_scores import consensus, overall_scores
from vivavoce.studies.overall_design import OVERALL, OverallDesign, is_overall, parse_design
from vivavoce.studies.primary import parse_reference
from vivavoce.studies.row_parts import distinct, stacked
from vivavoce.studies.score_table import SECTION, ScoreTable, section_names

if TYPE_CHECKING:
    from vivavoce.judging.judge import Jury

DECLARED = "overall declared"
"""The kind of event of a user who declares the groups of an overall; the latest counts."""


def scores_by(
    view: View,
    metric: str | None,
    items: set[ItemKey] | None,
    candidates: Sequence[str] | None = None,
) -> ScoreTable:
    """The scores by what a user names: a metric, a signature, a jury of judges, an overall; null for all.

    Raises `SelectionError` for what is not there, or is retired.
    """
    if metric is not None and is_overall(metric):
        return overall_table(view, metric, items, candidates)
    spec = _jury_spec(metric)
    if spec is None:
        if metric is not None:
            refuse_retired(view, metric)
        metric, criterion = metric_and_criterion(view, metric)
        table = _current_version(view, select_signatures(view, metric), items, candidates)
        return table if criterion is None else _on_criterion(table, criterion)
    jury: Jury = registry.build("metric", spec)
    judges = [_judge_signature(view, judge) for judge in jury.of]
    table = load_scores(view, judges, items, candidates)
    return consensus(table, metric=str(jury), judges=judges, rule=jury.rule, quorum=jury.quorum)


def metric_and_criterion(view: View, metric: str | None) -> tuple[str | None, str | None]:
    """What a user names: a metric, and the criterion after its colon if there is such a one."""
    if metric is None or ":" not in metric:
        return metric, None
    return parse_reference(metric, {keyed.measure.criterion.criterion for keyed in view.fetch(read.measures)})


def _on_criterion(table: ScoreTable, criterion: str) -> ScoreTable:
    """The scores on one criterion. Raises `SelectionError` where there are none."""
    measures = {key: m for key, m in table.measures.items() if m.criterion.criterion == criterion}
    if not measures:
        names = ", ".join(dict.fromkeys(m.criterion.criterion for m in table.measures.values()))
        raise SelectionError(f"no criterion {criterion!r} there; it scored {names}.")
    scores = table.scores.filter(pl.col("measure_id").is_in(list(measures)))
    return table._replace(scores=scores, measures=measures)


def _jury_spec(metric: str | None) -> specs.Spec | None:
    """The spec of a jury, if that is what was named; null for any other metric, and for a signature."""
    if metric is None or not metric.lstrip().startswith("jury"):
        return None
    spec = specs.parse(metric)
    return spec if spec.name == "jury" else None


def signature_in(view: View, metric: Metric) -> str:
    """The signature under which a run holds the scores of a metric, or will hold them.

    Earlier releases hashed the bytes of a judge's rubric, and read answers of which other marks of thinking
    were known. A run with scores under such a signature, and none under today's, keeps it where nothing would
    be scored otherwise: the file is the same, and every answer is read as it stands.
    """
    signature = registry.signature(metric)
    stored = {keyed.measure.signature for keyed in view.fetch(read.stored_measures)}
    if signature in stored or not (metric.digests or metric.whole_text_versions):
        return signature
    for version in (None, *metric.whole_text_versions):
        formers = {registry.signature(metric, by_bytes=b, version=version) for b in (False, True)} & stored
        if formers and (version is None or not view.fetch(has_other_parts)):
            return min(formers)
    return signature


def _current_version(
    view: View,
    signatures: Sequence[str] | None,
    items: set[ItemKey] | None,
    candidates: Sequence[str] | None,
) -> ScoreTable:
    """The scores by these; of several versions of a metric the current one, if it scored every candidate."""
    every = load_scores(view, signatures, items, candidates)
    if signatures is None or len(signatures) < 2:
        return every
    try:
        current = signature_in(view, registry.build("metric", specs.signed(signatures[0]).spec))
    except VivaError:
        return every
    if current not in signatures:
        return every
    newest = load_scores(view, [current], items, candidates)
    complete = {*newest.scores["candidate"].unique()} == {*every.scores["candidate"].unique()}
    return newest if complete else every


def _judge_signature(view: View, judge: specs.Spec) -> str:
    """The signature of a judge's scores in the run: by the current rubric, or else the only ones."""
    signatures = select_signatures(view, str(judge)) or []
    current = None
    if registry.member("metric", judge.name):  # else its scores were imported
        current = signature_in(view, registry.build("metric", judge))
    if current in signatures:
        return str(current)
    if len(signatures) > 1:
        raise SelectionError(
            f"{judge} scored this run under several rubrics or versions, none of which is today's: "
            f"`viva score {view.path}` with it first."
        )
    return signatures[0]


def overall_table(
    view: View, reference: str, items: set[ItemKey] | None, candidates: Sequence[str] | None = None
) -> ScoreTable:
    """The scores of an overall on every benchmark that has one.

    Raises `SelectionError` where none has, with the first reason.
    """
    for design in _designs(view, reference).values():
        for metric in filter(None, (design.metric, *design.metrics.values())):
            refuse_retired(view, metric)
    table, reasons = overalls(view, load_scores(view, None, items), reference, items)
    if not table.measures:
        raise SelectionError(next(iter(reasons.values()))) if reasons else nothing_scored(view)
    if candidates is not None:
        table = table._replace(scores=table.scores.filter(pl.col("candidate").is_in(list(candidates))))
    return table


def overalls(
    view: View, scores: ScoreTable, reference: str, items: set[ItemKey] | None
) -> tuple[ScoreTable, dict[str, str]]:
    """The scores of an overall on every benchmark that has one, and by benchmark why another has none.

    A bare `overall` is the one that the user declared, else that of the benchmark's card, else the default.
    """
    item_rows = load_items(view, items)
    designs = _designs(view, reference)
    tables, reasons = [], {}
    for benchmark in distinct(scores.scores, "benchmark")["benchmark"].sort():
        part = item_rows.filter(pl.col("benchmark") == benchmark)
        design = designs.get(benchmark, designs[""])
        try:
            defaults = default_metrics(part["format"].unique())
            tables.append(overall_scores(scores, part, design, defaults, benchmark=benchmark))
        except SelectionError as error:
            reasons[benchmark] = str(error)
    return _together(scores, tables), reasons


def _designs(view: View, reference: str) -> dict[str, OverallDesign]:
    """By benchmark the design of its overall, and under "" that of all others."""
    if reference.strip() != OVERALL:
        return {"": parse_design(reference)}
    if declared := read.events(view.db, DECLARED):
        return {"": parse_design(str(declared[-1]["design"]))}
    cards = {b.benchmark: b.card.primary or "" for b in view.fetch(read.benchmarks)}
    of_cards = {name: parse_design(text) for name, text in cards.items() if is_overall(text)}
    return {"": OverallDesign(), **of_cards}


def _together(scores: ScoreTable, tables: Sequence[ScoreTable]) -> ScoreTable:
    """The overalls of all benchmarks as one table; empty without any."""
    if not tables:
        return scores._replace(scores=scores.scores.clear(), measures={}, only={}, probes={})
    names = pl.Enum([name for table in tables for name in section_names(table.scores)])
    together = tables[0]._replace(
        scores=stacked([t.scores.with_columns(pl.col(SECTION).cast(names)) for t in tables])
    )
    for table in tables[1:]:
        together = together._replace(
            measures={**together.measures, **table.measures},
            only={**together.only, **table.only},
            notes=(*together.notes, *table.notes),
        )
    return together
