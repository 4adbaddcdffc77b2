"""Every verdict through `run.compare`, on exams small enough to work by hand."""

import json
import math
import random
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from tests.cases import each_case
from tests.lengths import length
from tests.studies.making import SILENT, Answers, made, marked, row, score, twins

from vivavoce.core.records import Criterion
from vivavoce.stats import Verdict
from vivavoce.store.integrity import rehash
from vivavoce.studies import item_means
from vivavoce.studies.comparing.headline import comparison_headline
from vivavoce.studies.comparing.verdicts import ComparisonRow, sentence
from vivavoce.studies.score_table import resolve
from vivavoce.studies.text import count, ordinal

# Twelve cases in which A is ahead by 0.2 on average, and by how much varies.
AHEAD = [0.1, 0.3] * 6
B_LEVEL = 0.4


def two(differences: list[float], level: float = B_LEVEL) -> Answers:
    """A and B on as many cases as there are differences."""
    return {
        "A": twins([round(level + d, 6) for d in differences]),
        "B": twins([level] * len(differences)),
    }


def compare(folder: Path, answers: Answers, spec: str = "told", **settings: Any) -> dict[str, Any]:
    """The one row of A against B."""
    return dict(marked(folder, answers, spec).compare("A", "B", metric="told", **settings).rows[0])


BALANCED = [0.1, -0.1] * 6
SLIGHT = [0.02, -0.02] * 6
VERDICTS = {
    "incomparable": ({"A": {"q1": 0.5}, "B": {"q2": 0.5}}, None),
    "depends": ({"A": twins([0.6] * 3 + ["fail"] * 9), "B": twins([0.4, 0.3, 0.5] * 4)}, None),
    "too_few": (two([0.1] * 5 + [0.0] * 4), None),
    "better_by_margin": (two(AHEAD), 0.1),
    "better": (two(AHEAD), None),
    "equivalent": (two(SLIGHT), 0.1),
    "not_worse": (two([0.2, -0.1] * 6), 0.1),
    "cannot_tell": (two(BALANCED), None),
}


@pytest.mark.parametrize("code", VERDICTS)
def test_every_verdict_is_reached(code: str, tmp_path: Path) -> None:
    if code == "depends":  # enough cases as seen: 12 of them, 4 more failed for A
        answers: Answers = {
            "A": twins([0.6, 0.7] * 6 + ["fail"] * 8),
            "B": twins([0.4] * 20),
        }
        margin = None
    else:
        answers, margin = VERDICTS[code]
    assert code == compare(tmp_path, answers, margin=margin)["verdict_code"]


def test_the_figures_of_a_pair_worked_by_hand(tmp_path: Path) -> None:
    """Differences 0.1 and 0.3, six each: mean 0.2, SD 0.1 * sqrt(12/11), SE = SD / sqrt(12), t(11)."""
    found = compare(tmp_path, two(AHEAD), margin=0.1)
    se = 0.1 * math.sqrt(12 / 11) / math.sqrt(12)
    t = 2.200985160
    assert pytest.approx((0.2, 0.2 - t * se, 0.2 + t * se)) == (
        found["difference"],
        found["low"],
        found["high"],
    )
    assert pytest.approx((2.200985160 + 0.875529978) * se) == found["mde"]
    assert (12, 12, 12, 12, 0, 0) == tuple(
        found[k] for k in ("n_items", "n_groups", "n_different", "wins", "ties", "losses")
    )
    assert (1, found["p"], found["low"], found["mde"]) == (
        found["family"],
        found["p_adjusted"],
        found["low_family"],
        found["mde_family"],
    )
    assert 2 / 2**12 == found["p_flip"]
    assert ("a", 0.1, "--margin") == (found["favours"], found["margin"], found["margin_source"])


def test_nothing_failed_so_the_bounds_are_the_figures(tmp_path: Path) -> None:
    found = compare(tmp_path, two(AHEAD))
    assert (found["difference"], found["difference"], found["low"], found["high"]) == tuple(
        found[k] for k in ("set_low", "set_high", "bound_low", "bound_high")
    )


MIRRORED = {
    "difference": ("difference", -1),
    "low": ("high", -1),
    "high": ("low", -1),
    "low_family": ("high_family", -1),
    "high_family": ("low_family", -1),
    "set_low": ("set_high", -1),
    "set_high": ("set_low", -1),
    "bound_low": ("bound_high", -1),
    "bound_high": ("bound_low", -1),
    **{k: (k, 1) for k in ("p", "p_adjusted", "p_flip", "mde", "mde_family", "n_items", "n_groups", "ties")},
    "wins": ("losses", 1),
    "losses": ("wins", 1),
    "n_needed": ("n_needed", 1),
}


