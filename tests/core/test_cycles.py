"""Searches for cycles: rare while a block runs, none when a command's process ends."""

import gc
import subprocess
import sys

import pytest

from vivavoce.core.cycles import RARE, rare_search


@pytest.fixture(autouse=True)
def _thresholds():
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize(("at_start", "inside"), [(700, RARE), (2 * RARE, 2 * RARE), (0, 0)])
def test_searches_are_rare_in_the_block_unless_they_were_rarer_or_off(at_start, inside):
    gc.set_threshold(at_start, 10, 10)
    with rare_search():
        assert (inside, 10, 10) == gc.get_threshold()
    assert (at_start, 10, 10) == gc.get_threshold()


def test_an_error_leaves_the_thresholds_as_they_were():
    gc.set_threshold(700, 10, 10)
    with pytest.raises(KeyError), rare_search():
        raise KeyError
    assert (700, 10, 10) == gc.get_threshold()


def test_what_is_registered_for_the_end_of_a_process_still_runs():
    code = (
        "import atexit, gc; from vivavoce.core.cycles import no_search_at_exit; "
        "atexit.register(lambda: print(gc.get_freeze_count() > 0)); no_search_at_exit()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "True\n" == result.stdout
