"""MedDialog, raw: what a patient asks in a few words, and the first turn of the doctor who answered."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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

_SPEAKERS = ("patient", "doctor")
"""In the order of the numbers that stand for them in copies of the hub's version."""
_TURN = re.compile(r"\s*(\w+)\s*:\s*(.*?)\s*", re.DOTALL)


@benchmark("meddialog_raw")
class MedDialogRaw(SourceFolder):
    """MedDialog's English dialogues from `data`, a folder with english-train.json.

    The description is the question, and the doctor's first turn the reference.
    """

    card = Card(
        name="meddialog_raw",
        description="Questions of patients to doctors on two platforms; the reference is the doctor's first "
        "turn.",
        source="github.com/UCSD-AI4H/Medical-Dialogue-System, english-train.json",
        revision_note="the files lie on a drive, without a release or tag",
        licence="not stated; the platforms healthcaremagic.com and icliniq.com hold the copyright",
        citation="He et al., MedDialog: two large-scale medical dialogue datasets, 2020 (arXiv 2004.03329)",
        faults=(
            "The training split is what the published figures are of: 482 of the 0.26 million dialogues that "
            "MedDialog names. How they were chosen is not said.",
            "The released task takes the second turn, whoever speaks; here it is the doctor's first turn.",
            "One doctor's turn is the only reference: another good answer scores low by words in common.",
            "The hub's version is a script that current libraries refuse to run: the authors' file is read.",
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of no character instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_meddialog_raw"},
    )

    download = Download(
        by_hand="The README of github.com/UCSD-AI4H/Medical-Dialogue-System links a drive: take "
        "english-train.json from its processed English data, and put it into the folder."
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The training split."""
        return (find_file("meddialog_raw", self.data, "english-train.json"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The dialogues in their order."""
        return items_of(read_source(self.files[0], "description", "utterances"), _item)


def _item(line: SourceLine) -> Item:
    description = line.text("description")
    reply = next((text for speaker, text in _turns(line) if speaker == "doctor"), None)
    if reply is None:
        raise line.fault("no turn of a doctor")
    return Item(
        benchmark="meddialog_raw",
        item=content_id(description),
        format="longform",
        question=description,
        references=line.reference(reply, description),
        meta={"row": line.number},
    )


def _turns(line: SourceLine) -> list[tuple[str, str]]:
    """Speaker and text of each turn, in the authors' layout or in one of the hub's. Raises `RowError`."""
    turns = line.row.get("utterances")
    if isinstance(turns, list):
        return [_turn(line, *_parts(turn)) for turn in turns]
    speakers, texts = _parts(turns)
    if not (isinstance(speakers, list) and isinstance(texts, list)):
        raise line.fault("utterances is no list of turns")
    return [_turn(line, *turn) for turn in zip(speakers, texts, strict=False)]


def _parts(turn: Any) -> tuple[Any, Any]:
    """Speaker and text: of 'doctor: …', or of an object, which may hold a list of each."""
    if isinstance(turn, dict):
        return turn.get("speaker"), turn.get("utterance")
    match = _TURN.fullmatch(turn) if isinstance(turn, str) else None
    return (match[1], match[2]) if match else (None, None)


def _turn(line: SourceLine, speaker: Any, text: Any) -> tuple[str, str]:
    if isinstance(speaker, int) and 0 <= speaker < len(_SPEAKERS):
        speaker = _SPEAKERS[speaker]
    if not isinstance(speaker, str) or speaker.lower() not in _SPEAKERS or not isinstance(text, str):
        raise line.fault("a turn names neither patient nor doctor")
    return speaker.lower(), text
