"""What a verdict rests on: p values and levels of the family, intervals of margins, losses not seen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.stats import Verdict
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.paired import Compared
from vivavoce.studies.intervals import Floats
from vivavoce.studies.item_means import IntervalMethod, ItemMeans
from vivavoce.studies.pooling import on_log_scale


class Corrected(NamedTuple):
    """The p values of a pair, corrected over the family it was made with.

    `observed` and `filled` are Holm's, of what was observed and of the worse filling; `q` is
    Benjamini-Hochberg's. `form_of` is the criterion that is in the family for this one; null where it is
    there itself. `alone` is that of the pair alone, of what was observed.
    """

    observed: float
    filled: float
    q: float
    form_of: str | None
    alone: float


class Levels(NamedTuple):
    """The levels of a pair's intervals: for the pair alone, and for all comparisons of the call together."""

    alone: float
    family: float

    @classmethod
    def of(cls, family: int) -> "Levels":
        """Those of so many comparisons that are made once."""
        return cls(0.95, stats.bonferroni_level(0.95, family))


def leads_of(pairs: Sequence[Compared]) -> list[int]:
    """For each pair the place of the pair that is in the family for it, mostly its own.

    Of several forms of one number that is the first that is no exponential, else the first.
    """
    leads = []
    for k, pair in enumerate(pairs):
        forms = [j for j, candidate_pair in enumerate(pairs) if j == k or pair.form_of(candidate_pair)]
        leads.append(min(forms, key=lambda j: (on_log_scale(pairs[j].pair.measure.criterion), j)))
    return leads


def correct(pairs: Sequence[Compared], leads: Sequence[int]) -> list[Corrected]:
    """The p values of the pairs, corrected over the family; other forms of a number in its place there."""
    observed = np.array([pair.observed.p for pair in pairs])
    # A verdict must hold under both fillings, so the weaker evidence counts.
    filled = np.array([max(side.p for side in pair.fillings or (pair.observed,)) for pair in pairs])
    family = np.array(sorted(set(leads)), dtype=int)
    corrected = []
    for k, lead in enumerate(leads):
        # Another form takes its lead's place, so it is corrected for as many tests and no more.
        members = np.where(family == lead, k, family)
        position = members.tolist().index(k)
        corrected.append(
            Corrected(
                observed=float(stats.holm(observed[members])[position]),
                filled=float(stats.holm(filled[members])[position]),
                q=float(stats.benjamini_hochberg(observed[members])[position]),
                form_of=form_of(pairs, k, lead),
                alone=float(observed[k]),
            )
        )
    return corrected


def form_of(pairs: Sequence[Compared], k: int, lead: int) -> str | None:
    """The criterion that stands in the family for that of pair k, whose lead it is; null for its own."""
    return None if lead == k else pairs[lead].pair.measure.criterion.criterion


Side = tuple[str, stats.Paired]
"""A column of differences, as observed or under a filling, and what its groups say."""


def _filled(compared: Compared) -> list[Side]:
    """The two fillings of missing scores; none where nothing is missing or nothing bounds it."""
    return list(zip(("low", "high"), compared.fillings or (), strict=False))


def filled_test(pair: Compared) -> tuple[float, int]:
    """The larger p of the two fillings and whom both speak for; nobody where nothing bounds what failed."""
    if not pair.missing:
        return pair.observed.p, pair.observed.direction
    if pair.fillings is None:
        return 1.0, 0
    worst, best = pair.fillings
    return max(worst.p, best.p), stats.common_direction(worst.direction, best.direction)


def verdict_of(compared: Compared, corrected: Corrected, level: float) -> Verdict:
    """The row of the table that applies to what was observed and to what the failed scores could be."""
    margin = compared.pair.margin
    observed = _evidence(compared, [("observed", compared.observed)], corrected.observed, level)
    observed = replace(observed, most_by_count=most_by_count(compared, level))
    if not compared.missing:
        return stats.verdict(observed, margin=margin)
    if compared.fillings is None:
        # Nothing bounds what failed, so only "too few" can be said without it.
        evidence_alone = stats.verdict(observed, margin=margin)
        return evidence_alone if evidence_alone.code in ("too_few", "incomparable") else Verdict("depends")
    filled = _evidence(compared, _filled(compared), corrected.filled, level)
    return stats.verdict(observed, filled, margin=margin)


