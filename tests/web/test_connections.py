"""A crowded portal: silent and slow visitors give way, raters get in, and nothing fills the log."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tests.people.raters import examined

from vivavoce.web.connections import limits_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of Unix")

N_FILES, N_SILENT, N_RATERS = 256, 300, 50
PORTAL = """
import resource, sys
from pathlib import Path
from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.tasks import RankTask
from vivavoce.run.people.annotate import draw_links
from vivavoce.store.runfile import RunFile
from vivavoce.web import timed_protocol
from vivavoce.web.annotate.app import annotate_app
from vivavoce.web.server import serve

path, n_files, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files))
timed_protocol.HEADERS_S = timed_protocol.BODY_S = timed_protocol.IDLE_S = timed_protocol.SEND_S = seconds
file = RunFile(Path(path), wait_s=30)
panel = open_panel(file, PanelSettings(RankTask(), repeats=0.0), [f"rater{n}" for n in range(50)])
rows, _ = draw_links(file, panel, "", anew=True)

def announce(address):
    print(address, flush=True)
    print(" ".join(row.link for row in rows), flush=True)

serve(annotate_app(file, panel), port=0, announce=announce)
"""


class Portal:
    """A server in a process of its own, with the addresses under which raters sign in."""

    def __init__(self, run: Path, n_files: int, seconds: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PORTAL, str(run), str(n_files), str(seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy(),
        )  # fmt: skip
        self.port = urlsplit(self.process.stdout.readline().strip()).port
        self.links = self.process.stdout.readline().split()

    def line(self, text: bytes = b"") -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        line.sendall(text)
        return line

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str, str]:
        """Status, cookie and text."""
        browser = HTTPConnection("127.0.0.1", self.port, timeout=60)
        form = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        browser.request(method, path, body or None, form | headers)
        answer = browser.getresponse()
        text = answer.read().decode()
        browser.close()
        return answer.status, (answer.headers["Set-Cookie"] or "").partition(";")[0], text

    def judge(self, link: str) -> int:
        """The status of a judgement that a rater sends after signing in."""
        status, cookie, _ = self.ask("POST", link)
        assert 303 == status
        _, _, text = self.ask("GET", "/question/1", Cookie=cookie)
        hidden = dict(re.findall(r'<input type="hidden" name="(csrf|version)" value="(.*?)">', text))
        letters = sorted(set(re.findall(r'name="([A-Z]):rank"', text)))
        ranks = {f"{letter}:rank": str(n) for n, letter in enumerate(letters, 1)}
        fields = {"go": "stay"} | ranks | {f"{letter}:tag": "okay" for letter in letters} | hidden
        return self.ask("POST", "/question/1", urlencode(fields), Cookie=cookie)[0]

    def end(self) -> str:
        """Its log."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[1]


@contextlib.contextmanager
def portal(folder: Path, n_files: int = N_FILES, seconds: float = 1.0) -> Iterator[Portal]:
    server = Portal(examined(folder, 3).file.path, n_files, seconds)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


def is_ended(line: socket.socket, seconds: float) -> bool:
    """Whether the server ends a connection within so many seconds."""
    end = time.monotonic() + seconds
    while (seconds := end - time.monotonic()) > 0:
        if select.select([line], [], [], seconds)[0]:
            try:
                if not line.recv(65_536):
                    return True
            except ConnectionError:
                return True
    return False


def test_fifty_raters_at_one_address_judge_beside_three_hundred_silent_connections(tmp_path):
    with portal(tmp_path, seconds=30) as server:
        silent = [server.line(b"GET / HT" if n % 2 else b"") for n in range(N_SILENT)]
        with ThreadPoolExecutor(N_RATERS) as raters:
            statuses = list(raters.map(server.judge, server.links))
        for line in silent:
            line.close()
        log = server.end()
    assert ([303] * N_RATERS, "") == (statuses, log)


def test_a_process_that_has_no_file_left_says_so_in_one_line(tmp_path):
    with portal(tmp_path, n_files=20, seconds=30) as server:
        lines = [server.line() for _ in range(200)]
        time.sleep(3)
        for line in lines:
            line.close()
        log = server.end()
    assert (True, False) == (len(log) < 1_000, "Traceback" in log)


FORM = b"POST /in/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n"


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\n", FORM], ids=["silence", "headers", "body"])
def test_a_request_that_comes_byte_by_byte_is_ended_in_time(tmp_path, start):
    with portal(tmp_path) as server, server.line(start) as line:
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while start and time.monotonic() < begin + 20 and not select.select([line], [], [], 0.05)[0]:
                line.sendall(b"x")
        assert is_ended(line, 20)
        assert time.monotonic() - begin < 15
        assert 200 == server.ask("GET", server.links[0])[0]
        assert "" == server.end()


def test_a_visitor_that_takes_nothing_in_is_ended(tmp_path):
    with portal(tmp_path) as server, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        line.connect(("127.0.0.1", server.port))
        line.setblocking(False)
        request = b"GET /static/shell.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        end, is_over = time.monotonic() + 30, False
        while not is_over and time.monotonic() < end:
            try:
                line.send(request * 100)
            except BlockingIOError:
                time.sleep(0.05)
            except ConnectionError:
                is_over = True
        assert is_over
        assert "" == server.end()


def test_a_connection_stays_open_for_a_next_request(tmp_path):
    with portal(tmp_path, seconds=10) as server:
        browser = HTTPConnection("127.0.0.1", server.port, timeout=60)
        statuses, line = [], None
        for _ in range(5):
            browser.request("GET", server.links[0])
            answer = browser.getresponse()
            answer.read()
            statuses.append(answer.status)
            statuses.append(browser.sock is line or not statuses[1:])
            line = browser.sock
            time.sleep(0.2)
        browser.close()
    assert [200, True] * 5 == statuses


def test_limits_leave_files_for_the_run():
    for n in (64, 256, 1_024, 1_000_000):
        limits = limits_for(n)
        assert limits.connections + 4 * limits.threads + 16 <= max(n, 112)
        assert limits.per_address < limits.connections or n == 64
