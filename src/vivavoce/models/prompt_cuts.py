"""Prompts that an endpoint cut in silence, as its own count of their tokens shows."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from vivavoce.core.parts import PROMPT_CUT
from vivavoce.models.requests import PromptCut, Reply, Request

SHORTEST = 1000
"""Characters of a prompt from which its tokens are checked."""
_PIECE = re.compile(r"\S{1,8}")
_REPEATED = re.compile(r"(\S{1,8}?)\1{3,}")


def prompt_cut(request: Request, tokens: int | None) -> PromptCut | None:
    """The cut of a prompt of which the endpoint counted fewer tokens than any tokeniser makes; else null.

    Tokenisers make a word a token or several, those that join words (SuperBPE) join fewer than 2 on average,
    and no text has 16 letters a token. So a token for 2 words, a word of over 8 characters being several, is
    a bound from below in every language. What tokenisers do pack is left out of it: runs of white space, and
    one character or a short group of them repeated. Null for a prompt under `SHORTEST` characters, and for
    none or 0 tokens, which count nothing.
    """
    characters = request.characters
    if not tokens or characters < SHORTEST or 4 * tokens > characters:
        return None
    pieces = sum(len(_PIECE.findall(_REPEATED.sub(r"\1", m.content))) for m in request.messages)
    return PromptCut(tokens, characters) if tokens < pieces // 2 else None


def with_prompt_cut(reply: Reply, request: Request) -> Reply:
    """The reply, with the cut of the prompt that its usage shows."""
    cut = prompt_cut(request, reply.usage.input)
    return replace(reply, prompt_cut=cut) if cut else reply


def prompt_cut_in(meta: Mapping[str, object]) -> PromptCut | None:
    """The cut that a response's `meta` keeps; null for none."""
    cut = meta.get(PROMPT_CUT)
    numbers = [cut.get(name) for name in PromptCut._fields] if isinstance(cut, Mapping) else []
    counts = [n for n in numbers if type(n) is int]
    return PromptCut(*counts) if len(counts) == len(PromptCut._fields) else None


class CutPrompts(NamedTuple):
    """How many prompts of a model were cut, and the deepest of the cuts."""

    n: int
    worst: PromptCut

    def joined(self, cuts: "CutPrompts | None") -> "CutPrompts":
        """With others."""
        if cuts is None:
            return self
        return CutPrompts(self.n + cuts.n, min(self.worst, cuts.worst, key=lambda c: c.tokens / c.characters))

    def sentence(self, model: str) -> str:
        """What to say of it."""
        replies = "1 reply" if self.n == 1 else f"{self.n:,} replies"
        tokens = "1 token" if self.worst.tokens == 1 else f"{self.worst.tokens:,} tokens"
        return (
            f"{model} counted {tokens} for a prompt of {self.worst.characters:,} characters ({replies} with "
            "too few): its server probably cut the prompts. Raise its context length, or check its counts."
        )
