"""The organiser's pages: progress, agreement when all is in, disputes, rounds, files for another run."""

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.lengths import length
from tests.people.raters import examined
from tests.studies.making import made
from tests.web.test_annotate import ADDRESS, FIELDS, FIELDS_OF_REVIEW, Rater, full, scores

from vivavoce.core.errors import InputError, StoreError
from vivavoce.people.rounds import read_round
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.people.storing.store_reviews import import_reviews, read_adjudicated
from vivavoce.run.people.annotate import agreement_rows
from vivavoce.run.run import Run

N_QUESTIONS = 5


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return examined(tmp_path, N_QUESTIONS)


def organiser(rater: Rater) -> TestClient:
    client = TestClient(rater.app, base_url=ADDRESS)
    assert 200 == client.post(rater.organiser).status_code
    return client


def token(client: TestClient) -> str:
    return re.search(r'name="csrf" value="(.*?)"', client.get("/organise").text)[1]


def judge_all(rater: Rater, task: str) -> None:
    for name in rater.links:
        rater.sign_in(name)
        for number in range(1, rater.n_questions() + 1):
            assert 303 == rater.judge(number, full(rater.page(number), **FIELDS[task])).status_code


def test_the_organiser_sees_how_far_everybody_is_and_no_agreement_before_the_end(run):
    rater = Rater(run, "review")
    rater.judge(1, FIELDS_OF_REVIEW)
    page = organiser(rater).get("/organise").text
    assert '<th scope="row">anna</th><td class="n">1</td><td class="n">4</td>' in page
    assert "9 judgements are still to come" in page
    assert "Alpha" not in page


@pytest.mark.parametrize("task", list(FIELDS))
def test_agreement_stands_there_when_all_is_in(run, task):
    rater = Rater(run, task)
    judge_all(rater, task)
    page = organiser(rater).get("/organise").text
    assert "Alpha" in page
    assert "still to come" not in page


def test_agreement_stands_there_from_the_number_of_labels_that_was_fixed(run):
    rater = Rater(run, "rank", labels=2)
    for number in (1, 2):
        page = organiser(rater).get("/organise").text
        assert f"{3 - number} judgements are still to come" in page
        rater.judge(number, full(rater.page(number), **FIELDS["rank"]))
    assert "still to come" not in organiser(rater).get("/organise").text


@pytest.mark.parametrize("settings", [{"labels": 0}, {"n": 0}, {"pilot": -1}])
def test_numbers_that_cannot_be_are_refused(run, settings):
    with pytest.raises(InputError, match="take 1 or more"):
        Rater(run, "rank", **settings)


@pytest.mark.parametrize(("task", "name"), [("rank", "rank"), ("rate", "correct")])
def test_agreement_is_by_category_too(tmp_path, task, name):
    items = [{"item": f"q{k:02}", "category": "dose" if k % 2 else "cause"} for k in range(length(20, 24))]
    words = {"Able": "five", "Poor": "none"}
    answers = {who: {i["item"]: f"{word} {i['item']}" for i in items} for who, word in words.items()}
    run = made(tmp_path, answers, items=items)  # fmt: skip
    for who in ("anna", "ben"):
        rater = Rater(run, task, who)
        for number in range(1, rater.n_questions() + 1):
            texts = re.findall(r'class="text" dir="auto">(five|none|the key) ', rater.page(number))
            fields = {
                "rank": {f"{letter}:rank": str(1 + sorted(texts).index(text))
                         for letter, text in zip("ABC", texts, strict=False)},
                "rate": {f"{letter}:correct": str(int(text == "five"))
                         for letter, text in zip("AB", [x for x in texts if x != "the key"], strict=True)},
            }  # fmt: skip
            assert 303 == rater.judge(number, fields[task]).status_code
    lines = {line.name: line for line in agreement_rows(run.file, rater.panel.key)}
    assert [f"{name}, {about}" for about in ("all together", "cause", "dose")] == list(lines)
    assert [1.0] * 3 == [line.alpha for line in lines.values()]
    assert lines[f"{name}, cause"].n < lines[f"{name}, all together"].n


