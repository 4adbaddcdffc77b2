"""The folder of trained evaluators: `DIR/MIXTURE/run-1`, `run-2` …, and `lexical.json` beside the runs.

A run is an encoder with its tokeniser as transformers writes them, `head.safetensors`, and `evaluator.json`,
which is written last and holds the hash of the weights: a folder without it is no evaluator yet. Pickled
weights and weights in several files are not read, and no code in a folder is run.
"""

import hashlib
import json
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vivavoce.core.errors import InputError, MetricError, ModelError
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import whole_files, write_private
from vivavoce.core.text import one_line
from vivavoce.evaluators.trained import About, TrainedEvaluator

if TYPE_CHECKING:
    from vivavoce.evaluators.heads import EvaluatorModel

ABOUT, HEAD, WEIGHTS, LEXICAL = "evaluator.json", "head.safetensors", "model.safetensors", "lexical.json"
_MOST_TOKENS = 1 << 20
_TRAIN = "name a folder that `viva train` wrote"


def save_evaluator(folder: Path, model: "EvaluatorModel", tokenizer: Any, about: About) -> None:
    """Write a run into a folder, which is made if it is not there."""
    from safetensors.torch import save_file

    from vivavoce.models.local.loading import quiet

    (folder / ABOUT).unlink(missing_ok=True)
    head = {name: tensor.detach().cpu().contiguous() for name, tensor in model.head.state_dict().items()}
    with whole_files(folder) as draft, quiet():
        model.encoder.save_pretrained(draft, max_shard_size="1TB")
        tokenizer.save_pretrained(draft)
        save_file(head, draft / HEAD)
    hashes = {name: _sha256(folder / name) for name in (WEIGHTS, HEAD)}
    text = json.dumps({**asdict(about), "sha256": hashes}, indent=1, ensure_ascii=False) + "\n"
    write_private(folder / ABOUT, text)


def read_about(folder: Path) -> About:
    """What a run says of itself; nothing is loaded. Raises `InputError` for a folder that is no run."""
    try:
        raw = read_json((folder / ABOUT).read_text(encoding="utf-8"))
        about = About(**{f.name: _tupled(raw[f.name]) for f in fields(About)})
    except FileNotFoundError:
        raise InputError(f"{folder} has no {ABOUT}: it is no trained evaluator; {_TRAIN}.") from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{folder / ABOUT} cannot be read as an evaluator's: {_TRAIN}.") from None
    if not _is_sound(about):
        raise InputError(f"{folder / ABOUT} has settings that no evaluator has: {_TRAIN}.")
    return about


def _is_sound(about: About) -> bool:
    return (
        about.kind in ("options", "classes")
        and about.pooling in ("mean", "cls")
        and isinstance(about.longest, int)
        and 0 < about.longest < _MOST_TOKENS
        and all(isinstance(text, str) for text in (about.benchmark, about.mixture, *about.classes))
        and (about.kind == "options" or len(about.classes) > 1)
    )


def load_evaluator(folder: Path, device: str | None = None, dtype: str = "auto") -> TrainedEvaluator:
    """The evaluator of a run's folder, once in a process as long as the folder does not change.

    Raises `InputError` for a folder that is none or was changed, and `MetricError` where this machine cannot
    load it.
    """
    return _loaded(folder, device, dtype, _about_hash(folder))


@cache
def _loaded(folder: Path, device: str | None, dtype: str, _: str) -> TrainedEvaluator:
    about = read_about(folder)
    check_weights(folder)
    try:
        import torch
        from safetensors.torch import load_file
        from transformers import AutoModel

        from vivavoce.evaluators.heads import EvaluatorModel, Head
    except ImportError as error:
        raise MetricError(
            f"a trained evaluator needs torch and transformers ({error}): pip install 'vivavoce[hf]'."
        ) from None
    from vivavoce.models.local import loading

    name = str(folder)
    try:
        settings = loading.resolve_settings(name, {"device": device, "dtype": dtype})
        position = loading.source(name, str(folder.absolute()), None)
        config = loading.configuration(name, position)
        tokenizer = loading.tokeniser(name, position, None)
        encoder = loading.load_model(name, position, settings, AutoModel, unused="pooler.")
        limit = loading.longest_input(encoder, tokenizer, loading.context_of(name, config, tokenizer, None))
    except ModelError as error:
        raise MetricError(f"the evaluator {str(error).rstrip('.')}.") from None
    if limit is not None and about.longest > limit:
        raise InputError(
            f"{folder} says that it reads {about.longest} tokens, and its encoder takes {limit}."
        )
    hidden = int(config.get_text_config().hidden_size)
    n_classes = len(about.classes) if about.kind == "classes" else 0
    head = Head(hidden, n_classes=n_classes, pooling="cls" if about.pooling == "cls" else "mean")
    try:
        head.load_state_dict(load_file(folder / HEAD))
    except Exception as error:  # safetensors and torch raise what they like on foreign files
        reason = one_line(str(error), 160).rstrip(".")
        raise InputError(f"{folder / HEAD} is no head for this encoder ({reason}): {_TRAIN}.") from None
    parameter = next(encoder.parameters())
    head.to(parameter.device, parameter.dtype if parameter.is_floating_point() else torch.float32)
    return TrainedEvaluator(EvaluatorModel(encoder, head).eval(), tokenizer, about, name)


def complete_runs(mixture: Path) -> list[Path]:
    """The complete runs of a mixture's folder, from run-1 on without a gap; empty where there is none."""
    runs: list[Path] = []
    while (run := mixture / f"run-{len(runs) + 1}").is_dir() and (run / ABOUT).is_file():
        runs.append(run)
    return runs


def run_folders(mixture: Path) -> list[Path]:
    """The complete runs of a mixture's folder.

    Raises `InputError` for a folder without any: also for that of several mixtures, which it names.
    """
    if runs := complete_runs(mixture):
        return runs
    if not mixture.is_dir():
        raise InputError(f"there is no folder {mixture}: {_TRAIN}, such as DIR/mixture-1.")
    mixtures = sorted(path.parent.name for path in mixture.glob("*/run-1") if (path / ABOUT).is_file())
    if mixtures:
        listed = ", ".join(mixtures[:4]) + (" …" if len(mixtures) > 4 else "")
        raise InputError(f"{mixture} holds the mixtures {listed}: name one, such as {mixture / mixtures[0]}.")
    raise InputError(f"{mixture} has no run-1 with an {ABOUT}: {_TRAIN}, such as DIR/mixture-1.")


def check_weights(folder: Path) -> None:
    """Raise `InputError` where weights are missing, or are not those that were written."""
    try:
        hashes = read_json((folder / ABOUT).read_text(encoding="utf-8"))["sha256"]
        for name in (WEIGHTS, HEAD):
            if not (folder / name).is_file():
                raise InputError(f"{folder} has no {name}, and pickled weights are not read: {_TRAIN}.")
            if _sha256(folder / name) != hashes[name]:
                raise InputError(f"{folder / name} was changed or cut since it was trained: copy it again.")
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"the weights of {folder} cannot be read: {_TRAIN}.") from None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _about_hash(folder: Path) -> str:
    """A hash of what a run says of itself, its weights' hashes among it."""
    return _sha256(folder / ABOUT) if (folder / ABOUT).is_file() else ""


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
