"""Probes: what is asked of a model's probabilities about one item, and what of the replies is kept.

A probe is pure: it makes requests, and of the replies what was told, which is stored as the text of a
response of its own. Metrics are functions of that; several may share a probe. Its name holds the settings
that change what is asked, and no others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from vivavoce.models import Branches, Likelihood, Message, Reply, Request
from vivavoce.records import Item

__all__ = ["Probe", "Said", "asked_of", "joined", "lacking", "most_calls", "singles"]

Said = Callable[[Item], tuple[Message, ...]]
"""The conversation that asks an item, with a candidate's own prompt, system message and examples."""


class Probe(Protocol):
    """What is asked about one item: at most two rounds, the second from the replies to the first."""

    @property
    def name(self) -> str:
        """Its spec, as `given(after=question)`: two probes of one name ask the same."""
        ...

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """What is asked first, such as answers to be drawn; often nothing."""
        ...

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """The likelihoods that are asked, of `Branches`."""
        ...

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """What is kept of the replies, fit for JSON."""
        ...


def asked_of(request: Request, branching: bool) -> list[Request]:
    """A request as a model takes it: as it is, or one for each branch where it takes no `Branches`."""
    return [request] if branching or request.branches is None else singles(request)


def singles(request: Request) -> list[Request]:
    """A request of branches as one for each cut and target, cut by cut.

    What stands before a target is spelt by the pieces of the trunk. Raises `ValueError` where it has none.
    """
    b = request.branches or Branches(())
    pieces = b.trunk.pieces if b.trunk else ()
    if max(b.cuts, default=0) > len(pieces):
        raise ValueError(
            "the endpoint did not tell the tokens of what it said, so nothing can be put after them"
        )
    return [
        replace(request, branches=None, target=target, begun="".join(pieces[:cut]))
        for cut in b.cuts
        for target in b.targets
    ]


def joined(replies: Sequence[Reply]) -> Reply:
    """The replies to `singles` as the one to the request of branches."""
    found: list[Likelihood] = [one for reply in replies for one in reply.likelihoods]
    first = replies[0]
    return replace(first, likelihoods=tuple(found), truncated=max(reply.truncated for reply in replies))


def lacking(request: Request, reply: Reply) -> str | None:
    """What a reply to a probe's request does not tell, though it was asked; null if all is there."""
    if request.kind == "generate":
        wanted = request.sampling.logprobs or request.sampling.beams
        return (
            "the tokens of the answer were asked for, and none were told"
            if wanted and not reply.drawn
            else None
        )
    b = request.branches
    n = len(b.cuts) * len(b.targets) if b else 1
    if len(reply.likelihoods) == n:
        return None
    return f"{n} likelihoods were asked for, and {len(reply.likelihoods)} were told"


def most_calls(probe: Probe, item: Item, said: Said, branching: bool) -> int:
    """How many requests an item takes at most, before anything was asked."""
    own: Callable[[Item, bool], int] | None = getattr(probe, "calls", None)
    if own is not None:
        return own(item, branching)
    return sum(
        len(asked_of(r, branching)) for r in (*probe.opening(item, said), *probe.following(item, said, ()))
    )
