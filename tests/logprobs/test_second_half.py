"""second_half: where a question is cut, what is asked of it, and what is made of what was told."""

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.logprobs.second_half import Completion, halves
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Likelihood, Reply

WORDS = " ".join(f"word{n:02}" for n in range(20))
"""20 words of six letters with 19 blanks: 139 characters, the tenth blank being in the middle."""
PROBE = Completion()


def item(question: str = WORDS, **fields: Any) -> Item:
    return Item(**{"benchmark": "b", "item": "q", "format": "short", "question": question, **fields})


def told(
    logprob: float, tokens: int, verbatim: int | None = None, of: Item | None = None
) -> Mapping[str, Any]:
    reply = Reply(text="", likelihoods=(Likelihood(logprob, tokens, verbatim),), tokeniser="t")
    found = PROBE.to_record(of or item(), (), [reply])
    again: Mapping[str, Any] = json.loads(json.dumps(found, allow_nan=False))  # as it is stored
    return again


def mark(said: Mapping[str, Any]) -> Mapping[str, Value]:
    row = Row(item(), Response(benchmark="b", item="q", candidate="c"), Reading("ok", said))
    (values,) = registry.build("metric", "second_half").values([row], ScoringContext())
    made: Mapping[str, Value] = values
    return made


# where it is cut


def test_a_question_is_cut_before_the_blank_nearest_to_its_middle() -> None:
    """Blanks stand at 6, 13, …, 132; the middle of 139 is 69.5, and the nearest blank stands at 69."""
    first, second = halves(WORDS) or ("", "")
    assert (69, " word10") == (len(first), second[:7])
    assert WORDS == first + second


def test_of_two_blanks_as_near_the_first_is_taken() -> None:
    """43 characters: the blanks at 20 and 23 are both 1.5 from the middle."""
    text = "aa " + "a " * 9 + "bb" + " a" * 10
    assert (43, " ", " ") == (len(text), text[20], text[23])
    first, second = halves(text) or ("", "")
    assert (20, text) == (len(first), first + second)


def test_white_space_around_a_question_moves_nothing() -> None:
    assert halves(WORDS) == halves(f"\n {WORDS}\n\n")


def test_a_break_of_lines_stays_as_it_is() -> None:
    text = WORDS[:69] + "\n\n" + WORDS[70:]
    assert (WORDS[:69], "\n\n" + WORDS[70:]) == halves(text)


@pytest.mark.parametrize(("text", "there"), [("", False), ("a " * 19, False), ("a " * 20, True)])
def test_fewer_than_20_words_are_no_text_to_know_by_heart(text: str, there: bool) -> None:
    assert there is (halves(text) is not None)
    assert there is registry.build("metric", "second_half").applies_to(item(text))
    assert there is bool(PROBE.score(item(text), lambda _: (), ()))


# what is asked


def test_the_second_half_is_asked_after_the_first_as_plain_text() -> None:
    (request,) = PROBE.score(item(), lambda _: pytest.fail("no conversation is asked"), ())
    assert ((), "loglikelihood", None) == (request.messages, request.kind, request.branches)
    assert halves(WORDS) == (request.begun, request.target)
    assert () == PROBE.sample(item(), lambda _: ())
    assert "second_half" == PROBE.name


def test_what_is_told_is_the_likelihood_and_the_bytes_of_the_second_half() -> None:
    """69 characters before the cut of 139 leave 70; one of them that takes two bytes makes 71."""
    accented = item(WORDS[:-1] + "é")
    want = {"logprob": -7.0, "tokens": 10, "verbatim": 4, "bytes": 71, "tokeniser": "t", "truncated": 0}
    assert want == told(-7.0, 10, 4, accented)


def test_what_is_not_finite_is_null() -> None:
    assert told(-math.inf, 10)["logprob"] is None


def test_a_question_of_which_nothing_was_asked_has_no_figures() -> None:
    assert (None, 0, 0) == tuple(
        PROBE.to_record(item("short"), (), ())[k] for k in ("logprob", "tokens", "bytes")
    )


# what is made of it


def test_the_share_is_of_tokens_and_bits_are_by_byte() -> None:
    """35 ln 2 nats are 35 bits, over 70 bytes half a bit each; 4 of 10 tokens are 0.4."""
    found = mark(told(-35 * math.log(2), 10, 4))
    assert Value(0.4, {"verbatim": 4, "tokens": 10}) == found["verbatim"]
    bits = found["bits_per_byte"]
    assert pytest.approx(0.5) == bits.value
    assert pytest.approx({"numerator": 35.0, "denominator": 70}) == bits.parts


def test_all_of_it_and_none_of_it_are_the_ends() -> None:
    assert (1.0, 0.0) == (
        mark(told(0.0, 10, 10))["verbatim"].value,
        mark(told(-99.0, 10, 0))["verbatim"].value,
    )
    assert 0.0 == mark(told(0.0, 10, 10))["bits_per_byte"].value


def test_an_endpoint_that_does_not_tell_the_likeliest_token_still_tells_bits() -> None:
    found = mark(told(-35 * math.log(2), 10, None))
    assert ("failed", None) == (found["verbatim"].status, found["verbatim"].value)
    assert "likeliest" in (found["verbatim"].note or "")
    assert "ok" == found["bits_per_byte"].status


@pytest.mark.parametrize(
    ("said", "why"),
    [(told(-math.inf, 10, 0), "no finite"), (told(-1.0, 0, 0), "no finite"), (told(0.5, 10, 1), "above 0")],
)
def test_what_is_no_probability_fails(said: Mapping[str, Any], why: str) -> None:
    for value in mark(said).values():
        assert ("failed", None) == (value.status, value.value)
        assert why in (value.note or "")


def test_a_cut_first_half_is_told() -> None:
    assert "cut by 3 tokens" in (mark({**told(-1.0, 10, 1), "truncated": 3})["verbatim"].note or "")


def test_every_format_has_questions() -> None:
    made = registry.build("metric", "second_half")
    assert {"mcq", "true_false", "list", "short", "longform"} <= {*made.formats}
    assert [("verbatim", "lower", "mean"), ("bits_per_byte", "higher", "ratio")] == [
        (c.criterion, c.direction, c.pool) for c in made.criteria
    ]
