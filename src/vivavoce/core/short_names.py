"""Names that fit: a long one loses its middle, and each is still told from the others."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable

Name = Callable[[str], str]
LONGEST_NAME, END = 44, 16
"""Places of a name on a line of text, and of its end if it is cut: versions often differ there alone."""


def cell_width(text: str) -> int:
    """How many places a text takes at a terminal: letters of East Asia and emoji take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def short_name(name: str, width: int = LONGEST_NAME) -> str:
    """A name on one line, at most `width` places wide (3 or more), a longer one without its middle."""
    flat = " ".join(name.split())
    if cell_width(flat) <= width:
        return flat
    end = min(END, (width - 1) // 2)
    return f"{_beginning(flat, width - 1 - end)}…{_end(flat, end)}"


def short_names(names: Iterable[str], width: int = LONGEST_NAME) -> Name:
    """What gives the name of each of these on a line, at most `width` places wide.

    Those that would be cut to one name bear their place among `names`: the second ends in " (2)".
    """
    names = [*dict.fromkeys(names)]
    cut = {name: short_name(name, width) for name in names}
    times = Counter(cut.values())
    for number, name in enumerate(names, 1):
        if times[cut[name]] > 1:
            place = f" ({number})"
            cut[name] = short_name(name, max(width - len(place), 3)) + place
    return cut.__getitem__


def _beginning(text: str, width: int) -> str:
    """As many of the first characters as `width` places hold."""
    n = min(len(text), width)
    while cell_width(text[:n]) > width:
        n -= 1
    return text[:n]


def _end(text: str, width: int) -> str:
    """As many of the last characters as `width` places hold; no accent stands there without its letter."""
    n = max(len(text) - width, 0)
    while cell_width(text[n:]) > width or (n < len(text) and unicodedata.combining(text[n])):
        n += 1
    return text[n:]
