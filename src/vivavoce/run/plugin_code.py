"""Which code of a user's plugin gave the scores of a metric: hashes of its files, kept in provenance.

The version of a metric stands in its signature, and is raised by whoever writes it. Where that was forgotten,
the hashes tell scores of two programs apart that bear one signature. Besides the plugin's file these are the
modules that it imports from its own folder.
"""

import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.core import registry
from vivavoce.core.local_modules import Hashes, inside, local_modules, modules_of
from vivavoce.metrics import Metric
from vivavoce.store.damage import decoding
from vivavoce.store.read import verb_records
from vivavoce.store.view import View
from vivavoce.store.write import ScoreRow, put_provenance

VERB = "plugin metric"
"""The verb of provenance under which a run says by which code a metric of a plugin scored."""
_WHAT = "the code of a plugin's metric"


class PluginCode(NamedTuple):
    """The hash of a plugin's file, or of several, and one of the modules that they import from their folders.

    `modules` is empty where there are none, and null where a run of before does not say.
    """

    file: str
    modules: str | None

    def __str__(self) -> str:
        return f"{self.file}+{self.modules}" if self.modules else self.file


def remember_code(db: sqlite3.Connection, metric: Metric, scores: Iterable[ScoreRow]) -> None:
    """Store by which plugin code a metric gave these scores; the same once, and failed ones are of none."""
    code = _code_of(type(metric))
    if code is None or all(score.value.status == "failed" for score in scores):
        return
    body = {"signature": registry.signature(metric), "code": code.file, "modules": code.modules}
    if code not in code_by_signature(db).get(str(body["signature"]), ()):
        put_provenance(db, VERB, body, changed=0)


def _code_of(member: type) -> PluginCode | None:
    """The code of the plugin files in which a class and its bases stand; null where they are in packages.

    Of a class that stands in no plugin file but in a module beside one, that of this module.
    """
    names = [getattr(sys.modules.get(base.__module__), "__file__", None) for base in member.__mro__]
    files = [name for name in dict.fromkeys(names) if name]
    if plugins := [file for file in files if file in registry.plugins()]:
        hashes = [registry.plugins()[file] for file in plugins]
        return PluginCode(_joined(hashes), _digest((Path(file).parent, modules_of(file)) for file in plugins))
    return _code_beside(files)


def _code_beside(files: Sequence[str]) -> PluginCode | None:
    """The code of the first of these files that a plugin imports from its folder; null where none is."""
    for name in files:
        for plugin in sorted(registry.plugins()):
            folder, modules = Path(plugin).parent, modules_of(plugin)
            if (file := inside(name, folder)) and (code := modules.get(str(file))):
                return PluginCode(code, _digest([(folder, local_modules(file, folder))]))
    return None


def _joined(hashes: Sequence[str]) -> str:
    if len(hashes) < 2:
        return hashes[0]
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:8]


def _digest(modules: Iterable[tuple[Path, Hashes]]) -> str:
    """A hash of modules by their names in a folder and their contents; empty where there are none."""
    named = [
        sorted((Path(file).relative_to(folder).as_posix(), code) for file, code in hashes.items())
        for folder, hashes in modules
    ]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:8] if any(named) else ""


def code_by_signature(db: sqlite3.Connection) -> dict[str, list[PluginCode]]:
    """By the signature of a plugin's metric the code that scored by it, in its order."""
    records = verb_records(db, VERB, _WHAT)
    codes: dict[str, dict[PluginCode, None]] = {}
    with decoding(_WHAT):
        for body in records:
            code = PluginCode(body["code"], body.get("modules"))
            codes.setdefault(body["signature"], {})[code] = None
    return {signature: list(of_metric) for signature, of_metric in codes.items()}


def programs(codes: Iterable[PluginCode]) -> list[PluginCode]:
    """The codes that differ. One that says nothing of its modules is no other than those of the same file."""
    distinct = list(dict.fromkeys(codes))
    full = {code.file for code in distinct if code.modules is not None}
    return [code for code in distinct if code.modules is not None or code.file not in full]


def changed_code(view: View, metrics: Iterable[Metric]) -> Iterator[str]:
    """A sentence for each of the metrics whose scores in the run are of several programs."""
    codes = code_by_signature(view.db)
    for metric in metrics:
        if len(different := programs(codes.get(registry.signature(metric), []))) > 1:
            of_files = len({code.file for code in different}) > 1
            what = "its plugin file" if of_files else "a module that its plugin file imports"
            yield (
                f"{metric}: {what} has changed (hashes {', '.join(map(str, different))}) and its version has "
                "not, so that its scores may be of several programs: raise its version to score all anew."
            )
