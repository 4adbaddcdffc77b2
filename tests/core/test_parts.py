"""The parts of an answer: what is said in the end, where thinking came, and how it ended."""

import pytest

from vivavoce.core.errors import InputError
from vivavoce.core.parts import MARKS, Parts, reasoning_marks
from vivavoce.core.records import Response

OWN = ("«plan»", "«go»")


def answer(text: str | None, **fields: object) -> Response:
    return Response(benchmark="exam", item="q1", candidate="A", text=text, **fields)  # type: ignore[arg-type]


def test_an_answer_without_thinking_is_its_own_final_part() -> None:
    assert Parts("Answer: B", "none", None) == answer("Answer: B").parts
    assert Parts("Answer: B", "none", "complete") == answer("Answer: B", finish_reason="stop").parts
    assert Parts("", "none", None) == answer("").parts
    assert Parts("", "none", None) == answer(None, status="failed").parts
    assert Parts("", "none", "filtered") == answer(None, status="filtered").parts


def test_thinking_in_the_text_is_no_part_of_what_is_said_in_the_end() -> None:
    assert Parts("B", "in its text", None) == answer("<think>A?</think>B").parts
    assert "B" == answer("<think>A?</think>B<|im_end|>").final_text


def test_an_answer_that_is_cut_says_where() -> None:
    ended = {
        ("Answer: B", "length"): Parts("Answer: B", "none", "cut"),
        ("<think>A? B?", "length"): Parts("", "in its text", "thinking"),
        ("<think>A? B?", None): Parts("", "in its text", "thinking"),
        ("<think>A</think>", "max_tokens"): Parts("", "in its text", "thinking"),
        ("<think>A</think>B and", "length"): Parts("B and", "in its text", "cut"),
        ("Some", "content_filter"): Parts("Some", "none", "filtered"),
    }
    assert ended == {key: answer(key[0], finish_reason=key[1]).parts for key in ended}


def test_thinking_beside_the_text_explains_why_nothing_was_said() -> None:
    beside = answer("", finish_reason="length", reasoning="A? B?")
    assert Parts("", "beside it", "thinking") == beside.parts
    counted = answer("", finish_reason="length", meta={"reasoning_tokens": 16})
    assert Parts("", "beside it", "thinking") == counted.parts
    assert Parts("", "none", "cut") == answer("", finish_reason="length").parts


def test_marks_of_a_model_of_its_own_part_its_answers() -> None:
    own = answer("«plan»The answer is A? No.«go»B", meta={MARKS: OWN})
    assert ("B", "«plan»The answer is A? No.«go»B") == (own.with_parts().final, own.text)
    lone = answer("The answer is A? No.«go»B", meta={MARKS: OWN})
    assert "B" == lone.final_text
    still_open = answer("«plan»The answer is A", meta={MARKS: OWN})
    assert Parts("", "in its text", "thinking") == still_open.parts
    known_too = answer("<think>A</think>B", meta={MARKS: OWN})
    assert "B" == known_too.final_text


def test_parts_that_are_stored_stay_whatever_the_marks_are_today() -> None:
    stored = answer("~A~B", final="B", ending="complete")
    assert stored == stored.with_parts()
    assert Parts("B", "in its text", "complete") == stored.parts


def test_a_question_for_reasoning_keeps_what_a_tag_holds() -> None:
    text = "<reasoning>First, heat.</reasoning>So it stops."
    assert text == (answer(text).with_parts("multi_hop").final or text)
    assert "So it stops." == answer(text).with_parts("mcq").final


@pytest.mark.parametrize("given", [["a"], ["a", "b", "c"], ["", "b"], ["a", 1], "ab", [" ", "b"]])
def test_marks_that_are_no_two_texts_are_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"^--reasoning-marks takes the opening and the closing mark"):
        reasoning_marks(given, "--reasoning-marks")  # type: ignore[arg-type]


def test_marks_must_differ_and_may_be_absent() -> None:
    assert reasoning_marks(None, MARKS) is None
    assert ("a", "b") == reasoning_marks([" a ", "b"], MARKS)
    with pytest.raises(InputError, match="is the one that opens it"):
        reasoning_marks(["a", "a"], MARKS)
