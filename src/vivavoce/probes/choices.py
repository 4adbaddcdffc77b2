"""Choices: the probability of each option of a closed question, in one order of them or in every rotation.

Nothing is added to how a candidate is asked. By default that is the question in words, which suits a model
with a chat template; a base model wants a cue to go on from: `--prompt cue`, or a file of one's own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from vivavoce.formats import label
from vivavoce.models import Branches, Likelihood, Reply, Request
from vivavoce.probes import Said
from vivavoce.records import Item
from vivavoce.specs import Spec

__all__ = ["Choices", "Of", "Put", "options_of", "puts_of"]

Of = Literal["letter", "text"]


BLANKS = (" ", "")
"""What stands before a text that is put without a question: as after a cue, as after a line break."""


class Put(NamedTuple):
    """An option as it was put to the model: its text or its letter there, and what was told of that.

    `logprob` is natural, summed over `tokens`; `alone` is the same without any question. Null where the model
    told no finite number.
    """

    text: str
    logprob: float | None
    tokens: int
    alone: float | None


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The options of an item as branches after the conversation that asks it.

    `of`: the letters under which options stand, A, B, …, or their full texts; true/false questions, which
    show no letters, are asked for the words True and False either way. `rotate`: the item is asked once in
    every cyclic rotation of its k options, the published order first, so that each stands once in every
    place. `unconditional`: also what the same texts are worth without any question.
    """

    of: Of = "letter"
    rotate: bool = False
    unconditional: bool = False

    @property
    def name(self) -> str:
        """Such as `choices(of=letter)`; what is off is left out."""
        on = {name: True for name in ("rotate", "unconditional") if getattr(self, name)}
        return str(Spec("choices", {"of": self.of, **on}))

    def opening(self, item: Item, said: Said) -> Sequence[Request]:
        """Nothing: the options are known beforehand."""
        return ()

    def following(self, item: Item, said: Said, opened: Sequence[Reply]) -> Sequence[Request]:
        """A request for each order, with a branch for each option; then that without a question.

        Branches of texts keep the published order, so that orders which a prompt does not show are one
        request. Without a question a text must be put as it stood after one, with a blank before it or
        without: only the model knows what the prompt ends in, so it is asked for both.
        """
        targets = self._targets(item)
        asked = [(said(_turned(item, shift)), targets) for shift in self._shifts(item)]
        if self.unconditional:
            asked += [((), tuple(f"{blank}{text}" for text in targets)) for blank in BLANKS]
        return [Request(messages=m, kind="loglikelihood", branches=Branches(t)) for m, t in asked]

    def told(self, item: Item, opened: Sequence[Reply], followed: Sequence[Reply]) -> Mapping[str, Any]:
        """`orders`, a list of rotations, each with its `shift` and lists by option in the published order:
        how it was `put`, its `logprob` and `tokens`; and `alone`, the log-probability of each text by itself.

        With a shift of s the first option shown is number s (from 0). What is not finite is null, and so is
        all of an order whose reply has another number of likelihoods than there are options.
        """
        shifts, targets = self._shifts(item), self._targets(item)
        orders = [self._order(shift, targets, r) for shift, r in zip(shifts, followed, strict=False)]
        form = len(shifts) + BLANKS.index("" if followed[0].spaced is False else " ")
        alone = _each(followed[form], len(targets)) if self.unconditional else ()
        return {
            "orders": orders,
            "alone": {text: _finite(one) for text, one in zip(targets, alone, strict=False)},
            "tokeniser": followed[0].tokeniser,
            "truncated": max(reply.truncated for reply in followed),
        }

    def _shifts(self, item: Item) -> range:
        return range(len(item.options) if self.rotate and item.options else 1)

    def _targets(self, item: Item) -> tuple[str, ...]:
        if self.of == "text" or item.format == "true_false":
            return options_of(item)
        return tuple(label(k) for k in range(len(item.options)))

    def _order(self, shift: int, targets: Sequence[str], reply: Reply) -> dict[str, Any]:
        n = len(targets)
        lettered = self.of == "letter"
        places = [(k - shift) % n if lettered else k for k in range(n)]
        likelihoods = _each(reply, n)
        return {
            "shift": shift,
            "put": [targets[at] for at in places],
            "logprob": [_finite(likelihoods[at]) for at in places],
            "tokens": [one.tokens if (one := likelihoods[at]) else 0 for at in places],
        }


def options_of(item: Item) -> tuple[str, ...]:
    """The texts of an item's options, in their published order."""
    return ("True", "False") if item.format == "true_false" else item.options


def puts_of(told: Mapping[str, Any]) -> list[tuple[int, tuple[Put, ...]]]:
    """What a response holds: by order its shift, and the options in their published order."""
    alone = told.get("alone") or {}
    return [
        (
            order["shift"],
            tuple(
                Put(text, logprob, tokens, alone.get(text))
                for text, logprob, tokens in zip(order["put"], order["logprob"], order["tokens"], strict=True)
            ),
        )
        for order in told["orders"]
    ]


def _turned(item: Item, shift: int) -> Item:
    """The item with its options from number `shift` on, then those before it."""
    return replace(item, options=item.options[shift:] + item.options[:shift]) if shift else item


def _each(reply: Reply, n: int) -> Sequence[Likelihood | None]:
    """The likelihoods of n targets: none of fewer or more, as nothing says whose each is."""
    return reply.likelihoods if len(reply.likelihoods) == n else [None] * n


def _finite(one: Likelihood | None) -> float | None:
    return one.logprob if one is not None and math.isfinite(one.logprob) else None
