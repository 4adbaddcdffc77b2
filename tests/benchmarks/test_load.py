"""Loading and checking a benchmark, and what a stranger's benchmark may do wrong."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from vivavoce.benchmarks import Benchmark, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Item

CARD = Card(name="own", description="d", source="s", revision_note="none", licence="l", citation="c")


def item(name: str, benchmark: str = "own", **fields: Any) -> Item:
    return Item(**{"benchmark": benchmark, "item": name, "format": "short", "question": "?x"} | fields)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Iterable[Any]]], None]:
    """Registers the benchmark `own` with these items; `few=true` selects those whose id begins with a."""
    for kind in registry.HOMES:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))

    def register(made: Callable[[], Iterable[Any]]) -> None:
        @registry.benchmark("own")
        class Own(Benchmark):
            few: bool = False

            card = CARD

            def items(self) -> Iterable[Any]:
                return made()

            def selects(self, item: Item) -> bool:
                return not self.few or item.item.startswith("a")

    return register


def test_a_setting_narrows_what_is_examined(own: Callable[..., None]) -> None:
    own(lambda: [item("a1"), item("b1"), item("a2")])
    whole, few = load("own"), load("own(few=true)")
    assert (["a1", "b1", "a2"], []) == ([i.item for i in whole.items], list(whole.others))
    assert (["a1", "a2"], ["b1"]) == ([i.item for i in few.items], [i.item for i in few.others])
    assert ("own", "own(few=true)") == (whole.spec, few.spec)
    assert CARD == few.card
    assert isinstance(registry.build("benchmark", "own"), Benchmark)


def test_nothing_selected_is_an_error(own: Callable[..., None]) -> None:
    own(lambda: [item("b1")])
    with pytest.raises(InputError, match=r"own\(few=true\) selects none of its items\."):
        load("own(few=true)")
    own(lambda: [])
    with pytest.raises(InputError, match=r"own has no items\."):
        load("own")


def test_a_benchmark_that_breaks_is_named(own: Callable[..., None]) -> None:
    def broken() -> Iterator[Item]:
        yield item("a1")
        raise KeyError("gold")

    own(broken)
    with pytest.raises(InputError, match=r"own broke while its items were read: KeyError: 'gold'\."):
        load("own")
    own(lambda: [{"id": "a1"}])
    with pytest.raises(InputError, match=r"own broke while its items were read: AttributeError: "):
        load("own")


def test_an_error_of_ours_stays_what_it_is(own: Callable[..., None]) -> None:
    def refused() -> Iterator[Item]:
        raise InputError("own needs a download.")
        yield

    own(refused)
    with pytest.raises(InputError, match=r"^own needs a download\.$"):
        load("own")


def test_items_of_two_benchmarks_are_refused(own: Callable[..., None]) -> None:
    own(lambda: [item("a1"), item("a2", benchmark="other")])
    with pytest.raises(InputError, match="own: its items name more than one benchmark"):
        load("own")


def test_an_id_and_a_variant_are_not_mixed_up(own: Callable[..., None]) -> None:
    own(lambda: [item("a\tb"), item("a", variant="b"), item("a\tb\t"), item("a", variant="b\t")])
    assert 4 == len(load("own").items)
