"""One training: an encoder and a head on the rows of a mixture, by the Trainer of transformers.

Each epoch leaves a checkpoint beside the run's files, from which a killed training goes on; the epoch of the
best dev accuracy is kept, the first of equal ones. Nothing of the process's own random numbers is touched.
"""

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch  # whoever imports this module needs torch, transformers and accelerate anyway
from safetensors.torch import load_file
from transformers import AutoModel, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from vivavoce.core.errors import InputError
from vivavoce.core.private_files import private_folder
from vivavoce.evaluators.checkpoint import save_evaluator
from vivavoce.evaluators.heads import EvaluatorModel, Head, choice_loss
from vivavoce.evaluators.trained import About
from vivavoce.models.local import loading
from vivavoce.models.local.batching import is_out_of_memory
from vivavoce.run.train.encoded_rows import EncodedMixture, EncoderFiles, batch_of, is_state
from vivavoce.run.train.recipe import Recipe

CHECKPOINTS = "checkpoints"
_STATE = "trainer_state.json"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_EVAL_BATCH = 16

Moved = Callable[[int, int], None]
"""Told after each step how many are done, of how many."""


class Training(NamedTuple):
    """What a finished training says of itself: dev accuracy by epoch, and the best epoch, counted from 1."""

    dev_curve: tuple[float, ...]
    best_epoch: int
    steps: int

    @property
    def dev_accuracy(self) -> float:
        """The accuracy of the epoch that was kept."""
        return self.dev_curve[self.best_epoch - 1]


class Machine(NamedTuple):
    """Where it is trained. The weights are float32; `dtype` says in what the passes compute."""

    device: str
    dtype: str


def fit(
    folder: Path,
    rows: EncodedMixture,
    files: EncoderFiles,
    recipe: Recipe,
    about: About,
    machine: Machine,
    moved: Moved | None = None,
) -> Training:
    """Train one run and write it into its folder; goes on from a checkpoint that lies there.

    Raises `InputError` where memory is short, or where the weights become no numbers.
    """
    checkpoints = (folder / CHECKPOINTS).absolute()
    private_folder(checkpoints)
    last = _last_checkpoint(checkpoints)
    curve = _curve(json.loads((last / _STATE).read_text(encoding="utf-8"))["log_history"]) if last else []
    # a training that was killed between its last epoch and its end has nothing left to do but to be written
    epochs = len(curve) if is_over(curve, recipe.patience) else recipe.epochs
    with _own_randomness(about.seed, machine.device):
        model = _model(files, recipe, about, machine)
        trainer = _trainer(_Choice(model), checkpoints, rows, files, recipe, epochs, about.seed, machine)
        trainer.add_callback(_Epochs(recipe.patience, moved))
        try:
            with loading.quiet():
                trainer.train(resume_from_checkpoint=str(last) if last else None)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            raise _out_of_memory(files.name, recipe, machine.device) from error
        state = trainer.state
        best = load_file(checkpoints / f"checkpoint-{state.best_global_step}" / "model.safetensors")
        trainer.model.load_state_dict(best)
        if not all(bool(weight.isfinite().all()) for weight in model.parameters()):
            raise InputError(
                f"the weights of {folder} became no numbers: train with a lower learning rate, such as "
                f"--recipe corrected:learning_rate={recipe.learning_rate / 5:g}."
            )
        training = Training(
            tuple(_curve(state.log_history)),
            round(state.best_global_step / recipe.steps_per_epoch(len(rows.train))),
            state.global_step,
        )
        save_evaluator(folder, model.cpu(), files.tokenizer, _finished(about, training))
    remove_checkpoints(folder)
    return training


