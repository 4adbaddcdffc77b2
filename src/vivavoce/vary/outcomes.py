"""What variations are given and what they give: the stock of a run, and an outcome for each thing tried."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from vivavoce.errors import InputError
from vivavoce.records import Item, Response, Role

if TYPE_CHECKING:
    from vivavoce.ask.desk import Desk

__all__ = ["Outcome", "ResponseKey", "Stock", "Variation", "drawn", "key_of"]


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
    """What can be varied: the chosen items of the exam, and the answers to them that nobody has edited.

    `roles` are those of the run's candidates. `made` holds the origin of every response that was not a
    candidate's answer but was made here.
    """

    items: Sequence[Item]
    answers: Sequence[Response] = ()
    roles: Mapping[str, Role] = {}
    made: Mapping[ResponseKey, str | None] = {}

    @property
    def bases(self) -> list[Item]:
        """The base items: what other framings are made of."""
        return [item for item in self.items if not item.variant]

    def holds(self, response: Response) -> bool:
        """True if the run holds what was made by the same spec under this key already.

        Raises `InputError` if it was made otherwise.
        """
        key, wanted = key_of(response), response.meta["origin"]
        if key not in self.made:
            return False
        if self.made[key] != wanted:
            raise InputError(
                f"{key.candidate} has {key.edit or f'repeat {key.repeat}'} of {key.item} in this run "
                f"already, from {self.made[key] or 'elsewhere'}, not from {wanted}: what is made is kept. "
                "Use another run, or another label."
            )
        return True


class Outcome(NamedTuple):
    """What came of one thing that was tried.

    `what` is the variant or the edit in short (`bias:recency`, `rephrase`), `name` the item's. `made` stands
    or falls together, such as a biased item with its neutral twin; it is empty where nothing could be made,
    and `reason` says why. With something made, `reason` is the check that it failed; null where it failed
    none; `detail` tells more of it. `requests` is how many a model would have to be sent first. `there`: the
    run holds it already.
    """

    what: str
    name: str
    made: tuple[Item | Response, ...] = ()
    reason: str | None = None
    detail: str | None = None
    requests: int = 0
    there: bool = False


@runtime_checkable
class Variation(Protocol):
    """What a variation offers.

    An item that it makes has the key, the group and all else of its base item but question, context, variant,
    alias and `meta`; `origin` is its spec, narrowed to what made this item, or null for the spec as given.
    """

    def makes(self, stock: Stock, desk: "Desk | None") -> Iterable[Outcome]:
        """An outcome for each thing it was tried on; without a desk, nobody is asked."""
        ...


def drawn(item: Item, purpose: str, seed: int, among: int) -> int:
    """A number from 0 to `among` - 1 that follows from the item's ids, the purpose and the seed alone.

    The item's place in the exam, and what else is made in the same call, do not matter.
    """
    text = f"{item.benchmark}|{item.item}|{purpose}|{seed}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") % among
