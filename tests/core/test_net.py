"""The egress guard: offline, nothing leaves, whoever tries."""

import os
import socket
import subprocess
import sys

import pytest
from tests.cases import each_case

from vivavoce.core import net
from vivavoce.core.errors import EgressError
from vivavoce.core.net import Traffic, is_local, offline, permit


@each_case(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "[::1]",
        "::ffff:127.0.0.1",
        "::1%lo",
    ],
)
def test_this_machine_is_local(host):
    assert is_local(host)


@each_case(
    "host",
    ["example.org", "localhost.example.org", "10.0.0.1", "192.168.1.1", "0.0.0.0", "::", "127.0.0.1.nip.io",
     "", "2130706433", "::ffff:8.8.8.8", "127.0.0.1%x.host.invalid", "localhost%x.host.invalid",
     "fe80::1%eth0"],
)  # fmt: skip
def test_whatever_else_is_not(host):
    assert not is_local(host)


def test_offline_refuses_a_name_before_it_is_resolved(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("the name was resolved"))
    with (
        offline(),
        pytest.raises(EgressError, match=r"'example\.org' is not this machine, so nothing was sent"),
    ):
        permit("example.org")


def test_online_everything_is_permitted():
    permit("example.org")


def test_the_variable_is_as_good_as_the_option(monkeypatch):
    monkeypatch.setattr(net, "_everywhere", False)  # it stays on, so it is put back after the test
    monkeypatch.setenv("VIVA_OFFLINE", "1")
    with pytest.raises(EgressError):
        permit("example.org")


@pytest.mark.parametrize(
    "change", ["os.environ.pop('VIVA_OFFLINE')", "os.environ['VIVA_OFFLINE'] = '0'", "os.environ.clear()",
               "os.unsetenv('VIVA_OFFLINE')"],
)  # fmt: skip
def test_what_changes_the_variable_later_does_not_switch_it_off(change):
    script = (
        f"import os\nfrom vivavoce.core import net\n{change}\n"
        "try:\n    net.permit('example.org')\nexcept net.EgressError:\n    print('refused')\n"
    )
    environment = {**os.environ, "VIVA_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment
    )
    assert "refused" == done.stdout.strip(), done.stderr


def test_a_plugin_cannot_switch_the_variable_off(tmp_path):
    plugin = tmp_path / "plugin.py"
    plugin.write_text("import os\nos.environ['VIVA_OFFLINE'] = '0'\n")
    words = ["collect", tmp_path / "run.viva", "sample", "--model", "openai/m", "--plugin", plugin]
    environment = {**os.environ, "VIVA_OFFLINE": "1", "OPENAI_API_KEY": "sk-live-0123456789abcdef"}
    done = subprocess.run(
        [sys.executable, "-m", "vivavoce", *map(str, words)],
        capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip
    assert 2 == done.returncode
    assert "offline: 'api.openai.com' is not this machine" in done.stderr


def test_offline_ends_with_its_block():
    with offline():
        pass
    permit("example.org")


@each_case(
    "attempt",
    [
        "urllib.request.urlopen('http://example.org', timeout=2)",
        "socket.create_connection(('192.0.2.1', 80), 1)",
        "socket.getaddrinfo('example.org', 443)",
        "socket.getaddrinfo(b'example.org', 443)",
        "socket.gethostbyname_ex('example.org')",
        "socket.getnameinfo(('192.0.2.1', 80), 0)",
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "asyncio.run(asyncio.open_connection('example.org', 80))",
    ],
)
def test_what_a_library_tries_by_itself_is_refused_too(attempt):
    script = (
        "import asyncio, socket, urllib.request\n"
        "from vivavoce.core.errors import EgressError\nfrom vivavoce.core.net import offline\n"
        f"try:\n    with offline():\n        {attempt}\n"
        "except EgressError as error:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "refused" == done.stdout.strip(), done.stderr


def test_this_machine_can_be_reached_offline():
    with socket.create_server(("127.0.0.1", 0)) as server, offline():
        socket.create_connection(server.getsockname(), 2).close()


def test_a_unix_socket_is_this_machine(tmp_path):
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        with offline():
            client.connect(str(tmp_path / "s"))


def test_the_hub_s_libraries_are_told_and_told_otherwise_afterwards(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    with offline():
        assert ("1", "1") == (os.environ["HF_HUB_OFFLINE"], os.environ["TRANSFORMERS_OFFLINE"])
    assert ("0", None) == (os.environ["HF_HUB_OFFLINE"], os.environ.get("TRANSFORMERS_OFFLINE"))


def test_offline_inside_offline_ends_with_the_outer_one():
    with offline():
        with offline(), offline(on=False):
            pass
        with pytest.raises(EgressError):
            permit("example.org")


def test_what_left_is_counted_by_endpoint():
    traffic = Traffic()
    for characters in (10, 5):
        traffic.sent("https://a", characters)
    assert ({"https://a": 2}, {"https://a": 15}) == (traffic.requests, traffic.characters)


def test_the_hook_is_silent_when_the_interpreter_exits():
    """Names of a module are None by then, and events still come."""
    script = (
        "import sys, types\n"
        "early = sys.modules['early'] = types.ModuleType('early')\n"
        "class Late:\n    def __del__(self): compile('1', 'late', 'eval')\n"
        "early.late = Late()\ndel Late\n"
        "from vivavoce.core import net\n"
        "with net.offline(): pass\n"
        "sys.kept_alive = (early, net)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "" == done.stderr
