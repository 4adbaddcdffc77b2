"""What can be named, and what a name means: the rows behind `viva list` and `viva show`."""

import inspect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any

from vivavoce import benchmarks, formats
from vivavoce.core import index, registry, specs
from vivavoce.core.cases import count_cases, join_cases, place_of
from vivavoce.core.errors import SelectionError, SpecError, VivaError
from vivavoce.core.exclusions import exclusion_facts
from vivavoce.core.extras import require_extras
from vivavoce.core.group_levels import level_text
from vivavoce.core.listing import listed, summary
from vivavoce.core.records import Card, Item, Measure
from vivavoce.core.registry import Entry
from vivavoce.core.text import one_line
from vivavoce.judging.loading import load, shipped
from vivavoce.language.languages import languages
from vivavoce.metrics import Metric
from vivavoce.models.endpoints import load_endpoints

_SPECS: tuple[registry.Kind, ...] = ("benchmark", "metric", "variation")


def listing(plural: str) -> list[dict[str, Any]]:
    """A row for each name of a kind of the registry, such as `metrics`, each language or shipped rubric."""
    if plural == "formats":
        return [
            {"name": f.name, "fields": list(f.fields), "answered": f.answered, "read as": f.read_as}
            for f in formats.FORMATS.values()
        ]
    if plural == "providers":
        return _providers()
    if plural == "languages":
        return languages()
    if plural == "rubrics":
        return [
            {
                "name": name,
                "version": r.version,
                "marks": [c.criterion for c in r.columns],
                "source": r.source,
            }
            for name in shipped()
            for r in [load(name)]
        ]
    return listed(registry.KINDS[plural])


def _providers() -> list[dict[str, Any]]:
    """What may stand before the slash of `--model`, and systems: entries of providers.yaml, then classes."""
    classes = {entry.name: entry for entry in registry.entries("provider")}
    addresses = [(e.name, e.kind, e.base_url, e.key, e.limits) for e in load_endpoints().values()]
    addresses += [
        (name, name, entry.cls.host or None, None, entry.cls.limits)
        for name, entry in classes.items()
        if entry.cls.configured != "required" and name not in {a[0] for a in addresses}
    ]
    return [
        {
            "name": name,
            "kind": kind,
            "endpoint": endpoint,
            "key": key,
            "concurrency": limits.concurrency,
            "origin": classes[kind].origin,
            "what": summary(classes[kind].cls),
        }
        for name, kind, endpoint, key, limits in addresses
    ]


def describe(spec: str) -> dict[str, Any]:
    """Settings of a metric or benchmark, and for a spec that is complete its signature, criteria or card.

    A benchmark that can be read also has its counts of questions and cases, and the questions that repeat.

    Raises `SpecError` for a name that is neither, or settings it does not take.
    """
    parsed = registry.in_full("metric", specs.parse(spec))
    entries = [e for kind in _SPECS for e in registry.entries(kind)]
    named = [e for e in entries if e.name == parsed.name]
    if not named and parsed.name in shipped():
        return _rubric(parsed.name)
    if not named:
        names = [*(e.name for e in entries), *shipped()]
        raise SpecError(index.unknown_name(("metric", "benchmark", "variation"), parsed.name, names))
    # One name may be of a benchmark and of the metric that was published with it: the settings tell which.
    entry = next((e for e in named if parsed.settings.keys() <= registry.settings(e).keys()), named[0])
    row: dict[str, Any] = {
        "kind": entry.kind,
        "about": inspect.cleandoc(entry.cls.__doc__ or ""),
        "more": inspect.cleandoc(getattr(inspect.getmodule(entry.cls), "__doc__", None) or ""),
        "settings": _settings(entry),
    }
    open_settings = [
        f.name for f in fields(entry.cls) if f.default is MISSING and f.default_factory is MISSING
    ]
    if not parsed.settings and open_settings:
        return row | {"needs": open_settings}
    built = registry.build(entry.kind, parsed)
    row |= {"spec": str(built), "signature": registry.signature(built)}
    if entry.kind == "variation":
        return row
    if entry.kind == "benchmark":
        card = {k: v for k, v in asdict(built.card).items() if v}
        if built.download:
            card["download"] = {k: v for k, v in asdict(built.download).items() if v}
        return row | {"card": card} | _questions(str(built))
    return row | {
        "formats": list(built.formats),
        "needs": list(built.needs),
        "criteria": [asdict(criterion) for criterion in built.criteria],
    }


def _questions(benchmark: str) -> dict[str, Any]:
    """How many questions and cases a benchmark has, and which questions repeat one another.

    `repeated_questions` holds a row for each question that several items ask: their names, and its beginning.
    No text of a credentialed benchmark stands there. A benchmark that cannot be read has a `reason` in place
    of the counts.
    """
    from vivavoce.language.near_repeats import near_items

    try:
        loaded = benchmarks.load(benchmark)
    except VivaError as error:
        return {"reason": f"its questions cannot be read: {error}"}
    items = loaded.items
    level_names = {loaded.card.groups_of or items[0].benchmark: loaded.card.group_levels}
    joined = join_cases(map(place_of, items), near_items(items), level_names=level_names)
    questions = [
        {
            "items": [items[position].name for position in positions],
            "question": _beginning(items[positions[0]], loaded.card),
        }
        for positions in joined.repeated
    ]
    (counted,) = count_cases(joined)
    excluded = exclusion_facts(loaded.exclusion_counts)
    inferred = dict(loaded.inferred)
    if inferred:
        by_format = Counter(item.format for item in items)
        inferred["formats"] = ", ".join(f"{name} {n:,}" for name, n in by_format.items())
    if counted.group_level:
        inferred["levels"] = level_text(**counted.facts)
    return (
        inferred | counted.facts | excluded | {"repeated_questions": questions, "signature": loaded.signature}
    )


