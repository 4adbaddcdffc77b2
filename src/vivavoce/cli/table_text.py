"""Tables as text that fits a terminal: no header is split, no figure cut, no column shown that is empty.

Names give way first, shortened in their middle, with a key below; then other texts fold. What still does not
fit goes on below, beside the first columns once more.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from textwrap import wrap
from typing import Any, NamedTuple

from vivavoce.core.short_names import Name, cell_width, short_names
from vivavoce.core.text import printable

NAMES = ("candidate", "against", "pair", "item", "model", "endpoint")
"""Columns of names: their beginning and their end tell them apart. All other texts fold and stay whole."""
LEAST, GAP = 14, 2
"""How narrow a column of texts may get, and the blanks between two columns."""
LONGEST_KEY = 5
"""Lines of a key of names, above which names that are alike are written as one list."""
_WORDS = re.compile(r"[^\W_]+|[\W_]")
_FIGURES = re.compile(r"[-–<>+]*\d[\d.,%e+–-]*( to [-–+]*\d[\d.,%e+-]*)?")


class _Column(NamedTuple):
    """A column with its cells as text; `least` is the width below which it would lose something."""

    name: str
    cells: tuple[str, ...]
    of_figures: bool
    natural: int
    least: int

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> "_Column":
        cells = tuple("" if value is None else printable(str(value)) for value in values)
        widths = [cell_width(line) for cell in cells for line in cell.split("\n")]
        header = max(map(cell_width, name.split()), default=0)
        natural = max([header, *widths])
        of_figures = all(not cell or _FIGURES.fullmatch(cell) for cell in cells) and any(cells)
        least = natural if of_figures else min(natural, max(header, LEAST))
        return cls(name, cells, of_figures, natural, least)

    def lines(self, width: int) -> list[list[str]]:
        """The lines of the header and of each cell at this width."""
        if self.name in NAMES:
            short = short_names(self.names, width)
            lines = [[short(line) for line in cell.split("\n")] for cell in self.cells]
        else:
            lines = [[p for line in cell.split("\n") for p in _fold(line, width)] for cell in self.cells]
        return [wrap(self.name, width) or [""], *lines]

    @property
    def names(self) -> list[str]:
        """The distinct lines of the cells, which are names."""
        return list(dict.fromkeys(line for cell in self.cells for line in cell.split("\n")))


def table_text(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int, *, keys: int = 1) -> str:
    """A table of these columns, at most `width` wide where no figure or header is wider.

    A column that is empty in every row is left out; of no row the header alone remains. Where the table goes
    on below, its first `keys` columns stand there again. Names that are cut are whole below.
    """
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    every = [_Column.of(name, cells) for name, cells in zip(columns, values, strict=True)]
    filled = [column for n, column in enumerate(every) if not n or not rows or any(column.cells)]
    n_keys = sum(column in filled for column in every[:keys])
    blocks = [*_blocks(filled[:n_keys], filled[n_keys:], width)]
    parts = [*zip(blocks, _alike([_widths(block, width) for block in blocks], filled[:n_keys]), strict=True)]
    texts = ["\n".join(_block_lines(*part)) for part in parts]
    return "\n\n".join(filter(None, [*texts, _key(parts, width)]))


def _alike(widths: Sequence[list[int]], keys: Sequence[_Column]) -> list[list[int]]:
    """The widths of blocks in which a key of names is as wide in one as in all others: it is cut alike."""
    narrowest = [min(of_block[n] for of_block in widths) for n, _ in enumerate(keys)]
    of_keys = {
        n: width for n, (key, width) in enumerate(zip(keys, narrowest, strict=True)) if key.name in NAMES
    }
    return [[of_keys.get(n, width) for n, width in enumerate(of_block)] for of_block in widths]


def name_key(names: Iterable[str], short: Name, width: int) -> list[str]:
    """The names that are cut, each as `short = whole`, as many on a line of this width as fit."""
    return _key_lines([(short(name), name) for name in names], width)


def _key_lines(names: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Short and whole names in columns; many that differ in one part as a list, `gpt-{4o, 4o-mini}-2024`."""
    pairs = list(dict.fromkeys((short, name) for short, name in names if short != name))
    entries = _key_entries(pairs, width)
    widest = max(map(cell_width, entries), default=0)
    n_columns = max((width + GAP) // (widest + GAP), 1)
    rows = [entries[n : n + n_columns] for n in range(0, len(entries), n_columns)]
    lines = [(" " * GAP).join(_padded(entry, widest, right=False) for entry in row).rstrip() for row in rows]
    is_list = len(lines) > LONGEST_KEY and entries == [name for _, name in pairs]
    text = _in_braces(entries) if is_list else ""
    return min(lines, _fold(text, width), key=len) if text else lines


def _key_entries(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Each as `short = whole`. If a line is too narrow for that, a whole name stands alone.

    Its beginning and its end tell which it is, unless a number does: then both stay.
    """
    entries = [f"{short} = {name}" for short, name in pairs]
    if max(map(cell_width, entries), default=0) <= width:
        return entries
    ends = [short.rpartition("…")[2] for short, _ in pairs]
    return [
        name if " ".join(name.split()).endswith(end) else entry
        for entry, (_, name), end in zip(entries, pairs, ends, strict=True)
    ]


def _in_braces(names: Sequence[str]) -> str:
    """The parts in which names differ between what all begin and end with; empty where that is unclear."""
    # No word is taken apart: gpt-{1, 10}, not gpt-1{, 0}.
    words = [_WORDS.findall(name) for name in names]
    n_start = _n_alike(words)
    n_end = _n_alike([of_name[n_start:][::-1] for of_name in words])
    parts = ["".join(of_name[n_start : len(of_name) - n_end]) for of_name in words]
    if any(not part or set("{,}") & set(part) for part in parts):
        return ""
    end = words[0][len(words[0]) - n_end :]
    return f"{''.join(words[0][:n_start])}{{{', '.join(parts)}}}{''.join(end)}"


def _n_alike(words: Sequence[Sequence[str]]) -> int:
    """How many words all of these begin with."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))


def _key(parts: Iterable[tuple[Sequence[_Column], Sequence[int]]], width: int) -> str:
    """The names that are cut in these columns of these widths."""
    columns = [pair for part in parts for pair in zip(*part, strict=True)]
    of_names = [(c.names, short_names(c.names, room)) for c, room in columns if c.name in NAMES]
    return "\n".join(_key_lines([(short(n), n) for names, short in of_names for n in names], width))


def _blocks(keys: Sequence[_Column], rest: Sequence[_Column], width: int) -> Iterator[list[_Column]]:
    """The columns in as many blocks as it takes, each behind the keys."""
    block = [*keys]
    for column in rest:
        needed = sum(c.least + GAP for c in block) + column.least
        if len(block) > len(keys) and needed > width:
            yield block
            block = [*keys]
        block.append(column)
    yield block


def _block_lines(columns: Sequence[_Column], widths: Sequence[int]) -> Iterator[str]:
    cells = [column.lines(w) for column, w in zip(columns, widths, strict=True)]
    header, *rows = zip(*cells, strict=True)
    yield from _row_lines(header, columns, widths)
    yield (" " * GAP).join("─" * w for w in widths)
    for row in rows:
        yield from _row_lines(row, columns, widths)


def _widths(columns: Sequence[_Column], width: int) -> list[int]:
    """The width of each column: what is left beyond the least goes to the texts, the narrow ones first."""
    spare = width - GAP * (len(columns) - 1) - sum(column.least for column in columns)
    widths = [column.least for column in columns]
    wanting = sorted(range(len(columns)), key=lambda n: columns[n].natural - columns[n].least)
    for place, n in enumerate(wanting):
        share = max(spare, 0) // (len(wanting) - place)
        more = min(share, columns[n].natural - columns[n].least)
        widths[n] += more
        spare -= more
    return widths


def _row_lines(
    cells: Sequence[Sequence[str]], columns: Sequence[_Column], widths: Sequence[int]
) -> Iterator[str]:
    for n in range(max(map(len, cells))):
        parts = [
            _padded(cell[n] if n < len(cell) else "", width, right=column.of_figures)
            for cell, column, width in zip(cells, columns, widths, strict=True)
        ]
        yield (" " * GAP).join(parts).rstrip()


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def _fold(line: str, width: int) -> list[str]:
    if cell_width(line) <= width:
        return [line]
    # In wide letters half as many fit.
    return wrap(line, width if line.isascii() else max(width // 2, 1), break_on_hyphens=False) or [""]
