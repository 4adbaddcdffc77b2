"""Names to objects: what can be written in a spec, and what a spec becomes.

Benchmarks, metrics and variations register themselves with a decorator when their module is imported. Modules
are found in this package, through the entry point group `vivavoce`, and by `load_plugin(path)`. Registering
imports nothing heavy, and a registered class holds settings only, never results.
"""

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from vivavoce.errors import InputError, SpecError, suggest
from vivavoce.specs import Setting, Spec, parse, show

__all__ = [
    "Entry",
    "benchmark",
    "build",
    "canonical",
    "defaults",
    "entries",
    "find",
    "known",
    "load_plugin",
    "metric",
    "plugins",
    "settings",
    "signature",
    "variation",
    "whole",
]

Kind = Literal["benchmark", "metric", "variation"]
T = TypeVar("T")

_HOMES: dict[Kind, str] = {
    "benchmark": "vivavoce.benchmarks",
    "metric": "vivavoce.metrics",
    "variation": "vivavoce.vary",
}
_OFFERS = {
    "benchmark": ("card", "items"),
    "metric": ("criteria", "formats", "needs", "values"),
    "variation": ("makes",),
}


class Entry(NamedTuple):
    """A registered name: the class behind it, its version, and where it comes from."""

    kind: Kind
    name: str
    cls: type
    version: int
    origin: str


_entries: dict[tuple[Kind, str], Entry] = {}
_plugins: dict[str, str] = {}
_origin = ["vivavoce"]


def _register(kind: Kind, name: str, version: int) -> Callable[[type[T]], type[T]]:
    def register(cls: type[T]) -> type[T]:
        made = dataclass(frozen=True, kw_only=True)(cls)
        named = {f.name for f in fields(made)}  # type: ignore[arg-type]
        lacking = [what for what in _OFFERS[kind] if not hasattr(made, what) and what not in named]
        if lacking:
            raise SpecError(f"the {kind} {name!r} has no {', '.join(lacking)}: every {kind} needs that.")
        made.__str__ = lambda self: str(canonical(self))  # type: ignore[method-assign]
        entry = Entry(kind, name, made, version, _origin[-1])
        there = _entries.get((kind, name))
        if there and there.origin != entry.origin:
            raise SpecError(f"the {kind} {name!r} of {entry.origin} is there already, from {there.origin}.")
        _entries[kind, name] = entry
        return made

    return register


