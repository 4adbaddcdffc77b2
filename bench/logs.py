"""Reading logs of other tools: ours beside Inspect's `read_eval_log` and Python's `json.load`.

The script writes a log of as many samples in three layouts: Inspect's `.eval` and `.json`, whose samples have
the members and events that Inspect 0.3.285 writes for a task with `match`, and lm-eval's samples with their
results. Each arm is a process of its own; the arms take turns, in another order in each round. Time is CPU
time of the work without imports, except that of the whole `viva import`; memory is the peak of the process.
Inspect lives in an environment of its own: --inspect names its Python, --install makes one.

Usage: python bench/logs.py [--samples N] [--rounds N] [--layouts NAME ...] [--inspect PYTHON]
       [--install FOLDER]
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# This process imports the standard library only: its memory would show in the peaks of its children.

PEER = "inspect-ai==0.3.285"
DATE = "2026-11-22T15-58-51.398919"
LAYOUTS = {"eval": "med.eval", "json": "med.json", "lm_eval": f"samples_med_{DATE}.jsonl"}
READ, IMPORT, INSPECT, LOAD = "vivavoce, reader", "viva import", "read_eval_log", "json.load"
GOALS = {INSPECT: (1 / 5, 1 / 5), LOAD: (3.0, 1 / 5)}
"""Time and memory as multiples of the peer's, at most."""


# --- what is read -------------------------------------------------------------------------------------------


def words(rng: random.Random, n: int) -> str:
    """A text of made-up words."""
    syllables = ["ca", "do", "mi", "pro", "lex", "ta", "ro", "ne", "phy", "gen", "ol", "ise"]
    return " ".join("".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(n))


def sample(number: int) -> dict[str, Any]:
    """A sample as Inspect writes it: question, answer, score, and the events between them."""
    rng = random.Random(number)
    question, target, answer = words(rng, 40) + "?", words(rng, 8), words(rng, 60)
    name, moment = f"item-{number}", "2026-11-22T15:54:24.077145+00:00"
    asked = {"id": f"q{number:021}", "content": question, "source": "input", "role": "user"}
    replied = {
        "id": f"a{number:021}", "content": answer, "source": "generate", "role": "assistant",
        "model": "mockllm/fake",
    }  # fmt: skip
    usage = {"input_tokens": 60, "output_tokens": 90, "total_tokens": 150}
    output = {
        "model": "mockllm/fake", "choices": [{"message": replied, "stop_reason": "stop"}],
        "completion": answer, "usage": usage, "time": 0.25,
    }  # fmt: skip
    score = {"value": rng.choice("CI"), "answer": answer, "explanation": answer, "history": []}
    metadata = {"category": rng.choice(["cardiology", "emergency", "renal"])}
    span = {"timestamp": moment, "working_start": 0.5, "span_id": "s"}
    events = [
        {"uuid": "1", **span, "event": "span_begin", "id": "s", "type": "init", "name": "init"},
        {
            "uuid": "2", **span, "event": "sample_init",
            "sample": {"input": question, "target": target, "id": name, "metadata": metadata},
            "state": {
                "messages": [asked], "tools": [], "store": {}, "completed": False, "metadata": metadata,
            },
        },
        {"uuid": "3", **span, "event": "span_end", "id": "s"},
        {
            "uuid": "4", **span, "event": "model", "model": "mockllm/fake", "input": [],
            "input_refs": [[0, 1]], "tools": [], "tool_choice": "none", "config": {}, "output": output,
            "call": {"request": {"model": "fake"}, "response": {"content": answer}}, "completed": moment,
        },
        {"uuid": "5", **span, "event": "score", "score": score, "target": target, "intermediate": False},
        {"uuid": "6", **span, "event": "span_end", "id": "s"},
    ]  # fmt: skip
    return {
        "id": name, "epoch": 1, "input": question, "target": target, "messages": [asked, replied],
        "output": output, "scores": {"match": score}, "metadata": metadata, "store": {}, "events": events,
        "model_usage": {"mockllm/fake": usage}, "role_usage": {}, "started_at": moment,
        "completed_at": moment, "total_time": 0.25, "working_time": 0.25, "uuid": f"u{number:021}",
        "error_retries": [], "attachments": {}, "events_data": {"messages": [asked], "calls": []},
    }  # fmt: skip


