"""Correlation over benchmarks: a size-weighted closed mean, one metric on two benchmarks, ratings."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr
from tests.finished_runs import finished_run
from tests.lengths import length
from tests.studies.making import made, row, score

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.stored_findings import stored_findings
from vivavoce.studies.reliability.crossings import Design, absent_crossings, without_pairs
from vivavoce.studies.score_matrix import ScoreMatrix, key_of

LEVELS = {
    "one": [0.1, 0.5, 0.3, 0.9, 0.7],
    "two": [0.2, 0.4, 0.6, 0.8, 1.0],
    "open": [0.3, 0.1, 0.5, 0.2, 0.9],
}
SIZES = {"one": 12, "two": 3, "open": 10}


def suite(
    folder: Path, levels: Mapping[str, Sequence[float | None]] = LEVELS, names: Sequence[str] = "ABCDE"
) -> Run:
    """A run of benchmarks; a candidate of the level null was not asked."""
    finished_run(folder, _make_suite, levels, names)
    return open_run(folder / "run.viva")


def _make_suite(folder: Path, levels: Mapping[str, Sequence[float | None]], names: Sequence[str]) -> None:
    run = open_run(folder / "run.viva")
    for benchmark, values in levels.items():
        answers = {
            name: {f"{benchmark}{k}": round(v, 6) for k in range(SIZES[benchmark])}
            for name, v in zip(names, values, strict=True)
            if v is not None
        }
        made(folder, answers, name=benchmark, run=run)
    score(run)


def study(run: Run, spec: str = "", **settings: Any) -> Finding:
    (finding,) = run.study(f"correlation({spec})" if spec else "correlation", **settings).values()
    return finding


CLOSED = "closed=[one, two], closed_by=told"


def test_the_closed_mean_weighs_benchmarks_by_their_size(tmp_path: Path) -> None:
    """12 questions of one and 3 of two: 0.8 and 0.2 of the mean."""
    found = study(suite(tmp_path), CLOSED)
    mean = 0.8 * np.array(LEVELS["one"]) + 0.2 * np.array(LEVELS["two"])
    r = row(found, contrast="closed mean", coefficient="pearson")
    expected = pearsonr(mean, LEVELS["open"])
    assert pytest.approx(expected.statistic) == r["value"]
    ends = [math.tanh(math.atanh(r["value"]) + s * 1.959964 / math.sqrt(2)) for s in (-1, 1)]
    assert pytest.approx(ends) == [r["low"], r["high"]]
    assert ("told, weighted by size", "one + two", "told: worth", "open") == tuple(
        r[k] for k in ("a", "a_benchmark", "b", "b_benchmark")
    )
    assert (5, 15, 10, 25, "one + two × open") == tuple(
        r[k] for k in ("n_candidates", "a_items", "b_items", "n_items", "benchmark")
    )
    tau = row(found, contrast="closed mean", coefficient="kendall")
    assert pytest.approx(kendalltau(mean, LEVELS["open"]).statistic) == tau["value"]
    assert (tau["p"], 10) == (tau["q"], tau["n_pairs"])
    assert (
        "told, weighted by size on one + two and told: worth on open, 5 candidates, 25 questions"
        in found.text
    )


def test_the_range_without_each_candidate_stands_beside(tmp_path: Path) -> None:
    found = study(suite(tmp_path), "across=told")
    x, y = np.array(LEVELS["one"]), np.array(LEVELS["two"])
    without = [pearsonr(np.delete(x, k), np.delete(y, k)).statistic for k in range(5)]
    r = row(found, contrast="benchmarks", a_benchmark="one", b_benchmark="two", coefficient="pearson")
    assert pytest.approx((min(without), max(without))) == (r["loo_low"], r["loo_high"])
    assert f"without one candidate {printed(min(without))} to {printed(max(without))}" in found.text
    assert (5, None) == (r["n_families"], r["loo_family_low"])


def test_one_metric_is_held_against_itself_on_every_pair_of_benchmarks(tmp_path: Path) -> None:
    found = study(suite(tmp_path), "across=told")
    tau = {
        (r["a_benchmark"], r["b_benchmark"]): r["value"] for r in found.rows if "kendall" == r["coefficient"]
    }
    assert {
        (a, b): pytest.approx(kendalltau(LEVELS[a], LEVELS[b]).statistic)
        for a, b in (("one", "two"), ("one", "open"), ("open", "two"))
    } == tau
    tested = [r for r in found.rows if r["p"] is not None]
    assert all(r["q"] is not None and r["q"] >= r["p"] for r in tested)


def test_without_a_setting_nothing_is_crossed(tmp_path: Path) -> None:
    run = suite(tmp_path)
    score(run, "told(least=0.1)")
    assert {"measures"} == {r["contrast"] for r in study(run).rows}


def test_a_setting_that_gives_no_row_says_why(tmp_path: Path) -> None:
    run = suite(tmp_path, {"one": LEVELS["one"]})
    finding = study(run, "across=told")
    assert () == finding.rows
    assert finding.text.startswith(
        "across=told: told: worth was scored on one alone, and a pair of benchmarks"
    )
    assert "closed=one: no other benchmark was scored" in study(run, "closed=one, closed_by=told").text
    folder = tmp_path / "three"
    folder.mkdir()
    hint = study(suite(folder))
    assert () == hint.rows
    assert "`across=told` correlates them between benchmarks" in hint.text


def test_versions_that_no_two_benchmarks_share_are_named() -> None:
    matrices = [
        ScoreMatrix(
            benchmark=name,
            measure=Measure(metric="told", signature=f"told()@{n}", criterion=Criterion(criterion="worth")),
            candidates=tuple("ABCD"),
            items=(("q", ""), ("r", "")),
            groups=np.array([0, 1]),
            categories=np.array(["", ""]),
            values=np.arange(8.0).reshape(4, 2),
            present=np.full((4, 2), fill_value=True),
        )
        for n, name in enumerate(("one", "two"), 1)
    ]
    short = {key_of(m.measure): f"told v{n}" for n, m in enumerate(matrices, 1)}
    reasons = [*absent_crossings(matrices, short, Design(across=("told",)))]
    assert [
        "across=told: told v1 was scored by another version on each benchmark, and no two share one."
    ] == (reasons)
    assert "none on two" in str(without_pairs(matrices, Design()))
    assert without_pairs(matrices[:1], Design()) is None


def test_a_candidate_that_lacks_a_benchmark_is_left_out_of_the_pair_and_named(tmp_path: Path) -> None:
    found = study(suite(tmp_path, LEVELS | {"two": [None, 0.4, 0.6, 0.8, 1.0]}), "across=told")
    pairs = {(r["a_benchmark"], r["b_benchmark"]): (r["n_candidates"], r["left_out"]) for r in found.rows}
    assert {("one", "two"): (4, "A"), ("one", "open"): (5, ""), ("open", "two"): (4, "A")} == pairs
    assert "; left out, as one side has none: A; with" in found.text


def test_three_candidates_are_too_few(tmp_path: Path) -> None:
    found = study(suite(tmp_path, {k: v[:3] for k, v in LEVELS.items()}, "ABC"), "across=told")
    assert {(None, "3 candidates: too few to correlate")} == {(r["value"], r["reason"]) for r in found.rows}


def test_a_side_that_does_not_vary_has_no_coefficient(tmp_path: Path) -> None:
    found = study(suite(tmp_path, {"one": [0.5] * 5, "two": LEVELS["two"]}), "across=told")
    assert {(None, None, "one side does not vary")} == {
        (r["value"], r["loo_low"], r["reason"]) for r in found.rows
    }


def test_direction_is_turned_on_both_sides(tmp_path: Path) -> None:
    run = suite(tmp_path)
    score(run, "told(direction=lower)")
    rows = study(run, "across=[told, told(direction=lower)]").rows
    by_turn = {
        (r["turned"]): r["value"]
        for r in rows
        if (r["contrast"], r["a_benchmark"], r["b_benchmark"], r["coefficient"])
        == ("benchmarks", "one", "two", "kendall")
    }
    assert 2 == len(by_turn)
    assert 1 == len(set(by_turn.values())), "turned on both sides, nothing changes"


def stored_settings(run: Run) -> list[Any]:
    with run.file.reading() as db:
        return [finding["settings"] for finding in stored_findings(db, "correlation")]


def ratings(folder: Path, text: str) -> Path:
    path = folder / "elo.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_ratings_are_matched_by_name_or_mapping_and_the_rest_is_named(tmp_path: Path) -> None:
    file = ratings(
        tmp_path, "candidate,rating,low,high\nA,1000,990,1010\nB,1100,,\nthe C,1200,,\nE,900,,\nX,1,,\n"
    )
    run = suite(tmp_path)
    found = study(run, "mapping=['C:the C']", ratings=file)
    r = row(found, contrast="ratings", a_benchmark="two", coefficient="kendall")
    assert pytest.approx(kendalltau([0.2, 0.4, 0.6, 1.0], [1000, 1100, 1200, 900]).statistic) == r["value"]
    assert (4, "D", "rating", "", None) == tuple(
        r[k] for k in ("n_candidates", "left_out", "b", "b_benchmark", "told_apart")
    )
    assert 3 * 3 == len([r for r in found.rows if r["contrast"] == "ratings"])
    assert str(tmp_path) not in str(stored_settings(run)), "a path of this machine has no place in a run"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("candidate,rating\nA,1\nA,2\n", "'A' comes twice"),
        ("candidate,rating\nA,high\n", "the column rating holds a number, not 'high'"),
        ("name,rating\nA,1\n", "the column candidate is empty or missing"),
    ],
)
def test_a_file_of_ratings_that_cannot_be_read_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        study(suite(tmp_path), ratings=ratings(tmp_path, text))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("closed=[onne], closed_by=told", "no scores on 'onne'. Did you mean 'one'"),
        ("closed=[one]", "no measure is 'accuracy' on one"),
        ("across=rouge", "nothing is scored by 'rouge'. Here: told"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(tmp_path: Path, spec: str, why: str) -> None:
    with pytest.raises(SelectionError, match=why):
        study(suite(tmp_path), spec)


def test_a_mapping_that_names_nobody_is_refused(tmp_path: Path) -> None:
    file = ratings(tmp_path, "candidate,rating\nA,1\n")
    with pytest.raises(SelectionError, match="'Z:A' is no candidate:theirs"):
        study(suite(tmp_path), "mapping=['Z:A']", ratings=file)


def test_small_and_large_models_are_split_by_card_and_families_counted(tmp_path: Path) -> None:
    cards = tmp_path / "cards.yaml"
    sizes = {"A": 3, "B": 7, "C": 8, "D": 9, "E": 70, "F": 72}
    lines = [
        f"{n}: {{family: {'Fam' if n in 'ABC' else n + 'x'}, parameters: {p}}}" for n, p in sizes.items()
    ]
    cards.write_text("\n".join(lines) + "\n", encoding="utf-8")
    levels = {k: [*v, 0.45] for k, v in LEVELS.items()}
    found = study(suite(tmp_path, levels, "ABCDEF"), "across=told, sizes=10", cards=cards)
    at = {"a_benchmark": "one", "b_benchmark": "two", "coefficient": "kendall"}
    counts = {s: row(found, subset=s, **at)["n_candidates"] for s in ("", "small", "large")}
    assert {"": 6, "small": 4, "large": 2} == counts
    assert "2 candidates: too few to correlate" == row(found, subset="large", **at)["reason"]
    whole = row(found, subset="", **at)
    assert 4 == whole["n_families"]
    without = [
        kendalltau(
            *([v for v, n in zip(levels[b], "ABCDEF", strict=True) if n not in gone] for b in ("one", "two"))
        ).statistic
        for gone in ("ABC", "D", "E", "F")
    ]
    assert pytest.approx((min(without), max(without))) == (whole["loo_family_low"], whole["loo_family_high"])
    assert "4 small candidates" in found.text


def test_nothing_depends_on_the_order_in_which_benchmarks_came(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    runs = suite(first), suite(second, dict(reversed(LEVELS.items())))
    one, two = (
        {(r["b_benchmark"], r["coefficient"]): (r["value"], r["p"]) for r in study(run, CLOSED).rows}
        for run in runs
    )
    assert one == two


def test_equal_candidates_are_hardly_ever_told_apart(tmp_path: Path) -> None:
    """Nine equal candidates on two benchmarks: tests at 5 % say otherwise in 5 % of the draws, not more."""
    draws = length(60, 400)
    from vivavoce import stats

    rng = np.random.default_rng(11)
    hits = apart = 0
    for _ in range(draws):
        x, y = rng.normal(size=(2, 9, 30))
        p = stats.permute_systems(x.mean(axis=1), y.mean(axis=1), rng=rng, resamples=199)
        hits += p is not None and p.p <= 0.05
        groups = np.arange(30)
        tested = stats.shown_agreement(*(stats.rank_intervals(v, groups).better for v in (x, y)))
        apart += tested.same + tested.opposite > 0
    assert hits <= 0.08 * draws
    assert apart <= 0.05 * draws
