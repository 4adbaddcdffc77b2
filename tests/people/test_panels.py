"""Panels that are judged in the browser: the same settings, the same panel; shared out, repeated, intact."""

from collections import Counter

import polars as pl
import pytest
from tests.people.raters import drawn, examined

from vivavoce.core.errors import InputError
from vivavoce.people.panels import PanelSettings, load_panel, newest_panel, open_panel
from vivavoce.people.storing.judgements import judgements, progress, store_judgement
from vivavoce.people.storing.store_reviews import import_reviews, read_adjudicated
from vivavoce.people.tasks import RankTask, RateTask, ReviewTask
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.view import with_view
from vivavoce.studies.labels import people_scores
from vivavoce.studies.score_table import Labels

RATERS = ("anna", "ben", "carla")


def scores(run: Run):
    with run.file.reading() as db:
        return db.execute(
            "SELECT item, candidate, metric, criterion, rater, pass_no, ballot, position, value, status "
            "FROM score_rows WHERE rater != '' ORDER BY 1, 2, 3, 4, 5, 6"
        ).fetchall()


@pytest.fixture
def run(tmp_path) -> Run:
    return drawn(examined(tmp_path, 40))


@pytest.mark.parametrize("task", [RankTask(), ReviewTask(), RateTask.with_rubric("correctness")])
def test_the_same_settings_open_the_same_panel_though_the_run_has_grown(run, tmp_path, task):
    settings = PanelSettings(task, n=10)
    first = open_panel(run.file, settings, RATERS)
    other = examined(
        tmp_path / "other", 40, answers={"New": {f"q{k:02}": f"none for {k}" for k in range(40)}}
    )
    run.merge(other.file.path)
    again = open_panel(run.file, settings, RATERS)
    assert (first.key.packets, first.key.questions) == (again.key.packets, again.key.questions)
    assert first.key.panel == newest_panel(run.file, task.name).panel
    assert all(entry.question.prompt and entry.answers[0].text for entry in again.key.packets["anna"])


def test_questions_are_shared_out_and_some_are_put_again(run):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), double=0.5, repeats=0.05), RATERS)
    firsts = Counter(
        entry.question.name for packet in panel.key.packets.values() for entry in packet if entry.pass_no == 1
    )
    assert {1: 20, 2: 20} == Counter(firsts.values())
    again = [[entry.pass_no for entry in packet].count(2) for packet in panel.key.packets.values()]
    assert [1, 1, 1] == again


def test_the_pilot_comes_first_and_is_everybodys(run):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), double=0.0, pilot=5), RATERS)
    pilots = [{entry.question.name for entry in packet[:5]} for packet in panel.key.packets.values()]
    assert pilots[0] == pilots[1] == pilots[2]
    assert 5 == len(pilots[0])
    assert 40 - 5 == sum(len({e.question.name for e in packet[5:]}) for packet in panel.key.packets.values())


def test_a_further_rater_joins_where_everybody_judges_everything(run):
    settings = PanelSettings(RankTask(), n=10)
    before = open_panel(run.file, settings, RATERS)
    after = open_panel(run.file, settings, [*RATERS, "dora"])
    assert before.key.packets.items() <= after.key.packets.items()
    assert 10 == len(after.key.packets["dora"])


def test_a_further_rater_of_shared_questions_is_refused(run):
    settings = PanelSettings(RankTask(), n=10, double=0.5)
    open_panel(run.file, settings, RATERS)
    with pytest.raises(InputError, match="a further rater, dora"):
        open_panel(run.file, settings, [*RATERS, "dora"])


def test_a_question_that_was_reworded_is_asked_no_more(run):
    panel = open_panel(run.file, PanelSettings(RankTask(), n=10), RATERS)
    name = panel.key.packets["anna"][0].question.name
    with run.file.writing() as db:
        db.execute("UPDATE responses SET text = 'other words' WHERE item_id IN "
                   "(SELECT item_id FROM items WHERE item = ?)", (name,))  # fmt: skip
    later = load_panel(run.file, panel.key.panel)
    assert (name,) == later.changed
    assert all(name != entry.question.name for packet in later.key.packets.values() for entry in packet)


# -- A review, one at a time ---------------------------------------------------------------------------------


def test_a_review_from_the_page_is_that_of_a_file(run, tmp_path):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), n=2, repeats=0), ["anna"])
    rows = ["item,category,rater,correct,relevance,dispute"]
    for entry in panel.key.packets["anna"]:
        fields = {"correct": "no", "relevance": "4", "category": "dose", "dispute": "Per day, not per hour."}
        store_judgement(run.file, panel.key, "anna", entry.question.name, {"A": fields}, version="")
        rows.append(f'{entry.question.item},dose,anna,no,4,"Per day, not per hour."')
    file = tmp_path / "reviews.csv"
    file.write_text("\n".join(rows))
    other = examined(tmp_path / "other", 40)
    import_reviews(other.file, file)
    assert scores(other) == scores(run) != []
    with run.file.reading() as db, other.file.reading() as theirs:
        assert read_adjudicated(theirs) == read_adjudicated(db)
        assert 2 == len(read_adjudicated(db).disputed)


