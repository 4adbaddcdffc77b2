"""Arrays in, estimates out. NumPy and scipy.special only; nothing here knows of models, metrics or judges.

Conventions: the unit is the group; positive differences favour the first; null, never NaN, where something
cannot be estimated; a NaN that comes in is refused with its position.
"""

from vivavoce.stats.bounds import Bounds, bounds
from vivavoce.stats.estimate import (
    Estimate,
    Interval,
    Mean,
    Wilson,
    cluster_mean,
    estimate_mean,
    t_interval,
    wilson,
)
from vivavoce.stats.multiplicity import bonferroni_level, holm
from vivavoce.stats.paired import (
    FEW_DIFFERENT,
    Paired,
    PairedP,
    agresti_min,
    group_sums,
    margin_interval,
    paired,
    paired_p,
)
from vivavoce.stats.planning import group_variance, groups_needed, items_needed, mde
from vivavoce.stats.signs import SignFlips, sign_flips, sign_test
from vivavoce.stats.verdict import ALPHA, Evidence, Verdict, common_direction, verdict

__all__ = [
    "ALPHA",
    "FEW_DIFFERENT",
    "Bounds",
    "Estimate",
    "Evidence",
    "Interval",
    "Mean",
    "Paired",
    "PairedP",
    "SignFlips",
    "Verdict",
    "Wilson",
    "agresti_min",
    "bonferroni_level",
    "bounds",
    "cluster_mean",
    "common_direction",
    "estimate_mean",
    "group_sums",
    "group_variance",
    "groups_needed",
    "holm",
    "items_needed",
    "margin_interval",
    "mde",
    "paired",
    "paired_p",
    "sign_flips",
    "sign_test",
    "t_interval",
    "verdict",
    "wilson",
]
