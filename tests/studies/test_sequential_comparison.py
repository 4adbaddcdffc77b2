"""Comparisons under a plan: tested again while data grow, with alpha spent once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lengths import length
from tests.studies.making import Answers, exam, made, marked, score, twins

from vivavoce import stats
from vivavoce.core.errors import SelectionError, StoreError
from vivavoce.run.run import Run
from vivavoce.store.interim_analyses import read_interim_analyses

RNG = np.random.default_rng(5)
BETTER, BASE, SAME = (np.clip(RNG.normal(m, 0.2, 200), 0, 1).round(3).tolist() for m in (0.63, 0.5, 0.5))


def answers(n: int, **more: list[float]) -> Answers:
    return {name: twins(values[:n]) for name, values in ({"A": BETTER, "B": BASE} | more).items()}


def grown(folder: Path, n: int, run: Run | None = None, **more: list[float]) -> Run:
    """A run on so many items; those it has already stay."""
    run = made(folder, answers(n, **more), run=run)
    score(run)
    return run


def analysis(run: Run, *names: str, **settings: Any) -> dict[str, Any]:
    finding = run.compare(*(names or "AB"), metric="told", **({"sequential": True} | settings))
    return dict(finding.rows[0]) | {"notes": str(finding)}


def test_a_plan_gives_the_bounds_of_its_analyses(tmp_path: Path) -> None:
    """By hand from the stats: information is 1 / SE^2, and alpha is spent at 1/4, 2/4, 3/4."""
    run, rows, tests = None, [], []
    for n in (30, 60, 90):
        run = grown(tmp_path, n, run)
        rows.append(analysis(run, analyses=4))
        d = np.array(BETTER[:n]) - np.array(BASE[:n])
        tests.append(stats.paired(d, np.arange(n)))
    spent = [stats.obrien_fleming_spending(k / 4, 0.05) for k in range(4)]
    information = [1 / (test.se or 0) ** 2 for test in tests]
    critical = stats.critical_values(np.diff(spent), information)
    assert pytest.approx(list(critical)) == [row["critical"] for row in rows]
    assert pytest.approx(spent[1:]) == [row["alpha_spent"] for row in rows]
    assert pytest.approx(information) == [row["information"] for row in rows]
    assert [(1, 4), (2, 4), (3, 4)] == [(row["analysis"], row["analyses"]) for row in rows]
    for row, test, bound in zip(rows, tests, critical, strict=True):
        level = 1 - 2 * float(stats_tail(bound))
        assert pytest.approx(list(test.interval(level=level) or ())) == [row["low"], row["high"]]
        assert row["p"] > test.p
        assert (row["p_adjusted"] <= 0.05) is (row["low_family"] > 0)
        assert row["p_flip"] is None
    assert "Interim analysis 3 of 4 (O'Brien-Fleming spending)" in rows[2]["notes"]
    assert ".0193 of alpha .05 is spent." in rows[2]["notes"]


def stats_tail(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))


def test_without_a_number_a_confidence_sequence_holds(tmp_path: Path) -> None:
    run = grown(tmp_path, 60)
    row = analysis(run)
    assert (1, None, None) == (row["analysis"], row["analyses"], row["alpha_spent"])
    assert pytest.approx(stats.mixture_critical(60, alpha=0.045)) == row["critical"]
    assert "Interim analysis 1 of any number (confidence sequence)" in row["notes"]
    assert 2 == analysis(grown(tmp_path, 90, run))["analysis"]


def test_unchanged_data_are_the_same_analysis_and_spend_nothing(tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    first = analysis(run, analyses=3)
    assert first == analysis(run, analyses=3) == analysis(run)
    assert -first["difference"] == analysis(run, "B", "A")["difference"]
    with run.file.reading() as db:
        assert [1] == [len(made) for made in read_interim_analyses(db).values()]


def test_all_analyses_of_a_plan_are_one_test(tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    assert 1 == analysis(run, analyses=3)["looks"]
    run = grown(tmp_path, 60, run)
    assert 1 == analysis(run)["looks"]
    assert 2 == run.compare("A", "B", metric="told").rows[0]["looks"]
    assert 1 == analysis(run)["looks"]


def test_a_plan_has_as_many_analyses_as_its_first_declared(tmp_path: Path) -> None:
    run = grown(tmp_path, 30)
    analysis(run, analyses=2)
    with pytest.raises(SelectionError, match=r"was begun with 2 interim analyses, and stays so: .* or say 2"):
        analysis(run, analyses=3)
    analysis(grown(tmp_path, 40, run))
    with pytest.raises(
        SelectionError, match=r"all 2 interim analyses of A and B by told .* have spent their"
    ):
        analysis(grown(tmp_path, 50, run))
    assert "A plan of interim analyses" not in str(run.compare("A", "B", metric="told"))


def test_a_plan_without_a_number_gets_none_later(tmp_path: Path) -> None:
    run = grown(tmp_path, 30)
    analysis(run)
    with pytest.raises(SelectionError, match="was begun without a number of interim analyses"):
        analysis(run, analyses=3)


@pytest.mark.parametrize(
    "settings", [{"analyses": 1}, {"analyses": 21}, {"analyses": 3, "sequential": False}]
)
def test_numbers_that_no_plan_has_are_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SelectionError, match="analyses"):
        analysis(grown(tmp_path, 20), **settings)


def test_a_comparison_beside_an_open_plan_says_that_it_is_outside(tmp_path: Path) -> None:
    run = grown(tmp_path, 40, C=SAME)
    analysis(run)
    words = "A plan of interim analyses is open for A and B by told (worth): this comparison is outside it"
    assert words in str(run.compare("A", "B", metric="told"))
    assert words not in str(run.compare("A", "C", metric="told"))
    some = exam(tmp_path, [f"q{n:02}" for n in range(20)])
    assert words not in str(run.compare("A", "B", metric="told", items=some))


def test_a_family_shares_alpha_alike(tmp_path: Path) -> None:
    """p is Bonferroni's, so that the interval of the family and p never contradict each other."""
    run = grown(tmp_path, 60, C=SAME)
    finding = run.compare("A", "B", "C", metric="told", sequential=True, analyses=2)
    assert "3 comparisons made together: p values and intervals by Bonferroni." in str(finding)
    for row in finding.rows:
        assert pytest.approx(min(1, 3 * row["p"])) == row["p_adjusted"]
        assert (row["p_adjusted"] <= 0.05) is not (row["low_family"] <= 0 <= row["high_family"])
        assert pytest.approx(3 * stats.obrien_fleming_spending(0.5, 0.05 / 3)) == row["alpha_spent"]


