"""Other names of a term: from a user's dictionary, WordNet, or a SNOMED CT release file."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core import prompts
from vivavoce.core.errors import InputError
from vivavoce.core.file_cache import cached_by_file
from vivavoce.core.json_text import read_json
from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import one_line
from vivavoce.metrics import wordnet
from vivavoce.models.requests import Message, Request, Sampling
from vivavoce.systems.hivmedqa.entities.lemmas import fold

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
    def names_of(term: str) -> frozenset[str]:
        return frozenset(map(form, keyed.get(term, ())))

    return names_of


@cached_by_file
def from_file(path: Path, form: Callable[[str], str]) -> Names:
    """As `look_up`, of the dictionary in a file."""
    return look_up(read_dictionary(path), form)


@cache
def from_wordnet(form: Callable[[str], str], joint: str) -> Names:
    """As `look_up`, of the table of `vivavoce.metrics.wordnet`, whose names are single words in lower case.

    There `_` joins the words of a term: with a `joint` of " " no term of several words is found.
    """

    @lru_cache(maxsize=1 << 16)
    def names(term: str) -> frozenset[str]:
        return frozenset(map(form, wordnet.synonyms(term.replace(" ", joint))))

    return names


@cached_by_file
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
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"synonyms={path} cannot be read: {reason}.") from None
    raise InputError(
        f"synonyms={path} is neither a .json dictionary nor a SNOMED CT description file (.txt)."
    )


def parse_dictionary(text: str) -> Synonyms:
    """A JSON object from term to list of names. Raises `ValueError` with a clause that says what is wrong.

    A term that stands there twice is refused, and so is a blank term or name.
    """
    try:
        dictionary = read_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON ({error.msg}, line {error.lineno})") from None
    if not isinstance(dictionary, dict):
        raise ValueError("a JSON object from term to list of names is needed")
    for term, names in dictionary.items():
        _check_names(term, names)
    return {term: tuple(names) for term, names in dictionary.items()}


def _check_names(term: str, names: Any) -> None:
    """Raise `ValueError` if the term or one of its names is blank, or the names are no list of texts."""
    if not fold(term):
        raise ValueError("a term is blank")
    if not isinstance(names, list) or not all(isinstance(name, str) and fold(name) for name in names):
        raise ValueError(f"{one_line(repr(term))} needs a list of names, each a text that is not blank")


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
    return _names_by_term(concepts.values())


def _names_by_term(concepts: Iterable[Sequence[str]]) -> Synonyms:
    """For each term the terms of all its concepts."""
    names: dict[str, tuple[str, ...]] = {}
    for terms in map(tuple, concepts):
        for term in terms:
            # Published: SNOMED was searched whatever the case; so the look-up is in lower case in both books.
            key = term.lower()
            names[key] = names[key] + terms if key in names else terms
    return names


PROMPT = Path(__file__).parents[1] / "prompts" / "synonyms.md"
"""The prompt, whose hash stands in signatures."""
_TERMS = 10
"""Terms a call, as published: with more the lists become worse."""


class Page(NamedTuple):
    """A part of the dictionary: its terms, how the model is asked for them, and how its reply is read."""

    terms: tuple[str, ...]
    request: Request
    parse: Callable[[str], Synonyms]


def pages(terms: Iterable[str]) -> list[Page]:
    """The terms in alphabetical order, ten on a page: what is asked follows from the set of terms alone."""
    ordered = sorted(set(terms))
    return [_page(tuple(ordered[k : k + _TERMS])) for k in range(0, len(ordered), _TERMS)]


def again(request: Request, reply: str, why: str) -> Request:
    """The same request once more, with the reply that could not be used and what is wrong with it."""
    message = (
        f"That cannot be used: {why}. Answer with the JSON object alone, a key for each term and no other."
    )
    return request.again(reply, message)


def _page(terms: tuple[str, ...]) -> Page:
    text = prompts.load("synonyms").fill(terms=json.dumps(terms, ensure_ascii=False))
    names = {"type": "array", "items": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(terms, names),
        "required": list(terms),
        "additionalProperties": False,
    }
    request = Request(messages=(Message("user", text),), sampling=Sampling(temperature=0.0, schema=schema))
    return Page(terms, request, lambda reply: _parse_reply(reply, terms))


def _parse_reply(reply: str, terms: Sequence[str]) -> Synonyms:
    """The lists of exactly these terms. A fence of backticks around the object is allowed, other words not.

    Raises `Unreadable`.
    """
    lines = reply.strip().splitlines()
    if len(lines) > 2 and lines[0].strip() in ("```", "```json") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    try:
        dictionary = parse_dictionary("\n".join(lines))
    except ValueError as error:
        raise Unreadable(str(error)) from None
    for term in terms:
        if term not in dictionary:
            raise Unreadable(f"it has no list for {term!r}")
    for term in dictionary:
        if term not in terms:
            raise Unreadable(f"it has {one_line(repr(term))}, which was not asked")
    return dictionary
