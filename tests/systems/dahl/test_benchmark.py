"""DAHL's questions: ids from content, equal texts as one case, and rows that are no proper question."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from vivavoce.benchmarks import Loaded, load, sampled
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.prompts import load as load_prompt

ASKED = "What is the usual range of serum potassium?"


@pytest.fixture(scope="module")
def dahl(shared: Path) -> Loaded:
    return load(f"dahl(data={shared / 'data' / 'dahl'})")


def written(folder: Path, *rows: tuple[str, str]) -> Path:
    """questions.csv in the layout of the published file, with these questions and categories."""
    path = folder / "questions.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\r\n").writerows([("question", "category"), *rows])
    return path


def test_two_rows_are_answers_and_all_others_are_asked(dahl: Loaded) -> None:
    assert (8571, 29) == (len(dahl.items), len({item.category for item in dahl.items}))
    assert [524, 664] == [exclusion.row for exclusion in dahl.exclusions]
    assert {"an answer stands in the place of a question"} == {
        exclusion.reason for exclusion in dahl.exclusions
    }
    assert {("longform", ())} == {(item.format, item.references) for item in dahl.items}


def test_equal_texts_are_one_case_and_each_row_is_asked(dahl: Loaded) -> None:
    groups = Counter(item.group for item in dahl.items)
    assert (8502, 15, 9) == (len(groups), sum(n > 1 for n in groups.values()), max(groups.values()))
    texts = {item.question for item in dahl.items}
    assert 8503 == len(texts)  # two texts of one case differ by their quotation marks alone


def test_the_text_of_two_categories_lists_both(dahl: Loaded) -> None:
    several = [item for item in dahl.items if "categories" in item.meta]
    assert {"public health": 7, "medicine": 1} == Counter(item.category for item in several)
    assert {("public health", "medicine")} == {tuple(item.meta["categories"]) for item in several}
    assert 1 == len({item.group for item in several})


def test_questions_with_a_fault_name_it_and_keep_their_text(dahl: Loaded, shared: Path) -> None:
    faulty = {item.meta["row"]: item for item in dahl.items if "fault" in item.meta}
    assert {
        318: "it has no end mark", 2552: "it has no end mark", 2572: "it has no end mark",
        447: "it begins with a label, such as Q3:",
        658: "a word is missing between two spaces", 4761: "a word is missing between two spaces",
        8004: "a word is missing between two spaces",
    } == {row: item.meta["fault"] for row, item in faulty.items()}  # fmt: skip
    with (shared / "data" / "dahl" / "questions.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["question"] for row in csv.DictReader(file)]
    assert all(item.question == texts[row - 2] for row, item in faulty.items())


def test_a_tenth_by_category_is_857_questions(dahl: Loaded) -> None:
    assert 857 == len(sampled(dahl.items, "10%"))


def test_the_file_and_its_folder_are_one_benchmark(tmp_path: Path) -> None:
    file = written(tmp_path, (ASKED, "physiology"), ("Define sepsis.", "medicine"))
    by_folder, by_file = (load(f"dahl(data={path})") for path in (tmp_path, file))
    assert by_folder.items == by_file.items
    assert by_folder.signature.partition("@")[2] == by_file.signature.partition("@")[2]


def test_an_id_is_made_of_the_text_and_not_of_its_place(tmp_path: Path) -> None:
    rows = [(ASKED, "physiology"), ("Define sepsis.", "medicine"), (ASKED, "physiology")]
    items = load(f"dahl(data={written(tmp_path, *rows)})").items
    turned = load(f"dahl(data={written(tmp_path, *reversed(rows))})").items
    assert {i.item for i in items} == {i.item for i in turned}
    assert items[2].item == f"{items[0].item}-2"
    assert items[0].group == items[2].group != items[1].group


def test_case_spaces_and_quotation_marks_make_no_other_case(tmp_path: Path) -> None:
    same = [(ASKED, "a"), (ASKED.upper(), "a"), (ASKED.replace("serum ", " 'serum'  "), "a")]
    items = load(f"dahl(data={written(tmp_path, *same)})").items
    assert (3, 1) == (len({i.item for i in items}), len({i.group for i in items}))


@pytest.mark.parametrize(
    "question",
    [
        "Is it safe?",
        "Name two.",
        'What is meant by "triage"?',
        "Which drug is 'second line.'",
        "Name it (in one word.)",
        "Stop!",
        "Q fever: name its reservoir.",
        "QT: what lengthens it?",
    ],
)
def test_a_whole_question_has_no_fault(tmp_path: Path, question: str) -> None:
    (item,) = load(f"dahl(data={written(tmp_path, (question, 'a'))})").items
    assert {"row": 2} == item.meta


@pytest.mark.parametrize("answer", ["A2: It is 4 mmol/l.", "A: Yes.", " A10: No."])
def test_a_row_that_is_an_answer_is_left_out(tmp_path: Path, answer: str) -> None:
    loaded = load(f"dahl(data={written(tmp_path, (answer, 'a'), (ASKED, 'a'))})")
    assert ([2], [ASKED]) == ([e.row for e in loaded.exclusions], [i.question for i in loaded.items])


def test_a_blank_question_is_left_out_and_a_blank_category_is_none(tmp_path: Path) -> None:
    loaded = load(f"dahl(data={written(tmp_path, (' ', 'a'), (ASKED, ''))})")
    assert ["question is empty"] == [e.reason for e in loaded.exclusions]
    assert [None] == [item.category for item in loaded.items]


def test_other_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^dahl: no questions\.csv in .*: data= names the folder"):
        load(f"dahl(data={tmp_path})")
    with pytest.raises(InputError, match=r"^dahl: no questions\.csv to read: there is no folder at"):
        load(f"dahl(data={tmp_path / 'none'})")
    (tmp_path / "questions.csv").write_text("question,topic\nWhy?,a\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"questions\.csv: no column 'category'\."):
        load(f"dahl(data={tmp_path})")
    with pytest.raises(SpecError, match="published"):
        load(f"dahl(data={tmp_path}, published=code)")


def test_the_published_settings_are_those_of_the_paper_or_of_the_code(dahl: Loaded, tmp_path: Path) -> None:
    paper = dahl.card.published
    file = written(tmp_path, (ASKED, "physiology"))
    released = load(f"dahl(data={file}, published=released)").card.published
    decoding = {"temperature": 0.6, "max_tokens": 256, "chat_template": False}
    assert {**decoding, "prompt": "dahl_paper"} == paper
    assert {**decoding, "top_p": 0.9, "prompt": "dahl_released"} == released
    asked = load_prompt(str(paper["prompt"])).fill(question=ASKED)
    assert asked.endswith(f"\n\n{ASKED}")
    assert f"instruction\nQUESTION: {ASKED}\nANSWER:" == load_prompt("dahl_released").fill(question=ASKED)


def test_the_card_says_that_no_licence_is_stated_and_where_the_file_lies(dahl: Loaded) -> None:
    assert dahl.card.licence.startswith("none stated")
    assert any("statistics" in fault for fault in dahl.card.faults)
    assert "4647475b6841b60aa8efd2ddce74a5ed36dc873b" == dahl.card.revision


def test_the_papers_own_rules_leave_out_138_rows_where_one_asks_for_it(dahl: Loaded, shared: Path) -> None:
    loaded = load(f"dahl(data={shared / 'data' / 'dahl'}, exclude=drop)")
    assert (8435, 138) == (len(loaded.items), len(loaded.exclusions))
    counts = Counter(exclusion.reason.rpartition(": ")[2] for exclusion in loaded.exclusions)
    assert 2 == counts.pop("an answer stands in the place of a question")
    assert 136 == counts.total()
    assert {"A1", "A3", "H2", "A1, A3"} <= counts.keys() <= {"A1", "A3", "H2", "A1, A3", "A2, B1"}
    assert {i.item for i in loaded.items} < {i.item for i in dahl.items}
    assert dahl.signature != loaded.signature


def test_a_question_to_be_reviewed_or_repaired_stays(tmp_path: Path) -> None:
    rows = [("Q3: Define sepsis.", "a"), ("What was described?", "a"), ("What does this study show?", "a")]
    loaded = load(f"dahl(data={written(tmp_path, *rows)}, exclude=drop)")
    assert [rows[0][0], rows[1][0]] == [item.question for item in loaded.items]
    assert ["it breaks a rule of the paper: A1"] == [e.reason for e in loaded.exclusions]
