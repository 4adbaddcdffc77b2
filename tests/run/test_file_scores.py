"""The scores that a file gives to its own answers come in with them, and are compared with ours."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import vivavoce
from vivavoce.core.errors import InputError, SelectionError
from vivavoce.run.exchange.file_scores import names_scores, score_value
from vivavoce.studies.comparing.file_scores import file_scores_lines

HEADER = "id,question,A,B,C,key,model,response"
QUESTIONS = ("1,Opioids?,Iron,Zinc,Salt,B", "2,Heparin?,Salt,Iron,Zinc,A", "3,Scurvy?,Iron,Zinc,Orange,C")
ROWS = tuple(f"{q},{m},{r}" for q, m, r in zip(
    QUESTIONS * 2, ["m1"] * 3 + ["m2"] * 3,
    ["Answer: B", "The answer is A.", "B", "A", "The answer is A.", "**C**"], strict=True,
))  # fmt: skip
CORRECT = ("True", "False", "False", "False", "True", "False")
"""What the file says: it missed the second answer of m1 and the third of m2."""
PARSED = ("B", "", "B", "A", "A", "[invalid]")


def write(path: Path, **columns: Any) -> Path:
    lines = [",".join([HEADER, *columns])]
    lines += [",".join([row, *map(str, cells)]) for row, *cells in zip(ROWS, *columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def imported(folder: Path, *, scored: bool = True, **columns: Any) -> Any:
    run = vivavoce.open(folder / "r.viva")
    run.import_answers(write(folder / "a.csv", **columns))
    return run, run.score() if scored else None


def values(run: Any, criterion: str) -> list[float | None]:
    scores = run.scores.filter((run.scores["metric"] == "file") & (run.scores["criterion"] == criterion))
    return scores.sort("candidate", "item")["value"].to_list()


def test_one_line_says_what_the_file_says_and_what_is_read_here(tmp_path: Path) -> None:
    run, finding = imported(tmp_path, pred=PARSED, correct=CORRECT)
    assert [1, 0, 0, 0, 1, 0] == values(run, "correct")
    assert (
        "The file says 0.333 (correct); read here 0.667 (accuracy); 2 of 6 answers differ (2 that the file"
        f" could not parse): `viva diff {tmp_path / 'r.viva'} file:correct accuracy` lists them."
    ) == finding.notes[0]
    total, first, second = finding.file_scores
    assert ("", 6, 2, 2) == tuple(total[name] for name in ("candidate", "n_both", "n_differ", "n_unparsed"))
    assert [("m1", 1), ("m2", 1)] == [(row["candidate"], row["n_differ"]) for row in (first, second)]


def test_the_command_that_lists_them_can_be_run(viva: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,question,reference,model,response,Exact Match\n1,Q,x,m,x,0\n2,R,x,m,y,0\n")
    run = vivavoce.open(tmp_path / "r.viva")
    run.import_answers(path)
    note = run.score("token_f1", "exact").notes[0]
    assert "read here 0.500 (exact); 1 of 2 answers differs" in note
    words = shlex.split(note.split("`viva ")[1].split("`")[0])
    assert "1 of 2 scores moved" in viva(*words).output


def test_a_file_that_agrees_is_said_to(tmp_path: Path) -> None:
    _, finding = imported(tmp_path, is_correct=(1, 1, 0, 0, 1, 1))
    assert finding.notes[0].endswith("read here 0.667 (accuracy); no answer of 6 differs.")


def test_a_diff_lists_every_answer_that_differs(viva: Any, tmp_path: Path) -> None:
    run, _ = imported(tmp_path, correct=CORRECT)
    finding = run.diff("file", "accuracy")
    assert {("2", "m1"), ("3", "m2")} == {
        (row["item"], row["candidate"]) for row in finding.rows if row["part"] == "item"
    }
    run.import_answers(write(tmp_path / "a.csv", correct=CORRECT, f1=(1, 0, 0, 0, 1, 0)))
    with pytest.raises(SelectionError, match="METRIC:CRITERION names one of each"):
        run.diff("file", "accuracy")
    assert "2 of 6 scores moved" in viva("diff", tmp_path / "r.viva", "file:f1", "accuracy").output


def test_scores_of_a_file_are_no_measure_of_ours(tmp_path: Path) -> None:
    run, finding = imported(tmp_path, correct=CORRECT)
    assert {"accuracy"} == {row["metric"] for row in finding.rows}
    assert {"accuracy"} == {row["metric"] for row in run.compare("m1", "m2").rows}
    assert "file" not in {row.get("metric") for row in run.status().rows}
    assert "file" not in {row.get("metric") for row in run.study("ranking")["ranking"].rows}
    by_file = run.compare("m1", "m2", metric="file")
    assert {"file"} == {row["metric"] for row in by_file.rows}, "who names them compares by them"


def test_a_report_has_both_numbers(viva: Any, tmp_path: Path) -> None:
    imported(tmp_path, pred=PARSED, correct=CORRECT)
    rows = json.loads(viva("report", tmp_path / "r.viva", "--json").output)["rows"]
    of_file = [row for row in rows if row["section"] == "file_scores"]
    assert [(0.333333333, 0.666666667)] == [
        (r["file_score"], r["score"]) for r in of_file if not r["candidate"]
    ]
    assert {"file"} == {row["metric"] for row in of_file}
    assert "file" not in {row["metric"] for row in rows if row["section"] == "leaderboard"}
    assert "Scores that came with the answers" in (tmp_path / "r.html").read_text()


def test_scores_of_the_same_file_by_hand_are_no_import_of_the_same_once_more(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, correct=(1, 0, 1, 0, 1, 0))
    judge = {"measure": "judge(model=x)", "criteria": ["correct"]}
    assert 6 == run.import_scores(tmp_path / "a.csv", **judge).scores


def test_the_same_file_again_changes_nothing_and_another_score_is_refused(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, correct=CORRECT)
    assert 6 == run.import_answers(tmp_path / "a.csv").unchanged
    with pytest.raises(InputError, match="own scores are left out by --criteria none"):
        run.import_answers(write(tmp_path / "a.csv", correct=("False", *CORRECT[1:])))


@pytest.mark.parametrize(
    ("name", "is_score"),
    [
        *[
            (name, True)
            for name in ("correct", "is_correct", "isCorrect", "Accuracy", "exact_match", "F1 Score")
        ],
        *[
            (name, True)
            for name in ("metrics.acc", "gpt-4_judge_score", "ist_korrekt", "Puntuación", "是否正确")
        ],
        *[(name, None) for name in ("match", "ok", "passed", "is_valid", "result", "reward")],
        *[(name, False) for name in ("confidence_score", "n_correct", "is_hard", "temperature", "incorrect")],
        *[(name, False) for name in ("human_accuracy", "national_score", "expert_score", "average_score")],
        *[(name, False) for name in ("mean_score", "students_correct", "pass_rate", "p_value", "avg_acc")],
        *[
            (name, False)
            for name in ("Studierende richtig", "Punktzahl Menschen", "durchschnittliche_punktzahl")
        ],
        *[(name, False) for name in ("puntuación_media", "acierto_humano", "estudiantes_correcto")],
        *[(name, False) for name in ("score_moyen", "exactitude humaine", "score des élèves")],
        *[(name, True) for name in ("human_rating", "expert_judgment", "正誤", "accuracy_norm")],
        *[(name, False) for name in ("score_model_prompt", "correct_option", "", "score_std", "has_image")],
    ],
)
def test_a_name_says_whether_a_column_holds_scores(name: str, is_score: bool | None) -> None:
    assert is_score is names_scores(name)


def test_scores_are_truths_shares_percents_and_words() -> None:
    cells = (True, 0, 0.5, "1", "0,25", "75%", "Yes", "incorrect", "✓", " ", None, float("nan"))
    assert [1, 0, 0.5, 1, 0.25, 0.75, 1, 0, 1, None, None, None] == [*map(score_value, cells)]
    assert [1, 0, 1, 0, 1, 0] == [*map(score_value, ("是", "否", "正确", "错误", "正解", "不正解"))]
    for text in ("2", -1, 1.5, "B", "101%", [1], float("inf"), "nan%", "1_0", 10**400):
        with pytest.raises(ValueError):  # noqa: PT011
            score_value(text)


def test_a_column_that_may_hold_scores_is_asked_about(viva: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", correct=CORRECT, ok=(1, 1, 0, 1, 1, 1), valid=[1] * 6)
    with pytest.raises(InputError) as error:
        viva("import", tmp_path / "r.viva", path)
    assert "Whether 'ok' (1) is a score that the file gives to its answers. Proposed: yes" in str(error.value)
    assert str(error.value).endswith(f"viva import {tmp_path / 'r.viva'} {path} --criteria correct,ok")
    viva("import", tmp_path / "r.viva", path, "--criteria", "correct")
    assert {"correct"} == {*vivavoce.open(tmp_path / "r.viva").scores["criterion"]}
    assert "own scores" not in viva("import", tmp_path / "n.viva", path, "--criteria", "none").output


def test_what_is_the_same_for_all_models_of_a_question_is_no_score_of_answers(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", correct=CORRECT, accuracy=(0.8, 0.6, 0.3) * 2, passed=("0.9", "", 0.4) * 2
    )
    answers = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert {"correct": 6} == answers.file_scores
    sentence = (
        "'accuracy', 'passed' say the same of all models of a question and came in as no score of answers"
    )
    assert any(note.startswith(f"{sentence}: --criteria accuracy,passed takes") for note in answers.notes)
    chosen = vivavoce.open(tmp_path / "s.viva").import_answers(path, criteria=["accuracy"])
    assert {"accuracy": 6} == chosen.file_scores, "who names it gets it"


def test_a_score_of_which_one_model_alone_tells_stays(tmp_path: Path) -> None:
    lines = [
        ",".join([HEADER, "accuracy"]),
        *(f"{q},m,B,{v}" for q, v in zip(QUESTIONS, (1, 0.5, 0), strict=True)),
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    answers = vivavoce.open(tmp_path / "r.viva").import_answers(tmp_path / "a.csv")
    assert {"accuracy": 3} == answers.file_scores


@pytest.mark.parametrize(("n", "taken"), [(19, {"correct": 38}), (20, {})])
def test_two_models_may_both_be_right_on_a_few_questions(tmp_path: Path, n: int, taken: Any) -> None:
    rows = [f"{k},Q{k}?,x,y,z,A,{m},A,{k % 2}" for m in ("m1", "m2") for k in range(n)]
    (tmp_path / "a.csv").write_text(
        "\n".join([f"{HEADER},correct", *rows]).replace(",key,", ",answer,") + "\n"
    )
    assert taken == vivavoce.open(tmp_path / "r.viva").import_answers(tmp_path / "a.csv").file_scores


def test_columns_of_models_share_no_score(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(
        "question,ground_truth,accuracy,gpt-4o_response,gpt-4o_correct,llama-3_response,llama-3_correct\n"
        "Which?,Iron,0.7,Iron,1,Zinc,0\nWhy?,Gold,0.4,Zinc,0,Gold,1\n"
    )
    assert {"correct": 4} == vivavoce.open(tmp_path / "r.viva").import_answers(path).file_scores


@pytest.mark.parametrize(
    ("header", "right", "wrong"),
    [
        ("编号,问题,A,B,C,D,正确答案,模型,回答,是否正确", "是", "否"),
        ("题号,题目,A,B,C,D,标准答案,模型名称,模型回答,得分", "正确", "错误"),
        ("番号,質問,A,B,C,D,正解,モデル,回答,正誤", "正解", "不正解"),
        ("問題番号,問題,A,B,C,D,正答,モデル名,出力,得点", "1", "0"),
    ],
)
def test_a_chinese_or_japanese_table_is_read(tmp_path: Path, header: str, right: str, wrong: str) -> None:
    rows = [f"{k},Q{k}?,w,x,y,z,B,{m},B,{right if k else wrong}" for m in "mn" for k in (0, 1)]
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]) + "\n")
    run = vivavoce.open(tmp_path / "r.viva")
    answers = run.import_answers(tmp_path / "a.csv")
    column = header.rpartition(",")[2]
    assert ({"mcq": 2}, {column: 4}) == (answers.formats, answers.file_scores)
    assert (
        f"The file says 0.500 ({column}); read here 1.000 (accuracy); 2 of 4 answers" in run.score().notes[0]
    )


def test_a_name_that_is_no_column_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", correct=CORRECT)
    with pytest.raises(InputError, match="no column 'corect' with the file's scores of its answers"):
        vivavoce.open(tmp_path / "r.viva").import_answers(path, criteria=["corect"])


def test_correct_alone_is_a_key_or_a_score_and_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,model,response,correct\nWhat is it?,m,A drug,True\nWhy?,m,It falls,False\n")
    with pytest.raises(InputError, match=r"Whether 'correct' \(True\) is the key, .* Proposed: the score"):
        vivavoce.open(tmp_path / "r.viva").import_answers(path)
    path.write_text("question,model,response,correct\nIs it?,m,Yes.,True\nWhy?,m,True,False\n")
    with pytest.raises(InputError, match="Proposed: the key"):
        vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert {"true_false": 2} == vivavoce.open(tmp_path / "r.viva").import_answers(path, yes=True).formats
    path.write_text("id,question,A,B,correct,model,response\n1,Q,x,y,0,m,A\n2,R,x,y,1,m,A\n")
    with pytest.raises(InputError, match="Proposed: the key"):
        vivavoce.open(tmp_path / "o.viva").import_answers(path)
    path.write_text("question,answer,model,response,correct\nIs it?,True,m,yes,True\nOr?,False,m,yes,False\n")
    imported_both = vivavoce.open(tmp_path / "k.viva").import_answers(path)
    assert ({"true_false": 2}, {"correct": 2}) == (imported_both.formats, imported_both.file_scores)
    path.write_text("question,reference,model,response,correct\nWhat?,iron,m,Iron.,True\nWhy?,b,m,It,False\n")
    assert {"correct": 2} == vivavoce.open(tmp_path / "x.viva").import_answers(path).file_scores


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ((1, 1, 0, 0, 1, "?"), r"line 7: score is '\?'"),
        ((1, 2, 3, 4, 5, 3), "'score' holds 1 to 5, and scores of 0 to 1 alone come in beside answers"),
    ],
)
def test_what_is_no_score_after_all_is_said_and_not_taken(tmp_path: Path, column: Any, sentence: str) -> None:
    path = write(tmp_path / "a.csv", score=column)
    if "line 7" in sentence:  # what stands behind the rows that are looked at first
        text = path.read_text().splitlines()
        extra = [row.replace("1,Opioids?", f"x{k},More {k}?") for k in range(300) for row in text[1:2]]
        path.write_text("\n".join([*text[:1], *extra, *text[1:]]) + "\n")
        sentence = sentence.replace("line 7", "line 307")
    imported_answers = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert {} == imported_answers.file_scores
    assert any(re.search(sentence, note) for note in imported_answers.notes)
    assert "score" in imported_answers.left_out


def test_two_scores_of_one_answer_are_not_one_in_silence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", correct=CORRECT)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1].replace("True", "False")]) + "\n")
    imported_answers = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert {} == imported_answers.file_scores
    assert any("line 8: an answer has a second score" in note for note in imported_answers.notes)
    with pytest.raises(InputError, match="leave it out of --criteria"):
        vivavoce.open(tmp_path / "s.viva").import_answers(path, criteria=["correct"])


def test_scores_of_columns_of_models_and_of_lists_of_repeats(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text(
        "question,ground_truth,gpt-4o_response,gpt-4o_correct,llama-3_response,correct_llama-3\n"
        "Which?,Iron,Iron,1,Zinc,0\nWhy?,Gold,Zinc,0,Gold,1\n"
    )
    run = vivavoce.open(tmp_path / "wide.viva")
    assert {"correct": 4} == run.import_answers(wide).file_scores
    by_text = run.scores.join(run.responses, on=["item", "candidate"]).select("candidate", "text", "value")
    right = {
        ("gpt-4o", "Iron", 1.0),
        ("llama-3", "Zinc", 0.0),
        ("gpt-4o", "Zinc", 0.0),
        ("llama-3", "Gold", 1.0),
    }
    assert right == {*by_text.rows()}
    rows = [{"id": k, "question": f"Q{k}?", "reference": "a", "model": "m", "outputs": ["a", "b"],
             "scores": [1, 0.5]} for k in range(2)]  # fmt: skip
    lists = vivavoce.open(tmp_path / "lists.viva")
    (tmp_path / "lists.json").write_text(json.dumps(rows))
    assert {"scores": 4} == lists.import_answers(tmp_path / "lists.json").file_scores
    assert [1, 1, 0.5, 0.5] == lists.scores.sort("repeat")["value"].to_list()


def test_the_score_of_a_tools_log_is_compared_by_the_same_line(shared: Path, tmp_path: Path) -> None:
    run = vivavoce.open(tmp_path / "r.viva")
    run.import_logs(shared / "data/peers/lm_eval")
    assert any(note.startswith("lm_eval says ") for note in run.score().notes)


def test_the_scores_of_a_tools_logs_can_be_told_apart(shared: Path, tmp_path: Path) -> None:
    run = vivavoce.open(tmp_path / "r.viva")
    run.import_logs(shared / "data/peers/lm_eval/recorded")
    starts = [note.split(";")[0] for note in run.score().notes if note.startswith("lm_eval says ")]
    assert "lm_eval says 0.200 (exact_match(filter=strict-match))" in starts
    assert "lm_eval says 0.800 (exact_match(filter=flexible-extract))" in starts


def test_a_line_names_the_measure_or_the_benchmark_that_sets_it_apart() -> None:
    def total(metric: str, criterion: str, benchmark: str, score: float | None = None) -> dict[str, Any]:
        source = metric.partition(".")[0]
        return {"source": source, "metric": metric, "criterion": criterion, "benchmark": benchmark,
                "candidate": "", "file_mean": 0.25, "score": score}  # fmt: skip

    rows = [
        *(total(f"lm_eval.{name}", "value", "arc") for name in ("acc", "acc_norm")),
        *(total("lm_eval.f1", "value", benchmark) for benchmark in ("squad", "coqa")),
        *(total(f"inspect.{name}", "grade", "arc") for name in ("fact", "style")),
        *(total("file", name, "arc") for name in ("value", "correct")),
    ]
    assert file_scores_lines(rows, "r.viva") == [
        "Scores that came with the answers and are compared with none: acc 0.250, acc_norm 0.250, "
        "f1 on squad 0.250, f1 on coqa 0.250, fact: grade 0.250, style: grade 0.250, value 0.250, "
        "correct 0.250."
    ]
