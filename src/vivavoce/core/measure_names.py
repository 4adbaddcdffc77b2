"""Names of metrics and measures for readers: a judge goes by its rubric and model, an old version says so.

The spec is what is typed, and stands in JSON, exports and the report's Methods.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

from vivavoce.core.errors import SpecError
from vivavoce.core.records import Measure
from vivavoce.core.specs import RECORDED, Spec, parse, show, signed

_Key = TypeVar("_Key", bound=Hashable)
_NAMED = ("rubric", "model", "of")
"""Settings of judges and juries that their names are made of; others stand behind, in brackets."""
OF_FILE = "file"
"""The metric of the scores that a file of answers gives to them itself, a criterion for each column."""
OF_PEOPLE = "people"
"""The metric of people's scores that stand in columns beside answers, a rater for each column."""


def is_of_file(measure: Measure) -> bool:
    """True for a score that a file gave to its own answers: it is compared with ours and ranks no one."""
    return measure.signature == f"{OF_FILE}()@{RECORDED}"


def metric_name(metric: str | None) -> str:
    """The name of a metric in tables, charts and sentences; `metric` is its canonical spec.

    `judge(model=openai/gpt-4o, rubric=medgpt)` is `medgpt by openai/gpt-4o`, a rubric's file goes without its
    folder and ending, and other settings stand in brackets. A jury names its judges, by their models alone
    where they share a rubric. Any other metric is its spec, and so is what cannot be read as one. A row of a
    damaged file may name none.
    """
    if metric is None:
        return ""
    try:
        spec = parse(metric)
    except SpecError:
        return metric
    return _name(spec) if spec.name in ("judge", "jury") else metric


def measure_name(metric: str | None, criterion: str, rater: str = "") -> str:
    """A criterion of a metric by its rater, each said once: `medgpt by openai/gpt-4o: harm`."""
    name = metric_name(metric)
    text = name if criterion in ("", metric) else f"{name}: {criterion}"
    has_rater = f" by {rater}" in name or f"{rater} of " in name  # of a judge, of a jury
    return f"{text} by {rater}" if rater and not has_rater else text


def rubric_name(spec: Spec) -> str:
    """The rubric that a spec names: the file's name without its ending, or ''."""
    return str(spec.settings.get("rubric") or "").rpartition("/")[2].removesuffix(".md")


def earlier_versions(measures: Mapping[int, Measure]) -> dict[str, str]:
    """By signature an ending for the names of earlier versions of a metric, such as a rubric before a change.

    The version that the run got last is not among them, nor is anything that was recorded elsewhere.
    """
    versions: dict[str, dict[str, int]] = {}
    for key, m in measures.items():
        if not signed(m.signature).recorded:
            of_metric = versions.setdefault(m.metric, {})
            of_metric[m.signature] = max(key, of_metric.get(m.signature, key))
    return {
        signature: f" (earlier version {signed(signature).version})"
        for of_metric in versions.values()
        for signature, key in of_metric.items()
        if key < max(of_metric.values())
    }


def metric_names(measures: Mapping[int, Measure]) -> dict[str, str]:
    """By signature the name of a metric in tables and charts, no two alike: `metric_name`, and versions."""
    metrics = {m.signature: m.metric for m in measures.values()}
    times = Counter(metric_name(metric) for metric in {*metrics.values()})
    earlier = earlier_versions(measures)
    names = {}
    for signature, metric in metrics.items():
        # Two files of one name in two folders go by their specs.
        name = metric if times[metric_name(metric)] > 1 else metric_name(metric)
        names[signature] = name + earlier.get(signature, "")
    return distinguished(names, {signature: f" @{signed(signature).version}" for signature in names})


def distinguished(named: Mapping[_Key, str], endings: Mapping[_Key, str]) -> dict[_Key, str]:
    """The names, with an ending where a name occurs twice."""
    times = Counter(named.values())
    return {key: name + endings[key] if times[name] > 1 else name for key, name in named.items()}


def _name(spec: Spec) -> str:
    name = _jury(spec) if spec.name == "jury" else _judge(spec)
    more = ", ".join(f"{key}={show(value)}" for key, value in spec.settings.items() if key not in _NAMED)
    return f"{name} ({more})" if more else name


def _judge(spec: Spec) -> str:
    model = spec.settings.get("model")
    return _title(spec) if model is None else f"{_title(spec)} by {model}"


def _title(spec: Spec) -> str:
    return rubric_name(spec) or spec.name


def _jury(spec: Spec) -> str:
    """A jury by its judges: by the rubric that they share and their models, else by the name of each."""
    members = spec.settings.get("of")
    judges = [judge for judge in members if isinstance(judge, Spec)] if isinstance(members, tuple) else []
    titles = {_title(judge) for judge in judges}
    if len(titles) == 1:
        title = titles.pop()
        models = ", ".join(_name(judge).removeprefix(f"{title} by ") for judge in judges)
        return f"{title} by a jury of {models}"
    return f"jury of {', '.join(map(_name, judges))}" if judges else spec.name
