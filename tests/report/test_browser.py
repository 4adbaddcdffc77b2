"""The report in a browser: what runs, what does not, and whether everyone can read it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.lengths import length
from tests.report import looking
from tests.studies.making import SILENT, UNREADABLE, borrowed, made

from vivavoce.core.records import Criterion, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric
from vivavoce.run.run import Run, open_run

HOSTILE = "<script>pwned = 1</script></script><img src=x onerror='pwned = 2'><svg onload=pwned=3> 0.1"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen questions in two formats and categories, three candidates, everything studied."""
    items: list[dict[str, Any]] = [
        {
            "item": f"q{n:02}",
            "category": "dosing" if n % 2 else "history <b>",
            "format": "longform" if n > 9 else "short",
            "references": [f"give 5 mg of drug {n} every day"],
        }
        for n in range(14)
    ]
    answers = {
        "Able": {f"q{n:02}": [f"give 5 mg of drug {n} every morning 0.9", "0.8"] for n in range(14)},
        "Hasty": {f"q{n:02}": [f"give 50 mg of it 0.{n}", "0.5"] for n in range(14)},
        "Hostile <i>": {"q00": [HOSTILE, SILENT], "q01": [UNREADABLE, "fail"]},
    }
    run = made(tmp_path_factory.mktemp("report"), answers, items=items)
    with borrowed():

        @metric("worth")
        class Worth(Metric):
            """What the last word says, or that it cannot be scored."""

            criteria = (Criterion(criterion="worth"),)
            formats = ("short", "longform")
            needs = ()

            def values(self, rows: Any, context: Any) -> list[dict[str, Value]]:
                return [{"worth": worth(row.reading.parsed.split()[-1])} for row in rows]

        run.score("worth", "rouge(n=1)")
    for candidate in ("Hasty", "Hostile <i>"):
        run.compare("Able", candidate, metric="worth")
    run.study()
    return run.report()


def worth(word: str) -> Value:
    return Value(None, note="no <mark>", status="failed") if word == "fail" else Value(float(word))


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    """The page as opened; afterwards nothing was asked for, said to the console or run that should not."""
    with looking.opened(browser, report, viewport=DESK) as shown:
        looking.unfold(shown, "answers")
        yield shown


def count(page: Page) -> str:
    return page.locator("#answers-count").inner_text()


def first_rows(page: Page, n: int = 3) -> list[str]:
    rows = page.locator("#answers-list > details").all()[:n]
    return [" ".join(row.locator("summary > span").all_inner_texts()[:3]) for row in rows]


def test_hostile_answers_are_text_wherever_they_stand(page: Page) -> None:
    page.get_by_label("Candidate", exact=True).select_option(label="Hostile <i>")
    page.get_by_role("button", name="Open all shown").click()
    looking.until(page, "document.querySelectorAll('#answers-list .given').length === 4")
    page.get_by_label("Put beside every answer").select_option(label="Hasty")
    shown = page.locator("#answers-list .given .text").all_inner_texts()
    assert HOSTILE in shown
    assert page.evaluate("typeof pwned") == "undefined"
    assert 0 == page.locator("#answers-list :is(script, img, svg, b, i)").count()
    assert 2 == page.locator("script").count()


def test_the_policy_refuses_what_an_injection_would_try(browser: Browser, report: Path) -> None:
    """Handlers in attributes, scripts without a hash, pictures and requests: even from inside the page."""
    with looking.opened(browser, report, strict=False) as page:
        page.evaluate(
            """() => {
                document.body.insertAdjacentHTML("beforeend",
                    "<button id=bad onclick='window.pwned = 1'>x</button>" +
                    "<img src=x onerror='window.pwned = 2'>");
                const script = document.createElement("script");
                script.textContent = "window.pwned = 3";
                document.body.append(script);
                document.getElementById("bad").click();
                return fetch("https://example.org/").catch(() => null);
            }"""
        )
        page.wait_for_timeout(50)
        assert page.evaluate("window.pwned") is None


