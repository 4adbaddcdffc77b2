"""What can be named, and what a name means: the rows behind `viva list` and `viva show`."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any, Literal

from vivavoce import formats, registry, specs
from vivavoce.errors import SelectionError, SpecError, suggest
from vivavoce.metrics import Metric
from vivavoce.records import Measure
from vivavoce.registry import Entry
from vivavoce.rubrics import load, shipped

__all__ = ["describe", "fitting", "listing", "metrics_of", "unnamed"]


Listed = Literal["metrics", "benchmarks", "formats", "rubrics", "variations"]
_SPECS: tuple[registry.Kind, ...] = ("benchmark", "metric", "variation")
_KINDS: dict[str, registry.Kind] = {
    "metrics": "metric",
    "benchmarks": "benchmark",
    "variations": "variation",
}


def listing(
    kind: Literal["metrics", "benchmarks", "formats", "rubrics", "variations"],
) -> list[dict[str, Any]]:
    """One row per name: metrics, benchmarks and variations with version and origin, formats with the fields
    they use, rubrics with what they mark.
    """
    if kind == "formats":
        return [
            {"name": f.name, "fields": list(f.fields), "answered": f.answered, "read as": f.read_as}
            for f in formats.FORMATS.values()
        ]
    if kind == "rubrics":
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
    return [
        {"name": entry.name, "version": entry.version, "origin": entry.origin, "what": _summary(entry.cls)}
        for entry in registry.entries(_KINDS[kind])
    ]


def describe(spec: str) -> dict[str, Any]:
    """Settings of a metric or benchmark, and for a spec that is complete its signature, criteria or card.

    Raises `SpecError` for a name that is neither, or settings it does not take.
    """
    parsed = specs.parse(spec)
    known = [e for kind in _SPECS for e in registry.entries(kind)]
    named = [e for e in known if e.name == parsed.name]
    if not named and parsed.name in shipped():
        return _rubric(parsed.name)
    if not named:
        near = suggest(parsed.name, [*(e.name for e in known), *shipped()])
        raise SpecError(f"no metric, benchmark or variation named {parsed.name!r}.{near}")
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
    made = registry.build(entry.kind, parsed)
    row |= {"spec": str(made), "signature": registry.signature(made)}
    if entry.kind == "variation":
        return row
    if entry.kind == "benchmark":
        return row | {"card": {k: v for k, v in asdict(made.card).items() if v}}
    return row | {
        "formats": list(made.formats),
        "needs": list(made.needs),
        "criteria": [asdict(criterion) for criterion in made.criteria],
    }


def fitting(shapes: Iterable[str]) -> list[str]:
    """The metrics that mark one of these formats, as they are typed: `rouge(n=1|2|L)` takes one of the three.

    A metric whose formats depend on its settings is left out, and so is one that marks only some items.
    """
    wanted = set(shapes)
    found = []
    for entry in registry.entries("metric"):
        marks = getattr(entry.cls, "formats", ())
        if isinstance(marks, tuple) and wanted & set(marks) and not hasattr(entry.cls, "marks"):
            stated, hints = registry.defaults(entry), registry.settings(entry)
            open_ = ", ".join(f"{name}={hint}" for name, hint in hints.items() if name not in stated)
            found.append(f"{entry.name}({open_})" if open_ else entry.name)
    return found


def unnamed(shapes: Iterable[str]) -> SelectionError:
    """The error for a call that names no metric, with those that mark a run of these formats."""
    fit = ", ".join(fitting(shapes))
    these = f"this run can be marked by {fit}; " if fit else ""
    return SelectionError(f"name at least one metric: {these}`viva show METRIC` explains one.")


def metrics_of(words: Iterable[str | specs.Spec], measures: Sequence[Measure] = ()) -> list[Metric]:
    """The metrics that these specs name, for a run that was marked by `measures`.

    Raises one `SpecError` that collects whatever is no metric, and says so of a benchmark; `SelectionError`
    for one whose marks were recorded elsewhere, since nothing here could give them again.
    """
    made, wrong = [], []
    for spec in specs.parse_many(map(str, words)):
        try:
            made.append(_metric(spec, measures))
        except SpecError as error:
            wrong.append(str(error))
    if wrong:
        raise SpecError("\n".join(wrong))
    return made


def _metric(spec: specs.Spec, measures: Sequence[Measure]) -> Metric:
    if spec.name not in {entry.name for entry in registry.entries("metric")}:
        elsewhere = [m.metric for m in measures if specs.parse(m.metric).name == spec.name]
        if elsewhere:
            raise SelectionError(
                f"the marks of {elsewhere[0]} were recorded elsewhere and imported: they cannot be given "
                "here. `viva report` shows its estimates, `viva compare --metric` compares by it."
            )
        if spec.name in {entry.name for entry in registry.entries("benchmark")}:
            raise SpecError(
                f"{spec.name} is a benchmark, which is answered, no metric, which marks: `viva list metrics` "
                "shows those there are."
            )
    made: Metric = registry.build("metric", spec)
    return made


def _rubric(name: str) -> dict[str, Any]:
    """A shipped rubric: where its file lies, what it marks, and the file itself."""
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
    stated = registry.defaults(entry)
    return [
        f"{name}: {hint}" + (f" (default {specs.show(stated[name])})" if name in stated else "")
        for name, hint in hints.items()
    ]


def _summary(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
