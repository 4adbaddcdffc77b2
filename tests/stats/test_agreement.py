"""Raw agreement and Krippendorff's alpha. Golden values: docs/statistics.md, section 6."""

import csv

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.stats.agreement import (
    CategoryAgreement,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    weighted_kappa,
)

SCALES = ("nominal", "ordinal", "interval", "ratio")

# Krippendorff (2011), section C: 4 observers, 12 units, 0 for no value.
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
).T


def near(expected, decimals=4):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.fixture(scope="module")
def passes(judge_scores):
    """Scores of five judge passes over identical text, items by passes, and which are missing."""

    def of(model, criterion):
        marks = {
            (row["question_id"], row["iteration"]): float(row[criterion])
            for row in judge_scores
            if row["model"] == model and row["parse_status"] == "ok"
        }
        names, turns = (sorted(set(keys)) for keys in zip(*marks, strict=True))
        table = np.array([[marks.get((name, turn), -1.0) for turn in turns] for name in names])
        return table, table < 0

    return of


@pytest.fixture(scope="module")
def references(hivmedqa, judge_scores):
    """Claude's comprehension, 315 answers: scored with and without the reference."""

    def marks(rows):
        return {
            (row["question_id"], row["iteration"]): float(row["comprehension"])
            for row in rows
            if row["model"] == "Claude 3.5 Sonnet"
        }

    with_it = marks(judge_scores)
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        without = marks(row for row in csv.DictReader(file) if row["supervised"] == "False")
    return np.array([[mark, without[key]] for key, mark in sorted(with_it.items())])


@pytest.mark.parametrize(
    ("model", "criterion", "expected", "n_units", "n_dropped", "n_changed"),
    [
        ("NVLM-70B", "comprehension", (0.8308, 0.9548, 0.9537), 63, 0, 16),
        ("NVLM-70B", "harm", (0.6917, 0.8857, 0.8841), 63, 0, 23),
        ("Med42-70B", "comprehension", (0.8365, 0.9497, 0.9413), 60, 1, 14),
        ("Med42-70B", "harm", (0.7142, 0.8694, 0.8424), 60, 1, 17),
    ],
)
def test_golden_five_passes_over_identical_text(
    passes, model, criterion, expected, n_units, n_dropped, n_changed
):
    table, missing = passes(model, criterion)
    for scale, alpha in zip(SCALES, expected, strict=False):
        a = krippendorff_alpha(table, scale, missing=missing)
        assert near(alpha) == a.value
        assert (n_units, n_dropped, 5) == (a.n_units, a.n_dropped, a.n_raters)
    changed = [len(set(row[~gap])) > 1 for row, gap in zip(table, missing, strict=True)]
    assert n_changed == sum(changed)


def test_golden_with_against_without_reference(references):
    """Correlation (.3151) hides the shift of level that alpha shows."""
    assert (315, 2) == references.shape
    alphas = [krippendorff_alpha(references, scale).value for scale in SCALES[:3]]
    assert [near(0.0270), near(0.0254), near(-0.0145)] == alphas
    assert near(0.1688) == weighted_kappa(references).value
    assert near(0.422, 3) == percent_agreement(references).value


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_own_example(scale, published):
    a = krippendorff_alpha(FOUR, scale, missing=FOUR == 0)
    assert near(published, 3) == a.value
    assert (11, 40, 4, 5, 1) == (a.n_units, a.n_ratings, a.n_raters, a.n_categories, a.n_dropped)


tables = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.sampled_from([0, 1, 2, 3.5, 7]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=12,
    )
)


def filled(table):
    """The values, with something absurd where one is missing, and the mask."""
    missing = np.array([[cell is None for cell in row] for row in table])
    return np.array([[-99.0 if cell is None else cell for cell in row] for row in table]), missing


@given(tables, st.sampled_from(SCALES))
def test_alpha_is_that_of_the_krippendorff_package(table, scale):
    """PyPI's krippendorff 0.9.0 (GPL; used here alone), which refuses what is null here."""
    values, missing = filled(table)
    a = krippendorff_alpha(values, scale, missing=missing)
    pairable = ~missing[(~missing).sum(axis=1) >= 2]
    labels = values[(~missing).sum(axis=1) >= 2][pairable]
    if len(set(labels)) < 2:
        assert a.value is None
        return
    other = krippendorff.alpha(np.where(missing, np.nan, values).T, level_of_measurement=scale)
    assert pytest.approx(other, abs=1e-9) == a.value


