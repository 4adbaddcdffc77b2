"""How fast and how confident: compared as scores are, without what is not known."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, ttest_1samp
from tests.lengths import length
from tests.studies.making import made

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Criterion, Measure, Response
from vivavoce.report.sections.comparisons import HIGHER, LOWER, _cell
from vivavoce.run.run import Run, open_run
from vivavoce.store.by_place import items_at
from vivavoce.store.person_answers import put_person_answer
from vivavoce.studies.comparing.compare import compare
from vivavoce.studies.score_table import SECONDS_MEASURE, ScoreTable

FAST = (2.0, 3.0, 5.0, 4.0, 2.5, 8.0, 1.5, 6.0, 7.0, 3.5, 9.0, 2.2)
NAMES = (
    *("heparin", "lithium", "digoxin", "warfarin", "insulin", "phenytoin", "morphine", "codeine", "iron"),
    *("zinc", "aspirin", "quinine", "atropine", "xenon"),
)
SLOW = (4.0, 4.5, 10.0, 5.0, 5.0, 12.0, 4.5, 9.0, 7.5, 8.0, 8.0, 3.0)
CONFIDENCE = Measure(
    metric="confidence(of=stated)",
    signature="confidence(of=stated)@2",
    criterion=Criterion(criterion="confidence", if_unanswered="set_aside"),
)
ACCURACY = Measure(metric="exact", signature="exact()@1", criterion=Criterion(criterion="exact"))


def answered(folder: Path, answers: dict[str, list[dict[str, Any]]]) -> Run:
    """A run whose candidates answered q0, q1, … with these columns."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"item": f"q{k}", "question": f"What of {NAMES[k]}?", "references": ["so"], "candidate": name}
        | {"text": "so"}
        | columns
        for name, by_item in answers.items()
        for k, columns in enumerate(by_item)
    ]
    run = open_run(folder / "run.viva")
    run.import_answers(rows, name="exam")
    return run


def timed(folder: Path, seconds: dict[str, list[float | None]]) -> Run:
    """A run whose candidates took these seconds to q0, q1, …"""
    return answered(folder, {name: [{"seconds": s} for s in times] for name, times in seconds.items()})


def test_a_ratio_of_geometric_means_by_hand(tmp_path):
    run = timed(tmp_path, {"A": [*FAST], "B": [*SLOW]})
    (row,) = run.compare("A", "B", metric="seconds").rows
    logs = np.log(np.array(FAST) / np.array(SLOW))
    test = ttest_1samp(logs, 0)
    ends = test.confidence_interval()
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((logs.mean(), *ends), abs=1e-8)
    assert row["p"] == pytest.approx(test.pvalue, rel=1e-6)
    assert ("better", "a", "log", 12, 11, 1) == tuple(
        row[name] for name in ("verdict_code", "favours", "scale", "n_items", "wins", "losses")
    )
    # Twelve questions: the twelfth root of the product of the ratios.
    assert math.prod(np.array(FAST) / np.array(SLOW)) ** (1 / 12) == pytest.approx(
        math.exp(row["difference"])
    )
    finding = run.compare("B", "A", metric="seconds")
    assert "A is faster than B by a factor of 1.61 (1.3 to 2)." == finding.headline
    assert "seconds (geometric means)" in str(finding)


def test_the_unit_of_time_changes_nothing(tmp_path):
    rows = []
    for unit in (1.0, 1000.0, 1 / 60):
        times = {"A": [unit * s for s in FAST], "B": [unit * s for s in SLOW]}
        (row,) = timed(tmp_path / str(unit), times).compare("A", "B", metric="seconds").rows
        rows.append({key: round(v, 7) if isinstance(v, float) else v for key, v in row.items()})
        rows[-1].pop("basis")
    assert rows[0] == rows[1] == rows[2]


def test_a_time_of_nothing_is_not_known_and_a_blank_answer_has_none(tmp_path):
    slow: list[dict[str, Any]] = [{"seconds": s} for s in (0.0, None, *SLOW[2:], *SLOW[:2])]
    slow[2] |= {"text": " "}
    slow[3] |= {"text": None, "error": "timeout"}
    run = answered(tmp_path, {"A": [{"seconds": s} for s in (*FAST, *FAST[:2])], "B": slow})
    finding = run.compare("A", "B", metric="seconds")
    assert 10 == finding.rows[0]["n_items"]
    assert "seconds: not known in 2 of 14 (B) answers." in finding.notes
    assert "seconds: lost with what failed in 1 of 14 (B) answers." in finding.notes
    assert "seconds: set aside for blank answers in 1 of 14 (B) answers." in finding.notes


