"""How evaluators are trained: every setting that a published recipe and the corrected one differ in.

A published system registers its own recipe with `@recipe(name)` in its file `recipe.py`; `viva train` reads
the fields, and never which recipe they are of. Seeds are no part of a recipe: they always come from the
training's seed, the mixture and the run, and are stored.
"""

from dataclasses import dataclass
from typing import Literal

from vivavoce.core import registry


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The settings of a training; every default is that of `corrected`.

    "Published" is what the code does that the recipe `published` repeats.
    """

    epochs: int = 10
    """Passes over the training rows, at most."""

    patience: int = 3
    """Epochs without a better dev accuracy before training stops. Published: 10 of 10, which cannot fire."""

    batch: int = 8
    """Rows read together. Published: 1."""

    accumulation: int = 1
    """Batches before the weights change. Published: 2."""

    learning_rate: float = 5e-5
    """The highest learning rate. Published: 5e-5 is stated, and the schedule ends at 4.5e-6."""

    schedule: Literal["step", "epoch"] = "step"
    """What warm-up and decay count. Published: the scheduler moves once an epoch, so that ten epochs are ten
    of its 100 warm-up steps, and the first epoch trains at a learning rate of 0."""

    warmup: float = 0.1
    """Warm-up of the learning rate: a share of all steps, or their number from 1 on. Published: 100."""

    dropout: float = 0.1
    """Dropout before the head. Published: 0.4."""

    weight_decay: float = 0.01
    """Decay of weights, as AdamW has it."""

    decayed: Literal["matrices", "all"] = "matrices"
    """What decays. Published: biases and norms too."""

    clip: float = 1.0
    """The largest norm of a gradient; 0: none. Published: none."""

    copies: int = 1
    """Rows of an item in an epoch. Published: 5, one for each rotation of its options, which a head that
    scores one option at a time cannot see; and the source of a mixture is drawn for each row, so that the
    copies of an item carry up to three arguments."""

    padded_options: int = 0
    """Options of every item in training; missing ones are empty texts that are scored. Published: 5."""

    pooling: Literal["mean", "cls"] = "mean"
    """What the head reads of a text: the mean of its states, or its first token. Published: the encoder's own
    pooler over the first token, which is often untrained; `cls` comes nearest."""

    cut: Literal["argument", "end"] = "argument"
    """What a training input that is too long loses. Published: its end, where the option stands."""

    max_tokens: int = 512
    """Tokens of an input, at most; never more than the encoder takes."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a setting out of its range."""
        for name in ("epochs", "patience", "batch", "accumulation", "copies"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is a whole number, 1 or more")
        if self.learning_rate <= 0 or min(self.warmup, self.weight_decay, self.clip) < 0:
            raise ValueError("learning_rate is above 0; warmup, weight_decay and clip are 0 or more")
        if not 0 <= self.dropout < 1:
            raise ValueError("dropout is a share from 0 to below 1")
        if self.padded_options < 0 or self.max_tokens < 8:
            raise ValueError("padded_options is 0 or more, and max_tokens 8 or more")

    @property
    def can_stop_early(self) -> bool:
        """Whether early stopping can end a training before its last epoch."""
        return self.patience + 1 < self.epochs

    def steps_per_epoch(self, rows: int) -> int:
        """Changes of the weights in an epoch over so many rows."""
        batches = -(-rows // self.batch)
        return max(1, -(-batches // self.accumulation))

    def learning_rate_share(self, step: int, steps_per_epoch: int) -> float:
        """The share of the highest learning rate at a step, counted from 0: linear up, then down to 0."""
        total = self.epochs * steps_per_epoch
        warmup = self.warmup if self.warmup >= 1 else self.warmup * total
        if self.schedule == "epoch":
            place = step // steps_per_epoch
            total = (self.epochs + 1) * steps_per_epoch * self.accumulation
            if place < warmup:
                return place / warmup
        else:
            place = step
            if place + 1 < warmup:  # the first step is one of the warm-up, not one without a learning rate
                return (place + 1) / warmup
        return min(1.0, max(0.0, (total - place) / max(1.0, total - warmup)))


@registry.recipe("corrected")
@dataclass(frozen=True, kw_only=True)
class Corrected(Recipe):
    """The default: warm-up by step, early stopping that can fire, the option never cut, each item once."""