def _beginning(item: Item, card: Card) -> str | None:
    """The beginning of a question; null where its text may not be shown."""
    return None if card.access == "credentialed" else one_line(item.question or item.context or "")


def fitting(items: Iterable[Item]) -> list[str]:
    """The metrics that can score some of these items, as they are typed: `rouge(n=1|2|L)` takes one of three.

    A metric whose formats depend on its settings is left out, and so is one that scores only some items, asks
    not to be suggested, or needs what none of its items has: references, above all.
    """
    items = tuple(items)
    names = []
    for entry in registry.entries("metric"):
        if _scores_every_item(entry.cls) and any(_can_score(entry.cls, item) for item in items):
            defaults, hints = registry.defaults(entry), registry.settings(entry)
            open_ = ", ".join(f"{name}={hint}" for name, hint in hints.items() if name not in defaults)
            names.append(f"{entry.name}({open_})" if open_ else entry.name)
    return names


def _can_score(metric: Any, item: Item) -> bool:
    """Whether the item is of the metric's formats, and has what the metric needs."""
    of_format = set(formats.scored_as(item.format)) & set(metric.formats)
    needs = metric.needs if isinstance(metric.needs, tuple) else ()
    return bool(of_format) and all(getattr(item, field) for field in needs)


def _scores_every_item(metric: type[Metric]) -> bool:
    """Whether a metric scores every item of its formats under any settings, and may be suggested."""
    fixed = isinstance(metric.formats, tuple) and metric.suggested is not False
    return fixed and metric.applies_to is Metric.applies_to


def no_metric_named(items: Iterable[Item]) -> SelectionError:
    """The error for a call that names no metric, with those that can score these items."""
    fit = ", ".join(fitting(items))
    these = f"this run can be scored by {fit}; " if fit else ""
    return SelectionError(f"name at least one metric: {these}`viva show METRIC` explains one.")


def metrics_of(words: Iterable[str | specs.Spec], measures: Sequence[Measure] = ()) -> list[Metric]:
    """The metrics that these specs name, for a run that was scored by `measures`.

    Raises one `SpecError` that collects whatever is no metric, and says so of a benchmark; `SelectionError`
    for one whose scores were recorded elsewhere, since nothing here could give them again.
    """
    metrics, errors = [], []
    for spec in specs.parse_many(map(str, words)):
        try:
            metrics.append(_metric(spec, measures))
        except SpecError as error:
            errors.append(str(error))
    if errors:
        raise SpecError("\n".join(errors))
    return metrics


def _metric(spec: specs.Spec, measures: Sequence[Measure]) -> Metric:
    spec = registry.in_full("metric", spec)
    if registry.member("metric", spec.name) is None:
        _refuse_to_score(spec.name, [m for m in measures if specs.parse(m.metric).name == spec.name])
    metric: Metric = registry.build("metric", spec)
    require_extras(metric.packages, spec.name)
    return metric


def _refuse_to_score(name: str, stored: Sequence[Measure]) -> None:
    """Raise for a name that is no metric here: one of a run's measures, `stored`, or a benchmark."""
    advice = "`viva report` shows its estimates, `viva compare --metric` compares by it."
    if stored and all(specs.signed(measure.signature).recorded for measure in stored):
        raise SelectionError(
            f"the scores of {stored[0].metric} were recorded elsewhere and imported: they cannot be given "
            f"here. {advice}"
        )
    if registry.member("benchmark", name):
        raise SpecError(
            f"{name} is a benchmark, which is answered, no metric, which scores: `viva list metrics` "
            "shows those there are."
        )
    if stored and name not in index.REMOVED["metric"]:
        raise SpecError(
            f"the metric {name} scored this run and is not loaded: name its file with --plugin FILE, or "
            f"install its package. {advice}"
        )


def _rubric(name: str) -> dict[str, Any]:
    """A shipped rubric: where its file lies, what it scores, and the file itself."""
    rubric = load(name)
    return {
        "kind": "rubric",
        "spec": f"judge(rubric={name}, model=PROVIDER/MODEL)",
        "path": str(rubric.path),
        "marks": [f"{c.criterion}: {c.low:g} to {'the number shown' if c.high is None else f'{c.high:g}'}"
                  if c.low is not None else c.criterion for c in rubric.columns],
        "file": rubric.path.read_text(encoding="utf-8"),
    }  # fmt: skip


def _settings(entry: Entry) -> list[str]:
    hints = registry.settings(entry)
    defaults = registry.defaults(entry)
    return [
        f"{name}: {hint}" + (f" (default {specs.show(defaults[name])})" if name in defaults else "")
        for name, hint in hints.items()
    ]
