"""From a name to a model in memory: what its settings may be, where its files are, and what can go wrong.

The configuration and the tokeniser are read when the model is named, the weights when it is first asked. A
hub id that lies in the hub's own cache is read there as the folder it is, and nothing is sent to anybody: of
an id the readers ask the hub even where they are told to stay here.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import EgressError
from vivavoce.models import Broken
from vivavoce.models.local.batching import is_full
from vivavoce.net import permit
from vivavoce.text import one_line

__all__ = ["SETTINGS", "Settings", "Source", "configuration", "context_of", "quiet", "settled", "source",
           "tidied", "tokeniser", "weights"]  # fmt: skip

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
    checkpoint's. `load`: in 4 or 8 bits, on a GPU, by bitsandbytes. `revision` of a hub id. `batch`:
    requests run together, at most. `context`: tokens, fewer than the model has. `truncate=left`: a question
    that is too long loses its beginning, and the reply counts what it lost; null refuses it. `way`: how
    branches share what stands before them. `stride`: tokens by which the window moves over a text that is
    longer than the context, half of it by default. `chat_template`: null uses one where the tokeniser has it.
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
    """What tells a model's files apart from others under the same name; null where none lie here yet.

    The commit of a hub's snapshot. Of a folder a hash of its files' names and sizes, and of what they hold:
    whole up to 2 MiB, else their first and last MiB, which weights that were trained further do not share.
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


def settled(name: str, settings: Mapping[str, Any]) -> Settings:
    """The settings, checked against this machine. Raises `Broken`: wrong value, no torch, no such device."""
    missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
    if missing:
        raise Broken(f'{name} needs {" and ".join(missing)}: pip install "vivavoce[hf]".')
    own = {key: settings[key] for key in (*SETTINGS, "chat_template") if settings.get(key) is not None}
    for key, value in own.items():
        if key in _WORDS and value not in _WORDS[key]:
            raise Broken(f"{name}: {key} takes {' or '.join(_WORDS[key])}, not {value!r}.")
        if key in ("batch", "context", "stride") and (not isinstance(value, int) or value < 1):
            raise Broken(f"{name}: {key} takes a whole number, 1 or more, not {value!r}.")
    found = Settings(**{**own, "device": _device(name, own.get("device"))})
    if found.load:
        if not found.device.startswith("cuda"):
            raise Broken(
                f"{name}: load={found.load} needs a GPU, and the device is {found.device}; leave it out."
            )
        if find_spec("bitsandbytes") is None:
            raise Broken(
                f"{name}: load={found.load} needs bitsandbytes: pip install bitsandbytes accelerate."
            )
    return found


