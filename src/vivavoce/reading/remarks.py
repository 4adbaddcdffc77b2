"""What a line says of one option at its end: "A) Aspirin: INR normal, so excluded".

And whether a clause behind an option is the reason for choosing it.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import cache

from vivavoce.language.tokens import CLAUSE, LINE, NONE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.mentions import WINDOW, Verdict
from vivavoce.reading.options import Mention
from vivavoce.reading.word_roles import by_head, width

JUDGES = words.NOT_RIGHT | words.CHOSEN_RIGHT
"""The words that call an option right or wrong."""
_SHORT = 4
"""Words of a clause that denies the merit of an option: "no added clinical value"."""
_ITS = (["it"], ["its"], ["this"], ["that"], ["thats"], ["es"], ["cest"], ["ist"], ["e"])


def remark(doc: Doc, mention: Mention, j: int) -> Verdict | None:
    """The verdict at the end of a line about one option: "A) Aspirin: INR normal, so excluded"."""
    heads_line = doc.breaks[mention.i] >= LINE and mention.j < j and doc.gap_has(mention.j, ":-–—")
    if not heads_line or doc.forms[mention.i : mention.j] in (["yes"], ["no"]):
        return None
    start = next((k for k in range(j - 1, mention.j, -1) if doc.breaks[k] != NONE), mention.j)
    clause = doc.forms[start:j]
    rival = any(_letter_with_colon(doc, k) for k in range(max(mention.j, start - WINDOW), start))
    if rival or len(clause) > WINDOW or not has_any(clause, JUDGES) or gives_reason(doc, mention, start, j):
        return None
    if denials(clause):
        return "rejected"
    return None if "out" in clause and "ruled" not in clause else "chosen"


def but_wrong(doc: Doc, mention: Mention, end: int) -> bool:
    """True for "B is often chosen, but it is wrong": a clause of a few words turns the option down."""
    window = doc.forms[mention.j : min(end, mention.j + WINDOW)]
    if words.BUTS.isdisjoint(window):
        return False
    turn = mention.j + next(n for n, form in enumerate(window) if form in words.BUTS)
    clause = doc.forms[turn + 1 : min(end, turn + 5, doc.sentence_end(mention.i))]
    return clause[:1] in _ITS and doc.ends(turn + 1 + len(clause)) and denials(clause) % 2 == 1


def _letter_with_colon(doc: Doc, k: int) -> bool:
    """True for a capital that a colon follows: the B of "A: incorrect, B: correct"."""
    letter = doc.surface(k, k + 1)
    return len(letter) == 1 and letter.isupper() and doc.gap_has(k + 1, ":")


def denials(window: Sequence[str]) -> int:
    """How many words turn down; "ruled out" is one, and "rules out" turns down what comes after it."""
    is_ruled_out = "out" in window and has_any(window, {"ruled", "rule", "rules", "ruling"})
    pairs = sum(pair in words.NOT_RIGHT_PAIRS for pair in itertools.pairwise(window))
    return sum(word in words.NOT_RIGHT for word in window) + pairs - is_ruled_out


def gives_reason(doc: Doc, mention: Mention, i: int, j: int | None = None) -> bool:
    """True if the clause at token i is the reason for a choice: "E: asymptomatic bacteriuria, no treatment".

    The choice is a letter at the head of a line, or announced, and no other line begins with one; the clause
    speaks of something else than the option.
    """
    is_in_front = doc.breaks[mention.i] >= LINE or _announced(doc, mention.i)
    if mention.by not in {"label", "both"} or not is_in_front:
        return False
    clause = doc.forms[i : doc.sentence_end(i) if j is None else j]
    if not (denies_a_thing(doc, i) or _of_something_else(clause)):
        return False
    return not any(k != mention.i and _letter_heads_line(doc, k) for k in range(len(doc)))


def _announced(doc: Doc, k: int) -> bool:
    """True behind a colon or a copula: "Answer: B", "the answer is B"."""
    return doc.gap_has(k, ":：") or (k > 0 and doc.breaks[k] == NONE and doc.forms[k - 1] in words.COPULA)


def denies_another(doc: Doc, mention: Mention) -> bool:
    """True if the clause behind a choice is its reason, and denies another thing: "B (no interactions)"."""
    k = mention.j
    return doc.ends(k) and denies_a_thing(doc, k) and gives_reason(doc, mention, k)


def denies_a_thing(doc: Doc, k: int) -> bool:
    """True if the clause at token k denies another thing than what stands before: "no further tests"."""
    if doc.breaks[k] >= CLAUSE and has_any(doc.forms[k : k + 2], words.OTHERS):
        return True
    thing = k + width(_withouts(), doc, k)
    return (
        k < thing < len(doc) and doc.breaks[thing] == NONE and doc.forms[thing] not in words.MERITS | JUDGES
    )


def denies_merit(doc: Doc, mention: Mention, limit: int) -> bool:
    """True for a clause up to token `limit` that denies the merit of the letter before it: "B. Kein Nutzen.".

    Any word is a merit behind a letter and a colon, "B: no activity", unless an answer is announced.
    """
    k = mention.j
    if mention.by == "text" or k >= limit:
        return False
    thing = k + width(_withouts(), doc, k)
    end = next((n for n in range(thing + 1, min(thing + _SHORT, limit) + 1) if doc.ends(n)), thing)
    if thing in (k, end) or doc.forms[thing] in words.OTHERS | {"other"}:
        return False
    if doc.gap_has(k, ":：") and end - thing <= 1 + (not doc.gap(end - 1)) and not _announced(doc, mention.i):
        return True
    merits = {doc.forms[thing], doc.forms[end - 1], "".join(doc.forms[max(thing, end - 2) : end])}
    return not merits.isdisjoint(words.MERITS)


@cache
def _withouts() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """What denies the thing behind it, in any language, by its first word."""
    return by_head(lambda part: part.withouts)


def _letter_heads_line(doc: Doc, k: int) -> bool:
    if doc.breaks[k] < LINE:
        return False
    letter = doc.surface(k, k + 1)
    return len(letter) == 1 and letter.isalpha() and doc.breaks[k + 1 : k + 2] != [NONE]


def _of_something_else(clause: Sequence[str]) -> bool:
    """True if a clause behind an option has a subject of its own: "agranulocytosis must be ruled out".

    Of the option are "excluded", "must be excluded", "this is wrong", "no effect".
    """
    if has_any(clause, _ITSELF):
        return False
    for word in clause:
        if word in JUDGES or word in words.PREDICATE:
            return False
        if word not in _NO_SUBJECTS and not word.endswith("ly"):
            return True
    return False


_ITSELF = (
    words.CHOICE_NOUNS
    | words.LABEL_NOUNS
    | frozenset({"it", "its", "this", "that", "these", "they", "which", "answer", "drug", "agent", "one"})
    | frozenset({"medication", "therapy", "treatment", "test", "procedure"})
)
"""What speaks of the option without its name."""
_NO_SUBJECTS = (
    words.LIGHT
    | words.DEGREES
    | frozenset({"already", "now", "here", "still", "very", "quite", "however", "but", "by", "in", "for"})
)
