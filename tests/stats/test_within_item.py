"""Correlation inside items, and measures chosen on one half of the groups and reported on the other."""

import numpy as np
import pytest
from tests.lengths import length

from vivavoce import stats

ITEMS = [0, 0, 0, 1, 1, 1]


def of(*columns, items=ITEMS, groups=None):
    return stats.within_items(columns, items, items if groups is None else groups)


def test_values_are_centred_at_their_item():
    """By hand: inside both items the second column falls as the first rises, though its level rises."""
    within = of([1, 2, 3, 11, 12, 13], [3, 2, 1, 30, 29, 28])
    assert -1 == within.correlation(0, 1).value


def test_a_hand_worked_figure():
    """Centred (-1, 0, 1 | -1, 0, 1) and (0, -1, 1 | -1, 1, 0): products 1 + 1, squares 4 and 4."""
    within = of([1, 2, 3, 1, 2, 3], [2, 1, 3, 5, 7, 6])
    assert pytest.approx(2 / 4, abs=1e-15) == within.correlation(0, 1).value


def test_it_equals_the_item_centred_level_of_a_complete_table():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5, 12))
    items = np.tile(np.arange(12), 5)
    expected = stats.correlation_at(x, y, level="item_centred", coefficient="pearson").value
    assert pytest.approx(expected, abs=1e-12) == of(x.ravel(), y.ravel(), items=items).correlation(0, 1).value


def test_what_a_system_has_on_all_items_is_taken_out():
    """Residuals by numpy's least squares on dummies of items and systems, where systems lack items."""
    rng = np.random.default_rng(5)
    items, systems = (x.ravel() for x in np.indices((20, 4)))
    present = rng.random(80) < 0.8
    items, systems = items[present], systems[present]
    columns = rng.normal(size=(2, len(items))) + rng.normal(size=(2, 4))[:, systems]
    dummies = np.column_stack([items[:, None] == np.arange(20), systems[:, None] == np.arange(4)]).astype(
        float
    )
    residuals = columns.T - dummies @ np.linalg.lstsq(dummies, columns.T, rcond=None)[0]
    sums = stats.within_items(columns, items, items, systems=systems)
    assert np.allclose(residuals.T @ residuals, sums.products.sum(axis=0), atol=1e-12)


def test_a_column_that_knows_only_the_system_does_not_vary():
    systems = [0, 1, 2, 0, 1, 2]
    sums = stats.within_items([[1, 2, 4, 7, 8, 10], [1, 2, 3, 1, 3, 2]], ITEMS, ITEMS, systems=systems)
    assert [False, True] == [sums.varies(0), sums.varies(1)]
    with pytest.raises(ValueError, match="no label at position 1"):
        stats.within_items([[1, 2, 3]], [0, 0, 1], [0, 0, 1], systems=["a", None, "b"])


def test_leaving_a_group_out_equals_computing_without_it():
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(24), 3)
    groups = items // 2
    x, y, z = rng.normal(size=(3, 72))
    figure = of(x, y, z, items=items, groups=groups).correlation(0, 1, controls=[2])
    for g in range(12):
        rest = groups != g
        own = of(x[rest], y[rest], z[rest], items=items[rest], groups=groups[rest])
        assert pytest.approx(own.correlation(0, 1, controls=[2]).value, abs=1e-12) == figure.without[g]


def test_a_partial_correlation_is_that_of_the_residuals():
    """Residuals by numpy's least squares, version 2, on the centred columns."""
    rng = np.random.default_rng(3)
    items = np.repeat(np.arange(20), 4)
    x, y, z = rng.normal(size=(3, 80)) + rng.normal(size=20)[items]
    x += z

    def centred(values):
        return values - (np.bincount(items, values) / 4)[items]

    x0, y0, z0 = map(centred, (x, y, z))
    residuals = [v - z0 * np.linalg.lstsq(z0[:, None], v, rcond=None)[0][0] for v in (x0, y0)]
    expected = np.corrcoef(*residuals)[0, 1]
    assert (
        pytest.approx(expected, abs=1e-12) == of(x, y, z, items=items).correlation(0, 1, controls=[2]).value
    )


def test_a_column_that_is_held_already_leaves_nothing():
    x = [1.0, 2, 4, 1, 3, 2]
    within = of(x, [2, 1, 3, 5, 7, 6], [2 * v + 1 for v in x])
    assert within.correlation(0, 1, controls=[2]).value is None


def test_what_does_not_vary_inside_items_has_no_correlation():
    """Ties everywhere: items differ and responses do not."""
    within = of([0.1, 0.1, 0.1, 0.7, 0.7, 0.7], [1, 2, 3, 1, 2, 3])
    assert not within.varies(0)
    assert within.varies(1)
    assert within.correlation(0, 1).value is None


def test_scale_level_and_order_of_rows_do_not_matter():
    rng = np.random.default_rng(4)
    items = np.repeat(np.arange(15), 3)
    x, y = rng.normal(size=(2, 45))
    value = of(x, y, items=items).correlation(0, 1).value
    turn = rng.permutation(45)
    other = of((5 * x + items)[turn], (y / 3)[turn], items=items[turn])
    assert pytest.approx(value, abs=1e-12) == other.correlation(0, 1).value


