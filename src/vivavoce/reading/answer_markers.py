"""Where an answer announces itself: "Final answer:", "the answer is", a box, in many languages.

Small typos in the English cue words do not hide a cue ("Anwser", "Fianl asnwer").
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from vivavoce.core.text import lazy_pattern
from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.labels import after_label, label_articles, right_words
from vivavoce.reading.markup import closing_braces

_REACH = 9
_PAIRS = frozenset(words.CJK_CUES + words.VIET_CUES + words.SHORT_CUES)
_PAIR_HEADS = frozenset(head for head, _ in _PAIRS)
_BOXED = lazy_pattern(r"\\(?:boxed|fbox)\s?\{")
_BOX_LIMIT = 4000
_LINKS = lazy_pattern(r"[:：=]|[–—]|(?:^|\s)-+(?:\s|$)")


_SMALL_LABELS = frozenset("bcdfgh")
_ARROWS = frozenset({"→", "(-)"})
_THOUGHTS = frozenset({"thought", "thoughts", "reflection"})
_Choice = TypeVar("_Choice")
_CHOICE_ITEMS = (["肢"], ["题"], ["題"])
"""What makes of "choice" an option, or a question with options."""
_UNREAL = frozenset({"would", "could", "might"})
_CONDITIONS = frozenset({"if", "unless", "only", "were", "had", "when"})
_BREAKS_OFF = words.MODAL | words.RESET
_DENIALS = words.DENIALS | {"不", "非", "isnt", "wasnt"}
_NO_CUE_AFTER = words.NOT_A_NOUN_AFTER | {"than", "over", "outperforms", "beats"}
"""Before "answer" in "cannot answer", "to answer", "better than answer C"."""
_FURNITURE = words.CHOICE_ADJECTIVES | words.LIGHT
"""Words of a heading such as "My final answer"."""


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
    markers = _boxes(doc)
    boxes = [(marker.i, marker.j) for marker in markers]  # in order, and none within another
    k = 0
    while k < len(doc):
        width = _cue_width(doc, k)
        if width and (doc.glued(k) or doc.glued(k + 1)):
            width = 0
        if width and (cue := _cue(doc, k, width)) is not None and not _leads_to_box(cue, boxes):
            markers.append(cue)
        k += width or 1
    return _without_overlaps(doc, sorted(markers))


def _leads_to_box(cue: Cue, boxes: Sequence[tuple[int, int]]) -> bool:
    """True if the claim stands in a box, or is nothing but the way to one: "The answer is [B]"."""
    last = bisect_right(boxes, cue.i + 2, key=lambda box: box[0])
    return any(i <= cue.i < j or cue.i <= i < cue.j for i, j in boxes[max(0, last - 4) : last])


def _without_overlaps(doc: Doc, markers: list[Cue]) -> list[Cue]:
    """The cues with claims that do not overlap: a claim ends where the next cue begins."""
    result: list[Cue] = []
    ends = [*(marker.k for marker in markers[1:]), len(doc)][: len(markers)]
    for cue, following in zip(markers, ends, strict=True):
        if cue.i < following < cue.j:
            cue = cue._replace(j=following, firm=False)
        if cue.i < cue.j and not cue.k <= following <= cue.i:
            result.append(cue)
    return result


def retracts(doc: Doc, i: int, j: int) -> bool:
    """True if the words of tokens i to j-1 take an earlier answer back."""
    return doc.count(i, j, words.RETRACTIONS) > 0 or doc.has_pair(i, j, words.RETRACTION_PAIRS)


def outright(doc: Doc, claims: Iterable[tuple[Cue, _Choice]]) -> list[tuple[Cue, _Choice]]:
    """The cues and what they choose, without those that say nothing by themselves."""
    return [claim for claim in claims if not is_open(doc, claim[0])]


def is_broken_off(doc: Doc, cue: Cue) -> bool:
    """True for "the answer would be A" at the end of a text, where nothing closes the sentence."""
    is_last = cue.j == len(doc) and not doc.gap(cue.j).strip()
    return is_last and has_any(doc.forms[cue.k : cue.i], _UNREAL)


def is_open(doc: Doc, cue: Cue) -> bool:
    """True for a claim that says nothing by itself: a question, or "would be A only in children"."""
    if "?" in doc.gap(cue.j) or "？" in doc.gap(cue.j):
        return True
    return has_any(doc.forms[cue.k : cue.i], _UNREAL) and has_any(doc.forms[cue.i : cue.j], _CONDITIONS)


@lru_cache(maxsize=16384)
def cue_word(form: str) -> str:
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
    width = 1 if cue_word(form) or _heads_sentence(doc, k) else 0
    if form in _PAIR_HEADS and tuple(doc.forms[k : k + 2]) in _PAIRS:
        width = 0 if doc.forms[k + 2 : k + 3] in _CHOICE_ITEMS else 2
    if form == "most" and _is_label(doc, k):
        width = 2
    return width


def _heads_sentence(doc: Doc, k: int) -> bool:
    """True for the word "right" before a copula at a sentence's head: "Richtig ist c", "La correcta es"."""
    if doc.forms[k] not in right_words() or doc.ends(k + 1) or doc.forms[k + 1] not in words.COPULA:
        return False
    start = k - 1 if k and doc.forms[k - 1] in label_articles() else k
    return doc.breaks[start] >= SENTENCE


