"""To look at a plan runs no code of its plugins before the user said yes to their hashes."""

import hashlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import exam

from vivavoce.core.errors import InputError

Viva = Callable[..., Any]
PLUGIN = "from pathlib import Path\nPath('ran').touch()\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PLUGIN)
    entries = {"benchmarks": [exam(tmp_path, ["q1"])], "models": ["baseline/echo"], "metrics": ["exact"]}
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps({"run": "exam.viva", "plugins": ["mine.py"], **entries}))
    return file


@pytest.mark.parametrize("words", [("run", "--dry-run"), ("shards", "--of", 2)])
def test_no_code_of_a_plugin_runs_and_its_hash_is_named(viva: Viva, plan: Path, words: Any) -> None:
    verb, *options = words
    with pytest.raises(InputError, match=r"mine\.py \(sha256 ") as error:
        viva(verb, plan, *options)
    assert hashlib.sha256(PLUGIN.encode()).hexdigest() in str(error.value)
    assert "--trust-plugins" in str(error.value)
    assert not plan.with_name("ran").exists()


@pytest.mark.parametrize("words", [("run", "--dry-run"), ("shards", "--of", 2)])
def test_a_plan_of_trusted_plugins_is_looked_at(viva: Viva, plan: Path, words: Any) -> None:
    verb, *options = words
    viva(verb, plan, *options, "--trust-plugins")
    assert plan.with_name("ran").exists()


def test_a_plan_without_plugins_asks_nothing(viva: Viva, plan: Path) -> None:
    entries = json.loads(plan.read_text())
    plan.write_text(json.dumps({**entries, "plugins": []}))
    viva("run", plan, "--dry-run")
    plan.write_text(json.dumps({**entries, "plugins": ["none.py"]}))
    with pytest.raises(InputError, match=r"none\.py \(sha256 cannot be read\)"):
        viva("run", plan, "--dry-run")


@pytest.mark.skipif(os.name == "nt", reason="terminals")
@pytest.mark.parametrize(("reply", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_at_a_terminal_the_user_is_asked(plan: Path, reply: str, code: int) -> None:
    terminal, process_end = pty.openpty()
    os.write(terminal, f"{reply}\n".encode())
    words = [sys.executable, "-m", "vivavoce", "run", plan.name, "--dry-run"]
    done = subprocess.run(
        words, cwd=plan.parent, stdin=process_end, stdout=subprocess.PIPE, stderr=process_end, timeout=120
    )
    os.close(process_end)
    printed = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert code == done.returncode, printed
    assert "mine.py (sha256 " in printed
    assert (reply == "y") == plan.with_name("ran").exists()
