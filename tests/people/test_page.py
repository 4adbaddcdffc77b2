"""The packet's page in a browser: filled in by keyboard and mouse, downloaded, loaded again, and read."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page
from tests.people.raters import with_packets
from tests.people.test_packets import HOSTILE
from tests.report import looking

from vivavoce.people.packets import write_packets
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
N = 3


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three questions; the answers to one of them are hostile, with blanks and lines of their own."""
    answers = {"Hostile": {"q01": HOSTILE + "\r\n\r\n  <pre>\n - last", "q02": "=1+1"}}
    return with_packets(tmp_path, N, ["anna"], answers=answers)


def fill(page: Page) -> None:
    """Ranks in the order shown; tags in turn; the last answer to the first question is clearly wrong."""
    for q in range(1, N + 1):
        articles = page.locator(f"#q{q} article")
        for n in range(articles.count()):
            one = articles.nth(n)
            if q == 1 and n == articles.count() - 1:
                one.get_by_label("Clearly wrong").check()
                continue
            one.locator("select").select_option(str(n + 1))
            one.get_by_label(("good", "okay", "bad")[n % 3], exact=True).check()
    page.locator("#q2 textarea").fill("Unsure, <b>both</b> fit.")


def test_a_ballot_filled_in_and_downloaded_is_read_back(browser: Browser, run: Run, tmp_path: Path) -> None:
    page_file = tmp_path / "out" / "anna.html"
    with looking.opened(browser, page_file, viewport=PHONE) as page:
        assert 0 == page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert "0 of 3 questions filled in." in page.locator("#told").inner_text()
        fill(page)
        told = page.locator("#told").inner_text()
        assert "3 of 3 questions filled in. Not downloaded yet. The ballot is complete" in told
        with page.expect_download() as coming:
            page.locator("#save").click()
        assert coming.value.suggested_filename.endswith("-anna.json")
        saved = tmp_path / "ballot.json"
        coming.value.save_as(saved)
        assert page.evaluate("typeof pwned") == "undefined"
        assert 0 == page.locator("main :is(script, img, b, pre)").count()
        looking.reload_until(page, lambda: "3 of 3" in page.locator("#told").inner_text())
    (done,) = store_ballots(run.file, [saved])
    assert (N, 0, 1, 1) == (done.new, done.skipped, done.clearly_wrong, done.remarks)
    shown = run.scores.filter((pl.col("criterion") == "rank") & (pl.col("item") != "q00"))
    order = json.loads(saved.read_text(encoding="utf-8"))["items"]
    assert {one["item"] for one in order} == {"q00", "q01", "q02"}
    assert shown["value"].to_list() == shown["position"].to_list()


