"""What is to be asked of whom, checked before anything is sent."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce import registry
from vivavoce.benchmarks import Loaded, load, sampled
from vivavoce.collect.requests import Asking
from vivavoce.errors import InputError, SpecError
from vivavoce.metrics import bound_to, marks, probe_of
from vivavoce.models.named import Named, named
from vivavoce.models.providers import providers as known_providers
from vivavoce.probes import Probe
from vivavoce.records import Item

__all__ = ["Inquiry", "Order", "order"]


class Inquiry(NamedTuple):
    """A probe, and the items about which it is to be asked."""

    probe: Probe
    items: tuple[Item, ...]


class Order(NamedTuple):
    """What is to be asked, checked: the exam's items, the candidates, and how often; or which probes.

    `markless` are metrics that were asked for and mark none of the items.
    """

    exam: Loaded
    items: tuple[Item, ...]
    candidates: tuple[Named, ...]
    repeats: int
    settings: Mapping[str, Any]
    asking: Asking
    probes: tuple[Inquiry, ...] = ()
    markless: tuple[str, ...] = ()


def order(
    benchmark: str,
    models: Sequence[str],
    *,
    for_: Sequence[str] = (),
    repeats: int | None = None,
    preset: Literal["published"] | None = None,
    sample: str | None = None,
    providers: Path | None = None,
    made: Callable[[str], Sequence[Item]] = lambda benchmark: (),
    **asked: Any,
) -> Order:
    """Check what is to be asked of whom; nothing is sent, nothing stored, and no key is needed.

    `for_` names metrics that need probabilities: these are asked then, and no answers in words.
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
    often = repeats if repeats is not None else 1 if for_ else int(published or 1)
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
    if for_ and often > 1:
        raise SpecError(f"--repeats {often}: probabilities are asked once; leave --repeats out with --for.")
    probes, markless = _inquiries(for_, items)
    asking = Asking(exam.items)
    for candidate in candidates:
        asking.check(items, candidate)
    settings: dict[str, Any] = {
        "benchmark": exam.spec, "candidates": names, "repeats": often, "sample": sample, "preset": preset,
    }  # fmt: skip
    if probes:
        settings["for"] = [inquiry.probe.name for inquiry in probes]
    return Order(exam, items, tuple(candidates), often, settings, asking, probes, markless)


def _inquiries(metrics: Sequence[str], items: Sequence[Item]) -> tuple[tuple[Inquiry, ...], tuple[str, ...]]:
    """The probes that these metrics need, each with the items that one of them marks; and who marks none."""
    wanted: dict[str, Inquiry] = {}
    markless: list[str] = []
    for text in metrics:
        metric = bound_to(registry.build("metric", text), items)
        probe = probe_of(metric)
        if probe is None:
            raise SpecError(f"--for {text}: it marks answers in words, not probabilities; leave --for out.")
        had = wanted.get(probe.name, Inquiry(probe, ())).items
        there = {(item.item, item.variant) for item in had}
        own = [item for item in items if marks(metric, item) and all(getattr(item, n) for n in metric.needs)]
        if not own:
            markless.append(text)
            continue
        more = [item for item in own if (item.item, item.variant) not in there]
        wanted[probe.name] = Inquiry(probe, (*had, *more))
    if markless and not wanted:
        raise SpecError(
            f"--for {', '.join(markless)}: none of these {len(items)} items can be marked so; "
            "`viva show METRIC` says what it takes."
        )
    return tuple(wanted.values()), tuple(markless)
