"""Baselines that ask nobody: what chance, a lazy rule and the key itself score on an exam.

Floor: `random` picks an option, `longest-option` the longest one (the first of equals), `echo` gives the
question back. Ceiling: `reference` answers with the key. They show whether a score is any good. What `random`
picks follows from the question, `Request.draw` and the seed, never from the order of asking.
"""

import hashlib
import random

from vivavoce.models import Broken, Reply, Request, Usage

__all__ = ["BASELINES", "Baseline"]

BASELINES = {"random": "floor", "longest-option": "floor", "echo": "floor", "reference": "ceiling"}


class Baseline:
    """`baseline/random`, `baseline/longest-option`, `baseline/echo` or `baseline/reference`."""

    endpoint, place = "baseline", ""

    def __init__(self, name: str, rule: str) -> None:
        if rule not in BASELINES:
            raise Broken(f"no baseline {rule!r}: there are {', '.join(BASELINES)}.")
        self.name, self.rule = name, rule

    async def generate(self, request: Request) -> Reply:
        """The rule's answer; empty where the item gives it nothing to choose from."""
        return Reply(text=self._answer(request), finish_reason="stop", usage=Usage(0, 0))

    def _answer(self, request: Request) -> str:
        question = request.messages[-1].content if request.messages else ""
        match self.rule:
            case "echo":
                return question
            case "reference":
                return request.reference or ""
            case "longest-option":
                return max(request.options, key=len, default="")
        drawn = f"{question}|{request.draw}|{request.sampling.seed}"
        seed = hashlib.sha256(drawn.encode("utf-8", "surrogatepass")).digest()
        return random.Random(seed).choice(request.options) if request.options else ""

    async def loglikelihood(self, request: Request) -> Reply:
        """A rule has no probabilities."""
        raise Broken(
            f"{self.name} gives no probabilities: it is a rule, so leave it out where they are asked."
        )

    async def close(self) -> None:
        """Nothing to close."""
