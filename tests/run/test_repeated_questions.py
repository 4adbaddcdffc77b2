"""The same question under several ids is one case from the file to the report, and every verb says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import Answers, made, marked, row, twins

from vivavoce.run.collect.plan import plan_collect
from vivavoce.run.evaluate import evaluate
from vivavoce.run.run import Run

Viva = Callable[..., Any]
WRITTEN: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda text: text.replace(" ", "  "),
    lambda text: f"({text})\n",
    lambda text: text.replace("?", " …"),
)
"""Five ways to write one question."""
SAID = "48 of 60 questions repeat another one; the same question is one case, which leaves 12 cases."


def sixty(**fields: Any) -> list[dict[str, Any]]:
    """Twelve questions, each five times: item q00 to q59, question k at q5k to q5k+4."""
    return [
        {"item": f"q{n:02}", "question": WRITTEN[n % 5](f"Give drug {n // 5} at 0.5 mg?"), **fields}
        for n in range(60)
    ]


@pytest.fixture
def answers() -> Answers:
    better, worse = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0]
    return {name: twins([v for v in by_case for _ in range(5)]) for name, by_case in
            (("A", better), ("B", worse))}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, answers: Answers) -> Run:
    return marked(tmp_path, answers, items=sixty())


def test_twelve_questions_five_times_are_twelve_cases(run: Run, viva: Viva):
    """As sixty cases A would be better, with p = .002: see the next test."""
    comparison = run.compare("A", "B", metric="told")
    assert str(comparison).startswith("On 60 questions (12 cases): A 0.833, B 0.583")
    assert (60, 12) == (comparison.rows[0]["n_items"], comparison.rows[0]["n_groups"])
    assert comparison.rows[0]["p"] > 0.05
    alone = run.estimates("told")
    assert {(60, 12)} == {(r["n_items"], r["n_groups"]) for r in alone.rows}
    ranking = run.study("ranking")["ranking"]
    assert {12} == {r["n_groups"] for r in ranking.rows}
    assert "60 questions in 12 cases" in str(ranking)
    assert "60 questions (12 cases)" in viva("compare", run.file.path, "A", "B", "--metric", "told").stdout


def test_sixty_different_questions_stay_sixty_cases(tmp_path: Path, answers: Answers):
    run = marked(
        tmp_path, answers, items=[{"item": f"q{n:02}", "question": f"{n / 10} mg?"} for n in range(60)]
    )
    comparison = run.compare("A", "B", metric="told")
    assert str(comparison).startswith("On 60 questions (60 cases)")
    assert comparison.rows[0]["p"] < 0.01
    assert (0, 60) == tuple(row(run.status(), about="questions")[name] for name in ("repeated", "cases"))


def test_every_table_has_the_label_of_the_case_as_its_group(run: Run):
    labels = [f"q{5 * (n // 5):02}" for n in range(60)]
    assert labels == run.items["group"].to_list()
    for table in (run.responses, run.scores):
        assert dict(zip(run.items["item"], labels, strict=True)) == dict(table.select("item", "group").rows())
    # the file keeps what was declared, so that its exports and merges do too
    with run.file.reading() as db:
        assert 60 == db.execute('SELECT count(DISTINCT "group") FROM items').fetchone()[0]


def test_a_declared_group_joins_repeats_further(tmp_path: Path, answers: Answers):
    items = sixty()
    items[0]["group"] = items[59]["group"] = "patient 1"
    run = marked(tmp_path, answers, items=items)
    assert 11 == row(run.estimates("told"), candidate="A")["n_groups"]
    groups = [
        {"item": f"q{n:02}", "question": q["question"], "group": f"ward {n}"} for n, q in enumerate(sixty())
    ]
    (tmp_path / "wards").mkdir()
    split = marked(tmp_path / "wards", answers, items=groups)
    assert 12 == row(split.estimates("told"), candidate="A")["n_groups"]


def test_one_question_in_two_benchmarks_is_one_case_of_the_run(tmp_path: Path, viva: Viva):
    run = made(tmp_path, {"A": twins("xyz")})
    more = [{"item": "q00", "question": "Of the other?"}, {"item": "q09", "question": "WHAT of q01"}]
    made(tmp_path, {"A": {"q00": "x", "q09": "y"}}, items=more, name="more", run=run)
    assert ["exam: q00", "exam: q01", "exam: q02"] == run.items.filter(benchmark="exam")["group"].to_list()
    assert ["more: q00", "exam: q01"] == run.items.filter(benchmark="more")["group"].to_list()
    status = viva("status", run.file.path, "--full").stdout
    assert "exam: 3 questions in 3 cases; 1 case also in another benchmark." in status
    rows = json.loads(viva("report", run.file.path, "--json").stdout)["rows"]
    (totals,) = (r for r in rows if r["section"] == "run")
    assert (5, 0, 4) == tuple(totals[n] for n in ("questions", "repeated_questions", "independent_cases"))


def test_a_patient_of_two_tables_of_one_run_is_one_case(tmp_path: Path, viva: Viva):
    """In a table with its questions as in a file of an exam; an id that two tables share is two cases."""
    path = tmp_path / "run.viva"
    for name, words in (("first", "Which drug"), ("second", "Which dose")):
        rows = [
            {"id": f"{name}-{n}", "patient": f"P{n}", "question": f"{words} for patient {n}?", "model": "m"}
            for n in range(3)
        ]
        rows.append({"id": "same", "patient": None, "question": f"{words}?", "model": "m"})
        run = evaluate([{**r, "answer": "x", "response": "x"} for r in rows], [], to=path, name=name)
    in_file = [{"item": "z", "question": "Why?", "group": "P1"}]
    made(tmp_path, {"m": {"z": "x"}}, items=in_file, name="third", run=run)
    labels = dict(run.items.select("item", "group").filter(pl.col("item") != "same").rows())
    expected = {f"{name}-{n}": f"first: P{n}" for name in ("first", "second") for n in range(3)}
    assert {**expected, "z": "first: P1"} == labels
    assert 5 == run.items["group"].n_unique()
    text = viva("status", path, "--full").stdout
    assert "second: 4 questions in 4 cases; 3 cases also in another benchmark." in text


def test_import_status_and_dry_run_say_how_many_questions_repeat(run: Run, tmp_path: Path, viva: Viva):
    spec = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    words = (run.file.path, tmp_path / "answers-exam.jsonl", "--benchmark", spec)
    assert SAID in viva("import", *words).stdout
    (imported,) = json.loads(viva("import", *words, "--json").stdout)["rows"]
    assert (60, 48, 12) == tuple(imported[name] for name in ("questions", "repeated", "cases"))
    line = "exam: 60 questions in 12 cases; 48 of them repeat another one, and the same question is one case."
    assert line in viva("status", run.file.path, "--full").stdout
    assert {
        "about": "questions", "benchmark": "exam", "questions": 60, "repeated": 48, "cases": 12, "shared": 0,
        "further": 12, "near_repeated": 0, "near_joined": False,
        "group_level": None, "outer_level": None, "n_outer": None,
    } == row(run.status(), about="questions")  # fmt: skip
    planned = viva("collect", tmp_path / "new.viva", spec, "--model", "baseline/random", "--dry-run").stdout
    assert "60 questions in 12 cases" in planned
    assert SAID in planned
    collected = viva("collect", tmp_path / "new.viva", spec, "--model", "baseline/echo")
    assert SAID in collected.stdout


def test_nothing_is_said_where_nothing_repeats(tmp_path: Path, viva: Viva):
    made(tmp_path, {"A": twins("xyz")})
    spec = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    out = viva("import", tmp_path / "run.viva", tmp_path / "answers-exam.jsonl", "--benchmark", spec).stdout
    assert "repeat another" not in out
    assert "exam: 3 questions in 3 cases.\n" in viva("status", tmp_path / "run.viva", "--full").stdout


def test_show_lists_the_repeated_questions(run: Run, tmp_path: Path, viva: Viva):
    spec = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    shown = viva("show", spec).stdout
    assert "q55, q56, q57, q58, q59: Give drug 11 at 0.5 mg?" in shown
    (facts,) = json.loads(viva("show", spec, "--json").stdout)["rows"]
    assert (60, 48, 12) == tuple(facts[name] for name in ("questions", "repeated", "cases"))
    assert [{"items": ["q00", "q01", "q02", "q03", "q04"], "question": "Give drug 0 at 0.5 mg?"}] == (
        facts["repeated_questions"][:1]
    )


def test_show_shortens_a_long_list(tmp_path: Path, viva: Viva):
    items = [{"item": f"q{n:03}", "question": f"{'Long ' * 40}{n % 25}?"} for n in range(250)]
    made(tmp_path, {"A": {"q000": "x"}}, items=items)
    shown = viva("show", f"jsonl(path='{tmp_path / 'exam.jsonl'}')").stdout
    assert "and 2 more: Long Long" in shown
    assert "and 5 more: --json lists all" in shown


def test_a_benchmark_that_cannot_be_read_is_still_described(tmp_path: Path, viva: Viva):
    (tmp_path / "exam.jsonl").write_text("{}")
    (facts,) = json.loads(viva("show", f"jsonl(path='{tmp_path / 'exam.jsonl'}')", "--json").stdout)["rows"]
    assert facts["reason"].startswith("its questions cannot be read: ")
    assert "cases" not in facts


def test_the_report_says_it_where_cases_stand(run: Run, tmp_path: Path, viva: Viva):
    rows = json.loads(viva("report", run.file.path, "--to", tmp_path / "r.html", "--json").stdout)["rows"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<span>48 repeated questions</span>" in page
    assert "<span>12 independent cases</span>" in page
    assert "60 questions in 12 cases; 48 of them repeat another one" in page
    (card,) = (r for r in rows if r["section"] == "card")
    assert (60, 48, 12) == tuple(card[name] for name in ("questions", "repeated", "cases"))
    texts = " ".join(str(r.get("text")) for r in rows if r["section"] in ("methods", "limitation"))
    assert (
        "from 12 independent cases (questions that share a source or a patient are one case, and so are 48"
        in (texts)
    )
    assert SAID in texts


def test_the_examples_of_a_question_are_never_the_question_itself(tmp_path: Path):
    """A repeat among the solved examples would give the key away."""
    items = [
        {"item": f"q{n}", "question": WRITTEN[n % 5](f"Drug {n // 5}?"), "references": [f"key {n // 5}"]}
        for n in range(15)
    ]
    made(tmp_path, {"A": {"q0": "x"}}, items=items)
    plan = plan_collect(f"jsonl(path='{tmp_path / 'exam.jsonl'}')", ["baseline/random"], shots=4)
    for item in plan.items:
        messages = plan.requests.messages(item, {"shots": 4})
        assert item.references[0] not in {m.content for m in messages if m.role == "assistant"}


@pytest.mark.parametrize(("subset", "questions", "n_cases"), [("paper", 63, 42), ("all", 92, 68)])
def test_no_question_of_hivmedqa_repeats_and_its_cases_stand(
    hivmedqa: Path, viva: Viva, subset: str, questions: int, n_cases: int
):
    (facts,) = json.loads(viva("show", f"hivmedqa(data={hivmedqa}, subset={subset})", "--json").stdout)[
        "rows"
    ]
    assert (questions, 0, n_cases) == tuple(facts[name] for name in ("questions", "repeated", "cases"))


def test_no_question_of_the_sample_and_of_cliniqlink_repeats(shared: Path, viva: Viva):
    for spec, questions, n_cases in (
        ("sample", 96, 60),
        (f"cliniqlink(data={shared}/data/cliniqlink)", 35, 35),
    ):
        (facts,) = json.loads(viva("show", spec, "--json").stdout)["rows"]
        assert (questions, 0, n_cases) == tuple(facts[name] for name in ("questions", "repeated", "cases"))
