"""Relations in an answer: heads, types and tails, from JSON or from lines.

A line is a relation where bars or tabs part it into three or four fields, where arrows lead over one of the
types asked for, or where it is an object of JSON by itself. Every other line is talk. What is written as a
relation and is none is stray.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.reading.fields import json_document


class Relation(NamedTuple):
    """A relation between two entities, as an answer names it; `novel` is null where it does not say."""

    head: str
    type: str
    tail: str
    novel: bool | None = None


class Listed(NamedTuple):
    """The relations of an answer in their order, and the entries that are none."""

    relations: tuple[Relation, ...] = ()
    stray: tuple[str, ...] = ()


_HEAD = ("head", "subject", "entity1", "entity_1", "source", "arg1")
_TYPE = ("type", "relation", "relation_type", "relationtype", "predicate", "label")
_TAIL = ("tail", "object", "entity2", "entity_2", "target", "arg2")
_NOVEL = ("novel", "novelty", "new")
_IS_NOVEL = {"novel": True, "new": True, "yes": True, "true": True, "y": True}
_IS_KNOWN = {"known": False, "no": False, "false": False, "not novel": False, "background": False, "n": False}
_SAYS = {**_IS_NOVEL, **_IS_KNOWN}
_LISTS = (
    "relations",
    "relation",
    "relationships",
    "triples",
    "triplets",
    "answer",
    "final_answer",
    "results",
)

_BULLET = lazy_pattern(r"(?:[-*•–+>]|\(?\d{1,3}[.):])(?=\s)")
_ARROW = lazy_pattern(r"[-–—=]{0,3}[>→⇒⟶]|[-–—]{2,3}")
_RULE = lazy_pattern(r"[-:=\s]+")
_NO_RELATION = lazy_pattern(
    r"\W*(?:none|nil|there (?:are|is) no [\w ]{0,20}relations?[\w ]{0,40}"
    r"|no (?:\w+ )?relations?(?: (?:is|are|was|were|can be))?(?: \w+){0,6})\W*",
    re.IGNORECASE,
)
_SHORT, _LINE = 120, 1_000
"""Characters of an answer that can be nothing but a denial, and of a line whose arrows are read."""
_TypeOf = Callable[[str], str | None]


def same_name(name: str) -> str:
    """A name as names are compared: case and white space apart, and without the signs that quote it."""
    return " ".join(name.split()).strip(" \"'`*_“”‘’").casefold()


def type_reader(types: Sequence[str]) -> _TypeOf:
    """Finds the type that a text writes, in any case, with blanks or hyphens for underscores; else null."""
    by_form = {_form(name): name for name in types}
    return lambda text: by_form.get(_form(text))


def _form(text: str) -> str:
    return " ".join(re.split(r"[\s_-]+", same_name(text)))


def denies_relations(text: str) -> bool:
    """True if all of `text` says that there is no relation."""
    return len(text) <= _SHORT and _NO_RELATION.fullmatch(text) is not None


def read_relations(answer: str, types: Sequence[str]) -> Listed | None:
    """The relations of an answer; null if it lists nothing. An empty list in JSON is a list of none."""
    type_of = type_reader(types)
    value = json_document(answer)
    if value is not None:
        return _gathered(_from_json(value, type_of))
    entries = [entry for line in answer.splitlines() for entry in _entries_of(line, type_of)]
    return _gathered(entries) if entries else None


def _gathered(entries: Sequence[Relation | str] | Iterator[Relation | str]) -> Listed:
    """The entries, each once."""
    distinct = tuple(dict.fromkeys(entries))
    return Listed(
        tuple(entry for entry in distinct if isinstance(entry, Relation)),
        tuple(entry for entry in distinct if entry and not isinstance(entry, Relation)),
    )


def _from_json(value: Any, type_of: _TypeOf) -> Iterator[Relation | str]:
    """The relations of a list of objects or of triples, of an object that holds one, or of one object."""
    if isinstance(value, dict):
        fields = _filled(value)
        inner = next((fields[key] for key in _LISTS if isinstance(fields.get(key), (list, dict))), None)
        yield from [_from_fields(fields, type_of)] if inner is None else _from_json(inner, type_of)
    elif _is_triple(value):
        yield _relation(list(map(str, value)), type_of)
    else:
        for entry in value:
            yield from _from_json(entry, type_of) if isinstance(entry, dict) else [_entry(entry, type_of)]


def _filled(value: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of an object that are not null, their keys in one form."""
    filled = {key: entry for key, entry in value.items() if entry is not None}
    return {key.strip().casefold().replace(" ", "_"): entry for key, entry in filled.items()}


