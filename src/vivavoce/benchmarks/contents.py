"""What a benchmark consists of: sizes, lengths, vocabulary, categories, keys, negatives, rows left out.

Pure functions of items. No text of an item stands in their rows, only ids, categories and labels.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.cases import cases_of, count_cases
from vivavoce.core.records import Item
from vivavoce.core.text import label
from vivavoce.formats import FORMATS
from vivavoce.language.scripts import WORD

SEGMENT = 1_000
"""Words of a segment of which different ones are counted."""
WORDS = "a word is a run of letters and digits, with the hyphens, apostrophes and decimal signs inside it"
VOCABULARY = (
    f"words are compared in small letters; different words are counted in segments of {SEGMENT:,} words in "
    "the order of the items, and the mean is of the whole segments (mean segmental type-token ratio, Johnson "
    "1944): the number does not fall as a text grows"
)
NEGATIVE = (
    "the last sentence of the question holds, as a word of its own, except, not, false, untrue, incorrect, "
    "wrong, least or unlikely, or in Spanish excepto, salvo, menos, falso, incorrecto, erróneo or no"
)
"""The rule for a negative question."""
_WORD = re.compile(rf"{WORD}(?:[-'’.,]{WORD})*")
_DIGITS_INSIDE = re.compile(r"\d[.,]\d")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
_NEGATIVES = {
    "except": ("except", "excepting"),
    "not": ("not", "isn't", "doesn't", "cannot", "aren't"),
    "false": ("false", "untrue", "falso", "falsa", "falsos", "falsas"),
    "incorrect": (
        *("incorrect", "incorrecto", "incorrecta", "incorrectos", "incorrectas"),
        *("wrong", "erróneo", "errónea", "erróneos", "erróneas"),
    ),
    "least": ("least", "unlikely"),
    "excepto": ("excepto", "salvo", "menos"),
}
_NEGATIVE_OF = {word: name for name, words in _NEGATIVES.items() for word in words}
_SPANISH = re.compile(r"[¿¡ñáéíóú]")
_PARTS: Mapping[str, Callable[[Item], Sequence[str]]] = {
    "question": lambda item: (item.question,),
    "context": lambda item: (item.context,) if item.context else (),
    "option": lambda item: item.options,
    "key": lambda item: item.answer,
    "reference": lambda item: item.references,
    "step": lambda item: item.steps,
    "statement": lambda item: (*item.must, *item.nice),
}
"""The texts of an item by the part that they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRow:
    """How many items there are of a format, null for all, in how many cases; `repeated` ask again."""

    about: str = "size"
    format: str | None
    items: int
    cases: int
    repeated: int
    with_key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthRow:
    """How long the texts of a part of the items are, in words or in characters, and whose is the longest."""

    about: str = "length"
    part: str
    unit: str
    texts: int
    mean: float
    quartile_1: float
    median: float
    quartile_3: float
    longest: int
    longest_item: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyRow:
    """How many words and different words a part has, null for all, and how many of each 1,000 differ."""

    about: str = "vocabulary"
    part: str | None
    words: int
    distinct: int
    distinct_per_1000: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRow:
    """The items of a category in a year, null for all years or where none is known, with lengths in words.

    `answer` is the key or the first reference; lengths and vocabulary are null in the rows of single years.
    """

    about: str = "category"
    category: str | None
    year: int | None
    items: int
    question_mean: float | None = None
    question_longest: int | None = None
    answer_mean: float | None = None
    answer_longest: int | None = None
    distinct: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """How often the key is the option at a position, or of a label where all items have the same options."""

    about: str = "label"
    by: str
    label: str
    items: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GuesserRow:
    """The accuracy of always naming the most frequent key, and of choosing an option at random."""

    about: str = "guesser"
    by: str
    label: str
    items: int
    majority: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeRow:
    """How many questions are negative by a word, null for all, and their share of all questions."""

    about: str = "negative"
    word: str | None
    items: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRow:
    """How many rows of the files are no items for a reason, null for all, and of how many rows."""

    about: str = "left out"
    why: str | None
    rows: int
    of: int


ContentsRow = (
    SizeRow | LengthRow | VocabularyRow | CategoryRow | LabelRow | GuesserRow | NegativeRow | LeftOutRow
)