def test_tables_sort_by_their_headers_and_what_is_missing_stays_last(page: Page) -> None:
    page.locator("#leaderboard-title").click()
    table = page.locator("table.board").first
    head = table.get_by_role("columnheader", name="Mean")
    names = table.locator("tbody th")
    for way, wanted in (
        ("descending", ["Able", "Hasty", "Hostile <i>"]),
        ("ascending", ["Hostile <i>", "Hasty", "Able"]),
    ):
        head.get_by_role("button").click()
        assert way == head.get_attribute("aria-sort")
        assert wanted == names.all_inner_texts()
    last = table.get_by_role("columnheader", name="Candidate")
    last.get_by_role("button").click()
    assert (None, "ascending") == (head.get_attribute("aria-sort"), last.get_attribute("aria-sort"))


def test_the_worst_answers_stand_first_and_other_orders_are_at_hand(page: Page) -> None:
    assert count(page).startswith("Showing 50 of 60 answers that match; 60 of 60 are on this page.")
    by = page.get_by_label("Score by")
    by.select_option(index=1)
    assert first_rows(page)[0].startswith("0.000 ")
    page.get_by_label("Order").select_option("best")
    assert first_rows(page)[0].startswith("0.900 ")
    page.get_by_label("Order").select_option("question")
    assert ["q00 Able, repeat 1", "q00 Able, repeat 2"] == [row[6:] for row in first_rows(page, 2)]


def test_filters_narrow_what_is_shown_and_clear_again(page: Page) -> None:
    search = page.get_by_label("Search in questions")
    search.fill("DRUG 13 morning")
    assert count(page).startswith("Showing 1 of 1 answer that matches")
    assert "q13 Able, repeat 1" in first_rows(page)[0]
    search.fill("")
    for label, option, wanted in (
        ("Candidate", "Hasty", 28),
        ("Format", "longform", 8),
        ("Category", "dosing", 4),
    ):
        page.get_by_label(label, exact=True).select_option(label=option)
        assert f"of {wanted} answers that match" in count(page)
    page.get_by_role("button", name="Clear all").click()
    page.get_by_text("of 60 answers that match").wait_for()
    page.get_by_label("Status of a score").select_option("unreadable")
    assert "of 1 answer that" in count(page)
    page.get_by_label("Status of a score").select_option("")
    page.get_by_label("Score by").select_option(index=1)
    page.get_by_label("Score from").fill("0.85")
    assert "of 15 answers that match" in count(page)
    page.get_by_label("Score from").fill("2")
    assert "No answer on this page matches." == count(page)
    page.get_by_label("Score to").fill("1")
    assert "The lower end of the score lies above the upper one: no answer can match." == count(page)


def test_rows_come_fifty_at_a_time_and_bodies_when_they_are_opened(page: Page) -> None:
    rows = page.locator("#answers-list > details")
    assert (50, 0) == (rows.count(), page.locator("#answers-list .given").count())
    page.get_by_role("button", name="Show 10 more").click()
    assert 60 == rows.count()
    assert page.evaluate(
        "document.activeElement.closest('details') === document.querySelectorAll('.answer')[50]"
    )
    assert page.locator("#answers-more").is_hidden()
    rows.first.locator("summary").click()
    page.locator("#answers-list .given").wait_for()
    page.get_by_role("button", name="Open all shown").click()
    looking.until(page, "document.querySelectorAll('#answers-list .given').length === 60")
    page.get_by_role("button", name="Close all").click()
    assert 0 == page.locator("#answers-list > details[open]").count()


