"""A prompt known by its digest: found in any layout of a text, and laid out again, without holding its words.

Line breaks, hyphenation, spaces and the punctuation of sentences are no part of the digests: one is over
letters and numbers, one over what stands beside numbers and over all other signs.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

from vivavoce.retrieval.columns import unhyphenated

ENDS = 16
"""Letters by whose digest the beginning and the end of a prompt are looked for."""
_MARKUP = re.compile(r"\*\*|(?<!\S)#{2,6}(?:[ ]|(?=\n))|\\(?=[&_%#$])")
_PARTED = re.compile(r"(?<=[^\W\d_][-\u2010\u00ad])[ \t]*\n\s*")
_LIGATURES = re.compile(r"[\ufb00-\ufb06]")
_SPACE, _LINE_END = re.compile(r"\s+"), re.compile(r"\s*\n\s*")
_BULLET = re.compile(r"\s+(?=[-•]\s)")
_BROKEN_DASH = re.compile(r"(?<=-)(?<!\s-)[ \t]*\n\s*")
_QUOTES_AND_DASHES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b`\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2022"), "-"),
}
_ORDINARY = re.compile(r"(?!.*(\S)\1{2})[.,;:'\"()-]{0,6}")
"""Signs between two letters that a copy may have or not: no three alike, and no more than six."""
_PLACEHOLDER = re.compile(r"\{([^{}]{1,40})\}")


class Letters(NamedTuple):
    """The letters and numbers of a text in one spelling, and the place of each in the text."""

    text: str
    places: Sequence[int]


class Fingerprint(NamedTuple):
    """What a prompt is known by.

    `letters` is their number, `begin` and `end` are digests of the first and last `ENDS`, `digest` is that of
    all, `signs` one of what `signs_of` takes, `words` are counted, and `spacing` is a digest of them. Behind
    so many letters (`lines`, `paragraphs`) a line ends, or a paragraph. `head` and `tail` are the signs
    before the first and after the last letter. `placeholders` leads from the letters in braces to a variable;
    each stands there once, or as often as `repeated` says.
    """

    letters: int
    begin: str
    end: str
    digest: str
    signs: str
    words: int
    spacing: str
    head: str = ""
    tail: str = ""
    lines: Sequence[int] = ()
    paragraphs: Sequence[int] = ()
    placeholders: Mapping[str, str] = {}
    repeated: Mapping[str, int] = {}


class Cut(NamedTuple):
    """A prompt as it was cut: text, first and last place, whether letters and signs, and words, are known."""

    text: str
    start: int
    stop: int
    verified: bool
    spaced: bool


class NotCut(Exception):
    """Why a prompt cannot be cut, as a clause without a full stop."""


def letters_of(text: str) -> Letters:
    """The letters and numbers of a text in their case; ligatures are what they stand for."""
    letters: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for letter in sign if sign.isascii() else unicodedata.normalize("NFKC", sign):
            if letter.isalnum():
                letters.append(letter)
                places.append(place)
    return Letters("".join(letters), places)


def signs_of(text: str) -> str:
    """What the letters leave out: the signs and blanks beside numbers, and all but ordinary punctuation.

    Each with the number of letters before it. Blanks count between two digits and at a sign before a digit:
    `0 to 5`, `-0 to 5`, `0-1`, `2.000` and `20 00` all differ. Dashes are all one, and so are quotes.
    """
    text = unhyphenated(_MARKUP.sub("", text)).replace("\u00ad", "")
    signs: list[str] = []
    number, last, gap = 0, "", ""
    for sign in text:
        plain = sign if sign.isascii() else unicodedata.normalize("NFKC", sign.translate(_QUOTES_AND_DASHES))
        for letter in plain:
            if not letter.isalnum():
                gap += letter
                continue
            if letter.isdigit() and letter != sign:  # raised, in a circle, part of a fraction
                gap += "^"
            if signs_here := _signs_between(last, gap, letter):
                signs.append(f"{number}{signs_here}")
            number, last, gap = number + 1, letter, ""
    return "\n".join(signs)


def _signs_between(last: str, gap: str, letter: str) -> str:
    """What counts of the signs between two letters or digits; an empty text where nothing does."""
    gap = _SPACE.sub(" ", _BROKEN_DASH.sub("", gap.translate(_QUOTES_AND_DASHES)))
    signs = gap.replace(" ", "")
    if letter.isdigit():
        return gap if signs or last.isdigit() else ""
    return signs if last.isdigit() or not _ORDINARY.fullmatch(signs) else ""


def fingerprint_of(text: str, placeholders: Mapping[str, str] | None = None) -> Fingerprint:
    """The fingerprint of a prompt whose line ends are those that are wanted.

    Raises `ValueError` for a text with fewer than `ENDS` letters: it could be anywhere.
    """
    letters, numbers = letters_of(text), Counter(_names_in(text))
    if len(letters.text) < ENDS:
        raise ValueError(f"a prompt with fewer than {ENDS} letters is found anywhere")
    last = letters.places[-1] + 1
    breaks = _breaks(text, letters)
    by_placeholder = placeholders or {}
    return Fingerprint(
        letters=len(letters.text),
        begin=_digest(letters.text[:ENDS]),
        end=_digest(letters.text[-ENDS:]),
        digest=_digest(letters.text),
        signs=_digest(signs_of(text[letters.places[0] : last])),
        words=len(words := _words(text)),
        spacing=_digest(" ".join(words)),
        head=text[: letters.places[0]].strip(),
        tail=text[last:].strip(),
        lines=[k for k, n in breaks if n == 1],
        paragraphs=[k for k, n in breaks if n > 1],
        placeholders=by_placeholder,
        repeated={name: numbers[name] for name in by_placeholder if numbers[name] > 1},
    )


def _breaks(text: str, letters: Letters) -> list[tuple[int, int]]:
    """Before which letter lines end, and how many ends stand there."""
    return [
        (bisect_left(letters.places, match.start()), match[0].count("\n"))
        for match in _LINE_END.finditer(text)
    ]


def _names_in(text: str) -> list[str]:
    return [letters_of(match[1]).text.casefold() for match in _PLACEHOLDER.finditer(text)]


class Search:
    """A text in which prompts are looked for; its letters are gone through once, whatever their number."""

    def __init__(self, text: str, marks: Sequence[Fingerprint]) -> None:
        self.text, self._marks = text, marks

    @cached_property
    def letters(self) -> Letters:
        """The letters of the text."""
        return letters_of(self.text)

    @cached_property
    def _ends(self) -> dict[str, list[int]]:
        """Where what may be the beginning or the end of a prompt stands, by its digest."""
        digests = {digest for mark in self._marks for digest in (mark.begin, mark.end)}
        places: dict[str, list[int]] = {}
        for place in range(len(self.letters.text) - ENDS + 1):
            if (digest := _digest(self.letters.text[place : place + ENDS])) in digests:
                places.setdefault(digest, []).append(place)
        return places

    def cut(self, mark: Fingerprint, *, unverified: bool = False) -> Cut:
        """The prompt. Raises `NotCut` where it is not there letter by letter.

        With `unverified` it reaches from its known beginning to its known end, if the text between is half to
        twice as long as it should be.
        """
        begins = self._ends.get(mark.begin, [])
        if not begins:
            raise NotCut("it is not in this text")
        matching = [k for k in begins if _digest(self.letters.text[k : k + mark.letters]) == mark.digest]
        for begin in matching:
            if self._signs(begin, begin + mark.letters) == mark.signs:
                return self._laid_out(mark, begin, begin + mark.letters, verified=True)
        if unverified:
            for begin, stop in self._spans(mark, begins):
                return self._laid_out(mark, begin, stop, verified=False)
        if matching:
            self._laid_out(mark, matching[0], matching[0] + mark.letters, verified=True)
            raise NotCut(
                "its letters are those expected, but a number is written otherwise, or a sign is another: "
                "compare it with the paper"
            )
        raise NotCut(
            "it begins here, and then its letters are others than those expected: columns that run into each "
            "other, a line of another text between, or another edition"
        )

    def _signs(self, begin: int, stop: int) -> str:
        places = self.letters.places
        return _digest(signs_of(self.text[places[begin] : places[stop - 1] + 1]))

    def beginning(self, mark: Fingerprint) -> int | None:
        """The place in the text at which the prompt begins; null where no beginning is there."""
        begins = self._ends.get(mark.begin, [])
        return self.letters.places[begins[0]] if begins else None

    def _spans(self, mark: Fingerprint, begins: Sequence[int]) -> Iterator[tuple[int, int]]:
        for begin in begins:
            for place in self._ends.get(mark.end, []):
                if 0.5 * mark.letters <= place + ENDS - begin <= 2 * mark.letters:
                    yield begin, place + ENDS

    def _laid_out(self, mark: Fingerprint, begin: int, stop: int, *, verified: bool) -> Cut:
        places = self.letters.places
        start, last = places[begin], places[stop - 1] + 1
        text = _relaid(self.text[start:last], mark if verified else None)
        words = _words(text)
        if verified and abs(len(words) - mark.words) > max(2, mark.words // 50):
            raise NotCut("its letters are all there, but its words are parted or run together")
        if mark.tail and not _bare(self.text[last : last + 40]).startswith(_bare(mark.tail)):
            raise NotCut(f"it does not end with {mark.tail!r}")
        text = _with_variables(f"{mark.head}{text}{mark.tail}", mark)
        return Cut(text, start, last, verified, _digest(" ".join(words)) == mark.spacing)


def _with_variables(text: str, mark: Fingerprint) -> str:
    """The text with variables of ours in the place of the paper's placeholders. Raises `NotCut`."""
    names = _names_in(text)
    _check_placeholders(names, mark)
    parts = _PLACEHOLDER.split(text)
    braced = [name for name in names if name not in mark.placeholders]
    if braced or any(sign in part for part in parts[::2] for sign in "{}"):
        raise NotCut("it has braces that are none of its placeholders, and would be taken for a variable")
    variables = [f"{{{{ {mark.placeholders[name]} }}}}" for name in names]
    return "".join(chain.from_iterable(zip_longest(parts[::2], variables, fillvalue="")))


