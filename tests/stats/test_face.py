"""The public names of stats: each is that of its module, and costs its module only."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
import scipy

from vivavoce import stats


def loaded_by(code: str) -> set[str]:
    """The modules that a new process has loaded after this code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def parts(modules: set[str]) -> set[str]:
    """The parts of SciPy among these modules: `scipy.special` and its kind."""
    return modules & {f"scipy.{part}" for part in scipy.__all__}


def test_each_public_name_is_that_of_its_module() -> None:
    homes = {name: import_module(f"vivavoce.stats.{module}") for name, module in stats._MODULES.items()}
    assert [] == [name for name, home in homes.items() if getattr(stats, name) is not vars(home)[name]]


def test_a_public_name_has_one_module() -> None:
    names = [name for names in stats._NAMES.values() for name in names]
    assert sorted(names) == stats.__all__ == dir(stats)


def test_type_checkers_read_the_modules_of_the_table() -> None:
    stub = ast.parse(Path(stats.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = [node.module for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert [f"vivavoce.stats.{module}" for module in stats._NAMES] == imported


def test_a_function_loads_its_module_and_no_part_of_scipy() -> None:
    modules = loaded_by("from vivavoce import stats\nassert [0.1] == list(stats.holm([0.1]))")
    modules_of_stats = {name for name in modules if name.startswith("vivavoce.stats.")}
    assert {
        f"vivavoce.stats.{name}" for name in ("multiplicity", "_arrays", "_special", "sums")
    } == modules_of_stats
    assert set() == parts(modules)


def test_a_quantile_loads_the_special_functions_and_no_slow_part() -> None:
    loaded = parts(loaded_by("from vivavoce import stats\nstats.t_interval(0.5, 0.1, 9)"))
    assert "scipy.special" in loaded
    assert set() == loaded & {"scipy.cluster", "scipy.optimize", "scipy.spatial", "scipy.stats"}


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    code = "import vivavoce.stats.paired, vivavoce.stats.ratio\nfrom vivavoce import stats\n"
    loaded_by(f"{code}assert callable(stats.paired) and callable(stats.ratio)")


def test_a_module_is_there_by_its_name_too() -> None:
    loaded_by("from vivavoce import stats\nassert 'vivavoce.stats.power' == stats.power.__name__")


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'vivavoce\.stats' has no attribute 'nonsense'"):
        _ = stats.nonsense


def test_the_recipes_load_nothing_of_others_but_numpy_and_scipy(root: Path) -> None:
    page = (root / "docs" / "how-to" / "statistics-recipes.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert 11 == len(blocks), "the data, and ten questions"
    code = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n"
    loaded = loaded_by(code + textwrap.indent("\n".join(blocks), "    "))
    packages = {name.partition(".")[0] for name in loaded - loaded_by("import numpy, scipy.special")}
    assert {"scipy"} >= {name for name in packages if "site-packages" in origin_of(name)}


def origin_of(name: str) -> str:
    """Where a module's file lies, '' for what is built in."""
    try:
        spec = importlib.util.find_spec(name.partition(".")[0])
    except ValueError:
        return ""
    return str(spec.origin if spec else "")
