"""How fast the portal stores judgements of many raters at once, beside storing them without a server.

A run of 2,000 answers, of which each rater reviews the same questions. In turns, on copies of one run:
raters at once through one server over loopback, with a connection for each save; and the same judgements one
after the other by `store_judgement` in one thread. Prints saves a second, the median and the 99th percentile
of a save, and the ratio of each turn. Usage: python bench/portal_saves.py [raters] [saves]
"""

import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import uvicorn

from report import make
from vivavoce.people.panels import Panel, PanelSettings, open_panel
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.tasks import ReviewTask
from vivavoce.store.runfile import RunFile
from vivavoce.store.sign_in_links import draw_link, find_link
from vivavoce.web.access.access import Access
from vivavoce.web.access.exposure import Exposure
from vivavoce.web.annotate.app import annotate_app

ANSWERS, TURNS = 2_000, 3
ENTRIES = {"correct": "yes", "relevance": "4"}


class Portal:
    """A server over a panel, and a session for each rater: signing in is limited to ten a minute."""

    def __init__(self, run: RunFile, panel: Panel) -> None:
        access = Access(run, Exposure())
        self.sessions = {}
        with run.writing() as db:
            for rater in panel.key.packets:
                link = find_link(db, draw_link(db, "rater", rater))
                identity = access.sessions.begin(link)
                self.sessions[rater] = identity, access.sessions.find(identity).csrf
        self.cookie = access.cookie
        app = annotate_app(run, panel, access)
        settings = uvicorn.Config(app, port=0, http="h11", ws="none", lifespan="off", log_level="error")
        self.server = uvicorn.Server(settings)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def save(self, rater: str, number: int) -> float:
        """Seconds until a judgement is acknowledged."""
        identity, csrf = self.sessions[rater]
        fields = {"csrf": csrf, "version": ""} | {f"A:{column}": text for column, text in ENTRIES.items()}
        address = f"http://127.0.0.1:{self.port}/question/{number}"
        headers = {"Cookie": f"{self.cookie}={identity}", "Accept": "application/json"}
        start = time.perf_counter()
        request = urllib.request.Request(address, urlencode(fields).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            assert answer.status == 200
        return time.perf_counter() - start

    def end(self) -> None:
        """Stop the server."""
        self.server.should_exit = True
        self.thread.join()


def through_the_portal(run: RunFile, panel: Panel, saves: int) -> tuple[float, list[float]]:
    """Saves a second, and the seconds of each."""
    portal = Portal(run, panel)
    raters = list(panel.key.packets)

    def work(rater: str) -> list[float]:
        return [portal.save(rater, number) for number in range(1, saves + 1)]

    start = time.perf_counter()
    with ThreadPoolExecutor(len(raters)) as pool:
        seconds = [each for part in pool.map(work, raters) for each in part]
    rate = len(seconds) / (time.perf_counter() - start)
    portal.end()
    return rate, seconds


def one_after_the_other(run: RunFile, panel: Panel, saves: int) -> float:
    """Saves a second without a server."""
    start = time.perf_counter()
    for rater, packet in panel.key.packets.items():
        for entry in packet[:saves]:
            store_judgement(run, panel.key, rater, entry.question.name, {"A": ENTRIES}, version="")
    return saves * len(panel.key.packets) / (time.perf_counter() - start)


def main(raters: int = 50, saves: int = 4) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        report = make(Path(temporary), ANSWERS)
        source = RunFile(report.with_suffix(".viva"))
        ratios, rates, seconds = [], [], []
        for turn in range(TURNS):
            speeds = []
            for way in ("portal", "loop"):
                copy = Path(temporary) / f"{way}-{turn}.viva"
                source.copy(copy)
                run = RunFile(copy)
                names = [f"rater{n:02}" for n in range(raters)]
                panel = open_panel(run, PanelSettings(ReviewTask(), n=2 * saves, repeats=0), names)
                if way == "portal":
                    rate, of_turn = through_the_portal(run, panel, saves)
                    seconds += of_turn
                else:
                    rate = one_after_the_other(run, panel, saves)
                speeds.append(rate)
            rates.append(speeds[0])
            ratios.append(speeds[0] / speeds[1])
    of_turns = f"{statistics.median(rates):.0f} saves a second ({min(rates):.0f} to {max(rates):.0f})"
    print(f"{raters} raters at once: {of_turns}")
    p99 = statistics.quantiles(seconds, n=100)[98]
    print(
        f"a save: median {statistics.median(seconds):.3f} s, 99th percentile {p99:.3f} s, of {len(seconds)}"
    )
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    print(f"portal / one after the other: {spread}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
