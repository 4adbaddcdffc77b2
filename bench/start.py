"""CPU time of starts (`viva --help`, `viva status`, beside `python -c pass`) and of verbs in a warm process.

    python bench/start.py [--starts N] [--against SRC]

Verbs are called in a process that has called them before, on a run of 12 items and 2 candidates, with the
connections that one call opens. `--against` is the `src` folder of another version, measured in turn.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
VERBS = ("score", "compare", "status", "report")
CALLS = 12
"""Calls of a verb in one process, of which the median counts; three more come before them."""
WORKER = """
import json, shutil, sqlite3, statistics, sys, time
from pathlib import Path
import vivavoce as viva

folder, verb, calls = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
opened, connect = [], sqlite3.connect
sqlite3.connect = lambda *args, **options: opened.append(args) or connect(*args, **options)
rows = [
    {"item": f"q{k}", "question": f"What is number {k}?", "format": "short", "references": [f"answer {k}"],
     "candidate": name, "text": f"answer {k}" if k % modulus else "another"}
    for k in range(12) for name, modulus in (("A", 2), ("B", 3))
]
run = viva.open(folder / "answered.viva")
run.import_answers(rows, name="exam")
run.copy(folder / "scored.viva")
viva.open(folder / "scored.viva").score("exact", "token_f1")
uses = {
    "score": lambda run: run.score("exact"),
    "compare": lambda run: run.compare("A", "B"),
    "status": lambda run: run.status(),
    "report": lambda run: run.report(folder / "report.html"),
}
seconds = []
for _ in range(calls + 3):
    file = folder / "run.viva"
    for end in ("", "-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    shutil.copyfile(folder / ("answered.viva" if verb == "score" else "scored.viva"), file)
    run = viva.open(file)
    opened.clear()
    before = time.process_time()
    uses[verb](run)
    seconds.append(time.process_time() - before)
print(json.dumps([statistics.median(seconds[3:]), len(opened)]))
"""


def verb_seconds(verb: str, source: Path) -> tuple[float, int]:
    """The CPU time of one call of a verb in a warm process, and the connections that it opens."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", WORKER, folder, verb, str(CALLS)]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        run = subprocess.run(words, env=environment, capture_output=True, check=True, text=True)
    seconds, opened = json.loads(run.stdout.splitlines()[-1])
    return seconds, opened


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
            show(name, rounds, "starts")
    for verb in VERBS:
        measured = [[verb_seconds(verb, source) for source in sources] for _ in range(options.starts)]
        opened = " and ".join(str(n) for _, n in measured[0])
        rounds = [[seconds for seconds, _ in of_round] for of_round in measured]
        show(f"{verb}, 12 items", rounds, f"processes, {opened} connections")


def show(name: str, rounds: Sequence[Sequence[float]], what: str) -> None:
    """Print the seconds of this version, and where there is another those of it and the ratio."""
    for label, seconds in zip((name, f"{name}, against"), zip(*rounds, strict=True), strict=False):
        print(
            f"{label:26} {statistics.median(seconds):.4f} s CPU ({min(seconds):.4f} to {max(seconds):.4f}, "
            f"{len(seconds)} {what})"
        )
    if len(rounds[0]) == 2:
        ratios = sorted(ours / theirs for ours, theirs in rounds)
        print(f"{'  ratio':26} {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
