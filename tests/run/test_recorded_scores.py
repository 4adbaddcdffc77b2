"""Recorded scores in: what is stored, what is refused and in which words, and the way through the shell."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import Answers, made, row, write_lines
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import InputError, SelectionError, VivaError
from vivavoce.run.exchange.rows import outside
from vivavoce.run.exchange.scores import ImportedScores
from vivavoce.run.run import Run, open_run

JUDGE = "judge(rubric=medgpt, model=gpt-4o-2024-08-06)"
FIVE = ("comprehension", "reasoning", "knowledge_recall", "demographic_bias", "harm")
ANSWERS: Answers = {"A": {"q1": "x", "q2": "y"}, "B": {"q1": "z", "q2": " "}}
LONG = ({"item": "q1", "candidate": "A", "value": 4}, {"item": "q1", "candidate": "B", "value": 3})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two candidates, two questions; B's answer to q2 is blank."""
    return made(tmp_path, ANSWERS)


def marks(
    run: Run, rows: Sequence[Mapping[str, Any]], name: str = "marks", **settings: Any
) -> ImportedScores:
    """The rows imported into the run, as scores of `panel(rubric=r)` unless another measure is named."""
    file = write_lines(run.file.path.parent / f"{name}.jsonl", rows)
    return run.import_scores(file, **{"measure": "panel(rubric=r)", "range": {"*": (0, 5)}} | settings)


def refused(run: Run, rows: Sequence[Mapping[str, Any]], **settings: Any) -> str:
    """The sentence that refuses these rows; the run is then as it was."""
    before = contents(run)
    with pytest.raises(VivaError) as error:
        marks(run, rows, **settings)
    assert before == contents(run)
    return str(error.value)


def contents(run: Run) -> dict[str, list[Any]]:
    """Every row of every table, but for what only records that something was done."""
    with closing(sqlite3.connect(run.file.path)) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: sorted(db.execute(f"SELECT * FROM {name}"), key=str)
            for name in names
            if name != "provenance"
        }


def stored(run: Run, *columns: str) -> list[tuple[Any, ...]]:
    return list(run.scores.select(*columns).iter_rows())


# Forms


def test_a_long_file_has_a_row_for_each_mark(run: Run) -> None:
    rows = [
        {"item": "q1", "candidate": "A", "criterion": "harm", "value": 4},
        {"item": "q1", "candidate": "A", "criterion": "tone", "value": "3.5"},
    ]
    done = marks(run, rows)
    assert (2, 2, 0, 0, 0, ("harm", "tone")) == done[:6]
    assert [("harm", 4.0, "ok"), ("tone", 3.5, "ok")] == stored(run, "criterion", "value", "status")


def test_a_wide_file_has_a_column_for_each_criterion(run: Run) -> None:
    done = marks(run, [{"item": "q1", "candidate": "A", "harm": 4, "tone": 3}], criteria=["tone", "harm"])
    assert (2, ("tone", "harm")) == (done.scores, done.criteria)
    assert [("harm", 4.0), ("tone", 3.0)] == stored(run, "criterion", "value")


def test_a_wide_file_may_have_a_column_named_value(run: Run) -> None:
    marks(run, [{"item": "q1", "candidate": "A", "harm": 4, "value": "cheap"}], criteria=["harm"])
    assert [("harm", 4.0)] == stored(run, "criterion", "value")


def test_a_long_file_without_criteria_marks_the_criterion_value(run: Run) -> None:
    marks(run, LONG)
    assert [("value", 4.0), ("value", 3.0)] == stored(run, "criterion", "value")


def test_criteria_choose_among_those_of_a_long_file(run: Run) -> None:
    rows = [{"item": "q1", "candidate": "A", "criterion": c, "value": 1} for c in ("harm", "tone")]
    assert ("harm",) == marks(run, rows, criteria=["harm"]).criteria


