"""MEDIQA 2019, task 3: questions of consumers, and answers that people ranked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from vivavoce.benchmarks.health.source_files import DECODING, SourceFolder, SourceLine, find_file, items_of
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.text import one_line

_NAME = "MEDIQA2019-Task3-QA-TestSet-wLabels.xml"
_MOST_BYTES = 16 << 20
"""Bytes of the file that are read; the published one has 3 MB."""


class _Answer(NamedTuple):
    """An answer as listed; `rank` is the people's, from 1, and null where there is none."""

    name: str
    rank: int | None
    score: str | None
    text: str


@benchmark("mediqa2019")
class Mediqa2019(SourceFolder):
    """Task 3 of MEDIQA 2019 from `data`, a folder with MEDIQA2019-Task3-QA-TestSet-wLabels.xml.

    `reference=best` takes the answers of ReferenceRank 1, each a reference where several hold it, and leaves
    a question without one out; `reference=first` takes the answer listed first, as the released task does.
    """

    reference: Literal["best", "first"] = "best"

    card = Card(
        name="mediqa2019",
        description="Questions of consumers about health; the reference is the retrieved answer that people "
        "ranked first.",
        source=f"github.com/abachaa/MEDIQA2019, MEDIQA_Task3_QA/{_NAME}",
        revision="8eebd3bfa69728ab4040d7703a007811649a83fd",
        licence="not stated in the repository; the answers are from public pages of US health agencies and "
        "others",
        citation="Ben Abacha, Shivade and Demner-Fushman, Overview of the MEDIQA 2019 shared task on textual "
        "inference, question entailment and question answering, BioNLP 2019",
        faults=(
            "The released task takes the answer that is listed first, by a search engine's rank: for the "
            "first question people ranked it fifth. reference=first repeats that.",
            "The answers were retrieved, not written to the question: the best one may score 1 (incorrect) "
            "or 2 (related) of 4. The score of the reference stands in meta.",
            "The set was made to rank answers. A good answer that is worded otherwise scores low by words in "
            "common.",
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of no character instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_mediqa2019"},
    )

    download = Download(
        url="https://raw.githubusercontent.com/abachaa/MEDIQA2019/{revision}/",
        files=(f"MEDIQA_Task3_QA/{_NAME}",),
        revision=str(card.revision),
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The test set with labels."""
        return (find_file("mediqa2019", self.data, _NAME, f"MEDIQA_Task3_QA/{_NAME}"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The questions in their order; a blank answer is never a reference."""
        (path,) = self.files
        lines = _questions(path)
        if self.reference == "best" and not any(a.rank for line in lines for a in line.row["answers"]):
            raise InputError(
                f"{path}: no answer has a ReferenceRank: this is the set without labels. Take {_NAME}, or "
                "reference=first."
            )
        return items_of(lines, self._item)

    def _item(self, line: SourceLine) -> Item:
        answers: list[_Answer] = line.row["answers"]
        if not answers:
            raise line.fault("no answer is listed")
        best = [answer for answer in answers if answer.rank == 1]
        keys = best if self.reference == "best" else answers[:1]
        if not keys:
            raise line.fault("no answer of ReferenceRank 1")
        question = line.text("QuestionText")
        return Item(
            benchmark="mediqa2019",
            item=line.text("QID"),
            format="longform",
            question=question,
            references=tuple(text for a in keys for text in line.reference(a.text, question)),
            meta={
                "answers": len(answers),
                "reference": [answer.name for answer in keys],
                "rank": keys[0].rank,
                "score": [answer.score for answer in keys],
            },
        )


def _questions(path: Path) -> list[SourceLine]:
    """The questions of the file in its order: QID, QuestionText and `answers`.

    No document type is accepted, and so no entity: what one stands for may be of any size, or lie elsewhere.
    Raises `InputError` for one, for a file that is no such XML, and for one over `_MOST_BYTES`.
    """

    def refuse(*_: Any) -> None:
        raise InputError(f"{path} declares a document type, and the published file has none: it is another.")

    first_reading = expat.ParserCreate()
    first_reading.StartDoctypeDeclHandler = refuse
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} has over {_MOST_BYTES >> 20} MB, the published file 3: it is another.")
        content = path.read_bytes()
        first_reading.Parse(content, True)
        root = ElementTree.fromstring(content)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except (expat.ExpatError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{path} cannot be read as XML ({one_line(str(error), 80)}).") from None
    lines = [
        SourceLine(path.name, number, _row(question))
        for number, question in enumerate(root.iter("Question"), 1)
    ]
    if not lines:
        raise InputError(f"{path} holds no Question, as MEDIQA 2019's task 3 has them.")
    return lines


def _row(question: ElementTree.Element) -> dict[str, Any]:
    answers = [_answer(answer) for answer in question.iterfind("AnswerList/Answer")]
    return {
        "QID": question.get("QID"),
        "QuestionText": question.findtext("QuestionText"),
        "answers": answers,
    }


def _answer(answer: ElementTree.Element) -> _Answer:
    rank = answer.get("ReferenceRank", "").strip()
    return _Answer(
        name=answer.get("AID", ""),
        rank=int(rank) if rank.isdecimal() and len(rank) < 10 else None,
        score=answer.get("ReferenceScore"),
        text=answer.findtext("AnswerText") or "",
    )
