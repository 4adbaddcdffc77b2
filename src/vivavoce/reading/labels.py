"""The labels of options: letters by their place, circled numbers, the letters of other scripts, their own.

A label that is also the text of another option, or the label of two, names neither by itself.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vivavoce.core.text import label, lazy_pattern
from vivavoce.language.characters import CIRCLED
from vivavoce.language.languages import Language, codes, language
from vivavoce.language.tokens import Doc
from vivavoce.reading import lexicon as words

_PREFIX = lazy_pattern(r"\s*[(（\[【]?\s?(?P<label>\w{1,3})\s?[.):：．、）\]】]\s*(?P<text>\S.*)", re.DOTALL)
_ALIKE = {"A": "А", "B": "В", "C": "С", "E": "Е"}
"""Cyrillic letters that a reader, or a keyboard, takes for Latin ones."""
_UNLIKE = lazy_pattern(r"(?<!\w)[БГДЖЗИ](?!\w)")
"""Cyrillic letters that are like no Latin one: where one is a label, the others are Cyrillic too."""
_SEPARATORS = frozenset({"and", "&", "+", "/", "plus", "y", "et", "und", "和", "及"})
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


def labels_of(options: Sequence[str], fixed: Sequence[str] | None = None, *, alike: bool = True) -> Labels:
    """The labels of options; `fixed` ones are the only ones.

    `alike`: a Cyrillic letter that looks like a Latin one may stand for it.
    """
    if fixed is not None:
        places = {name: k for k, name in enumerate(fixed)}
        return Labels(places, places, _texts_like(options, places), frozenset())
    prefixes = _prefixes(options)
    meanings = _meanings(options, prefixes, alike=alike)
    places = {name: min(options_of_name) for name, options_of_name in meanings.items()}
    texts = _texts_like(options, places)
    numbers = {circled(text.strip()): k for k, text in enumerate(options) if text.strip().isdecimal()}
    for name, k in (*texts.items(), *numbers.items()):
        meanings.setdefault(name, set()).add(k)
    unclear = {name for name, options_of_name in meanings.items() if len(options_of_name) > 1}
    names = {name: k for name, k in (places | texts).items() if name not in unclear}
    return Labels(names, places, texts, frozenset(unclear | set(map(str.lower, unclear))), prefixes)


def is_cyrillic(text: str) -> bool:
    """True for a text with a label that can only be Cyrillic."""
    return not text.isascii() and _UNLIKE.search(text) is not None


def _meanings(options: Sequence[str], prefixes: Sequence[str], *, alike: bool) -> dict[str, set[int]]:
    """The places that each label may mean."""
    meanings: dict[str, set[int]] = {}
    letters = tuple(map(label, range(len(options))))
    rows = [letters, CIRCLED, prefixes, *_rows_of_scripts(options, prefixes)]
    if alike and any("Б" in row for row in rows) and "Б" not in prefixes:
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


def _forms(*lists: Callable[[Language], tuple[str, ...]], english: bool = False) -> list[list[str]]:
    """The forms of the words in these lists of all languages; those of English only where asked for."""
    languages = [language(code) for code in codes() if english or code != "en"]
    return [Doc(word).forms for words_of in lists for part in languages for word in words_of(part)]


@cache
def label_nouns() -> frozenset[str]:
    """The words that a label may follow, in any language: "option", "letter"."""
    forms = {forms[-1] for forms in _forms(lambda part: part.label_nouns, english=True)}
    return words.LABEL_NOUNS | {form for form in forms if len(form) > 2 or not form.isascii()}


@cache
def label_articles() -> frozenset[str]:
    """The articles that stand before a label in languages but English: "la c"."""
    listed = _forms(lambda part: part.articles)
    return frozenset(form for forms in listed for form in forms if len(form) > 1)


@cache
def label_nouns_behind() -> frozenset[str]:
    """The nouns of labels in languages that have them behind the label."""
    return frozenset(Doc(noun).forms[-1] for noun in language("tr").label_nouns)


@cache
def explanation_heads() -> frozenset[str]:
    """The words that head an explanation, in any language; of some scripts their last character."""
    heads = _forms(lambda part: part.explanations, english=True)
    return words.EXPLAINING_HEADS | {forms[-1] for forms in heads}


@cache
def sentence_openers() -> frozenset[str]:
    """The words that begin a sentence behind a bare label: "this", articles of any language."""
    articles = _forms(lambda part: part.articles, english=True)
    return words.SENTENCE_OPENERS | {form for forms in articles for form in forms if len(form) > 1}


@cache
def conclusions() -> frozenset[str]:
    """The words that lead to what is concluded, in languages but English."""
    return frozenset(forms[-1] for forms in _forms(lambda part: part.conclusions))


@cache
def after_label() -> frozenset[str]:
    """The words before which a bare capital can still be a label, in any language: "C stimmt"."""
    listed = _forms(
        lambda part: (*part.lead_ins, *part.right, *part.wrong, *part.true, *part.false),
        lambda part: (*part.reasons, *part.contrasts, *part.turns),
    )
    forms = {forms[0] for forms in listed if forms}
    clear = {form for form in forms if len(form) > 2 or not form.isascii()}
    return words.AFTER_LABEL | (clear - words.BEHIND_ARTICLE)


@cache
def right_words() -> frozenset[str]:
    """The words that call an answer right, in languages but English."""
    listed = _forms(lambda part: part.right)
    return frozenset(forms[0] for forms in listed if len(forms) == 1) - words.BEHIND_ARTICLE


@cache
def rejecting_heads() -> frozenset[str]:
    """The words of a label that turns down what follows, in any language: "Incorrect", "Falsch"."""
    wrong = _forms(lambda part: part.wrong, english=True)
    return words.REJECTING_HEADS | {forms[0] for forms in wrong if len(forms) == 1}


@cache
def true_heads() -> frozenset[str]:
    """The words for "true" in any language: "True or false:" turns nothing down."""
    true = _forms(lambda part: part.true)
    return frozenset(forms[0] for forms in true if len(forms) == 1) - words.BEHIND_ARTICLE | {"true"}


@cache
def closing() -> frozenset[str]:
    """What may stand before the last option of a list, in any language: "and", "or", "nor"."""
    joiners = _forms(lambda part: (*part.ands, *part.ors), english=True)
    return frozenset(["nor", "/", "&", "ni", "noch", "and", "or"]).union(*joiners)


@cache
def joining() -> frozenset[str]:
    """What may stand between two options that are named together, in any language."""
    joiners = _forms(lambda part: (*part.ands, *part.ors), english=True)
    clear = {
        form for forms in joiners for form in forms if len(form) > 1 or form == "i" or not form.isascii()
    }
    return words.JOINERS | clear


@cache
def joining_and_articles() -> frozenset[str]:
    """What may stand between two labels that are named together, in any language: "la B y la C"."""
    return joining() | label_articles()


@cache
def separators() -> frozenset[str]:
    """What divides two entries, in any language."""
    ands = (form for code in codes() for word in language(code).ands for form in Doc(word).forms)
    return _SEPARATORS | {form for form in ands if form != "a"}


@cache
def lead_words() -> frozenset[str]:
    """What leads to a list and is no entry, in any language: "Las correctas son la"."""
    listed = (word for code in codes() for word in (*language(code).articles, *language(code).lead_ins))
    return frozenset(form for word in listed for form in Doc(word).forms)


@cache
def turning_words() -> frozenset[str]:
    """What stands before an option that a list turns down, in languages but English: "maar niet"."""
    parts = [language(code) for code in codes() if code != "en"]
    listed = (word for part in parts for word in (*part.contrasts, *part.reject, *part.not_, *part.turns))
    return words.NOT_LEFT | {form for word in listed for form in Doc(word).forms}


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


# --- options repeated

_BETWEEN = " \t\n*_`-•().:,;|)（）：．、"
"""The signs between the options of a list that repeats them, besides their labels."""
_WIDEST = 16


def without_relisted(text: str, options: Sequence[str]) -> str:
    """`text` without a list that repeats all options with their letters, and without what leads to it.

    The text as it is where nothing else says something, as where the list is the answer.
    """
    if len(options) < 3 or not all(option in text for option in options):
        return text
    place = text.find(options[0])
    while place >= 0:
        start, end = _relisted(text, options, place)
        if start < end:
            head, tail = text[:start].rstrip(_BETWEEN), text[end:]
            leads = text[len(head) : start].lstrip()[:1] in {":", "："}
            lead = max(head.rfind("\n"), head.rfind(". ")) + 1 if leads else len(head)
            if not any(c.isalnum() for c in head[:lead] + tail):
                return text
            return f"{head[:lead]}\n{tail}"
        place = text.find(options[0], place + 1)
    return text


def _relisted(text: str, options: Sequence[str], place: int) -> tuple[int, int]:
    """Where the list of all options begins whose first text is at `place`, and ends; (0, 0) for none."""
    start = len(text[max(0, place - _WIDEST) : place].rstrip(_BETWEEN)) + max(0, place - _WIDEST)
    end = place + len(options[0])
    if start == 0 or text[start - 1 : start] != label(0) or text[start - 2 : start - 1].isalnum():
        return 0, 0
    for k, option in enumerate(options[1:], 1):
        following = text.find(option, end, end + len(option) + _WIDEST)
        if following < 0 or text[end:following].strip(_BETWEEN) != label(k):
            return 0, 0
        end = following + len(option)
    return start - 1, end
