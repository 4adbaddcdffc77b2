"""Questions that are nearly the same: they say the same words in the same order, and ask in other ones.

Two questions are near repeats if question, context and options are equal but for case, punctuation, British
or American spelling, words that say nothing ("the", "is", "please") and words that ask alike ("what is",
"describe"). All other words are equal, so another number, unit, negation or drug makes another question, as
does a word more or less or another order. So a question put in other words is none. What says nothing is
known in English alone: in other languages there are no near repeats.

Each text is read once and grouped by what it says, so time is linear in the words.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.cases import CaseCount, NearDuplicates, count_items
from vivavoce.core.item_content import content_text, exhibit_of, media_of
from vivavoce.core.records import Item
from vivavoce.core.repeats import Hashes
from vivavoce.language.words import one_spelling

MOST_QUESTIONS = 50_000
"""More questions are not searched: a vignette of 120 words takes 0.1 ms."""
_LIGHT_WORDS = """
the an is are be this that these those
please kindly briefly answer tell
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that say nothing. "A" is none: it names a hepatitis and a vitamin."""
_ASKS = frozenset(
    ("what", "which", "define", "describe", "discuss", "explain", "outline", "summarise", "summarize")
)
"""Words that ask alike: "Describe the role" and "What is the role"; but "Are drugs" is not "Which drugs"."""


class Wording(NamedTuple):
    """What an item says in words; `exhibit`, such as a wrong step, and `media` must be equal."""

    question: str
    context: str = ""
    options: tuple[str, ...] = ()
    exhibit: tuple[str, ...] = ()
    media: str = ""

    @property
    def contents(self) -> tuple[str, str, tuple[str, ...]]:
        """Question, context and options, whatever their order, without case and punctuation."""
        options = tuple(sorted(map(content_text, self.options)))
        return content_text(self.question), content_text(self.context), options


def near_items(items: Sequence[Item]) -> list[tuple[int, int]] | None:
    """Pairs of positions of near repeats among items; null for more than `MOST_QUESTIONS`.

    What was made of an item in a run says nothing of its own, nor does a later turn of a conversation.
    """
    return near_repeats([_wording(item) for item in items]) if len(items) <= MOST_QUESTIONS else None


def count_with_near(
    items: Sequence[Item], rule: NearDuplicates, level_names: Sequence[str] = ()
) -> CaseCount:
    """The cases of the items of one benchmark, with near repeats counted or joined."""
    texts = array("q")  # of each item, as what it says is made once for both
    pairs = near_repeats([_wording(item) for item in items], texts) if len(items) <= MOST_QUESTIONS else None
    return count_items(
        items, pairs, texts if pairs is not None else None, join_near=rule == "join", level_names=level_names
    )


def _wording(item: Item) -> Wording | None:
    if item.origin is not None or item.follows is not None:
        return None
    exhibit = exhibit_of(item.false_answer, item.steps, item.step)
    return wording_of(item.question, item.options, item.context, exhibit=exhibit, meta=item.meta)


def wording_of(
    question: str,
    options: Sequence[str],
    context: str | None,
    *,
    exhibit: Sequence[str] = (),
    meta: Mapping[str, Any] = {},
) -> Wording:
    """The wording of an item, from what `core.item_content.content_of` makes its content of."""
    media = json.dumps(media_of(meta), default=str)
    return Wording(question, context or "", tuple(options), tuple(map(content_text, exhibit)), media)


def near_repeats(wordings: Sequence[Wording | None], texts: Hashes | None = None) -> list[tuple[int, int]]:
    """Pairs of places of near repeats, sorted: the first of those that say the same, with each later one.

    Empty for fewer than two wordings, and for those without words; null repeats nothing. Wordings of equal
    content are no pair: of these the first stands for all. Time is linear in the words. The hash of each
    one's text is appended to `texts`, equal for equal ones.
    """
    texts = array("q") if texts is None else texts
    alike: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    for place, wording in enumerate(wordings):
        if wording is None:
            texts.append(hash(None))
            continue
        contents, media = wording.contents, wording.media
        texts.append(hash((contents, media) if any(contents[:2]) else None))
        alike[hash((wording.exhibit, media, _saying(contents)))].setdefault(hash(contents), place)
    groups = (list(places.values()) for places in alike.values() if len(places) > 1)
    return sorted(
        (first, place)
        for first, *later in groups
        if _are_english(wordings, [first, *later])
        for place in later
    )


def _are_english(wordings: Sequence[Wording | None], places: Sequence[int]) -> bool:
    """Whether these wordings together are in English."""
    from vivavoce.language.languages import text_language  # not where no questions look alike

    language = text_language(" ".join(wording[:2]) for n in places if (wording := wordings[n])).language
    return language is not None and language.code == "en"


def _saying(contents: tuple[str, str, tuple[str, ...]]) -> Hashable:
    """What question, context and options say, in words of one spelling, the options in one order."""
    question, context, options = contents
    return _words(question), _words(context), tuple(sorted(map(_words, options)))


def _words(content: str) -> tuple[str, ...]:
    """The words that say something, in one spelling, without a repeat of those that ask; all if none does."""
    words = content.split()
    terms = ["which" if word in _ASKS else one_spelling(word) for word in words if word not in _LIGHT]
    if terms.count("which") > 1:
        pairs = zip(terms, ["", *terms], strict=False)
        terms = [term for term, last in pairs if (term, last) != ("which", "which")]
    return tuple(terms or words)
