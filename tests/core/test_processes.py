"""Whether a process that a lock names still runs."""

import os
import subprocess
import sys

from vivavoce.core.processes import has_ended, this_machine


def test_a_process_has_ended_once_it_was_killed_and_again_once_it_was_collected():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not has_ended(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(process.pid)
        process.wait()
        assert has_ended(process.pid)


def test_a_process_of_somebody_else_runs_and_a_number_that_no_system_gives_does_not():
    assert not has_ended(1)
    assert not has_ended(os.getpid())
    assert has_ended(10**17)


def test_a_machine_has_a_name_in_one_line():
    assert [this_machine()] == this_machine().splitlines()
