"""Bad input to a model in this process: each is one sentence, and says what to do."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.models.local.families import CONTEXT, saved

from vivavoce.core import net
from vivavoce.models.local import connect, loading
from vivavoce.models.local.loading import (
    configuration,
    context_of,
    reset_generation_config,
    resolve_settings,
    source,
    tokeniser,
    weights,
)
from vivavoce.models.requests import FatalError

torch, transformers = lazy_module("torch"), lazy_module("transformers")
pytestmark = pytest.mark.usefixtures("one_thread")

NAME = "hf/some"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return saved(tmp_path_factory.mktemp("models"), "llama")


COMMIT = "0123456789012345678901234567890123456789"


@pytest.fixture
def cached(tmp_path, folder, monkeypatch) -> Path:
    """The snapshot of org/some in a hub's cache of its own."""
    inside = tmp_path / "hub" / "models--org--some"
    snapshot = inside / "snapshots" / COMMIT
    shutil.copytree(folder, snapshot)
    (inside / "refs").mkdir()
    (inside / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(
        "huggingface_hub.constants.HF_HUB_OFFLINE", False
    )  # as in a notebook that has imported it before
    return snapshot


@pytest.fixture
def reached(monkeypatch) -> list[str]:
    """The hosts that were looked up; none is found."""
    hosts = []

    def lookup(host, *args, **given):
        hosts.append(host)
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return hosts


def loaded(folder: Path, **settings):
    at = source(NAME, str(folder), None)
    return weights(NAME, at, resolve_settings(NAME, {"device": "cpu", **settings}), encodes=False, eos=None)


def test_a_folder_without_a_model_says_what_it_lacks(tmp_path):
    with pytest.raises(
        FatalError, match=r"hf/some: no config.json in .*: name a folder that save_pretrained wrote"
    ):
        source(NAME, str(tmp_path), None)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FatalError, match=r"no tokeniser \(tokenizer.json\) in"):
        source(NAME, str(tmp_path), None)


@pytest.mark.parametrize("model", ["./no/where", "/no/where", "~/no-where", "a/b/c"])
def test_a_path_that_is_no_folder_is_not_looked_up_anywhere(model):
    with pytest.raises(FatalError, match=r"no folder .*, and it is no hub id"):
        source(NAME, model, None)


