"""`viva view`: it prints an address that works, and refuses in one sentence."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.studies.making import made
from typer.testing import CliRunner

from vivavoce.cli import app
from vivavoce.core import extras
from vivavoce.core.errors import ExtraError, InputError, RunNotFound, StoreError

RUN = CliRunner()


def refused(*words: object) -> BaseException:
    error = RUN.invoke(app, ["view", *map(str, words)]).exception
    assert error is not None
    return error


def test_the_printed_address_opens_the_run_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "yes"}})
    command = [sys.executable, "-m", "vivavoce", "view", str(run.file.path), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as viewer:
        assert viewer.stdout is not None
        address = viewer.stdout.readline().split()[-1]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=30) as page:
            assert "q1" in page.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.partition("?")[0], timeout=30)
        viewer.send_signal(signal.SIGINT)
        _, errors = viewer.communicate(timeout=30)
    assert (0, "") == (viewer.returncode, errors)


def test_a_run_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    assert isinstance(refused(tmp_path / "none.viva"), RunNotFound)
    assert [] == list(tmp_path.iterdir())


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.viva").write_text("no run")
    for path in (tmp_path, tmp_path / "x.viva", tmp_path / "x.html"):
        assert isinstance(refused(path), StoreError)


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "yes"}})
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        error = refused(run.file.path, "--port", other.getsockname()[1])
    assert isinstance(error, InputError)
    assert "name another with --port" in str(error)


def test_without_the_extra_the_sentence_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda package: package != "starlette")
    error = refused(tmp_path / "r.viva")
    assert isinstance(error, ExtraError)
    assert 'viva view needs starlette: pip install "vivavoce[web]".' == str(error)
