"""The portal's reviews of items beside what they were made from: translations and rewordings."""

import json
import re
from html import unescape

import pytest
from tests.studies.making import write_lines
from tests.web.test_annotate import TASKS, Rater, alert
from tests.web.test_tour import serving, visit

import vivavoce as viva
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.people.tasks import REVIEW_TASKS
from vivavoce.run.run import Run

TASKS |= {name: task() for name, task in REVIEW_TASKS.items()}
ROWS = (
    {"id": "o", "question": "¿Qué se da?", "options": ["Uno", "Dos"], "answer": "Uno", "format": "mcq"},
    {"id": "t", "question": "What is given?", "options": ["One", "Two"], "answer": "One", "format": "mcq",
     "translation_of": "o", "category": "drugs", "difficulty": "hard"},
    {"id": "w", "question": "Which drug is given?", "reference": "One", "reworded_from": "t",
     "category": "drugs"},
)  # fmt: skip
TRANSLATED = {"A:correct": "yes", "A:numbers": "yes", "A:negations": "no"}
REWORDED = {"A:correct": "yes", "A:complete": "yes", "A:only": "no"}


@pytest.fixture
def run(tmp_path) -> Run:
    run = viva.open(tmp_path / "exam.viva")
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", ROWS))])
    return run


def of_all(run, task):
    rows = run.study("review")["review"].rows
    return [row for row in rows if row["task"] == task and row["about"] != "rater"]


@pytest.mark.parametrize(
    ("task", "item", "partner"), [("translation", "t", "¿Qué se da?"), ("rewording", "w", "What is given?")]
)
def test_a_task_asks_the_items_with_such_a_partner_and_shows_it(run, task, item, partner):
    rater = Rater(run, task)
    assert [item] == [question.item for question in rater.panel.key.questions]
    page = unescape(rater.page(1))
    assert partner in page
    for question in REVIEW_TASKS[task].questions:
        assert question.ask in page


def test_answers_to_the_questions_are_scores_and_read_back(run):
    rater = Rater(run, "translation")
    assert 303 == rater.judge(1, TRANSLATED).status_code
    checked = re.findall(r'name="(A:\w+)" value="(\w+)"[^>]* checked', rater.page(1))
    assert TRANSLATED == dict(checked)
    (about_all,) = [row for row in of_all(run, "translation") if row["about"] == "all"]
    assert (1, 1.0, 1) == (about_all["n"], about_all["gold"], about_all["n_raters"])
    assert {"numbers", "negations"} == {r["question"] for r in of_all(run, "translation")} - {None}


def test_three_raters_of_two_tasks_give_the_rows_of_table_2(run):
    for task, entries in (("translation", TRANSLATED), ("rewording", REWORDED)):
        for n, name in enumerate(("anna", "ben", "carla")):
            answers = entries | {"A:correct": "no" if n == 2 else "yes"}
            Rater(run, task, name, raters=["anna", "ben", "carla"]).judge(1, answers)
    for task in ("translation", "rewording"):
        rows = {row["about"]: row for row in of_all(run, task) if row["about"] in ("all", "category")}
        assert "drugs" == rows["category"]["category"]
        assert (1.0, 1.0, 0.0, 0.0) == tuple(
            rows["all"][name] for name in ("one_of_three", "two_of_three", "three_of_three", "all_agree")
        )
    row = next(row for row in of_all(run, "rewording") if row["question"] == "only")
    assert (0.0, 1.0) == (row["one_of_three"], row["all_agree"])
    assert "exam (translation): 1 item reviewed by 3 raters." in run.study("review")["review"].text


def test_a_word_that_is_none_is_refused_with_its_question(run):
    answer = Rater(run, "translation").judge(1, {"A:numbers": "maybe"})
    assert "numbers is yes, no or empty, not 'maybe'" in alert(answer)


def test_category_and_difficulty_are_shown_changed_and_frozen(run, tmp_path):
    rater = Rater(run, "review")
    number = [entry.question.item for entry in rater.panel.key.packets["anna"]].index("t") + 1
    page = rater.page(number)
    assert 'value="drugs"' in page
    assert 'value="hard"' in page
    rater.judge(number, {"A:correct": "yes", "A:category": "dosing", "A:difficulty": "easy"})
    assert 'value="easy"' in rater.page(number)
    run.build("freeze", to=str(tmp_path / "f"), unreviewed=True)
    lines = [json.loads(line) for line in (tmp_path / "f" / "exam.jsonl").read_text().splitlines()]
    (row,) = [line for line in lines if line["item"] == "t"]
    assert ("dosing", "easy") == (row["category"], row["difficulty"])


