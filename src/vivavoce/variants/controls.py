"""The texts of control cases: pure functions of an answer and of the ids of its item, never of its place.

Each gives an `Edited`, or a sentence's worth of reason why nothing could be made.
"""

import hashlib
import json
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line
from vivavoce.core.yaml_files import read_mapping
from vivavoce.language.sentences import sentence_starts
from vivavoce.variants.control_kinds import STRATA, Stratum

if TYPE_CHECKING:
    from vivavoce.retrieval.index import Passage

    Search = Callable[[str, int], Sequence[Passage]]

T = TypeVar("T")
FILE = Path(__file__).with_name("control_sentences.yaml")
CHUNK, BEST, DOCUMENTS, HITS = 300, 3, 5, 20
"""Characters of a piece of a passage; pieces that are joined; documents and passages they are taken from."""
FARTHEST_SWAP = 500
"""Places on the ring that are tried for a case whose neighbour gives the same answer: all may be alike."""


class Edited(NamedTuple):
    """The text of a control, and in a few words what was changed."""

    text: str
    change: str


class Draw(NamedTuple):
    """What is drawn for an item: it follows from its ids and the seed alone."""

    ids: tuple[str, ...]
    seed: int = 0

    def number(self, purpose: str) -> int:
        """A number of 64 bits for a purpose."""
        text = json.dumps([*self.ids, purpose, self.seed])
        return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")

    def choice(self, purpose: str, among: Sequence[T]) -> T:
        """One of several."""
        return among[self.number(purpose) % len(among)]

    def order(self, purpose: str, among: Sequence[T]) -> list[T]:
        """All of them in an order of this purpose."""
        return [among[k] for k in sorted(range(len(among)), key=lambda k: self.number(f"{purpose} {k}"))]


@cache
def sentences(kind: str) -> Any:
    """What the shipped file has for a kind."""
    return read_mapping(FILE, "control_sentences", InputError)[kind]


def off_topic(text: str, draw: Draw) -> Edited:
    """Sentences about something that is not medicine, together about as long as the text."""
    chosen = _of_length("off_topic", len(text), draw)
    return Edited(" ".join(chosen), f"replaced by {len(chosen)} sentences about something else")


def padded(text: str, draw: Draw) -> Edited:
    """The text with sentences behind it that say nothing, together about as long as the text."""
    chosen = _of_length("padded", len(text), draw)
    return Edited(f"{text}\n\n{' '.join(chosen)}", f"added {len(chosen)} sentences that say nothing")


def _of_length(kind: str, characters: int, draw: Draw) -> list[str]:
    """Drawn sentences, at least one, of about so many characters; the file begins anew where it is short."""
    chosen: list[str] = []
    length = turn = 0
    while True:
        for sentence in draw.order(f"{kind} {turn}", sentences(kind)):
            if chosen and length + len(sentence) / 2 > characters:
                return chosen
            chosen.append(sentence)
            length += len(sentence) + 1
        turn += 1


def confident(text: str, draw: Draw) -> Edited:
    """The text between two claims of certainty."""
    around = draw.choice("confident", sentences("confident"))
    return Edited(
        f"{around['before']}\n\n{text}\n\n{around['after']}",
        f'added "{around["before"]}" and "{around["after"]}"',
    )


def praise(text: str, draw: Draw) -> Edited:
    """The text with praise of itself behind it."""
    sentence = draw.choice("praise", sentences("praise"))
    return Edited(f"{text}\n\n{sentence}", f'added "{sentence}"')


def injection(text: str, stratum: Stratum) -> Edited:
    """The text with an order to the examiner behind it, of this form and in this language."""
    order = sentences("injection")[stratum.form][stratum.language]
    return Edited(f"{text}\n\n{order}", f"added an order to the examiner: {stratum.words}")


def strata_of(items: Collection[str], n: int, draw: Draw) -> dict[str, list[int]]:
    """For each item the numbers of the strata it gets, from 1: `n` different ones.

    The items stand in an order drawn by their names, and the strata in another; each item gets the next ones,
    so that each stratum is in as many items as any other, or in one more.
    """
    ring = sorted(items, key=lambda item: (Draw((*draw.ids, item), draw.seed).number("injection"), item))
    order = draw.order("strata", range(1, len(STRATA) + 1))
    return {item: [order[(k * n + j) % len(order)] for j in range(n)] for k, item in enumerate(ring)}


