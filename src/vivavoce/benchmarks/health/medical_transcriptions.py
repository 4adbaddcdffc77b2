"""Medical transcriptions (mtsamples.com) by specialty: one of 40."""

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

_QUESTION = "Which medical specialty does this report belong to?"


@benchmark("medical_transcriptions")
class MedicalTranscriptions(SourceFolder):
    """Medical transcriptions from `data`, a folder with mtsamples.csv; all specialties in it are options."""

    card = Card(
        name="medical_transcriptions",
        description="Sample reports from mtsamples.com by medical specialty: 4,999 rows, 40 specialties.",
        source="kaggle.com/datasets/tboyle10/medicaltranscriptions, mtsamples.csv",
        revision_note="a file to be downloaded by hand; its hash stands in the signature",
        licence="CC0 by Kaggle's page, by secondary sources; see the terms of mtsamples.com",
        access="registered",
        citation="mtsamples.com, collected by T. Boyle on Kaggle (2018)",
        faults=(
            "The same report stands under several specialties: accuracy cannot reach 1. All stay, those of "
            "one report in one group.",
            "Surgery, Letters, Office Notes and others are kinds of reports beside specialties: more than "
            "one fits.",
            "Some thirty rows have no transcription. They are left out.",
            "Specialties have a leading blank in the file, and in the options of the released task. It is "
            "taken off here; the released prompt also writes the options as a Python list.",
            "The prompt says the published instruction in our words.",
        ),
        published={**DECODING, "prompt": "suite_classification"},
        primary="accuracy",
    )
    download = Download(
        by_hand="download mtsamples.csv from kaggle.com/datasets/tboyle10/medicaltranscriptions (an account "
        "is needed) and put it into the folder"
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The table."""
        return (find_file("medical_transcriptions", self.data, "mtsamples.csv"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The reports in the order of the file."""
        lines = list(read_source(self.files[0], "", "medical_specialty", "transcription"))
        names = {name for line in lines if (name := line.optional("medical_specialty"))}
        specialties = tuple(sorted(names, key=lambda name: (name.casefold(), name)))
        return items_of(lines, lambda line: _item(line, specialties))


def _item(line: SourceLine, specialties: tuple[str, ...]) -> Item:
    text = line.text("transcription")
    meta = {name: value for name in ("sample_name", "keywords") if (value := line.optional(name)) is not None}
    return Item(
        benchmark="medical_transcriptions",
        item=str(line.integer("", 0, 1_000_000)),
        group=content_id(text),
        format="mcq",
        question=_QUESTION,
        options=specialties,
        answer=(line.text("medical_specialty").strip(),),
        context=text,
        meta=meta,
    )
