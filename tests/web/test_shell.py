"""The shell: headers on every answer, our own name only, limits, and pages that escape what they print."""

import re
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient
from tests.cases import each_case

from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.web.guard import HEADERS, MOST_BODY_BYTES
from vivavoce.web.shell import PAGES, create_app, get, page, post

ADDRESS = "http://127.0.0.1:8100"


def raised(error: Exception):
    def handler(request: Request):
        raise error

    return handler


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "echo.html").write_text(
        '{% extends "base.html" %}{% block main %}<p title="{{ text }}">{{ text }}</p>{% endblock %}'
    )
    (tmp_path / "unset.html").write_text("{{ nobody_set_this }}")
    (tmp_path / "own.js").write_text("let a = 1;")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path.parent / "outside.js").write_text("secret")

    async def echo(request: Request):
        form = await request.form()
        return page(request, "echo.html", text=form["text"])

    routes = [
        get("/", lambda request: page(request, "echo.html", text=request.query_params.get("text", "hello"))),
        post("/echo", echo),
        get("/unset", lambda request: page(request, "unset.html")),
        get("/fault", raised(RuntimeError("the password is swordfish"))),
        get("/selection", raised(SelectionError("no candidate 'x'."))),
        get("/store", raised(StoreError("the run is locked."))),
        get("/input", raised(InputError("bad <b>input</b>."))),
        get("/foreign", raised(HTTPException(403))),
    ]
    return TestClient(create_app(routes, folders=[tmp_path]), base_url=ADDRESS)


def sentence(answer) -> str:
    """What an error page says; it has nothing else to say."""
    (text,) = re.findall(r'<p role="alert">(.*)</p>', answer.text)
    return text


@pytest.mark.parametrize("path", ["/", "/static/shell.css", "/nothing", "/fault", "/foreign", "/static/x.js"])
def test_every_answer_has_the_headers(client, path):
    answer = client.get(path)
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8100", "127.0.0.1.evil.example", "", "localhost@evil"]
)
def test_a_request_under_another_name_is_refused(client, host):
    answer = client.get("/", headers={"Host": host})
    assert 403 == answer.status_code
    assert "hello" not in answer.text
    assert "open the address it printed" in sentence(answer)
    assert HEADERS["Content-Security-Policy"] == answer.headers["content-security-policy"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8100", "127.0.0.1:99"])
def test_a_request_under_a_name_of_this_machine_is_answered(client, host):
    assert 200 == client.get("/", headers={"Host": host}).status_code


def test_two_host_headers_are_refused(client):
    assert 403 == client.get("/", headers=[("Host", "localhost"), ("Host", "evil")]).status_code


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing", 404, "There is no such page: start from the first page."),
        ("/foreign", 403, "This page is not for you."),
        ("/selection", 404, "no candidate &#39;x&#39;."),
        ("/store", 503, "the run is locked."),
        ("/input", 400, "bad &lt;b&gt;input&lt;/b&gt;."),
        ("/echo", 405, "This address does not take such a request: open it from its page."),
    ],
)
def test_an_error_is_one_sentence_with_its_status(client, path, status, words):
    answer = client.get(path)
    assert (status, words) == (answer.status_code, sentence(answer))


@pytest.mark.parametrize("path", ["/fault", "/unset"])
def test_a_fault_shows_no_cause_and_no_traceback(client, path, caplog):
    answer = client.get(path)
    assert 500 == answer.status_code
    assert "fault of vivavoce" in sentence(answer)
    assert not re.search("swordfish|Traceback|RuntimeError|Undefined|nobody_set", answer.text)
    assert 1 == len(caplog.records)


def test_an_address_that_is_read_takes_no_form(client):
    assert 405 == client.post("/", data={"text": "x"}).status_code


@pytest.mark.parametrize("declared", [True, False])
def test_a_form_of_two_megabytes_is_refused_in_one_sentence(client, declared):
    body = b"text=" + b"x" * 2_000_000
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    content = body if declared else iter([body[:400_000], body[400_000:800_000]])
    answer = client.post("/echo", content=content, headers=headers)
    assert (413, f"A form may hold at most {MOST_BODY_BYTES // 1024} kB") == (
        answer.status_code, sentence(answer).partition(":")[0],
    )  # fmt: skip


def test_a_form_within_the_limit_is_read(client):
    assert "x" * 60_000 in client.post("/echo", data={"text": "x" * 60_000}).text


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5_000])
def test_a_length_that_is_no_number_or_huge_is_refused(client, length):
    assert 413 == client.get("/", headers={"Content-Length": length}).status_code


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/static/../secret.txt", 404),
        ("/static/%2e%2e%2foutside.js", 404),
        ("/static/..%5coutside.js", 404),
        ("/static/secret.txt", 404),
        ("/static/echo.html", 404),
        ("/%00", 400),
        ("/static/own.js%00.css", 400),
        ("/?text=%00", 400),
        ("/x%0d%0aSet-Cookie:a=b", 400),
        ("/?text=" + "x" * 2_000_000, 414),
    ],
)
def test_a_crooked_address_gives_a_sentence_and_no_file(client, path, status):
    client.headers["Host"] = "localhost"
    answer = TestClient(client.app, base_url=ADDRESS).get(path) if len(path) < 60_000 else long(client, path)
    assert status == answer.status_code
    assert "secret" not in answer.text
    assert "set-cookie" not in answer.headers
    assert sentence(answer)


def long(client, path):
    """The client itself refuses such an address: the last step adds it to a short one."""
    app = client.app

    async def lengthened(scope, receive, send):
        await app({**scope, "query_string": path.partition("?")[2].encode()}, receive, send)

    return TestClient(lengthened, base_url=ADDRESS).get("/")


def test_static_files_of_the_app_and_the_shell_are_served(client):
    assert ("let a = 1;", "text/javascript; charset=utf-8") == (
        client.get("/static/own.js").text, client.get("/static/own.js").headers["content-type"],
    )  # fmt: skip
    assert "text/css" in client.get("/static/shell.css").headers["content-type"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('" onmouseover="x', "&#34; onmouseover=&#34;x"),
        ("a\u202eb", "a\ufffdb"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("line\r\nline", "line\nline"),
        ("{{ 7 * 7 }}", "{{ 7 * 7 }}"),
    ],
)
def test_what_a_page_prints_is_escaped_and_shows_what_hides(client, text, shown):
    answer = client.post("/echo", data={"text": text})
    assert f'<p title="{shown}">{shown}</p>' in answer.text


def test_no_page_of_the_room_has_a_script_or_style_within_it():
    import vivavoce.web

    for path in Path(vivavoce.web.__file__).parent.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|\|\s*safe|https?://", text), path
        assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", text)), path


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, as WCAG 2.2 defines it."""
    shares = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@each_case("scheme", [0, 1])
@each_case(
    ("letters", "grounds"),
    [
        ("ink", ("paper", "wash", "warn-wash", "add", "gone")),
        ("soft", ("paper", "wash")),
        ("link", ("paper", "wash")),
        ("bad", ("paper", "wash", "warn-wash")),
        ("good", ("paper", "wash")),
        ("paper", ("link",)),
    ],
)
def test_letters_stand_out_from_their_ground(scheme, letters, grounds):
    css = (PAGES / "shell.css").read_text(encoding="utf-8")
    rules = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", rules[scheme]))
    for ground in grounds:
        dark, light = sorted(luminance(colours[name]) for name in (letters, ground))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{letters} on {ground}"
