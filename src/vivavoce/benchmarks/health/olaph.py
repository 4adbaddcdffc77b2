"""OLAPH's MedLFQA: patients' questions with a long answer, and what an answer must and may say."""

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

_SOURCES = ("live_qa", "medication_qa", "healthsearch_qa", "kqa_golden", "kqa_silver_wogold")
_ENDING = "_test_MedLFQA.jsonl"


@benchmark("olaph")
class Olaph(SourceFolder):
    """MedLFQA from `data`, a folder with its five files SOURCE_test_MedLFQA.jsonl.

    Statements that an answer must make are `must`, those that it had better make `nice`. Equal questions
    share a group, and the category is the file that a question comes from.
    """

    card = Card(
        name="olaph",
        description="Patients' questions of five older data sets, with a long answer and statements that an "
        "answer must make or had better make.",
        source="github.com/dmis-lab/OLAPH, MedLFQA; also huggingface.co/datasets/dmis-lab/MedLFQA",
        revision="7de5fb26150203e2f7a6227355262eb709041768",
        licence="CC BY 4.0 by its page on the hub; none is stated beside the files on GitHub, nor those of "
        "the five data sets that the questions come from",
        citation="Jeong et al., OLAPH: improving factuality in biomedical long-form question answering, 2024 "
        "(arXiv 2405.12701)",
        faults=(
            "The released task takes the first tenth of the rows, where its comment says one in a hundred. "
            "They stand in the order of the files, so a tenth is not a sample of all; here all rows are "
            "asked.",
            "Statements, and some of the answers, were written by a language model.",
            "The released task leaves the statements out; here they are `must` and `nice`.",
            "Some questions stand in several files: they share a group.",
            "The prompt here says the published instruction in our words.",
            "The published figures leave out responses of under 10 characters instead of counting them.",
        ),
        published={**DECODING, "prompt": "suite_olaph"},
    )

    download = Download(
        url="https://raw.githubusercontent.com/dmis-lab/OLAPH/{revision}/",
        files=tuple(f"MedLFQA/{source}_test_MedLFQA.jsonl" for source in _SOURCES),
        revision=str(card.revision),
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The five files; those without MedLFQA in their name lack the statements."""
        names = [f"{source}{_ENDING}" for source in _SOURCES]
        return tuple(find_file("olaph", self.data, name, f"MedLFQA/{name}") for name in names)

    def items(self) -> Iterator[Item | Exclusion]:
        """The rows of the five files."""
        columns = ("Question", "Free_form_answer", "Must_have", "Nice_to_have")
        lines = (line for path in self.files for line in read_source(path, *columns))
        return items_of(lines, _item)


def _item(line: SourceLine) -> Item:
    question, answer = line.text("Question"), line.text("Free_form_answer")
    return Item(
        benchmark="olaph",
        item=content_id(question, answer),
        group=content_id(question),
        category=line.file.removesuffix(_ENDING),
        format="longform",
        question=question,
        references=line.reference(answer, question),
        must=line.texts("Must_have"),
        nice=line.texts("Nice_to_have"),
        meta={"row": line.number},
    )
