"""The layers of the semantic score: words aligned by weight, sentence, paragraph; and their scale.

Cosines are of encoder vectors. `Side` holds what one text gives to compare; `texts` lists what must be
embedded, so that a batch takes one pass for each distinct text. The references of a benchmark say how rare
each word is and how alike two unrelated texts are.
"""

import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file
from vivavoce.core.numbers import finite
from vivavoce.core.records import Item
from vivavoce.embeddings.encoder import Embedder
from vivavoce.embeddings.similarity import aligned_f1, cosine
from vivavoce.systems.cliniqlink.semantic.rules import OFFSET, WEIGHTS, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


_NO_WORD = re.compile(r"\W|_")
_TERM = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?")
_ENDS = " \t\r\n.,;:!?*_\"'“”‘’…"


class Side(NamedTuple):
    """A text as the layers compare it: its terms, what remains without stop words, and the paragraph."""

    terms: tuple[str, ...]
    content: str
    full_text: str


class Layers(NamedTuple):
    """Similarity by layer, their weighted sum, and the score on the book's scale.

    `token` and the score run from 0 to 1, `sentence` is a cosine, `paragraph` one above the baseline.
    """

    token: float
    sentence: float
    paragraph: float
    raw: float
    offset: float
    score: float
    snapped: bool


def side(text: str, rules: Rules, tokens: Callable[[str], Sequence[str]]) -> Side:
    """What a text gives to compare under these rules; `tokens` splits into WordPieces."""
    if rules.finished:
        text = " ".join(text.lower().split()).strip(_ENDS)
    words = [word for word in text.split() if not _left_out(word, rules)]
    if rules.only_stop_words == "all":
        words = words or text.split()
    content = " ".join(words)
    terms = _head_pieces(content, tokens) if rules.terms == "heads" else _content_terms(text, rules)
    return Side(terms, content, text if rules.paragraph == "whole" else content)


