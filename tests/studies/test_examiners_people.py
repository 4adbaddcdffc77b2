"""Judges against people: labels that were made so that the right answer is known, and a published judge."""

import csv
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.studies.judging import EXPERT, JUDGE, OTHER, card, draw, each, judged, some
from tests.studies.making import row, write_lines

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.comparing.human_agreement import ONE_ANSWER

FIRST, SECOND = [1] * 5 + [0] * 4 + [1] * 3, [1] * 5 + [0] * 7
CLAUDE = "Claude 3.5 Sonnet"
Lines = Callable[..., list[tuple[Any, ...]]]
N = 60
TRUTH = draw("truth", N, 6)


def near(seed: str, often: int = 4) -> list[int]:
    """The truth, one of `often` scores a step off."""
    off = draw(seed, N, often)
    return [min(5, t + 1) if k == 0 else t for t, k in zip(TRUTH, off, strict=True)]


def held(
    folder: Path, judge: Sequence[Any], *people: Sequence[Any], lines: Lines = each, **settings: Any
) -> Finding:
    """The card of a judge whose scores, item by item, are held against those of Ann, Bob, …"""
    names = ("Ann", "Bob", "Cay")
    labels = [line for who, own in zip(names, people, strict=False) for line in lines(own, rater=who)]
    run = judged(folder, {JUDGE: lines(judge), EXPERT: labels})
    return card(run, labels=EXPERT, **settings)


def twice(values: Sequence[Any], **of_all: Any) -> list[tuple[Any, ...]]:
    """Two candidates' scores: those of the second are those of the first from the last item to the first."""
    return [*each(values, name="A", **of_all), *each(values[::-1], name="B", **of_all)]


def against(finding: Finding, contrast: str, figure: str = "alpha_ordinal") -> dict[str, Any]:
    return row(finding, part="people", contrast=contrast, figure=figure)


def stamp(finding: Finding) -> tuple[str, str | None]:
    (r,) = some(finding, part="stamp")
    return r["stamp"], r["reason"]


def test_a_judge_beside_two_people_worked_by_hand(tmp_path: Path) -> None:
    """The judge scores as Ann does: alike in all with her, in 9 of 12 with Bob; Ann and Bob alike in 9."""
    found = held(tmp_path, FIRST, FIRST, SECOND)
    percents = [against(found, c, "percent")["value"] for c in ("judge and people", "people and people")]
    assert [pytest.approx(21 / 24), 0.75] == percents
    assert pytest.approx(21 / 24 - 0.75) == against(found, "difference", "percent")["value"]
    # Each person is the judge's rival once: 24 pairs on either side, of 48 scores.
    between = 1 - (6 / 24) / (2 * 26 * 22 / (48 * 47))
    judge = 1 - (3 / 24) / (2 * 29 * 19 / (48 * 47))
    assert pytest.approx(between) == against(found, "people and people")["value"]
    assert pytest.approx(judge) == against(found, "judge and people")["value"]
    apart = against(found, "difference")
    assert pytest.approx(judge - between) == apart["value"]
    assert (12, 12, 2, 24) == tuple(apart[k] for k in ("n_units", "n_groups", "n_raters", "n_ratings"))


def test_a_judge_who_knows_the_truth_is_shown(tmp_path: Path) -> None:
    found = held(tmp_path, TRUTH, near("Ann"), near("Bob"), lines=twice, margin=0.05)
    shown = (
        "shown within 0.05 on 120 labels (people's alpha 0.93, 0.90 to 0.95, above 0.667; between answers to "
        "one question r 0.96, 0.94 to 0.97)"
    )
    assert (shown, None) == stamp(found)
    apart = against(found, "difference")
    assert apart["low"] > -0.05
    assert apart["value"] > 0
    assert (
        f"{JUDGE.replace('rubric=r, model=m1', 'model=m1, rubric=r')}" not in found.text
    )  # one judge: short
    assert f"r by m1 on exam: {shown} (worth)." in found.text


