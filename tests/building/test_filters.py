"""Filters report what they see; they drop and repair only when they are told to."""

import json

import pytest
from tests.building.conftest import counts, dropped, write_lines
from tests.building.fake_writer import part
from tests.lengths import length

from vivavoce.core.errors import InputError, SelectionError

STUDY = "What did the study find about sepsis in adults?"
ROWS = [
    {"id": "a", "question": "What is the first-line treatment of uncomplicated cystitis in women?"},
    {"id": "b", "question": "what is the first line treatment of uncomplicated cystitis in women"},
    {"id": "c", "question": "What is the first-line treatment of uncomplicated cystitis in men?"},
    {"id": "d", "question": STUDY},
    {"id": "e", "question": "Q3: Which antibody is typical of primary biliary cholangitis?"},
    {"id": "f", "question": "¿Cuál es el tratamiento de la sepsis en los adultos con fiebre y por qué?"},
    {"id": "g", "question": "Why?"},
    {"id": "h", "question": "Mr. John Smith, born 03/04/1961, MRN 12345678, has pain. What does he have?"},
    {"id": "i", "question": "What is the dose of aspirin after a stroke of the brain: 300 mg or other?"},
    {"id": "j", "question": "What is the dose of aspirin after a stroke of the brain: 100 mg or other?"},
]


def flags(run):
    return {
        item["item"]: reasons
        for item in run.items.to_dicts()
        if (reasons := json.loads(item["meta"]).get("review"))
    }


def test_every_filter_reports_and_nothing_is_dropped(run, tmp_path):
    file = write_lines(tmp_path / "q.jsonl", ROWS)
    finding = run.build("filters", from_=[str(file)])
    assert 10 == run.items.height
    assert [] == dropped(run)
    verdicts = {row["step"]: row["verdicts"] for row in finding.rows}
    assert {"keep": 7, "review": 2, "drop": 1, "repair": 0} == verdicts["duplicates"]
    assert 10 == sum(verdicts["standalone"].values())
    told = flags(run)
    assert ["it repeats another question: a"] == told["b"][:1]
    assert told["c"][0].startswith("it is nearly another question: a (0.8")
    assert told["j"][0].startswith("it is another question, numbers aside: i (0.8")
    assert any("study" in reason for reason in told["d"])
    assert any("label" in reason for reason in told["e"])
    assert ["it is in another language: es"] == told["f"][:1]
    assert ["the question is very short: 1 words"] == told["g"][:1]
    assert any(reason.startswith("it looks as if it held patient data") for reason in told["h"])
    assert not any("Smith" in reason for reason in told["h"])
    assert {"b", "c", "d", "e", "f", "g", "h", "j"} == told.keys()


def test_filters_that_are_told_to_act_drop_with_a_reason_and_repair(run, tmp_path):
    file = write_lines(tmp_path / "q.jsonl", ROWS)
    finding = run.build("filters", from_=[str(file)], drop=["standalone", "duplicates"])
    assert [("duplicates", "b", "it repeats another question", "a")] == dropped(run)[:1]
    assert "d" in {name for _, name, *_ in dropped(run)}
    items = {item["item"]: item["question"] for item in run.items.to_dicts()}
    assert "Which antibody is typical of primary biliary cholangitis?" == items["e"]
    by_step = dict(counts(finding.rows, "dropped"))
    assert {"duplicates": 1, "standalone": 1} == {k: n for (k, n) in by_step.items() if n}


def test_the_released_questions_of_dahl_are_decided_as_measured(run, shared, tmp_path):
    """The last thousand in the gate, all of them in the long form."""
    n_items, n_duplicates, standalone = length(
        (1_000, 1, {"keep": 946, "review": 33, "drop": 21, "repair": 0}),
        (8_573, 69, {"keep": 7_942, "review": 492, "drop": 138, "repair": 1}),
    )  # of all 69, 68 are further rows, and one differs by quotation marks
    released = (shared / "data" / "dahl" / "questions.csv").read_text(encoding="utf-8")
    header, *lines = released.splitlines(keepends=True)
    file = tmp_path / "questions.csv"
    file.write_text("".join([header, *lines[-n_items:]]), encoding="utf-8")
    finding = run.build("filters", from_=[str(file)])
    verdicts = {row["step"]: row["verdicts"] for row in finding.rows}
    assert standalone == verdicts["standalone"]
    assert n_duplicates == verdicts["duplicates"]["drop"]
    assert n_items == run.items.height
    assert [] == dropped(run)


