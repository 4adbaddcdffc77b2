"""The rule books of MedSynF1: how entities are compared and what an empty side is worth.

One engine reads the fields, and never which book they are of. The faults named are those of the
published code (HIVMedQA, 2025); the seven variants it stored are settings of `medsynf1`, see `VARIANTS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["CORRECTED", "PUBLISHED", "PUBLISHED_EXACT", "VARIANTS", "Overlap", "Rules", "Variant"]


class Overlap(NamedTuple):
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


_NOTHING, _ALL = Overlap(0.0, 0.0, 0.0), Overlap(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the two books differ in. An edge of null has no value: the item cannot be marked."""

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
    """Published: 1, a full mark for a comparison of nothing with nothing (without synonyms 0)."""

    no_gold: Overlap | None
    """Published: 0 with a recall of 1, a bad mark for an answer that had nothing to match (without synonyms
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
