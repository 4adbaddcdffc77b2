"""Forgetting: no byte of what is forgotten stays in the file or beside it, and the rest goes on."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.studies.making import answer_rows, exam, write_lines

from vivavoce.core.errors import InputError, RunNotFound, SelectionError, StoreError
from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Measure, Unit, Value
from vivavoce.run.run import Run, open_run
from vivavoce.store.cases import near_pairs
from vivavoce.store.forgotten import forgotten
from vivavoce.store.write import ScoreRow, put_event, put_finding, put_measures, put_scores

QUESTION = "Maria Quintanilla, 54, came with zyloprexia after the ferry accident of Tallinn; what now?"
ANSWER = "Give Maria Quintanilla 40 mg of hexaflorin and watch her zyloprexia closely."
OF_QUESTION = ("Quintanilla", "zyloprexia", "ferry accident", "Tallinn")
OF_ANSWER = ("hexaflorin", "watch her")
OTHERS = {"q2": "How is asthma treated?", "q3": "How is gout treated?", "q4": "How is scabies treated?"}


def planted(folder: Path) -> Run:
    """A run in which the words of a question and of the answers to it stand wherever they can."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [
        {
            "item": "q1",
            "question": QUESTION,
            "references": ["Stop hexaflorin for her zyloprexia."],
            "source": "letter about Quintanilla",
            "meta": {"ward": "Tallinn ward"},
        },
        {"item": "q1", "variant": "made", "question": f"Again: {QUESTION}", "references": ["Stop."]},
        *({"item": name, "question": text, "references": ["With care."]} for name, text in OTHERS.items()),
    ]
    spec = exam(folder, items)
    answers = {
        "A": {
            "q1": [ANSWER, f"{ANSWER} Again."],
            "q1|made": ANSWER,
            **dict.fromkeys(OTHERS, "With care and rest."),
        },
        "B": {
            "q1": "Send Quintanilla home.",
            "q1|made": "Home.",
            **dict.fromkeys(OTHERS, "With nothing at all."),
        },
    }
    run = open_run(folder / "exam.viva")
    run.import_answers(write_lines(folder / "answers.jsonl", answer_rows(answers)), benchmark=spec)
    run.score("rouge(n=1)")
    with run.file.writing() as db:
        keys = dict(
            db.execute(
                "SELECT candidate || item || variant || repeat, response_id FROM responses "
                "JOIN items USING (item_id) JOIN candidates USING (candidate_id)"
            )
        )
        measure = Measure(
            metric="facts", signature="facts()@1", rater="judge", criterion=Criterion(criterion="true")
        )
        (number,) = put_measures(db, [measure])
        put_scores(
            db,
            number,
            [
                ScoreRow(
                    keys["Aq11"],
                    Value(
                        1.0,
                        note="Quintanilla got hexaflorin",
                        evidence=(
                            Evidence(
                                "letter",
                                "1",
                                "letter.txt",
                                None,
                                None,
                                "Quintanilla had zyloprexia",
                                "supports",
                            ),
                        ),
                    ),
                    unit=Unit(unit="1", text="Maria got hexaflorin"),
                ),
                ScoreRow(
                    keys["Aq11"], Value(0.0), unit=Unit(unit="2", text="She was to watch her zyloprexia")
                ),
                ScoreRow(keys["Aq21"], Value(1.0), unit=Unit(unit="1", text="Care was given")),
                ScoreRow(
                    keys["Bq11"], Value(1.0, note="B beats 40 mg of hexaflorin"), ballot="pair", position=1
                ),
                ScoreRow(keys["Aq11"], Value(0.0), ballot="pair", position=2),
            ],
        )
        db.execute(
            "INSERT INTO calls "
            "(key, model, endpoint, repeat, kind, purpose, status, attempts, seconds, reply) "
            "VALUES ('k', 'judge', 'local', 1, 'generate', 'judge', 'ok', 1, 0.1, ?)",
            (json.dumps("The answer names hexaflorin for Quintanilla"),),
        )
        place = {"benchmark": "exam", "item": "q1", "variant": ""}
        put_event(db, "review comment", {**place, "rater": "anna", "text": "Quintanilla is real"})
        put_event(
            db,
            "facts verified",
            {
                **place,
                "candidate": "A",
                "repeat": 1,
                "rater": "anna",
                "pass": 1,
                "facts": [{"fact": "hexaflorin", "verdict": "true", "source": "x"}],
            },
        )
        put_event(
            db,
            "panel ballots replaced",
            {
                "panel": "p",
                "rater": "anna",
                "changes": [
                    {
                        "item": "q1",
                        "answer": "A",
                        "criterion": "the remark",
                        "before": "hexaflorin!",
                        "after": None,
                    }
                ],
            },
        )
        put_event(db, "review comment", {**place, "item": "q2", "rater": "anna", "text": "asthma is fine"})
        put_finding(db, "mine", {}, [{"item": "q1", "candidate": "A", "example": "40 mg of hexaflorin"}])
        put_finding(db, "mine", {}, [{"text": "the ferry accident of Tallinn"}])
    return run


