"""Baselines that ask no model: what chance, a lazy rule and the key itself score on a benchmark.

Floor: `random` picks an option, `longest-option` the longest one (the first of equals), `echo` repeats the
question. Ceiling: `reference` responds with the key. They show whether a score is any good. What `random`
picks follows from the question, `Request.draw` and the seed in its spec, never from the order of requests.
Settings for all candidates of a call, `--seed` too, are not for baselines.
"""

import hashlib
import random
from collections.abc import Mapping
from typing import Any

from vivavoce.core import registry
from vivavoce.core.errors import SpecError, suggest
from vivavoce.core.records import Role
from vivavoce.models.providers import Provider
from vivavoce.models.requests import FatalError, Reply, Request, Usage

BASELINES: Mapping[str, Role] = {
    "random": "floor",
    "longest-option": "floor",
    "echo": "floor",
    "reference": "ceiling",
}


@registry.provider("baseline")
class BaselineProvider(Provider):
    """A rule that asks nobody: random, longest-option, echo or reference."""

    price = (0.0, 0.0)
    host = ""
    takes_shared_settings = False
    configured = "never"

    @classmethod
    def check(cls, model: str, options: Mapping[str, Any]) -> None:
        """Refuse a rule that there is not."""
        if model not in BASELINES:
            raise SpecError(f"no baseline {model!r}.{suggest(model, list(BASELINES))}")

    @classmethod
    def role_of(cls, model: str) -> Role:
        """A floor, or the ceiling."""
        return BASELINES[model]

    async def generate(self, request: Request) -> Reply:
        """The rule's answer; empty where the item gives it nothing to choose from."""
        return Reply(text=self._answer(request), finish_reason="stop", usage=Usage(0, 0))

    def _answer(self, request: Request) -> str:
        question = request.messages[-1].content if request.messages else ""
        match self.model:
            case "echo":
                return question
            case "reference":
                return request.reference or ""
            case "longest-option":
                return max(request.options, key=len, default="")
        picked_by = f"{question}|{request.draw}|{request.sampling.seed}"
        seed = hashlib.sha256(picked_by.encode("utf-8", "surrogatepass")).digest()
        return random.Random(seed).choice(request.options) if request.options else ""

    async def loglikelihood(self, request: Request) -> Reply:
        """A rule has no probabilities."""
        raise FatalError(
            f"{self.name} gives no probabilities: it is a rule, so leave it out where they are asked."
        )
