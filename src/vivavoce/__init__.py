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

from vivavoce._version import __version__ as __version__

if TYPE_CHECKING:  # the list of public names, from which `tools/index.py` writes the index
    from vivavoce.benchmarks import Benchmark as Benchmark
    from vivavoce.benchmarks import item_or_exclusion as item_or_exclusion
    from vivavoce.core.errors import InputError as InputError
    from vivavoce.core.errors import MetricError as MetricError
    from vivavoce.core.errors import RunNotFound as RunNotFound
    from vivavoce.core.errors import SelectionError as SelectionError
    from vivavoce.core.errors import SpecError as SpecError
    from vivavoce.core.errors import StoreError as StoreError
    from vivavoce.core.errors import VivaError as VivaError
    from vivavoce.core.records import Candidate as Candidate
    from vivavoce.core.records import Card as Card
    from vivavoce.core.records import Criterion as Criterion
    from vivavoce.core.records import Download as Download
    from vivavoce.core.records import Exclusion as Exclusion
    from vivavoce.core.records import Finding as Finding
    from vivavoce.core.records import Item as Item
    from vivavoce.core.records import Measure as Measure
    from vivavoce.core.records import Reading as Reading
    from vivavoce.core.records import Response as Response
    from vivavoce.core.records import Row as Row
    from vivavoce.core.records import Score as Score
    from vivavoce.core.records import Unit as Unit
    from vivavoce.core.records import Value as Value
    from vivavoce.core.registry import benchmark as benchmark
    from vivavoce.core.registry import build_recipe as build_recipe
    from vivavoce.core.registry import exporter as exporter
    from vivavoce.core.registry import format as format
    from vivavoce.core.registry import log_reader as log_reader
    from vivavoce.core.registry import metric as metric
    from vivavoce.core.registry import provider as provider
    from vivavoce.core.registry import section as section
    from vivavoce.core.registry import step as step
    from vivavoce.core.registry import study as study
    from vivavoce.core.registry import variation as variation
    from vivavoce.core.row_frames import to_pandas as to_pandas
    from vivavoce.core.specs import Spec as Spec
    from vivavoce.core.specs import parse as parse
    from vivavoce.core.tables import Line as Line
    from vivavoce.formats.base import Format as Format
    from vivavoce.logprobs.requests import LogprobMetric as LogprobMetric
    from vivavoce.logprobs.requests import LogprobRequests as LogprobRequests
    from vivavoce.metrics import ComparativeMetric as ComparativeMetric
    from vivavoce.metrics import Lab as Lab
    from vivavoce.metrics import Metric as Metric
    from vivavoce.metrics import ScoringContext as ScoringContext
    from vivavoce.models.providers import Provider as Provider
    from vivavoce.models.rate_limit import Limits as Limits
    from vivavoce.models.requests import FatalError as FatalError
    from vivavoce.models.requests import Likelihood as Likelihood
    from vivavoce.models.requests import RejectedError as RejectedError
    from vivavoce.models.requests import Reply as Reply
    from vivavoce.models.requests import Request as Request
    from vivavoce.models.requests import RetryableError as RetryableError
    from vivavoce.models.requests import Usage as Usage
    from vivavoce.report.section import Section as Section
    from vivavoce.run.building.parts import Passage as Passage
    from vivavoce.run.building.step import BuildRecipe as BuildRecipe
    from vivavoce.run.building.step import Drop as Drop
    from vivavoce.run.building.step import Step as Step
    from vivavoce.run.building.step import StepResult as StepResult
    from vivavoce.run.contents import contents as contents
    from vivavoce.run.evaluate import Evaluated as Evaluated
    from vivavoce.run.evaluate import evaluate as evaluate
    from vivavoce.run.exchange.exporters import Exported as Exported
    from vivavoce.run.exchange.exporters import Exporter as Exporter
    from vivavoce.run.exchange.log_readers import Log as Log
    from vivavoce.run.exchange.log_readers import LogReader as LogReader
    from vivavoce.run.exchange.recorded_log import Mark as Mark
    from vivavoce.run.exchange.recorded_log import RecordedLog as RecordedLog
    from vivavoce.run.exchange.recorded_log import RecordedLogReader as RecordedLogReader
    from vivavoce.run.exchange.recorded_log import Sample as Sample
    from vivavoce.run.fetch import fetch as fetch
    from vivavoce.run.look.verb import look as look
    from vivavoce.run.plan.plan_file import examine as examine
    from vivavoce.run.run import Run as Run
    from vivavoce.run.run import open as open
    from vivavoce.run.train import train as train
    from vivavoce.studies.study import Study as Study
    from vivavoce.variants import Outcome as Outcome
    from vivavoce.variants import Variation as Variation


def __getattr__(name: str) -> Any:
    from vivavoce.core.index import public_names

    places = public_names()
    if name == "__all__":
        return sorted(["__version__", *places])
    if name not in places:
        raise AttributeError(f"module 'vivavoce' has no attribute {name!r}")
    module, _, attribute = places[name].rpartition(".")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