def leaks(folder: Path, words: tuple[str, ...]) -> list[tuple[str, str]]:
    """The words that stand in files of a folder that are made of a run, and in which."""
    return [
        (path.name, word)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".jsonl",)
        for word in words
        if word.encode() in path.read_bytes() or word.encode("utf-16-le") in path.read_bytes()
    ]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return planted(tmp_path)


def estimates(run: Run) -> list[tuple]:
    rows = run.score("rouge(n=1)").rows
    return [tuple(row.values()) for row in rows]


def is_clean(run: Run) -> bool:
    return not [check for check in run.verify() if check.wrong]


def test_no_byte_of_a_question_stays(run, tmp_path):
    assert {word for _, word in leaks(tmp_path, OF_QUESTION + OF_ANSWER)} == {*OF_QUESTION, *OF_ANSWER}
    original = estimates(run)
    finding = run.forget(items=["q1"])
    assert [] == leaks(tmp_path, OF_QUESTION + OF_ANSWER)
    assert {"questions": 2, "answers": 5} == {row["about"]: row["n"] for row in finding.rows[:2]}
    assert (original, True) == (estimates(run), is_clean(run))


def test_no_byte_of_an_answer_stays_and_the_question_does(run, tmp_path):
    original = estimates(run)
    run.forget(responses=["A:q1"])
    assert [] == leaks(tmp_path, ("40 mg of hexaflorin", "watch her", "Maria got"))
    assert QUESTION in run.items["question"].to_list()
    assert "Send Quintanilla home." in run.responses["text"].to_list()
    assert (original, True) == (estimates(run), is_clean(run))


def test_all_answers_of_a_candidate_go_with_their_words(run, tmp_path):
    original = estimates(run)
    run.forget(candidates=["A"])
    assert [] == leaks(tmp_path, ("40 mg of", "watch her", "Maria got", "care and rest"))
    assert "With nothing at all." in run.responses["text"].to_list()
    assert (original, True) == (estimates(run), is_clean(run))


def test_remarks_on_other_questions_stay(run):
    run.forget(items=["q1"])
    with run.file.reading() as db:
        bodies = [body for (body,) in db.execute("SELECT body FROM events WHERE kind = 'review comment'")]
    assert ["asthma is fine" in body for body in bodies] == [False, True]


def test_scores_go_on_request_and_hashes_stay_on_request(run):
    with run.file.reading() as db:
        (digest,) = db.execute("SELECT hash FROM items WHERE item = 'q1' AND variant = ''").fetchone()
    n = len(run.scores)
    run.forget(items=["q1"], keep_hashes=True, drop_scores=True)
    assert digest.encode() in run.file.path.read_bytes()
    assert 0 == len(run.scores.filter(item="q1")) < n
    assert is_clean(run)


def test_without_the_option_no_hash_of_a_text_stays(run):
    with run.file.reading() as db:
        digests = [
            d
            for (d,) in db.execute(
                "SELECT hash FROM items WHERE item = 'q1' UNION SELECT r.hash FROM "
                "responses r JOIN items USING (item_id) WHERE item = 'q1'"
            )
        ]
    run.forget(items=["q1"])
    assert not [d for d in digests if d.encode() in run.file.path.read_bytes()]


