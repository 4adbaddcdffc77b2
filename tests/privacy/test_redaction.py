"""--redact: no text of a question, an answer or a note leaves, numbers do."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import exam, made, marked

from vivavoce.core.tables import ITEMS, RESPONSES
from vivavoce.privacy.redaction import TEXTS, redactor
from vivavoce.run.run import Run, open_run
from vivavoce.store.integrity import rehash

SECRETS = (
    "What hides the question of Zacharias?",
    "the key that Zacharias keeps",
    "a context of Zacharias and his ward",
    "Zacharias was given metformin at noon",
    "thinking of Zacharias and his kidneys",
    "the judge said that Zacharias is right",
    "PubMed page on Zacharias and others",
    "endpoint answered 500 about Zacharias",
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A marked run with a secret in every text."""
    question, key, context, answer, thought, note, citation, error = SECRETS
    items = [
        {"item": name, "question": question, "references": [key], "context": context} for name in ("q1", "q2")
    ]
    told = marked(tmp_path, {"A": {"q1": 0.5, "q2": 1}, "B": {"q1": 0.5}}, items=items)
    with told.file.writing() as db:
        db.execute("UPDATE responses SET text = ?, reasoning = ?, meta = ? WHERE text = '0.5'",
                   (answer, thought, json.dumps({"citations": [citation], "rank": 7})))  # fmt: skip
        db.execute("UPDATE responses SET error = ? WHERE response_id = 1", (error,))
        db.execute("UPDATE scores SET note = ?", (note,))
        db.execute("UPDATE items SET meta = ?", (json.dumps({"seen": {"by": citation}, "year": 2024}),))
        rehash(db)
        db.execute(
            "INSERT INTO calls (key, model, endpoint, repeat, kind, purpose, status, attempts, seconds, "
            "error, reply, response_id) VALUES ('hash of a prompt', 'm', 'https://a.example', 1, 'generate', "
            "'collect', 'failed', 1, 0.5, ?, ?, 1)",
            (error, answer),
        )
    return told


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_no_text_is_in_any_file(run: Run, tmp_path: Path, form: Any) -> None:
    plain, hidden = tmp_path / "plain", tmp_path / "hidden"
    run.export(plain, format=form)
    run.export(hidden, format=form, redact=True)

    def words(folder: Path) -> str:
        if form == "csv":
            return "".join(p.read_text(encoding="utf-8-sig") for p in sorted(folder.iterdir()))
        frames = [pl.read_parquet(p) for p in sorted(folder.glob("*.parquet"))]
        return "".join(str(frame.to_dicts()) for frame in frames)

    assert all(secret in words(plain) for secret in SECRETS)
    assert "Zacharias" not in words(hidden)


def test_numbers_ids_and_states_stay(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "plain", format="parquet")
    run.export(tmp_path / "hidden", format="parquet", redact=True)
    for table, dropped in (("items", ITEMS), ("responses", RESPONSES), ("scores", ()), ("estimates", ())):
        one, other = (pl.read_parquet(tmp_path / f / f"{table}.parquet") for f in ("plain", "hidden"))
        assert one.schema == other.schema
        kept = [c for c in one.columns if c not in (*TEXTS, "meta", "parts")]
        assert one.select(kept).equals(other.select(kept)), table
        assert not dropped or set(dropped) == set(one.columns)


def test_equal_texts_have_equal_marks_and_the_next_export_has_others(run: Run, tmp_path: Path) -> None:
    found = []
    for k in range(2):
        run.export(tmp_path / str(k), format="parquet", redact=True)
        texts = pl.read_parquet(tmp_path / str(k) / "responses.parquet").filter(item="q1")["text"].to_list()
        assert 1 == len(set(texts))
        assert re.fullmatch(r"\[redacted: 37 characters, hmac [0-9a-f]{8}\]", texts[0])
        found.append(texts[0])
    assert found[0] != found[1]


def test_short_texts_are_not_told_apart(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "t", format="parquet", redact=True)
    assert ["[redacted: short]"] == pl.read_parquet(tmp_path / "t" / "responses.parquet").filter(item="q2")[
        "text"
    ].to_list()


def test_numbers_in_further_fields_stay_and_lists_stay_lists() -> None:
    frame = pl.DataFrame(
        {"meta": ['{"a": {"b": ["a text that is long enough", 3]}, "n": 2.5, "x": null, "y": true}'],
         "parts": ['{"tp": 1, "fp": 0}'], "options": [["yes", "a text that is long enough"]], "text": [""],
         "note": [None]},
        schema_overrides={"note": pl.String},
    )  # fmt: skip
    (found,) = redactor()(frame).to_dicts()
    meta = json.loads(found["meta"])
    assert (3, 2.5, None, True) == (meta["a"]["b"][1], meta["n"], meta["x"], meta["y"])
    assert {"tp": 1, "fp": 0} == json.loads(found["parts"])
    assert found["options"][1] == meta["a"]["b"][0]
    assert "[redacted: short]" == found["options"][0]
    assert ("", None) == (found["text"], found["note"])


