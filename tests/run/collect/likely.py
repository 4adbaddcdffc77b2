"""A fake model of probabilities: what it tells follows from the text, so all ways of asking must agree."""

import asyncio
import hashlib
from collections.abc import Callable

from vivavoce.models.requests import Generation, Likelihood, RejectedError, Reply, Request, Usage


def nats(before: str, target: str) -> float:
    """What the fake model holds of a target after a text: below 0, and the same each time."""
    drawn = hashlib.sha256(f"{before}|{target}".encode()).digest()
    return -(1 + int.from_bytes(drawn[:2], "big") / 1000)


class FakeLikely:
    """Counts its calls. `branching` takes branches, as a model in this process does; `poor` may refuse."""

    endpoint, place = "fake", ""

    def __init__(
        self,
        name: str,
        *,
        branching: bool = True,
        poor: Callable[[Request], bool] = lambda request: False,
        tokeniser: str | None = "fake",
    ) -> None:
        self.name, self.branching, self.poor, self.tokeniser = name, branching, poor, tokeniser
        self.asked: list[Request] = []
        self.released = 0

    async def generate(self, request: Request) -> Reply:
        """Three pieces that follow from the seed."""
        self._count(request)
        pieces = tuple(f" w{(request.sampling.seed or 0) % 7}{k}" for k in range(3))
        drawn = Generation("".join(pieces), (1, 2, 3), pieces, (-0.1, -0.2, -0.3), True)
        return Reply(text=drawn.text, usage=Usage(4, 3), generations=(drawn,), tokeniser=self.tokeniser)

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of the one target, or of all branches, cut by cut."""
        self._count(request)
        await asyncio.sleep(0)  # so that requests are on the wire together
        asked = "\n".join(m.content for m in request.messages)
        if request.branches is None:
            told = [Likelihood(nats(asked + request.begun, request.target or ""), 2, 1)]
        else:
            assert self.branching, "an endpoint takes one target at a time"
            trunk = request.branches.trunk
            told = [
                Likelihood(nats(asked + "".join(trunk.pieces[:cut] if trunk else ()), target), 2, 1)
                for cut in request.branches.cuts
                for target in request.branches.targets
            ]
        return Reply(
            text="", usage=Usage(5, 0), likelihoods=tuple(told), tokeniser=self.tokeniser, model="fake-1"
        )

    async def close(self) -> None:
        """Nothing to close."""

    def _count(self, request: Request) -> None:
        self.asked.append(request)
        if self.poor(request):
            raise RejectedError("too long for the fake model")


class FakeLocal(FakeLikely):
    """One that holds memory, as a model in this process does."""

    @property
    def facts(self) -> dict[str, str]:
        """How it runs."""
        return {"device": "none"}

    def release(self) -> None:
        """Let it go."""
        self.released += 1
