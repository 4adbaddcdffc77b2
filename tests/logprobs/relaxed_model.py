"""A fake model whose probabilities are known: letters that hang on the letter before, and an end."""

import math

import numpy as np

from vivavoce.core.records import Item
from vivavoce.models.requests import Generation, Likelihood, Message, Reply, Request

LETTERS = "abcd."
"""The full stop ends an answer and is no part of it."""


def said(item: Item) -> tuple[Message, ...]:
    return (Message("user", item.question),)


class FakeLetters:
    """A token is a letter; each row of probabilities belongs to the letter before, the last to none."""

    def __init__(self, seed: int) -> None:
        self.table = np.random.default_rng(seed).dirichlet(np.ones(len(LETTERS)), size=len(LETTERS) + 1)

    def probability(self, letter: str, before: str) -> float:
        return float(self.table[LETTERS.index(before[-1]) if before else -1, LETTERS.index(letter)])

    def drawn(self, text: str, ended: bool = True) -> Generation:
        """The answer with that text, and with its end where it `ended`."""
        logprobs = tuple(math.log(self.probability(c, text[:i])) for i, c in enumerate(text))
        closing = math.log(self.probability(".", text)) if ended else None
        return Generation(text, tuple(map(LETTERS.index, text)), tuple(text), logprobs, ended, closing)

    def answer(self, request: Request) -> Reply:
        """An answer drawn by the request's seed, as from an endpoint: it tells no ids."""
        rng, text, longest = np.random.default_rng(request.sampling.seed), "", request.sampling.max_tokens
        while len(text) < longest:
            letter = rng.choice(list(LETTERS), p=self.table[LETTERS.index(text[-1]) if text else -1])
            if letter == ".":
                break
            text += letter
        drawn = self.drawn(text, len(text) < longest)._replace(ids=())
        return Reply(text=text, generations=(drawn,), tokeniser="letters")

    def likely(self, request: Request) -> Reply:
        """The likelihoods of a request of branches or of one target."""
        if request.branches is None:
            return Reply(text=None, likelihoods=(self.after(request.begun, request.target),))
        targets, trunk, cuts = request.branches
        spelt = trunk.text if trunk else ""
        found = tuple(self.after(spelt[:cut], target) for cut in cuts for target in targets)
        return Reply(text=None, likelihoods=found, tokeniser="letters")

    def after(self, begun: str, target: str) -> Likelihood:
        logprob = sum(math.log(self.probability(c, begun + target[:i])) for i, c in enumerate(target))
        return Likelihood(logprob, len(target))
