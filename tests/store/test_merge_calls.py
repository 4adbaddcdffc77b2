"""Merging runs that were collected: their bills come along once, their samples must be one."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.store.test_merge import refused, there
from tests.studies.making import exam, made

from vivavoce.run.run import Run, open_run
from vivavoce.store.integrity import rehash
from vivavoce.store.table_hashes import renew_table_hashes


def collected(folder: Path, model: str, *items: str) -> Run:
    folder.mkdir()
    run = open_run(folder / "run.viva")
    run.collect(exam(folder, items or ("q1", "q2")), models=[model])
    return run


def calls(run: Run) -> list[tuple[Any, ...]]:
    """Every call with the answer it belongs to, without keys of rows."""
    with run.file.reading() as db:
        return sorted(
            db.execute(
                "SELECT c.made_at, c.key, c.model, c.endpoint, c.repeat, c.status, c.cost, c.reply, item, "
                "candidate, text FROM calls c LEFT JOIN responses USING (response_id) LEFT JOIN items "
                "USING (item_id) LEFT JOIN candidates USING (candidate_id)"
            ),
            key=str,
        )


def weigh(run: Run, **weights: float) -> Run:
    with run.file.writing() as db:
        for item, weight in weights.items():
            db.execute("UPDATE items SET weight = ? WHERE item = ?", (weight, item))
        renew_table_hashes(db)
    return run


def test_calls_come_along_with_their_answers(tmp_path: Path) -> None:
    one, two = collected(tmp_path / "a", "baseline/echo"), collected(tmp_path / "b", "baseline/random")
    expected = sorted([*calls(one), *calls(two)], key=str)
    (done,) = one.merge(two.file.path)
    assert 2 == done.calls
    assert expected == calls(one)


def test_merging_again_brings_no_call(tmp_path: Path) -> None:
    one, two = collected(tmp_path / "a", "baseline/echo"), collected(tmp_path / "b", "baseline/random")
    one.merge(two.file.path)
    before = calls(one)
    (done,) = one.merge(two.file.path)
    assert (0, before) == (done.calls, calls(one))


def test_a_bill_is_the_sum_of_both(tmp_path: Path) -> None:
    one, two = collected(tmp_path / "a", "baseline/echo"), collected(tmp_path / "b", "baseline/random", "q3")
    one.merge(two.file.path)
    assert 3 == sum(row["calls"] for row in one.status().rows if row["about"] == "calls")


def test_what_was_asked_there_is_not_asked_again_here(tmp_path: Path) -> None:
    one, two = collected(tmp_path / "a", "baseline/echo"), collected(tmp_path / "b", "baseline/random")
    one.merge(two.file.path)
    again = one.collect(exam(tmp_path / "a", ["q1", "q2"]), models=["baseline/random"])
    assert 0 == again.rows[0]["answered"]


def test_a_call_whose_answer_gave_way_stays_on_the_bill(tmp_path: Path) -> None:
    """Theirs failed where ours is there: the call was paid, and belongs to no answer of ours."""
    one, two = collected(tmp_path / "a", "baseline/echo"), collected(tmp_path / "b", "baseline/echo")
    with two.file.writing() as db:
        db.execute("UPDATE responses SET status = 'failed', text = NULL, error = 'reset'")
        rehash(db)
        db.execute("UPDATE calls SET status = 'failed', made_at = '2020-01-01T00:00:00.000Z'")
    one.merge(two.file.path)
    assert [(None, None)] * 2 == [c[8:10] for c in calls(one) if c[0].startswith("2020")]
    assert ["ok"] * 2 == one.responses["status"].to_list()


def test_what_else_came_with_an_answer_comes_along(tmp_path: Path) -> None:
    one, two = (made(tmp_path / n, {n: {"q1": 1}}, items=["q1"]) for n in ("A", "B"))
    with two.file.writing() as db:
        db.execute("UPDATE responses SET meta = ?", (json.dumps({"citations": ["PMID 1"]}),))
    one.merge(two.file.path)
    found = dict(one.responses.select("candidate", "meta").iter_rows())
    assert {"A": "{}", "B": '{"citations": ["PMID 1"]}'} == found


def test_weights_come_along(tmp_path: Path) -> None:
    one = made(tmp_path / "a", {"A": {"q1": 1}}, items=["q1"])
    two = made(tmp_path / "b", {"B": {"q1": 1, "q2": 0}}, items=["q1", "q2"])
    weigh(one, q1=4.0)
    weigh(two, q1=4.0, q2=4.0)
    one.merge(two.file.path)
    assert [4.0, 4.0] == one.items["weight"].to_list()


def test_another_sample_of_the_exam_is_refused(tmp_path: Path) -> None:
    one, two = (there(tmp_path / n, {n: {"q1": 1}}) for n in ("A", "B"))
    weigh(one, q1=5.0)
    weigh(two, q1=10.0)
    assert "'q1' of exam stands for 10 questions of the exam there and for 5 here" in refused(one, two)


def test_a_sample_is_no_part_of_the_whole(tmp_path: Path) -> None:
    """q1 was asked as itself here; there q2 stands for both of its category."""
    one = made(tmp_path / "a", {"A": {"q1": 1}}, items=["q1"])
    two = weigh(made(tmp_path / "b", {"B": {"q2": 1}}, items=["q2"]), q2=2.0)
    assert "an item of exam stands for 2 questions of the exam there and for 1 here" in refused(one, two)


def test_categories_may_be_sampled_otherwise(tmp_path: Path) -> None:
    items = [{"item": "q1", "category": "x"}, {"item": "q2", "category": "y"}]
    one, two = (made(tmp_path / n, {n: {"q1": 1, "q2": 1}}, items=items) for n in ("A", "B"))
    for run in (one, two):
        weigh(run, q1=3.0, q2=8.0)
    one.merge(two.file.path)
    assert {"A", "B"} == set(one.responses["candidate"])


@pytest.mark.parametrize("model", ["baseline/echo"])
def test_the_command_says_how_many_calls(tmp_path: Path, viva: Any, model: str) -> None:
    one, two = made(tmp_path / "a", {"A": {"q1": 1}}), collected(tmp_path / "b", model, "q1")
    assert "and 1 calls are new" in viva("merge", one.file.path, two.file.path).stdout
