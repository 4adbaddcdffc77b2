"""A large run, step by step: seconds, rows a second and peak memory of each, and reading beside a naive way.

20 candidates answer rows / 100 questions (two to a case) five times each. A step is a process of its own, so
peaks are the step's, interpreter and libraries included. With several sizes the seconds of each step are set
beside those at the first. `scoring` scores sentences by six metrics at several sizes: the slope of log CPU
against log answers is 1 where the cost of an answer stays the same. `merging` joins 8 shards, whose answers
have a call and a score each, at several sizes, with the same slope.

Usage: python bench/scale.py [rows …], or python bench/scale.py scoring [answers …], or
python bench/scale.py merging [scores …]
"""

import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import vivavoce as viva
from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.core.registry import build
from vivavoce.run.score import score
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import ScoreRow, put_measures, put_scores

CANDIDATES, REPEATS, ROUNDS = 20, 5, 3
WORDS = ("rest", "fluids", "oxygen", "aspirin", "heparin", "insulin", "naloxone", "diuresis", "dialysis")
STEMS = ("cardio", "nephro", "hepato", "gastro", "neuro", "pneumo", "dermo", "osteo", "angio", "myo")
ENDINGS = ("pathy", "itis", "logy", "tomy", "genic", "scope", "graphy", "plasty", "lysis", "tropic")
METRIC, WRITTEN = "share", Criterion(criterion="quality", low=0, high=1)
BUDGETS = ((1_000_000, 30, 1_000), (10_000_000, 600, 4_000))
"""Up to so many rows, the seconds of CPU and the MiB of each step that reads scores."""
RATIO = 1.1
"""A step's seconds may grow by so much more than the rows."""
BATCH = 100_000
METRICS = ("token_f1", "exact", "rouge(n=1)", "rouge(n=L)", "bleu", "chrf")
SIZES, FURTHER_WORDS = (50_000, 100_000, 200_000), 20
SLOPE, SCORING_MIB, ROW_US = 1.1, 400, 40
SHARDS, MERGED_SIZES = 8, (100_000, 1_000_000)


@viva.metric(METRIC)
class Share(viva.Metric):
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


@viva.metric("one")
class One(viva.Metric):
    """1 for each answer: what is left is the cost of everything around a metric."""

    criteria = (Criterion(criterion="one"),)
    formats = ("short",)

    def values(self, rows, context):
        """1 for each row."""
        return [{"one": Value(1.0)} for _ in rows]


def make(folder: Path, rows: int, further_words: int = 0) -> int:
    """An exam and its answers, of four words and so many further ones; not timed."""
    rng = random.Random(1)
    vocabulary = [f"{a}{b}" for a in STEMS for b in ENDINGS] + list(WORDS)
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
                    if further_words:
                        text += ", " + " ".join(rng.choices(vocabulary, k=further_words)) + "."
                    row = {"item": item, "candidate": f"m{c:02}", "repeat": repeat, "text": text}
                    file.write(json.dumps(row) + "\n")
    return len(keys) * CANDIDATES * REPEATS


