"""A text longer than the context: each token told once, with as much before it as the stride leaves."""

import math
import random

import pytest
from tests.lazy import lazy_module
from tests.models.local.families import VOCABULARY, family

from vivavoce.models.local.scoring import Branch, NotFinite, Tree, Window, rolling, rolling_windows, score
from vivavoce.models.requests import Likelihood

torch = lazy_module("torch")


def text(count, seed=0):
    draw = random.Random(seed)
    return [draw.randrange(3, VOCABULARY) for _ in range(count)]


def test_a_case_by_hand():
    assert [
        Window((0, 11, 12, 13), 0, 4),
        Window((12, 13, 14, 15), 4, 6),
        Window((13, 14, 15, 16), 6, 7),
    ] == list(rolling_windows([11, 12, 13, 14, 15, 16, 17], 0, context=4, stride=2))


def test_an_empty_text_has_no_window_and_probability_one():
    assert [] == list(rolling_windows([], 0, context=4, stride=2))
    assert Likelihood(0.0, 0, 0) == rolling(family("llama"), [], 1, context=4, stride=2)


def test_a_stride_of_the_context_gives_the_disjoint_windows_of_lm_eval():
    # get_rolling_token_windows([11, …, 20], 0, max_seq_len=4, context_len=1) of lm-eval 0.4.13
    with_text = [
        ((0, 11, 12, 13), (11, 12, 13, 14)),
        ((14, 15, 16, 17), (15, 16, 17, 18)),
        ((16, 17, 18, 19), (19, 20)),
    ]
    ids = list(range(11, 21))
    told = [
        (one.ids, tuple(ids[one.begin : one.end])) for one in rolling_windows(ids, 0, context=4, stride=4)
    ]
    assert with_text == told


def test_every_stride_gives_the_windows_of_lm_eval():
    lm_eval = pytest.importorskip("lm_eval.utils")
    for size in (*range(1, 14), 40):
        for context in (1, 2, 4, 7):
            for stride in range(1, context + 1):
                ids = text(size)
                theirs = lm_eval.get_rolling_token_windows(ids, 1, context, context - stride + 1)
                ours = rolling_windows(ids, 1, context=context, stride=stride)
                assert [(tuple(a), tuple(b)) for a, b in theirs] == [
                    (one.ids, tuple(ids[one.begin : one.end])) for one in ours
                ]


@pytest.mark.parametrize(
    ("size", "context", "stride"), [(1, 8, 3), (8, 8, 3), (9, 8, 8), (50, 8, 3), (50, 8, 1)]
)
def test_each_token_is_told_once_after_enough_others(size, context, stride):
    ids = text(size)
    made = list(rolling_windows(ids, 1, context=context, stride=stride))
    assert list(range(size)) == [n for one in made for n in range(one.begin, one.end)]
    for number, one in enumerate(made):
        assert len(one.ids) <= context
        assert [*ids[: one.end - 1]][-(len(one.ids) - 1) :] == list(one.ids)[1:] or len(one.ids) == 1
        if number:
            assert len(one.ids) - (one.end - one.begin) + 1 >= context - stride + 1
        else:
            assert 1 == one.ids[0]


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2"])
def test_a_text_that_fits_equals_a_single_pass(name):
    model, ids = family(name), text(40)
    ((whole,),) = score(model, [Tree((1,), (), (Branch(0, tuple(ids)),))], "naive")
    for context in (40, 41, 200):
        told = rolling(model, ids, 1, context=context, stride=7)
        assert whole.logprob == pytest.approx(told.logprob, rel=1e-6)
        assert whole[1:] == told[1:]


@pytest.mark.parametrize(("context", "stride"), [(16, 16), (16, 5), (16, 1)])
def test_windows_sum_to_what_each_token_has_after_its_own_window(context, stride):
    model, ids = family("llama"), text(41)
    total, before = 0.0, [1, *ids]
    for one in rolling_windows(ids, 1, context=context, stride=stride):
        with torch.no_grad():
            logprobs = model(torch.tensor([one.ids])).logits[0].double().log_softmax(-1)
        for n in range(one.begin, one.end):
            total += float(logprobs[n - one.end, before[n + 1]])
    for batch in (1, 3, 64):
        told = rolling(model, ids, 1, context=context, stride=stride, batch=batch)
        assert total == pytest.approx(told.logprob, rel=1e-6)
        assert 41 == told.tokens


def test_a_context_as_long_as_the_positions_of_the_model_can_be_filled():
    model = family("gpt2", n_positions=16)
    assert math.isfinite(rolling(model, text(50), 1, context=16, stride=8).logprob)


def test_what_the_model_says_itself_is_verbatim_over_the_borders():
    model = family("llama")
    said = [1]
    with torch.no_grad():
        for _ in range(12):
            said.append(int(model(torch.tensor([said[-4:]])).logits[0, -1].argmax()))
    ids = said[1:]
    assert 12 == rolling(model, ids, 1, context=4, stride=1).verbatim
    ids[9] = (ids[9] + 1) % VOCABULARY
    assert 9 == rolling(model, ids, 1, context=4, stride=1).verbatim


@pytest.mark.parametrize("stride", [0, -1, 5])
def test_a_stride_outside_the_context_is_refused(stride):
    with pytest.raises(ValueError, match="from 1 to the context's 4 tokens"):
        rolling(family("llama"), text(9), 1, context=4, stride=stride)


def test_a_model_with_an_encoder_is_refused():
    with pytest.raises(ValueError, match="encoder"):
        rolling(family("t5"), text(9), 1, context=4, stride=2)


@pytest.mark.parametrize(("context", "stride"), [(6, 2), (6, 6), (7, 3), (40, 40)])
def test_a_number_that_is_none_is_named_by_its_place_in_the_text(context, stride):
    model, ids = family("llama"), text(20)
    ids[13] = 77
    with torch.no_grad():
        model.model.embed_tokens.weight[77] = math.nan
    with pytest.raises(NotFinite) as caught:
        rolling(model, ids, 1, context=context, stride=stride)
    assert 15 == caught.value.position
