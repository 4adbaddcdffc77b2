"""The pytest plugin: a gate among a team's own tests, closed for everything that was not shown."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import scipy.stats  # noqa: F401 - pytester forgets what its tests import, and numpy's C modules load once
from tests.studies.making import SILENT, marked, twins

from vivavoce import testing
from vivavoce.core.errors import RunNotFound, SelectionError
from vivavoce.testing import assert_not_worse

pytest_plugins = "pytester"
OLD, AHEAD, BEHIND = twins([0.5, 0.7] * 6), twins([0.8, 0.9] * 6), twins([0.4] * 12)
SUITE = """
from vivavoce.testing import assert_not_worse as imported

def test_better(assert_not_worse):
    assert_not_worse("run.viva", "new", "old", metric="told", margin=0.1)

def test_worse():
    imported("run.viva", "worse", "old", metric="told", margin=0.1)

def test_same(assert_not_worse):
    assert_not_worse("run.viva", "same", "old", metric="told", margin=0.1)
"""


def test_a_suite_passes_what_was_shown_and_fails_on_the_rest(pytester: pytest.Pytester) -> None:
    marked(pytester.path, {"old": OLD, "new": AHEAD, "worse": BEHIND, "same": OLD})
    pytester.makepyfile(SUITE)
    result = pytester.runpytest()  # the plugin comes in by its entry point
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: worse (told, worth) is worse: old is better, and by more than*",
            "*AssertionError: same (told, worth) was not shown to be not worse than old by 0.1: it could be*",
        ]
    )
    result.stdout.no_fnmatch_line("*testing/gate.py*")  # the failing line is that of the test


@pytest.mark.parametrize("new", [OLD, twins([0.9] * 5), twins([SILENT] * 12), twins(["fail"] * 12)])
def test_everything_inconclusive_raises(tmp_path: Path, new: dict[str, str | float]) -> None:
    run = marked(tmp_path, {"old": OLD, "new": new})
    with pytest.raises(AssertionError, match="new"):
        assert_not_worse(run, "new", "old", metric="told", margin=0.05)


def test_what_is_not_there_is_an_error_and_no_pass(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": AHEAD})
    with pytest.raises(RunNotFound):
        assert_not_worse(tmp_path / "none.viva", "new", "old", metric="told", margin=0.1)
    with pytest.raises(SelectionError, match="no candidate named 'nobody'") as caught:
        assert_not_worse(run, "nobody", "old", metric="told", margin=0.1)
    assert 2 == len(caught.traceback)  # the test's own line and the hidden one, nothing of the inside
    with pytest.raises(SelectionError, match="asks by how much"):
        assert_not_worse(run.file.path, "new", "old", metric="told")


def test_the_package_declares_the_plugin(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"vivavoce": "vivavoce.testing.pytest_plugin"} == project["entry-points"]["pytest11"]


def test_the_plugin_loads_nothing_until_it_is_used() -> None:
    script = (
        "import sys, pytest; before = set(sys.modules); import vivavoce.testing.pytest_plugin\n"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('vivavoce')))\n"
        "print(sorted(m for m in sys.modules if m.startswith('vivavoce')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    others, ours = done.stdout.splitlines()
    assert "[]" == others.replace("'pkgutil'", "")
    assert "['vivavoce', 'vivavoce._version', 'vivavoce.testing', 'vivavoce.testing.pytest_plugin']" == ours


def test_the_names_that_tests_may_import() -> None:
    assert {"assert_not_worse", "check_metric", "check_study"} <= set(dir(testing))
    assert "check_gate" not in dir(testing)
    with pytest.raises(AttributeError, match="no attribute 'check_gate'"):
        testing.check_gate  # noqa: B018 - the access is what is tested
