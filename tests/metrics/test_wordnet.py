"""The table of synonyms: it is what its tool makes of WordNet's files, and is read as NLTK reads those."""

import gzip
import importlib.util
import os
import random
from pathlib import Path

import pytest
from tests.absent import absent
from tests.cases import each_case

from vivavoce.metrics import wordnet
from vivavoce.metrics.wordnet import synonyms


def tool(root: Path, name: str):
    spec = importlib.util.spec_from_file_location(f"tool_{name}", root / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder() -> Path:
    """WordNet's own files, of Debian's wordnet-base."""
    found = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
    if not (found / "data.noun").is_file():
        absent(f"no WordNet in {found}: install wordnet-base, or set WNSEARCHDIR")
    return found


def test_the_table_is_what_the_tool_makes(root, folder, tmp_path):
    """The text, not the packed bytes: these depend on the zlib at hand, and on nothing else."""
    tool(root, "wordnet").main(folder, tmp_path)
    packed = (tmp_path / "synonyms.txt.gz").read_bytes()
    assert gzip.decompress(wordnet._TABLE.read_bytes()) == gzip.decompress(packed)
    assert (wordnet._TABLE.parent / "LICENSE").read_text("ascii") == (tmp_path / "LICENSE").read_text("ascii")
    assert bytes(4) == packed[4:8]  # where gzip has the time


def test_equals_nltk_on_entries_and_on_forms_made_of_them(root, folder, tmp_path):
    theirs = tool(root, "meteor").reader(folder, tmp_path)
    entries = sorted({word for part in wordnet._parts() for word in (*part.entries, *part.irregular)})
    some = random.Random(7).sample(entries, 1_500)
    endings = ("", "s", "es", "ed", "ing", "er", "est", "ies", "men", "ses", "ves")
    forms = [stem + ending for word in some for stem in (word, word[:-1]) for ending in endings]
    for form in forms:
        lemmas = (lemma.name() for synset in theirs.synsets(form) for lemma in synset.lemmas())
        # what NLTK finds beyond these can meet no word: METEOR's are in lower case
        assert {w for w in lemmas if "_" not in w and w == w.lower()} == synonyms(form), form


@each_case(
    ("word", "among"),
    [("physicians", "doctor"), ("quickly", "rapidly"), ("halted", "stop"), ("teeth", "tooth"),
     ("abdomen", "belly"), ("worst", "bad"), ("dogs", "dog"), ("heart_attack", None), ("therapi", None),
     ("", None), ("zzz", None)],
)  # fmt: skip
def test_hand_picked_synonyms(word, among):
    found = synonyms(word)
    assert among in found if among else not found


def test_single_words_in_lower_case_alone_are_synonyms():
    for part in wordnet._parts():
        assert not any("_" in said or said != said.lower() for said in part.entries.values())


def test_an_irregular_form_takes_no_ending_off():
    """WordNet lists `better` under `well` and `good`: the rule of -er would make it `bett`."""
    assert {"good", "well"} <= synonyms("better")


def test_the_licence_stands_beside_the_table():
    text = (wordnet._TABLE.parent / "LICENSE").read_text("ascii")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in text
    assert "THIS SOFTWARE AND DATABASE IS PROVIDED" in text
