"""MTS-Dialog: short conversations between doctor and patient, and the section of a note that sums each up."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    find_file,
    items_of,
    read_source,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_FILES = {
    "train": "MTS-Dialog-TrainingSet.csv",
    "validation": "MTS-Dialog-ValidationSet.csv",
    "test1": "MTS-Dialog-TestSet-1-MEDIQA-Chat-2023.csv",
    "test2": "MTS-Dialog-TestSet-2-MEDIQA-Sum-2023.csv",
}


@benchmark("mts_dialog")
class MTSDialog(SourceFolder):
    """MTS-Dialog from `data`, a folder with Main-Dataset or with its files; `split` chooses one of the four.

    The file's ID is the item's id, and starts at 0 in each split: one run holds one split.
    """

    split: Literal["train", "validation", "test1", "test2"] = "train"

    card = Card(
        name="mts_dialog",
        description="Conversations between doctor and patient, each to be summed up as one section of a "
        "note.",
        source="github.com/abachaa/MTS-Dialog, Main-Dataset",
        revision="3ff0801933608d6f570468c13125125fb5cabdea",
        licence="CC BY 4.0",
        citation="Ben Abacha et al., An empirical study of clinical note generation from doctor-patient "
        "encounters, EACL 2023",
        faults=(
            "The published figures are of training and validation rows together: the hub's copy calls both "
            "train (about 1,300 rows), and models may have been trained on them.",
            "Each split numbers its rows from 0, so an ID names a row only together with its split.",
            "The published instruction does not say which section the note is, and the reference is one "
            "section.",
            "The conversations were written from notes; no patient took part.",
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of under 5 characters instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_mts_dialog"},
    )

    download = Download(
        url="https://raw.githubusercontent.com/abachaa/MTS-Dialog/{revision}/",
        files=tuple(f"Main-Dataset/{name}" for name in _FILES.values()),
        revision=str(card.revision),
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the split."""
        name = _FILES[self.split]
        return (find_file("mts_dialog", self.data, f"Main-Dataset/{name}", name),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The rows in their order, line ends as they stand in the file."""
        columns = ("ID", "section_header", "section_text", "dialogue")
        return items_of(read_source(self.files[0], *columns), self._item)

    def _item(self, line: SourceLine) -> Item:
        dialogue = line.text("dialogue")
        return Item(
            benchmark="mts_dialog",
            item=line.text("ID"),
            category=line.optional("section_header"),
            format="longform",
            context=dialogue,
            question="Write the section of a clinical note that sums up this conversation.",
            references=line.reference(line.text("section_text"), dialogue),
            meta={"split": self.split},
        )
