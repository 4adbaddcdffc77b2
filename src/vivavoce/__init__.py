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
    from vivavoce.benchmarks import Benchmark, item_or_exclusion
    from vivavoce.core.errors import (
        InputError,
        MetricError,
        RunNotFound,
        SelectionError,
        SpecError,
        StoreError,
        VivaError,
    )
    from vivavoce.core.records import (
        Candidate,
        Card,
        Criterion,
        Download,
        Exclusion,
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
    from vivavoce.core.registry import (
        benchmark,
        build_recipe,
        exporter,
        format,
        log_reader,
        metric,
        provider,
        section,
        step,
        study,
        variation,
    )
    from vivavoce.core.row_frames import to_pandas
    from vivavoce.core.specs import Spec, parse
    from vivavoce.core.tables import Line
    from vivavoce.formats.base import Format
    from vivavoce.logprobs.requests import LogprobMetric, LogprobRequests
    from vivavoce.metrics import ComparativeMetric, Metric, ScoringContext
    from vivavoce.metrics import ScoringContext as Lab
    from vivavoce.models.providers import Provider
    from vivavoce.models.rate_limit import Limits
    from vivavoce.models.requests import (
        FatalError,
        Likelihood,
        RejectedError,
        Reply,
        Request,
        RetryableError,
        Usage,
    )
    from vivavoce.report.section import Section
    from vivavoce.run.building.parts import Passage
    from vivavoce.run.building.step import BuildRecipe, Drop, Step, StepResult
    from vivavoce.run.contents import contents
    from vivavoce.run.evaluate import Evaluated, evaluate
    from vivavoce.run.exchange.exporters import Exported, Exporter
    from vivavoce.run.exchange.log_readers import Log, LogReader
    from vivavoce.run.exchange.recorded_log import Mark, RecordedLog, RecordedLogReader, Sample
    from vivavoce.run.fetch import fetch
    from vivavoce.run.plan.plan_file import examine
    from vivavoce.run.run import Run
    from vivavoce.run.run import open_run as open
    from vivavoce.run.train import train
    from vivavoce.studies.study import Study
    from vivavoce.variants import Outcome, Variation

_HOMES = {
    "benchmarks": ("Benchmark", "item_or_exclusion"),
    "core.errors": (
        *("InputError", "MetricError", "RunNotFound", "SelectionError", "SpecError", "StoreError"),
        "VivaError",
    ),
    "run.building.parts": ("Passage",),
    "run.building.step": ("BuildRecipe", "Drop", "Step", "StepResult"),
    "run.contents": ("contents",),
    "run.evaluate": ("Evaluated", "evaluate"),
    "run.fetch": ("fetch",),
    "run.plan.plan_file": ("examine",),
    "logprobs.requests": ("LogprobMetric", "LogprobRequests"),
    "metrics": ("ComparativeMetric", "Lab", "Metric", "ScoringContext"),
    "core.records": (
        *("Candidate", "Card", "Criterion", "Download", "Exclusion", "Finding", "Item", "Measure"),
        *("Reading", "Response", "Row", "Score", "Unit", "Value"),
    ),
    "core.registry": (
        "benchmark",
        "build_recipe",
        "exporter",
        "format",
        "log_reader",
        "metric",
        "provider",
        "section",
        "step",
        "study",
        "variation",
    ),
    "core.row_frames": ("to_pandas",),
    "core.tables": ("Line",),
    "formats.base": ("Format",),
    "models.providers": ("Provider",),
    "models.rate_limit": ("Limits",),
    "models.requests": (
        *("FatalError", "Likelihood", "RejectedError", "Reply", "Request", "RetryableError", "Usage"),
    ),
    "run.exchange.exporters": ("Exported", "Exporter"),
    "run.exchange.log_readers": ("Log", "LogReader"),
    "run.exchange.recorded_log": ("Mark", "RecordedLog", "RecordedLogReader", "Sample"),
    "run.run": ("Run", "open"),
    "run.train": ("train",),
    "report.section": ("Section",),
    "core.specs": ("Spec", "parse"),
    "studies.study": ("Study",),
    "variants": ("Outcome", "Variation"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_INSIDE = {"Lab": "ScoringContext", "open": "open_run"}

__all__ = [
    "Benchmark",
    "BuildRecipe",
    "Candidate",
    "Card",
    "ComparativeMetric",
    "Criterion",
    "Download",
    "Drop",
    "Evaluated",
    "Exclusion",
    "Exported",
    "Exporter",
    "FatalError",
    "Finding",
    "Format",
    "InputError",
    "Item",
    "Lab",
    "Likelihood",
    "Limits",
    "Line",
    "Log",
    "LogReader",
    "LogprobMetric",
    "LogprobRequests",
    "Mark",
    "Measure",
    "Metric",
    "MetricError",
    "Outcome",
    "Passage",
    "Provider",
    "Reading",
    "RecordedLog",
    "RecordedLogReader",
    "RejectedError",
    "Reply",
    "Request",
    "Response",
    "RetryableError",
    "Row",
    "Run",
    "RunNotFound",
    "Sample",
    "Score",
    "ScoringContext",
    "Section",
    "SelectionError",
    "Spec",
    "SpecError",
    "Step",
    "StepResult",
    "StoreError",
    "Study",
    "Unit",
    "Usage",
    "Value",
    "Variation",
    "VivaError",
    "__version__",
    "benchmark",
    "build_recipe",
    "contents",
    "evaluate",
    "examine",
    "exporter",
    "fetch",
    "format",
    "item_or_exclusion",
    "log_reader",
    "metric",
    "open",
    "parse",
    "provider",
    "section",
    "step",
    "study",
    "to_pandas",
    "train",
    "variation",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vivavoce' has no attribute {name!r}")
    value = getattr(import_module(f"vivavoce.{_HOME[name]}"), _INSIDE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
