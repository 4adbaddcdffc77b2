"""CareQA: questions of the Spanish exams for specialised healthcare training, with four options."""

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
    refuse_other_base,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_OPTIONS = ("op1", "op2", "op3", "op4")
_FAULTS = (
    "A question is null in what was published. It is left out; the released task puts another in its place.",
    "The exams were public in Spanish from 2020 to 2024, so models may have learnt them.",
)
_TRANSLATED = (
    "The English text is a translation by GPT-4: three people agreed on 83 % of a sample that it was right, "
    "and one at least on 99 %."
)
_NAMES = {"en": "careqa", "es": "careqa_es"}


@benchmark("careqa")
class CareQA(SourceFolder):
    """CareQA from `data`, a folder with CareQA_en.json and, for `language=es`, CareQA_es.json.

    Both languages and the open form share ids and groups: they are one case. In a run the Spanish questions
    are the benchmark careqa_es, so that both languages can stand there.
    """

    language: Literal["en", "es"] = "en"

    @property
    def card(self) -> Card:
        """The card of the language."""
        spanish = self.language == "es"
        return Card(
            name=_NAMES[self.language],
            description="Spanish exams for specialised healthcare training (MIR and others), 2020 to 2024, "
            "in English or Spanish: 5,621 questions with four options in six categories.",
            source=f"huggingface.co/datasets/HPAI-BSC/CareQA, CareQA_{self.language}.json",
            revision_note="the hub's revision is not known; the hash of the file stands in the signature",
            licence="Apache-2.0",
            access="open",
            citation="Arias-Duart et al., Automatic evaluation of healthcare LLMs beyond question-answering, "
            "NAACL 2025 (arXiv 2502.06666)",
            faults=(*_FAULTS, *(() if spanish else (_TRANSLATED,))),
            published={**DECODING, "prompt": "suite_choices"},
            primary="accuracy",
            groups_of="careqa" if spanish else None,
        )

    download = Download(hub="HPAI-BSC/CareQA", files=("CareQA_en.json", "CareQA_es.json"))

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of the language."""
        return (find_file("careqa", self.data, f"CareQA_{self.language}.json"),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The questions in their order."""
        path = self.files[0]
        lines = list(read_source(path, "question", *_OPTIONS, "cop", "category", "unique_id"))
        refuse_other_base(path, lines, "cop", 1)
        return items_of(lines, self._item)

    def _item(self, line: SourceLine) -> Item:
        options = line.options(line.text(column) for column in _OPTIONS)
        meta = {"year": line.integer("year", 1900, 2100)} if line.optional("year") else {}
        exam = line.optional("exam_id")
        return Item(
            benchmark=_NAMES[self.language],
            item=line.text("unique_id"),
            category=line.optional("category"),
            format="mcq",
            question=line.text("question"),
            options=options,
            answer=(options[line.integer("cop", 1, 4) - 1],),
            meta={**meta, **({"exam_id": exam} if exam else {})},
        )