TURNED = [("higher", None), ("lower", 0.1), ("higher", 0.5)]


@pytest.mark.parametrize(
    ("direction", "margin"), length(TURNED, [*TURNED, ("lower", None), ("higher", 0.1), ("lower", 0.5)])
)
@pytest.mark.parametrize("differences", [AHEAD, BALANCED, [0.2, -0.1] * 6, [0.1] * 9, [0.0] * 12], ids=str)
def test_the_mirror_says_the_same(
    tmp_path: Path, differences: list[float], margin: float | None, direction: str
) -> None:
    """B against A: every figure turned, the same verdict, the other favoured."""
    answers = {
        "A": {**two(differences)["A"], "last": ["fail", 0.4]},
        "B": {**two(differences)["B"], "last": [0.4, SILENT]},
    }
    run = marked(tmp_path, answers, f"told(direction={direction})")
    one = run.compare("A", "B", metric="told", margin=margin).rows[0]
    other = run.compare("B", "A", metric="told", margin=margin).rows[0]
    for name, (mirror, sign) in MIRRORED.items():
        assert (None if one[name] is None else sign * one[name]) == other[mirror], name
    assert one["verdict_code"] == other["verdict_code"]
    assert {"a": "b", "b": "a", None: None}[one["favours"]] == other["favours"]
    if one["verdict_code"] not in ("equivalent",):  # it names both, in the order of the call
        assert one["verdict"] == other["verdict"]


def test_lower_is_better_favours_the_lower(tmp_path: Path) -> None:
    found = compare(tmp_path, two(AHEAD), "told(direction=lower)")
    assert ("better", "b") == (found["verdict_code"], found["favours"])
    assert pytest.approx(0.2) == found["difference"]
    assert found["low"] < found["difference"] < found["high"]
    assert (0, 0, 12) == (found["wins"], found["ties"], found["losses"])
    assert "A lower (better) in 0, equal in 0, higher in 12." in found["basis"]
    assert found["verdict"].startswith("B is better (-0.200, -0.266 to -0.134)")


def test_lower_is_better_fills_failed_marks_from_the_right_side(tmp_path: Path) -> None:
    """A's one failed score of 13 was between 0 and 1, whatever the direction."""
    answers = {"A": twins([0.6, 0.8] * 6 + ["fail"]), "B": twins([0.4] * 13)}
    found = compare(tmp_path, answers, "told(direction=lower)")
    assert pytest.approx(((12 * 0.3 - 0.4) / 13, (12 * 0.3 + 0.6) / 13)) == (
        found["set_low"],
        found["set_high"],
    )
    assert found["bound_low"] < found["set_low"] < found["set_high"] < found["bound_high"]


def test_a_failed_mark_of_b_widens_the_other_way(tmp_path: Path) -> None:
    answers = {"A": twins([0.6, 0.8] * 6 + [0.7]), "B": twins([0.4] * 12 + ["fail"])}
    found = compare(tmp_path, answers)
    assert pytest.approx(((12 * 0.3 - 0.3) / 13, (12 * 0.3 + 0.7) / 13)) == (
        found["set_low"],
        found["set_high"],
    )
    assert pytest.approx(0.3) == found["difference"]


def test_failed_marks_that_cannot_change_the_verdict_leave_it(tmp_path: Path) -> None:
    answers = {"A": twins([0.9, 0.8] * 20 + ["fail"]), "B": twins([0.2] * 41)}
    assert "better" == compare(tmp_path, answers)["verdict_code"]


def test_depends_counts_the_marks_of_common_questions_only(tmp_path: Path) -> None:
    """B never answered the last question: that A's score of it failed decides nothing."""
    answers = {
        "A": twins([0.6, 0.7] * 6 + ["fail"] * 9),
        "B": twins([0.4] * 20),
    }
    found = compare(tmp_path, answers)
    assert "depends" == found["verdict_code"]
    assert found["verdict"].startswith(
        "It depends on the 8 answers that could not be scored. Score them first."
    )


def test_failures_elsewhere_do_not_make_a_verdict_depend(tmp_path: Path) -> None:
    answers = {"A": twins(AHEAD), "B": {**twins([0.0] * 12), "only": "fail"}}
    found = compare(tmp_path, answers, "told(high=null, silence=set_aside)")
    assert ("better", None) == (found["verdict_code"], found["reason"])
    assert found["set_low"] == found["difference"]


