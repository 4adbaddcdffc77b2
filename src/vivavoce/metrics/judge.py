"""A judge: a model that marks answers by a rubric.

A rubric is a Markdown file: criteria with their scales and levels, and the prompt. It marks single answers,
points of the item's own rubric, or answers set side by side. A reply that cannot be read is asked for once
more; after that the mark is `failed`, with the reason. Nothing a judge did not say becomes a mark.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any

from vivavoce.ask import Heard
from vivavoce.errors import MetricError
from vivavoce.metrics import Lab
from vivavoce.models import Message, Request, Sampling
from vivavoce.records import Criterion, Item, Row, Unit, Value
from vivavoce.registry import metric
from vivavoce.rubrics import Ask, Rubric, load
from vivavoce.specs import Spec
from vivavoce.text import one_line

PURPOSE = "judge"
POINTS = Criterion(criterion="score")
"""Of an item's own rubric: the points reached, over those that could be."""


@metric("judge")
class Judge:
    """A model's marks by a rubric: `judge(rubric=medgpt, model=openai/gpt-4o)`.

    `rubric` is a shipped one (medgpt, medgpt_free, prometheus, correctness, healthbench, pairwise, listwise)
    or a .md file. `model` is asked with this `temperature` and so many `max_tokens`, null leaving it to the
    endpoint; settings in the model's own spec go before. `structured` asks for JSON by a schema where the
    endpoint takes one. Answers set side by side are shown in `orders_shown` orders: 2 are a pair's both, or a
    shuffle of several and its reverse. Equal answers to a question are one call in each pass.
    """

    rubric: str
    model: str | Spec
    temperature: float | None = 0.0
    max_tokens: int | None = None
    structured: bool = True
    orders_shown: int = 2

    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ()

    def __post_init__(self) -> None:
        if self.orders_shown < 1:
            raise ValueError("orders_shown takes 1 or more")
        # A rubric that cannot be used is said before anybody is asked.
        if self.sheet.kind == "points" and self.sheet.columns[0].criterion == POINTS.criterion:
            raise ValueError(f"the criterion of points must have another name than {POINTS.criterion!r}")

    @cached_property
    def sheet(self) -> Rubric:
        """The rubric, read once."""
        return load(self.rubric)

    @property
    def rater(self) -> str:
        """The model that marks."""
        return str(self.model)

    @property
    def hashed(self) -> tuple[Path, ...]:
        """The rubric's file."""
        return (self.sheet.path,)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The rubric's, and of an item's points their share."""
        points = (POINTS,) if self.sheet.kind == "points" else ()
        return (*points, *self.sheet.columns)

    @property
    def side_by_side(self) -> bool:
        """Whether answers are compared, and not marked one by one."""
        return self.sheet.kind in ("pairwise", "listwise")

    def marks(self, item: Item) -> bool:
        """Whether the item has what the rubric shows the judge."""
        return self.sheet.marks(item)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        """The judge's marks of each answer, failed ones with the reason.

        By points: of each point whether it is met, and their `score`, the weights of the points met over the
        sum of those above 0, kept inside 0 to 1; `parts` hold both.
        """
        rubric = self.sheet
        if rubric.kind == "points":
            for row in rows:
                _possible(row.item)  # said before anybody is asked
        asks = [rubric.requests(row.item, row.response.text or "") for row in rows]
        heard = self._heard(lab, rubric, [ask for several in asks for ask in several])
        found = iter(heard)
        said = [[(ask, next(found)) for ask in several] for several in asks]
        if rubric.kind == "points":
            (met,) = rubric.columns
            return [_points(row.item, met.criterion, told) for row, told in zip(rows, said, strict=True)]
        return [_marks(rubric, told) for told in said]

    def orders(self, candidates: Sequence[str], place: str) -> Sequence[tuple[str, ...]]:
        """Every pair in both orders, or one drawn; or so many shuffles of all, each second one reversed."""
        if len(candidates) < 2:
            return ()
        if self.sheet.kind == "pairwise":
            return [order for pair in combinations(candidates, 2) for order in self._shown(pair, place)]
        return self._shown(candidates, place)

    def _shown(self, candidates: Sequence[str], place: str) -> list[tuple[str, ...]]:
        """The orders in which these stand on ballots."""
        rng = random.Random("|".join((place, *candidates)))
        made: list[tuple[str, ...]] = []
        for k in range(self.orders_shown):
            shuffled = tuple(rng.sample(list(candidates), len(candidates)))
            made.append(made[-1][::-1] if k % 2 else shuffled)
        return list(dict.fromkeys(made))

    def compare(self, ballots: Sequence[Sequence[Row]], lab: Lab) -> Sequence[Sequence[Mapping[str, Value]]]:
        """For each ballot, and each answer on it, its value by every criterion."""
        rubric = self.sheet
        asks = [rubric.contest(b[0].item, [row.response.text or "" for row in b]) for b in ballots]
        return [
            [_placed(rubric, heard, k, len(ballot)) for k in range(len(ballot))]
            for ballot, heard in zip(ballots, self._heard(lab, rubric, asks), strict=True)
        ]

    def _heard(self, lab: Lab, rubric: Rubric, asks: Sequence[Ask]) -> list[Heard[Any]]:
        def request(messages: Sequence[Message], ask: Ask) -> Request:
            return Request(
                messages=tuple(messages),
                sampling=Sampling(
                    temperature=self.temperature,
                    max_tokens=self.max_tokens,
                    schema=ask.schema if self.structured else None,
                ),
            )

        readers: list[Callable[[str], Any]] = [partial(_read, rubric, ask) for ask in asks]
        return lab.desk.ask(
            self.model,
            [request(ask.messages, ask) for ask in asks],
            readers,
            purpose=PURPOSE,
            repeat=lab.pass_no,
            again=lambda k, reply, why: request(rubric.again(asks[k], reply, why), asks[k]),
        )


def _read(rubric: Rubric, ask: Ask, text: str) -> Any:
    return rubric.read(text, ask)


def _failed(heard: Heard[Any]) -> Value:
    return Value(None, note=heard.reason, status="failed")


def _marks(rubric: Rubric, told: Sequence[tuple[Ask, Heard[Any]]]) -> dict[str, Value]:
    """Every criterion's value, or why its call gave none."""
    found: dict[str, Value] = {}
    for ask, heard in told:
        if heard.value is not None:
            found |= {name: Value(value) for name, value in heard.value.items()}
        else:
            found |= {c.name: _failed(heard) for c in rubric.criteria if {c.name, c.of} & set(ask.criteria)}
    return found


