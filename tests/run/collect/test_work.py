"""The work that a collect makes for the run file, counted in statements: commits, look-ups, rows."""

import re
import tracemalloc
from collections import Counter
from dataclasses import replace

import pytest
from tests.lengths import length

import vivavoce as viva
from vivavoce.core import item_files, tables
from vivavoce.core.errors import StoreError
from vivavoce.models.engine import writing
from vivavoce.models.engine.sources import MIN_TAKEN
from vivavoce.run.collect import generate
from vivavoce.store import asked, item_rows, runfile


@pytest.fixture
def statements(monkeypatch):
    """What SQLite is told from now on, in order, over all connections."""
    opened, heard = runfile._open, []

    def traced(address):
        db = opened(address)
        db.set_trace_callback(heard.append)
        return db

    monkeypatch.setattr(runfile, "_open", traced)
    monkeypatch.setattr(writing, "BATCH_S", 600.0)  # so that a batch waits until it is full
    return heard


def rows_by_transaction(statements):
    """The number of responses that were stored in each transaction that stored some."""
    sizes, n = [], 0
    for statement in statements:
        n = 0 if statement.startswith("BEGIN") else n + statement.startswith("INSERT INTO responses")
        if statement.startswith("COMMIT") and n:
            sizes.append(n)
    return sizes


def test_sixteen_responses_are_one_transaction(exam, endpoint, limits, statements, tmp_path):
    endpoint()
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(100), models=["vllm/m"], providers=limits(concurrency=40))
    assert [16] * 6 + [4] == rows_by_transaction(statements)
    assert 100 == run.responses.height


@pytest.mark.parametrize("resumed", [False, True])
def test_no_response_costs_a_look_up_of_its_own(exam, endpoint, limits, statements, tmp_path, resumed):
    endpoint()

    def look_ups(n):
        run, spec = viva.open(tmp_path / f"{n}.viva"), exam(n, name=f"exam-{n}")
        if resumed:
            run.collect(spec, models=["vllm/m"], providers=limits(concurrency=8))
        statements.clear()
        run.collect(spec, models=["vllm/m"], providers=limits(concurrency=8), repeats=2)
        return sum(bool(re.match(r"\s*SELECT", statement)) for statement in statements)

    few, many = look_ups(32), look_ups(160)
    batches = 2 * 128 / min(MIN_TAKEN, writing.BATCH)
    assert many - few <= 3 * batches  # one for what is known, one for failures, one more


def test_a_new_item_costs_one_statement(exam, statements, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(50), models=["baseline/echo"])
    kinds = Counter(re.sub(r"[^A-Za-z ].*", "", statement).strip()[:20] for statement in statements)
    assert 50 == kinds["INSERT INTO items"]
    assert not kinds["UPDATE items SET cur"]


def test_a_response_that_no_file_takes_loses_no_other(exam, endpoint, limits, tmp_path, monkeypatch):
    endpoint(latency=0.01)
    real = generate.response_of

    def odd(benchmark, candidate, call, outcome):
        response = real(benchmark, candidate, call, outcome)
        return replace(response, text="\ud800") if response.item == "q3" else response

    monkeypatch.setattr(generate, "response_of", odd)
    run = viva.open(tmp_path / "run.viva")
    with pytest.raises(StoreError, match="half of a surrogate pair"):
        run.collect(exam(12), models=["vllm/m"], providers=limits(concurrency=12))
    assert {f"q{k}" for k in range(12)} - {"q3"} == set(run.responses["item"])


@pytest.mark.parametrize("resumed", [False, True])
def test_a_longer_exam_takes_no_more_memory(exam, tmp_path, monkeypatch, resumed):
    """What stands in memory for each question is a few hashes, from reading the exam to the last answer."""
    monkeypatch.setattr(item_files, "IN_MEMORY", 20)
    monkeypatch.setattr(tables, "FEW_BYTES", 1_000)
    for module in (asked, item_rows):
        monkeypatch.setattr(module, "_AT_ONCE", 20)
    warm_up, few, many = length((40, 150, 450), (100, 600, 3_000))
    peaks = {}
    for n in (warm_up, few, many):
        run, spec = viva.open(tmp_path / f"{n}.viva"), exam(n, name=f"exam-{n}")
        if resumed:
            run.collect(spec, models=["baseline/echo"])
        tracemalloc.start()
        run.collect(spec, models=["baseline/echo"])
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    n_bytes = (peaks[many] - peaks[few]) / (many - few)
    assert n_bytes < 500  # a question that is held and stored at once takes 1,000


def test_an_exam_in_a_file_is_asked_and_stored_as_one_in_memory(exam, endpoint, tmp_path, monkeypatch):
    endpoint()
    rows = []
    for name, few in (("memory", 100), ("file", 3)):
        monkeypatch.setattr(item_files, "IN_MEMORY", few)
        run = viva.open(tmp_path / f"{name}.viva")
        run.collect(exam(30), models=["baseline/echo"], sample="60%", repeats=2)
        rows.append(run.responses.drop("seconds").rows())
    assert rows[0] == rows[1]
    assert 36 == len(rows[0])
