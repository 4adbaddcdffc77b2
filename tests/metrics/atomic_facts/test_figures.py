"""The figures of an answer by hand, after FActScore, SAFE and DAHL; what has no verdict is never a number."""

import math

import pytest

from vivavoce.facts.fact import Cleaned, Fact, Verdict
from vivavoce.metrics.atomic_facts.checked_answer import CheckedAnswer, CheckedFact
from vivavoce.metrics.atomic_facts.figures import (
    MUST_RECALL,
    SUPPORTED,
    figures,
    unit_values,
    values_of,
)

OK = Cleaned("ok", ("A sentence.",), ())


def checked(*words, statements=(), failure=None, cleaned=OK):
    """An answer whose units ended as these words: verdicts, fates, or `failed`."""
    return CheckedAnswer(cleaned, _facts(words), failure=failure, statements=_facts(statements))


def _facts(words):
    verdicts = ("true", "false", "bad", "supported", "contradicted", "unverifiable")
    for number, word in enumerate(words, 1):
        text = f"Fact number {number}."
        if word in verdicts:
            yield CheckedFact(Fact(number, text), Verdict(word))
        elif word == "failed":
            yield CheckedFact(Fact(number, text), failure="no reply")
        else:
            yield CheckedFact(Fact(number, text, word, "for a reason"))


def values(answer, *, k=None, gamma=None, evidence=True, zero=False):
    every = figures(k=k, gamma=gamma, has_evidence=evidence, silence_is_zero=zero)
    return values_of(answer, every, silence_is_zero=zero)


def test_units_without_a_verdict_leave_precision_and_stand_in_its_bounds():
    of = values(checked("supported", "supported", "contradicted", "unverifiable", "changed", "repeated"))
    assert of["precision"].value == pytest.approx(2 / 3)
    assert of["precision_low"].value == pytest.approx(2 / 5)  # a repeated unit is no claim of its own
    assert of["precision_high"].value == pytest.approx(4 / 5)
    assert of["pooled_precision"].parts == {"numerator": 2, "denominator": 3}
    assert of["contradiction_rate"].value == pytest.approx(1 / 4)
    assert of["unverifiable_share"].value == pytest.approx(1 / 4)


def test_every_unit_is_in_the_parts_of_precision_and_they_add_up():
    words = ("true", "false", "bad", "repeated", "empty", "foreign", "changed", "no_claim", "surplus")
    parts = values(checked(*words))["precision"].parts
    assert parts["units"] == len(words) == sum(n for name, n in parts.items() if name != "units")


def test_one_bad_verdict_drops_the_answer_from_dahls_score_and_not_from_precision():
    of = values(checked("true", "true", "false", "bad"), evidence=False)
    assert of["precision"].value == pytest.approx(2 / 3)
    assert (of["dahl_score"].value, of["dahl_score"].status) == (None, "set_aside")
    assert values(checked("true", "true", "false"))["dahl_score"].value == pytest.approx(2 / 3)


def test_an_answer_without_units_is_zero_by_the_published_rules_alone():
    nothing = checked(cleaned=Cleaned("empty", (), ()))
    assert values(nothing)["dahl_score"].status == "unanswered"
    assert values(nothing, zero=True)["dahl_score"].value == 0.0


def test_factscores_penalty_reaches_answers_of_fewer_facts_than_gamma():
    answer = checked("true", "true", "true", "false")
    assert values(answer, gamma=10)["length_penalised"].value == pytest.approx(0.75 * math.exp(1 - 10 / 4))
    assert values(answer, gamma=4)["length_penalised"].value == pytest.approx(0.75)
    assert values(answer, gamma=3)["length_penalised"].value == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("words", "recall", "f1"),
    [
        (("true",) * 2 + ("false",) * 2, 0.5, 0.5),
        (("true",) * 8, 1.0, 1.0),
        (("true",) * 4 + ("false",) * 4, 1.0, 2 / 3),
        (("false",) * 3, 0.0, 0.0),
    ],
)
def test_f1_at_k_is_safes(words, recall, f1):
    of = values(checked(*words), k=4)
    assert (of["recall_at_k"].value, of["f1_at_k"].value) == pytest.approx((recall, f1))


def test_without_evidence_nothing_is_contradicted():
    assert "contradiction_rate" not in values(checked("true", "false"), evidence=False)


def test_nothing_that_could_be_checked_is_no_number():
    for words in ((), ("repeated", "no_claim"), ("unverifiable", "unverifiable"), ("bad",)):
        value = values(checked(*words), k=4)["precision"]
        assert (value.value, value.status) == (None, "set_aside")
    assert values(checked("unverifiable"))["precision_high"].value == 1.0
    assert values(checked("no_claim"))["precision_low"].value is None


def test_a_missing_reply_fails_the_answer_until_it_comes():
    for value in values(checked("true", "failed", "true"), k=2).values():
        assert (value.value, value.status) == (None, "failed")
        assert "1 of 3 units got no verdict: no reply" in value.note
    units = unit_values(checked("true", "failed"), checked("true", "failed").units, "none")
    assert [value.status for value in units.values()] == ["ok", "failed"]


def test_an_answer_that_only_declines_is_unanswered_with_the_reason():
    for status in ("noncommittal", "empty"):
        value = values(checked(cleaned=Cleaned(status, (), ())))["precision"]
        assert (value.status, value.note.split(":")[0]) == ("unanswered", status)


def test_a_grave_error_weighs_more_than_one_of_a_date():
    right = CheckedFact(Fact(1, "The guideline was published in 2019."), Verdict("supported"))
    wrong = CheckedFact(Fact(2, "The dose is 500 mg twice daily."), Verdict("contradicted"))
    of = values(CheckedAnswer(OK, (right, wrong)))
    assert of["severity_precision"].value < of["precision"].value == 0.5


def test_must_recall_counts_the_statements_that_the_answer_makes():
    assert MUST_RECALL.of(checked(statements=("true", "false", "true"))).value == pytest.approx(2 / 3)
    assert MUST_RECALL.of(checked(statements=("true", "bad"))).status == "set_aside"
    assert MUST_RECALL.of(checked()).status == "set_aside"


def test_a_statement_without_a_reply_fails_must_recall_alone():
    of = values_of(checked("true", statements=("true", "failed")), [MUST_RECALL], silence_is_zero=False)
    assert of["must_recall"].status == "failed"
    assert "1 of 2 statements got no verdict" in of["must_recall"].note


def test_the_order_of_units_changes_nothing():
    words = ("supported", "contradicted", "unverifiable", "repeated", "supported")
    first, second = values(checked(*words), k=3), values(checked(*reversed(words)), k=3)
    assert {n: v.value for n, v in first.items()} == {n: v.value for n, v in second.items()}


def test_notes_of_units_begin_with_the_word_of_their_fate():
    answer = checked("true", "bad", "foreign", "failed")
    notes = [value.note for value in unit_values(answer, answer.units, "none").values()]
    assert [note.split(":")[0] for note in notes] == ["true", "bad", "foreign", "failed"]
    assert SUPPORTED.pool == "unit"
