"""Passages of medical texts: paragraphs of plain text, chapters of an EPUB, or rows that have an id each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.registry import step
from vivavoce.core.tables import read_lines
from vivavoce.core.text import is_blank
from vivavoce.retrieval.documents import Unusable
from vivavoce.retrieval.extraction import decoded, plain
from vivavoce.retrieval.passages import passage_spans
from vivavoce.retrieval.reader_process import FileReader
from vivavoce.run.building.parts import Part, Passage
from vivavoce.run.building.source_files import source_files
from vivavoce.run.building.step import Drop, Lab, Step, StepResult

_ENDS = (".txt", ".md", ".jsonl", ".epub")
_IDS = ("id", "passage_id", "paragraph_id", "passage")
_TEXTS = ("text", "paragraph", "content", "body")
_WORD = re.compile(r"\w+")


@step("passages")
class Passages(Step):
    """Passages of the `files` and folders (.txt, .md, .epub, or .jsonl with id and text).

    Texts are cut between sentences, about 120 words a passage; a row is one passage as it is. A passage of
    fewer than `fewest` words is dropped. `source` names file, chapter and the characters there.
    """

    files: tuple[Path, ...]
    fewest: int = 20

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The files, so that a new one in a folder is seen."""
        return tuple(source_files(self.files, _ENDS))

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The passages, by file. Raises `InputError` for a file that cannot be read, and for no passage."""
        results: list[Part] = []
        dropped: list[Drop] = []
        for file in source_files(self.files, _ENDS):
            for passage in _rows(file) if file.suffix.lower() == ".jsonl" else _cut(file):
                n = len(_WORD.findall(passage.text))
                if n < self.fewest:
                    dropped.append(Drop(passage, "the passage is very short", f"{n} words"))
                else:
                    results.append(passage)
        if not results:
            raise InputError(
                f"no passage of {self.fewest} words or more in {', '.join(map(str, self.files))}."
            )
        return StepResult(results, dropped)


def _rows(file: Path) -> Iterator[Passage]:
    for line in read_lines(file):
        name, text = _first(line.row, _IDS), _first(line.row, _TEXTS)
        if not name or is_blank(text):
            raise InputError(f"{line.where}: a passage needs an id and a text.")
        source = f"{_first(line.row, ('source',)) or file.name}, {name}"
        yield Passage(passage=name, text=plain(text).strip(), source=source, group=name)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these columns that holds something, as text; '' where none does."""
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), "")


def _cut(file: Path) -> Iterator[Passage]:
    texts = _texts(file)
    for chapter, text in enumerate(texts, 1):
        is_split = len(texts) > 1
        end = 0
        for number, span in enumerate(passage_spans(text), 1):
            start = max(span.start, end)  # what the passage before holds already is not asked twice
            end = span.end
            start += len(text[start:end]) - len(text[start:end].lstrip())
            name = "-".join(map(str, [file.stem, *([chapter] if is_split else []), number]))
            place = f"chapter {chapter}, characters" if is_split else "characters"
            if start < end:
                source = f"{file.name}, {place} {start} to {end}"
                yield Passage(passage=name, text=text[start:end], source=source, group=name)


def _texts(file: Path) -> Sequence[str]:
    """The chapters of a book, or the one text of a file. Raises `InputError` for what cannot be read."""
    try:
        if file.suffix.lower() != ".epub":
            return [plain(decoded(file))]
        with FileReader() as reader:
            return reader.document(file, file.name, "epub")[0].texts
    except Unusable as error:
        raise InputError(f"{file} cannot be used: {error}.") from None
