"""The tests that a change reaches: by imports, by folder for data, and those of the structure always."""

import subprocess

import pytest
from tests.tools.loading import tool

changed = tool("changed_tests")
graphs = tool("import_graph")

FILES = {
    "src/vivavoce/__init__.py": "",
    "src/vivavoce/words/__init__.py": "",
    "src/vivavoce/words/lexicon.py": "WORDS = 1\n",
    "src/vivavoce/words/words.yaml": "a: b\n",
    "src/vivavoce/numbers.py": "",
    "tests/test_words.py": "from vivavoce.words.lexicon import WORDS\n",
    "tests/test_numbers.py": "import vivavoce.numbers\n",
    "docs/guide.md": "",
}


@pytest.fixture
def repository(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def reached(repository, *names):
    graph = graphs.Graph.of(repository)
    tests = changed.tests_of(graph, repository, [repository / name for name in names])
    return [test for test in tests if test not in changed.STRUCTURE]


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/vivavoce/words/lexicon.py", ["tests/test_words.py"]),
        ("src/vivavoce/words/words.yaml", ["tests/test_words.py"]),
        ("src/vivavoce/words/removed.py", ["tests/test_words.py"]),
        ("src/vivavoce/numbers.py", ["tests/test_numbers.py"]),
        ("tests/test_numbers.py", ["tests/test_numbers.py"]),
        ("docs/guide.md", ["tests/test_docs.py"]),
        ("CHANGELOG.md", []),
    ],
)
def test_a_change_runs_the_tests_that_reach_it(repository, name, tests):
    assert tests == reached(repository, name)


def test_the_tests_of_the_structure_always_run(repository):
    assert {*changed.STRUCTURE} <= {*changed.tests_of(graphs.Graph.of(repository), repository, [])}


def test_files_of_the_last_commit_that_changed_and_new_ones_count(repository):
    def git(*words):
        settings = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *settings, *words], cwd=repository, check=True, capture_output=True)

    git("init")
    git("add", "-A")
    git("commit", "-m", "all")
    (repository / "src/vivavoce/numbers.py").write_text("ONE = 1\n")
    (repository / "tests/test_words.py").unlink()
    (repository / "new.txt").touch()
    names = {file.name for file in changed.changed_files(repository, "HEAD")}
    assert {"numbers.py", "test_words.py", "new.txt"} == names
