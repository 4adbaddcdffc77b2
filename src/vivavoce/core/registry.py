"""Names to objects: what can be written in a spec, and what a spec becomes.

A class registers itself with a decorator when its module is imported: in this package, in a package of the
entry point group `vivavoce`, or in a file (`load_plugin`). It holds settings only, never results.
"""

import hashlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_type_hints

from vivavoce.core import index, specs
from vivavoce.core.errors import InputError, SpecError, suggest
from vivavoce.core.file_hashes import cached_hash, file_hash
from vivavoce.core.local_modules import keep_modules
from vivavoce.core.specs import Setting, Spec, matches, parse, show, type_in_words, typed_setting
from vivavoce.core.text import error_text

Kind = Literal[
    "benchmark",
    "build_recipe",
    "command",
    "exporter",
    "format",
    "log_reader",
    "metric",
    "provider",
    "recipe",
    "reproduction",
    "rules",
    "section",
    "step",
    "study",
    "variation",
]
T = TypeVar("T")


class Entry(NamedTuple):
    """A registered name: the class or function behind it, its version, and where it comes from.

    `aliases` are shorthand names, each with the settings that it stands for.
    """

    kind: Kind
    name: str
    cls: Any
    version: int
    origin: str
    aliases: Mapping[str, Mapping[str, Setting]] = {}


_entries: dict[tuple[Kind, str], Entry] = {}
_plugins: dict[str, str] = {}
_origin = ["vivavoce"]


class Door:
    """A decorator that registers a function or a class, as it is, under a name that specs may hold.

    `rooms` are the packages of the core whose modules register members of this kind, and `plural` is the word
    for all of them.
    """

    def __init__(self, kind: Kind, *rooms: str, plural: str = "") -> None:
        self.kind, self.rooms = kind, rooms
        self.plural = plural or f"{kind}s"

    def __call__(
        self, name: str, *, version: int = 1, aliases: Mapping[str, Mapping[str, Setting]] = {}
    ) -> Callable[[T], T]:
        """The decorator that registers a member under `name`.

        A change that moves any number raises `version`, which is part of the signature. `aliases` are
        shorthand names with the settings that each stands for, such as `{"rougeL": {"n": "L"}}`; a registered
        name goes before an alias.
        """

        def register(member: T) -> T:
            prepared = self.prepare(name, member)
            _add(Entry(self.kind, name, prepared, version, _origin_of(prepared), aliases))
            return prepared

        return register

    def prepare(self, name: str, member: T) -> T:
        """What is registered under a name, and returned by the decorator."""
        return member


class ClassDoor(Door):
    """A decorator that makes a class a frozen dataclass, whose fields are its settings, and registers it.

    The class derives from the one that vivavoce exports as `base`, and has what `must_have` lists.
    """

    def __init__(
        self, kind: Kind, *rooms: str, plural: str = "", base: str = "", must_have: tuple[str, ...] = ()
    ) -> None:
        super().__init__(kind, *rooms, plural=plural)
        self.base, self.must_have = base, must_have

    def prepare(self, name: str, member: T) -> T:
        """The class as a frozen dataclass. Raises `SpecError` for one without its base, or with gaps."""
        undecorated: Any = member
        cls: Any = dataclass(frozen=True, kw_only=True)(undecorated)
        if self.base and not any(map(self._is_base, cls.__mro__)):
            fix = f"write `class {cls.__name__}({self.base}):` and import {self.base} from vivavoce."
            raise SpecError(f"the {self.kind} {name!r} does not derive from vivavoce.{self.base}: {fix}")
        named = {f.name for f in fields(cls)}
        absent = [entry for entry in self.must_have if not hasattr(cls, entry) and entry not in named]
        if lacking := absent + sorted(getattr(cls, "__abstractmethods__", ())):
            needs = f"every {self.kind} needs that."
            raise SpecError(f"the {self.kind} {name!r} has no {', '.join(lacking)}: {needs}")
        cls.__str__ = lambda self: str(canonical(self))
        if self.kind == "format":
            cls.name = name
        return cast(T, cls)

    def _is_base(self, cls: type) -> bool:
        # by its name: the core does not import the rooms above it
        return cls.__name__ == self.base and _is_ours(cls)


