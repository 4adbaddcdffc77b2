"""Markup around what an answer says, written as labelled lines: tags, LaTeX boxes, Markdown tables."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.tokens import Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.step_words import STEP_PATTERN

_TAG = lazy_pattern(r"<(/?)((?:final[_ ]?)?answer|reasoning|explanation|step)\s?>", re.IGNORECASE)
_BOX = lazy_pattern(r"\\(?:boxed|fbox)\s?\{")
_BOX_LIMIT, _LEAD_LIMIT, _WIDEST = 4000, 120, 50
_STYLE = lazy_pattern(
    r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:bf|rm|it|sf)|operatorname|boxed|fbox)\s?\{([^{}]*)\}"
)
_OPENS_MATH = lazy_pattern(r"(\$\$?|\\\(|\\\[)\s*\Z")
_BLANKS = lazy_pattern(r"\s{0,9}")
_MATH_ENDS = {"\\(": "\\)", "\\[": "\\]"}
_CLOSES_MATH = lazy_pattern(r"(?:[ \t$*_.]|\\[)\]])+")
_LEADS_TO_BOX = lazy_pattern(
    r"""(?:^|(?<=[.!?:]\s))[*_\#>\ \t]*
        (?:(?:so|thus|hence|therefore|in\ conclusion),?\s)?(?:(?:the|my)\s)?(?:(?:final|correct|best)\s){0,2}
        answer(?:\s(?:is|would\sbe|must\sbe))?\s?[:=]?[*_\s]*\Z""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_RULE = lazy_pattern(r":?-{2,}:?")
_BAR = lazy_pattern(r"(?<!\\)\|")
_NUMBER = lazy_pattern(rf"\W{{0,9}}(?:hop|{STEP_PATTERN})?\W{{0,9}}(\d{{1,4}})\W{{0,9}}", re.IGNORECASE)
_FENCE = lazy_pattern(r"\s*```\w{0,12}[ \t]*\n(?P<text>.*?)\n?[ \t]*```\s*", re.DOTALL)
_MARK = lazy_pattern(r"[✓✔☑✅✗✘✖❌☐]\ufe0f?|\[[ xX]?\](?=\s)")
_CIRCLE = lazy_pattern(r"[○◯⭕〇](?![\w一-鿿])\ufe0f?|(?<![\w一-鿿])[○◯⭕〇]\ufe0f?|(?<!\d)√(?!\s?[\d(])")
_CROSS = lazy_pattern(r"(?<![\d%])(?<!\d\s)[×✕☓╳](?!\s?[\d(])")
_LAST_CROSS = lazy_pattern(r"[×✕☓╳](?=[ \t]*(?:$|[,，、;；|)）]))", re.MULTILINE)
_LETTER_AND_WORD = lazy_pattern(r"\s*(?P<letter>[A-J])\s?[:(=–-]?\s?(?P<word>[^\W\d_]{1,9})\)?\s*")
_ENTRY_ENDS = lazy_pattern(r"[,;\n、，]|\.(?:\s|$)")
_SHORT_LIST = 300
"""Characters of an answer that is nothing but letters with a yes or a no."""
_BEFORE_MARKS = lazy_pattern(r"[^\n:]*:\s*|\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?")
_CROSSES = "✗✘✖❌☐"
_DECIDES = words.ANSWER_NOUNS | words.forms(
    "choose chosen choice pick select selected correct right richtig antwort correcta correcto respuesta",
    "elegir correcte correct bonne choisir correta correto resposta escolha corretta risposta 答 正 选",
)
_NEGATIVE_HEADS = words.FAULTS | words.REJECTING_HEADS
_YES = frozenset({"yes", "y", "true", "✅", "✓", "✔", "☑"})
_NO = frozenset({"no", "n", "false", "❌", "✗", "✘", "✖", "☒", "☐"})


class Table(NamedTuple):
    """A table of Markdown: the cells of its head, and those of each row below the rule."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _with_marked_letters(text: str) -> str:
    """`text` with ticks and crosses where it is nothing but letters with a yes or a no: "A ja, B nein"."""
    judged: list[tuple[str, bool]] = []
    for part in filter(str.strip, _ENTRY_ENDS.split(text.strip())):
        entry = _LETTER_AND_WORD.fullmatch(part)
        verdict = _says_yes(entry["word"]) if entry else None
        if entry is None or verdict is None:
            return text
        judged.append((entry["letter"], verdict))
    if len(judged) < 2:
        return text
    return ", ".join(f"{letter} {'✓' if verdict else '✗'}" for letter, verdict in judged)


def _says_yes(word: str) -> bool | None:
    """True for a yes, a true or an O in any language, False for a no; null for any other word."""
    form = "".join(Doc(word).forms)
    if form in words.YESES | {"o", "true"}:
        return True
    return False if form in words.NOES | {"x", "false"} else None


def with_plain_marks(text: str) -> str:
    """`text` with a tick for the circle that calls a thing right in Japan and Korea, and for a root sign.

    The sign of multiplication is a cross where it ends a line or an entry, and everywhere beside a circle.
    """
    text = _with_marked_letters(text) if len(text) < _SHORT_LIST else text
    if text.isascii() and "(X)" not in text:
        return text
    if "(X)" in text and "(O)" in text:
        text = text.replace("(X)", "✗").replace("(O)", "✓")
    ticked = _CIRCLE.sub("✓", text)
    return (_LAST_CROSS if ticked == text else _CROSS).sub("✗", ticked)


def unfenced(text: str) -> str:
    """What a fence holds that stands around all of `text`; else `text` itself."""
    fence = _FENCE.fullmatch(text)
    return fence["text"] if fence and "```" not in fence["text"] else text


def untagged(text: str) -> str:
    """`text` with labels on lines of their own in place of tags such as `<answer>`."""
    return _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2].replace('_', ' ')}: ", text)


class _Box(NamedTuple):
    """A LaTeX box: its place in the text, from the backslash to behind the brace, and its words."""

    start: int
    end: int
    text: str


def _boxes(text: str) -> Iterator[_Box]:
    """The boxes that close, without those inside another; styles within one are no part of its words."""
    done = 0
    closings = closing_braces(text) if _BOX.search(text) else {}
    for mark in _BOX.finditer(text):
        end = closings.get(mark.end() - 1)
        if mark.start() < done or end is None:
            continue
        content = text[mark.end() : min(end, mark.end() + _BOX_LIMIT)]
        while (plain := _STYLE.sub(r"\1", content)) != content:
            content = plain
        done = end + 1
        yield _Box(mark.start(), done, " ".join(content.split()))


def unboxed(text: str) -> str:
    """`text` with a line "Final answer: ..." in place of each box and of the words that lead to it."""
    done, parts = 0, list[str]()
    for box in _boxes(text):
        preceding = _unopened(text[done : box.start])
        lead = _LEADS_TO_BOX.search(preceding, max(0, len(preceding) - _LEAD_LIMIT))
        parts += [preceding[: lead.start()] if lead else preceding, f"\nFinal answer: {box.text}\n"]
        closing = _CLOSES_MATH.match(text, box.end)
        done = closing.end() if closing else box.end
    return "".join([*parts, text[done:]])


def without_boxes(text: str) -> str:
    """`text` with the words of each box in its place; signs of a formula around a box alone go with it."""
    done, parts = 0, list[str]()
    for box in _boxes(text):
        preceding, done = text[done : box.start], box.end
        opening = _OPENS_MATH.search(preceding, max(0, len(preceding) - 40))
        if opening is not None:
            sign = _MATH_ENDS.get(opening[1], opening[1])
            blank = _BLANKS.match(text, done)
            end = blank.end() if blank else done
            if text.startswith(sign, end):
                preceding, done = preceding[: opening.start()], end + len(sign)
        parts += [preceding, box.text]
    return "".join([*parts, text[done:]])


def _unopened(text: str) -> str:
    """`text` without the signs that open a formula at its end."""
    end = len(text)
    while end:  # by places: a text of nothing but such signs would be copied for each
        size = 1 if text[end - 1] in "$*_ \t\n" else 2 if text.endswith(("\\(", "\\["), 0, end) else 0
        if not size:
            break
        end -= size
    return text[:end]


def closing_braces(text: str) -> dict[int, int]:
    """Where each brace that is opened closes."""
    opened, closed = list[int](), {}
    for mark in re.finditer(r"[{}]", text):
        if mark[0] == "{":
            opened.append(mark.start())
        elif opened:
            closed[opened.pop()] = mark.start()
    return closed


def untabled(text: str, write: Callable[[Table], list[str]]) -> str:
    """`text` with the lines that `write` makes of each table; a table is known by the rule below its head."""
    if "|" not in text or "--" not in text:
        return text
    lines = text.split("\n")
    written = list[str]()
    k = 0
    while k < len(lines):
        head = _cells(lines[k])
        if not head or k + 1 == len(lines) or not _is_rule(lines[k + 1]):
            written.append(lines[k])
            k += 1
            continue
        next_rows = (_cells(lines[n]) for n in range(k + 2, len(lines)))  # no slice: there may be many tables
        rows = list(itertools.takewhile(bool, next_rows))
        written += write(Table(head, tuple(rows)))
        k += 2 + len(rows)
    return "\n".join(written)


def _is_rule(line: str) -> bool:
    cells = _cells(line)
    return bool(cells) and all(_RULE.fullmatch(cell) for cell in cells)


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a line with bars; empty for any other line."""
    if "|" not in line:
        return ()
    cells = [cell.strip() for cell in _BAR.split(line.strip())]
    return tuple(cells[not cells[0] : len(cells) - (len(cells) > 1 and not cells[-1])])


def _judged(cell: str, head: str) -> bool | None:
    """True if a cell that is a bare yes or tick speaks for its row, False if against it; else None.

    Under a head such as "Wrong?" or "Excluded" a yes speaks against it.
    """
    word = cell.strip(" *_`.\ufe0f").lower()
    if word not in _YES | _NO:
        return None
    return (word in _YES) != has_any(re.findall(r"\w+", head.lower()), _NEGATIVE_HEADS)


def labelled_lines(table: Table) -> list[str]:
    """The table of a chain as labelled lines: "Step 3: ..." for a row, or "Explanation: ..." for a column.

    Rows are labelled by their own first cell, unless there is one row alone: then the head labels its cells.
    """
    head, rows = table
    if len(head) == 2 and _NUMBER.fullmatch(head[1]):
        return [f"{row[0]}: {' '.join(row[1:])}" for row in (head, *rows)]  # the head is a row like others
    if len(rows) == 1:
        return [f"{name}: {cell}" if name else cell for name, cell in zip(head, rows[0], strict=False)]
    return [_row(head, row) for row in rows]


def _row(head: tuple[str, ...], row: tuple[str, ...]) -> str:
    number = _NUMBER.fullmatch(row[0])
    cells = []
    for name, cell in zip(itertools.chain(head, itertools.repeat("")), row, strict=False):
        verdict = _judged(cell, name)
        cells.append(cell if verdict is None else "correct" if verdict else "incorrect")
    filled = [cell for cell in cells[1:] if cell]
    if not number:
        return f"{row[0]}: {' '.join(filled)}"
    sentences = (cell if cell.endswith((".", "!", "?")) else f"{cell}." for cell in filled)
    return f"Step {number[1]}: {' '.join(sentences)}"


def confirmed_rows(table: Table) -> list[str]:
    """The rows of a table, without its head; where one column judges, those that it speaks for."""
    rows, column = table.rows, _judging_column(table)
    if column is None:
        return [" | ".join(row) for row in rows]
    confirmed = [row for row in rows if _judged(row[column], table.head[column])]
    # filled up to the head's width, but not thousands of rows to one of thousands of cells
    width = min(len(table.head), _WIDEST) - 1
    other_cells = ((*row[:column], *row[column + 1 :]) for row in confirmed)
    return [" | ".join((*row, *[""] * (width - len(row)))) for row in other_cells]


def _judging_column(table: Table) -> int | None:
    """The one column that judges, or of several the one whose head speaks of the answer; null without one."""
    shortest = min(map(len, (table.head, *table.rows)))  # a column that lacks a cell is none of a yes or a no
    columns = range(1, shortest if table.rows else 0)
    judging = [column for column in columns if _judges(table.head[column], table.rows, column)]
    judging = [column for column in judging if _decides(table.head[column])] or judging
    return judging[0] if len(judging) == 1 else None


def decided_rows(table: Table) -> list[str]:
    """The rows that a column of a yes or a no for the answer speaks for; all lines where there is none."""
    column = _judging_column(table)
    if column is not None and _decides(table.head[column]):
        return confirmed_rows(table)
    lines = [" | ".join(row) for row in (table.head, ("--",) * len(table.head), *table.rows)]
    return [f"| {line} |" for line in lines]


def _decides(head: str) -> bool:
    """True for the head of a column that says which row is the answer: "Choose?", "Correct"."""
    return has_any(Doc(head).forms, _DECIDES)


def _judges(head: str, rows: Sequence[tuple[str, ...]], column: int) -> bool:
    """True if every cell of a column is a yes or a no."""
    return all(_judged(row[column], head) is not None for row in rows)


def ticked_entries(text: str) -> str:
    """The text with each entry that a tick leads on its own line, and without those that a cross leads."""
    return "\n".join(_ticked_line(line) for line in text.split("\n")) if _MARK.search(text) else text


def _ticked_line(line: str) -> str:
    marks = list(_MARK.finditer(line))
    if not marks or not _BEFORE_MARKS.fullmatch(line[: marks[0].start()]):
        return line
    head = line[: marks[0].start()]
    ends = [*(mark.start() for mark in marks[1:]), len(line)]
    entries = [line[mark.end() : end].strip(" \t,;") for mark, end in zip(marks, ends, strict=True)]
    if not all(any(c.isalnum() for c in entry) for entry in entries):
        return line
    lines = [head] if ":" in head else []
    for mark, entry in zip(marks, entries, strict=True):
        if mark[0][0] not in _CROSSES and mark[0] not in {"[ ]", "[]"}:
            lines.append("✓ " + entry)
    return "\n".join(lines)
