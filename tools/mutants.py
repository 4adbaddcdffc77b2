"""Whether the tests notice small changes of the code: seeded mutants, and the share of them that is killed.

    python tools/mutants.py                               # 60 mutants by seed 19
    python tools/mutants.py --list --json > mutants.json  # choose them, run nothing
    python tools/mutants.py --mutants mutants.json        # the same ones again, after an edit
    python tools/mutants.py --tree PATH                   # of another checkout

Each mutant (`tools/mutation.py` has the kinds) is put into a copy of the repository, which children of the
tests import as well, and the tests that reach its module by the graph of imports run against it until the
first failure: those that bear its name first, then by distance, those of its room before others. One process
runs them all, file by file, so that the package is loaded once.

A mutant is *killed* by a test that fails, and *by time* where a test does not end. It *survives* when all its
tests passed, or those that fit into `--limit` seconds of CPU. Every test that killed runs once more at the
end, without a mutant: one that fails then proves nothing, and its mutants run again without it.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from import_graph import PACKAGE, Graph
from mutation import Finder, Mutant, choose, of_row

ROOT = Path(__file__).resolve().parents[1]
PROCESS = Path(__file__).with_name("mutant_process.py").resolve()
ROOMS = ("stats", "reading", "store", "studies/comparing", "models/engine")
TEST_CPU_S, TEST_WAIT_S = 40, 300
"""A test that needs more CPU, or more time by the clock of a busy machine, is taken for one without end."""
POLL_S = 1.0
"""How often a run is looked at."""
TIMED_OUT = -1000
"""The exit status of a run whose test has no end."""


@dataclass(frozen=True)
class Outcome:
    """What the tests made of one mutant.

    `verdict` is killed, time (killed, because a test did not end), survived, lost (it is not in the tree) or
    not run (the budget was spent, or it was ended from outside). `test` is the one that killed. `files`
    counts the files of tests that ran, of `reaching` in all; `cpu_s` is the CPU of the run with its children.
    """

    mutant: Mutant
    verdict: str
    test: str = ""
    place: str = ""
    files: int = 0
    reaching: int = 0
    cpu_s: float = 0.0

    @property
    def is_killed(self) -> bool:
        """Whether a test noticed."""
        return self.verdict in ("killed", "time")


def tests_of(graph: Graph, module: str) -> list[str]:
    """The modules of tests that reach a module, those first that will notice its change soonest.

    First the tests that are called like it and lie in its room, then the others by the fewest imports between
    them; a test of another room, or of another folder of the room, counts as one import further away.
    """
    _, *folders, stem = module.split(".")

    def order(test: str, distance: int) -> tuple[bool, int, str]:
        _, *test_folders, name = test.split(".")
        same_room = bool(test_folders) and test_folders == folders[: len(test_folders)]
        mirrors = same_room and name.removeprefix("test_") in (stem, stem.lstrip("_"))
        return (not mirrors, distance + (not same_room), test)

    return [test for test, _ in sorted(graph.tests_reaching([module]).items(), key=lambda pair: order(*pair))]


class Copy:
    """A copy of a repository, in which one mutant at a time is put."""

    def __init__(self, tree: Path, folder: Path):
        """`folder` does not exist yet."""
        shutil.copytree(tree, folder, ignore=lambda path, names: _not_copied(Path(path) == tree, names))
        self.folder = folder
        self.package = folder / "src" / PACKAGE
        self._result = folder.with_suffix(".json")
        # Threads of BLAS are counted as CPU and buy nothing in small tests.
        self._variables = {
            **os.environ,
            "PYTHONPATH": str(folder / "src"),
            "OMP_NUM_THREADS": "1",
            "OMP_WAIT_POLICY": "PASSIVE",
        }
        self._variables.pop("PYTHONDONTWRITEBYTECODE", None)
        self._require_own_package()

    def _require_own_package(self) -> None:
        """Raises `RuntimeError` if a child of a test would import another copy of the package."""
        code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_WHERE!r}], check=True)"
        done = subprocess.run(
            [sys.executable, "-c", code], env=self._variables, cwd=self.folder, capture_output=True, text=True
        )
        if Path(done.stdout.strip() or "/") != self.package / "__init__.py":
            raise RuntimeError(
                f"the tests would import {done.stdout.strip()}{done.stderr}, not {self.package}"
            )

    def mutate(self, path: Path, text: str) -> str:
        """Put a text into a file, whose bytecode goes; gives the text that was there."""
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        return original

    def call(self, function: str, arguments: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The exit status of a function of `mutant_process`, and what it wrote."""
        self._result.unlink(missing_ok=True)
        note = self._result.with_suffix(".test")
        note.unlink(missing_ok=True)
        values = {**arguments, "result": str(self._result)}
        process = subprocess.Popen(
            [sys.executable, str(PROCESS), function, json.dumps(values)],
            env=self._variables, cwd=self.folder, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        status = _wait(process, note)
        answer = json.loads(self._result.read_text(encoding="utf-8")) if self._result.exists() else {}
        started = note.read_text(encoding="utf-8") if note.exists() else ""
        return status, {"started": started, **answer}


_WHERE = f"import {PACKAGE}; print({PACKAGE}.__file__)"


def _not_copied(is_root: bool, names: Sequence[str]) -> list[str]:
    """Of the names in a folder those that are no part of a repository: environments, caches, built pages."""
    built = [name for name in names if is_root and (name.startswith(".") or name in ("site", "dist"))]
    return [*built, *(name for name in names if name == "__pycache__")]


def _wait(process: "subprocess.Popen[bytes]", note: Path) -> int:
    """The exit status of a run. It is ended, with all that it left, where one test does not end."""
    status, test = None, ""
    since, cpu = time.monotonic(), 0.0
    while status is None:
        try:
            status = process.wait(timeout=POLL_S)
        except subprocess.TimeoutExpired:
            started = note.read_text(encoding="utf-8") if note.exists() else ""
            if started != test:
                test, since, cpu = started, time.monotonic(), _cpu_s_of(process.pid)
            waited, worked = time.monotonic() - since, _cpu_s_of(process.pid) - cpu
            status = TIMED_OUT if waited > TEST_WAIT_S or worked > TEST_CPU_S else None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return status


def _cpu_s_of(pid: int) -> float:
    """CPU seconds of a process and of its children that ended; 0 where the system has no `/proc`.

    A timer in the process itself would make its clock of CPU too coarse for the tests that read it.
    """
    try:
        fields_of = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields_of[11:15])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Trial:
    """Mutants of a tree, the copies that they are run in, and what became of them."""

    tree: Path
    limit_s: float
    budget_s: float
    copies: SimpleQueue[Copy]
    graph: Graph
    ignored: set[str] = field(default_factory=set)

    def run(self, mutant: Mutant) -> Outcome:
        """What the tests make of a mutant."""
        finder = Finder(self.tree / "src" / PACKAGE)
        site, text = finder.find(mutant), finder.mutated(mutant)
        if site is None or text is None:
            return Outcome(mutant, "lost")
        place = f"src/{PACKAGE}/{site.mutant.module}.py:{site.mutant.line}"
        files = self._files(site.mutant.module)
        if spent_s() > self.budget_s:
            return Outcome(mutant, "not run", place=place, reaching=len(files))
        copy = self.copies.get()
        path = copy.package / f"{site.mutant.module}.py"
        original = copy.mutate(path, text)
        arguments = {"files": files, "limit_s": self.limit_s, "ignored": sorted(self.ignored)}
        try:
            status, answer = copy.call("run_tests", arguments)
        finally:
            copy.mutate(path, original)
            self.copies.put(copy)
        verdict, test = _verdict(status, answer)
        seconds = round(answer.get("cpu_s", 0.0), 1)
        outcome = Outcome(mutant, verdict, test, place, answer.get("files", 0), len(files), seconds)
        print(line_of(outcome), file=sys.stderr, flush=True)
        return outcome

    def _files(self, module: str) -> list[str]:
        name = self.graph.name_of(self.tree / "src" / PACKAGE / f"{module}.py")
        tests = tests_of(self.graph, name) if name else []
        return [self.graph.files[test].relative_to(self.tree).as_posix() for test in tests]

    def failing(self, tests: Sequence[str]) -> set[str]:
        """Those of these tests that fail, or do not end, without a mutant."""
        copy = self.copies.get()
        failing: set[str] = set()
        todo = list(tests)
        try:
            while todo:
                status, answer = copy.call("check_tests", {"tests": todo})
                failing |= set(answer.get("failed", ()))
                if status == 0:
                    break
                failing.add(answer["started"] or todo[0])
                todo = todo[1 + todo.index(answer["started"]) :] if answer["started"] in todo else []
        finally:
            self.copies.put(copy)
        return failing & set(tests)


