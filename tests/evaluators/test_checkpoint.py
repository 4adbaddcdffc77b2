"""Trained evaluators: what they predict, and folders that are none."""

import json
import math
import shutil
from pathlib import Path

import pytest
from tests.embeddings.tiny_bert import break_weights
from tests.evaluators.making import INPUTS, tiny_mixture, tiny_run

from vivavoce.core.errors import InputError, MetricError
from vivavoce.evaluators.checkpoint import ABOUT, HEAD, load_evaluator, read_about, run_folders
from vivavoce.evaluators.inputs import texts_of
from vivavoce.evaluators.proxy_task import ProxyInput
from vivavoce.evaluators.trained import BUDGET

CLASSES = ("no", "unsure", "yes")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return tiny_run(tmp_path_factory.mktemp("evaluators") / "run-1")


@pytest.fixture
def own(run: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may break."""
    return Path(shutil.copytree(run, tmp_path / "run-1"))


def _by_hand(folder: Path, task: ProxyInput, kind: str, pooling: str) -> list[float]:
    """The probabilities by a forward pass written out: one text at a time, without filling."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    encoder, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    head = load_file(folder / HEAD)
    logits = []
    for option in task.options if kind == "options" else [""]:
        first = f"{task.question} {task.argument}".strip()
        words = f"[CLS] {first} [SEP] {option} [SEP]" if option else f"[CLS] {first} [SEP]"
        ids = tokenizer(words, add_special_tokens=False, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            states = encoder(input_ids=ids).last_hidden_state[0]
        pooled = states.mean(0) if pooling == "mean" else states[0]
        logits += (head["linear.weight"] @ pooled + head["linear.bias"]).tolist()
    if kind == "classes":
        logits = [logits[CLASSES.index(option)] for option in task.options]
    powers = [math.exp(value) for value in logits]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_predictions_are_those_of_a_forward_pass_by_hand(tmp_path: Path, pooling: str):
    folder = tiny_run(tmp_path / "run-1", pooling=pooling)
    for task, prediction in zip(INPUTS, load_evaluator(folder).predict(INPUTS), strict=True):
        expected = _by_hand(folder, task, "options", pooling)
        assert expected == pytest.approx(list(prediction.probabilities), abs=1e-4)


def test_classes_follow_the_options_of_the_item(tmp_path: Path):
    folder = tiny_run(tmp_path / "run-1", kind="classes", classes=CLASSES)
    task = ProxyInput("fever and cough", ("yes", "no", "unsure"), "no iron")
    (prediction,) = load_evaluator(folder).predict([task])
    assert _by_hand(folder, task, "classes", "mean") == pytest.approx(prediction.probabilities, abs=1e-4)
    with pytest.raises(InputError, match="no, unsure, yes"):
        load_evaluator(folder).predict([INPUTS[0]])


def test_turned_options_have_the_very_same_probabilities(run: Path):
    task = INPUTS[1]
    turned = task._replace(options=(task.options[2], task.options[0], task.options[1]))
    (straight,), (other,) = load_evaluator(run).predict([task]), load_evaluator(run).predict([turned])
    a, b, c = straight.probabilities
    assert (c, a, b) == other.probabilities


def test_batches_and_order_tell_nothing(run: Path):
    evaluator = load_evaluator(run)
    inputs = [*INPUTS, *(INPUTS[0]._replace(argument="iron " * n) for n in range(60))]
    together = evaluator.predict(inputs)
    backwards = evaluator.predict(inputs[::-1])
    for one, again in zip(together[::-1], backwards, strict=True):
        assert one.n_cut == again.n_cut
        # The same batch again differs in the eighth digit where a kernel hangs on how its memory lies.
        assert one.probabilities == pytest.approx(again.probabilities, abs=1e-6)
    for task, prediction in zip(inputs[:6], together, strict=False):
        (alone,) = evaluator.predict([task])
        assert alone.probabilities == pytest.approx(prediction.probabilities, abs=1e-5)
    assert BUDGET >= max(len(evaluator.reader.tokens(t).ids) for x in inputs for t in texts_of(x, "options"))


def test_each_distinct_text_passes_once(run: Path):
    evaluator = load_evaluator(run)
    before = evaluator.passes
    evaluator.predict([*INPUTS, *INPUTS, INPUTS[0]._replace(options=INPUTS[0].options[::-1])])
    assert sum(len(task.options) for task in INPUTS) == evaluator.passes - before


def test_a_long_argument_is_counted_as_cut(run: Path):
    assert 0 < load_evaluator(run).predict([INPUTS[0]._replace(argument="iron " * 600)])[0].n_cut
    assert [0, 0, 0] == [prediction.n_cut for prediction in load_evaluator(run).predict(INPUTS)]


def test_a_run_is_what_was_saved(run: Path):
    about = read_about(run)
    assert ("options", "tiny", "mixture-1", (0.4, 0.5)) == (
        about.kind, about.benchmark, about.mixture, about.dev_curve,
    )  # fmt: skip
    assert load_evaluator(run) is load_evaluator(run)
    assert "mixture-1" == load_evaluator(run).name


def test_weights_that_are_no_numbers_are_said(tmp_path: Path):
    import torch
    from transformers import AutoModel, AutoTokenizer

    from vivavoce.evaluators.checkpoint import save_evaluator
    from vivavoce.evaluators.heads import EvaluatorModel, Head

    source = tiny_run(tmp_path / "source")
    model = EvaluatorModel(AutoModel.from_pretrained(source), Head(16))
    torch.nn.init.constant_(model.head.linear.weight, float("nan"))
    save_evaluator(tmp_path / "run-1", model, AutoTokenizer.from_pretrained(source), read_about(source))
    with pytest.raises(MetricError, match="gives numbers that are none"):
        load_evaluator(tmp_path / "run-1").predict(INPUTS)


def test_no_gpu_is_said(run: Path, monkeypatch: pytest.MonkeyPatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MetricError, match="no GPU: device=cuda"):
        load_evaluator(run, device="cuda")


def test_changed_weights_are_refused(own: Path):
    break_weights(own, lambda weights: weights.update(extra=next(iter(weights.values())) * 2))
    with pytest.raises(InputError, match=r"model.safetensors was changed or cut"):
        load_evaluator(own)


def test_cut_weights_are_refused(own: Path):
    (own / HEAD).write_bytes((own / HEAD).read_bytes()[:-3])
    with pytest.raises(InputError, match=r"head.safetensors was changed or cut"):
        load_evaluator(own)


def test_pickled_weights_are_refused(own: Path):
    (own / "model.safetensors").rename(own / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no model.safetensors, and pickled weights are not read"):
        load_evaluator(own)


def test_an_index_of_weights_that_leads_out_of_the_folder_is_not_followed(own: Path, tmp_path: Path):
    (own / "model.safetensors").rename(tmp_path / "model.safetensors")
    index = {"metadata": {}, "weight_map": {"pooler.dense.bias": "../model.safetensors"}}
    (own / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match=r"no model.safetensors"):
        load_evaluator(own)


def test_code_in_a_folder_is_not_run(own: Path, tmp_path: Path):
    ran = tmp_path / "ran"
    (own / "evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass M: pass\n")
    for name in ("config.json", "tokenizer_config.json"):
        raw = json.loads((own / name).read_text())
        raw["auto_map"] = {"AutoModel": "evil.M", "AutoConfig": "evil.M", "AutoTokenizer": ["evil.M", None]}
        (own / name).write_text(json.dumps(raw))
    load_evaluator(own).predict(INPUTS)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "ranks"}, "settings that no evaluator has"),
        ({"longest": 10**9}, "settings that no evaluator has"),
        ({"longest": 500}, "reads 500 tokens, and its encoder takes 24"),
        ({"kind": "classes"}, "settings that no evaluator has"),
        ({"sha256": {}}, "weights of .* cannot be read"),
        ({"pooling": ["mean"]}, "settings that no evaluator has"),
    ],
)
def test_what_an_evaluator_cannot_be_is_refused(own: Path, change: dict, sentence: str):
    raw = json.loads((own / ABOUT).read_text())
    (own / ABOUT).write_text(json.dumps({**raw, **change}))
    with pytest.raises(InputError, match=sentence):
        load_evaluator(own)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 5000, '{"kind": "options"}'])
def test_an_unreadable_evaluator_is_said(own: Path, text: str):
    (own / ABOUT).write_text(text)
    with pytest.raises(InputError, match=r"evaluator.json cannot be read as an evaluator's"):
        load_evaluator(own)


def test_a_folder_that_is_no_run_is_said(tmp_path: Path):
    with pytest.raises(InputError, match=r"has no evaluator.json"):
        load_evaluator(tmp_path)


def test_runs_count_from_1_without_a_gap(tmp_path: Path):
    mixture = tiny_mixture(tmp_path / "mixture-1", 3)
    assert ["run-1", "run-2", "run-3"] == [folder.name for folder in run_folders(mixture)]
    (mixture / "run-2" / ABOUT).unlink()
    assert ["run-1"] == [folder.name for folder in run_folders(mixture)]
    with pytest.raises(InputError, match=r"holds the mixtures mixture-1: name one"):
        run_folders(tmp_path)
    with pytest.raises(InputError, match=r"there is no folder"):
        run_folders(tmp_path / "none")
    with pytest.raises(InputError, match=r"has no run-1"):
        run_folders(mixture / "run-1")