def test_a_pair_picked_from_a_family_keeps_its_share(tmp_path: Path) -> None:
    run = grown(tmp_path, 40, C=SAME)
    run.compare("A", "B", "C", metric="told", sequential=True, analyses=4)
    picked = analysis(grown(tmp_path, 60, run, C=SAME))
    assert pytest.approx(3 * picked["p"]) == picked["p_adjusted"]


def test_margins_are_judged_on_the_interval_of_the_plan(tmp_path: Path) -> None:
    """One test would say "not worse by more than .08"; the first of five analyses cannot."""
    once = grown(tmp_path / "a", 60, C=SAME).compare("C", "B", metric="told", margin=0.08).rows[0]
    planned = analysis(grown(tmp_path / "b", 60, C=SAME), "C", "B", margin=0.08, analyses=5)
    assert ("not_worse", "cannot_tell") == (once["verdict_code"], planned["verdict_code"])
    assert planned["n_needed"] > once["n_needed"]
    assert planned["mde"] > once["mde"]


def test_few_cases_that_differ_are_judged_exactly_with_the_alpha_of_their_analysis(tmp_path: Path) -> None:
    """Eight of thirty differ, all for A: p = 2^-7 by sign flips. The last of two analyses has .045 left."""
    a, b = [1.0] * 8 + [0.5] * 22, [0.0] * 8 + [0.5] * 22
    run = marked(tmp_path, {"A": twins(a[:20]), "B": twins(b[:20])})
    first = analysis(run, analyses=2)
    assert ("sign-flip", None) == (first["test"], first["information"])
    assert first["low"] <= 0
    assert first["p_adjusted"] > 0.05
    last = analysis(marked(tmp_path, {"A": twins(a), "B": twins(b)}, run=run))
    left = 0.05 - stats.obrien_fleming_spending(0.5, 0.05)
    assert 2**-7 < left
    assert last["p_adjusted"] < 0.05
    assert "better" == last["verdict_code"]
    assert 0 < last["low"] < last["difference"] < last["high"]


