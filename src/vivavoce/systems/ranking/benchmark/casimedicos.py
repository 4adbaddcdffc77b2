"""CasiMedicos: cases of the Spanish MIR exam with options, and explanations of the right one.

As Ranking over Scoring (COLING 2025) published them: 119 items for the test, 56 and 404 for training.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from vivavoce.benchmarks import TrainingItem, check_item
from vivavoce.benchmarks.health.source_files import (
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    optional_file,
)
from vivavoce.core.errors import InputError
from vivavoce.core.item_content import content_text
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.systems.ranking.rotations import (
    OPENING,
    PLACES,
    Rotation,
    Task,
    arguments_in,
    check_places,
    in_own_order,
    read_rotations,
    split_arguments,
)

Language = Literal["en", "es", "fr", "it"]
Split = Literal["test", "dev", "train"]
REPEATS = "repeats a training question"
NEAR = "begins like a training question"
PUBLISHED = {"max_tokens": 256, "temperature": 0.9, "top_p": 0.85}
"""How the paper had arguments written (section 3.2)."""
_MIXTURES = range(3)
"""How the published files count their mixtures, which the paper counts from 1."""
_REVISION = "961d0694dcff1be6f7d7538bec971da6353d7597"
_SOURCES = (
    *("Expert", "GPT4", "IR_Passages", "Label_Only", "Llama3"),
    *("No_Argument", "Noise", "OpenBioLLM"),
)


def benchmark_name(language: str, split: str) -> str:
    """What the items of a language and a split are called in a run, so that one run can hold several."""
    return "_".join(
        ("casimedicos", *([language] if language != "en" else []), *([split] if split != "test" else []))
    )


@benchmark("casimedicos")
class CasiMedicos(SourceFolder):
    """CasiMedicos from `data`, the folder with the training files and the folder `tests`.

    The five rows of an item, which differ in the order of options alone, are one item. Its options are those
    with a text, in an order by id and text that is none of the five. `leaked=drop` leaves out the items that
    repeat a training question; those that begin like one stay, and `meta` marks both. Items of another
    `language` or `split` have a name of their own in a run.
    """

    language: Language = "en"
    leaked: Literal["keep", "drop"] = "keep"
    split: Split = "test"

    @property
    def card(self) -> Card:
        """The card; it says where leaks are not known."""
        unknown = (
            "There is no training file in the folder: which items repeat a training question is unknown."
        )
        return Card(
            name=benchmark_name(self.language, self.split),
            description="Cases of the Spanish MIR exam with four or five options, to be explained: 119 for "
            "the test, 56 for development, 383 for training. An argument is ranked by how far it helps an "
            "evaluator to find the right option.",
            source="github.com/hitz-zentroa/Ranking-Over-Scoring-COLING-2025, data",
            revision=_REVISION,
            licence="the cases CC BY 4.0 (CasiMedicos); the repository Apache-2.0; arguments are outputs of "
            "GPT-4o and Llama 3 models, and passages are Wikipedia's (share alike): read from your copy",
            citation="De la Iglesia et al., Ranking over scoring: towards reliable and robust automated "
            "evaluation of LLM-generated medical explanatory arguments, COLING 2025",
            faults=(
                "Each item stands in five rows that differ in the order of options. An evaluator reads one "
                "option at a time, so that these say nothing new: there are 119 items, not 595.",
                "9 of the 119 items repeat a training question, and 4 more begin like one: meta names them, "
                "leaked=drop leaves out the 9. 4 development items are in training too.",
                "64 items have four options. The files add an empty fifth, here it is none: who guesses is "
                "right in 22.69 %.",
                "Two items (g 12 and 88) ask the same in other options: they are one group.",
                "404 items were published for training, of which 383 differ in options or right answer: the "
                "others are the same, mostly translated anew. Rows of one item carry up to three arguments. "
                "One item has two equal options, which are one here.",
                "The published control label_only names the position of the right option, which no evaluator "
                "sees; in 16 items the explanation stands before it. In noise 76 of 119 texts are different, "
                "and two items have their own.",
                "One argument of openbiollm (g 35) is empty. Two gold explanations still name options by "
                "number.",
                "The prompt here says the published instruction in our words, with an example of ours. Not "
                "for clinical use.",
                *([] if self.split != "test" or self._training_files("train") else [unknown]),
            ),
            published={**PUBLISHED, "prompt": "ranking_casimedicos"},
        )

    download = Download(
        url="https://raw.githubusercontent.com/hitz-zentroa/Ranking-Over-Scoring-COLING-2025/{revision}/data/",
        files=tuple(f"tests/en.test_casimedicos_{source}.jsonl" for source in _SOURCES),
        revision=_REVISION,
        terms="Passages are from Wikipedia: share alike.",
        by_hand="To train, and to know which items leak, put the files "
        "en.{train,dev}_casimedicos_Mixture-LLM-Args_* of the same repository into the folder.",
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The questions and the explanations by people, and the training files that are there."""
        if self.split != "test":
            return self._needed_training_files(self.split)
        questions, gold = (self._test_file(source) for source in ("No_Argument", "Expert"))
        return (questions, gold, *self._training_files("train").values())

    def _test_file(self, source: str) -> Path:
        name = f"{self.language}.test_casimedicos_{source}.jsonl"
        return find_file("casimedicos", self.data, f"tests/{name}", name)

    def _training_files(self, split: str) -> dict[str, Path]:
        """The files of a split that are there, by the source of their arguments."""
        stems = {f"mixture-{k + 1}": f"Mixture-LLM-Args_{k}*" for k in _MIXTURES} | {"expert": "Expert*"}
        files = {
            source: optional_file("casimedicos", self.data, name, f"*/{name}")
            for source, stem in stems.items()
            for name in [f"{self.language}.{split}_casimedicos_{stem}.jsonl"]
        }
        return {source: path for source, path in files.items() if path}

    def _needed_training_files(self, split: str) -> tuple[Path, ...]:
        """Raises `InputError` where there is none."""
        files = tuple(self._training_files(split).values())
        if not files:
            find_file(
                "casimedicos", self.data, f"{self.language}.{split}_casimedicos_Mixture-LLM-Args_0*.jsonl"
            )
        return files

    def items(self) -> Iterator[Item | Exclusion]:
        """The items in the order of their first rows."""
        if self.split != "test":
            return (training.item for training in self._training_items(self.split))
        if self.leaked == "drop" and not self._training_files("train"):
            raise InputError(
                "casimedicos(leaked=drop) compares with the training questions, and "
                f"{self.language}.train_casimedicos_*.jsonl is not in {self.data}: put it there, or leave "
                "leaked=keep."
            )
        return self._test_items()

    def selects(self, item: Item) -> bool:
        """Whether the item is asked: with `leaked=drop` none that repeats a training question."""
        return self.leaked == "keep" or item.meta.get("leak") != REPEATS

    def _test_items(self) -> Iterator[Item | Exclusion]:
        path, gold_path = (self._test_file(source) for source in ("No_Argument", "Expert"))
        by_text: dict[tuple[str, Task], list[Rotation]] = {}
        for row in read_rotations(path):
            by_text.setdefault((row.text, row.task), []).append(row)
        leaks = _Leaks(row for file in self._training_files("train").values() for row in read_rotations(file))
        items: dict[int | str, Item] = {}
        for g, rows in enumerate(by_text.values()):
            check_places(path, rows)
            leak = leaks.of(rows[0])
            meta = {"g": g, "row": rows[0].line.number, **({"leak": leak} if leak else {})}
            item = self._item("test", rows[0].text, rows[0], meta)
            items |= {row.line.number: item for row in rows[:: len(PLACES)]}  # several: it stands there twice
        gold = arguments_in(gold_path, list(items.values()))
        lines = [row.line for rows in by_text.values() for row in rows[:: len(PLACES)]]

        def with_gold(line: SourceLine) -> Item:
            item = items[line.number]
            texts = (text for text in gold.get(item.item, {}).values() if text)
            return replace(item, references=tuple(dict.fromkeys(texts)))

        return items_of(lines, with_gold)

    def _item(self, split: str, question: str, row: Rotation, meta: Mapping[str, Any]) -> Item:
        name = content_id(question, *sorted(row.options))
        return Item(
            benchmark=benchmark_name(self.language, split),
            item=name,
            group=content_id(content_text(question)),
            format="argument",
            question=question,
            options=in_own_order(name, row.options),
            answer=(row.right,),
            meta=meta,
        )

    def training(self) -> Iterator[TrainingItem]:
        """The items of training and development; rows with other words for the same options are one item.

        A mixture holds an argument for each row, as it was drawn; `expert` is there where such a file is.
        """
        splits: tuple[Literal["train", "dev"], ...] = ("train", "dev")
        for split in splits:
            yield from self._training_items(split)

    def _training_items(self, split: Literal["train", "dev"]) -> Iterator[TrainingItem]:
        self._needed_training_files(split)
        rows: dict[Task, dict[str, list[Rotation]]] = {}
        for source, path in self._training_files(split).items():
            for row in read_rotations(path):
                rows.setdefault(row.task, {}).setdefault(source, []).append(row)
            for of_task in rows.values():
                check_places(path, of_task.get(source, ()))
        for g, by_source in enumerate(rows.values()):
            texts = [row.text for of_source in by_source.values() for row in of_source]
            parts = dict(zip(texts, split_arguments(texts), strict=True))
            wordings = Counter(question for question, _ in map(parts.__getitem__, texts))
            question = max(sorted(wordings), key=wordings.__getitem__)
            arguments = {
                source: tuple(parts[row.text][1] for row in sorted(of_source, key=lambda row: row.place))
                for source, of_source in by_source.items()
            }
            first = next(iter(by_source.values()))[0]
            item = self._item(split, question, first, {"g": g, "row": first.line.number})
            gold = tuple(dict.fromkeys(filter(None, arguments.get("expert", ()))))
            yield TrainingItem(check_item(replace(item, references=gold)), split, arguments)


class _Leaks:
    """What training rows say of an item: whether they repeat it, or begin like it."""

    def __init__(self, rows: Iterable[Rotation]) -> None:
        self._tasks: set[Task] = set()
        self._texts: dict[str, set[str]] = {}
        for row in rows:
            self._tasks.add(row.task)
            self._texts.setdefault(row.text[:OPENING], set()).add(row.text)

    def of(self, row: Rotation) -> str | None:
        """The leak of the item that a row asks without an argument; null where nothing is like it."""
        alike = self._texts.get(row.text[:OPENING], set())
        if row.task in self._tasks or any(text.startswith(row.text) for text in alike):
            return REPEATS
        return NEAR if alike else None