def header(n: int) -> dict[str, Any]:
    """What Inspect writes before the samples."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "YfYzoQeLPMyU2RUh8UBQMu", "run_id": "P6V9pcvDDWTaFLkupP5GjC", "task": "med",
            "created": "2026-11-22T15:54:17+00:00", "task_id": "YZ7EfZyKbth8eaMSaLNVCR", "task_version": 0,
            "dataset": {"name": "med", "location": "med.jsonl", "samples": n, "shuffled": False},
            "model": "mockllm/fake", "model_generate_config": {}, "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"},
            "scorers": [{"name": "match", "options": {}, "metrics": [], "metadata": {}}],
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
    }  # fmt: skip


def write_json(path: Path, n: int) -> None:
    """Inspect's log in one JSON file, indented as Inspect indents it."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(header(n), indent=2)[:-2] + ',\n  "samples": [\n')
        for k in range(n):
            stream.write(("" if k == 0 else ",\n") + json.dumps(sample(k), indent=2))
        stream.write("\n  ]\n}\n")


def write_eval(path: Path, n: int) -> None:
    """Inspect's archive: a header, and a member for each sample, by Zstandard."""
    if sys.version_info >= (3, 14):
        import zipfile
    else:
        from backports.zstd import zipfile
    with zipfile.ZipFile(path, "w", zipfile.ZIP_ZSTANDARD) as archive:
        archive.writestr("_journal/start.json", json.dumps(header(n)))
        for k in range(n):
            archive.writestr(f"samples/item-{k}_epoch_1.json", json.dumps(sample(k), indent=2))
        archive.writestr("header.json", json.dumps(header(n)))


def write_lm_eval(path: Path, n: int) -> None:
    """lm-eval's samples of a task, and the results beside them."""
    with path.open("w", encoding="utf-8") as stream:
        for k in range(n):
            rng = random.Random(k)
            question, target = words(rng, 40) + "?", words(rng, 8)
            arguments = {"arg_0": f"Question: {question}\nAnswer:", "arg_1": {"until": ["\n\n"]}}
            row = {
                "doc_id": k, "doc": {"id": f"item-{k}", "question": question, "reference": target},
                "target": target, "arguments": {"gen_args_0": arguments}, "resps": [[words(rng, 60)]],
                "filtered_resps": [words(rng, 60)], "filter": "none", "metrics": ["exact_match"],
                "doc_hash": f"{k:064x}", "prompt_hash": f"{k:064x}", "target_hash": f"{k:064x}",
                "exact_match": float(rng.random() < 0.5),
            }  # fmt: skip
            stream.write(json.dumps(row) + "\n")
    results = {"lm_eval_version": "0.4.13", "model_name": "fake", "configs": {"med": {"repeats": 1}}}
    path.with_name(f"results_{DATE}.json").write_text(json.dumps(results))


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "eval": write_eval,
    "json": write_json,
    "lm_eval": write_lm_eval,
}


# --- who reads it -------------------------------------------------------------------------------------------


def read(path: Path) -> int:
    """Every sample, by our reader, none of which is kept."""
    from vivavoce.run.exchange.recognise import recognise

    return sum(1 for log in recognise([path]).logs for _ in log.samples())


def imported(path: Path) -> int:
    """Every sample, stored in a run."""
    import vivavoce as viva

    with tempfile.TemporaryDirectory() as folder:
        return viva.open(Path(folder) / "logs.viva").import_logs(path).logs[0].responses


def inspected(path: Path) -> int:
    """Every sample, as Inspect reads them."""
    from inspect_ai.log import read_eval_log

    return len(read_eval_log(str(path)).samples or ())