def test_a_scale_without_limits_has_no_bounds_and_the_verdict_depends(tmp_path: Path) -> None:
    answers = {"A": twins([0.6, 0.8] * 6 + ["fail"]), "B": twins([0.4] * 13)}
    found = compare(tmp_path, answers, "told(low=null, high=null, silence=set_aside)", margin=0.1)
    assert "depends" == found["verdict_code"]
    assert {None} == {found[k] for k in ("set_low", "set_high", "bound_low", "bound_high")}
    assert "without a limit" in found["reason"]
    assert pytest.approx(0.3) == found["difference"]


def test_a_scale_with_one_limit_has_one_bound(tmp_path: Path) -> None:
    """A's score is at least 0, so the difference is at least so much; there is no upper end."""
    answers = {"A": twins([0.6, 0.8] * 6 + ["fail"]), "B": twins([0.4] * 13)}
    found = compare(tmp_path, answers, "told(high=null, silence=set_aside)")
    assert pytest.approx((12 * 0.3 - 0.4) / 13) == found["set_low"]
    assert found["bound_low"] < found["set_low"]
    assert (None, None) == (found["set_high"], found["bound_high"])


def test_silence_under_set_aside_takes_the_question_out_of_the_pair(tmp_path: Path) -> None:
    answers = {"A": twins([*[0.6, 0.8] * 6, SILENT]), "B": twins([0.4] * 12 + [1.0])}
    set_aside = compare(tmp_path, answers, "told(silence=set_aside)")
    assert (12, 0.3) == (set_aside["n_items"], round(set_aside["difference"], 9))


def test_silence_under_worst_stays_in_the_pair(tmp_path: Path) -> None:
    answers = {"A": twins([*[0.6, 0.8] * 6, SILENT]), "B": twins([0.4] * 12 + [1.0])}
    worst = compare(tmp_path, answers)
    assert (13, round((12 * 0.3 - 1) / 13, 9)) == (worst["n_items"], round(worst["difference"], 9))


def test_repeats_are_averaged_before_questions(tmp_path: Path) -> None:
    """An answer given thrice weighs no more than one given once."""
    answers = {"A": {"q1": [1, 1, 1], "q2": 0}, "B": {"q1": 0, "q2": 0}}
    assert 0.5 == compare(tmp_path, answers)["difference"]


def test_one_case_is_no_comparison_and_its_questions_are_counted(tmp_path: Path) -> None:
    items = [{"item": f"q{n}", "group": "one"} for n in range(3)]
    answers = {"A": {f"q{n}": 1 for n in range(3)}, "B": {f"q{n}": 0 for n in range(3)}}
    run = marked(tmp_path, answers, items=items)
    found = run.compare("A", "B", metric="told").rows[0]
    assert ("incomparable", 3, 1, 3) == tuple(
        found[k] for k in ("verdict_code", "n_items", "n_groups", "wins")
    )
    assert "all they share is one case" in found["verdict"]
    assert None is found["difference"]


def test_no_common_question_is_a_verdict(tmp_path: Path) -> None:
    found = compare(tmp_path, {"A": {"q1": 0.5}, "B": {"q2": 0.5}})
    assert ("incomparable", None, 0) == (found["verdict_code"], found["favours"], found["n_items"])
    assert "These two cannot be compared: no question has scores of both." == found["verdict"]
    assert found["reason"]


def test_questions_whose_every_mark_failed_are_no_common_question(tmp_path: Path) -> None:
    found = compare(tmp_path, {"A": twins(["fail"] * 12), "B": twins([0.5] * 12)})
    assert "incomparable" == found["verdict_code"]
    assert "every score on the questions they share failed" in found["verdict"]


def test_nearly_the_same_answers_are_equivalent_within_a_margin_and_failed_ones_count_as_different(
    tmp_path: Path,
) -> None:
    """Two of 120 differ, one way each: at most 4.6 % may be lost or won (Clopper-Pearson of 1 of 120)."""
    same = {f"q{k}": 1.0 for k in range(120)}
    a, b = {**same, "q0": 0.0}, {**same, "q1": 0.0}
    run = marked(tmp_path / "same", {"a": a, "b": b})
    for margin, code in ((0.05, "equivalent"), (0.045, "too_few"), (None, "too_few")):
        assert code == run.compare("a", "b", metric="told", margin=margin).rows[0]["verdict_code"]
    row = run.compare("a", "b", metric="told", margin=0.05).rows[0]
    assert "a and b are equivalent within 0.05." == row["verdict"]
    failed = marked(tmp_path / "failed", {"a": a, "b": {**b, "q2": "fail"}})
    assert "too_few" == failed.compare("a", "b", metric="told", margin=0.05).rows[0]["verdict_code"]


