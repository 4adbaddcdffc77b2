"""Levels of `group` from the table to the verdict: what holds for a few exams alone says so everywhere."""

import hashlib
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import row

import vivavoce as viva_voce
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, StoreError
from vivavoce.run.run import Run, open_run

Viva = Callable[..., Any]
SCOPE = "Holds for these 4 exams, not for other exams."


def questions(n_exams: int, n_sources: int = 4) -> list[dict[str, Any]]:
    return [
        {"id": f"q{e}-{s}-{k}", "question": f"Is drug {e}{s}{k} safe?", "answer": "True", "exam": f"MIR {e}",
         "source": f"{s}"}
        for e in range(n_exams) for s in range(n_sources) for k in range(2)
    ]  # fmt: skip


def answered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A is right, and B is in half of the answers."""
    draw = random.Random(1)
    return [
        {**fields, "model": model, "response": "True" if model == "A" else draw.choice(["True", "False"])}
        for fields in rows
        for model in ("A", "B")
    ]


def evaluated(folder: Path, n_exams: int = 4, **settings: Any) -> Run:
    rows = answered(questions(n_exams))
    place: dict[str, Any] = {"to": folder / "run.viva", "map": {"group": "exam,source"}}
    return viva_voce.evaluate(rows, "accuracy", **place | settings)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return evaluated(tmp_path)


def test_every_verb_says_for_which_exams_it_holds(run: Run, tmp_path: Path, viva: Viva):
    assert ("source", 16) == (run.imported.group_level, run.imported.cases)
    assert SCOPE in run.scored.headline
    finding = run.compare()
    assert finding.headline.endswith(SCOPE)
    assert len(finding.headline) <= 200
    assert (SCOPE, 16) == (finding.rows[0]["scope"], finding.rows[0]["n_groups"])
    assert finding.rows[0]["verdict"].endswith(SCOPE)
    reason = f"exam: Errors are by source: fewer than 6 exams cannot show how exams differ. {SCOPE}"
    assert reason in finding.notes
    assert 4 == finding.questions[0]["n_outer"]
    ranking = run.study("ranking")["ranking"]
    assert ranking.headline.endswith(SCOPE)
    assert reason in ranking.notes
    assert "exam" == row(run.status(), about="questions")["outer_level"]
    assert reason in viva("status", run.file.path).stdout
    run.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count(SCOPE) >= 3
    assert SCOPE in viva("compare", run.file.path).stdout
    assert SCOPE in json.loads(viva("compare", run.file.path, "--json").stdout)["headline"]


def test_of_too_few_exams_to_say_the_scope_stands_once(tmp_path: Path):
    assert 1 == evaluated(tmp_path, 1).compare().headline.count("Holds for this exam")


def test_a_population_that_is_fixed_has_no_scope(run: Run):
    assert not any("Holds for" in note for note in run.compare(population="fixed").notes)


def test_a_level_named_twice_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"group=exam,exam: name each level of groups once"):
        evaluated(tmp_path, map={"group": "exam,exam"})


def test_eight_exams_are_the_cases_and_nothing_is_narrow(tmp_path: Path):
    run = evaluated(tmp_path, 8)
    finding = run.compare()
    assert (8, None) == (finding.rows[0]["n_groups"], finding.rows[0]["scope"])
    assert SCOPE[:5] not in str(finding) + finding.headline
    assert "Errors are by exam, the outermost level of groups." in run.status().text


def test_a_fixed_exam_holds_for_itself(run: Run):
    assert run.compare(population="fixed").rows[0]["scope"] is None


def test_a_category_of_few_exams_is_no_reason_for_an_inner_level(tmp_path: Path):
    rows = [{**fields, "category": fields["exam"]} for fields in answered(questions(8))]
    run = viva_voce.evaluate(rows, "accuracy", to=tmp_path / "run.viva", map={"group": "exam,source"})
    assert {1} == {entry["n_groups"] for entry in run.study("gaps")["gaps"].rows if entry.get("category")}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_takes_levels_as_columns_and_lists(tmp_path: Path, suffix: str, viva: Viva):
    rows = questions(4)
    path = tmp_path / f"exam.{suffix}"
    if suffix == "csv":
        lines = [",".join(rows[0]), *(",".join(fields.values()) for fields in rows)]
        path.write_text("\n".join(lines))
        spec = f"csv(path={path}, columns=[group:exam, group:source], format=short)"
    else:
        listed = (
            {"id": f["id"], "question": f["question"], "answer": f["answer"],
             "group": [f["exam"], f["source"]], "format": "short"}
            for f in rows
        )  # fmt: skip
        path.write_text("\n".join(map(json.dumps, listed)))
        spec = f"jsonl(path={path})"
    loaded = load(spec)
    assert {(("MIR 0",), "0"), (("MIR 3",), "3")} <= {(i.outer_groups, i.group) for i in loaded.items}
    assert (("exam", "source") if suffix == "csv" else ()) == loaded.card.group_levels
    assert {"exam", "source"} & {name for i in loaded.items for name in i.meta} == set()
    listing = viva("show", spec).stdout
    assert "Errors are by" in listing
    assert "Holds for these 4" in listing


@pytest.mark.parametrize("levels", ["exam,source", "[exam, source]"])
def test_the_command_line_takes_columns_between_commas(tmp_path: Path, viva: Viva, levels: str):
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, answered(questions(4)))))
    printed = viva("import", tmp_path / "run.viva", tmp_path / "a.jsonl", "--map", f"group={levels}").stdout
    assert SCOPE in printed
    assert "not used" not in printed


def test_a_column_whose_name_holds_a_comma_is_one_level(tmp_path: Path):
    rows = [{**fields, "exam,source": fields["exam"]} for fields in answered(questions(4))]
    run = viva_voce.evaluate(rows, [], to=tmp_path / "run.viva", map={"group": "exam,source"})
    assert (None, 4) == (run.imported.group_level, run.imported.cases)


@pytest.mark.parametrize("value", ["source", "exam,source"])
def test_the_name_of_a_column_is_no_value_of_all_rows(tmp_path: Path, value: str):
    """All questions would be one case."""
    with pytest.raises(InputError, match=f"the table has such a column: --map group={value} takes it"):
        evaluated(tmp_path, map={}, set={"group": value})


def test_a_level_that_is_no_column_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no column 'sorce' to take group from"):
        evaluated(tmp_path, map={"group": "exam,sorce"})


def test_an_empty_cell_is_no_group(tmp_path: Path):
    rows = [{**f, "exam": "" if f["exam"] == "MIR 0" else f["exam"]} for f in answered(questions(7))]
    run = viva_voce.evaluate(rows, [], to=tmp_path / "run.viva", map={"group": "exam,source"})
    assert (6 + 4, "exam") == (run.imported.cases, run.imported.group_level)


def test_levels_come_through_copies_merges_redaction_and_exports(run: Run, tmp_path: Path, viva: Viva):
    expected = run.compare().rows[0]

    def same(other: Run) -> bool:
        verdict = other.compare().rows[0]
        return all(verdict[name] == expected[name] for name in ("difference", "p", "n_groups", "scope"))

    run.copy(tmp_path / "copy.viva")
    assert same(open_run(tmp_path / "copy.viva"))
    run.export(tmp_path / "redacted.viva", format="run", redact=True)
    assert same(open_run(tmp_path / "redacted.viva"))
    merged = open_run(tmp_path / "merged.viva")
    merged.merge(run.file.path)
    assert same(merged)
    run.export(tmp_path / "out", format="csv")
    again = evaluated(
        tmp_path, to=tmp_path / "again.viva", benchmark=f"csv(path={tmp_path}/out/items.csv)", map={}
    )
    assert expected["n_groups"] == again.compare().rows[0]["n_groups"]
    assert "these 4 outer groups, not for other outer groups" in again.compare().headline


def test_levels_that_were_changed_in_the_file_are_noticed(run: Run):
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute("UPDATE items SET outer_groups = '[]'")
    with pytest.raises(StoreError, match="the table of items does not fit its hash"):
        open_run(run.file.path).compare()


def test_a_run_of_one_level_has_the_hashes_that_it_had_before_there_were_levels(tmp_path: Path):
    run = evaluated(tmp_path, map={"group": "source"})
    with closing(sqlite3.connect(run.file.path)) as db:
        (stored,) = db.execute("SELECT hash FROM table_hashes WHERE name = 'items'").fetchone()
        rows = db.execute(
            'SELECT item_id, benchmark_id, item, variant, version, current, hash, alias, "group", category, '
            "format, source, origin, weight, meta FROM items ORDER BY 1, 2"
        ).fetchall()
    assert stored == hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def test_levels_that_are_declared_later_are_taken(tmp_path: Path):
    run = evaluated(tmp_path, map={"group": "source"})
    assert 4 == run.compare().rows[0]["n_groups"]
    run.import_answers(answered(questions(4)), map={"group": "exam,source"})
    assert (16, SCOPE) == tuple(run.compare().rows[0][name] for name in ("n_groups", "scope"))
