"""Perplexity of references, and the probe that asks for it. lm-eval's are in test_against_lm_eval."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.absent import absent

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.logprobs.perplexity import Perplexity, ReferenceLikelihood
from vivavoce.logprobs.requests import expand, merge
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Likelihood, Message, Reply, Request

CRITERIA = ("word_perplexity", "byte_perplexity", "bits_per_byte")


def item(*references: str) -> Item:
    return Item(benchmark="b", item="q", format="longform", question="Why?", references=references)


def asks(one: Item) -> tuple[Message, ...]:
    return (Message("user", one.question),)


def marked(references: Sequence[str], logprobs: Sequence[float | None], **told: Any) -> dict[str, Value]:
    """The metric's values for these log-probabilities of these references."""
    said = [None if v is None else {"logprob": v, "tokens": 3, "verbatim": None} for v in logprobs]
    parsed = {"references": said, "tokeniser": "t", "truncated": 0, **told}
    response = Response(benchmark="b", item="q", candidate="c", probe="given(after=question)")
    row = Row(item(*references), response, Reading("ok", parsed))
    (values,) = registry.build("metric", "perplexity").values([row], ScoringContext())
    return dict(values)


def figures(values: dict[str, Value]) -> list[float | None]:
    return [values[name].value for name in CRITERIA]


def notes(values: dict[str, Value]) -> set[tuple[float | None, str, str | None]]:
    return {(v.value, v.status, v.note) for v in values.values()}


def test_hand_worked_case() -> None:
    """8 bytes in 2 words, each byte as likely as a coin's side: 1 bit a byte, 2 a byte, 2^4 a word."""
    values = marked(["aged dog"], [-8 * math.log(2)])
    assert pytest.approx([16, 2, 1], rel=1e-12) == figures(values)
    beside = {"logprob": -8 * math.log(2), "words": 2, "bytes": 8, "tokens": 3}
    nats = {"numerator": 8 * math.log(2), **beside}
    assert {"denominator": 2, **nats} == values["word_perplexity"].parts
    assert {"denominator": 8, **nats} == values["byte_perplexity"].parts
    bits = values["bits_per_byte"].parts
    assert bits is not None
    assert pytest.approx({"numerator": 8, "denominator": 8, **beside}) == dict(bits)


@pytest.mark.parametrize(
    ("text", "words", "bytes_"),
    [("µ", 1, 2), ("one  two\nthree", 3, 14), (" led by a blank", 5, 15), ("日本 語", 2, 10), (" ", 2, 1)],
)
def test_words_are_what_white_space_parts_and_bytes_those_of_utf8(text: str, words: int, bytes_: int) -> None:
    """As lm-eval counts words: what stands before a leading blank is one, though it is empty."""
    parts = marked([text], [-1.0])["word_perplexity"].parts
    assert parts is not None
    assert (words, bytes_) == (parts["words"], parts["bytes"])


@given(st.text(min_size=1), st.floats(-600, 0))
def test_the_three_are_one_number_in_three_forms(text: str, logprob: float) -> None:
    values = marked([text], [logprob])
    word, byte, bits = (v or 0.0 for v in figures(values))
    parts = values["word_perplexity"].parts or {}
    assert pytest.approx(bits, rel=1e-9, abs=1e-9) == math.log2(byte)
    assert pytest.approx(math.log(byte) * parts["bytes"] / parts["words"], rel=1e-9, abs=1e-9) == math.log(
        word
    )


def test_of_several_references_the_likeliest_per_byte_counts() -> None:
    """-4 over 8 bytes beats -3 over 4, although its sum is lower."""
    values = marked(["long", "longlong", "lo"], [-3.0, -4.0, -2.0])
    parts = values["byte_perplexity"].parts or {}
    assert (-4.0, 8, 2) == (parts["logprob"], parts["bytes"], parts["reference"])
    assert math.exp(4 / 8) == values["byte_perplexity"].value


