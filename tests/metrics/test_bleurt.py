"""BLEURT: tiny random checkpoints of both shapes against a forward pass written out here."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from tests.embeddings.tiny_bert import SPECIAL, WORDS

from vivavoce.core.errors import MetricError
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.core.registry import build, signature
from vivavoce.embeddings.bleurt_model import BleurtModel
from vivavoce.metrics import ScoringContext

LAYERS, HEADS, WIDTH, EMBEDDED = 2, 2, 16, 8
PAIRS = [
    ("the patient was given iron", "the patient was given aspirin"),
    ("fever", "no fever and no cough"),
    ("iron " * 40, "aspirin"),
    ("5 mg daily", ""),
]


def checkpoint(folder: Path, kind: str, *, safe: bool = True, seed: int = 0, **changes: Any) -> Path:
    """A folder as the published conversions are: `bleurt` of the shape of BERT or of RemBERT, or `bert`."""
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel, RemBertConfig, RemBertModel

    letters = list("abcdefghijklmnopqrstuvwxyz0123456789.,;!?")
    vocabulary = [*SPECIAL, *WORDS.split(), *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    shape: dict[str, Any] = {
        **{"vocab_size": len(vocabulary), "hidden_size": WIDTH, "num_hidden_layers": LAYERS},
        **{"num_attention_heads": HEADS, "intermediate_size": 32, "max_position_embeddings": 64},
        **changes,
    }
    torch.manual_seed(seed)
    if kind == "rembert":
        model: Any = RemBertModel(
            RemBertConfig(input_embedding_size=EMBEDDED, initializer_range=0.5, **shape)
        )
        shape |= {"model_type": "bleurt", "embedding_size": EMBEDDED}
    else:
        model = BertModel(BertConfig(initializer_range=0.5, **shape))
        shape |= (
            {"model_type": "bleurt", "embedding_size": None} if kind == "bleurt" else {"model_type": "bert"}
        )
    prefix = "bert." if kind == "bert" else "bleurt."
    states = {
        prefix + name.replace("embedding_hidden_mapping_in", "embedding_projection"): tensor.contiguous()
        for name, tensor in model.state_dict().items()
    }
    states |= {"classifier.weight": torch.randn(1, WIDTH), "classifier.bias": torch.randn(1)}
    (folder / "config.json").write_text(json.dumps(shape), encoding="utf-8")
    if safe:
        save_file(states, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        torch.save(states, folder / "pytorch_model.bin")
    return folder


def by_hand(folder: Path, ids: list[int], types: list[int]) -> float:
    """The score in float64: embeddings, attention, feed-forward, pooler and head, line by line."""
    from safetensors.numpy import load_file

    weights = {k.partition(".")[2] if k[:5] in ("bleur", "bert.") else k: v.astype(np.float64)
               for k, v in load_file(folder / "model.safetensors").items()}  # fmt: skip

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
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x, "embeddings.LayerNorm")
    if "encoder.embedding_projection.weight" in weights:
        x = linear(x, "encoder.embedding_projection")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (heads(linear(x, f"{at}.attention.self.{part}")) for part in ("query", "key", "value"))
        logits = q @ k.transpose(0, 2, 1) / sqrt(WIDTH // HEADS)
        attention = np.exp(logits - logits.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        mixed = (attention @ v).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        x = norm(x + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        inner = linear(x, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / sqrt(2)))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    pooled = np.tanh(linear(x[0], "pooler.dense"))
    return float(weights["classifier.weight"][0] @ pooled + weights["classifier.bias"][0])


def row(answer: str, *references: str, candidate: str = "c") -> Row:
    item = Item(benchmark="b", item="i", format="short", question="Which?", references=references)
    return Row(item, Response(benchmark="b", item="i", candidate=candidate), Reading("ok", answer))


@pytest.mark.parametrize("kind", ["bleurt", "rembert", "bert"])
def test_a_score_is_that_of_a_forward_pass_by_hand(tmp_path: Path, kind: str) -> None:
    folder = checkpoint(tmp_path, kind)
    model = BleurtModel(folder)
    pairs = [model.pair(*texts) for texts in PAIRS]
    expected = [by_hand(folder, list(pair.ids), list(pair.types)) for pair in pairs]
    assert expected == pytest.approx(model.scores(pairs), abs=1e-4)
    assert len({round(value, 3) for value in expected}) == len(PAIRS)


def test_the_reference_stands_before_the_candidate(tmp_path: Path) -> None:
    model = BleurtModel(checkpoint(tmp_path, "bleurt"))
    vocabulary = (tmp_path / "vocab.txt").read_text(encoding="utf-8").split("\n")
    pair = model.pair("no Fever", "cough")
    assert ["[CLS]", "no", "fever", "[SEP]", "cough", "[SEP]"] == [vocabulary[k] for k in pair.ids]
    assert (0, 0, 0, 0, 1, 1) == pair.types


def test_batches_order_and_padding_tell_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = BleurtModel(checkpoint(tmp_path, "rembert"))
    pairs = [model.pair(*texts) for texts in PAIRS]
    together = model.scores(pairs)
    assert together == pytest.approx([model.scores([pair])[0] for pair in pairs], abs=1e-5)
    assert together == pytest.approx(model.scores(pairs[::-1])[::-1], abs=1e-5)
    monkeypatch.setattr("vivavoce.embeddings.bleurt_model.BUDGET", 1)
    assert together == pytest.approx(model.scores(pairs), abs=1e-5)


def test_the_longer_text_loses_its_end_until_the_pair_fits(tmp_path: Path) -> None:
    """As published: piece by piece from the longer one, from the candidate where both are as long."""
    model = BleurtModel(checkpoint(tmp_path, "bert", max_position_embeddings=600))
    for reference, candidate, lengths in (
        ("iron " * 600, "fever", (508, 1)),
        ("fever", "iron " * 600, (1, 508)),
        ("iron " * 400, "fever " * 300, (255, 254)),
    ):
        pair = model.pair(reference, candidate)
        assert (512, lengths) == (len(pair.ids), (sum(t == 0 for t in pair.types) - 2, sum(pair.types) - 1))
        assert pair.cut == len(reference.split()) + len(candidate.split()) - 509
    assert 0 == model.pair("iron " * 508, "fever").cut
    assert 64 == len(BleurtModel(checkpoint(tmp_path / "short", "bert")).pair("iron " * 99, "fever").ids)


def test_the_best_reference_counts_and_equal_pairs_pass_once(tmp_path: Path) -> None:
    metric: Any = build("metric", f"bleurt(weights='{checkpoint(tmp_path, 'bleurt')}')")
    context = ScoringContext()
    references = ("iron", "aspirin daily")
    values = metric.values(
        [row("iron", *references), row("iron", *references, candidate="d"), row("fever", "iron " * 90)],
        context,
    )
    alone = [
        metric.values([row("iron", reference)], ScoringContext())[0]["bleurt"].value
        for reference in references
    ]
    assert max(alone) == pytest.approx(values[0]["bleurt"].value, abs=1e-5)
    assert values[0] == values[1]
    assert {str(tmp_path): 3} == context.passes
    assert "the model reads 64 word pieces of a pair: 30 were not read" == values[2]["bleurt"].note
    assert [] == metric.values([], ScoringContext())


def test_a_pair_that_comes_again_in_a_later_batch_does_not_pass_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint(tmp_path, "bleurt")
    metric: Any = build("metric", f"bleurt(weights='{folder}')")
    alone: Any = build("metric", f"bleurt(weights='{folder}', dtype=float32)")
    texts = ("iron", "fever", "iron", "aspirin", "iron")
    context, values = ScoringContext(), []
    for text in texts:
        values += metric.values([row(text, "iron daily")], context)
        context.end_batch()
    assert {str(folder): 3} == context.passes
    assert values[0] == values[2] == values[4] != values[1]
    alone.values([row("iron", "iron daily")], context)
    assert {str(folder): 4} == context.passes  # another model in memory: its numbers are its own
    monkeypatch.setattr(ScoringContext, "MAX_RESULTS", 2)
    small = ScoringContext()
    assert values == [metric.values([row(text, "iron daily")], small)[0] for text in texts]
    assert {str(folder): 3} == small.passes


def test_a_pickle_is_read_without_running_it(tmp_path: Path) -> None:
    safe, pickled = checkpoint(tmp_path / "a", "bleurt"), checkpoint(tmp_path / "b", "bleurt", safe=False)
    a, b = BleurtModel(safe), BleurtModel(pickled)
    assert a.scores([a.pair("iron", "fever")]) == b.scores([b.pair("iron", "fever")])

    import torch

    torch.save({"bleurt.x": Trap(tmp_path / "ran")}, pickled / "pytorch_model.bin")
    with pytest.raises(MetricError, match="cannot be loaded as BLEURT"):
        BleurtModel(pickled)
    assert not (tmp_path / "ran").exists()


class Trap:
    """A pickle that makes a file where it is run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_tokenizer_json_is_read_as_the_vocabulary_is(tmp_path: Path) -> None:
    from tokenizers import BertWordPieceTokenizer

    model = BleurtModel(checkpoint(tmp_path, "bleurt"))
    written = BertWordPieceTokenizer(str(tmp_path / "vocab.txt"), lowercase=True)
    written.enable_truncation(4)
    written.enable_padding(length=9)
    written.save(str(tmp_path / "tokenizer.json"))
    assert model.pair(*PAIRS[0]) == BleurtModel(tmp_path).pair(*PAIRS[0])


