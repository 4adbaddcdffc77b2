"""One answer scored by one of our metrics, as `viva score` does it: in a run of its own that is removed."""

import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks.table import Table
from vivavoce.contrib.inspect.items import ITEM, item_from, item_of_state
from vivavoce.core import registry
from vivavoce.core.errors import MetricError, SpecError
from vivavoce.core.records import Criterion, Item, Response, Value
from vivavoce.core.specs import parse
from vivavoce.judging.judge import Jury
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import Metric, ScoringContext, is_comparative
from vivavoce.models.engine.client import ModelClient
from vivavoce.models.http_client import without_surrogates
from vivavoce.models.providers.inspect.replies import reply_of
from vivavoce.models.requests import RejectedError, RetryableError
from vivavoce.run.catalogue import metrics_of
from vivavoce.run.client import AskOptions, open_client, run_guard
from vivavoce.run.score import measures_of
from vivavoce.run.score.batch_scores import response_scores
from vivavoce.run.score.checks import check_needs
from vivavoce.run.score.tasks import Task
from vivavoce.run.tables.stored_benchmarks import store_loaded
from vivavoce.store.item_rows import item_keys
from vivavoce.store.pending import Pending
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import ScoreRow, put_candidates, put_responses

CANDIDATE = "inspect"
"""The candidate's name in the run of a sample, if the state names no model."""


class InspectScore(NamedTuple):
    """By criterion a value, NaN where there is none; why there is none; and by criterion its status."""

    values: dict[str, float]
    answer: str | None
    explanation: str | None
    details: dict[str, Any]


class MetricScorer(NamedTuple):
    """A metric that scores answers one by one, and its criteria that have a value for a single answer."""

    metric: Metric
    criteria: tuple[Criterion, ...]
    allow_phi: bool

    def scores(self, item: Item, response: Response) -> dict[str, Value]:
        """By criterion what the metric says of the response; empty where it does not score the format."""
        if not self.metric.applies_to(item):
            return {}
        if str(self.metric.bind_settings([item])) != str(self.metric.bind_settings([])):
            raise MetricError(_not_alone(self.metric, "its scores depend on all items of an exam"))
        check_needs(self.metric, {0: item})
        metric = self.metric.bind([item])
        task = Task(metric, {0: item}, dict(enumerate(measures_of(metric))))
        with _client(item, response, self.allow_phi) if metric.asks_models else nullcontext() as client:
            scores = response_scores(task, Pending(0, item, response), ScoringContext(client, [item]))
        return {task.measures[key].criterion.criterion: _single(rows) for key, rows in scores.items()}


class ResponseScorer(NamedTuple):
    """Metrics that score answers one by one."""

    scorers: tuple[MetricScorer, ...]

    @property
    def names(self) -> list[list[str]]:
        """By metric the names of its values: the criterion behind the metric, as metrics share criteria.

        The whole spec stands there where two metrics of one name, such as two judges, give the same.
        """
        short = [[_value_name(s.metric, c, full=False) for c in s.criteria] for s in self.scorers]
        counts = Counter(name for names in short for name in names)
        return [
            [
                _value_name(s.metric, c, full=True) if counts[name] > 1 else name
                for c, name in zip(s.criteria, names, strict=True)
            ]
            for s, names in zip(self.scorers, short, strict=True)
        ]

    def score(self, state: Any, target: Any) -> InspectScore:
        """The values of the answer in a state of Inspect. Raises a `VivaError` where it cannot be scored."""
        item = _item(state, target)
        response = _response(state, item)
        values, statuses, notes = {}, {}, dict[str, None]()
        for scorer, names in zip(self.scorers, self.names, strict=True):
            scores = scorer.scores(item, response)
            for criterion, name in zip(scorer.criteria, names, strict=True):
                score = scores.get(criterion.criterion)
                values[name] = _number(criterion, score)
                statuses[name] = score.status if score else "not scored"
                note = score.note if score else f"{scorer.metric} does not score the format {item.format}"
                notes |= {f"{name}: {note}": None} if note else {}
        details = {"metrics": [str(scorer.metric) for scorer in self.scorers], "statuses": statuses}
        return InspectScore(values, response.text, "; ".join(notes) or None, details)


