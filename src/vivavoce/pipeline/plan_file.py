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
all. Keys of a verb are the parameters of the method of `Run`, and so are the types of their values.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from vivavoce.benchmarks import load
from vivavoce.core import specs
from vivavoce.core.errors import InputError, SelectionError, VivaError, suggest
from vivavoce.core.records import Finding, Measure
from vivavoce.core.yaml_files import read_mapping
from vivavoce.logprobs.requests import requests_of
from vivavoce.models.candidates import may_return_logprobs
from vivavoce.models.engine.scheduler import TIMEOUT_TOTAL_S
from vivavoce.models.ranges import check_option
from vivavoce.pipeline import catalogue
from vivavoce.pipeline.collect.plan import plan_collect
from vivavoce.pipeline.findings import study_name
from vivavoce.pipeline.run import Run, open_run
from vivavoce.store.read import match_candidate

Watch = Callable[[str], AbstractContextManager[Any]]
Types = Mapping[str, tuple[type, ...]]
"""By key the types of values that YAML may give it."""

_ALL = "all"
_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
}


def _parameters(method: Callable[..., Any], *, without: Sequence[str] = ()) -> Types:
    """The parameters of a method of `Run` with the types that a YAML file may give them."""
    hints = get_type_hints(method)
    types: dict[str, tuple[type, ...]] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            types[name] = (list,)
        elif name not in ("self", *without):
            types[name] = tuple(dict.fromkeys(_yaml_types(hints[name])))
    return types


def _yaml_types(hint: Any) -> Iterator[type]:
    """The types that YAML has for a hint: a path is text, and a whole number will do for any number."""
    if hint is float:
        yield from (int, float)
    elif hint in _WORDS:
        yield hint
    elif get_origin(hint) is Literal:
        yield str
    elif get_origin(hint) is Sequence:
        yield list
    elif hint not in (Path, NoneType):
        for choice in get_args(hint):
            yield from _yaml_types(choice)


_BOUNDS = ("max_cost", "timeout_total")
_PRIVACY = ("providers", "offline", "allow", "allow_phi")
_COLLECT = _parameters(
    Run.collect, without=("progress", "logprobs", "for_", "dry_run", "benchmark", "models")
)
_SETTINGS = {key: types for key, types in _COLLECT.items() if key not in (*_PRIVACY, *_BOUNDS)}
_COMPARE = _parameters(Run.compare)
_REPORT = _parameters(Run.report_rows, without=("redact",))
_KEYS: Types = {
    "run": (str,),
    "plugins": (list,),
    "benchmarks": (list,),
    "models": (list,),
    "settings": (dict,),
    **{key: _COLLECT[key] for key in (*_PRIVACY, *_BOUNDS)},
    "metrics": (list,),
    "compare": (list,),
    "studies": (list, str),
    "report": (dict, bool),
}


