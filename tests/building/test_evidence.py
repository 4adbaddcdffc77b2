"""Review pages hold what an item was made from: the passage with its quote marked, and the partner items."""

import json
import re
from html import unescape
from time import process_time

import pytest
from tests.building.conftest import write_lines
from tests.building.papers import ENGLISH
from tests.building.test_careqa import build as build_careqa
from tests.building.test_cliniqlink import TOPICS, check, passage, write
from tests.building.test_dahl import articles
from tests.building.test_dahl import build as build_dahl
from tests.building.test_hivmedqa import build as build_hivmedqa
from tests.building.test_hivmedqa import questions
from tests.web.test_annotate import TASKS, Rater
from tests.web.test_tour import check as check_page
from tests.web.test_tour import serving, sign_in, visit

from vivavoce.core.records import Item
from vivavoce.people.tasks import AnswerTask
from vivavoce.run.building.evidence import Piece, marked, read_sources
from vivavoce.store.build_steps import build_steps, remove_steps

FIXTURES = articles, questions
MODEL = "vllm/m"
TASKS |= {"answer": AnswerTask()}
HOSTILE = "<script>alert(1)</script></mark>\u202e"


def pages(run, **settings):
    """The review pages of all items, as text, by the id of the item."""
    rater = Rater(run, "review", **settings)
    names = [entry.question.item for entry in rater.panel.key.packets[rater.name]]
    return {name: unescape(rater.page(n)) for n, name in enumerate(names, 1)}


def words(text):
    return " ".join(text.split())


@pytest.fixture
def passages(tmp_path, writer):
    writer.rules = [write, check]
    rows = [{"id": topic, "text": f"{passage(topic)} {HOSTILE}", "source": "book"} for topic in TOPICS[:2]]
    return write_lines(tmp_path / "p.jsonl", rows)


def test_a_question_from_a_passage_shows_the_passage_with_its_quote_marked(run, passages):
    run.build("cliniqlink", from_=[passages], model=MODEL)
    by_item = pages(run)
    assert 14 == len(by_item)
    for name, page in by_item.items():
        topic = name.split("-")[0]
        assert words(passage(topic)) in words(re.sub("</?mark>", "", page))
        assert [f"The level of {topic} is measured after five"] == re.findall("<mark>(.*?)</mark>", page)
        assert "Key" in page
        assert "\u202e" not in page


def test_hostile_passages_stay_texts(run, passages):
    run.build("cliniqlink", from_=[passages], model=MODEL, formats=["short"])
    page = Rater(run, "review").page(1)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&lt;/mark&gt;" in page


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1400, "dark")])
def test_a_marked_quote_reads_on_a_phone_and_in_the_dark(run, passages, browser, width, scheme):
    run.build("cliniqlink", from_=[passages], model=MODEL, formats=["mcq"])
    rater = Rater(run, "review")
    with serving(rater.app) as address, visit(browser, width, scheme) as page:
        sign_in(page, address, rater.links["anna"])
        page.goto(f"{address}/question/1")
        assert "is measured after five" in page.inner_text("mark")
        check_page(page)


def test_a_question_from_an_article_shows_the_text_and_its_title(run, articles):
    build_dahl(run, articles)
    for name, page in pages(run).items():
        assert "Bile acids rise in cholestasis." in page
        assert ("Bile acids. " if name.startswith("one") else "An ambiguous marker. ") in page


def test_a_translation_shows_its_original_and_an_open_form_both(run, paper, writer):
    build_careqa(run, paper, form="both")
    by_item = pages(run)
    spanish, english = "elevación del segmento ST en V1 a V4", ENGLISH[1][0]
    assert spanish in words(by_item["exam-001"])
    assert "Closed form" not in by_item["exam-001"]
    assert spanish in words(by_item["exam-001-en"])
    assert "<h2>Original</h2>" in by_item["exam-001-en"]
    opened = by_item["exam-001-en-open"]
    assert ["Closed form", "Original"] == re.findall("<h2>(Closed form|Original)</h2>", opened)
    assert spanish in words(opened)
    assert words(english) in words(opened)
    assert "Infarto agudo de miocardio anterior." in opened  # the key of the original


def test_what_was_used_up_is_shown_too(run, paper, writer):
    build_careqa(run, paper)
    assert words(ENGLISH[1][0]) in words(pages(run)["exam-001-en-open"])


def test_an_open_question_of_a_bank_shows_its_closed_form_with_options_and_key(run, questions):
    build_hivmedqa(run, questions)
    page = pages(run)["q0-open"]
    assert "Case 0: a 20-year-old woman with HIV infection. What is given?" in page
    assert "Drug D0" in page


