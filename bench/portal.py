"""How soon the viewer shows a large run, beside the static report of the same run.

A run of 100,000 answers of 20 to 220 words by 10 candidates. In Chromium, in turns: the report's file until
its explorer can be used, and the viewer's first page until its last row stands. Then single pages of the
viewer without a browser, its greatest memory, and the time from the start of `viva view` to its first page.
Prints medians with their spread, and the ratio of each turn. Usage: python bench/portal.py [answers]
"""

import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from report import CHROMIUM, make

OPENINGS, SECONDS = 7, 1.0
PAGES = {
    "first page": "/",
    "page in the middle": "/?after={middle}",
    "one candidate, newest first": "/?candidate=7&newest=1",
    "scores by one metric": "/?measure=1&score_status=ok",
    "words that nothing holds": "/?text=zzzz",
    "question": "/item/500",
    "answer": "/answer/{middle}",
}


class Viewer:
    """`viva view` as a process; `seconds` is the time from its start to its first page."""

    def __init__(self, run: Path) -> None:
        start = time.perf_counter()
        command = [sys.executable, "-m", "vivavoce", "view", str(run), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.address = self.process.stdout.readline().split()[-1]
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.opener.open(self.address).read()
        self.seconds = time.perf_counter() - start

    def read(self, path: str) -> float:
        """Seconds until a page has come."""
        start = time.perf_counter()
        self.opener.open(self.address.partition("/?")[0] + path).read()
        return time.perf_counter() - start

    def peak_mib(self) -> float:
        """The greatest memory so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024

    def end(self) -> None:
        """End it as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def spread(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"


def openings(report: Path, viewer: Viewer) -> tuple[list[float], list[float]]:
    """Seconds to open the report and the viewer's first page in Chromium, in turns."""
    seconds: dict[str, list[float]] = {"report": [], "view": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def timed(name: str, address: str, row: str) -> None:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            page.goto(address, wait_until="load")
            page.locator(row).first.wait_for(state="attached")  # the report folds its answers
            seconds[name].append(time.perf_counter() - start)
            page.close()

        for _ in range(OPENINGS):
            timed("report", report.as_uri(), "#answers-list > details")
            timed("view", viewer.address, ".answers li:last-child")
        browser.close()
    return seconds["report"], seconds["view"]


def measured(work: Callable[[], Path]) -> tuple[Path, float]:
    """What the work returns, and the greatest memory of this process so far in MiB."""
    path = work()
    return path, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(answers: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        report, report_mib = measured(lambda: make(Path(temporary), answers))
        run = report.with_suffix(".viva")
        print(f"run of {answers:,} answers: {run.stat().st_size / 2**20:.0f} MiB")
        starts = []
        for _ in range(3):
            viewer = Viewer(run)
            starts.append(viewer.seconds)
            viewer.end()
        print(f"viva view, from its start to its first page: {spread(starts)}")
        viewer = Viewer(run)
        for name, path in PAGES.items():
            seconds = [viewer.read(path.format(middle=answers // 2)) for _ in range(OPENINGS)]
            verdict = "kept" if max(seconds) < SECONDS else "missed"
            print(f"{name}: {spread(seconds)}; budget {SECONDS:g} s: {verdict}")
        view_mib = viewer.peak_mib()
        of_report, of_view = openings(report, viewer)
        viewer.end()
    ratios = [v / r for v, r in zip(of_view, of_report, strict=True)]
    print(f"in Chromium: report {spread(of_report)}, viewer {spread(of_view)}")
    print(f"viewer / report: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"greatest memory: viewer {view_mib:.0f} MiB; making the run and its report {report_mib:.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