def test_too_few_comes_before_depends(tmp_path: Path) -> None:
    answers = {"A": twins([0.6, 0.7, 0.6, 0.7, 0.6] + ["fail"] * 8), "B": twins([0.4] * 13)}
    assert "too_few" == compare(tmp_path, answers)["verdict_code"]


def test_a_verdict_that_cannot_tell_says_what_failed_scores_leave_open(tmp_path: Path) -> None:
    """Ten of B's 30 scores failed: between 0 and 1 they move its mean of .5 by up to a sixth."""
    level = {f"q{k:02}": 0.5 for k in range(30)}
    incomplete = {item: "fail" if item < "q10" else 0.5 for item in level}
    uneven = {item: 0.5 if item < "q10" else 0.4 + 0.2 * (k % 2) for k, item in enumerate(level)}
    for scores, words in ((level, "Too few different cases to say."), (uneven, "No significant difference.")):
        row = compare(tmp_path / words.split()[0], {"A": scores, "B": incomplete})
        assert row["verdict"].startswith(words)
        assert row["verdict"].endswith(
            " 10 answers could not be scored: with their scores the difference could be 0.167."
        )


def test_few_differing_cases_are_judged_by_sign_flips_which_also_give_the_interval(tmp_path: Path) -> None:
    """Eight of twelve differ, all one way: 2 / 2^8."""
    found = compare(tmp_path, two([0.1] * 8 + [0.0] * 4))
    assert (2 / 2**8, 8, 8, "sign-flip") == tuple(
        found[k] for k in ("p", "n_different", "effective_different", "test")
    )
    assert 2 / 2**8 == found["p_flip"]
    assert (True, pytest.approx(0.1)) == (0 < found["low"] < 0.0667, found["high"])
    assert found["verdict"] == f"A is better (0.067, {found['low']:.3f} to {found['high']:.3f})."


@pytest.mark.parametrize("sizes", [[4] * 6, [1, 2, 3, 5, 8, 5]])
def test_six_cases_that_all_differ_one_way_carry_a_verdict(tmp_path: Path, sizes: list[int]) -> None:
    """Six hospitals: p is 2 / 64, and the interval ends at the least and the largest case mean."""
    names = [(f"g{g}i{k}", f"g{g}") for g, n in enumerate(sizes) for k in range(n)]
    a = {name: 0.5 + 0.05 * (1 + int(group[1:])) for name, group in names}
    items = [{"item": name, "group": group} for name, group in names]
    run = marked(tmp_path, {"A": a, "B": dict.fromkeys(a, 0.5)}, items=items)
    pair_row = run.compare("A", "B", metric="told").rows[0]
    assert ("better", "a", 2 / 64) == (pair_row["verdict_code"], pair_row["favours"], pair_row["p"])
    assert pytest.approx((0.05, 0.3)) == (pair_row["low"], pair_row["high"])
    mirror = run.compare("B", "A", metric="told").rows[0]
    assert pytest.approx((-0.3, -0.05)) == (mirror["low"], mirror["high"])


def test_five_cases_that_all_differ_are_too_few(tmp_path: Path) -> None:
    pair_row = compare(tmp_path, two([0.1, 0.2, 0.3, 0.4, 0.45]))
    assert ("too_few", None, 0.0625) == (pair_row["verdict_code"], pair_row["low"], pair_row["p"])
    assert "p is from a sign-flip permutation test" in pair_row["reason"]


def test_six_cases_bear_a_margin_as_far_as_they_reach(tmp_path: Path) -> None:
    """No difference of a case is above .04: equivalent within .05. Three comparisons take more than six."""
    d = [0.04, -0.03, 0.02, -0.01, 0.03, -0.02]
    pair_row = compare(tmp_path / "pair", two(d), margin=0.05)
    assert ("equivalent", pytest.approx((-0.03, 0.04))) == (
        pair_row["verdict_code"],
        (pair_row["low"], pair_row["high"]),
    )
    three = {**two(d), "C": twins([0.5 - 0.9 * x for x in d])}
    rows = marked(tmp_path / "three", three).compare(metric="told", margin=0.05).rows
    assert {("cannot_tell", None)} == {(r["verdict_code"], r["low_family"]) for r in rows}
    assert all("too few cases for an interval at this level" in r["reason"] for r in rows)


