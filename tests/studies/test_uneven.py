"""Cases of unequal size: what one giant case among small ones lets be said."""

from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import Answers, made, marked, row, score

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.run.run import Run

SIZES = [60] + [1] * 11
NAMES = [f"q{case:02}.{n:02}" for case, size in enumerate(SIZES) for n in range(size)]
ITEMS: list[dict[str, Any]] = [{"item": name, "group": name.split(".")[0]} for name in NAMES]


def answers(giant: float, single: list[float], other: float = 0.5) -> Answers:
    """A is as good as told in the giant case and in the eleven others; B is `other` throughout."""
    values = [giant] * 60 + single
    return {"A": dict(zip(NAMES, values, strict=True)), "B": dict.fromkeys(NAMES, other)}


@pytest.fixture
def giant(tmp_path: Path) -> Run:
    """A is ahead in all 60 questions of one case, ahead in six and behind in five of the others."""
    return marked(tmp_path, answers(0.9, [0.6] * 6 + [0.4] * 5), items=ITEMS)


def test_one_giant_case_decides_nothing(giant: Run) -> None:
    """t(G - 1) on CR1 gave p < .0001; flipping the giant case alone turns the sum, so p is .5 or more."""
    found = giant.compare("A", "B", metric="told")
    r = found.rows[0]
    assert ("cannot_tell", "sign-flip") == (r["verdict_code"], r["test"])
    assert r["low"] < 0 < r["high"]
    assert r["p"] >= 0.5
    assert (71, 12, 12) == (r["n_items"], r["n_groups"], r["n_different"])
    assert pytest.approx((2.0606401, 2.0606401), abs=1e-6) == (r["effective_cases"], r["effective_different"])
    assert found.text.startswith("On 71 questions (12 cases, 2.06 effective): A 0.")
    assert found.text.endswith("No significant difference.")
    assert r["reason"].endswith("fewer than 10 effective cases: no detectable difference can be told")
    assert r["mde"] is None


def test_an_estimate_says_how_many_even_cases_it_is_worth(giant: Run) -> None:
    r = row(score(giant, "told"), candidate="A")
    assert (12, pytest.approx(2.0606401, abs=1e-6)) == (r["n_groups"], r["effective_cases"])
    assert r["high"] - r["low"] > 0.9
    text = score(giant, "told").text
    assert "71 questions in 12 cases, 2.06 effective, few cases" in text


def test_one_giant_case_ranks_nobody_before_another(giant: Run) -> None:
    found = giant.study("ranking")["ranking"]
    assert {(None, 1, 2)} == {(r["reason"], r["rank_low"], r["rank_high"]) for r in found.rows}


def test_a_few_twins_among_single_questions_change_little(tmp_path: Path) -> None:
    """Twenty pairs and 23 single questions: 34.05 effective of 43 cases, and t with 33.05."""
    names = [f"q{k:02}.{n}" for k in range(43) for n in range(2 if k < 20 else 1)]
    items = [{"item": name, "group": name.split(".")[0]} for name in names]
    values = {name: 0.5 + ((k * 7) % 5 - 1) / 10 for k, name in enumerate(names)}
    run = made(tmp_path, {"A": values, "B": dict.fromkeys(names, 0.5)}, items=items)
    score(run, "told")
    found: Finding = run.compare("A", "B", metric="told")
    r = found.rows[0]
    d = [values[name] - 0.5 for name in names]
    expected = stats.paired(d, [name.split(".")[0] for name in names])
    assert pytest.approx(33.0469781, abs=1e-6) == expected.df
    assert (expected.p, expected.interval()) == (
        pytest.approx(r["p"]),
        (pytest.approx(r["low"]), pytest.approx(r["high"])),
    )
    assert "(43 cases, 34 effective)" in found.text
    assert (r["p"] <= 0.05) == (r["low"] > 0)


def test_cases_of_one_size_are_told_as_cases_alone(tmp_path: Path) -> None:
    names = [f"q{k:02}.{n}" for k in range(12) for n in range(5)]
    items = [{"item": name, "group": name.split(".")[0]} for name in names]
    values = {name: ((k * 7) % 10) / 10 for k, name in enumerate(names)}
    run = marked(tmp_path, {"A": values, "B": dict.fromkeys(names, 0.5)}, items=items)
    found = run.compare("A", "B", metric="told")
    assert 12.0 == found.rows[0]["effective_cases"]
    assert "On 60 questions (12 cases): " in found.text


def test_the_report_says_how_many_cases_are_effective(giant: Run, tmp_path: Path) -> None:
    page = giant.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "12 cases, 2.06 effective, few cases" in page
    assert (
        "Fewer than 10 effective cases on exam: only a difference in nearly all cases can be detected."
        in page
    )
