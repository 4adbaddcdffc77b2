"""What the words of an answer do, by the data of languages (`language.languages`) and the lexicon.

A language has words that affirm (a copula, "answer", "correct"), that reject, that only stand
by, and that begin a reason. `supported` are the languages of which the grammar of `verdicts` knows the
negation, so that a clause may hold other words too.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

from vivavoce.language.languages import WORDS_ALONE, Language, codes, language
from vivavoce.language.tokens import Doc
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.answer_markers import cue_word

Role = Literal[
    "affirms", "light", "reason", "rejects", "doubtful", "supported", "short", "strange", "outside"
]
"""What a word does.

`supported` and `short` words speak for a supported language, the latter half as much; a `doubtful` one
belongs to one, and rejects in another language. `strange` is a Latin word that no list has, `outside` any
other, or one in letters that no supported language writes.
"""
_ROLES: tuple[tuple[Role, Callable[[Language], tuple[str, ...]]], ...] = (
    ("light", lambda words: words.light),
    ("affirms", lambda words: (*words.affirm, *words.contrasts)),
    ("reason", lambda words: words.reasons),
    ("rejects", lambda words: (*words.reject, *(word for word in words.unlikely if " " not in word))),
)
"""What rejects comes last, and so first where a word is in two."""
_DECIDING = frozenset({"reason", "rejects"})
_BY_CHARACTER = ("zh", "ja")
"""Languages that `Doc` cuts into characters."""
_FIRM = frozenset((
    "the", "is", "are", "was", "not", "and", "has", "it", "its", "of", "for", "due", "can", "may", "had",
    "how", "why", "who", "you", "our", "dus",
))  # fmt: skip
"""Short words that speak for English as much as long ones."""
_FOREIGN_LETTERS = frozenset("ğışłżźęąőűđơưěřůāēīūțăŋ")
"""Latin letters that no supported language writes."""
_ENGLISH_ENDINGS = (
    *("tion", "tions", "ment", "ments", "ness", "able", "ible", "ative"),
    *("ally", "ably", "ibly", "ously", "ively", "antly", "ently"),
)
_SHORT_WORD = 6
_LONGEST_RUN = 8


@cache
def _words() -> dict[str, Role]:
    """The roles of words that spaces divide."""
    supporting = _forms(supported=True)
    roles = {form: _support(form) for form in _lexicon() if form.isascii()}
    roles |= {form: role if role in _DECIDING else _support(form) for form, role in supporting.items()}
    # a word of another language speaks for no supported one
    for form, role in _forms(supported=False).items():
        if form not in supporting:
            roles[form] = role
        elif role == "rejects":
            roles[form] = "doubtful"
    return roles | dict.fromkeys(_FIRM, "supported")


@cache
def rejecting_words() -> set[str]:
    """The words that turn an option down, or begin a phrase that does; of English only those of phrases."""
    return {form for form, word in _words().items() if word in {"rejects", "doubtful"}} | unlikely().keys()


@cache
def unlikely() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The phrases that call an option less likely than others, in any language, by their first word."""
    return by_head(lambda part: [phrase for phrase in part.unlikely if " " in phrase])


def by_head(phrases_of: Callable[[Language], Iterable[str]]) -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The forms of phrases of all languages by their first, the longest first."""
    phrases: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for phrase in (phrase for code in codes() for phrase in phrases_of(language(code))):
        forms = tuple(Doc(phrase).forms)
        phrases[forms[0]].add(forms)
    return {head: sorted(of_head, key=len, reverse=True) for head, of_head in phrases.items()}


def width(phrases: Mapping[str, Sequence[tuple[str, ...]]], doc: Doc, k: int) -> int:
    """How many tokens from token k on are one of the phrases `by_head`; 0 if none begins there."""
    of_head = phrases.get(doc.forms[k], ())
    return next((len(forms) for forms in of_head if tuple(doc.forms[k : k + len(forms)]) == forms), 0)


def _forms(*, supported: bool) -> dict[str, Role]:
    """The words that spaces divide, by their form."""
    languages = [language(code) for code in (*codes(), WORDS_ALONE) if code not in _BY_CHARACTER]
    return {
        form: role
        for role, words_of in _ROLES
        for words in languages
        if words.supported == supported
        for form in Doc(" ".join(words_of(words))).forms
    }


@cache
def _unspaced_words() -> dict[str, Role]:
    """The roles of words that are written without spaces."""
    return {
        "".join(Doc(word).forms): role
        for role, words_of in _ROLES
        for code in _BY_CHARACTER
        for word in words_of(language(code))
    }


def _lexicon() -> set[str]:
    """All words of the lexicon."""
    forms: set[str] = set()
    for part in (*vars(words).values(), *vars(step_words).values()):
        if isinstance(part, frozenset | tuple):
            for entry in part:
                forms.update([entry] if isinstance(entry, str) else entry)
    return forms


def _support(form: str) -> Role:
    return "supported" if len(form) > 3 or form in _FIRM else "short"


@lru_cache(maxsize=65536)
def role(form: str, text: str) -> Role:
    """The role of a word by its comparable form and as it is written."""
    listed = _words().get(form)
    if listed is not None:
        return listed
    if cue_word(form):  # of a typo in English too
        is_foreign = form.startswith(words.FOREIGN_ANSWERS) or form in words.FOREIGN_WORDS
        return "affirms" if is_foreign else "supported"
    if text.isascii():
        is_english = len(form) > _SHORT_WORD and form.endswith(_ENGLISH_ENDINGS)
        return "supported" if is_english else "strange" if _may_be_word(text) else "outside"
    return "strange" if _is_of_supported(text) else "outside"


def _may_be_word(text: str) -> bool:
    """False for small letters without a vowel, such as "lxb", which no supported language has."""
    return not text.islower() or not set("aeiouy").isdisjoint(text)


def _is_of_supported(text: str) -> bool:
    return _is_latin(text) and _FOREIGN_LETTERS.isdisjoint(text.lower())


def _is_latin(text: str) -> bool:
    """True if all letters are Latin, up to the ones of European languages."""
    return all(ord(c) < 0x250 or 0x300 <= ord(c) < 0x370 or not c.isalpha() for c in text)


def is_unspaced(character: str) -> bool:
    """True for a character of a script without spaces that stands for itself: Han and kana."""
    return len(character) == 1 and ("\u3040" <= character < "\uac00" or "\uf900" <= character <= "\ufaff")


def run_roles(forms: list[str]) -> list[Role]:
    """The roles of characters written without spaces: the longest known word at each place counts."""
    table, roles = _unspaced_words(), list[Role]()
    while len(roles) < len(forms):
        k = len(roles)
        for width in range(min(_LONGEST_RUN, len(forms) - k), 0, -1):
            word = table.get("".join(forms[k : k + width]))
            if word is not None:
                roles += [word] * width
                break
        else:
            roles.append("outside")
    return roles
