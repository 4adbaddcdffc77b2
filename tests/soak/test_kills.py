"""Kills at any moment: nothing stored is lost, nothing is half-written, and the command ends as it would."""

import asyncio
import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aiohttp import web
from tests.judging.conftest import judge
from tests.judging.fake_judge import FakeJudge
from tests.lengths import length
from tests.models.conftest import Fake, fake
from tests.soak.inputs import lines
from tests.soak.kills import Scene, Victims, answers, items, marks
from tests.soak.tally import Tally

from vivavoce.run.run import Run, open_run

__all__ = ["fake", "judge"]

EXAM = "jsonl(path=exam.jsonl)"
N = 60


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    (folder / name).write_bytes(lines(rows))
    return folder / name


def told(folder: Path, *, who: tuple[str, ...] = ("Able", "Poor"), n: int = N) -> Run:
    """A run with answers, in a folder with its exam."""
    exam = write(folder, "exam.jsonl", items(n))
    run = open_run(folder / "run.viva")
    run.import_answers(write(folder, "told.jsonl", answers(n, who)), benchmark=f"jsonl(path='{exam}')")
    return run


def scored(folder: Path) -> None:
    told(folder).score("exact", "token_f1")


def reported(folder: Path) -> None:
    """A run with an earlier report, which is replaced."""
    run = told(folder, n=9)
    run.score("exact")
    run.report(folder / "page.html")


def exported(folder: Path) -> None:
    """A run with an earlier export, which is replaced."""
    scored(folder)
    open_run(folder / "run.viva").export(folder / "tables", format="csv")


def two_runs(folder: Path) -> None:
    told(folder).score("exact")
    other = folder / "other"
    other.mkdir()
    told(other, who=("Fair", "Poor")).score("exact", "token_f1")


def with_files(folder: Path) -> None:
    told(folder, who=("Able",))
    write(folder, "answers.jsonl", answers(N, ("Fair", "Poor")))


def with_marks(folder: Path) -> None:
    told(folder)
    write(folder, "marks.jsonl", marks(N))


async def reply(request: web.Request) -> web.Response:
    """What follows from the question: an answer, or the log-probability of a given one."""
    asked = await request.json()
    await asyncio.sleep(0.01)
    text = asked["messages"][-1]["content"]
    body: dict[str, Any] = {"id": "1", "model": asked["model"],
                            "usage": {"prompt_tokens": 3, "completion_tokens": 2}}  # fmt: skip
    if "prompt_logprobs" in asked:
        nats = -1 - hashlib.sha256(text.encode()).digest()[0] / 256
        body["prompt_logprobs"] = [None, {"1": {"logprob": nats, "rank": 1, "decoded_token": text}}]
    message = {"role": "assistant", "content": f"answer to {text}"}
    return web.json_response(body | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


COLLECT = ("collect", "run.viva", EXAM, "--model", "vllm/m", "--providers", "../providers.yaml", "--quiet")
SCENES = (
    Scene("collect", COLLECT, lambda at: write(at, "exam.jsonl", items(N)) and None),
    Scene("collect of log-probabilities", (*COLLECT, "--logprobs", "perplexity"), told),
    Scene("score by rules", ("score", "run.viva", "exact", "token_f1", "rouge(n=1)"), told),
    Scene("score by a judge", ("score", "run.viva", "judge(rubric=correctness, model=fake/j)", "--providers",
                               "../providers.yaml", "--quiet"), told),
    Scene("import of answers", ("import", "run.viva", "answers.jsonl", "--benchmark", EXAM), with_files),
    Scene("import of scores", ("import", "run.viva", "marks.jsonl", "--scores", "--measure",
                               "people(study=s)", "--range", "harm=0:4"), with_marks),
    Scene("merge", ("merge", "run.viva", "other/run.viva"), two_runs),
    Scene("report", ("report", "run.viva", "--to", "page.html"), reported, ("page.html",)),
    Scene("export of tables", ("export", "run.viva", "tables", "--format", "csv"), exported, ("tables",)),
    Scene("export of a run", ("export", "run.viva", "part.viva", "--format", "run", "--items", EXAM), scored,
          ("part.viva",), once=True),
    Scene("vary", ("vary", "run.viva", "bias(type=recency)"), told),
    Scene("packets", ("panel", "run.viva", "make", "--raters", "anna,ben", "--to", "packets"), told,
          ("packets",)),
)  # fmt: skip


KILLS_OF = {scene.name: length(1, 17) for scene in SCENES} | {"report": length(1, 13)}
"""Kills by scene, 200 in the long form; a report starts a browser's engine for its charts, and is slow."""


@pytest.mark.parametrize(
    "scene",
    [pytest.param(scene, marks=[pytest.mark.slow] * (scene.name == "report")) for scene in SCENES],
    ids=lambda scene: scene.name,
)
def test_a_killed_verb_loses_nothing_and_ends_as_if_unkilled_when_it_is_run_again(
    scene: Scene, fake: Callable[..., Fake], judge: FakeJudge, tmp_path: Path, tally: Tally
) -> None:
    endpoints = {"vllm": {"base_url": fake(reply).base_url, "concurrency": 4},
                 "fake": {"base_url": judge.base_url, "concurrency": 4}}  # fmt: skip
    (tmp_path / "providers.yaml").write_text(json.dumps(endpoints))
    victims = Victims(scene, tmp_path, Random(zlib.crc32(scene.name.encode())), tally)
    left = KILLS_OF[scene.name]
    while left:
        left -= victims.live(left)
    tally.check()


def test_the_long_form_kills_200_times() -> None:
    assert length(12, 200) == sum(KILLS_OF.values())
