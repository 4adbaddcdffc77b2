"""What the verbs read from a run file: the items, responses and scores that a user's words select."""

import difflib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core import registry, specs
from vivavoce.core.errors import SelectionError, SpecError, StoreError, VivaError
from vivavoce.core.measure_names import is_of_file, metric_name
from vivavoce.core.records import Finding, Item, ItemKey, Measure, ModelCard
from vivavoce.core.tables import RESPONSES, restrict_to_items
from vivavoce.core.text import names_with, one_line
from vivavoce.logprobs.requests import requests_of, scores_logprobs
from vivavoce.metrics import Metric
from vivavoce.models.cards import card_of, cards
from vivavoce.run.tables.requests import labelled_items
from vivavoce.run.tables.stored_benchmarks import load_benchmark
from vivavoce.store import read
from vivavoce.store.comparisons import put_comparison
from vivavoce.store.forgotten import is_forgotten
from vivavoce.store.label_draws import LabelDraw, read_label_draws
from vivavoce.store.read import KeyedMeasure, RetiredMeasure
from vivavoce.store.redacted import unscored_items
from vivavoce.store.retirement import measure_words
from vivavoce.store.view import View
from vivavoce.store.write import put_finding
from vivavoce.studies.answers import Answers
from vivavoce.studies.comparing.rubrics import models_named
from vivavoce.studies.primary import parse_reference
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_table import ScoreTable

RANK = "rank"
SEPARATE_POOLS = (RANK, "unit")
"""Pools of criteria that are read by themselves: a mean over ranks, or over units of several weights, is not
the value of a response.
"""
_APPLIES: dict[tuple[str, str], bool] = {}
"""Whether the metric of a signature scores an item of a hash. Asked once in a process: it may be slow."""
_KEY = ["benchmark", "item", "variant"]
_KEY_SCHEMA = dict.fromkeys(_KEY, pl.String)


def _is_reworded(item: Item, digest: str) -> bool:
    """Whether an item has another hash than this; that of a forgotten one says nothing of its words."""
    return item.hash != digest and not is_forgotten(item.meta)


def select_items(view: View, items: str | None, *, may_be_none: bool = False) -> set[ItemKey] | None:
    """The items that a benchmark's spec selects; null for all.

    Raises `SelectionError` if the run holds none of them, unless it `may_be_none`, or one under another
    wording.
    """
    if items is None:
        return None
    loaded = load_benchmark(view, items)
    stored = {(i.benchmark, i.item, i.variant): i for i in view.fetch(read.items_by_id).values()}
    selected = {(i.benchmark, i.item, i.variant): i.hash for i in loaded.items}
    shared = stored.keys() & selected.keys()
    if not shared and not may_be_none:
        benchmarks = ", ".join(sorted({benchmark for benchmark, *_ in stored}))
        name = loaded.items[0].benchmark
        raise SelectionError(f"--items {items}: this run has no items of {name}; it holds {benchmarks}.")
    changed = [key[1] for key in shared if _is_reworded(stored[key], selected[key])]
    if changed:
        raise SelectionError(
            f"--items {items}: {len(changed)} of these items are worded otherwise in this run: "
            f"{min(changed)} …"
        )
    return set(selected)


def with_generated(view: View, items: set[ItemKey] | None) -> set[ItemKey] | None:
    """The items and their variants that were made in this run."""
    if items is None:
        return None
    bases = {key[:2] for key in items}
    generated = view.fetch(read.items).filter(pl.col("origin").is_not_null()).select(_KEY)
    return items | {key for key in generated.iter_rows() if key[:2] in bases}


def select_signatures(view: View, metric: str | None) -> list[str] | None:
    """The signatures that a metric's name, whole or in part, or a signature selects; null for all.

    Raises `SelectionError` for none, several metrics, and one that is retired.
    """
    if metric is None:
        return None
    measures = [keyed.measure for keyed in view.fetch(read.measures)]
    if not measures:
        raise nothing_scored(view)
    refuse_retired(view, metric)
    if metric in {m.signature for m in measures}:
        return [metric]
    return one_source(_metric_name(metric, measures), measures)


def one_source(name: str, measures: Sequence[Measure]) -> list[str]:
    """The signatures of the metric of this name.

    Raises `SelectionError` where some were recorded elsewhere and others not.
    """
    signatures = list(dict.fromkeys(m.signature for m in measures if m.metric == name))
    recorded = [signature for signature in signatures if specs.signed(signature).recorded]
    if recorded and len(recorded) < len(signatures):
        raise SelectionError(
            f"{name} was both recorded and run here, and the two are not the same measure: name one by "
            f"its signature, {' or '.join(signatures)}."
        )
    return signatures