def test_equal_times_separate_nobody(tmp_path):
    (row,) = timed(tmp_path, {"A": [*FAST], "B": [*FAST]}).compare("A", "B", metric="seconds").rows
    assert ("too_few", 0.0, 12) == (row["verdict_code"], row["difference"], row["ties"])


def test_repeats_of_one_question_are_one_time(tmp_path):
    """Two and eight seconds are four in the geometric mean, as four twice."""
    answers = {
        name: [
            {"item": f"q{k}", "repeat": n, "question": f"Why is {NAMES[k]} so?", "seconds": times[n - 1]}
            for k in range(7)
            for n in (1, 2)
        ]
        for name, times in (("A", (2.0, 8.0)), ("B", (4.0, 4.0)))
    }
    (row,) = answered(tmp_path, answers).compare("A", "B", metric="seconds").rows
    assert (0.0, 7, 0) == (row["difference"], row["ties"], row["n_different"])


def test_what_nobody_recorded_is_said(tmp_path):
    run = timed(tmp_path, {"A": [None] * 6, "B": [0.0] * 6})
    with pytest.raises(SelectionError, match="no seconds of these answers are known: they come with"):
        run.compare("A", "B", metric="seconds")
    with pytest.raises(SelectionError, match="no confidence of these answers are known"):
        run.compare("A", "B", metric="confidence")
    run = timed(tmp_path / "half", {"A": [*FAST], "B": [None] * 12})
    (row,) = run.compare("A", "B", metric="seconds").rows
    assert "B has no seconds on exam" == row["reason"]


def test_more_confident_is_not_better(tmp_path):
    sure = [0.9, 0.8, 0.95, 0.7, 0.85, 0.9, 0.99, 0.8]
    answers = {
        "A": [{"confidence": s} for s in sure],
        "B": [{"confidence": round(s - 0.2 - 0.01 * k, 3)} for k, s in enumerate(sure)],
    }
    run = answered(tmp_path, answers)
    finding = run.compare("B", "A", metric="confidence", margin=0.05)
    (row,) = finding.rows
    assert ("higher_by_margin", None, None, None) == tuple(
        row[name] for name in ("verdict_code", "favours", "loss_a", "unseen_loss_a")
    )
    assert finding.headline.startswith("A is more confident than B by 23.5 percentage points (")
    assert "More confident is not better" in " ".join(finding.notes)
    assert not {"better", "worse"} & set(row["verdict"].replace(".", "").split())
    with pytest.raises(SelectionError, match="more confident is not"):
        run.gate("A", "B", metric="confidence", require="better")
    assert run.report(tmp_path / "r.html").exists()
    assert (0.235, HIGHER) == _cell({("B", "A"): row | {"difference": -0.235}}, "A", "B")
    assert (-0.235, LOWER) == _cell({("B", "A"): row | {"difference": -0.235}}, "B", "A")


def helped(
    folder: Path, n: int, gain: float, faster: float, surer: float, helpers: tuple[str, ...] = ("Able",)
) -> Run:
    """Anna and Ben, and two more by each further helper: half with help, so much better, faster and surer."""
    run = made(folder, {"Able": {f"q{k}": 1.0 for k in range(n)}})
    rng = np.random.default_rng(7)
    with run.file.writing() as db:
        pairs = (("anna", "ben"), ("cleo", "dan"))
        people = [(pairs[i][first], first, helper) for i, helper in enumerate(helpers) for first in (0, 1)]
        for person, first, helper in people:
            for k in range(n):
                with_help = (k + first) % 2 == 0
                right = rng.random() < 0.4 + gain * with_help
                meta = {
                    "origin": "answer",
                    "assist": helper if with_help else None,
                    "seconds": 30 * math.exp(rng.normal(0, 0.4)) * (faster if with_help else 1),
                    "confidence": round(min(1, max(0, 0.5 + surer * with_help + rng.normal(0, 0.1))), 2),
                }
                place = ("exam", f"q{k}", "")
                number, _ = items_at(db, [place])[place]
                text = f"the key of q{k}" if right else "other words"
                response = Response(
                    benchmark="exam", item=f"q{k}", candidate=f"person/{person}", text=text, meta=meta
                )
                put_person_answer(db, number, response)
    run.score("exact")
    return run