def test_agreement_inside_questions_worked_by_hand(tmp_path: Path) -> None:
    """Of A and B half a point each way: people say A in 8 of 12 questions, B in 4; the judge errs in 3."""
    people, judge = [1] * 8 + [0] * 4, [1] * 6 + [0] * 5 + [1]

    def opposite_scores(values: Sequence[int], **of_all: Any) -> list[tuple[Any, ...]]:
        return [*each(values, name="A", **of_all), *each([1 - v for v in values], name="B", **of_all)]

    finding = held(tmp_path, judge, people, people, lines=opposite_scores)
    assert pytest.approx((9 - 3) / 12) == against(finding, "judge and people", "pearson_inside")["value"]
    assert pytest.approx(1) == against(finding, "people and people", "pearson_inside")["value"]
    assert pytest.approx(-0.5) == against(finding, "difference", "pearson_inside")["value"]
    assert (24, 12) == tuple(
        against(finding, "difference", "pearson_inside")[k] for k in ("n_units", "n_groups")
    )


def test_a_judge_that_gives_both_answers_of_a_question_one_score_is_never_stamped(tmp_path: Path) -> None:
    """It knows how hard a question is, and so agrees with people; what a comparison uses it does not know."""
    answers = draw("answers", 2 * N, 2)
    worth = [
        [min(5, t + a) for t, a in zip(TRUTH, values_of, strict=True)]
        for values_of in (answers[:N], answers[N:])
    ]

    slips = [draw(f"slips {name}", N, 8) for name in "AB"]
    second = [
        [max(0, v - (k == 0)) for v, k in zip(*pair, strict=True)] for pair in zip(worth, slips, strict=True)
    ]

    def both_scores(values: Sequence[Any], **of_all: Any) -> list[tuple[Any, ...]]:
        return [line for n, name in enumerate("AB") for line in each(values[n], name=name, **of_all)]

    finding = held(tmp_path, [TRUTH, TRUTH], worth, second, lines=both_scores, margin=0.3)
    assert against(finding, "difference")["low"] > -0.3
    reason_flat = "the judge gives all answers to a question the same score"
    assert ("checked, not shown", f"between answers to one question: {reason_flat}") == stamp(finding)
    assert f"differences between answers to one question ({reason_flat})." in finding.text
    finding = held(
        tmp_path / "noise", [near("A", 3), near("B", 3)], worth, second, lines=both_scores, margin=0.5
    )
    status, reason = stamp(finding)
    assert "checked, not shown" == status
    assert str(reason).endswith("the judge is not shown to go with people")


def test_a_ceiling_is_no_candidate_to_tell_an_answer_from(tmp_path: Path) -> None:
    labels = [line for name in ("Ann", "Bob") for line in twice(near(name), rater=name)]
    run = judged(tmp_path, {JUDGE: twice(TRUTH), EXPERT: labels}, role={"B": "ceiling"})
    finding = card(run, labels=EXPERT, margin=0.1)
    assert ("checked, not shown", f"between answers to one question: {ONE_ANSWER}") == stamp(finding)


def test_how_strict_somebody_is_is_no_difference_between_answers(tmp_path: Path) -> None:
    kind = [min(5, v + 1) for v in near("Ann")]
    mild, strict = (
        held(tmp_path / str(n), TRUTH, values_of, near("Bob"), lines=twice)
        for n, values_of in enumerate((near("Ann"), kind))
    )
    figures = [against(finding, "judge and people", "pearson_inside")["value"] for finding in (mild, strict)]
    assert pytest.approx(figures[0], abs=0.02) == figures[1]


def test_a_judge_who_guesses_is_checked_and_not_shown(tmp_path: Path) -> None:
    found = held(tmp_path, draw("guess", N, 6), near("Ann"), near("Bob"), margin=0.05)
    assert ("checked, not shown", "the interval reaches below the margin") == stamp(found)
    assert against(found, "difference")["high"] < 0


