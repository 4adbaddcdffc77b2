"""HIVMedQA's recipe: a bank of closed questions becomes open ones on a subject, with agreed gold answers."""

import json

import pytest
from tests.building.conftest import check_sums, counts, dropped, write_lines
from tests.building.fake_writer import part

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.run.people.annotate import prepare_panel

MODEL = "vllm/m"


def bank(path):
    rows = []
    for k in range(30):
        subject = ("HIV infection", "AIDS", "hearing aids", "influenza", "hivernal pain")[k % 5]
        rows.append(
            {"id": f"q{k}", "question": f"Case {k}: a {20 + k}-year-old woman with {subject}. What is given?",
             "options": [f"Drug A{k}", f"Drug B{k}", f"Drug C{k}", f"Drug D{k}"], "answer": f"Drug A{k}",
             "format": "mcq"}
        )  # fmt: skip
    return write_lines(path, rows)


def rule(prompt):
    question = part(prompt, "question").split("\n")[0]
    if prompt.startswith("A question of a medical examination has options. Decide"):
        number = int(question.split(":")[0].removeprefix("Case "))
        reason = f"case {number} compares its options" if number % 2 else "one answer"
        return {"reason": reason, "suits": number % 2 == 0}
    if prompt.startswith("Put a closed question"):
        question = question.replace("What is given?", "Which drug is given, and why?")
        return {"possible": True, "question": question,
                "reason": "clear"}  # fmt: skip
    return None


@pytest.fixture
def questions(tmp_path, writer):
    writer.rules = [rule]
    return bank(tmp_path / "bank.jsonl")


def build(run, file, **options):
    return run.build("hivmedqa", from_=[str(file)], terms=["HIV", "AIDS"], model=MODEL, **options)


def test_thirty_closed_questions_become_open_ones_on_the_subject_each_with_a_reason(run, questions):
    finding = build(run, questions)
    assert [("parse", 0, 30, 0), ("duplicates", 30, 30, 0), ("terms", 30, 12, 18), ("choose", 12, 6, 6),
            ("open", 6, 6, 0)] == counts(finding.rows, "n_in", "n_out", "dropped")  # fmt: skip
    check_sums(finding.rows, run)
    assert {"none of the terms: HIV, AIDS", "it does not suit an open answer"} == {d[2] for d in dropped(run)}
    assert all(d[3].endswith("compares its options") for d in dropped(run) if d[0] == "choose")
    items = run.items.to_dicts()
    assert {"q0", "q10", "q20", "q6", "q16", "q26"} == {item["group"] for item in items}
    (first,) = [item for item in items if item["group"] == "q0"]
    assert (
        "Case 0: a 20-year-old woman with HIV infection. Which drug is given, and why?" == first["question"]
    )
    assert ["Drug A0"] == first["references"]
    meta = json.loads(first["meta"])
    assert "one answer" == meta["chosen_because"]
    assert ["two people have to agree on its gold answer"] == meta["review"]


def review(run, tmp_path, items, raters, correct="yes"):
    lines = [f"{item},,{rater},{correct},5\n" for item in items for rater in raters]
    file = tmp_path / f"reviews-{'-'.join(raters)}.csv"
    file.write_text("item,category,rater,correct,relevance\n" + "".join(lines))
    run.import_ballots(file)


def test_a_gold_answer_is_frozen_when_two_people_agree_on_it(run, questions, tmp_path):
    build(run, questions)
    with pytest.raises(InputError, match=r"nothing is left to freeze: fewer than 2 people reviewed it \(6\)"):
        run.build("freeze", to=str(tmp_path / "f"), min_raters=2)
    review(run, tmp_path, ["q0-open", "q10-open", "q20-open"], ["anna", "ben"])
    review(run, tmp_path, ["q6-open"], ["carla"])
    review(run, tmp_path, ["q16-open"], ["dora", "emil"], correct="no")
    (row,) = run.build("freeze", to=str(tmp_path / "f"), min_raters=2).rows
    assert (3, {"fewer than 2 people reviewed it": 2, "people found it wrong": 1}) == (
        row["n_out"],
        row["reasons"],
    )


@pytest.mark.parametrize("task", ["review", "answer"])
def test_an_exam_without_any_answer_is_put_before_people(run, questions, task):
    build(run, questions)
    panel = prepare_panel(run.file, task, ["anna", "ben"], double=0.5, seed=1)
    shown = [entry.question.name for packet in panel.key.packets.values() for entry in packet]
    assert set(run.items["item"]) == set(shown)
    with pytest.raises(SelectionError, match="holds no answers yet"):
        prepare_panel(run.file, task, ["anna", "ben"], candidates=["A"])


def test_twins_of_vary_are_items_of_the_frozen_exam(run, questions, tmp_path):
    build(run, questions)
    run.vary("demographic(kind=sex)")
    run.build("freeze", to=str(tmp_path / "f"), unreviewed=True, twins=True)
    rows = [json.loads(line) for line in (tmp_path / "f" / "exam.jsonl").read_text().splitlines()]
    variants = {row.get("variant", "") for row in rows}
    assert len(rows) > 6
    assert len(variants) > 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"terms": []}, "name them with --terms"),
        ({"terms": ["HIV"], "model": ""}, "name one with --model"),
    ],
)
def test_options_that_are_missing_are_named(run, questions, options, sentence):
    with pytest.raises(InputError, match=sentence):
        run.build("hivmedqa", from_=[str(questions)], **options)


def test_an_open_question_that_holds_its_answer_is_refused(run, questions, writer):
    writer.manners = {"Put a closed question": [
        {"possible": True, "question": "Why is Drug A0 given in case 0?", "reason": "x"}]}  # fmt: skip
    build(run, questions)
    details = {d[1]: d[3] for d in dropped(run) if d[0] == "open"}
    assert details["q0"].startswith("the question holds its answer")
