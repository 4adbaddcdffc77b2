"""A judge's reply, read tolerantly and never guessed at: a value for each thing asked, or why there is none.

A reply is JSON, bare, fenced or amid prose, or else lines such as `harm (safety): 4`. Whatever could be read
in two ways is unreadable. What repeats the `material`, the texts that the judge was shown, holds no value of
its own (the rule: `Material`). The time is linear in the length of the reply.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from vivavoce.core.prompts import Unreadable
from vivavoce.core.records import Criterion
from vivavoce.core.text import is_blank, spoken
from vivavoce.judging.criterion import RubricCriterion
from vivavoce.language.replies import NO_MATERIAL, REPEATED, Material, Pairs, Place, objects, quoted

T = TypeVar("T")

LONGEST = 100_000
"""Longest reply in characters, without its thinking: no score needs more, and a model in a loop writes on."""
_DEEPEST = 4
"""Objects within objects that are looked through for scores."""

_REFUSAL = re.compile(
    r"\A\W*(?:i(?:'m| am) (?:\w+ )?sorry|sorry\b|i apologi[sz]e|as an ai\b)"
    r"|\b(?:i (?:cannot|can't|can not|could not|won't|will not)|unable to|not able to|decline to) (?:\w+ )?"
    r"(?:evaluate|assess|grade|rate|score|judge|mark|rank|compare|assist|help|comply|do th(?:is|at))\b",
    re.IGNORECASE,
)
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


class Fields(NamedTuple, Generic[T]):
    """What to look for in a reply.

    `keys` leads from a name as `plain` writes it to the thing it stands for; every thing must be places.
    `parse` makes a value of what stands under a key, given the thing, or raises `Unreadable`. `parse_reply`
    does so for a reply without any key; null where one value would not be all. A line whose value does not
    look `likely` is prose.
    """

    keys: Mapping[str, str]
    parse: Callable[[str, Any], T]
    parse_reply: Callable[[str], T] | None
    likely: Callable[[str], bool]


def plain(key: str) -> str:
    """A key without case, remarks in brackets and marks: 'Knowledge-Recall (facts)' is 'knowledge_recall'."""
    return re.sub(r"[\W_]+", "_", re.sub(r"\([^()]*\)", " ", key).casefold()).strip("_")


def read_fields(text: str, fields: Fields[T], material: Material = NO_MATERIAL) -> dict[str, T]:
    """The value of every thing that is looked for.

    Raises `Unreadable` for an empty reply, a refusal, a value that is none, a thing without a value or with
    none but in what the reply repeats of the `material`, or one with two.
    """
    text = _answered(text)
    places = list(objects(text))
    values: dict[str, T] = {}
    is_quoted = False
    for place in places:
        is_quoted |= _look(place.pairs, fields, values, material)
    in_json = bool(values)
    if not in_json:
        _refuse_refusal(text, material)
    is_quoted |= _look_in_lines(_around(text, places), fields, values, material, strict=in_json)
    things = tuple(dict.fromkeys(fields.keys.values()))
    if not values and fields.parse_reply and not is_quoted:
        return {things[0]: fields.parse_reply(text)}
    return _complete(values, things, is_quoted=is_quoted)


def _complete(values: Mapping[str, T], things: Sequence[str], *, is_quoted: bool) -> dict[str, T]:
    if missing := [thing for thing in things if thing not in values]:
        raise Unreadable(f"no value for {', '.join(missing)}{f': {REPEATED}' if is_quoted else ''}")
    return {thing: values[thing] for thing in things}


def _refuse_refusal(text: str, material: Material) -> None:
    refusal = _REFUSAL.search(text[:400].replace("’", "'"))
    if refusal and not material.hold(refusal[0]):
        raise Unreadable(f"the judge refused: {quoted(refusal[0].strip())}")


def _answered(text: str) -> str:
    reply = spoken(text)
    if is_blank(reply.text):
        raise Unreadable("empty reply" if reply.closed else "the reply ends within its thinking")
    if len(reply.text) > LONGEST:
        raise Unreadable(f"the reply is longer than {LONGEST} characters")
    return reply.text


def _around(text: str, places: Sequence[Place]) -> str:
    ends = [0, *(place.end for place in places)]
    starts = [*(place.start for place in places), len(text)]
    return "\n".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _look(pairs: Pairs, fields: Fields[T], values: dict[str, T], material: Material, depth: int = 0) -> bool:
    """Values in an object and those within it, and whether one of them only repeats what was shown."""
    if material.hold_object(pairs):
        return True
    is_quoted = False
    for key, raw in pairs:
        if thing := fields.keys.get(plain(key[:200])):
            _put(thing, fields.parse(thing, raw), values)
        elif isinstance(raw, Pairs) and depth < _DEEPEST:
            is_quoted |= _look(raw, fields, values, material, depth + 1)
    return is_quoted


def _look_in_lines(
    text: str, fields: Fields[T], values: dict[str, T], material: Material, *, strict: bool
) -> bool:
    """Values in lines and rows of tables, and whether some only repeat what was shown.

    Beside JSON (`strict`) only those that contradict it matter.
    """
    is_quoted = False
    shown_lines: set[tuple[str, T]] | None = None
    for key, thing, raw in _lines_of(text, fields):
        if shown_lines is None:
            shown_lines = _shown_lines(material, fields)
        # its first word alone too: a remark after a quoted value is the judge's own
        if any(
            (key, value) in shown_lines for value in _parsed(fields, thing, raw, raw.split(maxsplit=1)[0])
        ):
            is_quoted = True
            continue
        try:
            value = fields.parse(thing, raw)
        except Unreadable:
            if strict or not fields.likely(raw):
                continue
            raise
        if not strict or thing in values:
            _put(thing, value, values)
    return is_quoted


def _lines_of(text: str, fields: Fields[T]) -> Iterator[tuple[str, str, str]]:
    """The label of every line that could hold a value, as `plain` writes it, what it is for, and the rest."""
    for label, raw in _labelled_lines(text):
        key = plain(label[:200])
        if (thing := fields.keys.get(key)) and raw.strip():
            yield key, thing, raw


def _shown_lines(material: Material, fields: Fields[T]) -> set[tuple[str, T]]:
    """The label and the value of every whole line with a value that was shown."""
    return {
        (key, value)
        for text in material.texts
        for key, thing, raw in _lines_of(text, fields)
        for value in _parsed(fields, thing, raw)
    }


def _parsed(fields: Fields[T], thing: str, *forms: str) -> tuple[T, ...]:
    """The value of the first form that has one; none where no form has."""
    for raw in forms:
        with suppress(Unreadable):
            return (fields.parse(thing, raw),)
    return ()


def _labelled_lines(text: str) -> Iterator[tuple[str, str]]:
    """The label and the rest of every line that has a label, and the first two cells of a table's rows."""
    for line in text.translate(_MARKUP).splitlines():
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").split("|")
            yield cells[0], cells[1] if len(cells) > 1 else ""
        elif labelled := _LABEL.match(line.lstrip(" \t-•>#")):
            yield labelled[1], labelled[2]


