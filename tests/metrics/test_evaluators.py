"""Evaluators as metrics: right or not, how probable, and the lexical bound beside them."""

import json
import shutil
from pathlib import Path

import pytest
from tests.evaluators.making import tiny_mixture

import vivavoce as viva
from vivavoce import formats
from vivavoce.core.errors import InputError, MetricError, SpecError
from vivavoce.core.records import Item, Response, Row
from vivavoce.core.registry import build, signature
from vivavoce.evaluators.checkpoint import ABOUT, load_evaluator
from vivavoce.evaluators.proxy_task import NO_ARGUMENT, ProxyInput
from vivavoce.metrics import ScoringContext
from vivavoce.testing import check_metric

CLASSES = ("refuted", "supported")
ITEMS = (
    ("q1", "the patient was given", ("iron daily", "aspirin 50 mg"), "iron daily"),
    ("q2", "the fever", ("no cough", "cough", "5 mg iron"), "cough"),
)
ANSWERS = {
    "a": ("iron daily for anaemia", "it was cough"),
    "b": ("aspirin 50 mg not iron", NO_ARGUMENT),
    "c": ("iron daily for anaemia", " "),
}


@pytest.fixture(scope="module")
def mixture(tmp_path_factory) -> Path:
    return tiny_mixture(tmp_path_factory.mktemp("evaluators") / "mixture-1")


def spec(folder: Path, settings: str = "") -> str:
    return f"trained(weights='{folder}', elsewhere=allow{settings})"


def test_an_evaluator_of_another_benchmark_is_refused(mixture: Path, tmp_path: Path):
    run = exam(tmp_path)
    with pytest.raises(
        MetricError, match="run-1 was trained for tiny, and items of tasks may be another task"
    ):
        run.score(f"trained(weights='{mixture}')")
    run.score(spec(mixture))


