"""extract: what of an answer stands in the context, and in which lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import STEEPEST, growth

from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.extract import Extract, _Places

CONTEXT = (
    "Inclusion Criteria:\nAge of 18 years or older\nNo earlier treatment with “drug A”\n"
    "Platelets of 2.5 units or more\nNo earlier treatment with drug B"
)
GOLD = "Age of 18 years or older ** Platelets of 2.5 units or more"


def values(text, *, context=CONTEXT, references=(GOLD,)):
    item = Item(
        benchmark="b", item="q", format="argument", question="Which?", options=("yes", "no"),
        answer=("yes",), context=context, references=references,
    )  # fmt: skip
    response = Response(benchmark="b", item="q", candidate="A", text=text)
    return Extract().values([Row(item, response, Reading("ok", text))], ScoringContext())[0]


def figures(text, **how):
    return tuple(value.value for value in values(text, **how).values())


def test_the_gold_extract_has_full_marks_and_so_has_the_context_in_all_but_precision():
    assert (1, 1, 1, 1) == figures(GOLD)
    assert (1, 2 / 5, 1, 4 / 7) == figures(CONTEXT)


def test_words_of_invented_pieces_lower_verbatim_and_lines_are_counted_by_hand():
    """6 + 3 of 6 + 3 + 4 words stand there, in one line of the gold and in one that is not of it."""
    text = "Age of 18 years or older ** No earlier treatment\nHaemoglobin of nine units"
    assert (9 / 13, 1 / 2, 1 / 2, 1 / 2) == figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "AGE of  18\tyears or older.",
        '- "Age of 18 years or older"',
        "1. Age of 18 years or older",
        "Age of 18 years or older ** Age of 18 years or older",
    ],
)
def test_case_spaces_quotes_markers_and_repetition_are_no_difference(text):
    assert (1, 1, 1 / 2, 2 / 3) == figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "Age of 8 years or older",
        "5 units or more",
        "ge of 18 years",
        "Age of 18 years or older No earlier treatment",
        "of 18",
        "years or older, Age",
    ],
)
def test_what_stands_in_no_line_as_it_is_is_no_extract(text):
    scores = values(text)
    assert (0, None, 0, 0) == tuple(value.value for value in scores.values())
    assert ("set_aside", "the answer holds no extract") == (
        scores["evidence_precision"].status,
        scores["evidence_precision"].note,
    )


def test_a_whole_line_of_two_words_is_an_extract():
    assert (1, 1, 1, 1) == figures("inclusion criteria:", references=("Inclusion Criteria:",))


def test_a_piece_that_several_lines_hold_counts_for_the_line_of_the_reference():
    assert (1, 1, 1, 1) == figures("No earlier treatment", references=("No earlier treatment with drug B",))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"context": None}, "the item has no context"),
        ({"context": " \n**"}, "the item has no context"),
        ({"references": ()}, "the item has no reference lines"),
        ({"references": ("It is so because of age.",)}, "a reference is no line of the context"),
    ],
)
def test_what_cannot_be_told_is_set_aside_with_its_reason(how, why):
    value = values(GOLD, **how)["evidence_f1"]
    assert (None, "set_aside", why) == (value.value, value.status, value.note)


def test_an_answer_without_a_word_has_no_share_of_words():
    assert (None, None, 0, 0) == figures("** \n - ...")


@given(st.lists(st.text("ab", max_size=8).map(tuple), min_size=1, max_size=5), st.text("ab", min_size=1))
def test_a_run_of_words_is_placed_where_reading_from_the_start_finds_it(lines, piece):
    first = next((n for n, line in enumerate(lines) if piece in "".join(line)), None)
    assert first == _Places(lines).line_of(tuple(piece))


@given(st.permutations([*GOLD.split(" ** "), "No earlier treatment", "Nothing of the sort"]))
def test_the_order_of_pieces_changes_nothing(pieces):
    assert figures("\n".join(pieces)) == figures(" ** ".join(sorted(pieces)))


def test_time_grows_with_like_lines_and_no_faster():
    def like_lines(size):
        return "\n".join(f"the same words of line {n} and {n % 7}" for n in range(size // 36))

    def score(context):
        assert (1, 1, 1, 1) == figures(context, context=context, references=(context,))

    assert growth(score, like_lines, small=4_000, large=32_000) <= STEEPEST
