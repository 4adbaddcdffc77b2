"""Label Studio: the labelling configuration of a panel, its tasks, and annotations of these.

What stands for every answer is within a `Repeater`, so that one configuration fits any number of answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from vivavoce.core.text import label, one_line, printable
from vivavoce.people.key import EVERYONE
from vivavoce.people.storing.store_annotations import AnnotatedFile, Annotation
from vivavoce.people.tasks.control import Control, field_stems
from vivavoce.people.tool_tasks import ToolPanel, ToolTask, is_task_id
from vivavoce.run.exchange.annotation_tools.returned import (
    Returned,
    annotated_file,
    entered_text,
    objects,
)
from vivavoce.run.exchange.logs.fields import name_or_empty, need
from vivavoce.run.exchange.logs.files import first_row, json_rows

ID = "viva"
"""The field of a task that bears its id."""


def config(panel: ToolPanel) -> str:
    """The labelling configuration as XML."""
    view = Xml.Element("View")
    for n, line in enumerate(panel.lines):
        _header(view, line, size="3" if n == 0 else "5")
    for column in panel.columns:
        _header(view, column.capitalize())
        Xml.SubElement(view, "Text", name=column, value=f"${column}")
    repeater = Xml.SubElement(view, "Repeater", on="$answers", indexFlag="{{idx}}")
    Xml.SubElement(repeater, "Header", value="$answers[{{idx}}].label", size="4")
    Xml.SubElement(repeater, "Text", name="answer_{{idx}}", value="$answers[{{idx}}].text")
    stems = field_stems(panel.controls)
    for control in panel.controls:
        name = stems[control.column]
        if control.each:
            _control(repeater, control, f"{name}_{{{{idx}}}}", "answer_{{idx}}")
        else:
            _control(view, control, name, panel.columns[0])
    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def _control(parent: Xml.Element, control: Control, name: str, to_name: str) -> None:
    _header(parent, control.ask, size="6")
    for choice, hint in control.hints.items():
        _header(parent, f"{choice}: {hint}", size="6")
    about = {"name": name, "toName": to_name}
    if not control.choices:
        Xml.SubElement(parent, "TextArea", about, maxSubmissions="1", editable="true", rows="2")
        return
    about |= {"required": "true"} if control.required else {}
    choice_kind = "multiple" if len(control.choices) == 1 else "single"  # a box can be cleared again
    element = Xml.SubElement(parent, "Choices", about, choice=choice_kind, showInline="true")
    for choice in control.choices:
        Xml.SubElement(element, "Choice", value=_plain(choice))


def _header(parent: Xml.Element, text: str, size: str = "4") -> None:
    Xml.SubElement(parent, "Header", value=_plain(text), size=size)


def _plain(text: str) -> str:
    """A text of the configuration; behind a dollar sign Label Studio looks for a field of the task."""
    return one_line(printable(text), 2000).replace("$", "＄")


def tasks(panel: ToolPanel, rater: str) -> list[dict[str, Any]]:
    """The tasks of a rater, or those that all share, as Label Studio imports them."""
    return [{"data": _data(panel, task, rater)} for task in panel.tasks[rater]]


def _data(panel: ToolPanel, task: ToolTask, rater: str) -> dict[str, Any]:
    key = not panel.task.shows_candidates
    answers = [
        {"label": "Key" if key else f"Answer {label(n)}", "text": text} for n, text in enumerate(task.answers)
    ]
    whose = {} if rater == EVERYONE else {"rater": rater}
    return {ID: task.id, **whose, **{name: task.texts[name] for name in panel.columns}, "answers": answers}


def is_ours(path: Path) -> bool:
    """Whether the first task of a file is one that `viva export` wrote."""
    data = first_row(path).get("data")
    return isinstance(data, dict) and is_task_id(data.get(ID))


def annotated(path: Path) -> AnnotatedFile:
    """The annotations in an export of tasks of ours. Raises `InputError` for a task of somebody else."""
    returned = Returned({})
    return annotated_file(path, list(_annotations(path, returned)), returned)


def _annotations(path: Path, returned: Returned) -> Iterator[Annotation]:
    for line in json_rows(path):
        data = need(line.row, "data", line.where)
        where = f"{path}, task {name_or_empty(line.row.get('id')) or line.where.rpartition(' ')[2]}"
        returned.check_task(data.get(ID), where)
        for _ in _drafts(line.row):
            returned.leave("draft", where)
        texts = {name: text for name, text in data.items() if isinstance(text, str)}
        answers = tuple(need(a, "text", where, str) for a in objects(data.get("answers"), where, "answers"))
        for annotation in objects(line.row.get("annotations"), where, "annotations"):
            people = _people(annotation.get("completed_by"))
            place = " by ".join((where, *people[:1]))
            if _is_cancelled(annotation):
                returned.leave("cancelled", place)
            else:
                yield Annotation(place, data[ID], texts, answers, people, _fields(annotation, place))


def _drafts(task: Mapping[str, Any]) -> Sequence[Any]:
    """The drafts of a task: whole, or their ids."""
    drafts = task.get("drafts")
    return drafts if isinstance(drafts, list) else ()


def _is_cancelled(annotation: Mapping[str, Any]) -> bool:
    """Whether the person skipped the task; `skipped` is the name of older versions."""
    return bool(annotation.get("was_cancelled") or annotation.get("skipped"))


def _people(person: Any) -> tuple[str, ...]:
    """The names of a person: the number, and what else an export may say."""
    if not isinstance(person, dict):
        person = {"id": person}
    names = (name_or_empty(person.get(name)) for name in ("id", "email", "username"))
    return tuple(filter(None, names))


def _fields(annotation: Mapping[str, Any], place: str) -> dict[str, str]:
    """What was entered, by field; a region of a text or the like is nothing that was asked for."""
    fields: dict[str, str] = {}
    for result in objects(annotation.get("result"), place, "results"):
        name, value = str(result.get("from_name")), result.get("value")
        if not isinstance(value, dict):
            continue
        lists = {kind: value[kind] for kind in ("choices", "text", "rating", "number") if kind in value}
        for kind, entered in lists.items():
            words = entered if isinstance(entered, list) else [entered]
            texts = [entered_text(word, place, name) for word in words]
            if any(texts):
                fields[name] = (", " if kind == "choices" else "\n").join(texts)
    return fields
