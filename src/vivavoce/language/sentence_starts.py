"""Where the sentences of a text begin: a rule, for inserting between them and for cutting behind them."""

import re

_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|Drs?|Mrs?|Ms|Prof|St|vs|[eE]\.g|[iI]\.e|approx|[nN]o|[fF]igs?|cf|etc|resp|spp|"
    r"ca|al|subsp)\.$"
)
_END = re.compile(r"[.?!][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\n+")
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
        for match in (_WRAPPED_END if wrapped else _END).finditer(text)
        # the longest abbreviation has 7 characters: more of the text would be copied for each sentence
        if match[0].isspace() or not _ABBREVIATION.search(text[max(0, match.start() - 9) : match.start() + 1])
    ]
    return [0, *(end for end in ends if end < last)]
