"""The primary criterion: who names it, and what is taken where nobody does."""

from collections.abc import Mapping

import polars as pl
import pytest
from tests.studies.making import exam, write_lines

from vivavoce.benchmarks.sample import recorded
from vivavoce.core.records import Criterion, Measure
from vivavoce.run import report
from vivavoce.run.run import open_run
from vivavoce.store.read import benchmarks
from vivavoce.studies.primary import Choice, measures_named, parse_reference, primary_of
from vivavoce.studies.score_table import ScoreTable


def measure(metric: str, criterion: str = "accuracy", **kind: object) -> Measure:
    spec = metric if "(" in metric else f"{metric}()"
    return Measure(metric=metric, signature=f"{spec}@1", criterion=Criterion(criterion=criterion, **kind))


def table(n_items: Mapping[int, int], measures: Mapping[int, Measure]) -> ScoreTable:
    """So many items scored by each measure."""
    rows = [
        {"measure_id": key, "benchmark": "exam", "item": str(k), "variant": "", "role": "candidate"}
        for key, n in n_items.items()
        for k in range(n)
    ]  # fmt: skip
    return ScoreTable(pl.DataFrame(rows).with_columns(edit=pl.lit("")), measures)


TWO = {1: measure("accuracy"), 2: measure("token_f1", "f1")}


def test_what_the_user_names_comes_before_what_the_card_declares():
    scores = table({1: 5, 2: 5}, TWO)
    chosen = primary_of(
        scores, choice=Choice("token_f1", "chosen with --primary"), declared={"exam": "accuracy"}
    )
    assert ("token_f1", "f1", "chosen with --primary") == (chosen.metric, chosen.criterion, chosen.why)
    declared = primary_of(scores, declared={"exam": "accuracy"})
    assert ("accuracy", "declared by the benchmark") == (declared.metric, declared.why)


def test_a_name_that_scored_nothing_is_passed_over():
    scores = table({1: 5, 2: 5}, TWO)
    choice = Choice("rouge", "chosen with --primary")
    assert "accuracy" == primary_of(scores, choice=choice, declared={"exam": "accuracy"}).metric
    assert "accuracy" == primary_of(table({1: 5}, {1: TWO[1]}), declared={"exam": "judge:harm"}).metric


def test_the_only_criterion_needs_no_naming():
    assert "the only criterion" == primary_of(table({1: 5}, {1: TWO[1]})).why


def test_of_several_the_one_that_scores_most_questions_counts_and_of_equals_the_first_stored():
    assert ("token_f1", "scores most answers") == (
        primary_of(table({1: 4, 2: 5}, TWO)).metric,
        primary_of(table({1: 4, 2: 5}, TWO)).why,
    )
    assert "accuracy" == primary_of(table({1: 5, 2: 5}, TWO)).metric
    assert "token_f1" == primary_of(table({1: 5, 2: 5}, {2: TWO[2], 1: TWO[1]})).metric


@pytest.mark.parametrize(
    "other",
    [
        measure("confidence", "confidence", if_unanswered="set_aside"),
        measure("compliance", "compliance"),
        measure("judge", "harm", if_unanswered="set_aside"),
        measure("planted", "planted", direction="lower", if_unanswered="correct"),
        measure("bleu", "corpus_bleu", pool="bleu"),
    ],
    ids=lambda m: m.criterion.criterion,
)
def test_what_is_no_quality_is_never_taken_by_itself(other):
    both = {1: other, 2: TWO[1]}
    assert ("accuracy", "the only criterion") == (
        primary_of(table({1: 9, 2: 2}, both)).metric,
        primary_of(table({1: 9, 2: 2}, both)).why,
    )
    assert primary_of(table({1: 9}, {1: other})) is None
    assert other.metric == primary_of(table({1: 9}, {1: other}), choice=Choice(other.metric, "asked")).metric


def test_without_scores_there_is_none():
    assert primary_of(table({1: 1}, TWO)._replace(scores=table({1: 1}, TWO).scores.clear())) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("accuracy", ("accuracy", None)),
        ("judge:harm", ("judge", "harm")),
        ("judge[harm]", ("judge", "harm")),
        ("judge(rubric=medgpt)[harm]", ("judge(rubric=medgpt)", "harm")),
        ("rouge:n=L", ("rouge:n=L", None)),
        ("csv(path=a:harm)", ("csv(path=a:harm)", None)),
    ],
)
def test_a_reference_is_a_metric_and_perhaps_a_criterion(text, parts):
    assert parts == parse_reference(text, {"harm", "accuracy"})


def test_a_reference_may_be_a_part_of_a_spec_a_signature_or_an_earlier_version():
    measures = {1: measure("rouge(n=1)", "f1"), 2: measure("rouge(n=L)", "f1"), 3: measure("judge", "harm")}
    assert [1, 2] == list(measures_named("rouge", measures))
    assert [2] == list(measures_named("rouge(n=L)", measures))
    assert [1] == list(measures_named("rouge(n=1)@1", measures))
    assert [3] == list(measures_named("judge@0ld", measures))
    assert [] == list(measures_named("no(spec", measures))


def test_the_card_of_a_benchmark_stays_with_the_run(tmp_path):
    run = open_run(tmp_path / "run.viva")
    with recorded() as answers:
        run.import_answers(answers, benchmark="sample")
    with run.file.reading() as db:
        (stored,) = benchmarks(db)
    assert "accuracy" == stored.card.primary


def test_the_report_compares_by_the_primary_criterion_once_and_by_no_other(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(report, "write", lambda data, path, **options: seen.append(data) or [{"path": path}])
    run = open_run(tmp_path / "run.viva")
    items = [f"i{k}" for k in range(12)]
    rows = [
        {"candidate": c, "item": i, "text": f"the key of {i}" if c == "A" or k < 3 else "no"}
        for c in "AB"
        for k, i in enumerate(items)
    ]
    run.import_answers(write_lines(tmp_path / "a.jsonl", rows), benchmark=exam(tmp_path, items))
    run.score("exact", "token_f1")
    for call in (None, "token_f1", "exact"):
        if call:
            run.compare("A", "B", metric=call)
        run.report()
        assert "exact" == seen[-1].primary.metric
        assert ["A", "B"] == [r["candidate"] for r in seen[-1].primary_rows]
        (pair,) = seen[-1].primary_pairs
        assert ("A", "B", "better") == (pair["a"], pair["b"], pair["verdict_code"])
        assert pair["made_at"]
    assert 2 == seen[-1].n_tests  # one by each metric, though the report was written three times


def test_a_metric_and_its_criterion_are_named_with_a_colon(tmp_path):
    run = open_run(tmp_path / "run.viva")
    items = [f"i{k}" for k in range(12)]
    rows = [{"candidate": c, "item": i, "text": f"the key of {i}"} for c in "AB" for i in items]
    run.import_answers(write_lines(tmp_path / "a.jsonl", rows), benchmark=exam(tmp_path, items))
    marks = [{"candidate": c, "item": i, "clarity": 0.5, "harm": 0.1} for c in "AB" for i in items]
    run.import_scores(
        write_lines(tmp_path / "m.jsonl", marks), measure="nurse", criteria=["clarity", "harm"],
        range={"*": (0, 1)},
    )  # fmt: skip
    assert ["clarity", "clarity"] == [row["criterion"] for row in run.estimates("nurse:clarity").rows]
    assert 1 == run.compare("A", "B", metric="nurse:harm").rows[0]["family"]
    assert 2 == run.compare("A", "B", metric="nurse").rows[0]["family"]