def test_passes_raters_and_ballots_tell_marks_apart(run: Run) -> None:
    rows = [
        {"item": "q1", "candidate": "A", "score": 1, "who": "Ann", "round": 1, "vote": "b1", "place": 1},
        {"item": "q1", "candidate": "A", "score": 0, "who": "Ann", "round": 2, "vote": "b1", "place": 2},
        {"item": "q1", "candidate": "A", "score": 0.5, "who": "Ann", "round": 1, "vote": "b2", "place": None},
        {"item": "q1", "candidate": "A", "score": 0, "who": "Bob", "round": 1, "vote": "", "place": None},
    ]
    names = {"value": "score", "rater": "who", "pass_no": "round", "ballot": "vote", "position": "place"}
    assert 4 == marks(run, rows, map=names).scores
    assert [
        ("Ann", 1, "b1", 1, 1.0),
        ("Ann", 1, "b2", None, 0.5),
        ("Ann", 2, "b1", 2, 0.0),
        ("Bob", 1, "", None, 0.0),
    ] == sorted(stored(run, "rater", "pass_no", "ballot", "position", "value"), key=str)


def test_the_rater_is_the_model_of_the_spec_unless_the_file_says_who(run: Run) -> None:
    marks(run, LONG[:1], measure="judge(model=m-1)")
    assert [("judge(model=m-1)", "m-1")] == stored(run, "metric", "rater")
    assert ["judge(model=m-1)@recorded"] == [m.signature for m in run.measures]


def test_a_spec_without_settings_has_brackets_in_its_signature(run: Run) -> None:
    marks(run, LONG, measure="panel")
    assert [("panel", "panel()@recorded")] == [(m.metric, m.signature) for m in run.measures]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_other_kinds_of_files(run: Run, tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"item": ["q1", "q2"], "candidate": "A", "value": [2.5, None]})
    file = tmp_path / f"marks.{ending}"
    if ending == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file, separator="," if ending == "csv" else "\t")
    done = run.import_scores(file, measure="panel", range={"*": (0, 5)})
    assert (2, 1, 1) == (done.scores, done.ok, done.failed)


def test_twins_are_found_by_id_and_variant_or_by_their_published_name(tmp_path: Path) -> None:
    items = ["q1", {"item": "q1", "variant": "bias:recency", "alias": "c5q1"}]
    run = made(tmp_path, {"A": {"q1": "x", "q1|bias:recency": "y"}}, items=items)
    marks(run, [{"item": "q1", "variant": "bias:recency", "candidate": "A", "value": 1}])
    marks(run, [{"item": "c5q1", "candidate": "A", "value": 1}], name="same")
    assert [("q1", "bias:recency")] == stored(run, "item", "variant")


def test_a_column_variant_that_chose_rows_for_the_measure_is_no_variant_of_an_item(run: Run) -> None:
    rows = [{**LONG[0], "variant": v, "value": 0.5} for v in ("plain", "lemma")]
    marks(run, rows, measure="medsynf1(variant=lemma)", where={"variant": "lemma"}, range=None)
    assert [("q1", "")] == stored(run, "item", "variant")


def test_a_column_variant_that_the_measure_does_not_name_is_the_items(run: Run) -> None:
    rows = [{**LONG[0], "variant": "lemma"}]
    said = refused(run, rows, measure="medsynf1(variant=plain)", where={"variant": "lemma"})
    assert "all about items outside the benchmark: q1 lemma." in said


# What a score is


def test_the_status_word_ok_is_ok_and_any_other_failed(run: Run) -> None:
    rows = [{**LONG[0], "word": "ok"}, {**LONG[1], "word": "no_json"}]
    done = marks(run, rows, status="word")
    assert (1, 1) == (done.ok, done.failed)
    assert [("A", 4.0, "ok"), ("B", None, "failed")] == stored(run, "candidate", "value", "status")
    assert 1 == next(r for r in run.status().rows if r.get("candidate") == "B")["causes"]["no_json"]


def test_what_stands_in_a_failed_row_need_not_be_a_number(run: Run) -> None:
    assert 1 == marks(run, [{**LONG[0], "value": "2-3", "word": "bad_number"}], status="word").failed


def test_a_mark_that_is_not_there_is_failed(run: Run) -> None:
    assert 1 == marks(run, [{**LONG[0], "value": None}]).failed
    assert [(None, "failed")] == stored(run, "value", "status")


@pytest.mark.parametrize(("value", "status"), [(4, "ok"), (None, "no_json")])
def test_a_blank_answer_is_unanswered_whatever_it_was_given(
    run: Run, value: float | None, status: str
) -> None:
    done = marks(run, [{"item": "q2", "candidate": "B", "value": value, "word": status}], status="word")
    assert (0, 1, 0) == (done.ok, done.unanswered, done.failed)
    assert [(None, "unanswered")] == stored(run, "value", "status")
    assert (("B, q2, repeat 1",) if value else ()) == done.blank_scored


