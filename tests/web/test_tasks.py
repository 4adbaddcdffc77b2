"""The portal's further tasks: compare two, verify facts, mark what gives the answer away, take the exam."""

import json
import random
import re
import time
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from tests.lengths import length
from tests.people.raters import examined
from tests.studies.making import made, write_lines
from tests.web.test_annotate import TASKS, Rater, alert, scores

from vivavoce.core.errors import InputError
from vivavoce.people.panels import PanelSettings, open_panel
from vivavoce.people.tasks import AnswerTask, NeutraliseTask, PairwiseTask, VerifyTask
from vivavoce.run.people.annotate import task_of
from vivavoce.run.run import Run
from vivavoce.variants.neutralise import without_passages

TASKS |= {
    "pairwise": PairwiseTask(), "verify": VerifyTask(), "neutralise": NeutraliseTask(),
    "answer": AnswerTask(), "assisted": AnswerTask("Able"),
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return examined(tmp_path, 12)


# Pairs.


def shown_pairs(rater: Rater) -> list[tuple[str, ...]]:
    packet = rater.panel.key.packets[rater.name]
    return [tuple(who for answer in entry.answers for who in answer.candidates) for entry in packet]


def test_pairs_meet_alike_often(run):
    pairs = [tuple(sorted(pair)) for pair in shown_pairs(Rater(run, "pairwise"))]
    assert {4} == {pairs.count(pair) for pair in set(pairs)}
    assert 3 == len(set(pairs))


def test_a_choice_is_two_ranks_and_reads_back(run):
    rater = Rater(run, "pairwise")
    first, second = shown_pairs(rater)[0]
    assert 303 == rater.judge(1, {"A:better": "B", "A:remark": "Clearer."}).status_code
    rows = {(row[1], row[3]): row[8] for row in scores(run)}
    assert {
        (second, "rank"): 1.0,
        (first, "rank"): 2.0,
        (second, "ahead"): 1.0,
        (first, "ahead"): 0.0,
    } == rows
    page = rater.page(1)
    assert re.search(r'name="A:better" value="B"[^>]* checked', page)
    assert "Clearer." in page
    assert 303 == rater.judge(1, {"A:better": "tie"}).status_code
    assert {0.5} == {row[8] for row in scores(run) if row[3] == "ahead"}


def test_a_choice_that_is_none_is_refused(run):
    assert "better is A, B or tie, not 'C'" in alert(Rater(run, "pairwise").judge(1, {"A:better": "C"}))


def test_two_candidates_with_one_answer_are_one_side_of_a_pair(tmp_path):
    run = made(tmp_path, {"Able": {"q": "five"}, "Twin": {"q": "five"}, "Poor": {"q": "none"}})
    rater = Rater(run, "pairwise")
    pair = rater.panel.key.packets["anna"][0].answers
    letter = "AB"[[answer.candidates for answer in pair].index(("Able", "Twin"))]
    rater.judge(1, {"A:better": letter})
    assert {"Able": 1.0, "Twin": 1.0, "Poor": 0.0} != {
        row[1]: row[8] for row in scores(run) if row[3] == "rank"
    }
    assert re.search(f'name="A:better" value="{letter}"[^>]* checked', rater.page(1))


def test_who_is_always_preferred_stands_first_in_the_study(tmp_path):
    run = examined(tmp_path, length(15, 30))
    order = ["Able", "Fair", "Poor"]
    for name in ("anna", "ben"):
        rater = Rater(run, "pairwise", name)
        for number, pair in enumerate(shown_pairs(rater), 1):
            rater.judge(number, {"A:better": "A" if order.index(pair[0]) < order.index(pair[1]) else "B"})
    study = run.study("panel")["panel"]
    rows = study.rows
    shares = {row["candidate"]: row["value"] for row in rows if row["figure"] == "preferred"}
    assert {"Able": 1.0, "Fair": 0.5, "Poor": 0.0} == shares
    strengths = {row["candidate"]: row["value"] for row in rows if row["figure"] == "strength"}
    assert strengths["Able"] > strengths["Fair"] > strengths["Poor"]
    assert {1.0} == {row["value"] for row in rows if row["figure"] == "alpha_ordinal"}
    assert "is preferred in" in study.text


def test_agreement_on_pairs_is_that_of_the_reference_implementation(tmp_path):
    run, dice = examined(tmp_path, length(14, 40)), random.Random(7)
    choices: dict[str, list[float]] = {}
    for name in ("anna", "ben"):
        rater = Rater(run, "pairwise", name)
        for number, entry in enumerate(rater.panel.key.packets[name], 1):
            first, second = (answer.candidates[0] for answer in entry.answers)
            wins = dice.choice([min(first, second)] * 3 + [max(first, second), "tie"])
            rater.judge(number, {"A:better": "tie" if wins == "tie" else "A" if wins == first else "B"})
            worth = 0.0 if wins == "tie" else 1.0 if wins == min(first, second) else -1.0
            choices.setdefault(entry.question.name, []).append(worth)
    table = np.array(list(choices.values()))
    expected = krippendorff.alpha(
        reliability_data=np.vstack([table, -table]).T, level_of_measurement="ordinal"
    )
    rows = run.study("panel")["panel"].rows
    (alpha,) = [row for row in rows if row["figure"] == "alpha_ordinal"]
    assert expected == pytest.approx(alpha["value"], abs=1e-9)
    assert alpha["low"] < alpha["value"] < alpha["high"]


# Facts.


def test_every_sentence_is_proposed_as_a_fact(tmp_path):
    run = made(tmp_path, {"Able": {"q": "Give 5 mg. It helps <b>fast</b>."}})
    page = Rater(run, "verify").page(1)
    facts = re.findall(r'name="A:fact_(\d+)"[^>]*>\n(.*?)</textarea>', page)
    assert [
        ("1", "Give 5 mg."),
        ("2", "It helps &lt;b&gt;fast&lt;/b&gt;."),
        ("3", ""),
        ("4", ""),
        ("5", ""),
    ] == facts


def test_the_facts_that_a_metric_found_are_proposed_in_place_of_sentences(tmp_path):
    run = made(tmp_path, {"Able": {"q": "Give 5 mg, which helps fast."}, "Poor": {"q": "Nothing. At all."}})
    lines = [
        {
            "item": "q",
            "candidate": "Able",
            "unit": str(k),
            "text": text,
            "verdict": "supported",
            "source": "x",
        }
        for k, text in enumerate(["Give 5 mg.", "5 mg <b>help</b> fast."], 1)
    ]
    file = write_lines(tmp_path / "facts.jsonl", lines)
    run.score(f"atomic_facts(splitter=recorded(file={file}), checker=recorded(file={file}))")
    pages = [Rater(run, "verify", candidates=(who,)).page(1) for who in ("Able", "Poor")]
    facts = [re.findall(r'name="A:fact_\d+"[^>]*>\n(.+?)</textarea>', page) for page in pages]
    assert [["Give 5 mg.", "5 mg &lt;b&gt;help&lt;/b&gt; fast."], ["Nothing.", "At all."]] == facts


FACTS = {
    "A:fact_1": "Give 5 mg.", "A:verdict_1": "supported", "A:source_1": "BNF 84", "A:quote_1": "5 mg once",
    "A:fact_2": "It helps fast.", "A:verdict_2": "contradicted", "A:source_2": "BNF 84",
}  # fmt: skip


def test_verdicts_are_a_share_and_rows_of_a_file(tmp_path):
    run = made(tmp_path, {"Able": {"q": "Give 5 mg. It helps fast."}})
    rater = Rater(run, "verify")
    assert 303 == rater.judge(1, FACTS).status_code
    assert [("Able", "supported", 0.5)] == [(row[1], row[3], row[8]) for row in scores(run)]
    assert re.search(r'name="A:verdict_2" value="contradicted"[^>]* checked', rater.page(1))
    rater.client.post(rater.organiser)
    lines = [json.loads(line) for line in rater.client.get("/organise/facts.jsonl").text.splitlines()]
    assert [("Give 5 mg.", "supported"), ("It helps fast.", "contradicted")] == [
        (line["text"], line["verdict"]) for line in lines
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    run.score(f"atomic_facts(splitter=recorded(file={file}), checker=recorded(file={file}, rater=anna))")
    values = [
        row[8] for row in all_scores(run) if row[2].startswith("atomic_facts") and row[3] == "precision"
    ]
    assert [0.5] == values


def all_scores(run: Run) -> list[tuple]:
    with run.file.reading() as db:
        return db.execute(
            "SELECT item, candidate, metric, criterion, rater, pass_no, ballot, position, value "
            "FROM score_rows"
        ).fetchall()


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"A:fact_1": "x", "A:verdict_1": "supported"}, "fact 1 is called supported without a source"),
        ({"A:verdict_1": "unverifiable"}, "fact 1 has a verdict and no text"),
        ({"A:fact_1": "x", "A:verdict_1": "maybe"}, "verdict 1 is supported, contradicted, unverifiable"),
        ({"A:fact_1": "x" * 2_001}, "2,000 is the most"),
        ({"A:fact_1": "x"}, "lacks a verdict"),
    ],
)
def test_facts_that_cannot_be_stored_say_why(run, entries, sentence):
    answer = Rater(run, "verify").judge(1, entries)
    assert (400, True) == (answer.status_code, sentence in alert(answer))
    assert [] == scores(run)


