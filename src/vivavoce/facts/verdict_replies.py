"""A checker's reply, read without guessing: one verdict for each claim, with a reason where it is none.

A reply that says nothing, two things or something else is `bad`, or `unverifiable` where passages were shown.
Nothing here raises. What a reply only repeats, of the claim or of a passage, is no part of a verdict.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple, get_args

from vivavoce.core.evidence import Bearing, Evidence
from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import is_blank, spoken
from vivavoce.facts.fact import EvidenceWord, KnowledgeWord, Verdict, VerdictWord
from vivavoce.language.replies import Material, Pairs, objects, quoted
from vivavoce.models.fencing import harmless

LONGEST = 20_000
"""Characters of a reply that is read, without its thinking, for each claim it is about."""
UNDECIDED = "no passage decides it, the checker says"
_MOST_OBJECTS = 1_000
"""JSON objects of a reply that are looked at: each is compared with all that was shown."""
# "2. true", "**2)** true", "| 2 | true |", "Fact 2: true"; a line that begins with 2.5 mg or 2 mg has none
_LINE = re.compile(
    r"\W{0,8}(?:(?:fact|statement|number|no\.?)\s{1,3})?([0-9]{1,6})\s?[.):|\]–—-](?![0-9])\W{0,8}(\w.*)",
    re.I,
)
_PASSAGE_NUMBER = re.compile(r"(?:passage\s{0,3})?\[?#?([0-9]{1,6})\]?", re.IGNORECASE)
_BEARINGS: dict[str, Bearing] = {"supported": "supports", "contradicted": "contradicts"}
_EVIDENCE_WORDS: dict[str, EvidenceWord] = {word: word for word in get_args(EvidenceWord)}
_NOTHING = (None, "", 0.0)


class _Entry(NamedTuple):
    """What a reply says of one claim, as it says it."""

    verdict: Any
    passage: Any = None
    quote: Any = None


def read_word(reads: Callable[[str], KnowledgeWord], text: str, reply: str) -> Verdict:
    """The verdict of a one-word reply about the claim `text`."""
    content, reason = _content(reply, 1)
    if content is None:
        return Verdict("bad", reason)
    return _word(reads, _without(content, (text,)))


def read_raw(reads: Callable[[str], KnowledgeWord], reply: str) -> Verdict:
    """The verdict that `reads` makes of the whole reply, whatever it repeats and however long it is."""
    word = reads(reply)
    return Verdict(word, f"the reply is {quoted(reply, 60)}" if word == "bad" else None)


def read_words(
    reads: Callable[[str], KnowledgeWord], texts: Sequence[str], reply: str
) -> tuple[Verdict, ...]:
    """The verdict on each of several claims, by their numbers from 1."""
    content, reason = _content(reply, len(texts))
    if content is None:
        return tuple(Verdict("bad", reason) for _ in texts)
    entries = _numbered(content, texts) or _lines(_without(content, texts))

    def judged(entry: _Entry, k: int) -> Verdict:
        return _word(reads, _without(_plain(entry.verdict), (texts[k],)))

    return _each(entries, len(texts), "bad", judged)


def read_evidence(passages: Sequence[Evidence], text: str, reply: str) -> Verdict:
    """The verdict on one claim by its passages, with what the reply quotes of them."""
    content, reason = _content(reply, 1)
    if content is None:
        return Verdict("unverifiable", reason, tuple(passages))
    entries = [_entry(pairs) for pairs in _objects(content, (text, *(p.quote for p in passages)))]
    entries = [entry for entry in entries if entry.verdict is not None]
    if not entries:
        bare = " ".join(content.split()).strip(" .*`\"'").lower()
        if bare != "unverifiable":
            return Verdict("unverifiable", f"the reply is no verdict: {quoted(content, 60)}", tuple(passages))
        entries = [_Entry(bare)]
    if len({_plain(entry.verdict).strip().lower() for entry in entries}) > 1:
        return Verdict("unverifiable", "the reply gives two verdicts", tuple(passages))
    return _judged(entries[0], passages)


def read_evidences(claims: Sequence[tuple[str, Sequence[Evidence]]], reply: str) -> tuple[Verdict, ...]:
    """The verdict on each of several claims, each by its own passages."""
    content, reason = _content(reply, len(claims))
    if content is None:
        return tuple(Verdict("unverifiable", reason, tuple(passages)) for _, passages in claims)
    material = [text for claim, passages in claims for text in (claim, *(p.quote for p in passages))]
    verdicts = _each(
        _numbered(content, material),
        len(claims),
        "unverifiable",
        lambda entry, k: _judged(entry, claims[k][1]),
    )
    return tuple(
        verdict if verdict.evidence else verdict._replace(evidence=tuple(passages))
        for verdict, (_, passages) in zip(verdicts, claims, strict=True)
    )


def _content(reply: str, n: int) -> tuple[str | None, str | None]:
    """The reply without its thinking, or why it is not read."""
    content = spoken(reply)
    if is_blank(content.text):
        return None, "the reply is empty" if content.closed else "the reply ends within its thinking"
    if len(content.text) > LONGEST * n:
        return None, f"the reply has {len(content.text):,} characters, and none over {LONGEST * n:,} is read"
    return content.text, None


def _word(reads: Callable[[str], KnowledgeWord], content: str) -> Verdict:
    if is_blank(content):
        return Verdict("bad", "the reply repeats the question")
    word = reads(content)
    return Verdict(word, f"neither true nor false: {quoted(content, 60)}" if word == "bad" else None)


def _each(
    entries: Sequence[tuple[int, _Entry]],
    n: int,
    none: VerdictWord,
    judged: Callable[[_Entry, int], Verdict],
) -> tuple[Verdict, ...]:
    """The verdict on each of `n` claims; one without a number, or with two, has none."""
    by_number: dict[int, list[_Entry]] = {}
    for number, entry in entries:
        by_number.setdefault(number, []).append(entry)
    if 0 in by_number:  # counted from 0, every later number is that of another claim
        return (Verdict(none, "the reply counts from 0, so its numbers are not ours"),) * n
    verdicts = []
    for k in range(n):
        content = by_number.get(k + 1, [])
        if len(content) == 1:
            verdicts.append(judged(content[0], k))
        else:
            reason = (
                "the reply has several verdicts of its number"
                if content
                else "the reply leaves out its number"
            )
            verdicts.append(Verdict(none, reason))
    return tuple(verdicts)


def _judged(entry: _Entry, passages: Sequence[Evidence]) -> Verdict:
    """The verdict of one entry, its passage and its quote looked up among those shown."""
    every = tuple(passages)
    word = _EVIDENCE_WORDS.get(_plain(entry.verdict).strip(" \t\n.*`\"'").lower())
    if word is None:
        return Verdict("unverifiable", f"an unknown verdict: {quoted(_plain(entry.verdict), 60)}", every)
    if word == "unverifiable":
        return Verdict(word, UNDECIDED, every)
    number = 1 if len(every) == 1 and entry.passage in _NOTHING else _number(entry.passage)
    if number is None or not 1 <= number <= len(every):
        return Verdict("unverifiable", _names_none(entry.passage), every)
    passage = _deciding(every[number - 1], entry.quote)
    if passage is None:
        elsewhere = any(span_of(entry.quote, p.quote) for p in every)
        place = f"another passage than {number}, which it names" if elsewhere else "no passage"
        return Verdict("unverifiable", f"the quote stands in {place}", every)
    evidence = (*every[: number - 1], passage._replace(bearing=_BEARINGS[word]), *every[number:])
    return Verdict(word, None, evidence)


def _names_none(raw: Any) -> str:
    if raw in _NOTHING:
        return "it names no passage"
    return f"it names the passage {quoted(_plain(raw), 60)}, which was not shown"


def _deciding(passage: Evidence, quote: Any) -> Evidence | None:
    """The part of a passage that is quoted, all of it without a quote; null where the quote is not in it."""
    if not isinstance(quote, str) or is_blank(quote):
        return passage
    span = span_of(quote, passage.quote)
    if span is None:
        return None
    offset = None if passage.offset is None else passage.offset + span[0]
    return passage._replace(quote=passage.quote[slice(*span)], offset=offset)


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, word for word; null where it does not. White space may differ.

    Signs that a prompt does not show, such as soft hyphens, are not looked for.
    """
    places = [k for k, sign in enumerate(text) if sign.isascii() or harmless(sign)]
    visible = text if len(places) == len(text) else "".join(text[k] for k in places)
    for form in dict.fromkeys((quote, html.unescape(quote))):
        words = form.split()
        match = re.search(r"\s+".join(map(re.escape, words)), visible) if words else None
        if match:
            return places[match.start()], places[match.end() - 1] + 1
    return None


