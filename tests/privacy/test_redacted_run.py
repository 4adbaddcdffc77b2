"""`viva export --format run --redact`: a run without a text, whose figures are those of the original."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import made

from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.core.errors import InputError
from vivavoce.people.packets import write_packets
from vivavoce.run.run import Run, open_run
from vivavoce.store.cases import cases_by_item, run_cases
from vivavoce.store.integrity import rehash, verify
from vivavoce.store.read import items_by_id

Viva = Callable[..., Any]
METRICS = ("accuracy", "list_f1", "exact", "token_f1", "bleu", "step_accuracy", "planted")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The sample, scored, compared and sent to raters, with words of its texts wherever a run keeps words."""
    folder = tmp_path_factory.mktemp("original")
    run = open_run(folder / "exam.viva")
    with recorded() as answers:
        run.import_answers(answers, benchmark="sample")
    run.score(*METRICS)
    run.compare(*CANDIDATES[:2], metric="accuracy")
    run.study("ranking")
    write_packets(run.file, ["ann"], folder / "packets", n=5)
    answer = longest(run)
    with run.file.writing() as db:
        db.execute("UPDATE scores SET note = ? WHERE response_id % 3 = 0", (f"it says {answer}",))
        db.execute(
            "UPDATE scores SET parts = ? WHERE response_id % 3 = 1", (json.dumps({"n": 2, "t": answer}),)
        )
        db.execute(
            "INSERT INTO calls (key, model, endpoint, repeat, kind, purpose, status, attempts, seconds, "
            "error, reply) "
            "VALUES ('hash-of-a-prompt', 'judge', '', 1, 'generate', 'judge', 'ok', 1, 0.5, ?, ?)",
            (f"error on {answer}", json.dumps({"text": f"The answer {answer} is right"})),
        )
        rehash(db)
    return run


def longest(run: Run) -> str:
    return str(max((text for text in run.responses["text"] if text), key=len))


def texts(run: Run) -> set[str]:
    """Every text of the run of 16 characters or more, and all of its words that are rare enough."""
    found: set[str] = set()
    with run.file.reading() as db:
        for item in items_by_id(db).values():
            fields = (item.question, item.context, item.false_answer, *item.options, *item.answer)
            found |= {*fields, *item.references, *item.steps, *(point.text for point in item.rubric)} - {None}
    found |= {text for text in run.responses["text"] if text}
    return {text for text in found if len(text) >= 12}