def test_a_hub_id_that_is_not_here_is_not_fetched_offline(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with (
        net.offline(),
        pytest.raises(FatalError, match="org/some is no folder, and not whole in the hub's cache; off"),
    ):
        connect(NAME, "org/some", {})


def test_a_hub_that_cannot_be_reached_is_said_in_one_sentence(tmp_path, monkeypatch):
    def unreachable(*args, **given):
        raise OSError("We couldn't connect to 'https://huggingface.co' to load the files.\nCheck your line.")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(transformers.PretrainedConfig, "get_config_dict", unreachable)
    with pytest.raises(
        FatalError, match=r"its configuration cannot be loaded .We couldn't connect"
    ) as caught:
        connect(NAME, "org/some", {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("off", [False, True])
@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_hub_id_in_the_cache_is_read_there_and_nobody_is_asked(cached, reached, off, revision):
    with net.offline(off):
        model = connect(NAME, "org/some", {"device": "cpu", **({"revision": revision} if revision else {})})
        loaded, _ = model._model()
    assert "llama" == loaded.config.model_type
    assert [] == reached


def test_weights_that_are_not_in_the_cache_are_not_fetched_offline(cached, reached):
    (cached / "model.safetensors").unlink()
    with net.offline():
        model = connect(NAME, "org/some", {"device": "cpu"})
        with pytest.raises(FatalError, match="org/some is no folder, and not whole in the hub's cache; off"):
            model._model()
    assert [] == reached


def test_weights_that_are_fetched_go_with_the_configuration_that_is_here(cached, folder, monkeypatch):
    read, asked = transformers.AutoModelForCausalLM.from_pretrained, []

    def fetched(where, **given):
        asked.append((where, given.get("revision")))
        return read(folder if where == "org/some" else where, **given)

    (cached / "model.safetensors").unlink()
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", fetched)
    connect(NAME, "org/some", {"device": "cpu"})._model()
    assert [(str(cached), None), ("org/some", COMMIT)] == asked


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    with pytest.raises(FatalError, match=r'hf/some needs torch: pip install "vivavoce\[hf\]"\.'):
        resolve_settings(NAME, {})


@each_case(
    ("settings", "why"),
    [
        ({"dtype": "float8"}, "dtype takes auto or float32 or bfloat16 or float16, not 'float8'"),
        ({"load": "2bit"}, "load takes 4bit or 8bit"),
        ({"truncate": "right"}, "truncate takes left"),
        ({"way": "fast"}, "way takes auto or packed"),
        ({"batch": 0}, "batch takes a whole number, 1 or more, not 0"),
        ({"context": -1}, "context takes a whole number"),
        ({"device": "gpu"}, "device takes cpu, cuda, cuda:1 or mps, not 'gpu'"),
        ({"device": "cuda:99"}, "no GPU: device=cuda:99 is asked for and torch sees"),
        ({"load": "4bit", "device": "cpu"}, "load=4bit needs a GPU, and the device is cpu"),
    ],
)
def test_settings_that_cannot_be_met_are_said_before_anything_is_loaded(settings, why):
    with pytest.raises(FatalError, match=why):
        resolve_settings(NAME, settings)


def test_four_bits_without_bitsandbytes_say_what_to_install(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(loading, "find_spec", lambda n: None if n == "bitsandbytes" else find_spec(n))
    with pytest.raises(FatalError, match="load=4bit needs bitsandbytes: pip install bitsandbytes accelerate"):
        resolve_settings(NAME, {"load": "4bit"})


def test_without_a_gpu_the_processor_is_taken(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "cpu" == resolve_settings(NAME, {}).device


def test_a_chat_template_asked_of_a_model_without_one(folder):
    with pytest.raises(FatalError, match="chat_template=true, and its tokeniser has no chat template"):
        connect(NAME, str(folder), {"chat_template": True})


def test_a_context_is_the_models_or_less(folder):
    at = source(NAME, str(folder), None)
    config, made = configuration(NAME, at), tokeniser(NAME, at, None)
    assert CONTEXT == context_of(NAME, config, made, None)
    assert 100 == context_of(NAME, config, made, 100)
    with pytest.raises(FatalError, match=f"context=513 is more than the {CONTEXT} tokens"):
        context_of(NAME, config, made, CONTEXT + 1)


def test_a_stride_is_no_longer_than_the_context(folder):
    with pytest.raises(FatalError, match="stride=101 is more than the context of 100"):
        connect(NAME, str(folder), {"context": 100, "stride": 101})


def test_weights_that_are_not_there_are_not_made_up(tmp_path, folder):
    from safetensors.torch import load_file, save_file

    lame = tmp_path / "lame"
    shutil.copytree(folder, lame)
    kept = {
        key: value for key, value in load_file(lame / "model.safetensors").items() if "layers.1" not in key
    }
    save_file(kept, lame / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(FatalError, match=r"its files lack weights \(model.layers.1.* and \d+ more\)"):
        loaded(lame)


def test_files_that_are_no_weights_are_said_to_be_unreadable(tmp_path, folder):
    lame = tmp_path / "lame"
    shutil.copytree(folder, lame)
    (lame / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(FatalError, match="its model cannot be loaded"):
        loaded(lame)


def test_a_broken_tokeniser_is_said_to_be_unreadable(tmp_path, folder):
    lame = tmp_path / "lame"
    shutil.copytree(folder, lame)
    (lame / "tokenizer.json").write_text("{")
    with pytest.raises(FatalError, match="its tokeniser cannot be loaded"):
        connect(NAME, str(lame), {})


def test_no_memory_for_the_weights_is_said_with_what_helps(folder, monkeypatch):
    def full(*args, **given):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 14.00 GiB.")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(
        FatalError, match=r"not enough memory on cpu to load it .*14\.00 GiB.*: take load=4bit"
    ):
        loaded(folder)


def test_weights_come_as_the_checkpoint_has_them_or_as_asked(folder):
    assert torch.float32 == loaded(folder)[0].dtype
    assert torch.bfloat16 == loaded(folder, dtype="bfloat16")[0].dtype


def test_a_models_own_habits_of_drawing_are_left_behind_but_not_its_ends(folder):
    model, _ = loaded(folder)
    model.generation_config = transformers.GenerationConfig(
        do_sample=True, temperature=0.6, repetition_penalty=1.3, min_new_tokens=5, eos_token_id=[7, 9]
    )
    assert {2, 7, 9, 11} == reset_generation_config(model, 11)
    told = {k: v for k, v in model.generation_config.to_diff_dict().items() if k != "transformers_version"}
    assert {} == {k: v for k, v in told.items() if v is not None}


def test_a_tokeniser_of_other_peoples_code_is_not_run(tmp_path, folder):
    lame = tmp_path / "lame"
    shutil.copytree(folder, lame)
    config = json.loads((lame / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}
    (lame / "config.json").write_text(json.dumps(config))
    (lame / "own.py").write_text("raise SystemExit('run')")
    with pytest.raises(FatalError, match="its configuration cannot be loaded"):
        connect(NAME, str(lame), {})
    assert "own" not in sys.modules


@pytest.mark.parametrize(
    "stated",
    [
        {"attn_implementation": "evil/kernel"},
        {"_attn_implementation": "evil/kernel@v1:run"},
        {"_attn_implementation_internal": "paged|evil/kernel"},
        {"experts_implementation": "evil/kernel"},
        {"attn_implementation": {"": "sdpa", "text_config": "evil/kernel"}},
        {"text_config": {"_attn_implementation": "evil/kernel"}},
    ],
)
def test_a_configuration_that_takes_code_from_the_hub_is_refused(tmp_path, folder, stated, monkeypatch):
    def built(*args, **given):
        raise SystemExit("acted on")

    lame = tmp_path / "lame"
    shutil.copytree(folder, lame)
    config = json.loads((lame / "config.json").read_text())
    (lame / "config.json").write_text(json.dumps(config | stated))
    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", built)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", built)
    for tried in (lambda: connect(NAME, str(lame), {}), lambda: loaded(lame)):
        with pytest.raises(
            FatalError, match=r"hf/some: its config.json takes code from the hub .*evil/kernel.*"
        ):
            tried()


def test_an_implementation_of_transformers_own_is_taken(tmp_path, folder):
    own = tmp_path / "own"
    shutil.copytree(folder, own)
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(config | {"attn_implementation": "eager"}))
    assert "eager" == loaded(own)[0].config._attn_implementation


def test_the_torch_that_is_asked_for_does_not_run_code_in_pickled_weights():
    # CVE-2025-32434: weights_only of torch 2.5.1 and before can be got round
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    (torch,) = (d for d in project["project"]["optional-dependencies"]["hf"] if d.startswith("torch>="))
    assert (2, 6) <= tuple(map(int, torch.removeprefix("torch>=").split(".")))


def test_libraries_are_as_loud_as_before_when_the_last_has_loaded():
    from transformers.utils import logging

    before = logging.get_verbosity()
    with loading.quiet():
        with loading.quiet():
            assert logging.ERROR == logging.get_verbosity()
        assert logging.ERROR == logging.get_verbosity()
    assert before == logging.get_verbosity()
    assert logging.is_progress_bar_enabled()


def test_no_library_writes_on_the_terminal(tmp_path, folder):
    exam = tmp_path / "exam.jsonl"
    asked = "What is the first treatment? " * 200
    exam.write_text(json.dumps({"id": "a", "format": "short", "question": asked, "answer": "fluids"}) + "\n")
    words = ["collect", tmp_path / "run.viva", f"jsonl(path={exam})", "--max-tokens", 4, "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "vivavoce", *map(str, words), "--model", f"hf/{folder}(truncate=left)"],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert (0, "") == (done.returncode, done.stderr)