def test_of_equals_the_first_counts_and_a_copy_changes_nothing() -> None:
    alone, twice = marked(["long"], [-3.0]), marked(["long", "long"], [-3.0, -3.0])
    assert figures(alone) == figures(twice)
    assert 1 == (twice["byte_perplexity"].parts or {})["reference"]
    assert "reference" not in (alone["byte_perplexity"].parts or {})


def test_a_reference_without_a_byte_is_passed_over_and_alone_it_fails() -> None:
    assert figures(marked(["long"], [-3.0])) == figures(marked(["", "long"], [None, -3.0]))
    why = "no reference has a byte, so nothing can be divided by its length"
    assert {(None, "failed", why)} == notes(marked(["", ""], [None, None]))


def test_a_probability_of_nothing_fails_and_another_reference_counts() -> None:
    why = "the model gave no reference a finite probability"
    assert {(None, "failed", why)} == notes(marked(["long"], [None]))
    assert figures(marked(["long"], [-3.0])) == figures(marked(["long", "text"], [-3.0, None]))


def test_a_probability_above_one_fails_but_for_rounding() -> None:
    assert [1.0, 1.0, 0.0] == figures(marked(["long"], [2e-6]))
    certain = figures(marked(["long"], [0.0]))
    assert "[1.0, 1.0, 0.0]" == str(certain)  # and no -0.0
    why = "the logarithm of a probability is 0.5, which is above 0"
    assert {(None, "failed", why)} == notes(marked(["long"], [0.5]))


def test_likelihoods_of_another_number_of_references_fail() -> None:
    why = "1 likelihoods are stored, and the item has 2 references"
    assert {(None, "failed", why)} == notes(marked(["one", "two"], [-1.0]))


def test_a_perplexity_above_the_largest_number_stands_as_that_and_is_pooled_as_it_is() -> None:
    """exp(2,000) is no float; per byte it is exp(20)."""
    values = marked(["x" * 100], [-2000.0])
    word = values["word_perplexity"]
    assert (sys.float_info.max, "ok") == (word.value, word.status)
    assert "its own perplexity is above the largest number there is" == word.note
    assert (2000.0, 1) == ((word.parts or {})["numerator"], (word.parts or {})["denominator"])
    assert (math.exp(20), None) == (values["byte_perplexity"].value, values["byte_perplexity"].note)


def test_a_question_that_was_cut_is_noted() -> None:
    values = marked(["long"], [-3.0], truncated=7)
    assert {"the question was cut by 7 tokens to fit the model's context"} == {
        v.note for v in values.values()
    }


def test_no_rows_give_no_values() -> None:
    assert [] == registry.build("metric", "perplexity").values([], ScoringContext())


def test_lower_is_better_and_silence_is_set_aside() -> None:
    told = [(c.criterion, c.pool, c.low, c.high, c.direction, c.if_unanswered) for c in Perplexity.criteria]
    rest = (None, "lower", "set_aside")
    assert [
        ("word_perplexity", "exp_ratio", 1.0, *rest),
        ("byte_perplexity", "exp_ratio", 1.0, *rest),
        ("bits_per_byte", "ratio", 0.0, *rest),
    ] == told


# What is asked


def test_after_the_question_all_references_share_one_request() -> None:
    probe = registry.build("metric", "perplexity").logprob_requests
    assert "given(after=question)" == probe.name
    assert () == probe.sample(item("a", "b"), asks)
    (request,) = probe.score(item("a", "b"), asks, ())
    assert ("loglikelihood", asks(item()), None) == (request.kind, request.messages, request.target)
    assert (("a", "b"), None, (0,)) == request.branches


