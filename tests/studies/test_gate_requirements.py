"""`--require`, `--fail-if unclear` and `--max-critical`: a gate passes what was shown, and nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.studies.judging import JUDGE
from tests.studies.making import SILENT, made, marked, score, twins
from tests.studies.people import benchmark, drawn, people_run

from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run
from vivavoce.studies.comparing.gate import (
    INCONCLUSIVE,
    Gate,
    GateTerms,
    checks,
    is_shown,
    objection,
    sentence_of,
)
from vivavoce.studies.comparing.verdicts import BETTER, ComparisonRow

OLD = twins([0.5, 0.7] * 6)
AHEAD, BEHIND = twins([0.8, 0.9] * 6), twins([0.4] * 12)


def gate(run: Run, *new: str, **terms: Any) -> Gate:
    return run.gate(*(new or ("new",)), **{"against": "old", "metric": "told", **terms})


def row(**figures: Any) -> ComparisonRow:
    """A row that shows nothing by itself."""
    return ComparisonRow(
        **{
            **dict.fromkeys(("benchmark", "metric", "criterion", "rater"), ""),
            **{"a": "old", "b": "new", "population": "sample", "family": 1, "looks": 1, "n_groups": 40},
            **{"effective_cases": 40.0, "verdict_code": "cannot_tell", "margin": 0.1, "difference": 0.0},
            **figures,
        }
    )


# Not worse


def test_20_of_20_against_17_of_20_does_not_pass(tmp_path: Path) -> None:
    """`--fail-if worse` lets a fall of 15 points pass as too few different cases."""
    run = marked(tmp_path, {"old": twins([1] * 20), "new": twins([1] * 17 + [0] * 3)})
    assert not gate(run, fail_if=["worse"]).closed
    closed = gate(run, require="not-worse", margin=0.05)
    assert closed.closed
    said = "new (told, worth) was not shown to be not worse than old by 0.05: it could be worse by 0.379."
    assert closed.reasons[0].startswith(f"{said} Too few")


def test_a_fall_of_40_points_that_cannot_be_told_does_not_pass(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": twins([1] * 12), "new": twins([1] * 7 + [0] * 5)})
    assert "too_few" == gate(run, fail_if=["worse"]).finding.rows[0]["verdict_code"]
    assert not gate(run, fail_if=["worse"]).closed
    assert gate(run, require="not-worse", margin=0.05).closed


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_what_is_better_passes_and_what_is_worse_does_not(tmp_path: Path, direction: str) -> None:
    new, worse = ("up", "down") if direction == "higher" else ("down", "up")
    run = marked(tmp_path, {"old": OLD, "up": AHEAD, "down": BEHIND}, f"told(direction={direction})")
    assert not gate(run, new, require="not-worse", margin=0.1).closed
    assert not gate(run, new, require="better").closed
    for terms in ({"require": "not-worse", "margin": 0.1}, {"require": "better"}):
        (check,) = gate(run, worse, **terms).checks
        assert ("worse", True) == (check.outcome, check.closes)


def test_equivalent_passes_for_not_worse_and_not_for_better(tmp_path: Path) -> None:
    close = twins([0.51, 0.69, 0.49, 0.71] * 6)
    run = marked(tmp_path, {"old": twins([0.5, 0.7] * 12), "new": close}, "told(least=0.3)")
    passed = gate(run, require="not-worse")
    assert "equivalent" == passed.finding.rows[0]["verdict_code"]
    assert (False, ()) == (passed.closed, passed.reasons)
    assert "was not shown to be better: " in gate(run, require="better").reasons[0]


def test_a_difference_in_either_direction_is_seen_from_the_new_candidate(tmp_path: Path) -> None:
    """Swapping the two swaps who could lose; that the reference is not worse opens nothing."""
    a, b = twins([0.5, 0.6] * 10), twins([0.57, 0.58] * 10)
    run = marked(tmp_path, {"old": a, "new": b})
    one = run.compare("old", "new", metric="told", margin=0.1).rows[0]
    other = run.compare("new", "old", metric="told", margin=0.1).rows[0]
    assert (one["loss_a"], one["loss_b"]) == (other["loss_b"], other["loss_a"])
    assert one["loss_b"] < one["loss_a"]


def test_one_candidate_and_one_criterion_that_fails_is_enough(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": AHEAD, "newer": BEHIND})
    assert [False, True] == [c.closes for c in gate(run, "new", "newer", require="better").checks]
    score(run, "told(criteria_named=[x, y])")
    terms = {"metric": "told(criteria_named=[x, y])", "require": "better"}
    assert [False, False] == [c.closes for c in gate(run, **terms).checks]


def test_a_gate_decides_on_the_interval_of_the_whole_family(tmp_path: Path) -> None:
    names = [f"n{k}" for k in range(8)]
    run = marked(tmp_path, {"old": OLD, **{n: twins([0.51, 0.69, 0.49, 0.71] * 3) for n in names}})
    alone = gate(run, "n0", require="not-worse", margin=0.5).checks[0].loss
    among = gate(run, *names, require="not-worse", margin=0.5).checks[0].loss
    assert 0 < alone < among


# What shows nothing closes it


@pytest.mark.parametrize("require", ["not-worse", "better"])
@pytest.mark.parametrize(
    ("new", "code", "why"),
    [
        (twins([0.3, 0.6] * 6), "cannot_tell", "No significant difference"),
        (OLD, "too_few", "Too few different cases"),
        (twins([0.9] * 5), "too_few", "has no scores on 7 questions that old has scores on"),
        ({"elsewhere": 0.1}, "incomparable", "has no scores on|cannot be compared"),
        (twins([SILENT] * 12), "incomparable", "has no result where old has one"),
        (twins(["fail"] * 12), "incomparable", "cannot be compared"),
        ({**AHEAD, **twins(["fail"] * 12, name="more")}, "depends", "could not be"),
    ],
)
def test_every_inconclusive_verdict_closes_a_gate_that_requires(
    tmp_path: Path, new: dict[str, Any], code: str, why: str, require: str
) -> None:
    old = {"cannot_tell": twins([0.45] * 12), "depends": {**OLD, **twins([0.9] * 12, name="more")}}.get(
        code, OLD
    )
    run = marked(tmp_path, {"old": old, "new": new})
    closed = gate(run, require=require, margin=0.05)
    assert code == closed.finding.rows[0]["verdict_code"]
    assert closed.closed
    assert re.search(why, closed.reasons[0])
    assert gate(run, fail_if=["unclear"]).closed or "no result" in why


def test_a_reference_without_a_result_closes_it(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": twins([SILENT] * 12), "new": AHEAD})
    assert gate(run, require="better").closed
    assert gate(run, fail_if=["unclear"]).closed
    assert not gate(run, fail_if=["worse"]).closed


def test_fewer_than_six_cases_close_it_whatever_the_interval(tmp_path: Path) -> None:
    few = row(n_groups=5, effective_cases=5.0, loss_b=-1.0, verdict="Too few different cases to say.")
    assert "Too few" in str(objection(few))
    assert objection(row(n_groups=6, effective_cases=3.0, loss_b=-1.0)) is None
    assert "Too few" in str(objection(row(effective_cases=None, n_groups=5, verdict="Too few …")))


@pytest.mark.parametrize("code", INCONCLUSIVE)
def test_every_inconclusive_verdict_is_unclear(code: str) -> None:
    """`--fail-if unclear` once passed over too few cases and over what could not be told apart."""
    (check,) = checks([vars_of(row(verdict_code=code, verdict="…"))], GateTerms(fail_if=("unclear",)))
    assert (True, "unclear") == (check.closes, check.outcome)


@pytest.mark.parametrize(("a", "b"), [(1, 0), (0, 1)])
def test_questions_that_one_of_them_lacks_are_unclear(a: int, b: int) -> None:
    shown = row(n_only_a=a, n_only_b=b, verdict_code="better", favours="b", verdict="…")
    assert checks([vars_of(shown)], GateTerms(fail_if=("unclear",)))[0].closes
    # What the reference lacks cannot hide a loss.
    assert bool(a) == checks([vars_of(shown)], GateTerms(require="better"))[0].closes


def test_that_the_reference_is_not_worse_is_unclear() -> None:
    said = row(verdict_code="not_worse", favours="a", verdict="…")
    assert checks([vars_of(said)], GateTerms(fail_if=("unclear",)))[0].closes
    mine = row(verdict_code="not_worse", favours="b", verdict="…")
    assert not checks([vars_of(mine)], GateTerms(fail_if=("unclear",)))[0].closes


def vars_of(said: ComparisonRow) -> dict[str, Any]:
    from vivavoce.studies.study import as_mapping

    return dict(as_mapping(said))


# The interval it decides on


@pytest.mark.parametrize(("loss", "shown"), [(0.0999, True), (0.1, False), (0.1001, False), (None, False)])
def test_a_loss_as_large_as_the_margin_is_not_shown(loss: float | None, shown: bool) -> None:
    assert shown == is_shown(row(loss_b=loss), "not-worse")


@pytest.mark.parametrize("code", BETTER)
def test_better_is_no_reason_to_pass_as_not_worse(code: str) -> None:
    """It once was the first: 25 to 40 % of candidates worse by the margin passed at 20 to 30 questions."""
    assert not is_shown(row(verdict_code=code, favours="b", loss_b=0.3), "not-worse")
    assert not is_shown(row(verdict_code=code, favours="b", loss_b=None), "not-worse")
    assert is_shown(row(verdict_code=code, favours="b", loss_b=0.05), "not-worse")
    assert is_shown(row(verdict_code=code, favours="b", loss_b=0.3), "better")
    assert not is_shown(row(verdict_code=code, favours="a", loss_b=-0.3), "better")


def test_better_by_little_everywhere_passes_once_rare_whole_losses_are_excluded(tmp_path: Path) -> None:
    """Better by .02 in all of n: whole losses in 3 / n of them would be worse by more than the margin."""
    for n, closed in ((20, True), (60, False)):
        run = marked(tmp_path / str(n), {"old": twins([0.5, 0.7] * n), "new": twins([0.52, 0.72] * n)})
        gated = gate(run, require="not-worse", margin=0.05)
        assert (closed, "better") == (gated.closed, gated.finding.rows[0]["verdict_code"])
        share = 1 - 0.05 ** (1 / (2 * n))
        assert pytest.approx(share) == gated.finding.rows[0]["unseen_loss_b"]
        if closed:
            assert f"as up to {100 * share:.2g} % of cases may be whole losses although none was seen" in str(
                gated
            )
        assert not gate(run, require="better").closed


def test_a_failed_score_at_its_worst_does_not_count_as_a_loss_that_was_seen(tmp_path: Path) -> None:
    """Filled in as a whole loss it would hide that no loss was seen among the scores that exist."""
    old, new = twins([0.5, 0.7] * 20), twins([0.52, 0.72] * 20)
    run = marked(tmp_path / "whole", {"old": old, "new": new})
    gaps = marked(tmp_path / "failed", {"old": old, "new": {**new, "q00": "fail"}})
    losses = [gate(x, require="not-worse", margin=0.05).checks[0].loss for x in (run, gaps)]
    assert losses[0] < losses[1]
    assert gate(gaps, require="not-worse", margin=0.05).finding.rows[0]["unseen_loss_b"] is not None


@pytest.mark.parametrize(("direction", "winner"), [("higher", "new"), ("lower", "old")])
def test_compare_says_how_many_whole_losses_may_exist(tmp_path: Path, direction: str, winner: str) -> None:
    """Of 40 questions at most 7.2 %, and .02 is undone by 2 %, .5 by a third."""
    small = marked(
        tmp_path,
        {"old": twins([0.2, 0.3] * 20), "new": twins([0.22, 0.32] * 20)},
        f"told(direction={direction})",
    )
    loser = {"new": "old", "old": "new"}[winner]
    note = (
        f"{winner} against {loser} (worth): no whole loss was seen in 40 questions (40 cases); up to 7.2 % "
    )
    notes = small.compare("old", "new", metric=f"told(direction={direction})").notes
    assert [f"{note}may exist (95 %), which would undo this difference."] == [
        n for n in notes if "whole" in n
    ]


def test_compare_says_so_where_they_would_not_undo_it(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": twins([0.2, 0.3] * 20), "new": twins([0.6, 0.7] * 20)})
    (note,) = [n for n in run.compare("old", "new", metric="told").notes if "whole" in n]
    assert note.endswith("up to 7.2 % may exist (95 %), which would not undo this difference.")


def test_whole_losses_that_were_seen_and_yes_no_scores_have_no_note(tmp_path: Path) -> None:
    graded = {"old": twins([0.2, 0.3] * 20), "new": twins([0.6, 0.7] * 19 + [0.7, 0.0])}
    lost = marked(tmp_path / "lost", {**graded, "old": {**graded["old"], "q39": 1.0}})
    yes_no = marked(tmp_path / "yes", {"old": twins([0, 1] * 20), "new": twins([1] * 40)})
    for run in (lost, yes_no):
        finding = run.compare("old", "new", metric="told")
        assert "better" == finding.rows[0]["verdict_code"]
        assert not [n for n in finding.notes if "whole" in n]
    assert lost.compare("old", "new", metric="told").rows[0]["unseen_loss_b"] is None


def test_worse_by_less_than_the_margin_passes_and_is_said(tmp_path: Path) -> None:
    """Else the gate would close the surer the exam shows how small the loss is."""
    run = marked(tmp_path, {"old": twins([0.52, 0.72] * 20), "new": twins([0.50, 0.71] * 20)})
    small = gate(run, require="not-worse", margin=0.1)
    assert ("better", "a") == tuple(small.finding.rows[0][k] for k in ("verdict_code", "favours"))
    assert not small.closed
    assert "new (told, worth) is worse: old is better" in sentence_of(small.checks[0])
    assert gate(run, require="not-worse", margin=0.1, fail_if=["worse"]).closed


def test_an_unchanged_system_passes_where_the_exam_is_large_enough(tmp_path: Path) -> None:
    """No case differs: the verdict is "too few" until a loss of .05 is excluded, from 72 cases on."""
    for n, closed, code in ((71, True, "too_few"), (72, False, "equivalent")):
        same = {f"q{k}": 1.0 for k in range(n)}
        run = marked(tmp_path / str(n), {"old": same, "new": same})
        found = gate(run, require="not-worse", margin=0.05)
        assert code == found.finding.rows[0]["verdict_code"]
        assert closed == found.closed == gate(run, fail_if=["unclear"], margin=0.05).closed
        assert pytest.approx(1 - 0.025 ** (1 / n)) == found.checks[0].loss


def test_failed_scores_count_at_their_worst(tmp_path: Path) -> None:
    """Four of 44 failed: the new candidate could have lost them all."""
    same = {f"q{k}": 1.0 for k in range(200)}
    run = marked(tmp_path, {"old": same, "new": {**same, **{f"q{k}": "fail" for k in range(20)}}})
    found = gate(run, require="not-worse", margin=0.1)
    assert found.closed
    assert found.finding.rows[0]["loss_b"] > 0.1


# A judge


def test_a_judge_alone_opens_no_gate_that_requires() -> None:
    """It may be kinder to the new candidate, however many questions there are."""
    kind = row(
        verdict_code="better", favours="b", loss_b=-0.5, judge_alone=True, verdict="The judge prefers new."
    )
    for require in ("not-worse", "better"):
        (check,) = checks([vars_of(kind)], GateTerms(require=require))
        assert check.closes
        assert "rests on a judge alone, which shows a preference and no quality" in str(check.reason)
        assert "let people score some of the answers" in str(check.opens)
    assert not checks([vars_of(kind)], GateTerms(fail_if=("worse",)))[0].closes
    unkind = row(verdict_code="better", favours="a", judge_alone=True, verdict="The judge prefers old.")
    (check,) = checks([vars_of(unkind)], GateTerms(fail_if=("worse",)))
    assert check.closes
    assert str(check.reason).endswith(" may be worse: The judge prefers old.")


def test_a_gate_on_a_kind_judge_closes_without_labels_and_rests_on_people_with_them(tmp_path: Path) -> None:
    """Equal candidates: the judge is kinder to B, which alone would have passed for better than A."""
    terms: dict[str, Any] = {"against": "A", "metric": JUDGE}
    for name, at in (("alone", []), ("labelled", drawn(1))):
        (tmp_path / name).mkdir()
        run = people_run(tmp_path / name, benchmark(3, kinder=0.4), at, probability=0.25)
        (check,) = run.gate("B", **terms, require="better").checks
        assert check.closes
        why = "rests on a judge alone" if name == "alone" else "No significant difference on people's scale"
        assert why in str(check.reason)
        how = "let people score some" if name == "alone" else "people scored 50 of 200 questions"
        assert how in str(check.opens)
    (check,) = run.gate("B", **terms, require="not-worse", margin=0.9).checks
    high = run.compare("A", "B", metric=JUDGE, margin=0.9).rows[0]["high"]
    assert (False, high) == (check.closes, pytest.approx(check.loss))


def test_on_peoples_scale_the_labelled_cases_must_be_enough() -> None:
    people = {"estimate_kind": "prediction_powered", "n_labelled": 20, "loss_b": 0.01, "verdict": "…"}
    assert objection(row(**people, verdict_code="too_few")) == "cannot be judged: …"
    assert objection(row(**people, verdict_code="equivalent")) is None


# Terms that cannot be decided


def test_not_worse_needs_to_know_by_how_much(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": AHEAD})
    with pytest.raises(SelectionError, match="told declares no smallest difference of worth, so name one"):
        gate(run, require="not-worse")
    assert 1 == run.compare("old", "new", metric="told").rows[0]["looks"], "what cannot be decided is no test"


def test_a_declared_smallest_difference_is_a_margin(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": AHEAD}, "told(least=0.1)")
    assert "not worse than old by 0.1 or more" == gate(run, require="not-worse").checks[0].condition


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ({}, "asks for --require, --fail-if or --max-critical"),
        ({"max_critical": 0}, "needs --veto"),
        ({"veto": ["told < 0.5"]}, "--max-critical N says how many"),
        ({"max_critical": -1, "veto": ["told < 0.5"]}, "0 or more, not -1"),
        ({"max_critical": 0, "veto": ["told about 0.5"]}, "cannot read the veto"),
        ({"max_critical": 0, "veto": ["other < 0.5"]}, "matches none"),
    ],
)
def test_terms_that_ask_nothing_are_refused(tmp_path: Path, terms: dict[str, Any], why: str) -> None:
    run = marked(tmp_path, {"old": OLD, "new": AHEAD})
    with pytest.raises(SelectionError, match=why):
        gate(run, **terms)


# Against alone


def test_against_alone_is_compared_with_every_other_candidate(tmp_path: Path) -> None:
    answers = {"old": OLD, "new": AHEAD, "newer": BEHIND, "random": BEHIND}
    run = marked(tmp_path, answers, role={"random": "floor"})
    pairs = [(r["a"], r["b"]) for r in run.compare(against="old", metric="told").rows]
    assert [("old", "new"), ("old", "newer")] == pairs
    found = run.gate(against="old", metric="told", require="better")
    assert [("new", False), ("newer", True)] == [(c.candidate, c.closes) for c in found.checks]


def test_against_alone_with_nobody_else(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD})
    with pytest.raises(SelectionError, match="two or more different candidates"):
        run.compare(against="old", metric="told")


# Critical responses


def critical(run: Run, most: int, *vetoes: str, **terms: Any) -> Any:
    veto = vetoes or ("told < 0.3",)
    found = gate(run, **{"max_critical": most, "veto": veto, **terms})
    return found.checks[-1]


def test_responses_over_a_line_are_counted_not_questions(tmp_path: Path) -> None:
    new = {**{f"q{n:02}": [0.9, 0.9] for n in range(12)}, "q00": [0.1, 0.2], "q01": [0.9, 0.29]}
    run = marked(tmp_path, {"old": twins([0.5] * 12), "new": new})
    assert (False, "passed") == (critical(run, 3).closes, critical(run, 3).outcome)
    closed = critical(run, 2)
    assert (True, "critical") == (closed.closes, closed.outcome)
    assert "new has 3 critical answers of 24 (told < 0.3), and 2 may be." == closed.reason


def test_a_response_over_two_lines_counts_once(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": {**AHEAD, "q00": 0.1, "q01": 0.97}})
    assert not critical(run, 2, "told < 0.3", "told <= 0.2", "told > 0.95").closes
    assert critical(run, 1, "told < 0.3", "told <= 0.2", "told > 0.95").closes


def test_failed_scores_could_be_critical(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": {**AHEAD, "q00": 0.1, "q01": "fail", "q02": "fail"}})
    assert not critical(run, 3).closes
    closed = critical(run, 2)
    assert (True, "unclear") == (closed.closes, closed.outcome)
    assert "1 critical answer of 12" in closed.reason
    assert "2 failed scores: it could be up to 3" in closed.reason
    assert "score what failed again" in closed.opens
    # However bad a failed score is, it cannot be above the scale.
    assert not critical(run, 0, "told > 1").closes


def test_responses_that_the_veto_never_scored_could_be_critical(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD})
    made(tmp_path, {"new": AHEAD}, run=run, items=list(OLD))
    score(run, "exact")
    closed = critical(run, 11, metric="exact")
    assert closed.closes
    assert "12 answers without a score: it could be up to 12" in closed.reason


def test_questions_that_the_new_candidate_never_answered_could_be_critical(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": OLD, "new": twins([0.9] * 8)})
    closed = critical(run, 3)
    assert "4 questions without an answer: it could be up to 4" in closed.reason
    assert not critical(run, 4).closes


def test_silence_counts_as_its_criterion_says(tmp_path: Path) -> None:
    answers = {"old": OLD, "new": {**AHEAD, "q00": SILENT}}
    assert critical(marked(tmp_path / "worst", answers), 0).closes
    aside = marked(tmp_path / "aside", answers, "told(silence=set_aside)")
    assert not critical(aside, 0).closes


def test_a_gate_on_critical_responses_alone_asks_nothing_of_the_means(tmp_path: Path) -> None:
    run = marked(tmp_path, {"old": AHEAD, "new": OLD})
    assert [False] == [c.closes for c in gate(run, max_critical=0, veto="told < 0.3").checks]
    both = gate(run, max_critical=0, veto="told < 0.3", require="not-worse", margin=0.1)
    assert [True, False] == [c.closes for c in both.checks]
