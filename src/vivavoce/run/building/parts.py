"""What goes through the steps of a build: passages that questions are written from, and items."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from vivavoce.core.conversations import Message
from vivavoce.core.partners import REWORDED_FROM, TRANSLATION_OF
from vivavoce.core.records import Item, Unit
from vivavoce.core.tables import LISTS

REVIEW = "review"
"""The key, in an item's `meta`, of the reasons why a person should look at it."""
WRITTEN_BY = "written_by"
"""The key, in an item's `meta`, of the models that wrote or translated it."""


PASSAGE, QUOTE = "passage", "quote"
"""The keys, in an item's `meta`, of the passage that it was written from and of the words that support it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that questions are written from.

    `passage` is its id, one of its own in a build. `source` names the document and the place in it: a page, a
    section, a character span. `group` names what must be resampled together, such as the document.
    """

    passage: str
    source: str
    group: str
    text: str = ""
    title: str = ""
    category: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


Part = Item | Passage


def name_of(part: Part) -> str:
    """The id of a part; of an item with its variant."""
    if isinstance(part, Passage):
        return part.passage
    return f"{part.item} [{part.variant}]" if part.variant else part.item


def to_json(part: Part) -> str:
    """A part as one line of JSON, equal for equal parts; fields that hold nothing are left out."""
    values = {name: value for name, value in asdict(part).items() if value not in (None, "", (), {})}
    return json.dumps({"part": type(part).__name__} | values, ensure_ascii=False, sort_keys=True)


def from_json(body: str) -> Part:
    """The part that `to_json` wrote."""
    values = json.loads(body)
    if values.pop("part") == "Passage":
        return Passage(**values)
    for name in (*LISTS, "outer_groups"):
        if name in values:
            values[name] = tuple(values[name])
    values["messages"] = tuple(Message(*message) for message in values.get("messages", ()))
    values["rubric"] = tuple(Unit(**point) for point in values.get("rubric", ()))
    return Item(**values)


def digest_of(part: Part) -> str:
    """The hash of everything that a part holds, under which its text is stored."""
    return _digest(to_json(part))


def digest(parts: Sequence[Part]) -> str:
    """The hash of parts in their order, by which a step knows what it had."""
    return _digest("\n".join(map(digest_of, parts)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def for_review(item: Item, reason: str) -> Item:
    """The item with one more reason why a person should look at it."""
    reasons = [*item.meta.get(REVIEW, ()), reason]
    return replace(item, meta={**item.meta, REVIEW: list(dict.fromkeys(reasons))})


def with_partner(item: Item, relation: str, partner: str) -> Item:
    """The item, which names the id of its partner by this `relation` and by no other."""
    meta = {k: v for k, v in item.meta.items() if k not in (TRANSLATION_OF, REWORDED_FROM)}
    return replace(item, meta={**meta, relation: partner})


def written_by(item: Item, model: str) -> Item:
    """The item, which says that this model wrote or translated it."""
    writers = dict.fromkeys([*item.meta.get(WRITTEN_BY, ()), model])
    return replace(item, meta={**item.meta, WRITTEN_BY: list(writers)})
