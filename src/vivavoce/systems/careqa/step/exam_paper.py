"""Examination papers as PDF, with a key: questions, options and what was not understood.

CareQA took the papers of the Spanish exams for specialised training from the ministry, parsed them, dropped
23 that were parsed badly, and left annulled questions out (appendix A.1).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.tables import is_file
from vivavoce.core.text import is_blank, label
from vivavoce.language.languages import codes
from vivavoce.retrieval.columns import IMAGE, unhyphenated
from vivavoce.retrieval.documents import Unusable
from vivavoce.retrieval.reader_process import FileReader
from vivavoce.run.building.parts import Part, Passage
from vivavoce.run.building.step import Drop, Lab, Step, StepResult
from vivavoce.systems.careqa.step.exam_key import read_keys

_NUMBER = re.compile(r"\s*(\d{1,3})\s*[.)]\s*[-–.]?(?:\s+|\Z)")
_LETTER = re.compile(r"\s*\(?([a-hA-H])\s*[.)]\s*[-–]?(?:\s+|\Z)")
_LOOK = (
    r"(?:observe|vea|mire|consulte)\s+(?:\w+\s+){0,2}|(?:see|look at|observe)\s+the\s+(?:\w+\s+)?"
    r"|shown in the |attached "
)
_PICTURE = r"imagen|figura|fotograf[ií]a|image|figure|picture"
_ON_IMAGE = re.compile(
    rf"\b(?:vinculad[ao]s? a la imagen|(?:{_LOOK})(?:{_PICTURE})|(?:{_PICTURE})\s+(?:n?[.º°o]*\s*)?\d+"
    rf"|(?:{_PICTURE})\s+(?:asociada|adjunta|vinculada|relacionada|correspondiente|siguiente)"
    rf"|(?:{_PICTURE})\s+(?:n[uú]mero|number)\s+\d+|(?:asociada|vinculada)s? a la (?:{_PICTURE})"
    r"|(?:imagen|figura)\s+que se (?:adjunta|muestra))\b",
    re.IGNORECASE,
)
_MOST_GAP = 10
"""Numbers of questions that may be missing in a row; a larger jump is no question."""
_MOST_STARTS = 20
"""Lines with the first number from which reading is tried: a booklet numbers its instructions too."""
_UNFIT = 0.2
"""The share of numbers without a partner from which key and paper are not of one exam."""


class Question(NamedTuple):
    """A question as the paper has it; pages count from 1."""

    number: int
    stem: str
    options: tuple[str, ...]
    first_page: int
    last_page: int

    @property
    def pages(self) -> str:
        """The page, or the first and the last one."""
        if self.first_page == self.last_page:
            return f"page {self.first_page}"
        return f"pages {self.first_page} to {self.last_page}"

    @property
    def is_on_image(self) -> bool:
        """Whether an image stands in it, or its text speaks of one."""
        texts = (self.stem, *self.options)
        return any(IMAGE in text for text in texts) or bool(_ON_IMAGE.search(self.stem))


@step("exam_paper")
class ExamPaper(Step):
    """Questions of examination papers: the PDF files `papers`, each with its table of keys.

    A table, or a PDF, has a column of numbers and one of the right options, by number or letter; an empty one
    is annulled. Questions have `options` options. Questions that were not understood, are annulled or rest on
    an image are dropped, each with its reason.
    """

    papers: tuple[Path, ...]
    keys: tuple[Path, ...]
    language: str = "es"
    category: str = ""
    year: int | None = None
    options: int = 4

    def __post_init__(self) -> None:
        if self.language not in codes():
            raise ValueError(f"language={self.language}: one of {', '.join(codes())} is known")
        if not 2 <= self.options <= 8:
            raise ValueError("options: a question has 2 to 8")

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The questions of every paper. Raises `InputError` for files that cannot be read, or do not fit."""
        if len(self.papers) != len(self.keys):
            raise InputError(
                f"{len(self.papers)} papers and {len(self.keys)} keys: name one --key for each --from."
            )
        results: list[Part] = []
        dropped: list[Drop] = []
        notes: list[str] = []
        for paper, key_file in zip(self.papers, self.keys, strict=True):
            pages, note = read_pages(paper)
            is_pdf = key_file.suffix.lower() == ".pdf"
            keys = read_keys(key_file, self.options, read_pages(key_file)[0] if is_pdf else None)
            questions = parse_questions(pages, self.options, min(keys))
            refuse_unfit(paper, key_file, questions, keys)
            for outcome in self._outcomes(paper, questions, keys, lab.benchmark):
                (dropped if isinstance(outcome, Drop) else results).append(outcome)  # type: ignore[arg-type]
            notes += [f"{paper.name}: {note}."] if note else []
        return StepResult(results, dropped, notes)

    def _outcomes(
        self, paper: Path, questions: Sequence[Question], keys: Mapping[int, int | None], benchmark: str
    ) -> Iterator[Item | Drop]:
        by_number = {question.number: question for question in questions}
        for number in sorted({*by_number, *keys}):
            question = by_number.get(number)
            name = f"{paper.stem}-{number:03d}"
            if question is None:
                part = Passage(passage=name, text="", source=paper.name, group=name)
                yield Drop(
                    part, "the question was not understood", f"the paper seems to have no question {number}"
                )
                continue
            source = f"{paper.name}, {question.pages}, question {number}"
            reason, detail = self._fault(question, keys)
            if reason:
                text = "\n".join(
                    [question.stem, *(f"{label(k)}. {o}" for k, o in enumerate(question.options))]
                )
                yield Drop(Passage(passage=name, text=text, source=source, group=name), reason, detail)
                continue
            place = keys[number] or 0
            year = {"year": self.year} if self.year else {}
            yield Item(
                benchmark=benchmark,
                item=name,
                category=self.category or None,
                format="mcq",
                question=question.stem,
                options=question.options,
                answer=(question.options[place - 1],),
                source=source,
                meta={"language": self.language, "number": number, **year},
            )

    def _fault(self, question: Question, keys: Mapping[int, int | None]) -> tuple[str, str]:
        """Why a question cannot be used, and what it is about this one; '' for one that can."""
        if question.number not in keys:
            return "the key has no row for it", ""
        if keys[question.number] is None:
            return "it is annulled: the key names no option", ""
        if question.is_on_image:
            return "it rests on an image", ""
        if any(map(is_blank, (question.stem, *question.options))):
            return "the question was not understood", "a text is empty"
        if len(question.options) != self.options:
            return "the question was not understood", f"{len(question.options)} options, not {self.options}"
        if len({option.casefold() for option in question.options}) < len(question.options):
            return "two of its options are the same", ""
        return "", ""


