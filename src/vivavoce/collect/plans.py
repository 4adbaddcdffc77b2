"""What a collect is about to do, and what that may cost. Nobody is asked."""

from typing import NamedTuple

from vivavoce.collect.orders import Order
from vivavoce.collect.probing import at_most, inquiries
from vivavoce.collect.requests import todo
from vivavoce.models.named import Named
from vivavoce.store import RunFile
from vivavoce.store.calls import answered

__all__ = ["Plan", "plan"]


class Plan(NamedTuple):
    """What a collect is about to do for one candidate: requests to make, and what they may cost.

    Tokens are characters / 4, which is rough; `output_tokens` is the most that `max_tokens` allows, null
    without that; `cost` is null without a price or a limit. Of probabilities `calls` is the most it may take,
    `answered` counts items, and tokens are null: they hang on what the model will say.
    """

    candidate: str
    calls: int
    answered: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


def plan(run: RunFile, wanted: Order) -> tuple[Plan, ...]:
    """What a collect of this would ask and may cost, candidate by candidate."""
    return tuple((_probes if wanted.probes else _answers)(run, wanted, c) for c in wanted.candidates)


def _answers(run: RunFile, wanted: Order, candidate: Named) -> Plan:
    done = answered(run, wanted.items[0].benchmark, str(candidate.spec))
    left = list(todo(wanted.items, wanted.repeats, done))
    sent = sum(wanted.asking.request(item, candidate, repeat).characters for item, repeat in left) // 4
    limit, rates = candidate.sampling.max_tokens, candidate.price
    made = None if limit is None else limit * len(left)
    cost = None if rates is None or made is None else (sent * rates[0] + made * rates[1]) / 1e6
    cost = 0.0 if candidate.provider is None else cost
    there = len(wanted.items) * wanted.repeats - len(left)
    return Plan(str(candidate.spec), len(left), there, sent, made, cost)


def _probes(run: RunFile, wanted: Order, candidate: Named) -> Plan:
    left = sum(1 for _ in inquiries(run, wanted, candidate))
    there = sum(len(inquiry.items) for inquiry in wanted.probes) - left
    calls = at_most(run, wanted, candidate, candidate.local)
    cost = 0.0 if candidate.provider is None else None
    return Plan(str(candidate.spec), calls, there, None, None, cost)