def _check_placeholders(names: Sequence[str], mark: Fingerprint) -> None:
    """Raise `NotCut` unless each placeholder stands as often as it is printed."""
    for name in sorted(mark.placeholders):
        if (number := names.count(name)) != (expected := mark.repeated.get(name, 1)):
            fault = f"stands in braces {number} times, not {expected}" if number else "is not there in braces"
            raise NotCut(f"its placeholder {name!r} {fault}")


def _relaid(text: str, mark: Fingerprint | None) -> str:
    """A slice in the lines of the known prompt; without one, in its own paragraphs."""
    text = _LIGATURES.sub(lambda sign: unicodedata.normalize("NFKC", sign[0]), text)
    text = _MARKUP.sub("", unhyphenated(_PARTED.sub("\n", text))).replace("\u00ad", "")
    if mark is None:
        return "\n\n".join(_SPACE.sub(" ", part).strip() for part in re.split(r"\n\s*\n", text))
    places = letters_of(text).places
    parts, last = [], 0
    line_ends = {**dict.fromkeys(mark.lines, "\n"), **dict.fromkeys(mark.paragraphs, "\n\n")}
    for k, line_end in sorted(line_ends.items()):
        gap = slice(places[k - 1] + 1, places[k])
        spaces = (kind.search(text, gap.start, gap.stop) for kind in (_BULLET, _LINE_END, _SPACE))
        space = next(filter(None, spaces), None)
        start, stop = space.span() if space else (gap.start, gap.start)
        parts += [_SPACE.sub(" ", text[last:start]), line_end]
        last = stop
    return "".join([*parts, _SPACE.sub(" ", text[last:])])


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def _bare(text: str) -> str:
    """A text without spaces and marks of markup."""
    return _SPACE.sub("", _MARKUP.sub("", text))


def _digest(letters: str) -> str:
    return hashlib.sha256(letters.encode("utf-8", "surrogatepass")).hexdigest()[:12]
