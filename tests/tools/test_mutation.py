"""Mutants of a file: which there are, how a seed chooses, and that an edit does not lose them."""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.tools.loading import tool

mutation = tool("mutation")

MEANS = '''\
"""Means of a few numbers: é stands before the columns that bytes and characters count apart."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import array
LIMIT = 3

def mean(values: "list[float] | None" = None, exact: bool = True) -> float:
    if not values:
        raise ValueError("no values")
    if exact and len(values) < LIMIT:
        return values[0] * 0.5
    try:
        é = "é" if values[0] == 1 else "e"; return 2.5
    except TypeError:
        print("no")
        return 0.0

class Means:
    @property
    def first(self) -> float:
        return f"{self.values[0] < 1}"
'''
CHANGES = [
    ("<module>", "constant", "3", "3 to 4"),
    ("mean", "constant", "True", "True to False"),
    ("mean", "exception", 'raise ValueError("no values")', "raise to pass"),
    ("mean", "branch", "exact and len(values) < LIMIT", "condition to False"),
    ("mean", "comparison", "len(values) < LIMIT", "< to <="),
    ("mean", "comparison", "len(values) < LIMIT", "< to >="),
    ("mean", "constant", "0", "0 to 1"),
    ("mean", "constant", "0.5", "0.5 to 1.0"),
    ("mean", "branch", "values[0] == 1", "condition to False"),
    ("mean", "comparison", "values[0] == 1", "== to !="),
    ("mean", "constant", "0", "0 to 1"),
    ("mean", "constant", "1", "1 to 2"),
    ("mean", "constant", "2.5", "2.5 to 5.0"),
    ("mean", "exception", 'print("no") return 0.0', "handler to pass"),
    ("mean", "constant", "0.0", "0.0 to 1.0"),
]


def test_the_mutants_of_a_file():
    mutants = [site.mutant for site in mutation.sites(MEANS, "stats/means")]
    assert sorted(CHANGES) == sorted((m.function, m.kind, m.original, m.change) for m in mutants)
    assert [0, 1] == [m.nth for m in mutants if m.original == "0"]
    assert {"stats/means"} == {m.module for m in mutants}


def test_each_changes_its_place_and_nothing_else():
    for site in mutation.sites(MEANS, "stats/means"):
        mutated = site.apply(MEANS)
        assert mutation.compiles(mutated)
        assert ast.unparse(ast.parse(MEANS)) != ast.unparse(ast.parse(mutated))
        assert MEANS[: site.start] == mutated[: site.start]
        assert mutated.endswith(MEANS[site.end :])
    assert "len(values) <= LIMIT" in next(
        site.apply(MEANS) for site in mutation.sites(MEANS, "") if site.mutant.change == "< to <="
    )


def test_what_is_no_python_is_said():
    assert not mutation.compiles("return (")
    with pytest.raises(SyntaxError):
        mutation.sites("def (", "broken")


@dataclass
class Package:
    folder: Path

    def write(self, module: str, text: str) -> None:
        file = self.folder / f"{module}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def chosen(self, n: int = 4, seed: int = 19):
        return mutation.choose(self.folder, ["stats", "store"], n, seed)

    def place(self, mutant) -> tuple[str, int] | None:
        site = mutation.Finder(self.folder).find(mutant)
        return (site.mutant.module, site.mutant.line) if site else None


@pytest.fixture
def package(tmp_path):
    package = Package(tmp_path)
    package.write("stats/means", MEANS)
    package.write("stats/ranks", "def rank(a, b):\n    if a:\n        return a > b\n    return 7\n")
    package.write(
        "store/rows", "def rows(a):\n    if a is None:\n        raise KeyError\n    return a + 1 <= 5\n"
    )
    return package


def test_a_seed_chooses_the_same_mutants_and_another_seed_others(package):
    assert package.chosen() == package.chosen()
    assert {("stats", 2), ("store", 1)} == {
        (room, sum(m.module.startswith(room) for m in package.chosen(3))) for room in ("stats", "store")
    }
    assert len({tuple(package.chosen(2, seed)) for seed in range(8)}) > 2
    assert [] == package.chosen(0)


def test_a_function_has_one_mutant_at_most(package):
    functions = [(m.module, m.function) for m in package.chosen(20)]
    assert sorted(set(functions)) == functions
    assert {("stats/means", "<module>"), ("stats/means", "mean"), ("stats/ranks", "rank")} < set(functions)


def test_a_room_that_is_not_there_is_refused(package):
    with pytest.raises(ValueError, match="no folder views"):
        mutation.choose(package.folder, ["views"], 3, 19)


def test_an_edit_elsewhere_changes_no_choice(package):
    chosen = package.chosen()
    package.write("stats/means", MEANS.replace("LIMIT = 3", '"""Three."""\n\nLIMIT = 3'))
    package.write("stats/empty", "def nothing():\n    return None\n")
    assert [m.identity for m in chosen] == [m.identity for m in package.chosen()]


def mutant(package, text: str, change: str):
    sites = [s for file in ("stats/means", "stats/ranks") for s in mutation.sites(
        (package.folder / f"{file}.py").read_text(encoding="utf-8"), file)]  # fmt: skip
    return next(s.mutant for s in sites if (s.mutant.original, s.mutant.change) == (text, change))


def test_a_mutant_is_recognised_after_edits(package):
    mutant_of_rank = mutant(package, "a > b", "> to >=")
    assert ("stats/ranks", 3) == package.place(mutant_of_rank)
    package.write("stats/ranks", "\n\ndef rank(a, b):\n    if a:\n        return a > b\n    return 8\n")
    assert ("stats/ranks", 5) == package.place(mutant_of_rank)
    package.write("stats/ranks", "def order(a, b):\n    return a > b\n")
    assert ("stats/ranks", 2) == package.place(mutant_of_rank), "the function was renamed"
    package.write("stats/ranks", "def rank(x, y):\n    return x > y\n")
    assert ("stats/ranks", 2) == package.place(mutant_of_rank), "the names were"


def test_a_mutant_is_recognised_in_a_module_that_was_moved(package):
    mutant_of_rank = mutant(package, "a > b", "> to >=")
    (package.folder / "stats" / "ranks.py").unlink()
    assert package.place(mutant_of_rank) is None
    package.write("order/ranks", "def rank(a, b):\n    return a > b\n")
    assert ("order/ranks", 2) == package.place(mutant_of_rank)
    assert "a >= b" in mutation.Finder(package.folder).mutated(mutant_of_rank)


def test_a_mutant_that_two_places_could_be_is_lost(package):
    mutant_of_rank = mutant(package, "a > b", "> to >=")
    package.write("stats/ranks", "def one(a, b):\n    return a > b\ndef two(a, b):\n    return a > b\n")
    assert package.place(mutant_of_rank) is None
    assert mutation.Finder(package.folder).mutated(mutant_of_rank) is None


def test_a_mutant_comes_back_from_json(package):
    for chosen in package.chosen():
        assert chosen == mutation.of_row({**chosen._asdict(), "verdict": "killed"})
    with pytest.raises(KeyError):
        mutation.of_row({"module": "stats/means"})
