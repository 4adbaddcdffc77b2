"""The study of facts: kinds of facts, length, temperatures and false facts that candidates share."""

import numpy as np
import polars as pl
import pytest
from tests.studies.fact_rows import fact_rows, found, row_of, rows_of, table

from vivavoce import stats
from vivavoce.studies.answers import answers_in
from vivavoce.studies.facts.facts import Facts

ITEMS = [f"q{n:02}" for n in range(24)]
DOSE, OTHER = "Give 5 mg of ramipril daily.", "The clinic is old."


def test_kinds_of_facts_are_pooled_apart() -> None:
    answers = {item: f"true={DOSE}; false={DOSE}; true={OTHER}" for item in ITEMS[:12]}
    rows = rows_of(found(fact_rows({"A": answers})), part="severity")
    assert {"dose": (0.5, 24), "other": (1.0, 12)} == {
        r["contrast"]: (r["value"], r["n_units"]) for r in rows
    }
    assert {12} == {row["n_groups"] for row in rows}
    assert {None} == {row["verdict_code"] for row in rows}


def test_kinds_of_facts_average_repeats_inside_their_question() -> None:
    answers = {item: [f"true={DOSE}; true={DOSE}; true={DOSE}", f"false={DOSE}"] for item in ITEMS[:12]}
    (row,) = rows_of(found(fact_rows({"A": answers})), part="severity")
    assert (0.75, 48) == (row["value"], row["n_units"])


def longer_is_worse() -> dict[str, str]:
    """One to six facts, one of them false: the longest answers are the best by their share."""
    return {item: " ".join(["true"] * (n % 6) + ["false"]) for n, item in enumerate(ITEMS)}


def test_length_goes_with_the_share_of_right_facts() -> None:
    rows = rows_of(
        found(fact_rows({"A": longer_is_worse()})), part="length", candidate="A", contrast="all answers"
    )
    by = {row["against"]: row for row in rows if row["value"] is not None}
    assert by["units"]["value"] == pytest.approx(1.0)
    n = np.array([n % 6 + 1 for n in range(24)], dtype=float)
    assert by["1 units"]["value"] == pytest.approx(np.polyfit(n, (n - 1) / n, 1)[0])
    assert by["1 units"]["low"] < by["1 units"]["value"] < by["1 units"]["high"]


def test_inside_questions_the_difficulty_of_a_question_has_no_part() -> None:
    """Harder questions have longer answers; among answers to one question length says nothing."""
    answers = {}
    for n, item in enumerate(ITEMS):
        words = ["true"] if n % 2 else ["true", "false", "true", "false"]
        answers[item] = [" ".join(words), " ".join(words * 2)]
    finding = found(fact_rows({"A": answers}))
    every = row_of(finding, figure="slope", candidate="A", contrast="all answers", against="1 units")
    inside = row_of(finding, figure="slope", candidate="A", contrast="inside questions", against="1 units")
    assert every["value"] < -0.05
    assert 0 == pytest.approx(inside["value"])
    alone = found(fact_rows({"A": longer_is_worse()}))
    row = row_of(alone, figure="slope", candidate="A", contrast="inside questions", against="1 units")
    assert (None, "no two answers to compare") == (row["value"], row["reason"])


def test_characters_are_those_of_the_response() -> None:
    rows = fact_rows({"A": longer_is_worse()})
    responses = rows.unique(["item"]).select(
        "benchmark", "item", "variant", "candidate", "repeat", "edit",
        text=pl.lit("x") .repeat_by(pl.col("item").str.slice(1).cast(pl.Int64) % 6 + 1).list.join(""),
        tokens=pl.lit(None, pl.Int64),
    )  # fmt: skip
    finding = Facts().findings(table(rows, answers=answers_in(responses)))
    row = row_of(
        finding, figure="rank_correlation", candidate="A", contrast="all answers", against="characters"
    )
    assert row["value"] == pytest.approx(1.0)
    assert 24 == row["n_answers"]


