"""Gates and references: `--against`, `--fail-if worse`, families, looks, and the published comparisons."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import SILENT, Answers, borrowed, marked, row, score, twins
from typer.testing import CliRunner

from vivavoce import cli
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.core.tables import restrict_to_items
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores, select_items
from vivavoce.store.view import with_view
from vivavoce.studies.score_table import resolve

Viva = Callable[..., Any]
GEMINI = "Gemini 2.5 Pro"
# Twelve cases: old is ahead of new by 0.1 or 0.3.
OLD, NEW = twins([0.5, 0.7] * 6), twins([0.4] * 12)
MIXED = twins([0.3, 0.6] * 6)  # neither ahead of 0.45 nor behind


@pytest.fixture
def viva() -> Iterator[Viva]:
    """The exit code and what was said."""
    runner = CliRunner(env={"COLUMNS": "200"})

    def call(*words: object) -> Any:
        found = runner.invoke(cli.app, [str(word) for word in words])
        if found.exception and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found

    with borrowed():
        yield call


def gate(viva: Viva, run: Run, *words: object) -> int:
    return int(viva("compare", run.file.path, *words, "--metric", "told", "--fail-if", "worse").exit_code)


# The gate


@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize("said", [(), ("--json",), ("--quiet",), ("--json", "--quiet")])
def test_a_gate_fails_where_the_reference_is_better(
    viva: Viva, tmp_path: Path, direction: str, said: tuple[str, ...]
) -> None:
    worse, better = ("new", "old") if direction == "higher" else ("old", "new")
    run = marked(tmp_path, {"old": OLD, "new": NEW}, f"told(direction={direction})")
    assert 3 == gate(viva, run, worse, "--against", better, *said)
    assert 0 == gate(viva, run, better, "--against", worse, *said)


def test_what_a_gate_says_is_what_is_said_without_it(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": NEW})
    words = ("compare", run.file.path, "new", "--against", "old", "--metric", "told")
    plain, gated = viva(*words, "--json"), viva(*words, "--json", "--fail-if", "worse")
    assert (0, 3) == (plain.exit_code, gated.exit_code)
    one, other = (json.loads(f.stdout)["rows"] for f in (plain, gated))
    assert one == other
    quiet = viva(*words, "--quiet", "--fail-if", "worse")
    assert "" == quiet.stdout
    assert "viva: the gate is closed: new (told, worth) is worse: old is better" in quiet.stderr
    assert "old is better" in viva(*words, "--fail-if", "worse").stdout


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (MIXED, "cannot_tell"),
        (OLD, "too_few"),
        (twins([0.4] * 5), "too_few"),
        ({"elsewhere": 0.1}, "incomparable"),
        ({**twins([0.4, 0.3] * 6), **twins(["fail"] * 12, name="more")}, "depends"),
    ],
)
def test_a_gate_lets_pass_what_is_not_shown_to_be_worse(
    viva: Viva, tmp_path: Path, new: dict[str, Any], verdict: str
) -> None:
    old = twins([0.45] * 12) if new is MIXED else {**OLD, **twins([0.5] * 12, name="more")}
    run = marked(tmp_path, {"old": old, "new": new})
    row = run.compare("old", "new", metric="told").rows[0]
    assert verdict == row["verdict_code"]
    assert 0 == gate(viva, run, "new", "--against", "old")
    # Every verdict that leaves it open whether the new one is worse is unclear.
    assert 3 == gate(viva, run, "new", "--against", "old", "--fail-if", "unclear")


def test_an_open_gate_says_what_it_could_not_judge(viva: Viva, tmp_path: Path) -> None:
    few = dict(list(OLD.items())[:10])
    run = marked(tmp_path, {"old": OLD, "new": few})
    words = ("compare", run.file.path, "new", "--against", "old", "--metric", "told", "--quiet")
    left_out = run.compare("old", "new", metric="told").rows[0]["n_only_a"]
    assert len(OLD) - len(few) == left_out
    opened, closed = (viva(*words, "--fail-if", reason) for reason in ("worse", "unclear"))
    assert (0, 3) == (opened.exit_code, closed.exit_code)
    said = f"new (told, worth) has no scores on {left_out} questions that old has scores on."
    assert f"viva: the gate is open, but: {said}" in opened.stderr
    assert f"viva: the gate is closed: {said}" in closed.stderr


def test_a_gate_fails_by_the_margin_too(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": NEW})
    assert "better_by_margin" == run.compare("old", "new", metric="told", margin=0.1).rows[0]["verdict_code"]
    assert 3 == gate(viva, run, "new", "--against", "old", "--margin", "0.1")


def test_without_a_reference_the_first_named_is_it(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": NEW})
    assert 3 == gate(viva, run, "old", "new")
    assert 0 == gate(viva, run, "new", "old")


def test_a_gate_heeds_the_reference_alone(viva: Viva, tmp_path: Path) -> None:
    """That one newcomer beats another is none of its business."""
    run = marked(tmp_path, {"best": OLD, "ref": NEW, "same": NEW})
    assert "best" == run.compare("best", "same", metric="told").rows[0]["a"]
    assert 0 == gate(viva, run, "ref", "best", "same")
    assert 0 == gate(viva, run, "best", "same", "--against", "ref")
    assert 3 == gate(viva, run, "same", "ref", "--against", "best")


def test_one_criterion_that_is_worse_is_enough(viva: Viva, tmp_path: Path, panel: Any) -> None:
    marks = [
        (who, f"q{n:02}", "", 1, value, criterion)
        for n in range(12)
        for who, criterion, value in (
            ("old", "tone", 2), ("new", "tone", 3 + n % 2), ("old", "harm", 3 + n % 2), ("new", "harm", 2),
        )
    ]  # fmt: skip
    run = panel(marks)
    words = ("compare", run.file.path, "new", "--against", "old", "--metric", "panel", "--fail-if", "worse")
    assert 3 == viva(*words).exit_code
    assert ["a", "b"] == [r["favours"] for r in run.compare("old", "new", metric="panel").rows]


def test_the_reference_may_be_spelt_in_another_case(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"Old": OLD, "New": NEW})
    assert 3 == gate(viva, run, "new", "--against", "OLD")


def test_a_gate_that_is_none(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": NEW})
    found = viva("compare", run.file.path, "old", "new", "--metric", "told", "--fail-if", "better")
    assert 2 == found.exit_code
    assert "'better' is not" in found.stderr


# Who is compared with whom


def pairs(found: Finding) -> list[tuple[str, str]]:
    return [(r["a"], r["b"]) for r in found.rows]


@pytest.fixture
def five(tmp_path: Path) -> Run:
    return marked(tmp_path, {name: twins([0.1 * k, 0.15 * k] * 6) for k, name in enumerate("ABCDE")})


def test_against_compares_each_with_the_reference(five: Run) -> None:
    assert [("C", "A"), ("C", "B")] == pairs(five.compare("A", "B", metric="told", against="C"))
    assert [("C", "A"), ("C", "B")] == pairs(five.compare("A", "C", "B", metric="told", against="C"))
    assert [("E", n) for n in "ABCD"] == pairs(five.compare(*"ABCDE", metric="told", against="E"))


def test_without_it_three_are_all_pairs_and_four_each_with_the_first(five: Run) -> None:
    assert 3 == len(five.compare(*"ABC", metric="told").rows)
    assert [("B", "A"), ("B", "C"), ("B", "D")] == pairs(five.compare(*"BACD", metric="told"))


def test_the_family_is_the_pairs_of_the_call(five: Run) -> None:
    assert {2} == {r["family"] for r in five.compare(*"AB", metric="told", against="C").rows}
    assert {4} == {r["family"] for r in five.compare(*"ABCDE", metric="told").rows}
    assert {3} == {r["family"] for r in five.compare(*"ABC", metric="told").rows}


def test_the_family_counts_criteria_and_benchmarks(five: Run) -> None:
    score(five, "told(criteria_named=[x, y])")
    found = five.compare(*"ABC", metric="told(criteria_named=[x, y])", against="A")
    assert ({4}, 4) == ({r["family"] for r in found.rows}, len(found.rows))


def test_q_is_benjamini_and_hochbergs(tmp_path: Path) -> None:
    """Three p values, by hand: min over those above of p * 3 / place."""
    rows = marked(
        tmp_path,
        {"R": twins([0.4] * 12), "A": twins([0.5, 0.3] * 6), "B": OLD, "C": twins([0.55, 0.39] * 6)},
    ).compare(*"ABC", metric="told", against="R").rows  # fmt: skip
    small, middle, large = sorted(r["p"] for r in rows)
    third = large
    second = min(third, middle * 3 / 2)
    first = min(second, small * 3)
    assert pytest.approx([first, second, third]) == [
        r["q"] for r in sorted(rows, key=lambda r: float(r["p"]))
    ]
    assert all(r["p"] <= r["q"] <= r["p_adjusted"] or r["q"] == pytest.approx(r["p_adjusted"]) for r in rows)


def test_against_one_who_is_not_there(five: Run) -> None:
    with pytest.raises(SelectionError, match="no candidate named 'Z' in this run"):
        five.compare("A", metric="told", against="Z")
    with pytest.raises(SelectionError, match="two or more different candidates"):
        five.compare("A", metric="told", against="A")


def test_the_words_count_the_tests(five: Run) -> None:
    said = [str(five.compare("A", name, metric="told")) for name in "BCD"]
    assert ["1st", "2nd", "3rd"] == [s.split("This is the ")[1].split(" test on this run.")[0] for s in said]


def test_a_study_is_no_test(five: Run) -> None:
    five.study("ranking")
    assert 1 == five.compare("A", "B", metric="told").rows[0]["looks"]


# When both answered


def test_the_difference_where_both_answered_worked_by_hand(tmp_path: Path) -> None:
    """A is silent on two of fourteen questions, B on a third: eleven are left; the headline has all."""
    a = [SILENT, SILENT, 0.9, *[0.6, 0.8] * 5, 0.6]
    b = [0.5, 0.5, SILENT, *[0.4] * 11]
    found = marked(tmp_path, {"A": twins(a), "B": twins(b)}).compare("A", "B", metric="told").rows[0]
    assert pytest.approx((0.2 * 6 + 0.4 * 5) / 11) == found["difference_answered"]
    assert pytest.approx((-0.5 - 0.5 + 0.9 + 0.2 * 6 + 0.4 * 5) / 14) == found["difference"]
    assert (11, 14) == (found["n_answered"], found["n_items"])
    assert found["low_answered"] < found["difference_answered"] < found["high_answered"]


def test_answers_of_both_are_in_the_metrics_own_direction(tmp_path: Path) -> None:
    answers: Answers = {"A": {**OLD, "x": SILENT}, "B": {**NEW, "x": 1}}
    found = marked(tmp_path, answers, "told(direction=lower)").compare("A", "B", metric="told").rows[0]
    assert (pytest.approx(0.2), 12) == (found["difference_answered"], found["n_answered"])
    assert 0 < found["low_answered"] < 0.2 < found["high_answered"]


def test_nothing_that_both_answered(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": 1, "q2": SILENT}, "B": {"q1": SILENT, "q2": 1}}
    found = marked(tmp_path, answers).compare("A", "B", metric="told").rows[0]
    assert (0, None, None) == tuple(found[k] for k in ("n_answered", "difference_answered", "low_answered"))


def test_repeats_that_one_left_blank_are_left_out_where_both_answered(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": [1, SILENT], "q2": 0.5}, "B": {"q1": 0.5, "q2": 0.5}}
    found = marked(tmp_path, answers).compare("A", "B", metric="told").rows[0]
    assert (0.0, 0.25) == (found["difference"], found["difference_answered"])


# Two raters


def test_two_raters_of_one_criterion_are_two_rows(panel: Any) -> None:
    """Ann finds A better, Bob B: neither stands for both."""
    marks = [
        (name, f"q{n:02}", who, 1, base + (n % 2) * (name == "A"))
        for who, bases in (("Ann", {"A": 3, "B": 1}), ("Bob", {"A": 0, "B": 4}))
        for name, base in bases.items()
        for n in range(12)
    ]
    found = panel(marks).compare("A", "B", metric="panel")
    assert [("Ann", "a", 2), ("Bob", "b", 2)] == [(r["rater"], r["favours"], r["family"]) for r in found.rows]
    assert found.text.startswith("worth by Ann: On 12 questions")
    assert "\n\nworth by Bob: On 12 questions" in found.text


# The published comparisons, from the scores as recorded


@pytest.fixture(scope="module")
def nine(published: Callable[..., Run], paper: str) -> Finding:
    """Gemini against the nine others on comprehension alone, so that Holm runs over nine."""
    run = published("comprehension")
    others = sorted(set(run.responses["candidate"]) - {GEMINI, "Rephrased Gold Answers"})
    return run.compare(*others, against=GEMINI, metric="judge", items=paper)


@pytest.mark.parametrize(
    ("other", "difference", "p", "holm", "mde", "cases"),
    [
        ("Claude 3.5 Sonnet", ".0905", ".2935", ".2935", ".2447", 42),
        ("MedGemma 27B", ".1873", ".0369", ".0739", ".2487", 42),
        ("Llama 3.3-70B-Instruct", ".2683", ".0117", ".0352", ".2902", 42),
        ("Gemma 3 27B", ".5524", ".0022", ".0086", ".4789", 42),
        ("Med42-70B", ".4803", ".00061", ".0030", ".3649", 41),
    ],
)
def test_gemini_against_the_others(
    nine: Finding, other: str, difference: str, p: str, holm: str, mde: str, cases: int
) -> None:
    """Section 3 of docs/statistics.md, by CR2."""
    r = row(nine, b=other)
    for expected, name in ((difference, "difference"), (p, "p"), (holm, "p_adjusted"), (mde, "mde")):
        assert expected == f"{r[name]:.{len(expected) - 1}f}"[1:], name
    assert (9, cases, 61 if cases == 41 else 63) == (r["family"], r["n_groups"], r["n_items"])


def test_what_the_failed_marks_could_make_of_gemini_and_med42(nine: Finding) -> None:
    """Section 1: observed .4803, set .4397 to .6619, with sampling error .1885 to 1.0018 by CR2."""
    r = row(nine, b="Med42-70B")
    assert (".4803", ".4397", ".6619", ".1885", ".0018") == tuple(
        f"{r[k]:.4f}"[1:] for k in ("difference", "set_low", "set_high", "bound_low", "bound_high")
    )
    assert ("better", "a") == (r["verdict_code"], r["favours"])


def test_med42s_bounds(published: Callable[..., Run], paper: str) -> None:
    """Section 1: fourteen scores failed. Delivered, its fifteen blank answers count 0 and nothing failed."""
    r = row(published("comprehension").estimates("judge", items=paper), candidate="Med42-70B")
    assert ("3.6459", "3.4794", "3.7016", "3.1135", "4.0119", 14) == (
        *(f"{r[k]:.4f}" for k in ("estimate", "set_low", "set_high", "bound_low", "bound_high")),
        r["n_failed"],
    )
    run = published("comprehension", blank="unanswered")
    r = row(run.estimates("judge", items=paper), candidate="Med42-70B")
    assert ("3.4667", 15, 0) == (f"{r['estimate']:.4f}", r["n_unanswered"], r["n_failed"])
    pair = run.compare(GEMINI, "Med42-70B", metric="judge", items=paper).rows[0]
    assert ".6746" == f"{pair['difference']:.4f}"[1:]
    assert 60 == pair["n_answered"]


def test_when_med42_answered(published: Callable[..., Run], paper: str) -> None:
    """Section 1: 3.6400 on the sixty questions that it answered."""
    run = published("comprehension", blank="unanswered")
    chosen = restrict_to_items(
        with_view(run.file, load_scores).scores, with_view(run.file, select_items, paper)
    )
    ok = chosen.filter((chosen["status"] == "ok") & (chosen["candidate"] == "Med42-70B"))
    found = resolve(ok, run.measures[0].criterion)
    assert ("3.6400", 60) == (f"{found['observed'].mean():.4f}", found.height)


def test_a_candidate_that_only_refused_does_not_pass_for_no_worse(tmp_path: Path) -> None:
    """Without a single score it is in no comparison, and a gate that asks for worse closes."""
    run = marked(tmp_path, {"old": twins([0.5, 0.7] * 6), "new": twins([SILENT] * 12)})
    gate = run.gate("new", against="old", metric="told", fail_if=["worse"])
    assert (
        "new (told, worth) has no result where old has one" == gate.checks[0].reason.rpartition(": These")[0]
    )
    assert "worse" == gate.checks[0].outcome
