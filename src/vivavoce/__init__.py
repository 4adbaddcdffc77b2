"""vivavoce examines healthcare language models beyond multiple choice, and examines the examiners too.

    import vivavoce as viva

    run = viva.open("exam.viva")
    run.import_answers("answers.jsonl", benchmark="jsonl(path=exam.jsonl)")
    run.score("accuracy")
    print(run.compare("A", "B", metric="accuracy"))

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vivavoce._version import __version__

if TYPE_CHECKING:
    from vivavoce.benchmarks import Benchmark
    from vivavoce.errors import (
        InputError,
        MetricError,
        RunNotFound,
        SelectionError,
        SpecError,
        StoreError,
        VivaError,
    )
    from vivavoce.exams import examine
    from vivavoce.metrics import Lab, Metric
    from vivavoce.records import (
        Candidate,
        Card,
        Criterion,
        Finding,
        Item,
        Measure,
        Reading,
        Response,
        Row,
        Score,
        Unit,
        Value,
    )
    from vivavoce.registry import benchmark, metric
    from vivavoce.run import Run
    from vivavoce.run import open_run as open
    from vivavoce.specs import Spec, parse

_HOMES = {
    "benchmarks": ("Benchmark",),
    "errors": (
        *("InputError", "MetricError", "RunNotFound", "SelectionError", "SpecError", "StoreError"),
        "VivaError",
    ),
    "exams": ("examine",),
    "metrics": ("Lab", "Metric"),
    "records": (
        *("Candidate", "Card", "Criterion", "Finding", "Item", "Measure", "Reading", "Response", "Row"),
        *("Score", "Unit", "Value"),
    ),
    "registry": ("benchmark", "metric"),
    "run": ("Run", "open"),
    "specs": ("Spec", "parse"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_INSIDE = {"open": "open_run"}

__all__ = [
    "Benchmark",
    "Candidate",
    "Card",
    "Criterion",
    "Finding",
    "InputError",
    "Item",
    "Lab",
    "Measure",
    "Metric",
    "MetricError",
    "Reading",
    "Response",
    "Row",
    "Run",
    "RunNotFound",
    "Score",
    "SelectionError",
    "Spec",
    "SpecError",
    "StoreError",
    "Unit",
    "Value",
    "VivaError",
    "__version__",
    "benchmark",
    "examine",
    "metric",
    "open",
    "parse",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vivavoce' has no attribute {name!r}")
    value = getattr(import_module(f"vivavoce.{_HOME[name]}"), _INSIDE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
