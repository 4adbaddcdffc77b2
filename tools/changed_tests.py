"""The tests that reach what was changed: `make test-changed` runs them before a commit.

    python tools/changed_tests.py            # since the last commit, files that git does not track included
    python tools/changed_tests.py --since main

A test reaches a module by the imports of `import_graph.py`. A data file counts as the modules of its folder;
files of `docs`, `examples` and `tools` have tests of their own. The tests of the structure always run. The
gate, `make test`, runs all tests: what a test loads in another way is not seen here.
"""

import argparse
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from import_graph import Graph

ROOT = Path(__file__).resolve().parents[1]
STRUCTURE = ("tests/test_exports.py", "tests/test_house.py", "tests/test_layers.py")
OUTSIDE = {
    "docs": "tests/test_docs.py",
    "README.md": "tests/test_docs.py",
    "examples": "tests/test_examples.py",
    "tools": "tests/tools",
    "pyproject.toml": "tests/test_supply.py",
}
"""Which tests belong to a file that is neither in the package nor in the tests."""


def changed_files(root: Path, since: str) -> list[Path]:
    """The files that differ from a commit, or that git neither tracks nor ignores; removed ones included."""
    commands = (
        ("diff", "--name-only", "--no-renames", since),
        ("ls-files", "--others", "--exclude-standard"),
    )
    names: list[str] = []
    for command in commands:
        names += subprocess.run(
            ["git", *command], cwd=root, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    return [root / name for name in dict.fromkeys(names)]


def tests_of(graph: Graph, root: Path, files: Iterable[Path]) -> list[str]:
    """The files of tests, from the root on, that reach one of these files, and those of the structure."""
    paths = {*STRUCTURE}
    modules: set[str] = set()
    for file in files:
        place = file.relative_to(root)
        if name := graph.name_of(file):
            modules.add(name)
        elif place.parts[0] in ("src", "tests"):
            modules.update(_neighbours(graph, file))
        elif test := OUTSIDE.get(place.parts[0]):
            paths.add(test)
    tests = graph.tests_reaching(modules)
    return sorted(paths.union(str(graph.files[name].relative_to(root)) for name in tests))


def _neighbours(graph: Graph, file: Path) -> Iterator[str]:
    """The modules in the folder of a data file or of a removed module; without any, in the nearest above."""
    for folder in file.resolve().parents:
        names = [name for name, module in graph.files.items() if module.resolve().parent == folder]
        if names:
            yield from names
            return


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--since", default="HEAD", metavar="COMMIT", help="default: HEAD")
    options = parser.parse_args()
    print("\n".join(tests_of(Graph.of(ROOT), ROOT, changed_files(ROOT, options.since))))


if __name__ == "__main__":
    main()
