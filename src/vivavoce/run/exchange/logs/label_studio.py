"""Annotations of Label Studio, as its export JSON has them; the smaller exports drop what was cancelled."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.annotation_tools import label_studio
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
from vivavoce.run.exchange.logs.files import first_entry, json_rows, start_of
from vivavoce.run.exchange.recorded_log import RecordedLog, RecordedLogReader, Sample

_SMALL = ("annotation_id", "annotator", "lead_time")
"""Columns of the smaller exports."""


@log_reader("label_studio")
class LabelStudioExport(RecordedLogReader):
    """Tasks with the annotations of several people; ratings, numbers and choices become scores."""

    describes: ClassVar[str] = "the export JSON of Label Studio"

    def knows(self, path: Path) -> bool:
        """Told by the fields of the first task."""
        first = first_entry(path)
        return isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list)

    def has_tasks(self, path: Path) -> bool:
        """Told by the id of the first task."""
        return label_studio.is_ours(path)

    def annotated(self, path: Path) -> AnnotatedFile:
        """The annotations, each as the entries of a form."""
        return label_studio.annotated(path)

    def refuses(self, path: Path) -> str:
        """A smaller export, told by its columns."""
        text = path.suffix.lower() in (".csv", ".tsv")
        columns = start_of(path).partition("\n")[0] if text else first_entry(path)
        if not all(name in columns for name in _SMALL):
            return ""
        return (
            "a smaller export of Label Studio (JSON_MIN, CSV or TSV), which leaves out what was cancelled: "
            "export JSON"
        )

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The tasks of one file."""
        choices: dict[str, dict[str, None]] = defaultdict(dict)
        cancelled = []
        for line in json_rows(path):
            for annotation in need(line.row, "annotations", line.where, list):
                if annotation.get("was_cancelled"):
                    cancelled.append(str(line.row.get("id")))
                    continue
                for judgement in _judgements(annotation):
                    choices[judgement.name] |= dict.fromkeys(judgement.words)
        tasks = ", ".join(cancelled[:5]) + (" …" if len(cancelled) > 5 else "")
        verb = "annotation was" if len(cancelled) == 1 else "annotations were"
        yield RecordedLog(
            tool="label_studio",
            version=None,
            task="label_studio",
            candidate="",
            files=(path,),
            samples=partial(_samples, path, choices),
            notes=(f"{len(cancelled)} {verb} cancelled and left out: tasks {tasks}.",) if cancelled else (),
        )


def _samples(path: Path, choices: Mapping[str, Iterable[str]]) -> Iterator[Sample]:
    for line in json_rows(path):
        fields = need(line.row, "data", line.where)
        refuse_task(fields.get(label_studio.ID), line.where)
        text = text_or_null(answer_in(fields), line.where)
        annotations = [a for a in line.row["annotations"] if not a.get("was_cancelled")]
        judgements = [judgement for annotation in annotations for judgement in _judgements(annotation)]
        yield Sample(
            where=line.where,
            item=task_item("label_studio", fields, name_or_empty(line.row.get("id"))),
            candidate=candidate_in(fields),
            **answer_fields(text, "the task shows no answer"),
            marks=tuple(marks_of(judgements, choices)),
        )


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
