"""What every metric must keep, ours and a plugin's."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vivavoce import formats
from vivavoce.core.errors import VivaError
from vivavoce.core.records import Criterion, Item, Reading, Response, Row, Unit, Value
from vivavoce.core.registry import build
from vivavoce.logprobs.requests import LogprobRequests, requests_of, to_model_requests
from vivavoce.metrics import ComparativeMetric, Metric, ScoringContext, is_comparative
from vivavoce.models.requests import Generation, Likelihood, Message, Reply, Request
from vivavoce.run.score.checks import ValueOrUnits, check_declared, checked

TOLERANCE = 1e-9
"""How far values may differ: a sum in another order has another last digit."""
_Values = Mapping[str, ValueOrUnits]


def check_metric(
    metric: Metric | str, rows: Sequence[Row] | None = None, context: ScoringContext | None = None
) -> None:
    """Raise `AssertionError` with a sentence where a registered metric, or that of a spec, breaks a rule.

    It must declare criteria that make sense; give each row a value of every criterion, inside the declared
    range and finite, or a failed one with a note; give equal responses equal values; give nothing for no
    rows; and give the same values in whatever order and batches the rows come. Without `rows` it is held to
    examples of its formats. `context` is for a metric that asks a model.
    """
    plugin: Metric = build("metric", metric) if isinstance(metric, str) else metric
    try:
        check_declared(plugin)
    except VivaError as error:
        raise AssertionError(str(error)) from None
    rows = list(example_rows(plugin) if rows is None else rows)
    _must(bool(rows), f"{plugin} applies to none of the example items: give rows that it scores")
    items = list({(r.item.benchmark, r.item.item, r.item.variant): r.item for r in rows}.values())
    plugin = plugin.bind(items)
    context = context or ScoringContext(items=items)
    if is_comparative(plugin):
        _check_ballots(plugin, rows, context)
    else:
        _check_values(plugin, rows, context)


def example_rows(metric: Metric) -> Iterator[Row]:
    """Readable responses to items of each format that the metric scores; each response comes twice.

    A metric of log-likelihoods finds the record of replies that a model without preferences would give.
    """
    for item in filter(metric.applies_to, _items()):
        if not all(getattr(item, field) for field in metric.needs):
            continue
        if requests := requests_of(metric):
            yield _logprob_row(requests, item)
            continue
        for candidate, text in enumerate(2 * _responses(item)):
            response = Response(
                benchmark=item.benchmark, item=item.item, candidate=f"m{candidate}", text=text
            )
            reading = formats.read_response(item, text)
            if reading.status == "ok":
                repeats = (reading, Reading("unanswered")) if metric.needs_repeats else ()
                yield Row(item, response, reading, repeats)


def _check_values(metric: Metric, rows: Sequence[Row], context: ScoringContext) -> None:
    values = _values(metric, rows, context)
    for index, (row, value) in enumerate(zip(rows, values, strict=True)):
        for earlier, twin in zip(rows[:index], values[:index], strict=True):
            if _same_question(earlier, row):
                _must_equal(metric, twin, value, f"two equal responses to {row.item.name}")
    _must(not list(metric.values([], context)), f"{metric} gives values for no rows")
    backwards = _values(metric, rows[::-1], context)[::-1]
    singly = [value for row in rows for value in _values(metric, [row], context)]
    for row, value, reverse, alone in zip(rows, values, backwards, singly, strict=True):
        _must_equal(metric, value, reverse, f"{row.item.name} in another order of the rows")
        _must_equal(metric, value, alone, f"{row.item.name} in a batch and by itself")


def _values(metric: Metric, rows: Sequence[Row], context: ScoringContext) -> list[_Values]:
    """The metric's values, each held to what its criterion declares."""
    try:
        values = list(metric.values(rows, context))
    except Exception as error:  # third-party code: any exception is its fault
        raise AssertionError(f"{metric} raises {type(error).__name__}: {error}") from error
    _must(len(values) == len(rows), f"{metric} gives {len(values)} values for {len(rows)} rows")
    return [_checked(metric, row, value) for row, value in zip(rows, values, strict=True)]