def test_what_was_entered_reads_back_and_can_be_taken_back_part_by_part(run):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), n=1), ["anna"])
    (entry,) = panel.key.packets["anna"]
    fields = {"correct": "yes", "relevance": "5", "category": "", "comment": "Fine.", "dispute": "Old."}
    store_judgement(run.file, panel.key, "anna", entry.question.name, {"A": fields})
    less = {"correct": "yes", "relevance": "", "category": "", "comment": "", "dispute": ""}
    store_judgement(run.file, panel.key, "anna", entry.question.name, {"A": less})
    with run.file.reading() as db:
        (judgement,) = judgements(db, panel.key, "anna")
        assert {} == read_adjudicated(db).disputed
        assert [(1, 0)] == [(p.n_done, p.n_left) for p in progress(db, panel.key)]
    assert {"A": {"correct": "yes", "relevance": None, "category": ""}} == judgement.entries
    assert ["correct"] == [row[3] for row in scores(run)]


def test_words_alone_are_no_review(run):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), n=1), ["anna"])
    with pytest.raises(InputError, match="correct and relevance are both empty"):
        store_judgement(run.file, panel.key, "anna", panel.key.packets["anna"][0].question.name,
                        {"A": {"comment": "Hm."}})  # fmt: skip
    assert [] == scores(run)


def test_the_second_time_is_a_pass_of_its_own(run):
    panel = open_panel(run.file, PanelSettings(RankTask(), n=20), ["anna"])
    (again,) = [entry for entry in panel.key.packets["anna"] if entry.pass_no == 2]
    name = again.question.name
    for pass_no, ranks in ((1, (1, 2, 3, 4)), (2, (4, 3, 2, 1))):
        entries = {
            label: {"rank": rank} for label, rank in zip("ABCD", ranks[: len(again.answers)], strict=False)
        }
        store_judgement(run.file, panel.key, "anna", name, entries, pass_no=pass_no)
    assert {1, 2} == {row[5] for row in scores(run)}
    with run.file.reading() as db:
        done = [entry for entry in judgements(db, panel.key, "anna") if entry.version]
    assert [name, name] == [entry.question for entry in done]


def test_a_half_ranked_question_takes_nothing_back_unless_it_is_meant(run):
    panel = open_panel(run.file, PanelSettings(RankTask(), n=5), ["anna"])
    entry = panel.key.packets["anna"][0]
    labels = "ABCD"[: len(entry.answers)]
    full = {label: {"rank": n} for n, label in enumerate(labels, 1)}
    store_judgement(run.file, panel.key, "anna", entry.question.name, full)
    before = scores(run)
    with pytest.raises(InputError, match="lacks the rank of A"):
        store_judgement(run.file, panel.key, "anna", entry.question.name, {**full, "A": {}}, take_back=False)
    assert before == scores(run)


def test_silent_questions_are_somebodys_where_questions_are_shared_out(tmp_path):
    silent = [f"{who} q{k:02}" for who in ("Able", "Fair", "Poor") for k in range(6)]
    run = examined(tmp_path, 12, silent=silent)
    panel = open_panel(
        run.file, PanelSettings(RateTask.with_rubric("medgpt"), n=12, double=0.0), ["anna", "ben"]
    )
    assert 6 == sum(len(questions) for questions in panel.key.unshown.values())


def test_status_counts_a_rater_s_open_disputes(run):
    panel = open_panel(run.file, PanelSettings(ReviewTask(), n=3, repeats=0), ["anna", "ben"])
    for entry, dispute in zip(panel.key.packets["anna"][:2], ("Wrong.", ""), strict=True):
        entries = {"A": {"correct": "no", "dispute": dispute}}
        store_judgement(run.file, panel.key, "anna", entry.question.name, entries)
    rows = [row for row in run.status().rows if row["about"] == "judgements"]
    assert [("anna", 2, 1, 1), ("ben", 0, 3, 0)] == [
        (row["rater"], row["done"], row["left"], row["disputed"]) for row in rows
    ]


def test_a_planted_repeat_is_no_second_label(run):
    run.score("bleu")
    panel = open_panel(
        run.file, PanelSettings(RateTask.with_rubric("correctness"), n=20, repeats=0.5), ["anna"]
    )
    for entry in panel.key.packets["anna"]:
        value = "1" if entry.pass_no == 1 else "0"
        entries = {label: {"correct": value} for label in "ABC"[: len(entry.answers)]}
        store_judgement(run.file, panel.key, "anna", entry.question.name, entries, pass_no=entry.pass_no)
    table = with_view(run.file, load_scores)
    keys = {key for key, measure in table.measures.items() if measure.rater == "anna"}
    people = table.scores.filter(pl.col("measure_id").is_in(keys))
    labels = Labels("rating", people, {key: table.measures[key] for key in keys}, people.clear())
    assert {1, 2} == set(people["pass_no"])
    assert [1.0] == people_scores(labels)["label"].unique().to_list()


def ranked(folder, repeats: float) -> list[tuple]:
    """The figures of two raters who rank by a rule, and the other way round on second sight."""
    run = examined(folder, 24)
    panel = open_panel(run.file, PanelSettings(RankTask(), n=24, repeats=repeats), ["anna", "ben"])
    words = ("five", "some", "spoonful")
    for rater, packet in panel.key.packets.items():
        for entry in packet:
            order = words if entry.pass_no == 1 else words[::-1]
            ranks = [next((n for n, word in enumerate(order, 1) if word in a.text), 4) for a in entry.answers]
            entries = {label: {"rank": rank} for label, rank in zip("ABCD", ranks, strict=False)}
            store_judgement(run.file, panel.key, rater, entry.question.name, entries, pass_no=entry.pass_no)
    return [(row["candidate"], row["figure"], row["value"]) for row in run.study("panel")["panel"].rows]


def test_a_planted_repeat_is_no_second_ballot(tmp_path):
    assert ranked(tmp_path / "once", 0.0) == ranked(tmp_path / "again", 0.3)
