"""The array job of a plan, under a fake sbatch: ids, preemption, requeue, merge, and hostile names."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.run.shards.fake_slurm import FakeSlurm

import vivavoce as viva_
from vivavoce.core.errors import InputError, VivaError
from vivavoce.run.plan.plan_file import examine
from vivavoce.run.plan.slurm import ShardJob, shard_commands, slurm_job

Viva = Callable[..., Any]


def plan(folder: Path, spec: str, name: str = "exam.yaml", **entries: Any) -> Path:
    file = folder / name
    body = {"run": "exam.viva", "benchmarks": [spec], "models": ["baseline/echo"], "metrics": ["exact"]}
    file.write_text(json.dumps(body | entries))
    return file


@pytest.fixture
def slurm(tmp_path: Path) -> FakeSlurm:
    return FakeSlurm(tmp_path / "slurm")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder from which jobs are submitted."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


class HeldEndpoint:
    """A fake that answers five questions, and the others once it is released: a job is cut amid its work.

    Until then an answer takes its time.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.released = threading.Event()

    async def __call__(self, request: web.Request) -> dict:
        question = (await request.json())["messages"][-1]["content"]
        self.seen[question] += 1
        while len(self.seen) > 5 and not self.released.is_set():
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.0 if self.released.is_set() else 0.2)
        return {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


def submitted(slurm: FakeSlurm, home: Path, script: str) -> list[dict]:
    (home / "job.sh").write_text(script)
    subprocess.run(["bash", "job.sh"], cwd=home, env=slurm.environment(), check=True)
    return slurm.jobs


def run_shards(file: Path, n: int) -> None:
    """Do in this process what so many tasks of a submitted job do."""
    for number in range(1, n + 1):
        examine(file, shard=f"{number}/{n}", to=file.parent / "exam-parts" / f"part-{number}.viva")


# A plan in shards.


def test_the_shards_of_a_plan_are_collected_and_scored_and_the_rest_waits(exam: Any, home: Path) -> None:
    file = plan(home, exam(12), studies=["ranking"], report=True, metrics=["exact", "cliniqlink(idf=corpus)"])
    for number in (1, 2):
        found = examine(file, shard=f"{number}/2", to=f"part-{number}.viva")
        assert ["collect", "score"] == [finding.study for finding in found]
        assert {"exact"} == {row["metric"] for row in found[1].rows}
    assert not (home / "exam.viva").exists()
    target = viva_.open("exam.viva")
    target.merge("part-1.viva", "part-2.viva")
    assert {"complete"} == {row.state for row in target.shards()}


def test_a_shard_of_a_plan_needs_a_run_of_its_own(exam: Any, home: Path) -> None:
    with pytest.raises(InputError, match=r"--shard 1/2: a shard needs a run of its own, such as --to part"):
        examine(plan(home, exam(3)), shard="1/2")


def test_the_cost_of_a_plan_is_divided_over_all_its_collects(
    exam: Any, home: Path, fake: Any, limits: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {
        "model": "m",
        "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 0},
    }
    monkeypatch.setenv("VLLM_BASE_URL", fake(good).base_url)
    providers = str(limits(prices={"m": [100_000.0, 0.0]}))  # a request costs 1
    specs = [exam(20, name="one"), exam(20, name="two")]
    more = {
        "benchmarks": specs,
        "models": ["vllm/m"],
        "metrics": [],
        "providers": providers,
        "max_cost": 24.0,
    }
    file = plan(home, specs[0], **more)
    found = examine(file, shard="1/2", to="part.viva")
    assert sum(finding.rows[0]["cost"] for finding in found) <= 12.0


# The job.


def test_the_job_has_what_the_plan_needs(exam: Any, home: Path) -> None:
    file = plan(home, exam(3), models=["hf/some/model"], offline=True)
    lines = slurm_job(file, ShardJob(16, time="02:30:00", memory="32G")).splitlines()
    assert "#!/bin/bash" == lines[0]
    for line in (
        "#SBATCH --array=1-16",
        "#SBATCH --time=02:30:00",
        "#SBATCH --mem=32G",
        "#SBATCH --gres=gpu:1",
        "#SBATCH --requeue",
        "#SBATCH --signal=B:TERM@120",
        "export HF_HUB_OFFLINE=1",
    ):
        assert line in lines
    plain = slurm_job(plan(home, exam(3)), ShardJob(2))
    assert "gpu" not in plain.partition("set -u")[0]
    assert "HF_HUB_OFFLINE" not in plain
    judge = "judge(rubric=correctness, model=hf/some/judge)"
    for metric in (judge, f"jury(of=[judge(rubric=correctness, model=openai/x), {judge}], rule=mean)"):
        assert "--gres=gpu:1" in slurm_job(plan(home, exam(3), metrics=[metric]), ShardJob(2))


def test_commands_for_any_scheduler_are_one_a_shard_and_the_merge(exam: Any, home: Path, viva: Viva) -> None:
    file = plan(home, exam(3))
    commands = viva("shards", file.name, "--of", "2", "--limits", "whole").stdout.splitlines()
    assert [
        "mkdir -p exam-parts",
        "viva run exam.yaml --shard 1/2 --to exam-parts/part-1.viva --limits whole",
        "viva run exam.yaml --shard 2/2 --to exam-parts/part-2.viva --limits whole",
        "viva merge exam.viva exam-parts/part-*.viva && viva run exam.yaml",
    ] == commands
    rows = json.loads(viva("shards", file.name, "--of", "2", "--json").stdout)["rows"]
    assert 4 == len(rows)
    with pytest.raises(InputError, match="the path to write to is empty"):
        viva("shards", file.name, "--of", "2", "--parts", "")


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (ShardJob(0), "--of 0: there are 1 to 100,000 parts"),
        (ShardJob(2, time="soon"), "--time soon: write hours"),
        (ShardJob(2, time="1\n#SBATCH --wrap=x"), "--time"),
        (ShardJob(2, memory="8G --wrap=x"), "--memory 8G --wrap=x: write a number"),
    ],
)
def test_what_stands_in_no_directive_is_refused(exam: Any, home: Path, job: ShardJob, words: str) -> None:
    with pytest.raises(InputError) as error:
        slurm_job(plan(home, exam(3)), job)
    assert words in str(error.value)


