"""Outcomes are stored some at a time, in a thread, and none counts before it is stored."""

import asyncio
import threading
import tracemalloc
from collections import Counter

import pytest
from tests.lengths import length
from tests.models.one_by_one import each

from vivavoce.core.errors import StoreError
from vivavoce.models.engine import writing
from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.leases import LeaseLostError
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.sources import MAX_TAKEN
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.engine.writing import BATCH, MAX_UNSTORED
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Message, RejectedError, Reply, Request


class FakeModel:
    """Answers every question at once, and counts how often it was asked it."""

    name, endpoint, place = "fake/m", "fake", ""

    def __init__(self):
        self.asked: Counter[str] = Counter()

    async def generate(self, request):
        self.asked[request.messages[0].content] += 1
        await asyncio.sleep(0)
        return Reply(text="yes", finish_reason="stop")

    async def close(self):
        pass


def call(text, tag=None):
    return Call(Request(messages=(Message("user", str(text)),)), 1, text if tag is None else tag)


def queue(calls, concurrency=8, model=None):
    return Queue(model or FakeModel(), calls, Limits(concurrency=concurrency))


@pytest.fixture
def patient(monkeypatch):
    """A batch waits until it is full."""
    monkeypatch.setattr(writing, "BATCH_S", 600.0)


def test_sixteen_at_a_time_are_stored_and_the_rest_at_the_end(patient):
    sizes = []
    tally = ask([queue(call(k) for k in range(100))], lambda batch: sizes.append(len(batch)))
    assert [BATCH] * 6 + [4] == sizes
    assert 100 == tally.answered


def test_an_outcome_waits_for_no_full_batch_longer_than_the_limit(monkeypatch):
    monkeypatch.setattr(writing, "BATCH_S", 0.0)
    stored, sizes = threading.Event(), []

    class Slow(FakeModel):
        async def generate(self, request):
            if request.messages[0].content == "1":
                await asyncio.to_thread(stored.wait, 60)  # until the first is stored
            return await super().generate(request)

    def store(batch):
        sizes.append(len(batch))
        stored.set()

    ask([queue([call(0), call(1)], 1, Slow())], store)
    assert [1, 1] == sizes


def test_they_are_stored_in_the_order_in_which_they_came(patient):
    tags = []
    ask([queue((call(k) for k in range(70)), 1)], each(lambda model, call, outcome: tags.append(call.tag)))
    assert list(range(70)) == tags


def test_store_recall_and_calls_are_in_one_thread_which_is_not_the_loops():
    threads = {"store": set(), "recall": set(), "calls": set(), "progress": set()}

    def note(place):
        threads[place].add(threading.current_thread())

    def calls():
        for k in range(100):
            note("calls")
            yield call(k)

    def recall(model, some):
        note("recall")
        return [None] * len(some)

    ask([queue(calls())], lambda batch: note("store"), recall=recall, progress=lambda tally: note("progress"))
    assert 1 == len(threads["store"]) == len(threads["store"] | threads["recall"] | threads["calls"])
    assert {threading.current_thread()} == threads["progress"]


def test_while_nothing_can_be_stored_few_more_requests_are_sent():
    model, go_on = FakeModel(), threading.Event()
    timer = threading.Timer(1.0, go_on.set)
    seen = []

    def store(batch):
        go_on.wait(60)
        seen.append(sum(model.asked.values()))

    timer.start()
    tally = ask([queue((call(k) for k in range(1_000)), 10, model)], store)
    assert BATCH < seen[0] <= 10 + MAX_UNSTORED
    assert 1_000 == tally.answered


def test_what_cannot_be_stored_takes_no_other_with_it():
    stored, tally = [], UsageCounter()

    def store(batch):
        if any(one.call.tag == 5 for one in batch):
            raise OverflowError("too large a number")
        stored.extend(one.call.tag for one in batch)

    with pytest.raises(OverflowError):
        ask([queue((call(k) for k in range(12)), 1)], store, tally=tally)
    assert [0, 1, 2, 3, 4, *range(6, len(stored) + 1)] == stored
    assert (len(stored), 0) == (tally.answered, tally.failed)
    assert 12 > len(stored) >= 5


