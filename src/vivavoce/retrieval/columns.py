"""The text of a PDF in the order in which a person reads it: columns are found by their gaps.

A PDF says where each word stands, and not which comes next: the writer's order is the reader's by luck alone.
Lines that repeat at the edge of pages, page numbers among them, are left out. An image stands as the sign
U+FFFC on a line of its own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.text import is_blank, one_line
from vivavoce.retrieval.documents import MOST_CHARACTERS, Document, Unusable
from vivavoce.retrieval.extraction import MOST_PAGES, plain

IMAGE = "\ufffc"
"""Stands where an image does (Unicode: object replacement character)."""
_GUTTER = 8.0
"""Points without a word that part two columns: wider than a blank, narrower than any margin."""
_BLANK = 0.45
"""The widest blank between two words of a line, as a share of their height."""
_NARROW = 0.15
"""The share of the text's width that a column has at least."""
_FEWEST_LINES = 3
"""Lines that each side of a gutter has."""
_EDGE = 0.1
"""The share of a page's height, at its top and at its foot, in which furniture stands."""
_SMALL_IMAGE = 20.0
"""Points of width and height under which an image is an ornament."""
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"\W*(?:p[aá]g(?:ina|e)?\.?\s*|page\s*)?\d{1,4}(?:\s*(?:/|de|of|von)\s*\d{1,4})?\W*", re.I
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n(?=[^\W\d_])")


class Word(NamedTuple):
    """A word with its box, in points from the top left corner."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Half way between its ends."""
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        """Half way between top and bottom."""
        return (self.top + self.bottom) / 2


class Line(NamedTuple):
    """Words of one line in one column, from left to right."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words with a blank between them."""
        return " ".join(word.text for word in self.words)

    @property
    def middle(self) -> float:
        """The height of its first word."""
        return self.words[0].height


class Page(NamedTuple):
    """The words of a page, in no order, and its height."""

    words: tuple[Word, ...]
    height: float


def columns_document(path: Path, name: str) -> tuple[Document, str]:
    """The pages of a PDF with their columns one after the other, and what is wrong with some of them.

    Words that a hyphen parts at the end of a line are joined. Raises `Unusable` for a file that is encrypted,
    broken, too long or without text.
    """
    pages = _pages(path)
    texts = tuple(
        unhyphenated("\n".join(line.text for line in reading_order(words)))
        for words in _without_furniture(pages)
    )
    blank = [number for number, text in enumerate(texts, 1) if is_blank(text.replace(IMAGE, ""))]
    if len(blank) == len(texts):
        raise Unusable(f"no text on any of its pages ({len(texts)}): a scan? Recognise its text (OCR) first")
    reason = f"no text on {len(blank)} of its {len(texts)} pages" if blank else ""
    return Document(name, texts, paged=True), reason


def _pages(path: Path) -> list[Page]:
    pdfplumber: Any = import_module("pdfplumber")
    try:
        with pdfplumber.open(path) as pdf:
            if len(pdf.pages) > MOST_PAGES:
                raise Unusable(f"it has {len(pdf.pages):,} pages, and none over {MOST_PAGES:,} is read")
            pages, length = [], 0
            for page in pdf.pages:
                words = list(_words(page))
                length += sum(len(word.text) for word in words)
                if length > MOST_CHARACTERS:
                    raise Unusable(f"its text has more than {MOST_CHARACTERS:,} characters")
                pages.append(Page(tuple(words), float(page.height)))
                page.close()  # else its objects stay in memory until the end
    except Unusable:
        raise
    except Exception as error:  # whatever a damaged file sets off in pdfminer
        raise Unusable(_why(error)) from None
    if not pages:
        raise Unusable("it has no pages")
    return pages


def _why(error: Exception) -> str:
    names = [type(error).__name__, *(type(part).__name__ for part in error.args)]
    if any("Password" in name or "Encryption" in name for name in names):
        return "encrypted: it opens with a password only"
    return f"it cannot be read as a PDF ({one_line(f'{names[-1]}: {error}'.strip(': '), 100)})"


def _words(page: Any) -> Iterator[Word]:
    """The words and images of a page."""
    for word in page.extract_words(x_tolerance=2, y_tolerance=2, keep_blank_chars=False):
        text = plain(word["text"]).replace(IMAGE, "\ufffd")
        yield Word(text, float(word["x0"]), float(word["x1"]), float(word["top"]), float(word["bottom"]))
    for image in page.images:
        x0, x1 = float(image["x0"]), float(image["x1"])
        top, bottom = float(image["top"]), float(image["bottom"])
        if x1 - x0 >= _SMALL_IMAGE and bottom - top >= _SMALL_IMAGE:
            yield Word(IMAGE, x0, x1, top, bottom)


def reading_order(words: Sequence[Word]) -> list[Line]:
    """The lines of a page as they are read: full-width lines, and between them column after column."""
    gutter = _gutter(words)
    if gutter is None:
        return _lines(words)
    across, remainder = _split_across(words, gutter)
    ordered: list[Line] = []
    start = float("-inf")
    for line in across:
        ordered += [*_columns(remainder, gutter, start, line.middle), line]
        start = line.middle
    return [*ordered, *_columns(remainder, gutter, start, float("inf"))]


def _columns(words: Sequence[Word], gutter: float, top: float, bottom: float) -> list[Line]:
    """The lines between two heights: those before the gutter, then those behind it."""
    band = [word for word in words if top <= word.height < bottom]
    sides = [w for w in band if w.middle < gutter], [w for w in band if w.middle >= gutter]
    return [line for side in sides for line in reading_order(side)]