def test_equal_answers_have_no_detectable_difference_and_say_so(tmp_path: Path) -> None:
    found = compare(tmp_path, two([0.0] * 12), margin=0.1)
    assert ("too_few", None, None) == (found["verdict_code"], found["mde"], found["n_needed"])
    assert "without spread" in found["reason"]


def test_variants_of_a_question_are_one_case(tmp_path: Path) -> None:
    answers = {
        "A": {"q1": 1, "q1|bias:recency": 0, "q2": 1},
        "B": {"q1": 0, "q1|bias:recency": 0, "q2": 0},
    }
    found = compare(tmp_path, answers)
    assert (3, 2, 2, 1) == tuple(found[k] for k in ("n_items", "n_groups", "wins", "ties"))


def test_the_declared_least_difference_is_the_margin_until_one_is_given(tmp_path: Path) -> None:
    run = marked(tmp_path, two(SLIGHT), "told(least=0.1)")
    declared = run.compare("A", "B", metric="told").rows[0]
    given = run.compare("A", "B", metric="told", margin=0.2).rows[0]
    assert (0.1, "declared by the metric") == (declared["margin"], declared["margin_source"])
    assert (0.2, "--margin") == (given["margin"], given["margin_source"])


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        (0.5, "The difference is smaller than you called important."),
        (0.2, "Whether it matters is open."),
    ],
)
def test_better_says_how_it_stands_to_the_margin(tmp_path: Path, margin: float, words: str) -> None:
    found = compare(tmp_path, two(AHEAD), margin=margin)
    assert f"A is better (0.200, 0.134 to 0.266). {words}" == found["verdict"]


def test_four_candidates_are_each_compared_with_the_first(tmp_path: Path) -> None:
    answers = {name: twins([0.1 * n, 0.2 * n] * 6) for n, name in enumerate("ABCD")}
    run = marked(tmp_path, answers)
    found = run.compare("C", "A", "B", "D", metric="told")
    assert [("C", "A"), ("C", "B"), ("C", "D")] == [(r["a"], r["b"]) for r in found.rows]
    assert {3} == {r["family"] for r in found.rows}


def test_three_candidates_are_compared_in_all_pairs(tmp_path: Path) -> None:
    answers = {name: twins([0.1 * n, 0.2 * n] * 6) for n, name in enumerate("ABC")}
    found = marked(tmp_path, answers).compare("A", "B", "C", metric="told")
    assert [("A", "B"), ("A", "C"), ("B", "C")] == [(r["a"], r["b"]) for r in found.rows]


def test_the_family_widens_what_the_words_rest_on_and_not_the_pair(tmp_path: Path) -> None:
    answers = {**two(AHEAD), "C": twins([0.5, 0.3] * 6)}
    run = marked(tmp_path, answers)
    alone = run.compare("A", "B", metric="told").rows[0]
    among = row(run.compare("A", "B", "C", metric="told"), a="A", b="B")
    same = ("difference", "low", "high", "p", "p_flip", "mde")
    assert tuple(alone[k] for k in same) == tuple(among[k] for k in same)
    assert 3 == among["family"]
    assert among["p_adjusted"] > alone["p_adjusted"]
    assert among["low_family"] < alone["low_family"]
    assert among["mde_family"] > alone["mde_family"]


def test_a_pair_that_cannot_be_compared_is_not_in_the_family(tmp_path: Path) -> None:
    answers = {**two(AHEAD), "C": {"elsewhere": 1.0}}
    found = marked(tmp_path, answers).compare("A", "B", "C", metric="told")
    assert {1} == {r["family"] for r in found.rows}
    assert 2 == sum(r["verdict_code"] == "incomparable" for r in found.rows)


def test_every_criterion_is_in_the_family(tmp_path: Path) -> None:
    found = marked(tmp_path, two(AHEAD), "told(criteria_named=[x, y])").compare("A", "B", metric="told")
    assert [("x", 2), ("y", 2)] == [(r["criterion"], r["family"]) for r in found.rows]


