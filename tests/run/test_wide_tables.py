"""Tables with a column per model become rows of one answer each."""

import pytest

from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line
from vivavoce.run.exchange.wide_tables import columns_of_models, long_lines

LINES = [
    Line("a.csv, line 2", {"item": "q1", "A": "x", "B": ""}),
    Line("a.csv, line 3", {"item": "q2", "A": None, "B": "y"}),
]


def test_each_row_gives_one_answer_of_each_model() -> None:
    assert [
        Line("a.csv, line 2, column A", {"item": "q1", "candidate": "A", "text": "x"}),
        Line("a.csv, line 2, column B", {"item": "q1", "candidate": "B", "text": ""}),
        Line("a.csv, line 3, column A", {"item": "q2", "candidate": "A", "text": None}),
        Line("a.csv, line 3, column B", {"item": "q2", "candidate": "B", "text": "y"}),
    ] == list(long_lines(LINES, ["A", "B"]))


def test_a_candidate_may_have_a_better_name_than_its_column_and_stand_deeper() -> None:
    line = Line("a", {"item": "q1", "out": {"gpt": "x"}, "other": "y"})
    rows = [line.row for line in long_lines([line], {"gpt-4.1": "out.gpt", "Model B": "other"})]
    assert [("gpt-4.1", "x"), ("Model B", "y")] == [(row["candidate"], row["text"]) for row in rows]
    assert all("other" not in row for row in rows)


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["A,B"], {"A": "A", "B": "B"}),
        (["A", " B , C"], {"A": "A", "B": "B", "C": "C"}),
        (["gpt=answer_gpt,B"], {"gpt": "answer_gpt", "B": "B"}),
        (["a=b=c"], {"a=b": "c"}),
    ],
)
def test_columns_are_written_between_commas_or_one_by_one(words: list[str], columns: dict[str, str]) -> None:
    assert columns == columns_of_models(words)


@pytest.mark.parametrize("words", [["A,,B"], [""], ["A", "A"], ["=A"], ["A="]])
def test_words_that_name_no_column_or_a_candidate_twice_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError, match=r"--models-in-columns .*: write a column, or candidate=column"):
        columns_of_models(words)


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"line 2: no column 'Model A' .* Known: A, B, item\."):
        list(long_lines(LINES, ["Model A"]))


def test_what_says_the_candidate_or_the_text_twice_is_refused() -> None:
    with pytest.raises(InputError, match="text is mapped or set, and the columns of models say it too"):
        list(long_lines(LINES, ["A"], named=["item", "text"]))
    beside = [Line("a, line 1", {"item": "q", "candidate": "A", "B": "x"})]
    with pytest.raises(InputError, match="a, line 1: a column 'candidate' stands beside those of models"):
        list(long_lines(beside, ["B"]))
    with pytest.raises(InputError, match="one column is named for two candidates"):
        list(long_lines(LINES, {"one": "A", "two": "A"}))


def test_one_column_may_be_named_without_a_list() -> None:
    line = Line("a", {"item": "q1", "gpt": "x"})
    assert [{"item": "q1", "candidate": "gpt", "text": "x"}] == [row.row for row in long_lines([line], "gpt")]