def _evidence(compared: Compared, sides: Sequence[Side], p: float, level: float) -> stats.Evidence:
    """What a verdict rests on; of two fillings, what both say alike."""
    worst, best = sides[0], sides[-1]
    low_side = high_side = None
    if compared.pair.margin is not None:
        # Where few cases differ this is Agresti-Min's interval: a tiny standard error shows no equivalence.
        # A plan's first analyses are of so few cases that a whole loss is easily not among them.
        method = stats.margin_interval if compared.observed.rare is None else stats.gate_interval
        low_side, high_side = (margin_interval(compared, *side, level, method) for side in (worst, best))
    direction: Any = stats.common_direction(worst[1].direction, best[1].direction)
    # On people's scale a verdict rests on the cases that people scored.
    change = compared.correction
    return stats.Evidence(
        n_groups=worst[1].n_groups,
        n_different=change.n_different if change else worst[1].n_different,
        direction=direction,
        p_adjusted=p,
        margin_low=low_side.low if low_side and high_side else None,  # half an interval bounds nothing
        margin_high=high_side.high if low_side and high_side else None,
    )


def gate_interval(compared: Compared, level: float) -> stats.Interval | None:
    """The interval on which a gate decides; of both fillings too where scores are missing.

    Null without a margin, or where nothing bounds what is missing.
    """
    if compared.pair.margin is None or (compared.missing and compared.fillings is None):
        return None
    # A filling counts as a loss that was seen, so what may not have been seen is of the observed alone.
    sides: list[Side] = [("observed", compared.observed), *_filled(compared)]
    ends = [margin_interval(compared, *side, level, stats.gate_interval) for side in sides]
    lows, highs = zip(*filter(None, ends), strict=True) if None not in ends else ((), ())
    return stats.Interval(min(lows), max(highs)) if lows else None


def margin_interval(
    compared: Compared,
    side: str,
    paired: stats.Paired,
    level: float,
    method: IntervalMethod = stats.margin_interval,
) -> stats.Interval | None:
    """The interval on which a margin is judged, of a column of differences or of pooled figures."""
    # Pseudo-groups of Agresti-Min have no counts to be pooled, and no labels.
    if compared.pair.population == "fixed" or not isinstance(compared.data, ItemMeans):
        return paired.interval(level=level)
    return compared.data.arrays(side).interval(method, span=compared.pair.width, level=level)


def most_by_count(compared: Compared, level: float) -> float | None:
    """The most by which either could be better where hardly any case differs, else null.

    Each case that may differ counts as a whole one, and each failed score at its worst.
    """
    if compared.pair.population == "fixed" or not isinstance(compared.data, ItemMeans):
        return None
    ends = gate_interval(compared, level) if compared.observed.n_different < LEAST_DIFFERENT else None
    return ends and max(-ends.low, ends.high)


def unseen_losses(compared: Compared) -> dict[str, Any]:
    """The columns with the shares of cases that A, and B, could have lost whole (95 %) though none was seen.

    Null where a loss over half the scale was seen, without two limits, and where no cases were sampled or
    scored one by one.
    """
    pair, data = compared.pair, compared.data
    if pair.width is None or pair.population == "fixed" or not isinstance(data, ItemMeans):
        return {}
    d, effective = data.arrays().values, compared.observed.effective_groups
    shares = stats.unseen_shares(d, effective, span=pair.width)
    return {"unseen_loss_a": shares.negative, "unseen_loss_b": shares.positive}


def is_graded(compared: Compared, width: float) -> bool:
    """Whether any question is won or lost by a part of the scale."""
    if not isinstance(compared.data, ItemMeans):
        return False
    return has_parts(compared.data.arrays().values, width)


def has_parts(differences: Floats, width: float) -> bool:
    """Whether a difference is a part of the scale."""
    sizes = stats.rounded(np.abs(differences) / width)
    return bool(((sizes > 0) & (sizes < 1)).any())


def undoes(share: float, difference: float, width: float) -> bool:
    """Whether whole losses in that share of the cases would undo a difference of the others."""
    return (1 - share) * abs(difference) <= share * width
