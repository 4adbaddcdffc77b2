"""The text of PDF and HTML files. Who wrote them is a stranger: nothing is fetched, and sizes are limited.

`reader_process` calls this in a process of its own, which may be ended.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from vivavoce.core.encodings import encoding_of, marked_encoding
from vivavoce.core.errors import InputError
from vivavoce.core.text import is_blank, one_line, xml_text
from vivavoce.retrieval.documents import MOST_CHARACTERS, Document, Unusable

MOST_PAGES = 5_000
_DROPPED = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "textarea",
        "select",
    ]
)
_INLINE = frozenset(
    [*("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "dfn", "em", "font", "i"),
     *("img", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong"),
     *("sub", "sup", "time", "tt", "u", "var", "wbr")]
)  # fmt: skip
_LINES = frozenset(["br", "tr", "li", "dt", "dd", "option"])
_CELLS = frozenset(["td", "th"])
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{1,40})", re.I)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def plain(text: str) -> str:
    """A text as it is kept: line ends are line feeds, control characters are replaced."""
    return xml_text(text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))


def decoded(path: Path) -> str:
    """The text of a file in its encoding. Raises `Unusable` for what is no text."""
    try:
        codec = encoding_of(path).codec
        return path.read_bytes().decode(codec).removeprefix("\ufeff")
    except InputError as error:
        reason = str(error).replace(f"{path}, ", "").split("; ")[0].rstrip(".")
        raise Unusable(f"no text: {one_line(reason, 160)}") from None
    except UnicodeError:
        raise Unusable("no text: its encoding does not fit it") from None


def _limited(length: int) -> None:
    if length > MOST_CHARACTERS:
        raise Unusable(f"its text has more than {MOST_CHARACTERS:,} characters")


def pdf_document(path: Path, name: str) -> tuple[Document, str]:
    """The pages of a PDF, and what is wrong with some of them, '' where nothing is.

    Raises `Unusable` for one that is encrypted, broken, too long or without text.
    """
    texts = _pdf_texts(path)
    blank = [number for number, text in enumerate(texts, 1) if is_blank(text)]
    if len(blank) == len(texts):
        raise Unusable(f"no text on any of its pages ({len(texts)}): a scan? Recognise its text (OCR) first")
    pages = ", ".join(map(str, blank[:10])) + (" …" if len(blank) > 10 else "")
    reason = f"no text on {len(blank)} of its {len(texts)} pages ({pages})" if blank else ""
    return Document(name, texts, paged=True), reason


def _pdf_texts(path: Path) -> tuple[str, ...]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unusable("encrypted: it opens with a password only")
        return tuple(_page_texts(reader))
    except DependencyError:
        raise Unusable("encrypted: store it again without encryption") from None
    # whatever a damaged file sets off in pypdf
    except (PyPdfError, ArithmeticError, AssertionError, AttributeError, LookupError, OSError, TypeError,
            RecursionError, NotImplementedError, ValueError) as error:  # fmt: skip
        reason = one_line(f"{type(error).__name__}: {error}".strip(": "), 100)
        raise Unusable(f"it cannot be read as a PDF ({reason})") from None


def _page_texts(reader: Any) -> Iterator[str]:
    n_pages = len(reader.pages)
    if n_pages > MOST_PAGES:
        raise Unusable(f"it has {n_pages:,} pages, and none over {MOST_PAGES:,} is read")
    length = 0
    for page in reader.pages:
        text = plain(page.extract_text() or "")
        length += len(text)
        _limited(length)
        yield text


def html_document(path: Path, name: str) -> tuple[Document, str]:
    """What a reader sees of a page: no scripts, styles, hidden elements. Raises `Unusable` without a text."""
    etree = import_module("lxml.etree")

    raw = _html_text(path).encode("utf-8", "replace")
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(raw, parser) if raw.strip() else None
    except (etree.LxmlError, ValueError) as error:
        raise Unusable(f"it cannot be read as HTML ({one_line(str(error), 100)})") from None
    if parser.error_log.filter_from_fatals():
        raise Unusable(
            "it is nested too deeply, or a text in it is too long: the rest of it would be missing"
        )
    if root is None:
        raise Unusable("no text that a reader of the page would see")
    title = root.findtext(".//title") or ""
    text = _laid_out(_strings(root, etree.iterwalk))
    if is_blank(text):
        raise Unusable("no text that a reader of the page would see")
    return Document(name, (text,), title=one_line(plain(title), 300)), ""


def _html_text(path: Path) -> str:
    """The page in the encoding that it states, else in that of any text."""
    raw = path.read_bytes()
    declared = None if marked_encoding(path) else _CHARSET.search(raw[:4096])
    if declared:
        try:
            return raw.decode(codecs.lookup(declared[1].decode("ascii")).name)
        except (LookupError, ValueError):
            pass
    return decoded(path)


def _strings(root: Any, iterwalk: Callable[..., Any]) -> Iterator[str]:
    """The strings of what is shown, with the line ends that elements make; no recursion."""
    walk = iterwalk(root, events=("start", "end"))
    length = 0
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            hidden = tag in _DROPPED or not tag or _is_hidden(element)
            if hidden:
                walk.skip_subtree()
            string = _space(tag) if hidden else _space(tag) + _flat(element.text)
        else:
            string = "" if tag in _LINES else _space(tag)  # a line ends where the next begins
            string += _flat(element.tail) if element is not root else ""
        length += len(string)
        _limited(length)
        yield string


def _is_hidden(element: Any) -> bool:
    return "hidden" in element.attrib or bool(_UNSEEN.search(element.get("style") or ""))


def _space(tag: str) -> str:
    if tag in _INLINE or tag in _DROPPED or not tag:
        return ""
    return " " if tag in _CELLS else "\n" if tag in _LINES else "\n\n"


def _flat(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _laid_out(strings: Iterator[str]) -> str:
    """The strings as lines: single blanks, no blanks around line ends, one blank line between blocks."""
    lines = (" ".join(line.split()) for line in plain("".join(strings)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
