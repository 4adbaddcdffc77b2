"""The scorer `vivavoce/score`: our metrics over a state of Inspect, one value for each criterion."""

import asyncio
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lazy import lazy_module

from vivavoce.contrib.inspect.items import ITEM, item_from, item_record
from vivavoce.contrib.inspect.scoring import response_scorer
from vivavoce.core.errors import EgressError, InputError, MetricError, SpecError
from vivavoce.core.net import offline
from vivavoce.core.records import Item, Unit

models, scorer = lazy_module("inspect_ai.model"), lazy_module("inspect_ai.scorer")
tasks = lazy_module("vivavoce.contrib.inspect.tasks")

RUBRIC = Path(__file__).resolve().parents[3] / "examples" / "rubrics" / "clarity.md"
OPEN = Item(benchmark="ward", item="q1", format="short", question="Which organ?", references=("the kidney",))
CHOICE = Item(
    benchmark="ward",
    item="q2",
    format="mcq",
    question="Which vitamin?",
    options=("A", "B12", "C"),
    answer=("C",),
)
JUDGE = f"judge(rubric={RUBRIC}, model=inspect/judging/a)"


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> Any:
    from tests.contrib.inspect.judging_provider import JudgeAPI

    monkeypatch.setattr(JudgeAPI, "seen", 0)
    return JudgeAPI


def state(text: str | None, item: Item | None = OPEN, *, reason: str = "stop", **fields: Any) -> Any:
    """The state of a sample with this answer; a null one has no output."""
    result = (
        models.ModelOutput(model="m") if text is None else models.ModelOutput.from_content("m", text, reason)
    )
    metadata = {} if item is None else {ITEM: item_record(item)}
    return SimpleNamespace(
        **{
            "metadata": metadata,
            "output": result,
            "model": "fake/m",
            "sample_id": "s",
            "input": "Which organ?",
            "choices": (),
        }
        | fields
    )


def scored(metric: str, what: Any, key: Any = ("the kidney",)) -> Any:
    return response_scorer([metric]).score(what, key)


# Values.


def test_a_value_for_each_criterion():
    item = replace(OPEN, context="The kidney filters the blood. The liver does not.")
    result = scored("extract", state("The kidney filters the blood.", item))
    names = ["verbatim", "evidence_precision", "evidence_recall", "evidence_f1"]
    assert [f"extract.{name}" for name in names] == list(result.values)
    assert (1.0, "ok") == (result.values["extract.verbatim"], result.details["statuses"]["extract.verbatim"])


def test_an_answer_is_read_as_the_format_reads_it():
    assert {"accuracy": 1.0} == scored("accuracy", state("Vitamin C, so the answer is C.", CHOICE)).values
    assert {"accuracy": 0.0} == scored("accuracy", state("B", CHOICE)).values


@pytest.mark.parametrize(
    ("text", "status"),
    [("", "unanswered"), ("I cannot answer that.", "unanswered"), ("A or C", "unreadable")],
)
def test_non_response_counts_as_the_criterion_says(text, status):
    result = scored("accuracy", state(text, CHOICE))
    assert ({"accuracy": 0.0}, {"accuracy": status}) == (result.values, result.details["statuses"])
    assert result.explanation


def test_non_response_that_is_set_aside_is_unscored_and_no_zero():
    result = scored("bleu", state(""))
    assert {"bleu": 0.0} == result.values
    assert math.isnan(scored("planted", state("", replace(OPEN, false_answer="liver"))).values["planted"])


def test_an_answer_that_never_came_is_unscored_and_no_zero():
    result = scored("accuracy", state(None, CHOICE))
    assert math.isnan(result.values["accuracy"])
    assert ({"accuracy": "failed"}, None) == (result.details["statuses"], result.answer)
    assert "no choices" in result.explanation


def test_an_answer_that_a_filter_withheld_is_unanswered():
    result = scored("accuracy", state("the provider's notice", CHOICE, reason="content_filter"))
    assert ({"accuracy": 0.0}, "unanswered") == (result.values, result.details["statuses"]["accuracy"])


def test_a_format_that_the_metric_does_not_score_is_unscored():
    result = scored("accuracy", state("the kidney"))
    assert math.isnan(result.values["accuracy"])
    assert "accuracy: accuracy does not score the format short" == result.explanation


def test_criteria_that_pool_over_all_answers_are_left_out():
    assert ["bleu"] == list(scored("bleu", state("the kidney")).values)


def test_what_a_solver_rewrote_is_what_is_scored():
    rewritten = state("thinking aloud, the liver")
    rewritten.output.completion = "the kidney"
    assert {"token_f1.f1": 1.0} == scored("token_f1", rewritten).values


@pytest.mark.parametrize("text", ["kid\ud83eney", "\x00", "﷽" * 1000, "kidney " * 1_500_000])
def test_hostile_and_long_answers_have_a_value(text):
    what = state("x")
    what.output = models.ModelOutput.model_construct(
        model="m", completion=text, choices=state("x").output.choices, usage=None, fallback=None
    )
    assert 0.0 <= scored("token_f1", what).values["token_f1.f1"] <= 1.0


def test_several_metrics_have_values_under_names_of_their_own(judge):
    other = JUDGE.replace("/a", "/b")
    result = response_scorer([f"token_f1,exact,{JUDGE},{other}"]).score(state("the kidney"), [])
    assert ["token_f1.f1", "exact.accuracy"] == list(result.values)[:2]
    assert ["judging/a).clarity", "judging/b).clarity"] == [
        name.rpartition("model=inspect/")[2].replace(f", rubric={RUBRIC}", "")
        for name in list(result.values)[2:]
    ]
    assert 2 == judge.seen


