"""Citations: whether each is in the local source, what it says of the fact, and what nobody knows."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.errors import SpecError
from vivavoce.facts.checker import NO_PASSAGE, Claim
from vivavoce.facts.checkers import checker_of
from vivavoce.facts.citations import Citation, citation_texts, existence, looked_up, support_value
from vivavoce.facts.cited_checker import CitedChecker
from vivavoce.facts.fact import Verdict
from vivavoce.retrieval.index import Source, open_source

IRON = "Iron tablets are taken by mouth. They can darken the stool. Not for clinical use."
ROWS = [
    {
        "title": "Metformin in brief",
        "url": "https://www.example.org/Metformin/",
        "text": "Metformin lowers blood glucose.",
    },
    {
        "title": "Insulin",
        "url": "https://example.org/insulin?a=1",
        "text": "Insulin is injected under the skin.",
    },
]
FACT = "Metformin lowers blood glucose."


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("source")
    (folder / "iron.txt").write_text(IRON, encoding="utf-8")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return open_source(folder, cache=tmp_path_factory.mktemp("cache"))


@each_case(
    ("entry", "citation"),
    [
        ("https://example.org/a", Citation(url="https://example.org/a")),
        ("A textbook", Citation(title="A textbook")),
        ({"url": "https://example.org/a", "title": "A"}, Citation("A", "https://example.org/a")),
        (
            {"type": "url_citation", "url_citation": {"url": "https://example.org/a", "title": "A"}},
            Citation("A", "https://example.org/a"),
        ),
        ({"type": "char_location", "document_title": "A", "cited_text": "words"}, Citation("A", "", "words")),
        ({"source": "https://example.org/a"}, Citation(url="https://example.org/a")),
        ({"title": 7, "url": None, "quote": ["x"]}, None),
        ({}, None), ("", None), (" ", None), (3, None), (None, None), ([["a"]], None),
    ],
)  # fmt: skip
def test_citations_are_read_in_the_shapes_that_endpoints_return(
    entry: Any, citation: Citation | None
) -> None:
    assert ((citation,) if citation else ()) == citation_texts([entry])


def test_a_citation_is_read_once() -> None:
    assert 1 == len(citation_texts(["https://example.org/a", {"url": "https://example.org/a"}]))


@pytest.mark.parametrize(
    "citation",
    [
        Citation(title="iron.txt"),
        Citation(title="IRON.TXT"),
        Citation(title="docs/iron.txt"),
        Citation(title="metformin  in brief"),
        Citation(url="http://example.org/metformin#dose"),
        Citation(title="Another title", url="https://example.org/insulin?a=1"),
        Citation(quote="They can\ndarken the stool."),
    ],
)
def test_a_citation_exists_by_name_title_address_or_words(source: Source, citation: Citation) -> None:
    assert True is existence(citation, source).exists


@pytest.mark.parametrize(
    "citation",
    [
        Citation(title="iron"),
        Citation(title="rows"),
        Citation(url="https://example.org/"),
        Citation(url="https://example.org/iron.txt"),
        Citation(url="https://example.org/insulin?a=2"),
        Citation(quote="They darken the stool."),
    ],
)
def test_a_citation_that_only_looks_like_one_does_not_exist(source: Source, citation: Citation) -> None:
    result = existence(citation, source)
    assert (False, f"{citation.label} is not in the source {source.name}") == result[:2]


def test_without_a_source_nobody_knows(source: Source) -> None:
    result = existence(Citation(title="iron.txt"), None)
    assert (None, "no local source to look it up in") == result[:2]
    lookup = looked_up(FACT, [Citation(url="https://example.org/invented")], None)
    assert (None, "no local source to look it up in", None) == lookup[:3]


def test_a_reply_that_cites_nothing_has_no_share(source: Source) -> None:
    assert (None, "the reply cites nothing", None) == looked_up(FACT, citation_texts([{}]), source)[:3]


def test_the_share_of_citations_that_exist(source: Source) -> None:
    cited = citation_texts(["https://example.org/metformin", "https://example.org/invented"])
    lookup = looked_up(FACT, cited, source)
    assert (0.5, f"https://example.org/invented is not in the source {source.name}") == lookup[:2]
    assert lookup.claim is not None
    (passage,) = lookup.claim.passages or ()
    assert "rows.jsonl#1" == passage.file
    assert passage.quote.endswith(FACT)


def test_only_cited_documents_are_shown(source: Source) -> None:
    """The source says it elsewhere, but what is cited does not."""
    lookup = looked_up(FACT, [Citation(title="iron.txt")], source)
    assert (1.0, None, Claim(FACT, ())) == lookup[:3]


def test_cited_words_are_shown_with_their_place(source: Source) -> None:
    lookup = looked_up("Iron darkens the stool.", [Citation(quote="They can darken the stool.")], source)
    assert lookup.claim is not None
    assert ("iron.txt", IRON.index("They"), "They can darken the stool.") == (
        lookup.claim.passages[0].file, lookup.claim.passages[0].offset, lookup.claim.passages[0].quote,
    )  # type: ignore[index]  # fmt: skip


@each_case(
    ("verdict", "value"),
    [
        (Verdict("supported"), 1.0),
        (Verdict("contradicted"), 0.0),
        (NO_PASSAGE, 0.0),
        (Verdict("unverifiable", "no passage decides it, the checker says"), 0.0),
        (Verdict("unverifiable", "no passage entails or contradicts it"), 0.0),
        (Verdict("unverifiable", "the reply is empty"), None),
        (Verdict("unverifiable", "the quote stands in no passage"), None),
        (Verdict("bad", "the reply is empty"), None),
    ],
)
def test_what_could_not_be_read_is_no_support_and_no_lack_of_it(
    verdict: Verdict, value: float | None
) -> None:
    assert value == support_value(verdict)


def test_a_citing_endpoint_is_asked_for_a_word_and_its_sources() -> None:
    checker = checker_of("cited(model=openai/m)")
    assert isinstance(checker, CitedChecker)
    assert ("openai/m", False, "openai/m") == (
        str(checker.model),
        checker.takes_passages,
        str(checker.support.model),
    )
    (call,) = checker.calls([Claim(FACT)])
    assert "cite the sources" in call.request.messages[0].content
    assert (Verdict("true"),) == call.reader("True [1][2]")
    assert call.request.key != checker_of("openai/m").calls([Claim(FACT)])[0].request.key


def test_another_checker_decides_what_the_citations_say(tmp_path: Path) -> None:
    checker = checker_of(f"cited(model=openai/m(temperature=0.5), support=nli(weights='{tmp_path}'))")
    assert isinstance(checker, CitedChecker)
    assert tmp_path in checker.files
    assert "facts_cited" in {file.stem for file in checker.files}


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("cited()", "cited needs a model that cites"),
        ("cited(model=recorded(file=a.jsonl))", "cited needs a model that cites"),
        ("cited(model=openai/m, support=recorded(file=a.jsonl))", r"support takes a model, or nli"),
        ("cited(model=openai/m, modle=x)", "cited has no setting 'modle'. Did you mean 'model'"),
        ("cited(model=7)", "model takes text or a spec"),
    ],
)
def test_what_does_not_cite_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        checker_of(spec)


def test_several_facts_share_no_citations() -> None:
    with pytest.raises(SpecError, match="citations belong to one fact each: leave per_call out"):
        checker_of("cited(model=openai/m)", per_call=2)