def test_lengths_are_means_over_questions_and_what_is_not_known_is_no_length() -> None:
    """Three words to half of the questions and five to the others are four; tokens are known of 12 of 24."""
    rows = fact_rows({"A": dict.fromkeys(ITEMS, "true true false") | {"q99": "lost"}})
    first_half = pl.col("item") < "q12"
    texts = pl.when(first_half).then(pl.lit("one two three")).otherwise(pl.lit("one two  three four\nfive"))
    responses = (
        rows.unique(["item"])
        .filter(pl.col("item") != "q99")
        .sort("item")
        .select("benchmark", "item", "variant", "candidate", "repeat", "edit", text=texts,
                tokens=pl.when(first_half).then(pl.lit(7, pl.Int64)))
    )  # fmt: skip
    finding = Facts().findings(table(rows, answers=answers_in(responses)))
    rows_by_figure = {row["figure"]: row for row in rows_of(finding, part="lengths")}
    assert (4.0, 3.0, 7.0) == tuple(rows_by_figure[name]["value"] for name in ("words", "facts", "tokens"))
    expected = stats.estimate_mean([3.0] * 12 + [5.0] * 12, [*range(24)], low=0.0)
    assert (rows_by_figure["words"]["low"], rows_by_figure["words"]["high"]) == pytest.approx(
        (expected.low, expected.high)
    )
    assert 12 == rows_by_figure["tokens"]["n_answers"]
    assert rows_by_figure["tokens"]["reason"].endswith("known for 12 of 24 answers")
    assert "4 words on average" in finding.text
    without_answers = {row["figure"]: row for row in rows_of(found(rows), part="lengths")}
    assert (None, "the tokens of no answer are known") == tuple(
        without_answers["tokens"][name] for name in ("value", "reason")
    )
    assert 3.0 == without_answers["facts"]["value"]


def test_dropping_answers_loses_the_long_ones() -> None:
    answers = {item: "true false" if n % 2 else "true " * 7 + "bad" for n, item in enumerate(ITEMS)}
    by = {row["figure"]: row for row in rows_of(found(fact_rows({"A": answers})), part="dropped")}
    assert 0.5 == by["dropped_share"]["value"]
    assert by["bad_share"]["value"] == pytest.approx(12 / 120)
    assert by["expected_dropped_share"]["value"] == pytest.approx((1 - 0.9**2 + 1 - 0.9**8) / 2)
    assert (2.0, 8.0) == (by["units_kept"]["value"], by["units_dropped"]["value"])
    assert (0.5, 0.75) == (by["published_score"]["value"], by["unit_score"]["value"])
    difference = by["published_less_unit"]
    assert -0.25 == pytest.approx(difference["value"])
    assert difference["low"] < -0.25 < difference["high"]


@pytest.mark.parametrize(
    ("words", "reason"), [("true false", "no answer is dropped"), ("true bad", "no answer would stay")]
)
def test_where_nothing_or_everything_is_dropped_there_is_no_difference(words: str, reason: str) -> None:
    finding = found(fact_rows({"A": dict.fromkeys(ITEMS, words)}))
    row = row_of(finding, figure="published_less_unit")
    assert (None, reason) == (row["value"], row["reason"])


def at(temperature: float) -> str:
    return f"acme/small(temperature={temperature:g})"


def test_neighbouring_temperatures_are_paired_and_corrected_together() -> None:
    good, bad = "true true true false", "true false false false"
    answers = {
        at(0.2): dict.fromkeys(ITEMS, good) | {"q00": bad},
        at(0.6): dict.fromkeys(ITEMS, good),
        at(1.0): {item: bad if n % 4 else good for n, item in enumerate(ITEMS)},
        "other": dict.fromkeys(ITEMS, good),
    }
    finding = found(fact_rows(answers))
    points = rows_of(finding, part="temperature", figure="precision")
    assert [0.2, 0.6, 1.0] == [row["temperature"] for row in points]
    first, second = rows_of(finding, part="temperature", figure="difference")
    assert (at(0.6), at(0.2), 2) == (first["candidate"], first["against"], first["family"])
    assert (0.5 / 24, "too_few", None) == (
        pytest.approx(first["value"]),
        first["verdict_code"],
        first["favours"],
    )
    assert (-0.375, "better", at(0.6)) == (
        pytest.approx(second["value"]),
        second["verdict_code"],
        second["favours"],
    )
    assert second["p_adjusted"] == pytest.approx(2 * second["p"])
    assert f"{at(0.6)} is better than {at(1)}" in finding.text
    assert "optimal" not in finding.text


