import json

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json, read_json_file

REFUSED = {
    "[" * 100_000: "more than 100 levels of lists and objects",
    "[" * 101 + "]" * 101: "more than 100 levels of lists and objects",
    '{"a":' * 101 + "1" + "}" * 101: "more than 100 levels of lists and objects",
    "9" * 100_000: "a number has thousands of digits",
    "[1e999]": "1e999 is larger than any number can be",
    "-" + "9" * 400 + ".5": "is larger than any number can be",
    "NaN": "NaN is no JSON number; write null where there is none",
    "[-Infinity]": "-Infinity is no JSON number",
    r'"\ud800"': "a \\u escape gives half of a character",
    "[1": "Expecting ',' delimiter",
}


@each_case(("text", "clause"), REFUSED.items())
def test_what_cannot_be_kept_is_refused_with_a_clause(text, clause):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the clause is compared below
        read_json(text)
    assert clause in str(refused.value)
    assert len(str(refused.value)) < 100


@pytest.mark.parametrize(
    "text", ["[" * 100 + "]" * 100, '"' + "[" * 500 + '"', "[[]" + ",[]" * 500 + "]", "1e308"]
)
def test_what_is_deep_in_brackets_of_a_text_or_beside_each_other_is_read(text):
    assert json.loads(text) == read_json(text)


def test_a_file_is_named(tmp_path):
    file = tmp_path / "synonyms.json"
    file.write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"synonyms\.json: broken JSON \(more than 100 levels"):
        read_json_file(file)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"synonyms\.json: broken JSON"):
        read_json_file(file)
    with pytest.raises(InputError, match="cannot read"):
        read_json_file(tmp_path / "none.json")
