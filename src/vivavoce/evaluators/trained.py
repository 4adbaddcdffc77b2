"""A trained evaluator in memory: it reads each distinct text once, and predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from vivavoce.core.errors import InputError, MetricError
from vivavoce.core.once import Once, once_each
from vivavoce.core.text import one_line
from vivavoce.evaluators.inputs import InputReader, Kind, TaskText, padded, texts_of
from vivavoce.evaluators.lexical import softmax
from vivavoce.evaluators.proxy_task import Prediction, ProxyInput

if TYPE_CHECKING:
    from vivavoce.evaluators.heads import EvaluatorModel

BUDGET = 8_192
"""Tokens in one pass of the encoder, filling included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an evaluator was trained on and how; `evaluator.json` keeps it.

    `classes` are the options of a task that has the same in every item, sorted, whichever head was trained
    for it; empty where each item has its own. `mixture` names the arguments: `none`, `expert`, `mixture-1`.
    `longest`: tokens of a text. `dev_curve`: accuracy on the development split after each epoch. `n_cut`:
    training texts that were cut.
    """

    kind: Kind
    benchmark: str
    mixture: str
    longest: int
    classes: tuple[str, ...] = ()
    pooling: str = "mean"
    seed: int = 0
    dev_curve: tuple[float, ...] = ()
    n_cut: int = 0


class TrainedEvaluator:
    """A model with its tokeniser. `passes` counts the texts that it has read."""

    def __init__(self, model: "EvaluatorModel", tokenizer: Any, about: About, source: str = "") -> None:
        self.name, self.source, self.about = about.mixture, source or about.mixture, about
        self.reader = InputReader(tokenizer, about.longest)
        self.passes = 0
        self._model = model

    def predict(self, inputs: Sequence[ProxyInput], once: Once = once_each) -> list[Prediction]:
        """A prediction for each input, in order; `once` is `context.once_a_call` of whoever scores.

        Raises `InputError` for options that are not the classes of a head of classes, and `MetricError`
        where a number is not finite.
        """
        texts = {task: texts_of(task, self.about.kind) for task in dict.fromkeys(inputs)}
        results = once(self.logits, chain.from_iterable(texts.values()), self.source)
        predictions = {
            task: self._prediction(task, [results[text] for text in of_task])
            for task, of_task in texts.items()
        }
        return [predictions[task] for task in inputs]

    def _prediction(self, task: ProxyInput, results: Sequence[tuple[tuple[float, ...], int]]) -> Prediction:
        logits = list(chain.from_iterable(values for values, _ in results))
        if self.about.kind == "classes":
            logits = [logits[k] for k in self._class_places(task)]
        return Prediction(softmax(logits), max(n_cut for _, n_cut in results))

    def _class_places(self, task: ProxyInput) -> list[int]:
        classes = self.about.classes
        if set(task.options) != set(classes):
            raise InputError(
                f"{self.source} tells the classes {', '.join(classes)} apart, and an item has the options "
                f"{one_line(', '.join(task.options), 120)}: it was trained for another task."
            )
        return [classes.index(option) for option in task.options]

    def logits(self, texts: Sequence[TaskText]) -> list[tuple[tuple[float, ...], int]]:
        """The logits of each text, one for an option and one for each class, and how many tokens were cut.

        The batches depend on which texts there are, and not on their order.
        """
        from vivavoce.models.local.batching import batches_by_length

        rows = [self.reader.tokens(text) for text in texts]
        order = sorted(range(len(rows)), key=lambda k: (len(rows[k].ids), rows[k].ids))
        logits: dict[int, tuple[float, ...]] = {}
        for batch in batches_by_length(order, [row.ids for row in rows], BUDGET):
            logits |= zip(batch, self._pass([rows[k].ids for k in batch]), strict=True)
        self.passes += len(rows)
        return [(logits[k], row.n_cut) for k, row in enumerate(rows)]

    def _pass(self, rows: Sequence[tuple[int, ...]]) -> list[tuple[float, ...]]:
        import torch

        device = next(self._model.parameters()).device
        ids, mask = (torch.tensor(table, device=device) for table in padded(rows, self.reader.padding))
        training = self._model.training
        self._model.eval()
        with torch.inference_mode():
            logits = self._model(ids, mask).float().cpu().double().reshape(len(rows), -1)
        self._model.train(training)
        if not bool(logits.isfinite().all()):
            raise MetricError(
                f"the evaluator {self.source} gives numbers that are none (NaN or infinite): its weights are "
                "broken, or too large for its dtype; take dtype=float32, or train it again."
            )
        return [tuple(row) for row in logits.tolist()]
