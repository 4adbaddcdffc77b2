"""The portal of raters: one question a page, stored at once, nothing lost, nobody else to see."""

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from html import unescape
from pathlib import Path
from threading import Event

import pytest
from starlette.testclient import TestClient
from tests.people.raters import by_word, examined, filled
from tests.studies.making import made

from vivavoce.core.errors import StoreError
from vivavoce.people.packets import write_packets
from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.rounds import open_round
from vivavoce.people.storing.judgements import store_judgement
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.people.tasks import RankTask, RateTask, ReviewTask
from vivavoce.run.people.annotate import draw_links
from vivavoce.run.run import Run
from vivavoce.store.runfile import RunFile
from vivavoce.web.annotate.app import annotate_app

ADDRESS = "http://127.0.0.1:8018"
TASKS = {"rank": RankTask(), "rate": RateTask.with_rubric("correctness"), "review": ReviewTask()}
FIELDS = {
    "rank": {"rank": "1", "tag": "good"},
    "rate": {"correct": "0.5"},
    "review": {"correct": "yes", "relevance": "4"},
}


class Rater:
    """A rater at a browser without scripts."""

    def __init__(self, run: Run, task: str = "rank", name: str = "anna", **settings: object) -> None:
        raters = settings.pop("raters", ["anna", "ben"])
        self.panel = open_panel(run.file, PanelSettings(TASKS[task], **{"repeats": 0.0} | settings), raters)
        rows, self.organiser = draw_links(run.file, self.panel, "", anew=True)
        self.app = annotate_app(run.file, self.panel)
        self.links = {row.rater: row.link for row in rows}
        self.sign_in(name)

    def sign_in(self, name: str) -> None:
        self.name = name
        self.client = TestClient(self.app, base_url=ADDRESS)
        assert 200 == self.client.post(self.links[name]).status_code

    def page(self, number: int) -> str:
        answer = self.client.get(f"/question/{number}")
        assert 200 == answer.status_code, answer.text
        return answer.text

    def form(self, number: int) -> dict[str, str]:
        """The hidden fields of a page."""
        return dict(
            re.findall(r'<input type="hidden" name="(csrf|version)" value="(.*?)">', self.page(number))
        )

    def judge(self, number: int, entries: dict[str, str], form: dict[str, str] | None = None, **headers: str):
        fields = {"go": "stay"} | (form or self.form(number)) | entries
        return self.client.post(f"/question/{number}", data=fields, headers=headers, follow_redirects=False)

    def n_questions(self) -> int:
        return len(self.panel.key.packets[self.name])


def scores(run: Run) -> list[tuple]:
    with run.file.reading() as db:
        return db.execute(
            "SELECT item, candidate, metric, criterion, rater, pass_no, ballot, position, value, status "
            "FROM score_rows WHERE rater != '' ORDER BY 1, 2, 3, 4, 5, 6"
        ).fetchall()


def full(page: str, **entries: str) -> dict[str, str]:
    """The same entries for every answer of a page."""
    letters = sorted(set(re.findall(r'id="name-([A-Z])"', page))) or ["A"]
    return {f"{letter}:{column}": text for letter in letters for column, text in entries.items()}


def alert(answer) -> str:
    return unescape(re.search(r'role="alert"[^>]*>(.*?)</p>', answer.text)[1])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return examined(tmp_path, 6)


@pytest.mark.parametrize("task", ["rank", "rate", "review"])
def test_what_is_saved_is_stored_and_shown_again(run, task):
    rater = Rater(run, task)
    answer = rater.judge(1, full(rater.page(1), **FIELDS[task]))
    assert (303, "/question/1") == (answer.status_code, answer.headers["location"])
    again = rater.page(1)
    assert "Stored." in again
    checked = re.findall(r'name="A:(\w+)" value="([^"]*)"[^>]* checked', again)
    assert set(FIELDS[task].items()) <= set(checked)
    assert scores(run)


def test_rankings_from_the_portal_are_those_of_packets(run, tmp_path):
    other = examined(tmp_path / "other", 6)
    with run.file.reading() as db, other.file.writing() as theirs:
        Rater(run)  # draws the secret of the run
        (secret,) = db.execute("SELECT body FROM events WHERE kind = 'panel secret drawn'").fetchone() or (
            "",
        )
    rater = Rater(run)
    with run.file.reading() as db:
        (secret,) = db.execute("SELECT body FROM events WHERE kind = 'panel secret drawn'").fetchone()
    with other.file.writing() as theirs:
        theirs.execute("INSERT INTO events (kind, body) VALUES ('panel secret drawn', ?)", (secret,))
    opinion = by_word("five", "some")
    packets = write_packets(other.file, ["anna"], tmp_path / "packets")
    assert rater.panel.key.panel == packets.panel
    store_ballots(other.file, [filled(tmp_path / "packets" / "anna.csv", opinion)])
    for number, entry in enumerate(rater.panel.key.packets["anna"], 1):
        said = [opinion(entry.question.name, answer.text) for answer in entry.answers]
        entries = {f"{letter}:{column}": str(value) for letter, each in zip("ABCD", said, strict=False)
                   for column, value in each.items()}  # fmt: skip
        assert 303 == rater.judge(number, entries).status_code
    assert scores(other) == scores(run) != []