@pytest.fixture(scope="module")
def copy(original: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("copy") / "redacted.viva"
    original.export(path, format="run", redact=True)
    return open_run(path)


def test_no_byte_of_the_file_holds_a_text(original: Run, copy: Run) -> None:
    folder = copy.file.path.parent
    held = b"".join(path.read_bytes() for path in folder.iterdir())
    plain = original.file.path.read_bytes()
    secrets = texts(original)
    assert len(secrets) > 50
    for text in secrets:
        for encoded in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
            assert encoded.encode() not in held, text
    assert any(text.encode() in plain for text in secrets)
    assert b"hash-of-a-prompt" not in held
    assert b"panel secret" not in held


def test_no_cell_of_any_table_holds_a_longer_piece_of_a_text(original: Run, copy: Run) -> None:
    with closing(sqlite3.connect(copy.file.path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = "\n".join(
            str(cell) for table in tables for row in db.execute(f"SELECT * FROM {table}") for cell in row
        )
    pieces = {text[k : k + 24] for text in texts(original) for k in range(0, len(text) - 24, 12)}
    assert [] == [piece for piece in pieces if piece in cells]


def test_estimates_and_comparisons_are_byte_for_byte_those_of_the_original(original: Run, copy: Run) -> None:
    assert json.dumps(original.estimates().rows) == json.dumps(copy.estimates().rows)
    for metric in ("accuracy", "token_f1", "planted"):
        one, two = (json.dumps(run.compare(*CANDIDATES, metric=metric).rows) for run in (original, copy))
        assert one == two


def test_ids_statuses_tokens_and_cases_stay(original: Run, copy: Run) -> None:
    columns = [
        "benchmark",
        "item",
        "variant",
        "group",
        "candidate",
        "repeat",
        "status",
        "tokens",
        "seconds",
        "cost",
    ]
    assert original.responses.select(columns).equals(copy.responses.select(columns))
    assert original.scores.equals(copy.scores)
    about = [[r for r in run.status().rows if r["about"] == "benchmark"] for run in (original, copy)]
    assert about[0] == about[1] or [{**r, "spec": 0} for r in about[0]] == [
        {**r, "spec": 0} for r in about[1]
    ]


def test_it_verifies_and_is_reported(copy: Run, viva: Viva, tmp_path: Path) -> None:
    with copy.file.reading() as db:
        assert [] == [check for check in verify(db) if check.wrong]
    viva("status", copy.file.path, "--verify")
    viva("report", copy.file.path, "--to", tmp_path / "r.html")


def test_item_hashes_cannot_be_guessed_from_the_texts(original: Run, copy: Run) -> None:
    def hashes(run: Run) -> set[Any]:
        with run.file.reading() as db:
            return {
                str(digest)
                for (digest,) in db.execute("SELECT hash FROM items UNION SELECT hash FROM responses")
            }

    assert not hashes(original) & hashes(copy)


def test_the_next_copy_has_other_marks(original: Run, copy: Run, tmp_path: Path) -> None:
    original.export(tmp_path / "next.viva", format="run", redact=True)
    marks = [set(run.responses["text"]) - {"", None} for run in (copy, open_run(tmp_path / "next.viva"))]
    assert not {text for text in marks[0] & marks[1] if text.strip()}


@pytest.mark.parametrize("turned", [False, True])
def test_it_is_not_merged_with_its_original(original: Run, copy: Run, tmp_path: Path, turned: bool) -> None:
    pair = [original, copy]
    target = pair[turned].copy(tmp_path / "a.viva")
    source = pair[not turned].file.path
    with pytest.raises(
        InputError, match="is a redacted copy: its texts are gone, and it cannot be merged"
    ) as told:
        open_run(target).merge(source)
    assert str(told.value).startswith(str(target if turned else source))


def test_what_needs_texts_says_so(copy: Run, tmp_path: Path) -> None:
    sentence = "is a redacted copy: its texts are gone"
    with pytest.raises(InputError, match=sentence):
        copy.score("rouge(n=L)")
    with pytest.raises(InputError, match=sentence):
        copy.collect("sample", models=["baseline/random"])
    with recorded() as answers, pytest.raises(InputError, match=sentence):
        copy.import_answers(answers, benchmark="sample")


def test_some_items_alone_are_redacted_too(original: Run, tmp_path: Path) -> None:
    (file,) = original.export(tmp_path / "part.viva", format="run", items="sample", redact=True)
    assert original.responses.height == file.rows
    assert longest(original).encode() not in (tmp_path / "part.viva").read_bytes()


def test_questions_that_are_the_same_stay_one_case_and_short_ones_do_not_become_one(tmp_path: Path) -> None:
    """Marks by length alone would make one case of every short question."""
    asked = {"q1": "Why?", "q2": "why", "q3": "Who?", "q6": "Where is it?"}
    items = [{"item": name, "question": question} for name, question in asked.items()]
    items += [
        {"item": f"c{n}", "question": "Which step?", "false_answer": text} for n, text in enumerate("aab")
    ]
    run = made(tmp_path, {"A": dict.fromkeys([str(item["item"]) for item in items], "yes")}, items=items)
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    cases = []
    for path in (run.file.path, tmp_path / "copy.viva"):
        with open_run(path).file.reading() as db:
            cases.append((cases_by_item(db), run_cases(db).repeated))
    assert cases[0] == cases[1]
    assert 5 == len(set(cases[0][0].values()))


def test_repeats_that_differ_are_told_from_those_that_are_one_text(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": ["yes", "no", "yes"]}, "B": {"q1": ["yes"]}})
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    rows = open_run(tmp_path / "copy.viva").responses.sort("candidate", "repeat")["text"].to_list()
    assert rows[0] == rows[2] != rows[1]
    assert rows[3] not in rows[:3]


def test_tokens_of_an_answer_go_in_numbers_too(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": "yes"}})
    record = {
        "tokeniser": "abc",
        "drawn": [{"text": "Zack", "ids": [4, 7117]}],
        "likelihoods": [[-7.5, True]],
    }
    with run.file.writing() as db:
        meta = {"logprobs": [{"token": "Zack", "bytes": [90, 97]}], "n": 7118, "tokens": ["Z"], "ids": [7117]}
        db.execute(
            "UPDATE responses SET logprobs = ?, text = '', meta = ?", (json.dumps(record), json.dumps(meta))
        )
        rehash(db)
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    with open_run(tmp_path / "copy.viva").file.reading() as db:
        ((logprobs, meta_left),) = db.execute("SELECT logprobs, meta FROM responses")
    assert {"tokeniser": "abc", "likelihoods": [[-7.5, True]]} == json.loads(logprobs)
    assert {"n": 7118} == json.loads(meta_left)
