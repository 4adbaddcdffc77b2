"""Checks for the tests of others: `check_study` and its like for plugins, `assert_not_worse` for a gate.

The check of a door lies in the module of that door: `check_study` in `testing/study.py`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

_NO_DOORS = ("gate", "pytest_plugin")
_HOMES = {f"check_{m.name}": m.name for m in iter_modules(__path__) if m.name not in _NO_DOORS}
_HOMES["assert_not_worse"] = "gate"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vivavoce.testing' has no attribute {name!r}")
    return getattr(import_module(f"vivavoce.testing.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(_HOMES)
