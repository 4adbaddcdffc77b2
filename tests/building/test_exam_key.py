"""Keys of papers as ministries publish them: heads of their own, columns side by side, and PDF."""

from pathlib import Path

import pytest
from tests.building.papers import write_paper

from vivavoce.core.errors import InputError
from vivavoce.systems.careqa.step.exam_key import read_keys
from vivavoce.systems.careqa.step.exam_paper import Question, read_pages

KEYS = {1: 3, 2: 1, 3: None, 4: 2}


@pytest.mark.parametrize(
    "text",
    [
        "V;RC\n1;3\n2;1\n3;\n4;2\n",
        "V;RC;V;RC\n1;3;3;\n2;1;4;2\n",
        "V;RC;;V;RC\n1;3;;4;2\n2;1;;;\n3;anulada;;;\n",
        "Nº pregunta;Respuesta correcta\n1;3\n2;1\n3;x\n4;2\n",
        "Frage;Lösung\n1;C\n2;A\n3;-\n4;B\n",
        "Questão,Gabarito\n1,c\n2,a\n3,anulada\n4,b\n",
    ],
)
def test_heads_of_ministries_are_known(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key.csv"
    path.write_text(text)
    assert KEYS == read_keys(path, 4)


def test_keys_of_two_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    path.write_text("V0;RC;Q;RC\n1;3;4;2\n")
    with pytest.raises(InputError, match=r"several versions \(v0, q\)"):
        read_keys(path, 4)


@pytest.mark.parametrize(
    "columns",
    [
        (["V   RC", "1   3", "2   1"], ["V   RC", "3   -", "4   2"]),
        (["Pregunta Respuesta", "1. C", "2. A", "3. anulada", "4. B"],),
        (["Claves definitivas del ejercicio", "1 3 2 1", "3 X 4 2"],),
    ],
)
def test_a_key_in_pdf_is_read(tmp_path: Path, columns: tuple[list[str], ...]) -> None:
    path = write_paper(tmp_path / "key.pdf", [columns])
    assert KEYS == read_keys(path, 4, read_pages(path)[0])


def test_columns_of_numbers_and_keys_are_paired() -> None:
    assert {1: 3, 2: 1, 3: 4} == read_keys(Path("key.pdf"), 4, ["V\n1\n2\n3\nRC\n3\n1\n4"])


def test_a_column_with_an_empty_key_is_refused_as_nobody_knows_which() -> None:
    with pytest.raises(
        InputError, match=r"page 1: 3 numbers from 1 and 2 keys behind them: write the key as a table"
    ):
        read_keys(Path("key.pdf"), 4, ["1\n2\n3\n3\n1"])


def test_a_pdf_of_words_holds_no_key() -> None:
    with pytest.raises(InputError, match="holds no key"):
        read_keys(Path("key.pdf"), 4, ["Relación de aspirantes del año 2024"])


@pytest.mark.parametrize(
    "stem",
    [
        "Pregunta asociada a la imagen número 5. Varón de 60 años.",
        "Varón de 60 años (imagen asociada número 12).",
        "Vea la figura nº 3. ¿Qué hallazgo?",
        "Mujer con la lesión de la fotografía adjunta.",
        "En la imagen número 7 se observa",
    ],
)
def test_a_question_on_an_image_is_told_by_its_words(stem: str) -> None:
    assert Question(1, stem, ("a", "b"), 1, 1).is_on_image


@pytest.mark.parametrize(
    "stem", ["La imagen corporal en la anorexia es", "Se figura que el paciente tiene 3 lesiones"]
)
def test_other_images_are_none(stem: str) -> None:
    assert not Question(1, stem, ("a", "b"), 1, 1).is_on_image
