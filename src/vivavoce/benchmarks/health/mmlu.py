"""MMLU: examinations of many subjects with four options; by default the six medical ones.

Hendrycks et al. (2021).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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
from vivavoce.core.delimited import Delimiter, delimited_rows
from vivavoce.core.errors import InputError
from vivavoce.core.records import Card, Download, Exclusion, Item
from vivavoce.core.registry import benchmark

MEDICAL = (
    *("anatomy", "clinical_knowledge", "college_biology", "college_medicine"),
    *("medical_genetics", "professional_medicine"),
)
_COLUMNS = ("question", "A", "B", "C", "D", "answer")
_LETTERS = _COLUMNS[1:5]


@benchmark("mmlu")
class MMLU(SourceFolder):
    """MMLU's test split from `data`, the hub's folder (parquet by subject) or the authors' (csv, no header).

    `subject`: one subject such as anatomy, or `medical`, the six medical ones. The development split, five
    questions a subject, serves as examples.
    """

    subject: str = "medical"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z_]+", self.subject):
            raise ValueError(f"{self.subject!r} is no subject of MMLU: write anatomy, or medical for all six")

    @property
    def card(self) -> Card:
        """The card; it names the subjects."""
        return Card(
            name="mmlu",
            description="Questions of examinations and textbooks with four options, the test split of: "
            f"{', '.join(self._subjects)}.",
            source="huggingface.co/datasets/cais/mmlu, or the archive at github.com/hendrycks/test",
            revision_note="the hub's revision is not known here; the hash of the files stands in the "
            "signature",
            licence="MIT",
            access="open",
            citation="Hendrycks et al., Measuring massive multitask language understanding, ICLR 2021",
            faults=(
                "Questions come from public sources, with known errors in keys and wording.",
                "The mean over subjects and the mean over questions differ: the subjects have 100 to 272 "
                "questions, and accuracy here is over questions.",
                "The published description of the subject stands, in our words, before every question here, "
                "and once before all examples there.",
            ),
            published={**DECODING, "prompt": "suite_mmlu"},
            released="2020-09",
            primary="accuracy",
        )

    @property
    def download(self) -> Download:  # type: ignore[override]
        """Test and development split of the subjects."""
        splits = ("test", "dev")
        return Download(
            hub="cais/mmlu",
            files=tuple(f"{subject}/{split}-*.parquet" for subject in self._subjects for split in splits),
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The test split of each subject; for one of the medical ones, also of the others that lie there."""
        return tuple(self._files("test").values())

    def items(self) -> Iterator[Item | Exclusion]:
        """The test split by subject."""
        for subject, path in self._files("test").items():
            yield from _items(path, subject)

    def selects(self, item: Item) -> bool:
        """True if the question is of `subject`."""
        return item.category in self._subjects

    def examples(self) -> Iterable[Item | Exclusion]:
        """The development split by subject, where it lies in the folder."""
        for subject, path in self._files("dev", optional=True).items():
            yield from _items(path, subject)

    def _files(self, split: str, *, optional: bool = False) -> dict[str, Path]:
        """The files of a split by subject. Raises `InputError` where one of `subject` is missing."""
        paths = {}
        for subject in MEDICAL if self.subject in MEDICAL else self._subjects:
            find = optional_file if optional or subject not in self._subjects else find_file
            if path := find("mmlu", self.data, *_layouts(subject, split)):
                paths[subject] = path
        return paths

    @property
    def _subjects(self) -> Sequence[str]:
        return MEDICAL if self.subject == "medical" else (self.subject,)


def _layouts(subject: str, split: str) -> tuple[str, ...]:
    csv = f"{split}/{subject}_{split}.csv"
    return (f"{subject}/{split}-*.parquet", f"data/{csv}", csv)


def _items(path: Path, subject: str) -> Iterator[Item | Exclusion]:
    if path.suffix == ".csv":
        return items_of(_csv_lines(path), lambda line: _lettered_item(line, subject))
    lines = list(read_source(path, "question", "choices", "answer"))
    refuse_other_base(path, lines, "answer", 0)
    return items_of(lines, lambda line: _numbered_item(line, subject))


def _csv_lines(path: Path) -> Iterator[SourceLine]:
    """The rows of a file without a header. Raises `InputError` for a mirror in another layout."""
    first = True
    for number, cells in delimited_rows(path, "utf-8", Delimiter(",")):
        if not cells:
            continue
        if first and (len(cells) != len(_COLUMNS) or cells[-1] not in _LETTERS):
            raise InputError(
                f"{path}: its first row is no question with four options and a letter from A to D. The "
                "authors' files have no header; take them, or the hub's parquet files."
            )
        if cells[-1].strip().isdecimal():
            raise InputError(
                f"{path}, line {number}: the key is a number, and the authors' files have letters: "
                "take the published file."
            )
        first = False
        yield SourceLine(path.name, number, dict(zip(_COLUMNS, cells, strict=False)) | {"": len(cells)})
    if first:
        raise InputError(f"{path} is empty: it holds no rows.")


def _lettered_item(line: SourceLine, subject: str) -> Item:
    if line.row[""] != len(_COLUMNS):
        raise line.fault("the row has not six fields")
    options = line.options(line.text(letter) for letter in _LETTERS)
    letter = line.text("answer")
    if letter not in _LETTERS:
        raise line.fault("the key is no letter from A to D")
    return _item(line, subject, options, options[_LETTERS.index(letter)])


def _numbered_item(line: SourceLine, subject: str) -> Item:
    options = line.options(line.texts("choices"))
    if len(options) != len(_LETTERS):
        raise line.fault("there are not four choices")
    return _item(line, subject, options, options[line.integer("answer", 0, 3)])


def _item(line: SourceLine, subject: str, options: tuple[str, ...], answer: str) -> Item:
    question = line.text("question")
    return Item(
        benchmark="mmlu",
        item=f"{subject}-{content_id(question, *options)}",
        category=subject,
        format="mcq",
        question=question,
        options=options,
        answer=(answer,),
    )