def test_weights_that_a_later_pass_needs_are_looked_at_before_anything_is_scored(
    mixture: Path, tmp_path: Path
):
    broken = shutil.copytree(mixture, tmp_path / "broken")
    (broken / "run-2" / "head.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"run-2.head.safetensors was changed or cut"):
        exam(tmp_path).score(spec(broken))


def argued(text: str, question: str, options: tuple[str, ...], answer: str, item: str = "q") -> Row:
    asked = Item(
        benchmark="b", item=item, format="argument", question=question, options=options, answer=(answer,)
    )
    response = Response(benchmark="b", item=item, candidate="m", text=text)
    return Row(asked, response, formats.read_response(asked, text))


def exam(tmp_path: Path) -> "viva.Run":
    """A run of two items with the arguments of three candidates, one of them blank."""
    lines = [
        {"id": k, "format": "argument", "question": q, "options": o, "answer": [a]} for k, q, o, a in ITEMS
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    answers = [
        {"item": item[0], "candidate": candidate, "text": text}
        for candidate, texts in ANSWERS.items()
        for item, text in zip(ITEMS, texts, strict=True)
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    run = viva.open(tmp_path / "run.viva")
    run.import_answers(tmp_path / "answers.jsonl", benchmark=f"jsonl(path='{tmp_path / 'tasks.jsonl'}')")
    return run


def test_both_keep_the_rules_of_a_metric(mixture: Path):
    rows = [
        argued(text, *task, item=name)
        for name, *task in ITEMS
        for text in ("iron", "aspirin and cough", "iron", "cough " * 600)
    ]
    check_metric(spec(mixture), rows)
    check_metric(f"lexical(weights='{mixture / 'lexical.json'}')", rows)
    check_metric("lexical(train=none)")


def test_the_values_are_those_of_the_run_of_the_pass(mixture: Path):
    row, context = argued("for anaemia", *ITEMS[0][1:]), ScoringContext()
    for pass_no in (1, 2):
        context.pass_no = pass_no
        (values,) = build("metric", spec(mixture)).values([row], context)
        task = ProxyInput(ITEMS[0][1], tuple(sorted(ITEMS[0][2])), "for anaemia")
        (prediction,) = load_evaluator(mixture / f"run-{pass_no}").predict([task])
        assert prediction.probabilities[1] == values["probability"].value
        assert float(prediction.probabilities[1] > 0.5) == values["right"].value
        assert {"label": 1, "n_cut": 0, "predicted": prediction.best[0]} == values["right"].parts
        assert f"predicted: {task.options[prediction.best[0]]}" == values["right"].note


def test_turned_options_change_nothing(mixture: Path):
    question, options, answer = ITEMS[1][1:]
    row = argued("no cough, 5 mg", question, options, answer)
    turned = argued("no cough, 5 mg", question, options[::-1], answer)
    for name in (spec(mixture), "lexical(train=none)"):
        metric = build("metric", name)
        assert metric.values([row], ScoringContext()) == metric.values([turned], ScoringContext())


def test_the_lexical_bound_stands_beside_every_score(mixture: Path):
    row = argued("iron daily", *ITEMS[0][1:])
    (values,) = build("metric", spec(mixture)).values([row], ScoringContext())
    (alone,) = build("metric", f"lexical(weights='{mixture / 'lexical.json'}')").values(
        [row], ScoringContext()
    )
    assert (alone["right"], alone["probability"]) == (values["lexical_right"], values["lexical_probability"])


def test_a_tie_is_shared_and_names_no_prediction():
    (values,) = build("metric", "lexical(train=none)").values(
        [argued(NO_ARGUMENT, *ITEMS[1][1:])], ScoringContext()
    )
    assert 1 / 3 == values["right"].value == values["probability"].value
    assert "predicted" not in values["right"].parts
    assert "tie of 3: 5 mg iron | cough | no cough" == values["right"].note


def test_a_run_is_scored_pass_by_pass_and_equal_arguments_pass_once(tmp_path: Path, mixture: Path):
    run = exam(tmp_path)
    planned = run.score(spec(mixture), passes=2, dry_run=True)
    scored = run.score(spec(mixture), passes=2)
    # two arguments of two options, and two of three: the blank one is none, the third equals the first
    expected = {str(mixture / f"run-{k}"): 10 for k in (1, 2)}
    assert expected == dict(planned.passes) == dict(scored.passes)
    rows = run.scores.filter(run.scores["criterion"] == "right")
    assert 12 == len(rows)
    assert {1, 2} == set(rows["pass_no"])
    (rater,) = set(rows["rater"])
    assert rater.startswith("mixture-1@")
    assert ["unanswered"] * 2 == rows.filter(rows["status"] != "ok")["status"].to_list()


def test_more_passes_than_runs_are_one_sentence_and_nothing_is_stored(tmp_path: Path, mixture: Path):
    run = exam(tmp_path)
    for dry_run in (True, False):
        with pytest.raises(MetricError, match=r"--passes 3: trained.* can make 2, one by each of its runs"):
            run.score(spec(mixture), passes=3, dry_run=dry_run)
    assert 0 == len(run.scores)


def test_other_weights_are_another_rater_and_signature(tmp_path: Path, mixture: Path):
    other = tiny_mixture(tmp_path / "mixture-1", n_runs=1)
    first, second = build("metric", spec(mixture)), build("metric", spec(other))
    assert first.rater != second.rater
    assert signature(first).rpartition("#")[2] != signature(second).rpartition("#")[2]


def test_a_rater_is_a_plain_name_whatever_the_folder_says(tmp_path: Path):
    metric = build("metric", spec(tiny_mixture(tmp_path / "<b>=cmd| C", n_runs=1)))
    assert set("<>='|/ ").isdisjoint(metric.rater)


def test_an_evaluator_of_classes_scores_no_other_task(tmp_path: Path):
    folder = tiny_mixture(tmp_path / "none", n_runs=1, kind="classes", classes=CLASSES, benchmark="claims")
    claim = argued("iron", "iron for fever", CLASSES[::-1], "refuted")
    metric = build("metric", spec(folder)).bind([claim.item])
    assert 1 == len(metric.values([claim], ScoringContext()))
    with pytest.raises(
        MetricError, match=r"was trained for claims, to choose among refuted, supported; b q "
    ):
        metric.bind([argued("x", *ITEMS[0][1:]).item])


def test_an_evaluator_of_own_options_scores_no_task_of_classes(mixture: Path):
    claims = [argued("x", "iron", CLASSES, "refuted", item=str(k)).item for k in range(2)]
    with pytest.raises(MetricError, match=r"all items of b have the options refuted, supported"):
        build("metric", spec(mixture)).bind(claims)


@pytest.mark.parametrize(
    ("remove", "sentence"),
    [
        ("lexical.json", r"cannot read .*lexical.json"),
        (f"run-1/{ABOUT}", r"has no run-1 with an evaluator.json"),
        ("run-1/model.safetensors", r"has no model.safetensors, and pickled"),
        ("run-1/tokenizer.json", r"tokeniser"),
    ],
)
def test_a_folder_without_a_file_is_said_before_anything_is_scored(
    tmp_path: Path, mixture: Path, remove: str, sentence: str
):
    own = Path(shutil.copytree(mixture, tmp_path / "mixture-1"))
    (own / remove).unlink()
    run = exam(tmp_path)
    with pytest.raises((InputError, MetricError), match=sentence):
        run.score(spec(own))
    assert 0 == len(run.scores)


def test_no_gpu_is_one_sentence(tmp_path: Path, mixture: Path, monkeypatch: pytest.MonkeyPatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MetricError, match="no GPU: device=cuda"):
        exam(tmp_path).score(spec(mixture, ", device=cuda"))


@pytest.mark.parametrize("settings", ["", "(weights=x.json, train=none)"])
def test_lexical_takes_a_file_or_none(settings: str):
    with pytest.raises(SpecError, match="either weights=FILE"):
        build("metric", f"lexical{settings}")


def test_a_hundred_options_and_a_long_argument_are_scored():
    options = tuple(f"iron {k} mg" for k in range(100))
    row = argued("iron 7 mg " * 20_000, "which?", options, "iron 7 mg")
    (values,) = build("metric", "lexical(train=none)").values([row], ScoringContext())
    assert 1.0 == values["right"].value
