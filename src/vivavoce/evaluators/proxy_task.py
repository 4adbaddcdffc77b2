"""What an evaluator is shown and what it says: a task with options, an argument, and a probability by option.

An argument is worth what it does for the task (Ranking over Scoring, COLING 2025, section 3): the evaluator
reads question, argument and one option at a time, and its order of options does not depend on how they are
listed.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from vivavoce.core.records import Item

EXTRACT = "extract"
"""What an item's meta says under `argument` where its arguments are cut out of its context."""
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
    """The task of an item of the format `argument`, with an argument for it.

    An argument that is an extract is read without the context that it was cut out of, as published
    (appendix B: statement and evidences): a long context would leave it no room, and tell what it leaves out.
    """
    text = "" if argument.strip() == NO_ARGUMENT else argument.strip()
    context = None if _takes_extracts(item) else item.context
    return ProxyInput(f"{context}\n{item.question}" if context else item.question, item.options, text)


def text_without_argument(item: Item) -> str:
    """What stands for the argument where an evaluator is trained without any.

    Empty; the whole context where arguments are extracts of it, as published (appendix B).
    """
    return (item.context or "") if _takes_extracts(item) else ""


def _takes_extracts(item: Item) -> bool:
    return item.meta.get("argument") == EXTRACT
