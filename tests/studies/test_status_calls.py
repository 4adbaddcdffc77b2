"""What was asked of models, beside what is marked: a bill by model and endpoint."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import exam, marked, row, twins

from vivavoce.run.run import Run, open_run
from vivavoce.store.call_log import call_totals
from vivavoce.store.calls import CallRecord
from vivavoce.store.integrity import rehash
from vivavoce.studies.comparing.status import CALLS, COLUMNS, QUESTIONS


def called(run: Run, *calls: dict[str, Any]) -> Run:
    """The run with these calls in its ledger, as `viva collect` puts them there."""
    blank: dict[str, Any] = {
        "key": "k", "model": "m", "endpoint": "https://a.example/v1", "repeat": 1, "kind": "generate",
        "purpose": "collect", "status": "ok", "attempts": 1, "seconds": 0.5, "input_tokens": 10,
        "output_tokens": 2, "cost": 0.25, "error": None, "reply": None,
    }  # fmt: skip
    with run.file.writing() as db:
        db.executemany(
            f"INSERT INTO calls ({', '.join(CallRecord._fields)}) "
            f"VALUES ({', '.join('?' * len(CallRecord._fields))})",
            [CallRecord(**{**blank, "key": f"k{n}", **call}) for n, call in enumerate(calls)],
        )
    return run


def bill(run: Run, **wanted: Any) -> dict[str, Any]:
    return row(run.status(), about="calls", **wanted)


def test_calls_are_counted_by_model_and_endpoint(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 1])})
    here, there = "https://a.example/v1", "https://b.example/v1"
    called(run, {}, {"status": "failed", "attempts": 4, "cost": None, "input_tokens": None,
                     "output_tokens": None, "error": "500"}, {"endpoint": there}, {"model": "n"})  # fmt: skip
    found = bill(run, model="m", endpoint=here)
    assert CALLS == tuple(found)
    assert (2, 1, 5, 10, 2, 0.25, None) == tuple(
        found[k] for k in ("calls", "failed", "attempts", "input_tokens", "output_tokens", "cost", "reason")
    )
    assert (1, 0) == tuple(bill(run, model="m", endpoint=there)[k] for k in ("calls", "failed"))
    assert 1 == bill(run, model="n")["calls"]


def test_without_a_price_there_is_no_cost_not_a_smaller_one(tmp_path: Path) -> None:
    run = called(marked(tmp_path, {"A": twins([1])}), {}, {"cost": None}, {"cost": None})
    found = bill(run)
    assert (None, "no price is known of 2 calls") == (found["cost"], found["reason"])
    assert "cost not known: no price is known of 2 calls" in str(run.status())


def test_where_nothing_was_answered_there_is_no_cost_either(tmp_path: Path) -> None:
    run = called(marked(tmp_path, {"A": twins([1])}), {"status": "failed", "cost": None})
    assert (None, "no call was answered") == tuple(bill(run)[k] for k in ("cost", "reason"))


def test_tokens_that_nobody_counted_are_null(tmp_path: Path) -> None:
    found = bill(called(marked(tmp_path, {"A": twins([1])}), {"input_tokens": None, "output_tokens": None}))
    assert (None, None) == (found["input_tokens"], found["output_tokens"])


def test_rows_are_told_apart_by_what_they_are_about(tmp_path: Path) -> None:
    rows = called(marked(tmp_path, {"A": twins([1])}), {}).status().rows
    assert [("marks", COLUMNS), ("calls", CALLS), ("questions", QUESTIONS)] == [
        (r["about"], tuple(r)) for r in rows
    ]


def test_a_run_without_calls_has_no_row_of_them(tmp_path: Path) -> None:
    assert ["marks", "questions"] == [r["about"] for r in marked(tmp_path, {"A": twins([1])}).status().rows]


def test_the_command_prints_both_and_fails_for_marks_alone(tmp_path: Path, viva: Callable[..., Any]) -> None:
    """A call that failed was made good by a later one, or its answer is there as failed."""
    run = called(marked(tmp_path, {"A": twins([1])}), {"status": "failed", "cost": None}, {"model": "[red]n"})
    said = viva("status", run.file.path, "--full").stdout
    assert "https://a.example/v1" in said
    assert "Calls to models" in said
    assert "[red]n" in said
    rows = json.loads(viva("status", run.file.path, "--json").stdout)["rows"]
    assert ["marks", "calls", "calls", "questions"] == [r["about"] for r in rows]
    failing = marked(tmp_path / "f", {"A": twins(["fail"])})
    viva("status", failing.file.path, code=1)


def test_calls_alone_are_shown(tmp_path: Path, viva: Callable[..., Any]) -> None:
    run = called(marked(tmp_path, {"A": twins([1])}), {})
    with run.file.writing() as db:
        for table in ("scores", "responses"):
            db.execute(f"DELETE FROM {table}")
        rehash(db)
    said = viva("status", run.file.path, "--full").stdout
    assert "Calls to models" in said
    assert "nothing here yet" not in said


def test_a_real_collect_is_on_the_bill(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    run.collect(exam(tmp_path, ["q1", "q2"]), models=["baseline/echo"])
    with run.file.reading() as db:
        (paid,) = call_totals(db)
    found = bill(run)
    assert (2, 0) == (found["calls"], found["failed"])
    assert paid["model"] == found["model"]


@pytest.mark.parametrize("price", [0.0, 1.5])
def test_a_price_of_nothing_is_a_price(tmp_path: Path, price: float) -> None:
    found = bill(called(marked(tmp_path, {"A": twins([1])}), {"cost": price}))
    assert (price, None) == (found["cost"], found["reason"])
