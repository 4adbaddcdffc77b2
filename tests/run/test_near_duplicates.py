"""Questions that are nearly the same are counted and shown, and are one case where a user says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import Answers, marked, row, twins

from vivavoce.core.errors import InputError
from vivavoce.run.evaluate import evaluate
from vivavoce.run.run import Run
from vivavoce.store.cases import choose_near_duplicates

Viva = Callable[..., Any]
WORDINGS: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: f"Please answer: {text}",
    lambda text: text.replace("What is the", "Describe the"),
    lambda text: text.replace("What is the", "Which is"),
)
"""Four wordings of one question."""
DRUGS = ("quinine", "digoxin", "lithium", "warfarin", "insulin", "codeine", "atenolol", "heparin", "morphine",
         "aspirin", "naloxone", "metformin", "ketamine", "doxepin", "timolol")  # fmt: skip
LOOK_ALIKE = (
    "60 questions look like 15: 45 nearly repeat another one, with equal numbers and negations. Each counts "
    "as a case; --near-duplicates join makes near repeats one case."
)


def sixty() -> list[dict[str, Any]]:
    """Fifteen questions in four wordings: item q00 to q59, question k at q4k to q4k+3."""
    questions = [f"What is the safe daily dose of {drug} in severe renal failure?" for drug in DRUGS]
    return [{"item": f"q{n:02}", "question": WORDINGS[n % 4](questions[n // 4])} for n in range(60)]


@pytest.fixture
def answers() -> Answers:
    better, worse = (
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0],
        [0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0],
    )
    return {name: twins([v for v in by_case for _ in range(4)]) for name, by_case in
            (("A", better), ("B", worse))}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, answers: Answers) -> Run:
    return marked(tmp_path, answers, items=sixty())


def n_groups(run: Run) -> int:
    return int(row(run.estimates("told"), candidate="A")["n_groups"])


def test_near_repeats_are_counted_and_said_and_change_no_figure(run: Run, tmp_path: Path, viva: Viva):
    spec = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    words = ("import", run.file.path, tmp_path / "answers-exam.jsonl", "--benchmark", spec)
    assert LOOK_ALIKE in viva(*words).stdout
    (imported,) = json.loads(viva(*words, "--json").stdout)["rows"]
    assert (60, 0, 60, 45, False) == tuple(
        imported[name] for name in ("questions", "repeated", "cases", "near_repeated", "near_joined")
    )
    assert f"Near repeats in exam: {LOOK_ALIKE}" in viva("status", run.file.path).stdout
    counted = row(run.status(), about="questions")
    assert (60, 45, False) == tuple(counted[name] for name in ("cases", "near_repeated", "near_joined"))
    planned = viva("collect", tmp_path / "new.viva", spec, "--model", "baseline/random", "--dry-run").stdout
    assert LOOK_ALIKE in planned
    assert LOOK_ALIKE in viva("collect", tmp_path / "new.viva", spec, "--model", "baseline/echo").stdout
    assert 60 == n_groups(run)
    (facts,) = json.loads(viva("show", spec, "--json").stdout)["rows"]
    assert 45 == facts["near_repeated"]


def test_the_badge_of_the_report_says_how_many_questions_there_seem_to_be(
    run: Run, tmp_path: Path, viva: Viva
):
    rows = json.loads(viva("report", run.file.path, "--to", tmp_path / "r.html", "--json").stdout)["rows"]
    (totals,) = (r for r in rows if r["section"] == "run")
    assert 45 == totals["near_repeats"]
    (first,) = (r for r in rows if r["section"] == "first")
    assert first["enough_cases"].startswith("60 questions look like 15. ")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<span>45 near repeats</span>" in page
    assert any(LOOK_ALIKE in str(r.get("text")) for r in rows if r["section"] == "limitation")
    run.compare(near_duplicates="join")
    rows = json.loads(viva("report", run.file.path, "--to", tmp_path / "r.html", "--json").stdout)["rows"]
    (first,) = (r for r in rows if r["section"] == "first")
    assert "look like" not in first["enough_cases"]


def test_joined_near_repeats_are_one_case_for_this_and_later_calls(run: Run, viva: Viva):
    """As sixty cases A is better; as fifteen nothing is shown."""
    first = run.compare("A", "B", metric="told").rows[0]
    assert (60, True) == (first["n_groups"], first["p"] < 0.05)
    joined = run.compare("A", "B", metric="told", near_duplicates="join").rows[0]
    assert (60, 15, True) == (joined["n_items"], joined["n_groups"], joined["p"] > 0.05)
    assert 15 == n_groups(run)
    assert 15 == run.items["group"].n_unique()
    text = viva("status", run.file.path).stdout
    assert "60 questions look like 15: 45 nearly repeat another one" in text
    assert "near repeats are one case here" in text
    words = ("compare", run.file.path, "A", "B", "--metric", "told")
    assert "(60 cases)" in viva(*words, "--near-duplicates", "count").stdout
    assert "(15 cases)" in viva(*words, "--near-duplicates", "join").stdout


def test_a_comparison_says_what_status_says(run: Run, viva: Viva):
    words = ("compare", run.file.path, "A", "B", "--metric", "told")
    assert f"Near repeats in exam: {LOOK_ALIKE}\n" in viva(*words).stdout
    answer = json.loads(viva(*words, "--json").stdout)
    assert [row(run.status(), about="questions")] == answer["questions"]
    assert "near repeats are one case here" in viva(*words, "--near-duplicates", "join").stdout
    part = run.file.path.parent / "part"
    part.mkdir()
    lines = (run.file.path.parent / "exam.jsonl").read_text(encoding="utf-8").splitlines()
    (part / "exam.jsonl").write_text("\n".join(lines[:10]), encoding="utf-8")
    (of_part,) = run.compare("A", "B", metric="told", items=f"jsonl(path='{part / 'exam.jsonl'}')").questions
    assert (10, 7) == (of_part["questions"], of_part["near_repeated"])


def test_where_nobody_looks_status_and_comparison_say_so(
    run: Run, viva: Viva, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("vivavoce.language.near_repeats.MOST_QUESTIONS", 59)
    sentence = "Near repeats in exam: not known, a run of this size is not searched for them."
    assert sentence in viva("status", run.file.path).stdout
    assert sentence in run.compare("A", "B", metric="told").notes
    assert row(run.status(), about="questions")["near_repeated"] is None


def test_import_collect_and_evaluate_take_the_choice(tmp_path: Path, answers: Answers, viva: Viva):
    run = marked(tmp_path, answers, items=sixty())
    spec = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    chosen = ("--near-duplicates", "join")
    text = viva("import", run.file.path, tmp_path / "answers-exam.jsonl", "--benchmark", spec, *chosen).stdout
    assert "near repeats are one case here" in text
    assert 15 == n_groups(run)
    path = tmp_path / "new.viva"
    planned = viva("collect", path, spec, "--model", "baseline/random", *chosen, "--dry-run").stdout
    assert "60 questions in 15 cases" in planned
    assert not path.exists()
    viva("collect", path, spec, "--model", "baseline/random", *chosen)
    assert 15 == Run(path).items["group"].n_unique()
    rows = [
        {"id": q["item"], "question": q["question"], "answer": "x", "response": "x", "model": "m"}
        for q in sixty()
    ]
    assert 15 == evaluate(rows, [], near_duplicates="join").items["group"].n_unique()
    assert 60 == evaluate(rows, []).items["group"].n_unique()


def test_another_word_is_refused_before_anything_is_stored(run: Run, tmp_path: Path, viva: Viva):
    with pytest.raises(InputError, match="near duplicates 'merge': write count or join"):
        run.compare("A", "B", near_duplicates="merge")  # type: ignore[arg-type]
    rows = [{"id": "a", "question": "b?", "answer": "x", "response": "x", "model": "m"}]
    with pytest.raises(InputError, match="write count or join"):
        evaluate(rows, [], to=tmp_path / "new.viva", near_duplicates="no")  # type: ignore[arg-type]
    assert not (tmp_path / "new.viva").exists()
    words = ("compare", run.file.path, "A", "--against", "B", "--metric", "told", "--require", "better")
    with pytest.raises(InputError, match="chosen before a gate"):
        viva(*words, "--near-duplicates", "join")


def test_the_choice_is_stored_once(run: Run):
    for choice in ("count", "join", "join", "count"):
        with run.file.writing() as db:
            choose_near_duplicates(db, choice)  # type: ignore[arg-type]
    with run.file.reading() as db:
        assert 2 == db.execute("SELECT count(*) FROM events WHERE kind = 'near duplicates'").fetchone()[0]


def test_a_declared_group_and_near_repeats_join_further(tmp_path: Path, answers: Answers):
    items = sixty()
    items[0]["group"] = items[59]["group"] = "patient 1"
    run = marked(tmp_path, answers, items=items)
    assert 59 == n_groups(run)
    run.compare("A", "B", metric="told", near_duplicates="join")
    assert 14 == n_groups(run)


def test_a_redacted_copy_has_the_cases_of_its_original(run: Run, tmp_path: Path):
    run.compare("A", "B", metric="told", near_duplicates="join")
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    copy = Run(tmp_path / "copy.viva")
    assert 15 == n_groups(copy)
    assert 45 == row(copy.status(), about="questions")["near_repeated"]
