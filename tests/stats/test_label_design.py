"""Drawing cases for labels: by hand, by enumeration, and what a draw costs where the judge says nothing."""

import itertools

import numpy as np
import pytest

from vivavoce.stats import label_design
from vivavoce.stats.label_design import PRICE, allocation, case_probabilities, draw_cases

RNG = np.random.default_rng(16)
TIED = np.concatenate([np.zeros(70), RNG.choice([-2.0, -1.0, 1.0, 2.0], 30)])
"""A judge who sees a difference in 30 of 100 cases."""


@pytest.fixture
def rng():
    """Numbers of this test alone, whichever test ran before it."""
    return np.random.default_rng(17)


def neyman(sizes, n, earlier=None):
    sizes = np.array(sizes, dtype=float)
    before = np.zeros(len(sizes)) if earlier is None else np.array(earlier)
    return allocation(sizes, n, earlier=before, free=np.ones(len(sizes), dtype=bool))


def second_draw(judged=TIED, people=None, n_first=30, n=20, seed=3, **more):
    """A draw after a first one whose labels are `people`; the cases of the first draw, and the second."""
    rng = np.random.default_rng(seed)
    first = case_probabilities(n_first, judged=judged)
    drawn = draw_cases(first.total, numbers=rng.random(len(judged)), start=rng.random())
    at = np.flatnonzero(drawn)
    labels = (judged if people is None else people)[at]
    folds = np.arange(len(judged)) % 5
    return at, case_probabilities(
        *(n,),
        **{"judged": judged, "earlier": first.total, "free": ~drawn, "labels": labels, "labelled": at,
           "folds": folds} | more,
    )  # fmt: skip


# Allocation


def test_neyman_on_three_cases():
    """Residuals of size 1, 2 and 3: one draw goes to them as 1 : 2 : 3."""
    np.testing.assert_allclose([1 / 6, 2 / 6, 3 / 6], neyman([1, 2, 3], 1))
    np.testing.assert_allclose([1 / 3, 2 / 3, 1], neyman([1, 2, 3], 2))


def test_a_case_cannot_be_drawn_more_than_once():
    """2 of sizes 1, 1, 4: the third is certain, and the others share one draw."""
    np.testing.assert_allclose([0.5, 0.5, 1], neyman([1, 1, 4], 2))


def test_a_second_draw_makes_up_for_the_first():
    """Drawn with 1/4 before, sizes 1, 1, 2, one more: totals c, c, 2c where 4c - 3/4 = 3/4 · 1, c = 3/8."""
    now = neyman([1, 1, 2], 1, [0.25] * 3)
    np.testing.assert_allclose([1 / 6, 1 / 6, 2 / 3], now)
    np.testing.assert_allclose([3 / 8, 3 / 8, 3 / 4], 0.25 + 0.75 * now)


def test_no_probability_is_zero():
    """(1/2 was too much for the first two, yet they keep a tenth of the mean: 0.1 · 1/3."""
    np.testing.assert_allclose([1 / 30, 1 / 30, 28 / 30], neyman([1, 1, 2], 1, [0.5] * 3))


# The draw


@pytest.mark.parametrize("probabilities", [(0.5, 0.7, 0.8), (0.2, 0.2, 0.6), (0.1, 0.9, 1.0)])
def test_inclusion_is_exact_over_all_orders_and_starts(probabilities):
    """Ends fall on tenths, so ten starts between them stand for all."""
    p = np.array(probabilities)
    draws = [
        draw_cases(p, numbers=order, start=start)
        for order in itertools.permutations([0.1, 0.2, 0.3])
        for start in np.arange(0.05, 1, 0.1)
    ]
    assert {round(p.sum())} == {int(draw.sum()) for draw in draws}
    np.testing.assert_allclose(p, np.mean(draws, axis=0), atol=1e-12)


