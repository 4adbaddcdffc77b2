"""The modules of a plugin's own folder that its file imports, directly or through others: its program, too.

They are read from the import statements of the files, those inside functions included. Nothing is executed
for that, and the answer is the same whatever was scored, and in whichever process.
"""

import ast
import importlib.util
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import file_hash

_PACKAGE = Path(__file__).parents[1]
_INSTALLED = ("site-packages", "dist-packages")
_BY_NAME = ("import_module", "__import__")
"""Functions that import the module which their first argument names."""

Hashes = dict[str, str]
"""By the path of a file the first 8 hex digits of its SHA-256."""


class _Place(NamedTuple):
    """Where a module lies: its file, if it has one, and the folders of its submodules."""

    file: str | None
    folders: Sequence[str]


_of_plugins: dict[str, Hashes] = {}


def keep_modules(plugin: Path, module: ModuleType) -> None:
    """Keep, as of now, which modules of its folder a plugin imports that was loaded from a file."""
    _of_plugins[str(plugin)] = local_modules(plugin, plugin.parent, module)


def modules_of(plugin: str) -> Hashes:
    """The modules of its own folder that a loaded plugin imports, each with its hash when it was loaded."""
    return dict(_of_plugins.get(plugin, {}))


def local_modules(file: Path, folder: Path, module: ModuleType | None = None) -> Hashes:
    """The modules in a folder or below it that a file imports, and what these import, each with its hash.

    What the loaded `module` of the file holds counts too: it may have been imported in other ways. Modules of
    vivavoce, of the standard library and of installed packages are none of them.
    """
    hashes: Hashes = {}
    waiting, visited = [file, *_modules_in(module, folder)], set[Path]()
    while waiting:
        current = waiting.pop()
        if current in visited or not os.path.isfile(current):
            continue
        visited.add(current)
        if current != file:
            with suppress(InputError):  # it may not be read: importing it says so
                hashes[str(current)] = file_hash(current)
        waiting += _imported(current, folder)
    return dict(sorted(hashes.items()))


def inside(path: str | None, folder: Path) -> Path | None:
    """A file as it lies in a folder or below; null for one elsewhere, installed, or of vivavoce."""
    if not path:
        return None
    lexical, resolved = Path(path).absolute(), Path(os.path.realpath(path))
    relative = next((p.relative_to(folder) for p in (lexical, resolved) if p.is_relative_to(folder)), None)
    if relative is None or any(part in _INSTALLED for part in relative.parts):
        return None
    return None if _is_shipped(lexical) or _is_shipped(resolved) else folder / relative


def _is_shipped(path: Path) -> bool:
    """Whether a file is of vivavoce, of the standard library or of an installed package."""
    homes = (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(path.is_relative_to(home) for home in (_PACKAGE, *homes))


def _modules_in(module: ModuleType | None, folder: Path) -> Iterator[Path]:
    """The files in the folder of modules that a module holds by name, and of those that these hold."""
    visited, waiting = set[int](), [module] if module else []
    while waiting:
        values = [value for value in vars(waiting.pop()).values() if isinstance(value, ModuleType)]
        for value in values:
            if id(value) not in visited and (path := inside(_place_of(value).file, folder)):
                visited.add(id(value))
                waiting.append(value)
                yield path


def _imported(file: Path, folder: Path) -> Iterator[Path]:
    """The files in the folder of the modules that the statements of a file import."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name.split("."), (), folder)
        elif isinstance(node, ast.ImportFrom):
            yield from _imported_from(node, file, folder)
        elif isinstance(node, ast.Call) and (name := _imported_by_name(node)):
            yield from _files(name.split("."), (), folder)


def _imported_from(node: ast.ImportFrom, file: Path, folder: Path) -> Iterator[Path]:
    """The same of a statement `from … import …`, whose dots lead up from the file."""
    parts, names = (node.module or "").split("."), [alias.name for alias in node.names]
    if not node.level:
        yield from _files(parts, names, folder)
    elif node.level <= len(file.relative_to(folder).parts):
        package = file.parents[node.level - 1]
        start = _Place(str(package / "__init__.py"), [str(package)])
        yield from _below(start, list(filter(None, parts)), names, folder)


def _imported_by_name(call: ast.Call) -> str | None:
    """The module that a call such as `import_module("helpers")` imports; null for any other call."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    first = call.args[0] if call.args else None
    if function in _BY_NAME and isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value
    return None


def _tree(file: Path) -> ast.AST:
    """The statements of a file; none where it holds no Python that can be read, such as a compiled module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(importlib.util.decode_source(file.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _files(parts: Sequence[str], names: Sequence[str], folder: Path) -> Iterator[Path]:
    """The files in the folder of a module, of its packages, and of its submodules of these names."""
    top = parts[0]
    if not top or top == _PACKAGE.name or top in sys.builtin_module_names:
        return
    loaded = sys.modules.get(top)
    place = _place_of(loaded) if loaded else _place_in(None, top) or _place_in([str(folder)], top)
    yield from _below(place, parts[1:], names, folder)


def _below(place: _Place | None, parts: Sequence[str], names: Sequence[str], folder: Path) -> Iterator[Path]:
    """The same from a place downwards."""
    for part in parts:
        if place and (path := inside(place.file, folder)):
            yield path
        place = place and _place_in(place.folders, part)
    submodules = [_place_in(place.folders, name) for name in names] if place else []
    for entry in (place, *submodules):
        if entry and (path := inside(entry.file, folder)):
            yield path


def _place_in(folders: Sequence[str] | None, name: str) -> _Place | None:
    """Where Python would find a module in these folders; null: in those that it looks into."""
    spec = None
    with suppress(ImportError, ValueError, OSError):
        spec = PathFinder.find_spec(name, folders)
    if spec is None:
        return None
    return _Place(spec.origin if spec.has_location else None, list(spec.submodule_search_locations or ()))


def _place_of(module: ModuleType) -> _Place:
    file, folders = getattr(module, "__file__", None), getattr(module, "__path__", None)
    try:
        return _Place(file if isinstance(file, str) else None, [str(entry) for entry in folders or ()])
    except TypeError:  # what a library put in place of a module
        return _Place(None, ())
