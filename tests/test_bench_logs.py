"""The benchmark of logs writes what every reader takes, and compares with what was measured alone."""

import re
from collections.abc import Callable
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.lengths import length
from tests.tools.loading import benchmark


def anew(measured: Callable[..., Any]) -> Callable[..., Any]:
    """Each arm is measured in each round."""
    return measured


@pytest.fixture(scope="module")
def output(root: Path) -> str:
    """What two rounds print. In the gate the second says what was measured in the first."""
    bench = benchmark("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(root / "src"))
        patch.setattr("sys.argv", ["logs.py", "--samples", "20", "--rounds", "2"])
        patch.setattr("sys.stdout", stream := StringIO())
        patch.setattr(bench, "measured", length(cache, anew)(bench.measured))
        bench.main()
    return stream.getvalue()


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
