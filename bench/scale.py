"""A large run, step by step: seconds, rows a second and peak memory of each, and reading beside a naive way.

20 candidates answer rows / 100 questions (two to a case) five times each. A step is a process of its own, so
peaks are the step's, interpreter and libraries included. Usage: python bench/scale.py [rows]
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import vivavoce as viva
from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.store.write import ScoreRow, put_measures, put_scores

CANDIDATES, REPEATS, ROUNDS = 20, 5, 3
WORDS = ("rest", "fluids", "oxygen", "aspirin", "heparin", "insulin", "naloxone", "diuresis", "dialysis")
METRIC, WRITTEN = "share", Criterion(criterion="quality", low=0, high=1)
SECONDS, MIB = 60, 2_000


@viva.metric(METRIC)
class Share:
    """Share of the key's words that the answer has."""

    criteria = (Criterion(criterion="share"),)
    formats = ("short",)
    needs = ("references",)

    def values(self, rows, context):
        """A share for each row."""
        keys = [row.item.references[0].split() for row in rows]
        found = (set(row.reading.parsed.split()) for row in rows)
        return [
            {"share": Value(sum(w in said for w in key) / len(key))}
            for key, said in zip(keys, found, strict=True)
        ]


def make(folder: Path, rows: int) -> int:
    """An exam, its answers and the marks that are written directly; not timed."""
    rng = random.Random(1)
    keys = {f"q{i:06}": rng.sample(WORDS, 4) for i in range(rows // (CANDIDATES * REPEATS))}
    with (folder / "exam.jsonl").open("w") as file:
        for i, (item, key) in enumerate(keys.items()):
            row = {"id": item, "format": "short", "question": f"What helps in {item}?",
                   "references": [" ".join(key)], "group": f"case {i // 2}"}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    with (folder / "answers.jsonl").open("w") as file:
        for item, key in keys.items():
            for c in range(CANDIDATES):
                skill = 0.4 + c / 50 + rng.gauss(0, 0.15)
                for repeat in range(1, REPEATS + 1):
                    text = " ".join(w if rng.random() < skill else rng.choice(WORDS) for w in key)
                    row = {"item": item, "candidate": f"m{c:02}", "repeat": repeat, "text": text}
                    file.write(json.dumps(row) + "\n")
    return len(keys) * CANDIDATES * REPEATS


def write(run: viva.Run) -> int:
    """Marks of every answer by one measure, put directly into the table in one transaction."""
    rng = random.Random(2)
    with run.file.writing() as db:
        (key,) = put_measures(
            db, [Measure(metric="written", signature="written()@1", rater="", criterion=WRITTEN)]
        )
        responses = [n for (n,) in db.execute("SELECT response_id FROM responses")]
        put_scores(db, key, (ScoreRow(n, Value(rng.random())) for n in responses))
    return len(responses)


def naive(run: viva.Run, n: int) -> list[dict[str, object]]:
    """The first `n` score rows as Python dicts, one by one through the view."""
    with run.file.reading() as db:
        cursor = db.execute("SELECT * FROM score_rows LIMIT ?", (n,))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def beside(run: viva.Run) -> list[float]:
    """In each round, how many times the rows a second of the naive way the frame makes."""
    ratios = []
    naive(run, 1), run.scores  # what is loaded at first use counts for neither
    for _ in range(ROUNDS):
        start = time.process_time()
        n = run.scores.height
        own = n / (time.process_time() - start)
        some = min(n, 100_000)  # a million dicts of nineteen entries would not fit into the budget
        start = time.process_time()
        naive(run, some)
        ratios.append(own * (time.process_time() - start) / some)
    return ratios


def all_against_one(run: viva.Run) -> int:
    return len(run.compare(*[f"m{c:02}" for c in range(CANDIDATES)], metric=METRIC).rows)


STEPS: dict[str, Callable[[Path], object]] = {
    "Python and Polars alone": lambda folder: import_module("polars"),
    "import the answers": lambda folder: viva.open(folder / "run.viva").import_answers(
        folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')"
    ),
    "write the marks directly": lambda folder: write(viva.open(folder / "written.viva")),
    "score by a plugin metric": lambda folder: viva.open(folder / "run.viva").score(METRIC),
    "read into the joined frame": lambda folder: viva.open(folder / "run.viva").scores,
    "estimates": lambda folder: viva.open(folder / "run.viva").estimates(METRIC),
    "compare two": lambda folder: viva.open(folder / "run.viva").compare("m00", "m19", metric=METRIC),
    "compare all with one": lambda folder: all_against_one(viva.open(folder / "run.viva")),
    "study ranking": lambda folder: viva.open(folder / "run.viva").study("ranking"),
    "all studies": lambda folder: viva.open(folder / "run.viva").study(),
    "report": lambda folder: viva.open(folder / "run.viva").report(),
}


def step(name: str, folder: str) -> None:
    """One step in this process; prints its seconds and its peak."""
    before, cpu = time.perf_counter(), time.process_time()
    STEPS[name](Path(folder))
    done = {"wall": time.perf_counter() - before, "cpu": time.process_time() - cpu}
    done["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(done))


def child(*arguments: str) -> Any:
    run = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(run.stdout)


def main(rows: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        n = child("make", temporary, str(rows))  # here it would raise the floor of every child's peak
        items = n // (CANDIDATES * REPEATS)
        print(f"{n:,} answers of {CANDIDATES} candidates to {items:,} questions, {REPEATS} times each\n")
        print(f"{'step':34} {'s wall':>7} {'s CPU':>7} {'rows/s':>9} {'peak MiB':>9}")
        late = []
        for name in STEPS:
            found = child("step", name, temporary)
            if name == "import the answers":
                viva.open(folder / "run.viva").copy(folder / "written.viva")
            empty = name == next(iter(STEPS))
            speed = "" if empty else f"{n / found['wall']:9,.0f}"
            print(
                f"{name:34} {found['wall']:7.1f} {found['cpu']:7.1f} {speed:>9} {found['mib']:9,.0f}",
                flush=True,
            )
            if found["mib"] > MIB or (name in ("all studies", "report") and found["wall"] > SECONDS):
                late.append(name)
        size = (folder / "run.viva").stat().st_size / 2**20
        print(f"\nrun file {size:,.0f} MiB, report {(folder / 'run.html').stat().st_size / 2**20:.1f} MiB")
        ratios = child("beside", temporary)
        print(
            f"rows a second of CPU, frame / dicts through the view: {statistics.median(ratios):.1f}x "
            f"({min(ratios):.1f} to {max(ratios):.1f}, {ROUNDS} rounds)"
        )
        print(
            f"budget: studies and report under {SECONDS} s each, every step under {MIB:,} MiB: "
            f"{'missed by ' + ', '.join(late) if late else 'kept'}"
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["step", name, folder]:
            step(name, folder)
        case ["make", folder, rows]:
            print(make(Path(folder), int(rows)))
        case ["beside", folder]:
            print(json.dumps(beside(viva.open(Path(folder) / "run.viva"))))
        case arguments:
            main(*map(int, arguments))