def batched(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The rows in lists of at most so many."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def bring_in(folder: Path) -> None:
    """Import the answers."""
    viva.open(folder / "run.viva").import_answers(
        folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')"
    )


def write(run: viva.Run) -> None:
    """Scores of every answer by one measure, put directly into the table, batch by batch."""
    rng = random.Random(2)
    with run.file.writing() as db:
        (key,) = put_measures(
            db, [Measure(metric="written", signature="written()@1", rater="", criterion=WRITTEN)]
        )
        responses = [n for (n,) in db.execute("SELECT response_id FROM responses")]
    for batch in batched(responses, BATCH):
        with run.file.writing() as db:
            put_scores(db, key, (ScoreRow(n, Value(rng.random())) for n in batch))


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


def make_shards(folder: Path, rows: int) -> int:
    """An exam and runs of its shards, each with as many items; not timed."""
    n = make(folder, rows)
    with (folder / "answers.jsonl").open() as lines:
        for path in shard_paths(folder):
            answers = folder / "shard.jsonl"
            answers.write_text("".join(islice(lines, math.ceil(n / SHARDS))))
            run = viva.open(path)
            run.import_answers(answers, benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
            write(run)
            with run.file.writing() as db:
                db.execute(
                    "INSERT INTO calls (key, model, endpoint, repeat, kind, purpose, status, attempts, "
                    "seconds, response_id) SELECT item, candidate, 'bench', repeat, 'generate', 'collect', "
                    "'ok', 1, 0.5, response_id FROM responses JOIN items USING (item_id) "
                    "JOIN candidates USING (candidate_id)"
                )
    return n


def shard_paths(folder: Path) -> list[Path]:
    return [folder / f"shard-{number}.viva" for number in range(1, SHARDS + 1)]


def merge_shards(folder: Path) -> None:
    """Join the shards into a run where none lies yet."""
    merged = viva.open(folder / "all.viva").merge(*shard_paths(folder))
    if not all(shard.responses == shard.scores == shard.calls > 0 for shard in merged):
        raise ValueError(f"not everything came: {merged}")


STEPS: dict[str, Callable[[Path], object]] = {
    "Python and Polars alone": lambda folder: import_module("polars"),
    "import the answers": bring_in,
    "write the scores directly": lambda folder: write(viva.open(folder / "written.viva")),
    "score by a plugin metric": lambda folder: viva.open(folder / "run.viva").score(METRIC),
    "read into the joined frame": lambda folder: viva.open(folder / "run.viva").scores,
    "estimates": lambda folder: viva.open(folder / "run.viva").estimates(METRIC),
    "compare two": lambda folder: viva.open(folder / "run.viva").compare("m00", "m19", metric=METRIC),
    "compare all with one": lambda folder: all_against_one(viva.open(folder / "run.viva")),
    "study ranking": lambda folder: viva.open(folder / "run.viva").study("ranking"),
    "all studies": lambda folder: viva.open(folder / "run.viva").study(),
    "report": lambda folder: viva.open(folder / "run.viva").report(),
    "export the tables": lambda folder: viva.open(folder / "run.viva").export(
        folder / "tables", format="parquet"
    ),
}


READING = tuple(STEPS)[tuple(STEPS).index("estimates") :]
"""The steps that only read scores."""


def measured(work: Callable[[], object]) -> str:
    """The seconds that the work takes and the peak of this process, as JSON."""
    before, cpu = time.perf_counter(), time.process_time()
    work()
    usage = {"wall": time.perf_counter() - before, "cpu": time.process_time() - cpu}
    usage["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return json.dumps(usage)


def score_all(folder: Path, *specs: str) -> None:
    """The metrics alone: no table is read and no estimate is made."""
    with_view(RunFile(folder / "scored.viva"), score, [build("metric", spec) for spec in specs])


def child(*arguments: str) -> Any:
    run = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(run.stdout)


def main(*sizes: int) -> None:
    """Every step at each size, in turn; beside the first size its seconds there."""
    first: dict[str, float] = {}
    counts: list[int] = []
    for rows in sizes or (BUDGETS[0][0],):
        with tempfile.TemporaryDirectory() as temporary:
            n = child("make", temporary, str(rows))  # here it would raise the floor of every child's peak
            counts.append(n)
            cpu = measure_steps(Path(temporary), n)
            if not first:
                first = cpu
                continue
        print(f"\n{n / counts[0]:.1f} times the rows, s CPU / s CPU at {counts[0]:,}:")
        for name, seconds in cpu.items():
            if first[name] > 0.1:
                late = "" if seconds / first[name] <= RATIO * n / counts[0] else "  over the budget"
                print(f"{name:34} {seconds / first[name]:7.1f}{late}")


def measure_steps(folder: Path, n: int) -> dict[str, float]:
    """The seconds of CPU of each step on these answers, printed with what else it took."""
    items = n // (CANDIDATES * REPEATS)
    print(f"{n:,} answers of {CANDIDATES} candidates to {items:,} questions, {REPEATS} times each\n")
    print(f"{'step':34} {'s wall':>7} {'s CPU':>7} {'rows/s':>9} {'peak MiB':>9}")
    most_seconds, most_mib = next((s, m) for rows, s, m in (*BUDGETS, (n, *BUDGETS[-1][1:])) if n <= rows)
    late, cpu = [], {}
    for place, name in enumerate(STEPS):
        found = child("step", name, str(folder))
        cpu[name] = found["cpu"]
        if name == "import the answers":
            viva.open(folder / "run.viva").copy(folder / "written.viva")
        speed = f"{n / found['wall']:9,.0f}" if place else ""
        print(
            f"{name:34} {found['wall']:7.1f} {found['cpu']:7.1f} {speed:>9} {found['mib']:9,.0f}",
            flush=True,
        )
        if found["mib"] > most_mib or (name in READING and found["cpu"] > most_seconds):
            late.append(name)
    size = (folder / "run.viva").stat().st_size / 2**20
    print(f"\nrun file {size:,.0f} MiB, report {(folder / 'run.html').stat().st_size / 2**20:.1f} MiB")
    ratios = child("beside", str(folder))
    print(
        f"rows a second of CPU, frame / dicts through the view: {statistics.median(ratios):.1f}x "
        f"({min(ratios):.1f} to {max(ratios):.1f}, {ROUNDS} rounds)"
    )
    print(
        f"budget: reading steps {most_seconds} s of CPU each, every step {most_mib:,} MiB: "
        f"{'missed by ' + ', '.join(late) if late else 'kept'}"
    )
    return cpu


def scored(folder: Path, *specs: str) -> dict[str, float]:
    """What it costs to score a fresh copy by these metrics."""
    (folder / "scored.viva").unlink(missing_ok=True)
    viva.open(folder / "run.viva").copy(folder / "scored.viva")
    return dict(child("score", str(folder), *specs))


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, with least and greatest."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def scoring(sizes: Sequence[int]) -> None:
    """The cost of an answer at each size, the slope, and what stands around a metric."""
    costs: dict[int, list[dict[str, float]]] = {}
    print(f"{' '.join(METRICS)}\n\n{'answers':>9} {'s CPU':>22} {'us an answer':>24} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        folders = {size: Path(temporary) / str(size) for size in sizes}
        for size, folder in folders.items():
            folder.mkdir()
            n = child("make", str(folder), str(size), str(FURTHER_WORDS))
            child("step", "import the answers", str(folder))
            costs[n] = [scored(folder, *METRICS) for _ in range(ROUNDS)]
            cpu = [cost["cpu"] for cost in costs[n]]
            peak = max(cost["mib"] for cost in costs[n])
            each = spread([1e6 * seconds / n for seconds in cpu], 0)
            print(f"{n:9,} {spread(cpu, 1):>22} {each:>24} {peak:9,.0f}", flush=True)
        logs = [math.log(n) for n in costs]
        slopes = [
            statistics.linear_regression(logs, [math.log(cost[i]["cpu"]) for cost in costs.values()]).slope
            for i in range(ROUNDS)
        ]
        smallest = folders[min(sizes)]
        ratios, rows = [], []
        for _ in range(ROUNDS):
            apart = sum(scored(smallest, spec)["cpu"] for spec in METRICS)
            ratios.append(apart / scored(smallest, *METRICS)["cpu"])
        short = Path(temporary) / "short"
        short.mkdir()
        n = child("make", str(short), str(min(sizes)))
        child("step", "import the answers", str(short))
        rows = [1e6 * scored(short, "one")["cpu"] / n for _ in range(ROUNDS)]
    peak = max(cost["mib"] for by_round in costs.values() for cost in by_round)
    late = [
        *(["the slope"] if statistics.median(slopes) > SLOPE else []),
        *(["memory"] if peak > SCORING_MIB else []),
        *(["the row"] if statistics.median(rows) > ROW_US else []),
    ]
    print(f"\nslope of log CPU against log answers: {spread(slopes)}, {ROUNDS} rounds")
    print(f"CPU one metric at a time / together, {min(sizes):,} answers: {spread(ratios)}")
    print(f"us of CPU around a metric that does nothing, four-word answers: {spread(rows, 0)}")
    print(
        f"budget: slope {SLOPE}, {SCORING_MIB} MiB, {ROW_US} us: "
        f"{'missed by ' + ', '.join(late) if late else 'kept'}"
    )


def merging(sizes: Sequence[int]) -> None:
    """The cost of merging shards at each size, and the slope."""
    print(f"{SHARDS} shards, a call and a score for each answer\n")
    print(f"{'scores':>9} {'s CPU':>7} {'us a score':>11} {'peak MiB':>9} {'file MiB':>9}")
    seconds: dict[int, float] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as temporary:
            n = child("make shards", temporary, str(size))
            cost = child("merge", temporary)
            mib = (Path(temporary) / "all.viva").stat().st_size / 2**20
        seconds[n] = cost["cpu"]
        microseconds = 1e6 * cost["cpu"] / n
        print(f"{n:9,} {cost['cpu']:7.1f} {microseconds:11.0f} {cost['mib']:9,.0f} {mib:9,.0f}", flush=True)
    if len(seconds) > 1:
        logs = [[math.log(value) for value in values] for values in (seconds, seconds.values())]
        slope = statistics.linear_regression(*logs).slope
        print(f"\nslope of log CPU against log scores: {slope:.2f}")
        print(f"budget: slope {SLOPE}: {'kept' if slope <= SLOPE else 'missed'}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["step", name, folder]:
            print(measured(lambda: STEPS[name](Path(folder))))
        case ["score", folder, *specs]:
            print(measured(lambda: score_all(Path(folder), *specs)))
        case ["make", folder, *numbers]:
            print(make(Path(folder), *map(int, numbers)))
        case ["scoring", *sizes]:
            scoring([int(size) for size in sizes] or SIZES)
        case ["merging", *sizes]:
            merging([int(size) for size in sizes] or MERGED_SIZES)
        case ["make shards", folder, rows]:
            print(make_shards(Path(folder), int(rows)))
        case ["merge", folder]:
            print(measured(lambda: merge_shards(Path(folder))))
        case ["beside", folder]:
            print(json.dumps(beside(viva.open(Path(folder) / "run.viva"))))
        case arguments:
            main(*map(int, arguments))
