"""canary: decoys of its shape, its rank among them, and the one item it stands with."""

import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.lengths import length

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.logprobs.canary import decoys
from vivavoce.metrics import ScoringContext
from vivavoce.models.requests import Likelihood, Reply

GUID = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"
TEXT = f"This exam should not be trained on. canary GUID {GUID}"
SPEC = f"canary(text='{TEXT}', decoys=19)"


def item(name: str = "q", benchmark: str = "b", **fields: Any) -> Item:
    return Item(**{"benchmark": benchmark, "item": name, "format": "short", "question": "?", **fields})


def told(canary: float, others: Sequence[float]) -> Mapping[str, Any]:
    probe = registry.build("metric", SPEC).logprob_requests
    replies = [Reply(text="", likelihoods=(Likelihood(x, 9),)) for x in (canary, *others)]
    found: Mapping[str, Any] = json.loads(json.dumps(probe.to_record(item(), (), replies), allow_nan=False))
    return found


def mark(said: Mapping[str, Any]) -> Mapping[str, Value]:
    row = Row(item(), Response(benchmark="b", item="q", candidate="c"), Reading("ok", said))
    (values,) = registry.build("metric", SPEC).values([row], ScoringContext())
    made: Mapping[str, Value] = values
    return made


# decoys


def test_decoys_differ_in_the_token_alone_and_keep_its_shape() -> None:
    found = decoys(TEXT, 200, 1)
    assert 200 == len({*found, TEXT} - {TEXT})
    shape = "".join("[0-9]" if c.isdigit() else "[a-f]" if c.isalpha() else c for c in GUID)
    for text in found:
        assert text.startswith(TEXT[: -len(GUID)])
        assert re.fullmatch(shape, text[-len(GUID) :]), text


def test_a_random_guid_stays_one() -> None:
    """Version 4, and a variant of 8, 9, a or b: without them decoys would give the canary away."""
    for text in decoys(TEXT, 200, 1):
        assert "4" == text[-len(GUID) :][14]
        assert text[-len(GUID) :][19] in "ab"
    assert {"a", "b"} == {text[-len(GUID) :][19] for text in decoys(TEXT, 200, 1)}
    digit = TEXT.replace("-a3f5-", "-83f5-")
    assert {"8", "9"} == {text[-len(GUID) :][19] for text in decoys(digit, 200, 1)}


def test_every_digit_is_drawn() -> None:
    first = [text[-len(GUID) :][0] for text in decoys(TEXT, 500, 1)]
    assert {*"0123456789"} == {*first}


def test_capitals_stay_capitals() -> None:
    assert all(text == text.upper() for text in decoys(GUID.upper(), 20, 1))


def test_words_that_are_hexadecimal_by_chance_stay() -> None:
    text = f"dead beef 2024-01-31 facade {'0123456789abcdef'}"
    assert all(decoy.startswith("dead beef 2024-01-31 facade ") for decoy in decoys(text, 20, 1))


def test_the_seed_makes_other_decoys_and_more_begin_with_the_same() -> None:
    assert decoys(TEXT, 20, 1) == decoys(TEXT, 40, 1)[:20]
    assert not {*decoys(TEXT, 20, 1)} & {*decoys(TEXT, 20, 2)}


@pytest.mark.parametrize("text", ["", "do not train on this", "seen on 2024-01-31", "abcdefabcdefabcdef"])
def test_a_text_without_a_random_token_is_no_canary(text: str) -> None:
    with pytest.raises(SpecError, match="drawn at random"):
        registry.build("metric", f"canary(text='{text}')")


@pytest.mark.parametrize("n", [0, -1, 10_001])
def test_a_number_of_decoys_that_makes_no_sense_is_refused(n: int) -> None:
    with pytest.raises(SpecError, match="decoys is a number from 1 to 10,000"):
        registry.build("metric", f"canary(text='{TEXT}', decoys={n})")


# what is asked


def test_the_canary_comes_first_and_the_words_before_its_token_are_said_already() -> None:
    probe = registry.build("metric", SPEC).logprob_requests
    asked = probe.score(item(), lambda _: pytest.fail("no conversation is asked"), ())
    assert [TEXT, *decoys(TEXT, 19, 1)] == [f"{r.begun}{r.target}" for r in asked]
    assert {"This exam should not be trained on. canary GUID"} == {r.begun for r in asked}
    assert f" {GUID}" == asked[0].target
    assert {()} == {r.messages for r in asked}
    assert [r.key for r in asked] == [r.key for r in probe.score(item("other"), lambda _: (), ())]


