"""What is installed: how much the core brings, the container, the development container, the citation."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

MOST_PACKAGES, MOST_MB = 40, 420
"""What the core may bring, vivavoce itself included."""


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def dependencies(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", root / "tools" / "dependencies.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["dependencies"] = module
    spec.loader.exec_module(module)
    return module


def size(installed: Distribution) -> int:
    """The bytes of a package's files on this disk, compiled ones left out: who installs makes these."""
    files = (Path(str(file.locate())) for file in installed.files or ())
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())


def test_the_core_brings_few_packages_and_little(
    root: Path, table: dict[str, Any], dependencies: ModuleType
) -> None:
    packages = dependencies.closure([Requirement(text) for text in table["dependencies"]])
    assert all(package.installed for package in packages)
    own = sum(
        file.stat().st_size for file in (root / "src").rglob("*") if file.suffix != ".pyc" and file.is_file()
    )
    total = own + sum(size(package.installed) for package in packages)
    assert len(packages) + 1 <= MOST_PACKAGES, [package.name for package in packages]
    assert total <= MOST_MB * 1_000_000, f"{total / 1e6:.0f} MB"


ASKED_FOR_BY_NAME = {"inspect", "ray"}
"""Extras that `all` leaves out: Inspect brings 34 packages and 150 MB, and its bounds hold others back; Ray
brings 280 MB, which are of use where several machines share the work.
"""


def test_all_brings_every_extra_of_users_but_those_asked_for_by_name(table: dict[str, Any]) -> None:
    extras = table["optional-dependencies"]
    (text,) = extras["all"]
    assert Requirement(text).extras == extras.keys() - {"all", "dev", "docs"} - ASKED_FOR_BY_NAME


@pytest.mark.parametrize("name", ["Dockerfile", "examples/cliniqlink/Dockerfile"])
def test_the_linter_of_dockerfiles_objects_to_nothing(root: Path, name: str) -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, root / name], capture_output=True, text=True, timeout=60)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)


def test_the_container_is_no_roots(root: Path) -> None:
    lines = (root / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last = max(n for n, line in enumerate(lines) if line.startswith("FROM "))
    assert [line for line in lines[last:] if line.startswith("USER ")] == ["USER 10001"]


def test_what_the_container_is_built_from_makes_the_wheel(root: Path, tmp_path: Path) -> None:
    """`.dockerignore` leaves everything out but what it names; the wheel is built from that alone."""
    words = (root / ".dockerignore").read_text(encoding="utf-8").split()
    for name in (word[1:] for word in words if word.startswith("!")):
        source, target = root / name, tmp_path / "src" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():  # wheels/ is a user's
            shutil.copy(source, target)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, tmp_path / "src"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout + done.stderr
    assert [*tmp_path.glob("vivavoce-*.whl")]


def test_the_development_container_installs_what_make_does(root: Path) -> None:
    container = json.loads((root / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    target = container["postCreateCommand"].removeprefix("make ")
    assert re.search(rf"^{re.escape(target)}:", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    gate = (root / ".ci" / "run").read_text(encoding="utf-8")
    wanted = re.search(r"--no-install-recommends ([\w -]+?) >", gate)
    assert wanted is not None
    assert set(wanted[1].split()) <= set(container["onCreateCommand"].split())


def test_the_command_is_called_like_the_package_too(table: dict[str, Any]) -> None:
    """`uvx vivavoce` and `pipx run vivavoce` run the command of the package's name."""
    assert table["scripts"]["vivavoce"] == table["scripts"]["viva"]


def test_the_citation_is_of_this_version_and_names_the_five_systems(root: Path) -> None:
    from vivavoce import __version__

    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert __version__ == citation["version"]
    assert {"abstract", "authors", "keywords", "license", "message", "title", "type"} <= citation.keys()
    references = citation["references"]
    assert 5 == len(references)
    assert all({"type", "title", "authors", "year"} <= reference.keys() for reference in references)
