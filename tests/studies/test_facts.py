"""The study of facts: coverage and precision beside every score."""

import numpy as np
import polars as pl
import pytest
from tests.studies.fact_rows import fact_rows, found, row_of, rows_of, table

from vivavoce import stats
from vivavoce.studies.facts.facts import CONFLICT_ONLY, NOTHING, Facts
from vivavoce.studies.score_table import ScoreTable
from vivavoce.testing import check_study

TWELVE = [f"q{n:02}" for n in range(12)]


def uneven() -> pl.DataFrame:
    """Twelve cases: three of four facts right in half of them, one of two in the others."""
    words = ["true true true false", "true false"]
    return fact_rows({"A": {item: words[n % 2] for n, item in enumerate(TWELVE)}})


def test_precision_over_answers_and_over_facts_by_hand() -> None:
    items = [f"q{n:02}" for n in range(24)]
    words = ["true true true false", "true false"]
    finding = found(fact_rows({"A": {item: words[n % 2] for n, item in enumerate(items)}}))
    macro = row_of(finding, part="precision", figure="precision")
    pooled = row_of(finding, part="precision", figure="pooled_precision")
    assert (0.625, 24, 72) == (macro["value"], macro["n_groups"], macro["n_units"])
    assert pooled["value"] == pytest.approx(48 / 72)
    expected = stats.estimate_mean([0.75, 0.5] * 12, items, low=0, high=1)
    assert (macro["low"], macro["high"]) == (expected.low, expected.high)
    ratio = stats.ratio([3, 1] * 12, [4, 2] * 12, groups=items, low=0, high=1)
    assert (pooled["low"], pooled["high"]) == (ratio.low, ratio.high)


def test_bounds_take_what_is_unsettled_for_false_and_for_true() -> None:
    words = "true false bad unverifiable changed surplus repeated foreign no_claim empty"
    finding = found(fact_rows({"A": dict.fromkeys(TWELVE, words)}))
    for figure in ("precision", "pooled_precision"):
        row = row_of(finding, part="precision", figure=figure)
        assert 0.5 == row["value"]
        assert (row["bound_low"], row["bound_high"]) == (pytest.approx(1 / 6), pytest.approx(5 / 6))
    counted = {row["figure"]: row["value"] for row in rows_of(finding, part="units")}
    assert 120 == counted.pop("units") == sum(counted.values())
    assert {12} == {counted[word] for word in words.split()}


def test_every_answer_is_counted_once_by_what_became_of_it() -> None:
    silent = ["noncommittal", "empty", "blank", "unreadable", "lost", "nothing", "true failed", "withheld"]
    words = ["true false"] * 12 + silent
    finding = found(fact_rows({"A": {f"q{n:02}": text for n, text in enumerate(words)}}))
    counted = {row["figure"]: row["value"] for row in rows_of(finding, part="coverage")}
    assert 2.0 == counted.pop("units_per_answer")
    assert 20 == counted.pop("answers") == sum(counted.values())
    assert counted == {"answered": 12, "without_units": 1, "empty": 1, "blank": 1, "noncommittal": 1,
                       "unanswered": 1, "unreadable": 1, "failed": 2}  # fmt: skip


def test_blank_answers_and_those_that_do_not_know_are_told_apart() -> None:
    answers = dict.fromkeys(TWELVE, "true") | {"q90": "blank", "q91": "blank", "q92": "unknown"}
    finding = found(fact_rows({"A": answers}))
    counted = {row["figure"]: row["value"] for row in rows_of(finding, part="coverage")}
    assert (2, 1, 0) == (counted["blank"], counted["noncommittal"], counted["unanswered"])
    assert "15 answers, 12 answered with 1 checked facts each, 2 blank, 1 noncommittal." in finding.text


def test_the_sentence_counts_answers_and_not_units_that_are_called_alike() -> None:
    answers = dict.fromkeys(TWELVE, "true empty empty") | {"q90": "true failed failed", "q91": "lost"}
    text = found(fact_rows({"A": answers})).text
    assert "14 answers, 12 answered with 1 checked facts each, 2 failed." in text


def test_an_answer_that_failed_stays_out_of_precision_and_opens_the_bounds() -> None:
    answers = dict.fromkeys(TWELVE, "true true") | {"q90": "true failed", "q91": "lost"}
    macro, pooled = rows_of(found(fact_rows({"A": answers})), part="precision")
    assert (1.0, 12) == (macro["value"], macro["n_groups"])
    assert (macro["bound_low"], macro["bound_high"]) == (pytest.approx((12 + 0.5 + 0) / 14), 1.0)
    assert None is pooled["bound_low"]
    assert "nobody can say" in pooled["reason"]


def test_silence_alone_has_no_precision() -> None:
    finding = found(fact_rows({"A": dict.fromkeys(TWELVE, "noncommittal")}))
    for row in rows_of(finding, part="precision"):
        assert (None, None, None) == (row["value"], row["low"], row["bound_low"])
        assert row["reason"]
    assert 12 == row_of(finding, figure="noncommittal")["value"]
    assert "12 noncommittal" in finding.text


