"""What can be named, and what a name means: the rows behind `viva list` and `viva show`."""

import inspect
from dataclasses import MISSING, asdict, fields
from typing import Any, Literal

from vivavoce import formats, registry, specs
from vivavoce.errors import SpecError, suggest
from vivavoce.registry import Entry

__all__ = ["describe", "listing"]


def listing(kind: Literal["metrics", "benchmarks", "formats"]) -> list[dict[str, Any]]:
    """One row per name: metrics and benchmarks with version and origin, formats with the fields they use."""
    if kind == "formats":
        return [
            {"name": f.name, "fields": list(f.fields), "answered": f.answered, "read as": f.read_as}
            for f in formats.FORMATS.values()
        ]
    return [
        {"name": entry.name, "version": entry.version, "origin": entry.origin, "what": _summary(entry.cls)}
        for entry in registry.entries("metric" if kind == "metrics" else "benchmark")
    ]


def describe(spec: str) -> dict[str, Any]:
    """Settings of a metric or benchmark, and for a spec that is complete its signature, criteria or card.

    Raises `SpecError` for a name that is neither, or settings it does not take.
    """
    parsed = specs.parse(spec)
    named = {e.name: e for kind in ("metric", "benchmark") for e in registry.entries(kind)}
    if parsed.name not in named:
        raise SpecError(f"no metric or benchmark named {parsed.name!r}.{suggest(parsed.name, list(named))}")
    entry = named[parsed.name]
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
    if entry.kind == "benchmark":
        return row | {"card": {k: v for k, v in asdict(made.card).items() if v}}
    return row | {
        "formats": list(made.formats),
        "needs": list(made.needs),
        "criteria": [asdict(criterion) for criterion in made.criteria],
    }


def _settings(entry: Entry) -> list[str]:
    hints = registry.settings(entry)
    stated = registry.defaults(entry)
    return [
        f"{name}: {hint}" + (f" (default {specs.show(stated[name])})" if name in stated else "")
        for name, hint in hints.items()
    ]


def _summary(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
