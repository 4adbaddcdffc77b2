"""Asking many questions at once: ours beside Inspect, lm-eval and bare aiohttp, against one mock server.

Each arm (`collect_arms.py`) is a process of its own that asks a server of its own (`mock_server.py`, the
same answer after 50 ms). The arms take turns, in another order in each round. An arm first asks a few
questions that are not measured; then time and CPU are taken around all that asking the rest takes, and the
server's counts say whether each question was asked once. Peers live in environments of their own, because
their dependencies do not go together: --inspect and --lm-eval name their Pythons, --install makes them. A
peer that is not there is reported as such.

Usage: python bench/collect.py [--samples N] [--rounds N] [--at-once N ...] [--arms NAME ...] [--memory N ...]
       [--inspect PYTHON] [--lm-eval PYTHON] [--install FOLDER]
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collect_arms import ARMS, WARM

# This process imports the standard library only: its memory would show in the peaks of its children.

LATENCY = 0.05
CPU_MS, TIMES = 0.4, {"aiohttp alone": 0.85, "Inspect, eval": 10.0, "lm-eval, evaluate": 2.0}
"""The budget of `Run.collect`: CPU per answer, and samples/s as a multiple of what does as much as it."""
OURS = ("vivavoce, engine", "vivavoce, collect")
# Not with torch, although lm-eval can use it: it would be asked to describe the machine, for seconds.
PEERS = {"inspect": ("inspect-ai==0.3.285", "openai==3.52.0"), "lm-eval": ("lm-eval[api]==0.4.13",)}


@contextlib.contextmanager
def served(latency: float) -> Iterator[int]:
    """The port of a mock server, which ends with the block."""
    script = str(Path(__file__).with_name("mock_server.py"))
    with subprocess.Popen(
        [sys.executable, script, str(latency)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def seen(port: int) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/seen")
    with contextlib.closing(connection):
        return json.loads(connection.getresponse().read())


def measured(
    name: str, python: str, samples: int, at_once: int, *, latency: float = LATENCY, repeats: int = 1
) -> dict[str, Any] | str:
    """What an arm took, or why it took nothing."""
    script = str(Path(__file__).resolve().with_name("collect_arms.py"))
    quiet = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"), "1")
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    if "PYTHONPATH" in kept:
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    keys = {"OPENAI_API_KEY": "EMPTY", "TQDM_DISABLE": "1"}
    with tempfile.TemporaryDirectory() as folder, served(latency) as port:
        to, url = Path(folder, "found.json"), f"http://127.0.0.1:{port}/v1"
        words = [name, url, str(samples), str(at_once), str(repeats), str(to)]
        if not os.access(python, os.X_OK):
            return f"failed: there is no {python}"
        done = subprocess.run(
            [os.path.abspath(python), script, *words], env={**kept, **quiet, **keys}, cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        if done.returncode or not to.exists():
            said = [line for line in done.stdout.splitlines() if line.strip()]
            return f"failed: {said[-1][:160] if said else f'exit status {done.returncode}'}"
        found = json.loads(to.read_text()) | {"server": seen(port)}
    wanted = samples * repeats
    if found["answered"] != wanted or found["server"]["requests"] != wanted + WARM * repeats:
        sent = found["server"]["requests"] - WARM * repeats
        return f"failed: {found['answered']:,} of {wanted:,} answered, with {sent:,} requests"
    return found


def install(folder: Path) -> dict[str, str]:
    """An environment for each peer, made where there is none; their Pythons, without those that failed."""
    pythons = {}
    for peer, packages in PEERS.items():
        python = folder / peer / "bin" / "python"
        if not (folder / peer / "installed").exists():
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
            made = [[sys.executable, "-m", "venv", str(folder / peer)], pip]
            if any(subprocess.run(command).returncode for command in made):
                continue
            (folder / peer / "installed").touch()
        pythons[peer] = str(python)
    return pythons


def spread(values: list[float], form: str) -> str:
    """Median, and least and most where there are several."""
    middle = f"{statistics.median(values):{form}}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


def compared(found: dict[str, list[dict[str, Any]]], samples: int) -> None:
    """Ratios of samples/s round by round, ours over theirs, and what the budget says to them."""
    missed, judged = [], []
    for own in (name for name in OURS if name in found):
        for peer in (name for name in found if name not in OURS):
            times = [b["wall"] / a["wall"] for a, b in zip(found[own], found[peer], strict=True)]
            work = [a["cpu"] / b["cpu"] for a, b in zip(found[own], found[peer], strict=True)]
            print(f"  samples/s, {own} / {peer}: {spread(times, '.2f')}x, CPU {spread(work, '.2f')}x")
            if own == OURS[1] and peer in TIMES:
                judged.append(f"{TIMES[peer]:g}x {peer}")
                missed += judged[-1:] if statistics.median(times) < TIMES[peer] else []
    if own := found.get(OURS[1]):
        judged.append(f"{CPU_MS} ms CPU per answer")
        cost = statistics.median(one["cpu"] for one in own) / samples * 1000
        missed += judged[-1:] if cost > CPU_MS else []
        verdict = f"missed by {', '.join(missed)}" if missed else "kept"
        print(f"  budget of collect ({', '.join(judged)}): {verdict}")


Found = dict[tuple[int, str], list[dict[str, Any]]]
"""By how many at once and arm: what it took in each round."""


def rounds(pythons: dict[str, str | None], asked: argparse.Namespace) -> tuple[Found, dict[Any, str]]:
    """Every arm in every round, and why some could not."""
    found: Found = {}
    faults: dict[Any, str] = {}
    for k in range(asked.rounds):
        order = [*asked.arms[k % len(asked.arms) :], *asked.arms[: k % len(asked.arms)]]
        for at_once in asked.at_once:
            for name in order:
                python = pythons.get(ARMS[name].peer)
                one = measured(name, python, asked.samples, at_once) if python else "not installed"
                if isinstance(one, str):
                    faults[at_once, name] = told = one
                else:
                    found.setdefault((at_once, name), []).append(one)
                    told = f"{one['wall']:.1f} s, CPU {one['cpu']:.1f} s"
                print(f"round {k + 1}, {at_once} at once, {name}: {told}", file=sys.stderr, flush=True)
    return {key: ones for key, ones in found.items() if key not in faults}, faults


def table(found: Found, faults: dict[Any, str], at_once: int, asked: argparse.Namespace) -> None:
    """What each arm took with so many at once."""
    ideal = at_once / LATENCY
    print(f"\n{at_once} at once, at best {ideal:,.0f} samples/s")
    print(
        f"{'':18} {'samples/s':>24} {'to ideal':>9} {'CPU ms/sample':>25} {'peak MiB':>9} {'on the wire':>12}"
    )
    for name in asked.arms:
        if fault := faults.get((at_once, name)):
            print(f"{name:18} {fault}")
            continue
        ones = found[at_once, name]
        speeds = [asked.samples / one["wall"] for one in ones]
        costs = [one["cpu"] / asked.samples * 1000 for one in ones]
        peak, most = max(one["mib"] for one in ones), max(one["server"]["most"] for one in ones)
        print(
            f"{name:18} {spread(speeds, ',.0f'):>24} {statistics.median(speeds) / ideal:9.3f} "
            f"{spread(costs, '.3f'):>25} {peak:9,.0f} {most:12}"
        )
    compared({name: ones for (n, name), ones in found.items() if n == at_once}, asked.samples)


def side_by_side(pythons: dict[str, str | None], asked: argparse.Namespace) -> None:
    """All rounds, then a table for each number at once."""
    found, faults = rounds(pythons, asked)
    versions: dict[str, dict[str, str]] = {}
    for (_, name), ones in found.items():
        versions.setdefault(ARMS[name].peer or "here", {}).update(ones[0]["versions"])
    for where, there in versions.items():
        print(f"versions, {where}: {', '.join(f'{name} {v}' for name, v in there.items())}")
    for at_once in asked.at_once:
        table(found, faults, at_once, asked)
    least, most = min(asked.at_once), max(asked.at_once)
    for name in asked.arms:
        if least < most and (least, name) in found and (most, name) in found:
            pairs = zip(found[least, name], found[most, name], strict=True)
            times = [few["wall"] / many["wall"] for few, many in pairs]
            print(f"samples/s, {name}, {most} / {least} at once: {spread(times, '.2f')}x")
    if servers := [one["server"] for ones in found.values() for one in ones]:
        cost = statistics.median(s["cpu"] / s["requests"] for s in servers)
        print(f"\nthe server took {cost * 1000:.3f} ms CPU per request")


def memory(sizes: list[int], at_once: int) -> None:
    """Peak memory of our arms as the work grows, in questions and in repeats of the least number of them."""
    print(f"\npeak MiB, no latency, {at_once} at once, questions x repeats")
    least = min(sizes)
    shapes = [(n, 1) for n in sizes] + [(least, n // least) for n in sizes if n > least]
    for name in OURS:
        told, peaks = [], {}
        for n, repeats in shapes:
            one = measured(name, sys.executable, n, at_once, latency=0, repeats=repeats)
            if not isinstance(one, str) and repeats == 1:
                peaks[n] = one["mib"]
            told.append(
                f"{n:,} x {repeats} {one}" if isinstance(one, str) else f"{n:,} x {repeats}: {one['mib']:.0f}"
            )
        print(f"{name:18} {', '.join(told)}", flush=True)
        if len(peaks) > 1:
            slope = (peaks[max(peaks)] - peaks[min(peaks)]) / (max(peaks) - min(peaks)) * 1024
            print(f"{'':18} {slope:.2f} KiB for each question from {min(peaks):,} to {max(peaks):,}")


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--samples", type=int, default=10_000)
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--at-once", type=int, nargs="+", default=[100, 300])
    reader.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS), metavar="NAME")
    reader.add_argument("--memory", type=int, nargs="*", default=[2_000, 10_000, 40_000], metavar="N")
    reader.add_argument("--inspect", metavar="PYTHON")
    reader.add_argument("--lm-eval", metavar="PYTHON")
    reader.add_argument("--install", type=Path, metavar="FOLDER")
    asked = reader.parse_args()
    pythons: dict[str, str | None] = {"": sys.executable}
    if asked.install:
        pythons |= install(asked.install.resolve())
    pythons |= {p: given for p, given in (("inspect", asked.inspect), ("lm-eval", asked.lm_eval)) if given}
    print(
        f"{asked.samples:,} questions to a mock server that answers after {LATENCY * 1000:.0f} ms, "
        f"{asked.rounds} rounds, {os.cpu_count()} CPUs"
    )
    side_by_side(pythons, asked)
    if asked.memory:
        memory(sorted(asked.memory), min(asked.at_once))


if __name__ == "__main__":
    main()