def _points(item: Item, met: str, told: Sequence[tuple[Ask, Heard[Any]]]) -> dict[str, Any]:
    units = dict(_units(item, met, told))
    reached = sum((u.weight or 0.0) * (v.value or 0.0) for u, v in units.items())
    possible = _possible(item)
    lost = {u.unit: v.note for u, v in units.items() if v.status == "failed"}
    if lost:
        named, (why, *_) = one_line(", ".join(lost)), lost.values()
        note = f"{len(lost)} of {len(units)} points could not be marked ({named}): {why}"
        score = Value(None, note=note, status="failed")
    else:
        score = Value(min(max(reached / possible, 0.0), 1.0), {"reached": reached, "possible": possible})
    return {POINTS.criterion: score, met: units}


def _possible(item: Item) -> float:
    """The weights of all points that can be reached."""
    possible = sum(u.weight for u in item.rubric if u.weight and u.weight > 0)
    if not possible:
        raise MetricError(f"{item.benchmark}, item {item.name!r}: no point of its rubric weighs more than 0.")
    return possible


def _units(item: Item, met: str, told: Sequence[tuple[Ask, Heard[Any]]]) -> Iterator[tuple[Unit, Value]]:
    for unit, (_, heard) in zip(item.rubric, told, strict=True):
        yield unit, _failed(heard) if heard.value is None else Value(heard.value[met])


def _placed(rubric: Rubric, heard: Heard[Any], k: int, n: int) -> dict[str, Value]:
    """The value of the answer shown at place `k` of `n`: the share of the others it beats, or its rank."""
    if heard.value is None:
        return {c.criterion: _failed(heard) for c in rubric.columns}
    said = float(heard.value[k])
    ahead = said if rubric.kind == "pairwise" else (n - said) / (n - 1)
    return {c.criterion: Value(said if c.pool == "rank" else ahead) for c in rubric.columns}
