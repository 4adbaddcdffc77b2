"""The study of facts: splitter and checker against people, several facts a call, samples of a benchmark."""

import numpy as np
import polars as pl
import pytest
from tests.lengths import length
from tests.studies.fact_rows import JUDGE, PERSON, fact_rows, found, measure, row_of, rows_of

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding

CASES = [f"q{n:03}" for n in range(60)]
CHECKED = CASES[:40]
MEASURES = {1: measure(), 2: measure(PERSON, "ann")}
TEN = "atomic_facts(checker=judge/m,per_call=10,splitter=judge/s)@1"


def texts(words: str, item: str) -> str:
    """Facts with texts that both raters share."""
    return "; ".join(f"{word}=Fact {chr(65 + n)} of {item} holds." for n, word in enumerate(words.split()))


def beside_people(judged: list[str], people: list[str], **options: float) -> Finding:
    """The checker's words of all cases, and a person's of the first forty."""
    of_checker = {item: texts(judged[n % len(judged)], item) for n, item in enumerate(CASES)}
    of_person = {item: texts(people[n % len(people)], item) for n, item in enumerate(CHECKED)}
    frames = fact_rows({"A": of_checker}), fact_rows({"A": of_person}, key=2)
    return found(*frames, measures=MEASURES, **options)


def test_verdicts_and_units_against_a_person() -> None:
    finding = beside_people(["true false true", "false false true"], ["true false", "true false"])
    by = {row["figure"]: row for row in rows_of(finding, part="people", candidate="")}
    assert ("ann", 40) == (by["percent"]["against"], by["units_difference"]["n_answers"])
    assert (1.0, 80) == (by["matched_of_second"]["value"], by["matched_of_second"]["n_units"])
    assert by["matched_of_first"]["value"] == pytest.approx(2 / 3)
    assert (0.75, 80) == (by["percent"]["value"], by["percent"]["n_units"])
    ratings = np.array([[1, 1], [0, 0], [0, 1], [0, 0]] * 20, dtype=float)
    assert by["alpha_nominal"]["value"] == pytest.approx(stats.krippendorff_alpha(ratings, "nominal").value)
    assert by["ac1"]["value"] == pytest.approx(stats.gwet_ac1(ratings).value)


def test_units_an_answer_are_equivalent_only_within_a_margin() -> None:
    judged = ["true true true", "true true", "true true true true"]
    people = ["true true", "true true true", "true true true true"]
    row = row_of(beside_people(judged, people, units_margin=0.5), figure="units_difference", part="people")
    assert ("equivalent", 0.5) == (row["verdict_code"], row["margin"])
    without = row_of(beside_people(judged, people), figure="units_difference", part="people")
    assert (None, row["value"]) == (without["verdict_code"], without["value"])


def noisy(truths: np.ndarray, rng: np.random.Generator, *, se: float, sp: float) -> np.ndarray:
    wrong = rng.random(truths.shape) > np.where(truths == 1, se, sp)
    return np.where(wrong, 1 - truths, truths)


def corrected(truths: np.ndarray, judged: np.ndarray) -> dict[str, object]:
    """The row of a run: cases by facts, of which a person checked the first forty."""
    words = np.array(["false", "true"])
    of_checker = {
        item: texts(" ".join(words[facts]), item) for item, facts in zip(CASES, judged, strict=True)
    }
    of_person = {
        item: texts(" ".join(words[facts]), item) for item, facts in zip(CHECKED, truths[:40], strict=True)
    }
    finding = found(fact_rows({"A": of_checker}), fact_rows({"A": of_person}, key=2), measures=MEASURES)
    return row_of(finding, figure="corrected_precision")


