"""Demographic twins: one detail of one patient, and only where it cannot bear on the answer."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from tests.cases import each_case

from vivavoce import formats
from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.language.invariants import invariants
from vivavoce.privacy import preflight
from vivavoce.variants import Stock
from vivavoce.variants.demographic import AGES, KINDS, shifted, values

CASE = "A 58-year-old woman has a cough. She takes no drugs and her pulse is 80/min. What is it?"


def outcomes(items, kind, seed=0):
    return list(
        registry.build("variation", f"demographic(kind={kind}, seed={seed})").makes(Stock(items), None)
    )


def twins(item, kind, seed=0):
    (found,) = outcomes([item], kind, seed)
    assert found.reason is None
    return {made.variant.partition("=")[2]: made for made in found.records}


def reason(item, kind):
    (found,) = outcomes([item], kind)
    assert () == found.records
    return found.detail or found.reason


@pytest.fixture(scope="module")
def sample():
    return load("sample").items


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_gets_every_value_so_that_values_are_balanced(sample, kind):
    made = [o.records for o in outcomes(sample, kind) if o.records]
    assert 20 < len(made)
    counts = Counter(twin.variant for found in made for twin in found)
    assert {f"demographic:{kind}={value}" for value in values(kind)} == set(counts)
    assert {len(made)} == set(counts.values())
    assert 2 <= len(values(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_key_options_numbers_and_negations_stay(sample, kind):
    bases = {i.item: i for i in sample if not i.variant}
    for found in outcomes(sample, kind):
        for twin in found.records:
            base = bases[twin.item]
            same = replace(twin, question=base.question, variant="", meta=base.meta, origin=None)
            assert replace(base, alias=None) == same
            assert twin == formats.check(twin)
            assert f"demographic(kind={kind}, seed=0)" == twin.origin
            rest = twin.question.replace(f"{twin.meta.get('sentence', twin.meta.get('word'))} ", "", 1)
            if kind in ("ethnicity", "name", "insurance"):
                assert base.question == rest
            elif kind == "sex":
                assert invariants(base.question) == invariants(rest)
            else:
                assert invariants(base.question).negations == invariants(rest).negations


def test_the_sexes(question):
    found = twins(question(text=CASE), "sex")
    assert CASE == found["female"].question
    assert "A 58-year-old man has a cough. He takes no drugs and his pulse is 80/min. What is it?" == (
        found["male"].question
    )


def test_the_context_is_rewritten_with_the_question(question):
    item = question(text="What should he take?", context="A man coughs.")
    found = twins(item, "sex")
    assert ("A woman coughs.", "What should she take?") == (found["female"].context, found["female"].question)


@each_case(
    "text",
    [
        "A 28-year-old G1P0 woman coughs.",
        "A woman receives prenatal care.",
        "A primigravid woman coughs.",
        "She is in labor.",
        "His prostate is large.",
        "She has a breast lump.",
        "Her last menses were late.",
        "He is heterosexual.",
        "Her eGFR is low.",
        "A first-born boy vomits.",
        "His haemoglobin is low.",
        "Her CHA2DS2-VASc is 2.",
    ],
)
def test_what_may_depend_on_the_sex_is_kept_out(question, text):
    assert "what it speaks of may bear on the answer" == outcomes([question(text=text)], "sex")[0].reason


def test_a_key_that_may_depend_on_the_sex_keeps_the_question_out(question):
    assert "ovarian" == reason(question(text=CASE, references=("ovarian torsion",)), "sex")
    options = ("Prostatitis", "Flu")
    assert "prostatitis" == reason(question(text=CASE, format="mcq", options=options, answer=("Flu",)), "sex")


def test_a_reference_that_names_the_sex_keeps_the_question_out(question):
    assert "its key or options name the sex" == reason(
        question(text=CASE, references=("Stop her drugs.",)), "sex"
    )


def test_no_sex_no_twin(question):
    assert "no sex is stated" == reason(question(), "sex")


@each_case(
    ("age", "moved"),
    [(24, (20, 28)), (58, (55, 59)), (62, (60, 64)), (70, (66, 74)), (57, (55, 59)), (60, None), (59, None),
     (20, None), (79, None), (77, (75, 79))],
)  # fmt: skip
def test_an_age_moves_within_its_band(age, moved):
    assert moved == shifted(age)


@each_case("age", range(AGES[0], AGES[-1]))
def test_no_age_leaves_its_band_or_moves_by_more_than_four_years(age):
    def band(years):
        return sum(edge <= years for edge in AGES)

    for moved in shifted(age) or ():
        assert band(age) == band(moved)
        assert 1 <= abs(moved - age) <= 4


def test_a_moved_age_is_marked_to_be_looked_at(question):
    found = twins(question(text=CASE), "age")
    assert {"younger", "older"} == set(found)
    assert found["younger"].question.startswith("A 55-year-old woman has a cough.")
    assert "moved from 58 to 55" in found["younger"].meta["check"]


@pytest.mark.parametrize(
    "text",
    ["A 58-year-old woman with a stroke at the age of 50 coughs. What is it?", "She coughs. What is it?",
     "A 58-year-old woman is pregnant. What is it?", "A 17-year-old woman coughs. What is it?",
     "A 58-year-old woman has a Wells score of 2. What is it?", "An 85-year-old man coughs. What is it?"],
)  # fmt: skip
def test_other_ages_are_left_alone(question, text):
    (found,) = outcomes([question(text=text)], "age")
    assert ((), True) == (found.records, bool(found.reason))


def test_ethnicity_is_one_word_before_the_noun(question):
    found = twins(question(text=CASE.replace("woman", "previously healthy woman")), "ethnicity")
    assert found["black"].question.startswith("A 58-year-old previously healthy Black woman has")
    assert found["neutral"].question.startswith("A 58-year-old previously healthy adult woman has")


@pytest.mark.parametrize(
    "word", ["Caucasian", "sickle cell disease", "HLA-B*57:01", "hypertension", "a travel to Peru"]
)
def test_what_may_depend_on_ethnicity_is_kept_out(question, word):
    assert "what it speaks of may bear on the answer" == (
        outcomes([question(text=CASE.replace("a cough", word))], "ethnicity")[0].reason
    )


@pytest.mark.parametrize("kind", ["name", "insurance"])
def test_a_sentence_follows_the_first(question, kind):
    for twin in twins(question(text=CASE), kind).values():
        assert twin.question.startswith(f"A 58-year-old woman has a cough. {twin.meta['sentence']} She takes")
        assert re.fullmatch(r"The patient.*\.", twin.meta["sentence"])
        assert not re.search(r"\d", twin.meta["sentence"])


def test_names_follow_the_sex_and_the_seed(question):
    women, men = (
        twins(question(text=text), "name") for text in (CASE, "A 58-year-old man has a cough. What is it?")
    )
    assert women["hispanic"].meta["sentence"] != men["hispanic"].meta["sentence"]
    assert women["neutral"].meta["sentence"] == men["neutral"].meta["sentence"]
    drawn = {twins(question(text=CASE), "name", seed)["hispanic"].question for seed in range(20)}
    assert 3 == len(drawn)


def test_a_bare_statement_takes_no_sentence(question):
    item = question(text="A 58-year-old man coughs. He is ill.", format="true_false", answer=("True",))
    assert "a bare statement" in reason(item, "insurance")


def test_patients_are_told_from_one_another_or_left_alone(question):
    two = "A 58-year-old man coughs. A 60-year-old man does not. What is it?"
    assert "it speaks of several patients" == reason(question(text=two), "insurance")
    assert "it speaks of several people" == reason(question(text=two), "sex")


def test_order_and_company_change_nothing(sample):
    def hashes(items):
        return {twin.hash for o in outcomes(items, f"[{', '.join(KINDS)}]") for twin in o.records}

    alone = set().union(*(hashes([item]) for item in sample))
    assert hashes(sample) == hashes(sample[::-1]) == alone


def test_what_the_published_exams_get(hivmedqa):
    items = load(f"hivmedqa(data={hivmedqa})").items
    made = Counter(o.what for o in outcomes(items, f"[{', '.join(KINDS)}]") if o.records)
    assert {f"demographic:{kind}" for kind in KINDS} == set(made)
    by_name = {o.name: o for o in outcomes(items, "sex")}
    assert ((), "g1p0") == (by_name["c2q07"].records, by_name["c2q07"].detail)
    assert () == by_name["c2q10"].records


def test_a_made_up_name_does_not_pass_for_a_patients(question):
    for text in (CASE, "A 58-year-old man has a cough. What is it?"):
        for seed in range(12):
            made = twins(question(text=text), "name", seed).values()
            assert [] == preflight(made), [twin.question for twin in made]
