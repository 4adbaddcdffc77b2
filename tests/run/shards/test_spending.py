"""What a shard spent before it was cut counts for its part of a plan's `max_cost` when it starts again."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva_
from vivavoce.core.errors import ModelError
from vivavoce.run.plan.plan_file import examine
from vivavoce.run.shards.spending import shard_spending
from vivavoce.store.runfile import RunFile

Plan = Callable[..., Path]
ONE = {
    "model": "m",
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 0},
}
"""A reply that costs 1."""
UNCOUNTED = {key: value for key, value in ONE.items() if key != "usage"}
JUDGE = "judge(rubric=correctness, model=vllm/m)"


@pytest.fixture
def plan(
    exam: Any,
    fake: Any,
    limits: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Plan:
    """`plan(reply, n, max_cost=8)`: n questions to a model that gives that reply, 1 a request."""
    monkeypatch.chdir(tmp_path)

    def written(reply: Any, n_questions: int, **entries: Any) -> Path:
        monkeypatch.setenv("VLLM_BASE_URL", fake(reply).base_url)
        body = {
            "run": "exam.viva",
            "benchmarks": [exam(n_questions)],
            "models": ["vllm/m"],
            "providers": str(limits(concurrency=1, prices={"m": [100_000.0, 0.0]})),
        }
        file = tmp_path / "exam.yaml"
        file.write_text(json.dumps(body | entries))
        return file

    return written


def cost_of(run: str) -> float:
    with RunFile(Path(run)).reading() as db:
        return float(db.execute("SELECT total(cost) FROM calls").fetchone()[0])


def test_a_restarted_shard_keeps_its_part_of_the_limit_of_cost(plan: Plan) -> None:
    file = plan(ONE, 60, max_cost=16)
    costs = []
    for restart in range(3):
        (finding,) = examine(file, shard="1/2", to="part.viva")
        costs.append(cost_of("part.viva"))
        assert (restart > 0) == ("part.viva spent 8 before, of its 8." in finding.text)
        shutil.copy("part.viva", "restored.viva")  # as a task does, from the shared disk
        shutil.move("restored.viva", "part.viva")
    assert [8.0, 8.0, 8.0] == costs


def test_a_shard_that_was_cut_spends_the_rest_of_its_part(plan: Plan) -> None:
    file = plan(ONE, 60, max_cost=5)
    examine(file, shard="1/1", to="part.viva")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"max_cost": 8}))
    examine(file, shard="1/1", to="part.viva")
    assert 8.0 == cost_of("part.viva")


def test_with_whole_limits_each_shard_keeps_all_of_it_over_its_restarts(plan: Plan) -> None:
    file = plan(ONE, 60, max_cost=6)
    for number in (1, 2):
        for _ in range(2):
            examine(file, shard=f"{number}/2", to=f"part-{number}.viva", limits="whole")
        assert 6.0 == cost_of(f"part-{number}.viva")


def test_replies_without_token_counts_count_by_their_estimate(plan: Plan) -> None:
    file = plan(UNCOUNTED, 60, max_cost=16, settings={"max_tokens": 1})
    (first,) = examine(file, shard="1/2", to="part.viva")
    spent = first.rows[0]["cost_estimate"]
    assert pytest.approx(spent) == shard_spending(RunFile(Path("part.viva")))
    (second,) = examine(file, shard="1/2", to="part.viva")
    assert 0.0 == cost_of("part.viva")
    assert 0 < spent <= spent + second.rows[0]["cost_estimate"] <= 8.0


@pytest.mark.parametrize("usage", [{"prompt_tokens": 500, "completion_tokens": 0}, None])
def test_judges_of_a_restarted_shard_spend_what_is_left(plan: Plan, usage: dict[str, int] | None) -> None:
    verdict = [{"message": {"content": json.dumps({"score": 1})}, "finish_reason": "stop"}]
    reply = {"model": "m", "choices": verdict} | ({"usage": usage} if usage else {})
    file = plan(reply, 12, models=["baseline/echo"], metrics=[JUDGE], max_cost=250)
    spending = []
    for _ in range(3):
        with pytest.raises(ModelError, match="another request might pass --max-cost"):
            examine(file, shard="1/1", to="part.viva")
        spending.append(shard_spending(RunFile(Path("part.viva"))))
    assert 125 < spending[0] <= spending[2] <= 250
    assert (cost_of("part.viva") > 0) == bool(usage)


def test_what_was_spent_before_a_run_became_a_shard_does_not_count(plan: Plan) -> None:
    """A run that holds all answers is copied, and each copy scores its part."""
    file = plan(ONE, 12)
    run = viva_.open("all.viva")
    entries = json.loads(file.read_text())
    run.collect(*entries["benchmarks"], models=["vllm/m"], providers=entries["providers"])
    run.score("exact", shard="1/2")
    assert (12.0, 0.0) == (cost_of("all.viva"), shard_spending(run.file))


def test_a_run_that_is_no_shard_has_no_spending_of_one(plan: Plan) -> None:
    file = plan(ONE, 6, max_cost=4)
    assert 0.0 == shard_spending(RunFile(Path("none.viva")))
    for _ in range(2):
        examine(file)
    assert (6.0, 0.0) == (cost_of("exam.viva"), shard_spending(RunFile(Path("exam.viva"))))


def test_a_cost_that_no_number_holds_leaves_nothing_to_spend(plan: Plan) -> None:
    file = plan(ONE, 12, max_cost=4)
    examine(file, shard="1/1", to="part.viva")
    with sqlite3.connect("part.viva") as db:
        db.execute("UPDATE calls SET cost = 9e999")
    db.close()
    (finding,) = examine(file, shard="1/1", to="part.viva")
    assert 0 == finding.rows[0]["answered"]
