"""What is to be asked of whom, checked before anything is sent, and what that may cost."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks import Loaded, load, sampled
from vivavoce.collect.requests import Asking, todo
from vivavoce.errors import InputError, SpecError
from vivavoce.models.named import Named, named
from vivavoce.models.providers import providers as known_providers
from vivavoce.records import Item
from vivavoce.store import RunFile
from vivavoce.store.calls import answered

__all__ = ["Order", "Plan", "order", "plan"]


class Order(NamedTuple):
    """What is to be asked, checked: the exam's items, the candidates, and how often."""

    exam: Loaded
    items: tuple[Item, ...]
    candidates: tuple[Named, ...]
    repeats: int
    settings: Mapping[str, Any]
    asking: Asking


class Plan(NamedTuple):
    """What a collect is about to do for one candidate: requests to make, and what they may cost.

    Tokens are characters / 4, which is rough; `output_tokens` is the most that `max_tokens` allows, null
    without that; `cost` is null without a price or a limit.
    """

    candidate: str
    calls: int
    answered: int
    input_tokens: int
    output_tokens: int | None
    cost: float | None


def order(
    benchmark: str,
    models: Sequence[str],
    *,
    repeats: int | None = None,
    preset: Literal["published"] | None = None,
    sample: str | None = None,
    providers: Path | None = None,
    made: Callable[[str], Sequence[Item]] = lambda benchmark: (),
    **asked: Any,
) -> Order:
    """Check what is to be asked of whom; nothing is sent, nothing stored, and no key is needed.

    `made` gives what the run made of a benchmark's items: it is asked with them. `asked` are settings of
    every candidate (`models.named.ASKED`) that its own spec does not state; under `preset` those that the
    benchmark was published with fill what is left. Raises a `VivaError` for whatever cannot be used: a
    benchmark, a model, a provider, a setting, a prompt.
    """
    exam = load(benchmark)
    exam = exam.joined(made(exam.items[0].benchmark))
    given = {key: value for key, value in asked.items() if value is not None and value != ()}
    if preset is not None:
        if not exam.card.published:
            raise SpecError(f"{exam.spec} names no published settings, so there is no --preset {preset}.")
        given = {**exam.card.published, **given}
    published = given.pop("repeats", None)
    often = repeats if repeats is not None else int(published or 1)
    if often < 1:
        raise InputError(f"--repeats {often}: every question is asked once at least.")
    known = known_providers(providers)
    candidates = [named(text, known, **given) for text in dict.fromkeys(models)]
    if not candidates:
        raise SpecError("collect needs --model, such as --model openai/gpt-4o or --model baseline/random.")
    names = [str(c.spec) for c in candidates]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SpecError(f"--model names {twice[0]} twice.")
    items = exam.items if sample is None else sampled(exam.items, sample)
    asking = Asking(exam.items)
    for candidate in candidates:
        asking.check(items, candidate)
    settings = {
        "benchmark": exam.spec, "candidates": names, "repeats": often, "sample": sample, "preset": preset,
    }  # fmt: skip
    return Order(exam, items, tuple(candidates), often, settings, asking)


def plan(run: RunFile, wanted: Order) -> tuple[Plan, ...]:
    """What a collect of this would ask and may cost, candidate by candidate. Asks nobody."""
    plans = []
    for candidate in wanted.candidates:
        done = answered(run, wanted.items[0].benchmark, str(candidate.spec))
        left = list(todo(wanted.items, wanted.repeats, done))
        sent = sum(wanted.asking.request(item, candidate, repeat).characters for item, repeat in left) // 4
        limit, rates = candidate.sampling.max_tokens, candidate.price
        made = None if limit is None else limit * len(left)
        cost = None if rates is None or made is None else (sent * rates[0] + made * rates[1]) / 1e6
        cost = 0.0 if candidate.provider is None else cost
        there = len(wanted.items) * wanted.repeats - len(left)
        plans.append(Plan(str(candidate.spec), len(left), there, sent, made, cost))
    return tuple(plans)


def price(candidate: Named) -> tuple[float, float] | None:
    """What a million tokens cost, in and out: nothing where nobody is asked, null where no price is known."""
    if candidate.provider is None:
        return (0.0, 0.0) if candidate.spec.name.startswith(("baseline/", "replay")) else None
    return candidate.provider.prices.get(candidate.model)
