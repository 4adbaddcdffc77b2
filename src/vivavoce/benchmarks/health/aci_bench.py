"""ACI-Bench: whole visits to a doctor, and the note that was written of each."""

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
    "train": "train",
    "valid": "valid",
    "test1": "clinicalnlp_taskB_test1",
    "test2": "clinicalnlp_taskC_test2",
    "test3": "clef_taskC_test3",
}


@benchmark("aci_bench")
class ACIBench(SourceFolder):
    """ACI-Bench from `data`, a folder with the repository's data, or with the csv or JSON file of the split.

    `split` is one of the five of its challenges.
    """

    split: Literal["train", "valid", "test1", "test2", "test3"] = "valid"

    card = Card(
        name="aci_bench",
        description="Whole visits as conversations, each to be written up as a clinical note.",
        source="github.com/wyim/aci-bench, data/challenge_data",
        revision="b909b2bb9cf1d19de08df15cddde7bd0179665e4",
        licence="CC BY 4.0",
        citation="Yim et al., ACI-BENCH: a novel ambient clinical intelligence dataset for benchmarking "
        "automatic visit note generation, Scientific Data 2023",
        faults=(
            "The published figures do not name their split; their 20 items fit the validation split only.",
            "No public task of the published figures is known. The prompt is the one of mts_dialog, a guess.",
            "Most notes are longer than the 256 tokens of the published settings, which cut responses short.",
            "Most published scores rest on few of the 20 visits: responses of no character were left out, "
            "and their standard errors are nan.",
            "Names are made up; the privacy screen does not know that, and asks for --allow-phi.",
        ),
        published={**DECODING, "prompt": "suite_mts_dialog"},
    )

    download = Download(
        url="https://raw.githubusercontent.com/wyim/aci-bench/{revision}/",
        files=tuple(f"data/challenge_data/{name}.csv" for name in _FILES.values()),
        revision=str(card.revision),
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The split as csv, else its JSON twin."""
        stem = _FILES[self.split]
        csv = [f"{folder}{stem}.csv" for folder in ("data/challenge_data/", "challenge_data/", "")]
        folders = ("data/challenge_data_json/", "challenge_data_json/", "")
        twins = [f"{folder}{name}.json" for folder in folders for name in (stem, f"{stem}_full")]
        return (find_file("aci_bench", self.data, *csv, *twins),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The visits in their order; the csv file and its JSON twin give the same items."""
        (path,) = self.files
        if path.suffix == ".json":
            return items_of(read_source(path, "src", "tgt", "file", inside="data"), self._twin)
        columns = ("dataset", "encounter_id", "dialogue", "note")
        return items_of(read_source(path, *columns), self._item)

    def _twin(self, line: SourceLine) -> Item:
        encounter, _, dataset = line.text("file").partition("-")
        row = {
            "dataset": dataset,
            "encounter_id": encounter,
            "dialogue": line.row.get("src"),
            "note": line.row.get("tgt"),
        }
        return self._item(line._replace(row=row))

    def _item(self, line: SourceLine) -> Item:
        dialogue = line.text("dialogue")
        return Item(
            benchmark="aci_bench",
            item=line.text("encounter_id"),
            category=line.optional("dataset"),
            format="longform",
            context=dialogue,
            question="Write the clinical note of this visit.",
            references=line.reference(line.text("note"), dialogue),
            meta={"split": self.split},
        )
