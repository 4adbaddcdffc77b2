"""`viva score`: the metrics that a user names score a run, and their estimates come back with notes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from vivavoce.core import net, registry, specs
from vivavoce.core.errors import InputError, SelectionError, VivaError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Finding, Item, ItemKey
from vivavoce.core.shards import Shard, ShardLimits
from vivavoce.judging.judge import Jury
from vivavoce.language.languages import language_row, language_sentence
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import Metric
from vivavoce.models.candidates import shown_name
from vivavoce.models.engine.metering_client import MeteringClient
from vivavoce.run import catalogue
from vivavoce.run.client import AskOptions, counting_clients, open_client, open_workers, run_guard
from vivavoce.run.estimates import estimate_scores
from vivavoce.run.plugin_code import changed_code
from vivavoce.run.score import ScoreSummary, bind_all, measures_of, score
from vivavoce.run.score.dry_run import plan_scores
from vivavoce.run.score.gpus import check_gpus
from vivavoce.run.score.pilot import pilot_rows
from vivavoce.run.score.shard import (
    ScoringMemory,
    empty_shard,
    refuse_unnamed,
    refuse_whole_exam,
    select_part,
    shard_options,
    with_shard,
)
from vivavoce.run.tables.answer_integrity import answer_integrity, cut_notes
from vivavoce.run.tables.fitting_metrics import fitting_metrics
from vivavoce.run.tables.load import (
    load_scores,
    nothing_scored,
    retired_sentence,
    with_generated,
)
from vivavoce.run.tables.named_scores import overall_table, scores_by, signature_in
from vivavoce.run.workers.worker_count import Workers, read_workers
from vivavoce.store import read
from vivavoce.store.candidate_names import candidate_labels
from vivavoce.store.cases import scope_notes, scopes
from vivavoce.store.forgotten import forgotten_notes
from vivavoce.store.retirement import name_of, retirements
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import not_whole
from vivavoce.studies.comparing.estimate_headline import estimate_headline
from vivavoce.studies.comparing.headline import row_criterion
from vivavoce.studies.overall_design import is_overall
from vivavoce.studies.thresholds import BadEnds


def score_run(
    view: View,
    metrics: Sequence[str],
    options: AskOptions,
    *,
    items: str | None,
    passes: int,
    bad_ends: BadEnds | None,
    dry_run: bool = False,
    pilot: int | None = None,
    workers: Workers = 1,
    shard: str | None = None,
    limits: ShardLimits = "divided",
) -> Finding:
    """Score every response that has no score yet, and return the estimates of these metrics.

    An overall scores nothing by itself: its estimates come first, of the scores that are there then.
    """
    _check_pilot(pilot, dry_run=dry_run)
    workers = read_workers(workers)
    part, options = shard_options(view, shard, limits, options)
    overalls = [str(name) for name in metrics if is_overall(str(name))]
    rest = [name for name in metrics if str(name) not in overalls]
    if dry_run:
        if overalls and not rest:
            text = "An overall scores nothing: it rests on other scores."
            return Finding(study="score", rows=(), text=text)
        planned = partial(_planned, view, rest, options, items=items, passes=passes)
        return planned(pilot=pilot, workers=workers, shard=part)
    score_rest = partial(_score_run, view, rest, options, items=items, passes=passes, bad_ends=bad_ends)
    if not overalls:
        finding = score_rest(workers=workers, shard=part)
        return _with_headline(view, finding, select_part(view, items, part))
    scored = score_rest(workers=workers, shard=part) if rest else None
    selected = select_part(view, items, part)
    return _with_headline(view, _with_overalls(view, scored, overalls, selected, bad_ends), selected)


def _with_headline(view: View, finding: Finding, selected: set[ItemKey] | None) -> Finding:
    """The finding with its first measure's estimates as a headline, and the scores that came with answers."""
    if not finding.rows:
        return finding
    criterion = row_criterion(finding.rows[0], (keyed.measure for keyed in view.fetch(read.measures)))
    headline = estimate_headline(finding.rows, criterion, view.fetch(scopes))
    finding = replace(finding, headline=headline, notes=(*finding.notes, *view.fetch(scope_notes)))
    if not any(specs.signed(keyed.measure.signature).recorded for keyed in view.fetch(read.measures)):
        return finding
    from vivavoce.run.tables.file_scores import with_file_scores

    return with_file_scores(view, finding, selected)


