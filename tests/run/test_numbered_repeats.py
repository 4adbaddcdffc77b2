"""A column that counts the rows of each question and candidate numbers their repeats."""

from pathlib import Path
from typing import Any

import pytest

import vivavoce
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line
from vivavoce.run.exchange.numbered_repeats import numbering_of

KEY = [{"item": item, "candidate": model} for item in ("1", "2") for model in ("m1", "m2")]


def numbering(*numbers: int, column: str = "n", **constants: Any) -> Any:
    rows = [{**key, column: number, **constants} for key in KEY for number in numbers]
    return numbering_of([Line("", row) for row in rows], [column, *constants])


def imported(folder: Path, header: str, *rows: str, **options: Any) -> Any:
    path = folder / "a.csv"
    path.write_text("\n".join([f"id,question,reference,model,response,{header}", *rows]))
    run = vivavoce.open(folder / "r.viva")
    return run, run.import_answers(path, **options)


@pytest.mark.parametrize("column", ["run", "sample", "seed", "Sample no.", "iteration", "Durchlauf", "试验"])
def test_a_column_with_the_name_is_taken_and_said(tmp_path: Path, column: str) -> None:
    rows = ("1,What is x?,x,m,x,2", "1,What is x?,x,m,y,1", "2,What is y?,y,m,y,2", "2,What is y?,y,m,x,1")
    run, result = imported(tmp_path, column, *rows)
    texts = {(row["item"], row["repeat"]): row["text"] for row in run.responses.iter_rows(named=True)}
    assert {("1", 2): "x", ("1", 1): "y", ("2", 2): "y", ("2", 1): "x"} == texts
    assert f"{column!r} numbers the repeats: it counts 2 for a question and candidate." in result.notes


def test_repeats_of_one_text_are_kept(tmp_path: Path) -> None:
    rows = [f"{k},What is {k}?,x,m,x,{run}" for k in (1, 2) for run in (0, 1, 2)]
    _, result = imported(tmp_path, "sample_idx", *rows)
    assert (6, {"rows": 6, "answers": 6}) == (result.responses, dict(result.row_counts))
    assert "'sample_idx' counts from 0: a repeat is one more." in result.notes


def test_another_name_makes_no_repeats_of_the_same_rows(tmp_path: Path) -> None:
    rows = [f"{k},What is {k}?,x,m,x,{n},{n + 2}" for k in (1, 2) for n in (1, 2)]
    _, result = imported(tmp_path, "annotator,score", *rows)
    assert 2 == result.responses


def test_another_name_is_asked_about(tmp_path: Path) -> None:
    rows = [f"{k},What is {k}?,x,m,x{n},{n}" for k in (1, 2) for n in (1, 2)]
    with pytest.raises(InputError, match="Proposed: 'batch_no' numbers the repeats") as error:
        imported(tmp_path, "batch_no", *rows)
    assert "repeat=batch_no" in error.value.options  # type: ignore[attr-defined]
    _, result = imported(tmp_path, "batch_no", *rows, yes=True)
    assert 4 == result.responses


@pytest.mark.parametrize(
    ("numbers", "n"),
    [((1, 2, 3), 3), ((0, 1), 2), ((1, 1), 0), ((1, 3), 0), ((42, 43), 0), ((2, 3), 0), ((1,), 0)],
)
def test_only_a_count_from_0_or_1_numbers_repeats(numbers: tuple[int, ...], n: int) -> None:
    assert n == (entry.n if (entry := numbering(*numbers)) else 0)


@pytest.mark.parametrize(
    "column",
    [
        *(
            "turn",
            "rank",
            "score_1",
            "option",
            "rater",
            "step_no",
            "temperature",
            "Temperature_x",
            "with_context",
        ),
        *(
            "top_p",
            "topK",
            "top_k",
            "few_shot",
            "n_shots",
            "cot",
            "use_rag",
            "prompt_id",
            "language",
            "lang",
            "level",
        ),
        *("difficulty", "split", "version", "is_cot", "Sprache", "fewshot", "with CoT", "no_tools"),
    ],
)
def test_numbers_of_other_things_are_none(column: str) -> None:
    assert numbering(1, 2, column=column) is None


@pytest.mark.parametrize("column", ["round", "Round no.", "轮次"])
@pytest.mark.parametrize("texts", ["xy", "xx"])
def test_rounds_may_be_of_a_dialogue_and_are_asked_about(tmp_path: Path, column: str, texts: str) -> None:
    rows = [f"1,What is x?,x,m,{text},{k}" for k, text in enumerate(texts, 1)]
    with pytest.raises(InputError, match=rf"Proposed: '{column}' numbers the repeats"):
        imported(tmp_path, column, *rows)


def test_seeds_that_do_not_count_are_counted_in_their_order(tmp_path: Path) -> None:
    rows = [f"1,What is x?,x,m,x{seed},{seed}" for seed in (42, 1337)]
    with pytest.raises(InputError, match="are its repeats, in their order"):
        imported(tmp_path, "seed", *rows)


def test_of_two_columns_that_count_the_one_with_the_name_is_taken() -> None:
    rows = [{**key, "run": number, "block": number} for key in KEY for number in (1, 2)]
    assert "run" == numbering_of([Line("", row) for row in rows], ["block", "run"]).column  # type: ignore[union-attr]


def test_ids_of_rows_number_no_repeats() -> None:
    rows = [{**key, "no": number} for number, key in enumerate([*KEY, *KEY], 1)]
    assert numbering_of([Line("", row) for row in rows], ["no"]) is None


def write_repeats(path: Path, *numbers: object) -> Path:
    rows = [f"{k},What is {k}?,x,m,x{k},{number}" for k, number in enumerate(numbers)]
    path.write_text("\n".join(["id,question,reference,model,response,repeat", *rows]))
    return path


@pytest.mark.parametrize("numbers", [(0, 0), (0, 2), (0, 1)])
def test_a_zero_that_counts_no_rows_is_refused_with_what_to_do(tmp_path: Path, numbers: Any) -> None:
    run = vivavoce.open(tmp_path / "r.viva")
    with pytest.raises(InputError, match=r"'repeat' holds 0, and repeats count from 1.*--set repeat=N says"):
        run.import_answers(write_repeats(tmp_path / "a.csv", *numbers))


def test_runs_in_files_of_their_own_stay_apart(tmp_path: Path) -> None:
    run = vivavoce.open(tmp_path / "r.viva")
    run.import_answers(write_repeats(tmp_path / "a.csv", 0, 0), set={"repeat": 2})
    run.import_answers(write_repeats(tmp_path / "a.csv", 1, 1))
    run.import_answers(write_repeats(tmp_path / "a.csv", 3, 3))
    assert [1, 1, 2, 2, 3, 3] == run.responses["repeat"].sort().to_list()


def test_a_zero_far_down_is_seen(tmp_path: Path) -> None:
    rows = [f"{k},What is {k}?,x,m,x{run},{run}" for run in (1, 0) for k in range(300)]
    _, result = imported(tmp_path, "repeat", *rows)
    assert (600, True) == (result.responses, "'repeat' counts from 0: a repeat is one more." in result.notes)


def test_a_blank_beside_a_zero_is_refused(tmp_path: Path) -> None:
    rows = [f"1,What is x?,x,m,x{run},{run}" for run in (0, 1, "")]
    with pytest.raises(InputError, match="in whole numbers is read too, and this one does not"):
        imported(tmp_path, "repeat", *rows)