def test_hand_worked_nominal_alpha():
    """Two units agree, one differs; a a b b a b: observed 2/6, expected 2 * 9 / 30: 1 - 5/9."""
    a = krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"]], "nominal")
    assert (pytest.approx(4 / 9), pytest.approx(1 / 3), pytest.approx(0.6)) == a[:3]
    assert (3, 6, 2, 2, 0) == a[3:]


def test_hand_worked_ordinal_alpha():
    """Ratings 1 1 2 9: mid-ranks 1, 1, 2.5, 3.5. Observed (0 + 1) / 2; expected 2 * 4.5 / 3."""
    a = krippendorff_alpha([[1, 1], [2, 9]], "ordinal")
    assert (pytest.approx(0.5), pytest.approx(3.0)) == (a.observed, a.expected)
    assert a.value == krippendorff_alpha([[1, 1], [3, 4]], "ordinal").value


def test_ratio_alpha_takes_two_zeros_as_equal_and_refuses_what_lies_below():
    """0 0 1 2: observed 1/4 * 2 * (1/3)^2; expected 2 (4 * 1 + 1/9) / 12."""
    a = krippendorff_alpha([[0, 0], [1, 2]], "ratio")
    assert (pytest.approx(1 / 18), pytest.approx(2 * (4 + 1 / 9) / 12)) == (a.observed, a.expected)
    with pytest.raises(ValueError, match=r"ratings holds -1.0: a ratio scale starts at 0"):
        krippendorff_alpha([[-1, 1], [1, 2]], "ratio")


def test_systematic_disagreement_is_below_zero():
    assert krippendorff_alpha([[1, 2], [2, 1], [1, 2], [2, 1]], "nominal").value < 0


@pytest.mark.parametrize("scale", SCALES)
def test_one_label_throughout_is_undefined(scale):
    a = krippendorff_alpha([[3, 3], [3, 3]], scale)
    assert (None, 0.0, 0.0, 2) == a[:4]


def test_a_spread_that_is_only_rounding_is_no_spread():
    """0.1 + 0.2 is not 0.3; taken at its word, alpha would be of the last digit."""
    table = [[0.3, 0.1 + 0.2], [0.3, 0.3]]
    assert [None] * 4 == [krippendorff_alpha(table, scale).value for scale in SCALES]
    assert 1.0 == percent_agreement(table).value


@each_case("scale", SCALES)
@each_case("mask", [None, True])
def test_one_rater_and_nothing_but_gaps_are_undefined(scale, mask):
    table = [[1], [2]] if mask is None else [[1, 2], [2, 2]]
    missing = None if mask is None else np.ones((2, 2), dtype=bool)
    a = krippendorff_alpha(table, scale, missing=missing)
    assert (None, None, None, 0, 0) == a[:5]
    assert 2 == a.n_dropped
    assert percent_agreement(table, missing=missing).value is None


def test_one_unit_says_only_what_it_can():
    """Two ratings that differ are all the variance there is: neither better nor worse than chance."""
    assert pytest.approx(0.0) == krippendorff_alpha([[1, 2]], "interval").value
    assert krippendorff_alpha([[1, 1]], "interval").value is None


@given(tables, st.randoms(use_true_random=False))
def test_order_of_raters_and_units_and_names_of_labels_do_not_matter(table, random):
    values, missing = filled(table)
    rows, columns = (random.sample(range(size), size) for size in values.shape)
    names = np.array([f"label {(7 * round(2 * v)) % 11}" for v in values.ravel()]).reshape(values.shape)
    for other in (values, names):
        moved, gaps = other[rows][:, columns], missing[rows][:, columns]
        one = krippendorff_alpha(values, "nominal", missing=missing)
        two = krippendorff_alpha(moved, "nominal", missing=gaps)
        assert one.value is two.value or pytest.approx(one.value) == two.value
        assert one[3:] == two[3:]
        raw, again = percent_agreement(values, missing=missing), percent_agreement(moved, missing=gaps)
        assert raw.value is again.value or pytest.approx(raw.value) == again.value
        shares = [sorted((c.n_ratings, c.value or 0) for c in p.by_category) for p in (raw, again)]
        assert pytest.approx(np.array(shares[0])) == np.array(shares[1])


@given(tables, st.floats(0.01, 100), st.floats(-50, 50))
def test_another_unit_of_measurement_does_not_matter(table, factor, shift):
    values, missing = filled(table)
    for scale in ("ordinal", "interval"):
        one = krippendorff_alpha(values, scale, missing=missing).value
        two = krippendorff_alpha(factor * values + shift, scale, missing=missing).value
        assert (one is None) == (two is None)
        assert one is None or pytest.approx(one, abs=1e-6) == two


