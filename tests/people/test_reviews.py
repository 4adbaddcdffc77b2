"""Reviews of items made elsewhere: each row is checked, all are stored or none, and again changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import exam, write_lines

from vivavoce.core.errors import InputError
from vivavoce.people.storing.store_reviews import put_adjudication, read_adjudicated
from vivavoce.run.run import Run
from vivavoce.store import read

HEADER = "item,category,rater,correct,relevance"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    answers = write_lines(tmp_path / "a.jsonl", [{"item": "i1", "candidate": "A", "text": "x"}])
    made = Run(tmp_path / "r.viva")
    made.import_answers(answers, benchmark=exam(tmp_path, ["i1", "i2", "i3"]))
    return made


def table(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "reviews.csv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def scores(run: Run) -> list[tuple[Any, ...]]:
    with run.file.reading() as db:
        rows = read.scores(db, details=True)
    return sorted(rows.select("candidate", "item", "rater", "criterion", "value", "note").iter_rows())


def contents(run: Run) -> str:
    with run.file.reading() as db:
        return "\n".join(db.iterdump())


def test_a_review_is_two_scores_of_the_reference_answer(run: Run, tmp_path: Path) -> None:
    stored = run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4", "i2,TF,ben,NO,"))
    assert (2, 2, 2, 0) == (stored.items, stored.raters, stored.new, stored.unchanged)
    assert scores(run) == [
        ("reference", "i1", "anna", "correct", 1.0, "MC"),
        ("reference", "i1", "anna", "relevance", 4.0, "MC"),
        ("reference", "i2", "ben", "correct", 0.0, "TF"),
    ]
    with run.file.reading() as db:
        assert {"reference": "ceiling"}.items() <= {c.candidate: c.role for c in read.candidates(db)}.items()


def test_the_same_file_again_changes_nothing(run: Run, tmp_path: Path) -> None:
    file = table(tmp_path, "i1,MC,anna,yes,4,no: it is 5", header=HEADER + ",dispute")
    run.import_ballots(file)
    before = contents(run)
    again = run.import_ballots(file)
    assert (0, 1, 0) == (again.new, again.unchanged, again.events)
    assert before == contents(run)


def test_jsonl_and_csv_give_the_same_scores(run: Run, tmp_path: Path) -> None:
    row = {"item": "i1", "category": "MC", "rater": "anna", "correct": True, "relevance": 4}
    run.import_ballots(write_lines(tmp_path / "r.jsonl", [row]))
    assert 0 == run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4")).new


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["i9,MC,anna,yes,4"], "no item 'i9'"),
        (["i2,MC,,yes,4"], "the rater is empty"),
        (["i2,MC,anna,perhaps,4"], "correct is yes, no or empty, not 'perhaps'"),
        (["i2,MC,anna,yes,6"], "relevance is a whole number from 1 to 5 or empty, not '6'"),
        (["i2,MC,anna,yes,4.5"], "not '4.5'"),
        (["i2,MC,anna,,"], "both empty"),
        ([f"i2,{'x' * 201},anna,yes,4"], "the category has 201 characters"),
    ],
)
def test_a_bad_row_is_a_sentence_with_its_line_and_nothing_is_stored(
    run: Run, tmp_path: Path, rows: list[str], says: str
) -> None:
    before = contents(run)
    with pytest.raises(InputError, match=r"reviews\.csv, line 3: ") as error:
        run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4", *rows))
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert before == contents(run)


def test_two_reviews_of_an_item_by_one_rater_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 3: anna reviewed 'i1' before, at .*line 2"):
        run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4", "i1,MC,anna,no,4"))


def test_a_review_that_says_otherwise_is_refused(run: Run, tmp_path: Path) -> None:
    run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4"))
    for changed in ("i1,MC,anna,no,4", "i1,TF,anna,yes,4", "i1,MC,anna,,4"):
        with pytest.raises(InputError, match="anna said otherwise of 'i1' before"):
            run.import_ballots(table(tmp_path, "i2,MC,anna,yes,4", changed))
    assert {"i1"} == {item for _, item, *_ in scores(run)}


def test_a_table_without_a_column_of_reviews_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'relevance'"):
        run.import_ballots(table(tmp_path, "i1,MC,anna,yes", header="item,category,rater,correct"))


def test_an_item_of_two_benchmarks_is_ambiguous(run: Run, tmp_path: Path) -> None:
    answers = write_lines(tmp_path / "b.jsonl", [{"item": "i1", "candidate": "A", "text": "x"}])
    run.import_answers(answers, benchmark=exam(tmp_path, ["i1"], name="other"))
    with pytest.raises(InputError, match="line 2: 'i1' is an item of exam and of other"):
        run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4"))


def test_words_are_events_and_at_most_ten_thousand_characters(run: Run, tmp_path: Path) -> None:
    header = HEADER + ",comment,proposed_edit"
    file = table(tmp_path, f'i1,MC,anna,yes,4,"{"y" * 10_000}","Say ""5, not 4""."', header=header)
    assert 2 == run.import_ballots(file).events
    with run.file.reading() as db:
        (edit,) = read.events(db, "review proposed edit")
    assert ("i1", "anna", 'Say "5, not 4".') == (edit["item"], edit["rater"], edit["text"])
    with pytest.raises(InputError, match=r"the comment has 10,001 characters; 10,000 is the most"):
        run.import_ballots(table(tmp_path, f"i2,MC,anna,yes,4,{'y' * 10_001},", header=header))


def test_an_adjudication_closes_the_disputes_before_it_and_none_after(run: Run, tmp_path: Path) -> None:
    header, place = HEADER + ",dispute", ("exam", "i1", "")
    run.import_ballots(table(tmp_path, "i1,MC,anna,no,4,It is 5.", header=header))
    with run.file.writing() as db:
        assert {place: {"review"}} == read_adjudicated(db).disputed
        put_adjudication(db, place, rater="carla", correct=False)
        assert ((), {place: 0.0}) == tuple(read_adjudicated(db))
    run.import_ballots(table(tmp_path, "i1,MC,ben,no,4,It is 6.", header=header))
    with run.file.reading() as db:
        assert {place: {"review"}} == read_adjudicated(db).disputed


def test_a_candidate_that_is_called_reference_already_is_not_reviewed(run: Run, tmp_path: Path) -> None:
    answers = write_lines(tmp_path / "c.jsonl", [{"item": "i1", "candidate": "reference", "text": "x"}])
    run.import_answers(answers)
    with pytest.raises(InputError, match="a candidate of this run is called 'reference'"):
        run.import_ballots(table(tmp_path, "i1,MC,anna,yes,4"))


def test_the_verb_says_what_it_stored(run: Run, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from vivavoce.cli import app

    words = ["import", str(run.file.path), str(table(tmp_path, "i1,MC,anna,yes,4")), "--ballots"]
    shown = CliRunner().invoke(app, [*words, "--task", "review"])
    assert "1 review stored of 1 item by 1 rater, 0 there already" in shown.stdout
    (row,) = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["rows"]
    assert (0, 1) == (row["new"], row["unchanged"])
    error = CliRunner().invoke(app, [*words, "--criteria", "harm"]).exception
    assert "--criteria" in str(error)