def test_without_a_difference_no_temperature_is_named() -> None:
    answers = {at(t): dict.fromkeys(ITEMS, "true false") for t in (0.1, 0.9)}
    finding = found(fact_rows(answers))
    assert "better" not in finding.text
    assert "nothing is said of which temperature to take" in finding.text


def test_failed_answers_can_take_a_verdict_away() -> None:
    answers = {at(0.1): dict.fromkeys(ITEMS, "true true false"), at(0.9): dict.fromkeys(ITEMS, "true false")}
    whole = row_of(found(fact_rows(answers)), part="temperature", figure="difference")
    assert ("better", at(0.1)) == (whole["verdict_code"], whole["favours"])
    answers[at(0.9)] |= dict.fromkeys(ITEMS[:12], "lost")
    row = row_of(found(fact_rows(answers)), part="temperature", figure="difference")
    assert ("depends", None, 12) == (row["verdict_code"], row["favours"], row["n_items"])
    assert (pytest.approx(-5 / 12), pytest.approx(1 / 12)) == (row["bound_low"], row["bound_high"])


def test_a_margin_shows_that_temperatures_are_equivalent() -> None:
    answers = {at(t): {i: ["true false", "true true"][(n + k) % 2] for n, i in enumerate(ITEMS)}
               for k, t in enumerate((0.1, 0.9))}  # fmt: skip
    row = row_of(found(fact_rows(answers), margin=0.4), part="temperature", figure="difference")
    assert ("equivalent", 0.4) == (row["verdict_code"], row["margin"])


def test_false_facts_are_shared_whatever_their_case_and_punctuation() -> None:
    answers = {
        "A": {"q1": "false=Aspirin is a beta blocker.; true=It is old.", "q2": "false=Alone!"},
        "B": {"q1": "false=aspirin is a Beta blocker; false=It is old."},
    }
    finding = found(fact_rows(answers))
    assert 3 == row_of(finding, figure="false_facts")["value"]
    assert 1 == row_of(finding, figure="shared_false_facts")["value"]
    first, *others = rows_of(finding, figure="false_fact")
    assert (2, "A; B", "Aspirin is a beta blocker.") == (
        first["n_candidates"],
        first["contrast"],
        first["text"],
    )
    assert [1, 1] == [row["n_candidates"] for row in others]


def test_other_numbers_are_other_facts() -> None:
    answers = {"A": {"q1": "false=Give 5 mg."}, "B": {"q1": "false=Give 50 mg."}}
    assert 0 == row_of(found(fact_rows(answers)), figure="shared_false_facts")["value"]


def test_one_candidate_shares_with_nobody() -> None:
    row = row_of(found(fact_rows({"A": {"q1": "false"}})), figure="shared_false_facts")
    assert None is row["value"]
    assert "nobody" in row["reason"]


def test_a_kind_checker_leaves_every_figure_defined_or_with_a_reason() -> None:
    answers = {
        at(t): {item: "true " * (500 if n % 2 else 1) for n, item in enumerate(ITEMS)} for t in (0.1, 1.0)
    }
    for row in found(fact_rows(answers)).rows:
        assert row["value"] is not None or row["reason"], row
        assert row["value"] is None or np.isfinite(row["value"])


@pytest.mark.parametrize("words", ["bad", "noncommittal", "lost", "nothing", "unreadable", "repeated"])
def test_nothing_settled_is_never_a_number(words: str) -> None:
    answers = {at(t): dict.fromkeys(ITEMS, words) for t in (0.1, 1.0)}
    for row in found(fact_rows(answers), margin=0.1).rows:
        assert row["value"] is not None or row["reason"], row
        if row["figure"] in ("precision", "pooled_precision", "difference", "slope", "rank_correlation"):
            assert None is row["value"], row
