"""Signing in by link: who gets in, for how long, and what a form must bear."""

import re

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from tests.studies.making import marked

from vivavoce.store.runfile import RunFile
from vivavoce.store.sign_in_links import draw_link, live_links, revoke_link
from vivavoce.web.access.access import Access, for_role, form_of
from vivavoce.web.access.exposure import Exposure
from vivavoce.web.access.sessions import HOURS
from vivavoce.web.access.sign_in import PAGES, sign_in_routes
from vivavoce.web.access.sign_in_limit import SignInLimit
from vivavoce.web.shell import create_app, get, post

ADDRESS = "http://127.0.0.1:8018"


class FakeClock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def run(tmp_path):
    return marked(tmp_path, {"A": {"q1": 1}})


@pytest.fixture
def app(run, clock):
    return create_app(
        [
            *sign_in_routes(),
            get(
                "/",
                for_role("rater", lambda request, person: PlainTextResponse(f"{person.name} {person.csrf}")),
            ),
            post(
                "/save", form_of("rater", lambda request, person, fields: PlainTextResponse(fields["text"]))
            ),
            get("/organise", for_role("organiser", lambda request, person: PlainTextResponse(person.name))),
        ],
        folders=[PAGES],
        state={"access": Access(run.file, Exposure(), clock)},
    )


def link(run, role="rater", name="anna") -> str:
    with run.file.writing() as db:
        return draw_link(db, role, name)


def browser(app) -> TestClient:
    return TestClient(app, base_url=ADDRESS)


def signed_in(app, token: str) -> tuple[TestClient, str]:
    """A browser with its token for forms."""
    client = browser(app)
    answer = client.post(f"/in/{token}")
    assert 200 == answer.status_code
    return client, answer.text.rpartition(" ")[2]


def test_opening_a_link_signs_nobody_in_and_its_button_does(app, run):
    client = browser(app)
    token = link(run)
    assert "Sign in as anna" in client.get(f"/in/{token}").text
    assert 401 == client.get("/").status_code
    assert client.post(f"/in/{token}").text.startswith("anna ")


def test_the_run_holds_no_token(app, run):
    token = link(run)
    assert token.encode() not in run.file.path.read_bytes()
    with run.file.reading() as db:
        assert token not in str(db.execute("SELECT * FROM sign_in_links").fetchall())


@pytest.mark.parametrize("token", ["x", "../in", "%00", "a" * 5_000, "%0d%0aSet-Cookie:%20a=b"])
def test_a_foreign_token_signs_nobody_in(app, token):
    answer = browser(app).post(f"/in/{token}")
    assert answer.status_code in (400, 401, 404)
    assert "set-cookie" not in answer.headers


def test_a_renewed_link_ends_the_one_before_and_its_sessions(app, run):
    old = link(run)
    client, _ = signed_in(app, old)
    new = link(run)
    assert [401, 401, 200] == [
        client.get("/").status_code,
        browser(app).post(f"/in/{old}").status_code,
        browser(app).post(f"/in/{new}").status_code,
    ]


def test_a_revoked_link_ends_its_sessions(app, run):
    client, _ = signed_in(app, link(run))
    with run.file.writing() as db:
        assert revoke_link(db, "rater", "anna")
        assert not revoke_link(db, "rater", "anna")
        assert [] == live_links(db)
    assert 401 == client.get("/").status_code


def test_a_session_ends_after_twelve_hours_and_the_link_signs_in_again(app, run, clock):
    token = link(run)
    client, _ = signed_in(app, token)
    clock.seconds = HOURS * 3600 - 1
    assert 200 == client.get("/").status_code
    clock.seconds = HOURS * 3600
    assert 401 == client.get("/").status_code
    assert 200 == client.post(f"/in/{token}").status_code


def test_what_was_typed_is_shown_when_the_time_is_over(app, run, clock):
    client, csrf = signed_in(app, link(run))
    clock.seconds = HOURS * 3600
    text = "The dose is <b>per day</b>, and not per hour, as the guideline says."
    answer = client.post("/save", data={"text": text, "csrf": csrf})
    assert 401 == answer.status_code
    assert "&lt;b&gt;per day&lt;/b&gt;" in answer.text
    assert csrf not in answer.text


