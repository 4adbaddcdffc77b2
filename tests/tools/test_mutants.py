"""Mutants of a repository of three files, run by its own tests in processes as the tool starts them."""

import json
import sys

import pytest
from tests.tools.loading import tool

mutants = tool("mutants")

FILES = {
    "src/vivavoce/__init__.py": "",
    "src/vivavoce/testing/pytest_plugin.py": "",  # pytest loads it where the package is installed
    "src/vivavoce/stats/means.py": (
        "LIMIT = 10\n"
        "def mean(values):\n    if not values:\n        return 0.0\n    return sum(values) / len(values)\n"
        "def steps(n):\n    while n != 0:\n        n -= 1\n    return n\n"
    ),
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\nmarkers = ["slow"]\n',
    "tests/stats/test_means.py": (
        "import subprocess, sys\n"
        "from vivavoce.stats.means import mean, steps\n"
        "def test_steps():\n    assert 0 == steps(3)\n"
        "def test_in_a_child():\n"
        "    code = 'from vivavoce.stats.means import mean; print(mean([]))'\n"
        "    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
        "    assert '0.0\\n' == done.stdout\n"
    ),
    "tests/test_all.py": "from vivavoce.stats import means\ndef test_mean():\n    assert means.mean([1])\n",
    "tests/test_broken.py": "from vivavoce.stats import means\ndef test():\n    assert means.LIMIT == 9\n",
    "tests/test_words.py": "def test_word():\n    assert False\n",
}


def write(folder, files):
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def _no_plugins():
    """The tests of these trees use no plugin of pytest, and loading them all takes longer than the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository").resolve()
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def package(tree):
    return tree / "src" / "vivavoce"


@pytest.fixture(scope="module")
def chosen(package):
    """A mutant in each of three places, and one of a file that is no more."""
    sites = tool("mutation").sites((package / "stats/means.py").read_text(encoding="utf-8"), "stats/means")
    places = {"10 to 11": "limit", "0.0 to 1.0": "mean", "1 to 2": "steps"}
    mutants = {places[s.mutant.change]: s.mutant for s in sites if s.mutant.change in places}
    return {**mutants, "lost": mutants["limit"]._replace(module="stats/medians", original="12")}


@pytest.fixture(scope="module")
def outcomes(tree, chosen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutants, "TEST_CPU_S", 1)
        patch.setattr(mutants, "POLL_S", 0.1)
        rows = mutants.run_all(tree, list(chosen.values()), limit_s=30, budget_s=3600, jobs=1)
    return dict(zip(chosen, rows, strict=True))


def test_a_child_of_a_test_sees_the_mutant(outcomes):
    killed = outcomes["mean"]
    assert ("killed", "tests/stats/test_means.py::test_in_a_child") == (killed.verdict, killed.test)
    assert "src/vivavoce/stats/means.py:4" == killed.place


def test_a_test_without_end_kills_and_is_named(outcomes):
    killed = outcomes["steps"]
    assert ("time", "tests/stats/test_means.py::test_steps") == (killed.verdict, killed.test)
    assert killed.is_killed


def test_a_test_that_fails_without_a_mutant_kills_none(outcomes):
    survivor = outcomes["limit"]
    assert ("survived", "", 3, 3) == (survivor.verdict, survivor.test, survivor.files, survivor.reaching)


def test_a_mutant_that_is_not_in_the_tree_is_lost(outcomes):
    assert "lost" == outcomes["lost"].verdict


def test_the_tree_stays_as_it_was(outcomes, tree):
    assert FILES == {
        file.relative_to(tree).as_posix(): file.read_text(encoding="utf-8")
        for file in tree.rglob("*")
        if file.is_file()
    }


def test_every_test_runs_once_the_dear_ones_of_a_file_later_and_the_slow_ones_last(tmp_path):
    body = (
        "import pathlib, pytest, time\n"
        "def ran(name, seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end: pass\n"
        "    with open('order.txt', 'a') as file: print(name, file=file)\n"
    )
    files = {
        "src/vivavoce/__init__.py": "",
        "src/vivavoce/testing/pytest_plugin.py": "",
        "pyproject.toml": FILES["pyproject.toml"],
        "tests/test_a.py": (
            f"{body}@pytest.mark.slow\ndef test_slow(): ran('a slow', 0)\n"
            "def test_dear(): ran('a dear', 0.3)\ndef test_next(): ran('a next', 0)\n"
        ),
        "tests/test_b.py": f"{body}def test_cheap(): ran('b', 0)\n",
    }
    write(tmp_path / "tree", files)
    copy = mutants.Copy(tmp_path / "tree", tmp_path / "copy")
    arguments = {"files": ["tests/test_a.py", "tests/test_b.py"], "limit_s": 30, "ignored": []}
    passes = [["not slow", 0.1], ["not slow", 9], ["slow", 9]]
    status, answer = copy.call("run_tests", {**arguments, "passes": passes, "first_s": 0})
    assert (0, [], 2) == (status, answer["failed"], answer["files"])
    assert ["a dear", "b", "a next", "a slow"] == (copy.folder / "order.txt").read_text().splitlines()


def test_the_name_of_the_module_comes_first_then_the_distance(tree):
    graph = mutants.Graph.of(tree)
    tests = ["tests.stats.test_means", "tests.test_all", "tests.test_broken"]
    assert tests == mutants.tests_of(graph, "vivavoce.stats.means")
    assert [] == mutants.tests_of(graph, "vivavoce.testing.pytest_plugin")


def test_what_the_budget_does_not_allow_is_not_run(tree, chosen):
    (outcome,) = mutants.run_all(tree, [chosen["mean"]], limit_s=30, budget_s=-1, jobs=1)
    assert ("not run", 3) == (outcome.verdict, outcome.reaching)


def test_the_table_counts_by_room_and_lists_what_is_not_killed(outcomes):
    lines = mutants.table(list(outcomes.values())).splitlines()
    assert "| stats | 3 | 2 | 1 | 1 | 67% |" == lines[2]
    assert "| all | 3 | 2 | 1 | 1 | 67% |" == lines[3]
    assert ["survived src/vivavoce/stats/means.py:1", "lost     stats/medians:1"] == [
        line[: line.index(" <module>")] for line in lines[5:]
    ]
    assert "'10', 10 to 11 (3 of 3 files" in lines[5]


def test_rows_can_be_given_back(outcomes, chosen, tree, tmp_path, monkeypatch, capsys):
    rows = [mutants.as_row(outcome) for outcome in outcomes.values()]
    file = tmp_path / "mutants.json"
    file.write_text(json.dumps({"mutants": rows}), encoding="utf-8")
    words = ["mutants.py", "--mutants", file, "--tree", tree, "--list", "--json"]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    assert 0 == mutants.main()
    printed = json.loads(capsys.readouterr().out)["mutants"]
    assert list(chosen.values()) == list(map(mutants.of_row, printed))
