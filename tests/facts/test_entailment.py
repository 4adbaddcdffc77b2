"""The entailment checker: a tiny random classifier against a forward pass by hand, and its verdicts."""

import json
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, softmax
from tests.embeddings.tiny_bert import SPECIAL, WORDS

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.evidence import Evidence
from vivavoce.facts.checker import Claim
from vivavoce.facts.checkers import checker_of
from vivavoce.facts.entailment import Entailment, EntailmentModel, judged
from vivavoce.facts.fact import Answer, Cleaned, Fact, Verdict

LAYERS, HEADS, WIDTH = 2, 2, 16
LABELS = ("contradiction", "entailment", "neutral")
PAIRS = [
    ("the patient was given iron", "the patient was given aspirin"),
    ("fever and no cough", "fever"),
    ("iron " * 80, "aspirin"),
    ("", "5 mg daily"),
]
ANSWER = Answer("i", "c", 1, "Which?", Cleaned("ok", ("Iron.",), ()))


def checkpoint(folder: Path, labels: Sequence[str] = LABELS, *, seed: int = 3, **changes: Any) -> Path:
    """A folder as `save_pretrained` writes it: a classifier of BERT's shape with random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.set_num_threads(1)
    letters = list("abcdefghijklmnopqrstuvwxyz0123456789.,;!?")
    vocabulary = [*SPECIAL, *WORDS.split(), *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(seed)
    config = BertConfig(
        **{"vocab_size": len(vocabulary), "hidden_size": WIDTH, "num_hidden_layers": LAYERS},
        **{"num_attention_heads": HEADS, "intermediate_size": 32, "max_position_embeddings": 64},
        **{"initializer_range": 0.8, "num_labels": len(labels), "id2label": dict(enumerate(labels))},
        **changes,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def by_hand(folder: Path, ids: list[int], types: list[int]) -> Any:
    """The probabilities in float64: embeddings, attention, feed-forward, pooler and head, line by line."""
    from safetensors.numpy import load_file

    weights = {
        name.removeprefix("bert."): values.astype(np.float64)
        for name, values in load_file(folder / "model.safetensors").items()
    }

    def linear(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x: Any) -> Any:
        return x.reshape(len(ids), HEADS, WIDTH // HEADS).transpose(1, 0, 2)

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.token_type_embeddings.weight"][types]
    x = norm(x + weights["embeddings.position_embeddings.weight"][: len(ids)], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (heads(linear(x, f"{at}.attention.self.{part}")) for part in ("query", "key", "value"))
        attention = softmax(q @ k.transpose(0, 2, 1) / sqrt(WIDTH // HEADS), axis=-1)
        mixed = (attention @ v).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = norm(x + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        inner = linear(x, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / sqrt(2)))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return softmax(linear(np.tanh(linear(x[0], "pooler.dense")), "classifier"))


def passage(text: str) -> Evidence:
    return Evidence("docs", "v", "a.txt", None, 0, text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("nli"))


def test_a_label_is_that_of_a_forward_pass_by_hand(folder: Path) -> None:
    model = EntailmentModel(folder)
    results = model.compare(PAIRS)
    for (premise, hypothesis), result in zip(PAIRS, results, strict=True):
        ids = model._ids(premise, hypothesis)
        assert ids is not None
        shares = by_hand(folder, list(ids["input_ids"]), list(ids["token_type_ids"]))
        assert (LABELS[int(shares.argmax())], pytest.approx(shares.max(), abs=1e-4)) == tuple(result)
    assert len({round(result.probability, 3) for result in results}) == len(PAIRS) == model.passes


def test_a_premise_loses_its_end_and_a_hypothesis_never(folder: Path) -> None:
    model = EntailmentModel(folder)
    ids = model._ids("iron " * 80, "fever")
    assert ids is not None
    assert 64 == len(ids["input_ids"])
    assert [Entailment(None)] == model.compare([("iron", "fever " * 80)])


def test_order_and_company_of_pairs_change_nothing(folder: Path) -> None:
    model = EntailmentModel(folder)
    together, alone = model.compare(PAIRS), [model.compare([pair])[0] for pair in PAIRS]
    assert (
        [r.label for r in alone]
        == [r.label for r in together]
        == [r.label for r in model.compare(PAIRS[::-1])][::-1]
    )
    assert [r.probability for r in alone] == pytest.approx([r.probability for r in together], abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), "LABEL_0, LABEL_1, LABEL_2"),
        (("entailment", "not_entailment"), "entailment, not_entailment"),
        (("entailment", "neutral", "neutral"), "entailment, neutral, neutral"),
    ],
)
def test_labels_that_are_not_clear_are_refused(tmp_path: Path, labels: Sequence[str], names: str) -> None:
    with pytest.raises(
        MetricError, match=f"names the labels {names}, and entailment, neutral and contradiction"
    ):
        EntailmentModel(checkpoint(tmp_path, labels))


def test_labels_may_be_in_any_order_and_case(tmp_path: Path) -> None:
    model = EntailmentModel(checkpoint(tmp_path, ("ENTAILMENT", "Neutral", "contradiction")))
    assert ("entailment", "neutral", "contradiction") == model.labels


def test_broken_weights_give_no_verdict(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = checkpoint(tmp_path)
    states = load_file(folder / "model.safetensors")
    states["classifier.bias"][:] = float("nan")
    save_file(states, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MetricError, match="probabilities that are no numbers"):
        EntailmentModel(folder).compare(PAIRS)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"nli: .*none: no folder "):
        checker_of(f"nli(weights='{tmp_path}/none')").prepare(passages=True)


def test_it_cannot_check_without_passages(folder: Path) -> None:
    checker = checker_of(f"nli(weights='{folder}')")
    with pytest.raises(
        InputError, match=r"compares facts with passages, and there are none: give a folder with source="
    ):
        checker.prepare(passages=False)
    none = Verdict("unverifiable", "no passage of the source bears on it")
    assert (none, none) == checker.verdicts(
        ANSWER, [Fact(1, "A"), Fact(2, "B")], [Claim("A", ()), Claim("B")]
    )


def test_each_distinct_pair_passes_once(folder: Path) -> None:
    checker = checker_of(f"nli(weights='{folder}')")
    asked: list[object] = []

    def once(function: Any, inputs: Any, name: str) -> Any:
        asked.extend(distinct := list(dict.fromkeys(inputs)))
        return dict(zip(distinct, function(distinct), strict=True))

    claim = Claim("fever", (passage("no fever"), passage("iron")))
    verdicts = checker.verdicts(ANSWER, [Fact(1, "fever")] * 2, [claim, claim], once)
    assert [("no fever", "fever"), ("iron", "fever")] == asked
    assert verdicts[0] == verdicts[1]


@pytest.mark.parametrize(
    ("labels", "word", "reason"),
    [
        (["entailment", "neutral"], "supported", None),
        (["neutral", "contradiction"], "contradicted", None),
        (["neutral", "neutral"], "unverifiable", "no passage entails or contradicts it"),
        (
            ["entailment", "contradiction"],
            "unverifiable",
            "the passages disagree: one entails it, one contradicts it",
        ),
        ([None, None], "unverifiable", "it is longer than the 64 tokens that the model reads"),
        ([None, "entailment"], "supported", None),
    ],
)
def test_the_best_passage_decides_unless_passages_disagree(
    labels: list[Any], word: str, reason: str | None
) -> None:
    claim = Claim("f", (passage("a"), passage("b")))
    results = {
        (p.quote, "f"): Entailment(label) for p, label in zip(claim.passages or (), labels, strict=True)
    }
    verdict = judged(claim, results, 64)
    assert (word, reason) == verdict[:2]
    bearings = {"entailment": "supports", "contradiction": "contradicts"}
    assert [bearings.get(label, "shown") for label in labels] == [e.bearing for e in verdict.evidence]


def test_equal_probabilities_are_neutral(folder: Path) -> None:
    assert "neutral" == EntailmentModel(folder)._label([0.4, 0.4, 0.2]).label


def test_the_weights_are_part_of_the_signature(folder: Path) -> None:
    assert (folder,) == checker_of(f"nli(weights='{folder}')").files
    assert (
        "BertForSequenceClassification" in json.loads((folder / "config.json").read_text())["architectures"]
    )
