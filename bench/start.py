"""CPU time of starts: `viva --help` and `viva status` on the demo's run beside `python -c pass`.

    python bench/start.py [--starts N] [--against SRC]

`--against` is the `src` folder of another version, measured in turn with this one.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


def cpu_seconds(words: list[str], source: Path, folder: str) -> float:
    """The user and system time of one start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(source)}
    # exit code 1 says that failed rows remain, which the demo has on purpose
    subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=11)
    parser.add_argument("--against", type=Path, metavar="SRC")
    options = parser.parse_args()
    commands = {
        "python -c pass": ["-c", "pass"],
        "viva --help": ["-m", "vivavoce", "--help"],
        "viva status": ["-m", "vivavoce", "status", "demo/demo.viva", "--quiet"],
    }
    sources = [SOURCE] + ([options.against.resolve()] if options.against else [])
    with tempfile.TemporaryDirectory() as folder:
        cpu_seconds(["-m", "vivavoce", "demo", "--to", "demo", "--quiet"], SOURCE, folder)
        for name, words in commands.items():
            # in turn, so that a busy machine slows both alike
            rounds = [
                [cpu_seconds(words, source, folder) for source in sources] for _ in range(options.starts)
            ]
            for source, seconds in zip(sources, zip(*rounds, strict=True), strict=True):
                label = name if source == SOURCE else f"{name}, against"
                print(
                    f"{label:24} {statistics.median(seconds):.3f} s CPU ({min(seconds):.3f} to "
                    f"{max(seconds):.3f}, {options.starts} starts)"
                )
            if len(sources) == 2:
                ratios = sorted(mine / theirs for mine, theirs in rounds)
                print(f"{'  ratio':24} {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