def test_an_empty_table_is_redacted_to_itself() -> None:
    frame = pl.DataFrame(schema={"text": pl.String, "options": pl.List(pl.String), "value": pl.Float64})
    assert frame.equals(redactor()(frame))


def test_a_text_of_half_a_surrogate_is_redacted() -> None:
    assert redactor()(pl.DataFrame({"text": ["\U0001f600 " * 9]}))["text"][0].startswith("[redacted: 18")


def test_the_readme_says_what_was_done_and_what_stays(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "t", format="csv", redact=True)
    said = (tmp_path / "t" / "README.txt").read_text(encoding="utf-8")
    assert "Texts are redacted" in said
    assert "labels of candidates" in " ".join(said.split())
    assert "Answers are raw" not in said
    run.export(tmp_path / "t", format="csv")
    assert "redacted" not in (tmp_path / "t" / "README.txt").read_text(encoding="utf-8")


def test_the_report_shows_no_text_and_the_same_figures(run: Run, tmp_path: Path) -> None:
    plain = run.report_rows(tmp_path / "plain.html")
    hidden = run.report_rows(tmp_path / "hidden.html", redact=True)
    page = (tmp_path / "hidden.html").read_text(encoding="utf-8")
    assert "Zacharias" in (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "Zacharias" not in page
    assert "Zacharias" not in json.dumps(hidden)
    assert "[redacted: 37 characters, hmac " in page
    for section in ("leaderboard", "run", "identical repeats", "compliance"):
        assert [r for r in plain if r["section"] == section] == [r for r in hidden if r["section"] == section]
    assert any("redacted here" in r["text"] for r in hidden if r["section"] == "limitation")


def test_why_a_mark_failed_is_redacted_under_the_examiners_too(run: Run, tmp_path: Path) -> None:
    with run.file.writing() as db:
        db.execute("UPDATE scores SET status_id = 3, value = NULL WHERE response_id = 3")
        rehash(db)
    run.report(tmp_path / "plain.html")
    run.report(tmp_path / "hidden.html", redact=True)
    plain, hidden = ((tmp_path / f"{n}.html").read_text(encoding="utf-8") for n in ("plain", "hidden"))
    assert "failed: 1 × the judge said that Zacharias" in plain
    assert "Zacharias" not in hidden


def test_repeats_that_are_one_text_are_told_from_the_texts(tmp_path: Path) -> None:
    """Two short answers are redacted alike; they are not alike for that."""
    run = made(tmp_path, {"A": {"q1": ["yes", "no"]}})
    hidden = run.report_rows(tmp_path / "r.html", redact=True)
    assert [] == [r for r in hidden if r["section"] == "identical repeats"]


def test_the_command_line_redacts_both(run: Run, tmp_path: Path, viva: Callable[..., Any]) -> None:
    viva("export", run.file.path, tmp_path / "t", "--to", "csv", "--redact")
    viva("report", run.file.path, "--to", tmp_path / "r.html", "--redact")
    for path in (*(tmp_path / "t").iterdir(), tmp_path / "r.html"):
        assert "Zacharias" not in path.read_text(encoding="utf-8")


# Calls


def test_calls_are_exported_without_keys_and_replies(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "t", format="csv", table=["calls"])
    (found,) = csv.DictReader((tmp_path / "t" / "calls.csv").read_text(encoding="utf-8-sig").splitlines())
    assert ("m", "https://a.example", "1", "failed") == tuple(
        found[k] for k in ("model", "endpoint", "attempts", "status")
    )
    assert ("exam", "q1", "A") == tuple(found[k] for k in ("benchmark", "item", "candidate"))
    assert "" == found["cost"]
    assert not {"key", "reply", "response_id"} & set(found)
    assert "hash of a prompt" not in str(found)


def test_calls_of_other_items_stay_behind(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    run.collect(exam(tmp_path, ["q1", "q2"]), models=["baseline/echo"])
    (tmp_path / "one").mkdir()
    one = exam(tmp_path / "one", ["q1"])
    run.export(tmp_path / "t", format="parquet", items=one)
    assert ["q1"] == pl.read_parquet(tmp_path / "t" / "calls.parquet")["item"].to_list()
    run.export(tmp_path / "part.viva", format="run", items=one)
    part = open_run(tmp_path / "part.viva")
    assert [1] == [row["calls"] for row in part.status().rows if row["about"] == "calls"]


def test_a_run_without_calls_has_an_empty_table_of_them(tmp_path: Path) -> None:
    made(tmp_path, {"A": {"q1": 1}}).export(tmp_path / "t", format="parquet", table=["calls"])
    frame = pl.read_parquet(tmp_path / "t" / "calls.parquet")
    assert (0, pl.Float64) == (frame.height, frame.schema["cost"])