def _entry(entry: Any, type_of: _TypeOf) -> Relation | str:
    """The relation of a triple or of a line in a list."""
    if isinstance(entry, list):
        return _relation(list(map(str, entry)), type_of)
    relation = _from_line(entry, type_of) if isinstance(entry, str) else None
    return str(entry) if relation is None else relation


def _is_triple(value: Sequence[Any]) -> bool:
    """Whether a list is one relation by itself: of texts, none of which is a relation written as a line."""
    if not 3 <= len(value) <= 4:
        return False
    return not any(isinstance(v, (list, dict)) or (isinstance(v, str) and "|" in v) for v in value)


def _from_fields(fields: Mapping[str, Any], type_of: _TypeOf) -> Relation | str:
    """The relation of an object with fields under any of their usual names."""
    head, kind, tail, novel = (
        next((fields[key] for key in keys if fields.get(key) is not None), None)
        for keys in (_HEAD, _TYPE, _TAIL, _NOVEL)
    )
    texts = [text for text in (head, kind, tail) if isinstance(text, str)]
    if len(texts) < 3:
        return ", ".join(f"{key}: {value}" for key, value in fields.items())
    return _relation([*texts, *([] if novel is None else [str(novel)])], type_of)


def _entries_of(line: str, type_of: _TypeOf) -> Iterator[Relation | str]:
    """The relation that a line writes; as an object of JSON, such as of a list cut short, maybe several."""
    value = json_document(line.strip().removesuffix(",")) if line.lstrip().startswith("{") else None
    if value is not None:
        yield from _from_json(value, type_of)
    elif (entry := _from_line(line, type_of)) is not None:
        yield entry


def _from_line(line: str, type_of: _TypeOf) -> Relation | str | None:
    """The relation that a line writes, the line if it is none, null if it writes none."""
    bullet = _BULLET.match(line := line.strip())
    text = line[bullet.end() :].strip() if bullet else line
    fields = _cells(text)
    if fields is None:
        return _from_arrows(text, type_of)
    if all(map(_RULE.fullmatch, filter(None, fields))) or _is_header(fields):
        return None
    return _relation(fields, type_of) if len(fields) in (3, 4) else text


def _from_arrows(text: str, type_of: _TypeOf) -> Relation | str | None:
    """The relation of a line such as `aspirin -> Treats -> fever`, or `aspirin --[Treats]--> fever`."""
    parts = [part.strip(" []()-–—") for part in _ARROW.split(text)] if len(text) <= _LINE else []
    # Arrows are common in prose: they count only where a type that was asked for stands between them.
    return _relation(parts, type_of) if len(parts) == 3 and type_of(parts[1]) else None


def _cells(text: str) -> list[str] | None:
    """The fields that bars or tabs part; null without. Bars at both ends are the edges of a table."""
    if "|" not in text:
        # Tabs also indent prose: they part fields only where there are as many as a relation has.
        fields = [field.strip() for field in text.split("\t")] if text.count("\t") in (2, 3) else []
        return fields if all(fields[:3]) and fields else None
    if text.startswith("|"):
        text = text.removeprefix("|").removesuffix("|")
    return [field.strip() for field in text.split("|")]


def _is_header(fields: Sequence[str]) -> bool:
    """Whether a row of a table, or an echo of the prompt, names the fields instead of filling them."""
    names = [_form(field).replace(" ", "_") for field in fields[:3]]
    aliases = (_HEAD, _TYPE, _TAIL)
    return len(names) == 3 and all(name in allowed for name, allowed in zip(names, aliases, strict=True))


def _relation(fields: Sequence[str], type_of: _TypeOf) -> Relation | str:
    """The relation of three fields, or of four of which the last says whether it is novel."""
    if len(fields) not in (3, 4) or not all(map(same_name, fields[:3])):
        return " | ".join(fields)
    head, kind, tail = (field.strip() for field in fields[:3])
    novel = _SAYS.get(same_name(fields[3])) if len(fields) == 4 else None
    return Relation(head, type_of(kind) or kind, tail, novel)
