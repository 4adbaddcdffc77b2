"""The ways of asking that `collect.py` measures, each run in a process of its own by the Python that has it.

Usage: python bench/collect_arms.py ARM BASE_URL QUESTIONS AT_ONCE REPEATS FILE
FILE gets what it took, as JSON.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from mock_server import ANSWER, MODEL

__all__ = ["ARMS", "WARM", "Arm", "Asked"]

# Only the standard library above: peers run this file where nothing of ours is installed.

WARM = 20
"""Questions that an arm asks before it is measured, so that what is loaded at first use counts for nobody."""


class Asked(NamedTuple):
    """What an arm is given: the server's base URL, the questions, how many at once, a folder."""

    url: str
    questions: list[str]
    at_once: int
    folder: Path
    repeats: int = 1


Timed = Callable[[], int]
"""Asks everything and returns how many answers it has; what comes before it is not measured."""


def bare(asked: Asked) -> Timed:
    """The client library alone: what the client library and the server allow."""
    import aiohttp

    async def worker(session: Any, source: Iterator[str]) -> int:
        got = 0
        for question in source:
            body = {"model": MODEL, "messages": [{"role": "user", "content": question}]}
            async with session.post(f"{asked.url}/chat/completions", json=body) as answer:
                got += (await answer.json())["choices"][0]["message"]["content"] == ANSWER
        return got

    async def everything() -> int:
        source = iter(asked.questions)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            return sum(await asyncio.gather(*(worker(session, source) for _ in range(asked.at_once))))

    return lambda: asyncio.run(everything())


def collect(asked: Asked) -> Timed:
    """`Run.collect` into a fresh run file: the exam is read, and each answer is stored with its call."""
    import vivavoce as viva

    exam, providers = asked.folder / "exam.jsonl", asked.folder / "providers.yaml"
    with exam.open("w") as file:
        for i, question in enumerate(asked.questions):
            row = {"id": f"q{i}", "format": "short", "question": question, "references": [ANSWER]}
            file.write(json.dumps(row) + "\n")
    asked.questions.clear()  # they stand in the file: what this process held of them is not ours
    providers.write_text(f"mock: {{base_url: '{asked.url}', concurrency: {asked.at_once}}}\n")

    def everything() -> int:
        run = viva.open(asked.folder / "run.viva")
        run.collect(
            f"jsonl(path='{exam}')", models=[f"mock/{MODEL}"], repeats=asked.repeats, providers=providers
        )
        with run.file.reading() as db:
            (stored,) = db.execute(
                "SELECT count(*) FROM responses WHERE status = 'ok' AND text = ?", (ANSWER,)
            ).fetchone()
        return int(stored)

    return everything


def engine(asked: Asked) -> Timed:
    """`ask` alone: nothing is read and nothing is stored."""
    from vivavoce.models.endpoints import EndpointConfig
    from vivavoce.models.engine.calls import Call, CompletedCall, Queue
    from vivavoce.models.engine.scheduler import ask
    from vivavoce.models.providers.openai import OpenAIChat
    from vivavoce.models.rate_limit import Limits
    from vivavoce.models.requests import Message, Request

    def everything() -> int:
        model = OpenAIChat("mock", MODEL, EndpointConfig(name="mock", base_url=asked.url))
        jobs = (
            Call(Request(messages=(Message("user", question),)), repeat, None)
            for repeat in range(asked.repeats)
            for question in asked.questions
        )
        got = 0

        def keep(batch: Sequence[CompletedCall]) -> None:
            nonlocal got
            replies = [done.outcome.reply for done in batch]
            got += sum(reply is not None and reply.text == ANSWER for reply in replies)

        ask([Queue(model, jobs, Limits(concurrency=asked.at_once))], keep)
        return got

    return everything


def _inspect_model(asked: Asked) -> Any:
    from inspect_ai.model import GenerateConfig, get_model

    config = GenerateConfig(max_connections=asked.at_once)
    return get_model(
        f"openai-api/mock/{MODEL}", config=config, base_url=asked.url, api_key="EMPTY", memoize=False
    )


def inspect_model(asked: Asked) -> Timed:
    """Inspect's `Model.generate` of every question, under its own limit of connections."""

    async def everything() -> int:
        model = _inspect_model(asked)
        outputs = await asyncio.gather(*(model.generate(question) for question in asked.questions))
        return sum(output.completion == ANSWER for output in outputs)

    return lambda: asyncio.run(everything())


