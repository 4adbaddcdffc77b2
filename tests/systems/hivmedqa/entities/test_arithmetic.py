"""F1 from counts and counts from stored figures: by hand, at the edges, and every figure HIVMedQA stored."""

import csv
import math
from collections import defaultdict
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.systems.hivmedqa.entities.matching import (
    CORRECTED,
    PUBLISHED,
    PUBLISHED_EXACT,
    VARIANTS,
    Counts,
    counts,
    f1_of,
)


@pytest.fixture(scope="module")
def stored(hivmedqa):
    """The rows of HIVMedQA's F1 table."""
    with (hivmedqa / "f1.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert 35_420 == len(rows)
    return rows


def figures(row):
    return tuple(float(row[name]) for name in ("precision", "recall", "f1"))


@pytest.mark.parametrize("rules", [CORRECTED, PUBLISHED, PUBLISHED_EXACT])
def test_two_matches_of_four_and_five(rules):
    assert (2 / 5, 2 / 4, pytest.approx(4 / 9)) == f1_of(gold=4, predicted=5, matched=2, rules=rules)
    assert (0.0, 0.0, 0.0) == f1_of(gold=4, predicted=5, matched=0, rules=rules)


@pytest.mark.parametrize(
    ("gold", "predicted", "published", "exact", "corrected"),
    [
        (3, 0, (1, 0, 0), (0, 0, 0), (0, 0, 0)),
        (0, 3, (0, 1, 0), (0, 0, 0), None),
        (0, 0, (1, 1, 1), (0, 0, 0), None),
    ],
)
def test_an_empty_side_is_worth_what_the_book_says(gold, predicted, published, exact, corrected):
    found = [
        f1_of(gold=gold, predicted=predicted, matched=0, rules=rules)
        for rules in (PUBLISHED, PUBLISHED_EXACT, CORRECTED)
    ]
    assert [published, exact, corrected] == found


@pytest.mark.parametrize("wrong", [(1, 2, 2), (2, 1, 2), (1, 1, -1), (-1, 1, 0)])
def test_counts_that_cannot_be_are_refused(wrong):
    gold, predicted, matched = wrong
    with pytest.raises(ValueError, match="cannot be"):
        f1_of(gold=gold, predicted=predicted, matched=matched, rules=CORRECTED)


@pytest.mark.parametrize(
    ("precision", "recall", "wanted"),
    [
        (1 / 2, 1 / 3, Counts(3, 2, 1)),
        (2 / 3, 1 / 5, Counts(10, 3, 2)),
        (2 / 3, 3 / 4, Counts(8, 9, 6)),
        (1, 1, Counts(1, 1, 1)),
        (0, 0, Counts(1, 1, 0)),
        (1, 0, Counts(1, 0, 0)),
        (0, 1, Counts(0, 1, 0)),
    ],
)
def test_the_smallest_counts_are_found(precision, recall, wanted):
    assert wanted == counts(precision, recall)


@pytest.mark.parametrize(
    ("precision", "recall"),
    [(0.5, 0), (0, 0.5), (1.2, 0.5), (-0.5, 0.5), (math.nan, 0.5), (0.33333, 0.5), (1 / 997, 1 / 991 * 990)],
)
def test_figures_that_no_counts_give_have_none(precision, recall):
    assert None is counts(precision, recall)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_counts_are_found_again(gold, predicted, data):
    matched = data.draw(st.integers(1, min(gold, predicted)))
    there = f1_of(gold=gold, predicted=predicted, matched=matched, rules=CORRECTED)
    found = counts(there.precision, there.recall)
    assert there == f1_of(**found._asdict(), rules=CORRECTED)
    assert all(small <= large for small, large in zip(found, (gold, predicted, matched), strict=True))


def test_every_stored_figure_is_what_its_smallest_counts_give(stored):
    for row in stored:
        found = counts(*figures(row)[:2])
        assert figures(row) == f1_of(**found._asdict(), rules=VARIANTS[row["variant"]].rules), row


@cache
def quotient(text):
    return Fraction(float(text)).limit_denominator(1000)


def test_one_number_of_entities_explains_all_rows_of_a_reference(stored):
    """By question, lemmatised or not: one |T| for all answers, one |E| for an answer in all variants."""
    recalls, matching = defaultdict(set), defaultdict(set)
    for row in stored:
        lemma = VARIANTS[row["variant"]].lemmatised
        precision, recall = quotient(row["precision"]), quotient(row["recall"])
        if row["model"] == "Rephrased Gold Answers" or not precision * recall:
            continue
        recalls[row["question_id"], lemma].add(recall)
        matching[row["question_id"], lemma].add(((row["model"], row["iteration"]), recall / precision))
    for question, rows in matching.items():
        least = math.lcm(*(r.denominator for r in recalls[question]))
        assert any(explains(least * k, rows) for k in range(1, 50)), question


def explains(gold, rows):
    """Whether with so many entities in the reference each answer has one whole number of entities."""
    sizes = {}
    for answer, ratio in rows:
        size, remainder = divmod(gold * ratio.numerator, ratio.denominator)
        if remainder or sizes.setdefault(answer, size) != size:
            return False
    return True


def test_blank_answers_follow_the_published_edges(hivmedqa, stored):
    """30 answers without a letter, of which no entity can be found: 210 rows, exact."""
    with (hivmedqa / "judge_scores.csv").open(newline="") as stream:
        blank = {
            (r["model"], r["question_id"], r["iteration"])
            for r in csv.DictReader(stream)
            if r["answer_blank"] == "True"
        }
    rows = [row for row in stored if (row["model"], row["question_id"], row["iteration"]) in blank]
    assert (30, 210) == (len(blank), len(rows))
    for row in rows:
        rules = VARIANTS[row["variant"]].rules
        assert figures(row) == f1_of(gold=9, predicted=0, matched=0, rules=rules)


def test_the_variants_are_those_that_were_stored(stored):
    assert set(VARIANTS) == {row["variant"] for row in stored}
