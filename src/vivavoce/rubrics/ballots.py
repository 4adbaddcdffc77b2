"""Replies of a judge that compares, or decides on one point: a choice among words, or an order with ties."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from vivavoce.prompts import Unreadable
from vivavoce.rubrics.replies import Pairs, Wanted, named, plain, read_fields, shown

__all__ = ["read_choice", "read_met", "read_order", "read_winner"]

_MET = {word: 1.0 for word in ("met", "yes", "true", "1")} | {
    word: 0.0 for word in ("not_met", "unmet", "no", "false", "0")
}


def read_met(text: str) -> float:
    """1 if the point is met, 0 if it is not. Raises `Unreadable`."""
    return read_choice(text, "met", ("met", "criteria_met", "criterion_met", "point_met"), _MET)


def read_winner(text: str, labels: Sequence[str]) -> tuple[float, ...]:
    """1 and 0 for the two answers in the order shown, 0.5 each for a tie. Raises `Unreadable`."""
    first, second = (label.casefold() for label in labels)
    words = {word: 0.5 for word in ("tie", "a_tie", "tied", "draw", "equal", "both_equal", "equally_good")}
    for word, value in ((first, 1.0), (second, 0.0)):
        words |= {
            said: value for said in (word, f"answer_{word}", f"{word}_is_better", f"answer_{word}_is_better")
        }
    keys = ("winner", "better", "better_answer", "preference", "preferred", "choice", "verdict")
    value = read_choice(text, "winner", keys, words)
    return value, 1.0 - value


def read_choice(text: str, thing: str, keys: Sequence[str], words: Mapping[str, float]) -> float:
    """The value of the one word of `words` that is chosen under one of the `keys`, or alone in the reply."""

    def chosen(_: str, raw: Any) -> float:
        said = f"{raw:g}" if isinstance(raw, float) else json.dumps(raw) if isinstance(raw, bool) else raw
        value = words.get(plain(said[:60])) if isinstance(said, str) else None
        if value is None:
            raise Unreadable(f"{thing} is {shown(raw)}, none of the choices")
        return value

    def whole(said: str) -> float:
        if "\n" in said or plain(said[:60]) not in words:
            raise Unreadable(f"no value for {thing}")
        return chosen(thing, said)

    wanted = Wanted({plain(key): thing for key in keys}, chosen, whole, lambda _: True)
    return read_fields(text, wanted)[thing]


def read_order(text: str, labels: Sequence[str]) -> tuple[float, ...]:
    """The mid-rank of each answer in the order shown: 1 is the best, answers that tie share the mean rank.

    The order is a list of lists, a list, or a line such as `B > A = C`. Raises `Unreadable` unless it names
    every answer once and nothing else.
    """

    def order(_: str, raw: Any) -> tuple[tuple[str, ...], ...]:
        return _checked(_tiers(raw), labels)

    def whole(said: str) -> tuple[tuple[str, ...], ...]:
        if not (said.startswith("[") or ("\n" not in said and ">" in said)):
            raise Unreadable("no value for ranking")
        return order("ranking", said)

    keys = named({"ranking": "ranking", "order": "ranking", "ranks": "ranking", "rank": "ranking"})
    wanted = Wanted(
        keys, order, whole, lambda value: re.match(r"\W*answer\b|\W*[A-Za-z]\b", value) is not None
    )
    tiers = read_fields(text, wanted)["ranking"]
    ranks: dict[str, float] = {}
    for tier in tiers:
        ranks |= dict.fromkeys(tier, len(ranks) + (len(tier) + 1) / 2)
    return tuple(ranks[label] for label in labels)


def _tiers(raw: Any) -> list[list[str]]:
    """Labels in groups, the best first. Raises `Unreadable` for what is no order."""
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise Unreadable(f"ranking is {shown(raw)}, no order") from None
    if isinstance(raw, str):
        return [tier.split("=") for tier in raw.split(">")]
    if isinstance(raw, list) and not isinstance(raw, Pairs) and raw:
        tiers = [entry if isinstance(entry, list) else [entry] for entry in raw]
        if all(isinstance(said, str) for said in chain.from_iterable(tiers)):
            return tiers
    raise Unreadable("ranking is no order of the answers")


def _checked(tiers: list[list[str]], labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    known = {plain(said): label for label in labels for said in (label, f"answer {label}")}
    found: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for tier in filter(None, tiers):
        own = []
        for said in tier:
            label = known.get(plain(said[:40]))
            if label is None:
                raise Unreadable(f"ranking names {shown(said)}, which was not shown")
            if label in seen:
                raise Unreadable(f"ranking names {label} twice")
            seen.add(label)
            own.append(label)
        found.append(tuple(sorted(own)))
    if missing := [label for label in labels if label not in seen]:
        raise Unreadable(f"ranking leaves out {', '.join(missing)}")
    return tuple(found)