def test_category_and_difficulty_alone_are_no_review(run):
    answer = Rater(run, "review").judge(1, {"A:category": "dosing", "A:difficulty": "easy"})
    assert "there is nothing to store yet" in alert(answer)


def test_what_a_translation_is_found_to_be_decides_about_the_freeze(run, tmp_path):
    Rater(run, "review").judge(1, {"A:correct": "yes"})
    Rater(run, "translation").judge(1, TRANSLATED | {"A:correct": "no"})
    finding = run.build("freeze", to=str(tmp_path / "f"), unreviewed=True)
    assert {"people found it wrong": 1} == finding.rows[0]["reasons"]


def test_reviews_of_a_task_go_to_another_run(run, tmp_path):
    rater = Rater(run, "translation")
    rater.judge(1, TRANSLATED | {"A:comment": "<b>Good</b>", "A:difficulty": "hard"})
    rater.client.post(rater.organiser)
    file = tmp_path / "reviews.jsonl"
    file.write_text(rater.client.get("/organise/reviews.jsonl").text)
    (tmp_path / "other").mkdir()
    copy = viva.open(tmp_path / "other" / "exam.viva")
    copy.build("filters", from_=[str(tmp_path / "q.jsonl")])
    stored = copy.import_ballots(file, task="translation")
    assert ("translation", 1, 2) == (stored.task, stored.new, stored.events)
    assert of_all(run, "translation") == of_all(copy, "translation")