def test_the_way_goes_from_gap_to_gap_and_ends_on_the_first_page(run):
    rater = Rater(run, "review", n=3)
    assert "Begin with question 1" in rater.client.get("/").text
    rater.judge(2, FIELDS_OF_REVIEW)
    answer = rater.judge(1, {**FIELDS_OF_REVIEW, "go": "next"})
    assert "/question/3" == answer.headers["location"]
    assert "/" == rater.judge(3, {**FIELDS_OF_REVIEW, "go": "next"}).headers["location"]
    assert "Everything is stored" in rater.client.get("/").text


FIELDS_OF_REVIEW = {"A:correct": "no", "A:relevance": "2", "A:dispute": "The dose is per day."}


def test_a_script_saves_in_the_background(run):
    rater = Rater(run, "review")
    form = rater.form(1)
    answer = rater.judge(1, {"A:correct": "yes"}, form, Accept="application/json")
    assert ("relevance", 1) == (answer.json()["lacking"], answer.json()["n_done"])
    form["version"] = answer.json()["version"]
    later = rater.judge(1, {"A:correct": "yes", "A:relevance": "5"}, form, Accept="application/json")
    assert (200, "") == (later.status_code, later.json()["lacking"])


def test_a_half_ranked_question_stays_in_the_page_and_is_not_stored(run):
    rater = Rater(run)
    answer = rater.judge(1, {"A:rank": "2", "A:remark": "B is <b>dangerous</b>"})
    assert 400 == answer.status_code
    assert "there is nothing to store yet" in alert(answer)
    assert "B is &lt;b&gt;dangerous&lt;/b&gt;" in answer.text
    assert re.search(r'name="A:rank" value="2"[^>]* checked', answer.text)
    assert [] == scores(run)


def test_a_second_tab_with_an_older_page_loses_nothing_and_is_told(run):
    rater = Rater(run, "review")
    older = rater.form(1)
    rater.judge(1, {"A:correct": "yes", "A:comment": "First."})
    answer = rater.judge(1, {"A:correct": "no", "A:comment": "Second."}, older)
    assert 409 == answer.status_code
    assert "another window" in alert(answer)
    assert "Second." in answer.text
    assert "First." in answer.text
    newer = dict(re.findall(r'<input type="hidden" name="(csrf|version)" value="(.*?)">', answer.text))
    assert 303 == rater.judge(1, {"A:correct": "no", "A:comment": "Second."}, newer).status_code


def test_the_same_entries_from_an_older_page_are_no_conflict(run):
    rater = Rater(run, "review")
    older = rater.form(1)
    rater.judge(1, {"A:correct": "yes"})
    assert 303 == rater.judge(1, {"A:correct": "yes"}, older).status_code


def test_a_run_that_cannot_be_written_keeps_what_was_typed(run, monkeypatch):
    rater = Rater(run, "review")
    form = rater.form(1)

    def locked(*args: object, **settings: object):
        raise StoreError("the disk is full: nothing of this step was written.")

    monkeypatch.setattr("vivavoce.web.annotate.desk.store_judgement", locked)
    answer = rater.judge(1, {"A:correct": "yes", "A:comment": "A long thought."}, form)
    assert (503, True) == (answer.status_code, "A long thought." in answer.text)
    assert "the disk is full" in alert(answer)
    json = rater.judge(1, {"A:correct": "yes"}, form, Accept="application/json")
    assert (503, "the disk is full: nothing of this step was written.") == (
        json.status_code,
        json.json()["sentence"],
    )