def _check_pilot(pilot: int | None, *, dry_run: bool) -> None:
    if pilot is not None and (pilot < 1 or not dry_run):
        what = "asks about one response or more" if dry_run else "goes with --dry-run: it scores nothing"
        raise InputError(f"--pilot {pilot} {what}.")


def _with_overalls(
    view: View,
    scored: Finding | None,
    overalls: Sequence[str],
    selected: set[ItemKey] | None,
    bad_ends: BadEnds | None,
) -> Finding:
    """The estimates of these overalls, and what was scored after them."""
    findings = []
    for name in overalls:
        table = overall_table(view, name, selected)
        estimated = estimate_scores(view, table, selected, bad_ends)
        findings.append(replace(estimated, notes=(*estimated.notes, *table.notes)))
    findings += [scored] if scored else []
    last = scored or Finding(study="score", rows=())
    return Finding(
        study="score",
        rows=tuple(row for finding in findings for row in finding.rows),
        text="\n".join(finding.text for finding in findings),
        notes=tuple(dict.fromkeys(note for finding in findings for note in finding.notes)),
        passes=last.passes,
        languages=last.languages,
        integrity=last.integrity,
    )


def _score_run(
    view: View,
    metrics: Sequence[str],
    options: AskOptions,
    *,
    items: str | None,
    passes: int,
    bad_ends: BadEnds | None,
    workers: Workers,
    shard: Shard | None,
) -> Finding:
    """Score by metrics, and their estimates."""
    refuse_unnamed(view, metrics, shard)
    selected = select_part(view, items, shard)
    if empty := empty_shard(shard, selected):
        _remember_empty(view, metrics, shard, passes=passes, items=items)
        return empty
    bound, unnamed = _bound_metrics(view, metrics, options, items, passes)
    check_gpus(options, bound, workers)
    juries = [metric for metric in bound if isinstance(metric, Jury)]
    scorers = _scorers(bound)
    to_score = with_generated(view, selected)
    encoded = Counter[str]()
    refuse_whole_exam(view, scorers)
    memory = ScoringMemory(view, scorers, shard, passes=passes, items=items)
    executor = open_workers(view, workers, options)
    with open_client(view.run, run_guard(view, to_score, options), options) as client, executor:
        summaries = score(
            view, scorers, items=to_score, passes=passes, desk=client, progress=options.progress,
            encoded=encoded, executor=executor, begin=memory.begin,
        )  # fmt: skip
    memory.end()
    view.renew()
    table = load_scores(view, [signature_in(view, metric) for metric in scorers], selected)
    for jury in juries:
        table = table.joined(scores_by(view, str(jury), selected))
    finding = estimate_scores(view, table, selected, bad_ends)
    # Metrics chosen by format leave items to each other: only what none of them scores is worth a word.
    sentences = () if unnamed else map(_not_scored, summaries)
    read_by = [
        f"The encoder {name} read {n:,} {'text' if n == 1 else 'texts'}." for name, n in encoded.items()
    ]
    of_prompts = [cuts.sentence(model) for model, cuts in client.usage.cut_prompts.items()]
    of_metrics = (
        *view.fetch(forgotten_notes),
        *filter(None, sentences),
        *changed_code(view, scorers),
        *_notes(view, scorers, summaries),
    )
    of_cut = cut_notes(
        view, selected, table, finding.rows, lambda scores: estimate_scores(view, scores, selected).rows
    )
    notes = (*of_cut, *of_prompts, *of_metrics, *read_by, *finding.notes, *unnamed)
    languages = tuple(_languages(view, scorers, selected))
    integrity = not_whole(answer_integrity(view, selected))
    finding = replace(
        finding, study="score", notes=notes, passes=dict(encoded), languages=languages, integrity=integrity
    )
    return with_shard(finding, shard, client, options)


