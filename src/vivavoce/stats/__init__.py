"""Arrays in, estimates out. NumPy and scipy.special only; nothing here knows of models, metrics or judges.

Conventions: the unit is the group; positive differences favour the first; null, never NaN, where something
cannot be estimated; a NaN that comes in is refused with its position.

A name is public if it is in the table below. Its module is loaded when the name is first used.
"""
# ruff: noqa: F403

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vivavoce.stats._ratings import Agreement as Agreement
    from vivavoce.stats.agreement import *
    from vivavoce.stats.agreement_jackknife import *
    from vivavoce.stats.bootstrap import *
    from vivavoce.stats.bounds import *
    from vivavoce.stats.bradley_terry import *
    from vivavoce.stats.calibration import *
    from vivavoce.stats.clustering import *
    from vivavoce.stats.control import *
    from vivavoce.stats.correlation import *
    from vivavoce.stats.correlation_systems import *
    from vivavoce.stats.equivalence import *
    from vivavoce.stats.estimate import *
    from vivavoce.stats.fixed_items import *
    from vivavoce.stats.friedman import *
    from vivavoce.stats.gate_interval import *
    from vivavoce.stats.group_error import *
    from vivavoce.stats.jackknife import *
    from vivavoce.stats.label_design import *
    from vivavoce.stats.label_size import *
    from vivavoce.stats.linking import *
    from vivavoce.stats.measure_choice import *
    from vivavoce.stats.multiplicity import *
    from vivavoce.stats.paired import *
    from vivavoce.stats.pooled import *
    from vivavoce.stats.power import *
    from vivavoce.stats.ppi import *
    from vivavoce.stats.proportion_margin import *
    from vivavoce.stats.ranking import *
    from vivavoce.stats.ratio import *
    from vivavoce.stats.rewording import *
    from vivavoce.stats.rogan_gladen import *
    from vivavoce.stats.sample_of_set import *
    from vivavoce.stats.selective import *
    from vivavoce.stats.sequential import *
    from vivavoce.stats.strata import *
    from vivavoce.stats.variance import *
    from vivavoce.stats.verdict import *
    from vivavoce.stats.within_item import *
    from vivavoce.stats.worst_case import *

_NAMES = {
    "_ratings": "Agreement",
    "agreement": (
        "CategoryAgreement gwet_ac1 krippendorff_alpha percent_agreement PercentAgreement Scale "
        "weighted_kappa"
    ),
    "agreement_jackknife": "agreement_without_groups AgreementCoefficient",
    "bootstrap": "Bootstrap bootstrap bootstrap_each FEW_GROUPS",
    "bounds": "Bounds bounds imbens_manski ImbensManski",
    "bradley_terry": "bootstrap_strengths Davidson davidson StrengthBootstrap",
    "calibration": "Calibration calibration CalibrationBin CalibrationFigure",
    "clustering": "average_linkage cluster_measures Clusters",
    "control": "control_line control_test control_verdict controls_needed ControlTest ControlVerdict",
    "correlation": (
        "at_level Coefficient correlation correlation_at critical_r fisher_interval kendall Level "
        "LevelCorrelation pearson Points spearman"
    ),
    "correlation_systems": (
        "leave_one_out LeaveOneOut order_agreement OrderAgreement PermutationP permute_systems "
        "shown_agreement"
    ),
    "equivalence": "Margin margin_test tost",
    "estimate": "cluster_mean Estimate estimate_mean Interval Mean skewed_interval t_interval Wilson wilson",
    "fixed_items": "Drop drops Fixed fixed_mean flip_rates Flips",
    "friedman": (
        "Concordance Friedman friedman icc_a1 IntraclassCorrelation kendall_w nemenyi_distance "
        "studentized_range"
    ),
    "gate_interval": "gate_interval",
    "group_error": "effective_groups enough_groups LEAST_GROUPS",
    "jackknife": "by_group_jackknife Jackknife labels_for_coefficient WithoutGroups",
    "label_design": "allocation case_probabilities CaseProbabilities draw_cases",
    "label_size": "label_half_widths labels_needed LabelSize",
    "linking": "Carried linear_link Link Linking",
    "measure_choice": "choose_measures MeasureChoice",
    "multiplicity": "benjamini_hochberg bonferroni_level holm intersection_union",
    "paired": "agresti_min group_sums margin_interval Paired paired sign_flips SignFlips",
    "pooled": (
        "corpus_bleu corpus_chrf label_sizes macro_f1 micro_f1 Pooled pooled pooled_paired pooled_swaps "
        "PooledStatistic sum_ratio"
    ),
    "power": (
        "best_repeats group_variance groups_needed items_needed mde proportion_n repeats_worth sample_se "
        "variance_of_difference"
    ),
    "ppi": "prediction_powered PredictionPowered",
    "proportion_margin": "proportion_margin",
    "ranking": "mean_ranks rank_intervals RankInterval RankIntervals ranks_of_pairs ranks_under_fillings",
    "ratio": "exp_ratio ExpRatio Ratio ratio",
    "rewording": "order_kept OrderKept wording_variance Wordings wordings WordingVariance",
    "rogan_gladen": "rogan_gladen RoganGladen",
    "sample_of_set": "sample_ratio SampleRatio two_sample_t TwoSamples variance_ratio",
    "selective": "answer_threshold AnswerThreshold risk_coverage RiskCoverage",
    "sequential": (
        "critical_values InterimAnalysis mixture_critical MOST_ANALYSES nominal_alpha "
        "obrien_fleming_spending sequential_p"
    ),
    "strata": "category_test category_weights estimate_macro macro_mean Wald",
    "variance": (
        "Component crossed_variance CrossedVariance item_variance ItemVariance nested_variance "
        "NestedVariance pass_variance PassVariance"
    ),
    "verdict": "ALPHA common_direction Evidence Verdict verdict",
    "within_item": "within_items WithinItems",
    "worst_case": "lower_tail_mean worst_at_k worst_of_k",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


class _Face(ModuleType):
    """The package. A module does not hide the public name that it shares: `stats.paired` is the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The first import of a module binds it in its package.
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


if not TYPE_CHECKING:  # type checkers would take every name for one that exists

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
            return value
        if name in _NAMES:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