def test_two_benchmarks_are_never_pooled(tmp_path: Path) -> None:
    """A is ahead on one exam and behind on the other: two rows, and no mean of them."""
    run = made(tmp_path, two(AHEAD), name="one")
    made(tmp_path, two([-d for d in AHEAD]), name="two", run=run)
    score(run)
    found = run.compare("A", "B", metric="told")
    assert [("one", 12, "a"), ("two", 12, "b")] == [
        (r["benchmark"], r["n_items"], r["favours"]) for r in found.rows
    ]
    assert {2} == {r["family"] for r in found.rows}
    only = run.compare("A", "B", metric="told", items=f"jsonl(path='{tmp_path / 'two.jsonl'}')")
    assert ["two"] == [r["benchmark"] for r in only.rows]


def test_each_different_comparison_is_a_test(tmp_path: Path) -> None:
    run = marked(tmp_path, two(AHEAD))
    tests = [run.compare("A", "B", metric="told", margin=margin) for margin in (0.1, 0.2, 0.3)]
    assert [1, 2, 3] == [f.rows[0]["looks"] for f in tests]
    assert "This is the 3rd test on this run." in str(tests[2])
    assert "set before any comparison was seen" in str(tests[0])
    assert "set after 2 earlier tests" in str(tests[2])


def test_a_ceiling_is_compared_when_it_is_named(tmp_path: Path) -> None:
    run = marked(tmp_path, two(AHEAD), role={"A": "ceiling"})
    assert "better" == run.compare("A", "B", metric="told").rows[0]["verdict_code"]


def test_every_null_has_a_reason_and_nothing_is_nan(tmp_path: Path) -> None:
    figures = ("difference", "low", "high", "p", "p_adjusted", "p_flip", "mde", "mde_family", "set_low",
               "set_high", "bound_low", "bound_high", "low_family", "high_family")  # fmt: skip
    for number, (answers, margin) in enumerate(VERDICTS.values()):
        found = compare(tmp_path / str(number), answers, margin=margin)
        json.dumps(found, allow_nan=False)
        if any(found[k] is None for k in figures):
            assert found["reason"]
        assert found["verdict"]


BANNED = (
    "as good as",
    "proven",
    "safe",
    "identical",
    "there is no difference",
    "exam",
    "mark",
    "four times in five",
)


@each_case("code", VERDICTS)
def test_no_sentence_promises_more_than_an_exam_can_show(code: Any) -> None:
    row = ComparisonRow(
        benchmark="exam", metric="x", criterion="x", rater="", population="sample", family=1, looks=1,
        a="A", b="B", margin=0.1, margin_source="--margin", difference=0.2, low_family=0.1, high_family=0.3,
        mde_family=0.1, n_needed=1234, reason="why",
    )  # fmt: skip
    said = sentence(row, Verdict(code, "a", "open"), Criterion(criterion="x"), 2)
    assert said.endswith(".")
    assert not [word for word in BANNED if word in said.lower()]
    assert ("significant" in said) == (code == "cannot_tell")
    assert "significant" not in said.replace("No significant difference.", "")


@each_case("code", sorted({"cannot_tell", "equivalent", "not_worse", "better", "better_by_margin"}))
def test_paragraph_and_headline_say_a_verdict_in_the_same_words(code: Any) -> None:
    words = {
        "cannot_tell": "No significant difference", "equivalent": "A and B are equivalent within ",
        "not_worse": "A is not worse than B", "better": "A is better", "better_by_margin": "A is better",
    }[code]  # fmt: skip
    criterion = Criterion(criterion="x")
    row = ComparisonRow(
        benchmark="exam", metric="x", criterion="x", rater="", population="sample", family=1, looks=1,
        a="A", b="B", margin=0.1, margin_source="--margin", difference=0.2, low_family=0.1, high_family=0.3,
        verdict_code=code, favours="a",
    )  # fmt: skip
    paragraph = sentence(row, Verdict(code, "a"), criterion, 0)
    headline = comparison_headline([asdict(replace(row, verdict=paragraph))], criterion)
    assert (True, True) == (paragraph.startswith(words), headline.startswith(words))


def test_sentences_count_in_words_people_use() -> None:
    assert ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"] == [
        ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111)
    ]
    assert ("1 question", "1,234 questions") == (count(1, "question"), count(1234, "question"))


def test_to_tell_the_margin_apart_takes_so_many_questions(tmp_path: Path) -> None:
    """SD of the differences 0.1 * sqrt(12/11); .05 takes 56 cases: 1.574 = 11 / chi-square(.2, 11)."""
    found = compare(tmp_path, two(BALANCED), margin=0.05)
    assert "cannot_tell" == found["verdict_code"]
    assert f"To tell 0.05 apart takes about {found['n_needed']} questions." in found["verdict"]
    assert 56 == found["n_needed"]


