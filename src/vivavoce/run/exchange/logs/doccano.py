"""Labels of doccano: JSON lines with text, labels and comments."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.registry import log_reader
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.annotations import ANSWERS, AnnotatedLog, Judgement, first_of
from vivavoce.run.exchange.logs.fields import name_or_empty, part, rows_in, texts
from vivavoce.run.exchange.logs.files import first_row

_TEXTS = ("text", "data")


@log_reader("doccano")
class DoccanoExport(AnnotatedLog):
    """Texts with labels of the whole; other columns of the data say what was asked and who answered."""

    tool: ClassVar[str] = "doccano"
    describes: ClassVar[str] = (
        "the JSON lines of doccano, a file for each person or one for all: id, text and label"
    )
    reads_tables: ClassVar[bool] = True

    def knows(self, path: Path) -> bool:
        """Told by id, text and labels; older exports have annotations with their user."""
        row = first_row(path)
        labels = row.get("label")
        is_whole = "Comments" in row or ("id" in row and first_of(row, ANSWERS) is None)
        is_current = isinstance(labels, list) and (is_whole or "annotation_approver" in row)
        is_older = any("user" in annotation for annotation in rows_in(row, "annotations"))
        return isinstance(first_of(row, _TEXTS), str) and (is_current or is_older)

    def task(self, line: Line) -> Mapping[str, Any]:
        """The text that was labelled is the answer, unless a column holds the answer."""
        row = {**line.row, **part(line.row, "meta")}
        fields = {name: cell for name, cell in row.items() if name not in _TEXTS}
        return {"answer": first_of(row, _TEXTS), **fields} if first_of(fields, ANSWERS) is None else fields

    def judging(self, path: Path) -> Callable[[Line], Iterable[Judgement]]:
        """The labels of a row, by the person whom a file is named after, or whom an annotation names."""
        return partial(_labels, rater="" if path.stem == "all" else path.stem)


def _labels(line: Line, *, rater: str) -> Iterator[Judgement]:
    comments, labels = line.row.get("Comments"), line.row.get("label")
    words = [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []
    note = "\n".join(texts(comments)) if isinstance(comments, list) else ""
    by_person = defaultdict(list, {rater: words} if words else {})
    for annotation in rows_in(line.row, "annotations"):
        if "start_offset" not in annotation:
            by_person[name_or_empty(annotation.get("user"))].append(str(annotation.get("label")))
    for person, chosen in by_person.items():
        yield Judgement("label", person, None, tuple(chosen), note or None)
