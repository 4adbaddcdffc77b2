"""Near duplicates: every pair above the threshold that exact comparison has, and no other."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.core.item_content import content_text
from vivavoce.run.building.filters.minhash import GRAM, near_duplicates

WORDS = [
    *("patient", "fever", "cough", "dose", "mg", "renal", "liver", "insulin", "heparin", "sepsis", "acute"),
    *("chronic", "pain", "chest", "vein", "artery", "lung", "heart", "brain", "nerve", "muscle", "bone"),
    *("skin", "therapy", "diagnosis", "cause", "treatment", "first", "second", "most", "likely", "common"),
]


def exact(one: str, two: str) -> float:
    sets = [
        {padded[k : k + GRAM] for k in range(len(padded) - GRAM + 1)}
        for padded in (content_text(text).ljust(GRAM) for text in (one, two))
    ]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def texts(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=18)) for _ in range(n)]


def changed(text: str, rng: random.Random) -> str:
    words = text.split()
    words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


def test_similarities_are_those_of_exact_comparison_of_all_pairs():
    rng, originals = random.Random(1), texts(60, 0)
    sample = [*originals, *(changed(text, rng) for text in originals)]
    near = {(n.first, n.second): n.similarity for n in near_duplicates(sample, 0.6)}
    whole = {
        (a, b): exact(sample[a], sample[b])
        for a, b in combinations(range(len(sample)), 2)
        if exact(sample[a], sample[b]) >= 0.6
    }
    assert len(whole) > 50
    assert near.keys() <= whole.keys()
    assert len(near) >= 0.95 * len(whole)
    assert all(abs(similarity - whole[pair]) < 1e-12 for pair, similarity in near.items())


def test_a_planted_copy_with_one_other_word_is_seen_at_the_default_threshold():
    rng, originals = random.Random(3), texts(400, 2)
    copies = [changed(text, rng) for text in originals[:100]]
    planted = {(k, 400 + k) for k in range(100) if exact(originals[k], copies[k]) >= 0.8}
    near = {(n.first, n.second) for n in near_duplicates([*originals, *copies])}
    assert len(planted & near) >= 0.95 * len(planted) > 30


def test_by_hand_sixteen_signs_are_twelve_grams_of_which_the_last_sign_is_in_one():
    # abcde, bcdef … lmnop: 12 grams. With another last sign 11 of 13 are shared.
    pair = ["abcdefghijklmnop", "abcdefghijklmnoq"]
    (near,) = near_duplicates(pair)
    assert (0, 1) == near[:2]
    assert near.similarity == pytest.approx(11 / 13)
    assert [] == near_duplicates(pair, 0.85)


def test_case_punctuation_and_blanks_do_not_count_and_equal_texts_are_alike_whatever_their_number():
    near = near_duplicates(["What is  sepsis?", "what is sepsis", "WHAT IS SEPSIS!"])
    assert [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)] == [tuple(n) for n in near]
    many = near_duplicates(["the same text again"] * 200)
    assert set(range(1, 200)) == {n.second for n in many}


def test_none_one_and_empty_texts_have_no_pair_but_with_each_other():
    assert [] == near_duplicates([])
    assert [] == near_duplicates(["one"])
    assert [(0, 1, 1.0)] == [tuple(n) for n in near_duplicates(["", "  "])]


@pytest.mark.parametrize("threshold", [0, -1, 1.01])
def test_a_threshold_that_is_no_similarity_is_refused(threshold):
    with pytest.raises(ValueError, match="a similarity lies above 0"):
        near_duplicates(["a", "b"], threshold)


@given(st.lists(st.text(max_size=40), max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_changes_no_pair(sample, rng):
    order = list(range(len(sample)))
    rng.shuffle(order)
    pairs = {(n.first, n.second): n.similarity for n in near_duplicates(sample, 0.7)}
    turned = near_duplicates([sample[k] for k in order], 0.7)
    assert pairs == {
        (min(order[n.first], order[n.second]), max(order[n.first], order[n.second])): n.similarity
        for n in turned
    }
