"""MedSynF1's rule books, its matching of entities, and the arithmetic from counts to F1 and back.

One engine reads a book's fields, and never which book they are of. The faults named are those of the
published code (HIVMedQA, 2025); the seven variants it stored are settings of `medsynf1`, see `VARIANTS`.
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple


class Overlap(NamedTuple):
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


_NOTHING, _ALL = Overlap(0.0, 0.0, 0.0), Overlap(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the two books differ in. An edge of null has no value: the item cannot be scored."""

    matching: Literal["greedy", "maximum"]
    """Published: each reference entity takes the first free entity of the answer. The order is a hash's, so
    the count changes from run to run, and can fall short of what could be matched: one of two."""

    folded: bool
    """Published: entities are lower-cased and synonyms are not, so 421 of 1,453 can never match; names from
    WordNet keep `_`, where entities have blanks."""

    synonyms_lemmatised: bool
    """Published: entities are lemmatised before the look-up, keys and synonyms are not, so an inflected key
    is never found and an inflected synonym never matches."""

    both_empty: Overlap | None
    """Published: 1, a full score for a comparison of nothing with nothing (without synonyms 0)."""

    no_gold: Overlap | None
    """Published: 0 with a recall of 1, a bad score for an answer that had nothing to match (without synonyms
    all three are 0)."""

    no_prediction: Overlap
    """Published: 0 with a precision of 1, which lifts mean precision by silence (without synonyms 0)."""


CORRECTED = Rules(
    matching="maximum",
    folded=True,
    synonyms_lemmatised=True,
    both_empty=None,
    no_gold=None,
    no_prediction=_NOTHING,
)
PUBLISHED = Rules(
    matching="greedy",
    folded=False,
    synonyms_lemmatised=False,
    both_empty=_ALL,
    no_gold=Overlap(0.0, 1.0, 0.0),
    no_prediction=Overlap(1.0, 0.0, 0.0),
)
PUBLISHED_EXACT = Rules(
    matching="greedy",
    folded=False,
    synonyms_lemmatised=False,
    both_empty=_NOTHING,
    no_gold=_NOTHING,
    no_prediction=_NOTHING,
)
"""As published for the variant without synonyms, whose code is another one and has other edges."""


class Variant(NamedTuple):
    """A published variant: where its synonyms come from, whether entities are lemmatised, and its book.

    As settings: `medsynf1(rules=published, synonyms=…, lemma=stanza)`, or `lemma=none`. The `dictionary` is a
    file of terms with their synonyms, `snomed` a licensed release file.
    """

    synonyms: Literal["none", "dictionary", "snomed", "wordnet"]
    lemmatised: bool
    rules: Rules


VARIANTS: Mapping[str, Variant] = {
    "standard": Variant("none", False, PUBLISHED_EXACT),
    "gptdict": Variant("dictionary", False, PUBLISHED),
    "gptdict_lemma": Variant("dictionary", True, PUBLISHED),
    "snomed": Variant("snomed", False, PUBLISHED),
    "snomed_lemma": Variant("snomed", True, PUBLISHED),
    "wordnet": Variant("wordnet", False, PUBLISHED),
    "wordnet_lemma": Variant("wordnet", True, PUBLISHED),
}
"""By the names of HIVMedQA's tables. What the paper calls MedSynF1 is `gptdict_lemma`."""


def greedy(gold: Sequence[Set[str]], predicted: Sequence[Set[str]]) -> int:
    """Pairs found by giving each set of `gold`, in order, the first free set of `predicted` that it meets.

    It depends on the order of both, and may find fewer pairs than there are.
    """
    free = dict(enumerate(predicted))
    for names in gold:
        met = next((k for k, free_names in free.items() if not names.isdisjoint(free_names)), None)
        if met is not None:
            del free[met]
    return len(predicted) - len(free)


def maximum(gold: Sequence[Set[str]], predicted: Sequence[Set[str]]) -> int:
    """The most pairs there can be, whatever the order (Hopcroft and Karp 1973, by SciPy)."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    places: dict[str, list[int]] = {}
    for k, names in enumerate(predicted):
        for name in names:
            places.setdefault(name, []).append(k)
    meets = [sorted({k for name in names for k in places.get(name, ())}) for names in gold]
    ends = np.cumsum([0, *map(len, meets)], dtype=np.int32)
    if not ends[-1]:
        return 0
    columns = np.fromiter((k for row in meets for k in row), np.int32, int(ends[-1]))
    graph = csr_array((np.ones(len(columns), np.int8), columns, ends), shape=(len(gold), len(predicted)))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


_MOST = 1000
"""The largest number of entities looked for; fractions of smaller ones lie at least 1e-6 apart."""
_ROUNDING = 1e-12


class Counts(NamedTuple):
    """Entities of the reference, of the answer, and pairs of them that match."""

    gold: int
    predicted: int
    matched: int


def f1_of(*, gold: int, predicted: int, matched: int, rules: Rules) -> Overlap | None:
    """Precision = matched / predicted, recall = matched / gold, F1 their harmonic mean, 0 if nothing matches.

    An empty side is worth what `rules` say; null where they give no value. Raises `ValueError` for counts
    that cannot be: negative ones, or more matches than entities.
    """
    if not 0 <= matched <= min(gold, predicted):
        raise ValueError(f"{matched} matches of {gold} and {predicted} entities cannot be")
    if not gold:
        return rules.no_gold if predicted else rules.both_empty
    if not predicted:
        return rules.no_prediction
    precision, recall = matched / predicted, matched / gold
    # The order of operations is that of the published code, so that the floats are the same to the last bit.
    return Overlap(precision, recall, 2 * (precision * recall) / (precision + recall) if matched else 0.0)


def counts(precision: float, recall: float) -> Counts | None:
    """The smallest whole numbers that explain a stored precision and recall; null if none up to 1,000 do.

    The edges are read as published: precision 1 with recall 0 is an empty answer, precision 0 with recall 1
    an empty reference. Both 0 is one entity each without a match, both 1 one that matches. A precision above
    0 with a recall of 0, or the reverse, is no quotient of one count of matches: null.
    """
    if (precision, recall) == (1.0, 0.0):
        return Counts(1, 0, 0)
    if (precision, recall) == (0.0, 1.0):
        return Counts(0, 1, 0)
    if (precision, recall) == (0.0, 0.0):
        return Counts(1, 1, 0)
    fractions = [Fraction(x).limit_denominator(_MOST) for x in (precision, recall) if 0 < x <= 1]
    if len(fractions) < 2 or max(abs(fractions[0] - precision), abs(fractions[1] - recall)) > _ROUNDING:
        return None
    matched = math.lcm(fractions[0].numerator, fractions[1].numerator)
    gold, predicted = matched / fractions[1], matched / fractions[0]
    return Counts(int(gold), int(predicted), matched) if max(gold, predicted) <= _MOST else None
