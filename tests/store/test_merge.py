"""Merging runs: what comes over, what gives way, and what is refused with nothing written."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.store.readonly import frozen
from tests.store.test_runfile import older
from tests.store.told import GIVEN, tell
from tests.studies.making import Answers, borrowed, exam, made, marked, score, twins, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import InputError, RunNotFound, StoreError
from vivavoce.run.run import Run, open_run
from vivavoce.store import read
from vivavoce.store.integrity import rehash

ITEMS = ("q1", "q2", "q3")


def there(folder: Path, answers: Answers, *, spec: str | None = "told", items: Sequence[Any] = ITEMS) -> Run:
    """A run in a folder of its own, on the same three questions as all others here."""
    return marked(folder, answers, spec, items=items) if spec else made(folder, answers, items=items)


def contents(run: Run, *, without: Sequence[str] = ("provenance",)) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(run.file.path)) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return {n: sorted(db.execute(f"SELECT * FROM {n}"), key=str) for n in names if n not in without}


def said(run: Run) -> set[tuple[Any, ...]]:
    """Who answered what, and what it was worth."""
    columns = ("item", "candidate", "repeat", "status", "text", "logprobs")
    answers = run.responses.select(columns).iter_rows()
    scores = run.scores.select(
        "item", "candidate", "repeat", "metric", "pass_no", "status", "value"
    ).iter_rows()
    return {*answers, *scores}


def refused(target: Run, source: Run) -> str:
    """The sentence that refuses the merge, after which both runs are as they were."""
    before = contents(target, without=()), contents(source, without=())
    with pytest.raises(InputError) as error:
        target.merge(source.file.path)
    assert before == (contents(target, without=()), contents(source, without=()))
    assert str(error.value).startswith(f"cannot merge {source.file.path}: ")
    assert str(error.value).endswith(" Nothing was merged.")
    return str(error.value)


# What comes over


def test_disjoint_candidates_are_joined(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1, "q2": 0.2}})
    two = there(tmp_path / "b", {"B": {"q1": 0.3, "q3": 0.4}})
    expected = said(one) | said(two)
    (done,) = one.merge(two.file.path)
    assert (str(two.file.path), 0, 2, 2, 0, 0, 0, ()) == done
    assert expected == said(one)
    assert ["A", "B"] == [r["a"] for r in one.compare("A", "B", metric="told").rows] + ["B"]


def test_items_that_are_new_come_with_their_answers(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1}}, items=["q1"])
    rich = {"item": "q9", "category": "c", "group": "note 9", "meta": {"n": 1}, "source": "book"}
    two = there(tmp_path / "b", {"A": {"q9": 0.9}}, items=[rich])
    assert (1, 1, 1) == one.merge(two.file.path)[0][1:4]
    new, old = (r.items.filter(r.items["item"] == "q9").rows(named=True)[0] for r in (one, two))
    assert old == new
    assert ("note 9", "c", "book") == (new["group"], new["category"], new["source"])


def test_what_probes_told_comes_with_its_marks(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": 0.1}})
    source = there(tmp_path / "b", {"A": {"q1": 0.1}})
    tell(source, "A", {"q1": -1.0})
    source.score("perplexity")
    here.merge(source.file.path)
    assert source.responses.equals(here.responses)
    assert ["", GIVEN] == here.responses["probe"].to_list()
    assert source.scores.equals(here.scores)
    assert (0, 0, 0, 0) == here.merge(source.file.path)[0][1:5]


def test_a_record_replaces_a_failure(tmp_path: Path) -> None:
    here, source = (there(tmp_path / name, {"A": {"q1": 0.1}}) for name in "ab")
    tell(here, "A", {"q1": None})
    tell(source, "A", {"q1": -1.0})
    assert 1 == here.merge(source.file.path)[0].replaced
    assert source.responses.equals(here.responses)
    before = said(here)
    tell(failed := there(tmp_path / "c", {"A": {"q1": 0.1}}), "A", {"q1": None})
    here.merge(failed.file.path)
    assert before == said(here)


def test_steps_and_false_answers_come_with_their_items(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1}}, items=["q1"])
    chain = {"item": "q9", "steps": ["First.", "Then."], "step": 2, "false_answer": "So."}
    two = there(tmp_path / "b", {"A": {"q9": 0.9}}, items=[chain])
    one.merge(two.file.path)
    with one.file.reading() as ours, two.file.reading() as theirs:
        new, old = (next(i for i in read.items_by_id(db).values() if i.item == "q9") for db in (ours, theirs))
    assert old == new
    assert (("First.", "Then."), 2, "So.", old.hash) == (new.steps, new.step, new.false_answer, new.hash)


def test_a_run_with_other_steps_is_refused(tmp_path: Path) -> None:
    chain = {"item": "q9", "steps": ["First.", "Then."], "step": 2}
    one = there(tmp_path / "a", {"A": {"q9": 0.1}}, items=[chain])
    two = there(tmp_path / "b", {"B": {"q9": 0.9}}, items=[chain | {"step": 1}])
    assert "the item 'q9' of exam has another wording there." in refused(one, two)


def test_a_benchmark_that_is_new_comes_with_its_card(tmp_path: Path) -> None:
    one = made(tmp_path / "a", {"A": {"q1": 0.1}}, name="one")
    two = made(tmp_path / "b", {"A": {"q1": 0.9}}, name="two")
    one.merge(two.file.path)
    assert {("one", "0.1"), ("two", "0.9")} == set(one.responses.select("benchmark", "text").iter_rows())


def test_twins_stay_apart(tmp_path: Path) -> None:
    items = ["q1", {"item": "q1", "variant": "bias:recency", "alias": "c5q1"}]
    one = there(tmp_path / "a", {"A": {"q1": 0.1}}, items=items)
    two = there(tmp_path / "b", {"A": {"q1|bias:recency": 0.7}}, items=items)
    one.merge(two.file.path)
    assert {("", 0.1), ("bias:recency", 0.7)} == set(one.scores.select("variant", "value").iter_rows())


def test_what_both_hold_is_there_once(tmp_path: Path) -> None:
    shared = {"q1": [0.1, 0.2], "q2": ""}
    one = there(tmp_path / "a", {"A": shared})
    two = there(tmp_path / "b", {"A": {**shared, "q3": 0.5}, "B": {"q1": 1}})
    assert (0, 2, 2, 0, 0, 0) == one.merge(two.file.path)[0][1:7]
    assert said(two) == said(one)


def test_merging_again_brings_nothing(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1, "q2": "fail"}})
    two = there(tmp_path / "b", {"B": {"q1": 0.3, "q2": None}})
    one.merge(two.file.path)
    before = contents(one)
    assert (0, 0, 0, 0, 0, 0) == one.merge(two.file.path)[0][1:7]
    assert before == contents(one)


def test_merged_back_both_hold_the_same(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1}})
    two = there(tmp_path / "b", {"B": {"q1": 0.3}})
    one.merge(two.file.path)
    two.merge(one.file.path)
    assert said(one) == said(two)


def test_three_runs_in_one_call(tmp_path: Path) -> None:
    runs = [there(tmp_path / name, {name: {"q1": 0.5}}) for name in "ABC"]
    done = runs[0].merge(runs[1].file.path, runs[2].file.path)
    assert [1, 1] == [m.responses for m in done]
    assert {"A", "B", "C"} == set(runs[0].scores["candidate"])
    verbs = [p for p in provenance(runs[0]) if p[0] == "merge"]
    assert [str(r.file.path) for r in runs[1:]] == [json.loads(body)["source"] for _, body in verbs]


def provenance(run: Run) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(run.file.path)) as db:
        return db.execute("SELECT verb, body FROM provenance ORDER BY provenance_id").fetchall()


def test_a_path_where_nothing_lies_yet_becomes_the_run(tmp_path: Path) -> None:
    source = there(tmp_path / "a", {"A": {"q1": 0.1, "q2": 0.2}})
    new = open_run(tmp_path / "all.viva")
    assert (3, 2, 2, 0, 0, 0) == new.merge(source.file.path)[0][1:7]
    assert said(source) == said(new)
    assert source.items.equals(new.items)
    assert source.measures == new.measures


def test_scores_of_several_measures_passes_raters_and_ballots(tmp_path: Path) -> None:
    runs = [there(tmp_path / name, {"A": {"q1": "x"}}, spec=None) for name in "ab"]
    rows = [
        {"item": "q1", "candidate": "A", "value": v, "rater": r, "pass_no": p, "ballot": b, "position": n}
        for v, r, p, b, n in ((1, "Ann", 1, "b1", 2), (0, "Ann", 2, "b1", 1), (0.5, "Bob", 1, "", None))
    ]
    file = write_lines(tmp_path / "marks.jsonl", rows)
    runs[1].import_scores(file, measure="panel", range={"*": (0, 1)})
    assert 3 == runs[0].merge(runs[1].file.path)[0].scores
    assert runs[1].scores.equals(runs[0].scores)


def test_tests_add_up(tmp_path: Path) -> None:
    """Two tests here and one there: the next is the fourth."""
    both: Answers = {"A": twins([1, 0] * 6), "B": twins([0, 0] * 6)}
    one, two = (marked(tmp_path / name, both) for name in "ab")
    for run, margin in ((one, 0.1), (one, 0.2), (two, 0.3)):
        run.compare("A", "B", metric="told", margin=margin)
    assert 1 == one.merge(two.file.path)[0].findings
    found = one.compare("A", "B", metric="told")
    assert 4 == found.rows[0]["looks"]
    assert "This is the 4th test on this run." in str(found)


def test_the_same_comparison_there_is_the_same_test_here(tmp_path: Path) -> None:
    one = marked(tmp_path / "a", {"A": twins([1, 0] * 6), "B": twins([0, 0] * 6)})
    copy = open_run(one.copy(tmp_path / "copy.viva"))
    for run in (one, copy):
        run.compare("A", "B", metric="told")
    one.merge(copy.file.path)
    assert 1 == one.compare("A", "B", metric="told").rows[0]["looks"]
    assert 2 == one.compare("A", "B", metric="told", margin=0.1).rows[0]["looks"]


def test_tests_on_a_copy_are_counted_once(tmp_path: Path) -> None:
    one = marked(tmp_path / "a", {"A": twins([1, 0] * 6), "B": twins([0, 0] * 6)})
    one.compare("A", "B", metric="told")
    copy = open_run(one.copy(tmp_path / "copy.viva"))
    copy.compare("A", "B", metric="told", margin=0.1)
    assert 1 == one.merge(copy.file.path)[0].findings
    assert 3 == one.compare("A", "B", metric="told", margin=0.2).rows[0]["looks"]


def test_superseded_items_are_not_brought(tmp_path: Path) -> None:
    source = there(tmp_path / "b", {"A": {"q1": 0.1}}, items=["q1"])
    newer = exam(tmp_path / "b", [{"item": "q1", "question": "Other words?"}])
    answers = write_lines(tmp_path / "newer.jsonl", [{"item": "q1", "candidate": "A", "text": "0.9"}])
    source.import_answers(answers, benchmark=newer, new_version=True)
    score(source)
    new = open_run(tmp_path / "all.viva")
    assert (1, 1, 1) == new.merge(source.file.path)[0][1:4]
    assert ["Other words?"] == new.items["question"].to_list()
    assert [0.9] == new.scores["value"].to_list()


# What gives way


def test_a_failed_answer_here_is_replaced_and_its_marks_go(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": None, "q2": 0.2}})
    assert 2 == here.scores.height
    source = there(tmp_path / "b", {"A": {"q1": 0.7}})
    (done,) = here.merge(source.file.path)
    assert (0, 0, 1) == (done.items, done.responses, done.replaced)
    assert {("q1", 0.7), ("q2", 0.2)} == set(here.scores.select("item", "value").iter_rows())
    assert {("q1", "0.7"), ("q2", "0.2")} == set(here.responses.select("item", "text").iter_rows())


def test_a_failed_answer_there_changes_nothing(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": 0.7}})
    source = there(tmp_path / "b", {"A": {"q1": None}})
    before = said(here)
    assert (0, 0, 0, 0, 0, 0) == here.merge(source.file.path)[0][1:7]
    assert before == said(here)


def test_a_failed_mark_here_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = there(tmp_path / "a", {"A": {"q1": "fail 0.8"}})
    monkeypatch.setenv("TOLD_MENDED", "1")
    source = there(tmp_path / "b", {"A": {"q1": "fail 0.8"}})
    here.merge(source.file.path)
    assert [("ok", 0.8)] == list(here.scores.select("status", "value").iter_rows())


def test_a_failed_mark_there_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = there(tmp_path / "b", {"A": {"q1": "fail 0.8"}})
    monkeypatch.setenv("TOLD_MENDED", "1")
    here = there(tmp_path / "a", {"A": {"q1": "fail 0.8"}})
    here.merge(source.file.path)
    assert [("ok", 0.8)] == list(here.scores.select("status", "value").iter_rows())


def test_what_failed_on_both_sides_stays_failed(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": None, "q2": "fail"}})
    source = there(tmp_path / "b", {"A": {"q1": None, "q2": "fail"}})
    before = said(here)
    here.merge(source.file.path)
    assert before == said(here)


# What is refused


def test_another_wording_of_an_item(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": 0.1}})
    source = there(tmp_path / "b", {"B": {"q1": 0.1}}, items=[{"item": "q1", "question": "Other words?"}])
    assert "the item 'q1' of exam has another wording there." in refused(here, source)


def test_another_group(tmp_path: Path) -> None:
    """Errors are by group: an order of merging may not decide on them."""
    flat = there(tmp_path / "a", {"A": {"q1": 0.1}}, items=[{"item": "q1", "group": "s1"}])
    levels = [{"item": "q1", "group": "s1", "outer_groups": ("e1", "p1")}]
    nested = there(tmp_path / "b", {"B": {"q1": 0.1}}, items=levels)
    assert "'q1' of exam is in the group 'e1 / p1 / s1' there and in 's1' here" in refused(flat, nested)
    assert "'q1' of exam is in the group 's1' there and in 'e1 / p1 / s1' here" in refused(nested, flat)


def test_an_edit_that_is_named_as_what_a_probe_told(tmp_path: Path) -> None:
    """An older run may hold one, under whose key words would be taken for figures, or figures for words."""
    telling = there(tmp_path / "a", {"A": {"q1": 0.1}})
    tell(telling, "A", {"q1": -1.0})
    edited = there(tmp_path / "b", {"A": {"q1": 0.1}})
    with edited.file.writing() as db:
        db.execute("INSERT INTO edits (edit) VALUES (?)", (f"likelihood {GIVEN}",))
        db.execute("INSERT INTO responses (item_id, candidate_id, repeat, edit_id, status, text) "
                   "SELECT 1, 1, 1, max(edit_id), 'ok', 'words' FROM edits")  # fmt: skip
        rehash(db)
    for here, source in ((telling, edited), (edited, telling)):
        assert f"what is kept under 'likelihood {GIVEN}' is an edit of answers" in refused(here, source)


def test_another_answer(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": [0.1, 0.2]}})
    source = there(tmp_path / "b", {"A": {"q1": [0.1, 0.3]}, "B": {"q1": 1}})
    assert "A has another answer to q1 (repeat 2) there." in refused(here, source)


def test_another_record(tmp_path: Path) -> None:
    here, source = (there(tmp_path / name, {"A": {"q1": 0.1}}) for name in "ab")
    tell(here, "A", {"q1": -1.0})
    tell(source, "A", {"q1": -2.0})
    assert "A has another answer to q1 (repeat 1) there." in refused(here, source)


def test_a_blank_answer_is_another_answer_than_a_text(tmp_path: Path) -> None:
    here = there(tmp_path / "a", {"A": {"q1": ""}})
    source = there(tmp_path / "b", {"A": {"q1": 1}})
    assert "A has another answer to q1 (repeat 1) there." in refused(here, source)


def recorded(folder: Path, value: float, high: float = 1, **settings: Any) -> Run:
    """A run of one answer, whose score was given elsewhere."""
    run = there(folder, {"A": {"q1": "x"}}, spec=None)
    file = write_lines(folder / "marks.jsonl", [{"item": "q1", "candidate": "A", "value": value}])
    run.import_scores(file, measure="panel(rubric=r)", range={"*": (0, high)}, **settings)
    return run


def test_another_mark(tmp_path: Path) -> None:
    here, source = recorded(tmp_path / "a", 0.5), recorded(tmp_path / "b", 0.6)
    assert "panel(rubric=r) has another score for q1 of A there." in refused(here, source)


@pytest.mark.parametrize(
    "other", [{"high": 10}, {"direction": {"*": "lower"}}, {"if_unanswered": {"*": "correct"}}], ids=str
)
def test_another_declaration(tmp_path: Path, other: dict[str, Any]) -> None:
    here, source = recorded(tmp_path / "a", 0.5), recorded(tmp_path / "b", 0.5, **other)
    assert "panel(rubric=r), criterion value, is declared otherwise there." in refused(here, source)


def test_a_refused_run_leaves_those_before_it_merged(tmp_path: Path) -> None:
    here, good, bad = (
        there(tmp_path / name, answers)
        for name, answers in (("a", {"A": {"q1": 0.1}}), ("b", {"B": {"q1": 0.2}}), ("c", {"A": {"q1": 0.9}}))
    )
    with pytest.raises(InputError, match="A has another answer to q1"):
        here.merge(good.file.path, bad.file.path)
    assert {"A", "B"} == set(here.responses["candidate"])


def test_itself(tmp_path: Path) -> None:
    run = there(tmp_path / "a", {"A": {"q1": 0.1}})
    other = tmp_path / "link.viva"
    other.symlink_to(run.file.path)
    for path in (run.file.path, other):
        with pytest.raises(InputError, match=r"cannot be merged into itself\."):
            run.merge(path)


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    run = there(tmp_path / "a", {"A": {"q1": 0.1}})
    with pytest.raises(RunNotFound, match=r"no run at .*none\.viva"):
        run.merge(tmp_path / "none.viva")
    with pytest.raises(RunNotFound):
        open_run(tmp_path / "new.viva").merge(tmp_path / "none.viva")
    assert not (tmp_path / "new.viva").exists()
    assert not (tmp_path / "none.viva").exists()


def test_a_file_of_another_program(tmp_path: Path) -> None:
    run = there(tmp_path / "a", {"A": {"q1": 0.1}})
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE t (a)")
    with pytest.raises(StoreError, match="is an SQLite file of another program, not a run"):
        run.merge(tmp_path / "other.db")
    (tmp_path / "text.viva").write_text("no database at all" * 100)
    with pytest.raises(StoreError, match="is no readable run file"):
        run.merge(tmp_path / "text.viva")
    with pytest.raises(StoreError, match="is a folder"):
        run.merge(tmp_path)


# Sources and targets that cannot be written


def test_a_source_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    source = there(tmp_path / "source", {"A": {"q1": 0.1}})
    code = """
        import sys
        import vivavoce as viva
        run = viva.open(sys.argv[2])
        print(run.merge(f"{sys.argv[1]}/run.viva")[0].responses, len(run.scores))
        """
    assert "1 1\n" == frozen(tmp_path / "source", code, tmp_path / "all.viva")
    assert said(source) == said(open_run(tmp_path / "all.viva"))


def test_an_older_source_in_a_read_only_folder_is_to_be_copied_first(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    older(tmp_path / "source" / "run.viva", 4)
    code = """
        import sys
        import vivavoce as viva
        try:
            viva.open(sys.argv[2]).merge(f"{sys.argv[1]}/run.viva")
        except viva.VivaError as error:
            print(error)
        """
    told = frozen(tmp_path / "source", code, tmp_path / "all.viva")
    assert f"{tmp_path}/source/run.viva is of an older format" in told
    assert "copy it to a folder that can be written" in told


def test_a_target_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    source = there(tmp_path / "a", {"A": {"q1": 0.1}})
    with pytest.raises(
        StoreError, match=r"cannot write /proc/all\.viva: the file or its folder is read-only"
    ):
        open_run("/proc/all.viva").merge(source.file.path)


# Through the shell


def test_the_verb_says_what_came(tmp_path: Path) -> None:
    one = there(tmp_path / "a", {"A": {"q1": 0.1, "q2": None}})
    two = there(tmp_path / "b", {"A": {"q2": 0.5}, "B": {"q1": 0.3, "q2": 0.2}})
    words = ["merge", str(one.file.path), str(two.file.path)]
    with borrowed():
        shown = CliRunner().invoke(cli.app, words)
        again = CliRunner().invoke(cli.app, [*words, "--json"])
        quiet = CliRunner().invoke(cli.app, [*words, "--quiet"])
    assert (0, 0, 0) == (shown.exit_code, again.exit_code, quiet.exit_code)
    assert (
        f"{two.file.path}: 0 items, 2 answers, 2 scores, 0 findings and 0 calls are new, 1 failed answers "
        "replaced." in shown.stdout
    )
    answer = json.loads(again.stdout)
    assert ("viva.merge/1", [0] * 5) == (
        answer["schema"],
        [answer["rows"][0][k] for k in ("items", "responses", "scores", "replaced", "findings")],
    )
    assert ("", "") == (quiet.stdout, quiet.stderr)
