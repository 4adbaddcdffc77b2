"""Agreement: published judge scores over identical text, and small panels worked by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.judging import RETESTS
from tests.studies.making import made, marked, row, twins, write_lines

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.reliability.agreement import AgreementRow
from vivavoce.studies.study import columns

Panel = Callable[..., Run]
# Of twelve cases five have 1 from both, four 0 from both, three 1 from the first and 0 from the second.
FIRST, SECOND = [1] * 5 + [0] * 4 + [1] * 3, [1] * 5 + [0] * 7
ALPHA = 1 - (3 / 12) / (2 * 13 * 11 / (24 * 23))  # 13 ones and 11 zeros among 24 scores


@pytest.fixture(scope="module")
def found(recorded: Run, paper: str) -> Finding:
    return recorded.study("agreement", items=paper)["agreement"]


@pytest.mark.parametrize(
    ("candidate", "criterion", "alphas", "units", "cases", "changed"),
    RETESTS,
)
def test_five_judgements_of_the_same_text(
    found: Finding,
    candidate: str,
    criterion: str,
    alphas: tuple[str, ...],
    units: int,
    cases: int,
    changed: int,
) -> None:
    """Section 6 of docs/statistics.md; Med42's 61st unit has one rating and agrees with nothing."""
    for scale, alpha in zip(("nominal", "ordinal", "interval"), alphas, strict=True):
        r = row(found, candidate=candidate, criterion=criterion, coefficient=f"alpha_{scale}")
        assert alpha == f"{r['value']:.4f}"[1:]
        assert r["low"] < r["value"] < r["high"] < 1
        assert ("identical text", units, cases, 5, changed) == tuple(
            r[k] for k in ("contrast", "n_units", "n_groups", "n_raters", "n_changed")
        )
    assert (units == 60) == r["n_dropped"]
    assert units * 5 == r["n_ratings"]


def test_only_texts_that_were_answered_twice_are_compared(found: Finding) -> None:
    """The other models' repeats differ, and a rule says the same of the same text."""
    assert {"NVLM-70B", "Med42-70B"} == {r["candidate"] for r in found.rows}
    assert {"judge(model=gpt-4o-2024-08-06, rubric=medgpt)"} == {r["metric"] for r in found.rows}


def test_a_judge_who_always_says_five_shows_no_agreement(found: Finding) -> None:
    r = row(found, candidate="NVLM-70B", criterion="demographic_bias", coefficient="alpha_ordinal")
    assert (None, None, "the scores do not vary", 0) == (r["value"], r["low"], r["reason"], r["n_changed"])
    assert "demographic_bias (identical text, NVLM-70B) on hivmedqa: the scores do not vary." in found.text


def test_the_sentence_names_unit_and_numbers(found: Finding) -> None:
    assert (
        "medgpt by gpt-4o-2024-08-06: comprehension (identical text, NVLM-70B) on hivmedqa: alpha (ordinal) "
        "0.95 (0.91 to 0.98); 16 of 63 units in 42 cases were not scored alike."
    ) in found.text


def two(passes: bool, first: list[Any] = FIRST, second: list[Any] = SECOND) -> list[tuple[Any, ...]]:
    """Two passes of Ann, or one of Ann and one of Bob, over a case each."""
    return [
        ("A", f"q{n:02}", who, pass_no, value)
        for who, pass_no, values in (("Ann", 1, first), ("Ann", 2, second) if passes else ("Bob", 1, second))
        for n, value in enumerate(values)
    ]


@pytest.mark.parametrize("passes", [True, False])
def test_two_marks_of_each_answer_worked_by_hand(panel: Panel, passes: bool) -> None:
    found = panel(two(passes)).study("agreement")["agreement"]
    alpha, percent = (row(found, coefficient=c) for c in ("alpha_nominal", "percent"))
    assert pytest.approx(ALPHA) == alpha["value"]
    assert 0.75 == percent["value"]
    assert (("passes", "Ann") if passes else ("raters", "")) == (alpha["contrast"], alpha["rater"])
    assert (12, 12, 2, 24, 0, 3) == tuple(
        alpha[k] for k in ("n_units", "n_groups", "n_raters", "n_ratings", "n_dropped", "n_changed")
    )
    assert set(columns(AgreementRow)) == set(alpha)


def test_raters_are_compared_on_their_first_pass(panel: Panel) -> None:
    marks = two(False) + [("A", f"q{n:02}", "Bob", 2, 5) for n in range(12)]
    found = panel(marks).study("agreement")["agreement"]
    raters = row(found, contrast="raters", coefficient="alpha_nominal")
    assert pytest.approx(ALPHA) == raters["value"]
    assert "Bob" == row(found, contrast="passes", coefficient="percent")["rater"]


