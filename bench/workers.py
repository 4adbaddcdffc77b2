"""Scoring by workers beside plain `concurrent.futures` over the same function, and beside one process.

For `rouge(n=L)`, `meteor` and `cliniqlink`: made-up answers, all different, in batches as `score` makes them.
The plain pool builds the metric once in a process and maps the function that scores a batch of records. The
workers call the same function through `ProcessPool`, with what that adds: the metric is rebuilt and compared,
few shards are on their way, results come in order and as plain tuples. Both start their processes inside the
time. Ratios are of wall time, and of CPU time with children; arms take turns, and beside the median of the
rounds stand the smallest and the largest. Where Ray is installed (extra `ray`), its workers compute the same
batches on all cores; Ray is started before the time begins, and its CPU time is not that of children.

Usage: python bench/workers.py [answers] [rounds] [workers ...]
"""

import os
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from random import Random

from vivavoce.core import registry
from vivavoce.core.records import Item, Response
from vivavoce.metrics import ScoringContext
from vivavoce.models.worker_process import THREADS
from vivavoce.run.score import BATCH, measures_of
from vivavoce.run.score.batch_scores import Batch, batch_scores
from vivavoce.run.score.response_scores import TURNS
from vivavoce.run.score.score_job import ScoreJob
from vivavoce.run.score.tasks import Task
from vivavoce.run.workers.executor import Shard
from vivavoce.run.workers.process_pool import ProcessPool
from vivavoce.run.workers.ray_executor import RayExecutor
from vivavoce.run.workers.worker_count import n_cores
from vivavoce.store.pending import Pending

SPECS = ("rouge(n=L)", "meteor", "cliniqlink(idf=corpus, baseline=0.3)")
ANSWERS_AN_ITEM = 10


