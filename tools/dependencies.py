"""What an installed vivavoce brings with it, and under which licences.

    python tools/dependencies.py

walks from `pyproject.toml` through what is installed, and fails on a licence that is not on the list below.
What only the tests need is not looked at: an oracle may be under the GPL, because nothing of it is shipped.
"""

import sys
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from license_expression import ExpressionError, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
OF_DEVELOPERS = frozenset({"dev", "docs"})
"""The extras that build documents and test; the packages of the others run at a user's."""

ALLOWED = frozenset(
    {"0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
     "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"}
    # Asks that changes to its own files stay open: nothing of them is changed or shipped here.
    | {"MPL-2.0"}
)  # fmt: skip

NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    # pypdfium2: its own files, and those of PDFium, with what PDFium is built from
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages call their licences where they do not use its SPDX name."""

READ = {
    "agent-client-protocol": "Apache-2.0",
    "python-dateutil": "Apache-2.0 AND BSD-3-Clause",
    "tiktoken": "MIT",  # its metadata hold the whole text
    "zipfile-zstd": "MIT",
}
"""Licences that a package's metadata do not name and its licence file does."""

OWN_TERMS = ("nvidia-", "cuda-")
"""Libraries that PyTorch's builds for NVIDIA's hardware bring along, under NVIDIA's own terms."""

_SPDX = get_spdx_licensing()


class Needed(NamedTuple):
    """A package that vivavoce needs, and the way from vivavoce to it."""

    name: str
    way: tuple[str, ...]
    installed: Distribution | None


def project() -> dict[str, Any]:
    """The table `project` of `pyproject.toml`."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def declared() -> list[tuple[Requirement, str]]:
    """The requirements of `pyproject.toml`, each with the extra that asks for it, or nothing."""
    table = project()
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    requirements = [
        (Requirement(text), extra)
        for extra, texts in groups.items()
        if extra not in OF_DEVELOPERS
        for text in texts
    ]
    return [(needed, extra) for needed, extra in requirements if needed.name != table["name"]]


def closure(
    requirements: Iterable[Requirement] | None = None,
) -> list[Needed]:
    """Everything that these requirements, by default all of vivavoce's, need here: each package once."""
    if requirements is None:
        requirements = [requirement for requirement, _ in declared()]
    queue = deque((requirement, ("vivavoce",)) for requirement in requirements)
    packages: dict[str, Needed] = {}
    walked: set[tuple[str, str]] = set()
    while queue:
        requirement, way = queue.popleft()
        name = canonicalize_name(requirement.name)
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            installed = None
        packages.setdefault(name, Needed(name, way, installed))
        for extra in ("", *requirement.extras):
            if installed is not None and (name, extra) not in walked:
                walked.add((name, extra))
                queue += [(asked, (*way, name)) for asked in _asked(installed, extra)]
    return sorted(packages.values())


def _asked(installed: Distribution, extra: str) -> Iterator[Requirement]:
    """What a package, or one of its extras, asks for on this machine."""
    for text in installed.requires or ():
        requirement = Requirement(text)
        bare = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if bare if not extra else not bare and requirement.marker.evaluate({"extra": extra}):
            yield requirement


def licence(installed: Distribution) -> str:
    """The SPDX expression of a package's licences; empty where it names none that is known.

    The metadata's expression is taken as it is. Older packages have a free text, classifiers or both: then
    all of them hold, so that a mild word beside a strict one does not hide it.
    """
    metadata = installed.metadata
    if expression := metadata.get("License-Expression") or READ.get(canonicalize_name(installed.name)):
        return str(expression)
    classifiers = [
        c.split(" :: ")[-1] for c in metadata.get_all("Classifier", []) if c.startswith("License :: ")
    ]
    text = (metadata.get("License") or "").strip()
    named = [*classifiers, *([text] if "\n" not in text and len(text) < 100 else [])]
    spdx = dict.fromkeys(NAMES.get(name, name) for name in named if name not in ("", "OSI Approved"))
    return " AND ".join(spdx)


def is_allowed(expression: str) -> bool:
    """Whether the list above has what an SPDX expression asks for: all of an AND, one of an OR."""
    try:
        tree = _SPDX.parse(expression, validate=True)
    except ExpressionError:
        return False
    if tree is None:
        return False
    known = {s: _SPDX.TRUE if s.render() in ALLOWED else _SPDX.FALSE for s in tree.get_symbols()}
    return bool(tree.subs(known).simplify() == _SPDX.TRUE)


def objections(packages: list[Needed]) -> list[str]:
    """A sentence for each package that is missing, or whose licence is not on the list."""
    sentences = []
    for name, way, installed in packages:
        path = " needs ".join((*way, name))
        if installed is None:
            sentences.append(f"{path}, which is not installed: run make again.")
        elif not name.startswith(OWN_TERMS) and not is_allowed(licence(installed)):
            terms = licence(installed) or "no licence that is known"
            sentences.append(f"{path}, whose metadata say {terms}: not on the list in tools/dependencies.py.")
    return sentences


def main() -> int:
    """Print what was looked at, or what is wrong."""
    packages = closure()
    sentences = objections(packages)
    licences = sorted({licence(one.installed) for one in packages if one.installed is not None})
    print("\n".join(sentences) or f"{len(packages)} packages, licences: {'; '.join(licences)}")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
