"""Answers of boxes to tick, as forms have them: what is ticked is chosen, and nothing else."""

from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import read_response
from vivavoce.reading.check_boxes import ticked_alone

OPTIONS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
ONE = {
    "☑ A ☐ B ☐ C ☐ D": "A",
    "☐ A ☑ B ☐ C ☐ D": "B",
    "[x] A [ ] B [ ] C [ ] D": "A",
    "( ) A (x) B ( ) C ( ) D": "B",
    "○ A ● B ○ C ○ D": "B",
    "□ A\n■ B\n□ C": "B",
    "☒ A ☐ B ☐ C ☐ D": "A",
    "A ☐ B ☑ C ☐ D ☐": "B",
    "A.( ) B.(x) C.( ) D.( )": "B",
    "A) ☐ Aspirin B) ☑ Heparin C) ☐ Warfarin": "B",
    "**A.** [ ] Aspirin\n**B.** [x] Heparin": "B",
    "1. ☐ Aspirin\n2. ☑ Heparin\n3. ☐ Warfarin": "B",
    "Answer: ☐ A ☐ B ☑ C": "C",
    "A. Aspirin\nB. Heparin  <-- answer\nC. Warfarin\nD. Alteplase": "B",
    "A\nB ←\nC": "B",
    "Answer:\n☐ A\n☑ B\n☐ C\n\nExplanation: it acts at once; A is too slow.": "B",
    "- [ ] Aspirin\n- [ ] Heparin\n\nThe form has no room. Answer: B": "B",
    "☐ A ☐ B ☐ C": "",
    "☑ A ☑ B ☐ C": "",
}
SEVERAL = {
    "Answer: ☐ A ☑ B ☐ C ☑ D": "BD",
    "My choices: [x] A, [ ] B, [x] C, [ ] D": "AC",
    "☑ A\n☑ B\n☒ C\n☒ D": "AB",
    "A. Aspirin\nB. Heparin ✓\nC. Warfarin\nD. Alteplase ✓": "BD",
    "○ A ● B ○ C ● D": "BD",
    "A) ☐ Aspirin B) ☑ Heparin C) ☐ Warfarin": "B",
    "☐ A ☐ B ☐ C ☐ D": "",
    "☒ A ☒ B ☐ C ☒ D": "",
    "I ruled out the others: ☒ A ☒ C ☒ D ☐ B": "",
}
TRUTHS = {
    "☑ True ☐ False": True,
    "☐ True\n☑ False": False,
    "True ☑\nFalse ☐": True,
    "( ) True (x) False": False,
    "True ✓ False ✗": True,
    "True ❌ False ✅": False,
    "● True ○ False": True,
    "☐ True ☐ False": None,
    "❌": False,
}


def item(name: str) -> Item:
    if name == "true_false":
        return Item(benchmark="b", item="i", format=name, question="It is.", answer=("True",))
    return Item(benchmark="b", item="i", format=name, question="?", options=OPTIONS, answer=OPTIONS[:1])


def letters(parsed: object) -> str:
    names = [parsed] if isinstance(parsed, str) else list(parsed or ())  # type: ignore[call-overload]
    return "".join(sorted("ABCD"[OPTIONS.index(name)] for name in names))


@each_case("text", ONE)
def test_the_ticked_option_is_the_choice(text: str) -> None:
    reading = read_response(item("mcq"), text)
    assert ONE[text] == letters(reading.parsed if reading.status == "ok" else None)


@each_case("text", SEVERAL)
def test_a_list_holds_what_is_ticked(text: str) -> None:
    reading = read_response(item("list"), text)
    assert SEVERAL[text] == letters(reading.parsed if reading.status == "ok" else None)


@each_case("text", TRUTHS)
def test_a_statement_is_what_is_ticked(text: str) -> None:
    reading = read_response(item("true_false"), text)
    assert TRUTHS[text] is reading.parsed


@each_case(
    "text",
    ["", "B", "The answer is ☑ B.", "f(x) = 2, so A [1] [ ]", "I choose (x) B",
     "The drug () given [ ] is it.", "[ ] A ( ) B ☑ C"],
)  # fmt: skip
def test_any_other_text_stays(text: str) -> None:
    assert text == ticked_alone(text)