def test_a_judge_who_guesses_as_people_do_is_not_shown(tmp_path: Path) -> None:
    """Nobody here agrees with anybody beyond chance, so the judge is as good as any person: at nothing."""
    guesses = (draw(who, 80, 6) for who in ("judge", "Ann", "Bob", "Cay"))
    found = held(tmp_path, *guesses, lines=twice, margin=0.5)
    assert against(found, "difference")["low"] > -0.5
    status, reason = stamp(found)
    assert "checked, not shown" == status
    assert reason is not None
    assert reason.startswith("people agree too little with each other: people's alpha ")
    assert reason.endswith(", not above 0.667")
    (r,) = some(found, part="stamp")
    assert r["people_low"] < r["people"] < r["people_high"]


def examined(run: Run, people_alpha: float) -> Finding:
    (found,) = run.study(f"examiners(people_alpha={people_alpha})", labels=EXPERT, margin=0.05).values()
    return found


def test_how_well_people_must_agree_is_a_setting_and_is_printed(tmp_path: Path) -> None:
    labels = [line for who in ("Ann", "Bob") for line in twice(near(who), rater=who)]
    marks = {JUDGE: twice(TRUTH), EXPERT: labels}
    strict, lenient = (stamp(examined(judged(tmp_path / str(least), marks), least)) for least in (0.95, 0.4))
    assert "checked, not shown" == strict[0]
    assert "above 0.4;" in lenient[0]


def test_the_margin_decides_against_the_lower_end(tmp_path: Path) -> None:
    people = [near("Ann"), near("Bob")]
    low = against(held(tmp_path / "0", near("m", 2), *people, lines=twice), "difference")["low"]
    assert low < 0
    for n, (margin, said) in enumerate(
        ((-low + 1e-6, "shown within"), (-low - 1e-6, "checked, not shown")), 1
    ):
        found = held(tmp_path / str(n), near("m", 2), *people, lines=twice, margin=margin)
        assert stamp(found)[0].startswith(said)


def test_without_a_margin_nothing_is_shown(tmp_path: Path) -> None:
    said, reason = stamp(held(tmp_path, TRUTH, near("Ann"), near("Bob")))
    assert ("checked, not shown", "no margin: --margin says what difference would matter") == (said, reason)


def test_one_person_is_no_ceiling_however_well_the_judge_agrees(tmp_path: Path) -> None:
    found = held(tmp_path, TRUTH, TRUTH, margin=0.5)
    assert 1.0 == against(found, "judge and people")["value"]
    why = "no answer has the labels of two people: no ceiling to hold the judge against"
    assert ("checked, not shown", why) == stamp(found)
    assert (None, why) == tuple(against(found, "people and people")[k] for k in ("value", "reason"))
    assert why in found.text


def test_people_who_all_say_the_same_leave_the_difference_undefined(tmp_path: Path) -> None:
    found = held(tmp_path, TRUTH, [3] * N, [3] * N, margin=0.5)
    assert ("checked, not shown", "the scores do not vary") == stamp(found)


def test_nine_cases_are_too_few(tmp_path: Path) -> None:
    found = held(tmp_path, TRUTH[:9], near("Ann")[:9], near("Bob")[:9], margin=0.5)
    assert ("checked, not shown", "9 cases: too few to tell") == stamp(found)


def test_each_answer_may_have_other_people(tmp_path: Path) -> None:
    """Two of three people label each answer, and six answers one alone, who is left out of the difference."""
    people: list[list[int | None]] = [[*near(who)] for who in ("Ann", "Bob", "Cay")]
    for n in range(N):
        people[n % 3] = [None if k == n else v for k, v in enumerate(people[n % 3])]
        if n < 6:
            people[(n + 1) % 3] = [None if k == n else v for k, v in enumerate(people[(n + 1) % 3])]
    found = held(tmp_path, TRUTH, *people, margin=0.1)
    apart = against(found, "difference")
    assert ("checked, not shown", f"between answers to one question: {ONE_ANSWER}") == stamp(found)
    assert (N - 6, 3, 2 * (N - 6)) == tuple(apart[k] for k in ("n_units", "n_raters", "n_ratings"))
    assert N == row(found, part="people", contrast="judge less people")["n_units"]


