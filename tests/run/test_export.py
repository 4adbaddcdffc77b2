"""A run out: what stands in the tables, what a spreadsheet cannot run, and what is never overwritten."""

import csv
import json
import random
import re
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.cases import each_case
from tests.finished_runs import finished_run
from tests.studies.making import SILENT, UNREADABLE, Answers, empty_run, exam, made, marked

from vivavoce.cli.export import TABLES as CLI_TABLES
from vivavoce.core import registry
from vivavoce.core.errors import InputError, RunNotFound, StoreError, VivaError
from vivavoce.core.spreadsheets import FORMULA
from vivavoce.core.tables import ITEMS, RESPONSES, SCORES
from vivavoce.run.exchange.exports import TABLES
from vivavoce.run.exchange.tables import _TABLES, MEANINGS
from vivavoce.run.run import Run, open_run
from vivavoce.store.checksums import renew_checksums
from vivavoce.store.rewriting import delete_other_items
from vivavoce.store.write import put_finding

ANSWERS: Answers = {
    "A": {"q1": 1, "q2": 0.5, "q3|twin": [1, 0.25]},
    "B": {"q1": SILENT, "q2": UNREADABLE, "q3|twin": 0},
}
HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\nx",
    "  =1+1",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
    "\x00=1",
    '"=1+1"',
    "'=1+1",
    "''=1+1",
    "“=1",
    "＝1",
    "＋1",
    "－1",
    "＠1",
    "−1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://x","y")',
    "'\t=1",
)
HARMLESS = ("1", "x=1", "a-b", "'quoted'", "5 mg", "", "q@x", "ß", "(=1)", "≥ 5")


def compare(folder: Path) -> None:
    """A run that is scored and compared, in an empty folder."""
    marked(folder, ANSWERS).compare("A", "B", metric="told")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    finished_run(tmp_path, compare)
    return open_run(tmp_path / "run.viva")


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def frames(folder: Path) -> dict[str, pl.DataFrame]:
    return {path.stem: pl.read_parquet(path) for path in folder.glob("*.parquet")}


# Parquet


def test_parquet_read_back_is_the_run(run: Run, tmp_path: Path) -> None:
    written = run.export(tmp_path / "out", format="parquet")
    found = frames(tmp_path / "out")
    assert TABLES == tuple(one.table for one in written)
    assert set(TABLES) == set(found)
    assert_frame_equal(run.items, found["items"])
    assert_frame_equal(run.responses, found["responses"])
    assert_frame_equal(run.scores, found["scores"].select(SCORES))
    for one in written:
        assert (one.path.stat().st_size, found[str(one.table)].height) == (one.bytes, one.rows)


def test_scores_bear_signature_parts_and_note(run: Run, tmp_path: Path) -> None:
    run.score("token_f1")
    run.export(tmp_path / "out", format="parquet", table=["scores"])
    scores = pl.read_parquet(tmp_path / "out" / "scores.parquet")
    assert [*SCORES, "category", "format", "probe", "signature", "parts", "note"] == scores.columns
    assert {"token_f1(tokens=clinical)@4"} == set(scores.filter(metric="token_f1")["signature"])
    parts = scores.filter(metric="token_f1", status="ok")["parts"]
    assert {"dict"} == {type(json.loads(text)).__name__ for text in parts}
    unreadable = scores.filter(metric="token_f1", status="unreadable")
    assert unreadable["note"].str.contains("never closed").all()


def test_measures_cards_findings_and_provenance_go_along(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="parquet")
    found = frames(tmp_path / "out")
    assert [("told", 0.0, 1.0, "higher", "worst")] == list(
        found["measures"].select("metric", "low", "high", "direction", "if_unanswered").iter_rows()
    )
    assert ["own"] == found["benchmarks"]["access"].to_list()
    assert ["compare"] == found["findings"]["study"].to_list()
    assert ["A", "B"] == json.loads(found["findings"]["settings"][0])["candidates"]
    assert ["import", "score", "plugin metric"] == found["provenance"]["verb"].to_list()
    assert {"A", "B"} == set(found["estimates"]["candidate"])
    wanted = {row["candidate"]: row["estimate"] for row in run.estimates().rows}
    assert wanted == dict(found["estimates"].select("candidate", "estimate").iter_rows())


