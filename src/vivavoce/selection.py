"""What a user's words select in a run: items, measures and candidates."""

import difflib
from collections.abc import Sequence

from vivavoce import specs
from vivavoce.benchmarks import load
from vivavoce.errors import SelectionError, suggest
from vivavoce.store import RunFile, read

__all__ = ["ItemKey", "candidate_of", "candidates_of", "items_of", "signatures_of"]

ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""


def items_of(run: RunFile, items: str | None) -> "set[ItemKey] | None":
    """The items that a benchmark's spec selects; null for all.

    Raises `SelectionError` if the run holds none of them, or one under another wording.
    """
    if items is None:
        return None
    exam = load(items)
    with run.reading() as db:
        here = {(i.benchmark, i.item, i.variant): i.hash for i in read.stock(db).values()}
    keys = {(i.benchmark, i.item, i.variant): i.hash for i in exam.items}
    name = exam.items[0].benchmark
    if not here.keys() & keys.keys():
        there = ", ".join(sorted({b for b, *_ in here}))
        raise SelectionError(f"--items {items}: this run has no items of {name}; it holds {there}.")
    changed = [key[1] for key in here.keys() & keys.keys() if here[key] != keys[key]]
    if changed:
        raise SelectionError(
            f"--items {items}: {len(changed)} of these items are worded otherwise in this run: "
            f"{min(changed)} …"
        )
    return set(keys)


def signatures_of(run: RunFile, metric: str | None) -> list[str] | None:
    """The signatures that a metric's name, whole or in part, or a signature selects; null for all."""
    if metric is None:
        return None
    with run.reading() as db:
        measures = [keyed.measure for keyed in read.measures(db)]
    if not measures:
        path = run.path
        raise SelectionError(
            f"nothing has been marked in this run yet: `viva score {path} METRIC` does that."
        )
    if metric in {m.signature for m in measures}:
        return [metric]
    wholes = {m.metric: specs.signed(m.signature).spec for m in measures}
    found = specs.select(metric, list(wholes), wholes)
    if len(found) != 1:
        names = ", ".join(found or wholes)
        what = "matches several" if found else "matches none"
        near = difflib.get_close_matches(specs.parse(metric).name, {w.name for w in wholes.values()}, n=1)
        hint = f" Did you mean {near[0]!r}?" if near and not found else ""
        raise SelectionError(f"the metric {metric!r} {what} of what this run was marked by: {names}.{hint}")
    chosen = list(dict.fromkeys(m.signature for m in measures if m.metric == found[0]))
    recorded = [mark for mark in chosen if specs.signed(mark).recorded]
    if recorded and len(recorded) < len(chosen):
        raise SelectionError(
            f"{found[0]} was both recorded and run here, and the two are not the same measure: name one by "
            f"its signature, {' or '.join(chosen)}."
        )
    return chosen


def candidates_of(run: RunFile) -> list[str]:
    """The candidates of the run in the order they came. Raises `SelectionError` if nobody has answered."""
    with run.reading() as db:
        known = [candidate.candidate for candidate in read.candidates(db)]
    if not known:
        path = run.path
        raise SelectionError(
            f"{path} holds no answers yet: `viva import {path} answers.jsonl --benchmark SPEC` brings some."
        )
    return known


def candidate_of(name: str, known: Sequence[str]) -> str:
    """A candidate's label: as it stands, or the only one that differs in case alone."""
    if name in known:
        return name
    near = [k for k in known if k.casefold() == name.casefold()]
    if len(near) == 1:
        return near[0]
    raise SelectionError(f"no candidate named {name!r} in this run.{suggest(name, list(known))}")