def test_a_dispute_is_settled_with_a_reason_and_leaves_the_queue(run):
    rater = Rater(run, "review")
    rater.judge(1, FIELDS_OF_REVIEW)
    client = organiser(rater)
    assert "The dose is per day." in client.get("/organise").text
    name = rater.panel.key.packets["anna"][0].question.name
    without = client.post("/organise/settle", data={"csrf": token(client), "question": name, "correct": "no"})
    assert (400, True) == (without.status_code, "and why" in unescape(without.text))
    fields = {"csrf": token(client), "question": name, "correct": "no", "reason": "The guideline says so."}
    assert "Nothing is in dispute" in client.post("/organise/settle", data=fields).text
    with run.file.reading() as db:
        assert [0.0] == list(read_adjudicated(db).gold.values())


def test_a_category_is_left_out_with_a_reason_alone(tmp_path):
    items = [{"item": f"q{k}", "category": "dose" if k < 4 else "cause"} for k in range(8)]
    run = made(tmp_path, {"A": {f"q{k}": f"an answer {k}" for k in range(8)}}, items=items)
    rater = Rater(run, "review", pilot=2)
    client = organiser(rater)
    fields = {"csrf": token(client), "out:1": "x", "reason:1": ""}
    assert 400 == client.post("/organise/round", data=fields).status_code
    with run.file.reading() as db:
        assert read_round(db, rater.panel.key.panel) is None
    page = client.post("/organise/round", data={**fields, "reason:1": "alpha was 0"}).text
    assert "Left out: dose (alpha was 0)" in page


@pytest.mark.parametrize("path", ["/organise", "/organise/reviews.jsonl", "/organise/ballot/0"])
def test_raters_reach_no_page_of_the_organiser(run, path):
    assert 403 == Rater(run, "review").client.get(path).status_code


@pytest.mark.parametrize("path", ["/organise/round", "/organise/settle"])
def test_nothing_is_decided_without_the_token_or_by_a_rater(run, path):
    rater = Rater(run, "review")
    assert 403 == organiser(rater).post(path, data={"correct": "yes"}).status_code
    assert 403 == rater.client.post(path, data={"csrf": rater.form(1)["csrf"]}).status_code


def test_reviews_of_one_site_are_read_at_another(run, tmp_path):
    rater = Rater(run, "review")
    judge_all(rater, "review")
    rater.judge(1, {"A:dispute": "=1+1"} | full(rater.page(1), **FIELDS["review"]))
    file = tmp_path / "reviews.jsonl"
    file.write_text(organiser(rater).get("/organise/reviews.jsonl").text)
    other = examined(tmp_path / "other", N_QUESTIONS)
    import_reviews(other.file, file)
    assert scores(run) == scores(other) != []
    with run.file.reading() as db, other.file.reading() as theirs:
        assert read_adjudicated(db) == read_adjudicated(theirs)


@pytest.mark.parametrize("task", ["rank", "rate"])
def test_ballots_of_one_site_are_read_in_a_copy_of_the_run(run, tmp_path, task):
    rater = Rater(run, task)
    run.file.copy(tmp_path / "copy.viva")
    judge_all(rater, task)
    client = organiser(rater)
    files = []
    for number in range(2):
        files.append(tmp_path / f"ballot-{number}.json")
        files[-1].write_text(client.get(f"/organise/ballot/{number}").text)
    other = Run(tmp_path / "copy.viva")
    store_ballots(other.file, files)
    assert scores(run) == scores(other) != []


def test_what_was_decided_stays_in_the_page_of_a_run_that_cannot_be_written(run, monkeypatch):
    rater = Rater(run, "review", pilot=4)
    rater.judge(1, FIELDS_OF_REVIEW | {"A:dispute": "Wrong unit."})
    client = organiser(rater)
    csrf, question = (
        token(client),
        re.search(r'name="question" value="(.*?)"', client.get("/organise").text)[1],
    )

    def full_disk(*args: object, **settings: object):
        raise StoreError("the disk is full: nothing of this step was written.")

    for name in ("put_adjudication", "open_round"):
        monkeypatch.setattr(f"vivavoce.web.annotate.organiser.{name}", full_disk)
    settled = client.post(
        "/organise/settle", data={"csrf": csrf, "question": question, "correct": "no", "reason": "mg, not g"}
    )
    opened = client.post("/organise/round", data={"csrf": csrf, "out:0": "x", "reason:0": "too easy"})
    for answer, typed in ((settled, "mg, not g"), (opened, "too easy")):
        assert (503, True, True) == (answer.status_code, "disk is full" in answer.text, typed in answer.text)
