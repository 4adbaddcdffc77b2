"""A run in Python: tables, selections, and what each verb leaves behind."""

import json
from pathlib import Path

import pytest
from tests.studies.making import TOLD, borrowed, exam, made, marked, row, score, twins

from vivavoce.core.errors import InputError, SelectionError, StoreError
from vivavoce.core.tables import ITEMS, RESPONSES, SCORES
from vivavoce.run.run import Run, open_run
from vivavoce.store import read


def test_opening_a_run_makes_no_file(tmp_path: Path) -> None:
    run = open_run(tmp_path / "none.viva")
    assert not run.file.exists
    assert f"Run('{tmp_path / 'none.viva'}')" == repr(run).splitlines()[0]
    assert not run.file.exists


def test_a_run_is_made_of_the_text_of_its_path_too(tmp_path: Path) -> None:
    path = marked(tmp_path, {"A": {"q1": 0.5}}).file.path
    assert (path, 1) == (Run(str(path)).file.path, Run(str(path)).scores.height)


def test_the_tables_have_the_columns_of_the_records(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, "fail"])})
    assert list(ITEMS) == run.items.columns
    assert list(RESPONSES) == run.responses.columns
    assert list(SCORES) == run.scores.columns
    assert [("told", "told(", "worth")] == [
        (m.metric, m.signature[:5], m.criterion.criterion) for m in run.measures
    ]


def test_a_failed_mark_has_no_value_in_the_table(tmp_path: Path) -> None:
    scores = marked(tmp_path, {"A": twins([1, "fail"])}).scores
    assert [("ok", 1.0), ("failed", None)] == scores.select("status", "value").rows()


def test_a_part_of_a_metrics_name_will_do_if_it_is_the_only_one(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])}, "told(high=5)")
    assert ["told(high=5.0)"] == [m.metric for m in run.measures]
    for name in ("told", "told(high=5.0)", "told(direction=higher)"):
        assert 0.5 == row(run.estimates(name), candidate="A")["estimate"]


def test_a_whole_name_selects_exactly(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    score(run, "told(silence=set_aside)")
    assert {"told"} == {r["metric"] for r in run.estimates("told").rows}


def test_estimates_of_all_metrics_stand_beside_each_other(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    score(run, "told(silence=set_aside)")
    assert ["told", "told(silence=set_aside)"] == [r["metric"] for r in run.estimates().rows]


def test_score_returns_the_metrics_asked_for_alone(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    assert ["told(silence=set_aside)"] == [r["metric"] for r in score(run, "told(silence=set_aside)").rows]


def test_a_candidate_may_be_named_in_another_case(tmp_path: Path) -> None:
    run = marked(tmp_path, {"Model A": twins([1] * 12), "Model B": twins([0] * 12)})
    found = run.compare("model a", "MODEL B", metric="told").rows[0]
    assert ("Model A", "Model B") == (found["a"], found["b"])


def test_a_candidate_named_twice_is_not_compared_with_itself(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 12), "B": twins([0] * 12)})
    for names in (("A",), ("A", "A"), ("A", "B", "a")):
        with pytest.raises(SelectionError, match=r"takes two or more different candidates. Known: A, B\."):
            run.compare(*names, metric="told")


def test_a_comparison_is_kept_with_its_settings(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 12), "B": twins([0] * 12)})
    found = run.compare("A", "B", metric="told", margin=0.5)
    with run.file.reading() as db:
        kept = read.findings(db, "compare")
    derived = ("digest", "family", "test", "order")
    assert [
        {
            "candidates": ["A", "B"],
            "metric": "told",
            "margin": 0.5,
            "items": None,
            "against": None,
            "population": "sample",
            "labels": None,
            "labels_at_random": False,
        }
    ] == [{k: v for k, v in f["settings"].items() if k not in derived} for f in kept]
    assert ["A", "B"] == kept[0]["settings"]["order"]
    assert json.loads(json.dumps(found.rows, allow_nan=False)) == kept[0]["rows"]


