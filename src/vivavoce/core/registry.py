"""Names to objects: what can be written in a spec, and what a spec becomes.

A class registers itself with a decorator when its module is imported: in this package, in a package of the
entry point group `vivavoce`, or in a file (`load_plugin`). It holds settings only, never results.
"""

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform, get_type_hints

from vivavoce.core.errors import InputError, SpecError, suggest
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.local_modules import keep_modules
from vivavoce.core.specs import Setting, Spec, matches, parse, type_in_words, typed_setting
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
F = TypeVar("F", bound=Callable[..., Any])

HOMES: dict[Kind, tuple[str, ...]] = {
    "benchmark": ("benchmarks",),
    "build_recipe": ("run.building",),
    "command": (),
    "exporter": ("run.exchange",),
    "format": ("formats",),
    "log_reader": ("run.exchange",),
    "metric": ("metrics", "judging", "logprobs"),
    "provider": ("models.providers",),
    "recipe": ("run.train.recipe",),
    "reproduction": (),
    "rules": ("facts",),
    "section": ("report.sections",),
    "step": ("run.building",),
    "study": ("studies",),
    "variation": ("variants",),
}
"""The packages of the core whose modules register members of a kind."""
SHIPPED = ("systems", "contrib")
"""Folders of plugins that ship. In each plugin's folder a module named like a kind registers its members."""
_PLURALS: dict[Kind, str] = {"study": "studies", "log_reader": "readers", "rules": "rules"}
KINDS: dict[str, Kind] = {_PLURALS.get(kind, f"{kind}s"): kind for kind in HOMES}
_OFFERS: dict[Kind, tuple[str, ...]] = {"study": ("row", "about", "findings")}
"""What a registered class must have beside the abstract methods of its base class."""
_BASES: dict[Kind, str] = {
    "benchmark": "vivavoce.benchmarks.Benchmark",
    "build_recipe": "vivavoce.run.building.step.BuildRecipe",
    "exporter": "vivavoce.run.exchange.exporters.Exporter",
    "format": "vivavoce.formats.base.Format",
    "log_reader": "vivavoce.run.exchange.log_readers.LogReader",
    "metric": "vivavoce.metrics.Metric",
    "section": "vivavoce.report.section.Section",
    "step": "vivavoce.run.building.step.Step",
    "study": "vivavoce.studies.study.Study",
    "variation": "vivavoce.variants.Variation",
}
"""The class that a registered one derives from, by its name: the core does not import the rooms above it."""


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


def _register(
    kind: Kind, name: str, version: int, aliases: Mapping[str, Mapping[str, Setting]] = {}
) -> Callable[[type[T]], type[T]]:
    def register(cls: type[T]) -> type[T]:
        member = dataclass(frozen=True, kw_only=True)(cls)
        named = {f.name for f in fields(member)}  # type: ignore[arg-type]
        bases = [f"{c.__module__}.{c.__qualname__}" for c in member.__mro__]
        if (base := _BASES.get(kind)) and base not in bases:
            short = base.rpartition(".")[2]
            fix = f"write `class {member.__name__}({short}):` and import {short} from vivavoce."
            raise SpecError(f"the {kind} {name!r} does not derive from vivavoce.{short}: {fix}")
        absent = [name for name in _OFFERS.get(kind, ()) if not hasattr(member, name) and name not in named]
        lacking = absent + sorted(getattr(member, "__abstractmethods__", ()))
        if lacking:
            raise SpecError(f"the {kind} {name!r} has no {', '.join(lacking)}: every {kind} needs that.")
        member.__str__ = lambda self: str(canonical(self))  # type: ignore[method-assign]
        if kind == "format":
            member.name = name  # type: ignore[attr-defined]
        _add(Entry(kind, name, member, version, _origin[-1], aliases))
        return member

    return register