def test_precision_is_that_of_prediction_powered_inference() -> None:
    rng = np.random.default_rng(1)
    truths = (rng.random((60, 10)) < 0.8).astype(int)
    judged = noisy(truths, rng, se=0.9, sp=0.7)
    row = corrected(truths, judged)
    expected = stats.prediction_powered(
        judged.ravel(),
        truths[:40].ravel(),
        labelled=np.arange(400),
        groups=np.arange(600) // 10,
        low=0,
        high=1,
    )
    assert (20, 600) == (row["n_answers"], row["n_units"])
    assert row["full"] == pytest.approx(judged.mean())
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_the_corrected_interval_covers_the_share_that_people_would_give() -> None:
    rng, covered, runs = np.random.default_rng(7), 0, length(15, 60)
    for _ in range(runs):
        truths = (rng.random((60, 10)) < 0.7).astype(int)
        row = corrected(truths, noisy(truths, rng, se=0.9, sp=0.8))
        covered += row["low"] <= 0.7 <= row["high"]
    assert covered >= 0.85 * runs


def test_a_checker_that_is_kinder_to_one_candidate_favours_nobody() -> None:
    """Both are right in 8 of 10 facts; of A's false ones the checker calls all right, of B's none."""
    of_a, of_b = (texts(words, "it") for words in ("true " * 10, "true " * 8 + "false false"))
    people = {item: texts("true " * 8 + "false false", "it") for item in CHECKED}
    of_checker = {"A": dict.fromkeys(CASES, of_a), "B": dict.fromkeys(CASES, of_b)}
    finding = found(fact_rows(of_checker), fact_rows({"A": people, "B": people}, key=2), measures=MEASURES)
    a, b = (row_of(finding, figure="corrected_precision", candidate=name) for name in "AB")
    assert (1.0, 0.8) == pytest.approx((a["full"], b["full"]))
    assert (0.8, 0.8) == pytest.approx((a["value"], b["value"]))
    assert (a["low"], a["high"]) == pytest.approx((b["low"], b["high"]))


def test_where_people_checked_every_case_there_is_nothing_to_correct() -> None:
    answers = {item: texts("true false", item) for item in CASES}
    finding = found(fact_rows({"A": answers}), fact_rows({"A": answers}, key=2), measures=MEASURES)
    assert "recorded verdicts cover every case" in row_of(finding, figure="corrected_precision")["reason"]


def test_people_who_checked_other_answers_are_no_yardstick() -> None:
    frames = fact_rows({"A": {"q1": "true"}}), fact_rows({"A": {"q2": "true"}}, key=2)
    row = row_of(found(*frames, measures=MEASURES), part="people")
    assert "no answer has facts by both" == row["reason"]


def test_several_facts_a_call_against_single_calls() -> None:
    single = {item: texts("true false true", item) for item in CASES}
    several = single | {item: texts("true true true", item) for item in CASES[:15]}
    frames = fact_rows({"A": single}), fact_rows({"A": several}, key=2)
    finding = found(*frames, measures={1: measure(JUDGE), 2: measure(TEN)})
    by = {row["figure"]: row for row in rows_of(finding, part="per_call")}
    assert (1 - 15 / 180, "10", "1") == (
        pytest.approx(by["percent"]["value"]), by["percent"]["contrast"], by["percent"]["against"]
    )  # fmt: skip
    assert "sensitivity" not in by
    assert [] == rows_of(finding, part="people")


def test_another_splitter_is_no_case_of_several_facts_a_call() -> None:
    other = TEN.replace("judge/s", "judge/t")
    frames = fact_rows({"A": {"q1": "true"}}), fact_rows({"A": {"q1": "true"}}, key=2)
    finding = found(*frames, measures={1: measure(JUDGE), 2: measure(other)})
    assert [] == rows_of(finding, part="per_call")


