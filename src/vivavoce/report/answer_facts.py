"""An answer fact by fact: its sentences with the facts that they bear, each with its verdict and evidence.

A fact stands at the sentence that shares most of its words, the rare ones of the answer counting most; one
that no sentence bears stands beneath. Colour is never the only sign: each verdict has a mark and a word.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.core.text import one_line, printable, spoken
from vivavoce.facts.fact import RIGHT, WRONG
from vivavoce.facts.severity import severity, weights
from vivavoce.language.sentences import sentences
from vivavoce.language.words import clinical_tokens

MOST_SENTENCES, LONGEST_SENTENCE = 150, 700
MOST_FACTS, LONGEST_FACT, LONGEST_REASON = 120, 400, 240
MOST_QUOTES, LONGEST_QUOTE = 3, 500
LEAST_SHARED = 0.5
"""The share of a fact's words, by their weight, that a sentence holds if it bears the fact."""
REDACTED, HIDDEN = "[redacted", "[redacted]"
Style = Literal["right", "wrong", "open", "aside"]
_SIGNS: Mapping[Style, str] = {"right": "✓", "wrong": "✗", "open": "?", "aside": "–"}
_ORDER: tuple[Style, ...] = ("wrong", "open", "right", "aside")
"""The gravest first: what a sentence is coloured by, and which facts stay where not all fit."""
_OPEN = ("bad", "unverifiable", "changed", "surplus", "failed")
_WORDS = {
    "bad": "no verdict", "failed": "not checked: it failed", "no_claim": "no claim",
    "foreign": "not in the answer", "changed": "other than the answer", "surplus": "beyond the limit",
}  # fmt: skip
_BEARINGS = {"supports": "supports it", "contradicts": "contradicts it", "shown": "shown to the checker"}


class Quote(NamedTuple):
    """A passage that a verdict rests on: its words, what it does to the fact, and where it stands."""

    text: str
    bearing: str
    place: str


class ShownFact(NamedTuple):
    """A fact as the page shows it. `kind` is what it is about; null where that is hidden."""

    unit: str
    text: str
    word: str
    style: Style
    sign: str
    reason: str
    kind: str | None
    weight: float | None
    grave: bool
    quotes: tuple[Quote, ...]
    n_quotes_left_out: int


class Claim(NamedTuple):
    """A sentence of the answer with the facts that it bears, and the gravest of their verdicts."""

    text: str
    facts: tuple[ShownFact, ...]
    style: Style | None


class AnswerFacts(NamedTuple):
    """The sentences of an answer with their facts, and the facts that no sentence bears.

    `left_out` says what became of facts that are not shown; `n_sentences_left_out` counts sentences.
    """

    claims: tuple[Claim, ...]
    beneath: tuple[ShownFact, ...]
    left_out: str
    n_sentences_left_out: int

    @property
    def size(self) -> int:
        """About how many bytes of a page it takes."""
        facts = [fact for claim in self.claims for fact in claim.facts] + list(self.beneath)
        texts = [claim.text for claim in self.claims] + [fact.text + fact.reason for fact in facts]
        quotes = [quote.text + quote.place for fact in facts for quote in fact.quotes]
        return sum(len(text.encode()) + 120 for text in (*texts, *quotes)) + 250 * len(facts)


def answer_facts(text: str | None, facts: Sequence[ShownFact]) -> AnswerFacts:
    """The facts at the sentences of an answer; all beneath where its text is not there or redacted."""
    ordered = sorted(facts, key=lambda fact: _ORDER.index(fact.style))
    visible = sorted(ordered[:MOST_FACTS], key=lambda fact: _number(fact.unit))
    words = Counter(fact.word for fact in ordered[MOST_FACTS:])
    left_out = ", ".join(f"{n:,} {word}" for word, n in words.items())
    if not text or text.startswith(REDACTED):
        return AnswerFacts((), tuple(visible), left_out, 0)
    all_sentences = sentences(spoken(text).text)
    parts = [one_line(printable(part), LONGEST_SENTENCE) for part in all_sentences[:MOST_SENTENCES]]
    places = _places(parts, [fact.text for fact in visible])
    by_place: dict[int | None, list[ShownFact]] = {}
    for place, fact in zip(places, visible, strict=True):
        by_place.setdefault(place, []).append(fact)
    claims = tuple(_claim(part, by_place.get(n, ())) for n, part in enumerate(parts))
    return AnswerFacts(claims, tuple(by_place.get(None, ())), left_out, len(all_sentences) - len(parts))


