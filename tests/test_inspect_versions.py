"""Inspect moves fast: what we do with it holds on the oldest version that we let in, and on the newest."""

import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.lengths import LONG

TESTS = ("tests/models/test_inspect.py", "tests/contrib/inspect")
CLIENTS = {"oldest": "openai<3", "newest": "openai>=2.40"}
"""The client of OpenAI that each knows: with 3 it changed its HTTP library."""


def requirement(root: Path, which: str) -> str:
    """The oldest or newest version of Inspect that `pyproject.toml` lets in."""
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (text,) = extras["inspect"]
    asked = Requirement(text)
    if which == "newest":
        return str(asked)
    oldest = next(clause.version for clause in asked.specifier if clause.operator == ">=")
    return f"{asked.name}=={oldest}"


def test_inspect_has_an_upper_bound(root: Path) -> None:
    assert "<0.4" in requirement(root, "newest")


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="make test-long: it installs another version of Inspect")
@pytest.mark.parametrize("which", CLIENTS)
def test_its_oldest_and_its_newest_version_do_what_we_rest_on(root: Path, tmp_path: Path, which: str) -> None:
    """In an environment over this one, whose own packages are left as they are."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIVA_TEST_LONG")}
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, env=environment, timeout=300)
    python = folder / "bin" / "python"
    (own,) = (folder / "lib").glob("python*/site-packages")
    (own / "zz_below.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--upgrade", requirement(root, which), CLIENTS[which]],
        check=True, env=environment, timeout=900,
    )  # fmt: skip
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *TESTS],
        cwd=root, capture_output=True, text=True, timeout=1800,
        env={**environment, "PYTHONPATH": str(root / "src")},
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout[-4000:]
