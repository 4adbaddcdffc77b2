"""Atomic facts at 1,000 and at 5,000 answers: what is asked, built and stored, and how much memory it takes.

Answers draw their sentences from 600 facts of which 400 stand in a source of 40 documents, and bear an echo
of the question, a repetition and a cut end. The splitter is `sentences`; the checker is an endpoint on this
machine that always says the same, so that the numbers are about bookkeeping and never about facts. A step is
a process of its own, so peaks are the step's, interpreter and libraries included.

Usage: python bench/facts.py [answers …]
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vivavoce as viva
from vivavoce.facts import clean
from vivavoce.facts.fact import Cleaned
from vivavoce.metrics.atomic_facts import metric as atomic_facts
from vivavoce.retrieval.index import open_source

SIZES, CANDIDATES, FACTS, DOCUMENTS, SENTENCES = (1_000, 5_000), 5, 600, 40, 10
IN_SOURCE = 400
REPLY = '{"verdict": "supported", "passage": 1, "quote": ""}'
FLAT = 1.25
"""Peak memory at the largest size, as a multiple of that at the smallest."""


def fact(number: int) -> str:
    """A sentence; those from `IN_SOURCE` on share no word with the source."""
    if number >= IN_SOURCE:
        return f"Compound Z{number:03} widens vessel V{number:03}."
    return f"Drug D{number:03} lowers marker M{number:03} by {number % 90 + 5} units."


def make(folder: Path, answers: int) -> None:
    """An exam, its answers and a source."""
    rng = random.Random(1)
    source = folder / "source"
    source.mkdir()
    for d in range(DOCUMENTS):
        text = " ".join(fact(number) for number in range(d, IN_SOURCE, DOCUMENTS))
        (source / f"{d:02}.txt").write_text(text)
    items = answers // CANDIDATES
    with (folder / "exam.jsonl").open("w") as exam, (folder / "answers.jsonl").open("w") as file:
        for i in range(items):
            question = f"Which drugs lower markers in case {i}?"
            exam.write(json.dumps({"id": f"q{i:05}", "format": "longform", "question": question}) + "\n")
            for c in range(CANDIDATES):
                parts = [fact(number) for number in rng.sample(range(FACTS), SENTENCES)]
                text = f"{question}\n{' '.join((*parts, parts[0]))} The last drug is"
                row = {"item": f"q{i:05}", "candidate": f"m{c}", "text": text, "finish_reason": "length"}
                file.write(json.dumps(row) + "\n")


def cleaned(folder: Path) -> Iterator[Cleaned]:
    questions = {row["id"]: row["question"] for row in lines(folder / "exam.jsonl")}
    for row in lines(folder / "answers.jsonl"):
        yield clean(questions[row["item"]], row["text"], finish_reason=row["finish_reason"])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        yield from map(json.loads, file)


def score(folder: Path) -> dict[str, int]:
    """Score, counting how often the source is opened and built."""
    counts = {"opened": 0, "built": 0}

    def counted(*args: Any, **settings: Any) -> Any:
        source = open_source(*args, **settings)
        counts["opened"] += 1
        counts["built"] += source.builds
        return source

    atomic_facts.open_source = counted
    spec = f"atomic_facts(splitter=sentences, checker=fake/mock, source='{folder / 'source'}')"
    viva.open(folder / "run.viva").score(spec, providers=folder / "providers.yaml")
    return counts


def count(folder: Path) -> dict[str, int]:
    """Rows of units by status, distinct sentences, and how many of them the source holds."""
    with viva.open(folder / "run.viva").file.reading() as db:
        counts = dict(
            db.execute(
                "SELECT status, count(*) FROM scores JOIN statuses USING (status_id) WHERE unit_id != 0"
                " GROUP BY status"
            )
        )
    texts = {sentence for answer in cleaned(folder) for sentence in answer.sentences}
    known = sum(fact(number) in texts for number in range(IN_SOURCE))
    return {**counts, "units": sum(counts.values()), "known": known, "texts": len(texts)}


STEPS: dict[str, Callable[[Path], Any]] = {
    "clean": lambda folder: {"sentences": sum(len(answer.sentences) for answer in cleaned(folder))},
    "import": lambda folder: viva.open(folder / "run.viva").import_answers(
        folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')"
    ),
    "score": score,
    "score again": score,
}


def measured(name: str, folder: Path) -> str:
    """The seconds that a step takes, the peak of this process and what the step counted, as JSON."""
    start = time.process_time()
    counts = count(folder) if name == "count" else STEPS[name](folder)
    usage = {"cpu": time.process_time() - start, "counts": counts if isinstance(counts, dict) else {}}
    usage["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return json.dumps(usage)


@contextmanager
def endpoint() -> Iterator[int]:
    """The port of an endpoint that gives one reply to everything."""
    server = Path(__file__).with_name("mock_server.py")
    with subprocess.Popen(
        [sys.executable, str(server), "0", REPLY], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def requests(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/seen") as reply:
        body = json.load(reply)
    return int(body["requests"])


def run(answers: int, port: int) -> dict[str, dict[str, Any]]:
    """All steps at one size, in a folder and a cache of their own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make(folder, answers)
        base_url = f"http://127.0.0.1:{port}/v1"
        (folder / "providers.yaml").write_text(json.dumps({"fake": {"base_url": base_url}}))
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        results: dict[str, dict[str, Any]] = {}
        for name in (*STEPS, "count"):
            before = requests(port)
            # -P: coverage.py of this folder would stand before the package of that name
            child = subprocess.run(
                [sys.executable, "-P", __file__, "step", name, temporary],
                check=True, stdout=subprocess.PIPE, text=True, env=environment,
            )  # fmt: skip
            results[name] = {**json.loads(child.stdout), "calls": requests(port) - before}
    return results


