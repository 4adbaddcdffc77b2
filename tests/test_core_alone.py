"""With the folders of systems and plugins deleted, the package still imports, lists and runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vivavoce.core.index import SHIPPED

SOURCE = Path(__file__).resolve().parents[1] / "src" / "vivavoce"


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, compiled files included, that has no shipped plugins."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(SOURCE, folder / "vivavoce", ignore=shutil.ignore_patterns(*SHIPPED))
    assert not [name for name in SHIPPED if (folder / "vivavoce" / name).exists()]
    return folder


def viva(core: Path, *words: str) -> str:
    """What the command line of the copy prints."""
    done = subprocess.run(
        [sys.executable, "-m", "vivavoce", *words],
        cwd=core,
        env={**os.environ, "PYTHONPATH": str(core)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


def names(core: Path, kind: str) -> set[str]:
    return {row["name"] for row in json.loads(viva(core, "list", kind, "--json"))["rows"]}


def test_no_name_of_a_plugin_is_listed(core: Path) -> None:
    assert {"rouge", "judge"} <= names(core, "metrics")
    assert not {"cliniqlink", "medsynf1", "conflict"} & names(core, "metrics")
    assert {"sample", "jsonl", "csv", "table", "medtext"} <= names(core, "benchmarks")
    assert not {"cliniqlink", "hivmedqa", "careqa_open", "dahl", "casimedicos"} & names(core, "benchmarks")
    assert set() == names(core, "reproductions") | names(core, "commands")


def test_the_help_has_the_commands_of_the_core_only(core: Path) -> None:
    text = viva(core, "--help")
    assert "collect" in text
    assert "challenge" not in text


def test_the_demo_and_its_studies_run(core: Path) -> None:
    assert "8 report:" in viva(core, "demo")
    studies = json.loads(viva(core, "study", "viva-demo/demo.viva", "--json"))["rows"]
    assert {"bias", "ranking"} <= {row["study"] for row in studies}