def _is_ours(member: Any) -> bool:
    return str(member.__module__).partition(".")[0] == "vivavoce"


def _origin_of(member: Any) -> str:
    """What registers a member: the package, though a plugin may be the first to import its module."""
    return "vivavoce" if _is_ours(member) else _origin[-1]


def _add(entry: Entry) -> None:
    kind, name = entry.kind, entry.name
    if not _is_ours(entry.cls):
        _import_indexed(kind, name)  # so that a name taken twice is noticed here
    present = _entries.get((kind, name))
    if present and present.origin != entry.origin:
        raise SpecError(f"the {kind} {name!r} of {entry.origin} is there already, from {present.origin}.")
    _entries[kind, name] = entry


benchmark = ClassDoor("benchmark", "benchmarks", base="Benchmark")
"""Register a class that derives from `vivavoce.Benchmark` under `name`; it becomes a frozen dataclass."""
build_recipe = ClassDoor("build_recipe", "run.building", base="BuildRecipe")
"""Register a `BuildRecipe`, the steps of `viva build RUN NAME`; its fields are the command's options."""
command = Door("command")
"""Register a function, annotated as typer wants it, as the command `viva NAME`."""
exporter = ClassDoor("exporter", "run.exchange", base="Exporter")
"""Register an `Exporter`, what `viva export --format NAME` writes; it becomes a frozen dataclass."""
format = ClassDoor("format", "formats", base="Format")
"""Register a class that derives from `vivavoce.Format` under `name`; it becomes a frozen dataclass."""
log_reader = ClassDoor("log_reader", "run.exchange", base="LogReader", plural="readers")
"""Register a `LogReader`, which reads another tool's files for `viva import`; a frozen dataclass."""
metric = ClassDoor("metric", "metrics", "judging", "logprobs", base="Metric")
"""Register a class that derives from `vivavoce.Metric` under `name`; its fields are its settings."""
provider = ClassDoor("provider", "models.providers")
"""Register a `Provider`, which connects a model named `name/…`; it becomes a frozen dataclass."""
recipe = Door("recipe", "run.train.recipe")
"""Register a frozen dataclass of the settings by which `viva train --recipe NAME` trains."""
reproduction = Door("reproduction")
"""Register `reproduce(data)` as what `viva reproduce NAME` recomputes."""
rules = Door("rules", "facts", plural="rules")
"""Register a function that gives the rule book of `atomic_facts(rules=NAME)`."""
section = ClassDoor("section", "report.sections", base="Section")
"""Register a `Section`, what a report shows of the study `name`; it becomes a frozen dataclass."""
step = ClassDoor("step", "run.building", base="Step")
"""Register a `Step` of `viva build`; it becomes a frozen dataclass, its fields are its settings."""
study = ClassDoor("study", "studies", base="Study", plural="studies", must_have=("row", "about", "findings"))
"""Register a `Study`, a class with a `row`, `about` and `findings(scores)`; its fields are options."""
variation = ClassDoor("variation", "variants", base="Variation")
"""Register a class that derives from `vivavoce.Variation` under `name`; its fields are its settings."""
DOORS: dict[Kind, Door] = {
    door.kind: door
    for door in (
        *(benchmark, build_recipe, command, exporter, format, log_reader, metric, provider, recipe),
        *(reproduction, rules, section, step, study, variation),
    )
}
KINDS: dict[str, Kind] = {door.plural: kind for kind, door in DOORS.items()}
"""The kinds by the word for all their members."""


@cache
def _load_rooms(kind: Kind) -> None:
    """Import every module that may register a member of a kind: of the core, and of plugins that ship."""
    for room in DOORS[kind].rooms:
        package = importlib.import_module(f"vivavoce.{room}")
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}."):
            importlib.import_module(module.name)
    for plugin in plugin_folders():
        # by its file: to ask Python for the module would import the whole plugin first
        if (plugin / f"{kind}.py").is_file() or (plugin / kind / "__init__.py").is_file():
            importlib.import_module(f"vivavoce.{plugin.parent.name}.{plugin.name}.{kind}")


def plugin_folders() -> list[Path]:
    """The folder of every plugin that ships, found and never named: the core runs without them."""
    return [
        file.parent for home in index.SHIPPED for file in sorted((index.PACKAGE / home).glob("*/__init__.py"))
    ]


