"""The corrected layers by hand: what counts, what does not, and a scale that ends at 1 without a cliff."""

import pytest
from tests.systems.cliniqlink.semantic.making import FakeEncoder

from vivavoce.systems.cliniqlink.semantic.layers import layers, side, texts
from vivavoce.systems.cliniqlink.semantic.rules import CORRECTED


def compared(gold, said, *, weight=lambda term: 1.0, baseline=0.3, embed=None):
    embed = embed or FakeEncoder()
    sides = [side(text, CORRECTED, embed.tokens) for text in (gold, said)]
    needed = sorted(texts(*sides))
    vectors = dict(zip(needed, embed(needed), strict=True))
    return layers(*sides, vectors, weight, baseline=baseline, rules=CORRECTED)


def test_a_score_by_hand():
    """red, dose against red, pill: token 1/2, content cosine 1/2; whole texts share "the" and "red": 2/3."""
    found = compared("The red dose.", "the red pill")
    paragraph = (2 / 3 - 0.3) / 0.7
    assert pytest.approx((0.5, 0.5, paragraph), abs=1e-6) == found[:3]
    raw = 0.4 * 0.5 + 0.4 * 0.5 + 0.2 * paragraph
    assert pytest.approx((raw - 0.25) / 0.75, abs=1e-6) == found.score


def test_equal_texts_have_exactly_1_whatever_ends_them():
    for said in ("The red dose.", "the red dose", "**The red dose**", " The  red dose!\n"):
        assert 1.0 == compared("The red dose.", said).score


def test_the_scale_has_no_cliff_below_1():
    """One word in fifty differs: published has 0.74 here, and 1 for none."""
    words = " ".join(f"w{k}" for k in range(50))
    assert 0.95 < compared(words, words.replace("w7 ", "v7 ")).score < 1.0


def test_nothing_to_compare_has_0():
    assert 0.0 == compared("The red dose", "").score
    assert 0.0 == compared("", "").score


def test_of_stop_words_alone_all_are_compared():
    assert 1.0 == compared("A", "a.").score
    assert 0.0 == compared("A", "B").score


def test_texts_without_a_word_in_common_have_0():
    assert 0.0 == compared("red dose", "blue pill").score


def test_a_term_is_a_whole_word_and_a_number_keeps_its_point():
    found = side("Selinexor's 0.05 units/min, vitamin D!", CORRECTED, FakeEncoder().tokens)
    assert ("selinexor's", "0.05", "units", "min", "vitamin", "d") == found.terms


def test_negations_stay_in_every_layer():
    found = side("It is not the cause, nor is it raised", CORRECTED, FakeEncoder().tokens)
    assert {"not", "nor"} <= set(found.terms)
    assert "not cause, nor raised" == found.content


def test_a_heavier_term_counts_for_more():
    """Found: precision and recall 3/4. Missed: recall 1/4, precision 1/2."""

    def weight(term):
        return 3.0 if term == "red" else 1.0

    assert pytest.approx(3 / 4, abs=1e-6) == compared("red dose", "red pill", weight=weight).token
    assert pytest.approx(1 / 3, abs=1e-6) == compared("red dose", "blue dose", weight=weight).token


def test_the_baseline_lowers_only_the_paragraph():
    low, high = (compared("the red dose", "the red pill", baseline=b) for b in (0.0, 0.5))
    assert low[:2] == high[:2]
    assert low.paragraph > high.paragraph