@pytest.mark.parametrize(
    ("text", "begun", "target"),
    [
        (GUID, "", GUID),
        (f"canary:{GUID}", "", f"canary:{GUID}"),
        (f"a canary:{GUID} b", "a", f" canary:{GUID} b"),
    ],
)
def test_a_token_is_cut_from_no_word_that_it_hangs_on(text: str, begun: str, target: str) -> None:
    first, *_ = registry.build("metric", f"canary(text='{text}')").logprob_requests.score(
        item(), lambda _: (), ()
    )
    assert (begun, target) == (first.begun, first.target)


def test_the_probe_is_named_by_what_changes_what_is_asked() -> None:
    named = registry.build("metric", SPEC)
    assert f"canary(decoys=19, seed=1, text='{TEXT}')" == named.logprob_requests.name
    assert named.logprob_requests == named.bind([item()]).logprob_requests  # type: ignore[attr-defined]


# what is made of it


def test_a_canary_before_all_its_decoys_has_the_most_exposure_there_is() -> None:
    """0 of 19 are at least as likely: rank 1 of 20, log2 20 bits."""
    found = mark(told(-5.0, [-50.0 - n for n in range(19)]))
    assert Value(0.0, {"at_least": 0, "decoys": 19}) == found["rank"]
    assert pytest.approx(math.log2(20)) == found["exposure"].value


def test_a_canary_in_the_middle_is_what_chance_gives() -> None:
    """9 of 19 before it: rank 10 of 20, one bit."""
    found = mark(told(-50.0, [-40.0] * 9 + [-60.0] * 10))
    assert pytest.approx((9 / 19, 1.0)) == (found["rank"].value, found["exposure"].value)


def test_chance_gives_a_median_of_one_bit_and_a_mean_of_144_hundredths() -> None:
    """Every rank among 999 decoys is as likely: the mean of log2(1000 / r)."""
    before = range(length(4, 0), 1000, length(10, 1))  # the gate takes the middle of every ten ranks
    exposures = [
        mark(told(-50.0, [-40.0] * n + [-60.0] * (999 - n)))["exposure"].value or 0.0 for n in before
    ]
    assert pytest.approx(1.0, abs=0.01) == statistics.median(exposures)
    assert pytest.approx(1.44, abs=0.006) == statistics.mean(exposures)
    assert "1.44 on average" in (registry.build("metric", SPEC).__doc__ or "")


def test_the_decoys_that_are_drawn_unasked_can_show_it_among_fifty_tests() -> None:
    assert 50 / (registry.build("metric", f"canary(text='{TEXT}')").logprob_requests.count + 1) <= 0.05


def test_a_canary_behind_all_has_no_exposure() -> None:
    found = mark(told(-99.0, [-50.0] * 19))
    assert (1.0, 0.0) == (found["rank"].value, found["exposure"].value)


def test_what_is_as_likely_but_for_rounding_counts_against_the_finding() -> None:
    assert 1.0 == mark(told(-50.0, [-50.0 - 1e-6] * 19))["rank"].value
    assert 0.0 == mark(told(-50.0, [-50.0 - 1e-3] * 19))["rank"].value


@pytest.mark.parametrize(("canary", "other"), [(-math.inf, -5.0), (-5.0, -math.inf), (-5.0, math.nan)])
def test_without_all_probabilities_there_is_no_rank(canary: float, other: float) -> None:
    for value in mark(told(canary, [-6.0] * 18 + [other])).values():
        assert ("failed", None) == (value.status, value.value)


# where it stands


def test_it_stands_with_the_first_item_of_each_benchmark() -> None:
    items = [
        item("q2"),
        item("q1"),
        item("q1", variant="bias:recency"),
        item("q0", origin="bias(type=recency)"),
        item("a", benchmark="c"),
    ]
    metric = registry.build("metric", SPEC).bind(items)
    assert [False, True, False, False, True] == [metric.applies_to(one) for one in items]
    assert "at=[b/q1, c/a]" in registry.signature(metric)


def test_before_it_is_bound_it_marks_every_item_of_the_exam_itself() -> None:
    metric = registry.build("metric", SPEC)
    assert [True, True, False] == [
        metric.applies_to(one) for one in (item("q1"), item("q2"), item("q1", variant="x"))
    ]


def test_a_bound_metric_can_be_built_from_its_signature() -> None:
    metric = registry.build("metric", SPEC).bind([item("q'1, ]", benchmark="b")])
    assert metric == registry.build("metric", str(metric))


def test_without_items_it_stands_nowhere() -> None:
    assert not registry.build("metric", SPEC).bind([]).applies_to(item())
