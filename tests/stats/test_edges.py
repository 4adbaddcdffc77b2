"""Edge cases of every public function: nothing, one, all equal, ties, one group, NaN, another order of rows.

Tables of small valid inputs; a public function that stands in none of them fails the first test.
"""

import inspect
import itertools
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.cases import each_case

from vivavoce import stats

SIX = [0.2, 0.8, 0.5, 0.9, 0.4, 0.7]
OTHER = [0.1, 0.9, 0.3, 0.6, 0.8, 0.2]
RIGHT = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]
GROUPS = ["a", "a", "b", "c", "c", "d"]
KINDS = ["u", "u", "v", "v", "v", "u"]
WEIGHTS = [1.0, 2.0, 1.0, 1.0, 3.0, 1.0]
THREE = [[0.1, 0.5, 0.3, 0.9, 0.7, 0.2], [0.4, 0.6, 0.2, 0.8, 0.9, 0.1], [0.3, 0.2, 0.6, 0.5, 0.1, 0.8]]
RATED = [[1.0, 2.0, 1.0], [2.0, 2.0, 3.0], [3.0, 3.0, 3.0], [1.0, 1.0, 2.0], [4.0, 3.0, 4.0]]
TWO_RATERS = [row[:2] for row in RATED]
REPEATED = [0.2, 0.4, 0.8, 0.9, 0.5, 0.6, 0.1, 0.3]
OF = ["p", "p", "q", "q", "r", "r", "s", "s"]
SOURCES = ["x", "x", "x", "x", "y", "y", "z", "z"]
MET = [[0, 1], [1, 2], [0, 2], [0, 1], [1, 2], [0, 2]]
WON = [1, 0, -1, -1, 1, 1]
COUNTED = [
    [2.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [3.0, 0.5, 0.0],
    [1.0, 1.0, 1.0],
    [0.0, 0.0, 2.0],
    [4.0, 1.0, 0.0],
]


class Case(NamedTuple):
    """A call with its arrays.

    `rows` is the axis along which an array has its rows, if not the first: rows move together. A NaN is
    tried in `numbers`; `labels` hold groups. No rows at all raise, unless `empty` is the documented answer.
    `moves`: the result is an array with a row (and column) for each row.
    """

    call: Callable[..., Any]
    arrays: Mapping[str, Any]
    rows: Mapping[str, int] = {}
    numbers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("groups",)
    empty: Any = ValueError
    moves: bool = False


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def case(function: Callable[..., Any], *arrays: Any, **more: Any) -> tuple[str, Case]:
    """A case of a function of these arrays; what is neither an array nor a field of `Case` is passed on."""
    known = {name: more.pop(name) for name in list(more) if name in Case._fields}
    named = dict(zip(inspect.signature(function).parameters, arrays, strict=False))
    named |= {name: more.pop(name) for name in list(more) if isinstance(more[name], list | np.ndarray)}
    made = {name: value() if value is rng else value for name, value in more.items()}

    def call(**given: Any) -> Any:
        fresh = {
            name: rng() if isinstance(value, np.random.Generator) else value for name, value in made.items()
        }
        return function(**given, **fresh)

    numbers = tuple(name for name in named if name not in LABELS)
    return function.__name__, Case(call, named, **({"numbers": numbers} | known))


LABELS = ("groups", "items", "categories", "strata", "pairs", "responses", "versions")


def range_without_one(x: Any, y: Any) -> Any:
    """`leave_one_out`; which system was left out moves with the rows."""
    found = stats.leave_one_out(x, y)
    return found._replace(values=sorted(found.values, key=str))


def jackknifed_mean(values: Any, groups: Any) -> Any:
    return stats.by_group_jackknife(lambda rows: float(values[rows].mean()), groups)


def jackknifed_agreement(ratings: Any, groups: Any) -> Any:
    return stats.agreement_without_groups("alpha_ordinal", ratings, groups).jackknife()


def first_half(groups: Any) -> Any:
    """How many groups a half has: which ones is up to the order of their labels."""
    return len(set(np.asarray(groups)[stats.random_half(groups, rng())].tolist()))


def over_two_runs(values: Any, groups: Any) -> Any:
    return stats.crossed_error(values, groups, [1, 2])


def agreement_with_interval(ratings: Any, groups: Any) -> Any:
    return stats.agreement_interval("alpha_ordinal", ratings, groups)


def mean_and_maximum(y: Any) -> list[float]:
    return [y.mean(), y.max()]


def one_drop(differences: Any, groups: Any) -> Any:
    return stats.drops([differences], [groups])


def powered(judged: Any, person: Any, known: Any, groups: Any) -> Any:
    """`prediction_powered` with a person's word on the rows that are known."""
    return stats.prediction_powered(judged, person[known], labelled=np.flatnonzero(known), groups=groups)


K_BY_N = {"rows": {"values": 1}}
X_AND_Y = {"rows": {"x": 1, "y": 1}}

ARRAYS = dict(
    [
        case(agreement_with_interval, RATED, GROUPS[:5], numbers=("ratings",)),
        case(jackknifed_agreement, RATED, GROUPS[:5], numbers=("ratings",)),
        case(stats.agresti_min, SIX, GROUPS, span=1),
        case(stats.at_level, THREE, THREE[::-1], **X_AND_Y, level="system"),
        case(stats.benjamini_hochberg, [0.04, 0.2, 0.01], moves=True, empty=[]),
        case(stats.control_test, SIX, GROUPS, line=0.1, span=1),
        case(stats.intersection_union, [0.04, 0.2, 0.01]),
        case(stats.holm, [0.04, 0.2, 0.01], moves=True, empty=[]),
        case(stats.bootstrap, SIX, GROUPS, statistic=np.mean, rng=rng, resamples=50),
        case(stats.bootstrap_each, SIX, GROUPS, statistics=mean_and_maximum, rng=rng, resamples=50),
        case(stats.bootstrap_strengths, MET, WON, groups=GROUPS, n_systems=3, rng=rng, resamples=20),
        case(stats.bounds, OTHER, [0.3, 0.9, 0.5, 0.9, 0.9, 0.7], GROUPS, weights=WEIGHTS, low=0, high=1),
        case(stats.candidate_link, SIX, OTHER),
        case(stats.category_test, SIX, ["u", "v", "u", "v", "u", "v"], GROUPS),
        case(stats.precise_category_test, SIX, ["u", "v", "u", "v", "u", "v"], GROUPS),
        case(stats.profile_test, SIX, ["u", "v", "u", "v", "u", "v"], GROUPS),
        case(stats.category_weights, ["u", "v", "u"], moves=True, numbers=()),
        case(jackknifed_mean, SIX, GROUPS, numbers=()),
        case(over_two_runs, [*zip(SIX, OTHER, strict=True)], GROUPS),
        case(stats.cluster_mean, SIX, GROUPS, weights=WEIGHTS),
        case(stats.cluster_measures, [THREE, THREE[::-1]], GROUPS, rows={"values": 2}, level="item", rng=rng,
             resamples=20),
        case(stats.correlation, SIX, OTHER),
        case(stats.kendall_across_halves, THREE[:2], THREE[1:], rows={"x": 1, "y": 1}, rng=rng),
        case(stats.pearson_across_halves, THREE[:2], THREE[1:], rows={"x": 1, "y": 1}),
        case(first_half, GROUPS, numbers=()),
        case(stats.correlation_at, THREE, THREE[::-1], **X_AND_Y, level="item"),
        case(stats.crossed_variance, [[[0.1, 0.2], [0.5, 0.9]], [[0.3, 0.3], [0.8, 0.4]]],
             rows={"values": 1}),
        case(stats.davidson, MET, WON, n_systems=3),
        case(one_drop, SIX, GROUPS),
        case(stats.answer_threshold, SIX, RIGHT, GROUPS, weights=WEIGHTS, risk=0.5),
        case(stats.calibration, SIX, RIGHT, GROUPS, weights=WEIGHTS),
        case(stats.risk_coverage, SIX, RIGHT, GROUPS, weights=WEIGHTS),
        case(stats.effective_groups, GROUPS, weights=WEIGHTS, numbers=("weights",)),
        case(stats.estimate_macro, SIX, GROUPS, categories=KINDS, weights=WEIGHTS, low=0, high=1),
        case(stats.estimate_mean, SIX, GROUPS, weights=WEIGHTS, low=0, high=1),
        case(stats.exp_ratio, [3.0, 5.0, 2.0, 8.0, 4.0, 6.0], [2.0, 3.0, 2.0, 5.0, 3.0, 4.0], groups=GROUPS),
        case(stats.fixed_mean, REPEATED, OF, labels=("items",)),
        case(stats.flip_rates, [True, False, True, True, False, False, True, False], ["p"] * 4 + ["q"] * 4,
             versions=["s", "s", "t", "t"] * 2, groups=["a"] * 4 + ["b"] * 4, numbers=()),
        case(stats.friedman, THREE, GROUPS, **K_BY_N),
        case(stats.group_sums, SIX, GROUPS),
        case(stats.gwet_ac1, RATED),
        case(stats.icc_a1, RATED),
        case(stats.item_variance, REPEATED, OF),
        case(stats.kendall, SIX, OTHER),
        case(stats.kendall_w, RATED),
        case(stats.krippendorff_alpha, RATED, scale="ordinal"),
        case(range_without_one, SIX, OTHER),
        case(stats.lower_tail_mean, SIX, GROUPS, weights=WEIGHTS, share=0.5, low=0, high=1),
        case(stats.macro_mean, SIX, GROUPS, categories=KINDS, weights=WEIGHTS),
        case(stats.gate_interval, SIX, GROUPS, span=1),
        case(stats.unseen_shares, SIX, n=6, span=1),
        case(stats.margin_interval, SIX, GROUPS, span=1),
        case(stats.margin_test, SIX, GROUPS, margin=0.2, span=1),
        case(stats.mean_ranks, THREE, **K_BY_N),
        case(stats.nested_variance, REPEATED, OF, groups=SOURCES),
        case(stats.order_agreement, SIX, OTHER),
        case(stats.paired, SIX, GROUPS),
        case(stats.pass_variance, REPEATED, OF, items=SOURCES),
        case(stats.pearson, SIX, OTHER),
        case(stats.percent_agreement, RATED),
        case(stats.permute_systems, SIX, OTHER, rng=rng),
        case(powered, SIX, OTHER, [True, True, True, False, False, True], GROUPS, numbers=("judged",)),
        case(stats.pooled, COUNTED, GROUPS, statistic=stats.micro_f1, low=0, high=1),
        case(stats.pooled_paired, COUNTED, COUNTED[::-1], GROUPS, statistic=stats.micro_f1),
        case(stats.pooled_swaps, COUNTED, COUNTED[::-1], GROUPS, statistic=stats.micro_f1, rng=rng),
        case(stats.rank_intervals, THREE, GROUPS, **K_BY_N),
        case(stats.ratio, SIX, [0.4, 0.9, 0.5, 1.0, 0.6, 0.8], groups=GROUPS, weights=WEIGHTS, low=0, high=1),
        case(stats.sign_flips, [0.3, -0.2, 0.5, 0.0], rng=rng, empty=[1.0, 0, 1, True]),
        case(stats.spearman, SIX, OTHER),
        case(stats.studentized_range, [1.0, 2.0, 3.5], n=4, moves=True, empty=[]),
        case(stats.weighted_kappa, TWO_RATERS),
        case(stats.sample_ratio, SIX, OTHER, strata=KINDS, sizes=[9.0] * 6, labels=("strata",)),
        case(stats.two_sample_t, SIX, OTHER),
        case(stats.variance_ratio, SIX, OTHER),
        case(stats.worst_at_k, REPEATED, OF, groups=SOURCES, k=1, labels=("groups",)),
        case(stats.worst_of_k, REPEATED, OF, k=1, labels=("items",)),
    ]
)  # fmt: skip


WRAPPED = {
    "first_half": "random_half",
    "agreement_with_interval": "agreement_interval",
    "over_two_runs": "crossed_error",
    "jackknifed_agreement": "agreement_without_groups",
    "range_without_one": "leave_one_out",
    "jackknifed_mean": "by_group_jackknife",
    "one_drop": "drops",
    "powered": "prediction_powered",
}

NUMBERS: dict[str, dict[str, float]] = {
    "best_repeats": {"s2_interaction": 0.1, "s2_within": 0.2, "cost_item": 2, "cost_repeat": 1},
    "bonferroni_level": {"level": 0.95, "k": 3},
    "critical_r": {"level": 0.95, "n": 9},
    "fisher_interval": {"r": 0.5, "level": 0.95, "n": 9},
    "group_variance": {
        "se": 0.1,
        "repeats": 5,
        "repeats_wanted": 1,
        "within": 0.3,
        "n_groups": 42,
        "n_items": 63,
    },
    "groups_needed": {
        "margin": 0.2,
        "variance": 0.3,
        "alpha": 0.05,
        "power": 0.8,
        "k": 2,
        "evenness": 0.8,
        "df": 9,
    },
    "imbens_manski": {"set_low": 0.1, "set_high": 0.3, "se_low": 0.1, "se_high": 0.2, "level": 0.95},
    "items_needed": {"groups": 10, "n_items": 63, "n_groups": 42},
    "labels_for_coefficient": {"se_pilot": 0.1, "se_target": 0.05, "n_pilot": 40},
    "label_half_widths": {
        "n_cases": 20,
        "judge_sd": 0.4,
        "people_sd": 0.5,
        "correlation": 0.6,
        "level": 0.95,
    },
    "labels_needed": {
        "goal": 0.2,
        "n_cases": 90,
        "judge_sd": 0.4,
        "people_sd": 0.5,
        "correlation": 0.6,
        "level": 0.95,
        "power": 0.8,
    },
    "mixture_critical": {"cases": 40.5, "alpha": 0.05},
    "obrien_fleming_spending": {"fraction": 0.5, "alpha": 0.05},
    "mde": {"se": 0.1, "df": 41.5, "alpha": 0.05, "power": 0.8, "k": 2},
    "nemenyi_distance": {"level": 0.95, "n_systems": 5, "n_blocks": 20},
    "proportion_margin": {"n": 10, "p": 0.5, "design_effect": 1, "level": 0.95, "population": 1000},
    "planned_share": {"n": 10, "p": 0.5, "design_effect": 1, "level": 0.95, "population": 1000},
    "proportion_n": {"p": 0.5, "half_width": 0.05, "design_effect": 1, "level": 0.95, "population": 1000},
    "repeats_worth": {"s2_interaction": 0.1, "s2_within": 0.2, "repeats": 5},
    "sample_se": {"se": 0.1, "n": 10, "population": 100},
    "skewed_interval": {"value": 0.5, "se": 0.1, "df": 10, "skewness": 0.3, "level": 0.95},
    "t_interval": {"value": 0.5, "se": 0.1, "df": 10, "level": 0.95},
    "tost": {"difference": 0.1, "se": 0.1, "df": 10, "margin": 0.2, "level": 0.95},
    "variance_of_difference": {"s2_interaction": 0.1, "s2_within": 0.2, "n_items": 10, "repeats": 5},
    "wilson": {"value": 0.5, "se": 0.1, "df": 9.5, "low": 0, "high": 1, "level": 0.95},
}
"""Functions of numbers. Counts (n, k, repeats …) are integers by their type: no NaN is tried in them."""
COUNTS = ("k", "n", "n_cases", "n_groups", "n_items", "n_systems", "n_blocks", "n_pilot", "groups",
          "population", "repeats", "repeats_wanted")  # fmt: skip

# NaN is not refused by its own name here: it passes, ends in another error, or is called by another name.
NOT_YET = {("groups_needed", "variance"), ("tost", "difference")}

ELSEWHERE = {
    "allocation": "takes cases that `case_probabilities` made: tests/stats/test_label_design.py",
    "case_probabilities": "takes cases, and folds of labels: tests/stats/test_label_design.py",
    "critical_values": "takes the analyses of a plan: tests/stats/test_sequential.py",
    "draw_cases": "takes probabilities that `case_probabilities` made: tests/stats/test_label_design.py",
    "nominal_alpha": "takes the analyses of a plan: tests/stats/test_sequential.py",
    "ranks_of_pairs": "takes tests that `paired` made: tests/stats/test_ranking.py",
    "sequential_p": "takes the analyses of a plan: tests/stats/test_sequential.py",
    "average_linkage": "a square of distances: below",
    "choose_measures": "takes what `within_items` made: tests/stats/test_within_item.py",
    "label_sizes": "counts by label, three columns each: tests/stats/test_macro_f1.py",
    "macro_f1": "takes the sums that `pooled` made",
    "repeats_worth_interval": "models by items by repeats: tests/stats/test_variance.py",
    "order_kept": "two tables of candidates by items: tests/stats/test_rewording.py",
    "within_items": "its rows come several to an item: tests/stats/test_within_item.py",
    "wording_variance": "takes what `wordings` made: tests/stats/test_rewording.py",
    "wordings": "its rows come several to a response: tests/stats/test_rewording.py",
    "control_line": "takes a kind and a margin: tests/stats/test_control.py",
    "control_verdict": "takes tests that `control_test` made: tests/stats/test_control.py",
    "controls_needed": "takes a test that `control_test` made: tests/stats/test_control.py",
    "common_direction": "takes two signs",
    "enough_groups": "takes one number and compares it",
    "corpus_bleu": "takes the sums that `pooled` made",
    "corpus_chrf": "takes the sums that `pooled` made",
    "events_test": "takes chances, not scores: tests/stats/test_events.py",
    **dict.fromkeys(
        ("random_indices", "random_orders", "random_words", "seeded_rng"), "tests/stats/test_draws.py"
    ),
    "subset_test": "its second array is which cases are members: tests/studies/test_small_categories.py",
    "member_permutation": "its rows come several to a case: tests/stats/test_case_permutation.py",
    "micro_f1": "takes the sums that `pooled` made",
    "ranks_under_fillings": "takes fillings, NaN where nothing bounds them: tests/stats/test_ranking.py",
    "exact_mean": "the same in every order: tests/stats/test_sums.py",
    "exact_means": "its rows are systems: tests/stats/test_sums.py",
    "exact_sum": "takes no groups: tests/stats/test_sums.py",
    "rounded": "takes numbers of any shape: tests/stats/test_sums.py",
    "risk_above": "right or wrong, not scores: tests/stats/test_selective.py",
    "rogan_gladen": "takes means that `cluster_mean` made",
    "shown_agreement": "takes squares of yes and no",
    "sum_ratio": "takes the sums that `pooled` made",
    "verdict": "takes evidence, which checks itself",
}


def flat(result: Any) -> list[Any]:
    """Every number, label and null of a result, in order."""
    if isinstance(result, np.ndarray):
        return flat(result.tolist())
    if isinstance(result, tuple | list):
        return list(itertools.chain.from_iterable(map(flat, result)))
    return [result]


def sound(result: Any) -> Any:
    """The result, which holds no NaN."""
    assert not [one for one in flat(result) if isinstance(one, float) and math.isnan(one)], result
    return result


def alike(one: Any, other: Any) -> bool:
    """Equal, numbers to 1e-12."""
    pairs = list(itertools.zip_longest(flat(one), flat(other), fillvalue="nothing there"))
    return all(
        math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
        if isinstance(a, float) and isinstance(b, float)
        else a == b
        for a, b in pairs
    )


def arrays(given: Case) -> dict[str, np.ndarray]:
    return {name: np.array(value) for name, value in given.arrays.items()}


def with_rows(given: Case, rows: Any) -> dict[str, np.ndarray]:
    """The arrays with these rows, in this order."""
    rows = np.asarray(rows, dtype=np.intp)
    return {name: np.take(a, rows, axis=given.rows.get(name, 0)) for name, a in arrays(given).items()}


def n_rows(given: Case) -> int:
    name, value = next(iter(given.arrays.items()))
    return int(np.shape(value)[given.rows.get(name, 0)])


every = each_case("name", ARRAYS)


def test_every_public_function_stands_in_a_table():
    public = {n for n in stats.__all__ if inspect.isfunction(getattr(stats, n))}
    assert public == {WRAPPED.get(n, n) for n in ARRAYS} | set(NUMBERS) | set(ELSEWHERE)


@every
def test_the_order_of_rows_changes_nothing(name):
    given = ARRAYS[name]
    plain = sound(given.call(**arrays(given)))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n_rows(given))
        moved = given.call(**with_rows(given, order))
        if given.moves:
            back = np.argsort(order)
            moved = moved[back][:, back] if moved.ndim == 2 else moved[back]
        assert alike(plain, moved), (plain, moved)


