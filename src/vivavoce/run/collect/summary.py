"""What a collect is about to do and may cost, and what it did: in rows and sentences."""

import math
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from vivavoce.core.cases import CaseCount, cases_of
from vivavoce.core.exclusions import exclusion_facts
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Item
from vivavoce.core.text import causes_said
from vivavoce.models.candidates import CandidateConfig
from vivavoce.run.collect import Collected, ModelFacts
from vivavoce.run.collect.loglikelihood import max_calls, pending_tasks
from vivavoce.run.collect.plan import CollectPlan, pending_repeats
from vivavoce.stats import effective_groups, mde
from vivavoce.store.asked import open_answers
from vivavoce.store.forgotten import unaskable
from vivavoce.store.runfile import RunFile

DISCORDANCE = (0.2, 0.5)
"""Shares of groups on which two candidates may differ, for which a plan gives the detectable difference."""


class CostEstimate(NamedTuple):
    """What a collect is about to do for one candidate: requests to make, and what they may cost.

    Tokens are characters / 4, which is rough; `output_tokens` is the most that `max_tokens` allows, null
    without that; `cost` is null without a price or a limit. For log-probabilities `calls` is an upper bound,
    `answered` counts items, and tokens are null: they depend on what the model will say.
    """

    candidate: str
    calls: int
    answered: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


def estimate_cost(run: RunFile, plan: CollectPlan) -> tuple[CostEstimate, ...]:
    """What a collect of this plan would ask and may cost, candidate by candidate."""
    estimate = _logprobs_cost if plan.tasks else _generation_cost
    with open_answers(run) as db:
        return tuple(estimate(db, plan, candidate) for candidate in plan.candidates)


def _generation_cost(
    db: sqlite3.Connection | None, plan: CollectPlan, candidate: CandidateConfig
) -> CostEstimate:
    n_pending = characters = 0
    for item, repeat in pending_repeats(db, plan, candidate):
        n_pending += 1
        characters += plan.requests.request(item, candidate, repeat).characters
    input_tokens = characters // 4
    limit, rates = candidate.sampling.max_tokens, candidate.price
    output_tokens = None if limit is None else limit * n_pending
    cost = None
    if not candidate.metered:
        cost = 0.0
    elif rates is not None and output_tokens is not None:
        cost = (input_tokens * rates[0] + output_tokens * rates[1]) / 1e6
    n_answered = _n_askable(db, plan.items) * plan.repeats - n_pending
    return CostEstimate(str(candidate.spec), n_pending, n_answered, input_tokens, output_tokens, cost)


def _n_askable(db: sqlite3.Connection | None, items: Sequence[Item]) -> int:
    """How many of these questions were not forgotten, nor a turn before them."""
    gone = unaskable(db) if db is not None else set()
    return sum((i.benchmark, i.item, i.variant) not in gone for i in items) if gone else len(items)


def _logprobs_cost(
    db: sqlite3.Connection | None, plan: CollectPlan, candidate: CandidateConfig
) -> CostEstimate:
    n_pending = sum(1 for _ in pending_tasks(db, plan, candidate))
    n_answered = sum(_n_askable(db, task.items) for task in plan.tasks) - n_pending
    calls = max_calls(db, plan, candidate, candidate.branching)
    cost = 0.0 if not candidate.metered else None
    return CostEstimate(str(candidate.spec), calls, n_answered, None, None, cost)


def planned(
    plan: CollectPlan, estimates: Sequence[CostEstimate], counted: CaseCount, notes: Sequence[str] = ()
) -> Finding:
    """A row per candidate, and what difference this benchmark could detect between two of them.

    `counted` are the cases of the plan's items, `notes` sentences on those that are not asked.

    The detectable difference is of a measure of 0 and 1, two candidates that are equally good and differ on
    20 % or 50 % of the groups: (t(.975) + t(.80)) * sqrt(share / G), 95 % for one pair, with 80 % power.
    Repeats do not lower it: the groups are the sample.
    """
    excluded = plan.benchmark.exclusion_counts
    lines = [_requests_sentence(plan, estimates, counted.cases)]
    lines += filter(None, [counted.text, getattr(excluded, "text", ""), *notes])
    lines.append(_cost_sentence(estimates, logprobs=bool(plan.tasks)))
    if not plan.tasks:
        effective = effective_groups(cases_of(plan.exam or plan.items).labels)
        differences = [(share, mde(math.sqrt(share / effective), df=effective - 1)) for share in DISCORDANCE]
        lines.append(_detectable(differences))
    facts = exclusion_facts(excluded)
    rows = tuple({**estimate._asdict(), **facts} for estimate in estimates)
    return Finding(study="collect", rows=rows, text="\n".join(lines))


def _requests_sentence(plan: CollectPlan, estimates: Sequence[CostEstimate], n_cases: int) -> str:
    """How many requests there are, about what, to how many candidates."""
    calls = sum(estimate.calls for estimate in estimates)
    candidates = f"{len(estimates)} {'candidate' if len(estimates) == 1 else 'candidates'}"
    if plan.tasks:
        tasks = "; ".join(f"{task.probe.name} of {len(task.items):,} questions" for task in plan.tasks)
        return f"{calls:,} requests at most for probabilities, {candidates}: {tasks}."
    return (
        f"{calls:,} requests: {len(plan.items):,} questions in {n_cases:,} cases, {plan.repeats} "
        f"{'time' if plan.repeats == 1 else 'times'} each, {candidates}."
    )


