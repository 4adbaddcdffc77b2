"""A benchmark as Inspect takes one: samples in our words, each with its item."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample

from vivavoce import formats
from vivavoce._version import __version__
from vivavoce.benchmarks import Loaded, load, load_examples
from vivavoce.contrib.inspect.items import ITEM, item_record
from vivavoce.contrib.inspect.scoring import metric_specs, response_scorer
from vivavoce.core import registry
from vivavoce.core.errors import EgressError, InputError, MetricError
from vivavoce.core.records import Item
from vivavoce.core.text import label
from vivavoce.metrics import Metric
from vivavoce.models.candidates import sampling_of
from vivavoce.models.providers.inspect.messages import inspect_messages
from vivavoce.privacy import preflight, warning
from vivavoce.run.collect.plan import RequestBuilder
from vivavoce.run.score.checks import check_needs
from vivavoce.run.tables.fitting_metrics import fitting_metrics


class InspectExam(NamedTuple):
    """A benchmark's samples and the metrics that score them; `origin` says what the benchmark is."""

    name: str
    samples: list[Any]
    metrics: tuple[str, ...]
    origin: Mapping[str, str]


def read_exam(
    spec: str,
    metrics: Sequence[str],
    settings: Mapping[str, Any],
    *,
    plugins: Sequence[str] = (),
    allow_phi: bool = False,
) -> InspectExam:
    """The benchmark that `spec` names. Without `metrics`, those count that fit its formats.

    Raises a `VivaError` for a benchmark, prompt or metric that cannot be used, `EgressError` for texts that
    Inspect could send to anybody and should not.
    """
    for plugin in plugins:
        registry.load_plugin(plugin)
    loaded = load(spec)
    _refuse_texts(loaded, allow_phi)
    if later := next((item for item in loaded.items if item.follows), None):
        raise InputError(
            f"{spec}: item {later.name!r} is asked behind the candidate's own answers, which a sample of "
            "Inspect cannot be: use `viva collect`, which can ask through inspect/PROVIDER/MODEL."
        )
    names = metric_specs(metrics) if metrics else fitting_metrics(loaded.items)
    if not names:
        raise InputError(f"{spec}: no metric scores its formats without a setting: name some, -T metrics=….")
    for scorer in response_scorer(names).scorers:
        _check_metric(scorer.metric, loaded)
    requests = RequestBuilder(loaded.items, split=lambda: load_examples(loaded.spec))
    samples = [_sample(item, requests, settings) for item in loaded.items]
    origin = {"spec": loaded.spec, "signature": loaded.signature, "version": __version__}
    return InspectExam(loaded.items[0].benchmark, samples, names, origin)


def _check_metric(metric: Metric, loaded: Loaded) -> None:
    """Raise `MetricError` for a metric that scores none of the items, or finds in one not what it needs."""
    items = dict(enumerate(loaded.items))
    if not any(map(metric.applies_to, items.values())):
        raise MetricError(f"{metric} scores none of the {len(items):,} items of {loaded.spec}: name another.")
    check_needs(metric, items)


def _refuse_texts(loaded: Loaded, allow_phi: bool) -> None:
    """Raise `EgressError` for a credentialed benchmark, and for items that look like patient data."""
    if loaded.card.access == "credentialed":
        raise EgressError(
            f"{loaded.spec} is credentialed: its items go only to endpoints that you name, and Inspect asks "
            "for none. Use `viva collect`, which can ask through inspect/PROVIDER/MODEL too."
        )
    if not allow_phi and (flagged := preflight(loaded.items)):
        sentence = warning(flagged, len(loaded.items), "the model that Inspect asks")
        raise EgressError(f"{sentence} In Inspect, that is -T allow_phi=true.")


def _sample(item: Item, requests: RequestBuilder, settings: Mapping[str, Any]) -> Any:
    request = requests.generation(item, settings, sampling_of({}), 1)
    return Sample(
        id=f"{item.item} [{item.variant}]" if item.variant else item.item,
        input=inspect_messages(request.messages),
        choices=list(item.options) or None,
        target=_target(item),
        metadata={"group": item.group, "category": item.category, ITEM: item_record(item)},
    )


def _target(item: Item) -> str | list[str]:
    """The key as Inspect's own scorers read it: letters where there are options, else the references."""
    if item.options:
        return [label(k) for k, option in enumerate(item.options) if option in item.answer]
    return list(item.references or item.answer) or (formats.key(item) or "")
