"""Bias twins: pairs that differ in one sentence, of the sample exam and of published ones."""

from dataclasses import replace

import pytest

from vivavoce import formats
from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.language.invariants import either_holds
from vivavoce.variants import Stock
from vivavoce.variants.sentences import TYPES, fits, place

EVERY = f"bias(type=[{', '.join(TYPES)}], seed=1)"


def outcomes(items, spec=EVERY):
    return list(registry.build("variation", spec).makes(Stock(items), None))


def pairs(items, spec=EVERY):
    return [o.records for o in outcomes(items, spec) if len(o.records) == 2]


@pytest.fixture(scope="module")
def sample():
    return load("sample").items


def test_a_twin_differs_from_its_base_by_one_sentence_and_by_nothing_else(sample):
    bases = {i.item: i for i in sample if not i.variant}
    found = pairs(sample)
    assert 200 < len(found)
    for biased, neutral in found:
        base = bases[biased.item]
        for twin in (biased, neutral):
            assert twin.question.count(twin.meta["sentence"]) == 1
            assert base.question == twin.question.replace(f"{twin.meta['sentence']} ", "")
            assert twin.question.startswith(base.question[: place(base)])
            same = replace(twin, question=base.question, variant="", meta=base.meta, origin=None)
            assert replace(base, alias=None) == same
            assert twin == formats.check(twin)
        assert fits(biased.meta["sentence"], neutral.meta["sentence"])
        assert biased.origin == neutral.origin == f"bias(seed=1, type={biased.variant.partition(':')[2]})"
        assert neutral.meta["twin_of"] == biased.variant == neutral.variant.replace("neutral", "bias")
        assert biased.meta["neutral_sentence"] == neutral.meta["sentence"]


def test_what_is_planted_stands_on_one_side_only_and_is_never_the_key(sample):
    for biased, neutral in pairs(sample):
        planted = biased.meta["planted"]
        assert "planted" not in neutral.meta
        assert planted.rstrip(".;, ") in biased.meta["sentence"]
        if planted not in ("True", "False"):
            assert not either_holds(planted, neutral.meta["sentence"])
        assert not any(either_holds(planted, key) for key in (*biased.answer, *biased.references))
        if biased.options:
            assert planted in biased.options


def test_all_twins_of_a_question_plant_one_answer(sample):
    planted = {}
    for biased, _ in pairs(sample):
        planted.setdefault(biased.item, set()).add(biased.meta["planted"])
    assert {1} == {len(found) for found in planted.values()}
    given = next(i.meta["planted"] for i in sample if i.item == "cardio-01" and i.variant == "bias:recency")
    assert {given} == planted["cardio-01"]


def test_order_and_company_change_nothing(sample):
    def hashes(items):
        return {twin.hash for o in outcomes(items) for twin in o.records}

    questions = {i.item for i in sample}
    alone = set().union(*(hashes([i for i in sample if i.item == item]) for item in questions))
    assert hashes(sample) == hashes(sample[::-1]) == alone


def test_another_seed_makes_other_twins(sample):
    zero, one = ({m[0].hash for m in pairs(sample, f"bias(type=recency, seed={s})")} for s in (0, 1))
    assert len(zero & one) < len(zero) / 2


def test_twins_that_the_exam_has_stay_its_own(sample):
    own = [o for o in outcomes(sample, "bias(type=recency)") if o.reason == "the exam has its own twins"]
    assert {"cardio-01", "endo-04", "psych-01", "psych-06"} == {o.name for o in own}


def test_a_published_biased_twin_gets_the_neutral_one_it_lacks(hivmedqa):
    items = load(f"hivmedqa(data={hivmedqa})").items
    found = [o for o in outcomes(items) if o.what.startswith("neutral")]
    made = [o.records[0] for o in found if o.records]
    assert (24, 22) == (len(found), len(made))
    assert {"the exam's own twin differs by more than a sentence"} == {o.reason for o in found} - {None}
    bases = {i.item: i for i in items if not i.variant}
    theirs = {(i.item, i.variant): i for i in items if i.variant}
    for neutral in made:
        base, biased = bases[neutral.item], theirs[neutral.item, neutral.meta["twin_of"]]
        assert base.question == neutral.question.replace(f"{neutral.meta['sentence']} ", "")
        assert abs(len(neutral.question) - len(biased.question)) < 0.2 * len(biased.meta["bias_text"])
        assert neutral.question[:40] == biased.question[:40]


def test_questions_of_every_published_format_get_twins_or_a_reason(shared):
    items = load(f"cliniqlink(data={shared / 'data' / 'cliniqlink'})").items
    made = {biased.format for biased, _ in pairs(items)}
    assert {"mcq", "list", "short_inverse", "multi_hop_inverse"} == made
    reasons = {o.reason for o in outcomes(items) if not o.records}
    assert "a bare statement leaves no place for a sentence that is not judged" in reasons
    assert "no wrong answer is known; planted=MODEL has one written" in reasons


def one(items, spec="bias(type=recency)"):
    (found,) = outcomes(items, spec)
    return found


def test_an_open_question_without_a_wrong_answer_is_left_out_with_the_reason(question):
    found = one([question()])
    assert ((), "no wrong answer is known; planted=MODEL has one written") == (found.records, found.reason)


def test_the_exams_wrong_answer_is_planted(question):
    assert "sarcoidosis" == one([question(meta={"planted": "sarcoidosis"})]).records[0].meta["planted"]
    assert "a lie" == one([question(false_answer="a lie", format="short_inverse")]).records[0].meta["planted"]


@pytest.mark.parametrize("planted", ["the KEY", "key", "the key and more", "thé kèy."])
def test_the_key_is_never_planted(question, planted):
    found = one([question(meta={"planted": planted})])
    assert ((), "the exam's wrong answer holds the keyed one, or is held by it") == (
        found.records,
        found.reason,
    )


def test_an_option_that_holds_the_keyed_ones_words_is_not_planted(question):
    options = ("aspirin", "aspirin 300 mg", "Warfarin")
    found = one([question(format="mcq", options=options, answer=("aspirin",))])
    assert "Warfarin" == found.records[0].meta["planted"]
    found = one([question(format="mcq", options=options[:2], answer=("aspirin",))])
    assert "every wrong option holds the keyed one's words, or is held by them" == found.reason


def test_options_in_another_order_plant_the_same(question):
    options = tuple(f"drug {letter}" for letter in "abcdefgh")
    items = [question(format="mcq", options=o, answer=("drug c",)) for o in (options, options[::-1])]
    assert 1 == len({one([item]).records[0].meta["planted"] for item in items})


def test_a_statement_suggests_the_other_verdict(question):
    item = question(text="He coughs. Statement: he is ill.", format="true_false", answer=("True",))
    found = one([item]).records[0]
    assert "False" == found.meta["planted"]
    assert "statement" in found.meta["sentence"]
    assert "question" not in found.meta["sentence"]


def test_a_wrong_answer_that_is_too_long_for_a_sentence_is_refused(question):
    found = one([question(meta={"planted": "word " * 40})])
    assert "the planted answer is longer than 120 characters" == found.reason


def test_a_model_is_named_where_it_would_have_to_write(question):
    found = one([question()], "bias(type=recency, planted=openai/gpt-4o)")
    assert ((), 1) == (found.records, found.requests)


def test_a_figure_in_the_planted_answer_does_not_pass_for_a_change(question):
    item = question("q", "He takes 3 mg and has no pain. What is it?", meta={"planted": "no more than 5 mg"})
    found = one([item])
    assert found.reason is None
    assert 2 == len(found.records)