def _split_across(words: Sequence[Word], gutter: float) -> tuple[list[Line], list[Word]]:
    """The lines that run over the gutter, and the words of all other lines."""
    across = [line for line in _lines(words) if _crosses(line, gutter)]
    crossing = _ids(across)
    return across, [word for word in words if id(word) not in crossing]


def _crosses(line: Line, gutter: float) -> bool:
    """Whether a line runs over the gutter: by a word, or by a blank no wider than others."""
    preceding = max((word.x1 for word in line.words if word.x0 < gutter), default=float("-inf"))
    following = min((word.x0 for word in line.words if word.x0 >= gutter), default=float("inf"))
    height = line.words[0].bottom - line.words[0].top
    return line.words[0].text != IMAGE and following - preceding < _BLANK * height


def _gutter(words: Sequence[Word]) -> float | None:
    """Where the second of two columns begins; null where there is one column.

    It lies in a strip that few lines cross, such as titles, and is the place where most lines begin behind
    it: the ragged end of a text leaves wide strips too. Both columns have several lines, side by side.
    """
    texts = [word for word in words if word.text != IMAGE]
    lines = _lines(texts)
    most_across = max(1, len(lines) // 20)
    starts = (_start(lines, strip) for strip in _strips(texts, most_across))
    for _, gutter in sorted(filter(None, starts), reverse=True):
        if _parts(texts, gutter, most_across):
            return gutter
    return None


def _start(lines: Sequence[Line], strip: Sequence["_Run"]) -> tuple[int, float] | None:
    """How many lines begin at the commonest place in a strip or at its end, and the place."""
    x0, x1 = strip[0].x0, strip[-1].x1
    places = Counter(round(w.x0 / 2) for line in lines for w in line.words if x0 < w.x0 <= x1 + 1)
    if not places:
        return None
    place, n = places.most_common(1)[0]
    return n, 2.0 * place - 1.5


class _Run(NamedTuple):
    """A strip of the page over its whole height that so many words cover."""

    x0: float
    x1: float
    words: int


def _strips(words: Sequence[Word], limit: int) -> list[list[_Run]]:
    """Neighbouring runs that at most so many words cover, wide enough for a gutter."""
    free = groupby(_runs(words), key=lambda run: run.words <= limit)
    strips = [list(runs) for is_free, runs in free if is_free]
    return [strip for strip in strips if strip[-1].x1 - strip[0].x0 >= _GUTTER]


def _runs(words: Sequence[Word]) -> Iterator[_Run]:
    """The page between its first and its last word, cut wherever a word begins or ends."""
    ends = sorted([(word.x0, 1) for word in words] + [(word.x1, -1) for word in words])
    covered = 0
    for (x0, change), (x1, _) in pairwise(ends):
        covered += change
        if x1 > x0:
            yield _Run(x0, x1, covered)


def _parts(words: Sequence[Word], gutter: float, most_across: int) -> bool:
    """Whether a strip around this place parts two columns."""
    across, remainder = _split_across(words, gutter)
    sides = (
        [word for word in remainder if word.x0 < gutter],
        [word for word in remainder if word.x0 >= gutter],
    )
    if len(across) > most_across or any(len(_lines(side)) < _FEWEST_LINES for side in sides):
        return False
    stand_beside = min(map(_end, sides)) > max(map(_top, sides))
    widths = list(map(_width, sides))
    # Numbers or letters of a list stand in a narrow strip before its texts: that is no column.
    return stand_beside and min(widths) > _NARROW * sum(widths)


def _width(words: Sequence[Word]) -> float:
    return max(word.x1 for word in words) - min(word.x0 for word in words)


def _top(words: Sequence[Word]) -> float:
    return min(word.top for word in words)


def _end(words: Sequence[Word]) -> float:
    return max(word.bottom for word in words)


def _lines(words: Sequence[Word]) -> list[Line]:
    """Words by line, from the top; those whose middles are within half a word's height are on one line."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda w: (w.height, w.x0)):
        if lines and _on_line(word, lines[-1][0]):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [Line(tuple(sorted(line, key=lambda w: w.x0))) for line in lines]


def _on_line(word: Word, first: Word) -> bool:
    return IMAGE not in (word.text, first.text) and first.top < word.height < first.bottom


def _without_furniture(pages: Sequence[Page]) -> Iterator[list[Word]]:
    """The words of each page without what repeats at its edge, and without page numbers there."""
    edges = list(map(_edge_lines, pages))
    repeated = Counter(key for lines in edges for key in set(map(_key, lines)))
    for page, lines in zip(pages, edges, strict=True):
        furniture = _ids(line for line in lines if repeated[_key(line)] > 1 or _is_page_number(line))
        yield [word for word in page.words if id(word) not in furniture]


def _is_page_number(line: Line) -> bool:
    return bool(_PAGE_NUMBER.fullmatch(line.text))


def _ids(lines: Iterable[Line]) -> set[int]:
    """The identities of the words of these lines."""
    return {id(word) for line in lines for word in line.words}


def _key(line: Line) -> str:
    """What a header or footer has on every page: its words without numbers, and where it begins."""
    return f"{_DIGITS.sub('#', line.text)} {round(line.words[0].top / 4)}"


def _edge_lines(page: Page) -> list[Line]:
    """The lines at the top and at the foot of a page."""
    top, foot = _EDGE * page.height, (1 - _EDGE) * page.height
    return [line for line in _lines(page.words) if not top < line.middle < foot]


def unhyphenated(text: str) -> str:
    """Words parted at the end of a line joined; a hyphen before a capital or a number stays."""

    def joined(match: re.Match[str]) -> str:
        following = text[match.end()]
        return "" if match[0][0] == "\u00ad" or following.islower() else "-"

    return _HYPHEN.sub(joined, text)
