"""The confidence that a response states: what is read, what is not guessed, what is cut from the answer."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce import formats
from vivavoce.core.prompts import load
from vivavoce.core.text import spoken
from vivavoce.reading.confidence import read_confidence, restored, stated_confidence, without_confidence
from vivavoce.testing.metric import _items, _responses


@each_case(
    ("line", "probability"),
    [
        ("Confidence: 85%", 0.85),
        ("Confidence: 85 %", 0.85),
        ("confidence: 85", 0.85),
        ("CONFIDENCE = 85 percent", 0.85),
        ("**Confidence:** 85%", 0.85),
        ("**Confidence: 85%**", 0.85),
        ("- Confidence: `85%`.", 0.85),
        ("> Confidence: ~85%", 0.85),
        ("3. Confidence: about 85 per cent", 0.85),
        ("My confidence in this answer is 85%.", 0.85),
        ("Confidence level: high (85%)", 0.85),
        ("Confidence: I am 85% sure", 0.85),
        ("Confidence: 85% (based on three trials)", 0.85),
        ("Confidence (0-100): 85", 0.85),
        ("Confidence (%): 5", 0.05),
        ("Confidence: 85 on a scale of 0 to 100%", 0.85),
        ("Confidence: 85/100", 0.85),
        ("Confidence: 8 out of 10", 0.8),
        ("Confidence: 0.85/1", 0.85),
        ("Confidence (0-1): 0.85", 0.85),
        ("Confidence (0.0–1.0): 1", 1.0),
        ("Confidence: 0.85 (probability)", 0.85),
        ("Confidence: 0,85 on a scale from 0 to 1", 0.85),
        ("Confidence: 85,5 %", 0.855),
        ("Confidence: 99.5%", 0.995),
        ("Confidence: 0%", 0.0),
        ("Confidence: 0", 0.0),
        ("Confidence: 1%", 0.01),
        ("Confidence: 100", 1.0),
        ("Confidence:\n85%", 0.85),
        ("**Confidence**\u00a0: 85\u202f%", None),
        ("Confidence：８５％", 0.85),
        ("Confidence: ٨٥٪", 0.85),
        ("Confiance : 85 %", 0.85),
        ("Confianza: 85 por ciento", 0.85),
        ("Konfidenz: 85 Prozent", 0.85),
        ("置信度：85%", 0.85),
        ("置信度：约85%", 0.85),
        (r"Confidence: $85\%$", 0.85),
    ],
)
def test_a_probability_is_read_in_every_usual_way_of_saying_it(line, probability):
    """A blank that does not break before a colon is not read as one; all else is."""
    found = stated_confidence(f"B. Heparin\n\n{line}")
    assert probability == (None if found.silent else pytest.approx(found.value))


@each_case(
    ("line", "why"),
    [
        ("Confidence: 0.85", "names no scale"),
        ("Confidence: 0,9", "names no scale"),
        ("Confidence: 1", "names no scale"),
        ("Confidence: 1.0", "names no scale"),
        ("Confidence: 8", "names no scale"),
        ("Confidence: 0.9%", "may be a probability or below 1 %"),
        ("Confidence: high", "'high' is no number"),
        ("Confidence: eighty-five percent", "is no number"),
        ("Confidence:", "'' is no number"),
        ("Confidence: 120%", "not between 0 and 100"),
        ("Confidence: 120", "not between 0 and 100"),
        ("Confidence: -5%", "not between 0 and 100"),
        ("Confidence (0-1): 85", "not between 0 and 1"),
        ("Confidence: 11/10", "not between 0 and 10"),
        ("Confidence: 4/5", "out of none of"),
        ("Confidence (1-5): 4", "on a scale that is neither"),
        ("Confidence: 4 on a scale of 1 to 5", "on a scale that is neither"),
        ("Confidence: 80-90%", "a limit or a range"),
        ("Confidence: 80% to 90%", "a limit or a range"),
        ("Confidence: 80 ± 5%", "a limit or a range"),
        ("Confidence: >95%", "a limit or a range"),
        ("Confidence: at least 90%", "a limit or a range"),
        ("Confidence: 95%+", "a limit or a range"),
        ("Confidence: 1,000%", "thousands or decimals"),
        ("Confidence: 60% for B, 40% for A", "more than one number"),
        ("Confidence: 85, 90", "more than one number"),
        ("Confidence: 85 or 90", "more than one number"),
        ("Confidence: 90% of patients", "cannot be read"),
        ("Confidence: 85.5.5%", "cannot be read"),
        ("Confidence: NN%", "repeats the request"),
        ("Confidence: [number]%", "repeats the request"),
    ],
)
def test_what_could_mean_two_things_is_unreadable_and_says_why(line, why):
    found = stated_confidence(f"B. Heparin\n{line}")
    assert found.value is None
    assert not found.silent
    assert why in found.reason


@each_case(
    "text",
    [
        "",
        "B",
        "Heparin, with a 95% confidence interval of 1.2 to 3.4.",
        "Confidence interval: 95%",
        "Confidence limits: 1.2 and 3.4",
        "I have confidence in heparin: 95% of the patients tolerate it.",
        "<think>Confidence: 20%</think>B",
        "B\n<think>Confidence: 20%",
        "<think>\nConfidence: 20%\n</think>\nB",
    ],
)
def test_what_states_no_confidence_is_silent_and_loses_nothing(text):
    assert (None, True) == (stated_confidence(text).value, stated_confidence(text).silent)
    assert (text, ()) == without_confidence(text)


def test_a_line_in_thinking_never_counts():
    text = "<think>I guess.\nConfidence: 20%\n</think>B\nConfidence: 70%"
    assert 0.7 == stated_confidence(text).value
    assert ("<think>I guess.\nConfidence: 20%\n</think>B") == without_confidence(text)[0]


@pytest.mark.parametrize(
    ("text", "probability"),
    [
        ('{"answer": "B", "confidence": "85%"}', 0.85),
        ('```json\n{"answer": "B",\n "Confidence": 85}\n```', 0.85),
        ('<think>{"confidence": 20}</think>{"answer": "B", "confidence": 85}', 0.85),
        ('{"answer": "B", "confidence": 0.85}', None),
        ('{"answer": "B", "confidence": "high"}', None),
        ('{"answer": "B", "confidence": null}', None),
        ('{"answer": "B", "confidence": [85, 90]}', None),
    ],
)
def test_an_object_of_json_states_it_under_its_key_and_stays_whole(text, probability):
    found = stated_confidence(text)
    assert (probability, False) == (found.value, found.silent)
    assert (text, ()) == without_confidence(text)


def test_equal_lines_are_one_and_of_different_ones_the_last_counts_at_the_end_alone():
    assert 0.6 == stated_confidence("Confidence: 60%\nB\nConfidence: 60 %").value
    assert 0.7 == stated_confidence("Confidence: 60%\nB\nConfidence: 70%").value
    nowhere = stated_confidence("Confidence: 60%\nConfidence: 70%\nso it is B")
    assert (None, "it states 2 different confidences, and none at its end") == nowhere[:2]


def test_an_answer_that_repeats_the_request_states_its_own_number_or_none():
    request = load("confidence").text
    assert "repeats the request" in stated_confidence(f"B\n{request}").reason
    assert 0.4 == stated_confidence(f"{request}\n\nB\nConfidence: 40%").value
    assert "NN%" not in without_confidence(f"{request}\n\nB\nConfidence: 40%")[0]


@each_case(
    ("text", "answer"),
    [
        ("B\nConfidence: 85%", "B"),
        ("B\r\n\r\nConfidence: 85%\r\n", "B\n"),
        ("B. Heparin (confidence: 85%)", "B. Heparin"),
        ("B. Heparin. Confidence: 85%.", "B. Heparin."),
        ("Confidence: 85%\n\nB", "\n\nB"),
        ("Confidence: 85%", ""),
        ("B\nConfidence: high", "B"),
        ("Confidence: moderate\nas GRADE has it. Give heparin.", None),
        ('{"answer": "B",\n"confidence": 85}', None),
    ],
)
def test_the_line_is_cut_from_the_answer_and_nothing_else_is(text, answer):
    assert (text if answer is None else answer) == without_confidence(text)[0]


def _answers():
    return [(item, text) for item in _items() for text in _responses(item)]


@each_case(("item", "text"), _answers())
@each_case(
    "line", ["\n\nConfidence: 85%", "\nConfidence: 0.9", "\n**Confidence: high**", "\nConfidence: NN%"]
)
def test_every_format_reads_an_answer_as_it_would_without_the_line(item, text, line):
    asked = without_confidence(f"{text}{line}")[0]
    assert formats.read_response(item, text) == formats.read_response(item, asked)


_pieces = st.sampled_from(
    ["Confidence: 85%", "Confidence: 0.9", "confidence:", "\n", "\r\n", " ", "<think>", "</think>", "B", "**",
     "(", ")", "NN%", "high", "- ", "1. ", "Konfidenz: 5 %", "\u2028", "é", "٨"]
)  # fmt: skip


@example("\u2028Confidence: 85%<think>")
@given(st.lists(_pieces, max_size=14).map("".join))
def test_what_was_cut_can_be_put_back_and_thinking_is_never_cut(text):
    answer, cuts = without_confidence(text)
    assert text == restored(answer, cuts)
    assert spoken(text).thought == spoken(answer).thought
    value = stated_confidence(text).value
    assert value is None or 0 <= value <= 1
    assert stated_confidence(text) == stated_confidence(restored(answer, cuts))


@each_case(
    "piece", ["\n", " ", "-", "> ", "Confidence: ", "Confidence: 8\n", "Confidence: - ", "x Confidence: "]
)
def test_a_hostile_text_takes_no_longer_than_its_length(piece):
    """A quadratic rule would take minutes here."""
    text = piece * (60_000 // len(piece))
    assert text == restored(*without_confidence(text))
    assert stated_confidence(text).value is None


@pytest.mark.parametrize(
    ("cell", "probability"), [("85%", 0.85), ("Confidence: 85", 0.85), ("high", None), ("0.85", None)]
)
def test_a_cell_is_read_with_and_without_the_label(cell, probability):
    assert probability == read_confidence(cell).value
