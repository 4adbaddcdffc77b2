"""Records of Argilla: a JSON list of what `Record.to_dict()` gives."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.annotation_tools import argilla
from vivavoce.run.exchange.annotation_tools.returned import refuse_task
from vivavoce.run.exchange.logs.annotations import AnnotatedLog, Judgement
from vivavoce.run.exchange.logs.fields import name_or_empty, need, number_or_null, texts
from vivavoce.run.exchange.logs.mapping import Names
from vivavoce.run.exchange.recorded_log import RecordedLog

_NO_STATUS = "Argilla's records do not tell drafts and discarded responses from submitted ones."


@log_reader("argilla")
class ArgillaRecords(AnnotatedLog):
    """Records with responses of people, and suggestions of models as scores of their own raters."""

    tool: ClassVar[str] = "argilla"
    describes: ClassVar[str] = "records of Argilla as JSON"
    signs: ClassVar[tuple[Names, ...]] = (("fields", "responses", "suggestions", "metadata"),)

    def has_tasks(self, path: Path) -> bool:
        """Told by the id of the first task."""
        return argilla.is_ours(path)

    def annotated(self, path: Path) -> AnnotatedFile:
        """The annotations, each as the entries of a form."""
        return argilla.annotated(path)

    def head(self, path: Path) -> RecordedLog:
        """With what records do not say."""
        return replace(super().head(path), notes=(_NO_STATUS,))

    def task(self, line: Line) -> Mapping[str, Any]:
        """The fields, and behind them the metadata. Raises `InputError` for a task of ours."""
        fields = {**need(line.row, "metadata", line.where), **need(line.row, "fields", line.where)}
        refuse_task(line.row.get("id"), line.where)
        return fields

    def judging(self, path: Path) -> Callable[[Line], Iterable[Judgement]]:
        """What people answered, and what models suggested."""
        return _judgements


def _judgements(line: Line) -> Iterator[Judgement]:
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