def _is_label(doc: Doc, k: int) -> bool:
    """True for the label "Most likely:" at the head of a sentence or line."""
    if doc.forms[k + 1 : k + 2] not in (["likely"], ["probable"]) or doc.breaks[k + 1] > NONE:
        return False
    return doc.breaks[k] >= SENTENCE and bool(_LINKS.search(doc.gap(k + 2)))


def _cue(doc: Doc, k: int, width: int) -> Cue | None:
    """The cue at token k, whose words are `width` tokens; None if it announces nothing."""
    kind = cue_word(doc.forms[k]) or "answer"
    preceding = _words_before(doc, k)
    if has_any(preceding, words.NOT_FINAL) or (kind == "answer" and preceding[-1:] == ["first"]):
        return None
    if has_any(preceding[-1:], _NO_CUE_AFTER) and doc.breaks[k] == NONE:
        return None
    heading = doc.breaks[k] >= LINE or _FURNITURE.issuperset(preceding)
    position, firm = _link(doc, k + width, heading=heading)
    if position is None or position >= len(doc):
        return None
    if not firm and has_any(preceding, _DENIALS):
        return None  # "it is not answer A"
    # "option" alone is no cue: "the best option is", "Option: B"
    announced = has_any(preceding, words.CHOICE_ADJECTIVES) or (firm and len(preceding) <= 2)
    if kind == "choice" and not announced:
        return None
    return Cue(k, position, doc.sentence_end(position), firm)


def _words_before(doc: Doc, k: int) -> list[str]:
    """The words before token k in its clause, at most four, and none of "on second thought"."""
    start = k
    while start > 0 and k - start < 4 and doc.breaks[start] == NONE and doc.forms[start - 1] not in _THOUGHTS:
        start -= 1
    return doc.forms[start:k]


def _link(doc: Doc, begin: int, *, heading: bool) -> tuple[int | None, bool]:
    """Where the claim begins, and whether a colon or the like says so; `begin` is behind the cue's words."""
    for p in range(begin, min(begin + _REACH, len(doc))):
        form, strength = doc.forms[p], doc.breaks[p]
        if _LINKS.search(doc.gap(p)):
            # an arrow may be the link itself, and is then no part of the claim
            return (p + 1 if strength <= NONE and form in _ARROWS else p), True
        if form in _ARROWS and p + 1 < len(doc):
            return p + 1, True
        if strength >= SENTENCE:
            # a heading of its own line: "## Answer", "**Final answer**"
            own_line = heading and p == begin and strength >= LINE
            return (p if own_line else None), own_line
        if p == begin and (strength == CLAUSE or _capital(doc, p)):
            # "Answer (C)", "Answer B"
            return (p if strength == NONE or "(" in doc.gap(p) else None), False
        if strength == CLAUSE or form in _BREAKS_OFF:
            return None, False
        if p == begin and strength == COMMA and form in words.REASONS:
            return None, False
        if form in words.COPULA:
            return _after_copula(doc, begin, p)
    return None, False


def _after_copula(doc: Doc, begin: int, p: int) -> tuple[int, bool]:
    """Where the claim behind "is" at token p begins: with the negation of "is not B", which turns B down."""
    position = next((q for q in range(begin, p + 1) if doc.forms[q] in words.NOT_LEFT), p + 1)
    return position, position < len(doc) and position > p and doc.breaks[position] > NONE and ":" in doc.gap(
        position
    )


def _capital(doc: Doc, p: int) -> bool:
    """True for a letter that ends its clause: "Answer B", "answer c"."""
    token = doc.tokens[p]
    text = doc.text[token.start : token.end]
    if token.kind != "w" or len(text) > 2 or (len(text) == 2 and not text.isupper()):
        return False
    is_letter = text.isupper() or text in _SMALL_LABELS
    return doc.ends(p + 1) or (is_letter and doc.forms[p + 1] in after_label())


def _boxes(doc: Doc) -> list[Cue]:
    boxes: list[Cue] = []
    end = 0
    closings: dict[int, int] | None = None
    for match in _BOXED.finditer(doc.text):
        if match.start() < end:
            continue
        if closings is None:
            closings = closing_braces(doc.text)
        end = _box_end(doc.text, match.end(), closings)
        i, j = doc.at(match.end()), doc.at(end)
        if i < j:
            boxes.append(Cue(doc.at(match.start()), i, j, True, True))
    return boxes


def _box_end(text: str, start: int, closings: Mapping[int, int]) -> int:
    """Where the brace opened before `start` closes; an unclosed one ends with its line."""
    end = closings.get(start - 1, len(text))
    if end < min(len(text), start + _BOX_LIMIT):
        return end
    line = text.find("\n", start, start + _BOX_LIMIT)
    return line if line >= 0 else min(len(text), start + _BOX_LIMIT)
