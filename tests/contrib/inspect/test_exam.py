"""The task `vivavoce/exam`: our benchmarks in Inspect, asked in our words and scored by our metrics."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.lazy import lazy_module
from tests.studies.making import write_lines

from vivavoce.contrib.inspect.items import ITEM, item_from
from vivavoce.core.errors import EgressError, InputError, MetricError, SpecError, VivaError
from vivavoce.run.run import open_run

exams = lazy_module("vivavoce.contrib.inspect.exam")

QUESTIONS = [
    {"id": "a", "format": "short", "question": "Which organ filters?", "references": ["the kidney"]},
    {"id": "b", "format": "mcq", "question": "Which vitamin?", "options": ["A", "B12", "C"], "answer": "C",
     "group": "vitamins", "category": "food"},
    {"id": "c", "format": "true_false", "question": "Insulin lowers glucose.", "answer": "True"},
]  # fmt: skip
NO_SETTINGS = {"system": "", "prompt": "", "shots": 0}


@pytest.fixture
def exam(tmp_path: Path) -> Callable[..., str]:
    def write(rows: list[dict[str, Any]] = QUESTIONS) -> str:
        path = tmp_path / "ward.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return f"jsonl(path={path})"

    return write


def read(spec: str, *metrics: str, **options: Any) -> Any:
    settings = {**NO_SETTINGS, **{k: options.pop(k) for k in NO_SETTINGS if k in options}}
    return exams.read_exam(spec, metrics, settings, **options)


def means(log: dict[str, Any]) -> dict[str, float]:
    """By criterion the mean that Inspect found, and how many answers it rests on."""
    return {
        entry["name"]: (entry["metrics"]["mean"]["value"], entry["scored_samples"])
        for entry in log["results"]["scores"]
    }


# Samples.


def test_a_sample_is_asked_in_our_words_with_its_key_group_and_item(exam):
    _, sample, _ = read(exam()).samples
    (message,) = sample.input
    assert ("b", ["C"], ["A", "B12", "C"]) == (sample.id, sample.target, sample.choices)
    assert message.text.startswith("Which vitamin?")
    assert "C. C" in message.text
    assert ("vitamins", "food") == (sample.metadata["group"], sample.metadata["category"])


def test_the_prompt_system_and_examples_are_those_of_viva_collect(exam, tmp_path):
    prompt = tmp_path / "own.md"
    prompt.write_text("Think first. {{ question }}")
    asked = read(exam(), system="You are a nurse.", prompt=str(prompt)).samples[0].input
    assert [("system", "You are a nurse."), ("user", "Think first. Which organ filters?")] == [
        (m.role, m.text) for m in asked
    ]
    many = [{**QUESTIONS[0], "id": f"q{k}", "question": f"Organ {k}?"} for k in range(4)]
    shown = read(exam(many), shots=2).samples[0].input
    assert ["user", "assistant", "user", "assistant", "user"] == [m.role for m in shown]


TALK = [
    {"role": "user", "content": "It hurts."},
    {"role": "assistant", "content": "Where?"},
    {"role": "user", "content": "Here."},
]


def test_a_conversation_is_asked_message_by_message_and_comes_back_whole(exam):
    rows = [{"id": "a", "messages": TALK, "references": ["See a doctor."]}]
    (sample,) = read(exam(rows), "token_f1").samples
    assert ["user", "assistant", "user"] == [message.role for message in sample.input]
    record = json.loads(json.dumps(sample.metadata[ITEM]))
    assert [turn["content"] for turn in TALK] == [m.content for m in item_from(record).messages]


def test_turns_behind_the_candidates_own_answers_are_refused(exam):
    rows = [{"id": "a", "question": "It hurts.", "turns": ["Here."], "references": ["See a doctor."]}]
    with pytest.raises(InputError, match="is asked behind the candidate's own answers"):
        read(exam(rows), "token_f1")


def test_without_metrics_those_count_that_fit_the_formats(exam):
    assert ("accuracy", "token_f1", "exact") == read(exam()).metrics


@pytest.mark.parametrize(
    ("words", "specs"),
    [
        (["accuracy"], ("accuracy",)),
        (["rouge(n=1", "stemmer=true)"], ("rouge(n=1, stemmer=true)",)),
        (["rouge(n=1", "stemmer=true)", "token_f1"], ("rouge(n=1, stemmer=true)", "token_f1")),
        (["rouge:n=1", "stemmer=true"], ("rouge(n=1, stemmer=true)",)),
    ],
)
def test_metrics_that_the_command_line_split_at_commas_are_joined(exam, words, specs):
    assert specs == read(exam(), *words).metrics


def test_what_the_exam_is_stands_in_its_origin(exam):
    origin = read(exam()).origin
    assert {"spec", "signature", "version"} == origin.keys()
    assert "#" in origin["signature"]


# What is refused.


@pytest.mark.parametrize(
    ("metrics", "why"),
    [
        (["accuracy", "list_f1"], "list_f1 scores none of the 3 items"),
        (["perplexity"], "log-likelihoods"),
        (["acuracy"], "Did you mean"),
        (["rouge(n=1"], "."),
    ],
)
def test_a_metric_that_cannot_be_used_is_refused_before_anybody_is_asked(exam, metrics, why):
    with pytest.raises((MetricError, SpecError), match=why) as caught:
        read(exam(), *metrics)
    assert "\n" not in str(caught.value)


def test_an_item_without_what_a_metric_needs_is_refused(exam):
    bare = [*QUESTIONS, {"id": "d", "format": "short", "question": "Which bone?"}]
    with pytest.raises(MetricError, match="needs references, and 1 of the 2 items"):
        read(exam(bare), "token_f1")


def test_an_exam_that_no_rule_fits_needs_a_metric(exam):
    with pytest.raises(InputError, match=r"name some, -T metrics="):
        read(exam([{"id": "d", "format": "short", "question": "Which bone?"}]))


@pytest.mark.parametrize("spec", ["", "jsonl", "jsonl(path=/nowhere.jsonl)", "nobody", "jsonl(path="])
def test_a_benchmark_that_cannot_be_used_is_said_in_one_sentence(spec):
    with pytest.raises(VivaError) as caught:
        read(spec)
    assert "\n" not in str(caught.value)


def test_a_credentialed_benchmark_is_not_put_into_inspect(exam, monkeypatch):
    from dataclasses import replace

    from vivavoce.benchmarks import load
    from vivavoce.contrib.inspect import exam as module

    loaded = load(exam())
    closed = loaded._replace(card=replace(loaded.card, access="credentialed"))
    monkeypatch.setattr(module, "load", lambda spec: closed)
    with pytest.raises(EgressError, match="is credentialed"):
        read(exam())


def test_items_that_look_like_patient_data_are_not_put_into_inspect_unless_allowed(exam):
    row = {**QUESTIONS[0], "question": "Mrs Smith, MRN 12345678, phone 555-123-4567: which organ?"}
    with pytest.raises(EgressError, match=r"patient data.*-T allow_phi=true"):
        read(exam([row]))
    assert 1 == len(read(exam([row]), allow_phi=True).samples)


# Evaluations.


RUBRIC = Path(__file__).resolve().parents[3] / "examples" / "rubrics" / "clarity.md"
JUDGE = f"judge(rubric={RUBRIC}, model=inspect/mockllm/judge)"
"""A judge that mocks returns no form, so that its reply cannot be read."""
SILENT = {"broken": "!raise", "blank": "", "odd": "A or B12", "shut": "!filter", "good": "C"}
VITAMINS = [{**QUESTIONS[1], "id": name, "question": f"Vitamin {name}?"} for name in SILENT]
JOBS: dict[str, tuple[dict[str, str], list[dict[str, Any]], dict[str, Any]]] = {
    "ward": ({"organ": "the left kidney", "vitamin": "C", "Insulin": "It is True."}, QUESTIONS,
             {"repeats": 2}),
    "failures": (SILENT, VITAMINS, {"metrics": "accuracy"}),
    "judge": ({"organ": "the kidney"}, QUESTIONS[:1], {"metrics": JUDGE}),
    "refused": ({}, QUESTIONS, {"metrics": "perplexity"}),
}  # fmt: skip
"""Evaluations by name: the model's answers, the questions, and the arguments of the task."""