def _add(entry: Entry) -> None:
    kind, name = entry.kind, entry.name
    present = _entries.get((kind, name))
    if present and present.origin != entry.origin:
        raise SpecError(f"the {kind} {name!r} of {entry.origin} is there already, from {present.origin}.")
    _entries[kind, name] = entry


@dataclass_transform(frozen_default=True, kw_only_default=True)
def benchmark(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class that derives from `vivavoce.Benchmark` under `name`; it becomes a frozen dataclass."""
    return _register("benchmark", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def metric(
    name: str, *, version: int = 1, aliases: Mapping[str, Mapping[str, Setting]] = {}
) -> Callable[[type[T]], type[T]]:
    """Register a class that derives from `vivavoce.Metric` under `name`.

    It becomes a frozen dataclass, its fields are the settings a spec may hold. A change that moves any number
    raises `version`, which is part of the signature. `aliases` are shorthand names with the settings that
    each stands for, such as `{"rougeL": {"n": "L"}}`; a registered name goes before an alias.
    """
    return _register("metric", name, version, aliases)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def variation(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class that derives from `vivavoce.Variation` under `name`; its fields are its settings."""
    return _register("variation", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def step(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `Step` of `viva build`; it becomes a frozen dataclass, its fields are its settings."""
    return _register("step", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def build_recipe(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `BuildRecipe`, the steps of `viva build RUN NAME`; its fields are the command's options."""
    return _register("build_recipe", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def study(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `Study`, a class with a `row`, `about` and `findings(scores)`; its fields are options."""
    return _register("study", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `Provider`, which connects a model named `name/…`; it becomes a frozen dataclass."""
    return _register("provider", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def format(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a class that derives from `vivavoce.Format` under `name`; it becomes a frozen dataclass."""
    return _register("format", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def section(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `Section`, what a report shows of the study `name`; it becomes a frozen dataclass."""
    return _register("section", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def log_reader(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a `LogReader`, which reads another tool's files for `viva import`; a frozen dataclass."""
    return _register("log_reader", name, version)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def exporter(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register an `Exporter`, what `viva export --format NAME` writes; it becomes a frozen dataclass."""
    return _register("exporter", name, version)


def _function_door(kind: Kind) -> Callable[..., Callable[[F], F]]:
    """A decorator that registers a function, as it is, under a name of this kind."""

    def door(name: str, *, version: int = 1) -> Callable[[F], F]:
        def register(function: F) -> F:
            _add(Entry(kind, name, function, version, _origin[-1]))
            return function

        return register

    return door


command = _function_door("command")
"""Register a function, annotated as typer wants it, as the command `viva NAME`."""
recipe = _function_door("recipe")
"""Register a frozen dataclass of the settings by which `viva train --recipe NAME` trains."""
reproduction = _function_door("reproduction")
"""Register `reproduce(data)` as what `viva reproduce NAME` recomputes."""
rules = _function_door("rules")
"""Register a function that gives the rule book of `atomic_facts(rules=NAME)`."""


@cache
def _load_home(kind: Kind) -> None:
    for home in HOMES[kind]:
        package = importlib.import_module(f"vivavoce.{home}")
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}."):
            importlib.import_module(module.name)
    for plugin in plugin_folders():
        # by its file: to ask Python for the module would import the whole plugin first
        if (plugin / f"{kind}.py").is_file() or (plugin / kind / "__init__.py").is_file():
            importlib.import_module(f"vivavoce.{plugin.parent.name}.{plugin.name}.{kind}")


def plugin_folders() -> list[Path]:
    """The folder of every plugin that ships, found and never named: the core runs without them."""
    homes = [Path(__file__).parents[1] / folder for folder in SHIPPED]
    return [file.parent for home in homes for file in sorted(home.glob("*/__init__.py"))]


@cache
def _load_entry_points() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group="vivavoce"):
        _origin.append(f"entry point {point.name} ({point.value})")
        try:
            point.load()
        except (Exception, SystemExit) as error:  # third-party code: name it, and stop
            why = error_text(error)
            raise SpecError(f"the plugin {point.name} ({point.value}) cannot be loaded: {why}") from error
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
    for kind in HOMES:  # so that a name taken twice is noticed here
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
        raise SpecError(f"the plugin {str(path)!r} cannot be loaded: {error_text(error)}") from error
    finally:
        _origin.pop()
    _plugins[str(file)] = file_hash(file)
    keep_modules(file, module)


def plugins() -> dict[str, str]:
    """The plugin files loaded in this process, with the hash of each."""
    return dict(_plugins)


def entries(kind: Kind) -> list[Entry]:
    """Everything registered of a kind, by name."""
    _load_home(kind)
    _load_entry_points()
    return sorted((e for e in _entries.values() if e.kind == kind), key=lambda e: e.name)


def members(kind: Kind) -> dict[str, type]:
    """The classes registered of a kind, by name."""
    return {entry.name: entry.cls for entry in entries(kind)}


def spelling(name: str, names: Collection[str]) -> str | None:
    """The one of these names that is meant, whether a hyphen or an underscore was typed; null for none."""
    return next((each for each in names if each.replace("_", "-") == name.replace("_", "-")), None)


def find(kind: Kind, name: str) -> Entry:
    """The entry of that name. Raises `SpecError` with a suggestion."""
    by_name = {entry.name: entry for entry in entries(kind)}
    if name not in by_name:
        raise SpecError(f"no {kind} named {name!r}.{suggest(name, list(by_name))}")
    return by_name[name]


def in_full(kind: Kind, spec: Spec) -> Spec:
    """The spec with a shorthand name, such as `rougeL`, written out; any other as it is.

    Raises `SpecError` for a setting that the shorthand states already, with another value.
    """
    registered = entries(kind)
    aliased = next((entry for entry in registered if spec.name in entry.aliases), None)
    if aliased is None or any(entry.name == spec.name for entry in registered):
        return spec
    full = Spec(aliased.name, {**spec.settings, **aliased.aliases[spec.name]})
    if not matches(Spec(full.name, spec.settings), full):
        raise SpecError(f"{spec}: {spec.name} stands for {Spec(full.name, aliased.aliases[spec.name])}.")
    return full


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
        if f.init and (defaults or value != default or type(value) is not type(default)):
            settings[f.name] = _as_setting(value)
    return Spec(entry.name, settings)


def _as_setting(value: Any) -> Setting:
    """A field's value as a spec states it: a path as text."""
    if isinstance(value, tuple):
        return tuple(map(_as_setting, value))
    return str(value) if isinstance(value, Path) else value


def _paths(value: Any) -> Iterator[Path]:
    """The paths in a field's value."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Path):
            yield part


def canonical(thing: Any) -> Spec:
    """The shortest spec that builds `thing`: defaults omitted. It is the column `metric` everywhere."""
    return _spec(thing, defaults=False)


def full_spec(thing: Any) -> Spec:
    """The spec of `thing` with every default written out."""
    return _spec(thing, defaults=True)


def signature(thing: Any) -> str:
    """The whole spec, always with brackets, then `@version`, then `#` and a hash for each file it names.

    A metric and a step add their `extra_files`. A benchmark that reads known files of a folder is hashed over
    those, and not over the folder. Two things with one signature give the same numbers; it is the cache key.
    """
    entry = next(e for e in _entries.values() if e.cls is type(thing))
    spec = full_spec(thing)
    text = str(spec) if spec.settings else f"{spec.name}()"
    paths = [path for f in fields(thing) for path in _paths(getattr(thing, f.name))]
    if entry.kind in ("metric", "benchmark", "step"):
        extra = thing.extra_files
        if entry.kind == "benchmark" and extra:
            paths = [path for path in paths if not any(path in file.parents for file in extra)]
        paths += [path for path in extra if path not in paths]
    return f"{text}@{entry.version}" + "".join(f"#{file_hash(path)}" for path in paths if _exists(path))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