def inspect_eval(asked: Asked) -> Timed:
    """Inspect's `eval`: a task with the plainest scorer, and its log."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    samples = [Sample(input=question, target=ANSWER) for question in asked.questions]

    def everything() -> int:
        task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
        (log,) = eval(
            task, model=_inspect_model(asked), max_connections=asked.at_once, display="none",
            log_dir=str(asked.folder),
        )  # fmt: skip
        if log.status != "success" or not log.results:
            raise RuntimeError(f"Inspect ended with {log.status}: {log.error}")
        return round(log.results.scores[0].metrics["accuracy"].value * log.results.completed_samples)

    return everything


def _lm_eval_model(asked: Asked) -> Any:
    from lm_eval.models.openai_completions import LocalChatCompletion

    return LocalChatCompletion(
        model=MODEL, base_url=f"{asked.url}/chat/completions", num_concurrent=asked.at_once,
        tokenizer_backend=None, max_retries=3,
    )  # fmt: skip


def lm_eval_model(asked: Asked) -> Timed:
    """lm-eval's `generate_until` of every question."""
    from lm_eval.api.instance import Instance

    lm = _lm_eval_model(asked)
    chats = [lm.apply_chat_template([{"role": "user", "content": question}]) for question in asked.questions]
    requests = [
        Instance("generate_until", {}, (chat, {"until": [], "max_gen_toks": 64}), i)
        for i, chat in enumerate(chats)
    ]
    return lambda: sum(answer == ANSWER for answer in lm.generate_until(requests))


def lm_eval_task(asked: Asked) -> Timed:
    """lm-eval's `simple_evaluate`: a task with exact match, and its samples."""
    import datasets
    from lm_eval import simple_evaluate
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks import TaskManager

    rows = [{"question": question, "answer": ANSWER} for question in asked.questions]
    config = {
        "task": "mock", "custom_dataset": lambda **_: {"test": datasets.Dataset.from_list(rows)},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}", "generation_kwargs": {"until": [], "max_gen_toks": 64},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }  # fmt: skip

    def everything() -> int:
        lm, task = _lm_eval_model(asked), ConfigurableTask(config=config)
        # without the index of the tasks it ships, whose seconds do not depend on how much is asked
        shipped = TaskManager(include_defaults=False)
        found = simple_evaluate(
            lm, tasks=[task], task_manager=shipped, apply_chat_template=True, bootstrap_iters=0
        )
        return round(found["results"]["mock"]["exact_match,none"] * len(found["samples"]["mock"]))

    return everything


class Arm(NamedTuple):
    """One way of asking: who prepares it, whose Python runs it, and the packages whose versions count."""

    prepare: Callable[[Asked], Timed]
    peer: str = ""
    packages: tuple[str, ...] = ("vivavoce", "aiohttp")


ARMS = {
    "aiohttp alone": Arm(bare, packages=("aiohttp",)),
    "vivavoce, engine": Arm(engine),
    "vivavoce, collect": Arm(collect),
    "Inspect, model": Arm(inspect_model, "inspect", ("inspect-ai", "openai", "httpx")),
    "Inspect, eval": Arm(inspect_eval, "inspect", ("inspect-ai", "openai", "httpx")),
    "lm-eval, model": Arm(lm_eval_model, "lm-eval", ("lm-eval", "aiohttp")),
    "lm-eval, evaluate": Arm(lm_eval_task, "lm-eval", ("lm-eval", "aiohttp")),
}


def usage() -> float:
    """CPU seconds of this process and of those it started."""
    spent = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(s.ru_utime + s.ru_stime for s in spent)


def measure(name: str, url: str, samples: str, at_once: str, repeats: str, to: str) -> None:
    """One arm in this process; writes what it took to the file `to`."""
    arm, folder = ARMS[name], Path(to).parent

    def asked(kind: str, n: int) -> Asked:
        (folder / kind).mkdir()
        questions = [f"{kind} {i}: what is given first in an acute coronary syndrome?" for i in range(n)]
        return Asked(url, questions, int(at_once), folder / kind, int(repeats))

    arm.prepare(asked("Warm", WARM))()
    timed = arm.prepare(asked("Question", int(samples)))
    began, cpu = time.perf_counter(), usage()
    answered = timed()
    found = {"wall": time.perf_counter() - began, "cpu": usage() - cpu, "answered": answered}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["mib"] = peak / 2 ** (20 if sys.platform == "darwin" else 10)
    found["versions"] = {package: version(package) for package in arm.packages}
    Path(to).write_text(json.dumps(found))


if __name__ == "__main__":
    measure(*sys.argv[1:])