def _metric_name(metric: str, measures: Sequence[Measure]) -> str:
    """The one stored metric that the user's words match: a spec, a shorthand, or a part of its name."""
    matches = metrics_meant(metric, measures)
    if len(matches) == 1:
        return matches[0]
    stored = {m.metric: specs.signed(m.signature).spec for m in measures}
    names = ", ".join(matches or stored)
    problem = "matches several" if matches else "matches none"
    near = difflib.get_close_matches(specs.parse(metric).name, {spec.name for spec in stored.values()}, n=1)
    hint = f" Did you mean {near[0]!r}?" if near and not matches else ""
    raise SelectionError(f"the metric {metric!r} {problem} of what this run was scored by: {names}.{hint}")


def metrics_meant(metric: str, measures: Sequence[Measure]) -> list[str]:
    """The metrics of these measures that a user's words match: a name in tables, a spec, or a part of it."""
    stored = {m.metric: specs.signed(m.signature).spec for m in measures}
    if displayed := [name for name in stored if metric_name(name) == metric]:
        return displayed
    if matches := specs.select(metric, list(stored), stored):
        return matches
    full = registry.in_full("metric", specs.parse(metric))
    return specs.select(str(full), list(stored), stored) or names_with(metric, stored)


def measures_meant(reference: str, keyed_measures: Iterable[KeyedMeasure]) -> list[KeyedMeasure]:
    """The measures that `metric`, `metric:criterion` or a signature names, perhaps of several metrics."""
    measures = list(keyed_measures)
    metric, criterion = parse_reference(reference, {keyed.measure.criterion.criterion for keyed in measures})
    chosen = [keyed for keyed in measures if criterion in (None, keyed.measure.criterion.criterion)]
    if of_signature := [keyed for keyed in chosen if keyed.measure.signature == metric]:
        return of_signature
    names = metrics_meant(metric, [keyed.measure for keyed in chosen])
    return [keyed for keyed in chosen if keyed.measure.metric in names]


def retired_by_name(view: View, reference: str, rater: str | None = None) -> list[RetiredMeasure]:
    """The retired measures that a reference names, by this rater if one is given.

    There are none if a measure that it names counts.
    """
    retired = {entry.key: entry for entry in view.fetch(read.retired_measures)}
    if not retired:
        return []
    with suppress(SpecError):
        meant = measures_meant(reference, view.fetch(read.stored_measures))
        keys = [keyed.key for keyed in meant if rater in (None, keyed.measure.rater)]
        if all(key in retired for key in keys):
            return [retired[key] for key in keys]
    return []


def refuse_retired(view: View, reference: str, rater: str | None = None) -> None:
    """Raise `SelectionError` if all that a reference names is retired, by this rater if one is given."""
    if retired := retired_by_name(view, reference, rater):
        raise SelectionError(retired_sentence(view, reference, max(entry.made_at for entry in retired)))


def retired_sentence(view: View, reference: str, made_at: str) -> str:
    """That what a user named is retired, since when, and how to undo it."""
    command = f"viva retire {quote(str(view.path))} {quote(reference)} --undo"
    return (
        f"{one_line(reference, 80)} is retired in this run since {made_at[:10]}: `{command}` counts it again."
    )


def nothing_scored(view: View) -> SelectionError:
    """The error for a run without a score that counts: what to do."""
    command = f"viva score {quote(str(view.path))}"
    if retired := view.fetch(read.retired_measures):
        names = ", ".join(dict.fromkeys(measure_words(entry.measure) for entry in retired))
        return SelectionError(
            f"all that scored this run is retired ({one_line(names, 120)}): `viva retire "
            f"{quote(str(view.path))} MEASURE --undo` counts a measure again, `{command} METRIC` scores by "
            "another."
        )
    return SelectionError(f"nothing has been scored in this run yet: `{command}` does that.")


def load_items(view: View, items: set[ItemKey] | None) -> pl.DataFrame:
    """The chosen items of the benchmarks, without those made in the run."""
    return _chosen(view.fetch(read.items), items)


def _chosen(every: pl.DataFrame, items: set[ItemKey] | None) -> pl.DataFrame:
    return restrict_to_items(every.filter(every["origin"].is_null()), items)


def answers_of(view: View, chosen: set[ItemKey] | None) -> Answers:
    """What reads the generated answers in words to the chosen items, null for all, without log-probabilities.

    Items made in the run are left out. Each call reads them anew, in the state of the view.
    """
    every = None if chosen is None else pl.DataFrame(sorted(chosen), schema=_KEY_SCHEMA, orient="row")

    def read_answers(
        *columns: str,
        edited: bool | None = None,
        items: pl.DataFrame | None = None,
        **derived: pl.Expr,
    ) -> pl.DataFrame:
        if items is not None and every is not None:
            items = items.join(every, on=_KEY, how="semi")
        some = every if items is None else items
        return read.responses(
            view.db, probed=False, generated=False, edited=edited, items=some,
            columns=columns or RESPONSES, derived=derived,
        )  # fmt: skip

    return read_answers


