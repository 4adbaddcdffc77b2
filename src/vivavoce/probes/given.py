"""How probable an item's references are, after the question or by themselves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vivavoce.models import Branches, Likelihood, Reply, Request
from vivavoce.probes import Said
from vivavoce.records import Item

__all__ = ["Given"]


@dataclass(frozen=True, slots=True)
class Given:
    """The likelihood of each reference, `after` the conversation that asks the item or after nothing.

    After the question one request for all references of an item, which share it; alone each has its own, so
    that one longer than the model's context is read by windows. Without any reference nothing is asked.

    What is told: `references`, for each in the item's order its `logprob` in nats (null where it is no finite
    number), `tokens` and `verbatim`, or null for one without a character; `tokeniser`; `truncated`, the
    tokens of the question that were left out.
    """

    after: Literal["question", "nothing"]

    @property
    def name(self) -> str:
        """`given(after=question)` or `given(after=nothing)`."""
        return f"given(after={self.after})"

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """Nothing: no answer is drawn."""
        return ()

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """The references that hold a character, equal ones once; nothing without such."""
        targets = _targets(item)
        if not targets:
            return ()
        if self.after == "question":
            asked = [(said(item), targets)]
        else:
            asked = [((), (target,)) for target in targets]
        return [
            Request(kind="loglikelihood", messages=messages, branches=Branches(part))
            for messages, part in asked
        ]

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """The mapping described above. Raises `ValueError` if likelihoods are missing or too many."""
        found = [one for reply in followed for one in reply.likelihoods]
        known = dict(zip(_targets(item), found, strict=True))
        return {
            "references": [_kept(known[text]) if text else None for text in item.references],
            "tokeniser": followed[0].tokeniser if followed else None,
            "truncated": max((reply.truncated for reply in followed), default=0),
        }


def _targets(item: Item) -> tuple[str, ...]:
    """The references that can have a probability, each once."""
    return tuple(dict.fromkeys(filter(None, item.references)))


def _kept(found: Likelihood) -> dict[str, Any]:
    logprob = found.logprob if math.isfinite(found.logprob) else None  # JSON has no infinity
    return {"logprob": logprob, "tokens": found.tokens, "verbatim": found.verbatim}
