"""The graph of imports, on a tree of a few files and on this repository."""

from pathlib import Path

import pytest
from tests.tools.loading import tool

import_graph = tool("import_graph")

SOURCES = {
    "__init__": "",
    "core/__init__": "",
    "core/registry": "",
    "core/text": "",
    "stats/__init__": "from vivavoce.stats.means import Mean, mean\nfrom vivavoce.stats.ranks import rank",
    "stats/means": "",
    "stats/ranks": "",
    "metrics/__init__": "from vivavoce.core.registry import metric",
    "metrics/rouge": (
        "import vivavoce as viva\n@viva.metric('rouge', aliases={'rougeL': {}})\nclass Rouge: ..."
    ),
    "run": "def report():\n    from vivavoce import stats\n    return stats",
    "study": "from vivavoce import stats\nMEAN: stats.Mean = stats.mean",
    "texts/__init__": "if TYPE_CHECKING:\n    from vivavoce.texts.words import *",
    "texts/words": "LEAST: int = 2\ndef words(): ...",
    "reader": "from vivavoce.texts import LEAST, words",
    "cli/__init__": "import vivavoce.run",
    "cli/commands": (
        "from importlib import import_module\n"
        "def command():\n    return import_module(f'vivavoce.cli.{\"show\"}')"
    ),
    "cli/show": "",
    "cli/other": "SHOW = 'show'",
    "__main__": "from vivavoce import cli",
}
TESTS = {
    "conftest": (
        "import pytest\n"
        "@pytest.fixture\n"
        "def viva():\n    from vivavoce import cli\n    return cli\n"
        "@pytest.fixture(autouse=True)\n"
        "def _clean():\n    from vivavoce.stats import means\n"
    ),
    "stats/test_means": "from vivavoce.stats import mean",
    "stats/test_ranks": "from tests.stats.corpora import RANKS",
    "stats/corpora": "from vivavoce.stats.ranks import rank as RANKS",
    "test_command": "def test_help(viva): ...",
    "test_process": "words = ['python', '-m', 'vivavoce']",
    "test_code": "CODE = '''\n    import sys\n    from vivavoce.core.text import words\n'''",
    "test_spec": "from vivavoce.core import registry\nregistry.build('metric', 'rougeL(stem=yes)')",
    "test_attribute": "from vivavoce import stats\nassert stats.mean",
    "test_object": "from vivavoce import stats\nassert dir(stats)",
    "test_word": '"""Of rouge."""\nWORDS = ["rouge"]',
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    for folder, files in (("src/vivavoce", SOURCES), ("tests", TESTS)):
        for name, text in files.items():
            file = root / folder / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return import_graph.Graph.of(root)


def reaching(graph, *modules: str) -> dict[str, int]:
    steps = graph.tests_reaching(f"vivavoce.{module}" for module in modules)
    return {test.removeprefix("tests."): distance for test, distance in steps.items()}


def test_files_have_dotted_names_and_a_package_the_name_of_its_folder(graph):
    assert {"vivavoce", "vivavoce.stats", "vivavoce.stats.means", "tests.stats.corpora"} <= graph.files.keys()
    assert "vivavoce.stats" == graph.name_of(graph.files["vivavoce.stats"])
    assert graph.name_of(Path("/nowhere.py")) is None


def test_a_name_of_a_face_is_imported_from_its_home(graph):
    assert {"tests.conftest", "vivavoce.stats.means"} == graph.imports["tests.stats.test_means"]


def test_of_a_face_that_is_used_by_its_names_alone_these_are_imported(graph):
    assert {"vivavoce.stats.means"} == graph.imports["vivavoce.study"]


def test_a_name_of_a_star_is_that_of_the_module_that_defines_it(graph):
    assert {"vivavoce.texts.words"} == graph.imports["vivavoce.reader"]


def test_imports_inside_functions_count(graph):
    assert {"vivavoce.stats"} == graph.imports["vivavoce.run"]


def test_a_neighbour_that_is_imported_by_its_name_counts(graph):
    assert "vivavoce.cli.show" in graph.imports["vivavoce.cli.commands"]
    assert "vivavoce.cli.show" not in graph.imports["vivavoce.cli.other"]


def test_a_test_reaches_what_its_helpers_import_and_the_nearest_comes_first(graph):
    tests = {"stats.test_ranks": 2, "test_object": 2, "test_command": 4, "test_process": 5}
    assert list(tests.items()) == list(reaching(graph, "stats.ranks").items())


def test_a_fixture_counts_for_tests_that_name_it_and_one_that_every_test_uses_for_none(graph):
    assert {"test_command": 1, "test_process": 2} == reaching(graph, "cli")
    assert {"test_command", "test_process", "stats.test_means"} < reaching(graph, "stats.means").keys()


def test_an_attribute_of_a_package_is_imported_from_its_home(graph):
    assert {"tests.conftest", "vivavoce.stats.means"} == graph.imports["tests.test_attribute"]
    assert {"tests.conftest", "vivavoce.stats"} == graph.imports["tests.test_object"]


def test_code_that_a_test_gives_to_a_child_process_counts(graph):
    assert {"test_code": 1} == reaching(graph, "core.text")


def test_a_registered_name_counts_where_the_registry_is_in_reach(graph):
    assert {"test_spec": 1} == reaching(graph, "metrics.rouge")


def test_a_face_is_reached_by_whoever_imports_from_its_package(graph):
    assert {"stats.test_means", "stats.test_ranks"} <= reaching(graph, "stats").keys()


def test_relative_imports_and_broken_files(tmp_path):
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    with pytest.raises(SyntaxError):
        import_graph.scan(tmp_path / "broken.py")
    (tmp_path / "relative.py").write_text("from . import near\nimport far", encoding="utf-8")
    assert {"far"} == import_graph.scan(tmp_path / "relative.py").imports


def test_the_doors_are_those_of_the_registry():
    from vivavoce.core import registry

    assert set(registry.DOORS) == import_graph.DOORS


def test_every_module_of_statistics_is_reached_by_its_tests(root):
    files = import_graph.modules(root / "src" / "vivavoce" / "stats", "vivavoce.stats")
    graph = import_graph.Graph(files | import_graph.modules(root / "tests" / "stats", "tests.stats"))
    assert len(files) > 30
    assert [] == [module for module in files if not graph.tests_reaching([module])]
    assert "tests.stats.test_paired" in graph.tests_reaching(["vivavoce.stats.paired"])


def test_what_every_test_loads_depends_on_no_module_of_the_package(root, tmp_path):
    """Else every test would reach every module, and `make test-changed` would run all."""
    (empty := tmp_path / "empty.py").touch()
    files = import_graph.modules(root / "src" / "vivavoce", "vivavoce")
    files |= import_graph.modules(root / "tests", "tests")
    unread = [name for name in files if name.startswith("vivavoce") or import_graph.is_test(name)]
    graph = import_graph.Graph(files | dict.fromkeys(unread, empty))
    loaded = ["tests.conftest"]
    for name in loaded:  # grows while it is read
        loaded += [module for module in graph.imports[name] if module not in loaded]
    assert len(loaded) > 5
    assert [] == [name for name in loaded if name in unread]