def test_a_short_entry_is_shown_too_when_the_time_is_over_and_no_token_is(app, run, clock):
    client, csrf = signed_in(app, link(run))
    clock.seconds = HOURS * 3600
    fields = {"A:response": "5 mg", "A:opened": "1700000000", "csrf": csrf, "version": "v1", "go": "next"}
    answer = client.post("/save", data=fields).text
    assert (True, True) == ('<label for="typed1">A response</label>' in answer, "5 mg</textarea>" in answer)
    assert not [word for word in (csrf, "v1", "1700000000", "next") if word in answer]


@pytest.mark.parametrize("csrf", [None, "", "x", "é"])
def test_a_form_without_the_token_of_its_person_is_refused(app, run, csrf):
    client, _ = signed_in(app, link(run))
    fields = {"text": "a thought"} | ({} if csrf is None else {"csrf": csrf})
    answer = client.post("/save", data=fields)
    assert (403, True) == (answer.status_code, "a thought" in answer.text)


def test_a_token_of_another_person_opens_no_form(app, run):
    client, _ = signed_in(app, link(run))
    _, of_ben = signed_in(app, link(run, name="ben"))
    assert 403 == client.post("/save", data={"text": "a", "csrf": of_ben}).status_code


def test_a_null_byte_in_a_field_is_refused(app, run):
    client, csrf = signed_in(app, link(run))
    answer = client.post("/save", data={"text": "a\0b", "csrf": csrf})
    assert (400, True) == (answer.status_code, "a\ufffdb" in answer.text)


def test_an_id_that_a_browser_brings_is_no_session(app, run):
    access_cookie = "viva_annotate_00000000"
    client = browser(app)
    client.cookies.set(access_cookie, "chosen by a stranger")
    answer = client.post(f"/in/{link(run)}", follow_redirects=False)
    assert "chosen by a stranger" not in answer.headers["set-cookie"]
    assert re.search(r"HttpOnly.*SameSite=lax", answer.headers["set-cookie"], re.IGNORECASE)


def test_roles_do_not_open_each_others_pages(app, run):
    client, _ = signed_in(app, link(run))
    assert 403 == client.get("/organise").status_code
    organiser = browser(app)
    assert "zoe" == organiser.post(f"/in/{link(run, 'organiser', 'zoe')}").text
    assert 403 == organiser.get("/").status_code


def test_an_address_may_try_ten_times_a_minute(app, run, clock):
    client = browser(app)
    statuses = [client.post("/in/x").status_code for _ in range(11)]
    assert [401] * 10 + [429] == statuses
    token = link(run)
    answer = client.post(f"/in/{token}")
    assert (429, "60") == (answer.status_code, answer.headers["retry-after"])
    clock.seconds = 60
    assert 200 == client.post(f"/in/{token}").status_code


def test_fifty_raters_at_one_address_sign_in_and_failures_still_count(app, run, clock):
    tokens = [link(run, name=f"rater{n}") for n in range(50)]
    assert {200} == {browser(app).post(f"/in/{token}").status_code for token in tokens}
    statuses = [browser(app).get("/in/x").status_code for _ in range(11)]
    assert [401] * 10 + [429] == statuses
    clock.seconds = 30
    assert "30" == browser(app).post(f"/in/{tokens[0]}").headers["retry-after"]


@pytest.fixture
def behind_proxy(run, clock):
    def app(header: str | None = None):
        exposure = Exposure(behind_proxy=True, public_name="exam.example.org", proxy_header=header)
        exposure.check()
        return create_app(
            sign_in_routes(), folders=[PAGES], names=exposure.names,
            state={"access": Access(run.file, exposure, clock)},
        )  # fmt: skip

    return app


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        (None, [("X-Forwarded-For", "9.9.9.9, 10.0.0.1")], [("X-Forwarded-For", "9.9.9.9, 10.0.0.2")]),
        (None, [("X-Forwarded-For", "9.9.9.9"), ("X-Forwarded-For", "10.0.0.1")],
         [("X-Forwarded-For", "9.9.9.9"), ("X-Forwarded-For", "10.0.0.2")]),
        ("X-Real-IP", [("X-Real-IP", "10.0.0.1")], [("X-Real-IP", "10.0.0.2")]),
        ("Forwarded", [("Forwarded", 'for="[2001:db8::1]:443";proto=https')],
         [("Forwarded", "For=10.0.0.2")]),
    ],
)  # fmt: skip
def test_behind_a_proxy_failures_count_by_the_address_that_it_wrote(behind_proxy, name, first, second):
    app = behind_proxy(name)
    statuses = [browser(app).get("/in/x", headers=first).status_code for _ in range(11)]
    assert [401] * 10 + [429] == statuses
    assert 401 == browser(app).get("/in/x", headers=second).status_code