def test_only_the_chosen_tables_are_written(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv", table=["scores", "items"])
    assert {"items.csv", "scores.csv", "README.txt"} == {p.name for p in (tmp_path / "out").iterdir()}


def test_only_the_chosen_items_are_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    run.export(tmp_path / "out", format="parquet", items=exam(tmp_path / "part", ["q2"]))
    found = frames(tmp_path / "out")
    for table in ("items", "responses", "scores"):
        assert {"q2"} == set(found[table]["item"])
    assert {1} == set(found["estimates"].drop_nulls("estimate")["n_items"])


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_an_empty_run_has_empty_tables_with_their_columns(tmp_path: Path, form: Any) -> None:
    written = empty_run(tmp_path).export(tmp_path / "out", format=form)
    assert {0} == {one.rows for one in written}
    read = pl.read_parquet if form == "parquet" else pl.read_csv
    assert list(ITEMS) == read(tmp_path / "out" / f"items.{form}").columns
    assert list(RESPONSES) == read(tmp_path / "out" / f"responses.{form}").columns


# CSV


def defused(text: str) -> bool:
    return bool(re.match(FORMULA, text))


def test_a_text_that_a_spreadsheet_could_run_is_defused(tmp_path: Path) -> None:
    def candidate(k: int, text: str) -> str:
        start = "@" if text[0] in "\r\n" else text  # a name holds no line end
        return f"{start} {k}"

    texts = [text for text in HOSTILE if "\0" not in text]  # no file of answers holds one
    names = {text: candidate(k, text) for k, text in enumerate(texts)}
    run = made(tmp_path, {name: {"q1": text} for text, name in names.items()})
    run.export(tmp_path / "out", format="csv")
    expected = {("'" + text, "'" + name) for text, name in names.items()}
    assert expected == {(row["text"], row["candidate"]) for row in cells(tmp_path / "out" / "responses.csv")}


def test_other_texts_stay_as_they_are(tmp_path: Path) -> None:
    texts = {f"q{k}": text for k, text in enumerate(HARMLESS)}
    made(tmp_path, {"A": texts}).export(tmp_path / "out", format="csv")
    assert texts == {row["item"]: row["text"] for row in cells(tmp_path / "out" / "responses.csv")}


@each_case("text", [*HOSTILE, *HARMLESS])
def test_one_rule_gives_every_text_back(text: str) -> None:
    """As README.txt says: drop an apostrophe at the start if a start of a formula follows it."""
    written = "'" + text if defused(text) else text
    back = written[1:] if written[:1] == "'" and defused(written[1:]) else written
    assert text == back


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    (tmp_path / "marks.csv").write_text("item,candidate,value\nq1,A,-2.5\n")
    run.import_scores(tmp_path / "marks.csv", measure="panel(of=three)", range={"*": (-5, 5)})
    run.export(tmp_path / "out", format="csv")
    (row,) = cells(tmp_path / "out" / "scores.csv")
    assert "-2.5" == row["value"]


def test_every_column_of_text_is_defused(tmp_path: Path) -> None:
    names = ("item", "question", "category", "group", "source")
    item = {**{name: f"={name[0]}" for name in names}, "references": ["=r"]}
    made(tmp_path, {"=A": {"=i": "=t"}}, items=[item]).export(tmp_path / "out", format="csv")
    for name in TABLES:
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8-sig", newline="") as stream:
            for row in csv.reader(stream):
                assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    (row,) = cells(tmp_path / "out" / "items.csv")
    assert ["=r"] == json.loads(row["references"])


def test_lists_are_json_arrays_and_nulls_are_empty(tmp_path: Path) -> None:
    item = {"item": "q1", "format": "mcq", "options": ['say "no"', "b, c", "ß"], "answer": "ß"}
    item |= {"references": []}
    made(tmp_path, {"A": {"q1": None}}, items=[item]).export(tmp_path / "out", format="csv")
    (asked,) = cells(tmp_path / "out" / "items.csv")
    (answered,) = cells(tmp_path / "out" / "responses.csv")
    assert ['say "no"', "b, c", "ß"] == json.loads(asked["options"])
    assert ("", "[]") == (asked["category"], asked["references"])
    assert ("failed", "") == (answered["status"], answered["text"])


def test_a_csv_export_without_formulas_can_be_imported_again(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv")
    again = open_run(tmp_path / "again.viva")
    again.import_answers(
        tmp_path / "out" / "responses.csv", benchmark=f"csv(path='{tmp_path}/out/items.csv', name=exam)"
    )
    columns = ["item", "variant", "candidate", "repeat", "status", "text"]
    assert_frame_equal(run.responses.select(columns), again.responses.select(columns))
    hashes = [item["question"] for item in again.items.iter_rows(named=True)]
    assert run.items["question"].to_list() == hashes


def test_a_csv_bears_the_mark_that_excel_looks_for(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv")
    for path in (tmp_path / "out").glob("*.csv"):
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")


# README.txt


def test_the_readme_explains_every_column_and_no_other(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="parquet")
    said = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    found = frames(tmp_path / "out")
    assert MEANINGS.keys() == {column for frame in found.values() for column in frame.columns}
    for table in found:
        assert f"{table}.parquet" in said
    assert "apostrophe" not in said
    run.export(tmp_path / "out", format="csv")
    assert "apostrophe" in (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")


# Places


def test_an_earlier_export_is_replaced_as_a_whole(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv")
    run.export(tmp_path / "out", format="parquet", table=["items"])
    assert {"items.parquet", "README.txt"} == {p.name for p in (tmp_path / "out").iterdir()}
    assert {"out"} == {p.name for p in tmp_path.iterdir() if p.is_dir()}


def test_an_empty_folder_is_filled(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    run.export(tmp_path / "out", format="csv", table=["items"])
    assert (tmp_path / "out" / "items.csv").is_file()


@pytest.mark.parametrize("names", [["notes.txt"], ["items.csv"], ["README.txt", "items.csv"]])
def test_a_folder_of_other_files_is_left_alone(run: Run, tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in names:
        (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(StoreError, match=r"is there already and is no export.*: give another folder"):
        run.export(tmp_path / "out", format="csv")
    assert {name: "mine" for name in names} == {p.name: p.read_text() for p in (tmp_path / "out").iterdir()}


def test_an_export_with_a_stranger_s_file_in_it_is_left_alone(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="csv")
    (tmp_path / "out" / "analysis.ipynb").write_text("hours of work")
    with pytest.raises(StoreError, match=r"is no export \(it holds analysis.ipynb\)"):
        run.export(tmp_path / "out", format="parquet")
    assert "hours of work" == (tmp_path / "out" / "analysis.ipynb").read_text()
    assert (tmp_path / "out" / "items.csv").is_file()


def test_a_file_or_the_run_itself_is_no_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="is no folder: tables are written to a folder"):
        run.export(tmp_path / "file", format="csv")
    with pytest.raises(StoreError, match="is the run itself"):
        run.export(run.file.path, format="parquet")
    assert "mine" == (tmp_path / "file").read_text()


def test_a_name_that_breaks_nothing_is_a_name(run: Run, tmp_path: Path) -> None:
    for name in ("a b", "ä'\";$(x)", "-rf", "%s", "=1"):
        run.export(tmp_path / name, format="csv", table=["items"])
        assert 3 == len(cells(tmp_path / name / "items.csv"))


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("nowhere/out", "no folder .*nowhere to put the export in"),
        ("/proc/out", "cannot write the export to /proc/out: .*Nothing was written"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_place_that_takes_no_folder(run: Run, tmp_path: Path, to: str, words: str) -> None:
    for form in ("csv", "run"):
        with pytest.raises(StoreError, match=words):
            run.export(tmp_path / to, format=form, items=exam(tmp_path, ["q1"]))


FULL = """
    import resource, sys
    from pathlib import Path
    import vivavoce as viva
    from vivavoce.core.errors import StoreError

    run = viva.open(sys.argv[1])
    run.items
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
    for form in sys.argv[3:]:
        try:
            run.export(sys.argv[2], format=form)
        except StoreError as error:
            print(error)
"""


def test_a_disk_that_takes_no_more_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    rng = random.Random(1)
    items = ["q1", "q2", "q3|twin"]
    made(tmp_path, {"C": {"q1": rng.randbytes(100_000).hex()}}, items=items, run=run)
    run.export(tmp_path / "out", format="csv", table=["items"])
    before = sorted(p.name for p in tmp_path.rglob("*"))
    words = [sys.executable, "-c", textwrap.dedent(FULL), str(run.file.path), str(tmp_path / "out")]
    done = subprocess.run([*words, "csv", "parquet"], capture_output=True, text=True, check=False)
    assert 2 == done.stdout.count("cannot write the export"), done.stderr
    assert before == sorted(p.name for p in tmp_path.rglob("*"))


def test_what_is_misspelt_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no table named 'score'. Did you mean 'scores'"):
        run.export(tmp_path / "out", format="csv", table=["score"])
    names = ", ".join(registry.members("exporter"))
    with pytest.raises(VivaError, match=f"an export is {names}, not 'xlsx'"):
        run.export(tmp_path / "out", format="xlsx")
    with pytest.raises(VivaError, match="--table goes with parquet and csv"):
        run.export(tmp_path / "out", format="run", table=["items"])


@pytest.mark.parametrize("form", ["parquet", "csv", "run"])
def test_no_run_is_no_export(tmp_path: Path, form: Any) -> None:
    with pytest.raises(RunNotFound):
        open_run(tmp_path / "none.viva").export(tmp_path / "out", format=form)
    assert not list(tmp_path.iterdir())


# A run


def test_a_whole_run_is_a_copy(run: Run, tmp_path: Path) -> None:
    (written,) = run.export(tmp_path / "copy.viva", format="run")
    copy = open_run(tmp_path / "copy.viva")
    assert (None, run.responses.height) == (written.table, written.rows)
    assert_frame_equal(run.scores, copy.scores)
    assert_frame_equal(run.items, copy.items)


@pytest.fixture
def part(run: Run, tmp_path: Path) -> Callable[[], Run]:
    def exported() -> Run:
        (tmp_path / "part").mkdir()
        run.export(tmp_path / "part.viva", format="run", items=exam(tmp_path / "part", ["q1", "q2"]))
        return open_run(tmp_path / "part.viva")

    return exported


def test_a_part_has_equal_marks_and_nothing_else(run: Run, part: Callable[[], Run]) -> None:
    small = part()
    kept = pl.col("item").is_in(["q1", "q2"])
    assert_frame_equal(run.scores.filter(kept), small.scores)
    assert_frame_equal(run.responses.filter(kept), small.responses)
    assert_frame_equal(run.items.filter(kept), small.items)
    assert run.measures == small.measures


def test_tests_of_the_whole_count_for_the_part(part: Callable[[], Run]) -> None:
    """What was compared on the whole was seen before the part was."""
    assert 1 == len(part().interim().rows)


def test_what_was_left_out_is_gone_from_the_file(run: Run, part: Callable[[], Run], tmp_path: Path) -> None:
    assert b"What of q3|twin?" in run.export(tmp_path / "all.viva", format="run")[0].path.read_bytes()
    raw = part().file.path.read_bytes()
    assert b"What of q1?" in raw
    assert b"What of q3|twin?" not in raw
    assert not list(tmp_path.glob(".export-*"))


def test_a_part_holds_no_false_fact_of_what_was_left_out(
    run: Run, part: Callable[[], Run], tmp_path: Path
) -> None:
    row = {"benchmark": "exam", "part": "shared", "figure": "false_fact", "text": "Stated of q3.", "value": 1}
    with run.file.writing() as db:
        put_finding(db, "facts", {}, [row])
    small = part()
    assert b"Stated of q3." not in small.file.path.read_bytes()
    items = exam(tmp_path / "part", ["q1"])
    run.export(tmp_path / "tables", format="parquet", items=items)
    for written in (pl.read_parquet(tmp_path / "tables" / "findings.parquet"), _findings(small, tmp_path)):
        (rows,) = written.filter(study="facts")["rows"]
        assert [row | {"text": None}] == json.loads(rows)


def _findings(run: Run, tmp_path: Path) -> pl.DataFrame:
    run.export(tmp_path / "findings", format="parquet", table=["findings"])
    return pl.read_parquet(tmp_path / "findings" / "findings.parquet")


def test_a_part_is_cut_out_in_steps_that_grow_with_the_scores_alone(tmp_path: Path) -> None:
    """Facts are units by the hundred thousand, and to delete one nobody may read all scores."""

    def steps(n: int) -> int:
        (tmp_path / str(n)).mkdir()
        run = marked(tmp_path / str(n), {"A": {f"q{k}": 1 for k in range(4)}})
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1
            return 0

        with run.file.writing() as db:
            db.execute(
                "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?) "
                "INSERT INTO units (unit, text, weight) SELECT k, 'fact ' || k, 1 FROM n",
                (n,),
            )
            db.execute(
                "INSERT INTO scores SELECT measure_id, response_id, units.unit_id, ballot_id, pass_no, "
                "position, value, status_id, parts, note FROM (SELECT * FROM scores WHERE unit_id = 0 "
                "GROUP BY response_id) s JOIN units ON units.unit_id % 4 = s.response_id % 4 "
                "WHERE units.unit_id > 0"
            )
            renew_checksums(db)
            db.set_progress_handler(count, 1_000)
            delete_other_items(db, {("exam", "q0", "")})
            db.set_progress_handler(None, 0)
        return taken

    assert steps(4_000) < 8 * steps(1_000)


def test_a_part_says_where_it_comes_from(part: Callable[[], Run], tmp_path: Path) -> None:
    part().export(tmp_path / "out", format="parquet", table=["provenance"])
    last = pl.read_parquet(tmp_path / "out" / "provenance.parquet").row(-1, named=True)
    assert ("export", "run.viva") == (last["verb"], json.loads(last["body"])["of"])


def test_a_candidate_without_an_answer_in_the_part_is_left_out(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}, "B": {"q2": 1}})
    (tmp_path / "part").mkdir()
    run.export(tmp_path / "part.viva", format="run", items=exam(tmp_path / "part", ["q1"]))
    with closing(sqlite3.connect(tmp_path / "part.viva")) as db:
        assert [("A",)] == db.execute("SELECT candidate FROM candidates").fetchall()


def test_a_run_never_overwrites(run: Run, tmp_path: Path) -> None:
    (tmp_path / "there.viva").write_text("mine")
    for items in (None, exam(tmp_path, ["q1", "q2", "q3|twin"])):
        with pytest.raises(StoreError, match="is there already"):
            run.export(tmp_path / "there.viva", format="run", items=items)
    assert "mine" == (tmp_path / "there.viva").read_text()


# Through the shell


def test_the_shell_says_what_was_written(viva: Callable[..., Any], run: Run, tmp_path: Path) -> None:
    said = json.loads(
        viva("export", run.file.path, tmp_path / "out", "--to", "csv", "--table", "scores", "--json").stdout
    )
    path = tmp_path / "out" / "scores.csv"
    assert [{"table": "scores", "path": str(path), "rows": 7, "bytes": path.stat().st_size}] == said["rows"]
    shown = viva("export", run.file.path, tmp_path / "out", "--format", "parquet").stdout
    assert all(f"{name}.parquet" in shown for name in TABLES)


def test_the_tables_are_named_alike_wherever_they_stand() -> None:
    assert ", ".join(TABLES) == CLI_TABLES
    assert set(TABLES) == set(_TABLES)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_full_disk_is_named_also_where_the_system_has_no_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any
) -> None:
    """Polars gives an error of its own, or one of the system without `strerror`."""
    run = made(tmp_path, {"A": {"q1": "x"}})
    for error in (pl.exceptions.ComputeError("the disk is full"), OSError("the disk is full")):

        def full(*_: Any, error: Exception = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(pl.DataFrame, f"write_{form}", full)
        with pytest.raises(
            StoreError, match=r"cannot write the export to .*: the disk is full\. Nothing was"
        ):
            run.export(tmp_path / "out", format=form)
    assert not (tmp_path / "out").exists()
