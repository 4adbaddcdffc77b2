"""Whatever is exported with --redact: no text leaves. Whatever is CSV: no text runs as a formula.

Every registered exporter is asked. It writes no text, or refuses with a sentence.
"""

import csv
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.people.annotators import write_rows
from tests.people.raters import lines
from tests.studies.making import made, score

from vivavoce.core import registry
from vivavoce.core.errors import VivaError
from vivavoce.people.packets import write_packets
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run, open_run
from vivavoce.store.integrity import rehash
from vivavoce.store.read import hashed_items
from vivavoce.studies.facts.rows import FactsRow

MARK = re.compile(r"zq\d\dmarker", re.IGNORECASE)
_SAID = "a sentence of some length, in which zq{:02}marker stands"
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "preferences": {"metric": "exact", "margin": 0.5},
    "label_studio": {"task": "rank"},
    "argilla": {"task": "review"},
}
"""What an exporter cannot be asked without; without `--redact` it then writes the run of these tests."""


class Marks:
    """Texts that are told apart in whatever is written: each has a word of its own."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """A sentence for a field of this name."""
        self.names.setdefault(name, _SAID.format(len(self.names)))
        return self.names[name]


@pytest.fixture(scope="module")
def marks() -> Marks:
    return Marks()


@pytest.fixture(scope="module")
def run(marks: Marks, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a text of its own wherever a run holds words of an exam, an answer or a person."""
    folder = tmp_path_factory.mktemp("marked")
    items = [
        {
            "item": f"q{n}",
            "question": marks(f"question {n}"),
            "references": [marks(f"reference {n}")],
            "context": marks("context"),
            "source": marks("source"),
            "page_of_book": marks("meta of an item"),
        }
        for n in (1, 2)
    ]
    closed = {
        "item": "m1",
        "format": "mcq",
        "question": marks("question 3"),
        "options": [marks("option 1"), marks("option 2")],
        "answer": marks("option 1"),
    }
    answers: dict[str, dict[str, Any]] = {
        who: {"q1": marks(f"answer 1 of {who}"), "q2": marks(f"answer 2 of {who}"), "m1": "A"}
        for who in ("Able", "Fair")
    }
    talk = {
        "item": "c1",
        "format": "conversation",
        "question": "",
        "references": [marks("reference 3")],
        "messages": [
            {"role": "system", "content": marks("system message")},
            {"role": "user", "content": marks("first message")},
            {"role": "assistant", "content": marks("reply in the exam")},
            {"role": "user", "content": marks("last message")},
        ],
    }
    answers["Able"]["c1"] = marks("answer 3 of Able")
    run = made(folder, answers, items=[*items, closed, talk])
    score(run, "exact", "accuracy", "token_f1")
    run.compare("Able", "Fair", metric="token_f1")
    _reviewed(run, marks, folder)
    _ranked(run, marks, folder)
    _imported(run, marks, folder)
    with run.file.writing() as db:
        _write_everywhere(db, marks)
        rehash(db)
    return run


def _reviewed(run: Run, marks: Marks, folder: Path) -> None:
    row = {"item": "q1", "category": "dosing", "rater": "anna", "correct": "yes", "relevance": 4}
    words = {name: marks(name) for name in ("comment", "dispute", "proposed_edit")}
    (folder / "reviews.jsonl").write_text(json.dumps(row | words) + "\n")
    run.import_ballots(folder / "reviews.jsonl")


def _ranked(run: Run, marks: Marks, folder: Path) -> None:
    write_packets(run.file, ["anna"], folder / "packets", criterion=marks("criterion"))
    rows = lines(folder / "packets" / "anna.csv")
    body: dict[str, Any] = {"schema": "viva.panel.ballot/1", "panel": rows[0]["panel"], "rater": "anna"}
    items: dict[str, dict[str, Any]] = {}
    for row in rows:
        item = items.setdefault(row["item"], {**_of_item(row), "answers": [], "remark": marks("remark")})
        rank = len(item["answers"]) + 1
        entry = {"label": row["label"], "answer": row["answer"], "rank": rank, "tag": "good"}
        item["answers"].append(entry | {"clearly_wrong": False})
    ballot = folder / "ballot.json"
    ballot.write_text(json.dumps(body | {"items": list(items.values())}))
    store_ballots(run.file, [ballot])