def remove_checkpoints(folder: Path) -> None:
    """Remove what only an unfinished training needs."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def has_checkpoint(folder: Path) -> bool:
    """Whether a training in this folder would go on from an epoch."""
    return _last_checkpoint(folder / CHECKPOINTS) is not None


def is_over(curve: Sequence[float], patience: int) -> bool:
    """Whether no epoch of the last `patience` was better than the best before them."""
    return len(curve) > patience and max(curve[-patience:]) <= max(curve[:-patience])


class _Choice(torch.nn.Module):
    """The model with what the Trainer wants of it: a loss, and for each row whether it was right."""

    def __init__(self, model: EvaluatorModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        n_texts: torch.Tensor,
        labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """`loss`, and `right` of shape (rows,): 1, 0, or 1/k in a tie of k."""
        logits = self.model(input_ids, attention_mask).float()
        if self.model.head.n_classes:
            loss, by_row = torch.nn.functional.cross_entropy(logits, labels), list(logits)
        else:
            sizes = n_texts.tolist()
            loss, by_row = choice_loss(logits, sizes, labels), list(torch.split(logits, sizes))
        right = [_right(row.detach(), int(label)) for row, label in zip(by_row, labels, strict=True)]
        return {"loss": loss, "right": torch.stack(right)}


def _right(logits: torch.Tensor, label: int) -> torch.Tensor:
    best = logits >= logits.max()
    return best[label].float() / best.sum().clamp(min=1)


class _Epochs(TrainerCallback):  # type: ignore[misc]
    """Stops when no epoch was better for long enough, and tells how far the training is."""

    def __init__(self, patience: int, moved: Moved | None) -> None:
        self._patience, self._moved = patience, moved

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each epoch. The curve is in the state, so that a resumed training counts on."""
        if is_over(_curve(state.log_history), self._patience):
            control.should_training_stop = True

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each change of the weights."""
        if self._moved:
            self._moved(state.global_step, state.max_steps)


def _curve(history: Sequence[dict[str, float]]) -> list[float]:
    return [entry["eval_accuracy"] for entry in history if "eval_accuracy" in entry]


def _model(files: EncoderFiles, recipe: Recipe, about: About, machine: Machine) -> EvaluatorModel:
    """The encoder with a new head, whose first weights come from the seed."""
    settings = loading.Settings(device="cpu", dtype="float32")
    encoder = loading.load_model(files.name, files.at, settings, AutoModel, unused="pooler.")
    n_classes = len(about.classes) if about.kind == "classes" else 0
    hidden = int(files.config.get_text_config().hidden_size)
    torch.manual_seed(about.seed)
    head = Head(hidden, n_classes=n_classes, pooling=recipe.pooling, dropout=recipe.dropout)
    return EvaluatorModel(encoder, head).to(machine.device)


def _trainer(
    choice: _Choice,
    checkpoints: Path,
    rows: EncodedMixture,
    files: EncoderFiles,
    recipe: Recipe,
    epochs: int,
    seed: int,
    machine: Machine,
) -> Any:
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=epochs,
        per_device_train_batch_size=recipe.batch,
        per_device_eval_batch_size=_EVAL_BATCH,
        gradient_accumulation_steps=recipe.accumulation,
        max_grad_norm=recipe.clip,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,  # the last epoch and the best one
        metric_for_best_model="accuracy",
        greater_is_better=True,
        logging_strategy="epoch",
        seed=seed,
        data_seed=seed,
        bf16=machine.dtype == "bfloat16",
        fp16=machine.dtype == "float16",
        use_cpu=machine.device == "cpu",
        dataloader_pin_memory=machine.device.startswith("cuda"),
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=True,
        report_to=[],
    )
    if machine.device.startswith("cuda"):
        arguments._n_gpu = 1  # with more the Trainer would split each batch between all GPUs
    optimiser = torch.optim.AdamW(_parameters(choice, recipe), lr=recipe.learning_rate, eps=1e-8)
    share = partial(recipe.learning_rate_share, steps_per_epoch=recipe.steps_per_epoch(len(rows.train)))
    trainer = Trainer(
        model=choice,
        args=arguments,
        data_collator=partial(batch_of, padding=files.tokenizer.pad_token_id or 0),
        train_dataset=rows.train,
        eval_dataset=rows.dev,
        compute_metrics=lambda prediction: {"accuracy": float(np.mean(prediction.predictions))},
        optimizers=(optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, share)),
    )
    trainer.remove_callback(PrinterCallback)  # it prints to stdout, which belongs to results
    return trainer


def _parameters(choice: _Choice, recipe: Recipe) -> list[dict[str, Any]]:
    """The weights in two groups: those that decay, and the others. An idle pooler is in none."""
    used = [(name, weight) for name, weight in choice.named_parameters() if ".pooler." not in name]
    decays = [weight for _, weight in used if recipe.decayed == "all" or weight.ndim > 1]
    others = [weight for _, weight in used if recipe.decayed != "all" and weight.ndim <= 1]
    return [
        {"params": decays, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]


def _last_checkpoint(checkpoints: Path) -> Path | None:
    """The last epoch that was written complete: its state is what is written last."""
    folders = {int(match[1]): p for p in checkpoints.glob("*") if (match := _CHECKPOINT.fullmatch(p.name))}
    complete = [step for step, folder in folders.items() if is_state(folder / _STATE)]
    return folders[max(complete)] if complete else None


def _finished(about: About, training: Training) -> About:
    from dataclasses import replace

    return replace(about, dev_curve=training.dev_curve)


@contextmanager
def _own_randomness(seed: int, device: str) -> Iterator[None]:
    """Random numbers from the seed alone, and those of the process afterwards as if nothing had been drawn.

    On a GPU sums are added in a fixed order, so that a second training gives the same numbers.
    """
    python, numpy, fixed = (
        random.getstate(),
        np.random.get_state(),
        torch.are_deterministic_algorithms_enabled(),
    )
    with torch.random.fork_rng():
        try:
            torch.manual_seed(seed)
            if device != "cpu":
                torch.use_deterministic_algorithms(True, warn_only=True)
            yield
        finally:
            torch.use_deterministic_algorithms(fixed)
            random.setstate(python)
            np.random.set_state(numpy)


def _out_of_memory(encoder: str, recipe: Recipe, device: str) -> InputError:
    half = max(1, recipe.batch // 2)
    accumulation = recipe.accumulation * (recipe.batch // half)
    return InputError(
        f"training {encoder} does not fit in the memory of {device}: read fewer rows together, such as "
        f'--recipe "corrected(batch={half}, accumulation={accumulation})", or fewer tokens (max_tokens=256).'
    )