def test_margins_are_judged_at_the_level_of_the_family(tmp_path: Path) -> None:
    """By 95% A is ahead by 0.134 or more, by the level of three comparisons by 0.115: a margin between."""
    run = marked(tmp_path, {**two(AHEAD), "C": twins([0.5, 0.3] * 6)})
    assert "better_by_margin" == run.compare("A", "B", metric="told", margin=0.125).rows[0]["verdict_code"]
    among = row(run.compare("A", "B", "C", metric="told", margin=0.125), a="A", b="B")
    assert ("better", "a") == (among["verdict_code"], among["favours"])
    assert among["low_family"] < 0.125 < among["low"]


def test_a_family_takes_more_questions(tmp_path: Path) -> None:
    """(t(1 - .025/3) + t(.80))^2 * .01 * 12/11 / .05^2, times 1.574: 75 cases; the pair alone 56."""
    run = marked(tmp_path, {**two(BALANCED), "C": twins([0.5, 0.3] * 6)})
    among = row(run.compare("A", "B", "C", metric="told", margin=0.05), a="A", b="B")
    assert 75 == among["n_needed"]


def test_a_verdict_must_hold_for_the_worse_filling(tmp_path: Path) -> None:
    """A stays ahead whatever the three failed scores are, but at the worst not by enough."""
    answers = {"A": twins([0.6, 0.7] * 6 + ["fail"] * 3), "B": twins([0.4] * 15)}
    found = compare(tmp_path, answers)
    assert found["p_adjusted"] < 0.05
    assert 0 < found["set_low"]
    assert "depends" == found["verdict_code"]


def test_bounds_of_a_difference_end_at_the_width_of_the_scale(tmp_path: Path) -> None:
    found = compare(tmp_path, {"A": twins([0.0] * 9 + [0.6] * 3 + ["fail"]), "B": twins([1] * 13)})
    assert (-1.0, pytest.approx(-11.2 / 13)) == (found["bound_low"], found["set_low"])


def test_drawn_sign_flips_do_not_depend_on_who_is_named_first(tmp_path: Path) -> None:
    """Beyond sixteen cases the patterns are drawn, for either order the same."""
    values = [round(0.1 + 0.037 * n % 0.9, 3) for n in range(24)]
    run = marked(tmp_path, {"A": twins(values), "B": twins(values[::-1][3:] + values[:3])})
    one = run.compare("A", "B", metric="told").rows[0]
    other = run.compare("B", "A", metric="told").rows[0]
    assert one["p_flip"] == other["p_flip"]
    assert one["p_flip"] == run.compare("A", "B", metric="told").rows[0]["p_flip"]


def test_a_version_that_marked_one_alone_does_not_hide_the_one_that_marked_both(tmp_path: Path) -> None:
    run = marked(tmp_path, two(AHEAD))
    with run.file.writing() as db:  # as after an upgrade that has scored only A so far
        db.execute(
            "INSERT INTO measures SELECT 99, metric, replace(signature, '@1', '@2'), criterion, rater, low, "
            "high, direction, if_unanswered, pool, smallest_difference FROM measures"
        )
        db.execute(
            "INSERT INTO scores SELECT 99, response_id, unit_id, ballot_id, pass_no, position, 0.0, "
            "status_id, parts, note FROM scores JOIN responses USING (response_id) "
            "JOIN candidates USING (candidate_id) WHERE candidate = 'A'"
        )
        rehash(db)
    assert pytest.approx(0.2) == run.compare("A", "B", metric="told").rows[0]["difference"]


def test_the_means_stand_with_their_names_where_lower_is_better(tmp_path: Path) -> None:
    assert "A 0.600, B 0.400 out of 1;" in compare(tmp_path, two(AHEAD), "told(direction=lower)")["basis"]


def test_equivalence_must_hold_for_both_fillings(tmp_path: Path) -> None:
    answers = {"A": twins([0.42, 0.38] * 10 + ["fail"]), "B": twins([0.4] * 21)}
    assert "depends" == compare(tmp_path, answers, margin=0.05)["verdict_code"]
    assert "equivalent" == compare(tmp_path / "all", two([0.02, -0.02] * 10), margin=0.05)["verdict_code"]


