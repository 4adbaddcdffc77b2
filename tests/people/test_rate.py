"""Packets that ask for ratings: a label stands for the response that was shown, and its chance is known."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.lengths import length
from tests.people.raters import Opinion, ballot, drawn, examined, filled, lines, with_packets, write
from tests.people.test_packets import HOSTILE, Elements
from tests.studies.making import made

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.specs import signed
from vivavoce.core.spreadsheets import FORMULA
from vivavoce.judging.loading import load
from vivavoce.people.choosing import choose
from vivavoce.people.packets import PacketsWritten, write_packets
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.people.tasks import RateTask
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.store.label_draws import LabelDraw, read_label_draws
from vivavoce.studies.score_table import counted_value

WORTH = {"five": 1, "some": 0.5, "spoonful": 0}


def worth(item: str, answer: str) -> dict[str, Any]:
    """An opinion on the rubric `correctness`, by the words of the answers of `examined`."""
    return {"correct": next((value for word, value in WORTH.items() if word in answer), 0)}


def make(run: Run, folder: Path, rubric: str = "correctness", **settings: Any) -> PacketsWritten:
    raters = settings.pop("raters", ["anna", "ben"])
    return write_packets(run.file, raters, folder, task="rate", rubric=rubric, **settings)


def rated(run: Run, folder: Path, opinion: Opinion = worth, **settings: Any) -> PacketsWritten:
    """A panel made, filled in by Anna and read."""
    done = make(run, folder, **settings)
    store_ballots(run.file, [filled(folder / "anna.csv", opinion)])
    return done


def labels(run: Run, criterion: str = "correct", rater: str = "anna", **wanted: str) -> dict[str, Any]:
    """By candidate the label of an item."""
    where = {"criterion": criterion, "rater": rater, "item": "q00", **wanted}
    rows = run.scores.filter(*(pl.col(name) == value for name, value in where.items()))
    return dict(rows.select("candidate", "value").iter_rows())


def draw_of(run: Run) -> LabelDraw:
    with run.file.reading() as db:
        (draw,) = read_label_draws(db).values()
    return draw


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return with_packets(tmp_path, 3, ["anna", "ben"], task="rate", rubric="correctness")


# What comes of it.


def test_every_response_gets_a_label_by_every_rater(run: Run, tmp_path: Path) -> None:
    files = [filled(tmp_path / "out" / "anna.csv", worth)]
    files += [ballot(tmp_path / "out" / "ben.csv", lambda *_: {"correct": 0.5}, tmp_path / "ben.json")]
    anna, _ = store_ballots(run.file, files)
    assert (3, 0, 0, 0, 9, 0) == (*anna[3:7], anna.labels, anna.cannot_tell)
    assert {"Able": 1, "Fair": 0.5, "Poor": 0} == labels(run)
    assert {"Able": 0.5, "Fair": 0.5, "Poor": 0.5} == labels(run, rater="ben")
    scores = run.scores
    assert 2 * 3 * 3 == scores.height
    assert {"rating(rubric=correctness)"} == set(scores["metric"])
    assert ({1}, {""}, {"ok"}) == tuple(set(scores[name]) for name in ("pass_no", "ballot", "status"))


def test_the_labels_are_recorded_ones_of_people_on_the_judges_scale(run: Run, tmp_path: Path) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", worth)])
    with run.file.reading() as db:
        measures = [keyed.measure for keyed in read.measures(db)]
    assert load("correctness").columns == tuple(m.criterion for m in measures)
    (measure,) = measures
    assert ("anna", True) == (measure.rater, signed(measure.signature).recorded)
    assert "model" not in signed(measure.signature).spec.settings
    assert re.fullmatch(r"rating\(rubric=correctness\)@recorded#[0-9a-f]{8}", measure.signature)


def test_a_criterion_that_is_computed_for_a_judge_is_computed_for_people(tmp_path: Path) -> None:
    run = examined(tmp_path, 2)
    rated(run, tmp_path / "out", lambda *_: {"rating": 4}, rubric="prometheus")
    assert {4} == set(labels(run, "rating").values())
    assert {0.75} == set(labels(run, "rating_unit").values())
    with run.file.reading() as db:
        assert load("prometheus").columns == tuple(k.measure.criterion for k in read.measures(db))


def test_the_page_and_the_sheet_say_the_same(run: Run, tmp_path: Path) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", worth)])
    (again,) = store_ballots(run.file, [ballot(tmp_path / "out" / "anna.csv", worth, tmp_path / "b.json")])
    assert (0, 3, 0) == (again.new, again.unchanged, again.replaced)


def test_reading_twice_changes_nothing(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", worth)
    store_ballots(run.file, [file])
    before = run.scores
    store_ballots(run.file, [file])
    assert before.equals(run.scores)
    with run.file.reading() as db:
        (n,) = db.execute("SELECT count(*) FROM provenance WHERE verb = 'panel read'").fetchone()
    assert 1 == n


def test_who_cannot_tell_gives_no_number(run: Run, tmp_path: Path) -> None:
    def opinion(item: str, answer: str) -> dict[str, Any]:
        return {"correct": "Cannot tell"} if "some" in answer else worth(item, answer)

    (done,) = store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", opinion)])
    assert (6, 3) == (done.labels, done.cannot_tell)
    assert {"Able": 1, "Fair": None, "Poor": 0} == labels(run)
    rows = run.scores.filter(pl.col("candidate") == "Fair")
    assert {"set_aside"} == set(rows["status"])
    with run.file.reading() as db:
        ((measure,), rows) = read.measures(db), read.scores(db, details=True)
    rows = rows.with_columns(counted=counted_value(measure.measure.criterion))
    assert {None} == set(rows.filter(pl.col("candidate") == "Fair")["counted"])


def test_a_remark_goes_with_its_answer(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", worth))
    next(row for row in rows if row["item"] == "q01" and "five" in row["answer"])["remark"] = "'=the dose"
    (done,) = store_ballots(run.file, [write(tmp_path / "a.csv", rows)])
    assert 1 == done.remarks
    with run.file.reading() as db:
        noted = read.scores(db, details=True).filter(pl.col("note").is_not_null())
    assert [("q01", "Able", "=the dose")] == noted.select("item", "candidate", "note").rows()


def test_equal_texts_share_a_label_and_only_the_repeat_that_was_shown_has_it(tmp_path: Path) -> None:
    answers = {
        "Twin": {"q00": "five  milligrams for q00"},
        "Often": {"q00": [None, "five milligrams for q00", "five milligrams for q00"]},
    }
    run = examined(tmp_path, 1, answers=answers)
    done = rated(run, tmp_path / "out")
    assert (3, 2) == (done.n_answers, done.n_alike)
    assert {"Able": 1, "Twin": 1, "Often": 1, "Fair": 0.5, "Poor": 0} == labels(run)
    assert [2] == run.scores.filter(pl.col("candidate") == "Often")["repeat"].to_list()


def test_silence_counts_by_the_rule_of_the_criterion_and_is_shown_to_nobody(tmp_path: Path) -> None:
    answers = {"Lost": {"q00": None}}
    run = examined(tmp_path, 2, silent=["Poor q00"], answers=answers)
    rated(run, tmp_path / "out", lambda *_: dict.fromkeys(_criteria("medgpt"), 4), rubric="medgpt")
    with run.file.reading() as db:
        measures = {k.key: k.measure for k in read.measures(db)}
        rows = read.scores(db, details=True).filter(pl.col("item") == "q00")
    counted = {
        measures[key].criterion.criterion: dict(
            rows.filter(pl.col("measure_id") == key)
            .with_columns(counted=counted_value(measures[key].criterion))
            .select("candidate", "counted")
            .iter_rows()
        )
        for key in measures
    }
    assert {"Able": 4, "Fair": 4, "Poor": 0, "Lost": None} == counted["reasoning"]
    assert {"Able": 4, "Fair": 4, "Poor": None, "Lost": None} == counted["harm"]
    status = dict(run.scores.filter(pl.col("item") == "q00").select("candidate", "status").iter_rows())
    assert ("unanswered", "failed") == (status["Poor"], status["Lost"])
    assert 2 == sum(row["item"] == "q00" for row in lines(tmp_path / "out" / "anna.csv"))


def test_where_all_are_silent_the_labels_follow_without_a_rater(tmp_path: Path) -> None:
    names = ("Able", "Fair", "Poor")
    run = examined(tmp_path, 3, silent=[f"{who} q01" for who in names])
    done = rated(run, tmp_path / "out")
    assert (2, 2, 2, 3) == (done.n_questions, done.n_cases, done.n_cases_possible, done.n_silent)
    assert {"q00", "q02"} == {row["item"] for row in lines(tmp_path / "out" / "anna.csv")}
    assert dict.fromkeys(names) == labels(run, item="q01")
    assert {"unanswered"} == set(run.scores.filter(pl.col("item") == "q01")["status"])
    assert 1 == draw_of(run).probabilities["exam", "q01", ""]


def _criteria(rubric: str) -> list[str]:
    return [c.name for c in load(rubric).criteria if c.of is None]


# What is refused.


@pytest.mark.parametrize("entry", ["7", "0.25", "-1", "nan", "1_0", "good", "1/2", "?"])
def test_a_value_off_the_scale_is_told_with_its_place(run: Run, tmp_path: Path, entry: str) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", worth))
    rows[1]["correct"] = entry
    place = (
        rf"a\.csv, line \d+: answer B to {rows[1]['item']}: correct is 0, 0\.5 or 1, or 'cannot tell', not"
    )
    with pytest.raises(InputError, match=place):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])
    assert 0 == run.scores.height


@pytest.mark.parametrize("entry", ["0,5", "0.50", "'0.5", " .5 "])
def test_a_number_may_be_written_as_spreadsheets_do(run: Run, tmp_path: Path, entry: str) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", lambda *_: {"correct": entry})])
    assert {0.5} == set(run.scores["value"])


def test_a_value_of_the_page_that_is_no_number_is_told(run: Run, tmp_path: Path) -> None:
    path = ballot(tmp_path / "out" / "anna.csv", lambda *_: {"correct": True}, tmp_path / "b.json")
    with pytest.raises(InputError, match="not 'True'"):
        store_ballots(run.file, [path])


@pytest.mark.parametrize("column", ["answer", "question", "reference", "seal"])
def test_what_was_not_sent_is_told(run: Run, tmp_path: Path, column: str) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", worth))
    rows[0][column] += " or so"
    with pytest.raises(InputError, match=f"not what anna was sent, at {rows[0]['item']}"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])


def test_a_ballot_of_ranks_is_no_ballot_of_ratings(run: Run, tmp_path: Path) -> None:
    path = ballot(tmp_path / "out" / "anna.csv", worth, tmp_path / "b.json")
    path.write_text(path.read_text().replace("viva.panel.ratings/1", "viva.panel.ballot/1"))
    with pytest.raises(InputError, match="a ballot of another task than panel"):
        store_ballots(run.file, [path])


def test_a_column_that_is_gone_is_told(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", worth))
    kept = [{name: text for name, text in row.items() if name != "correct"} for row in rows]
    with pytest.raises(InputError, match="the column 'correct' is gone"):
        store_ballots(run.file, [write(tmp_path / "a.csv", kept)])


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ("healthbench", "each item's own points, which have no common scale"),
        ("pairwise", "compares answers, and raters are to rate each by itself"),
        ("listwise", "let them compare with --task rank"),
        ("correctnes", "Did you mean 'correctness'"),
    ],
)
def test_a_rubric_without_a_common_scale_is_refused(tmp_path: Path, rubric: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make(examined(tmp_path, 1), tmp_path / "out", rubric)
    assert not (tmp_path / "out").exists()


def rubric_file(folder: Path, text: str, name: str = "own") -> str:
    """A rubric of one file whose criteria are this YAML."""
    path = folder / f"{name}.md"
    head = f"name: {name}\nversion: 1\nsource: our own\nkind: mark\nreference: false\ncriteria:\n"
    path.write_text(
        f"---\n{head}{text}---\n{{{{ question }}}} {{{{ criteria }}}} {{{{ answer }}}} {{{{ form }}}}\n"
    )
    return str(path)


def test_a_scale_of_a_hundred_values_is_refused_and_one_with_a_step_is_not(tmp_path: Path) -> None:
    wide = "  - {name: share, ask: 'How much?', scale: [0, 100]"
    run = examined(tmp_path, 1)
    with pytest.raises(InputError, match="the scale of share has 101 values, more than the 21 buttons"):
        make(run, tmp_path / "out", rubric_file(tmp_path, wide + "}\n"))
    make(run, tmp_path / "out", rubric_file(tmp_path, wide + ", step: 10}\n"))
    assert "takes 0, 10, 20," in (tmp_path / "out" / "anna.csv").read_text(encoding="utf-8-sig")


def test_a_scale_without_steps_takes_whole_numbers_its_ends_and_its_levels(tmp_path: Path) -> None:
    text = "  - {name: depth, ask: 'How deep?', scale: [0.5, 3.5], levels: {1.5: in between}}\n"
    make(examined(tmp_path, 1), tmp_path / "out", rubric_file(tmp_path, text))
    sheet = (tmp_path / "out" / "anna.csv").read_text(encoding="utf-8-sig")
    assert "Column depth takes 0.5, 1, 1.5, 2, 3 or 3.5, or: cannot tell." in sheet


def test_a_criterion_called_as_a_column_gets_another_column(tmp_path: Path) -> None:
    text = "".join(f"  - {{name: {name}, ask: 'How?', scale: [0, 1]}}\n" for name in ("answer", "remark"))
    run = examined(tmp_path, 1)
    make(run, tmp_path / "out", rubric_file(tmp_path, text), raters=["anna"])
    opinion = {"answer_rating": 1, "remark_rating": 0, "remark": "so so"}
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", lambda *_: opinion)])
    assert ({1}, {0}) == tuple(set(labels(run, name).values()) for name in ("answer", "remark"))


def test_another_wording_of_a_rubric_is_another_rubric(tmp_path: Path) -> None:
    line = "  - {name: tone, ask: 'How kind?', scale: [0, 1], levels: {0: rude, 1: WORD}}\n"
    run = examined(tmp_path, 2)
    make(run, tmp_path / "one", rubric_file(tmp_path, line.replace("WORD", "kind")))
    changed = rubric_file(tmp_path, line.replace("WORD", "kind enough"))
    with pytest.raises(InputError, match="another wording of the rubric 'own'"):
        make(run, tmp_path / "other", changed)
    store_ballots(run.file, [filled(tmp_path / "one" / "anna.csv", lambda *_: {"tone": 1})])
    assert {1} == set(run.scores["value"])  # by the wording that was sent


def test_nothing_to_read_is_nothing_to_rate(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q": ""}, "B": {"q": ""}})
    with pytest.raises(SelectionError, match="no question here has an answer to show and a reference answer"):
        make(run, tmp_path / "out")


# Gaps, and second thoughts.


def test_a_half_filled_packet_is_told_and_taken_in_part(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", worth))
    for row in rows:
        if row["item"] == "q02" or (row["item"] == "q00" and row["label"] == "B"):
            row["correct"] = ""
    file = write(tmp_path / "a.csv", rows)
    with pytest.raises(InputError, match="1 of 3 questions are complete") as told:
        store_ballots(run.file, [file])
    assert "q00 lacks correct of B" in str(told.value)
    assert "q02 lacks everything" in str(told.value)
    assert 0 == run.scores.height
    (done,) = store_ballots(run.file, [file], partial=True)
    assert (2, 1, 5) == (done.new, done.skipped, done.labels)
    assert {} == labels(run, item="q02")
    (gap,) = run.scores.filter(pl.col("status") != "ok").select("item", "value", "status").rows()
    assert ("q00", None, "failed") == gap
    whole = filled(tmp_path / "out" / "anna.csv", worth, tmp_path / "whole.csv")
    (later,) = store_ballots(run.file, [whole])
    assert (2, 1, 0) == (later.new, later.unchanged, later.replaced)
    assert {"ok"} == set(run.scores["status"])


def test_a_mind_changed_is_refused_and_then_taken_with_both_noted(run: Run, tmp_path: Path) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", worth)])

    def kinder(item: str, answer: str) -> dict[str, Any]:
        return {"correct": "cannot tell"} if item == "q01" and "spoon" in answer else worth(item, answer)

    later = filled(tmp_path / "out" / "anna.csv", kinder, tmp_path / "b.csv")
    with pytest.raises(
        InputError, match=r"of q01 \(correct of answer .: 0\.0, now cannot tell\)\. --replace"
    ):
        store_ballots(run.file, [later])
    (done,) = store_ballots(run.file, [later], replace=True)
    assert (0, 2, 1) == (done.new, done.unchanged, done.replaced)
    assert {"Able": 1, "Fair": 0.5, "Poor": None} == labels(run, item="q01")
    (back,) = store_ballots(run.file, [tmp_path / "out" / "anna.csv"], replace=True)
    assert 1 == back.replaced
    assert 0 == labels(run, item="q01")["Poor"]
    assert [(0.0, "cannot tell"), ("cannot tell", 0.0)] == _replaced(run)


def _replaced(run: Run) -> list[tuple[Any, Any]]:
    with run.file.reading() as db:
        sql = "SELECT body FROM events WHERE kind = 'panel ballots replaced' ORDER BY event_id"
        bodies = [json.loads(text) for (text,) in db.execute(sql)]
    return [(one["before"], one["after"]) for body in bodies for one in body["changes"]]


def test_a_question_taken_back_leaves_the_run(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", worth)
    store_ballots(run.file, [file, filled(tmp_path / "out" / "ben.csv", worth)])
    rows = [row | ({"correct": ""} if row["item"] == "q01" else {}) for row in lines(file)]
    later = write(tmp_path / "b.csv", rows)
    with pytest.raises(InputError, match="said otherwise before of q01"):
        store_ballots(run.file, [later], partial=True)
    (done,) = store_ballots(run.file, [later], partial=True, replace=True)
    assert (0, 2, 1, 1) == (done.new, done.unchanged, done.replaced, done.skipped)
    assert {"ben"} == set(run.scores.filter(pl.col("item") == "q01")["rater"])


def test_a_gap_takes_nothing_back_that_another_panel_asked(tmp_path: Path) -> None:
    """Drawn again with another seed, a question may be left open: its label stands."""
    run = examined(tmp_path, 3)
    rated(run, tmp_path / "one")
    make(run, tmp_path / "two", seed=2)
    rows = lines(filled(tmp_path / "two" / "anna.csv", worth))
    for row in rows:
        if row["item"] == "q01" or (row["item"] == "q02" and "five" in row["answer"]):
            row["correct"] = ""
        elif row["item"] == "q02" and "some" in row["answer"]:
            row["correct"] = "1"
    file = write(tmp_path / "b.csv", rows)
    with pytest.raises(InputError, match=r"of q02 \(correct of answer .: 0\.5, now 1\.0\)"):
        store_ballots(run.file, [file], partial=True)
    (done,) = store_ballots(run.file, [file], partial=True, replace=True)
    assert (0, 1, 1, 1) == (done.new, done.unchanged, done.replaced, done.skipped)
    assert {"Able": 1, "Fair": 0.5, "Poor": 0} == labels(run) == labels(run, item="q01")
    assert {"Able": 1, "Fair": 1, "Poor": 0} == labels(run, item="q02")


def test_a_rubrics_name_may_be_any_words(tmp_path: Path) -> None:
    text = "  - {name: tone, ask: 'How?', scale: [0, 1]}\n"
    path = Path(rubric_file(tmp_path, text))
    path.write_text(path.read_text().replace("name: own", "name: 'Tone (for us)@2, v=1'"))
    run = examined(tmp_path, 1)
    rated(run, tmp_path / "out", lambda *_: {"tone": 1}, rubric=str(path))
    (metric,) = set(run.scores["metric"])
    assert "rating(rubric='Tone (for us)@2, v=1')" == metric == draw_of(run).metric
    with run.file.reading() as db:
        (measure,) = (keyed.measure for keyed in read.measures(db))
    assert signed(measure.signature).recorded


# The packet.


def test_the_same_run_and_seed_give_the_same_packets_byte_for_byte(tmp_path: Path) -> None:
    run = examined(tmp_path)
    for name in ("one", "other"):
        make(run, tmp_path / name, n=5)
    for name in ("anna.csv", "anna.html", "ben.csv", "ben.html"):
        one, other = ((tmp_path / which / name).read_bytes() for which in ("one", "other"))
        assert one == other
    with run.file.reading() as db:
        events = Counter(kind for (kind,) in db.execute("SELECT kind FROM events"))
    assert {"panel secret drawn": 1, "panel made": 1, "labels drawn": 1} == events


def test_a_packet_says_the_scale_and_not_who_answered(tmp_path: Path) -> None:
    run = examined(tmp_path)
    make(run, tmp_path / "out", "medgpt")
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8-sig").replace("&#39;", "'")
        assert not re.search("Able|Fair|Poor", text), path
        assert "the key of q01" in text
        for criterion in load("medgpt").criteria:
            assert all(anchor in text for anchor in (criterion.ask, *criterion.levels.values())), path
    orders = {tuple(row["answer"][:4] for row in rows) for rows in _by_item(tmp_path / "out").values()}
    assert 4 < len(orders)


def _by_item(folder: Path) -> Mapping[str, Sequence[Mapping[str, str]]]:
    by: dict[str, list[Mapping[str, str]]] = {}
    for name in ("anna", "ben"):
        for row in lines(folder / f"{name}.csv"):
            by.setdefault(f"{name} {row['item']}", []).append(row)
    return by


def test_a_rubric_that_hides_the_reference_from_a_judge_hides_it_from_raters(tmp_path: Path) -> None:
    assert 0 == make(examined(tmp_path), tmp_path / "out", "medgpt_free").n_without_reference
    for path in (tmp_path / "out").iterdir():
        assert "the key of" not in path.read_text(encoding="utf-8-sig")


def test_hostile_answers_and_rubrics_are_text_in_the_page(tmp_path: Path) -> None:
    pages = []
    for name, text in (("a", "x"), ("b", HOSTILE)):
        folder = tmp_path / name
        run = made(folder, {"A": {"q": text}, "B": {"q": "kind"}})
        ask = json.dumps(text.replace("\u2028", "").replace("\u202e", "").replace("\u202c", ""))
        criterion = f"  - {{name: tone, ask: {ask}, scale: [0, 1], levels: {{0: {ask}}}}}\n"
        make(run, folder / "out", rubric_file(folder, criterion))
        pages.append((folder / "out" / "anna.html").read_text(encoding="utf-8"))
    assert Elements(pages[0]).found == Elements(pages[1]).found
    assert "\u202e" not in pages[1]


def test_no_cell_of_a_sheet_is_a_formula(tmp_path: Path) -> None:
    items = [{"item": "q", "question": "@What?", "references": ["=1+1"]}]
    run = made(tmp_path, {"A": {"q": "-2"}, "B": {"q": HOSTILE}}, items=items)
    rated(run, tmp_path / "out", lambda *_: {"correct": 1})
    for row in lines(tmp_path / "out" / "anna.csv"):
        for cell in row.values():
            assert not re.match(FORMULA, cell) or cell.startswith("'"), cell
    assert {1} == set(labels(run, item="q").values())


def test_the_key_holds_no_texts_and_the_rubric(tmp_path: Path) -> None:
    run = examined(tmp_path)
    make(run, tmp_path / "out")
    with run.file.reading() as db:
        ((body,),) = db.execute("SELECT body FROM events WHERE kind = 'panel made'").fetchall()
        (key,) = read_keys(db).values()
    assert not re.search("milligrams|spoonful|What of|the key of", body)
    assert load("correctness").columns == key.task.criteria


def test_closed_questions_are_rated_where_they_are_chosen(tmp_path: Path) -> None:
    items = [
        {"item": "open"},
        {"item": "shut", "format": "mcq", "question": "Which?", "options": ["x", "y"], "answer": "x"},
    ]
    answers = {"A": {"open": "one", "shut": "x"}, "B": {"open": "other", "shut": "y"}}
    run = made(tmp_path, answers, items=items)
    assert 1 == make(run, tmp_path / "out").n_questions
    chosen = {("exam", name, "") for name in ("open", "shut")}
    assert 2 == make(run, tmp_path / "both", items=chosen, seed=2).n_questions


# The draw.


def cased(folder: Path, sizes: Sequence[int], **more: Any) -> Run:
    """A run of cases of so many questions each."""
    items = [
        {"item": f"c{case:02}-{k}", "group": f"c{case:02}"} for case, n in enumerate(sizes) for k in range(n)
    ]
    answers = {who: {i["item"]: f"{who[0]} of {i['item']}" for i in items} for who in ("Able", "Best")}
    return made(folder, answers, items=items, **more)


def test_a_case_is_drawn_whole_and_its_chance_is_kept(tmp_path: Path) -> None:
    """22 questions in 10 cases: 9 of them are round(9 * 10 / 22) = 4 cases."""
    run = cased(tmp_path, [1, 2, 3, 4, 2, 2, 2, 2, 2, 2])
    done = make(run, tmp_path / "out", n=9)
    assert (4, 10) == (done.n_cases, done.n_cases_possible)
    shown = {row["item"] for row in lines(tmp_path / "out" / "anna.csv")}
    for item in shown:
        case = item.split("-")[0]
        assert {i for i in run.items["item"] if i.startswith(case)} <= shown
    draw = draw_of(run)
    assert ("rating(rubric=correctness)", "panel") == (draw.metric, draw.source)
    assert {0.4} == set(draw.probabilities.values())
    assert (22, shown) == (len(draw.probabilities), {item for _, item, _ in draw.items})


def test_the_same_question_under_two_ids_is_one_case(tmp_path: Path) -> None:
    items = [{"item": f"q{k}", "question": f"What of {k // 2}?"} for k in range(8)]
    answers = {who: {i["item"]: f"{who} of {i['item']}" for i in items} for who in ("Able", "Best")}
    done = make(made(tmp_path, answers, items=items), tmp_path / "out", n=2)
    assert (1, 4, 2) == (done.n_cases, done.n_cases_possible, done.n_questions)


def test_one_question_asked_for_is_one_case_at_least(tmp_path: Path) -> None:
    done = make(cased(tmp_path, [9, 9, 9]), tmp_path / "out", n=1)
    assert (1, 9, 18) == (done.n_cases, done.n_questions, done.n_left)


def test_every_case_has_the_same_chance(tmp_path: Path) -> None:
    """3 of 10 cases of one to ten questions in each draw: each in 30 %, within four standard errors."""
    n_draws = length(40, 200)
    run = cased(tmp_path, range(1, 11))
    times: Counter[str] = Counter()
    task = RateTask.with_rubric("correctness")
    for seed in range(n_draws):
        choice = choose(run.file, task, None, (), 17, seed)
        times.update({q.item.split("-")[0] for q in choice.questions})
    assert 3 * n_draws == times.total()
    assert all(abs(n - 0.3 * n_draws) < 4 * (n_draws * 0.3 * 0.7) ** 0.5 for n in times.values())
    assert 10 == len(times)


def test_a_larger_draw_of_the_same_seed_holds_the_smaller(tmp_path: Path) -> None:
    run = cased(tmp_path, [1] * 20)
    make(run, tmp_path / "one", n=5)
    few = draw_of(run)
    make(run, tmp_path / "other", n=10)
    more = draw_of(run)
    assert (few.items < more.items, 10) == (True, len(more.items))
    assert ({0.25}, {0.5}) == (set(few.probabilities.values()), set(more.probabilities.values()))
    make(run, tmp_path / "third", n=5, raters=["carla"])
    assert more == draw_of(run)


def test_draws_of_two_seeds_are_independent(tmp_path: Path) -> None:
    run = cased(tmp_path, [1] * 20)
    make(run, tmp_path / "one", n=5)
    make(run, tmp_path / "other", n=10, seed=2)
    assert {0.25 + 0.5 - 0.125} == set(draw_of(run).probabilities.values())
    make(run, tmp_path / "third", n=10)  # the first draw, made larger: 1 - 0.5 * 0.5
    assert {0.75} == set(draw_of(run).probabilities.values())


def test_a_chance_that_would_not_be_known_is_refused(tmp_path: Path) -> None:
    run = cased(tmp_path, [1] * 20)
    make(run, tmp_path / "one", n=5, candidates=["Able"])
    some = {("exam", f"c{k:02}-0", "") for k in range(10)}
    with pytest.raises(InputError, match=r"--seed 1 has drawn questions for .*: another --seed keeps"):
        make(run, tmp_path / "other", n=5, items=some, candidates=["Able"])
    with pytest.raises(InputError, match="labels drawn for Able: other --candidates get the same questions"):
        make(run, tmp_path / "other", n=5, seed=2)
    assert {0.25} == set(draw_of(run).probabilities.values())
    assert not (tmp_path / "other").exists()
    make(run, tmp_path / "other", n=5)  # the same questions, for both


def test_ranks_draw_no_labels(tmp_path: Path) -> None:
    run = examined(tmp_path)
    done = write_packets(run.file, ["anna"], tmp_path / "out")
    with run.file.reading() as db:
        assert {} == read_label_draws(db)
    assert ("rank", None, None) == (done.task, done.metric, done.n_cases)


def test_a_panel_of_ranks_and_one_of_ratings_share_a_run(tmp_path: Path) -> None:
    run = drawn(examined(tmp_path, 2))
    write_packets(run.file, ["anna"], tmp_path / "ranks")
    rated(run, tmp_path / "out")
    with run.file.reading() as db:
        assert ["rank", "rate"] == [key.task.name for key in read_keys(db).values()]
    assert "panel" not in run.study()
