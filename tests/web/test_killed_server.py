"""A server that is killed in the middle of work: every judgement that it acknowledged is in the run, once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from http.cookiejar import CookieJar
from pathlib import Path
from threading import Event, Thread
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from tests.lengths import length
from tests.people.raters import examined

from vivavoce.run.run import Run

N_QUESTIONS, KILLS = length((30, 1), (250, 5))


@contextmanager
def served(run: Run, *more: str) -> Iterator[tuple[subprocess.Popen[str], dict]]:
    """The command as a user starts it, with the links that it prints."""
    command = (
        sys.executable,
        "-m",
        "vivavoce",
        "annotate",
        str(run.file.path),
        "review",
        "--raters",
        "anna,ben",
    )
    server = subprocess.Popen(
        [*command, "--port", "0", "--json", "--repeats", "0", *more], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(server.stdout.readline())
            assert lines[-1], "the server ended before it printed its links"
        yield server, json.loads("".join(lines))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


class Browser:
    """A rater's browser: it keeps cookies, and asks nobody on the way."""

    def __init__(self, link: str) -> None:
        self.base = link.partition("/in/")[0]
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()), ProxyHandler({}))
        self.text(link, {})
        page = self.text(f"{self.base}/question/1")
        self.csrf = page.partition('name="csrf" value="')[2].partition('"')[0]

    def text(self, address: str, fields: dict[str, str] | None = None, **headers: str) -> str:
        body = None if fields is None else urlencode(fields).encode()
        with self._opener.open(Request(address, body, headers), timeout=60) as answer:
            assert 200 == answer.status
            return answer.read().decode()

    def judge(self, number: int, word: str) -> None:
        fields = {"csrf": self.csrf, "A:correct": word, "A:relevance": "3"}
        reply = self.text(f"{self.base}/question/{number}", fields, Accept="application/json")
        assert "" == json.loads(reply)["lacking"]


def test_every_acknowledged_judgement_is_there_once_after_kills(tmp_path: Path) -> None:
    run = examined(tmp_path, N_QUESTIONS)
    acknowledged: dict[tuple[str, int], str] = {}
    waiting = [(rater, number) for number in range(1, N_QUESTIONS + 1) for rater in ("anna", "ben")]
    for part in range(KILLS + 1):
        with served(run, "--new-links") as (server, body):
            browsers = {row["rater"]: Browser(row["link"]) for row in body["rows"]}
            n_left = 0 if part == KILLS else len(waiting) - 2 * N_QUESTIONS // (KILLS + 1)
            while len(waiting) > n_left:
                rater, number = waiting[0]
                word = "yes" if number % 3 else "no"
                browsers[rater].judge(number, word)
                acknowledged[waiting.pop(0)] = word
            server.send_signal(signal.SIGKILL)
    assert 2 * N_QUESTIONS == len(acknowledged)
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT rater, criterion, count(*), count(DISTINCT item) FROM score_rows WHERE metric = 'review' "
            "GROUP BY rater, criterion"
        ).fetchall()
        n_no = db.execute(
            "SELECT count(*) FROM score_rows WHERE criterion = 'correct' AND value = 0"
        ).fetchone()
    assert {(rater, criterion, N_QUESTIONS, N_QUESTIONS) for rater in ("anna", "ben")
            for criterion in ("correct", "relevance")} == set(rows)  # fmt: skip
    assert (list(acknowledged.values()).count("no"),) == n_no
    done = [row for row in run.status().rows if row["about"] == "judgements"]
    assert [("anna", N_QUESTIONS, 0), ("ben", N_QUESTIONS, 0)] == [
        (r["rater"], r["done"], r["left"]) for r in done
    ]


def test_a_kill_in_the_middle_of_requests_tears_no_judgement(tmp_path: Path) -> None:
    run = examined(tmp_path, N_QUESTIONS)
    acknowledged: set[tuple[str, int]] = set()
    started = Event()

    def judge_all(rater: str, browser: Browser, first: int) -> None:
        with suppress(URLError, HTTPException, ConnectionError):
            for number in range(first, N_QUESTIONS + 1):
                browser.judge(number, "yes")
                acknowledged.add((rater, number))
                started.set()

    for part in range(KILLS):
        with served(run, "--new-links") as (server, body):
            first = 1 + N_QUESTIONS * part // (KILLS + 1)
            threads = [
                Thread(target=judge_all, args=(row["rater"], Browser(row["link"]), first))
                for row in body["rows"]
            ]
            started.clear()
            for thread in threads:
                thread.start()
            assert started.wait(60)
            time.sleep(0.05 * part)
            server.send_signal(signal.SIGKILL)
            for thread in threads:
                thread.join(60)
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT rater, item, count(*), count(DISTINCT criterion) FROM score_rows WHERE metric = 'review' "
            "GROUP BY rater, item"
        ).fetchall()
    # A judgement is there whole, both of its scores once, or not at all; what was acknowledged is there.
    assert {(2, 2)} == {row[2:] for row in rows}
    assert len(acknowledged) <= len(rows) <= len(acknowledged) + 2 * KILLS
    done = {row["rater"]: row["done"] for row in run.status().rows if row["about"] == "judgements"}
    for rater in ("anna", "ben"):
        assert done[rater] >= sum(who == rater for who, _ in acknowledged)