def test_a_visitor_cannot_take_another_address(app):
    """Without a proxy a header says nothing, and with one what a visitor puts before it neither."""
    statuses = [
        browser(app).get("/in/x", headers={"X-Forwarded-For": f"10.0.0.{n}"}).status_code for n in range(11)
    ]
    assert 429 == statuses[-1]


def test_the_addresses_of_one_network_of_ipv6_count_as_one(clock):
    limit = SignInLimit(clock)
    for n in range(10):
        limit.count_failure(f"2001:db8::{n:x}")
    assert [60, 0] == [limit.wait_s("2001:db8::ffff"), limit.wait_s("2001:db8:0:1::1")]
    assert 0 == limit.wait_s("::ffff:10.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://localhost:8018"},
        {"Origin": "http://127.0.0.1:8018.evil.example"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": ADDRESS},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
        [("Origin", "https://evil.example"), ("Origin", ADDRESS)],
    ],
    ids=str,
)
def test_a_page_of_another_site_signs_nobody_in(app, run, headers):
    client = browser(app)
    answer = client.post(f"/in/{link(run)}", headers=headers)
    assert (403, False, True) == (
        answer.status_code,
        "set-cookie" in answer.headers,
        "another site" in answer.text,
    )
    assert 401 == client.get("/").status_code


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": ADDRESS},
        {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_our_own_page_signs_in(app, run, headers):
    assert 200 == browser(app).post(f"/in/{link(run)}", headers=headers).status_code


@pytest.mark.parametrize("host", ["exam.example.org", "exam.example.org:443", "127.0.0.1:8018"])
def test_behind_a_proxy_our_own_page_has_the_public_name(behind_proxy, run, host):
    client = TestClient(behind_proxy(), base_url=f"http://{host}", follow_redirects=False)
    token = link(run)
    first, second = (
        client.post(f"/in/{token}", headers={"Origin": origin}).status_code
        for origin in ("https://exam.example.org", "https://example.org")
    )
    assert (303, 403) == (first, second)


def test_a_link_that_is_known_can_be_opened_as_often_as_one_likes(app, run):
    client, token = browser(app), link(run)
    assert {200} == {client.get(f"/in/{token}").status_code for _ in range(20)}


def test_signing_out_ends_the_session(app, run):
    client, csrf = signed_in(app, link(run))
    kept = dict(client.cookies)
    assert "signed out" in client.post("/out", data={"csrf": csrf}).text
    client.cookies.update(kept)
    assert 401 == client.get("/").status_code


def test_a_copy_holds_no_link(run, tmp_path):
    token = link(run)
    run.file.copy(tmp_path / "copy.viva")
    with RunFile(tmp_path / "copy.viva").reading() as db:
        assert [] == live_links(db)
    with run.file.reading() as db:
        (live,) = live_links(db)
    assert live.hash.encode() not in (tmp_path / "copy.viva").read_bytes()
    assert token.encode() not in (tmp_path / "copy.viva").read_bytes()


def test_no_link_leaves_the_run(tmp_path):
    run = marked(tmp_path / "source", {"A": {"q1": 1, "q2": 0}, "B": {"q1": 1, "q2": 1}})
    token = link(run)
    with run.file.reading() as db:
        (digest,) = db.execute("SELECT hash FROM sign_in_links").fetchone()
    assert digest.encode() in run.file.path.read_bytes()
    for redact in (False, True):
        for form in ("parquet", "csv"):
            run.export(tmp_path / f"{form}-{redact}", format=form, redact=redact)
        run.export(tmp_path / f"copy-{redact}.viva", format="run", redact=redact)
        run.report(tmp_path / f"report-{redact}.html", redact=redact)
    merged = marked(tmp_path / "merged", {"C": {"q1": 1, "q2": 1}})
    merged.merge(run.file.path)
    files = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and "source" not in path.relative_to(tmp_path).parts
    ]
    assert len(files) > 10
    leaks = [path for path in files for secret in (token, digest) if secret.encode() in path.read_bytes()]
    assert [] == leaks