def test_a_run_that_another_process_writes_to_is_a_sentence_without_its_path(run):
    rater = Rater(run, "review")
    background = {"profession": "nurse"}
    quick = RunFile(run.file.path, wait_s=0.1)
    rater.app = annotate_app(quick, rater.panel)
    rater.sign_in("anna")
    form = rater.form(1)
    with closing(sqlite3.connect(run.file.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        saved = rater.judge(1, {"A:correct": "yes", "A:comment": "A long thought."}, form)
        said = rater.client.post("/about-you", data=background | {"csrf": form["csrf"]})
    for answer, typed in ((saved, "A long thought."), (said, "nurse")):
        assert (503, True) == (answer.status_code, typed in answer.text)
        assert alert(answer).startswith("run.viva was kept locked by another process")
    assert 303 == rater.judge(1, {"A:correct": "yes"}, form).status_code


def test_a_judgement_does_not_wait_for_ever_behind_others(run, monkeypatch):
    rater = Rater(run, "review")
    form = rater.form(1)
    monkeypatch.setattr("vivavoce.web.annotate.desk.QUEUE_S", 0.1)

    answered = Event()

    def slow(*args: object, **settings: object):
        assert answered.wait(60)
        return store_judgement(*args, **settings)

    monkeypatch.setattr("vivavoce.web.annotate.desk.store_judgement", slow)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(rater.judge, n, {"A:correct": "yes"}, form) for n in (1, 2)]
        codes = []
        for done in as_completed(both):  # the one that waits is answered while the other is at work
            answered.set()
            codes.append(done.result().status_code)
    assert [503, 303] == codes


@pytest.mark.parametrize("text", ["x" * 10_001, "\0", "😀" * 10_001])
def test_a_comment_that_cannot_be_is_one_sentence_and_stays(run, text):
    rater = Rater(run, "review")
    answer = rater.judge(1, {"A:correct": "yes", "A:comment": text})
    assert 400 == answer.status_code
    assert [] == scores(run)
    if text != "\0":
        assert text in answer.text


def test_a_comment_of_ten_thousand_characters_of_any_script_is_stored(run):
    rater = Rater(run, "review")
    texts = {f"A:{column}": "語" * 10_000 for column in ("comment", "dispute", "proposed_edit")}
    assert 303 == rater.judge(1, {"A:correct": "yes", **texts}).status_code
    assert 3 == rater.page(1).count("語" * 10_000)


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "=HYPERLINK(1)", "a\r\nSet-Cookie: a=b", "{{ 7 * 7 }}", "\u202e"]
)
def test_hostile_words_stay_words(run, hostile):
    rater = Rater(run, "review")
    rater.judge(1, {"A:correct": "yes", "A:comment": hostile})
    page = rater.page(1)
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "49" not in re.search(r'id="comment".*?</textarea>', page, re.DOTALL)[0]


@pytest.mark.parametrize("number", ["0", "7", "-1", "1e1", "x", "9" * 30, "%D9%A1"])
def test_a_question_of_nobody_is_a_sentence(run, number):
    rater = Rater(run)
    assert 404 == rater.client.get(f"/question/{number}").status_code
    assert 404 == rater.client.post(f"/question/{number}", data=rater.form(1)).status_code


def test_raters_reach_their_own_questions_alone(run):
    rater = Rater(run, "review", double=0.0)
    mine = {unescape(rater.page(n)) for n in range(1, rater.n_questions() + 1)}
    rater.sign_in("ben")
    theirs = {unescape(rater.page(n)) for n in range(1, rater.n_questions() + 1)}
    names = [f"q{k:02}" for k in range(6)]
    for name in names:
        assert 1 == sum(any(f"What of {name}?" in page for page in pages) for pages in (mine, theirs))


@pytest.mark.parametrize("task", ["rank", "rate", "review"])
def test_no_page_names_a_candidate_a_score_or_another_rater(run, task):
    run.score("bleu")
    rater = Rater(run, task)
    rater.judge(1, full(rater.page(1), **FIELDS[task]))
    rater.sign_in("ben")
    pages = [rater.client.get(path).text for path in ("/", "/question/1", "/question/2", "/about-you")]
    for page in pages:
        for word in ("Able", "Fair", "Poor", "anna", "bleu", 'reference"'):
            assert word not in page


def test_a_person_whom_the_panel_does_not_name_is_asked_nothing(run):
    rater = Rater(run)
    first = rater.panel.key
    other = annotate_app(
        run.file, rater.panel._replace(key=first._replace(packets={"ben": first.packets["ben"]}))
    )
    client = TestClient(other, base_url=ADDRESS)
    client.post(rater.links["anna"])
    assert "Nothing is asked of you here" in client.get("/").text
    assert 404 == client.get("/question/1").status_code


@pytest.mark.parametrize("path", ["/question/1", "/about-you", "/out"])
def test_nothing_is_written_without_the_token_of_the_form(run, path):
    rater = Rater(run, "review")
    assert 403 == rater.client.post(path, data={"A:correct": "yes", "version": ""}).status_code
    assert [] == scores(run)


@pytest.mark.parametrize("path", ["/question/1", "/"])
def test_reading_writes_nothing(run, path):
    rater = Rater(run, "review")
    with run.file.reading() as db:
        before = (
            db.execute("PRAGMA data_version").fetchone(),
            db.execute("SELECT count(*) FROM events").fetchone(),
        )
        rater.client.get(f"{path}?A:correct=yes&go=next")
        assert before[1] == db.execute("SELECT count(*) FROM events").fetchone()
    assert [] == scores(run)


