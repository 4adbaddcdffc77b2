"""Ray itself, started on this machine: the rows of one process, whatever is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from tests.absent import absent
from tests.lengths import length
from tests.run.workers.every_format import answered, stored_scores
from tests.run.workers.test_rule_metrics import RULES, WITH_TEXT
from tests.soak.kills import broken, tables
from tests.studies.making import borrowed, made

from vivavoce.core import registry
from vivavoce.run.run import Run
from vivavoce.run.workers.ray_caretaker import processes_of

pytestmark = pytest.mark.slow
TARDY = Path(__file__).with_name("tardy.py")
N, FEW = 600, 200
KEY = "sk-kept-out-of-workers"
SPECS = length((*RULES[::4], *WITH_TEXT[1:]), (*RULES, *WITH_TEXT))
"""In the gate every fourth: `test_rule_metrics` holds what each stores from processes to one process."""
RNG = Random(20)
MOMENTS = (None, *(RNG.random() for _ in range(length(0, 20))))
"""When a raylet is killed: as soon as rows are stored, and in the long form at twenty random moments, each a
share of the time between the start of a raylet and the end of its command.
"""


@pytest.fixture(autouse=True)
def _ray() -> None:
    if find_spec("ray") is None or find_spec("grpc") is None:
        absent('no Ray: pip install "vivavoce[ray]"')


def two_cores() -> None:
    """Let a command, and the Ray that it starts, use two cores: each worker is a process of 100 MB."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


SHARED_RAY = """
import json, sys
from contextlib import ExitStack, contextmanager, nullcontext
from vivavoce.cli import main
from vivavoce.run.workers import ray_executor

with ExitStack() as exits:
    session = exits.enter_context(ray_executor.connect("ray"))
    *commands, last_command = json.loads(sys.argv[1])
    ray_executor.connect = lambda address, check: nullcontext(session)
    for sys.argv[1:] in commands:
        try:
            main()
        except SystemExit as end:
            print(chr(30), end.code)

    @contextmanager
    def connect(address, check):
        with exits.pop_all():
            yield session

    ray_executor.connect, sys.argv[1:] = connect, last_command
    main()
"""
"""Commands in one process that share a Ray, because to start it is dear; each but the last says its code.

The last one ends the process, and Ray, as if it had started it.
"""


def command(*words: object) -> "subprocess.Popen[str]":
    """`viva` in a process of its own."""
    return python("-m", "vivavoce", *words)


def python(*words: object, stdout: Any = subprocess.PIPE) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        stdout=stdout, stderr=subprocess.PIPE, text=True, preexec_fn=two_cores,
        env={**os.environ, "OPENAI_API_KEY": KEY},
    )  # fmt: skip


def finished(process: "subprocess.Popen[str]", code: int = 0) -> tuple[str, str]:
    output, errors = process.communicate(timeout=300)
    assert code == process.returncode, errors
    return output, errors


def descendants(process: "subprocess.Popen[str]") -> dict[int, str]:
    """The processes that a command has started, and those that these have, with their command lines."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(folder.name))
    lines, todo = {}, list(parents.get(process.pid, ()))
    while todo:
        pid = todo.pop()
        todo += parents.get(pid, ())
        try:
            lines[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return lines


def pids(process: "subprocess.Popen[str]", words: str) -> list[int]:
    return [pid for pid, line in descendants(process).items() if words in line]


def wait_for(condition: Callable[[], Any], process: "subprocess.Popen[str]") -> Any:
    end = time.monotonic() + 200
    while not (result := condition()) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
    return result


def n_stored(run: Run) -> int:
    with run.file.reading() as db:
        return int(db.execute("SELECT count(*) FROM scores").fetchone()[0])


class Outcome(NamedTuple):
    """What commands that shared a Ray left: the first lost workers, and the last one the raylet."""

    killed: Run
    """Scored by a slow metric while workers were killed."""
    alone: Run
    """Scored by every rule in one process, and varied, as `shared` was by Ray."""
    estimates: Sequence[Mapping[str, Any]]
    shared: Run
    cut: Run
    """The raylet was killed as soon as rows were stored."""
    process: "subprocess.Popen[str]"
    output: str
    errors: str
    started: dict[int, str]
    environments: list[str]
    addresses: set[str]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Scoring while workers are killed, by every rule, varying, and scoring until the raylet is killed."""
    folder, specs = tmp_path_factory.mktemp("shared"), SPECS
    variations = ("bias(type=[recency, authority], seed=1)", "neutralise")
    common = ("--workers", "ray", "--quiet")
    with borrowed():
        registry.load_plugin(TARDY)
        killed, cut = run_of(folder / "killed", FEW), run_of(folder / "cut")
        alone, shared = (answered(folder / f"{name}.viva", specs) for name in ("alone", "shared"))
        score = ("score", str(shared.file.path), *specs, *common, "--json")
        vary = ("vary", str(shared.file.path), *variations, *common)
        commands = [scoring_words(killed), score, vary, scoring_words(cut)]
        with (folder / "output").open("w") as file:  # a pipe would be full before anybody reads it
            process = python("-c", SHARED_RAY, json.dumps(commands), stdout=file)
        environments = list[str]()
        wait_for(lambda: environments_of(process, environments), process)
        addresses = listening(process)
        kill_workers(process, length(1, 2))
        finding = alone.score(*specs)
        alone.vary(*variations)
        wait_for(lambda: n_stored(cut), process)
        started = kill_raylet(process)
        _, errors = process.communicate(timeout=300)
    output = (folder / "output").read_text()
    runs = {"killed": killed, "alone": alone, "shared": shared, "cut": cut}
    facts = {"started": started, "environments": environments, "addresses": addresses}
    return Outcome(**runs, estimates=finding.rows, process=process, output=output, errors=errors, **facts)


