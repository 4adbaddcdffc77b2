"""Large libraries that tests compare with, imported by the first test that uses them, not at collection.

    torch = lazy_module("torch")
    multitest = lazy_module("statsmodels.stats.multitest")

Each worker of pytest-xdist collects all tests, and most run few that need a large library.
"""

from importlib import import_module
from typing import Any

import pytest

LARGE = {
    *("datasets", "inspect_ai", "jsonschema", "lm_eval", "matplotlib", "nltk", "pandas", "ray", "sklearn"),
    *("statsmodels", "torch", "transformers"),
}
"""Libraries that cost a third of a second or 30 MB each: no test file imports one at its head."""


COLLECTED_MODULES = pytest.StashKey[frozenset[str]]()
"""Where conftest.py keeps the names of the modules that are loaded when all tests are collected."""


class LazyModule:
    """A module that is imported when a public name of it is first read. None can be set: patch by path."""

    __slots__ = ("module_name",)

    def __init__(self, module_name: str) -> None:
        self.module_name = module_name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # while it collects tests, pytest asks every object of a file for such names
            raise AttributeError(name)
        return getattr(import_module(self.module_name), name)


def lazy_module(module_name: str) -> Any:
    """The module with this dotted name, not imported yet; its first use raises what the import raises."""
    return LazyModule(module_name)
