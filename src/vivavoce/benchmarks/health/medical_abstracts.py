"""Medical abstracts by the group of conditions they are about: the suite's "Medical Text Classification".

Schopf, Braun and Matthes (2023).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    optional_file,
    read_source,
)
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_QUESTION = "Which group of conditions is this medical text about?"
_REVISION = "70a2d9106c724729be8b3c4ddb00d1b14ec300c8"
_SPLITS = ("train", "test")
_NAME = "medical_tc_{}.csv"


@benchmark("medical_abstracts")
class MedicalAbstracts(SourceFolder):
    """Medical abstracts from `data`, a folder with medical_tc_{train,test,labels}.csv.

    `split=all` asks both splits, or the one that lies there. Equal abstracts are one group.
    """

    split: Literal["all", "train", "test"] = "all"

    @property
    def card(self) -> Card:
        """The card; it says where a split is missing."""
        return Card(
            name="medical_abstracts",
            description="Abstracts of papers by one of five groups of conditions: 11,550 for training and "
            "2,888 "
            'for the test. The suite calls it "Medical Text Classification".',
            source="github.com/sebischair/Medical-Abstracts-TC-Corpus",
            revision=_REVISION,
            licence="CC BY-SA 3.0",
            access="open",
            citation="Schopf, Braun and Matthes, Evaluating unsupervised text classification: zero-shot and "
            "similarity-based approaches, NLPIR 2022",
            faults=(
                "Equal abstracts stand there under different labels: of the 2,888 test rows 2,770 are "
                "distinct, and 113 abstracts come two or three times, all of them under different labels. "
                "Accuracy cannot reach 1. All stay, those of one text in one group.",
                "General pathological conditions is what is left over: it holds texts that fit another label "
                "too.",
                "The released task reads a private file and its first tenth; published figures mix about "
                "1,443 and all 14,438 texts.",
                "The prompt says the published instruction in our words.",
                *self._missing,
            ),
            published={**DECODING, "prompt": "suite_classification"},
            primary="accuracy",
        )

    download = Download(
        url="https://raw.githubusercontent.com/sebischair/Medical-Abstracts-TC-Corpus/{revision}/",
        files=("medical_tc_train.csv", "medical_tc_test.csv", "medical_tc_labels.csv"),
        revision=_REVISION,
        terms="Share alike: what is made of it bears the same licence.",
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The labels, and the texts of the splits that lie in the folder: the one of `split`, or any."""
        needed = [_NAME.format(self.split)] if self.split != "all" else [_NAME.format(s) for s in _SPLITS]
        find_file("medical_abstracts", self.data, *needed)
        return (find_file("medical_abstracts", self.data, _NAME.format("labels")), *self._texts.values())

    def items(self) -> Iterator[Item | Exclusion]:
        """The texts in the order of their files, training first; labels are the options."""
        labels_path, *paths = self.files
        labels = _labels(labels_path)
        earlier: dict[str, list[str]] = {}
        lines = [line for path in paths for line in read_source(path, "condition_label", "medical_abstract")]
        yield from items_of(lines, lambda line: _item(line, labels, earlier))

    def selects(self, item: Item) -> bool:
        """True if the text is of `split`."""
        return self.split in ("all", item.meta["split"])

    @property
    def _texts(self) -> dict[str, Path]:
        """The files of texts that lie in the folder, by split."""
        paths = {s: optional_file("medical_abstracts", self.data, _NAME.format(s)) for s in _SPLITS}
        return {split: path for split, path in paths.items() if path}

    @property
    def _missing(self) -> tuple[str, ...]:
        """What `split=all` lacks."""
        lacking = [split for split in _SPLITS if self.split == "all" and split not in self._texts]
        return tuple(
            f"The {split} split does not lie in the folder, so it is not asked." for split in lacking
        )


def _labels(path: Path) -> dict[int, str]:
    try:
        lines = list(read_source(path, "condition_label", "condition_name"))
        labels = {line.integer("condition_label", 1, 99): line.text("condition_name") for line in lines}
    except RowError as error:
        raise InputError(f"{path.parent}: {error}") from None
    if len({" ".join(name.split()) for name in labels.values()}) < len(lines):
        raise InputError(f"{path}: a label or its name stands there twice.")
    return labels


def _item(line: SourceLine, labels: dict[int, str], earlier: dict[str, list[str]]) -> Item:
    """The item of a text. A text that comes under further labels is numbered, in the order of the files."""
    text = line.text("medical_abstract")
    label = labels.get(line.integer("condition_label", 1, 99))
    if label is None:
        raise line.fault("the label has no name")
    group = content_id(text)
    under = earlier.setdefault(group, [])
    if label not in under:
        under.append(label)
    number = under.index(label) + 1
    return Item(
        benchmark="medical_abstracts",
        item=group if number == 1 else f"{group}-{number}",
        group=group,
        format="mcq",
        question=_QUESTION,
        options=tuple(labels.values()),
        answer=(label,),
        context=text,
        meta={"split": line.file.removeprefix("medical_tc_").removesuffix(".csv"), "row": line.number},
    )
