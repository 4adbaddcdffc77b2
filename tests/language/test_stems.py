"""Stems. Oracle: NLTK's PorterStemmer in its default mode."""

import gzip
import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.lengths import length

from vivavoce.language.stems import stem
from vivavoce.metrics import wordnet

porter = lazy_module("nltk.stem.porter")

ENDINGS = [
    *(
        "ational",
        "tional",
        "enci",
        "anci",
        "izer",
        "bli",
        "alli",
        "entli",
        "eli",
        "ousli",
        "ization",
        "ation",
    ),
    *("ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli", "logi", "icate"),
    *("ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible"),
    *("ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "s", "sses"),
    *("ies", "ss", "ed", "ing", "eed", "ied", "y", "e", "ll"),
]


def differing(words):
    oracle = porter.PorterStemmer()
    return [(word, stem(word), oracle.stem(word)) for word in words if stem(word) != oracle.stem(word)]


def test_equals_nltk_on_every_word_of_wordnet():
    """Entries, terms, irregular forms and synonyms of the table that ships: 90,000 words."""
    text = gzip.decompress(wordnet._TABLE.read_bytes()).decode("ascii")
    words = set(text.split())
    assert 80_000 < len(words)
    assert [] == differing(sorted(words)[:: length(6, 1)])


def test_equals_nltk_on_the_words_of_real_answers(hivmedqa):
    lines = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    words = {word for line in lines for word in re.split(r"[\s*,.:;()]+", json.loads(line)["answer"].lower())}
    assert 5_000 < len(words)
    assert [] == differing(words)


@settings(max_examples=length(25, 2_000), deadline=None)
@given(
    st.text("aeiouybcdlnstzé'-7", max_size=6), st.sampled_from(ENDINGS), st.sampled_from(["", "", *ENDINGS])
)
def test_equals_nltk_where_endings_meet_any_stem(start, ending, more):
    assert [] == differing([start + ending + more])


@settings(max_examples=length(25, 500), deadline=None)
@given(st.text(st.characters(exclude_characters="*")).map(str.lower))
def test_equals_nltk_on_any_text_in_lower_case(word):
    assert [] == differing([word])


@each_case(
    ("word", "wanted"),
    # the examples of Porter (1980), and of NLTK's extensions
    [("caresses", "caress"), ("ponies", "poni"), ("feed", "feed"), ("plastered", "plaster"), ("sing", "sing"),
     ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("relational", "relat"), ("sky", "sky"),
     ("adjustable", "adjust"), ("controll", "control"), ("dies", "die"), ("dying", "die"), ("enjoy", "enjoy"),
     ("fly", "fli"), ("radically", "radic"), ("hopefully", "hope"), ("pathology", "patholog"), ("as", "as")],
)  # fmt: skip
def test_hand_worked_stems(word, wanted):
    assert wanted == stem(word)


def test_no_word_gives_no_stem():
    assert "" == stem("")
