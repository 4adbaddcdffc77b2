"""Ask the registry for known holes in what vivavoce needs: in what is installed, and in the floors.

    python tools/audit.py

Other words go to pip-audit, such as `-s osv`. Where nobody answers, one line says so and nothing fails.
A mirror that knows packages and none of their holes would call all of them sound: a version with a known hole
is asked about first.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from dependencies import closure, declared

CANARY = "jinja2==3.1.5"
"""CVE-2025-27516: who does not know this hole knows none."""

ACCEPTED: dict[str, str] = {}
"""Advisories that do not touch vivavoce, each with the reason; their numbers as pip-audit prints them."""

Report = list[dict[str, Any]]


def installed() -> list[str]:
    """What is installed, pinned; a build's own suffix (2.13.0+cpu) is no version of the registry."""
    return [f"{one.name}=={Version(one.installed.version).public}" for one in closure() if one.installed]


def floors() -> list[str]:
    """The oldest version of each requirement that `pyproject.toml` lets in."""
    return [f"{asked.name}=={floor(asked)}" for asked, _ in declared()]


def floor(requirement: Requirement) -> str:
    """The version behind the `>=` of a requirement; fails where it has none."""
    return next(clause.version for clause in requirement.specifier if clause.operator == ">=")


def report(pins: Iterable[str], options: Sequence[str]) -> Report | None:
    """What pip-audit says of each package; null if nobody answered."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pins.txt"
        file.write_text("\n".join(pins), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "-r", str(file), "--no-deps", "--disable-pip",
                   "--format", "json", "--progress-spinner", "off", "--timeout", "10", *options]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=180)
            answer: Report = json.loads(done.stdout)["dependencies"]
        except (subprocess.TimeoutExpired, ValueError):
            return None
    return answer


def holes(answer: Report) -> Iterator[tuple[str, bool]]:
    """A sentence for each hole, and whether it can be closed: one without a fixed version is only told."""
    for package in answer:
        for hole in package.get("vulns", ()):
            if not ACCEPTED.keys() & {hole["id"], *hole.get("aliases", ())}:
                fixed = ", ".join(hole["fix_versions"])
                end = f"fixed in {fixed}" if fixed else "no version has it fixed"
                yield f"{package['name']} {package['version']}: {hole['id']}, {end}.", bool(fixed)


def main(options: Sequence[str]) -> int:
    """Print what is wrong, or that nobody could be asked."""
    answer = report([CANARY], options)
    if answer is None or not any(package.get("vulns") for package in answer):
        print(f"Not audited: nobody answered who knows the hole in {CANARY}.")
        return 0
    fails = False
    for what, pins in (("installed", installed()), ("a floor in pyproject.toml", floors())):
        answer = report(pins, options)
        if answer is None:
            print(f"Not audited ({what}): the answers ended.")
            continue
        for sentence, closable in holes(answer):
            print(f"{what}: {sentence}")
            fails |= closable
        silent = ", ".join(package["name"] for package in answer if "skip_reason" in package)
        print(f"{what}: {len(answer)} packages audited" + (f", but for {silent}" if silent else ""))
    return int(fails)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