def _verdict(status: int, answer: Mapping[str, Any]) -> tuple[str, str]:
    if status == TIMED_OUT:
        return "time", answer["started"]
    if status in (-signal.SIGTERM, -signal.SIGKILL, -signal.SIGINT):
        return "not run", ""  # ended from outside
    if status != 0:  # the process died: a fault that no test may survive
        return "killed", answer["started"]
    return ("killed", answer["failed"][0]) if answer["failed"] else ("survived", "")


def spent_s() -> float:
    """CPU seconds of all runs so far that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_all(
    tree: Path, mutants: Sequence[Mutant], *, limit_s: float, budget_s: float, jobs: int
) -> list[Outcome]:
    """What the tests of a tree make of mutants, in their order; a line on standard error for each."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for job in range(jobs):
            copies.put(Copy(tree, Path(folder).resolve() / f"tree{job}"))
        trial = Trial(tree, limit_s, budget_s, copies, Graph.of(tree))
        outcomes = {mutant: Outcome(mutant, "not run") for mutant in mutants}
        todo = list(mutants)
        with ThreadPoolExecutor(jobs) as pool:
            while todo:
                for outcome in pool.map(trial.run, todo):
                    outcomes[outcome.mutant] = outcome
                killers = sorted({outcomes[mutant].test for mutant in todo} - {""})
                unsound = trial.failing(killers) if killers else set()
                trial.ignored |= {test.partition("[")[0] for test in unsound}
                todo = [mutant for mutant in todo if outcomes[mutant].test in unsound]
                for test in sorted(unsound):
                    print(f"fails without a mutant too: {test}", file=sys.stderr, flush=True)
    return [outcomes[mutant] for mutant in mutants]


