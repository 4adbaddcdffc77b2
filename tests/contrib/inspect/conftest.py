"""Inspect beside us: a folder in which it finds our entry point, and evaluations in their own process."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[3]
EVALUATES = Path(__file__).with_name("evaluate.py")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Metadata of an editable installation of this checkout, so that the test needs none to be renewed."""
    points = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    folder = tmp_path / "installed" / "vivavoce-99.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: vivavoce\nVersion: 99\n")
    (folder / "entry_points.txt").write_text(
        "[inspect_ai]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
    )
    (folder / "direct_url.json").write_text(
        json.dumps({"url": SOURCE.as_uri(), "dir_info": {"editable": True}})
    )
    return folder.parent


@pytest.fixture
def environment(installed: Path, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(installed), str(SOURCE / "src"))),
        "INSPECT_LOG_DIR": str(tmp_path / "logs"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }


@pytest.fixture
def evaluated(environment: dict[str, str], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run `vivavoce/exam` with these arguments, and return the log as JSON has it."""

    def run(answers: dict[str, str], task: str = "vivavoce/exam", **arguments: Any) -> dict[str, Any]:
        job = {"task": task, "arguments": arguments, "answers": answers, "folder": str(tmp_path / "logs")}
        done = subprocess.run(
            [sys.executable, str(EVALUATES)],
            input=json.dumps(job), capture_output=True, text=True, timeout=240, env=environment, cwd=tmp_path,
        )  # fmt: skip
        assert 0 == done.returncode, done.stderr[-3000:]
        log: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return log

    return run