def test_blank_recorded_keeps_what_a_blank_answer_was_given(run: Run) -> None:
    done = marks(run, [{"item": "q2", "candidate": "B", "value": 4}], blank="recorded")
    assert (1, 0, ()) == (done.ok, done.unanswered, done.blank_scored)


def test_a_blank_answer_scored_on_five_criteria_is_listed_once(run: Run) -> None:
    rows = [{"item": "q2", "candidate": "B", **dict.fromkeys(FIVE, 4)}]
    done = marks(run, rows, measure=JUDGE, criteria=FIVE)
    assert (5, ("B, q2, repeat 1",)) == (done.unanswered, done.blank_scored)


@pytest.mark.parametrize(
    ("measure", "criterion", "declared"),
    [
        (JUDGE, "comprehension", (0.0, 5.0, "higher", "worst")),
        (JUDGE, "harm", (0.0, 5.0, "higher", "set_aside")),
        (JUDGE, "demographic_bias", (0.0, 5.0, "higher", "set_aside")),
        ("medsynf1(variant=x)", "f1", (0.0, 1.0, "higher", "worst")),
        ("judge(rubric=other)", "comprehension", (None, None, "higher", "worst")),
    ],
)
def test_what_is_not_declared_is_as_published(
    run: Run, measure: str, criterion: str, declared: tuple[Any, ...]
) -> None:
    marks(run, [{**LONG[0], criterion: 1}], measure=measure, criteria=[criterion], range=None)
    c = run.measures[0].criterion
    assert declared == (c.low, c.high, c.direction, c.if_unanswered)


def test_a_declaration_for_one_criterion_beats_that_for_all(run: Run) -> None:
    marks(
        run,
        [{**LONG[0], "harm": 1, "tone": 1}],
        criteria=["harm", "tone"],
        range={"*": (0, 5), "tone": (None, 10)},
        direction={"harm": "lower"},
        if_unanswered={"*": "correct", "tone": "set_aside"},
    )
    assert {
        "harm": (0.0, 5.0, "lower", "correct"),
        "tone": (None, 10.0, "higher", "set_aside"),
    } == {
        m.criterion.criterion: (
            m.criterion.low, m.criterion.high, m.criterion.direction, m.criterion.if_unanswered,
        )
        for m in run.measures
    }  # fmt: skip


# Again


def test_the_same_file_again_changes_nothing(run: Run) -> None:
    rows = [
        *LONG,
        {"item": "q2", "candidate": "A", "value": None},
        {"item": "q2", "candidate": "B", "value": 2},
    ]
    first = marks(run, rows)
    before = contents(run)
    assert first == marks(run, rows)
    assert before == contents(run)


def test_what_failed_is_replaced_and_nothing_else_is(run: Run) -> None:
    marks(run, [{**LONG[0], "value": None}, LONG[1]])
    marks(run, [LONG[0], {**LONG[1], "value": None}])
    assert [("A", 4.0, "ok"), ("B", 3.0, "ok")] == stored(run, "candidate", "value", "status")


def test_a_further_pass_is_added(run: Run) -> None:
    marks(run, LONG)
    marks(run, [{**LONG[0], "value": 1}], set={"pass_no": "2"})
    assert [(1, 4.0), (1, 3.0), (2, 1.0)] == sorted(
        stored(run, "pass_no", "value"), key=lambda r: (r[0], -r[1])
    )


def test_an_import_is_recorded_with_its_file(run: Run) -> None:
    marks(run, LONG, where={"candidate": "A"})
    with closing(sqlite3.connect(run.file.path)) as db:
        verb, body = db.execute("SELECT verb, body FROM provenance ORDER BY 1 DESC").fetchone()
    told = json.loads(body)
    assert ("import scores", "marks.jsonl", {"candidate": "A"}, "panel(rubric=r)") == (
        verb, told["file"], told["where"], told["metric"],
    )  # fmt: skip
    assert 8 <= len(told["file_hash"])


# What is refused

