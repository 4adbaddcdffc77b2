"""Arrays in, estimates out. NumPy and scipy.special only; nothing here knows of models, metrics or judges.

Conventions: the unit is the group; positive differences favour the first; null, never NaN, where something
cannot be estimated; a NaN that comes in is refused with its position.
"""

from vivavoce.stats.agreement import (
    Agreement,
    CategoryAgreement,
    PercentAgreement,
    Scale,
    krippendorff_alpha,
    percent_agreement,
)
from vivavoce.stats.allocation import (
    best_passes,
    best_repeats,
    repeats_worth,
    variance_of_difference,
    variance_of_mean,
)
from vivavoce.stats.bootstrap import FEW_GROUPS, Bootstrap, bootstrap, bootstrap_each
from vivavoce.stats.bounds import Bounds, ImbensManski, bounds, imbens_manski
from vivavoce.stats.bridging import Carried, Link, Linking, linear_link
from vivavoce.stats.clustering import Clusters, average_linkage, cluster_measures
from vivavoce.stats.concordance import Concordance, IntraclassCorrelation, icc_a1, kendall_w
from vivavoce.stats.corpus import corpus_bleu, corpus_chrf, micro_f1, sum_ratio
from vivavoce.stats.correlation import (
    Coefficient,
    correlation,
    critical_r,
    fisher_interval,
    kendall,
    pearson,
    spearman,
)
from vivavoce.stats.correlation_levels import Level, LevelCorrelation, Points, at_level, correlation_at
from vivavoce.stats.correlation_systems import (
    LeaveOneOut,
    OrderAgreement,
    PermutationP,
    leave_one_out,
    order_agreement,
    permute_systems,
    shown_agreement,
)
from vivavoce.stats.crossed import CrossedVariance, crossed_variance
from vivavoce.stats.davidson import (
    Davidson,
    StrengthBootstrap,
    bootstrap_strengths,
    bradley_terry,
    components,
    davidson,
)
from vivavoce.stats.equivalence import Margin, margin_test, tost
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
from vivavoce.stats.fixed import Fixed, fixed_mean
from vivavoce.stats.flips import Drop, Flips, drops, flip_rates
from vivavoce.stats.friedman import Friedman, friedman, nemenyi_distance, nemenyi_p, studentized_range
from vivavoce.stats.interaction import Wald, category_test
from vivavoce.stats.jackknife import Jackknife, by_group_jackknife, labels_for_coefficient
from vivavoce.stats.kappa import cohen_kappa, fleiss_kappa, gwet_ac1, gwet_ac2, weighted_kappa
from vivavoce.stats.mcnemar import McNemar, mcnemar
from vivavoce.stats.multiplicity import benjamini_hochberg, bonferroni, bonferroni_level, holm
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
from vivavoce.stats.pooled import Pooled, PooledStatistic, pooled, pooled_paired, pooled_swaps
from vivavoce.stats.powered import Powered, RoganGladen, prediction_powered, rogan_gladen
from vivavoce.stats.ranking import RankInterval, RankIntervals, mean_ranks, rank_intervals
from vivavoce.stats.ratio import ExpRatio, Ratio, exp_ratio, ratio
from vivavoce.stats.sampling import proportion_n, sample_se, sampling_weights
from vivavoce.stats.signs import SignFlips, sign_flips, sign_test
from vivavoce.stats.strata import Macro, category_weights, estimate_macro, macro_mean
from vivavoce.stats.tails import lower_tail_mean, worst_at_k, worst_of_k
from vivavoce.stats.variance import (
    Component,
    ItemVariance,
    NestedVariance,
    PassVariance,
    item_variance,
    nested_variance,
    pass_variance,
)
from vivavoce.stats.verdict import ALPHA, Evidence, Verdict, common_direction, verdict

__all__ = [
    "ALPHA",
    "FEW_DIFFERENT",
    "FEW_GROUPS",
    "Agreement",
    "Bootstrap",
    "Bounds",
    "Carried",
    "CategoryAgreement",
    "Clusters",
    "Coefficient",
    "Component",
    "Concordance",
    "CrossedVariance",
    "Davidson",
    "Drop",
    "Estimate",
    "Evidence",
    "ExpRatio",
    "Fixed",
    "Flips",
    "Friedman",
    "ImbensManski",
    "Interval",
    "IntraclassCorrelation",
    "ItemVariance",
    "Jackknife",
    "LeaveOneOut",
    "Level",
    "LevelCorrelation",
    "Link",
    "Linking",
    "Macro",
    "Margin",
    "McNemar",
    "Mean",
    "NestedVariance",
    "OrderAgreement",
    "Paired",
    "PairedP",
    "PassVariance",
    "PercentAgreement",
    "PermutationP",
    "Points",
    "Pooled",
    "PooledStatistic",
    "Powered",
    "RankInterval",
    "RankIntervals",
    "Ratio",
    "RoganGladen",
    "Scale",
    "SignFlips",
    "StrengthBootstrap",
    "Verdict",
    "Wald",
    "Wilson",
    "agresti_min",
    "at_level",
    "average_linkage",
    "benjamini_hochberg",
    "best_passes",
    "best_repeats",
    "bonferroni",
    "bonferroni_level",
    "bootstrap",
    "bootstrap_each",
    "bootstrap_strengths",
    "bounds",
    "bradley_terry",
    "by_group_jackknife",
    "category_test",
    "category_weights",
    "cluster_mean",
    "cluster_measures",
    "cohen_kappa",
    "common_direction",
    "components",
    "corpus_bleu",
    "corpus_chrf",
    "correlation",
    "correlation_at",
    "critical_r",
    "crossed_variance",
    "davidson",
    "drops",
    "estimate_macro",
    "estimate_mean",
    "exp_ratio",
    "fisher_interval",
    "fixed_mean",
    "fleiss_kappa",
    "flip_rates",
    "friedman",
    "group_sums",
    "group_variance",
    "groups_needed",
    "gwet_ac1",
    "gwet_ac2",
    "holm",
    "icc_a1",
    "imbens_manski",
    "item_variance",
    "items_needed",
    "kendall",
    "kendall_w",
    "krippendorff_alpha",
    "labels_for_coefficient",
    "leave_one_out",
    "linear_link",
    "lower_tail_mean",
    "macro_mean",
    "margin_interval",
    "margin_test",
    "mcnemar",
    "mde",
    "mean_ranks",
    "micro_f1",
    "nemenyi_distance",
    "nemenyi_p",
    "nested_variance",
    "order_agreement",
    "paired",
    "paired_p",
    "pass_variance",
    "pearson",
    "percent_agreement",
    "permute_systems",
    "pooled",
    "pooled_paired",
    "pooled_swaps",
    "prediction_powered",
    "proportion_n",
    "rank_intervals",
    "ratio",
    "repeats_worth",
    "rogan_gladen",
    "sample_se",
    "sampling_weights",
    "shown_agreement",
    "sign_flips",
    "sign_test",
    "spearman",
    "studentized_range",
    "sum_ratio",
    "t_interval",
    "tost",
    "variance_of_difference",
    "variance_of_mean",
    "verdict",
    "weighted_kappa",
    "wilson",
    "worst_at_k",
    "worst_of_k",
]
