"""Sixty facts and the documents that bear them, over thirty documents of all kinds."""

import pytest
from tests.retrieval.library import FACTS, NOTES, WITHOUT, write_library

from vivavoce.retrieval.index import open_source


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("thirty")
    return open_source(write_library(path / "library"), cache=path / "cache")


def test_thirty_documents_of_all_kinds_and_sixty_facts(library):
    assert (30, 60, 60) == (len(library.documents), len(FACTS), len(set(FACTS)))
    kinds = {document["file"].rpartition(".")[2] for document in NOTES["documents"]}
    assert {"txt", "md", "jsonl", "html", "pdf"} == kinds
    assert {document.name for document in library.documents} == {fact.document for fact in FACTS}
    assert () == library.skipped
    assert all("Not for clinical use" in " ".join(" ".join(d.texts).split()) for d in library.documents)


def test_the_right_passage_is_among_five_for_nine_facts_of_ten(library):
    places = []
    for fact in FACTS:
        files = [passage.file for passage in library.search(fact.text, 5)]
        places.append(files.index(fact.document) if fact.document in files else None)
    assert sum(place is not None for place in places) >= 0.9 * 60
    assert sum(place == 0 for place in places) >= 0.8 * 60


@pytest.mark.parametrize("text", WITHOUT)
def test_a_fact_without_a_passage_has_no_hit(library, text):
    assert () == library.search(text)
