"""Columns of several people's scores beside answers come in as scores of these raters, in one import."""

from pathlib import Path
from typing import Any

import pytest

import vivavoce
from vivavoce.core.errors import InputError
from vivavoce.run.exchange.rater_columns import rater_columns, rater_in

HEADER = "id,question,reference,model,response"
ROWS = [f"{k},What is {name}?,{name},m,{name} is" for k, name in enumerate("abcdefghij", 1)]
FIRST, SECOND = "1101101100", "1100101110"


def write(path: Path, **columns: Any) -> Path:
    names = [name.replace("__", " ") for name in columns]
    lines = [",".join([HEADER, *names])]
    lines += [",".join([row, *map(str, cells)]) for row, *cells in zip(ROWS, *columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def imported(folder: Path, *, options: dict[str, Any] | None = None, **columns: Any) -> Any:
    run = vivavoce.open(folder / "r.viva")
    return run, run.import_answers(write(folder / "a.csv", **columns), **(options or {}))


def raters(run: Any) -> dict[tuple[str, str], list[float]]:
    frame = run.scores.filter(run.scores["metric"] == "people")
    rows = frame.sort(frame["item"].cast(int)).select("rater", "criterion", "value").rows()
    by_rater: dict[tuple[str, str], list[float]] = {}
    for rater, criterion, value in rows:
        by_rater.setdefault((rater, criterion), []).append(value)
    return by_rater


@pytest.mark.parametrize(
    ("column", "rater", "criterion"),
    [
        ("rater_1", "rater_1", "value"),
        ("annotator_a", "annotator_a", "value"),
        ("physician_1_score", "physician_1", "score"),
        ("Gutachter 1", "Gutachter 1", "value"),
        ("Ärztin 2 Klarheit", "Ärztin 2", "klarheit"),
        ("accuracy_rater2", "rater2", "accuracy"),
        ("ratings.rater_1.safety", "rater_1", "ratings_safety"),
        ("Évaluateur 3", "Évaluateur 3", "value"),
        ("Médico 1", "Médico 1", "value"),
        ("MÉDECIN 2 CLARTÉ", "MÉDECIN 2", "clarte"),
        ("RATER_1_SCORE", "RATER_1", "score"),
        ("Rater II", "Rater II", "value"),
        ("专家A评分", "专家A", "评分"),
        ("评估者1", "评估者1", "value"),
        ("reviewerB_harm", "reviewerB", "harm"),
    ],
)
def test_a_name_that_numbers_a_rater_says_rater_and_criterion(
    column: str, rater: str, criterion: str
) -> None:
    assert (column, rater, criterion) == rater_in(column)


@pytest.mark.parametrize(
    "column",
    [
        *(
            "rater_1_id",
            "annotator_2_time",
            "rater_1_confidence",
            "rater_mean",
            "n_raters",
            "expert_1_comment",
        ),
        *("student_1_correct", "rouge_1", "logprob_a", "option_a", "option_1", "physician_1_answer", "rater"),
    ],
)
def test_other_columns_number_no_rater(column: str) -> None:
    assert rater_in(column) is None
    assert ((), ()) == rater_columns([column], lambda _: [0, 1, 1])


@pytest.mark.parametrize(
    "column",
    [
        *(
            "Experto a favor",
            "expert a priori",
            "physician_a_or_b",
            "experts_2_of_3_agree",
            "Experte 1 Antwort",
        ),
        *(
            "Experte 1 Antwort",
            "expert_2_license",
            "rater_2_start",
            "rater_3_birth",
            "reviewer_1_or_2",
            "expert_1_choice",
        ),
    ],
)
def test_words_and_articles_are_no_raters(column: str) -> None:
    assert rater_in(column) is None


def test_a_letter_without_the_first_ones_is_no_rater(tmp_path: Path) -> None:
    assert ((), ()) == rater_columns(["physician_f", "physician_m"], lambda _: [0, 1, 1])
    sure, _ = rater_columns(["physician_b", "physician_a", "physician_c_safety"], lambda _: [0, 1, 1])
    assert ["physician_b", "physician_a", "physician_c"] == [rater.rater for rater in sure]
    _, result = imported(tmp_path, physician_f=FIRST)
    assert {} == result.people_scores
    assert any("--raters physician_f takes it" in note for note in result.notes)


@pytest.mark.parametrize(
    ("column", "values", "n"),
    [
        ("rater_1", range(0, 101, 5), 1),
        ("rater_1_safety", range(0, 101, 5), 1),
        ("rater_1_minimum", range(13), 0),
        ("rater_1_income", (1200, 3000), 0),
        ("rater_1", (1975, 1980), 0),
    ],
)
def test_measurements_are_no_scores_of_a_numbered_rater(column: str, values: Any, n: int) -> None:
    assert n == len(rater_columns([column], lambda _: list(values)).sure)


def test_what_experts_may_have_chosen_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{k},What is {k}?,a,b,c,d,A,m,B,{k % 4 + 1},{k % 3 + 1}" for k in range(8)]
    path.write_text("\n".join(["id,question,A,B,C,D,answer,model,response,expert_1,expert_2_score", *rows]))
    run = vivavoce.open(tmp_path / "r.viva")
    with pytest.raises(
        InputError, match=r"'expert_1' .*, or numbers of the options that they chose"
    ) as error:
        run.import_answers(path)
    assert "expert_2_score,expert_1" in error.value.options  # type: ignore[attr-defined]
    assert {"expert_2_score": 8} == run.import_answers(path, raters=["expert_2_score"]).people_scores


def test_two_columns_of_one_rater_and_criterion_stay_apart() -> None:
    sure, _ = rater_columns(["rater_1_accuracy", "accuracy_rater_1"], lambda _: [0, 1, 1])
    assert [("rater_1", "accuracy"), ("rater_1", "accuracy_rater_1")] == [rater[1:] for rater in sure]


def test_numbered_raters_come_in_without_a_question(tmp_path: Path) -> None:
    run, result = imported(tmp_path, rater_1=FIRST, rater_2=SECOND)
    assert {"rater_1": 10, "rater_2": 10} == result.people_scores
    assert [float(digit) for digit in FIRST] == raters(run)["rater_1", "value"]
    assert {} == result.file_scores
    assert () == result.left_out
    assert "people, 20 scores: value by rater_1 (10) and rater_2 (10)." in result.notes[-1]
    rows = run.study("agreement")["agreement"].rows
    assert {("people()", "value", "raters", 20)} == {
        (row["metric"], row["criterion"], row["contrast"], row["n_ratings"]) for row in rows
    }


def test_an_empty_cell_is_no_score_and_counts_add_up(tmp_path: Path) -> None:
    run, result = imported(tmp_path, rater_1=[*FIRST[:4], *[""] * 6], rater_2=SECOND)
    assert {"rater_1": 4, "rater_2": 10} == result.people_scores
    assert {"people"} == set(run.scores["metric"])
    assert run.scores.height == 14


@pytest.mark.parametrize("empty", ["NA", "n/a", "-", "–", " ", "N/A"])
def test_a_word_for_nothing_is_an_empty_cell(tmp_path: Path, empty: str) -> None:
    _, result = imported(tmp_path, rater_1=[*FIRST[:4], *[empty] * 6], rater_2=SECOND)
    assert {"rater_1": 4, "rater_2": 10} == result.people_scores


def test_people_stand_beside_the_scores_of_the_file(tmp_path: Path) -> None:
    run, result = imported(
        tmp_path, exact_match=FIRST, physician_1_score="1234512345", physician_2_score="1234512355"
    )
    assert {"exact_match": 10} == result.file_scores
    assert {"physician_1_score": 10, "physician_2_score": 10} == result.people_scores
    assert {None} == {m.criterion.low for m in run.measures if m.metric == "people"}


def test_names_beside_a_word_for_scores_are_asked_about_once(viva: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", dr_anna_correct=FIRST, dr_ben_correct=SECOND, accuracy=FIRST)
    question = r"'dr_anna_correct' \(1\), 'dr_ben_correct' \(1\) are scores by several people \(anna, ben\)"
    with pytest.raises(InputError, match=rf"(?s){question}.*--raters dr_anna_correct,dr_ben_correct"):
        viva("import", tmp_path / "r.viva", path)
    viva("import", tmp_path / "r.viva", path, "--raters", "dr_anna_correct,dr_ben_correct")
    run = vivavoce.open(tmp_path / "r.viva")
    assert {("anna", "correct"), ("ben", "correct")} == raters(run).keys()


def test_who_says_no_has_the_scores_of_the_file(tmp_path: Path) -> None:
    columns = {"rater_anna_correct": FIRST, "rater_ben_correct": SECOND}
    _, result = imported(tmp_path, options={"raters": ["none"]}, **columns)
    assert {"rater_anna_correct": 10, "rater_ben_correct": 10} == result.file_scores
    assert {} == result.people_scores


def test_without_a_word_for_people_scores_are_the_files_own_and_nobody_is_asked(tmp_path: Path) -> None:
    _, result = imported(tmp_path, diagnosis_correct=FIRST, treatment_correct=SECOND)
    assert ({"diagnosis_correct": 10, "treatment_correct": 10}, {}) == (
        result.file_scores,
        result.people_scores,
    )


def test_names_alone_are_raters_where_the_user_says_so(tmp_path: Path) -> None:
    columns = {"anna_correct": FIRST, "ben_correct": SECOND}
    run, result = imported(tmp_path, options={"raters": [*columns]}, **columns)
    assert {("anna", "correct"), ("ben", "correct")} == raters(run).keys()
    assert {} == result.file_scores


def test_criterion_by_rater_is_told_in_both_orders(tmp_path: Path) -> None:
    columns = {
        f"{criterion}_rater_{name}": "1234512345"
        for criterion in ("clarity", "safety")
        for name in ("anna", "ben")
    }
    run, _ = imported(tmp_path, options={"yes": True}, **columns)
    assert {(name, criterion) for name in ("anna", "ben") for criterion in ("clarity", "safety")} == raters(
        run
    ).keys()


@pytest.mark.parametrize(
    "columns",
    [
        ("clarity_score", "safety_score"),
        ("strict_correct", "lenient_correct"),
        ("input_tokens", "output_tokens", "input_cost", "output_cost"),
        ("rouge_score", "bleu_score"),
        ("llama_correct", "mistral_correct"),
        ("correct", "incorrect"),
        ("warmth_score", "trust_score", "depth_score"),
        ("hallucination_score", "omission_score"),
        ("Punkte Diagnose", "Punkte Therapie"),
        ("puntuacion_diagnostico", "puntuacion_tratamiento"),
        ("topic_label", "domain_label"),
        ("national_rating", "school_rating"),
        ("abdomen_clarity", "thorax_clarity", "abdomen_safety", "thorax_safety"),
        ("human_hallucination_score", "human_omission_score"),
        ("score_1", "score_2"),
    ],
)
def test_criteria_and_models_are_no_raters(columns: tuple[str, ...]) -> None:
    assert ((), ()) == rater_columns(columns, lambda _: [0, 1, 1])


def test_words_are_no_score_and_the_import_says_so(tmp_path: Path) -> None:
    _, result = imported(tmp_path, annotator_a=["good", "bad"] * 5, annotator_b=FIRST)
    assert {"annotator_b": 10} == result.people_scores
    assert ("annotator_a",) == result.left_out
    assert any("'annotator_a' holds 'good', no number" in note for note in result.notes)


def test_a_word_far_down_keeps_the_column_out_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{k},What is {k}?,{k},m,{k},1" for k in range(300)]
    path.write_text("\n".join([f"{HEADER},rater_1", *rows, "300,What else?,x,m,x,often"]))
    result = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert any("rater_1 is 'often'" in note and "it is not taken" in note for note in result.notes)
    with pytest.raises(InputError, match="leave it out of --raters"):
        vivavoce.open(tmp_path / "s.viva").import_answers(path, raters=["rater_1"])


def test_the_same_again_changes_nothing_and_another_score_is_refused(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, rater_1=FIRST)
    assert 10 == run.import_answers(tmp_path / "a.csv").unchanged
    with pytest.raises(InputError, match="people's by --raters none"):
        run.import_answers(write(tmp_path / "a.csv", rater_1=SECOND))


def test_a_rater_is_named_by_the_user(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, options={"raters": ["Dr. X=s1", "Dr. Y=s2"]}, s1=FIRST, s2=SECOND)
    assert {"Dr. X", "Dr. Y"} == {rater for rater, _ in raters(run)}


def test_in_a_table_with_a_column_for_each_model_raters_are_of_their_model(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text(
        "id,question,reference,gpt-4o_response,llama_response,gpt-4o_rater_1,llama_rater_1\n"
        "1,What is a?,a,a,b,1,0\n2,What is b?,b,a,b,0,1\n"
    )
    run = vivavoce.open(tmp_path / "r.viva")
    result = run.import_answers(path)
    assert {"rater_1": 4} == result.people_scores
    assert [1, 0, 0, 1] == run.scores.sort("candidate", "item")["value"].to_list()


def test_how_well_people_answer_a_question_is_no_score_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{k},What is {k}?,{k},{m},{k},{k % 5 / 4}" for k in range(10) for m in ("m1", "m2")]
    path.write_text("\n".join([f"{HEADER},physician_1_score", *rows]))
    result = vivavoce.open(tmp_path / "r.viva").import_answers(path)
    assert {} == result.people_scores
    assert any("says the same of all models" in note for note in result.notes)
