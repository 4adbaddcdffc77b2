"""What is known of a language: one file each in `data/`, read when it is first needed.

A list that is empty is not known. Words stand in their comparable form or as they are written; phrases, such
as refusals, as they are written.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
WORDS_ALONE = "other"
"""The file that holds words of further languages, of which nothing else is known."""


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
    ors: tuple[str, ...] = ()
    ands: tuple[str, ...] = ()
    """What leaves two options open, and what joins them."""


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
