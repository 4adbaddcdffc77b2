"""Other names of a term: user's dictionaries, SNOMED CT descriptions, WordNet."""

import json

import pytest

from vivavoce.core.errors import InputError
from vivavoce.systems.hivmedqa.entities.lemmas import form_of
from vivavoce.systems.hivmedqa.entities.synonyms import from_file, from_wordnet, look_up, read_dictionary

FOLDED, WRITTEN = form_of("none", folded=True), form_of("none", folded=False)


def test_a_synonym_with_capitals_is_met_only_if_names_are_folded():
    """Published: 421 of 1,453 synonyms hold capitals, and entities are lower-cased."""
    dictionary = {"3tc": ("Lamivudine",)}
    assert {"lamivudine"} == look_up(dictionary, FOLDED)("3tc")
    assert {"Lamivudine"} == look_up(dictionary, WRITTEN)("3tc")


def test_an_inflected_key_is_found_only_in_its_base_form():
    dictionary = {"Antibody tests": ("immunoassays",)}
    assert {"immunoassay"} == look_up(dictionary, form_of("simplemma", folded=True))("antibody test")
    assert frozenset() == look_up(dictionary, WRITTEN)("antibody test")


def test_keys_that_become_one_have_the_names_of_both():
    assert {"a", "b"} == look_up({"HIV": ("a",), "hiv": ("b",)}, FOLDED)("hiv")


def test_a_term_of_several_words_is_found_in_wordnet_only_with_underscores():
    assert "hypertension" in from_wordnet(FOLDED, "_")("high blood pressure")
    assert frozenset() == from_wordnet(WRITTEN, " ")("high blood pressure")
    assert "fever" in from_wordnet(WRITTEN, " ")("pyrexia")


def test_the_shared_dictionary_has_380_terms(hivmedqa):
    found = read_dictionary(hivmedqa / "synonyms.json")
    assert (380, 1453, 63) == (
        len(found),
        sum(map(len, found.values())),
        sum(not names for names in found.values()),
    )
    assert 421 == sum(name != name.lower() for names in found.values() for name in names)


HEADER = ("id", "active", "conceptId", "languageCode", "typeId", "term")
ROWS = (
    ("1", "1", "22298006", "en", "900000000000003001", "Myocardial infarction (disorder)"),
    ("2", "1", "22298006", "en", "900000000000013009", "Myocardial infarction"),
    ("3", "1", "22298006", "en", "900000000000013009", 'Heart attack, "MI"'),
    ("4", "0", "22298006", "en", "900000000000013009", "Infarction of heart"),
    ("5", "1", "57054005", "en", "900000000000013009", "Acute MI"),
    ("6", "1", "57054005", "en", "900000000000013009", "MYOCARDIAL INFARCTION"),
)


@pytest.fixture
def snomed(tmp_path):
    def write(*rows):
        file = tmp_path / "sct2_Description.txt"
        file.write_text("".join("\t".join(row) + "\r\n" for row in rows))
        return file

    return write


def test_terms_of_a_snomed_concept_are_names_of_each_other(snomed):
    names = from_file(snomed(HEADER, *ROWS), FOLDED)
    assert {"myocardial infarction", 'heart attack, "mi"', "acute mi"} == names("myocardial infarction")
    assert frozenset() == names("infarction of heart") == names("myocardial infarction (disorder)")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("id", "term")], "no column conceptId"),
        ([HEADER, ROWS[0], ROWS[1][:-1]], "line 3 has 5 fields where the header has 6"),
    ],
)
def test_a_snomed_file_that_cannot_be_used_is_named_with_its_line(snomed, rows, words):
    with pytest.raises(InputError, match=words):
        read_dictionary(snomed(*rows))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "broken JSON"),
        ("[1]", "a JSON object from term to list"),
        ('{"a": "b"}', "'a' needs a list of names"),
        ('{"a": ["b", 1]}', "'a' needs a list of names"),
        ('{"a": [" "]}', "'a' needs a list of names"),
        ('{" ": ["b"]}', "a term is blank"),
        ('{"a": ["b"], "a": ["c"]}', "'a' stands there twice"),
        ("[" * 100_000, "more than 100 levels"),
        ("\udcff", "utf-8"),
    ],
)
def test_a_dictionary_that_cannot_be_used_is_named(tmp_path, text, words):
    file = tmp_path / "own.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=rf"own\.json cannot be read: .*({words})"):
        read_dictionary(file)


def test_a_file_of_another_kind_or_none_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"neither a \.json dictionary"):
        read_dictionary(tmp_path / "own.xlsx")
    with pytest.raises(InputError, match="No such file"):
        read_dictionary(tmp_path / "own.json")


def test_a_dictionary_written_since_is_read_again(tmp_path):
    file = tmp_path / "own.json"
    for names in (["aids"], ["aids", "acquired immunodeficiency syndrome"]):
        file.write_text(json.dumps({"hiv": names}))
        assert set(names) == from_file(file, FOLDED)("hiv")
