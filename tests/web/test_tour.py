"""A tour of the portal and the viewer in a browser, on a phone and on a desk, in light and in dark."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient
from tests.lengths import length
from tests.people.raters import examined
from tests.report.looking import contrasts, fresh_page, until
from tests.studies.making import made, write_lines
from tests.web import test_tasks
from tests.web.test_annotate import Rater
from tests.web.test_view import KEY, look

from vivavoce.web.view.app import view_app

SCREENS = [(390, "dark"), (1280, "light")]
START = length(SCREENS[:1], SCREENS)
"""The screens on which the first page of a visit is loaded; each page is checked on all screens."""
UNNAMED = """() => [...document.querySelectorAll("input:not([type=hidden]), textarea, select, button")]
  .filter((field) => !field.hidden && !field.labels?.length && !field.getAttribute("aria-label")
    && !field.textContent.trim()).map((field) => field.outerHTML)"""
UNSOUND = """() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const ids = all("[id]").map((element) => element.id);
  const levels = all("h1, h2, h3, h4").map((heading) => +heading.tagName[1]);
  const group = (field) => field.closest("fieldset")?.querySelector("legend") || field.ariaLabel;
  return [
    ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `two elements of id ${id}`),
    ...levels.filter((level, place) => place && level > levels[place - 1] + 1).map((l) => `skips to ${l}`),
    ...all("input[type=radio]").filter((field) => !group(field)).map((field) => `no legend: ${field.name}`),
    ...all("a[href]").filter((a) => !a.textContent.trim() && !a.ariaLabel).map((a) => `no words: ${a.href}`),
    ...all("[aria-labelledby]").filter((e) => !document.getElementById(e.getAttribute("aria-labelledby")))
      .map((e) => `names nothing: ${e.getAttribute("aria-labelledby")}`),
    ...(all("h1").length === 1 ? [] : [`${all("h1").length} first headings`]),
    ...(document.documentElement.lang && document.title.trim() ? [] : ["no language or title"]),
  ];
}"""
LONG = "Give 5 mg of ramipril once daily. Check potassium after two weeks. " * 8 + "x" * 300


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of an app that answers on this machine."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # who comes before the server has started waits for it
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def visit(browser: Browser, width: int, scheme: Any) -> Iterator[Page]:
    """A page of this width; whatever it says in its console is an error."""
    said: list[str] = []
    with fresh_page(browser, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
    assert [] == said


def check(page: Page) -> None:
    """Every control has a name, the page is in order, on no screen is it too wide or a text hard to read.

    The screen on which a page is checked last is that on which the next one is loaded.
    """
    assert [] == page.evaluate(UNNAMED)
    assert [] == page.evaluate(UNSOUND)
    start = page.viewport_size["width"]
    for width, scheme in sorted(SCREENS, key=lambda screen: screen[0] != start):
        if width != page.viewport_size["width"]:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        assert [] == [text for text in contrasts(page) if text["ratio"] < 4.5], scheme


def sign_in(page: Page, address: str, link: str) -> None:
    page.goto(address + link)
    check(page)
    enter(page)


def enter(page: Page) -> None:
    """Press the button of the page that a link opens."""
    page.locator("form button").first.click()
    page.wait_for_load_state()


def stored(page: Page) -> None:
    until(page, "document.getElementById('state').textContent.startsWith('Stored')")


def test_the_check_of_a_page_sees_what_is_wrong(browser):
    with visit(browser, 390, "light") as page:
        page.set_content('<h1 id="a">x</h1><h3 id="a">y</h3><input type="radio" name="r"><a href="/"></a>')
        assert 5 == len(page.evaluate(UNSOUND)), page.evaluate(UNSOUND)
        assert 1 == len(page.evaluate(UNNAMED))


KEYS = {
    "rank": ["1", "g", "Shift+B", "2", "b", "Shift+C", "3", "o"],
    "rate": ["1"],
    "review": ["y", "4"],
    "pairwise": ["a"],
    "verify": ["u"],
    "neutralise": ["n"],
}


@pytest.mark.parametrize(("width", "scheme"), START)
@pytest.mark.parametrize("task", [*KEYS, "assisted"])
def test_a_rater_signs_in_and_judges_by_keys_alone(browser, tmp_path, task, width, scheme):
    texts = {"Able": {"q": LONG}, "Poor": {"q": "None."}}
    if task == "neutralise":
        run = test_tasks._argued(tmp_path, {"Able": {"q": LONG}})
    else:
        run = made(tmp_path, {"Able": {"q": LONG}} if task in ("rate", "verify", "assisted") else texts)
    rater = Rater(run, task, candidates=("Able", "Poor") if task == "rank" else ())
    with serving(rater.app) as address, visit(browser, width, scheme) as page:
        sign_in(page, address, rater.links["anna"])
        check(page)
        page.goto(f"{address}/question/1")
        check(page)
        if task == "assisted":
            page.keyboard.press("a")
            page.keyboard.type("5 mg")
        for key in KEYS.get(task, ()):
            page.keyboard.press(key)
        stored(page)
        check(page)
        page.keyboard.press("Control+Enter" if task == "assisted" else "Enter")
        page.wait_for_url(f"{address}/")
        assert "Everything is stored" in page.inner_text("main")
        check(page)
    assert "Stored." in rater.page(1)


@pytest.mark.parametrize(("width", "scheme"), START)
def test_a_dispute_is_written_and_settled(browser, tmp_path, width, scheme):
    rater = Rater(examined(tmp_path, 1), "review", raters=["anna"])
    with serving(rater.app) as address, visit(browser, width, scheme) as page:
        sign_in(page, address, rater.links["anna"])
        page.goto(f"{address}/question/1")
        page.keyboard.press("n")
        page.keyboard.press("d")
        page.keyboard.type("The dose is per day.")
        stored(page)
        page.goto(f"{address}/about-you")
        check(page)
        sign_in(page, address, rater.organiser)
        page.goto(f"{address}/organise")
        check(page)
        assert "The dose is per day." in page.inner_text("main")
        page.locator("input[name=correct][value=no]").check()
        page.locator("textarea[name=reason]").fill("So does the guideline.")
        page.get_by_role("button", name="Settle").click()
        page.get_by_text("Nothing is in dispute").wait_for()


@pytest.mark.parametrize("again", ["anna", "ben"])
def test_an_open_page_saves_after_its_rater_signed_in_again_and_after_nobody_else(browser, tmp_path, again):
    rater = Rater(examined(tmp_path, 1), "review")
    with serving(rater.app) as address, fresh_page(browser) as page:
        sign_in(page, address, rater.links["anna"])
        page.goto(f"{address}/question/1")
        page.context.clear_cookies()
        page.keyboard.press("y")
        until(page, "document.getElementById('state').textContent.includes('your time is over')")
        second_page = page.context.new_page()
        sign_in(second_page, address, rater.links[again])
        second_page.close()
        page.keyboard.press("4")
        if again == "anna":
            stored(page)
        else:
            until(page, "document.getElementById('state').textContent.includes('before you signed in')")
    rater.sign_in("anna")
    assert (again == "anna") == ("Stored." in rater.page(1))
    rater.sign_in("ben")
    assert "Stored." not in rater.page(1)


@pytest.mark.parametrize(("width", "scheme"), START)
def test_the_viewer_shows_what_a_collection_stores_meanwhile(browser, tmp_path, width, scheme):
    run = made(tmp_path, {"Able": {"q1": LONG}})
    with serving(view_app(run.file.path, KEY)) as address, visit(browser, width, scheme) as page:
        page.goto(f"{address}/?key={KEY}")
        check(page)
        assert "Fair" not in page.inner_text("main")
        made(tmp_path, {"Fair": {"q1": "a later answer"}}, run=run)
        look(page)
        until(page, "document.body.innerText.includes('Fair')")
        check(page)


def test_the_viewer_shows_the_answers_of_a_collection_while_it_runs(browser, tmp_path, root):
    items = [
        {"id": f"q{k:02}", "question": f"Question {k}?", "format": "short", "answer": "x"} for k in range(20)
    ]
    write_lines(tmp_path / "ward.jsonl", items)
    run = made(tmp_path, {"Able": {"q1": "an earlier answer"}})
    with fake_endpoint(tmp_path, root, latency=0.1) as address_of_model:
        (tmp_path / "providers.yaml").write_text(
            f"ward: {{base_url: '{address_of_model}', concurrency: 1}}\n"
        )
        with (
            serving(view_app(run.file.path, KEY)) as address,
            visit(browser, 1280, "light") as page,
        ):
            page.goto(f"{address}/?key={KEY}")
            counts = [n_answers(page)]
            with subprocess.Popen(
                [sys.executable, "-m", "vivavoce", "collect", str(run.file.path),
                 f"jsonl:path={tmp_path / 'ward.jsonl'}", "--model", "ward/fake",
                 "--providers", str(tmp_path / "providers.yaml"), "--quiet"],
            ) as collection:  # fmt: skip
                while collection.poll() is None:
                    if (n := n_answers(page)) != counts[-1]:
                        counts.append(n)
                    page.wait_for_timeout(50)
                    look(page)
            assert 0 == collection.returncode
            look(page)
            until(page, f"document.body.innerText.includes('{len(items) + 1} answers')")
            check(page)
    assert counts == sorted(counts)
    assert 1 == counts[0] < counts[1] < len(items) + 1


def n_answers(page: Page) -> int:
    """How many answers the page says the run has."""
    return int(re.search(r"([\d,]+) answer", page.inner_text("body"))[1].replace(",", ""))


@contextmanager
def fake_endpoint(folder: Path, root: Path, *, latency: float) -> Iterator[str]:
    """The address of the fake endpoint that answers each question after so many seconds."""
    script, port_file = root / "tests" / "models" / "fake_server.py", folder / "port"
    with subprocess.Popen([sys.executable, str(script), str(port_file), "--latency", str(latency)]) as server:
        try:
            while not port_file.exists():
                assert server.poll() is None, "the fake endpoint did not start"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port_file.read_text()}/v1"
        finally:
            server.kill()


def test_a_person_reaches_no_page_of_the_viewer(tmp_path):
    rater = Rater(made(tmp_path, {"Able": {"q": "x"}, "Poor": {"q": "y"}}))
    assert all(404 == rater.client.get(path).status_code for path in ("/answer/1", "/compare", "/rows"))
    viewer = TestClient(
        view_app(rater.panel and Path(tmp_path / "run.viva"), KEY), base_url="http://127.0.0.1:8017"
    )
    assert 401 <= viewer.get("/").status_code <= 403
