"""Scoring one shard: its part of the items, what the run remembers of it, and what it may ask."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vivavoce.core import registry
from vivavoce.core.errors import InputError, MetricError, SelectionError
from vivavoce.core.records import Finding, Item, ItemKey
from vivavoce.core.shards import Shard, ShardLimits, part_of
from vivavoce.formats import FORMATS, accepts
from vivavoce.metrics import Metric
from vivavoce.models.engine.client import ModelClient
from vivavoce.run import catalogue
from vivavoce.run.client import AskOptions
from vivavoce.run.score.tasks import probe_of
from vivavoce.run.shards.counts import coverage_by_part, parts_of, scores_by_part
from vivavoce.run.shards.limits import limits_rows, limits_sentence, shards_sharing
from vivavoce.run.shards.memory import (
    ShardWork,
    own_shards,
    refuse_other_shard,
    remember_shard,
    remember_whole,
    scored_with_whole,
    shard_works,
)
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.named_scores import signature_in
from vivavoce.store.read import items_by_id
from vivavoce.store.view import View


def shard_options(
    view: View, shard: str | None, limits: ShardLimits, options: AskOptions
) -> tuple[Shard | None, AskOptions]:
    """The shard that a text names, and the options with its part of the limits.

    Raises `InputError` for what is no shard, or not the one that the run is.
    """
    part = Shard.parse(shard) if shard is not None else None
    if part:
        refuse_other_shard(view, part)
    return part, options._replace(shards=shards_sharing(part, limits))


def select_part(view: View, items: str | None, shard: Shard | None) -> set[ItemKey] | None:
    """The items that a benchmark's spec selects, and of these a shard's, which may be none; null for all."""
    selected = select_items(view, items, may_be_none=shard is not None)
    if shard is None:
        return selected
    part = part_of(list(view.fetch(items_by_id).values()), shard)
    keys = {(item.benchmark, item.item, item.variant) for item in part}
    return keys if selected is None else keys & selected


class ScoringMemory:
    """What a run is to remember of scoring by these metrics: a shard of its items, or all of them."""

    def __init__(
        self, view: View, metrics: Sequence[Metric], shard: Shard | None, *, passes: int, items: str | None
    ) -> None:
        self._view, self._metrics, self._shard, self._passes, self._items = (
            view,
            metrics,
            shard,
            passes,
            items,
        )
        self._begun: list[ShardWork] = []

    def begin(self) -> None:
        """Store that a shard is about to be scored, and count what there is to score, before more comes.

        Without a shard those that were joined in the run are scored, as far as their jobs are the same.
        """
        with self._view.writing(keep_state=True) as db:
            earlier = shard_works(db)
            if self._shard is None and not earlier:
                return
            items = items_by_id(db)
            for metric in self._metrics:
                self._begun += self._parts_to_score(db, metric, earlier, items)
            for work in self._begun if self._shard else ():
                remember_shard(db, work)

    def end(self) -> None:
        """Store that scoring came to its end, on what there was when it began."""
        if not self._begun:
            return
        with self._view.writing(keep_state=True) as db:
            items = items_by_id(db)
            by_job: dict[str, list[ShardWork]] = {}
            for work in self._begun:
                by_job.setdefault(work.key, []).append(work)
            for works in by_job.values():
                scores = scores_by_part(db, works[0].job, parts_of(items, works[0].shard.of))
                done = [_with_scores(work, scores) for work in works]
                if self._shard is None:
                    remember_whole(db, done)
                else:
                    remember_shard(db, *done)

    def _parts_to_score(
        self,
        db: sqlite3.Connection,
        metric: Metric,
        earlier: Sequence[ShardWork],
        items: Mapping[int, Item],
    ) -> Iterator[ShardWork]:
        """The parts that scoring by a metric is to bring to their end, with what there is to score."""
        job = {
            "metric": str(metric),
            "signature": signature_in(self._view, metric),
            "passes": self._passes if metric.rater else 1,
            "items": self._items,
        }
        formats = [name for name in FORMATS if accepts(metric.formats, name)]
        jobs: dict[str, tuple[Mapping[str, object], int]]
        if self._shard:
            jobs = {"": (job, self._shard.of)}
        else:
            jobs = {work.key: (work.job, work.shard.of) for work in earlier if scored_with_whole(work, job)}
        for of_parts, of in jobs.values():
            parts = parts_of(items, of)
            covered = coverage_by_part(db, items, parts, probe_of(metric), formats)
            for number in [self._shard.number] if self._shard else sorted(set(parts.values())):
                shard = Shard(number, of)
                yield ShardWork("score", shard, of_parts, None, done=False, covered=covered.get(number))


def _with_scores(work: ShardWork, scores: Counter[tuple[int, bool]]) -> ShardWork:
    """A part that was scored to its end, with the number of scores that it has."""
    number = work.shard.number
    return work._replace(done=True, expected=scores[number, False] + scores[number, True])


def refuse_unnamed(view: View, metrics: Sequence[str], shard: Shard | None) -> None:
    """Raise `SelectionError` where no metric is named for one shard of an exam, of which the run has no more.

    Which metrics fit depends on all items: those that are not here may lack what one of them needs.
    """
    if shard is None or metrics or not any(work.verb == "collect" for work in own_shards(view)):
        return
    raise SelectionError(
        f"name at least one metric: which fit an exam depends on all of its items, and {view.path} holds "
        f"shard {shard}. `viva merge` joins the shards, and `viva score` then finds those that fit."
    )


def refuse_whole_exam(view: View, metrics: Sequence[Metric]) -> None:
    """Raise `InputError` for a metric that depends on all items, where the run holds a shard of them."""
    collected = [work.shard for work in own_shards(view) if work.verb == "collect"]
    if not collected:
        return
    for metric in metrics:
        if not _divides(view, metric):
            raise InputError(
                f"{metric} depends on all items of an exam, and {view.path} holds shard {collected[0]}: "
                "join the shards with `viva merge`, then score the whole."
            )


def divisible(view: View, metrics: Sequence[str]) -> list[str]:
    """Those of the metrics that score a part of the items as they would score all."""
    return (
        [str(metric) for metric in catalogue.metrics_of(metrics) if _divides(view, metric)] if metrics else []
    )


def _divides(view: View, metric: Metric) -> bool:
    """Whether a metric takes nothing from all items together: it is the same for one item as for all."""
    items = list(view.fetch(items_by_id).values())
    try:
        bound = [registry.signature(metric.bind_settings(part)) for part in (items, items[:1])]
    except MetricError:
        return False
    return bound[0] == bound[1]


def empty_shard(shard: Shard | None, selected: set[ItemKey] | None) -> Finding | None:
    """The finding of a shard in which nothing is to be scored; null for any other."""
    if shard is None or selected:
        return None
    return Finding(study="score", rows=(), text=f"Shard {shard} holds no item: there is nothing to score.")


def with_shard(finding: Finding, shard: Shard | None, client: ModelClient, options: AskOptions) -> Finding:
    """The finding of a shard with what it says of the rest, and of what the shard may ask."""
    if shard is None:
        return finding
    candidates = list(client.candidates.values())
    undivided = [c._replace(shards=1).limits for c in candidates if c.shares_limits]
    sentence = limits_sentence(
        shard,
        limits_rows(candidates),
        options.own_max_cost if candidates else None,
        undivided if options.shards > 1 else (),
    )
    alone = f"These estimates are of shard {shard} alone: `viva merge` joins the shards."
    return replace(finding, notes=(*finding.notes, *filter(None, (sentence, alone))))
