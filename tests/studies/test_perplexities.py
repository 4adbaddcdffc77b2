"""Perplexities in a run: pooled, with an interval on the log scale, compared and correlated there."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr
from scipy.stats import t as student
from tests.cases import each_case
from tests.studies.making import borrowed, made, marked, row, score, twins

from vivavoce import stats
from vivavoce.core import registry
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.run.run import Run
from vivavoce.studies.comparing.paired import Compared, Pair, PooledFigures
from vivavoce.studies.pooling import TOO_LARGE
from vivavoce.studies.text import factor, number

LIKELY = Path(__file__).with_name("told_perplexity.py")
SPEC = "counted(pool=exp_ratio, low=0.5, high=null, direction=lower)"


def text(nats: float, size: float = 2) -> str:
    return f"numerator={nats} denominator={size}"


def texts(nats: Sequence[float], sizes: Sequence[float]) -> dict[str, str | float]:
    return twins([text(*pair) for pair in zip(nats, sizes, strict=True)])


def estimate(folder: Path, answers: Any) -> dict[str, Any]:
    found = row(score(made(folder, {"A": answers}), SPEC), candidate="A")
    json.dumps(found, allow_nan=False)
    return found


def compare(folder: Path, answers: Any, **settings: Any) -> tuple[dict[str, Any], Finding]:
    found = marked(folder, answers, SPEC).compare("A", "B", metric="counted", **settings)
    json.dumps(found.rows, allow_nan=False)
    return dict(found.rows[0]), found


# One candidate


def test_a_perplexity_is_exp_of_sum_over_sum(tmp_path: Path) -> None:
    """ln 2 over 1 byte and 4 ln 2 over 2: 5 ln 2 / 3, so 2^(5/3) = 3.175; the mean of 2 and 4 would be 3."""
    found = estimate(tmp_path, texts([math.log(2), 4 * math.log(2)], [1, 2]))
    assert pytest.approx(2 ** (5 / 3)) == found["estimate"]
    few = "no interval: fewer than 10 effective cases"
    assert ("pooled", 2, 2, 1.0, few) == tuple(
        found[k] for k in ("view", "n_items", "n_groups", "coverage", "reason")
    )


def test_its_interval_is_that_of_the_logarithm(tmp_path: Path) -> None:
    """By CR2, each text's residual divided by sqrt(1 - its share of the bytes), logs of nats per byte."""
    nats = np.array([9.0, 14.0, 22.0, 6.0, 30.0, 8.0, 17.0, 20.0, 7.0, 28.0, 11.0, 12.0])
    sizes = np.array([6.0, 7.0, 9.0, 6.0, 8.0, 6.0, 7.0, 9.0, 6.0, 8.0, 6.0, 7.0])
    found = estimate(tmp_path, texts(nats.tolist(), sizes.tolist()))
    theta = nats.sum() / sizes.sum()
    u = nats - theta * sizes
    se = math.sqrt(float((u**2 / (1 - sizes / sizes.sum())).sum())) / sizes.sum()
    effective = stats.effective_groups(range(12), weights=sizes)
    assert 10 < effective < 12
    assert pytest.approx(effective) == found["effective_cases"]
    half = student.ppf(0.975, effective - 1) * se / theta
    assert pytest.approx([math.exp(theta * math.exp(k * half)) for k in (0, -1, 1)]) == [
        found[k] for k in ("estimate", "low", "high")
    ]


def test_what_is_above_the_largest_number_is_null_and_says_so(tmp_path: Path) -> None:
    found = estimate(tmp_path, texts([2000.0, 2000.0], [1, 2]))
    assert (None, None, TOO_LARGE) == tuple(found[k] for k in ("estimate", "low", "reason"))


def test_an_interval_without_an_upper_end_is_none(tmp_path: Path) -> None:
    """In the mean 600 nats, and the upper end of the logarithm is above 709."""
    found = estimate(tmp_path, texts([200.0, 1000.0] * 5, [1] * 10))
    assert (pytest.approx(math.exp(600)), None, None) == tuple(found[k] for k in ("estimate", "low", "high"))
    assert "its upper end is above the largest number there is" in found["reason"]


def test_one_case_has_no_interval(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"q1": text(2.0), "q1|bias:recency": text(3.0)})
    assert (math.exp(5 / 4), None) == (found["estimate"], found["low"])
    assert "one case only: no interval" == found["reason"]


