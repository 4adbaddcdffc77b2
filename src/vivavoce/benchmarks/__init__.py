"""Benchmarks: a card and items, one file each, registered with `@benchmark(name)`."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, dataclass_transform

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.errors import InputError, RowError, VivaError
from vivavoce.core.exclusions import ExclusionCounts, digest, plain, reasons, reasons_in_words
from vivavoce.core.item_files import item_sequence, items_where
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.repeats import hashes_of, repeats
from vivavoce.core.specs import Spec
from vivavoce.core.text import error_text, one_line, refuse_line_ends


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Benchmark(ABC):
    """A set of items with a card. Its dataclass fields are its settings.

    A setting that changes items or their key is part of what the benchmark is. One that only narrows it
    belongs into `selects`: a run of a part and a run of the whole are then runs of one benchmark.
    """

    keyed: ClassVar[bool] = True
    """Whether its items have a key. Items without one are asked but not scored, nor checked by a format."""

    download: ClassVar[Download | None] = None
    """The files that `viva fetch` brings; a property where they depend on the settings."""

    @property
    @abstractmethod
    def card(self) -> Card:
        """Source, revision, licence, access, citation and known faults; a class attribute will do."""

    @abstractmethod
    def items(self) -> Iterable[Item | Exclusion]:
        """Every item, in the benchmark's own order, and each row that can be none (see `item_or_exclusion`).

        Raises `InputError` for data it cannot use at all.
        """

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The files that it reads where a setting names only their folder: the signature hashes them."""
        return ()

    @property
    def inferred(self) -> Mapping[str, str]:
        """What was inferred of how its files are laid out, in words by name; nothing of most benchmarks."""
        return {}

    def selects(self, item: Item) -> bool:
        """Whether the settings select the item."""
        return True

    def examples(self) -> Iterable[Item | Exclusion]:
        """Items with keys that may be shown as few-shot examples and are never asked: a development split.

        They are read only when examples are asked for. Without any, other items of the benchmark serve.
        """
        return ()

    def training(self) -> Iterable["TrainingItem"]:
        """Items that evaluators are trained on, which are never asked: train and development split.

        They are read only by `viva train`. Raises `InputError` for files that it cannot use.
        """
        return ()


class TrainingItem(NamedTuple):
    """An item of a training split with arguments for it.

    `arguments` are texts by source, such as `expert`: several texts of one source are several drafts. Where
    the publishers drew the sources of a mixture themselves, its name is `mixture-1`, `mixture-2` …
    """

    item: Item
    split: Literal["train", "dev"]
    arguments: Mapping[str, tuple[str, ...]] = {}


class Loaded(NamedTuple):
    """A benchmark's items, checked: those its settings select, and the others it has.

    A long exam stands in a temporary file: its items can be read as often as needed, and none is held.
    `exclusions` are the rows of its files that were left out, in their order, whatever the settings select.
    `inferred` says of a user's file how it was read.
    """

    spec: str
    signature: str
    card: Card
    items: Sequence[Item]
    others: Sequence[Item]
    exclusions: tuple[Exclusion, ...] = ()
    inferred: Mapping[str, str] = {}

    @property
    def n_items(self) -> int:
        """How many rows of the benchmark are items, selected or not; none that a run made counts."""
        return sum(item.origin is None for item in chain(self.items, self.others))

    @property
    def exclusion_counts(self) -> ExclusionCounts | None:
        """The rows left out by reason; null where none were."""
        if not self.exclusions:
            return None
        return ExclusionCounts(self.items[0].benchmark, self.spec, self.n_items, reasons(self.exclusions))

    def joined(self, generated: Sequence[Item]) -> "Loaded":
        """The same with the variants that a run generated from these items."""
        if not generated:
            return self
        names = {item.item for item in generated}
        bases = {item.item for item in self.items if item.item in names}
        variants = (item for item in generated if item.item in bases)
        return self._replace(items=item_sequence(chain(self.items, variants)))


