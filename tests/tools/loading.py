"""Modules of `tools` and `bench`, which are no packages: their scripts import each other as neighbours."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def bench_module(name: str) -> Iterator[ModuleType]:
    """The module `bench/name.py` under its own name; it and its neighbours are forgotten at the end."""
    folder, modules = str(Path(TOOLS).with_name("bench")), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield import_module(name)
    finally:
        sys.path.remove(folder)
        for module in set(sys.modules) - modules:
            if str(getattr(sys.modules[module], "__file__", "")).startswith(folder):
                del sys.modules[module]
