"""Other names of a term: from a user's dictionary, WordNet, or a SNOMED CT release file."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from vivavoce import wordnet
from vivavoce.entities.kept import kept
from vivavoce.entities.lemmas import fold
from vivavoce.errors import InputError
from vivavoce.text import one_line

__all__ = ["Names", "Synonyms", "from_file", "from_wordnet", "look_up", "parse_dictionary", "read_dictionary"]

Synonyms = Mapping[str, tuple[str, ...]]
"""Other names by term, as they were written."""
Names = Callable[[str], frozenset[str]]
"""Gives the other names of a term; none if it knows none."""

_FULLY_SPECIFIED = "900000000000003001"


def look_up(synonyms: Synonyms, form: Callable[[str], str]) -> Names:
    """A function from a term to the `form` of its other names; keys are brought to that form too.

    Keys that become one have the names of both. Empty for a term that is not there.
    """
    keyed: dict[str, tuple[str, ...]] = {}
    for term, names in synonyms.items():
        key = form(term)
        keyed[key] = keyed[key] + names if key in keyed else names

    @lru_cache(maxsize=1 << 16)
    def found(term: str) -> frozenset[str]:
        return frozenset(map(form, keyed.get(term, ())))

    return found


@kept
def from_file(path: Path, form: Callable[[str], str]) -> Names:
    """As `look_up`, of the dictionary in a file."""
    return look_up(read_dictionary(path), form)


@cache
def from_wordnet(form: Callable[[str], str], joint: str) -> Names:
    """As `look_up`, of the table of `vivavoce.wordnet`, whose names are single words in lower case.

    There `_` joins the words of a term: with a `joint` of " " no term of several words is found.
    """

    @lru_cache(maxsize=1 << 16)
    def found(term: str) -> frozenset[str]:
        return frozenset(map(form, wordnet.synonyms(term.replace(" ", joint))))

    return found


@kept
def read_dictionary(path: Path) -> Synonyms:
    """The dictionary in a file: a JSON object from term to list of names, or a SNOMED CT description file.

    The latter is a .txt of release format 2, tab-separated with a header, of a release you hold a licence
    for: all terms of a concept are names of each other, fully specified names and inactive rows aside.
    Raises `InputError` naming the term or line that cannot be used.
    """
    try:
        if path.suffix.lower() == ".json":
            return parse_dictionary(path.read_text(encoding="utf-8-sig"))
        if path.suffix.lower() == ".txt":
            return _descriptions(path)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, not JSON, or said below
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"synonyms={path} cannot be read: {why}.") from None
    raise InputError(
        f"synonyms={path} is neither a .json dictionary nor a SNOMED CT description file (.txt)."
    )


def parse_dictionary(text: str) -> Synonyms:
    """A JSON object from term to list of names. Raises `ValueError` with a clause that says what is wrong.

    A term that stands there twice is refused, and so is a blank term or name.
    """
    try:
        said = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON ({error.msg}, line {error.lineno})") from None
    except RecursionError:
        raise ValueError("its JSON is nested too deep") from None
    if not isinstance(said, dict):
        raise ValueError("a JSON object from term to list of names is needed")
    for term, names in said.items():
        if not fold(term):
            raise ValueError("a term is blank")
        if not isinstance(names, list) or not all(isinstance(name, str) and fold(name) for name in names):
            raise ValueError(f"{one_line(repr(term))} needs a list of names, each a text that is not blank")
    return {term: tuple(names) for term, names in said.items()}


def _once(found: list[tuple[str, Any]]) -> dict[str, Any]:
    (term, times), *_ = Counter(term for term, _ in found).most_common(1) or [("", 0)]
    if times > 1:
        raise ValueError(f"{one_line(repr(term))} stands there twice")
    return dict(found)


def _descriptions(path: Path) -> Synonyms:
    concepts: dict[str, list[str]] = {}
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = stream.readline().rstrip("\r\n").split("\t")
        lacking = [name for name in ("conceptId", "term") if name not in header]
        if lacking:
            raise ValueError(f"its header has no column {lacking[0]}")
        for number, line in enumerate(stream, 2):
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) != len(header):
                raise ValueError(f"line {number} has {len(fields)} fields where the header has {len(header)}")
            row = dict(zip(header, fields, strict=True))
            if row.get("active", "1") == "1" and row.get("typeId") != _FULLY_SPECIFIED:
                concepts.setdefault(row["conceptId"], []).append(row["term"])
    found: dict[str, tuple[str, ...]] = {}
    for terms in map(tuple, concepts.values()):
        for term in terms:
            # Published: SNOMED was searched whatever the case; so the look-up is in lower case in both books.
            key = term.lower()
            found[key] = found[key] + terms if key in found else terms
    return found