def load_logprobs(view: View, items: pl.DataFrame) -> pl.DataFrame:
    """The responses that hold log-probabilities about these items."""
    responses = read.responses(view.db, probed=True)
    return responses.join(items, on=_KEY, how="semi", maintain_order="left")


def load_scores(
    view: View,
    signatures: Collection[str] | None = None,
    items: set[ItemKey] | None = None,
    candidates: Sequence[str] | None = None,
    *,
    twins: bool = False,
    ranks: bool = False,
) -> ScoreTable:
    """The scores by these signatures on these items; null for all.

    Ranks and the scores of single units are not values of a response and are left out, unless `ranks` asks
    for ranks too; so are items that were made in the run, unless `twins`, and the scores that a file gave to
    its own answers, unless they are named.
    """
    separate = ("unit",) if ranks else SEPARATE_POOLS
    measures = {
        keyed.key: keyed.measure
        for keyed in view.fetch(read.measures)
        if (not is_of_file(keyed.measure) if signatures is None else keyed.measure.signature in signatures)
        and keyed.measure.criterion.pool not in separate
    }
    if (signatures is None and candidates is None) or view.has_read(_rows_of_all, separate, twins):
        rows = _rows_of(view.fetch(_rows_of_all, separate, twins), measures, candidates)
    else:
        rows = read.scores(
            view.db, measures=list(measures), candidates=candidates, details=True, generated=twins
        )
    rows = _weighed_by_draw(rows, measures, view.fetch(read_label_draws))
    only = scored_items(view, measures) | labelled_items(rows, measures)
    return ScoreTable(restrict_to_items(rows, items), measures, only=only, probes=_probes(measures))


def _rows_of_all(db: sqlite3.Connection, separate: tuple[str, ...], twins: bool) -> pl.DataFrame:
    """The score rows of all candidates by all measures but those of separate pools."""
    keys = [key for key, measure in read.measures(db) if measure.criterion.pool not in separate]
    return read.scores(db, measures=keys, details=True, generated=twins)


def _rows_of(
    all_rows: pl.DataFrame, measures: Mapping[int, Measure], candidates: Sequence[str] | None
) -> pl.DataFrame:
    """Of all score rows those that `read.scores` gives for these measures and candidates."""
    rows = all_rows
    if not measures.keys() >= set(all_rows["measure_id"].unique()):
        rows = rows.filter(pl.col("measure_id").is_in(list(measures)))
    if candidates is None:
        return rows
    rows = rows.filter(pl.col("candidate").is_in(list(candidates)))
    is_shared = pl.len().over("measure_id", "ballot", "pass_no") > 1
    return rows.filter((pl.col("ballot") == "") | is_shared)


def _weighed_by_draw(
    rows: pl.DataFrame, measures: Mapping[int, Measure], draws: Mapping[str, LabelDraw]
) -> pl.DataFrame:
    """The score rows, those of people weighed by what each stands for where chances to be drawn differ.

    Cases on which candidates differ may have been drawn more often: their plain mean would lean.
    """
    chances = [
        (key, *place, draw.probabilities[place])
        for key, measure in measures.items()
        if (draw := draws.get(measure.metric)) and len({*map(draw.probabilities.get, draw.items)}) > 1
        for place in draw.items
    ]
    if not chances:
        return rows
    schema = {"measure_id": pl.Int64, **dict.fromkeys(_KEY, pl.String), "chance": pl.Float64}
    weight = pl.col("weight") if "weight" in rows.columns else pl.lit(1.0)
    drawn_rows = rows.join(
        pl.DataFrame(chances, schema, orient="row"), on=["measure_id", *_KEY], how="left", validate="m:1",
        maintain_order="left",
    )  # fmt: skip
    return drawn_rows.with_columns(weight=weight / pl.col("chance").fill_null(1.0)).drop("chance")


def scored_items(view: View, measures: Mapping[int, Measure]) -> dict[int, frozenset[ItemKey]]:
    """By measure the items it scores, for those that do not score every item of their formats."""
    keys_of = _choosing(measures)
    if not keys_of:
        return {}
    items = list(view.fetch(read.items_by_id).values())
    unscored = unscored_items(view.db)  # a redacted run's items no longer tell
    scored: dict[int, frozenset[ItemKey]] = {}
    for signature, keys in keys_of.items():
        if signature in unscored:
            scored |= dict.fromkeys(keys, frozenset(map(_key_of, items)) - unscored[signature])
            continue
        try:
            metric = registry.build("metric", specs.signed(signature).spec)
            for item in items:
                if (signature, item.hash) not in _APPLIES:
                    _APPLIES[signature, item.hash] = metric.applies_to(item)
        except VivaError:  # a file that it named is gone: what it would score is unknown
            continue
        scored |= dict.fromkeys(keys, frozenset(_key_of(i) for i in items if _APPLIES[signature, i.hash]))
    return scored


