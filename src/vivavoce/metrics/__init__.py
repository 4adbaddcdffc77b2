"""Metrics: a class that derives from `Metric`, one file each, registered with `@metric(name)`.

`values(rows, context)` scores a batch of readable responses; blank and unreadable ones never reach it.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeGuard, TypeVar, dataclass_transform

from vivavoce import formats
from vivavoce.core.errors import MetricError
from vivavoce.core.parts import Parts
from vivavoce.core.records import Criterion, Item, Reading, Row, Unit, Value
from vivavoce.embeddings.encoder import Encoder, Encoding
from vivavoce.embeddings.encoding_cache import EncodingCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vivavoce.models.engine.client import ModelClient

    Vectors = NDArray[np.float32]


T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


class ScoringContext:
    """The tools a metric may use, shared by all metrics of one call so that no text is processed twice.

    `pass_no` is the pass over the same responses in which a model is asked. `items` are all of the run,
    whichever of them are scored. `passes` counts how many texts have passed each encoder, by its name.
    """

    MAX_RESULTS = 200_000
    """Results of one batch; where nobody ends batches, so many make one."""
    MAX_BYTES = 256 << 20
    """Bytes of vectors and token states kept in memory; beyond it the least recently used are dropped."""

    def __init__(
        self,
        client: "ModelClient | None" = None,
        items: Iterable[Item] = (),
        passes: Counter[str] | None = None,
    ) -> None:
        self._results: dict[tuple[object, Hashable], object] = {}
        self._earlier: dict[tuple[object, Hashable], object] = {}
        self._numbers: dict[int, object] = {}
        self.passes: Counter[str] = Counter() if passes is None else passes
        self._encodings = EncodingCache(self.MAX_BYTES, self.passes)
        self._client = client
        self.items = tuple(items)
        self.pass_no = 1

    @property
    def client(self) -> "ModelClient":
        """Asks models. Raises `MetricError` where none may be asked."""
        if self._client is None:
            raise MetricError("this metric asks a model, and here none may be asked: use `viva score`.")
        return self._client

    def once(self, function: Callable[[H], T], text: H) -> T:
        """`function(text)`, once for each distinct text, or tuple of texts, of a batch and the one before."""
        key = (function, text)
        try:
            return self._results[key]  # type: ignore[return-value]
        except KeyError:
            pass
        if len(self._results) >= self.MAX_RESULTS:
            self.end_batch()
        result = self._earlier.pop(key) if key in self._earlier else function(text)
        self._results[key] = result
        return result  # type: ignore[return-value]

    def end_batch(self) -> None:
        """Drop the results that nobody asked for since the last call: memory holds two batches at most."""
        self._earlier, self._results = self._results, {}

    def once_a_call(
        self, function: Callable[[Sequence[H]], Sequence[T]], inputs: Iterable[H], name: str
    ) -> dict[H, T]:
        """What `function` makes of each distinct input; new ones go in one call, counted in `passes`.

        For small results, which are kept over batches: the last `MAX_RESULTS` used, by hash.
        """
        keys = {entry: hash((function, entry)) for entry in inputs}
        new = [entry for entry, key in keys.items() if key not in self._numbers]
        numbers = dict(zip(new, function(new), strict=True)) if new else {}
        results: dict[H, T] = {
            entry: numbers[entry] if entry in numbers else self._numbers.pop(key)  # type: ignore[misc]
            for entry, key in keys.items()
        }
        self._numbers |= {keys[entry]: result for entry, result in results.items()}
        if new:
            self.passes[name] += len(new)
        for key in list(islice(self._numbers, max(0, len(self._numbers) - self.MAX_RESULTS))):
            del self._numbers[key]
        return results

    def announce(self, metrics: "Iterable[Metric]", items: Iterable[Item]) -> None:
        """Let these metrics share passes: a text is then read once for the layers of all that score items."""
        items = tuple(items)
        for metric in metrics:
            if any(map(metric.applies_to, items)):
                for encoder, layers in metric.encodings.items():
                    self._encodings.announce(encoder, layers)

    def expect(self, groups: Iterable[Sequence[str]]) -> None:
        """Say which texts are to be read, response by response; what comes again later is kept for longer."""
        self._encodings.expect(groups)

    def begin_batch(self, n_responses: int) -> None:
        """Say that so many of the expected responses are read next."""
        self._encodings.proceed(n_responses)

    def footprint(self, texts: Iterable[str]) -> int:
        """Bytes that what is announced of these texts takes; 0 where nothing is announced."""
        return self._encodings.footprint(texts)

    def embed(
        self, encoder: Callable[[Sequence[str]], "Vectors"], texts: Iterable[str]
    ) -> dict[str, "Vectors"]:
        """The vector of each distinct text; new texts are encoded in one call."""
        return self._encodings.vectors(encoder, texts)

    def encode(
        self, encoder: Encoder, groups: Iterable[Sequence[str]], layers: Iterable[int] = ()
    ) -> Iterator[list[Encoding]]:
        """For each group of texts, such as a response and its references, what the encoder makes of each.

        Each distinct text passes once for all layers and metrics of a call, while the limit of bytes holds;
        groups are read one after the other, so any number of them can be given.
        """
        return self._encodings.encodings(encoder, groups, layers)

    def reading(self, item: Item, answer: str | Parts) -> Reading:
        """`formats.read_response(item, answer)`, once for each distinct response to the item."""
        return self.once(_Reader(item), answer)

    def rng(self, row: Row, purpose: str) -> random.Random:
        """A generator seeded by the item, the repeat and the purpose, never by position."""
        item, response = row.item, row.response
        return random.Random(f"{item.benchmark}|{item.item}|{item.variant}|{response.repeat}|{purpose}")


Lab = ScoringContext
"""The former name."""


class _Reader:
    """Reads responses to one item; two readers of the same item are equal."""

    __slots__ = ("item", "key")

    def __init__(self, item: Item) -> None:
        self.item, self.key = item, (item.benchmark, item.item, item.variant)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, reader: object) -> bool:
        return isinstance(reader, _Reader) and self.key == reader.key

    def __call__(self, answer: str | Parts) -> Reading:
        return formats.read_response(self.item, answer)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Metric(ABC):
    """A way to score responses. Its dataclass fields are its settings; it keeps no results.

    A plugin declares `criteria` and `formats` and gives `values`; the rest has defaults. Each of these may
    be a class attribute, or a property where it depends on the settings.
    """

    @property
    @abstractmethod
    def criteria(self) -> tuple[Criterion, ...]:
        """The columns it gives, with range and direction."""

    @property
    @abstractmethod
    def formats(self) -> tuple[str, ...]:
        """The formats it scores, and with them those of plugins that are `scored_as` one of them."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Item fields that must not be empty, such as `references`."""
        return ()

    @property
    def rater(self) -> str:
        """The model that scores; '' for a rule."""
        return ""

    @property
    def asks_models(self) -> bool:
        """Whether scoring asks models, as a rater or for something else."""
        return bool(self.rater)

    @property
    def most_passes(self) -> int | None:
        """How many passes a rater can make, such as one by each of its runs; null without a limit."""
        return None

    @property
    def comparative(self) -> bool:
        """Whether responses are scored against each other, on ballots, and not one by one."""
        return False

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """Files that it reads and no setting names, such as a shipped rubric; the signature hashes them."""
        return ()

    @property
    def digests(self) -> Mapping[Path, str]:
        """For files of its signature 8 hex digits over what they say, which stand there for their bytes.

        For a file that may be written in several ways that mean the same, such as YAML. Without one a comment
        in the file makes another measure of it.
        """
        return {}

    @property
    def whole_text_versions(self) -> tuple[int, ...]:
        """Former versions that give today's scores where all of an answer's text is its final part.

        A run of such answers keeps its scores under them, and is not scored again.
        """
        return ()

    @property
    def packages(self) -> Mapping[str, str]:
        """Packages that scoring needs and the core does not bring, each with vivavoce's extra that does."""
        return {}

    @property
    def encodings(self) -> Mapping[Encoder, tuple[int, ...]]:
        """The hidden layers that it reads of each encoder; none where only vectors. Asked after `bind`."""
        return {}

    @property
    def tokenizer_dependent(self) -> tuple[str, ...]:
        """Its criteria that compare only candidates of one tokenizer."""
        return ()

    @property
    def needs_repeats(self) -> bool:
        """Whether a response is scored beside the candidate's other answers to the item.

        Its rows then hold `other_repeats`, and all repeats of an item are scored again when one is added.
        """
        return False

    @property
    def suggested(self) -> bool:
        """Whether a call that names no metric is told of it."""
        return True

    @property
    def by_default(self) -> bool:
        """Whether a call that names no metric scores by it, where items of its formats have what it needs.

        A class attribute: it is read before there are settings. For rules that need nothing but the items.
        """
        return False

    def applies_to(self, item: Item) -> bool:
        """Whether responses to this item are scored. No response to another item gets a row."""
        return formats.accepts(self.formats, item.format)

    def not_applicable(self, item: Item) -> str | None:
        """Why no response to an item of its formats can have a score, whatever it says; null if it can.

        Every response to it is set aside with this reason, blank ones too: it enters no mean and no bound.
        """
        return None

    def silence_parts(self, item: Item) -> Mapping[str, Mapping[str, float]]:
        """By criterion the `parts` of a response to the item that is blank or cannot be read.

        For criteria that pool counts and count silence as worst, such as an F1 in which a silence misses what
        was keyed. Without them such a criterion has no figure once somebody was silent.
        """
        return {}

    def bind(self, items: Sequence[Item]) -> Self:
        """A copy for a run of these items, for a metric whose scores depend on all of them.

        Its settings, and so its signature, then say what it took from them.
        """
        return self

    def bind_settings(self, items: Sequence[Item]) -> Self:
        """The metric that `bind` gives, with nothing loaded: a dry run counts by it."""
        return self.bind(items)

    def texts_to_encode(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Mapping[str, Collection[str]] | None:
        """The distinct texts that each encoder, by its name, would read for these rows; nothing is loaded.

        Null where only the encoder itself could tell.
        """
        return {}

    @abstractmethod
    def values(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        """For each row, in order, the value of every criterion by name.

        A criterion may give several values, one for each `Unit` of the response.
        """


class ComparativeMetric(Metric):
    """A metric that scores responses to one item against each other, on ballots."""

    @property
    def comparative(self) -> bool:
        """True, unless a metric compares under some of its settings only."""
        return True

    @abstractmethod
    def orders(self, candidates: Sequence[str], place: str) -> Sequence[tuple[str, ...]]:
        """The ballots: which candidates stand on one together, in the order shown.

        Each set of candidates comes in each order once. Random choices are seeded by `place`, the item and
        repeat, and the candidates' names, so that a later candidate changes no order among the others.
        """

    @abstractmethod
    def compare(
        self, ballots: Sequence[Sequence[Row]], context: ScoringContext
    ) -> Sequence[Sequence[Mapping[str, Value]]]:
        """For each ballot of two readable responses or more the values of each, in the order shown."""

    def values(
        self, rows: Sequence[Row], context: ScoringContext
    ) -> Sequence[Mapping[str, Value | Mapping[Unit, Value]]]:
        """Raises `MetricError`: a response has no value without others on its ballot."""
        raise MetricError(f"{self} compares responses: it gives no value for a single one.")


def is_comparative(metric: Metric) -> TypeGuard[ComparativeMetric]:
    """Whether the metric scores ballots under its settings."""
    return metric.comparative