def test_margins_are_judged_by_the_scales_width_where_few_cases_differ(tmp_path: Path) -> None:
    """Eight of 48 differ, by little: Agresti-Min with t(47) = 2.01 gives 0 -/+ 0.040 on a scale of 1."""
    answers = two([0.02, -0.02] * 4 + [0.0] * 40)
    assert "equivalent" == compare(tmp_path, answers, margin=0.045)["verdict_code"]
    assert "equivalent" != compare(tmp_path / "less", answers, margin=0.035)["verdict_code"]


def test_no_difference_is_wider_than_the_range(tmp_path: Path) -> None:
    """Ten cases, seven of them won outright: t alone would reach beyond 1."""
    run = marked(tmp_path, {"A": twins([1.0] * 10), "B": twins([0.0] * 7 + [0.9] * 3)})
    found = run.compare("A", "B", metric="told").rows[0]
    assert 1.0 == found["high"] == found["high_family"]
    mirrored = run.compare("B", "A", metric="told").rows[0]
    assert -1.0 == mirrored["low"] == mirrored["low_family"]


def test_scores_are_resolved_once_however_many_pairs_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted: each candidate is resolved once, for 2 pairs as for 7. All of its scores are ok."""
    resolved = []

    def counted(rows: Any, criterion: Any) -> Any:
        resolved.append(rows["candidate"].n_unique())
        return resolve(rows, criterion)

    monkeypatch.setattr(item_means, "resolve", counted)
    for n in (3, 8):
        names = [*"ABCDEFGH"[:n]]
        run = marked(tmp_path / str(n), {name: twins([0.1 * k] * 4) for k, name in enumerate(names)})
        resolved.clear()
        assert n - 1 == len(run.compare(*names, metric="told", against="A").rows)
        assert n == sum(resolved)


def test_an_interval_in_a_sentence_never_contradicts_its_verdict(tmp_path: Path) -> None:
    """Holm decides the second of two at p = .04; Bonferroni's interval at .05 / 2 would hold 0."""
    rng = random.Random(1)
    noise = [rng.gauss(0, 1) for _ in range(30)]
    d = [0.05 * (x - fmean(noise)) / stdev(noise) for x in noise]
    weak = [0.5 + x + 2.15 * 0.05 / 30**0.5 for x in d]  # t(29) = 2.15: p = .040
    strong = [0.5 + x + 10 * 0.05 / 30**0.5 for x in d]
    run = marked(tmp_path, {"R": twins([0.5] * 30), "W": twins(weak), "S": twins(strong)})
    found = run.compare("W", "S", metric="told", against="R")
    (r,) = [r for r in found.rows if r["b"] == "W"]
    assert r["low_family"] < 0 < r["high_family"]
    assert ("better", "b") == (r["verdict_code"], r["favours"])
    assert r["low"] * r["high"] > 0
    assert (
        f"({-r['difference']:.3f}, {-r['high']:.3f} to {-r['low']:.3f} for this pair alone, p "
        in r["verdict"]
    )
    assert r["verdict"].endswith("by Holm).")


def test_bounds_never_contradict_sign_flips(tmp_path: Path) -> None:
    """Six of 29 cases differ and one failed: p is from flips, and so are the bounds."""
    d = [0.5, 0.5, 0.5, -0.125, 0.125, 0.5] + [0.0] * 22
    answers = {"A": twins([0.5 + x for x in d] + ["fail"]), "B": twins([0.5] * 28 + [0])}
    found = marked(tmp_path, answers).compare("A", "B", metric="told").rows[0]
    assert ("sign-flip", True) == (found["test"], found["p"] > 0.05)
    assert found["bound_low"] <= found["low"] <= 0 <= found["high"] <= found["bound_high"]
    assert found["set_low"] < found["set_high"]


def test_few_effective_cases_are_not_said_to_differ_alike(tmp_path: Path) -> None:
    """All twelve single questions and one case of four that ties: 5.57 effective, and they differ unlike."""
    sizes = [4] + [1] * 12
    items = [{"item": f"g{g:02}i{k}", "group": f"g{g}"} for g, n in enumerate(sizes) for k in range(n)]
    a = {i["item"]: 0.5 if i["group"] == "g0" else 0.8 + 0.001 * k for k, i in enumerate(items)}
    b = {name: 0.5 if name.startswith("g00") else 0.3 for name in a}
    found = marked(tmp_path, {"A": a, "B": b}, items=items).compare("A", "B", metric="told").rows[0]
    assert "fewer than 10 effective cases: no detectable difference can be told" == found["reason"]
