"""Whose scale a figure is on: people's or a judge's. No order, sentence or chart joins the two.

A judge may be kinder to one candidate than people are, so a mean by the judge alone and one that people's
scores correct cannot be put in one order.
"""

from collections.abc import Iterable, Mapping
from typing import Any

PEOPLE, JUDGE, LOG = "people", "judge", "log"
CORRECTED = ("prediction_powered", "rogan_gladen")
"""Kinds of estimates that people's scores correct."""
PHRASES = {PEOPLE: "on people's scale", JUDGE: "by the judge alone"}


def scale_of(estimate_kind: str, *, judge_alone: bool) -> str | None:
    """People where their scores correct a judge's, judge where they do not, null for any other metric."""
    if estimate_kind in CORRECTED:
        return PEOPLE
    return JUDGE if judge_alone else None


def scale_of_row(row: Mapping[str, Any]) -> str | None:
    """The scale of a stored row; those of earlier versions do not name it."""
    return scale_of(row.get("estimate_kind") or "scores", judge_alone=bool(row.get("judge_alone")))


def phrase_of(scale: str | None) -> str:
    """`on people's scale`, `by the judge alone`, or nothing for a metric that has one scale."""
    return PHRASES.get(scale or "", "")


def opening_of(scale: str | None) -> str:
    """The words before a claim that say on which scale it is made: `On people's scale, `."""
    phrase = phrase_of(scale)
    return f"{phrase[0].upper()}{phrase[1:]}, " if phrase else ""


def by_scale(rows: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The rows of each scale, in the order in which scales and rows come."""
    parts: dict[str | None, list[Mapping[str, Any]]] = {}
    for row in rows:
        parts.setdefault(scale_of_row(row), []).append(row)
    return list(parts.values())
