"""The viewer: read-only, its owner's alone, pages from SQL, hostile texts, runs that change."""

import hashlib
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page
from starlette.testclient import TestClient
from tests.growth import STEEPEST, growth
from tests.hostile import hostile_run
from tests.reading.hostile import Hostile
from tests.report.looking import fresh_page
from tests.studies.making import made, marked, score
from tests.viewing import KEY, viewer

from vivavoce.run.run import Run, open_run
from vivavoce.store import answer_pages
from vivavoce.store.answer_pages import Filters, answer_page
from vivavoce.store.runfile import RunFile
from vivavoce.web.guard import HEADERS
from vivavoce.web.view.app import view_app
from vivavoce.web.view.differences import MOST_WORDS, differing_words

ADDRESS = "http://127.0.0.1:8017"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return marked(tmp_path, {"A": {"q1": 1, "q2": 0.5}, "B": {"q1": 0.25, "q2": ""}})


@pytest.fixture
def client(run: Run) -> TestClient:
    return viewer(run)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with hostile_run(tmp_path_factory.mktemp("hostile")) as run:
        yield run


def ids(page: str) -> list[str]:
    """The answers that a list shows."""
    return re.findall(r'class="open" href="/answer/(\d+)"', page)


def test_the_list_shows_every_answer_with_a_link(client):
    assert ["1", "2", "3", "4"] == sorted(ids(client.get("/").text))
    for number in (1, 2, 3, 4):
        assert 200 == client.get(f"/answer/{number}").status_code


def test_every_page_warns_that_it_names_the_candidates(client):
    for path in ("/", "/item/1", "/answer/1"):
        assert "raters must not see it" in client.get(path).text


@pytest.mark.parametrize(
    ("query", "n"),
    [("candidate=1", 2), ("status=failed", 0), ("status=ok", 4), ("text=q1", 2), ("text=0.25", 1),
     ("text=%25", 0), ("text=_", 0), ("measure=1&score_status=unanswered", 1), ("score_status=ok", 3),
     ("benchmark=1", 4), ("benchmark=9", 0), ("newest=1", 4)],
)  # fmt: skip
def test_filters_leave_only_what_fits(client, query, n):
    assert n == len(ids(client.get(f"/?{query}").text))


def test_a_score_that_is_missing_shows_its_status_and_no_number(client):
    page = client.get("/?measure=1").text
    assert ["1", "0.5", "0.25"] == re.findall(r'class="score">([\d.]+)<', page)
    assert 1 == page.count('<span class="bad">unanswered</span>')


@pytest.mark.parametrize(
    "path",
    ["/answer/99", "/answer/0", "/answer/-1", "/answer/1e3", "/answer/%D9%A1", f"/answer/{10**30}",
     "/item/99", "/item/1?after=1-2", "/item/1?after=x", "/compare", "/compare?a=1", "/compare?a=1&b=99", 
     "/?candidate=x", "/?status=nothing", f"/?after={10**19}", "/?newest=maybe", "/answer/1%20or%201=1"],
)  # fmt: skip
def test_an_address_that_names_nothing_is_a_sentence(client, path):
    answer = client.get(path)
    assert 404 == answer.status_code
    assert '<p role="alert">' in answer.text


def test_answers_to_two_questions_are_not_compared(client, run):
    with run.file.reading() as db:
        pairs = db.execute(
            "SELECT a.response_id, b.response_id FROM responses a, responses b WHERE a.item_id < b.item_id"
        ).fetchone()
    answer = client.get(f"/compare?a={pairs[0]}&b={pairs[1]}")
    assert (404, True) == (answer.status_code, "different questions" in answer.text)


def test_two_answers_stand_side_by_side_and_the_pair_goes_on_to_the_next_question(client, run):
    with run.file.reading() as db:
        pairs = db.execute(
            "SELECT a.response_id, b.response_id FROM responses a JOIN responses b USING (item_id) "
            "WHERE a.candidate_id < b.candidate_id ORDER BY item_id"
        ).fetchall()
    first = client.get(f"/compare?a={pairs[0][0]}&b={pairs[0][1]}").text
    assert f'id="next" rel="next" href="/compare?a={pairs[1][0]}&amp;b={pairs[1][1]}"' in first
    assert 'id="previous"' not in first
    assert "<mark>" in first


# -- Only the owner, and only to read ------------------------------------------------------------------------