def test_a_run_that_another_holds_is_tried_once_and_nothing_counts():
    tries, tally = [], UsageCounter()

    def locked(batch):
        tries.append(len(batch))
        raise StoreError("r.viva was kept locked by another process for 60 s; try again later.")

    with pytest.raises(StoreError, match="kept locked"):
        ask([queue((call(k) for k in range(500)), 40)], locked, tally=tally)
    assert 1 == len(tries)
    assert (0, 0) == (tally.answered, tally.failed)


@pytest.mark.parametrize("concurrency", [1, 40, 300])
def test_what_came_and_was_paid_for_is_stored_though_the_lease_is_lost(concurrency):
    stored, model, tally = [], FakeModel(), UsageCounter()

    def store(batch):
        stored.extend(completed.call.tag for completed in batch)
        raise LeaseLostError("another collect has taken over")

    with pytest.raises(LeaseLostError, match="has taken over"):
        ask([queue((call(k) for k in range(500)), concurrency, model)], store, tally=tally)
    assert sorted(stored) == sorted(set(stored))
    assert len(stored) == sum(model.asked.values()) == tally.answered
    assert len(stored) <= 16 + MAX_UNSTORED + concurrency


@pytest.mark.parametrize("concurrency", [1, 7, 300])
def test_an_equal_request_is_sent_once_however_far_apart_they_stand(concurrency):
    """`recall` sees what is stored, so a call is on the wire, waits to be stored, or can be recalled."""
    model, stored = FakeModel(), {}

    def store(batch):
        stored.update({one.call.request.key: one.outcome for one in batch})

    def recall(model, calls):
        return [stored.get(call.request.key) for call in calls]

    calls = [call("same" if k % 3 == 0 else k, k) for k in range(900)]
    tally = ask([queue(calls, concurrency, model)], store, recall=recall)
    assert {1} == set(model.asked.values())
    assert (900, 299) == (tally.answered, tally.shared)


def test_known_calls_are_looked_up_many_at_a_time():
    looked = []

    def recall(model, calls):
        looked.append(len(calls))
        return [None] * len(calls)

    ask([queue((call(k) for k in range(1_000)), 500)], lambda batch: None, recall=recall)
    assert 1_000 == sum(looked)
    assert -(-1_000 // MAX_TAKEN) == len(looked)


def test_memory_does_not_grow_with_the_calls():
    class Forgetful(FakeModel):
        async def generate(self, request):
            return Reply(text="yes", finish_reason="stop")

    def peak(n):
        tracemalloc.start()
        try:
            ask([queue((call(k) for k in range(n)), 50, Forgetful())], lambda batch: None)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(500)  # what is loaded at first use
    few, many = length((1_000, 3_000), (2_000, 8_000))
    n_bytes = (peak(many) - peak(few)) / (many - few)
    assert n_bytes < 50  # a call takes more than 1,000


def test_an_equal_request_that_fails_again_before_the_failure_is_stored_has_failed(monkeypatch):
    monkeypatch.setattr(writing, "BATCH_S", 0.05)

    class Refusing(FakeModel):
        async def generate(self, request):
            await asyncio.sleep(0.08)  # the second is on the wire while the first is stored
            raise RejectedError("too long", of_question=True)

    causes = []
    store = each(lambda model, call, outcome: causes.append(outcome.error))
    tally = ask([queue([call("same", k) for k in range(4)], 1, Refusing())], store)
    assert (0, 4, 0) == (tally.answered, tally.failed, tally.remaining)
    assert ["too long"] * 4 == causes


def test_the_first_cause_is_heard_of_and_all_models_are_closed_though_one_breaks_as_it_closes():
    closed = []

    class Breaking(FakeModel):
        async def close(self):
            closed.append(self)
            raise ValueError("cannot be closed")

    def store(batch):
        raise OverflowError("too large a number")

    with pytest.raises(OverflowError, match="too large"):
        ask([queue([call(1)], 1, Breaking()), queue([call(2)], 1, Breaking())], store)
    assert 2 == len(closed)
    with pytest.raises(ValueError, match="cannot be closed"):
        ask([queue([call(1)], 1, Breaking())], lambda batch: None)
