"""The form in which names are compared."""

import sys
import types

import pytest

from vivavoce.core.errors import MetricError
from vivavoce.systems.hivmedqa.entities import lemmas
from vivavoce.systems.hivmedqa.entities.lemmas import fold, form_of


def test_folding_takes_case_underscores_and_blanks():
    assert "heart attack" == fold(" Heart_Attack ") == fold("HEART  attack")
    assert "" == fold(" _ ")


@pytest.mark.parametrize(
    ("lemma", "folded", "wanted"),
    [
        ("none", False, "Antibody_Tests"),
        ("none", True, "antibody tests"),
        ("simplemma", True, "antibody test"),
    ],
)
def test_folding_comes_before_the_base_form(lemma, folded, wanted):
    assert wanted == form_of(lemma, folded=folded)("Antibody_Tests")


def test_the_same_settings_are_the_same_function():
    assert form_of("simplemma", folded=True) is form_of("simplemma", folded=True)


@pytest.fixture
def fake_stanza(monkeypatch):
    """stanza with a pipeline that has a base form for 'tests' and none for other words."""

    def word(text):
        return types.SimpleNamespace(text=text, lemma="test" if text == "tests" else None)

    def pipeline(**settings):
        assert ("en", "mimic", None) == tuple(settings[k] for k in ("lang", "package", "download_method"))
        return lambda text: types.SimpleNamespace(
            sentences=[types.SimpleNamespace(words=list(map(word, text.split())))]
        )

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=pipeline))
    caches = (lemmas._pipeline, lemmas._stanza)
    for made in caches:
        made.cache_clear()
    yield
    for made in caches:
        made.cache_clear()


def test_stanzas_words_are_joined_by_one_blank(fake_stanza):
    assert "% antibody test" == form_of("stanza", folded=False)("%  antibody tests")


def test_a_package_that_is_not_there_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "stanza", None)
    lemmas._pipeline.cache_clear()
    with pytest.raises(MetricError, match=r"install stanza"):
        form_of("stanza", folded=False)("never seen before")