def test_nobody_without_the_key_sees_anything(run):
    client = TestClient(view_app(run.file.path, KEY), base_url=ADDRESS)
    for path in ("/", "/answer/1", "/size", "/?key=", "/?key=wrong", "/?key=%FF", "/nothing"):
        answer = client.get(path)
        assert (403, False) == (answer.status_code, "q1" in answer.text), path
        assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()


def test_the_key_leaves_the_address_and_stays_out_of_scripts(run):
    client = TestClient(view_app(run.file.path, KEY), base_url=ADDRESS, follow_redirects=False)
    answer = client.get(f"/%2Fevil.example/?key={KEY}")
    assert (303, "/") == (answer.status_code, answer.headers["location"][:1])
    assert "/evil.example/" == answer.headers["location"]
    assert re.search("httponly.*samesite=lax", answer.headers["set-cookie"], re.IGNORECASE)


def test_another_host_is_refused_even_with_the_key(run):
    client = TestClient(view_app(run.file.path, KEY), base_url="http://evil.example")
    assert 403 == client.get(f"/?key={KEY}").status_code


def test_looking_changes_no_byte_of_the_run(run):
    with closing(sqlite3.connect(run.file.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = hashlib.sha256(run.file.path.read_bytes()).hexdigest()
    client = viewer(run)
    for path in ("/", "/item/1", "/answer/1", "/compare?a=1&b=1", "/size", "/?text=x"):
        assert 200 == client.get(path).status_code
        assert 405 == client.post(path.partition("?")[0], data={"a": "1"}).status_code
    assert before == hashlib.sha256(run.file.path.read_bytes()).hexdigest()


# -- Runs that change ----------------------------------------------------------------------------------------


def test_new_answers_and_scores_appear(client, run, tmp_path):
    assert {"answers": 4, "scores": 4} == client.get("/size").json()
    made(tmp_path, {"C": {"q1": 1, "q2": 1}}, items=["q1", "q2"], run=run)
    assert {"answers": 6, "scores": 4} == client.get("/size").json()
    assert 6 == len(ids(client.get("/").text))
    score(run)
    assert {"answers": 6, "scores": 6} == client.get("/size").json()


def test_a_run_is_read_while_another_writes(client, run):
    with run.file.writing() as db:
        db.execute("INSERT INTO candidates (candidate, role) VALUES ('new', 'candidate')")
        assert 200 == client.get("/").status_code


def test_a_run_that_vanishes_is_a_sentence_and_is_not_made_anew(client, run):
    run.file.path.unlink()
    answer = client.get("/")
    assert (503, True) == (answer.status_code, "no run at" in answer.text)
    assert not run.file.path.exists()


def test_a_run_that_is_overwritten_by_something_else_is_a_sentence(client, run, tmp_path):
    for side in tmp_path.glob("run.viva-*"):
        side.unlink()
    (tmp_path / "other").write_bytes(b"no database at all" * 1000)
    shutil.move(tmp_path / "other", run.file.path)
    answer = client.get("/")
    assert (503, 1) == (answer.status_code, answer.text.count('role="alert"'))


def test_an_empty_run_says_how_answers_come(tmp_path):
    file = RunFile(tmp_path / "empty.viva")
    with file.writing():
        pass
    assert "no answers yet" in viewer(open_run(file.path)).get("/").text


# -- Size ----------------------------------------------------------------------------------------------------


def grown(run: Run, n: int) -> None:
    """The run with so many more answers, written by hand."""
    with run.file.writing() as db:
        db.execute(
            "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < ?) INSERT INTO "
            "responses (item_id, candidate_id, repeat, edit_id, status, text) "
            "SELECT 1, 1, n + 9, 0, 'ok', 'answer ' || n FROM k",
            (n,),
        )


def steps(run: Run, filters: Filters) -> tuple[int, int]:
    """Rows of a page, and what it cost: thousands of SQLite's own steps."""
    cost = 0

    def count() -> int:
        nonlocal cost
        cost += 1
        return 0

    with run.file.reading() as db:
        db.set_progress_handler(count, 1000)
        rows = len(answer_page(db, filters).rows)
    return rows, cost


@pytest.mark.parametrize(
    "filters", [Filters(), Filters(newest="1"), Filters(after=60_000), Filters(candidate=1, status="ok")]
)
def test_a_page_costs_the_same_in_a_run_ten_times_as_large(run, filters, monkeypatch):
    monkeypatch.setattr(answer_pages, "MOST_READ", 2_000)
    grown(run, 7_000)
    small = steps(run, filters._replace(after=filters.after and 5_000))
    with run.file.writing() as db:
        db.execute("DELETE FROM responses WHERE repeat > 9")
    grown(run, 70_000)
    large = steps(run, filters)
    assert 50 == small[0] == large[0]
    assert large[1] <= small[1] + 3


def test_a_search_that_finds_nothing_stops_and_says_how_far_it_went(run, client, monkeypatch):
    grown(run, 3_000)
    monkeypatch.setattr(answer_pages, "MOST_READ", 1_000)
    page = client.get("/?text=answer 2500")
    assert "None among the 1,000 answers that were looked through." in page.text
    for _ in range(2):
        link = re.search(r'id="next" href="([^"]+)"', page.text)[1].replace("&amp;", "&")
        page = client.get(link)
    assert 1 == len(ids(page.text))


def test_the_pages_together_show_each_answer_once(run, client):
    grown(run, 130)
    for query in ("", "newest=1"):
        link, shown = f"/?{query}", []
        while link:
            page = client.get(link).text
            shown += ids(page)
            found = re.search(r'id="next" href="([^"]+)"', page)
            link = found and found[1].replace("&amp;", "&")
        assert (134, 134) == (len(shown), len(set(shown)))


def test_a_thousand_candidates_are_turned_over_in_pages(run, client):
    with run.file.writing() as db:
        for n in range(1000):
            db.execute("INSERT INTO candidates (candidate_id, candidate, role) VALUES (?, ?, 'candidate')",
                       (n + 10, f"model {n}"))  # fmt: skip
            db.execute("INSERT INTO responses (item_id, candidate_id, repeat, edit_id, status, text) VALUES "
                       "(1, ?, 1, 0, 'ok', 'x')", (n + 10,))  # fmt: skip
    link, shown, sizes = "/item/1", [], []
    while link:
        page = client.get(link).text
        sizes.append(len(page))
        shown += ids(page)
        found = re.search(r'id="next" href="([^"]+)"', page)
        link = found and found[1]
    assert 1002 == len(set(shown)) == len(shown)
    assert max(sizes) < 100_000


def test_an_answer_of_three_megabytes_is_cut_and_its_whole_is_a_link_away(run, client):
    with run.file.writing() as db:
        db.execute("UPDATE responses SET text = ? WHERE response_id = 1", ("word " * 600_000,))
    for path in ("/", "/answer/1", "/item/1", "/compare?a=1&b=1"):
        assert len(client.get(path).text) < 200_000, path
    assert "2,979,999 more characters" in client.get("/answer/1").text
    assert len(client.get("/answer/1?whole=1").text) > 3_000_000


def test_a_long_note_is_cut_with_how_much_is_left_out(run, client):
    with run.file.writing() as db:
        db.execute("UPDATE scores SET note = ? WHERE response_id = 1", ("n" * 50_000,))
    assert "n… (48,000 more characters)" in client.get("/answer/1").text


@pytest.mark.parametrize("unit", ["a ", "a b ", "x", "( ", "\n", "a b c d e f g h i j "])
def test_the_time_to_compare_grows_with_length_and_no_faster(unit):
    assert growth(lambda text: differing_words(text, "b " + text), Hostile(unit).text) <= STEEPEST


# -- Words that differ ---------------------------------------------------------------------------------------


def test_the_words_of_one_answer_alone_are_marked():
    one, two = differing_words("Give 5 mg  now.", "Give 50 mg now.")
    assert [("Give ", "both"), ("5 ", "alone"), ("mg  now.", "both")] == one
    assert [("Give ", "both"), ("50 ", "alone"), ("mg now.", "both")] == two


@pytest.mark.parametrize(
    ("one", "two"), [("", ""), ("a", ""), (" \n", "a"), ("ä ö\u202e", "日本 語"), ("w " * 3000, "w")]
)
def test_pieces_joined_are_the_text(one, two):
    pieces = differing_words(one, two)
    assert (one, two) == tuple("".join(piece.text for piece in side) for side in pieces)


def test_behind_the_limit_nothing_is_said_to_differ():
    head = " ".join(str(n) for n in range(MOST_WORDS)) + " "
    one, two = differing_words(f"{head}left", f"{head}right")
    assert ["both", "plain"] == [piece.kind for piece in one] == [piece.kind for piece in two]


# -- Hostile texts and credentialed or redacted runs ---------------------------------------------------------


def test_a_redacted_run_says_so(run, tmp_path):
    run.export(tmp_path / "redacted.viva", format="run", redact=True)
    assert "redacted copy" in viewer(open_run(tmp_path / "redacted.viva")).get("/").text


def test_a_credentialed_run_says_whose_texts_it_shows(run):
    with run.file.writing() as db:
        db.execute("UPDATE benchmarks SET card = json_set(card, '$.access', 'credentialed')")
    assert "which is credentialed: only who signed for it may look" in viewer(run).get("/").text


def test_hostile_texts_do_nothing_in_a_browser(hostile, browser):
    """Every page in Chromium with its script: nothing runs, nothing is fetched, nothing is refused."""
    client = viewer(hostile)
    paths = ["/", "/?measure=1", "/answer/1", "/item/1", *(f"/item/{n}" for n in (9, 11, 12))]
    with hostile.file.reading() as db:
        for pair in db.execute(
            "SELECT min(response_id), max(response_id) FROM responses GROUP BY item_id LIMIT 3"
        ):
            paths.append("/compare?a={}&b={}".format(*pair))
    pages = {path: client.get(path) for path in paths}
    assert {200} == {answer.status_code for answer in pages.values()}
    asked_for: list[str] = []

    def answer(route):
        path = route.request.url.removeprefix(ADDRESS)
        asked_for.append(route.request.url)
        reply = pages.get(path) or client.get(path)
        route.fulfill(status=reply.status_code, body=reply.content, headers=dict(reply.headers))

    with fresh_page(browser, viewport={"width": 390, "height": 844}) as page:
        page.route("**/*", answer)
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for path in paths:
            page.goto(ADDRESS + path)
            page.keyboard.press("?")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert page.evaluate("window.pwned") is None, path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            unnamed = page.evaluate(
                "[...document.querySelectorAll('a, button, input, select, summary')].filter((one) => "
                "!(one.labels?.length || one.textContent.trim() || one.ariaLabel)).length"
            )
            assert 0 == unnamed, path
    assert [] == complaints
    assert not [url for url in asked_for if not url.startswith(ADDRESS)]


@pytest.mark.parametrize("letter", ["\u202e", "\u2066", "\x1b", "\x07", "\x9b"])
def test_what_hides_is_a_sign_on_every_page(hostile, letter):
    client = viewer(hostile)
    for path in ("/", "/answer/1", "/item/1", f"/?text={quote(letter)}"):
        text = client.get(path).text
        assert letter not in text
        assert "\ufffd" in text


# -- With its script -----------------------------------------------------------------------------------------


@pytest.fixture
def tab(client, browser) -> Iterator[Page]:
    """A browser on the first page, whose requests the app answers."""

    def answer(route):
        reply = client.get(route.request.url.removeprefix(ADDRESS))
        route.fulfill(status=reply.status_code, body=reply.content, headers=dict(reply.headers))

    with fresh_page(browser) as page:
        page.route("**/*", answer)
        page.goto(f"{ADDRESS}/")
        yield page


def focus(tab: Page) -> str:
    return tab.evaluate("document.activeElement.id || document.activeElement.getAttribute('href')")


def test_keys_walk_through_the_answers_and_open_them(tab):
    for key, where in (("j", 1), ("j", 2), ("k", 1)):
        tab.keyboard.press(key)
        assert f"/answer/{where}" == focus(tab)
    assert "none" != tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/answer/1")
    tab.keyboard.press("n")
    tab.wait_for_url("**/answer/2")
    tab.keyboard.press("/")
    tab.wait_for_url(f"{ADDRESS}/")
    tab.keyboard.press("/")
    assert "text" == focus(tab)
    tab.keyboard.type("jk?")
    assert "jk?" == tab.locator("#text").input_value()
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    assert tab.locator("#help").evaluate("one => one.open")


def look(tab):
    """Let the page look now whether the run has grown, as it does by itself every three seconds."""
    tab.evaluate("refresh()")


def test_rows_appear_in_an_open_page_unless_somebody_is_in_them(tab, run, tmp_path):
    made(tmp_path, {"C": {"q1": 1, "q2": 1}}, items=["q1", "q2"], run=run)
    tab.locator(".answers li").nth(5).wait_for(timeout=60_000)
    assert "6 answers, 4 scores" == tab.locator(".run .soft").inner_text()
    tab.keyboard.press("j")
    made(tmp_path, {"D": {"q1": 1, "q2": 1}}, items=["q1", "q2"], run=run)
    look(tab)
    tab.get_by_text("There is more: press r.").wait_for(timeout=60_000)
    assert ("/answer/1", 6) == (focus(tab), tab.locator(".answers li").count())


def test_a_page_says_when_the_run_is_gone(tab, run):
    run.file.path.unlink()
    look(tab)
    tab.get_by_text("The run cannot be read now.").wait_for(timeout=60_000)
    assert 4 == tab.locator(".answers li").count()