def _of_item(row: Mapping[str, str]) -> dict[str, str]:
    about = {name: row[name] for name in ("item", "seal", "question")}
    return (
        about | {"question": next(text for text in [row["question"]] if text)} if row["question"] else about
    )


def _imported(run: Run, marks: Marks, folder: Path) -> None:
    """A log of a tool that calls a prompt by its words, with what a grader replied."""
    result = {
        "vars": {"question": marks("question of a log")},
        "prompt": {"raw": "a prompt", "label": marks("label of a prompt")},
        "promptIdx": 0,
        "testIdx": 0,
        "response": {"output": marks("answer of a log")},
        "score": 1,
        "success": True,
        "gradingResult": {"pass": True, "score": 1, "reason": "so", "componentResults": []},
        "provider": {"id": "echo", "label": ""},
        "testCase": {"vars": {}, "assert": []},
        "failureReason": 0,
    }
    prompts = [{"raw": "a prompt", "label": marks("label of a prompt"), "provider": "echo"}]
    log = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-11-22T10:00:00Z",
            "prompts": prompts,
            "results": [result],
        },
        "config": {"description": "d"},
        "metadata": {"promptfooVersion": "0.121.20"},
    }
    run.import_logs(write_rows(folder / "out.json", log))


def _write_everywhere(db: sqlite3.Connection, marks: Marks) -> None:
    """What the verbs of these tests leave empty."""
    listed = {name: json.dumps([marks(name)]) for name in ("must", "nice", "steps")}
    rubric = json.dumps([{"unit": marks("unit name"), "text": marks("point"), "weight": 2.0}])
    db.execute(
        "UPDATE items SET (must, nice, steps, false_answer, rubric) = (?, ?, ?, ?, ?) WHERE item = 'q1'",
        (*listed.values(), marks("false answer"), rubric),
    )
    for stored in list(hashed_items(db)):
        assert stored.item is not None
        db.execute("UPDATE items SET hash = ? WHERE item_id = ?", (stored.item.hash, stored.key))
    db.execute(
        "UPDATE responses SET (reasoning, meta) = (?, ?) WHERE response_id = 1",
        (marks("reasoning"), json.dumps({"citations": [marks("citation")]})),
    )
    db.execute("UPDATE responses SET error = ? WHERE response_id = 2", (marks("error"),))
    db.execute(
        "UPDATE scores SET (note, parts) = (?, ?) WHERE unit_id = 0 AND ballot_id = 0 AND note IS NULL",
        (marks("note"), json.dumps({"t": marks("part")})),
    )
    db.execute("INSERT INTO units (unit, text) VALUES (?, ?)", (marks("unit"), marks("text of a unit")))
    measure, response = db.execute("SELECT measure_id, response_id FROM scores LIMIT 1").fetchone()
    (unit,) = db.execute("SELECT max(unit_id) FROM units").fetchone()
    place = (measure, response, unit, 0, 1)
    db.execute(
        "INSERT INTO scores (measure_id, response_id, unit_id, ballot_id, pass_no, value, status_id) "
        "VALUES (?, ?, ?, ?, ?, 1, 0)",
        place,
    )
    texts = (marks("passage"), marks("version"), marks("file"), marks("quote"))
    db.execute("INSERT INTO passages (hash, source, version, file, quote) VALUES ('h', ?, ?, ?, ?)", texts)
    (passage,) = db.execute("SELECT max(passage_id) FROM passages").fetchone()
    db.execute("INSERT INTO evidence VALUES (?, ?, ?, ?, ?, 1, ?, 'supports')", (*place, passage))
    db.execute(
        "INSERT INTO calls (key, model, endpoint, repeat, kind, purpose, status, attempts, seconds, error, "
        "reply) VALUES ('k', 'judge', '', 1, 'generate', 'judge', 'ok', 1, 0.5, ?, ?)",
        (marks("error of a call"), json.dumps({"text": marks("reply")})),
    )
    db.execute(
        "INSERT INTO findings (study, settings, rows) VALUES ('facts', '{}', ?)",
        (json.dumps([asdict(_false_fact(marks("false fact")))]),),
    )
    db.execute(
        "INSERT INTO provenance (verb, body) VALUES ('collect', ?)",
        (json.dumps({"system": marks("system prompt"), "settings": {"prompt": marks("prompt of a verb")}}),),
    )
    list_id = db.execute(
        "INSERT INTO exclusion_lists (benchmark_id, spec, signature, items) "
        "VALUES (1, 'theirs(path=x)', 's', 3)"
    ).lastrowid
    db.execute(
        'INSERT INTO exclusions (list_id, file, "row", reason) VALUES (?, ?, 1, ?)',
        (list_id, "f.csv", marks("reason of an exclusion")),
    )
    step = db.execute(
        "INSERT INTO build_steps (recipe, step, spec, signature, input, facts) "
        "VALUES ('r', 's', 'x', 'y', 'i', '{}')"
    ).lastrowid
    body = json.dumps({"text": marks("part of a build")})
    text = db.execute("INSERT INTO build_texts (hash, body) VALUES ('h', ?)", (body,)).lastrowid
    db.execute(
        "INSERT INTO build_parts VALUES (?, 1, ?, 'dropped', 'reason', ?)", (step, text, marks("detail"))
    )


