"""Inspect beside us: a folder in which it finds our entry point, and evaluations in their own process."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[3]
EVALUATES = Path(__file__).with_name("evaluate.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Metadata of an editable installation of this checkout, so that the test needs none to be renewed."""
    points = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    folder = tmp_path_factory.mktemp("installed") / "vivavoce-99.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: vivavoce\nVersion: 99\n")
    (folder / "entry_points.txt").write_text(
        "[inspect_ai]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
    )
    (folder / "direct_url.json").write_text(
        json.dumps({"url": SOURCE.as_uri(), "dir_info": {"editable": True}})
    )
    return folder.parent


@pytest.fixture(scope="module")
def environment(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("inspect")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(installed), str(SOURCE / "src"))),
        "INSPECT_LOG_DIR": str(folder / "logs"),
        "XDG_DATA_HOME": str(folder / "data"),
    }


@pytest.fixture(scope="module")
def evaluate(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]:
    """Run `vivavoce/exam` for each job, all in one process; what Inspect lists of ours, then their logs."""

    def run(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, str(EVALUATES)], input=json.dumps(jobs), capture_output=True, text=True,
            timeout=240, env=environment, cwd=tmp_path_factory.mktemp("evaluations"),
        )  # fmt: skip
        assert 0 == done.returncode, done.stderr[-3000:]
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    return run