def test_equal_probabilities_are_a_simple_random_sample():
    """2 of 4: each of the six pairs in a sixth of all orders and starts."""
    counts: dict[tuple[int, ...], int] = {}
    for order in itertools.permutations([0.1, 0.2, 0.3, 0.4]):
        for start in (0.25, 0.75):
            pair = tuple(np.flatnonzero(draw_cases([0.5] * 4, numbers=order, start=start)))
            counts[pair] = counts.get(pair, 0) + 1
    assert {pair: 8 for pair in itertools.combinations(range(4), 2)} == counts


def test_the_order_of_cases_does_not_matter(rng):
    p, numbers = rng.uniform(0.1, 0.9, 50), rng.random(50)
    p *= 20 / p.sum()
    draw, turn = draw_cases(p, numbers=numbers, start=0.3), rng.permutation(50)
    assert list(draw[turn]) == list(draw_cases(p[turn], numbers=numbers[turn], start=0.3))


def test_sums_of_decimals_lose_no_case(rng):
    for n in range(1, 30):
        assert n == draw_cases(np.full(30, n / 30), numbers=rng.random(30), start=0.999999).sum()


def test_a_sum_that_rounding_puts_below_a_whole_number_loses_no_case():
    assert np.cumsum([0.1] * 10)[-1] < 1
    assert 1 == draw_cases([0.1] * 10, numbers=np.arange(10), start=0.0).sum()


def test_a_sum_between_whole_numbers_is_not_rounded():
    assert 1 == draw_cases([0.4] * 4, numbers=np.arange(4), start=0.3).sum()
    assert 2 == draw_cases([0.4] * 4, numbers=np.arange(4), start=0.5).sum()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"probabilities": []}, "empty"),
        ({"probabilities": [0.5, 1.1]}, "from 0 to 1"),
        ({"probabilities": [0.5, np.nan]}, "position 1"),
        ({"numbers": [0.1]}, "2 are needed"),
        ({"start": 1.0}, "below 1"),
    ],
)
def test_a_draw_refuses_what_does_not_fit(change, sentence):
    settings = {"probabilities": [0.5, 0.5], "numbers": [0.1, 0.2], "start": 0.5} | change
    with pytest.raises(ValueError, match=sentence):
        draw_cases(settings.pop("probabilities"), **settings)


# Probabilities without labels


def test_a_judge_who_sees_no_difference_anywhere_leaves_a_uniform_draw():
    draw = case_probabilities(3, judged=np.zeros(10))
    np.testing.assert_allclose(0.3, draw.total)
    assert 1 == pytest.approx(draw.price)


def test_ties_are_drawn_less_where_most_cases_are_tied():
    draw = case_probabilities(20, judged=TIED)
    assert draw.total[:70].max() < draw.total[70:].min()
    assert 20 == pytest.approx(draw.total.sum())


def test_a_difference_says_nothing_where_nearly_every_case_has_one():
    """Where a good judge sees ties rarely, these hold as many of the errors."""
    draw = case_probabilities(20, judged=[0] * 20 + [1, -1] * 40)
    np.testing.assert_allclose(0.2, draw.total)


def test_cases_on_which_passes_disagree_are_drawn_more():
    spread = np.r_[np.zeros(80), np.ones(20)]
    draw = case_probabilities(20, judged=np.tile([1.0, -1.0], 50), spread=spread)
    assert draw.total[:80].max() < draw.total[80:].min()


@pytest.mark.parametrize("judged", [TIED, RNG.normal(size=200), RNG.pareto(1.2, 300), [0] * 99 + [5]])
def test_without_labels_the_price_of_a_wrong_judge_is_limited(judged):
    assert case_probabilities(20, judged=judged).price <= PRICE + 1e-6


def test_a_draw_of_all_cases_is_certain():
    np.testing.assert_array_equal(1, case_probabilities(200, judged=TIED).total)