def _number(unit: str) -> tuple[int, str]:
    digits = "".join(sign for sign in unit if sign.isdecimal())
    return (int(digits[:9]) if digits else 0, unit)


def _claim(text: str, facts: Iterable[ShownFact]) -> Claim:
    borne = tuple(facts)
    style = min((fact.style for fact in borne), key=_ORDER.index, default=None)
    return Claim(text, borne, style)


def _places(parts: Sequence[str], facts: Sequence[str]) -> list[int | None]:
    """By fact the sentence that bears it, the first of equals; null where none holds enough of it."""
    words_of = [frozenset(clinical_tokens(part)) for part in parts]
    spread = Counter(word for words in words_of for word in words)
    places = []
    for fact in facts:
        words = frozenset(clinical_tokens(fact))
        weight = {word: math.log1p(len(parts) / spread.get(word, 0.5)) for word in words}
        places.append(_place(weight, words_of))
    return places


def _place(weight: Mapping[str, float], words_of: Sequence[frozenset[str]]) -> int | None:
    """The sentence that holds most of these words by their weight, if it holds enough of them."""
    sums = [sum(weight[word] for word in words & weight.keys()) for words in words_of]
    best = max(range(len(sums)), key=sums.__getitem__, default=None)
    if best is None or not sums[best]:
        return None
    return best if sums[best] >= LEAST_SHARED * sum(weight.values()) else None


def shown_fact(row: Mapping[str, Any], quotes: Sequence[Mapping[str, Any]], *, hide: bool) -> ShownFact:
    """A unit of an answer for the page; `hide` leaves its text, its reason, quotes and their files out."""
    word, style = row["word"], _style(row["word"])
    reason = (row["note"] or "").partition(": ")[2]
    return ShownFact(
        unit=row["unit"],
        text=HIDDEN if hide else one_line(printable(row["text"]), LONGEST_FACT),
        word=_WORDS.get(word, word),
        style=style,
        sign=_SIGNS[style],
        reason="" if hide else one_line(printable(reason), LONGEST_REASON),
        kind=None if row["text"].startswith(REDACTED) else severity(row["text"]).kind,
        weight=row["unit_weight"],
        grave=(row["unit_weight"] or 0.0) > weights()["other"],
        quotes=tuple(_quote(quote, hide=hide) for quote in quotes[:MOST_QUOTES]),
        n_quotes_left_out=max(0, len(quotes) - MOST_QUOTES),
    )


def _style(word: str) -> Style:
    if word in RIGHT:
        return "right"
    if word in WRONG:
        return "wrong"
    return "open" if word in _OPEN else "aside"


def _quote(row: Mapping[str, Any], *, hide: bool) -> Quote:
    source = (row["source"] or "").rstrip("/").rpartition("/")[2]  # a folder's name, and not where it lies
    page = "" if row["page"] is None else f"page {row['page']}"
    file = row["file"] if row["file"] != source else ""
    # A file's name may be a title that a model cited.
    place = ", ".join(filter(None, (source, HIDDEN if hide and file else file, page)))
    return Quote(
        text=HIDDEN if hide else one_line(printable(row["quote"]), LONGEST_QUOTE),
        bearing=_BEARINGS.get(row["bearing"], row["bearing"]),
        place=printable(place),
    )