def _value_name(metric: Metric, criterion: Criterion, *, full: bool) -> str:
    spec = registry.canonical(metric)
    if not full and spec.name == criterion.criterion:
        return spec.name
    return f"{spec if full else spec.name}.{criterion.criterion}"


def response_scorer(
    words: Sequence[str], *, plugins: Sequence[str] = (), allow_phi: bool = False
) -> ResponseScorer:
    """The metrics that these words name, if they score single answers.

    Raises `SpecError` for a metric that there is not, `MetricError` for one that needs more than an answer.
    """
    for plugin in plugins:
        registry.load_plugin(plugin)
    metrics = metrics_of(metric_specs(words))
    for metric in metrics:
        if (reason := _why_not_alone(metric)) is not None:
            raise MetricError(_not_alone(metric, reason))
    return ResponseScorer(
        tuple(MetricScorer(m, tuple(c for c in m.criteria if c.pool == "mean"), allow_phi) for m in metrics)
    )


def metric_specs(words: Sequence[str]) -> tuple[str, ...]:
    """The specs in words that a command line may have split at commas inside of them: one, or several."""
    text = ",".join(words)
    try:
        return (str(parse(text)),)
    except SpecError:
        several = parse(f"metrics(of=[{text}])").settings["of"]
    return tuple(map(str, several)) if isinstance(several, tuple) else (text,)


def _why_not_alone(metric: Metric) -> str | None:
    """Why a metric has no score for an answer by itself; null if it has."""
    if is_comparative(metric):
        return "it compares the answers of several candidates"
    if metric.needs_repeats:
        return "it compares repeats of an answer"
    if requests_of(metric) is not None:
        return "it scores log-likelihoods, and Inspect's log holds a text"
    if isinstance(metric, Jury):
        return "it joins the scores of several judges"
    if all(criterion.pool != "mean" for criterion in metric.criteria):
        return "it pools counts over all answers"
    return None


def _not_alone(metric: Metric, reason: str) -> str:
    return (
        f"{metric} has no score for a single answer, because {reason}: import the log with `viva import RUN "
        "LOG`, and score there."
    )


def _item(state: Any, target: Any) -> Item:
    record = (state.metadata or {}).get(ITEM)
    return item_from(record) if isinstance(record, Mapping) else item_of_state(state, target, "inspect")


def _response(state: Any, item: Item) -> Response:
    """The answer in a state: withheld or failed where the model's output says so."""
    response = Response(
        benchmark=item.benchmark,
        item=item.item,
        variant=item.variant,
        candidate=str(state.model or CANDIDATE),
    )
    try:
        reply = reply_of(state.output, logprobs=False, key=None)
    except (RetryableError, RejectedError) as error:
        return replace(response, status="failed", error=str(error))
    if reply.text is None:
        return replace(response, status="filtered", finish_reason=reply.finish_reason)
    text = without_surrogates(state.output.completion or reply.text)  # a solver may rewrite the completion
    return replace(response, text=text, reasoning=reply.reasoning, finish_reason=reply.finish_reason)


@contextmanager
def _client(item: Item, response: Response, allow_phi: bool) -> Iterator[ModelClient]:
    """A client that asks models about one response, on the account of a run that is removed."""
    with tempfile.TemporaryDirectory(prefix="viva-inspect-") as folder:  # its owner's alone
        run = RunFile(Path(folder) / "sample.viva")
        with run.writing() as db:
            store_loaded(db, Table(name=item.benchmark).loaded([item]), [item])
            items = item_keys(db, item.benchmark)
            keys = put_candidates(db, {response.candidate: "candidate"})
            put_responses(db, [response], items=items, candidates=keys)
        options = AskOptions(allow_phi=allow_phi)
        with open_client(run, with_view(run, run_guard, None, options), options) as client:
            yield client


def _single(rows: Sequence[ScoreRow]) -> Value:
    """The value of the answer; none where the metric has one for each of its units."""
    if len(rows) == 1 and rows[0].unit is None:
        return rows[0].value
    return Value(None, note="it has a value for each unit, and none for the answer", status="set_aside")


def _number(criterion: Criterion, score: Value | None) -> float:
    """The value of a score: non-response by the criterion's rule, and Inspect's NaN where there is none."""
    if score is None:
        return math.nan
    value = criterion.silence if score.status in ("unanswered", "unreadable") else score.value
    return math.nan if value is None else value