# Items.


@pytest.mark.parametrize(
    "item",
    [
        OPEN,
        CHOICE,
        Item(benchmark="b", item="r", variant="v", group="g", format="longform", question="q", weight=2.0,
             rubric=(Unit(unit="p1", text="say it", weight=-3.0),), must=("m",), meta={"n": [1, None]}),
    ],
)  # fmt: skip
def test_an_item_comes_back_from_the_metadata_of_a_log_as_it_was(item):
    assert item == item_from(json.loads(json.dumps(item_record(item))))


@pytest.mark.parametrize(
    ("fields", "key", "metric", "text"),
    [
        ({"input": "Which organ?"}, ["the kidney"], "token_f1", "the kidney"),
        ({"choices": [SimpleNamespace(value=v) for v in ("A1", "B12", "C3")]}, ["C"], "accuracy", "C"),
        ({"input": "Insulin lowers glucose."}, ["True"], "accuracy", "True"),
        ({"metadata": None}, ["the kidney"], "token_f1", "the kidney"),
    ],
)
def test_a_sample_of_anybodys_task_makes_an_item(fields, key, metric, text):
    assert [1.0] == list(scored(metric, state(text, None, **fields), key).values.values())


def test_the_last_message_of_a_sample_is_its_question():
    question = [models.ChatMessageUser(content="Which organ?")]
    marks = scored("token_f1", state("the kidney", None, input=question), ["the kidney"])
    assert [1.0] == list(marks.values.values())


def test_a_sample_that_lacks_what_the_metric_needs_is_refused():
    with pytest.raises(MetricError, match="needs references"):
        scored("token_f1", state("x", Item(benchmark="b", item="i", format="short", question="q")), [])


def test_a_sample_without_a_question_is_refused():
    with pytest.raises(InputError, match="question"):
        scored("token_f1", state("x", None, input=[]), ["k"])


# What is refused.


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("judge(rubric=listwise, model=inspect/judging/a)", "it compares the answers of several candidates"),
        ("perplexity", "it scores log-likelihoods"),
        ("label_f1", "it pools counts over all answers"),
        (f"jury(of=[{JUDGE}, {JUDGE.replace('/a', '/b')}])", "it joins the scores of several judges"),
        ("confidence(of=repeats)", "it compares repeats"),
    ],
)  # fmt: skip
def test_a_metric_that_needs_more_than_one_answer_is_refused_in_one_sentence(metric, why):
    with pytest.raises((MetricError, SpecError), match=why) as caught:
        tasks.score(metric=metric)
    assert "\n" not in str(caught.value)


def test_a_metric_whose_scores_depend_on_all_items_is_refused(monkeypatch):
    rater = response_scorer(["token_f1"])
    names = iter(("one", "another"))
    bound = lambda self, items: SimpleNamespace(__str__=None, name=next(names))  # noqa: E731
    monkeypatch.setattr(type(rater.scorers[0].metric), "bind_settings", bound)
    with pytest.raises(MetricError, match="depend on all items"):
        rater.score(state("the kidney"), [])


def test_a_name_with_a_slip_is_mended():
    with pytest.raises(SpecError, match="Did you mean 'accuracy'"):
        tasks.score(metric="acuracy")


def test_a_spec_that_the_command_line_split_at_its_commas_is_joined():
    assert asyncio.run(
        tasks.score(metric=["rouge(n=1", "stemmer=true)"])(state("the kidneys"), scorer.Target("x"))
    ).value


# Judges.


def test_a_judge_is_asked_by_our_client_and_a_failure_is_unscored(judge, monkeypatch):
    spec = JUDGE
    assert {"judge.clarity": 3.0} == scored(spec, state("Drink water.")).values
    monkeypatch.setattr(judge, "reply", "I would rather not say.")
    failed = scored(spec, state("Drink water."))
    assert math.isnan(failed.values["judge.clarity"])
    assert {"judge.clarity": "failed"} == failed.details["statuses"]
    assert failed.explanation


def test_a_blank_answer_is_not_judged(judge):
    spec = JUDGE
    assert {"judge.clarity": 1.0} == scored(spec, state("")).values
    assert 0 == judge.seen


def test_offline_a_judge_elsewhere_is_refused(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fake-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with offline(), pytest.raises(EgressError, match="is not this machine"):
        scored(f"judge(rubric={RUBRIC}, model=inspect/openai/gpt-4o)", state("Drink water."))


def test_patient_data_goes_to_no_judge_elsewhere():
    spec = JUDGE
    answer = "Mrs Smith, MRN 12345678, born 03/04/1951, phone 555-123-4567, should drink."
    with pytest.raises(EgressError, match="patient data"):
        scored(spec, state(answer))
    assert {"judge.clarity": 3.0} == response_scorer([spec], allow_phi=True).score(state(answer), []).values


# In Inspect's loop.


@pytest.mark.parametrize("metric", ["token_f1", JUDGE])
def test_many_samples_are_scored_at_once_twice_in_a_process(metric):
    async def together() -> list[Any]:
        rate = tasks.score(metric=metric)
        return await asyncio.gather(*(rate(state("the kidney"), scorer.Target("x")) for _ in range(12)))

    for _ in range(2):
        results = asyncio.run(together())
        assert 12 == len(results)
        assert 1 == len({str(result.value) for result in results})
