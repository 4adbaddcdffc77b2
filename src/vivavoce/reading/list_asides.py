"""What a list says besides its entries: reasons that name options, and what is only said of others."""

from collections.abc import Sequence

from vivavoce.language.tokens import NONE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.labels import joining, right_words
from vivavoce.reading.options import Mention, Options

LONGEST_ASIDE = 12
"""Words that name the options of an aside."""
# "B is another sign" adds B
_ONE_MORE = (
    *("another", "the ", "otr", "outr", "ein weiter", "eine weiter", "une autre", "un autre"),
    *("un altr", "una altr"),
)


def goes_on(doc: Doc, options: Options, joined: frozenset[str], k: int) -> bool:
    """True if token k joins or names a further option."""
    return doc.forms[k] in joined or doc.surface(k, k + 1) in options.labels


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
