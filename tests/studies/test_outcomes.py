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
    assert "seconds: not known in 3 of 14 (B) answers." in finding.notes
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


def helped(folder: Path, n: int, gain: float, faster: float, surer: float) -> Run:
    """Anna and Ben answered, each half of the questions with help: so much better, faster and surer."""
    run = made(folder, {"Able": {f"q{k}": 1.0 for k in range(n)}})
    rng = np.random.default_rng(7)
    with run.file.writing() as db:
        for person, first in (("anna", 0), ("ben", 1)):
            for k in range(n):
                with_help = (k + first) % 2 == 0
                right = rng.random() < 0.4 + gain * with_help
                meta = {
                    "origin": "answer",
                    "assist": "Able" if with_help else None,
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
