"""What the reader must and must not make of an answer, one claim a test."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.records import Item, Reading
from vivavoce.formats import read_response

ACS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
DOSES = ("0.25 mg", "2.5 mg", "25 mg", "250 mg")
SIGNS = ("Fever", "New murmur", "Splinter hemorrhages", "Pruritus", "Roth spots")
CELLS = ("T cells", "B cells", "NK cells", "C-reactive protein")
MANY = tuple(f"Finding number {k}" for k in range(28))


def of(kind: str, text: str, options: tuple[str, ...] = ()) -> Reading:
    return read_response(Item(benchmark="b", item="i", format=kind, question="q", options=options), text)


def picked(text: str, options: tuple[str, ...] = ACS) -> Any:
    reading = of("mcq", text, options)
    return reading.parsed if reading.status == "ok" else reading.status


def truth(text: str) -> Any:
    reading = of("true_false", text)
    return reading.parsed if reading.status == "ok" else reading.status


def listed(text: str, options: tuple[str, ...] = SIGNS) -> Any:
    reading = of("list", text, options)
    return set(reading.parsed) if reading.status == "ok" else reading.status


def run(path: Path) -> list[str]:
    """The cases of a file that are read otherwise than wanted."""
    wrong = []
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line) if line.strip() else {"format": None}
        if case["format"] not in {"mcq", "true_false", "list", "short", "longform"}:
            continue
        reading = of(case["format"], case["text"], tuple(case.get("options") or ()))
        want, got = case["parsed"], reading.parsed
        if case["format"] == "list":
            want, got = want and sorted(want), got and sorted(got)
            if case["status"] == "ok" and list(reading.stray) != case.get("stray", []):
                wrong.append(f"{case['id']}: stray {reading.stray}")
        if (reading.status, got or None) != (case["status"], want or None) and (reading.status, got) != (
            case["status"],
            want,
        ):
            wrong.append(f"{case['id']}: {case['text']!r} read as {reading}")
    return wrong


def test_settled_cases_read_as_wanted(shared: Path) -> None:
    assert [] == run(shared / "data" / "readings.jsonl")


@pytest.mark.parametrize("name", ["cases.jsonl", "more_cases.jsonl"])
def test_own_cases_read_as_wanted(name: str) -> None:
    assert [] == run(Path(__file__).with_name(name))


@each_case(
    ("text", "options", "want"),
    [
        ("2.5 mg", DOSES, "2.5 mg"),
        ("The dose is 12.5 mg.", DOSES, "unreadable"),
        ("Give 25 mg daily.", DOSES, "25 mg"),
        ("25mg", DOSES, "25 mg"),
        ("Answer: 25 mg/kg", DOSES, "unreadable"),
        ("Answer: 5-25 mg", DOSES, "unreadable"),
        ("Answer: 2,5 mg", DOSES, "unreadable"),
        ("Answer: 25", DOSES, "unreadable"),
        ("Answer: <25 mg", DOSES, "unreadable"),
        ("Answer: B. 25 mg", DOSES, "unreadable"),
        ("Answer: B. 50 mg", DOSES, "unreadable"),
        ("≥ 50", (">=50", "<50"), ">=50"),
        ("50", ("<50", ">50"), "unreadable"),
        ("1000 mg", ("1,000 mg", "100 mg"), "1,000 mg"),
        ("10³/µL", ("10^3/μL", "10^4/μL"), "10^3/μL"),
        ("103/µL", ("10^3/μL", "10^4/μL"), "unreadable"),
        ("-2.5", ("2.5", "-2.5"), "-2.5"),
        ("2.5", ("2.5", "-2.5"), "2.5"),
        ("The answer is 30%.", ("30", "30%"), "30%"),
        ("3% - 30%", ("3% - 80%", "3% - 30%", "30%", "3%"), "3% - 30%"),
        ("Answer: 10 mg per day", ("10 mg", "10 mg per day"), "10 mg per day"),
        ("HIV-", ("HIV+", "HIV-"), "HIV-"),
        ("Answer: CD4+", ("CD4+", "CD4-"), "CD4+"),
        ("↓ TSH", ("↑ TSH", "↓ TSH"), "↓ TSH"),
    ],
)
def test_numbers_units_and_signs_decide(text: str, options: tuple[str, ...], want: str) -> None:
    assert want == picked(text, options)


@each_case(
    ("text", "options", "want"),
    [
        ("B cells", CELLS, "B cells"),
        ("The answer is C-reactive protein.", CELLS, "C-reactive protein"),
        ("The C-reactive protein is high, and vitamin B is low.", ACS, "unreadable"),
        ("Hepatitis B explains the jaundice.", ACS, "unreadable"),
        ("This is group A streptococcus.", ACS, "unreadable"),
        ("Answer: vitamin B", ACS, "unreadable"),
        ("B cells", ACS, "unreadable"),
        ("A patient like this needs care.", ACS, "unreadable"),
        ("I am sure of it.", (*ACS, "E5", "F6", "G7", "H8", "I9"), "unreadable"),
        ("The answer is (C)", ACS, "Warfarin"),
        ("**B**", ACS, "Heparin"),
        ("B)", ACS, "Heparin"),
        ("b", ACS, "Heparin"),
        ("b. heparin", ACS, "Heparin"),
        ("Option D", ACS, "Alteplase"),
        ("option d", ACS, "Alteplase"),
        ("[B]", ACS, "Heparin"),
        ("B - Heparin", ACS, "Heparin"),
        ("B: Heparin", ACS, "Heparin"),
        ("Heparin (B)", ACS, "Heparin"),
        ("Heparin (C)", ACS, "unreadable"),
        ("$\\boxed{D}$", ACS, "Alteplase"),
        ("The final answer is $\\boxed{\\text{D}}$.", ACS, "Alteplase"),
        ("<answer>B</answer>", ACS, "Heparin"),
        ("Therefore, B.", ACS, "Heparin"),
        ("I would choose B because it works fast.", ACS, "Heparin"),
        ("B is correct.", ACS, "Heparin"),
        ("B is the best choice; A and C act too slowly.", ACS, "Heparin"),
        ("Answer B", ACS, "Heparin"),
        ("## Answer\n\nB", ACS, "Heparin"),
        ("The answer is B. Aspirin is wrong.", ACS, "Heparin"),
        ("The answer is B because A takes too long.", ACS, "Heparin"),
        ("Answer: F", ACS, "unreadable"),
        ("Answer: E. Aspirin", ACS, "unreadable"),
        ("AA", MANY, "Finding number 26"),
        ("Answer: AB", MANY, "Finding number 27"),
        ("Answer: A", ("B", "A", "AB", "O"), "unreadable"),  # the label of one, and the text of another
        ("AB", ("A", "B", "AB", "O"), "AB"),
        ("B", ("Yes, now", "No, later"), "No, later"),
        ("Yes, now", ("Yes, now", "No, later"), "Yes, now"),
    ],
)
def test_letters_count_only_as_labels(text: str, options: tuple[str, ...], want: str) -> None:
    assert want == picked(text, options)


@each_case(
    ("text", "want"),
    [
        ("A and B", "unreadable"),
        ("A, B", "unreadable"),
        ("A/B", "unreadable"),
        ("AB", "unreadable"),
        ("Either A or B", "unreadable"),
        ("A or B", "unreadable"),
        ("Answer: A or C", "unreadable"),
        ("Answer: A\n\nAnswer: B", "unreadable"),
        ("Answer: A\n\nWait, that is wrong.\n\nAnswer: B", "Heparin"),
        ("Answer: A. Wait, actually B.", "Heparin"),
        ("Answer: B\nFinal answer: B", "Heparin"),
        ("It is not A but B.", "Heparin"),
        ("Heparin rather than aspirin.", "Heparin"),
        ("Heparin, not aspirin.", "Heparin"),
        ("Not aspirin.", "unreadable"),
        (
            "Aspirin is unlikely. Warfarin is excluded. Alteplase is contraindicated. Heparin remains.",
            "Heparin",
        ),
        ("A normal INR rules out warfarin, so heparin.", "Heparin"),
        ("Aspirin is not the best choice here; heparin is.", "Heparin"),
        ("Aspirin is less effective than heparin.", "Heparin"),
        ("All except C", "unreadable"),
        ("A. Aspirin\nB. Heparin\nC. Warfarin\nD. Alteplase\n\nAnswer: C", "Warfarin"),
        ("A. Aspirin\nB. Heparin\nC. Warfarin\nD. Alteplase", "unreadable"),
        ("A. Aspirin\nB. Heparin\nC. Warfarin\nD. Alteplase\n\nC", "Warfarin"),
        ("A. Aspirin B. Heparin C. Warfarin D. Alteplase Answer: C", "Warfarin"),
        ("B\n\nAspirin is an antiplatelet. Warfarin takes days. Alteplase dissolves clots.", "Heparin"),
        ("B. Heparin\n\nExplanation: warfarin takes days.", "Heparin"),
        ("Aspirin ❌\nHeparin ✅\nWarfarin ❌", "Heparin"),
        (
            "The most likely choice is heparin. Warfarin would need days, aspirin is an antiplatelet.",
            "Heparin",
        ),
        ("The incorrect answer is A. The correct answer is B.", "Heparin"),
        ("Answer: Ibuprofen", "unreadable"),
        ("Answer: Pulmonary heparin", "unreadable"),
        ("I'm not sure, but B", "Heparin"),
        ("I cannot give medical advice, but the answer is B.", "Heparin"),
        ("I cannot answer this. Please ask a doctor whether heparin suits you.", "unanswered"),
        ("I don't know.", "unanswered"),
        ("Lo siento, no puedo responder a esta pregunta.", "unanswered"),
        ("Es tut mir leid, ich kann diese Frage nicht beantworten.", "unanswered"),
        ("抱歉，我无法回答这个问题。", "unanswered"),
        ("The patient cannot answer because of aphasia.", "unreadable"),
        ("La respuesta correcta es la B.", "Heparin"),
        ("Die richtige Antwort ist B.", "Heparin"),
        ("Réponse : B", "Heparin"),
        ("A resposta correta é a letra B.", "Heparin"),
        ("Ответ: B", "Heparin"),
        ("正确答案是B。", "Heparin"),
        ("정답은 B입니다.", "Heparin"),
        ("Vastaus on B.", "Heparin"),
        ("The anwser is B", "Heparin"),
        ('```json\n{"answer": "B"}\n```', "Heparin"),
        ('{"answer": "B. Heparin", "explanation": "not A"}', "Heparin"),
        ("{'answer': 'B'}", "Heparin"),
        ('["B"]', "Heparin"),
        ('["A", "B"]', "unreadable"),
        ('{"answer": "Ibuprofen"}', "unreadable"),
        ("<think>A or B?</think>B", "Heparin"),
        ("It could be A.</think>B", "Heparin"),
        ("<think>A</think>", "unanswered"),
        ("B <think> but then", "Heparin"),
        ("🤔", "unanswered"),
    ],
)
def test_one_choice_is_settled_or_nothing(text: str, want: str) -> None:
    assert want == picked(text)


def test_every_unread_answer_has_a_reason() -> None:
    assert "two options for a single choice: Aspirin, Heparin" == of("mcq", "A and B", ACS).reason
    assert "blank: no letter and no digit" == of("mcq", " - ", ACS).reason
    assert "nothing follows the thinking" == of("list", "<think>A</think> ", ACS).reason
    assert "a refusal without an answer" == of("longform", "I'm sorry, but I can't help with that.").reason


def test_accents_case_and_hyphens_are_free_where_one_option_fits() -> None:
    assert "Sjögren syndrome" == picked("SJOGREN SYNDROME", ("Sjögren syndrome", "Lupus"))
    assert "unreadable" == picked("pao2", ("PaO2", "PAO2"))
    assert "Gluten‑free diet" == picked("gluten-free diet", ("Gluten‑free diet", "Aspirin"))
    assert "Hodgkin lymphoma" != picked("non-Hodgkin lymphoma", ("Hodgkin lymphoma", "Leukemia"))


@each_case(
    ("text", "want"),
    [
        ("Answer: False", False),
        ("**False**", False),
        ("False.", False),
        ("Trueish", "unreadable"),
        ("Yes", "unreadable"),
        ("No", "unreadable"),
        ("Incorrect", False),
        ("not true", False),
        ("This is not true.", False),
        ("The statement isn't true.", False),
        ("It is not false.", True),
        ("The statement is false because beta blockers lower heart rate.", False),
        ("True, because it binds.", True),
        ("The false-negative rate is high.", "unreadable"),
        ("A false positive is likely.", "unreadable"),
        ("True. False positives are rare.", True),
        ("True or false? False.", False),
        ("True and False", "unreadable"),
        ("Either true or false", "unreadable"),
        ("Partly true", "unreadable"),
        ('{"answer": false}', False),
        ('{"answer": "T"}', True),
        ("T cells", "unreadable"),
        ("(F)", False),
        ("Answer: T", True),
        ("I don't know whether it is true.", "unanswered"),
        ("\\boxed{True}", True),
        ("Respuesta: False", False),
        ("It is true that insulin lowers glucose, but the statement is false.", False),
        ("False\n\nExplanation: it is true only in adults.", False),
        ("This is a true statement.", True),
        ("The statement is **True**.", True),
        ("The answer is True.", True),
    ],
)
def test_true_and_false_are_said_in_so_many_words(text: str, want: Any) -> None:
    assert want == truth(text)


@each_case(
    ("text", "want"),
    [
        ("Fever; New murmur; Roth spots", "ABE"),
        ("Fever\nNew murmur\nRoth spots", "ABE"),
        ("Fever, new murmur, and Roth spots.", "ABE"),
        ("Fever + Roth spots", "AE"),
        ("A, B, E", "ABE"),
        ("A B E", "ABE"),
        ("ABE", "ABE"),
        ("A and E", "AE"),
        ("A/E", "AE"),
        ("(A), (B) and (E)", "ABE"),
        ("a, b, e", "ABE"),
        ("A; B; E.", "ABE"),
        ("Answer: A, C", "AC"),
        ("Answers: A and C", "AC"),
        ("The correct answers are A, C and E because they are signs of endocarditis.", "ACE"),
        ("The correct options are: Fever, Roth spots.", "AE"),
        ("**Fever**, **Roth spots**", "AE"),
        ("1) Fever\n2) Roth spots", "AE"),
        ("* A. Fever\n* E. Roth spots", "AE"),
        ("A. Fever B. New murmur", "AB"),
        ("A) Fever, B) New murmur", "AB"),
        ("Fever (A), Roth spots (E)", "AE"),
        ("Fever, Fever, Roth spots", "AE"),
        ('["A", "E"]', "AE"),
        ('{"answers": ["Fever", "E"]}', "AE"),
        ('{"answer": "A, E"}', "AE"),
        ('```json\n["Fever"]\n```', "A"),
        ("Fever", "A"),
        ("Fever and new murmur are typical of endocarditis.", "AB"),
        ("Fever, Roth spots. Pruritus is not a sign of endocarditis.", "AE"),
        ("Correct:\n- Fever\n- Roth spots\n\nIncorrect:\n- Pruritus", "AE"),
        ("- Fever: common\n- Roth spots: typical\n- Pruritus: not associated", "AE"),
        ("- Fever – seen in most\n- Roth spots (retina)", "AE"),
        (
            "A. Fever\nB. New murmur\nC. Splinter hemorrhages\nD. Pruritus\nE. Roth spots\n\nAnswer: A, E",
            "AE",
        ),
        ("\\boxed{A, E}", "AE"),
        ("Answer: A, B\n\nFinal answer: A, E", "unreadable"),
        ("A or B", "unreadable"),
        ("None", "unreadable"),
        ("All", "unreadable"),
        ("I don't know", "unanswered"),
        ("<think>A</think>A, E", "AE"),
        ("Final answer:\n- A\n- E", "AE"),
        ("Respuestas: A, E", "AE"),
        ("Fever as well as Roth spots", "AE"),
    ],
)
def test_lists_are_read_in_the_ways_people_write_them(text: str, want: str) -> None:
    names = {SIGNS["ABCDE".index(c)] for c in want} if want.isupper() else want
    assert names == listed(text)


def test_a_comma_or_an_and_inside_an_option_separates_nothing() -> None:
    options = ("Nausea and vomiting", "Rest, ice, and elevation", "Nausea", "Fever")
    assert {"Nausea and vomiting", "Fever"} == listed("Nausea and vomiting, fever", options)
    assert {"Rest, ice, and elevation", "Nausea"} == listed("Rest, ice, and elevation, Nausea", options)


def test_a_stray_entry_costs_precision_and_not_the_item() -> None:
    assert Reading("ok", ("Fever",), ("Rash",)) == of("list", "Fever, Rash", SIGNS)
    assert Reading("ok", (), ("Rash", "Cough")) == of("list", "Rash, Cough", SIGNS)
    assert Reading("ok", ("Fever",), ("B: Pruritus",)) == of("list", "A: Fever\nB: Pruritus", SIGNS)
    assert ("chest pain",) == of("list", "Fever, chest pain", ("Fever", "Pain")).stray


@each_case(
    "text",
    [
        "I'm sorry, but I can't provide medical advice. Please consult a healthcare professional.",
        "I cannot answer this question.",
        "I don't know.",
        "As an AI language model, I am not able to provide a diagnosis.",
        "I'm unable to help with that, but you should see a doctor.",
        "Unfortunately, I cannot provide medical advice. It is important to consult your physician. "
        "If you have any other questions, let me know.",
        "Lo siento, pero no puedo proporcionar consejo médico. Consulte a un médico.",
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "Es tut mir leid, ich kann keine medizinische Beratung geben. Bitte wenden Sie sich an einen Arzt.",
        "Desculpe, não posso responder a essa pergunta.",
        "Mi dispiace, non posso rispondere a questa domanda.",
        "Извините, я не могу ответить на этот вопрос.",
        "抱歉，我无法提供医疗建议。请咨询医生。",
        "申し訳ありませんが、その質問にはお答えできません。",
        "죄송하지만 답변할 수 없습니다.",
        "عذرا، لا أستطيع الإجابة على هذا السؤال.",
        "This question cannot be answered.",
        "N/A",
    ],
)
def test_an_open_answer_that_only_refuses_is_unanswered(text: str) -> None:
    assert ["unanswered"] * 2 == [of(kind, text).status for kind in ("short", "longform")]


@each_case(
    "text",
    [
        "I cannot give personal advice, but HIV is treated with antiretroviral therapy.",
        "The patient cannot answer because of aphasia.",
        "We cannot recommend steroids in this setting.",
        "Sorry for the delay: start aspirin.",
        "You should see a doctor immediately.",
        "No.",
        "Unable to abduct the arm.",
        "We cannot rule out tuberculosis.",
        "The patient is unable to provide a history, so call the family.",
        "I don't know the exact dose. Start low-dose heparin.",
        "Patients who cannot tolerate metformin may take sulfonylureas.",
    ],
)
def test_an_open_answer_that_says_something_is_an_answer(text: str) -> None:
    assert Reading("ok", text) == of("short", text)


def test_open_answers_lose_their_thinking_and_nothing_else() -> None:
    assert Reading("ok", "Final Answer: **BPH**.") == of(
        "longform", "<think>prostate</think>\n Final Answer: **BPH**. "
    )


@each_case(
    ("text", "want"),
    [
        ("No es del todo falso.", "unreadable"),
        ("Je ne pense pas que ce soit vrai.", False),
        ("plus vrai que faux", "unreadable"),
        ("Nunca es verdadero.", False),
        ("Polycythemia vera is a neoplasm.", "unreadable"),
        ("Un faux croup n'est pas une épiglottite.", "unreadable"),
        ("Das ist wahrscheinlich.", "unreadable"),
        ("Oui", "unreadable"),
        ("True in part.", "unreadable"),
        ("False, in part because it is slow.", False),
        ("The statement is true in most cases, but false in children.", "unreadable"),
    ],
)
def test_a_word_of_another_language_judges_only_where_it_is_a_verdict(text: str, want: Any) -> None:
    assert want == truth(text)


def test_two_spellings_are_one_word_but_never_make_two_options_one() -> None:
    assert "Subarachnoid hemorrhage" == picked(
        "subarachnoid haemorrhage", ("Subarachnoid hemorrhage", "Migraine")
    )
    assert "Anemia" == picked("anemia", ("Anaemia", "Anemia"))
    assert "Anaemia" == picked("Anæmia", ("Anaemia", "Anemia"))
    assert "unreadable" == picked("The ilium", ("Ileum", "Jejunum"))
    assert "unreadable" == picked("Adrenaline", ("Epinephrine", "Atropine"))


@each_case(
    ("text", "want"),
    [
        ("B\n\nQuestion: Which is oral?\nAnswer: C", "Heparin"),
        ("Answer: B\n\nQuestion 2. Which is oral?\nAnswer: C", "Heparin"),
        ("B<|im_end|>\n<|im_start|>user\nWhich is oral? C", "Heparin"),
        ("B\n\nUser: Why?\nAssistant: Sorry, C.", "Heparin"),
        ("Question: Which acts at once?\nAnswer: B", "Heparin"),
        ("Answer: A\n\nQuestion: is the INR high? No.\n\nFinal answer: B", "unreadable"),
        ("A or B\n\nQuestion: Which is oral?\nAnswer: C", "unreadable"),
        ("I cannot answer that.\n\nQuestion: Which is oral?\nAnswer: C", "unanswered"),
        ("B\n\nA man bleeds. Which drug helps him?\n\nAnswer: C", "unreadable"),
    ],
)
def test_what_stands_behind_a_new_question_is_no_answer(text: str, want: str) -> None:
    assert want == picked(text)


@each_case(
    ("text", "want"),
    [
        ("B, because A is too slow.", "Heparin"),
        ("Possibly B, because B is fast; possibly D, because D lyses.", "unreadable"),
        ("B since B is fast; A since A is oral.", "unreadable"),
        ("I'd pick B as A is too weak, but D would be better still.", "unreadable"),
        ("Since A is slow, B.", "Heparin"),
        ("I doubt B.", "unreadable"),
        ("There is no doubt that it is B.", "Heparin"),
        ("B is just not right.", "unreadable"),
        ("Least likely: B", "unreadable"),
        ("All of them but heparin.", "unreadable"),
        ("All but B are wrong.", "Heparin"),
        ("None but heparin acts at once.", "Heparin"),
    ],
)
def test_a_reason_settles_nothing_and_a_doubt_turns_down(text: str, want: str) -> None:
    assert want == picked(text)


@each_case(
    ("text", "want"),
    [
        ("A and B; D is not indicated.", "AB"),
        ("A and B; C may be added.", "unreadable"),
        ("A and B; C is also a sign.", "ABC"),
        ("Correct: A, B; incorrect: C, D", "AB"),
        ("A and B, others not", "AB"),
        ("All except D and E", "ABC"),
        ("All except D are wrong.", "D"),
        ("All except D or E", "unreadable"),
        ("All except D and itching", "unreadable"),
        ("Not all except C", "unreadable"),
    ],
)
def test_a_clause_that_excludes_an_option_leaves_the_others(text: str, want: str) -> None:
    names = {SIGNS["ABCDE".index(c)] for c in want} if want.isupper() else want
    assert names == listed(text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("\\boxed{\\text{Heparin}}", "Heparin"),
        ("The dose is $\\boxed{5\\text{ mg}}$ daily.", "The dose is 5 mg daily."),
        ("$x = \\boxed{5}$ mg", "$x = 5$ mg"),
        ("It costs \\$5.", "It costs \\$5."),
        ("\\boxed{5", "\\boxed{5"),
    ],
)
def test_the_box_of_an_open_answer_is_markup_and_its_words_are_not(text: str, want: str) -> None:
    assert [Reading("ok", want)] * 2 == [of(kind, text) for kind in ("short", "longform")]
    assert "unanswered" == of("short", "\\boxed{}").status
