"""Pooled criteria in a run: what is summed, what is left out, and how two candidates are compared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from tests.studies.making import SILENT, UNREADABLE, made, marked, row, score, twins

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.store import read
from vivavoce.studies.pooling import counts, pooled_figure

# F1 of counts: 2 TP over 2 TP + FP + FN.
RATIO = "numerator=1 denominator=2"
GOOD, HALF, BAD = "tp=2 fp=0 fn=0", "tp=1 fp=1 fn=1", "tp=0 fp=1 fn=1"


def estimate(folder: Path, answers: Any, spec: str = "counted", **settings: Any) -> dict[str, Any]:
    return row(score(made(folder, answers), spec, **settings), candidate="A")


def test_counts_are_summed_and_not_averaged(tmp_path: Path) -> None:
    """2/2, 1/2 and 0/1: pooled 2*3 / (2*3 + 2 + 2) = .6, where the mean of F1 would be .5."""
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, BAD])})
    assert pytest.approx(0.6) == found["estimate"]
    assert ("pooled", 3, 3, 1.0) == tuple(found[k] for k in ("view", "n_items", "n_groups", "coverage"))
    assert (found["estimate"], found["low"]) == (found["set_low"], found["bound_low"])


def test_an_f1_has_the_error_of_a_ratio(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, BAD, GOOD])})
    expected = stats.ratio([4, 2, 0, 4], [4, 4, 2, 4], groups=range(4), low=0, high=1)
    assert pytest.approx((expected.value, expected.low, expected.high)) == (
        found["estimate"], found["low"], found["high"]
    )  # fmt: skip


def test_a_ratio_without_limits_has_a_t_interval(tmp_path: Path) -> None:
    answers = {"A": twins(["numerator=3 denominator=2", "numerator=1 denominator=2"])}
    found = estimate(tmp_path, answers, "counted(pool=ratio, low=null, high=null)")
    expected = stats.ratio([3, 1], [2, 2], groups=[0, 1])
    assert (1.0, expected.low, expected.high) == (found["estimate"], found["low"], found["high"])


def bleu(correct: list[int], total: list[int], answer: int, reference: int) -> str:
    counts = {f"correct_{n}": c for n, c in enumerate(correct, 1)} | {
        f"total_{n}": t for n, t in enumerate(total, 1)
    }
    counts |= {"length_answer": answer, "length_reference": reference}
    return " ".join(f"{k}={v}" for k, v in counts.items())


def test_bleu_is_that_of_the_corpus(tmp_path: Path) -> None:
    texts = [bleu([4, 3, 2, 1], [4, 3, 2, 1], 4, 4), bleu([2, 1, 0, 0], [5, 4, 3, 2], 5, 6)]
    found = estimate(tmp_path, {"A": twins(texts)}, "counted(pool=bleu)")
    sums = np.array([[6, 4, 2, 1, 9, 7, 5, 3, 9, 10]], dtype=float)
    assert pytest.approx(stats.corpus_bleu(sums)[0]) == found["estimate"]
    assert 0 <= found["low"] < found["estimate"] < found["high"] <= 1


def test_chrf_takes_as_many_orders_as_are_counted(tmp_path: Path) -> None:
    texts = [
        "hyp_1=5 hyp_2=4 ref_1=5 ref_2=4 match_1=5 match_2=4",
        "hyp_1=3 hyp_2=2 ref_1=6 ref_2=5 match_1=3 match_2=1",
    ]
    found = estimate(tmp_path, {"A": twins(texts)}, "counted(pool=chrf)")
    sums = np.array([[8, 6, 11, 9, 8, 5]], dtype=float)
    assert pytest.approx(stats.corpus_chrf(sums)[0]) == found["estimate"]


def test_an_item_weighs_alike_however_often_it_was_answered(tmp_path: Path) -> None:
    once = estimate(tmp_path / "1", {"A": {"q1": GOOD, "q2": BAD}})
    often = estimate(tmp_path / "2", {"A": {"q1": [GOOD] * 3, "q2": [BAD]}})
    mixed = estimate(tmp_path / "3", {"A": {"q1": [GOOD, BAD], "q2": GOOD}})
    assert once["estimate"] == often["estimate"] == pytest.approx(4 / 6)
    assert pytest.approx(6 / 7) == mixed["estimate"]  # (1, .5, .5) and (2, 0, 0)


def test_silence_has_no_counts_and_shows_in_the_coverage(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, SILENT, UNREADABLE])})
    assert pytest.approx((0.75, 0.5)) == (found["estimate"], found["coverage"])
    assert (2, 1, 1) == (found["n_items"], found["n_unanswered"], found["n_unreadable"])


def test_silence_counts_as_worst_in_no_pool_that_has_no_counts_for_it(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([RATIO, RATIO])}, "counted(pool=ratio, silence=worst)")
    assert found["estimate"] is None
    assert "if_unanswered='set_aside'" in found["reason"]


def test_an_f1_may_count_a_silence_as_a_miss(tmp_path: Path) -> None:
    """2 * 3 / (2 * 3 + 1 + 1 + 2): two silences, each of one that was to be found."""
    spec = "counted(silence=worst, silent='tp=0 fp=0 fn=1')"
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, SILENT, UNREADABLE])}, spec)
    assert pytest.approx((0.6, 0.5)) == (found["estimate"], found["coverage"])
    assert (4, 1, 1) == (found["n_items"], found["n_unanswered"], found["n_unreadable"])


def test_a_silence_without_counts_leaves_no_f1(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, SILENT])}, "counted(silence=worst)")
    assert found["estimate"] is None
    assert "1 of 3 scores lack the counts" in found["reason"]


def test_silence_alone_is_no_result_also_where_it_has_counts(tmp_path: Path) -> None:
    spec = "counted(silence=worst, silent='tp=0 fp=0 fn=1')"
    found = estimate(tmp_path, {"A": twins([SILENT, SILENT])}, spec)
    assert found["estimate"] is None
    assert "no result" in found["reason"]


# Macro F1

MACRO = "counted(pool=macro_f1, silence=worst, silent='fn:no=1')"
YES, NO, NO_FOR_YES, MAYBE_FOR_NO = "tp:yes=1", "tp:no=1", "fn:yes=1 fp:no=1", "fn:no=1 fp:maybe=1"


def test_macro_f1_is_the_mean_over_labels(tmp_path: Path) -> None:
    """yes 2/3, no 2/4 and maybe, which nobody keyed, 0: a mean of 7/18."""
    texts = [YES, NO, NO_FOR_YES, MAYBE_FOR_NO]
    found = estimate(tmp_path, {"A": twins(texts)}, MACRO)
    assert pytest.approx(7 / 18) == found["estimate"]
    assert 0 <= found["low"] < found["estimate"] < found["high"] <= 1


def test_a_silence_never_raises_macro_f1(tmp_path: Path) -> None:
    """It misses what was keyed; set aside it would leave no trace."""
    right = estimate(tmp_path / "1", {"A": twins([YES, NO, NO_FOR_YES, NO])}, MACRO)
    silent = estimate(tmp_path / "2", {"A": twins([YES, NO, NO_FOR_YES, SILENT])}, MACRO)
    assert silent["n_items"] == right["n_items"] == 4
    assert pytest.approx((2 / 3 + 4 / 5) / 2) == right["estimate"]
    assert pytest.approx((2 / 3 + 2 / 4) / 2) == silent["estimate"]


def test_a_label_may_be_any_text(tmp_path: Path) -> None:
    plain = estimate(tmp_path / "1", {"A": twins([YES, NO, NO_FOR_YES, MAYBE_FOR_NO])}, MACRO)
    strange = {"yes": "a:b", "no": "a:b_2", "maybe": '"^$<b>'}
    texts = [YES, NO, NO_FOR_YES, MAYBE_FOR_NO]
    for label, name in strange.items():
        texts = [text.replace(f":{label}", f":{name}") for text in texts]
    found = estimate(tmp_path / "2", {"A": twins(texts)}, MACRO)
    assert pytest.approx((plain["estimate"], plain["low"])) == (found["estimate"], found["low"])


def test_macro_f1_is_compared_on_common_items_silence_included(tmp_path: Path) -> None:
    answers = {"A": twins([YES, NO] * 12), "B": twins([YES, NO, NO_FOR_YES, SILENT] * 6)}
    found = compare(tmp_path, answers, MACRO)
    # B: yes 2*6 / (2*6 + 6), no 2*6 / (2*6 + 6 + 6)
    assert pytest.approx(1 - (2 / 3 + 1 / 2) / 2) == found["difference"]
    # On what both answered no silence is missed: no 2*6 / (2*6 + 6).
    assert pytest.approx(1 - 2 / 3) == found["difference_answered"]
    assert ("better", 24, 18) == (found["verdict_code"], found["n_items"], found["n_answered"])


@pytest.mark.parametrize(
    ("spec", "texts", "why"),
    [
        ("counted(pool=median)", [GOOD, GOOD], "'median'"),
        ("counted", ["tp=1 fp=0 fn=0", "tp=1"], "1 of 2 scores lack the counts"),
        ("counted", ["tp=1 fp=0 fn=0", "nothing"], "1 of 2 scores lack the counts"),
        ("counted", ["nothing", "nothing"], "2 of 2 scores lack the counts"),
        ("counted(pool=chrf)", [GOOD, GOOD], "2 of 2 scores lack the counts"),
        ("counted", ["tp=0 fp=0 fn=0"] * 2, "divided by is 0"),
        ("counted(pool=ratio)", ["numerator=3 denominator=1"] * 2, "outside its declared range"),
        ("counted(pool=ratio)", ["numerator=0 denominator=2", "numerator=0 denominator=-1"], "below 0"),
        ("counted", [SILENT, SILENT], "no result: no answer could be scored (2 unanswered)"),
        ("counted", ["fail", "fail"], "no result: no answer could be scored (2 failed)"),
    ],
)
def test_a_figure_that_is_not_to_be_had_has_a_reason(
    tmp_path: Path, spec: str, texts: list[str], why: str
) -> None:
    found = estimate(tmp_path, {"A": twins(texts)}, spec)
    json.dumps(found, allow_nan=False)
    assert (None, None) == (found["estimate"], found["low"])
    assert why in found["reason"]


def test_marks_that_failed_leave_no_bounds(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([GOOD, HALF, "fail"])})
    assert pytest.approx(0.75) == found["estimate"]
    assert [None] * 4 == [found[k] for k in ("set_low", "set_high", "bound_low", "bound_high")]
    assert "has no bound" in found["reason"]


def test_one_case_has_no_interval(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": {"q1": GOOD, "q1|bias:recency": BAD}})
    assert (None, "one case only: no interval") == (found["low"], found["reason"])


def test_floor_and_ceiling_have_intervals_inside_the_range(tmp_path: Path) -> None:
    answers = {"A": twins([BAD] * 12), "B": twins([GOOD] * 12)}
    found = score(made(tmp_path, answers), "counted")
    assert ["B", "A"] == [r["candidate"] for r in found.rows]
    best, worst = found.rows
    assert (1.0, 1.0, 0.0, 0.0) == (best["estimate"], best["high"], worst["estimate"], worst["low"])
    assert worst["high"] < best["low"]


# Comparing


def compare(folder: Path, answers: Any, spec: str = "counted", **settings: Any) -> dict[str, Any]:
    found = marked(folder, answers, spec).compare("A", "B", metric="counted", **settings)
    json.dumps(found.rows, allow_nan=False)
    return dict(found.rows[0])


AHEAD = {"A": twins([GOOD, HALF] * 8), "B": twins([HALF, BAD] * 8)}


def test_two_are_compared_by_their_figures_as_a_whole(tmp_path: Path) -> None:
    """A: 2*24 of 2*24 + 16 = .75; B: 2*8 of 2*8 + 32 = 1/3. Every case is ahead."""
    found = compare(tmp_path, AHEAD)
    assert pytest.approx(0.75 - 1 / 3) == found["difference"]
    assert (16, 0, 0, 16) == tuple(found[k] for k in ("wins", "ties", "losses", "n_different"))
    assert ("better", "a") == (found["verdict_code"], found["favours"])
    assert found["low"] < found["difference"] < found["high"]
    assert (2 / 2**16, None) == (found["p_flip"], found["reason"])
    counts = [[2, 0, 0], [1, 1, 1]] * 8, [[1, 1, 1], [0, 1, 1]] * 8
    sizes = [4 + 4, 4 + 2] * 8  # 2 tp + fp + fn of A and of B, question by question
    expected = stats.pooled_paired(*counts, np.arange(16), stats.micro_f1, sizes=sizes)
    assert expected is not None
    assert pytest.approx((expected.p, *expected.interval())) == tuple(  # type: ignore[misc]
        found[k] for k in ("p", "low", "high")
    )


def test_turned_round_the_verdict_is_the_other_ones(tmp_path: Path) -> None:
    turned = compare(tmp_path, {"A": AHEAD["B"], "B": AHEAD["A"]})
    assert 2 / 2**16 == turned["p_flip"]
    assert ("better", "b") == (turned["verdict_code"], turned["favours"])
    assert pytest.approx(1 / 3 - 0.75) == turned["difference"]


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_check_by_swaps_is_the_same_in_either_order(tmp_path: Path, direction: str) -> None:
    """Of 24 cases 18 differ: too many to visit all swaps, so they are drawn."""
    answers = {"A": twins([GOOD, HALF, BAD, GOOD] * 6), "B": twins([HALF, HALF, GOOD, BAD] * 6)}
    run = marked(tmp_path, answers, f"counted(direction={direction})")
    found = [run.compare(*names, metric="counted").rows[0] for names in (("A", "B"), ("B", "A"))]
    assert 0.05 < found[0]["p_flip"] < 1
    assert found[0]["p_flip"] == found[1]["p_flip"]


def test_where_lower_is_better_the_lower_figure_is_ahead(tmp_path: Path) -> None:
    found = compare(tmp_path, AHEAD, "counted(direction=lower)")
    assert ("better", "b") == (found["verdict_code"], found["favours"])
    assert pytest.approx(0.75 - 1 / 3) == found["difference"]
    assert (0, 16) == (found["wins"], found["losses"])


def test_a_margin_is_judged_by_the_same_interval(tmp_path: Path) -> None:
    answers = {"A": twins([GOOD, HALF, GOOD] * 8), "B": twins([GOOD, GOOD, HALF] * 8)}
    assert "equivalent" == compare(tmp_path, answers, margin=0.5)["verdict_code"]


def test_two_that_answer_alike_are_too_alike_to_say(tmp_path: Path) -> None:
    found = compare(tmp_path, {"A": AHEAD["A"], "B": AHEAD["A"]})
    assert ("too_few", 0, 0.0) == (found["verdict_code"], found["n_different"], found["difference"])


def test_marks_that_failed_leave_the_verdict_open(tmp_path: Path) -> None:
    answers = {"A": AHEAD["A"] | {"q99": "fail"}, "B": AHEAD["B"] | {"q99": GOOD}}
    found = compare(tmp_path, answers)
    assert ("depends", None, 16) == (found["verdict_code"], found["set_low"], found["n_items"])
    assert "has no bound" in found["reason"]


@pytest.mark.parametrize(
    ("spec", "answers", "settings", "why"),
    [
        ("counted(pool=ratio, silence=worst)", AHEAD, {}, "set_aside"),
        ("counted", {"A": {"q1": GOOD}, "B": {"q2": GOOD}}, {}, "no question has scores of both"),
        ("counted", {"A": {"q1": GOOD}, "B": {"q1": "fail"}}, {}, "failed"),
        ("counted", {"A": {"q1": GOOD}, "B": {"q1": BAD}}, {}, "one case"),
        ("counted", {"A": twins([GOOD] * 3), "B": twins(["tp=0 fp=0 fn=0"] * 3)}, {}, "divided by is 0"),
        ("counted", {"A": twins([GOOD] * 3), "B": twins([GOOD] + ["tp=0 fp=0 fn=0"] * 2)}, {}, "undefined"),
        ("counted", AHEAD, {"population": "fixed"}, "fixed benchmark"),
    ],
)
def test_what_cannot_be_compared_says_why(
    tmp_path: Path, spec: str, answers: Any, settings: dict[str, Any], why: str
) -> None:
    found = compare(tmp_path, answers, spec, **settings)
    assert ("incomparable", None, None) == (found["verdict_code"], found["difference"], found["p"])
    assert why in found["reason"]


# Studies


def studies(folder: Path, specs: tuple[str, ...]) -> dict[str, Finding]:
    run = made(folder, {name: twins([GOOD, HALF, BAD] * 4) for name in ("A", "B", "C")})
    score(run, *specs)
    return run.study()


def test_studies_of_single_answers_leave_a_pooled_criterion_out_and_say_so(tmp_path: Path) -> None:
    for name, found in studies(tmp_path, ("counted",)).items():
        assert () == found.rows, name
        assert "Left out, being pooled" in "\n".join(found.notes), name
        assert "counted, counts" in "\n".join(found.notes), name


def test_a_candidate_without_a_mark_is_named_where_it_is_left_out(tmp_path: Path) -> None:
    answers = {name: twins([0.1, 0.5, 0.9] * 4) for name in ("A", "B", "C", "D")} | {
        "E": twins(["fail"] * 12)
    }
    found = marked(tmp_path, answers).study("ranking", "gaps", "correlation", "consistency")
    for name in ("ranking", "gaps", "correlation"):
        assert ("Left out of told: worth on exam, no result (no score is ok): E.",) == found[name].notes
    whole = marked(tmp_path / "whole", {"A": twins([0.1] * 3), "B": twins([0.2] * 3)}).study("ranking")
    assert () == whole["ranking"].notes


# The counts that metrics of ours give


@pytest.mark.parametrize(
    ("spec", "oracle"),
    [
        ("bleu", BLEU()),
        ("chrf", CHRF()),
        ("chrf(words=2)", CHRF(word_order=2)),
    ],
)
def test_the_counts_of_a_metric_make_sacrebleus_corpus_score(tmp_path: Path, spec: str, oracle: Any) -> None:
    answers = ["take one tablet twice daily with food", "see a doctor", "the pain should ease in two days"]
    keys = ["take one tablet daily with some food", "see your doctor soon", "pain should ease in two days"]
    items = [{"item": f"q{n}", "references": [key]} for n, key in enumerate(keys)]
    said = {f"q{n}": text for n, text in enumerate(answers)}
    run = made(tmp_path, {"A": said}, items=items)  # type: ignore[arg-type]
    run.score(spec)
    with run.file.reading() as db:
        marks = read.scores(db, details=True)
        (measure,) = (m.measure for m in read.measures(db) if m.measure.criterion.pool != "mean")
    criterion = replace(measure.criterion, if_unanswered="set_aside")
    counted = counts(marks.filter(criterion=criterion.criterion), criterion)
    assert counted.items is not None
    found = pooled_figure(counted.items, counted, criterion)
    assert not isinstance(found, str)
    assert pytest.approx(oracle.corpus_score(answers, [keys]).score / 100, rel=1e-9) == found.value