REFUSALS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "a value above its range": (
        [{**LONG[0], "value": 6}],
        {},
        "value = 6 lies outside 0 to 5: --range declares another range.",
    ),
    "a value below its range": ([{**LONG[0], "value": -0.5}], {}, "value = -0.5 lies outside 0 to 5"),
    "a text for a value": (
        [{**LONG[0], "value": "good"}],
        {},
        "marks.jsonl, line 1: value must be a number, not 'good'.",
    ),
    "a value that no statistic can square": ([{**LONG[0], "value": 1e300}], {}, "a number, not 1e+300."),
    "nan for a value": ([{**LONG[0], "value": "nan"}], {}, "line 1: value must be a number, not 'nan'."),
    "an infinite value": ([{**LONG[0], "value": "inf"}], {}, "line 1: value must be a number, not 'inf'."),
    "a yes for a value": ([{**LONG[0], "value": True}], {}, "line 1: value must be a number, not True."),
    "half a repeat": (
        [{**LONG[0], "repeat": 1.5}],
        {},
        "line 1: repeat must be a whole number from 1, not 1.5.",
    ),
    "two scores for one answer": (
        [LONG[0], {**LONG[0], "value": 2}],
        {},
        "line 2: a second score for value of A, q1, repeat 1; --where chooses rows, --map pass_no=… or "
        "--map rater=… tells scores apart.",
    ),
    "nothing but items the run does not hold": (
        [{**LONG[0], "item": "q9"}, {**LONG[0], "item": "q8"}],
        {},
        "{file} holds 2 rows of scores, all about items outside the benchmark: q9, q8. Nothing was imported.",
    ),
    "a repeat that was not answered": (
        [{**LONG[0], "repeat": 2}],
        {},
        "such as an answer of A to q1, repeat 2: import the answers first",
    ),
    "a candidate the run does not hold": (
        [{**LONG[0], "candidate": "C"}],
        {},
        "such as an answer of C to q1, repeat 1",
    ),
    "a criterion that is no column": (
        [{**LONG[0], "harm": 1}],
        {"criteria": ["harn"]},
        "line 1: no column 'harn' for a criterion. Did you mean 'harm'?",
    ),
    "a criterion that is in no row of a long file at all": (
        [{**LONG[0], "criterion": "harm"}],
        {"criteria": ["harn"]},
        "no row scores 'harn'. Did you mean 'harm'?",
    ),
    "a criterion that no row of a long file scores": (
        [{**LONG[0], "criterion": "harm"}, {**LONG[1], "criterion": "tone"}],
        {"criteria": ["harm", "tome"]},
        "no row scores 'tome'. Did you mean 'tone'?",
    ),
    "no column of scores": (
        [{"item": "q1", "candidate": "A", "harm": 1}],
        {},
        "line 1: neither a column 'value' nor --criteria: name the columns that hold scores (--criteria "
        "a,b), or map value and criterion.",
    ),
    "a status that is no column": (
        [{**LONG[0], "parse_status": "ok"}],
        {"status": "parse_state"},
        "line 1: --status parse_state: no such column. Did you mean 'parse_status'?",
    ),
    "a where that is no column": (
        [{**LONG[0], "supervised": True}],
        {"where": {"superwised": "True"}},
        "line 1: --where superwised=True: no column 'superwised'. Did you mean 'supervised'?",
    ),
    "no row that is wanted": (
        [{**LONG[0], "supervised": False}],
        {"where": {"supervised": "True"}},
        "{file}: no row has supervised=True.",
    ),
    "no item column": (
        [{"candidate": "A", "value": 1}],
        {},
        "line 1: no column 'item' (there are candidate, value): --map item=COLUMN names it.",
    ),
    "no candidate column": (
        [{"item": "q1", "value": 1}],
        {},
        "--map candidate=COLUMN or --set candidate=NAME names it.",
    ),
    "an empty candidate": ([{**LONG[0], "candidate": ""}], {}, "the column 'candidate' is empty."),
    "a map to no column": (
        [LONG[0]],
        {"map": {"item": "itme"}},
        "line 1: no column 'itme' to take item from. Did you mean 'item'?",
    ),
    "a map of no field": (
        [{**LONG[0], "round": 2}],
        {"map": {"pas_no": "round"}},
        "scores have no field 'pas_no'. Did you mean 'pass_no'?",
    ),
    "a declaration of no criterion": (
        [{**LONG[0], "criterion": "harm"}],
        {"if_unanswered": {"harn": "worst"}},
        "no criterion 'harn' among those imported. Did you mean 'harm'?",
    ),
    "a direction that is none": (
        [LONG[0]],
        {"direction": {"*": "up"}},
        "value: direction is one of higher, lower, if_unanswered one of worst, set_aside, correct, not up",
    ),
    "a rule for silence that is none": ([LONG[0]], {"if_unanswered": {"*": "zero"}}, "not higher and zero."),
    "a range that is turned": ([LONG[0]], {"range": {"*": (5.0, 0.0)}}, "value: 5.0 to 0.0 is no range"),
    "a range that is nan": (
        [LONG[0]],
        {"range": {"*": (float("nan"), 5.0)}},
        "value: nan to 5.0 is no range: its low end comes first.",
    ),
    "a silence that counts as a limit there is not": (
        [{"item": "q2", "candidate": "B", "value": 1}],
        {"range": None},
        "blank answers count as worst for value, which has no such limit: give --range LOW:HIGH, or "
        "--if-unanswered set_aside.",
    ),
    "a rule for blanks that is none": (
        [LONG[0]],
        {"blank": "ok"},
        "blank is unanswered or recorded, not 'ok'.",
    ),
    "a spec that cannot be read": ([LONG[0]], {"measure": "judge(rubric"}, "cannot read the spec"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(run: Run, tmp_path: Path, name: str) -> None:
    """One sentence, and the run stays as it was."""
    rows, settings, sentence = REFUSALS[name]
    assert sentence.replace("{file}", str(tmp_path / "marks.jsonl")) in refused(run, rows, **settings)


def test_an_empty_file(run: Run) -> None:
    assert "marks.jsonl is empty: it holds no rows." in refused(run, [])


def test_a_file_that_is_not_there(run: Run) -> None:
    with pytest.raises(InputError, match=r"no file at .*none\.csv"):
        run.import_scores("none.csv", measure="panel")


def test_no_run_to_import_into(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "marks.jsonl", LONG)
    with pytest.raises(VivaError, match="no run at"):
        open_run(tmp_path / "none.viva").import_scores(file, measure="panel")
    assert [file] == list(tmp_path.iterdir())


def test_another_mark_than_the_run_holds(run: Run) -> None:
    marks(run, LONG)
    said = refused(run, [{**LONG[0], "value": 1}, LONG[1]])
    assert "A has another score for q1 (repeat 1) in this run already: scores are kept." in said
    assert "another pass: --set pass_no=2." in said


def test_a_mark_for_what_was_unanswered_is_another_mark(run: Run) -> None:
    """The same file under the other rule for blanks says something else of the same answer."""
    rows = [{"item": "q2", "candidate": "B", "value": 2}]
    marks(run, rows)
    assert "B has another score for q2" in refused(run, rows, blank="recorded")


@pytest.mark.parametrize(
    "other",
    [
        {"range": {"*": (0, 10)}},
        {"direction": {"*": "lower"}},
        {"if_unanswered": {"*": "set_aside"}},
    ],
)
def test_another_declaration_than_the_run_holds(run: Run, other: dict[str, Any]) -> None:
    marks(run, LONG[:1])
    said = refused(run, LONG[1:], **other)
    held = "low 0.0, high 5.0, direction higher, if_unanswered worst"
    assert f"panel(rubric=r), criterion value, is declared otherwise in this run: {held}" in said
    assert "or use another run." in said


def test_a_measure_must_be_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="measure"):
        run.import_scores(tmp_path / "x.jsonl")  # type: ignore[call-arg]


