"""What a reader sees of a page, laid out as lines; and texts in the encodings they come in."""

import pytest

from vivavoce.retrieval.extraction import decoded, html_document, plain


@pytest.fixture
def shown(tmp_path):
    def text(page: str | bytes) -> str:
        path = tmp_path / "page.html"
        path.write_bytes(page if isinstance(page, bytes) else page.encode())
        return html_document(path, "page.html")[0].text()

    return text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<p>a <b>bold</b>, sub<sub>2</sub>\n   word", "a bold, sub2 word"),
        ("line<br>line<br/>line", "line\nline\nline"),
        ("<ul><li>one<li>two</ul>end", "one\ntwo\n\nend"),
        ("<table><tr><td>Drug<td>Dose<tr><td>A<td>5 mg</table>", "Drug Dose\nA 5 mg"),
        ("before<script>x()</script><style>p{}</style> after", "before after"),
        ("<p>seen<p hidden>unseen<p style='display: none'>unseen<p style='color:red'>red", "seen\n\nred"),
        ("<textarea>unseen</textarea><svg><text>unseen</text></svg><!-- unseen -->seen", "seen"),
        ("x &lt; 5 &amp; y&nbsp;&gt; 2 &micro;g", "x < 5 & y > 2 µg"),
        ("<head><title>T</title></head><body>B", "B"),
        ("un<!-- -->broken", "unbroken"),
    ],
)
def test_a_page_is_laid_out_as_it_is_seen(shown, page, text):
    assert text == shown(page)


@pytest.mark.parametrize("codec", ["utf-8", "iso-8859-1", "utf-16", "utf-8-sig"])
def test_the_encoding_that_a_page_states_is_used(shown, codec):
    page = f'<meta charset="{codec.replace("-sig", "")}"><p>Fièvre, 2 µg'
    assert "Fièvre, 2 µg" == shown(page.encode(codec))


def test_a_page_that_states_a_wrong_or_unknown_encoding_is_read_as_any_text(shown):
    assert "Fièvre" == shown("<meta charset=martian><p>Fièvre")
    assert "Fièvre" == shown("<meta charset=ascii><p>Fièvre")
    assert "Fièvre" == shown("<p>Fièvre".encode("cp1252"))


def test_line_ends_are_one_and_control_characters_are_replaced():
    assert "a\nb\nc\nd\te\ufffdf\ufffd" == plain("a\r\nb\rc\fd\te\x07f\u202e")


def test_a_text_loses_its_mark_only(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffWörter".encode())
    assert "Wörter" == decoded(tmp_path / "a.txt")
