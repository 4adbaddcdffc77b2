"""Entities by chunks, and by scispaCy's model where it is installed."""

import sys
import types

import pytest
from tests.cases import each_case

from vivavoce.core.errors import MetricError
from vivavoce.systems.hivmedqa.entities import extract
from vivavoce.systems.hivmedqa.entities.extract import chunks, terms_of


def found(text, *terms):
    return chunks(text, terms_of(terms, str), str)


@each_case(
    ("text", "wanted"),
    [
        ("The most likely diagnosis is viral hepatitis.", ("diagnosis", "viral hepatitis")),
        ("**Acute HIV infection**\n- fever, sore throat", ("acute hiv infection", "fever", "sore throat")),
        ("HIV is not hiv, and the HIV test", ("hiv", "hiv test")),
        ("Give 2.5mg of methotrexate, not 25 mg.", ("2.5 mg", "methotrexate", "25 mg")),
        ("CD4+ count < 200 cells/mm3", ("cd4+ count", "<200 cells/mm3")),
        ("18 to 90 days after exposure, in 10–20% of us", ("18 to 90 days", "exposure", "10–20 %")),
        ("type 2 diabetes in 2019 (12)", ("type 2 diabetes",)),
        ("HIV-1/HIV-2 antibody/antigen test", ("hiv-1/hiv-2 antibody/antigen test",)),
        ("Crohn’s disease clearly", ("crohn's disease",)),
        ("пневмония и грипп", ("пневмония и грипп",)),
        ("1. 2) 17 – of the and", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_what_stands_between_stop_words_and_marks_is_an_entity(text, wanted):
    assert wanted == found(text)


def test_terms_come_first_and_the_longest_of_them():
    text = "Chronic viral load test of HIV"
    assert ("chronic viral load test", "hiv") == found(text)
    assert ("chronic", "viral load", "test", "hiv") == found(text, "load", "viral load")
    assert ("chronic", "viral load test", "hiv") == found(text, "viral load", "Viral_load test")


def test_a_term_may_hold_stop_words():
    assert ("window of opportunity", "closed") == found(
        "The window of opportunity was closed", "window of opportunity"
    )


def test_a_term_is_found_in_its_base_form():
    singular = {"tests": "test"}
    terms = terms_of(["antibody test"], lambda word: singular.get(word, word))
    assert ("rapid", "antibody tests") == chunks(
        "Rapid antibody tests", terms, lambda word: singular.get(word, word)
    )


@pytest.fixture
def fake_model(monkeypatch):
    """spaCy with a model that finds the words of four letters or more in any text."""

    def load(name):
        def nlp(text):
            assert "en_core_sci_lg" == name
            return types.SimpleNamespace(
                ents=[types.SimpleNamespace(text=w) for w in text.split() if len(w) > 3]
            )

        return nlp

    monkeypatch.setitem(sys.modules, "spacy", types.SimpleNamespace(load=load))
    extract._pipeline.cache_clear()
    yield
    extract._pipeline.cache_clear()


def test_the_models_entities_are_lower_cased_and_stand_once(fake_model):
    assert ("fever", "cough") == extract.scispacy("Fever and\n**cough**  and FEVER")


def test_a_model_that_is_not_there_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    extract._pipeline.cache_clear()
    with pytest.raises(MetricError, match=r"en_core_sci_lg .*install scispacy"):
        extract.scispacy("x")
