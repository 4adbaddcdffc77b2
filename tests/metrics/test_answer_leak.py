"""answer_leak: what an explanation gives away of the answer, and what the published ones do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.reading.test_answer_mentions import WORDS

from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.answer_leak import AnswerLeak

OPTIONS = ("Diabetes", "Diabetes insipidus.", "Addison's disease", "3")


def row(text, *, options=OPTIONS, answer=None):
    item = Item(
        benchmark="b", item="q", format="argument", question="Which?", options=options,
        answer=(answer or options[0],),
    )  # fmt: skip
    response = Response(benchmark="b", item="q", candidate="A", text=text)
    return Row(item, response, Reading("ok", text))


def figures(text, **how):
    values = AnswerLeak().values([row(text, **how)], ScoringContext())[0]
    return tuple(v.value for v in values.values())


@each_case(
    ("text", "expected"),
    [
        ("The answer is 2.", (1, 1, 0)),
        ("The correct answer is diabetes.", (1, 0, 1)),
        ("Option B is incorrect.", (0, 1, 0)),
        ("None of the above.", (0, 1, 0)),
        ("DIABÉTES, with a sugar of 2.", (0, 0, 1)),
        ("Diabetes insipidus drinks.", (0, 0, 0)),
        ("Diabetes insipidus or diabetes?", (0, 0, 0)),
        ("Diabetic thirst in 3 days.", (0, 0, 0)),
    ],
)
def test_each_criterion_says_what_is_given_away(text, expected):
    assert expected == figures(text)


def test_the_note_quotes_what_was_found_and_where():
    value = AnswerLeak().values([row("It is so. The answer is 2.")], ScoringContext())[0]["names_answer"]
    assert "answer is 2" in value.note
    assert value.note.startswith("at 10: ")
    assert {"places": 1.0} == value.parts


def test_a_right_option_that_is_a_number_is_set_aside():
    value = AnswerLeak().values([row("It is 3.", answer="3")], ScoringContext())[0]["repeats_option"]
    assert (None, "set_aside") == (value.value, value.status)


def test_the_order_of_the_options_changes_no_figure():
    text = "Diabetes, as option 2 says. The answer is 1."
    assert figures(text) == figures(text, options=OPTIONS[::-1], answer="Diabetes")


@given(
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=9)), max_size=9).map("".join),
    st.lists(st.text(min_size=1), min_size=2, max_size=5),
)
def test_any_text_and_any_options_have_figures(text, options):
    assert all(value in (0, 1, None) for value in figures(text, options=tuple(options)))


def arguments(shared, name):
    """The arguments of a published file, one a group: what stands behind the question without one."""

    def rows(source):
        path = shared / f"data/casimedicos/tests/en.test_casimedicos_{source}.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()][::5]

    bare = rows("No_Argument")
    return [
        row(line["question"][len(alone["question"]) :], options=tuple(filter(None, line["options"].values())),
            answer=line["options"]["1"])
        for line, alone in zip(rows(name), bare, strict=True)
    ]  # fmt: skip


def naming(shared, name, criterion):
    values = AnswerLeak().values(arguments(shared, name), ScoringContext())
    return [group for group, value in enumerate(values) if value[criterion].value]


@pytest.mark.parametrize(
    ("source", "names", "numbers"),
    [
        ("Expert", [42, 80, 86, 101], [23, 86]),
        ("GPT4", [], []),
        ("OpenBioLLM", [61, 68], [68]),
        ("Llama3", [], []),
        ("IR_Passages", [], []),
        ("Label_Only", [*range(119)], [*range(119)]),
    ],
)
def test_the_published_arguments_give_away_what_a_reader_finds(shared, source, names, numbers):
    """Group 42 is the one false alarm: "which also the answer is a diagnostic criterion"."""
    assert names == naming(shared, source, "names_answer")
    assert numbers == naming(shared, source, "numbers_options")
