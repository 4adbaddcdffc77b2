"""CareQA-Open: questions of the Spanish exams for specialised training, put without options."""

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

_FILE = "CareQA_en_open.json"


@benchmark("careqa_open")
class CareQAOpen(SourceFolder):
    """CareQA-Open from `data`, a folder with CareQA_en_open.json: question and answer.

    Where the file has the column unique_id, it is id and group: the closed question that an item was made of,
    in any language, is the same case. Without it the id is made of the question, and nothing is joined.
    """

    card = Card(
        name="careqa_open",
        description="Medical questions of Spanish exams of 2020 to 2024, in English and without options.",
        source=f"huggingface.co/datasets/HPAI-BSC/CareQA, {_FILE}",
        revision_note="read from the folder given; its hash stands in the signature",
        licence="Apache-2.0",
        citation="Arias-Duart et al., Automatic evaluation of healthcare LLMs beyond question-answering, "
        "NAACL 2025 (arXiv 2502.06666)",
        faults=(
            "The questions are closed ones that a language model rewrote, translated by another one before; "
            "people checked them.",
            "The paper has 2,769 questions, the released task's page still 3,730.",
            "The prompt here says the published instruction in our words without its stray mark.",
            "The published figures leave out responses of no character, and count those of blanks alone as "
            "0.",
        ),
        published={**DECODING, "prompt": "suite_careqa_open"},
        groups_of="careqa",
    )
    download = Download(hub="HPAI-BSC/CareQA", files=(_FILE,))

    @property
    def files(self) -> tuple[Path, ...]:
        """The open file."""
        return (find_file("careqa_open", self.data, _FILE),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The questions in their order."""
        return items_of(read_source(self.files[0], "question", "answer"), _item)


def _item(line: SourceLine) -> Item:
    question = line.text("question")
    year = {"year": line.integer("year", 1900, 2100)} if line.optional("year") else {}
    return Item(
        benchmark="careqa_open",
        item=line.optional("unique_id") or content_id(question),
        category=line.optional("category"),
        format="longform",
        question=question,
        references=line.reference(line.text("answer"), question),
        meta={"row": line.number, **year},
    )