def test_the_rest_is_asked_when_the_pilot_is_over_without_what_is_left_out(tmp_path):
    items = [{"item": f"q{k}", "category": "dose" if k < 4 else "cause"} for k in range(8)]
    run = made(tmp_path, {"A": {f"q{k}": f"an answer {k}" for k in range(8)}}, items=items)
    rater = Rater(run, "review", pilot=2)
    assert "0 of 2 questions" in rater.client.get("/").text
    assert 404 == rater.client.get("/question/3").status_code
    with run.file.writing() as db:
        open_round(db, rater.panel.key.panel, {"dose": "nobody agreed in the pilot"})
    n = int(re.search(r"0 of (\d+) questions", rater.client.get("/").text)[1])
    pilot = rater.panel.key.first_places(2)
    assert n == 4 + sum(place[1] < "q4" for place in pilot)


def test_a_rater_says_who_they_are(run):
    rater = Rater(run)
    csrf = rater.form(1)["csrf"]
    fields = {"csrf": csrf, "profession": "Pharmacist", "years": "7,5", "paid": "yes", "author": "no"}
    assert "Stored." in rater.client.post("/about-you", data=fields).text
    page = rater.client.get("/about-you").text
    assert 'value="Pharmacist"' in page
    assert 'value="7.5"' in page
    wrong = rater.client.post("/about-you", data={**fields, "years": "many"})
    assert (400, True) == (wrong.status_code, 'value="many"' in wrong.text)


def test_what_is_stored_can_be_taken_back(run):
    rater = Rater(run, "review")
    rater.judge(1, FIELDS_OF_REVIEW)
    rater.judge(1, {"go": "take back"})
    assert [] == scores(run)
    assert "Not judged yet." in rater.page(1)


def test_a_restart_goes_on_where_it_was(run):
    rater = Rater(run, "review")
    rater.judge(1, FIELDS_OF_REVIEW)
    links = rater.links
    panel = open_panel(run.file, PanelSettings(ReviewTask(), repeats=0.0), ["anna", "ben"])
    client = TestClient(annotate_app(run.file, panel), base_url=ADDRESS)
    assert "1 of 6 questions done" in client.post(links["anna"]).text


COMPLETE = {f"{letter}:rank": str(n) for n, letter in enumerate("ABCD", 1)} | {
    f"{letter}:tag": "okay" for letter in "ABCD"
}
WRONG = {
    "rank": [{"A:rank": "99"}, {"A:rank": "x"}, {"Z:rank": "1"}, {"A:colour": "red"}, {}],
    "rate": [{"A:correct": "99"}, {"A:correct": "x"}, {"Z:correct": "1"}, {"A:colour": "red"}, {}],
    "review": [
        {"A:correct": "maybe"}, {"A:relevance": "9"}, {"A:category": "c" * 999}, {"A:dispute": "d" * 99_999},
        {},
    ],
}  # fmt: skip


@pytest.mark.parametrize("task", WRONG)
def test_no_sentence_names_the_id_of_an_item(tmp_path, task):
    """Ids say which benchmark a question is from, and often what its key is."""
    run = examined(tmp_path, 4)
    rater = Rater(run, task)
    ids = {question.item for question in rater.panel.key.questions}
    sentences = [alert(rater.judge(1, fields)) for fields in WRONG[task]]
    stale = rater.form(1) | {"version": "0" * 16}
    entries = {"rank": COMPLETE, "rate": {"A:correct": "1"}, "review": {"A:relevance": "1"}}[task]
    rater.judge(1, entries)
    sentences.append(
        alert(rater.judge(1, entries | {"A:rank": "4", "A:correct": "0", "A:relevance": "2"}, stale))
    )
    assert not [name for name in ids for sentence in sentences if name in sentence]
    assert len(WRONG[task]) < sum("Question 1" in sentence for sentence in sentences), sentences


def test_damage_is_told_without_the_id_of_an_item_or_a_candidate(tmp_path):
    run = examined(tmp_path, 4)
    rater = Rater(run)
    form = rater.form(1)
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute("UPDATE items SET question = 'another'")
    assert alert(rater.judge(1, COMPLETE, form)).startswith("The run is damaged, and nothing was stored")


def test_a_question_that_is_reworded_is_told_without_its_id(tmp_path):
    run = examined(tmp_path, 4)
    rater = Rater(run)
    packet = rater.panel.key.packets["anna"]
    reworded = tuple(entry._replace(question=entry.question._replace(hash="x")) for entry in packet)
    key = rater.panel.key._replace(packets={"anna": reworded})
    rater.app = annotate_app(run.file, rater.panel._replace(key=key))
    rater.sign_in("anna")
    assert alert(rater.judge(1, COMPLETE)).startswith("a question is worded otherwise in this run")
