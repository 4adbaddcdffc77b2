"""Records of Argilla: a JSON list of what `Record.to_dict()` gives."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.annotation_tools import argilla
from vivavoce.run.exchange.annotation_tools.returned import refuse_task
from vivavoce.run.exchange.logs.annotations import (
    Judgement,
    answer_in,
    candidate_in,
    marks_of,
    task_item,
)
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    name_or_empty,
    need,
    number_or_null,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.files import first_entry, first_line, json_rows
from vivavoce.run.exchange.recorded_log import RecordedLog, RecordedLogReader, Sample

_FIELDS = {"fields", "responses", "suggestions", "metadata"}


@log_reader("argilla")
class ArgillaRecords(RecordedLogReader):
    """Records with responses of people, and suggestions of models as scores of their own raters."""

    describes: ClassVar[str] = "records of Argilla as JSON"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first record."""
        return (first_entry(path) or first_line(path)).keys() >= _FIELDS

    def has_tasks(self, path: Path) -> bool:
        """Told by the id of the first task."""
        return argilla.is_ours(path)

    def annotated(self, path: Path) -> AnnotatedFile:
        """The annotations, each as the entries of a form."""
        return argilla.annotated(path)

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The records of one file."""
        choices: dict[str, dict[str, None]] = defaultdict(dict)
        for line in json_rows(path):
            for judgement in _judgements(line):
                choices[judgement.name] |= dict.fromkeys(judgement.words)
        yield RecordedLog(
            tool="argilla",
            version=None,
            task="argilla",
            candidate="",
            files=(path,),
            samples=partial(_samples, path, choices),
            notes=("Argilla's records do not tell drafts and discarded responses from submitted ones.",),
        )


def _samples(path: Path, choices: Mapping[str, Iterable[str]]) -> Iterator[Sample]:
    for line in json_rows(path):
        fields = {**need(line.row, "metadata", line.where), **need(line.row, "fields", line.where)}
        refuse_task(line.row.get("id"), line.where)
        text = text_or_null(answer_in(fields), line.where)
        yield Sample(
            where=line.where,
            item=task_item("argilla", fields, name_or_empty(line.row.get("id"))),
            candidate=candidate_in(fields),
            **answer_fields(text, "the record shows no answer"),
            marks=tuple(marks_of(_judgements(line), choices)),
        )


def _judgements(line: Line) -> Iterator[Judgement]:
    """What people answered, and what models suggested."""
    for name, responses in need(line.row, "responses", line.where).items():
        for response in responses or ():
            yield _judgement(name, name_or_empty(response.get("user_id")), response.get("value"))
    for name, suggestion in need(line.row, "suggestions", line.where).items():
        if suggestion:
            yield _judgement(name, name_or_empty(suggestion.get("agent")), suggestion.get("value"))


def _judgement(name: str, rater: str, value: Any) -> Judgement:
    """A number, or words. A list holds several labels; a ranking, a list of objects, gives none."""
    number = None if isinstance(value, bool) else number_or_null(value)
    plain = isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))
    return Judgement(name, rater, number, texts(value) if plain else ())
