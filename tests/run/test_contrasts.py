"""Contrast pairs: what a run's metrics give to texts that say the opposite, and who cannot say."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import made, row
from tests.studies.test_audit import audit

from vivavoce.core import registry
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.run.run import Run
from vivavoce.run.study.contrasts import contrast_scores
from vivavoce.store.view import with_view
from vivavoce.studies.audit.contrasts import FILE, SIDES, alike_yes_no, contrast_pairs, polarity

RULES = ("token_f1", "rouge(n=1)", "rouge(n=L)", "meteor", "bleu", "chrf")
MEASURE = Measure(metric="m()", signature="m()@1", criterion=Criterion(criterion="m"))


def scored(folder: Path, *metrics: str) -> Run:
    answers = {c: {f"q{i}": f"the key of q{i}" if i % 2 else "another" for i in range(4)} for c in ("A", "B")}
    run = made(folder, answers)
    run.score(*metrics)
    return run


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Finding:
    return audit(scored(tmp_path_factory.mktemp("rules"), *RULES))


def lost(finding: Finding, metric: str, pair: str) -> dict[str, Any]:
    return row(finding, part="polarity", metric=metric, criterion=CRITERIA[metric], contrast=pair)


CRITERIA = {"token_f1": "f1", "rouge(n=1)": "f1", "rouge(n=L)": "f1", "meteor": "meteor", "bleu": "bleu",
            "chrf": "chrf"}  # fmt: skip


@pytest.mark.parametrize("metric", RULES)
def test_rules_of_words_tell_yes_from_no(found: Finding, metric: str) -> None:
    for pair in ("yes", "no"):
        r = lost(found, metric, pair)
        assert r["alike"] is False
        assert r["score_wrong"] < r["score_reference"]


@pytest.mark.parametrize("metric", RULES)
def test_and_prefer_a_tenfold_dose_to_a_right_answer_in_other_words(found: Finding, metric: str) -> None:
    """By hand for token F1: 8 of 9 words of each side are common, and of the paraphrase few."""
    r = lost(found, metric, "ten times the adrenaline")
    assert r["prefers_wrong"] is True
    assert r["alike"] is True


def test_that_none_calls_them_alike_is_said(found: Finding) -> None:
    assert 'Of 6 measures that scored the contrast pairs none calls "Yes." and "No." alike.' in found.text


def test_token_f1_of_a_pair_by_hand(found: Finding) -> None:
    """Without articles: naloxone reverses opioid overdose; 3 of 4 words are common: F1 .75, lost .25."""
    r = lost(found, "token_f1", "another antidote")
    assert (1.0, 0.75, 0.0, 0.25) == (
        r["score_reference"],
        r["score_wrong"],
        r["score_unrelated"],
        r["value"],
    )


def test_a_metric_that_scores_no_free_text_says_so(tmp_path: Path) -> None:
    run = scored(tmp_path, "exact")
    run.import_scores(
        [{"item": "q1", "candidate": "A", "value": 1.0}],
        measure="elsewhere()",
        range={"*": (0, 1)},
        criteria=["value"],
    )
    finding = audit(run)
    told = row(finding, part="polarity", metric="elsewhere", figure="told_apart")
    assert (None, "scored elsewhere: the pairs cannot be scored here") == (told["value"], told["reason"])


def test_a_judge_is_asked_nothing(tmp_path: Path) -> None:
    """Its signature names a model that nobody could reach: asking would fail loudly."""
    run = scored(tmp_path, "token_f1")
    measure = Measure(
        metric="judge(model=openai/x, rubric=medgpt)",
        signature="judge(model=openai/x, rubric=medgpt)@1",
        rater="openai/x",
        criterion=Criterion(criterion="harm"),
    )
    (reason,) = with_view(run.file, contrast_scores, {1: measure}).values()
    assert reason == "a judge is asked nothing by a study, and these pairs would be calls"


def test_another_version_of_a_metric_is_not_passed_off_as_the_one_that_scored(tmp_path: Path) -> None:
    run = scored(tmp_path, "token_f1")
    measure = Measure(
        metric="token_f1", signature="token_f1(tokens=squad)@0", criterion=Criterion(criterion="f1")
    )
    assert {1: "another version of the metric is here now"} == with_view(
        run.file, contrast_scores, {1: measure}
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            registry.signature(registry.build("metric", "accuracy")),
            "a pair is free text, and it scores mcq, true_false",
        ),
        ("no_such_metric()@1", "the pairs could not be scored: no metric named 'no_such_metric'"),
    ],
)
def test_who_cannot_score_a_pair_says_why(tmp_path: Path, spec: str, words: str) -> None:
    measure = Measure(metric=spec, signature=spec, criterion=Criterion(criterion="accuracy"))
    (reason,) = with_view(scored(tmp_path, "token_f1").file, contrast_scores, {1: measure}).values()
    assert words in reason


def values(**given: float) -> dict[tuple[str, str], float]:
    """The same value of a side in every pair."""
    return {(pair.pair, side): given[side] for pair in contrast_pairs() for side in given}


def test_what_loses_less_than_half_of_what_an_unrelated_text_does_is_called_alike() -> None:
    rows = list(polarity("b", MEASURE, values(reference=1, right=0.9, wrong=0.7, unrelated=0.2), 0.5))
    assert pytest.approx(0.3 / 0.8) == rows[1].value
    assert (True, False, 0.0) == (rows[1].alike, rows[1].prefers_wrong, rows[0].value)
    assert alike_yes_no(rows) is not None
    strict = list(polarity("b", MEASURE, values(reference=1, right=0.9, wrong=0.7, unrelated=0.2), 0.3))
    assert (False, None) == (strict[1].alike, alike_yes_no(strict))


def test_a_measure_on_which_lower_is_better_is_turned() -> None:
    measure = Measure(metric="d()", signature="d()@1", criterion=Criterion(criterion="d", direction="lower"))
    rows = list(polarity("b", measure, values(reference=0, right=0.1, wrong=0.9, unrelated=1), 0.5))
    assert pytest.approx(0.9) == rows[1].value
    assert (False, False) == (rows[1].alike, rows[1].prefers_wrong)


def test_a_measure_that_is_the_same_for_everything_says_nothing_of_polarity() -> None:
    rows = list(polarity("b", MEASURE, values(reference=1, right=1, wrong=1, unrelated=1), 0.5))
    assert {None} == {r.value for r in rows}
    assert {"it gives an unrelated text as much as the reference"} == {r.reason for r in rows}


def test_a_text_without_a_value_is_no_zero() -> None:
    rows = list(polarity("b", MEASURE, values(reference=1, wrong=0.5), 0.5))
    assert (None, "it gave one of the texts no value") == (rows[1].value, rows[1].reason)


def test_the_pairs_are_whole_and_their_texts_differ() -> None:
    pairs = contrast_pairs()
    assert len({p.pair for p in pairs}) == len(pairs) == len(FILE.read_text("utf-8").splitlines())
    assert {"yes_no", "negation", "dose", "unit", "side", "direction", "frequency", "drug"} == {
        p.kind for p in pairs
    }
    for line in FILE.read_text("utf-8").splitlines():
        texts = [json.loads(line)[side] for side in SIDES]
        assert all(text.strip() == text and text for text in texts)
        assert 4 == len(set(texts))
