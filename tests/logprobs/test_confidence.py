"""The confidence of an answer: as it is stated, as it is repeated, as its option is likely."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.special import softmax
from tests.logprobs.choosing import DRUGS, by_content, examined, fake, marked, mcq, said
from tests.studies.confident import METRICS, OPTIONS, confident_run
from tests.studies.making import SILENT, UNREADABLE, exam, made, write_lines

from vivavoce.core.errors import InputError, MetricError, SpecError
from vivavoce.core.records import Reading, Response, Row, Value
from vivavoce.core.registry import build, signature
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext
from vivavoce.run.run import Run, open_run

KEY = ("benchmark", "item", "variant", "candidate", "repeat")


def value(of: str, row: Row) -> Value:
    found = build("metric", f"confidence(of={of})").values([row], ScoringContext())[0]["confidence"]
    assert isinstance(found, Value)
    return found


def stated(confidence: Any, text: str = "B") -> Value:
    meta = {} if confidence is None else {"confidence": confidence}
    item = mcq()
    response = Response(benchmark="b", item="q1", candidate="m", text=text, meta=meta)
    return value("stated", Row(item, response, read_response(item, text)))


def repeated(answer: str, *others: str, options: tuple[str, ...] = DRUGS) -> Value:
    item = mcq(options)
    response = Response(benchmark="b", item="q1", candidate="m", text=answer)
    readings = tuple(read_response(item, text) for text in others)
    return value("repeats", Row(item, response, read_response(item, answer), readings))


def test_what_it_is_of_must_be_said() -> None:
    with pytest.raises(SpecError, match="of"):
        build("metric", "confidence")
    with pytest.raises(SpecError, match="stated"):
        build("metric", "confidence(of=guess)")


def test_three_ways_are_three_signatures() -> None:
    metrics = [build("metric", f"confidence(of={of})") for of in ("stated", "repeats", "likelihood")]
    assert 3 == len({signature(metric) for metric in metrics})
    for metric in metrics:
        (criterion,) = metric.criteria
        assert ("confidence", 0.0, 1.0, "higher", "set_aside") == (
            criterion.criterion, criterion.low, criterion.high, criterion.direction, criterion.if_unanswered,
        )  # fmt: skip


# Stated.


def test_a_cut_line_an_imported_number_and_imported_words_are_read() -> None:
    assert 0.85 == stated([[1, "\nConfidence: 85%"]]).value
    assert 0.25 == stated(0.25).value
    assert 1.0 == stated(1).value
    assert 0.85 == stated("85%").value


def test_what_was_not_asked_for_is_set_aside_and_what_is_not_said_gets_no_number() -> None:
    assert (None, "set_aside") == (stated(None).value, stated(None).status)
    assert (None, "unanswered") == (stated([]).value, stated([]).status)
    unread = stated([[1, "\nConfidence: high"]])
    assert (None, "unreadable") == (unread.value, unread.status)
    assert "'high' is no number" in str(unread.note)


# Repeats.


def test_the_share_of_the_other_repeats_that_say_the_same() -> None:
    """B, A, B and a silence beside B: 1 of 3 others says B; counting itself would make it 2 of 4."""
    found = repeated("B. Heparin", "A", "Heparin", SILENT)
    assert (1 / 3, {"same": 1, "others": 3}) == (found.value, found.parts)


def test_silence_and_unreadable_repeats_are_other_answers() -> None:
    assert 0.0 == repeated("B", SILENT, UNREADABLE).value


def test_all_equal_is_one_and_all_different_is_none() -> None:
    assert 1.0 == repeated("B", "Heparin", "b.").value
    assert 0.0 == repeated("B", "A", "C").value


def test_one_repeat_alone_has_no_confidence() -> None:
    found = repeated("B")
    assert (None, "set_aside") == (found.value, found.status)
    assert "--repeats" in str(found.note)


def test_sets_of_options_are_equal_in_any_order_and_entries_that_are_no_option_differ() -> None:
    def picked(answer: Reading, other: Reading) -> float | None:
        item = mcq()
        several = type(item)(
            benchmark="b", item="q1", format="list", question="Q?", options=DRUGS, answer=DRUGS[:2]
        )
        response = Response(benchmark="b", item="q1", candidate="m", text="x")
        return value("repeats", Row(several, response, answer, (other,))).value

    both, turned = Reading("ok", DRUGS[:2]), Reading("ok", DRUGS[1::-1])
    assert 1.0 == picked(both, turned)
    assert 0.0 == picked(both, Reading("ok", DRUGS[:1]))
    assert 0.0 == picked(both, Reading("ok", DRUGS[:2], ("Insulin",)))


def test_the_share_without_itself_is_unbiased() -> None:
    """Of p = .5 the mean over all outcomes of 3 repeats is 1/2; with itself it would be 2/3."""
    outcomes = [(a, b, c) for a in "AB" for b in "AB" for c in "AB"]
    assert 0.5 == sum(repeated(*outcome).value or 0.0 for outcome in outcomes) / len(outcomes)


# Likelihood.


def told(*logprobs: float | None) -> dict[str, Any]:
    letters = ["A", "B", "C", "D"][: len(logprobs)]
    order = {"shift": 0, "put": letters, "logprob": list(logprobs), "tokens": [1] * len(logprobs)}
    return {"orders": [order], "alone": {}, "tokeniser": None, "truncated": 0}


def test_the_likeliest_option_by_hand() -> None:
    """.5, .2, .1 and 0 of it: .5 / .8, and .2 of the model's probability lies elsewhere."""
    record = told(math.log(0.5), math.log(0.2), math.log(0.1), -1000.0)
    found = marked("confidence(of=likelihood)", mcq(), record)["confidence"]
    assert pytest.approx(0.625) == found.value
    assert pytest.approx(0.8) == found.parts["mass"]


