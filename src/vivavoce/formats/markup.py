"""Markup around what an answer says, written as labelled lines: tags, LaTeX boxes, Markdown tables."""

import re
from collections.abc import Callable
from typing import NamedTuple

from vivavoce.formats import words

__all__ = ["Table", "lines_of", "spoken_for", "ticked", "unboxed", "unfenced", "untabled", "untagged"]

_TAG = re.compile(r"<(/?)((?:final[_ ]?)?answer|reasoning|explanation|step)\s?>", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_BOX_LIMIT, _LEAD_LIMIT = 4000, 120
_STYLE = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it|sf)|operatorname)\s?\{([^{}]*)\}")
_CLOSES_MATH = re.compile(r"(?:[ \t$*_.]|\\[)\]])+")
_LEADS_TO_BOX = re.compile(
    r"""(?:^|(?<=[.!?:]\s))[*_\#>\ \t]*
        (?:(?:so|thus|hence|therefore|in\ conclusion),?\s)?(?:(?:the|my)\s)?(?:(?:final|correct|best)\s){0,2}
        answer(?:\s(?:is|would\sbe|must\sbe))?\s?[:=]?[*_\s]*\Z""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_RULE = re.compile(r":?-{2,}:?")
_BAR = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"\W{0,9}(?:step|hop)?\W{0,9}(\d{1,4})\W{0,9}", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w{0,12}[ \t]*\n(?P<text>.*?)\n?[ \t]*```\s*", re.DOTALL)
_MARK = re.compile(r"[✓✔☑✅✗✘✖❌☐]\ufe0f?|\[[ xX]?\](?=\s)")
_BEFORE_MARKS = re.compile(r"[^\n:]*:\s*|\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?")
_CROSSES = "✗✘✖❌☐"
_YES = frozenset({"yes", "y", "true", "✅", "✓", "✔", "☑"})
_NO = frozenset({"no", "n", "false", "❌", "✗", "✘", "✖", "☒", "☐"})


class Table(NamedTuple):
    """A table of Markdown: the cells of its head, and those of each row below the rule."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def unfenced(text: str) -> str:
    """What a fence holds that stands around all of `text`; else `text` itself."""
    whole = _FENCE.fullmatch(text)
    return whole["text"] if whole and "```" not in whole["text"] else text


def untagged(text: str) -> str:
    """`text` with labels on lines of their own in place of tags such as `<answer>`."""
    return _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2].replace('_', ' ')}: ", text)


def unboxed(text: str) -> str:
    """`text` with a line "Final answer: ..." in place of each box and of the words that lead to it."""
    done, made = 0, list[str]()
    closings = _closings(text) if _BOX.search(text) else {}
    for mark in _BOX.finditer(text):
        end = closings.get(mark.end() - 1)
        if mark.start() < done or end is None:
            continue
        before = _unopened(text[done : mark.start()])
        inside = text[mark.end() : min(end, mark.end() + _BOX_LIMIT)]
        while (plain := _STYLE.sub(r"\1", inside)) != inside:
            inside = plain
        lead = _LEADS_TO_BOX.search(before, max(0, len(before) - _LEAD_LIMIT))
        made += [before[: lead.start()] if lead else before, f"\nFinal answer: {' '.join(inside.split())}\n"]
        after = _CLOSES_MATH.match(text, end + 1)
        done = after.end() if after else end + 1
    return "".join([*made, text[done:]])


def _unopened(text: str) -> str:
    """`text` without the signs that open a formula at its end."""
    while (bare := text.rstrip("$*_ \t\n").removesuffix("\\(").removesuffix("\\[")) != text:
        text = bare
    return text


def _closings(text: str) -> dict[int, int]:
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
    lines, made, k = text.split("\n"), list[str](), 0
    while k < len(lines):
        head = _cells(lines[k])
        rule = _cells(lines[k + 1]) if head and k + 1 < len(lines) else ()
        if not rule or not all(_RULE.fullmatch(cell) for cell in rule):
            made.append(lines[k])
            k += 1
            continue
        k += 2
        rows = []
        while k < len(lines) and (row := _cells(lines[k])):
            rows.append(row)
            k += 1
        made += write(Table(head, tuple(rows)))
    return "\n".join(made)


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
    said = cell.strip(" *_`.\ufe0f").lower()
    if said not in _YES | _NO:
        return None
    asked = re.findall(r"\w+", head.lower())
    return (said in _YES) != any(w in words.FAULTS or w in words.REJECTING_HEADS for w in asked)


def lines_of(table: Table) -> list[str]:
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
    told = []
    for name, cell in zip((*head, *[""] * len(row)), row, strict=False):
        verdict = _judged(cell, name)
        told.append(cell if verdict is None else "correct" if verdict else "incorrect")
    rest = " ".join(cell if cell.endswith((".", "!", "?")) else f"{cell}." for cell in told[1:] if cell)
    return f"Step {number[1]}: {rest}" if number else f"{row[0]}: {' '.join(c for c in told[1:] if c)}"


def spoken_for(table: Table) -> list[str]:
    """The rows of a table, without its head; where one column judges, those that it speaks for."""
    width = len(table.head)
    rows = [(*row, *[""] * (width - len(row))) for row in table.rows]
    judging = [
        c
        for c, name in enumerate(table.head)
        if c and rows and all(_judged(row[c], name) is not None for row in rows)
    ]
    if len(judging) != 1:
        return [" | ".join(row) for row in table.rows]
    at = judging[0]
    kept = [row for row in table.rows if _judged(row[at], table.head[at])]
    return [" | ".join(cell for c, cell in enumerate(row) if c != at) for row in kept]


def ticked(text: str) -> str:
    """The text with each entry that a tick leads on its own line, and without those that a cross leads."""
    return "\n".join(_ticked_line(line) for line in text.split("\n")) if _MARK.search(text) else text


def _ticked_line(line: str) -> str:
    marks = list(_MARK.finditer(line))
    if not marks or not _BEFORE_MARKS.fullmatch(line[: marks[0].start()]):
        return line
    ends = [*(m.start() for m in marks[1:]), len(line)]
    entries = [(m[0], line[m.end() : end].strip(" \t,;")) for m, end in zip(marks, ends, strict=True)]
    if not all(any(c.isalnum() for c in entry) for _, entry in entries):
        return line
    kept = ["✓ " + entry for mark, entry in entries if mark[0] not in _CROSSES and mark not in {"[ ]", "[]"}]
    head = line[: marks[0].start()] if ":" in line[: marks[0].start()] else ""
    return "\n".join([head, *kept] if head else kept)