def contents(loaded: Loaded) -> list[ContentsRow]:
    """The rows about the items that the settings of a benchmark select, and about all rows left out."""
    items = loaded.items
    return [
        *_sizes(items),
        *_lengths(items),
        *_vocabularies(items),
        *_categories(items),
        *_labels(items, named=loaded.card.access != "credentialed"),
        *_negatives(items),
        *_left_out(loaded),
    ]


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters: `WORDS` is the rule."""
    words: list[str] = []
    for run in _WORD.findall(text.casefold()):
        if "." in run or "," in run:  # inside a number alone
            words += _split_at_points(run)
        else:
            words.append(run)
    return words


def _split_at_points(text: str) -> list[str]:
    """The words of a text whose points and commas join them, but for those between digits."""
    joined = _DIGITS_INSIDE.sub(lambda sign: sign[0].replace(".", "\0").replace(",", "\1"), text)
    return [part.replace("\0", ".").replace("\1", ",") for part in re.split(r"[.,]", joined) if part]


def _sizes(items: Sequence[Item]) -> Iterator[SizeRow]:
    by_format: dict[str, list[Item]] = {}
    for item in items:
        by_format.setdefault(item.format, []).append(item)
    if len(by_format) > 1:
        yield _size(None, items)
    for form in sorted(by_format):
        yield _size(form, by_format[form])


def _size(form: str | None, items: Sequence[Item]) -> SizeRow:
    (counted,) = count_cases(cases_of(items))
    with_key = sum(bool(item.answer or item.references) for item in items)
    return SizeRow(
        format=form, items=len(items), cases=counted.cases, repeated=counted.repeated, with_key=with_key
    )


def _lengths(items: Sequence[Item]) -> Iterator[LengthRow]:
    for part, texts_of in _PARTS.items():
        texts = [(text, item.name) for item in items for text in texts_of(item)]
        for unit, measure in (("words", lambda text: len(words_of(text))), ("characters", len)):
            if texts:
                yield _length(part, unit, [(measure(text), name) for text, name in texts])


def _length(part: str, unit: str, sizes: Sequence[tuple[int, str]]) -> LengthRow:
    values = [size for size, _ in sizes]
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    longest, name = max(sizes, key=lambda entry: entry[0])
    return LengthRow(
        part=part,
        unit=unit,
        texts=len(values),
        mean=statistics.fmean(values),
        quartile_1=float(quartiles[0]),
        median=float(quartiles[1]),
        quartile_3=float(quartiles[2]),
        longest=longest,
        longest_item=name,
    )


def _vocabularies(items: Sequence[Item]) -> Iterator[VocabularyRow]:
    parts = dict(_PARTS)
    if any(item.options for item in items):  # the key is one of them
        del parts["key"]
    by_part = {part: _words_in(items, texts_of) for part, texts_of in parts.items()}
    yield _vocabulary(None, list(chain.from_iterable(by_part.values())))
    yield from (_vocabulary(part, words) for part, words in by_part.items() if words)


def _words_in(items: Iterable[Item], texts_of: Callable[[Item], Sequence[str]]) -> list[str]:
    texts = chain.from_iterable(map(texts_of, items))
    return list(chain.from_iterable(map(words_of, texts)))


def _vocabulary(part: str | None, words: Sequence[str]) -> VocabularyRow:
    segments = [words[k : k + SEGMENT] for k in range(0, len(words) - SEGMENT + 1, SEGMENT)]
    return VocabularyRow(
        part=part,
        words=len(words),
        distinct=len(set(words)),
        distinct_per_1000=statistics.fmean(len(set(s)) for s in segments) if segments else None,
        reason=None if segments else f"fewer than {SEGMENT:,} words",
    )


def year_of(item: Item) -> int | None:
    """The year that an item's `meta` states; null where it states none."""
    for name, value in item.meta.items():
        if name.casefold() == "year" and not isinstance(value, bool):
            text = str(value).removesuffix(".0")
            return int(text) if re.fullmatch(r"\d{4}", text) else None
    return None