@pytest.mark.parametrize(
    "logprobs", [(-0.1, -3.0, -2.5, -9.0), (-700.0, -701.0, -702.0, -703.0), (-1.0,) * 4]
)
def test_it_is_the_largest_of_a_softmax(logprobs: tuple[float, ...]) -> None:
    """scipy 1.14 or later, `scipy.special.softmax`; far below the smallest float too, and with ties 1/t."""
    found = marked("confidence(of=likelihood)", mcq(), told(*logprobs))["confidence"]
    assert pytest.approx(float(softmax(logprobs).max())) == found.value


def test_an_option_without_probability_fails() -> None:
    found = marked("confidence(of=likelihood)", mcq(), told(-1.0, None, -2.0, -3.0))["confidence"]
    assert (None, "failed") == (found.value, found.status)


def test_it_is_asked_what_options_asks() -> None:
    metric, options = build("metric", "confidence(of=likelihood)"), build("metric", "options")
    assert options.logprob_requests == metric.logprob_requests
    asked = examined(
        "options", mcq(), fake(by_content(dict(zip(DRUGS, (-3.0, -0.2, -4.0, -5.0), strict=True)))), said()
    )
    assert asked["accuracy"].value == 1.0


# In a run.


def scores(run: Run, metric: str) -> pl.DataFrame:
    return run.scores.filter(pl.col("metric") == metric)


def test_its_rows_stand_beside_those_of_accuracy(tmp_path: Path) -> None:
    run = confident_run(tmp_path, items=10, repeats=3)
    accuracy, *others = (scores(run, metric).select(KEY).sort(KEY) for metric in METRICS)
    assert 60 == accuracy.height
    assert all(accuracy.equals(other) for other in others)
    confidence = scores(run, "confidence(of=stated)")
    assert {0.95} == set(confidence.filter(candidate="boastful")["value"])
    assert {0.3, 0.6, 0.9} >= set(confidence.filter(candidate="calibrated")["value"])
    assert {0.0, 0.5, 1.0} >= set(scores(run, "confidence(of=repeats)")["value"])


def test_answers_without_a_confidence_get_no_number_and_enter_no_mean(tmp_path: Path) -> None:
    run = confident_run(tmp_path, items=40, repeats=1, silent=0.5)
    confidence = scores(run, "confidence(of=stated)").filter(candidate="boastful")
    assert {"ok", "set_aside"} == set(confidence["status"])
    assert (confidence["status"] == "ok").to_list() == confidence["value"].is_not_null().to_list()
    (row,) = (r for r in run.estimates("confidence(of=stated)").rows if r["candidate"] == "boastful")
    assert pytest.approx(0.95) == row["estimate"]
    assert {"set_aside"} == set(scores(run, "confidence(of=repeats)")["status"])


def test_a_repeat_that_comes_later_moves_the_confidence_of_those_before(tmp_path: Path) -> None:
    items = [{"item": "q1", "format": "mcq", "question": "Q?", "options": OPTIONS, "answer": "Heparin"}]
    run = made(tmp_path, {"A": {"q1": ["A", "A"]}, "B": {"q1": ["A", "B"]}}, items=items)
    run.score("confidence(of=repeats)")
    assert [1.0, 1.0, 0.0, 0.0] == run.scores["value"].to_list()
    made(tmp_path, {"A": {"q1": ["A", "A", "B", None]}}, items=items, run=run)
    run.score("confidence(of=repeats)")
    rows = run.scores.filter(candidate="A").sort("repeat")
    assert [0.5, 0.5, 0.0, None] == rows["value"].to_list()
    assert ["ok", "ok", "ok", "failed"] == rows["status"].to_list()
    assert [0.0, 0.0] == run.scores.filter(candidate="B")["value"].to_list()


