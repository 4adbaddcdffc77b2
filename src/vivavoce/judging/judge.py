"""A judge: a model that scores responses by a rubric; and a jury of several judges.

A rubric is a Markdown file: criteria with their scales and levels, and the prompt. It scores single
responses, points of the item's own rubric, or responses against each other. A reply that cannot be read is
asked for once more; after that the score is `failed`, with the reason. Nothing a judge did not say becomes a
score.

Only the judges' own scores are stored. A jury's are computed from them whenever they are needed
(`studies.comparing.combined_scores`), so that every judge stays visible.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Literal

from vivavoce.core.errors import MetricError
from vivavoce.core.records import Criterion, Item, Row, Unit, Value
from vivavoce.core.registry import build, metric, signature
from vivavoce.core.specs import Spec
from vivavoce.core.text import one_line
from vivavoce.judging.criterion import Ask
from vivavoce.judging.loading import load
from vivavoce.judging.rubric import Rubric
from vivavoce.metrics import ComparativeMetric, Metric, ScoringContext
from vivavoce.models.engine.client import CallResult
from vivavoce.models.requests import Message, Request, Sampling

PURPOSE = "judge"
POINTS = Criterion(criterion="score")
"""For an item's own rubric: the points reached over the points that could be reached."""
UNCLIPPED = Criterion(criterion="score", low=None, pool="clipped_mean")
"""The same where only the mean is clipped, as in HealthBench: a response may reach less than no points."""
ADJUSTED = Criterion(criterion="score_length_adjusted", low=None, high=None, pool="clipped_mean")
"""`UNCLIPPED` adjusted for the length of the response."""
_DERIVED = (POINTS.criterion, ADJUSTED.criterion)


