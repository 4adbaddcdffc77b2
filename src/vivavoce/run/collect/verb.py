"""`viva collect`: a plan is asked, or counted, whole or one shard of it, and a finding comes back."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from vivavoce.core.cases import NearDuplicates
from vivavoce.core.item_files import items_where
from vivavoce.core.records import Finding
from vivavoce.core.shards import Shard, ShardLimits, exam_digest, part_of
from vivavoce.language.near_repeats import count_with_near
from vivavoce.models.candidates import on_gpus
from vivavoce.models.engine.egress import Privacy
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.gpus import Gpus, parse_gpus
from vivavoce.run.collect import HearsRemarks, check_hosts, check_limits, check_stored, collect
from vivavoce.run.collect.plan import CollectPlan
from vivavoce.run.collect.summary import CostEstimate, done, estimate_cost, planned
from vivavoce.run.shards.limits import (
    limits_rows,
    limits_sentence,
    shard_cost,
    shards_sharing,
)
from vivavoce.run.shards.memory import (
    ShardWork,
    refuse_items_outside,
    refuse_other_shard,
    refuse_whole,
    remember_shard,
)
from vivavoce.run.tables.stored_benchmarks import forgotten_sentences
from vivavoce.store.asked import known_items
from vivavoce.store.cases import check_choice, choose_near_duplicates, near_duplicates_choice
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View, view_of, with_view


def collect_run(
    run: RunFile,
    plan: CollectPlan,
    *,
    shard: str | None,
    limits: ShardLimits,
    dry_run: bool,
    privacy: Privacy,
    max_cost: float | None,
    timeout_total: float,
    progress: Callable[[UsageCounter, int], None] | None,
    gpus: Gpus = None,
    near_duplicates: NearDuplicates | None = None,
) -> Finding:
    """Ask what the plan says, or one shard of it, or count what would be asked.

    Raises `InputError` for a shard that this run is not, for all of a benchmark that it is a shard of, for
    `gpus` that no model can use, and for limits that are none: a dry run too, though it needs none of them.
    """
    check_limits(plan, max_cost, timeout_total)
    check_choice(near_duplicates)
    if dry_run:
        run.check_folder()
    benchmark, part = plan.items[0].benchmark, Shard.parse(shard) if shard is not None else None
    n_sharing = shards_sharing(part, limits)
    plan = plan._replace(candidates=on_gpus(plan.candidates, parse_gpus(gpus)))
    ask = partial(
        _collected, run, dry_run=dry_run, privacy=privacy, timeout_total=timeout_total, progress=progress,
        chosen=near_duplicates,
    )  # fmt: skip
    if part is None:
        with view_of(run) as view:
            refuse_whole(view, benchmark)
            choice = _choice(view, near_duplicates)
        return ask(plan, max_cost=max_cost, choice=choice)
    shard_plan = divide(plan, part, n_sharing)
    with view_of(run) as view:
        choice = _choice(view, near_duplicates)
        refuse_other_shard(view, part)
        refuse_items_outside(view, list(known_items(run, benchmark)), shard_plan.items, part)
    max_cost = shard_cost(max_cost, n_sharing)
    sentence = _limits_sentence(shard_plan, part, n_sharing, max_cost)
    if sentence and not dry_run and isinstance(progress, HearsRemarks):
        progress.remark(sentence)
    if shard_plan.items:
        finding = ask(shard_plan, max_cost=max_cost, choice=choice)
    else:
        finding = _empty(run, shard_plan, dry_run=dry_run)
    return _with_shard(finding, shard_plan, part, sentence)


def _limits_sentence(plan: CollectPlan, shard: Shard, n_sharing: int, max_cost: float | None) -> str:
    undivided = [c._replace(shards=1).limits for c in plan.candidates if c.shares_limits]
    rows = limits_rows(plan.candidates)
    return limits_sentence(shard, rows, max_cost, undivided if n_sharing > 1 else ())


def _with_shard(finding: Finding, plan: CollectPlan, shard: Shard, sentence: str) -> Finding:
    """The finding with the shard and what it may do."""
    limits = limits_rows(plan.candidates)
    rows = tuple({**row, "shard": str(shard), "limits": limits} for row in finding.rows)
    counted = f"Shard {shard}: {len(plan.items):,} of {len(plan.exam):,} questions."
    return replace(finding, rows=rows, text="\n".join(filter(None, [counted, finding.text, sentence])))


def _collected(
    run: RunFile,
    plan: CollectPlan,
    *,
    dry_run: bool,
    privacy: Privacy,
    max_cost: float | None,
    timeout_total: float,
    progress: Callable[[UsageCounter, int], None] | None,
    choice: NearDuplicates,
    chosen: NearDuplicates | None,
) -> Finding:
    """What was collected, or would be; `chosen` is kept in the run, and by `choice` its cases are counted."""
    if dry_run:
        check_hosts(plan, privacy)
        check_stored(run, plan)
        return planned(
            plan,
            estimate_cost(run, plan),
            count_with_near(plan.items, choice, plan.benchmark.card.group_levels),
            with_view(run, forgotten_sentences, plan.items[0].benchmark),
        )
    collected = collect(
        run, plan, privacy=privacy, max_cost=max_cost, timeout_total=timeout_total, progress=progress
    )
    if chosen is not None:
        with run.writing() as db:
            choose_near_duplicates(db, chosen)
    return done(
        collected,
        str(run.path),
        count_with_near(collected.items, choice, plan.benchmark.card.group_levels),
    )


def _choice(view: View, chosen: NearDuplicates | None) -> NearDuplicates:
    return chosen or (near_duplicates_choice(view.db) if view.exists else "count")


def divide(plan: CollectPlan, shard: Shard, shards: int) -> CollectPlan:
    """The plan of one shard; its candidates keep their part of limits that so many shards share."""
    items = part_of(plan.items, shard)
    inside = {(item.item, item.variant) for item in items}
    tasks = tuple(
        task._replace(items=items_where(task.items, lambda i: (i.item, i.variant) in inside))
        for task in plan.tasks
    )
    expected = sum(len(task.items) for task in tasks) if tasks else len(items) * plan.repeats
    derived = sum(item.origin is not None for item in items)
    work = ShardWork(
        "collect", shard, _job(plan), expected * len(plan.candidates), done=False, derived=derived
    )
    candidates = tuple(c._replace(shards=shards) for c in plan.candidates)
    return plan._replace(items=items, tasks=tasks, candidates=candidates, exam=plan.items, shard=work)


def _job(plan: CollectPlan) -> Mapping[str, Any]:
    """What the shards of one collect have in common: the exam, the candidates and what they are asked."""
    settings = {
        key: value for key, value in plan.settings.items() if key not in ("benchmark", "preset", "note")
    }
    return {
        "benchmark": plan.items[0].benchmark,
        "exam": exam_digest(plan.items),
        **settings,
        "prompts": _prompt_digest(plan),
    }


def _prompt_digest(plan: CollectPlan) -> str:
    """A digest of what candidates are asked about one item: prompts, system messages, examples."""
    first = min(plan.items, key=lambda item: (item.origin is not None, item.item, item.variant))
    messages: list[Sequence[Any]] = [
        (str(c.spec), *((m.role, m.content) for m in plan.requests.messages(first, c.settings)))
        for c in plan.candidates
    ]
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]


def _empty(run: RunFile, plan: CollectPlan, *, dry_run: bool) -> Finding:
    """The finding of a shard without an item, which the run remembers, so that nobody looks for it."""
    if dry_run:
        rows = [CostEstimate(str(c.spec), 0, 0, 0, 0, 0.0)._asdict() for c in plan.candidates]
        return Finding(study="collect", rows=tuple(rows), text="0 requests.")
    if plan.shard:
        with run.writing() as db:
            remember_shard(db, plan.shard)
    counter = UsageCounter()
    row = {
        **{"answered": 0, "failed": 0, "left": 0, "shared": 0, "retries": 0},
        **{
            "input_tokens": 0,
            "output_tokens": 0,
            "cost": 0.0,
            "cost_estimate": 0.0,
            "interrupted": False,
            "stopped": {},
        },
        **{
            "look": False,
            "causes": {},
            "sent": counter.traffic.rows,
            "questions": 0,
            "repeated": 0,
            "cases": 0,
            "near_repeated": 0,
            "near_joined": False,
        },
    }
    return Finding(study="collect", rows=(row,), text="There is nothing to ask.")