def test_merged_repeats_are_scored_again_and_no_older_share_stays(tmp_path: Path) -> None:
    """Alone each repeat was set aside; one run knows a repeat that the other scored without; q2 stays."""
    items = [
        {"item": q, "format": "mcq", "question": f"{q}?", "options": OPTIONS, "answer": "Heparin"}
        for q in ("q1", "q2")
    ]
    runs = []
    for name, answers in (("one", ["A", None]), ("two", ["A", "A", "B"])):
        (folder := tmp_path / name).mkdir()
        runs.append(made(folder, {"A": {"q1": answers, "q2": ["A", "B"]}}, items=items))
        runs[-1].score("confidence(of=repeats)")
    run = open_run(tmp_path / "both.viva")
    run.merge(*(other.file.path for other in runs))
    assert {"q2"} == set(run.scores["item"])
    run.score("confidence(of=repeats)")
    rows = run.scores.sort("item", "repeat")
    assert [0.5, 0.5, 0.0, 0.0, 0.0] == rows["value"].to_list()
    assert 0 == run.merge(runs[1].file.path)[0].scores
    assert rows.equals(run.scores.sort("item", "repeat"))


def test_repeats_stay_together_however_small_the_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vivavoce.run import score as scoring

    monkeypatch.setattr(scoring, "BATCH", 1)
    small = confident_run(tmp_path, items=6)
    monkeypatch.undo()
    (folder := tmp_path / "again").mkdir()
    large = confident_run(folder, items=6)
    assert scores(large, METRICS[2])["value"].to_list() == scores(small, METRICS[2])["value"].to_list()


def test_open_questions_have_no_confidence_of_repeats(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": ["x", "x"]}})
    found = run.score("confidence(of=repeats)")
    assert ("confidence(of=repeats) does not score 1 of the items (1 short).",) == found.notes
    assert 0 == run.scores.height


def test_likelihoods_that_nobody_was_asked_for_are_refused_with_the_command(tmp_path: Path) -> None:
    run = confident_run(tmp_path, items=2)
    with pytest.raises(MetricError, match=r"viva collect .*confidence\(of=likelihood\)"):
        run.score("confidence(of=likelihood)")


# Imported.


@pytest.mark.parametrize(
    ("cell", "probability", "status"),
    [
        (0.85, 0.85, "ok"),
        ("0.85", 0.85, "ok"),
        ("0,85", 0.85, "ok"),
        (1, 1.0, "ok"),
        (0, 0.0, "ok"),
        ("85 %", 0.85, "ok"),
        ("Confidence: 85", 0.85, "ok"),
        ("high", None, "unreadable"),
        ("85 or so", 0.85, "ok"),
        ("=1+1", None, "unreadable"),
        (None, None, "set_aside"),
        ("", None, "set_aside"),
    ],
)
def test_a_column_of_a_file_is_a_probability_or_words(
    tmp_path: Path, cell: Any, probability: float | None, status: str
) -> None:
    run = imported(tmp_path, cell)
    run.score("accuracy", "confidence(of=stated)")
    assert [1.0] == scores(run, "accuracy")["value"].to_list()
    assert [(probability, status)] == scores(run, "confidence(of=stated)").select("value", "status").rows()


def imported(folder: Path, cell: Any, run: Run | None = None) -> Run:
    items = [{"item": "q1", "format": "mcq", "question": "Q?", "options": OPTIONS, "answer": "Heparin"}]
    file = write_lines(folder / "answers.jsonl", [{"item": "q1", "model": "A", "text": "B", "sure": cell}])
    run = run or open_run(folder / "run.viva")
    run.import_answers(file, benchmark=exam(folder, items), map={"candidate": "model", "confidence": "sure"})
    return run


@pytest.mark.parametrize("cell", [85, "85", 1.5, -0.1, True])
def test_a_number_that_is_no_probability_is_refused_and_nothing_is_stored(tmp_path: Path, cell: Any) -> None:
    with pytest.raises(InputError, match=r"line 1: confidence"):
        imported(tmp_path, cell)
    assert not (tmp_path / "run.viva").exists()


def test_the_same_file_again_changes_nothing_and_another_confidence_is_refused(tmp_path: Path) -> None:
    run = imported(tmp_path, 0.85)
    imported(tmp_path, 0.85, run)
    assert {"confidence": 0.85} == json.loads(run.responses["meta"][0])
    with pytest.raises(InputError, match="another confidence"):
        imported(tmp_path, 0.8, run)