def test_a_new_metric_sets_forgotten_answers_aside_and_says_so(run):
    run.forget(responses=["A:q1:1"])
    finding = run.score("rouge(n=2)")
    scores = run.scores.filter(metric="rouge(n=2)", candidate="A", item="q1", variant="")
    assert {1: "set_aside", 2: "ok"} == dict(scores.select("repeat", "status").iter_rows())
    assert any("Forgotten on request" in note for note in finding.notes)


def test_what_is_said_of_the_run_says_what_was_forgotten(run, tmp_path):
    run.forget(items=["q1"])
    assert "the texts of 2 questions and 5 answers" in run.status().text
    assert any("Forgotten on request" in note for note in run.compare("A", "B").notes)
    run.report(tmp_path / "report.html")
    assert "Forgotten on request" in (tmp_path / "report.html").read_text()
    for form in ("parquet", "csv"):
        run.export(tmp_path / form, format=form)
    run.export(tmp_path / "part.viva", format="run")
    run.copy(tmp_path / "copy.viva")
    assert [] == leaks(tmp_path, OF_QUESTION + OF_ANSWER)
    for name in ("part.viva", "copy.viva"):
        assert is_clean(open_run(tmp_path / name))
        assert "Forgotten on request" in open_run(tmp_path / name).status().text


def test_a_dry_run_changes_nothing(run):
    original = run.file.path.read_bytes()
    finding = run.forget(items=["q1"], dry_run=True)
    assert finding.text.startswith("Would overwrite the texts of 2 questions and 5 answers")
    assert original == run.file.path.read_bytes()


def test_what_is_forgotten_already_stays_so(run):
    run.forget(responses=["A:q1"])
    assert "forgotten already" in run.forget(responses=["A:q1"]).text
    assert 5 - 3 == run.forget(items=["q1"]).rows[1]["n"]
    assert is_clean(run)


@pytest.mark.parametrize(
    ("selection", "sentence"),
    [
        ({}, "name what to forget in one way"),
        ({"items": ["q1"], "candidates": ["A"]}, "name what to forget in one way"),
        ({"items": ["q9"]}, "no item 'q9'"),
        ({"candidates": ["Z"]}, "no candidate 'Z'"),
        ({"responses": ["A"]}, "names no answer"),
        ({"responses": ["A:q1:9"]}, "names no answer"),
    ],
)
def test_a_name_that_selects_nothing_is_refused(run, selection, sentence):
    with pytest.raises((InputError, SelectionError), match=sentence):
        run.forget(**selection)


def test_a_question_that_stands_twice_must_be_named_twice(tmp_path):
    spec = exam(tmp_path, [{"item": name, "question": QUESTION} for name in ("q1", "q2")] + ["q3"])
    run = open_run(tmp_path / "exam.viva")
    rows = answer_rows({"A": {"q1": "x", "q2": "y", "q3": "z"}})
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    with pytest.raises(SelectionError, match="the item q2 of exam too"):
        run.forget(items=["q1"])
    run.forget(items=["q1", "q2"])
    assert [] == leaks(tmp_path, OF_QUESTION)


def test_answers_that_are_word_for_word_the_same_are_named(run):
    run.forget(responses=["A:q1:1"])
    finding = run.forget(responses=["A:q2"])
    assert () == finding.notes  # its twins answer other questions
    with run.file.writing() as db:
        db.execute(
            "UPDATE responses SET text = 'A long and equal text.' WHERE item_id IN "
            "(SELECT item_id FROM items WHERE item = 'q3')"
        )
        from vivavoce.store.integrity import rehash

        rehash(db)
    assert "the answer of B to q3 (repeat 1)" in run.forget(responses=["A:q3"]).notes[0]


