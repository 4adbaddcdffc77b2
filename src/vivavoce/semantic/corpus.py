"""What the references of an exam say about its words: how rare each is, and how alike two of them are."""

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vivavoce.errors import InputError
from vivavoce.records import Item
from vivavoce.semantic.encoder import Embeds
from vivavoce.semantic.rules import Rules
from vivavoce.text import one_line

__all__ = ["FEWEST", "FIXED", "OPEN", "Rarity", "alike", "digest", "documents", "rarity", "read_rarity"]

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
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON ({one_line(str(error), 100)}).") from None
    table = found.get("idf_table", found) if isinstance(found, dict) else None
    fits = isinstance(table, dict) and all(
        type(w) in (int, float) and math.isfinite(w) and w > 0 for w in table.values()
    )
    if not table or not fits:
        raise InputError(
            f"{path} is no table of weights: a JSON object of terms and numbers above 0 is needed, alone or "
            "under the key idf_table."
        )
    weights = {str(term): float(weight) for term, weight in table.items()}
    return Rarity(weights, max(weights.values()) if rules.unseen == "highest" else 1.0)


def alike(corpus: Sequence[str], embed: Embeds, rules: Rules) -> float:
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


def _pairs(texts: Sequence[str], wanted: int) -> list[tuple[str, str]]:
    """So many pairs of different texts, or all: neighbours in rings, each ring in another order of hashes."""
    n = len(texts)
    if n * (n - 1) // 2 <= wanted:
        return list(itertools.combinations(texts, 2))
    pairs: dict[tuple[str, str], None] = {}
    for ring in itertools.count():
        order = sorted(texts, key=lambda text: hashlib.sha256(f"{ring}|{text}".encode()).digest())
        for a, b in itertools.pairwise(order):
            pairs[min(a, b), max(a, b)] = None
            if len(pairs) == wanted:
                return list(pairs)
    raise AssertionError