def test_facts_that_cannot_be_verified_are_no_share(run):
    rater = Rater(run, "verify")
    rater.judge(1, {"A:fact_1": "x", "A:verdict_1": "unverifiable"})
    assert [(None, "set_aside")] == [row[8:] for row in scores(run)]


def test_a_share_waits_until_all_facts_have_verdicts_and_goes_when_they_are_taken_back(run):
    rater = Rater(run, "verify")
    rater.judge(1, FACTS | {"A:fact_3": "One more."})
    assert [] == scores(run)
    rater.judge(1, FACTS)
    assert [0.5] == [row[8] for row in scores(run)]
    rater.judge(1, {"go": "take back"})
    assert [] == scores(run)
    assert "Not judged yet." in rater.page(1)


def test_facts_are_those_of_one_answer(tmp_path):
    run = made(tmp_path, {"Able": {"q": "Give 5 mg."}, "Poor": {"q": "Give 9 mg."}})
    for who, word in (("Able", "supported"), ("Poor", "contradicted")):
        rater = Rater(run, "verify", candidates=(who,))
        assert "Not judged yet." in rater.page(1)
        text = rater.panel.key.questions[0].answers[0].text
        rater.judge(1, {"A:fact_1": text, "A:verdict_1": word, "A:source_1": "BNF 84"})
    assert {("Able", 1.0), ("Poor", 0.0)} == {(row[1], row[8]) for row in scores(run)}


