"""Joining shards: the same rows as one whole run in any order, what is refused, and what is missing."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.lengths import length
from tests.run.shards.test_collect_and_score import ECHO, Exam, parts

import vivavoce as viva
from vivavoce.core.errors import InputError, StoreError
from vivavoce.run.run import Run
from vivavoce.run.shards.joining import shard_sentences

ANSWER = ("benchmark", "item", "variant", "candidate", "repeat", "edit", "status", "text", "error")
SCORE = ("item", "variant", "candidate", "repeat", "metric", "criterion", "pass_no", "status", "value")
PARTS = """
    SELECT i.item, i.hash, c.candidate, m.signature, m.criterion, s.parts, s.note, s.position
    FROM scores s JOIN measures m USING (measure_id) JOIN responses r USING (response_id)
         JOIN items i USING (item_id) JOIN candidates c USING (candidate_id)
"""


def rows(run: Run) -> dict[str, list[Any]]:
    """What a run holds, in an order of its own: without times."""
    with run.file.reading() as db:
        scored = db.execute(PARTS).fetchall()
    return {
        "parts": sorted(scored, key=repr),
        "items": sorted(run.items.drop("benchmark_id", strict=False).rows(), key=repr),
        "responses": sorted(run.responses.select(ANSWER).rows(), key=repr),
        "scores": sorted(run.scores.select(SCORE).rows(), key=repr),
        "estimates": [dict(row) for row in run.estimates().rows],
    }


def joined(folder: Path, runs: list[Run], name: str = "all.viva") -> Run:
    target = viva.open(folder / name)
    target.merge(*(run.file.path for run in runs))
    return target


def states(run: Run, verb: str = "collect") -> dict[str, str]:
    return {row.shard: row.state for row in run.shards() if row.verb == verb}


@pytest.mark.parametrize(("seed", "n"), length([(1, 6)], [(1, 16), (2, 16)]))
def test_shards_merged_in_a_random_order_twice_are_the_whole_run(
    exam: Exam, tmp_path: Path, seed: int, n: int
) -> None:
    spec = exam(40, change=lambda k: {"group": f"case {k // 2}", "category": f"c{k % 3}"})
    metrics = ("exact", "token_f1", "rouge(n=L)")
    whole = viva.open(tmp_path / "whole.viva")
    whole.collect(spec, models=[*ECHO, "baseline/reference"], sample="50%")
    whole.score(*metrics)
    runs = []
    for number in range(1, n + 1):
        run = viva.open(tmp_path / f"part-{number}.viva")
        run.collect(spec, models=[*ECHO, "baseline/reference"], sample="50%", shard=f"{number}/{n}")
        run.score(*metrics, shard=f"{number}/{n}")
        runs.append(run)
    random.Random(seed).shuffle(runs)
    target = joined(tmp_path, runs)
    assert rows(whole) == rows(target)
    random.Random(seed + 10).shuffle(runs)
    again = target.merge(*(run.file.path for run in runs))
    assert {(0, 0, 0)} == {(m.items, m.responses, m.scores) for m in again}
    assert rows(whole) == rows(target)
    assert {"complete"} == {row.state for row in target.shards()}
    assert n * (1 + len(metrics)) == len(target.shards())
    assert [row for row in target.verify() if row.wrong] == []


def test_a_merge_says_which_shards_are_missing(exam: Exam, tmp_path: Path, viva: Callable[..., Any]) -> None:
    runs = parts(tmp_path, exam(30), 5)
    paths = [run.file.path for run in runs]
    some = viva("merge", tmp_path / "all.viva", paths[3], paths[0], "--json", code=1)
    answer = json.loads(some.stdout)
    assert ["schema", "run", "rows", "shards"] == list(answer)
    assert 2 == len(answer["rows"])
    assert [
        ("1/5", "complete"),
        ("2/5", "missing"),
        ("3/5", "missing"),
        ("4/5", "complete"),
        ("5/5", "missing"),
    ] == [(row["shard"], row["state"]) for row in answer["shards"]]
    said = viva("merge", tmp_path / "all.viva", paths[3], code=1).stdout.splitlines()
    assert "collect exam by baseline/echo, 5 shards; missing: 2, 3, 5." == said[-1]
    said = viva("merge", tmp_path / "all.viva", *paths).stdout.splitlines()
    assert "collect exam by baseline/echo: all 5 shards are complete." == said[-1]


def test_a_merge_of_runs_that_are_no_shards_says_what_it_said(
    exam: Exam, tmp_path: Path, viva: Callable[..., Any]
) -> None:
    viva("collect", tmp_path / "a.viva", exam(3), "--model", *ECHO)
    answer = json.loads(viva("merge", tmp_path / "all.viva", tmp_path / "a.viva", "--json").stdout)
    assert ["schema", "run", "rows"] == list(answer)


def test_answers_that_failed_and_that_are_still_to_be_asked_leave_a_shard_unfinished(
    exam: Exam, fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = exam(12)
    good = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
    bad = {"error": {"message": "maximum context length is 8 tokens"}}

    async def refused(request: Any) -> Any:
        return web.json_response(bad, status=400)

    async def closed(request: Any) -> Any:
        return web.json_response({"error": {"message": "no access"}}, status=403)

    runs = [viva.open(tmp_path / f"part-{k}.viva") for k in range(1, 4)]
    for number, (run, answer) in enumerate(zip(runs, (refused, closed, good), strict=True), 1):
        monkeypatch.setenv("VLLM_BASE_URL", fake(answer).base_url)
        run.collect(spec, models=["vllm/m"], shard=f"{number}/3")
    target = joined(tmp_path, runs)
    assert {"1/3": "unfinished", "2/3": "unfinished", "3/3": "complete"} == states(target)
    assert ["collect exam by vllm/m, 3 shards; unfinished: 1, 2."] == shard_sentences(target.shards())
    for number, run in enumerate(runs, 1):
        monkeypatch.setenv("VLLM_BASE_URL", fake(good).base_url)
        run.collect(spec, models=["vllm/m"], shard=f"{number}/3")
    random.Random(3).shuffle(runs)
    target.merge(*(run.file.path for run in runs))
    assert {"complete"} == set(states(target).values())


def test_scoring_that_was_cut_short_leaves_a_shard_unfinished(
    exam: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vivavoce.run.score.BATCH", 2)
    runs = parts(tmp_path, exam(12), 2)
    runs[0].score("exact", shard="1/2")

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs[1].score("exact", shard="2/2", progress=stop)
    target = joined(tmp_path, runs)
    assert {"1/2": "complete", "2/2": "unfinished"} == states(target, "score")
    runs[1].score("exact", shard="2/2")
    target.merge(runs[1].file.path)
    assert {"complete"} == set(states(target, "score").values())


def test_a_joined_run_goes_on_as_a_whole_and_is_divided_again(exam: Exam, tmp_path: Path) -> None:
    spec = exam(20)
    target = joined(tmp_path, parts(tmp_path, spec, 3))
    (row,) = target.collect(spec, models=ECHO).rows
    assert 0 == row["answered"]
    copies = [viva.open(target.copy(tmp_path / f"copy-{k}.viva")) for k in (1, 2)]
    for number, copy in enumerate(copies, 1):
        copy.score("token_f1", shard=f"{number}/2")
    target.merge(*(copy.file.path for copy in copies))
    assert {"1/2": "complete", "2/2": "complete"} == states(target, "score")
    assert 20 == target.scores.height


def test_parts_that_a_metric_scored_in_the_joined_run_are_complete(exam: Exam, tmp_path: Path) -> None:
    runs = parts(tmp_path, exam(20), 4)
    runs[1].score("exact", shard="2/4")
    target = joined(tmp_path, runs[:3])
    assert {"1/4": "missing", "2/4": "complete", "3/4": "missing", "4/4": "missing"} == states(
        target, "score"
    )
    target.score("token_f1")
    assert "missing" == states(target, "score")["1/4"]
    target.score("exact")
    scored = {"1/4": "complete", "2/4": "complete", "3/4": "complete", "4/4": "missing"}
    assert scored == states(target, "score")
    target.merge(*(run.file.path for run in runs))
    assert scored == states(target, "score")
    target.score("exact")
    assert {"complete"} == {row.state for row in target.shards()}
    with target.file.reading() as db:
        before = db.execute("SELECT count(*) FROM provenance WHERE verb = 'whole'").fetchone()
        target.score("exact")
        assert before == db.execute("SELECT count(*) FROM provenance WHERE verb = 'whole'").fetchone()


def test_scoring_some_items_of_a_joined_run_completes_no_part(exam: Exam, tmp_path: Path) -> None:
    runs = parts(tmp_path, exam(20), 2)
    runs[0].score("exact", shard="1/2")
    target = joined(tmp_path, runs)
    target.score("exact", items=exam(3))
    assert "missing" == states(target, "score")["2/2"]


def test_a_whole_run_brings_the_parts_that_no_shard_did(
    exam: Exam, tmp_path: Path, viva: Callable[..., Any]
) -> None:
    spec = exam(30)
    runs = parts(tmp_path, spec, 12)  # some of so many shards have no question
    number, part = next((k, run) for k, run in enumerate(runs, 1) if run.items.height)
    part.score("exact", shard=f"{number}/12")
    whole = collected(tmp_path / "whole.viva", spec)
    for name, order in (("a", [whole, part]), ("b", [part, whole])):
        target = joined(tmp_path, order, f"{name}.viva")
        assert {"complete"} == set(states(target).values())
        assert 30 == sum(row.done for row in target.shards() if row.verb == "collect")
        assert "missing" in states(target, "score").values()
    whole.score("exact")
    said = viva("merge", tmp_path / "c.viva", whole.file.path, part.file.path).stdout.splitlines()
    assert ["collect exam by baseline/echo: all 12 shards are complete."] == said[-2:-1]
    assert "score exact: all 12 shards are complete." == said[-1]


def collected(path: Path, spec: str, **options: Any) -> Run:
    run = viva.open(path)
    run.collect(spec, **{"models": ECHO} | options)
    return run


def test_a_whole_run_of_less_than_the_exam_or_of_other_settings_completes_no_part(
    exam: Exam, tmp_path: Path
) -> None:
    spec = exam(30)
    run = parts(tmp_path, spec, 3)[0]
    less, other = tmp_path / "less.viva", tmp_path / "other.viva"
    collected(less, exam(29))
    collected(other, exam(30), models=["baseline/random"])
    for whole in (less, other):
        found = states(joined(tmp_path, [viva.open(whole), run], f"all-{whole.name}"))
        assert {"1/3": "complete", "2/3": "missing", "3/3": "missing"} == found


def test_a_whole_run_that_was_cut_completes_the_parts_that_it_has(exam: Exam, tmp_path: Path) -> None:
    spec = exam(30)
    run, other, _ = parts(tmp_path, spec, 3)
    whole = collected(tmp_path / "whole.viva", spec)
    lost = min(other.items["item"])
    with whole.file.writing() as db:
        (key,) = db.execute("SELECT item_id FROM items WHERE item = ?", (lost,)).fetchone()
        db.execute(
            "DELETE FROM calls WHERE response_id IN (SELECT response_id FROM responses WHERE item_id = ?)",
            (key,),
        )
        db.execute("DELETE FROM responses WHERE item_id = ?", (key,))
    target = joined(tmp_path, [whole, run])
    assert {"1/3": "complete", "2/3": "missing", "3/3": "complete"} == states(target)


def refusal(folder: Path, first: Run, second: Run) -> str:
    target = viva.open(folder / "refused.viva")
    with pytest.raises(InputError) as error:
        target.merge(first.file.path, second.file.path)
    assert not target.file.exists
    assert str(error.value).startswith(f"cannot merge {second.file.path}")
    assert str(error.value).endswith(" Nothing was merged.")
    return str(error.value)


def test_shards_of_other_divisions_exams_and_settings_are_refused(exam: Exam, tmp_path: Path) -> None:
    spec = exam(20)

    def part(name: str, shard: str, of: str = spec, **options: Any) -> Run:
        run = viva.open(tmp_path / f"{name}.viva")
        run.collect(of, **{"models": ECHO, "shard": shard, **options})
        return run

    first = part("first", "1/2")
    assert (
        ", shard 3/4: shards that are joined have one and the same number of shards (4 there, 2 in the"
        in refusal(tmp_path, first, part("division", "3/4"))
    )
    said = refusal(
        tmp_path, first, part("exam", "2/2", exam(20, name="other", change=lambda k: {"answer": "x"}))
    )
    assert "one and the same benchmark (other there, exam in the shards before it)" in said
    said = refusal(tmp_path, first, part("models", "2/2", models=["baseline/reference"]))
    assert "candidates with their settings (baseline/reference there, baseline/echo in" in said
    said = refusal(tmp_path, first, part("repeats", "2/2", repeats=2))
    assert "one and the same number of repeats (2 there, 1 in" in said
    said = refusal(tmp_path, first, part("sample", "2/2", sample="50%"))
    assert "one and the same exam, and this one has other items, groups or weights." in said
    exam(21)
    assert "one and the same exam" in refusal(tmp_path, first, part("more", "2/2"))


def test_shards_that_were_asked_by_other_prompts_are_refused(
    exam: Exam, endpoint: Callable[..., Any], tmp_path: Path
) -> None:
    endpoint()
    runs, prompt = [], tmp_path / "prompt.md"
    for number, words in enumerate(("Answer: {{ question }}", "Think: {{ question }}"), 1):
        prompt.write_text(words)
        runs.append(viva.open(tmp_path / f"part-{number}.viva"))
        runs[-1].collect(exam(12), models=["vllm/m"], prompt=prompt, shard=f"{number}/2")
    said = refusal(tmp_path, *runs)
    assert "one and the same prompt, and candidates were asked in other words there." in said


def test_scores_of_other_metrics_are_no_shards_of_each_other(exam: Exam, tmp_path: Path) -> None:
    runs = parts(tmp_path, exam(12), 2)
    runs[0].score("rouge(n=1)", shard="1/2")
    runs[1].score("rouge(n=2)", shard="2/2")
    assert "one and the same metric (rouge(n=2) there, rouge(n=1) in" in refusal(tmp_path, *runs)


def test_a_shard_whose_memory_was_changed_is_refused(exam: Exam, tmp_path: Path) -> None:
    (run, *_) = parts(tmp_path, exam(12), 2)
    with run.file.writing() as db:
        db.execute("UPDATE provenance SET body = json_set(body, '$.shard', 'three') WHERE verb = 'shard'")
    with pytest.raises(StoreError, match="which shard this is"):
        run.collect(exam(12), models=ECHO, shard="1/2")
