"""The recipe of Ranking over Scoring's released code (hitz-zentroa/Ranking-Over-Scoring-COLING-2025 at
9be6599): what the code does, and not what its settings state.
"""

from dataclasses import dataclass
from typing import Literal

from vivavoce.core import registry
from vivavoce.run.train.recipe import Recipe


@registry.recipe("published")
@dataclass(frozen=True, kw_only=True)
class Published(Recipe):
    """The released code: a learning rate below 4.5e-6, no early stop, five copies, an option may be cut."""

    patience: int = 10
    batch: int = 1
    accumulation: int = 2
    schedule: Literal["step", "epoch"] = "epoch"
    warmup: float = 100.0
    dropout: float = 0.4
    decayed: Literal["matrices", "all"] = "all"
    clip: float = 0.0
    copies: int = 5
    padded_options: int = 5
    pooling: Literal["mean", "cls"] = "cls"
    cut: Literal["argument", "end"] = "end"
