"""The process in which the tests run against one mutant; `tools/mutants.py` starts it.

    python tools/mutant_process.py check_tests '{"tests": [...], "result": "FILE"}'

The files of tests run one after another in this process, so that the package is imported once.
"""

import json
import math
import os
import sys
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

PASSES = (("not slow", 1.5), ("not slow", 6.0), ("not slow", math.inf), ("slow", math.inf))
"""The marks of tests, and the CPU seconds that one file of them may take, pass by pass."""
FIRST_FILE_S = 12.0
"""What the first file may take in any pass, the second half of it, the third a third."""


class Watch:
    """A plugin of pytest: stops at the first failure and at the limits, and writes which test runs.

    `failed` are the tests that failed. `over` says which limit was reached: of the run, or of one file.
    `complete` are files, each with a mark, whose tests have all run.
    """

    def __init__(self, limit_s: float, ignored: Iterable[str], note: Path):
        """`limit_s` is in CPU seconds; tests that are `ignored`, with all their parameters, do not run."""
        self.failed: list[str] = []
        self.over: Literal["", "run", "file"] = ""
        self.file_limit_s = math.inf
        self.complete: set[tuple[str, str]] = set()
        self._limit_s, self._note = limit_s, note
        self._ignored, self._ended = frozenset(ignored), set[str]()
        self._start_s: float | None = None

    def pytest_sessionstart(self) -> None:
        """A file begins."""
        self.over, self._start_s = "", None

    def pytest_runtest_call(self) -> None:
        """The time of a file begins with its first test: set-up and imports serve the files that follow."""
        if self._start_s is None:
            self._start_s = cpu_s()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Take out what ran before and what is ignored."""
        items[:] = [
            item
            for item in items
            if item.nodeid not in self._ended and item.nodeid.partition("[")[0] not in self._ignored
        ]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write which test runs."""
        self._note.write_text(nodeid, encoding="utf-8")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Look at the limits after each test."""
        result = yield
        self._ended.add(item.nodeid)
        if cpu_s() > self._limit_s:
            self.over = "run"
        elif self._start_s is not None and cpu_s() - self._start_s > self.file_limit_s:
            self.over = "file"
        item.session.shouldstop = self.over and f"the limit of the {self.over} is reached"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test fails in its set-up, in itself or afterwards."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file cannot be imported."""
        if report.failed:
            self.failed.append(report.nodeid)


def cpu_s() -> float:
    """The CPU seconds of this process and of its children that ended."""
    return sum(os.times()[:4])


def run_tests(
    files: Sequence[str],
    limit_s: float,
    ignored: Iterable[str],
    result: Path,
    passes: Iterable[tuple[str, float]] = PASSES,
    first_s: float = FIRST_FILE_S,
) -> None:
    """Run files of tests, one after another, until one fails or the limit is reached; write what happened.

    Most tests are cheap, so a file may take little at first and more in the next pass, where what ran before
    does not run again. The tests that are marked as slow come last.
    """
    watch = _prepare(Watch(limit_s, ignored, result.with_suffix(".test")))
    for mark, file_limit_s in passes:
        for position, file in enumerate(files, 1):
            if watch.failed or watch.over == "run":
                break
            watch.file_limit_s = max(file_limit_s, first_s / position)
            _run(file, mark, watch)
    ended = {file for file, _ in watch.complete}
    answer = {"failed": watch.failed[:1], "files": len(ended), "cpu_s": cpu_s()}
    result.write_text(json.dumps(answer), encoding="utf-8")


def _prepare(watch: Watch) -> Watch:
    sys.path[0] = os.getcwd()  # the tests import each other as `tests.…`, and know no module of this folder
    return watch


def _run(file: str, mark: str, watch: Watch) -> None:
    """Run those tests of a file that have the mark and did not run yet."""
    may_have_mark = mark != "slow" or "slow" in Path(file).read_text(encoding="utf-8")
    if (file, mark) in watch.complete or not may_have_mark:
        return
    status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-m", mark, file], plugins=[watch])
    if not watch.over:
        if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            watch.complete.add((file, mark))
        else:  # with no report of a test it was pytest that broke, say at the import of a conftest.py
            watch.failed.append(file)


def check_tests(tests: Iterable[str], result: Path) -> None:
    """Run these tests, all of them, and write which fail. A file without `::` counts with all its tests."""
    watch = _prepare(Watch(math.inf, (), result.with_suffix(".test")))
    for test in tests:
        pytest.main(["-q", "-p", "no:cacheprovider", test], plugins=[watch])
    result.write_text(json.dumps({"failed": watch.failed}), encoding="utf-8")


def main() -> None:
    """Read the command line: the name of a function and its arguments as JSON."""
    function = {"run_tests": run_tests, "check_tests": check_tests}[sys.argv[1]]
    arguments = json.loads(sys.argv[2])
    function(**{**arguments, "result": Path(arguments["result"])})  # type: ignore[operator]


if __name__ == "__main__":
    main()