def test_an_item_of_two_benchmarks_takes_a_word_on_which(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}}, name="one")
    made(tmp_path, {"A": {"q1": "y"}}, name="two", run=run)
    said = refused(run, LONG[:1])
    assert "line 1: several benchmarks of this run have an item q1: --benchmark says which." in said
    marks(run, LONG[:1], benchmark=f"jsonl(path='{tmp_path / 'two.jsonl'}')")
    assert [("two", "q1")] == stored(run, "benchmark", "item")


def test_marks_of_items_that_the_benchmark_leaves_out_are_skipped(tmp_path: Path, hivmedqa: Path) -> None:
    """Question 3 of category 2 is not in the paper."""
    run = open_run(tmp_path / "hiv.viva")
    lines = [{"item": q, "candidate": "A", "text": "x"} for q in ("c2q03", "c2q04")]
    answers = write_lines(tmp_path / "answers.jsonl", lines)
    run.import_answers(answers, benchmark=f"hivmedqa(data='{hivmedqa}')")
    rows = [{"item": q, "candidate": "A", "value": 1} for q in ("c2q03", "c2q04")]
    done = marks(run, rows, benchmark=f"hivmedqa(data='{hivmedqa}', subset=paper)")
    assert (1, 1, ("c2q03",)) == (done.scores, done.skipped, done.skipped_items)
    assert [("c2q04",)] == stored(run, "item")


