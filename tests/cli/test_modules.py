"""A command loads few of the package's modules: those that its work passes."""

import json
import os
import subprocess
import sys

import pytest
from tests.studies.making import marked, twins

CEILINGS = {"status": 186, "compare": 228, "score": 285}
"""Modules of vivavoce that a command loads at most, of 980."""
NEVER = {"pydantic", "scipy.special._basic", "numpy.f2py", "numpy.testing", "numpy.ma", "scipy.stats"}
"""Modules of others that take long to import, and that these commands do without."""
SCRIPT = """
import json, sys
from vivavoce.cli import main

try:
    main()
finally:
    print(json.dumps([*sys.modules]), file=sys.stderr)
"""


@pytest.mark.parametrize("command", CEILINGS)
def test_a_command_loads_no_more_modules_than_it_did(tmp_path, command):
    marked(tmp_path, {"a": twins([0, 1, 1]), "b": twins([1, 0, 0])})
    words = {"status": [], "compare": ["a", "b"], "score": ["exact"]}[command]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, command, str(tmp_path / "run.viva"), *words, "--quiet"],
        env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr[-2_000:]
    loaded = json.loads(done.stderr.splitlines()[-1])
    assert not NEVER & {*loaded}
    modules = [name for name in loaded if name.split(".")[0] == "vivavoce"]
    assert f"vivavoce.cli.{command}" in modules, "the command itself was run"
    assert CEILINGS[command] >= len(modules), sorted(modules)
