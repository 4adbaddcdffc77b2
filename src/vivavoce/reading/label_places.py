"""Where a letter or a number is the label of an option.

"I", the article "A", "vitamin B" and "T cells" are none.
"""

from vivavoce.language.tokens import COMMA, LINE, NONE, SENTENCE, Doc, cached_doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading import step_words
from vivavoce.reading.labels import (
    after_label,
    conclusions,
    joining,
    label_articles,
    label_nouns,
    label_nouns_behind,
    right_words,
)
from vivavoce.reading.word_roles import is_unspaced

_TURKISH_ENDINGS = frozenset(
    ["dir", "dır", "dur", "dür", "tir", "tır", "tur", "tür", "yi", "yı", "si", "sı", "nin", "nın"]
)
_SMALL_WORDS = frozenset("aeiouyzvwks")
"""Letters that are words of some language."""
_TICKS = frozenset("✓✔☑✅✗✘✖❌☐")
_NO_SPECIES = words.AFTER_LABEL | words.FILLERS | words.PROSE | words.CHOSEN_RIGHT | words.LIGHT


def is_unit(doc: Doc, j: int) -> bool:
    """True for "mg", "%" and signs that go on with a number."""
    return doc.forms[j] in words.UNITS or (doc.forms[j][0] in "%^°-x±" and doc.tokens[j].kind == "s")


def stands_as_label(doc: Doc, k: int, text: str, *, claimed: bool) -> bool:
    """True if a capital that is a label stands where it can only be one."""
    preceding = doc.forms[k - 1] if k > 0 and doc.breaks[k] <= NONE else ""
    if _bracketed(doc, k) or _line_label(doc, k) or preceding in label_nouns():
        return True
    following = doc.forms[k + 1] if k + 1 < len(doc) else ""
    if text == "I" and following in words.AFTER_I:
        return False
    # a Korean label may be a word: "다" is "all"
    goes_on = words.AFTER_LABEL if text >= "\uac00" or _is_article(text, following) else after_label()
    closed = is_closed(doc, k) or following in goes_on or following in joining()
    return closed if claimed else _label_in_prose(doc, k, preceding, following, closed=closed)


def _is_article(text: str, following: str) -> bool:
    """True for the Portuguese article of "A correta é a B"."""
    return text in {"A", "O"} and following.endswith(("a", "o")) and following in right_words()


def _label_in_prose(doc: Doc, k: int, preceding: str, following: str, *, closed: bool) -> bool:
    """True if a capital in running text is a label: "so B", "B is right"."""
    if closed and (preceding in words.BEFORE_LABEL or preceding in conclusions() or _emphasised(doc, k)):
        return True
    return following in words.VERDICT_VERBS and doc.breaks[k + 1] == NONE


def small_label(doc: Doc, k: int, i: int, *, claimed: bool) -> bool:
    """True if a small letter is a label: "(c)", "c)" at the head of a line, "c" alone, "option c"."""
    if not claimed:
        return _line_label(doc, k) and doc.gap(k + 1)[:1] == ")"
    if _bracketed(doc, k) or _line_label(doc, k) or _is_alone(doc, k, i):
        return True
    if k == i and _before_verdict(doc, k) and doc.surface(k, k + 1) not in _SMALL_WORDS:
        return True
    return _behind_article(doc, k) or _by_noun_or_mark(doc, k)


def _is_alone(doc: Doc, k: int, i: int) -> bool:
    """True for a letter that is a clause by itself, or the end of one behind a noun such as "option"."""
    return (k == i or after_label_noun(doc, k)) and is_closed(doc, k)


def _by_noun_or_mark(doc: Doc, k: int) -> bool:
    """True for a letter that a noun of labels, a mark or a character without spaces stands by."""
    return _before_label_noun(doc, k) or _among_unspaced(doc, k)


def _behind_article(doc: Doc, k: int) -> bool:
    """True for the letters of "la a y la d"."""
    if k == 0 or doc.breaks[k] > NONE or doc.forms[k - 1] not in label_articles():
        return False
    return is_closed(doc, k) or doc.forms[k + 1] in joining() or _before_verdict(doc, k)


def _before_verdict(doc: Doc, k: int) -> bool:
    """True before a word such as "ist", "jest", "stimmt"."""
    return k + 1 < len(doc) and doc.breaks[k + 1] == NONE and doc.forms[k + 1] in after_label()


def _before_label_noun(doc: Doc, k: int) -> bool:
    """True before a noun of labels in languages that have it behind: "b şıkkı"."""
    return k + 1 < len(doc) and doc.gap(k + 1) == " " and doc.forms[k + 1] in label_nouns_behind()


def _among_unspaced(doc: Doc, k: int) -> bool:
    """True for a Latin letter that stands by characters without spaces, or a mark: "選択肢のbです", "b ✓"."""
    if k + 1 < len(doc) and any(c in _TICKS for c in doc.gap(k + 1)):
        return True
    if k + 1 < len(doc) and not doc.gap(k + 1) and doc.forms[k + 1] in words.BEHIND_LETTER:
        return True
    return k > 0 and not doc.gap(k) and doc.forms[k - 1] in words.BEFORE_LETTER and is_closed(doc, k)


def without_particle(text: str) -> str:
    """A label without what is written with it: the particle of "나입니다", the copula of "D'dir"."""
    if len(text) > 2 and text[1] in "'’" and text[2:].lower() in _TURKISH_ENDINGS:
        return text[0]
    return text[0] if text[0] >= "\uac00" and text[1:] in words.PARTICLES else text