def test_merging_with_a_run_that_holds_the_text_does_not_bring_it_back(tmp_path):
    run = planted(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    n = len(run.scores)
    run.forget(items=["q1"])
    (merged,) = run.merge(tmp_path / "there" / "exam.viva")
    assert any("What was forgotten here stays so" in note for note in merged.notes)
    assert [] == leaks(tmp_path / "here", OF_QUESTION + OF_ANSWER)
    assert (n, True) == (len(run.scores), is_clean(run))
    run.merge(tmp_path / "there" / "exam.viva")
    assert (n, True) == (len(run.scores), is_clean(run))


def test_scores_that_went_do_not_come_back_by_a_merge(tmp_path):
    run = planted(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    run.forget(responses=["A:q1"], drop_scores=True)
    n = len(run.scores)
    run.merge(tmp_path / "there" / "exam.viva")
    assert (n, True) == (len(run.scores), is_clean(run))
    assert [] == leaks(tmp_path / "here", ("40 mg of hexaflorin", "watch her"))


def test_a_run_that_holds_what_the_other_forgot_is_told_to_forget_first(tmp_path):
    run = planted(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    second = open_run(tmp_path / "there" / "exam.viva")
    second.forget(items=["q1"])
    with pytest.raises(InputError, match=r"still holds: `viva forget .* --item exam/q1` first"):
        run.merge(second.file.path)
    run.forget(items=["q1"])
    n = len(run.scores)
    run.merge(second.file.path)
    assert (n, True) == (len(run.scores), is_clean(run))


def test_the_commands_before_a_merge_name_all_that_the_other_run_forgot(tmp_path):
    (tmp_path / "here").mkdir()
    run = closed_run(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    second = open_run(tmp_path / "there" / "exam.viva")
    second.forget(items=["frage-3", "frage-5"])
    second.forget(candidates=["bén"])
    second.forget(responses=["anna:frage-2"])
    with pytest.raises(InputError) as refused:
        run.merge(second.file.path)
    for options in (
        "--item exam/frage-3 --item exam/frage-5`", "--candidate 'bén'`", "--response anna:exam/frage-2:1`"
    ):  # fmt: skip
        assert options in str(refused.value)
    run.forget(items=["exam/frage-3", "exam/frage-5"])
    run.forget(candidates=["bén"])
    run.forget(responses=["anna:exam/frage-2:1"])
    run.merge(second.file.path)
    assert is_clean(run)


def closed_run(folder: Path) -> Run:
    """Four questions with options, each answered by two candidates."""
    options = {"A": "Rest", "B": "Aspirin", "C": "Iron", "D": "Zinc"}
    texts = {f"frage-{n}": f"A man of {n}0 years has a cold. What helps him best?" for n in range(2, 6)}
    items = [
        {"item": name, "format": "mcq", "question": text, "options": options, "answer": "A"}
        for name, text in texts.items()
    ]
    run = open_run(folder / "exam.viva")
    rows = answer_rows({name: dict.fromkeys(texts, letter) for name, letter in (("anna", "A"), ("bén", "B"))})
    run.import_answers(write_lines(folder / "answers.jsonl", rows), benchmark=exam(folder, items))
    return run


@pytest.mark.parametrize("restricted", [False, True])
def test_variations_leave_forgotten_questions_out_and_vary_the_others(tmp_path, restricted):
    run = closed_run(tmp_path)
    run.forget(items=["frage-3"])
    run.forget(responses=["anna:frage-4"])
    items = f"jsonl(path='{tmp_path}/exam.jsonl')" if restricted else None
    rows = {row["what"]: row for row in run.vary("bias(type=recency, seed=1)", items=items).rows}
    assert {"its text was forgotten": 1} == rows["questions"]["reasons"]
    assert (1, 3, False) == (rows["questions"]["skipped"], rows["bias:recency"]["made"], "answers" in rows)
    variants = set(run.items.filter(run.items["variant"] != "")["item"])
    assert variants == {"frage-2", "frage-4", "frage-5"}


def test_variations_leave_forgotten_answers_out(run):
    run.forget(responses=["A:q2"])
    rows = {row["what"]: row for row in run.vary("control(kind=all, seed=0)", dry_run=True).rows}
    assert {"its text was forgotten": 1} == rows["answers"]["reasons"]


def test_a_run_of_which_every_question_is_forgotten_has_nothing_to_vary(tmp_path):
    run = closed_run(tmp_path)
    run.forget(items=[f"frage-{n}" for n in range(2, 6)])
    (row,) = run.vary("bias(type=recency, seed=1)").rows
    assert (4, 0) == (row["skipped"], row["rows"])


def test_people_are_shown_no_forgotten_text_and_are_told_how_many_there_are(run, tmp_path):
    run.forget(items=["q1"])
    run.forget(responses=["A:q2"])
    packets = run.make_panel(["anna"], tmp_path / "packets", task="rate", rubric="correctness")
    assert (2, 1) == (packets.n_gone_questions, packets.n_gone_answers)
    assert (3, 5) == (packets.n_questions, packets.n_answers)
    counts = {"questions: its text was forgotten": 2, "answers: its text was forgotten": 1}
    for form in ("label-studio", "argilla"):
        (written, *_) = run.export(tmp_path / form, format=form, task="rate", rubric="correctness")
        assert counts.items() <= dict(written.left_out).items()
    assert [] == leaks(tmp_path / "packets", ("[redacted",))
    assert not [path for path in tmp_path.glob("*/*.json") if "[redacted" in path.read_text()]


def test_an_answer_is_named_with_its_benchmark_where_two_share_an_id(run, tmp_path):
    spec = exam(tmp_path, [{"item": "q2", "question": "How is measles treated?"}], name="exam2")
    rows = answer_rows({"A": {"q2": ["With patience and with water.", "Not at all."]}})
    run.import_answers(write_lines(tmp_path / "more.jsonl", rows), benchmark=spec)
    with pytest.raises(SelectionError, match=r"--response A:exam/q2:1 or A:exam2/q2:1\."):
        run.forget(responses=["A:q2:1"])
    run.forget(responses=["A:exam2/q2:1"])
    texts = run.responses.filter(candidate="A", item="q2")["text"].to_list()
    assert {"With care and rest.", "Not at all."} < set(texts)
    assert 1 == sum(text.startswith("[redacted") for text in texts)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("dry_run", [False, True])
def test_where_no_run_is_nothing_is_forgotten_or_made(tmp_path, dry_run, empty):
    path = tmp_path / "n.viva"
    if empty:
        path.touch()
    with pytest.raises(RunNotFound, match=r"no run at .*n\.viva"):
        open_run(path).forget(items=["q1"], dry_run=dry_run)
    assert [0] * empty == [file.stat().st_size for file in tmp_path.iterdir()]


def test_another_process_that_reads_is_told_of_and_the_rest_is_finished_later(run, tmp_path):
    with closing(sqlite3.connect(run.file.path)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM items").fetchone()
        run.file._wait_s = 0.2
        with pytest.raises(StoreError, match=r"another process has .* open"):
            run.forget(items=["q1"])
    with run.file.reading() as db:
        assert forgotten(db).unfinished
    assert "--finish" in run.status().text
    assert run.forget_finish()
    assert not run.forget_finish()
    assert [] == leaks(tmp_path, OF_QUESTION + OF_ANSWER)


def test_killed_at_any_moment_it_is_done_or_not_and_the_same_command_ends_it(tmp_path):
    original = planted(tmp_path / "original")
    command = [sys.executable, "-m", "vivavoce", "forget", "exam.viva", "--item", "q1", "--yes", "--quiet"]
    environment = os.environ | {"COLUMNS": "200"}
    start = time.monotonic()
    shutil.copytree(tmp_path / "original", tmp_path / "whole")
    subprocess.run(command, cwd=tmp_path / "whole", check=True, env=environment)
    seconds = time.monotonic() - start
    for n in range(N_KILLS):
        folder = tmp_path / f"run{n}"
        shutil.copytree(tmp_path / "original", folder)
        with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds * (0.4 + 0.6 * n / N_KILLS))
            process.send_signal(signal.SIGKILL)
        run = open_run(folder / "exam.viva")
        assert is_clean(run)
        run.forget(items=["q1"])
        assert [] == leaks(folder, OF_QUESTION + OF_ANSWER), n
        assert is_clean(run)
        assert len(run.scores) == len(original.scores)
        shutil.rmtree(folder)


N_KILLS = 50 if os.environ.get("VIVA_TEST_LONG") else 4


def command(run: Run, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "vivavoce", "forget", run.file.path.name, *words]
    return subprocess.run(
        line, cwd=run.file.path.parent, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def test_the_command_asks_first_and_says_what_it_did(run, tmp_path):
    original = run.file.path.read_bytes()
    answer = command(run, "--item", "q1")
    assert (2, True) == (answer.returncode, "say --yes" in answer.stderr)
    planned = command(run, "--item", "q1", "--dry-run", "--json")
    assert {"about": "questions", "n": 2} == json.loads(planned.stdout)["rows"][0]
    assert original == run.file.path.read_bytes()
    done = command(run, "--item", "q1", "--yes")
    assert (0, True) == (done.returncode, "Overwrote the texts of 2 questions and 5 answers" in done.stdout)
    assert "cannot be undone" in done.stdout
    assert [] == leaks(tmp_path, OF_QUESTION + OF_ANSWER)
    assert "nothing to finish" in command(run, "--finish").stdout


TEXTS = {
    "de": "Frau Öztürk-Müller kam nach dem Sturz aus der Straßenbahn mit Übelkeit.",
    "zh": "患者李秀英在轮船事故后出现头痛和呕吐症状",
    "ar": "حضرت المريضة فاطمة بعد حادث العبارة مصابة بصداع شديد",
    "hostile": "'; DROP TABLE items; -- {{7*7}} <script>\u202e \\\" \t Robert'); DELETE",
    "one word": "Hexaflorinsulfat",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("item", ["q:1", "q'1\"%", "日本"])
def test_any_language_and_any_id_is_forgotten(tmp_path, text, item):
    spec = exam(tmp_path, [{"item": item, "question": text, "references": ["a"]}, "q2"])
    run = open_run(tmp_path / "exam.viva")
    rows = answer_rows({"x/y:z": {item: f"So: {text}", "q2": "Nothing."}})
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    with run.file.writing() as db:
        place = {"benchmark": "exam", "item": "q2", "variant": "", "rater": "anna"}
        put_event(db, "review comment", place | {"text": f"as in the other: {text}"})
    words = tuple(word for word in (json.dumps(text, ensure_ascii=False)[1:-1], text))
    assert leaks(tmp_path, words)
    run.forget(responses=[f"x/y:z:{item}"])
    run.forget(items=[item])
    assert [] == leaks(tmp_path, words)
    assert is_clean(run)
    assert 1 == len(run.responses.filter(text="Nothing."))


def test_points_of_a_rubric_go_with_their_question_and_stay_with_its_answers(tmp_path):
    point = {"unit": "1", "text": "Names the hexaflorin of Quintanilla", "weight": 2.0}
    spec = exam(
        tmp_path, [{"item": "q1", "format": "longform", "question": QUESTION, "rubric": [point]}, "q2"]
    )
    run = open_run(tmp_path / "exam.viva")
    rows = answer_rows({"A": {"q1": ANSWER, "q2": "x"}})
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    measure = Measure(metric="m", signature="m()@1", rater="judge", criterion=Criterion(criterion="met"))
    with run.file.writing() as db:
        (number,) = put_measures(db, [measure])
        put_scores(db, number, [ScoreRow(1, Value(1.0), unit=Unit(**point))])
    run.forget(responses=["A:q1"])
    assert leaks(tmp_path, ("Names the hexaflorin",))
    run.forget(items=["q1"])
    assert [] == leaks(tmp_path, OF_QUESTION + OF_ANSWER)
    assert (1, True) == (len(run.scores), is_clean(run))


def test_questions_that_are_nearly_the_same_stay_one_case(tmp_path):
    names = [f"n{n}" for n in range(6)]
    long = f"{QUESTION} {' '.join(OTHERS.values())} Say it briefly"
    items = [{"item": name, "question": long + " please" * n} for n, name in enumerate(names)]
    spec = exam(tmp_path, [*items, *OTHERS])
    run = open_run(tmp_path / "exam.viva")
    rows = answer_rows({"A": dict.fromkeys([*names, *OTHERS], "x")})
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)

    def pairs():
        with run.file.reading() as db:
            return sorted(near_pairs(db))

    original = pairs()
    assert original
    run.forget(items=["n1"])
    run.forget(items=["n3"])
    assert original == pairs()