def _put(thing: str, value: T, values: dict[str, T]) -> None:
    if values.setdefault(thing, value) != value:
        raise Unreadable(f"two values for {thing}: {quoted(values[thing])} and {quoted(value)}")


_SCORE_WORDS = ("score", "rating", "mark", "grade", "value")


def key_variants(names: Mapping[str, str]) -> dict[str, str]:
    """Keys as replies write them, from names as the rubric does: 'harm' is also 'harm score'.

    Where there is one name, 'score', 'rating', 'mark', 'grade' and 'value' stand for it too.
    """
    keys = {plain(name): thing for name, thing in names.items()}
    for key, thing in tuple(keys.items()):
        for word in _SCORE_WORDS:
            for variant in (f"{key}_{word}", f"{word}_{key}", f"{word}_for_{key}", f"{word}_of_{key}"):
                keys.setdefault(variant, thing)
    if len(set(names.values())) == 1:
        for word in _SCORE_WORDS:
            for variant in (word, f"final_{word}", f"overall_{word}", f"my_{word}"):
                keys.setdefault(variant, next(iter(names.values())))
    return keys


def read_marks(
    text: str, criteria: Sequence[RubricCriterion], material: Material = NO_MATERIAL
) -> dict[str, float]:
    """One score for each criterion. Raises `Unreadable`."""
    by_name = {c.name: c for c in criteria}
    keys = key_variants({name: c.name for c in criteria for name in (c.name, c.key)})
    lone = (lambda text: _lone(criteria[0], text)) if len(by_name) == 1 else None
    fields = Fields(keys, lambda name, raw: score_of(by_name[name], raw), lone, _numberlike)
    return read_fields(text, fields, material)


def _lone(criterion: RubricCriterion, text: str) -> float:
    """A reply that is a score and nothing else; '1. The answer' begins a list."""
    if "\n" in text or not _numberlike(text) or _LISTED.match(text[:40]):
        raise Unreadable(f"no value for {criterion.name}")
    return score_of(criterion, text)


