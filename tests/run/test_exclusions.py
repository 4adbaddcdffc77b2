"""Rows that a benchmark leaves out: stored in the run, and counted wherever its questions are."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.lengths import length
from tests.studies.making import borrowed
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.benchmarks import Benchmark
from vivavoce.cli import app
from vivavoce.core import registry
from vivavoce.core.errors import InputError, StoreError
from vivavoce.core.records import Card, Exclusion, Item
from vivavoce.store.runfile import RunFile

GOOD = {"question": "Which drug?", "format": "mcq", "options": ["aspirin", "heparin"], "answer": "heparin"}
EQUAL = GOOD | {"options": ["aspirin", "aspirin"], "answer": "aspirin"}
NO_KEY = GOOD | {"answer": "warfarin, of which nobody may read here"}
SENTENCE = "3 of 6 rows of exam were left out: 2 two options are equal, 1 the key is no option."


def write(path: Path, *rows: dict[str, Any]) -> Path:
    lines = [json.dumps({"id": f"q{number}"} | row) for number, row in enumerate(rows, 1)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def exam(tmp_path: Path) -> str:
    """Three questions, and three rows that are none."""
    path = write(tmp_path / "exam.jsonl", GOOD, EQUAL, NO_KEY, GOOD, EQUAL, GOOD)
    return f"jsonl(path='{path}', faulty=exclude)"


@pytest.fixture
def run(tmp_path: Path, exam: str) -> viva.Run:
    made = viva.open(tmp_path / "r.viva")
    made.collect(exam, models=["baseline/reference"])
    return made


class Heard(list[str]):
    """A progress that keeps the remarks, and how many requests had been done when each came."""

    def __call__(self, usage: Any, total: int) -> None:
        self.append(f"asked {usage.done}")

    def remark(self, sentence: str) -> None:
        self.append(sentence)


def test_a_file_is_refused_at_its_first_faulty_row_with_the_setting_that_leaves_it_out(exam: str) -> None:
    with pytest.raises(InputError) as raised:
        viva.open("r.viva").collect(exam.replace(", faulty=exclude", ""), models=["baseline/reference"])
    assert (
        "exam, item 'q2': the option 'aspirin' stands there twice. With faulty=exclude in its spec, such "
        "rows are left out and counted."
    ) == str(raised.value)


def test_collect_says_what_is_left_out_before_anybody_is_asked(tmp_path: Path, exam: str) -> None:
    heard, run = Heard(), viva.open(tmp_path / "r.viva")
    (row,) = run.collect(exam, models=["baseline/reference"], progress=heard).rows
    assert SENTENCE == heard[0]
    assert "asked 0" <= heard[1] <= "asked 2"
    assert (3, 6) == (row["excluded"], row["excluded_of"])
    assert {"two options are equal": 2, "the key is no option": 1} == row["exclusions"]
    dry = viva.open(tmp_path / "other.viva").collect(exam, models=["baseline/reference"], dry_run=True)
    assert SENTENCE in dry.text
    assert 3 == dry.rows[0]["excluded"]


def test_a_run_keeps_each_row_with_its_place_and_its_reason(run: viva.Run) -> None:
    assert [
        ("exam", "exam.jsonl", "2", "two options are equal"),
        ("exam", "exam.jsonl", "3", "the key is no option"),
        ("exam", "exam.jsonl", "5", "two options are equal"),
    ] == run.exclusions.select("benchmark", "file", "row", "reason").rows()
    assert not [check for check in run.verify() if check.wrong]
    (row,) = [row for row in run.status().rows if row["about"] == "exclusions"]
    assert (3, 6) == (row["excluded"], row["excluded_of"])
    copied = viva.open(run.copy(run.file.path.with_name("copy.viva")))
    assert run.exclusions.equals(copied.exclusions)


def test_the_report_says_it_in_methods_limitations_and_checklist(run: viva.Run) -> None:
    run.score("accuracy")
    rows = run.report_rows(checklist=run.file.path.with_name("checklist.md"))
    methods = next(row["text"] for row in rows if row["section"] == "methods" and "The exam" in row["text"])
    assert SENTENCE in methods
    assert f"{SENTENCE} Nobody was asked them." in [r["text"] for r in rows if r["section"] == "limitation"]
    answers = {row["item"]: row["answer"] for row in rows if row["section"] == "checklist"}
    assert SENTENCE in answers["Missing data"]
    assert SENTENCE in answers["7b Process"]
    assert [3] == [row["excluded"] for row in rows if row["section"] == "exclusions"]
    assert SENTENCE in Path(rows[0]["path"]).read_text(encoding="utf-8")


def test_nothing_is_said_of_a_benchmark_that_leaves_nothing_out(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "r.viva")
    heard = Heard()
    (row,) = run.collect("sample", models=["baseline/reference"], progress=heard).rows
    assert (0, None, {}) == (row["excluded"], row["excluded_of"], row["exclusions"])
    assert not [line for line in heard if "left out" in line]
    assert 0 == run.exclusions.height
    assert "left out" not in run.report(tmp_path / "r.html").read_text(encoding="utf-8").casefold()


# Files that change


def test_a_row_that_was_mended_becomes_a_question_and_leaves_the_list(run: viva.Run, exam: str) -> None:
    write(run.file.path.with_name("exam.jsonl"), GOOD, GOOD, NO_KEY, GOOD, EQUAL, GOOD)
    heard = Heard()
    run.collect(exam, models=["baseline/reference"], progress=heard)
    assert heard[0].startswith("2 of 6 rows of exam were left out: ")
    assert heard[1] == (
        "When exam was read for this run before, 3 rows were left out: its files or their loader have "
        "changed since, and candidates asked before lack the questions that are new."
    )
    assert ["q1", "q2", "q4", "q6"] == sorted(run.responses["item"])
    assert ["3", "5"] == run.exclusions["row"].to_list()
    write(run.file.path.with_name("exam.jsonl"), GOOD, GOOD, GOOD, GOOD, EQUAL, GOOD)
    run.collect(exam, models=["baseline/reference"])
    write(run.file.path.with_name("exam.jsonl"), GOOD, GOOD, GOOD, GOOD, GOOD, GOOD)
    run.collect(exam, models=["baseline/reference"], progress=(again := Heard()))
    assert again[0].startswith("When exam was read for this run before, 1 row was left out: ")
    assert 0 == run.exclusions.height
    assert not [check for check in run.verify() if check.wrong]


def test_a_question_that_was_answered_cannot_become_a_row_left_out(run: viva.Run, exam: str) -> None:
    write(run.file.path.with_name("exam.jsonl"), EQUAL, GOOD, NO_KEY, GOOD, EQUAL, GOOD)
    with pytest.raises(InputError, match=r"1 of the exam questions of this run \(q1\) are none now"):
        run.collect(exam, models=["baseline/random"])
    assert 3 == run.exclusions.height
    assert ["baseline/reference"] == run.responses["candidate"].unique().to_list()


def test_a_list_changed_outside_is_found(run: viva.Run) -> None:
    with closing(sqlite3.connect(run.file.path)) as db:
        db.execute("DELETE FROM exclusions WHERE row = 3")
        db.commit()
    assert ["the table of exclusions does not fit its hash"] == [c.first[0] for c in run.verify() if c.wrong]
    with pytest.raises(StoreError, match="the table of exclusions does not fit its hash"):
        run.status()


def test_a_row_of_another_type_is_no_row_of_ours(run: viva.Run) -> None:
    with closing(sqlite3.connect(run.file.path)) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute("UPDATE exclusions SET row = 1.5")


# Other runs


def another(run: viva.Run, spec: str, name: str = "other.viva") -> viva.Run:
    other = viva.open(run.file.path.with_name(name))
    other.collect(spec, models=["baseline/random"])
    return other


def test_runs_of_the_same_files_merge(run: viva.Run, exam: str) -> None:
    before = run.exclusions
    run.merge(another(run, exam).file.path)
    assert before.equals(run.exclusions)
    assert 2 == run.responses["candidate"].n_unique()
    assert not [check for check in run.verify() if check.wrong]


def test_a_merge_brings_the_list_into_a_run_of_another_exam(run: viva.Run) -> None:
    target = another(run, "sample")
    target.merge(run.file.path)
    assert run.exclusions.equals(target.exclusions)
    assert not [check for check in target.verify() if check.wrong]


@pytest.mark.parametrize("rows", [(GOOD, GOOD, NO_KEY, GOOD, EQUAL), (GOOD, GOOD, GOOD, GOOD, GOOD)])
def test_runs_whose_files_left_other_rows_out_do_not_merge(
    run: viva.Run, exam: str, rows: tuple[dict[str, Any], ...]
) -> None:
    write(run.file.path.with_name("exam.jsonl"), *rows)
    other = another(run, exam)
    for target, source in ((run, other), (other, run)):
        before = target.exclusions, target.responses.height
        with pytest.raises(
            InputError, match=r"rows of exam were left out .*: collect both runs from the same"
        ):
            target.merge(source.file.path)
        assert before[0].equals(target.exclusions)
        assert before[1] == target.responses.height


def test_two_copies_of_the_files_are_one_list_to_the_reader(run: viva.Run, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    rows = (GOOD, EQUAL, NO_KEY, GOOD, EQUAL, GOOD)
    copy = f"jsonl(path='{write(tmp_path / 'copy' / 'exam.jsonl', *rows)}', faulty=exclude)"
    run.merge(another(run, copy).file.path)
    assert 3 == run.exclusions.height
    with RunFile(run.file.path).reading() as db:
        assert 2 == db.execute("SELECT count(*) FROM exclusion_lists").fetchone()[0]


def test_an_exported_part_has_the_list_of_its_benchmark_alone(run: viva.Run, exam: str) -> None:
    run.collect("sample", models=["baseline/reference"])
    folder = run.file.path.parent
    run.export(folder / "part.viva", format="run", items=exam)
    assert 3 == viva.open(folder / "part.viva").exclusions.height
    run.export(folder / "sample.viva", format="run", items="sample")
    assert 0 == viva.open(folder / "sample.viva").exclusions.height
    run.export(folder / "tables", format="csv", table=["exclusions"])
    assert 4 == len((folder / "tables" / "exclusions.csv").read_text(encoding="utf-8").splitlines())


# Redaction and hostile loaders


@pytest.fixture
def loose() -> Iterator[None]:
    """A benchmark of somebody else, whose reasons quote its rows."""
    with borrowed():

        @registry.benchmark("loose")
        class Loose(Benchmark):
            """Leaves rows out."""

            card = Card(
                name="loose", description="d", source="s", revision_note="-", licence="l", citation="c"
            )

            def items(self) -> Iterator[Item | Exclusion]:
                yield Item(benchmark="loose", item="a", format="short", question="Why?", references=("so",))
                yield Exclusion(
                    "f.csv", "<b>r1</b>", "=HYPERLINK(1) Mr Smith's key <script>alert(1)</script>"
                )

        yield


@pytest.mark.usefixtures("loose")
def test_a_redacted_copy_keeps_our_reasons_and_hides_those_of_others(run: viva.Run, exam: str) -> None:
    run.collect("loose", models=["baseline/reference"])
    folder = run.file.path.parent
    run.export(folder / "redacted.viva", format="run", redact=True)
    hidden = viva.open(folder / "redacted.viva")
    assert not [check for check in hidden.verify() if check.wrong]
    assert 4 == hidden.exclusions.height
    assert [
        "two options are equal",
        "the key is no option",
        "two options are equal",
    ] == hidden.exclusions.filter(benchmark="exam")["reason"].to_list()
    assert b"Smith" not in (folder / "redacted.viva").read_bytes()
    run.export(folder / "tables", format="csv", redact=True)
    assert "Smith" not in (folder / "tables" / "exclusions.csv").read_text(encoding="utf-8")
    page = run.report(folder / "redacted.html", redact=True).read_text(encoding="utf-8")
    assert "Smith" not in page
    assert "1 of 2 rows of loose was left out: 1 for a reason that is redacted." in page


@pytest.mark.usefixtures("loose")
def test_a_hostile_reason_runs_nowhere(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "r.viva")
    run.collect("loose", models=["baseline/reference"])
    assert "<script>alert" not in run.report(tmp_path / "r.html").read_text(encoding="utf-8")
    run.export(tmp_path / "tables", format="csv")
    assert "\"'=HYPERLINK" in (tmp_path / "tables" / "exclusions.csv").read_text(
        encoding="utf-8"
    ) or "'=HYPERLINK" in (tmp_path / "tables" / "exclusions.csv").read_text(encoding="utf-8")


def test_thousands_of_faulty_rows_make_no_long_sentence(tmp_path: Path) -> None:
    n = length(6_000, 30_000)
    with borrowed():

        @registry.benchmark("many")
        class Many(Benchmark):
            """Leaves many rows out, each for a reason of its own."""

            card = Card(
                name="many", description="d", source="s", revision_note="-", licence="l", citation="c"
            )

            def items(self) -> Iterator[Item | Exclusion]:
                yield Item(benchmark="many", item="a", format="short", question="Why?", references=("so",))
                yield from (Exclusion("f", k, "null key" if k % 2 else f"fault {k}") for k in range(n))

        run = viva.open(tmp_path / "r.viva")
        heard = Heard()
        run.collect("many", models=["baseline/reference"], progress=heard)
        assert len(heard[0]) < 300
        n_null, n_more = n // 2, n // 2 - 7
        counts = f"{n:,} of {n + 1:,} rows of many were left out: {n_null:,} null key, 1 fault 0"
        assert heard[0].startswith(counts)
        assert heard[0].endswith(f"and {n_more:,} for {n_more:,} other reasons.")
        assert n == run.exclusions.height
        page = run.report(tmp_path / "r.html").read_text(encoding="utf-8")
        assert f"fault {n - 2}" not in page
        (row,) = [row for row in run.status().rows if row["about"] == "exclusions"]
        assert 101 >= len(row["exclusions"])
        assert n == sum(row["exclusions"].values())


# Imports


def test_an_import_says_which_rows_nobody_can_have_answered(tmp_path: Path, exam: str) -> None:
    answers = [{"item": f"q{k}", "candidate": "A", "text": "B"} for k in (1, 2, 4)]
    imported = viva.open(tmp_path / "r.viva").import_answers(answers, benchmark=exam)
    assert (2, 1) == (imported.responses, imported.skipped)
    assert str(imported).endswith(f"{SENTENCE} Answers to them are skipped.")
    assert (3, 6) == (imported.excluded, imported.excluded_of)


TABLE = [
    {"id": f"q{k}", "model": "A", "response": "B", **row}
    for k, row in enumerate((GOOD, EQUAL, NO_KEY, GOOD | {"question": ""}, GOOD, GOOD), 1)
]


def test_a_table_is_refused_at_its_first_faulty_question_with_the_option_that_leaves_it_out() -> None:
    with pytest.raises(
        InputError, match=r'With faulty="exclude" \(--faulty exclude\) such questions are left'
    ):
        viva.evaluate(TABLE)


def test_evaluate_leaves_faulty_questions_out_where_it_is_let_and_says_so() -> None:
    run = viva.evaluate(TABLE, faulty="exclude")
    assert run.imported is not None
    assert (3, 3) == (run.imported.responses, run.imported.skipped)
    assert (
        "3 of 6 rows of exam were left out: 1 no question, 1 the key is no option, 1 two options are"
        in str(run.imported)
    )
    assert ["2", "3", "4"] == sorted(run.exclusions["row"])
    assert [1.0] * 3 == run.scores["value"].to_list()


def test_rows_that_say_two_things_of_one_question_leave_it_out_as_one() -> None:
    rows = [TABLE[0], TABLE[0] | {"id": "q5"}, TABLE[0] | {"id": "q5", "answer": "aspirin", "model": "B"}]
    run = viva.evaluate(rows, faulty="exclude")
    assert [("3", "two rows give it another answer")] == run.exclusions.select("row", "reason").rows()
    assert ["q1"] == run.items["item"].to_list()


def test_a_second_table_of_one_exam_keeps_what_the_first_left_out(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "r.viva")
    for name, rows in (("one", TABLE[:2]), ("two", [TABLE[0] | {"id": "q9"}])):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
        imported = run.import_answers(tmp_path / f"{name}.json", name="exam", faulty="exclude")
    assert (1, 3) == (imported.excluded, imported.excluded_of)
    assert [("one.json", "2")] == run.exclusions.select("file", "row").rows()
    run.collect("table(name=exam)", models=["baseline/reference"])
    assert 1 == run.exclusions.height


def test_excluding_is_for_the_questions_of_a_table_alone(tmp_path: Path, exam: str) -> None:
    answers = [{"item": "q1", "candidate": "A", "text": "B"}]
    with pytest.raises(InputError, match="write it into the spec of the benchmark"):
        viva.open(tmp_path / "r.viva").import_answers(answers, benchmark=exam, faulty="exclude")
    with pytest.raises(InputError, match="faulty 'drop': write refuse or exclude"):
        viva.evaluate(TABLE, faulty="drop")  # type: ignore[arg-type]


# The command line


def viva_says(*words: object) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert 0 == result.exit_code, result.output
    return result


def test_the_commands_say_it(tmp_path: Path, exam: str) -> None:
    path = tmp_path / "r.viva"
    assert f"viva: {SENTENCE}" in viva_says("collect", path, exam, "--model", "baseline/reference").stderr
    assert (
        SENTENCE.partition(":")[0]
        not in viva_says("collect", path, exam, "--model", "baseline/reference", "--quiet").output
    )
    shown = viva_says("show", exam).stdout
    assert "rows left out" in shown
    assert 3 == json.loads(viva_says("show", exam, "--json").stdout)["rows"][0]["excluded"]
    assert (
        "Left out: 3 of 6 rows of exam; most often (2) two options are equal."
        in viva_says("status", path).stdout
    )
    full = viva_says("status", path, "--full").stdout
    assert "exam.jsonl" in full
    assert "the key is no option" in full