def test_the_unit_does_not_matter(tmp_path: Path) -> None:
    """Bytes counted in fours: the figure to the fourth power, the interval with it."""
    nats, sizes = [9.0, 14.0, 22.0] * 5, [4.0, 8.0, 12.0] * 5
    one = estimate(tmp_path / "1", texts(nats, sizes))
    four = estimate(tmp_path / "4", texts(nats, [size / 4 for size in sizes]))
    assert pytest.approx([one[k] ** 4 for k in ("estimate", "high")]) == [
        four[k] for k in ("estimate", "high")
    ]


# Two candidates

HALF = [math.log(2)] * 12, [math.log(4)] * 12
"""A gives every item half the perplexity of B: 2 and 4 with one byte each."""


def by_hand(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> list[float]:
    """ln A - ln B and its interval, by leaving out each item of both; t as for texts of these lengths."""

    def logs(kept: Any) -> float:
        return float((a[kept].sum() - b[kept].sum()) / sizes[kept].sum())

    n = len(a)
    without = [logs(np.arange(n) != k) for k in range(n)]
    whole = logs(np.arange(n) >= 0)
    half = student.ppf(0.975, stats.effective_groups(range(n), weights=sizes) - 1) * math.sqrt(
        (n - 1) * float(np.var(without))
    )
    return [whole, whole - half, whole + half]


def test_two_are_compared_by_the_logarithm_of_their_ratio(tmp_path: Path) -> None:
    """ln(2) and ln(4) nats a byte: the figures are 2 and 4, their ratio 1/2, its logarithm -ln 2."""
    a, b = (texts(nats, [1] * 12) for nats in HALF)
    found, whole = compare(tmp_path, {"A": a, "B": b})
    assert pytest.approx(-math.log(2)) == found["difference"]
    assert ("better", "a", 12, 0, 0) == tuple(
        found[k] for k in ("verdict_code", "favours", "wins", "ties", "losses")
    )
    assert ("log", "swap", None) == (found["scale"], found["test"], found["low"])
    assert (
        "A is better (0.5 times B's; p = 0.00049, permutation test by swaps of answers)." == found["verdict"]
    )
    assert "A 2, B 4; A lower (better) in 12, equal in 0, higher in 0." in found["basis"]
    assert any(note.startswith("Compared on the log scale: counts.") for note in whole.notes)


def test_difference_and_interval_equal_a_direct_computation(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(20, 400, 30).astype(float)
    a, b = sizes * rng.gamma(9, 0.1, 30), sizes * rng.gamma(9, 0.1, 30)
    answers = {"A": texts(a.tolist(), sizes.tolist()), "B": texts(b.tolist(), sizes.tolist())}
    found, _ = compare(tmp_path, answers)
    assert pytest.approx(by_hand(a, b, sizes), rel=1e-9) == [found[k] for k in ("difference", "low", "high")]
    turned, _ = compare(tmp_path / "turned", {"A": answers["B"], "B": answers["A"]})
    assert pytest.approx([-found["high"], found["p"], found["p_flip"]]) == [
        turned[k] for k in ("low", "p", "p_flip")
    ]
    scored = score(made(tmp_path / "again", answers), SPEC)
    one, other = (row(scored, candidate=name)["estimate"] for name in "AB")
    assert pytest.approx(math.exp(found["difference"])) == one / other


def noisy(shift: float, n: int = 40) -> tuple[dict[str, str | float], dict[str, str | float]]:
    rng = np.random.default_rng(11)
    sizes = rng.integers(50, 200, n).astype(float)
    rate = rng.gamma(9, 0.1, n)
    a = sizes * rate
    b = sizes * (rate + shift + rng.normal(0, 0.05, n))
    return texts(a.tolist(), sizes.tolist()), texts(b.tolist(), sizes.tolist())


@pytest.mark.parametrize(
    ("shift", "margin", "code", "said"),
    [
        (0.005, 0.1, "equivalent", "A and B are equivalent within a factor of 1.11."),
        (
            0.5,
            0.1,
            "better_by_margin",
            "A is better, and by more than the factor of 1.11 you called important.",
        ),
        (0.003, 0.012, "not_worse", "by more than a factor of 1.012. It was not shown to be better."),
    ],
)
def test_a_margin_is_a_logarithm_and_is_told_as_a_factor(
    tmp_path: Path, shift: float, margin: float, code: str, said: str
) -> None:
    a, b = noisy(shift)
    found, _ = compare(tmp_path, {"A": a, "B": b}, margin=margin)
    assert code == found["verdict_code"]
    assert said in found["verdict"]


def test_what_the_exam_could_have_found_is_a_factor(tmp_path: Path) -> None:
    a, b = noisy(0.005)
    found, _ = compare(tmp_path, {"A": a, "B": b}, margin=0.001)
    assert (
        "No significant difference. The data could have detected a true difference of a factor of "
        f"{factor(found['mde_family'])} or more (80% power). To tell a factor of 1.001 apart takes about "
    ) in found["verdict"]
    assert 40 < found["n_needed"]


def test_without_the_largest_number_they_cannot_be_compared(tmp_path: Path) -> None:
    answers = {"A": texts([2000.0] * 3, [1, 1, 2]), "B": texts([3.0] * 3, [1, 1, 2])}
    found, _ = compare(tmp_path, answers)
    assert ("incomparable", f"of one of them, {TOO_LARGE}") == (found["verdict_code"], found["reason"])


@each_case(
    ("value", "said"),
    [
        (math.log(231406883869), "2.31 × 10^11"),
        (-math.log(231406883869), "4.32 × 10^-12"),
        (math.log(12345), "12,300"),
        (math.log(1234), "1,230"),
        (1000.0, "1.97 × 10^434"),
        (math.log(1.5), "1.5"),
        (math.log(1.5 / 1.6), "0.938"),
        (0.05, "1.051"),
        (0.001, "1.001"),
        (-0.001, "0.999"),
        (0.0, "1"),
    ],
)
def test_factors_are_told_in_three_digits_and_near_one_by_how_far_they_are_from_it(
    value: float, said: str
) -> None:
    assert said == factor(value)


def test_figures_without_a_limit_have_three_digits_and_no_exponent_of_computers() -> None:
    c = Criterion(criterion="x", low=1.0, high=None)
    assert ["1.23", "0.0123", "12,300", "-12,300", "2.31 × 10^11", "999,000", "0"] == [
        number(x, c) for x in (1.234, 0.0123, 12345, -12345, 231406883869, 999_499, 0.0)
    ]


# The metric's own three criteria

WORDS = ["aspirin", "of the", "two three", "the pain", "x y zzz", "a few words"] * 2
SIZES = [len(word) for word in WORDS]


def asked(folder: Path, rates: dict[str, Sequence[float]], *specs: str) -> Run:
    """A run whose candidates give each byte of each reference so many nats, scored by the metric."""
    items = [{"item": f"q{k:02}", "references": [word]} for k, word in enumerate(WORDS)]
    answers = {
        name: {
            f"q{k:02}": json.dumps(
                {
                    "references": [{"logprob": -rate * size, "tokens": 1, "verbatim": None}],
                    "tokeniser": None,
                    "truncated": 0,
                }
            )
            for k, (rate, size) in enumerate(zip(own, SIZES, strict=True))
        }
        for name, own in rates.items()
    }
    run = made(folder, answers, items=items)
    with borrowed():
        registry.load_plugin(LIKELY)
        run.score("told_perplexity", *specs)
    return run


RATES = {
    name: (np.random.default_rng(k).gamma(9, 0.1, len(WORDS)) + 0.1 * k).tolist()
    for k, name in enumerate("ABCDE")
}


def pooled(name: str) -> float:
    return float(np.average(RATES[name], weights=SIZES))


def test_the_three_pooled_figures_are_one_number_in_three_forms(tmp_path: Path) -> None:
    run = asked(tmp_path, RATES)
    found = {r["criterion"]: r for r in run.estimates().rows if r["candidate"] == "A"}
    word, byte, bits = (found[k] for k in ("word_perplexity", "byte_perplexity", "bits_per_byte"))
    assert pytest.approx(math.exp(pooled("A"))) == byte["estimate"]
    for end in ("estimate", "low", "high"):
        assert pytest.approx(bits[end]) == math.log2(byte[end])
    words = sum(len(word.split()) for word in WORDS)
    assert pytest.approx(sum(SIZES) / words) == math.log(word["estimate"]) / math.log(byte["estimate"])


def test_bits_and_the_logarithm_of_byte_perplexity_differ_alike(tmp_path: Path) -> None:
    found = asked(tmp_path, RATES).compare("A", "B", metric="told_perplexity")
    byte, bits = (row(found, criterion=k) for k in ("byte_perplexity", "bits_per_byte"))
    for name in ("difference", "low", "high"):
        assert pytest.approx(bits[name] * math.log(2)) == byte[name]
    assert pytest.approx(bits["p"]) == byte["p"]
    assert (None, "log") == (bits["scale"], byte["scale"])
    assert "Compared on the log scale: word_perplexity, byte_perplexity." in "\n".join(found.notes)


LEAD = "bits_per_byte"


def test_three_forms_of_one_number_are_one_comparison(tmp_path: Path) -> None:
    """Each has the p and the detectable difference that it would have if it alone had been asked for."""
    found = asked(tmp_path, RATES).compare("A", "B", metric="told_perplexity")
    assert [("word_perplexity", 1, LEAD), ("byte_perplexity", 1, LEAD), (LEAD, 1, None)] == [
        (r["criterion"], r["family"], r["form_of"]) for r in found.rows
    ]
    for r in found.rows:
        assert (r["p"], None, r["mde"]) == (r["p_adjusted"], r["q"], r["mde_family"])
        assert (r["low"], r["high"]) == (r["low_family"], r["high_family"])
    assert found.notes[0].startswith("1 comparison made.")
    assert (
        "word_perplexity, byte_perplexity and bits_per_byte are one number in several forms and count as 1 "
        "comparison; a margin is in the units of each."
    ) == found.notes[1]


def test_a_form_is_corrected_in_the_place_of_the_one_that_counts(tmp_path: Path) -> None:
    """Three pairs are a family of three, and Holm over the three p of each form is what its rows have."""
    found = asked(tmp_path, RATES).compare("A", "B", "C", metric="told_perplexity")
    assert {3} == {r["family"] for r in found.rows}
    assert "3 comparisons made together" in found.notes[0]
    for name in ("word_perplexity", "byte_perplexity", LEAD):
        own = [r for r in found.rows if r["criterion"] == name]
        assert pytest.approx(stats.holm([r["p"] for r in own]).tolist()) == [r["p_adjusted"] for r in own]
        assert pytest.approx(stats.benjamini_hochberg([r["p"] for r in own]).tolist()) == [
            r["q"] for r in own
        ]


def figures(first: Any, second: Any, pool: str, criterion: str, signature: str = "m|1") -> Compared:
    """A pair by its pooled figures, from numerators and denominators by item."""
    sides = [np.array(side, dtype=float).T for side in (first, second)]
    own = Criterion(criterion=criterion, high=None, if_unanswered="set_aside", pool=pool)
    measure = Measure(metric="m", signature=signature, criterion=own)
    by = PooledFigures(sides[0], sides[1], np.arange(len(sides[0])), stats.sum_ratio)
    seen = by.paired()
    assert seen
    return Compared(Pair("exam", "A", "B", measure, "sample", None, None), seen, by, (0.0, 0.0), (0, 0))


def test_only_what_divides_the_same_sums_as_a_perplexity_of_its_call_is_a_form_of_it() -> None:
    a, b, sizes, words = [4.0, 7.0, 9.0], [5.0, 6.0, 12.0], [4, 7, 8], [1, 2, 2]
    nats = figures((a, sizes), (b, sizes), "exp_ratio", "byte")
    bits = figures(([x / math.log(2) for x in a], words), ([x / math.log(2) for x in b], words), "ratio", "w")
    assert nats.form_of(bits)
    assert bits.form_of(nats)
    other = figures((b, sizes), (a, sizes), "ratio", "other")
    assert not nats.form_of(other)
    silent = figures(([0.0] * 3, sizes), ([0.0] * 3, words), "exp_ratio", "certain")
    assert not nats.form_of(silent)
    again = figures((a, sizes), (b, sizes), "ratio", "byte", signature="m(x=1)|1")
    assert not nats.form_of(again)
    precision = figures((a, sizes), (b, [9, 9, 14]), "ratio", "precision")
    recall = figures((a, sizes), (b, sizes), "ratio", "recall")
    assert not precision.form_of(recall)


# Correlation


@pytest.fixture(scope="module")
def correlated(tmp_path_factory: pytest.TempPathFactory) -> Finding:
    """Five candidates; chrF of their answers, JSON as they are, is a column beside the perplexities."""
    run = asked(tmp_path_factory.mktemp("correlated"), RATES, "chrf")
    return run.study("correlation")["correlation"]


BYTE, WORD, BITS = (f"told_perplexity: {k}" for k in ("byte_perplexity", "word_perplexity", "bits_per_byte"))


def test_perplexities_enter_by_the_logarithm_of_the_pooled_figure_turned_once(
    tmp_path: Path, correlated: Finding
) -> None:
    means = {
        r["candidate"]: r["estimate"]
        for r in asked(tmp_path, RATES, "chrf").estimates().rows
        if r["criterion"] == "chrf"
    }
    x, y = [-pooled(name) for name in "ABCDE"], [means[name] for name in "ABCDE"]
    for other in (BYTE, WORD, BITS):
        pearson, kendall = (
            next(
                r
                for r in correlated.rows
                if {r["a"], r["b"]} == {"chrf", other} and (r["level"], r["coefficient"]) == ("system", c)
            )
            for c in ("pearson", "kendall")
        )
        assert pytest.approx(pearsonr(x, y).statistic) == pearson["value"]
        assert pytest.approx(kendalltau(x, y).statistic) == kendall["value"]
        assert (other, False) == (kendall["turned"], kendall["by_construction"])
        assert kendall["q"] is not None


def test_by_item_each_has_its_own_logarithm(correlated: Finding) -> None:
    """Word and byte perplexity of one item are its nats over its own words, and over its own bytes."""
    found = next(
        r
        for r in correlated.rows
        if {r["a"], r["b"]} == {BYTE, WORD} and (r["level"], r["coefficient"]) == ("pooled", "pearson")
    )
    rates = np.array([RATES[name] for name in "ABCDE"])
    per_word = rates * np.array(SIZES) / np.array([len(word.split()) for word in WORDS])
    assert pytest.approx(pearsonr(rates.ravel(), per_word.ravel()).statistic) == found["value"]


def test_the_forms_of_one_perplexity_agree_by_construction_and_leave_the_family(correlated: Finding) -> None:
    own = [r for r in correlated.rows if {r["a"], r["b"]} <= {BYTE, WORD, BITS}]
    assert own
    assert all(r["by_construction"] and r["q"] is None for r in own)
    told = "On the log scale: told_perplexity: word_perplexity; told_perplexity: byte_perplexity."
    assert told in correlated.notes
    assert "corpus_chrf" in "\n".join(correlated.notes)
    assert (
        "Left out, being pooled over all answers and no value of each: chrf, corpus_chrf." in correlated.notes
    )


def test_other_studies_of_answers_leave_them_out_and_say_so(tmp_path: Path) -> None:
    found = asked(tmp_path, RATES).study("ranking")["ranking"]
    assert () == found.rows
    assert "told_perplexity, byte_perplexity" in "\n".join(found.notes)


def test_values_of_a_ratio_have_its_mean_and_its_error() -> None:
    from vivavoce.studies.score_matrix import ScoreMatrix

    rng = np.random.default_rng(3)
    sizes = rng.integers(5, 90, (2, 20)).astype(float)
    values = rng.gamma(9, 0.1, (2, 20))
    groups = np.repeat(np.arange(10), 2)
    grid = ScoreMatrix("b", None, ("A", "B"), (), groups, groups, values, values > 0, None, sizes)  # type: ignore[arg-type]
    for even, y, b in zip(grid.even(), values, sizes, strict=True):
        ratio, mean = stats.ratio(y * b, b, groups=groups), stats.cluster_mean(even, groups)
        # A case's leverage is its share of the bytes in the one, of the items in the other.
        assert (pytest.approx(ratio.value), pytest.approx(ratio.se, rel=0.05)) == (mean.value, mean.se)


def test_few_effective_texts_are_tested_by_swaps_and_say_so(tmp_path: Path) -> None:
    """Eight texts, all better for A: swapping all of them or none is 2 of 2^8 ways."""
    nats = [1.0, 1.2, 0.9, 1.4, 1.1, 0.8, 1.3, 1.0]
    a, b = texts(nats, [1] * 8), texts([2 * x for x in nats], [1] * 8)
    row, _ = compare(tmp_path, {"A": a, "B": b})
    assert ("swap", 2 / 2**8, None, None) == tuple(row[k] for k in ("test", "p", "low", "high"))
    assert "better" == row["verdict_code"]
    assert "p is from a permutation test by swaps of answers" in row["reason"]
