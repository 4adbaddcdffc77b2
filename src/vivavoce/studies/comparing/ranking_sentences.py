"""Sentences of rankings that name a candidate, what they are corrected over, and what puts them in doubt."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Criterion
from vivavoce.core.short_names import Name
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.evidence import has_parts, undoes
from vivavoce.studies.comparing.headline import fitting_headline
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.scale import phrase_of
from vivavoce.studies.score_matrix import ScoreMatrix
from vivavoce.studies.text import cases, listed, number

MARGIN_ROUNDING = 1e-9


def ranking_headline(rows: Sequence[Any]) -> str:
    """Who is in first place by the first criterion that has ranks; empty where none has."""
    first = next((row for row in rows if row.rank is not None), None)
    if first is None:
        return ""
    key = attrgetter("benchmark", "metric", "criterion", "rater", "scale")
    leaders = [row.candidate for row in rows if key(row) == key(first) and row.rank_low == 1]
    measure = measure_name(first.metric, first.criterion, first.rater)
    phrase = phrase_of(first.scale)
    basis = f"{first.n_candidates} candidates by {measure}{', ' if phrase else ''}{phrase}"

    def sentences(name: Name) -> list[str]:
        names = listed([*map(name, leaders)])
        if len(leaders) == 1:
            doubt = f"; {DOUBT.format('it')}" if first.n_doubtful else ""
            return [f"{names} is alone in first place of {basis}{doubt}."]
        return [f"Tests do not separate {names} in first place of {basis}."]

    return fitting_headline(sentences, leaders)


def first_place(names: str, *, mde: float | None, criterion: Criterion) -> str:
    """What tests say of several candidates, `names`, that may be first.

    They are tied where a difference that matters would have been found: the criterion states its
    `smallest_difference`, and `mde`, what would be found among them, is no larger.
    """
    margin = criterion.smallest_difference
    if margin is not None and mde is not None and mde <= margin + MARGIN_ROUNDING:
        return f"{names} are statistically tied for first"
    undetected = "" if mde is None else f": a difference below {number(mde, criterion)} would go undetected"
    return f"{names} are not separated from the first{undetected}"


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