def answers(n: int, spec: str) -> tuple[dict[int, Item], list[Pending]]:
    """So many answers, ten to an item; for ClinIQLink to lists of options, which need no encoder."""
    rng = Random(1)
    words = [f"w{k}" for k in range(2000)]
    closed = spec.startswith("cliniqlink")
    items, responses = {}, []
    for k in range(-(-n // ANSWERS_AN_ITEM)):
        options = tuple(" ".join(rng.choices(words, k=4)) for _ in range(8)) if closed else ()
        items[k] = Item(
            benchmark="b", item=f"q{k}", format="list" if closed else "longform", question=f"Question {k}?",
            options=options, answer=options[:3],
            references=() if closed else (" ".join(rng.choices(words, k=60)),),
        )  # fmt: skip
        for c in range(ANSWERS_AN_ITEM):
            text = "\n".join(rng.sample(options, 3)) if closed else " ".join(rng.choices(words, k=100))
            response = Response(benchmark="b", item=f"q{k}", candidate=f"c{c}", text=text)
            responses.append(Pending(len(responses), items[k], response))
    return items, responses[:n]


def task(spec: str, items: dict[int, Item]) -> Task:
    """The task of a metric on these items."""
    metric = registry.build("metric", spec).bind_settings(list(items.values()))
    return Task(metric, items, dict(enumerate(measures_of(metric))))


_plain: dict[str, object] = {}


def start(spec: str, items: dict[int, Item]) -> None:
    """Get a process of the plain pool ready."""
    _plain["task"], _plain["context"] = task(spec, items), ScoringContext(None, items.values())


def scored(batch: Batch):
    """The scores of a batch, in a process of the plain pool."""
    return batch_scores([_plain["task"]], batch, _plain["context"])


def plain(spec: str, items: dict[int, Item], batches: list[Batch], n_workers: int) -> list:
    with ProcessPoolExecutor(n_workers, get_context("spawn"), start, (spec, items)) as pool:
        return [dict(result.scores[0]) for result in pool.map(scored, batches)]


def workers(spec: str, items: dict[int, Item], batches: list[Batch], n_workers: int) -> list:
    job = ScoreJob([task(spec, items)], items, ScoringContext(None, items.values()))
    with ProcessPool(n_workers) as pool:
        return [dict(result.scores[0]) for result in pool.results(map(Shard, batches), job)]


def by_ray(executor: RayExecutor, spec: str, items: dict[int, Item], batches: list[Batch]) -> list:
    job = ScoreJob([task(spec, items)], items, ScoringContext(None, items.values()))
    return [dict(result.scores[0]) for result in executor.results(map(Shard, batches), job)]


def alone(spec: str, items: dict[int, Item], batches: list[Batch], n_workers: int) -> list:
    start(spec, items)
    return [dict(scored(batch).scores[0]) for batch in batches]


def timed(arm, *arguments) -> tuple[float, float, list]:
    """Seconds on the wall, of CPU with children, and the results."""
    wall, cpu = time.perf_counter(), _cpu()
    results = arm(*arguments)
    return time.perf_counter() - wall, _cpu() - cpu, results


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


HEADER = (
    "metric",
    "workers",
    "answers/s",
    "plain / workers",
    "CPU, plain / workers",
    "CPU, one process / workers",
)


def main(n: int = 20_000, rounds: int = 3, *counts: int) -> None:
    os.environ.update(THREADS)  # the plain pool gets what workers get
    print(f"{n:,} answers, {rounds} rounds, {os.cpu_count()} cores")
    print(f"| {' | '.join(HEADER)} |\n|---|---:|---:|---:|---:|---:|")
    for spec in SPECS:
        items, responses = answers(n, spec)
        for n_workers in counts or (1, 2, 4):
            size = min(BATCH, -(-n // (TURNS * n_workers)))
            parts = (responses[at : at + size] for at in range(0, n, size))
            batches = [Batch(part, [1] * len(part), frozenset({0})) for part in parts]
            rates, wall, cpu, overhead = [], [], [], []
            for turn in range(rounds):
                arms = [plain, workers, alone] if turn % 2 else [workers, plain, alone]
                measured = {arm: timed(arm, spec, items, batches, n_workers) for arm in arms}
                assert measured[plain][2] == measured[workers][2] == measured[alone][2]
                rates.append(n / measured[workers][0])
                wall.append(measured[plain][0] / measured[workers][0])
                cpu.append(measured[plain][1] / measured[workers][1])
                overhead.append(measured[alone][1] / measured[workers][1])
            name = registry.build("metric", spec)
            rate, ratios = f"{statistics.median(rates):,.0f}", " | ".join(map(spread, (wall, cpu, overhead)))
            print(f"| `{name}` | {n_workers} | {rate} | {ratios} |", flush=True)


def main_ray(n: int = 20_000, rounds: int = 3, *counts: int) -> None:
    """Workers of Ray beside as many of a process pool."""
    if find_spec("ray") is None:
        print('\nRay is not installed, so its workers are not measured: pip install "vivavoce[ray]".')
        return
    began = time.perf_counter()
    with RayExecutor("ray") as executor:
        n_workers = executor.n_workers
        print(f"\nRay took {time.perf_counter() - began:.1f} s to start, on {n_cores()} cores.\n")
        print("| metric | workers | answers/s by Ray | workers / Ray, wall |\n|---|---:|---:|---:|")
        for spec in SPECS:
            items, responses = answers(n, spec)
            size = min(BATCH, -(-n // (TURNS * n_workers)))
            parts = (responses[at : at + size] for at in range(0, n, size))
            batches = [Batch(part, [1] * len(part), frozenset({0})) for part in parts]
            rates, wall = [], []
            for _ in range(rounds):
                ours = timed(workers, spec, items, batches, n_workers)
                rays = timed(by_ray, executor, spec, items, batches)
                assert ours[2] == rays[2]
                rates.append(n / rays[0])
                wall.append(ours[0] / rays[0])
            name = registry.build("metric", spec)
            print(
                f"| `{name}` | {n_workers} | {statistics.median(rates):,.0f} | {spread(wall)} |", flush=True
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
    main_ray(*map(int, sys.argv[1:]))
