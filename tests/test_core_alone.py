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


COMMANDS = {
    **{kind: ["list", kind, "--json"] for kind in ("metrics", "benchmarks", "reproductions", "commands")},
    "help": ["--help"],
    "demo": ["demo"],
    "study": ["study", "viva-demo/demo.viva", "bias", "ranking", "--json"],
}
RUN = """
import json, sys
from typer.testing import CliRunner
from vivavoce.cli import app

printed = {}
for name, words in json.loads(sys.argv[1]).items():
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert (0, "") == (result.exit_code, result.stderr), (words, result.output)
    printed[name] = result.stdout
print(json.dumps(printed))
"""
"""Runs the commands one after another, and prints what each printed."""


@pytest.fixture(scope="module")
def printed(core: Path) -> dict[str, str]:
    """What the commands print in a process that imports the copy."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(COMMANDS)],
        cwd=core,
        env={**os.environ, "PYTHONPATH": str(core)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (0, "") == (done.returncode, done.stderr)
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


def names(printed: dict[str, str], kind: str) -> set[str]:
    return {row["name"] for row in json.loads(printed[kind])["rows"]}


def test_no_name_of_a_plugin_is_listed(printed: dict[str, str]) -> None:
    assert {"rouge", "judge"} <= names(printed, "metrics")
    assert not {"cliniqlink", "medsynf1"} & names(printed, "metrics")
    assert {"sample", "jsonl", "csv", "table", "medtext"} <= names(printed, "benchmarks")
    systems = {"cliniqlink", "hivmedqa", "careqa_open", "dahl", "casimedicos"}
    assert not systems & names(printed, "benchmarks")
    assert set() == names(printed, "reproductions") | names(printed, "commands")


def test_the_help_has_the_commands_of_the_core_only(printed: dict[str, str]) -> None:
    assert "collect" in printed["help"]
    assert "challenge" not in printed["help"]


def test_the_demo_and_its_studies_run(printed: dict[str, str]) -> None:
    assert "8 report:" in printed["demo"]
    studies = json.loads(printed["study"])["rows"]
    assert {"bias", "ranking"} <= {row["study"] for row in studies}