def test_what_help_brings_is_three_questions_in_one_finding(tmp_path):
    run = helped(tmp_path, 40, gain=0.5, faster=0.5, surer=0.0)
    finding = run.compare(assisted=True)
    assert ["accuracy", "seconds", "confidence"] == [row["criterion"] for row in finding.rows]
    assert [("people with Able", "people alone", 40, 3)] * 3 == [
        (row["a"], row["b"], row["n_items"], row["family"]) for row in finding.rows
    ]
    assert ["better", "better", "cannot_tell"] == [row["verdict_code"] for row in finding.rows]
    assert finding.headline.startswith("people with Able are better than people alone by ")
    assert "With help they are faster by a factor of " in finding.headline
    assert finding.headline.endswith("No significant difference in confidence.")
    (of_seconds,) = run.compare(metric="seconds", assisted=True).rows
    assert 1 == of_seconds["family"]
    assert of_seconds["difference"] == finding.rows[1]["difference"]
    assert of_seconds["p_adjusted"] < finding.rows[1]["p_adjusted"]
    (of_confidence,) = run.compare(metric="confidence", assisted=True).rows
    assert of_confidence["difference"] == finding.rows[2]["difference"]


def test_help_that_slows_people_down_says_so(tmp_path):
    finding = helped(tmp_path, 40, gain=0.0, faster=2.0, surer=0.3).compare(assisted=True)
    assert "With help they are slower by a factor of " in finding.headline
    assert " and more confident by " in finding.headline


def score_rows(values: np.ndarray, key: int) -> pl.DataFrame:
    """Values of candidates A and B (columns) to questions (rows) as score rows of a measure."""
    n = len(values)
    names = [f"q{k:03}" for k in range(n)]
    return pl.DataFrame(
        {
            "benchmark": "exam",
            "item": names * 2,
            "variant": "",
            "group": names * 2,
            "candidate": ["A"] * n + ["B"] * n,
            "role": "candidate",
            "repeat": 1,
            "edit": "",
            "unit": "",
            "ballot": "",
            "pass_no": 1,
            "status": "ok",
            "value": values.T.ravel(),
            "measure_id": key,
        }
    )


def test_where_help_brings_nothing_a_finding_of_three_says_so():
    rng, n_separated, draws = np.random.default_rng(11), 0, length(20, 600)
    for _ in range(draws):
        times = rng.lognormal(3, 0.4, (30, 1)) * rng.lognormal(0, 0.6, (30, 2))
        confidence = np.clip(rng.normal(0.7, 0.2, (30, 2)), 0, 1)
        correct = (rng.random((30, 2)) < 0.6).astype(float)
        outcomes = ScoreTable(
            pl.concat([score_rows(np.log(times), -1), score_rows(confidence, -2)]),
            {-1: SECONDS_MEASURE, -2: CONFIDENCE},
        )
        finding = compare(score_rows(correct, 1), {1: ACCURACY}, ["A", "B"], outcomes=outcomes)
        codes = {row["verdict_code"] for row in finding.rows}
        n_separated += bool(codes & {"better", "better_by_margin", "higher", "higher_by_margin"})
    assert n_separated <= binom.ppf(0.975, draws, 0.05)


def two_exams(folder: Path, answers: list[dict[str, list[dict[str, Any]]]]) -> Run:
    """A run with the answers to `b1` and to `b2`."""
    run = open_run(folder / "run.viva")
    for k, of_exam in enumerate(answers, start=1):
        rows = [
            {"item": f"{k}-{n}", "question": f"What of {NAMES[n]} in {k}?", "references": ["so"]}
            | {"candidate": name, "text": "so", **columns}
            for name, by_item in of_exam.items()
            for n, columns in enumerate(by_item)
        ]
        run.import_answers(rows, name=f"b{k}")
    return run


def sure(least: float) -> list[dict[str, Any]]:
    return [{"confidence": round(least + 0.011 * (k % 7), 3)} for k in range(12)]


def spent(times: tuple[float, ...]) -> list[dict[str, Any]]:
    return [{"seconds": s} for s in times]


def test_a_headline_on_two_exams_counts_who_is_more_confident(tmp_path):
    run = two_exams(tmp_path, [{"A": sure(0.8), "B": sure(0.301)}, {"A": sure(0.85), "B": sure(0.4)}])
    finding = run.compare("A", "B", metric="confidence")
    assert ["higher", "higher"] == [row["verdict_code"] for row in finding.rows]
    assert (
        "A is more confident than B by 2 of 2 measures (confidence on b1 and confidence on b2)."
        == finding.headline
    )