@every
def test_nothing_is_refused_or_has_its_documented_answer(name):
    given = ARRAYS[name]
    none = with_rows(given, [])
    if given.empty is ValueError:
        with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
            given.call(**none)
    else:
        assert given.empty == flat(given.call(**none))


@each_case("bad", [math.nan, math.inf, -math.inf])
@each_case(
    ("name", "where"), [(n, k) for n, c in ARRAYS.items() for k in c.numbers if n != "studentized_range"]
)
def test_nan_and_infinity_are_refused_with_their_position(name, where, bad):
    """A vector's by one number, a matrix' by two, a cube's by one or by two and the measure."""
    given = ARRAYS[name]
    shape = np.shape(given.arrays[where])
    for at in (0, math.prod(shape) // 2, math.prod(shape) - 1):
        spoilt = arrays(given)
        spoilt[where] = spoilt[where].astype(np.float64)
        spoilt[where].flat[at] = bad
        with pytest.raises(ValueError, match=f"holds {bad} (at position|at unit|for system)") as error:
            given.call(**spoilt)
        said = [
            int(n)
            for n in re.findall(r"(?:position|unit|rater|system|item|measure|count) (\d+)", str(error.value))
        ]
        assert said in ([at], [int(k) for k in np.unravel_index(at, shape)]), str(error.value)


def kinds(given: Case) -> dict[str, dict[str, np.ndarray]]:
    """Inputs at the edge of what can be estimated."""
    n = n_rows(given)
    same = {k: np.full_like(a, a.flat[0]) if k in given.numbers else a for k, a in arrays(given).items()}
    made = {
        "one row": with_rows(given, [0]),
        "two rows": with_rows(given, [0, n - 1]),
        "one row many times": with_rows(given, [0] * 7),
        "every row twice": with_rows(given, list(range(n)) * 2),
        "all equal": same,
    }
    for name in set(given.labels) & set(given.arrays):
        made["one group"] = arrays(given) | {name: np.array(["g"] * n)}
        made["two groups"] = arrays(given) | {name: np.array(["g"] * (n // 2) + ["h"] * (n - n // 2))}
        made["all equal in one group"] = same | {name: np.array(["g"] * n)}
        made["all equal in two groups"] = same | {name: np.array(["g"] * (n // 2) + ["h"] * (n - n // 2))}
    return made


@every
def test_at_the_edge_the_answer_is_null_or_a_sentence_and_never_nan(name):
    given = ARRAYS[name]
    for kind, made in kinds(given).items():
        try:
            sound(given.call(**made))
        except ValueError as error:
            said = str(error)
        else:
            said = "no error at all"
        assert re.search(r"\w+ \w+ \w+ \w+", said), (kind, said)  # a sentence


@every
def test_what_is_handed_in_is_left_as_it_is(name):
    given = ARRAYS[name]
    made = arrays(given)
    for array in made.values():
        array.flags.writeable = False
    given.call(**made)


@each_case(
    ("name", "where"),
    [(n, k) for n, kw in NUMBERS.items() for k in kw if k not in COUNTS and (n, k) not in NOT_YET],
)
def test_a_number_that_is_nan_is_refused_by_its_name(name, where):
    function = getattr(stats, name)
    sound(function(**NUMBERS[name]))
    with pytest.raises(ValueError, match=where):
        function(**NUMBERS[name] | {where: math.nan})


def test_nan_is_refused_where_no_row_holds_it():
    square = np.array([[0, 1, math.nan], [1, 0, 3], [math.nan, 3, 0]])
    with pytest.raises(ValueError, match="distances holds nan for system 0, item 2"):
        stats.average_linkage(square)
    with pytest.raises(ValueError, match="q must be 0 or more, and no NaN"):
        stats.studentized_range([1, math.nan], 3)
    with pytest.raises(ValueError, match="labels holds nan at position 1"):
        stats.prediction_powered([1, 2, 3], [1, math.nan], labelled=[0, 2])
    with pytest.raises(ValueError, match="p_adjusted must lie in 0 to 1, but is nan"):
        stats.Evidence(n_groups=20, n_different=12, direction=1, p_adjusted=math.nan)
    with pytest.raises(ValueError, match="margin_low nan is not at most margin_high"):
        stats.Evidence(
            n_groups=20, n_different=12, direction=1, p_adjusted=0.1, margin_low=math.nan, margin_high=1
        )
    fine = stats.Mean(0.7, 0.05, 40, 20, 19)
    with pytest.raises(ValueError, match="judged must be a share from 0 to 1, but is nan"):
        stats.rogan_gladen(stats.Mean(math.nan, 0.05, 40, 20, 19), sensitivity=fine, specificity=fine)


def test_a_hundred_thousand_rows_are_the_sums_that_a_loop_makes():
    """Groups of every size from one, ties and weights everywhere."""
    draw = np.random.default_rng(5)
    groups = draw.integers(0, 20_000, 100_000)
    y, w = draw.integers(0, 6, 100_000) / 5, draw.integers(1, 4, 100_000).astype(float)
    total = math.fsum(w)
    theta = math.fsum(w * y) / total
    sums: dict[int, float] = {}
    held: dict[int, float] = {}
    for group, value, weight in zip(groups.tolist(), y.tolist(), w.tolist(), strict=True):
        sums[group] = sums.get(group, 0.0) + weight * (value - theta)
        held[group] = held.get(group, 0.0) + weight / total
    se = math.sqrt(math.fsum(u * u / (1 - held[group]) for group, u in sums.items())) / total
    assert (
        pytest.approx(theta, rel=1e-12),
        pytest.approx(se, rel=1e-10),
        100_000,
        len(sums),
    ) == stats.cluster_mean(y, groups, weights=w)[:4]
    d = y - draw.integers(0, 6, 100_000) / 5
    mean = math.fsum(d) / len(d)
    sums.clear()
    for group, value in zip(groups.tolist(), d.tolist(), strict=True):
        sums[group] = sums.get(group, 0.0) + value - mean
    sizes = np.bincount(groups) / len(d)
    found = stats.paired(d, groups)
    se = math.sqrt(math.fsum(u * u / (1 - sizes[group]) for group, u in sums.items())) / len(d)
    assert (pytest.approx(mean, abs=1e-12), pytest.approx(se, rel=1e-9)) == (found.difference, found.se)
    assert (sum(d > 0), sum(d < 0)) == (found.n_higher, found.n_lower)


def test_time_does_not_follow_the_rows():
    """Counted, not timed: ten times the rows run no more lines of Python, so no loop goes over rows."""

    def lines(n: int) -> int:
        count = 0

        def trace(frame: Any, event: str, arg: object) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        y, groups = np.linspace(0, 1, n), np.arange(n) // 2
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            stats.estimate_mean(y, groups, low=0, high=1)
            stats.paired(y - 0.4, groups)
            stats.ratio(y, y + 1, groups=groups)
            stats.fixed_mean(y, groups)
            stats.item_variance(y, groups)
            stats.lower_tail_mean(y, groups, share=0.1)
        finally:
            sys.settrace(before)
        return count

    lines(100)  # parts of SciPy are imported when first used
    assert lines(1_000) == lines(10_000)