def read_pages(paper: Path) -> tuple[tuple[str, ...], str]:
    """The texts of the pages, columns one after the other, and what is wrong with some of them.

    Raises `InputError` for a file that is absent, encrypted, broken, or a scan without text.
    """
    if not is_file(paper):
        raise InputError(f"no file {paper}.")
    try:
        with FileReader() as reader:
            document, note = reader.document(paper, paper.name, "columns")
    except Unusable as error:
        raise InputError(f"{paper} cannot be used: {error}.") from None
    return document.texts, note


def refuse_unfit(
    paper: Path, key_file: Path, questions: Iterable[Question], keys: Mapping[int, int | None]
) -> None:
    """Raise `InputError` where paper and key are of two exams: many numbers stand in one of them alone."""
    numbers = {question.number for question in questions}
    if not numbers:
        raise InputError(f"{paper}: no question was found: are they numbered, with {min(keys)} as the first?")
    unmatched = numbers ^ keys.keys()
    if len(unmatched) > max(1.0, _UNFIT * len(numbers | keys.keys())):
        raise InputError(
            f"{key_file} has keys for questions {min(keys)} to {max(keys)} ({len(keys)}), and {paper} has "
            f"{len(numbers)} from {min(numbers)} to {max(numbers)}: are they of one exam?"
        )


class _Labelled(NamedTuple):
    """A line with its page, and the number and letter that it begins with, null for none."""

    text: str
    page: int
    number: int | None
    letter: int | None
    rest: str


def parse_questions(pages: Sequence[str], n_options: int, first: int) -> list[Question]:
    """The questions of the pages, by number: a line that begins with the next number begins one.

    Options are numbered from 1, or by letters. Of all lines with the first number that one is the beginning
    from which most questions have all their options.
    """
    lines = [_labelled(text, page) for page, body in enumerate(pages, 1) for text in body.split("\n")]
    starts = [k for k, line in enumerate(lines) if line.number == first][:_MOST_STARTS]
    readings = [list(_questions(lines[start:], n_options)) for start in starts]
    return max(
        readings,
        key=lambda reading: sum(len(question.options) == n_options for question in reading),
        default=[],
    )


def _labelled(text: str, page: int) -> _Labelled:
    number, letter = _NUMBER.match(text), _LETTER.match(text)
    match = number or letter
    return _Labelled(
        text,
        page,
        int(number[1]) if number else None,
        ord(letter[1].upper()) - 64 if letter else None,
        text[match.end() :] if match else text,
    )


class _Draft:
    """A question whose lines are still coming."""

    def __init__(self, number: int, line: _Labelled) -> None:
        self.number, self.first_page, self.last_page = number, line.page, line.page
        self.texts = [[line.rest]]

    @property
    def n_options(self) -> int:
        return len(self.texts) - 1

    def add(self, line: _Labelled, *, begins: bool) -> None:
        if begins:
            self.texts.append([line.rest])
        else:
            self.texts[-1].append(line.text)
        self.last_page = line.page if line.text.strip() else self.last_page

    def question(self) -> Question:
        stem, *options = (" ".join(unhyphenated("\n".join(lines)).split()) for lines in self.texts)
        return Question(self.number, stem, tuple(options), self.first_page, self.last_page)


def _questions(lines: Sequence[_Labelled], n_options: int) -> Iterator[Question]:
    draft = _Draft(lines[0].number or 0, lines[0])
    for line in lines[1:]:
        if _begins_option(line, draft, n_options):
            draft.add(line, begins=True)
        elif _begins_question(line, draft):
            yield draft.question()
            draft = _Draft(line.number or 0, line)
        else:
            draft.add(line, begins=False)
    yield draft.question()


def _begins_option(line: _Labelled, draft: _Draft, n_options: int) -> bool:
    expected = draft.n_options + 1
    if line.letter is not None:
        return line.letter == expected <= n_options
    return line.number == expected <= n_options


def _begins_question(line: _Labelled, draft: _Draft) -> bool:
    if line.number is None:
        return False
    ahead = line.number - draft.number
    return ahead == 1 or (1 < ahead <= _MOST_GAP and draft.n_options >= 2)
