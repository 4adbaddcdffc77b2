"""SciPy's compiled functions without the rest of `scipy.special`, which takes long to import.

The package also brings NumPy's tools for Fortran and for tests, and reads all docstrings of its functions.
From here on `import scipy.special` loads its compiled functions alone, and all else on first use.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"
_COMPILED = frozenset(
    {
        *("bdtr", "bdtrc", "betainc", "betaincinv", "chdtrc", "chdtri", "fdtr", "fdtrc", "gammaln"),
        *("ndtr", "ndtri", "stdtr", "stdtrit"),
    }
)
"""The functions that are used here. They are the same objects in the whole package."""


class _Package(ModuleType):
    """The package, complete from the first use of a name that is not among the compiled functions."""

    def __init__(self, name: str, loader: Loader) -> None:
        super().__init__(name)
        self._loader, self._lock, self._is_complete = loader, RLock(), False

    def __getattr__(self, name: str) -> Any:
        if name in _COMPILED:
            return getattr(import_module(f"{_PACKAGE}._ufuncs"), name)
        with self._lock:  # another thread waits here; this one comes again by circular imports
            is_of_python = name.startswith("__") and name != "__all__"  # what Python itself gives a module
            if not self._is_complete and not is_of_python:
                self._is_complete = True
                self._loader.exec_module(self)
            return super().__getattribute__(name)


class _Loader(Loader):
    """Makes the package and leaves it to be completed."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The package, of which nothing is loaded."""
        return _Package(spec.name, self._loader)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: what is used will be loaded."""


class _Finder(MetaPathFinder):
    """Finds this one package before Python's own finder, with a loader of ours."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package as Python finds it; null for all others."""
        spec = PathFinder.find_spec(fullname, path) if fullname == _PACKAGE else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def load_on_use() -> None:
    """Let `scipy.special` load what is used, unless it is loaded already."""
    if _PACKAGE not in sys.modules and not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
