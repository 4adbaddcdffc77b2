"""DAHL's recipe: articles become questions; what a filter would drop waits for a person."""

import json
import shutil

import pytest
from tests.building.conftest import check_sums, counts, dropped
from tests.building.fake_writer import part
from tests.building.papers import write_paper

from vivavoce.core.errors import InputError
from vivavoce.retrieval.documents import Unusable
from vivavoce.retrieval.jats import jats_document

MODEL = "vllm/m"
ARTICLE = """<?xml version="1.0"?>
<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{kind}"><front><article-meta><title-group>
<article-title>{title}</article-title></title-group>
<abstract><p>{abstract} <xref ref-type="bibr">1</xref></p></abstract>
<abstract abstract-type="graphical"><p>A picture.</p></abstract></article-meta></front>
<body><sec><title>Introduction</title><p>Bile acids rise in cholestasis.</p>
<table-wrap><caption><p>A table of numbers.</p></caption></table-wrap>
<sec><title>Aims</title><p>To measure <italic>them</italic> well.</p></sec></sec>
<sec><title>Methods</title><p>Serum was taken at 8 &#181;l.</p></sec></body>
<back><ref-list><ref><mixed-citation>Smith J. Cited.</mixed-citation></ref></ref-list></back></article>"""


def article(path, title="Bile acids", abstract="Cholestasis and its markers.", kind="research-article"):
    path.write_text(ARTICLE.format(title=title, abstract=abstract, kind=kind), encoding="utf-8")
    return path


def rule(prompt):
    if prompt.startswith("Name the one medical field"):
        clear = "ambiguous" not in part(prompt, "title")
        return {"category": "Pharmacology" if "drug" in prompt else "biochemistry", "clear": clear}
    if prompt.startswith("Write questions for an examination of medical knowledge"):
        title = part(prompt, "title")
        return {"questions": [f"How is {title} explained in patients with cholestasis?",
                              f"What did the study find about {title}?"]}  # fmt: skip
    return None


@pytest.fixture
def articles(tmp_path, writer):
    writer.rules = [rule]
    folder = tmp_path / "papers"
    folder.mkdir()
    article(folder / "one.xml")
    article(folder / "two.xml", title="An ambiguous marker", abstract="Something else.")
    return folder


def build(run, folder, **options):
    return run.build("dahl", from_=[folder], model=MODEL, **options)


def test_articles_become_questions_and_what_a_rule_hits_waits_for_a_person(run, articles, tmp_path):
    article(articles / "retracted.xml", kind="retraction", title="RETRACTED: a paper")
    shutil.copy(articles / "one.xml", articles / "zz-copy.xml")
    (articles / "bomb.xml").write_text(
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><article>&x;</article>'
    )
    finding = build(run, articles)
    assert [("parse", 0, 2, 3), ("categorise", 2, 2, 0), ("write", 2, 4, 0), ("duplicates", 4, 4, 0),
            ("filter", 4, 4, 0)] == counts(finding.rows, "n_in", "n_out", "dropped")  # fmt: skip
    check_sums(finding.rows, run)
    assert [
        (
            "parse",
            "bomb",
            "it cannot be read",
            "it declares entities, which no article needs: it is not read",
        ),
        ("parse", "retracted", "it is retracted, or a notice of retraction", ""),
        ("parse", "zz-copy", "it repeats another article", "one.xml"),
    ] == dropped(run)
    items = run.items.to_dicts()
    assert ["one", "one", "two", "two"] == [item["group"] for item in items]
    assert {"longform"} == {item["format"] for item in items}
    assert {"biochemistry"} == {item["category"] for item in items}
    reviews = {item["question"]: json.loads(item["meta"]).get("review", []) for item in items}
    assert {
        "How is Bile acids explained in patients with cholestasis?": 0,
        "What did the study find about Bile acids?": 1,
        "How is An ambiguous marker explained in patients with cholestasis?": 1,
        "What did the study find about An ambiguous marker?": 2,
    } == {question: len(reasons) for question, reasons in reviews.items()}
    assert (
        "the category of its article is ambiguous"
        == reviews["What did the study find about An ambiguous marker?"][0]
    )


def test_a_new_article_brings_only_its_questions(run, articles, writer):
    build(run, articles)
    before, n = set(run.items["item"]), sum(writer.seen.values())
    article(articles / "new.xml", title="A drug for the liver", abstract="Other words.")
    build(run, articles)
    new = set(run.items["item"]) - before
    assert 2 == len(new)
    assert all(name.startswith("new-") for name in new)
    assert before <= set(run.items["item"])
    assert n + 2 == sum(writer.seen.values())
    assert 1 == max(writer.seen.values())


