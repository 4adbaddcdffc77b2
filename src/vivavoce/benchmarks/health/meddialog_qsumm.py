"""MedDialog, question summaries: what a patient wrote at length, and the question in it."""

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


@benchmark("meddialog_qsumm")
class MedDialogSummaries(SourceFolder):
    """The test split of MedDialog's iCliniq summaries from `data`, a folder with icliniq/test.

    The text `src` is summed up; `tgt` is the reference.
    """

    card = Card(
        name="meddialog_qsumm",
        description="Questions of patients at length, each to be summed up in a sentence.",
        source="huggingface.co/datasets/lighteval/med_dialog, icliniq, test",
        revision="ce8a234",
        revision_note="the hub shows seven digits of its commit with parquet files; none is pinned",
        licence="not stated; icliniq.com holds the copyright of the dialogues",
        citation="He et al., MedDialog: two large-scale medical dialogue datasets, 2020 (arXiv 2004.03329)",
        faults=(
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of no character instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_meddialog_qsumm"},
    )

    download = Download(hub="lighteval/med_dialog", files=("icliniq/test-*.parquet",))

    @property
    def files(self) -> tuple[Path, ...]:
        """The test split of iCliniq, with or without the folder of that name."""
        names = ("test-*.parquet", "test.parquet", "test/0000.parquet", "test.json", "test.jsonl")
        paths = [f"{folder}{name}" for folder in ("icliniq/", "") for name in names]
        return (find_file("meddialog_qsumm", self.data, *paths),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The rows in their order."""
        return items_of(read_source(self.files[0], "src", "tgt", inside="data"), _item)


def _item(line: SourceLine) -> Item:
    text = line.text("src")
    return Item(
        benchmark="meddialog_qsumm",
        item=content_id(text),
        format="longform",
        context=text,
        question="Sum up the patient's question in one sentence.",
        references=line.reference(line.text("tgt"), text),
        meta={"row": line.number},
    )
