"""What is known of a language, from its file in `data/`, read when first needed; which one a text is in.

A list that is empty is not known. Words stand in their comparable form or as they are written; phrases, such
as refusals, as they are written.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.prompts import Unreadable
from vivavoce.language.scripts import LETTERS_ALONE, SYLLABLES_ALONE, scripts
from vivavoce.language.tokens import Doc

DATA = Path(__file__).with_name("data")
WORDS_ALONE = "other"
"""The file that holds words of further languages, of which nothing else is known."""
YES, LISTED, UNKNOWN = "yes", "listed words", "not known"
_NAMES = {
    "choice": "the choice of an option",
    "rejection": "rejected options",
    "true_false": "true and false",
    "list": "lists",
    "refusal": "refusals",
    "no_answer": "forms of N/A",
    "words": "words",
    "sentences": "sentences",
}
SAMPLE, MOST_TEXTS = 20_000, 200
"""Characters, and texts, that a language is told by."""
_LEAST_SHARE, _LEAST_LEAD = 0.08, 1.3
"""The least share of words that are listed for a language, and how much it must lead the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The words of a language that reading, facts and metrics ask for.

    `scripts` are those it is written in, by their Unicode names. `spaces` says whether blanks divide words.
    `supported` says that the grammar of `reading.verdicts` knows its negation, so that a clause may hold
    other words too; elsewhere an option counts only where all words beside it are listed.
    """

    code: str
    name: str
    scripts: tuple[str, ...]
    spaces: bool
    supported: bool
    sentence_ends: tuple[str, ...]
    affirm: tuple[str, ...]
    """What makes an option the answer: a copula, "answer", "correct"."""
    light: tuple[str, ...]
    """What may stand in a clause without a say in it."""
    reasons: tuple[str, ...]
    """What begins a reason."""
    reject: tuple[str, ...]
    """What turns an option down, negation included."""
    not_: tuple[str, ...]
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    true: tuple[str, ...]
    false: tuple[str, ...]
    cues: tuple[str, ...]
    """What announces the answer."""
    refusals: tuple[str, ...]
    not_applicable: tuple[str, ...]
    labels: tuple[str, ...]
    """The labels of options besides A, B, C: rows in order, with blanks between the labels."""
    articles: tuple[str, ...]
    lead_ins: tuple[str, ...]
    """What may introduce a list of answers."""
    label_nouns: tuple[str, ...] = ()
    """What a label may follow: "option", "letter"."""
    explanations: tuple[str, ...] = ()
    """What an explanation is headed by."""
    elisions: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    """What is written with a word: articles before an apostrophe, particles and copulas behind it."""
    contrasts: tuple[str, ...] = ()
    """What begins the right answer behind a wrong one without a sign between them: "but"."""
    turns: tuple[str, ...] = ()
    """What ends the wrong answer before the right one: "not" behind an option."""
    doubts: tuple[str, ...] = ()
    """What leaves a verdict open, as the words begin."""
    ors: tuple[str, ...] = ()
    ands: tuple[str, ...] = ()
    """What leaves two options open, and what joins them."""
    conclusions: tuple[str, ...] = ()
    """What leads to what is concluded: "so", "therefore"."""
    alls: tuple[str, ...] = ()
    excepts: tuple[str, ...] = ()
    nones: tuple[str, ...] = ()
    """What speaks of all options, takes some of them out, or speaks of none of them."""
    onlys: tuple[str, ...] = ()
    """What says that nothing else is: "only"."""
    ranges: tuple[str, ...] = ()
    """What names two ends, and all between: "to", "from … to"."""
    corrections: tuple[str, ...] = ()
    """What takes an answer back before another: "actually", "correction"."""
    unlikely: tuple[str, ...] = ()
    """What calls an option less likely than others."""
    withouts: tuple[str, ...] = ()
    """What denies the thing behind it, and not what stands before: "no further tests"."""


@cache
def codes() -> tuple[str, ...]:
    """The codes of all languages with a file, English first, then by code."""
    return ("en", *sorted({path.stem for path in DATA.glob("*.json")} - {"en", WORDS_ALONE}))


@cache
def language(code: str) -> Language:
    """The language of a code such as `es`. Raises `KeyError` for one without a file."""
    if code not in codes() and code != WORDS_ALONE:
        raise KeyError(code)
    values: dict[str, Any] = json.loads((DATA / f"{code}.json").read_text(encoding="utf-8"))
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Language(code=code, not_=values.pop("not"), **values)


def support(words: Language) -> dict[str, str]:
    """What is read in a language: `yes`, `listed words` where no other word may stand beside, or `not known`.

    `choice`: an option is chosen in a clause; `rejection`: one that a clause turns down is not; `true_false`;
    `list`: articles and what leads into a list are no strays; `refusal`; `no_answer`: forms of N/A.
    `words` and `sentences` say what divides them.
    """
    clause = YES if words.supported else LISTED
    alone = set(words.scripts) & (SYLLABLES_ALONE | LETTERS_ALONE)
    parted = "pairs of characters" if alone & LETTERS_ALONE else "characters"
    return {
        "choice": _value(clause, words.affirm),
        "rejection": _value(clause, words.supported or words.reject or words.not_),
        "true_false": _value(YES, words.true and words.false),
        "list": _value(YES, words.articles or words.lead_ins),
        "refusal": _value(YES, words.refusals),
        "no_answer": _value(YES, words.not_applicable),
        "words": "spaces" if words.spaces else parted,
        "sentences": _value(" ".join(words.sentence_ends), words.sentence_ends),
    }


def _value(value: str, data: object) -> str:
    return value if data else UNKNOWN


def languages() -> list[dict[str, Any]]:
    """A row for each language with its support."""
    rows = [language(code) for code in codes()]
    return [
        {"name": words.code, "language": words.name, "scripts": list(words.scripts), **support(words)}
        for words in rows
    ]


class TextLanguage(NamedTuple):
    """The script of most letters of texts, and the language they are in; null where it is not known."""

    script: str | None
    language: Language | None


def text_language(texts: Iterable[str]) -> TextLanguage:
    """The script and the language of these texts together, told by the first of them.

    Scripts of one language tell it; others are told by how many of the words are listed for a language, each
    divided by the number of languages that list it.
    """
    sample = "\n".join(text[:SAMPLE] for text in islice(texts, MOST_TEXTS))[:SAMPLE]
    letters = scripts(sample)
    if not letters:
        return TextLanguage(None, None)
    script = max(letters, key=letters.__getitem__)
    if script in SYLLABLES_ALONE:
        kana = letters["Hiragana"] + letters["Katakana"]
        return TextLanguage(script, language("ja" if 20 * kana >= letters.total() else "zh"))
    able = [words for words in map(language, codes()) if script in words.scripts]
    return TextLanguage(script, _by_words(sample, able))


def _by_words(sample: str, able: Sequence[Language]) -> Language | None:
    """The language of most listed words; null where none has enough, or leads enough."""
    lists = {words.code: _listed(words.code) for words in able}
    holders = Counter(chain.from_iterable(lists.values()))
    doc = Doc(sample)
    # "A" and "D" are labels rather than words
    forms = [form for k, form in enumerate(doc.forms) if len(form) > 1 or doc.surface(k, k + 1).islower()]
    weights = {code: sum(1 / holders[form] for form in forms if form in lists[code]) for code in lists}
    best, second = sorted([("", 0.0), ("", 0.0), *weights.items()], key=itemgetter(1))[:-3:-1]
    least = max(_LEAST_SHARE * len(forms), _LEAST_LEAD * second[1])
    return language(best[0]) if best[0] and best[1] >= least else None


@cache
def _listed(code: str) -> frozenset[str]:
    words = language(code)
    lists = (
        words.affirm,
        words.light,
        words.reasons,
        words.reject,
        words.not_,
        words.articles,
        words.ors,
        words.ands,
    )
    return frozenset(chain.from_iterable(Doc(" ".join(part)).forms for part in lists))


def language_row(benchmark: str, texts: Iterable[str]) -> dict[str, Any]:
    """Script and language of a benchmark's texts, null where not known, and the language's support."""
    script, words = text_language(texts)
    name = words.name if words else None
    return {
        "benchmark": benchmark,
        "script": script,
        "language": name,
        "support": support(words) if words else {},
    }


def language_sentence(row: Mapping[str, Any]) -> str:
    """What was found of a benchmark's language, and what is not known of it."""
    script = f"{row['script']} script" if row["script"] else "no letters"
    if row["language"] is None:
        return (
            f"Language of {row['benchmark']}: not known ({script}). An option counts where the answer is the "
            "option or its label, or where all words beside it are known."
        )
    names = [_NAMES[name] for name, value in row["support"].items() if value == UNKNOWN]
    gaps = f" Not known in it: {', '.join(names)}." if names else ""
    return f"Language of {row['benchmark']}: {row['language']} ({script}).{gaps}"


def language_code(text: str) -> str | None:
    """The code of the language that a text is in; null where that is not known."""
    words = text_language([text]).language
    return words.code if words else None


def refuse_other_language(text: str, expected: str) -> None:
    """Raise `Unreadable` for a text that is clearly in another language than that of a code."""
    code = language_code(text)
    if code not in (None, expected):
        raise Unreadable(f"it is written in {language(str(code)).name}, not in {language(expected).name}")
