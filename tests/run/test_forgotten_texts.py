"""What is forgotten leaves a run no more: nobody is asked it, nothing is made of it, and it stays away."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.people.raters import by_word, filled, with_packets
from tests.run.collect import test_conversations
from tests.run.collect.test_conversations import FakeTalker
from tests.run.tool_files.batch_answers import fake_batch
from tests.studies.making import answer_rows, exam, write_lines

import vivavoce as viva
from vivavoce.core.errors import InputError, VivaError
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run
from vivavoce.run.tables.requests import request_gaps
from vivavoce.run.train.training_data import _arguments_of_run
from vivavoce.store.forgotten import forgotten_answers

talker = test_conversations.talker
MARKER = "zyloprexiaferry"
QUESTION, ANSWER = f"Does {MARKER} hurt the chest?", f"It is {MARKER} of the left arm, and it does."
SETTINGS: dict[str, Any] = {"models": ["vllm/m"], "repeats": 2}
TALK = [
    {"id": f"b/{n}", "format": "conversation", "messages": [{"role": "user", "content": text}],
     "references": ["Call 112."]} | ({"follows": f"b/{n - 1}"} if n > 1 else {})
    for n, text in enumerate((QUESTION, "To my arm.", "Thanks."), 1)
]  # fmt: skip
PLAIN = {"id": "c", "format": "short", "question": "What helps a cold?", "references": ["Rest."]}


def marked(folder: Path) -> set[str]:
    """The files of a folder, answers and exams apart, in which a marker or a mark in its place stands."""
    words = (MARKER.encode(), MARKER.encode("utf-16-le"), b"[redacted")
    return {
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    }


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return f"jsonl(path={write_lines(tmp_path / 'talks.jsonl', [*TALK, PLAIN])})"


@pytest.fixture
def talked(tmp_path: Path, talker: FakeTalker, spec: str) -> Run:
    """A conversation and a question, each asked twice; the marker stands in the first turn."""
    run = viva.open(tmp_path / "r.viva")
    talker.replies[QUESTION] = ANSWER
    run.collect(spec, **SETTINGS)
    talker.sent.clear()
    return run


def forget(run: Run, kind: str) -> None:
    run.forget(**({"items": ["b/1"]} if kind == "question" else {"responses": ["vllm/m:b/1"]}))


WORDS = {"question": MARKER, "answer": "of the left arm"}
KINDS = pytest.mark.parametrize("kind", ["question", "answer"])


def sent(talker: FakeTalker) -> str:
    return json.dumps(talker.sent)


@KINDS
def test_answers_to_later_turns_are_set_aside_and_shown_to_no_judge(talked, talker, tmp_path, kind):
    forget(talked, kind)
    finding = talked.score("rouge(n=1)", "judge(rubric=correctness, model=vllm/j)", dry_run=True)
    talked.score("rouge(n=1)", "judge(rubric=correctness, model=vllm/j)")
    rows = talked.scores.filter(talked.scores["item"].str.starts_with("b/"))
    assert {"set_aside"} == set(rows["status"])
    with talked.file.reading() as db:
        notes = {note for (note,) in db.execute("SELECT note FROM scores WHERE note LIKE '% forgotten'")}
    assert {"its text was forgotten", "an earlier turn of its conversation was forgotten"} == notes
    assert "b/1" not in finding.text
    assert [False] * 2 == [word in sent(talker) for word in (MARKER, "[redacted")]


@KINDS
def test_later_turns_of_what_is_forgotten_are_asked_of_nobody(talked, talker, spec, kind):
    forget(talked, kind)
    for repeats in (2, 3):
        talked.collect(spec, **{**SETTINGS, "repeats": repeats})
        assert MARKER not in sent(talker) or kind == "answer"
        assert "[redacted" not in sent(talker)
    third = talked.responses.filter(repeat=3)["item"].to_list()
    assert (["c"] if kind == "question" else ["b/1", "b/2", "b/3", "c"]) == third


def test_a_failed_later_turn_is_not_asked_behind_a_forgotten_one(tmp_path, talker, spec):
    run = viva.open(tmp_path / "r.viva")
    talker.replies |= {QUESTION: ANSWER, "To my arm.": 400}
    run.collect(spec, models=["vllm/m"])
    forget(run, "answer")
    talker.sent.clear()
    talker.replies.clear()
    plan = run.collect(spec, models=["vllm/m"], dry_run=True)
    finding = run.collect(spec, models=["vllm/m"])
    assert (0, 0, []) == (plan.rows[0]["calls"], finding.rows[0]["left"], talker.sent)


@pytest.mark.parametrize("settings", ["", "(shots=2)"])
def test_a_collect_goes_on_whatever_was_asked_last(tmp_path, talker, settings):
    items = [{"item": f"q{n}", "question": f"{MARKER} {n}?", "references": ["yes"]} for n in range(6)]
    run, spec = viva.open(tmp_path / "r.viva"), exam(tmp_path, items)
    run.collect(spec, models=["baseline/echo", f"vllm/m{settings}"][: 2 if not settings else 1])
    run.forget(items=[f"q{n}" for n in range(5)])
    talker.sent.clear()
    if settings:
        with pytest.raises(InputError, match="other short items could serve"):
            run.collect(spec, models=[f"vllm/m{settings}"])
    else:
        run.collect(spec, models=["vllm/m(temperature=0.5)", "vllm/m"])
        assert 1 == len(talker.sent)
    assert not [n for n in range(5) if f"{MARKER} {n}?" in sent(talker)]


@KINDS
def test_no_line_of_training_data_is_of_what_is_forgotten(talked, tmp_path, kind):
    forget(talked, kind)
    (written,) = talked.export(tmp_path / "sft", format="sft")
    assert {
        "answers: its text was forgotten": 2,
        "answers: an earlier turn of its conversation was forgotten": 4,
    } == dict(written.left_out)
    assert 2 == written.rows
    assert set() == marked(tmp_path / "sft")


@KINDS
def test_no_pair_is_of_what_is_forgotten(tmp_path, kind):
    items = [{"item": name, "question": f"{MARKER} {name}?", "references": ["yes"]} for name in ("q1", "q2")]
    run = viva.open(tmp_path / "r.viva")
    rows = answer_rows({name: {"q1": f"{name} yes {MARKER}", "q2": word} for name, word in
                        (("a", "yes"), ("b", "no"))})  # fmt: skip
    run.import_answers(write_lines(tmp_path / "a.jsonl", rows), benchmark=exam(tmp_path, items))
    run.score("rouge(n=1)")
    run.forget(**({"items": ["q1"]} if kind == "question" else {"responses": ["a:q1"]}))
    (written,) = run.export(tmp_path / "out", format="preferences", metric="rouge(n=1):f1", margin=0)
    lines = [json.loads(line) for line in written.path.read_text().splitlines()]
    assert ["q2"] == [line["item"] for line in lines]
    assert dict(written.left_out)["answers: its text was forgotten"] == (2 if kind == "question" else 1)
    assert "[redacted" not in written.path.read_text()


@pytest.mark.parametrize("settings", ["", "(shots=2)"])
def test_no_batch_asks_what_is_forgotten(tmp_path, settings):
    items = [{"item": f"q{n}", "question": f"{MARKER} {n}?", "references": ["yes"]} for n in range(6)]
    run, spec = viva.open(tmp_path / "r.viva"), exam(tmp_path, items)
    run.collect(spec, models=["baseline/echo"])
    run.export(tmp_path / "before", format="batch", candidate=f"openai/x{settings}")
    run.forget(items=["q1", "q2"])
    run.export(tmp_path / "after", format="batch", candidate=f"openai/x{settings}")
    text = "".join(path.read_text() for path in (tmp_path / "after").glob("*.jsonl"))
    assert 4 == text.count('"custom_id"')
    assert not [word for word in (f"{MARKER} 1", f"{MARKER} 2", "[redacted") if word in text]
    if not settings:  # results of the batch from before: what can still be told comes in
        files = fake_batch(tmp_path / "before", tmp_path / "results", lambda body: "yes")
        (log,) = run.import_logs(*files).logs
        assert (4, True) == (log.new, any("2 answers are left out" in note for note in log.notes))
        assert {"rows": 6, "answers": 4, "forgotten": 2} == dict(log.row_counts)
        assert {f"q{n}" for n in (0, 3, 4, 5)} == set(run.responses.filter(candidate="openai/x")["item"])


def batched(tmp_path: Path, model: str = "openai/x") -> tuple[Run, list[dict[str, Any]]]:
    """A run that has forgotten q1 since its batch of three questions was written, and the batch's results."""
    items = [{"item": f"q{n}", "question": f"{MARKER} {n}?", "references": ["yes"]} for n in range(3)]
    run = viva.open(tmp_path / "r.viva")
    run.collect(exam(tmp_path, items), models=["baseline/echo"])
    run.export(tmp_path / "batch", format="batch", candidate=model)
    files = fake_batch(tmp_path / "batch", tmp_path / "results", lambda body: body["messages"][-1]["content"])
    run.forget(items=["q1"])
    return run, [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_batch_results_of_a_forgotten_question_alone_are_left_out(tmp_path):
    run, rows = batched(tmp_path)
    rows = [row for row in rows if f"{MARKER} 1" in json.dumps(row)]
    retried = [{**rows[0], "response": None, "error": {"code": "expired"}}, *rows]
    (log,) = run.import_logs(write_lines(tmp_path / "one.jsonl", retried)).logs
    assert {"rows": 2, "forgotten": 1, "retried": 1} == dict(log.row_counts)
    assert (0, 0, 1) == (log.new, log.responses, log.forgotten)
    assert "openai/x" not in run.responses["candidate"].to_list()
    assert f"{MARKER} 1".encode() not in run.file.path.read_bytes()


def test_batch_results_of_a_forgotten_answer_are_counted(tmp_path):
    run, rows = batched(tmp_path)
    results = write_lines(tmp_path / "all.jsonl", rows)
    run.import_logs(results)
    run.forget(responses=["openai/x:q2"])
    (log,) = run.import_logs(results).logs
    assert {"rows": 3, "answers": 1, "forgotten": 2} == dict(log.row_counts)


def test_results_of_another_run_are_refused_though_a_question_is_forgotten(tmp_path):
    run, rows = batched(tmp_path)
    (tmp_path / "other").mkdir()
    _, foreign = batched(tmp_path / "other", "openai/y")
    with pytest.raises(InputError, match="no request of this run has the custom_id"):
        run.import_logs(write_lines(tmp_path / "foreign.jsonl", foreign))
    with pytest.raises(InputError, match="no request of this run has the custom_id"):
        run.import_logs(write_lines(tmp_path / "mixed.jsonl", [*rows, foreign[0]]))
    assert "openai/x" not in run.responses["candidate"].to_list()


EXPORTS = (
    "parquet",
    "csv",
    "inspect",
    "every-eval-ever",
    "lm-eval",
    "healthbench",
    "label-studio",
    "argilla",
)


@pytest.mark.parametrize("form", EXPORTS)
@KINDS
def test_no_export_holds_the_words(talked, tmp_path, form, kind):
    talked.score("rouge(n=1)")
    forget(talked, kind)
    options = {"task": "rate", "rubric": "correctness"} if form in ("label-studio", "argilla") else {}
    if form == "healthbench":  # it holds no item of that exam
        with pytest.raises(VivaError):
            talked.export(tmp_path / "out", format=form, **options)
    else:
        talked.export(tmp_path / "out", format=form, **options)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [path for path in files if WORDS[kind].encode() in path.read_bytes()]
    if form not in ("parquet", "csv"):  # in tables marks stand in their place, so that no row is lost
        assert not [path for path in files if b"[redacted" in path.read_bytes()]


@KINDS
def test_what_is_said_and_shown_holds_no_word(talked, tmp_path, kind):
    talked.score("rouge(n=1)")
    forget(talked, kind)
    texts = [str(talked.status()), repr(talked), str(talked.study("audit"))]
    for frame in (talked.items, talked.responses, talked.scores):
        texts.append(str(frame.rows()))
    talked.report(tmp_path / "report.html")
    texts.append((tmp_path / "report.html").read_text())
    assert not [text for text in texts if WORDS[kind] in text]


def forgetful(tmp_path: Path, forgets: bool = True, **options: Any) -> tuple[Run, str, Path]:
    """A run in which a question and an answer to another one are forgotten, its exam and its answers."""
    items = [
        {"item": "q1", "question": QUESTION, "references": ["yes"], "source": f"file of {MARKER}"},
        {"item": "q2", "question": "What helps a cold?", "references": ["Rest."]},
        {"item": "q3", "question": "What helps a cough?", "references": ["Tea."]},
    ]
    spec = exam(tmp_path, items)
    rows = answer_rows({name: {"q1": ANSWER, "q2": f"{MARKER} said {name}", "q3": "Tea."} for name in "ab"})
    answers = write_lines(tmp_path / "answers.jsonl", [row | {"mine": 0.5} for row in rows])
    run = viva.open(tmp_path / "r.viva")
    run.import_answers(answers, benchmark=spec, **options)
    if forgets:
        run.forget(items=["q1"])
        run.forget(responses=["a:q2"])
    return run, spec, answers


def stands(run: Run) -> dict[tuple[str, str], str]:
    return {row[:2]: row[2] for row in run.responses.select("candidate", "item", "text").rows()}


@pytest.mark.parametrize("options", [{}, {"criteria": ["mine"]}])
def test_an_exam_comes_again_without_what_is_forgotten(tmp_path, options):
    run, spec, answers = forgetful(tmp_path, **options)
    n_scores = len(run.scores)
    texts, items = stands(run), run.items.rows()
    imported = run.import_answers(answers, benchmark=spec, **options)
    assert (0, 3, 3) == (imported.new, imported.forgotten, imported.unchanged)
    assert {"rows": 6, "answers": 3, "forgotten": 3} == dict(imported.row_counts)
    assert any("3 answers are left out" in note for note in imported.notes)
    assert (texts, items, n_scores) == (stands(run), run.items.rows(), len(run.scores))
    assert not [check for check in run.verify() if check.wrong]
    run.forget(responses=["b:q2"])
    assert MARKER.encode() not in run.file.path.read_bytes()


@pytest.mark.parametrize("new_version", [False, True])
def test_new_candidates_come_in_but_to_what_is_forgotten(tmp_path, new_version):
    run, spec, _ = forgetful(tmp_path)
    rows = answer_rows({"new": {"q1": ANSWER, "q2": "Rest.", "q3": "Tea."}})
    imported = run.import_answers(
        write_lines(tmp_path / "more.jsonl", rows), benchmark=spec, new_version=new_version
    )
    assert (2, 1) == (imported.new, imported.forgotten)
    assert {"q2", "q3"} == set(run.responses.filter(candidate="new")["item"])
    assert QUESTION not in run.items["question"].to_list()


def test_nobody_lacks_an_answer_to_a_forgotten_question(tmp_path):
    run, spec, _ = forgetful(tmp_path)
    for name in ("new", "newer"):
        rows = answer_rows({name: {"q2": "Rest.", "q3": "Tea."}})
        run.import_answers(write_lines(tmp_path / "more.jsonl", rows), benchmark=spec)
    run.score("rouge(n=1)")
    marks = [row for row in run.status().rows if row["about"] == "marks" and row["candidate"] == "new"]
    assert [(2, 0)] == [(row["expected"], row["never_asked"]) for row in marks]
    assert "never asked" not in run.status().text + run.status().headline
    run.import_answers(
        write_lines(tmp_path / "fewer.jsonl", answer_rows({"last": {"q2": "Rest."}})), benchmark=spec
    )
    assert "1 answer never asked" in run.status().headline


@pytest.mark.parametrize("model", ["vllm/m", "vllm/n"])
def test_a_plan_counts_no_forgotten_question_as_answered_and_says_so(talked, spec, model):
    plain = talked.collect(spec, models=[model], repeats=2, dry_run=True)
    forget(talked, "question")
    plan = talked.collect(spec, models=[model], repeats=2, dry_run=True)
    counts = [(row["calls"], row["answered"]) for (row,) in (plain.rows, plan.rows)]
    assert counts == ([(0, 8), (0, 2)] if model == "vllm/m" else [(8, 0), (2, 0)])
    sentence = "1 question of talks is forgotten in this run, and asked no more."
    assert [False, True] == [sentence in finding.text for finding in (plain, plan)]


def test_a_candidate_lacks_no_turn_behind_a_forgotten_question(talked, talker, spec):
    forget(talked, "question")
    talked.collect(spec, models=["vllm/m", "vllm/n"], repeats=2)
    assert (0, 0) == request_gaps(talked.file)


def test_a_table_with_its_questions_comes_again_too(tmp_path):
    rows = [
        {"item": name, "question": text, "candidate": candidate, "text": reply}
        for name, text, reply in (("q1", QUESTION, ANSWER), ("q2", "What helps a cold?", "Rest."))
        for candidate in "ab"
    ]
    table = write_lines(tmp_path / "table.jsonl", rows)
    run = viva.open(tmp_path / "r.viva")
    run.import_answers(table)
    run.forget(items=["q1"])
    write_lines(table, [*rows, {**rows[0], "candidate": "c"}, {**rows[2], "candidate": "c"}])
    imported = run.import_answers(table)
    assert (1, 3) == (imported.new, imported.forgotten)
    assert MARKER.encode() not in run.file.path.read_bytes()


def test_an_exam_that_changed_elsewhere_is_still_refused(tmp_path):
    run, _, answers = forgetful(tmp_path)
    items = [{"item": "q1", "question": QUESTION}, {"item": "q2", "question": "Another?"}, {"item": "q3"}]
    with pytest.raises(InputError, match="have changed since this run was made"):
        run.import_answers(answers, benchmark=exam(tmp_path, items))


def scored(tmp_path: Path, texts: dict[tuple[str, str], str]) -> Path:
    """A table of scores of answers by candidate and item, each with its text and a note."""
    rows = [
        {"item": item, "candidate": candidate, "good": 1.0, "text": text, "note": f"says {text}"}
        for (candidate, item), text in texts.items()
    ]
    return write_lines(tmp_path / "s.jsonl", rows)


@KINDS
def test_scores_with_texts_come_again_without_those_of_what_is_forgotten(tmp_path, kind):
    run, spec, answers = viva.open(tmp_path / "r.viva"), exam(tmp_path, ["q1", "q2"]), tmp_path / "a.jsonl"
    texts = {(c, item): f"{MARKER} {c} {item}" for c in "ab" for item in ("q1", "q2")}
    rows = [{"item": item, "candidate": c, "text": text} for (c, item), text in texts.items()]
    run.import_answers(write_lines(answers, rows), benchmark=spec)
    settings = {"measure": "mine", "criteria": ["good"], "range": {"good": (0, 1)}}
    run.import_scores(scored(tmp_path, texts), **settings)
    run.forget(**({"items": ["q1"]} if kind == "question" else {"responses": ["a:q1", "b:q1"]}))
    stored = run.scores.rows()
    imported = run.import_scores(scored(tmp_path, texts), **settings)
    assert {"rows": 4, "scored": 2, "forgotten": 2} == dict(imported.row_counts)
    assert (2, 2) == (imported.scores, imported.forgotten)
    gone = {place: text for place, text in texts.items() if place[1] == "q1"}
    alone = run.import_scores(scored(tmp_path, gone), **settings)
    assert (0, 2) == (alone.scores, alone.forgotten)
    assert stored == run.scores.rows()
    with pytest.raises(InputError, match="of 1 row scores another text"):
        run.import_scores(scored(tmp_path, {**gone, ("a", "q2"): "Another."}), **settings)


def test_scores_of_a_new_candidate_come_in_but_of_a_forgotten_question(tmp_path):
    run, spec, _ = forgetful(tmp_path)
    texts = {("new", "q1"): ANSWER, ("new", "q2"): "Rest.", ("new", "q3"): "Tea."}
    rows = [{"item": item, "candidate": name, "text": text} for (name, item), text in texts.items()]
    run.import_answers(write_lines(tmp_path / "more.jsonl", rows), benchmark=spec)
    imported = run.import_scores(scored(tmp_path, texts), measure="mine", criteria=["good"])
    assert {"rows": 3, "scored": 2, "forgotten": 1} == dict(imported.row_counts)
    assert {"q2", "q3"} == set(run.scores.filter(metric="mine")["item"])
    assert ANSWER.encode() not in run.file.path.read_bytes()
    with pytest.raises(InputError, match=r"1 rows of .* are about what this run does not hold"):
        run.import_scores(scored(tmp_path, {("newer", "q2"): "Rest."}), measure="mine", criteria=["good"])


@KINDS
def test_a_log_counts_the_answers_and_scores_that_are_stored(tmp_path, kind):
    (tmp_path / "of").mkdir()
    source, _, _ = forgetful(tmp_path / "of", forgets=False)
    source.score("rouge(n=1)")
    source.export(tmp_path / "logs", format="inspect")
    run = viva.open(tmp_path / "run.viva")
    first = run.import_logs(tmp_path / "logs").logs
    run.forget(**({"items": ["q1"]} if kind == "question" else {"responses": ["a:q1", "b:q1"]}))
    run.forget(items=["q2"], drop_scores=True)
    second = run.import_logs(tmp_path / "logs").logs
    assert [6, 2] == [sum(log.responses for log in logs) for logs in (first, second)]
    assert 4 == sum(log.forgotten for log in second)
    n_scores = run.scores.filter(run.scores["item"] == "q3").height
    assert n_scores == sum(log.scores for log in second) > 0
    assert sum(log.scores for log in first) == 3 * n_scores


def test_a_table_counts_the_scores_that_are_stored(tmp_path):
    run, spec, answers = forgetful(tmp_path, criteria=["mine"])
    imported = run.import_answers(answers, benchmark=spec, criteria=["mine"])
    assert {"mine": 3} == dict(imported.file_scores)


@KINDS
def test_ballots_from_before_come_again_without_what_is_forgotten(tmp_path, kind):
    run = with_packets(tmp_path, 3, ["anna"])

    def opinion(item: str, answer: str) -> dict[str, Any]:
        return by_word("five", "some")(item, answer) | {"remark": f"{MARKER} {answer}"}

    ballot = filled(tmp_path / "out" / "anna.csv", opinion)
    (first,) = store_ballots(run.file, [ballot])
    run.forget(**({"items": ["q01"]} if kind == "question" else {"responses": ["Able:q01"]}))
    n_scores = len(run.scores)
    (later,) = store_ballots(run.file, [ballot])
    gone = kind == "question"
    assert (first.new - gone, 0, gone) == (later.unchanged, later.new, later.forgotten)
    assert n_scores == len(run.scores)
    with run.file.reading() as db:
        notes = [note for (note,) in db.execute("SELECT note FROM scores WHERE note LIKE '%q01%'")]
    assert notes == []


def test_a_remark_of_a_second_rater_on_a_ballot_with_a_forgotten_answer_is_stored_of_none_of_its_answers(
    tmp_path,
):
    run = with_packets(tmp_path, 3, ["anna", "ben"])

    def opinion(item: str, answer: str) -> dict[str, Any]:
        return by_word("five", "some")(item, answer) | {"remark": f"{MARKER} of {item}"}

    ballots = [filled(tmp_path / "out" / f"{name}.csv", opinion) for name in ("anna", "ben")]
    store_ballots(run.file, ballots[:1])
    run.forget(responses=["Able:q01"])
    for _ in range(2):
        store_ballots(run.file, ballots[1:])
        with run.file.reading() as db:
            notes = {note for (note,) in db.execute("SELECT note FROM scores WHERE note IS NOT NULL")}
        assert {"[redacted: forgotten]", f"{MARKER} of q00", f"{MARKER} of q02"} == notes
        assert f"{MARKER} of q01".encode() not in run.file.path.read_bytes()


def test_reviews_from_before_come_again_without_those_of_forgotten_questions(tmp_path):
    run = viva.open(tmp_path / "r.viva")
    answers = write_lines(tmp_path / "a.jsonl", [{"item": "i1", "candidate": "A", "text": "x"}])
    run.import_answers(answers, benchmark=exam(tmp_path, ["i1", "i2"]))
    rows = ["item,category,rater,correct,relevance,comment",
            f"i1,MC,anna,yes,4,see {MARKER}", "i2,MC,anna,yes,4,fine"]  # fmt: skip
    (tmp_path / "reviews.csv").write_text("\n".join(rows) + "\n")
    run.import_ballots(tmp_path / "reviews.csv")
    run.forget(items=["i1"])
    later = run.import_ballots(tmp_path / "reviews.csv")
    assert ({"rows": 2, "reviews": 1, "forgotten": 1}, 1) == (dict(later.row_counts), later.unchanged)
    assert MARKER.encode() not in run.file.path.read_bytes()


def test_an_evaluator_learns_from_no_forgotten_answer(tmp_path):
    run, *_ = forgetful(tmp_path)
    of_run = _arguments_of_run(run.file)
    assert {
        ("exam", "q2"): {"b": (f"{MARKER} said b",)},
        ("exam", "q3"): {"a": ("Tea.",), "b": ("Tea.",)},
    } == of_run


def test_a_run_that_forgot_nothing_is_not_read_for_it(talked):
    with talked.file.reading() as db:
        sent_statements = []
        db.set_trace_callback(sent_statements.append)
        assert (set(), 1) == (forgotten_answers(db), len(sent_statements))
