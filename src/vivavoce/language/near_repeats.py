"""Questions that are nearly the same: the same words but for a few, with equal numbers, units and denials.

Two questions are near repeats if in question, context and options alike

- the words that say something (stems, without articles, auxiliaries and "describe") have a Jaccard similarity
  of 0.8 or more, and half of the pairs of such words that follow each other (shingles) are the same;
- no word stands in the place of another in a text of fewer than 20 such words ("asthma" for "malaria"): words
  may only be added; and no word that turns a question ("except", "after", "left") is added or replaced;
- numbers with their units are equal, as are the number of negations and what each of them denies.

So a question put in quite other words is none, and where the words of a language are not known, as of all but
English, only their order may differ. Pairs are found by a prefix filter: two sets with a similarity of 0.8
share one of their rarest words (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
"""

import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from math import ceil
from typing import Any, NamedTuple

from vivavoce.core.cases import CaseCount, NearDuplicates, content_text, count_items, exhibit_of, media_of
from vivavoce.core.records import Item
from vivavoce.language.invariants import NEGATION, invariants
from vivavoce.language.stems import stem
from vivavoce.language.words import one_spelling

ALIKE, SAME_ORDER = 0.8, 0.5
LEAST_TO_REPLACE = 20
"""Words of two texts together from which on one may stand in the place of another."""
MOST_QUESTIONS = 50_000
"""Questions beyond which nobody looks: a short one takes 0.1 ms, a vignette 0.5."""
_LARGE = 500
"""Questions of one rare word that another is compared with at most, the latest of them."""
_SHARED = 4
"""Rare words that two long questions share at least, before all of their words are compared."""
_ENGLISH = 0.12
"""The least share of words of `_LIGHT` in an English text."""
_LIGHT_WORDS = """
a an and any are as at be been being best briefly by can cannot could define describe did discuss do does
explain for following from give had has have he her here him his i in is it its kindly likely list main me
most my name neither never no none not of on or our outline please she should state summarise summarize tell
that the their them there these they this those to us was we were what which will with without would you your
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
"""Words that two wordings of one question may differ in; negations are compared by themselves."""
_TURNING_WORDS = """
above acute adult after avoid before below benign bilateral child chronic contraindicated decrease
decreased down either except excluding failure false fewer first high higher incorrect increase increased
last least left less low lower malignant more negative nor normal off only over positive prevent right second
stop start true under unilateral unlikely until up upper worst wrong
"""
_TURNS = frozenset(_TURNING_WORDS.split())
"""Words without which a question is another one."""
_SCOPE_END = re.compile(r"[.,;:?!()]|\b(?:but|and|or|with|which|what)\b", re.IGNORECASE)
_SCOPE = 3
"""Words behind a negation of which two wordings share one."""


class Wording(NamedTuple):
    """What an item says in words; `exhibit` is what must be equal, such as a wrong step or images."""

    question: str
    context: str = ""
    options: tuple[str, ...] = ()
    exhibit: Hashable = None

    @property
    def contents(self) -> list[list[str]]:
        """The words of question, context and each option, numbers and signs among them."""
        texts = (self.question, self.context, *sorted(self.options))
        return [content_text(text).split() for text in texts]

    @property
    def texts(self) -> tuple[str, str]:
        """What is asked, and the options, whatever their order."""
        return f"{self.context}\n{self.question}", "\n".join(sorted(self.options))


def near_items(items: Sequence[Item]) -> list[tuple[int, int]] | None:
    """Pairs of positions of near repeats among items; null for more than `MOST_QUESTIONS`.

    What was made of an item in a run says nothing of its own, nor does a later turn of a conversation.
    """
    return near_repeats([_wording(item) for item in items]) if len(items) <= MOST_QUESTIONS else None


def count_with_near(items: Sequence[Item], rule: NearDuplicates) -> CaseCount:
    """The cases of the items of one benchmark, with near repeats counted or joined."""
    return count_items(items, near_items(items), join_near=rule == "join")


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
    """The wording of an item, from what `core.cases.content_of` makes its content of."""
    shown_beside = (*map(content_text, exhibit), json.dumps(media_of(meta), default=str))
    return Wording(question, context or "", tuple(options), shown_beside)


def near_repeats(wordings: Sequence[Wording | None]) -> list[tuple[int, int]]:
    """Pairs of places of near repeats, the earlier first, sorted; wordings of equal content are no pair.

    Empty for fewer than two wordings, and for those without words; null repeats nothing. Of several of equal
    content the first stands for all. Time grows with the words, and with the pairs that share rare words, of
    which 500 at most are looked at for each of these.
    """
    present = {place: wording for place, wording in enumerate(wordings) if wording is not None}
    numbers: dict[tuple[int, str], int] = {}
    words_of: dict[int, array[int]] = {}
    blocks: dict[Hashable, list[int]] = defaultdict(list)
    for place, contents in _distinct(present):
        blocks[present[place].exhibit, len(contents), _signs(contents)].append(place)
        words_of[place] = array("L", (numbers.setdefault(word, len(numbers)) for word in _tagged(contents)))
    _rank_by_rarity(words_of, numbers)
    pairs = (pair for block in blocks.values() for pair in _similar(block, words_of))
    return sorted(pair for pair in pairs if _are_near(*(present[place] for place in pair)))


def _distinct(wordings: Mapping[int, Wording]) -> Iterator[tuple[int, list[list[str]]]]:
    """The place and the words of the first wording of each content."""
    contents_seen: set[int] = set()
    for place, wording in wordings.items():
        contents = wording.contents
        options = tuple(sorted(map(tuple, contents[2:])))
        content = hash((wording.exhibit, *map(tuple, contents[:2]), options))
        if content not in contents_seen:
            contents_seen.add(content)
            yield place, contents


def _signs(contents: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """All numbers and signs, in one order."""
    return tuple(sorted(word for words in contents for word in words if not word.isalpha()))


def _tagged(contents: Sequence[Sequence[str]]) -> set[tuple[int, str]]:
    """Each word with the part that it is of: question, context or options."""
    return {(part, word) for part, words in enumerate(_parts(contents)) for word in words}


def _parts(contents: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The words of question, context and all options, in their order, that say something."""
    options = [word for words in contents[2:] for word in words]
    return tuple(tuple(map(_term, _bare(words))) for words in (*contents[:2], options))


