"""`viva import` in the shell: what it prints of how it read a file, and the words that state it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce.core.errors import InputError

Viva = Callable[..., Any]
TABLE = "id;question;answer;model;response;note\n1;Wie viel µg?;5 µg;A;5 µg;x\n1;Wie viel µg?;5 µg;B;7 µg;y\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    return path


def test_it_says_which_columns_it_took_and_how_it_read_the_file(viva: Viva, table: Path) -> None:
    printed = viva("import", table.parent / "exam.viva", table).output
    assert "Columns: item is 'id', candidate is 'model', text is 'response'." in printed
    assert (
        "Read with delimiter semicolon, encoding cp1252 (a guess: line 2 is not UTF-8; as cp1252 it reads "
        "'µg?', and --encoding states another one)."
    ) in printed
    assert "Formats of the questions, inferred: short 1." in printed
    assert "Columns not used: note." in printed


def test_json_holds_the_same_in_fields(viva: Viva, table: Path) -> None:
    (row,) = json.loads(viva("import", table.parent / "exam.viva", table, "--json").output)["rows"]
    assert {
        "delimiter": "semicolon",
        "encoding": "cp1252",
        "sheet": None,
        "left_out": ["note"],
    }.items() <= row.items()
    assert row["guess"].startswith("line 2 is not UTF-8")


@pytest.mark.parametrize("delimiter", ["semicolon", ";"])
def test_stated_words_are_no_guess(viva: Viva, table: Path, delimiter: str) -> None:
    words = ("--delimiter", delimiter, "--encoding", "cp1252")
    printed = viva("import", table.parent / "exam.viva", table, *words).output
    assert "Read with delimiter semicolon, encoding cp1252." in printed


def test_a_wrong_word_does_not_pass_in_silence(viva: Viva, table: Path) -> None:
    for words, sentence in (
        (("--delimiter", "comma"), "no benchmark is named, and no column holds the questions"),
        (("--delimiter", "semi"), "'semi' cannot divide columns: write comma, semicolon, tab, pipe or one"),
        (("--encoding", "utf-8"), "line 2: byte 12 (0xb5) is not UTF-8"),
        (("--encoding", "utf8x"), "no encoding is named 'utf8x'"),
        (("--sheet", "one"), "a .csv file has no sheet to be chosen"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            viva("import", table.parent / "exam.viva", table, *words)
    assert not (table.parent / "exam.viva").exists()


def test_columns_of_models_are_named_in_one_option_or_several(viva: Viva, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,question,answer,A,B\n1,Which?,a,a,\n")
    for number, words in enumerate((["A,B"], ["A", "--models-in-columns", "B"], ["A=A,B=B"])):
        run = tmp_path / f"{number}.viva"
        printed = viva("import", run, path, "--models-in-columns", *words).output
        assert "2 answers of 2 candidates to 1 item (2 new" in printed
        assert "1 blank, 0 failed" in printed


def test_columns_of_models_do_not_go_with_scores(viva: Viva, table: Path) -> None:
    with pytest.raises(
        InputError, match="--models-in-columns says something of answers: it does not go with --scores"
    ):
        viva("import", "r.viva", table, "--scores", "--measure", "people()", "--models-in-columns", "A")


def test_an_exam_whose_encoding_is_a_guess_says_so_where_it_is_shown(viva: Viva, tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_bytes("id;question;format;answer\n1;Wie viel µg?;short;5 µg\n".encode("cp1252"))
    assert "Its encoding is a guess: line 2 is not UTF-8" in viva("show", f"csv(path={path})").output


def test_the_benchmark_of_a_table_has_the_name_of_its_file_or_another(viva: Viva, table: Path) -> None:
    for words, name in (((), "answers"), (("--name", "fever"), "fever")):
        run = table.parent / f"{name}.viva"
        viva("import", run, table, *words)
        assert f"1 question (1 case) of {name}, answered by 2 candidates" in viva("status", run).output
