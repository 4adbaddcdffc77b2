"""The cache: one pass for all layers of a call, a limit of bytes that holds, and honest counts."""

import numpy as np
import pytest
from tests.embeddings.tiny_bert import tiny_bert

from vivavoce.embeddings.encoder import Encoder
from vivavoce.embeddings.encoding_cache import EncodingCache

TEXTS = [f"the patient was given {n} mg iron daily" for n in range(40)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return Encoder(str(tiny_bert(tmp_path_factory.mktemp("bert"))), device="cpu", name="tiny")


def cost(encoder, texts=TEXTS, layers=(1,)):
    cache = EncodingCache(1 << 30)
    cache.announce(encoder, layers)
    return cache.footprint(texts)


def test_each_distinct_text_passes_once_for_all_layers_that_were_announced(encoder):
    cache, before = EncodingCache(1 << 30), encoder.passes
    cache.announce(encoder, (1, 3))
    groups = [(text, TEXTS[0]) for text in TEXTS]
    first = list(cache.encodings(encoder, groups, (1,)))
    second = list(cache.encodings(encoder, groups, (3,)))
    vectors = cache.vectors(encoder, TEXTS)
    assert {"tiny": 40} == cache.passes
    assert 40 == encoder.passes - before
    assert {1, 3} == first[0][0].states.keys() == second[0][0].states.keys()
    assert np.array_equal(vectors[TEXTS[3]], second[3][0].vector)


def test_a_layer_that_nobody_announced_costs_a_second_pass(encoder):
    cache = EncodingCache(1 << 30)
    list(cache.encodings(encoder, [TEXTS[:2]], (1,)))
    ((a, _),) = cache.encodings(encoder, [TEXTS[:2]], (2,))
    assert {"tiny": 4} == cache.passes
    assert {1, 2} == a.states.keys()


def test_a_reference_shared_by_k_systems_passes_once(encoder):
    cache = EncodingCache(1 << 30)
    list(cache.encodings(encoder, ((text, "iron for anaemia") for text in TEXTS[:11]), ()))
    assert {"tiny": 12} == cache.passes


def test_more_texts_than_the_limit_holds_give_the_same_numbers_within_it(encoder):
    groups = [(text, TEXTS[k % 5]) for k, text in enumerate(TEXTS)]
    roomy, tight = EncodingCache(1 << 30), EncodingCache(cost(encoder) // 6)
    for a, b in zip(
        roomy.encodings(encoder, groups, (1,)), tight.encodings(encoder, groups, (1,)), strict=True
    ):
        for one, other in zip(a, b, strict=True):
            assert one.states[1] == pytest.approx(other.states[1], abs=1e-5)
    assert 0 < tight.nbytes <= tight.peak <= tight.limit < roomy.peak
    assert 40 == roomy.passes["tiny"]
    assert 40 < tight.passes["tiny"] <= 80  # what was dropped and came back is counted again


def test_vectors_of_more_texts_than_the_limit_holds_are_all_there(encoder):
    cache = EncodingCache(5_000)
    vectors = cache.vectors(encoder, TEXTS)
    assert TEXTS == list(vectors)
    assert cache.peak <= 5_000
    assert np.array_equal(np.stack(list(vectors.values())), encoder(TEXTS))


def test_a_group_that_is_larger_than_the_limit_is_read_all_the_same(encoder):
    cache = EncodingCache(100)
    sizes = [len(group) for group in cache.encodings(encoder, [TEXTS[:3], TEXTS[3:4]], (1,))]
    assert [3, 1] == sizes


def test_the_footprint_is_what_is_kept(encoder):
    cache = EncodingCache(1 << 30)
    assert 0 == cache.footprint(TEXTS)
    cache.announce(encoder, (0, 2))
    expected = cache.footprint([*TEXTS, *TEXTS])
    list(cache.encodings(encoder, [TEXTS], ()))
    assert expected == cache.nbytes > 40 * 2 * 8 * 16 * 4


def test_what_was_used_last_stays(encoder):
    cache = EncodingCache(cost(encoder, TEXTS[:4]) + 100)
    list(cache.encodings(encoder, [TEXTS[:4]], (1,)))
    list(cache.encodings(encoder, [TEXTS[:1]], (1,)))  # the oldest, asked for again
    list(cache.encodings(encoder, [TEXTS[4:5]], (1,)))
    list(cache.encodings(encoder, [TEXTS[:1]], (1,)))
    assert {"tiny": 5} == cache.passes


def test_what_comes_again_later_is_dropped_last_and_what_has_come_for_the_last_time_first(encoder):
    groups = [[text] for text in (*TEXTS[:6], TEXTS[0], *TEXTS[6:12])]
    limit = cost(encoder, TEXTS[:4]) + 100
    blind, sighted = EncodingCache(limit), EncodingCache(limit)
    sighted.announce(encoder, (1,))
    sighted.expect(groups)
    for cache in (blind, sighted):
        for group in groups:
            cache.proceed(1)
            list(cache.encodings(encoder, [group], (1,)))
        assert cache.peak <= limit
    assert {"tiny": 13} == blind.passes
    assert {"tiny": 12} == sighted.passes
    assert not any(text == TEXTS[0] for _, text, _ in sighted._entries)


def test_without_an_encoder_nothing_is_looked_at():
    EncodingCache(1).expect(pytest.fail(name) for name in ["looked at"])
