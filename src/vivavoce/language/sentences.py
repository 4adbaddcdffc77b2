"""The sentences of a text: where one ends, and where a full stop only ends an abbreviation, a dose or a name.

The rules are for medical prose in scripts with capitals, and know the sentence marks of other scripts.
"""

import re

LIST_MARK = r"(?:[-*+•·◦▪‣–>#]+|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\(?[ivxIVX]{1,5}\))"
"""What a list item begins with: a bullet, `1.`, `(1)`, `1)`, `a)`, `(iv)`."""
END_MARKS = ".!?…。！？｡।॥؟۔።။។"
CLOSERS = "\"'”’»›)\\]}*_」』）"
CITATIONS = r"(?:\s?\[\d[\d ,–-]{0,40}\])"

# Possessive, and tried only where a run of marks begins: a megabyte of full stops costs its length.
_END = re.compile(rf"(?<![{END_MARKS}])[{END_MARKS}]++[{CLOSERS}]*+{CITATIONS}*+")
_WITHOUT_SPACE = re.compile(r"[。！？｡]\Z")
BARE_MARK = re.compile(rf"{LIST_MARK}(?:\s+{LIST_MARK})*")
_NUMBER_FIRST = re.compile(r"(?:[-*+•·◦▪‣–>#]+\s?)?\(?\d{1,3}")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_OPENERS = "\"'“‘«‹„([{「『（¿¡*_•"

# fmt: off
_ABBREVIATIONS = frozenset((
    "e.g", "E.g", "i.e", "I.e", "etc", "vs", "cf", "Cf", "ca", "al", "Dr", "Prof", "Mr", "Mrs", "Ms", "St",
    "Fig", "Figs", "approx", "Approx", "resp", "spp", "sp", "subsp", "var",
))
_BEFORE_A_NUMBER = frozenset((
    "No", "no", "Nos", "nos", "max", "min", "p", "pp", "ref", "refs", "Ref", "Refs", "eq", "Eq", "sec", "Sec",
    "vol", "Vol", "tab", "tabs", "cap", "caps", "Tab", "Tabs", "Cap", "Caps", "incl", "esp",
))
_LETTERED = frozenset((
    "vitamin", "vitamins", "hepatitis", "type", "types", "group", "grade", "class", "stage", "influenza",
    "immunoglobulin", "factor", "option", "complex", "protein",
))
# fmt: on


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text`, in their order, with runs of white space as one space.

    Every line is a block of its own; a list marker stays with its first sentence, and a marker that is alone
    on its line goes to the next line. A sentence ends after `.`, `!`, `?` or `…` with the quotes, brackets
    and citations (`[12]`) that close it, before white space and an upper-case letter, a digit, a quote or a
    bracket; a letter of a script without cases counts as upper case. `。`, `！` and `？` need no white space.

    No sentence ends at an abbreviation (`e.g.`, `et al.`, `Fig.`), an initial (`S. Typhi`, but `vitamin D.`
    ends one), capitals with full stops (`U.S.`), a dose or reference before its number (`max. 4 g`, `No. 5`,
    `p.o. 3 times`), or the number of a list. Where in doubt two sentences stay together, and nothing is lost.
    A line without a letter or digit is none; the last line is kept where it is a bare marker after others.
    Time and size grow with the length of the text.
    """
    parts: list[str] = []
    mark = ""
    for line in text.splitlines():
        line = " ".join(line.split())
        if BARE_MARK.fullmatch(line):
            mark = line
        elif any(c.isalnum() for c in line):
            parts += _of_line(f"{mark} {line}" if mark else line)
            mark = ""
    if mark and (parts or any(c.isalnum() for c in mark)):
        parts.append(mark)
    return tuple(parts)


def _of_line(line: str) -> list[str]:
    parts, start = [], 0
    for end in _END.finditer(line):
        if _ends(line, start, end):
            parts.append(line[start : end.end()].strip())
            start = end.end()
    return [part for part in (*parts, line[start:].strip()) if any(c.isalnum() for c in part)]


def _ends(line: str, start: int, end: re.Match[str]) -> bool:
    """True if the sentence from `start` ends at this match."""
    after = line[end.end() : end.end() + 2]
    if not after.startswith(" "):
        return bool(after and _WITHOUT_SPACE.search(end[0]))
    following = after[1:]
    if not (following in _OPENERS or (following.isalnum() and not following.islower())):
        return False
    return end[0] != "." or not _is_short_form(line, start, end.start(), following.isdigit())


def _is_short_form(line: str, start: int, stop: int, number: bool) -> bool:
    """True if the full stop at `stop` ends a short form and no sentence; `number`: a digit comes next."""
    blank = line.rfind(" ", start, stop)
    word = line[max(blank + 1, start) : stop].lstrip(_OPENERS)
    preceding = line[max(start, blank - 20) : max(start, blank)].rpartition(" ")[2].lower()
    if len(word) == 1 and word.isupper():
        return preceding not in _LETTERED
    if word.isdigit():
        return _counts(line[start:stop].strip()) or (word == "1" and preceding.endswith(":"))
    return word in _ABBREVIATIONS or _goes_on(word, number)


def _goes_on(word: str, number: bool) -> bool:
    """True if a word with a full stop belongs to what follows: `U.S. Task`, `p.o. 3 times`, `max. 4`."""
    if _DOTTED.fullmatch(word[-12:]):
        return number or word.isupper()
    return number and word in _BEFORE_A_NUMBER


def _counts(head: str) -> bool:
    """True if a sentence so far is the number of a list item."""
    return len(head) < 12 and _NUMBER_FIRST.fullmatch(head) is not None


_SHORT_FORM = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|Drs?|Mrs?|Ms|Prof|St|vs|[eE]\.g|[iI]\.e|approx|[nN]o|[fF]igs?|cf|etc|resp|spp|"
    r"ca|al|subsp)\.$"
)
_STARTS = re.compile(r"[.?!][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\n+")
_WRAPPED_END = re.compile(
    r"[.?!][\"'”’)\]]*\s+(?=[\"'“‘(\[¿¡]?[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я])|[。！？]+[”’」』）]*"
    r"|\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*•·–]|\d{1,3}[.)])\s)"  # a blank line, an entry of a list
)


def sentence_starts(text: str, *, wrapped: bool = False) -> list[int]:
    """Where the sentences of a text begin.

    A line end ends a sentence, unless the text is `wrapped`: lines broken anywhere, as in a PDF. There only a
    blank line or the next entry of a list does.
    """
    last = len(text.rstrip())
    ends = [
        match.end()
        for match in (_WRAPPED_END if wrapped else _STARTS).finditer(text)
        # the longest abbreviation has 7 characters: more of the text would be copied for each sentence
        if match[0].isspace() or not _SHORT_FORM.search(text[max(0, match.start() - 9) : match.start() + 1])
    ]
    return [0, *(end for end in ends if end < last)]