def test_hand_worked_percent_agreement():
    """Yes twice, no once agreed, one unit split: 3/4; yes 4/5, no 2/3."""
    p = percent_agreement([["yes", "yes"], ["yes", "yes"], ["no", "no"], ["yes", "no"]])
    assert pytest.approx(0.75) == p.value
    no, yes = p.by_category
    assert CategoryAgreement("no", pytest.approx(2 / 3), 3) == no
    assert CategoryAgreement("yes", pytest.approx(4 / 5), 5) == yes


def test_percent_agreement_averages_over_units_of_unequal_size():
    """Three raters of whom two agree (1/3), two who agree (1), one alone (dropped)."""
    missing = [[False] * 3, [False, False, True], [False, True, True]]
    p = percent_agreement([[1, 1, 2], [1, 1, 0], [2, 0, 0]], missing=missing, categories=[1, 2, 3])
    assert pytest.approx(2 / 3) == p.value
    assert (2, 5, 3, 1) == p[2:]
    assert [(1, pytest.approx(4 / 6), 4), (2, 0.0, 1), (3, None, 0)] == [tuple(c) for c in p.by_category]


def test_raw_agreement_on_one_label_is_one():
    assert 1.0 == percent_agreement([["a", "a"]]).value


def test_at_a_skewed_prevalence_the_coefficients_part():
    """Feinstein & Cicchetti's paradox: 90 of 100 raw, kappa and alpha near 0, AC1 near .9."""
    table = [["no", "no"]] * 90 + [["no", "yes"]] * 5 + [["yes", "no"]] * 5
    p = percent_agreement(table)
    assert (pytest.approx(0.9), 0.0) == (p.value, p.by_category[1].value)
    assert weighted_kappa(np.array(table) == "yes").value == pytest.approx(-1 / 19)
    assert krippendorff_alpha(table, "nominal").value == pytest.approx(-0.0474, abs=1e-4)
    assert gwet_ac1(table).value == pytest.approx(0.8895, abs=1e-4)


def test_labels_of_several_kinds_are_labels():
    table = np.array([[1, 1], ["one", "one"], [True, "one"]], dtype=object)
    assert pytest.approx(2 / 3) == percent_agreement(table).value
    assert krippendorff_alpha(np.array([[True, False], [True, True]]), "nominal").value is not None


def test_what_cannot_be_read_is_refused_with_its_place():
    nan = float("nan")
    with pytest.raises(ValueError, match="ratings holds nan at unit 1, rater 0: mark it in `missing`"):
        krippendorff_alpha([[1, 2], [nan, 2]], "interval")
    with pytest.raises(ValueError, match="ratings holds None at unit 0, rater 1"):
        percent_agreement([["a", None], ["b", "b"]])
    with pytest.raises(ValueError, match="ratings holds inf at unit 0, rater 0"):
        krippendorff_alpha([[np.inf, 2]], "nominal")
    assert percent_agreement([[1, nan]], missing=[[False, True]]).n_dropped == 1
    assert percent_agreement([["a", None]], missing=[[False, True]]).n_dropped == 1
    with pytest.raises(ValueError, match="must be numbers on this scale"):
        krippendorff_alpha([["low", "high"]], "ordinal")
    with pytest.raises(ValueError, match="two dimensions"):
        krippendorff_alpha([1, 2], "nominal")
    with pytest.raises(ValueError, match=r"is empty, with the shape \(0, 3\)"):
        krippendorff_alpha(np.empty((0, 3)), "nominal")
    with pytest.raises(ValueError, match=r"booleans of the shape \(1, 2\), but is bool of the shape \(2,\)"):
        percent_agreement([[1, 2]], missing=[True, False])
    with pytest.raises(ValueError, match="missing must be booleans"):
        percent_agreement([[1, 2]], missing=[[0, 1]])
    with pytest.raises(ValueError, match="ratings holds 4 at unit 0, rater 1: no such category"):
        percent_agreement([[1, 4]], categories=[1, 2, 3])
    with pytest.raises(ValueError, match="names a label twice"):
        percent_agreement([[1, 2]], categories=[1, 2, 2])
    with pytest.raises(ValueError, match=r"list of labels, but has the shape \(0,\)"):
        percent_agreement([[1, 2]], categories=[])
    with pytest.raises(ValueError, match="scale must be nominal"):
        krippendorff_alpha([[1, 2]], "metric")