def _checked(metric: Metric, row: Row, values: Any) -> _Values:
    """The values of one row by criterion, in plain numbers."""
    try:
        plain = {c.criterion: checked(metric, row, values, c) for c in metric.criteria}
    except VivaError as error:
        raise AssertionError(str(error)) from None
    for criterion, value in plain.items():
        for single in value.values() if isinstance(value, Mapping) else (value,):
            _must(
                single.status not in ("failed", "set_aside") or bool(single.note),
                f"{metric} on {row.item.name}: {single.status}, {criterion} has no note that says why",
            )
    return plain


def _check_ballots(metric: ComparativeMetric, rows: Sequence[Row], context: ScoringContext) -> None:
    names = ("a", "b", "c")
    for candidates in ((), names[:1], names[:2], names):
        orders = metric.orders(candidates, "item|1")
        _must(len(set(orders)) == len(orders), f"{metric}, of {candidates}, shows an order twice")
        _must(
            orders == metric.orders(candidates, "item|1"), f"the orders of {metric} change from call to call"
        )
        for order in orders:
            _must(
                len(set(order)) == len(order) >= 2 and set(order) <= set(candidates),
                f"{metric} shows {order}, which is no ballot of {candidates}",
            )
    by_item: dict[str, list[Row]] = {}
    for row in rows:
        by_item.setdefault(row.item.item, []).append(row)
    ballots = [group[:2] for group in by_item.values() if len(group) > 1]
    _must(
        bool(ballots), f"no two rows are of one item, so {metric} compares nothing: give rows that it scores"
    )
    compared = _compared(metric, ballots, context)
    _must(not list(metric.compare([], context)), f"{metric} gives values for no ballots")
    backwards = _compared(metric, ballots[::-1], context)[::-1]
    singly = [values for ballot in ballots for values in _compared(metric, [ballot], context)]
    for ballot, values, reverse, alone in zip(ballots, compared, backwards, singly, strict=True):
        for row, value, reversed_value, single in zip(ballot, values, reverse, alone, strict=True):
            _must_equal(metric, value, reversed_value, f"{row.item.name} in another order of the ballots")
            _must_equal(metric, value, single, f"{row.item.name} in a batch and by itself")


def _compared(
    metric: ComparativeMetric, ballots: Sequence[Sequence[Row]], context: ScoringContext
) -> list[list[_Values]]:
    try:
        compared = list(metric.compare(ballots, context))
    except Exception as error:  # third-party code: any exception is its fault
        raise AssertionError(f"{metric} raises {type(error).__name__}: {error}") from error
    _must(
        len(compared) == len(ballots), f"{metric} gives values for {len(compared)} of {len(ballots)} ballots"
    )
    for ballot, values in zip(ballots, compared, strict=True):
        _must(len(values) == len(ballot), f"{metric} gives {len(values)} values for {len(ballot)} responses")
    return [
        [_checked(metric, row, value) for row, value in zip(ballot, values, strict=True)]
        for ballot, values in zip(ballots, compared, strict=True)
    ]


def _same_question(row: Row, other: Row) -> bool:
    """Whether two rows are equal responses to one item, which a rule cannot tell apart."""
    return (
        row.item == other.item
        and row.response.text == other.response.text
        and (row.reading, row.other_repeats) == (other.reading, other.other_repeats)
    )


def _must_equal(metric: Metric, first: _Values, second: _Values, place: str) -> None:
    for criterion in metric.criteria:
        a, b = (dict(_numbers(values[criterion.criterion], criterion)) for values in (first, second))
        equal = a.keys() == b.keys() and all(_close(a[unit], b[unit]) for unit in a)
        _must(equal, f"{metric} gives different values of {criterion.criterion} to {place}")


def _numbers(value: ValueOrUnits, criterion: Criterion) -> Iterator[tuple[str, float | None]]:
    if isinstance(value, Value):
        yield criterion.criterion, value.value
        return
    for unit, single in value.items():
        yield unit.unit, single.value