def test_judges_of_one_rubric_are_raters_of_one_criterion(panel: Panel) -> None:
    """Two models under one rubric are two measures, and yet scored the same thing."""
    run = panel(
        [("A", f"q{n:02}", "m-1", 1, v) for n, v in enumerate(FIRST)], measure="judge(rubric=r, model=m-1)"
    )
    other = run.file.path.with_name("marks.jsonl")
    other.write_text(other.read_text().replace("m-1", "m-2"))
    run.import_scores(other, measure="judge(rubric=r, model=m-2)", range={"*": (0, 5)}, again=True)
    r = row(run.study("agreement")["agreement"], contrast="raters", coefficient="percent")
    assert ("judge(rubric=r)", 1.0, 2) == (r["metric"], r["value"], r["n_raters"])


def test_identical_texts_are_compared_on_one_pass(panel: Panel) -> None:
    """Means over passes are no scores that anybody gave."""
    marks = [
        ("A", f"q{n:02}#{repeat}", "Ann", pass_no, values[n] if pass_no == 1 else (n * 7) % 5)
        for repeat, values in ((1, FIRST), (2, SECOND))
        for pass_no in (1, 2)
        for n in range(12)
    ]
    found = panel(marks, texts={"A": ["x", "x"]}).study("agreement")["agreement"]
    same = row(found, contrast="identical text", coefficient="alpha_nominal")
    assert (pytest.approx(ALPHA), "A", 24) == (same["value"], same["candidate"], same["n_ratings"])


def test_a_rule_that_marks_the_same_text_twice_tells_nothing(tmp_path: Path) -> None:
    found = marked(tmp_path, {"A": {f"q{n}": [0.5, 0.5] for n in range(12)}}).study("agreement")["agreement"]
    assert () == found.rows
    assert found.text.startswith(
        "There is nothing to compare: no second pass, no second examiner, and no judged text that was "
        "answered twice; scores that are computed do not vary."
    )


def test_nine_cases_are_too_few(panel: Panel) -> None:
    found = panel(two(True, FIRST[:9], SECOND[:9])).study("agreement")["agreement"]
    assert {(None, "9 cases: too few to tell")} == {(r["value"], r["reason"]) for r in found.rows}
    assert "panel: worth (passes) on exam: 9 cases: too few to tell." == found.text


def test_marks_that_do_not_vary_are_undefined(panel: Panel) -> None:
    found = panel(two(True, [3] * 12, [3] * 12)).study("agreement")["agreement"]
    assert (None, "the scores do not vary") == tuple(
        row(found, coefficient="alpha_ordinal")[k] for k in ("value", "reason")
    )


def test_an_answer_with_one_mark_is_dropped_and_counted(panel: Panel) -> None:
    found = panel(two(True, [*FIRST, 1, 1], [*SECOND, None])).study("agreement")["agreement"]
    r = row(found, coefficient="alpha_nominal")
    assert (pytest.approx(ALPHA), 12, 2, 24) == (r["value"], r["n_units"], r["n_dropped"], r["n_ratings"])


def test_twins_are_one_case(panel: Panel) -> None:
    items = [{"item": f"q{n:02}", "group": f"g{n // 2}"} for n in range(12)]
    found = panel(two(True), items=items).study("agreement")["agreement"]
    assert {(12, 6, "6 cases: too few to tell")} == {
        (r["n_units"], r["n_groups"], r["reason"]) for r in found.rows
    }


def test_two_benchmarks_are_kept_apart(panel: Panel, tmp_path: Path) -> None:
    run = panel(two(True))
    source = panel_of_another_exam(tmp_path / "other")
    run.merge(source.file.path)
    found = run.study("agreement")["agreement"]
    assert {"exam", "other"} == {r["benchmark"] for r in found.rows}
    assert 12 == row(found, benchmark="other", coefficient="percent")["n_units"]


def panel_of_another_exam(folder: Path) -> Run:
    """A's twelve answers to another exam, scored twice by Ann."""
    run = made(folder, {"A": twins([1] * 12)}, name="other")
    rows = [
        {"item": i, "candidate": "A", "criterion": "worth", "rater": w, "pass_no": p, "value": v}
        for _, i, w, p, v in two(True)
    ]
    run.import_scores(write_lines(folder / "m.jsonl", rows), measure="panel(rubric=r)", range={"*": (0, 5)})
    return run


@pytest.mark.parametrize(("others", "low"), [(2, None), (4, -0.021), (12, 0.330)])
def test_a_perfect_alpha_on_few_other_scores_says_how_low_it_may_be(
    panel: Panel, others: int, low: float | None
) -> None:
    """Thirty cases scored alike by both: 5 but for a few 1s; without those few it would be undefined."""
    scores = [1] * others + [5] * (30 - others)
    found = panel(two(False, scores, scores)).study("agreement")["agreement"]
    own = row(found, coefficient="alpha_ordinal")
    reason = "too few cases of the rarer kind (2)" if low is None else None
    assert (1.0, pytest.approx(low, abs=0.001), reason) == (own["value"], own["low"], own["reason"])
    assert (low is None) == ("Too few cases of the rarer kind (2)" in found.text)
    percent = row(found, coefficient="percent")
    assert (1.0, pytest.approx(0.878, abs=0.001), 1.0) == (percent["value"], percent["low"], percent["high"])
