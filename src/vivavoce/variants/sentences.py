"""The sentences that twins are made with: drawn, filled, matched in length, and put in their place."""

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.yaml_files import read_mapping
from vivavoce.formats import format_of
from vivavoce.language.sentences import sentence_starts
from vivavoce.variants import seeded_choice

FILE = Path(__file__).with_name("sentences.yaml")
TYPES = (
    *("recency", "frequency", "status_quo", "anchoring", "confirmation", "authority"),
    "false_premise",
)
LONGEST = 120
"""Characters of a planted answer that a sentence still bears."""


class Template(NamedTuple):
    """A biased sentence and its neutral twin, with their gaps."""

    biased: str
    neutral: str


class Pair(NamedTuple):
    """A biased sentence and its neutral twin, filled."""

    biased: str
    neutral: str


@cache
def _file() -> dict[str, Any]:
    return read_mapping(FILE, "sentences", InputError)


@cache
def templates(kind: str) -> tuple[Template, ...]:
    """The templates of a type of bias."""
    return tuple(Template(template["biased"], template["neutral"]) for template in _file()["bias"][kind])


@cache
def _fillers() -> tuple[str, ...]:
    """Every phrase alone, every two and every three of them joined."""
    single = [str(phrase) for phrase in _file()["fillers"]]
    double = [f"{a} and {b}" for a, b in combinations(single, 2)]
    triple = [f"{a}, {b} and {c}" for a, b, c in combinations(single, 3)]
    return (*single, *double, *triple)


def fits(biased: str, neutral: str) -> bool:
    """True if a neutral sentence is as long as a biased one: 15 % of its characters, two words either way."""
    return abs(len(neutral) - len(biased)) <= 0.15 * len(biased) and _words(biased, neutral) <= 2


def _words(first: str, second: str) -> int:
    return abs(len(first.split()) - len(second.split()))


def pair(item: Item, kind: str, planted: str, seed: int) -> Pair | str:
    """The sentence that suggests `planted` in this item and its neutral twin, or the reason for none.

    Which template is used follows from the item's ids, the type and the seed; of the phrases that fill the
    neutral one, the one nearest in length.
    """
    quote = " ".join(planted.split()).rstrip(".;, ").replace('"', "'")
    if len(quote) > LONGEST:
        return f"the planted answer is longer than {LONGEST} characters"
    among = templates(kind)
    first = seeded_choice(item, f"sentence {kind}", seed, len(among))
    for chosen in (*among[first:], *among[:first]):  # the next one where a length cannot be met
        filled = _filled(chosen, quote, format_of(item).item_noun)
        if fits(*filled):
            return filled
    return "no neutral sentence is as long as the biased one"


def neutral_like(item: Item, biased: str, seed: int) -> str | None:
    """A neutral sentence as long as one that plants a bias in a twin of the exam; null where none is."""
    among = [str(text) for text in _file()["neutral"]]
    first = seeded_choice(item, "sentence neutral", seed, len(among))
    texts = (_nearest(text, biased) for text in (*among[first:], *among[:first]))
    return next((text for text in texts if fits(biased, text)), None)


def _filled(template: Template, planted: str, thing: str) -> Pair:
    gaps = {"{thing}": thing, "{planted}": planted}
    biased = re.sub(r"\{\w+\}", lambda gap: gaps[gap[0]], template.biased)
    return Pair(biased, _nearest(template.neutral, biased))


def _nearest(neutral: str, biased: str) -> str:
    """A neutral template filled to the length of a biased sentence, as nearly as can be."""
    characters = len(biased) - len(neutral.replace("{filler}", ""))
    words = len(biased.split()) - (len(neutral.split()) - 1)
    return neutral.replace("{filler}", _filler(characters, words))


@cache
def _filler(characters: int, words: int) -> str:
    """The phrase nearest to so many characters of those within two words of so many, else of all."""

    def far(phrase: str) -> tuple[bool, int, int, str]:
        distance = abs(len(phrase.split()) - words)
        return distance > 2, abs(len(phrase) - characters), distance, phrase

    return min(_fillers(), key=far)


def place(item: Item) -> int | str:
    """Where in the question a sentence goes: before the last sentence that asks, or the reason for no place.

    That is the last sentence that ends in a question mark, else the last of all. A statement that is to be
    called true or false takes a sentence only before the word "Statement:": anywhere else it would be a part
    of what is judged.
    """
    text = item.question
    if format_of(item).item_noun == "statement" and "?" not in text:
        lead = [match.start() for match in re.finditer(r"(?<!\w)Statement:", text)]
        return lead[-1] if lead else "a bare statement leaves no place for a sentence that is not judged"
    starts = sentence_starts(text)
    bounds = zip(starts, [*starts[1:], len(text)], strict=True)
    asks = [start for start, end in bounds if re.search(r"\?[\"'”’)\]]*\s*$", text[start:end])]
    return (asks or starts)[-1]


def at_place(text: str, at: int, sentence: str) -> str:
    """The text with a sentence put in; what stood there before stays character by character."""
    return f"{text[:at]}{sentence} {text[at:]}"


def put_in(base: str, twin: str) -> tuple[int, str] | None:
    """Where one sentence was put into `base` to make `twin`, and which; null where more than that differs."""
    longer = len(twin) - len(base)
    for position in sentence_starts(twin) if longer > 0 else ():
        if base[:position] == twin[:position] and base[position:] == twin[position + longer :]:
            return position, twin[position : position + longer].strip()
    return None
