"""Chains of reasoning and explanations: what is read from an answer, and what is not, one claim a test."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.records import Item, Located, Reading, Reasoned
from vivavoce.formats import read_response
from vivavoce.reading.fields import split_steps

KINDS = {"short_inverse", "multi_hop", "multi_hop_inverse"}
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
WHY = "Thrombin makes fibrin, not platelets."


def of(kind: str, text: str, steps: int = 12) -> Reading:
    item = Item(
        benchmark="b", item="i", format=kind, question="q", false_answer="f", references=("r",),
        steps=tuple(f"This is number {n}." for n in range(1, steps + 1)), step=1,
    )  # fmt: skip
    return read_response(item, text)


def step(text: str, steps: int = 12) -> Any:
    reading = of("multi_hop_inverse", text, steps)
    return reading.parsed.step if reading.status == "ok" else reading.status


HOW = {
    "contains": lambda value, got: value in got,
    "lacks": lambda value, got: value not in got,
    "starts": lambda value, got: got.startswith(value),
    "count": lambda value, got: value == len(got),
    "some": lambda value, got: value is (len(got) > 0),
}


def fits(want: dict[str, Any] | str | None, got: Any) -> bool:
    """True if what was read has the fields that are wanted: "step", "explanation_contains", "steps_count"."""
    if not isinstance(want, dict):
        return bool(want == got)
    for key, value in want.items():
        name, _, how = key.rpartition("_")
        if key in HOW or how in HOW:
            whole = got if key in HOW else getattr(got, name)
            if not HOW[key if key in HOW else how](value, whole):
                return False
        elif getattr(got, key) != (tuple(value) if isinstance(value, list) else value):
            return False
    return True


def run(path: Path) -> tuple[int, list[str]]:
    """How many cases a file has for these formats, and those that are read otherwise than wanted."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    cases = [case for case in cases if case["format"] in KINDS]
    wrong = []
    for case in cases:
        reading = of(case["format"], case["text"], case.get("n_steps", 12))
        if reading.status != case["status"] or not fits(case["parsed"], reading.parsed):
            wrong.append(f"{case['id']}: {case['text']!r} read as {reading}")
    return len(cases), wrong


def test_settled_cases_read_as_wanted(shared: Path) -> None:
    assert (11, []) == run(shared / "data" / "readings.jsonl")


def test_own_cases_read_as_wanted() -> None:
    number, wrong = run(Path(__file__).with_name("chain_cases.jsonl"))
    assert [] == wrong
    assert number > 300


def test_cases_written_without_sight_of_the_reader_read_as_wanted() -> None:
    number, wrong = run(Path(__file__).with_name("blind_chain_cases.jsonl"))
    assert [] == wrong
    assert 161 == number


# The published answers of ClinIQLink's own test cases


def test_published_answers_are_read_without_the_faults_of_their_reader(shared: Path) -> None:
    """Its reader finds no step in "**Step:** 2" or "Step five", and takes the first one that is mentioned."""
    cases = json.loads((shared / "data" / "cliniqlink" / "golden.json").read_text(encoding="utf-8"))["cases"]
    mine = {c["id"]: of(c["qtype"], c["answer"], steps=5) for c in cases if c["qtype"] in KINDS}
    others = {c["id"]: c["scores"]["predicted_step"] for c in cases if c["qtype"] == "multi_hop_inverse"}
    named = {n: mine[n].parsed.step if mine[n].status == "ok" else mine[n].status for n in others}
    assert {"mi_17": 2, "mi_18": 5, "mi_12": "unreadable", "mi_15": "unanswered"} == {
        n: v for n, v in named.items() if v != others[n]
    }
    assert {"si_06", "mi_15", "mi_12"} == {n for n, r in mine.items() if r.status != "ok"}
    labels = ("final answer:", "incorrect explanation:", "incorrect reasoning")
    assert {"si_13"} == {
        n for n, r in mine.items() if r.status == "ok" and any(label in r.text.lower() for label in labels)
    }


# The wrong step


def test_the_field_is_never_overridden_by_the_explanation() -> None:
    for field in ("Step: 3", "Step 3", "3", "**Step 3**", "Incorrect Reasoning Step: Step 3"):
        for other in (
            "Step 5 is wrong as well.",
            "The error in step 4 is the same.",
            "Steps 1 and 2 are right.",
        ):
            assert 3 == step(f"{field}\nExplanation: {other}"), (field, other)
            assert 3 == step(f"{field}\n{other}"), (field, other)


