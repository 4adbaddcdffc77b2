"""What lists say besides entries: reasons that name options, what is said of others, letters in a row."""

from bisect import bisect_left
from collections.abc import Sequence

from vivavoce.language.tokens import NONE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.labels import joining, right_words, turning_words
from vivavoce.reading.options import Mention, Options

LONGEST_ASIDE = 12
"""Words that name the options of an aside."""
_TURNS_DOWN = words.NOT_LEFT | {"rather", "instead", "of", "but", "opposed", "to", "the"}
# "B is another sign" adds B
_ONE_MORE = (
    *("another", "the ", "otr", "outr", "ein weiter", "eine weiter", "une autre", "un autre"),
    *("un altr", "una altr"),
)


def goes_on(doc: Doc, options: Options, joined: frozenset[str], k: int) -> bool:
    """True if token k joins or names a further option."""
    return doc.forms[k] in joined or doc.surface(k, k + 1) in options.labels


def is_aside(doc: Doc, options: Options, mention: Mention) -> bool:
    """True for the options of a sentence in brackets: "A, B (C and D are benign)"."""
    opening = next((k for k in range(mention.i, max(0, mention.i - 8), -1) if "(" in doc.gap(k)), None)
    if opening is None or any(")" in doc.gap(k) for k in range(opening + 1, mention.j)):
        return False
    joined, last = joining(), min(len(doc), mention.j + LONGEST_ASIDE)
    end = next((k for k in range(mention.j, last) if not goes_on(doc, options, joined, k)), len(doc))
    return end < len(doc) and doc.breaks[end] == NONE and doc.forms[end] in words.PREDICATE


def heads_reason(doc: Doc, options: Options, mention: Mention, first: int) -> bool:
    """True for a mention in a row of options between "because" and what is said of them, behind `first`."""
    joined, k = joining(), mention.i - 1
    while k > first and doc.forms[k] not in words.REASONS and goes_on(doc, options, joined, k):
        k -= 1
    if k <= first or doc.forms[k] not in words.REASONS:
        return False
    limit = min(len(doc), mention.j + LONGEST_ASIDE)
    end = next((n for n in range(mention.j, limit) if not goes_on(doc, options, joined, n)), len(doc))
    return end < len(doc) and doc.breaks[end] == NONE


def says_no_more(doc: Doc, mentions: Sequence[Mention], a: int, b: int) -> bool:
    """True if tokens a to b-1 begin with options and neither add them nor call them right."""
    covered = {k for mention in mentions for k in range(mention.i, mention.j)}
    end = next((k for k in range(a, b) if k not in covered and doc.forms[k] not in joining()), b)
    if not a < end < b or doc.breaks[end] > NONE or doc.forms[end] not in words.PREDICATE:
        return False
    return not _adds(doc.forms[end:b])


def _adds(clause: Sequence[str]) -> bool:
    """True for what is said of further options and counts them in: "is also one", "is right"."""
    if has_any(clause, words.ADDS | words.AS_WELL) or " ".join(clause[1:3]).startswith(_ONE_MORE):
        return True
    return "would" not in clause and has_any(clause, words.CHOSEN_RIGHT | right_words())


def turn_in(doc: Doc, i: int, j: int, rejected: Sequence[int]) -> int:
    """Where the entry of tokens i to j-1 turns another option down: "A rather than B", "A without B"."""
    for k in rejected[bisect_left(rejected, i) : bisect_left(rejected, j + 1)]:
        turn = k
        while turn > i and doc.forms[turn - 1] in _TURNS_DOWN:
            turn -= 1
        if turn < k:
            return turn
    return j


def turns_others_down(doc: Doc, i: int, j: int) -> bool:
    """True for "les autres sont fausses", "las demás no"."""
    clause = doc.forms[i:j]
    if not has_any(clause, words.OTHERS):
        return False
    return has_any(clause, words.NOT_RIGHT) or has_any(clause, turning_words())


def brackets_behind(depth: int, gap: str) -> int:
    """How many brackets are open behind a gap, if `depth` were before it."""
    opened, closed = gap.count("(") + gap.count("["), gap.count(")") + gap.count("]")
    # A bracket that only closes, as in "a)", must not hide a later one that opens.
    return max(0, depth + opened - closed)


def run_of_letters(options: Options, text: str) -> tuple[int, ...]:
    """The letters of "ACD", three: each a label, each once; small letters only in order."""
    labels = [options.labels.get(letter.upper()) for letter in text]
    names = tuple(name for name in labels if name is not None)
    if not text.isalpha() or not len(names) == len(labels) == len(set(names)) > 1:
        return ()
    return names if text.isupper() or (text.islower() and list(names) == sorted(names)) else ()
