"""Where an answer announces itself: "Final answer:", "the answer is", a box, in many languages.

Small typos in the English cue words do not hide a cue ("Anwser", "Fianl asnwer").
"""

import itertools
import re
from functools import lru_cache
from typing import NamedTuple

from vivavoce.formats import words
from vivavoce.formats.tokens import CLAUSE, LINE, NONE, SENTENCE, Doc

__all__ = ["Cue", "cues", "retracts"]

_REACH = 9
_PAIRS = frozenset(words.CJK_CUES + words.VIET_CUES)
_PAIR_HEADS = frozenset(head for head, _ in _PAIRS)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s?\{")
_BOX_LIMIT = 4000
_LINKS = re.compile(r"[:：=]|[–—]|(?:^|\s)-+(?:\s|$)")


class Cue(NamedTuple):
    """The cue begins at token `k`; its claim is tokens i to j-1.

    `firm`: the claim stands after a colon or in a box, so that whatever stands there is the answer, option or
    not.
    """

    k: int
    i: int
    j: int
    firm: bool
    boxed: bool = False


def cues(doc: Doc) -> list[Cue]:
    """All cues, in order. A claim runs to the end of its sentence, or of its box."""
    found = _boxes(doc)
    inside = [(c.i, c.j) for c in found]
    k = 0
    while k < len(doc):
        width = _cue_width(doc, k)
        if not width:
            k += 1
            continue
        cue = _cue(doc, k, width)
        if (
            cue is not None
            and not any(i <= cue.i < j for i, j in inside)
            and not _only_boxes(doc, cue, inside)
        ):
            found.append(cue)
        k += width
    return _apart(doc, sorted(found))


def _apart(doc: Doc, found: list[Cue]) -> list[Cue]:
    """The cues with claims that do not overlap: a claim ends where the next cue begins."""
    apart: list[Cue] = []
    ends = [*(c.k for c in found[1:]), len(doc)][: len(found)]
    for cue, following in zip(found, ends, strict=True):
        if cue.i < following < cue.j:
            cue = cue._replace(j=following, firm=False)
        if cue.i < cue.j and not cue.k <= following <= cue.i:
            apart.append(cue)
    return apart


def retracts(doc: Doc, i: int, j: int) -> bool:
    """True if the words of tokens i to j-1 take an earlier answer back."""
    span = doc.forms[i:j]
    pairs = itertools.pairwise(span)
    return any(w in words.RETRACTIONS for w in span) or any(p in words.RETRACTION_PAIRS for p in pairs)


@lru_cache(maxsize=16384)
def _cue_word(form: str) -> str:
    """'answer', 'choice' or '' for a single word."""
    if form in words.ANSWER_NOUNS or form in words.FOREIGN_WORDS or form.startswith(words.FOREIGN_ANSWERS):
        return "answer"
    if form in words.CHOICE_NOUNS:
        return "choice"
    return "answer" if any(_typo(form, word) for word in words.FUZZY) else ""


def _typo(form: str, word: str) -> bool:
    """True if one letter is missing, added, changed, or letters changed places behind the first."""
    if abs(len(form) - len(word)) > 1 or len(form) < 5 or form[0] != word[0]:
        return False
    if sorted(form) == sorted(word):
        return True
    head = 0
    while head < min(len(form), len(word)) and form[head] == word[head]:
        head += 1
    return (
        form[head + 1 :] == word[head + 1 :]
        or form[head + 1 :] == word[head:]
        or form[head:] == word[head + 1 :]
    )


def _cue_width(doc: Doc, k: int) -> int:
    """How many tokens the cue word at `k` has; 0 if there is none."""
    form = doc.forms[k]
    width = 1 if _cue_word(form) else 0
    if form in _PAIR_HEADS and tuple(doc.forms[k : k + 2]) in _PAIRS:
        width = 2
    return 0 if width and (doc.glued(k) or doc.glued(k + 1)) else width


def _cue(doc: Doc, k: int, width: int) -> Cue | None:
    kind = _cue_word(doc.forms[k]) or "answer"
    before = _before(doc, k)
    if any(w in words.NOT_FINAL for w in before) or (kind == "answer" and before[-1:] == ["first"]):
        return None
    if before and before[-1] in words.NOT_A_NOUN_AFTER and doc.breaks[k] == NONE:
        return None
    at, firm = _link(doc, k + width, heading=doc.breaks[k] >= LINE or all(_furniture(w) for w in before))
    if at is None or at >= len(doc):
        return None
    if (
        kind == "choice"
        and not any(w in words.CHOICE_ADJECTIVES for w in before)
        and not (firm and len(before) <= 2)
    ):
        return None
    return Cue(k, at, doc.sentence_end(at), firm)


def _before(doc: Doc, k: int) -> list[str]:
    """The words before token k in its clause, at most four."""
    start = k
    while start > 0 and k - start < 4 and doc.breaks[start] == NONE:
        start -= 1
    return doc.forms[start:k]


def _furniture(word: str) -> bool:
    return word in words.CHOICE_ADJECTIVES or word in words.LIGHT


def _link(doc: Doc, p: int, *, heading: bool) -> tuple[int | None, bool]:
    """Where the claim begins, and whether a colon or the like says so."""
    begin = p
    while p < len(doc) and p - begin < _REACH:
        form = doc.forms[p]
        if doc.breaks[p] > NONE and _LINKS.search(doc.gap(p)):
            return p, True
        if _LINKS.search(doc.gap(p)) or (form in {"→", "(-)"} and p + 1 < len(doc)):
            return (p + 1 if form in {"→", "(-)"} else p), True
        if doc.breaks[p] >= SENTENCE:
            # a heading of its own line: "## Answer", "**Final answer**"
            return (p, True) if heading and p == begin and doc.breaks[p] >= LINE else (None, False)
        if doc.breaks[p] == CLAUSE or (p == begin and _capital(doc, p)):
            # "Answer (C)", "Answer B"
            return (
                (p, False) if p == begin and (doc.breaks[p] == NONE or "(" in doc.gap(p)) else (None, False)
            )
        if form in words.MODAL or form in words.RESET:
            return None, False
        if form in words.COPULA:
            negated = [q for q in range(begin, p + 1) if doc.forms[q] in words.NOT_LEFT]
            at = negated[0] if negated else p + 1
            firm = at < len(doc) and at > p and doc.breaks[at] > NONE and ":" in doc.gap(at)
            return at, firm
        p += 1
    return None, False


def _capital(doc: Doc, p: int) -> bool:
    """True for a letter that ends its clause: "Answer B", "answer c"."""
    token = doc.tokens[p]
    text = doc.text[token.start : token.end]
    if token.kind != "w" or len(text) > 2 or (len(text) == 2 and not text.isupper()):
        return False
    return doc.ends(p + 1) or (text.isupper() and doc.forms[p + 1] in words.AFTER_LABEL)


def _only_boxes(doc: Doc, cue: Cue, inside: list[tuple[int, int]]) -> bool:
    """True if the claim is nothing but the way to a box: "The answer is [B]"."""
    return any(cue.i <= i < cue.j and i - cue.i <= 2 for i, _ in inside)


def _boxes(doc: Doc) -> list[Cue]:
    found: list[Cue] = []
    done = 0
    for mark in _BOXED.finditer(doc.text):
        if mark.start() < done:
            continue
        end = _brace_end(doc.text, mark.end())
        i, j = doc.at(mark.end()), doc.at(end)
        done = end
        if i < j:
            found.append(Cue(doc.at(mark.start()), i, j, True, True))
    return found


def _brace_end(text: str, start: int) -> int:
    """Where the brace opened before `start` closes; an unclosed one ends with its line."""
    depth = 1
    for k in range(start, min(len(text), start + _BOX_LIMIT)):
        depth += {"{": 1, "}": -1}.get(text[k], 0)
        if depth == 0:
            return k
    line = text.find("\n", start, start + _BOX_LIMIT)
    return line if line >= 0 else min(len(text), start + _BOX_LIMIT)
