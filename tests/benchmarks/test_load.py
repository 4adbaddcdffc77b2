"""Loading and checking a benchmark, and what a stranger's benchmark may do wrong."""

import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vivavoce.benchmarks import Benchmark, _check_items, item_or_exclusion, load
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Exclusion, Item

CARD = Card(name="own", description="d", source="s", revision_note="none", licence="l", citation="c")


def item(name: str, benchmark: str = "own", **fields: Any) -> Item:
    return Item(**{"benchmark": benchmark, "item": name, "format": "short", "question": "?x"} | fields)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Iterable[Any]]], None]:
    """Registers the benchmark `own` with these items; `few=true` selects those whose id begins with a."""
    for kind in registry.DOORS:
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
    own(lambda: sys.exit("two\nlines."))
    with pytest.raises(InputError, match=r"own broke while its items were read: SystemExit: two lines\.$"):
        load("own")
    own(lambda: sys.exit(3))
    with pytest.raises(InputError, match=r"own broke while its items were read: SystemExit: 3\."):
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


def test_rows_that_can_be_no_item_are_left_out_with_their_reasons(own: Callable[..., None]) -> None:
    def rows() -> Iterator[Item | Exclusion]:
        mcq = {"format": "mcq", "answer": ("A",)}
        yield item_or_exclusion(item("a1", options=("x", "y"), **mcq), file="own/test.json", row=1)
        yield item_or_exclusion(item("a2", options=("x", "x"), **mcq), file="own/test.json", row=2)
        yield item_or_exclusion(
            item("a3", options=("x", "y"), answer=("z",), format="mcq"), file="f", row="a3"
        )
        yield item_or_exclusion(item("a4", references=("x", " ")), file="f", row=4)
        yield item_or_exclusion(item("a\n5"), file="f", row=5)
        yield Exclusion("f", 6, "the key is null")

    own(rows)
    loaded = load("own")
    assert ["x"] == [i.answer[0] for i in loaded.items]
    assert (
        ("test.json", 2, "two options are equal"),
        ("f", "a3", "the key is no option"),
        ("f", 4, "a reference is empty"),
        ("f", 5, "a name stands on several lines"),
        ("f", 6, "the key is null"),
    ) == loaded.exclusions


def test_the_rows_left_out_belong_to_the_signature(own: Callable[..., None]) -> None:
    own(lambda: [item("a1")])
    whole = load("own").signature
    own(lambda: [item("a1"), Exclusion("f", 2, "the key is null")])
    one = load("own").signature
    own(lambda: [item("a1"), Exclusion("f", 3, "the key is null")])
    assert 3 == len({whole, one, load("own").signature})
    assert one.startswith(f"{whole}#")


def test_an_exam_of_faulty_rows_alone_is_refused_with_its_reasons(own: Callable[..., None]) -> None:
    reasons = ["two options are equal"] * 3 + [f"fault {k:02}" for k in range(99_997)]
    own(lambda: [Exclusion("f", k, reason) for k, reason in enumerate(reasons, 1)])
    with pytest.raises(InputError) as raised:
        load("own")
    sentence = str(raised.value)
    assert sentence.startswith(
        "own has no items: all of its 100,000 rows were left out: 3 two options are equal, 1 fault 00, "
    )
    assert "and 99,990 for 99,990 other reasons" in sentence
    assert len(sentence) < 500


def test_a_hostile_reason_stays_one_short_printable_line(own: Callable[..., None]) -> None:
    own(lambda: [item("a1"), Exclusion("f\x1b[2J", "r\n1", "no\x1b[31m key\n" + "x" * 9_999)])
    [(file, row, reason)] = load("own").exclusions
    assert ("f\ufffd[2J", "r 1") == (file, row)
    assert 80 == len(reason)
    assert reason.startswith("no\ufffd[31m key xxx")


def test_an_exclusion_of_other_types_breaks_its_benchmark(own: Callable[..., None]) -> None:
    for wrong in (Exclusion("f", None, "x"), Exclusion("f", True, "x"), Exclusion("f", 1, None)):  # type: ignore[arg-type]
        own(lambda wrong=wrong: [item("a1"), wrong])  # type: ignore[misc]
        with pytest.raises(InputError, match="own broke while its items were read: TypeError"):
            load("own")


def test_the_signature_is_of_the_files_that_are_read_and_of_no_other(
    own: Callable[..., None], tmp_path: Path
) -> None:
    own(list)

    @registry.benchmark("foldered")
    class Foldered(Benchmark):
        data: Path

        card = CARD

        @property
        def extra_files(self) -> tuple[Path, ...]:
            return (self.data / "data" / "test.csv",)

        def items(self) -> Iterable[Item]:
            return [item("a1")]

    (tmp_path / "data").mkdir()
    read, beside = tmp_path / "data" / "test.csv", tmp_path / "NOTES.md"
    read.write_text("one")
    spec = f"foldered(data={tmp_path})"
    before = load(spec).signature
    beside.write_text("notes")
    assert before == load(spec).signature
    read.write_text("two")
    assert before != load(spec).signature


def test_checking_ids_holds_hashes_of_them(own: Callable[..., None]) -> None:
    """A dict of names would take some 180 bytes an item."""
    peaks = []
    for n in (100, 2_000, 10_000):  # the first loads what is loaded at first use
        items = [item(f"q{k}") for k in range(n)]
        tracemalloc.start()
        _check_items(items, "own")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[2] - peaks[1]) / 8_000 < 80


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({"name": "q7"}, "the id 'q7' stands there twice"),
        ({"name": "last", "alias": "q7"}, "the alias 'q7' of 'last' is the id of another item"),
        ({"name": "q7", "variant": "v"}, None),
        ({"name": "last", "alias": "last"}, None),
    ],
)
def test_one_name_among_many_that_is_not_alone(
    own: Callable[..., None], last: dict[str, Any], message: str | None
) -> None:
    own(lambda: [*(item(f"q{k}") for k in range(50)), item(**last)])
    if message is None:
        assert 51 == len(load("own").items)
    else:
        with pytest.raises(InputError, match=message):
            load("own")