@pytest.mark.parametrize(
    ("remove", "why"),
    [
        ("config.json", "has no config.json: put the files of a PyTorch conversion of BLEURT there"),
        ("vocab.txt", "has no tokenizer.json and no vocab.txt: put the files"),
        ("model.safetensors", r"cannot be loaded as BLEURT \(FileNotFoundError: no model.safetensors\): put"),
    ],
)
def test_missing_files_say_what_to_put_where(tmp_path: Path, remove: str, why: str) -> None:
    folder = checkpoint(tmp_path, "bleurt")
    (folder / remove).unlink()
    with pytest.raises(MetricError, match=why) as caught:
        BleurtModel(folder)
    assert str(folder) in str(caught.value)


def test_a_sentencepiece_file_alone_says_how_to_convert_it(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, "bleurt")
    (folder / "vocab.txt").rename(folder / "spm.model")
    with pytest.raises(MetricError, match=r"DebertaV2Tokenizer.*writes tokenizer.json from spm.model"):
        BleurtModel(folder)


def test_foreign_and_broken_checkpoints_are_one_sentence(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = checkpoint(tmp_path, "bleurt")
    config, weights = (folder / name for name in ("config.json", "model.safetensors"))
    states, shape = load_file(weights), json.loads(config.read_text(encoding="utf-8"))
    for text, why in (
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"model_type": "gpt2"}', "'gpt2'"),
    ):
        config.write_text(text, encoding="utf-8")
        with pytest.raises(MetricError, match=why):
            BleurtModel(folder)
    config.write_text(json.dumps(shape | {"auto_map": {"AutoModel": "evil.Model"}}), encoding="utf-8")
    BleurtModel(folder)  # nothing of the folder is run, whatever it names
    save_file({k: v for k, v in states.items() if "pooler" not in k}, weights)
    with pytest.raises(
        MetricError, match=r"its weights lack pooler.dense.\w+ and 1 more, which would be made"
    ):
        BleurtModel(folder)
    save_file({k: v for k, v in states.items() if "classifier" not in k}, weights)
    with pytest.raises(MetricError, match="cannot be loaded as BLEURT"):
        BleurtModel(folder)
    save_file({**states, "classifier.bias": states["classifier.bias"] * float("nan")}, weights)
    model = BleurtModel(folder)
    with pytest.raises(MetricError, match="scores that are no numbers"):
        model.scores([model.pair("iron", "fever")])


def test_the_signature_follows_the_weights(tmp_path: Path) -> None:
    spec = f"bleurt(weights='{tmp_path}')"
    checkpoint(tmp_path, "bleurt")
    first = signature(build("metric", spec))
    checkpoint(tmp_path, "bleurt", seed=1)
    assert first != signature(build("metric", spec))


def test_a_run_sets_silence_aside_and_names_a_missing_folder(tmp_path: Path) -> None:
    from vivavoce.run.run import Run

    run = Run(tmp_path / "r.viva")
    run.import_answers(
        [
            {"id": k, "model": model, "question": "Which?", "reference": "iron", "response": response}
            for k in ("1", "2") for model, response in (("A", "iron"), ("B", ""))
        ]
    )  # fmt: skip
    with pytest.raises(MetricError, match=r"nowhere has no config\.json"):
        run.score(f"bleurt(weights='{tmp_path / 'nowhere'}')")
    folder = checkpoint(tmp_path / "weights", "bleurt")
    found = {r["candidate"]: r for r in run.score(f"bleurt(weights='{folder}')").rows}
    assert (2, 0) == (found["A"]["n_items"], found["B"]["n_items"])
    assert None is found["B"]["estimate"]
