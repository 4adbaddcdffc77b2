"""When a shard counts as scored: all that it holds is, by one program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.run.shards.test_collect_and_score import ECHO, Exam, parts
from tests.run.shards.test_merge_shards import joined, states
from tests.studies.making import borrowed

import vivavoce as viva
from vivavoce.core.errors import InputError, MetricError, SelectionError
from vivavoce.run.run import Run
from vivavoce.run.shards.joining import shard_sentences

PLUGIN = """
import vivavoce as viva

@viva.metric("mine")
class Mine(viva.Metric):
    criteria = (viva.Criterion(criterion="mine", low=0, high=1),)
    formats = ("short",)

    def values(self, rows, context):
        return [{"mine": viva.Value(VALUE)} for _ in rows]
"""


def scored(runs: list[Run], *metrics: str) -> list[Run]:
    for number, run in enumerate(runs, 1):
        run.score(*metrics, shard=f"{number}/{len(runs)}")
    return runs


def test_answers_that_came_after_scoring_leave_a_shard_unfinished(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12)
    runs = scored(parts(tmp_path, spec, 2), "exact", "token_f1")
    runs[1].collect(spec, models=ECHO, repeats=3, shard="2/2")
    runs[0].collect(spec, models=ECHO, repeats=3, shard="1/2")
    runs[0].score("exact", "token_f1", shard="1/2")
    target = joined(tmp_path, runs)
    assert {"1/2": "complete", "2/2": "unfinished"} == states(target, "score")
    assert "score exact, 2 shards; unfinished: 2." in shard_sentences(target.shards())
    runs[1].score("exact", shard="2/2")
    target.merge(runs[1].file.path)
    target.score("token_f1")
    assert {"complete"} == {row.state for row in target.shards()}
    assert {36} == {sum(r.done for r in target.shards() if r.of_what == m) for m in ("exact", "token_f1")}


def test_the_memory_of_an_earlier_copy_takes_nothing_away(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12)
    runs = scored(parts(tmp_path, spec, 2), "exact")
    early = viva.open(runs[1].copy(tmp_path / "early.viva"))
    runs[1].collect(spec, models=ECHO, repeats=2, shard="2/2")
    runs[1].score("exact", shard="2/2")
    target = joined(tmp_path, [runs[0], runs[1], early])
    assert {"1/2": "complete", "2/2": "complete"} == states(target, "score")


def test_mended_answers_wait_for_their_scores(
    exam: Exam, fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = exam(8)
    good = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}

    async def refused(request: Any) -> Any:
        return web.json_response({"error": {"message": "maximum context length is 8 tokens"}}, status=400)

    runs = [viva.open(tmp_path / f"part-{k}.viva") for k in (1, 2)]
    for answer in (refused, good):
        monkeypatch.setenv("VLLM_BASE_URL", fake(answer).base_url)
        for number, run in enumerate(runs, 1):
            run.collect(spec, models=["vllm/m"], shard=f"{number}/2")
        if answer is refused:
            scored(runs, "exact")
    runs[0].score("exact", shard="1/2")
    target = joined(tmp_path, runs)
    assert {"1/2": "complete", "2/2": "unfinished"} == states(target, "score")


def test_another_exam_that_a_metric_does_not_score_leaves_its_shards_complete(
    exam: Exam, tmp_path: Path
) -> None:
    runs = scored(parts(tmp_path, exam(12), 2), "exact")
    essays = exam(12, name="essays", change=lambda k: {"format": "longform", "question": f"Explain {k}."})
    for number, run in enumerate(runs, 1):
        run.collect(essays, models=ECHO, shard=f"{number}/2")
    assert {"1/2": "complete", "2/2": "complete"} == states(joined(tmp_path, runs), "score")


def test_variants_that_were_not_asked_leave_a_shard_unfinished(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12, change=lambda k: {"question": f"A 40-year-old woman with pain in {k}: what helps her?"})
    runs = parts(tmp_path, spec, 2)
    for run in runs:
        run.vary("demographic(kind=sex)")
    runs[0].collect(spec, models=ECHO, shard="1/2")
    target = joined(tmp_path, runs)
    assert {"1/2": "complete", "2/2": "unfinished"} == states(target)
    runs[1].collect(spec, models=ECHO, shard="2/2")
    target.merge(runs[1].file.path)
    assert {"complete"} == set(states(target).values())


def test_a_shard_without_an_item_for_a_metric_needs_no_scoring(exam: Exam, tmp_path: Path) -> None:
    def one_choice(k: int) -> dict[str, Any]:
        return {"format": "mcq", "options": ["yes", "no"], "answer": "yes"} if k == 3 else {}

    runs = parts(tmp_path, exam(12, change=one_choice), 3)
    (holder,) = (k for k, run in enumerate(runs, 1) if "mcq" in run.items["format"])
    runs[holder - 1].score("accuracy", shard=f"{holder}/3")
    assert {"complete"} == set(states(joined(tmp_path, runs), "score").values())


def test_metrics_of_a_shard_are_named_as_which_fit_depends_on_the_whole_exam(
    exam: Exam, tmp_path: Path, viva: Callable[..., Any]
) -> None:
    runs = parts(tmp_path, exam(12), 2)
    for dry_run in (False, True):
        with pytest.raises(SelectionError, match=r"name at least one metric.*part-1.viva holds shard 1/2"):
            runs[0].score(shard="1/2", dry_run=dry_run)
    target = joined(tmp_path, runs)
    target.score()
    assert 24 == target.scores.height  # exact and token_f1
    again = joined(tmp_path, runs, "again.viva")
    assert "exact" in str(again.score(shard="1/2"))  # holds all shards


def test_a_scoring_that_is_refused_is_not_remembered(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12, change=lambda k: {"format": "longform", "answer": None, "references": None})
    runs = parts(tmp_path, spec, 2)
    with pytest.raises(MetricError, match=r"Nothing was scored"):
        runs[0].score("bleu", shard="1/2")
    assert {} == states(joined(tmp_path, runs), "score")


@pytest.fixture
def score(exam: Exam, tmp_path: Path, viva: Callable[..., Any]) -> Callable[..., str]:
    """`score(number, value)` scores one of three shards by a plugin whose file gives this value."""
    parts(tmp_path, exam(12), 3)

    def scored_by(number: int, value: str, further: str = "", code: int = 0) -> str:
        plugin = tmp_path / "plugin.py"
        plugin.write_text(PLUGIN.replace("VALUE", value) + further)
        words = (tmp_path / f"part-{number}.viva", "mine", "--plugin", plugin, "--shard", f"{number}/3")
        with borrowed():
            return " ".join(viva("score", *words, code=code).output.split())

    return scored_by


def merged(folder: Path) -> Run:
    target = viva.open(folder / "all.viva")
    target.merge(*(folder / f"part-{number}.viva" for number in (1, 2, 3)))
    return target


def test_shards_that_two_programs_scored_are_not_joined(score: Callable[..., str], tmp_path: Path) -> None:
    score(1, "1.0")
    score(2, "1.0")
    score(3, "0.0")
    with pytest.raises(
        InputError, match=r"part-3.viva: scores by mine\(\)@1 are of several plugin files .*Nothing"
    ):
        merged(tmp_path)
    assert not (tmp_path / "all.viva").exists()


def test_a_changed_plugin_counts_where_it_gave_scores(
    exam: Exam, score: Callable[..., str], tmp_path: Path
) -> None:
    with pytest.raises(MetricError, match="broke"):
        score(1, "1 / 0")
    for number in (1, 2, 3):
        score(number, "1.0")
    assert "its plugin file has changed" not in score(1, "1.0", "# nothing is left to score")
    assert {"complete"} == set(states(merged(tmp_path), "score").values())
    viva.open(tmp_path / "part-1.viva").collect(exam(12), models=ECHO, repeats=2, shard="1/3")
    assert "mine: its plugin file has changed (hashes " in score(1, "0.5")


def test_a_base_class_in_another_plugin_is_part_of_the_program(
    exam: Exam, tmp_path: Path, viva: Callable[..., Any]
) -> None:
    parts(tmp_path, exam(12), 2)
    base, derived = tmp_path / "base.py", tmp_path / "derived.py"
    derived.write_text(
        "import sys\nimport vivavoce as viva\n"
        f"Mine = next(m for m in sys.modules.values() if getattr(m, '__file__', '') == {str(base)!r}).Mine\n"
        "@viva.metric('sub')\nclass Sub(Mine):\n    pass\n"
    )
    for number, value in ((1, "1.0"), (2, "0.0")):
        base.write_text(PLUGIN.replace("VALUE", value))
        words = ("sub", "--plugin", base, "--plugin", derived, "--shard", f"{number}/2")
        with borrowed():
            viva("score", tmp_path / f"part-{number}.viva", *words)
    with pytest.raises(InputError, match=r"sub\(\)@1 are of several plugin files"):
        viva("merge", tmp_path / "all.viva", *(tmp_path / f"part-{k}.viva" for k in (1, 2)))


def test_answers_that_come_while_a_shard_is_scored_are_not_scored(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12)
    runs = scored(parts(tmp_path, spec, 2), "exact")
    runs[1].score(
        "token_f1", shard="2/2",
        progress=lambda *_: runs[1].collect(spec, models=ECHO, repeats=2, shard="2/2") and None,
    )  # fmt: skip
    runs[0].score("token_f1", shard="1/2")
    rows = joined(tmp_path, runs).shards()
    assert ["complete", "unfinished"] == [row.state for row in rows if row.of_what == "token_f1"]


def test_variants_asked_in_the_joined_run_complete_its_parts(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12, change=lambda k: {"question": f"A 40-year-old woman with pain in {k}: what helps her?"})
    target = joined(tmp_path, parts(tmp_path, spec, 2))
    target.vary("demographic(kind=sex)")
    assert {"unfinished"} == set(states(target).values())
    target.collect(spec, models=ECHO)
    assert {"complete"} == set(states(target).values())


def test_copies_that_went_on_apart_are_complete_together(exam: Exam, tmp_path: Path) -> None:
    spec = exam(12)
    runs = scored(parts(tmp_path, spec, 2), "exact")
    copies = [viva.open(run.copy(tmp_path / f"copy-{k}.viva")) for k, run in enumerate(runs)]
    for of, candidate in ((runs, "baseline/reference"), (copies, "baseline/random")):
        for number, run in enumerate(of, 1):
            run.collect(spec, models=[candidate], shard=f"{number}/2")
        scored(of, "exact")
    target = joined(tmp_path, [*runs, *copies])
    assert 36 == target.scores.height
    assert {"complete"} == {row.state for row in target.shards()}


def test_a_shard_without_an_item_that_is_chosen_is_scored(exam: Exam, tmp_path: Path) -> None:
    tiny = exam(1, name="tiny")
    runs = parts(tmp_path, exam(12), 2)
    for number, run in enumerate(runs, 1):
        run.collect(tiny, models=ECHO, shard=f"{number}/2")
        run.score("exact", items=tiny, shard=f"{number}/2")
    assert {"complete"} == set(states(joined(tmp_path, runs), "score").values())


def test_a_memory_without_counts_speaks_where_it_is_the_latest(
    exam: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As runs have it that were scored before the counts were stored."""
    spec = exam(12)
    runs = scored(parts(tmp_path, spec, 2), "exact")
    for run in runs:
        with run.file.writing() as db:
            without = "json_remove(body, '$.covered', '$.derived')"
            db.execute(f"UPDATE provenance SET body = {without} WHERE verb = 'shard'")
    target = joined(tmp_path, runs)
    assert {"complete"} == {row.state for row in target.shards()}
    runs[1].collect(spec, models=ECHO, repeats=2, shard="2/2")
    monkeypatch.setattr("vivavoce.run.score.score_responses", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        runs[1].score("exact", shard="2/2")
    target.merge(runs[1].file.path)
    assert {"1/2": "complete", "2/2": "unfinished"} == states(target, "score")


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt
