"""`viva look`: what a file is, what it supports and which command comes next; no run is made."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce import cli
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError

EXAM = [{"id": f"q{k}", "question": f"What is number {k}?", "references": [f"answer {k}"]} for k in range(40)]


def answers(*candidates: str, repeats: int = 1, **more: Any) -> list[dict[str, Any]]:
    return [
        {"item": row["id"], "question": row["question"], "reference": row["references"][0], "model": name,
         "repeat": repeat, "response": f"answer {k % 7}", **more}
        for k, row in enumerate(EXAM) for name in candidates for repeat in range(1, repeats + 1)
    ]  # fmt: skip


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def look(*paths: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The row of the file, and what is supported by its subject."""
    (file, *more) = viva.look(*paths).rows
    return dict(file), {row["subject"]: row["supported"] for row in more if row["row"] == "support"}


def test_answers_of_two_models_support_a_comparison_and_say_what_they_do_not(tmp_path: Path) -> None:
    file, supported = look(written(tmp_path / "a.jsonl", answers("A", "B")))
    assert "answers" == file["kind"]
    assert "40 questions, 80 answers of 2 candidates" in file["text"]
    assert {
        "scoring": "yes",
        "estimates": "yes",
        "comparison": "yes",
        "consistency": "no",
        "people": "no",
    } == (supported)


def test_the_smallest_difference_is_that_of_the_cases_at_hand(tmp_path: Path) -> None:
    rows = viva.look(written(tmp_path / "a.jsonl", answers("A", "B"))).rows
    (text,) = (row["text"] for row in rows if row.get("subject") == "comparison")
    # (t(.975, 39) + t(.8, 39)) * sqrt(.3 / 40) = (2.023 + .851) * .0866 = .2489
    assert "a difference of 25 points or more" in text


def test_one_model_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    _, supported = look(written(tmp_path / "a.jsonl", answers("A")))
    assert "no" == supported["comparison"]


def test_candidates_without_a_question_in_common_are_not_compared(tmp_path: Path) -> None:
    rows = [row for row in answers("A", "B") if (row["model"] == "A") == (int(row["item"][1:]) < 6)]
    _, supported = look(written(tmp_path / "a.jsonl", rows))
    assert "no" == supported["comparison"]


def supported_by(path: Path, subject: str) -> tuple[str, str]:
    (row,) = [row for row in viva.look(path).rows if row.get("subject") == subject]
    return row["supported"], row["text"]


def test_pairs_are_tested_together_so_that_more_models_need_a_larger_difference(tmp_path: Path) -> None:
    rows = [{**row, "item": f"{row['item']} {k}", "question": f"{row['question']} {k}"}
            for k in range(3) for row in answers(*"ABC")]  # fmt: skip
    _, text = supported_by(written(tmp_path / "a.jsonl", rows), "comparison")
    assert "3 pairs tested together" in text
    # (t(1 - .05 / 6, 119) + t(.8, 119)) * sqrt(.3 / 120) = (2.428 + .845) * .05 = .1636
    assert "a difference of 17 points or more" in text


def test_few_cases_or_a_case_of_most_questions_find_no_difference_that_may_exist(tmp_path: Path) -> None:
    few = written(tmp_path / "few.jsonl", answers("A", "B")[:24])
    one_case = written(tmp_path / "case.jsonl", [
        {**row, "group": "x" if int(row["item"][1:]) < 28 else row["item"]} for row in answers("A", "B")
    ])  # fmt: skip
    assert "part" == supported_by(few, "comparison")[0]
    assert ("part", "part") == (
        supported_by(one_case, "comparison")[0],
        supported_by(one_case, "estimates")[0],
    )
    assert "effective" in supported_by(one_case, "comparison")[1]


def test_other_questions_in_the_same_cases_are_nothing_in_common(tmp_path: Path) -> None:
    rows = [
        {**row, "group": str(int(row["item"][1:]) // 2)}
        for row in answers("A", "B") if (row["model"] == "A") == (int(row["item"][1:]) % 2 == 0)
    ]  # fmt: skip
    assert "no" == supported_by(written(tmp_path / "a.jsonl", rows), "comparison")[0]


def test_what_an_import_refuses_is_said_with_its_reason(tmp_path: Path) -> None:
    rows = answers("A")
    rows[3]["item"] = rows[2]["item"]
    (file, reason, *_) = viva.look(written(tmp_path / "a.jsonl", rows)).rows
    assert "refused" == file["kind"]
    assert rows[2]["item"] in reason["text"]


@each_case("name", ["empty.txt", "junk.pdf", "table.txt"])
def test_a_name_alone_makes_no_document(tmp_path: Path, name: str) -> None:
    content = {"empty.txt": b"", "junk.pdf": b"\x00\x01", "table.txt": b"id\ttext\nq1\tx\n"}[name]
    (tmp_path / name).write_bytes(content)
    assert "unknown" == look(tmp_path / name)[0]["kind"]


def test_a_name_that_begins_with_a_dash_and_one_with_quotes_are_words_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "-lead.jsonl", answers("A"))
    assert "./-lead.jsonl" in viva.look("-lead.jsonl").rows[0]["command"]
    exam = written(tmp_path / "it's, (1).jsonl", EXAM)
    command = shlex.split(viva.look(exam).rows[0]["command"])
    assert ["viva", "collect", "exam.viva"] == command[:3]
    assert 40 == len(load(command[3]).items)


def test_repeats_support_consistency(tmp_path: Path) -> None:
    _, supported = look(written(tmp_path / "a.jsonl", answers("A", repeats=3)))
    assert "yes" == supported["consistency"]


def test_two_raters_support_agreement_and_one_does_not(tmp_path: Path) -> None:
    alone = written(tmp_path / "a.jsonl", answers("A", rater_1=1))
    pair = written(tmp_path / "b.jsonl", answers("A", rater_1=1, rater_2=0))
    assert ("part", "yes") == tuple(look(path)[1]["people"] for path in (alone, pair))


def test_questions_without_a_key_need_a_judge(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "reference"} for row in answers("A", "B")]
    _, supported = look(written(tmp_path / "a.jsonl", rows))
    assert "no" == supported["scoring"]


TABLES = {
    "exam": "id,question,answer\nq1,What is aspirin?,A drug\nq2,What is heparin?,An anticoagulant\n",
    "scores": "item,model,score\nq1,A,1\nq1,B,0\n",
    "answers alone": "item,model,response\nq1,A,Aspirin\nq1,B,Heparin\n",
    "reviews": "rater,item,correct,relevance,category\nann,q1,yes,5,x\n",
    "totals": "model,accuracy\nA,0.81\nB,0.79\n",
    "unknown": "foo,bar\n1,2\n",
}


@each_case("kind", TABLES)
def test_a_table_is_told_by_its_columns(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLES[kind], encoding="utf-8")
    file, supported = look(path)
    assert (kind, {}) == (file["kind"], supported)


def test_columns_that_nobody_calls_answers_make_an_exam_with_an_open_question(tmp_path: Path) -> None:
    rows = [{"id": f"q{k}", "question": f"What is number {k}?", "gold": f"answer {k}",
             "chapter": f"a chapter on {k}", "remark": f"a remark on {k}"} for k in range(3)]  # fmt: skip
    path = written(tmp_path / "exam.jsonl", rows)
    (file, *more) = viva.look(path).rows
    assert "exam" == file["kind"]
    assert "whether it has answers too is left open" in file["text"]
    (question,) = (row["text"] for row in more if row["row"] == "open")
    assert "chapter, remark" in question
    assert file["command"].startswith("viva collect exam.viva")


def test_words_beside_a_model_and_a_question_are_no_scores(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item,model,note\nq1,A,good\nq1,B,bad\n", encoding="utf-8")
    assert "unknown" == look(path)[0]["kind"]


def test_what_is_left_open_stands_in_the_next_command_which_then_works(tmp_path: Path) -> None:
    rows = [{"question": "What is it?", "gold": "aspirin", "output": text} for text in ("aspirin", "heparin")]
    path = written(tmp_path / "a.jsonl", rows)
    with pytest.raises(InputError):
        viva.open(tmp_path / "other.viva").import_answers(path)
    finding = viva.look(path)
    assert [row for row in finding.rows if row["row"] == "open"]
    words = shlex.split(finding.rows[0]["command"].replace("exam.viva", str(tmp_path / "exam.viva")))
    done = CliRunner().invoke(cli.app, words[1:])
    assert 0 == done.exit_code, done.output
    assert 2 == viva.open(tmp_path / "exam.viva").responses.height


def test_a_run_is_looked_at_as_it_is(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "run.viva")
    run.import_answers(answers("A", "B"), name="exam")
    stored = run.file.path.read_bytes()
    file, supported = look(run.file.path)
    assert ("run", "yes") == (file["kind"], supported["comparison"])
    assert stored == run.file.path.read_bytes()


def test_no_run_is_made_and_nothing_lies_beside_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", answers("A"))
    viva.look(path)
    assert [path] == list(tmp_path.iterdir())


def test_a_document_is_what_questions_are_made_of(tmp_path: Path) -> None:
    path = tmp_path / "guideline.txt"
    path.write_text("Heparin is given at once.", encoding="utf-8")
    assert "document" == look(path)[0]["kind"]


def test_a_path_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        viva.look(tmp_path / "nothing.csv")


def test_a_log_of_a_tool_is_named(shared: Path) -> None:
    file, _ = look(shared / "data" / "field" / "json_objects" / "lm_eval_040_x_medqa_4options.jsonl")
    assert "log" == file["kind"]
    assert "lm_eval" in file["text"]


def test_a_file_that_is_not_known_ends_with_1_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLES["unknown"], encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["look", str(path)])
    assert 1 == done.exit_code
    assert "not known what this is" in done.output
    assert "foo, bar" in done.output
