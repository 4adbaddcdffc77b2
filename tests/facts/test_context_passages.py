"""A context and an answer as evidence: every sentence is shown, and stands where the passage says."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vivavoce.core.records import Item
from vivavoce.facts.checkers import checker_of
from vivavoce.facts.context_passages import context_passages, statement_claim

ITEM = Item(benchmark="b", item="note 7", format="longform", question="What next?")
NOTE = "The patient takes iron.\nNo allergy is known. " * 40


def test_a_context_is_cut_into_passages_that_stand_in_it() -> None:
    passages = context_passages(replace(ITEM, context=NOTE))
    assert len(passages) > 1
    for passage in passages:
        assert passage.offset is not None
        assert passage.quote == NOTE[passage.offset : passage.offset + len(passage.quote)]
        assert ("context", "note 7", None, "shown") == (
            passage.source, passage.file, passage.page, passage.bearing,
        )  # fmt: skip
    assert 1 == len({passage.version for passage in passages})


@given(st.text(max_size=300))
def test_no_word_of_a_context_is_left_out(text: str) -> None:
    passages = context_passages(replace(ITEM, context=text))
    covered = {
        place
        for passage in passages
        for place in range(passage.offset or 0, (passage.offset or 0) + len(passage.quote))
    }
    assert {k for k, sign in enumerate(text) if sign.isalnum() and sign.isascii()} <= covered


def test_an_item_without_a_context_gives_no_passage_and_nobody_is_asked() -> None:
    for context in (None, "", " \n", "…"):
        assert () == context_passages(replace(ITEM, context=context))


def test_an_answer_is_the_only_evidence_that_it_makes_a_statement() -> None:
    claim = statement_claim("Iron is given.", "Give iron by mouth. Check ferritin.")
    (call,) = checker_of("openai/m").calls([claim])
    (verdict,) = call.reader('{"verdict": "supported", "passage": 1, "quote": "Give iron by mouth."}')
    assert ("supported", "answer", 0) == (
        verdict.word, verdict.evidence[0].source, verdict.evidence[0].offset,
    )  # fmt: skip


def test_a_blank_answer_makes_no_statement() -> None:
    checker = checker_of("openai/m")
    claim = statement_claim("Iron is given.", " ")
    assert () == checker.calls([claim])
    verdict = checker.immediate_verdict(claim)
    assert verdict is not None
    assert "unverifiable" == verdict.word