def test_a_saved_ballot_can_be_loaded_and_another_packets_cannot(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    write_packets(run.file, ["ben"], tmp_path / "out")
    saved = tmp_path / "half.json"
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#q1 article").first.locator("select").select_option("2")
        with page.expect_download() as coming:
            page.locator("#save").click()
        coming.value.save_as(saved)
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#load").set_input_files(saved)
        looking.until(page, "document.querySelector('#q1 article select').value === '2'")
    with looking.opened(browser, tmp_path / "out" / "ben.html", viewport=DESK) as page:
        page.locator("#load").set_input_files(saved)
        looking.until(
            page, "document.getElementById('told').textContent.includes('no ballot of this packet')"
        )


def test_the_page_can_be_filled_by_keyboard_and_read_by_everyone(
    browser: Browser, run: Run, tmp_path: Path
) -> None:
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.dataset.field") == "rank"
        page.keyboard.press("1")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        first = page.locator("#q1 article").first
        assert "1" == first.locator("select").input_value()
        assert first.get_by_label("good", exact=True).is_checked()
        built = looking.structure(page) | {"landmarks": []}
        assert looking.BUILT | {"landmarks": []} == built
        weak = [one for one in looking.contrasts(page) if one["ratio"] < 4.5]
        assert [] == weak


@pytest.fixture
def rates(tmp_path: Path) -> Run:
    """The same answers, to be rated by five criteria; one is very long."""
    answers = {"Hostile": {"q01": HOSTILE + "\r\n  <pre>", "q02": "=1+1 " + "and so on " * 900}}
    return with_packets(tmp_path, N, ["anna"], answers=answers, task="rate", rubric="medgpt")


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_ratings_filled_in_and_downloaded_are_read_back(
    browser: Browser, rates: Run, tmp_path: Path, viewport: Any
) -> None:
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=viewport) as page:
        assert 0 == page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert "0 of 11 answers rated." in page.locator("#told").inner_text()
        scales = page.locator("fieldset[data-scale]")
        assert 11 * 5 == scales.count()
        for n in range(scales.count()):
            scales.nth(n).get_by_role("radio").nth(n % 7).check()
            if n == 4:
                assert "1 of 11 answers rated. Not downloaded yet." in page.locator("#told").inner_text()
        page.locator("#q2 textarea").first.fill("Unsure, <b>both</b> fit.")
        told = page.locator("#told").inner_text()
        assert "11 of 11 answers rated. Not downloaded yet. The ballot is complete" in told
        with page.expect_download() as coming:
            page.locator("#save").click()
        saved = tmp_path / "ballot.json"
        coming.value.save_as(saved)
        assert page.evaluate("typeof pwned") == "undefined"
        assert 0 == page.locator("main :is(script, img, pre)").count()
        looking.reload_until(page, lambda: "11 of 11" in page.locator("#told").inner_text())
    (done,) = store_ballots(rates.file, [saved])
    assert (N, 0, 1) == (done.new, done.skipped, done.remarks)
    # The radio buttons of a scale are 0 to 5, and cannot tell: every seventh of 55 is none.
    assert (55 - 7, 7) == (done.labels, done.cannot_tell)
    assert {0, 1, 2, 3, 4, 5, None} == set(rates.scores["value"])


def test_ratings_can_be_given_by_keyboard_and_read_by_everyone(
    browser: Browser, rates: Run, tmp_path: Path
) -> None:
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        first = page.locator("#q1 fieldset[data-scale]").first
        assert page.evaluate("document.activeElement.dataset.field") == "rating"
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        assert "1" == first.locator(":checked").get_attribute("value")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowUp")  # from the first button round to the last
        second = page.locator("#q1 fieldset[data-scale]").nth(1)
        assert "cannot tell" == second.locator(":checked").get_attribute("value")
        long = page.locator("article > .answer[tabindex]")
        assert ["and so on"] == [text.strip()[5:14] for text in long.all_text_contents()]
        anchor = first.get_by_role("radio").nth(3)
        assert "small misreading" in anchor.evaluate("one => one.labels[0].textContent")
        built = looking.structure(page) | {"landmarks": []}
        assert looking.BUILT | {"landmarks": []} == built
        assert [] == [one for one in looking.contrasts(page) if one["ratio"] < 4.5]


def test_a_ballot_of_ratings_can_be_loaded_again(browser: Browser, rates: Run, tmp_path: Path) -> None:
    saved = tmp_path / "half.json"
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#q1 fieldset").first.get_by_role("radio").nth(6).check()
        page.locator("#q1 fieldset").nth(1).get_by_role("radio").nth(0).check()
        with page.expect_download() as coming:
            page.locator("#save").click()
        coming.value.save_as(saved)
    first = json.loads(saved.read_text(encoding="utf-8"))["items"][0]["answers"][0]
    assert ("cannot tell", 0, None) == tuple(first[name] for name in ("comprehension", "reasoning", "harm"))
    with looking.opened(browser, tmp_path / "out" / "anna.html", viewport=DESK) as page:
        page.locator("#load").set_input_files(saved)
        looking.until(page, "document.querySelectorAll('#q1 :checked').length === 2")
        assert ["cannot tell", "0"] == page.locator("#q1 :checked").evaluate_all(
            "all => all.map((o) => o.value)"
        )


def test_the_policy_runs_nothing_but_the_page_itself(browser: Browser, run: Run, tmp_path: Path) -> None:
    with looking.opened(browser, tmp_path / "out" / "anna.html", strict=False) as page:
        page.evaluate(
            """() => {
                document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned = 1'>");
                const script = document.createElement("script");
                script.textContent = "window.pwned = 2";
                document.body.append(script);
                return fetch("https://example.org/").catch(() => null);
            }"""
        )
        assert page.evaluate("typeof pwned") == "undefined"