def _languages(
    view: View, metrics: Sequence[Metric], selected: set[ItemKey] | None
) -> Iterator[dict[str, Any]]:
    """A row for each benchmark with its language, and what metrics set aside for its script, in sentences."""
    by_benchmark = defaultdict[str, list[Item]](list)
    for item in view.fetch(read.items_by_id).values():
        if selected is None or (item.benchmark, item.item, item.variant) in selected:
            by_benchmark[item.benchmark].append(item)
    for benchmark, items in by_benchmark.items():
        row = language_row(
            benchmark, (text for i in items for text in (i.question, *i.options, *i.references))
        )
        reasons = Counter(_reasons(metrics, items)) if row["language"] != "English" else {}
        sentences = [
            f"{metric} sets {n:,} question{'' if n == 1 else 's'} aside: {reason}."
            for (metric, reason), n in reasons.items()
        ]
        yield row | {"sentences": [language_sentence(row), *sentences]}


def _reasons(metrics: Sequence[Metric], items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """For each question that a metric sets aside whatever is answered, the metric's name and its reason."""
    for metric, item in product(metrics, items):
        if metric.applies_to(item) and (reason := metric.not_applicable(item)):
            yield metric_name(str(metric)), reason


def _remember_empty(
    view: View, metrics: Sequence[str], shard: Shard | None, *, passes: int, items: str | None
) -> None:
    """Store that a shard without an item for these metrics is scored, so that nobody waits for it."""
    scorers = _scorers(catalogue.metrics_of(metrics) if metrics else ())
    memory = ScoringMemory(view, scorers, shard, passes=passes, items=items)
    memory.begin()
    memory.end()


def _fitting(view: View, selected: set[ItemKey] | None) -> tuple[Sequence[str], Sequence[str]]:
    """The metrics that score these items where none is named, and a note that names them.

    Metrics that are retired in the run are left out. Raises `SelectionError` where none fits.
    """
    every = view.fetch(read.items_by_id).values()
    items = [i for i in every if selected is None or (i.benchmark, i.item, i.variant) in selected]
    if not fitting_metrics(items):
        raise catalogue.no_metric_named(items)
    metrics: list[Metric] = [registry.build("metric", name) for name in fitting_metrics(items)]
    retired = [str(metric) for metric in metrics if _retired_at(view, metric)]
    counting = [metric for metric in metrics if str(metric) not in retired]
    if not counting:
        raise nothing_scored(view)
    return tuple(map(str, counting)), (_fitting_note(counting, retired, items),)


def _fitting_note(metrics: Sequence[Metric], retired: Sequence[str], items: Sequence[Item]) -> str:
    """Which metrics score these items as none was named, which are retired, and how many items are left."""
    unscored = Counter(i.format for i in items if not any(metric.applies_to(i) for metric in metrics))
    verb = "fits" if len(metrics) == 1 else "fit"
    fit = f"No metric was named: scored by {', '.join(map(str, metrics))}, which {verb} the formats"
    note = f"{fit}; `viva list metrics` shows all."
    if retired:
        note += f" Left out, as retired in this run: {', '.join(retired)}."
    if unscored:
        note += f" None of them scores {unscored.total()} of the items ({_by_format(unscored)})."
    return note


def _planned(
    view: View,
    metrics: Sequence[str],
    options: AskOptions,
    *,
    items: str | None,
    passes: int,
    pilot: int | None,
    workers: Workers,
    shard: Shard | None,
) -> Finding:
    """What scoring by these metrics would do, and by a pilot of so many responses what it would take."""
    refuse_unnamed(view, metrics, shard)
    selected = select_part(view, items, shard)
    if empty := empty_shard(shard, selected):
        return empty
    bound, unnamed = _bound_metrics(view, metrics, options, items, passes, loaded=pilot is not None)
    check_gpus(options, bound, workers, dry_run=pilot is None)
    to_score = with_generated(view, selected)
    check = run_guard(view, to_score, options)
    scorers, pilots = _scorers(bound), list[Mapping[str, Any]]()
    if pilot is not None:
        with open_client(view.run, check, options, MeteringClient) as client:
            assert isinstance(client, MeteringClient)
            pilots += pilot_rows(view, scorers, client, items=to_score, passes=passes, size=pilot)
    counting = counting_clients(view.run, check, options)
    with net.offline(options.offline):
        finding = plan_scores(view, scorers, items=to_score, passes=passes, counting=counting, pilots=pilots)
    return replace(finding, notes=unnamed)


def _scorers(metrics: Sequence[Metric]) -> list[Metric]:
    """What scores for these metrics, each once."""
    return list({registry.signature(m): m for metric in metrics for m in _members(metric)}.values())


def _bound_metrics(
    view: View,
    metrics: Sequence[str],
    options: AskOptions,
    items: str | None,
    passes: int,
    *,
    loaded: bool = True,
) -> tuple[list[Metric], tuple[str, ...]]:
    """The metrics as they score this run, and a note where none was named. Raises `InputError`."""
    if passes < 1:
        raise InputError(f"--passes {passes}: every answer is scored once at least.")
    names, unnamed = (metrics, ()) if metrics else _fitting(view, select_part(view, items, None))
    specs.require_separate("metrics", names)
    measures = [keyed.measure for keyed in view.fetch(read.stored_measures)]
    built = catalogue.metrics_of(names, measures)
    candidate_labels(view)
    with net.offline(options.offline):  # an encoder that is not on this machine is downloaded
        bound = bind_all(view, built, loaded=loaded)
    for metric in bound:
        if made_at := _retired_at(view, metric):
            raise SelectionError(retired_sentence(view, str(metric), made_at))
    return bound, tuple(unnamed)


def _retired_at(view: View, metric: Metric) -> str | None:
    """When a metric was retired in the run with all its criteria, in UTC; null for one that counts."""
    retired = view.fetch(retirements)
    for member in _members(metric):
        names = [name_of(measure) for measure in measures_of(member, view)]
        if names and retired.keys() >= set(names):
            return retired[names[0]][0].made_at
    return None


def _members(metric: Metric) -> tuple[Metric, ...]:
    """What scores: the judges of a jury, else the metric itself."""
    return metric.judges if isinstance(metric, Jury) else (metric,)


def _notes(view: View, scorers: Sequence[Metric], summaries: Sequence[ScoreSummary]) -> Iterator[str]:
    for summary in summaries:
        for command in summary.commands:
            yield f"{summary.metric} has not been asked of all: `{command}`."
    yield from _truncated(view, scorers)
    yield from _self_scored(scorers, candidate_labels(view))


def _not_scored(summary: ScoreSummary) -> str:
    """A sentence on the items that a metric does not score."""
    n = sum(summary.not_marked.values())
    if not n:
        return ""
    formats = _by_format(summary.not_marked)
    lacks = " of its formats that lack what it shows or needs" if summary.lacking else ""
    suffix = f", {summary.lacking}{lacks}" if 0 < summary.lacking < n else lacks
    return f"{summary.metric} does not score {n} of the items ({formats}){suffix}."


def _by_format(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _truncated(view: View, metrics: Sequence[Metric]) -> Iterator[str]:
    """A sentence for each candidate whose questions were cut."""
    requests = [requests_of(metric) for metric in metrics]
    for name in dict.fromkeys(r.name if r else "" for r in requests):
        truncated = read.truncated(view.db, probe=name)
        for candidate, n in truncated.items():
            questions = "1 question" if n == 1 else f"{n:,} questions"
            yield f"{candidate}: of {questions} the beginning was left out to fit the model's context."


def _self_scored(metrics: Sequence[Metric], candidates: Sequence[str]) -> Iterator[str]:
    """A sentence for each judge that scores its own responses."""
    models = {name: label for label in candidates if (name := _model_name(label))}
    for metric in metrics:
        judge = metric.rater
        if judge and (candidate := models.get(shown_name(specs.parse(judge).name))):
            yield (
                f"{judge} scores its own answers, as the candidate {candidate}: hold its scores against "
                f"another "
                "judge's, or people's."
            )


def _model_name(label: str) -> str | None:
    """The name in a candidate's label that is a model's spec; null for any other label."""
    if "/" not in label or "\n" in label:
        return None
    try:
        return specs.parse(label).name
    except VivaError:
        return None