def loaded(path: Path) -> int:
    """Every sample as Python's decoder gives it: of JSON lines each line by itself, all of them kept."""
    with path.open(encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            return len([json.loads(line) for line in stream])
        return len(json.load(stream)["samples"])


ARMS: dict[str, Callable[[Path], int]] = {READ: read, IMPORT: imported, INSPECT: inspected, LOAD: loaded}


def arms_of(layout: str) -> list[str]:
    """The arms that read a layout."""
    return [READ, IMPORT, *({"eval": [INSPECT], "json": [INSPECT, LOAD]}.get(layout, [LOAD]))]


class Measured(NamedTuple):
    """What an arm took: CPU seconds, and MiB at most."""

    seconds: float
    mib: float


def work(arm: str, path: Path) -> None:
    """Do an arm's work in this process, and print what it took."""
    if arm == INSPECT:
        import inspect_ai.log  # noqa: F401
    elif arm in (READ, IMPORT):
        import vivavoce.run.exchange.import_logs  # noqa: F401
    start = time.process_time()
    n = ARMS[arm](path)
    seconds = time.process_time() - start
    print(json.dumps([n, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def measured(arm: str, path: Path, python: str, n: int) -> Measured | str:
    """What an arm took, or why it took nothing."""
    result = subprocess.run(
        [python, __file__, "--arm", arm, str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        return f"failed: {lines[-1][:160] if lines else f'exit status {result.returncode}'}"
    number, seconds, mib = json.loads(result.stdout.splitlines()[-1])
    if number < n:
        return f"failed: {number:,} of {n:,} samples"
    return Measured(seconds, mib)


def install(folder: Path) -> str | None:
    """The Python of an environment with Inspect, made where there is none."""
    python = folder / "inspect" / "bin" / "python"
    if not (folder / "inspect" / "installed").exists():
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER]
        commands = [[sys.executable, "-m", "venv", str(folder / "inspect")], pip]
        if any(subprocess.run(command).returncode for command in commands):
            return None
        (folder / "inspect" / "installed").touch()
    return str(python)


# --- side by side -------------------------------------------------------------------------------------------

Rounds = dict[str, list[Measured]]
"""By arm what it took in each round."""


def spread(values: list[float], form: str) -> str:
    """Median, and least and most where there are several."""
    middle = f"{statistics.median(values):{form}}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


def rounds(
    path: Path, arms: list[str], python: str | None, args: argparse.Namespace
) -> Iterator[tuple[str, Any]]:
    """Each arm in each round, in another order each time."""
    for k in range(args.rounds):
        for arm in [*arms[k % len(arms) :], *arms[: k % len(arms)]]:
            of_arm = python if arm == INSPECT else sys.executable
            result = measured(arm, path, of_arm, args.samples) if of_arm else "not installed"
            print(f"round {k + 1}, {path.name}, {arm}: {result}", file=sys.stderr, flush=True)
            yield arm, result


def compare(results: Rounds) -> None:
    """Ratios round by round, ours over theirs, and what the goals say to them."""
    for ours in (arm for arm in (READ, IMPORT) if arm in results):
        for peer, (most_time, most_memory) in GOALS.items():
            pairs = list(zip(results[ours], results.get(peer, ()), strict=False))
            if not pairs:
                continue
            time_ratios = [a.seconds / b.seconds for a, b in pairs]
            memory_ratios = [a.mib / b.mib for a, b in pairs]
            medians = {"time": statistics.median(time_ratios), "memory": statistics.median(memory_ratios)}
            most = {"time": most_time, "memory": most_memory}
            missed = [name for name, ratio in medians.items() if ratio > most[name]]
            print(
                f"  {ours} / {peer}: time {spread(time_ratios, '.2f')}, "
                f"memory {spread(memory_ratios, '.3f')}; at most {most_time:g} and {most_memory:g}: "
                f"{'missed in ' + ' and '.join(missed) if missed else 'reached'}"
            )


def table(layout: str, path: Path, python: str | None, args: argparse.Namespace) -> None:
    """One layout, read by all arms."""
    WRITERS[layout](path, args.samples)
    print(f"\n{args.samples:,} samples, {path.name}: {path.stat().st_size / 2**20:,.0f} MiB", flush=True)
    results: Rounds = {}
    faults: dict[str, str] = {}
    for arm, result in rounds(path, arms_of(layout), python, args):
        if isinstance(result, str):
            faults[arm] = result
        else:
            results.setdefault(arm, []).append(result)
    for arm in arms_of(layout):
        if arm in faults:
            print(f"  {arm:18} {faults[arm]}")
            continue
        times = [m.seconds / args.samples * 1e6 for m in results[arm]]
        print(
            f"  {arm:18} {spread(times, ',.0f'):>26} microseconds a sample, "
            f"at most {max(m.mib for m in results[arm]):,.0f} MiB"
        )
    compare({arm: rows for arm, rows in results.items() if arm not in faults})
    path.unlink()


def main() -> None:
    """All layouts, one after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layouts", nargs="+", choices=list(LAYOUTS), default=list(LAYOUTS), metavar="NAME")
    parser.add_argument("--inspect", metavar="PYTHON")
    parser.add_argument("--install", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    python = args.inspect or (install(args.install.resolve()) if args.install else None)
    print(f"CPU seconds, {args.rounds} rounds; the peer is {PEER}")
    with tempfile.TemporaryDirectory() as folder:
        for layout in args.layouts:
            table(layout, Path(folder) / LAYOUTS[layout], python, args)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--arm"]:
        work(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
