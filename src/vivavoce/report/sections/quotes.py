"""Answers in their words, side by side: what a section names, with its texts."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

import polars as pl

from vivavoce.report.section import Quote, SideBySide
from vivavoce.studies.answers import Answers
from vivavoce.studies.score_table import RESPONSE

BEFORE, LONGEST = 120, 700
"""Characters shown before the first difference of two texts, and of a text in all."""
MOST_EDITS = 3


def quoted(groups: Iterable[SideBySide], answers: Answers) -> list[dict[str, Any]]:
    """The groups with the text of each answer, cut around the place where the texts begin to differ.

    A text is null where there is no such answer, and empty where it is blank.
    """
    groups = list(groups)
    if not groups:
        return []
    items = {(q.benchmark, q.item, q.variant) for group in groups for q in group.quotes}
    table = pl.DataFrame(sorted(items), schema=["benchmark", "item", "variant"], orient="row")
    of_items = answers(*RESPONSE, "edit", "final", items=table)
    texts: dict[tuple[Any, ...], dict[int, dict[str, str | None]]] = {}
    for *answer, repeat, edit, text in of_items.sort(*RESPONSE, "edit").iter_rows():
        texts.setdefault(tuple(answer), {}).setdefault(repeat, {})[edit] = text
    return [{"title": group.title, "quotes": _cut(list(_with_edits(group, texts)))} for group in groups]


def _with_edits(
    group: SideBySide, texts: Mapping[tuple[Any, ...], Mapping[int, Mapping[str, str | None]]]
) -> Iterator[dict[str, Any]]:
    for quote in group.quotes:
        by_edit = _of_repeat(quote, texts.get(quote[1:5], {}))
        yield {"caption": quote.caption, "text": by_edit.get(quote.edit)}
        other_edits = [edit for edit in by_edit if edit not in ("", quote.edit)] if group.edits else []
        # A neutralised text says most; of controls there are many.
        for edit in sorted(other_edits, key=lambda edit: (edit.startswith("control:"), edit))[:MOST_EDITS]:
            yield {"caption": f"{quote.candidate}, {edit}", "text": by_edit[edit]}


def _of_repeat(quote: Quote, by_repeat: Mapping[int, Mapping[str, str | None]]) -> Mapping[str, str | None]:
    """The texts of a repeat by edit: the one named, or the first."""
    repeat = min(by_repeat, default=None) if quote.repeat is None else quote.repeat
    return {} if repeat is None else by_repeat.get(repeat, {})


def _cut(quotes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The quotes with texts of one line, all from the same place on."""
    flat = [None if q["text"] is None else " ".join(q["text"].split()) for q in quotes]
    texts = [text for text in flat if text]
    alike = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    shared = sum(1 for _ in alike) if len(texts) > 1 else 0
    start = max(0, shared - BEFORE) if max(map(len, texts), default=0) > LONGEST else 0
    return [q | {"text": _excerpt(text, start)} for q, text in zip(quotes, flat, strict=True)]


def _excerpt(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    part = text[start : start + LONGEST]
    return f"{'… ' if start and part else ''}{part}{' …' if len(text) > start + LONGEST else ''}"
