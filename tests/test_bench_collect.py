"""The benchmark of collecting says what was measured, and nothing about what was not."""

import re
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from tests.lengths import length
from tests.tools.loading import benchmark


def cached(measured: Callable[..., Any]) -> Callable[..., Any]:
    """Each arm is measured once for each number of repeats: other rounds and sizes get the same figures."""
    results: dict[Any, Any] = {}

    def answer(
        name: str, python: str, samples: int, at_once: int, *, repeats: int = 1, **latency: float
    ) -> Any:
        key = (name, python, repeats)
        if key not in results:
            results[key] = measured(name, python, samples, at_once, repeats=repeats, **latency)
        return results[key]

    return answer


def anew(measured: Callable[..., Any]) -> Callable[..., Any]:
    """Each arm is measured whenever it is asked for."""
    return measured


@pytest.fixture(scope="module")
def bench(root):
    """A call of the script, which gives what it prints."""

    def call(*words: object) -> str:
        script = benchmark("collect")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(root / "src"))
            patch.setattr("sys.argv", ["collect.py", *map(str, words)])
            patch.setattr("sys.stdout", stream := StringIO())
            patch.setattr(script, "measured", length(cached, anew)(script.measured))
            script.main()
        return stream.getvalue()

    return call


def rows(said: str) -> dict[str, list[str]]:
    """The arms' lines of the table, as words."""
    table = said.partition("peak MiB, no latency")[0]
    return {line[:18].strip(): line[18:].split() for line in table.splitlines() if line[:1].isalpha()}


@pytest.fixture(scope="module")
def said(bench):
    arms = ("aiohttp alone", "vivavoce, engine", "vivavoce, collect", "Inspect, eval", "lm-eval, evaluate")
    return bench("--samples", 40, "--rounds", 2, "--at-once", 4, "--arms", *arms, "--memory", 20, 40)


@pytest.mark.parametrize("arm", ["aiohttp alone", "vivavoce, engine", "vivavoce, collect"])
def test_an_arm_has_speed_cpu_memory_and_as_many_on_the_wire_as_were_allowed(said, arm):
    numbers = re.findall(r"[\d.,]+", " ".join(rows(said)[arm]))
    speed, least, most, share, cpu, _, _, peak, wire = (float(n.replace(",", "")) for n in numbers)
    assert 0 < least <= speed <= most <= 80  # 4 at once, 50 ms each
    assert share == pytest.approx(speed / 80, abs=0.01)
    assert 0 < cpu < 1000
    assert peak > 1
    assert wire == 4


@pytest.mark.parametrize("arm", ["Inspect, eval", "lm-eval, evaluate"])
def test_a_peer_that_is_not_there_gets_no_number(said, arm):
    assert rows(said)[arm] == ["not", "installed"]
    assert f"/ {arm}" not in said


def test_versions_are_told(said):
    assert re.search(r"^versions, here: aiohttp [\d.]+, vivavoce \d", said, re.M)


def test_ours_is_compared_with_what_was_measured(said):
    ratio = r"[\d.]+ \([\d.]+ to [\d.]+\)x"
    assert re.search(rf"samples/s, vivavoce, collect / aiohttp alone: {ratio}, CPU {ratio}", said)
    assert "budget of collect (0.85x aiohttp alone, 0.4 ms CPU per answer): " in said


def test_memory_is_told_for_questions_and_for_repeats(said):
    for arm in ("vivavoce, engine", "vivavoce, collect"):
        line = next(x for x in said.partition("peak MiB, no latency")[2].splitlines() if x.startswith(arm))
        assert re.search(r"20 x 1: \d+, 40 x 1: \d+, 20 x 2: \d+$", line)


def test_a_peer_whose_python_cannot_run_it_is_told_as_failed(bench, tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # a Python without any package
    bare.chmod(0o700)
    reasons = {str(bare): "ModuleNotFoundError: No module named '", "nowhere": "there is no nowhere"}
    for python, why in reasons.items():
        _check_reason(bench, python, why)


def _check_reason(bench, python, why):
    said = bench("--samples", 5, "--rounds", 1, "--at-once", 2, "--arms", "Inspect, model", "--memory",
                 "--inspect", python)  # fmt: skip
    assert f"Inspect, model     failed: {why}" in said
