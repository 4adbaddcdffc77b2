"""CPU time of `viva --help` beside `python -c pass`: median of repeated starts. Usage: python
bench/start.py [n]
"""

import resource
import statistics
import subprocess
import sys


def cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(n: int = 11) -> None:
    times = {
        "viva --help": [sys.executable, "-m", "vivavoce", "--help"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    found = {name: sorted(cpu(command) for _ in range(n)) for name, command in times.items()}
    for name, seconds in found.items():
        print(
            f"{name:16} {statistics.median(seconds):.3f} s CPU ({seconds[0]:.3f} to {seconds[-1]:.3f}, "
            f"{n} starts)"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
