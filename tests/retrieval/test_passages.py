"""Passages are whole sentences, about as long as a paragraph, and stand in the text as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.retrieval.passages import MOST_CHARACTERS, MOST_WORDS, passage_spans

SENTENCE = "The dose is 2.5 mg, e.g. for Dr. Smith, in ten words. "


def texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in passage_spans(text)]


def test_a_short_text_is_one_passage_without_the_blanks_around_it():
    assert ["One. Two.\n\nThree."] == texts("  One. Two.\n\nThree.\n ")


@pytest.mark.parametrize("text", ["", " \n", "....", "—\n—"])
def test_a_text_without_words_has_none(text):
    assert [] == texts(text)


def test_sentences_stay_whole_and_the_last_one_comes_again():
    passages = texts(SENTENCE * 40)
    assert len(passages) > 2
    assert all(p.startswith("The dose") and p.endswith("words.") for p in passages)
    assert len(passages) * 120 > 40 * 12 + 12 * (len(passages) - 1) > len(passages) * 80


def test_lines_broken_anywhere_break_no_sentence():
    wrapped = SENTENCE.replace(" ", "\n") * 40
    assert [p.replace("\n", " ") for p in texts(wrapped)] == texts(SENTENCE * 40)


def test_a_long_passage_ends_with_its_paragraph():
    first, second = "Alpha beta gamma delta epsilon. " * 19, "Zeta eta theta. " * 5
    assert [first.strip(), second.strip()] == texts(f"{first}\n\n{second}")
    assert 1 == len(texts(f"{first[:320]}\n\n{second}"))


def test_entries_of_a_list_are_no_single_sentence():
    entries = [f"- entry {k} of a list without a full stop" for k in range(40)]
    for passage in texts("\n".join(entries)):
        assert set(passage.split("\n")) <= set(entries)


def test_an_endless_line_is_cut_hard_between_words():
    passages = texts("word " * 1000)
    assert [MOST_WORDS] * 8 + [40] == [len(p.split()) for p in passages]
    assert {"word"} == {word for p in passages for word in p.split()}


@pytest.mark.parametrize("text", ["x" * 10_000, "漢" * 10_000, "w" + "." * 10_000, "-" * 5_000 + "w"])
def test_an_endless_word_is_cut_too(text):
    assert all(len(p) <= MOST_CHARACTERS for p in texts(text))


@given(st.text(alphabet="ab. \n\u3042。!?A1-\t\u0301", max_size=2000))
def test_every_word_is_in_a_passage_and_passages_go_forwards(text):
    spans = passage_spans(text)
    assert all(0 <= s.start < s.end <= len(text) for s in spans)
    assert [s.start for s in spans] == sorted(s.start for s in spans)
    assert all(text[s.start : s.end].strip() == text[s.start : s.end] for s in spans)
    covered = {k for s in spans for k in range(s.start, s.end)}
    assert all(k in covered for k, c in enumerate(text) if c.isalnum())


@each_case("piece", ["a", ". ", "A. ", "\n", "\n \n", "a\n", ".\n", "。", "- ", "\n- a", "( ", "a " * 5])
def test_time_grows_with_length_and_no_faster(piece):
    assert growth(passage_spans, Hostile(piece).text) <= STEEPEST