def test_scores_of_items_that_the_run_does_not_hold_are_skipped_as_answers_are(tmp_path: Path) -> None:
    """One rule and one sentence for both files: here both are about q1, q8 and q9, and the exam has q1."""
    run = made(tmp_path, {"A": {"q1": "x"}})
    names = ("q1", "q9", "q8", "q9")
    answers = write_lines(
        tmp_path / "more.jsonl",
        [{"item": q, "candidate": "B", "text": "y", "repeat": n} for n, q in enumerate(names, 1)],
    )
    exam = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    imported = run.import_answers(answers, benchmark=exam)
    scores = marks(
        run, [{"item": q, "candidate": "A", "value": 1, "pass_no": n} for n, q in enumerate(names, 1)]
    )
    assert (3, ("q9", "q8")) == (imported.skipped, imported.skipped_items)
    assert (3, ("q9", "q8")) == (scores.skipped, scores.skipped_items)
    assert "3 rows are about items outside the benchmark and were skipped: q9, q8." == outside(
        scores.skipped, scores.skipped_items
    )
    assert 1 == scores.scores


def test_a_recorded_measure_never_mixes_with_one_that_is_run_here(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "the key of q1"}, "B": {"q1": "no"}})
    marks(run, [{"item": "q1", "candidate": "A", "value": 0.25}], measure="token_f1", range={"*": (0, 1)})
    run.score("token_f1")
    assert {"token_f1()@recorded": [0.25]} == {
        m.signature: own
        for m in run.measures
        if (own := run.scores.filter(pl.col("criterion") == "value")["value"].to_list())
        and m.criterion.criterion == "value"
    }
    assert 2 == run.scores.filter(pl.col("criterion") != "value").height // len(
        {m.criterion.criterion for m in run.measures} - {"value"}
    )


# Through the shell

Viva = Callable[..., Any]


