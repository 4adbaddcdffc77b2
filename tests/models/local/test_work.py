"""How many token positions go through the model: counted, for it is what likelihoods cost."""

import random

import pytest
from tests.models.local.families import VOCABULARY, family

from vivavoce.models.local.packing import Limits
from vivavoce.models.local.scoring import Branch, TokenCounter, Tree, rolling, score

QUESTION, SAID, TARGET, STRIDE, KEPT = 120, 256, 30, 8, 5
CUTS = range(0, SAID + 1, STRIDE)


def drawn(seed=0):
    draw = random.Random(seed)
    return lambda count: tuple(draw.randrange(3, VOCABULARY) for _ in range(count))


def relaxed():
    """What Relaxed Perplexity asks of one question: a target after every stride of the kept completions."""
    ids = drawn()
    prompt, target = ids(QUESTION), ids(TARGET)
    return [Tree(prompt, ids(SAID), tuple(Branch(cut, target) for cut in CUTS)) for _ in range(KEPT)]


def work(trees, way, **settings):
    """Positions fed, and those that the model itself saw, padding included."""
    model, seen = family("llama"), []
    model.get_input_embeddings().register_forward_pre_hook(lambda _, given: seen.append(given[0].numel()))
    fed = TokenCounter()
    score(model, trees, way, fed=fed, **settings)
    return fed.tokens, sum(seen)


def test_a_sequence_for_each_branch_costs_what_the_formula_says():
    places = len(CUTS)
    expected = KEPT * (places * (QUESTION + TARGET) + STRIDE * places * (places - 1) // 2)
    assert 45_870 == expected == work(relaxed(), "naive")[0]


@pytest.mark.parametrize("way", ["packed", "branched"])
def test_what_branches_share_is_computed_once(way):
    fed, seen = work(relaxed(), way)
    places = len(CUTS)
    least = QUESTION + KEPT * SAID + (1 + KEPT * (places - 1)) * (TARGET - 1)
    assert 6_069 == least
    # each trunk also reads the question's last token again, for its own first probabilities;
    # a branch whose first token the trunk itself says next shares that token in a pack
    assert least - 5 <= fed <= least + KEPT - 1 <= 6_700
    assert seen <= 6_700


def test_a_pack_of_its_own_for_each_trunk_stays_below_the_goal_too():
    fed, _ = work(relaxed(), "packed", limits=Limits(shared=10**9))
    assert fed <= 6_665


@pytest.mark.parametrize("way", ["packed", "branched"])
def test_options_cost_the_question_once(way):
    ids = drawn(1)
    question = ids(100)
    options = tuple(Branch(0, ids(size)) for size in (8, 5, 9, 1))
    assert 100 + 7 + 4 + 8 + 0 == work([Tree(question, (), options)], way)[0]
    assert 4 * 100 + 8 + 5 + 9 + 1 == work([Tree(question, (), options)], "naive")[0]


@pytest.mark.parametrize("way", ["packed", "branched"])
def test_letters_are_read_after_the_question_and_none_is_fed(way):
    question = drawn(2)(50)
    assert 50 == work([Tree(question, (), tuple(Branch(0, (n,)) for n in (10, 11, 12, 13)))], way)[0]


@pytest.mark.parametrize("way", ["packed", "branched"])
def test_a_trunk_is_fed_no_further_than_it_is_needed(way):
    ids = drawn(3)
    assert 10 + 4 + 2 == work([Tree(ids(10), ids(90), (Branch(4, ids(3)), Branch(1, ids(1))))], way)[0]


@pytest.mark.parametrize("way", ["packed", "branched"])
def test_equal_branches_are_asked_once_across_trunks(way):
    ids = drawn(4)
    question, said, target = ids(10), ids(12), ids(5)
    one = Tree(question, said, (Branch(0, target), Branch(6, target)))
    other = Tree(question, said[:6] + ids(2), (Branch(0, target), Branch(6, target)))
    assert work([one], way) == work([one, other, one], way)


def shapes(trees, limits):
    """The shape of each call's token ids."""
    model, seen = family("llama"), []
    model.get_input_embeddings().register_forward_pre_hook(
        lambda _, given: seen.append(tuple(given[0].shape))
    )
    score(model, trees, "packed", limits=limits)
    return seen


def test_short_trunks_of_one_prompt_share_a_pack_and_long_ones_do_not():
    ids = drawn(9)
    question = ids(20)
    trees = [Tree(question, ids(10), (Branch(10, ids(6)),)) for _ in range(3)]
    assert [(1, 20 + 3 * 15)] == shapes(trees, Limits(joined=45))
    assert [(2, 20 + 2 * 15)] == shapes(trees, Limits(joined=44))
    assert [(1, 19), (3, 1 + 15)] == shapes(trees, Limits(joined=0, shared=38))


def test_the_branches_of_a_long_trunk_are_split_over_packs():
    ids = drawn(10)
    tree = Tree(ids(20), ids(10), tuple(Branch(10, ids(6)) for _ in range(4)))
    assert [(1, 20 + 10 + 4 * 5)] == shapes([tree], Limits(longest=30, shared=99))
    assert [(2, 20 + 10 + 2 * 5)] == shapes([tree], Limits(longest=20, shared=99))


def test_options_that_begin_alike_share_their_beginning_in_a_pack():
    ids = drawn(5)
    question, common = ids(20), ids(6)
    options = tuple(Branch(0, (*common, *ids(3))) for _ in range(4))
    assert 20 + 6 + 4 * 2 == work([Tree(question, (), options)], "packed")[0]


def test_an_encoder_reads_each_prompt_once():
    ids, fed = drawn(6), TokenCounter()
    question = ids(40)
    trees = [Tree(question, ids(4), tuple(Branch(cut, ids(5)) for cut in (0, 4))) for _ in range(2)]
    score(family("t5"), trees, "naive", batch=1, fed=fed)
    assert 40 + 2 * (5 + 9) == fed.tokens


def test_only_places_that_are_read_go_through_the_vocabulary():
    model, rows = family("llama"), []
    model.get_output_embeddings().register_forward_hook(lambda _, given, out: rows.append(out.shape[:-1]))
    ids = drawn(7)
    score(model, [Tree(ids(50), (), (Branch(0, ids(3)), Branch(0, ids(4))))], "packed")
    assert [(1, 1 + 2 + 3)] == rows


def test_windows_feed_each_token_as_often_as_it_is_seen():
    fed = TokenCounter()
    rolling(family("llama"), drawn(8)(10), 1, context=4, stride=2, fed=fed)
    assert 4 * 4 == fed.tokens