@pytest.mark.parametrize("share", MOMENTS)
@pytest.mark.usefixtures("_plugin")
def test_a_killed_raylet_is_one_sentence_and_what_was_stored_stays(
    share: float | None,
    rows: list[tuple[Any, ...]],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if share is None:
        outcome = request.getfixturevalue("outcome")
        errors = outcome.errors.splitlines(keepends=True)[1:]  # before it the answers that did not arrive
        assert_ended_by_the_kill(outcome.process, outcome.started, "", "".join(errors), 2)
        stored = stored_scores(outcome.cut)
        assert 0 < len(stored) < N
        assert_holds_rows_of(outcome.cut, rows)
        monkeypatch.setenv("TARDY_MENDED", "1")
        outcome.cut.score(scoring_words(outcome.cut)[2])
        assert_completed(outcome.cut, stored, rows)
        return
    run = run_of(tmp_path / "run")
    process = command(*scoring_words(run))
    raylet_of(process)
    time.sleep(share * request.getfixturevalue("unkilled_s"))
    started = kill_raylet(process)
    assert_ended_by_the_kill(process, started, *process.communicate(timeout=300))
    assert_holds_rows_of(run, rows)
    stored = stored_scores(run)
    assert ("", "") == finished(command(*scoring_words(run)))
    assert_completed(run, stored, rows)


@pytest.mark.usefixtures("_plugin")
def test_ray_gives_the_rows_of_one_process_whatever_workers_are_killed(
    outcome: Outcome, tmp_path: Path
) -> None:
    completed, estimated, *codes = outcome.output.split(chr(30))
    assert "" == completed
    code, _, estimated = estimated.partition("\n")
    assert ["0", "1", "0"] == [code.strip(), *(code.strip() for code in codes)]  # some answers did not arrive
    assert outcome.errors.startswith("viva: ")
    assert outcome.environments
    assert not any(KEY in environment for environment in outcome.environments)
    assert outcome.addresses
    assert all(address.endswith("0100007F") for address in outcome.addresses)  # 127.0.0.1
    assert expected_rows(tmp_path / "few", FEW) == [row[1:] for row in stored_scores(outcome.killed)]
    alone, shared = outcome.alone, outcome.shared
    expected = stored_scores(alone)
    assert len(expected) > length(300, 1000)
    assert expected == stored_scores(shared)
    rows = json.loads(estimated)["rows"]
    assert len(outcome.estimates) == len(rows)
    assert {(row["metric"], row["estimate"]) for row in outcome.estimates} == {
        (row["metric"], row["estimate"]) for row in rows
    }
    varied = [table for table in tables(alone.file.path) if "provenance" not in str(table)]
    assert varied == [table for table in tables(shared.file.path) if "provenance" not in str(table)]


def environments_of(process: "subprocess.Popen[str]", environments: list[str]) -> bool:
    """Note what Ray's workers have for an environment, once there are some."""
    for pid in pids(process, "ray::"):
        try:
            environments.append(Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return bool(environments)


def listening(process: "subprocess.Popen[str]") -> set[str]:
    """The addresses at which a command and what it has started listen, in hexadecimal."""
    sockets = set[str]()
    for pid in (process.pid, *descendants(process)):
        for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):
                sockets.add(os.readlink(descriptor))
    lines = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    ours = [fields for fields in map(str.split, lines.splitlines()) if f"socket:[{fields[9]}]" in sockets]
    return {fields[1].partition(":")[0] for fields in ours if fields[3] == "0A"}


@pytest.fixture
def _plugin() -> Iterator[None]:
    with borrowed():
        registry.load_plugin(TARDY)
        yield


def run_of(folder: Path, n: int = N) -> Run:
    folder.mkdir()
    return made(folder, {"A": {f"q{k:04}": f"answer {k} {'so ' * (k % 7)}" for k in range(n)}})


def scoring_words(run: Run) -> tuple[str, ...]:
    spec = f"tardy(seconds={length(0.015, 0.03)})"
    return ("score", str(run.file.path), spec, "--plugin", str(TARDY), "--workers", "ray", "--quiet")


def expected_rows(folder: Path, n: int = N) -> list[tuple[Any, ...]]:
    run = run_of(folder, n)
    run.score("tardy")
    return [row[1:] for row in stored_scores(run)]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The rows of one process."""
    with borrowed():
        registry.load_plugin(TARDY)
        return sorted(expected_rows(tmp_path_factory.mktemp("rows") / "alone"))


@pytest.fixture(scope="module")
def unkilled_s(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds between the start of a raylet and the end of its command."""
    with borrowed():
        registry.load_plugin(TARDY)
        process = command(*scoring_words(run_of(tmp_path_factory.mktemp("unkilled") / "run")))
    raylet_of(process)
    begun = time.monotonic()
    assert ("", "") == finished(process)
    return time.monotonic() - begun


def raylet_of(process: "subprocess.Popen[str]") -> int | None:
    """The raylet that a command has started, as soon as there is one; null if the command ends before."""
    found = wait_for(lambda: pids(process, "raylet/raylet "), process)
    return found[0] if found else None


def kill_raylet(process: "subprocess.Popen[str]") -> dict[int, str]:
    """Kill the raylet of a command, and say what it had started: nothing where the command has ended."""
    started = {pid: line for pid, line in descendants(process).items() if line}
    for pid, line in started.items():
        if "raylet/raylet " in line:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return started


def assert_ended_by_the_kill(
    process: "subprocess.Popen[str]",
    started: dict[int, str],
    output: str,
    errors: str,
    code: int | None = None,
) -> None:
    """The command ends in one sentence, and leaves no process.

    Unless a code is stated: or it ends well, where Ray had started once more or all was done; or with Ray,
    whose library ends the program itself where its raylet ends while the two shake hands.
    """
    assert process.returncode in ((0, 1, 2) if code is None else (code,)), errors
    assert "" == output
    said = [line for line in errors.splitlines() if " core_worker" not in line]  # Ray's own, of the end
    if process.returncode == 1:
        assert re.search("Failed to (register worker to Raylet|get the system config from raylet)", errors)
    assert len(said) == (process.returncode == 2), errors
    assert all(line.startswith("viva: ") for line in said)
    if code:
        assert said[0].startswith("viva: Ray on this machine ended while its workers computed")
        assert said[0].endswith("what was stored is safe; rerun the command to resume.")
    assert_nothing_is_left(started)


def assert_nothing_is_left(started: dict[int, str]) -> None:
    """No process of a command that has ended runs any more, and the folder of its Ray is removed."""
    end = time.monotonic() + 20
    while (
        alive := {pid: line for pid, line in started.items() if is_running(pid)}
    ) and time.monotonic() < end:
        time.sleep(0.05)
    assert {} == alive
    folders = [line.split()[-1] for line in started.values() if "ray_caretaker.py" in line]
    assert len(folders) == bool(started), started
    for folder in folders:
        assert [] == processes_of(folder)
        assert not Path(folder).exists()


def assert_holds_rows_of(run: Run, rows: list[tuple[Any, ...]]) -> None:
    """What is stored are rows of one process, each once."""
    assert Counter(row[1:] for row in stored_scores(run)) <= Counter(rows)
    assert broken(run.file.path) is None


def kill_workers(process: "subprocess.Popen[str]", n: int) -> None:
    """Kill so many workers of a command, each as soon as one computes, so that much is left to do."""
    killed = set[int]()
    for _ in range(n):
        workers = wait_for(lambda: set(pids(process, "ray::vivavoce")) - killed, process)
        killed.add(min(workers))
        os.kill(min(workers), signal.SIGKILL)


def assert_completed(run: Run, stored: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> None:
    """A second command has added the rows that the first had not stored, and no other."""
    completed = stored_scores(run)
    assert set(stored) <= set(completed)
    assert rows == sorted(row[1:] for row in completed)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
