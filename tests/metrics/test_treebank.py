"""Words. Oracle: NLTK's NLTKWordTokenizer, a sentence at a time."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.lengths import length

from vivavoce.metrics.treebank import lower_words, treebank_words

nltk_tokenize = lazy_module("nltk.tokenize")


def wanted(text):
    oracle = nltk_tokenize.NLTKWordTokenizer()
    return [w for sentence in re.split(r"(?<=[.?!])\s+", text) for w in oracle.tokenize(sentence)]


MARKS = [
    "'",
    "''",
    '"',
    "`",
    "``",
    " ",
    "  ",
    "\n",
    "\t",
    "\u00a0",
    ".",
    "..",
    "--",
    *",:;()[<>]}«“‘„»”’-—*$%?!@",
]
RUNS = ["1", "5", "s", "x", "ll", "re", "n't", "'s", "cannot", "gonna", "wanna", "d'ye", "more'n", "'tis"]
PIECES = st.sampled_from([*MARKS, *RUNS, "'twas", "gimme", "_", "é", "日", "a", "X", "'M", "Cannot"])


@settings(max_examples=length(25, 3_000), deadline=None)
@given(st.lists(PIECES, max_size=10).map("".join))
def test_equals_nltk_wherever_marks_meet(text):
    assert wanted(text) == treebank_words(text)


# NLTK 3.10 runs its patterns on the package `regex`, whose \w and \s differ from Python's for combining
# marks, raised digits, fractions and four control characters. It shows beside an apostrophe only.
@settings(max_examples=length(25, 1_000), deadline=None)
@given(st.text(st.characters(exclude_categories=["C", "M", "Nl", "No"])))
def test_equals_nltk_on_any_text(text):
    assert wanted(text) == treebank_words(text)


def test_equals_nltk_on_real_answers(hivmedqa):
    """Every 7th of HIVMedQA's answers."""
    lines = (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines()[::7]
    texts = [json.loads(line)["answer"] for line in lines]
    assert [] == [text for text in texts if wanted(text) != treebank_words(text)]


@each_case(
    ("text", "words"),
    [
        ("", []),
        (" \n ", []),
        ("It's 2.5 mg, twice.", ["It", "'s", "2.5", "mg", ",", "twice", "."]),
        ("Don't stop.", ["Do", "n't", "stop", "."]),
        ('He said "no."', ["He", "said", "``", "no", ".", "''"]),
        ("CD4+ <200", ["CD4+", "<", "200"]),
        ("e.g. this", ["e.g", ".", "this"]),
        ("the patients' wards", ["the", "patients", "'", "wards"]),
    ],
)
def test_hand_worked_words(text, words):
    assert words == treebank_words(text)


def test_the_shared_recipe_lowers_case_first():
    assert ["no", "ards", "."] == lower_words("No ARDS.")


@given(st.lists(st.sampled_from(["fever", "10", "mg", "no", "cough."])))
def test_more_white_space_changes_nothing(words):
    assert treebank_words(" ".join(words)) == treebank_words(" \n ".join(words))


def test_a_long_run_of_marks_takes_no_square_of_its_length():
    """Done at all: with patterns that go back over a run this would not end today."""
    for text in (
        ".)" + " " * 100_000 + "x)",
        "'" * 100_000,
        ".)" * 50_000 + "\n" * 50_000 + ")",
        '"' * 100_000,
    ):
        assert treebank_words(text)