def load(spec: str | Spec) -> Loaded:
    """Read and check the benchmark that a spec names.

    Raises `InputError` for an item its format cannot use, an id given twice, an alias that is another
    item's id, nothing selected, or no row that is an item.
    """
    benchmark: Benchmark = registry.build("benchmark", spec)
    exclusions: list[Exclusion] = []

    def usable() -> Iterator[Item]:
        for row in benchmark.items():
            if isinstance(row, Exclusion):
                exclusions.append(plain(row))
            else:
                yield formats.check(row) if benchmark.keyed else row

    try:
        items = item_sequence(usable())
    except VivaError:
        raise
    except (Exception, SystemExit) as error:  # third-party code
        raise InputError(f"{benchmark} broke while its items were read: {error_text(error)}.") from error
    return checked(benchmark, items, exclusions)


def load_examples(spec: str | Spec) -> tuple[Item, ...]:
    """The examples of the benchmark that a spec names, checked by their formats; none for most benchmarks.

    Rows that the loader leaves out are no examples. Raises `InputError` for an item that its format cannot
    use, or that has no key.
    """
    benchmark: Benchmark = registry.build("benchmark", spec)
    examples = tuple(formats.check(row) for row in benchmark.examples() if isinstance(row, Item))
    for example in examples:
        if not formats.key(example):
            raise InputError(f"{benchmark}: the example {example.name!r} has no key to show.")
    return examples


def checked(benchmark: Benchmark, items: Sequence[Item], exclusions: Sequence[Exclusion] = ()) -> Loaded:
    """The benchmark with these items, each in its format's normal form. Raises `InputError` as `load`.

    The rows left out belong to its signature: of other rows it would be another exam.
    """
    _check_items(items, str(benchmark))
    selected = items_where(items, benchmark.selects)
    if not selected and not items and exclusions:
        raise InputError(
            f"{benchmark} has no items: all of its {len(exclusions):,} rows were left out: "
            f"{reasons_in_words(reasons(exclusions))}. Are these the files of this benchmark?"
        )
    if not selected:
        raise InputError(f"{benchmark} selects none of its items." if items else f"{benchmark} has no items.")
    others = item_sequence(item for item in items if not benchmark.selects(item))
    signature = registry.signature(benchmark) + (f"#{digest(exclusions)}" if exclusions else "")
    return Loaded(
        str(benchmark), signature, benchmark.card, selected, others, tuple(exclusions), benchmark.inferred
    )


def item_or_exclusion(item: Item, *, file: str | Path, row: int | str) -> Item | Exclusion:
    """The item in its format's normal form; where its format cannot use it, the row as one left out.

    For loaders of published data, whose files have faulty rows: `yield item_or_exclusion(Item(...),
    file=path, row=number)`. A row that does not get so far is yielded as an `Exclusion` with its own reason.
    """
    try:
        return check_item(item)
    except RowError as error:
        return Exclusion(Path(file).name, row, error.reason)


def check_item(item: Item) -> Item:
    """The item in its format's normal form. Raises `RowError` where it can stand in no exam."""
    try:
        checked_item = formats.check(item)
    except RowError:
        raise
    except InputError as error:  # of a format that says it in words of its own, which may quote the row
        raise RowError(str(error), f"{one_line(item.format, 40)} cannot use it") from error
    _check_item(checked_item, item.benchmark)
    return checked_item


def _check_item(item: Item, benchmark: str) -> None:
    """Raises `RowError` for an item with an empty reference, or with a name on several lines."""
    if any(not reference.strip() for reference in item.references):
        raise RowError(
            f"{benchmark}: item {item.name!r} has an empty reference: no answer could be right.",
            "a reference is empty",
        )
    for name in (item.benchmark, item.item, item.variant, item.alias, item.category):
        refuse_line_ends(name, f"{benchmark}: {item.name!r}")