def test_answers_stand_side_by_side_with_differing_words_marked(page: Page) -> None:
    page.get_by_label("Search in questions").fill("drug 12")
    page.get_by_label("Candidate", exact=True).select_option(label="Able")
    row = page.locator("#answers-list > details").filter(has_text="repeat 1").first
    row.locator("summary").click()
    row.locator("mark.new").first.wait_for()
    assert ["give 5", "drug 12 every"] == row.locator("mark.new").all_inner_texts()
    page.get_by_label("Mark words").select_option("reference")
    assert ["day"] == row.locator("mark.gone").all_inner_texts()
    assert ["morning 0.9"] == row.locator("mark.new").all_inner_texts()
    page.get_by_label("Put beside every answer").select_option(label="Hasty")
    assert ["Answer of Able, repeat 1", "Answer of Hasty, repeat 1"] == row.locator(
        ".given h3"
    ).all_inner_texts()
    page.get_by_label("Mark words").select_option("first")
    assert 0 == row.locator("mark.gone").count()
    assert ["50", "it 0.12"] == row.locator("mark.new").all_inner_texts()
    row.get_by_label("Put another answer beside it").select_option(index=1)
    assert 3 == row.locator(".given").count()
    row.get_by_role("button", name="Remove").click()
    assert 2 == row.locator(".given").count()
    page.get_by_label("Mark words").select_option("none")
    assert 0 == row.locator("mark").count()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers that differ in a dose, a negation and the way they are typed; an item with options."""
    answers = {
        "Able": {
            "q1": "give 2 g and not more",
            "q2": "give 12 g; 2 tablets of 1 g",
            "q3": "give 1.2 g to Ménière’s patients, low-dose B-6",
            "q4": SILENT,
            "q5": "B",
        }
    }
    choices = {
        "item": "q5",
        "format": "mcq",
        "question": "Which?",
        "options": ["rest", "fluids"],
        "answer": ["fluids"],
    }
    items = [{"item": f"q{n}", "references": ["give 2 g, not more than 8 g"]} for n in range(1, 5)]
    run = made(tmp_path_factory.mktemp("words"), answers, items=[*items, choices])
    run.score("token_f1", "accuracy")
    return run.report()


def test_a_search_finds_short_words_whole_and_phrases_as_they_stand(browser: Browser, words: Path) -> None:
    with looking.opened(browser, words) as page:
        looking.unfold(page, "answers")

        def found(text: str) -> list[str]:
            page.get_by_label("Search in questions").fill(text)
            return page.locator("#answers-list .id").all_inner_texts()

        page.get_by_label("Order").select_option("question")
        assert ["q1", "q2"] == found("2 g")
        assert ["q1"] == found('"2 g"') == found("“2 G”")
        assert ["q3"] == found("meniere's PATIENTS") == found("Ménière’s")
        assert ["q2"] == found("tabl")
        assert [] == found("tab")
        assert ["q1", "q2", "q3", "q4", "q5"] == found('""')
        assert ["q3"] == found("B-6") == found('"low-dose"')
        assert [] == found("(.*") == found("-rf")


def test_a_negation_is_marked_however_short(browser: Browser, words: Path) -> None:
    with looking.opened(browser, words) as page:
        looking.unfold(page, "answers")
        page.get_by_label("Search in questions").fill("q1")
        page.get_by_label("Mark words").select_option("shared")
        page.locator(".answer > summary").click()
        marked = page.locator(".given mark")
        marked.first.wait_for()
        assert "not more" in marked.all_inner_texts()
        page.get_by_label("Search in questions").fill("q2")
        page.locator(".answer > summary").click()
        page.locator("mark.gone").first.wait_for()
        assert "not more than 8" in page.locator("mark.gone").all_inner_texts()


def test_silence_bears_a_dash_and_options_bear_their_letters(browser: Browser, words: Path) -> None:
    with looking.opened(browser, words) as page:
        looking.unfold(page, "answers")
        page.get_by_label("Search in questions").fill("q4")
        assert ["– q4 Able"] == first_rows(page)
        page.get_by_label("Search in questions").fill("q5")
        page.locator(".answer > summary").click()
        page.locator(".answer ol").wait_for()
        style = "getComputedStyle(document.querySelector('.answer li')).listStyleType"
        assert "upper-alpha" == page.evaluate(style)
        assert ["the key of q5", "B. fluids"] == page.locator(
            ".answer .pair > div:first-child .text"
        ).all_inner_texts()


def test_every_printed_page_says_that_it_is_not_for_clinical_use(browser: Browser, report: Path) -> None:
    """What stands in a margin is no text of the page: it is looked up in the rules for paper."""
    with looking.opened(browser, report) as page:
        boxes = page.evaluate(
            """() => [...document.styleSheets[0].cssRules].flatMap((rule) => [...(rule.cssRules ?? [])])
                .filter((rule) => rule instanceof CSSPageRule)
                .flatMap((rule) => [...rule.cssRules].map((box) => [box.name, box.style.content]))"""
        )
        assert {"top-left": '"Not for clinical use"', "bottom-right": "counter(page)"} == dict(boxes)
        page.emulate_media(media="print")
        name = page.locator("table.board tbody th.name").first
        assert "break-word" == name.evaluate("e => getComputedStyle(e).overflowWrap")
        assert name.evaluate("e => e.getBoundingClientRect().width") >= 90


def test_the_page_is_worked_by_keyboard_alone(page: Page) -> None:
    page.reload()
    page.keyboard.press("Tab")
    assert "Skip to the answer" == page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Tab")
    assert "#answer" == page.evaluate("document.activeElement.getAttribute('href')")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert "none" != style
    page.locator("#leaderboard-title").click()
    button = page.locator("table.board th button").first
    button.focus()
    page.keyboard.press("Enter")
    assert "ascending" == page.locator("table.board th").first.get_attribute("aria-sort")
    page.locator("details:has(> #answers) > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#ex-search").focus()
    page.keyboard.type("drug 13")
    assert "of 1 answer that" in count(page)
    page.get_by_role("button", name="Close all").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#answers-list > details[open] .given").wait_for()


def test_methods_are_copied(browser: Browser, report: Path) -> None:
    with looking.opened(browser, report) as page:
        looking.unfold(page, "methods")
        page.get_by_role("button", name="Copy the text").click()
        page.get_by_role("button", name="Selected: copy it now").or_(
            page.get_by_role("button", name="Copied")
        ).wait_for()
        text = page.locator("#methods-text p").first.inner_text()
        if page.get_by_role("button", name="Selected").count():
            assert text[:40] in page.evaluate("getSelection().toString()")


def test_without_scripts_the_page_is_still_read(browser: Browser, report: Path) -> None:
    with looking.opened(browser, report, java_script_enabled=False) as page:
        looking.unfold(page, "answers")
        assert page.locator("#explorer").is_hidden()
        assert 0 == page.get_by_role("button").count()
        page.locator(".still summary").first.click()
        assert page.locator(".still .pair").first.is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_into_a_fold_opens_it(browser: Browser, report: Path, scripts: bool) -> None:
    with looking.opened(browser, report, java_script_enabled=scripts, viewport=DESK) as page:
        assert page.locator("#comparisons").is_hidden()
        page.get_by_role("navigation").get_by_role("link", name="Comparisons").click()
        page.locator("#comparisons .verdicts").wait_for()
        top = "document.getElementById('comparisons-title').getBoundingClientRect().top"
        looking.until(page, f"0 <= {top} && {top} < {DESK['height']}")  # the page may scroll smoothly
        assert page.locator("#methods").is_hidden()


def test_paper_is_light_opens_what_is_folded_and_hides_what_is_pressed(
    browser: Browser, report: Path
) -> None:
    with looking.opened(browser, report, color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert "rgb(255, 255, 255)" == page.evaluate("getComputedStyle(document.body).backgroundColor")
        for hidden in ("nav", "#explorer", ".skip", "button.plain >> nth=0", "th button >> nth=0"):
            assert page.locator(hidden).is_hidden(), hidden
        assert page.locator(".still .pair").first.evaluate("e => e.getBoundingClientRect().height") > 0
        assert page.locator("figure svg").first.is_visible()
        head = "getComputedStyle(document.querySelector('table.board th'), '::before').content"
        assert '"Candidate"' == page.evaluate(head)


def test_a_phone_scrolls_in_one_direction(browser: Browser, report: Path) -> None:
    with looking.opened(browser, report, viewport=PHONE) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        looking.until(page, "document.querySelectorAll('#answers-list .given').length >= 50")
        assert 390 == page.evaluate("document.documentElement.scrollWidth")
        assert page.locator("figure[tabindex='0'], .scroll[tabindex='0']").count()


def test_a_phone_shows_each_candidates_dot_and_interval_below_its_name(
    browser: Browser, report: Path
) -> None:
    with looking.opened(browser, report, viewport=PHONE) as page:
        first = page.locator("table.board tbody tr").first
        name, line = (first.locator(part).bounding_box() for part in (".name", "svg.interval"))
        assert name is not None
        assert line is not None
        assert line["y"] > name["y"]
        assert line["x"] + line["width"] <= PHONE["width"]
        assert first.locator(".rank").is_hidden()
        for text in first.locator("td:not(.rank)").all():
            box = text.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= PHONE["width"]


def test_what_scrolls_sideways_says_so(browser: Browser, report: Path) -> None:
    with looking.opened(browser, report, viewport=PHONE) as page:
        hint = "getComputedStyle(document.querySelector('.sideways'), '::before').content"
        assert "Scrolls sideways" in page.evaluate(hint)
        assert page.evaluate(
            "[...document.querySelectorAll('.sideways')].every((e) => e.scrollWidth > e.clientWidth)"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(browser: Browser, report: Path, scheme: Any) -> None:
    """4.5 to 1, also on tables' shaded rows, marked words and the cells of charts (WCAG 2.2, 1.4.3)."""
    with looking.opened(browser, report, color_scheme=scheme, viewport=DESK) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        looking.until(page, "document.querySelectorAll('#answers-list mark').length > 5")
        seen = looking.contrasts(page)
        assert len(seen) > 500
        assert any(one["inside"] == "svg" for one in seen)
        weak = {(one["text"][:40], one["colour"], one["ground"], round(one["ratio"], 2))
                for one in seen if one["ratio"] < 4.5}  # fmt: skip
        assert set() == weak