def test_scores_need_a_measure(viva: Viva, run: Run, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "marks.jsonl", LONG)
    with pytest.raises(InputError, match=r"--scores needs --measure: the spec of what gave them"):
        viva("import", run.file.path, file, "--scores")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--range", "0-5"), r"--range '0-5': write LOW:HIGH, such as 0:5, or 0: for no upper limit\."),
        (("--range", "value=a:b"), r"--range 'a:b': write LOW:HIGH"),
        (("--if-unanswered", "worst", "--if-unanswered", "correct"), r"--if-unanswered names '\*' twice\."),
        (("--where", "supervised"), r"--where 'supervised': write --where name=value\."),
    ],
)
def test_options_that_cannot_be_read(
    viva: Viva, run: Run, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    file = write_lines(tmp_path / "marks.jsonl", LONG)
    with pytest.raises(InputError, match=sentence):
        viva("import", run.file.path, file, "--scores", "--measure", "panel", *words)


def test_declarations_through_the_shell(viva: Viva, run: Run, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "marks.jsonl", [{**LONG[0], "harm": 1, "tone": 2}])
    viva(
        *("import", run.file.path, file, "--scores", "--measure", "panel", "--criteria", "harm, tone"),
        *("--range", "0:5", "--range", "tone=:9", "--direction", "harm=lower"),
        *("--if-unanswered", "set_aside"),
    )
    assert [("harm", 0.0, 5.0, "lower", "set_aside"), ("tone", None, 9.0, "higher", "set_aside")] == [
        (c.criterion, c.low, c.high, c.direction, c.if_unanswered)
        for c in (m.criterion for m in run.measures)
    ]


def test_the_published_marks_as_the_readme_imports_them(viva: Viva, hivmedqa: Path, tmp_path: Path) -> None:
    """Thirty blank answers are unanswered on five criteria; nine of them the judge had scored."""
    path, names = tmp_path / "hiv.viva", ("--map", "item=question_id", "--map", "repeat=iteration")
    names += ("--map", "candidate=model")
    viva(
        *("import", path, hivmedqa / "responses.jsonl", "--benchmark", f"hivmedqa(data='{hivmedqa}')"),
        *(*names, "--map", "text=answer", "--role", "Rephrased Gold Answers=ceiling", "--quiet"),
    )
    words = (
        *("import", path, hivmedqa / "judge_scores.csv", "--scores", *names),
        *("--criteria", ",".join(FIVE), "--measure", JUDGE, "--where", "supervised=True"),
        *("--status", "parse_status"),
    )
    said = viva(*words).stdout
    assert f"25300 scores on {', '.join(FIVE)}: 25150 ok, 150 unanswered, 0 failed; 0 rows skipped." in said
    assert "9 blank answers had been given scores, which do not count:" in said
    assert 9 == said.count("\n  Med42-70B, c")
    f1 = viva(
        *("import", path, hivmedqa / "f1.csv", "--scores", *names, "--criteria", "f1", "--json"),
        *("--measure", "medsynf1(variant=gptdict_lemma)", "--where", "variant=gptdict_lemma"),
    ).stdout
    (summary,) = json.loads(f1)["rows"]
    assert (5060, 5030, 30, 0, 30) == (
        summary["scores"], summary["ok"], summary["unanswered"], summary["failed"],
        len(summary["blank_scored"]),
    )  # fmt: skip
    paper = f"hivmedqa(data='{hivmedqa}', subset=paper)"
    shown = viva(
        *("compare", path, "Gemini 2.5 Pro", "MedGemma 27B", "Claude 3.5 Sonnet", "--against"),
        *("Gemini 2.5 Pro", "--metric", "judge", "--items", paper, "--json"),
    ).stdout
    found = [r for r in json.loads(shown)["rows"] if r["criterion"] == "comprehension"]
    assert [("MedGemma 27B", "0.1873", "0.0369", 42), ("Claude 3.5 Sonnet", "0.0905", "0.2935", 42)] == [
        (r["b"], f"{r['difference']:.4f}", f"{r['p']:.4f}", r["n_groups"]) for r in found
    ]
    assert {10} == {r["family"] for r in json.loads(shown)["rows"]}
    delivered = open_run(path).estimates("judge", items=paper)
    assert "3.4667" == f"{row(delivered, candidate='Med42-70B', criterion='comprehension')['estimate']:.4f}"


def test_a_recorded_measure_is_found_by_a_part_of_its_spec(run: Run) -> None:
    marks(run, LONG, measure="panel(rubric=r, year=2024)")
    assert "panel(rubric=r, year=2024)" == run.estimates("panel(year=2024)").rows[0]["metric"]
    with pytest.raises(SelectionError, match="matches none"):
        run.estimates("panel(year=2023)")


# Told apart from what is run here


def test_a_measure_both_recorded_and_run_here_is_named_by_its_signature(run: Run) -> None:
    rows = [{"item": q, "candidate": c, "criterion": "f1", "value": 0.5} for q in ("q1", "q2") for c in "AB"]
    marks(run, rows, measure="token_f1", range={"*": (0, 1)}, blank="recorded")
    run.score("token_f1")
    with pytest.raises(SelectionError, match=r"both recorded and run here.*token_f1\(\)@recorded"):
        run.estimates("token_f1")
    recorded = run.estimates("token_f1()@recorded").rows
    assert [0.5, 0.5] == [r["estimate"] for r in recorded]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--measure", "judge()"), "--measure says something of scores: it goes with --scores."),
        (("--where", "a=b"), "--where says something of scores: it goes with --scores."),
        (
            ("--scores", "--measure", "j()", "--role", "A=floor"),
            "--role says something of answers: it does not go with --scores.",
        ),
    ],
)
def test_options_of_answers_and_of_marks_are_not_mixed(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(InputError) as error:
        CliRunner().invoke(
            cli.app, ["import", str(tmp_path / "r.viva"), "x.jsonl", *words], catch_exceptions=False
        )
    assert sentence in str(error.value)
    assert not (tmp_path / "r.viva").exists()


def test_marks_of_an_answer_that_never_arrived_are_not_marks_of_a_blank_one(tmp_path: Path) -> None:
    """A null text is ours to mend, not the candidate's silence: it must not count as the worst score."""
    run = made(tmp_path, {"A": {"q1": None, "q2": " "}})  # type: ignore[dict-item]
    rows = [{"item": q, "candidate": "A", "criterion": "harm", "value": 4} for q in ("q1", "q2")]
    done = marks(run, rows)
    assert (1, 1) == (done.ok, done.unanswered)
    assert ("A, q2, repeat 1",) == done.blank_scored