def _head_pieces(content: str, tokens: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """The WordPieces that begin a word."""
    return tuple(piece for piece in tokens(content) if piece.isalnum())


def _content_terms(text: str, rules: Rules) -> tuple[str, ...]:
    """The words and numbers of a text without its stop words, or all where it has nothing else."""
    candidates = tuple(term.replace("’", "'") for term in _TERM.findall(text))
    terms = tuple(term for term in candidates if term not in rules.stop_words)
    if rules.only_stop_words == "all":
        return terms or candidates
    return terms


def _left_out(word: str, rules: Rules) -> bool:
    bare = word.strip(_ENDS) if rules.finished else word
    return bare.lower() in rules.stop_words or not _NO_WORD.sub("", word)


def texts(*sides: Side) -> set[str]:
    """What must be embedded to compare these."""
    return {text for side in sides for text in (*side.terms, side.content, side.full_text)}


def layers(
    gold: Side,
    response: Side,
    vectors: Mapping[str, "Vector"],
    weight: Callable[[str], float],
    *,
    baseline: float,
    rules: Rules,
) -> Layers:
    """The layers between reference and answer, and the score.

    Without a term on one side the token layer is 0. On a scale that runs to 1 every layer is held between 0
    and 1, and two texts that are the same in every respect compared have exactly 1.
    """
    token = aligned_f1(gold.terms, response.terms, vectors, weight)
    sentence = cosine(vectors[gold.content], vectors[response.content])
    paragraph = cosine(vectors[gold.full_text], vectors[response.full_text])
    paragraph = max(0.0, (paragraph - baseline) / (1 - baseline))
    if rules.rescaled:
        token, sentence, paragraph = (min(max(x, 0.0), 1.0) for x in (token, sentence, paragraph))
    raw = sum(w * x for w, x in zip(WEIGHTS, (token, sentence, paragraph), strict=True))
    if rules.rescaled and _identical(gold, response):
        token = sentence = paragraph = raw = 1.0  # and not 0.9999999, where only rounding tells them apart
    offset = max(0.0, raw - OFFSET)
    score = offset / (1 - OFFSET) if rules.rescaled else offset
    snapped = rules.snap is not None and score >= rules.snap
    return Layers(token, sentence, paragraph, raw, offset, 1.0 if snapped else min(score, 1.0), snapped)


def _identical(gold: Side, response: Side) -> bool:
    """Whether two texts are the same in all that is compared, and there is a text."""
    return gold == response and bool(gold.full_text)


FIXED, FEWEST = 0.3, 100
"""The baseline of a corpus with fewer documents than that, in both books."""
OPEN = ("short", "short_inverse", "multi_hop", "multi_hop_inverse")
"""The formats whose answers are compared by what they mean."""


@dataclass(frozen=True, slots=True)
class Rarity:
    """The weight of each term of a corpus, and of one that it has not."""

    table: Mapping[str, float]
    unseen: float

    def __call__(self, term: str) -> float:
        """The weight of a term."""
        return self.table.get(term, self.unseen)


def documents(items: Iterable[Item], rules: Rules) -> tuple[str, ...]:
    """The texts of an exam that rarity is counted in; what was made from its items is left out.

    `answers`: what the published files have in the field `answer` of each item. `references`: each text that
    is a reference of an open question, once. Sorted, so that the order of items tells nothing.
    """
    exam = [item for item in items if item.origin is None]
    if rules.corpus == "answers":
        return tuple(sorted(text for item in exam if (text := _answer(item)) is not None))
    return tuple(sorted({text for item in exam if item.format in OPEN for text in item.references}))


def _answer(item: Item) -> str | None:
    if item.format in ("true_false", "list"):
        return " ".join(item.answer)
    if item.format in ("short_inverse", "multi_hop_inverse"):
        return item.false_answer or ""
    return item.references[0] if item.format in ("short", "multi_hop") and item.references else None


def digest(corpus: Sequence[str]) -> str:
    """First 8 hex digits of SHA-256 over the documents."""
    return hashlib.sha256(json.dumps(corpus, ensure_ascii=True).encode()).hexdigest()[:8]


def rarity(corpus: Sequence[str], terms: Callable[[str], Iterable[str]], rules: Rules) -> Rarity:
    """ln((N + 1) / (df + 1)) + 1 for each term; one without a document weighs 1, or as if df were 0."""
    counts = Counter(term for text in corpus for term in set(terms(text)))
    n = len(corpus)
    table = {term: math.log((n + 1) / (df + 1)) + 1 for term, df in sorted(counts.items())}
    return Rarity(table, math.log(n + 1) + 1 if rules.unseen == "highest" else 1.0)


def read_rarity(path: Path, rules: Rules) -> Rarity:
    """Weights from a JSON file: an object of terms and their weights, alone or as `idf_table`.

    Raises `InputError` for anything else.
    """
    content = read_json_file(path)
    table = content.get("idf_table", content) if isinstance(content, dict) else None
    if not table or not _are_weights(table):
        raise InputError(
            f"{path} is no table of weights: a JSON object of terms and numbers above 0 is needed, alone or "
            "under the key idf_table."
        )
    weights = {str(term): float(weight) for term, weight in table.items()}
    return Rarity(weights, max(weights.values()) if rules.unseen == "highest" else 1.0)


def _are_weights(table: Any) -> bool:
    """Whether this is an object of numbers above 0."""
    return isinstance(table, dict) and all(
        (weight := finite(w)) is not None and weight > 0 for w in table.values()
    )


def alike(corpus: Sequence[str], embed: Embedder, rules: Rules) -> float:
    """The mean cosine of pairs of documents: the baseline of the paragraph layer. 0.3 below 100 documents.

    The pairs are drawn by a hash of their texts, so they are the same in every run and on every machine.
    """
    texts = sorted(set(corpus))
    if len(corpus) < FEWEST or len(texts) < 2:
        return FIXED
    chosen = _pairs(texts, rules.pairs)
    needed = sorted({text for pair in chosen for text in pair})
    vectors = dict(zip(needed, embed(needed).astype("float64"), strict=True))
    return float(sum(vectors[a] @ vectors[b] for a, b in chosen) / len(chosen))


def _pairs(texts: Sequence[str], n_pairs: int) -> list[tuple[str, str]]:
    """So many pairs of different texts, or all: neighbours in rings, each ring in another order of hashes."""
    n = len(texts)
    if n * (n - 1) // 2 <= n_pairs:
        return list(itertools.combinations(texts, 2))
    pairs: dict[tuple[str, str], None] = {}
    for ring in itertools.count():
        order = sorted(texts, key=lambda text: hashlib.sha256(f"{ring}|{text}".encode()).digest())
        for a, b in itertools.pairwise(order):
            pairs[min(a, b), max(a, b)] = None
            if len(pairs) == n_pairs:
                return list(pairs)
    raise AssertionError