def _choosing(measures: Mapping[int, Measure]) -> dict[str, list[int]]:
    """By signature the measures of metrics that choose among the items of their formats."""
    keys_of: dict[str, list[int]] = {}
    for key, measure in measures.items():
        signed = specs.signed(measure.signature)
        if signed.recorded:
            continue
        metric = registry.member("metric", signed.spec.name) or Metric
        if metric.applies_to is not Metric.applies_to:
            keys_of.setdefault(measure.signature, []).append(key)
    return keys_of


def _key_of(item: Item) -> ItemKey:
    return item.benchmark, item.item, item.variant


def _probes(measures: Mapping[int, Measure]) -> dict[int, str]:
    """By measure the name of the log-probability requests that it scores, for those that score such."""
    names = {}
    for key, measure in measures.items():
        signed = specs.signed(measure.signature)
        if not signed.recorded and scores_logprobs(signed.spec):
            try:
                requests = requests_of(registry.build("metric", signed.spec))
            except VivaError:  # a file that it named is gone
                continue
            if requests:
                names[key] = requests.name
    return names


def with_cards(table: ScoreTable, file: Path | None, author: str | None = None) -> ScoreTable:
    """The table with the cards of candidates, judges, ceilings and the `author` of rewordings.

    `file` adds to the cards that ship.
    """
    shipped = cards(file)
    people = distinct(table.scores, "candidate", "role")
    candidates = people.filter(pl.col("role") == "candidate")["candidate"].sort()
    names = [*candidates, *sorted(models_named(table)), *([author] if author else [])]
    own_cards: dict[str, ModelCard] = {name: card for name in names if (card := card_of(name, shipped))}
    return table._replace(cards=own_cards)


def comparable_scores(view: View, table: ScoreTable, candidates: Collection[str] | None = None) -> ScoreTable:
    """Leave out criteria by token where candidates, null for all, have several tokenisers, or unknown ones.

    A token is not the same unit for two tokenisers. A metric names such criteria as `tokenizer_dependent`;
    what it
    counts by byte stays. The tokenisers of endpoints are mostly unknown. The table's notes say what was left
    out.
    """
    excluded: dict[str, list[str]] = {}
    keys = []
    for key, measure in _per_token(table):
        tokenisers = read.tokenisers(view.db, table.probes[key])
        of_candidates = [tokenisers[name] for name in tokenisers if candidates is None or name in candidates]
        if len(of_candidates) > 1 and (None in of_candidates or len(set(of_candidates)) > 1):
            excluded.setdefault(measure.metric, []).append(measure.criterion.criterion)
            keys.append(key)
    if not keys:
        return table
    scores = table.scores.filter(~pl.col("measure_id").is_in(keys))
    measures = {key: measure for key, measure in table.measures.items() if key not in keys}
    notes = tuple(
        f"{metric}: {' and '.join(criteria)} left out, being counted in tokens: the candidates' tokenisers "
        "differ or are not known, so only what is counted by byte compares them."
        for metric, criteria in excluded.items()
    )
    return table._replace(scores=scores, measures=measures, notes=(*table.notes, *notes))


def _per_token(table: ScoreTable) -> Iterator[tuple[int, Measure]]:
    """The measures that are counted by token."""
    for key in filter(table.measures.__contains__, table.probes):
        measure = table.measures[key]
        metric = registry.build("metric", specs.signed(measure.signature).spec)
        if measure.criterion.criterion in metric.tokenizer_dependent:
            yield key, measure


def store_finding(view: View, study: str, settings: Mapping[str, Any], finding: Finding) -> Finding:
    """Store what a study found. A run that cannot be written, say on a read-only disk, can still be read."""
    (stored,) = store_findings(view, [StudyFinding(study, settings, finding)])
    return stored


class StudyFinding(NamedTuple):
    """A finding with what it is stored under: the name of its study, and the settings."""

    study: str
    settings: Mapping[str, Any]
    finding: Finding


def store_findings(view: View, findings: Sequence[StudyFinding]) -> list[Finding]:
    """Store findings as `store_finding` does, all of them or none; none opens nothing."""
    if not findings:
        return []
    try:
        with view.writing() as db:
            for study, settings, finding in findings:
                put = put_comparison if study == "compare" else put_finding
                put(db, study, settings, finding.rows)
    except StoreError as error:
        note = f"This result could not be recorded: {error}"
        return [replace(finding, notes=(*finding.notes, note)) for _, _, finding in findings]
    return [finding for _, _, finding in findings]