def read_tag(text: str, criterion: RubricCriterion, material: Material = NO_MATERIAL) -> float:
    """The score after the tag `[RESULT]`; without a tag of its own, the score as `read_marks` finds it."""
    lines = _tagged(_answered(text))
    shown_scores = {_leading(line) for source in material.texts for line in _tagged(source)} - {None}
    unquoted = [line for line in lines if _leading(line) not in shown_scores]
    if not unquoted:
        try:
            return read_marks(text, (criterion,), material)[criterion.name]
        except Unreadable as error:
            raise Unreadable(f"no value for {criterion.name}: {REPEATED}") if lines else error from None
    values: dict[str, float] = {}
    for line in unquoted:
        if is_blank(line):
            raise Unreadable("nothing stands after [RESULT]")
        _put(criterion.name, score_of(criterion, re.sub(r"\[/?[A-Za-z]{1,20}\]\s*$", "", line)), values)
    return values[criterion.name]


def _tagged(text: str) -> list[str]:
    """What stands after each tag `[RESULT]`, to the end of the line."""
    parts = re.split(r"\[\s{0,4}RESULT\s{0,4}\]", text, flags=re.IGNORECASE)[1:]
    return [part.strip(" \t\n:*").split("\n", 1)[0] for part in parts]


def _leading(line: str) -> float | None:
    number = _NUMBER.match(line.translate(_MARKUP).lstrip())
    return float(number[1]) if number else None


def _numberlike(value: str) -> bool:
    return _NUMBERLIKE.match(value[:200]) is not None


def score_of(criterion: RubricCriterion, raw: Any) -> float:
    """The score that a JSON value or a text is. Raises `Unreadable` for a doubt or for another scale."""
    name = criterion.name
    if isinstance(raw, Pairs):
        return _inner_score(criterion, raw)
    if isinstance(raw, str):
        value = _number(criterion, raw)
    elif isinstance(raw, float):
        value = raw
    else:
        thing = quoted(raw) if raw is None or isinstance(raw, bool) else "a list"
        raise Unreadable(f"{name} is {thing}, no number")
    low, high = criterion.criterion.low, criterion.criterion.high
    if (low is not None and value < low) or (high is not None and value > high):
        raise Unreadable(f"{name} is out of range: {value:g} is not {criterion.value_form}")
    if criterion.steps and min(abs(value - step) for step in criterion.steps) > 1e-9:
        raise Unreadable(f"{name} is {value:g}, not {criterion.value_form}")
    return value


def _inner_score(criterion: RubricCriterion, pairs: Pairs) -> float:
    """The score in an object such as `{"score": 4, "reason": "…"}`."""
    keys = {*_SCORE_WORDS, plain(criterion.name), plain(criterion.key)}
    scores = set()
    for key, value in pairs:
        if plain(key[:200]) in keys and not isinstance(value, Pairs):
            scores.add(score_of(criterion, value))
    if len(scores) != 1:
        raise Unreadable(f"{'two values' if scores else 'no value'} for {criterion.name}")
    return scores.pop()


def _number(criterion: RubricCriterion, raw: str) -> float:
    text = raw.translate(_MARKUP).strip(" \t\r\n_',;}")
    number = _NUMBER.match(text)
    if number is None:
        raise Unreadable(f"{criterion.name} is {quoted(raw)}, no number")
    high = criterion.criterion.high
    remainder = text[number.end() :].rstrip(" \t\r\n.")
    if (remainder and not _REMARK.match(remainder)) or _holds_another(criterion.criterion, remainder):
        raise Unreadable(f"{criterion.name} is {quoted(raw)}, not one number")
    if number[2] and float(number[2]) != high:
        raise Unreadable(f"{criterion.name} is {quoted(number[0])}, but the scale ends at {high:g}")
    return float(number[1])


def _holds_another(criterion: Criterion, text: str) -> bool:
    """Whether the text after a score holds a number that could be a score too."""
    numbers = [float(n) for n in _ANOTHER.findall(text)]
    return any((criterion.low or 0) <= n <= (criterion.high or n) for n in numbers)


_MET = {word: 1.0 for word in ("met", "yes", "true", "1")} | {
    word: 0.0 for word in ("not_met", "unmet", "no", "false", "0")
}


def read_met(text: str, material: Material = NO_MATERIAL) -> float:
    """1 if the point is met, 0 if it is not. Raises `Unreadable`."""
    return read_choice(text, "met", ("met", "criteria_met", "criterion_met", "point_met"), _MET, material)