class Plan(NamedTuple):
    """An evaluation as its file states it, checked as far as the file alone allows.

    `settings` are arguments of `Run.collect`, privacy included.
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
    compare: tuple[Mapping[str, Any], ...]
    studies: tuple[str, ...] | None
    report: Mapping[str, Any] | None


def read_plan(file: str | Path) -> Plan:
    """The plan in a file. Raises `InputError` naming file and key for what cannot be used."""
    file = Path(file)
    entries = _checked(str(file), read_mapping(file, "exam", InputError), _KEYS)
    if "run" not in entries:
        raise InputError(f"{file}: the key run is missing; it names the run file, such as run: exam.viva.")
    for key, partner in (("benchmarks", "models"), ("models", "benchmarks")):
        if entries.get(key) and not entries.get(partner):
            raise InputError(
                f"{file}: {key} stand there without {partner}: somebody is to be asked something."
            )
    settings = _checked(f"{file}, settings", entries.get("settings", {}), _SETTINGS)
    if settings.get("preset", "published") != "published":
        raise InputError(f"{file}, settings, preset: {settings['preset']!r}; there is only published.")
    comparisons = [
        _comparison(f"{file}, compare {number}", entry)
        for number, entry in enumerate(entries.get("compare", []), 1)
    ]
    _check_bounds(file, entries)
    texts = {
        key: _texts(f"{file}, {key}", entries.get(key, []))
        for key in ("plugins", "benchmarks", "models", "allow", "metrics")
    }
    privacy = {key: entries[key] for key in _PRIVACY if key in entries}
    return Plan(
        file=file,
        run=Path(entries["run"]),
        plugins=texts["plugins"],
        benchmarks=texts["benchmarks"],
        models=texts["models"],
        settings={**settings, **privacy, "allow": texts["allow"]},
        max_cost=entries.get("max_cost"),
        timeout_total=entries.get("timeout_total", TIMEOUT_TOTAL_S),
        metrics=texts["metrics"],
        compare=tuple(comparisons),
        studies=_studies(file, entries.get("studies", [])),
        report=_report(file, entries.get("report", False)),
    )


def _check_bounds(file: Path, entries: Mapping[str, Any]) -> None:
    """Raise `InputError` that names the file, for a limit of cost or time out of its range."""
    with _named(str(file)):
        for key in _BOUNDS:
            check_option(key, entries.get(key))


def _comparison(where: str, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: a mapping is needed, such as {{candidates: [A, B], metric: accuracy}}.")
    comparison = _checked(where, entry, _COMPARE)
    if "metric" not in comparison:
        raise InputError(f"{where}: the key metric is missing.")
    comparison["candidates"] = _texts(f"{where}, candidates", comparison.get("candidates", []))
    if comparison.get("population", "sample") not in ("sample", "fixed"):
        raise InputError(f"{where}, population: sample or fixed, not {comparison['population']!r}.")
    return comparison


def _studies(file: Path, entry: Any) -> tuple[str, ...] | None:
    """The studies to make; null for none, empty for all that apply."""
    if isinstance(entry, str) and entry != _ALL:
        raise InputError(f"{file}, studies: a list of studies, or all; not {entry!r}.")
    if not entry:
        return None
    return () if entry == _ALL else _texts(f"{file}, studies", entry)


def _report(file: Path, entry: Any) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return {} if entry else None
    options = _checked(f"{file}, report", entry, _REPORT)
    if options.get("to") and not Path(options["to"]).parent.is_dir():
        raise InputError(f"{file}, report, to: no folder {Path(options['to']).parent} to put the report in.")
    return options


def examine(
    file: str | Path,
    *,
    dry_run: bool = False,
    tell: Callable[[Finding], None] | None = None,
    watch: Watch | None = None,
) -> tuple[Finding, ...]:
    """Run the plan in a file, and return the finding of each verb, in order.

    Everything is checked before a model is asked. Call it again to resume: stored responses and scores stay,
    comparisons and studies are made again, and a comparison on unchanged data is the same test. If responses
    are still to be asked for (Ctrl-C, a model that was given up, `max_cost`, which is for the whole plan), it
    ends there, so that no result is seen before the responses are in; failed responses do not stop it. `tell`
    hears each finding as it comes, `watch` gives for a verb the context whose value hears progress. `dry_run`
    asks no model, stores nothing and returns the plans. Raises a `VivaError` that names file and key.
    """
    plan = read_plan(file)
    run = open_run(plan.run, plugins=plan.plugins)
    labels = _labels(plan, [c.candidate for c in run.candidates])
    _check(plan, run, labels)
    watch = watch or (lambda verb: nullcontext())
    findings = []
    for finding in _findings(plan, run, labels, dry_run, watch):
        findings.append(finding)
        if tell:
            tell(finding)
    return tuple(findings)


def _findings(
    plan: Plan, run: Run, labels: Mapping[str, str], dry_run: bool, watch: Watch
) -> Iterator[Finding]:
    """The findings of the verbs as they come, up to the first collect that leaves something to ask."""
    for finding in _collect(plan, run, dry_run, watch):
        yield finding
        (row, *_) = finding.rows
        if not dry_run and (row["left"] or row["interrupted"]):
            return
    if dry_run:
        return
    if plan.metrics:
        with watch("score") as progress:
            finding = run.score(*plan.metrics, timeout_total=plan.timeout_total, progress=progress)
        yield finding
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


def _collect(plan: Plan, run: Run, dry_run: bool, watch: Watch) -> Iterator[Finding]:
    """The findings of all collects, which share the limit of cost."""
    budget = plan.max_cost
    for benchmark in plan.benchmarks:
        for arguments in _collects(plan, benchmark):
            with watch("collect") as progress:
                finding = run.collect(
                    benchmark,
                    **arguments,
                    dry_run=dry_run,
                    max_cost=budget,
                    timeout_total=plan.timeout_total,
                    progress=progress,
                )
            yield finding
            if budget is not None and not dry_run:
                budget = max(0.0, budget - (finding.rows[0]["cost"] or 0.0))


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
    settings = {key: value for key, value in plan.settings.items() if key in _SETTINGS}
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


def _check(plan: Plan, run: Run, labels: Mapping[str, str]) -> None:
    """Raise for what would fail only after every model has been asked."""
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
            metric = specs.parse(comparison["metric"].partition("@")[0]).name
            if metric not in names:
                raise InputError(f"nothing is marked by {metric!r} here.{suggest(metric, sorted(names))}")
    for name in plan.studies or ():
        try:
            study_name(name)
        except SelectionError as error:
            raise InputError(f"{plan.file}, studies: {error}") from error


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors inside say where in the file they are."""
    try:
        yield
    except VivaError as error:
        raise type(error)(f"{where}: {error}") from error


def _checked(where: str, entries: Any, types: Types) -> dict[str, Any]:
    """The mapping without what is null; each key known, each value of its kind."""
    values = {}
    for key, value in entries.items():
        if key not in types:
            raise InputError(f"{where}: no key {key!r}.{suggest(str(key), list(types))}")
        if value is None:
            continue
        if not isinstance(value, types[key]) or (isinstance(value, bool) and bool not in types[key]):
            kinds = " or ".join(_WORDS[kind] for kind in types[key])
            raise InputError(f"{where}, {key}: {kinds} is needed, not {value!r}.")
        values[key] = value
    return values


def _texts(where: str, entries: Any) -> tuple[str, ...]:
    for text in entries:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{where}: {text!r} is no text: put quotes around a spec with brackets.")
    return tuple(entries)
