"""Annotations of Label Studio: its export JSON, and the smaller exports (JSON_MIN, CSV and TSV)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.annotation_tools import label_studio
from vivavoce.run.exchange.annotation_tools.returned import refuse_task
from vivavoce.run.exchange.logs.annotations import DATA_NAMES, AnnotatedLog, Judgement
from vivavoce.run.exchange.logs.fields import name_or_empty, need, number_or_null, texts
from vivavoce.run.exchange.logs.files import first_row
from vivavoce.run.exchange.logs.mapping import Names, json_cell
from vivavoce.run.exchange.recorded_log import RecordedLog

_BESIDE = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_MOST_WORDS, _LONGEST_WORD = 12, 40
_SMALLER = "This export leaves out annotations that were cancelled: only the export JSON has them."


@log_reader("label_studio")
class LabelStudioExport(AnnotatedLog):
    """Tasks with the annotations of several people; ratings, numbers and choices become scores."""

    tool: ClassVar[str] = "label_studio"
    describes: ClassVar[str] = "the export JSON of Label Studio"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first task."""
        first = first_row(path)
        is_list = isinstance(first.get("annotations"), list) and path.suffix.lower() == ".json"
        return is_list and isinstance(first.get("data"), dict)

    def has_tasks(self, path: Path) -> bool:
        """Told by the id of the first task."""
        return label_studio.is_ours(path)

    def annotated(self, path: Path) -> AnnotatedFile:
        """The annotations, each as the entries of a form."""
        return label_studio.annotated(path)

    def head(self, path: Path) -> RecordedLog:
        """With the tasks whose annotations were cancelled."""
        cancelled = [str(line.row.get("id")) for line in self.rows(path) for _ in _cancelled(line)]
        tasks = ", ".join(cancelled[:5]) + (" …" if len(cancelled) > 5 else "")
        verb = "annotation was" if len(cancelled) == 1 else "annotations were"
        notes = (f"{len(cancelled)} {verb} cancelled and left out: tasks {tasks}.",) if cancelled else ()
        return replace(super().head(path), notes=notes)

    def task(self, line: Line) -> Mapping[str, Any]:
        """The data of a task. Raises `InputError` for a task of ours."""
        fields: Mapping[str, Any] = need(line.row, "data", line.where)
        refuse_task(fields.get(label_studio.ID), line.where)
        return fields

    def judging(self, path: Path) -> Callable[[Line], Iterable[Judgement]]:
        """What people said in annotations that were not cancelled."""
        return lambda line: (
            judgement
            for annotation in need(line.row, "annotations", line.where, list)
            if not annotation.get("was_cancelled")
            for judgement in _judgements(annotation)
        )


def _cancelled(line: Line) -> list[Any]:
    annotations = need(line.row, "annotations", line.where, list)
    return [annotation for annotation in annotations if annotation.get("was_cancelled")]


def _judgements(annotation: Mapping[str, Any]) -> Iterator[Judgement]:
    """What one person said, by the names of the questions; their texts are the note of all."""
    results = [result for result in annotation.get("result") or () if isinstance(result.get("value"), dict)]
    comments = [text for result in results for text in texts(result["value"].get("text"))]
    note, rater = "\n".join(comments) or None, _rater(annotation.get("completed_by"))
    for result in results:
        value, name = result["value"], str(result.get("from_name"))
        number = number_or_null(value.get("rating", value.get("number")))
        words = texts(value.get("choices"))
        if number is not None or words:
            yield Judgement(name, rater, number, words, note)


def _rater(person: Any) -> str:
    """A person by number, as the export has it, or by what else it says of them."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return name_or_empty(person)


@log_reader("label_studio_min")
class LabelStudioRows(AnnotatedLog):
    """A row for each annotation, of which ratings and choices stand in columns of their own."""

    tool: ClassVar[str] = "label_studio"
    describes: ClassVar[str] = "the smaller exports of Label Studio (JSON_MIN, CSV and TSV)"
    endings: ClassVar[Names] = (".json", ".csv", ".tsv")
    signs: ClassVar[tuple[Names, ...]] = (
        ("annotation_id", "annotator", "created_at"),
        *((name, "lead_time") for name in ("annotation_id", "annotator")),
    )
    numbers_repeats: ClassVar[bool] = True

    def refuses(self, path: Path) -> str:
        """A smaller export beside the export JSON."""
        if not self.knows(path):
            return ""
        exports = (
            file.name for file in sorted(path.parent.glob("*.json")) if LabelStudioExport().knows(file)
        )
        name = next(exports, "")
        return (
            f"a smaller export of Label Studio, and {name} beside it has what was cancelled too"
            if name
            else ""
        )

    def head(self, path: Path) -> RecordedLog:
        """With what the export leaves out."""
        return replace(super().head(path), notes=(_SMALLER,))

    def rows(self, path: Path) -> Iterator[Line]:
        """The rows, with cells that are JSON as what they stand for."""
        for line in super().rows(path):
            cells = {name: c if name in DATA_NAMES else json_cell(c) for name, c in line.row.items()}
            yield Line(line.where, cells)

    def judging(self, path: Path) -> Callable[[Line], Iterable[Judgement]]:
        """A text is a word of a choice where the words of its column are few, short, and come again."""
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for line in self.rows(path):
            for name, cell in _judged(line.row):
                words[name].update([cell] if isinstance(cell, str) and cell else [])
        choices = {name for name, counts in words.items() if _is_choice(counts)}
        comments = [name for name, counts in words.items() if counts and name not in choices]
        return partial(_columns_judged, choices=choices, comments=comments)


def _judged(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The columns that are neither data of the task nor of the export."""
    return [(name, cell) for name, cell in row.items() if name not in _BESIDE and name not in DATA_NAMES]


def _is_choice(words: Counter[str]) -> bool:
    if not words or len(words) > _MOST_WORDS or len(words) == words.total():
        return False
    return max(map(len, words)) <= _LONGEST_WORD


def _columns_judged(line: Line, *, choices: set[str], comments: Collection[str]) -> Iterator[Judgement]:
    """What the person of a row said: ratings and numbers as they are, words of choices."""
    note = "\n".join(str(line.row[name]) for name in comments if line.row.get(name)) or None
    rater = name_or_empty(line.row.get("annotator"))
    for name, cell in _judged(line.row):
        number, words = _rated(cell)
        if name in choices and isinstance(cell, str):
            words = texts(cell)
        if number is not None or words:
            yield Judgement(name, rater, number, words, note)


def _rated(cell: Any) -> tuple[float | None, tuple[str, ...]]:
    """The number or the chosen words in a cell."""
    if isinstance(cell, list):
        cell = next((entry for entry in cell if isinstance(entry, Mapping)), None)
    if isinstance(cell, Mapping):
        return number_or_null(cell.get("rating", cell.get("number"))), texts(cell.get("choices"))
    return number_or_null(cell), ()
