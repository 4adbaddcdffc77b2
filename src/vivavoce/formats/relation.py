"""Relations between the entities of a text: heads, types and tails.

The key holds each relation as an object of JSON: `head` and `tail` list every name that the text has for the
entity, `type` is one of the options, `novel` says whether it is news or background (absent: not said).
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.core.text import is_blank
from vivavoce.formats.base import (
    Format,
    check_question,
    item_error,
    strip_reasoning,
    unanswered,
    unreadable,
    with_context,
)
from vivavoce.reading.markup import unfenced
from vivavoce.reading.refusal import abstains, only_refuses
from vivavoce.reading.relations import denies_relations, read_relations, same_name, type_reader


class KeyedRelation(NamedTuple):
    """A relation of a key: all names of its head and of its tail, first the one that is shown."""

    head: tuple[str, ...]
    type: str
    tail: tuple[str, ...]
    novel: bool | None = None


def relation_key(head: Iterable[str], type: str, tail: Iterable[str], novel: bool | None = None) -> str:
    """A relation as an entry of an item's `answer`; for loaders."""
    fields: dict[str, Any] = {"head": list(head), "type": type, "tail": list(tail)}
    return json.dumps(fields if novel is None else {**fields, "novel": novel}, ensure_ascii=False)


def relations_of(item: Item) -> tuple[KeyedRelation, ...]:
    """The relations of a checked item's key."""
    entries = map(json.loads, item.answer)
    return tuple(
        KeyedRelation(tuple(e["head"]), e["type"], tuple(e["tail"]), e.get("novel")) for e in entries
    )


@format("relation")
class RelationFormat(Format):
    """Every relation between the entities of a text, each with its type."""

    fields: ClassVar[tuple[str, ...]] = ("question", "options", "answer", "context")
    answered: ClassVar[str] = "with relations, each on a line: head | type | tail"
    read_as: ClassVar[str] = "the relations (head, type, tail, and whether it is novel), and strays"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question with the types; asks for news or background where the key tells."""
        tells = any(relation.novel is not None for relation in relations_of(item))
        return load("relation").fill(
            question=with_context(item),
            types="\n".join(f"- {name}" for name in item.options),
            novelty=" | novel, or known before" if tells else "",
        )

    def read(self, item: Item, text: str) -> Reading:
        """The relations that a response lists, each once; a denial of all is a list of none."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        answer = unfenced(answer)
        if denies_relations(answer):
            return Reading("ok", ())
        listed = read_relations(answer, item.options)
        if listed is not None:
            return Reading("ok", listed.relations, listed.stray)
        if abstains(answer) or only_refuses(answer):
            return unanswered("a refusal without an answer")
        return unreadable("it names no relation")

    def check(self, item: Item) -> Item:
        """Needs types as options, and one relation or more as the key, of these types."""
        check_question(item)
        if not item.options:
            raise item_error(item, "relation needs the types as options")
        if not item.answer:
            raise item_error(item, "relation needs one or more relations as answer", "it has no relation")
        return replace(item, answer=tuple(_checked(item, entry) for entry in item.answer))

    def key(self, item: Item) -> str:
        """A line for each relation, entities by their first name."""
        lines = []
        for relation in relations_of(item):
            fields = [relation.head[0], relation.type, relation.tail[0]]
            if relation.novel is not None:
                fields.append("novel" if relation.novel else "known")
            lines.append(" | ".join(fields))
        return "\n".join(lines)


def _checked(item: Item, entry: str) -> str:
    """An entry of the key in its normal form: from an object of JSON, or from a line as in an answer."""
    try:
        fields = json.loads(entry)
        if not isinstance(fields, dict):
            raise ValueError
        head, tail = (_names(fields[side]) for side in ("head", "tail"))
        relation = KeyedRelation(head, str(fields["type"]), tail, fields.get("novel"))
    except (ValueError, KeyError, TypeError):
        relation = _from_line(item, entry)
    name = type_reader(item.options)(relation.type)
    if name is None:
        raise item_error(
            item, f"the type {relation.type!r} is none of its types", "a type is none of the types"
        )
    if not all(relation.head) or not all(relation.tail) or not (relation.head and relation.tail):
        raise item_error(item, "a relation has an entity without a name")
    if relation.novel not in (None, True, False):
        raise item_error(item, f"novel is true, false or absent, not {relation.novel!r}")
    return relation_key(relation.head, name, relation.tail, relation.novel)


def _from_line(item: Item, entry: str) -> KeyedRelation:
    listed = read_relations(entry, item.options)
    if listed is None or len(listed.relations) != 1 or listed.stray:
        raise item_error(
            item, f"{entry!r} is no relation: write head | type | tail", "an entry is no relation"
        )
    (relation,) = listed.relations
    return KeyedRelation((relation.head,), relation.type, (relation.tail,), relation.novel)


def _names(names: Any) -> tuple[str, ...]:
    """The names of an entity, one text or several, without those that are compared as equal."""
    texts = [names] if isinstance(names, str) else [str(name) for name in names]
    return tuple({same_name(text): text.strip() for text in reversed(texts) if not is_blank(text)}.values())[
        ::-1
    ]