def test_a_table_of_reviews_of_items_without_a_partner_is_refused(run, tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("item,category,rater,correct,numbers,negations\no,,anna,yes,yes,yes\n")
    with pytest.raises(InputError, match=r"line 2: 'o' names no other item that it was made from"):
        run.import_ballots(file, task="translation")


def test_a_run_without_partners_has_nothing_to_compare(tmp_path):
    run = viva.open(tmp_path / "exam.viva")
    run.build("filters", from_=[str(write_lines(tmp_path / "q.jsonl", ROWS[:1]))])
    with pytest.raises(SelectionError, match="no question here names in translation_of the one that it"):
        Rater(run, "translation")


def test_a_tool_that_shows_the_item_alone_does_not_ask_to_compare_it(run, tmp_path):
    with pytest.raises(InputError, match="annotation tools ask"):
        run.export(tmp_path / "tasks", format="label_studio", task="translation")


def test_keys_answer_one_question_after_the_other(run, browser):
    rater = Rater(run, "translation")
    with serving(rater.app) as address, visit(browser, 390, "light") as page:
        page.goto(f"{address}{rater.links['anna']}")
        page.get_by_role("button").first.click()
        page.goto(f"{address}/question/1")
        for key in "yny":
            page.keyboard.press(key)
        page.get_by_text("Stored.").wait_for()
        checked = page.eval_on_selector_all("input:checked", "fields => fields.map(f => f.name + f.value)")
    assert ["A:correctyes", "A:numbersno", "A:negationsyes"] == checked


def number_of(rater, item, pass_no=1):
    """The number of the page on which a rater is shown an item in a pass."""
    packet = [(entry.question.item, entry.pass_no) for entry in rater.panel.key.packets[rater.name]]
    return packet.index((item, pass_no)) + 1


def written(run, task):
    (row,) = [row for row in of_all(run, task) if row["about"] == "all"]
    return tuple(row[name] for name in ("n_comments", "n_disputes", "held_out"))


DISPUTED = {"A:correct": "yes", "A:dispute": "The dose is wrong.", "A:comment": "See the label."}


def test_words_of_one_task_are_neither_shown_in_another_nor_taken_back_there(run, tmp_path):
    rater = Rater(run, "review")
    rater.judge(number_of(rater, "t"), DISPUTED)
    translator = Rater(run, "translation")
    assert "The dose is wrong." not in translator.page(1)
    translator.judge(1, TRANSLATED)
    assert (1, 1, 1) == written(run, "review")
    assert (0, 0, 0) == written(run, "translation")
    assert "The dose is wrong." in Rater(run, "review").page(number_of(rater, "t"))
    finding = run.build("freeze", to=str(tmp_path / "f"), unreviewed=True)
    assert {"a dispute about it is open": 1} == finding.rows[0]["reasons"]


def test_words_of_another_task_alone_hold_nothing_out_in_the_first(run):
    rater = Rater(run, "review")
    rater.judge(number_of(rater, "t"), {"A:correct": "yes"})
    Rater(run, "translation").judge(1, TRANSLATED | DISPUTED)
    assert (0, 0, 0) == written(run, "review")
    assert (1, 1, 1) == written(run, "translation")
    rows = [row for row in run.status().rows if row["about"] == "judgements" and row["rater"] == "anna"]
    assert {"review": 0, "translation": 1} == {row["task"]: row["disputed"] for row in rows}


def test_a_second_look_does_not_show_the_first_and_takes_no_words_of_it_back(tmp_path):
    rows = [{"id": f"q{k}", "question": f"Which dose is right for case {k}?"} for k in range(40)]
    run = viva.open(tmp_path / "long.viva")
    run.build("filters", from_=[str(write_lines(tmp_path / "long.jsonl", rows))])
    rater = Rater(run, "review", raters=["anna"], repeats=0.5)
    (item, *_) = [e.question.item for e in rater.panel.key.packets["anna"] if e.pass_no == 2]
    rater.judge(number_of(rater, item), DISPUTED)
    second = number_of(rater, item, 2)
    assert "The dose is wrong." not in rater.page(second)
    assert 303 == rater.judge(second, {"A:correct": "yes"}).status_code
    assert (1, 1, 1) == written(run, "review")
    rater.judge(second, DISPUTED)
    assert (1, 1, 1) == written(run, "review")


def test_a_dispute_without_a_task_is_of_the_first_review(run):
    rater = Rater(run, "review")
    rater.judge(number_of(rater, "t"), DISPUTED)
    with run.file.reading() as db:
        ((body,),) = db.execute("SELECT body FROM events WHERE kind = 'review dispute'").fetchall()
    assert {"benchmark", "item", "variant", "rater", "text"} == json.loads(body).keys()
    assert (1, 1, 1) == written(run, "review")


def test_a_table_of_one_task_leaves_the_words_of_another(run, tmp_path):
    for task, columns in (("review", "relevance"), ("translation", "numbers,negations")):
        file = tmp_path / f"{task}.csv"
        values = "yes," * columns.count(",") + ("5" if task == "review" else "yes")
        file.write_text(f"item,category,rater,correct,{columns},dispute\nt,,anna,yes,{values},Wrong.\n")
        assert 1 == run.import_ballots(file, task=task).events
        assert 0 == run.import_ballots(file, task=task).events
    assert (0, 1, 1) == written(run, "review") == written(run, "translation")


def frozen(run, folder):
    run.build("freeze", to=str(folder), unreviewed=True)
    lines = [json.loads(line) for line in (folder / "exam.jsonl").read_text().splitlines()]
    return {line["item"]: (line["category"], line.get("difficulty")) for line in lines if line["item"] == "t"}


def reviewed(run, folder, task, *rows, column="relevance"):
    file = folder / f"{task}.csv"
    file.write_text("\n".join((f"item,category,rater,correct,{column}", *rows)))
    run.import_ballots(file, task=task)


def test_a_category_agreed_in_another_task_is_frozen(run, tmp_path):
    reviewed(run, tmp_path, "review", "t,,carla,yes,")
    rows = ("t,new,anna,yes,yes,yes", "t,new,ben,yes,yes,yes")
    reviewed(run, tmp_path, "translation", *rows, column="numbers,negations")
    assert {"t": ("new", "hard")} == frozen(run, tmp_path / "f")


def test_a_rater_has_one_vote_for_a_category_whatever_was_asked(run, tmp_path):
    # Two raters answer two questions each, three answer one.
    rows = ("t,b,anna,yes,5", "t,b,ben,yes,5", "t,a,carla,yes,", "t,a,dora,yes,", "t,a,emil,,4")
    reviewed(run, tmp_path, "review", *rows)
    assert ["a"] == [row["category"] for row in of_all(run, "review") if row["about"] == "category"]
    rows = ("t,b,anna,yes,yes,yes", "t,b,ben,yes,yes,yes")
    reviewed(run, tmp_path, "translation", *rows, column="numbers,negations")
    assert {"t": ("a", "hard")} == frozen(run, tmp_path / "f")


def test_what_a_retired_rater_wrote_is_out_until_they_count_again(run, tmp_path):
    ben = Rater(run, "review", "ben")
    ben.judge(number_of(ben, "t"), {"A:correct": "yes"})
    rater = Rater(run, "review")
    words = DISPUTED | {"A:difficulty": "easy", "A:category": "dosing"}
    rater.judge(number_of(rater, "t"), words)
    Rater(run, "translation").judge(1, TRANSLATED | {"A:comment": "Fine."})
    run.retire("review", rater="anna")
    assert (0, 0, 0) == written(run, "review")
    assert (1, 0, 0) == written(run, "translation")
    assert {"t": ("drugs", "hard")} == frozen(run, tmp_path / "f")
    run.retire("review", rater="anna", undo=True)
    assert (1, 1, 1) == written(run, "review")
