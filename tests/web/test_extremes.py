"""Pages of portal and viewer with the longest, widest and most hostile texts, and with the least data."""

import pytest
from tests.lengths import length
from tests.people.raters import examined
from tests.studies.making import made
from tests.web.test_annotate import FIELDS, Rater, full, scores
from tests.web.test_organise import organiser
from tests.web.test_tour import START, check, enter, serving, visit
from tests.web.test_view import KEY

from vivavoce.run.run import Run
from vivavoce.web.view.app import view_app

HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    '=HYPERLINK("http://x") \u202eabc\u202c \x1b[31m {{7 * 7}} {% raw %} '
)
WIDE = "W" * 3_000
LONG = "word " * length(8_000, 40_000)
SHOWN = "document.querySelector('main').innerText.includes('<script>document')"


def extreme(folder) -> Run:
    """A run whose every text is hostile; the first question has thousands of words."""
    items = [
        {
            "item": name, "question": text + HOSTILE + WIDE, "answer": f"key {HOSTILE}",
            "source": HOSTILE + WIDE, "category": HOSTILE,
        }
        for name, text in (("q1", LONG), ("q2", "What? "))
    ]  # fmt: skip
    hostile, long = {"q1": HOSTILE + WIDE, "q2": f"no {HOSTILE}"}, {"q1": LONG, "q2": "3"}
    return made(folder, {HOSTILE[:60]: hostile, "Poor": long}, items=items)


@pytest.mark.parametrize(("width", "scheme"), START)
@pytest.mark.parametrize("task", ["rank", "rate", "review", "pairwise", "verify", "assisted"])
def test_hostile_and_longest_texts_do_nothing_on_a_page_of_the_portal(browser, tmp_path, task, width, scheme):
    rater = Rater(extreme(tmp_path), task)
    with serving(rater.app) as address, visit(browser, width, scheme) as page:
        page.goto(address + rater.links["anna"])
        enter(page)
        for path in ("/", "/question/1", "/question/2"):
            page.goto(address + path)
            check(page)
            assert "owned" not in page.title()
            assert page.evaluate(SHOWN) or path == "/"
        page.goto(address + rater.organiser)
        enter(page)
        check(page)


@pytest.mark.parametrize(("width", "scheme"), START)
def test_hostile_and_longest_words_of_raters_do_nothing_on_the_organisers_page(
    browser, tmp_path, width, scheme
):
    rater = Rater(extreme(tmp_path), "review")
    words = (HOSTILE + WIDE * 4)[:10_000]
    texts = {f"A:{column}": words for column in ("dispute", "comment", "proposed_edit")}
    for number in (1, 2):
        assert 303 == rater.judge(number, {"A:correct": "no", "A:category": words[:200], **texts}).status_code
    with serving(rater.app) as address, visit(browser, width, scheme) as page:
        page.goto(address + rater.links["anna"])
        enter(page)
        page.goto(f"{address}/question/1")
        check(page)
        assert words.count("W") == page.input_value("#comment").count("W")
        page.goto(address + rater.organiser)
        enter(page)
        check(page)
        assert ("Organise", True) == (page.title(), "<script>document" in page.inner_text("article"))


@pytest.mark.parametrize(("width", "scheme"), START)
def test_hostile_and_longest_texts_do_nothing_on_a_page_of_the_viewer(browser, tmp_path, width, scheme):
    app = view_app(extreme(tmp_path).file.path, KEY)
    with serving(app) as address, visit(browser, width, scheme) as page:
        page.goto(f"{address}/?key={KEY}")
        for path in ("/", "/answer/1", "/item/1", "/compare?a=1&b=3", "/?text=%3Cscript%3E"):
            page.goto(address + path)
            check(page)
            assert page.evaluate(SHOWN), path
            assert "owned" != page.title(), path


@pytest.mark.parametrize("task", list(FIELDS))
def test_one_rater_of_one_question_sees_no_agreement_and_no_fault(tmp_path, task):
    rater = Rater(examined(tmp_path, 1), task, raters=["anna"])
    assert 303 == rater.judge(1, full(rater.page(1), **FIELDS[task])).status_code
    page = organiser(rater).get("/organise").text
    assert ("one rater: nobody" if task == "rank" else "No question was judged by two raters") in page


@pytest.mark.parametrize("task", list(FIELDS))
def test_raters_who_all_say_the_same_have_no_alpha_and_a_reason(tmp_path, task):
    run = examined(tmp_path, 2)
    rater = Rater(run, task)
    for name in rater.links:
        rater.sign_in(name)
        for number in (1, 2):
            assert 303 == rater.judge(number, full(rater.page(number), **FIELDS[task])).status_code
    page = organiser(rater).get("/organise").text
    assert '<td class="n"></td><td class="n"></td><td class="n">' in page
    assert ">nan<" not in page
    assert scores(run)