def _objects(content: str, material: Sequence[str]) -> Iterator[Pairs]:
    """The JSON objects of a reply, the outermost that can be read; one that was shown is only repeated."""
    shown_texts = Material(material)
    with suppress(Unreadable):
        for place in islice(objects(content), _MOST_OBJECTS):
            if not shown_texts.hold_object(place.pairs):
                yield place.pairs


def _numbered(content: str, material: Sequence[str]) -> list[tuple[int, _Entry]]:
    """Every object with a number and a verdict, in a list under any name or by itself."""
    entries = []
    for pairs in _objects(content, material):
        for inner in _inner(pairs):
            values = _values(inner)
            number = _number(values.get("number"))
            if number is not None and values.get("verdict") is not None:
                entries.append((number, _entry(inner)))
    return entries


def _inner(pairs: Pairs) -> Iterator[Pairs]:
    """The object itself, and the objects in the lists right under it."""
    yield pairs
    for _, value in pairs:
        if isinstance(value, list):
            yield from (entry for entry in value if isinstance(entry, Pairs))


def _entry(pairs: Pairs) -> _Entry:
    values = _values(pairs)
    return _Entry(values.get("verdict"), values.get("passage"), values.get("quote"))


def _values(pairs: Pairs) -> dict[str, Any]:
    """The entries of an object by name; of two values for one name, both as a text, which nothing takes."""
    values: dict[str, Any] = {}
    for key, value in pairs:
        name = key.strip().lower()
        doubled = name in values and values[name] != value
        values[name] = f"{_plain(values[name])} and {_plain(value)}" if doubled else value
    return values


def _lines(content: str) -> list[tuple[int, _Entry]]:
    """What stands after a number at the beginning of a line."""
    matches = (_LINE.match(line) for line in content.splitlines())
    return [(int(match[1]), _Entry(match[2])) for match in matches if match]


def _without(content: str, texts: Sequence[str]) -> str:
    """The reply without the claims that it repeats: a word in a claim is no verdict."""
    for text in texts:
        for form in (text, harmless(text)):
            words = form.split()
            if len(words) > 2:
                content = re.sub(r"\s+".join(map(re.escape, words)), " ", content, flags=re.IGNORECASE)
    return content


def _number(raw: Any) -> int | None:
    if isinstance(raw, float) and raw.is_integer() and abs(raw) < 1e9:
        return int(raw)
    match = _PASSAGE_NUMBER.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return int(match[1]) if match else None


def _plain(raw: Any) -> str:
    """A JSON value as a word."""
    if isinstance(raw, list | Pairs):
        return "a list" if isinstance(raw, list) else "an object"
    return raw if isinstance(raw, str) else quoted(raw)
