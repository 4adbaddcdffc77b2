"""Metrics by an encoder in workers: a text goes to one worker where that is fair, and passes are counted."""

from pathlib import Path
from typing import Any

import pytest
from tests.embeddings.tiny_bert import tiny_bert
from tests.run.workers.every_format import stored_scores
from tests.run.workers.patient_pool import PatientPool
from tests.studies.making import made

from vivavoce.core.records import Item, Response
from vivavoce.run.run import Run
from vivavoce.run.score import lanes, response_scores, verb
from vivavoce.run.score.batch_scores import Batch
from vivavoce.run.score.lanes import Lanes
from vivavoce.store.pending import Pending

N = 12
ORDER = ("patient was given iron", "no fever", "5 mg daily", "aspirin and not iron", "cough", "the patient")


def run_of(folder: Path) -> Run:
    """A run in which each item has a reference and an answer of its own, and one answer that all have."""
    said = {f"q{k:02}": f"{ORDER[k % 6]} {'the ' * (k // 6)}{'daily ' * (k % 4)}" for k in range(N)}
    return made(folder, {"A": said, "B": dict.fromkeys(said, "no cough")})


def pending(items: int, text: str = "", candidates: int = 3) -> list[Pending]:
    """Answers to items, each with words of its own and `text`, which all have."""
    responses = []
    for k in range(items):
        item = Item(
            benchmark="b", item=f"q{k}", format="longform", question="?", references=(f"key {k} " * 9,)
        )
        for c in range(candidates):
            words = f"answer {k} {c} " * 5 if c or not text else text
            responses.append((item, Response(benchmark="b", item=f"q{k}", candidate=f"c{c}", text=words)))
    return [Pending(n, item, response) for n, (item, response) in enumerate(responses)]


def lanes_of(responses: list[Pending], n_workers: int) -> dict[str, int]:
    """The worker of each item."""
    parts = list(Lanes(n_workers).parts(Batch(responses, [1] * len(responses), frozenset({0}))))
    assert [False] * (len(parts) - 1) + [True] == [part.work.is_last for part in parts]
    assert len(responses) == sum(len(part.work.responses) for part in parts)
    return {p.item.item: part.lane or 0 for part in parts for p in part.work.responses}


def test_all_answers_to_an_item_go_to_one_worker_and_the_load_is_shared() -> None:
    responses = pending(40)
    workers = lanes_of(responses, 4)
    assert {10} == {list(workers.values()).count(lane) for lane in range(4)}


def test_items_that_share_a_text_go_where_it_is_read_as_long_as_that_is_fair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {0} == set(lanes_of(pending(40, "Yes."), 4).values())  # little text: nobody waits for it
    monkeypatch.setattr(lanes, "SLACK", 500)
    counts = list(lanes_of(pending(40, "Yes."), 4).values())
    assert {0, 1, 2, 3} == set(counts)
    assert max(counts.count(lane) for lane in range(4)) <= 14


def test_an_item_keeps_its_worker_in_later_batches() -> None:
    responses, assigned = pending(6), Lanes(3)
    workers: dict[str, set[int | None]] = {}
    for start in range(0, len(responses), 5):
        some = responses[start : start + 5]
        for part in assigned.parts(Batch(some, [1] * len(some), frozenset({0}))):
            for p in part.work.responses:
                workers.setdefault(p.item.item, set()).add(part.lane)
    assert [1] * 6 == [len(lane) for lane in workers.values()]


def test_encoder_metrics_give_the_same_and_read_few_texts_twice(
    tmp_path: Path, torch_pool: PatientPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last digits may differ: what is read together is padded alike, and workers read other batches."""
    monkeypatch.setattr(response_scores, "SMALLEST", 9)
    encoder = tiny_bert(tmp_path / "bert")
    specs = (f"similarity(encoder='{encoder}')", f"bertscore(encoder='{encoder}', layers=[1, 2], idf=true)")
    alone = run_of(tmp_path / "alone")
    (once,) = alone.score(*specs).passes.values()
    assert 2 * N + 1 == once
    expected = stored_scores(alone)
    torch_pool.lend(verb, monkeypatch)
    for slack in (20_000, 40):
        monkeypatch.setattr(lanes, "SLACK", slack)
        shared = run_of(tmp_path / f"shared-{slack}")
        (passes,) = shared.score(*specs, workers=2).passes.values()
        assert passes in (once, once + 1)  # "no cough" may be read by both
        assert_near(expected, stored_scores(shared))


def assert_near(expected: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> None:
    """The same scores, but for the last digits of their values."""
    assert 4 * 2 * N < len(expected) == len(rows)
    value, parts = 7, 9
    assert [(*row[:value], row[8], row[10]) for row in expected] == [(*r[:value], r[8], r[10]) for r in rows]
    assert [row[value] for row in expected] == pytest.approx([row[value] for row in rows], abs=1e-5)
    assert [row[parts] is None for row in expected] == [row[parts] is None for row in rows]