# Passages.


@pytest.fixture
def argued(tmp_path: Path) -> Run:
    texts = {"Able": {"q": "The answer is 2. It acts at once.", "r": "It acts at once."}}
    return _argued(tmp_path, texts)


def _argued(folder: Path, texts: dict[str, dict[str, str]]) -> Run:
    items = [
        {"item": name, "question": f"{name}: which drug?", "format": "argument",
         "options": ["Aspirin", "Heparin"], "answer": "Heparin"}
        for name in ("q", "r")
    ]  # fmt: skip
    return made(folder, texts, items=items)


def test_marked_passages_are_scores_and_are_taken_out_by_the_variation(argued):
    for name in ("anna", "ben"):
        rater = Rater(argued, "neutralise", name)
        for number, entry in enumerate(rater.panel.key.packets[name], 1):
            marked = {"A:gives_away": "yes", "A:spans": "The answer is 2."}
            entries = marked if entry.question.item == "q" else {"A:gives_away": "no"}
            assert 303 == rater.judge(number, entries).status_code
        assert re.search(r'name="A:gives_away" value="(yes|no)"[^>]* checked', rater.page(1))
    assert [1.0, 1.0, 0.0, 0.0] == [row[8] for row in scores(argued)]
    argued.vary("neutralise(marks=people)")
    with argued.file.reading() as db:
        edited = db.execute("SELECT item, text FROM response_rows WHERE edit = 'neutralise'").fetchall()
    assert [("q", "It acts at once.")] == edited


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"A:spans": "not there"}, "'not there' does not stand there"),
        ({"A:gives_away": "no", "A:spans": "at once"}, "one of the two is a slip"),
        ({"A:gives_away": "yes"}, "mark the passages"),
        ({"A:gives_away": "perhaps"}, "gives_away is yes or no"),
    ],
)
def test_passages_that_cannot_be_say_why(argued, entries, sentence):
    assert sentence in alert(Rater(argued, "neutralise").judge(1, entries))


