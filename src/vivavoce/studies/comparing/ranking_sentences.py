"""Sentences of rankings that name a candidate, what they are corrected over, and what puts them in doubt."""

from collections.abc import Iterable

import numpy as np

from vivavoce import stats
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.evidence import has_parts, undoes
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_matrix import ScoreMatrix
from vivavoce.studies.text import cases

DOUBT = "{} could be undone by whole losses that were not seen"
"""What puts a pair, or a first place, in doubt: of `compare` it is a note."""
FIRST = NamingSentence(
    code="ranking.first",
    templates=("{name} is alone in first place of {n} candidates by {measure}.",),
    names=("candidate",),
    family="all pairs of candidates by one criterion",
    correction="Holm",
    null="ranking",
)
APART = NamingSentence(
    code="ranking.apart",
    templates=(
        "{measure} on {benchmark}{warning} pairs told apart{ranks}.",
        "{basis} pairs told apart{doubt}; ranks left open ({figures}): {ranks}.",
    ),
    names=("candidate", "metric"),
    family="all pairs of candidates by one criterion",
    correction="Holm",
    null="ranking",
)


def doubtful_pairs(matrix: ScoreMatrix, ranks: stats.RankIntervals) -> list[int | None]:
    """Of each candidate the pairs told apart that whole losses could undo, though none was seen.

    As `compare` has it (95 %), of graded scores between two limits alone; else null.
    """
    criterion = matrix.measure.criterion
    if criterion.low is None or criterion.high is None:
        return [None] * len(matrix.candidates)
    width, n = criterion.high - criterion.low, stats.effective_groups(matrix.groups, weights=matrix.weights)
    doubtful = np.zeros(len(matrix.candidates), dtype=int)
    for better, worse in np.argwhere(ranks.better):
        d = matrix.sign * (matrix.values[better] - matrix.values[worse])
        share = stats.unseen_shares(d, n, span=width).negative
        difference = float(ranks.means[better] - ranks.means[worse])
        if share is not None and has_parts(d, width) and undoes(share, difference, width):
            doubtful[[better, worse]] += 1
    return doubtful.tolist()


def told_apart(n_shown: int | None, n_pairs: int | None, doubtful: Iterable[int | None]) -> str:
    """How many pairs were told apart, and how many of them rest on no whole loss being missed."""
    text = f"{n_shown} of {n_pairs} pairs told apart"
    n_doubtful = sum(n or 0 for n in doubtful) // 2
    return f"{text}; {DOUBT.format(f'{n_doubtful} of them')}" if n_doubtful else text


def too_few_to_rank(matrix: ScoreMatrix, n_groups: int, effective: float | None) -> str | None:
    """Why candidates have no ranks; null where they have."""
    if len(matrix.candidates) < 2:
        return "one candidate has no rank"
    # The pairs are tested by sign flips from six cases on, as `compare` does.
    if n_groups < LEAST_DIFFERENT:
        return f"{cases(n_groups, effective)} that all candidates have scores on: too few to rank"
    return None
