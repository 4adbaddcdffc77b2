"""What is counted of calls to models, and who hears of it. Light: signatures of verbs name these."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vivavoce.core.net import Traffic
from vivavoce.models.prompt_cuts import CutPrompts

Progress = Callable[[str, int, int], None]
"""Hears a label, how many are done, and how many there are in all."""


class Waiting(NamedTuple):
    """An endpoint from which nothing has come for some seconds: requests sent, and the longest wait."""

    endpoint: str
    requests: int
    longest_s: float

    def __str__(self) -> str:
        requests = f"{self.requests} request{'s' * (self.requests != 1)}"
        return f"{self.endpoint} ({requests}, longest {self.longest_s:.0f} s)"


@dataclass
class UsageCounter:
    """Counts of one `ask`. `stopped` gives for a model the reason why it was not asked everything.

    `shared` counts replies that were recalled instead of requested; tokens and cost are of requests only.
    `guessed` is the possible cost of replies without token counts: part of a limit, and of no total.
    `remaining` counts calls that are still to be made, `cut` prompts that were shortened to fit the model's
    context; `cut_prompts` are those by model that an endpoint seems to have cut in silence. `waiting` names
    the endpoints from which nothing has come for some seconds.
    """

    answered: int = 0
    failed: int = 0
    shared: int = 0
    remaining: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    guessed: float = 0.0
    unpriced: int = 0
    cut: int = 0
    interrupted: bool = False
    stopped: dict[str, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    cut_prompts: dict[str, CutPrompts] = field(default_factory=dict)
    traffic: Traffic = field(default_factory=Traffic)
    waiting: tuple[Waiting, ...] = ()

    def add_cuts(self, cuts: Mapping[str, CutPrompts]) -> None:
        """Count cut prompts by model."""
        for model, of_model in cuts.items():
            self.cut_prompts[model] = of_model.joined(self.cut_prompts.get(model))

    @property
    def done(self) -> int:
        """Calls with an outcome."""
        return self.answered + self.failed
