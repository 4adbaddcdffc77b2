"""Twins. Golden values: docs/statistics.md."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats import holm, mde, paired
from vivavoce.stats.fixed_items import drops, flip_rates

MEANT = ("comprehension", "reasoning", "knowledge_recall", "harm")


def near(expected, decimals=4):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.fixture(scope="module")
def twins(judge_scores):
    """By model and question, each answer's mean of four criteria and its comprehension; source of each twin.

    Scores that could not be read are None; the third entry says whether the answer was blank.
    """
    marks, source = defaultdict(lambda: defaultdict(list)), {}
    for row in judge_scores:
        if row["group"] != row["question_id"]:
            source[row["question_id"]] = row["group"]
        ok = row["parse_status"] == "ok"
        marks[row["model"]][row["question_id"]].append(
            (
                np.mean([float(row[c]) for c in MEANT]) if ok else None,
                float(row["comprehension"]) if ok else None,
                row["answer_blank"] == "True",
            )
        )
    return marks, source


def golden_drops(twins, blanks_as=None):
    """Drops of the ten models; `blanks_as`: what a blank answer counts, if not what the judge said."""
    marks, source = twins
    models = sorted(set(marks) - {"Rephrased Gold Answers"})
    differences, groups = [], []
    for model in models:
        mean = {}
        for name, rows in marks[model].items():
            known = [m if not blank or blanks_as is None else blanks_as for m, _, blank in rows]
            if kept := [m for m in known if m is not None]:
                mean[name] = np.mean(kept)
        pairs = sorted(name for name in source if name in mean and source[name] in mean)
        differences.append([mean[source[name]] - mean[name] for name in pairs])
        groups.append([source[name] for name in pairs])
    return dict(zip(models, drops(differences, groups), strict=True))


@pytest.mark.parametrize(
    ("model", "drop", "se", "low", "high", "p", "p_holm", "found"),
    [
        ("MedGemma 27B", 0.2595, 0.0985, 0.0540, 0.4651, 0.0159, 0.1592, 0.290),
        ("Meditron 3-70B", 0.2833, 0.1182, 0.0367, 0.5300, 0.0265, 0.2381, 0.348),
        ("NVLM-70B", 0.3381, 0.2216, -0.1241, 0.8003, 0.1427, 0.7135, 0.653),
        ("Gemini 2.5 Pro", 0.0071, 0.0822, -0.1643, 0.1786, 0.9316, 1, 0.242),
    ],
)
def test_golden_drops_on_biased_twins(twins, model, drop, se, low, high, p, p_holm, found):
    d = golden_drops(twins)[model]
    assert (near(drop), near(se), 21) == (d.paired.difference, d.paired.se, d.paired.n_groups)
    assert (near(low), near(high)) == (d.low, d.high)
    assert (near(p), near(p_holm), near(found, 3)) == (d.paired.p, d.p_holm, d.mde)


def test_golden_none_of_ten_survives_and_med42_has_twenty_pairs(twins):
    ten = golden_drops(twins)
    assert 10 == len(ten)
    assert min(d.p_holm for d in ten.values()) > 0.05
    assert 20 == ten["Med42-70B"].paired.n_items


def test_golden_blanks_as_zero_change_the_family(twins):
    assert near(0.8562) == golden_drops(twins, blanks_as=0.0)["NVLM-70B"].p_holm


@pytest.mark.parametrize(
    ("model", "twin", "repeat"),
    [
        ("Meditron 3-70B", 0.272, 0.257),
        ("MedGemma 27B", 0.259, 0.210),
        ("Gemini 2.5 Pro", 0.105, 0.110),
    ],
)
def test_golden_flip_rates_beside_their_floor(twins, model, twin, repeat):
    marks, source = twins
    outcomes, pairs, versions = [], [], []
    for name, origin in source.items():
        for version in (origin, name):
            for _, comprehension, _ in marks[model][version]:
                outcomes.append(comprehension >= 4)
                pairs.append(name)
                versions.append("source" if version == origin else "twin")
    f = flip_rates(outcomes, pairs, versions=versions)
    assert (near(twin, 3), near(repeat, 3)) == (f.twin.value, f.repeat.value)
    assert (21, 42, 21) == (f.twin.n, f.repeat.n, f.repeat.n_groups)
    assert pytest.approx(f.twin.value - f.repeat.value) == f.excess.value
    copied = flip_rates(outcomes, pairs, versions=versions, repeats="copied")
    assert (f.twin, None, None) == copied


def test_drops_are_paired_tests_with_holm():
    rng = np.random.default_rng(1)
    d = [rng.normal(m, 1, 30) for m in (0, 0.5, 1)]
    made = drops(d, [np.arange(30)] * 3)
    assert [paired(x, np.arange(30)) for x in d] == [m.paired for m in made]
    assert list(holm([m.paired.p for m in made])) == [m.p_holm for m in made]
    assert [mde(m.paired.se, df=29) for m in made] == pytest.approx([m.mde for m in made])
    assert made[0].paired.interval() == (made[0].low, made[0].high)
    assert () == drops([], [])


def test_a_drop_of_few_different_pairs_has_the_p_of_sign_flips():
    (one,) = drops([[1.0] * 6 + [0.0] * 20], [np.arange(26)])
    assert (2 * 0.5**6, "sign-flip") == (one.p_holm, one.paired.test)
    assert (one.paired.interval(), True) == ((one.low, one.high), one.low > 0)
    assert mde(one.paired.se, df=25) == one.mde


def test_drop_of_one_group_has_no_interval():
    (one,) = drops([[1, 2]], [["a", "a"]])
    assert (1.5, None, None, 1.0, None) == (one.paired.difference, one.low, one.high, one.p_holm, one.mde)


def flat(data):
    rows = [(o, p, v) for p, sides in enumerate(data) for v, side in enumerate(sides) for o in side]
    return [list(column) for column in zip(*rows, strict=True)]


sides = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=6))
def test_rates_are_shares_of_enumerated_couples(data):
    outcomes, pairs, versions = flat(data)
    f = flip_rates(outcomes, pairs, versions=versions)
    assert (
        pytest.approx(np.mean([np.mean([x != y for x, y in product(s, t)]) for s, t in data])) == f.twin.value
    )
    floors = [
        np.mean([x != y for x, y in combinations(side, 2)]) for pair in data for side in pair if len(side) > 1
    ]
    assert (f.repeat is None) == (not floors)
    assert f.repeat is None or pytest.approx(np.mean(floors)) == f.repeat.value
    swapped = flip_rates(outcomes, [f"pair {p}" for p in pairs], versions=[1 - v for v in versions])
    assert pytest.approx(f.twin.value) == swapped.twin.value
    assert f.excess is None or pytest.approx(f.excess.value) == swapped.excess.value


def test_hand_worked_rates():
    """Source a, a, b; twin b, b: 4 of 6 couples differ; repeats 2 of 3 and 0: floor 1/3, excess 1/3."""
    f = flip_rates(list("aabbb"), [0] * 5, versions=[0, 0, 0, 1, 1])
    assert pytest.approx((2 / 3, 1 / 3, 1 / 3)) == (f.twin.value, f.repeat.value, f.excess.value)
    assert (None, None) == (f.twin.low, f.excess.low)


def test_a_twin_that_only_repeats_the_noise_has_no_excess():
    """Same words, chance .7 of a: both rates are near .42, and the interval of the excess holds 0."""
    o = np.random.default_rng(2).random(4000) < 0.7
    k = np.arange(4000)
    f = flip_rates(o, k // 10, versions=k // 5 % 2)
    assert pytest.approx(0.42, abs=0.02) == f.twin.value
    assert f.excess.low < 0 < f.excess.high


def test_single_answers_have_no_floor_and_two_groups_an_interval():
    f = flip_rates(list("abaa"), [0, 0, 1, 1], versions=[0, 1, 0, 1])
    assert (0.5, None, None) == (f.twin.value, f.repeat, f.excess)
    assert 0 <= f.twin.low < 0.5 < f.twin.high <= 1
    never = flip_rates(list("aaaa"), [0, 0, 1, 1], versions=[0, 1, 0, 1])
    assert (0.0, 0.0) == (never.twin.value, never.twin.low)
    assert never.twin.high > 0


def test_pairs_of_one_source_share_a_group():
    f = flip_rates(list("abaaab"), [0, 0, 1, 1, 2, 2], versions=[0, 1] * 3, groups=list("xxxxyy"))
    assert (3, 2) == (f.twin.n, f.twin.n_groups)


def test_misfits_are_refused_with_their_position():
    with pytest.raises(ValueError, match="outcomes is empty"):
        flip_rates([], [], versions=[])
    with pytest.raises(ValueError, match="versions holds 1 labels, 2 are needed"):
        flip_rates([1, 1], [0, 0], versions=[0, 0])
    with pytest.raises(ValueError, match="the pair at position 2 has one version only"):
        flip_rates([1, 1, 1], [0, 0, 1], versions=[0, 1, 1])
    with pytest.raises(ValueError, match="outcomes has no label at position 1"):
        flip_rates([1.0, float("nan")], [0, 0], versions=[0, 1])
    with pytest.raises(ValueError, match="groups differs inside one of the pairs"):
        flip_rates([1, 1], [0, 0], versions=[0, 1], groups=[0, 1])
    with pytest.raises(ValueError, match="differences holds nan at position 0"):
        drops([[float("nan")]], [[0]])
    with pytest.raises(ValueError, match="2 arrays of differences, 1 of groups"):
        drops([[1], [2]], [[0]])


def test_a_million_answers_are_no_matter():
    k = np.arange(10**6)
    f = flip_rates(np.random.default_rng(3).integers(0, 4, 10**6), k // 10, versions=k // 5 % 2)
    assert (pytest.approx(0.75, abs=0.002), pytest.approx(0.75, abs=0.002)) == (f.twin.value, f.repeat.value)