def test_a_run_of_thirteen_words_in_another_benchmark_is_overlap_and_twelve_are_none(run, tmp_path):
    words = [
        "a",
        "man",
        "of",
        "sixty",
        "years",
        "has",
        "had",
        "crushing",
        "pain",
        "in",
        "the",
        "chest",
        "for",
        "two",
        "hours",
        "now",
    ]
    published = write_lines(
        tmp_path / "old.jsonl",
        [{"id": "x", "format": "short", "answer": "b", "question": " ".join(words[:13]) + " and more?"}],
    )
    mine = write_lines(
        tmp_path / "q.jsonl",
        [
            {"id": "a", "question": "Yesterday " + " ".join(words[:13]).upper() + ", what is it?"},
            {"id": "b", "question": "Yesterday " + " ".join(words[1:13]) + " what is it?"},
        ],
    )
    finding = run.build("filters", from_=[str(mine)], only=["overlap"], against=[f"jsonl(path={published})"])
    assert {"keep": 1, "review": 0, "drop": 1, "repair": 0} == finding.rows[-1]["verdicts"]
    assert {"a": ["13 words in a row stand in another benchmark: old: x"]} == flags(run)


CHOICE = {
    "format": "mcq",
    "options": ["Yes", "No, because the trial was stopped early", "Maybe"],
    "answer": 1,
}


def test_the_longest_option_that_is_right_is_noticed_and_counted(run, tmp_path):
    rows = [
        {"id": "a", "question": "Is the drug safe in children?", "format": "mcq",
         "options": ["Yes", "No, because the trial was stopped early", "Maybe"],
         "answer": "No, because the trial was stopped early"},
        {"id": "b", "question": "Is the drug safe in old people?", "format": "mcq",
         "options": ["abc", "abd", "abe"], "answer": "abc"},
    ]  # fmt: skip
    file = write_lines(tmp_path / "q.jsonl", rows)
    finding = run.build("filters", from_=[str(file)], only=["longest_option"])
    assert {"a": ["the right option is the longest: 7.8 times as long as the next"]} == flags(run)
    assert (
        "longest_option: the longest option is right in 1 of 2 choices (50%, 95% interval 9% to 91%); chance "
        "gives 33%." == finding.notes[0]
    )


def test_options_that_give_the_key_away_to_a_model_are_noticed(run, writer, tmp_path):
    rows = [
        {"id": "a", "question": "Which is safe in pregnancy?", "format": "mcq",
         "options": ["Warfarin", "Insulin", "Thalidomide"], "answer": "Insulin"},
        {"id": "b", "question": "What is the capital sign of shock?", "format": "mcq",
         "options": ["Fever", "Low pressure", "Rash"], "answer": "Low pressure"},
        {"id": "c", "question": "Which of these is one of them?", "format": "mcq",
         "options": ["One", "Two", "Three"], "answer": "Two"},
    ]  # fmt: skip

    def guess(prompt):
        if prompt.startswith("Below are the options"):
            options = part(prompt, "options")
            place = next((line[0] for line in options.split("\n") if "Insulin" in line), "1")
            return {"option": place}
        if prompt.startswith("Answer a question of a medical examination in a few words"):
            return {"answer": "A low pressure" if "shock" in prompt else "I do not know"}
        return None

    writer.rules = [guess]
    file = write_lines(tmp_path / "q.jsonl", rows)
    finding = run.build("filters", from_=[str(file)], only=["guessable"], model="vllm/m")
    assert {
        "a": ["its options give the key away: vllm/m names the key in 3 of 3 orders"],
        "b": ["it is answered without its options: A low pressure"],
    } == flags(run)
    assert 12 == finding.rows[-1]["requests"]