@pytest.mark.parametrize(
    ("markings", "text"),
    [
        ([["B."]], "A. C."),
        ([["B."], []], "A. C."),
        ([["B."], [], []], "A. B. C."),
        ([["A. B."], ["B. C."]], ""),
        ([[]], "A. B. C."),
        ([["B.\n C."]], "A."),
    ],
)
def test_what_half_of_the_raters_marked_goes(markings, text):
    assert text == without_passages("A. B. C.", markings).text


# Answers.


def responses(run: Run, name: str = "anna") -> list[tuple]:
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT item, repeat, text, meta FROM response_rows WHERE candidate = ? ORDER BY item, repeat",
            (f"person/{name}",),
        ).fetchall()
    return [(*row[:3], json.loads(row[3])) for row in rows]


def test_an_answer_is_a_response_of_the_person(run):
    rater = Rater(run, "answer")
    opened = str(int(time.time()) - 30)
    assert 303 == rater.judge(1, {"A:response": "5 mg", "A:confidence": "80", "A:opened": opened}).status_code
    ((_, repeat, text, meta),) = responses(run)
    assert (1, "5 mg", 0.8, None) == (repeat, text, meta["confidence"], meta["assist"])
    assert 29 <= meta["seconds"] <= 40
    page = rater.page(1)
    assert (True, True) == ("5 mg" in page, 'value="80"' in page)


def test_an_answer_can_be_changed_and_taken_back(run):
    rater = Rater(run, "answer")
    rater.judge(1, {"A:response": "5 mg"})
    run.score("token_f1")
    n_scores = len(all_scores(run))
    rater.judge(1, {"A:response": "6 mg"})
    assert ["6 mg"] == [row[2] for row in responses(run)]
    assert len(all_scores(run)) < n_scores
    with run.file.reading() as db:
        (body,) = db.execute("SELECT body FROM events WHERE kind = 'person answer changed'").fetchone()
    assert "5 mg" == json.loads(body)["text"]
    rater.judge(1, {"go": "take back"})
    assert [] == responses(run)


@pytest.mark.parametrize("entries", [{"A:confidence": "101"}, {"A:confidence": "sure"}, {"A:response": " "}])
def test_an_answer_that_cannot_be_is_not_stored(run, entries):
    assert 400 == Rater(run, "answer").judge(1, {"A:response": "x"} | entries).status_code
    assert [] == responses(run)


def test_who_does_not_know_is_silent_as_a_candidate_is(run):
    rater = Rater(run, "answer")
    assert "one is a slip" in alert(rater.judge(1, {"A:response": "x", "A:no_answer": "x"}))
    assert 303 == rater.judge(1, {"A:no_answer": "x"}).status_code
    assert [""] == [row[2] for row in responses(run)]
    assert re.search(r'name="A:no_answer" value="x" checked', rater.page(1))
    run.score("token_f1")
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT status FROM score_rows WHERE candidate = 'person/anna' AND criterion = 'f1'"
        )
        assert [("unanswered",)] == rows.fetchall()


def test_people_do_not_see_the_reference_or_who_helps(run):
    page = Rater(run, "assisted").page(1)
    assert "Able" not in page
    assert "reference" not in page.lower()


def test_half_of_the_questions_show_the_helper_and_every_question_has_both(run):
    shown = {}
    for name in ("anna", "ben"):
        rater = Rater(run, "assisted", name)
        shown[name] = [
            bool(entry.answers[0].candidates)
            for entry in sorted(rater.panel.key.packets[name], key=lambda entry: entry.question.place)
        ]
        for number in range(1, rater.n_questions() + 1):
            assert ("An answer by somebody else" in rater.page(number)) == bool(
                rater.panel.key.packets[name][number - 1].answers[0].text
            )
    assert (6, 6) == (sum(shown["anna"]), sum(shown["ben"]))
    assert all(a != b for a, b in zip(shown["anna"], shown["ben"], strict=True))