def test_alone_each_reference_has_its_own_request() -> None:
    """So that one longer than the model's context can be read by windows."""
    probe = registry.build("metric", "perplexity(given=nothing)").logprob_requests
    assert "given(after=nothing)" == probe.name
    found = probe.score(item("a", "b", "a"), asks, ())
    assert [((), (("a",), None, (0,))), ((), (("b",), None, (0,)))] == [
        (request.messages, request.branches) for request in found
    ]
    replies = [Reply(text=None, likelihoods=(Likelihood(-n, 1),), truncated=n) for n in (1, 2)]
    told = probe.to_record(item("a", "b", "a"), (), replies)
    assert [-1, -2, -1] == [one["logprob"] for one in told["references"]]
    assert 2 == told["truncated"]


def test_what_is_told_has_a_place_for_every_reference() -> None:
    probe = ReferenceLikelihood("question")
    one = item("a", "", "b", "a")
    (request,) = probe.score(one, asks, ())
    assert ("a", "b") == request.branches.targets  # type: ignore[union-attr]
    found = (Likelihood(-1.5, 2, 1), Likelihood(-math.inf, 3))
    told = probe.to_record(one, (), (Reply(text=None, likelihoods=found, truncated=4, tokeniser="bpe"),))
    first, second = (
        {"logprob": -1.5, "tokens": 2, "verbatim": 1},
        {"logprob": None, "tokens": 3, "verbatim": None},
    )
    assert {"references": [first, None, second, first], "tokeniser": "bpe", "truncated": 4} == told
    assert told == json.loads(json.dumps(told, allow_nan=False))


def test_where_no_reference_has_a_character_nothing_is_asked() -> None:
    probe = ReferenceLikelihood("nothing")
    assert () == probe.score(item("", ""), asks, ())
    assert {"references": [None, None], "tokeniser": None, "truncated": 0} == probe.to_record(
        item("", ""), (), ()
    )


def test_a_reply_that_lacks_a_likelihood_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        ReferenceLikelihood("nothing").to_record(
            item("a", "b"), (), (Reply(text=None, likelihoods=(Likelihood(-1.0, 1),)),)
        )


def test_an_endpoint_that_takes_no_branches_tells_the_same() -> None:
    """One request for each reference, joined again."""
    probe = ReferenceLikelihood("question")
    (request,) = probe.score(item("a", "b"), asks, ())
    known = {"a": Likelihood(-1.0, 1), "b": Likelihood(-2.0, 2)}

    def reply(*texts: str) -> Reply:
        return Reply(text=None, likelihoods=tuple(known[text] for text in texts), tokeniser="t")

    def single(one: Request) -> Reply:
        assert one.target is not None
        return reply(one.target)

    split = merge([single(one) for one in expand(request)])
    assert probe.to_record(item("a", "b"), (), (reply("a", "b"),)) == probe.to_record(
        item("a", "b"), (), (split,)
    )


# The published table


def test_the_identities_hold_in_the_published_tables(shared: Path) -> None:
    """Tables 7 to 9 of Arias-Duart et al. (2025): both identities, up to their three decimals."""
    path = shared / "data" / "tables" / "bsc_suite.json"
    if not path.is_file():
        absent(f"no table at {path}")
    names = {"Bits per Byte": "bits", "Byte Perplexity": "byte", "Word Perplexity": "word"}
    told: dict[tuple[str, str], dict[str, float]] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        if row["table"] in (7, 8, 9) and row["metric"] in names and row["value"] is not None:
            told.setdefault((row["dataset"], row["model"]), {})[names[row["metric"]]] = row["value"]
    whole = {key: row for key, row in told.items() if len(row) == 3}
    assert 106 == len(whole)  # 12 models and 9 data sets, less 2 that are not told whole
    lengths: dict[str, list[float]] = {}
    for (dataset, _), row in whole.items():
        assert pytest.approx(row["bits"], abs=0.0015) == math.log2(row["byte"])
        lengths.setdefault(dataset, []).append(math.log(row["word"]) / math.log(row["byte"]))
    for dataset, found in lengths.items():
        assert max(found) / min(found) < 1.01, dataset