class Evaluations(NamedTuple):
    """What Inspect made of the jobs: what it lists of ours, and by job the log and the folder."""

    listed: dict[str, bool]
    logs: dict[str, dict[str, Any]]
    folder: Path


@pytest.fixture(scope="module")
def evaluations(evaluate: Any, tmp_path_factory: pytest.TempPathFactory) -> Evaluations:
    folder = tmp_path_factory.mktemp("jobs")
    jobs = []
    for name, (answers, rows, arguments) in JOBS.items():
        (folder / name).mkdir()
        spec = f"jsonl(path={write_lines(folder / name / 'ward.jsonl', rows)})"
        jobs.append({"arguments": {"spec": spec, **arguments}, "answers": answers,
                     "folder": str(folder / name)})  # fmt: skip
    listed, *logs = evaluate(jobs)
    return Evaluations(listed, dict(zip(JOBS, logs, strict=True)), folder)


def test_inspect_finds_the_task_by_our_entry_point_and_scores_as_viva_does(evaluations, exam, tmp_path):
    log = evaluations.logs["ward"]
    assert ("success", "ward", 2) == (log["status"], log["eval"]["task"], log["eval"]["config"]["epochs"])
    found = means(log)
    assert (1.0, 2) == found["accuracy"]
    run = open_run(tmp_path / "r.viva")
    run.import_logs(next((evaluations.folder / "ward").glob("*.eval")), benchmark=exam())
    assert 6 == run.responses.height
    ours = {row["criterion"]: row["estimate"] for row in run.score("token_f1").rows}
    assert ours["f1"] == pytest.approx(found["token_f1.f1"][0])