@cache
def _load_entry_points() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="vivavoce"):
        _origin.append(f"entry point {point.name} ({point.value})")
        try:
            point.load()
        except (Exception, SystemExit) as error:  # third-party code: name it, and stop
            reason = error_text(error)
            raise SpecError(f"the plugin {point.name} ({point.value}) cannot be loaded: {reason}") from error
        finally:
            _origin.pop()


def load_plugin(path: str | Path) -> None:
    """Import the Python file at `path`, so that what it registers can be named. Its hash goes to provenance.

    Raises `SpecError` if there is no such file or it fails.
    """
    try:
        file = Path(path).resolve()
        is_file = file.is_file()
    except (OSError, ValueError):  # a name that is too long, or no name at all
        is_file = False
    if not is_file:
        raise SpecError(f"no plugin file at {str(path)!r}.")
    if str(file) in _plugins:
        return
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
        raise SpecError(f"the plugin {str(path)!r} cannot be loaded: {error_text(error)}") from error
    finally:
        _origin.pop()
    _plugins[str(file)] = file_hash(file)
    keep_modules(file, module)


def plugins() -> dict[str, str]:
    """The plugin files loaded in this process, with the hash of each."""
    return dict(_plugins)


def entries(kind: Kind, *, walk: bool = True) -> list[Entry]:
    """Everything registered of a kind, by name; without `walk`, of ours what is imported by now."""
    if walk:
        _load_rooms(kind)
    _load_entry_points()
    return sorted((e for e in _entries.values() if e.kind == kind), key=lambda e: e.name)


def members(kind: Kind) -> dict[str, type]:
    """The classes registered of a kind, by name."""
    return {entry.name: entry.cls for entry in entries(kind)}


def metrics_by_default() -> list[Entry]:
    """The metrics that score where a call names none, by name; of the package no others are imported."""
    for name in index.metrics_by_default():
        _import_indexed("metric", name)
    return [entry for entry in entries("metric", walk=False) if entry.cls.by_default is True]


def member(kind: Kind, name: str) -> Any:
    """The class or function of that name; null for none. One import where the index has it, else none."""
    entry = _loaded(kind, name)
    return entry.cls if entry and entry.name == name else None


def find(kind: Kind, name: str) -> Entry:
    """The entry of that name. Raises `SpecError` with a suggestion."""
    entry = _spelled(kind, name)
    if entry is None or entry.name != name:
        raise SpecError(index.unknown_name([kind], name, list(members(kind))))
    return entry


def in_full(kind: Kind, spec: Spec) -> Spec:
    """The spec with a shorthand name, such as `rougeL`, written out; any other as it is.

    Raises `SpecError` for a setting that the shorthand states already, with another value.
    """
    aliased = _spelled(kind, spec.name)
    if aliased is None or aliased.name == spec.name:
        return spec
    full = Spec(aliased.name, {**spec.settings, **aliased.aliases[spec.name]})
    if not matches(Spec(full.name, spec.settings), full):
        raise SpecError(f"{spec}: {spec.name} stands for {Spec(full.name, aliased.aliases[spec.name])}.")
    return full


def _spelled(kind: Kind, name: str) -> Entry | None:
    """The entry of that name, or else the one that has it as an alias; null for neither."""
    return _loaded(kind, name) or (_loaded(kind, name) if entries(kind) else None)


def _loaded(kind: Kind, name: str) -> Entry | None:
    """The same where the index has the name, or what is imported by now."""
    _load_entry_points()
    _import_indexed(kind, name)
    if entry := _entries.get((kind, name)):
        return entry
    return next((e for e in _entries.values() if e.kind == kind and name in e.aliases), None)


def _import_indexed(kind: Kind, name: str) -> None:
    """Import the module that registers a name or an alias, where the index has it."""
    if module := index.member_modules().get(kind, {}).get(name):
        importlib.import_module(module)