@each_case("number", range(1, 13))
def test_every_number_is_read_in_every_form(number: int) -> None:
    for form in (
        "{n}", "Step {n}", "Step {n}.", "**Step:** {n}", "Step {word}", "The {th} step", "Step #{n}",
        "Incorrect Reasoning Step: Step {n}", "The error is in step {n}.", "Step {n} is wrong.",
        "The wrong step is the {th}.", "Final answer: {n}", '{{"step": {n}, "explanation": ""}}',
        '{{"step": "Step {word}"}}', "\\boxed{{{n}}}", "I believe it is step {n}.",
        "Not step 20 but step {n}.",
    ):  # fmt: skip
        text = form.format(n=number, word=WORDS[number - 1], th=ORDINALS[number - 1])
        assert number == step(text), text


def test_a_step_that_the_item_has_not_is_unreadable_with_the_range() -> None:
    assert Reading("unreadable", reason="there is no step 6: they are from 1 to 5") == of(
        "multi_hop_inverse", "Step: 6\nExplanation: x", steps=5
    )
    assert 5 == step("Step: 5\nExplanation: x", steps=5)
    assert "unreadable" == step("Step 0 is wrong.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Steps 2 and 3 are wrong.", "more than one step is named: 2, 3"),
        ("Step: 2.5", "2.5 is no number of a step"),
        ("none", "it names no single step as wrong"),
        ("Step: unknown\nExplanation: x", "no step is named where one should be: unknown"),
        ("Step 1 is right.", "no step is called wrong"),
        ("Step: 2\nStep: 4", "more than one step is named: 2, 4"),
    ],
)
def test_an_unread_step_has_a_reason(text: str, reason: str) -> None:
    assert Reading("unreadable", reason=reason) == of("multi_hop_inverse", text)


def test_the_last_step_is_that_of_the_item() -> None:
    assert (4, 5, 4) == (
        step("The last step.", 4),
        step("The last step is wrong.", 5),
        step("Penultimate step", 5),
    )


def test_an_absent_step_with_an_explanation_is_null_and_read() -> None:
    for text in (WHY, f"Explanation: {WHY}", f"Step:\nExplanation: {WHY}", f'{{"explanation": "{WHY}"}}'):
        assert Reading("ok", Located(None, WHY)) == of("multi_hop_inverse", text), text


def test_a_step_without_an_explanation_is_read_and_has_an_empty_text() -> None:
    reading = of("multi_hop_inverse", "Step 3")
    assert Located(3, "") == reading.parsed
    assert "" == reading.text


def test_neither_a_step_nor_an_explanation_is_unanswered() -> None:
    for text in (
        "Step:",
        "Step:\nExplanation:",
        '{"step": null, "explanation": ""}',
        "Explanation: I don't know.",
    ):
        assert "unanswered" == step(text), text


def test_a_field_that_is_corrected_or_stands_in_tags_is_read() -> None:
    assert 4 == step(f"Step: 3. Wait, no, step 4.\nExplanation: {WHY}")
    assert 4 == step(
        "<answer>3</answer>\n<explanation>x</explanation>\nOn second thought:\n<answer>4</answer>"
    )
    assert "unreadable" == step("<answer>3</answer>\n<explanation>x</explanation>\n<answer>4</answer>")


@each_case(
    "text",
    [
        f"Step: 3\nExplanation: {WHY}",
        f"**Step:** 3\n\n**Explanation:** {WHY}",
        f"3\n{WHY}",
        f"Step 3: {WHY}",
        f"Step 3. {WHY}",
        f"Incorrect Reasoning Step: Step 3: It makes sense.\nIncorrect Reasoning Explanation: {WHY}",
        f"Let us see. Step 1 is right.\nStep: 3\nExplanation: {WHY}",
        f'```json\n{{"step": 3, "explanation": "{WHY}"}}\n```',
        f"<think>2?</think>Step: 3\nWhy: {WHY}",
    ],
)
def test_the_explanation_is_the_text_without_label_and_step(text: str) -> None:
    assert Located(3, WHY) == of("multi_hop_inverse", text).parsed


def test_a_step_without_the_item_knowing_its_steps_is_read() -> None:
    item = Item(benchmark="b", item="i", format="multi_hop_inverse", question="q")
    assert 40 == read_response(item, "Step 40 is wrong.").parsed.step


# An answer and its steps