def test_who_is_who_among_people_changes_nothing(tmp_path: Path) -> None:
    one, other = (
        held(tmp_path / str(n), near("m"), *people, margin=0.1)
        for n, people in enumerate(((near("Ann"), near("Bob")), (near("Bob"), near("Ann"))))
    )
    assert against(one, "difference") == pytest.approx(against(other, "difference"))


def test_a_judge_who_adds_one_has_a_bias_of_one(tmp_path: Path) -> None:
    people = [[min(4, v) for v in near(who)] for who in ("Ann", "Ann")]
    found = held(tmp_path, [v + 1 for v in people[0]], *people)
    bias = row(found, part="people", contrast="judge less people")
    assert (1.0, None, None) == (bias["value"], bias["low"], bias["high"])
    assert bias["reason"].startswith("no interval: all cases differ alike")
    assert "Judge less person, on average: +1.00." in found.text


def test_a_judge_who_always_says_two_and_a_half_errs_by_third_of_quality(tmp_path: Path) -> None:
    """The thirds are the scores of 0, 2 and 5; who stays in the middle is too kind first, then too hard."""
    found = held(tmp_path, [2.5] * 36, [0, 2, 5] * 12)
    thirds = {r["contrast"]: r["value"] for r in some(found, figure="bias") if "third" in r["contrast"]}
    assert {"lowest third": 2.5, "middle third": 0.5, "highest third": -2.5} == thirds


def test_marks_that_are_tied_stay_in_one_third(tmp_path: Path) -> None:
    found = held(tmp_path, [2] * 36, [3] * 36)
    thirds = {r["contrast"]: r["n_units"] for r in some(found, figure="bias") if "third" in r["contrast"]}
    assert {"lowest third": 0, "middle third": 36, "highest third": 0} == thirds


def test_one_persons_slips_do_not_become_the_judges_errors(tmp_path: Path) -> None:
    """All know the truth but for slips of one up or down; cut and measured by one person, thirds differ."""

    def slipping(seed: str) -> list[float]:
        return [2.5 + 2 * (d - 1) for d in draw(seed, 240, 3)]

    judge = [2.4, 2.6] * 120
    alone = held(tmp_path / "1", judge, slipping("Ann"))
    two = held(tmp_path / "2", judge, slipping("Ann"), slipping("Bob"))

    def lowest(found: Finding) -> dict[str, Any]:
        return row(found, part="people", contrast="lowest third")

    assert lowest(alone)["low"] > 1
    assert lowest(two)["low"] < 0 < lowest(two)["high"]


def test_a_judge_who_favours_one_candidate(tmp_path: Path) -> None:
    labels = [line for name in "AB" for line in each([2, 3] * 10, name=name, rater="Ann")]
    kind = [*each([3, 4] * 10, name="A"), *each([2, 3] * 10, name="B")]
    found = card(judged(tmp_path, {JUDGE: kind, EXPERT: labels}), labels=EXPERT)
    told = {(r["candidate"], r["figure"]): r["value"] for r in some(found, contrast="by candidate")}
    assert {("A", "bias"): 1.0, ("B", "bias"): 0.0, ("A", "favour"): 1.0, ("B", "favour"): -1.0} == told
    assert "more generous (or, below 0, stricter) than with the others to A by +1.00" in found.text