def test_probabilities_follow_their_cases(rng):
    turn = rng.permutation(100)
    one, other = (case_probabilities(20, judged=d) for d in (TIED, TIED[turn]))
    np.testing.assert_allclose(one.total[turn], other.total)


def test_one_case_can_be_drawn():
    assert [1] == list(case_probabilities(1, judged=[0.5]).total)


# Probabilities with labels


def test_labels_that_find_the_ties_right_move_the_draw_to_differences(rng):
    """People see no difference where the judge sees none, and their own elsewhere."""
    people = np.where(TIED == 0, 0, rng.choice([-2.0, 2.0], 100))
    before = case_probabilities(20, judged=TIED).total
    _, after = second_draw(people=people)
    assert after.total[70:].mean() / after.total[:70].mean() > 1.4 * before[70:].mean() / before[:70].mean()


def test_labels_that_owe_the_judge_nothing_bring_the_draw_back_to_uniform(rng):
    """50 labels of a random judge: the price falls towards 1."""
    people = rng.choice([-1.0, 0.0, 1.0], 300)
    judged = np.where(rng.random(300) < 0.7, 0, rng.choice([-1.0, 1.0], 300))
    prices = [second_draw(judged, people, 50, 50, seed)[1].price for seed in range(10)]
    assert np.mean(prices) < 1.02


def test_total_is_of_both_draws():
    _, draw = second_draw()
    before = case_probabilities(30, judged=TIED).total
    np.testing.assert_allclose(1 - (1 - before) * (1 - draw.now), draw.total)


def test_the_second_draw_takes_as_many_as_asked_from_those_that_are_left():
    at, draw = second_draw(n=20)
    left = np.setdiff1d(np.arange(100), at)
    assert 20 == pytest.approx(draw.now[left].sum())


def test_a_label_does_not_enter_the_prediction_of_its_own_case(rng):
    """The totals of one fold keep their ratios whatever its labels are."""
    people = TIED + rng.normal(size=100)
    at, draw = second_draw(people=people)
    fold = np.flatnonzero(np.arange(100) % 5 == at[0] % 5)
    changed = people.copy()
    changed[at[0]] = 50
    _, other = second_draw(people=changed)
    inside = [i for i in fold if 0.05 < min(draw.now[i], other.now[i]) and max(draw.now[i], other.now[i]) < 1]
    assert len(inside) > 5
    ratios = draw.total[inside] / other.total[inside]
    np.testing.assert_allclose(ratios[0], ratios, rtol=1e-6)
    assert draw.total[0] != pytest.approx(other.total[0], rel=1e-3)


def test_few_labels_say_nothing_yet(monkeypatch):
    """With fewer than ten labels the draw is as if there were none."""
    at, draw = second_draw(n_first=9)
    monkeypatch.setattr(label_design, "FEWEST_LABELS", 1000)
    np.testing.assert_allclose(second_draw(n_first=9)[1].total, draw.total)
    assert 9 == len(at)


def test_labels_that_all_agree_with_the_judge_keep_the_prediction():
    _, draw = second_draw(people=TIED)
    assert np.isfinite(draw.total).all()
    assert draw.total.min() > 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": 0}, "at least 1"),
        ({"judged": []}, "empty"),
        ({"judged": [np.nan, 1]}, "position 0"),
        ({"earlier": [0.5, 1.5]}, "from 0 to 1"),
        ({"free": [False, False]}, "none left"),
        ({"labels": [1.0], "labelled": [0]}, "earlier probability above 0"),
        ({"spread": [1.0]}, "2 are needed"),
    ],
)
def test_probabilities_refuse_what_does_not_fit(change, sentence):
    settings = {"n": 1, "judged": [0.0, 1.0]} | change
    with pytest.raises(ValueError, match=sentence):
        case_probabilities(settings.pop("n"), **settings)


def test_labels_without_folds_are_refused():
    with pytest.raises(ValueError, match="folds"):
        second_draw(folds=None)