def whole(seed: int = 5, n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    words = ["true true", "true false", "false false"]
    answers = {f"q{k:03}": words[rng.choice(3, p=[0.6, 0.3, 0.1])] for k in range(n)}
    categories = {item: "abcd"[k % 4] for k, item in enumerate(answers)}
    return fact_rows({"A": answers}, categories=categories)


def test_each_draw_is_held_against_all_questions() -> None:
    finding = found(whole(), sample=0.25, draws=3, margin=0.2)
    rows = rows_of(finding, part="draw", figure="precision")
    full = row_of(finding, part="precision", figure="precision")["value"]
    assert ["draw 1", "draw 2", "draw 3"] == [row["contrast"] for row in rows]
    for row in rows:
        assert (100, pytest.approx(full), 3) == (row["n_items"], row["full"], row["family"])
        assert row["low"] < full < row["high"]
        assert "equivalent" == row["verdict_code"]
    assert 3 == len(rows_of(finding, part="draw", figure="published_f"))
    assert 3 == len(rows_of(finding, part="draw", figure="published_t"))
    assert any("prove nothing" in note for note in finding.notes)


def test_the_error_of_a_draw_is_that_of_draws() -> None:
    rows = rows_of(found(whole(), sample=0.1, draws=length(60, 200)), part="draw", figure="precision")
    values = np.array([row["value"] for row in rows])
    assert np.sqrt(np.mean([row["se"] ** 2 for row in rows])) == pytest.approx(values.std(), rel=0.2)
    covered = np.mean([row["low"] <= row["full"] <= row["high"] for row in rows])
    assert 0.9 <= covered <= 0.99


def test_without_a_margin_no_draw_is_near_enough() -> None:
    rows = rows_of(found(whole(), sample=0.25, draws=2), part="draw", figure="precision")
    assert {(None, None)} == {(row["verdict_code"], row["p"]) for row in rows}
    assert all("no margin" in row["reason"] for row in rows)


def test_a_run_that_holds_a_sample_has_no_draws_of_it() -> None:
    rows = whole().with_columns(weight=pl.when(pl.col("category") == "a").then(2.0).otherwise(1.0))
    row = row_of(found(rows, sample=0.5), part="draw")
    assert (None, True) == (row["value"], "holds a sample itself" in row["reason"])


@pytest.mark.parametrize(
    ("options", "match"), [({"sample": 10.0}, "a share"), ({"sample": 0.1, "draws": 0}, "one or")]
)
def test_draws_that_cannot_be_had_are_refused(options: dict[str, float], match: str) -> None:
    with pytest.raises(SelectionError, match=match):
        found(whole(), **options)


@pytest.mark.parametrize("words", ["noncommittal", "bad", "lost"])
def test_draws_of_silence_are_null(words: str) -> None:
    finding = found(fact_rows({"A": dict.fromkeys(CASES, words)}), sample=0.5, draws=2, margin=0.1)
    for row in rows_of(finding, part="draw"):
        assert (None, None) == (row["value"], row["p"])
        assert row["reason"]


def test_people_who_check_a_part_make_no_curve_no_draws_and_no_lengths() -> None:
    answers = {f"m(temperature={t})": {item: texts("true false", item) for item in CASES} for t in (0.1, 0.9)}
    frames = fact_rows(answers), fact_rows(answers, key=2)
    finding = found(*frames, measures=MEASURES, sample=0.5, draws=2)
    for part in ("draw", "temperature", "length", "dropped"):
        assert {"judge/m"} == {row["rater"] for row in rows_of(finding, part=part)}
    assert 1 == finding.text.count("2 temperatures")
    assert 2 == finding.text.count("2 draws")


def test_recorded_verdicts_alone_judge_the_candidates() -> None:
    """A machine's verdicts are recorded with its name too, and nothing in a file tells it from a person."""
    alone = fact_rows({"A": {item: texts("true false", item) for item in CASES}}, key=2)
    finding = found(alone, measures={2: MEASURES[2]}, sample=0.5, margin=0.2)
    assert {"draw", "length", "dropped"} <= {row["part"] for row in finding.rows}
    assert not rows_of(finding, part="people")


def test_few_checked_cases_correct_nothing() -> None:
    answers = {item: texts("true false true false", item) for item in CASES}
    of_person = {item: texts("true true false false", item) for item in CASES[:9]}
    frames = fact_rows({"A": answers}), fact_rows({"A": of_person}, key=2)
    finding = found(*frames, measures=MEASURES)
    reasons = {
        "sensitivity": "18 facts that people call true, in 9 cases",
        "specificity": "18 facts that people call false, in 9 cases",
        "corrected_precision": "recorded verdicts on facts of this candidate: 9 cases",
    }
    for figure, reason in reasons.items():
        row = row_of(finding, figure=figure)
        assert None is row["value"]
        assert reason in row["reason"]