def _false_fact(text: str) -> FactsRow:
    measure = {"benchmark": "exam", "metric": "atomic_facts", "criterion": "clean", "rater": ""}
    return FactsRow(**measure, signature="s", part="false", figure="fact", text=text)


def everything(path: Path) -> Iterator[str]:
    """All that can be read in a file or a folder: its names, its bytes, and what is packed in them."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        yield file.name
        if file.is_dir():
            continue
        data = file.read_bytes()
        yield data.decode("utf-8", "replace")
        yield data.decode("utf-16-le", "replace")
        if data.startswith(b"PAR1"):
            yield json.dumps(pl.read_parquet(file).to_dicts(), default=str)
        elif data.startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
                yield "\n".join(db.iterdump())
        elif data.startswith(b"PK"):
            yield from _members(file)


def _members(file: Path) -> Iterator[str]:
    try:
        with zipfile.ZipFile(file) as archive:
            packed = [archive.read(name) for name in archive.namelist()]
    except NotImplementedError:  # Zstandard, before Python 3.14
        from backports.zstd.zipfile import ZipFile

        with ZipFile(file) as archive:
            packed = [archive.read(name) for name in archive.namelist()]
    yield from (data.decode("utf-8", "replace") for data in packed)


def found(path: Path) -> set[str]:
    return {word.lower() for text in everything(path) for word in MARK.findall(text)}


def exporters() -> list[str]:
    return sorted(entry.name for entry in registry.entries("exporter") if entry.origin == "vivavoce")


def test_the_run_of_these_tests_holds_every_mark(run: Run, marks: Marks, tmp_path: Path) -> None:
    run.export(tmp_path / "whole.viva", format="run")
    run.export(tmp_path / "tables", format="parquet")
    expected = {word.lower() for text in marks.names.values() for word in MARK.findall(text)}
    assert len(marks.names) == len(expected) > 40
    assert expected == found(tmp_path / "whole.viva")
    assert len(expected) - 12 < len(found(tmp_path / "tables"))


@pytest.mark.parametrize("name", exporters())
def test_no_text_of_a_run_is_in_a_redacted_export(run: Run, tmp_path: Path, name: str) -> None:
    to = tmp_path / "out"
    try:
        run.export(to, format=name, redact=True, **OPTIONS.get(name, {}))
    except VivaError as refusal:
        assert "redact" in str(refusal), name  # noqa: PT017 - an exporter may do either
        assert [] == list(tmp_path.iterdir())
    else:
        assert to.exists()
        assert set() == found(tmp_path)


@pytest.mark.parametrize("name", exporters())
def test_no_exporter_has_texts_in_a_redacted_run(run: Run, tmp_path: Path, name: str) -> None:
    """A redacted copy has none to give: what is exported of it without `--redact` holds none either."""
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    to = tmp_path / "out"
    try:
        open_run(tmp_path / "copy.viva").export(to, format=name, **OPTIONS.get(name, {}))
    except VivaError:
        assert not to.exists()
    else:
        assert set() == found(to)


def test_a_redacted_report_holds_no_text(run: Run, tmp_path: Path) -> None:
    run.report(to=tmp_path / "report.html", redact=True)
    assert set() == found(tmp_path / "report.html")


FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "\ufeff=1",
    '"=1',
    "\ufeff '\"  +cmd|' /C calc'!A0",
    "＝1",
    "'=1",
)
RUNS = re.compile(r'[\s\ufeff"]*[=+\-@＝＋－＠]|[\t\r]')
"""How a text begins that a spreadsheet could run, perhaps after cleaning it; an apostrophe first stops it."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run in which every text that others write begins as a formula does."""
    folder = tmp_path_factory.mktemp("hostile")
    items = [
        {
            "item": f"{formula.strip()} {n}",
            "category": formula.strip(),
            "question": formula,
            "references": [f"{formula} for {n}"],
            "context": formula,
            "source": formula,
            "page_of_book": formula,
        }
        for n, formula in enumerate(FORMULAS)
    ]
    answers = {
        who: {item["item"]: f"{FORMULAS[n]} by {who}" for n, item in enumerate(items)}
        for who in ("=Able()", "+Fair", "@Poor")
    }
    run = made(folder, answers, items=items)
    score(run, "exact", "token_f1")
    run.compare("=Able()", "+Fair", metric="token_f1")
    with run.file.writing() as db:
        for n, formula in enumerate(FORMULAS, 1):
            texts = (formula, formula)
            db.execute("UPDATE responses SET (reasoning, error) = (?, ?) WHERE response_id = ?", (*texts, n))
            db.execute("UPDATE scores SET note = ? WHERE response_id = ?", (formula, n))
        rehash(db)
    return run