def build(kind: Kind, spec: Spec | str) -> Any:
    """The object that a spec names, its settings checked against the class's fields.

    Raises `SpecError` for an unknown name or setting, a missing one, or a value of the wrong type.
    """
    spec = in_full(kind, parse(spec) if isinstance(spec, str) else spec)
    entry = find(kind, spec.name)
    hints = hints_of(entry)
    settings_of = {f.name: f for f in fields(entry.cls) if f.init}
    for key in spec.settings:
        if key not in settings_of:
            raise SpecError(f"{spec.name} has no setting {key!r}.{suggest(key, list(settings_of))}")
    if missing := [key for key in settings_of if key not in {*spec.settings, *defaults(entry)}]:
        words = " and ".join(f"{key}={type_in_words(hints[key])}" for key in missing)
        typed = ",".join(f"{key}=…" for key in missing)
        raise SpecError(f"{spec.name} needs {words}: write {spec.name}:{typed}")
    values = {key: typed_setting(spec, key, value, hints[key]) for key, value in spec.settings.items()}
    try:
        return entry.cls(**values)
    except (TypeError, ValueError) as error:  # the class checks its settings itself
        raise SpecError(f"{spec}: {str(error).rstrip('.')}.") from error


def settings(entry: Entry) -> dict[str, str]:
    """The settings that a spec of this name may hold, each with what it takes, in words."""
    hints = hints_of(entry)
    return {f.name: type_in_words(hints[f.name]) for f in fields(entry.cls) if f.init}


def defaults(entry: Entry) -> dict[str, Setting]:
    """The settings of this name that need not be given, each with its value."""
    values = {
        f.name: f.default if f.default_factory is MISSING else f.default_factory()
        for f in fields(entry.cls)
        if f.init
    }
    return {name: _as_setting(value) for name, value in values.items() if value is not MISSING}


def hints_of(entry: Entry) -> dict[str, Any]:
    """The types of an entry's settings. Raises `SpecError` for one that its module does not import."""
    try:
        return get_type_hints(entry.cls)
    except NameError as error:
        raise SpecError(
            f"the {entry.kind} {entry.name!r} of {entry.origin} has a setting of a type that it does not "
            f"import: {error}."
        ) from error


def _spec(thing: Any, *, defaults: bool) -> Spec:
    entry = next(e for e in _entries.values() if e.cls is type(thing))
    settings: dict[str, Setting] = {}
    for f in fields(thing):
        value = getattr(thing, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        signed = defaults and f.metadata != specs.UNSIGNED_DEFAULT
        if f.init and (signed or value != default or type(value) is not type(default)):
            settings[f.name] = _as_setting(value)
    return Spec(entry.name, settings)


def _as_setting(value: Any) -> Setting:
    """A field's value as a spec states it: a path as text."""
    if isinstance(value, tuple):
        return tuple(map(_as_setting, value))
    return str(value) if isinstance(value, Path) else value


def _paths(value: Any) -> Iterator[Path]:
    """The paths in a field's value."""
    return (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Path))


def canonical(thing: Any) -> Spec:
    """The shortest spec that builds `thing`: defaults omitted. It is the column `metric` everywhere."""
    return _spec(thing, defaults=False)


def full_spec(thing: Any) -> Spec:
    """The spec of `thing` with its defaults written out, but for those of fields with `UNSIGNED_DEFAULT`."""
    return _spec(thing, defaults=True)


def signature(thing: Any, *, by_bytes: bool = False, version: int | None = None) -> str:
    """The whole spec, always with brackets, then `@version`, then `#` and a hash for each file it names.

    A metric and a step add their `extra_files`. A file is hashed by what it says if it is in `digests`, else
    by its bytes, as all files once were (`by_bytes`); `version` is a former one. A benchmark that reads known
    files of a folder is hashed over those. Two things of one signature give the same numbers: it keys caches.
    """
    entry = next(e for e in _entries.values() if e.cls is type(thing))
    digests = {} if by_bytes else getattr(thing, "digests", {})
    hashes = (digests.get(path) or cached_hash(path) for path in _files(thing, entry.kind) if _exists(path))
    return "#".join((f"{show(full_spec(thing))}@{version or entry.version}", *hashes))


def _files(thing: Any, kind: Kind) -> list[Path]:
    """The paths whose hashes stand in a signature."""
    paths = [path for f in fields(thing) for path in _paths(getattr(thing, f.name))]
    if kind not in ("metric", "benchmark", "step"):
        return paths
    if kind == "benchmark" and thing.extra_files:
        paths = [path for path in paths if not any(path in file.parents for file in thing.extra_files)]
    return paths + [path for path in thing.extra_files if path not in paths]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
