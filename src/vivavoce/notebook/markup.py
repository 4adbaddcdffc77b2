"""Blocks of HTML for a notebook: escaped texts, tables, and one style that follows the page's theme."""

import html
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from vivavoce.core.text import printable
from vivavoce.report.format import number

MOST_IN_CELL, MOST_IN_NAME = 200, 80
"""Characters of a text in a table, and of a name."""

# By name the light and the dark colour, and what JupyterLab and VS Code call theirs. Charts use the names.
_COLOURS = {
    "--ink": ("#1b2430", "#e6ebf1", "--jp-content-font-color1", "--vscode-editor-foreground"),
    "--soft": ("#566171", "#a9b5c3", None, None),
    "--grid": ("#dde3ea", "#34404e", "--jp-border-color2", "--vscode-panel-border"),
    "--paper": ("#ffffff", "#131a22", "--jp-layout-color0", "--vscode-editor-background"),
    "--wash": ("#f5f7fa", "#1b242e", "--jp-layout-color1", "--vscode-textCodeBlock-background"),
    "--mark": ("#0b6e75", "#6fd3d9", None, None),
    "--band": ("#4f9a9f", "#3f8a90", None, None),
    "--good": ("#1f5fa8", "#7db4f0", None, None),
    "--bad": ("#b3510a", "#f0a35e", None, None),
}
_LIGHT = 'body[data-jp-theme-light="true"],body.vscode-light,html[theme="light"],html[data-theme="light"]'
_DARK = 'body[data-jp-theme-light="false"],body.vscode-dark,html[theme="dark"],html[data-theme="dark"]'


def _palette(dark: bool) -> str:
    declarations = []
    for name, (light_colour, dark_colour, jupyter, vscode) in _COLOURS.items():
        value = dark_colour if dark else light_colour
        for variable in filter(None, (vscode, jupyter)):
            value = f"var({variable},{value})"
        declarations.append(f"{name}:{value}")
    return ";".join(declarations)


def _themed(places: str, palette: str) -> str:
    selectors = ",".join(f"{place} .viva" for place in places.split(","))
    return f"{selectors}{{{palette};color-scheme:{'dark' if palette == _palette(True) else 'light'}}}"


# The block paints its own ground: on a page whose theme nobody tells, its letters can still be read.
STYLE = "\n".join(
    (
        f".viva{{{_palette(False)}}}",
        f"@media (prefers-color-scheme:dark){{.viva{{{_palette(True)}}}}}",
        _themed(_LIGHT, _palette(False)),
        _themed(_DARK, _palette(True)),
        ".viva{background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,sans-serif;padding:.6em .8em;"
        "border:1px solid var(--grid);border-radius:4px;max-width:60em;overflow-wrap:anywhere}",
        ".viva p{margin:.35em 0;color:var(--ink)}.viva .viva-head{font-weight:600}",
        ".viva .viva-soft{color:var(--soft);font-size:.92em}.viva .viva-missing{color:var(--bad)}",
        ".viva .viva-text{white-space:pre-wrap;unicode-bidi:isolate}",
        ".viva .viva-answer{border-left:3px solid var(--grid);padding-left:.7em;margin:.5em 0}",
        ".viva .viva-scroll{overflow-x:auto;margin:.5em 0}",
        ".viva table{border-collapse:collapse;border:0;margin:0;font-size:.92em;color:var(--ink)}",
        ".viva th,.viva td{text-align:left;padding:.25em .9em .25em 0;border:0;"
        "border-bottom:1px solid var(--grid);vertical-align:baseline;white-space:normal;max-width:24em;"
        "overflow-wrap:break-word}",
        ".viva thead th{color:var(--soft);font-weight:600;vertical-align:bottom}",
        ".viva tbody tr:nth-child(n),.viva tbody tr:hover{background:transparent}",
        ".viva td.viva-n,.viva th.viva-n{text-align:right;font-variant-numeric:tabular-nums;"
        "white-space:nowrap}",
        ".viva code{background:var(--wash);color:var(--ink);padding:.1em .3em;border-radius:3px}",
        ".viva ol{margin:.35em 0;padding-left:2em}.viva summary{cursor:pointer;color:var(--soft)}",
        ".viva figure{margin:.7em 0}.viva figcaption{font-weight:600}",
    )
)


class Html(str):
    """Text that is HTML already: it is not escaped again."""

    __slots__ = ()


def block(*parts: Html | None, css: str = "") -> str:
    """The parts as one block for a cell, with its style; mathematics and translation are kept out of it."""
    # These classes keep MathJax of notebooks from typesetting what stands between dollars.
    body = "".join(filter(None, parts))
    return (
        f'<div class="viva tex2jax_ignore mathjax_ignore notranslate" translate="no">'
        f"<style>{STYLE}\n{css}</style>{body}</div>"
    )


def shortened(text: object, most: int) -> str:
    """The text, cleaned, cut after so many characters with the number of those that follow."""
    clean = printable(str(text).encode("utf-8", "replace").decode("utf-8"))
    if len(clean) <= most:
        return clean
    return f"{clean[:most].rstrip()} … ({len(clean) - most:,} more characters)"


def escaped(text: object, most: int = MOST_IN_CELL) -> Html:
    """A text of anybody as HTML, cut where it is long."""
    return Html(html.escape(shortened(text, most)))


def element(tag: str, *parts: Html | str | None, classes: str = "", **attributes: str) -> Html:
    """An element that holds these parts; a text that is no `Html` is escaped and cut as in a table."""
    named = ({"class": classes} if classes else {}) | attributes
    opening = "".join(f' {name}="{html.escape(value)}"' for name, value in named.items())
    content = "".join(part if isinstance(part, Html) else escaped(part) for part in parts if part is not None)
    return Html(f"<{tag}{opening}>{content}</{tag}>")


def head(text: str) -> Html:
    """The line that says what is shown."""
    return element("p", escaped(text, 2 * MOST_IN_NAME), classes="viva-head")


def soft(text: str) -> Html:
    """A line of less weight."""
    return element("p", escaped(text, 1_000), classes="viva-soft")


def prose(text: object, most: int, *, classes: str = "") -> Html:
    """A longer text with its line ends, in its own direction."""
    return element("div", escaped(text, most), classes=f"viva-text {classes}".rstrip(), dir="auto")


def code(text: str) -> Html:
    """Words to type."""
    return element("code", escaped(text, 400))


class Column(NamedTuple):
    """A column of a table: its heading, and its cells."""

    heading: str
    cells: Sequence[Any]


def table(columns: Iterable[Column]) -> Html:
    """A table, numbers to the right; null is a dash. Nothing without columns."""
    columns = list(columns)
    if not columns:
        return Html("")
    classes = ["viva-n" if _are_numbers(column.cells) else "" for column in columns]
    heads = (
        element("th", c.heading, classes=name, scope="col") for c, name in zip(columns, classes, strict=True)
    )
    lines = (
        element("tr", *(_cell(value, name) for value, name in zip(line, classes, strict=True)))
        for line in zip(*(column.cells for column in columns), strict=True)
    )
    rows = element("table", element("thead", element("tr", *heads)), element("tbody", *lines))
    return element("div", rows, classes="viva-scroll")


def _are_numbers(cells: Sequence[Any]) -> bool:
    values = [value for value in cells if value is not None]
    return bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _cell(value: Any, classes: str) -> Html:
    if isinstance(value, Html):
        return element("td", value, classes=classes)
    return element("td", _words(value), classes=classes, dir="auto")


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else str(value)
