"""Eight layouts of public exams, with content of our own: read as they are, alike by both doors."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.benchmarks import load
from vivavoce.cli import app

OPIOIDS = "Which drug reverses opioids?"
HEPARIN = "Which drug reverses heparin?"
SCURVY = "Which vitamin prevents scurvy?"
BOTH = "Which two are anticoagulants?"


class Exam(NamedTuple):
    """A file in a public layout, and what its questions are: format and key of each."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    read: Sequence[tuple[str, tuple[str, ...]]]


DRUGS = {"A": "Heparin", "B": "Naloxone", "C": "Protamine", "D": "Aspirin"}
SPREAD = {"opa": "Heparin", "opb": "Naloxone", "opc": "Protamine", "opd": "Aspirin"}
FEVER = "You may give paracetamol in a dose by weight, and fluids, and see a doctor if it lasts."
CHINESE = "A 肝素\nB 纳洛酮\nC 鱼精蛋白\nD 阿司匹林\nE 华法林"
FIVE = json.dumps(
    {"option1": "Heparin", "option2": "Naloxone", "option3": "Warfarin", "option4": "", "option5": ""}
)
EXAMS = {
    "MedQA": Exam(
        "medqa.jsonl",
        [
            {"question": OPIOIDS, "answer": "Naloxone", "options": DRUGS, "meta_info": "step1",
             "answer_idx": "B", "metamap_phrases": ["opioids"]},
            {"question": HEPARIN, "answer": "Protamine", "options": DRUGS, "meta_info": "step2&3",
             "answer_idx": "C", "metamap_phrases": ["heparin"]},
        ],
        [("mcq", ("Naloxone",)), ("mcq", ("Protamine",))],
    ),
    "Medbullets": Exam(
        "medbullets_op4.csv",
        [
            {"question": OPIOIDS, **SPREAD, "answer_idx": "B", "answer": "Naloxone",
             "explanation": "It is an antagonist."},
            {"question": HEPARIN, **SPREAD, "answer_idx": "C", "answer": "Protamine",
             "explanation": "It binds heparin."},
            {"question": OPIOIDS, **SPREAD, "answer_idx": "B", "answer": "Naloxone",
             "explanation": "It is an antagonist."},
        ],
        [("mcq", ("Naloxone",)), ("mcq", ("Protamine",)), ("mcq", ("Naloxone",))],
    ),
    "CMExam": Exam(
        "cmexam.csv",
        [
            {"Question": "哪种药物可逆转阿片类药物？", "Options": CHINESE, "Answer": "B",
             "Explanation": "拮抗剂。",
             "Clinical Department": "急诊科", "Medical Discipline": "药理学"},
            {"Question": "哪些是抗凝药？", "Options": CHINESE, "Answer": "AE",
             "Explanation": "抗凝。",
             "Clinical Department": "心内科", "Medical Discipline": "药理学"},
        ],
        [("mcq", ("纳洛酮",)), ("list", ("肝素", "华法林"))],
    ),
    "MedMCQA": Exam(
        "medmcqa.jsonl",
        [
            {"id": "e1", "question": OPIOIDS, **SPREAD, "cop": 1, "choice_type": "single", "exp": None,
             "subject_name": "Pharmacology", "topic_name": None},
            {"id": "e2", "question": "Which drug prolongs the PTT?", **SPREAD, "cop": 0,
             "choice_type": "multi", "exp": None, "subject_name": "Medicine", "topic_name": "Blood"},
        ],
        [("mcq", ("Naloxone",)), ("mcq", ("Heparin",))],
    ),
    "AfriMed-QA": Exam(
        "afrimedqa.csv",
        [
            {"sample_id": "s1", "question_type": "mcq", "question": OPIOIDS, "answer_options": FIVE,
             "correct_answer": "option2", "answer_rationale": "An antagonist.", "specialty": "Pharmacology",
             "country": "KE", "tier": "expert"},
            {"sample_id": "s2", "question_type": "mcq", "question": BOTH, "answer_options": FIVE,
             "correct_answer": "option1,option3", "answer_rationale": "", "specialty": "Pharmacology",
             "country": "NG", "tier": "expert"},
            {"sample_id": "s3", "question_type": "saq", "question": SCURVY, "answer_options": "",
             "correct_answer": "Vitamin C", "answer_rationale": "", "specialty": "Nutrition", "country": "GH",
             "tier": "crowdsourced"},
        ],
        [("mcq", ("Naloxone",)), ("list", ("Heparin", "Warfarin")), ("short", ("Vitamin C",))],
    ),
    "K-QA": Exam(
        "questions_w_answers.jsonl",
        [
            {"Question": "My child has a fever of 38 °C. What may I give?",
             "Must_have": ["Paracetamol in a dose by weight may be given."],
             "Nice_to_have": ["Offer fluids."],
             "Sources": ["https://example.org"], "ICD_10_diag": "Fever",
             "Free_form_answer": FEVER},
        ],
        [("longform", (FEVER,))],
    ),
    "IgakuQA": Exam(
        "116-A.jsonl",
        [
            {"problem_id": "116A1", "problem_text": "オピオイドを拮抗するのはどれか。",
             "choices": ["ヘパリン", "ナロキソン", "アスピリン"], "text_only": True,
             "answer": ["b"], "points": "1"},
            {"problem_id": "116A2", "problem_text": "抗凝固薬はどれか。2つ選べ。",
             "choices": ["ヘパリン", "ナロキソン", "ワルファリン"], "text_only": True, "answer": ["a", "c"],
             "points": "1"},
        ],
        [("mcq", ("ナロキソン",)), ("list", ("ヘパリン", "ワルファリン"))],
    ),
    "MedicationQA": Exam(
        "medicationqa.csv",
        [
            {"Question": "what does naloxone do?", "Focus (Drug)": "naloxone", "Question Type": "Action",
             "Answer": "It reverses opioids.", "Section Title": "Mechanism", "URL": "https://example.org/1"},
            {"Question": "how is salbutamol taken?", "Focus (Drug)": "salbutamol", "Question Type": "Usage",
             "Answer": "By inhaler.", "Section Title": "Use", "URL": "https://example.org/2"},
            {"Question": "what does naloxone do?", "Focus (Drug)": "naloxone", "Question Type": "Information",
             "Answer": "It is an opioid antagonist.", "Section Title": "Uses", "URL": "https://example.org/3"},
        ],
        [("short", ("It reverses opioids.",)), ("short", ("By inhaler.",)),
         ("short", ("It is an opioid antagonist.",))],
    ),
}  # fmt: skip


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """The spec of a file with these rows."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return f"jsonl(path='{path}')"
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return f"csv(path='{path}')"


every_exam = pytest.mark.parametrize("exam", EXAMS.values(), ids=EXAMS)


@every_exam
def test_a_public_layout_is_read_as_it_is(tmp_path: Path, exam: Exam) -> None:
    items = load(write(tmp_path / exam.name, exam.rows)).items
    assert list(exam.read) == [(item.format, item.answer or item.references) for item in items]


@every_exam
def test_both_doors_give_a_question_the_same_id_and_hash(tmp_path: Path, exam: Exam) -> None:
    items = load(write(tmp_path / exam.name, exam.rows)).items
    answered = [{**row, "model": "m", "response": "x"} for row in exam.rows]
    write(tmp_path / f"answers{exam.name}", answered)
    run = viva.open(tmp_path / "r.viva")
    assert len(items) == run.import_answers(tmp_path / f"answers{exam.name}").responses
    stored = run.items.select("item", "question", "format").rows()
    assert sorted((item.item, item.question, item.format) for item in items) == sorted(stored)


@every_exam
def test_show_says_what_was_inferred_and_the_baseline_can_be_asked(tmp_path: Path, exam: Exam) -> None:
    spec = write(tmp_path / exam.name, exam.rows)
    result = CliRunner().invoke(app, ["show", spec, "--json"])
    (shown,) = json.loads(result.output)["rows"]
    assert len(exam.rows) == shown["questions"]
    assert len(exam.rows) == sum(int(words.rpartition(" ")[2]) for words in shown["formats"].split(", "))
    assert viva.open(tmp_path / "r.viva").collect(spec, models=["baseline/reference"]).rows


def test_columns_whose_values_do_not_fit_are_something_else(tmp_path: Path) -> None:
    spec = write(tmp_path / "exam.csv", EXAMS["MedicationQA"].rows)
    assert ["Action", "Usage", "Information"] == [item.category for item in load(spec).items]
    talk = [
        {"Dialogue": "D: Where does it hurt?\nP: In the chest.", "Reference": "The patient has chest pain."}
    ]
    (item,) = load(write(tmp_path / "talk.csv", talk)).items
    assert (talk[0]["Dialogue"], "short") == (item.question, item.format)
    case = "A woman of 60 has had chest pain for an hour, and her blood pressure is low."
    (item,) = load(
        write(tmp_path / "case.csv", [{"Case": case, "Question": "What now?", "Answer": "ECG"}])
    ).items
    assert case == item.context


def test_rows_that_ask_the_same_are_counted_and_numbered(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "exam.csv", EXAMS["Medbullets"].rows))
    first, _, again = loaded.items
    assert f"{first.item}-2" == again.item
    assert "1 row has no id and asks what an earlier row asks" in loaded.inferred["rows that ask the same"]


def test_more_faulty_rows_than_questions_say_that_the_file_is_read_wrongly(tmp_path: Path) -> None:
    row = {
        "id": "q1",
        "format": "mcq",
        "question": OPIOIDS,
        "options": ["Heparin", "Naloxone"],
        "answer": "C",
    }
    spec = write(tmp_path / "exam.jsonl", [row, row | {"id": "q2"}, row | {"id": "q3", "answer": "B"}])
    with pytest.raises(viva.InputError, match="2 of 3 rows of exam can be no question, more than half"):
        load(spec.replace(")", ", faulty=exclude)"))


def test_numbers_count_from_where_the_table_says_and_are_refused_where_it_does_not(tmp_path: Path) -> None:
    rows = [{"question": q, **SPREAD, "cop": n} for q, n in ((OPIOIDS, 2), (HEPARIN, 3), (SCURVY, 4))]
    assert [("Naloxone",), ("Protamine",), ("Aspirin",)] == [
        item.answer for item in load(write(tmp_path / "exam.jsonl", rows)).items
    ]
    with pytest.raises(viva.InputError, match="it may count from 0 or from 1"):
        load(write(tmp_path / "exam.jsonl", rows[:2]))


def test_a_folder_with_one_question_a_file_is_an_exam(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    folder.mkdir()
    for name, question in (("opioids", OPIOIDS), ("heparin", HEPARIN)):
        row = {"question": question, "options": DRUGS, "answer": "B" if name == "opioids" else "C"}
        (folder / f"{name}.json").write_text(json.dumps(row, indent=1), encoding="utf-8")
    loaded = load(f"jsonl(path='{folder}')")
    assert ["heparin", "opioids"] == [item.item for item in loaded.items]
    (folder / "heparin.json").unlink()
    assert loaded.signature != load(f"jsonl(path='{folder}')").signature
    (folder / "opioids.json").unlink()
    with pytest.raises(viva.InputError, match=r"exam is a folder without \.json files\."):
        load(f"jsonl(path='{folder}')")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("question_type_column/answers.csv", ["It reverses opioids.", "By inhaler."]),
        ("letters_as_options/answers.csv", ["B", "Naloxone", "Protamine", "C"]),
        ("equal_rows_without_id/answers.csv", ["Naloxone", "Naloxone", "Naloxone", "Protamine"]),
        ("lower_case_letter_keys/exam.jsonl", ["Naloxone", "Heparin", "Warfarin"]),
        ("json_objects/by_id.json", ["yes", "no"]),
        ("json_objects/task.json", ["liver"]),
        ("german_na.csv", ["Alpha", "Beta", "Gamma", "Gamma", "Alpha", "Alpha"]),
    ],
)
def test_files_on_which_real_use_failed_are_exams(shared: Path, name: str, keys: list[str]) -> None:
    file = shared / "data" / "field" / name
    items = load(f"{'csv' if file.suffix == '.csv' else 'jsonl'}(path='{file}')").items
    assert keys == [key for item in items for key in item.answer or item.references]


def test_a_file_without_questions_says_what_it_has(tmp_path: Path) -> None:
    spec = write(tmp_path / "exam.jsonl", [{"id": "q1", "answer": "x"}, {"id": "q2", "answer": "y"}])
    words = (
        r"exam\.jsonl: no column holds the questions \(there are id, answer\): columns=\[question:COLUMN\]"
    )
    with pytest.raises(viva.InputError, match=words):
        load(spec)
