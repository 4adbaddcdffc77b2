"""What items of a built exam rest on, as the run holds it: passages with their quotes, partner items."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.partners import REWORDED_FROM, TRANSLATION_OF
from vivavoce.core.records import Item
from vivavoce.core.text import lazy_pattern
from vivavoce.language.scripts import LETTERS_WITHOUT_SPACES, MARKS, SYLLABLES
from vivavoce.models.fencing import question_text
from vivavoce.people.choosing import cleaned
from vivavoce.run.building.parts import PASSAGE, QUOTE, Part, Passage, from_json
from vivavoce.store import read
from vivavoce.store.build_steps import named_parts
from vivavoce.store.damage import decoding
from vivavoce.store.forgotten import GONE, forgotten_names

PARTNERS = {TRANSLATION_OF: "original", REWORDED_FROM: "closed form"}
"""What the partner of an item is, by the key that names it."""


_Place = tuple[str, str]
"""The name of an exam, and the id of an item of it."""

_LETTER = rf"[^\W_{SYLLABLES}{LETTERS_WITHOUT_SPACES}]"
_WORD = rf"{_LETTER}++(?:[{MARKS}]++{_LETTER}*+)*+"
_TOKEN = lazy_pattern(
    rf"(?:(?<!\w)\.(?=\d))?(?:\d++[.,](?=\d))*+{_WORD}(?:['’\u2010\u2011-]{_WORD})*+|\S"  # 2.5mg, non-toxic
)


class Piece(NamedTuple):
    """A piece of a passage; `is_quote` where it is what an item rests on."""

    text: str
    is_quote: bool


class Partner(NamedTuple):
    """The item that another one was made from, and what it is to that one."""

    relation: str
    item: Item

    @property
    def prompt(self) -> str:
        """Its question with the options, as a page shows them."""
        return cleaned(question_text(self.item))

    @property
    def key(self) -> str:
        """Its key under the labels of the options."""
        return cleaned(formats.labelled_key(self.item))


class ItemEvidence(NamedTuple):
    """What an item was made from. No piece, and no partner, where the run does not hold it.

    The pieces of the passage follow one another, and together are its text. A partner stands before the one
    that it was made from itself: the closed form, then the original of that. `absent` are the quotes that do
    not stand in the passage.
    """

    title: str = ""
    passage: tuple[Piece, ...] = ()
    partners: tuple[Partner, ...] = ()
    absent: tuple[str, ...] = ()


class Sources(NamedTuple):
    """The passages and partner items of some items, by id; partners by the name of their exam too."""

    passages: Mapping[str, Passage]
    partners: Mapping[_Place, Item]

    def evidence(self, item: Item) -> ItemEvidence:
        """What this item was made from, as far as it is stored."""
        passage = self.passages.get(str(item.meta.get(PASSAGE)))
        partners = tuple(self._partners(item))
        if passage is None:
            return ItemEvidence(partners=partners)
        quotes = _quotes(item)
        absent = tuple(quote for quote, span in _spans(cleaned(passage.text), quotes) if span is None)
        return ItemEvidence(cleaned(passage.title), tuple(marked(passage.text, quotes)), partners, absent)

    def _partners(self, item: Item) -> Iterator[Partner]:
        # An imported exam may name two items as each other's partner.
        names = {item.item}
        while (link := _link(item)) and link.name not in names:
            partner = self.partners.get((item.benchmark, link.name))
            if partner is None:
                return
            yield Partner(PARTNERS[link.key], partner)
            names.add(link.name)
            item = partner


class _Link(NamedTuple):
    """The key by which an item names its partner, and the partner's id."""

    key: str
    name: str


def _link(item: Item) -> _Link | None:
    return next((_Link(key, str(item.meta[key])) for key in PARTNERS if item.meta.get(key)), None)


def read_sources(db: sqlite3.Connection, items: Iterable[Item]) -> Sources:
    """What the run holds of the passages and partners of these items; forgotten texts are not there.

    A partner is the item of the exam, else the one that went into the build.
    """
    chosen = list(items)
    names = {str(item.meta[PASSAGE]) for item in chosen if item.meta.get(PASSAGE)}
    passages = {p.passage: p for p in _kept_parts(db, names) if isinstance(p, Passage) and p.text != GONE}
    return Sources(passages, _stored_partners(db, chosen))


def _stored_partners(db: sqlite3.Connection, items: Sequence[Item]) -> dict[_Place, Item]:
    """The partners of these items, and their partners, by place; none that was forgotten."""
    in_exam = {(i.benchmark, i.item): i for i in read.items_by_id(db).values() if not i.variant}
    partners: dict[_Place, Item] = {}
    while places := _linked(items) - partners.keys():
        stored = _built_items(db, places) | in_exam
        items = [stored[place] for place in places & stored.keys()]
        partners |= {(item.benchmark, item.item): item for item in items}
    gone = {benchmark: forgotten_names(db, benchmark) for benchmark, _ in partners}
    return {place: item for place, item in partners.items() if place[1] not in gone[place[0]]}


def _built_items(db: sqlite3.Connection, places: Iterable[_Place]) -> dict[_Place, Item]:
    parts = _kept_parts(db, {name for _, name in places})
    return {(part.benchmark, part.item): part for part in parts if isinstance(part, Item)}


def _linked(items: Iterable[Item]) -> set[_Place]:
    return {(item.benchmark, link.name) for item in items if (link := _link(item))}


def _kept_parts(db: sqlite3.Connection, names: Iterable[str]) -> list[Part]:
    with decoding("a part of a build"):
        return list(map(from_json, named_parts(db, names)))


def _quotes(item: Item) -> list[str]:
    stored: Any = item.meta.get(QUOTE) or ()
    return [str(quote) for quote in ((stored,) if isinstance(stored, str) else stored)]


def marked(passage: str, quotes: Iterable[str]) -> Iterator[Piece]:
    """A passage in pieces, with each quote marked where it first stands; kinds of blanks do not count."""
    text, end = cleaned(passage), 0
    for start, stop in sorted(span for _, span in _spans(text, quotes) if span):
        if stop <= end:
            continue
        if start > end:
            yield Piece(text[end:start], False)
        yield Piece(text[max(start, end) : stop], True)
        end = stop
    if end < len(text):
        yield Piece(text[end:], False)


def _spans(text: str, quotes: Iterable[str]) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Each quote that is no blank with its place, null where its words do not follow one another in `text`.

    Words and numbers are whole: "5 mg" is not in "15 mg" or "2.5 mg".
    """
    places = [match.span() for match in _TOKEN.finditer(text)]
    # One search for a text takes time in proportion to it; a pattern of many words may go back at each.
    tokens = _joined(text[start:stop] for start, stop in places)
    for quote in map(cleaned, quotes):
        if sought := _TOKEN.findall(quote):
            place = tokens.find(_joined(sought))
            first = tokens.count("\n", 0, place)
            yield quote, None if place < 0 else (places[first][0], places[first + len(sought) - 1][1])


def _joined(tokens: Iterable[str]) -> str:
    # No token holds a line end.
    return "\n" + "".join(f"{token}\n" for token in tokens)