def test_the_written_job_runs_is_preempted_requeued_and_merged(
    exam: Any, home: Path, slurm: FakeSlurm, fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = HeldEndpoint()
    monkeypatch.setenv("VLLM_BASE_URL", fake(server).base_url)
    file = plan(
        home, exam(60), models=["vllm/m"], providers=str(home / "p.yaml"), studies=["ranking"], report=True
    )
    (home / "p.yaml").write_text("vllm: {concurrency: 2}\n")
    array, merge = submitted(slurm, home, slurm_job(file, ShardJob(2)))
    assert ("1-2", "afterany:100") == (array["options"]["array"], merge["options"]["dependency"])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    node = {"SLURM_TMPDIR": str(scratch)}
    task = slurm.task(array, 1, cwd=home, VIVA_COPY_EVERY="1", **node)
    part = home / "exam-parts" / "part-1.viva"
    _until(lambda: part.exists() and viva_.open(part).responses.height > 0)  # copied while it is at work
    task.send_signal(signal.SIGTERM)
    time.sleep(1.0)  # what is on the wire ends after the signal
    server.released.set()
    assert 143 == task.wait(60)
    assert ["100_1"] == slurm.requeued
    saved = viva_.open(part).responses.height
    assert 0 < saved < 20
    assert [] == list(scratch.iterdir())
    assert [part] == list(part.parent.iterdir())
    assert 0 == slurm.task_in_process(array, 1, cwd=home, restarts=1, **node)
    assert viva_.open(part).responses.height > saved
    cut = slurm.wrapped_in_process(merge, cwd=home, **node)
    assert 1 == cut.returncode
    assert "2 shards; missing: 2." in cut.stdout
    assert not (home / "exam.html").exists()
    assert 0 == slurm.task_in_process(array, 2, cwd=home, **node)
    joined = slurm.wrapped_in_process(merge, cwd=home, **node)
    assert 0 == joined.returncode, joined.stderr + joined.stdout
    run = viva_.open(home / "exam.viva")
    assert (60, 60) == (run.responses.height, run.scores.height)
    assert (home / "exam.html").exists()
    assert set(range(60)) == {int(q.split()[1].split("?")[0]) for q in server.seen}
    assert 60 + 4 >= sum(server.seen.values())  # what was on the wire at the signal is asked again at most
    assert [] == list(scratch.iterdir())


@pytest.mark.parametrize(("state", "requeued"), [("RUNNING", ["100_1"]), ("COMPLETING", [])])
def test_a_sigterm_to_all_processes_of_a_task_loses_no_answer_on_the_wire(
    exam: Any, home: Path, slurm: FakeSlurm, fake: Any, monkeypatch: pytest.MonkeyPatch, state: str,
    requeued: list[str],
) -> None:  # fmt: skip
    """`viva run` gets it from the scheduler and from the script of the job; `scancel` ends the task."""
    server = HeldEndpoint()
    monkeypatch.setenv("VLLM_BASE_URL", fake(server).base_url)
    (home / "p.yaml").write_text("vllm: {concurrency: 4}\n")
    file = plan(home, exam(60), models=["vllm/m"], providers=str(home / "p.yaml"))
    (array, _) = submitted(slurm, home, slurm_job(file, ShardJob(1)))
    task = slurm.task(array, 1, cwd=home)
    _until(lambda: len(server.seen) > 6)
    slurm.set_state(state)
    for _ in range(3):
        os.killpg(task.pid, signal.SIGTERM)
        time.sleep(0.25)
    server.released.set()
    assert 143 == task.wait(60)
    assert requeued == slurm.requeued
    assert len(server.seen) == viva_.open(home / "exam-parts" / "part-1.viva").responses.height


WHOLE_EXAM = Path(__file__).with_name("whole_exam.py")
LONG_STEP = "{ touch begun; at_work sleep 60; }"
"""Of a merge: a study after scoring, or the shard that comes next."""


@pytest.mark.parametrize(
    ("step", "steps", "to_all"),
    [
        ('viva run "$plan" --to "$own"', f'at_work viva run "$plan" --to "$own" && {LONG_STEP}', False),
        ('viva merge "$own" "${shards[@]}"', f'{{ viva merge "$own" "${{shards[0]}}"; {LONG_STEP}; }}', True),
    ],
)
def test_a_merge_that_is_cut_is_copied_back_and_goes_on(
    exam: Any, home: Path, slurm: FakeSlurm, tmp_path: Path, step: str, steps: str, to_all: bool
) -> None:
    settings = {"studies": ["ranking"], "metrics": ["exact", "share"], "plugins": [str(WHOLE_EXAM)]}
    file = plan(home, exam(20), report=True, **settings)
    script = slurm_job(file, ShardJob(2))
    (_, merge) = submitted(slurm, home, script.replace(f"at_work {step}", steps))
    run_shards(file, 2)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    draft = home / "exam.viva.17.18.tmp"
    draft.touch()
    node = {"SLURM_TMPDIR": str(scratch)}
    process = slurm.start_wrapped(merge, cwd=home, VIVA_COPY_EVERY="1", **node)
    _until((home / "exam.viva").exists)  # copied while it is at work
    _until((home / "begun").exists)
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert (143, ["101"]) == (process.returncode, slurm.requeued)
    assert ([], False) == (list(scratch.iterdir()), draft.exists())
    before = viva_.open(home / "exam.viva")
    assert before.responses.height > 0
    assert [] == [check for check in before.verify() if check.wrong]
    (home / "job.sh").write_text(script)
    again = slurm.wrapped_in_process(merge, cwd=home, SLURM_RESTART_COUNT="1", **node)
    assert 0 == again.returncode, again.stderr + again.stdout
    run = viva_.open(home / "exam.viva")
    assert (20, 40) == (run.responses.height, run.scores.height)
    assert {"complete"} == {row.state for row in run.shards()}
    assert (home / "exam.html").exists()


def test_a_copy_that_a_signal_cut_is_made_again(exam: Any, home: Path, slurm: FakeSlurm) -> None:
    cut_copy = 'viva() { [ "$1" != copy ] || [ -e cut ] || { touch cut; return 130; }; command viva "$@"; }'
    script = slurm_job(plan(home, exam(4)), ShardJob(1)).replace("set -u\n", f"set -u\n{cut_copy}\n")
    (array, _) = submitted(slurm, home, script)
    assert 0 == slurm.task_in_process(array, 1, cwd=home)
    assert (home / "cut").exists()
    assert 4 == viva_.open(home / "exam-parts" / "part-1.viva").responses.height


def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_hostile_names_do_nothing_but_name(exam: Any, home: Path, slurm: FakeSlurm, viva: Viva) -> None:
    hostile = "-x $(touch pwned) `touch pwned`; touch pwned ' \" \\ & | * é.yaml"
    run = "'; touch pwned #$(touch pwned).viva"
    file = plan(home, exam(4), name=hostile, run=run)
    script = viva("shards", "--of", "1", "--slurm", "--", file.name).stdout
    array, merge = submitted(slurm, home, script)
    assert "x-touch-pwned-touch-pwned-touch-pwned-.y"[:10] == array["options"]["job-name"][:10]
    assert 0 == slurm.task_in_process(array, 1, cwd=home)
    joined = slurm.wrapped_in_process(merge, cwd=home)
    assert 0 == joined.returncode, joined.stderr + joined.stdout
    assert not list(home.rglob("pwned"))
    assert 4 == viva_.open(home / run).responses.height
    for command in shard_commands(Path(hostile), ShardJob(1))[1:2]:
        assert f"./{hostile}" == shlex.split(command)[2]


@pytest.mark.parametrize("name", ["a\nb.viva", "a\x1b[31m.viva", "a\u202eb.viva", "a\x7f.viva"])
def test_a_name_that_no_job_can_hold_is_refused(exam: Any, home: Path, name: str) -> None:
    with pytest.raises(InputError, match="holds a character that cannot stand in a job"):
        slurm_job(plan(home, exam(3), run=name), ShardJob(2))


@pytest.mark.parametrize("write", [shard_commands, slurm_job])
@pytest.mark.parametrize(
    ("run", "parts"),
    [
        ("part-1.viva", Path(".")),
        ("parts/part-9.viva", Path("parts")),
        ("part-.viva", Path("../home")),
        ("link/part-1.viva", Path("parts")),
    ],
)
def test_a_plan_s_run_with_the_name_of_a_shard_in_their_folder_is_refused(
    exam: Any, home: Path, run: str, parts: Path, write: Callable[[Path, ShardJob], object]
) -> None:
    (home / "parts").mkdir()
    (home / "link").symlink_to("parts")
    file = plan(home, exam(8), run=run)
    with pytest.raises(
        InputError, match=r"part-.*\.viva of the plan has the name of a shard's run in the fol"
    ):
        write(file, ShardJob(2, parts=parts))
    assert write(file, ShardJob(2, parts=Path("elsewhere")))


def test_another_run_with_the_name_of_a_shard_is_named_and_those_of_the_shards_stay(
    exam: Any, home: Path, viva: Viva
) -> None:
    file, folder = plan(home, exam(8)), home / "exam-parts"
    folder.mkdir()
    for name in ("part-1.viva", "part-2.viva", "parts.viva", "part-3.html"):
        (folder / name).touch()
    assert viva("shards", file, "--of", 2).stdout
    (folder / "part-3.viva").touch()
    with pytest.raises(InputError, match=r"holds part-3\.viva, which is none of these 2 shards"):
        viva("shards", file, "--of", 2)
    assert viva("shards", file, "--of", 3).stdout


def test_a_plan_that_asks_nobody_is_not_divided(exam: Any, home: Path) -> None:
    file = home / "exam.yaml"
    file.write_text("run: exam.viva\n")
    with pytest.raises(InputError, match="there is nothing to divide: the plan names no benchmarks"):
        slurm_job(file, ShardJob(2))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"metrics": ["auto"]}, r"^exam\.yaml, metrics: no metric named 'auto'\. Known: accuracy"),
        ({"metrics": ["rouge(n=9z)"]}, r"^exam\.yaml, metrics: rouge"),
        ({"benchmarks": ["sampel"]}, r"^exam\.yaml: no benchmark named 'sampel'\. Did you mean 'sample'"),
        ({"benchmarks": ["jsonl(path=none.jsonl)"]}, r"^exam\.yaml: .*none\.jsonl"),
        ({"models": ["opnai/gpt"]}, r"^exam\.yaml: no provider 'opnai'\. Did you mean 'openai'\?"),
        ({"studies": ["rankin"]}, r"^exam\.yaml, studies: no study named 'rankin'\. Did you mean 'ranking'"),
        ({"primary": "bleu"}, r"^exam\.yaml, primary: nothing is scored by 'bleu' here"),
        ({"compare": [{"candidates": ["vllm/m"]}]}, r"^exam\.yaml, compare 1: no candidate named 'vllm/m'"),
        ({"plugins": ["none.py"]}, r"none\.py"),
    ],
)
@pytest.mark.parametrize("write", [shard_commands, slurm_job])
def test_a_plan_at_which_all_tasks_would_fail_makes_no_job(
    exam: Any,
    home: Path,
    write: Callable[[Path, ShardJob], object],
    changed: dict[str, Any],
    words: str,
) -> None:
    plan(home, exam(8), **changed)
    with pytest.raises(VivaError, match=words):
        write(Path("exam.yaml"), ShardJob(16))
    assert ["exam.yaml"] == [file.name for file in home.iterdir()]


