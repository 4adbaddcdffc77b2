"""A server on this machine: it says where it listens, ends by Ctrl-C, and refuses what it cannot do."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from urllib.parse import urlsplit

import pytest

from vivavoce.core.errors import InputError
from vivavoce.web.server import serve
from vivavoce.web.shell import create_app

PROGRAM = """
from vivavoce.web.server import serve
from vivavoce.web.shell import create_app
serve(create_app([]), port=0, announce=lambda address: print(address, flush=True))
print("ended")
"""


def test_a_server_says_its_address_and_ends_cleanly_by_ctrl_c():
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ.copy(),
    ) as server:  # fmt: skip
        address = server.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}static/shell.css", timeout=30) as answer:
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Server"] is None
        server.send_signal(signal.SIGINT)
        output, errors = server.communicate(timeout=30)
    assert (0, "ended\n", "") == (server.returncode, output, errors)


@pytest.mark.parametrize(
    "request_line",
    [b"GET /\0 HTTP/1.1", b"GET /?a=\0 HTTP/1.1", b"GET /?a=" + b"x" * 2_000_000 + b" HTTP/1.1", b"nonsense"],
    ids=["null path", "null query", "two megabytes", "no HTTP"],
)
def test_a_request_that_is_no_http_gets_a_sentence_and_the_headers(request_line):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ.copy(),
    ) as server:  # fmt: skip
        port = urlsplit(server.stdout.readline().strip()).port
        line = socket.create_connection(("127.0.0.1", port))
        answer = b""
        with contextlib.suppress(ConnectionError):  # it hangs up before it has read two megabytes
            line.sendall(request_line + b"\r\nHost: 127.0.0.1\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while part := line.recv(4_096):
                answer += part
        line.close()
        server.send_signal(signal.SIGINT)
        errors = server.communicate(timeout=30)[1]
    assert ("HTTP/1.1 400 Bad Request", True, "") == (
        answer.decode().splitlines()[0],
        answer.endswith(b"Open the first page anew."),
        errors,
    )
    assert b"default-src 'none'" in answer


def test_a_port_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on port {port} .*name another with --port"):
            serve(create_app([]), port=port, announce=print)


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_does_not_exist_is_one_sentence(port):
    with pytest.raises(InputError, match="name another with --port"):
        serve(create_app([]), port=port, announce=print)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "example.org", "::"])
def test_a_host_beyond_this_machine_is_refused(host):
    with pytest.raises(InputError, match="can be reached from other machines"):
        serve(create_app([]), host=host, port=0, announce=print)
