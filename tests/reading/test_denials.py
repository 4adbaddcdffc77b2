"""An option that the answer itself denies is no choice: such an answer is unreadable, never wrong."""

from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import read_response

OPTIONS = ("Aspirin", "Heparin", "Warfarin", "Alteplase", "Insulin")


def reading(text: str, form: str, options: tuple[str, ...] = OPTIONS) -> tuple[str, object]:
    item = Item(benchmark="b", item="i", format=form, question="Which?", options=options, answer=options[:1])
    response = read_response(item, text)
    return response.status, response.parsed


@each_case(
    "text",
    ["C: nein", "Warfarin: nej", "C? No.", "Is it C? No.", "C (falso)"],
)
def test_a_choice_that_is_denied_is_none(text: str) -> None:
    assert ("unreadable", None) == reading(text, "mcq")


@each_case(
    "text",
    [
        *("A, B. Nein: C, D, E", "A, B\nNicht: C, D, E", "A, B. No: C, D, E"),
        "A: wahr; B: wahr; C: unwahr; D: unwahr; E: unwahr",
    ],
)
def test_a_list_that_holds_what_is_denied_is_unreadable(text: str) -> None:
    assert ("unreadable", None) == reading(text, "list")


def test_a_denial_of_another_option_or_in_an_options_own_words_changes_nothing() -> None:
    assert ("ok", "Heparin") == reading("C. No, B.", "mcq")
    assert ("ok", ("Aspirin", "Heparin")) == reading("A: true; B: true; C: false; D: false; E: false", "list")
    assert ("ok", "No") == reading("B. No.", "mcq", ("Yes", "No"))
    assert ("ok", "Warfarin") == reading("C - no interactions are known", "mcq")
