"""Modules of `tools` and `bench`, which are no packages: their scripts import each other as neighbours."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
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


def benchmark(name: str) -> ModuleType:
    """The module `bench/name.py`, which may import its neighbours; others may bear its name."""
    folder = Path(TOOLS).with_name("bench")
    spec = spec_from_file_location(f"bench_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module
