"""What a collect is about to do, and what it did, in rows and sentences."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.records import Finding
from vivavoce.stats import mde
from vivavoce.text import causes_said

if TYPE_CHECKING:
    from vivavoce.collect import Collected, Order, Plan

__all__ = ["done", "planned"]

DISAGREEING = (0.2, 0.5)
"""Shares of cases on which two candidates may differ, of which a plan tells what could be detected."""


def planned(wanted: "Order", plans: Sequence["Plan"]) -> Finding:
    """A row per candidate, and what difference this exam could detect between two of them.

    The detectable difference is of a measure of 0 and 1, two candidates that are equally good and differ on
    20 % or 50 % of the cases: (t(.975) + t(.80)) * sqrt(share / G), 95 % for one pair, found four times in
    five. Repeats do not lower it: the cases are the sample.
    """
    cases = len({item.group for item in wanted.items})
    calls, costs = sum(p.calls for p in plans), [p.cost for p in plans]
    candidates = f"{len(plans)} {'candidate' if len(plans) == 1 else 'candidates'}"
    if wanted.probes:
        asked = "; ".join(f"{i.probe.name} of {len(i.items):,} questions" for i in wanted.probes)
        lines = [f"{calls:,} requests at most for probabilities, {candidates}: {asked}."]
    else:
        lines = [
            f"{calls:,} requests: {len(wanted.items):,} questions in {cases:,} cases, {wanted.repeats} "
            f"{'time' if wanted.repeats == 1 else 'times'} each, {candidates}."
        ]
    unknown = [p.candidate for p in plans if p.cost is None]
    if unknown:
        lines.append(
            f"The price is not known of {', '.join(unknown)}: "
            + (
                "what is sent hangs on what the model says."
                if wanted.probes
                else "it takes a price in a --providers file and --max-tokens."
            )
        )
    else:
        lines.append(f"It costs at most {sum(c for c in costs if c is not None):.2f}.")
    if wanted.probes:
        return Finding(study="collect", rows=tuple(p._asdict() for p in plans), text="\n".join(lines))
    found = [(share, mde(math.sqrt(share / cases), cases)) for share in DISAGREEING]
    lines.append(_detectable(found))
    return Finding(study="collect", rows=tuple(p._asdict() for p in plans), text="\n".join(lines))


def _detectable(found: Sequence[tuple[float, float | None]]) -> str:
    """What difference could be detected, by the share of cases on which two differ."""
    if any(d is None for _, d in found):
        return "One case detects no difference."
    said = [f"{d:.2f} if they differ on {share:.0%} of the cases" for share, d in found if d and d <= 1]
    if not said:  # two accuracies are never further apart than 1
        return "Between two candidates it could detect no difference in accuracy short of everything."
    over = [f", none short of everything if on {share:.0%}" for share, d in found if d and d > 1]
    return (
        f"Between two candidates it could detect a difference in accuracy of {' or '.join(said)}"
        f"{''.join(over)}."
    )


def done(found: "Collected", path: str) -> Finding:
    """One row, and what is left to do. Of probes `answered` and `failed` count questions."""
    tally, look, told = found.tally, found.look, found.outcome
    causes = tally.causes if told is None else told.failed
    failed = tally.failed if told is None else sum(told.failed.values())
    row: dict[str, Any] = {
        "answered": tally.answered if told is None else told.told,
        "failed": failed,
        "left": tally.left,
        "shared": tally.shared,
        "retries": tally.retries,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
        "cost": None if tally.unpriced else tally.cost,
        "interrupted": tally.interrupted,
        "stopped": tally.stopped,
        "look": look,
        "causes": dict(causes.most_common()),
        "sent": [
            {"endpoint": e, "requests": n, "characters": tally.traffic.characters[e]}
            for e, n in tally.traffic.requests.items()
        ],
    } | ({} if told is None else {"calls": tally.done})
    if not tally.done and not tally.left and not failed:
        return Finding(
            study="collect", rows=(row,), text="Everything was answered already; nobody was asked."
        )
    spent = "" if tally.unpriced or not tally.cost else f", {tally.cost:.2f} spent"
    if told is None:
        lines = [f"{tally.answered:,} answers came{spent}."]
    else:
        known = f", {tally.shared:,} of them shared or known before" if tally.shared else ""
        lines = [f"Probabilities came for {told.told:,} questions ({tally.done:,} calls{known}){spent}."]
    if failed:
        first = f" The first: {', '.join(told.names[:3])}." if told else ""
        lines.append(f"{failed:,} failed: {causes_said(causes)}.{first}")
    if cut := tally.cut if told is None else told.cut:
        lines.append(f"{cut:,} question{'s were' if cut > 1 else ' was'} cut to fit the model's context.")
    lines += [f"{metric} marks none of these {found.n_items} questions." for metric in found.markless]
    lines += [f"{model} was not asked everything: {why.rstrip('.')}." for model, why in tally.stopped.items()]
    if tally.left:
        why = "Interrupted: " if tally.interrupted else ""
        lines.append(f"{why}{tally.left:,} are left.")
    lines += [
        f"{name} gives likelihoods one sequence at a time: {facts['why']}."
        for name, facts in found.models.items()
        if facts.get("way") == "naive"
    ]
    if tally.done and (failed or tally.left):
        lines.append(f"What came is stored in {path}; the same command goes on from there.")
    if look:
        lines.append("Results of this run had been seen before: these answers are recorded as a look at it.")
    return Finding(study="collect", rows=(row,), text="\n".join(lines))