@dataclass_transform(frozen_default=True, kw_only_default=True)
def benchmark(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class with a `card` and `items()` as the benchmark `name`; it becomes a frozen dataclass."""
    return _register("benchmark", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def metric(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class with `criteria`, `formats` and `values(rows, lab)` as the metric `name`.

    It becomes a frozen dataclass, its fields are the settings a spec may hold. A change that moves any number
    raises `version`, which is part of the signature.
    """
    return _register("metric", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def variation(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class with `makes(stock, desk)` as the variation `name` of items or answers.

    It becomes a frozen dataclass, its fields are the settings a spec may hold.
    """
    return _register("variation", name, version)


@cache
def _load_home(kind: Kind) -> None:
    package = importlib.import_module(_HOMES[kind])
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{_HOMES[kind]}.{module.name}")


@cache
def _load_entry_points() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="vivavoce"):
        _origin.append(f"entry point {point.name} ({point.value})")
        try:
            point.load()
        except Exception as error:  # a stranger's package: name it, and stop
            raise SpecError(f"the plugin {point.name} ({point.value}) cannot be loaded: {error}") from error
        finally:
            _origin.pop()


def load_plugin(path: str | Path) -> None:
    """Import the Python file at `path`, so that what it registers can be named. Its hash goes to provenance.

    Raises `SpecError` if there is no such file or it fails.
    """
    try:
        file = Path(path).resolve()
        there = file.is_file()
    except (OSError, ValueError):  # a name that is too long, or no name at all
        there = False
    if not there:
        raise SpecError(f"no plugin file at {str(path)!r}.")
    if str(file) in _plugins:
        return
    for kind in _HOMES:  # so that a name taken twice is noticed here
        _load_home(kind)
    name = f"vivavoce_plugin_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise SpecError(f"the plugin {str(path)!r} is no Python file: its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name
    _origin.append(f"plugin {path}")
    try:
        spec.loader.exec_module(module)
    except SpecError:
        raise
    except (Exception, SystemExit) as error:
        raise SpecError(
            f"the plugin {str(path)!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    finally:
        _origin.pop()
    _plugins[str(file)] = file_hash(file)


def plugins() -> dict[str, str]:
    """The plugin files loaded in this process, with the hash of each."""
    return dict(_plugins)


def entries(kind: Kind) -> list[Entry]:
    """Everything registered of a kind, by name."""
    _load_home(kind)
    _load_entry_points()
    return sorted((e for e in _entries.values() if e.kind == kind), key=lambda e: e.name)


def known(kind: Kind) -> dict[str, type]:
    """The classes registered of a kind, by name."""
    return {entry.name: entry.cls for entry in entries(kind)}


def find(kind: Kind, name: str) -> Entry:
    """The entry of that name. Raises `SpecError` with a suggestion."""
    known = {entry.name: entry for entry in entries(kind)}
    if name not in known:
        raise SpecError(f"no {kind} named {name!r}.{suggest(name, list(known))}")
    return known[name]


def build(kind: Kind, spec: Spec | str) -> Any:
    """The object that a spec names, its settings checked against the class's fields.

    Raises `SpecError` for an unknown name or setting, a missing one, or a value of the wrong type.
    """
    spec = parse(spec) if isinstance(spec, str) else spec
    entry = find(kind, spec.name)
    hints = _hints(entry)
    known = {f.name: f for f in fields(entry.cls) if f.init}
    for key in spec.settings:
        if key not in known:
            raise SpecError(f"{spec.name} has no setting {key!r}.{suggest(key, list(known))}")
    for key, f in known.items():
        if f.default is MISSING and f.default_factory is MISSING and key not in spec.settings:
            raise SpecError(f"{spec.name} needs {key}={_wanted(hints[key])}: write {spec.name}({key}=…).")
    given = {key: _typed(spec, key, value, hints[key]) for key, value in spec.settings.items()}
    try:
        return entry.cls(**given)
    except (TypeError, ValueError) as error:  # the class checks its settings itself
        raise SpecError(f"{spec}: {str(error).rstrip('.')}.") from error


def settings(entry: Entry) -> dict[str, str]:
    """The settings that a spec of this name may hold, each with what it takes, in words."""
    hints = _hints(entry)
    return {f.name: _wanted(hints[f.name]) for f in fields(entry.cls) if f.init}


def defaults(entry: Entry) -> dict[str, Setting]:
    """The settings of this name that need not be given, each with its value."""
    made = {
        f.name: f.default if f.default_factory is MISSING else f.default_factory()
        for f in fields(entry.cls)
        if f.init
    }
    return {name: _stated(value) for name, value in made.items() if value is not MISSING}


def _hints(entry: Entry) -> dict[str, Any]:
    try:
        return get_type_hints(entry.cls)
    except NameError as error:
        raise SpecError(
            f"the {entry.kind} {entry.name!r} of {entry.origin} has a setting of a type that it does not "
            f"import: {error}."
        ) from error


def _wanted(hint: Any) -> str:
    """A type in words a user knows."""
    if get_origin(hint) is Literal:
        return "|".join(str(a) for a in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_wanted(a) for a in get_args(hint))
    if get_origin(hint) is tuple:
        return f"[{_wanted(get_args(hint)[0])}, …]"
    words = {Spec: "a spec", str: "text", int: "a whole number", float: "a number", bool: "true|false"}
    words[Path] = "a path"
    return words.get(hint, "null" if hint is types.NoneType else getattr(hint, "__name__", str(hint)))


def _typed(spec: Spec, key: str, value: Setting, hint: Any) -> Any:
    """`value` as the type `hint` wants it. Raises `SpecError` where it does not fit."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        for choice in args:
            try:
                return _typed(spec, key, value, choice)
            except SpecError:
                continue
    elif origin is Literal:
        for choice in args:
            if type(choice) is type(value) and choice == value:
                return choice
    elif origin is tuple and isinstance(value, tuple):
        return tuple(_typed(spec, key, v, args[0]) for v in value)
    elif hint is Path and isinstance(value, str):
        return Path(value)
    elif hint is float and type(value) in (int, float):
        return float(value)  # type: ignore[arg-type]
    elif hint is Any or (isinstance(hint, type) and type(value) is hint):
        return value
    raise SpecError(f"{spec.name}({key}={show(value)}): {key} takes {_wanted(hint)}.")


def _spec(thing: Any, *, defaults: bool) -> Spec:
    entry = next(e for e in _entries.values() if e.cls is type(thing))
    stated: dict[str, Setting] = {}
    for f in fields(thing):
        value = getattr(thing, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if f.init and (defaults or value != default or type(value) is not type(default)):
            stated[f.name] = _stated(value)
    return Spec(entry.name, stated)


def _stated(value: Any) -> Setting:
    """A field's value as a spec states it: a path as text."""
    if isinstance(value, tuple):
        return tuple(map(_stated, value))
    return str(value) if isinstance(value, Path) else value


def _paths(value: Any) -> Iterator[Path]:
    """The paths in a field's value."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Path):
            yield part


def canonical(thing: Any) -> Spec:
    """The shortest spec that builds `thing`: defaults omitted. It is the column `metric` everywhere."""
    return _spec(thing, defaults=False)


def whole(thing: Any) -> Spec:
    """The spec of `thing` with every default written out."""
    return _spec(thing, defaults=True)


def signature(thing: Any) -> str:
    """The whole spec, always with brackets, then `@version`, then `#` and a hash for each file it names.

    `hashed` holds files that the thing reads without naming them, such as a rubric that ships with us. Two
    things with one signature give the same numbers; it is the cache key.
    """
    entry = next(e for e in _entries.values() if e.cls is type(thing))
    spec = whole(thing)
    text = str(spec) if spec.settings else f"{spec.name}()"
    paths = [path for f in fields(thing) for path in _paths(getattr(thing, f.name))]
    paths += [path for path in getattr(thing, "hashed", ()) if path not in paths]
    return f"{text}@{entry.version}" + "".join(f"#{file_hash(path)}" for path in paths if _there(path))


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def file_hash(path: Path) -> str:
    """First 8 hex digits of SHA-256 over a file, or over the names and contents of a folder's plain files.

    Raises `InputError` if one cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for file in [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file()):
            if file != path:
                digest.update(file.name.encode("utf-8", "surrogateescape"))
            with file.open("rb") as stream:
                while chunk := stream.read(1 << 20):
                    digest.update(chunk)
    except OSError as error:
        raise InputError(f"cannot read {error.filename or path}: {error.strerror or error}.") from error
    return digest.hexdigest()[:8]