def cells(path: Path) -> Iterator[str]:
    """The cells of the CSV and TSV files in a folder that hold no number."""
    for file in sorted(path.rglob("*")):
        if file.suffix.lower() not in (".csv", ".tsv"):
            continue
        text = file.read_bytes().decode("utf-8-sig")
        sign = "\t" if file.suffix.lower() == ".tsv" else ","
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign):
            yield from (cell for cell in row if not re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell))


@pytest.mark.parametrize("redact", [False, True])
@pytest.mark.parametrize("name", exporters())
def test_no_cell_of_any_export_can_run(hostile: Run, tmp_path: Path, name: str, redact: bool) -> None:
    options = {**OPTIONS.get(name, {}), **({"redact": True} if redact else {})}
    try:
        hostile.export(tmp_path / "out", format=name, **options)
    except VivaError:
        return
    assert [] == [cell for cell in cells(tmp_path) if RUNS.match(cell)]
    if name == "csv" and not redact:
        texts = set(cells(tmp_path))
        assert {f"'{formula}" for formula in FORMULAS} <= texts


def test_no_cell_of_a_packet_can_run(hostile: Run, tmp_path: Path) -> None:
    write_packets(hostile.file, ["anna"], tmp_path / "out", criterion="=1+1 which is better?")
    found_cells = list(cells(tmp_path / "out"))
    assert len(found_cells) > 3 * len(FORMULAS)
    assert [] == [cell for cell in found_cells if RUNS.match(cell)]
