"""PDF text by position: the order is the reader's, whatever order the writer drew it in."""

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas
from tests.building.papers import write_paper

from vivavoce.retrieval.columns import IMAGE, Word, columns_document, reading_order, unhyphenated
from vivavoce.retrieval.documents import Unusable

LEFT = [f"left line {k} of the first column here" for k in range(1, 9)]
RIGHT = [f"right line {k} of the second column" for k in range(1, 9)]


def lines_of(path: Path) -> list[str]:
    return "\n".join(columns_document(path, path.name)[0].texts).split("\n")


def test_columns_drawn_line_by_line_across_the_page_are_read_one_after_the_other(tmp_path):
    path = tmp_path / "mixed.pdf"
    page = canvas.Canvas(str(path), pagesize=A4, invariant=1)
    page.setFont("Helvetica", 9)
    for k, (one, two) in enumerate(zip(LEFT, RIGHT, strict=True)):  # as many writers draw them
        page.drawString(50, 700 - 12 * k, one)
        page.drawString(320, 700 - 12 * k, two)
    page.showPage()
    page.save()
    assert [*LEFT, *RIGHT] == lines_of(path)


def test_a_title_over_both_columns_stands_before_them(tmp_path):
    title = "A title that runs over both of the columns of this page"
    assert [title, *LEFT, *RIGHT] == lines_of(
        write_paper(tmp_path / "t.pdf", [[LEFT, RIGHT]], title=title, header="")
    )


def test_one_column_of_ragged_lines_stays_one(tmp_path):
    ragged = ["short", "a line that is a good deal longer than the one before it", "middle line", "x y",
              "another long line that reaches far to the right of the page, indeed"] * 3  # fmt: skip
    assert ragged == lines_of(write_paper(tmp_path / "r.pdf", [[ragged]], header=""))


def test_numbers_before_the_texts_of_a_list_are_no_column():
    words = [Word(f"{k}.", 50, 58, 12.0 * k, 12.0 * k + 9) for k in range(1, 9)]
    words += [Word(f"text{k}", 80, 300, 12.0 * k, 12.0 * k + 9) for k in range(1, 9)]
    assert [f"{k}. text{k}" for k in range(1, 9)] == [line.text for line in reading_order(words)]


def test_three_columns_are_read_in_their_order(tmp_path):
    columns = [[f"{name} {k} some words" for k in range(6)] for name in ("one", "two", "three")]
    path = write_paper(tmp_path / "three.pdf", [columns], lefts=(50, 220, 390), header="")
    assert [line for column in columns for line in column] == lines_of(path)


def test_what_repeats_at_the_edges_of_pages_is_left_out_and_what_stands_once_is_not(tmp_path):
    path = write_paper(tmp_path / "f.pdf", [[LEFT, RIGHT], [RIGHT, LEFT]], header="VERSION 0 - 2024")
    assert [*LEFT, *RIGHT, *RIGHT, *LEFT] == lines_of(path)
    once = write_paper(tmp_path / "one.pdf", [[LEFT, RIGHT]], header="A header of one page")
    assert [*LEFT, *RIGHT] == [line for line in lines_of(once) if line in (*LEFT, *RIGHT)]
    assert "A header of one page" in lines_of(once)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("hiper-\ntensión", "hipertensión"),
        ("IL-\n6", "IL-\n6"),
        ("Epstein-\nBarr", "Epstein-Barr"),
        ("soft\u00ad\nhyphen", "softhyphen"),
        ("5-\nmg", "5-\nmg"),
        ("no hyphen\nhere", "no hyphen\nhere"),
        ("", ""),
    ],
)
def test_hyphens_at_line_ends(before, after):
    assert after == unhyphenated(before)


def test_no_words_have_no_order():
    assert [] == reading_order([])


def test_an_image_stands_where_it_is_and_ornaments_are_none(tmp_path):
    path = write_paper(tmp_path / "i.pdf", [[["before", "[image]", "after"]]], header="")
    assert ["before", IMAGE, "after"] == lines_of(path)


def test_a_text_that_holds_the_sign_of_an_image_is_no_image():
    class Page:
        images = ()

        def extract_words(self, **_):
            return [{"text": f"a{IMAGE}b", "x0": 0, "x1": 9, "top": 0, "bottom": 9}]

    from vivavoce.retrieval.columns import _words

    assert ["a\ufffdb"] == [word.text for word in _words(Page())]


def test_a_broken_file_says_why_in_a_clause(tmp_path):
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\n1 0 obj <<")
    with pytest.raises(Unusable, match=r"cannot be read as a PDF|no pages|no text"):
        columns_document(path, "broken.pdf")
