"""What the package offers: each name is there, is public where it lives, and costs nothing until it is
used.
"""

import importlib
import subprocess
import sys

import pytest
from tests.tools.loading import tool

import vivavoce

structure = tool("structure")

HEAVY = {"torch", "transformers", "inspect_ai"}
NEED_HEAVY = {
    "vivavoce.contrib.inspect.exam",
    "vivavoce.contrib.inspect.tasks",
    "vivavoce.evaluators.heads",
    "vivavoce.run.train.fitting",
}
"""Modules that import a heavy library at their head; the tests of their rooms import them."""


def test_every_exported_name_can_be_had():
    assert [] == [name for name in vivavoce.__all__ if getattr(vivavoce, name, None) is None]


def test_dir_and_a_star_give_every_public_name():
    names: dict[str, object] = {}
    exec("from vivavoce import *", names)
    assert set(vivavoce.__all__) == names.keys() - {"__builtins__"}
    assert vivavoce.__all__ == dir(vivavoce)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        vivavoce.nonsense  # noqa: B018 - the access is what is tested


def test_every_module_can_be_imported_without_a_heavy_library_and_has_what_it_calls_public():
    before = HEAVY & sys.modules.keys()
    missing = []
    for name in structure.modules().keys() - NEED_HEAVY - {"vivavoce.__main__"}:
        module = importlib.import_module(name)
        missing += [
            f"{name}.{public}" for public in getattr(module, "__all__", ()) if not hasattr(module, public)
        ]
    assert [] == missing
    assert before == HEAVY & sys.modules.keys()


@pytest.mark.parametrize(
    "code",
    [
        "import vivavoce",
        "import vivavoce; vivavoce.metric; vivavoce.Criterion",
        "import vivavoce; vivavoce.provider; vivavoce.Provider; vivavoce.Reply; vivavoce.Limits",
    ],
)
def test_importing_the_package_loads_nothing_heavy(code):
    """A plugin file must not pay for tables and statistics either."""
    script = (
        f"{code}\nimport sys; print(sorted({{'polars', 'numpy', 'scipy', 'sqlite3'}} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


def test_statistics_and_studies_load_a_part_of_scipy_when_a_function_needs_it():
    """`import scipy` at the head of a module loads none: `scipy.special` takes as long as NumPy itself."""
    rooms = {"stats", "studies"}
    modules = sorted(name for name in structure.modules() if structure.room(name) in rooms)
    script = (
        f"import {', '.join(modules)}\nimport scipy, sys\n"
        "print([part for part in scipy.__all__ if f'scipy.{part}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
