"""What the package offers: each name is there, is public where it lives, and costs nothing until it is
used.
"""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import vivavoce


@pytest.mark.parametrize("name", vivavoce.__all__)
def test_every_exported_name_can_be_had(name):
    assert getattr(vivavoce, name) is not None


def test_all_is_sorted_and_complete():
    assert sorted(vivavoce.__all__) == vivavoce.__all__
    assert {"__version__", *vivavoce._HOME} == set(vivavoce.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        vivavoce.nonsense  # noqa: B018 - the access is what is tested


@pytest.mark.parametrize("module", [m.name for m in pkgutil.walk_packages(vivavoce.__path__, "vivavoce.")
                                    if not m.name.endswith("__main__")])  # fmt: skip
def test_what_a_module_calls_public_exists(module):
    loaded = importlib.import_module(module)
    for name in getattr(loaded, "__all__", ()):
        assert hasattr(loaded, name), f"{module}.{name}"


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


def test_the_studies_load_no_part_of_scipy_that_few_of_them_call():
    """Half a second of every command that lists, runs or reports studies."""
    script = (
        "from vivavoce.core import registry\nregistry.entries('study')\nimport sys\n"
        "print(sorted({f'scipy.{x}' for x in ('cluster', 'optimize', 'spatial', 'stats')} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