PLUGIN = """
from vivavoce.core import registry
from vivavoce.benchmarks import Benchmark
from vivavoce.core.records import Card, Item


@registry.benchmark("only_here")
class OnlyHere(Benchmark):
    \"\"\"One question.\"\"\"

    card = Card(name="only_here", description="d", source="s", revision_note="-", licence="l", citation="c")

    def items(self):
        yield Item(benchmark="only_here", item="a", format="short", question="Why?", references=("so",))
"""


def test_a_benchmark_of_a_plugin_is_divided_too(home: Path) -> None:
    (home / "mine.py").write_text(PLUGIN)
    file = plan(home, "only_here", plugins=["mine.py"])
    words = [sys.executable, "-m", "vivavoce", "shards", file.name, "--of", "2", "--trust-plugins"]
    finished = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
    assert (0, "") == (finished.returncode, finished.stderr)
    assert 4 == len(finished.stdout.splitlines())


def test_the_merge_finds_a_job_in_a_folder_of_any_name(
    exam: Any, home: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm gives the words to `sh`, which need not be bash, and knows no $'…'."""
    folder = home / "josé's $(touch pwned)"
    folder.mkdir()
    monkeypatch.setenv("LC_ALL", "C")
    file = plan(home, exam(4))
    (folder / "job.sh").write_text(slurm_job(file, ShardJob(1)))
    subprocess.run(["bash", folder / "job.sh"], cwd=home, env=slurm.environment(), check=True)
    (_, merge) = slurm.jobs
    run_shards(file, 1)
    joined = slurm.wrapped(merge, cwd=home)
    assert 0 == joined.returncode, joined.stderr + joined.stdout


def test_where_an_answer_failed_for_good_the_rest_of_the_plan_runs_by_hand(
    exam: Any, home: Path, slurm: FakeSlurm, viva: Viva, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(request: web.Request) -> Any:
        if "Question 3?" in (await request.json())["messages"][-1]["content"]:
            return web.json_response({"error": "too long"}, status=400)
        return {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}

    monkeypatch.setenv("VLLM_BASE_URL", fake(answer).base_url)
    file = plan(home, exam(12), models=["vllm/m"], studies=["ranking"], report=True)
    array, merge = submitted(slurm, home, slurm_job(file, ShardJob(1)))
    assert 1 == slurm.task_in_process(array, 1, cwd=home)
    joined = slurm.wrapped_in_process(merge, cwd=home)
    assert 1 == joined.returncode
    assert "unfinished: 1." in joined.stdout
    assert not (home / "exam.html").exists()
    viva("run", file, code=1)
    assert (home / "exam.html").exists()


@pytest.mark.parametrize(
    ("folder", "path", "words"),
    [
        (
            "else",
            None,
            r"no plan exam\.yaml lies in .*else: submit the job from the folder where it was written",
        ),
        (
            ".",
            "bin",
            "there is no viva here: activate its environment, which the job takes along, and submit",
        ),
    ],
)
def test_a_job_that_could_not_run_is_not_submitted(
    exam: Any, home: Path, slurm: FakeSlurm, folder: str, path: str | None, words: str
) -> None:
    plan(home, exam(4))
    (home / "job.sh").write_text(slurm_job(Path("exam.yaml"), ShardJob(1)))
    for name in ("else", "bin"):
        (home / name).mkdir()
    (home / "bin" / "sbatch").symlink_to(slurm.folder / "sbatch")
    before = sorted(home.rglob("*"))
    environment = slurm.environment(**({"PATH": str(home / path)} if path else {}))
    bash = shutil.which("bash") or "bash"
    finished = subprocess.run(
        [bash, home / "job.sh"], cwd=home / folder, env=environment, capture_output=True, text=True
    )
    assert (2, "", 1) == (finished.returncode, finished.stdout, finished.stderr.count("\n"))
    assert re.search(words, finished.stderr)
    assert (before, []) == (sorted(home.rglob("*")), slurm.jobs)


def test_the_report_of_a_run_whose_name_has_no_end_is_copied_too(
    exam: Any, home: Path, slurm: FakeSlurm
) -> None:
    file = plan(home, exam(4), run="exam", report=True)
    (_, merge) = submitted(slurm, home, slurm_job(file, ShardJob(1)))
    run_shards(file, 1)
    joined = slurm.wrapped_in_process(merge, cwd=home)
    assert 0 == joined.returncode
    assert ["run: exam", "report: exam.html"] == joined.stdout.splitlines()[-2:]
    assert (home / "exam.html").exists()


def test_a_task_cut_after_its_work_is_done_is_not_started_again(
    exam: Any, home: Path, slurm: FakeSlurm
) -> None:
    """The last copy waits until the signal is there; a draft that a killed task left is gone."""
    script = slurm_job(plan(home, exam(4)), ShardJob(1)).replace(
        "bring_back ||", 'touch ended; while [ "$cut" = 0 ]; do sleep 0.1; done\n  bring_back ||'
    )
    (array, _) = submitted(slurm, home, script)
    draft = home / "exam-parts" / "part-1.viva.17.18.tmp"
    draft.touch()
    task = slurm.task(array, 1, cwd=home)
    _until((home / "ended").exists)
    task.send_signal(signal.SIGTERM)
    assert 0 == task.wait(60)
    assert [] == slurm.requeued
    assert 4 == viva_.open(home / "exam-parts" / "part-1.viva").responses.height
    assert not draft.exists()


def test_a_full_scratch_disk_ends_a_task_with_one_sentence_and_what_came_is_copied(
    exam: Any, home: Path, slurm: FakeSlurm, tmp_path: Path
) -> None:
    """A limit on the size of files stands for the disk: SQLite has one code for both."""
    file = plan(home, exam(60, change=lambda k: {"question": f"Question {k}? " + "why " * 900}))
    script = (
        slurm_job(file, ShardJob(1))
        .replace("at_work viva run", "limited viva run")
        .replace("\nshard() {", '\nlimited() { (ulimit -f 420; exec "$@") 2>said; }\n\nshard() {')
    )
    (array, _) = submitted(slurm, home, script)
    assert 2 == slurm.task(array, 1, cwd=home).wait(100)
    said = (home / "said").read_text()
    assert "the disk is full: nothing of this step was written" in said
    assert 1 == said.count("viva: ")
    part = home / "exam-parts" / "part-1.viva"
    before = viva_.open(part).responses.height
    assert [] == [check for check in viva_.open(part).verify() if check.wrong]
    (home / "job.sh").write_text(slurm_job(file, ShardJob(1)))
    assert 0 == slurm.task_in_process(array, 1, cwd=home, restarts=1)
    assert before < 60 == viva_.open(part).responses.height


def test_sigterm_is_an_interrupt_of_any_command(exam: Any, home: Path, serving: Any) -> None:
    server = serving(latency=0.3)
    (home / "p.yaml").write_text("vllm: {concurrency: 1}\n")
    words = ["collect", "exam.viva", exam(50), "--model", "vllm/m", "--providers", "p.yaml", "--quiet"]
    environment = {**os.environ, "VLLM_BASE_URL": server.base_url}
    process = subprocess.Popen(
        [sys.executable, "-m", "vivavoce", *words],
        cwd=home,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    _until(lambda: len(server.seen) > 1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert 130 == process.returncode
    assert "interrupted; what was stored is safe" in said
    height = viva_.open(home / "exam.viva").responses.height
    assert height == len(server.seen)  # what was on the wire was waited for
