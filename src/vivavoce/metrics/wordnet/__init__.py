"""Synonyms from WordNet 3.0 (Princeton University), for METEOR's last stage.

`synonyms.txt.gz` is made from WordNet's files by `tools/wordnet.py`; its licence stands beside it in
`LICENSE`. Inflected forms are looked up as WordNet's morphy does it: irregular forms by list, else by the
suffix rules of the part of speech.
"""

import gzip
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).parent / "synonyms.txt.gz"
# Rules of detachment, morphy(7WN): noun, verb, adjective; an adverb has none.
_ENDINGS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")),
        *(("men", "man"), ("ies", "y")),
    ),
    (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e")),
        ("ing", ""),
    ),
    (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    (),
)


class _Part(NamedTuple):
    """A part of speech: synonyms by entry, base forms by irregular form, the endings that come off."""

    entries: dict[str, str]
    irregular: dict[str, str]
    endings: tuple[tuple[str, str], ...]


@cache
def _parts() -> tuple[_Part, ...]:
    blocks = []
    for block in gzip.decompress(_TABLE.read_bytes()).decode("ascii").rstrip("\n").split("\n\n"):
        flat = block.replace("\n", "\t").split("\t")
        blocks.append(dict(zip(flat[::2], flat[1::2], strict=True)))
    return tuple(map(_Part, blocks[::2], blocks[1::2], _ENDINGS))


@lru_cache(maxsize=1 << 16)
def synonyms(word: str) -> frozenset[str]:
    """The single lower-case words of every synset that `word` or a base form of it stands in.

    The word itself is among them if it is an entry. Empty for what WordNet does not have. `word` is taken as
    it is: entries are in lower case. Loads the table on first use.
    """
    words: set[str] = set()
    for entries, irregular, endings in _parts():
        if word in irregular:
            bases = irregular[word].split()
        else:
            bases = [word[: -len(old)] + new for old, new in endings if word.endswith(old)]
        for form in (word, *bases):
            if form in entries:
                words.update(entries[form].split() or (form,))
    return frozenset(words)
