"""Forms of a table for a paper: LaTeX with booktabs, Markdown and CSV."""

import csv
import io
import re
from collections.abc import Callable
from itertools import chain
from typing import Literal

from vivavoce.core.text import one_line, printable
from vivavoce.report.paper.tables import PaperTable

Form = Literal["latex", "markdown", "csv"]
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "–": "--", "−": "$-$", '"': "''",
}  # fmt: skip
_LATEX_SIGNS = re.compile("|".join(map(re.escape, _LATEX)))
_BEYOND_LATIN = "% XeLaTeX or LuaLaTeX, with a font that has these letters: pdfLaTeX knows Latin ones alone."
_DASHES = dict.fromkeys(map(ord, "–−"))
_NEGATIVE = re.compile(r"(?<![\w.])-(?=\d)")


def as_latex(table: PaperTable) -> str:
    """A `table` as wide as the line at most, for booktabs; notes below. Names cannot run commands."""
    form = "".join("l" if column.holds == "words" else "r" for column in table.columns)
    texts = [table.title, *(column.head for column in table.columns), *chain(*table.rows), *table.notes]
    is_beyond_latin = any(sign > "\u024f" for sign in "".join(texts).translate(_DASHES))
    lines = [
        *([_BEYOND_LATIN] * is_beyond_latin),
        r"% \usepackage{adjustbox, booktabs, threeparttable}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        r"\begin{adjustbox}{max width=\linewidth}",
        r"\begin{threeparttable}",
        rf"\begin{{tabular}}{{@{{}}{form}@{{}}}}",
        r"\toprule",
        " & ".join(_latex(column.head) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\begin{tablenotes}\footnotesize",
        *(rf"\item {_latex(note)}" for note in table.notes),
        r"\end{tablenotes}",
        r"\end{threeparttable}",
        r"\end{adjustbox}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex(text: str) -> str:
    """A text as LaTeX prints it, on one line."""
    escaped = _LATEX_SIGNS.sub(lambda match: _LATEX[match[0]], _plain(text))
    # Behind the end of a row a bracket or a star would be an argument of it.
    return ("{}" if escaped[:1] in ("[", "*") else "") + _NEGATIVE.sub("$-$", escaped)


def as_markdown(table: PaperTable) -> str:
    """A table of Markdown below its title, notes as paragraphs."""
    marks = (":--" if column.holds == "words" else "--:" for column in table.columns)
    heads = (_markdown(column.head) for column in table.columns)
    rows = [heads, marks, *(map(_markdown, row) for row in table.rows)]
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return "\n\n".join([f"**{_markdown(table.title)}**", body, *map(_markdown, table.notes)]) + "\n"


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", _plain(text))


def as_csv(table: PaperTable) -> str:
    """The cells alone, with heads; a text that a spreadsheet could run gets an apostrophe before it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    rows = [tuple(column.head for column in table.columns), *table.rows]
    writer.writerows([list(map(_unrunnable, row)) for row in rows])
    return stream.getvalue()


def _unrunnable(text: str) -> str:
    plain = _plain(text)
    is_number = re.match(r"-?[\d.]+( |$)", plain)
    return f"'{plain}" if plain[:1] in ("=", "+", "-", "@") and not is_number else plain


def _plain(text: str) -> str:
    """A text on one line, without signs that a terminal or a document would act on."""
    return printable(one_line(text, 500))


WRITERS: dict[Form, Callable[[PaperTable], str]] = {
    "latex": as_latex,
    "markdown": as_markdown,
    "csv": as_csv,
}