@pytest.mark.parametrize("n", [1, 9])
def test_few_cases_show_counts_only(n: int) -> None:
    finding = found(fact_rows({"A": {item: "true false" for item in TWELVE[:n]}}))
    row = row_of(finding, figure="precision", part="precision")
    assert (None, None, n) == (row["value"], row["bound_low"], row["n_groups"])
    assert "too few to tell" in row["reason"]
    assert n == row_of(finding, figure="answered")["value"]


def test_equal_questions_of_one_case_are_one_case() -> None:
    answers = {f"q{n:03}": "true false" for n in range(60)}
    groups = {item: str(n // 12) for n, item in enumerate(answers)}
    row = row_of(found(fact_rows({"A": answers}, groups=groups)), figure="precision", part="precision")
    assert (5, None) == (row["n_groups"], row["value"])


def test_repeats_are_averaged_inside_their_question() -> None:
    answers = {item: ["true true", "false", "false false"] for item in TWELVE}
    row = row_of(found(fact_rows({"A": answers})), figure="precision", part="precision")
    assert (pytest.approx(1 / 3), 12, 36) == (row["value"], row["n_groups"], row["n_answers"])


def test_of_two_passes_the_first_without_a_failure_counts() -> None:
    first = fact_rows({"A": dict.fromkeys(TWELVE, "true failed")})
    second = fact_rows({"A": dict.fromkeys(TWELVE, "true false")}, pass_no=2)
    third = fact_rows({"A": dict.fromkeys(TWELVE, "false false")}, pass_no=3)
    finding = found(first, second, third)
    assert 0.5 == row_of(finding, figure="precision", part="precision")["value"]
    assert 12 == row_of(finding, figure="answers")["value"]
    assert any("first pass" in note for note in finding.notes)


def test_a_sample_weighs_questions_by_what_they_stand_for() -> None:
    rows = uneven().with_columns(weight=pl.when(pl.col("item").str.ends_with("1")).then(9.0).otherwise(1.0))
    row = row_of(found(rows), figure="precision", part="precision")
    weights = np.where([item.endswith("1") for item in TWELVE], 9.0, 1.0)
    assert row["value"] == pytest.approx(np.average([0.75, 0.5] * 6, weights=weights))


def test_categories_have_intervals_and_no_verdicts() -> None:
    answers = {f"q{n:02}": "true false" if n < 15 else "true" for n in range(24)}
    categories = {item: "heart" if n < 15 else "skin" for n, item in enumerate(answers)}
    heart, skin = rows_of(found(fact_rows({"A": answers}, categories=categories)), part="category")
    assert ("heart", 0.5, 15) == (heart["contrast"], heart["value"], heart["n_groups"])
    assert ("skin", None, 9, 9) == (skin["contrast"], skin["value"], skin["n_groups"], skin["n_units"])
    assert {None} == {row["verdict_code"] for row in (heart, skin)}


def test_the_order_of_the_rows_changes_nothing() -> None:
    rows = pl.concat([uneven(), fact_rows({"B": dict.fromkeys(TWELVE, "true bad")})])
    assert found(rows).rows == found(rows.sample(fraction=1, shuffle=True, seed=3)).rows


def test_statements_that_an_answer_must_make_are_no_facts_of_it() -> None:
    stated = uneven().with_columns(measure_id=pl.lit(2, pl.Int64))
    scores = table(uneven(), stated)
    of_facts = scores.unit_measures[1]
    criterion = of_facts.criterion.__class__(criterion="stated", pool="unit")
    of_statements = type(of_facts)(metric="atomic_facts", signature=of_facts.signature, criterion=criterion)
    scores = scores._replace(unit_measures={1: of_facts, 2: of_statements})
    assert {"supported"} == {row["criterion"] for row in Facts().findings(scores).rows}


def test_a_run_without_facts_says_how_to_get_them() -> None:
    scores = ScoreTable(pl.DataFrame(), {})
    assert not Facts().applies_to(scores)
    finding = Facts().findings(scores)
    assert ((), NOTHING, ()) == (finding.rows, finding.text, finding.notes)


def test_it_says_what_it_does_not_measure() -> None:
    assert CONFLICT_ONLY in found(uneven()).notes


def test_it_keeps_what_every_study_promises() -> None:
    check_study(Facts())


def test_hostile_texts_stay_texts() -> None:
    hostile = "=cmd|' /C calc'!A0 <script>alert(1)</script>"
    rows = fact_rows({"A": dict.fromkeys(TWELVE, "false")}).with_columns(text=pl.lit(hostile))
    finding = found(rows)
    assert hostile == row_of(finding, figure="false_fact")["text"]
    assert "script" not in str(finding)


def test_facts_that_a_few_long_answers_hold_are_facts_of_few_cases() -> None:
    answers = {item: "true" if n % 2 else "false " * 500 for n, item in enumerate(TWELVE)}
    macro, pooled = rows_of(found(fact_rows({"A": answers})), part="precision")
    assert (0.5, 12) == (macro["value"], macro["effective_cases"])
    assert (None, 6 * 501) == (pooled["value"], pooled["n_units"])
    assert pooled["effective_cases"] < 7
    assert "too few to tell" in pooled["reason"]