def _close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _must(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(f"{sentence}.")


_OPTIONS = ("Amoxicillin 500 mg", "Paracetamol 1 g", "Ibuprofen 400 mg", "No treatment")
_RELATIONS = (
    '{"head": ["amoxicillin", "the drug"], "type": "Treats", "tail": ["cough"], "novel": false}',
    '{"head": ["pneumonia"], "type": "Causes", "tail": ["fever"], "novel": true}',
)
_WRITTEN = {
    "true_false": ("True", "False"),
    "relation": (
        "Amoxicillin | Treats | cough",
        "cough | Treats | AMOXICILLIN | novel",
        "Rest | Causes | fever",
    ),
}
_REFERENCE = (
    "Give amoxicillin 500 mg three times a day for seven days, and review the patient after two days."
)
_QUESTION = (
    "A 40-year-old man comes with fever, cough and pain in the right side of the chest since three days, and "
    "has no allergy. What do you do first, and why?"
)


def _items() -> Iterator[Item]:
    """An item of each format, with every field that a metric may need."""
    closed = {"mcq": _OPTIONS[:1], "true_false": ("True",), "list": _OPTIONS[:2], "relation": _RELATIONS}
    keyed = {**closed, "argument": _OPTIONS[:1]}
    for name in formats.FORMATS:
        chain = name.startswith("multi_hop")
        item = Item(
            benchmark="example",
            item=name,
            format=name,
            question=_QUESTION,
            options=_OPTIONS
            if name in ("mcq", "list", "argument")
            else ("Treats", "Causes")
            if name == "relation"
            else (),
            answer=keyed.get(name, ()),
            references=() if name in closed else (_REFERENCE, "Amoxicillin for a week."),
            must=("Give amoxicillin.",),
            nice=("Review the patient.",),
            steps=("It is pneumonia.", "No allergy is known.", "Amoxicillin is the first choice.")
            if chain
            else (),
            step=2 if name == "multi_hop_inverse" else None,
            false_answer="Give an antiviral drug." if name.endswith("inverse") else None,
            rubric=(Unit(unit="drug", text="Names amoxicillin.", weight=1.0),),
            context="" if name == "conversation" else "He takes no other drugs.",
            source="an example",
        )
        yield formats.check(item)


def _responses(item: Item) -> list[str]:
    """Right and wrong responses, short, long and without a word of the reference."""
    if item.format in _WRITTEN:
        return list(_WRITTEN[item.format])
    if item.format == "mcq":
        return [f"Answer: {option}" for option in item.options]
    if item.format == "list":
        return ["\n".join(item.options[:k]) for k in (1, 2, 3)]
    texts = [_REFERENCE, "Amoxicillin.", "Rest, and see.", "Χορηγήστε αμοξικιλλίνη.", 40 * f"{_REFERENCE} "]
    if item.format == "multi_hop":
        return [f"Final answer: {text}\nReasoning: It is pneumonia. No allergy." for text in texts]
    if item.format == "multi_hop_inverse":
        return [f"Step: {number}\nExplanation: {text}" for number, text in enumerate(texts, 1)]
    return texts


def _logprob_row(requests: LogprobRequests, item: Item) -> Row:
    """What a metric finds of an item that a model without preferences was asked about."""

    def prompt(asked: Item) -> tuple[Message, ...]:
        return (Message("user", formats.ask(asked)),)

    samples = [_generated(request) for request in requests.sample(item, prompt)]
    scores = [_likelihoods(request) for request in requests.score(item, prompt, samples)]
    record = requests.to_record(item, samples, scores)
    text = json.dumps(record, ensure_ascii=False)
    response = Response(
        benchmark=item.benchmark, item=item.item, candidate="m", probe=requests.name, logprobs=text
    )
    return Row(item, response, Reading("ok", record))


def _generated(request: Request) -> Reply:
    """Every sample is the same five tokens."""
    pieces = ("It", " is", " pneumonia", ", I", " think")
    sample = Generation("".join(pieces), (1, 2, 3, 4, 5), pieces, (-1.0,) * 5, ended=True, closing=-1.0)
    return Reply(text=sample.text, generations=(sample,) * (request.sampling.beams or 1), tokeniser="words")


def _likelihoods(request: Request) -> Reply:
    """Every word has a probability of 1/2."""
    targets = [single.target or "" for single in to_model_requests(request, branching=False)]
    counts = [max(len(target.split()), 1) for target in targets]
    return Reply(
        text=None,
        likelihoods=tuple(Likelihood(-math.log(2) * n, n, verbatim=0) for n in counts),
        tokeniser="words",
    )
