"""The labels of options: letters by their place, circled numbers, the letters of other scripts, their own.

A label that is also the text of another option, or the label of two, names neither by itself.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vivavoce.core.text import label, lazy_pattern
from vivavoce.language.characters import CIRCLED
from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import Doc
from vivavoce.reading import lexicon as words

_PREFIX = lazy_pattern(r"\s*[(（\[【]?\s?(?P<label>\w{1,3})\s?[.):：．、）\]】]\s*(?P<text>\S.*)", re.DOTALL)
_ALIKE = {"A": "А", "B": "В", "C": "С", "E": "Е"}
"""Cyrillic letters that a reader, or a keyboard, takes for Latin ones."""
_HAN_AND_KANA = "CJK"
_SAMPLE = 200
"""Characters of an option that are looked at for its script."""


class Labels(NamedTuple):
    """What names an option besides its text, by the label as it is written; places count from 0.

    `places` are of labels, `texts` of options that read as a label: the blood group "B". `names` holds both
    but for what is `unclear`. `prefixes` are the
    labels that the options' texts begin with.
    """

    names: Mapping[str, int]
    places: Mapping[str, int]
    texts: Mapping[str, int]
    unclear: frozenset[str]
    prefixes: tuple[str, ...] = ()

    @property
    def numbered(self) -> bool:
        """True if the options bear numbers, so that one names an option by itself."""
        return bool(self.prefixes) and self.prefixes[0].isdecimal()


def labels_of(options: Sequence[str], fixed: Sequence[str] | None = None) -> Labels:
    """The labels of options; `fixed` ones are the only ones."""
    if fixed is not None:
        places = {name: k for k, name in enumerate(fixed)}
        return Labels(places, places, _texts_like(options, places), frozenset())
    prefixes = _prefixes(options)
    meanings = _meanings(options, prefixes)
    places = {name: min(options_of_name) for name, options_of_name in meanings.items()}
    texts = _texts_like(options, places)
    numbers = {circled(text.strip()): k for k, text in enumerate(options) if text.strip().isdecimal()}
    for name, k in (*texts.items(), *numbers.items()):
        meanings.setdefault(name, set()).add(k)
    unclear = {name for name, options_of_name in meanings.items() if len(options_of_name) > 1}
    names = {name: k for name, k in (places | texts).items() if name not in unclear}
    return Labels(names, places, texts, frozenset(unclear | set(map(str.lower, unclear))), prefixes)


def _meanings(options: Sequence[str], prefixes: Sequence[str]) -> dict[str, set[int]]:
    """The places that each label may mean."""
    meanings: dict[str, set[int]] = {}
    letters = tuple(map(label, range(len(options))))
    rows = [letters, CIRCLED, prefixes, *_rows_of_scripts(options, prefixes)]
    if any("Б" in row for row in rows) and "Б" not in prefixes:
        rows.append(tuple(_ALIKE.get(letter, "") for letter in letters))
    for row in rows:
        for k, name in enumerate(row[: len(options)]):
            meanings.setdefault(name, set()).add(k)
    meanings.pop("", None)
    return meanings


def _texts_like(options: Sequence[str], names: Mapping[str, object]) -> dict[str, int]:
    """The options that are a label, or two capitals: their text comes before their place."""
    bare = {text.strip(): k for k, text in reversed(list(enumerate(options)))}
    return {
        text: k
        for text, k in bare.items()
        if len(text) <= 2 and text.isalpha() and (text.isupper() or text in names)
    }


def circled(number: str) -> str:
    """The number in a circle; empty for one that has none."""
    n = int(number) if len(number) < 3 else 0
    return CIRCLED[n - 1] if 0 < n <= len(CIRCLED) else ""


def _prefixes(options: Sequence[str]) -> tuple[str, ...]:
    """The labels that all options begin with, "1. Heparin" or "ب) هيبارين"; empty where one has none."""
    matches = [match for text in options if (match := _PREFIX.match(text[:_SAMPLE]))]
    prefixes = tuple(match["label"] for match in matches)
    if not len(matches) == len(options) > 1 or any(match["text"][0].isdigit() for match in matches):
        return ()  # a ratio, "1:2", is none
    numbers = tuple(map(str, range(1, len(options) + 1)))
    letters = tuple(map(label, range(len(options))))
    rows = (numbers, letters, tuple(map(str.lower, letters)), *_all_rows())
    return prefixes if any(set(prefixes) == set(row[: len(options)]) for row in rows) else ()


@cache
def label_nouns() -> frozenset[str]:
    """The words that a label may follow, in any language: "option", "letter"."""
    nouns = (noun for code in codes() for noun in language(code).label_nouns)
    return words.LABEL_NOUNS | {Doc(noun).forms[-1] for noun in nouns}


@cache
def explanation_heads() -> frozenset[str]:
    """The words that head an explanation, in any language; of some scripts their last character."""
    heads = (head for code in codes() for head in language(code).explanations)
    return words.EXPLAINING_HEADS | {Doc(head).forms[-1] for head in heads}


@cache
def sentence_openers() -> frozenset[str]:
    """The words that begin a sentence behind a bare label: "this", articles of any language."""
    articles = (form for code in codes() for word in language(code).articles for form in Doc(word).forms)
    return words.SENTENCE_OPENERS | {form for form in articles if len(form) > 1}


@cache
def joining() -> frozenset[str]:
    """What may stand between two options that are named together, in any language."""
    joiners = [word for code in codes() for word in (*language(code).ands, *language(code).ors)]
    clear = [word for word in joiners if len(word) > 1 or word == "i" or not word.isascii()]
    return words.JOINERS | {form for word in clear for form in Doc(word).forms}


@cache
def _rows_by_script() -> dict[str, tuple[tuple[str, ...], ...]]:
    """The rows of labels of all languages, by the script of their first."""
    rows: dict[str, dict[tuple[str, ...], None]] = {}
    for code in codes():
        for row in language(code).labels:
            names = tuple(row.split())
            rows.setdefault(_script(names[0][0]), {})[names] = None
    return {script: tuple(of_script) for script, of_script in rows.items()}


def _all_rows() -> Iterator[tuple[str, ...]]:
    for rows in _rows_by_script().values():
        yield from rows


def _rows_of_scripts(options: Sequence[str], prefixes: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of labels of the scripts that half of the options are in; a later row adds to an earlier."""
    if all(map(str.isascii, options)) or not all(map(str.isascii, prefixes)):
        return []
    rows = [row for script, rows in _rows_by_script().items() if _half_in(script, options) for row in rows]
    # "イ" is the second of one row, and rarely the first of another
    first = {name: n for n, row in reversed(list(enumerate(rows))) for name in row}
    return [tuple(name if first[name] == n else "" for name in row) for n, row in enumerate(rows)]


def _half_in(script: str, options: Sequence[str]) -> bool:
    return 2 * sum(_is_in(script, text) for text in options) >= len(options)


def _is_in(script: str, text: str) -> bool:
    """True if a text has two letters of a script."""
    letters = [c for c in text[:_SAMPLE] if not c.isascii() and c.isalpha()]
    return sum(_script(c) == script for c in letters) > 1


@cache
def _script(character: str) -> str:
    """The script of a letter by its Unicode name; Han and kana are one."""
    script = unicodedata.name(character, "").split(" ")[0]
    return _HAN_AND_KANA if script in {"CJK", "KATAKANA", "HIRAGANA"} else script
