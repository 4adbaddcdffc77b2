"""Arrays in, estimates out. NumPy and scipy.special only; nothing here knows of models, metrics or judges.

Conventions: the unit is the group; positive differences favour the first; null, never NaN, where something
cannot be estimated; a NaN that comes in is refused with its position.

`names.json` has the public names by module. A module is loaded when a name of it is first used.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from vivavoce.stats._special import load_on_use

load_on_use()
_NAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULES)


class _Face(ModuleType):
    """The package. A module does not hide the public name that it shares: `stats.paired` is the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _MODULES and isinstance(value, ModuleType)):  # which its first import binds here
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value
    if name in _NAMES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