def test_a_headline_names_the_exam_that_each_was_faster_on(tmp_path):
    run = two_exams(tmp_path, [{"A": spent(FAST), "B": spent(SLOW)}, {"A": spent(SLOW), "B": spent(FAST)}])
    assert (
        "A is faster than B by 1 of 2 measures (seconds on b1). B is faster than A by 1 of 2 measures "
        "(seconds on b2)." == run.compare("A", "B", metric="seconds").headline
    )


def test_three_on_two_exams_are_counted_by_what_they_are(tmp_path):
    of_exam = {"A": sure(0.8), "B": sure(0.5), "C": sure(0.2)}
    headline = two_exams(tmp_path, [of_exam, of_exam]).compare(metric="confidence").headline
    assert "Of 6 comparisons 6 show a more confident candidate." == headline


def test_who_is_slower_is_not_said_to_be_below(tmp_path):
    run = answered(tmp_path, {"m1": spent(SLOW), "m2": spent(FAST), "m3": spent(tuple(s / 2 for s in FAST))})
    headline = run.compare("m1", "m2", "m3", metric="seconds", against="m1").headline
    assert "m2 and m3 are faster than m1." == headline
    answers = {"m1": sure(0.2), "m2": sure(0.5), "m3": sure(0.8)}
    headline = answered(tmp_path / "sure", answers).compare(metric="confidence", against="m1").headline
    assert "m2 and m3 are more confident than m1." == headline


def test_times_that_failed_decide_nothing(tmp_path):
    """The slowest answers of A ran into a limit: on the others alone it would be faster."""
    lost = [
        {"text": None, "error": "timeout", "seconds": 60.0} if s > 7 else {"seconds": s / 3} for s in FAST
    ]
    run = answered(tmp_path, {"A": lost, "B": spent(FAST)})
    finding = run.compare("A", "B", metric="seconds")
    (row,) = finding.rows
    assert ("depends", None, 10) == (row["verdict_code"], row["favours"], row["n_items"])
    assert (
        "A and B: it depends on the 2 answers that failed, whose time is not known. On the 10 questions that "
        "both answered, A is faster than B by a factor of 3." == finding.headline
    )
    assert "seconds: lost with what failed in 2 of 12 (A) answers." in finding.notes
    assert run.gate("A", "B", metric="seconds", require="better").closed


@pytest.mark.parametrize("metric", ["confidence", "conf", "stated", " Confidence", "conf:confidence"])
def test_no_gate_rests_on_a_confidence_by_any_name(tmp_path, metric):
    run = answered(tmp_path, {"A": sure(0.8), "B": sure(0.5)})
    run.score("confidence(of=stated)")
    with pytest.raises(SelectionError, match="more confident is not"):
        run.gate("A", "B", metric=metric, require="better")


def test_a_gate_names_its_metric_and_a_primary_has_a_better_end(tmp_path):
    run = answered(tmp_path, {"A": sure(0.8), "B": sure(0.5)})
    run.score("confidence(of=stated)")
    with pytest.raises(SelectionError, match="names its --metric"):
        run.gate("A", "B", metric=None, require="better")  # type: ignore[arg-type]
    with pytest.raises(SelectionError, match="more confident is not: 'confidence' cannot be it"):
        run.compare(primary="confidence")


def test_a_margin_of_the_score_leaves_all_three_questions_in_the_headline(tmp_path):
    finding = helped(tmp_path, 40, gain=0.5, faster=0.7, surer=0.2).compare(assisted=True, margin=0.1)
    assert (
        " percentage points, more than you called important. With help they are faster " in finding.headline
    )
    assert " and more confident by " in finding.headline
    notes = " ".join(finding.notes)
    assert "The margin is in the units of the score, and of no other" in notes
    assert "More confident is not better" in notes
    assert "Seconds are as they were recorded" in notes


def test_each_helper_has_a_sentence_on_all_three_questions(tmp_path):
    run = helped(tmp_path, 40, gain=0.5, faster=0.5, surer=0.3, helpers=("Able", "Other"))
    assert (
        "With Able, people are better, faster and more confident. With Other, people are better, faster and "
        "more confident." == run.compare(assisted=True).headline
    )


def test_a_margin_of_seconds_is_said_as_a_factor(tmp_path):
    finding = timed(tmp_path, {"A": [*FAST], "B": [*SLOW]}).compare("A", "B", metric="seconds", margin=1.2)
    assert finding.headline.endswith(", less than the factor of 3.32 you called important.")
    assert finding.rows[0]["verdict"].endswith("smaller than the factor of 3.32 you called important.")