def line_of(outcome: Outcome) -> str:
    """One outcome as a line of text."""
    mutant = outcome.mutant
    place = outcome.place or f"{mutant.module}:{mutant.line}"
    change = f"{place} {mutant.function}: {mutant.kind}, {mutant.original[:60]!r}, {mutant.change}"
    by = f" by {outcome.test}" if outcome.test else ""
    tests = f"{outcome.files} of {outcome.reaching} files, {outcome.cpu_s:.0f} s"
    return f"{outcome.verdict:8} {change}{by} ({tests})"


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes by room as a table in Markdown, and each survivor as a line."""
    by_room: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        room = next((r for r in ROOMS if outcome.mutant.module.startswith(f"{r}/")), "others")
        by_room[room][outcome.verdict] += 1
        by_room["all"][outcome.verdict] += 1
    lines = ["| room | mutants | killed | by time | survived | share killed |", "|---|--:|--:|--:|--:|--:|"]
    for room in sorted(by_room, key=[*ROOMS, "others", "all"].index):
        counts = by_room[room]
        killed = counts["killed"] + counts["time"]
        total = killed + counts["survived"]
        share = f"{killed / total:.0%}" if total else ""
        lines.append(f"| {room} | {total} | {killed} | {counts['time']} | {counts['survived']} | {share} |")
    return "\n".join([*lines, "", *(line_of(outcome) for outcome in outcomes if not outcome.is_killed)])


def as_row(outcome: Outcome) -> dict[str, Any]:
    """An outcome, with its mutant, as JSON holds it."""
    verdict = {
        field.name: getattr(outcome, field.name) for field in fields(outcome) if field.name != "mutant"
    }
    return {**outcome.mutant._asdict(), **verdict}


def main() -> int:
    """Read the command line. The exit status is 0, whatever survived."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--n", type=int, default=60, help="how many mutants (default: 60)")
    parser.add_argument(
        "--mutants", type=Path, metavar="FILE", help="these, from the JSON of an earlier call"
    )
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose code and tests are used")
    parser.add_argument("--limit", type=float, default=40, metavar="S", help="CPU seconds for a mutant")
    parser.add_argument("--budget", type=float, default=40, metavar="MIN", help="CPU minutes for all of them")
    parser.add_argument("--jobs", type=int, default=1, help="how many run at the same time")
    parser.add_argument("--list", action="store_true", help="choose the mutants and run nothing")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tree = options.tree.resolve()
    if options.mutants:
        mutants = [of_row(row) for row in json.loads(options.mutants.read_text(encoding="utf-8"))["mutants"]]
    else:
        mutants = choose(tree / "src" / PACKAGE, ROOMS, options.n, options.seed)
    start = time.monotonic()
    if options.list:
        outcomes = [Outcome(mutant, "not run") for mutant in mutants]
    else:
        outcomes = run_all(
            tree, mutants, limit_s=options.limit, budget_s=60 * options.budget, jobs=options.jobs
        )
    if options.json:
        settings = {"seed": options.seed, "limit_s": options.limit, "cpu_s": round(spent_s())}
        print(json.dumps({**settings, "mutants": [as_row(outcome) for outcome in outcomes]}, indent=1))
    else:
        print(table(outcomes))
        print(
            f"\nAt most {options.limit:g} s of CPU a mutant; {spent_s() / 60:.1f} minutes of CPU in all, "
            f"{(time.monotonic() - start) / 60:.1f} by the clock."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
