"""MedText: records of patients, each with a diagnosis and its treatment in free text."""

from collections.abc import Iterator
from pathlib import Path

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark


@benchmark("medtext")
class MedText(SourceFolder):
    """MedText from `data`, a folder with its one csv file (medtext_2.csv), columns Prompt and Completion."""

    card = Card(
        name="medtext",
        description="Records of patients in a few sentences; the answer names the diagnosis and its "
        "treatment.",
        source="huggingface.co/datasets/BI55/MedText, medtext_2.csv",
        revision="96d57f9",
        revision_note="the hub shows seven digits of its last commit, of July 2023; none is pinned",
        licence="CC BY 4.0, by its page",
        citation="BI55, MedText, 2023; without a publication",
        faults=(
            "There is no test split: the published figures are of the whole file, which is called train.",
            "The published instruction puts its question twice; the prompt here puts it once, in our words.",
            "The published figures leave out responses of no character instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_medtext"},
        released="2023-07",
    )

    download = Download(hub="BI55/MedText", files=("medtext_2.csv",))

    @property
    def files(self) -> tuple[Path, ...]:
        """The csv file."""
        return (find_file("medtext", self.data, "medtext_2.csv", "completed_medtext.csv", "*.csv"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The rows in their order."""
        return items_of(read_source(self.files[0], "Prompt", "Completion"), _item)


def _item(line: SourceLine) -> Item:
    record = line.text("Prompt")
    return Item(
        benchmark="medtext",
        item=content_id(record),
        format="longform",
        question=record,
        references=line.reference(line.text("Completion"), record),
        meta={"row": line.number},
    )
