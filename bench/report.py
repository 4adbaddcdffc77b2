"""What the demo's report costs, and how long a large one takes to open.

The demo: processor time of `viva demo` as a whole, the median of three, beside that of the time when Altair
and Vega drew its charts. The large one: 50,000 answers of 10 candidates to 1,000 questions, five times each,
in Chromium, until the explorer can be used. Prints the median of the openings and their spread, the file's
size and the number of elements. Usage: python bench/report.py [answers]
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import vivavoce as viva

CHROMIUM = "/usr/bin/chromium"
DEMO_S, DEMO_BEFORE_S = 5, 12.2
"""Processor time that the demo may take, and what it took on the same machine when Altair drew its charts."""
CANDIDATES, REPEATS, OPENINGS, SECONDS = 10, 5, 7, 2
WORDS = ("rest", "fluids", "oxygen", "aspirin", "heparin", "insulin", "naloxone", "diuresis", "dialysis")


def make(folder: Path, answers: int) -> Path:
    """A run of so many answers of 20 to 220 words, scored and reported; not timed."""
    rng = random.Random(1)
    items = [f"q{n:05}" for n in range(answers // (CANDIDATES * REPEATS))]
    with (folder / "exam.jsonl").open("w") as file:
        for n, item in enumerate(items):
            key = " ".join(rng.choices(WORDS, k=6))
            row = {"id": item, "format": "short", "question": f"What helps in case {item}, and why?",
                   "references": [key], "category": f"ward {n % 7}"}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    with (folder / "answers.jsonl").open("w") as file:
        for item in items:
            for c in range(CANDIDATES):
                for repeat in range(1, REPEATS + 1):
                    text = " ".join(rng.choices(WORDS, k=rng.randint(20, 220)))
                    row = {"item": item, "candidate": f"model {c:02}", "repeat": repeat, "text": text}
                    file.write(json.dumps(row) + "\n")
    run = viva.open(folder / "run.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    run.score("token_f1")
    return run.report()


def demo(folder: Path) -> None:
    """Print what the demo takes, and what its page weighs."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "vivavoce", "demo", "--quiet", "--to", str(folder)]
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    page, median = (folder / "demo.html").read_text(encoding="utf-8"), statistics.median(seconds)
    share, verdict = median / DEMO_BEFORE_S, "kept" if median < DEMO_S else "missed"
    print(f"demo: {median:.1f} s of processor time, {share:.2f} of {DEMO_BEFORE_S} s before; "
          f"budget {DEMO_S} s: {verdict}")  # fmt: skip
    charts = page.count('class="v-chart"')
    print(f"its page: {len(page.encode()) / 1000:,.0f} kB, {charts} charts")


def main(answers: int = 50_000) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        demo(Path(temporary) / "demo")
        path = make(Path(temporary), answers)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            seconds = []
            for _ in range(OPENINGS):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                start = time.perf_counter()
                page.goto(path.as_uri(), wait_until="load")
                page.locator("#answers-list > details").first.wait_for(state="attached")  # folded
                seconds.append(time.perf_counter() - start)
                elements = page.evaluate("document.querySelectorAll('*').length")
                page.close()
            browser.close()
        size = path.stat().st_size / 2**20
    median = statistics.median(seconds)
    print(f"report of {answers:,} answers: {size:.1f} MiB, {elements:,} elements")
    print(
        f"opens in {median:.2f} s ({min(seconds):.2f} to {max(seconds):.2f}, {OPENINGS} openings); budget "
        f"{SECONDS} s: {'kept' if median < SECONDS else 'missed'}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