def test_losses_that_were_not_seen_make_nobody_better_in_a_plan(tmp_path: Path) -> None:
    """A little better on each of 30 questions, so surely by t: one whole loss in 20 would undo it."""
    b = np.clip(RNG.normal(0.5, 0.01, 30), 0, 1).round(3)
    a = (b + 0.05 + RNG.normal(0, 0.01, 30)).round(3)
    run = marked(tmp_path, {"A": twins(a.tolist()), "B": twins(b.tolist())})
    single, planned = (analysis(run, sequential=planned, margin=0.02) for planned in (False, True))
    assert ("better_by_margin", "cannot_tell") == (single["verdict_code"], planned["verdict_code"])
    assert planned["low_family"] < 0 < planned["difference"] < planned["high_family"]
    assert planned["p_adjusted"] > 0.05
    assert "allow for whole losses (over half the scale) that few or no questions showed" in planned["notes"]
    assert "allow for whole losses" not in single["notes"]


def test_a_difference_that_no_scale_can_hold_is_not_named(tmp_path: Path) -> None:
    """The first of 20 analyses spends about 1e-18 of alpha: it has an interval all the same."""
    few = {"A": twins([1.0, 0.0] * 6), "B": twins([0.0, 1.0] * 5 + [1.0, 0.0])}
    (row,) = marked(tmp_path, few).compare("A", "B", metric="told", sequential=True, analyses=20).rows
    assert row["mde_family"] > 1
    assert row["verdict"].endswith(
        "The data could not have detected any difference on this scale (80% power)."
    )


def test_failed_scores_must_not_decide_a_plan(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([*BETTER[:58], "fail", "fail"]), "B": twins(BASE[:60])})
    row = analysis(run, analyses=2)
    assert row["verdict_code"] in ("better", "depends", "cannot_tell")
    assert row["bound_low"] is None or row["bound_low"] <= row["low"]


def test_pairs_that_cannot_be_compared_take_no_part(tmp_path: Path) -> None:
    run = marked(tmp_path, {**answers(30), "D": {"elsewhere": 0.5}})
    rows = run.compare("A", "B", "D", metric="told", sequential=True, analyses=3).rows
    assert [1, None, None] == [row["analysis"] for row in rows]
    with run.file.reading() as db:
        assert 1 == len(read_interim_analyses(db))


def test_a_plan_survives_a_copy_and_a_merge(tmp_path: Path) -> None:
    from vivavoce.run.run import open_run

    run = grown(tmp_path, 40)
    analysis(run, analyses=3)
    copy = open_run(run.copy(tmp_path / "copy.viva"))
    analysis(grown(tmp_path, 60, copy))
    run.merge(copy.file.path)
    assert 3 == analysis(grown(tmp_path, 80, run))["analysis"]


def test_what_cannot_be_recorded_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = grown(tmp_path, 40)

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("vivavoce.run.compare.interim.put_interim_analysis", full)
    with pytest.raises(StoreError, match="the disk is full"):
        analysis(run)
    assert [] == list(run.interim().rows)


# The list