def _device(name: str, asked: str | None) -> str:
    import torch

    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if asked is None:
        return "cuda" if there else "cpu"
    try:
        device = torch.device(asked)
    except RuntimeError:
        raise Broken(f"{name}: device takes cpu, cuda, cuda:1 or mps, not {asked!r}.") from None
    if device.type == "cuda" and (device.index or 0) >= there:
        seen = f"torch sees {there or 'none'}"
        raise Broken(
            f"{name}: no GPU: device={asked} is asked for and {seen}; leave device out, or take cpu."
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise Broken(f"{name}: no GPU: device=mps is asked for and torch sees none; take device=cpu.")
    return asked


def source(name: str, model: str, revision: str | None) -> Source:
    """Where the model lies. Raises `Broken` for a folder without a model, and for what is not on this machine
    while nothing may be fetched.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if lacking := _lacking(folder):
            raise Broken(f"{name}: no {lacking} in {folder}: name a folder that save_pretrained wrote.")
        return Source(str(folder), None, str(folder))
    if model.startswith(("/", ".", "~")) or model.count("/") > 1:
        raise Broken(f"{name}: no folder {model}, and it is no hub id such as org/model.")
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model, "config.json", revision=revision)
    if isinstance(found, str) and not _lacking(Path(found).parent):
        return Source(model, revision, str(Path(found).parent))
    _permitted(name, model)
    return Source(model, revision, None)


def _lacking(folder: Path) -> str | None:
    """What a folder would need to be a model's; null if nothing."""
    if not (folder / "config.json").is_file():
        return "config.json"
    return None if any((folder / name).is_file() for name in _TOKENISERS) else "tokeniser (tokenizer.json)"


def configuration(name: str, at: Source) -> Any:
    """The model's configuration. Raises `Broken`, also for one that has code fetched from the hub."""
    from transformers import AutoConfig, PretrainedConfig

    stated, _ = _read(name, "configuration", at, PretrainedConfig.get_config_dict)
    for key, value in _implementations(stated):
        if "/" in value:  # transformers would fetch and run what a repository of that name holds
            raise Broken(
                f"{name}: its config.json takes code from the hub ({key}: {one_line(value, 80)}), which is "
                "not run: take that entry out, or name another model."
            )
    return _read(name, "configuration", at, AutoConfig.from_pretrained)


def _implementations(stated: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """What a configuration names as implementations of its parts, in whatever depth."""
    if isinstance(stated, Mapping):
        for inner, value in stated.items():
            yield from _implementations(value, key if "implementation" in key else str(inner))
    elif isinstance(stated, list):
        for value in stated:
            yield from _implementations(value, key)
    elif isinstance(stated, str) and "implementation" in key:
        yield key, stated


def tokeniser(name: str, at: Source, templated: bool | None) -> Any:
    """The model's tokeniser. Raises `Broken`, also where a chat template is asked for and it has none."""
    from transformers import AutoTokenizer

    found = _read(name, "tokeniser", at, AutoTokenizer.from_pretrained)
    if templated and not getattr(found, "chat_template", None):
        raise Broken(f"{name}: chat_template=true, and its tokeniser has no chat template; leave it out.")
    return found


def weights(
    name: str, at: Source, settings: Settings, *, encodes: bool, eos: int | None
) -> tuple[Any, frozenset[int]]:
    """The model on its device, ready to be asked, and the tokens that close an answer: its own and `eos`.

    Its habits of drawing (temperature, penalties, forced tokens) are left behind.

    Raises `Broken` where the files cannot be read, lack weights or do not fit.
    """
    import torch

    transformers = import_module("transformers")

    kind = transformers.AutoModelForSeq2SeqLM if encodes else transformers.AutoModelForCausalLM
    dtype = "auto" if settings.dtype == "auto" else getattr(torch, settings.dtype)
    named = "dtype" if hasattr(transformers.PretrainedConfig(), "dtype") else "torch_dtype"  # until 4.55
    config = configuration(name, at)  # handed on, so that what was looked at is what is followed
    given: dict[str, Any] = {"config": config, named: dtype, "output_loading_info": True}
    if settings.load:
        bits = {"load_in_4bit": True, "bnb_4bit_compute_dtype": torch.bfloat16}
        asked = bits if settings.load == "4bit" else {"load_in_8bit": True}
        given["quantization_config"] = transformers.BitsAndBytesConfig(**asked)
    if settings.device != "cpu" and find_spec("accelerate"):
        given["device_map"] = {"": settings.device}  # straight to the device, without a copy in between
    try:
        model, told = _read(name, "model", at, kind.from_pretrained, **given)
        if not settings.load:
            model = model.to(settings.device)
    except Exception as error:
        if not is_full(error):
            raise
        why = one_line(str(error), 160)
    else:
        if missing := sorted(told["missing_keys"]):
            shown = f"{missing[0]} and {len(missing) - 1} more" if len(missing) > 1 else missing[0]
            raise Broken(f"{name}: its files lack weights ({shown}), which would be made up: no such model.")
        return model.eval(), tidied(model, eos)
    raise Broken(
        f"{name}: not enough memory on {settings.device} to load it ({why}): take load=4bit, a shorter "
        "dtype, or a smaller model."
    )


def tidied(model: Any, eos: int | None) -> frozenset[int]:
    """What closes an answer: the model's own tokens and `eos`. Of how it is used to draw, only how an answer
    begins is left with it: what else it has, `generate` would follow.
    """
    habits, config = model.generation_config, model.config
    start = getattr(habits, "decoder_start_token_id", None)
    start = getattr(config, "decoder_start_token_id", None) if start is None else start
    found = _listed(habits.eos_token_id) | _listed(getattr(config, "eos_token_id", None)) | _listed(eos)
    model.generation_config = type(habits)(decoder_start_token_id=start)
    if start is not None:
        config.decoder_start_token_id = start
    return frozenset(found)


def _listed(token: Any) -> set[int]:
    return set() if token is None else set(token) if isinstance(token, list | tuple) else {int(token)}


def context_of(name: str, config: Any, made: Any, asked: int | None) -> int | None:
    """How many tokens the model takes: its own number, or fewer where asked; null where it has no bound.

    Raises `Broken` where more is asked than there is.
    """
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    told = [getattr(text, key, None) for key in _LENGTHS]
    own = next((int(n) for n in told if isinstance(n, int) and n > 0), None)
    if own is None and 0 < (made.model_max_length or 0) < 10**9:
        own = int(made.model_max_length)
    if asked and own and asked > own:
        raise Broken(f"{name}: context={asked} is more than the {own} tokens that the model takes.")
    return asked or own


def _read(name: str, what: str, at: Source, load: Callable[..., Any], **given: Any) -> Any:
    """Load a part, from this machine if it is there, else from the hub if that is allowed."""
    given = {**given, "trust_remote_code": False}  # said, or a terminal is asked
    revision = at.revision
    if at.folder:
        try:
            with quiet():
                return load(at.folder, local_files_only=True, **given)
        except OSError as error:
            if at.folder == at.where:
                raise _broken(name, what, error) from error
            revision = Path(at.folder).name  # the commit: what is fetched must go with what is here
        except Exception as error:
            if is_full(error):
                raise
            raise _broken(name, what, error) from error
    _permitted(name, at.where)
    try:
        with quiet():
            return load(at.where, **given, **({"revision": revision} if revision else {}))
    except Exception as error:
        if is_full(error):
            raise
        raise _broken(name, what, error) from error


def _permitted(name: str, model: str) -> None:
    try:
        permit(HUB)
    except EgressError as error:
        raise Broken(f"{name}: {model} is no folder, and not whole in the hub's cache; {error}") from error


def _broken(name: str, what: str, error: Exception) -> Broken:
    why = one_line(str(error).strip() or type(error).__name__, 200).rstrip(".")
    return Broken(
        f"{name}: its {what} cannot be loaded ({why}): name a folder with a model, or a hub id that "
        "can be reached."
    )


_lock = threading.Lock()
_silent, _loud = 0, ExitStack()


@contextmanager
def quiet() -> Iterator[None]:
    """Without the bars and notes that libraries write on a user's screen.

    How loud they are is one thing for all threads: the last that leaves sets it back.
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


def _hush(back: ExitStack) -> None:
    """Silence the libraries; `back` undoes it."""
    for library in ("transformers", "huggingface_hub"):
        logging = import_module(f"{library}.utils.logging")
        back.callback(logging.set_verbosity, logging.get_verbosity())
        logging.set_verbosity_error()
    bars = import_module("transformers.utils.logging")
    if bars.is_progress_bar_enabled():
        back.callback(bars.enable_progress_bar)
        bars.disable_progress_bar()
