"""Asked for a confidence: what is sent, what is stored, what is scored, and what stays as it was."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.run.collect.likely import FakeLikely

import vivavoce as viva
from vivavoce.core.errors import SpecError
from vivavoce.models.candidates import CandidateConfig
from vivavoce.reading.confidence import Cut, restored

NAME = "vllm/m(confidence=true)"
OPTIONS = ["Aspirin", "Heparin", "Warfarin"]


def choice(k):
    return {"format": "mcq", "options": OPTIONS, "answer": "Heparin"}


def says(*texts):
    """Replies in turn, the last for ever."""
    return [
        {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
         "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
        for text in texts
    ]  # fmt: skip


@pytest.fixture
def server(fake, monkeypatch):
    def start(*texts):
        started = fake(*says(*texts))
        monkeypatch.setenv("VLLM_BASE_URL", started.base_url)
        return started

    return start


def question(server, number=-1):
    return server.received[number][2]["messages"][-1]["content"]


def test_the_line_is_asked_for_behind_the_question_and_kept_apart_from_the_answer(exam, server, tmp_path):
    started = server("B. Heparin\n\nConfidence: 85%")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=["vllm/m"], confidence=True)
    asked = question(started)
    assert asked.startswith("Question 0?\n\nOptions:\nA. Aspirin")
    assert asked.endswith("\n\nConfidence: NN%")
    row = run.responses.row(0, named=True)
    assert (NAME, "B. Heparin") == (row["candidate"], row["text"])
    cuts = json.loads(row["meta"])["confidence"]
    assert "B. Heparin\n\nConfidence: 85%" == restored(row["text"], [Cut(*cut) for cut in cuts])
    run.score("accuracy", "confidence(of=stated)")
    assert [1.0, 0.85] == run.scores["value"].to_list()


def test_without_it_nothing_is_asked_and_nothing_is_cut(exam, server, tmp_path):
    started = server("B. Heparin\n\nConfidence: 85%")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=["vllm/m"])
    assert "onfidence" not in question(started)
    assert ["vllm/m"] == run.responses["candidate"].to_list()
    assert ["B. Heparin\n\nConfidence: 85%"] == run.responses["text"].to_list()
    run.score("confidence(of=stated)")
    assert ["set_aside"] == run.scores["status"].to_list()


def test_a_metric_of_words_does_not_score_the_line(exam, server, tmp_path):
    server("answer 0\nConfidence: 85%")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1), models=[NAME])
    run.score("exact", "token_f1", "rouge(n=1)", "confidence(of=stated)")
    assert [0.85, 1.0, 1.0, 1.0] == run.scores.sort("metric")["value"].to_list()


@pytest.mark.parametrize(
    ("text", "right", "status"),
    [
        ("B. Heparin", 1.0, "unanswered"),
        ("B. Heparin\nConfidence: high", 1.0, "unreadable"),
        ("B. Heparin\nConfidence: 0.85", 1.0, "unreadable"),
        ("<think>Confidence: 10%</think>B. Heparin", 1.0, "unanswered"),
        ("<think>A or B? Confidence: 10%</think>B. Heparin\nConfidence: 250%", 1.0, "unreadable"),
        ("A. Aspirin\nWrite it as\nConfidence: NN%", 0.0, "unreadable"),
        ("Confidence: 85%", None, "unanswered"),
        ("", None, "unanswered"),
    ],
)
def test_a_missing_confidence_is_no_number_and_the_answer_is_right_or_wrong_as_before(
    exam, server, tmp_path, text, right, status
):
    server(text)
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=[NAME])
    run.score("accuracy", "confidence(of=stated)")
    accuracy, confidence = run.scores.sort("metric").select("value", "status").rows()
    assert right == accuracy[0]
    assert (None, status) == confidence


def test_an_equal_question_gets_the_same_confidence_without_being_asked(exam, server, tmp_path):
    """The second answer is taken from the first as it came, so its line is there to be cut again."""
    started = server("B. Heparin (confidence: 60%)")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2, change=lambda k: {**choice(k), "question": "Which?"}), models=[NAME])
    assert 1 == len(started.received)
    run.score("confidence(of=stated)")
    assert ["B. Heparin"] * 2 == run.responses["text"].to_list()
    assert [0.6, 0.6] == run.scores["value"].to_list()


def test_a_second_collect_asks_nothing_and_more_repeats_ask_for_the_rest(exam, server, tmp_path):
    started = server("B\nConfidence: 60%", "A\nConfidence: 50%")
    run = viva.open(tmp_path / "run.viva")
    for repeats in (1, 1, 3):
        run.collect(exam(1, change=choice), models=["vllm/m"], confidence=True, repeats=repeats)
        run.score("confidence(of=stated)", "confidence(of=repeats)")
    assert 3 == len(started.received)
    values = {metric: part["value"].to_list() for (metric,), part in run.scores.group_by("metric")}
    assert [0.6, 0.5, 0.5] == values["confidence(of=stated)"]
    assert [0.0, 0.5, 0.5] == values["confidence(of=repeats)"]


def test_examples_show_answers_without_the_line(exam, server, tmp_path):
    started = server("B\nConfidence: 60%")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2, change=choice), models=[NAME], shots=1)
    first, example, last = started.received[0][2]["messages"]
    assert "onfidence" not in first["content"] + example["content"]
    assert last["content"].endswith("Confidence: NN%")


def test_a_prompt_of_ones_own_is_followed_by_the_request(exam, server, tmp_path):
    started = server("B\nConfidence: 60%")
    (tmp_path / "own.md").write_text("{{ question }} Think twice.", encoding="utf-8")
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=[NAME], prompt=tmp_path / "own.md")
    assert question(started).startswith("Question 0? Think twice.\n\nAfter your answer")


def test_what_a_filter_withheld_and_what_failed_have_no_confidence(exam, fake, monkeypatch, tmp_path):
    withheld = {"model": "m", "choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}
    bad = web.json_response({"error": {"message": "maximum context length is 8 tokens"}}, status=400)
    server = fake(withheld, lambda request: asyncio.sleep(0, bad))
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(2, change=choice), models=[NAME])
    run.score("confidence(of=stated)")
    assert ["failed", "unanswered"] == sorted(run.scores["status"])
    assert [None, None] == run.scores["value"].to_list()


def test_a_baseline_is_not_asked_for_its_confidence(exam, tmp_path):
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(1, change=choice), models=["baseline/reference"], confidence=True)
    assert [("baseline/reference", "Heparin")] == run.responses.select("candidate", "text").rows()


def test_it_is_true_or_false(exam, tmp_path):
    with pytest.raises(SpecError, match=r"confidence takes true\|false"):
        viva.open(tmp_path / "run.viva").collect(exam(1), models=["vllm/m(confidence=80)"])


def test_a_plan_file_asks_and_scores_it(viva, exam, server, tmp_path, monkeypatch):
    server("B. Heparin\nConfidence: 85%")
    monkeypatch.setattr("vivavoce.run.plan.plan_file.may_return_logprobs", lambda name: False)
    plan = {
        "run": str(tmp_path / "run.viva"),
        "benchmarks": [exam(3, change=choice)],
        "models": ["vllm/m"],
        "settings": {"confidence": True, "repeats": 2},
        "metrics": ["accuracy", "confidence(of=stated)", "confidence(of=repeats)"],
    }
    (tmp_path / "exam.yaml").write_text(json.dumps(plan), encoding="utf-8")
    viva("run", tmp_path / "exam.yaml")
    rows = json.loads(viva("score", tmp_path / "run.viva", *plan["metrics"], "--json").stdout)["rows"]
    assert {"accuracy": 1.0, "confidence(of=stated)": 0.85, "confidence(of=repeats)": 1.0} == {
        row["metric"]: row["estimate"] for row in rows
    }


def test_a_dry_run_counts_the_line_that_is_asked_for(viva, exam, tmp_path):
    def tokens(*words):
        collect = ("collect", tmp_path / "run.viva", exam(2, change=choice), "--model", "vllm/m")
        told = viva(*collect, "--dry-run", "--json", *words)
        (row,) = json.loads(told.stdout)["rows"]
        return row["input_tokens"]

    assert tokens("--confidence") > tokens() > 0


def test_the_likelihood_is_collected_and_scored_beside_the_options(exam, monkeypatch, tmp_path):
    """The same requests serve both, so the second metric asks nobody."""
    models = []

    def connect(candidate):
        models.append(FakeLikely(str(candidate.spec)))
        return models[-1]

    monkeypatch.setattr(CandidateConfig, "connect", connect)
    run = viva.open(tmp_path / "run.viva")
    run.collect(exam(3, change=choice), models=["vllm/m"], logprobs=["confidence(of=likelihood)"])
    run.collect(exam(3, change=choice), models=["vllm/m"], logprobs=["options"])
    assert [3, 0] == [len(model.asked) for model in models]
    run.score("options", "confidence(of=likelihood)")
    rows = run.scores.filter(criterion="confidence")
    assert 3 == rows.height
    assert all(1 / 3 < value <= 1 for value in rows["value"])
    accuracy = run.scores.filter(criterion="accuracy")
    key = ["benchmark", "item", "variant", "candidate", "repeat"]
    assert accuracy.select(key).sort(key).equals(rows.select(key).sort(key))
