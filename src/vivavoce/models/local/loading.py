"""From a name to a model in memory: its settings, its files, and what can go wrong.

The configuration and the tokeniser are read when the model is named, the weights at its first request. A hub
id in the hub's own cache is read there as the folder it is, and nothing is sent: for an id, the libraries
would ask the hub even where they are set to stay offline.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import EgressError
from vivavoce.core.net import permit
from vivavoce.core.text import one_line
from vivavoce.models.local.batching import is_out_of_memory
from vivavoce.models.requests import FatalError

SETTINGS: Mapping[str, tuple[type, ...]] = {
    "device": (str,),
    "dtype": (str,),
    "load": (str,),
    "revision": (str,),
    "batch": (int,),
    "context": (int,),
    "truncate": (str,),
    "way": (str,),
    "stride": (int,),
}
"""Settings of a model in this process, beside those of any candidate; `Settings` says what each is."""

_WORDS = {
    "dtype": ("auto", "float32", "bfloat16", "float16"),
    "load": ("4bit", "8bit"),
    "truncate": ("left",),
    "way": ("auto", "packed", "branched", "naive"),
}
_MIB = 1 << 20
HUB = "huggingface.co"
_TOKENISERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt",
               "vocab.json", "tekken.json")  # fmt: skip
_LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "n_ctx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a model is loaded and run.

    `device` as torch names it: cuda where there is a GPU, else cpu. `dtype` of the weights: auto is the
    checkpoint's. `load`: in 4 or 8 bits, on a GPU, by bitsandbytes. `revision` of a hub id. `batch`: requests
    run together, at most. `context`: tokens, fewer than the model has. `truncate=left`: a question that is
    too long loses its beginning, and the reply counts the lost tokens; null rejects it. `way`: how branches
    share the text before them. `stride`: tokens by which the window moves over a text that is longer than the
    context, half of it by default. `chat_template`: null uses one where the tokeniser has it.
    """

    device: str
    dtype: str = "auto"
    load: str | None = None
    revision: str | None = None
    batch: int = 16
    context: int | None = None
    truncate: str | None = None
    way: str = "auto"
    stride: int | None = None
    chat_template: bool | None = None


class Source(NamedTuple):
    """Where a model's files are: a folder, or a hub id.

    `folder` holds what is small: the folder itself, or the snapshot in the hub's cache; null if there is
    none on this machine.
    """

    where: str
    revision: str | None
    folder: str | None


