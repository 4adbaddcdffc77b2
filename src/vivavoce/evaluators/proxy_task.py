"""What an evaluator is shown and what it says: a task with options, an argument, and a probability by option.

An argument is worth what it does for the task (Ranking over Scoring, COLING 2025, section 3): the evaluator
reads question, argument and one option at a time, and its order of options does not depend on how they are
listed.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from vivavoce.core.records import Item

NO_ARGUMENT = "No argument is given."
"""The text of the control without an argument. Evaluators read it as an empty argument."""


class ProxyInput(NamedTuple):
    """A task and an argument for it. `options` are those with a text; the argument may be empty."""

    question: str
    options: tuple[str, ...]
    argument: str = ""


class Prediction(NamedTuple):
    """The probability of each option, in their order, adding up to 1.

    `n_cut` tokens of the argument were cut.
    """

    probabilities: tuple[float, ...]
    n_cut: int = 0

    @property
    def best(self) -> tuple[int, ...]:
        """The most probable options: several where they tie to 1e-9."""
        top = max(self.probabilities)
        return tuple(k for k, p in enumerate(self.probabilities) if p >= top - 1e-9)

    def right(self, label: int) -> float:
        """1 if the option of that index is the most probable one, 0 if not, 1/k in a tie of k options."""
        return 1 / len(self.best) if label in self.best else 0.0


class Evaluator(Protocol):
    """Anything that predicts: an encoder with a head, or lexical features."""

    @property
    def name(self) -> str:
        """What it was trained on, in short: `none`, `expert`, `mixture-1`."""
        ...

    def predict(self, inputs: Sequence[ProxyInput]) -> list[Prediction]:
        """A prediction for each input, in order; equal inputs are read once."""
        ...


def proxy_input(item: Item, argument: str) -> ProxyInput:
    """The task of an item of the format `argument`, with an argument for it."""
    text = "" if argument.strip() == NO_ARGUMENT else argument.strip()
    question = f"{item.context}\n{item.question}" if item.context else item.question
    return ProxyInput(question, item.options, text)
