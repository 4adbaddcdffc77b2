"""Items are checked on load: one sentence that names benchmark, item and fault."""

from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.formats import FORMATS, ask, check, read_response
from vivavoce.run.catalogue import listing


def item(kind: str, **fields: Any) -> Item:
    return Item(benchmark="bench", item="q7", format=kind, **{"question": "Which one?", **fields})


AB = ("Aspirin", "Heparin")


@each_case(
    ("bad", "sentence"),
    [
        (
            item("mcq", question=" ", options=AB, answer=("Aspirin",)),
            "bench, item 'q7': the question is blank.",
        ),
        (
            item("mcq", options=("Aspirin",), answer=("Aspirin",)),
            "bench, item 'q7': mcq needs 2 or more options, not 1.",
        ),
        (
            item("mcq", options=AB),
            "bench, item 'q7': multiple choice needs exactly one answer, not 0: it has no key.",
        ),
        (
            item("mcq", options=AB, answer=AB),
            "bench, item 'q7': multiple choice needs exactly one answer, not 2.",
        ),
        (
            item("mcq", options=AB, answer=("aspirin",)),
            "bench, item 'q7': the key 'aspirin' is no option. Did you mean 'Aspirin'?",
        ),
        (
            item("mcq", options=("a", "a"), answer=("a",)),
            "bench, item 'q7': the option 'a' stands there twice.",
        ),
        (item("mcq", options=("a", " "), answer=("a",)), "bench, item 'q7': option B is empty."),
        (
            item("true_false", answer=("Yes",)),
            "bench, item 'q7': true_false needs the answer True or False, not 'Yes'.",
        ),
        (item("true_false"), "bench, item 'q7': true_false needs the answer True or False, not nothing."),
        (item("list", options=AB), "bench, item 'q7': list needs one or more answers."),
        (item("list", answer=("a",)), "bench, item 'q7': list needs 1 or more options, not 0."),
        (
            item("list", options=AB, answer=("Aspirin", "A")),
            "bench, item 'q7': the key 'Aspirin' stands there twice.",
        ),
        (item("short", question=""), "bench, item 'q7': the question is blank."),
        (item("longform", question="…"), "bench, item 'q7': the question is blank."),
        (
            item("short_inverse", references=("r",)),
            "bench, item 'q7': short_inverse needs a false_answer, the wrong answer that is shown.",
        ),
        (
            item("short_inverse", false_answer="f"),
            "bench, item 'q7': short_inverse needs one or more references, the right explanation or answer.",
        ),
        (
            item("multi_hop"),
            "bench, item 'q7': multi_hop needs one or more references, the right explanation or answer.",
        ),
        (item("multi_hop", question="", references=("r",)), "bench, item 'q7': the question is blank."),
        (
            item("multi_hop_inverse", steps=("a",), step=1, references=("r",)),
            "bench, item 'q7': multi_hop_inverse needs 2 or more steps, not 1.",
        ),
        (
            item("multi_hop_inverse", steps=("a", " "), step=1, references=("r",)),
            "bench, item 'q7': step 2 is blank.",
        ),
        (
            item("multi_hop_inverse", steps=("a", "b"), references=("r",)),
            "bench, item 'q7': multi_hop_inverse needs step, the number of the wrong one.",
        ),
        (
            item("multi_hop_inverse", steps=("a", "b"), step=3, references=("r",)),
            "bench, item 'q7': the wrong step is number 3, but the steps are 1 to 2.",
        ),
        (
            item("multi_hop_inverse", steps=("a", "b"), step=0, references=("r",)),
            "bench, item 'q7': the wrong step is number 0, but the steps are 1 to 2.",
        ),
        (
            item("multi_hop_inverse", steps=("a", "b"), step=1),
            "bench, item 'q7': multi_hop_inverse needs one or more references, the right explanation or "
            "answer.",
        ),
        (
            item("mqc"),
            "bench, item 'q7': no format named 'mqc'. Did you mean 'mcq'?",
        ),
    ],
)
def test_a_faulty_item_is_refused_with_a_sentence(bad: Item, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        check(bad)
    assert sentence == str(error.value)


def test_keys_become_texts_of_options() -> None:
    assert ("Heparin",) == check(item("mcq", options=AB, answer=("B",))).answer
    assert AB == check(item("list", options=AB, answer=("A", "Heparin"))).answer
    # an option's exact text comes before the letter
    assert ("B",) == check(item("mcq", options=("B", "A"), answer=("B",))).answer


@pytest.mark.parametrize("key", ["true", "TRUE", "True", "t", "T", " True "])
def test_truth_values_become_words(key: str) -> None:
    assert ("True",) == check(item("true_false", answer=(key,))).answer
    assert ("False",) == check(item("true_false", answer=("f",))).answer


def test_an_answer_without_references_becomes_the_references() -> None:
    assert (("BPH",), ()) == (
        (made := check(item("short", answer=("BPH",)))).references,
        made.answer,
    )
    given = item("longform", answer=("a",), references=("b",))
    assert given == check(given)


def test_a_sound_item_is_returned_as_it_is() -> None:
    sound = item("mcq", options=AB, answer=("Aspirin",))
    assert sound is check(sound)


def test_prompts_show_question_context_and_options() -> None:
    asked = item("mcq", options=AB, context="A man of 60.")
    assert "A man of 60.\n\nWhich one?" in ask(asked)
    assert "B. Heparin" in ask(asked, style="letter")
    assert "letter" not in ask(asked, style="text")
    assert "- Heparin" in ask(asked, style="text")
    assert "AB. Option 27" in ask(item("list", options=tuple(f"Option {k}" for k in range(28))))
    assert "True or False" in ask(item("true_false"))
    assert ask(item("longform")).startswith("Which one?")


def test_prompts_show_what_is_to_be_explained() -> None:
    wrong = item("short_inverse", false_answer="Aspirin", references=("r",), context="A man of 60.")
    assert "A man of 60.\n\nWhich one?" in ask(wrong)
    assert "Aspirin" in ask(wrong)
    assert "Reasoning" in ask(item("multi_hop", references=("r",)))
    chain = item("multi_hop_inverse", steps=("Step 1: Platelets.", "**Step 2** - Fibrin.", "Last."), step=2)
    assert "\nStep 1: Platelets.\n" in ask(chain)
    assert "\nStep 3: Last.\n" in ask(chain)
    assert "Answer given" not in ask(chain)
    assert "Answer given: Never.\n" in ask(replace(chain, false_answer="Never."))


def test_the_gold_is_never_shown() -> None:
    for kind in ("short_inverse", "multi_hop", "multi_hop_inverse"):
        asked = item(kind, false_answer="f", references=("GOLD",), steps=("a", "b"), step=2)
        assert "GOLD" not in ask(asked)
        assert ask(asked) == ask(replace(asked, step=1))
    assert "GOLD" not in ask(item("multi_hop", references=("r",), steps=("GOLD", "b")))


def test_braces_in_a_question_are_left_alone() -> None:
    asked = item("mcq", question="{{ options }}?", options=AB)
    assert "{{ options }}?" in ask(asked)


def test_an_unknown_style_or_format_is_an_error_that_suggests() -> None:
    with pytest.raises(InputError, match="Did you mean 'letter'"):
        ask(item("mcq", options=AB), style="leter")
    with pytest.raises(InputError, match="no format named 'lst'"):
        read_response(item("lst"), "A")


def test_the_table_has_a_row_for_every_format() -> None:
    rows = listing("formats")
    assert tuple(FORMATS) == tuple(row["name"] for row in rows)
    assert {("name", "fields", "answered", "read as")} == {tuple(row) for row in rows}


def test_options_are_never_edited() -> None:
    padded = item("mcq", options=(" Aspirin ", "Heparin"), answer=("A",))
    assert padded.options == check(padded).options
    assert " Aspirin " == read_response(replace(padded, format="mcq"), "aspirin").parsed
