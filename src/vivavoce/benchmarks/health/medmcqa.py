"""MedMCQA: questions of Indian entrance examinations for postgraduates, four options each.

Pal, Umapathi and Sankarasubbu (2022). The keys of its test split are withheld, so the
validation split is asked.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from vivavoce.benchmarks.health.source_files import (
    DECODING,
    SourceFolder,
    SourceLine,
    find_file,
    items_of,
    optional_file,
    read_source,
    refuse_other_base,
)
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

_OPTIONS = ("opa", "opb", "opc", "opd")
_META = ("choice_type", "topic_name", "exp")


@benchmark("medmcqa")
class MedMCQA(SourceFolder):
    """MedMCQA's validation split from `data`, the hub's folder (parquet) or the authors' (dev.json).

    Parquet counts the key from 0, the authors' files from 1. The training split serves as examples.
    """

    card = Card(
        name="medmcqa",
        description="Entrance examinations for postgraduates in India (AIIMS, NEET PG): 4,183 questions with "
        "four options in 21 subjects, the validation split.",
        source="huggingface.co/datasets/openlifescienceai/medmcqa, or the archive at "
        "github.com/medmcqa/medmcqa",
        revision_note="the hub's revision is not known here; the hash of the file stands in the signature",
        licence="Apache-2.0 by secondary sources: see the hub's page",
        access="open",
        citation="Pal, Umapathi and Sankarasubbu, MedMCQA: a large-scale multi-subject multi-choice dataset "
        "for medical domain question answering, CHIL 2022",
        faults=(
            "The test split has no keys: the figures that are called test are of the validation split.",
            "Some questions have two equal options. They are left out here, and published figures hold them.",
            "Questions of choice_type multi have one key as well.",
            "The hub's files count the key from 0, the authors' from 1: read otherwise, every key is wrong.",
        ),
        published={**DECODING, "prompt": "suite_choices"},
        released="2022-03",
        primary="accuracy",
    )
    download = Download(hub="openlifescienceai/medmcqa", files=("data/validation-*.parquet",))

    @property
    def files(self) -> tuple[Path, ...]:
        """The validation split."""
        return (find_file("medmcqa", self.data, *_layouts("validation", "dev")),)

    def items(self) -> Iterator[Item | Exclusion]:
        """The validation split in its order."""
        return _items(self.files[0])

    def examples(self) -> Iterable[Item | Exclusion]:
        """The training split, where it lies in the folder."""
        path = optional_file("medmcqa", self.data, *_layouts("train", "train"))
        return _items(path) if path else ()


def _layouts(hub: str, authors: str) -> tuple[str, ...]:
    return (f"data/{hub}-*.parquet", f"{hub}-*.parquet", f"{authors}.json")


def _items(path: Path) -> Iterator[Item | Exclusion]:
    base: Literal[0, 1] = 0 if path.suffix == ".parquet" else 1
    lines = list(read_source(path, "id", "question", *_OPTIONS, "cop", "subject_name"))
    refuse_other_base(path, lines, "cop", base)
    return items_of(lines, lambda line: _item(line, base))


def _item(line: SourceLine, base: int) -> Item:
    options = line.options(line.text(column) for column in _OPTIONS)
    return Item(
        benchmark="medmcqa",
        item=line.text("id"),
        category=line.optional("subject_name"),
        format="mcq",
        question=line.text("question"),
        options=options,
        answer=(options[line.integer("cop", base, base + 3) - base],),
        meta={name: value for name in _META if (value := line.optional(name)) is not None},
    )
