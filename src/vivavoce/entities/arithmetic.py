"""The arithmetic of MedSynF1: from counts to precision, recall and F1; and back, for stored figures."""

import math
from fractions import Fraction
from typing import NamedTuple

from vivavoce.entities.rules import Overlap, Rules

__all__ = ["Counts", "counts", "f1_of"]

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
    found = [Fraction(x).limit_denominator(_MOST) for x in (precision, recall) if 0 < x <= 1]
    if len(found) < 2 or max(abs(found[0] - precision), abs(found[1] - recall)) > _ROUNDING:
        return None
    matched = math.lcm(found[0].numerator, found[1].numerator)
    gold, predicted = matched / found[1], matched / found[0]
    return Counts(int(gold), int(predicted), matched) if max(gold, predicted) <= _MOST else None