def test_interim_lists_the_tests_with_their_plans(tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    assert "nothing was compared on this run yet." == run.interim().text
    run.compare("A", "B", metric="told")
    for n in (60, 80):
        run = grown(tmp_path, n, run)
        analysis(run, analyses=2)
        analysis(run)
    rows = run.interim().rows
    assert [(1, None, None), (2, 1, 2), (2, 2, 2)] == [
        (row["test"], row["analysis"], row["analyses"]) for row in rows
    ]
    assert [None, "O'Brien-Fleming spending"] == [row["plan"] for row in rows[:2]]
    assert pytest.approx([0.05 - stats.obrien_fleming_spending(0.5, 0.05), 0]) == [
        row["alpha_left"] for row in rows[1:]
    ]
    assert [40, 60, 80] == [row["n_items"] for row in rows]
    assert "2 tests on this run; 2 rows under a plan." == run.interim().text


def test_the_command_line_does_the_same(viva: Any, tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    words = ("compare", run.file.path, "A", "B", "--metric", "told")
    shown = viva(*words, "--sequential", "--analyses", 5, "--full").stdout
    assert "Interim analysis 1 of 5" in shown
    assert "p (all  " in shown  # a heading over several lines
    assert "analyses," in shown
    listed = viva("interim", run.file.path).stdout
    assert "1 of 5" in listed
    assert "1 test on this run; 1 row under a plan." in listed
    rows = json.loads(viva("interim", run.file.path, "--json").stdout)["rows"]
    assert rows == json.loads(json.dumps(run.interim().rows))
    assert "" == viva("interim", run.file.path, "--quiet").stdout


def test_a_report_says_how_interim_analyses_were_corrected(tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    analysis(run, analyses=5)
    page = run.report().read_text(encoding="utf-8")
    assert "made under a plan to test again while data grow" in page
    assert "(interim analysis 1 of 5, Bonferroni over 1)" in page
    assert "alpha was spent by an O&#39;Brien-Fleming-type function" in page
    assert "Holm" not in page.split("Candidates were compared in pairs")[1].split("</p>")[0]


def test_run_files_of_earlier_versions_are_listed(tmp_path: Path) -> None:
    run = grown(tmp_path, 40)
    run.compare("A", "B", metric="told")
    with run.file.writing() as db:
        db.execute("UPDATE findings SET settings = json_remove(settings, '$.digest'), "
                   "rows = json_remove(rows, '$[0].analysis', '$[0].alpha_spent')")  # fmt: skip
    (row,) = run.interim().rows
    assert (1, None, None) == (row["test"], row["analysis"], row["alpha_left"])


# Ten tests, by simulation


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:  # no other test finds a bench where it means a package
        patch.syspath_prepend(str(root / "bench"))
        import sequential

        yield sequential


@pytest.mark.parametrize(
    "name",
    length(
        ["yes/no .9", "cv .5"],
        ["normal", "yes/no .9", "grades, most 5", "F1, zeros .4", "lognormal", "cv .5"],
    ),
)
def test_ten_tests_of_equal_candidates_give_at_most_five_percent(bench: Any, name: str) -> None:
    draws = length(100, 2000)
    if name in bench.SINGLES:
        data = bench.singles(bench.SINGLES[name], name, draws)
    elif name == "cv .5":
        data = bench.two_candidates("grades 0-5", name, draws)
    else:
        data = bench.two_candidates(name, "single", draws)
    tests = [[test for *_, test in bench.growing(data, k)] for k in range(draws)]
    hits = {rule: np.mean([any(bench.verdicts(rule, of_one)) for of_one in tests]) for rule in bench.RULES}
    error = 3 * (0.05 * 0.95 / draws) ** 0.5
    assert hits["declared"] <= 0.05 + error
    assert hits["open"] <= 0.05
    assert hits["uncorrected"] > hits["declared"]


def test_a_gate_under_a_plan_is_judged_on_the_plans_interval(tmp_path: Path) -> None:
    """One gate would pass; the first of five interim analyses has next to no alpha yet."""
    settings: dict[str, Any] = {"metric": "told", "margin": 0.02, "against": "B", "require": "not-worse"}
    once = grown(tmp_path / "a", 60).gate("A", **settings)
    planned = grown(tmp_path / "b", 60).gate("A", sequential=True, analyses=5, **settings)
    losses = [gate.finding.rows[0]["loss_b"] for gate in (once, planned)]
    assert losses[0] < 0.02 < losses[1]
    assert (1, 5) == (planned.finding.rows[0]["analysis"], planned.finding.rows[0]["analyses"])
    assert [False, True] == [once.closed, planned.closed]
