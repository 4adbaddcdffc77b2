"""Contrast pairs scored by the metrics of a run, for studies, which see values and never a metric.

Rules and embeddings score them in this process. No model is asked and nothing is downloaded: a judge, and
what was scored elsewhere, stand with the reason why they have no values.
"""

from collections.abc import Iterator, Mapping, Sequence

from vivavoce import formats
from vivavoce.core import net, registry, specs
from vivavoce.core.errors import VivaError
from vivavoce.core.records import Item, Measure, Response, Row, Value
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.audit.contrasts import ContrastPair, ContrastScores, contrast_pairs

FORMATS = ("short", "longform")
"""The formats that a pair can have, the first that a metric scores."""
JUDGE = "a judge is asked nothing by a study, and these pairs would be calls"


def contrast_scores(view: View, measures: Mapping[int, Measure]) -> dict[int, ContrastScores | str]:
    """By measure what it gives the texts of the pairs, or why it gives them nothing.

    A metric of another version than the one that is here now is not scored: its values would not be those of
    the run.
    """
    context = ScoringContext(items=view.fetch(read.items_by_id).values())
    signatures = dict.fromkeys(measure.signature for measure in measures.values())
    metrics = {signature: _metric(signature, context) for signature in signatures}
    scored = {s: m if isinstance(m, str) else _scored(m, context) for s, m in metrics.items()}
    scores: dict[int, ContrastScores | str] = {}
    for key, measure in measures.items():
        values = scored[measure.signature]
        scores[key] = values if isinstance(values, str) else values[measure.criterion.criterion]
    return scores


def _metric(signature: str, context: ScoringContext) -> Metric | str:
    """The metric that gave these scores, its encoder loaded, or why it cannot be asked."""
    signed = specs.signed(signature)
    if signed.recorded:
        return "scored elsewhere: the pairs cannot be scored here"
    if signed.spec.name in ("judge", "jury"):
        return JUDGE
    try:
        metric: Metric = registry.build("metric", signed.spec)
        if metric.rater:
            return JUDGE
        if registry.signature(metric) != signature:
            return "another version of the metric is here now"
        with net.offline(True):
            # Before the first is scored: a text then passes an encoder once for all metrics.
            context.announce([metric], [_item(pair, name) for pair in contrast_pairs() for name in FORMATS])
    except VivaError as error:
        return f"the pairs could not be scored: {error}"
    return metric


def _scored(metric: Metric, context: ScoringContext) -> dict[str, ContrastScores] | str:
    """By criterion the values of a metric, or why it has none."""
    rows = _rows(metric)
    if isinstance(rows, str):
        return rows
    try:
        with net.offline(True):
            values = metric.values([row for _, row in rows], context)
    except VivaError as error:
        return f"the pairs could not be scored: {error}"
    return _by_criterion(metric, [place for place, _ in rows], values)


def _by_criterion(
    metric: Metric, places: Sequence[tuple[str, str]], values: Sequence[Mapping[str, object]]
) -> dict[str, ContrastScores]:
    """By criterion the values that there are, by pair and side."""
    scores: dict[str, dict[tuple[str, str], float]] = {c.criterion: {} for c in metric.criteria}
    for place, by_name in zip(places, values, strict=True):
        for name, value in by_name.items():
            # A criterion of units gives several values, and none of them is the text's.
            if name in scores and isinstance(value, Value) and value.value is not None:
                scores[name][place] = value.value
    return dict(scores)


def _rows(metric: Metric) -> Sequence[tuple[tuple[str, str], Row]] | str:
    """A row for each text of each pair that can be read, with its pair and side, or why there is none."""
    if metric.comparative or metric.needs_repeats:
        return "it scores an answer beside others, and a pair has none"
    name = next((name for name in FORMATS if formats.accepts(metric.formats, name)), None)
    if name is None:
        return f"a pair is free text, and it scores {', '.join(metric.formats)}"
    if lacking := [field for field in metric.needs if field not in ("references", "question")]:
        return f"it needs {' and '.join(lacking)}, and a pair has a reference alone"
    rows = list(_readable(metric, name))
    return rows or "it does not score items with a reference alone"


def _readable(metric: Metric, format_name: str) -> Iterator[tuple[tuple[str, str], Row]]:
    for pair in contrast_pairs():
        item = _item(pair, format_name)
        if not metric.applies_to(item) or metric.not_applicable(item):
            continue
        for side, text in pair.texts():
            response = Response(benchmark="contrasts", item=pair.pair, candidate=side, text=text)
            reading = formats.read_response(item, text)
            if reading.status == "ok":
                yield (pair.pair, side), Row(item, response, reading)


def _item(pair: ContrastPair, format_name: str) -> Item:
    """A pair as an item with a reference."""
    return Item(
        benchmark="contrasts",
        item=pair.pair,
        format=format_name,
        question=pair.question,
        references=(pair.reference,),
    )
