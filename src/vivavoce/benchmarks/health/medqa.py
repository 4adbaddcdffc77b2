"""MedQA: questions of the United States medical licensing examination, four options each.

Jin et al. (2020).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    content_id,
    find_file,
    items_of,
    optional_file,
    read_source,
    refuse_other_base,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_ENDINGS = ("ending0", "ending1", "ending2", "ending3")
_LETTERS = ("A", "B", "C", "D")


@benchmark("medqa")
class MedQA(SourceFolder):
    """MedQA's test split from `data`, the hub's folder (test.json) or the authors' (questions/US/4_options).

    The development split serves as examples, or the training split where that one is missing.
    """

    card = Card(
        name="medqa",
        description="Questions in the style of the USMLE with four options, most on a patient: 1,273, the "
        "test split.",
        source="huggingface.co/datasets/GBaker/MedQA-USMLE-4-options-hf, or the archive at "
        "github.com/jind11/MedQA",
        revision_note="the hub's revision is not known here; the hash of the file stands in the signature",
        licence="MIT (the authors' repository) or CC BY-SA 4.0 (the hub) by secondary sources: see their "
        "pages",
        access="open",
        citation="Jin et al., What disease does this patient have? A large-scale open domain question "
        "answering dataset from medical exams, 2020 (Applied Sciences 2021)",
        faults=(
            "Questions come from collections on the web: models have met them, and their explanations.",
            "Four options are a cut of the five that the examination has.",
            "The hub's files have no step of the examination, so no category.",
        ),
        published={**DECODING, "prompt": "cue"},
        released="2020-09",
        primary="accuracy",
    )
    download = Download(hub="GBaker/MedQA-USMLE-4-options-hf", files=("*.json",))

    @property
    def files(self) -> tuple[Path, ...]:
        """The test split."""
        return (find_file("medqa", self.data, *_layouts("test")),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The test split in its order."""
        return _items(self.files[0])

    def examples(self) -> Iterable[Item | Exclusion]:
        """The development split, else the training split, where it lies in the folder."""
        path = optional_file("medqa", self.data, *_layouts("dev"), *_layouts("train"))
        return _items(path) if path else ()


def _layouts(split: str) -> tuple[str, ...]:
    name = f"phrases_no_exclude_{split}.jsonl"
    return (
        f"{split}.json",
        f"questions/US/4_options/{name}",
        f"data_clean/questions/US/4_options/{name}",
        name,
    )


def _items(path: Path) -> Iterator[Item | Exclusion]:
    if path.suffix == ".jsonl":
        return items_of(read_source(path, "question", "answer", "options", "answer_idx"), _authors_item)
    lines = list(read_source(path, "sent1", *_ENDINGS, "label"))
    refuse_other_base(path, lines, "label", 0)
    return items_of(lines, _hub_item)


def _hub_item(line: SourceLine) -> Item:
    if line.optional("sent2"):
        raise line.fault("sent2 is not empty")
    options = line.options(line.text(column) for column in _ENDINGS)
    return _item(line.text("sent1"), options, options[line.integer("label", 0, 3)], id=line.optional("id"))


def _authors_item(line: SourceLine) -> Item:
    texts = line.row["options"]
    if not isinstance(texts, dict) or tuple(sorted(texts)) != _LETTERS:
        raise line.fault("options are not under A to D")
    lettered = line._replace(row={**line.row, **texts})
    options = line.options(lettered.text(letter) for letter in _LETTERS)
    letter = line.text("answer_idx").strip()
    if letter not in _LETTERS:
        raise line.fault("answer_idx is no letter from A to D")
    answer = options[_LETTERS.index(letter)]
    if answer != line.text("answer"):
        raise line.fault("answer and answer_idx name different options")
    return _item(line.text("question"), options, answer, category=line.optional("meta_info"))


def _item(
    question: str,
    options: tuple[str, ...],
    answer: str,
    *,
    id: str | None = None,
    category: str | None = None,
) -> Item:
    return Item(
        benchmark="medqa",
        item=id or content_id(question, *options),
        category=category,
        format="mcq",
        question=question,
        options=options,
        answer=(answer,),
    )
