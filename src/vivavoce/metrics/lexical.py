"""Lexical: is the right option the one that the argument names? The lower bound of trained evaluators."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.evaluators.lexical import Lexical, load_lexical
from vivavoce.evaluators.proxy_task import Prediction, ProxyInput, proxy_input
from vivavoce.metrics import Metric, ScoringContext


@metric("lexical", version=2)
class LexicalEvaluator(Metric):
    """Whether the argument leads to the right option by overlap of words alone; no model reads it.

    `weights`: a `lexical.json` that `viva train` wrote; `train=none` takes the option whose rare words the
    argument names most fully. `right` is 1 or 0, shared where options tie; `probability` is that of the right
    option. A high value says that the argument names the answer, not that it explains it.
    """

    weights: Path | None = None
    train: Literal["none"] | None = None

    criteria = (Criterion(criterion="right"), Criterion(criterion="probability"))
    formats = ("argument",)
    needs = ("options", "answer")

    def __post_init__(self) -> None:
        if (self.weights is None) == (self.train is None):
            raise ValueError("it takes either weights=FILE, a lexical.json of `viva train`, or train=none")

    def load(self) -> Lexical:
        """The evaluator. Raises `InputError` if its file is none."""
        return Lexical.untrained() if self.weights is None else load_lexical(self.weights)

    def bind(self, items: Sequence[Item]) -> Self:
        """The metric; a file that is none is said before anything is scored."""
        if any(map(self.applies_to, items)):
            self.load()
        return self

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """Right or not, and the probability of the right option."""
        predictions = self.load().predict([task_of(row) for row in rows])
        return [prediction_values(*both) for both in zip(rows, predictions, strict=True)]


def task_of(row: Row) -> ProxyInput:
    """What an evaluator reads of a response: its options are sorted, so that their order tells nothing."""
    task = proxy_input(row.item, row.reading.text)
    return task._replace(options=tuple(sorted(task.options)))


def prediction_values(row: Row, prediction: Prediction, prefix: str = "") -> dict[str, Value]:
    """The values of a prediction over the sorted options.

    `parts` of `right` hold the indices, among these options, of the right one (`label`) and of the one
    predicted (`predicted`, absent where options tie), and `n_cut`.
    """
    options = task_of(row).options
    label = options.index(row.item.answer[0])
    best = [options[k] for k in prediction.best]
    parts = {"label": float(label), "n_cut": float(prediction.n_cut)}
    if len(best) == 1:
        parts["predicted"] = float(prediction.best[0])
    note = f"predicted: {best[0]}" if len(best) == 1 else f"tie of {len(best)}: {' | '.join(best)}"
    return {
        f"{prefix}right": Value(prediction.right(label), parts, note),
        f"{prefix}probability": Value(prediction.probabilities[label]),
    }