def test_two_raters_of_a_question_take_turns_whoever_they_are(tmp_path):
    rater = Rater(examined(tmp_path, 30), "assisted", raters=["anna", "ben", "carla"], double=0.5, pilot=2)
    helps: dict[str, list[bool]] = {}
    for packet in rater.panel.key.packets.values():
        for entry in packet:
            helps.setdefault(entry.question.name, []).append(bool(entry.answers[0].candidates))
    assert {1, 2, 3} == set(map(len, helps.values()))
    assert all(abs(2 * sum(turns) - len(turns)) <= 1 for turns in helps.values())


@pytest.mark.parametrize("task", ["answer", "assisted"])
def test_closed_questions_are_part_of_the_exam_and_are_read_at_once(tmp_path, task):
    options = ["Aspirin", "Heparin"]
    items = [{"item": "q", "format": "mcq", "question": "Which?", "options": options, "answer": "Aspirin"}]
    run = made(tmp_path, {"Able": {"q": "A"}}, items=items)
    rater = Rater(run, task)
    assert "cannot be read" in alert(rater.judge(1, {"A:response": "Aspirin or Heparin, either will do"}))
    assert 303 == rater.judge(1, {"A:response": "B"}).status_code
    run.score("accuracy")
    assert {("Able", 1.0), ("person/anna", 0.0)} == {(row[1], row[8]) for row in all_scores(run)}


def test_compare_says_what_help_brings(tmp_path):
    n = length(12, 24)
    run = examined(tmp_path, n)
    for name in ("anna", "ben"):
        rater = Rater(run, "assisted", name)
        for number, entry in enumerate(rater.panel.key.packets[name], 1):
            helped = bool(entry.answers[0].candidates)
            rater.judge(
                number,
                {"A:response": f"five milligrams for {entry.question.item}" if helped else "other words"},
            )
    run.score("token_f1")
    (row,) = [row for row in run.compare(metric="token_f1", assisted=True).rows if row["criterion"] == "f1"]
    assert ("people with Able", "people alone", n) == (row["a"], row["b"], row["n_items"])
    assert row["difference"] != 0
    assert [] == [c for c in run.estimates().rows if c["candidate"].startswith("people with")]


def test_compare_without_anybody_helped_says_how(run):
    run.score("token_f1")
    with pytest.raises(Exception, match="nobody answered here with help and without"):
        run.compare(metric="token_f1", assisted=True)


def test_a_question_put_again_is_a_further_repeat(tmp_path):
    run = examined(tmp_path, 40)
    rater = Rater(run, "answer", repeats=0.1)
    packet = rater.panel.key.packets["anna"]
    number = next(n for n, entry in enumerate(packet, 1) if entry.pass_no == 2)
    rater.judge(number, {"A:response": "again"})
    assert [(packet[number - 1].question.item, 2, "again")] == [row[:3] for row in responses(run)]


def test_the_same_settings_open_the_same_panel_with_help(run):
    settings = PanelSettings(AnswerTask("Able"))
    panels = [open_panel(run.file, settings, ["anna", "ben"]).key for _ in range(2)]
    assert panels[0].panel == panels[1].panel
    assert panels[0].packets == panels[1].packets


@pytest.mark.parametrize("settings", [{"assist": "Able"}, {"criterion": "x"}, {"rubric": "medgpt"}])
def test_settings_of_another_task_are_refused(settings):
    with pytest.raises(InputError, match="goes with"):
        task_of("verify", **({"rubric": None, "criterion": None} | settings))


def test_a_panel_shows_no_name_on_any_page(run):
    for task in ("pairwise", "verify", "assisted"):
        rater = Rater(run, task)
        pages = [rater.page(n) for n in range(1, rater.n_questions() + 1)]
        # as words: a token of the form may hold any three letters
        assert not [page for page in pages if re.search(r"\b(Able|Fair|Poor|ben)\b", page)]
