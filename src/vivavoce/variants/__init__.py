"""Variations: variants of an item, and edits of a response, each a new row with its origin.

A variation derives from `Variation` and is registered with `@variation(name)`. `makes` gives an `Outcome` for
everything it was tried on: what was made of it, or the reason why nothing was. `run.vary` checks what
was made and stores it; nothing is ever made twice.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, dataclass_transform

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response, Role

if TYPE_CHECKING:
    from vivavoce.core.specs import Spec
    from vivavoce.models.engine.client import ModelClient


SHARD = 250
"""Base items, or answers, of a piece of the work that a worker gets."""


class ResponseKey(NamedTuple):
    """What tells a response from all others of a run."""

    benchmark: str
    item: str
    variant: str
    candidate: str
    repeat: int
    edit: str


def key_of(response: Response) -> ResponseKey:
    """The key of a response."""
    return ResponseKey(*(getattr(response, name) for name in ResponseKey._fields))


class Stock(NamedTuple):
    """What can be varied: the chosen items of the benchmark, and the unedited responses to them.

    A ceiling's are there where they were imported or collected. `roles` are those of the run's candidates.
    `origins` holds the origin of every response that was generated in the run. `passages` holds, for answers
    that people read for it, the passages by which each of them says that the right option is given away.
    """

    items: Sequence[Item]
    answers: Sequence[Response] = ()
    roles: Mapping[str, Role] = {}
    origins: Mapping[ResponseKey, str | None] = {}
    passages: Mapping[ResponseKey, Sequence[Sequence[str]]] = {}

    @property
    def bases(self) -> list[Item]:
        """The base items: what other framings are made of."""
        return [item for item in self.items if not item.variant]

    def by_items(self, size: int = SHARD) -> "list[Stock]":
        """The items in parts of so many base items, each with its variants; without answers."""
        variants: dict[tuple[str, str], list[Item]] = {}
        for item in self.items:
            variants.setdefault((item.benchmark, item.item), []).append(item)
        bases = self.bases
        return [
            Stock(
                [v for base in bases[position : position + size] for v in variants[base.benchmark, base.item]]
            )
            for position in range(0, len(bases), size)
        ]

    def by_answers(self, size: int = SHARD) -> "list[Stock]":
        """The answers in parts of so many, in their order, each with what is known of their items."""
        return [
            self._of(self.answers[position : position + size])
            for position in range(0, len(self.answers), size)
        ]

    def _of(self, answers: Sequence[Response]) -> "Stock":
        """The stock of these answers alone."""
        keys = {(r.benchmark, r.item, r.variant) for r in answers}
        return Stock(
            [item for item in self.items if (item.benchmark, item.item, item.variant) in keys],
            answers,
            self.roles,
            {key: origin for key, origin in self.origins.items() if key[:3] in keys},
            {key: passages for key, passages in self.passages.items() if key[:3] in keys},
        )

    def holds(self, response: Response) -> bool:
        """True if the run holds what was made by the same spec under this key already.

        Raises `InputError` if it was made otherwise.
        """
        key, origin = key_of(response), response.meta["origin"]
        if key not in self.origins:
            return False
        if self.origins[key] != origin:
            raise InputError(
                f"{key.candidate} has {key.edit or f'repeat {key.repeat}'} of {key.item} in this run "
                f"already, from {self.origins[key] or 'elsewhere'}, not from {origin}: what is made is kept. "
                "Use another run, or another label."
            )
        return True


class Outcome(NamedTuple):
    """What came of one thing that was tried.

    `what` is the variant or the edit in short (`bias:recency`, `rephrase`), `name` the item's. The `records`
    stand or fall together, such as a biased item with its neutral twin; there are none where nothing could be
    made, and `reason` says why. With records, `reason` is the check that they failed, null where they failed
    none; `detail` tells more of it. `requests` is how many a model would have to be sent first. `stored`: the
    run holds the records already.
    """

    what: str
    name: str
    records: tuple[Item | Response, ...] = ()
    reason: str | None = None
    detail: str | None = None
    requests: int = 0
    stored: bool = False


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Variation(ABC):
    """A way to make variants of items, or edits of responses. Its dataclass fields are its settings.

    An item that it makes has the key, the group and all else of its base item but question, context, variant,
    alias and `meta`; `origin` is its spec, narrowed to what made this item, or null for the spec as given.
    """

    def shards(self, stock: Stock) -> "Sequence[tuple[Variation, Stock]]":
        """The work in pieces, whose outcomes one after the other are those of `makes`, for worker processes.

        None, as by default, where it asks a model or needs the whole stock at once.
        """
        return ()

    @property
    def models_to_ask(self) -> "Sequence[str | Spec]":
        """The models that it asks, if any: a dry run, in which none is asked, checks that they could be."""
        return ()

    @abstractmethod
    def makes(self, stock: Stock, client: "ModelClient | None") -> Iterable[Outcome]:
        """An outcome for each thing it was tried on; without a client, no model is asked."""


def seeded_choice(item: Item, purpose: str, seed: int, among: int) -> int:
    """A number from 0 to `among` - 1 that follows from the item's ids, the purpose and the seed alone.

    The item's place in the exam, and what else is made in the same call, do not matter.
    """
    text = f"{item.benchmark}|{item.item}|{purpose}|{seed}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") % among
