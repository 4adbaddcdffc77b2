"""An answer over the limit is unreadable with a reason, before any pattern sees it."""

import pytest

from vivavoce.core.records import Item, Reading, Response
from vivavoce.core.text import LONGEST
from vivavoce.formats import FORMATS, read_response
from vivavoce.metrics import ScoringContext
from vivavoce.reading.confidence import stated_confidence, without_confidence
from vivavoce.run.score.checks import read_response as read_stored
from vivavoce.store.pending import Pending

TOO_LONG = "the answer has 1,000,001 characters, and none over 1,000,000 is read"


def item(name: str) -> Item:
    options = ("Aspirin", "Heparin") if name in {"mcq", "list"} else ()
    return Item(benchmark="b", item="i", format=name, question="q", options=options)


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_over_a_million_characters_is_unreadable_and_no_pattern_sees_it(name, monkeypatch) -> None:
    def read(*args: object) -> Reading:
        raise AssertionError("the text was read")

    monkeypatch.setattr(type(FORMATS[name]), "read", read)
    assert Reading("unreadable", reason=TOO_LONG) == read_response(item(name), "A" * (LONGEST + 1))


def test_an_answer_of_a_million_characters_is_read() -> None:
    text = "Aspirin." + " " * (LONGEST - 8)
    assert Reading("ok", "Aspirin") == read_response(item("mcq"), text)


def test_a_stored_answer_that_is_too_long_reaches_no_metric_and_says_why() -> None:
    response = Response(benchmark="b", item="i", candidate="c", text="=" * (LONGEST + 1))
    value = read_stored(Pending(1, item("short"), response), ScoringContext())
    assert (None, "unreadable", TOO_LONG) == (value.value, value.status, value.note)


def test_no_confidence_is_looked_for_in_an_answer_that_is_too_long() -> None:
    text = "A" * LONGEST + "\nConfidence: 90%"
    assert (text, ()) == without_confidence(text)
    stated = stated_confidence(text)
    assert stated.value is None
    assert not stated.silent
    assert "none over 1,000,000 is read" in (stated.reason or "")
