"""Files of recorded units: what stands in them, and what is wrong with them."""

import json

import pytest

from vivavoce.core.errors import InputError
from vivavoce.core.evidence import Evidence
from vivavoce.facts.fact import Answer, AnswerKey, Cleaned
from vivavoce.facts.recorded import RecordedUnit, read_recorded

ROW = {"item": "i1", "candidate": "a", "unit": "1", "text": "A is B."}


@pytest.fixture
def file(tmp_path):
    def write(*rows: object):
        path = tmp_path / "units.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return path

    return write


def key(*names):
    """The name of an answer, as a splitter gives it."""
    return (AnswerKey(*names),)


def test_units_come_by_answer_in_the_order_of_the_file(file):
    recorded = read_recorded(
        file(
            ROW,
            {**ROW, "candidate": "b", "text": "B."},
            {**ROW, "unit": 2, "text": "C  is\nD."},
            {**ROW, "repeat": 2, "text": "E."},
        )
    )
    assert ("A is B.", "C is D.") == recorded.texts(key("i1", "a", 1))
    assert ("B.",) == recorded.texts(key("i1", "b", 1))
    assert ("E.",) == recorded.texts(key("i1", "a", 2))
    assert recorded.texts(key("i2", "a", 1)) is None


def test_a_row_holds_verdict_evidence_and_rater(file):
    passage = {"source": "docs", "version": "ab", "file": "x.txt", "page": 2, "offset": 0, "quote": "B."}
    row = {**ROW, "verdict": "Supported", "rater": "ann", "evidence": [{**passage, "bearing": "supports"}]}
    (checked,) = read_recorded(file(row)).checked(key("i1", "a", 1), "A is B.")
    assert checked == RecordedUnit(
        "1", "A is B.", "supported", (Evidence("docs", "ab", "x.txt", 2, 0, "B.", "supports"),), "ann"
    )


def test_several_raters_check_one_unit_and_it_is_one_unit(file):
    rows = [{**ROW, "verdict": "true", "rater": "ann"}, {**ROW, "verdict": "false", "rater": "bob"}]
    recorded = read_recorded(file(*rows))
    assert ("A is B.",) == recorded.texts(key("i1", "a", 1))
    assert ["true", "false"] == [row.verdict for row in recorded.checked(key("i1", "a", 1), "A is B.")]
    assert ("ann", "bob") == recorded.raters


def test_a_unit_without_a_verdict_was_not_checked(file):
    recorded = read_recorded(file(ROW))
    assert () == recorded.checked(key("i1", "a", 1), "A is B.")
    assert () == recorded.raters


def test_an_empty_text_is_a_unit(file):
    assert ("",) == read_recorded(file({**ROW, "text": " "})).texts(key("i1", "a", 1))


def test_rows_of_items_that_are_not_there_are_counted(file):
    recorded = read_recorded(file(ROW, {**ROW, "unit": "2"}, {**ROW, "item": "i9"}))
    assert {"i9": 1} == recorded.unknown({"i1"})


