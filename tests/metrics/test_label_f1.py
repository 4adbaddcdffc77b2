"""label_f1: F1 over a fixed set of labels, and the confusion table that it leaves."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.lazy import lazy_module

import vivavoce as viva
from vivavoce import stats
from vivavoce.core import registry
from vivavoce.core.records import Item
from vivavoce.run.run import Run

sklearn_metrics = lazy_module("sklearn.metrics")

LABELS = ("yes", "no", "maybe")
SILENT = ""


def exam(
    folder: Path, keyed: Sequence[str], metrics: Sequence[str] = ("label_f1",), **given: Sequence[str]
) -> Run:
    """A run of questions with these keys, answered so by each candidate; options in ever another order."""
    rows = [
        {"id": f"q{k}", "question": f"Is it so, number {k}?", "answer": key, "model": model, "response": text}
        | {"options": random.Random(k).sample(LABELS, 3)}
        for model, texts in given.items()
        for k, (key, text) in enumerate(zip(keyed, texts, strict=True))
    ]
    return viva.evaluate(rows, metrics=list(metrics), to=folder / "exam.viva")


def figures(run: Run, candidate: str = "A") -> dict[str, dict[str, Any]]:
    return {str(r["criterion"]): dict(r) for r in run.estimates().rows if r["candidate"] == candidate}


def drawn(n: int = 60) -> tuple[list[str], list[str]]:
    draw = random.Random(3)
    keyed = draw.choices(LABELS, (0.55, 0.33, 0.12), k=n)
    return keyed, [key if draw.random() < 0.7 else draw.choice([*LABELS, SILENT]) for key in keyed]


def test_macro_and_micro_are_those_of_scikit_learn(tmp_path: Path) -> None:
    """1.9.1; a silence is an answer outside the labels: it misses what was keyed."""
    keyed, given = drawn()
    found = figures(exam(tmp_path, keyed, A=given))
    for average in ("macro", "micro"):
        expected = sklearn_metrics.f1_score(keyed, given, average=average, labels=LABELS)
        row = found[f"{average}_f1"]
        assert pytest.approx(expected) == row["estimate"]
        assert row["low"] < expected < row["high"]
        assert (60, given.count(SILENT)) == (row["n_items"], row["n_unanswered"])


def test_named_labels_have_a_criterion_each(tmp_path: Path) -> None:
    keyed, given = drawn()
    found = figures(exam(tmp_path, keyed, ["label_f1(labels=[yes, no, maybe])"], A=given))
    assert ["macro_f1", "micro_f1", *LABELS] == list(found)
    for label in LABELS:
        expected = sklearn_metrics.f1_score(keyed, given, average="macro", labels=[label])
        assert pytest.approx(expected) == found[label]["estimate"]


def test_the_confusion_table_is_that_of_scikit_learn(tmp_path: Path) -> None:
    keyed, given = drawn()
    finding = exam(tmp_path, keyed, A=given).study("confusion")["confusion"]
    table = sklearn_metrics.confusion_matrix(keyed, given, labels=[*LABELS, SILENT])
    scores = sklearn_metrics.precision_recall_fscore_support(keyed, given, labels=LABELS)
    rows = {row["label"]: row for row in finding.rows}
    assert sorted(LABELS) == list(rows)
    for k, label in enumerate(LABELS):
        cells = [rows[label]["answers"].get(other, 0) for other in LABELS]
        assert table[k].tolist() == [*cells, rows[label]["n_silent"]]
        assert table[k].sum() == rows[label]["n_keyed"]
        assert table[:, k].sum() == rows[label]["n_chosen"]
        expected = [values[k] for values in scores[:3]]
        assert pytest.approx(expected) == [rows[label][name] for name in ("precision", "recall", "f1")]
    assert "no label of A is shown weaker than the others; most often" in finding.text
    by_holm = stats.holm([row["p"] for row in finding.rows])
    assert pytest.approx(list(by_holm)) == [row["p_adjusted"] for row in finding.rows]


def test_a_label_is_weakest_where_a_test_over_all_labels_shows_it(tmp_path: Path) -> None:
    """F1 of maybe is 4 of 22 beside 36 of 45 and 40 of 49: the others are .61 to .63 ahead."""
    keyed = ["yes"] * 20 + ["no"] * 20 + ["maybe"] * 20
    chosen = ["yes"] * 18 + ["no"] * 2 + ["no"] * 20 + ["yes"] * 7 + ["no"] * 11 + ["maybe"] * 2
    finding = exam(tmp_path, keyed, A=chosen).study("confusion")["confusion"]
    row = next(row for row in finding.rows if row["label"] == "maybe")
    f1 = [r["f1"] for r in finding.rows if r["label"] != "maybe"]
    assert pytest.approx(sum(f1) / 2 - row["f1"]) == row["below_others"]
    assert row["p_adjusted"] < 0.05
    assert "A is weakest on 'maybe', F1 0.182" in finding.text


def test_who_has_every_label_right_is_weakest_on_none(tmp_path: Path) -> None:
    keyed, given = drawn()
    lines = exam(tmp_path, keyed, A=given, B=keyed).study("confusion")["confusion"].text.splitlines()
    assert (2, True) == (len(lines), "no label of A is shown weaker" in lines[0])
    assert lines[1].endswith(": B takes no label for another.")


def test_silence_never_raises_an_f1(tmp_path: Path) -> None:
    keyed = ["yes"] * 8 + ["no"] * 8 + ["maybe"] * 4
    right = ["yes"] * 7 + ["no"] * 9 + ["maybe"] * 4
    silent = [
        SILENT if k % 5 == 0 and a == b else a for k, (a, b) in enumerate(zip(right, keyed, strict=True))
    ]
    run = exam(tmp_path, keyed, A=right, B=silent)
    a, b = figures(run, "A"), figures(run, "B")
    assert all(b[name]["estimate"] < a[name]["estimate"] for name in ("macro_f1", "micro_f1"))


def test_all_wrong_is_0_and_all_silent_is_no_result(tmp_path: Path) -> None:
    keyed = ["yes", "no"] * 10
    run = exam(tmp_path, keyed, A=["no", "yes"] * 10, B=[SILENT] * 20)
    assert (0.0, 0.0) == tuple(figures(run)[name]["estimate"] for name in ("macro_f1", "micro_f1"))
    assert figures(run, "B")["macro_f1"]["estimate"] is None
    assert "no result" in figures(run, "B")["macro_f1"]["reason"]


def test_one_label_and_an_answer_that_no_key_has(tmp_path: Path) -> None:
    """yes 2 * 11 / (2 * 11 + 1), no 0: the label that is never keyed is averaged once it is given."""
    keyed = ["yes"] * 12
    run = exam(tmp_path, keyed, A=keyed, B=["no"] + ["yes"] * 11)
    assert 1.0 == figures(run)["macro_f1"]["estimate"]
    assert pytest.approx((22 / 23 + 0) / 2) == figures(run, "B")["macro_f1"]["estimate"]
    rows = [
        (r["candidate"], r["label"], r["f1"], r["precision"])
        for r in run.study("confusion")["confusion"].rows
    ]
    assert ("B", "no", 0.0, 0.0) in rows
    assert ("A", "yes", 1.0, 1.0) in rows
    assert not any(row[:2] == ("A", "no") for row in rows)


def test_one_case_has_a_figure_and_no_interval(tmp_path: Path) -> None:
    found = figures(exam(tmp_path, ["yes"], A=["yes"]))["macro_f1"]
    assert (1.0, None, "one case only: no interval") == (found["estimate"], found["low"], found["reason"])


def item(name: str, *options: str, benchmark: str = "exam", **fields: Any) -> Item:
    form = "mcq" if options else "true_false"
    answer = options[:1] or ("True",)
    return Item(
        benchmark=benchmark, item=name, format=form, question="?", options=options, answer=answer, **fields
    )


def test_options_that_differ_between_questions_are_no_labels() -> None:
    same = [item("1", "a", "b"), item("2", "b", "a"), item("3")]
    other = [item("4", "a", "c", benchmark="open"), item("5", "a", "d", benchmark="open")]
    made = item("6", "a", "x", origin="rephrase")  # made in the run: no part of the benchmark's set
    bound = registry.build("metric", "label_f1").bind([*same, *other, made])
    assert [True] * 3 + [False] * 3 == [bound.applies_to(i) for i in (*same, *other, made)]
    assert registry.signature(bound) == registry.signature(registry.build("metric", "label_f1"))
    named = registry.build("metric", "label_f1(labels=[b, a])").bind([*same, *other])
    assert [True, True, False, False, False] == [named.applies_to(i) for i in (*same, *other)]


@pytest.mark.parametrize("labels", ["[a]", "[a, a]", "[a, macro_f1]"])
def test_labels_that_are_no_set_are_refused(labels: str) -> None:
    with pytest.raises(viva.VivaError, match="labels are two or more"):
        registry.build("metric", f"label_f1(labels={labels})")


def test_without_labels_the_study_says_what_to_do(tmp_path: Path) -> None:
    run = exam(tmp_path, ["yes", "no"], ["accuracy"], A=["yes", "no"])
    assert "viva score RUN label_f1" in run.study("confusion")["confusion"].text
