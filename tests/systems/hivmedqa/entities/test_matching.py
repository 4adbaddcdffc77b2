"""Pairs of entities: one where the order misleads, and none that depends on the order."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from vivavoce.systems.hivmedqa.entities.matching import greedy, maximum

GOLD = [{"hiv", "aids"}, {"hiv"}]
SAID = [{"hiv"}, {"aids"}]


def test_greedy_finds_one_pair_where_there_are_two():
    """AIDS takes the answer's HIV, which is all that HIV could have."""
    assert 1 == greedy(GOLD, SAID)
    assert 2 == maximum(GOLD, SAID)


def test_greedy_depends_on_the_order_and_maximum_does_not():
    orders = list(itertools.product(itertools.permutations(GOLD), itertools.permutations(SAID)))
    assert {1, 2} == {greedy(*order) for order in orders}
    assert {2} == {maximum(*order) for order in orders}


def test_each_entity_is_matched_once():
    assert 1 == greedy([{"a"}, {"a", "b"}], [{"a"}]) == maximum([{"a"}, {"a", "b"}], [{"a"}])


def test_an_empty_side_has_no_pairs():
    for match in (greedy, maximum):
        assert 0 == match([], [{"a"}]) == match([{"a"}], []) == match([], []) == match([{"a"}], [{"b"}])


@given(
    st.lists(st.sets(st.sampled_from("abcde"), min_size=1), max_size=5),
    st.lists(st.sets(st.sampled_from("abcde"), min_size=1), max_size=5),
    st.randoms(),
)
def test_maximum_is_the_best_of_all_assignments(gold, said, shuffler: random.Random):
    small, large = sorted((gold, said), key=len)
    best = max(
        sum(not a.isdisjoint(b) for a, b in zip(small, order, strict=True))
        for order in itertools.permutations(large, len(small))
    )
    shuffled = shuffler.sample(gold, len(gold)), shuffler.sample(said, len(said))
    assert best == maximum(gold, said) == maximum(*shuffled) == maximum(said, gold)
    assert best >= greedy(gold, said)
