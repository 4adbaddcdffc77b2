"""Checks that hold a plugin to the list that our own members are held to: `vivavoce.testing.check_study`.

The check of a door lies in the module of that door: `check_study` in `testing/study.py`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

_DOORS = tuple(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> Any:
    door = name.removeprefix("check_")
    if door == name or door not in _DOORS:
        raise AttributeError(f"module 'vivavoce.testing' has no attribute {name!r}")
    return getattr(import_module(f"vivavoce.testing.{door}"), name)


def __dir__() -> list[str]:
    return [f"check_{door}" for door in _DOORS]
