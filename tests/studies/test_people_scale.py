"""Comparisons on people's scale: what labels do to a judge's verdict, and what is said without them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.judging import EXPERT, JUDGE, each, judged
from tests.studies.making import answer_rows, exam, marked, write_lines
from tests.studies.people import RATING, Benchmark, benchmark, drawn, people_run

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run, open_run
from vivavoce.store.label_draws import LabelDraw, put_label_draw

KIND = benchmark(3, kinder=0.4)
"""Equal candidates, and a judge that is kinder to B."""


def compare(run: Run, **settings: Any) -> Finding:
    return run.compare("A", "B", metric=JUDGE, **settings)


def only(finding: Finding) -> dict[str, Any]:
    (row,) = finding.rows
    return dict(row)


def test_a_kind_judge_alone_prefers_and_makes_nobody_better(tmp_path: Path) -> None:
    finding = compare(people_run(tmp_path, KIND, []))
    row = only(finding)
    assert ("better", "b", True, "scores") == (
        row["verdict_code"], row["favours"], row["judge_alone"], row["estimate_kind"]
    )  # fmt: skip
    assert row["verdict"].startswith("The judge prefers B (0.")
    assert "is better" not in str(finding)
    assert "A judge may be kinder to one candidate" in str(finding)
    assert (None, None, None) == (row["n_labelled"], row["lambda"], row["difference_people"])


def test_labels_drawn_at_random_take_the_kindness_out(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1), probability=0.25)
    row = only(compare(run))
    assert ("cannot_tell", None, False) == (row["verdict_code"], row["favours"], row["judge_alone"])
    assert ("prediction_powered", 50) == (row["estimate_kind"], row["n_labelled"])
    assert row["verdict"].startswith("No significant difference on people's scale.")
    assert row["basis"].startswith("People scored 50 questions of 200 (200 cases): A less B is ")
    assert row["low"] < 0 < row["high"]
    assert pytest.approx(row["difference_judge"]) == float((KIND.judge[0] - KIND.judge[1]).mean())
    assert row["p_flip"] is None


def test_the_figures_are_those_of_prediction_powered_inference(tmp_path: Path) -> None:
    at = drawn(1)
    row = only(compare(people_run(tmp_path, KIND, at, probability=0.25)))
    judge, people = (values[0] - values[1] for values in (KIND.judge, KIND.people))
    expected = stats.prediction_powered(judge, people[at], labelled=at)
    assert (row["difference"], row["low"], row["high"], row["p"], row["lambda"]) == pytest.approx(
        (expected.value, expected.low, expected.high, expected.p, expected.lambda_)
    )
    assert row["difference_people"] == pytest.approx(people[at].mean())
    assert row["high"] - row["low"] < 0.9 * 2 * 2.01 * expected.labels_se


def test_a_difference_that_people_see_is_shown_on_their_scale(tmp_path: Path) -> None:
    """The judge is kinder to the worse of the two."""
    run = people_run(tmp_path, benchmark(4, better=-0.5, kinder=0.5), drawn(2), probability=0.25)
    row = only(compare(run, margin=0.1))
    assert ("better_by_margin", "a") == (row["verdict_code"], row["favours"])
    assert "On people's scale, A is better, and by more than the 0.1 you called important." == row["verdict"]


def test_order_of_the_pair_turns_every_sign(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1), probability=0.25)
    row, turned = only(compare(run)), only(run.compare("B", "A", metric=JUDGE))
    for name in ("difference", "difference_judge", "difference_people"):
        assert turned[name] == pytest.approx(-row[name])
    assert (turned["low"], turned["high"]) == pytest.approx((-row["high"], -row["low"]))
    assert turned["lambda"] == pytest.approx(row["lambda"])


def test_a_criterion_on_which_less_is_better_keeps_its_own_direction(tmp_path: Path) -> None:
    values = benchmark(4, better=1.0)
    names = [(c, k) for c in range(2) for k in range(200)]
    rows = {
        measure: [("AB"[c], f"q{k:03}", float(own[c, k]), rater) for c, k in names]
        for measure, own, rater in ((JUDGE, values.judge, None), (EXPERT, values.people, "ann"))
    }
    run = judged(tmp_path, rows, direction={"*": "lower"})
    row = only(compare(run, labels=EXPERT))
    assert row["difference"] == pytest.approx(float((values.people[0] - values.people[1]).mean()))
    assert ("better", "a", 0.0) == (row["verdict_code"], row["favours"], row["lambda"])


def test_labels_chosen_by_hand_correct_nothing_and_it_is_said(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, range(50))
    finding = compare(run)
    row = only(finding)
    assert row["verdict"].startswith("The judge prefers B")
    assert row["reason"].startswith(
        "not corrected by people's scores: how the labelled questions were chosen is not recorded"
    )
    assert "--labels-chosen-at-random is your word for it" in str(finding)


def test_the_users_word_that_they_were_random_is_taken_and_printed(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1))
    finding = compare(run, labels_chosen_at_random=True)
    with_probability = only(compare(people_run(tmp_path / "known", KIND, drawn(1), probability=0.25)))
    assert only(finding)["difference"] == pytest.approx(with_probability["difference"])
    word = "is your word, and the run does not show it"
    assert word in str(finding)
    assert word in str(run.study("ranking")["ranking"])
    assert word not in str(
        people_run(tmp_path / "again", KIND, drawn(1), probability=0.25).study("ranking")["ranking"]
    )


def test_a_benchmark_labelled_whole_is_just_the_labels(tmp_path: Path) -> None:
    row = only(compare(people_run(tmp_path, KIND, range(200))))
    people = KIND.people[0] - KIND.people[1]
    expected = stats.paired(people, np.arange(200))
    assert (0.0, 200) == (row["lambda"], row["n_labelled"])
    assert (row["difference"], row["p"]) == pytest.approx((expected.difference, expected.p))


def test_nine_labels_are_too_few_to_correct_a_judge(tmp_path: Path) -> None:
    row = only(compare(people_run(tmp_path, KIND, drawn(1, size=9), probability=0.045)))
    assert row["judge_alone"]
    assert "people scored 9 cases: too few to correct a judge" in row["reason"]


def test_seven_of_25_labels_that_differ_carry_a_verdict_beside_a_good_judge(tmp_path: Path) -> None:
    """Before, the judge was left aside below ten: sign flips of seven labels, p .125."""
    people = np.zeros((2, 60))
    people[1, [0, 1, 2, 3, 4, 5, *range(25, 40)]] = 5
    people[0, 6] = 5
    judge = people.copy()
    judge[0, [23, 24]] = 5
    row = only(compare(people_run(tmp_path, Benchmark(people, judge), range(25), probability=25 / 60)))
    labels = people[0, :25] - people[1, :25]
    expected = stats.prediction_powered(judge[0] - judge[1], labels, labelled=np.arange(25))
    assert ("better", "b", "t", 25) == (
        row["verdict_code"], row["favours"], row["test"], row["n_labelled"]
    )  # fmt: skip
    assert pytest.approx((expected.value, expected.low, expected.high, expected.p)) == (
        row["difference"], row["low"], row["high"], row["p"]
    )  # fmt: skip
    assert row["high"] < 0
    assert stats.paired(labels, np.arange(25)).p > 0.05
    useless = Benchmark(people, np.full((2, 60), 3.0))
    by_labels = only(compare(people_run(tmp_path / "useless", useless, range(25), probability=0.4)))
    assert (0.0, "sign-flip", 0.125, "cannot_tell") == (
        by_labels["lambda"], by_labels["test"], by_labels["p"], by_labels["verdict_code"]
    )  # fmt: skip
    assert by_labels["low"] < by_labels["difference"] < 0 <= by_labels["high"]


def test_where_people_hardly_ever_see_a_difference_their_scores_speak_alone(tmp_path: Path) -> None:
    """The judge differs on every question, people on two of fifty: nothing is known of its errors."""
    people = np.full((2, 200), 3.0)
    at = drawn(1)
    people[1, at[:2]] = 4.0
    row = only(compare(people_run(tmp_path, Benchmark(people, KIND.judge), at, probability=0.25)))
    assert ("too_few", 0.0, "sign-flip") == (row["verdict_code"], row["lambda"], row["test"])
    assert "Too few labelled cases that differ to say." == row["verdict"]


def test_two_measures_of_people_are_not_chosen_between(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1), probability=0.25)
    run.import_scores(
        tmp_path / "people.jsonl", measure=EXPERT, map={"probability": "p"}, range={"*": (0, 5)}, again=True
    )
    row = only(compare(run))
    assert row["judge_alone"]
    assert f"{EXPERT} and {RATING} both hold people's scores of worth" in row["reason"]
    assert "prediction_powered" == only(compare(run, labels=RATING))["estimate_kind"]


def test_what_no_person_scored_is_refused_as_labels(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, [])
    with pytest.raises(SelectionError, match="these are no scores by people"):
        compare(run, labels=JUDGE)


def test_a_case_that_people_scored_in_part_counts_as_unlabelled(tmp_path: Path) -> None:
    """Twenty cases of two questions; of the last one people scored one question alone."""
    rng = np.random.default_rng(5)
    items = [{"item": f"q{k:02}", "group": f"case{k // 2:02}"} for k in range(40)]
    scores = {c: np.round(rng.normal(3, 0.6, 40), 1).tolist() for c in "AB"}
    labels = {c: [v + 0.1 for v in scores[c][:31]] for c in "AB"}
    marks = {
        JUDGE: [m for c in "AB" for m in each(scores[c], name=c)],
        EXPERT: [m for c in "AB" for m in each(labels[c], name=c, rater="ann")],
    }
    run = judged(tmp_path, marks, items=items)
    row = only(compare(run, labels_chosen_at_random=True))
    assert (30, "prediction_powered") == (row["n_labelled"], row["estimate_kind"])


def test_a_silence_needs_no_label(tmp_path: Path) -> None:
    """Nobody scores a blank; by the rule it is worth the worst, for people as for the judge."""
    values = benchmark(6)
    at = drawn(1)
    run = people_run(tmp_path, values, at, probability=0.25)
    texts = {"A": {f"q{k:03}": "" for k in at[:5]}}
    names = [(c, k) for c in range(2) for k in range(200)]
    marks = [("AB"[c], f"q{k:03}", float(values.judge[c, k])) for c, k in names]
    people = [("AB"[c], f"q{k:03}", float(values.people[c, k]), "ann") for c in range(2) for k in at
              if c or k not in at[:5]]  # fmt: skip
    silent = judged(tmp_path / "silent", {JUDGE: marks, RATING: people}, texts=texts)
    row = only(compare(silent, labels_chosen_at_random=True))
    assert 50 == row["n_labelled"] == only(compare(run))["n_labelled"]


def test_a_rule_needs_no_people(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {f"q{k}": 0.5 + 0.01 * k for k in range(20)},
                            "B": {f"q{k}": 0.3 + 0.012 * k for k in range(20)}})  # fmt: skip
    finding = run.compare("A", "B", metric="told")
    assert not only(finding)["judge_alone"]
    assert "A is better" in str(finding)


def test_means_are_on_peoples_scale_too(tmp_path: Path) -> None:
    at = drawn(1)
    run = people_run(tmp_path, KIND, at, probability=0.25)
    finding = run.estimates(JUDGE)
    rows = {row["candidate"]: row for row in finding.rows}
    for k, name in enumerate("AB"):
        expected = stats.prediction_powered(KIND.judge[k], KIND.people[k][at], labelled=at, low=0, high=5)
        row = rows[name]
        assert (row["estimate"], row["low"], row["high"], row["lambda"]) == pytest.approx(
            (expected.value, expected.low, expected.high, expected.lambda_)
        )
        assert (row["estimate_judge"], row["estimate_people"]) == pytest.approx(
            (KIND.judge[k].mean(), KIND.people[k][at].mean())
        )
        assert ("prediction_powered", 50, False) == (
            row["estimate_kind"], row["n_labelled"], row["judge_alone"]
        )  # fmt: skip
    assert "on people's scale (the judge alone " in finding.text


def test_a_candidate_without_labels_stays_on_the_judges_scale(tmp_path: Path) -> None:
    names = [(c, k) for c in range(2) for k in range(200)]
    marks = [("AB"[c], f"q{k:03}", float(KIND.judge[c, k])) for c, k in names]
    people = [("A", f"q{k:03}", float(KIND.people[0, k]), "ann") for k in drawn(1)]
    run = judged(tmp_path, {JUDGE: marks, RATING: people})
    run.compare("A", "B", metric=JUDGE, labels_chosen_at_random=True)
    # The only candidate on people's scale has no order there, so it comes last.
    b, a = run.estimates(JUDGE).rows
    assert [("A", "people", False), ("B", "judge", True)] == [
        (row["candidate"], row["scale"], row["judge_alone"]) for row in (a, b)
    ]
    assert "people scored none of the cases as a whole" in b["reason"]


def test_a_rare_harm_with_few_labels_has_an_interval_inside_the_scale(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    people = (rng.random((2, 200)) < 0.03).astype(float)
    judge = np.where(rng.random((2, 200)) < 0.1, 1 - people, people)
    at = drawn(9, size=20)
    run = people_run(tmp_path, Benchmark(people, judge), at, probability=0.1)
    for row in run.estimates(JUDGE).rows:
        assert 0 <= row["low"] < row["high"] <= 5
        assert 0.0 == row["lambda"]


def two_benchmarks(folder: Path, labelled: int = 80) -> Run:
    """A judge of yes and no on 80 questions that nobody scored, and on 80 others; people scored some."""
    rng = np.random.default_rng(11)
    truth = (rng.random(160) < 0.6).astype(float)
    judge = np.where(rng.random(160) < np.where(truth == 1, 0.1, 0.3), 1 - truth, truth)
    run = open_run(folder / "run.viva")
    for name, at in (("exam", range(80)), ("validation", range(80, 160))):
        spec = exam(folder, [f"{name}{k}" for k in at], name=name)
        answers = answer_rows({"A": {f"{name}{k}": "x" for k in at}})
        run.import_answers(write_lines(folder / f"{name}-answers.jsonl", answers), benchmark=spec)
        for measure, values, rater in ((JUDGE, judge, None), (RATING, truth, "ann")):
            if measure == RATING and name == "exam":
                continue
            rows = [{"candidate": "A", "item": f"{name}{k}", "criterion": "worth", "value": values[k],
                     **({"rater": rater} if rater else {})}
                    for k in (at[:labelled] if rater else at)]  # fmt: skip
            file = write_lines(folder / f"{name}-{measure[:5]}.jsonl", rows)
            run.import_scores(file, measure=measure, range={"*": (0, 1)}, benchmark=spec)
    return run


def test_a_judge_validated_on_another_benchmark_is_corrected_by_its_errors(tmp_path: Path) -> None:
    """Sensitivity and specificity are of the 80 questions that people scored."""
    run = two_benchmarks(tmp_path)
    rows = {row["benchmark"]: row for row in run.estimates(JUDGE).rows}
    row = rows["exam"]
    assert ("rogan_gladen", 80) == (row["estimate_kind"], row["n_labelled"])
    scores = {
        (b, m): run.scores.filter(benchmark=b, metric=m).sort("item")["value"].to_numpy()
        for b, m in (("exam", row["metric"]), ("validation", row["metric"]), ("validation", RATING))
    }
    judge, people = scores["validation", row["metric"]], scores["validation", RATING]
    sensitivity, specificity = judge[people == 1].mean(), 1 - judge[people == 0].mean()
    expected = (scores["exam", row["metric"]].mean() + specificity - 1) / (sensitivity + specificity - 1)
    assert row["estimate"] == pytest.approx(expected)
    assert row["low"] < row["estimate"] < row["high"]
    assert "corrected by the judge's errors on 80 answers that people scored elsewhere" in str(
        run.estimates(JUDGE)
    )


def test_drawn_cases_without_a_label_are_counted(tmp_path: Path) -> None:
    """The panel drew 50, and of 5 of them people scored one candidate alone."""
    run = people_run(tmp_path, KIND, drawn(1), probability=0.25)
    rows = [json.loads(line) for line in (tmp_path / "people.jsonl").read_text().splitlines()]
    left_out = {f"q{k:03}" for k in drawn(1)[:5]}
    kept = [row for row in rows if not (row["candidate"] == "B" and row["item"] in left_out)]
    file = write_lines(tmp_path / "fewer.jsonl", kept)
    run = people_run(tmp_path / "fewer", KIND, [])
    run.import_scores(file, measure=RATING, range={"*": (0, 5)}, map={"probability": "p"})
    row = only(compare(run))
    assert 45 == row["n_labelled"]
    assert "5 cases drawn without a label of all that is compared" in row["reason"]


def test_no_label_speaks_for_a_question_that_could_not_be_drawn(tmp_path: Path) -> None:
    """The panel drew from the first 150; the judge scored 50 more."""
    run = people_run(tmp_path, KIND, [])
    at = drawn(1, n=150)
    file = write_lines(
        tmp_path / "labels.jsonl",
        [{"candidate": "AB"[c], "item": f"q{k:03}", "criterion": "worth", "rater": "ann",
          "value": float(KIND.people[c, k])} for c in range(2) for k in at],
    )  # fmt: skip
    run.import_scores(file, measure=RATING, range={"*": (0, 5)})
    frame = {("exam", f"q{k:03}", ""): 1 / 3 for k in range(150)}
    places = frozenset(("exam", f"q{k:03}", "") for k in at)
    with run.file.writing() as db:
        put_label_draw(db, LabelDraw(RATING, frame, places, "panel p1"))
    row = only(compare(run))
    assert row["judge_alone"]
    assert "50 questions had no chance to be drawn for labelling, such as q150" in row["reason"]


def test_peoples_own_scores_weigh_what_was_drawn_more_often_the_less(tmp_path: Path) -> None:
    """Half the questions had a chance of .6 and are better for B; the others of .2, and are worse."""
    people = np.stack([np.full(200, 2.0), np.where(np.arange(200) < 100, 3.0, 1.0)])
    run = people_run(tmp_path, Benchmark(people, KIND.judge), [])
    chance = {k: 0.6 if k < 100 else 0.2 for k in range(200)}
    rng = np.random.default_rng(3)
    rows = [
        {"candidate": "AB"[c], "item": f"q{k:03}", "criterion": "worth", "rater": "ann", "p": chance[k],
         "value": float(people[c, k])}
        for k in range(200) if rng.random() < chance[k] for c in range(2)
    ]  # fmt: skip
    file = write_lines(tmp_path / "labels.jsonl", rows)
    run.import_scores(file, measure=RATING, range={"*": (0, 5)}, map={"probability": "p"})
    own = only(run.compare("A", "B", metric=RATING))
    values = np.array([row["value"] for row in rows if row["candidate"] == "B"]) - 2
    weights = np.array([1 / row["p"] for row in rows if row["candidate"] == "B"])
    assert own["difference"] == pytest.approx(-np.average(values, weights=weights))
    assert abs(own["difference"]) < 0.3 < abs(values.mean())


def test_labels_without_a_known_chance_beside_a_known_draw_are_left_out_and_said(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1), probability=0.25)
    rows = [
        {"candidate": "AB"[c], "item": f"q{k:03}", "criterion": "worth", "rater": "bob",
         "value": float(KIND.people[c, k])} for c in range(2) for k in range(200)
    ]  # fmt: skip
    run.import_scores(write_lines(tmp_path / "all.jsonl", rows), measure=RATING, range={"*": (0, 5)})
    finding = compare(run)
    assert 50 == only(finding)["n_labelled"]
    assert f"{RATING}: 150 questions that people scored without a known chance to be drawn left out." in str(
        finding
    )


def test_ranks_are_of_the_same_tests_as_comparisons(tmp_path: Path) -> None:
    run = people_run(tmp_path / "kind", KIND, drawn(1), probability=0.25)
    finding = run.study("ranking")["ranking"]
    rows = {row["candidate"]: row for row in finding.rows if row["metric"].startswith("judge")}
    assert {("A", 1, 2), ("B", 1, 2)} == {
        (name, row["rank_low"], row["rank_high"]) for name, row in rows.items()
    }
    assert "on people's scale by their scores of 50 questions" in finding.text
    alone = people_run(tmp_path / "alone", KIND, []).study("ranking")["ranking"]
    assert {("B", 1, 1), ("A", 2, 2)} == {
        (row["candidate"], row["rank_low"], row["rank_high"]) for row in alone.rows
    }
    assert "by the judge alone" in alone.text
    shown = people_run(tmp_path / "shown", benchmark(4, better=-0.5, kinder=0.5), drawn(2), probability=0.25)
    first = shown.study("ranking")["ranking"].rows[0]
    assert ("A", 1, 1) == (first["candidate"], first["rank_low"], first["rank_high"])


def test_a_judge_that_gave_nothing_leaves_nothing_to_correct(tmp_path: Path) -> None:
    """Every call to the judge failed for B; people's scores of 50 questions are no judge's."""
    run = people_run(tmp_path, KIND, [])
    names = [(c, k) for c in range(2) for k in range(200)]
    marks = [("AB"[c], f"q{k:03}", None if c else float(KIND.judge[c, k])) for c, k in names]
    people = [("AB"[c], f"q{k:03}", float(KIND.people[c, k]), "ann") for c in range(2) for k in drawn(1)]
    run = judged(tmp_path / "failed", {JUDGE: marks, RATING: people})
    finding = compare(run, labels_chosen_at_random=True)
    assert finding.text.startswith(
        "These two cannot be compared: every score on the questions they share failed."
    )
    assert "incomparable" == only(finding)["verdict_code"]
    assert "50" in str(run.compare("A", "B", metric=RATING))


def test_a_judge_that_knows_nothing_gives_the_labels_alone(tmp_path: Path) -> None:
    constant = Benchmark(KIND.people, np.full((2, 200), 3.0))
    at = drawn(1)
    row = only(compare(people_run(tmp_path, constant, at, probability=0.25)))
    people = stats.paired(KIND.people[0][at] - KIND.people[1][at], np.array(at))
    assert (0.0, people.difference) == (row["lambda"], pytest.approx(row["difference"]))
    assert row["p"] == pytest.approx(people.p)


def with_failures(folder: Path, values: Benchmark, at: list[int], **settings: Any) -> Run:
    """The judge failed where its value is NaN; people scored both answers to these questions."""
    names = [(c, k) for c in range(2) for k in range(values.judge.shape[1])]
    marks = [
        ("AB"[c], f"q{k:03}", None if np.isnan(values.judge[c, k]) else float(values.judge[c, k]))
        for c, k in names
    ]
    run = judged(folder, {JUDGE: marks}, **settings)
    rows = [
        {"candidate": "AB"[c], "item": f"q{k:03}", "criterion": "worth", "rater": "ann",
         "value": float(values.people[c, k]), "p": len(at) / values.judge.shape[1]}
        for c in range(2) for k in at if not np.isnan(values.people[c, k])
    ]  # fmt: skip
    file = write_lines(folder / "people.jsonl", rows)
    run.import_scores(file, measure=RATING, range={"*": (0, 5)}, map={"probability": "p"})
    return run


def is_ordered(row: dict[str, Any], estimate: str) -> bool:
    """Whether the bounds hold what was observed."""
    inner = row["set_low"] <= row[estimate] <= row["set_high"]
    return inner and row["bound_low"] <= row["low"] and row["bound_high"] >= row["high"]


def test_what_a_judge_failed_on_decides_though_people_scored_some_of_it(tmp_path: Path) -> None:
    """The two are equal; the judge failed on every fifth question, where A is far worse."""
    rng = np.random.default_rng(0)
    people = np.round(3 + rng.normal(0, 0.3, (2, 200)), 1)
    people[0] += np.where(np.arange(200) % 5 == 0, -1.6, 0.4)
    judge = np.clip(people + rng.normal(0, 1.5, (2, 200)), 0, 5)
    judge[0, ::5] = np.nan
    run = with_failures(tmp_path, Benchmark(people, judge), drawn(3))
    row = only(compare(run))
    assert ("depends", "prediction_powered") == (row["verdict_code"], row["estimate_kind"])
    assert row["set_low"] < 0.03 < row["set_high"]
    assert is_ordered(row, "difference")
    assert all(is_ordered(dict(row), "estimate") for row in run.estimates(JUDGE).rows)


def test_a_failed_score_inside_a_labelled_case_is_counted_with_its_label(tmp_path: Path) -> None:
    """Cases of two questions; of three labelled ones the judge failed on one question."""
    cases = sorted(np.random.default_rng(1).choice(100, 30, replace=False).tolist())
    at = [k for case in cases for k in (2 * case, 2 * case + 1)]
    judge = KIND.judge.copy()
    judge[0, at[1]] = judge[1, at[5]] = judge[1, at[10]] = np.nan
    items = [{"item": f"q{k:03}", "group": f"case{k // 2:03}"} for k in range(200)]
    run = with_failures(tmp_path, Benchmark(KIND.people, judge), at, items=items)
    row = only(compare(run))
    assert ("cannot_tell", 57) == (row["verdict_code"], row["n_labelled"])
    assert is_ordered(row, "difference")
    assert all(is_ordered(dict(row), "estimate") for row in run.estimates(JUDGE).rows)
    people = KIND.people.copy()
    people[:, at[1]] = np.nan  # nobody scored it: its case is not labelled as a whole
    unscored = with_failures(tmp_path / "unscored", Benchmark(people, judge), at, items=items)
    assert 56 == only(compare(unscored))["n_labelled"]


def test_silences_that_nobody_was_shown_stay_in_the_mean(tmp_path: Path) -> None:
    """Both are silent to half the questions, and the labels were drawn among the others."""
    rng = np.random.default_rng(2)
    people = np.clip(np.round(rng.normal(4, 0.4, (2, 200)), 1), 0, 5)
    judge = np.clip(people + rng.normal(0, 1, (2, 200)), 0, 5)
    blank = {f"q{k:03}": "" for k in range(0, 200, 2)}
    at = [k for k in drawn(4, size=60) if k % 2]
    marks = [("AB"[c], f"q{k:03}", float(judge[c, k])) for c in range(2) for k in range(200)]
    labels = [("AB"[c], f"q{k:03}", float(people[c, k]), "ann") for c in range(2) for k in at]
    run = judged(tmp_path, {JUDGE: marks, RATING: labels}, texts={"A": blank, "B": blank})
    row = only(compare(run, labels_chosen_at_random=True))
    assert (len(at), 200) == (row["n_labelled"], row["n_items"])
    assert row["difference_people"] == pytest.approx((people[0] - people[1])[at].mean() / 2)
    for k, row in enumerate(sorted(run.estimates(JUDGE).rows, key=lambda row: row["candidate"])):
        assert row["estimate_people"] == pytest.approx(people[k][at].mean() / 2)
        assert row["low"] < people[k][1::2].mean() / 2 < row["high"]


def test_the_users_word_given_again_is_of_later_labels_too(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1))
    assert 50 == only(compare(run, labels_chosen_at_random=True))["n_labelled"]
    later = [k for k in range(200) if k not in drawn(1)][:40]
    rows = [{"candidate": "AB"[c], "item": f"q{k:03}", "criterion": "worth", "rater": "ann",
             "value": float(KIND.people[c, k])} for c in range(2) for k in later]  # fmt: skip
    run.import_scores(write_lines(tmp_path / "later.jsonl", rows), measure=RATING, range={"*": (0, 5)})
    row = only(compare(run, labels_chosen_at_random=True))
    assert (90, 2) == (row["n_labelled"], row["looks"])


def test_answers_chosen_by_hand_validate_no_judge(tmp_path: Path) -> None:
    """People scored the first 60 of the other benchmark's 80 questions, nobody knows why."""
    rows = {row["benchmark"]: row for row in two_benchmarks(tmp_path, labelled=60).estimates(JUDGE).rows}
    assert "scores" == rows["exam"]["estimate_kind"]
    assert "how the labelled questions were chosen is not recorded" in rows["exam"]["reason"]


def test_labels_that_were_certain_to_be_drawn_tell_of_no_others(tmp_path: Path) -> None:
    """A probability of 1 beside questions without a label is no draw: it may be a choice by hand."""
    row = only(compare(people_run(tmp_path / "part", KIND, range(50), probability=1.0)))
    assert row["judge_alone"]
    assert "every labelled question was certain to be drawn" in row["reason"]
    row = only(compare(people_run(tmp_path / "whole", KIND, range(200), probability=1.0)))
    assert ("prediction_powered", 200) == (row["estimate_kind"], row["n_labelled"])


def test_scores_of_a_model_are_refused_as_labels(tmp_path: Path) -> None:
    run = people_run(tmp_path, KIND, drawn(1))
    run.import_scores(
        tmp_path / "people.jsonl", measure="rating(rubric=r, model=m3)", range={"*": (0, 5)}, again=True
    )
    with pytest.raises(SelectionError, match="these are no scores by people"):
        compare(run, labels="rating(rubric=r, model=m3)")
