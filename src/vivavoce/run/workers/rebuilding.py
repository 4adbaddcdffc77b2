"""How a registered thing gets to another process: as its spec, and the hashes of what it rests on.

What is rebuilt must be what was sent: the version of vivavoce, plugin files and signatures are compared.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce._version import __version__
from vivavoce.core import registry
from vivavoce.core.errors import (
    ExtraError,
    InputError,
    MetricError,
    ModelError,
    SelectionError,
    SpecError,
    StoreError,
    VivaError,
)
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.local_modules import modules_of
from vivavoce.core.registry import Kind


class Sources(NamedTuple):
    """What registers things in a process: the version of vivavoce, and plugin files with their hashes.

    `modules` are those that plugin files import from their folders, by the path of each file.
    """

    version: str
    plugins: Mapping[str, str]
    modules: Mapping[str, Mapping[str, str]] = {}


class SentError(NamedTuple):
    """An error of ours on its way back from a worker."""

    kind: str
    sentence: str


class Recipe(NamedTuple):
    """A registered thing as another process builds it."""

    kind: Kind
    spec: str
    signature: str


def sources() -> Sources:
    """The sources of this process."""
    plugins = registry.plugins()
    return Sources(__version__, plugins, {file: modules_of(file) for file in plugins})


def recipe(kind: Kind, thing: Any) -> Recipe:
    """How a thing of this process is rebuilt: its spec with every default, and its signature."""
    return Recipe(kind, str(registry.full_spec(thing)), registry.signature(thing))


_KINDS: dict[str, type[VivaError]] = {
    kind.__name__: kind
    for kind in (SpecError, InputError, StoreError, MetricError, ModelError, SelectionError, ExtraError)
}


def sent_error(error: VivaError) -> SentError:
    """The error as it is sent."""
    return SentError(type(error).__name__, str(error))


def received_error(sent: SentError) -> VivaError:
    """The error that was sent; one of a kind that is not known here is a `MetricError`."""
    return _KINDS.get(sent.kind, MetricError)(sent.sentence)


def load_sources(sent: Sources) -> None:
    """Load the plugins of another process. Raises `SpecError` where they, or vivavoce, are not the same."""
    if sent.version != __version__:
        raise SpecError(
            f"a worker has vivavoce {__version__}, and the process that sends it work has {sent.version}: "
            "install the same version for both."
        )
    for plugin, digest in sent.plugins.items():
        _check_file(plugin, digest, "plugin")
        for module, of_module in sent.modules.get(plugin, {}).items():
            _check_file(module, of_module, "module")
        registry.load_plugin(plugin)


def _check_file(file: str, digest: str, what: str) -> None:
    """Raise `SpecError` where a file is not here, or not the one of the other process."""
    if not Path(file).is_file():
        raise SpecError(f"a worker finds no {what} file {file}: put it there, with the same content.")
    if file_hash(Path(file)) != digest:
        raise SpecError(
            f"the {what} {file} has the hash {file_hash(Path(file))} for a worker, and had {digest} when it "
            "was loaded: start again with the same file for both."
        )


def rebuild(sent: Recipe) -> Any:
    """The thing of a recipe. Raises `SpecError` where it cannot be built here, or comes out as another."""
    reason = "it comes out as another one"
    try:
        thing = registry.build(sent.kind, sent.spec)
        same = registry.signature(thing) == sent.signature
        if not same:
            reason = f"here it is {registry.signature(thing)}, and {sent.signature} was sent"
    except VivaError as error:
        same, reason = False, str(error).rstrip(".")
    if same:
        return thing
    raise SpecError(
        f"the {sent.kind} {sent.spec} cannot be rebuilt in a worker ({reason}): register it in a file that "
        "--plugin (plugins=) names, or leave --workers out."
    )
