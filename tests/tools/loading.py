"""Modules of the folder `tools`, which is no package: its scripts import each other as neighbours."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")


def tool(name: str) -> ModuleType:
    """The module `tools/name.py`."""
    sys.path.insert(0, TOOLS)
    try:
        return import_module(name)
    finally:
        sys.path.remove(TOOLS)