def _check_items(items: Sequence[Item], benchmark: str) -> None:
    """Raises `InputError` where items cannot stand in one run."""
    for item in items:
        _check_item(item, benchmark)
    by_id: dict[tuple[str, str], Item] = {}
    by_alias: dict[str, Item] = {}
    for item in _possible_repeats(items):
        if (item.item, item.variant) in by_id or item.alias in by_alias:
            raise InputError(
                f"{benchmark}: the id {item.name!r} stands there twice; every item needs an id of its own."
            )
        by_id[item.item, item.variant] = item
        if item.alias:
            by_alias[item.alias] = item
    # an alias is looked up like an id, so it must not lead to two items
    for alias, item in by_alias.items():
        if by_id.get((alias, ""), item) is not item:
            raise InputError(f"{benchmark}: the alias {alias!r} of {item.item!r} is the id of another item.")
    if len({item.benchmark for item in items}) > 1:
        raise InputError(f"{benchmark}: its items name more than one benchmark: give all of them the same.")


def _possible_repeats(items: Sequence[Item]) -> Iterator[Item]:
    """The items whose id or alias may be another item's id or alias; none of most benchmarks."""
    suspects = repeats(hashes_of(chain.from_iterable(map(_names, items))))
    return (item for item in items if not suspects.isdisjoint(map(hash, _names(item))))


def _names(item: Item) -> Iterator[tuple[str, str]]:
    """What an item is looked up by: its id and variant, and its alias."""
    yield item.item, item.variant
    if item.alias:
        yield item.alias, ""


def sampled(items: Sequence[Item], size: str, draw: int = 1) -> Sequence[Item]:
    """A sample of items, stratified by category, each with the number of items that it stands for.

    `size` is a number of items or a share such as '10%'. Variants stay with their item, and the turns of a
    conversation are drawn together, as one. Every category gets
    its share, one item at least. The ids and the number of the draw alone decide which are drawn: a larger
    sample of one draw holds the smaller one, and two draws share what chance lets them share. Raises
    `InputError` for a size that cannot be had, and for a draw below 1.
    """
    if draw < 1:
        raise InputError(f"--draw {draw}: draws are numbered from 1.")
    salt = "sample|" if draw == 1 else f"sample|draw {draw}|"
    first = _first_turns(items)
    strata: dict[str | None, dict[str, None]] = {}
    for item in items:
        strata.setdefault(item.category, {})[first[item.item]] = None
    total = sum(map(len, strata.values()))
    number = _sample_size(size, total, len(strata))
    weight: dict[str, float] = {}
    for names in strata.values():
        n = min(len(names), max(1, round(number * len(names) / total)))
        ordered = sorted(names, key=lambda name: hashlib.sha256(f"{salt}{name}".encode()).digest())
        weight |= dict.fromkeys(ordered[:n], len(names) / n)
    return item_sequence(replace(i, weight=weight[first[i.item]]) for i in items if first[i.item] in weight)


def _first_turns(items: Sequence[Item]) -> dict[str, str]:
    """By item the first turn of its conversation; an item that follows none is its own."""
    follows = {item.item: item.follows for item in items if item.follows}
    first = {}
    for item in items:
        name, steps = item.item, 0
        while name in follows and steps < len(follows):
            name, steps = follows[name] or name, steps + 1
        first[item.item] = name
    return first


def _sample_size(size: str, total: int, n_strata: int) -> float:
    """The number of items that `size` asks for, of `total`."""
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", size.strip())
    if share:
        number = float(share[1]) / 100 * total
    else:
        number = float(size) if size.strip().isdigit() else -1.0
    if not 0 < number <= total:
        raise InputError(
            f"--sample {size}: write a share such as 10%, or a number of questions up to {total}."
        )
    if not share and number < n_strata:
        raise InputError(
            f"--sample {size}: there are {n_strata} categories, and a sample holds at least one question "
            f"of each: ask for {n_strata} or more."
        )
    return number