def test_a_comparison_that_was_refused_is_no_look(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 12), "B": twins([0] * 12)})
    for bad in ({"margin": -1.0}, {"margin": float("nan")}, {"metric": "tolt"}):
        with pytest.raises(SelectionError):
            run.compare("A", "B", **{"metric": "told", **bad})  # type: ignore[arg-type]
    assert 1 == run.compare("A", "B", metric="told").rows[0]["looks"]


def test_estimates_and_status_are_no_looks(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 12), "B": twins([0] * 12)})
    run.estimates("told")
    run.status()
    assert 1 == run.compare("A", "B", metric="told").rows[0]["looks"]


def test_a_copy_holds_the_same(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    copy = open_run(run.copy(tmp_path / "copy.viva"))
    assert run.estimates().rows == copy.estimates().rows
    with pytest.raises(StoreError, match="is there already: a copy never overwrites"):
        run.copy(tmp_path / "copy.viva")


def test_a_changed_item_takes_its_old_answers_out_of_every_figure(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1, "q2": 0}})
    changed = exam(tmp_path, [{"item": "q1", "question": "Another question?"}, "q2"])
    run.import_answers(tmp_path / "answers-exam.jsonl", benchmark=changed, new_version=True)
    assert ["q2"] == run.scores["item"].to_list()
    assert 0.5 == row(run.estimates("told"), candidate="A")["coverage"]
    assert 2 == row(score(run), candidate="A")["n_items"]


def test_plugins_named_on_opening_can_be_used(tmp_path: Path) -> None:
    made(tmp_path, {"A": twins([1, 0])})
    with borrowed():
        run = open_run(tmp_path / "run.viva", plugins=[TOLD])
        assert 0.5 == run.score("told").rows[0]["estimate"]


def test_what_verbs_return_prints_as_sentences(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5] * 12), "B": twins([0.4] * 12)})
    for found in (run.estimates(), run.status()):
        assert len(found.rows) == len(str(found).splitlines())
        assert all(name in str(found) for name in "AB")


def test_a_finding_that_cannot_be_kept_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked or full disk is no read-only one: the note gives the reason that the store gives."""
    run = marked(tmp_path, {"A": twins([0.5] * 12), "B": twins([0.4] * 12)})

    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("vivavoce.run.tables.load.put_finding", full)
    (found,) = run.study("ranking").values()
    assert "This result could not be recorded: the disk is full" in found.notes


def test_lists_are_given_one_by_one(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5] * 12), "B": twins([0.4] * 12)})
    with pytest.raises(SelectionError, match="metrics are given one by one, as texts, not as list"):
        run.score(["exact"])  # type: ignore[arg-type]
    with pytest.raises(SelectionError, match="candidates are given one by one"):
        run.compare(["A", "B"], metric="told")  # type: ignore[arg-type]
    with pytest.raises(SelectionError, match="studies are given one by one"):
        run.study(5)  # type: ignore[arg-type]


def test_one_measure_has_nothing_to_correlate_with(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5] * 12), "B": twins([0.4] * 12)})
    assert "There is one measure only: nothing to correlate." == str(run.study("correlation")["correlation"])


def test_a_study_that_has_nothing_to_say_says_why(tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva")
    run.collect("sample", models=["baseline/random", "baseline/reference"])
    run.score("accuracy")
    assert (
        "No row: no candidate has scores beside floors and ceilings (baseline/random, baseline/reference)."
        == str(run.study("ranking")["ranking"])
    )
    with_candidate = marked(tmp_path, {"A": twins([0.5] * 12)})
    assert "No row" not in str(with_candidate.study("ranking")["ranking"])


def test_an_empty_reference_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text(
        '{"id": "q", "format": "short", "question": "Which?", "references": [""]}\n'
    )
    (tmp_path / "a.jsonl").write_text('{"item": "q", "candidate": "A", "text": "x"}\n')
    with pytest.raises(InputError, match="item 'q' has an empty reference: no answer could be right"):
        open_run(tmp_path / "r.viva").import_answers(
            tmp_path / "a.jsonl", benchmark=f"jsonl(path='{tmp_path / 'e.jsonl'}')"
        )