def after_label_noun(doc: Doc, k: int) -> bool:
    """True behind a word such as "option", or "option number"."""
    if k > 1 and doc.forms[k - 1] in step_words.NUMBER_NOUNS and doc.breaks[k - 1] <= NONE:
        k -= 1
    return k > 0 and doc.breaks[k] <= NONE and doc.forms[k - 1] in label_nouns()


def is_counted(doc: Doc, k: int) -> bool:
    """True for a number with the word for a number behind it, as Korean and Japanese exams have it."""
    return k + 1 < len(doc) and not doc.gap(k + 1) and doc.forms[k + 1].startswith(words.COUNTERS)


def is_part(doc: Doc, k: int) -> bool:
    """True if a letter is a part of a word: joined by a hyphen, or among characters without spaces."""
    if doc.glued(k) or doc.glued(k + 1) or _abbreviates(doc, k):
        return True
    if not is_unspaced(doc.surface(k, k + 1)):
        return k > 0 and not doc.gap(k) and _joins_word(doc, k)
    return _joins(doc, k, k - 1, words.BEFORE_LETTER) or _joins(doc, k + 1, k + 1, words.BEHIND_LETTER)


def _joins_word(doc: Doc, k: int) -> bool:
    """True for a Korean particle behind a Latin letter, "D가", and for a letter behind "ビタミン"."""
    return doc.surface(k, k + 1) >= "\uac00" or doc.text[: doc.tokens[k].start].endswith(words.LETTERED_ENDS)


def _abbreviates(doc: Doc, k: int) -> bool:
    """True for a letter of "k.A.", "z. B." or "B.1.1.7"; a row of capitals, "A. C.", may be labels."""
    preceding = k > 0 and doc.gap(k) in {".", ". "} and doc.surface(k - 1, k)
    following = k + 1 < len(doc) and doc.gap(k + 1) in {".", ". "} and doc.surface(k + 1, k + 2)
    letter = doc.surface(k, k + 1)
    if preceding and len(preceding) == 1 and preceding.isalpha() and not _both_labels(preceding, letter):
        return True
    if following and doc.gap(k + 1) == "." and following.count(".") > 1:
        return True
    if not following or len(following) > 1 or _both_labels(letter, following):
        return False
    return following.isalpha() if doc.gap(k + 1) == "." else following.islower() and letter.islower()


def _both_labels(a: str, b: str) -> bool:
    """True for two capitals of the first letters, which may be labels."""
    return (a.isupper() and b.isupper() and max(a, b) < "K") or (not a.isascii() and not a.islower())


def _joins(doc: Doc, gap: int, k: int, allowed: frozenset[str]) -> bool:
    """True if no gap divides a character from token k, another that may not stand by a label."""
    if not 0 <= k < len(doc) or doc.gap(gap) or doc.forms[k] in allowed:
        return False
    return is_unspaced(doc.surface(k, k + 1))


def names_species(doc: Doc, k: int, text: str) -> bool:
    """True for a capital that begins the name of a species, "C. difficile", which option `text` is not."""
    if k + 1 >= len(doc) or doc.gap(k + 1) != ". " or doc.sentence_end(k) - k > 4:
        return False
    if has_any(doc.forms[k + 2 : doc.sentence_end(k)], words.PREDICATE):
        return False
    word = doc.surface(k + 1, k + 2)
    latin = word.islower() and len(word) >= 4 and word.endswith(words.SPECIES_ENDS)
    if not latin or word in _NO_SPECIES:
        return False
    # "A. aspirin" where option A is "Aspirin" is the option with its letter
    return not any(form[:4] == word[:4] for form in cached_doc(text).forms)


def is_closed(doc: Doc, k: int) -> bool:
    """True if nothing of the same clause follows token k, or a sign that ends a label."""
    if doc.ends(k + 1) or (doc.forms[k + 1].startswith(words.AFTER_LETTER) and not doc.gap(k + 1)):
        return True
    if doc.tokens[k + 1].kind == "n" and doc.gap(k + 2)[:1] in {".", ")"}:
        return True  # "1. A 2. B"
    return doc.forms[k + 1] in {"+", "&", "/", "→", "(-)", "(+)", "=", "<", ">"}


def _bracketed(doc: Doc, k: int) -> bool:
    opening, closing = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return opening in {"(", "[", "（", "{"} and closing in {")", "]", "）", "}"}


def _emphasised(doc: Doc, k: int) -> bool:
    opening, closing = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return (opening == closing and opening in {"*", "_", "`", '"', "'"}) or (opening, closing) == ("“", "”")


def _line_label(doc: Doc, k: int) -> bool:
    """True for the label at the head of a line: "B)", "B. text", "B: text"."""
    if doc.breaks[k] < LINE:
        return False
    return doc.gap(k + 1).lstrip("*_")[:1] in {")", ".", ":", "）", "、"}


def noun_before(doc: Doc, k: int) -> bool:
    """True if a word that takes letters stands before: vitamin B, hepatitis B, group A."""
    first = max(2, k - 8)
    while k > first and _second_letter(doc, k):
        k -= 2  # "vitamin A or B"
    if k and doc.gap(k) in {".", ". "} and doc.forms[k - 1] in words.LETTERED_SHORT:
        return True
    if k == 0 or doc.breaks[k] >= SENTENCE or doc.gap_has(k, ":([,"):
        return False
    return doc.breaks[k] < COMMA and doc.forms[k - 1].startswith(words.LETTERED_NOUNS)


def _second_letter(doc: Doc, k: int) -> bool:
    """True if "or" or "and" joins token k to a capital: the B of "A or B"."""
    if doc.forms[k - 1] not in {"or", "and"} or doc.breaks[k - 1] != NONE:
        return False
    return len(doc.forms[k - 2]) == 1 and doc.surface(k - 2, k - 1).isupper()