def test_a_table_without_lists_writes_evidence_as_json(tmp_path):
    path = tmp_path / "units.csv"
    path.write_text(
        "item,candidate,repeat,unit,text,verdict,evidence\n"
        'i1,a,2,1,A is B.,TRUE,"[{""source"": ""docs"", ""quote"": ""q""}]"\n'
    )
    (checked,) = read_recorded(path).checked(key("i1", "a", 2), "A is B.")
    assert ("true", (Evidence("docs", "", "", None, None, "q"),)) == (checked.verdict, checked.evidence)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"item": None}, "item must be a name, not null"),
        ({"item": 3}, "item must be a name, not 3"),
        ({"candidate": " "}, "candidate must be a name, not ' '"),
        ({"unit": None}, "unit must be a number or a name, not null"),
        ({"unit": True}, "unit must be a number or a name, not True"),
        ({"text": None}, "text must be the text of the unit, not null"),
        ({"text": ["A."]}, "text must be the text of the unit"),
        ({"repeat": 0}, "repeat must be a whole number from 1, not 0"),
        ({"repeat": "two"}, "repeat must be a whole number from 1, not 'two'"),
        ({"rater": 1}, "rater must be a name, not 1"),
        ({"verdict": "suported"}, "'suported' is no verdict. Did you mean 'supported'"),
        ({"verdict": "mostly true"}, "'mostly true' is no verdict"),
        ({"verdict": True}, "True is no verdict. Known: true, false, bad, supported"),
        ({"evidence": "here"}, "evidence is no JSON"),
        ({"evidence": {"quote": "q"}}, "evidence must be a list of objects"),
        ({"evidence": ["q"]}, "evidence 1: an object with source and quote is needed"),
        ({"evidence": [{"source": "s"}]}, "evidence 1: quote must be text, not null"),
        (
            {"evidence": [{"source": "s", "quote": "q", "page": 0}]},
            "page must be null or a whole number from 1",
        ),
        (
            {"evidence": [{"source": "s", "quote": "q", "offset": "3"}]},
            "offset must be null or a whole number",
        ),
        (
            {"evidence": [{"source": "s", "quote": "q", "bearing": "proves"}]},
            "bearing must be one of supports",
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_what_is_needed(file, fields, message):
    with pytest.raises(InputError) as raised:
        read_recorded(file({**ROW, "unit": "0"}, {**ROW, **fields}))
    assert "units.jsonl, line 2" in str(raised.value)
    assert message in str(raised.value)


def test_a_unit_that_one_rater_checked_twice_is_refused(file):
    with pytest.raises(
        InputError, match=r"line 2: unit '1' of this answer stands there twice: leave one row"
    ):
        read_recorded(file(ROW, ROW))
    with pytest.raises(InputError, match=r"line 3: unit '1' of this answer stands there twice by 'ann'"):
        read_recorded(file(ROW, {**ROW, "rater": "ann"}, {**ROW, "rater": "ann"}))


def test_a_unit_with_two_texts_is_refused(file):
    with pytest.raises(InputError, match=r"line 2: unit '1' has another text than in an earlier row"):
        read_recorded(file(ROW, {**ROW, "rater": "ann", "text": "A is no B."}))


def test_broken_json_and_an_empty_file_are_named(tmp_path):
    path = tmp_path / "units.jsonl"
    path.write_text(json.dumps(ROW) + '\n{"item": "i1"')
    with pytest.raises(InputError, match=r"line 2: broken JSON"):
        read_recorded(path)
    path.write_text("\n\n")
    with pytest.raises(InputError, match="is empty: it holds no rows"):
        read_recorded(path)


def test_a_file_that_was_written_again_is_read_again(file):
    assert ("A is B.",) == read_recorded(file(ROW)).texts(key("i1", "a", 1))
    assert ("Longer than before.",) == read_recorded(file({**ROW, "text": "Longer than before."})).texts(
        key("i1", "a", 1)
    )


def test_twins_and_published_ids_have_rows_of_their_own(file):
    recorded = read_recorded(file(ROW, {**ROW, "variant": "bias:recency", "text": "C is D."}))
    assert ("A is B.",) == recorded.texts(key("i1", "a", 1))
    assert ("C is D.",) == recorded.texts(key("i1", "a", 1, "bias:recency"))
    twin = Answer("i1", "a", 1, "?", Cleaned("ok", ("A.",), ()), "bias:recency", alias="q7")
    assert ("C is D.",) == recorded.texts(twin.keys)
    by_alias = read_recorded(file({**ROW, "item": "q7", "text": "E."}))
    assert ("E.",) == by_alias.texts(twin.keys)


def test_must_statements_are_no_units_of_the_answer(file):
    recorded = read_recorded(file(ROW, {**ROW, "unit": "must 1", "text": "C is D.", "verdict": "true"}))
    assert ("A is B.",) == recorded.texts(key("i1", "a", 1))
    assert [row.unit for row in recorded.checked(key("i1", "a", 1), "C is D.", must=True)] == ["must 1"]
    assert () == recorded.checked(key("i1", "a", 1), "C is D.")