def test_what_failed_is_no_zero_and_silence_counts_as_the_criterion_says(evaluations):
    log = evaluations.logs["failures"]
    assert ["broken"] == [sample["id"] for sample in log["samples"] if sample["error"]]
    scores = {s["id"]: s["scores"]["score"] for s in log["samples"] if not s["error"]}
    assert {"blank": 0.0, "odd": 0.0, "shut": 0.0, "good": 1.0} == {
        name: score["value"]["accuracy"] for name, score in scores.items()
    }
    statuses = {name: score["metadata"]["statuses"]["accuracy"] for name, score in scores.items()}
    assert {"blank": "unanswered", "odd": "unreadable", "shut": "unanswered", "good": "ok"} == statuses
    assert (0.25, 4) == means(log)["accuracy"]


def test_a_judge_that_fails_leaves_a_sample_unscored(evaluations):
    log = evaluations.logs["judge"]
    (sample,) = log["samples"]
    score = sample["scores"]["score"]
    # NaN in newer versions' JSON, null in that of older ones
    assert "nan" == str(score["value"]["judge.clarity"] or math.nan)
    assert {"judge.clarity": "failed"} == score["metadata"]["statuses"]
    assert 0 == means(log)["judge.clarity"][1]


def test_what_cannot_be_used_ends_the_evaluation_with_our_sentence(evaluations):
    log = evaluations.logs["refused"]
    assert "MetricError" == log["status"]
    assert "perplexity has no score for a single answer" in log["error"]


def test_the_command_line_lists_our_task(evaluations):
    assert {"task": True, "scorer": True} == evaluations.listed


def test_neither_importing_vivavoce_nor_naming_its_providers_imports_inspect(environment):
    code = (
        "import sys, vivavoce, vivavoce.cli\n"
        "large = lambda: [name for name in sys.modules if name.startswith('inspect_ai')]\n"
        "print(large())\nfrom vivavoce.core import registry\n"
        "assert 'inspect' in registry.members('provider')\nregistry.members('metric')\nprint(large())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert ["[]", "[]"] == done.stdout.splitlines(), done.stderr
