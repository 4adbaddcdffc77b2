"""A category under ten cases in which a candidate fails is named, and with nothing there hardly ever."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact
from tests.cases import each_case
from tests.studies.making import marked, row

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.run.run import Run


def items_of(sizes: dict[str, int]) -> list[dict[str, Any]]:
    return [
        {"item": f"q{k:03}", "category": name}
        for k, name in enumerate(name for name, size in sizes.items() for _ in range(size))
    ]


def gaps(folder: Path, sizes: dict[str, int], **values: list[float]) -> Finding:
    items = items_of(sizes)
    scored = {name: {i["item"]: y for i, y in zip(items, ys, strict=True)} for name, ys in values.items()}
    return marked(folder, scored, items=items).study("gaps")["gaps"]


def test_none_of_six_beside_all_of_the_rest_is_named_first(tmp_path: Path) -> None:
    finding = gaps(tmp_path, {"renal": 6, "other": 94}, A=[0.0] * 6 + [1.0] * 94, B=[1.0] * 100)
    assert finding.text.startswith(
        "A scores 0 of 6 on renal, against 94 of 94 elsewhere (exact test, Holm-adjusted p = 1.7e-09 over 2 "
        "tests). "
    )
    r = row(finding, candidate="A", category="renal")
    assert (True, None) == (r["fails"], r["mean"])
    assert pytest.approx(2 / 1_192_052_400) == r["p_elsewhere"]
    assert False is row(finding, candidate="B", category="renal")["fails"]
    assert None is row(finding, candidate="A", category="other")["fails"]


def test_the_report_names_it_as_the_study_does_without_a_study_made(tmp_path: Path) -> None:
    items = items_of({"renal": 6, "other": 94})
    scored = {i["item"]: float(i["category"] == "other") for i in items}
    run = marked(tmp_path, {"A": scored, "B": dict.fromkeys(scored, 1.0)}, items=items)
    page = run.report(tmp_path / "report.html").read_text(encoding="utf-8")
    (sentence, _) = run.study("gaps")["gaps"].text.split(" Of ", maxsplit=1)[0].split(". There", 1)
    assert sentence in page


def test_a_candidate_that_fails_everywhere_fails_in_no_category(tmp_path: Path) -> None:
    finding = gaps(tmp_path, {"renal": 6, "other": 94}, A=[0.0] * 100, B=[0.0] * 100)
    assert {False, None} == {r["fails"] for r in finding.rows}
    assert "renal" not in finding.text


@each_case(
    ("sizes", "tested"),
    [
        ({"x": 2, "other": 40}, False),  # two cases are an anecdote
        ({"x": 3, "other": 40}, True),
        ({"x": 9, "other": 40}, True),
        ({"x": 10, "other": 40}, False),  # has a figure of its own
        ({"x": 4, "other": 9}, False),  # nothing to hold it against
    ],
)
def test_which_categories_are_tested(tmp_path, sizes, tested):
    n = sum(sizes.values())
    finding = gaps(tmp_path / str(sizes), sizes, A=[0.0] * sizes["x"] + [1.0] * (n - sizes["x"]))
    assert tested == (row(finding, candidate="A", category="x")["fails"] is True)


def test_failed_scores_count_for_the_category_and_against_the_rest(tmp_path: Path) -> None:
    """Three of six in the category failed: at their best the category is 3 of 6."""
    items = items_of({"renal": 6, "other": 94})
    scored: dict[str, Any] = {i["item"]: 1.0 if k > 5 else 0.0 for k, i in enumerate(items)}
    p = {}
    for n in (0, 3, 4):
        lost = scored | {i["item"]: "fail" for i in items[:n]}
        run: Run = marked(tmp_path / str(n), {"A": lost}, items=items)
        p[n] = row(run.study("gaps")["gaps"], candidate="A", category="renal")["p_elsewhere"]
    assert p[0] < p[3] < 0.001
    assert p[4] is None  # two are left


def test_questions_of_one_case_are_one(tmp_path: Path) -> None:
    """Six questions of three cases beside 40 cases: p is 1 in C(43, 3), not in C(86, 6)."""
    items = [
        {"item": f"q{k:03}", "category": "x" if k < 6 else "other", "group": f"g{k // 2}"} for k in range(86)
    ]
    scored = {i["item"]: float(i["category"] == "other") for i in items}
    r = row(marked(tmp_path, {"A": scored}, items=items).study("gaps")["gaps"], candidate="A", category="x")
    assert (3, pytest.approx(6 / (43 * 42 * 41))) == (r["n_groups"], r["p_elsewhere"])


def test_graded_scores_are_permuted(tmp_path: Path) -> None:
    values = [0.1, 0.2, 0.15, 0.05, 0.1] + [0.5 + 0.01 * (k % 30) for k in range(60)]
    finding = gaps(tmp_path, {"x": 5, "other": 60}, A=values)
    assert finding.text.startswith("A scores 0.120 in 5 cases on x, against 0.645 in 60 cases elsewhere (per")
    assert 1e-4 == row(finding, candidate="A", category="x")["p_elsewhere"]


@pytest.mark.parametrize("hits", range(7))
def test_two_values_have_fishers_p(hits):
    y = np.r_[np.ones(hits), np.zeros(6 - hits), np.ones(70), np.zeros(20)]
    expected = fisher_exact([[hits, 6 - hits], [70, 20]], alternative="less").pvalue
    assert pytest.approx(expected) == stats.subset_test(y, np.arange(96) < 6)


def test_drawn_subsets_meet_the_enumerated_p_and_nothing_depends_on_order():
    y = np.array([0.1, 0.4, 0.2, 0.3, 0.9, 0.8, 0.7, 0.35, 0.65, 0.5])
    chosen = np.arange(10) < 3
    sums = [sum(y[list(s)]) for s in combinations(range(10), 3)]
    exact = np.mean(np.array(sums) <= y[:3].sum() + 1e-9)
    assert pytest.approx(exact, abs=0.01) == stats.subset_test(y, chosen)
    assert 1.0 == stats.subset_test([0.5] * 8, np.arange(8) < 3) == stats.subset_test(y, np.zeros(10, bool))
    with pytest.raises(ValueError, match="members must have the shape"):
        stats.subset_test(y, [True])
    with pytest.raises(ValueError, match="nan at position 0"):
        stats.subset_test([np.nan, 1.0], [True, False])


@pytest.mark.parametrize("graded", [False, True])
def test_with_nothing_there_somebody_is_named_in_at_most_five_percent(graded):
    """Three equal candidates, eight categories of six, one of 52: any of 24 tests named, by Holm."""
    rng, hits, draws = np.random.default_rng(8), 0, 300
    for _ in range(draws):
        scores = rng.random((3, 100)) < 0.85
        y = rng.beta(4, 1, (3, 100)).round(2) if graded else scores.astype(float)
        p = [
            stats.subset_test(values, np.arange(100) // 6 == category)
            for values in y
            for category in range(8)
        ]
        hits += stats.holm(p).min() <= 0.05
    assert hits <= draws * 0.05 + 2 * (draws * 0.05 * 0.95) ** 0.5
