"""Where a text names the answer, or an option by label; and the many numbers that do neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.reading.answer_mentions import answer_mentions, options_named

WORDS = (
    *(
        "The answer is ",
        "the correct option is ",
        "option ",
        "Answers ",
        "B",
        "C.",
        "2",
        "1, 2 and 5",
        "(",
        ")",
        ". ",
    ),
    *(
        "because ",
        "not ",
        "la respuesta correcta es la ",
        "Reponse ",
        "10 mg",
        "false",
        "is correct",
        "\n",
        ", so ",
        ": ",
    ),
)


def said(text):
    return [(m.kind, m.named, text[m.start : m.end].strip()) for m in answer_mentions(text)]


@each_case(
    ("text", "named"),
    [
        ("The answer is 2.", (1,)),
        ("So it is ALS. Therefore, the correct option is C.", (2,)),
        ("Lumbar stenosis (Answer 4 correct). The pain eases.", (3,)),
        ("Therefore, the correct answer is 3- Tricuspid insufficiency.", (2,)),
        ("Options 1 and 3 are correct.", (0, 2)),
        ("B is correct.", (1,)),
        ("Answer: (c)", (2,)),
        ("La respuesta correcta es la 2.", (1,)),
        ("La 3 es correcta.", (2,)),
        ("La bonne réponse est la 3.", (2,)),
        ("La risposta corretta è la B.", (1,)),
        ("The best answer to this question is option D, since it is safe.", (3,)),
        ("The incorrect statement is 5.", (4,)),
        ("Therefore the answer is pulmonary neoplasia.", ()),
        ("The correct choice is to perform a colposcopy.", ()),
        ("Retinal detachment is the correct answer.", ()),
        ("La opción correcta es esperar.", ()),
    ],
)
def test_a_statement_that_says_which_option_is_right_is_found(text, named):
    assert [("answer", named)] == [(m.kind, m.named) for m in answer_mentions(text)]


@pytest.mark.parametrize(
    ("text", "named", "where"),
    [
        ("Answers 1, 2 and 5 are treatments of dumping.", (0, 1, 4), "Answers 1, 2 and 5"),
        ("Option B is incorrect because it lasts.", (1,), "Option B"),
        ("We leave out choices A-C.", (0, 1, 2), "choices A-C"),
        ("The answer is not 2.", (1,), "2"),
        ("Las opciones 1 y 3 son falsas.", (0, 2), "Las opciones 1 y 3"),
        ("It is long-acting (option B).", (1,), "option B"),
        ("3: false.", (2,), "3"),
    ],
)
def test_an_option_by_label_is_no_statement_of_the_answer(text, named, where):
    assert [("option", named, where)] == said(text)


def test_all_and_none_of_the_options_are_found_and_name_no_option():
    assert [("all", (), "None of the above")] == said("None of the above fits.")


@each_case(
    "text",
    [
        "A man of 2 years with type 1 diabetes, grade 2 or 3, stage B, took 5 mg, 33.3% of them.",
        "Glasgow: eye opening 4, verbal response 4, motor response: 5.",
        "The response was 7 out of 10 in hepatitis B.",
        "The treatment of choice is surgery; the best choice is an endoscopy.",
        "They answer a question. Statements 2 of them. In response to A patient.",
        "The cause is the correct one of the two alternatives: 2.5 mg or 3 weeks.",
        "En respuesta a que la respuesta es buena, la 2 dosis.",
        "Which of the following is the correct answer?",
        "(1) cough, (2) fever, (3) rash. 4. Vomiting.",
        "C. difficile grew. E. coli did not. Vitamin A is low.",
        "",
    ],
)
def test_numbers_and_letters_of_other_things_name_nothing(text):
    assert [] == said(text)


def test_a_statement_goes_with_its_sentence_clause_or_brackets():
    assert "The correct option is C." == said("It burns. The correct option is C. It heals.")[0][2]
    assert ", so the answer is 1." == said("The angle is 30 degrees, so the answer is 1.")[0][2]
    assert "(Answer 4 correct)" == said("Stenosis (Answer 4 correct) is seen.")[0][2]
    assert "Option C is correct" == said("Option C is correct because it is short.")[0][2]


def test_a_range_names_all_that_lie_between():
    assert (0, 1, 2, 4) == options_named("A-C, E")
    assert () == options_named("")


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=14).map("".join))
def test_any_text_has_mentions_in_order_and_none_within_another(text):
    end = 0
    for mention in answer_mentions(text):
        assert end <= mention.start < mention.end <= len(text)
        end = mention.end


@each_case(
    "unit",
    ["The answer is 2. ", "(the answer is ", "answer 1, 2, 3, ", "a ", " ", ", so the correct option "],
)
def test_reading_takes_time_in_proportion_to_the_text(unit):
    assert growth(answer_mentions, Hostile(unit).text) <= STEEPEST