def _bare(words: Sequence[str]) -> list[str]:
    """The words that say something; all where none does, as in "Which of these?"."""
    return [word for word in words if word not in _LIGHT] or list(words)


@lru_cache(maxsize=1 << 16)
def _term(word: str) -> str:
    return word if word in _TURNS or not word.isascii() else stem(one_spelling(word))


def _rank_by_rarity(words_of: dict[int, "array[int]"], numbers: Mapping[tuple[int, str], int]) -> None:
    """Number words anew, the rarest first, and sort those of each wording."""
    frequency = Counter(chain.from_iterable(words_of.values()))
    in_order = sorted(numbers, key=lambda word: (frequency[numbers[word]], word))
    rank = array("L", bytes(array("L").itemsize * len(numbers)))
    for n, word in enumerate(in_order):
        rank[numbers[word]] = n
    for words in words_of.values():
        words[:] = array("L", sorted(rank[word] for word in words))


def _similar(block: Sequence[int], words_of: Mapping[int, "array[int]"]) -> Iterator[tuple[int, int]]:
    """Pairs of a block of which nearly all words are the same; words stand as numbers, the rarest first."""
    holders: dict[int, list[int]] = defaultdict(list)
    least: dict[int, int] = {}
    for place in sorted(block, key=lambda place: (len(words_of[place]), place)):
        words = words_of[place]
        same = ceil(ALIKE * len(words))  # words that a near repeat of this size or more shares at least
        least[place] = min(_SHARED, max(1, same // 2))
        prefix = words[: len(words) - same + least[place]]
        shared = Counter(chain.from_iterable(holders[word][-_LARGE:] for word in prefix))
        for word in prefix:
            holders[word].append(place)
        for earlier, n in shared.items():
            likely = n >= min(least[earlier], least[place]) and len(words_of[earlier]) >= ALIKE * len(words)
            if likely and _jaccard(frozenset(words_of[earlier]), frozenset(words)) >= ALIKE:
                yield min(earlier, place), max(earlier, place)


def _are_near(first: Wording, second: Wording) -> bool:
    """Whether two wordings of which nearly all words are the same are near repeats."""
    contents = first.contents, second.contents
    english = all(_is_english([*words[0], *words[1]]) for words in contents)
    parts = zip(*map(_parts, contents), strict=True)
    alike = (_parts_alike(*pair, english=english, ordered=part < 2) for part, pair in enumerate(parts))
    return all(alike) and _agree(first.texts, second.texts)


def _is_english(words: Sequence[str]) -> bool:
    return sum(word in _LIGHT for word in words) >= _ENGLISH * len(words)


def _parts_alike(first: tuple[str, ...], second: tuple[str, ...], *, english: bool, ordered: bool) -> bool:
    a, b = frozenset(first), frozenset(second)
    if _jaccard(a, b) < ALIKE or (ordered and _jaccard(_shingles(first), _shingles(second)) < SAME_ORDER):
        return False
    return a == b or (english and _may_differ(a - b, b - a, len(a | b)))


def _may_differ(gone: frozenset[str], new: frozenset[str], n_words: int) -> bool:
    """Whether wordings of so many words in all are one question, though these words are in one of them."""
    if gone and new and n_words < LEAST_TO_REPLACE:
        return False
    return _TURNS.isdisjoint(gone | new) and not _are_opposed(gone, new)


def _are_opposed(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether a word is high in one and low in the other: hyperkalaemia and hypokalaemia."""
    ends = [{w.replace("hyper", "hypo") for w in words if "hyp" in w} for words in (first, second)]
    return not ends[0].isdisjoint(ends[1])


def _jaccard(first: frozenset[Hashable], second: frozenset[Hashable]) -> float:
    """The share of the members of both that are in each; 1 where both are empty."""
    shared = len(first & second)
    return shared / union if (union := len(first) + len(second) - shared) else 1.0


def _shingles(words: tuple[str, ...]) -> frozenset[Hashable]:
    return frozenset(pairwise(words)) or frozenset(words)


def _agree(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether numbers, units and negations of two wordings are the same, in what is asked and in options."""
    for text_a, text_b in zip(first, second, strict=True):
        old, new = invariants(text_a), invariants(text_b)
        if Counter(old.numbers) != Counter(new.numbers) or len(old.negations) != len(new.negations):
            return False
        if not all(a & b or a == b for a, b in zip(_denied(text_a), _denied(text_b), strict=True)):
            return False
    return True


def _denied(text: str) -> list[set[str]]:
    """For each negation the words that it denies: the first behind it, within its clause."""
    scopes = (_SCOPE_END.split(text[match.end() :], maxsplit=1)[0] for match in NEGATION.finditer(text))
    return [{_term(word) for word in _bare(content_text(scope).split())[:_SCOPE]} for scope in scopes]
