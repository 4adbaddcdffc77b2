"""HealthFC: questions on health that fact checkers answered, with their explanation and its verdict."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from vivavoce.benchmarks import TrainingItem
from vivavoce.benchmarks.health.source_files import (
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import is_file
from vivavoce.systems.ranking.benchmark.casimedicos import PUBLISHED, Split

_FILE = "Datensatz.csv"
_REVISION = "9f31d765e5d4a99bd9fff667e82de503bc5684f5"
_CLASSES = ("supported", "not enough information", "refuted")
"""By the number that the file has for them."""
_OPTIONS = ("supported", "refuted", "not enough information")
_SPLITS: tuple[Split, ...] = ("train", "dev", "test")
_SIZES = {"train": 518, "dev": 111, "test": 112}
"""What the paper made of 741 rows."""


@benchmark("healthfc")
class HealthFC(SourceFolder):
    """HealthFC from `data`, its file Datensatz.csv or the folder that holds it.

    The paper's split is not published. Here the `seed` draws one of its sizes, by label, that keeps the
    questions of a page together. `no_evidence=drop` asks no question whose evidence is not enough, as the
    paper's test; the class stays an option, and stays in training. Another `split` has a name of its own.
    """

    split: Split = "test"
    seed: int = 0
    no_evidence: Literal["keep", "drop"] = "keep"

    @property
    def card(self) -> Card:
        """The card of the split."""
        return Card(
            name=_name(self.split),
            description="Questions on health with the verdict and the explanation of fact checkers: 741 with "
            "an explanation in English. An argument is ranked by how far it helps an evaluator to find the "
            "verdict.",
            source=f"github.com/jvladika/HealthFC, {_FILE}",
            revision=_REVISION,
            licence="CC BY-NC-ND 4.0: neither copies nor what is made of it may be passed on; read from your "
            "copy",
            citation="Vladika, Schneider and Matthes, HealthFC: verifying health claims with evidence-based "
            "medical fact-checking, LREC-COLING 2024; as a task for arguments: Ranking over scoring, COLING "
            "2025",
            faults=(
                "9 of 750 rows have no explanation in English and are left out: 741 stay, and not 742 as the "
                "paper has it. 200 are supported, 122 refuted, 419 have not enough evidence.",
                "The paper's split into 518, 111 and 112 is not published: this one is drawn by label with a "
                "seed. The 741 questions stand on 644 pages, and those of a page are one group.",
                "The paper's evaluators know three classes and its test has two, of 49 items: a score far "
                "under a half says that an evaluator takes the third. no_evidence=drop does the same.",
                "The prompt here says the published instruction in our words, with an example of ours. Not "
                "for clinical use.",
            ),
            published={**PUBLISHED, "prompt": "ranking_healthfc"},
        )

    download = Download(
        url="https://raw.githubusercontent.com/jvladika/HealthFC/{revision}/",
        files=(_FILE,),
        revision=_REVISION,
        terms="CC BY-NC-ND 4.0: no copies, nothing that is made of it, no commercial use.",
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The file."""
        return (self.data if is_file(self.data) else find_file("healthfc", self.data, _FILE),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The items of the split in the order of the file, and the rows that are in none."""
        rows = list(self._rows())
        splits = _splits([row for row in rows if isinstance(row, Item)], self.seed)
        for row in rows:
            if isinstance(row, Exclusion):
                yield row
            elif splits[row.group] == self.split:
                yield replace(row, benchmark=_name(self.split))

    def selects(self, item: Item) -> bool:
        """Whether the item is asked: with `no_evidence=drop` none of that class."""
        return self.no_evidence == "keep" or item.answer != (_CLASSES[1],)

    def training(self) -> Iterator[TrainingItem]:
        """The items of training and development; the explanation is the argument of `expert`."""
        items = [row for row in self._rows() if isinstance(row, Item)]
        splits = _splits(items, self.seed)
        for item in items:
            split = splits[item.group]
            if split != "test":
                renamed = replace(item, benchmark=_name(split))
                yield TrainingItem(renamed, split, {"expert": item.references})

    def _rows(self) -> Iterator[Item | Exclusion]:
        columns = ("en_claim", "en_explanation", "label", "url")
        return items_of(read_source(self.files[0], *columns), _item)


def _name(split: str) -> str:
    return "healthfc" if split == "test" else f"healthfc_{split}"


def _item(line: SourceLine) -> Item:
    claim, explanation = line.text("en_claim"), line.text("en_explanation")
    return Item(
        benchmark="healthfc",
        item=content_id(claim, explanation),
        group=content_id(line.optional("url") or claim),
        format="argument",
        question=claim,
        options=_OPTIONS,
        answer=(_CLASSES[line.integer("label", 0, 2)],),
        references=line.reference(explanation, claim),
        meta={"row": line.number},
    )


def _splits(items: Sequence[Item], seed: int) -> dict[str, Split]:
    """The split of each group: of the paper's shares for each label, as near as whole groups allow.

    Every group draws a split by its name and the seed; where that is full, it gets the one that lacks most.
    Larger groups draw first.
    """
    groups: dict[str, Counter[str]] = {}
    for item in items:
        groups.setdefault(item.group, Counter())[item.answer[0]] += 1
    needs = _targets(Counter(item.answer[0] for item in items))
    draws = {group: _draw(f"{seed}|{group}") for group in groups}
    splits: dict[str, Split] = {}
    for group in sorted(groups, key=lambda group: (-groups[group].total(), draws[group])):
        labels, by_chance = groups[group], _at(draws[group])
        order = [by_chance, *sorted(_SPLITS, key=lambda split: -sum(needs[split][label] for label in labels))]
        fitting = (s for s in order if all(needs[s][label] >= n for label, n in labels.items()))
        splits[group] = next(fitting, order[1])
        needs[splits[group]].subtract(labels)
    return splits


def _targets(labels: Mapping[str, int]) -> dict[Split, Counter[str]]:
    """How many items of each label each split gets: the test first, then dev, by the largest remainder.

    Of 741 items the test gets 49 with evidence, as the paper's has.
    """
    train = Counter({label: labels.get(label, 0) for label in _CLASSES})
    targets: dict[Split, Counter[str]] = {"train": train}
    sizes = dict(_SIZES)
    smaller: tuple[Split, ...] = ("test", "dev")
    for split in smaller:
        total, planned = train.total(), sum(sizes.values())
        n = round(total * sizes.pop(split) / planned)
        products = {label: number * n for label, number in train.items()}
        targets[split] = Counter({label: product // max(1, total) for label, product in products.items()})
        by_remainder = sorted(products, key=lambda label: -(products[label] % max(1, total)))
        targets[split].update(by_remainder[: n - targets[split].total()])
        train.subtract(targets[split])
    return targets


def _draw(text: str) -> float:
    """A number from 0 to 1 that a text always draws."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64


def _at(draw: float) -> Split:
    """The split at a number from 0 to 1, each as wide as its share."""
    place = draw * sum(_SIZES.values())
    return (
        "train" if place < _SIZES["train"] else "test" if place >= _SIZES["train"] + _SIZES["dev"] else "dev"
    )
