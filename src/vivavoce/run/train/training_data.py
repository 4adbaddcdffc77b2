"""The items that evaluators are trained on, with the arguments for each by source, and their faults."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from vivavoce import benchmarks, formats
from vivavoce.benchmarks import Benchmark, TrainingItem
from vivavoce.core import registry
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.evaluators.proxy_task import NO_ARGUMENT
from vivavoce.store import read
from vivavoce.store.forgotten import forgotten_answers
from vivavoce.store.generated import made_responses
from vivavoce.store.runfile import RunFile

Split = Literal["train", "dev"]
EXPERT = "expert"
MOST_NAMES = 12
"""Names of items in one sentence."""


class Example(NamedTuple):
    """An item to be trained on. `label` counts its options; `arguments` by source are not blank."""

    item: Item
    split: Split
    label: int
    arguments: Mapping[str, tuple[str, ...]]


class TrainingData(NamedTuple):
    """The training and development items of a benchmark.

    `classes` are the options that every item has, sorted; empty where items have options of their own.
    `n_blank` arguments held no text. `leaks` are asked items that training items repeat; `dev_leaks` are
    development items that are in training too.
    """

    benchmark: str
    signature: str
    examples: tuple[Example, ...]
    classes: tuple[str, ...]
    n_blank: int
    leaks: tuple[str, ...]
    dev_leaks: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Every source that has an argument for an item, by name."""
        return tuple(sorted({source for example in self.examples for source in example.arguments}))

    def of(self, split: Split) -> tuple[Example, ...]:
        """The items of a split."""
        return tuple(example for example in self.examples if example.split == split)


def load_training_data(spec: str, run: RunFile | None = None) -> TrainingData:
    """The training items of the benchmark that a spec names; a run's candidates are further sources.

    Raises `InputError` for a benchmark without a training or development split, for an item that has no
    options or not one right one, for an id twice in a split, and for a run without arguments for any item.
    """
    benchmark: Benchmark = registry.build("benchmark", spec)
    training = list(benchmark.training())
    _check_splits(training, str(benchmark))
    of_run = {} if run is None else _arguments_of_run(run)
    drafts = [_drafts(entry, of_run) for entry in training]
    examples = [_example(entry, texts, str(benchmark)) for entry, texts in zip(training, drafts, strict=True)]
    _check_run(run, of_run, examples, str(benchmark))
    loaded = benchmarks.load(spec)
    classes = _classes(examples)
    train = [example.item for example in examples if example.split == "train"]
    dev = [example.item for example in examples if example.split == "dev"]
    return TrainingData(
        str(benchmark),
        loaded.signature,
        tuple(examples),
        classes,
        sum(map(_n_blank, drafts)),
        _repeated(loaded.items, train, bool(classes)),
        _repeated(dev, train, bool(classes)),
    )


def _check_run(
    run: RunFile | None, of_run: Collection[tuple[str, str]], examples: Sequence[Example], benchmark: str
) -> None:
    """Raises `InputError` for a run without an answer to any training item."""
    if run is not None and not any((e.item.benchmark, e.item.item) in of_run for e in examples):
        names = " and ".join(sorted({example.item.benchmark for example in examples}))
        raise InputError(
            f"{run.path} has no answer to a training item of {benchmark}: collect arguments for the items of "
            f"{names} first, under the ids that they have there."
        )


def _check_splits(training: Sequence[TrainingItem], benchmark: str) -> None:
    """Raises `InputError` where a split is empty, or holds an id twice."""
    splits = {entry.split for entry in training}
    purposes: dict[Split, str] = {"train": "to learn from", "dev": "to choose the best epoch by"}
    for split, purpose in purposes.items():
        if split not in splits:
            raise InputError(
                f"{benchmark} has no {split} items, which `viva train` needs {purpose}: name a benchmark "
                "that has a train and a dev split."
            )
    if doubled := [key for key, n in Counter((t.split, t.item.item) for t in training).items() if n > 1]:
        raise InputError(
            f"{benchmark}: the training item {doubled[0][1]!r} stands twice in {doubled[0][0]}: give every "
            "item an id of its own."
        )


def _drafts(
    entry: TrainingItem, of_run: Mapping[tuple[str, str], Mapping[str, Sequence[str]]]
) -> dict[str, Sequence[str]]:
    """The texts for an item by source, blank ones too: people's, the benchmark's and a run's."""
    of_item = of_run.get((entry.item.benchmark, entry.item.item), {})
    return {EXPERT: entry.item.references, **entry.arguments, **of_item}


def _example(entry: TrainingItem, texts: Mapping[str, Sequence[str]], benchmark: str) -> Example:
    item = formats.check(entry.item)
    arguments = {s: tuple(t.strip() for t in some if not _is_blank(t)) for s, some in texts.items()}
    with_text = {source: some for source, some in arguments.items() if some}
    return Example(item, entry.split, _label(item, benchmark), with_text)


def _n_blank(drafts: Mapping[str, Sequence[str]]) -> int:
    return sum(_is_blank(text) for some in drafts.values() for text in some)


def _is_blank(text: str) -> bool:
    return not text.strip() or text.strip() == NO_ARGUMENT


def _label(item: Item, benchmark: str) -> int:
    """The index of the right option. Raises `InputError` where there is none, or several."""
    right = [k for k, option in enumerate(item.options) if option in item.answer]
    if len(item.options) < 2 or len(right) != 1:
        raise InputError(
            f"{benchmark}: the training item {item.name!r} has {len(item.options)} options and {len(right)} "
            "right ones: an evaluator is trained on items with two or more options, one of them right."
        )
    return right[0]


def _classes(examples: Sequence[Example]) -> tuple[str, ...]:
    """The options that all items have, sorted; empty where they differ."""
    kinds = {tuple(sorted(example.item.options)) for example in examples}
    return kinds.pop() if len(kinds) == 1 else ()


def _arguments_of_run(run: RunFile) -> dict[tuple[str, str], dict[str, Sequence[str]]]:
    """What the candidates of a run answered to each item; neither its edits, nor ceilings and floors.

    What was forgotten is left out.
    """
    with run.reading() as db:
        responses = read.stored_responses(db)
        changed, gone = set(made_responses(db)), forgotten_answers(db)
        candidates = {row.candidate for row in read.candidates(db) if row.role == "candidate"}
    arguments: dict[tuple[str, str], dict[str, Sequence[str]]] = {}
    for key, response in sorted(responses.items()):
        benchmark, item, variant, candidate, repeat, *_ = key
        if (*key[:4], repeat) in gone:
            continue
        if candidate in candidates and not variant and key not in changed and response.text is not None:
            by_source = arguments.setdefault((benchmark, item), {})
            by_source[candidate] = (*by_source.get(candidate, ()), response.final_text)
    return arguments


def _repeated(items: Iterable[Item], training: Iterable[Item], same_options: bool) -> tuple[str, ...]:
    """The items that ask what a training item asks: the same question, or the same options and right answer.

    Where all items have the same options only the question counts.
    """
    of_training = {key for item in training for key in _keys(item, same_options)}
    return tuple(item.name for item in items if not item.variant and _keys(item, same_options) & of_training)


def _keys(item: Item, same_options: bool) -> set[tuple[str, ...]]:
    keys: set[tuple[str, ...]] = {("question", _plain(item.context or ""), _plain(item.question))}
    if not same_options:
        answer = " ".join(map(_plain, item.answer))
        keys.add(("options", answer, *sorted(map(_plain, item.options))))
    return keys


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def listed(names: Sequence[str]) -> str:
    """The first names of many, in one line."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