@metric("judge", version=2)
class Judge(ComparativeMetric):
    """A model's scores by a rubric: `judge(rubric=medgpt, model=openai/gpt-4o)`.

    `rubric` is a shipped one (medgpt, medgpt_free, prometheus, prometheus2, correctness, healthbench,
    pairwise, listwise) or a .md file. `model` is asked with this `temperature` and so many `max_tokens`, null
    leaving it to the endpoint; settings in the model's own spec go before. `structured` asks for JSON by a
    schema where the endpoint takes one. Answers set side by side are shown in `orders_shown` orders: 2 are a
    pair's both, or a shuffle of several and its reverse. Equal answers to a question are one call in each
    pass.
    """

    rubric: str
    model: str | Spec
    temperature: float | None = 0.0
    max_tokens: int | None = None
    structured: bool = True
    orders_shown: int = 2

    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")

    def __post_init__(self) -> None:
        if self.orders_shown < 1:
            raise ValueError("orders_shown takes 1 or more")
        # A rubric that cannot be used is said before anybody is asked.
        if self.sheet.kind == "points" and self.sheet.columns[0].criterion in _DERIVED:
            raise ValueError(f"the criterion of points must have another name than {' and '.join(_DERIVED)}")

    @cached_property
    def sheet(self) -> Rubric:
        """The rubric, read once."""
        return load(self.rubric)

    @property
    def rater(self) -> str:
        """The model that scores."""
        return str(self.model)

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The rubric's file."""
        return (self.sheet.path,)

    @property
    def digests(self) -> Mapping[Path, str]:
        """The rubric's file by what it says, whatever its comments, order of keys and defaults."""
        return {self.sheet.path: self.sheet.digest}

    @property
    def whole_text_versions(self) -> tuple[int, ...]:
        """Version 1 read the marks of fewer families of models."""
        return (1,)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The rubric's, and of an item's points their share."""
        return (*self._of_points, *self.sheet.columns)

    @property
    def _of_points(self) -> tuple[Criterion, ...]:
        """What is made of an item's points."""
        if self.sheet.kind != "points":
            return ()
        if self.sheet.clip == "each":
            return (POINTS,)
        return (UNCLIPPED, ADJUSTED) if self.sheet.length else (UNCLIPPED,)

    def silence_parts(self, item: Item) -> Mapping[str, Mapping[str, float]]:
        """What a silence counts where the mean is clipped: it reaches no points."""
        return {c.criterion: _counted(0.0) for c in self._of_points if c.pool == "clipped_mean"}

    @property
    def comparative(self) -> bool:
        """Whether answers are compared, and not scored one by one."""
        return self.sheet.kind in ("pairwise", "listwise")

    def applies_to(self, item: Item) -> bool:
        """Whether the item has what the rubric shows the judge."""
        # Later turns of a conversation differ by what each candidate said before: no ballot can show them.
        comparable = not (self.comparative and item.follows)
        return super().applies_to(item) and self.sheet.applies_to(item) and comparable

    def values(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        """The judge's scores of each response, failed ones with the reason.

        By points: of each point whether it is met, and their `score`, the weights of the points met over the
        sum of those above 0; `parts` hold both. It is kept inside 0 to 1, unless the rubric clips the mean
        alone; then it may also be adjusted for the length of the response.
        """
        rubric = self.sheet
        if rubric.kind == "points":
            for row in rows:
                _possible(row.item)  # raises before the judge is asked
        asks = [rubric.requests(row.item, _answer(rubric, row)) for row in rows]
        results = iter(self._results(context, rubric, list(chain.from_iterable(asks))))
        by_row = [[(ask, next(results)) for ask in row_asks] for row_asks in asks]
        if rubric.kind == "points":
            return [_points(rubric, row, pairs) for row, pairs in zip(rows, by_row, strict=True)]
        return [_scores(rubric, pairs) for pairs in by_row]

    def orders(self, candidates: Sequence[str], place: str) -> Sequence[tuple[str, ...]]:
        """Every pair in both orders, or one drawn; or so many shuffles of all, each second one reversed."""
        if len(candidates) < 2:
            return ()
        if self.sheet.kind == "pairwise":
            return [order for pair in combinations(candidates, 2) for order in self._shuffles(pair, place)]
        return self._shuffles(candidates, place)

    def _shuffles(self, candidates: Sequence[str], place: str) -> list[tuple[str, ...]]:
        """The orders in which these stand on ballots."""
        rng = random.Random("|".join((place, *candidates)))
        orders: list[tuple[str, ...]] = []
        for k in range(self.orders_shown):
            shuffled = tuple(rng.sample(list(candidates), len(candidates)))
            orders.append(orders[-1][::-1] if k % 2 else shuffled)
        return list(dict.fromkeys(orders))

    def compare(
        self, ballots: Sequence[Sequence[Row]], context: ScoringContext
    ) -> Sequence[Sequence[Mapping[str, Value]]]:
        """For each ballot, and each answer on it, its value by every criterion."""
        rubric = self.sheet
        asks = [rubric.comparison(b[0].item, [_answer(rubric, row) for row in b]) for b in ballots]
        return [
            [_placed(rubric, result, k, len(ballot)) for k in range(len(ballot))]
            for ballot, result in zip(ballots, self._results(context, rubric, asks), strict=True)
        ]

    def _results(self, context: ScoringContext, rubric: Rubric, asks: Sequence[Ask]) -> list[CallResult[Any]]:
        def request(messages: Sequence[Message], ask: Ask) -> Request:
            return Request(
                messages=tuple(messages),
                sampling=Sampling(
                    temperature=self.temperature,
                    max_tokens=self.max_tokens,
                    schema=ask.schema if self.structured else None,
                ),
            )

        readers: list[Callable[[str], Any]] = [partial(_read_reply, rubric, ask) for ask in asks]
        return context.client.ask(
            self.model,
            [request(ask.messages, ask) for ask in asks],
            readers,
            purpose=PURPOSE,
            repeat=context.pass_no,
            again=lambda k, reply, reason: request(rubric.again(asks[k], reply, reason), asks[k]),
        )


def _read_reply(rubric: Rubric, ask: Ask, text: str) -> Any:
    return rubric.read_reply(text, ask)


def _failed(result: CallResult[Any]) -> Value:
    return Value(None, note=result.reason, status="failed")


def _scores(rubric: Rubric, results: Sequence[tuple[Ask, CallResult[Any]]]) -> dict[str, Value]:
    """Every criterion's value, or why its call gave none."""
    values: dict[str, Value] = {}
    for ask, result in results:
        if result.value is not None:
            values |= {name: Value(value) for name, value in result.value.items()}
        else:
            values |= {c.name: _failed(result) for c in rubric.criteria if {c.name, c.of} & set(ask.criteria)}
    return values


def _points(rubric: Rubric, row: Row, results: Sequence[tuple[Ask, CallResult[Any]]]) -> dict[str, Any]:
    (met,) = rubric.columns
    units = dict(_units(row.item, met.criterion, results))
    scores = _lost(units) or _reached(rubric, row, units)
    return {**scores, met.criterion: units}


def _lost(units: Mapping[Unit, Value]) -> dict[str, Value]:
    """Failed scores where a point could not be scored; none where all were."""
    lost = {u.unit: v.note for u, v in units.items() if v.status == "failed"}
    if not lost:
        return {}
    named, (reason, *_) = one_line(", ".join(lost)), lost.values()
    note = f"{len(lost)} of {len(units)} points could not be scored ({named}): {reason}"
    return dict.fromkeys(_DERIVED, Value(None, note=note, status="failed"))


def _reached(rubric: Rubric, row: Row, units: Mapping[Unit, Value]) -> dict[str, Value]:
    """The scores that are made of an answer's points."""
    reached = sum((u.weight or 0.0) * (v.value or 0.0) for u, v in units.items())
    possible = _possible(row.item)
    parts = {"reached": reached, "possible": possible}
    score = reached / possible
    if rubric.clip == "each":
        return {POINTS.criterion: Value(min(max(score, 0.0), 1.0), parts)}
    scores = {UNCLIPPED.criterion: Value(score, parts | _counted(score))}
    if rubric.length:
        adjusted = rubric.length.adjusted(score, _answer(rubric, row))
        scores[ADJUSTED.criterion] = Value(adjusted, _counted(adjusted))
    return scores


def _answer(rubric: Rubric, row: Row) -> str:
    """What the judge is given of an answer: its final part, or all of it where the rubric keeps thinking."""
    return (row.response.text or "") if rubric.reasoning == "keep" else row.response.parts.final


def _counted(score: float) -> dict[str, float]:
    """The counts that a clipped mean is made of."""
    return {"score": score, "answers": 1.0}


def _possible(item: Item) -> float:
    """The weights of all points that can be reached."""
    possible = sum(u.weight for u in item.rubric if u.weight and u.weight > 0)
    if not possible:
        raise MetricError(f"{item.benchmark}, item {item.name!r}: no point of its rubric weighs more than 0.")
    return possible


def _units(
    item: Item, met: str, results: Sequence[tuple[Ask, CallResult[Any]]]
) -> Iterator[tuple[Unit, Value]]:
    for unit, (_, result) in zip(item.rubric, results, strict=True):
        yield unit, _failed(result) if result.value is None else Value(result.value[met])


def _placed(rubric: Rubric, result: CallResult[Any], k: int, n: int) -> dict[str, Value]:
    """The value of the answer shown at place `k` of `n`: the share of the others it beats, or its rank."""
    if result.value is None:
        return {c.criterion: _failed(result) for c in rubric.columns}
    value = float(result.value[k])
    ahead = value if rubric.kind == "pairwise" else (n - value) / (n - 1)
    return {c.criterion: Value(value if c.pool == "rank" else ahead) for c in rubric.columns}


@metric("jury")
class Jury(Metric):
    """Judges together: `jury(of=[judge(rubric=medgpt, model=A), judge(rubric=medgpt, model=B)])`.

    `rule` makes one score of an answer's: their mean, median, the one that more than half gave (majority) or
    the worst. A judge's passes are averaged first. With fewer than `quorum` scores (null: all) the jury's has
    failed, as has a majority that there is not. `viva score` lets every judge score; consensus is computed.
    """

    of: tuple[Spec, ...]
    rule: Literal["mean", "median", "majority", "worst"] = "median"
    quorum: int | None = None

    def __post_init__(self) -> None:
        if len(self.of) < 2:
            raise ValueError("of takes two judges or more")
        if len({signature(judge) for judge in self.judges}) < len(self.of):
            raise ValueError("of names a judge twice; several passes of one are --passes")
        if self.quorum is not None and not 1 <= self.quorum <= len(self.of):
            raise ValueError(f"quorum takes 1 to {len(self.of)}, the number of judges")

    @cached_property
    def judges(self) -> tuple[Metric, ...]:
        """The judges. Raises `SpecError` for what scores nothing here."""
        return tuple(build("metric", spec) for spec in self.of)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those of the first judge; all must have the same."""
        return self.judges[0].criteria

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that all judges score."""
        return tuple(f for f in self.judges[0].formats if all(f in j.formats for j in self.judges))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """None: raises `MetricError`, because a jury's scores are computed from its judges' and not given."""
        raise MetricError(f"{self}: a jury gives no scores of its own; its judges do.")