@pytest.mark.parametrize(
    ("columns", "groups", "words"),
    [
        ([[]], [], "two dimensions"),
        ([[1.0, np.nan]], [0, 0], "column 0 at position 1"),
        ([[1.0, 2.0]], [0, 1], "groups differs inside one of the items"),
    ],
)
def test_what_cannot_be_centred_is_refused(columns, groups, words):
    with pytest.raises(ValueError, match=words):
        stats.within_items(columns, [0] * len(groups), groups)


def test_the_interval_of_a_correlation_inside_items_covers_it():
    """200 tables of 30 items by 5: the interval holds the true .5 in 92 to 98 % of them."""
    rng, items, held = np.random.default_rng(5), np.repeat(np.arange(30), 5), 0
    for _ in range(200):
        x = rng.normal(size=150)
        y = 0.5 * x + np.sqrt(0.75) * rng.normal(size=150)
        interval = of(x, y, items=items).correlation(0, 1).jackknife()
        held += interval.low < 0.5 < interval.high
    assert 184 <= held <= 196


def halves(rng, informative=(), n_groups=40, n_systems=6):
    """Six columns and a target, the last, in two halves; these columns have the correlations given."""
    items = np.repeat(np.arange(n_groups), n_systems)
    target = rng.normal(size=len(items))
    columns = rng.normal(size=(6, len(items)))
    for column, r in informative:
        columns[column] = r * target + np.sqrt(1 - r**2) * columns[column]
    within = stats.within_items([*columns, target], items, items)
    order = rng.permutation(n_groups)
    return within.of(order[: n_groups // 2]), within.of(order[n_groups // 2 :])


def chosen(pair):
    return stats.choose_measures(*pair, target=6, columns=range(6))


def test_of_pure_noise_nothing_is_kept():
    """In at least 95 % of the draws; the bound of the test is 97.5 %."""
    rng = np.random.default_rng(6)
    kept = [chosen(halves(rng)).confirmed for _ in range(length(80, 200))]
    assert sum(not k for k in kept) >= 0.95 * len(kept)


def test_the_one_informative_column_is_named():
    rng = np.random.default_rng(7)
    kept = [chosen(halves(rng, [(3, 0.5)])).confirmed for _ in range(60)]
    assert sum(k == (3,) for k in kept) >= 54


def test_the_reported_figure_knows_nothing_of_the_choice():
    """Of noise the best looks good on the half that chose it, and like nothing on the other."""
    rng = np.random.default_rng(8)
    before, after = [], []
    for _ in range(length(120, 300)):
        pair = halves(rng)
        choice = chosen(pair)
        if choice.order:
            before.append(pair[0].correlation(choice.order[0], 6).value)
            after.append(choice.gains[0].value)
    assert len(after) > length(40, 100)
    assert np.mean(before) > 0.15
    assert abs(np.mean(after)) < 3 * np.std(after) / np.sqrt(len(after))


def test_the_reported_figure_of_a_true_measure_is_unbiased():
    rng = np.random.default_rng(9)
    after = []
    for _ in range(length(80, 200)):
        choice = chosen(halves(rng, [(2, 0.4)]))
        after += [choice.gains[0].value] if choice.order[:1] == (2,) else []
    assert abs(np.mean(after) - 0.4) < 3 * np.std(after) / np.sqrt(len(after))


def test_of_two_equal_columns_the_first_is_kept_and_the_other_adds_nothing():
    rng = np.random.default_rng(10)
    items = np.repeat(np.arange(40), 6)
    y = rng.normal(size=240)
    x = 0.6 * y + 0.8 * rng.normal(size=240)
    within = stats.within_items([x, 3 * x + 1, y], items, items)
    pair = within.of(np.arange(20)), within.of(np.arange(20, 40))
    assert (0,) == stats.choose_measures(*pair, target=2, columns=[0, 1]).confirmed


def test_a_column_that_runs_against_the_target_is_not_kept():
    rng = np.random.default_rng(11)
    assert () == chosen(halves(rng, [(k, -0.6) for k in range(6)])).confirmed


def test_two_columns_that_each_add_are_both_kept_and_say_more_together():
    rng = np.random.default_rng(12)
    items = np.repeat(np.arange(80), 6)
    a, b = rng.normal(size=(2, 480))
    y = a + b + rng.normal(size=480)
    within = stats.within_items([a, rng.normal(size=480), b, y], items, items)
    pair = within.of(np.arange(40)), within.of(np.arange(40, 80))
    choice = stats.choose_measures(*pair, target=3, columns=range(3))
    assert {0, 2} == set(choice.confirmed)
    assert choice.together.value > max(pair[1].correlation(k, 3).value for k in (0, 2)) + 0.1


def test_halves_of_other_columns_are_refused():
    first, _ = halves(np.random.default_rng(1))
    with pytest.raises(ValueError, match="the same columns"):
        stats.choose_measures(first, of([1, 2, 3, 1, 2, 3]), target=0, columns=[0])
