"""MIMIC-III, report summaries: the findings of a report, and the impression that sums them up."""

import re
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
    read_source,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_COLUMN = "extractive_notes_summ"
_BLANKS = " " * 5
"""What parts one note from the next."""
_FEWEST = 5
"""Characters of a section; the released task scores no shorter reference."""
_IMPRESSION = re.compile(r"IMPRESSIONS?\s*:?\s*", re.IGNORECASE)
_FINDING = re.compile(r"FINDINGS?\s*:?\s*", re.IGNORECASE)


@benchmark("mimic_iii")
class MimicIII(SourceFolder):
    """Report summaries of MIMIC-III from `data`, a folder with test.parquet or test.csv.

    `rule=mended` cuts findings and impression out of a text behind their headings, and leaves rows out that
    lack one; `rule=released` cuts as the released task does, faults included.
    """

    rule: Literal["mended", "released"] = "mended"

    card = Card(
        name="mimic_iii",
        description="Findings of reports from intensive care, each to be summed up as an impression.",
        source="physionet.org, MIMIC-III; the rows are those of the summaries of hospital courses that were "
        "made of it (column extractive_notes_summ)",
        revision_note="read from the folder given; its hash stands in the signature",
        licence="PhysioNet Credentialed Health Data License 1.5.0 and its data use agreement: no sharing",
        access="credentialed",
        citation="Johnson et al., MIMIC-III, a freely accessible critical care database, Scientific Data "
        "2016",
        faults=(
            "The released task reads a copy on a public hub. The data use agreement allows no sharing: take "
            "the data from PhysioNet.",
            "The released task cuts at the first IMPRESSION and FINDING wherever they stand. A heading that "
            "is missing counts as the last character of the text, so the reference is empty, one character "
            "or another note. By rule=mended such rows are left out and counted.",
            "Its texts are sentences picked out of several notes of a stay: findings and impression may be "
            "of two reports.",
            "top_p=0.95 of the released task has no effect: it samples nothing.",
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of under 5 characters instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_mimic_iii"},
    )

    download = Download(
        terms="credentialed access and a signed data use agreement",
        by_hand="Get access to MIMIC-III at physionet.org, and put the test split of its hospital courses "
        "(test.parquet or test.csv, column extractive_notes_summ) into the folder.",
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The test split."""
        names = ("test.parquet", "test.csv", "test-*.parquet", "data/test-*.parquet")
        return (find_file("mimic_iii", self.data, *names),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The rows in their order; those of one patient share a group, where the file names patients."""
        return items_of(read_source(self.files[0], _COLUMN), self._item)

    def _item(self, line: SourceLine) -> Item:
        text = line.text(_COLUMN)
        findings, impression = _mended(line, text) if self.rule == "mended" else _released(line, text)
        return Item(
            benchmark="mimic_iii",
            item=line.optional("hadm_id") or content_id(text),
            group=line.optional("subject_id") or "",
            format="longform",
            context=findings,
            question="Sum up these findings as the impression of the report.",
            references=line.reference(impression, findings),
            meta={"row": line.number},
        )


def _mended(line: SourceLine, text: str) -> tuple[str, str]:
    """What stands behind each heading, up to the other one or to five blanks. Raises `RowError`."""
    impression, finding = _IMPRESSION.search(text), _FINDING.search(text)
    if impression is None or finding is None:
        raise line.fault("no heading IMPRESSION" if impression is None else "no heading FINDINGS")
    sections = []
    for heading, next_heading in ((finding, impression), (impression, finding)):
        end = next_heading.start() if next_heading.start() > heading.start() else len(text)
        section = text[heading.end() : end].split(_BLANKS)[0].strip()
        if len(section) < _FEWEST:
            name = "FINDINGS" if heading is finding else "IMPRESSION"
            raise line.fault(f"the section {name} has under {_FEWEST} characters")
        sections.append(section)
    return sections[0], sections[1]


def _released(line: SourceLine, text: str) -> tuple[str, str]:
    """The cut of the released task, with its slices from the last character where a heading is missing.

    Raises `RowError` for a reference of under 5 characters: the released task scores no response to it.
    """
    a, b = (m.start() if (m := re.search(w, text, re.IGNORECASE)) else -1 for w in ("IMPRESSION", "FINDING"))
    impression = (text[a:b] if a < b else text[a:]).split(_BLANKS)[0]
    findings = (text[b:] if a < b else text[b:a]).split(_BLANKS)[0]
    if len(findings) < _FEWEST < len(impression):
        findings = text[:a]
    if len(impression) < _FEWEST:
        raise line.fault(f"the impression has under {_FEWEST} characters")
    return findings, impression