def test_a_guess_that_never_came_is_asked_for_by_the_next_command(run, writer, tmp_path):
    row = {"id": "a", "question": "Which is safe in pregnancy?", "format": "mcq",
           "options": ["Warfarin", "Insulin", "Thalidomide"], "answer": "Insulin"}  # fmt: skip
    writer.rules = [lambda prompt: 400]
    options = {
        "from_": [str(write_lines(tmp_path / "q.jsonl", [row]))],
        "only": ["guessable"],
        "model": "vllm/m",
    }
    assert 1 == run.build("filters", **options).rows[-1]["failed"]
    writer.rules = [lambda prompt: {"option": "1", "answer": "I do not know"}]
    assert 0 == run.build("filters", **options).rows[-1]["failed"]
    assert {} == flags(run)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({}, InputError, "holds no exam under construction: name one with --from"),
        ({"only": ["dupicates"]}, SelectionError, "no filter named 'dupicates'.*duplicates"),
        ({"drop": ["length"]}, SelectionError, "--drop length: no such filter.*lengths"),
        ({"from_": ["absent.jsonl"]}, InputError, "no file of this name, and no benchmark"),
        ({"only": ["language(expected=xx)"]}, Exception, "one of en, ar, bn, ca,"),
    ],
)
def test_what_names_nothing_is_one_sentence(run, tmp_path, options, error, sentence):
    file = write_lines(tmp_path / "q.jsonl", ROWS)
    options = {"from_": [str(file)]} | options if options else {}
    with pytest.raises(error, match=sentence):
        run.build("filters", **options)


def test_what_filters_said_of_an_exam_stays_when_its_recipe_runs_again_and_nothing_changed(
    run, paper, writer, tmp_path
):
    def careqa(**options):
        return run.build("careqa", from_=[paper[0]], key=[paper[1]], **options)

    careqa()
    run.build("filters", only=["lengths(fewest=9)"])
    assert ["the question is very short: 6 words"] == flags(run)["exam-006"]
    careqa()
    assert ["the question is very short: 6 words"] == flags(run)["exam-006"]
    with pytest.raises(InputError, match=r"nothing is left to freeze|holds something") as error:
        run.build("freeze", to=str(paper[0].parent))
    assert "holds something" in str(error.value)
    (row,) = run.build("freeze", to=str(tmp_path / "f")).rows
    assert {"it waits for a person": 3} == row["reasons"]
    careqa(category="medicine")  # another exam: what was said of the earlier one is taken back
    assert {} == flags(run)
    assert ["parse"] == [row["step"] for row in run.status().rows if row["about"] == "build"]


def test_two_questions_of_one_group_are_no_duplicates(run, tmp_path):
    rows = [{"id": name, "group": "g", "question": ROWS[0]["question"]} for name in ("a", "b")]
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", rows))], only=["duplicates"])
    assert {} == flags(run)


def test_further_columns_of_a_bank_and_its_sources_are_kept(run, tmp_path):
    row = {"id": "a", "question": "What is sepsis in adults?", "year": 2024, "source": "book, page 3"}
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", [row]))], only=["lengths"])
    (item,) = run.items.to_dicts()
    assert ("book, page 3", {"year": 2024}) == (item["source"], json.loads(item["meta"]))


def test_rows_without_an_id_are_told_apart_and_name_their_row(run, tmp_path):
    file = tmp_path / "q.csv"
    file.write_text("question,category\nWhat is sepsis in adults?,a\nWhat is sepsis in adults?,b\n")
    run.build("filters", from_=[str(file)], only=["lengths"])
    items = run.items.to_dicts()
    assert items[1]["item"] == f"{items[0]['item']}-2"
    assert ["q.csv, line 2", "q.csv, line 3"] == [item["source"] for item in items]