def _categories(items: Sequence[Item]) -> Iterator[CategoryRow]:
    """Categories by name and their years in order; what has none comes last."""
    by_category: dict[str | None, list[Item]] = {}
    for item in items:
        by_category.setdefault(item.category, []).append(item)
    years = {category: Counter(map(year_of, part)) for category, part in by_category.items()}
    if by_category.keys() | set(chain.from_iterable(years.values())) == {None}:
        return
    for category in sorted(by_category, key=lambda name: (name is None, name or "")):
        yield _category(category, by_category[category])
        for year in sorted(filter(None, years[category])):
            yield CategoryRow(category=category, year=year, items=years[category][year])


def _category(category: str | None, items: Sequence[Item]) -> CategoryRow:
    questions = [len(words_of(item.question)) for item in items]
    answers = [len(words_of(text)) for item in items for text in (*item.answer, *item.references[:1])[:1]]
    everything = chain.from_iterable(_words_in(items, texts_of) for texts_of in _PARTS.values())
    return CategoryRow(
        category=category,
        year=None,
        items=len(items),
        question_mean=statistics.fmean(questions),
        question_longest=max(questions),
        answer_mean=statistics.fmean(answers) if answers else None,
        answer_longest=max(answers, default=None),
        distinct=len(set(everything)),
    )


def _labels(items: Sequence[Item], *, named: bool) -> Iterator[LabelRow | GuesserRow]:
    """By position, and where all items have the same options by option; `named` says that these may stand."""
    keyed = [_Keyed(item.answer[0], _options(item), bool(item.options)) for item in items if _options(item)]
    yield from _by_position([question for question in keyed if question.listed])  # else their order is ours
    if named and len({frozenset(question.options) for question in keyed}) == 1:
        yield from _shares("label", keyed[0].options, [question.key for question in keyed], keyed)


def _by_position(questions: Sequence["_Keyed"]) -> Iterator[LabelRow | GuesserRow]:
    if questions:
        letters = [label(k) for k in range(max(len(question.options) for question in questions))]
        yield from _shares("position", letters, [question.position for question in questions], questions)


class _Keyed(NamedTuple):
    """A question with one key, its options, and whether the item lists them."""

    key: str
    options: tuple[str, ...]
    listed: bool

    @property
    def position(self) -> str:
        """The letter of the key."""
        return label(self.options.index(self.key))


def _shares(
    by: str, labels: Sequence[str], keys: Sequence[str], questions: Sequence[_Keyed]
) -> Iterator[LabelRow | GuesserRow]:
    """The shares of the questions' keys that are each label."""
    counts = Counter(keys)
    for name in labels:
        yield LabelRow(by=by, label=name, items=counts[name], share=counts[name] / len(keys))
    most = max(labels, key=lambda name: counts[name])
    yield GuesserRow(
        by=by,
        label=most,
        items=len(keys),
        majority=counts[most] / len(keys),
        chance=statistics.fmean(1 / len(question.options) for question in questions),
    )


def _options(item: Item) -> tuple[str, ...]:
    """The options of an item, also those of its format; none where the key is no single one of them."""
    if len(item.answer) != 1:
        return ()
    shape = FORMATS.get(item.format)
    options = item.options or (shape.fixed_options if shape else ())
    return options if item.answer[0] in options else ()


def negative_word(question: str) -> str | None:
    """The kind of word that makes a question negative; null for any other. `NEGATIVE` is the rule."""
    sentences = [part for part in _SENTENCE_END.split(question.strip()) if _WORD.search(part)]
    if not sentences:
        return None
    last = sentences[-1]
    for word in words_of(last.replace("’", "'")):
        if word in _NEGATIVE_OF:
            return _NEGATIVE_OF[word]
        if word == "no" and _SPANISH.search(last.casefold()):
            return "no"
    return None


def _negatives(items: Sequence[Item]) -> Iterator[NegativeRow]:
    counts = Counter(filter(None, (negative_word(item.question) for item in items)))
    yield NegativeRow(word=None, items=counts.total(), share=counts.total() / len(items))
    yield from (NegativeRow(word=word, items=n, share=n / len(items)) for word, n in counts.most_common())


def _left_out(loaded: Loaded) -> Iterator[LeftOutRow]:
    counts = loaded.exclusion_counts
    if counts is None:
        return
    facts: dict[str, Any] = counts.facts
    of = facts["excluded_of"]
    yield LeftOutRow(why=None, rows=counts.total, of=of)
    yield from (LeftOutRow(why=reason, rows=n, of=of) for reason, n in facts["exclusions"].items())
