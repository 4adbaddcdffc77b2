"""Write the software bill of materials that goes into the wheel: `vivavoce.cdx.json`, CycloneDX 1.6.

    python tools/sbom.py

It names what the wheel has inside that is not ours, and what vivavoce asks for, with the versions that
`pyproject.toml` lets in and the licences that are installed here. It has no time and no random number, so the
same project gives the same bytes.
"""

import json
import runpy
from collections.abc import Iterable
from importlib.metadata import distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dependencies import ROOT, declared, licence, project

TARGET = ROOT / "vivavoce.cdx.json"

WORDNET = {
    "type": "data",
    "bom-ref": "wordnet",
    "name": "WordNet",
    "version": "3.0",
    "publisher": "Princeton University",
    "description": "The synonyms and irregular forms in vivavoce/metrics/wordnet/synonyms.txt.gz",
    "licenses": [{"license": {"id": "WordNet"}}],
    "pedigree": {
        "notes": "Rearranged by tools/wordnet.py: single lower-case words of all synsets of each word."
    },
}


def component(requirement: Requirement, extra: str) -> dict[str, Any]:
    """A package that is asked for: no version, because the wheel has none inside, but those it lets in."""
    name = canonicalize_name(requirement.name)
    needs = {"vivavoce:requires": str(requirement.specifier), "vivavoce:extra": extra}
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}",
        "name": name,
        "scope": "optional" if extra else "required",
        "licenses": [{"expression": licence(distribution(name))}],
        "purl": f"pkg:pypi/{name}",
        "properties": [{"name": key, "value": value} for key, value in needs.items() if value],
    }


def joined(requirements: Iterable[tuple[Requirement, str]]) -> list[tuple[Requirement, str]]:
    """Each requirement once, with all the extras that ask for it: a bill names a package once."""
    extras: dict[str, list[str]] = {}
    for requirement, extra in requirements:
        extras.setdefault(str(requirement), []).append(extra)
    return [(Requirement(text), ", ".join(filter(None, names))) for text, names in extras.items()]


def bill() -> dict[str, Any]:
    """The bill as CycloneDX has it."""
    table = project()
    version = runpy.run_path(str(ROOT / "src" / "vivavoce" / "_version.py"))["__version__"]
    own = f"pkg:pypi/vivavoce@{version}"
    requirements = declared()
    parts = [WORDNET, *(component(requirement, extra) for requirement, extra in joined(requirements))]
    extras = ", ".join(sorted({extra for _, extra in requirements if extra}))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "vivavoce",
                "version": version,
                "description": table["description"],
                "licenses": [{"expression": table["license"]}],
                "purl": own,
            },
            "properties": [{"name": "vivavoce:extras", "value": extras}],
        },
        "components": parts,
        "dependencies": [
            {"ref": own, "dependsOn": [str(part["bom-ref"]) for part in parts]},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
    print(TARGET)
