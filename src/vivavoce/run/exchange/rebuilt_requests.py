"""Requests as `viva collect` makes them, built again from item, candidate and prompt file."""

from collections.abc import Mapping, Set
from typing import Any

from vivavoce.benchmarks import load, load_examples
from vivavoce.core.errors import VivaError
from vivavoce.core.records import Item
from vivavoce.core.specs import parse
from vivavoce.models.candidates import sampling_of
from vivavoce.models.requests import Message, Request
from vivavoce.run.collect.plan import RequestBuilder
from vivavoce.run.tables.stored_benchmarks import marked
from vivavoce.store.forgotten import is_forgotten
from vivavoce.store.read import Benchmark


class RebuiltRequests:
    """Builds the requests of one benchmark. Those of few-shot candidates need its data."""

    def __init__(self, benchmark: Benchmark, stored: tuple[Item, ...]) -> None:
        self._benchmark, self._stored = benchmark, stored
        self._plain = RequestBuilder(stored)
        self._with_examples: RequestBuilder | None = None

    def settings(self, candidate: str) -> Mapping[str, Any]:
        """The settings of a candidate, those that a preset stands for among them."""
        settings = dict(parse(candidate).settings)
        return {**self._benchmark.card.published, **settings} if settings.pop("preset", None) else settings

    def request(self, item: Item, candidate: str, repeat: int) -> Request:
        """The request for an item.

        Raises `VivaError` or `KeyError` where a prompt file, the benchmark's data or the item in them are
        gone.
        """
        settings = self.settings(candidate)
        return self.builder(settings).generation(item, settings, sampling_of(settings), repeat)

    def messages(self, item: Item, candidate: str, repeat: int, keys: Set[str]) -> tuple[Message, ...] | None:
        """What the candidate was asked; null where the request has none of these keys."""
        try:
            request = self.request(item, candidate, repeat)
        except (VivaError, KeyError):
            return None
        return request.messages if request.key in keys else None

    def builder(self, settings: Mapping[str, Any]) -> RequestBuilder:
        """The builder for a candidate of these settings."""
        if not settings.get("shots"):
            return self._plain
        if self._with_examples is None:
            names = {item.item for item in self._stored if is_forgotten(item.meta)}
            loaded = marked(load(self._benchmark.spec), names, self._stored)
            every = loaded.joined(tuple(item for item in self._stored if item.origin is not None)).items
            self._with_examples = RequestBuilder(every, split=lambda: load_examples(loaded.spec))
        return self._with_examples
