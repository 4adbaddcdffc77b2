"""Packages that come with an extra of vivavoce: loaded when they are used, named where they are missing."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from vivavoce.core.errors import ExtraError


def import_extra(module: str, *, extra: str, user: str) -> ModuleType:
    """The module, imported. Raises `ExtraError`, which names the extra, if its package is not installed.

    `user` is what needs it, as the sentence begins: "bleu", "an Excel file".
    """
    require_extras({module.partition(".")[0]: extra}, user)
    return import_module(module)


def require_extras(packages: Mapping[str, str], user: str) -> None:
    """Raise `ExtraError` if one of these packages, each with its extra, is not installed."""
    missing = [package for package in packages if not _is_installed(package)]
    if missing:
        extras = ",".join(sorted({packages[package] for package in missing}))
        raise ExtraError(f'{user} needs {" and ".join(missing)}: pip install "vivavoce[{extras}]".')


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module without a spec stands in its place
        return False
