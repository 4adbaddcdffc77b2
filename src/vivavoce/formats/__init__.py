"""Formats: how an item is asked, and how a response to it is read.

A format is a class that derives from `base.Format`, registered with `@format(name)`. Those of this package
and of plugins are found by name through `FORMATS`.
"""

from collections.abc import Iterator, Mapping, Sequence

from vivavoce.core import registry
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.parts import Parts
from vivavoce.core.records import Item, Reading
from vivavoce.core.text import LONGEST, is_blank, too_long
from vivavoce.formats.base import Format, item_error, without_words

_ORDER = (
    *("mcq", "true_false", "list", "short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform"),
    *("relation", "argument", "conversation"),
)
"""Our formats as tables show them: closed, open, chains. Those of plugins follow by name."""


class _Formats(Mapping[str, Format]):
    """The registered formats by name; each is built when it is first asked for.

    Nothing is imported before that: a format brings the reading of responses with it.
    """

    def __init__(self) -> None:
        self.instances: dict[str, Format] = {}

    def __getitem__(self, name: str) -> Format:
        # called for every item and response: one lookup, except the first time
        try:
            return self.instances[name]
        except KeyError:
            registered: type[Format] | None = registry.member("format", name)
            if registered is None:
                raise
            instance = self.instances[name] = registered()
            return instance

    def __iter__(self) -> Iterator[str]:
        names = registry.members("format")
        return iter([*(n for n in _ORDER if n in names), *(n for n in names if n not in _ORDER)])

    def __len__(self) -> int:
        return len(registry.members("format"))


FORMATS: Mapping[str, Format] = _Formats()
"""Every registered format by name."""


def format_of(item: Item) -> Format:
    """The item's format. Raises `InputError` for an unknown one."""
    try:
        return FORMATS[item.format]
    except KeyError:
        raise InputError(
            f"{item.benchmark}, item {item.name!r}: no format named {item.format!r}."
            f"{suggest(item.format, tuple(FORMATS))}"
        ) from None


def ask(item: Item, *, style: str | None = None) -> str:
    """The user prompt for an item.

    `style` is for formats with options: 'text' shows them without letters and asks for the text, 'letter'
    asks for the letter, 'both' (the default) for both. Raises `InputError` for an unknown format or style.
    """
    return format_of(item).ask(item, style)


def read_response(item: Item, answer: str | Parts) -> Reading:
    """The response as the item's format reads it: never an exception, whatever the text.

    `parsed` is null unless the status is `ok`. A text of more than `LONGEST` characters is unreadable, and no
    pattern sees it. Of an answer whose `Parts` say that it was cut, only what was said to its end counts
    (`Format.read_cut`); of one without a word they say why. Raises `InputError` only for an unknown format.
    """
    item_format, parts = format_of(item), answer if isinstance(answer, Parts) else Parts(answer)
    if len(parts.final) > LONGEST:
        return Reading("unreadable", reason=too_long(parts.final))
    if is_blank(parts.final):
        return item_format.read_mark(parts.final) or without_words(parts)
    return item_format.read_cut(item, parts.final) if parts.is_cut else item_format.read(item, parts.final)


def check(item: Item) -> Item:
    """The item in its format's normal form, or `InputError` with a sentence that names benchmark and item."""
    points = [point.unit for point in item.rubric]
    if len(set(points)) < len(points):
        raise item_error(item, "two points of its rubric bear one name")
    for field in ("must", "nice"):
        if any(not text.strip() for text in getattr(item, field)):
            raise item_error(item, f"a statement under {field} is blank: take it out, or say what it is")
    if (item.messages or item.follows) and "messages" not in format_of(item).fields:
        raise item_error(
            item, f"messages are asked as they stand, and {item.format} is not: its format is conversation"
        )
    return format_of(item).check(item)


def key(item: Item) -> str:
    """The keyed answer as a candidate would give it: options by their text, a chain with its steps.

    For examples in a prompt and for the ceiling; empty for an item that has no key.
    """
    return format_of(item).key(item) if item.references or item.answer else ""


def labelled_key(item: Item) -> str:
    """The keyed answer under the labels of its prompt, as people see it among responses.

    A key that is labelled otherwise than responses are would be recognised. Empty without a key.
    """
    text = key(item)
    return format_of(item).labelled_key(item) if text.strip() else text


def scored_as(name: str) -> tuple[str, ...]:
    """The format of that name, and the one of ours whose metrics score it too."""
    try:
        like = FORMATS[name].scored_as
    except KeyError:  # items of a plugin that is not loaded
        like = ""
    return (name, like) if like else (name,)


def accepts(declared: Sequence[str], name: str) -> bool:
    """Whether a metric that declares these formats scores items of the format `name`.

    It does where it names that format, or the one that the format says it is `scored_as`.
    """
    return name in declared or any(like in declared for like in scored_as(name))