def label(kind: str, options: Sequence[str], right: str, draw: Draw) -> Edited:
    """The number, from 1, or the text of the right or of a drawn wrong option, and nothing else."""
    _, form, side = kind.split("_")
    # of the texts in their order: how the options are listed does not change which one is drawn
    option = right if side == "right" else draw.choice("wrong option", sorted(set(options) - {right}))
    named = str(options.index(option) + 1) if form == "number" else option
    end = "" if named.endswith((".", "?", "!")) else "."
    subject = "number" if form == "number" else "text"
    return Edited(f"The correct answer is {named}{end}", f"replaced by the {subject} of a {side} option")


def passages(question: str, search: "Search") -> Edited | str:
    """The best pieces of the documents that a search brings for a question, one a line.

    The first `HITS` passages of at most `DOCUMENTS` documents are cut into pieces of `CHUNK` characters.
    These are put in order by the weight of the question's terms in them (inverse document frequency among
    the pieces, ties as they stand). Where the question brings nothing its sentences are searched, the last
    first: few passages hold a fair share of the words of a long case.
    """
    starts = sentence_starts(question)
    ends = [*starts[1:], len(question)]
    queries = [question, *(question[a:b] for a, b in reversed(list(zip(starts, ends, strict=True))))]
    hits = next(filter(None, (search(query, HITS) for query in queries)), ())
    files = list(dict.fromkeys(hit.file for hit in hits))[:DOCUMENTS]
    cut = (textwrap.wrap(hit.text, CHUNK, break_on_hyphens=False) for hit in hits if hit.file in files)
    pieces = list(dict.fromkeys(chain.from_iterable(cut)))
    if not pieces:
        return "the source holds no passage near its question"
    best = _nearest(question, pieces)[:BEST]
    return Edited("\n".join(best), f"replaced by {len(best)} pieces of {one_line(', '.join(files), 160)}")


def _nearest(question: str, pieces: Sequence[str]) -> list[str]:
    """The pieces by the weight of the question's terms in them, highest first, ties as they stand."""
    from vivavoce.retrieval.terms import terms

    question_terms = set(terms(question))
    shared = [question_terms & set(terms(piece)) for piece in pieces]
    n_holding = Counter(chain.from_iterable(shared))
    weights = {term: math.log(1 + (len(pieces) - n + 0.5) / (n + 0.5)) for term, n in n_holding.items()}
    # fsum: a set has no order, and the sum may not depend on one
    order = sorted(range(len(pieces)), key=lambda k: -math.fsum(weights[term] for term in shared[k]))
    return [pieces[k] for k in order]


def donors(texts: Mapping[str, frozenset[str]], step: int, seed: int) -> dict[str, str | None]:
    """For each group the group whose answer it gets: another one, no two of them the same.

    `texts` are the answers to each group as `same_text` compares them. The groups stand on a ring, in an
    order drawn by their ids and the seed; each gets the answer of the group `step` places on. A group that
    came or went changes `step` neighbours. Two groups swap where one would get an answer that it has itself;
    null where none is left to swap with, or where the step leads back to the group.
    """
    ring = sorted(texts, key=lambda group: (Draw((group,), seed).number("noise"), group))
    n = len(ring)
    donor = [(k + step) % n for k in range(n)]

    def fits(k: int, d: int) -> bool:
        return d != k and not texts[ring[k]] & texts[ring[d]]

    if step % n:  # else each would have its own, and swaps would make a draw that was made before
        _swap_unfit(donor, fits)
    return {ring[k]: ring[d] if fits(k, d) else None for k, d in enumerate(donor)}


def _swap_unfit(donor: list[int], fits: Callable[[int, int], bool]) -> None:
    """Swap the donors of two places where one does not fit its own, and both fit after it."""
    n = len(donor)
    for k in range(n):
        if not fits(k, donor[k]):
            others = ((k + far) % n for far in range(1, min(n, FARTHEST_SWAP)))
            swap = next((j for j in others if fits(k, donor[j]) and fits(j, donor[k])), k)
            donor[k], donor[swap] = donor[swap], donor[k]


def same_text(text: str) -> str:
    """A text as it is compared with another: without case, and with single blanks."""
    return " ".join(text.split()).casefold()
