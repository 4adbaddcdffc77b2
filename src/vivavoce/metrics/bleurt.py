"""BLEURT (Sellam, Das and Parikh 2020): a model that was trained on people's ratings of translations.

It reads reference and response together and gives a number without a fixed range, near 0 for nothing in
common and near 1 for the same; which numbers depends on the checkpoint, so name it wherever you report one.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Literal, Self

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.embeddings.bleurt_model import BleurtModel, load_bleurt
from vivavoce.metrics import Metric, ScoringContext


@metric("bleurt", version=2)
class Bleurt(Metric):
    """The score of a BLEURT checkpoint for the response beside the reference; the best of several counts.

    `weights`: a folder with a PyTorch conversion: config.json, model.safetensors or pytorch_model.bin, and
    tokenizer.json or vocab.txt. Nothing is fetched. `device` as torch names it; `dtype` of the weights, auto
    is the checkpoint's. Reference and response together have 512 word pieces; what is cut stands in the note.
    The range has no ends, so that a silence has no worst value: it is set aside, and coverage counts it.
    """

    weights: Path
    device: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"

    criteria = (Criterion(criterion="bleurt", low=None, high=None, if_unanswered="set_aside"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    @property
    def packages(self) -> Mapping[str, str]:
        """What runs the model."""
        return {"torch": "hf", "transformers": "hf"}

    def load(self) -> BleurtModel:
        """The checkpoint, once in a process. Raises `MetricError` if it cannot be loaded."""
        return load_bleurt(self.weights, self.device, self.dtype)

    def bind(self, items: Sequence[Item]) -> Self:
        """The metric, its checkpoint loaded: what is wrong with it is said before anything is scored."""
        if any(map(self.applies_to, items)):
            self.load()
        return self

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric itself."""
        return self

    def texts_to_encode(self, rows: Sequence[Row], context: ScoringContext) -> Mapping[str, Collection[str]]:
        """Each response beside each of its references: a pair is read as one text."""
        pairs = {f"{reference}\0{row.reading.text}" for row in rows for reference in row.item.references}
        return {str(self.weights): pairs}

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The best score over the references; each distinct pair of a call passes the model once."""
        model = self.load()
        pairs = [[(reference, row.reading.text) for reference in row.item.references] for row in rows]
        scores = context.once_a_call(model.compare, chain.from_iterable(pairs), model.name)
        best = (max((scores[pair] for pair in of_row), key=itemgetter(0)) for of_row in pairs)
        return [{"bleurt": Value(score, note=_cut_note(cut, model.longest))} for score, cut in best]


def _cut_note(cut: int, longest: int) -> str | None:
    """A note on what was not read; null if all was."""
    return f"the model reads {longest} word pieces of a pair: {cut} were not read" if cut else None
