"""Research articles as passages: JATS XML of PubMed Central, or PDF; without references, none retracted.

DAHL, section 3.2: 2,519 entries of PubMed Central, title and text from abstract to conclusion.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from vivavoce.benchmarks.health.source_files import content_id
from vivavoce.core.errors import InputError
from vivavoce.core.registry import step
from vivavoce.core.text import one_line
from vivavoce.retrieval.documents import Document, Unusable
from vivavoce.retrieval.jats import RETRACTED
from vivavoce.retrieval.reader_process import FileReader
from vivavoce.run.building.parts import Part, Passage
from vivavoce.run.building.source_files import source_files
from vivavoce.run.building.step import Drop, Lab, Step, StepResult

_ENDS = {".xml": "jats", ".nxml": "jats", ".pdf": "columns"}
_REFERENCES = re.compile(
    r"^\W*\d{0,2}\.?\s*(?:references|bibliography|literature cited|works cited)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_RETRACTED_PDF = re.compile(
    r"\bretracted(?:\s+article)?\s*:|\bthis article has been (?:retracted|withdrawn)\b", re.I
)
_LATE = 0.4
"""The share of a PDF's text before which a heading is no heading of its references."""


@step("articles")
class Articles(Step):
    """Articles of the `files` and folders: a passage for every `most_words` words, cut between sections.

    Dropped are articles that are retracted, repeat another one, or cannot be read, each with its reason.
    """

    files: tuple[Path, ...]
    most_words: int = 4_000

    def __post_init__(self) -> None:
        if self.most_words < 100:
            raise ValueError("most_words: a passage has at least 100")

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The articles, so that a new one in a folder is seen."""
        return tuple(source_files(self.files, _ENDS))

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The passages of the articles, by file. Raises `InputError` where none of them can be used."""
        contents: dict[str, str] = {}
        with FileReader() as reader:
            files = source_files(self.files, _ENDS)
            result = StepResult.of(o for file in files for o in self._outcomes(file, reader, contents))
        if not result.parts:
            whys = dict.fromkeys(f"{d.part.source}: {d.detail or d.reason}" for d in result.dropped)
            raise InputError(f"none of the articles can be used: {one_line('; '.join(whys), 300)}.")
        return result

    def _outcomes(self, file: Path, reader: FileReader, contents: dict[str, str]) -> Iterable[Part | Drop]:
        """The passages of an article, or why it is dropped; `contents` are those of earlier articles."""
        empty, end = Passage(passage=file.stem, source=file.name, group=file.stem), file.suffix.lower()
        try:
            document, _ = reader.document(file, file.name, _ENDS[end])
        except Unusable as error:
            if str(error) == RETRACTED:
                return (Drop(empty, RETRACTED),)
            return (Drop(empty, "it cannot be read", str(error)),)
        sections = _sections(document, pdf=end == ".pdf")
        if end == ".pdf" and _RETRACTED_PDF.search(sections[0][:2_000]):
            return (Drop(empty, RETRACTED),)
        first = contents.setdefault(content_id(*sections), file.name)
        if first != file.name:
            return (Drop(empty, "it repeats another article", first),)
        return self._passages(file, document.title, sections)

    def _passages(self, file: Path, title: str, sections: Sequence[str]) -> Iterator[Passage]:
        packed = list(_packed(sections, self.most_words))
        for number, (first, last, text) in enumerate(packed, 1):
            yield Passage(
                passage=file.stem if len(packed) == 1 else f"{file.stem}-{number}",
                text=text,
                source=f"{file.name}, section {first}"
                if first == last
                else f"{file.name}, sections {first} to {last}",
                group=file.stem,
                title=title,
            )


def _sections(document: Document, *, pdf: bool) -> tuple[str, ...]:
    """The sections of an article; of a PDF its pages up to the references."""
    if not pdf:
        return document.texts
    text = "\n\n".join(document.texts)
    headings = [match.start() for match in _REFERENCES.finditer(text) if match.start() > _LATE * len(text)]
    return (text[: headings[0]].rstrip() if headings else text,)


def _packed(sections: Sequence[str], most_words: int) -> Iterator[tuple[int, int, str]]:
    """Sections in a row that have so many words together, with the numbers of the first and the last.

    A longer section is cut between words.
    """
    packed: list[tuple[int, str]] = []
    words = 0
    for number, section in enumerate(sections, 1):
        for piece in _pieces(section, most_words):
            n = len(piece.split())
            if packed and words + n > most_words:
                yield packed[0][0], packed[-1][0], "\n\n".join(text for _, text in packed)
                packed, words = [], 0
            packed.append((number, piece))
            words += n
    if packed:
        yield packed[0][0], packed[-1][0], "\n\n".join(text for _, text in packed)


def _pieces(section: str, most_words: int) -> Iterator[str]:
    """A section in pieces of so many words, its line ends kept."""
    starts = [match.start() for match in re.finditer(r"\S+", section)][::most_words]
    for start, end in pairwise([*starts, len(section)]):
        yield section[start:end].rstrip()
