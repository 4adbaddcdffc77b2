"""A judge's reply, read tolerantly and never guessed at: a value for each thing asked, or why there is none.

A reply is JSON, bare, fenced or amid prose, or else lines such as `harm (safety): 4`. Whatever could be read
in two ways is unreadable. The time is linear in the length of the reply.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from vivavoce.prompts import Unreadable
from vivavoce.rubrics.base import RubricCriterion
from vivavoce.text import is_blank, one_line, printable, spoken

__all__ = ["Pairs", "Wanted", "mark", "named", "plain", "read_fields", "read_marks", "read_tag", "shown"]

T = TypeVar("T")

LONGEST = 100_000
"""Characters of a reply without its thinking; nobody who marks needs more, and a loop has no end."""
_ATTEMPTS = 60
"""Braces that may turn out to open no JSON object, before the reply is given up."""
_DEEPEST = 4
"""Objects within objects that are looked through for marks."""

_REFUSAL = re.compile(
    r"\A\W*(?:i(?:'m| am) (?:\w+ )?sorry|sorry\b|i apologi[sz]e|as an ai\b)"
    r"|\b(?:i (?:cannot|can't|can not|could not|won't|will not)|unable to|not able to|decline to) (?:\w+ )?"
    r"(?:evaluate|assess|grade|rate|score|judge|mark|rank|compare|assist|help|comply|do th(?:is|at))\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r'\{(?=\s{0,40}["}])')
_LABEL = re.compile(r"(?:[0-9]{1,2}[.)][ \t]+)?([^:=]{1,80})[:=](.*)")
_LISTED = re.compile(r"\W*[0-9]+[.)]\s+\S")
_NUMBER = re.compile(
    r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)(?: ?(?:/|out of|of) ?([0-9]{1,9}(?:\.[0-9]{1,9})?))?(?: points?\b)?",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?:[.,;:]\s|\s?[–—]\s?|\s-\s|\s?\(|\n)\s*(?!(?:or|to|maybe|perhaps|possibly)\b)[^\W\d_]", re.IGNORECASE
)
_ANOTHER = re.compile(r"(?<![\w.])[0-9]{1,9}(?:\.[0-9]{1,9})?(?!\w)")
_NUMBERLIKE = re.compile(
    r"\W*(?:(?:about|around|approximately|roughly|between|circa|maybe|perhaps)\s+)?"
    r"(?:[0-9]|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)",
    re.IGNORECASE,
)
_MARKUP = str.maketrans("", "", '*`"“”')


class Pairs(tuple[tuple[str, Any], ...]):
    """The entries of a JSON object, in order and with those that stand there twice."""

    __slots__ = ()


# Numbers become floats, which have no longest; NaN and Infinity stay words, which are no numbers.
_JSON = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=float, parse_constant=str, strict=False)


class Wanted(NamedTuple, Generic[T]):
    """What to look for in a reply.

    `keys` leads from a name as `plain` writes it to the thing it stands for; every thing must be found.
    `read` makes a value of what stands under a key, given the thing, or raises `Unreadable`. `whole` reads a
    reply without any key; null where one value would not be all. A line whose value does not look `likely` is
    prose.
    """

    keys: Mapping[str, str]
    read: Callable[[str, Any], T]
    whole: Callable[[str], T] | None
    likely: Callable[[str], bool]


def plain(key: str) -> str:
    """A key without case, remarks in brackets and marks: 'Knowledge-Recall (facts)' is 'knowledge_recall'."""
    return re.sub(r"[\W_]+", "_", re.sub(r"\([^()]*\)", " ", key).casefold()).strip("_")


def shown(raw: object) -> str:
    """What a judge wrote, on one short line, for a reason."""
    if raw is None or isinstance(raw, bool):
        return json.dumps(raw)
    return f"{raw:g}" if isinstance(raw, float) else f"'{one_line(printable(str(raw)), 30)}'"


def read_fields(text: str, wanted: Wanted[T]) -> dict[str, T]:
    """The value of every thing that is wanted.

    Raises `Unreadable` for an empty reply, a refusal, a value that is none, a thing without a value, or one
    with two.
    """
    text = _answered(text)
    objects = list(_objects(text))
    found: dict[str, T] = {}
    for _, _, pairs in objects:
        _look(pairs, wanted, found, 0)
    in_json = bool(found)
    if not in_json and (refusal := _REFUSAL.search(text[:400].replace("’", "'"))):
        raise Unreadable(f"the judge refused: {shown(refusal[0].strip())}")
    _look_in_lines(_around(text, objects), wanted, found, strict=in_json)
    things = tuple(dict.fromkeys(wanted.keys.values()))
    if not found and wanted.whole:
        return {things[0]: wanted.whole(text)}
    if missing := [thing for thing in things if thing not in found]:
        raise Unreadable(f"no value for {', '.join(missing)}")
    return {thing: found[thing] for thing in things}


def _answered(text: str) -> str:
    reply = spoken(text)
    if is_blank(reply.text):
        raise Unreadable("empty reply" if reply.closed else "the reply ends within its thinking")
    if len(reply.text) > LONGEST:
        raise Unreadable(f"the reply is longer than {LONGEST} characters")
    return reply.text


def _objects(text: str) -> Iterator[tuple[int, int, Pairs]]:
    """The outermost JSON objects of a text, with where they begin and end."""
    at = failed = 0
    while opening := _OPENING.search(text, at):
        try:
            found, at = _JSON.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at, failed = opening.end(), failed + 1
            if failed > _ATTEMPTS:
                raise Unreadable("too many braces that open no JSON object") from None
        else:
            yield opening.start(), at, found


def _around(text: str, objects: Sequence[tuple[int, int, Pairs]]) -> str:
    ends = [0, *(end for _, end, _ in objects)]
    starts = [*(start for start, _, _ in objects), len(text)]
    return "\n".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _look(pairs: Pairs, wanted: Wanted[T], found: dict[str, T], depth: int) -> None:
    for key, raw in pairs:
        if thing := wanted.keys.get(plain(key[:200])):
            _put(thing, wanted.read(thing, raw), found)
        elif isinstance(raw, Pairs) and depth < _DEEPEST:
            _look(raw, wanted, found, depth + 1)


def _look_in_lines(text: str, wanted: Wanted[T], found: dict[str, T], *, strict: bool) -> None:
    """Values in lines and rows of tables; beside JSON (`strict`) only those that contradict it matter."""
    for line in text.translate(_MARKUP).splitlines():
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").split("|")
            key, value = cells[0], cells[1] if len(cells) > 1 else ""
        elif labelled := _LABEL.match(line.lstrip(" \t-•>#")):
            key, value = labelled[1], labelled[2]
        else:
            continue
        if (thing := wanted.keys.get(plain(key[:200]))) and value.strip():
            try:
                said = wanted.read(thing, value)
            except Unreadable:
                if strict or not wanted.likely(value):
                    continue
                raise
            if not strict or thing in found:
                _put(thing, said, found)


def _put(thing: str, value: T, found: dict[str, T]) -> None:
    if found.setdefault(thing, value) != value:
        raise Unreadable(f"two values for {thing}: {shown(found[thing])} and {shown(value)}")


_ONLY = ("score", "rating", "mark", "grade", "value")


def named(names: Mapping[str, str]) -> dict[str, str]:
    """Keys as replies write them, from names as the rubric does: 'harm' is also 'harm score'.

    Where there is one name, 'score', 'rating', 'mark', 'grade' and 'value' stand for it too.
    """
    keys = {plain(name): thing for name, thing in names.items()}
    for key, thing in tuple(keys.items()):
        for word in _ONLY:
            for other in (f"{key}_{word}", f"{word}_{key}", f"{word}_for_{key}", f"{word}_of_{key}"):
                keys.setdefault(other, thing)
    if len(set(names.values())) == 1:
        for word in _ONLY:
            for other in (word, f"final_{word}", f"overall_{word}", f"my_{word}"):
                keys.setdefault(other, next(iter(names.values())))
    return keys


def read_marks(text: str, criteria: Sequence[RubricCriterion]) -> dict[str, float]:
    """One mark for each criterion. Raises `Unreadable`."""
    own = {c.name: c for c in criteria}
    keys = named({name: c.name for c in criteria for name in (c.name, c.key)})
    whole = (lambda text: _lone(criteria[0], text)) if len(own) == 1 else None
    return read_fields(text, Wanted(keys, lambda name, raw: mark(own[name], raw), whole, _numberlike))


def _lone(criterion: RubricCriterion, text: str) -> float:
    """A reply that is a mark and nothing else; '1. The answer' begins a list."""
    if "\n" in text or not _numberlike(text) or _LISTED.match(text[:40]):
        raise Unreadable(f"no value for {criterion.name}")
    return mark(criterion, text)


def read_tag(text: str, criterion: RubricCriterion) -> float:
    """The mark after the tag `[RESULT]`; without a tag, the mark as `read_marks` finds it."""
    parts = re.split(r"\[\s{0,4}RESULT\s{0,4}\]", _answered(text), flags=re.IGNORECASE)[1:]
    if not parts:
        return read_marks(text, (criterion,))[criterion.name]
    found: dict[str, float] = {}
    for part in parts:
        said = part.strip(" \t\n:*").split("\n", 1)[0]
        if is_blank(said):
            raise Unreadable("nothing stands after [RESULT]")
        _put(criterion.name, mark(criterion, re.sub(r"\[/?[A-Za-z]{1,20}\]\s*$", "", said)), found)
    return found[criterion.name]


def _numberlike(value: str) -> bool:
    return _NUMBERLIKE.match(value[:200]) is not None


def mark(criterion: RubricCriterion, raw: Any) -> float:
    """The mark that a JSON value or a text is. Raises `Unreadable` for a doubt or for another scale."""
    name = criterion.name
    if isinstance(raw, Pairs):
        inner = {"score", "rating", "mark", "grade", "value", plain(name), plain(criterion.key)}
        marks = {
            mark(criterion, value)
            for key, value in raw
            if plain(key[:200]) in inner and not isinstance(value, Pairs)
        }
        if len(marks) != 1:
            raise Unreadable(f"two values for {name}" if marks else f"no value for {name}")
        return marks.pop()
    if isinstance(raw, str):
        value = _number(criterion, raw)
    elif isinstance(raw, float):
        value = raw
    else:
        raise Unreadable(
            f"{name} is {shown(raw) if raw is None or isinstance(raw, bool) else 'a list'}, no number"
        )
    low, high = criterion.criterion.low, criterion.criterion.high
    if (low is not None and value < low) or (high is not None and value > high):
        raise Unreadable(f"{name} is out of range: {value:g} is not {criterion.wanted}")
    if criterion.steps and min(abs(value - step) for step in criterion.steps) > 1e-9:
        raise Unreadable(f"{name} is {value:g}, not {criterion.wanted}")
    return value


def _number(criterion: RubricCriterion, raw: str) -> float:
    text = raw.translate(_MARKUP).strip(" \t\r\n_',;}")
    number = _NUMBER.match(text)
    if number is None:
        raise Unreadable(f"{criterion.name} is {shown(raw)}, no number")
    low, high = criterion.criterion.low, criterion.criterion.high
    rest = text[number.end() :].rstrip(" \t\r\n.")
    others = [float(n) for n in _ANOTHER.findall(rest)]
    if (rest and not _REMARK.match(rest)) or any((low or 0) <= n <= (high or n) for n in others):
        raise Unreadable(f"{criterion.name} is {shown(raw)}, not one number")
    if number[2] and float(number[2]) != high:
        raise Unreadable(f"{criterion.name} is {shown(number[0])}, but the scale ends at {high:g}")
    return float(number[1])
