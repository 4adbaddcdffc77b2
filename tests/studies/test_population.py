"""A fixed exam: only repeats vary, so that a gate can see a change that a sample of questions would hide."""

import math
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import t as student
from tests.studies.making import Answers, marked

from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run


def fixed(folder: Path, answers: Answers, spec: str = "told", **settings: Any) -> dict[str, Any]:
    return dict(
        marked(folder, answers, spec).compare("A", "B", metric="told", population="fixed", **settings).rows[0]
    )


def repeated(pairs: list[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {f"q{n:02}": values for n, values in enumerate(pairs)}


# On twelve questions A says 0.5 and 0.7, B 0.4 and 0.6 on half of them and 0.3 and 0.3 on the others.
A, B = repeated([(0.5, 0.7)] * 12), repeated([(0.4, 0.6), (0.3, 0.3)] * 6)
SE = math.sqrt((12 * 0.02 / 2 + 6 * 0.02 / 2) / 12**2)
"""A repeat's variance is 0.02 where repeats differ; two repeats each, eighteen such means of twenty-four."""
DF = 18
"""Welch and Satterthwaite: eighteen equal parts with one degree of freedom each."""


def test_the_error_of_repeats_worked_by_hand(tmp_path: Path) -> None:
    found = fixed(tmp_path, {"A": A, "B": B})
    half = student.ppf(0.975, DF) * SE
    assert pytest.approx((0.2, 0.2 - half, 0.2 + half)) == (found["difference"], found["low"], found["high"])
    assert pytest.approx(2 * student.sf(0.2 / SE, DF)) == found["p"]
    assert ("fixed", 12, 12, None) == (
        found["population"], found["n_items"], found["n_groups"], found["n_needed"],
    )  # fmt: skip
    assert pytest.approx((student.ppf(0.975, DF) + student.ppf(0.8, DF)) * SE) == found["mde"]


def test_unequal_numbers_of_repeats(tmp_path: Path) -> None:
    """s^2 / R of each question and candidate: .02 / 2 and .01 / 3."""
    a, b = repeated([(0.5, 0.7)] * 12), repeated([(0.3, 0.4, 0.5)] * 12)
    found = fixed(tmp_path, {"A": a, "B": b})
    se = math.sqrt(12 * (0.02 / 2 + 0.01 / 3) / 12**2)
    first, second = (0.02 / 2) / 144, (0.01 / 3) / 144
    df = int((12 * (first + second)) ** 2 / (12 * first**2 / 1 + 12 * second**2 / 2))
    assert pytest.approx(student.ppf(0.975, df) * se) == (found["high"] - found["low"]) / 2


def test_a_fixed_exam_decides_where_cases_vary_more_than_repeats(tmp_path: Path) -> None:
    """A is ahead by 0.3 or behind by 0.2, in each repeat: on these questions it is better by 0.05."""
    answers: Answers = {
        "A": repeated([(0.79, 0.81), (0.29, 0.31)] * 6),
        "B": repeated([(0.5, 0.5), (0.5, 0.5)] * 6),
    }
    run = marked(tmp_path, answers)
    sample = run.compare("A", "B", metric="told").rows[0]
    exam = run.compare("A", "B", metric="told", population="fixed").rows[0]
    assert ("cannot_tell", "better") == (sample["verdict_code"], exam["verdict_code"])
    assert sample["difference"] == exam["difference"]
    assert exam["high"] - exam["low"] < (sample["high"] - sample["low"]) / 10
    assert ("sample", "fixed") == (sample["population"], exam["population"])


def test_lower_is_better_turns_the_verdict(tmp_path: Path) -> None:
    found = fixed(tmp_path, {"A": A, "B": B}, "told(direction=lower)")
    assert ("better", "b", pytest.approx(0.2)) == (
        found["verdict_code"], found["favours"], found["difference"],
    )  # fmt: skip
    assert found["low"] < 0.2 < found["high"]


def test_one_repeat_is_refused(tmp_path: Path) -> None:
    found = fixed(tmp_path, {"A": repeated([(0.5,)] * 12), "B": repeated([(0.1, 0.2)] * 12)})
    assert ("incomparable", None) == (found["verdict_code"], found["low"])
    assert "a fixed benchmark is judged by repeats, and not every question has two of both" == found["reason"]
    assert f"These two cannot be compared: {found['reason']}." == found["verdict"]
    assert 12 == found["n_items"]


def test_one_question_with_one_repeat_is_enough_to_refuse(tmp_path: Path) -> None:
    found = fixed(tmp_path, {"A": A | {"q00": (0.5,)}, "B": B})
    assert "incomparable" == found["verdict_code"]


def test_repeats_that_do_not_vary_are_refused(tmp_path: Path) -> None:
    same = repeated([(0.5, 0.5), (0.6, 0.6)] * 6)
    found = fixed(tmp_path, {"A": same, "B": repeated([(0.1, 0.1)] * 12)})
    assert "incomparable" == found["verdict_code"]
    assert found["verdict"].endswith("their repeats do not vary, so nothing is known of chance.")


def test_margins_are_judged_by_the_error_of_repeats(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": A, "B": B})
    half = student.ppf(0.975, DF) * SE
    near = run.compare("A", "B", metric="told", population="fixed", margin=0.2 - half - 0.01).rows[0]
    far = run.compare("A", "B", metric="told", population="fixed", margin=0.2 - half + 0.01).rows[0]
    assert ("better_by_margin", "better") == (near["verdict_code"], far["verdict_code"])


def test_a_fixed_exam_of_five_cases_is_too_few(tmp_path: Path) -> None:
    """The table's third row holds for either population."""
    for n, code in ((5, "too_few"), (6, "better")):
        answers: Answers = {"A": repeated([(0.5, 0.7)] * n), "B": repeated([(0.1, 0.2)] * n)}
        assert code == fixed(tmp_path / str(n), answers)["verdict_code"]


def failed_once(tmp_path: Path, direction: str = "higher") -> Run:
    """As `A` and `B`, but one of A's repeats of the first question could not be scored, and one was added."""
    return marked(tmp_path, {"A": A | {"q00": (0.5, 0.7, "fail")}, "B": B}, f"told(direction={direction})")


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_failed_marks_bound_a_fixed_exam_by_the_error_of_repeats(tmp_path: Path, direction: str) -> None:
    """At 0 the first question's repeats are .5, .7, 0: variance .13; at 1 they are .5, .7, 1: .19 / 3."""
    run = failed_once(tmp_path, direction)
    found = run.compare("A", "B", metric="told", population="fixed").rows[0]
    ends = []
    for filled, side in ((0.0, -1), (1.0, 1)):
        values = (0.5, 0.7, filled)
        mean = sum(values) / 3
        own = sum((v - mean) ** 2 for v in values) / 2 / 3 / 144
        parts = [(own, 2), *[(0.01 / 144, 1)] * 17]
        se = math.sqrt(sum(p for p, _ in parts))
        df = int(se**4 / sum(p**2 / d for p, d in parts))
        d = 0.2 + (mean - 0.6) / 12
        ends += [d, d + side * student.ppf(0.975, df) * se]
    low, bound_low, high, bound_high = ends
    assert pytest.approx((low, high, bound_low, bound_high)) == tuple(
        found[k] for k in ("set_low", "set_high", "bound_low", "bound_high")
    )
    assert pytest.approx(0.2) == found["difference"]


def test_a_question_that_failed_throughout_for_one_is_in_the_fillings(tmp_path: Path) -> None:
    answers: Answers = {"A": A | {"q99": ("fail", "fail")}, "B": B | {"q99": (0.4, 0.6)}}
    found = fixed(tmp_path, answers)
    assert (12, pytest.approx((0.2 * 12 - 0.5) / 13), pytest.approx((0.2 * 12 + 0.5) / 13)) == (
        found["n_items"], found["set_low"], found["set_high"],
    )  # fmt: skip
    assert found["bound_low"] < found["set_low"] < found["set_high"] < found["bound_high"]


def test_published_repeats_are_far_surer_on_their_own_exam(recorded: Run, paper: str) -> None:
    """Section 2 of docs/statistics.md: for Gemini SE .0221 where the questions are fixed, .0918 where not."""
    names = ("Gemini 2.5 Pro", "MedGemma 27B")
    exam, sample = (
        next(
            r
            for r in recorded.compare(*names, metric="judge", items=paper, population=p).rows
            if r["criterion"] == "comprehension"
        )
        for p in ("fixed", "sample")
    )
    assert ".1873" == f"{exam['difference']:.4f}"[1:] == f"{sample['difference']:.4f}"[1:]
    se = math.sqrt((0.15317 + 0.29603) / 5 / 63)  # the mean variances between repeats of section 4
    assert 1.96 * se < (exam["high"] - exam["low"]) / 2 < 1.99 * se
    assert ("better", "a") == (exam["verdict_code"], exam["favours"])


def test_a_judge_who_varies_on_the_same_text_is_what_a_fixed_exam_sees(recorded: Run, paper: str) -> None:
    """NVLM and Med42 say the same in every repeat: the error is the examiner's alone, and not null."""
    found = recorded.compare("NVLM-70B", "Gemini 2.5 Pro", metric="judge", items=paper, population="fixed")
    assert {"fixed"} == {r["population"] for r in found.rows}
    assert next(r for r in found.rows if r["criterion"] == "comprehension")["low"] is not None


def test_a_population_that_is_none(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": A, "B": B})
    with pytest.raises(SelectionError, match="a population is sample or fixed, not 'all'"):
        run.compare("A", "B", metric="told", population="all")  # type: ignore[arg-type]


def test_a_fixed_exam_has_no_effective_cases(tmp_path: Path) -> None:
    """Its degrees of freedom are those of repeats: one question of twenty has two that differ."""
    names = [f"q{k:02}" for k in range(20)]
    run = marked(
        tmp_path,
        {"A": {n: [1, 0.8] if n == "q00" else [1, 1] for n in names}, "B": {n: [0.5, 0.5] for n in names}},
    )
    found = run.compare("A", "B", metric="told", population="fixed")
    r = found.rows[0]
    assert (20, None, None) == (r["n_groups"], r["effective_cases"], r["effective_different"])
    assert "On 20 questions (20 cases): " in found.text
    assert r["mde"] is not None
    assert r["reason"] is None