def test_the_page_is_built_for_everyone(page: Page) -> None:
    """Headings in order, everything named, nothing twice."""
    page.get_by_role("button", name="Open all shown").click()
    looking.until(page, "document.querySelectorAll('#answers-list .given').length === 50")
    assert looking.BUILT == looking.structure(page)


def test_a_cut_example_leads_to_its_answers(browser: Browser, tmp_path: Path) -> None:
    run = made(
        tmp_path, {"Able": {"q1": "long " * 200, "q2": "rest"}, "Hasty": {"q1": "the key of q1", "q2": "no"}}
    )
    run.score("rouge(n=1)")
    with looking.opened(browser, run.report()) as page:
        page.locator("a[data-item='q1']").click()
        page.get_by_text("of 2 answers that match").wait_for()
        assert '"q1"' == page.get_by_label("Search in questions").input_value()


def test_a_large_run_gives_a_bounded_page(browser: Browser, tmp_path: Path) -> None:
    """Thousands of answers, and tens of thousands: work is counted (bytes, elements), not timed."""
    folder, n = tmp_path / "large", length(5_000, 50_000)
    folder.mkdir()
    exam, answers = folder / "exam.jsonl", folder / "answers.jsonl"
    with exam.open("w", encoding="utf-8") as file:
        for item in range(n // 50):
            row = {
                "id": f"q{item}",
                "format": "short",
                "question": f"What of {item}?",
                "references": ["rest"],
            }
            file.write(json.dumps(row) + "\n")
    long = "rest and fluids " * 60
    with answers.open("w", encoding="utf-8") as file:
        for k in range(n):
            row = {"item": f"q{k // 50}", "candidate": f"m{k % 10}", "repeat": k // 10 % 5 + 1,
                   "text": f"{k} {long}"}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    run: Run = open_run(folder / "run.viva")
    run.import_answers(answers, benchmark=f"jsonl(path='{exam}')")
    path = run.report()
    assert path.stat().st_size < 4_000_000
    with looking.opened(browser, path) as page:
        looking.unfold(page, "answers")
        assert page.evaluate("document.querySelectorAll('*').length") < 3_000
        assert f"of {n:,} are on this page" in count(page)