def read_winner(text: str, labels: Sequence[str], material: Material = NO_MATERIAL) -> tuple[float, ...]:
    """1 and 0 for the two answers in the order shown, 0.5 each for a tie. Raises `Unreadable`."""
    first, second = (label.casefold() for label in labels)
    words = {word: 0.5 for word in ("tie", "a_tie", "tied", "draw", "equal", "both_equal", "equally_good")}
    for word, value in ((first, 1.0), (second, 0.0)):
        words |= {
            phrase: value
            for phrase in (word, f"answer_{word}", f"{word}_is_better", f"answer_{word}_is_better")
        }
    keys = ("winner", "better", "better_answer", "preference", "preferred", "choice", "verdict")
    value = read_choice(text, "winner", keys, words, material)
    return value, 1.0 - value


def read_choice(
    text: str,
    thing: str,
    keys: Sequence[str],
    words: Mapping[str, float],
    material: Material = NO_MATERIAL,
) -> float:
    """The value of the one word of `words` that is chosen under one of the `keys`, or alone in the reply."""

    def chosen(_: str, raw: Any) -> float:
        word = json.dumps(raw) if isinstance(raw, bool) else f"{raw:g}" if isinstance(raw, float) else raw
        value = words.get(plain(word[:60])) if isinstance(word, str) else None
        if value is None:
            raise Unreadable(f"{thing} is {quoted(raw)}, none of the choices")
        return value

    def lone(reply: str) -> float:
        if "\n" in reply or plain(reply[:60]) not in words:
            raise Unreadable(f"no value for {thing}")
        return chosen(thing, reply)

    fields = Fields({plain(key): thing for key in keys}, chosen, lone, lambda _: True)
    return read_fields(text, fields, material)[thing]


def read_order(text: str, labels: Sequence[str], material: Material = NO_MATERIAL) -> tuple[float, ...]:
    """The mid-rank of each answer in the order shown: 1 is the best, answers that tie share the mean rank.

    The order is a list of lists, a list, or a line such as `B > A = C`. Raises `Unreadable` unless it names
    every answer once and nothing else.
    """

    def order(_: str, raw: Any) -> tuple[tuple[str, ...], ...]:
        return _checked(_tiers(raw), labels)

    def lone(reply: str) -> tuple[tuple[str, ...], ...]:
        if not (reply.startswith("[") or ("\n" not in reply and ">" in reply)):
            raise Unreadable("no value for ranking")
        return order("ranking", reply)

    keys = key_variants({"ranking": "ranking", "order": "ranking", "ranks": "ranking", "rank": "ranking"})
    fields = Fields(
        keys, order, lone, lambda value: re.match(r"\W*answer\b|\W*[A-Za-z]\b", value) is not None
    )
    tiers = read_fields(text, fields, material)["ranking"]
    ranks: dict[str, float] = {}
    for tier in tiers:
        ranks |= dict.fromkeys(tier, len(ranks) + (len(tier) + 1) / 2)
    return tuple(ranks[label] for label in labels)


def _tiers(raw: Any) -> list[list[str]]:
    """Labels in groups, the best first. Raises `Unreadable` for anything else."""
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise Unreadable(f"ranking is {quoted(raw)}, no order") from None
    if isinstance(raw, str):
        return [tier.split("=") for tier in raw.split(">")]
    if isinstance(raw, list) and not isinstance(raw, Pairs) and raw:
        tiers = [entry if isinstance(entry, list) else [entry] for entry in raw]
        if all(isinstance(label, str) for label in chain.from_iterable(tiers)):
            return tiers
    raise Unreadable("ranking is no order of the answers")


def _checked(tiers: list[list[str]], labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The tiers in labels as they were shown, every label once."""
    by_text = {plain(text): label for label in labels for text in (label, f"answer {label}")}
    ranked: set[str] = set()
    checked: list[tuple[str, ...]] = []
    for tier in filter(None, tiers):
        tier_labels = []
        for text in tier:
            label = by_text.get(plain(text[:40]))
            if label is None:
                raise Unreadable(f"ranking names {quoted(text)}, which was not shown")
            if label in ranked:
                raise Unreadable(f"ranking names {label} twice")
            ranked.add(label)
            tier_labels.append(label)
        checked.append(tuple(sorted(tier_labels)))
    if missing := [label for label in labels if label not in ranked]:
        raise Unreadable(f"ranking leaves out {', '.join(missing)}")
    return tuple(checked)
