"""Which argument each training item gets: none, the experts', or for each item that of one source.

A mixture has the arguments of several models, one for each item, so that an evaluator does not learn the
style of one. Every source gets its share of the items.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.evaluators.proxy_task import ProxyInput, proxy_input, text_without_argument
from vivavoce.run.train.recipe import Recipe
from vivavoce.run.train.training_data import EXPERT, Example, Split, TrainingData

Arguments = Literal["none", "expert", "mixture"]
N_MIXTURES = 3
"""Mixtures where none are published and no number is asked for."""
_PUBLISHED = re.compile(r"mixture-([1-9]\d*)")
_Texts = dict[tuple[str, str], tuple[str, tuple[str, ...]]]
"""The texts for items by split and id, each with their source."""


class Row(NamedTuple):
    """An input to be trained on: a task with an argument of a source, and the index of the right option."""

    item: str
    source: str
    task: ProxyInput
    label: int


class Mixture(NamedTuple):
    """The rows of one training. `counts` of train items by source; `n_without` items had no argument."""

    name: str
    train: tuple[Row, ...]
    dev: tuple[Row, ...]
    counts: Mapping[str, int]
    n_without: int

    @property
    def data_hash(self) -> str:
        """A hash of every row, in order: of other data it would be another training."""
        rows = [
            [(row.item, row.source, row.task, row.label) for row in part] for part in (self.train, self.dev)
        ]
        return hashlib.sha256(json.dumps(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def draw_mixtures(
    data: TrainingData, arguments: Arguments, recipe: Recipe, *, number: int | None = None, seed: int = 0
) -> list[Mixture]:
    """The mixtures to train on: one for `none` and `expert`, several for `mixture`.

    `mixture-1`, `mixture-2` … that publishers drew are taken as they are. Otherwise each item gets an
    argument of one source, drawn by the seed, the mixture and its id; where every item has all sources, their
    counts differ by one at most. Items without an argument are left out and counted.

    Raises `InputError` where no item has an argument of that kind, and for a number of mixtures that there
    cannot be.
    """
    _check_number(number, arguments)
    if arguments == "none":
        without: _Texts = {_key(e): ("none", (text_without_argument(e.item),)) for e in data.examples}
        return [_mixture("none", data, without, recipe)]
    if arguments == "expert":
        texts = _texts_of(EXPERT, data)
        _require(texts, data, "expert")
        return [_mixture("expert", data, texts, recipe)]
    published = sorted(filter(_PUBLISHED.fullmatch, data.sources), key=_published_number)
    sources = sorted({*data.sources} - {EXPERT, *published})
    if published and not sources:
        return _published_mixtures(data, published, recipe, number)
    _require(sources, data, "mixture")
    names = [f"mixture-{k + 1}" for k in range(number or N_MIXTURES)]
    return [_drawn_mixture(name, data, sources, recipe, seed) for name in names]


def _check_number(number: int | None, arguments: Arguments) -> None:
    """Raises `InputError` for a number of mixtures that there cannot be."""
    if number is not None and (arguments != "mixture" or number < 1):
        raise InputError(
            f"--mixtures {number}: write a number from 1, and only with --arguments mixture; --runs says how "
            "often each is trained."
        )


def _published_number(source: str) -> int:
    return int(source.rpartition("-")[2])


def _texts_of(source: str, data: TrainingData) -> _Texts:
    """The texts of one source by item, for the items that have any."""
    return {_key(e): (source, e.arguments[source]) for e in data.examples if source in e.arguments}


def _published_mixtures(
    data: TrainingData, names: Sequence[str], recipe: Recipe, number: int | None
) -> list[Mixture]:
    if number is not None and number > len(names):
        raise InputError(
            f"--mixtures {number}: {data.benchmark} brings {len(names)} as published ({', '.join(names)}), "
            f"and no single sources to draw more from: ask for {len(names)}, or add sources with --run."
        )
    return [_mixture(name, data, _texts_of(name, data), recipe) for name in names[:number]]


def _drawn_mixture(
    name: str, data: TrainingData, sources: Sequence[str], recipe: Recipe, seed: int
) -> Mixture:
    """A mixture that is drawn here: one draft of one source for each item, or with `copies` for each row."""
    texts: _Texts = {}
    splits: tuple[Split, ...] = ("train", "dev")
    for split in splits:
        salt = f"{seed}|{name}|{split}"
        texts |= (
            _drawn_by_row(data.of(split), sources, recipe.copies, salt)
            if recipe.copies > 1
            else _drawn_by_item(data.of(split), sources, salt)
        )
    _require(texts, data, "mixture")
    return _mixture(name, data, texts, recipe)


def _drawn_by_row(examples: Sequence[Example], sources: Sequence[str], copies: int, salt: str) -> _Texts:
    """A source for each row of an item, whichever the others have."""
    texts: _Texts = {}
    for example in examples:
        of_item = f"{salt}|{example.item.item}"
        if with_text := [s for s in sources if s in example.arguments]:
            rows = [with_text[_number(f"{of_item}|{k}") % len(with_text)] for k in range(copies)]
            drafts = (_draft(example.arguments[s], f"{of_item}|{k}") for k, s in enumerate(rows))
            texts[_key(example)] = ("several", tuple(drafts))
    return texts


def _drawn_by_item(examples: Sequence[Example], sources: Sequence[str], salt: str) -> _Texts:
    """A source for each item, every source as often as the others."""
    texts: _Texts = {}
    source_of = balanced_draw(examples, sources, salt)
    for example in examples:
        if source := source_of.get(example.item.item):
            draft = _draft(example.arguments[source], f"{salt}|{example.item.item}")
            texts[_key(example)] = (source, (draft,))
    return texts


def balanced_draw(examples: Sequence[Example], sources: Sequence[str], salt: str) -> dict[str, str]:
    """A source for each item that has one, by item; every source as often as the others, as far as can be.

    Where every item has all sources, their counts differ by one at most. Ids and salt alone decide.
    """
    available = {e.item.item: [s for s in sources if s in e.arguments] for e in examples}
    counts = dict.fromkeys(sources, 0)
    source_of: dict[str, str] = {}
    # items with few sources first: the others make up for them
    for item in sorted(available, key=lambda item: (len(available[item]), _number(f"{salt}|{item}"))):
        if with_text := available[item]:
            source = min(with_text, key=lambda s: (counts[s], _number(f"{salt}|{item}|{s}")))
            counts[source] += 1
            source_of[item] = source
    return source_of


def _mixture(
    name: str,
    data: TrainingData,
    texts: _Texts,
    recipe: Recipe,
) -> Mixture:
    """The rows of a mixture. Without copies every distinct draft of an item is a row."""
    rows: dict[str, list[Row]] = {"train": [], "dev": []}
    counts: Counter[str] = Counter()
    for example in data.examples:
        source, drafts = texts.get(_key(example), ("", ()))
        if not drafts:
            continue
        if example.split == "train":
            counts[source] += 1
        chosen = [drafts[k % len(drafts)] for k in range(recipe.copies)]
        for text in chosen if recipe.copies > 1 else dict.fromkeys(drafts):
            task = proxy_input(example.item, text)
            rows[example.split].append(Row(example.item.item, source, task, example.label))
    for split in rows:
        if not rows[split]:
            raise InputError(
                f"{data.benchmark}: no {split} item has an argument for {name}: without them it cannot be "
                "trained; add arguments with --run, or take --arguments none."
            )
    n_without = sum(_key(example) not in texts for example in data.examples)
    return Mixture(name, tuple(rows["train"]), tuple(rows["dev"]), dict(sorted(counts.items())), n_without)


def _require(texts: Collection[object], data: TrainingData, arguments: str) -> None:
    """Raise `InputError` where no item has an argument of that kind."""
    if texts:
        return
    has = ", ".join(data.sources) or "none at all"
    what = "a source `expert`, or references" if arguments == "expert" else "sources beside `expert`"
    raise InputError(
        f"--arguments {arguments} needs {what}, and the training items of {data.benchmark} have {has}: add "
        "sources with --run, or take another kind of arguments."
    )


def _draft(drafts: Sequence[str], salt: str) -> str:
    return drafts[_number(f"{salt}|draft") % len(drafts)]


def _key(example: Example) -> tuple[str, str]:
    return example.split, example.item.item


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