def test_questions_of_a_file_show_where_they_stand(run, tmp_path):
    rows = [{"id": "a", "question": "Which drug is given first?", "reference": "Adrenaline"}]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))])
    assert "q.jsonl, line 1" in pages(run)["a"]


def test_a_run_without_the_steps_of_its_build_says_that_no_text_is_stored(run, passages):
    run.build("cliniqlink", from_=[passages], model=MODEL, formats=["short"])
    with run.file.writing() as db:
        remove_steps(db, [step.key for step in build_steps(db)])
    page = pages(run)["aspirin-short"]
    assert "Its text is not stored with this question." in page
    assert "<mark>" not in page


def test_whoever_takes_the_exam_sees_neither_passage_nor_partner(run, paper, writer):
    build_careqa(run, paper, form="both")
    rater = Rater(run, "answer", raters=["anna"])
    texts = [rater.page(n + 1) for n in range(rater.n_questions())]
    assert texts
    assert not any("Closed form" in page or "Original" in page for page in texts)


def test_a_forgotten_partner_is_not_shown(run, paper, writer):
    build_careqa(run, paper, form="both")
    run.forget(items=["exam-001"])
    page = pages(run)["exam-001-en"]
    assert "miocardio" not in page
    assert "<h2>Original</h2>" not in page


def test_partners_that_name_each_other_end(run, tmp_path):
    rows = [
        {"id": "a", "question": "Was ist es?", "reference": "x", "translation_of": "b"},
        {"id": "b", "question": "What is it?", "reference": "x", "translation_of": "a"},
    ]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))])
    assert ["Original"] == re.findall("<h2>(Original)</h2>", pages(run)["a"])


@pytest.mark.parametrize(
    ("text", "quotes", "pieces"),
    [
        ("One two three.", [], [("One two three.", False)]),
        ("", ["One"], []),
        ("One two\nthree.", ["two three"], [("One ", False), ("two\nthree", True), (".", False)]),
        ("One two.", ["absent", "One"], [("One", True), (" two.", False)]),
        ("a b c d", ["a b", "b c"], [("a b", True), (" c", True), (" d", False)]),
        ("a b c d", ["b", "a b c"], [("a b c", True), (" d", False)]),
        ("a.*b a b", ["a.*b"], [("a.*b", True), (" a b", False)]),
        ("a b", [" ", ""], [("a b", False)]),
        ("15 mg or 5 mg", ["5 mg"], [("15 mg or ", False), ("5 mg", True)]),
        ("2.5 mg, 1,5 mg, .5 mg", ["5 mg"], [("2.5 mg, 1,5 mg, .5 mg", False)]),
        ("level 5.2", ["level 5"], [("level 5.2", False)]),
        ("overlevel is; level isn't", ["level is"], [("overlevel is; level isn't", False)]),
        ("non-toxic, toxic", ["toxic"], [("non-toxic, ", False), ("toxic", True)]),
        ("testé, test", ["test"], [("testé, ", False), ("test", True)]),
        ("teste\u0301", ["test"], [("teste\u0301", False)]),
        ("测量血压5次后", ["血压5"], [("测量", False), ("血压5", True), ("次后", False)]),
        ("(Level) is.", ["Level) is."], [("(", False), ("Level) is.", True)]),
    ],
)
def test_quotes_are_marked_where_they_first_stand(text, quotes, pieces):
    cut = list(marked(text, quotes))
    assert [Piece(*piece) for piece in pieces] == cut
    assert text == "".join(piece.text for piece in cut)


def test_quotes_of_repeated_words_take_no_more_time_than_their_passage_is_long():
    # A pattern of 3,000 words that goes back at every word of this takes minutes.
    start = process_time()
    ((_, is_quote),) = marked("a " * 500_000, [" ".join(["a"] * 3000) + " b"])
    assert not is_quote
    assert process_time() - start < 10


def test_a_page_says_which_quote_is_not_in_the_passage(run, passages, monkeypatch):
    run.build("cliniqlink", from_=[passages], model=MODEL, formats=["short"])
    monkeypatch.setattr("vivavoce.run.building.evidence._quotes", lambda item: ["five", "evel of <b>"])
    for page in pages(run).values():
        assert ["five"] == re.findall("<mark>(.*?)</mark>", page)
        assert "The passage does not hold this quote: evel of <b></p>" in page


def test_an_item_without_links_has_no_evidence(run, passages):
    run.build("cliniqlink", from_=[passages], model=MODEL, formats=["short"])
    item = Item(benchmark="b", item="x", format="short", question="?", meta={"passage": 5, "quote": 7})
    with run.file.reading() as db:
        sources = read_sources(db, [item])
    assert ((), (), ()) == sources.evidence(item)[1:]
    assert json.loads(run.items.to_dicts()[0]["meta"])["passage"] == "aspirin"