@each_case(
    ("text", "steps"),
    [
        ("Step 1: One.\nStep 2: Two.", ("One.", "Two.")),
        ("**Step 1:** One.\n\n**Step 2:** Two.", ("One.", "Two.")),
        ("Step one: One.\nStep two: Two.", ("One.", "Two.")),
        ("1. One.\n2) Two.\n(3) Three.", ("One.", "Two.", "Three.")),
        ("- One.\n* Two.\n• Three.", ("One.", "Two.", "Three.")),
        ("One.\nTwo.", ("One.", "Two.")),
        ("One. Two.", ("One. Two.",)),
        ("Step 1: One. Step 2: Two.", ("One.", "Two.")),
        ("1. One\n   and more\n2. Two", ("One and more", "Two")),
        ("Step 1: One\n- a\n- b\nStep 2: Two", ("One - a - b", "Two")),
        ("Here is why:\n1. One\n2. Two", ("One", "Two")),
        ("It is so.\n1. One\n2. Two", ("It is so.", "One", "Two")),
        ("2.5 mg is enough.\n10 mg is too much.", ("2.5 mg is enough.", "10 mg is too much.")),
        ("---\n***", ()),
        ("", ()),
    ],
)
def test_steps_are_split_and_lose_their_marks(text: str, steps: tuple[str, ...]) -> None:
    assert steps == split_steps(text)


def test_the_order_of_answer_and_reasoning_does_not_matter() -> None:
    parts = ("Final Answer: BPH", "Reasoning:\n1. The drug blocks it.\n2. So it shrinks.")
    want = Reading("ok", Reasoned("BPH", ("The drug blocks it.", "So it shrinks.")))
    assert want == of("multi_hop", "\n\n".join(parts)) == of("multi_hop", "\n\n".join(parts[::-1]))
    assert "BPH" == want.text


def test_reasoning_without_an_answer_is_unreadable() -> None:
    for text in (
        "Final Answer:\nReasoning: x",
        "Reasoning: x",
        "Step 1: a\nStep 2: b",
        '{"reasoning": ["x"]}',
    ):
        assert Reading("unreadable", reason="reasoning without an answer") == of("multi_hop", text), text


def test_two_final_answers_are_unreadable_unless_one_is_taken_back() -> None:
    two = "Final Answer: rifampicin{}\n\nFinal Answer: isoniazid"
    assert Reading("unreadable", reason="two final answers that disagree") == of("multi_hop", two.format(""))
    assert Reasoned("isoniazid", ()) == of("multi_hop", two.format("\n\nWait, that is wrong.")).parsed


def test_without_any_label_all_of_it_is_the_answer() -> None:
    text = "It may develop resistance.\n\nThe strain was never tested."
    assert Reasoned(text, ()) == of("multi_hop", text).parsed


# An explanation


def test_only_the_label_at_the_head_is_cut() -> None:
    for label in (
        "Explanation:",
        "**Incorrect Explanation:**",
        "## Explanation\n",
        "explanation -",
        "Reason:",
    ):
        assert Reading("ok", WHY) == of("short_inverse", f"{label} {WHY}"), label
    later = f"Sure.\n\nExplanation: {WHY}"
    assert Reading("ok", later) == of("short_inverse", later)


def test_an_explanation_that_only_refuses_or_is_blank_is_unanswered() -> None:
    for text in ("", "Explanation:", "Explanation: N/A", "Explanation: I don't know.", "<think>x</think>"):
        assert "unanswered" == of("short_inverse", text).status, text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("El paso 1 y el paso 2 son correctos; el paso 3 no lo es.", {1, 2}),
        ("El primer paso incorrecto es el 4.", {1}),
        ("Un ensayo de fase 3 demuestra que el paso 2 es falso.", {3}),
        ("No passo 3 há um erro.", {4}),
    ],
)
def test_steps_of_other_languages_are_not_blamed_for_their_neighbours(text: str, want: set[int]) -> None:
    assert step(text) not in want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("❌ Step 3\n✅ Step 1\n✅ Step 2\n✅ Step 4", 3),
        ("Steps 2 and 3 both look OK; it's step 4 that's off.", 4),
        ("Step 3 is right, but it draws the wrong conclusion.", 3),
        ("Step 1: correct.\nStep 2: this is where the reasoning fails.\nStep 3: follows from step 2.", 2),
    ],
)
def test_a_step_is_judged_by_the_grammar_of_options(text: str, want: int) -> None:
    assert step(text) == want


def test_a_step_in_another_language_is_named_as_in_english() -> None:
    assert [3] * 8 == [
        step(text)
        for text in (
            "El error está en el paso 3.", "L'étape 3 n'est pas correcte.", "Der dritte Schritt ist falsch.",
            "Il passo sbagliato è il 3.", "O erro está no passo 3.", "Fase 3: la trombina forma fibrina.",
            "चरण 3 गलत है।", "الخطوة 3 خاطئة.",
        )
    ]  # fmt: skip