def test_a_candidate_whom_rare_errors_missed_is_not_favoured(tmp_path: Path) -> None:
    """A judge gives 0 in 3 of 30 answers of all but A, whose interval alone leaves out 0."""
    names = "ABCDEFGH"
    labels = [line for name in names for line in each([4] * 30, name=name, rater="Ann")]
    judge = [
        line
        for k, name in enumerate(names)
        for line in each([0 if k and n % 10 == k else 4 for n in range(30)], name=name)
    ]
    finding = card(judged(tmp_path, {JUDGE: judge, EXPERT: labels}), labels=EXPERT)
    rare = row(finding, contrast="by candidate", figure="favour", candidate="A")
    assert 0 < rare["low"] < rare["value"]
    assert rare["p"] * 8 == pytest.approx(rare["p_adjusted"])
    assert rare["p_adjusted"] > 0.05
    assert "more generous" not in finding.text


def test_labels_needed_follow_from_the_error_seen(tmp_path: Path) -> None:
    found = held(tmp_path, near("m", 2), near("Ann"), near("Bob"), margin=0.02)
    apart, equal = against(found, "difference"), against(found, "judge and people", "percent")
    needed = row(found, part="people", figure="labels_for_margin")
    assert math.ceil(N * (apart["se"] * 1.959964 / 0.02) ** 2) == needed["value"]
    p = equal["value"]
    design = equal["se"] ** 2 / (p * (1 - p) / N)
    first = 1.959964**2 * p * (1 - p) / 0.05**2 * design
    assert math.ceil(first / (1 + (first - 1) / N)) == row(found, figure="labels_for_percent")["value"]


def test_without_a_margin_no_labels_are_reckoned_for_it(tmp_path: Path) -> None:
    needed = row(held(tmp_path, TRUTH, near("Ann"), near("Bob")), figure="labels_for_margin")
    assert (None, "no margin: --margin says what difference would matter") == (
        needed["value"],
        needed["reason"],
    )


def test_labels_correct_a_candidates_mean(
    published: Callable[..., Run], hivmedqa: Path, paper: str, tmp_path: Path
) -> None:
    """The judge without reference, its twin with it as labels of the 21 cases of two questions each."""
    run = published("comprehension")
    names = {"item": "question_id", "repeat": "iteration", "candidate": "model"}
    run.import_scores(
        hivmedqa / "judge_scores.csv", measure="judge(rubric=medgpt_free, model=gpt-4o)", map=names,
        criteria=["comprehension"], where={"supervised": "False"}, status="parse_status", blank="recorded",
        range={"*": (0, 5)},
    )  # fmt: skip
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        third = {q["id"] for q in map(json.loads, lines)
                 if q["paper_subset"] and (q["derived_from"] or q["id"]).startswith("c3")}  # fmt: skip
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        labels = [
            {"item": r["question_id"], "candidate": CLAUDE, "repeat": int(r["iteration"]),
             "criterion": "comprehension", "value": float(r["comprehension"])}
            for r in csv.DictReader(file)
            if r["model"] == CLAUDE and r["supervised"] == "True" and r["question_id"] in third
        ]  # fmt: skip
    assert 42 * 5 == len(labels)
    run.import_scores(
        write_lines(tmp_path / "labels.jsonl", labels), measure=EXPERT, range={"*": (0, 5)}, blank="recorded",
        again=True,
    )  # fmt: skip
    found = card(run, labels=EXPERT, items=paper)
    own = {
        r["figure"]: r
        for r in some(found, part="people", contrast="correction", candidate=CLAUDE)
        if "medgpt_free" in r["metric"]
    }
    told = {figure: f"{r['value']:.5f}" for figure, r in own.items()}
    # ppi-python 0.2.3 prints 4.02652 where items are taken for independent.
    assert {"judge_mean": "4.73968", "step": "-0.70300", "corrected": "4.03668", "corrected_alone": "4.02652",
            "labels_only": "3.99048", "labels_only_alone": "3.99048"} == told  # fmt: skip
    assert (".14209", ".11331", ".14539", ".11546") == tuple(
        f"{own[k]['se']:.5f}"[1:]
        for k in ("corrected", "corrected_alone", "labels_only", "labels_only_alone")
    )
    assert (42, 21, 63) == tuple(own["corrected"][k] for k in ("n_units", "n_groups", "n_ratings"))
    ends = own["corrected"]["low"], own["corrected"]["high"]
    assert ("3.7086", "4.2972") == tuple(f"{end:.4f}" for end in ends)
    others = some(found, contrast="correction", candidate="Gemini 2.5 Pro")
    assert {"0 cases: too few to tell"} == {r["reason"] for r in others}
    assert "only if the labelled questions were drawn at random" in found.text


