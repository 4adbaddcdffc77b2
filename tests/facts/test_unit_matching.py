"""Pairs of units of two splits: exact ones first, then greedy by overlap, one to one."""

from hypothesis import given
from hypothesis import strategies as st

from vivavoce.facts.unit_matching import UnitPair, match_units

UNITS = st.lists(st.text(alphabet="ab 12.", max_size=8), max_size=6)


def places(first: list[str], second: list[str]) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in match_units(first, second)]


def test_equal_units_are_pairs_whatever_case_and_punctuation():
    pairs = match_units(["CL occurs in the neck.", "X."], ["x", "cl occurs in neck"])
    assert (UnitPair(0, 1, 1.0), UnitPair(1, 0, 1.0)) == pairs


def test_a_repeated_unit_is_paired_as_often_as_it_stands_in_both():
    assert [(0, 0), (1, 1)] == places(["A is B."] * 3, ["A is B."] * 2)


def test_the_greatest_overlap_goes_first():
    """By hand: of the two units before, one shares 3 of 5 words with the one after, the other 4 of 5."""
    first = ["cough fever rash pain", "cough fever rash itch joint"]
    assert [(1, 0)] == places(first, ["cough fever rash itch"])


def test_overlap_is_intersection_over_union():
    (pair,) = match_units(["aspirin inhibits platelets"], ["aspirin inhibits human platelets strongly"])
    assert 3 / 5 == pair.overlap


def test_the_threshold_itself_is_enough():
    first, second = ["aspirin inhibits"], ["aspirin inhibits platelets strongly"]
    assert 1 == len(match_units(first, second, least=0.5))
    assert () == match_units(first, second, least=0.51)


def test_of_ties_the_first_one_counts():
    assert [(0, 0)] == places(["fever rash pain"], ["fever rash itch", "fever rash cough"])


def test_other_numbers_and_negations_are_no_pair():
    assert [] == places(["Adults take 500 mg of it daily."], ["Adults take 250 mg of it daily."])
    assert [] == places(["Aspirin does cause bleeding often."], ["Aspirin does not cause bleeding often."])


def test_units_without_words_and_empty_splits_are_in_no_pair():
    assert [] == places(["", "…"], ["", "…"])
    assert [] == places([], ["A is B."])
    assert [] == places([], [])


@given(UNITS, UNITS)
def test_no_unit_is_in_two_pairs_and_the_sides_may_be_exchanged(first, second):
    pairs = match_units(first, second)
    assert len({pair.first for pair in pairs}) == len({pair.second for pair in pairs}) == len(pairs)
    mirrored = match_units(second, first)
    assert sum(pair.overlap == 1 for pair in pairs) == sum(pair.overlap == 1 for pair in mirrored)


@given(UNITS)
def test_a_split_matches_itself(units):
    pairs = match_units(units, units)
    assert all(pair.overlap == 1.0 for pair in pairs)
