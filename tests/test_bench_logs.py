"""The benchmark of logs writes what every reader takes, and compares with what was measured alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def output(root: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(root / "bench" / "logs.py"), "--samples", "20", "--rounds", "2"],
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_every_layout_is_read_by_every_arm_that_is_there(output: str) -> None:
    rows = re.findall(r"^  (.+?)\s+([\d,]+) \([\d,]+ to [\d,]+\) microseconds a sample", output, re.MULTILINE)
    assert ["vivavoce, reader", "viva import"] * 3 == [arm for arm, _ in rows if arm != "json.load"]
    assert 2 == sum(arm == "json.load" for arm, _ in rows)
    assert all(float(figure.replace(",", "")) > 0 for arm, figure in rows if arm != "json.load")


def test_a_peer_that_is_not_there_gets_no_number_and_no_ratio(output: str) -> None:
    assert 2 == len(re.findall(r"^  read_eval_log\s+not installed$", output, re.MULTILINE))
    assert "/ read_eval_log" not in output
    ratios = re.findall(r"^  (.+) / json\.load: time .* at most 3 and 0\.2: ", output, re.MULTILINE)
    assert ["vivavoce, reader", "viva import"] * 2 == ratios
