"""A whole evaluation in one YAML file: the plan of `viva run`.

    run: exam.viva
    benchmarks: [sample]
    models: [openai/gpt-4o, baseline/random]
    settings: {repeats: 5, temperature: 0.7}
    metrics: [accuracy]
    compare:
      - {candidates: [openai/gpt-4o, baseline/random], metric: accuracy, margin: 0.05}
    studies: [ranking]
    report: {to: exam.html}

It equals the verbs in this order: collect for each benchmark (also the log-probabilities that metrics need,
from models that may return them), score, each comparison, study, report. Paths are taken from the working
directory, as everywhere. A comparison may name a model as `models` does, without the settings that are for
all. `primary` names the criterion that decides, `overall` the groups, metrics and weights of the overall: the
run keeps both before anything is scored. `plan_model` holds what each key takes.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks import load
from vivavoce.core import specs
from vivavoce.core.errors import InputError, SelectionError, VivaError, suggest
from vivavoce.core.records import Finding, Measure
from vivavoce.core.shards import Shard, ShardLimits
from vivavoce.core.yaml_files import read_mapping
from vivavoce.logprobs.requests import requests_of
from vivavoce.models.candidates import local_name, may_return_logprobs, parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.gpus import Gpus, parse_gpus, refuse_without_local
from vivavoce.models.ranges import TIMEOUT_TOTAL_S, check_option
from vivavoce.run import catalogue
from vivavoce.run.collect.plan import plan_collect
from vivavoce.run.plan.plan_model import BOUNDS, PRIVACY, SETTINGS, checked_plan
from vivavoce.run.run import Run, open_run
from vivavoce.run.score.gpus import local_models
from vivavoce.run.score.shard import divisible
from vivavoce.run.shards.limits import shard_cost, shards_sharing
from vivavoce.run.shards.spending import shard_spending
from vivavoce.run.study.verb import study_name
from vivavoce.run.tables.primary import declare_overall, name_primary
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.view import with_view
from vivavoce.studies.overall_design import (
    OVERALL,
    OverallDesign,
    checked_design,
    is_overall,
    parse_design,
)

Watch = Callable[[str], AbstractContextManager[Any]]


class Plan(NamedTuple):
    """An evaluation as its file states it, checked as far as the file alone allows.

    `settings` are arguments of `Run.collect`, privacy included. Of a `shard`, so many as `n_sharing` have the
    limits in common. Local models run on `gpus`.
    """

    file: Path
    run: Path
    plugins: tuple[str, ...]
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    settings: Mapping[str, Any]
    max_cost: float | None
    timeout_total: float
    metrics: tuple[str, ...]
    primary: str | None
    overall: OverallDesign | None
    compare: tuple[Mapping[str, Any], ...]
    studies: tuple[str, ...] | None
    report: Mapping[str, Any] | None
    shard: Shard | None = None
    limits: ShardLimits = "divided"
    n_sharing: int = 1
    gpus: tuple[int, ...] = ()


def read_plan(file: str | Path) -> Plan:
    """The plan in a file. Raises `InputError` naming file and key for what cannot be used."""
    file = Path(file)
    entries = checked_plan(str(file), read_mapping(file, "exam", InputError))
    for key, partner in (("benchmarks", "models"), ("models", "benchmarks")):
        if entries.get(key) and not entries.get(partner):
            raise InputError(
                f"{file}: {key} stand there without {partner}: somebody is to be asked something."
            )
    with _named(str(file)):
        for key in BOUNDS:
            check_option(key, entries.get(key))
        design = checked_design(**entries["overall"]) if "overall" in entries else None
    privacy = {key: entries[key] for key in PRIVACY if key in entries}
    return Plan(
        file=file,
        run=Path(entries["run"]),
        plugins=tuple(entries.get("plugins", ())),
        benchmarks=tuple(entries.get("benchmarks", ())),
        models=tuple(entries.get("models", ())),
        settings={**entries.get("settings", {}), **privacy, "allow": tuple(entries.get("allow", ()))},
        max_cost=entries.get("max_cost"),
        timeout_total=entries.get("timeout_total", TIMEOUT_TOTAL_S),
        metrics=tuple(entries.get("metrics", ())),
        primary=entries.get("primary"),
        overall=design,
        compare=tuple({"candidates": (), **comparison} for comparison in entries.get("compare", ())),
        studies=_studies(entries.get("studies", [])),
        report=_report(file, entries.get("report", False)),
    )


def _studies(entry: Any) -> tuple[str, ...] | None:
    """The studies to make; null for none, empty for all that apply."""
    if not entry:
        return None
    return () if entry == "all" else tuple(entry)


def _report(file: Path, entry: Any) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return {} if entry else None
    if entry.get("to") and not Path(entry["to"]).parent.is_dir():
        raise InputError(f"{file}, report, to: no folder {Path(entry['to']).parent} to put the report in.")
    return entry


def examine(
    file: str | Path,
    *,
    dry_run: bool = False,
    shard: str | None = None,
    to: str | Path | None = None,
    limits: ShardLimits = "divided",
    gpus: Gpus = None,
    tell: Callable[[Finding], None] | None = None,
    watch: Watch | None = None,
) -> tuple[Finding, ...]:
    """Run the plan in a file, and return the finding of each verb, in order.

    Everything is checked before a model is asked. Call it again to resume: stored responses and scores stay,
    comparisons and studies are made again, and a comparison on unchanged data is the same test. If responses
    are still to be asked for (Ctrl-C, a model that was given up, `max_cost`, which is for the whole plan), it
    ends there, so that no result is seen before the responses are in; failed responses do not stop it. `tell`
    hears each finding as it comes, `watch` gives for a verb the context whose value hears progress. `dry_run`
    asks no model, stores nothing and returns the plans. With `shard` "3/16" that part alone is collected and
    scored, into the run `to`, with its part of the `limits`; metrics that depend on all items wait for the
    merge. What that run has spent before counts for its part of `max_cost`, so that a job which is cut and
    restarted does not spend it anew. `gpus` are for its local models, candidates and judges. Raises a
    `VivaError` that names file and key.
    """
    plan = _part_of_plan(read_plan(file), shard, to, limits)._replace(gpus=parse_gpus(gpus))
    run, labels = open_checked(plan, dry_run=dry_run)
    watch = watch or (lambda verb: nullcontext())
    findings = []
    budget = _Budget(plan, shard_spending(run.file) if plan.shard else 0.0)
    for finding in _findings(plan, run, labels, dry_run, watch, budget):
        findings.append(finding)
        if tell:
            tell(finding)
    return tuple(findings)


def open_checked(plan: Plan, *, dry_run: bool) -> tuple[Run, Mapping[str, str]]:
    """The run of a plan, and the labels that its models answer under, after all was checked.

    Nothing is sent or stored. Raises a `VivaError` that names file and key for what would fail only later: a
    benchmark, model, metric, comparison or study that there is not, or GPUs, but for a `dry_run`.
    """
    run = open_run(plan.run, plugins=plan.plugins)
    labels = _labels(plan, [c.candidate for c in run.candidates])
    _check(plan, run, labels, dry_run=dry_run)
    return run, labels


def _part_of_plan(plan: Plan, shard: str | None, to: str | Path | None, limits: ShardLimits) -> Plan:
    """The plan as it runs into another run, or as one shard of it."""
    if shard is not None and to is None:
        raise InputError(f"--shard {shard}: a shard needs a run of its own, such as --to part.viva.")
    part = Shard.parse(shard) if shard is not None else None
    plan = plan._replace(run=Path(to) if to is not None else plan.run)
    return plan._replace(shard=part, limits=limits, n_sharing=shards_sharing(part, limits))


class _Budget:
    """What is left of the limit of cost, which all verbs of a plan share; null without a limit.

    A shard's run may have `spent` some of it before.
    """

    def __init__(self, plan: Plan, spent: float) -> None:
        self._n_sharing = plan.n_sharing
        self.left = plan.max_cost
        self.spend(spent)
        share = shard_cost(plan.max_cost, plan.n_sharing)
        self.sentence = f"{plan.run} spent {spent:.4g} before, of its {share:.4g}." if spent and share else ""

    def spend(self, cost: float) -> None:
        """Take what was spent, here and by as many as share the limit."""
        if self.left is not None:
            self.left = max(0.0, self.left - self._n_sharing * cost)


def _findings(
    plan: Plan, run: Run, labels: Mapping[str, str], dry_run: bool, watch: Watch, budget: _Budget
) -> Iterator[Finding]:
    """The findings of the verbs as they come, up to the first collect that leaves something to ask."""
    for finding in _collect(plan, run, dry_run, watch, budget):
        yield replace(finding, text="\n".join(filter(None, (finding.text, budget.sentence))))
        (row, *_) = finding.rows
        if not dry_run:
            budget.spend(row["cost_estimate"])
        if not dry_run and (row["left"] or row["interrupted"]):
            return
    if dry_run:
        return
    if plan.shard:
        yield from _score(plan, run, watch, budget)
        return
    _keep_primary(plan, run)
    yield from _score(plan, run, watch, budget)
    for comparison in plan.compare:
        candidates = [labels.get(name, name) for name in comparison["candidates"]]
        against = comparison.get("against") or None
        options = {key: value for key, value in comparison.items() if key not in ("candidates", "against")}
        yield run.compare(*candidates, against=labels.get(against, against) if against else None, **options)
    if plan.studies is not None:
        yield from run.study(*plan.studies).values()
    if plan.report is not None:
        row = run.report_rows(**plan.report)[0]
        yield Finding(study="report", rows=(row,), text=str(row["path"]))


def _score(plan: Plan, run: Run, watch: Watch, budget: _Budget) -> Iterator[Finding]:
    """What scoring finds; of a shard by the metrics that can score a part of the items."""
    metrics: Sequence[str] = plan.metrics
    if plan.shard:
        metrics = with_view(run.file, divisible, [text for text in metrics if not is_overall(text)])
    if metrics:
        with watch("score") as progress:
            finding = run.score(
                *metrics,
                **{key: value for key, value in plan.settings.items() if key in PRIVACY},
                max_cost=budget.left,
                timeout_total=plan.timeout_total,
                progress=progress,
                shard=str(plan.shard) if plan.shard else None,
                limits=plan.limits,
                gpus=plan.gpus if plan.gpus and _local_judges(metrics) else None,
            )
        yield finding


def _local_judges(metrics: Sequence[str]) -> list[str]:
    """The local models that these metrics ask."""
    scoring = [text for text in metrics if not is_overall(text)]
    return list(local_models(catalogue.metrics_of(scoring))) if scoring else []


def _local_candidates(models: Sequence[str]) -> list[str]:
    """The local models among these."""
    return [name for name in models if local_name(specs.parse(name).name)]


STATED = "stated in the plan"


def _keep_primary(plan: Plan, run: Run) -> None:
    """Keep in the run what the plan says of its primary criterion, before anything is scored."""
    if plan.overall is not None:
        with_view(run.file, declare_overall, plan.overall, STATED)
    if plan.primary or plan.overall:
        with_view(run.file, name_primary, plan.primary or OVERALL, STATED)


def _collect(plan: Plan, run: Run, dry_run: bool, watch: Watch, budget: _Budget) -> Iterator[Finding]:
    """The findings of all collects, each with what is left of the limit of cost when it begins."""
    for benchmark in plan.benchmarks:
        for arguments in _collects(plan, benchmark):
            with watch("collect") as progress:
                finding = run.collect(
                    benchmark,
                    **arguments,
                    dry_run=dry_run,
                    max_cost=budget.left,
                    timeout_total=plan.timeout_total,
                    progress=progress,
                    shard=str(plan.shard) if plan.shard else None,
                    limits=plan.limits,
                    gpus=plan.gpus if plan.gpus and _local_candidates(arguments["models"]) else None,
                )
            yield finding


def _collects(plan: Plan, benchmark: str) -> Iterator[Mapping[str, Any]]:
    """The arguments of each collect of a benchmark: generated text; then, from models that may return them,
    the log-probabilities that the plan's metrics need.
    """
    yield {**plan.settings, "models": plan.models}
    items = load(benchmark).items
    metrics = [m for m in catalogue.metrics_of(plan.metrics) if requests_of(m)] if plan.metrics else []
    applicable = [str(m) for m in metrics if any(m.bind(items).applies_to(item) for item in items)]
    models = [name for name in plan.models if may_return_logprobs(name)]
    if applicable and models:
        settings = {key: value for key, value in plan.settings.items() if key != "repeats"}
        yield {**settings, "models": models, "logprobs": applicable}


def _labels(plan: Plan, stored_labels: Sequence[str]) -> dict[str, str]:
    """The label that each model of the file answers under: with the settings that are for all."""
    settings = {key: value for key, value in plan.settings.items() if key in SETTINGS}
    if settings.get("sample") is not None:
        settings["sample"] = str(settings["sample"])
    providers = plan.settings.get("providers")
    settings["providers"] = Path(providers) if providers else None
    labels: dict[str, str] = {}
    for benchmark in plan.benchmarks:
        with _named(str(plan.file)):
            planned = plan_collect(benchmark, plan.models, stored_labels=stored_labels, **settings)
            candidates = planned.candidates
        labels |= dict(zip(dict.fromkeys(plan.models), (str(c.spec) for c in candidates), strict=True))
    return labels


def _check(plan: Plan, run: Run, labels: Mapping[str, str], *, dry_run: bool) -> None:
    """Raise for what would fail only after every model has been asked."""
    if plan.gpus:
        _check_gpus(plan, dry_run=dry_run)
    measures: list[Measure] = []
    candidates = [*labels, *labels.values(), *(c.candidate for c in run.candidates)]
    if run.file.exists:
        measures = run.measures
    with _named(f"{plan.file}, metrics"):
        metrics = catalogue.metrics_of(plan.metrics, measures) if plan.metrics else []
    names = {specs.parse(text).name for text in (*map(str, metrics), *(m.metric for m in measures))}
    for number, comparison in enumerate(plan.compare, 1):
        with _named(f"{plan.file}, compare {number}"):
            for name in filter(None, (*comparison["candidates"], comparison.get("against"))):
                match_candidate(name, list(dict.fromkeys(candidates)))
            _check_metric(comparison.get("metric"), names)
    with _named(f"{plan.file}, primary"):
        _check_metric(plan.primary, names)
    for name in plan.studies or ():
        try:
            study_name(name)
        except SelectionError as error:
            raise InputError(f"{plan.file}, studies: {error}") from error


def _check_gpus(plan: Plan, *, dry_run: bool) -> None:
    """Raise `InputError` where no model of the plan runs on GPUs, or one states a device of its own.

    Also for a GPU that is not there, but for a `dry_run`: another machine may run it.
    """
    local = [*_local_candidates(plan.models), *_local_judges(plan.metrics)]
    if not local:
        refuse_without_local(plan.gpus, plan.models)
    endpoints = load_endpoints(Path(file) if (file := plan.settings.get("providers")) else None)
    for name in local:
        local_model = parse_candidate(name, endpoints).on_gpus(plan.gpus)
        if not dry_run:
            local_model.check_gpus()


def _check_metric(reference: str | None, names: Collection[str]) -> None:
    """Raise `InputError` for a reference whose metric is none of these; an overall is checked with scores."""
    if reference is None:
        return
    if is_overall(reference):
        parse_design(reference)
        return
    metric = specs.parse(reference.partition("@")[0].partition("[")[0]).name
    if metric not in names and metric.rpartition(":")[0] not in names:
        raise InputError(f"nothing is scored by {metric!r} here.{suggest(metric, sorted(names))}")


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Errors inside say where in the file they are."""
    try:
        yield
    except VivaError as error:
        raise type(error)(f"{place}: {error}") from error
