"""What encoders made of texts, kept within a limit of bytes, and how many texts each has passed."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.embeddings.encoder import LONGEST, Encoder, Encoding, Pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Embed = Callable[[Sequence[str]], Vectors]

_OBJECTS = 600
"""Bytes of the objects around the arrays of a text, roughly."""


class _Entry(NamedTuple):
    """What is kept of a text: its whole encoding, or the vector of its beginning; and the bytes it takes."""

    encoding: Encoding | None
    vector: "Vectors"
    nbytes: int


class EncodingCache:
    """Encodings and vectors of texts; the least recently used are dropped first, what comes again last.

    `limit` bounds the bytes that are kept, and `peak` is the most there have been; a single group of texts
    that needs more alone is the exception. `passes` counts the texts that went through each encoder, by its
    name: a text that was dropped and comes back counts again.
    """

    def __init__(self, limit: int, passes: Counter[str] | None = None) -> None:
        self.limit = limit
        self.nbytes = self.peak = 0
        self.passes: Counter[str] = Counter() if passes is None else passes
        self._entries: OrderedDict[tuple[object, str, bool], _Entry] = OrderedDict()
        self._layers: dict[object, frozenset[int]] = {}
        self._last: dict[int, int] = {}
        self._place = 0

    def announce(self, encoder: Encoder, layers: Iterable[int]) -> None:
        """Say that these layers will be read, so that a text passes once for all that is announced."""
        self._layers[encoder] = self._layers.get(encoder, frozenset()) | frozenset(layers)

    def expect(self, groups: Iterable[Sequence[str]]) -> None:
        """Say which texts will be read, group by group: what comes again later is dropped last.

        The groups are not looked at where no encoder is announced. Hashes are kept, not the texts.
        """
        hashes = set[int]()
        self._last, self._place = {}, 0
        for place, group in enumerate(groups if self._layers else ()):
            for text in map(hash, group):
                if text in hashes:
                    self._last[text] = place
                hashes.add(text)

    def proceed(self, n_groups: int) -> None:
        """Say that so many of the expected groups are being read."""
        self._place += n_groups

    def footprint(self, texts: Iterable[str]) -> int:
        """Bytes that the announced encodings of these texts take; 0 where none is announced."""
        distinct = dict.fromkeys(texts)
        return sum(
            self._cost(encoder, text, self._pieces(encoder, text))
            for encoder in self._layers
            if isinstance(encoder, Encoder)
            for text in distinct
        )

    def encodings(
        self, encoder: Encoder, groups: Iterable[Sequence[str]], layers: Iterable[int]
    ) -> Iterator[list[Encoding]]:
        """For each group of texts, in order, the encoding of each, with these layers and all announced.

        As many groups pass together as the limit has room for.
        """
        self.announce(encoder, layers)
        together: list[Sequence[str]] = []
        pieces: dict[str, Pieces] = {}
        size = 0
        for group in groups:
            new = {text: self._pieces(encoder, text) for text in group if text not in pieces}
            cost = sum(self._cost(encoder, *pair) for pair in new.items())
            if together and size + cost > self.limit:
                yield from self._encoded(encoder, together, pieces)
                together, pieces, size = [], {}, 0
                new = {text: self._pieces(encoder, text) for text in group}
                cost = sum(self._cost(encoder, *pair) for pair in new.items())
            together.append(group)
            pieces |= new
            size += cost
        yield from self._encoded(encoder, together, pieces)

    def vectors(self, encoder: "Embed", texts: Iterable[str]) -> "dict[str, Vectors]":
        """The vector of each distinct text, as a call of the encoder gives it; new texts go in one call."""
        distinct = dict.fromkeys(texts)
        vectors: dict[str, Vectors] = {}
        if isinstance(encoder, Encoder) and encoder in self._layers:
            # A text that a call reads to its end has the vector of its complete encoding.
            short = [text for text in distinct if len(self._pieces(encoder, text).ids) <= LONGEST]
            encodings = self.encodings(encoder, ([text] for text in short), ())
            vectors = {text: encoding.vector for text, (encoding,) in zip(short, encodings, strict=True)}
        vectors |= self._of_beginnings(encoder, [text for text in distinct if text not in vectors])
        return {text: vectors[text] for text in distinct}

    def _of_beginnings(self, encoder: "Embed", texts: Sequence[str]) -> "dict[str, Vectors]":
        """The vectors that a call of the encoder gives for these distinct texts."""
        entries = {text: self._touched(encoder, text, complete=False) for text in texts}
        vectors = {text: entry.vector for text, entry in entries.items() if entry}
        new = [text for text in texts if text not in vectors]
        # copies: a row alone, not the whole array
        vectors |= zip(new, (row.copy() for row in encoder(new)) if new else (), strict=True)
        self._keep_vectors(encoder, {text: vectors[text] for text in new})
        return vectors

    def _keep_vectors(self, encoder: "Embed", vectors: "Mapping[str, Vectors]") -> None:
        """Keep the vectors of new texts, so many as the limit has room for."""
        costs = {text: vectors[text].nbytes + getsizeof(text) + _OBJECTS for text in vectors}
        self._make_room(min(sum(costs.values()), self.limit), ())
        for text, cost in costs.items():
            if self.nbytes + cost <= self.limit:
                self._keep((encoder, text, False), _Entry(None, vectors[text], cost))
        self._count(encoder, len(vectors))

    def _encoded(
        self, encoder: Encoder, groups: Sequence[Sequence[str]], pieces: Mapping[str, Pieces]
    ) -> Iterator[list[Encoding]]:
        """The encodings of groups that go together."""
        encodings = {text: e for text in pieces if (e := self._complete(encoder, text))}
        new = {text: p for text, p in pieces.items() if text not in encodings}
        costs = {text: self._cost(encoder, text, p) for text, p in new.items()}
        # Room is made before the pass, so that old and new never fill the memory together.
        self._make_room(sum(costs.values()), pieces)
        passed = encoder.encode(list(new.values()), sorted(self._layers[encoder]))
        for text, encoding in zip(new, passed, strict=True):
            encodings[text] = encoding
            self._keep((encoder, text, True), _Entry(encoding, encoding.vector, costs[text]))
        self._count(encoder, sum(bool(p.ids) for p in new.values()))
        for group in groups:
            yield [encodings[text] for text in group]

    def _complete(self, encoder: Encoder, text: str) -> Encoding | None:
        """The encoding that is kept of a text, if it has all layers that are announced."""
        entry = self._touched(encoder, text, complete=True)
        encoding = entry.encoding if entry else None
        return encoding if encoding and self._layers[encoder] <= encoding.states.keys() else None

    def _pieces(self, encoder: Encoder, text: str) -> Pieces:
        entry = self._entries.get((encoder, text, True))
        return entry.encoding.pieces if entry and entry.encoding else encoder.pieces(text)

    def _cost(self, encoder: Encoder, text: str, pieces: Pieces) -> int:
        """Bytes that the announced encoding of a text takes."""
        ids = 8 * len(pieces.ids)
        return encoder.nbytes(pieces, tuple(self._layers[encoder])) + ids + getsizeof(text) + _OBJECTS

    def _touched(self, encoder: object, text: str, *, complete: bool) -> _Entry | None:
        """What is kept of a text, from now on the last to be dropped."""
        key = (encoder, text, complete)
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def _make_room(self, nbytes: int, texts: Collection[str]) -> None:
        """Drop the oldest entries until there is room: what comes again last, and never these texts' own."""
        if self.nbytes + nbytes <= self.limit:
            return
        old = [key for key in self._entries if key[1] not in texts]
        old.sort(key=lambda key: self._last.get(hash(key[1]), -1) >= self._place)
        for key in old:
            if self.nbytes + nbytes <= self.limit:
                return
            self.nbytes -= self._entries.pop(key).nbytes

    def _keep(self, key: tuple[object, str, bool], entry: _Entry) -> None:
        if earlier := self._entries.pop(key, None):
            self.nbytes -= earlier.nbytes
        self._entries[key] = entry
        self.nbytes += entry.nbytes
        self.peak = max(self.peak, self.nbytes)

    def _count(self, encoder: object, n_texts: int) -> None:
        if n_texts:
            self.passes[str(getattr(encoder, "name", type(encoder).__name__))] += n_texts