def test_a_pdf_is_read_without_its_references(run, articles, writer, tmp_path):
    lines = ["Cholestasis in adults", *["Bile acids rise in cholestasis for many reasons here."] * 20,
             "References", "1. Smith J. A title of another."]  # fmt: skip
    write_paper(articles / "three.pdf", [[lines]], header="")
    build(run, articles, until="parse")
    build(run, articles, until="categorise")
    assert any("Bile acids rise" in text and "three" not in text for text in writer.seen)
    assert not any("Smith J." in text for text in writer.seen)


def test_long_articles_are_cut_between_sections_and_long_sections_between_words(run, articles, tmp_path):
    from vivavoce.systems.dahl.step.articles import _packed

    sections = ["a " * 60, "b " * 60, "c " * 250, "d"]
    packed = list(_packed([s.strip() for s in sections], 100))
    assert [(1, 1), (2, 2), (3, 3), (3, 3), (3, 4)] == [(first, last) for first, last, _ in packed]
    assert " ".join(sections).split() == " ".join(text for *_, text in packed).split()
    assert max(len(text.split()) for *_, text in packed) <= 100
    assert [] == list(_packed([], 100))


def test_an_article_keeps_title_abstract_and_sections_and_nothing_that_it_cites(tmp_path):
    document, reason = jats_document(article(tmp_path / "a.xml"), "a.xml")
    assert "" == reason
    assert "Bile acids" == document.title
    assert (
        "Abstract\n\nCholestasis and its markers.",
        "Introduction\n\nBile acids rise in cholestasis.\n\nTo measure them well.",
        "Methods\n\nSerum was taken at 8 \u00b5l.",
    ) == document.texts


BOMB = '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><article><body><p>&b;</p></body></article>'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, "it declares entities"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><article><body/></article>', "no abstract and no section"),
        ("<article><body><p>unclosed", "cannot be read as XML"),
        ("<html><body>x</body></html>", "no article in it"),
        ("", "cannot be read as XML"),
        ("<a>" * 400 + "</a>" * 400, "cannot be read as XML|no article"),
    ],
)
def test_xml_that_is_no_article_or_reaches_for_files_is_refused(tmp_path, text, sentence):
    path = tmp_path / "x.xml"
    path.write_text(text)
    with pytest.raises(Unusable, match=sentence):
        jats_document(path, "x.xml")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda p: p.mkdir(), r"no file in .* ends in .nxml or .pdf or .xml"),
        (lambda p: None, "nothing lies at"),
        (lambda p: p.write_text("x"), "no kind that is read here"),
    ],
)
def test_folders_without_articles_are_one_sentence(run, writer, tmp_path, make, sentence):
    place = tmp_path / "place"
    make(place)
    with pytest.raises(InputError, match=sentence):
        build(run, place)
    assert not run.file.exists


def test_none_that_can_be_read_is_one_sentence_with_the_reasons(run, writer, tmp_path):
    (tmp_path / "a.xml").write_text("<x/>")
    with pytest.raises(InputError, match=r"none of the articles can be used: a.xml: no article in it"):
        build(run, tmp_path / "a.xml")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"questions": []}, "no question"),
        ({"questions": [f"What is number {k} of them?" for k in range(9)]}, "9 questions, and at most 5"),
        (
            {"questions": ["¿Qué es la colestasis y por qué aparece en los adultos?"]},
            "it is written in Spanish",
        ),
        ({"questions": "What is it?"}, "no list of texts under 'questions'"),
    ],
)
def test_a_model_that_writes_no_usable_question_drops_its_article_with_the_reason(
    run, articles, writer, reply, reason
):
    writer.manners = {"Cholestasis and its": [{"category": "biochemistry", "clear": True}, reply]}
    build(run, articles, until="write")
    (line,) = dropped(run)
    assert ("write", "one", "no usable reply to write questions from it") == line[:3]
    assert reason in line[3]


def test_a_category_that_is_not_on_the_list_is_no_category(run, articles, writer):
    writer.manners = {"Cholestasis and its": [{"category": "Astrology", "clear": True}]}
    build(run, articles, until="categorise")
    ((step, name, _, detail),) = dropped(run)
    assert ("categorise", "one") == (step, name)
    assert "'astrology' is none of the categories" in detail