def kept(answers: int, results: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """What must hold of the counts at one size."""
    rows, first, second = results["count"]["counts"], results["score"], results["score again"]
    sentences = results["clean"]["counts"]["sentences"]
    return {
        "a row for each unit": rows["units"] == sentences == answers * SENTENCES,
        "one index": (first["counts"]["built"], second["counts"]["built"]) == (1, 0),
        "a call for each distinct fact with a passage": first["calls"] == rows["known"],
        "no call again": second["calls"] == 0,
        "facts without a passage set aside": rows.get("ok", 0) + rows.get("set_aside", 0) == rows["units"],
    }


def main(sizes: Sequence[int]) -> None:
    results: dict[int, dict[str, dict[str, Any]]] = {}
    missed = []
    print(f"{CANDIDATES} candidates, {SENTENCES} facts an answer, {IN_SOURCE} of {FACTS} facts in "
          f"{DOCUMENTS} documents; a fake checker, so this is plumbing\n")  # fmt: skip
    print(f"{'answers':>8} {'step':12} {'s CPU':>7} {'us an answer':>13} {'peak MiB':>9} {'calls':>6}")
    with endpoint() as port:
        for size in sizes:
            results[size] = run(size, port)
            for name in STEPS:
                step = results[size][name]
                each = 1e6 * step["cpu"] / size
                print(f"{size:8,} {name:12} {step['cpu']:7.2f} {each:13,.0f} {step['mib']:9,.0f} "
                      f"{step['calls']:6,}", flush=True)  # fmt: skip
            rows = results[size]["count"]["counts"]
            print(f"{size:8,} rows of units {rows['units']:,} ({rows['units'] / size:.1f} an answer), of "
                  f"which {rows.get('ok', 0):,} ok, {rows.get('set_aside', 0):,} set aside; distinct facts "
                  f"{rows['texts']:,}, in the source {rows['known']:,}; index built "
                  f"{results[size]['score']['counts']['built']} time, then "
                  f"{results[size]['score again']['counts']['built']}\n", flush=True)  # fmt: skip
            missed += [f"{what} ({size:,})" for what, holds in kept(size, results[size]).items() if not holds]
    small, large = min(sizes), max(sizes)
    for name in STEPS:
        memory = results[large][name]["mib"] / results[small][name]["mib"]
        cost = results[large][name]["cpu"] / large / (results[small][name]["cpu"] / small)
        print(f"{name:12} peak {memory:.2f}x, CPU an answer {cost:.2f}x of that at {small:,}")
        if memory > FLAT:
            missed.append(f"memory of {name}")
    outcome = f"missed by {', '.join(missed)}" if missed else "kept"
    print(f"budget: counts as above, peak at most {FLAT}x: {outcome}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["step", name, folder]:
            print(measured(name, Path(folder)))
        case sizes:
            main([int(size) for size in sizes] or SIZES)
