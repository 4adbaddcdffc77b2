"""Which cases were drawn for people to label, and with which probability.

A label tells of the cases without one only if the probability that it was drawn is known. Each draw is an
event of the run, so that a merge and a copy carry it.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.store.damage import decoding
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

DRAW_EVENT = "labels drawn"


class LabelDraw(NamedTuple):
    """The draws of the cases that have labels of one metric.

    `metric` is the canonical spec of the labels. `probabilities` gives by item the probability, above 0 and
    at most 1, that its whole case is labelled: in total over all draws so far. `items` are those whose
    case was drawn. `source` names what drew them: "panel" or "import".
    """

    metric: str
    probabilities: Mapping[ItemKey, float]
    items: frozenset[ItemKey]
    source: str


def put_label_draw(db: sqlite3.Connection, draw: LabelDraw) -> None:
    """Store a draw of labels; one that the run holds already changes nothing.

    Raises `ValueError` for a probability that is not above 0 and at most 1, or an item drawn without one.
    """
    for item, probability in draw.probabilities.items():
        if not 0 < probability <= 1:
            raise ValueError(f"{item} was drawn with probability {probability}, which is not in (0, 1]")
    if undrawn := draw.items - draw.probabilities.keys():
        raise ValueError(f"{min(undrawn)} was drawn and has no probability")
    body = _body(draw)
    if body not in _bodies(db):
        put_event(db, DRAW_EVENT, body)


def _body(draw: LabelDraw) -> dict[str, Any]:
    return {
        "metric": draw.metric,
        "source": draw.source,
        "probabilities": [[*item, draw.probabilities[item]] for item in sorted(draw.probabilities)],
        "drawn": sorted(list(item) for item in draw.items),
    }


def read_label_draws(db: sqlite3.Connection, new: Sequence[LabelDraw] = ()) -> dict[str, LabelDraw]:
    """The draws of labels by metric, all draws of a metric in one; as they will be once `new` are stored.

    A later draw overrides the probabilities of its items; items drawn once stay drawn. `source` names every
    source in the order of the draws.
    """
    draws: dict[str, LabelDraw] = {}
    bodies = _bodies(db)
    for body in [*bodies, *(body for body in map(_body, new) if body not in bodies)]:
        with decoding("the draw of labels"):
            draw = _draw(body)
        earlier = draws.get(draw.metric, LabelDraw(draw.metric, {}, frozenset(), draw.source))
        sources = dict.fromkeys([*earlier.source.split(", "), draw.source])
        draws[draw.metric] = LabelDraw(
            draw.metric,
            {**earlier.probabilities, **draw.probabilities},
            earlier.items | draw.items,
            ", ".join(sources),
        )
    return draws


def _draw(body: Mapping[str, Any]) -> LabelDraw:
    metric, source = body["metric"], body["source"]
    probabilities = {(benchmark, item, variant): p for benchmark, item, variant, p in body["probabilities"]}
    items = frozenset((benchmark, item, variant) for benchmark, item, variant in body["drawn"])
    words = (metric, source, *(word for item in (*probabilities, *items) for word in item))
    if not all(isinstance(word, str) for word in words):
        raise TypeError("names are text")
    if items - probabilities.keys() or not all(0 < p <= 1 for p in probabilities.values()):
        raise ValueError("each item was drawn with a probability")
    return LabelDraw(metric, probabilities, items, source)


def _bodies(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The draws from first to last, each content once.

    A merged run brings its events under new numbers, so time decides. Where two runs hold the same draw, the
    repetition must not override what was drawn in between.
    """
    events = db.execute(
        "SELECT body FROM events WHERE kind = ? GROUP BY body ORDER BY min(made_at), min(event_id)",
        (DRAW_EVENT,),
    )
    return [stored_object(body, "the draw of labels") for (body,) in events]
