"""What an exam's references say of its words: by hand, in any order, and from a file."""

import json
import math
from dataclasses import replace

import pytest
from tests.systems.cliniqlink.semantic.making import FakeEncoder

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.systems.cliniqlink.semantic.layers import FIXED, alike, digest, documents, rarity, read_rarity
from vivavoce.systems.cliniqlink.semantic.rules import CORRECTED, PUBLISHED


def item(name, shape, **told):
    return Item(benchmark="b", item=name, format=shape, question="?", **told)


EXAM = [
    item("1", "true_false", answer=("True",)),
    item("2", "mcq", options=("x", "y"), answer=("x",)),
    item("3", "list", options=("p", "q", "r"), answer=("p", "q")),
    item("4", "short", references=("Iron.",)),
    item("5", "short_inverse", references=("Why not lead",), false_answer="Lead"),
    item("6", "multi_hop", references=("Iron.",), steps=("s",)),
    item("7", "multi_hop_inverse", references=("Wrong vessel",), false_answer="Vein", step=1, steps=("s",)),
]


def test_the_published_corpus_is_the_field_answer_of_every_item():
    """True and False are documents, multiple choice has none, both inverse formats give the wrong answer."""
    assert sorted(["True", "p q", "Iron.", "Lead", "Iron.", "Vein"]) == list(documents(EXAM, PUBLISHED))


def test_the_corrected_corpus_is_each_open_reference_once():
    assert ("Iron.", "Why not lead", "Wrong vessel") == documents(EXAM, CORRECTED)


@pytest.mark.parametrize("rules", [PUBLISHED, CORRECTED])
def test_a_corpus_knows_no_order_and_nothing_that_was_made_from_it(rules):
    made = replace(EXAM[3], variant="bias:recency", references=("Zinc",), origin="bias(type=recency)")
    corpus = documents(EXAM, rules)
    assert corpus == documents([made, *reversed(EXAM)], rules)
    assert digest(corpus) != digest(documents(EXAM[:-1], rules))


def test_rarity_by_hand():
    """ln((3 + 1) / (2 + 1)) + 1 for a, ln(4 / 2) + 1 for b; a term without a document as its book says."""
    corpus = ("a a", "a b", "c")
    weights = {rules.unseen: rarity(corpus, str.split, rules) for rules in (PUBLISHED, CORRECTED)}
    for weight in weights.values():
        assert pytest.approx((math.log(4 / 3) + 1, math.log(2) + 1)) == (weight("a"), weight("b"))
    assert 1.0 == weights["lowest"]("new")
    assert pytest.approx(math.log(4) + 1) == weights["highest"]("new")
    assert weights["highest"]("new") > max(weights["highest"].table.values())


def test_a_corpus_without_documents_weighs_all_alike():
    weight = rarity((), str.split, CORRECTED)
    assert 1.0 == weight("a") == weight("b")


def test_a_table_from_a_file(tmp_path):
    file = tmp_path / "idf.json"
    file.write_text(json.dumps({"idf_table": {"a": 2, "b": 3.5}}))
    assert (2.0, 1.0) == (read_rarity(file, PUBLISHED)("a"), read_rarity(file, PUBLISHED)("new"))
    assert 3.5 == read_rarity(file, CORRECTED)("new")


@pytest.mark.parametrize("text", ["[1]", "{}", '{"a": "b"}', '{"a": 0}', '{"a": true}', "{", '{"a": NaN}'])
def test_a_file_that_is_no_table_is_refused(tmp_path, text):
    file = tmp_path / "idf.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"idf\.json"):
        read_rarity(file, CORRECTED)
    with pytest.raises(InputError, match="cannot read"):
        read_rarity(tmp_path / "none.json", CORRECTED)


def test_a_small_corpus_has_the_fixed_baseline():
    embed = FakeEncoder()
    assert FIXED == alike([f"w{k}" for k in range(99)], embed, CORRECTED)
    assert [] == embed.reads


@pytest.mark.parametrize("rules", [PUBLISHED, CORRECTED])
def test_the_baseline_is_the_same_in_any_order(rules):
    corpus = [f"w{k % 7} v{k % 5} u{k}" for k in range(120)]
    found = alike(corpus, FakeEncoder(), rules)
    assert 0.0 < found < 1.0
    assert found == alike(corpus[::-1], FakeEncoder(), rules)


def test_the_baseline_of_unrelated_texts_is_0_and_of_like_ones_by_hand():
    """Every text is "same" and a word of its own: each pair has the cosine 1/2."""
    assert 0.0 == alike([f"w{k}" for k in range(100)], FakeEncoder(), CORRECTED)
    corpus = [f"same w{k}" for k in range(100)]
    assert pytest.approx(0.5, abs=1e-6) == alike(corpus, FakeEncoder(), CORRECTED)
    assert FIXED == alike(["same"] * 100, FakeEncoder(), CORRECTED)  # no two of them differ