def _cost_sentence(estimates: Sequence[CostEstimate], *, logprobs: bool) -> str:
    unpriced = [estimate.candidate for estimate in estimates if estimate.cost is None]
    if not unpriced:
        return f"It costs at most {sum(e.cost for e in estimates if e.cost is not None):.2f}."
    if logprobs:
        reason = "what is sent hangs on what the model says."
    else:
        reason = "it takes a price in a --providers file and --max-tokens."
    return f"The price is not known of {', '.join(unpriced)}: {reason}"


def _detectable(differences: Sequence[tuple[float, float | None]]) -> str:
    """What difference could be detected, by the share of groups on which two candidates differ."""
    if any(d is None for _, d in differences):
        return "One case detects no difference."
    # Two accuracies are never further apart than 1.
    within = [
        f"{printed(d)} if they differ on {printed(share, '.0%')} of the cases"
        for share, d in differences
        if d and d <= 1
    ]
    if not within:
        return "Between two candidates it could detect no difference in accuracy short of everything."
    beyond = [
        f", none short of everything if on {printed(share, '.0%')}" for share, d in differences if d and d > 1
    ]
    return (
        f"Between two candidates it could detect a difference in accuracy of {' or '.join(within)}"
        f"{''.join(beyond)}."
    )


def done(collected: Collected, path: str, counted: CaseCount) -> Finding:
    """One row, and what remains. For log-probabilities `answered` and `failed` count items.

    `cost` is null where a reply has no token counts; `cost_estimate` counts it by its characters, as
    `--max-cost` does. `counted` are the cases of the items.
    """
    tally, outcome = collected.tally, collected.outcome
    causes = tally.causes if outcome is None else outcome.failed
    failed = tally.failed if outcome is None else sum(outcome.failed.values())
    row: dict[str, Any] = {
        "answered": tally.answered if outcome is None else outcome.recorded,
        "failed": failed,
        "left": collected.n_left,
        "shared": tally.shared,
        "retries": tally.retries,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
        "cost": None if tally.unpriced else tally.cost,
        "cost_estimate": tally.cost + tally.guessed,
        "interrupted": tally.interrupted,
        "stopped": tally.stopped,
        "cut_prompts": {model: cuts.n for model, cuts in tally.cut_prompts.items()},
        "look": collected.look,
        "causes": dict(causes.most_common()),
        "sent": tally.traffic.rows,
        **counted.facts,
        **exclusion_facts(collected.exclusions),
    }
    if outcome is not None:
        row["calls"] = tally.done
    if not tally.done and not collected.n_left and not failed:
        lines = ["Everything was answered already; nobody was asked.", *filter(None, [counted.text])]
        return Finding(study="collect", rows=(row,), text="\n".join(lines))
    lines = [_answered_sentence(collected)]
    if failed:
        first = f" The first: {', '.join(outcome.names[:3])}." if outcome else ""
        lines.append(f"{failed:,} failed: {causes_said(causes)}.{first}")
    lines += [*filter(None, [counted.text]), *_remarks(collected)]
    if tally.done and (failed or collected.n_left):
        lines.append(f"What came is stored in {path}; rerun the command to resume.")
    if collected.look:
        lines.append("Results of this run had been seen before: these answers are recorded as a look at it.")
    return Finding(study="collect", rows=(row,), text="\n".join(lines))


def _answered_sentence(collected: Collected) -> str:
    tally, outcome = collected.tally, collected.outcome
    spent = "" if tally.unpriced or not tally.cost else f", {tally.cost:.2f} spent"
    if outcome is None:
        return f"{tally.answered:,} answers came{spent}."
    shared = f", {tally.shared:,} of them shared or known before" if tally.shared else ""
    return f"Probabilities came for {outcome.recorded:,} questions ({tally.done:,} calls{shared}){spent}."


def _remarks(collected: Collected) -> list[str]:
    """Sentences about what was cut, could not be scored, was not asked, remains, or was slow."""
    tally, outcome = collected.tally, collected.outcome
    lines = []
    if cut := tally.cut if outcome is None else outcome.cut:
        lines.append(f"{cut:,} question{'s were' if cut > 1 else ' was'} cut to fit the model's context.")
    lines += [cuts.sentence(model) for model, cuts in tally.cut_prompts.items()]
    for metric in collected.inapplicable:
        lines.append(f"{metric} scores none of these {len(collected.items)} questions.")
    for model, cause in tally.stopped.items():
        lines.append(f"{model} was not asked everything: {cause.rstrip('.')}.")
    if collected.n_left:
        interrupted = "Interrupted: " if tally.interrupted else ""
        lines.append(f"{interrupted}{collected.n_left:,} are left.")
    return [*lines, *_local_remarks(collected.models)]


def _local_remarks(models: ModelFacts) -> list[str]:
    """Sentences about GPUs that local models ran without, and those that ran slowly."""
    lines = []
    for name, facts in models.items():
        for label, cause in facts.get("lost", {}).items():
            lines.append(f"{name} ran without {label}: {cause.rstrip('.')}.")
        if facts.get("way") == "naive":
            lines.append(f"{name} gives likelihoods one sequence at a time: {facts['why']}.")
    return lines