def test_silence_counts_in_a_corrected_mean_as_it_does_on_a_leaderboard(tmp_path: Path) -> None:
    """The judge's mean has 0 for the answer that was blank; what agreed is on the eleven others."""
    texts = {"A": {"q11": ""}}
    marks = {JUDGE: each([4] * 12), EXPERT: each([3, 4] * 6, rater="Ann")}
    run = judged(tmp_path, marks, texts=texts)
    found = card(run, labels=EXPERT)
    assert 11 == against(found, "judge and people", "percent")["n_units"]
    mean = row(found, part="people", figure="judge_mean")
    assert pytest.approx(4 * 11 / 12) == mean["value"]
    estimate = next(r for r in run.estimates(JUDGE).rows if r["candidate"] == "A")
    assert pytest.approx(estimate["estimate_judge"]) == mean["value"]
    assert pytest.approx(estimate["estimate"]) == row(found, part="people", figure="corrected")["value"]


def test_labels_on_another_scale_are_not_compared(tmp_path: Path) -> None:
    run = judged(tmp_path, {JUDGE: each(TRUTH)})
    rows = [{"candidate": "A", "item": f"q{n:02}", "criterion": "worth", "value": 1} for n in range(N)]
    run.import_scores(write_lines(tmp_path / "l.jsonl", rows), measure=EXPERT, range={"*": (0, 1)})
    found = card(run, labels=EXPERT)
    why = "people scored 0 to 1 and the judge 0 to 5: bring them to one scale"
    assert ("unvalidated", why) == stamp(found)
    assert {why} == {r["reason"] for r in some(found, part="people")}


def test_a_stamp_is_of_one_judge_and_one_criterion(tmp_path: Path) -> None:
    """Labels of one criterion say nothing of the other, and a good judge nothing of a bad one."""
    labels = [(*line, "worth") for who in ("Ann", "Bob") for line in twice(near(who), rater=who)]
    marks = {
        JUDGE: [(*line, criterion) for criterion in ("worth", "harm") for line in twice(TRUTH)],
        OTHER: [(*line, "worth") for line in twice(draw("guess", N, 6))],
        EXPERT: labels,
    }
    found = card(judged(tmp_path, marks), labels=EXPERT, margin=0.1)
    told = {(r["rater"], r["criterion"]): r["stamp"].split(" (")[0] for r in some(found, part="stamp")}
    assert {
        ("m1", "worth"): "shown within 0.1 on 120 labels",
        ("m1", "harm"): "unvalidated",
        ("m2", "worth"): "checked, not shown",
    } == told
    assert {"no labels of harm"} == {r["reason"] for r in some(found, part="people", criterion="harm")}


def test_people_are_the_yardstick_and_are_not_examined(tmp_path: Path) -> None:
    found = held(tmp_path, TRUTH, near("Ann"), near("Bob"))
    assert {"m1"} == {r["rater"] for r in found.rows}


def test_a_failed_label_and_a_failed_mark_are_left_out(tmp_path: Path) -> None:
    judge, ann, bob = TRUTH, near("Ann"), near("Bob")
    labels = [*each(ann, rater="Ann")[:-1], ("A", f"q{N - 1}", None, "Ann"), *each(bob, rater="Bob")]
    marks = {JUDGE: [("A", "q00", None), *each(judge)[1:]], EXPERT: labels}
    found = card(judged(tmp_path, marks), labels=EXPERT)
    assert N - 2 == against(found, "difference")["n_units"]
