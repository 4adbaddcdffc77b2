"""Trained: does an argument lead an evaluator, trained to solve the task, to the right option?"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from vivavoce.core.errors import MetricError
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.text import one_line
from vivavoce.evaluators.checkpoint import (
    ABOUT,
    LEXICAL,
    check_weights,
    complete_runs,
    load_evaluator,
    read_about,
    run_folders,
)
from vivavoce.evaluators.inputs import texts_of
from vivavoce.evaluators.lexical import load_lexical
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.lexical import prediction_values, task_of


@metric("trained", version=2)
class TrainedEvaluators(Metric):
    """Whether an argument leads a trained evaluator to the right option (Ranking over Scoring, COLING 2025).

    `weights`: the folder of a mixture that `viva train` wrote, such as DIR/mixture-1. The rater is the
    mixture and pass k its run k: `viva score --passes 3` scores by three runs. `right` is 1 or 0, shared
    where options tie, `probability` that of the right option; `lexical_right` and `lexical_probability` are
    those of the lexical evaluator fitted on the same data, the lower bound. `device` as torch names it;
    `dtype` of the weights, auto is the checkpoint's. It says how far an argument helps with this task alone:
    items of another benchmark are refused, unless `elsewhere=allow` says that they pose the same task.
    """

    weights: Path
    device: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    elsewhere: Literal["refuse", "allow"] = "refuse"

    criteria = (
        *(Criterion(criterion="right"), Criterion(criterion="probability")),
        *(Criterion(criterion="lexical_right"), Criterion(criterion="lexical_probability")),
    )
    formats = ("argument",)
    needs = ("options", "answer")
    asks_models = False

    @property
    def rater(self) -> str:
        """The mixture, with a hash of what its runs say of themselves, their weights' hashes among it."""
        files = self.extra_files
        name = read_about(files[0].parent).mixture if files else self.weights.name
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        return f"{re.sub(r'[^A-Za-z0-9_.+~-]', '_', name)[:40]}@{digest[:8]}"

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """What each run says of itself, the hash of its weights too; nothing where there is no run."""
        return tuple(run / ABOUT for run in complete_runs(self.weights))

    @property
    def packages(self) -> Mapping[str, str]:
        """What runs the encoder."""
        return {"torch": "hf", "transformers": "hf"}

    @property
    def most_passes(self) -> int | None:
        """The runs of the mixture; null where there is none, which `bind` says."""
        return len(complete_runs(self.weights)) or None

    def _run(self, pass_no: int) -> Path:
        return run_folders(self.weights)[pass_no - 1]

    def bind(self, items: Sequence[Item]) -> Self:
        """The metric, its first run loaded: what is wrong with it is said before anything is scored."""
        self.bind_settings(items)
        if any(map(self.applies_to, items)):
            load_evaluator(self._run(1), self.device, self.dtype)
        return self

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric itself. Raises `MetricError` for items of another task than it was trained for."""
        applicable = [item for item in items if self.applies_to(item)]
        if applicable:
            load_lexical(self.weights / LEXICAL)
            for run in run_folders(self.weights):
                check_weights(run)
                _check_task(run, applicable)
                if self.elsewhere == "refuse":
                    _check_benchmark(run, applicable)
        return self

    def texts_to_encode(self, rows: Sequence[Row], context: ScoringContext) -> Mapping[str, Collection[str]]:
        """Each distinct question, argument and option, for the run of this pass."""
        run = self._run(context.pass_no)
        kind = read_about(run).kind
        return {str(run): {repr(text) for row in rows for text in texts_of(task_of(row), kind)}}

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The prediction of the run of this pass, and the lexical one; each distinct text is read once."""
        if not rows:
            return []
        evaluator = load_evaluator(self._run(context.pass_no), self.device, self.dtype)
        tasks = [task_of(row) for row in rows]
        predictions = evaluator.predict(tasks, context.once_a_call)
        bounds = load_lexical(self.weights / LEXICAL).predict(tasks)
        return [
            prediction_values(row, prediction) | prediction_values(row, bound, "lexical_")
            for row, prediction, bound in zip(rows, predictions, bounds, strict=True)
        ]


def _check_task(run: Path, items: Sequence[Item]) -> None:
    """Raise `MetricError` where the items are of another task than the run was trained for."""
    about = read_about(run)
    expected = set(about.classes)
    for item in items:
        if expected and set(item.options) != expected:
            raise MetricError(
                f"{run} was trained for {about.benchmark}, to choose among {', '.join(about.classes)}; "
                f"{item.benchmark} {item.name} has the options {one_line(', '.join(item.options), 120)}: "
                "name an evaluator of this task."
            )
    if expected:
        return
    of_benchmark: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for item in items:
        of_benchmark[item.benchmark][item.item] = frozenset(item.options)
    for benchmark, options in of_benchmark.items():
        if len(options) > 1 and len(set(options.values())) == 1:
            raise MetricError(
                f"{run} was trained for {about.benchmark}, where items have options of their own, and all "
                f"items of {benchmark} have the options {', '.join(sorted(set().union(*options.values())))}: "
                "name an evaluator of this task."
            )


def _check_benchmark(run: Path, items: Sequence[Item]) -> None:
    """Raise `MetricError` where the items are of another benchmark than the run was trained for."""
    task = read_about(run).benchmark
    for benchmark in dict.fromkeys(item.benchmark for item in items):
        # Another language or split of a benchmark has a name that begins with its own.
        if benchmark != task and not benchmark.startswith(f"{task}_"):
            raise MetricError(
                f"{run} was trained for {task}, and items of {benchmark} may be another task, of which it "
                "says nothing: train one for it, or say elsewhere=allow where the task is the same."
            )