def fingerprint(at: Source) -> str | None:
    """An identifier of a model's files, to tell models of the same name apart; null where none are here yet.

    The commit of a hub's snapshot. For a folder a hash of its files' names, sizes and content: all of it up
    to 2 MiB, else the first and last MiB, which differ for weights that were trained further.
    """
    if at.folder is None:
        return None
    folder = Path(at.folder)
    if folder.parent.name == "snapshots":
        return folder.name[:16]
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.iterdir() if p.is_file()):
        size = file.stat().st_size
        digest.update(f"{file.name} {size} ".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            digest.update(stream.read(min(size, _MIB * (2 if size <= 2 * _MIB else 1))))
            if size > 2 * _MIB:
                stream.seek(-_MIB, 2)
                digest.update(stream.read())
    return digest.hexdigest()[:16]


def resolve_settings(name: str, settings: Mapping[str, Any]) -> Settings:
    """The settings, checked against this machine. Raises `FatalError` where it lacks something."""
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if missing:
        raise FatalError(f'{name} needs {" and ".join(missing)}: pip install "vivavoce[hf]".')
    given_settings = {
        key: settings[key] for key in (*SETTINGS, "chat_template") if settings.get(key) is not None
    }
    for key, value in given_settings.items():
        if key in _WORDS and value not in _WORDS[key]:
            raise FatalError(f"{name}: {key} takes {' or '.join(_WORDS[key])}, not {value!r}.")
        if key in ("batch", "context", "stride") and (not isinstance(value, int) or value < 1):
            raise FatalError(f"{name}: {key} takes a whole number, 1 or more, not {value!r}.")
    resolved = Settings(**{**given_settings, "device": _device(name, given_settings.get("device"))})
    if resolved.load:
        _check_quantisation(name, resolved)
    return resolved


def _check_quantisation(name: str, settings: Settings) -> None:
    """Raise `FatalError` where this machine cannot load in 4 or 8 bits."""
    if not settings.device.startswith("cuda"):
        raise FatalError(
            f"{name}: load={settings.load} needs a GPU, and the device is {settings.device}; leave it out."
        )
    if find_spec("bitsandbytes") is None:
        raise FatalError(
            f"{name}: load={settings.load} needs bitsandbytes: pip install bitsandbytes accelerate."
        )


def _device(name: str, requested: str | None) -> str:
    """The device as torch names it. Raises `FatalError` for one that is not there."""
    import torch

    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if requested is None:
        return "cuda" if n_gpus else "cpu"
    try:
        device = torch.device(requested)
    except RuntimeError:
        raise FatalError(f"{name}: device takes cpu, cuda, cuda:1 or mps, not {requested!r}.") from None
    if device.type == "cuda" and (device.index or 0) >= n_gpus:
        raise FatalError(
            f"{name}: no GPU: device={requested} is asked for and torch sees {n_gpus or 'none'}; leave "
            "device out, or take cpu."
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise FatalError(f"{name}: no GPU: device=mps is asked for and torch sees none; take device=cpu.")
    return requested


def source(name: str, model: str, revision: str | None) -> Source:
    """Where the model lies.

    Raises `FatalError` for a folder without a model, and for a model that is not on this machine while
    nothing may be fetched.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if missing := _missing_file(folder):
            raise FatalError(f"{name}: no {missing} in {folder}: name a folder that save_pretrained wrote.")
        return Source(str(folder), None, str(folder))
    if is_path(model):
        raise FatalError(f"{name}: no folder {model}, and it is no hub id such as org/model.")
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(model, "config.json", revision=revision)
    if isinstance(config, str) and not _missing_file(Path(config).parent):
        return Source(model, revision, str(Path(config).parent))
    require_network(name, model)
    return Source(model, revision, None)


def is_path(model: str) -> bool:
    """True for what can be no hub id: an absolute or home path, one that begins with a dot, or a deep one."""
    return os.path.isabs(model) or model.startswith((".", "~")) or model.count("/") > 1


def _missing_file(folder: Path) -> str | None:
    """The file that a folder lacks to be a model's; null if none."""
    if not (folder / "config.json").is_file():
        return "config.json"
    return None if any((folder / name).is_file() for name in _TOKENISERS) else "tokeniser (tokenizer.json)"


def configuration(name: str, at: Source) -> Any:
    """The model's configuration. Raises `FatalError`, also for one that fetches code from the hub."""
    from transformers import AutoConfig, PretrainedConfig

    raw_config, _ = _load_part(name, "configuration", at, PretrainedConfig.get_config_dict)
    for key, value in _implementations(raw_config):
        if "/" in value:  # transformers would fetch and run what a repository of that name holds
            raise FatalError(
                f"{name}: its config.json takes code from the hub ({key}: {one_line(value, 80)}), which is "
                "not run: take that entry out, or name another model."
            )
    return _load_part(name, "configuration", at, AutoConfig.from_pretrained)


def _implementations(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The implementations that a configuration names for its parts, at any depth."""
    if isinstance(node, Mapping):
        for inner, value in node.items():
            yield from _implementations(value, key if "implementation" in key else str(inner))
    elif isinstance(node, list):
        for value in node:
            yield from _implementations(value, key)
    elif isinstance(node, str) and "implementation" in key:
        yield key, node


def tokeniser(name: str, at: Source, templated: bool | None) -> Any:
    """The model's tokeniser. Raises `FatalError`, also where a chat template is required and it has none."""
    from transformers import AutoTokenizer

    loaded = _load_part(name, "tokeniser", at, AutoTokenizer.from_pretrained)
    if templated and not getattr(loaded, "chat_template", None):
        raise FatalError(f"{name}: chat_template=true, and its tokeniser has no chat template; leave it out.")
    return loaded


def weights(
    name: str, at: Source, settings: Settings, *, encodes: bool, eos: int | None
) -> tuple[Any, frozenset[int]]:
    """The model on its device, ready to be asked, and the tokens that close a response: its own and `eos`.

    Its own generation settings (temperature, penalties, forced tokens) are dropped.

    Raises `FatalError` where the files cannot be read, lack weights or do not fit.
    """
    transformers = import_module("transformers")
    model_class = transformers.AutoModelForSeq2SeqLM if encodes else transformers.AutoModelForCausalLM
    model = load_model(name, at, settings, model_class)
    return model, reset_generation_config(model, eos)


def load_model(
    name: str, at: Source, settings: Settings, model_class: Any, *, unused: str | None = None
) -> Any:
    """The model of this class on its device, ready to be asked. `unused` begins the names of idle weights.

    Raises `FatalError` where the files cannot be read, lack weights that are used, or do not fit.
    """
    arguments = _load_arguments(import_module("transformers"), configuration(name, at), settings)
    try:
        model, info = _load_part(name, "model", at, model_class.from_pretrained, **arguments)
        if not settings.load:
            model = model.to(settings.device)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        reason = one_line(str(error), 160)
    else:
        _require_all_weights(
            name, (key for key in info["missing_keys"] if unused is None or not key.startswith(unused))
        )
        return model.eval()
    # Outside the except block, because the error holds what was loaded until then.
    raise FatalError(
        f"{name}: not enough memory on {settings.device} to load it ({reason}): take load=4bit, a shorter "
        "dtype, or a smaller model."
    )


def _load_arguments(transformers: Any, config: Any, settings: Settings) -> dict[str, Any]:
    """The arguments of `from_pretrained`; the configuration is handed on, so that the checked one is used."""
    import torch

    dtype_name = "dtype" if hasattr(transformers.PretrainedConfig(), "dtype") else "torch_dtype"  # until 4.55
    dtype = "auto" if settings.dtype == "auto" else getattr(torch, settings.dtype)
    arguments: dict[str, Any] = {"config": config, dtype_name: dtype, "output_loading_info": True}
    if settings.load:
        bits: dict[str, Any] = {"load_in_8bit": True}
        if settings.load == "4bit":
            bits = {"load_in_4bit": True, "bnb_4bit_compute_dtype": torch.bfloat16}
        arguments["quantization_config"] = transformers.BitsAndBytesConfig(**bits)
    if settings.device != "cpu" and find_spec("accelerate"):
        arguments["device_map"] = {"": settings.device}  # straight to the device, without a copy in between
    return arguments


def _require_all_weights(name: str, missing_keys: Iterable[str]) -> None:
    if missing := sorted(missing_keys):
        listed = f"{missing[0]} and {len(missing) - 1} more" if len(missing) > 1 else missing[0]
        raise FatalError(f"{name}: its files lack weights ({listed}), which would be made up: no such model.")


def reset_generation_config(model: Any, eos: int | None) -> frozenset[int]:
    """The tokens that close a response: the model's own and `eos`.

    Of its generation settings only the token that starts a response stays with the model, because `generate`
    would follow the others.
    """
    habits, config = model.generation_config, model.config
    start = getattr(habits, "decoder_start_token_id", None)
    start = getattr(config, "decoder_start_token_id", None) if start is None else start
    closing = (
        _token_set(habits.eos_token_id) | _token_set(getattr(config, "eos_token_id", None)) | _token_set(eos)
    )
    model.generation_config = type(habits)(decoder_start_token_id=start)
    if start is not None:
        config.decoder_start_token_id = start
    return frozenset(closing)


def _token_set(token: Any) -> set[int]:
    if token is None:
        return set()
    return set(token) if isinstance(token, list | tuple) else {int(token)}


def context_of(name: str, config: Any, tokeniser: Any, requested: int | None) -> int | None:
    """How many tokens the model takes: its own limit, or fewer if requested; null where it has no limit.

    Raises `FatalError` where more is requested than it takes.
    """
    limit = _own_context(config, tokeniser)
    if requested and limit and requested > limit:
        raise FatalError(f"{name}: context={requested} is more than the {limit} tokens that the model takes.")
    return requested or limit


def _own_context(config: Any, tokeniser: Any) -> int | None:
    """The context that a configuration states under one of several names, or else the tokeniser."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    for key in _LENGTHS:
        length = getattr(text, key, None)
        if isinstance(length, int) and length > 0:
            return int(length)
    length = tokeniser.model_max_length or 0
    return int(length) if 0 < length < 10**9 else None  # a tokeniser without a limit states a huge number


def longest_input(model: Any, tokenizer: Any, context: int | None) -> int | None:
    """The word pieces that a model takes: what its tokeniser says, and never more than it has places for."""
    embeddings = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    if context is not None and padding is not None:
        context -= padding + 1  # as in RoBERTa, where places are counted from the padding's on
    limit = min(context or 10**9, tokenizer.model_max_length or 10**9)
    return int(limit) if limit < 10**9 else None


def _load_part(name: str, part: str, at: Source, load: Callable[..., Any], **arguments: Any) -> Any:
    """Load a part, from this machine if it is here, else from the hub if that is allowed."""
    arguments = {**arguments, "trust_remote_code": False}  # said, or a terminal is asked
    revision = at.revision
    if at.folder:
        try:
            with quiet():
                return load(at.folder, local_files_only=True, **arguments)
        except OSError as error:
            if at.folder == at.where:
                raise load_error(name, part, error) from error
            revision = Path(at.folder).name  # the commit: what is fetched must go with what is here
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise load_error(name, part, error) from error
    require_network(name, at.where)
    try:
        with quiet():
            return load(at.where, **arguments, **({"revision": revision} if revision else {}))
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise load_error(name, part, error) from error


def require_network(name: str, model: str) -> None:
    """Raise `FatalError` if nothing may be fetched from the hub."""
    try:
        permit(HUB)
    except EgressError as error:
        raise FatalError(
            f"{name}: {model} is no folder, and not whole in the hub's cache; {error}"
        ) from error


def load_error(name: str, what: str, error: Exception) -> FatalError:
    """The error for a part of a model that cannot be loaded."""
    reason = one_line(str(error).strip() or type(error).__name__, 200).rstrip(".")
    return FatalError(
        f"{name}: its {what} cannot be loaded ({reason}): name a folder with a model, or a hub id that "
        "can be reached."
    )


_lock = threading.Lock()
_silent, _loud = 0, ExitStack()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and notes of libraries.

    Verbosity is one setting for all threads: the last that leaves restores it.
    """
    global _silent
    with _lock:
        if not _silent:
            _hush(_loud)
        _silent += 1
    try:
        yield
    finally:
        with _lock:
            _silent -= 1
            if not _silent:
                _loud.close()


def _hush(restore: ExitStack) -> None:
    """Silence the libraries; `restore` undoes it."""
    for library in ("transformers", "huggingface_hub"):
        logging = import_module(f"{library}.utils.logging")
        restore.callback(logging.set_verbosity, logging.get_verbosity())
        logging.set_verbosity_error()
    bars = import_module("transformers.utils.logging")
    if bars.is_progress_bar_enabled():
        restore.callback(bars.enable_progress_bar)
        bars.disable_progress_bar()
